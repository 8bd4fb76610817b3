/* base64.c - bytes as letters, and back
 * SPDX-License-Identifier: MIT
 */
#include "base/base64.h"

#include <errno.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn"
			     "opqrstuvwxyz0123456789+/";

void base64_add(struct buf *out, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16;
		char four[4];

		if (i + 1 < n)
			v |= (uint32_t)p[i + 1] << 8;
		if (i + 2 < n)
			v |= p[i + 2];
		for (unsigned k = 0; k < 4; k++)
			four[k] = digits[v >> (18 - 6 * k) & 63];
		if (i + 2 >= n)
			four[3] = '=';
		if (i + 1 >= n)
			four[2] = '=';
		buf_add(out, four, sizeof four);
	}
}

/* Decodes four letters to three bytes; pad of the letters are '='. */
static bool read_four(const char *four, size_t pad, unsigned char *three)
{
	uint32_t v = 0;

	for (size_t k = 0; k < 4; k++) {
		const char *at = k < 4 - pad && four[k]
			? strchr(digits, four[k])
			: NULL;

		if (k < 4 - pad ? !at : four[k] != '=')
			return false;
		v = v << 6 | (at ? (uint32_t)(at - digits) : 0);
	}
	three[0] = (unsigned char)(v >> 16);
	three[1] = (unsigned char)(v >> 8);
	three[2] = (unsigned char)v;
	return !(v & ((1U << (8 * pad)) - 1));
}

int base64_read(struct buf *out, const char *text, size_t n)
{
	if (n % 4)
		return -EINVAL;
	for (size_t i = 0; i < n; i += 4) {
		bool last = i + 4 == n;
		size_t pad = !last || text[i + 3] != '=' ? 0
			: text[i + 2] != '='		 ? 1
							 : 2;
		unsigned char three[3];

		if (!read_four(text + i, pad, three))
			return -EINVAL;
		buf_add(out, three, 3 - pad);
	}
	return out->err;
}
