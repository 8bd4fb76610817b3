/* redact_piped.c - what a shell gives a program that reads a secret
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"

/* Bounds of such a line, and of a document. */
enum { LINE = 256, DOCUMENT = 2048 };

static bool in_text(const unsigned char *p, size_t n, const char *word)
{
	return memmem(p, n, word, strlen(word));
}

/* The name of the program among the words in n bytes: behind sudo and its like,
 * their flags, and variables. */
static const unsigned char *command_name(const unsigned char *p, size_t *n)
{
	static const char others[] = "sudo\0doas\0env\0exec\0nohup\0time\0";
	const unsigned char *end = p + *n, *word;

	for (;;) {
		bool other = false;

		while (p < end && (redact_ends_word(*p) || *p == '|'))
			p++;
		for (word = p; p < end && *p > ' ';)
			p++;
		EACH (name, others)
			other |= redact_key_is(word, (size_t)(p - word), name);
		if (!other && (word == p || (*word != '-' &&
				!memchr(word, '=', (size_t)(p - word)))))
			break;
	}
	end = memrchr(word, '/', (size_t)(p - word));
	word = end ? end + 1 : word;
	*n = (size_t)(p - word);
	return word;
}

/* Does the command in n bytes read a secret from its standard input? */
static bool reads_secret(
	const struct redact *r, const unsigned char *p, size_t n)
{
	/* Programs that run what they read. */
	static const char runners[] =
		"sh\0bash\0dash\0ash\0ksh\0mksh\0zsh\0yash\0busybox\0"
		"python\0python3\0perl\0ruby\0node\0php\0lua\0eval\0"
		"xargs\0ssh\0";
	size_t len = n;
	const unsigned char *name = command_name(p, &len);
	const bool runs = redact_key_any(name, len, runners);
	const struct policy_secret *o;

	if (in_text(p, n, "sudo") && (in_text(p, n, " -S") ||
			in_text(p, n, "kS") || in_text(p, n, " --stdin")))
		return !runs || in_text(p, n, " -c");
	for (size_t i = 0; !runs && (o = redact_line(r, i)); i++)
		if (o->kind == POLICY_SECRET_STDIN &&
			(!o->programs[0] || redact_listed(o->programs,
				(const char *)name, len, false)) &&
			in_text(p, n, o->word))
			return true;
	return false;
}

/* The end of the one or two words that begin at i, before the next command;
 * more words are no secret. i: none. */
static size_t words_end(const struct redact_view *v, size_t i, size_t to)
{
	unsigned char quote = 0;
	size_t k = i, words = 0;
	bool within = false;

	for (; k < to; k++) {
		const unsigned char c = v->text[k];

		if (!quote && (c == ';' || c == '&' || c == ')'))
			break;
		if (quote ? c == quote : redact_quote(c))
			quote = quote ? 0 : c;
		words += !within && !redact_blank(c);
		within = quote || !redact_blank(c);
	}
	while (k > i && redact_blank(v->text[k - 1]))
		k--;
	return words > 2 ? i : k;
}

enum redact_answer redact_piped(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	static const char programs[] = "echo \0printf \0yes \0";
	const unsigned char *p = v->text;
	size_t i = at, from, to, end;
	bool begun = false;

	/* Most words are done with here. */
	if (!strchr("epy", p[at]))
		return REDACT_NO;
	*s = (struct redact_span){.kind = KIND_FLAG, .mode = REDACT_MODE_LINE};
	EACH (word, programs) {
		begun |= redact_agrees(v, at, word);
		i = i == at ? redact_behind(v, at, word) : i;
	}
	if (!begun)
		return REDACT_NO;
	if (i + 1 < v->n && p[i] == '-' && (p[i + 1] == 'n' || p[i + 1] == 'e'))
		for (i += 2; i < v->n && redact_blank(p[i]);)
			i++;
	for (to = i; to < v->n && to - at < LINE && p[to] != '\n' && p[to] != '|';)
		to++;
	for (end = to + 1; end < v->n && end - at < LINE && p[end] &&
		!strchr("\n|;&", p[end]);)
		end++;
	if (to - at >= LINE || end - at >= LINE || (to < v->n && p[to] == '\n'))
		return REDACT_NO;
	if (end >= v->n && !v->last)
		return redact_wait(v, s, at);
	if (i == at || to >= v->n || !reads_secret(r, p + to, (end < v->n ? end : v->n) - to))
		return REDACT_NO;
	to = words_end(v, i, to);
	if (to == i)
		return REDACT_NO;
	from = i;
	if (to > i + 2 && redact_quote(p[i]) && p[to - 1] == p[i] &&
		!memchr(p + i + 1, p[i], to - i - 2)) {
		from++;
		to--;
	}
	s->from = from;
	s->to = to;
	s->tail = REDACT_TAIL_WORDS;
	return redact_placeholder(p + from, to - from) ? REDACT_NO : REDACT_YES;
}

/* The end of the lines of one word each that begin at i: the first line, and
 * further ones if all are "user:value". A line with blanks is an instruction
 * for the program. */
static size_t lines_end(
	const struct redact_view *v, size_t i, size_t to, bool more)
{
	const unsigned char *p = v->text;
	size_t done = i;

	while (i < to) {
		const size_t from = i;

		while (i < to && p[i] > ' ')
			i++;
		if ((i < to && p[i] != '\n' && p[i] != '\r') ||
			(from != done && !memchr(p + from, ':', i - from)))
			break;
		if (done < i && (more || from == done))
			done = i;
		if (!more || !memchr(p + from, ':', i - from))
			break;
		while (i < to && (p[i] == '\n' || p[i] == '\r'))
			i++;
	}
	return done;
}

/* The secret below a "<<WORD" at at, up to the line WORD, if the program on
 * either side reads a secret. */
static enum redact_answer here_document(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	const unsigned char *p = v->text, *line, *end;
	const size_t from = redact_begins(v, at, at, "\n;&(`");
	char word[32] = "\n";
	size_t i = at + 2, n = 1, left;

	while (i < v->n && p[i] && strchr("-'\"\\ ", p[i]))
		i++;
	/* A number stands behind the "<<" of arithmetic. */
	if (i < v->n && redact_bytes[p[i]] & B_DIGIT)
		return REDACT_NO;
	while (i < v->n && n < sizeof word - 1 && redact_bytes[p[i]] & B_WORD)
		word[n++] = (char)p[i++];
	left = v->n - i < LINE ? v->n - i : LINE;
	line = memchr(p + i, '\n', left);
	if (!line)
		return left < LINE ? redact_wait(v, s, at) : REDACT_NO;
	if (n == 1 || n == sizeof word - 1 ||
		!reads_secret(r, p + from, (size_t)(line - p) - from))
		return REDACT_NO;
	s->from = s->value = (size_t)(line - p) + 1;
	left = v->n - s->from < DOCUMENT ? v->n - s->from : DOCUMENT;
	end = memmem(line, left + 1, word, n);
	if (!end && left < DOCUMENT && !v->last)
		return redact_undecided(v, s, at, s->from, true);
	/* Without the end of the document its first line is the secret. */
	s->to = lines_end(v, s->from,
		end ? (size_t)(end - p) : s->from + left, end != NULL);
	s->tail = REDACT_TAIL_OWN;
	return s->to > s->from && !redact_placeholder(p + s->from, s->to - s->from)
		? REDACT_YES
		: REDACT_NO;
}

enum redact_answer redact_here(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	static const char sign[] = "<<<";
	size_t from, i = at + sizeof sign - 1;

	s->kind = KIND_FLAG;
	s->mode = REDACT_MODE_LINE;
	if (!redact_agrees(v, at, sign))
		return redact_agrees(v, at, "<<") ? here_document(r, v, at, s)
						  : REDACT_NO;
	if (i > v->n)
		return redact_wait(v, s, at);
	from = redact_begins(v, at, at, REDACT_STOPS);
	if (!reads_secret(r, v->text + from, at - from))
		return REDACT_NO;
	while (i < v->n && redact_blank(v->text[i]))
		i++;
	if (i >= v->n)
		return redact_wait(v, s, at);
	return redact_judge(v, at, i, v->text, 0, STRENGTH_SURE, s);
}
