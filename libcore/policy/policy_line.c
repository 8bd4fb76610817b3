/* policy_line.c - the directories that a line names, read without a shell
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_line_in.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

enum line_sort {
	LINE_END,   /* or a text that is not read */
	LINE_PLAIN, /* a word of plain text */
	LINE_OTHER, /* a word that is not known before it runs */
	LINE_BREAK, /* the end of a command */
	LINE_INTO,  /* < or >: a name follows */
};

struct line_read {
	const char *s, *end;
	line_dir_each *each;
	void *ctx;
	unsigned depth;
	bool stopped;
	bool quoted;
	bool document; /* a here-document follows this line */
	char word[PATH_MAX];
};

static bool is_break(char c)
{
	return c && strchr(";&|()\n", c);
}

/* Appends a quoted text to the word. */
static bool take_quoted(struct line_read *x, struct buf *b)
{
	const char quote = *x->s++;
	const char *from = x->s;

	x->quoted |= !b->len;
	while (x->s < x->end && *x->s != quote) {
		if (!*x->s || (quote == '"' && strchr("$`\\", *x->s)))
			return false;
		x->s++;
	}
	if (x->s == x->end)
		return false;
	buf_add(b, from, (size_t)(x->s++ - from));
	return true;
}

static enum line_sort take_word(struct line_read *x)
{
	struct buf b = {.data = x->word, .cap = sizeof x->word,
		.max = sizeof x->word - 1};
	bool plain = true;

	x->quoted = false;
	for (; x->s < x->end; ) {
		const char c = *x->s;

		if (c == ' ' || c == '\t' || is_break(c) || c == '<' || c == '>')
			break;
		if (c == '\'' || c == '"') {
			if (!take_quoted(x, &b))
				return LINE_END;
			continue;
		}
		/* A variable spoils one word; the reading ends at a
		 * substitution and at a backslash, because the words behind may
		 * mean something else. */
		if (c == '`' || c == '\\' || !c ||
			(c == '$' && x->s + 1 < x->end && x->s[1] == '('))
			return LINE_END;
		plain &= c != '$';
		buf_addc(&b, c);
		x->s++;
	}
	buf_str(&b);
	return plain && !b.err ? LINE_PLAIN : LINE_OTHER;
}

static enum line_sort take_next(struct line_read *x)
{
	while (x->s < x->end && (*x->s == ' ' || *x->s == '\t'))
		x->s++;
	if (x->s == x->end || !*x->s)
		return LINE_END;
	if (*x->s == '#') {
		while (x->s < x->end && *x->s != '\n')
			x->s++;
		return LINE_BREAK;
	}
	if (is_break(*x->s))
		return *x->s++ == '\n' && x->document ? LINE_END : LINE_BREAK;
	if (*x->s != '<' && *x->s != '>')
		return take_word(x);
	if (x->end - x->s > 1 && x->s[0] == '<' && x->s[1] == '<')
		x->document = true;
	while (x->s < x->end && *x->s && strchr("<>&|-", *x->s))
		x->s++;
	return LINE_INTO;
}

static void line_show(struct line_read *x, const char *word, bool enters, bool goes)
{
	const struct line_dir w = {.word = word,
		.quoted = x->quoted,
		.enters = enters,
		.goes = goes};

	if (!x->stopped)
		x->stopped = !x->each(x->ctx, &w);
}

/* Shows a whole path; of a pattern the directory in which its files lie. */
static void show_path(struct line_read *x, char *word)
{
	char *glob = x->quoted ? NULL : strpbrk(word, "*?[");

	while (glob && glob > word && *glob != '/')
		glob--;
	if (glob)
		*glob = '\0';
	if (word[0] == '/' ? word[1] != '\0'
			   : word[0] == '~' && word[1] == '/' && !x->quoted)
		line_show(x, word, false, false);
}

/* The value of an option that names a working directory; "" where the next word
 * is the value, NULL for other words. */
static const char *place_option(const char *word)
{
	static const char names[] =
		"-C\0--directory\0--prefix\0--cwd\0--dir\0";

	for (const char *at = names; *at; at = str_nth(at, 1)) {
		const char *rest = str_after(word, at);

		if (rest && (!*rest || *rest == '='))
			return rest + (*rest == '=');
	}
	return NULL;
}

/* Is it -c, -lc or -euc, behind which a text for a shell stands? */
static bool is_text_option(const char *word)
{
	enum { LONGEST = 7 };
	const size_t n = strlen(word);

	return n > 1 && n <= LONGEST && word[0] == '-' && word[1] != '-' &&
	       word[n - 1] == 'c';
}

static void line_read_all(struct line_read *x, const char *line, size_t len);

static void read_text(struct line_read *x)
{
	enum { DEPTH_MAX = 2 };
	struct line_read *in =
		x->depth < DEPTH_MAX ? malloc(sizeof *in) : NULL;

	if (!in)
		return;
	in->each = x->each;
	in->ctx = x->ctx;
	in->depth = x->depth + 1;
	line_read_all(in, x->word, strlen(x->word));
	x->stopped |= in->stopped;
	free(in);
}

/* One command while its words are read. */
struct line_command {
	size_t words;
	bool first; /* the commands before it only set up the shell */
	bool goes, sets, into, value, text;
};

/* Takes the first word; false where the next word is the first. */
static bool begin_command(struct line_read *x, struct line_command *c)
{
	static const char before[] =
		"{\0}\0!\0if\0then\0else\0elif\0while\0until\0do\0time\0";
	const char *eq = strchr(x->word, '=');

	if (!x->quoted && (str_index(before, x->word) >= 0 ||
				  (eq && str_is_name(x->word,
						 (size_t)(eq - x->word)))))
		return false;
	c->goes = str_eq(x->word, "cd") || str_eq(x->word, "pushd");
	c->sets = str_index("set\0export\0umask\0ulimit\0", x->word) >= 0;
	return true;
}

static void take_plain(struct line_read *x, struct line_command *c)
{
	const char *value;

	if (c->into) {
		c->into = false;
		show_path(x, x->word);
	} else if (c->value) {
		c->value = false;
		line_show(x, x->word, true, false);
	} else if (c->text) {
		c->text = false;
		read_text(x);
	} else if (!c->words) {
		c->words = begin_command(x, c);
		show_path(x, x->word);
	} else if (c->goes && x->word[0] == '-' && x->word[1]) {
		;
	} else if (c->goes && c->first) {
		c->goes = false;
		line_show(x, x->word, true, true);
	} else if ((value = place_option(x->word))) {
		c->value = !*value;
		if (*value)
			line_show(x, value, true, false);
	} else {
		c->text = is_text_option(x->word);
		show_path(x, x->word);
	}
}

static void line_read_all(struct line_read *x, const char *line, size_t len)
{
	struct line_command c = {.first = true};

	x->s = line;
	x->end = line + len;
	x->stopped = x->document = false;
	while (!x->stopped) {
		switch (take_next(x)) {
		case LINE_END:
			return;
		case LINE_BREAK:
			c = (struct line_command){
				.first = c.first && (!c.words || c.sets)};
			break;
		case LINE_INTO:
			c.into = true;
			break;
		case LINE_OTHER:
			c.words += !c.into;
			c.into = c.value = c.text = false;
			break;
		case LINE_PLAIN:
			take_plain(x, &c);
			break;
		}
	}
}

void line_dirs(const char *line, size_t len, line_dir_each *each, void *ctx)
{
	autofree struct line_read *x = malloc(sizeof *x);

	if (!x)
		return;
	x->each = each;
	x->ctx = ctx;
	x->depth = 0;
	line_read_all(x, line, len);
}
