/* serve_mcp_in.h - what the files of an MCP client share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_MCP_IN_H
#define WARDBOX_SERVE_MCP_IN_H

#include "serve/serve_in.h"
#include "serve/serve_mcp_link.h"

/* A call that waits for its command. */
struct mcp_call {
	struct serve_grave grave;
	struct mcp_link *link;
	struct mcp_call *next;
	struct rpc_token id, progress;
	bool opens, asked; /* see mcp_message; the question has been passed on */
	bool modern, run; /* run: answered when it ends; else when it changes */
	char of[SERVE_ID_SIZE]; /* CHANGED, UNDO: which command's */
	size_t max;
	uint64_t at[SERVE_STREAMS]; /* where the answer begins */
	uint64_t told, started_ns;
	struct serve_reader reader;
	struct serve_timer tick; /* progress, or the end of waiting */
};

/* The answer about a command: its output from at on (NULL: none), both as text
 * and structured. */
void mcp_answer_command(struct mcp_link *l, const struct rpc_token *id,
	bool modern, struct serve_command *c, uint64_t *at, size_t max);
/* A person's yes is needed, by the page at url. */
void mcp_answer_page(struct mcp_link *l, const struct rpc_token *id,
	const struct serve_command *c, const char *url);
/* What an applet said about the command of; code 0: as JSON. */
void mcp_answer_own(struct mcp_link *l, const struct rpc_token *id, bool modern,
	const char *of, struct serve_command *c);
/* A call's own failure, which the model is to read. */
void mcp_answer_wrong(struct mcp_link *l, const struct mcp_message *m,
	const char *said, const char *hint);
/* {"id": ...} */
void mcp_answer_done(struct mcp_link *l, const struct mcp_message *m,
	const struct serve_command *c);
void mcp_answer_commands(struct mcp_link *l, const struct mcp_message *m);

/* Does what the call says; answers, or waits. */
void mcp_do(struct mcp_link *l, struct mcp_message *m);
void mcp_call_drop(struct mcp_call *call);
void mcp_cancel(struct mcp_link *l, const struct rpc_token *id);

#endif
