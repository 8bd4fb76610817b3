/* guard_net.c - which network the command has, and with whom it shares it
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include "base/str.h"
#include "sys/ns.h"

static enum sandbox_net net_granted(const struct guard *g)
{
	enum policy_net net = g->terms.grants.net > g->out->verdict.net
		? g->terms.grants.net
		: g->out->verdict.net;

	switch (net) {
	case POLICY_NET_NONE:
		return SANDBOX_NET_NONE;
	case POLICY_NET_LOCAL:
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

/* The commands of a session that was asked for by its name share one loopback, so
 * that a server which one starts is there for the next. */
void guard_net_join(struct guard_box *b, struct guard *g)
{
	struct session_where at;
	char name[32];
	uint64_t sum = 0xcbf29ce484222325U;

	if (!g->entry.shares_net || b->plan.net != SANDBOX_NET_LOCAL ||
		ns_is_refused())
		return;
	at = guard_place_base(&g->place, NULL);
	if (at.own < 0)
		return;
	for (const char *s = g->out->session; *s; s++)
		sum = (sum ^ (unsigned char)*s) * 0x100000001b3U;
	BUF_PRINT(name, "net-%016llx", (unsigned long long)sum);
	/* Where it cannot be had, a namespace of the command's own is tried. */
	if (net_join(at.own, name, &b->link, NULL) == 0) {
		b->join = (struct sandbox_join){b->link.net, b->link.user};
		b->plan.join = &b->join;
	}
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
