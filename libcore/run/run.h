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

/* Streams, numbered as in the audit log's io records. */
enum run_stream {
	RUN_STDIN,
	RUN_STDOUT,
	RUN_STDERR,
	RUN_TTYIN,
	RUN_TTYOUT,
	RUN_STREAMS,
};

/* The answer of a sink to bytes. */
enum run_answer {
	RUN_MORE,
	RUN_ENOUGH, /* no more of this stream: it is counted, and moved without
		     * being looked at */
	RUN_TAIL,   /* the same, but .skipped and the last bytes come at the end
		     * (some hundred KB of a pipe) */
};

/* The receiver of what passes. Any function may be NULL. All but .lost are
 * called from run(), in this process, never from a signal handler. A negative
 * errno ends the run: the tree is killed, and run() returns it (result.status
 * is set). When a background process outlives the command, a forked process
 * goes on pumping for it while run() returns. .flush is called before that
 * fork, so that nothing is held twice, and .detach in it; with NULL, or if
 * .detach does not return 0, the late bytes are only moved. */
struct run_sink {
	void *ctx;
	/* echo is false for RUN_TTYIN while the terminal shows nothing of what
	 * is typed (a password), else true. */
	int (*bytes)(void *ctx, enum run_stream s, const void *p, size_t n,
		bool echo);
	/* n bytes of the stream were not shown; the bytes that follow are its
	 * last. */
	int (*skipped)(void *ctx, enum run_stream s, uint64_t n);
	int (*winsize)(void *ctx, const struct winsize *ws);
	int (*signal)(void *ctx, int sig); /* a signal was forwarded to the
					    * command */
	/* The command was started: its pid, as seen here. */
	int (*started)(void *ctx, pid_t pid);
	/* The hard limit cuts this stream now. */
	int (*cut)(void *ctx, enum run_stream s);
	int (*timeout_ms)(void *ctx); /* until .due is wanted; -1: never */
	int (*due)(void *ctx);
	/* While a question is put to the person at the terminal: the descriptor
	 * that is readable when .ask_look has something to look at; -1: no
	 * question. What is typed meanwhile does not reach the command. */
	int (*ask_fd)(void *ctx);
	void (*ask_look)(void *ctx);
	void (*ask_stop)(void *ctx); /* Ctrl-C was typed, which the command got,
				      * too */
	int (*flush)(void *ctx);
	int (*detach)(void *ctx);
	/* This process was killed. Called in a process that shares all memory
	 * with it and may have interrupted anything: only for recording
	 * that. */
	void (*lost)(void *ctx);
	/* With run_spec.stays, in the supervisor: the command has ended, with
	 * this result, and left processes behind. A descriptor that becomes
	 * readable when their session is over; -EBADF: there is none; another
	 * -errno: the processes are ended instead. The process in which run()
	 * returns must not record the same again. */
	int (*stays)(void *ctx);
	/* The same, when the process in which run() would return is gone. */
	void (*orphaned)(void *ctx);
	/* Milliseconds until the session is over by its time; -1: never. */
	int (*over_ms)(void *ctx);
	/* No process is left, or none may be left (ended). */
	void (*gone)(void *ctx, bool ended);
};

enum run_mode {
	RUN_DIRECT,  /* the descriptors pass through; nothing is captured */
	RUN_CAPTURE, /* pipes and local sockets on 1 and 2 are interposed;
		      * regular files, also on 0, are read afterwards; the rest
		      * passes through */
	RUN_PTY,     /* descriptors 0, 1, 2 that are the terminal become a new
		      * one; the others as with RUN_CAPTURE */
};

struct run_spec {
	const char *path; /* the file to execute, resolved */
	char *const *argv;
	char *const *env;
	const char *cwd;         /* NULL: the current directory, even if
				  * deleted */
	const int *inherited;    /* descriptors found by run_inherited() */
	size_t inherited_count;
	struct proc_limits limits; /* limits that the command gets back */
	struct sandbox *sandbox; /* compiled; NULL: nothing is confined */
	enum run_mode mode;
	bool own_job; /* RUN_PTY: the command is a job by itself, as in
		       * interactive shells: keys are for it alone */
	bool pty_all; /* RUN_PTY: 0, 1 and 2 become the new terminal, although
		       * none is there */
	bool kill_tree;     /* background programs die with the command */
	/* In place of kill_tree, in a sandbox: background programs live on,
	 * below a supervisor that is another process (run_front.c). run()
	 * returns when the command has ended, possibly in a fork, and then this
	 * process only waits for that. */
	bool stays;
	/* RUN_PTY: keys that were typed before come first; afterwards holds the
	 * keys that the command did not read. NULL: unread keys stay in the
	 * terminal, as far as the kernel lets us put them back. */
	struct buf *unread;
	bool ask_first; /* at a timeout all of the tree gets SIGTERM, and is
			 * killed 200 ms later */
	bool swallow; /* RUN_CAPTURE: 1 and 2 become pipes whatever they were,
		       * and only the sink gets the output */
	/* Keeps descriptors 0 to 2 and the inherited ones. Otherwise this
	 * process closes them while the command lasts, so that files end when
	 * the command closes them. */
	bool keep_fds;
	bool keep_stderr;    /* keeps descriptor 2 alone, because the caller
			      * writes to it afterwards */
	uint64_t timeout_ns; /* when the tree is killed; 0: never. For a run
			      * without limits in a sandbox */
	uint64_t output_max; /* bytes of 1 and 2 (or of the terminal)
			      * together */
	bool output_hard;    /* beyond output_max nothing is passed on */
	const struct run_sink *sink; /* NULL: nobody */
	/* Called when also_fd is readable; NULL: not looked at. The end of
	 * also_fd is no event. */
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
	enum limits_kind limit;      /* the limit that ended the command */
	uint64_t refused; /* programs not started: too many processes */
	/* Those of them that their parents did not start later either, and the
	 * first one's name. */
	uint32_t unstarted;
	char unstarted_name[WATCH_NAME];
	bool timed_out;              /* by limits.wall_ns or timeout_ns */
	uint64_t bytes[RUN_STREAMS]; /* of each stream; for files their
				      * growth */
	unsigned captured;           /* bit per stream: was shown to the sink */
	unsigned truncated; /* bit per stream: the sink did not get all of it */
	bool cut;           /* output_hard struck */
	bool detached;      /* another process goes on for background
			     * programs */
	/* Processes that kill_tree ended, and one of them. */
	unsigned ended;
	pid_t ended_pid;
	char ended_name[16];
	/* SIGTERM or SIGHUP, when somebody other than the command told this
	 * process to end; else 0. */
	int told;
	/* The former signal mask: all signals are still blocked on return, so
	 * that the caller can finish its work first. */
	sigset_t mask;
};

/* Runs spec to its end. 0: see result (.started may be false). -errno: this
 * side failed (or a sink); when .started is set, the command was killed, and
 * .status is set. */
int run(const struct run_spec *spec, struct run_result *result, struct diag *d);

/* The descriptors from 3 on that the caller of this process left open for the
 * command, for sandbox_plan.keep_fds. Returns their number, at most max. */
size_t run_inherited(int *fds, size_t max);

#endif
