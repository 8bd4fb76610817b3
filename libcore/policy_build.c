/* policy_build.c - collects what a policy says and lays out its image
 * SPDX-License-Identifier: MIT
 */
#include "policy_build.h"

#include <errno.h>
#include <string.h>

#include "str.h"

int build_init(struct policy_build *b, enum policy_layer layer)
{
	*b = (struct policy_build){.except = BUF_INIT(IMG_MAX)};
	for (unsigned i = 0; i < IMG_SECTIONS; i++)
		b->sect[i] = BUF_INIT(IMG_MAX);
	for (unsigned i = 0; i < IMG_SETS; i++)
		b->set[i] = BUF_INIT(IMG_MAX);
	memcpy(b->head.magic, "WBPOLICY", 8);
	b->head.version = IMG_VERSION;
	b->head.endian = 0x01020304;
	b->head.layer = (uint8_t)layer;
	b->head.use = POLICY_PROFILES;
	b->slots = 1024;
	b->slot = calloc(b->slots, sizeof(*b->slot));
	if (!b->slot)
		return -ENOMEM;
	buf_addc(&b->sect[IMG_STR], 0);
	return 0;
}

void build_release(struct policy_build *b)
{
	for (unsigned i = 0; i < IMG_SECTIONS; i++)
		buf_release(&b->sect[i]);
	for (unsigned i = 0; i < IMG_SETS; i++)
		buf_release(&b->set[i]);
	buf_release(&b->except);
	free(b->slot);
}

static uint32_t hash(const char *s, size_t n)
{
	uint32_t h = 2166136261U;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619U;
	return h;
}

/* The slot where s is, or would be. */
static uint32_t *find_slot(struct policy_build *b, const char *s, size_t n)
{
	size_t i = hash(s, n) & (b->slots - 1);
	const char *pool = b->sect[IMG_STR].data;

	while (b->slot[i] && (strncmp(pool + b->slot[i], s, n) != 0 ||
				     pool[b->slot[i] + n] != 0))
		i = (i + 1) & (b->slots - 1);
	return &b->slot[i];
}

static void grow_slots(struct policy_build *b)
{
	uint32_t *old = b->slot;
	size_t n = b->slots;

	b->slot = calloc(n * 2, sizeof(*b->slot));
	if (!b->slot) {
		b->slot = old;
		b->err = -ENOMEM;
		return;
	}
	b->slots = n * 2;
	for (size_t i = 0; i < n; i++) {
		const char *s = b->sect[IMG_STR].data + old[i];

		if (old[i])
			*find_slot(b, s, strlen(s)) = old[i];
	}
	free(old);
}

uint32_t build_str(struct policy_build *b, const char *s, size_t n)
{
	struct buf *pool = &b->sect[IMG_STR];
	uint32_t *slot, at = (uint32_t)pool->len;

	if (n == 0 || b->err || pool->err)
		return 0;
	slot = find_slot(b, s, n);
	if (*slot > 0)
		return *slot;
	buf_add(pool, s, n);
	buf_addc(pool, 0);
	if (pool->err)
		return 0;
	*slot = at;
	if (++b->strings * 2 > b->slots)
		grow_slots(b);
	return at;
}

static int index_strings(struct policy_build *b)
{
	const struct buf *pool = &b->sect[IMG_STR];

	memset(b->slot, 0, b->slots * sizeof(*b->slot));
	b->strings = 0;
	for (size_t at = 1; at < pool->len && !b->err;) {
		size_t n = strlen(pool->data + at);

		*find_slot(b, pool->data + at, n) = (uint32_t)at;
		if (++b->strings * 2 > b->slots)
			grow_slots(b);
		at += n + 1;
	}
	return b->err;
}

static const uint8_t imported[] = {IMG_STR, IMG_REF, IMG_LIST, IMG_RULE,
	IMG_TOKEN, IMG_SCHEMA, IMG_ITEM, IMG_PATH, IMG_PROTECT, IMG_PROFILE,
	IMG_REDACT};

bool build_is_empty(const struct policy_build *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(imported); i++)
		if (imported[i] != IMG_STR && imported[i] != IMG_PROFILE &&
			b->sect[imported[i]].len)
			return false;
	for (unsigned i = 0; i < IMG_SETS; i++)
		if (b->set[i].len)
			return false;
	return true;
}

int build_import(struct policy_build *b, const struct policy_image *img)
{
	autobuf struct buf old = BUF_INIT(IMG_MAX);
	uint32_t sources =
		build_count(b, IMG_SOURCE, sizeof(struct img_source));

	if (!build_is_empty(b))
		return -EEXIST;
	old = b->sect[IMG_STR];
	b->sect[IMG_STR] = BUF_INIT(IMG_MAX);
	buf_clear(&b->sect[IMG_PROFILE]);
	for (size_t i = 0; i < ARRAY_SIZE(imported); i++) {
		struct img_range r = img->head->section[imported[i]];

		buf_add(&b->sect[imported[i]],
			(const char *)img->head + r.first,
			(size_t)r.count * img_elem_size[imported[i]]);
	}
	for (unsigned i = 0; i < IMG_SETS; i++) {
		struct img_range r = img->head->set[i];

		buf_add(&b->set[i], IMG_AT(img, IMG_REF, uint32_t) + r.first,
			r.count * sizeof(uint32_t));
	}
	b->head.use = img->head->use;
	if (b->sect[IMG_STR].err || index_strings(b) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < sources; i++) {
		struct img_source *s = build_row(b, IMG_SOURCE, i, sizeof(*s));

		if (s)
			s->path = build_str(b, old.data + s->path,
				strlen(old.data + s->path));
	}
	return 0;
}

uint32_t build_count(const struct policy_build *b, enum img_section s, size_t n)
{
	return (uint32_t)(b->sect[s].len / n);
}

uint32_t build_add(
	struct policy_build *b, enum img_section s, const void *row, size_t n)
{
	uint32_t i = build_count(b, s, n);

	buf_add(&b->sect[s], row, n);
	return i;
}

void *build_row(
	struct policy_build *b, enum img_section s, uint32_t i, size_t n)
{
	if (b->sect[s].err || i >= b->sect[s].len / n)
		return NULL;
	return b->sect[s].data + (size_t)i * n;
}

void build_set_add(struct policy_build *b, enum img_set set, const char *word)
{
	uint32_t off = build_str(b, word, strlen(word));

	buf_add(&b->set[set], &off, sizeof(off));
}

struct img_list *build_list(struct policy_build *b, const char *name)
{
	uint32_t n = build_count(b, IMG_LIST, sizeof(struct img_list));
	struct img_list row = {.name = build_str(b, name, strlen(name))};

	for (uint32_t i = 0; i < n; i++) {
		struct img_list *l = build_row(b, IMG_LIST, i, sizeof(row));

		if (l && l->name == row.name)
			return l;
	}
	n = build_add(b, IMG_LIST, &row, sizeof(row));
	return build_row(b, IMG_LIST, n, sizeof(row));
}

void build_list_add(
	struct policy_build *b, struct img_list *list, const char *word)
{
	struct buf *refs = &b->sect[IMG_REF];
	uint32_t end = (uint32_t)(refs->len / sizeof(uint32_t));
	uint32_t off = build_str(b, word, strlen(word));

	if (list->ref.count && list->ref.first + list->ref.count != end) {
		size_t n = list->ref.count * sizeof(uint32_t);
		char *to = buf_reserve(refs, n);

		if (!to)
			return;
		memcpy(to, refs->data + list->ref.first * sizeof(uint32_t), n);
		refs->len += n;
		list->ref.first = end;
		end += list->ref.count;
	}
	if (!list->ref.count)
		list->ref.first = end;
	buf_add(refs, &off, sizeof(off));
	list->ref.count++;
}

/* Insertion by halves: few rows, no callback, stable. */
static void sort_rows(struct policy_build *b, enum img_section s, size_t n)
{
	char *rows = b->sect[s].data, tmp[32];
	const char *pool = b->sect[IMG_STR].data;
	size_t count = b->sect[s].len / n;
	uint32_t a, c;

	for (size_t i = 1; i < count; i++) {
		size_t lo = 0, hi = i;

		memcpy(&a, rows + i * n, sizeof(a));
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			memcpy(&c, rows + mid * n, sizeof(c));
			if (strcmp(pool + c, pool + a) <= 0)
				lo = mid + 1;
			else
				hi = mid;
		}
		memcpy(tmp, rows + i * n, n);
		memmove(rows + (lo + 1) * n, rows + lo * n, (i - lo) * n);
		memcpy(rows + lo * n, tmp, n);
	}
}

static const struct img_list *find_list(struct policy_build *b, uint32_t name)
{
	uint32_t n = build_count(b, IMG_LIST, sizeof(struct img_list));

	for (uint32_t i = 0; i < n; i++) {
		const struct img_list *l =
			build_row(b, IMG_LIST, i, sizeof(*l));

		if (l && l->name == name)
			return l;
	}
	return NULL;
}

static void late_tokens(struct policy_build *b)
{
	uint32_t n = build_count(b, IMG_TOKEN, sizeof(struct img_token));

	for (uint32_t i = 0; i < n; i++) {
		struct img_token *t =
			build_row(b, IMG_TOKEN, i, sizeof(struct img_token));
		const struct img_list *l;

		if (!t || !t->list)
			continue;
		l = find_list(b, t->list);
		t->ref = l ? l->ref : (struct img_range){0};
	}
}

static bool has_new(const struct build_except *ex, size_t n, uint32_t rule)
{
	for (size_t i = 0; i < n; i++)
		if (ex[i].target == rule)
			return true;
	return false;
}

/* Exceptions stand behind all rules, each rule's own side by side. */
static void place_excepts(struct policy_build *b)
{
	size_t count = b->except.len / sizeof(struct build_except);
	const struct build_except *ex = (const void *)b->except.data;
	uint32_t rules = build_count(b, IMG_RULE, sizeof(struct img_rule));

	for (uint32_t r = 0; count && r < rules; r++) {
		struct img_range range = {
			build_count(b, IMG_RULE, sizeof(struct img_rule)), 0};
		struct img_rule *rule, copy;

		rule = build_row(b, IMG_RULE, r, sizeof(copy));
		for (uint32_t i = 0;
			rule && has_new(ex, count, r) && i < rule->except.count;
			i++) {
			rule = build_row(b, IMG_RULE, rule->except.first + i,
				sizeof(copy));
			if (!rule)
				return;
			copy = *rule;
			build_add(b, IMG_RULE, &copy, sizeof(copy));
			rule = build_row(b, IMG_RULE, r, sizeof(copy));
			range.count++;
		}
		for (size_t i = 0; i < count; i++) {
			if (ex[i].target != r)
				continue;
			rule = build_row(b, IMG_RULE, ex[i].rule, sizeof(copy));
			if (!rule)
				return;
			copy = *rule;
			build_add(b, IMG_RULE, &copy, sizeof(copy));
			range.count++;
		}
		rule = build_row(b, IMG_RULE, r, sizeof(copy));
		if (rule && range.count)
			rule->except = range;
	}
}

static void index_rules(struct policy_build *b)
{
	uint32_t n = build_count(b, IMG_RULE, sizeof(struct img_rule));
	const uint32_t *ref = (const void *)b->sect[IMG_REF].data;

	for (uint32_t i = 0; i < n; i++) {
		const struct img_rule *r =
			build_row(b, IMG_RULE, i, sizeof(*r));
		const struct img_token *t =
			r ? build_row(b, IMG_TOKEN, r->token.first, sizeof(*t))
			  : NULL;
		struct img_prog p = {.rule = i};
		bool pattern = false;

		if (!t || r->kind == IMG_EXCEPT)
			continue;
		for (uint32_t k = 0; k < t->ref.count; k++) {
			p.name = ref[t->ref.first + k];
			if (t->glob &&
				strpbrk(b->sect[IMG_STR].data + p.name, "*?"))
				pattern = true;
			else
				build_add(b, IMG_PROG, &p, sizeof(p));
		}
		p.name = 0;
		if (pattern || t->kind == IMG_TOK_ANY)
			build_add(b, IMG_PROG, &p, sizeof(p));
	}
}

/* Moves count items to the end; where they begin, then. */
static uint32_t copy_items(struct policy_build *b, struct img_range r)
{
	struct buf *items = &b->sect[IMG_ITEM];
	uint32_t at = build_count(b, IMG_ITEM, sizeof(struct img_item));
	size_t n = r.count * sizeof(struct img_item);
	char *to = buf_reserve(items, n);

	if (to) {
		memcpy(to, items->data + r.first * sizeof(struct img_item), n);
		items->len += n;
	}
	return at;
}

/* Items of schemas said in several lines come together; those of one line that
 * speaks of several programs are shared. */
static void merge_schemas(struct policy_build *b)
{
	struct img_schema *s = (void *)b->sect[IMG_SCHEMA].data;
	uint32_t n = build_count(b, IMG_SCHEMA, sizeof(*s)), kept = 0;

	for (uint32_t i = 0, run; i < n; i += run) {
		struct img_schema row = s[i];

		for (run = 1; i + run < n && s[i + run].name == row.name; run++)
			row.flags |= s[i + run].flags;
		if (run > 1)
			row.item.first = copy_items(b, row.item);
		for (uint32_t k = 1; k < run; k++) {
			copy_items(b, s[i + k].item);
			row.item.count += s[i + k].item.count;
		}
		s[kept++] = row;
	}
	b->sect[IMG_SCHEMA].len = kept * sizeof(*s);
}

/* Leaves only the items that a schema has. */
static void drop_items(struct policy_build *b)
{
	struct img_schema *s = (void *)b->sect[IMG_SCHEMA].data;
	uint32_t n = build_count(b, IMG_SCHEMA, sizeof(*s));
	autofree struct img_range *old = calloc(n + 1, sizeof(*old));
	autobuf struct buf items = b->sect[IMG_ITEM];

	b->sect[IMG_ITEM] = BUF_INIT(IMG_MAX);
	if (!old) {
		b->err = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		old[i] = s[i].item;
		while (old[k].first != old[i].first ||
			old[k].count != old[i].count)
			k++;
		if (k < i) {
			s[i].item = s[k].item;
			continue;
		}
		s[i].item.first =
			build_count(b, IMG_ITEM, sizeof(struct img_item));
		if (!old[i].count)
			continue;
		buf_add(&b->sect[IMG_ITEM],
			items.data + old[i].first * sizeof(struct img_item),
			old[i].count * sizeof(struct img_item));
	}
}

static int any_error(const struct policy_build *b)
{
	int rc = b->err ? b->err : b->except.err;

	for (unsigned i = 0; rc == 0 && i < IMG_SECTIONS; i++)
		rc = b->sect[i].err;
	for (unsigned i = 0; rc == 0 && i < IMG_SETS; i++)
		rc = b->set[i].err;
	return rc;
}

static void place_sets(struct policy_build *b)
{
	for (unsigned i = 0; i < IMG_SETS; i++) {
		b->head.set[i].first =
			build_count(b, IMG_REF, sizeof(uint32_t));
		b->head.set[i].count =
			(uint32_t)(b->set[i].len / sizeof(uint32_t));
		buf_add(&b->sect[IMG_REF], b->set[i].data, b->set[i].len);
	}
}

int build_finish(struct policy_build *b, void **bytes, size_t *size)
{
	autobuf struct buf out = BUF_INIT(IMG_MAX);
	static const char zero[8];

	late_tokens(b);
	place_excepts(b);
	index_rules(b);
	place_sets(b);
	sort_rows(b, IMG_SCHEMA, sizeof(struct img_schema));
	merge_schemas(b);
	drop_items(b);
	sort_rows(b, IMG_PROG, sizeof(struct img_prog));
	sort_rows(b, IMG_LIST, sizeof(struct img_list));
	buf_add(&out, &b->head, sizeof(b->head));
	for (unsigned i = 0; i < IMG_SECTIONS; i++) {
		buf_add(&out, zero, (8 - out.len % 8) % 8);
		b->head.section[i] = (struct img_range){(uint32_t)out.len,
			(uint32_t)(b->sect[i].len / img_elem_size[i])};
		buf_add(&out, b->sect[i].data, b->sect[i].len);
	}
	if (any_error(b) || out.err)
		return any_error(b) ? any_error(b) : out.err;
	b->head.size = (uint32_t)out.len;
	memcpy(out.data, &b->head, sizeof(b->head));
	*bytes = ptr_steal(&out.data);
	*size = out.len;
	return 0;
}
