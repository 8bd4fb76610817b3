/* serve_mcp.c - MCP's lines as questions
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_mcp.h"

#include <string.h>

#include "base/kconfig.h"
#include "base/str.h"

#define META "io.modelcontextprotocol/"

void mcp_release(struct mcp_message *m)
{
	json_doc_release(&m->doc);
}

static int refuse_line(struct mcp_message *m, int code, const char *said)
{
	(void)str_copy(m->said, sizeof m->said, said);
	return code;
}

static int read_method(struct mcp_message *m, const char *name)
{
	static const char names[] = "initialize\0ping\0server/discover\0"
				    "tools/list\0tools/call\0"
				    "notifications/cancelled\0";
	int i = str_index(names, name);

	m->method = i < 0 ? MCP_OTHER : (enum mcp_method)(i + MCP_INITIALIZE);
	if (m->method != MCP_OTHER || !m->id.len)
		return 0;
	return refuse_line(m, RPC_METHOD, "there is no such method");
}

/* The members of _meta. A request that says a version speaks 2026-07-28. */
static int read_meta(struct mcp_message *m, uint32_t params)
{
	uint32_t meta = rpc_member(&m->doc, params, "_meta");
	uint32_t version = rpc_member(&m->doc, meta, META "protocolVersion");
	uint32_t can = rpc_member(&m->doc, meta, META "clientCapabilities");

	rpc_token(&m->doc, rpc_member(&m->doc, meta, "progressToken"),
		&m->progress);
	if (!version)
		return 0;
	m->modern = true;
	if (!rpc_string(&m->doc, version, m->version, sizeof m->version))
		return refuse_line(m, RPC_PARAMS, "_meta: no protocol version");
	if (!str_eq(m->version, "2026-07-28"))
		return refuse_line(m, RPC_VERSION, "Unsupported protocol version");
	if (!can || json_type(&m->doc, can) != JSON_OBJECT)
		return refuse_line(m, RPC_PARAMS, "_meta: no clientCapabilities");
	m->opens = rpc_member(&m->doc, rpc_member(&m->doc, can, "elicitation"),
		"url");
	return 0;
}

/* The same call again, behind an answer that asked for something. */
static void read_state(struct mcp_message *m, uint32_t params)
{
	uint32_t got = rpc_member(&m->doc,
		rpc_member(&m->doc, params, "inputResponses"), "approval");
	char action[16];

	(void)rpc_string(&m->doc, rpc_member(&m->doc, params, "requestState"),
		m->state, sizeof m->state);
	m->refused = rpc_string(&m->doc, rpc_member(&m->doc, got, "action"),
			     action, sizeof action) &&
		!str_eq(action, "accept");
}

static int read_call(struct mcp_message *m, uint32_t params)
{
	char name[32];
	uint32_t args = rpc_member(&m->doc, params, "arguments");

	if (!rpc_string(&m->doc, rpc_member(&m->doc, params, "name"), name,
		    sizeof name))
		return refuse_line(m, RPC_PARAMS, "tools/call: no name");
	for (m->tool = 0; m->tool < MCP_TOOLS; m->tool++)
		if (str_eq(name, mcp_tool_name(m->tool)))
			break;
	if (m->tool == MCP_TOOLS || (m->tool >= MCP_CHANGED &&
					    !IS_ENABLED(CONFIG_APPLET_UNDO)))
		return refuse_line(m, RPC_PARAMS, "there is no such tool");
	if (args && json_type(&m->doc, args) != JSON_OBJECT)
		return refuse_line(m, RPC_PARAMS, "arguments: no object");
	m->arguments = args;
	read_state(m, params);
	return 0;
}

static int read_params(struct mcp_message *m, uint32_t params, bool initialized)
{
	const struct json_doc *doc = &m->doc;

	switch (m->method) {
	case MCP_INITIALIZE:
		(void)rpc_string(doc, rpc_member(doc, params, "protocolVersion"),
			m->version, sizeof m->version);
		m->modern = false;
		return 0;
	case MCP_CANCELLED:
		rpc_token(doc, rpc_member(doc, params, "requestId"),
			&m->cancelled);
		return 0;
	case MCP_DISCOVER:
	case MCP_LIST:
	case MCP_CALL:
		if (!m->modern && (!initialized || m->method == MCP_DISCOVER))
			return refuse_line(m, RPC_PARAMS,
				"neither initialized nor a version in _meta");
		return m->method == MCP_CALL ? read_call(m, params) : 0;
	case MCP_OTHER:
	case MCP_PING:
		break;
	}
	return 0;
}

int mcp_read(struct mcp_message *m, const char *line, size_t n,
	bool initialized)
{
	char text[64];
	uint32_t id, method, params;
	int err;

	if (json_read(&m->doc, line, n, NULL))
		return refuse_line(m, RPC_PARSE, "no JSON");
	if (json_type(&m->doc, 0) != JSON_OBJECT)
		return refuse_line(m, RPC_REQUEST, "no request: one object a line");
	id = json_find(&m->doc, 0, "id");
	method = json_find(&m->doc, 0, "method");
	if (!method)
		return 0; /* an answer to what was not asked */
	if (id && !rpc_token(&m->doc, id, &m->id))
		return refuse_line(m, RPC_REQUEST, "id: a string or a number");
	if (!rpc_string(&m->doc, json_find(&m->doc, 0, "jsonrpc"), text,
		    sizeof text) || !str_eq(text, "2.0"))
		return refuse_line(m, RPC_REQUEST, "jsonrpc: not 2.0");
	if (!rpc_string(&m->doc, method, text, sizeof text))
		return refuse_line(m, m->id.len ? RPC_METHOD : 0, "no method");
	params = json_find(&m->doc, 0, "params");
	if (params && json_type(&m->doc, params) != JSON_OBJECT)
		return refuse_line(m, RPC_PARAMS, "params: no object");
	if (!str_eq(text, "initialize") && (err = read_meta(m, params)))
		return err;
	err = read_method(m, text);
	if (!err && !m->id.len && m->method != MCP_CANCELLED)
		m->method = MCP_OTHER;
	return err ? err : read_params(m, params, initialized);
}
