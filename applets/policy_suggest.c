/* policy_suggest.c - policy suggest: rules that would settle what was asked
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy_applet.h"
#include "policy/policy_image.h"
#include "policy_log.h"

enum {
	MAX_RULES = 512,
};

struct proposal {
	char *command; /* words in the policy's own quoting */
	unsigned times;
};

struct suggest {
	struct policy_here *h;
	const struct policy_opts *o;
	struct proposal rule[MAX_RULES];
	size_t count;
	unsigned asked, never, blocked; /* lines, by what can be done */
	bool found;
	struct json j;
};

/* Does the item say that a command stands in the program's words? */
static bool runs_words(const char *item)
{
	return str_index("cmd\0shell\0multi\0line\0more\0", item) >= 0 ||
	       str_ends(item, "=sh") || str_ends(item, "=cmd");
}

/* Would a rule for the command allow more than what was seen? */
static bool is_never(const struct suggest *s, const char *command)
{
	const struct policy_image *img = s->h->policy->layer[0];
	char name[64];
	size_t n = strcspn(command, " ");
	struct img_range items;

	if (n == 0 || n >= sizeof(name) || command[0] == '\'')
		return true;
	memcpy(name, command, n);
	name[n] = 0;
	if (strchr(name, '/'))
		return name[0] == '/';
	if (!img)
		return true;
	if (img_reads_find(img, name, &items))
		for (uint32_t i = 0; i < items.count; i++)
			if (runs_words(img_ref(img, items, i)))
				return true;
	return img_ref_find(img, img_list(img, "suggest-never"), name);
}

/* Once more the same. */
static void count_rule(struct suggest *s, const char *command)
{
	size_t i = 0;

	while (i < s->count && !str_eq(s->rule[i].command, command))
		i++;
	if (i == MAX_RULES)
		return;
	if (i == s->count) {
		s->rule[i].command = strdup(command);
		if (!s->rule[i].command)
			return;
		s->rule[s->count++].times = 0;
	}
	s->rule[i].times++;
}

static void propose_rule(void *ctx, const struct policy_verdict *v)
{
	struct suggest *s = ctx;

	if (v->would == POLICY_ALLOW || !(v->is & POLICY_IS_UNKNOWN))
		return;
	s->found = true;
	if (strchr(v->command, '?') || str_ends(v->command, "...") ||
		is_never(s, v->command)) {
		s->never++;
		return;
	}
	count_rule(s, v->command);
}

static const char host_rule[] = "net host ";

/* A host that no line of the policy names; what else was wrong with one stays. */
static void propose_host(struct suggest *s, const struct logged *l)
{
	char rule[300];

	s->asked++;
	if (!str_find(l->reason, "names no such host")) {
		s->blocked++;
		return;
	}
	count_rule(s, BUF_PRINT(rule, "%s%s", host_rule, l->line));
}

static void look_at(void *ctx, const struct logged *l)
{
	struct suggest *s = ctx;
	struct policy_request req;
	struct policy_verdict v;

	if (l->host) {
		propose_host(s, l);
		return;
	}
	/* The programs that an open line starts have records of their own. */
	if ((str_eq(l->decision, "allow") || str_eq(l->decision, "open")) &&
		!str_after(l->rule, "would-"))
		return;
	s->asked++;
	req = policy_request_here(s->o, s->h);
	req.text = l->line;
	req.len = strlen(l->line);
	if (l->cwd[0] == '/')
		req.cwd = l->cwd;
	s->found = false;
	policy_decide_line(s->h->policy, &req, &v, propose_rule, s);
	if (!s->found && v.would != POLICY_ALLOW)
		s->blocked++;
}

/* Three spellings of one subcommand are one rule for all of it. */
static size_t stem_length(const char *command)
{
	size_t n = strcspn(command, " ");
	size_t m;

	if (str_after(command, host_rule))
		return 0;
	if (!command[n])
		return n;
	m = strcspn(command + n + 1, " ");
	for (size_t i = 0; i < m; i++)
		if (!chr_alpha(command[n + 1 + i]) && command[n + 1 + i] != '-')
			return 0;
	return command[n + 1] == '-' ? 0 : n + 1 + m;
}

/* A rule, with how often it was wanted. */
static void write_rule(struct suggest *s, struct buf *out, const char *words,
	size_t n, const char *rest, unsigned times)
{
	autobuf struct buf rule = BUF_INIT(1 << 16);

	buf_addf(&rule, "%s%.*s%s", str_after(words, host_rule) ? "" : "allow ",
		(int)n, words, rest);
	if (!s->o->json) {
		buf_addf(out, "# %u time%s\n%s\n", times, str_plural(times),
			buf_str(&rule));
		return;
	}
	json_putf(&s->j, "{ rule %s times %ju }", buf_str(&rule),
		(uintmax_t)times);
}

static void write_rules(struct suggest *s, struct buf *out)
{
	for (size_t i = 0; i < s->count; i++) {
		const char *c = s->rule[i].command;
		size_t n = c ? stem_length(c) : 0;
		unsigned times = s->rule[i].times, forms = 0;

		if (!c)
			continue;
		for (size_t k = i + 1; n && k < s->count; k++) {
			const char *other = s->rule[k].command;

			if (!other || stem_length(other) != n ||
				strncmp(c, other, n) != 0)
				continue;
			forms++;
			times += s->rule[k].times;
		}
		if (forms < 2) {
			write_rule(s, out, c, strlen(c), "", times);
			continue;
		}
		write_rule(s, out, c, n, " **", times);
		for (size_t k = i + 1; k < s->count; k++) {
			char *other = s->rule[k].command;

			if (other && stem_length(other) == n &&
				!strncmp(c, other, n)) {
				free(other);
				s->rule[k].command = NULL;
			}
		}
	}
}

static void begin_json(struct suggest *s)
{
	json_putf(&s->j,
		"{ lines %ju denials_that_stay %ju never_proposed %ju rules [",
		(uintmax_t)s->asked, (uintmax_t)s->blocked,
		(uintmax_t)s->never);
}

int policy_suggest(void *into)
{
	const struct policy_opts *o = into;
	autohere struct policy_here *h = NULL;
	autofree struct suggest *s = calloc(1, sizeof(*s));
	autobuf struct buf out = BUF_INIT(1 << 22);

	if (o->write && o->json)
		cli_die_usage(o->spec, "--write writes rules, not JSON");
	h = policy_find_here(o);
	if (!s)
		cli_die(EXIT_FOUND, "out of memory");
	s->h = h;
	s->o = o;
	policy_log_each(look_at, s);
	s->j = JSON_INIT(&out);
	if (o->json)
		begin_json(s);
	else
		buf_addf(&out,
			"# Lines that were asked about or not allowed: %u\n"
			"# Denials that stay, as rules against them are there "
			"for a reason: %u\n"
			"# Commands that get no rule, as with shells, "
			"interpreters and wrappers\n"
			"# anything would be let through: %u\n",
			s->asked, s->blocked, s->never);
	write_rules(s, &out);
	for (size_t i = 0; i < s->count; i++)
		free(s->rule[i].command);
	if (o->write && !o->dry_run && s->count) {
		policy_write(o->write, out.data, out.len, 0644);
		buf_clear(&out);
		buf_addf(&out, "%s: %zu rules\n", o->write, s->count);
	}
	cli_print_json(&s->j);
	return s->count ? EXIT_OK : EXIT_FOUND;
}
