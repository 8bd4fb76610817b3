/* env.h - an environment as data: nothing here reads the process's own
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_ENV_H
#define WARDBOX_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* NAME=VALUE strings. The vector is owned, the strings are owned. */
struct env {
	char **vec; /* NULL-terminated once anything was set */
	size_t count, cap;
};

#define ENV_INIT ((struct env){0})
void env_release(struct env *e);
#define autoenv autoclean(env_release)

/* The value in a NULL-terminated vector, or NULL. */
const char *env_get(char *const *vec, const char *name);

/* 0, -ENOMEM, -EINVAL (empty name, or '=' in it). */
int env_set(struct env *e, const char *name, const char *value);
/* Takes "NAME=VALUE"; a string without '=' is -EINVAL. */
int env_put(struct env *e, const char *pair);
void env_unset(struct env *e, const char *name);
/* Leaves only the strings that are to be kept. */
typedef bool env_keeps(void *ctx, const char *pair);
void env_filter(struct env *e, env_keeps *keeps, void *ctx);
/* Adds what names something, also what names it again: some programs take the
 * first of a name, some the last. */
int env_add(struct env *e, const char *pair);
/* Adds all of vec; strings without '=' are passed over, as exec's callers may
 * put anything there; a name given twice keeps its first value, as getenv. */
int env_copy(struct env *e, char *const *vec);

/* The same strings in the same order? */
bool env_same(const struct env *one, const struct env *other);

/* Tells of each name that one has, and other not or otherwise; there is its
 * value in other, or NULL. Stops at what is not 0, which is the result. */
typedef int env_tell(void *ctx, const char *pair, const char *there);
int env_differ(const struct env *one, const struct env *other, env_tell *tell,
	void *ctx);

/* One NUL-ended string after the other. */
void env_dump(char *const *vec, struct buf *out);

#endif
