/* probe.h - what this kernel and container give, found by doing it
 * SPDX-License-Identifier: MIT
 *
 * Whether a feature works is never concluded from a version, a file or the
 * first call of several: the whole operation runs in a child that is thrown
 * away.
 */
#ifndef WARDBOX_PROBE_H
#define WARDBOX_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sandbox's filter answers prctl(PROBE_INSIDE_OPTION) with an errno that no
 * kernel gives. That answer proves that this process is in a guarded tree; a
 * variable would prove nothing. */
enum {
	PROBE_INSIDE_OPTION = 0x57415244,
	PROBE_INSIDE_ERRNO = 2827,
};

/* Is this process in a guarded tree? One system call; errno is kept. */
bool probe_inside(void);

/* The Landlock ABI; 0 when there is none; *why (may be NULL) is 0, -ENOSYS (not
 * built) or -EOPNOTSUPP (disabled at boot). */
int probe_landlock_abi(int *why);
/* The first ABIs in which a domain knows of truncation and of a device's commands,
 * and in which it keeps signals and abstract sockets in. */
enum { PROBE_TRUNCATE_ABI = 3, PROBE_IOCTL_ABI = 5, PROBE_SCOPE_ABI = 6 };

/* Runs fn(arg), which returns 0 or -errno, in a child that is thrown away.
 * Returns its result; -EINTR when the child died or took more than ten
 * seconds. */
int probe_child(int (*fn)(unsigned arg), unsigned arg);

/* Features that can be tried. */
enum probe_item {
	PROBE_LANDLOCK, /* a rule is added, applied, and a file refused */
	PROBE_NNP,        /* no_new_privs */
	PROBE_SECCOMP,    /* a filter that answers */
	PROBE_NOTIFY,     /* user notification, asked and answered */
	PROBE_SCOPE_UNIX, /* Landlock stops abstract sockets */
	PROBE_SCOPE_SIGNAL,
	PROBE_USERNS,
	PROBE_PIDNS, /* with a fresh /proc */
	PROBE_MOUNTNS,
	PROBE_IPCNS,
	PROBE_NETNS, /* with its loopback */
	PROBE_PIDFD,
	PROBE_CLOSE_RANGE,
	PROBE_CAPS,    /* all capabilities given up */
	PROBE_RLIMIT,  /* a limit lowered: the next descriptor is refused */
	PROBE_PEEK,    /* another process's memory read, as the watch does */
	PROBE_SIGNALS, /* a signal blocked, sent, read from a descriptor */
	PROBE_LOCK,    /* a file locked, and a second lock refused */
	PROBE_PTY, /* opened, written, read */
	PROBE_ITEMS,
};
/* Tries the feature in a child, down to its effect. 0: it works; -errno;
 * -ERANGE: the kernel does not know it; -EBADE: it was accepted and does not
 * hold; -EINTR: the child died or did not answer. *call (may be NULL) names the
 * refused system call; "" for none, or several. */
int probe_try(enum probe_item item, const char **call);

/* Tries one right of Landlock: a ruleset with that right alone is applied, and
 * what the right is about must fail. Bits 0 to 16 are files, 32 to 35 the
 * network. 0; -ERANGE: the kernel does not know it; -EBADE: it does not hold;
 * -errno. */
int probe_landlock_right(unsigned bit);
/* "execute", "write-file" … "bind-tcp"; NULL past the last. */
const char *probe_landlock_name(unsigned bit);

/* The capabilities in effect, bit per number. */
uint64_t probe_caps(void);

#endif
