/* serve_lines.h - lines from a client by descriptors, and lines back
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SERVE_LINES_H
#define WARDBOX_SERVE_LINES_H

#include "base/buf.h"
#include "serve/serve_loop.h"

enum {
	LINES_READ = 65536,      /* bytes at a time */
	LINES_ENOUGH = 1 << 20,  /* so many wait, and no more lines are read */
};

struct serve_lines {
	struct serve_loop *loop;
	int in, out; /* of any kind; they may be the same; the caller closes them */
	size_t max;  /* bytes of a line */
	struct buf *answers; /* what is to be written */
	const size_t *waiting; /* how many answers are still to come */
	/* A line; NULL: it was longer than max. */
	void (*take)(struct serve_lines *l, const char *line, size_t n);
	/* The client has gone: no line comes any more. */
	void (*gone)(struct serve_lines *l);
	/* Answers were written, and there is room for more. NULL: nobody waits. */
	void (*room)(struct serve_lines *l);
	/* The client has gone, and all that it asked for is answered; or it cannot
	 * be written to. */
	void (*over)(struct serve_lines *l);
	/* its own */
	struct serve_watch read, write;
	struct buf line;
	bool skipping; /* the rest of a line that was too long */
	bool ended;
};

/* Begins to read. -errno. */
int serve_lines_open(struct serve_lines *l);
void serve_lines_close(struct serve_lines *l);
/* Writes what is there to be written. */
void serve_lines_flush(struct serve_lines *l);

#endif
