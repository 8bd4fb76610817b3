/* redact_shape.c - the shapes of tokens, and the marks that are made of them
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"
#include "base/str.h"

const uint16_t redact_bytes[256] = {
	['0' ... '9'] = B_DIGIT | B_HEX,
	['A' ... 'F'] = B_UPPER | B_HEX,
	['G' ... 'Z'] = B_UPPER,
	['a' ... 'f'] = B_LOWER | B_HEX,
	['g' ... 'z'] = B_LOWER,
	['_'] = B_UNDER,
	['-'] = B_DASH | B_TRIGGER,
	['.'] = B_DOT,
	['+'] = B_BASE64,
	['/'] = B_BASE64,
	['='] = B_BASE64 | B_TRIGGER,
	['$'] = B_CRYPT,
	[','] = B_CRYPT,
	[':'] = B_TRIGGER,
	['<'] = B_TRIGGER,
	['>'] = B_TRIGGER,
	['~'] = B_TRIGGER,
	['\\'] = B_TRIGGER,
	['%'] = B_TRIGGER | B_BEHIND,
	[' '] = B_BEHIND,
	['\t'] = B_BEHIND,
	['"'] = B_BEHIND,
	['\''] = B_BEHIND,
	['('] = B_BEHIND,
};

/* In the order of their first letters. */
static const struct redact_shape shapes[] = {
	{"1//0", KIND_GOOGLE, 0, 40, B_TOKEN},
	{"2a$", KIND_CRYPT, 0, 55, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"2b$", KIND_CRYPT, 0, 55, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"2y$", KIND_CRYPT, 0, 55, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"4b1d", KIND_OTHER, SHAPE_EXACT | SHAPE_RANDOM, 38, B_ALNUM},
	{"5$", KIND_CRYPT, 0, 44, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"6$", KIND_CRYPT, 0, 87, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"A3-", KIND_OTHER, SHAPE_RANDOM, 36, B_UPPER | B_DIGIT | B_DASH},
	{"ABIA", KIND_AWS, SHAPE_EXACT, 16, B_UPPER | B_DIGIT},
	{"ABSK", KIND_OTHER, SHAPE_RANDOM, 100, B_ALNUM | B_BASE64},
	{"ACCA", KIND_AWS, SHAPE_EXACT, 16, B_UPPER | B_DIGIT},
	{"AGE-SECRET-", KIND_OTHER, 0, 54, B_UPPER | B_DIGIT | B_DASH},
	{"AIza", KIND_GOOGLE, 0, 30, B_TOKEN},
	{"AKCp", KIND_OTHER, 0, 60, B_ALNUM},
	{"AKIA", KIND_AWS, SHAPE_EXACT, 16, B_UPPER | B_DIGIT},
	{"APA91b", KIND_OTHER, 0, 100, B_TOKEN},
	{"API-", KIND_OTHER, SHAPE_EXACT | SHAPE_RANDOM, 26, B_UPPER | B_DIGIT},
	{"AQVN", KIND_OTHER, 0, 35, B_TOKEN},
	{"ASIA", KIND_AWS, SHAPE_EXACT, 16, B_UPPER | B_DIGIT},
	{"ATATT3", KIND_OTHER, 0, 60, B_TOKEN | B_BASE64},
	{"ATBB", KIND_OTHER, 0, 32, B_ALNUM},
	{"ATCTT3", KIND_OTHER, 0, 60, B_TOKEN | B_BASE64},
	{"CCIPAT_", KIND_OTHER, 0, 40, B_WORD},
	{"CCIPRJ_", KIND_OTHER, 0, 40, B_WORD},
	{"CLOJARS_", KIND_OTHER, 0, 60, B_ALNUM},
	{"EAA", KIND_OTHER, SHAPE_RANDOM, 60, B_TOKEN},
	{"EZAK", KIND_OTHER, 0, 54, B_ALNUM},
	{"EZTK", KIND_OTHER, 0, 54, B_ALNUM},
	{"FLWSECK", KIND_OTHER, SHAPE_RANDOM, 18, B_WORD | B_DASH},
	{"FwoGZXIvYXd", KIND_AWS, 0, 100, B_ALNUM | B_BASE64},
	{"GOCSPX-", KIND_GOOGLE, 0, 20, B_TOKEN},
	{"GR1348941", KIND_GITLAB, 0, 20, B_TOKEN},
	{"HRKU-AA", KIND_OTHER, 0, 50, B_TOKEN},
	{"IQoJb3JpZ2l", KIND_AWS, 0, 100, B_ALNUM | B_BASE64},
	{"LTAI", KIND_OTHER, 0, 16, B_ALNUM},
	{"NRAK-", KIND_OTHER, 0, 27, B_UPPER | B_DIGIT},
	{"NRII-", KIND_OTHER, 0, 32, B_TOKEN},
	{"NRJS-", KIND_OTHER, 0, 19, B_ALNUM},
	{"PMAK-", KIND_OTHER, 0, 40, B_TOKEN},
	{"RWQAAEIy", KIND_PEM, 0, 140, B_ALNUM | B_BASE64},
	{"RWRCSwAAA", KIND_PEM, 0, 100, B_ALNUM | B_BASE64},
	{"RWRTY0Iy", KIND_PEM, 0, 140, B_ALNUM | B_BASE64},
	{"SG.", KIND_OTHER, 0, 50, B_TOKEN | B_DOT},
	{"SK", KIND_OTHER, SHAPE_EXACT, 32, B_HEX},
	{"ZXlK", KIND_JWT, 0, 60, B_ALNUM | B_BASE64},
	{"access-", KIND_OTHER, SHAPE_RANDOM, 44, B_TOKEN},
	{"api_org_", KIND_HUGGINGFACE, 0, 30, B_ALNUM},
	{"apr1$", KIND_CRYPT, 0, 24, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"argon2", KIND_CRYPT, 0, 60, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"atlasv1.", KIND_OTHER, 0, 60, B_TOKEN},
	{"bedrock-api", KIND_AWS, 0, 30, B_TOKEN | B_BASE64},
	{"bkua_", KIND_OTHER, 0, 40, B_HEX},
	{"cio", KIND_OTHER, SHAPE_EXACT | SHAPE_RANDOM, 32, B_ALNUM},
	{"cmVmdGtu", KIND_OTHER, 0, 50, B_ALNUM},
	{"dapi", KIND_OTHER, SHAPE_EXACT, 32, B_HEX},
	{"dckr_?at_", KIND_OTHER, 0, 20, B_TOKEN},
	{"dnkey-", KIND_OTHER, 0, 50, B_TOKEN},
	{"do?_v1_", KIND_OTHER, 0, 40, B_HEX},
	{"dp.?t.", KIND_OTHER, 0, 40, B_ALNUM},
	{"dp.s?.", KIND_OTHER, 0, 40, B_TOKEN | B_DOT},
	{"dt0c01.", KIND_OTHER, 0, 80, B_ALNUM | B_DOT},
	{"duffel_", KIND_OTHER, 0, 43, B_TOKEN},
	{"e2b_", KIND_OTHER, SHAPE_EXACT, 40, B_HEX},
	{"eyJrIjoi", KIND_OTHER, 0, 70, B_ALNUM | B_BASE64},
	{"fc-", KIND_OTHER, SHAPE_EXACT, 32, B_HEX},
	{"figd_", KIND_OTHER, 0, 40, B_TOKEN},
	{"fio-u-", KIND_OTHER, 0, 64, B_TOKEN},
	{"fm1?_", KIND_OTHER, 0, 60, B_ALNUM | B_BASE64},
	{"fm2_", KIND_OTHER, 0, 60, B_ALNUM | B_BASE64},
	{"fo1_", KIND_OTHER, SHAPE_EXACT, 43, B_TOKEN},
	{"gh?_", KIND_GITHUB, 0, 30, B_ALNUM},
	{"github_pat_", KIND_GITHUB, 0, 40, B_WORD},
	{"glagent-", KIND_GITLAB, 0, 20, B_TOKEN},
	{"glc_eyJ", KIND_OTHER, 0, 40, B_ALNUM | B_BASE64},
	{"glcbt-", KIND_GITLAB, 0, 20, B_TOKEN},
	{"gldt-", KIND_GITLAB, 0, 20, B_TOKEN},
	{"glffct-", KIND_GITLAB, 0, 20, B_TOKEN},
	{"glft-", KIND_GITLAB, 0, 20, B_TOKEN},
	{"glimt-", KIND_GITLAB, 0, 20, B_TOKEN},
	{"gloas-", KIND_GITLAB, 0, 20, B_TOKEN},
	{"glpat-", KIND_GITLAB, 0, 20, B_TOKEN | B_DOT},
	{"glptt-", KIND_GITLAB, 0, 20, B_TOKEN},
	{"glrt-", KIND_GITLAB, 0, 20, B_TOKEN | B_DOT},
	{"glc_eyJ", KIND_OTHER, 0, 40, B_TOKEN | B_BASE64},
	{"glsa_", KIND_OTHER, 0, 32, B_WORD},
	{"glsoat-", KIND_GITLAB, 0, 20, B_TOKEN},
	{"gsk_", KIND_OTHER, 0, 40, B_ALNUM},
	{"hf_", KIND_HUGGINGFACE, 0, 30, B_ALNUM},
	{"hooks.slack", KIND_SLACK, 0, 55, B_ALNUM | B_BASE64 | B_DOT},
	{"hvb.", KIND_VAULT, 0, 60, B_TOKEN},
	{"hvr.", KIND_VAULT, 0, 60, B_TOKEN},
	{"hvs.", KIND_VAULT, 0, 24, B_TOKEN},
	{"ico-", KIND_OTHER, SHAPE_EXACT | SHAPE_RANDOM, 32, B_ALNUM},
	{"jina_", KIND_OTHER, 0, 48, B_TOKEN},
	{"key-", KIND_OTHER, SHAPE_EXACT, 32, B_HEX},
	{"lin_api_", KIND_OTHER, 0, 32, B_ALNUM},
	{"lin_oauth_", KIND_OTHER, 0, 40, B_HEX},
	{"lsv2_", KIND_OTHER, 0, 40, B_WORD},
	{"mfa.", KIND_OTHER, 0, 80, B_TOKEN},
	{"nf?_", KIND_OTHER, 0, 36, B_ALNUM},
	{"npm_", KIND_NPM, 0, 30, B_ALNUM},
	{"ntn_", KIND_OTHER, 0, 40, B_ALNUM},
	{"nvapi-", KIND_OTHER, 0, 40, B_TOKEN},
	{"ops_eyJ", KIND_OTHER, 0, 200, B_TOKEN | B_BASE64},
	{"oy2", KIND_OTHER, SHAPE_EXACT | SHAPE_RANDOM, 43, B_LOWER | B_DIGIT},
	{"p8e-", KIND_OTHER, SHAPE_EXACT | SHAPE_RANDOM, 32, B_ALNUM},
	{"pat", KIND_OTHER, SHAPE_RANDOM, 79, B_ALNUM | B_DOT},
	{"pat-na1-", KIND_OTHER, SHAPE_RANDOM, 36, B_TOKEN},
	{"pat.", KIND_OTHER, SHAPE_RANDOM, 60, B_TOKEN | B_DOT},
	{"pcsk_", KIND_OTHER, 0, 60, B_WORD},
	{"phx_", KIND_OTHER, 0, 40, B_TOKEN},
	{"pnu_", KIND_OTHER, SHAPE_EXACT, 36, B_ALNUM},
	{"pplx-", KIND_OTHER, 0, 40, B_ALNUM},
	{"pscale_", KIND_OTHER, 0, 32, B_TOKEN | B_DOT},
	{"pul-", KIND_OTHER, 0, 40, B_HEX},
	{"pypi-AgE", KIND_PYPI, 0, 50, B_TOKEN},
	{"r8_", KIND_OTHER, 0, 37, B_ALNUM},
	{"rdme_", KIND_OTHER, 0, 70, B_ALNUM},
	{"re_", KIND_OTHER, SHAPE_EXACT | SHAPE_RANDOM, 33, B_WORD},
	{"rk_live_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"rk_prod_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"rk_test_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"rubygems_", KIND_OTHER, 0, 40, B_HEX},
	{"s.", KIND_VAULT, SHAPE_EXACT | SHAPE_RANDOM, 24, B_ALNUM},
	{"sat.", KIND_OTHER, SHAPE_RANDOM, 60, B_TOKEN | B_DOT},
	{"sb_secret_", KIND_OTHER, 0, 30, B_TOKEN},
	{"sbp_", KIND_OTHER, 0, 40, B_HEX},
	{"secret_", KIND_OTHER, SHAPE_EXACT, 43, B_ALNUM},
	{"sgp_", KIND_OTHER, 0, 40, B_WORD},
	{"sha256~", KIND_OTHER, 0, 43, B_TOKEN},
	{"shippo_", KIND_OTHER, 0, 45, B_WORD},
	{"shp??_", KIND_OTHER, 0, 32, B_HEX},
	{"sk-", KIND_OPENAI, SHAPE_RANDOM, 32, B_TOKEN},
	{"sk-admin-", KIND_OPENAI, 0, 20, B_TOKEN},
	{"sk-ant-", KIND_ANTHROPIC, 0, 20, B_TOKEN},
	{"sk-proj-", KIND_OPENAI, 0, 20, B_TOKEN},
	{"sk-svcacct-", KIND_OPENAI, 0, 20, B_TOKEN},
	{"sk.eyJ", KIND_OTHER, 0, 60, B_TOKEN | B_DOT},
	{"sk_live_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"sk_prod_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"sk_test_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"sl.", KIND_OTHER, SHAPE_RANDOM, 100, B_TOKEN},
	{"sm_?at_", KIND_OTHER, 0, 16, B_ALNUM},
	{"sntrys_eyJ", KIND_OTHER, 0, 60, B_WORD | B_BASE64},
	{"sntryu_", KIND_OTHER, 0, 60, B_HEX},
	{"sq0", KIND_OTHER, 0, 25, B_TOKEN},
	{"sq?_", KIND_OTHER, SHAPE_EXACT | SHAPE_RANDOM, 40, B_HEX},
	{"tfp_", KIND_OTHER, 0, 59, B_TOKEN | B_DOT},
	{"tgp_v1_", KIND_OTHER, 0, 40, B_TOKEN},
	{"tk-us-", KIND_OTHER, 0, 48, B_TOKEN},
	{"tskey-", KIND_OTHER, 0, 20, B_TOKEN},
	{"tvly-", KIND_OTHER, SHAPE_RANDOM, 24, B_TOKEN},
	{"v1.0-", KIND_OTHER, 0, 171, B_HEX | B_DASH},
	{"vc?_", KIND_OTHER, 0, 50, B_ALNUM},
	{"webhookb2/", KIND_OTHER, SHAPE_RANDOM, 36, B_TOKEN},
	{"webhooks/", KIND_OTHER, SHAPE_RANDOM, 80, B_TOKEN | B_BASE64},
	{"whsec_", KIND_STRIPE, 0, 20, B_ALNUM | B_BASE64},
	{"xai-", KIND_OTHER, 0, 60, B_ALNUM},
	{"xapp-", KIND_SLACK, 0, 20, B_TOKEN},
	{"xkeysib-", KIND_OTHER, 0, 60, B_TOKEN},
	{"xox?-", KIND_SLACK, 0, 10, B_TOKEN},
	{"xoxe.", KIND_SLACK, 0, 10, B_TOKEN},
	{"xprv", KIND_OTHER, 0, 107, B_ALNUM},
	{"y$", KIND_CRYPT, 0, 50, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"ya29.", KIND_GOOGLE, 0, 20, B_TOKEN | B_DOT},
};

const struct redact_shape *redact_shapes(unsigned char first, size_t *n)
{
	size_t from = 0, to;

	for (size_t step = 128; step; step /= 2)
		if (from + step <= ARRAY_SIZE(shapes) &&
			(unsigned char)shapes[from + step - 1].prefix[0] < first)
			from += step;
	for (to = from; to < ARRAY_SIZE(shapes) &&
		(unsigned char)shapes[to].prefix[0] == first;)
		to++;
	*n = to - from;
	return shapes + from;
}

static void mark(uint8_t *marks, unsigned slot)
{
	marks[slot / 8] |= (uint8_t)(1 << slot % 8);
}

static void mark_thirds(
	uint8_t *begins, const unsigned char *p, unsigned class)
{
	unsigned char spelt[REDACT_BEGIN] = {p[0], p[1], 'z'};

	for (; spelt[2]; spelt[2]--)
		if (redact_bytes[spelt[2]] & class)
			mark(begins, redact_begin(spelt));
}

/* A name of two letters and the blank behind it; none is shorter. */
static void mark_programs(uint8_t *begins, const struct policy_secret *o)
{
	unsigned char p[REDACT_BEGIN];

	if (o->kind != POLICY_SECRET_WORD)
		return;
	for (const char *name = o->programs; *name; name += *name == '|') {
		memcpy(p, name, sizeof p);
		p[2] = p[2] && p[2] != '|' ? p[2] : ' ';
		mark(begins, redact_begin(p));
		name = strchrnul(name, '|');
	}
}

void redact_token_begins(uint8_t begins[static REDACT_BEGINS / 8])
{
	/* Of a JWT, and of redact_piped. */
	static const char others[] = "eyJ\0ech\0pri\0yes\0";

	memset(begins, 0, REDACT_BEGINS / 8);
	EACH (word, others)
		mark(begins, redact_begin((const unsigned char *)word));
	for (size_t i = 0; i < redact_line_count; i++)
		mark_programs(begins, &redact_lines[i]);
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		unsigned char p[REDACT_BEGIN];

		memcpy(p, shapes[i].prefix, sizeof p);
		if (p[2] && p[2] != '?')
			mark(begins, redact_begin(p));
		else
			/* Of a prefix of two letters the third is the token's. */
			mark_thirds(begins, p, p[2] ? B_LOWER : shapes[i].class);
	}
}

/* password, bindpw, rootpw, identified, token, key, pass, passphrase, secret,
 * bearer, basic; Key 1. */
void redact_name_ends(uint8_t ends[static REDACT_ENDS / 8])
{
	static const char spelt[] =
		"ord\0swd\0pwd\0dpw\0tpw\0ied\0ken\0key\0ass\0ase\0ret\0rer\0sic\0uth\0"
		"y 1\0y 2\0y 3\0y 4\0y 5\0y 6\0y 7\0y 8\0y 9\0";

	memset(ends, 0, REDACT_ENDS / 8);
	EACH (word, spelt)
		mark(ends, redact_end((const unsigned char *)word + 3));
}
