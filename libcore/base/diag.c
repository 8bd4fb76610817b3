/* diag.c - what went wrong, for a person
 * SPDX-License-Identifier: MIT
 */
#include "base/diag.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

/* Appends text, and cuts what does not fit, because a shortened message is
 * better than none. */
static void add_text(char *text, size_t size, const char *s, size_t n)
{
	size_t at = strlen(text);

	if (n > size - 1 - at)
		n = size - 1 - at;
	memcpy(text + at, s, n);
	text[at + n] = '\0';
}

/* Is there room for both parts, and for so many bytes behind the text? */
static bool has_room(const struct diag *d, struct buf *b, bool text, size_t behind)
{
	const char *s = b->err ? "" : buf_str(b);
	const size_t n = text ? strcspn(s, "\036") : 0;

	return !b->err && n + behind < sizeof d->text &&
	       strlen(s + n) < sizeof d->hint;
}

/* Formats the hint, with or without a text before it, which is to have so many
 * bytes behind. */
__attribute__((format(printf, 4, 0))) static void fill(struct diag *d, bool text,
	size_t behind, const char *fmt, va_list ap)
{
	autobuf struct buf b = BUF_INIT(4096);
	const char *s;
	va_list again;
	size_t n;

	va_copy(again, ap);
	buf_vaddf(&b, fmt, ap);
	if (!has_room(d, &b, text, behind)) {
		/* A long name must not displace what is wrong with it. */
		buf_clear(&b);
		b.brief = true;
		buf_vaddf(&b, fmt, again);
	}
	va_end(again);
	b.err = 0;
	s = buf_str(&b);
	n = text ? strcspn(s, "\036") : 0;
	add_text(d->text, sizeof d->text, s, n);
	s += n + (s[n] == '\036');
	d->hint[0] = '\0';
	add_text(d->hint, sizeof d->hint, s, strlen(s));
}

FLOATLESS int diag_fail(struct diag *d, int err, const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return err;
	va_start(ap, fmt);
	*d = (struct diag){0};
	fill(d, true, 0, fmt, ap);
	va_end(ap);
	return err;
}

FLOATLESS int diag_errno(struct diag *d, int err, const char *fmt, ...)
{
	const char *words = strerror(-err);
	va_list ap;

	if (!d)
		return err;
	va_start(ap, fmt);
	*d = (struct diag){0};
	fill(d, true, 2 + strlen(words), fmt, ap);
	va_end(ap);
	add_text(d->text, sizeof d->text, ": ", 2);
	add_text(d->text, sizeof d->text, words, strlen(words));
	return err;
}

int diag_of(struct diag *d, int err, const char *name)
{
	return diag_errno(d, err, "%s", name);
}

FLOATLESS void diag_hint(struct diag *d, const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return;
	va_start(ap, fmt);
	fill(d, false, 0, fmt, ap);
	va_end(ap);
}

void diag_at(struct diag *d, const char *file, unsigned line, unsigned col)
{
	if (!d)
		return;
	d->file[0] = '\0';
	add_text(d->file, sizeof d->file, file, strlen(file));
	d->line = line;
	d->col = col;
}
