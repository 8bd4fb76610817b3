/* policy_export.c - policy export: the policy in force as CBOR
 * SPDX-License-Identifier: MIT
 *
 * {"layers": [{"use", "list", "path", …}, …], "profile": text}, deterministic
 * (RFC 8949, 4.2.1). Each kind of row is an array of rows, each row the array
 * of its columns: a reference is replaced by what it refers to.
 */
#include <string.h>
#include <unistd.h>

#include "base/cbor.h"
#include "policy_applet.h"
#include "policy/policy_image.h"
#include "base/str.h"

static void put_text(struct buf *b, const char *s)
{
	cbor_put_text(b, s, strlen(s));
}

static void put_words(
	struct buf *b, const struct policy_image *img, struct img_range r)
{
	cbor_put_array(b, r.count);
	for (uint32_t i = 0; i < r.count; i++)
		put_text(b, img_ref(img, r, i));
}

/* [kind, words] of each: "word", "any", "rest", "opt", "noopt", "has",
 * "says", "at", "from", "to"; a quoted word is "exact". */
static void put_tokens(
	struct buf *b, const struct policy_image *img, struct img_range r)
{
	cbor_put_array(b, r.count);
	for (uint32_t i = 0; i < r.count; i++) {
		struct img_token t = img_token(img, r.first + i);
		unsigned kind = t.bits & IMG_TOK_KIND;

		cbor_put_array(b, 2);
		if (kind == IMG_TOK_WORD && !(t.bits & IMG_TOK_GLOB))
			put_text(b, "exact");
		else
			put_text(b, str_nth("word\0any\0rest\0opt\0noopt\0has\0"
					    "says\0at\0from\0to\0",
					    kind));
		put_words(b, img, img_words(img, t));
	}
}

/* [kind, [profile…], net, [mark…]] */
static void rule_bits(struct buf *b, uint32_t bits)
{
	const unsigned marks =
		IMG_MARKS(bits) & (POLICY_IS_SHELL | POLICY_IS_PROTECT);
	unsigned mask = IMG_PROFILES(bits);

	cbor_put_array(b, 4);
	put_text(b, str_nth("allow\0ask\0confirm\0deny\0delegate\0revert\0"
			    "except\0",
			    IMG_KIND(bits)));
	cbor_put_array(b, (size_t)__builtin_popcount(mask));
	for (unsigned i = 0; i < POLICY_PROFILES; i++)
		if (mask & 1U << i)
			put_text(b,
				policy_profile_name((enum policy_profile)i));
	put_text(b, str_nth(POLICY_NETS, IMG_NET(bits)));
	cbor_put_array(b, (size_t)__builtin_popcount(marks));
	if (marks & POLICY_IS_SHELL)
		put_text(b, "shell");
	if (marks & POLICY_IS_PROTECT)
		put_text(b, "protect");
}

static void put_column(struct buf *b, const struct policy_image *img, char kind,
	const uint32_t *v)
{
	struct img_class set;

	switch (kind) {
	case 's':
		put_text(b, img_str(img, *v));
		break;
	case 'R':
		put_words(b, img, (struct img_range){v[0], v[1]});
		break;
	case 'T':
		put_tokens(b, img, (struct img_range){v[0], v[1]});
		break;
	case 'k':
		rule_bits(b, *v);
		break;
	case 'c':
		img_get(img, IMG_CLASS, *v, &set);
		cbor_put_array(b, ARRAY_SIZE(set.bits));
		for (size_t i = 0; i < ARRAY_SIZE(set.bits); i++)
			cbor_put_uint(b, set.bits[i]);
		break;
	default:
		cbor_put_uint(b, *v);
	}
}

static void put_rows(
	struct buf *b, const struct policy_image *img, enum img_section s)
{
	const char *columns = img_columns(s);
	uint32_t row[64];
	size_t n = 0;

	for (const char *c = columns; *c; c++)
		n += *c != '-'; /* the second half of a range */
	cbor_put_array(b, IMG_COUNT(img, s));
	for (uint32_t i = 0; i < IMG_COUNT(img, s); i++) {
		img_get(img, s, i, row);
		cbor_put_array(b, n);
		for (size_t c = 0; columns[c]; c++)
			if (columns[c] != '-')
				put_column(b, img, columns[c], &row[c]);
	}
}

static void put_layer(struct buf *b, const struct policy_image *img)
{
	/* In the order that deterministic CBOR wants of keys. */
	static const struct {
		char name[8];
		uint8_t section;
	} part[] = {
		{"list", IMG_LIST},
		{"path", IMG_PATH},
		{"rule", IMG_RULE},
		{"sets", IMG_SET},
		{"test", IMG_TEST},
		{"reads", IMG_READS},
		{"redact", IMG_REDACT},
		{"secret", IMG_SECRET},
		{"source", IMG_SOURCE},
		{"profile", IMG_PROFILE},
		{"protect", IMG_PROTECT},
	};
	unsigned use = img->head->use;

	cbor_put_map(b, ARRAY_SIZE(part) + 2);
	put_text(b, "use");
	put_text(b, use < POLICY_PROFILES
			? policy_profile_name((enum policy_profile)use)
			: "");
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		put_text(b, part[i].name);
		put_rows(b, img, part[i].section);
		if (i == 4) { /* between "test" and "reads" */
			put_text(b, "layer");
			put_text(b, policy_layer_name(
					(enum policy_layer)img->head->layer));
		}
	}
}

int policy_export(void *into)
{
	const struct policy_opts *o = into;
	autohere struct policy_here *h = NULL;
	autobuf struct buf out = BUF_INIT(16 << 20);
	struct json j = JSON_INIT(&out);
	size_t n = 0;

	if (o->json)
		cli_die_usage(o->spec, "export writes CBOR, not JSON");
	h = policy_find_here(o);
	for (unsigned l = 0; l < POLICY_LAYERS; l++)
		n += h->policy->layer[l] != NULL;
	cbor_put_map(&out, 2);
	put_text(&out, "layers");
	cbor_put_array(&out, n);
	for (unsigned l = 0; l < POLICY_LAYERS; l++)
		if (h->policy->layer[l])
			put_layer(&out, h->policy->layer[l]);
	put_text(&out, "profile");
	put_text(&out, policy_profile_name(h->profile));
	if (out.err)
		cli_die(EXIT_FOUND, "the policy is too large");
	if (!o->output && isatty(STDOUT_FILENO))
		cli_die_usage(o->spec,
			"CBOR is not for a terminal; see --output");
	if (o->output && !o->dry_run)
		policy_write(o->output, out.data, out.len, 0644);
	if (o->output)
		buf_clear(&out);
	if (o->output && o->dry_run)
		policy_wrote(o, &j, o->output, NULL);
	cli_print(&out);
	return h->policy->state == POLICY_BROKEN ? POLICY_EXIT_BROKEN : EXIT_OK;
}
