/* redact_token.c - tokens that show by their shape what they are
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact_core.h"
#include "str.h"

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

/* When the prefix alone proves little: exactly as many letters, with no letter
 * or digit behind; letters that look random. */
enum { EXACT = 1, RANDOM = 2 };

/* A prefix, in which '?' is any small letter, and behind it at least min letters
 * of the class. */
struct shape {
	char prefix[12]; /* with its NUL */
	uint8_t kind : 6;
	uint8_t proof : 2;
	uint8_t min;
	uint16_t class;
};

/* In the order of their first letters. */
static const struct shape shapes[] = {
	{"1//0", KIND_GOOGLE, 0, 40, B_TOKEN},
	{"2a$", KIND_CRYPT, 0, 55, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"2b$", KIND_CRYPT, 0, 55, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"2y$", KIND_CRYPT, 0, 55, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"4b1d", KIND_OTHER, EXACT | RANDOM, 38, B_ALNUM},
	{"5$", KIND_CRYPT, 0, 44, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"6$", KIND_CRYPT, 0, 87, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"A3-", KIND_OTHER, RANDOM, 36, B_UPPER | B_DIGIT | B_DASH},
	{"ABIA", KIND_AWS, EXACT, 16, B_UPPER | B_DIGIT},
	{"ABSK", KIND_OTHER, RANDOM, 100, B_ALNUM | B_BASE64},
	{"ACCA", KIND_AWS, EXACT, 16, B_UPPER | B_DIGIT},
	{"AGE-SECRET-", KIND_OTHER, 0, 54, B_UPPER | B_DIGIT | B_DASH},
	{"AIza", KIND_GOOGLE, 0, 30, B_TOKEN},
	{"AKCp", KIND_OTHER, 0, 60, B_ALNUM},
	{"AKIA", KIND_AWS, EXACT, 16, B_UPPER | B_DIGIT},
	{"APA91b", KIND_OTHER, 0, 100, B_TOKEN},
	{"API-", KIND_OTHER, EXACT | RANDOM, 26, B_UPPER | B_DIGIT},
	{"AQVN", KIND_OTHER, 0, 35, B_TOKEN},
	{"ASIA", KIND_AWS, EXACT, 16, B_UPPER | B_DIGIT},
	{"ATATT3", KIND_OTHER, 0, 60, B_TOKEN | B_BASE64},
	{"ATBB", KIND_OTHER, 0, 32, B_ALNUM},
	{"ATCTT3", KIND_OTHER, 0, 60, B_TOKEN | B_BASE64},
	{"CCIPAT_", KIND_OTHER, 0, 40, B_WORD},
	{"CCIPRJ_", KIND_OTHER, 0, 40, B_WORD},
	{"CLOJARS_", KIND_OTHER, 0, 60, B_ALNUM},
	{"EAA", KIND_OTHER, RANDOM, 60, B_TOKEN},
	{"EZAK", KIND_OTHER, 0, 54, B_ALNUM},
	{"EZTK", KIND_OTHER, 0, 54, B_ALNUM},
	{"FLWSECK", KIND_OTHER, RANDOM, 18, B_WORD | B_DASH},
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
	{"SK", KIND_OTHER, EXACT, 32, B_HEX},
	{"ZXlK", KIND_JWT, 0, 60, B_ALNUM | B_BASE64},
	{"access-", KIND_OTHER, RANDOM, 44, B_TOKEN},
	{"api_org_", KIND_HUGGINGFACE, 0, 30, B_ALNUM},
	{"apr1$", KIND_CRYPT, 0, 24, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"argon2", KIND_CRYPT, 0, 60, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT},
	{"atlasv1.", KIND_OTHER, 0, 60, B_TOKEN},
	{"bedrock-api", KIND_AWS, 0, 30, B_TOKEN | B_BASE64},
	{"bkua_", KIND_OTHER, 0, 40, B_HEX},
	{"cio", KIND_OTHER, EXACT | RANDOM, 32, B_ALNUM},
	{"cmVmdGtu", KIND_OTHER, 0, 50, B_ALNUM},
	{"dapi", KIND_OTHER, EXACT, 32, B_HEX},
	{"dckr_?at_", KIND_OTHER, 0, 20, B_TOKEN},
	{"dnkey-", KIND_OTHER, 0, 50, B_TOKEN},
	{"do?_v1_", KIND_OTHER, 0, 40, B_HEX},
	{"dp.?t.", KIND_OTHER, 0, 40, B_ALNUM},
	{"dp.s?.", KIND_OTHER, 0, 40, B_TOKEN | B_DOT},
	{"dt0c01.", KIND_OTHER, 0, 80, B_ALNUM | B_DOT},
	{"duffel_", KIND_OTHER, 0, 43, B_TOKEN},
	{"e2b_", KIND_OTHER, EXACT, 40, B_HEX},
	{"eyJrIjoi", KIND_OTHER, 0, 70, B_ALNUM | B_BASE64},
	{"fc-", KIND_OTHER, EXACT, 32, B_HEX},
	{"figd_", KIND_OTHER, 0, 40, B_TOKEN},
	{"fio-u-", KIND_OTHER, 0, 64, B_TOKEN},
	{"fm1?_", KIND_OTHER, 0, 60, B_ALNUM | B_BASE64},
	{"fm2_", KIND_OTHER, 0, 60, B_ALNUM | B_BASE64},
	{"fo1_", KIND_OTHER, EXACT, 43, B_TOKEN},
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
	{"glsa_", KIND_OTHER, 0, 32, B_WORD},
	{"glsoat-", KIND_GITLAB, 0, 20, B_TOKEN},
	{"gsk_", KIND_OTHER, 0, 40, B_ALNUM},
	{"hf_", KIND_HUGGINGFACE, 0, 30, B_ALNUM},
	{"hooks.slack", KIND_SLACK, 0, 55, B_ALNUM | B_BASE64 | B_DOT},
	{"hvb.", KIND_VAULT, 0, 60, B_TOKEN},
	{"hvr.", KIND_VAULT, 0, 60, B_TOKEN},
	{"hvs.", KIND_VAULT, 0, 24, B_TOKEN},
	{"ico-", KIND_OTHER, EXACT | RANDOM, 32, B_ALNUM},
	{"jina_", KIND_OTHER, 0, 48, B_TOKEN},
	{"key-", KIND_OTHER, EXACT, 32, B_HEX},
	{"lin_api_", KIND_OTHER, 0, 32, B_ALNUM},
	{"lin_oauth_", KIND_OTHER, 0, 40, B_HEX},
	{"lsv2_", KIND_OTHER, 0, 40, B_WORD},
	{"mfa.", KIND_OTHER, 0, 80, B_TOKEN},
	{"nf?_", KIND_OTHER, 0, 36, B_ALNUM},
	{"npm_", KIND_NPM, 0, 30, B_ALNUM},
	{"ntn_", KIND_OTHER, 0, 40, B_ALNUM},
	{"nvapi-", KIND_OTHER, 0, 40, B_TOKEN},
	{"ops_eyJ", KIND_OTHER, 0, 200, B_TOKEN | B_BASE64},
	{"oy2", KIND_OTHER, EXACT | RANDOM, 43, B_LOWER | B_DIGIT},
	{"p8e-", KIND_OTHER, EXACT | RANDOM, 32, B_ALNUM},
	{"pat", KIND_OTHER, RANDOM, 79, B_ALNUM | B_DOT},
	{"pat-na1-", KIND_OTHER, RANDOM, 36, B_TOKEN},
	{"pat.", KIND_OTHER, RANDOM, 60, B_TOKEN | B_DOT},
	{"pcsk_", KIND_OTHER, 0, 60, B_WORD},
	{"phx_", KIND_OTHER, 0, 40, B_TOKEN},
	{"pnu_", KIND_OTHER, EXACT, 36, B_ALNUM},
	{"pplx-", KIND_OTHER, 0, 40, B_ALNUM},
	{"pscale_", KIND_OTHER, 0, 32, B_TOKEN | B_DOT},
	{"pul-", KIND_OTHER, 0, 40, B_HEX},
	{"pypi-AgE", KIND_PYPI, 0, 50, B_TOKEN},
	{"r8_", KIND_OTHER, 0, 37, B_ALNUM},
	{"rdme_", KIND_OTHER, 0, 70, B_ALNUM},
	{"re_", KIND_OTHER, EXACT | RANDOM, 33, B_WORD},
	{"rk_live_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"rk_prod_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"rk_test_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"rubygems_", KIND_OTHER, 0, 40, B_HEX},
	{"s.", KIND_VAULT, EXACT | RANDOM, 24, B_ALNUM},
	{"sat.", KIND_OTHER, RANDOM, 60, B_TOKEN | B_DOT},
	{"sb_secret_", KIND_OTHER, 0, 30, B_TOKEN},
	{"sbp_", KIND_OTHER, 0, 40, B_HEX},
	{"secret_", KIND_OTHER, EXACT, 43, B_ALNUM},
	{"sgp_", KIND_OTHER, 0, 40, B_WORD},
	{"sha256~", KIND_OTHER, 0, 43, B_TOKEN},
	{"shippo_", KIND_OTHER, 0, 45, B_WORD},
	{"shp??_", KIND_OTHER, 0, 32, B_HEX},
	{"sk-", KIND_OPENAI, RANDOM, 32, B_TOKEN},
	{"sk-admin-", KIND_OPENAI, 0, 20, B_TOKEN},
	{"sk-ant-", KIND_ANTHROPIC, 0, 20, B_TOKEN},
	{"sk-proj-", KIND_OPENAI, 0, 20, B_TOKEN},
	{"sk-svcacct-", KIND_OPENAI, 0, 20, B_TOKEN},
	{"sk.eyJ", KIND_OTHER, 0, 60, B_TOKEN | B_DOT},
	{"sk_live_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"sk_prod_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"sk_test_", KIND_STRIPE, 0, 10, B_ALNUM},
	{"sl.", KIND_OTHER, RANDOM, 100, B_TOKEN},
	{"sm_?at_", KIND_OTHER, 0, 16, B_ALNUM},
	{"sntrys_eyJ", KIND_OTHER, 0, 60, B_WORD | B_BASE64},
	{"sntryu_", KIND_OTHER, 0, 60, B_HEX},
	{"sq0", KIND_OTHER, 0, 25, B_TOKEN},
	{"sq?_", KIND_OTHER, EXACT | RANDOM, 40, B_HEX},
	{"tfp_", KIND_OTHER, 0, 59, B_TOKEN | B_DOT},
	{"tgp_v1_", KIND_OTHER, 0, 40, B_TOKEN},
	{"tk-us-", KIND_OTHER, 0, 48, B_TOKEN},
	{"tskey-", KIND_OTHER, 0, 20, B_TOKEN},
	{"tvly-", KIND_OTHER, RANDOM, 24, B_TOKEN},
	{"v1.0-", KIND_OTHER, 0, 171, B_HEX | B_DASH},
	{"vc?_", KIND_OTHER, 0, 50, B_ALNUM},
	{"webhookb2/", KIND_OTHER, RANDOM, 36, B_TOKEN},
	{"webhooks/", KIND_OTHER, RANDOM, 80, B_TOKEN | B_BASE64},
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

void redact_token_begins(uint8_t begins[static REDACT_BEGINS / 8])
{
	/* Of a JWT, and of what redact_word looks at besides. */
	static const char others[] =
		"eyJ\0ech\0pri\0yes\0htp\0vau\0car\0mkp\0sql\0ope\0"
		"red\0net\0wpa\0key\0rcl\0rab\0ans\0";

	memset(begins, 0, REDACT_BEGINS / 8);
	EACH (word, others)
		mark(begins, redact_begin((const unsigned char *)word));
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

/* log2(x) in 1/256, x > 0: the exponent, and the mantissa by squaring. */
static unsigned log2_256(uint64_t x)
{
	unsigned e = 63 - (unsigned)__builtin_clzll(x), result = e << 8;
	uint64_t m = e > 15 ? x >> (e - 15) : x << (15 - e); /* 1.15 */

	for (unsigned bit = 128; bit; bit >>= 1) {
		m = m * m >> 15;
		if (m >> 16) {
			m >>= 1;
			result |= bit;
		}
	}
	return result;
}

unsigned redact_entropy(const unsigned char *p, size_t n)
{
	uint16_t count[256] = {0};
	uint64_t sum = 0;

	if (!n || n > UINT16_MAX)
		return 0;
	for (size_t i = 0; i < n; i++)
		count[p[i]]++;
	for (unsigned i = 0; i < 256; i++)
		if (count[i])
			sum += (uint64_t)count[i] * log2_256(count[i]);
	return log2_256(n) - (unsigned)(sum / n);
}

/* Letters of the class from at on. */
static size_t run(const struct redact_view *v, size_t at, unsigned class)
{
	size_t i = at;

	while (i < v->n && redact_bytes[v->text[i]] & class)
		i++;
	return i - at;
}

static bool has(const unsigned char *p, size_t n, unsigned class)
{
	for (size_t i = 0; i < n; i++)
		if (redact_bytes[p[i]] & class)
			return true;
	return false;
}

static bool random_enough(const struct shape *sh, const unsigned char *p, size_t n)
{
	if (sh->proof & RANDOM)
		return has(p, n, B_DIGIT) && has(p, n, B_UPPER | B_LOWER) &&
			redact_entropy(p, n) >= 3 * 256;
	return redact_entropy(p, n) >= 2 * 256;
}

/* So many letters of the text at at are the prefix's. */
static size_t in_common(
	const struct redact_view *v, size_t at, const struct shape *sh)
{
	size_t i = 0;

	while (sh->prefix[i] && at + i < v->n &&
		((char)v->text[at + i] == sh->prefix[i] ||
			(sh->prefix[i] == '?' &&
				redact_bytes[v->text[at + i]] & B_LOWER)))
		i++;
	return i;
}

static enum redact_answer try_shape(const struct redact_view *v, size_t at,
	const struct shape *sh, struct redact_span *s)
{
	const size_t prefix = in_common(v, at, sh);
	size_t n;

	if (sh->prefix[prefix] && at + prefix < v->n)
		return REDACT_NO;
	s->from = s->value = at;
	s->kind = sh->kind;
	s->mode = REDACT_MODE_TOKEN;
	s->committed = false;
	if (sh->prefix[prefix])
		return v->last ? REDACT_NO : REDACT_MORE;
	n = run(v, at + prefix, sh->class);
	s->to = at + prefix + n;
	if (s->to == v->n && !v->last) {
		s->committed = prefix > 2;
		return REDACT_MORE;
	}
	if (n < sh->min || (sh->proof & EXACT && n != sh->min))
		return REDACT_NO;
	if (sh->proof & EXACT && s->to < v->n &&
		redact_bytes[v->text[s->to]] & B_ALNUM)
		return REDACT_NO;
	return random_enough(sh, v->text + at + prefix, n) ? REDACT_YES
							   : REDACT_NO;
}

/* A JWT: header.payload.signature, the first two beginning as JSON does. Or a
 * Discord bot's token: its number, a time, a signature. */
static enum redact_answer try_parts(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	static const char mark[] = "eyJ";
	const unsigned char *p = v->text + at, *dot;
	const size_t left = v->n - at, n = run(v, at, B_TOKEN | B_DOT);
	const bool jwt = memcmp(p, mark, left < 3 ? left : 3) == 0;
	size_t number, rest;

	*s = (struct redact_span){.from = at,
		.value = at,
		.to = at + n,
		.kind = jwt ? KIND_JWT : KIND_OTHER,
		.mode = REDACT_MODE_TOKEN,
		.committed = jwt && n > 8};
	if (!jwt && !redact_begins_bot(p, left))
		return REDACT_NO;
	if (s->to == v->n && !v->last)
		return REDACT_MORE;
	dot = memchr(p, '.', n);
	if (!dot || jwt)
		return dot && n >= 30 ? REDACT_YES : REDACT_NO;
	number = (size_t)(dot - p);
	rest = n - number - 1;
	/* A name of three parts has less in it. */
	return number >= 23 && number <= 28 && rest >= 32 && dot[7] == '.' &&
			redact_entropy(p, n) >= 4 * 256 + 160
		? REDACT_YES
		: REDACT_NO;
}

enum redact_answer redact_token(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	struct redact_span more = {0};
	bool wait = false;
	size_t i = 0;

	for (size_t step = 128; step; step /= 2)
		if (i + step <= ARRAY_SIZE(shapes) &&
			(unsigned char)shapes[i + step - 1].prefix[0] < v->text[at])
			i += step;
	for (; i < ARRAY_SIZE(shapes) &&
		(unsigned char)shapes[i].prefix[0] == v->text[at];
		i++) {
		enum redact_answer a = try_shape(v, at, &shapes[i], s);

		if (a == REDACT_YES)
			return a;
		if (a == REDACT_MORE) {
			more.committed |= s->committed;
			more.kind = s->kind;
			wait = true;
		}
	}
	if (wait) {
		more.from = more.value = at;
		more.to = v->n;
		more.mode = REDACT_MODE_TOKEN;
		*s = more;
		return REDACT_MORE;
	}
	return try_parts(v, at, s);
}

enum redact_answer redact_telegram(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	size_t digits = 0, n;

	size_t begin;

	while (digits < at && digits <= 16 &&
		redact_bytes[v->text[at - digits - 1]] & B_DIGIT)
		digits++;
	begin = at - digits;
	/* In the address of the service "bot" is before it. */
	if (begin >= 3 && memcmp(v->text + begin - 3, "bot", 3) == 0)
		begin -= 3;
	if (digits < 5 || digits > 16 ||
		(begin && redact_bytes[v->text[begin - 1]] & B_WORD))
		return REDACT_NO;
	*s = (struct redact_span){.from = at + 1,
		.value = at + 1,
		.kind = KIND_TELEGRAM,
		.mode = REDACT_MODE_TOKEN};
	n = run(v, at + 1, B_TOKEN);
	s->to = at + 1 + n;
	if (s->to == v->n && !v->last) {
		s->from = at;
		return REDACT_MORE;
	}
	return n == 35 && v->text[at + 1] == 'A' ? REDACT_YES : REDACT_NO;
}

/* Three letters, a digit, "Q~", then 31 to 34. */
enum redact_answer redact_azure(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	size_t n;

	if (at < 5 || v->text[at - 1] != 'Q' ||
		!(redact_bytes[v->text[at - 2]] & B_DIGIT))
		return REDACT_NO;
	*s = (struct redact_span){.from = at,
		.value = at,
		.kind = KIND_AZURE,
		.mode = REDACT_MODE_TOKEN,
		.committed = true};
	n = 0;
	while (at + 1 + n < v->n &&
		(redact_bytes[v->text[at + 1 + n]] & (B_TOKEN | B_DOT) ||
			v->text[at + 1 + n] == '~'))
		n++;
	s->to = at + 1 + n;
	if (s->to == v->n && !v->last)
		return REDACT_MORE;
	return n >= 31 && n <= 40 ? REDACT_YES : REDACT_NO;
}
