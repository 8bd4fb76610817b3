/* policy_verdict.c - how strict, and why
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <string.h>

#include "policy_judge.h"
#include "str.h"
#include "utf8.h"

static void cut(char *to, size_t size, const char *from)
{
	size_t n = strlen(from);

	if (n >= size) {
		n = size - 4;
		while (n > 0 && ((unsigned char)from[n] & 0xc0) == 0x80)
			n--;
		memcpy(to + n, "...", 4);
	} else {
		to[n] = 0;
	}
	memcpy(to, from, n);
}

const char *judge_text(struct judge *j, const char *s, size_t n)
{
	char *to = arena_bytes(j->arena, n + 1);

	if (!to)
		return "";
	memcpy(to, s, n);
	to[n] = 0;
	return to;
}

const char *judge_show(struct judge *j, const char *s)
{
	size_t n = strlen(s);
	char *to = arena_bytes(j->arena, n + 1);

	if (!to)
		return "";
	for (size_t i = 0; i <= n; i++)
		to[i] = s[i] == SHELL_REL || s[i] == SHELL_ANY ? '?' : s[i];
	return to;
}

/* May the verdict become d by this? */
static bool stricter(struct judge_cmd *k, enum policy_decision d)
{
	if (k->judged && d <= k->v.would)
		return false;
	k->judged = true;
	k->v.would = d;
	k->v.layer = POLICY_LAYER_SYSTEM;
	k->v.file[0] = 0;
	k->v.line = 0;
	k->v.alternative[0] = 0;
	return true;
}

void judge_raise(struct judge_cmd *k, enum policy_decision d, const char *rule,
	const char *fmt, ...)
{
	char text[512];
	struct buf b = BUF_FIXED(text);
	va_list ap;

	/* Below an approved parent what the engine only suspects is left to the
	 * sandbox and to the judging of each program that really starts. */
	if (k->j->depth && d > (enum policy_decision)k->j->set[IMG_P_CHILD])
		d = (enum policy_decision)k->j->set[IMG_P_CHILD];
	if (!stricter(k, d))
		return;
	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	b.err = 0;
	cut(k->v.rule, sizeof(k->v.rule), rule);
	cut(k->v.reason, sizeof(k->v.reason), buf_str(&b));
}

void judge_alternative(struct judge_cmd *k, const char *text)
{
	cut(k->v.alternative, sizeof(k->v.alternative), text);
}

void judge_rule(struct judge_cmd *k, enum policy_decision d,
	const struct policy_image *img, const struct img_rule *r,
	const char *what)
{
	const char *text = img_str(img, r->text);

	if (!stricter(k, d))
		return;
	k->v.layer = (enum policy_layer)img->head->layer;
	k->v.line = r->line;
	cut(k->v.file, sizeof(k->v.file), img_str(img, r->file));
	cut(k->v.rule, sizeof(k->v.rule), img_str(img, r->id));
	cut(k->v.alternative, sizeof(k->v.alternative), img_str(img, r->alt));
	if (*text) {
		cut(k->v.reason, sizeof(k->v.reason), text);
	} else {
		struct buf b = BUF_FIXED(k->v.reason);

		buf_addf(&b, "the policy says %s to %s",
			policy_decision_name(d), what);
		buf_str(&b);
	}
}

void judge_begin(struct judge *j, struct judge_cmd *k, struct shell_span span)
{
	*k = (struct judge_cmd){.j = j};
	k->v.offset = span.start;
	k->v.length = span.len;
	k->v.net = POLICY_NET_NONE;
}

static void settle(const struct judge *j, struct policy_verdict *v)
{
	v->decision = j->observe ? POLICY_ALLOW : v->would;
}

void judge_end(struct judge_cmd *k)
{
	struct judge *j = k->j;
	enum policy_net net = j->worst.net;

	if (!k->judged)
		return;
	if (j->arena->failed && k->v.would < POLICY_DENY)
		judge_raise(k, POLICY_DENY, "limit",
			"the command is too large to be judged");
	settle(j, &k->v);
	if (net < k->v.net)
		net = k->v.net;
	if (!j->worst.rule[0] || k->v.would > j->worst.would)
		j->worst = k->v;
	j->worst.net = net;
	if (j->each)
		j->each(j->ctx, &k->v);
}

void judge_words(struct judge_cmd *k, const struct arg *argv, size_t argc)
{
	char text[2 * sizeof(k->v.command)];
	struct buf b = BUF_FIXED(text);

	if (k->v.command[0])
		return;
	for (size_t i = 0; i < argc && b.len < sizeof(k->v.command); i++) {
		const char *s = judge_show(k->j, argv[i].s);
		bool plain = *s != 0;

		for (const char *c = s; *c; c++)
			if (!chr_name(*c) && !strchr("%+,-./:=@^?", *c))
				plain = false;
		buf_addf(&b, plain ? "%s%.130s%s" : "%s'%.130s%s'",
			i ? " " : "", s, strlen(s) > 130 ? "..." : "");
	}
	cut(k->v.command, sizeof(k->v.command), buf_str(&b));
}

bool judge_listed(const struct judge *j, const char *list, const char *word)
{
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		const struct policy_image *img = j->p->layer[i];

		if (img && img_ref_match(img, img_list(img, list), word))
			return true;
	}
	return false;
}

bool judge_granted(const struct judge *j, const char *list, const char *word)
{
	const struct policy_image *img = j->p->layer[POLICY_LAYER_SYSTEM];

	return img && img_ref_match(img, img_list(img, list), word);
}

bool judge_exec_dir(const struct judge *j, const char *dir)
{
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		const struct policy_image *img = j->p->layer[i];
		struct img_range r = img ? img_set(img, IMG_SET_EXEC)
					 : (struct img_range){0};

		if ((i == 0 || r.count) && !(img && img_ref_match(img, r, dir)))
			return false;
	}
	return true;
}

bool judge_in_set(const struct judge *j, enum img_set set, const char *word)
{
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		const struct policy_image *img = j->p->layer[i];

		if (img && img_ref_match(img, img_set(img, set), word))
			return true;
	}
	return false;
}
