/* env.h - an environment as data: nothing here reads the process's own
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_ENV_H
#define WARDBOX_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

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
/* Adds all of vec; strings without '=' are passed over, as exec's callers may
 * put anything there; a name given twice keeps its first value, as getenv. */
int env_copy(struct env *e, char *const *vec);

/* One NUL-ended string after the other, and back. env_parse refuses strings
 * without '=' or with an empty name (-EINVAL), and more than max_count. */
void env_dump(char *const *vec, struct buf *out);
int env_parse(struct env *e, const char *bytes, size_t n, size_t max_count);

#endif
