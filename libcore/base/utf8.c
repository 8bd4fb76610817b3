/* utf8.c - strict UTF-8
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"

#include <string.h>

#include "base/str.h"

size_t utf8_decode(const char *s, size_t n, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char first;
	size_t len;
	uint32_t v;

	if (!n)
		return 0;
	first = (unsigned char)s[0];
	if (first < 0x80) {
		*cp = first;
		return 1;
	}
	len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc2 || first > 0xf4 || len > n)
		return 0;
	v = first & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	*cp = v;
	return len;
}

bool utf8_valid(const char *s, size_t n)
{
	const uint64_t high = UINT64_C(0x8080808080808080);

	for (size_t i = 0; i < n;) {
		uint64_t eight = high;
		uint32_t cp;
		size_t len;

		if (n - i >= sizeof eight)
			memcpy(&eight, s + i, sizeof eight);
		if (!(eight & high))
			len = sizeof eight;
		else if (!(s[i] & 0x80))
			len = 1;
		else
			len = utf8_decode(s + i, n - i, &cp);
		if (!len)
			return false;
		i += len;
	}
	return true;
}

size_t utf8_encode(uint32_t cp, char out[static 4])
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	if (cp < 0x10000) {
		out[0] = (char)(0xe0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		out[2] = (char)(0x80 | (cp & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	out[3] = (char)(0x80 | (cp & 0x3f));
	return 4;
}

struct range {
	uint32_t first, last;
};

static bool in_ranges(const struct range *r, size_t n, uint32_t cp)
{
	for (size_t i = 0; i < n; i++)
		if (cp >= r[i].first && cp <= r[i].last)
			return true;
	return false;
}

bool utf8_is_hidden(uint32_t cp)
{
	/* C0, DEL and C1, then category Cf, line and paragraph separators,
	 * fillers that print nothing, variation selectors and tags. The last
	 * variation selector is left out, because people write it behind
	 * emoji. */
	static const struct range hidden[] = {
		{0x0, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x34f, 0x34f},
		{0x600, 0x605}, {0x61c, 0x61c}, {0x6dd, 0x6dd}, {0x70f, 0x70f},
		{0x890, 0x891}, {0x8e2, 0x8e2}, {0x115f, 0x1160},
		{0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f},
		{0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
		{0xfe00, 0xfe0e}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
		{0xfff0, 0xfffb}, {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
		{0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
		{0xe0000, 0xe0fff},
	};

	return in_ranges(hidden, ARRAY_SIZE(hidden), cp);
}

unsigned utf8_width(uint32_t cp)
{
	static const struct range combining[] = {
		{0x300, 0x36f}, {0x483, 0x489}, {0x591, 0x5bd}, {0x610, 0x61a},
		{0x64b, 0x65f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
		{0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
		{0xfe20, 0xfe2f},
	};
	static const struct range wide[] = {
		{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0x33ff},
		{0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf},
		{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe4f},
		{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
		{0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
	};

	if (cp < 0x300)
		return 1;
	if (in_ranges(combining, ARRAY_SIZE(combining), cp))
		return 0;
	return in_ranges(wide, ARRAY_SIZE(wide), cp) ? 2 : 1;
}

void utf8_cut(char *to, size_t size, const char *from)
{
	size_t n = strlen(from);

	if (n >= size) {
		n = size - 4;
		while (n > 0 && ((unsigned char)from[n] & 0xc0) == 0x80)
			n--;
		memcpy(to + n, "...", 4);
	} else {
		to[n] = 0;
	}
	memcpy(to, from, n);
}
