/* redact_place.c - what shows by its place: in a URL, a line of .pgpass
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
		/* The last '@' counts, because a password may hold one, too. */
		if (c == '@')
			sign = i;
	}
	if (i == v->n && !v->last)
		return redact_wait(v, s, at);
	if (!sign)
		return REDACT_NO;
	i = sign;
	/* The user may be a token, and the password then is any word. */
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
	/* With any port the database, or the host, may be anything. */
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
