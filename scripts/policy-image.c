/* policy-image.c - compiles the built-in policy while wardbox is built
 * SPDX-License-Identifier: MIT
 *
 * Writes C, so that numbers are in the order of whatever machine it is
 * compiled for. Texts that end alike are one, and so are cells that are alike:
 * here there is time for that.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy_compile.h"

/* What `include default` would take: there is none yet. */
static const struct img_header no_head;
const struct policy_image policy_default = {.head = &no_head};

const struct policy_shipped *policy_shipped(void)
{
	static const struct policy_shipped none = {NULL, NULL};

	return &none;
}

static char *slurp(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *text = malloc(POLICY_TEXT_MAX);

	if (!f || !text)
		return NULL;
	*n = fread(text, 1, POLICY_TEXT_MAX, f);
	fclose(f);
	return text;
}

struct packing {
	const char *from;
	uint32_t *used; /* offsets, sorted by their texts from the end */
	size_t count;
	uint32_t *to; /* by old offset */
	char *out;
	uint32_t len;
};

static uint32_t collect(void *ctx, uint32_t off)
{
	struct packing *p = ctx;

	p->used[p->count++] = off;
	return off;
}

static uint32_t moved(void *ctx, uint32_t off)
{
	return ((struct packing *)ctx)->to[off];
}

static const char *pool;

/* From the end, the longer before the texts it ends in. */
static int from_end(const void *a, const void *b)
{
	const char *s = pool + *(const uint32_t *)a;
	const char *t = pool + *(const uint32_t *)b;
	size_t n = strlen(s), m = strlen(t);

	while (n && m)
		if (s[--n] != t[--m])
			return (unsigned char)s[n] - (unsigned char)t[m];
	return n ? -1 : m ? 1 : 0;
}

static void place(struct packing *p, uint32_t off, const char **last)
{
	const char *s = p->from + off;
	size_t n = strlen(s), have = *last ? strlen(*last) : 0;

	if (have < n || memcmp(*last + have - n, s, n) != 0) {
		memcpy(p->out + p->len, s, n + 1);
		*last = p->out + p->len;
		have = n;
		p->len += (uint32_t)n + 1;
	}
	p->to[off] = (uint32_t)(*last + have - n - p->out);
}

static void pack(struct policy_build *b)
{
	size_t n = b->str.len;
	struct packing p = {.from = b->str.data,
		.used = calloc(1 << 20, sizeof(uint32_t)),
		.to = calloc(n, sizeof(uint32_t)),
		.out = calloc(n, 1),
		.len = 1};
	const char *last = NULL;

	if (!p.used || !p.to || !p.out)
		exit(1);
	build_map(b, collect, &p);
	pool = p.from;
	qsort(p.used, p.count, sizeof(*p.used), from_end);
	for (size_t i = 0; i < p.count; i++)
		place(&p, p.used[i], &last);
	build_map(b, moved, &p);
	memcpy(b->str.data, p.out, p.len);
	b->str.len = p.len;
}

/* Where the n cells stand in those that were kept; there at the end, if they
 * stand nowhere else. */
static uint32_t shared(struct buf *kept, const uint32_t *cell, size_t n)
{
	const uint32_t *have = (const void *)kept->data;
	size_t count = kept->len / sizeof(*cell), at = 0;

	while (at + n <= count && memcmp(have + at, cell, n * sizeof(*cell)))
		at++;
	if (at + n > count) {
		at = count;
		buf_add(kept, cell, n * sizeof(*cell));
	}
	return (uint32_t)at;
}

static void share_range(struct buf *kept, const uint32_t *word,
	struct img_range *r)
{
	r->first = shared(kept, word + r->first, r->count);
}

/* The words of a list, a set or an alternative. */
static void share_words(struct policy_build *b)
{
	struct buf old = b->sect[IMG_REF], *kept = &b->sect[IMG_REF];
	const uint32_t *word = (const void *)old.data;

	*kept = BUF_INIT(IMG_MAX);
	for (uint32_t i = 0; i < build_count(b, IMG_SET); i++)
		share_range(kept, word, build_row(b, IMG_SET, i));
	for (uint32_t i = 0; i < build_count(b, IMG_LIST); i++)
		share_range(kept, word,
			&((struct img_list *)build_row(b, IMG_LIST, i))->ref);
	for (uint32_t i = 0; i < build_count(b, IMG_READS); i++)
		share_range(kept, word,
			&((struct img_reads *)build_row(b, IMG_READS, i))->ref);
	for (uint32_t i = 0; i < build_count(b, IMG_TOKEN); i++) {
		struct img_token *t = build_row(b, IMG_TOKEN, i);

		if (!(t->bits & IMG_TOK_LIST))
			t->first = shared(kept, word + t->first,
				t->bits >> IMG_TOK_WORDS);
	}
	for (uint32_t i = 0; i < build_count(b, IMG_GLOB); i++) {
		struct img_glob *g = build_row(b, IMG_GLOB, i);

		g->word = shared(kept, word + g->word, 1);
	}
}

static uint64_t mark;

static void number(uint32_t v)
{
	static unsigned column;

	mark = (mark ^ v) * 0x100000001b3ULL;
	printf("%" PRIu32 ",%s", v, ++column % 16 ? "" : " \\\n\t");
}

/* The lines about programs and their secrets, which hold whatever the policy is:
 * a table of redaction's (redact_lines.c), and none of the image's. */
static void write_secrets(struct policy_build *b)
{
	printf("#define DEFAULT_SECRETS ");
	for (uint32_t i = 0; i < build_count(b, IMG_SECRET); i++) {
		const struct img_secret *s = build_row(b, IMG_SECRET, i);

		printf("\\\n\t{\"%s\", \"%s\", \"%s\", %u, %u, %u, %u}, ",
			build_text(b, s->programs), build_text(b, s->word),
			build_text(b, s->flag), IMG_SECRET_KIND(s->bits),
			IMG_SECRET_HOW(s->bits), IMG_SECRET_SIGN(s->bits),
			s->bits & IMG_SECRET_LIKELY ? 1 : 0);
	}
	printf("\n");
	buf_clear(&b->sect[IMG_SECRET]);
}

static void write_out(const struct policy_build *b)
{
	struct img_header h = build_header(b);

	printf("#define DEFAULT_WIDTH uint%u_t\n", h.width * 8);
	printf("#define DEFAULT_HEAD \\\n\t.magic = \"WBPOLICY\", "
	       ".endian = IMG_ENDIAN, .size = %" PRIu32
	       ", .version = IMG_VERSION, \\\n\t.width = %u, .layer = %u, "
	       ".use = %u, .cells = %" PRIu32 ", .bytes = %" PRIu32
	       ", \\\n\t.section = {",
		h.size, h.width, h.layer, h.use, h.cells, h.bytes);
	for (unsigned s = 0; s < IMG_SECTIONS; s++)
		printf("{%" PRIu32 ", %" PRIu32 "}, ", h.section[s].first,
			h.section[s].count);
	printf("}\n#define DEFAULT_CELLS ");
	for (unsigned s = 0; s < IMG_SECTIONS; s++) {
		const uint32_t *cell = (const void *)b->sect[s].data;

		for (size_t i = 0; i < b->sect[s].len / sizeof(*cell); i++)
			number(cell[i]);
	}
	printf("\n#define DEFAULT_TEXTS ");
	for (size_t i = 0; i < b->str.len; i++)
		number((unsigned char)b->str.data[i]);
	printf("\n#define DEFAULT_MARK 0x%" PRIx64 "ULL\n", mark);
}

int main(int argc, char **argv)
{
	struct policy_compiler *c = malloc(sizeof(*c));
	struct diag d = {0};
	size_t n = 0;
	char *text = argc == 2 ? slurp(argv[1], &n) : NULL;

	if (!c || !text) {
		fprintf(stderr, "policy-image: cannot read the policy\n");
		return 1;
	}
	policy_compile_init(c, POLICY_LAYER_SYSTEM, NULL);
	if (policy_compile_text(c, "default", text, n, &d) < 0 ||
		build_index(&c->b) < 0) {
		fprintf(stderr, "%s:%u:%u: %s\n", argv[1], d.line, d.col,
			d.text);
		return 1;
	}
	write_secrets(&c->b);
	pack(&c->b);
	share_words(&c->b);
	write_out(&c->b);
	return 0;
}
