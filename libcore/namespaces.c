/* namespaces.c - own processes, mounts, IPC and network
 * SPDX-License-Identifier: MIT
 */
#include "namespaces.h"

#include <signal.h>
#include <sys/wait.h>

#include "ns.h"
#include "probe.h"
#include "sandbox.h"
#include "uapi/linux.h"

void namespaces_flags(unsigned parts, bool *user, unsigned *at_fork,
	unsigned *at_apply)
{
	unsigned fork_flags = 0, flags = 0;

	if (parts & SANDBOX_PIDNS) {
		fork_flags |= NS_PID;
		flags |= NS_MOUNT;
	}
	if (parts & SANDBOX_MOUNTNS)
		flags |= NS_MOUNT;
	if (parts & SANDBOX_IPCNS)
		flags |= NS_IPC;
	if (parts & SANDBOX_NETNS)
		flags |= NS_NET;
	*user = flags && !ns_is_admin();
	if (*user && fork_flags)
		fork_flags |= NS_USER;
	else if (*user)
		flags |= NS_USER;
	*at_fork = fork_flags;
	*at_apply = flags;
}

bool namespaces_work(unsigned part)
{
	unsigned flags = part == SANDBOX_PIDNS	 ? NS_PID :
			 part == SANDBOX_MOUNTNS ? NS_MOUNT :
			 part == SANDBOX_IPCNS	 ? NS_IPC :
			 part == SANDBOX_NETNS	 ? NS_NET :
						   0;

	return probe_child(ns_try, flags) == 0;
}

void namespaces_init(pid_t command, int eventfd, int *stopped, int *status)
{
	const uint64_t once = 1;
	sigset_t all;

	/* What went to the whole group the command got too. */
	setpgid(0, 0);
	sigfillset(&all);
	for (;;) {
		siginfo_t info;
		int sig = sigwaitinfo(&all, &info), st;
		pid_t pid;

		if (sig < 0)
			continue;
		if (sig != SIGCHLD && info.si_code <= 0) {
			kill(command, sig);
			continue;
		}
		while ((pid = waitpid(-1, &st, WNOHANG | WUNTRACED)) > 0) {
			if (pid != command)
				continue;
			if (WIFSTOPPED(st)) {
				*stopped = WSTOPSIG(st);
				if (write(eventfd, &once, sizeof(once)) < 0)
					*stopped = 0;
				continue;
			}
			*status = st;
			return;
		}
	}
}
