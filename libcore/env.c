/* env.c - an environment as data
 * SPDX-License-Identifier: MIT
 */
#include "env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void env_release(struct env *e)
{
	for (size_t i = 0; i < e->count; i++)
		free(e->vec[i]);
	free(e->vec);
	*e = ENV_INIT;
}

/* Is pair that of the name that is name[0..n)? Most differ at once. */
static bool is_named(const char *pair, const char *name, size_t n)
{
	return pair[0] == name[0] && strncmp(pair, name, n) == 0 &&
		pair[n] == '=';
}

const char *env_get(char *const *vec, const char *name)
{
	size_t n = strlen(name);

	for (; vec && *vec; vec++)
		if (is_named(*vec, name, n))
			return *vec + n + 1;
	return NULL;
}

/* The slot of the name that pair[0..n) spells, or e->count. */
static size_t slot_of(const struct env *e, const char *pair, size_t n)
{
	size_t i;

	for (i = 0; i < e->count; i++)
		if (is_named(e->vec[i], pair, n))
			break;
	return i;
}

/* Takes pair over, at slot. Frees it on failure. */
static int store(struct env *e, size_t slot, char *pair)
{
	if (slot < e->count) {
		free(e->vec[slot]);
		e->vec[slot] = pair;
		return 0;
	}
	if (e->count + 2 > e->cap) {
		size_t cap = e->cap ? e->cap * 2 : 32;
		char **grown = reallocarray(e->vec, cap, sizeof *grown);

		if (!grown) {
			free(pair);
			return -ENOMEM;
		}
		e->vec = grown;
		e->cap = cap;
	}
	e->vec[e->count++] = pair;
	e->vec[e->count] = NULL;
	return 0;
}

int env_put(struct env *e, const char *pair)
{
	size_t n = strcspn(pair, "=");
	char *copy;

	if (!n || !pair[n])
		return -EINVAL;
	copy = strdup(pair);
	return copy ? store(e, slot_of(e, pair, n), copy) : -ENOMEM;
}

int env_add(struct env *e, const char *pair)
{
	size_t n = strcspn(pair, "=");
	char *copy;

	if (!n || !pair[n])
		return 0;
	copy = strdup(pair);
	return copy ? store(e, e->count, copy) : -ENOMEM;
}

int env_set(struct env *e, const char *name, const char *value)
{
	size_t n = strlen(name), m = strlen(value);
	char *pair;

	if (!n || strchr(name, '='))
		return -EINVAL;
	pair = malloc(n + m + 2);
	if (!pair)
		return -ENOMEM;
	memcpy(pair, name, n);
	pair[n] = '=';
	memcpy(pair + n + 1, value, m + 1);
	return store(e, slot_of(e, pair, n), pair);
}

void env_unset(struct env *e, const char *name)
{
	size_t i = slot_of(e, name, strlen(name));

	if (i == e->count)
		return;
	free(e->vec[i]);
	memmove(e->vec + i, e->vec + i + 1,
		(e->count - i) * sizeof *e->vec);
	e->count--;
}

int env_copy(struct env *e, char *const *vec)
{
	for (; vec && *vec; vec++) {
		size_t n = strcspn(*vec, "=");
		int err;

		if (!n || !(*vec)[n] || slot_of(e, *vec, n) < e->count)
			continue;
		err = env_put(e, *vec);
		if (err)
			return err;
	}
	return 0;
}

int env_differ(const struct env *one, const struct env *other, env_tell *tell,
	void *ctx)
{
	int err = 0;

	for (size_t i = 0; !err && i < one->count; i++) {
		const char *pair = one->vec[i];
		size_t n, slot;

		/* Most stand as they stood. */
		if (i < other->count && strcmp(pair, other->vec[i]) == 0)
			continue;
		n = strcspn(pair, "=");
		slot = slot_of(other, pair, n);
		if (slot == other->count)
			err = tell(ctx, pair, NULL);
		else if (strcmp(other->vec[slot] + n, pair + n) != 0)
			err = tell(ctx, pair, other->vec[slot] + n + 1);
	}
	return err;
}

void env_dump(char *const *vec, struct buf *out)
{
	for (; vec && *vec; vec++)
		buf_add(out, *vec, strlen(*vec) + 1);
}
