/* cli_guard.c - what front ends of the guard share: facts, questions, endings
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cli.h"
#include "sys/file.h"
#include "sys/sig.h"
#include "base/str.h"
#include "base/utf8.h"

extern char **environ;

/* What a reader of the line might not see. */
static void add_unusual(struct buf *out, const char *line)
{
	size_t n = strlen(line), hidden = 0, lines = 1;
	bool foreign = false;

	for (size_t i = 0; i < n;) {
		uint32_t cp = 0;
		size_t len = utf8_decode(line + i, n - i, &cp);

		/* The end of the last line begins none. */
		lines += line[i] == '\n' && line[i + 1];
		hidden += (!len || utf8_is_hidden(cp)) && line[i] != '\n' &&
			line[i] != '\t';
		foreign |= cp > 0x7f;
		i += len ? len : 1;
	}
	if (lines > 1)
		buf_addf(out, "  unusual: %zu lines\n", lines);
	if (hidden)
		buf_addf(out, "  unusual: %zu characters that do not show\n",
			hidden);
	if (foreign)
		buf_adds(out, "  unusual: letters that are not ASCII\n");
	if (n > 1000)
		buf_addf(out, "  unusual: %zu bytes long\n", n);
}

/* The rule, and where it stands unless it stands in no file. */
static void add_rule(struct buf *out, const struct policy_verdict *v)
{
	buf_adds(out, v->rule);
	if (v->line)
		buf_addf(out, " (%s:%u)", v->file, v->line);
	buf_addf(out, ": %s", v->reason);
}

/* Escaped, but with its line ends, and not endless. */
static void add_line(struct buf *out, const char *line)
{
	enum { SHOWN = 2000 };
	size_t n = strlen(line), shown = n < SHOWN ? n : SHOWN;
	size_t at = 0;

	while (at < shown) {
		size_t part = strcspn(line + at, "\n");

		if (part > shown - at)
			part = shown - at;
		buf_adds(out, "    ");
		cli_escape(out, line + at, part);
		buf_addc(out, '\n');
		at += part + 1;
	}
	if (n > shown)
		buf_addf(out, "    … %zu bytes more\n", n - shown);
}

/* The terminal, with lines and their ends even while a command has it raw. */
struct person {
	int tty;
	bool raw;
	struct termios was;
};

static struct person person_find(void)
{
	struct person at = {.tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)};
	struct termios lines;

	if (at.tty < 0 || tcgetattr(at.tty, &at.was))
		return at;
	at.raw = !(at.was.c_lflag & ICANON);
	lines = at.was;
	lines.c_iflag |= ICRNL;
	lines.c_oflag |= OPOST | ONLCR;
	lines.c_lflag |= ICANON | ECHO | ECHOE | ISIG;
	if (at.raw)
		tcsetattr(at.tty, TCSADRAIN, &lines);
	return at;
}

static void person_leave(struct person *at)
{
	if (at->raw)
		tcsetattr(at->tty, TCSADRAIN, &at->was);
	if (at->tty >= 0)
		close(at->tty);
}
#define autoperson autoclean(person_leave)

/* Ctrl-C at the question. */
static int stopped;

static bool is_ignored(int sig)
{
	struct sigaction act;

	return sigaction(sig, NULL, &act) == 0 && act.sa_handler == SIG_IGN;
}

/* A line from the terminal, 0 when there is none. Ctrl-C is a no that is
 * recorded, not the end of this process. Where SIGINT was blocked before, because
 * this process waits for a command, it stays to be read: it is the command's. */
static size_t read_answer(int tty, char *answer, size_t size)
{
	struct signalfd_siginfo got;
	sigset_t only, mask;
	autofd int keys = -1;
	ssize_t n = -1;

	sigemptyset(&only);
	sigaddset(&only, SIGINT);
	sigprocmask(SIG_BLOCK, &only, &mask);
	if (!is_ignored(SIGINT))
		keys = signalfd(-1, &only, SFD_CLOEXEC | SFD_NONBLOCK);
	while (!stopped && n < 0) {
		struct pollfd in[] = {{.fd = tty, .events = POLLIN},
			{.fd = keys, .events = POLLIN}};

		if (poll(in, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (in[1].revents)
			stopped = SIGINT;
		else if ((n = read(tty, answer, size)) < 0 && errno != EINTR)
			break;
	}
	if (stopped && !sigismember(&mask, SIGINT) &&
		read(keys, &got, sizeof got) < 0)
		stopped = 0;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return n > 0 && answer[n - 1] == '\n' ? (size_t)n - 1 : 0;
}

/* "y", "Yes"; nothing that merely begins so. */
static bool answers(const char *answer, size_t n, const char *word)
{
	return (n == 1 || n == strlen(word)) && !strncasecmp(answer, word, n);
}

static int ask(void *ctx, const struct policy_verdict *v, const char *line)
{
	autoperson struct person at = person_find();
	autobuf struct buf out = BUF_INIT(65536);
	char answer[64];
	size_t n;

	(void)ctx;
	if (at.tty < 0)
		return -ENXIO;
	buf_adds(&out, "wardbox: this wants your yes:\n");
	add_line(&out, line);
	if (v->command[0] && !str_eq(v->command, line)) {
		buf_adds(&out, "  because of: ");
		cli_escape_str(&out, v->command);
		buf_addc(&out, '\n');
	}
	add_unusual(&out, line);
	buf_adds(&out, "  rule ");
	add_rule(&out, v);
	buf_adds(&out, "\nRun it? [y]es, [N]o, [a]lways in this session: ");
	/* What was typed before the question is no answer to it. */
	stopped = 0;
	tcflush(at.tty, TCIFLUSH);
	if (out.err || file_write_all(at.tty, out.data, out.len))
		return -ENXIO;
	n = read_answer(at.tty, answer, sizeof answer);
	if (stopped)
		(void)!write(at.tty, "\n", 1);
	return answers(answer, n, "always") ? 2 : answers(answer, n, "yes");
}

static void tell_person(const struct diag *d)
{
	autoperson struct person at = person_find();

	if (at.tty >= 0 && isatty(STDERR_FILENO))
		cli_diag(d);
}

static void tell(const struct diag *d, int fd)
{
	if (fd >= 0)
		cli_diag_to(fd, d);
	else
		tell_person(d);
}

void cli_guard_facts(struct guard_caller *who)
{
	who->env = environ;
	who->profile = getenv("WARDBOX_PROFILE");
	who->ask = ask;
	who->tell = tell;
}

bool cli_guard_on_terminal(void)
{
	return tcgetpgrp(STDIN_FILENO) >= 0 && isatty(STDOUT_FILENO);
}

/* With what the policy calls that limit. */
static void tell_limit(const struct guard_outcome *r, enum limits_kind limit,
	const char *what)
{
	static const char key[LIMITS_KINDS][6] = {[LIMITS_CPU] = "cpu",
		[LIMITS_MEM] = "mem",
		[LIMITS_PROCS] = "procs",
		[LIMITS_FILES] = "files",
		[LIMITS_OUTPUT] = "out"};
	struct diag d;

	diag_fail(&d, -EDQUOT, "%s", what);
	if (key[limit][0])
		diag_hint(&d, "root allows more: 'limit %s %s=…' in %s",
			policy_profile_name(r->profile), key[limit],
			POLICY_SYSTEM);
	cli_diag(&d);
}

/* What the command left behind, and is no more. */
static void tell_ended(const struct guard_outcome *r)
{
	struct diag d;

	if (r->run.ended > 1)
		diag_fail(&d, -ECANCELED,
			"ended with the command that left them running: %s"
			" (pid %d) and %u more", r->run.ended_name,
			(int)r->run.ended_pid, r->run.ended - 1);
	else
		diag_fail(&d, -ECANCELED,
			"ended with the command that left it running: %s"
			" (pid %d)", r->run.ended_name, (int)r->run.ended_pid);
	diag_hint(&d, "'wardbox exec -- COMMAND' keeps it, and so does"
		" 'profile %s background=keep' in %s",
		policy_profile_name(r->profile), POLICY_SYSTEM);
	cli_diag(&d);
}

void cli_guard_tell(const struct guard_outcome *r)
{
	const struct policy_verdict *v = &r->verdict;
	const char *debug = getenv("WARDBOX_DEBUG");
	char text[1024];
	struct buf rule = BUF_FIXED(text);
	bool said;

	if (!r->ran || r->broken)
		cli_diag(&r->diag);
	else if (r->run.limit != LIMITS_NONE)
		tell_limit(r, r->run.limit,
			BUF_PRINT(text, "ended: it went over its limit on %s",
				limits_name(r->run.limit)));
	else if (r->run.unstarted)
		tell_limit(r, LIMITS_PROCS,
			BUF_PRINT(text, "not started: %s%s: more processes than"
				" allowed", r->run.unstarted_name,
				r->run.unstarted > 1 ? " and others" : ""));
	else if (r->run.cut)
		tell_limit(r, LIMITS_OUTPUT,
			"output cut: it went over its limit on output");
	else if (r->run.ended)
		tell_ended(r);
	/* A program may read what comes on stderr; a person can do something. */
	said = r->ran && !r->broken && r->remark.text[0];
	if (!debug || !str_eq(debug, "1")) {
		if (said && isatty(STDERR_FILENO))
			cli_diag(&r->remark);
		return;
	}
	add_rule(&rule, v);
	cli_warn("profile %s, session %s: %s by rule %s",
		policy_profile_name(r->profile), r->session,
		policy_decision_name(v->decision), buf_str(&rule));
	if (said)
		cli_diag(&r->remark);
}

void cli_guard_exit(const struct guard_outcome *r)
{
	int sig = guard_exit_signal(r);

	cli_guard_tell(r);
	/* The caller's loop is to see that it was stopped. */
	if (!r->ran && stopped)
		sig = stopped;
	if (sig)
		sig_die(sig);
	exit(r->code);
}

void cli_guard_end(const struct guard_request *q)
{
	static struct guard_outcome r;

	guard_run(q, &r);
	cli_guard_exit(&r);
}
