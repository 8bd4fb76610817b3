/* redact_place.c - what shows by its place: in a URL, a line of .pgpass, a key
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"
#include "base/str.h"

enum { URL_MAX = 512 };

enum redact_answer redact_url(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	size_t i = at + 1, colon = 0, sign = 0, user;

	s->kind = KIND_URL;
	s->mode = REDACT_MODE_WORD;
	/* Some JSON has it as :\/\/ . */
	for (unsigned slashes = 0; slashes < 2; slashes++, i++) {
		i += i < v->n && v->text[i] == '\\';
		if (i == v->n)
			return redact_wait(v, s, at);
		if (v->text[i] != '/')
			return REDACT_NO;
	}
	user = i;
	for (; i < v->n; i++) {
		unsigned char c = v->text[i];

		if (redact_ends_word(c) || c == '/' || c == '?' || c == '#' ||
			c == '<' || c == '>' || i - at > URL_MAX)
			break;
		if (c == ':' && !colon && !sign)
			colon = i;
		/* The last: a password may hold one, too. */
		if (c == '@')
			sign = i;
	}
	if (i == v->n && !v->last)
		return redact_wait(v, s, at);
	if (!sign)
		return REDACT_NO;
	i = sign;
	/* The user may be a token, the password then any word. */
	s->from = user;
	s->to = i;
	if (!redact_is_secret(v->text + user, (colon ? colon : i) - user,
		    STRENGTH_WEAK)) {
		s->from = colon + 1;
		if (!colon || !redact_is_secret(v->text + s->from,
				      i - s->from, STRENGTH_SURE))
			return REDACT_NO;
	}
	redact_name_kind(v, s);
	return REDACT_YES;
}

enum redact_answer redact_pgpass(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	static const char port[] = "543";
	size_t field[3], n = 0, k = at, i, digits;
	bool known;

	for (; k && at - k + 1 < REDACT_BEFORE && !redact_ends_word(v->text[k - 1]);
		k--) {
		if (v->text[k - 1] != ':')
			continue;
		if (n == ARRAY_SIZE(field))
			return REDACT_NO;
		field[n++] = k;
	}
	if (n < ARRAY_SIZE(field) || (k && redact_blank(v->text[k - 1])))
		return REDACT_NO;
	for (i = field[2]; redact_bytes[v->text[i]] & B_DIGIT; i++)
		;
	digits = i - field[2];
	/* And with any port any database, or host. */
	known = digits ? memcmp(v->text + field[2], port, sizeof port - 1) == 0
		       : v->text[field[1]] == '*' || v->text[k] == '*';
	i += v->text[i] == '*' && !digits;
	if (i + 1 != field[1] || digits > 5)
		return REDACT_NO;
	for (i = at + 1; i < v->n && !redact_ends_word(v->text[i]) &&
		v->text[i] != ':'; i++)
		;
	*s = (struct redact_span){
		.from = at + 1, .to = i, .kind = KIND_URL, .mode = REDACT_MODE_WORD};
	if (i == v->n && !v->last)
		return redact_undecided(v, s, at, at + 1, known);
	return (i == v->n || (v->text[i] != ':' && !redact_blank(v->text[i]))) &&
			redact_is_secret(v->text + at + 1, i - at - 1,
				known ? STRENGTH_SURE : STRENGTH_LIKELY)
		? REDACT_YES
		: REDACT_NO;
}

const unsigned char *redact_pem_end(const unsigned char *p, size_t n)
{
	static const char mark[] = "END ", dashes[] = "----";
	static const char putty[] = "Private-MAC";
	const unsigned char *const mac = memmem(p, n, putty, sizeof putty - 1);
	const unsigned char *const stop = mac ? mac : p + n, *at = p;

	while ((at = memmem(at, (size_t)(stop - at), mark, sizeof mark - 1))) {
		const unsigned char *before = at - (at > p && at[-1] == ' ');

		at += sizeof mark - 1;
		if (before == p || before[-1] != '-')
			continue;
		at = memmem(at, (size_t)(stop - at), dashes, sizeof dashes - 1);
		if (!at)
			return mac;
		at += sizeof dashes - 1;
		/* Of SSH2's there are four. */
		return before[0] == ' ' ? at : at < stop ? at + 1 : mac;
	}
	return mac;
}

/* What is behind the first line of a key. In a program's text that looks for
 * one it is a quote. */
static bool key_follows(unsigned char c)
{
	return redact_bytes[c] & (B_ALNUM | B_BASE64) || c <= ' ' || c == '\\';
}

enum redact_answer redact_pem(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	static const char spelt[3][12] = {
		"-----BEGIN ", "---- BEGIN ", "-Lines: "};
	static const char name[] = "PRIVATE KEY", lines[] = "Private";
	const unsigned char *p = v->text + at, *stop;
	const size_t left = v->n - at;
	const bool putty = left > 1 && p[1] == 'L';
	const char *begin = spelt[putty ? 2 : left > 4 && p[4] == ' '];
	const size_t len = strlen(begin), before = sizeof lines - 1;
	size_t i;

	if (!redact_agrees(v, at, begin) ||
		(putty && (at < before ||
				  memcmp(p - before, lines, before) != 0)))
		return REDACT_NO;
	*s = (struct redact_span){.kind = KIND_PEM, .mode = REDACT_MODE_PEM};
	if (left < len)
		return redact_wait(v, s, at);
	for (i = len; i < left && i < len + 60 &&
		redact_bytes[p[i]] & (B_UPPER | B_DIGIT);)
		for (i++; i < left && p[i] == ' '; i++)
			;
	for (; i < left && p[i] == '-'; i++)
		;
	if (i == left)
		return redact_wait(v, s, at);
	if (putty ? i == len || !strchr("\r\n\\", p[i])
		  : !memmem(p, i, name, sizeof name - 1) || !key_follows(p[i]))
		return REDACT_NO;
	s->from = at;
	stop = redact_pem_end(p + i, left - i);
	if (!stop)
		return redact_undecided(v, s, at, at, true);
	s->to = (size_t)(stop - v->text);
	return REDACT_YES;
}
