/* policy_log.c - policy history: decisions out of the audit log
 * SPDX-License-Identifier: MIT
 */
#include "policy_log.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/guard_log.h"
#include "base/path.h"
#include "log/audit_read.h"
#include "log/audit_read_filter.h"
#include "log/audit_read_json.h"
#include "sys/env.h"
#include "policy_applet.h"
#include "shell/shell_call.h"
#include "profile/shellkind.h"

extern char **environ;

enum {
	TEXT_MAX = 64 * 1024,
	RING_MAX = 10000,
	SHELL_WORDS = 32, /* behind so many no shell has a -c */
};

/* A copy of a text, in b, ended by NUL; offsets survive b's growth. */
static size_t copy_text(struct buf *b, const struct cbor_item *t)
{
	size_t at = b->len;

	if (t && t->bytes && t->n < TEXT_MAX)
		buf_add(b, t->bytes, (size_t)t->n);
	buf_addc(b, 0);
	return at;
}

static size_t text_field(
	struct buf *b, const struct audit_record *r, enum audit_key key)
{
	return copy_text(b, audit_text(r, key));
}

static size_t copy_detail(
	struct buf *b, const struct audit_record *r, const char *name)
{
	struct cbor_item value;

	return copy_text(b, audit_detail(r, name, &value));
}

/* The line of `sh -c LINE`; NULL for other words. */
static const char *line_of(const struct buf *words, const size_t *start, int n)
{
	char *argv[SHELL_WORDS + 1] = {NULL};
	struct shell_call call;

	if (words->err || !n)
		return NULL;
	for (int i = 0; i < n; i++)
		argv[i] = words->data + start[i];
	if (shellkind_family(shellkind_of(argv[0], NULL)) != FAMILY_SH ||
		shell_call_parse(n, argv, &call) ||
		call.kind != SHELL_CALL_TEXT)
		return NULL;
	return argv[call.at];
}

/* The line; of anything else its words. */
static size_t line_field(struct buf *b, const struct audit_record *r)
{
	autobuf struct buf words = BUF_INIT((SHELL_WORDS + 1) * TEXT_MAX);
	struct cbor_in in;
	struct cbor_item word;
	const uint64_t n = audit_words(r, &in);
	size_t at = b->len, start[SHELL_WORDS];
	const char *line;
	int kept = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (cbor_next(&in, &word) < 0 || !word.bytes ||
			word.n >= TEXT_MAX)
			break;
		if (kept < SHELL_WORDS)
			start[kept++] = copy_text(&words, &word);
		if (i)
			buf_addc(b, ' ');
		buf_add(b, word.bytes, (size_t)word.n);
	}
	line = line_of(&words, start, kept);
	if (line) {
		b->len = at;
		buf_adds(b, line);
	}
	buf_addc(b, 0);
	return at;
}

static void one_record(
	const struct audit_record *r, logged_each *each, void *ctx)
{
	autobuf struct buf b = BUF_INIT(8 * TEXT_MAX);
	size_t rule = text_field(&b, r, AUDIT_K_RULE);
	size_t reason = text_field(&b, r, AUDIT_K_REASON);
	size_t cwd = text_field(&b, r, AUDIT_K_CWD);
	size_t line = line_field(&b, r);

	if (!b.err)
		each(ctx,
			&(struct logged){.wall = r->wall,
				.decision = audit_decision_name(audit_uint(
					r, AUDIT_K_DECISION, AUDIT_DENY)),
				.rule = b.data + rule,
				.reason = b.data + reason,
				.cwd = b.data + cwd,
				.line = b.data + line});
}

/* A program that one of the commands started, a host that it spoke to and should
 * not have. */
static void one_event(
	const struct audit_record *r, logged_each *each, void *ctx)
{
	const bool yes = audit_event_is(r, "exec.confirm");
	const bool spoke = audit_event_is(r, "net.connect");
	const bool host = spoke || audit_event_is(r, "net.deny");
	autobuf struct buf b = BUF_INIT(8 * TEXT_MAX);
	size_t rule, reason, port, line;

	if (!yes && !host && !audit_event_is(r, "exec.deny"))
		return;
	rule = copy_detail(&b, r, "rule");
	reason = copy_detail(&b, r, "reason");
	port = copy_detail(&b, r, "port");
	line = copy_detail(&b, r, spoke ? "name" : "command");
	if (b.err || (spoke && !str_after(b.data + rule, "would-")))
		return;
	if (spoke && !str_eq(b.data + port, "443")) {
		b.len--;
		buf_addf(&b, ":%s", b.data + port);
		buf_addc(&b, 0);
	}
	if (!b.err)
		each(ctx,
			&(struct logged){.wall = r->wall,
				.decision = yes ? "confirm" : spoke ? "allow"
								      : "deny",
				.rule = b.data + rule,
				.reason = spoke ? "the policy names no such host"
						: b.data + reason,
				.cwd = "",
				.host = host,
				.line = b.data + line});
}

void policy_log_each(logged_each *each, void *ctx)
{
	autofree char *cwd = malloc(PATH_MAX);
	const struct session_where where = {
		.cwd = !cwd || path_cwd(cwd, PATH_MAX) ? "/" : cwd,
		.uid = geteuid()};
	const struct guard_log log = {.env = environ, .where = &where};
	autoreader struct audit_reader reader = AUDIT_READER_INIT;
	autofree struct audit_record *rec = malloc(sizeof(*rec));
	struct audit_damage damage;
	struct diag d = {0};
	unsigned damaged = 0;
	autofd int dir =
		guard_log_open(&log, NULL, 0, &d);
	int got;

	/* A missing log counts as an empty one, which JSON can tell. */
	if (dir == -ENOENT) {
		cli_diag(&d);
		return;
	}
	if (dir < 0)
		cli_die_diag(EXIT_FOUND, &d);
	if (!rec || audit_reader_dir(&reader, dir, 0, &d) < 0)
		cli_die_diag(EXIT_FOUND, &d);
	while ((got = audit_next(&reader, rec, &damage, &d)) != AUDIT_GOT_END) {
		if (got < 0)
			cli_die_diag(EXIT_FOUND, &d);
		if (got == AUDIT_GOT_RECORD && rec->type == AUDIT_START)
			one_record(rec, each, ctx);
		else if (got == AUDIT_GOT_RECORD && rec->type == AUDIT_EVENT)
			one_event(rec, each, ctx);
		else if (got != AUDIT_GOT_RECORD && got != AUDIT_GOT_SEGMENT)
			damaged++;
	}
	if (damaged)
		cli_warn(
			"the log is damaged in %u places: wardbox audit verify",
			damaged);
}

struct ring {
	char **line; /* texts that are ready to print */
	size_t size, count;
	bool json;
};

static void as_json(struct buf *out, const struct logged *l)
{
	struct json j = JSON_INIT(out);

	json_open(&j, '{');
	audit_json_time(&j, "time", l->wall);
	json_putf(&j, "decision %s rule %s reason %s cwd %s line %s }",
		l->decision, l->rule, l->reason, l->cwd, l->line);
}

static void remember_one(void *ctx, const struct logged *l)
{
	struct ring *r = ctx;
	struct buf b = BUF_INIT(16 * TEXT_MAX);
	char **slot = &r->line[r->count++ % r->size];

	if (r->json) {
		as_json(&b, l);
	} else {
		audit_add_time(&b, l->wall);
		buf_addf(&b, " %-7s %-14s ", l->decision, l->rule);
		cli_escape_str(&b, l->line);
		buf_addc(&b, '\n');
	}
	buf_str(&b);
	free(*slot);
	*slot = b.err ? NULL : b.data;
	if (b.err)
		buf_release(&b);
}

int policy_history(void *into)
{
	const struct policy_opts *o = into;
	struct ring r = {.size = o->count, .json = o->json};
	autobuf struct buf out = BUF_INIT(1 << 26);
	size_t from;

	if (!r.size)
		r.size = RING_MAX;
	r.line = calloc(r.size, sizeof(*r.line));
	if (!r.line)
		cli_die(EXIT_FOUND, "out of memory");
	policy_log_each(remember_one, &r);
	from = r.count > r.size ? r.count - r.size : 0;
	buf_adds(&out, r.json ? "[" : "");
	for (; from < r.count; from++) {
		const char *line = r.line[from % r.size];

		if (line)
			buf_addf(&out, r.json && out.len > 1 ? ",\n%s" : "%s",
				line);
	}
	buf_adds(&out, r.json ? "]\n" : "");
	for (size_t i = 0; i < r.size; i++)
		free(r.line[i]);
	free(r.line);
	cli_print(&out);
	return r.count ? EXIT_OK : EXIT_FOUND;
}
