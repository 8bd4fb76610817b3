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
};

/* When the prefix alone proves little: exactly as many letters, with no letter
 * or digit behind; letters that look random. */
enum { EXACT = 1, RANDOM = 2 };

/* A prefix, then at least min letters of the class. */
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
	{"ABIA", KIND_AWS, EXACT, B_UPPER | B_DIGIT, 16},
	{"ACCA", KIND_AWS, EXACT, B_UPPER | B_DIGIT, 16},
	{"AGE-SECRET-KEY-1", KIND_OTHER, 0, B_UPPER | B_DIGIT, 50},
	{"AIza", KIND_GOOGLE, 0, B_TOKEN, 30},
	{"AKIA", KIND_AWS, EXACT, B_UPPER | B_DIGIT, 16},
	{"AKCp", KIND_OTHER, 0, B_ALNUM, 60},
	{"ASIA", KIND_AWS, EXACT, B_UPPER | B_DIGIT, 16},
	{"ATBB", KIND_OTHER, 0, B_ALNUM, 32},
	{"ATCTT3", KIND_OTHER, 0, B_TOKEN | B_BASE64, 60},
	{"ATATT3", KIND_OTHER, 0, B_TOKEN | B_BASE64, 60},
	{"CCIPAT_", KIND_OTHER, 0, B_WORD, 40},
	{"CCIPRJ_", KIND_OTHER, 0, B_WORD, 40},
	{"CLOJARS_", KIND_OTHER, 0, B_HEX, 60},
	{"EAA", KIND_OTHER, RANDOM, B_TOKEN, 60},
	{"EZAK", KIND_OTHER, 0, B_ALNUM, 54},
	{"GOCSPX-", KIND_GOOGLE, 0, B_TOKEN, 20},
	{"GR1348941", KIND_GITLAB, 0, B_TOKEN, 20},
	{"HRKU-AA", KIND_OTHER, 0, B_TOKEN, 50},
	{"NRAK-", KIND_OTHER, 0, B_UPPER | B_DIGIT, 27},
	{"PMAK-", KIND_OTHER, 0, B_TOKEN, 40},
	{"SG.", KIND_OTHER, 0, B_TOKEN | B_DOT, 50},
	{"SK", KIND_OTHER, EXACT, B_HEX, 32},
	{"apr1$", KIND_CRYPT, 0, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT, 24},
	{"argon2", KIND_CRYPT, 0, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT, 60},
	{"atlasv1.", KIND_OTHER, 0, B_TOKEN, 60},
	{"bkua_", KIND_OTHER, 0, B_HEX, 40},
	{"cio", KIND_OTHER, EXACT | RANDOM, B_ALNUM, 32},
	{"cmVmdGtu", KIND_OTHER, 0, B_ALNUM, 50},
	{"dapi", KIND_OTHER, EXACT, B_HEX, 32},
	{"dckr_oat_", KIND_OTHER, 0, B_TOKEN, 20},
	{"dckr_pat_", KIND_OTHER, 0, B_TOKEN, 20},
	{"doo_v1_", KIND_OTHER, 0, B_HEX, 40},
	{"dop_v1_", KIND_OTHER, 0, B_HEX, 40},
	{"dor_v1_", KIND_OTHER, 0, B_HEX, 40},
	{"dp.ct.", KIND_OTHER, 0, B_ALNUM, 40},
	{"dp.pt.", KIND_OTHER, 0, B_ALNUM, 40},
	{"dp.sa.", KIND_OTHER, 0, B_ALNUM, 40},
	{"dp.st.", KIND_OTHER, 0, B_TOKEN | B_DOT, 40},
	{"dt0c01.", KIND_OTHER, 0, B_UPPER | B_DIGIT | B_DOT, 80},
	{"duffel_", KIND_OTHER, 0, B_TOKEN, 43},
	{"figd_", KIND_OTHER, 0, B_TOKEN, 40},
	{"fm1r_", KIND_OTHER, 0, B_ALNUM | B_BASE64, 60},
	{"fm2_", KIND_OTHER, 0, B_ALNUM | B_BASE64, 60},
	{"gho_", KIND_GITHUB, 0, B_ALNUM, 30},
	{"ghp_", KIND_GITHUB, 0, B_ALNUM, 30},
	{"ghr_", KIND_GITHUB, 0, B_ALNUM, 30},
	{"ghs_", KIND_GITHUB, 0, B_ALNUM, 30},
	{"ghu_", KIND_GITHUB, 0, B_ALNUM, 30},
	{"github_pat_", KIND_GITHUB, 0, B_WORD, 40},
	{"glagent-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"glcbt-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"glc_eyJ", KIND_OTHER, 0, B_ALNUM | B_BASE64, 40},
	{"gldt-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"glpat-", KIND_GITLAB, 0, B_TOKEN | B_DOT, 20},
	{"glptt-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"glrt-", KIND_GITLAB, 0, B_TOKEN | B_DOT, 20},
	{"glsa_", KIND_OTHER, 0, B_WORD, 32},
	{"glsoat-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"gsk_", KIND_OTHER, 0, B_ALNUM, 40},
	{"hf_", KIND_HUGGINGFACE, 0, B_ALNUM, 30},
	{"hooks.slack.com/", KIND_SLACK, 0, B_ALNUM | B_BASE64, 50},
	{"hvb.", KIND_VAULT, 0, B_TOKEN, 60},
	{"hvs.", KIND_VAULT, 0, B_TOKEN, 24},
	{"key-", KIND_OTHER, EXACT, B_HEX, 32},
	{"lin_api_", KIND_OTHER, 0, B_ALNUM, 32},
	{"lsv2_", KIND_OTHER, 0, B_WORD, 40},
	{"nfp_", KIND_OTHER, 0, B_ALNUM, 36},
	{"npm_", KIND_NPM, 0, B_ALNUM, 30},
	{"ntn_", KIND_OTHER, 0, B_ALNUM, 40},
	{"nvapi-", KIND_OTHER, 0, B_TOKEN, 40},
	{"ops_eyJ", KIND_OTHER, 0, B_TOKEN | B_BASE64, 200},
	{"pat", KIND_OTHER, RANDOM, B_ALNUM | B_DOT, 79},
	{"pat.", KIND_OTHER, RANDOM, B_TOKEN | B_DOT, 60},
	{"phx_", KIND_OTHER, 0, B_TOKEN, 40},
	{"pplx-", KIND_OTHER, 0, B_ALNUM, 40},
	{"pscale_", KIND_OTHER, 0, B_TOKEN | B_DOT, 32},
	{"pul-", KIND_OTHER, 0, B_HEX, 40},
	{"pypi-AgE", KIND_PYPI, 0, B_TOKEN, 50},
	{"r8_", KIND_OTHER, 0, B_ALNUM, 37},
	{"rk_live_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"rk_prod_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"rk_test_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"rubygems_", KIND_OTHER, 0, B_HEX, 40},
	{"sbp_", KIND_OTHER, 0, B_HEX, 40},
	{"shpat_", KIND_OTHER, 0, B_HEX, 32},
	{"shpca_", KIND_OTHER, 0, B_HEX, 32},
	{"shppa_", KIND_OTHER, 0, B_HEX, 32},
	{"shpss_", KIND_OTHER, 0, B_HEX, 32},
	{"sk-admin-", KIND_OPENAI, 0, B_TOKEN, 20},
	{"sk-ant-", KIND_ANTHROPIC, 0, B_TOKEN, 20},
	{"sk-proj-", KIND_OPENAI, 0, B_TOKEN, 20},
	{"sk-svcacct-", KIND_OPENAI, 0, B_TOKEN, 20},
	{"sk-", KIND_OPENAI, RANDOM, B_TOKEN, 32},
	{"sk.eyJ", KIND_OTHER, 0, B_TOKEN | B_DOT, 60},
	{"sk_live_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"sk_prod_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"sk_test_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"sntrys_eyJ", KIND_OTHER, 0, B_WORD | B_BASE64, 60},
	{"sntryu_", KIND_OTHER, 0, B_HEX, 60},
	{"sq0", KIND_OTHER, 0, B_TOKEN, 25},
	{"tskey-", KIND_OTHER, 0, B_TOKEN, 20},
	{"webhooks/", KIND_OTHER, RANDOM, B_TOKEN | B_BASE64, 80},
	{"whsec_", KIND_STRIPE, 0, B_ALNUM | B_BASE64, 20},
	{"xai-", KIND_OTHER, 0, B_ALNUM, 60},
	{"xapp-", KIND_SLACK, 0, B_TOKEN, 20},
	{"xkeysib-", KIND_OTHER, 0, B_TOKEN, 60},
	{"xoxa-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxb-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxe-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxe.", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxo-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxp-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxr-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxs-", KIND_SLACK, 0, B_TOKEN, 10},
	{"y$", KIND_CRYPT, 0, B_ALNUM | B_BASE64 | B_DOT | B_CRYPT, 50},
	{"ya29.", KIND_GOOGLE, 0, B_TOKEN | B_DOT, 20},
};

static void mark(uint8_t *begins, const unsigned char *p)
{
	unsigned slot = redact_begin(p);

	begins[slot / 8] |= (uint8_t)(1 << slot % 8);
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
		if (p[2]) {
			mark(begins, p);
			continue;
		}
		/* Of a prefix of two letters the third is the token's first. */
		for (p[2] = 'z'; p[2]; p[2]--)
			if (redact_bytes[p[2]] & shapes[i].class)
				mark(begins, p);
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
			redact_entropy(p, n) >= 3 * 256 + 128;
	return redact_entropy(p, n) >= 2 * 256;
}

static enum redact_answer try_shape(const struct redact_view *v, size_t at,
	const struct shape *sh, struct redact_span *s)
{
	size_t prefix = strlen(sh->prefix), left = v->n - at, n;
	size_t common = prefix < left ? prefix : left;

	if (memcmp(v->text + at, sh->prefix, common) != 0)
		return REDACT_NO;
	s->from = s->value = at;
	s->kind = sh->kind;
	s->mode = REDACT_MODE_TOKEN;
	s->committed = false;
	if (left < prefix)
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

/* header.payload.signature, the first two beginning as JSON does. */
static enum redact_answer try_jwt(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	static const char mark[] = "eyJ";
	size_t left = v->n - at, n, dots = 0;

	if (memcmp(v->text + at, mark, left < 3 ? left : 3) != 0)
		return REDACT_NO;
	n = run(v, at, B_TOKEN | B_DOT);
	*s = (struct redact_span){.from = at,
		.value = at,
		.to = at + n,
		.kind = KIND_JWT,
		.mode = REDACT_MODE_TOKEN,
		.committed = n > 8};
	if (s->to == v->n && !v->last)
		return REDACT_MORE;
	for (size_t i = at; i < s->to; i++)
		dots += v->text[i] == '.';
	return dots >= 1 && n >= 30 ? REDACT_YES : REDACT_NO;
}

enum redact_answer redact_token(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	struct redact_span more = {0};
	bool wait = false;
	size_t i = 0;

	for (size_t step = 64; step; step /= 2)
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
	return try_jwt(v, at, s);
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
