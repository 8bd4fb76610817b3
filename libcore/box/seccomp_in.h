/* seccomp_in.h - the system call filter: what no sandboxed process may ask for
 * SPDX-License-Identifier: MIT
 *
 * A denylist with arguments looked at, compiled into a binary search over the
 * call's number. Calls newer than the table are answered ENOSYS, as an older
 * kernel would; another architecture's calls kill.
 */
#ifndef WARDBOX_SECCOMP_IN_H
#define WARDBOX_SECCOMP_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uapi/seccomp.h"
#include "watch/watch.h"

struct seccomp_spec {
	bool inet;       /* socket(AF_INET, AF_INET6) */
	bool tcp_only;   /* with inet: only streams, no multipath, no TFO */
	bool tcp_listen; /* with tcp_only: listen() */
	bool diag;       /* sockets may be listed: they are those of a network
			  * namespace of its own */
	bool unix_path;  /* socket(AF_UNIX); socketpair of streams is always
			  * allowed */
	bool sysv;       /* System V IPC and POSIX message queues */
	bool memfd_exec; /* memfd_create without MFD_NOEXEC_SEAL */
	bool others;     /* prlimit and setpriority on other processes: all
			  * visible ones are one's own */
	bool caps;       /* capabilities are left: deny the calls that they
			  * open */
	unsigned watch; /* enum watch_kind: calls that go to the listener */
	/* With WATCH_EXEC: an execve whose fifth and sixth arguments, which the
	 * kernel does not read, are the halves of this, the lower first, does
	 * not go to the listener; 0: all do. */
	uint64_t pass;
	bool cores; /* the limit on core dumps may be changed */
	bool alone; /* denies nothing and only watches */
	bool uncut; /* no file is truncated but by a descriptor that writes */
};

enum { SECCOMP_INSNS_MAX = 256 };

/* Writes the filter for this architecture to out. Returns its length in
 * instructions, or -ENOBUFS. Pure. */
int seccomp_build(const struct seccomp_spec *spec, struct bpf_insn1 *out,
	size_t max);

/* Installs the filter; needs no_new_privs. Returns the new listener's
 * descriptor, or 0 without listener; -errno. A raw system call. */
int seccomp_install(const struct bpf_insn1 *prog, size_t len, bool listener);

#endif
