/* serve_ring.c - the last bytes of a stream, by where they stood in it
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ring_room(const struct serve_ring *r, struct iovec to[static 2])
{
	size_t used = (size_t)(r->end - r->begin), free_bytes = r->cap - used;
	size_t at, first;

	if (!free_bytes)
		return 0;
	at = (size_t)r->end & (r->cap - 1);
	first = r->cap - at;
	if (first > free_bytes)
		first = free_bytes;
	to[0] = (struct iovec){r->data + at, first};
	to[1] = (struct iovec){r->data, free_bytes - first};
	return free_bytes > first ? 2 : 1;
}

int ring_grow(struct serve_ring *r)
{
	size_t cap = r->cap ? r->cap * 2 : SERVE_RING_MIN;
	size_t used = (size_t)(r->end - r->begin), at, first;
	char *data = malloc(cap);

	if (!data)
		return -ENOMEM;
	if (used) {
		at = (size_t)r->begin & (r->cap - 1);
		first = r->cap - at < used ? r->cap - at : used;
		for (size_t i = 0; i < used;) {
			size_t to = (size_t)(r->begin + i) & (cap - 1);
			size_t n = i < first ? first - i : used - i;

			if (n > cap - to)
				n = cap - to;
			memcpy(data + to,
				r->data + (i < first ? at + i : i - first), n);
			i += n;
		}
	}
	free(r->data);
	r->data = data;
	r->cap = cap;
	return 0;
}

void ring_drop(struct serve_ring *r, uint64_t n)
{
	r->begin += n < r->end - r->begin ? n : r->end - r->begin;
}

void ring_release(struct serve_ring *r)
{
	free(r->data);
	r->data = NULL;
	r->cap = 0;
	r->begin = r->end;
}

/* The bytes from at on that lie together. */
static size_t ring_piece(
	const struct serve_ring *r, uint64_t at, const char **bytes)
{
	size_t place, n;

	if (at >= r->end)
		return 0;
	place = (size_t)at & (r->cap - 1);
	n = r->cap - place;
	if (n > r->end - at)
		n = (size_t)(r->end - at);
	*bytes = r->data + place;
	return n;
}

size_t serve_peek(
	struct serve_reader *r, enum serve_stream stream, const char **bytes)
{
	const struct serve_ring *ring = &r->command->ring[stream];

	if (r->at[stream] < ring->begin) {
		r->lost[stream] += ring->begin - r->at[stream];
		r->at[stream] = ring->begin;
	}
	return ring_piece(ring, r->at[stream], bytes);
}

uint64_t serve_copy(const struct serve_command *c, enum serve_stream stream,
	uint64_t *at, size_t max, struct buf *out)
{
	const struct serve_ring *ring = &c->ring[stream];
	uint64_t lost = 0;
	const char *bytes;
	size_t n;

	if (*at < ring->begin) {
		lost = ring->begin - *at;
		*at = ring->begin;
	}
	while (max && (n = ring_piece(ring, *at, &bytes))) {
		n = n < max ? n : max;
		buf_add(out, bytes, n);
		*at += n;
		max -= n;
	}
	return lost;
}
