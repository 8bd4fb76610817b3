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
#include <sys/syscall.h>
#include <unistd.h>

#include "base/str.h"
#include "base/uapi/linux.h"
#include "base/utf8.h"
#include "sys/proc_text.h"

/* Each command has a Landlock domain of its own, out of which it sends no signal.
 * What an earlier command of the same session left running is the session's all
 * the same: the supervisor sends the signal in the command's place. Everything
 * else is left to the kernel. */
struct signalled {
	int dir; /* the sessions' */
	const char *id;
	pid_t self, supervisor, to;
	int sig;
	int result; /* WATCH_DONE: at least one got it; -errno; 0: none is meant */
};

static int is_it(void *ctx, const struct limits_process *p)
{
	return p->guarded && p->pid == *(const pid_t *)ctx;
}

/* What a descriptor stands for is not another process: that it is one of the tree
 * is looked at once more when the descriptor is there. */
static int send_one(void *ctx, const struct limits_process *p)
{
	struct signalled *s = ctx;
	pid_t pid = p->pid;
	autofd int fd = -1;

	if (!p->guarded || (s->to > 0 ? pid != s->to : getpgid(pid) != -s->to))
		return 0;
	fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
	if (fd < 0 || limits_descendants(s->supervisor, is_it, &pid) != 1)
		return 0;
	if (!syscall(NR_PIDFD_SEND_SIGNAL, fd, s->sig, NULL, 0))
		s->result = WATCH_DONE;
	else if (!s->result)
		s->result = -errno;
	return s->to > 0;
}

static int send_below(void *ctx, pid_t supervisor)
{
	struct signalled *s = ctx;

	s->supervisor = supervisor;
	return supervisor == s->self
		? 0
		: limits_descendants(supervisor, send_one, s);
}

static int live_dir(struct guard *g)
{
	const struct session_where where = guard_place_base(&g->place, NULL);

	return session_dir(&where, false, NULL, NULL);
}

int guard_signal(void *ctx, pid_t to, int sig)
{
	struct guard *g = ctx;
	autofd int dir = live_dir(g);
	struct signalled s = {.dir = dir, .id = g->out->session,
		.self = getpid(), .to = to, .sig = sig};

	if (dir >= 0)
		(void)session_live(dir, s.id, send_below, &s);
	return s.result;
}

static int is_there(void *ctx, pid_t supervisor)
{
	(void)ctx;
	return supervisor > 0;
}

bool guard_signals(const struct guard *g)
{
	const enum policy_background said = g->terms.grants.background;
	autofd int dir = -1;

	if (said == POLICY_BACKGROUND_END || !g->out->session[0] ||
		(said == POLICY_BACKGROUND_UNSAID && !g->io->keeps))
		return false;
	dir = live_dir((struct guard *)(uintptr_t)g);
	return dir >= 0 && session_live(dir, g->out->session, is_there, NULL) == 1;
}

/* Records each program that the shell of an open line starts, with its rule. */
static void record_start(struct guard *g, const struct policy_verdict *v)
{
	const struct audit_fact facts[] = {
		{.key = "command", .text = v->command},
		{.key = "rule", .text = v->rule},
		{.key = "count", .number = ++g->tree.starts},
	};
	bool many;

	if (guard_each(g->tree.starts, &many))
		guard_entry_event(
			g, "exec.open", facts, ARRAY_SIZE(facts) - !many);
}

static const char *name_of_program(const struct watch_event *ev)
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
	struct guard *g = ctx;
	const struct guard_question what = {.v = &v, .cwd = g->place.cwd};

	buf_addf(&command, "%s of %s", changes[o->change], o->path);
	utf8_cut(v.command, sizeof v.command, buf_str(&command));
	str_copy(v.rule, sizeof v.rule, "metadata");
	str_copy(v.reason, sizeof v.reason,
		"it is no file that the command may write");
	BUF_PRINT(v.alternative,
		"do it to a file below %.60s or $TMPDIR; a line "
		"'path rw FILE' in " POLICY_SYSTEM " allows it",
		g->place.root);
	guard_deny(g, "file.deny", o->pid, changes[o->change], &what,
		GUARD_NO);
}

static int deny_for(struct guard *g, const struct watch_event *ev,
	const char *rule, const char *reason, const char *instead)
{
	struct policy_verdict v = {
		.decision = POLICY_DENY, .would = POLICY_DENY};
	struct buf command = BUF_FIXED(v.command);
	const struct guard_question what = {
		.v = &v, .cwd = g->place.cwd, .argv = ev->argv};

	buf_adds(&command, ev->path);
	str_copy(v.rule, sizeof(v.rule), rule);
	str_copy(v.reason, sizeof(v.reason), reason);
	str_copy(v.alternative, sizeof(v.alternative), instead);
	guard_deny(g, "exec.deny", ev->pid, name_of_program(ev), &what,
		GUARD_NO);
	return -EACCES;
}

/* Denies a file whose name cannot be found out here, such as a descriptor's
 * number in another spelling than /proc/self/fd/N. */
static int deny_nameless(struct guard *g, const struct watch_event *ev)
{
	return deny_for(g, ev, "program", "which file it is cannot be told",
		"start it by its path");
}

/* The guard has no more rights over the process than any other program has. */
static int deny_unseen(struct guard *g, const struct watch_event *ev)
{
	return deny_for(g, ev, "program",
		"a process that became another user, or that hides its memory,"
		" starts a program that the guard cannot see",
		"start it as the command's user (apt: '-o APT::Sandbox::User=root')"
		" or give CAP_SYS_PTRACE; 'wardbox doctor' tells more");
}

/* Denies programs below a line that starts none by the reader's word: its box
 * lacks what keeps programs in. */
static int deny_unread(struct guard *g, const struct watch_event *ev)
{
	return deny_for(g, ev, "brief",
		"the line was read as one that starts no program",
		"write the program's name into the line");
}

/* A file that the kernel starts for nobody: nothing was denied. */
static bool is_no_program(const struct watch_event *ev)
{
	const mode_t starts = S_IXUSR | S_IXGRP | S_IXOTH;
	struct stat st;

	return stat(ev->exe, &st) == 0 &&
	       (!S_ISREG(st.st_mode) || !(st.st_mode & starts));
}

/* A person's yes to the line covers what the same rule asks below it. */
static bool line_approved(const struct guard *g, const struct policy_verdict *v)
{
	return v->decision == POLICY_CONFIRM && g->out->confirmed &&
	       str_eq(v->rule, g->out->verdict.rule);
}

/* Is this the front end's own helper, called as the front end calls it? It is
 * not for the policy to judge, and has only the command's rights. */
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

/* Is pid the command's own process? With a terminal that is the only child of
 * the terminal's leader. */
static bool is_command(const struct guard *g, pid_t pid)
{
	pid_t first = g->box.sandbox.pid;

	return pid == (g->io->pty ? limits_child(first) : first);
}

/* Did the shell of the line start this program? Then it is judged as if it
 * stood in the line. Such a process still has the shell's own arguments,
 * because the shell, or a fork of it, becomes the program. Programs below
 * programs are judged as such. */
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
	/* One more byte of room shows whether the other argv is longer. */
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

/* The dynamic loader says what a file needs, as ldd asks it, and starts no program:
 * by an option, or that of the GNU C library by a variable. */
static bool only_lists(
	const struct watch_event *ev, const struct policy_verdict *v)
{
	enum { ENV_MAX = 1 << 20 };
	static const char variable[] = "LD_TRACE_LOADED_OBJECTS=";
	static const char options[] = "--list\0--verify\0--version\0--help\0";
	const char *name = strrchr(ev->exe, '/');
	autobuf struct buf env = BUF_INIT(ENV_MAX);

	if (!str_eq(v->rule, "loader"))
		return false;
	if (ev->argc < 2 || str_index(options, ev->argv[1]) >= 0)
		return true;
	if (!name || !str_after(name, "/ld-linux") || watch_env(ev, &env) ||
		env.err)
		return false;
	for (size_t at = 0; at < env.len; at += strlen(env.data + at) + 1)
		if (str_after(env.data + at, variable))
			return true;
	return false;
}

/* May somebody be asked about the program? A person only sees what the shell of
 * the terminal starts in front; an approver can be asked about every
 * program. */
static bool is_asked(const struct guard *g, const struct watch_event *ev,
	const struct policy_request *req)
{
	if (g->terms.grants.ask == POLICY_ASK_APPROVER)
		return g->caller->approver;
	return !req->depth && g->io->pty && guard_in_front(ev->pid);
}

/* A shell that finds one file denied tries the next file of that name: the
 * answer is the same. */
static enum guard_answer answer_of(struct guard *g,
	const struct watch_event *ev, const struct policy_request *req,
	const struct guard_question *what)
{
	const struct audit_fact facts[] = {
		{.key = "command", .text = what->v->command},
		{.key = "rule", .text = what->v->rule},
	};
	enum guard_answer answer;

	if (what->v->decision != POLICY_CONFIRM)
		return GUARD_NO;
	if (ev->pid == g->tree.refused)
		return g->tree.refusal;
	if (g->terms.grants.ask == POLICY_ASK_NEVER)
		return GUARD_NEVER;
	if (g->caller->ask_slow)
		return GUARD_NOBODY;
	if (!is_asked(g, ev, req))
		return g->terms.grants.ask == POLICY_ASK_APPROVER
			? GUARD_NO_APPROVER
			: GUARD_NOBODY;
	answer = guard_ask_later(g, what, ev->id);
	if (answer == GUARD_WAITS)
		return answer;
	if (answer == GUARD_YES || answer == GUARD_ALWAYS) {
		if (what->v->is & POLICY_IS_PROTECT)
			g->tree.protect_free = true;
		guard_entry_event(g, "exec.confirm", facts, ARRAY_SIZE(facts));
		return answer;
	}
	g->tree.refused = ev->pid;
	g->tree.refusal = answer;
	return answer;
}

int guard_watch(void *ctx, const struct watch_event *ev)
{
	struct guard *g = ctx;
	struct policy_verdict v;
	struct guard_question what = {.v = &v, .argv = ev->argv};
	enum guard_answer answer = GUARD_YES;
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

	if (ev->missing == -EPERM)
		return deny_unseen(g, ev);
	if (own_helper(g, ev))
		return 0;
	if (ev->cut)
		return -E2BIG;
	/* A search along PATH asks for many files that do not exist: those get
	 * ENOENT, as without a guard, and count as no denial. */
	if (ev->missing == -ENOENT || ev->missing == -ENOTDIR)
		return ev->missing;
	if (!ev->exe[0])
		return deny_nameless(g, ev);
	if (g->box.brief)
		return deny_unread(g, ev);
	if (is_no_program(ev))
		return -EACCES;
	req.cwd = watch_cwd(ev);
	req.depth = ev->level || !of_a_line(g, ev->pid);
	policy_decide_exec(g->terms.policy, &req, &v);
	what.cwd = req.cwd;
	if (v.decision > POLICY_OPEN && !line_approved(g, &v) &&
		!only_lists(ev, &v))
		answer = answer_of(g, ev, &req, &what);
	if (answer == GUARD_WAITS)
		return WATCH_WAIT;
	if ((answer == GUARD_YES || answer == GUARD_ALWAYS) &&
		!guard_git_denies(g, ev, req.cwd, &v) &&
		!guard_net_denies(g, true, &v)) {
		if (g->carry->becomes && !ev->level && is_command(g, ev->pid))
			g->carry->becomes(g->carry->becomes_ctx, ev);
		if (!req.depth && g->out->verdict.open)
			record_start(g, &v);
		guard_undo_starts(g, &v);
		guard_told_policy(g, ev);
		return 0;
	}
	guard_deny(g, "exec.deny", ev->pid, name_of_program(ev), &what, answer);
	return -EACCES;
}
