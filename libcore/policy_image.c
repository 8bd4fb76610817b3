/* policy_image.c - a compiled layer: flat, mapped, checked once
 * SPDX-License-Identifier: MIT
 */
#include "policy_image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "file.h"
#include "str.h"

const uint16_t img_elem_size[IMG_SECTIONS] = {
	[IMG_STR] = 1,
	[IMG_REF] = sizeof(uint32_t),
	[IMG_LIST] = sizeof(struct img_list),
	[IMG_RULE] = sizeof(struct img_rule),
	[IMG_TOKEN] = sizeof(struct img_token),
	[IMG_PROG] = sizeof(struct img_prog),
	[IMG_SCHEMA] = sizeof(struct img_schema),
	[IMG_ITEM] = sizeof(struct img_item),
	[IMG_PATH] = sizeof(struct img_path),
	[IMG_PROTECT] = sizeof(struct img_protect),
	[IMG_PROFILE] = sizeof(struct img_profile),
	[IMG_REDACT] = sizeof(struct img_redact),
	[IMG_TEST] = sizeof(struct img_test),
	[IMG_SOURCE] = sizeof(struct img_source),
};

static bool in_section(
	const struct img_header *h, enum img_section s, struct img_range r)
{
	uint32_t count = h->section[s].count;

	return r.first <= count && r.count <= count - r.first;
}

static bool str_ok(const struct img_header *h, uint32_t off)
{
	return off < h->section[IMG_STR].count;
}

static bool sections_ok(const struct img_header *h, size_t size)
{
	for (unsigned i = 0; i < IMG_SECTIONS; i++) {
		struct img_range r = h->section[i];

		if (r.first > size || r.first % 8 != 0 ||
			r.count > (size - r.first) / img_elem_size[i])
			return false;
	}
	for (unsigned i = 0; i < IMG_SETS; i++)
		if (!in_section(h, IMG_REF, h->set[i]))
			return false;
	return h->section[IMG_PROFILE].count == POLICY_PROFILES &&
	       h->section[IMG_STR].count > 0 && h->layer < POLICY_LAYERS &&
	       h->use <= POLICY_PROFILES;
}

static bool rules_ok(const struct policy_image *im)
{
	const struct img_header *h = im->head;
	const struct img_rule *r = IMG_AT(im, IMG_RULE, struct img_rule);
	const struct img_token *t = IMG_AT(im, IMG_TOKEN, struct img_token);
	const struct img_prog *p = IMG_AT(im, IMG_PROG, struct img_prog);

	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_RULE); i++, r++)
		if (r->kind > IMG_EXCEPT || r->net > POLICY_NET_ALL ||
			!str_ok(h, r->id) || !str_ok(h, r->file) ||
			!str_ok(h, r->text) || !str_ok(h, r->alt) ||
			r->token.count == 0 ||
			!in_section(h, IMG_TOKEN, r->token) ||
			!in_section(h, IMG_RULE, r->except))
			return false;
	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_TOKEN); i++, t++)
		if (t->kind > IMG_TOK_HAS || !str_ok(h, t->list) ||
			!in_section(h, IMG_REF, t->ref))
			return false;
	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_PROG); i++, p++)
		if (!str_ok(h, p->name) ||
			p->rule >= h->section[IMG_RULE].count)
			return false;
	return true;
}

static bool schemas_ok(const struct policy_image *im)
{
	const struct img_header *h = im->head;
	const struct img_schema *s = IMG_AT(im, IMG_SCHEMA, struct img_schema);
	const struct img_item *it = IMG_AT(im, IMG_ITEM, struct img_item);
	const struct img_list *l = IMG_AT(im, IMG_LIST, struct img_list);

	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_SCHEMA); i++, s++)
		if (!str_ok(h, s->name) || !in_section(h, IMG_ITEM, s->item))
			return false;
	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_ITEM); i++, it++)
		if (!str_ok(h, it->name) || it->kind > IMG_I_ASSIGN ||
			it->type >= IMG_TYPES)
			return false;
	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_LIST); i++, l++)
		if (!str_ok(h, l->name) || !in_section(h, IMG_REF, l->ref))
			return false;
	return true;
}

static bool rest_ok(const struct policy_image *im)
{
	const struct img_header *h = im->head;
	const uint32_t *ref = IMG_AT(im, IMG_REF, uint32_t);
	const struct img_path *pa = IMG_AT(im, IMG_PATH, struct img_path);
	const struct img_protect *pr =
		IMG_AT(im, IMG_PROTECT, struct img_protect);
	const struct img_profile *pf =
		IMG_AT(im, IMG_PROFILE, struct img_profile);
	const struct img_redact *rd = IMG_AT(im, IMG_REDACT, struct img_redact);
	const struct img_test *te = IMG_AT(im, IMG_TEST, struct img_test);
	const struct img_source *so = IMG_AT(im, IMG_SOURCE, struct img_source);

	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_REF); i++)
		if (!str_ok(h, ref[i]))
			return false;
	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_PATH); i++)
		if (!str_ok(h, pa[i].pattern))
			return false;
	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_PROTECT); i++)
		if (!str_ok(h, pr[i].pattern) || !str_ok(h, pr[i].file) ||
			!str_ok(h, pr[i].text) || pr[i].decision > POLICY_DENY)
			return false;
	for (uint32_t i = 0; i < POLICY_PROFILES; i++)
		if (pf[i].unknown > POLICY_DENY ||
			pf[i].unresolved > POLICY_DENY ||
			pf[i].dynamic > POLICY_DENY ||
			pf[i].opaque > POLICY_DENY ||
			pf[i].child > POLICY_DENY ||
			pf[i].net > POLICY_NET_ALL ||
			pf[i].over_out > POLICY_OVER_TRUNCATE ||
			pf[i].as >= POLICY_PROFILES)
			return false;
	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_REDACT); i++)
		if (!str_ok(h, rd[i].id) || !str_ok(h, rd[i].prefix) ||
			!str_ok(h, rd[i].key))
			return false;
	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_TEST); i++)
		if (!str_ok(h, te[i].file) || !str_ok(h, te[i].text) ||
			te[i].decision > POLICY_DENY)
			return false;
	for (uint32_t i = 0; i < IMG_COUNT(im, IMG_SOURCE); i++)
		if (!str_ok(h, so[i].path) || so[i].kind > IMG_SRC_BUILTIN)
			return false;
	return true;
}

int policy_image_check(struct policy_image *img, const void *bytes, size_t size,
	struct diag *d)
{
	const struct img_header *h = bytes;

	if (size < sizeof(*h) || size > IMG_MAX ||
		((uintptr_t)bytes & 7) != 0 ||
		memcmp(h->magic, "WBPOLICY", 8) != 0)
		return diag_fail(d, -EBADMSG, "not a policy image");
	if (h->version != IMG_VERSION || h->endian != 0x01020304)
		return diag_fail(d, -EBADMSG,
			"a policy image of another version or machine");
	if (h->size != size || !sections_ok(h, size))
		return diag_fail(d, -EBADMSG, "a damaged policy image");
	img->head = h;
	img->size = size;
	img->str = (const char *)bytes + h->section[IMG_STR].first;
	if (img->str[0] != 0 || img->str[h->section[IMG_STR].count - 1] != 0 ||
		!rules_ok(img) || !schemas_ok(img) || !rest_ok(img))
		return diag_fail(d, -EBADMSG, "a damaged policy image");
	return 0;
}

int policy_image_wrap(struct policy_image **img, void *bytes, size_t size,
	bool owned, struct diag *d)
{
	struct policy_image *im = malloc(sizeof(*im));
	int rc;

	if (im == NULL)
		return diag_fail(d, -ENOMEM, "out of memory");
	rc = policy_image_check(im, bytes, size, d);
	if (rc < 0) {
		free(im);
		return rc;
	}
	im->how = owned ? IMG_OWNED : IMG_BORROWED;
	*img = im;
	return 0;
}

int policy_image_open(
	struct policy_image **img, const char *path, uid_t uid, struct diag *d)
{
	autofd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	void *at;
	int rc;

	if (fd < 0)
		return diag_errno(d, -errno, "%s", path);
	rc = file_check_trusted(fd, uid, path, d);
	if (rc < 0)
		return rc;
	if (fstat(fd, &st) < 0)
		return diag_errno(d, -errno, "%s", path);
	if (st.st_size <= 0 || st.st_size > IMG_MAX)
		return diag_fail(d, -EBADMSG, "%s: not a policy image", path);
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return diag_errno(d, -errno, "%s", path);
	rc = policy_image_wrap(img, at, (size_t)st.st_size, false, d);
	if (rc < 0) {
		munmap(at, (size_t)st.st_size);
		diag_at(d, path, 0, 0);
		return rc;
	}
	(*img)->how = IMG_MAPPED;
	return 0;
}

void policy_image_free(struct policy_image *img)
{
	union {
		const struct img_header *in;
		void *out;
	} bytes;

	if (img == NULL)
		return;
	bytes.in = img->head;
	if (img->how == IMG_OWNED)
		free(bytes.out);
	if (img->how == IMG_MAPPED)
		munmap(bytes.out, img->size);
	free(img);
}

bool img_ref_match(
	const struct policy_image *img, struct img_range r, const char *word)
{
	const uint32_t *ref = IMG_AT(img, IMG_REF, uint32_t) + r.first;

	for (uint32_t i = 0; i < r.count; i++) {
		const char *s = img_str(img, ref[i]);

		/* Nearly all differ in their first byte. */
		if ((*s == *word || *s == '*' || *s == '?') &&
			str_glob(s, word))
			return true;
	}
	return false;
}

/* The first row of a section, whose rows begin with a name's offset, that is
 * not before name. */
static uint32_t lower_bound(
	const struct policy_image *img, enum img_section s, const char *name)
{
	const char *rows =
		(const char *)img->head + img->head->section[s].first;
	uint32_t lo = 0, hi = IMG_COUNT(img, s);

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2, off;

		memcpy(&off, rows + (size_t)mid * img_elem_size[s],
			sizeof(off));
		if (strcmp(img_str(img, off), name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct img_list *img_list_find(
	const struct policy_image *img, const char *name)
{
	uint32_t i = lower_bound(img, IMG_LIST, name);
	const struct img_list *l = IMG_AT(img, IMG_LIST, struct img_list) + i;

	if (i == IMG_COUNT(img, IMG_LIST) ||
		!str_eq(img_str(img, l->name), name))
		return NULL;
	return l;
}

const struct img_schema *img_schema_find(
	const struct policy_image *img, const char *name)
{
	uint32_t i = lower_bound(img, IMG_SCHEMA, name);
	const struct img_schema *s =
		IMG_AT(img, IMG_SCHEMA, struct img_schema) + i;

	if (i == IMG_COUNT(img, IMG_SCHEMA) ||
		!str_eq(img_str(img, s->name), name))
		return NULL;
	return s;
}

const struct img_prog *img_prog_find(
	const struct policy_image *img, const char *name, uint32_t *n)
{
	uint32_t i = lower_bound(img, IMG_PROG, name);
	uint32_t end = i, count = IMG_COUNT(img, IMG_PROG);
	const struct img_prog *p = IMG_AT(img, IMG_PROG, struct img_prog);

	while (end < count && str_eq(img_str(img, p[end].name), name))
		end++;
	*n = end - i;
	return p + i;
}
