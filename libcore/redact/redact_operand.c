/* redact_operand.c - a secret that is one of a program's words
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"
#include "base/str.h"

/* How long such a line may be. */
enum { LINE = 4000 };

/* Which word it is: the last, one by its number, all from the first on, or the
 * one right behind the first. */
enum { LAST = 0, REST = 9, NEXT = 10 };

/* When there is such a word, those behind it count; and when a flag of several
 * letters has that one. What is judged of "user/value@where" is behind the slash.
 */
static const struct operand {
	const char *word;
	char program[17], letter;
	uint8_t which, strength;
	bool slash;
} operands[] = {
	{"", "htpasswd", 'b', LAST, STRENGTH_SURE, false},
	{"login", "vault", 0, LAST, STRENGTH_LIKELY, false},
	{"login", "cargo", 0, LAST, STRENGTH_LIKELY, false},
	{"", "mkpasswd", 0, LAST, STRENGTH_LIKELY, false},
	{"passwd", "openssl", 0, LAST, STRENGTH_SURE, false},
	{"auth", "redis-cli", 0, LAST, STRENGTH_SURE, false},
	{"use", "net", '/', LAST, STRENGTH_SURE, false},
	{"", "wpa_passphrase", 0, 2, STRENGTH_SURE, false},
	{"add", "keyctl", 0, 3, STRENGTH_SURE, false},
	{"obscure", "rclone", 0, 1, STRENGTH_SURE, false},
	{"add_user", "rabbitmqctl", 0, 2, STRENGTH_SURE, false},
	{"change_password", "rabbitmqctl", 0, 2, STRENGTH_SURE, false},
	{"encrypt_string", "ansible-vault", 0, REST, STRENGTH_SURE, false},
	{"", "sqlplus", 0, 1, STRENGTH_SURE, true},
	{"", "sqlldr", 0, 1, STRENGTH_SURE, true},
	{"", "isql", 0, 3, STRENGTH_LIKELY, false},
	{"", "mosquitto_passwd", 'b', LAST, STRENGTH_SURE, false},
	{"", "smbclient", 0, NEXT, STRENGTH_LIKELY, false},
	{"unlock", "bw", 0, LAST, STRENGTH_LIKELY, false},
	{"login", "bw", 0, 2, STRENGTH_LIKELY, false},
	{"login", "lpass", 0, 2, STRENGTH_LIKELY, false},
	{"install", "cloudflared", 0, LAST, STRENGTH_LIKELY, false},
	{"wifi-sec.psk", "nmcli", 0, 1, STRENGTH_SURE, false},
	{"psk", "wpa_cli", 0, LAST, STRENGTH_LIKELY, false},
	{"key", "iwconfig", 0, LAST, STRENGTH_LIKELY, false},
	/* Redis's configuration. */
	{"", "masterauth", 0, LAST, STRENGTH_LIKELY, false},
};

static bool quote(unsigned char c)
{
	return c == '"' || c == '\'';
}

/* Ends the byte at i the words of a command: an operator, an expansion, a
 * comment? */
static bool line_ends(const unsigned char *p, size_t i)
{
	return !p[i] || strchr("\n;|&`<>", p[i]) ||
		(p[i] == '(' && p[i - 1] == '$') ||
		(p[i] == '#' && redact_blank(p[i - 1]));
}

/* Where the word that begins at i ends. */
static size_t word_end(const struct redact_view *v, size_t i, size_t end)
{
	const unsigned char mark = v->text[i];
	const unsigned char *close = quote(mark)
		? memchr(v->text + i + 1, mark, end - i - 1)
		: NULL;

	if (close)
		return (size_t)(close - v->text) + 1;
	while (i < end && !redact_blank(v->text[i]))
		i++;
	return i;
}

/* The secret among the words from i to end, for o: from and to in s. */
static bool find_word(const struct redact_view *v, const struct operand *o,
	size_t i, size_t end, struct redact_span *s)
{
	const unsigned char *p = v->text, *sign;
	bool told = !o->word[0], flagged = !o->letter;
	unsigned count = 0;

	for (; i < end; i++) {
		const size_t to = word_end(v, i, end);

		if (to == i)
			continue;
		if (p[i] == '-' || p[i] == o->letter) {
			flagged |= o->letter && memchr(p + i, o->letter, to - i);
			if (o->which == NEXT && count == 1)
				return false;
		} else if (!told && redact_key_is(p + i, to - i, o->word)) {
			told = true;
			count = 0;
		} else if (++count == 1 || o->which == LAST ||
			o->which == count || (o->which == NEXT && count == 2)) {
			s->from = i;
			s->to = to;
		}
		i = to;
	}
	if (!told || !flagged || !count ||
		count < (o->which == REST	   ? 1
				: o->which == NEXT ? 2
						   : o->which))
		return false;
	s->to = o->which == REST && !quote(p[s->from]) ? end : s->to;
	/* Its own quotes, or one around the whole. */
	s->from += quote(p[s->from]);
	s->to -= quote(p[s->to - 1]);
	if (s->from >= s->to)
		return false;
	sign = o->slash ? memchr(p + s->from, '/', s->to - s->from) : NULL;
	if (sign && redact_bytes[p[s->from]] & B_ALNUM &&
		!memchr(p + s->from, '@', (size_t)(sign - p) - s->from))
		s->from = (size_t)(sign - p) + 1;
	else if (o->slash)
		return false;
	sign = o->slash ? memchr(p + s->from, '@', s->to - s->from) : NULL;
	s->to = sign ? (size_t)(sign - p) : s->to;
	/* To net's there is the share itself. */
	return !memchr(p + s->from, '=', s->to - s->from) &&
		!(o->letter == '/' && p[s->from] == '\\') &&
		redact_is_secret(p + s->from, s->to - s->from,
			(enum redact_strength)o->strength);
}

enum redact_answer redact_operand(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	const unsigned char *p = v->text;
	const size_t left = v->n - at;

	*s = (struct redact_span){.kind = KIND_FLAG, .mode = REDACT_MODE_LINE};
	for (size_t i = 0; i < ARRAY_SIZE(operands); i++) {
		const struct operand *o = &operands[i];
		size_t n, end;

		if (p[at] != (unsigned char)o->program[0])
			continue;
		n = strlen(o->program);
		end = at + n;
		if (!redact_agrees(v, at, o->program) ||
			(left > n && !redact_blank(p[end])))
			continue;
		while (end < v->n && !line_ends(p, end))
			if (++end - at > LINE)
				return REDACT_NO;
		if (end >= v->n && !v->last)
			return redact_wait(v, s, at);
		if (left > n && find_word(v, o, at + n, end, s))
			return REDACT_YES;
	}
	return REDACT_NO;
}

enum redact_answer redact_word(
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	enum redact_answer a = redact_token(v, at, s);

	if (a == REDACT_NO)
		a = redact_piped(v, at, s);
	return a != REDACT_NO ? a : redact_operand(v, at, s);
}
