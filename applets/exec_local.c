/* exec_local.c - a session's command run by this process itself
 * SPDX-License-Identifier: MIT
 */
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_shell.h"
#include "base/clock.h"
#include "sys/dirs.h"
#include "base/kconfig.h"
#include "base/path.h"
#include "session/session.h"
#include "shim/shimlinks.h"
#include "base/str.h"

/* Bytes of one stream; beyond the policy's limit they are only counted. */
static void keep_output(void *ctx, int fd, const void *bytes, size_t n)
{
	struct exec_reply *r = ctx;
	struct buf *to = fd == STDERR_FILENO ? &r->err : &r->out;
	uint64_t max = r->result.output_max;
	size_t room = to->max - to->len;

	if (max && max < to->max)
		room = max > to->len ? (size_t)max - to->len : 0;
	buf_add(to, bytes, n < room ? n : room);
}

/* The session and what it has saved; made when there is none. */
static int find_state(const struct exec_request *q,
	const struct guard_caller *who, struct exec_reply *reply,
	struct session_where *w, struct state *s, struct diag *d)
{
	struct session_name name;
	autofd int dir = -1;
	int err;

	guard_where(who, &reply->here, w);
	if (q->session)
		w->id = q->session;
	err = session_resolve(w, true, &name, d);
	if (err)
		return err;
	memcpy(reply->result.session, name.id, sizeof name.id);
	dir = session_dir(w, true, NULL, d);
	if (dir < 0)
		return 0; /* nothing can be kept: session-default */
	err = session_load(dir, w->uid, name.id, s, d);
	return err == -ENOENT ? 0 : err;
}

/* Saves what the next command and a list of sessions see of this command. The
 * state is read anew, because others may have run meanwhile; the lock is never
 * held while a command runs. */
static void save_state(
	const struct exec_reply *reply, const struct session_where *w)
{
	autostate struct state s = STATE_INIT;
	autofd int dir = -1, lock = -1;
	struct diag d;
	int err;

	dir = session_dir(w, true, NULL, &d);
	lock = dir < 0 ? -1 : session_lock(dir, &d);
	if (lock < 0)
		return;
	err = session_load(dir, w->uid, reply->result.session, &s, &d);
	if (err && err != -ENOENT)
		return;
	if (err) {
		s.created = clock_ns(CLOCK_REALTIME);
		(void)state_path(&s.workspace, reply->here.workspace);
	}
	s.used = clock_ns(CLOCK_REALTIME);
	s.commands++;
	s.code = (unsigned)reply->result.code & 255;
	(void)session_save(dir, reply->result.session, &s, &d);
}

/* The session's directory, or the one asked for, below it. */
static int choose_cwd(const struct exec_request *q, struct state *s,
	struct exec_reply *reply, struct diag *d)
{
	struct buf cwd = BUF_FIXED(reply->cwd);
	bool absolute = q->cwd && q->cwd[0] == '/';
	autofd int at = -1;
	int err = 0;

	if (s->cwd && dirs_revive(s))
		cli_warn("the session's directory is gone; going on in %s",
			s->cwd);
	if (absolute)
		buf_adds(&cwd, q->cwd);
	else if (s->cwd)
		buf_adds(&cwd, s->cwd);
	else if ((err = path_cwd(reply->cwd, sizeof reply->cwd)))
		return diag_errno(d, err, "the current directory");
	else
		cwd.len = strlen(reply->cwd);
	if (q->cwd && !absolute)
		buf_addf(&cwd, "/%s", q->cwd);
	buf_str(&cwd);
	err = cwd.err ? -ENAMETOOLONG : 0;
	if (!err)
		at = open(reply->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!err && (at < 0 || faccessat(at, ".", X_OK, AT_EACCESS)))
		err = -errno;
	return err ? diag_errno(d, err, "%s%s", q->cwd ? "--cwd: " : "",
			     q->cwd ? q->cwd : reply->cwd)
		   : 0;
}

/* Finds the program. A missing program is an answer to the caller and no
 * failure of exec. */
static int find_program(const struct exec_request *q, const struct state *s,
	const struct guard_caller *who, struct exec_reply *reply)
{
	char *const *env = s->has_env ? s->env.vec : who->env;
	int err = path_find(reply->path, sizeof reply->path, q->command[0],
		env_get(env, "PATH"), reply->cwd);

	if (err)
		reply->path[0] = '\0';
	return err;
}

/* Recorded, and told unless it could not even be recorded. */
static void run_absent(const struct guard_request *g, struct guard_outcome *r,
	const char *name, int err)
{
	if (guard_absent(g, err == -EACCES ? EXIT_DENIED : EXIT_NOTFOUND, r))
		return;
	if (err == -ENOENT && !strchr(name, '/'))
		diag_fail(&r->diag, err,
			"%s: there is no such program in PATH", name);
	else
		diag_errno(&r->diag, err, "%s", name);
}

/* wardbox itself does what the words say: the policy judges the words, and the
 * box is made for them. */
static void do_request(struct guard_request *g, struct guard_carry *carry)
{
	static char self[PATH_MAX];
	static char words[3][8] = {"wardbox", "serve", "files"};
	static char *argv[] = {words[0], words[1], words[2], NULL};
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = '\0';
	g->command.doer = carry->helper = self;
	g->command.doer_argv = argv;
}

/* Fills the request of the guard from the request of exec. */
static void fill_request(struct guard_request *g, struct guard_carry *carry,
	const struct exec_request *q, struct exec_reply *reply,
	const struct state *s)
{
	static char *none[] = {NULL};

	g->caller.cwd = reply->cwd;
	g->caller.workspace = s->workspace;
	g->carry = carry;
	if (s->has_env)
		carry->env = s->env.vec ? s->env.vec : none;
	carry->also_env = q->env;
	if (q->request)
		do_request(g, carry);
	if (q->argv0)
		q->command[0] = strdup(q->argv0);
	if (!q->capture)
		return;
	g->io.output = keep_output;
	g->io.output_ctx = reply;
	g->io.swallow = true;
}

/* guard_run empties the outcome; the session's name lives on in its place. why is
 * -errno of a program that was not found. */
static void run_guarded(struct exec_reply *reply, struct guard_request *g,
	const struct session_where *w, int why)
{
	char session[SESSION_ID_MAX + 1];

	memcpy(session, reply->result.session, sizeof session);
	g->caller.session = session;
	if (why)
		run_absent(g, &reply->result, g->command.argv[0], why);
	else
		(void)guard_run(g, &reply->result);
	memcpy(reply->result.session, session, sizeof session);
	reply->signal = guard_exit_signal(&reply->result);
	save_state(reply, w);
}

/* Is the program a shell of the system? Then path becomes the real shell behind
 * the shim. */
static bool find_shell(struct exec_reply *reply)
{
	const char *name = str_after(reply->path, "/usr/bin/");

	if (!name)
		name = str_after(reply->path, "/bin/");
	return name && shim_is_shell(name) &&
		!shim_real(reply->path, NULL, reply->path, sizeof reply->path,
			NULL);
}

static void find_and_run(const struct exec_request *q, struct exec_reply *reply,
	struct guard_request *g, const struct session_where *w,
	const struct state *s)
{
	autobuf struct buf script = BUF_INIT(CONFIG_LIMIT_LINE);
	struct guard_carry carry = {0};
	int why = find_program(q, s, &g->caller, reply);

	fill_request(g, &carry, q, reply, s);
	/* A request is done whether or not there is such a program. */
	if (why && q->request)
		why = str_copy(reply->path, sizeof reply->path, q->command[0]);
	else if (!why && find_shell(reply)) {
		cli_shell_call(g, &script);
		g->command.named = true;
	}
	run_guarded(reply, g, w, why);
	g->carry = NULL;
}

static int call_local(const struct exec_request *q, struct exec_reply *reply,
	struct diag *d)
{
	autostate struct state s = STATE_INIT;
	struct guard_request g = {
		.command = {.kind = GUARD_ARGV,
			.path = reply->path,
			.argv = q->command},
		.io = {.pty = q->pty,
			.pty_all = q->pty,
			.timeout_ns = q->timeout_ns,
			.dry = q->dry,
			.returns = true,
			.keeps = true},
	};
	struct buf uuid = BUF_FIXED(reply->uuid);
	struct session_where w;
	struct exec_asker asker;
	int err;

	cli_guard_facts(&g.caller);
	g.caller.narrow = q->narrow;
	if (q->unattended)
		g.caller.person = NULL;
	g.io.correlate = q->capture || q->report;
	/* The reader of the report holds what the command leaves running. */
	if (q->keep)
		g.io.holder = GUARD_HELD_BY_NONE;
	else if (q->report)
		g.io.holder = getppid();
	if (IS_ENABLED(CONFIG_APPLET_APPROVE) && q->approver_ns)
		exec_approver(&g.caller, &asker, q, reply);
	err = find_state(q, &g.caller, reply, &w, &s, d);
	if (!err)
		err = choose_cwd(q, &s, reply, d);
	if (!err)
		find_and_run(q, reply, &g, &w, &s);
	if (g.io.correlate)
		guard_correlation(&reply->result, &uuid);
	buf_str(&uuid);
	return err;
}

const struct exec_transport exec_local = {.name = "local", .call = call_local};
