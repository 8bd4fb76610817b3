/* envrun_shell.c - the shell that a line runs in, and what it is asked to leave
 * SPDX-License-Identifier: MIT
 */
#include "envrun.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/cli_shell.h"
#include "base/path.h"
#include "sys/sig.h"
#include "base/str.h"

/* The argv of exec is not const, though nobody writes to it. */
static void add_arg(char **argv, const char *arg)
{
	size_t n = 0;

	while (argv[n])
		n++;
	argv[n] = (char *)(uintptr_t)arg;
}

/* The name by which the shell is called: NAME.real behind a shim is called
 * NAME, and busybox acts by its name. */
static const char *shell_name(const struct envrun *e)
{
	const char *name = path_base(e->shell_path);

	/* No shell was looked for yet. */
	if (!name[0])
		return "sh";
	if (str_after(name, "bash"))
		return "bash";
	if (str_ends(name, ".real") || str_eq(name, "busybox"))
		return "sh";
	return name;
}

void envrun_shell_argv(const struct envrun *e, const char *text,
	char *argv[static ENVRUN_ARGV_MAX])
{
	add_arg(argv, shell_name(e));
	add_arg(argv, "-c");
	add_arg(argv, text);
}

/* argv of the shell that runs: no start-up file is read. $1, where there is one,
 * is the line that text is around. */
static void shell_argv(const struct envrun *e, const char *text,
	const char *line, char *argv[static ENVRUN_ARGV_MAX])
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
	add_arg(argv, text);
	add_arg(argv, name);
	if (line)
		add_arg(argv, line);
}

/* Shells that read the language as it is read here, and go on, or at least run
 * their trap, when a program that they wanted to become cannot be executed:
 * zsh, ksh93, yash and posh end. */
static bool is_known(const char *name)
{
	static const char known[][5] = {"sh", "bash", "dash", "ash", "mksh"};
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		found |= str_eq(name, known[i]);
	return found;
}

/* Functions, and a file that bash reads first. */
static bool brings_code(char *const *env)
{
	bool found = false;

	for (; env && *env && !found; env++)
		found = (*env)[0] == 'B' && str_after(*env, "BASH_");
	return found;
}

static enum envrun_end end_of(const struct envrun *e,
	const struct guard_request *q, const char *line)
{
	enum envrun_end end = ENVRUN_END_TRAPS;

	if (is_known(shell_name(e)))
		end = envrun_end_of(line);
	/* An option it would be, $? is another's, and what is not in the line
	 * was not read. */
	if (end == ENVRUN_END_SAME &&
		(e->trace_exec || line[0] == '-' || line[0] == '+' ||
			(e->state.code && strchr(line, '?')) ||
			brings_code(q->carry->env ? q->carry->env
						   : q->caller.env) ||
			brings_code(q->carry->also_env)))
		return ENVRUN_END_DUMPS;
	return end;
}

static void note_became(void *ctx, const struct watch_event *ev)
{
	capture_exec(ctx, ev);
}

/* The shell, asked at its end for what it leaves. */
static void run_asked(struct envrun *e, struct guard_request *q,
	struct guard_carry *carry, const char *line, bool becomes,
	struct capture *c, struct envrun_outcome *out)
{
	autobuf struct buf wrap = BUF_INIT(1 << 16);
	autocapture_exec struct capture_exec x = CAPTURE_EXEC_INIT;
	char *argv[ENVRUN_ARGV_MAX] = {NULL};
	const char *name = shell_name(e);
	const bool zsh = str_eq(name, "zsh");
	const struct capture_before before = {
		.code = (unsigned)e->state.code,
		/* Elsewhere no function has the name of such a builtin. */
		.prefix = zsh || str_eq(name, "bash") ? "\\builtin " : "\\",
		.trap_tells = str_eq(name, "mksh"),
		.oldpwd = zsh ? e->state.old : NULL,
	};

	if (capture_open(&out->guard.diag)) {
		out->guard.code = EXIT_OURS;
		return;
	}
	if (!e->self[0])
		envrun_find_self(e);
	carry->helper = e->self;
	carry->helper_argv = capture_argv;
	carry->becomes = e->trace_exec ? note_became : NULL;
	carry->becomes_ctx = &x;
	capture_wrap(&wrap, e->self, &before, becomes);
	shell_argv(e, buf_str(&wrap), line, argv);
	q->command.argv = argv;
	guard_run(q, &out->guard);
	out->capture = capture_read(c, CONFIG_LIMIT_ENV, STATE_VARS_MAX);
	if (out->capture == CAPTURE_NO_DUMP && out->guard.ran &&
		WIFSIGNALED(out->guard.status))
		out->capture = CAPTURE_KILLED;
	if (out->capture == CAPTURED)
		envrun_take_over(e, q, c, out);
}

/* A shell whose end is its last command's says nothing of how that ended. */
static void note_signal(struct envrun_outcome *out, int status)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	const char *name;
	char text[16];

	if (!sig || sig == SIGINT || sig == SIGPIPE)
		return;
	name = sig_name(sig, text, sizeof text);
	buf_addf(&out->notes, "%sended by SIG%s", out->notes.len ? "; " : "",
		name ? name : "?");
}

/* The shell as it is: what it was given is what it leaves. Its directory may
 * be moved, or taken away, all the same. */
static void run_alone(struct envrun *e, struct guard_request *q,
	const char *line, struct capture *c, struct envrun_outcome *out)
{
	const struct guard_outcome *r = &out->guard;
	const bool known = e->state.has_env && !e->keep.count;
	autofd int dir = open(q->caller.cwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *argv[ENVRUN_ARGV_MAX] = {NULL};

	shell_argv(e, line, NULL, argv);
	q->command.argv = argv;
	guard_run(q, &out->guard);
	if (!r->ran)
		return;
	if (r->run.timed_out && WIFSIGNALED(r->status)) {
		out->capture = CAPTURE_KILLED;
		return;
	}
	out->capture = capture_given(c, q->caller.cwd, dir,
		known ? NULL : q->carry->given->vec, CONFIG_LIMIT_ENV, STATE_VARS_MAX);
	note_signal(out, r->status);
	if (known)
		envrun_take_place(e, c, out);
	else if (out->capture == CAPTURED)
		envrun_take_over(e, q, c, out);
}

void envrun_shell(struct envrun *e, struct guard_request q,
	struct guard_carry carry, const char *line,
	struct envrun_outcome *out)
{
	autocapture struct capture c = CAPTURE_INIT;
	autogrants struct policy_grants grants = {0};
	autoenv struct env given = ENV_INIT;
	char *shown[ENVRUN_ARGV_MAX] = {NULL};
	enum envrun_end end;

	if (!e->shell_path[0])
		envrun_find_shell(e);
	q.carry = &carry;
	end = end_of(e, &q, line);
	carry.grants = &grants;
	carry.given = &given;
	q.command.path = e->shell_path;
	q.command.dialect = cli_shell_dialect(e->shell_path);
	envrun_shell_argv(e, line, shown);
	q.command.shown = shown;
	q.io.unread = e->typed;
	q.io.pty = !e->json && cli_guard_on_terminal();
	if (end == ENVRUN_END_SAME)
		run_alone(e, &q, line, &c, out);
	else
		run_asked(e, &q, &carry, line, end == ENVRUN_END_DUMPS, &c, out);
	if (out->capture != CAPTURED && out->guard.ran)
		envrun_lost(&q, out);
}
