/* policy_show.c - policy status, allowlist, blocklist
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <unistd.h>

#include "policy_applet.h"
#include "policy/policy_image.h"

static const char kinds[IMG_KINDS][9] = {
	"allow", "ask", "confirm", "deny", "delegate", "revert",
	"except"};

/* A pattern as it was written, near enough. */
static void put_pattern(struct buf *out, const struct policy_image *img,
	const struct img_rule *r)
{
	static const char mark[][6] = {
		"", "*", "**", "opt:", "!opt:", "has:", "says:",
		"at:", "from:", "to:"};

	for (uint32_t i = 0; i < r->token.count; i++) {
		struct img_token t = img_token(img, r->token.first + i);
		struct img_range words = img_words(img, t);

		buf_adds(out, i ? " " : "");
		buf_adds(out, mark[t.bits & IMG_TOK_KIND]);
		buf_adds(out, words.count > 1 ? "{" : "");
		for (uint32_t k = 0; k < words.count; k++) {
			const char *w = img_ref(img, words, k);

			buf_adds(out, k ? "|" : "");
			cli_escape_str(out, w);
		}
		buf_adds(out, words.count > 1 ? "}" : "");
	}
}

static void rule_text(struct buf *out, const struct policy_image *img,
	const struct img_rule *r, bool colour)
{
	static const char code[][3] = {"32", "33", "33", "31", "36", "36"};
	unsigned kind = IMG_KIND(r->bits);

	buf_addf(out, "%s%-8s%s ", cli_sgr(colour, code[kind]), kinds[kind],
		cli_sgr(colour, "0"));
	put_pattern(out, img, r);
	buf_adds(out, r->text ? "  # " : "");
	cli_escape_str(out, img_str(img, r->text));
	buf_adds(out, " [");
	cli_escape_str(out, img_str(img, r->file));
	buf_addf(out, ":%u ", r->line);
	cli_escape_str(out, img_str(img, r->id));
	buf_adds(out, "]\n");
}

static void rule_json(struct json *j, const struct policy_image *img,
	const struct img_rule *r)
{
	autobuf struct buf text = BUF_INIT(1 << 20);

	put_pattern(&text, img, r);
	json_putf(j, "{ kind %s id %s pattern %s layer %s file %s line %ju",
		kinds[IMG_KIND(r->bits)], img_str(img, r->id), buf_str(&text),
		policy_layer_name((enum policy_layer)img->head->layer),
		img_str(img, r->file), (uintmax_t)r->line);
	if (r->text)
		json_put_str(j, "reason", img_str(img, r->text));
	json_close(j);
}

static bool rule_wanted(const struct img_rule *r, bool block)
{
	unsigned kind = IMG_KIND(r->bits);

	return block ? kind == IMG_DENY
		     : kind != IMG_DENY && kind != IMG_EXCEPT;
}

static int list_rules(const struct policy_opts *o, bool block)
{
	autobuf struct buf out = BUF_INIT(8 << 20);
	autohere struct policy_here *h = NULL;
	struct json j = JSON_INIT(&out);
	bool colour = cli_colour(STDOUT_FILENO);

	h = policy_find_here(o);
	j.pretty = true;
	if (o->json)
		json_open(&j, '[');
	for (unsigned l = 0; l < POLICY_LAYERS; l++) {
		const struct policy_image *img = h->policy->layer[l];
		uint32_t count = img ? IMG_COUNT(img, IMG_RULE) : 0;
		struct img_rule r;

		for (uint32_t i = 0; i < count; i++) {
			img_get(img, IMG_RULE, i, &r);
			if (!rule_wanted(&r, block) ||
				!(IMG_PROFILES(r.bits) & 1U << h->profile))
				continue;
			if (o->json)
				rule_json(&j, img, &r);
			else
				rule_text(&out, img, &r, colour);
		}
	}
	cli_print_json(&j);
	return h->policy->state == POLICY_BROKEN ? POLICY_EXIT_BROKEN : EXIT_OK;
}

int policy_allowlist(void *into)
{
	return list_rules(into, false);
}

int policy_blocklist(void *into)
{
	return list_rules(into, true);
}

/* Lists the sources of all layers that exist. */
static void put_sources(const struct policy_here *h, struct json *j)
{
	for (unsigned l = 0; l < POLICY_LAYERS; l++) {
		const struct policy_image *img = h->policy->layer[l];
		const char *name = policy_layer_name((enum policy_layer)l);
		uint32_t count = img ? IMG_COUNT(img, IMG_SOURCE) : 0;
		bool built_in = img && l == POLICY_LAYER_SYSTEM;

		for (uint32_t i = 0; i < count + built_in; i++) {
			const char *text = "built in";
			struct img_source s;

			if (i < count) {
				img_get(img, IMG_SOURCE, i, &s);
				if (s.kind >= IMG_SRC_ABSENT)
					continue;
				text = img_str(img, s.path);
				built_in = false;
			}
			if (!j->depth) {
				buf_addf(j->out, "%-10s ", name);
				cli_escape_str(j->out, text);
				buf_addc(j->out, '\n');
				continue;
			}
			json_putf(j, "{ layer %s source %s }", name, text);
		}
	}
}

static void put_limits(const struct policy_grants *g, struct json *j)
{
	static const struct {
		char key[10], name[10], unit[5];
		uint32_t by;
	} row[] = {
		{"cpu_ns", "cpu", " s", 1000000000},
		{"wall_ns", "wall", " s", 1000000000},
		{"memory", "memory", " MiB", 1 << 20},
		{"processes", "processes", "", 1},
		{"files", "files", "", 1},
		{"output", "output", " KiB", 1 << 10},
	};
	const uint64_t value[] = {g->limits.cpu, g->limits.wall, g->limits.mem,
		g->limits.procs, g->limits.files, g->limits.out};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		if (j->depth)
			json_put_u64(j, row[i].key, value[i]);
		else if (value[i])
			buf_addf(j->out, "  %-10s %ju%s\n", row[i].name,
				value[i] / row[i].by, row[i].unit);
	}
}

static enum policy_decision decide_text(const struct policy_opts *o,
	const struct policy_here *h, const char *line)
{
	struct policy_request q = policy_request_here(o, h);
	struct policy_verdict v;

	q.text = line;
	q.len = strlen(line);
	policy_decide_line(h->policy, &q, &v, NULL, NULL);
	return v.decision;
}

struct status {
	const char *policy;
	bool shell;          /* does anything run? */
	const char *unknown; /* what no rule speaks of */
};

static void status_json(struct json *j, const struct policy_here *h,
	const struct policy_grants *g, const struct status *is)
{
	j->pretty = true;
	json_putf(j,
		"{ state %s profile %s shell %d unknown %s root %s confined %d "
		"network %s supervised %d limits {",
		is->policy, policy_profile_name(h->profile), is->shell,
		is->unknown, h->root, g->confine, str_nth(POLICY_NETS, g->net),
		g->supervise);
	put_limits(g, j);
	json_putf(j, "} relaxed [");
	for (size_t i = 0; i < g->relax.count; i++)
		json_str(j, g->relax.item[i]);
	json_putf(j, "] layers [");
	put_sources(h, j);
}

static void status_text(struct json *j, const struct policy_here *h,
	const struct policy_grants *g, const struct status *is)
{
	buf_addf(j->out,
		"profile    %s\npolicy     %s\nshell      %s, unknown "
		"commands: "
		"%s\nroot       ",
		policy_profile_name(h->profile), is->policy,
		is->shell ? "on" : "off", is->unknown);
	cli_escape_str(j->out, h->no_project ? "none: this is no project"
					     : h->root);
	buf_addc(j->out, '\n');
	put_sources(h, j);
	buf_addf(j->out, "sandbox    %s, network %s%s\n",
		g->confine ? "on" : "off", str_nth(POLICY_NETS, g->net),
		g->supervise ? ", every program judged" : "");
	put_limits(g, j);
	for (size_t i = 0; i < g->relax.count; i++)
		buf_addf(j->out, "relaxed    %s\n", g->relax.item[i]);
}

int policy_status(void *into)
{
	static const char state[][7] = {"good", "stale", "broken"};
	const struct policy_opts *o = into;
	autobuf struct buf out = BUF_INIT(1 << 20);
	struct json j = JSON_INIT(&out);
	autohere struct policy_here *h = NULL;
	autogrants struct policy_grants g = {0};
	struct status is;

	h = policy_find_here(o);
	is.policy = state[h->policy->state];
	if (policy_grants(h->policy, h->profile, h->root, h->home, &g) < 0)
		cli_die(EXIT_FOUND, "out of memory");
	is.shell = decide_text(o, h, ":") != POLICY_DENY;
	is.unknown = policy_decision_name(decide_text(o, h, "unknown"));
	(o->json ? status_json : status_text)(&j, h, &g, &is);
	cli_print_json(&j);
	return h->policy->state == POLICY_BROKEN ? POLICY_EXIT_BROKEN : EXIT_OK;
}
