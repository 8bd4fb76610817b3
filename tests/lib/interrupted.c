/* interrupted.c - calls that wait for a supervisor, under signals
 * SPDX-License-Identifier: MIT
 *
 * interrupted N FILE makes N execs of what is not there and N changes of FILE's
 * mode, while SIGALRM, SIGCHLD and SIGWINCH come, a thousand a second each, whose
 * handlers do not restart calls. It prints how many calls were interrupted:
 *
 *	exec COUNT chmod COUNT signals COUNT
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static void count(int sig)
{
	(void)sig;
	came++;
}

/* Sends the signals of which there is no timer, until its parent is gone. */
static void pester(pid_t parent)
{
	while (getppid() == parent) {
		kill(parent, SIGWINCH);
		kill(parent, SIGCHLD);
		usleep(1000);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	const struct itimerval ms = {{0, 1000}, {0, 1000}};
	const struct sigaction act = {.sa_handler = count};
	static char *const none[] = {NULL};
	long n = argc > 2 ? strtol(argv[1], NULL, 10) : 0, execs = 0, modes = 0;
	const pid_t self = getpid();
	pid_t other;

	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGCHLD, &act, NULL);
	sigaction(SIGWINCH, &act, NULL);
	other = fork();
	if (other == 0)
		pester(self);
	setitimer(ITIMER_REAL, &ms, NULL);
	for (long i = 0; i < n; i++) {
		execve("/not/there", none, none);
		execs += errno == EINTR;
		if (chmod(argv[2], i % 2 ? 0600 : 0640) < 0)
			modes += errno == EINTR;
	}
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	kill(other, SIGKILL);
	printf("exec %ld chmod %ld signals %d\n", execs, modes, (int)came);
	return 0;
}
