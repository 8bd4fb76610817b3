/* serve_codex.c - the messages of codex's executor protocol
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_codex.h"

#include <errno.h>
#include <string.h>

#include "base/base64.h"
#include "base/str.h"
#include "serve/serve_uri.h"

void codex_release(struct codex_message *m)
{
	json_doc_release(&m->doc);
}

static int refuse(struct codex_message *m, int code, const char *said)
{
	(void)str_copy(m->said, sizeof m->said, said);
	return code;
}

int codex_read(struct codex_message *m, const char *text, size_t n)
{
	/* In the order of enum codex_method. */
	static const char names[] = "initialize\0initialized\0"
		"environment/info\0environment/status\0"
		"process/start\0process/read\0process/write\0process/signal\0"
		"process/terminate\0"
		"fs/open\0fs/readBlock\0fs/close\0"
		"fs/readFile\0fs/writeFile\0fs/createDirectory\0"
		"fs/getMetadata\0fs/canonicalize\0fs/readDirectory\0fs/walk\0"
		"fs/remove\0fs/copy\0";
	uint32_t id, method;
	char name[64];
	int i;

	if (json_read(&m->doc, text, n, NULL))
		return refuse(m, RPC_REQUEST, "no JSON");
	if (json_type(&m->doc, 0) != JSON_OBJECT)
		return refuse(m, RPC_REQUEST, "no message: one object each");
	id = json_find(&m->doc, 0, "id");
	method = json_find(&m->doc, 0, "method");
	if (!method)
		return 0; /* an answer to what was not asked */
	if (id && !rpc_token(&m->doc, id, &m->id))
		return refuse(m, RPC_REQUEST, "id: a string or a number");
	if (!rpc_string(&m->doc, method, name, sizeof name))
		return refuse(m, RPC_METHOD, "no method");
	m->params = json_find(&m->doc, 0, "params");
	if (m->params && json_type(&m->doc, m->params) != JSON_OBJECT)
		m->params = 0;
	i = str_index(names, name);
	m->method = i < 0 ? CODEX_NONE
			  : (enum codex_method)(i + CODEX_INITIALIZE);
	if (i < 0 && !id)
		return refuse(m, RPC_REQUEST, "there is no such notification");
	if (i < 0 || (!id) != (m->method == CODEX_INITIALIZED)) {
		(void)BUF_PRINT(m->said, "there is no method %s", name);
		return RPC_METHOD;
	}
	return 0;
}

static int wrong(struct codex_message *m, const char *key, const char *what)
{
	(void)BUF_PRINT(m->said, "%s: %s", key, what);
	return -EINVAL;
}

/* The node of a member; 0 where it is not there or null. */
static uint32_t given(
	const struct codex_message *m, uint32_t node, const char *key)
{
	uint32_t value = rpc_member(&m->doc, node, key);

	return value && json_type(&m->doc, value) != JSON_NULL ? value : 0;
}

int codex_text(struct codex_message *m, uint32_t node, const char *key,
	bool needed, struct buf *value)
{
	uint32_t at = given(m, node, key);

	if (!at)
		return needed ? wrong(m, key, "it is missing") : 0;
	if (json_type(&m->doc, at) != JSON_STRING)
		return wrong(m, key, "no text");
	return json_text(&m->doc, at, value)
		? wrong(m, key, "too long, or a NUL is in it")
		: 0;
}

int codex_truth(struct codex_message *m, uint32_t node, const char *key,
	bool *value)
{
	uint32_t at = given(m, node, key);

	return at && rpc_truth(&m->doc, at, value)
		? wrong(m, key, "neither true nor false")
		: 0;
}

int codex_number(struct codex_message *m, uint32_t node, const char *key,
	uint64_t max, uint64_t *value)
{
	uint32_t at = given(m, node, key);

	return at && rpc_number(&m->doc, at, max, value)
		? wrong(m, key, "no whole number that can be")
		: 0;
}

int codex_path(struct codex_message *m, uint32_t node, const char *key,
	char path[static PATH_MAX])
{
	autobuf struct buf uri = BUF_INIT(4 * (size_t)PATH_MAX);
	int err = codex_text(m, node, key, true, &uri);

	if (err)
		return err;
	return uri_read(path, uri.data, uri.len)
		? wrong(m, key, "no file: URI of a path here")
		: 0;
}

int codex_bytes(struct codex_message *m, uint32_t node, const char *key,
	struct buf *value)
{
	uint32_t at = given(m, node, key);
	const struct json_node *n = &m->doc.node[at];

	/* Base64 has nothing that JSON escapes but '/', which nobody does. */
	if (!at || n->type != JSON_STRING || n->escaped ||
		base64_read(value, m->doc.text + n->at, n->len))
		return wrong(m, key, "no base64");
	return 0;
}

void codex_error(struct buf *out, const struct rpc_token *id, int code,
	const char *said)
{
	struct json j = JSON_INIT(out);

	json_open(&j, '{');
	json_put_open(&j, "error", '{');
	json_put_i64(&j, "code", code);
	json_put_str(&j, "message", said);
	json_close(&j);
	if (id->len)
		rpc_put_token(&j, "id", id);
	else
		json_put_i64(&j, "id", -1);
	rpc_end(&j);
}

void codex_begin(struct json *j, const struct rpc_token *id)
{
	json_open(j, '{');
	rpc_put_token(j, "id", id);
	json_put_open(j, "result", '{');
}

void codex_notify(struct json *j, const char *method)
{
	json_open(j, '{');
	json_put_str(j, "method", method);
	json_put_open(j, "params", '{');
}

void codex_put_bytes(
	struct json *j, const char *key, const void *bytes, size_t n)
{
	json_raw(json_key(j, key), "\"", 1);
	base64_add(j->out, bytes, n);
	buf_addc(j->out, '"');
}

void codex_put_path(struct json *j, const char *key, const char *path)
{
	json_raw(json_key(j, key), "\"", 1);
	uri_add(j->out, path);
	buf_addc(j->out, '"');
}
