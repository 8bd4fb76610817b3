/* policy_registries.c - policy registries: the hosts of this machine's own settings
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "policy_applet.h"
#include "net/net.h"

enum { REGISTRIES = 128 };

struct registries {
	struct buf out;
	struct json j;
	bool json;
	size_t count;
	struct net_rule seen[REGISTRIES];
};

static void registry_found(void *ctx, const struct net_rule *rule,
	const char *tool, const char *file)
{
	struct registries *r = ctx;
	const char *kind = str_nth(NET_KINDS, rule->kind);

	for (size_t i = 0; i < r->count; i++)
		if (net_rule_match(&r->seen[i], rule->name, rule->port))
			return;
	if (r->count == REGISTRIES)
		return;
	r->seen[r->count++] = *rule;
	if (r->json) {
		json_putf(&r->j,
			"{ host %s port %ju kind %s tool %s file %s }",
			rule->name, (uintmax_t)rule->port, kind, tool, file);
		return;
	}
	buf_addf(&r->out, "net host %s:%u/%s  # %s: ", rule->name, rule->port,
		kind, tool);
	cli_escape_str(&r->out, file);
	buf_adds(&r->out, "\n");
}

int policy_registries(void *into)
{
	const struct policy_opts *o = into;
	autofree struct registries *r = calloc(1, sizeof *r);
	const char *home = getenv("HOME");

	if (!r)
		cli_die(EXIT_OURS, "out of memory");
	r->json = o->json;
	r->out = BUF_INIT(1 << 20);
	r->j = JSON_INIT(&r->out);
	r->j.pretty = true;
	if (o->json)
		json_open(&r->j, '[');
	net_registries(home && home[0] == '/' ? home : "", registry_found, r);
	cli_print_json(&r->j);
	buf_release(&r->out);
	return r->count ? EXIT_OK : EXIT_FOUND;
}
