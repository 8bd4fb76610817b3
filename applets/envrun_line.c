/* envrun_line.c - one command line: run, captured, cleaned, saved
 * SPDX-License-Identifier: MIT
 */
#include "envrun.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit_write.h"
#include "dirs.h"
#include "path.h"
#include "str.h"

void envrun_outcome_release(struct envrun_outcome *out)
{
	buf_release(&out->stdout_text);
	buf_release(&out->stderr_text);
	buf_release(&out->stripped);
	buf_release(&out->changes);
	buf_release(&out->notes);
}

int envrun_load(struct envrun *e, struct diag *d)
{
	struct state *s = &e->state;
	int err;

	state_release(s);
	*s = STATE_INIT;
	if (e->file_name[0])
		err = state_load(e->dir, e->file_name, geteuid(), s, d);
	else
		err = session_load(e->dir, geteuid(), e->id, s, d);
	return err == -ENOENT ? 0 : err;
}

/* Another command may have ended in the session meanwhile. Who cannot have the
 * lock goes without: a line that ran is not to be forgotten. */
static int save(struct envrun *e, struct diag *d)
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

static enum policy_dialect dialect_of(const char *shell)
{
	const char *name = path_base(shell);

	if (str_after(name, "bash"))
		return POLICY_SH_BASH;
	if (str_after(name, "dash"))
		return POLICY_SH_POSIX;
	if (str_after(name, "busybox") || str_after(name, "ash"))
		return POLICY_SH_ASH;
	return POLICY_SH_UNION;
}

enum { SHELL_ARGV_MAX = 10 };

/* exec's argv is not const, and nobody writes to it. */
static void add_arg(char **argv, const char *arg)
{
	size_t n = 0;

	while (argv[n])
		n++;
	argv[n] = (char *)(uintptr_t)arg;
}

/* What the shell is to think it is called: NAME.real behind a shim is still
 * NAME, and busybox acts by it. */
static const char *shell_name(const struct envrun *e)
{
	const char *name = path_base(e->shell_path);

	/* None was needed yet. */
	if (!name[0])
		return "sh";
	if (str_after(name, "bash"))
		return "bash";
	if (str_ends(name, ".real") || str_eq(name, "busybox"))
		return "sh";
	return name;
}

/* Does it go on, or at least run its trap, when a program that it wanted to
 * become cannot be executed? zsh, ksh93, yash and posh end. */
static bool survives_exec(const char *name)
{
	static const char known[][5] = {"sh", "bash", "dash", "ash", "mksh"};
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		found |= str_eq(name, known[i]);
	return found;
}

/* argv of the shell around the wrapped command: no start-up file is read. */
static void shell_argv(const struct envrun *e, const char *wrap,
	const char *line, char *argv[static SHELL_ARGV_MAX])
{
	const char *name = shell_name(e);

	add_arg(argv, name);
	if (str_eq(name, "bash")) {
		add_arg(argv, "--norc");
		add_arg(argv, "--noprofile");
	} else if (str_eq(name, "zsh")) {
		add_arg(argv, "-f");
	}
	add_arg(argv, "-c");
	add_arg(argv, wrap);
	add_arg(argv, name);
	add_arg(argv, line);
}

/* Set by the guard anew for each confined command. */
static bool set_by_guard(const struct policy_grants *rules, const char *name)
{
	return rules->confine &&
		(str_eq(name, "TMPDIR") || str_eq(name, "TMPPREFIX"));
}

struct cleaning {
	const struct envrun *e;
	const struct policy_grants *rules;
	struct buf *stripped;
};

static bool reaches_next(void *ctx, const char *pair)
{
	const struct cleaning *c = ctx;
	size_t n = strcspn(pair, "=");
	enum policy_env_fate fate;
	char name[256];

	if (n >= sizeof name)
		return false;
	memcpy(name, pair, n);
	name[n] = '\0';
	if (!state_carries(pair) || set_by_guard(c->rules, name) ||
		policy_word_in(&c->rules->env_set, pair))
		return false;
	fate = policy_env(c->rules, name);
	if (fate == POLICY_ENV_KEEP ||
		(fate != POLICY_ENV_DENY && !c->e->strict))
		return true;
	buf_addf(c->stripped, "%s%s", c->stripped->len ? " " : "", name);
	return false;
}

static void note_change(struct buf *out, char sign, const char *pair)
{
	buf_addf(out, "%c ", sign);
	cli_escape_str(out, pair);
	buf_addc(out, '\n');
}

static void note_move(struct buf *out, const char *from, const char *to)
{
	if (str_eq(from, to))
		return;
	buf_adds(out, "cwd ");
	cli_escape_str(out, from);
	buf_adds(out, " -> ");
	cli_escape_str(out, to);
	buf_addc(out, '\n');
}

static int note_gone(void *out, const char *pair, const char *there)
{
	if (!there)
		note_change(out, '-', pair);
	return 0;
}

static int note_new(void *out, const char *pair, const char *there)
{
	note_change(out, there ? '~' : '+', pair);
	return 0;
}

/* PWD, when it is a true name of where the shell stood. */
static void set_place(struct state *s, const struct capture *c)
{
	const char *pwd = env_get(c->env.vec, "PWD");
	const char *old = env_get(c->env.vec, "OLDPWD");
	struct stat here, named;

	if (old && old[0] == '/')
		state_path(&s->old, old);
	if (!c->cwd[0])
		return; /* deleted under it: the old place, or its parent */
	state_path(&s->cwd, c->cwd);
	state_path(&s->pwd, NULL);
	if (pwd && (str_eq(pwd, c->cwd) ||
			(pwd[0] == '/' && stat(pwd, &named) == 0 &&
				stat(s->cwd, &here) == 0 &&
				named.st_dev == here.st_dev &&
				named.st_ino == here.st_ino)))
		state_path(&s->pwd, pwd);
}

static void record(const struct guard_request *q,
	const struct envrun_outcome *out, const char *event, const char *key,
	const char *text)
{
	struct audit_fact fact = {.key = key, .text = text};

	guard_note(q, &out->guard, event, &fact, 1);
}

/* The command ran, and what it left is lost. */
static void tell_lost(const struct guard_request *q, struct envrun_outcome *out)
{
	static const char *const why[] = {
		[CAPTURE_NO_DUMP] = "the shell did not answer (exec, an EXIT "
			"trap, or a variable of 128 KiB)",
		[CAPTURE_TOO_LARGE] = "its environment is too large",
		[CAPTURE_KILLED] = "the shell was killed",
	};

	buf_addf(&out->notes, "%sthe state stays as it was: %s",
		out->notes.len ? "; " : "", why[out->capture]);
	record(q, out, "env.lost", "why", capture_name(out->capture));
}

/* Takes the capture into the state; on doubt the old state stays. */
static void take_over(struct envrun *e, const struct guard_request *q,
	struct capture *c, struct envrun_outcome *out)
{
	struct state *s = &e->state;
	autobuf struct buf names = BUF_INIT(0);
	struct cleaning left = {e, q->grants, &out->stripped};
	struct cleaning given = {e, q->grants, &names};
	struct env before;

	if (c->cwd[0])
		note_move(&out->changes, s->cwd, c->cwd);
	set_place(s, c);
	env_filter(&c->env, reaches_next, &left);
	/* The variables that a first command began with are no change of its own. */
	if (!s->has_env) {
		env_filter(q->given, reaches_next, &given);
		s->env = *q->given;
		*q->given = ENV_INIT;
	}
	if (!env_same(&s->env, &c->env)) {
		env_differ(&s->env, &c->env, note_gone, &out->changes);
		env_differ(&c->env, &s->env, note_new, &out->changes);
	}
	before = s->env;
	s->env = c->env;
	c->env = s->has_env ? before : ENV_INIT;
	if (!s->has_env)
		s->first_env = before;
	s->has_env = true;
	if (out->stripped.len)
		record(q, out, "env.stripped", "names", buf_str(&out->stripped));
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
static int prepare(struct envrun *e, struct envrun_outcome *out)
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
static int also_env(const struct envrun *e, const struct guard_request *q,
	const struct state *s, struct env *to)
{
	int err = s->pwd ? env_set(to, "PWD", s->pwd) : 0;

	if (!err && s->old)
		err = env_set(to, "OLDPWD", s->old);

	for (size_t i = 0; !err && i < e->keep.count; i++) {
		const char *value = env_get(q->env, e->keep.item[i]);

		if (value && !env_get(s->env.vec, e->keep.item[i]))
			err = env_set(to, e->keep.item[i], value);
	}
	return err;
}

static void became(void *ctx, const struct execwatch_event *ev)
{
	capture_exec(ctx, ev);
}

/* q is its own: it is to name what ends here. */
static void run_shell(struct envrun *e, struct guard_request q,
	const char *line, struct envrun_outcome *out)
{
	autobuf struct buf wrap = BUF_INIT(1 << 16);
	autocapture struct capture c = CAPTURE_INIT;
	autocapture_exec struct capture_exec x = CAPTURE_EXEC_INIT;
	autogrants struct policy_grants grants = {0};
	autoenv struct env given = ENV_INIT;
	char *argv[SHELL_ARGV_MAX] = {NULL}, *shown[SHELL_ARGV_MAX] = {NULL};
	int err = capture_open();

	q.grants = &grants;
	q.given = &given;
	q.path = e->shell_path;
	q.dialect = dialect_of(e->shell_path);
	q.also_exec = e->self;
	q.also_argv = capture_argv;
	q.becomes = e->trace_exec ? became : NULL;
	q.becomes_ctx = &x;
	if (err) {
		diag_errno(&out->guard.diag, err, "cannot make a memory file");
		out->guard.code = EXIT_OURS;
		return;
	}
	capture_wrap(&wrap, e->self, (unsigned)e->state.code,
		survives_exec(shell_name(e)) && !envrun_may_trap(line));
	shell_argv(e, buf_str(&wrap), line, argv);
	q.argv = argv;
	add_arg(shown, shell_name(e));
	add_arg(shown, "-c");
	add_arg(shown, line);
	q.shown_argv = shown;
	q.unread = e->typed;
	q.pty = !e->json && cli_guard_on_terminal();
	guard_run(&q, &out->guard);
	out->capture = capture_read(&c, CONFIG_LIMIT_ENV, STATE_VARS_MAX);
	if (out->capture == CAPTURE_NO_DUMP && out->guard.ran &&
		WIFSIGNALED(out->guard.status))
		out->capture = CAPTURE_KILLED;
	if (out->capture == CAPTURED)
		take_over(e, &q, &c, out);
	if (out->capture != CAPTURED && out->guard.ran)
		tell_lost(&q, out);
}

/* What the policy is to judge: where it really goes. A target that cannot be
 * told is for move_inside() to complain of. */
static void judged_move(const struct move *move, struct buf *text)
{
	static char target[STATE_PATH_MAX];

	if (dirs_target(move->s, move->verb, move->word, move->home, target,
		    sizeof target, NULL) ||
		!target[0]) {
		buf_addc(text, ':');
		return;
	}
	buf_adds(text, "cd -- ");
	capture_quote(text, target);
}

static void run_move(struct envrun *e, struct guard_request *q,
	struct move *move, const char *line, struct envrun_outcome *out)
{
	autobuf struct buf text = BUF_INIT(5 * STATE_PATH_MAX);
	char *argv[SHELL_ARGV_MAX] = {NULL};
	autofree char *was = NULL;
	const char *home = env_get(
		e->state.has_env ? e->state.env.vec : q->env, "HOME");

	move->home = home ? home : "";
	judged_move(move, &text);
	q->text = buf_str(&text);
	q->len = text.len;
	add_arg(argv, shell_name(e));
	add_arg(argv, "-c");
	add_arg(argv, line);
	q->argv = argv;
	q->inside = move_inside;
	q->inside_ctx = move;
	was = strdup(e->state.cwd);
	guard_run(q, &out->guard);
	if (was)
		note_move(&out->changes, was, e->state.cwd);
	out->capture = CAPTURED;
}

void envrun_tell(const struct envrun *e, const struct envrun_outcome *out)
{
	cli_guard_tell(&out->guard);
	if (out->notes.len)
		cli_warn("%.*s", (int)out->notes.len, out->notes.data);
	if (e->diff && out->changes.len)
		(void)!write(STDERR_FILENO, out->changes.data, out->changes.len);
}

int envrun_line(
	struct envrun *e, const char *line, struct envrun_outcome *out)
{
	struct state *s = &e->state;
	autoenv struct env also = ENV_INIT;
	char word[1024];
	struct guard_request q = {
		.kind = GUARD_LINE,
		.text = line,
		.len = strlen(line),
		.dialect = POLICY_SH_UNION,
		.by = "envrun",
		.session = e->id,
		.strict = e->strict,
		.timeout_ns = e->timeout,
		.returns = true,
	};
	struct move move = {.s = s, .word = word, .out = out, .json = e->json};
	struct diag d = {0};

	if (prepare(e, out))
		return out->guard.code;
	cli_guard_facts(&q);
	q.cwd = s->cwd;
	q.workspace = s->workspace;
	q.saved_env = s->has_env ? s->env.vec : NULL;
	if (also_env(e, &q, s, &also))
		cli_die(EXIT_OURS, "out of memory");
	q.also_env = also.vec;
	if (e->json) {
		q.output = keep_output;
		q.output_ctx = out;
		q.swallow = true;
	}
	move.verb = dirs_parse(line, word, sizeof word);
	if (move.verb == DIRS_NONE) {
		if (!e->shell_path[0])
			envrun_find_shell(e);
		if (!e->self[0])
			envrun_find_self(e);
		run_shell(e, q, line, out);
	} else {
		run_move(e, &q, &move, line, out);
	}
	s->code = (unsigned)out->guard.code & 255;
	s->commands++;
	s->used = out->guard.started_ns;
	if (!s->created)
		s->created = s->used;
	if (state_changed(s, out->changes.data, out->changes.len) || save(e, &d))
		buf_addf(&out->notes, "%sthe state was not saved: %s",
			out->notes.len ? "; " : "", d.text);
	return out->guard.code;
}

void envrun_json(const struct envrun *e, const char *line,
	struct envrun_outcome *out, struct buf *text)
{
	const struct guard_result *r = &out->guard;
	const struct state *s = &e->state;
	struct json j = JSON_INIT(text);

	json_open(&j, '{');
	json_put_str(&j, "command", line);
	json_put_i64(&j, "exit_code", r->code);
	if (guard_exit_signal(r))
		json_put_i64(&j, "signal", guard_exit_signal(r));
	json_put_str(&j, "capture", capture_name(out->capture));
	json_put_str(&j, "cwd", s->pwd ? s->pwd : s->cwd);
	json_put_str(&j, "session", e->id);
	json_put_str(&j, "decision", r->verdict.rule[0]
			? policy_decision_name(r->verdict.decision) : NULL);
	json_put_str(&j, "rule", r->rule);
	json_put_u64(&j, "duration_ms", r->run.duration_ns / 1000000);
	json_put_bool(&j, "timed_out", r->run.timed_out);
	json_strn(json_key(&j, "stdout"), out->stdout_text.data,
		out->stdout_text.len);
	json_strn(json_key(&j, "stderr"), out->stderr_text.data,
		out->stderr_text.len);
	json_put_bool(&j, "truncated",
		out->stdout_text.len == ENVRUN_OUTPUT_MAX ||
			out->stderr_text.len == ENVRUN_OUTPUT_MAX);
	json_put_str(&j, "stripped", buf_str(&out->stripped));
	json_put_str(&j, "changes", buf_str(&out->changes));
	if (!r->ran || r->code == EXIT_OURS)
		envrun_put_error(&j, &r->diag);
	if (out->notes.len)
		json_put_str(&j, "note", buf_str(&out->notes));
	json_close(&j);
	buf_addc(text, '\n');
}
