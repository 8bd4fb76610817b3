/* envrun.c - runs a command and carries directory and variables to the next
 * SPDX-License-Identifier: MIT
 *
 * APPLET(envrun)
 *
 * config APPLET_ENVRUN
 *	bool "envrun: run a command, carry its directory and variables over (24.6 KB)"
 *	default y
 *	select SANDBOX_UNOTIFY
 *	help
 *	  Runs a command line in a fresh, guarded shell with the directory and the
 *	  exported variables that the one before it left, and saves what it leaves,
 *	  as data that no shell reads. Without it every command starts afresh.
 */
#include "envrun.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "profile/shellkind.h"
#include "shim/shimlinks.h"
#include "base/str.h"

extern char **environ;

static const struct cli_opt options[] = {
	CLI_STR('s', struct envrun, session, "session", "ID",
		"the session whose state it is (default: this workspace's)"),
	CLI_STR(0, struct envrun, state_file, "state", "FILE",
		"keep the state in FILE instead of a session"),
	CLI_STR(0, struct envrun, shell, "shell", "PATH",
		"the shell to run it in (default: sh)"),
	CLI_SOME_TIME('t', struct envrun, timeout, "timeout", "TIME",
		"end the command, and all it started, after TIME"),
	CLI_FLAG('j', struct envrun, json, "json",
		"print the outcome, output too, as one JSON line"),
	CLI_LIST('k', struct envrun, keep, "keep", "NAME",
		"pass this variable of the caller's on, too (repeatable)"),
	CLI_FLAG(0, struct envrun, strict, "strict",
		"carry over only variables that the policy keeps by name"),
	CLI_FLAG(0, struct envrun, trace_exec, "trace-exec",
		"after 'exec PROGRAM', carry over what PROGRAM was given"),
	CLI_FLAG(0, struct envrun, diff, "diff",
		"say on stderr what the command changed; without one, what the last did"),
	CLI_FLAG('i', struct envrun, repl, "repl",
		"read commands from the terminal"),
	CLI_FLAG(0, struct envrun, serve, "serve-stdin",
		"read commands from stdin, answer each with a JSON line"),
	CLI_FLAG('0', struct envrun, nul, "null",
		"with --serve-stdin: commands end with NUL"),
};

void envrun_put_error(struct json *j, const struct diag *d)
{
	json_put_str(j, "error", d->text);
	if (d->file[0])
		json_put_str(j, "file", d->file);
	if (d->hint[0])
		json_put_str(j, "hint", d->hint);
}

void envrun_refuse(int code, const struct diag *d)
{
	autobuf struct buf text = BUF_INIT(4096);
	struct json j = JSON_INIT(&text);

	json_open(&j, '{');
	json_put_i64(&j, "exit_code", code);
	envrun_put_error(&j, d);
	json_end(&j);
	cli_print(&text);
}

static const struct cli_spec spec = {
	.name = "envrun",
	.usage = "[OPTION...] -- 'COMMAND LINE'",
	.about = "Runs a command line in a fresh guarded shell, with the directory "
		 "and the\nexported variables of the one before it.",
	.example = "wardbox envrun -- 'cd src && export CC=clang'\n"
		   "wardbox envrun -- 'echo $PWD $CC'\n"
		   "wardbox envrun --repl",
	CLI_OPTS(options),
	.flags = CLI_COMMAND | CLI_FAIL_OURS,
	.refuse = envrun_refuse,
};

/* Ends, for a program as for a person. */
__attribute__((noreturn)) static void die_told(
	const struct envrun *e, int code, const struct diag *d)
{
	if (!e->json && !e->serve)
		cli_die_diag(code, d);
	envrun_refuse(code, d);
	exit(code);
}

/* Finds the shell by path or name; behind a shim of wardbox, the real shell. */
void envrun_find_shell(struct envrun *e)
{
	static const char *const dirs[] = {"/bin", "/usr/bin", "/usr/local/bin"};
	const char *name = e->shell ? e->shell : "sh";
	const bool named = !*name || strchr(name, '/');
	const bool known = shim_is_shell(path_base(name));
	const enum shell_kind kind = shellkind_of(name, NULL);
	struct diag d = {0};
	size_t i = 0;

	/* A shell that was named is the one that is meant. */
	if (named && known &&
		!shim_real(name, "", e->shell_path, sizeof e->shell_path, NULL))
		return;
	if (named && access(name, X_OK)) {
		int code = errno == EACCES ? EXIT_DENIED : EXIT_NOTFOUND;

		diag_errno(&d, -errno, "--shell %s", name);
		die_told(e, code, &d);
	}
	/* Another language would not read the text that is wrapped around the
	 * line. */
	if (kind != SHELL_UNKNOWN && shellkind_family(kind) != FAMILY_SH) {
		diag_fail(&d, -EINVAL, "--shell %s: it does not read the "
				       "language of sh",
			name);
		die_told(e, EXIT_OURS, &d);
	}
	if (known) {
		int err = shim_real(name, NULL, e->shell_path,
			sizeof e->shell_path, &d);

		if (err)
			die_told(e, err == -ENOENT ? EXIT_NOTFOUND : EXIT_OURS,
				&d);
		return;
	}
	if (named && !str_copy(e->shell_path, sizeof e->shell_path, name))
		return;
	while (path_join(e->shell_path, sizeof e->shell_path, dirs[i], name) ||
		access(e->shell_path, X_OK))
		if (++i == ARRAY_SIZE(dirs)) {
			diag_fail(&d, -ENOENT, "--shell %s: no such shell in"
				" /bin, /usr/bin", name);
			die_told(e, EXIT_NOTFOUND, &d);
		}
}

/* Where the state lives: a file's directory, or the session's. */
static void find_state(struct envrun *e)
{
	static struct guard_here here;
	const struct guard_caller who = {.env = environ};
	struct session_where where;
	struct session_name name;
	struct diag d = {0}, no_dir = {0};
	char *slash = e->file_name;
	int err;

	guard_where(&who, &here, &where);
	e->workspace = here.workspace;
	if (e->session)
		where.id = e->session;
	/* guard_where() says "/" also when the current directory is gone. */
	err = str_eq(here.cwd, "/") ? path_cwd(here.cwd, sizeof here.cwd) : 0;
	if (err && !where.id && !where.file) {
		diag_errno(&d, err, "the current directory");
		die_told(e, EXIT_OURS, &d);
	}
	where.own = session_base(&where, true, NULL, &d);
	if (!e->state_file)
		where.dir = e->dir = session_dir(&where, true, NULL, &no_dir);
	if (e->session && session_id_check("--session: ", e->session, &d))
		die_told(e, EXIT_OURS, &d);
	if (session_resolve(&where, true, &name, &d))
		die_told(e, EXIT_OURS, &d);
	memcpy(e->id, name.id, sizeof e->id);
	if (where.own > 0)
		close(where.own);
	if (!e->state_file) {
		if (e->dir < 0)
			die_told(e, EXIT_OURS, &no_dir);
		return;
	}
	err = path_normal(e->file_name, sizeof e->file_name, here.cwd, e->state_file);
	if (!err && str_eq(e->file_name, "/"))
		err = -EISDIR;
	if (!err) {
		slash = strrchr(e->file_name, '/');
		*slash = '\0';
		e->dir = open(slash == e->file_name ? "/" : e->file_name,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = e->dir < 0 ? -errno : 0;
	}
	if (err) {
		diag_errno(&d, err, "--state %s", e->state_file);
		die_told(e, EXIT_OURS, &d);
	}
	memmove(e->file_name, slash + 1, strlen(slash + 1) + 1);
}

void envrun_find_self(struct envrun *e)
{
	ssize_t n = readlink("/proc/self/exe", e->self, sizeof e->self - 1);

	if (n < 0)
		cli_die(EXIT_OURS, "/proc/self/exe: %s (is /proc mounted?)",
			strerror(errno));
	e->self[n] = '\0';
}

static int run_once(struct envrun *e, const char *line)
{
	struct envrun_outcome out = {0};
	autobuf struct buf text = BUF_INIT(ENVRUN_JSON_MAX);
	int code = envrun_line(e, line, &out);

	if (e->json) {
		envrun_json(e, line, &out, &text);
		cli_print(&text);
	} else {
		envrun_tell(e, &out);
	}
	envrun_outcome_release(&out);
	return code;
}

/* A value may hold what steers a terminal. */
static void add_lines(struct buf *out, const char *text)
{
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		cli_escape(out, text, n);
		buf_addc(out, '\n');
	}
}

/* Prints the changes of the last command and runs none. */
static int last_changes(struct envrun *e)
{
	autobuf struct buf out = BUF_INIT(16 * STATE_CHANGES_MAX);
	struct json j = JSON_INIT(&out);
	struct diag d = {0};

	if (envrun_load(e, &d))
		die_told(e, EXIT_OURS, &d);
	if (!e->json) {
		add_lines(&out, e->state.changes ? e->state.changes : "");
	} else {
		json_open(&j, '{');
		json_put_str(&j, "changes", e->state.changes);
		json_end(&j);
	}
	cli_print(&out);
	return EXIT_OK;
}

static int envrun_run(int argc, char **argv)
{
	static struct envrun e;
	int first = cli_parse(&spec, &e, argc, argv);
	int left = argc - first;
	struct diag d = {0};

	/* A shell named by --shell is looked for before the line is read. */
	if (e.shell)
		envrun_find_shell(&e);
	for (size_t i = 0; i < e.keep.count; i++)
		if (!str_is_name(e.keep.item[i], strlen(e.keep.item[i])))
			diag_fail(&d, -EINVAL, "--keep takes a variable's name,"
				" not '%s'", e.keep.item[i]);
	if (e.serve && e.repl)
		diag_fail(&d, -EINVAL, "--repl or --serve-stdin, not both");
	else if ((e.serve || e.repl) && left)
		diag_fail(&d, -EINVAL, "unexpected '%s'", argv[first]);
	else if (!left && !e.serve && !e.repl && !e.diff)
		diag_fail(&d, -EINVAL, "no command; try 'wardbox %s --help'",
			spec.name);
	else if (left > 1)
		diag_fail(&d, -EINVAL, "one command line is needed, in quotes:"
			" -- '%s %s ...'", argv[first], argv[first + 1]);
	if (d.text[0])
		die_told(&e, EXIT_OURS, &d);
	find_state(&e);
	if (e.serve || e.repl)
		e.holder = getpid();
	if (e.serve)
		return envrun_serve(&e);
	if (e.repl)
		return envrun_repl(&e);
	return left ? run_once(&e, argv[first]) : last_changes(&e);
}

const struct applet envrun_applet = {.run = envrun_run, .cli = &spec};
