/* instructions.c - how many instructions a command takes, one step at a time
 * usage: instructions [-N | -p] COMMAND ARG...
 * SPDX-License-Identifier: MIT
 *
 * Of the process itself, in user mode, from its first instruction (or the first
 * behind N system calls) to its end or to the program that it becomes; of those
 * it starts, none. A count that no other
 * process changes, for machines without performance counters. Its output is
 * dropped; the count is printed. With -p, on x86-64, a line for each instruction
 * that was executed instead, when it was first: how far it lies, in bytes,
 * behind the one that the program begins with.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static int begin(char **argv)
{
	int out = open("/dev/null", O_RDWR);

	dup2(out, 0);
	dup2(out, 1);
	dup2(out, 2);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	execv(argv[1], argv + 1);
	return 127;
}

/* Prints where the process is, if it has not been there. */
static void place(pid_t pid)
{
#ifdef __x86_64__
	enum { REACH = 1 << 23 };
	static unsigned char seen[2 * REACH / 8];
	static long long entry;
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return;
	if (!entry)
		entry = (long long)regs.rip;
	long long from = (long long)regs.rip - entry, bit = from + REACH;

	if (bit < 0 || bit >= 2 * REACH || seen[bit / 8] >> bit % 8 & 1)
		return;
	seen[bit / 8] |= (unsigned char)(1 << bit % 8);
	printf("%lld\n", from);
#endif
}

int main(int argc, char **argv)
{
	unsigned long long n = 0;
	bool places = argc > 1 && strcmp(argv[1], "-p") == 0;
	bool option = argc > 1 && *argv[1] == '-';
	/* A call stops at its beginning and at its end. */
	long skip = option ? -2 * atol(argv[1]) : 0;
	pid_t pid;
	int status = 0, sig;

	setvbuf(stdout, NULL, _IOLBF, 0);
	argc -= option;
	argv += option;
	pid = argc > 1 ? fork() : -1;
	if (pid == 0)
		_exit(begin(argv));
	if (pid > 0 && waitpid(pid, &status, 0) == pid)
		ptrace(PTRACE_SETOPTIONS, pid, 0,
			PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
	while (pid > 0 && WIFSTOPPED(status)) {
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			ptrace(PTRACE_DETACH, pid, 0, 0);
			waitpid(pid, &status, 0);
			break;
		}
		sig = WSTOPSIG(status);
		if (sig == SIGTRAP && skip > 0)
			skip--;
		else
			n += sig == SIGTRAP;
		if (places && sig == SIGTRAP)
			place(pid);
		if (ptrace(skip ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, pid, 0,
			    sig == SIGTRAP ? 0 : sig) ||
			waitpid(pid, &status, 0) != pid)
			break;
	}
	if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) >= 125) {
		fprintf(stderr, "instructions: no count of %s\n", argv[argc > 1]);
		return 1;
	}
	if (!places)
		printf("%llu\n", n);
	return 0;
}
