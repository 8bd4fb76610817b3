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

enum { CAPTURED_OUTPUT_MAX = 16 << 20 };

void envrun_outcome_release(struct envrun_outcome *out)
{
	buf_release(&out->stdout_text);
	buf_release(&out->stderr_text);
	buf_release(&out->stripped);
	buf_release(&out->changes);
	buf_release(&out->notes);
}

void envrun_load(struct envrun *e)
{
	struct state *s = &e->state;
	struct diag d = {0};
	int err;

	state_release(s);
	*s = STATE_INIT;
	if (e->file_name[0])
		err = state_load(e->dir, e->file_name, geteuid(), s, &d);
	else
		err = session_load(e->dir, geteuid(), e->id, s, &d);
	if (err && err != -ENOENT)
		cli_die_diag(EXIT_OURS, &d);
}

static int save(struct envrun *e, struct diag *d)
{
	const struct state *s = &e->state;

	if (e->file_name[0])
		return state_save(e->dir, e->file_name, s, d);
	return session_save(e->dir, e->id, s, d);
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

static bool internal(const char *name)
{
	return str_eq(name, "PWD") || str_eq(name, "OLDPWD") ||
		str_eq(name, "SHLVL") ||
		str_eq(name, "_") || str_after(name, "WARDBOX_") ||
		str_eq(name, "__envd") || str_eq(name, "__envx");
}

static void note_change(
	struct buf *out, char sign, const char *name, const char *value)
{
	buf_addf(out, "%c %s=", sign, name);
	cli_escape(out, value, strlen(value));
	buf_addc(out, '\n');
}

/* The captured environment without what must not reach the next command. */
static int clean_env(const struct envrun *e, const struct policy_grants *rules,
	const struct capture *c, struct env *to, struct buf *stripped)
{
	for (size_t i = 0; i < c->env.count; i++) {
		const char *pair = c->env.vec[i];
		size_t n = strcspn(pair, "=");
		char name[256];
		enum policy_env_fate fate;
		int err;

		if (n >= sizeof name)
			continue;
		memcpy(name, pair, n);
		name[n] = '\0';
		if (internal(name) || policy_word_in(&rules->env_set, pair))
			continue;
		fate = policy_env(rules, name);
		if (fate == POLICY_ENV_DENY ||
			(e->strict && fate != POLICY_ENV_KEEP)) {
			buf_addf(stripped, "%s%s", stripped->len ? " " : "",
				name);
			continue;
		}
		err = env_put(to, pair);
		if (err)
			return err;
	}
	return 0;
}

static void compare(
	const struct env *old, const struct env *new, struct buf *out)
{
	for (size_t i = 0; i < old->count; i++) {
		char name[256];
		size_t n = strcspn(old->vec[i], "=");

		if (n >= sizeof name)
			continue;
		memcpy(name, old->vec[i], n);
		name[n] = '\0';
		if (!env_get(new->vec, name))
			note_change(out, '-', name, old->vec[i] + n + 1);
	}
	for (size_t i = 0; i < new->count; i++) {
		char name[256];
		size_t n = strcspn(new->vec[i], "=");
		const char *value = new->vec[i] + n + 1, *before;

		if (n >= sizeof name)
			continue;
		memcpy(name, new->vec[i], n);
		name[n] = '\0';
		before = env_get(old->vec, name);
		if (!before || !str_eq(before, value))
			note_change(out, before ? '~' : '+', name, value);
	}
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
	if (pwd && pwd[0] == '/' && stat(pwd, &named) == 0 &&
		stat(s->cwd, &here) == 0 && named.st_dev == here.st_dev &&
		named.st_ino == here.st_ino)
		state_path(&s->pwd, pwd);
}

/* Stripped names are told in the record too. */
static void record_stripped(const struct guard_request *q,
	struct envrun_outcome *out)
{
	struct audit_fact fact = {
		.key = "names", .text = buf_str(&out->stripped)};

	if (out->stripped.len)
		guard_note(q, &out->guard, "env.stripped", &fact, 1);
}

/* Takes the capture into the state; on doubt the old state stays. */
static void take_over(struct envrun *e, const struct guard_request *q,
	struct capture *c, struct envrun_outcome *out)
{
	autogrants struct policy_grants rules = {0};
	autoenv struct env next = ENV_INIT;
	struct state *s = &e->state;
	struct env before;
	int err = guard_env_rules(q, &out->guard, &rules);

	if (!err)
		err = clean_env(e, &rules, c, &next, &out->stripped);
	if (err) {
		out->capture = CAPTURE_TOO_LARGE;
		return;
	}
	if (c->cwd[0] && !str_eq(c->cwd, s->cwd))
		buf_addf(&out->changes, "cwd %s -> %s\n", s->cwd, c->cwd);
	set_place(s, c);
	compare(&s->env, &next, &out->changes);
	before = s->env;
	s->env = next;
	next = before;
	s->has_env = true;
	record_stripped(q, out);
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
		(void)!write(STDOUT_FILENO, said.data, said.len);
		if (err)
			cli_warn("%s", d.text);
	}
	return err ? 1 : 0;
}

/* A session without a directory begins in the caller's. */
static void start_here(struct state *s)
{
	char cwd[STATE_PATH_MAX];
	const char *from = path_cwd(cwd, sizeof cwd) ? "/" : cwd;

	if (state_path(&s->cwd, from))
		cli_die(EXIT_OURS, "out of memory");
}

static void prepare(struct envrun *e, struct envrun_outcome *out)
{
	struct state *s = &e->state;

	*out = (struct envrun_outcome){
		.stdout_text = BUF_INIT(CAPTURED_OUTPUT_MAX),
		.stderr_text = BUF_INIT(CAPTURED_OUTPUT_MAX),
		.stripped = BUF_INIT(1 << 16),
		.changes = BUF_INIT(1 << 22),
		.notes = BUF_INIT(1 << 14),
	};
	envrun_load(e);
	if (!s->cwd)
		start_here(s);
	if (!s->workspace && state_path(&s->workspace, s->cwd))
		cli_die(EXIT_OURS, "out of memory");
	if (dirs_revive(s))
		buf_addf(&out->notes,
			"the session's directory is gone; going on in %s",
			s->cwd);
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

static void run_shell(struct envrun *e, struct guard_request *q,
	const char *line, struct envrun_outcome *out)
{
	autobuf struct buf wrap = BUF_INIT(1 << 16);
	autocapture struct capture c = CAPTURE_INIT;
	char *argv[SHELL_ARGV_MAX] = {NULL}, *shown[SHELL_ARGV_MAX] = {NULL};
	int err = capture_open();

	q->path = e->shell_path;
	q->dialect = dialect_of(e->shell_path);
	q->also_exec = e->self;
	q->also_argv = capture_argv;
	if (err) {
		diag_errno(&out->guard.diag, err, "cannot make a memory file");
		out->guard.code = EXIT_OURS;
		return;
	}
	capture_wrap(&wrap, e->self, e->state.code);
	shell_argv(e, buf_str(&wrap), line, argv);
	q->argv = argv;
	add_arg(shown, shell_name(e));
	add_arg(shown, "-c");
	add_arg(shown, line);
	q->shown_argv = shown;
	q->pty = !e->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	guard_run(q, &out->guard);
	out->capture = capture_read(&c, CONFIG_LIMIT_ENV, STATE_VARS_MAX);
	if (out->capture == CAPTURE_NO_DUMP && out->guard.ran &&
		WIFSIGNALED(out->guard.status))
		out->capture = CAPTURE_KILLED;
	if (out->capture == CAPTURED)
		take_over(e, q, &c, out);
}

/* What the policy is to judge: where it really goes. A target that cannot be
 * told is for move_inside() to complain of. */
static void judged_move(const struct move *move, struct buf *text)
{
	char target[STATE_PATH_MAX];

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
	guard_run(q, &out->guard);
	out->capture = CAPTURED;
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

	prepare(e, out);
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
		run_shell(e, &q, line, out);
	} else {
		run_move(e, &q, &move, line, out);
	}
	s->code = (unsigned)out->guard.code & 255;
	s->commands++;
	if (save(e, &d))
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
	json_str(json_key(&j, "command"), line);
	json_i64(json_key(&j, "exit_code"), r->code);
	if (guard_exit_signal(r))
		json_i64(json_key(&j, "signal"), guard_exit_signal(r));
	json_str(json_key(&j, "capture"), capture_name(out->capture));
	json_str(json_key(&j, "cwd"), s->pwd ? s->pwd : s->cwd);
	json_str(json_key(&j, "session"), e->id);
	json_str(json_key(&j, "decision"),
		policy_decision_name(r->verdict.decision));
	json_str(json_key(&j, "rule"), r->rule);
	json_u64(json_key(&j, "duration_ms"), r->run.duration_ns / 1000000);
	json_bool(json_key(&j, "timed_out"), r->run.timed_out);
	json_strn(json_key(&j, "stdout"), out->stdout_text.data,
		out->stdout_text.len);
	json_strn(json_key(&j, "stderr"), out->stderr_text.data,
		out->stderr_text.len);
	json_str(json_key(&j, "stripped"), buf_str(&out->stripped));
	json_str(json_key(&j, "changes"), buf_str(&out->changes));
	if (!r->ran || r->code == EXIT_OURS)
		json_str(json_key(&j, "error"), r->diag.text);
	if (out->notes.len)
		json_str(json_key(&j, "note"), buf_str(&out->notes));
	json_close(&j);
	buf_addc(text, '\n');
}
