/* serve_rpc.c - what JSON-RPC's dialects share
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_rpc.h"

#include <string.h>

uint32_t rpc_member(const struct json_doc *doc, uint32_t node, const char *key)
{
	return node ? json_find(doc, node, key) : 0;
}

static enum json_type type_of(const struct json_doc *doc, uint32_t node)
{
	return node ? json_type(doc, node) : JSON_NULL;
}

bool rpc_token(const struct json_doc *doc, uint32_t node, struct rpc_token *t)
{
	enum json_type type = type_of(doc, node);
	bool quoted = type == JSON_STRING;
	const struct json_node *n = &doc->node[node];

	if ((!quoted && type != JSON_NUMBER) ||
		n->len + 2 > sizeof t->text)
		return false;
	t->len = n->len + (quoted ? 2 : 0);
	memcpy(t->text, doc->text + n->at - quoted, t->len);
	return true;
}

bool rpc_string(
	const struct json_doc *doc, uint32_t node, char *to, size_t size)
{
	struct buf b = buf_fixed(to, size);

	to[0] = '\0';
	if (type_of(doc, node) != JSON_STRING || json_text(doc, node, &b)) {
		to[0] = '\0';
		return false;
	}
	buf_str(&b);
	return true;
}

void rpc_put_token(struct json *j, const char *key, const struct rpc_token *t)
{
	json_key(j, key);
	if (t->len)
		json_raw(j, t->text, t->len);
	else
		json_null(j);
}

void rpc_end(struct json *j)
{
	while (j->depth)
		json_close(j);
	buf_addc(j->out, '\n');
}
