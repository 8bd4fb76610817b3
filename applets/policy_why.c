/* policy_why.c - policy why: the last denial of a session, in full
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "guard/guard.h"
#include "guard/guard_told.h"
#include "log/audit_read_json.h"
#include "policy_applet.h"
#include "session/session.h"

extern char **environ;

static void add_row(struct buf *out, const char *name, const char *text)
{
	if (!*text)
		return;
	buf_addf(out, "  %-10s ", name);
	cli_escape_str(out, text);
	buf_addc(out, '\n');
}

static void why_text(
	struct buf *out, const struct guard_told *t, const char *when)
{
	const char *unanswered =
		str_eq(t->decision, "confirm") ? ", and nobody said yes" : "";
	char rule[256];

	buf_adds(out, t->program ? "not started: " : "did not run: ");
	cli_escape_str(out, t->command[0] ? t->command : t->what);
	buf_addc(out, '\n');
	add_row(out, "because", t->reason);
	if (t->line)
		BUF_PRINT(rule, "%s, %s:%ju, %s policy", t->rule, t->file,
			t->line, t->layer);
	else
		BUF_PRINT(rule, "%s, of the guard itself", t->rule);
	add_row(out, "rule", rule);
	BUF_PRINT(rule, "%s%s, profile %s", t->decision, unanswered,
		t->profile);
	add_row(out, "decision", rule);
	add_row(out, "instead", t->instead);
	add_row(out, "when", when);
	add_row(out, "where", t->cwd);
	add_row(out, "session", t->session);
	if (!str_eq(t->what, t->command))
		add_row(out, t->program ? "program" : "line", t->what);
}

static void why_json(
	struct json *j, const struct guard_told *t, const char *when)
{
	json_putf(j, "{ command %s reason %s rule %s layer %s", t->command,
		t->reason, t->rule, t->layer);
	if (t->line)
		json_putf(j, "file %s line %ju", t->file, t->line);
	json_putf(j,
		"decision %s profile %s instead %s time %s cwd %s session %s",
		t->decision, t->profile, t->instead, when, t->cwd, t->session);
	json_put_str(j, t->program ? "program" : "text", t->what);
}

int policy_why(void *into, int argc, char **argv)
{
	static struct guard_here here;
	const struct policy_opts *o = into;
	const struct guard_caller who = {.env = environ};
	autobuf struct buf out = BUF_INIT(1 << 18);
	autofree struct guard_told *t = calloc(1, sizeof *t);
	struct session_where where;
	struct session_name name = {0};
	struct diag d = {0};
	struct json j = JSON_INIT(&out);
	char time[48];
	struct buf when = BUF_FIXED(time);
	autofd int dir = -1;

	if (argc > 2)
		cli_die_usage(o->spec, "%s: expected one session", argv[0]);
	guard_where(&who, &here, &where);
	if (argc > 1)
		where.id = argv[1];
	if (argc > 1 && session_id_check("", argv[1], &d))
		cli_die_diag(EXIT_USAGE, &d);
	if (session_resolve(&where, false, &name, &d) && d.text[0] && !where.id)
		cli_die(EXIT_FOUND,
			"%s has no session yet, so nothing was denied",
			here.workspace);
	dir = guard_told_dir(&where);
	if (!t || dir < 0 || guard_told_read(dir, name.id, t, &d))
		cli_die(EXIT_FOUND, "session %s: nothing was denied", name.id);
	audit_add_time(&when, t->wall);
	if (o->json)
		why_json(&j, t, buf_str(&when));
	else
		why_text(&out, t, buf_str(&when));
	cli_print_json(&j);
	return EXIT_OK;
}
