/* undo.c - what a guarded command changed, and back
 * SPDX-License-Identifier: MIT
 *
 * APPLET(undo)
 *
 * config APPLET_UNDO
 *	bool "undo: take back what a guarded command changed (9.4 KB)"
 *	select UNDO
 *	default y
 *	help
 *	  Lists what commands changed where a policy says undo=on, shows it as a
 *	  diff, takes it back and forth again.
 */
#include "undo_applet.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "applet.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "base/path.h"
#include "base/str.h"
#include "guard/guard_undo.h"
#include "sys/probe.h"

extern char **environ;

const char *undo_here(void)
{
	static struct guard_here here;
	const struct guard_caller who = {.env = environ};
	struct session_where w;

	guard_where(&who, &here, &w);
	return here.workspace;
}

int undo_store(bool alone)
{
	const struct guard_caller who = {.env = environ};
	struct diag d = {0};
	int fd;

	if (probe_inside())
		cli_die(EXIT_FOUND, "a guarded command cannot take anything"
			" back: that is for who started the guard");
	fd = guard_undo_open(&who, alone, &d);
	if (fd == -EBUSY)
		cli_die_diag(EXIT_FOUND, &d);
	if (fd < 0)
		cli_die(EXIT_FOUND, "no command was journaled yet; a policy"
			" turns that on: profile NAME undo=on");
	return fd;
}

/* What can be taken back: commands and redone ones, or with redo the undos. */
static bool is_target(const struct undo_info *j, bool redo)
{
	return !j->undone && !j->running && (j->kind == UNDO_UNDO) == redo;
}

uint64_t undo_last(int store, const char *root, bool redo)
{
	autofree struct undo_info *list = NULL;
	struct diag d = {0};
	size_t n;

	if (undo_list(store, root, &list, &n, &d))
		cli_die_diag(EXIT_FOUND, &d);
	if (!redo && n && list[n - 1].kind == UNDO_UNDO && !list[n - 1].ended &&
		!list[n - 1].running)
		cli_die(EXIT_FOUND, "the last undo was cut off: 'wardbox undo"
			" redo' takes back what it did");
	while (n-- > 0)
		if (is_target(&list[n], redo))
			return list[n].number;
	cli_die(EXIT_FOUND, redo ? "nothing was undone in %s"
				 : "no command changed anything in %s", root);
}

static const char *act_name(enum undo_became became)
{
	static const char *const names[] = {[UNDO_MADE] = "bring back",
		[UNDO_CHANGED] = "restore",
		[UNDO_REMOVED] = "remove",
		[UNDO_MOVED] = "move back",
		[UNDO_LOST] = "leave"};

	return names[became];
}

static void json_acts(struct json *j, const char *key,
	const struct undo_acts *acts)
{
	json_put_open(j, key, '[');
	for (size_t i = 0; i < acts->count; i++) {
		json_open(j, '{');
		json_put_str(j, "act", act_name(acts->act[i].became));
		json_put_str(j, "path", acts->act[i].path);
		if (acts->act[i].why)
			json_put_str(j, "reason", acts->act[i].why);
		json_close(j);
	}
	json_close(j);
}

static void text_acts(struct buf *out, const struct undo_acts *acts, bool all)
{
	for (size_t i = 0; i < acts->count; i++) {
		const struct undo_act *a = &acts->act[i];

		if (!a->why && !all)
			continue;
		buf_addf(out, "%-11s", a->why ? "cannot" : act_name(a->became));
		cli_escape_str(out, a->path);
		if (a->why)
			buf_addf(out, ": %s", a->why);
		buf_addc(out, '\n');
	}
}

static void print_report(const struct undo_opts *o, const struct undo_model *m,
	const struct undo_acts *plan, const struct undo_acts *failed,
	const struct undo_sum *sum, bool done)
{
	const struct undo_info *i = undo_info(m);
	autobuf struct buf out = BUF_INIT(1 << 28);
	struct json j = JSON_INIT(&out);

	if (o->json) {
		json_open(&j, '{');
		json_put_u64(&j, "journal", i->number);
		json_put_str(&j, "command", i->text);
		json_put_bool(&j, "done", done);
		json_put_bool(&j, "dry_run", o->dry_run);
		if (sum->number)
			json_put_u64(&j, "undo", sum->number);
		json_acts(&j, "acts", plan);
		json_acts(&j, "failed", failed);
		cli_print_json(&j);
		return;
	}
	buf_addf(&out, "%s %llu: ", o->dry_run ? "would take back" :
					done   ? "took back"
					       : "did not take back",
		(unsigned long long)i->number);
	cli_escape_str(&out, i->text);
	buf_addc(&out, '\n');
	text_acts(&out, plan, o->dry_run || o->verbose);
	text_acts(&out, failed, true);
	cli_print(&out);
}

static void show_progress(void *ctx, size_t done, size_t of)
{
	enum { EACH = 4096 };

	(void)ctx;
	if (done % EACH == 0)
		cli_warn("%zu of %zu", done, of);
}

int undo_one(const struct undo_opts *o, int store, uint64_t number,
	const char *const *paths, size_t path_count)
{
	autoundo_model struct undo_model *m = NULL;
	autoundo_acts struct undo_acts plan = UNDO_ACTS_INIT;
	autoundo_acts struct undo_acts failed = UNDO_ACTS_INIT;
	struct undo_wish w = {.store = store,
		.paths = paths,
		.path_count = path_count,
		.force = o->force,
		.progress = isatty(STDERR_FILENO) ? show_progress : NULL};
	const struct guard_caller who = {.env = environ};
	struct undo_sum sum = {.number = 0};
	struct diag d = {0};
	int err = undo_load(store, number, &m, &d);

	if (err)
		cli_die_diag(EXIT_FOUND, &d);
	w.session = undo_info(m)->session;
	if (undo_plan(m, &w, &plan, &d))
		cli_die_diag(EXIT_FOUND, &d);
	if (!plan.count)
		cli_die(EXIT_FOUND, "%s", path_count
				? "that command changed none of these paths"
				: "nothing is left to be taken back");
	if (!o->dry_run && (!plan.refused || o->force)) {
		err = undo_apply(m, &w, &sum, &failed, &d);
		guard_undo_restored(&who, undo_info(m), &sum);
	} else if (plan.refused) {
		err = diag_fail(&d, -ESTALE,
			"%zu path%s cannot be brought back: nothing was done"
			"\036'--force' does all else, also over what changed since",
			plan.refused, str_plural(plan.refused));
	}
	print_report(o, m, &plan, &failed, &sum, !err && !o->dry_run);
	if (err)
		cli_diag(&d);
	return err ? EXIT_FOUND : EXIT_OK;
}

/* All commands of the last one's session, the newest first. */
static int undo_session(const struct undo_opts *o, int store, const char *root)
{
	autofree struct undo_info *list = NULL;
	const char *session = NULL;
	struct diag d = {0};
	int code = EXIT_OK;
	size_t n;

	if (undo_list(store, root, &list, &n, &d))
		cli_die_diag(EXIT_FOUND, &d);
	while (n-- > 0 && code == EXIT_OK) {
		if (!is_target(&list[n], false))
			continue;
		if (!session)
			session = list[n].session;
		if (str_eq(list[n].session, session))
			code = undo_one(o, store, list[n].number, NULL, 0);
	}
	if (!session)
		cli_die(EXIT_FOUND, "no command changed anything in %s", root);
	return code;
}

/* Of the redo of a partial undo the journal has a part of the command alone:
 * the rest is in the command's own. 0: there is none. */
static uint64_t rest_of(int store, uint64_t number)
{
	autofree struct undo_info *list = NULL;
	uint64_t rest = 0;
	size_t n, i;

	if (undo_list(store, NULL, &list, &n, NULL))
		return 0;
	for (i = 0; i < n && list[i].number != number; i++)
		;
	if (i < n && list[i].kind == UNDO_REDO)
		for (size_t k = 0; k < i; k++)
			if (list[k].number == list[i].of && !list[k].complete)
				rest = list[k].of;
	return rest;
}

static int take_back(const struct undo_opts *o, int argc, char **argv)
{
	autofd int store = undo_store(!o->dry_run);
	const char **paths = calloc((size_t)argc + 1, sizeof *paths);
	uint64_t number = 0;
	static char cwd[PATH_MAX], full[PATH_MAX];
	size_t n = 0;
	int code;

	if (o->session)
		return undo_session(o, store, undo_here());
	if (argc && !num_u64(argv[0], 1, UINT64_MAX, &number)) {
		argc--;
		argv++;
	}
	if (!paths || path_cwd(cwd, sizeof cwd))
		cli_die(EXIT_FOUND, "cannot find the current directory");
	for (int i = 0; i < argc; i++) {
		if (path_normal(full, sizeof full, cwd, argv[i]) ||
			!(paths[n++] = strdup(full)))
			cli_die(EXIT_FOUND, "%s: out of memory", argv[i]);
	}
	if (!number)
		number = undo_last(store, undo_here(), false);
	do
		code = undo_one(o, store, number, paths, n);
	while (code == EXIT_OK && !o->dry_run &&
		(number = rest_of(store, number)));
	return code;
}

static int verb_redo(void *into, int argc, char **argv)
{
	const struct undo_opts *o = into;
	autofd int store = undo_store(!o->dry_run);
	uint64_t number = 0;

	if (argc > 2 || (argc > 1 && num_u64(argv[1], 1, UINT64_MAX, &number)))
		cli_die(EXIT_USAGE, "redo: expected a number of 'undo list'");
	if (!number)
		number = undo_last(store, undo_here(), true);
	return undo_one(o, store, number, NULL, 0);
}

static int verb_prune(void *into, int argc, char **argv)
{
	const struct undo_opts *o = into;
	autofd int store = undo_store(true);
	struct undo_bounds b = {.age_ns = o->older};
	struct diag d = {0};
	uint64_t number, freed;

	if (argc > 1 && o->older)
		cli_die(EXIT_USAGE, "prune: numbers, or --older");
	for (int i = 1; i < argc; i++) {
		if (num_u64(argv[i], 1, UINT64_MAX, &number))
			cli_die(EXIT_USAGE, "prune: %s is no number", argv[i]);
		if (undo_forget(store, number, &d))
			cli_die_diag(EXIT_FOUND, &d);
	}
	if (argc > 1)
		return EXIT_OK;
	if (!o->older)
		b.age_ns = 1;
	freed = undo_prune(store, &b);
	return undo_print_freed(o, freed);
}

static const struct cli_opt opts[] = {
	CLI_FLAG('j', struct undo_opts, json, "json", "print facts as JSON"),
	CLI_FLAG('n', struct undo_opts, dry_run, "dry-run",
		"only print what would be done"),
	CLI_FLAG('f', struct undo_opts, force, "force",
		"do what can be done, also over what others changed since"),
	CLI_FLAG('v', struct undo_opts, verbose, "verbose", "name every path"),
	CLI_FLAG('s', struct undo_opts, session, "session",
		"take back all commands of the last one's session"),
	CLI_FLAG('a', struct undo_opts, all, "all", "list: of all projects"),
	CLI_SOME_TIME(0, struct undo_opts, older, "older", "TIME",
		"prune: journals older than TIME, such as 12h or 7d"),
};
static const struct cli_verb verbs[] = {
	CLI_VERB(undo_verb_list, "list", "", "the commands that changed something"),
	CLI_VERB(undo_verb_show, "show", "[N]", "the paths that one changed"),
	CLI_VERB(undo_verb_diff, "diff", "[N]", "what changed in its files"),
	CLI_VERB(verb_redo, "redo", "[N]", "do again what was taken back"),
	CLI_VERB(verb_prune, "prune", "[N...]",
		"forget journals, and free what they hold"),
};
static const struct cli_spec undo_cli = {
	.name = "undo",
	.usage = "[OPTION...] [N] [PATH...] | VERB [ARGUMENT...]",
	.about = "Take back what a guarded command changed: the last one of this"
		 " project,\nor number N, or only the PATHs of it.",
	.example = "wardbox undo --dry-run  # what would be done\n"
		   "wardbox undo  # take the last command back\n"
		   "wardbox undo 41 src  # of command 41 what it did to src\n"
		   "wardbox undo redo  # and do it again",
	.opts = opts,
	.opt_count = ARRAY_SIZE(opts),
	.verbs = verbs,
	.verb_count = ARRAY_SIZE(verbs),
};

static int undo_run(int argc, char **argv)
{
	static struct undo_opts o;
	int at = cli_parse(&undo_cli, &o, argc, argv);

	for (size_t i = 0; at < argc && i < ARRAY_SIZE(verbs); i++)
		if (str_eq(argv[at], verbs[i].text))
			return verbs[i].run(&o, argc - at, argv + at);
	return take_back(&o, argc - at, argv + at);
}

const struct applet undo_applet = {.run = undo_run, .cli = &undo_cli};
