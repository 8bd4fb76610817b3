/* run_in.h - one command's run, from its descriptors to its end
 * SPDX-License-Identifier: MIT
 *
 * Private to run*.c.
 */
#ifndef WARDBOX_RUN_IN_H
#define WARDBOX_RUN_IN_H

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "sys/proc.h"
#include "sys/pty.h"
#include "sys/pump.h"
#include "run/run.h"

enum run_pump {
	RUN_OUT,
	RUN_ERR,
	RUN_KEYS,
	RUN_SCREEN,
	RUN_PUMPS,
};

/* A regular file on 0, 1 or 2: read afterwards, from where it was read from or
 * began to grow. */
struct run_file {
	bool on, append;
	off_t start;
};

/* Tells the witness, or the supervisor, that the process it serves is gone. */
#define RUN_SIG_LOST SIGRTMAX

struct run_state {
	const struct run_spec *spec;
	struct run_result *result;
	struct diag *d;
	int talk[2];   /* with the monitor: our end, its end; -1: no pty */
	bool in_front; /* the command has the keyboard */
	bool typed;    /* it is a person's, not a pipe */
	bool suspends; /* the key for it was typed */
	bool hung_up;  /* the person's terminal is gone, and all were told */
	pid_t group;   /* the command's, on its terminal; 0: not known yet */
	bool told;     /* the monitor said how the command ended: */
	int told_status;
	int null;
	int sigfd;
	pid_t pid;
	uint64_t start_ns;
	unsigned forwarded; /* signals, to the command */
	uint64_t asked_ns; /* when all were told to end; 0: not yet */
	uint64_t passed; /* output so far */
	bool reaped, settled, detached;
	int died_of;   /* a signal that came when the command was gone */
	int err;       /* a sink's, or our own: the run is to end */
	unsigned seen; /* bit per stream that the sink had enough of */
	pid_t front;     /* run_front.c: the process that the caller waits for; 0:
			  * this one */
	pid_t group_of_front;
	int link[2];     /* between the two: the front's end, and ours */
	bool front_lost; /* it was killed */
	bool over;       /* this supervisor was told to end what lives on */
	/* What the front leaves here: enum run_stop; that it has a successor. */
	volatile int awake;
	volatile bool parted;
	volatile bool passed_on; /* all signals that had come */
	bool left;       /* the command has ended, but not all of its tree */
	bool living;     /* the command has ended, and the run is for the rest */
	int session;     /* readable: what lives on is to end; -1 */
	pid_t canary, self; /* the witness, and this process */
	void *stacks[2];    /* of a witness and its successor */
	unsigned stack;     /* which is in use */
	pid_t stopped, watcher; /* the command while we stop with it, and who
				 * looks at it (run_wake.c) */
	void *watcher_stack;
	volatile int woken_by; /* enum run_wake: the watcher's reason */
	bool also_ended; /* nothing comes from spec.also_fd any more */
	bool slept; /* since the last poll this process was stopped */
	int space; /* a namespace of the tree alone; -1: it has none */
	/* What is large stands last: all else is near the struct's begin. */
	struct buf others; /* children from before, without a sandbox */
	uint64_t shown[RUN_STREAMS]; /* bytes that it had */
	int theirs[RUN_PUMPS]; /* the command's ends, until it has them */
	uint64_t due[RUN_PUMPS]; /* bytes to be taken before the end is ours */
	struct run_file files[3];
	struct pty pty;
	struct pump pumps[RUN_PUMPS];
	struct proc_setup setup;
	struct sigaction chld;
};

uint64_t run_now(void);

/* run_stdio.c: what becomes of 0, 1, 2. */
int run_stdio_open(struct run_state *st);
/* The reading end of the pipe that is the command's descriptor 2; -1. */
int run_stdio_errors(const struct run_state *st);
/* The command's ends are the command's alone. */
void run_stdio_close_theirs(struct run_state *st);
/* Nobody waits for an end of file because of us: lets go of all that is the
 * caller's and that no pump needs. */
void run_stdio_release(struct run_state *st);
void run_stdio_let_go(struct run_state *st, int fd);
/* Regular files: what they grew by goes to the sink. */
int run_stdio_files(struct run_state *st);
void run_stdio_close(struct run_state *st);

/* run_signal.c: all signals are read from a descriptor. */
int run_signals_take(struct run_state *st);
void run_signals_give_back(struct run_state *st);
/* Reads what came: forwards, reaps, stops with the command. */
void run_signals_read(struct run_state *st);
void run_signals_settle(struct run_state *st);
/* The command has ended, and left something behind: the same for that. */
void run_signals_left(struct run_state *st);
/* A command in a pid namespace stopped. */
void run_signals_stopped(struct run_state *st);
/* The watch is about to deny something. */
void run_signals_denying(void *ctx);
/* Waits for the command, which was killed. */
void run_signals_wait(struct run_state *st);

/* Stops this process, or the whole of its group, until the caller continues it
 * or the command goes on. */
enum run_stop {
	RUN_STOP_CALLED, /* a SIGCONT is still to be read */
	RUN_STOP_MOVED,  /* the command is not stopped any more */
	RUN_STOP_NONE,   /* nobody could wake this process, so it did not stop;
			  * or the caller's SIGCONT was read: the command is to
			  * be continued */
	RUN_STOP_ASLEEP, /* not over yet */
};
enum run_stop run_signals_stop(struct run_state *st, int sig, bool whole);
/* The stop itself. */
void run_signals_stop_here(int sig, bool whole);
/* The command's own process, as seen from here. */
pid_t run_signals_command(const struct run_state *st);
/* With a front: reads what was sent to this process. */
void run_signals_own_read(struct run_state *st);
/* A process of ours is none of the command's: neither counted nor ended with
 * them. */
void run_signals_own(struct run_state *st, pid_t pid, bool is);

/* run_wake.c: around the stop of this process. */
enum run_wake {
	RUN_WAKE_NONE,   /* not by the watcher */
	RUN_WAKE_MOVED,  /* the command is not stopped any more */
	RUN_WAKE_ASKED,  /* the watch is asked something */
	RUN_WAKE_CALLED, /* by the caller at the same time, and that is read */
};
/* False: the command is not stopped (any more), or nobody could be left who wakes
 * this process: it is not to stop. */
bool run_wake_begin(struct run_state *st, pid_t command);
enum run_wake run_wake_end(struct run_state *st);
/* Is that process stopped? */
bool run_wake_stopped(pid_t pid);

/* run.c: in the confined child, up to and with the exec. */
__attribute__((noreturn)) void run_child(struct run_state *st);

/* run_loop.c */
int run_loop(struct run_state *st);
/* Waits for what comes next, and does it. 0, or -errno of the sink. */
int run_loop_once(struct run_state *st);
/* What is about to be ended, for the result. */
void run_loop_tell_left(struct run_state *st);
/* Ends the whole tree. */
void run_loop_kill(struct run_state *st);
/* Is the command's time over, or another limit exceeded? */
bool run_loop_over_limit(struct run_state *st);
/* Until nothing is left to pump or to watch. */
void run_loop_rest(struct run_state *st);
/* What was held back of long streams. */
int run_show_tails(struct run_state *st);
/* Tells the sink, unless it is to end already. */
int run_show(void *ctx, struct pump *p, const void *bytes, size_t n);

/* run_lost.c: how to know the tree; what the witness does when this process was
 * killed. */
void run_lost_mark(struct run_state *st, pid_t pid);
void run_lost(struct run_state *st);

/* Lets the witness go. */
void run_signals_dismiss(struct run_state *st);

/* run_front.c: does the work in a supervisor of its own, while this process
 * waits. 0 or -errno: it could not be started. */
int run_front(struct run_state *st, int work(struct run_state *st));
/* What was sent to the front until now can be read. */
void run_front_sync(struct run_state *st);
/* The front stops as the command did, until one of the two goes on. */
enum run_stop run_front_stop(struct run_state *st, int sig, bool whole);
/* The command has ended: is there anything that it left behind? */
bool run_front_left(struct run_state *st);
/* Then the front, and the caller, go on; this process stays with them and does
 * not return, unless they could not be kept. */
void run_front_part(struct run_state *st);

/* run_live.c: stays with what the command left behind, to its end. */
__attribute__((noreturn)) void run_live(struct run_state *st);
/* Nothing is left, and nobody to return to. */
void run_live_orphaned(struct run_state *st);

/* run_detach.c: a fork that goes on when something is left to do. */
int run_detach(struct run_state *st);

#endif
