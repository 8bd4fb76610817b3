/* serve_mcp_link.h - one client of MCP at the engine
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_MCP_LINK_H
#define WARDBOX_SERVE_MCP_LINK_H

#include "serve/serve.h"
#include "serve/serve_lines.h"
#include "serve/serve_mcp.h"

struct serve_server;

enum {
	MCP_WAITING_MAX = 256,     /* calls that are not answered yet */
	MCP_OUT_MAX = 64 << 20,    /* answers that were not read yet */
};

struct mcp_link {
	struct serve *engine;
	const char *session; /* whose commands it starts */
	char *const *env;
	const char *version; /* wardbox's */
	uint64_t approver_ns; /* see serve_spec */
	struct serve_server *pages; /* where questions have a page; NULL */
	struct buf answers;  /* lines that a transport is to write */
	void (*said)(struct mcp_link *l); /* there are more of them */
	/* its own */
	bool initialized, gone;
	struct mcp_call *first;
	size_t calls; /* that wait */
};

void mcp_link_init(struct mcp_link *l);
/* What a line asks for; the answers are added to l->answers. */
void mcp_link_line(struct mcp_link *l, const char *line, size_t n);
/* Nobody asks any more: what is waited for may end soon, or is ended. */
void mcp_link_gone(struct mcp_link *l);
/* Lets go of all that waits; the commands stay the engine's. */
void mcp_link_release(struct mcp_link *l);

/* The same by descriptors: lines.in, .out and .over are the caller's to set. */
struct mcp_stdio {
	struct mcp_link link;
	struct serve_lines lines;
};
int mcp_stdio_open(struct mcp_stdio *s);
void mcp_stdio_close(struct mcp_stdio *s);

#endif
