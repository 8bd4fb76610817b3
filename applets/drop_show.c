/* drop_show.c - what would be done, and why
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <unistd.h>

#include "base/path.h"
#include "sys/probe.h"
#include "base/str.h"

static const char *access_words(unsigned access)
{
	if (access == SANDBOX_HIDE)
		return "hidden";
	if (access & SANDBOX_HIDE)
		return "empty, read and write";
	switch (access & (unsigned)SANDBOX_RWX & ~(unsigned)SANDBOX_UNIX) {
	case 0:
		return access & SANDBOX_UNIX ? "connect to sockets" :
		       access & SANDBOX_LIST ? "list names" :
					       "nothing";
	case SANDBOX_READ:
		return "read";
	case SANDBOX_ROX:
		return "read, execute";
	case SANDBOX_READ | SANDBOX_WRITE:
		return "read, write";
	case SANDBOX_READ | SANDBOX_WRITE | SANDBOX_EXEC:
		return "read, write, execute";
	default:
		return "odd";
	}
}

static const char *net_words(enum sandbox_net net)
{
	static const char words[][19] = {
		[SANDBOX_NET_NONE] = "none",
		[SANDBOX_NET_LOCAL] = "own loopback",
		[SANDBOX_NET_TCP] = "TCP, listed ports",
		[SANDBOX_NET_ALL] = "all",
	};

	return words[net];
}

static void parts_text(struct buf *out, const char *title, unsigned parts)
{
	buf_addf(out, "%-10s", title);
	for (unsigned part = 1; part <= SANDBOX_WATCH; part <<= 1)
		if (parts & part)
			buf_addf(out, " %s", sandbox_part_name(part));
	buf_adds(out, parts ? "\n" : " -\n");
}

void drop_parts_json(struct json *j, const char *key, unsigned parts)
{
	json_put_open(j, key, '[');
	for (unsigned part = 1; part <= SANDBOX_WATCH; part <<= 1)
		if (parts & part)
			json_str(j, sandbox_part_name(part));
	json_close(j);
}

static void plan_text(struct buf *out, const struct sandbox *s)
{
	parts_text(out, "enforced", s->enforced);
	parts_text(out, "missing", s->missing);
	buf_addf(out, "landlock   ABI %d\n", s->abi);
	buf_addf(out, "seccomp    %zu instructions, %016jx\n", s->filter_len,
		s->filter_hash);
	buf_addf(out, "network    %s", net_words(s->plan->net));
	for (size_t i = 0; i < s->plan->port_count; i++)
		buf_addf(out, " %s%u",
			i < s->plan->connect_count ? "" : "listen:",
			s->plan->ports[i]);
	buf_addc(out, '\n');
	for (int kind = LIMITS_WALL; kind < LIMITS_KINDS; kind++)
		if (s->limits.how[kind])
			buf_addf(out, "limit      %s: %s\n",
				limits_name((enum limits_kind)kind),
				limits_how_name(
					(enum limits_how)s->limits.how[kind]));
	for (size_t i = 0; i < s->rule_count; i++) {
		const struct sandbox_rule *r = &s->rules[i];

		if (r->mount == SANDBOX_MOUNT_PIN)
			continue;
		buf_addf(out, "path       %-22s ", access_words(r->access));
		cli_escape_str(out, r->path);
		buf_addf(out, "  (%s)\n", s->plan->grants[r->grant].why);
	}
}

static void plan_json(struct buf *out, const struct sandbox *s)
{
	struct json j = JSON_INIT(out);

	json_open(&j, '{');
	drop_parts_json(&j, "enforced", s->enforced);
	drop_parts_json(&j, "missing", s->missing);
	json_putf(&j,
		"landlock-abi %jd filter-length %ju filter-hash %ju "
		"network %s limits {",
		(intmax_t)s->abi, (uintmax_t)s->filter_len,
		(uintmax_t)s->filter_hash, net_words(s->plan->net));
	for (int kind = LIMITS_WALL; kind < LIMITS_KINDS; kind++)
		if (s->limits.how[kind])
			json_str(json_key(&j,
					 limits_name((enum limits_kind)kind)),
				limits_how_name(
					(enum limits_how)s->limits.how[kind]));
	json_putf(&j, "} paths [");
	for (size_t i = 0; i < s->rule_count; i++) {
		const struct sandbox_rule *r = &s->rules[i];

		if (r->mount == SANDBOX_MOUNT_PIN)
			continue;
		json_putf(&j, "{ path %s access %s by %s }", r->path,
			access_words(r->access),
			s->plan->grants[r->grant].why);
	}
	json_putf(&j, "] }");
	buf_addc(out, '\n');
}

void drop_show_plan(const struct drop *o, const struct sandbox *s)
{
	autobuf struct buf out = BUF_INIT(1 << 22);

	if (o->json)
		plan_json(&out, s);
	else
		plan_text(&out, s);
	cli_print(&out);
}

void drop_show_path(
	const struct drop *o, const struct sandbox *s, const char *path)
{
	autobuf struct buf out = BUF_INIT(1 << 16);
	const struct sandbox_grant *g;
	unsigned access = sandbox_explain(s, path, &g);

	if (o->json) {
		struct json j = JSON_INIT(&out);

		json_putf(&j,
			"{ path %s read %d write %d execute %d list %d "
			"hidden %d grant %s by %s }",
			path, access & SANDBOX_READ, access & SANDBOX_WRITE,
			access & SANDBOX_EXEC,
			access & (SANDBOX_READ | SANDBOX_LIST),
			access == SANDBOX_HIDE, g ? g->path : NULL,
			g ? g->why : NULL);
		buf_addc(&out, '\n');
	} else {
		cli_escape_str(&out, path);
		buf_addf(&out, ": %s", access_words(access));
		if (g)
			buf_addf(&out, " (%s %s)", g->why, g->path);
		else
			buf_adds(&out, access ? " (it needs no grant)" :
						" (no grant reaches it)");
		buf_addc(&out, '\n');
	}
	cli_print(&out);
}

int drop_show_probe(const struct drop *o)
{
	static const unsigned spaces[] = {SANDBOX_PIDNS, SANDBOX_MOUNTNS,
		SANDBOX_IPCNS, SANDBOX_NETNS};
	autobuf struct buf out = BUF_INIT(1 << 16);
	struct json j = JSON_INIT(&out);
	int abi = probe_landlock_abi(NULL);
	unsigned works = SANDBOX_CAPS;

	if (abi >= 1)
		works |= SANDBOX_LANDLOCK;
	if (abi >= 6)
		works |= SANDBOX_SCOPE;
	if (probe_try(PROBE_SECCOMP, NULL) == 0)
		works |= SANDBOX_SECCOMP | SANDBOX_NETWORK | SANDBOX_UNIXPATH;
	if (!probe_inside() && probe_try(PROBE_NOTIFY, NULL) == 0)
		works |= SANDBOX_WATCH;
	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++)
		if (sandbox_namespace_works(spaces[i]))
			works |= spaces[i];
	if (o->json) {
		json_putf(&j, "{ landlock-abi %jd inside %d", (intmax_t)abi,
			probe_inside());
		drop_parts_json(&j, "works", works);
		json_end(&j);
	} else {
		buf_addf(&out, "landlock   ABI %d\n", abi);
		parts_text(&out, "works", works);
		parts_text(&out, "missing",
			~works & (2 * SANDBOX_WATCH - 1) &
				~(unsigned)SANDBOX_LIMITS);
		if (probe_inside())
			buf_adds(&out, "this is inside of a guarded tree\n");
	}
	cli_print(&out);
	return (works & (SANDBOX_LANDLOCK | SANDBOX_SECCOMP)) ==
			       (SANDBOX_LANDLOCK | SANDBOX_SECCOMP) ?
		       EXIT_OK :
		       EXIT_FOUND;
}
