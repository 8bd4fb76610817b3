/* serve_args.h - members of JSON objects, and lists of words, by tables
 * SPDX-License-Identifier: MIT
 *
 *	static const struct arg args[] = {
 *		{"rows", ARG_LENGTH, offsetof(struct wire, rows), 1000},
 *	};
 *	err = args_read(args, ARRAY_SIZE(args), 0, &doc, 0, &w, w.said);
 */
#ifndef WARDBOX_SERVE_ARGS_H
#define WARDBOX_SERVE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json_read.h"

enum arg_kind {
	ARG_TEXT,    /* an array of max bytes, with a NUL */
	ARG_BUF,     /* a struct buf */
	ARG_TEXTS,   /* a struct buf that gets a list, a NUL behind each text */
	ARG_TRUTH,   /* a bool */
	ARG_NUMBER,  /* a uint64_t of at most max */
	ARG_LENGTH,  /* an unsigned short of at most max */
	ARG_INT,     /* an int of at most max */
	ARG_SECONDS, /* nanoseconds, as a uint64_t */
};

struct arg {
	char name[24];
	uint8_t kind;
	uint16_t at; /* where it is in the struct */
	uint64_t max;
	uint8_t of; /* bits: of which objects it is a member */
	uint8_t number; /* of a field of Protocol Buffers */
	const char *about; /* what a client is told of it; NULL: nothing */
};

enum { ARGS_SAID = 96 };

/* Reads into the struct at to what the object at node has of the members whose .of
 * has a bit of of (0: all). What is not there or null stays as it is. -EINVAL: one is
 * of another type, too large or too long, and said names the first such; the others
 * are read all the same. */
int args_read(const struct arg *args, size_t count, unsigned of,
	const struct json_doc *doc, uint32_t node, void *to,
	char said[static ARGS_SAID]);
/* -EINVAL with said: the object has a member that is not in the table. */
int args_known(const struct arg *args, size_t count, unsigned of,
	const struct json_doc *doc, uint32_t node, char said[static ARGS_SAID]);
/* "key: what". Returns -EINVAL. */
int args_wrong(char said[static ARGS_SAID], const char *key, const char *what);

/* The value of a member; 0 where it is not there or null. */
uint32_t args_value(const struct json_doc *doc, uint32_t node, const char *key);

/* The words, a NUL behind each, as argv, to be freed; the words stay where they
 * are. NULL: out of memory, or the words have an error. */
char **args_argv(const struct buf *words);

#endif
