/* diag.c - what went wrong, for a person
 * SPDX-License-Identifier: MIT
 */
#include "diag.h"

#include <stdarg.h>
#include <string.h>

#include "buf.h"

/* Appends to a text that may hold something already; what does not fit is cut,
 * since a shortened message is better than none. */
__attribute__((format(printf, 4, 0))) static void add_text(
	char *text, size_t size, size_t at, const char *fmt, va_list ap)
{
	struct buf b = {.max = 4096, .owned = true};
	size_t n;

	buf_vaddf(&b, fmt, ap);
	n = b.len < size - 1 - at ? b.len : size - 1 - at;
	if (n)
		memcpy(text + at, b.data, n);
	text[at + n] = '\0';
	buf_release(&b);
}

__attribute__((format(printf, 2, 0))) static void begin(
	struct diag *d, const char *fmt, va_list ap)
{
	*d = (struct diag){0};
	add_text(d->text, sizeof d->text, 0, fmt, ap);
}

FLOATLESS int diag_fail(struct diag *d, int err, const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return err;
	va_start(ap, fmt);
	begin(d, fmt, ap);
	va_end(ap);
	return err;
}

FLOATLESS __attribute__((format(printf, 2, 3))) static void append(
	struct diag *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_text(d->text, sizeof d->text, strlen(d->text), fmt, ap);
	va_end(ap);
}

FLOATLESS int diag_errno(struct diag *d, int err, const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return err;
	va_start(ap, fmt);
	begin(d, fmt, ap);
	va_end(ap);
	append(d, ": %s", strerror(-err));
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
	add_text(d->hint, sizeof d->hint, 0, fmt, ap);
	va_end(ap);
}

void diag_at(struct diag *d, const char *file, unsigned line, unsigned col)
{
	size_t n;

	if (!d)
		return;
	n = strnlen(file, sizeof d->file - 1);
	memcpy(d->file, file, n);
	d->file[n] = '\0';
	d->line = line;
	d->col = col;
}
