/* serve_args.c - members of JSON objects, and lists of words, by tables
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

int args_wrong(char said[static ARGS_SAID], const char *key, const char *what)
{
	(void)buf_print(said, ARGS_SAID, "%s: %s", key, what);
	return -EINVAL;
}

uint32_t args_value(const struct json_doc *doc, uint32_t node, const char *key)
{
	uint32_t value = json_find(doc, node, key);

	return value && json_type(doc, value) != JSON_NULL ? value : 0;
}

static const char *take_text(const struct arg *a, const struct json_doc *doc,
	uint32_t node, void *to)
{
	struct buf fixed = buf_fixed(to, (size_t)a->max);
	struct buf *b = a->kind == ARG_TEXT ? &fixed : to;
	int err = json_type(doc, node) == JSON_STRING
		? json_text(doc, node, b)
		: -EINVAL;

	if (a->kind == ARG_TEXT)
		(void)buf_str(b);
	if (a->kind == ARG_TEXT && err)
		*(char *)to = '\0';
	return err ? "no text, or too long" : NULL;
}

static const char *take_texts(
	const struct json_doc *doc, uint32_t node, struct buf *to)
{
	int err = json_type(doc, node) == JSON_ARRAY ? 0 : -EINVAL;

	for (uint32_t i = err ? 0 : json_first(doc, node); i && !err;
		i = json_next(doc, i)) {
		err = json_type(doc, i) == JSON_STRING ? json_text(doc, i, to)
						       : -EINVAL;
		buf_addc(to, '\0');
	}
	return err || to->err ? "no list of texts, or too long" : NULL;
}

static const char *take_truth(
	const struct json_doc *doc, uint32_t node, bool *to)
{
	enum json_type type = json_type(doc, node);

	if (type != JSON_TRUE && type != JSON_FALSE)
		return "neither true nor false";
	*to = type == JSON_TRUE;
	return NULL;
}

static const char *take_number(const struct arg *a, const struct json_doc *doc,
	uint32_t node, void *to)
{
	const uint64_t year = UINT64_C(366) * 24 * 3600 * 1000000000;
	const struct json_node *n = &doc->node[node];
	char digits[32];
	struct buf b = BUF_FIXED(digits);
	uint64_t v = 0;

	if (n->type == JSON_NUMBER)
		buf_add(&b, doc->text + n->at, n->len);
	if (a->kind == ARG_SECONDS)
		return num_duration(buf_str(&b), 0, year, to)
			? "no number of seconds"
			: NULL;
	if (num_u64(buf_str(&b), 0, a->max, &v))
		return "no whole number that can be";
	if (a->kind == ARG_NUMBER)
		*(uint64_t *)to = v;
	else if (a->kind == ARG_LENGTH)
		*(unsigned short *)to = (unsigned short)v;
	else
		*(int *)to = (int)v;
	return NULL;
}

/* What is wrong with it; NULL: it was taken. */
static const char *take_value(const struct arg *a, const struct json_doc *doc,
	uint32_t node, void *to)
{
	switch ((enum arg_kind)a->kind) {
	case ARG_TEXT:
	case ARG_BUF:
		return take_text(a, doc, node, to);
	case ARG_TEXTS:
		return take_texts(doc, node, to);
	case ARG_TRUTH:
		return take_truth(doc, node, to);
	case ARG_NUMBER:
	case ARG_LENGTH:
	case ARG_INT:
	case ARG_SECONDS:
		break;
	}
	return take_number(a, doc, node, to);
}

int args_read(const struct arg *args, size_t count, unsigned of,
	const struct json_doc *doc, uint32_t node, void *to,
	char said[static ARGS_SAID])
{
	int err = 0;

	for (size_t i = 0; i < count; i++) {
		const struct arg *a = &args[i];
		uint32_t value = of && !(a->of & of)
			? 0
			: args_value(doc, node, a->name);
		const char *what = value ? take_value(
			a, doc, value, (char *)to + a->at) : NULL;

		if (what && !err)
			err = args_wrong(said, a->name, what);
	}
	return err;
}

int args_known(const struct arg *args, size_t count, unsigned of,
	const struct json_doc *doc, uint32_t node, char said[static ARGS_SAID])
{
	for (uint32_t key = json_first(doc, node); key;
		key = json_next(doc, key)) {
		char name[32] = "";
		struct buf b = BUF_FIXED(name);
		size_t i = 0;

		(void)json_text(doc, key, &b);
		while (i < count && (!(args[i].of & of) ||
					    !str_eq(args[i].name, buf_str(&b))))
			i++;
		if (i == count)
			return args_wrong(
				said, name, "there is no such argument");
	}
	return 0;
}

char **args_argv(const struct buf *words)
{
	size_t count = 0, n = 0;
	char **argv;

	for (size_t i = 0; i < words->len; i++)
		count += !words->data[i];
	argv = words->err ? NULL : calloc(count + 1, sizeof *argv);
	for (char *at = words->data; argv && n < count; at += strlen(at) + 1)
		argv[n++] = at;
	return argv;
}
