/* guard_tell.c - a denial while the command runs: recorded, kept, told
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "sys/proc_text.h"

bool guard_each(uint64_t count, bool *many)
{
	enum { EACH = 1024 };

	*many = count > EACH;
	return !*many || !(count & (count - 1));
}

/* Records a denial below an allowed line as an event of that line, because the
 * line itself did run. */
static void record_denial(struct guard *g, const char *event,
	const struct policy_verdict *v, enum guard_answer answer)
{
	const bool asks = v->would == POLICY_CONFIRM;
	const struct audit_fact facts[] = {
		{.key = "command", .text = v->command},
		{.key = "rule", .text = v->rule},
		{.key = "reason", .text = v->reason},
		{.key = "decision",
			.text = asks ? "confirm" : "deny"},
		{.key = "answer",
			.text = asks ? guard_answer_name(answer) : ""},
		{.key = "count", .number = ++g->tree.denials},
	};
	bool many;

	if (guard_each(g->tree.denials, &many))
		guard_entry_event(g, event, facts, ARRAY_SIZE(facts) - !many);
}

bool guard_in_front(pid_t pid)
{
	char text[1024], name[32];
	autofd int fd =
		openat(AT_FDCWD, BUF_PRINT(name, "/proc/%d/stat", (int)pid),
			O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	/* Compares the process's group with the foreground group of its
	 * terminal. */
	return n > 0 && proc_number(proc_stat(text, 5)) ==
				proc_number(proc_stat(text, 8));
}

/* Is the command a shell that is kept open for one line after another? */
static bool is_kept_open(const struct guard *g)
{
	return g->command->kind == GUARD_STREAM || g->io->own_job;
}

bool guard_told_already(struct guard *g, const char *program, const char *rule)
{
	const uint64_t pause = 1000000000, now = clock_ns(CLOCK_MONOTONIC);
	const char *const of[] = {program, rule};
	struct guard_said *said = g->tree.said, *oldest = said;
	uint64_t sum = 0xcbf29ce484222325U, before;

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		for (const char *s = of[i]; *s; s++)
			sum = (sum ^ (unsigned char)*s) * 0x100000001b3U;
		sum *= 0x100000001b3U;
	}
	for (size_t i = 0; i < ARRAY_SIZE(g->tree.said); i++, said++) {
		if (said->last < oldest->last)
			oldest = said;
		if (said->last && said->sum == sum)
			break;
	}
	if (said == g->tree.said + ARRAY_SIZE(g->tree.said))
		said = oldest;
	before = said->sum == sum ? said->last : 0;
	*said = (struct guard_said){.sum = sum, .last = now};
	/* A denial after a pause belongs to another line. */
	return before && (!is_kept_open(g) || now - before < pause);
}

/* Tells the command's stderr, behind what the command wrote before. A full pipe
 * gets no line, because the guard would not serve anybody while it waited for
 * the reader. */
static void tell_caller(struct guard *g, pid_t pid, const struct diag *d)
{
	const int from = g->box.sandbox.watch.err_from;
	struct pollfd to = {.fd = STDERR_FILENO, .events = POLLOUT};
	struct stat st;
	char name[32];
	autofd int fd = -1;

	/* A terminal's errors go elsewhere where the caller's do. */
	if (g->io->pty && isatty(STDERR_FILENO)) {
		if (guard_in_front(pid))
			g->caller->tell(d, -1);
		return;
	}
	if (from < 0 && (fstat(STDERR_FILENO, &st) || !S_ISFIFO(st.st_mode))) {
		if (poll(&to, 1, 0) > 0 && to.revents & POLLOUT)
			g->caller->tell(d, STDERR_FILENO);
		return;
	}
	/* Opened anew, so that O_NONBLOCK holds for this descriptor alone. */
	fd = open(BUF_PRINT(name, "/proc/self/fd/%d",
			  from < 0 ? STDERR_FILENO : from),
		O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0)
		g->caller->tell(d, fd);
}

void guard_tell_outside(struct guard *g)
{
	const struct policy_verdict *v = &g->out->verdict;
	const bool write = v->is & POLICY_IS_WRITING;
	struct diag d = {0};
	struct stat st;
	bool dir;

	if (!(v->is & POLICY_IS_OUTSIDE) || !g->terms.grants.confine ||
		!g->caller->tell || !g->out->status)
		return;
	/* The right to list names is no right to use the file. */
	dir = stat(v->file, &st) == 0 && S_ISDIR(st.st_mode);
	if (sandbox_explain(&g->box.sandbox, v->file, NULL) &
		(write ? SANDBOX_WRITE
				: dir ? SANDBOX_READ | SANDBOX_LIST
				      : SANDBOX_READ))
		return;
	/* A file that does not exist failed by itself. */
	if (!write && access(v->file, F_OK))
		return;
	diag_fail(&d, -EACCES, "out of the command's reach: %s%.120s (rule %s)",
		write ? "changes of " : "", v->file, v->rule);
	diag_hint(&d, "%s", v->alternative);
	g->caller->tell(&d, STDERR_FILENO);
}

void guard_deny(struct guard *g, const char *event, pid_t pid,
	const char *program, const struct guard_question *what,
	enum guard_answer answer)
{
	struct diag d = {0};
	bool many;

	record_denial(g, event, what->v, answer);
	guard_explain(g, what->v, answer, &d);
	if (guard_each(g->tree.denials, &many))
		guard_told_denial(g, what, true, &d);
	if (g->caller->tell && !guard_told_already(g, program, what->v->rule))
		tell_caller(g, pid, &d);
}
