/* env.h - an environment as data: nothing here reads the process's own
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_ENV_H
#define WARDBOX_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* NAME=VALUE strings; the vector and the strings are owned. */
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
/* Keeps only the strings for which keeps() is true. */
typedef bool env_keeps(void *ctx, const char *pair);
void env_filter(struct env *e, env_keeps *keeps, void *ctx);
/* Adds the pair even if the name exists, because some programs take the first
 * of a name, others the last. */
int env_add(struct env *e, const char *pair);
/* Adds all of vec. Strings without '=' are skipped, because exec's callers may
 * put anything there; a name that is given twice keeps its first value, as with
 * getenv. */
int env_copy(struct env *e, char *const *vec);

/* The same strings in the same order? */
bool env_same(const struct env *one, const struct env *other);

/* Reports each name of one that other lacks or has with another value; there is
 * other's value, or NULL. A result other than 0 ends it and is returned. */
typedef int env_tell(void *ctx, const char *pair, const char *there);
int env_differ(const struct env *one, const struct env *other, env_tell *tell,
	void *ctx);

/* Writes the strings, each with its NUL. */
void env_dump(char *const *vec, struct buf *out);

#endif
