/* serve.h - commands of sessions, for whoever asks from outside
 * SPDX-License-Identifier: MIT
 *
 * A command is a process of this binary, `wardbox exec`: decided, confined and
 * recorded by the guard. Here stand its streams and how it went. A transport
 * (MCP, WebSocket …) translates; it starts nothing by itself.
 *
 *	struct serve_spec s = {.session = id, .argv = argv};
 *
 *	err = serve_start(&engine, &s, &c, &d);
 *	serve_attach(c, &reader);	reader.changed is called from the loop
 *	n = serve_peek(c, SERVE_OUT, &reader.at[SERVE_OUT], &bytes);
 *	serve_took(&reader, SERVE_OUT, n);
 *
 * Output is kept in memory, in rings that are bounded. While a reader is attached
 * the command waits for the slowest one. While none is, or one that only looks, the
 * oldest bytes go, and a reader who comes back is told how many.
 */
#ifndef WARDBOX_SERVE_H
#define WARDBOX_SERVE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/diag.h"
#include "serve/serve_loop.h"
#include "session/session.h"
#include "sys/proc.h"

enum serve_stream {
	SERVE_OUT, /* stdout; of a terminal, all of it */
	SERVE_ERR,
	SERVE_STREAMS,
};

enum {
	SERVE_ID_SIZE = 24,
	SERVE_TEXT_MAX = 4096, /* of a command line that lists show */
	SERVE_RING_MIN = 16 << 10,
	SERVE_RING_MAX = 4 << 20,   /* bytes kept of a stream */
	SERVE_KEPT_MAX = 256 << 20, /* of all streams together */
	SERVE_INPUT_MAX = 1 << 20,  /* waiting to be read by one command */
	SERVE_COMMANDS_MAX = 1024,  /* that run at a time */
	SERVE_ENDED_MAX = 256,      /* that are remembered after their end */
};

/* The last bytes of a stream: data[begin..end) of it. */
struct serve_ring {
	char *data;
	size_t cap; /* a power of two; 0: nothing was read yet */
	uint64_t begin, end;
};

/* How it went, as `wardbox exec --report` says it. */
struct serve_report {
	bool there;    /* false: it has not ended, or could not say it */
	bool ran;      /* false: denied, or it could not be started */
	bool timed_out;
	int code, signal;
	char decision[8], profile[16], rule[48], correlation[40];
	char message[232], hint[160]; /* why it did not run, "" else */
	uint64_t duration_ms, cpu_ms, memory;
	uint64_t journal; /* of what it changed, for undo; 0: none */
};

struct serve_spec {
	const char *session; /* its id */
	const char *cwd;     /* below the session's; NULL: there */
	const char *directory; /* where it stands; NULL: where the server does */
	const char *argv0;   /* NULL: argv[0] */
	char *const *argv;
	char *const *env;    /* the server's own */
	const char *text;    /* what a list shows; NULL: argv[0] */
	uint64_t timeout_ns; /* 0: the policy's alone */
	uint64_t approver_ns; /* a question waits so long; 0: it is a denial */
	bool pty;
	bool own; /* argv is an applet of this binary's, and no command: it is in no
		   * list, and to be forgotten */
	bool input; /* stdin stays open for serve_write(); else it is empty */
	const struct buf *options; /* further ones of exec, a NUL behind each; NULL */
	int file; /* a memory file that is its stdin; 0: none */
	int variables; /* one with variables for the command; 0: none */
	unsigned short rows, cols; /* 0: 24, 80 */
};

struct serve;
struct serve_command {
	struct serve_grave grave;
	struct serve *engine;
	struct serve_command *next;
	char id[SERVE_ID_SIZE];
	char session[SESSION_ID_MAX + 1];
	char *text;
	bool pty, own;
	bool ended; /* all that it printed before its end has been read */
	bool orphan; /* it goes when it ends: nobody can ask for it */
	uint64_t started_ns, ended_ns; /* wall clock */
	/* Where whoever keeps no cursor of its own goes on: a transport's. */
	uint64_t seen[SERVE_STREAMS];
	struct serve_report report;    /* .code, .signal count when ended */
	unsigned short rows, cols; /* of its terminal; of pipes what one would have */
	char question[16]; /* the id of one that waits for approve; "" */
	/* Of the slip by which it may be answered once; see serve_slip.h. */
	unsigned char slip[32];
	bool slipped;
	/* serve's own */
	pid_t pid;
	int status;
	bool gone; /* the process has ended */
	bool stopping; /* by serve_stop() */
	int fd[SERVE_STREAMS], in; /* -1: closed */
	struct serve_watch process, output[SERVE_STREAMS], input, said;
	struct serve_timer kill, resized;
	struct serve_ring ring[SERVE_STREAMS];
	struct buf waiting; /* for its stdin */
	struct buf told;    /* of its report, what has no line's end yet */
	bool closing;             /* stdin ends behind .waiting */
	struct serve_reader *readers;
};

/* Who follows a command. */
struct serve_reader {
	struct serve_command *command; /* NULL: attached to none */
	struct serve_reader *next;
	bool looks; /* is not waited for: what it is too slow for it loses */
	uint64_t at[SERVE_STREAMS];   /* what stands before has been taken */
	uint64_t lost[SERVE_STREAMS]; /* bytes that went before they were */
	/* There is more, it has ended, has read its input, or asks. It may detach, not free itself. */
	void (*changed)(struct serve_reader *r);
};

struct serve {
	struct serve_loop loop;
	struct serve_command *first; /* newest first */
	size_t running, ended;
	size_t kept; /* bytes of all rings */
	uint64_t last_id;
	struct proc_limits limits; /* that this process raised for itself */
	sigset_t mask; /* what this process was called with: the children's */
	size_t ring_max; /* SERVE_RING_MAX, or less */
	bool keeps; /* what commands leave running outlives this process */
};
#define SERVE_INIT ((struct serve){.loop = SERVE_LOOP_INIT, \
	.ring_max = SERVE_RING_MAX})

/* Blocks all signals: who wants to hear of one asks the kernel for a descriptor. */
int serve_open(struct serve *s);
/* What runs is told to end (SIGTERM, a second later SIGKILL), and waited for:
 * its record is whole. The signals are as they were. */
void serve_close(struct serve *s);

/* -EAGAIN: too many run; -errno with d. */
int serve_start(struct serve *s, const struct serve_spec *spec,
	struct serve_command **out, struct diag *d);
struct serve_command *serve_find(const struct serve *s, const char *id);
/* Forgets a command that has ended; one that runs is told to end before. */
void serve_forget(struct serve_command *c);

/* To its stdin: all of it, or -EPIPE (closed), -ENOBUFS (it does not read). */
int serve_write(struct serve_command *c, const void *bytes, size_t n);
/* Ends its stdin behind what was written; of a terminal, types Ctrl-D. */
int serve_shut(struct serve_command *c);
/* -ENOTTY, or -errno. */
int serve_resize(
	struct serve_command *c, unsigned short rows, unsigned short cols);
/* -ESRCH: it has ended. */
int serve_signal(struct serve_command *c, int sig);
/* SIGTERM, a second later SIGKILL. */
void serve_stop(struct serve_command *c);

void serve_attach(struct serve_command *c, struct serve_reader *r);
void serve_detach(struct serve_reader *r);
/* The bytes from *at on that lie together; their count, 0: none yet. Where the
 * bytes at *at are gone, *at is moved, and r->lost counts them. */
size_t serve_peek(struct serve_reader *r, enum serve_stream stream,
	const char **bytes);
/* So many of them were taken; the command may go on. */
void serve_took(struct serve_reader *r, enum serve_stream stream, size_t n);
/* Appends to out what the stream has from *at on, at most max bytes, and moves
 * *at; the bytes that were gone. */
uint64_t serve_copy(const struct serve_command *c, enum serve_stream stream,
	uint64_t *at, size_t max, struct buf *out);

/* A line of what exec reports: how it went, or, with r->there false, the question
 * that waits, "" none. -EINVAL. */
int serve_report_read(struct serve_report *r, char question[static 16],
	const char *text, size_t n);

/* A server ends by SIGTERM, SIGINT and SIGHUP: what runs is told to end, and
 * recorded. The signals are blocked. 0 or -errno. */
struct serve_ending {
	struct serve_watch watch;
	struct serve *engine;
	void (*hangup)(struct serve_ending *e); /* of SIGHUP; NULL: the end */
};
int serve_watch_ending(struct serve_ending *e);

#endif
