/* buf.c - growing bytes with a hard maximum and a sticky error; the part of printf
 * that messages need
 * SPDX-License-Identifier: MIT
 */
#include "base/buf.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

struct buf buf_heap(size_t max)
{
	return (struct buf){.max = max, .owned = true};
}

struct buf buf_fixed(char *array, size_t size)
{
	return (struct buf){.data = array, .cap = size, .max = size - 1};
}

void buf_release(struct buf *b)
{
	if (b->owned)
		free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->err = 0;
}

/* Makes room for total bytes and the NUL of buf_str. */
static int buf_grow(struct buf *b, size_t total)
{
	size_t cap = b->cap ? b->cap : 64;
	char *grown;

	if (total > b->max)
		return -ENOBUFS;
	if (total < b->cap)
		return 0;
	if (!b->owned)
		return -ENOBUFS;
	while (cap <= total)
		cap = cap > b->max / 2 ? b->max + 1 : cap * 2;
	grown = realloc(b->data, cap);
	if (!grown)
		return -ENOMEM;
	b->data = grown;
	b->cap = cap;
	return 0;
}

char *buf_reserve(struct buf *b, size_t n)
{
	if (b->err)
		return NULL;
	b->err = n > b->max - b->len ? -ENOBUFS : buf_grow(b, b->len + n);
	return b->err ? NULL : b->data + b->len;
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
	char *to = buf_reserve(b, n);

	const char *from = bytes;

	if (!to)
		return;
	b->len += n;
	/* Most texts are short, and setting up a block copy costs more than
	 * these steps. */
	if (n > 32)
		memcpy(to, from, n);
	else
		while (n--)
			*to++ = *from++;
}

void buf_addc(struct buf *b, char c)
{
	if (!b->err && b->len + 1 < b->cap && b->len < b->max)
		b->data[b->len++] = c;
	else
		buf_add(b, &c, 1);
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

const char *buf_str(struct buf *b)
{
	if (b->err || !b->cap)
		return "";
	b->data[b->len] = '\0';
	return b->data;
}

void buf_consume(struct buf *b, size_t n)
{
	if (n >= b->len) {
		b->len = 0;
		return;
	}
	memmove(b->data, b->data + n, b->len - n);
	b->len -= n;
}

bool fd_again(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	if (errno == EAGAIN)
		return poll(&p, 1, -1) >= 0 || errno == EINTR;
	return errno == EINTR;
}

int buf_read_fd(struct buf *b, int fd)
{
	/* With the NUL of buf_str 64 KiB, because the heap maps blocks that are
	 * much larger. */
	enum { ONCE = 65535 };

	for (;;) {
		char last = 0;
		size_t room = b->max - b->len;
		size_t spare = b->cap > b->len ? b->cap - b->len - 1 : 0;
		size_t want = room < ONCE ? room : ONCE;
		char *to;
		ssize_t got;

		/* The free room often holds the rest, and the end. */
		if (spare && spare < want)
			want = spare;
		to = want ? buf_reserve(b, want) : &last;
		if (!to)
			return b->err;
		got = read(fd, to, want ? want : 1);
		/* A descriptor that was opened as non-blocking is not waited
		 * for. */
		if (got < 0 && (errno == EINTR || (fd == STDIN_FILENO &&
							  fd_again(fd, POLLIN))))
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		if (!want)
			return b->err = -ENOBUFS;
		b->len += (size_t)got;
	}
}

/* The bytes that a brief text keeps of a long string. */
enum { BRIEF_MAX = 160, BRIEF_HEAD = 100, BRIEF_TAIL = 50 };

struct fmt_spec {
	bool left, zero;
	int width;
	int precision; /* -1: none */
	char length;   /* 0, 'l', 'L' for ll, 'z', 'j' */
};

/* Writes the digits of v backwards, so that they end at end. */
static char *write_digits(char *end, uint64_t v, unsigned base, bool upper)
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	do
		*--end = set[v % base];
	while (v /= base);
	return end;
}

void buf_addu(struct buf *b, uint64_t v)
{
	char digit[24], *end = digit + sizeof digit;
	char *start = write_digits(end, v, 10, false);

	buf_add(b, start, (size_t)(end - start));
}

static void add_padded(struct buf *b, const struct fmt_spec *spec,
	const char *sign, const char *s, size_t n)
{
	size_t signs = *sign ? strlen(sign) : 0;
	size_t width = spec->width > 0 ? (size_t)spec->width : 0;
	size_t pad = width > n + signs ? width - n - signs : 0;

	if (!spec->left && !spec->zero)
		for (; pad; pad--)
			buf_addc(b, ' ');
	if (signs)
		buf_add(b, sign, signs);
	if (!spec->left)
		for (; pad; pad--)
			buf_addc(b, '0');
	buf_add(b, s, n);
	for (; pad; pad--)
		buf_addc(b, ' ');
}

/* A struct around va_list, so that its array form can be passed by pointer. */
struct fmt_args {
	va_list ap;
};

static uint64_t next_unsigned(struct fmt_args *args, char length)
{
	switch (length) {
	case 'l':
		return va_arg(args->ap, unsigned long);
	case 'L':
		return va_arg(args->ap, unsigned long long);
	case 'z':
		return va_arg(args->ap, size_t);
	case 'j':
		return va_arg(args->ap, uintmax_t);
	default:
		return va_arg(args->ap, unsigned);
	}
}

static int64_t next_signed(struct fmt_args *args, char length)
{
	switch (length) {
	case 'l':
		return va_arg(args->ap, long);
	case 'L':
		return va_arg(args->ap, long long);
	case 'z':
		return va_arg(args->ap, ssize_t);
	case 'j':
		return va_arg(args->ap, intmax_t);
	default:
		return va_arg(args->ap, int);
	}
}

static const char *parse_number(
	const char *f, struct fmt_args *args, int *out)
{
	int n = 0;

	if (*f == '*') {
		*out = va_arg(args->ap, int);
		return f + 1;
	}
	while (chr_digit(*f) && n < 10000)
		n = n * 10 + (*f++ - '0');
	*out = n;
	return f;
}

static const char *parse_spec(
	const char *f, struct fmt_args *args, struct fmt_spec *spec)
{
	for (; *f == '-' || *f == '0'; f++) {
		if (*f == '-')
			spec->left = true;
		else
			spec->zero = true;
	}
	f = parse_number(f, args, &spec->width);
	if (spec->width < 0) {
		spec->left = true;
		spec->width = -spec->width;
	}
	if (*f == '.')
		f = parse_number(f + 1, args, &spec->precision);
	if (*f == 'l' && f[1] == 'l') {
		spec->length = 'L';
		f += 2;
	} else if (*f == 'l' || *f == 'z' || *f == 'j') {
		spec->length = *f++;
	}
	return f;
}

static void add_string(
	struct buf *b, struct fmt_spec *spec, const char *s)
{
	size_t n;

	if (!s)
		s = "(null)";
	n = spec->precision >= 0 ? strnlen(s, (size_t)spec->precision)
				 : strlen(s);
	spec->zero = false;
	if (b->brief && spec->precision < 0 && n > BRIEF_MAX) {
		buf_add(b, s, BRIEF_HEAD);
		buf_adds(b, "...");
		buf_add(b, s + n - BRIEF_TAIL, BRIEF_TAIL);
		return;
	}
	add_padded(b, spec, "", s, n);
}

static void add_conversion(
	struct buf *b, char conv, struct fmt_spec *spec, struct fmt_args *args)
{
	char digit[24], *end = digit + sizeof digit, *start;
	const char *sign = "";
	uint64_t v;
	int64_t i;

	switch (conv) {
	case '%':
		buf_addc(b, '%');
		return;
	case 'c':
		digit[0] = (char)va_arg(args->ap, int);
		add_padded(b, spec, "", digit, 1);
		return;
	case 's':
		add_string(b, spec, va_arg(args->ap, const char *));
		return;
	case 'd':
	case 'i':
		i = next_signed(args, spec->length);
		v = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
		sign = i < 0 ? "-" : "";
		start = write_digits(end, v, 10, false);
		break;
	case 'u':
		start = write_digits(end, next_unsigned(args, spec->length), 10, false);
		break;
	case 'o':
		start = write_digits(end, next_unsigned(args, spec->length), 8, false);
		break;
	case 'x':
	case 'X':
		v = next_unsigned(args, spec->length);
		start = write_digits(end, v, 16, conv == 'X');
		break;
	case 'p':
		v = (uintptr_t)va_arg(args->ap, void *);
		sign = "0x";
		start = write_digits(end, v, 16, false);
		break;
	default:
		b->err = -EINVAL;
		return;
	}
	add_padded(b, spec, sign, start, (size_t)(end - start));
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	struct fmt_args args;

	va_copy(args.ap, ap);
	for (const char *f = fmt; *f && !b->err; f++) {
		struct fmt_spec spec = {.precision = -1};
		const char *plain = f;

		while (*f && *f != '%')
			f++;
		if (f > plain)
			buf_add(b, plain, (size_t)(f - plain));
		if (!*f)
			break;
		f = parse_spec(f + 1, &args, &spec);
		add_conversion(b, *f, &spec, &args);
		if (!*f)
			break;
	}
	va_end(args.ap);
}

FLOATLESS void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

FLOATLESS const char *buf_print(char *array, size_t size, const char *fmt, ...)
{
	struct buf b = buf_fixed(array, size);
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	if (b.err)
		buf_clear(&b);
	buf_str(&b);
	return array;
}
