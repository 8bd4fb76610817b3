/* policy_image.c - a compiled layer: flat, mapped, checked once
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "sys/file.h"
#include "base/str.h"

/* Letters beside those of policy_image.h: k the bits of a rule, t the bits of a
 * token and its words, r a row of IMG_REF, p a row of IMG_RULE, e a later row
 * of IMG_RULE or 0, c a row of IMG_CLASS. In the order of enum img_section. */
static const char columns[] =
	"s\0" /* ref */
	"sR-\0" /* list */
	"R-\0" /* set */
	"kssnssT-e\0" /* rule */
	"t-\0" /* token */
	"sp\0" /* prog */
	"rp\0" /* glob */
	"sR-\0" /* reads */
	"s1\0" /* path */
	"snss3n\0" /* protect */
	"13333113212n2nnnnnnnnnnnnnnnnnnnnnnnnnnnnn\0" /* profile */
	"sssnnc\0" /* redact */
	"nnnnnnnnnnnnnnnn\0" /* class */
	"sssn\0" /* secret */
	"nssn3\0" /* test */
	"s3nnnnnnnnnnnnnnnnnnnn\0"; /* source */

/* The number of cells: a section's struct has nothing else. */
#define CELLS(row) (sizeof(row) / sizeof(uint32_t))
static const uint8_t cells[IMG_SECTIONS] = {
	[IMG_REF] = 1,
	[IMG_LIST] = CELLS(struct img_list),
	[IMG_SET] = CELLS(struct img_range),
	[IMG_RULE] = CELLS(struct img_rule),
	[IMG_TOKEN] = CELLS(struct img_token),
	[IMG_PROG] = CELLS(struct img_prog),
	[IMG_GLOB] = CELLS(struct img_glob),
	[IMG_READS] = CELLS(struct img_reads),
	[IMG_PATH] = CELLS(struct img_path),
	[IMG_PROTECT] = CELLS(struct img_protect),
	[IMG_PROFILE] = CELLS(struct img_profile),
	[IMG_REDACT] = CELLS(struct img_redact),
	[IMG_CLASS] = CELLS(struct img_class),
	[IMG_SECRET] = CELLS(struct img_secret),
	[IMG_TEST] = CELLS(struct img_test),
	[IMG_SOURCE] = CELLS(struct img_source),
};

const char *img_columns(enum img_section s)
{
	return str_nth(columns, s);
}

void img_get(const struct policy_image *img, enum img_section s, uint32_t i,
	void *row)
{
	size_t n = cells[s];
	size_t at = img->head->section[s].first + i * n;
	const uint16_t *narrow = (const uint16_t *)img->cell + at;
	uint32_t *to = row;

	if (img->head->width == sizeof(*to))
		memcpy(to, (const uint32_t *)img->cell + at, n * sizeof(*to));
	else
		while (n--)
			*to++ = *narrow++;
}

static bool range_within(const struct policy_image *im, enum img_section s,
	uint32_t first, uint32_t count)
{
	uint32_t rows = IMG_COUNT(im, s);

	return first <= rows && count <= rows - first;
}

static bool token_ok(const struct policy_image *im, uint32_t bits, uint32_t at)
{
	if ((bits & IMG_TOK_KIND) >= IMG_TOK_KINDS)
		return false;
	return bits & IMG_TOK_LIST
		       ? at < IMG_COUNT(im, IMG_LIST)
		       : range_within(im, IMG_REF, at, bits >> IMG_TOK_WORDS);
}

static bool cell_ok(const struct policy_image *im, char column,
	const uint32_t *v, uint32_t row)
{
	switch (column) {
	case 's':
		return *v < im->head->bytes;
	case 'R':
		return range_within(im, IMG_REF, v[0], v[1]);
	case 'T':
		return v[1] && range_within(im, IMG_TOKEN, v[0], v[1]);
	case 'k':
		return IMG_KIND(*v) < IMG_KINDS &&
		       IMG_NET(*v) <= POLICY_NET_ALL;
	case 't':
		return token_ok(im, v[0], v[1]);
	case 'r':
		return *v < IMG_COUNT(im, IMG_REF);
	case 'p':
		return *v < IMG_COUNT(im, IMG_RULE);
	case 'e': /* only forwards, so that no chain is endless */
		return !*v || (*v > row && *v < IMG_COUNT(im, IMG_RULE));
	case 'c':
		return *v < IMG_COUNT(im, IMG_CLASS);
	default:
		return !chr_digit(column) || *v <= (uint32_t)(column - '0');
	}
}

static bool section_ok(const struct policy_image *im, enum img_section s)
{
	uint32_t row[CELLS(struct img_profile)] = {0};
	const char *kind = img_columns(s);

	for (uint32_t i = 0; i < IMG_COUNT(im, s); i++) {
		img_get(im, s, i, row);
		for (unsigned c = 0; kind[c]; c++)
			if (!cell_ok(im, kind[c], &row[c], i))
				return false;
	}
	return true;
}

static bool shape_ok(const struct img_header *h, size_t size)
{
	if (h->size != size || (h->width != 2 && h->width != 4) ||
		h->cells > size / h->width || h->bytes == 0 ||
		sizeof(*h) + (size_t)h->cells * h->width + h->bytes != size ||
		h->layer >= POLICY_LAYERS || h->use > POLICY_PROFILES)
		return false;
	for (unsigned i = 0; i < IMG_SECTIONS; i++) {
		struct img_range r = h->section[i];

		if (r.first > h->cells ||
			r.count > (h->cells - r.first) / cells[i])
			return false;
	}
	return h->section[IMG_PROFILE].count == POLICY_PROFILES &&
	       h->section[IMG_SET].count == IMG_SETS;
}

int policy_image_check(struct policy_image *img, const void *bytes, size_t size,
	struct diag *d)
{
	const struct img_header *h = bytes;
	bool good;

	if (size < sizeof(*h) || size > IMG_MAX ||
		((uintptr_t)bytes & 3) != 0 ||
		memcmp(h->magic, "WBPOLICY", 8) != 0)
		return diag_fail(d, -EBADMSG, "not a policy image");
	if (h->version != IMG_VERSION || h->endian != IMG_ENDIAN)
		return diag_fail(d, -EBADMSG,
			"a policy image of another version or machine");
	good = shape_ok(h, size);
	if (good) {
		*img = (struct policy_image){.head = h, .cell = h + 1};
		img->str = (const char *)bytes + size - h->bytes;
		good = !img->str[0] && !img->str[h->bytes - 1];
	}
	for (unsigned s = 0; good && s < IMG_SECTIONS; s++)
		good = section_ok(img, (enum img_section)s);
	return good ? 0 : diag_fail(d, -EBADMSG, "a damaged policy image");
}

/* The sum changes with every single byte. */
static uint64_t sum_of(const struct img_header *h, size_t size)
{
	const size_t from = offsetof(struct img_header, endian);
	const uint8_t *at = (const uint8_t *)h + from;
	uint64_t sum = size, word;

	for (size_t n = size - from; n; at += sizeof(word)) {
		size_t some = n < sizeof(word) ? n : sizeof(word);

		word = 0;
		if (some == sizeof(word))
			memcpy(&word, at, sizeof(word));
		else
			memcpy(&word, at, some);
		sum = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
		n -= some;
	}
	return sum;
}

void img_seal(void *bytes, size_t size)
{
	struct img_header *h = bytes;
	uint64_t sum = sum_of(h, size);

	memcpy(h->check, &sum, sizeof(sum));
}

int policy_image_wrap(
	struct policy_image **img, void *bytes, size_t size, struct diag *d)
{
	struct policy_image *im = calloc(1, sizeof(*im));
	int rc;

	if (!im)
		return diag_fail(d, -ENOMEM, "out of memory");
	rc = policy_image_check(im, bytes, size, d);
	if (rc < 0) {
		free(im);
		return rc;
	}
	im->how = IMG_OWNED;
	*img = im;
	return 0;
}

struct policy_image *policy_image_builtin(void)
{
	struct policy_image *im = malloc(sizeof(*im));

	if (im)
		*im = policy_default;
	return im;
}

int policy_image_open(
	struct policy_image **img, const char *path, uid_t uid, struct diag *d)
{
	autofd int fd = openat(
		AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	const struct img_header *head;
	struct stat st;
	uint64_t sum;
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
	rc = policy_image_wrap(img, at, (size_t)st.st_size, d);
	if (rc < 0) {
		munmap(at, (size_t)st.st_size);
		diag_at(d, path, 0, 0);
		return rc;
	}
	(*img)->how = IMG_MAPPED;
	head = at;
	sum = sum_of(head, (size_t)st.st_size);
	if (memcmp(head->check, &sum, sizeof(sum)) == 0)
		return 0;
	policy_image_free(*img);
	*img = NULL;
	return diag_fail(d, -EBADMSG, "%s: a damaged policy image", path);
}

void policy_image_free(struct policy_image *img)
{
	union {
		const struct img_header *in;
		void *out;
	} bytes;

	if (!img)
		return;
	bytes.in = img->head;
	if (img->how == IMG_OWNED)
		free(bytes.out);
	if (img->how == IMG_MAPPED && bytes.in)
		munmap(bytes.out, bytes.in->size);
	free(img);
}

const char *img_ref(
	const struct policy_image *img, struct img_range r, uint32_t i)
{
	return img_str(img, img_cell(img, img->head->section[IMG_REF].first +
						  r.first + i));
}

struct img_range img_set(const struct policy_image *img, enum img_set set)
{
	struct img_range r = {0};

	if (img)
		img_get(img, IMG_SET, set, &r);
	return r;
}

struct img_range img_list(const struct policy_image *img, const char *name)
{
	struct img_list l = {0};

	for (uint32_t i = 0; i < IMG_COUNT(img, IMG_LIST); i++) {
		img_get(img, IMG_LIST, i, &l);
		if (str_eq(img_str(img, l.name), name))
			return l.ref;
	}
	return (struct img_range){0};
}

struct img_token img_token(const struct policy_image *img, uint32_t i)
{
	struct img_token t;

	img_get(img, IMG_TOKEN, i, &t);
	return t;
}

struct img_range img_words(const struct policy_image *img, struct img_token t)
{
	struct img_list l = {0};

	if (!(t.bits & IMG_TOK_LIST))
		return (struct img_range){t.first, t.bits >> IMG_TOK_WORDS};
	img_get(img, IMG_LIST, t.first, &l);
	return l.ref;
}

bool img_ref_match(
	const struct policy_image *img, struct img_range r, const char *word)
{
	for (uint32_t i = 0; i < r.count; i++) {
		const char *s = img_ref(img, r, i);

		/* Most words differ in their first byte. */
		if ((*s == *word || *s == '*' || *s == '?') &&
			str_glob(s, word))
			return true;
	}
	return false;
}

/* The first of n sorted names that is not before name; the names' cells begin
 * at at and are step apart. */
static uint32_t lower_bound(const struct policy_image *img, size_t at,
	unsigned step, uint32_t n, const char *name)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (strcmp(img_str(img, img_cell(img, at + mid * step)), name) <
			0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first row of a section whose name is not before name. */
static uint32_t first_row(
	const struct policy_image *img, enum img_section s, const char *name)
{
	struct img_range r = img->head->section[s];

	return lower_bound(img, r.first, cells[s], r.count, name);
}

bool img_ref_find(
	const struct policy_image *img, struct img_range r, const char *word)
{
	const char *s;
	uint32_t i;

	for (; r.count; r.first++, r.count--) {
		s = img_ref(img, r, 0);
		if (!strpbrk(s, "*?"))
			break;
		if (str_glob(s, word))
			return true;
	}
	i = lower_bound(img, img->head->section[IMG_REF].first + r.first, 1,
		r.count, word);
	return i < r.count && str_eq(img_ref(img, r, i), word);
}

bool img_reads_find(const struct policy_image *img, const char *name,
	struct img_range *items)
{
	uint32_t i = first_row(img, IMG_READS, name);
	struct img_reads r = {0};

	if (i < IMG_COUNT(img, IMG_READS))
		img_get(img, IMG_READS, i, &r);
	if (!r.name || !str_eq(img_str(img, r.name), name))
		return false;
	*items = r.ref;
	return true;
}

uint32_t img_prog_find(
	const struct policy_image *img, const char *name, uint32_t *n)
{
	uint32_t i = first_row(img, IMG_PROG, name), end = i;
	struct img_prog p = {0};

	for (; end < IMG_COUNT(img, IMG_PROG); end++) {
		img_get(img, IMG_PROG, end, &p);
		if (!str_eq(img_str(img, p.name), name))
			break;
	}
	*n = end - i;
	return i;
}
