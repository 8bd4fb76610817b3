/* serve_mcp.h - MCP's lines as questions, and answers as MCP's lines
 * SPDX-License-Identifier: MIT
 *
 * Pure: text in, text out. Both eras of the protocol: with `initialize`
 * (2024-11-05 to 2025-11-25), and 2026-07-28, where each request says its version.
 *
 *	err = mcp_read(&m, line, n, initialized);
 *	if (err)
 *		mcp_error(&out, &m.id, err, m.said);
 *	j = mcp_answer(&m, &out);
 *	json_put_str(&j, ...);
 *	rpc_end(&j);
 */
#ifndef WARDBOX_SERVE_MCP_H
#define WARDBOX_SERVE_MCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "serve/serve.h"
#include "serve/serve_args.h"
#include "serve/serve_rpc.h"

enum {
	MCP_LINE_MAX = 4 << 20,
	MCP_INLINE = 32 << 10, /* bytes of a stream in an answer */
	MCP_INLINE_MAX = 1 << 20,
	MCP_VERSION_SIZE = 16,
};

enum mcp_method {
	MCP_OTHER,	/* a notification or an answer that means nothing here */
	MCP_INITIALIZE,
	MCP_PING,
	MCP_DISCOVER,
	MCP_LIST,
	MCP_CALL,
	MCP_CANCELLED,
};

enum mcp_tool {
	MCP_RUN,
	MCP_READ,
	MCP_WRITE,
	MCP_SIGNAL,
	MCP_COMMANDS,
	MCP_WHY,
	MCP_CHANGED,
	MCP_UNDO,
	MCP_TOOLS,
};

struct mcp_message {
	struct json_doc doc;
	enum mcp_method method;
	enum mcp_tool tool; /* CALL */
	bool modern;        /* the request says its version */
	struct rpc_token id, progress;
	struct rpc_token cancelled; /* CANCELLED: whose id */
	char version[MCP_VERSION_SIZE]; /* INITIALIZE, or a modern request's */
	uint32_t arguments; /* CALL: a node; 0: none */
	bool opens;     /* the client opens an address for a person */
	char state[32]; /* CALL: what was answered before, to this call; "" */
	bool refused;   /* CALL: the person did not want to open it */
	char said[128];     /* what is wrong */
};
void mcp_release(struct mcp_message *m);
#define automcp autoclean(mcp_release)

/* Reads a line into an empty m, which is to be released after any result and
 * refers to the line. initialized: `initialize` was answered on this connection.
 * 0, or a code for mcp_error(). */
int mcp_read(struct mcp_message *m, const char *line, size_t n,
	bool initialized);

/* The arguments of any tool. */
struct mcp_args {
	char id[SERVE_ID_SIZE], signal[16];
	struct buf text, cwd, input, paths; /* paths: a NUL behind each */
	bool background, pty, close, dry_run;
	unsigned short rows, cols;
	uint64_t timeout_ns, wait_ns, max, at[SERVE_STREAMS];
};
/* Reads them, to be released after any result. -EINVAL with m->said: one is of
 * another type, or the tool has none of that name. */
int mcp_args_read(struct mcp_message *m, struct mcp_args *a);
void mcp_args_release(struct mcp_args *a);

/* The line of a refusal. */
void mcp_error(struct buf *out, const struct rpc_token *id, int code,
	const char *said);
/* The same of a version that is not spoken. */
void mcp_error_version(
	struct buf *out, const struct rpc_token *id, const char *requested);
/* The beginning of a result's line alone. */
void mcp_open(struct json *j, const struct rpc_token *id);
/* The beginning of a result's line; behind it stand its members, then rpc_end().
 * j writes to out. */
void mcp_begin(struct json *j, const struct rpc_token *id, bool modern,
	const char *version);
/* Whole lines. version is wardbox's. */
void mcp_initialize(
	struct buf *out, const struct mcp_message *m, const char *version);
void mcp_discover(
	struct buf *out, const struct mcp_message *m, const char *version);
void mcp_list(
	struct buf *out, const struct mcp_message *m, const char *version);
void mcp_progress(struct buf *out, const struct rpc_token *token, uint64_t n,
	const char *message);

/* The tools as an array; the name of one. */
void mcp_put_tools(struct json *j);
const char *mcp_tool_name(enum mcp_tool tool);

#endif
