/* gitconf.c - reads the text of a git configuration file
 * SPDX-License-Identifier: MIT
 */
#include "protect/gitconf.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

enum { TEXT_END = -1 };

struct conf_reader {
	const char *text;
	size_t n, at;
	size_t section; /* length of the section in the name */
	struct buf *name, *value;
};

/* The byte at r->at as git sees it: a carriage return before a newline is
 * dropped. */
static int conf_peek(struct conf_reader *r)
{
	if (r->at + 1 < r->n && r->text[r->at] == '\r' &&
		r->text[r->at + 1] == '\n')
		r->at++;
	return r->at < r->n ? (unsigned char)r->text[r->at] : TEXT_END;
}

static int conf_take(struct conf_reader *r)
{
	int c = conf_peek(r);

	r->at += c != TEXT_END;
	return c;
}

static bool is_blank(int c)
{
	return c == ' ' || c == '\t';
}

/* git's isspace(), which leaves out form feed and vertical tab. */
static bool is_space(int c)
{
	return is_blank(c) || c == '\n' || c == '\r';
}

static bool is_key(int c)
{
	return c > 0 && (chr_alpha((char)c) || chr_digit((char)c) || c == '-');
}

static void add_lower(struct buf *b, int c)
{
	buf_addc(b, (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
}

static void skip_line(struct conf_reader *r)
{
	int c = conf_peek(r);

	while (c != TEXT_END && c != '\n') {
		r->at++;
		c = conf_peek(r);
	}
}

/* Reads the quoted part of [section "subsection"], at the quote. */
static int read_subsection(struct conf_reader *r)
{
	int c;

	if (conf_take(r) != '"')
		return -EINVAL;
	buf_addc(r->name, '.');
	for (;;) {
		c = conf_take(r);
		if (c == '"')
			break;
		if (c == '\\')
			c = conf_take(r);
		if (c == TEXT_END || c == '\n' || c == '\0')
			return -EINVAL;
		buf_addc(r->name, (char)c);
	}
	return conf_take(r) == ']' ? 0 : -EINVAL;
}

/* Reads a section, behind '['. */
static int read_section(struct conf_reader *r)
{
	int c, err = 0;

	buf_clear(r->name);
	while (is_key(c = conf_take(r)) || c == '.')
		add_lower(r->name, c);
	if (is_blank(c)) {
		while (is_blank(conf_peek(r)))
			r->at++;
		err = read_subsection(r);
	} else if (c != ']') {
		err = -EINVAL;
	}
	if (!err && !r->name->len)
		err = -EINVAL;
	buf_addc(r->name, '.');
	r->section = r->name->len;
	return err;
}

/* Reads an escape in a value, behind the backslash. 0; 1: the line goes on. */
static int read_escape(struct conf_reader *r)
{
	static const char from[] = "tbn\\\"", to[] = "\t\b\n\\\"";
	int c = conf_take(r);
	const char *at;

	if (c == '\n')
		return 1;
	at = c > 0 ? strchr(from, c) : NULL;
	if (!at)
		return -EINVAL;
	buf_addc(r->value, to[at - from]);
	return 0;
}

/* Reads a value, behind '=', up to its newline, which is left. */
static int read_value(struct conf_reader *r)
{
	bool quoted = false;
	size_t kept = 0; /* trailing blanks do not belong to the value */
	int c, err = 0;

	while (is_blank(conf_peek(r)))
		r->at++;
	while (!err && (c = conf_peek(r)) != TEXT_END && c != '\n') {
		r->at++;
		/* git would end the value there, and other readers would
		 * not. */
		if (c == '\0')
			return -EINVAL;
		if (!quoted && (c == '#' || c == ';')) {
			skip_line(r);
			break;
		}
		if (c == '\\') {
			err = read_escape(r);
			if (!err)
				kept = r->value->len;
			else if (err > 0)
				err = 0;
		} else if (c == '"') {
			quoted = !quoted;
			kept = r->value->len;
		} else {
			if (quoted || !is_space(c) || r->value->len)
				buf_addc(r->value, (char)c);
			kept = quoted || !is_space(c) ? r->value->len : kept;
		}
	}
	if (err || quoted)
		return -EINVAL;
	if (!r->value->err)
		r->value->len = kept;
	return 0;
}

static int read_var(struct conf_reader *r, gitconf_each *each, void *ctx)
{
	struct gitconf_var var = {.start = r->at};
	int c, err = 0;

	r->name->len = r->section;
	buf_clear(r->value);
	while (is_key(c = conf_peek(r))) {
		add_lower(r->name, c);
		r->at++;
	}
	while (is_blank(c)) {
		r->at++;
		c = conf_peek(r);
	}
	if (c == '=') {
		r->at++;
		err = read_value(r);
	} else if (c == '\n' || c == TEXT_END) {
		buf_adds(r->value, "true");
	} else {
		err = -EINVAL;
	}
	if (err)
		return err;
	if (r->name->err || r->value->err)
		return r->name->err == -ENOMEM || r->value->err == -ENOMEM
			       ? -ENOMEM
			       : -EINVAL;
	var.end = r->at;
	var.name = buf_str(r->name);
	var.value = buf_str(r->value);
	return each(ctx, &var);
}

int gitconf_read(const char *text, size_t n, gitconf_each *each, void *ctx)
{
	autobuf struct buf name = BUF_INIT(GITCONF_NAME_MAX);
	autobuf struct buf value = BUF_INIT(GITCONF_TEXT_MAX);
	struct conf_reader r = {
		.text = text, .n = n, .name = &name, .value = &value};
	int c, err = n > GITCONF_TEXT_MAX ? -EINVAL : 0;

	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.at = 3;
	while (!err && (c = conf_peek(&r)) != TEXT_END) {
		if (is_space(c)) {
			r.at++;
		} else if (c == '#' || c == ';') {
			skip_line(&r);
		} else if (c == '[') {
			r.at++;
			err = read_section(&r);
		} else if (c > 0 && chr_alpha((char)c) && r.section) {
			err = read_var(&r, each, ctx);
		} else {
			err = -EINVAL;
		}
	}
	return err;
}
