/* guard_net.c - which network the command has, and with whom it shares it
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/kconfig.h"
#include "base/num.h"
#include "base/str.h"
#include "sys/ns.h"
#include "sys/probe.h"

/* A command of OBSERVE whose profile says net=local: its network is the
 * session's, but each name may be spoken to, which is recorded. */
static bool net_observes(const struct guard *g)
{
	return IS_ENABLED(CONFIG_NET_NAMES) && !g->terms.grants.confine &&
		g->terms.grants.net == POLICY_NET_LOCAL && !g->place.inside &&
		!g->carry->becomes;
}

static bool net_unwished(const struct guard *g)
{
	return g->caller->narrow && g->caller->narrow->offline;
}

static enum policy_net net_wanted(const struct guard *g)
{
	if (net_unwished(g))
		return POLICY_NET_NONE;
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
	/* A loopback costs a network namespace, and in a brief line no program
	 * would use it. */
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
	struct net_rule *last = &spec->allow[spec->allowed];

	(void)tool;
	(void)file;
	for (unsigned i = 0; i < spec->allowed; i++)
		if (net_rule_match(&spec->allow[i], rule->name, rule->port))
			return;
	if (spec->allowed == NET_RULES)
		return;
	*last = *rule;
	last->up = spec->registry_up;
	spec->allowed++;
}

/* Confines the keeper to what it needs to connect. */
static int net_confine(void)
{
	enum { BIND_SERVICE = 10 };
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	struct sandbox box = SANDBOX_INIT;
	struct diag d = {0};
	int err;

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

	if (!IS_ENABLED(CONFIG_NET_NAMES) || net_unwished(g))
		return false;
	if (net_wanted(g) == POLICY_NET_REGISTRIES || net_says(g, "registries"))
		return true;
	for (size_t i = 0; i < words->count; i++)
		if (words->item[i][0] == '+' ||
			str_after(words->item[i], "listen="))
			return true;
	return false;
}

/* The proxy through which the machine's network leads out, as the policy says;
 * "": none. */
static const char *net_proxy_of(const struct guard *g)
{
	static const char *const names[] = {"https_proxy", "HTTPS_PROXY",
		"all_proxy", "ALL_PROXY", "http_proxy", "HTTP_PROXY"};
	const struct policy_words *words = &g->terms.grants.net_words;
	const char *says = "", *url = NULL, *one;

	for (size_t i = 0; i < words->count; i++)
		if ((one = str_after(words->item[i], "proxy=")))
			says = one;
	if (!str_eq(says, "caller"))
		return says;
	for (size_t i = 0; i < ARRAY_SIZE(names) && (!url || !*url); i++)
		url = env_get(g->caller->env, names[i]);
	return url ? url : "";
}

/* Adds what a line's up= says of its hosts: "+64k HOST". */
static void net_add_rule(struct net_spec *spec, const char *word)
{
	struct net_rule *r = &spec->allow[spec->allowed];
	const char *host = strchr(word, ' ');
	char up[24];
	uint64_t size = 0;

	if (host)
		(void)num_size(BUF_PRINT(up, "%.*s", (int)(host - word), word), 1,
			UINT64_MAX, &size);
	if (spec->allowed == NET_RULES || !net_rule_parse(r, host ? host + 1 : word))
		return;
	r->up = size;
	spec->allowed++;
}

/* All words of the policy about the network, as a spec. NULL: out of memory. */
static struct net_spec *net_spec_said(const struct guard *g)
{
	const struct policy_words *words = &g->terms.grants.net_words;
	struct net_spec *spec = calloc(1, sizeof *spec);
	uint64_t port;

	for (size_t i = 0; spec && i < words->count; i++) {
		const char *word = words->item[i];
		const char *listen = str_after(word, "listen=");
		const char *up = str_after(word, "registries=");

		if (word[0] == '+')
			net_add_rule(spec, word + 1);
		else if (word[0] == '-' && spec->denied < NET_DENIES)
			spec->denied += net_rule_parse(
				&spec->deny[spec->denied], word + 1);
		else if (listen && spec->listens < NET_LISTENS &&
			num_u64(listen, 1, UINT16_MAX, &port) == 0)
			spec->listen[spec->listens++] = (uint16_t)port;
		else if (up)
			(void)num_size(up, 1, UINT64_MAX, &spec->registry_up);
	}
	if (!spec)
		return NULL;
	if (*net_proxy_of(g))
		(void)net_proxy_parse(spec, net_proxy_of(g));
	spec->no_ech = net_says(g, "ech=refuse");
	if (net_wanted(g) == POLICY_NET_REGISTRIES || net_says(g, "registries"))
		net_registries(g->place.home, net_add_registry, spec);
	return spec;
}

/* Each name may be spoken to at the ports that the policy's lines have and the
 * usual ones, and nobody looks at what is said. */
static void net_open_all(struct net_spec *spec)
{
	static const uint16_t usual[] = {443, 80, 22};
	unsigned count = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(usual); i++)
		if (spec->allowed < NET_RULES)
			spec->allow[spec->allowed++].port = usual[i];
	for (unsigned i = 0; i < spec->allowed; i++) {
		const uint16_t port = spec->allow[i].port;
		unsigned k = 0;

		while (k < count && spec->allow[k].port != port)
			k++;
		if (k == count)
			spec->allow[count++] = (struct net_rule){
				.below = true, .kind = NET_TCP, .port = port};
	}
	spec->allowed = count;
	spec->denied = 0;
	spec->no_ech = false;
	spec->any = true;
}

static struct net_spec *net_spec_of(void *ctx)
{
	const struct guard *g = ctx;
	struct net_spec *spec = net_spec_said(g);

	if (spec && net_observes(g))
		net_open_all(spec);
	return spec;
}

bool guard_net_would(struct guard *g, const char *name, uint16_t port)
{
	struct net_spec *said = g->tree.net.said;
	bool would = false;

	if (!net_observes(g))
		return true;
	if (!said)
		said = g->tree.net.said = net_spec_said(g);
	for (unsigned i = 0; said && i < said->allowed; i++)
		would |= net_rule_match(&said->allow[i], name, port);
	for (unsigned i = 0; said && i < said->denied; i++)
		would &= !net_rule_named(&said->deny[i], name);
	return would;
}

static uint64_t net_sum(uint64_t sum, const char *s)
{
	for (; *s; s++)
		sum = (sum ^ (unsigned char)*s) * 0x100000001b3U;
	return (sum ^ 1) * 0x100000001b3U;
}

/* The purpose of the link. A keeper that is known by its number reads no
 * spec. */
static struct net_ask net_ask_of(struct guard *g)
{
	const struct policy_words *words = &g->terms.grants.net_words;
	struct net_ask ask = {
		.spec = IS_ENABLED(CONFIG_NET_NAMES) ? net_spec_of : NULL,
		.ctx = g,
		.up = g->out->verdict.up,
		.confine = net_confine};

	ask.sum = 0xcbf29ce484222325U + (uint64_t)net_wanted(g) +
		8 * net_observes(g);
	for (size_t i = 0; i < words->count; i++)
		ask.sum = net_sum(ask.sum, words->item[i]);
	ask.sum = net_sum(ask.sum, net_proxy_of(g)) | 1;
	return ask;
}

/* Tries to join the session's network. Commands of one session share a
 * loopback, so that one can use a server that another starts, whatever hosts
 * each may speak to. A session without a name of its own has a lasting loopback
 * only if it has a way out, which takes longer to make. */
static void net_try(struct guard_box *b, struct guard *g)
{
	const struct net_ask ask = net_ask_of(g);
	struct session_where at = guard_place_base(&g->place, NULL);
	uint64_t sum = net_sum(0xcbf29ce484222325U, g->out->session);
	struct stat outside;
	char name[32];

	if (at.own < 0)
		return;
	/* A keeper speaks to the network that its maker had. */
	if (stat("/proc/self/ns/net", &outside) == 0)
		sum ^= outside.st_ino;
	BUF_PRINT(name, "net-%016llx", (unsigned long long)sum);
	if (net_join(at.own, name, &ask, &b->link, NULL))
		return;
	b->join = (struct sandbox_join){
		b->link.net, b->link.user, b->link.ipc};
	b->plan.join = &b->join;
}

/* Programs that ask for a proxy find it by these variables. */
static int net_env(struct guard_box *b)
{
	static const char *const names[] = {"http_proxy", "https_proxy",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"};
	const size_t before = b->env.count;
	char url[40];
	int err = 0;

	BUF_PRINT(url, "http://127.0.0.1:%u", b->link.port);
	for (size_t i = 0; !err && i < ARRAY_SIZE(names); i++)
		err = env_set(&b->env, names[i], url);
	if (!err)
		err = env_set(&b->env, "NODE_USE_ENV_PROXY", "1");
	b->cache_vars += b->env.count - before; /* the record leaves these
						 * variables out */
	return err;
}

/* The second tier, without a namespace: the command may connect to one port, at
 * which a keeper of its own answers. If a thread is faster than the watch, it
 * can connect to that same port of another host. */
static int net_front_of(struct guard_box *b, struct guard *g)
{
	struct net_ask ask = net_ask_of(g);
	int why, err;

	if (probe_landlock_abi(&why) < 4 ||
		!(b->plan.want & SANDBOX_WATCH) ||
		b->plan.relax & (SANDBOX_LANDLOCK | SANDBOX_SECCOMP))
		return -ENOTSUP;
	ask.front = true;
	err = net_join(-1, "", &ask, &b->link, NULL);
	if (!err)
		err = sandbox_port(&b->plan, b->link.port, false);
	if (!err)
		err = net_env(b);
	if (err)
		return err;
	b->plan.net = SANDBOX_NET_TCP;
	b->plan.watch_port = b->link.port;
	return 0;
}

int guard_net_join(struct guard_box *b, struct guard *g, struct diag *d)
{
	const bool observes = net_observes(g);
	const bool named = observes || net_has_names(g);

	if (b->brief || (!observes && (!g->terms.grants.confine ||
		net_granted(g) != SANDBOX_NET_LOCAL)))
		return 0;
	if (observes && !ns_is_refused())
		net_try(b, g);
	if (observes && b->plan.join) {
		b->plan.net = SANDBOX_NET_LOCAL;
		b->plan.want = 0;
		b->plan.set_ids = true;
	}
	if (observes)
		return 0;
	/* Background programs may serve the next command. Where a shared
	 * network cannot be had, a namespace of the command's own is tried. */
	if ((g->entry.shares_net || b->stays || named) &&
		b->plan.net == SANDBOX_NET_LOCAL && !ns_is_refused())
		net_try(b, g);
	if (!named || b->plan.join)
		return 0;
	if (!net_says(g, "tier=1")) {
		if (ns_is_refused() || !sandbox_namespace_works(SANDBOX_NETNS))
			(void)net_front_of(b, g);
		return 0;
	}
	diag_fail(d, -ENOTSUP, "net: hosts by name need a network namespace, and "
		"the policy says net tier=1");
	diag_hint(d, "'wardbox doctor' shows what works here");
	return -ENOTSUP;
}

int guard_net_begin(struct guard *g, struct diag *d)
{
	const bool names = g->terms.grants.confine
		? net_granted(g) == SANDBOX_NET_LOCAL && net_has_names(g)
		: net_observes(g);
	const struct audit_fact facts[] = {
		{.key = "tier", .text = g->box.link.port ? "2" : "none"},
		{.key = "reason", .text = "there is no network namespace"},
	};

	(void)d;
	if (names && !g->box.brief && !g->box.plan.join)
		guard_entry_event(g, "net.tier", facts, ARRAY_SIZE(facts));
	return 0;
}

bool guard_net_denies(const struct guard *g, bool planned,
	struct policy_verdict *v)
{
	enum sandbox_net net = planned ? g->box.plan.net : net_granted(g);

	if (!v->loopback || !g->terms.grants.confine)
		return false;
	/* Only an own namespace makes localhost the session's, because Landlock
	 * knows ports alone, and every host has those. */
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
