/* session.c - list, show, make, edit and end sessions
 * SPDX-License-Identifier: MIT
 *
 * APPLET(session)
 *
 * config APPLET_SESSION
 *	bool "session: list, show, create, edit and end sessions (13.6 KB)"
 *	default y
 *	help
 *	  A session is what commands of one workspace share: a name in the
 *	  log, a directory, an environment. This applet shows and edits it.
 */
#include "session_applet.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "applet.h"
#include "log/audit_write.h"
#include "base/clock.h"
#include "guard/guard.h"
#include "session/session_live.h"
#include "base/str.h"

extern char **environ;

void session_where_am_i(struct session_where *w)
{
	static struct guard_here here;
	const struct guard_caller who = {.env = environ};

	guard_where(&who, &here, w);
}

int session_open(const struct session_where *w, bool make)
{
	struct diag d = {0};
	int dir = session_dir(w, make, NULL, &d);

	/* A missing directory holds no session; any other failure is told. */
	if (dir < 0 && (make || dir != -ENOENT))
		cli_die_diag(EXIT_FOUND, &d);
	return dir;
}

void session_pick(const struct session_where *w, const char *id, bool make,
	struct session_name *name)
{
	struct diag d = {0};
	int err;

	if (id) {
		*name = (struct session_name){.source = SESSION_BY_ID};
		if (session_id_check("", id, &d))
			cli_die_diag(EXIT_USAGE, &d);
		str_copy(name->id, sizeof name->id, id);
		return;
	}
	err = session_resolve(w, make, name, &d);
	if (err == -ENOENT)
		cli_die(EXIT_FOUND, "%s has no session yet; a guarded command"
			" makes one, or 'wardbox session create --here'",
			w->workspace);
	if (err)
		cli_die_diag(EXIT_FOUND, &d);
}

/* Records the event. A log that cannot be written does not undo the deed. */
static void note_session(const char *event, const char *id,
	const char *workspace)
{
	const struct guard_caller here = {.env = environ};
	const struct audit_fact facts[] = {
		{.key = "id", .text = id},
		{.key = "workspace", .text = workspace ? workspace : ""},
	};
	struct guard_outcome r = {0};

	str_copy(r.session, sizeof r.session, id);
	(void)guard_note(&here, &r, event, facts, ARRAY_SIZE(facts));
}

const char *session_operand(int argc, char **argv)
{
	if (argc > 2)
		cli_die(EXIT_USAGE, "%s: too many operands; try 'wardbox"
			" session --help'", argv[0]);
	return argc > 1 ? argv[1] : NULL;
}

/* Makes it; of a dry run only what would be in the way is told. */
static int make_session(const struct session_opts *o,
	const struct session_where *w, const char *id, const struct state *s,
	struct diag *d)
{
	autofd int dir = session_open(w, !o->dry_run), lock = -1;
	autostate struct state there = STATE_INIT;
	int err;

	if (o->dry_run)
		return dir < 0 || session_load(dir, w->uid, id, &there, NULL) ==
					-ENOENT
			? 0
			: diag_fail(d, -EEXIST,
				  "there is a session %s already", id);
	lock = session_lock(dir, d);
	err = lock < 0 ? lock : session_create(dir, id, s, d);
	if (!err && o->here)
		err = session_bind(w, dir, id, d);
	if (!err)
		note_session("session.open", id, w->cwd);
	return err;
}

static int verb_create(void *into, int argc, char **argv)
{
	const struct session_opts *o = into;
	const char *wanted = session_operand(argc, argv);
	autostate struct state s = STATE_INIT;
	autobuf struct buf out = BUF_INIT(65536);
	struct session_where w;
	struct session_name name;
	static char full[PATH_MAX];
	struct diag d = {0};

	session_where_am_i(&w);
	if (wanted)
		session_pick(&w, wanted, false, &name);
	else if (session_id_make(name.id))
		cli_die(EXIT_FOUND, "the kernel gives no randomness");
	if (o->cwd && !realpath(o->cwd, full))
		cli_die(EXIT_FOUND, "--cwd: %s: %s", o->cwd, strerror(errno));
	s.created = s.used = clock_ns(CLOCK_REALTIME);
	if (state_path(&s.workspace, w.workspace) ||
		(o->cwd && state_path(&s.cwd, full)))
		cli_die(EXIT_FOUND, "out of memory");
	if (make_session(o, &w, name.id, &s, &d))
		cli_die_diag(EXIT_FOUND, &d);
	if (o->json)
		session_print_made(&out, name.id, &s);
	else
		buf_addf(&out, "%s\n", name.id);
	cli_print(&out);
	return EXIT_OK;
}

static bool keeps_pair(void *ctx, const char *pair)
{
	(void)ctx;
	return state_carries(pair);
}

/* Does what the options of env say to the saved environment. */
static void edit_env(struct state *s, const struct session_opts *o, int argc,
	char **argv)
{
	/* The first edit is one of what commands get now. */
	if (!s->has_env && env_copy(&s->env, environ))
		cli_die(EXIT_FOUND, "out of memory");
	env_filter(&s->env, keeps_pair, NULL);
	s->has_env = true;
	for (size_t i = 0; i < o->unset.count; i++)
		env_unset(&s->env, o->unset.item[i]);
	for (int i = 0; i < argc; i++)
		if (env_put(&s->env, argv[i]))
			cli_die(EXIT_USAGE, "'%s' is no NAME=VALUE", argv[i]);
	s->used = clock_ns(CLOCK_REALTIME);
}

static int verb_env(void *into, int argc, char **argv)
{
	const struct session_opts *o = into;
	const char *id = argc > 1 && !strchr(argv[1], '=') ? argv[1] : NULL;
	int first = id ? 2 : 1;
	bool edits = argc > first || o->unset.count;
	autostate struct state s = STATE_INIT;
	autobuf struct buf out = BUF_INIT(STATE_FILE_MAX * 6);
	struct session_where w;
	struct session_name name;
	struct diag d = {0};
	autofd int dir = -1, lock = -1;
	int err;

	session_where_am_i(&w);
	session_pick(&w, id, edits, &name);
	dir = session_open(&w, edits);
	if (edits)
		lock = session_lock(dir, &d);
	err = edits && lock < 0 ? lock
		: dir < 0	? -ENOENT
				: session_load(dir, w.uid, name.id, &s, &d);
	if (err == -ENOENT && id && !edits)
		cli_die(EXIT_FOUND, "there is no session %s", id);
	if (err && err != -ENOENT)
		cli_die_diag(EXIT_FOUND, &d);
	if (!edits) {
		session_print_env(&s, o, &out);
		return EXIT_OK;
	}
	edit_env(&s, o, argc - first, argv + first);
	if (o->dry_run) {
		session_print_env(&s, o, &out);
		return EXIT_OK;
	}
	if (session_save(dir, name.id, &s, &d))
		cli_die_diag(EXIT_FOUND, &d);
	return EXIT_OK;
}

static void add_id(struct json *j, const char *id)
{
	if (j->depth)
		json_str(j, id);
	else
		buf_addf(j->out, "%s\n", id);
}

/* Ends what has not been used for so long; 0 ends all. */
static int end_many(const struct session_where *w, int dir, uint64_t older,
	bool dry_run, struct json *ended)
{
	autosessions struct session_list l = SESSION_LIST_INIT;
	uint64_t now = clock_ns(CLOCK_REALTIME);
	struct diag d = {0};
	int code = EXIT_OK;

	if (session_list(dir, &l, &d))
		cli_die_diag(EXIT_FOUND, &d);
	for (size_t i = 0; i < l.count; i++) {
		autostate struct state s = STATE_INIT;

		/* A state that cannot be read is no reason to keep it. */
		if (!session_load(dir, w->uid, l.id[i], &s, NULL) &&
			(now < s.used || now - s.used < older))
			continue;
		/* A session that cannot be ended does not keep the others. */
		if (!dry_run && (session_live_end(dir, l.id[i], &d) ||
				session_end(dir, w->uid, l.id[i], &d))) {
			cli_diag(&d);
			code = EXIT_FOUND;
			continue;
		}
		if (!dry_run)
			note_session("session.end", l.id[i], s.workspace);
		add_id(ended, l.id[i]);
	}
	return code;
}

static int end_one(const struct session_where *w, int dir, const char *id,
	bool dry_run, struct json *ended)
{
	autostate struct state s = STATE_INIT;
	struct diag d = {0};
	int err = dir < 0 ? -ENOENT
		: dry_run ? session_load(dir, w->uid, id, &s, NULL)
			  : session_live_end(dir, id, &d);

	if (!err && !dry_run)
		err = session_end(dir, w->uid, id, &d);
	if (err == -ENOENT)
		diag_fail(&d, err, "there is no session %s", id);
	if (err == -ENOENT || (err && !dry_run)) {
		cli_diag(&d);
		return EXIT_FOUND;
	}
	if (!dry_run)
		note_session("session.end", id, NULL);
	if (dry_run || ended->depth)
		add_id(ended, id);
	return EXIT_OK;
}

static int verb_end(void *into, int argc, char **argv)
{
	const struct session_opts *o = into;
	struct session_where w;
	autobuf struct buf out = BUF_INIT(SESSION_COUNT_MAX * 140);
	struct json j = JSON_INIT(&out);
	bool many = o->all || o->older;
	struct session_name name;
	autofd int dir = -1;
	int code = EXIT_OK;

	session_where_am_i(&w);
	dir = session_open(&w, false);
	if (many && argc > 1)
		cli_die(EXIT_USAGE, "end: ids, --older or --all, not two of them");
	if (o->json)
		json_open(&j, '[');
	if (many && dir >= 0)
		code = end_many(
			&w, dir, o->all ? 0 : o->older, o->dry_run, &j);
	for (int i = 1; !many && (i < argc || i == 1); i++) {
		session_pick(&w, argv[i], false, &name);
		code |= end_one(&w, dir, name.id, o->dry_run, &j);
	}
	cli_print_json(&j);
	return code;
}

static const struct cli_opt options[] = {
	CLI_FLAG('j', struct session_opts, json, "json",
		"print facts as JSON"),
	CLI_FLAG('0', struct session_opts, null, "null",
		"env: end each variable with a NUL, not a newline"),
	CLI_LIST('u', struct session_opts, unset, "unset", "NAME",
		"env: take NAME out of the saved environment"),
	CLI_STR('C', struct session_opts, cwd, "cwd", "DIR",
		"create: commands of the session start in DIR"),
	CLI_FLAG(0, struct session_opts, here, "here",
		"create: make it the session of this directory"),
	CLI_SOME_TIME(0, struct session_opts, older, "older", "TIME",
		"end: those not used for TIME, such as 12h or 7d"),
	CLI_FLAG('a', struct session_opts, all, "all", "end: every session"),
	CLI_FLAG('n', struct session_opts, dry_run, "dry-run",
		"create, env, end: only print what would be"),
};

static const struct cli_verb verbs[] = {
	CLI_VERB(session_run_list, "list", "", "the sessions of this user"),
	CLI_VERB(session_run_show, "show", "[ID]",
		"one session; without ID the one that a command here gets"),
	CLI_VERB(verb_create, "create", "[ID]", "make a session, print its id"),
	CLI_VERB(verb_env, "env", "[ID] [NAME=VALUE...]",
		"print the saved environment, or say what a command does not "
		"get of the caller's; change it"),
	CLI_VERB(session_run_stop, "stop", "[ID [PID...]]",
		"end what its commands left running, or those programs"),
	CLI_VERB(verb_end, "end", "[ID...]",
		"forget sessions, and end what their commands left running"),
};

static const struct cli_spec spec = {
	.name = "session",
	.usage = "[OPTION...] [VERB [ARGUMENT...]]",
	.about = "Shows, makes, edits and ends sessions: what the commands of "
		 "one\nworkspace share.",
	.example = "export WARDBOX_SESSION_ID=$(wardbox session create)\n"
		   "wardbox session show --json\n"
		   "wardbox session env LANG=C --unset PAGER\n"
		   "wardbox session end --older 7d",
	CLI_OPTS(options),
	CLI_VERBS(verbs),
};

static int session_run(int argc, char **argv)
{
	struct session_opts o = {0};
	int first = cli_parse(&spec, &o, argc, argv);

	return cli_verb(&spec, &o, argc - first, argv + first, 0);
}

const struct applet session_applet = {.run = session_run, .cli = &spec};
