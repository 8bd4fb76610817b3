/* json_read.c - a strict JSON reader with bounded depth and size
 * SPDX-License-Identifier: MIT
 */
#include "base/json_read.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

struct reader {
	struct json_doc *doc;
	size_t n, at;
	struct diag *d;
};

void json_doc_release(struct json_doc *doc)
{
	free(doc->node);
	*doc = (struct json_doc){0};
}

static void place_of(const char *text, size_t at, unsigned *line, unsigned *col)
{
	*line = 1;
	*col = 1;
	for (size_t i = 0; i < at; i++) {
		(*col)++;
		if (text[i] == '\n') {
			(*line)++;
			*col = 1;
		}
	}
}

static int fail_at(struct reader *r, int err, const char *why)
{
	unsigned line, col;

	place_of(r->doc->text, r->at, &line, &col);
	diag_fail(r->d, err, "%s", why);
	diag_at(r->d, "", line, col);
	return err;
}

static int add_node(
	struct reader *r, enum json_type type, uint32_t parent, uint32_t *index)
{
	struct json_doc *doc = r->doc;

	if (doc->count == JSON_READ_NODES)
		return fail_at(r, -E2BIG, "too many values");
	if (doc->count == doc->cap) {
		uint32_t cap = doc->cap ? doc->cap * 2 : 64;
		struct json_node *grown =
			reallocarray(doc->node, cap, sizeof *grown);

		if (!grown)
			return -ENOMEM;
		doc->node = grown;
		doc->cap = cap;
	}
	*index = doc->count++;
	doc->node[*index] = (struct json_node){.at = (uint32_t)r->at,
		.parent = parent,
		.end = doc->count,
		.type = (uint8_t)type};
	return 0;
}

static char peek_byte(const struct reader *r)
{
	return r->at < r->n ? r->doc->text[r->at] : '\0';
}

static void skip_space(struct reader *r)
{
	while (r->at < r->n && strchr(" \t\r\n", r->doc->text[r->at]) &&
		r->doc->text[r->at])
		r->at++;
}

static int read_hex4(const char *s, size_t n, uint32_t *out)
{
	*out = 0;
	if (n < 4)
		return -EINVAL;
	for (unsigned i = 0; i < 4; i++) {
		char c = s[i];
		unsigned v;

		if (chr_digit(c))
			v = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = (unsigned)(c - 'a') + 10;
		else if (c >= 'A' && c <= 'F')
			v = (unsigned)(c - 'A') + 10;
		else
			return -EINVAL;
		*out = *out << 4 | v;
	}
	return 0;
}

/* Reads one \… at s[0..n): its length and code point, or 0. */
static size_t read_escape(const char *s, size_t n, uint32_t *cp)
{
	static const char letters[] = "\"\\/bfnrt";
	static const char meant[] = "\"\\/\b\f\n\r\t";
	const char *hit;
	uint32_t low;

	if (n < 2 || !s[1])
		return 0;
	hit = strchr(letters, s[1]);
	if (hit) {
		*cp = (unsigned char)meant[hit - letters];
		return 2;
	}
	if (s[1] != 'u' || read_hex4(s + 2, n - 2, cp))
		return 0;
	if (*cp < 0xd800 || *cp > 0xdfff)
		return 6;
	if (*cp > 0xdbff || n < 12 || s[6] != '\\' || s[7] != 'u' ||
		read_hex4(s + 8, n - 8, &low) || low < 0xdc00 || low > 0xdfff)
		return 0;
	*cp = 0x10000 + ((*cp - 0xd800) << 10) + (low - 0xdc00);
	return 12;
}

static int read_string(struct reader *r, uint32_t parent, uint32_t *index)
{
	int err;

	if (peek_byte(r) != '"')
		return fail_at(r, -EINVAL, "expected a string");
	r->at++;
	err = add_node(r, JSON_STRING, parent, index);
	if (err)
		return err;
	for (;;) {
		const char *s = r->doc->text + r->at;
		size_t left = r->n - r->at, len;
		uint32_t cp;

		if (!left)
			return fail_at(r, -EINVAL, "a string without its end");
		if (*s == '"')
			break;
		if ((unsigned char)*s < ' ')
			return fail_at(r, -EINVAL, "a control byte in a string");
		r->doc->node[*index].escaped |= *s == '\\';
		len = *s == '\\' ? read_escape(s, left, &cp)
				 : utf8_decode(s, left, &cp);
		if (!len)
			return fail_at(r, -EINVAL,
				*s == '\\' ? "an unknown escape" : "not UTF-8");
		r->at += len;
	}
	r->doc->node[*index].len = (uint32_t)(r->at - r->doc->node[*index].at);
	r->at++;
	return 0;
}

static size_t read_digits(struct reader *r)
{
	size_t from = r->at;

	while (chr_digit(peek_byte(r)))
		r->at++;
	return r->at - from;
}

static int read_number(struct reader *r, uint32_t parent)
{
	uint32_t index;
	int err = add_node(r, JSON_NUMBER, parent, &index);
	bool good;

	if (err)
		return err;
	r->at += peek_byte(r) == '-';
	if (peek_byte(r) == '0') {
		r->at++;
		good = true;
	} else {
		good = read_digits(r);
	}
	if (good && peek_byte(r) == '.') {
		r->at++;
		good = read_digits(r);
	}
	if (good && (peek_byte(r) == 'e' || peek_byte(r) == 'E')) {
		r->at++;
		r->at += peek_byte(r) == '-' || peek_byte(r) == '+';
		good = read_digits(r);
	}
	if (!good)
		return fail_at(r, -EINVAL, "expected a value");
	r->doc->node[index].len = (uint32_t)(r->at - r->doc->node[index].at);
	return 0;
}

static int read_word(struct reader *r, uint32_t parent)
{
	static const struct {
		char text[6];
		uint8_t type;
	} words[] = {{"null", JSON_NULL}, {"false", JSON_FALSE},
		{"true", JSON_TRUE}};
	uint32_t index;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i].text);
		int err;

		if (r->n - r->at < n ||
			memcmp(r->doc->text + r->at, words[i].text, n) != 0)
			continue;
		err = add_node(
			r, (enum json_type)words[i].type, parent, &index);
		if (err)
			return err;
		r->doc->node[index].len = (uint32_t)n;
		r->at += n;
		return 0;
	}
	return read_number(r, parent);
}

static bool same_key(
	const struct json_doc *doc, uint32_t a, uint32_t b, struct reader *r)
{
	autobuf struct buf left = BUF_INIT(r->n), right = BUF_INIT(r->n);
	const struct json_node *x = &doc->node[a], *y = &doc->node[b];

	if (!x->escaped && !y->escaped)
		return x->len == y->len &&
		       memcmp(doc->text + x->at, doc->text + y->at, x->len) ==
			       0;
	return json_text(doc, a, &left) == 0 &&
	       json_text(doc, b, &right) == 0 && left.len == right.len &&
	       (!left.len || memcmp(left.data, right.data, left.len) == 0);
}

/* Reads a member's key and colon. A key that is given twice could mean
 * something else to another reader. */
static int read_key(struct reader *r, uint32_t parent)
{
	uint32_t key;
	unsigned keys = 0;
	int err = read_string(r, parent, &key);

	if (err)
		return err;
	for (uint32_t k = json_first(r->doc, parent); k && k < key;) {
		uint32_t next = r->doc->node[k + 1].end;

		if (same_key(r->doc, k, key, r))
			return fail_at(r, -EINVAL, "a key given twice");
		if (++keys == JSON_READ_KEYS)
			return fail_at(r, -E2BIG, "too many keys");
		k = next;
	}
	skip_space(r);
	if (peek_byte(r) != ':')
		return fail_at(r, -EINVAL, "expected ':'");
	r->at++;
	return 0;
}

/* Reads a value, or the opening of a container. */
static int read_value(struct reader *r, uint32_t parent, uint32_t *opened)
{
	char c = peek_byte(r);
	uint32_t index;

	*opened = UINT32_MAX;
	if (c == '"')
		return read_string(r, parent, &index);
	if (c != '{' && c != '[')
		return read_word(r, parent);
	r->at++;
	return add_node(r, c == '{' ? JSON_OBJECT : JSON_ARRAY, parent, opened);
}

/* Closes containers that end here and steps over a comma; *open becomes
 * UINT32_MAX behind the root. */
static int read_after(struct reader *r, uint32_t *open, unsigned *depth)
{
	while (*depth) {
		struct json_node *node = &r->doc->node[*open];
		char close = node->type == JSON_OBJECT ? '}' : ']';

		skip_space(r);
		if (peek_byte(r) == ',') {
			r->at++;
			return 0;
		}
		if (peek_byte(r) != close)
			return fail_at(r, -EINVAL,
				close == '}' ? "expected ',' or '}'"
					     : "expected ',' or ']'");
		r->at++;
		node->len = (uint32_t)(r->at - node->at);
		node->end = r->doc->count;
		*open = node->parent;
		(*depth)--;
	}
	return 0;
}

static int read_all(struct reader *r)
{
	unsigned depth = 0;
	uint32_t open = 0, opened;

	do {
		int err;

		skip_space(r);
		if (depth && r->doc->node[open].type == JSON_OBJECT) {
			err = read_key(r, open);
			if (err)
				return err;
			skip_space(r);
		}
		err = read_value(r, open, &opened);
		if (err)
			return err;
		if (opened != UINT32_MAX) {
			if (++depth > JSON_READ_DEPTH)
				return fail_at(r, -E2BIG, "nested too deeply");
			open = opened;
			skip_space(r);
			if (peek_byte(r) != '}' && peek_byte(r) != ']')
				continue;
		}
		err = read_after(r, &open, &depth);
		if (err)
			return err;
	} while (depth);
	skip_space(r);
	return r->at == r->n ? 0 : fail_at(r, -EINVAL, "text behind the value");
}

int json_read(struct json_doc *doc, const char *text, size_t n, struct diag *d)
{
	struct reader r = {.doc = doc, .n = n, .d = d};
	int err;

	*doc = (struct json_doc){.text = text};
	if (n >= UINT32_MAX)
		return diag_fail(d, -E2BIG, "too large");
	err = read_all(&r);
	if (err == -ENOMEM)
		diag_errno(d, err, "JSON");
	if (err)
		json_doc_release(doc);
	return err;
}

enum json_type json_type(const struct json_doc *doc, uint32_t node)
{
	return (enum json_type)doc->node[node].type;
}

uint32_t json_first(const struct json_doc *doc, uint32_t node)
{
	const struct json_node *n = &doc->node[node];

	if (n->type != JSON_ARRAY && n->type != JSON_OBJECT)
		return 0;
	return node + 1 < doc->count && doc->node[node + 1].parent == node
		       ? node + 1
		       : 0;
}

uint32_t json_next(const struct json_doc *doc, uint32_t node)
{
	uint32_t parent = doc->node[node].parent;
	bool keyed = doc->node[parent].type == JSON_OBJECT;
	uint32_t next = doc->node[node + keyed].end;

	return next < doc->count && next < doc->node[parent].end ? next : 0;
}

uint32_t json_value(const struct json_doc *doc, uint32_t key)
{
	(void)doc;
	return key + 1;
}

uint32_t json_find(const struct json_doc *doc, uint32_t node, const char *key)
{
	size_t n = strlen(key);

	if (json_type(doc, node) != JSON_OBJECT)
		return 0;
	for (uint32_t k = json_first(doc, node); k; k = json_next(doc, k)) {
		autobuf struct buf text = BUF_INIT(doc->node[k].len + 1);

		if (json_text(doc, k, &text) == 0 && text.len == n &&
			(!n || memcmp(text.data, key, n) == 0))
			return json_value(doc, k);
	}
	return 0;
}

int json_text(const struct json_doc *doc, uint32_t node, struct buf *out)
{
	const struct json_node *n = &doc->node[node];
	const char *s = doc->text + n->at;
	size_t left = n->len;

	if (n->type != JSON_STRING)
		return -EINVAL;
	while (left) {
		const char *back = memchr(s, '\\', left);
		size_t plain = back ? (size_t)(back - s) : left;
		uint32_t cp;
		char bytes[4];
		size_t len;

		buf_add(out, s, plain);
		s += plain;
		left -= plain;
		if (!left)
			break;
		len = read_escape(s, left, &cp);
		if (!len || !cp)
			return -EINVAL;
		buf_add(out, bytes, utf8_encode(cp, bytes));
		s += len;
		left -= len;
	}
	return out->err;
}

void json_place(const struct json_doc *doc, uint32_t node, unsigned *line,
	unsigned *col)
{
	place_of(doc->text, doc->node[node].at, line, col);
}
