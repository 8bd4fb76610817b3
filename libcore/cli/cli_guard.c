/* cli_guard.c - what front ends of the guard share: facts, messages, endings
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cli_ask.h"
#include "sys/sig.h"
#include "base/str.h"

extern char **environ;

/* The terminal for messages, with line ends even while a command has it raw.
 * Keys that are typed meanwhile are the command's. */
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
	lines.c_oflag |= OPOST | ONLCR;
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

static void tell_person(const struct diag *d)
{
	autoperson struct person at = person_find();

	if (at.tty >= 0 && isatty(STDERR_FILENO))
		cli_diag(d);
}

static void tell_outcome(const struct diag *d, int fd)
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
	who->person = cli_person();
	who->tell = tell_outcome;
}

void cli_hide_words(char **words)
{
	for (char **word = words; *word; word++) {
		char *copy = strdup(*word);

		if (!copy)
			return;
		memset(*word, 0, strlen(*word));
		*word = copy;
	}
}

bool cli_guard_on_terminal(void)
{
	return tcgetpgrp(STDIN_FILENO) >= 0 && isatty(STDOUT_FILENO);
}

/* Tells the limit by the policy's name for it. */
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

/* Tells what the command had left behind and was ended. */
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
	/* A signal that ended the command was also meant for what it had
	 * started. */
	else if (r->run.ended && !WIFSIGNALED(r->status))
		tell_ended(r);
	/* Programs may read stderr, so remarks are only for a person, who can
	 * act. */
	said = r->ran && !r->broken && r->remark.text[0];
	if (!debug || !str_eq(debug, "1")) {
		if (said && isatty(STDERR_FILENO))
			cli_diag(&r->remark);
		return;
	}
	cli_ask_rule(&rule, v);
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
	/* A shell that called this must see SIGINT, so that its loop stops. */
	if (!r->ran && cli_ask_stopped())
		sig = cli_ask_stopped();
	if (sig)
		sig_die(sig);
	exit(r->code);
}
