/* guard_protect.c - protected names of the project: looked at, put back, told
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

bool guard_protect_allowed(const struct guard *g)
{
	return g->tree.protect_free ||
	       (g->out->confirmed && g->out->verdict.is & POLICY_IS_PROTECT);
}

static bool protect_runs(void *ctx, const char *name, const char *value)
{
	const struct guard *g = ctx;

	return policy_git_runs(g->terms.policy, name, value);
}

static const char *protect_part(void *ctx, const char *name)
{
	const struct guard *g = ctx;

	return policy_protect_member(g->terms.policy, path_base(name));
}

/* Records a change. Of very many only those that double their number are
 * recorded, as with denied programs. */
static void protect_record(
	struct guard *g, const struct protect_change *c, uint64_t count)
{
	enum { EACH = 64 };
	const struct audit_fact facts[] = {
		{.key = "file", .text = c->name},
		{.key = "what", .text = c->what[0] ? c->what : "the file"},
		{.key = "decision", .text = c->strict ? "deny" : "confirm"},
		{.key = "now",
			.text = c->err        ? "as it was left"
				: c->aside[0] ? c->aside
					      : "as before"},
		{.key = "count", .number = count},
	};
	const bool many = count > EACH;

	if (!(many && count & (count - 1)))
		guard_entry_event(
			g, "protect.restore", facts, ARRAY_SIZE(facts) - !many);
}

static void protect_found(void *ctx, const struct protect_change *c)
{
	enum { TOLD = 8 };
	struct guard *g = ctx;
	struct diag d = {0};

	protect_record(g, c, ++g->tree.put_back);
	if (!g->caller->tell || g->tree.put_back > TOLD)
		return;
	if (c->err)
		diag_errno(&d, c->err, "%.150s changed, and cannot be put back",
			c->name);
	else if (c->what[0])
		diag_fail(&d, -EACCES,
			"put back: %.80s in %.90s (rule protect)", c->what,
			c->name);
	else if (c->aside[0])
		diag_fail(&d, -EACCES,
			"put back: %.80s is %.90s now (rule protect)", c->name,
			c->aside);
	else
		diag_fail(&d, -EACCES,
			"put back: %.150s is as before (rule protect)",
			c->name);
	if (g->tree.put_back == TOLD)
		diag_hint(&d, "there is more: 'wardbox audit' has all of it");
	else if (c->err)
		diag_hint(&d, "look at it before anything runs there");
	else if (!c->strict && g->tree.put_back == 1)
		diag_hint(&d, "a line that names it asks a person");
	g->caller->tell(&d, STDERR_FILENO);
}

/* The policy's protected names, in the form of struct protect_name. */
static size_t protect_names(struct guard *g, struct protect_name *names)
{
	size_t n = 0;

	for (size_t i = 0; i < g->terms.grants.protect_count; i++) {
		const struct policy_protect *p = &g->terms.grants.protect[i];
		const char *slash = strrchr(p->path, '/');
		bool wide = slash &&
			    (size_t)(slash - p->path) > strcspn(p->path, "*?");

		/* A yes to the line covers what the line does to the project's
		 * own files. */
		if (wide || (g->out->confirmed && p->decision != POLICY_DENY &&
				    !str_eq(p->path, ".git")))
			continue;
		names[n++] = (struct protect_name){.path = p->path,
			.tree = p->tree,
			.strict = p->decision == POLICY_DENY};
	}
	return n;
}

int guard_protect_begin(struct guard *g, struct diag *d)
{
	struct protect_spec *s = &g->tree.protect_spec;
	struct protect_name *names;
	int err;

	if (!g->terms.grants.confine || g->box.brief || g->place.inside ||
		!g->place.root[0] || !g->terms.grants.protect_count ||
		str_eq(g->place.root, g->place.tmp) ||
		str_eq(g->place.root, "/dev/null"))
		return 0;
	names = arena_zalloc(
		&g->place.texts, g->terms.grants.protect_count * sizeof *names);
	if (!names)
		return diag_errno(d, -ENOMEM, "protected files");
	g->tree.own_places[0] =
		g->entry.path[0] ? g->entry.path : g->place.base;
	g->tree.own_places[1] =
		g->place.base[0] ? g->place.base : g->entry.path;
	*s = (struct protect_spec){
		.root = g->place.root,
		.cwd = g->place.cwd,
		.names = names,
		.name_count = protect_names(g, names),
		.skip = g->tree.own_places,
		.skip_count = g->tree.own_places[1][0] ? 2 : 0,
		.state = guard_place_base(&g->place, NULL).own,
		.runs = protect_runs,
		.member = protect_part,
		.found = protect_found,
		.ctx = g,
	};
	if (s->state <= 0 || path_beneath(g->place.root, g->place.base))
		s->state = -1;
	err = protect_begin(&g->tree.protect, s);
	return err ? diag_errno(d, err, "cannot look at protected files") : 0;
}

int guard_protect_check(struct guard *g, struct diag *d)
{
	int err;

	if (!g->tree.protect)
		return 0;
	g->tree.protect_spec.allowed = guard_protect_allowed(g);
	err = protect_check(g->tree.protect);
	return err ? diag_errno(d, err,
			     "protected files of %.100s cannot be put back",
			     g->place.root)
		   : 0;
}
