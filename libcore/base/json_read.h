/* json_read.h - a strict JSON reader with bounded depth and size
 * SPDX-License-Identifier: MIT
 *
 * Reads a whole text into a flat array of nodes, in the order of the text;
 * strings stay slices of it until asked for. RFC 8259 and nothing more: no
 * comments, no trailing commas, no duplicate keys, valid UTF-8 only.
 *
 *	autojson struct json_doc doc = {0};
 *	err = json_read(&doc, text, n, &d);
 *	node = json_find(&doc, 0, "shell_config");
 *	for (i = json_first(&doc, node); i; i = json_next(&doc, i))
 */
#ifndef WARDBOX_JSON_READ_H
#define WARDBOX_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"

enum {
	JSON_READ_DEPTH = 32,
	JSON_READ_NODES = 16384,
	JSON_READ_KEYS = 1024, /* in one object */
};

enum json_type {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* A value. In an object each key is a STRING node of its own, followed by its
 * value. */
struct json_node {
	uint32_t at, len; /* in the text; of a string, between the quotes */
	uint32_t end;     /* the node behind this one and everything within */
	uint32_t parent;  /* the array or object around it; 0 for the root */
	uint8_t type;
	uint8_t escaped; /* STRING: holds a backslash */
};

struct json_doc {
	const char
		*text; /* the caller's; must live as long as the document */
	struct json_node *node;
	uint32_t count, cap;
};

void json_doc_release(struct json_doc *doc);
#define autojson autoclean(json_doc_release)

/* Reads a document; node 0 is the root. 0, -EINVAL with the place in d, -E2BIG
 * (depth, nodes), -ENOMEM. */
int json_read(struct json_doc *doc, const char *text, size_t n, struct diag *d);

enum json_type json_type(const struct json_doc *doc, uint32_t node);

/* The first element of an array, or the first key of an object; 0: none. */
uint32_t json_first(const struct json_doc *doc, uint32_t node);
/* The element behind an element or, for a key, the next key; 0: none. */
uint32_t json_next(const struct json_doc *doc, uint32_t node);
/* The value of a key node. */
uint32_t json_value(const struct json_doc *doc, uint32_t key);
/* The value of key in the object; 0 when there is none (a value is never the
 * root), or the node is no object. */
uint32_t json_find(const struct json_doc *doc, uint32_t node, const char *key);

/* Appends the string's bytes, without escapes. -EINVAL: no string, or a NUL in
 * it; or out's error. */
int json_text(const struct json_doc *doc, uint32_t node, struct buf *out);

/* Line and column of a node, for messages. */
void json_place(const struct json_doc *doc, uint32_t node, unsigned *line,
	unsigned *col);

#endif
