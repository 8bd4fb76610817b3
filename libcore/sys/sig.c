/* sig.c - signals by name, and given back to a child as they were
 * SPDX-License-Identifier: MIT
 */
#include "sys/sig.h"

#include <errno.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/str.h"

static const struct {
	char name[7];
	unsigned char number;
} signals[] = {
	{"HUP", SIGHUP}, {"INT", SIGINT}, {"QUIT", SIGQUIT}, {"ILL", SIGILL},
	{"TRAP", SIGTRAP}, {"ABRT", SIGABRT}, {"BUS", SIGBUS}, {"FPE", SIGFPE},
	{"KILL", SIGKILL}, {"USR1", SIGUSR1}, {"SEGV", SIGSEGV},
	{"USR2", SIGUSR2}, {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},
	{"TERM", SIGTERM}, {"STKFLT", SIGSTKFLT}, {"CHLD", SIGCHLD},
	{"CONT", SIGCONT}, {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
	{"TTIN", SIGTTIN}, {"TTOU", SIGTTOU}, {"URG", SIGURG},
	{"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM},
	{"PROF", SIGPROF}, {"WINCH", SIGWINCH}, {"IO", SIGIO},
	{"PWR", SIGPWR}, {"SYS", SIGSYS},
};

const char *sig_name(int sig, char *buf, size_t size)
{
	struct buf b = {.data = buf, .cap = size, .max = size - 1};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i].number == sig)
			return signals[i].name;
	if (sig < SIGRTMIN || sig > SIGRTMAX)
		return NULL;
	buf_addf(&b, "RTMIN+%d", sig - SIGRTMIN);
	return buf_str(&b);
}

int sig_number(const char *name)
{
	unsigned n;

	if (!num_uint(name, 1, (unsigned)SIGRTMAX, &n))
		return (int)n;
	if (strncasecmp(name, "SIG", 3) == 0)
		name += 3;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (strcasecmp(name, signals[i].name) == 0)
			return signals[i].number;
	if (strncasecmp(name, "RTMIN+", 6) == 0 &&
		!num_uint(name + 6, 0, (unsigned)(SIGRTMAX - SIGRTMIN), &n))
		return SIGRTMIN + (int)n;
	return -EINVAL;
}

void sig_die(int sig)
{
	struct rlimit none = {0, 0};
	sigset_t set;

	/* The command wrote its core, if it had one; ours would overwrite
	 * it. */
	prlimit(0, RLIMIT_CORE, &none, NULL);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* raise() signals this thread alone; where getpid() is refused, kill()
	 * would signal everybody. */
	raise(sig);
	_exit(128 + sig);
}
