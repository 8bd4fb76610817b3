/* num.h - numbers from text: the whole string, within a range, or an error
 * SPDX-License-Identifier: MIT
 *
 * All return 0, -EINVAL (not such a number, or something left over) or
 * -ERANGE, and write *out only on 0. No sign, space or base prefix is taken
 * where none is named.
 */
#ifndef WARDBOX_NUM_H
#define WARDBOX_NUM_H

#include <stdint.h>

/* Decimal digits. */
int num_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out);
int num_uint(const char *s, unsigned min, unsigned max, unsigned *out);

/* Decimal digits with an optional '-'. */
int num_i64(const char *s, int64_t min, int64_t max, int64_t *out);
int num_int(const char *s, int min, int max, int *out);

/* Hexadecimal digits of either case. */
int num_hex64(const char *s, uint64_t *out);

/* A size in bytes: digits and an optional k K M G T (powers of 1024), with an
 * optional B or iB behind it: "512M", "64KiB", "4096". */
int num_size(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/* A time in nanoseconds: digits, optionally .digits, and an optional unit ns
 * us ms s m h d; none means seconds: "1.5", "200ms", "2h". */
int num_duration(const char *s, uint64_t min, uint64_t max, uint64_t *out);

#endif
