/* policy_verdict.c - how strict, and why
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <string.h>

#include "policy/policy_judge_in.h"
#include "base/str.h"
#include "base/utf8.h"

const char *judge_text(struct judge *j, const char *s, size_t n)
{
	char *to = arena_bytes(j->arena, n + 1);

	if (!to)
		return "";
	memcpy(to, s, n);
	to[n] = 0;
	/* A number counts as any other bounded text from here on. */
	for (char *c = to; (c = memchr(c, SHELL_NUM, n - (size_t)(c - to)));)
		*c = SHELL_REL;
	return to;
}

const char *judge_cwd(const struct judge_cmd *k)
{
	return judge_text(k->j, k->cwd->text.p, k->cwd->text.n);
}

FLOATLESS const char *judge_print(struct judge *j, const char *fmt, ...)
{
	autobuf struct buf b = BUF_INIT(JUDGE_ARENA);
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	j->spent |= b.err != 0;
	return judge_text(j, buf_str(&b), b.len);
}

struct arg judge_arg(struct judge *j, const char *s, size_t n)
{
	const char *copy = judge_text(j, s, n);

	return (struct arg){.s = copy,
		.unknown = strchr(copy, SHELL_ANY) != NULL,
		.rel = strchr(copy, SHELL_REL) != NULL};
}

const char *judge_show(struct judge *j, const char *s)
{
	enum { SHOWN = 96 }; /* room for what is said behind it */
	char *to = arena_bytes(j->arena, SHOWN);

	if (!to)
		return "";
	utf8_cut(to, SHOWN, s);
	for (char *c = to; *c; c++)
		if (*c == SHELL_REL || *c == SHELL_ANY)
			*c = '?';
	return to;
}

/* Will anybody read the verdict's texts? */
static bool is_heard(const struct judge *j, enum policy_decision d)
{
	return j->each || !j->worst.rule[0] || d > j->worst.would;
}

/* Makes the verdict d; the caller writes its texts. False: it is as strict
 * already. */
static bool become_verdict(struct judge_cmd *k, enum policy_decision d)
{
	if (k->judged && d <= k->v.would)
		return false;
	k->judged = true;
	k->v.would = d;
	k->v.is = 0;
	k->v.layer = POLICY_LAYER_SYSTEM;
	k->v.file[0] = 0;
	k->v.line = 0;
	k->v.alternative[0] = 0;
	return true;
}

static bool raise_to(struct judge_cmd *k, enum policy_decision d,
	const char *rule, const char *fmt, va_list ap)
{
	char text[512];
	struct buf b = BUF_FIXED(text);

	/* Below an approved parent suspicions are left to the sandbox and to
	 * the judging of each program that starts. */
	if (k->j->depth && d > (enum policy_decision)k->j->set[IMG_P_CHILD])
		d = (enum policy_decision)k->j->set[IMG_P_CHILD];
	k->v.open |= d == POLICY_OPEN;
	if (d == POLICY_OPEN && !k->j->starts)
		d = (enum policy_decision)k->j->set[IMG_P_OPEN];
	if (!become_verdict(k, d))
		return false;
	if (!is_heard(k->j, d))
		return true;
	buf_vaddf(&b, fmt, ap);
	b.err = 0;
	utf8_cut(k->v.rule, sizeof(k->v.rule), rule);
	utf8_cut(k->v.reason, sizeof(k->v.reason), buf_str(&b));
	return true;
}

FLOATLESS bool judge_raise(struct judge_cmd *k, enum policy_decision d,
	const char *rule, const char *fmt, ...)
{
	va_list ap;
	bool raised;

	va_start(ap, fmt);
	raised = raise_to(k, d, rule, fmt, ap);
	va_end(ap);
	return raised;
}

FLOATLESS void judge_input(
	struct judge_cmd *k, enum policy_decision d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (raise_to(k, d, "stdin", fmt, ap))
		k->v.is |= POLICY_IS_INPUT;
	va_end(ap);
}

void judge_unresolved(
	struct judge_cmd *k, const struct arg *a, const char *what)
{
	struct judge *j = k->j;

	judge_raise(k, POLICY_OPEN, "unresolved",
		"%s: the %s is not known before it runs", judge_show(j, a->s),
		what);
}

void judge_alternative(struct judge_cmd *k, const char *text)
{
	utf8_cut(k->v.alternative, sizeof(k->v.alternative), text);
}

bool judge_rule(struct judge_cmd *k, enum policy_decision d,
	const struct policy_image *img, const struct img_rule *r,
	const char *what)
{
	const char *text = img_str(img, r->text);

	if (!become_verdict(k, d))
		return false;
	/* A mark of a lower layer frees nothing. */
	if (img->head->layer == POLICY_LAYER_SYSTEM)
		k->v.is = IMG_MARKS(r->bits);
	if (!is_heard(k->j, d))
		return true;
	k->v.layer = (enum policy_layer)img->head->layer;
	k->v.line = r->line;
	utf8_cut(k->v.file, sizeof(k->v.file), img_str(img, r->file));
	utf8_cut(k->v.rule, sizeof(k->v.rule), img_str(img, r->id));
	utf8_cut(k->v.alternative, sizeof(k->v.alternative), img_str(img, r->alt));
	if (*text) {
		utf8_cut(k->v.reason, sizeof(k->v.reason), text);
	} else {
		struct buf b = BUF_FIXED(k->v.reason);

		buf_addf(&b, "the policy says %s to %s",
			policy_decision_name(d), what);
		buf_str(&b);
	}
	return true;
}

struct judge_cmd judge_begin(struct judge *j, struct shell_span span)
{
	return (struct judge_cmd){.j = j,
		.v = {.offset = span.start,
			.length = span.len,
			.net = POLICY_NET_NONE}};
}

static void settle_verdict(const struct judge *j, struct policy_verdict *v)
{
	v->decision = j->observe ? POLICY_ALLOW : v->would;
}

/* Appends at most max bytes, unknown ones as "?". */
static void add_shown(struct buf *b, const char *s, size_t max)
{
	for (; *s && max--; s++)
		buf_addc(b, *s == SHELL_REL || *s == SHELL_ANY ? '?' : *s);
}

/* Writes the words to .command, quoted where needed, and cut. */
static void show_words(struct judge_cmd *k)
{
	char text[2 * sizeof(k->v.command)];
	struct buf b = BUF_FIXED(text);

	for (size_t i = 0; i < k->argc && b.len < sizeof(k->v.command); i++) {
		const char *s = k->argv[i].s;
		bool plain = *s != 0;

		for (const char *c = s; *c; c++)
			if (!chr_name(*c) && !strchr("%+,-./:=@^?" SHELL_REL_S
						     SHELL_ANY_S,
						     *c))
				plain = false;
		buf_adds(&b, i ? " " : "");
		buf_adds(&b, plain ? "" : "'");
		add_shown(&b, s, 130);
		buf_adds(&b, strlen(s) > 130 ? "..." : "");
		buf_adds(&b, plain ? "" : "'");
	}
	utf8_cut(k->v.command, sizeof(k->v.command), buf_str(&b));
}

static void show_open(struct judge_cmd *k)
{
	struct buf b = BUF_FIXED(k->v.command);
	struct shell_str path = k->open->path.text;

	buf_adds(&b, k->open->writes ? "> " : "< ");
	add_shown(&b, judge_text(k->j, path.p, path.n), 100);
	buf_str(&b);
}

void judge_end(struct judge_cmd *k)
{
	struct judge *j = k->j;
	enum policy_net net = j->worst.net;
	bool shell = !j->worst.rule[0] || j->worst.is & POLICY_IS_SHELL;
	bool open = j->worst.open || k->v.open;
	bool loopback = j->worst.loopback || k->v.loopback;
	uint64_t up = j->worst.up;

	if (!k->judged)
		return;
	if (j->arena->failed && !k->v.open)
		judge_raise(k, POLICY_OPEN, "limit",
			"the command is too large to be judged");
	if (net < k->v.net)
		net = k->v.net;
	if (!up || (k->v.up && k->v.up < up))
		up = k->v.up;
	if (is_heard(j, k->v.would)) {
		if (k->open)
			show_open(k);
		else if (k->argv)
			show_words(k);
		settle_verdict(j, &k->v);
	}
	if (!j->worst.rule[0] || k->v.would > j->worst.would)
		j->worst = k->v;
	j->worst.net = net;
	j->worst.up = up;
	j->worst.open = open;
	if (!shell || !(k->v.is & POLICY_IS_SHELL))
		j->worst.is &= ~(unsigned)POLICY_IS_SHELL;
	j->worst.loopback = loopback;
	if (j->each)
		j->each(j->ctx, &k->v);
}

static bool in_list(struct judge *j, unsigned layer, enum judge_list list,
	const char *word)
{
	static const char names[] = /* in the order of enum judge_list */
		"builtin\0env-unset\0env-fixed\0env-safe\0env-source\0"
		"data\0writes\0writes-last\0removes\0";
	const struct policy_image *img = j->p->layer[layer];
	struct img_range *r = &j->list[layer][list];
	unsigned bit = 1U << (layer * JUDGE_LISTS + list);

	if (!img)
		return false;
	if (!(j->found & bit))
		*r = img_list(img, str_nth(names, list));
	j->found |= bit;
	return img_ref_find(img, *r, word);
}

bool judge_listed(struct judge *j, enum judge_list list, const char *word)
{
	for (unsigned i = 0; i < POLICY_LAYERS; i++)
		if (in_list(j, i, list, word))
			return true;
	return false;
}

bool judge_granted(struct judge *j, enum judge_list list, const char *word)
{
	return in_list(j, POLICY_LAYER_SYSTEM, list, word);
}

bool judge_exec_dir(const struct judge *j, const char *dir)
{
	char home[JUDGE_PATH] = "";

	/* The home in the policy's spelling. */
	if (path_beneath(j->home, dir))
		BUF_PRINT(home, "$HOME%s", dir + strlen(j->home));
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		const struct policy_image *img = j->p->layer[i];
		struct img_range r = img_set(img, IMG_SET_EXEC);

		if ((i == 0 || r.count) && !img_ref_match(img, r, dir) &&
			(!*home || !img_ref_match(img, r, home)))
			return false;
	}
	return true;
}

bool judge_env_denied(const struct judge *j, const char *name)
{
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		const struct policy_image *img = j->p->layer[i];

		if (img && img_ref_find(img,
				   img_set(img, IMG_SET_ENV_DENY), name))
			return true;
	}
	return false;
}
