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
	[':'] = B_TRIGGER,
	['~'] = B_TRIGGER,
	['\\'] = B_TRIGGER,
	['%'] = B_TRIGGER,
};

/* A prefix, then at least min letters of the class; exactly so many, with no
 * letter or digit behind, when the prefix alone proves little. */
struct shape {
	char prefix[18];
	uint8_t kind;
	uint8_t exact;
	uint16_t class;
	uint16_t min;
};

static const struct shape shapes[] = {
	{"ABIA", KIND_AWS, 1, B_UPPER | B_DIGIT, 16},
	{"ACCA", KIND_AWS, 1, B_UPPER | B_DIGIT, 16},
	{"AGE-SECRET-KEY-1", KIND_OTHER, 0, B_UPPER | B_DIGIT, 50},
	{"AIza", KIND_GOOGLE, 0, B_TOKEN, 30},
	{"AKIA", KIND_AWS, 1, B_UPPER | B_DIGIT, 16},
	{"ASIA", KIND_AWS, 1, B_UPPER | B_DIGIT, 16},
	{"ATATT3", KIND_OTHER, 0, B_TOKEN | B_BASE64, 60},
	{"GOCSPX-", KIND_GOOGLE, 0, B_TOKEN, 20},
	{"GR1348941", KIND_GITLAB, 0, B_TOKEN, 20},
	{"PMAK-", KIND_OTHER, 0, B_TOKEN, 40},
	{"SG.", KIND_OTHER, 0, B_TOKEN | B_DOT, 50},
	{"SK", KIND_OTHER, 1, B_HEX, 32},
	{"dapi", KIND_OTHER, 1, B_HEX, 32},
	{"dckr_pat_", KIND_OTHER, 0, B_TOKEN, 20},
	{"doo_v1_", KIND_OTHER, 0, B_HEX, 40},
	{"dop_v1_", KIND_OTHER, 0, B_HEX, 40},
	{"dor_v1_", KIND_OTHER, 0, B_HEX, 40},
	{"dp.pt.", KIND_OTHER, 0, B_ALNUM, 40},
	{"gho_", KIND_GITHUB, 0, B_ALNUM, 30},
	{"ghp_", KIND_GITHUB, 0, B_ALNUM, 30},
	{"ghr_", KIND_GITHUB, 0, B_ALNUM, 30},
	{"ghs_", KIND_GITHUB, 0, B_ALNUM, 30},
	{"ghu_", KIND_GITHUB, 0, B_ALNUM, 30},
	{"github_pat_", KIND_GITHUB, 0, B_WORD, 40},
	{"glagent-", KIND_GITLAB, 0, B_TOKEN, 20},
	{"glcbt-", KIND_GITLAB, 0, B_TOKEN, 20},
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
	{"lin_api_", KIND_OTHER, 0, B_ALNUM, 32},
	{"npm_", KIND_NPM, 0, B_ALNUM, 30},
	{"nvapi-", KIND_OTHER, 0, B_TOKEN, 40},
	{"ops_eyJ", KIND_OTHER, 0, B_TOKEN | B_BASE64, 200},
	{"pplx-", KIND_OTHER, 0, B_ALNUM, 40},
	{"pul-", KIND_OTHER, 0, B_HEX, 40},
	{"pypi-AgE", KIND_PYPI, 0, B_TOKEN, 50},
	{"rk_live_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"rk_prod_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"rk_test_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"rubygems_", KIND_OTHER, 0, B_HEX, 40},
	{"shpat_", KIND_OTHER, 0, B_HEX, 32},
	{"shpca_", KIND_OTHER, 0, B_HEX, 32},
	{"shppa_", KIND_OTHER, 0, B_HEX, 32},
	{"shpss_", KIND_OTHER, 0, B_HEX, 32},
	{"sk-admin-", KIND_OPENAI, 0, B_TOKEN, 20},
	{"sk-ant-", KIND_ANTHROPIC, 0, B_TOKEN, 20},
	{"sk-proj-", KIND_OPENAI, 0, B_TOKEN, 20},
	{"sk-svcacct-", KIND_OPENAI, 0, B_TOKEN, 20},
	{"sk-", KIND_OPENAI, 0, B_TOKEN, 32},
	{"sk_live_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"sk_prod_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"sk_test_", KIND_STRIPE, 0, B_ALNUM, 10},
	{"tskey-", KIND_OTHER, 0, B_TOKEN, 20},
	{"whsec_", KIND_STRIPE, 0, B_ALNUM | B_BASE64, 20},
	{"xai-", KIND_OTHER, 0, B_ALNUM, 60},
	{"xapp-", KIND_SLACK, 0, B_TOKEN, 20},
	{"xoxa-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxb-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxe-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxe.", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxo-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxp-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxr-", KIND_SLACK, 0, B_TOKEN, 10},
	{"xoxs-", KIND_SLACK, 0, B_TOKEN, 10},
	{"ya29.", KIND_GOOGLE, 0, B_TOKEN | B_DOT, 20},
};

void redact_token_begins(uint8_t begins[static REDACT_BEGINS / 8])
{
	unsigned slot = redact_begin((const unsigned char *)"eyJ");

	memset(begins, 0, REDACT_BEGINS / 8);
	begins[slot / 8] |= (uint8_t)(1 << slot % 8);
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		unsigned char p[REDACT_BEGIN];
		/* Of a prefix of two letters the third may be any. */
		unsigned left = shapes[i].prefix[2] ? 1 : 256;

		memcpy(p, shapes[i].prefix, sizeof p);
		for (; left--; p[2]++) {
			slot = redact_begin(p);
			begins[slot / 8] |= (uint8_t)(1 << slot % 8);
		}
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

/* "sk-" is also the beginning of words. */
static bool random_enough(const struct shape *sh, const unsigned char *p, size_t n)
{
	if (str_eq(sh->prefix, "sk-"))
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
	if (n < sh->min || (sh->exact && n != sh->min))
		return REDACT_NO;
	if (sh->exact && s->to < v->n &&
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

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		enum redact_answer a;

		if ((unsigned char)shapes[i].prefix[0] != v->text[at])
			continue;
		a = try_shape(v, at, &shapes[i], s);
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

	while (digits < at && digits <= 16 &&
		redact_bytes[v->text[at - digits - 1]] & B_DIGIT)
		digits++;
	if (digits < 5 || digits > 16 ||
		(digits < at &&
			redact_bytes[v->text[at - digits - 1]] & B_WORD))
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
