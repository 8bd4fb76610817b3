/* profile_detect.c - detect and sandbox: facts, and what they mean
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "profile/confinement.h"
#include "profile_facts.h"
#include "base/str.h"

static void find_confinement(
	struct confinement *c, const struct profile_opts *o)
{
	struct confinement_source source = {
		.root = o->root ? o->root : "", .env = profile_environ()};

	confinement_detect(&source, c);
}

static void detect_json(const struct profile_facts *f,
	const struct profile_who *who, const struct confinement *c)
{
	autobuf struct buf out = BUF_INIT(8 << 20);
	struct json j = profile_json_begin(&out);

	profile_facts_json(&j, f, who);
	json_key(&j, "sandbox");
	confinement_json(&j, c);
	cli_print_json(&j);
}

static void add_line(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, "%-14s ", name);
	profile_shown(out, "", value, "\n");
}

static void detect_text(const struct profile_facts *f,
	const struct profile_who *who, const struct confinement *c)
{
	autobuf struct buf out = BUF_INIT(8 << 20);

	add_line(&out, "shell", shellkind_name(who->kind));
	add_line(&out, "program", f->program[0] ? f->program : "not here");
	add_line(&out, "version", f->version[0] ? f->version : "unknown");
	add_line(&out, "known from", who->source);
	if (who->current[0])
		add_line(&out, "called from", who->current);
	add_line(&out, "login profile", f->login_profile);
	add_line(&out, "rc file", f->rc_file);
	add_line(&out, "restricted", who->restricted ? "yes" : "no");
	if (f->probed)
		add_line(&out, "PATH healthy", f->healthy ? "yes" : "no");
	for (unsigned i = 0; i < SESSIONS; i++) {
		const struct profile_session *s = &f->session[i];

		if (!s->probed)
			continue;
		buf_addf(&out, "%-18s %s, %u ms", profile_session_name(i),
			profile_probe_name(s->status), s->ms);
		profile_shown(&out, "\n  PATH=", s->path ? s->path : "", "\n");
	}
	for (size_t i = 0; i < c->count; i++)
		buf_addf(&out, "%-14s %s%s\n", i ? "" : "sandbox",
			confinement_name(c->fact[i].kind),
			c->fact[i].confined ? "" : " (holds nothing back)");
	cli_print(&out);
}

int profile_verb_detect(void *into)
{
	struct profile_opts *o = into;
	struct profile_who who;
	autofree struct profile_facts *f = profile_alloc(sizeof *f);
	autofree struct confinement *c = profile_alloc(sizeof *c);

	profile_who_find(&who, o);
	profile_who_parents(&who);
	profile_facts_find(f, &who, o);
	find_confinement(c, o);
	if (o->json)
		detect_json(f, &who, c);
	else
		detect_text(f, &who, c);
	profile_facts_release(f);
	return EXIT_OK;
}

int profile_verb_sandbox(void *into)
{
	struct profile_opts *o = into;
	autofree struct confinement *c = profile_alloc(sizeof *c);
	autobuf struct buf out = BUF_INIT(65536);
	struct json j;

	find_confinement(c, o);
	if (!o->json) {
		confinement_text(&out, c);
		cli_print(&out);
		return EXIT_OK;
	}
	j = profile_json_begin(&out);
	json_key(&j, "sandbox");
	confinement_json(&j, c);
	cli_print_json(&j);
	return EXIT_OK;
}
