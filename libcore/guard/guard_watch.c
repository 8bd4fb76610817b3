/* guard_watch.c - every program that the tree starts, judged by the same policy
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/proc_text.h"
#include "base/str.h"
#include "base/utf8.h"

/* Of a great many each that doubles their number is told: to be denied, or to
 * start, over and over must not push out of the log what was there before. */
static bool is_told(uint64_t count, bool *many)
{
	enum { EACH = 1024 };

	*many = count > EACH;
	return !*many || !(count & (count - 1));
}

/* Each program that the shell of an open line starts, with its rule. */
static void record_start(struct guard *g, const struct policy_verdict *v)
{
	const struct audit_fact facts[] = {
		{.key = "command", .text = v->command},
		{.key = "rule", .text = v->rule},
		{.key = "count", .number = ++g->tree.starts},
	};
	bool many;

	if (is_told(g->tree.starts, &many))
		guard_entry_event(
			g, "exec.open", facts, ARRAY_SIZE(facts) - !many);
}

/* A denial below an allowed line is an event of that line: the line itself did
 * run. */
static void record_denial(
	struct guard *g, const char *event, const struct policy_verdict *v)
{
	const struct audit_fact facts[] = {
		{.key = "command", .text = v->command},
		{.key = "rule", .text = v->rule},
		{.key = "reason", .text = v->reason},
		{.key = "decision",
			.text = v->would == POLICY_CONFIRM ? "confirm"
							   : "deny"},
		{.key = "count", .number = ++g->tree.denials},
	};
	bool many;

	if (is_told(g->tree.denials, &many))
		guard_entry_event(g, event, facts, ARRAY_SIZE(facts) - !many);
}

/* Whoever works at something else is not interrupted by what runs behind it:
 * what is typed then is not for us. */
static bool in_front(pid_t pid)
{
	char text[1024], name[32];
	autofd int fd =
		openat(AT_FDCWD, BUF_PRINT(name, "/proc/%d/stat", (int)pid),
			O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	/* Its group, and the one that the terminal has in front. */
	return n > 0 && proc_number(proc_stat(text, 5)) ==
				proc_number(proc_stat(text, 8));
}

/* Was it told before? Of a great many kinds the last are in the log alone. */
static bool told_already(struct guard *g, const char *program, const char *rule)
{
	const char *const of[] = {program, rule};
	uint64_t sum = 0xcbf29ce484222325U;

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		for (const char *s = of[i]; *s; s++)
			sum = (sum ^ (unsigned char)*s) * 0x100000001b3U;
		sum *= 0x100000001b3U;
	}
	for (size_t i = 0; i < g->tree.told_count; i++)
		if (g->tree.told[i] == sum)
			return true;
	if (g->tree.told_count == ARRAY_SIZE(g->tree.told))
		return true;
	g->tree.told[g->tree.told_count++] = sum;
	return false;
}

/* Why it was not started, behind what the command wrote before. To a pipe that
 * is full nothing is written: who waits for its reader would not serve it. */
static void tell_denial(struct guard *g, pid_t pid, const char *what,
	const struct policy_verdict *v)
{
	const int from = g->box.sandbox.watch.err_from;
	struct pollfd to = {.fd = STDERR_FILENO, .events = POLLOUT};
	struct diag d = {0};
	struct stat st;
	char name[32];
	autofd int fd = -1;

	if (!g->caller->tell || told_already(g, what, v->rule))
		return;
	guard_explain(g, v, false, &d);
	if (g->io->pty) {
		if (in_front(pid))
			g->caller->tell(&d, -1);
		return;
	}
	if (from < 0 && (fstat(STDERR_FILENO, &st) || !S_ISFIFO(st.st_mode))) {
		if (poll(&to, 1, 0) > 0 && to.revents & POLLOUT)
			g->caller->tell(&d, STDERR_FILENO);
		return;
	}
	/* Opened anew, so that only this side does not wait. */
	fd = open(BUF_PRINT(name, "/proc/self/fd/%d",
			  from < 0 ? STDERR_FILENO : from),
		O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0)
		g->caller->tell(&d, fd);
}

static const char *named(const struct watch_event *ev)
{
	return *ev->exe ? ev->exe : ev->path;
}

void guard_watch_change(void *ctx, const struct watch_object *o)
{
	static const char *const changes[] = {
		[WATCH_CHANGE_MODE] = "mode",
		[WATCH_CHANGE_OWNER] = "owner",
		[WATCH_CHANGE_TIMES] = "times",
		[WATCH_CHANGE_XATTR] = "attributes",
	};
	struct policy_verdict v = {
		.decision = POLICY_DENY, .would = POLICY_DENY};
	char text[sizeof v.command];
	struct buf command = BUF_FIXED(text);

	buf_addf(&command, "%s of %s", changes[o->change], o->path);
	utf8_cut(v.command, sizeof v.command, buf_str(&command));
	str_copy(v.rule, sizeof v.rule, "metadata");
	str_copy(v.reason, sizeof v.reason,
		"it is no file that the command may write");
	str_copy(v.alternative, sizeof v.alternative,
		"a file of the project, or root grants it: path rw FILE");
	record_denial(ctx, "file.deny", &v);
	tell_denial(ctx, o->pid, changes[o->change], &v);
}

static int deny_for(struct guard *g, const struct watch_event *ev,
	const char *rule, const char *reason, const char *instead)
{
	struct policy_verdict v = {
		.decision = POLICY_DENY, .would = POLICY_DENY};
	struct buf command = BUF_FIXED(v.command);

	buf_adds(&command, ev->path);
	str_copy(v.rule, sizeof(v.rule), rule);
	str_copy(v.reason, sizeof(v.reason), reason);
	str_copy(v.alternative, sizeof(v.alternative), instead);
	record_denial(g, "exec.deny", &v);
	tell_denial(g, ev->pid, named(ev), &v);
	return -EACCES;
}

/* A file that cannot be told from here, such as one by a descriptor's number
 * in another spelling than /proc/self/fd/N. */
static int deny_nameless(struct guard *g, const struct watch_event *ev)
{
	return deny_for(
		g, ev, "program", "which file it is cannot be told", "");
}

/* The sandbox of a line without programs lacks what programs are kept from: the
 * reader's word that the line starts none is not trusted, but held. */
static int deny_unread(struct guard *g, const struct watch_event *ev)
{
	return deny_for(g, ev, "brief",
		"the line was read as one that starts no program",
		"write the program's name into the line");
}

/* A person's yes to the line covers what that same rule asks below it. */
static bool approved(const struct guard *g, const struct policy_verdict *v)
{
	return v->decision == POLICY_CONFIRM && g->out->confirmed &&
	       str_eq(v->rule, g->out->verdict.rule);
}

/* The front end's own helper, called as it calls it: not for the policy to
 * judge, and with no rights but the command's. */
static bool own_helper(const struct guard *g, const struct watch_event *ev)
{
	const char *const *want = g->carry->helper_argv;

	if (!g->carry->helper || !want || !str_eq(ev->exe, g->carry->helper))
		return false;
	for (size_t i = 1; want[i]; i++)
		if (i >= ev->argc || !str_eq(ev->argv[i], want[i]))
			return false;
	return true;
}

/* The command's own process: with a terminal it is its leader's only child. */
static bool is_command(const struct guard *g, pid_t pid)
{
	pid_t first = g->box.sandbox.pid;

	return pid == (g->io->pty ? limits_child(first) : first);
}

/* A program that the shell starts is judged as if it stood in the line. Such a
 * process still has the shell's own arguments, because the shell, or a fork of
 * it, becomes the program. What programs start is theirs. */
static bool of_a_line(const struct guard *g, pid_t pid)
{
	autobuf struct buf own = BUF_INIT(WATCH_BYTES_MAX);
	autofree char *is = NULL;
	autofd int fd = -1;
	char name[32];
	size_t have = 0;
	ssize_t n = 0;

	if (g->command->kind == GUARD_ARGV)
		return false;
	for (char *const *arg = g->box.argv; *arg; arg++)
		buf_add(&own, *arg, strlen(*arg) + 1);
	/* One more byte tells a longer one. */
	is = malloc(own.len + 1);
	fd = openat(AT_FDCWD, BUF_PRINT(name, "/proc/%d/cmdline", (int)pid),
		O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !is || own.err)
		return true;
	do {
		n = read(fd, is + have, own.len + 1 - have);
		have += n > 0 ? (size_t)n : 0;
	} while (n > 0 && have <= own.len);
	return n < 0 || (have == own.len && !memcmp(is, own.data, have));
}

/* At a terminal there is a person to ask, and to tell. A shell that finds one
 * file denied tries the next of that name: it has its answer. */
static bool confirmed(struct guard *g, const struct watch_event *ev,
	const struct policy_request *req, const struct policy_verdict *v)
{
	const struct guard_question what = {
		.v = v, .cwd = req->cwd, .argv = ev->argv};
	const struct audit_fact facts[] = {
		{.key = "command", .text = v->command},
		{.key = "rule", .text = v->rule},
	};
	struct diag d = {0};
	int answer = 0;

	if (ev->pid == g->tree.refused || !in_front(ev->pid))
		return false;
	if (v->decision == POLICY_CONFIRM && !g->caller->ask_slow)
		answer = guard_put(g, &what);
	if (answer > 0 && v->is & POLICY_IS_PROTECT)
		g->tree.protect_free = true;
	if (answer > 0)
		return !g->entry.on ||
		       !audit_event(&g->entry.log, g->out->session,
			       g->out->exec_id, "exec.confirm", facts,
			       ARRAY_SIZE(facts), NULL);
	g->tree.refused = ev->pid;
	guard_explain(g, v, !answer, &d);
	if (g->caller->tell)
		g->caller->tell(&d, -1);
	(void)told_already(g, named(ev), v->rule);
	return false;
}

int guard_watch(void *ctx, const struct watch_event *ev)
{
	struct guard *g = ctx;
	struct policy_verdict v;
	struct policy_request req = {
		.argv = ev->argv,
		.path = ev->exe,
		.named = ev->path,
		.profile = g->terms.profile,
		.root = g->place.root,
		.home = g->place.home,
		.tmp = g->place.tmp,
		.places = g->place.own_name,
		.starts = true,
		.own = g->place.cache,
		.no_project = g->place.no_project,
	};

	if (own_helper(g, ev))
		return 0;
	if (ev->cut)
		return -E2BIG;
	/* A search along PATH asks for many a file that is not there: it is
	 * told so, as without a guard, and nothing was denied. */
	if (ev->missing == -ENOENT || ev->missing == -ENOTDIR)
		return ev->missing;
	if (!ev->exe[0])
		return deny_nameless(g, ev);
	if (g->box.brief)
		return deny_unread(g, ev);
	req.cwd = watch_cwd(ev);
	req.depth = ev->level || !of_a_line(g, ev->pid);
	policy_decide_exec(g->terms.policy, &req, &v);
	if ((v.decision <= POLICY_OPEN || approved(g, &v) ||
		    (!req.depth && g->io->pty && confirmed(g, ev, &req, &v))) &&
		!guard_git_denies(g, ev, req.cwd, &v) &&
		!guard_net_denies(g, true, &v)) {
		if (g->carry->becomes && !ev->level && is_command(g, ev->pid))
			g->carry->becomes(g->carry->becomes_ctx, ev);
		if (!req.depth && g->out->verdict.open)
			record_start(g, &v);
		return 0;
	}
	record_denial(g, "exec.deny", &v);
	tell_denial(g, ev->pid, named(ev), &v);
	return -EACCES;
}
