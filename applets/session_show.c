/* session_show.c - sessions as people and programs read them
 * SPDX-License-Identifier: MIT
 */
#include "session_applet.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "log/audit_read_json.h"
#include "base/clock.h"
#include "base/str.h"

void session_add_age(struct buf *out, uint64_t then, uint64_t now)
{
	static const struct {
		uint64_t seconds;
		char unit[4];
	} units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {0, "s"}};
	uint64_t age = now > then ? (now - then) / 1000000000u : 0;
	size_t i = 0;

	if (!then) {
		buf_addc(out, '-');
		return;
	}
	while (age < units[i].seconds)
		i++;
	buf_addf(out, "%ju %s", age / (units[i].seconds ? units[i].seconds : 1),
		units[i].unit);
}

/* The members that list and show have in common; the map stays open. */
static void json_session(struct json *j, const char *id, const struct state *s)
{
	json_putf(j,
		"{ id %s workspace %s cwd %s last_exit_code %ju commands %ju",
		id, s->workspace, s->cwd, (uintmax_t)s->code, s->commands);
	audit_json_time(j, "created", s->created);
	audit_json_time(j, "used", s->used);
}

void session_print_made(struct buf *out, const char *id, const struct state *s)
{
	struct json j = JSON_INIT(out);

	json_session(&j, id, s);
	json_end(&j);
}

static void json_env(struct json *j, const struct state *s)
{
	json_put_open(j, "env", '{');
	for (size_t i = 0; i < s->env.count; i++) {
		char name[256];
		size_t n = strcspn(s->env.vec[i], "=");

		if (n >= sizeof name)
			continue;
		memcpy(name, s->env.vec[i], n);
		name[n] = '\0';
		json_put_str(j, name, s->env.vec[i] + n + 1);
	}
	json_close(j);
}

void session_print_env(
	const struct state *s, const struct session_opts *o, struct buf *out)
{
	struct json j = JSON_INIT(out);
	bool terminal = isatty(STDOUT_FILENO);
	autobuf struct buf left = BUF_INIT(8192);
	struct guard_caller who = {0};
	struct diag d = {0};

	if (o->json) {
		json_putf(&j, "{ saved %d", s->has_env);
		json_env(&j, s);
		cli_print_json(&j);
		return;
	}
	for (size_t i = 0; i < s->env.count; i++) {
		const char *pair = s->env.vec[i];

		if (terminal && !o->null)
			cli_escape_str(out, pair);
		else
			buf_adds(out, pair);
		buf_addc(out, o->null ? '\0' : '\n');
	}
	cli_print(out);
	if (s->has_env)
		return;
	cli_guard_facts(&who);
	(void)guard_env_left(&who, &left, &d);
	cli_warn("no environment is saved; commands get the caller's%s%s",
		left.len ? ", without " : "", buf_str(&left));
}

static void add_row(struct buf *out, const char *id, const struct state *s,
	bool current, uint64_t now)
{
	const char *place = s->cwd ? s->cwd : s->workspace ? s->workspace : "-";
	char age[24];
	struct buf b = BUF_FIXED(age);

	session_add_age(&b, s->used, now);
	buf_addf(out, "%c %-44s %8s %6ju %4u  ", current ? '*' : ' ', id,
		buf_str(&b), s->commands, (unsigned)s->code);
	cli_escape_str(out, place);
	buf_addc(out, '\n');
}

int session_run_list(void *into)
{
	const struct session_opts *o = into;
	autosessions struct session_list l = SESSION_LIST_INIT;
	autobuf struct buf out = BUF_INIT(64 << 20);
	struct json j = JSON_INIT(&out);
	struct session_name here = {0};
	struct session_where w;
	struct diag d = {0};
	autofd int dir = -1;

	session_where_am_i(&w);
	(void)session_resolve(&w, false, &here, &d);
	dir = session_open(&w, false);
	if (dir >= 0 && session_list(dir, &l, &d))
		cli_die_diag(EXIT_FOUND, &d);
	if (o->json)
		json_open(&j, '[');
	else if (l.count)
		buf_addf(&out, "  %-44s %8s %6s %4s  %s\n", "SESSION", "USED",
			"RUNS", "CODE", "DIRECTORY");
	for (size_t i = 0; i < l.count; i++) {
		autostate struct state s = STATE_INIT;
		bool current = str_eq(l.id[i], here.id);
		int err = session_load(dir, w.uid, l.id[i], &s, &d);

		if (err && err != -ENOENT)
			cli_diag(&d);
		if (!o->json) {
			add_row(&out, l.id[i], &s, current, clock_ns(CLOCK_REALTIME));
			session_add_programs(&out, dir, l.id[i]);
			continue;
		}
		json_session(&j, l.id[i], &s);
		json_put_bool(&j, "current", current);
		session_json_programs(&j, dir, l.id[i]);
		json_close(&j);
	}
	cli_print_json(&j);
	return EXIT_OK;
}

static void add_line(struct buf *out, const char *key, const char *value)
{
	buf_addf(out, "%-12s ", key);
	cli_escape_str(out, value);
	buf_addc(out, '\n');
}

static void add_facts(struct buf *out, const struct session_name *name,
	const struct state *s, const char *base)
{
	add_line(out, "session", name->id);
	add_line(out, "named by", session_source_name(name->source));
	add_line(out, "kept in", base[0] ? base : "nowhere");
	add_line(out, "workspace", s->workspace ? s->workspace : "-");
	add_line(out, "directory", s->cwd ? s->cwd : "the caller's");
	if (s->pwd)
		add_line(out, "known as", s->pwd);
	for (size_t i = 0; i < s->dir_count; i++)
		add_line(out, i ? "" : "stack", s->dirs[i]);
	buf_addf(out, "%-12s %zu variables%s\n", "environment", s->env.count,
		s->has_env ? "" : " saved: the caller's");
	buf_addf(out, "%-12s %u\n", "last code", (unsigned)s->code);
	buf_addf(out, "%-12s %ju\n", "commands", s->commands);
	buf_addf(out, "%-12s ", "created");
	if (s->created)
		audit_add_time(out, s->created);
	buf_addc(out, '\n');
}

static void json_facts(struct json *j, const struct session_name *name,
	const struct state *s, const char *base, int dir)
{
	json_session(j, name->id, s);
	json_putf(j, "pwd %s source %s base %s dirs [", s->pwd,
		session_source_name(name->source), base[0] ? base : NULL);
	for (size_t i = 0; i < s->dir_count; i++)
		json_str(j, s->dirs[i]);
	json_putf(j, "] env_saved %d", s->has_env);
	json_env(j, s);
	session_json_programs(j, dir, name->id);
}

int session_run_show(void *into, int argc, char **argv)
{
	const struct session_opts *o = into;
	autostate struct state s = STATE_INIT;
	autobuf struct buf out = BUF_INIT(STATE_FILE_MAX * 6);
	struct json j = JSON_INIT(&out);
	struct session_name name;
	struct session_where w;
	static char base[SESSION_BASE_MAX];
	struct diag d = {0};
	autofd int dir = -1;
	int err;

	session_where_am_i(&w);
	session_pick(&w, session_operand(argc, argv), false, &name);
	dir = session_dir(&w, false, base, &d);
	err = dir < 0 ? dir : session_load(dir, w.uid, name.id, &s, &d);
	if (err == -ENOENT && argv[1])
		cli_die(EXIT_FOUND, "there is no session %s", argv[1]);
	if (err && err != -ENOENT)
		cli_die_diag(EXIT_FOUND, &d);
	if (o->json)
		json_facts(&j, &name, &s, base, dir);
	else
		add_facts(&out, &name, &s, base);
	if (!o->json)
		session_add_programs(&out, dir, name.id);
	cli_print_json(&j);
	return EXIT_OK;
}
