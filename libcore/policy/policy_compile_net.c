/* policy_compile_net.c - the statement of who may be spoken to
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "net/net.h"

/* The value of the line's last up=; "" where there is none. NULL: the value is
 * no size. */
static const char *net_up(struct policy_compiler *c)
{
	const char *found = "", *up;
	uint64_t size;

	for (size_t i = 2; i < c->line.count; i++) {
		up = str_after(c->line.word[i].s, "up=");
		if (up && num_size(up, 1, UINT64_MAX, &size) < 0) {
			compile_bad(c, i, "expected a size, up=1M");
			return NULL;
		}
		found = up ? up : found;
	}
	return found;
}

/* Adds words of IMG_SET_NET: +HOST, +SIZE HOST, -HOST, or as it stands a word
 * that holds for all hosts. */
static int net_hosts(struct policy_compiler *c, char mark)
{
	const char *up = mark == '+' ? net_up(c) : "";
	unsigned *count = mark == '+' ? &c->hosts : &c->denies;
	const unsigned most =
		mark == '+' ? NET_RULES : NET_DENIES / POLICY_LAYERS;
	char word[NET_NAME_MAX + 64];
	struct net_rule rule;
	bool any = false;

	for (size_t i = 2; up && i < c->line.count; i++) {
		const char *s = c->line.word[i].s;

		if (mark == '+' && str_after(s, "up="))
			continue;
		if (!net_rule_parse(&rule, s))
			return compile_bad(c, i,
				"expected NAME[:PORT][/tls|http|tcp], *.NAME or *");
		if (++*count > most)
			return compile_bad(c, i,
				"too many hosts: *.NAME names many at once");
		BUF_PRINT(word, "%c%s%s%s", mark, up, *up ? " " : "", s);
		build_word(&c->b, IMG_SET, IMG_SET_NET, word);
		any = true;
	}
	return !up  ? -EINVAL
		: any ? 0
		      : compile_bad(c, 0, "expected a host behind it");
}

/* Adds ports of this machine's loopback that lead to the session's. */
static int net_listen(struct policy_compiler *c)
{
	char word[24];
	uint64_t port;

	for (size_t i = 2; i < c->line.count; i++) {
		if (num_u64(c->line.word[i].s, 1, UINT16_MAX, &port) < 0)
			return compile_bad(c, i, "expected a port");
		BUF_PRINT(word, "listen=%u", (unsigned)port);
		build_word(&c->b, IMG_SET, IMG_SET_NET, word);
	}
	return c->line.count < 3 ? compile_bad(c, 0, "expected a port behind it")
				 : 0;
}

/* where is "caller", or the proxy's address. */
static int net_proxy(struct policy_compiler *c, const char *where)
{
	autofree struct net_spec *spec = calloc(1, sizeof *spec);

	if (!spec)
		return -ENOMEM;
	if (c->line.count != 2 ||
		(!str_eq(where, "caller") && !net_proxy_parse(spec, where)))
		return compile_bad(c, 1, "expected net proxy=caller, or "
			"net proxy=http://[NAME:PASSWORD@]HOST[:PORT]");
	build_word(&c->b, IMG_SET, IMG_SET_NET, c->line.word[1].s);
	return 0;
}

/* Takes a statement without further words; registries may have up=. */
static int net_words(struct policy_compiler *c, const char *what)
{
	const char *up = str_eq(what, "registries") ? net_up(c) : "";
	char word[40];

	if (!up)
		return -EINVAL;
	if (c->line.count != (*up ? 3 : 2) ||
		str_index("registries\0ech=refuse\0tier=1\0", what) < 0)
		return compile_bad(c, c->line.count > 1,
			"expected: net host NAME..., net deny NAME..., "
			"net registries, net listen PORT..., net proxy=..., "
			"net ech=refuse or net tier=1");
	build_word(&c->b, IMG_SET, IMG_SET_NET, what);
	if (*up)
		build_word(&c->b, IMG_SET, IMG_SET_NET,
			BUF_PRINT(word, "registries=%.24s", up));
	return 0;
}

int compile_net(struct policy_compiler *c)
{
	const char *what = c->line.count > 1 ? c->line.word[1].s : "";

	if (str_eq(what, "deny"))
		return net_hosts(c, '-');
	if (compile_system_alone(c, 0) < 0)
		return -EINVAL;
	if (str_eq(what, "host"))
		return net_hosts(c, '+');
	if (str_after(what, "proxy="))
		return net_proxy(c, str_after(what, "proxy="));
	return str_eq(what, "listen") ? net_listen(c) : net_words(c, what);
}
