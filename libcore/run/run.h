/* run.h - run a command as if nobody stood between it and its caller
 * SPDX-License-Identifier: MIT
 *
 * One call runs one command to its end. The command gets the descriptors,
 * signal mask, dispositions, process group, directory and limits that this
 * process was given; what is captured on the way goes to a sink. This process
 * must not have changed any disposition, and keeps its own descriptors
 * close-on-exec: those that are not are taken for the caller's.
 */
#ifndef WARDBOX_RUN_H
#define WARDBOX_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/diag.h"
#include "sys/limits.h"
#include "sys/proc.h"
#include "box/sandbox.h"

/* In the numbers of the audit log's io records. */
enum run_stream {
	RUN_STDIN,
	RUN_STDOUT,
	RUN_STDERR,
	RUN_TTYIN,
	RUN_TTYOUT,
	RUN_STREAMS,
};

/* What a sink answers to bytes. */
enum run_answer {
	RUN_MORE,
	RUN_ENOUGH, /* no more of this stream: it is counted, and moved without
		     * being looked at */
	RUN_TAIL,   /* the same, but at the end come .skipped and the last
		     * bytes (some hundred KB of a pipe's) */
};

/* Who is told what passes. Any function may be NULL; all but .lost are called
 * from run(), in this process, never from a signal handler. A negative errno
 * ends the run: the tree is killed, run() returns it (result.status is set).
 *
 * When a background process outlives the command, a forked process goes on
 * pumping for it while run() returns. Before the fork .flush is called, so
 * that nothing is held twice; in the fork .detach: with NULL, or when it does
 * not return 0, the late bytes are only moved. */
struct run_sink {
	void *ctx;
	/* echo is false for RUN_TTYIN while the terminal shows nothing of what
	 * is typed (a password), else true. */
	int (*bytes)(void *ctx, enum run_stream s, const void *p, size_t n,
		bool echo);
	/* So many bytes of the stream were not shown; those that come now are
	 * its last. */
	int (*skipped)(void *ctx, enum run_stream s, uint64_t n);
	int (*winsize)(void *ctx, const struct winsize *ws);
	int (*signal)(void *ctx, int sig); /* forwarded to the command */
	/* The command was started: its pid as seen here. */
	int (*started)(void *ctx, pid_t pid);
	/* The hard limit cuts this stream now. */
	int (*cut)(void *ctx, enum run_stream s);
	int (*timeout_ms)(void *ctx); /* until .due is wanted; -1: never */
	int (*due)(void *ctx);
	/* A question is put to the person at the terminal: the descriptor that
	 * is readable when .ask_look has something to look at; -1: none. Until
	 * then what is typed is not the command's. */
	int (*ask_fd)(void *ctx);
	void (*ask_look)(void *ctx);
	void (*ask_stop)(void *ctx); /* Ctrl-C, which the command had, too */
	int (*flush)(void *ctx);
	int (*detach)(void *ctx);
	/* This process was killed. In one that shares all with it, which may
	 * have ended in the midst of anything: to say so, and no more. */
	void (*lost)(void *ctx);
	/* With run_spec.stays, in the supervisor: the command has ended, as the
	 * result says, and left processes behind. A descriptor that can be read
	 * when their session is over; -EBADF: there is none; another -errno:
	 * they are ended instead. What run() returns to is not to say again what
	 * was said here. */
	int (*stays)(void *ctx);
	/* The same when the process is gone that run() would return to. */
	void (*orphaned)(void *ctx);
	/* Where it is over after a time: milliseconds until then; -1: never. */
	int (*over_ms)(void *ctx);
	/* None of them is left, or none must be (ended). */
	void (*gone)(void *ctx, bool ended);
};

enum run_mode {
	RUN_DIRECT,  /* the descriptors pass through; nothing is captured */
	RUN_CAPTURE, /* pipes and local sockets on 1 and 2 are interposed,
		      * regular files, on 0 as well, read afterwards, the rest
		      * passes */
	RUN_PTY,     /* those of 0, 1, 2 that are the terminal become a new one;
		      * the others as with RUN_CAPTURE */
};

struct run_spec {
	const char *path; /* what to execute, resolved */
	char *const *argv;
	char *const *env;
	const char *cwd;         /* NULL: as it is, deleted even */
	const int *inherited;    /* what run_inherited() found */
	size_t inherited_count;
	struct proc_limits limits; /* which the command has back */
	struct sandbox *sandbox; /* compiled; NULL: nothing is confined */
	enum run_mode mode;
	bool own_job; /* RUN_PTY: makes itself a job, as interactive shells do:
		       * keys are for it alone */
	bool pty_all; /* RUN_PTY: 0, 1, 2 all, though no terminal is there */
	bool kill_tree;     /* what the command leaves behind dies with it */
	/* In place of kill_tree, in a sandbox: what the command leaves behind
	 * lives on, below a supervisor that is another process than this one
	 * (run_front.c). run() returns when the command has ended, then
	 * possibly in a fork, for which this process only waits. */
	bool stays;
	/* RUN_PTY: keys that were typed before, which come first; and then
	 * those that the command left. NULL: they stay in the terminal, as
	 * far as the kernel lets us type. */
	struct buf *unread;
	bool ask_first; /* at a timeout SIGTERM goes to all of the tree, and
			 * 200 ms later what kills it */
	bool swallow; /* RUN_CAPTURE: 1 and 2 become pipes whatever they were,
		       * and only the sink sees what comes out */
	/* A command that lasts must not be kept from closing what it was
	 * given, so this process lets go of descriptors 0 to 2 and of all that
	 * it inherited, unless told not to. */
	bool keep_fds;
	bool keep_stderr;    /* of descriptor 2 alone: the caller has something
			      * to say on it afterwards */
	uint64_t timeout_ns; /* then the tree is killed; 0: never. For a run
			      * without limits in a sandbox */
	uint64_t output_max; /* bytes of 1 and 2 (or the terminal) together */
	bool output_hard;    /* beyond output_max nothing is passed on */
	const struct run_sink *sink; /* NULL: no one is told */
	/* Called whenever also_fd can be read; NULL: it is not looked at. Its end
	 * is no event. */
	void (*also)(void *ctx);
	void *also_ctx;
	int also_fd;
};

struct run_result {
	bool started; /* false: nothing ran; d says why, .code is the exit */
	int code;     /* when not started: 125, 126 or 127 */
	int status;   /* wait status of the command */
	struct rusage usage;
	uint64_t duration_ns;
	enum limits_kind limit;      /* what was exceeded and ended it */
	uint64_t refused; /* programs not started: too many processes */
	/* Of those the ones that their parents did not start later either, and
	 * the first one's name. */
	uint32_t unstarted;
	char unstarted_name[WATCH_NAME];
	bool timed_out;              /* by limits.wall_ns or timeout_ns */
	uint64_t bytes[RUN_STREAMS]; /* all of them; files by their growth */
	unsigned captured;           /* bit per stream: was shown to the sink */
	unsigned truncated; /* bit per stream: the sink had not all of it */
	bool cut;           /* output_hard struck */
	bool detached;      /* another process goes on for those left behind */
	/* What kill_tree ended: how many processes, and one of them. */
	unsigned ended;
	pid_t ended_pid;
	char ended_name[16];
	/* SIGTERM or SIGHUP, when this process was told to end, and not by the
	 * command itself; 0. */
	int told;
	/* All signals are still blocked on return, so that what is left to do
	 * is done whatever comes; this is what they were. */
	sigset_t mask;
};

/* Runs spec to its end. 0: see result (.started may be false). -errno: this
 * side failed (a sink's error too); when .started is set, what ran was killed
 * and .status is there. */
int run(const struct run_spec *spec, struct run_result *result, struct diag *d);

/* The descriptors from 3 on that the caller of this process left open for the
 * command: to be named in sandbox_plan.keep_fds. The count, at most max. */
size_t run_inherited(int *fds, size_t max);

#endif
