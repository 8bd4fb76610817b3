/* redact_token.c - tokens that show by their shape what they are
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"

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

/* The number of letters of the class from at on. */
static size_t run_length(const struct redact_view *v, size_t at, unsigned class)
{
	size_t i = at;

	while (i < v->n && redact_bytes[v->text[i]] & class)
		i++;
	return i - at;
}

static bool has_class(const unsigned char *p, size_t n, unsigned class)
{
	for (size_t i = 0; i < n; i++)
		if (redact_bytes[p[i]] & class)
			return true;
	return false;
}

static bool random_enough(
	const struct redact_shape *sh, const unsigned char *p, size_t n)
{
	if (sh->proof & SHAPE_RANDOM)
		return has_class(p, n, B_DIGIT) && has_class(p, n,
			B_UPPER | B_LOWER) && redact_entropy(p, n) >= 3 * 256;
	return redact_entropy(p, n) >= 2 * 256;
}

/* The number of letters at at that agree with the prefix. */
static size_t in_common(
	const struct redact_view *v, size_t at, const struct redact_shape *sh)
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
	const struct redact_shape *sh, struct redact_span *s)
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
	n = run_length(v, at + prefix, sh->class);
	s->to = at + prefix + n;
	if (s->to == v->n && !v->last) {
		s->committed = prefix > 2;
		return REDACT_MORE;
	}
	if (n < sh->min || (sh->proof & SHAPE_EXACT && n != sh->min))
		return REDACT_NO;
	if (sh->proof & SHAPE_EXACT && s->to < v->n &&
		redact_bytes[v->text[s->to]] & B_ALNUM)
		return REDACT_NO;
	return random_enough(sh, v->text + at + prefix, n) ? REDACT_YES
							   : REDACT_NO;
}

/* A JWT: header.payload.signature, of which the first two begin as JSON does.
 * Or a Discord bot's token: its number, a time, a signature. */
static enum redact_answer try_parts(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	static const char mark[] = "eyJ";
	const unsigned char *p = v->text + at, *dot;
	const size_t left = v->n - at, n = run_length(v, at, B_TOKEN | B_DOT);
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
	/* An ordinary name of three parts is shorter. */
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
	size_t n;
	const struct redact_shape *sh = redact_shapes(v->text[at], &n);

	for (; n; n--, sh++) {
		enum redact_answer a = try_shape(v, at, sh, s);

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
	/* In the service's address "bot" stands before the token. */
	if (begin >= 3 && memcmp(v->text + begin - 3, "bot", 3) == 0)
		begin -= 3;
	if (digits < 5 || digits > 16 ||
		(begin && redact_bytes[v->text[begin - 1]] & B_WORD))
		return REDACT_NO;
	*s = (struct redact_span){.from = at + 1,
		.value = at + 1,
		.kind = KIND_TELEGRAM,
		.mode = REDACT_MODE_TOKEN};
	n = run_length(v, at + 1, B_TOKEN);
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
