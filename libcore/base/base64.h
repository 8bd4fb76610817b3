/* base64.h - bytes as letters, and back
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_BASE64_H
#define WARDBOX_BASE64_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends n bytes in base64, padded. */
void base64_add(struct buf *out, const uint8_t *p, size_t n);
/* Appends the bytes of padded base64. -EINVAL: the text is no base64, to the
 * last letter and bit; or out's error. */
int base64_read(struct buf *out, const char *text, size_t n);

#endif
