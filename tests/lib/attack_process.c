/* attack_process.c - ways to other processes, and to more than one's share
 * SPDX-License-Identifier: MIT
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long a_prlimit(void)
{
	struct rlimit none = {0, 0};

	return prlimit((pid_t)number(0), RLIMIT_CPU,
		word(1)[0] == 'r' ? NULL : &none,
		word(1)[0] == 'r' ? &none : NULL);
}

static long a_affinity(void)
{
	unsigned long one = 1;

	return syscall(SYS_sched_setaffinity, number(0), sizeof(one), &one);
}

static long a_kill(void)
{
	return kill((pid_t)number(0), (int)number(1));
}

static long a_vmread(void)
{
	char c;
	struct iovec l = {&c, 1}, r = {(void *)environ, 1};

	return syscall(SYS_process_vm_readv, number(0), &l, 1, &r, 1, 0);
}

static long a_vmwrite(void)
{
	char c = 0;
	struct iovec l = {&c, 1}, r = {(void *)environ, 1};

	return syscall(SYS_process_vm_writev, number(0), &l, 1, &r, 1, 0);
}

/* A harmless signal by every call there is: the last one's result, or the
 * first that got through. */
static long a_signals(void)
{
	siginfo_t info = {.si_signo = SIGWINCH, .si_code = SI_QUEUE};
	long pid = number(0);
	long fd = syscall(434 /* pidfd_open */, pid, 0);

	if (kill((pid_t)pid, SIGWINCH) == 0 ||
		syscall(SYS_tgkill, pid, pid, SIGWINCH) == 0 ||
		syscall(SYS_tkill, pid, SIGWINCH) == 0 ||
		syscall(SYS_rt_sigqueueinfo, pid, SIGWINCH, &info) == 0 ||
		syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGWINCH, &info) == 0)
		return 0;
	return syscall(424 /* pidfd_send_signal */, fd, SIGWINCH, NULL, 0);
}

/* The kernel sends it, when a pipe can be read. */
static long a_sigio(void)
{
	int fd[2];

	if (pipe(fd) < 0 || fcntl(fd[0], F_SETOWN, (int)number(0)) < 0 ||
		fcntl(fd[0], F_SETSIG, SIGWINCH) < 0 ||
		fcntl(fd[0], F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
		return -1;
	return write(fd[1], "x", 1) == 1 ? 0 : -1;
}

/* Takes SIZE MiB of memory and touches it. */
static long a_alloc(void)
{
	for (long i = 0; i < number(0); i++) {
		char *p = malloc(1 << 20);

		if (!p)
			return -1;
		memset(p, 1, 1 << 20);
	}
	return 0;
}

static void *alloc_and_leave(void *arg)
{
	a_alloc();
	sleep(2);
	_exit(0);
	return arg;
}

/* The same by another thread than the first, which has ended. */
static long a_alloc_headless(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, alloc_and_leave, NULL))
		return -1;
	pthread_exit(NULL);
}

/* N children that use MS milliseconds of processor each, one after another, and
 * whom nobody waits for. */
static long a_burn(void)
{
	struct timespec t = {0, 0};

	signal(SIGCHLD, SIG_IGN);
	for (long i = 0; i < number(0); i++) {
		if (fork() == 0) {
			while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < number(1))
				clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}

static long a_memfd_fill(void)
{
	int fd = memfd_create("x", 8);
	static char mib[1 << 20];

	for (long i = 0; fd >= 0 && i < number(0); i++)
		if (write(fd, mib, sizeof(mib)) != sizeof(mib))
			return -1;
	return fd < 0 ? -1 : 0;
}

/* Stops when it has taken all signals that its user may have waiting; a child of
 * it goes on for a second, and then makes a file. */
static long a_stop_late(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	while (sigqueue(getpid(), SIGRTMIN + 1, (union sigval){0}) == 0)
		;
	if (fork() == 0) {
		sleep(1);
		_exit(creat(word(0), 0600) < 0);
	}
	raise(SIGSTOP);
	sleep(20);
	return 0;
}

/* Forks N children that stay; prints how many it got. */
static long a_forks(void)
{
	long n = 0;
	pid_t pid;

	while (n < number(0) && (pid = fork()) >= 0) {
		if (pid == 0) {
			sleep(20);
			_exit(0);
		}
		n++;
	}
	printf("%ld ", n);
	if (words[1])
		sleep(5);
	return n < number(0) ? -1 : 0;
}

/* Starts the next one and ends; the last one makes a file. */
static void chain(time_t end)
{
	while (time(NULL) < end) {
		pid_t pid = fork();

		if (pid > 0)
			_exit(0);
		/* Where there is no room for another one it tries again. */
		if (pid == 0)
			setsid();
	}
	_exit(creat(word(2), 0600) < 0);
}

/* N chains of processes, for SECONDS, that make FILE in the end. */
static long a_chain(void)
{
	time_t end = time(NULL) + number(1);

	for (long i = 0; i < number(0); i++)
		if (fork() == 0)
			chain(end);
	sleep((unsigned)number(1));
	return 0;
}

static void *sleeper(void *arg)
{
	sleep(20);
	return arg;
}

static long a_threads(void)
{
	pthread_attr_t attr;
	pthread_t t;
	long n = 0;
	int err = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	while (n < number(0) &&
		(err = pthread_create(&t, &attr, sleeper, NULL)) == 0)
		n++;
	printf("%ld ", n);
	errno = err;
	return err ? -1 : 0;
}

static long a_fds(void)
{
	long n = 0;

	while (n < number(0) && dup(0) >= 0)
		n++;
	return n < number(0) ? -1 : 0;
}

static long a_spin(void)
{
	for (volatile long i = 0;; i++)
		;
}

/* setsid, twice forked: belongs to nobody. */
static long a_daemon(void)
{
	if (fork())
		return 0;
	setsid();
	if (fork())
		_exit(0);
	for (int i = 0; i < 3; i++)
		close(i);
	execlp("sleep", word(0), word(1), NULL);
	_exit(1);
}

/* Swaps the path between the look and the run: prints how often the second
 * program ran in N attempts. The two paths are of one length. */
static struct {
	char path[256];
	const char *a, *b;
	int stop;
} race;

static void *swap(void *arg)
{
	size_t n = strlen(race.a);

	while (!race.stop) {
		memcpy(race.path, race.a, n);
		for (volatile int i = 0; i < 300; i++)
			;
		memcpy(race.path, race.b, n);
		for (volatile int i = 0; i < 300; i++)
			;
	}
	return arg;
}

static long a_race(void)
{
	long won = 0;

	race.a = word(1);
	race.b = word(2);
	snprintf(race.path, sizeof(race.path), "%s", race.a);
	for (long i = 0; i < number(0); i++) {
		pid_t pid = fork();
		int st;

		if (pid == 0) {
			char *args[] = {race.path, NULL};
			pthread_t t;

			pthread_create(&t, NULL, swap, NULL);
			for (int k = 0; k < 20; k++)
				execve(race.path, args, environ);
			_exit(0);
		}
		waitpid(pid, &st, 0);
		won += WIFEXITED(st) && WEXITSTATUS(st) == 42;
	}
	printf("%ld ", won);
	return won ? 0 : -1;
}

/* Whoever started it is to trace it, and sees it stop by a signal of its own
 * choice; meanwhile something is left behind. */
static long a_traceme(void)
{
	pid_t self = getpid();

	if (fork() == 0) {
		setsid();
		usleep(700000);
		execlp("touch", "touch", word(1), NULL);
	}
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
		return -1;
	return kill(self, (int)number(0));
}

const struct attack attacks_process[] = {
	{"prlimit", a_prlimit},
	{"affinity", a_affinity},
	{"kill", a_kill},
	{"signals", a_signals},
	{"sigio", a_sigio},
	{"vmread", a_vmread},
	{"vmwrite", a_vmwrite},
	{"alloc", a_alloc},
	{"alloc-headless", a_alloc_headless},
	{"burn", a_burn},
	{"memfd-fill", a_memfd_fill},
	{"stop-late", a_stop_late},
	{"forks", a_forks},
	{"threads", a_threads},
	{"fds", a_fds},
	{"spin", a_spin},
	{"daemon", a_daemon},
	{"chain", a_chain},
	{"race", a_race},
	{"traceme", a_traceme},
	{NULL, NULL},
};
