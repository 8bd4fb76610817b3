/* policy_build.c - collects what a policy says and lays out its image
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_build_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum {
	CELL = sizeof(uint32_t),
};

static size_t row_size(enum img_section s)
{
	return strlen(img_columns(s)) * CELL;
}

void build_init(struct policy_build *b, enum policy_layer layer)
{
	struct img_profile p = {0};
	struct img_range none = {0};

	*b = (struct policy_build){.layer = layer,
		.use = POLICY_PROFILES,
		.str = BUF_INIT(IMG_MAX)};
	for (unsigned i = 0; i < IMG_SECTIONS; i++)
		b->sect[i] = BUF_INIT(IMG_MAX);
	buf_addc(&b->str, 0);
	for (unsigned i = 0; i < IMG_SETS; i++)
		build_add(b, IMG_SET, &none);
	for (; p.v[IMG_P_AS] < POLICY_PROFILES; p.v[IMG_P_AS]++)
		build_add(b, IMG_PROFILE, &p);
}

void build_release(struct policy_build *b)
{
	for (unsigned i = 0; i < IMG_SECTIONS; i++)
		buf_release(&b->sect[i]);
	buf_release(&b->str);
}

uint32_t build_str(struct policy_build *b, const char *s, size_t n)
{
	size_t at = b->str.len;

	if (n == 0)
		return 0;
	buf_add(&b->str, s, n);
	buf_addc(&b->str, 0);
	return b->str.err ? 0 : (uint32_t)at;
}

const char *build_text(const struct policy_build *b, uint32_t off)
{
	return b->str.err ? "" : b->str.data + off;
}

uint32_t build_count(const struct policy_build *b, enum img_section s)
{
	return (uint32_t)(b->sect[s].len / row_size(s));
}

uint32_t build_add(struct policy_build *b, enum img_section s, const void *row)
{
	uint32_t i = build_count(b, s);

	buf_add(&b->sect[s], row, row_size(s));
	return i;
}

void *build_row(struct policy_build *b, enum img_section s, uint32_t i)
{
	size_t n = row_size(s);

	if ((size_t)i * n < b->sect[s].len)
		return b->sect[s].data + (size_t)i * n;
	b->err = -ENOMEM;
	memset(b->spare, 0, sizeof(b->spare));
	return b->spare;
}

void build_word(struct policy_build *b, enum img_section s, uint32_t row,
	const char *word)
{
	struct buf *refs = &b->sect[IMG_REF];
	uint32_t end = build_count(b, IMG_REF);
	uint32_t off = build_str(b, word, strlen(word));
	struct img_list *l = build_row(b, s, row);
	struct img_range *r = s == IMG_LIST ? &l->ref : (void *)l;

	/* The words of one list stand side by side. */
	if (r->count && r->first + r->count != end) {
		char *to = buf_reserve(refs, r->count * CELL);

		if (!to)
			return;
		memcpy(to, refs->data + r->first * CELL, r->count * CELL);
		refs->len += r->count * CELL;
		r->first = end;
	} else if (!r->count) {
		r->first = end;
	}
	build_add(b, IMG_REF, &off);
	r->count += !refs->err;
}

uint32_t build_list(struct policy_build *b, const char *name)
{
	uint32_t n = build_count(b, IMG_LIST), i = 0;

	while (i < n && !str_eq(build_text(b, ((struct img_list *)build_row(
						      b, IMG_LIST, i))
						      ->name),
				name))
		i++;
	return i;
}

static void map_cell(uint32_t *cell, uint32_t (*map)(void *ctx, uint32_t off),
	void *ctx)
{
	if (*cell)
		*cell = map(ctx, *cell);
}

void build_map(struct policy_build *b, uint32_t (*map)(void *ctx, uint32_t off),
	void *ctx)
{
	for (unsigned s = 0; s < IMG_SECTIONS; s++) {
		const char *column = img_columns(s);
		size_t n = strlen(column), cells = b->sect[s].len / CELL;
		uint32_t *cell = (void *)b->sect[s].data;

		for (size_t i = 0; i < cells; i++)
			if (column[i % n] == 's')
				map_cell(&cell[i], map, ctx);
	}
}

static uint32_t shift_offset(void *by, uint32_t off)
{
	return off + *(uint32_t *)by;
}

bool build_is_empty(const struct policy_build *b)
{
	for (unsigned s = 0; s < IMG_SECTIONS; s++)
		if (s != IMG_SET && s != IMG_PROFILE && s != IMG_SOURCE &&
			b->sect[s].len)
			return false;
	return true;
}

void build_import(struct policy_build *b, const struct policy_image *img)
{
	uint32_t base = (uint32_t)b->str.len;
	/* The sources that were read so far stay aside while the image's texts
	 * move. */
	struct buf sources = b->sect[IMG_SOURCE];

	b->sect[IMG_SOURCE] = BUF_INIT(IMG_MAX);
	buf_clear(&b->sect[IMG_SET]);
	buf_clear(&b->sect[IMG_PROFILE]);
	for (unsigned s = 0; s < IMG_SECTIONS; s++) {
		size_t n = row_size(s) * IMG_COUNT(img, s);
		char *to = NULL;

		if (s != IMG_PROG && s != IMG_GLOB && s != IMG_TEST &&
			s != IMG_SOURCE)
			to = buf_reserve(&b->sect[s], n);
		if (!to)
			continue;
		for (size_t i = 0; i < n / CELL; i++)
			((uint32_t *)(void *)to)[i] = img_cell(
				img, img->head->section[s].first + i);
		b->sect[s].len = n;
	}
	build_map(b, shift_offset, &base);
	b->sect[IMG_SOURCE] = sources;
	buf_add(&b->str, img->str, img->head->bytes);
	b->use = img->head->use;
}

static bool is_glob(const struct policy_build *b, uint32_t word)
{
	return strpbrk(build_text(b, word), "*?");
}

/* Orders globs first, then by text. */
static int by_word(const void *x, const void *y, void *b)
{
	uint32_t one = *(const uint32_t *)x, two = *(const uint32_t *)y;
	int order = is_glob(b, two) - is_glob(b, one);

	return order ? order : strcmp(build_text(b, one), build_text(b, two));
}

/* Orders rows of a name and a number: by name, then in the order of the
 * text. */
static int by_name(const void *x, const void *y, void *b)
{
	const struct img_prog *one = x, *two = y;
	int order = strcmp(build_text(b, one->name), build_text(b, two->name));

	return order ? order : (int)(one->rule - two->rule);
}

static void sort_rows(
	struct policy_build *b, enum img_section s, struct img_range r,
	int (*order)(const void *, const void *, void *))
{
	if (r.count)
		qsort_r(build_row(b, s, r.first), r.count, row_size(s), order,
			b);
}

static struct img_range words_of(struct policy_build *b, struct img_token t)
{
	if (t.bits & IMG_TOK_LIST)
		return ((struct img_list *)build_row(b, IMG_LIST, t.first))
			->ref;
	return (struct img_range){t.first, t.bits >> IMG_TOK_WORDS};
}

/* Adds a row for each word that a rule's program may be; the glob row is for
 * any program. */
static void index_rules(struct policy_build *b)
{
	uint32_t n = build_count(b, IMG_RULE);

	for (struct img_prog p = {0}; p.rule < n; p.rule++) {
		const struct img_rule *r = build_row(b, IMG_RULE, p.rule);
		struct img_token t = *(struct img_token *)build_row(
			b, IMG_TOKEN, r->token.first);
		struct img_range w = words_of(b, t);

		if (IMG_KIND(r->bits) == IMG_EXCEPT)
			continue;
		if ((t.bits & IMG_TOK_KIND) == IMG_TOK_ANY) {
			p.name = build_str(b, "*", 1);
			w.first = build_add(b, IMG_REF, &p.name);
			w.count = 1;
			t.bits = IMG_TOK_GLOB;
		}
		for (; w.count--; w.first++) {
			struct img_glob g = {w.first, p.rule};

			p.name = *(uint32_t *)build_row(b, IMG_REF, w.first);
			if (t.bits & IMG_TOK_GLOB && is_glob(b, p.name))
				build_add(b, IMG_GLOB, &g);
			else
				build_add(b, IMG_PROG, &p);
		}
	}
}

static int any_error(const struct policy_build *b)
{
	int rc = b->err ? b->err : b->str.err;

	for (unsigned i = 0; rc == 0 && i < IMG_SECTIONS; i++)
		rc = b->sect[i].err;
	return rc;
}

int build_index(struct policy_build *b)
{
	if (any_error(b))
		return any_error(b);
	for (uint32_t i = 0; i < build_count(b, IMG_LIST); i++)
		sort_rows(b, IMG_REF,
			((struct img_list *)build_row(b, IMG_LIST, i))->ref,
			by_word);
	sort_rows(b, IMG_REF,
		*(struct img_range *)build_row(b, IMG_SET, IMG_SET_ENV_DENY),
		by_word);
	index_rules(b);
	sort_rows(b, IMG_READS, (struct img_range){0, build_count(b,
		IMG_READS)},
		by_name);
	sort_rows(b, IMG_PROG, (struct img_range){0, build_count(b, IMG_PROG)},
		by_name);
	return any_error(b);
}

struct img_header build_header(const struct policy_build *b)
{
	struct img_header h = {.magic = "WBPOLICY",
		.endian = IMG_ENDIAN,
		.version = IMG_VERSION,
		.width = 2,
		.layer = (uint8_t)b->layer,
		.use = (uint8_t)b->use,
		.bytes = (uint32_t)b->str.len};

	for (unsigned s = 0; s < IMG_SECTIONS; s++) {
		const uint32_t *cell = (const void *)b->sect[s].data;

		h.section[s] = (struct img_range){h.cells, build_count(b, s)};
		for (size_t i = 0; i < b->sect[s].len / CELL; i++, h.cells++)
			if (cell[i] > UINT16_MAX)
				h.width = 4;
	}
	h.size = (uint32_t)(sizeof(h) + h.cells * h.width + h.bytes);
	return h;
}

int build_finish(struct policy_build *b, void **bytes, size_t *size)
{
	autobuf struct buf out = BUF_INIT(IMG_MAX);
	struct img_header h;
	int rc = build_index(b);

	if (rc < 0)
		return rc;
	h = build_header(b);
	buf_add(&out, &h, sizeof(h));
	for (unsigned s = 0; s < IMG_SECTIONS; s++) {
		const uint32_t *cell = (const void *)b->sect[s].data;
		size_t n = b->sect[s].len / CELL;
		char *to = buf_reserve(&out, n * h.width);

		if (!to || !n)
			continue;
		out.len += n * h.width;
		if (h.width == CELL)
			memcpy(to, cell, n * CELL);
		for (size_t i = 0; h.width < CELL && i < n; i++)
			((uint16_t *)(void *)to)[i] = (uint16_t)cell[i];
	}
	buf_add(&out, b->str.data, b->str.len);
	if (out.err)
		return out.err;
	*bytes = ptr_steal(&out.data);
	*size = out.len;
	return 0;
}
