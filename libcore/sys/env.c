/* env.c - an environment as data
 * SPDX-License-Identifier: MIT
 */
#include "sys/env.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void env_release(struct env *e)
{
	for (size_t i = 0; i < e->count; i++)
		free(e->vec[i]);
	free(e->vec);
	*e = ENV_INIT;
}

/* Does the pair have the name name[0..n)? */
static bool is_named(const char *pair, const char *name, size_t n)
{
	return strncmp(pair, name, n) == 0 && pair[n] == '=';
}

const char *env_get(char *const *vec, const char *name)
{
	size_t n = strlen(name);

	/* Most names differ in the first bytes. */
	for (; vec && *vec; vec++)
		if (vec[0][0] == name[0] && is_named(*vec, name, n))
			return *vec + n + 1;
	return NULL;
}

/* With few variables each is compared, because a table would cost more. */
enum { TABLE_FROM = 256 };
static bool has_table(const struct env *e)
{
	return e->cap >= TABLE_FROM;
}

/* The slot of a name in the table, or the free slot for it, plus one. The table
 * lies behind a long vector and has two numbers for each string that has
 * room. */
static uint32_t *place_of(const struct env *e, const char *name, size_t n)
{
	uint32_t *table = (uint32_t *)(e->vec + e->cap), at = 2166136261u;

	for (size_t i = 0; i < n; i++)
		at = (at ^ (unsigned char)name[i]) * 16777619u;
	for (;; at++) {
		uint32_t *place = &table[at & (2 * e->cap - 1)];

		if (!*place || is_named(e->vec[*place - 1], name, n))
			return place;
	}
}

/* The slot of the name pair[0..n), or e->count. */
static size_t slot_of(const struct env *e, const char *pair, size_t n)
{
	size_t i = 0;

	if (has_table(e)) {
		uint32_t place = *place_of(e, pair, n);

		return place ? place - 1 : e->count;
	}
	while (i < e->count &&
		(e->vec[i][0] != pair[0] || !is_named(e->vec[i], pair, n)))
		i++;
	return i;
}

/* If a name stands there twice, the first one counts. */
static void fill_table(const struct env *e, size_t from)
{
	for (size_t i = from; has_table(e) && i < e->count; i++) {
		uint32_t *place =
			place_of(e, e->vec[i], strcspn(e->vec[i], "="));

		if (!*place)
			*place = (uint32_t)i + 1;
	}
}

static int grow_vector(struct env *e)
{
	size_t cap = e->cap ? e->cap * 2 : 32;
	char **grown = calloc(cap, sizeof *grown + 2 * sizeof(uint32_t));

	if (!grown)
		return -ENOMEM;
	for (size_t i = 0; i < e->count; i++)
		grown[i] = e->vec[i];
	free(e->vec);
	e->vec = grown;
	e->cap = cap;
	fill_table(e, 0);
	return 0;
}

/* Takes pair over into a slot. Frees it on failure. */
static int store_pair(struct env *e, size_t slot, char *pair)
{
	if (slot < e->count) {
		free(e->vec[slot]);
		e->vec[slot] = pair;
		return 0;
	}
	if (e->count + 2 > e->cap && grow_vector(e)) {
		free(pair);
		return -ENOMEM;
	}
	e->vec[e->count++] = pair;
	e->vec[e->count] = NULL;
	fill_table(e, slot);
	return 0;
}

int env_put(struct env *e, const char *pair)
{
	size_t n = strcspn(pair, "=");
	char *copy;

	if (!n || !pair[n])
		return -EINVAL;
	copy = strdup(pair);
	return copy ? store_pair(e, slot_of(e, pair, n), copy) : -ENOMEM;
}

int env_add(struct env *e, const char *pair)
{
	size_t n = strcspn(pair, "=");
	char *copy;

	if (!n || !pair[n])
		return 0;
	copy = strdup(pair);
	return copy ? store_pair(e, e->count, copy) : -ENOMEM;
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
	return store_pair(e, slot_of(e, pair, n), pair);
}

/* Notes that only the first count strings are left. */
static void note_shrunk(struct env *e, size_t count)
{
	e->count = count;
	e->vec[count] = NULL;
	if (has_table(e))
		memset(e->vec + e->cap, 0, 2 * e->cap * sizeof(uint32_t));
	fill_table(e, 0);
}

void env_unset(struct env *e, const char *name)
{
	size_t i = slot_of(e, name, strlen(name));

	if (i == e->count)
		return;
	free(e->vec[i]);
	memmove(e->vec + i, e->vec + i + 1,
		(e->count - i) * sizeof *e->vec);
	note_shrunk(e, e->count - 1);
}

void env_filter(struct env *e, env_keeps *keeps, void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->count; i++) {
		if (keeps(ctx, e->vec[i]))
			e->vec[kept++] = e->vec[i];
		else
			free(e->vec[i]);
	}
	if (kept < e->count)
		note_shrunk(e, kept);
}

int env_copy(struct env *e, char *const *vec)
{
	for (; vec && *vec; vec++) {
		bool known = slot_of(e, *vec, strcspn(*vec, "=")) < e->count;
		int err = known ? 0 : env_add(e, *vec);

		if (err)
			return err;
	}
	return 0;
}

bool env_same(const struct env *one, const struct env *other)
{
	bool same = one->count == other->count;

	for (size_t i = 0; same && i < one->count; i++)
		same = strcmp(one->vec[i], other->vec[i]) == 0;
	return same;
}

int env_differ(const struct env *one, const struct env *other, env_tell *tell,
	void *ctx)
{
	int err = 0;

	for (size_t i = 0; !err && i < one->count; i++) {
		const char *pair = one->vec[i];
		size_t n, slot;

		/* Most strings have the same place in both. */
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
