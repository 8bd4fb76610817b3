/* attack.c - ways out of a sandbox, one by one
 * SPDX-License-Identifier: MIT
 *
 * attack NAME [ARGUMENT...] prints "ok" when it got through, or the name of the
 * errno that stopped it, and exits 0 or 1.
 */
#include "attack.h"
#include "base/uapi/nr.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

char **words;

const char *word(int i)
{
	return words[i] ? words[i] : "";
}

long number(int i)
{
	return strtol(word(i), NULL, 0);
}

/* Any system call: a number or a name of this list, numbers and =strings. */
static long a_sys(void)
{
	static const struct {
		const char *name;
		long nr;
	} names[] = {
		{"unshare", SYS_unshare},
		{"setns", SYS_setns},
		{"mount", SYS_mount},
		{"umount2", SYS_umount2},
		{"pivot_root", SYS_pivot_root},
		{"open_tree", 428},
		{"move_mount", 429},
		{"fsopen", 430},
		{"fsconfig", 431},
		{"fsmount", 432},
		{"fspick", 433},
		{"mount_setattr", 442},
		{"open_tree_attr", 467},
		{"io_uring_setup", 425},
		{"io_uring_enter", 426},
		{"io_uring_register", 427},
		{"clone3", 435},
		{"pidfd_getfd", 438},
		{"process_madvise", 440},
		{"bpf", SYS_bpf},
		{"perf_event_open", SYS_perf_event_open},
		{"userfaultfd", SYS_userfaultfd},
		{"add_key", SYS_add_key},
		{"request_key", SYS_request_key},
		{"keyctl", SYS_keyctl},
		{"open_by_handle_at", SYS_open_by_handle_at},
		{"syslog", SYS_syslog},
		{"init_module", SYS_init_module},
		{"finit_module", SYS_finit_module},
		{"delete_module", SYS_delete_module},
		{"kexec_load", SYS_kexec_load},
		{"reboot", SYS_reboot},
		{"swapon", SYS_swapon},
		{"acct", SYS_acct},
		{"quotactl", SYS_quotactl},
		{"chroot", SYS_chroot},
		{"sethostname", SYS_sethostname},
		{"settimeofday", __NR_settimeofday},
		{"clock_settime", __NR_clock_settime},
		{"shmget", SYS_shmget},
		{"shmctl", SYS_shmctl},
		{"semget", SYS_semget},
		{"msgget", SYS_msgget},
		{"mq_open", SYS_mq_open},
		{"socket", SYS_socket},
		{"socketpair", SYS_socketpair},
		{"personality", SYS_personality},
		{"setpriority", SYS_setpriority},
		{"ioprio_set", SYS_ioprio_set},
		{"sched_setscheduler", SYS_sched_setscheduler},
		{"sched_setattr", SYS_sched_setattr},
		{"fanotify_init", SYS_fanotify_init},
		{"file_setattr", 469},
		{"memfd_create", SYS_memfd_create},
		{"chmod", SYS_fchmodat},
		{"ptrace", SYS_ptrace},
		{"mknodat", SYS_mknodat},
		{"linkat", SYS_linkat},
		{"renameat2", SYS_renameat2},
		{"getpid", SYS_getpid},
		{"prctl", SYS_prctl},
		{"add_rule", 445},
		{"future", 600},
		{"ioctl", SYS_ioctl},
		{"openat", SYS_openat},
#if defined(__x86_64__)
		{"modify_ldt", SYS_modify_ldt},
#endif
	};
	long nr = -1, a[6] = {0};
	static int pair[2];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i].name, word(0)) == 0)
			nr = names[i].nr;
	if (nr < 0)
		nr = strtol(word(0), NULL, 0);
	for (int i = 0; i < 6 && words[1] && words[i + 1]; i++)
		a[i] = words[i + 1][0] == '=' ? (long)(words[i + 1] + 1) :
		       words[i + 1][0] == '@' ? (long)pair :
						number(i + 1);
	return syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#if defined(__x86_64__)
static long kernel_result(long r)
{
	if (r < 0)
		errno = (int)-r;
	return r < 0 ? -1 : r;
}

/* The 32-bit socket(AF_INET, SOCK_STREAM): another table of numbers. */
static long a_int80(void)
{
	long r = 359;

	__asm__ volatile("int $0x80"
			 : "+a"(r)
			 : "b"(2L), "c"(1L), "d"(0L)
			 : "memory", "r8", "r9", "r10", "r11");
	return kernel_result((int)r);
}

static long a_x32(void)
{
	return syscall(0x40000000 + SYS_getpid);
}
#endif

static void *run_thread(void *arg);

/* The same from another thread. */
static long a_thread(void)
{
	pthread_t t;
	void *r;

	if (pthread_create(&t, NULL, run_thread, NULL))
		return -1;
	pthread_join(t, &r);
	errno = (int)(intptr_t)r;
	return r ? -1 : 0;
}

static long a_inside(void)
{
	return prctl(0x57415244, 0, 0, 0, 0) < 0 && errno == 2827 ? 0 : -1;
}

/* A listener of one's own, inside. */
static long a_listener(void)
{
	struct {
		unsigned short code;
		unsigned char jt, jf;
		unsigned k;
	} code = {6, 0, 0, 0x7fff0000};
	struct {
		unsigned short len;
		void *filter;
	} prog = {1, &code};

	return syscall(SYS_seccomp, 1, 8, &prog);
}

/* CALL ERRNO COMMAND...: where the kernel has no such call, or a container does
 * not let it be made; CALL is NUMBER or NUMBER/FIRST_ARGUMENT. */
static long a_without(void)
{
	const char *slash = strchr(word(0), '/');
	struct {
		unsigned short code;
		unsigned char jt, jf;
		unsigned k;
	} code[] = {
		{0x20, 0, 0, 0},
		{0x15, 0, 3, (unsigned)number(0)},
		{0x20, 0, 0, 16},
		{0x15, 0, 1, slash ? (unsigned)strtol(slash + 1, NULL, 0) : 0},
		{6, 0, 0, 0x00050000 | (unsigned)number(1)},
		{6, 0, 0, 0x7fff0000},
	};
	struct {
		unsigned short len;
		void *filter;
	} prog = {6, code};

	if (!slash)
		code[3].code = 0x35; /* whatever it is */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		syscall(SYS_seccomp, 1, 0, &prog) < 0)
		return -1;
	return execvp(word(2), words + 2);
}

static const struct attack attacks[] = {
	{"without", a_without},
	{"sys", a_sys},
#if defined(__x86_64__)
	{"int80", a_int80},
	{"x32", a_x32},
#endif
	{"thread", a_thread},
	{"inside", a_inside},
	{"listener", a_listener},
	{NULL, NULL},
};

static long run(const char *name)
{
	static const struct attack *const all[] = {
		attacks, attacks_files, attacks_net, attacks_process};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (const struct attack *a = all[i]; a->name; a++)
			if (strcmp(a->name, name) == 0)
				return a->run();
	errno = ENOTSUP;
	return -1;
}

static void *run_thread(void *arg)
{
	const char *name = word(0);

	(void)arg;
	words++;
	return (void *)(intptr_t)(run(name) < 0 ? errno : 0);
}

static const char *error_name(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
		{EPERM, "EPERM"},
		{EACCES, "EACCES"},
		{ENOSYS, "ENOSYS"},
		{ENOENT, "ENOENT"},
		{EBUSY, "EBUSY"},
		{EROFS, "EROFS"},
		{EXDEV, "EXDEV"},
		{EAFNOSUPPORT, "EAFNOSUPPORT"},
		{ECONNREFUSED, "ECONNREFUSED"},
		{EAGAIN, "EAGAIN"},
		{EMFILE, "EMFILE"},
		{ESRCH, "ESRCH"},
		{EINVAL, "EINVAL"},
		{EBADF, "EBADF"},
		{EFAULT, "EFAULT"},
		{ENOTTY, "ENOTTY"},
		{ETXTBSY, "ETXTBSY"},
		{EBADFD, "EBADFD"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].err == err)
			return names[i].name;
	return strerror(err);
}

int main(int argc, char **argv)
{
	long r;

	if (argc < 2)
		return 2;
	words = argv + 2;
	r = run(argv[1]);
	puts(r < 0 ? error_name(errno) : "ok");
	return r < 0;
}
