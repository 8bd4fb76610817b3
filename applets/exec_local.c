/* exec_local.c - a session's command run by this process itself
 * SPDX-License-Identifier: MIT
 */
#include "exec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dirs.h"
#include "path.h"
#include "session.h"
#include "str.h"

/* Bytes of one stream; beyond the policy's limit they are only counted. */
static void keep(void *ctx, int fd, const void *bytes, size_t n)
{
	struct exec_reply *r = ctx;
	struct buf *to = fd == STDERR_FILENO ? &r->err : &r->out;
	uint64_t max = r->result.output_max;
	size_t room = to->max - to->len;

	if (max && max < to->max)
		room = max > to->len ? (size_t)max - to->len : 0;
	buf_add(to, bytes, n < room ? n : room);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The session and what it has saved; made when there is none. */
static int find_state(const struct exec_request *q,
	struct guard_request *guarded, struct session_name *name,
	struct state *s, struct diag *d)
{
	char cwd[PATH_MAX];
	struct session_where w = {
		.id = q->session ? q->session
				 : env_get(guarded->env, "WARDBOX_SESSION_ID"),
		.file = env_get(guarded->env, "WARDBOX_SESSION_FILE"),
		.uid = geteuid(),
		.cwd = cwd,
	};
	autofd int dir = -1;
	int err;

	if (path_cwd(cwd, sizeof cwd))
		memcpy(cwd, "/", sizeof "/");
	err = session_resolve(&w, true, name, d);
	if (err)
		return err;
	dir = session_dir(&w, true, NULL, d);
	if (dir < 0)
		return 0; /* nothing can be kept: session-default */
	err = session_load(dir, w.uid, name->id, s, d);
	return err == -ENOENT ? 0 : err;
}

/* What the next command and a list of sessions see of this one. Read anew, as
 * others may have run meanwhile; never held while a command runs. */
static void save_state(const struct guard_request *guarded,
	const struct exec_reply *reply)
{
	char cwd[PATH_MAX];
	struct session_where w = {.uid = geteuid(), .cwd = cwd};
	autostate struct state s = STATE_INIT;
	autofd int dir = -1, lock = -1;
	struct diag d;

	(void)guarded;
	if (path_cwd(cwd, sizeof cwd))
		memcpy(cwd, "/", sizeof "/");
	dir = session_dir(&w, true, NULL, &d);
	lock = dir < 0 ? -1 : session_lock(dir, &d);
	if (lock < 0)
		return;
	if (session_load(dir, w.uid, reply->result.session, &s, &d) == -ENOENT) {
		s.created = now();
		(void)state_path(&s.workspace, cwd);
	}
	s.used = now();
	s.commands++;
	s.code = (unsigned)reply->result.code & 255;
	(void)session_save(dir, reply->result.session, &s, &d);
}

/* The session's directory, or the one asked for, below it. */
static int choose_cwd(const struct exec_request *q, struct state *s,
	struct exec_reply *reply, struct diag *d)
{
	char base[PATH_MAX];
	int err;

	if (s->cwd && dirs_revive(s))
		cli_warn("the session's directory is gone; going on in %s",
			s->cwd);
	if (s->cwd)
		err = str_copy(base, sizeof base, s->cwd);
	else
		err = path_cwd(base, sizeof base);
	if (err && !(q->cwd && q->cwd[0] == '/'))
		return diag_errno(d, err, "the current directory");
	if (!q->cwd)
		return str_copy(reply->cwd, sizeof reply->cwd, base);
	if (q->cwd[0] == '/')
		err = str_copy(reply->cwd, sizeof reply->cwd, q->cwd);
	else
		err = path_join(reply->cwd, sizeof reply->cwd, base, q->cwd);
	if (!err && access(reply->cwd, X_OK))
		err = -errno;
	return err ? diag_errno(d, err, "--cwd: %s", q->cwd) : 0;
}

/* A program that is not there is an answer, not a failure of ours. */
static bool find_program(const struct exec_request *q, const struct state *s,
	const struct guard_request *guarded, char *path,
	struct exec_reply *reply)
{
	char *const *env = s->has_env ? s->env.vec : guarded->env;
	int err = path_find(path, PATH_MAX, q->command[0], env_get(env, "PATH"),
		reply->cwd);

	if (!err)
		return true;
	reply->result.code = err == -EACCES ? EXIT_DENIED : EXIT_NOTFOUND;
	diag_errno(&reply->result.diag, err, "%s", q->command[0]);
	return false;
}

static int call(const struct exec_request *q, struct exec_reply *reply,
	struct diag *d)
{
	char path[PATH_MAX];
	char *const none[] = {NULL};
	autostate struct state s = STATE_INIT;
	struct session_name name;
	struct guard_request g = {
		.kind = GUARD_ARGV,
		.path = path,
		.argv = q->command,
		.by = "exec",
		.pty = q->pty,
		.pty_all = q->pty,
		.timeout_ns = q->timeout_ns,
		.returns = true,
	};
	struct buf uuid = BUF_FIXED(reply->uuid);
	int err;

	cli_guard_facts(&g);
	err = find_state(q, &g, &name, &s, d);
	if (!err)
		err = choose_cwd(q, &s, reply, d);
	if (err)
		return err;
	str_copy(reply->result.session, sizeof reply->result.session, name.id);
	reply->result.started_ns = now();
	if (!find_program(q, &s, &g, path, reply))
		return 0;
	if (q->argv0)
		q->command[0] = strdup(q->argv0);
	g.session = name.id;
	g.cwd = reply->cwd;
	g.workspace = s.workspace;
	if (s.has_env)
		g.saved_env = s.env.vec ? s.env.vec : none;
	if (q->capture) {
		g.output = keep;
		g.output_ctx = reply;
		g.swallow = true;
	}
	(void)guard_run(&g, &reply->result);
	reply->signal = guard_exit_signal(&reply->result);
	if (q->capture)
		guard_correlation(&g, &reply->result, &uuid);
	buf_str(&uuid);
	save_state(&g, reply);
	return 0;
}

const struct exec_transport exec_local = {.name = "local", .call = call};
