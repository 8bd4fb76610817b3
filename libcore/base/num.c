/* num.c - numbers from text: the whole string, within a range, or an error
 * SPDX-License-Identifier: MIT
 */
#include "base/num.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/str.h"

/* Reads digits of base at *s and moves past them. -EINVAL: none. */
static int scan_digits(const char **s, unsigned base, uint64_t *out)
{
	const char *p = *s;
	uint64_t v = 0;
	int err = 0;

	for (;; p++) {
		unsigned d;

		if (chr_digit(*p))
			d = (unsigned)(*p - '0');
		else if (chr_alpha(*p))
			d = (unsigned)((*p | 32) - 'a') + 10;
		else
			break;
		if (d >= base)
			break;
		if (__builtin_mul_overflow(v, base, &v) ||
			__builtin_add_overflow(v, d, &v))
			err = -ERANGE;
	}
	if (p == *s)
		return -EINVAL;
	*s = p;
	*out = v;
	return err;
}

static int scan_whole(const char *s, unsigned base, uint64_t *out)
{
	int err = scan_digits(&s, base, out);

	return *s ? -EINVAL : err;
}

static int take_ranged(uint64_t v, uint64_t min, uint64_t max, uint64_t *out)
{
	if (v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

int num_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v;
	int err = scan_whole(s, 10, &v);

	return err ? err : take_ranged(v, min, max, out);
}

int num_uint(const char *s, unsigned min, unsigned max, unsigned *out)
{
	uint64_t v;
	int err = num_u64(s, min, max, &v);

	if (!err)
		*out = (unsigned)v;
	return err;
}

int num_i64(const char *s, int64_t min, int64_t max, int64_t *out)
{
	int minus = *s == '-';
	uint64_t v;
	int64_t i;
	int err = scan_whole(s + minus, 10, &v);

	if (err)
		return err;
	if (v > (uint64_t)INT64_MAX + (uint64_t)minus)
		return -ERANGE;
	i = minus ? (int64_t)(0 - v) : (int64_t)v;
	if (i < min || i > max)
		return -ERANGE;
	*out = i;
	return 0;
}

int num_int(const char *s, int min, int max, int *out)
{
	int64_t v;
	int err = num_i64(s, min, max, &v);

	if (!err)
		*out = (int)v;
	return err;
}

int num_hex64(const char *s, uint64_t *out)
{
	uint64_t v;
	int err = scan_whole(s, 16, &v);

	if (!err)
		*out = v;
	return err;
}

int num_size(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	static const char units[] = "KMGT";
	uint64_t v;
	unsigned shift = 0;
	const char *unit;
	int err = scan_digits(&s, 10, &v);

	if (err)
		return err;
	unit = *s ? strchr(units, *s == 'k' ? 'K' : *s) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		s++;
		if (*s == 'i' && s[1] == 'B')
			s++;
	}
	if (*s == 'B')
		s++;
	if (*s)
		return -EINVAL;
	if (v > UINT64_MAX >> shift)
		return -ERANGE;
	return take_ranged(v << shift, min, max, out);
}

static uint64_t unit_ns(const char *s)
{
	static const struct {
		char name[4];
		uint64_t ns;
	} units[] = {
		{"", 1000000000},
		{"ns", 1},
		{"us", 1000},
		{"ms", 1000000},
		{"s", 1000000000},
		{"m", 60000000000},
		{"h", 3600000000000},
		{"d", 86400000000000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (str_eq(s, units[i].name))
			return units[i].ns;
	return 0;
}

int num_duration(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v, fraction = 0, scale = 1, unit;
	int err = scan_digits(&s, 10, &v);

	if (err)
		return err;
	if (*s == '.') {
		const char *p = ++s;

		/* Nine places reach a nanosecond; more would be lost
		 * silently. */
		err = scan_digits(&s, 10, &fraction);
		if (err || s - p > 9)
			return -EINVAL;
		for (; p < s; p++)
			scale *= 10;
	}
	unit = unit_ns(s);
	if (!unit)
		return -EINVAL;
	if (__builtin_mul_overflow(v, unit, &v))
		return -ERANGE;
	/* fraction < scale <= 10^9: split, to stay within 64 bits. */
	fraction = unit / scale * fraction + unit % scale * fraction / scale;
	if (__builtin_add_overflow(v, fraction, &v))
		return -ERANGE;
	return take_ranged(v, min, max, out);
}
