/* test_seccomp.c - the filter, evaluated as the kernel would
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "sys/probe.h"
#include "box/seccomp_in.h"
#include "box/seccomp_table_in.h"
#include "base/str.h"
#include "base/uapi/nr.h"
#include "parts/seccomp_eval.h"

static struct bpf_insn1 prog[SECCOMP_INSNS_MAX];
static size_t prog_len;

static void build(const struct seccomp_spec *spec)
{
	int n = seccomp_build(spec, prog, SECCOMP_INSNS_MAX);

	assert_true(n > 0);
	prog_len = (size_t)n;
}

static uint32_t call6(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct sc_data data = {.nr = (int32_t)nr,
		.arch = (uint32_t)NR_AUDIT_ARCH,
		.args = {a, b, c, d}};

	return seccomp_eval(prog, prog_len, &data);
}

static uint32_t call(long nr, uint64_t a)
{
	return call6(nr, a, 0, 0, 0);
}

/* The kinds of the watch; what an old kernel lacks comes together. */
static unsigned watched(unsigned bits)
{
	return (bits >> 8 & 7) | (bits & 8192 ? WATCH_SCOPE | WATCH_WRITES : 0);
}

static void every_program_is_sound(void **state)
{
	struct seccomp_spec spec;

	(void)state;
	for (unsigned bits = 0; bits < 1 << 14; bits++) {
		spec = (struct seccomp_spec){
			bits & 1, bits & 2, bits & 4, bits & 1024, bits & 8, bits & 16,
			bits & 32, bits & 64, bits & 128, watched(bits),
			bits, bits & 2048, bits & 4096, bits & 8192};
		build(&spec);
		assert_in_range(prog_len, spec.alone ? 3 : 20, 255);
		for (size_t i = 0; i < prog_len; i++) {
			size_t reach = prog[i].code == BPF1_JA ?
					       prog[i].k :
				       prog[i].jt > prog[i].jf ? prog[i].jt :
								 prog[i].jf;

			if (prog[i].code != BPF1_RET)
				assert_true(i + 1 + reach < prog_len);
		}
	}
	/* Too small a place is an error, at any size. */
	for (size_t max = 0; max < prog_len; max++)
		assert_int_equal(
			seccomp_build(&spec, prog, max), -ENOBUFS);
}

static void other_tables_are_refused(void **state)
{
	struct sc_data data = {.nr = __NR_getpid, .arch = 0x40000003};

	(void)state;
	build(&(struct seccomp_spec){.inet = true});
	if ((uint32_t)NR_AUDIT_ARCH != data.arch)
		assert_int_equal(seccomp_eval(prog, prog_len, &data),
			SC_KILL_PROCESS);
	data.arch ^= 1;
	assert_int_equal(
		seccomp_eval(prog, prog_len, &data), SC_KILL_PROCESS);
	assert_int_equal(call(0x40000000 + __NR_getpid, 0), SC_ERRNO(ENOSYS));
	assert_int_equal(call(SECCOMP_NR_KNOWN + 1, 0), SC_ERRNO(ENOSYS));
	assert_int_equal(call(-1, 0), SC_ERRNO(ENOSYS));
	assert_int_equal(call(__NR_getpid, 0), SC_ALLOW);
}

static void a_watch_alone_denies_nothing(void **state)
{
	struct seccomp_spec spec = {
		.watch = WATCH_EXEC, .pass = 7, .alone = true};
	struct sc_data data = {.nr = __NR_mount, .arch = 0x40000003};

	(void)state;
	build(&spec);
	assert_int_equal(call(__NR_execve, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_execveat, 0), SC_NOTIFY);
	for (long nr = 0; nr <= SECCOMP_NR_MAX; nr++)
		if (nr != __NR_execve && nr != __NR_execveat)
			assert_int_equal(call(nr, ~0UL), SC_ALLOW);
	assert_int_equal(seccomp_eval(prog, prog_len, &data), SC_ALLOW);
}

static void the_table_is_what_the_tree_does(void **state)
{
	struct seccomp_spec spec = {0};
	uint8_t act[SECCOMP_NR_MAX + 1];

	(void)state;
	build(&spec);
	seccomp_table(&spec, act);
	for (long nr = 0; nr < SECCOMP_NR_MAX; nr++) {
		if (act[nr] == SECCOMP_ACT_ALLOW)
			assert_int_equal(call(nr, 0), SC_ALLOW);
		if (act[nr] == SECCOMP_ACT_EPERM)
			assert_int_equal(call(nr, 0), SC_ERRNO(EPERM));
		if (act[nr] == SECCOMP_ACT_ENOSYS)
			assert_int_equal(call(nr, 0), SC_ERRNO(ENOSYS));
	}
	assert_int_equal(call(__NR_bpf, 0), SC_ERRNO(EPERM));
	assert_int_equal(call(__NR_keyctl, 0), SC_ERRNO(EPERM));
	assert_int_equal(call(__NR_mount, 0), SC_ERRNO(EPERM));
}

/* Whichever way the tree tells numbers apart, those that the table treats alike
 * get the same answers, with arguments that most treatments tell apart, too. */
static void numbers_of_one_treatment_end_alike(void **state)
{
	static const uint64_t args[][4] = {{0}, {1, 1, 1, 1}, {2, 4, 0, 0},
		{16, 8, 6, 0}, {4, SECCOMP_TIOCSTI, 1, 0}, {3, 0x400, 1, 0},
		{~0ULL, ~0ULL, ~0ULL, ~0ULL}};
	uint8_t act[SECCOMP_NR_MAX + 1];

	(void)state;
	for (unsigned bits = 0; bits < 1 << 14; bits++) {
		struct seccomp_spec spec = {
			bits & 1, bits & 2, bits & 4, bits & 1024, bits & 8, bits & 16,
			bits & 32, bits & 64, bits & 128, watched(bits),
			bits, bits & 2048, bits & 4096, bits & 8192};
		uint32_t first[SECCOMP_ACTS][ARRAY_SIZE(args)];
		bool seen[SECCOMP_ACTS] = {false};

		build(&spec);
		seccomp_table(&spec, act);
		for (long nr = 0; nr < SECCOMP_NR_MAX; nr++)
			for (size_t i = 0; i < ARRAY_SIZE(args); i++) {
				const uint64_t *a = args[i];
				uint32_t *is = &first[act[nr]][i];
				uint32_t got = call6(nr, a[0], a[1], a[2], a[3]);

				if (!seen[act[nr]])
					*is = got;
				assert_int_equal(got, *is);
				seen[act[nr]] |= i + 1 == ARRAY_SIZE(args);
			}
		for (size_t i = 0; i < ARRAY_SIZE(args); i++)
			assert_int_equal(
				first[SECCOMP_ACT_ALLOW][i], SC_ALLOW);
	}
}

static void high_halves_hide_nothing(void **state)
{
	const uint64_t high = 1ULL << 32 | 1ULL << 63;

	(void)state;
	build(&(struct seccomp_spec){0});
	assert_int_equal(
		call6(__NR_ioctl, 0, SECCOMP_TIOCSTI, 0, 0), SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_ioctl, 0, high | SECCOMP_TIOCSTI, 0, 0),
		SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_ioctl, 0, high | SECCOMP_TIOCLINUX, 0, 0),
		SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_ioctl, 0, 0x5401, 0, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_fcntl, 3, SECCOMP_SETLEASE, 0, 0),
		SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_fcntl, 3, high | 0x410, 0, 0),
		SC_ERRNO(EPERM));
	for (uint32_t cmd = 0; cmd < 2048; cmd++)
		assert_int_equal(call6(__NR_fcntl, 3, cmd, 0, 0) == SC_ALLOW,
			cmd != 0x400 && cmd != 0x410);
	assert_int_equal(call(__NR_clone, high | 0x10000000), SC_ERRNO(EPERM));
	assert_int_equal(call(__NR_prctl, high | PROBE_INSIDE_OPTION),
		SC_ERRNO(PROBE_INSIDE_ERRNO));
	assert_int_equal(call(__NR_prctl, 38), SC_ALLOW);
	assert_int_equal(call6(__NR_socket, high | 2, 1, 0, 0),
		SC_ERRNO(EPERM));
}

static void sockets_by_family(void **state)
{
	(void)state;
	build(&(struct seccomp_spec){0});
	for (uint64_t f = 0; f < 64; f++) {
		uint32_t want = f == 1 || f == 2 || f == 10 ?
					SC_ERRNO(EPERM) :
				f == 16 ? SC_ALLOW :
					  SC_ERRNO(EAFNOSUPPORT);

		assert_int_equal(call6(__NR_socket, f, 3, 0, 0), want);
	}
	for (uint64_t protocol = 1; protocol < 32; protocol++)
		assert_int_equal(call6(__NR_socket, 16, 3, protocol, 0),
			SC_ERRNO(EPROTONOSUPPORT));
	build(&(struct seccomp_spec){.diag = true});
	for (uint64_t protocol = 1; protocol < 32; protocol++)
		assert_int_equal(call6(__NR_socket, 16, 3, protocol, 0),
			protocol == 4 ? SC_ALLOW : SC_ERRNO(EPROTONOSUPPORT));
	build(&(struct seccomp_spec){.inet = true, .unix_path = true});
	assert_int_equal(call6(__NR_socket, 2, 2, 0, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_socket, 1, 1, 0, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_socket, 40, 1, 0, 0),
		SC_ERRNO(EAFNOSUPPORT));
}

static void pairs_are_streams(void **state)
{
	(void)state;
	build(&(struct seccomp_spec){0});
	for (uint64_t type = 0; type < 16; type++) {
		bool stream = type == 1 || type == 5;

		assert_int_equal(call6(__NR_socketpair, 1, type | 0x80800, 0, 0),
			stream ? SC_ALLOW : SC_ERRNO(EPERM));
	}
	assert_int_equal(
		call6(__NR_socketpair, 2, 1, 0, 0), SC_ERRNO(EPERM));
	build(&(struct seccomp_spec){.unix_path = true});
	assert_int_equal(call6(__NR_socketpair, 1, 2, 0, 0), SC_ALLOW);
}

static void ports_are_named(void **state)
{
	(void)state;
	build(&(struct seccomp_spec){.inet = true, .tcp_only = true});
	assert_int_equal(call(__NR_listen, 3), SC_ERRNO(EPERM));
	build(&(struct seccomp_spec){
		.inet = true, .tcp_only = true, .tcp_listen = true});
	assert_int_equal(call(__NR_listen, 3), SC_ALLOW);
	build(&(struct seccomp_spec){.inet = true});
	assert_int_equal(call(__NR_listen, 3), SC_ALLOW);
}

static void tcp_alone(void **state)
{
	const uint64_t flags = 0x80800;

	(void)state;
	build(&(struct seccomp_spec){.inet = true, .tcp_only = true});
	for (uint64_t type = 0; type < 16; type++) {
		for (uint64_t proto = 0; proto < 300; proto++) {
			bool tcp = type == 1 && (proto == 0 || proto == 6);

			assert_int_equal(call6(__NR_socket, 2, type | flags,
						 proto, 0),
				tcp ? SC_ALLOW : SC_ERRNO(EPERM));
		}
	}
	assert_int_equal(
		call6(__NR_sendto, 0, 0, 0, 0x20000000), SC_ERRNO(EPERM));
	assert_int_equal(
		call6(__NR_sendmsg, 0, 0, 0x20004000, 0), SC_ERRNO(EPERM));
	assert_int_equal(
		call6(__NR_sendmmsg, 0, 0, 0, 0x20000000), SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_sendmsg, 0, 0, 0x4000, 0), SC_ALLOW);
}

static void others_and_memory(void **state)
{
	(void)state;
	build(&(struct seccomp_spec){0});
	assert_int_equal(call6(__NR_prlimit64, 0, 0, 1, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_prlimit64, 7, 0, 0, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_prlimit64, 7, 0, 1, 0), SC_ERRNO(EPERM));
	assert_int_equal(
		call6(__NR_prlimit64, 7, 0, 1ULL << 32, 0), SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_setpriority, 0, 7, 0, 0), SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_setpriority, 0, 0, 0, 0), SC_ALLOW);
	/* nor all of a group or of the user at once */
	assert_int_equal(call6(__NR_setpriority, 1, 0, 0, 0), SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_setpriority, 2, 0, 0, 0), SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_ioprio_set, 1, 0, 0, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_ioprio_set, 1, 7, 0, 0), SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_ioprio_set, 2, 0, 0, 0), SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_ioprio_set, 3, 0, 0, 0), SC_ERRNO(EPERM));
	for (unsigned i = 0; i < 4; i++) {
		const int nr[] = {__NR_sched_setparam, __NR_sched_setscheduler,
			__NR_sched_setaffinity, __NR_sched_setattr};

		assert_int_equal(call6(nr[i], 0, 0, 0, 0), SC_ALLOW);
		assert_int_equal(call6(nr[i], 7, 0, 0, 0), SC_ERRNO(EPERM));
	}
	assert_int_equal(
		call6(__NR_memfd_create, 1, 0, 0, 0), SC_ERRNO(EACCES));
	assert_int_equal(call6(__NR_memfd_create, 1, 9, 0, 0), SC_ALLOW);
	build(&(struct seccomp_spec){.others = true, .memfd_exec = true});
	assert_int_equal(call6(__NR_prlimit64, 7, 0, 1, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_sched_setaffinity, 7, 0, 0, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_setpriority, 0, 7, 0, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_ioprio_set, 1, 7, 0, 0), SC_ALLOW);
	/* a group may have members outside */
	assert_int_equal(call6(__NR_setpriority, 1, 0, 0, 0), SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_ioprio_set, 2, 0, 0, 0), SC_ERRNO(EPERM));
	assert_int_equal(call6(__NR_memfd_create, 1, 0, 0, 0), SC_ALLOW);
}

static void watched_calls(void **state)
{
	(void)state;
	build(&(struct seccomp_spec){.watch = WATCH_EXEC});
	assert_int_equal(call(__NR_execve, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_execveat, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_clone, 17), SC_ALLOW);
	assert_int_equal(call(__NR_clone, 0x10000000), SC_ERRNO(EPERM));
	assert_int_equal(call(__NR_openat, 0), SC_ALLOW);
	build(&(struct seccomp_spec){.watch = WATCH_EXEC | WATCH_FILES});
	assert_int_equal(call(__NR_openat, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_execve, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_renameat2, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_read, 0), SC_ALLOW);
}

/* What changes metadata is done by the watch; what it cannot do is refused. */
static void metadata_calls(void **state)
{
	static const uint32_t flags[] = {0x40086602 /* FS_IOC_SETFLAGS */,
		0x401c5820 /* FS_IOC_FSSETXATTR */,
		0x40087602 /* FS_IOC_SETVERSION */, 0x40046602, 0x800c6613,
		0x40806685 /* FS_IOC_ENABLE_VERITY */};
	static const uint32_t others[] = {0x80086601 /* FS_IOC_GETFLAGS */,
		0x801c581f /* FS_IOC_FSGETXATTR */, 0x5401 /* TCGETS */,
		0x40049409 /* FICLONE */, 0x541b /* FIONREAD */};

	(void)state;
	build(&(struct seccomp_spec){.watch = WATCH_METADATA});
	assert_int_equal(call(__NR_fchmodat, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_fchownat, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_utimensat, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_fremovexattr, 0), SC_NOTIFY);
	assert_int_equal(call(452, 0), SC_NOTIFY);
	assert_int_equal(call(463, 0), SC_ERRNO(ENOSYS));
	assert_int_equal(call(469, 0), SC_ERRNO(EPERM));
	assert_int_equal(call(__NR_execve, 0), SC_ALLOW);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		assert_int_equal(call6(__NR_ioctl, 3, flags[i], 0, 0),
			SC_ERRNO(EPERM));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(
			call6(__NR_ioctl, 3, others[i], 0, 0), SC_ALLOW);
	build(&(struct seccomp_spec){.watch = WATCH_EXEC});
	assert_int_equal(call(__NR_fchmodat, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_ioctl, 3, flags[0], 0, 0), SC_ALLOW);
}

static void what_changes_files_is_shown_and_what_reads_is_not(void **state)
{
	(void)state;
	build(&(struct seccomp_spec){.watch = WATCH_WRITES});
	assert_int_equal(call6(__NR_openat, 3, 0, O_RDONLY, 0), SC_ALLOW);
	assert_int_equal(
		call6(__NR_openat, 3, 0, O_RDONLY | O_DIRECTORY, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_openat, 3, 0, O_WRONLY, 0), SC_NOTIFY);
	assert_int_equal(call6(__NR_openat, 3, 0, O_RDWR, 0), SC_NOTIFY);
	assert_int_equal(call6(__NR_openat, 3, 0, O_CREAT, 0), SC_NOTIFY);
	assert_int_equal(call6(__NR_openat, 3, 0, O_TRUNC, 0), SC_NOTIFY);
	/* Its flags are in memory. */
	assert_int_equal(call(__NR_openat2, 0), SC_ERRNO(ENOSYS));
	assert_int_equal(call(__NR_unlinkat, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_renameat2, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_truncate, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_fchmod, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_fsetxattr, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_bind, 0), SC_NOTIFY);
	assert_int_equal(call(__NR_connect, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_ioctl, 3, 0x40086602, 0, 0),
		SC_ERRNO(EPERM)); /* FS_IOC_SETFLAGS */
	build(&(struct seccomp_spec){.watch = WATCH_EXEC});
	assert_int_equal(call6(__NR_openat, 3, 0, O_WRONLY, 0), SC_ALLOW);
	assert_int_equal(call(__NR_unlinkat, 0), SC_ALLOW);
}

static void what_old_kernels_do_not_hold_is_held(void **state)
{
	const struct seccomp_spec specs[] = {{.uncut = true},
		{.uncut = true, .watch = WATCH_WRITES | WATCH_SCOPE},
		{.uncut = true, .watch = WATCH_FILES}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		build(&specs[i]);
		assert_int_equal(call(__NR_truncate, 0), SC_ERRNO(EACCES));
		assert_int_equal(call(__NR_openat2, 0), SC_ERRNO(ENOSYS));
		for (uint64_t mode = 0; mode < 4; mode++) {
			const uint32_t got = call6(
				__NR_openat, 3, 0, mode | O_TRUNC | O_CREAT, 0);

			assert_int_equal(got == SC_ERRNO(EACCES),
				mode == O_RDONLY || mode == 3);
			assert_int_not_equal(
				call6(__NR_openat, 3, 0, mode | O_CREAT, 0),
				SC_ERRNO(EACCES));
		}
		assert_int_equal(call(__NR_ftruncate, 3), SC_ALLOW);
	}
	for (unsigned scope = 0; scope <= 1; scope++) {
		const uint32_t want = scope ? SC_NOTIFY : SC_ALLOW;
		const uint32_t no = scope ? SC_ERRNO(EPERM) : SC_ALLOW;
		static const int calls[] = {__NR_kill, __NR_tkill, __NR_tgkill,
			__NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo,
			NR_PIDFD_SEND_SIGNAL};

		build(&(struct seccomp_spec){
			.watch = scope ? WATCH_SCOPE : WATCH_EXEC});
		for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
			assert_int_equal(call(calls[i], 1), want);
		assert_int_equal(call6(__NR_fcntl, 3, F_SETOWN, 1, 0), no);
		assert_int_equal(call6(__NR_fcntl, 3, SECCOMP_SETOWN_EX, 1, 0), no);
		assert_int_equal(call6(__NR_fcntl, 3, F_GETOWN, 1, 0), SC_ALLOW);
		assert_int_equal(call6(__NR_ioctl, 3, SECCOMP_FIOSETOWN, 1, 0), no);
		assert_int_equal(call6(__NR_ioctl, 3, SECCOMP_SIOCSPGRP, 1, 0), no);
	}
}

/* Of a call's arguments, each has 32 bits on some machine. */
static uint32_t exec_with(int nr, uint64_t pass)
{
	struct sc_data data = {.nr = nr,
		.arch = NR_AUDIT_ARCH,
		.args = {1, 2, 3, 0, (uint32_t)pass, pass >> 32}};

	return seccomp_eval(prog, prog_len, &data);
}

/* One secret number lets one's own exec through; half of it does not. */
static void the_pass(void **state)
{
	const uint64_t pass = 0x123456789abcdef0;

	(void)state;
	build(&(struct seccomp_spec){.watch = WATCH_EXEC, .pass = pass});
	assert_int_equal(exec_with(__NR_execve, pass), SC_ALLOW);
	assert_int_equal(exec_with(__NR_execve, 0), SC_NOTIFY);
	assert_int_equal(exec_with(__NR_execve, pass & 0xffffffff), SC_NOTIFY);
	assert_int_equal(exec_with(__NR_execve, pass ^ 1ULL << 63), SC_NOTIFY);
	assert_int_equal(exec_with(__NR_execve, pass ^ 1), SC_NOTIFY);
	assert_int_equal(exec_with(__NR_execveat, pass), SC_NOTIFY);
	build(&(struct seccomp_spec){.watch = WATCH_EXEC});
	assert_int_equal(exec_with(__NR_execve, 0), SC_NOTIFY);
}

/* Several calls are for oneself alone: one test answers for all of them. */
static void no_leaf_stands_twice(void **state)
{
	unsigned found = 0;

	(void)state;
	build(&(struct seccomp_spec){.inet = true, .tcp_only = true});
	for (size_t i = 0; i + 1 < prog_len; i++) {
		const struct bpf_insn1 *a = &prog[i], *b = a + 1;

		found += a->code == BPF1_LD && a->k == 16 &&
			b->code == BPF1_JEQ && b->k == 0 &&
			b[1 + b->jt].k == SC_ALLOW &&
			b[1 + b->jf].k == SC_ERRNO(EPERM);
	}
	assert_int_equal(found, 1);
}

/* Where it would start a handler outside of the sandbox. */
static void core_dumps_stay_limited(void **state)
{
	const uint64_t high = 1ULL << 32;

	(void)state;
	for (unsigned others = 0; others < 2; others++) {
		build(&(struct seccomp_spec){.others = others});
		assert_int_equal(call(__NR_setrlimit, 4), SC_ERRNO(0));
		assert_int_equal(call(__NR_setrlimit, 7), SC_ALLOW);
		assert_int_equal(
			call6(__NR_prlimit64, 0, 4, 1, 0), SC_ERRNO(0));
		assert_int_equal(
			call6(__NR_prlimit64, 0, 4, high, 1), SC_ERRNO(0));
		assert_int_equal(
			call6(__NR_prlimit64, 0, high | 4, 1, 0), SC_ERRNO(0));
		assert_int_equal(call6(__NR_prlimit64, 0, 4, 0, 1), SC_ALLOW);
		assert_int_equal(call6(__NR_prlimit64, 0, 7, 1, 1), SC_ALLOW);
		assert_int_equal(call6(__NR_prlimit64, 9, 4, 1, 0),
			SC_ERRNO(others ? 0 : EPERM));
	}
	build(&(struct seccomp_spec){.cores = true});
	assert_int_equal(call(__NR_setrlimit, 4), SC_ALLOW);
	assert_int_equal(call6(__NR_prlimit64, 0, 4, 1, 0), SC_ALLOW);
}

static void volumes_are_not_copied(void **state)
{
	(void)state;
	build(&(struct seccomp_spec){0});
	/* SNAP_CREATE, SUBVOL_CREATE, SNAP_DESTROY; the same with flags */
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(call6(__NR_ioctl, 3, 0x50009400 | i, 0, 0),
			SC_ERRNO(EPERM));
	/* FICLONE, FICLONERANGE, FIDEDUPERANGE */
	assert_int_equal(call6(__NR_ioctl, 3, 0x40049409, 0, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_ioctl, 3, 0x4020940d, 0, 0), SC_ALLOW);
	assert_int_equal(call6(__NR_ioctl, 3, 0xc0189436, 0, 0), SC_ALLOW);
}

static void a_broken_program_kills(void **state)
{
	struct bpf_insn1 odd[] = {{0x99, 0, 0, 0}};
	struct bpf_insn1 past[] = {{BPF1_JA, 0, 0, 5}};
	struct bpf_insn1 far[] = {{BPF1_LD, 0, 0, 64}};
	struct sc_data data = {0};

	(void)state;
	assert_int_equal(seccomp_eval(odd, 1, &data), SC_KILL_PROCESS);
	assert_int_equal(seccomp_eval(past, 1, &data), SC_KILL_PROCESS);
	assert_int_equal(seccomp_eval(far, 1, &data), SC_KILL_PROCESS);
	assert_int_equal(seccomp_eval(far, 0, &data), SC_KILL_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_program_is_sound),
		cmocka_unit_test(other_tables_are_refused),
		cmocka_unit_test(a_watch_alone_denies_nothing),
		cmocka_unit_test(the_table_is_what_the_tree_does),
		cmocka_unit_test(numbers_of_one_treatment_end_alike),
		cmocka_unit_test(high_halves_hide_nothing),
		cmocka_unit_test(sockets_by_family),
		cmocka_unit_test(pairs_are_streams),
		cmocka_unit_test(ports_are_named),
		cmocka_unit_test(tcp_alone),
		cmocka_unit_test(others_and_memory),
		cmocka_unit_test(watched_calls),
		cmocka_unit_test(metadata_calls),
		cmocka_unit_test(
			what_changes_files_is_shown_and_what_reads_is_not),
		cmocka_unit_test(what_old_kernels_do_not_hold_is_held),
		cmocka_unit_test(the_pass),
		cmocka_unit_test(no_leaf_stands_twice),
		cmocka_unit_test(core_dumps_stay_limited),
		cmocka_unit_test(volumes_are_not_copied),
		cmocka_unit_test(a_broken_program_kills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
