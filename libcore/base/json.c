/* json.c - a JSON writer that cannot write bad JSON
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/utf8.h"

enum { JSON_DEPTH = 31 };

static uint32_t nest_level(const struct json *j)
{
	return UINT32_C(1) << j->depth;
}

static void add_newline(struct json *j)
{
	if (!j->pretty)
		return;
	buf_addc(j->out, '\n');
	for (unsigned i = 0; i < j->depth; i++)
		buf_adds(j->out, "  ");
}

/* Writes what stands before a value: nothing after a key, else a comma and a
 * line end. A value without a key in a map would be bad JSON: an error. */
static void before_value(struct json *j)
{
	if (j->keyed) {
		j->keyed = false;
		return;
	}
	if (j->depth && (j->is_map & nest_level(j)))
		j->out->err = -EINVAL;
	if (j->filled & nest_level(j))
		buf_addc(j->out, ',');
	if (j->depth)
		add_newline(j);
	j->filled |= nest_level(j);
}

void json_open(struct json *j, char kind)
{
	before_value(j);
	if (j->depth >= JSON_DEPTH) {
		j->out->err = -E2BIG;
		return;
	}
	buf_addc(j->out, kind);
	j->depth++;
	j->filled &= ~nest_level(j);
	if (kind == '{')
		j->is_map |= nest_level(j);
	else
		j->is_map &= ~nest_level(j);
}

void json_close(struct json *j)
{
	bool map, filled;

	if (!j->depth || j->keyed) {
		j->out->err = -EINVAL;
		return;
	}
	map = j->is_map & nest_level(j);
	filled = j->filled & nest_level(j);
	j->depth--;
	if (filled)
		add_newline(j);
	buf_addc(j->out, map ? '}' : ']');
}

void json_end(struct json *j)
{
	if (!j->depth)
		return;
	while (j->depth && !j->out->err)
		json_close(j);
	buf_addc(j->out, '\n');
}

static void add_escaped(struct buf *out, unsigned char c)
{
	static const char named[] = "\b\t\n\f\r\"\\";
	static const char letter[] = "btnfr\"\\";
	const char *at = c ? strchr(named, c) : NULL;

	if (at)
		buf_addf(out, "\\%c", letter[at - named]);
	else
		buf_addf(out, "\\u%04x", c);
}

/* Spells characters that steer a terminal or hide from a reader as UTF-16
 * escapes. */
static void add_spelt(struct buf *out, uint32_t cp)
{
	if (cp < 0x10000) {
		buf_addf(out, "\\u%04x", (unsigned)cp);
		return;
	}
	cp -= 0x10000;
	buf_addf(out, "\\u%04x\\u%04x", (unsigned)(0xd800 | cp >> 10),
		(unsigned)(0xdc00 | (cp & 0x3ff)));
}

static void add_quoted(struct buf *out, const char *s, size_t n)
{
	size_t i = 0;

	buf_addc(out, '"');
	while (i < n) {
		size_t plain = i;
		unsigned char c;
		uint32_t cp;
		size_t len;

		while (plain < n && s[plain] >= ' ' && s[plain] < 0x7f &&
			s[plain] != '"' && s[plain] != '\\')
			plain++;
		buf_add(out, s + i, plain - i);
		i = plain;
		if (i == n)
			break;
		c = (unsigned char)s[i];
		if (c < 0x80) {
			add_escaped(out, c);
			i++;
			continue;
		}
		len = utf8_decode(s + i, n - i, &cp);
		if (len && utf8_is_hidden(cp))
			add_spelt(out, cp);
		else if (len)
			buf_add(out, s + i, len);
		else
			buf_adds(out, "\xef\xbf\xbd");
		i += len ? len : 1;
	}
	buf_addc(out, '"');
}

static void json_keyn(struct json *j, const char *key, size_t n)
{
	j->key = key;
	j->key_len = n;
	if (!(j->is_map & nest_level(j)) || j->keyed) {
		j->out->err = -EINVAL;
		return;
	}
	if (j->filled & nest_level(j))
		buf_addc(j->out, ',');
	add_newline(j);
	j->filled |= nest_level(j);
	add_quoted(j->out, key, n);
	buf_adds(j->out, j->pretty ? ": " : ":");
	j->keyed = true;
}

struct json *json_key(struct json *j, const char *key)
{
	json_keyn(j, key, strlen(key));
	return j;
}

void json_strn(struct json *j, const char *s, size_t n)
{
	before_value(j);
	add_quoted(j->out, s, n);
}

void json_str(struct json *j, const char *s)
{
	if (s)
		json_strn(j, s, strlen(s));
	else
		json_null(j);
}

/* Writes a number without printf, because logs are full of numbers. */
static void put_number(struct json *j, uint64_t v, bool minus)
{
	char digits[21], *p = digits + sizeof digits;

	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	if (minus)
		*--p = '-';
	json_raw(j, p, (size_t)(digits + sizeof digits - p));
}

void json_u64(struct json *j, uint64_t v)
{
	put_number(j, v, false);
}

void json_i64(struct json *j, int64_t v)
{
	put_number(j, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0);
}

void json_raw(struct json *j, const char *s, size_t n)
{
	before_value(j);
	buf_add(j->out, s, n);
}

void json_bool(struct json *j, bool v)
{
	json_raw(j, v ? "true" : "false", v ? 4 : 5);
}

void json_null(struct json *j)
{
	json_raw(j, "null", 4);
}

void json_put_str(struct json *j, const char *key, const char *s)
{
	json_str(json_key(j, key), s);
}

void json_put_u64(struct json *j, const char *key, uint64_t v)
{
	json_u64(json_key(j, key), v);
}

void json_put_bool(struct json *j, const char *key, bool v)
{
	json_bool(json_key(j, key), v);
}

void json_put_i64(struct json *j, const char *key, int64_t v)
{
	json_i64(json_key(j, key), v);
}

FLOATLESS void json_putf(struct json *j, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	for (size_t n; *fmt; fmt += n + (fmt[n] == ' ')) {
		n = strcspn(fmt, " ");
		if (*fmt == '{' || *fmt == '[')
			json_open(j, *fmt);
		else if (*fmt == '}' || *fmt == ']')
			json_close(j);
		else if (*fmt != '%')
			json_keyn(j, fmt, n);
		else if (fmt[n - 1] == 's')
			(j->put ? j->put : json_str)(
				j, va_arg(ap, const char *));
		else if (n == 2)
			json_bool(j, va_arg(ap, int));
		else if (fmt[n - 1] == 'u')
			json_u64(j, va_arg(ap, uintmax_t));
		else
			json_i64(j, va_arg(ap, intmax_t));
	}
	va_end(ap);
}

void json_put_open(struct json *j, const char *key, char kind)
{
	json_open(json_key(j, key), kind);
}
