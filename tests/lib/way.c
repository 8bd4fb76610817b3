/* way.c - which functions a program goes through until one of them returns
 * SPDX-License-Identifier: MIT
 *
 * way LIST STOP COMMAND [ARG...]
 *
 * LIST has a line "OFFSET NAME FILE" for each function of the program: its place
 * in the file as loaded, in hexadecimal. The program runs with a breakpoint at
 * each of them, taken away when it is met. When STOP returns for the first time
 * the program is killed, and each function that was met is printed, in order:
 * "NAME FILE self", or "child" where a process met it first that the program made.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
enum { FUNCTIONS = 16384, TRAP = 0xcc };

static struct function {
	unsigned long at;
	long word; /* what stood there */
	char name[96], file[96];
	int met;
} list[FUNCTIONS];
static size_t count;
static unsigned long base, ret;
static long ret_word;

static void die(const char *what)
{
	fprintf(stderr, "way: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void read_list(const char *path)
{
	FILE *f = fopen(path, "re");
	struct function *fn = list;

	if (!f)
		die(path);
	while (count < FUNCTIONS &&
		fscanf(f, "%lx %95s %95s", &fn->at, fn->name, fn->file) == 3) {
		fn++;
		count++;
	}
	fclose(f);
}

/* Where the program's first page lies: the first mapping of a file. */
static void find_base(pid_t pid)
{
	char line[512];
	FILE *f;

	snprintf(line, sizeof line, "/proc/%d/maps", (int)pid);
	f = fopen(line, "re");
	if (!f)
		die("maps");
	while (!base && fgets(line, sizeof line, f))
		if (strchr(line, '/'))
			base = strtoul(line, NULL, 16);
	fclose(f);
}

static long plant(pid_t pid, unsigned long at)
{
	long word = ptrace(PTRACE_PEEKTEXT, pid, at, 0);

	ptrace(PTRACE_POKETEXT, pid, at, (word & ~0xffL) | TRAP);
	return word;
}

static void take(pid_t pid, unsigned long at, long word)
{
	long now = ptrace(PTRACE_PEEKTEXT, pid, at, 0);

	ptrace(PTRACE_POKETEXT, pid, at, (now & ~0xffL) | (word & 0xff));
}

static int by_place(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static struct function *at_place(unsigned long at)
{
	struct function key = {.at = at - base};

	return bsearch(&key, list, count, sizeof *list, by_place);
}

/* A breakpoint was met. 1: it was the end. */
static int met(pid_t pid, pid_t self, const char *stop, int *order)
{
	struct user_regs_struct r;
	struct function *fn;

	if (ptrace(PTRACE_GETREGS, pid, 0, &r))
		return 0;
	r.rip--;
	if (ret && r.rip == ret)
		return pid == self;
	fn = at_place(r.rip);
	if (!fn)
		return 0;
	take(pid, r.rip, fn->word);
	ptrace(PTRACE_SETREGS, pid, 0, &r);
	if (!fn->met)
		fn->met = pid == self ? ++*order : -++*order;
	if (!ret && pid == self && strcmp(fn->name, stop) == 0) {
		ret = (unsigned long)ptrace(PTRACE_PEEKDATA, pid, r.rsp, 0);
		ret_word = plant(pid, ret);
	}
	return 0;
}

static void print(int last)
{
	for (int i = 1; i <= last; i++)
		for (size_t k = 0; k < count; k++)
			if (abs(list[k].met) == i)
				printf("%s %s %s\n", list[k].name, list[k].file,
					list[k].met > 0 ? "self" : "child");
}

int main(int argc, char **argv)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK |
		PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
	int status, order = 0, sig;
	pid_t self, pid;

	if (argc < 4)
		return 2;
	read_list(argv[1]);
	qsort(list, count, sizeof *list, by_place);
	self = fork();
	if (!self) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[3], argv + 3);
		_exit(127);
	}
	if (waitpid(self, &status, 0) != self || !WIFSTOPPED(status))
		die(argv[3]);
	ptrace(PTRACE_SETOPTIONS, self, 0, options);
	find_base(self);
	for (size_t i = 0; i < count; i++)
		list[i].word = plant(self, base + list[i].at);
	ptrace(PTRACE_CONT, self, 0, 0);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			if (pid == self)
				break;
			continue;
		}
		sig = WSTOPSIG(status);
		if (status >> 16 == PTRACE_EVENT_EXEC) {
			/* Another program: none of our breakpoints. */
			ptrace(PTRACE_DETACH, pid, 0, 0);
			continue;
		}
		if (status >> 16 || sig == SIGSTOP)
			sig = 0;
		if (sig == SIGTRAP) {
			if (met(pid, self, argv[2], &order)) {
				kill(self, SIGKILL);
				break;
			}
			sig = 0;
		}
		ptrace(PTRACE_CONT, pid, 0, sig);
	}
	print(order);
	return ret ? 0 : 1;
}
#else
int main(void)
{
	fprintf(stderr, "way: only for x86_64\n");
	return 77;
}
#endif
