/* probe_in.h - the longer attempts; each is for probe_child()
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROBE_IN_H
#define WARDBOX_PROBE_IN_H

#include <errno.h>

/* The call that gave errno; stands above it in an attempt's result. */
enum probe_call {
	PROBE_CALL_NONE,
	PROBE_CALL_CREATE_RULESET,
	PROBE_CALL_ADD_RULE,
	PROBE_CALL_RESTRICT_SELF,
	PROBE_CALL_PRCTL,
	PROBE_CALL_SECCOMP,
	PROBE_CALL_IOCTL,
	PROBE_CALL_PIDFD_OPEN,
	PROBE_CALL_PIDFD_SIGNAL,
	PROBE_CALL_CLOSE_RANGE,
	PROBE_CALL_CAPGET,
	PROBE_CALL_CAPSET,
	PROBE_CALL_PRLIMIT,
	PROBE_CALL_READV,
	PROBE_CALL_SIGPROCMASK,
	PROBE_CALL_SIGNALFD,
	PROBE_CALL_FLOCK,
	PROBE_CALLS,
	PROBE_CALL_SHIFT = 12,
};

static inline int probe_refused(enum probe_call call)
{
	return -(errno | (int)call << PROBE_CALL_SHIFT);
}

/* The result of an attempt, without the call. */
static inline int probe_errno(int err)
{
	return -(int)((unsigned)-err & ((1U << PROBE_CALL_SHIFT) - 1));
}

/* probe_child() in another directory. */
int probe_child_at(int dirfd, int (*fn)(unsigned arg), unsigned arg);

int probe_try_filter(unsigned arg);
int probe_try_notify(unsigned arg);
int probe_try_landlock(unsigned arg);
int probe_try_caps(unsigned arg);
int probe_try_rlimit(unsigned arg);
int probe_try_peek(unsigned arg);
int probe_try_signals(unsigned arg);
int probe_try_lock(unsigned arg);
/* arg is a LL_SCOPE_ bit. */
int probe_try_scope(unsigned arg);

#endif
