/* policy_compile_net.c - the statement of who may be spoken to
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_compile.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "net/net.h"

/* Words of IMG_SET_NET: +HOST, -HOST, or what is said of all as it stands. */
static int net_hosts(struct policy_compiler *c, char mark)
{
	char word[NET_NAME_MAX + 32];
	struct net_rule rule;
	uint64_t size;

	if (c->line.count < 3)
		return compile_bad(c, 0, "expected a host behind it");
	for (size_t i = 2; i < c->line.count; i++) {
		const char *s = c->line.word[i].s;
		const char *up = mark == '+' ? str_after(s, "up=") : NULL;

		if (up && num_size(up, 1, UINT64_MAX, &size) == 0)
			BUF_PRINT(word, "%s", s);
		else if (!up && net_rule_parse(&rule, s))
			BUF_PRINT(word, "%c%s", mark, s);
		else
			return compile_bad(c, i, up
				? "expected a size, up=1M"
				: "expected NAME[:PORT][/tls|http|tcp] or "
				  "*.NAME");
		build_word(&c->b, IMG_SET, IMG_SET_NET, word);
	}
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
	if (c->line.count != 2 ||
		str_index("registries\0ech=refuse\0tier=1\0", what) < 0)
		return compile_bad(c, c->line.count > 1,
			"expected: net host NAME..., net deny NAME..., "
			"net registries, net ech=refuse or net tier=1");
	build_word(&c->b, IMG_SET, IMG_SET_NET, what);
	return 0;
}
