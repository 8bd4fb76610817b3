/* serve_mcp_write.c - answers as MCP's lines
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_mcp.h"

#include "base/str.h"

enum { LIST_TTL_MS = 3600000 };

static const char about_server[] =
	"Commands run through wardbox: each is decided by a policy, confined by"
	" the kernel and recorded. A denial says its rule and what to do instead:"
	" follow that, do not try to get round it.";

/* The versions that begin with `initialize`, the newest first. */
static const char legacy_versions[] =
	"2025-11-25\0" "2025-06-18\0" "2025-03-26\0" "2024-11-05\0";

static void open_line(struct json *j, const struct rpc_token *id)
{
	json_open(j, '{');
	json_put_str(j, "jsonrpc", "2.0");
	if (id)
		rpc_put_token(j, "id", id);
}

static void open_error(struct json *j, const struct rpc_token *id, int code,
	const char *said)
{
	open_line(j, id);
	json_put_open(j, "error", '{');
	json_put_i64(j, "code", code);
	json_put_str(j, "message", said);
}

void mcp_error(struct buf *out, const struct rpc_token *id, int code,
	const char *said)
{
	struct json j = JSON_INIT(out);

	open_error(&j, id, code, said);
	rpc_end(&j);
}

static void put_versions(struct json *j, const char *key)
{
	json_put_open(j, key, '[');
	json_str(j, "2026-07-28");
	for (size_t i = 0; *str_nth(legacy_versions, i); i++)
		json_str(j, str_nth(legacy_versions, i));
	json_close(j);
}

void mcp_error_version(
	struct buf *out, const struct rpc_token *id, const char *requested)
{
	struct json j = JSON_INIT(out);

	open_error(&j, id, RPC_VERSION, "Unsupported protocol version");
	json_put_open(&j, "data", '{');
	put_versions(&j, "supported");
	json_put_str(&j, "requested", requested);
	rpc_end(&j);
}

static void put_server(struct json *j, const char *key, const char *version)
{
	json_put_open(j, key, '{');
	json_put_str(j, "name", "wardbox");
	json_put_str(j, "version", version);
	json_close(j);
}

void mcp_open(struct json *j, const struct rpc_token *id)
{
	open_line(j, id);
	json_put_open(j, "result", '{');
}

void mcp_begin(struct json *j, const struct rpc_token *id, bool modern,
	const char *version)
{
	mcp_open(j, id);
	if (!modern)
		return;
	json_put_str(j, "resultType", "complete");
	json_put_open(j, "_meta", '{');
	put_server(j, "io.modelcontextprotocol/serverInfo", version);
	json_close(j);
}

static void put_tools(struct json *j)
{
	json_put_open(j, "capabilities", '{');
	json_put_open(j, "tools", '{');
	json_close(j);
	json_close(j);
}

void mcp_initialize(
	struct buf *out, const struct mcp_message *m, const char *version)
{
	struct json j = JSON_INIT(out);
	bool known = m->version[0] && str_index(legacy_versions, m->version) >= 0;

	mcp_begin(&j, &m->id, false, version);
	json_put_str(&j, "protocolVersion", known ? m->version : legacy_versions);
	put_tools(&j);
	put_server(&j, "serverInfo", version);
	json_put_str(&j, "instructions", about_server);
	rpc_end(&j);
}

/* How long the answer may be kept. */
static void put_cache(struct json *j)
{
	json_put_u64(j, "ttlMs", LIST_TTL_MS);
	json_put_str(j, "cacheScope", "public");
}

void mcp_discover(
	struct buf *out, const struct mcp_message *m, const char *version)
{
	struct json j = JSON_INIT(out);

	mcp_begin(&j, &m->id, true, version);
	put_versions(&j, "supportedVersions");
	put_tools(&j);
	json_put_str(&j, "instructions", about_server);
	put_cache(&j);
	rpc_end(&j);
}

void mcp_list(
	struct buf *out, const struct mcp_message *m, const char *version)
{
	struct json j = JSON_INIT(out);

	mcp_begin(&j, &m->id, m->modern, version);
	json_key(&j, "tools");
	mcp_put_tools(&j);
	if (m->modern)
		put_cache(&j);
	rpc_end(&j);
}

void mcp_progress(struct buf *out, const struct rpc_token *token, uint64_t n,
	const char *message)
{
	struct json j = JSON_INIT(out);

	open_line(&j, NULL);
	json_put_str(&j, "method", "notifications/progress");
	json_put_open(&j, "params", '{');
	rpc_put_token(&j, "progressToken", token);
	json_put_u64(&j, "progress", n);
	json_put_str(&j, "message", message);
	rpc_end(&j);
}
