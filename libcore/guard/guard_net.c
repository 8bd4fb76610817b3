/* guard_net.c - which network the command has, and with whom it shares it
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/kconfig.h"
#include "base/num.h"
#include "base/str.h"
#include "sys/ns.h"

static enum policy_net net_wanted(const struct guard *g)
{
	return g->terms.grants.net > g->out->verdict.net
		? g->terms.grants.net
		: g->out->verdict.net;
}

static enum sandbox_net net_granted(const struct guard *g)
{
	switch (net_wanted(g)) {
	case POLICY_NET_NONE:
		return SANDBOX_NET_NONE;
	case POLICY_NET_LOCAL:
	case POLICY_NET_REGISTRIES:
		return SANDBOX_NET_LOCAL;
	case POLICY_NET_ALL:
		return SANDBOX_NET_ALL;
	}
	return SANDBOX_NET_NONE;
}

enum sandbox_net guard_net_of(const struct guard_box *b, const struct guard *g)
{
	/* A loopback costs a network namespace; without a program nobody is
	 * there to use it. */
	enum sandbox_net net = b->brief ? SANDBOX_NET_NONE : net_granted(g);

	if (net == SANDBOX_NET_LOCAL && ns_is_refused() &&
		!(b->plan.relax & SANDBOX_NETNS))
		net = SANDBOX_NET_NONE;
	return net;
}

static bool net_says(const struct guard *g, const char *word)
{
	return policy_word_in(&g->terms.grants.net_words, word);
}

static void net_add_registry(void *ctx, const struct net_rule *rule,
	const char *tool, const char *file)
{
	struct net_spec *spec = ctx;

	(void)tool;
	(void)file;
	for (unsigned i = 0; i < spec->allowed; i++)
		if (net_rule_match(&spec->allow[i], rule->name, rule->port))
			return;
	if (spec->allowed < NET_RULES)
		spec->allow[spec->allowed++] = *rule;
}

/* The keeper keeps nothing but what it needs to connect. */
static int net_confine(void *ctx)
{
	enum { BIND_SERVICE = 10 };
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	struct sandbox box = SANDBOX_INIT;
	struct diag d = {0};
	int err;

	(void)ctx;
	plan.net = SANDBOX_NET_ALL;
	plan.unix_all = true;
	plan.relax = ~0U;
	plan.keep_caps = 1U << BIND_SERVICE;
	err = sandbox_compile(&plan, &box, &d);
	return err ? err : sandbox_apply(&box);
}

static bool net_has_names(const struct guard *g)
{
	const struct policy_words *words = &g->terms.grants.net_words;

	if (!IS_ENABLED(CONFIG_NET_NAMES))
		return false;
	if (net_wanted(g) == POLICY_NET_REGISTRIES || net_says(g, "registries"))
		return true;
	for (size_t i = 0; i < words->count; i++)
		if (words->item[i][0] == '+')
			return true;
	return false;
}

/* What the policy's words say, all of them. NULL: memory is out. */
static struct net_spec *net_spec_of(const struct guard *g)
{
	const struct policy_words *words = &g->terms.grants.net_words;
	struct net_spec *spec = calloc(1, sizeof *spec);

	for (size_t i = 0; spec && i < words->count; i++) {
		const char *word = words->item[i];
		const char *up = str_after(word, "up=");

		if (up)
			(void)num_size(up, 1, UINT64_MAX, &spec->up);
		else if (word[0] == '+' && spec->allowed < NET_RULES)
			spec->allowed += net_rule_parse(
				&spec->allow[spec->allowed], word + 1);
		else if (word[0] == '-' && spec->denied < NET_RULES)
			spec->denied += net_rule_parse(
				&spec->deny[spec->denied], word + 1);
	}
	if (!spec)
		return NULL;
	spec->no_ech = net_says(g, "ech=refuse");
	spec->confine = net_confine;
	if (net_wanted(g) == POLICY_NET_REGISTRIES || net_says(g, "registries"))
		net_registries(g->place.home, net_add_registry, spec);
	return spec;
}

static uint64_t net_sum(uint64_t sum, const char *s)
{
	for (; *s; s++)
		sum = (sum ^ (unsigned char)*s) * 0x100000001b3U;
	return (sum ^ 1) * 0x100000001b3U;
}

/* Commands of one session that may speak to the same share a loopback, so that a
 * server which one starts is there for the next. Without a name of its own a
 * session has no loopback that lasts, unless it has a way out, which takes longer
 * to make. */
static void net_try(struct guard_box *b, struct guard *g, bool named)
{
	const struct policy_words *words = &g->terms.grants.net_words;
	autofree struct net_spec *spec = NULL;
	struct session_where at = guard_place_base(&g->place, NULL);
	uint64_t sum = net_sum(0xcbf29ce484222325U, g->out->session);
	char name[32];

	if (at.own < 0)
		return;
	if (named) {
		spec = net_spec_of(g);
		for (size_t i = 0; i < words->count; i++)
			sum = net_sum(sum, words->item[i]);
		sum += net_wanted(g);
	}
	BUF_PRINT(name, "net-%016llx", (unsigned long long)sum);
	if (net_join(at.own, name, spec, &b->link, NULL))
		return;
	b->join = (struct sandbox_join){b->link.net, b->link.user};
	b->plan.join = &b->join;
}

int guard_net_join(struct guard_box *b, struct guard *g, struct diag *d)
{
	const bool named = net_has_names(g);

	if (!g->terms.grants.confine || b->brief ||
		net_granted(g) != SANDBOX_NET_LOCAL)
		return 0;
	/* Where it cannot be had, a namespace of the command's own is tried. */
	if ((g->entry.shares_net || b->stays || named) &&
		b->plan.net == SANDBOX_NET_LOCAL && !ns_is_refused())
		net_try(b, g, named);
	if (!named || b->plan.join || !net_says(g, "tier=1"))
		return 0;
	diag_fail(d, -ENOTSUP, "net: hosts by name need a network namespace, and "
		"the policy says net tier=1");
	diag_hint(d, "'wardbox doctor' shows what works here");
	return -ENOTSUP;
}

bool guard_net_denies(const struct guard *g, bool planned,
	struct policy_verdict *v)
{
	enum sandbox_net net = planned ? g->box.plan.net : net_granted(g);

	if (!v->loopback || !g->terms.grants.confine)
		return false;
	/* Only an own namespace makes localhost the session's: Landlock knows
	 * ports, and any host has them. */
	if (!planned && net == SANDBOX_NET_LOCAL &&
		(ns_is_refused() || !sandbox_namespace_works(SANDBOX_NETNS)))
		net = SANDBOX_NET_NONE;
	if (net == SANDBOX_NET_LOCAL)
		return false;
	v->decision = v->would = POLICY_DENY;
	str_copy(v->rule, sizeof v->rule, "loopback");
	str_copy(v->reason, sizeof v->reason,
		net == SANDBOX_NET_ALL
			? "a part of the line has the machine's network, whose "
			  "loopback is not the session's"
			: "there is no network namespace here, so no loopback "
			  "of the session's own");
	str_copy(v->alternative, sizeof v->alternative,
		net == SANDBOX_NET_ALL
			? "run it as a line of its own"
			: "'wardbox doctor' shows what works here");
	return true;
}
