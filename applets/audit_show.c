/* audit_show.c - one command in full; the sessions; the format
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit_out.h"
#include "log/audit_read_json.h"
#include "base/num.h"
#include "base/str.h"

/* The record that was asked for, and all of its command's. */
struct show {
	struct audit_out o;
	uint64_t seq, exec;
	bool found;
};

static int find_exec(void *state, const struct audit_record *r)
{
	struct show *s = state;

	if (r->seq != s->seq)
		return 0;
	s->found = true;
	s->exec = r->exec;
	return 1;
}

static int show_record(void *state, const struct audit_record *r)
{
	struct show *s = state;

	audit_names_note(s->o.names, r);
	if (s->exec ? r->exec == s->exec : r->seq == s->seq)
		audit_out_record(&s->o, r);
	audit_print_some(&s->o.out, false);
	return 0;
}

int audit_run_show(void *into, int argc, char **argv)
{
	struct audit *a = into;
	struct show s = {0};
	bool damaged;

	if (argc < 2 || num_u64(argv[1], 0, UINT64_MAX, &s.seq))
		cli_die_usage(&audit_cli, "show takes a record's number");
	audit_walk(&(struct audit){.dir = a->dir, .quiet = true}, argc - 1,
		argv + 1, find_exec, &s, &damaged);
	if (!s.found)
		cli_die(EXIT_FOUND, "there is no record %ju", s.seq);
	if (!a->output && !a->json && !a->format)
		a->output = "verbose";
	audit_out_begin(&s.o, a);
	audit_walk(a, argc - 1, argv + 1, show_record, &s, &damaged);
	audit_out_end(&s.o);
	cli_print(&s.o.out);
	audit_out_release(&s.o);
	return EXIT_OK;
}

/* What is known of a session. */
struct session {
	uint8_t id[AUDIT_ID];
	char name[64];
	uint64_t first, last, commands, denied, failed;
};

enum { SESSIONS_MAX = 1 << 16 };

struct sessions {
	struct session *list;
	size_t count, cap;
};

static struct session *session_of(struct sessions *all, const uint8_t *id)
{
	for (size_t i = all->count; i--;)
		if (!memcmp(all->list[i].id, id, AUDIT_ID))
			return &all->list[i];
	if (all->count == SESSIONS_MAX)
		return NULL;
	all->list = audit_room(all->list, all->count, &all->cap,
		sizeof *all->list, SIZE_MAX);
	all->list[all->count] = (struct session){0};
	memcpy(all->list[all->count].id, id, AUDIT_ID);
	return &all->list[all->count++];
}

static int note_session(void *state, const struct audit_record *r)
{
	const struct cbor_item *name = audit_text(r, AUDIT_K_NAME);
	struct session *s;

	if (!r->session)
		return 0;
	s = session_of(state, r->session);
	if (!s)
		return 0;
	if (!s->first)
		s->first = r->wall;
	s->last = r->wall;
	if (r->type == AUDIT_START) {
		s->commands++;
		s->denied += audit_uint(r, AUDIT_K_DECISION, 0) == AUDIT_DENY;
	}
	if (r->type == AUDIT_END)
		s->failed += audit_int(r, AUDIT_K_EXIT, 0) != 0;
	if (name && name->n < sizeof s->name && !s->name[0])
		memcpy(s->name, name->bytes, (size_t)name->n);
	return 0;
}

static void sessions_json(struct buf *out, const struct sessions *all)
{
	struct json j = JSON_INIT(out);

	json_open(&j, '[');
	for (size_t i = 0; i < all->count; i++) {
		const struct session *s = &all->list[i];

		json_open(&j, '{');
		audit_put_hex(&j, "id", s->id, AUDIT_ID);
		json_put_str(&j, "name", s->name[0] ? s->name : NULL);
		audit_json_time(&j, "first", s->first);
		audit_json_time(&j, "last", s->last);
		json_putf(&j, "commands %ju denied %ju failed %ju }",
			s->commands, s->denied, s->failed);
	}
	json_end(&j);
}

int audit_run_sessions(void *into, int argc, char **argv)
{
	const struct audit *a = into;
	struct sessions all = {0};
	autobuf struct buf out = BUF_INIT(1 << 26);
	bool damaged;

	audit_walk(a, argc, argv, note_session, &all, &damaged);
	if (a->json) {
		sessions_json(&out, &all);
	} else {
		buf_adds(&out, "FIRST           LAST            COMMANDS DENIED"
			       " FAILED SESSION\n");
		for (size_t i = 0; i < all.count; i++) {
			const struct session *s = &all.list[i];

			audit_put_local(&out, s->first, a->utc, true);
			buf_addc(&out, ' ');
			audit_put_local(&out, s->last, a->utc, true);
			buf_addf(&out, " %8ju %6ju %6ju ", s->commands,
				s->denied, s->failed);
			if (s->name[0])
				cli_escape_str(&out, s->name);
			else
				audit_add_hex(&out, s->id, AUDIT_ID);
			buf_addc(&out, '\n');
		}
	}
	cli_print(&out);
	free(all.list);
	return all.count ? EXIT_OK : EXIT_FOUND;
}

static void schema_json(struct buf *out)
{
	struct json j = JSON_INIT(out);

	j.pretty = true;
	json_putf(&j, "{ format %ju keys [", (uintmax_t)AUDIT_FMT);
	for (unsigned i = 0; i < audit_keys_count; i++)
		json_putf(&j, "{ key %ju name %s about %s }",
			(uintmax_t)audit_keys[i].key, audit_keys[i].name,
			audit_keys[i].about);
	json_end(&j);
}

int audit_run_schema(void *into)
{
	static const char frame[] =
		"; A segment is a CBOR sequence (RFC 8742) of frames, in"
		" deterministic form:\n"
		"frame  = [crc: bstr .size 4, body: bstr .cbor (record /"
		" purged), link: bstr .size 32]\n"
		"; crc is CRC-32C of body, big endian; leaf = SHA256(00 body);\n"
		"; link = SHA256(01 link-of-the-one-before leaf), 32 zero bytes"
		" before the first.\n"
		"purged = [leaf: bstr .size 32, seq: uint, by: uint]\n"
		"record = {* int => any}\n"
		"; A checkpoint is COSE_Sign1 unrolled: ES256 over"
		" [\"Signature1\", protected, 'aud1', payload].\n\n"
		"key  name            value\n";
	const struct audit *a = into;
	autobuf struct buf out = BUF_INIT(65536);

	if (a->json) {
		schema_json(&out);
		cli_print(&out);
		return EXIT_OK;
	}
	buf_adds(&out, frame);
	for (unsigned i = 0; i < audit_keys_count; i++)
		buf_addf(&out, "%3u  %-15s %s\n", audit_keys[i].key,
			audit_keys[i].name, audit_keys[i].about);
	cli_print(&out);
	return EXIT_OK;
}
