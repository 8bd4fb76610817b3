/* utf8.h - strict UTF-8
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_UTF8_H
#define WARDBOX_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one code point at s[0..n). Its length (1..4), or 0 for invalid bytes:
 * overlong, surrogate, above U+10FFFF, cut short, stray. */
size_t utf8_decode(const char *s, size_t n, uint32_t *cp);

bool utf8_valid(const char *s, size_t n);

/* Writes 1..4 bytes to out; 0 when cp is no scalar value. */
size_t utf8_encode(uint32_t cp, char out[static 4]);

/* Is it invisible or direction-changing: Unicode category Cf and similar, or a
 * C0 or C1 control? */
bool utf8_is_hidden(uint32_t cp);

/* Terminal columns: 0 for combining marks, 2 for wide, else 1. */
unsigned utf8_width(uint32_t cp);

/* Copies a text into size bytes, at least 4; a text that is cut ends with
 * "...". */
void utf8_cut(char *to, size_t size, const char *from);

#endif
