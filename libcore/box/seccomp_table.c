/* seccomp_table.c - how each system call is treated, and why
 * SPDX-License-Identifier: MIT
 */
#include "box/seccomp_table_in.h"

#include <stddef.h>
#include <string.h>

#include "base/kconfig.h"
#include "base/str.h"
#include "base/uapi/nr.h"

struct row {
	int16_t nr;
	uint8_t act;
};

/* Calls into the kernel's insides and the whole machine: no confined program
 * has business there, whatever its user's rights. Equal neighbours cost
 * nothing, so some calls that need a capability anyway are here, too. */
static const struct row always[] = {
	/* namespaces and mounts would be a way to a new view of files */
	{__NR_clone, SECCOMP_ACT_CLONE},
	{435 /* clone3: flags are in memory */, SECCOMP_ACT_ENOSYS},
	{__NR_unshare, SECCOMP_ACT_UNSHARE},
	{__NR_setns, SECCOMP_ACT_EPERM},
	{__NR_mount, SECCOMP_ACT_EPERM},
	{__NR_umount, SECCOMP_ACT_EPERM},
	{__NR_umount2, SECCOMP_ACT_EPERM},
	{__NR_pivot_root, SECCOMP_ACT_EPERM},
	{428 /* open_tree */, SECCOMP_ACT_EPERM},
	{429 /* move_mount */, SECCOMP_ACT_EPERM},
	{430 /* fsopen */, SECCOMP_ACT_EPERM},
	{431 /* fsconfig */, SECCOMP_ACT_EPERM},
	{432 /* fsmount */, SECCOMP_ACT_EPERM},
	{433 /* fspick */, SECCOMP_ACT_EPERM},
	{442 /* mount_setattr */, SECCOMP_ACT_EPERM},
	{467 /* open_tree_attr */, SECCOMP_ACT_EPERM},
	{469 /* file_setattr: of any file that is one's own */,
		SECCOMP_ACT_EPERM},
	{470 /* listns */, SECCOMP_ACT_EPERM},
	{__NR_open_by_handle_at, SECCOMP_ACT_EPERM},
	/* rings run calls that no filter sees */
	{425 /* io_uring_setup */, SECCOMP_ACT_EPERM},
	{426 /* io_uring_enter */, SECCOMP_ACT_EPERM},
	{427 /* io_uring_register */, SECCOMP_ACT_EPERM},
	/* wide attack surface */
	{__NR_bpf, SECCOMP_ACT_EPERM},
	{__NR_perf_event_open, SECCOMP_ACT_EPERM},
	{__NR_userfaultfd, SECCOMP_ACT_EPERM},
	{__NR_fanotify_init, SECCOMP_ACT_EPERM},
	{__NR_add_key, SECCOMP_ACT_EPERM},
	{__NR_request_key, SECCOMP_ACT_EPERM},
	{__NR_keyctl, SECCOMP_ACT_EPERM},
	{__NR_modify_ldt, SECCOMP_ACT_EPERM},
	{__NR_vm86, SECCOMP_ACT_EPERM},
	{__NR_vm86old, SECCOMP_ACT_EPERM},
	/* other processes' descriptors and memory */
	{438 /* pidfd_getfd */, SECCOMP_ACT_EPERM},
	{440 /* process_madvise */, SECCOMP_ACT_EPERM},
	/* memory that no look at a process shows, and nobody swaps out */
	{447 /* memfd_secret */, SECCOMP_ACT_ENOSYS},
	/* the machine */
	{__NR_init_module, SECCOMP_ACT_EPERM},
	{__NR_delete_module, SECCOMP_ACT_EPERM},
	{__NR_create_module, SECCOMP_ACT_EPERM},
	{__NR_get_kernel_syms, SECCOMP_ACT_EPERM},
	{__NR_query_module, SECCOMP_ACT_EPERM},
	{__NR_nfsservctl, SECCOMP_ACT_EPERM},
	{__NR_reboot, SECCOMP_ACT_EPERM},
	{__NR_swapon, SECCOMP_ACT_EPERM},
	{__NR_swapoff, SECCOMP_ACT_EPERM},
	{__NR_acct, SECCOMP_ACT_EPERM},
	{__NR_quotactl, SECCOMP_ACT_EPERM},
	{443 /* quotactl_fd */, SECCOMP_ACT_EPERM},
	{__NR_syslog, SECCOMP_ACT_EPERM},
	{__NR_vhangup, SECCOMP_ACT_EPERM},
	{__NR__sysctl, SECCOMP_ACT_EPERM},
	{__NR_iopl, SECCOMP_ACT_EPERM},
	{__NR_ioperm, SECCOMP_ACT_EPERM},
	{__NR_sethostname, SECCOMP_ACT_EPERM},
	{__NR_setdomainname, SECCOMP_ACT_EPERM},
	{__NR_settimeofday, SECCOMP_ACT_EPERM},
	/* calls whose arguments are looked at */
	{__NR_ioctl, SECCOMP_ACT_IOCTL},
	{__NR_socket, SECCOMP_ACT_SOCKET},
	{__NR_socketpair, SECCOMP_ACT_SOCKETPAIR},
	/* C libraries use the calls of their own where this one is missing */
	{__NR_socketcall, SECCOMP_ACT_ENOSYS},
	{__NR_prctl, SECCOMP_ACT_PRCTL},
	{__NR_fcntl, SECCOMP_ACT_FCNTL},
	{__NR_fcntl64, SECCOMP_ACT_FCNTL},
	{__NR_setpriority, SECCOMP_ACT_WHO},
	{__NR_ioprio_set, SECCOMP_ACT_IO_WHO},
};

/* Calls that are useless without a capability: denied only where some
 * capability is kept. */
static const struct row privileged[] = {
	{__NR_chroot, SECCOMP_ACT_EPERM},
	{__NR_finit_module, SECCOMP_ACT_EPERM},
	{__NR_kexec_load, SECCOMP_ACT_EPERM},
	{__NR_kexec_file_load, SECCOMP_ACT_EPERM},
	{__NR_clock_settime, SECCOMP_ACT_EPERM},
	{__NR_clock_settime64, SECCOMP_ACT_EPERM},
	{__NR_clock_adjtime, SECCOMP_ACT_EPERM},
	{__NR_adjtimex, SECCOMP_ACT_EPERM},
	{__NR_stime, SECCOMP_ACT_EPERM},
	{__NR_lookup_dcookie, SECCOMP_ACT_EPERM},
	{__NR_migrate_pages, SECCOMP_ACT_EPERM},
	{__NR_move_pages, SECCOMP_ACT_EPERM},
	{__NR_kcmp, SECCOMP_ACT_EPERM},
	{__NR_uselib, SECCOMP_ACT_EPERM},
};

static const struct row sysv[] = {
	{__NR_ipc, SECCOMP_ACT_ENOSYS},
	{__NR_shmget, SECCOMP_ACT_ENOSYS},
	{__NR_shmat, SECCOMP_ACT_ENOSYS},
	{__NR_shmctl, SECCOMP_ACT_ENOSYS},
	{__NR_semget, SECCOMP_ACT_ENOSYS},
	{__NR_semop, SECCOMP_ACT_ENOSYS},
	{__NR_semctl, SECCOMP_ACT_ENOSYS},
	{__NR_semtimedop, SECCOMP_ACT_ENOSYS},
	{__NR_semtimedop_time64, SECCOMP_ACT_ENOSYS},
	{__NR_msgget, SECCOMP_ACT_ENOSYS},
	{__NR_msgsnd, SECCOMP_ACT_ENOSYS},
	{__NR_msgrcv, SECCOMP_ACT_ENOSYS},
	{__NR_msgctl, SECCOMP_ACT_ENOSYS},
	{__NR_mq_open, SECCOMP_ACT_ENOSYS},
	{__NR_mq_unlink, SECCOMP_ACT_ENOSYS},
};

/* Fast open connects without connect(), past Landlock's port rules. */
static const struct row tcp_only[] = {
	{__NR_sendto, SECCOMP_ACT_SEND3},
	{__NR_send, SECCOMP_ACT_SEND3},
	{__NR_sendmsg, SECCOMP_ACT_SEND2},
	{__NR_sendmmsg, SECCOMP_ACT_SEND3},
};

/* Listening without a bind takes a port that no rule was asked about. */
static const struct row no_listen[] = {
	{__NR_listen, SECCOMP_ACT_EPERM},
};

static const struct row cores[] = {
	{__NR_setrlimit, SECCOMP_ACT_RLIMIT},
	{__NR_prlimit64, SECCOMP_ACT_PRLIMIT},
};

static const struct row others[] = {
	{__NR_prlimit64, SECCOMP_ACT_PRLIMIT},
	{__NR_sched_setparam, SECCOMP_ACT_SELF},
	{__NR_sched_setscheduler, SECCOMP_ACT_SELF},
	{__NR_sched_setaffinity, SECCOMP_ACT_SELF},
	{__NR_sched_setattr, SECCOMP_ACT_SELF},
};

static const struct row memfd[] = {
	{__NR_memfd_create, SECCOMP_ACT_MEMFD},
};

/* The watch does these calls itself, on the file that a path or a descriptor
 * names. A call whose arguments are in memory, or whose meaning is the file
 * system's own affair, is refused; C libraries use the older calls then. */
static const struct row metadata[] = {
	{463 /* setxattrat */, SECCOMP_ACT_ENOSYS},
	{466 /* removexattrat */, SECCOMP_ACT_ENOSYS},
	{__NR_ioctl, SECCOMP_ACT_IOCTL_META},
};

/* Landlock took no notice of truncation before ABI 3: what may be read could be
 * emptied. Truncation by a descriptor needs one that writes. */
static const struct row cuts[] = {
	{__NR_truncate, SECCOMP_ACT_EACCES},
	{__NR_truncate64, SECCOMP_ACT_EACCES},
};

/* An open for reading alone is not watched. The flags of openat2 are in memory,
 * and C libraries do without that call. */
static const struct row opens[] = {
	{__NR_open, SECCOMP_ACT_OPEN},
	{__NR_openat, SECCOMP_ACT_OPENAT},
	{__NR_openat2, SECCOMP_ACT_ENOSYS},
};

static void apply_rows(uint8_t *act, const struct row *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (row[i].nr >= 0)
			act[row[i].nr] = row[i].act;
}

static void deny_rows(const struct seccomp_spec *spec, uint8_t *act)
{
	act[SECCOMP_NR_MAX] = SECCOMP_ACT_ENOSYS;
	apply_rows(act, always, ARRAY_SIZE(always));
	if (spec->caps)
		apply_rows(act, privileged, ARRAY_SIZE(privileged));
	if (!spec->sysv)
		apply_rows(act, sysv, ARRAY_SIZE(sysv));
	if (spec->tcp_only)
		apply_rows(act, tcp_only, ARRAY_SIZE(tcp_only));
	if (spec->tcp_only && !spec->tcp_listen)
		apply_rows(act, no_listen, ARRAY_SIZE(no_listen));
	if (!spec->cores)
		apply_rows(act, cores, ARRAY_SIZE(cores));
	if (!spec->others)
		apply_rows(act, others, ARRAY_SIZE(others));
	if (!spec->memfd_exec)
		apply_rows(act, memfd, ARRAY_SIZE(memfd));
}

static void watch_rows(const struct seccomp_spec *spec, uint8_t *act)
{
	int16_t watched[WATCH_CALLS_MAX];

	if (spec->watch & (WATCH_METADATA | WATCH_WRITES))
		apply_rows(act, metadata, ARRAY_SIZE(metadata));
	if (!IS_ENABLED(CONFIG_SANDBOX_UNOTIFY))
		return;
	for (size_t i = watch_numbers(spec->watch, watched); i-- > 0;)
		act[watched[i]] = watched[i] == __NR_execve ?
					  SECCOMP_ACT_EXEC :
					  SECCOMP_ACT_NOTIFY;
	if (spec->watch & WATCH_WRITES && !(spec->watch & WATCH_FILES))
		apply_rows(act, opens, ARRAY_SIZE(opens));
}

void seccomp_table(const struct seccomp_spec *spec, uint8_t *act)
{
	memset(act, SECCOMP_ACT_ALLOW, SECCOMP_NR_MAX + 1);
	if (!spec->alone)
		deny_rows(spec, act);
	watch_rows(spec, act);
	if (spec->uncut && !spec->alone) {
		apply_rows(act, opens, ARRAY_SIZE(opens));
		apply_rows(act, cuts, ARRAY_SIZE(cuts));
	}
}
