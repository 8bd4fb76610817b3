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

/* A prefix, in which '?' is any small letter, then at least min letters of the
 * class. */
struct shape {
	char prefix[18];
	uint8_t kind;
	uint8_t proof;
	uint16_t class;
	uint16_t min;
};

/* In the order of their first letters. */
static const struct shape shapes[] = {
	{"1//0", KIND_GOOGLE, 0, B_TOKEN, 40},
	{"2a$", KIND_CRYPT, 0, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT, 55},
	{"2b$", KIND_CRYPT, 0, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT, 55},
	{"2y$", KIND_CRYPT, 0, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT, 55},
	{"5$", KIND_CRYPT, 0, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT, 44},
	{"6$", KIND_CRYPT, 0, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT, 87},
	{"A3-", KIND_OTHER, RANDOM, B_UPPER | B_DIGIT | B_DASH, 36},
	{"ABIA", KIND_AWS, EXACT, B_UPPER | B_DIGIT, 16},
	{"ABSK", KIND_OTHER, RANDOM, B_ALNUM | B_BASE64, 100},
	{"ACCA", KIND_AWS, EXACT, B_UPPER | B_DIGIT, 16},
	{"AGE-SECRET-KEY-", KIND_OTHER, 0, B_UPPER | B_DIGIT | B_DASH, 50},
	{"AIza", KIND_GOOGLE, 0, B_TOKEN, 30},
	{"AKCp", KIND_OTHER, 0, B_ALNUM, 60},
	{"AKIA", KIND_AWS, EXACT, B_UPPER | B_DIGIT, 16},
	{"APA91b", KIND_OTHER, 0, B_TOKEN, 100},
	{"API-", KIND_OTHER, EXACT | RANDOM, B_UPPER | B_DIGIT, 26},
	{"AQVN", KIND_OTHER, 0, B_TOKEN, 35},
	{"ASIA", KIND_AWS, EXACT, B_UPPER | B_DIGIT, 16},
	{"ATATT3", KIND_OTHER, 0, B_TOKEN | B_BASE64, 60},
	{"ATBB", KIND_OTHER, 0, B_ALNUM, 32},
	{"ATCTT3", KIND_OTHER, 0, B_TOKEN | B_BASE64, 60},
	{"CCIPAT_", KIND_OTHER, 0, B_WORD, 40},
	{"CCIPRJ_", KIND_OTHER, 0, B_WORD, 40},
	{"CLOJARS_", KIND_OTHER, 0, B_HEX, 60},
	{"EAA", KIND_OTHER, RANDOM, B_TOKEN, 60},
	{"EZAK", KIND_OTHER, 0, B_ALNUM, 54},
	{"FLWSECK", KIND_OTHER, 0, B_WORD | B_DASH, 32},
	{"GOCSPX-", KIND_GOOGLE, 0, B_TOKEN, 20},
	{"GR1348941", KIND_GITLAB, 0, B_TOKEN, 20},
	{"HRKU-AA", KIND_OTHER, 0, B_TOKEN, 50},
	{"LTAI", KIND_OTHER, 0, B_ALNUM, 16},
	{"NRAK-", KIND_OTHER, 0, B_UPPER | B_DIGIT, 27},
	{"NRII-", KIND_OTHER, 0, B_TOKEN, 32},
	{"NRJS-", KIND_OTHER, 0, B_ALNUM, 19},
	{"PMAK-", KIND_OTHER, 0, B_TOKEN, 40},
	{"SG.", KIND_OTHER, 0, B_TOKEN | B_DOT, 50},
	{"SK", KIND_OTHER, EXACT, B_HEX, 32},
	{"ZXlK", KIND_JWT, 0, B_ALNUM | B_BASE64, 60},
	{"access-", KIND_OTHER, RANDOM, B_TOKEN, 44},
	{"api_org_", KIND_HUGGINGFACE, 0, B_ALNUM, 30},
	{"apr1$", KIND_CRYPT, 0, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT, 24},
	{"argon2", KIND_CRYPT, 0, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT, 60},
	{"atlasv1.", KIND_OTHER, 0, B_TOKEN, 60},
	{"bkua_", KIND_OTHER, 0, B_HEX, 40},
	{"cio", KIND_OTHER, EXACT | RANDOM, B_ALNUM, 32},
	{"cmVmdGtu", KIND_OTHER, 0, B_ALNUM, 50},
	{"dapi", KIND_OTHER, EXACT, B_HEX, 32},
	{"dckr_?at_", KIND_OTHER, 0, B_TOKEN, 20},
	{"dnkey-", KIND_OTHER, 0, B_TOKEN, 50},
	{"do?_v1_", KIND_OTHER, 0, B_HEX, 40},
	{"dp.?t.", KIND_OTHER, 0, B_ALNUM, 40},
	{"dp.sa.", KIND_OTHER, 0, B_ALNUM, 40},
	{"dp.st.", KIND_OTHER, 0, B_TOKEN | B_DOT, 40},
	{"dt0c01.", KIND_OTHER, 0, B_UPPER | B_DIGIT | B_DOT, 80},
	{"duffel_", KIND_OTHER, 0, B_TOKEN, 43},
	{"figd_", KIND_OTHER, 0, B_TOKEN, 40},
	{"fio-u-", KIND_OTHER, 0, B_TOKEN, 64},
	{"fm1r_", KIND_OTHER, 0, B_ALNUM | B_BASE64, 60},
	{"fm2_", KIND_OTHER, 0, B_ALNUM | B_BASE64, 60},
	{"gh?_", KIND_GITHUB, 0, B_ALNUM, 30},
	{"github_pat_", KIND_GITHUB, 0, B_WORD, 40},
	{"glagent-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"glc_eyJ", KIND_OTHER, 0, B_ALNUM | B_BASE64, 40},
	{"glcbt-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"gldt-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"glffct-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"glft-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"glimt-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"gloas-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"glpat-", KIND_GITLAB, 0, B_TOKEN | B_DOT, 20},
	{"glptt-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"glrt-", KIND_GITLAB, 0, B_TOKEN | B_DOT, 20},
	{"glsa_", KIND_OTHER, 0, B_WORD, 32},
	{"glsoat-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"gsk_", KIND_OTHER, 0, B_ALNUM, 40},
	{"hf_", KIND_HUGGINGFACE, 0, B_ALNUM, 30},
	{"hooks.slack.com/", KIND_SLACK, 0, B_ALNUM | B_BASE64, 50},
	{"hvb.", KIND_VAULT, 0, B_TOKEN, 60},
	{"hvr.", KIND_VAULT, 0, B_TOKEN, 60},
	{"hvs.", KIND_VAULT, 0, B_TOKEN, 24},
	{"ico-", KIND_OTHER, EXACT | RANDOM, B_ALNUM, 32},
	{"key-", KIND_OTHER, EXACT, B_HEX, 32},
	{"lin_api_", KIND_OTHER, 0, B_ALNUM, 32},
	{"lin_oauth_", KIND_OTHER, 0, B_HEX, 40},
	{"lsv2_", KIND_OTHER, 0, B_WORD, 40},
	{"mfa.", KIND_OTHER, 0, B_TOKEN, 80},
	{"nfp_", KIND_OTHER, 0, B_ALNUM, 36},
	{"npm_", KIND_NPM, 0, B_ALNUM, 30},
	{"ntn_", KIND_OTHER, 0, B_ALNUM, 40},
	{"nvapi-", KIND_OTHER, 0, B_TOKEN, 40},
	{"ops_eyJ", KIND_OTHER, 0, B_TOKEN | B_BASE64, 200},
	{"p8e-", KIND_OTHER, EXACT | RANDOM, B_ALNUM, 32},
	{"pat", KIND_OTHER, RANDOM, B_ALNUM | B_DOT, 79},
	{"pat-na1-", KIND_OTHER, RANDOM, B_TOKEN, 36},
	{"pat.", KIND_OTHER, RANDOM, B_TOKEN | B_DOT, 60},
	{"phx_", KIND_OTHER, 0, B_TOKEN, 40},
	{"pnu_", KIND_OTHER, EXACT, B_ALNUM, 36},
	{"pplx-", KIND_OTHER, 0, B_ALNUM, 40},
	{"pscale_", KIND_OTHER, 0, B_TOKEN | B_DOT, 32},
	{"pul-", KIND_OTHER, 0, B_HEX, 40},
	{"pypi-AgE", KIND_PYPI, 0, B_TOKEN, 50},
	{"r8_", KIND_OTHER, 0, B_ALNUM, 37},
	{"rdme_", KIND_OTHER, 0, B_ALNUM, 70},
	{"re_", KIND_OTHER, EXACT | RANDOM, B_WORD, 33},
	{"rk_live_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"rk_prod_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"rk_test_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"rubygems_", KIND_OTHER, 0, B_HEX, 40},
	{"sb_secret_", KIND_OTHER, 0, B_TOKEN, 30},
	{"sbp_", KIND_OTHER, 0, B_HEX, 40},
	{"secret_", KIND_OTHER, EXACT, B_ALNUM, 43},
	{"sgp_", KIND_OTHER, 0, B_WORD, 40},
	{"sha256~", KIND_OTHER, 0, B_TOKEN, 43},
	{"shippo_", KIND_OTHER, 0, B_WORD, 45},
	{"shp??_", KIND_OTHER, 0, B_HEX, 32},
	{"sk-", KIND_OPENAI, RANDOM, B_TOKEN, 32},
	{"sk-admin-", KIND_OPENAI, 0, B_TOKEN, 20},
	{"sk-ant-", KIND_ANTHROPIC, 0, B_TOKEN, 20},
	{"sk-proj-", KIND_OPENAI, 0, B_TOKEN, 20},
	{"sk-svcacct-", KIND_OPENAI, 0, B_TOKEN, 20},
	{"sk.eyJ", KIND_OTHER, 0, B_TOKEN | B_DOT, 60},
	{"sk_live_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"sk_prod_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"sk_test_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"sl.", KIND_OTHER, RANDOM, B_TOKEN, 100},
	{"sm_?at_", KIND_OTHER, 0, B_ALNUM, 16},
	{"sntrys_eyJ", KIND_OTHER, 0, B_WORD | B_BASE64, 60},
	{"sntryu_", KIND_OTHER, 0, B_HEX, 60},
	{"sq0", KIND_OTHER, 0, B_TOKEN, 25},
	{"sq?_", KIND_OTHER, EXACT | RANDOM, B_HEX, 40},
	{"tfp_", KIND_OTHER, 0, B_TOKEN | B_DOT, 59},
	{"tk-us-", KIND_OTHER, 0, B_TOKEN, 48},
	{"tskey-", KIND_OTHER, 0, B_TOKEN, 20},
	{"v1.0-", KIND_OTHER, 0, B_HEX | B_DASH, 171},
	{"vcp_", KIND_OTHER, 0, B_ALNUM, 50},
	{"webhookb2/", KIND_OTHER, RANDOM, B_TOKEN, 36},
	{"webhooks/", KIND_OTHER, RANDOM, B_TOKEN | B_BASE64, 80},
	{"whsec_", KIND_STRIPE, 0, B_ALNUM | B_BASE64, 20},
	{"xai-", KIND_OTHER, 0, B_ALNUM, 60},
	{"xapp-", KIND_SLACK, 0, B_TOKEN, 20},
	{"xkeysib-", KIND_OTHER, 0, B_TOKEN, 60},
	{"xox?-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxe.", KIND_SLACK, 0, B_TOKEN, 10},
	{"y$", KIND_CRYPT, 0, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT, 50},
	{"ya29.", KIND_GOOGLE, 0, B_TOKEN | B_DOT, 20},
};

static void mark(uint8_t *begins, const unsigned char *p)
{
	unsigned slot = redact_begin(p);

	begins[slot / 8] |= (uint8_t)(1 << slot % 8);
}

static void mark_thirds(
	uint8_t *begins, const unsigned char *p, unsigned class)
{
	unsigned char spelt[REDACT_BEGIN] = {p[0], p[1], 'z'};

	for (; spelt[2]; spelt[2]--)
		if (redact_bytes[spelt[2]] & class)
			mark(begins, spelt);
}

void redact_token_begins(uint8_t begins[static REDACT_BEGINS / 8])
{
	/* Of a JWT, and of what redact_piped looks at. */
	static const char others[] = "eyJ\0ech\0pri\0";

	memset(begins, 0, REDACT_BEGINS / 8);
	EACH (word, others)
		mark(begins, (const unsigned char *)word);
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		unsigned char p[REDACT_BEGIN];

		memcpy(p, shapes[i].prefix, sizeof p);
		if (p[2] && p[2] != '?')
			mark(begins, p);
		else
			/* Of a prefix of two letters the third is the token's. */
			mark_thirds(begins, p, p[2] ? B_LOWER : shapes[i].class);
	}
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
