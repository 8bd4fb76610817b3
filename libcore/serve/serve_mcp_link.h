/* serve_mcp_link.h - one client of MCP at the engine
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_MCP_LINK_H
#define WARDBOX_SERVE_MCP_LINK_H

#include "serve/serve.h"
#include "serve/serve_mcp.h"

enum {
	MCP_WAITING_MAX = 256,     /* calls that are not answered yet */
	MCP_OUT_MAX = 64 << 20,    /* answers that were not read yet */
	MCP_OUT_ENOUGH = 1 << 20,  /* so many, and no more questions are read */
	MCP_INLINE = 32 << 10,     /* bytes of a stream in an answer */
	MCP_INLINE_MAX = 1 << 20,
};

struct mcp_link {
	struct serve *engine;
	const char *session; /* whose commands it starts */
	char *const *env;
	const char *version; /* wardbox's */
	uint64_t approver_ns; /* see serve_spec */
	int in, out;         /* they may be the same; closed by the caller */
	/* The client has gone, and all that it asked for is answered. */
	void (*over)(struct mcp_link *l);
	/* its own */
	struct serve_watch read, write;
	struct buf line, answers;
	bool skipping; /* the rest of a line that was too long */
	bool initialized, ended;
	struct mcp_call *first;
	size_t calls;
};

/* Begins to read. -errno. in and out may be of any kind. */
int mcp_link_open(struct mcp_link *l);
/* Lets go of all that waits; the commands stay the engine's. */
void mcp_link_close(struct mcp_link *l);
/* What a line asks for; the answers are added to l->answers. */
void mcp_link_line(struct mcp_link *l, const char *line, size_t n);

#endif
