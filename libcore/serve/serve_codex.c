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

static int refuse_message(struct codex_message *m, int code, const char *said)
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
		return refuse_message(m, RPC_REQUEST, "no JSON");
	if (json_type(&m->doc, 0) != JSON_OBJECT)
		return refuse_message(m, RPC_REQUEST, "no message: one object each");
	id = json_find(&m->doc, 0, "id");
	method = json_find(&m->doc, 0, "method");
	if (!method)
		return 0; /* an answer to what was not asked */
	if (id && !rpc_token(&m->doc, id, &m->id))
		return refuse_message(m, RPC_REQUEST, "id: a string or a number");
	if (!rpc_string(&m->doc, method, name, sizeof name))
		return refuse_message(m, RPC_METHOD, "no method");
	m->params = json_find(&m->doc, 0, "params");
	if (m->params && json_type(&m->doc, m->params) != JSON_OBJECT)
		m->params = 0;
	i = str_index(names, name);
	m->method = i < 0 ? CODEX_NONE
			  : (enum codex_method)(i + CODEX_INITIALIZE);
	if (i < 0 && !id)
		return refuse_message(m, RPC_REQUEST, "there is no such notification");
	if (i < 0 || (!id) != (m->method == CODEX_INITIALIZED)) {
		(void)BUF_PRINT(m->said, "there is no method %s", name);
		return RPC_METHOD;
	}
	return 0;
}

static int read_one(struct codex_message *m, uint32_t node, const char *key,
	enum arg_kind kind, uint64_t max, void *value)
{
	struct arg one = {.kind = (uint8_t)kind, .max = max};

	(void)str_copy(one.name, sizeof one.name, key);
	return node ? args_read(&one, 1, 0, &m->doc, node, value, m->said) : 0;
}

int codex_text(struct codex_message *m, uint32_t node, const char *key,
	bool needed, struct buf *value)
{
	if (needed && !(node && args_value(&m->doc, node, key)))
		return args_wrong(m->said, key, "it is missing");
	return read_one(m, node, key, ARG_BUF, 0, value);
}

int codex_truth(struct codex_message *m, uint32_t node, const char *key,
	bool *value)
{
	return read_one(m, node, key, ARG_TRUTH, 0, value);
}

int codex_number(struct codex_message *m, uint32_t node, const char *key,
	uint64_t max, uint64_t *value)
{
	return read_one(m, node, key, ARG_NUMBER, max, value);
}

int codex_path(struct codex_message *m, uint32_t node, const char *key,
	char path[static PATH_MAX])
{
	autobuf struct buf uri = BUF_INIT(4 * (size_t)PATH_MAX);
	int err = codex_text(m, node, key, true, &uri);

	if (err)
		return err;
	return uri_read(path, uri.data, uri.len)
		? args_wrong(m->said, key, "no file: URI of a path here")
		: 0;
}

int codex_bytes(struct codex_message *m, uint32_t node, const char *key,
	struct buf *value)
{
	uint32_t at = node ? args_value(&m->doc, node, key) : 0;
	const struct json_node *n = &m->doc.node[at];

	/* Base64 has nothing that JSON escapes but '/', which nobody does. */
	if (!at || n->type != JSON_STRING || n->escaped ||
		base64_read(value, m->doc.text + n->at, n->len))
		return args_wrong(m->said, key, "no base64");
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
