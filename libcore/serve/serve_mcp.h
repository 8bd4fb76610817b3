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
#include "serve/serve_rpc.h"

enum {
	MCP_LINE_MAX = 4 << 20,
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

/* Arguments of a call. -EINVAL (another type) with m->said; value is untouched
 * where the argument is not there. */
int mcp_text(struct mcp_message *m, const char *name, struct buf *value);
/* A list of texts, a NUL behind each. */
int mcp_texts(struct mcp_message *m, const char *name, struct buf *value,
	size_t *count);
int mcp_truth(struct mcp_message *m, const char *name, bool *value);
int mcp_number(struct mcp_message *m, const char *name, uint64_t max,
	uint64_t *value);
/* Seconds, in nanoseconds. */
int mcp_seconds(struct mcp_message *m, const char *name, uint64_t *value);
/* -EINVAL when the tool knows no argument of a name that is there. */
int mcp_known(struct mcp_message *m);

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

/* The tools as a JSON array; the name of one. */
extern const char mcp_tools[];
const char *mcp_tool_name(enum mcp_tool tool);

#endif
