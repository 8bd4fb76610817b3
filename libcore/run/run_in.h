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

/* A regular file on 0, 1 or 2, which is read afterwards, from the place where
 * it was read or began to grow. */
struct run_file {
	bool on, append;
	off_t start;
};

/* The signal that tells the witness, or the supervisor, that the process it
 * serves is gone. */
#define RUN_SIG_LOST SIGRTMAX

struct run_state {
	const struct run_spec *spec;
	struct run_result *result;
	struct diag *d;
	int talk[2];   /* with the monitor: our end and its end; -1: no pty */
	bool in_front; /* the command has the keyboard */
	bool typed;    /* the keyboard is a person's, not a pipe */
	bool suspends; /* the suspend key was typed */
	bool hung_up;  /* the terminal is gone, and all were told */
	pid_t group;   /* the command's group on its terminal; 0: not known */
	bool told;     /* the monitor has reported the command's end: */
	int told_status;
	int null;
	int sigfd;
	pid_t pid;
	uint64_t start_ns;
	unsigned forwarded; /* signals forwarded to the command */
	uint64_t asked_ns; /* when the tree was asked to end; 0: not yet */
	uint64_t passed; /* output so far */
	bool reaped, settled, detached;
	int died_of;   /* a signal that came after the command was gone */
	int err;       /* of a sink or our own: the run is to end */
	unsigned seen; /* bit per stream: the sink had enough of it */
	pid_t front;     /* run_front.c: the front, for which the caller waits;
			  * 0: this process */
	pid_t group_of_front;
	int link[2];     /* between the two: the front's end and ours */
	bool front_lost; /* the front was killed */
	bool over;       /* this supervisor was told to end the rest */
	/* Words that the front leaves: enum run_stop; that it has a
	 * successor. */
	volatile int awake;
	volatile bool parted;
	volatile bool passed_on; /* all waiting signals were passed on */
	bool left;       /* the command has ended, parts of its tree have not */
	bool living;     /* the command has ended; the run is for the rest */
	int session;     /* readable when background programs must end; -1 */
	pid_t canary, self; /* the witness, and this process */
	void *stacks[2];    /* the stacks of a witness and its successor */
	unsigned stack;     /* the stack in use */
	pid_t stopped, watcher; /* the command while we stop with it, and the
				 * process that looks at it (run_wake.c) */
	void *watcher_stack;
	volatile int woken_by; /* enum run_wake: what the watcher saw */
	bool also_ended; /* spec.also_fd has ended */
	bool slept; /* this process was stopped since the last poll */
	int space; /* a namespace of this tree alone; -1: none */
	/* What is large stands last: all else is near the struct's begin. */
	struct buf others; /* children from before, without a sandbox */
	uint64_t shown[RUN_STREAMS]; /* bytes that the sink got */
	int theirs[RUN_PUMPS]; /* the command's ends, until they are handed
				* over */
	uint64_t due[RUN_PUMPS]; /* bytes to be passed on before the end */
	struct run_file files[3];
	struct pty pty;
	struct pump pumps[RUN_PUMPS];
	struct proc_setup setup;
	struct sigaction chld;
};

uint64_t run_now(void);

/* run_stdio.c: prepares 0, 1 and 2. */
int run_stdio_open(struct run_state *st);
/* The reading end of the pipe that is the command's descriptor 2; -1. */
int run_stdio_errors(const struct run_state *st);
/* Closes the command's ends in this process, so that they belong to the command
 * alone. */
void run_stdio_close_theirs(struct run_state *st);
/* Closes all descriptors of the caller that no pump needs, so that nobody
 * misses an end of file because of us. */
void run_stdio_release(struct run_state *st);
/* Closes the caller's descriptor fd, unless a pump or the run still needs it. */
void run_stdio_let_go(struct run_state *st, int fd);
/* Shows the sink what regular files grew by. */
int run_stdio_files(struct run_state *st);
void run_stdio_close(struct run_state *st);

/* run_signal.c: begins to read all signals from a descriptor. */
int run_signals_take(struct run_state *st);
void run_signals_give_back(struct run_state *st);
/* Reads the signals that came: forwards, reaps, stops with the command. */
void run_signals_read(struct run_state *st);
void run_signals_settle(struct run_state *st);
/* The same for what the command left behind when it ended. */
void run_signals_left(struct run_state *st);
/* Handles the stop of a command in a pid namespace. */
void run_signals_stopped(struct run_state *st);
/* Prepares for a denial by the watch. */
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
	RUN_STOP_ASLEEP, /* Stops this process, or its whole group. */
};
enum run_stop run_signals_stop(struct run_state *st, int sig, bool whole);
/* The stop itself. */
void run_signals_stop_here(int sig, bool whole);
/* The command's own process, as seen from here. */
pid_t run_signals_command(const struct run_state *st);
/* With a front: reads the signals that were sent to this process. */
void run_signals_own_read(struct run_state *st);
/* Marks a process of ours that is not the command's: it is neither counted nor
 * ended with the command's. */
void run_signals_own(struct run_state *st, pid_t pid, bool is);

/* run_wake.c: watches the command while this process is stopped. */
enum run_wake {
	RUN_WAKE_NONE,   /* the watcher did not wake us */
	RUN_WAKE_MOVED,  /* the command is not stopped any more */
	RUN_WAKE_ASKED,  /* the watch has a question */
	RUN_WAKE_CALLED, /* the caller woke us at the same time */
};
/* Starts the watcher. False: the command is not stopped (any more), or nobody
 * could wake this process, so it must not stop. */
bool run_wake_begin(struct run_state *st, pid_t command);
enum run_wake run_wake_end(struct run_state *st);
/* Is that process stopped? */
bool run_wake_stopped(pid_t pid);

/* run.c: the confined child, up to the exec. */
__attribute__((noreturn)) void run_child(struct run_state *st);

/* run_loop.c */
int run_loop(struct run_state *st);
/* Waits for the next event and handles it. 0, or -errno of the sink. */
int run_loop_once(struct run_state *st);
/* Notes for the result what is about to be ended. */
void run_loop_tell_left(struct run_state *st);
/* Ends the whole tree. */
void run_loop_kill(struct run_state *st);
/* Is the command's time over, or another limit exceeded? */
bool run_loop_over_limit(struct run_state *st);
/* Goes on until nothing is left to pump or to watch. */
void run_loop_rest(struct run_state *st);
/* Shows the ends of long streams that were held back. */
int run_show_tails(struct run_state *st);
/* Shows bytes to the sink, unless the run is to end. */
int run_show(void *ctx, struct pump *p, const void *bytes, size_t n);

/* run_lost.c: marks the tree; and what the witness does if this process is
 * killed. */
void run_lost_mark(struct run_state *st, pid_t pid);
void run_lost(struct run_state *st);

/* Lets the witness go. */
void run_signals_dismiss(struct run_state *st);

/* run_front.c: does the work in a supervisor of its own, while this process
 * waits. 0; -errno: it could not be started. */
int run_front(struct run_state *st, int work(struct run_state *st));
/* Waits until all signals that were sent to the front can be read. */
void run_front_sync(struct run_state *st);
/* Lets the front stop as the command did, until one of them goes on. */
enum run_stop run_front_stop(struct run_state *st, int sig, bool whole);
/* The command has ended: did it leave something behind? */
bool run_front_left(struct run_state *st);
/* If so, lets the front and its caller go on; this process stays with the rest
 * and does not return, unless the rest could not be kept. */
void run_front_part(struct run_state *st);

/* run_live.c: stays with the background programs, to their end. */
__attribute__((noreturn)) void run_live(struct run_state *st);
/* Called when nothing is left and there is nobody to return to. */
void run_live_orphaned(struct run_state *st);

/* run_detach.c: forks when something is left to pump, and goes on in the
 * fork. */
int run_detach(struct run_state *st);

#endif
