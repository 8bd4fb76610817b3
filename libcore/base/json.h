/* json.h - a JSON writer that cannot write bad JSON
 * SPDX-License-Identifier: MIT
 *
 * Streams into a buf; commas and quotes are its own work. Bytes that are no
 * UTF-8 come out as U+FFFD, so the result is always valid. At most 32 levels.
 *
 *	struct json j = JSON_INIT(&out);
 *	json_open(&j, '{');
 *	json_put_str(&j, "name", name);
 *	json_end(&j);
 */
#ifndef WARDBOX_JSON_H
#define WARDBOX_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct json {
	struct buf *out;
	uint32_t is_map; /* bit per level */
	uint32_t filled; /* bit per level: something was written there */
	uint8_t depth;
	bool keyed;  /* a key waits for its value */
	bool pretty; /* two-space indentation and line ends */
	const char *key; /* the last key, as long as its text exists */
	size_t key_len;
	/* Writes the "%s" of json_putf(); NULL: json_str(). */
	void (*put)(struct json *j, const char *s);
};

#define JSON_INIT(buffer) ((struct json){.out = (buffer)})

/* kind is '{' or '['. */
void json_open(struct json *j, char kind);
void json_close(struct json *j);
/* Closes all that is open, and ends the line; if nothing is, does nothing. */
void json_end(struct json *j);
/* The key of the next value in a map; returns j. */
struct json *json_key(struct json *j, const char *key);

void json_str(struct json *j, const char *s); /* NULL writes null */
void json_strn(struct json *j, const char *s, size_t n);
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_bool(struct json *j, bool v);

/* Writes the words of fmt, one after the other: "{" "[" "}" "]" open and close;
 * "%s" (NULL: null), "%d" (a truth value), "%ju" and "%jd" are values; any
 * other word is the key of the next value: "{ name %s size %ju tags [". */
__attribute__((format(printf, 2, 3))) void json_putf(
	struct json *j, const char *fmt, ...);

/* Write a key and its value. */
void json_put_str(struct json *j, const char *key, const char *s);
void json_put_u64(struct json *j, const char *key, uint64_t v);
void json_put_open(struct json *j, const char *key, char kind);
void json_put_i64(struct json *j, const char *key, int64_t v);
void json_put_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j);
/* Writes text that is JSON already. */
void json_raw(struct json *j, const char *s, size_t n);

#endif
