/* profile.c - PATH and variables in the right startup file
 * SPDX-License-Identifier: MIT
 *
 * APPLET(profile)
 *
 * config APPLET_PROFILE
 *	bool "profile: write, diagnose and repair shell startup files (95.7 KB)"
 *	default y
 *	help
 *	  Adds directories to PATH and sets variables in the startup files of
 *	  bash, zsh, fish, sh, dash, ash, mksh, ksh and tcsh, in blocks that come
 *	  out again byte for byte; finds out what is wrong with such files and
 *	  repairs it; tells which sandbox this process is in.
 *
 * config APPLET_PROFILE_DOCTOR
 *	bool "profile: doctor, fix and undo (95.7 KB)"
 *	depends on APPLET_PROFILE
 *	default y
 *	help
 *	  Without it profile writes and takes out, and finds no faults.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "applet.h"
#include "base/kconfig.h"
#include "profile.h"
#include "profile/profile_block.h"
#include "profile/profile_probe.h"
#include "base/str.h"

static const struct cli_opt opts[] = {
	CLI_STR('s', struct profile_opts, shell, "shell", "NAME",
		"write for NAME, 'auto' (default) or 'all'"),
	CLI_STR(0, struct profile_opts, scope, "scope", "LIST",
		"login,interactive (default) or all"),
	CLI_STR('f', struct profile_opts, file, "file", "FILE",
		"write FILE, whatever the shell would read"),
	CLI_STR('i', struct profile_opts, id, "id", "ID",
		"the block's name (default: default)"),
	CLI_FLAG('a', struct profile_opts, append, "append",
		"put directories behind what PATH holds"),
	CLI_STR(0, struct profile_opts, position, "position", "WHERE",
		"put a new block at the 'end' (default) or 'top'"),
	CLI_FLAG(0, struct profile_opts, system, "system",
		"write the machine's files, for all users"),
	CLI_STR('u', struct profile_opts, user, "user", "USER",
		"work for USER, with that user's rights"),
	CLI_STR(0, struct profile_opts, home, "home", "DIR",
		"take DIR as the home directory"),
	CLI_STR(0, struct profile_opts, root, "root", "DIR",
		"take system files and facts from below DIR"),
	CLI_FLAG(0, struct profile_opts, absolute, "absolute",
		"write the home in full instead of $HOME"),
	CLI_FLAG(0, struct profile_opts, force, "force",
		"add even if the user's own lines do; allow risky names"),
	CLI_FLAG('n', struct profile_opts, dry_run, "dry-run",
		"print a diff, change nothing"),
	CLI_FLAG('y', struct profile_opts, yes, "yes",
		"do not ask before writing"),
	CLI_FLAG(0, struct profile_opts, backup, "backup",
		"keep the old file as FILE.wardbox-backup, .1, .2..."),
	CLI_STR(0, struct profile_opts, backup_dir, "backup-dir", "DIR",
		"keep it in DIR; --backup=DIR is the same"),
	CLI_FLAG(0, struct profile_opts, follow, "follow-symlinks",
		"write through a symlink (the default)"),
	CLI_FLAG(0, struct profile_opts, no_follow, "no-follow",
		"refuse a file that is a symlink"),
	CLI_FLAG(0, struct profile_opts, no_exec, "no-exec",
		"look at files only, start no shell"),
	CLI_TIME(0, struct profile_opts, timeout, "timeout", "TIME",
		"wait that long for a shell or a lock (default 10s)"),
	CLI_STR(0, struct profile_opts, shell_flags, "shell-flags", "FLAGS",
		"the caller's \"$-\": tells a restricted shell"),
	CLI_FLAG(0, struct profile_opts, ci, "ci",
		"tell the CI system instead of a startup file"),
	CLI_FLAG(0, struct profile_opts, docker, "docker",
		"print ENV lines for a Dockerfile instead"),
	CLI_FLAG(0, struct profile_opts, session, "session",
		"with apply: print what to eval, write nothing"),
	CLI_FLAG(0, struct profile_opts, then, "then",
		"with apply: run the command behind -- so prepared"),
	CLI_FLAG(0, struct profile_opts, fix, "fix",
		"with check: write what is missing"),
	CLI_FLAG('j', struct profile_opts, json, "json",
		"print facts as JSON"),
	CLI_FLAG('q', struct profile_opts, quiet, "quiet",
		"say nothing but errors"),
};

static int left_out(void *into, int argc, char **argv)
{
	(void)into;
	(void)argc;
	cli_die(EXIT_USAGE, "%s was left out (APPLET_PROFILE_DOCTOR)", argv[0]);
}

enum { DOCTORS = IS_ENABLED(CONFIG_APPLET_PROFILE_DOCTOR) };

static const struct cli_verb verbs[] = {
	CLI_VERB(profile_verb_detect, "detect", "",
		"tell the shell, its files, its PATH (the default)"),
	CLI_VERB(profile_verb_files, "files", "",
		"list the startup files and who reads them"),
	CLI_VERB(profile_verb_add, "add", "DIR...",
		"put directories in front of PATH"),
	CLI_VERB(profile_verb_append, "append", "DIR...",
		"put directories behind PATH"),
	CLI_VERB(profile_verb_set, "set", "NAME=VALUE...",
		"export variables"),
	CLI_VERB(profile_verb_remove, "remove", "[DIR|NAME...]",
		"take lines, or the whole block, out again"),
	CLI_VERB(profile_verb_list, "list", "",
		"list the blocks that are there"),
	CLI_VERB(profile_verb_print, "print", "[DIR|NAME=VALUE...]",
		"print lines for eval, or for any shell"),
	CLI_VERB(profile_verb_check, "check", "DIR|COMMAND",
		"is it on PATH, now or after a restart?"),
	CLI_VERB(profile_verb_apply, "apply", "RECIPE.json [-- COMMAND...]",
		"do what a recipe's shell_config or post_env says"),
	CLI_VERB(DOCTORS ? profile_verb_doctor : left_out, "doctor", "[COMMAND...]",
		"find what is wrong with the startup files"),
	CLI_VERB(DOCTORS ? profile_verb_fix : left_out, "fix", "[CODE...]",
		"repair what the doctor found"),
	CLI_VERB(DOCTORS ? profile_verb_undo : left_out, "undo", "[FILE...]",
		"take the last fix back"),
	CLI_VERB(profile_verb_sandbox, "sandbox", "",
		"tell what confines this process"),
};

static const struct cli_verb aliases[] = {
	CLI_VERB(profile_verb_add, "ensurepath", "", ""),
	CLI_VERB(profile_verb_add, "prepend", "", ""),
	CLI_VERB(profile_verb_print, "shellenv", "", ""),
};

static const struct cli_spec spec = {
	.name = "profile",
	.usage = "[OPTION...] VERB [ARGUMENT...]",
	.about = "Writes PATH and variables into the right shell startup file,\n"
		 "finds what is wrong with such files, and repairs it.",
	.example = "wardbox profile add '$HOME/.cargo/bin'  # asks, then writes\n"
		   "wardbox profile add -n /opt/x/bin  # only shows the diff\n"
		   "wardbox profile doctor",
	CLI_OPTS(opts),
	CLI_VERBS(verbs),
};

static unsigned parse_scope(const char *list)
{
	static const struct {
		char name[12];
		uint8_t scope;
	} known[] = {
		{"login", SCOPE_LOGIN},
		{"interactive", SCOPE_INTERACTIVE},
		{"all", SCOPE_ALL},
	};
	unsigned scopes = 0;

	while (*list) {
		size_t n = strcspn(list, ","), i = 0;

		while (i < ARRAY_SIZE(known) &&
			(strlen(known[i].name) != n ||
				strncmp(list, known[i].name, n) != 0))
			i++;
		if (i < ARRAY_SIZE(known))
			scopes |= known[i].scope;
		else
			cli_die_usage(&spec, "--scope takes login, interactive "
					     "and all, not '%s'",
				list);
		list += n;
		list += *list == ',';
	}
	return scopes;
}

static void settle_options(struct profile_opts *o)
{
	if (!o->id)
		o->id = "default";
	if (!profile_id_valid(o->id))
		cli_die_usage(&spec, "--id takes 1 to %d letters, digits, '.', "
				     "'_' and '-'",
			PROFILE_ID_MAX);
	if (o->position && !str_eq(o->position, "end") &&
		!str_eq(o->position, "top"))
		cli_die_usage(&spec, "--position takes end or top");
	o->scopes = parse_scope(o->scope ? o->scope : "login,interactive");
	if (!o->scopes)
		cli_die_usage(&spec, "--scope is empty");
	if (o->backup && !o->backup_dir)
		o->backup_dir = "";
	if (!o->timeout)
		o->timeout = UINT64_C(10000000000);
	if (o->timeout > UINT64_C(3600000000000))
		o->timeout = UINT64_C(3600000000000);
	if (o->follow && o->no_follow)
		cli_die_usage(&spec,
			"--follow-symlinks and --no-follow exclude each other");
	if (profile_shell_given(o) &&
		shellkind_of(o->shell, NULL) == SHELL_UNKNOWN)
		cli_die(PROFILE_EXIT_REFUSED,
			"no shell '%s' is known; --shell sh writes plain POSIX "
			"lines",
			o->shell);
}

/* --backup=DIR is how other tools spell it. */
static void respell_backup(struct profile_opts *o, int argc, char **argv)
{
	for (int i = 1; i < argc && !str_eq(argv[i], "--"); i++) {
		const char *dir = str_after(argv[i], "--backup=");

		if (dir) {
			o->backup_dir = dir;
			argv[i][strlen("--backup")] = '\0';
		}
	}
}

static int profile_run_applet(int argc, char **argv)
{
	struct profile_opts o = {0};
	int first;

	/* A shell under examination reports back: nothing else happens. */
	if (argc == 3 && str_eq(argv[1], "@answer"))
		return profile_answer(argv[2], profile_environ()) ? EXIT_FOUND
								  : EXIT_OK;
	/* Some callers leave SIGCHLD ignored; then nothing would tell how a
	 * shell ended. */
	signal(SIGCHLD, SIG_DFL);
	respell_backup(&o, argc, argv);
	first = cli_parse(&spec, &o, argc, argv);
	settle_options(&o);
	for (size_t i = 0; first < argc && i < ARRAY_SIZE(aliases); i++) {
		if (str_eq(argv[first], aliases[i].text))
			return aliases[i].run(&o, argc - first, argv + first);
	}
	return cli_verb(&spec, &o, argc - first, argv + first, 0);
}

const struct applet profile_applet = {.run = profile_run_applet, .cli = &spec};
