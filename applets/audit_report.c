/* audit_report.c - one page for a browser
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit_out.h"
#include "audit_page.h"
#include "log/audit_read_json.h"
#include "log/audit_verify.h"
#include "sys/file.h"
#include "base/str.h"

enum { COMMANDS_MAX = 50000, OUTPUT_SHOWN = 4096 };

struct report {
	struct audit_out o;
	struct json j;
	uint64_t commands, left_out; /* the oldest, of too many */
	uint64_t first, last;
};

static void put_text(
	struct json *j, const char *key, struct buf *b, size_t most)
{
	json_strn(json_key(j, key), buf_str(b), b->len < most ? b->len : most);
}

static void put_command(struct report *p, struct audit_command *c)
{
	struct json *j = &p->j;
	char space[48];

	if (p->commands++ < p->left_out)
		return;
	json_open(j, '{');
	json_put_u64(j, "id", c->exec);
	json_put_u64(j, "t", c->start_wall / 1000000);
	json_put_u64(j, "ms", c->duration / 1000000);
	json_put_bool(j, "end", c->ended && c->decision != AUDIT_DENY);
	json_put_i64(j, "exit",
		c->signal ? 128 + (int64_t)c->signal : c->exit);
	json_put_u64(j, "signal", c->signal);
	json_put_u64(j, "pid", c->pid);
	json_put_str(j, "session",
		audit_names_find(p->o.names,
			c->has_session ? c->session : NULL, space));
	json_put_str(j, "decision", audit_decision_name(c->decision));
	put_text(j, "line", &c->line, OUTPUT_SHOWN);
	put_text(j, "cwd", &c->cwd, OUTPUT_SHOWN);
	put_text(j, "exe", &c->exe, OUTPUT_SHOWN);
	put_text(j, "rule", &c->rule, OUTPUT_SHOWN);
	put_text(j, "reason", &c->reason, OUTPUT_SHOWN);
	put_text(j, "out", &c->output[AUDIT_OUT], OUTPUT_SHOWN);
	put_text(j, "err", &c->output[AUDIT_ERR], OUTPUT_SHOWN);
	json_close(j);
}

static void each_command(void *state, struct audit_command *c)
{
	put_command(state, c);
}

static int count(void *state, const struct audit_record *r)
{
	struct report *p = state;

	p->left_out += r->type == AUDIT_START;
	return 0;
}

static int note(void *state, const struct audit_record *r)
{
	struct report *p = state;
	struct audit_command *c;

	audit_names_note(p->o.names, r);
	if (!p->first)
		p->first = r->wall;
	p->last = r->wall;
	c = audit_command_note(&p->o, r);
	if (c && c->ended)
		audit_command_print(&p->o, c);
	return 0;
}

static const char *proven(const struct audit *a, int argc)
{
	const struct audit_trust trust = {0};
	struct audit_verdict v;
	struct diag d = {0};
	autofd int dir = -1;

	if (argc > 1)
		return "not verified";
	dir = audit_dir(a, false);
	if (audit_verify_dir(dir, &trust, NULL, NULL, &v, &d))
		return "not verified";
	switch (audit_outcome(&v)) {
	case AUDIT_TAMPERED:
		return "TAMPERED WITH: see 'audit verify'";
	case AUDIT_DECLARED_LOSS:
		return "chain intact but for a declared loss";
	case AUDIT_INTACT:
	case AUDIT_UNAUTHENTICATED:
		break;
	}
	return "chain intact, held against itself alone";
}

/* Text inside a script element must not be able to end it. */
static void put_harmless(struct buf *out, const struct buf *json)
{
	for (size_t i = 0; i < json->len; i++)
		if (json->data[i] == '<')
			buf_adds(out, "\\u003c");
		else
			buf_addc(out, json->data[i]);
}

static void put_facts(struct report *p, const char *proof)
{
	char space[400];
	struct buf b = BUF_FIXED(space);

	buf_addf(&b, "%llu command%s, ", (unsigned long long)p->commands,
		str_plural(p->commands));
	audit_put_local(&b, p->first, p->o.a->utc, false);
	buf_adds(&b, " to ");
	audit_put_local(&b, p->last, p->o.a->utc, false);
	if (p->left_out)
		buf_addf(&b, "; the first %llu are left out (--since)",
			(unsigned long long)p->left_out);
	buf_addf(&b, "; %s", proof);
	json_put_str(&p->j, "facts", buf_str(&b));
}

static void write_page(const char *file, const struct buf *page)
{
	int err = str_eq(file, "-")
		? file_write_all(STDOUT_FILENO, page->data, page->len)
		: file_put(file, page->data, page->len, 0600, false);

	if (err)
		audit_die(file, err);
}

int audit_run_report(void *into, int argc, char **argv)
{
	struct audit *a = into;
	struct audit quiet = *a;
	struct report p = {0};
	autobuf struct buf data = BUF_INIT(1u << 30);
	autobuf struct buf page = BUF_INIT(1u << 30);
	bool damaged;

	if (!a->html)
		cli_die_usage(&audit_cli, "report needs --html FILE");
	a->output = "contract";
	audit_out_begin(&p.o, a);
	p.o.each = each_command;
	p.o.each_state = &p;
	p.j = JSON_INIT(&data);
	json_open(&p.j, '{');
	json_put_open(&p.j, "commands", '[');
	quiet.quiet = true;
	audit_walk(&quiet, argc, argv, count, &p, &damaged);
	p.left_out -= p.left_out < COMMANDS_MAX ? p.left_out : COMMANDS_MAX;
	audit_walk(a, argc, argv, note, &p, &damaged);
	audit_out_end(&p.o);
	json_close(&p.j);
	put_facts(&p, proven(a, argc));
	json_close(&p.j);
	buf_adds(&page, audit_page_head);
	put_harmless(&page, &data);
	buf_adds(&page, audit_page_tail);
	if (data.err || page.err)
		cli_die(EXIT_USAGE, "too much for one page: use --since");
	if (!a->dry_run)
		write_page(a->html, &page);
	audit_out_release(&p.o);
	return EXIT_OK;
}
