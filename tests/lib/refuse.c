/* refuse.c - run a command where one system call is refused
 * SPDX-License-Identifier: MIT
 *
 * refuse CALL ERRNO COMMAND...: as the filter of a container may do it.
 * refuse listener 0 COMMAND...: refuses none, and is a seccomp listener.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct insn {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

static const struct {
	const char *name;
	long nr;
} calls[] = {
	{"capset", SYS_capset},
	{"prlimit64", SYS_prlimit64},
	{"process_vm_readv", SYS_process_vm_readv},
	{"rt_sigprocmask", SYS_rt_sigprocmask},
	{"signalfd4", SYS_signalfd4},
	{"seccomp", SYS_seccomp},
	{"flock", SYS_flock},
	{"openat2", 437},
	{"close_range", 436},
	{"getrandom", SYS_getrandom},
	{"landlock_create_ruleset", 444},
	{"landlock_add_rule", 445},
	{"landlock_restrict_self", 446},
};

int main(int argc, char **argv)
{
	struct insn code[] = {
		{0x20, 0, 0, offsetof(struct { int nr; }, nr)},
		{0x15, 0, 1, 0},
		{6, 0, 0, 0x00050000},
		{6, 0, 0, 0x7fff0000},
	};
	struct {
		uint16_t len;
		struct insn *filter;
	} prog = {4, code};
	size_t i = 0;

	if (argc > 3 && strcmp(argv[1], "listener") == 0) {
		prog.filter = code + 3;
		prog.len = 1;
		/* Open for as long as the command is there. */
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			dup((int)syscall(SYS_seccomp, 1, 8, &prog)) < 0) {
			perror("refuse");
			return 125;
		}
		execvp(argv[3], argv + 3);
		return 127;
	}
	while (argc > 3 && i < sizeof(calls) / sizeof(*calls) &&
		strcmp(calls[i].name, argv[1]) != 0)
		i++;
	if (argc <= 3 || i == sizeof(calls) / sizeof(*calls)) {
		fprintf(stderr, "refuse CALL ERRNO COMMAND...\n");
		return 125;
	}
	code[1].k = (uint32_t)calls[i].nr;
	code[2].k |= (uint32_t)atoi(argv[2]);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		syscall(SYS_seccomp, 1, 0, &prog) < 0) {
		perror("refuse");
		return 125;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
