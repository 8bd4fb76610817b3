/* docker.c - run a command as a container runtime's default filter would
 * SPDX-License-Identifier: MIT
 *
 * The calls that such a filter refuses, for a process without CAP_SYS_ADMIN:
 * no namespaces, no mounts, no rings, no keys. Landlock, seccomp, prctl and
 * memfd_create are allowed.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct insn {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

int main(int argc, char **argv)
{
	static const long refused[] = {SYS_unshare, SYS_setns, SYS_mount,
		SYS_umount2, SYS_pivot_root, 428, 429, 430, 431, 432, 433, 442,
		438, 425, 426, 427, SYS_keyctl, SYS_add_key, SYS_request_key,
		SYS_userfaultfd, SYS_bpf, SYS_perf_event_open,
		SYS_open_by_handle_at};
	enum { N = sizeof(refused) / sizeof(*refused) };
	struct insn code[2 * N + 16];
	struct {
		uint16_t len;
		struct insn *filter;
	} prog = {0, code};
	size_t n = 0;

	code[n++] = (struct insn){0x20, 0, 0, 0};
	for (size_t i = 0; i < N; i++) {
		code[n++] = (struct insn){0x15, 0, 1, (uint32_t)refused[i]};
		code[n++] = (struct insn){6, 0, 0, 0x00050000 | EPERM};
	}
	/* clone3 is unknown; clone makes no namespaces */
	code[n++] = (struct insn){0x15, 0, 1, 435};
	code[n++] = (struct insn){6, 0, 0, 0x00050000 | ENOSYS};
	code[n++] = (struct insn){0x15, 0, 3, SYS_clone};
	code[n++] = (struct insn){0x20, 0, 0, 16};
	code[n++] = (struct insn){0x45, 0, 1, 0x7e020000};
	code[n++] = (struct insn){6, 0, 0, 0x00050000 | EPERM};
	code[n++] = (struct insn){6, 0, 0, 0x7fff0000};
	prog.len = (uint16_t)n;
	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		syscall(SYS_seccomp, 1, 0, &prog) < 0) {
		perror("docker");
		return 125;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
