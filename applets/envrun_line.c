/* envrun_line.c - one command line: run in the session, captured, saved
 * SPDX-License-Identifier: MIT
 */
#include "envrun.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/dirs.h"
#include "base/path.h"
#include "base/str.h"

int envrun_load(struct envrun *e, struct diag *d)
{
	struct state *s = &e->state;
	int err;

	state_release(s);
	*s = STATE_INIT;
	if (!e->file_name[0]) {
		err = session_load(e->dir, geteuid(), e->id, s, d);
	} else {
		err = state_load(e->dir, e->file_name, geteuid(), s, d);
		if (err)
			diag_hint(d, "without the file the state begins anew");
	}
	return err == -ENOENT ? 0 : err;
}

/* Another command may have ended in the session meanwhile. Who cannot have the
 * lock goes without: a line that ran is not to be forgotten. */
static int save_state(struct envrun *e, struct diag *d)
{
	autofd int lock = session_lock(e->dir, NULL);
	struct state *s = &e->state;

	(void)lock;
	if (e->file_name[0])
		return state_update(
			e->dir, e->file_name, geteuid(), s, d);
	return session_update(e->dir, geteuid(), e->id, s, d);
}

static void keep_output(void *ctx, int fd, const void *bytes, size_t n)
{
	struct envrun_outcome *out = ctx;
	struct buf *b =
		fd == STDERR_FILENO ? &out->stderr_text : &out->stdout_text;
	size_t room = b->max - b->len;

	buf_add(b, bytes, n < room ? n : room);
}

struct move {
	struct state *s;
	enum dirs_verb verb;
	const char *word, *home;
	struct envrun_outcome *out;
	bool json;
};

static int move_inside(void *ctx)
{
	struct move *m = ctx;
	autobuf struct buf said = BUF_INIT(1 << 20);
	struct diag d = {0};
	int err = dirs_apply(m->s, m->verb, m->word, m->home, &said, &d);

	if (m->json) {
		buf_add(&m->out->stdout_text, said.data, said.len);
		if (err)
			buf_addf(&m->out->stderr_text, "%s\n", d.text);
	} else {
		if (said.len)
			(void)!write(STDOUT_FILENO, said.data, said.len);
		if (err)
			cli_warn("%s", d.text);
	}
	return err ? 1 : 0;
}

/* Where the caller stands; NULL with d when that is gone: what was meant for an
 * empty directory must not happen in another. */
static const char *start_here(char **slot, struct diag *d)
{
	static char cwd[STATE_PATH_MAX];
	int err = path_cwd(cwd, sizeof cwd);

	if (!err)
		err = state_path(slot, cwd);
	if (err)
		diag_errno(d, err, "the current directory");
	return err ? NULL : cwd;
}

/* 0, or -errno with out's diag filled. */
static int prepare_line(struct envrun *e, struct envrun_outcome *out)
{
	struct state *s = &e->state;
	int err;

	*out = (struct envrun_outcome){
		.stdout_text = BUF_INIT(ENVRUN_OUTPUT_MAX),
		.stderr_text = BUF_INIT(ENVRUN_OUTPUT_MAX),
		.stripped = BUF_INIT(1 << 16),
		.changes = BUF_INIT(1 << 22),
		.notes = BUF_INIT(1 << 14),
		.capture = CAPTURE_NO_DUMP,
		.guard.code = EXIT_OURS,
	};
	err = envrun_load(e, &out->guard.diag);
	if (err)
		return err;
	/* A session without a directory begins in the caller's. A command may
	 * be able to write a file of the caller's choice, and must not choose
	 * its own jail. */
	if (!s->cwd)
		s->first_cwd = start_here(&s->cwd, &out->guard.diag);
	if (!s->cwd)
		return -ENOENT;
	if (s->first_cwd)
		dirs_name(s, getenv("PWD"));
	if ((!s->workspace || e->file_name[0]) &&
		state_path(&s->workspace, e->workspace))
		cli_die(EXIT_OURS, "out of memory");
	if (dirs_revive(s))
		buf_addf(&out->notes,
			"the session's directory is gone; going on in %s",
			s->cwd);
	return 0;
}

/* The caller's variables that --keep names, and the logical directory. */
static int also_env(const struct envrun *e, char *const *env,
	const struct state *s, struct env *to)
{
	const char *level = env_get(env, "SHLVL");
	int err = s->pwd ? env_set(to, "PWD", s->pwd) : 0;

	if (!err && s->old)
		err = env_set(to, "OLDPWD", s->old);
	/* The caller's, for the first command and for all that follow. */
	if (!err && level)
		err = env_set(to, "SHLVL", level);
	for (size_t i = 0; !err && i < e->keep.count; i++) {
		const char *value = env_get(env, e->keep.item[i]);

		if (value && !env_get(s->env.vec, e->keep.item[i]))
			err = env_set(to, e->keep.item[i], value);
	}
	return err;
}

/* The policy judges the real target of the move, whatever its name is. Of a
 * target that cannot be found, move_inside() tells the failure. */
static void judge_move(struct guard_request *q, const struct move *move,
	char *args[static 3])
{
	static char target[STATE_PATH_MAX];
	int err = dirs_target(move->s, move->verb, move->word, move->home,
		target, sizeof target, NULL);

	q->command.text = err || !target[0] ? ":" : "cd -- \"$1\"";
	q->command.len = strlen(q->command.text);
	args[0] = args[1] = target;
	q->command.args = args;
}

static void run_move(struct envrun *e, struct guard_request *q,
	struct move *move, const char *line, struct envrun_outcome *out)
{
	char *argv[ENVRUN_ARGV_MAX] = {NULL}, *args[3] = {NULL};
	const char *home = env_get(
		e->state.has_env ? e->state.env.vec : q->caller.env, "HOME");

	move->home = home ? home : "";
	judge_move(q, move, args);
	envrun_shell_argv(e, line, argv);
	q->command.argv = argv;
	guard_perform(q, move_inside, move, &out->guard);
	envrun_note_move(&out->changes, q->caller.cwd, e->state.cwd);
	out->capture = CAPTURED;
}

int envrun_line(
	struct envrun *e, const char *line, struct envrun_outcome *out)
{
	struct state *s = &e->state;
	autoenv struct env also = ENV_INIT;
	char word[1024];
	struct guard_request q = {
		.command = {.kind = GUARD_LINE,
			.text = line,
			.len = strlen(line),
			.dialect = POLICY_SH_UNION},
		.caller = {.session = e->id},
		.io = {.timeout_ns = e->timeout,
			.returns = true,
			.keeps = true,
			.holder = e->holder},
	};
	struct guard_carry carry = {.strict = e->strict};
	struct move move = {.s = s, .word = word, .out = out, .json = e->json};
	autofree char *cwd = NULL; /* the state's is to be another */
	struct diag d = {0};

	if (prepare_line(e, out))
		return out->guard.code;
	cli_guard_facts(&q.caller);
	cwd = strdup(s->cwd);
	if (!cwd || also_env(e, q.caller.env, s, &also))
		cli_die(EXIT_OURS, "out of memory");
	q.caller.cwd = cwd;
	q.caller.workspace = s->workspace;
	q.carry = &carry;
	carry.env = s->has_env ? s->env.vec : NULL;
	carry.also_env = also.vec;
	if (e->json) {
		q.io.output = keep_output;
		q.io.output_ctx = out;
		q.io.swallow = true;
	}
	move.verb = dirs_parse(line, word, sizeof word);
	if (move.verb == DIRS_NONE) {
		envrun_shell(e, q, carry, line, out);
	} else {
		run_move(e, &q, &move, line, out);
	}
	s->code = (unsigned)out->guard.code & 255;
	s->commands++;
	s->used = out->guard.started_ns;
	if (!s->created)
		s->created = s->used;
	if (state_changed(s, out->changes.data, out->changes.len) ||
		save_state(e, &d))
		buf_addf(&out->notes, "%sthe state was not saved: %s",
			out->notes.len ? "; " : "", d.text);
	return out->guard.code;
}
