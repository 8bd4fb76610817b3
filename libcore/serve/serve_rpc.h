/* serve_rpc.h - what JSON-RPC's dialects share
 * SPDX-License-Identifier: MIT
 *
 * Pure. Node 0 is the whole message, and stands for what is not there, too.
 */
#ifndef WARDBOX_SERVE_RPC_H
#define WARDBOX_SERVE_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/json_read.h"

enum { RPC_ID_MAX = 256 }; /* bytes of an id or a progress token, as JSON */

/* JSON-RPC's codes, MCP's and codex's. */
enum rpc_code {
	RPC_PARSE = -32700,
	RPC_REQUEST = -32600,
	RPC_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_VERSION = -32022,
	RPC_HEAD = -32020,
	RPC_MISSING = -32004,
};

/* An id or a progress token, as the text that it came as; len 0: none. */
struct rpc_token {
	char text[RPC_ID_MAX];
	size_t len;
};

/* The value of key in an object; 0 where one of both is not there. */
uint32_t rpc_member(const struct json_doc *doc, uint32_t node, const char *key);
/* A string or a number. */
bool rpc_token(const struct json_doc *doc, uint32_t node, struct rpc_token *t);
/* A string that fits; to is "" when it is none. */
bool rpc_string(
	const struct json_doc *doc, uint32_t node, char *to, size_t size);

/* The token, null where there is none. */
void rpc_put_token(struct json *j, const char *key, const struct rpc_token *t);
/* Closes all that is open, and the line. */
void rpc_end(struct json *j);

#endif
