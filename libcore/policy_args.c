/* policy_args.c - what each word of a command is
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy_args.h"
#include "str.h"

static const struct img_item *items(
	const struct scan *s, unsigned level, uint32_t *n)
{
	const struct img_schema *sch = s->schema[level];

	*n = sch ? sch->item.count : 0;
	return sch ? IMG_AT(s->img[level], IMG_ITEM, struct img_item) +
			       sch->item.first
		   : NULL;
}

/* The first item of a kind that a test accepts, of the subcommand first. */
static const struct img_item *find(const struct scan *s,
	enum img_item_kind kind, const char *name, unsigned pos)
{
	for (unsigned k = 0; k < 2; k++) {
		unsigned level = 1 - k;
		uint32_t n;
		const struct img_item *it = items(s, level, &n);

		for (uint32_t i = 0; i < n; i++)
			if (it[i].kind == kind && it[i].pos == pos &&
				(!name || str_eq(name, img_str(s->img[level],
							       it[i].name))))
				return &it[i];
	}
	return NULL;
}

/* Is the letter one without effect? */
static bool is_flag(const struct scan *s, char letter)
{
	for (unsigned level = 0; level < 2; level++) {
		uint32_t n;
		const struct img_item *it = items(s, level, &n);

		for (uint32_t i = 0; i < n; i++)
			if (it[i].kind == IMG_I_FLAGS &&
				strchr(img_str(s->img[level], it[i].name),
					letter))
				return true;
	}
	return false;
}

/* Does this type make a difference that an abbreviation must not hide? */
static bool sharp(unsigned type)
{
	return type == IMG_T_EXEC || type == IMG_T_DENY || type == IMG_T_SH ||
	       type == IMG_T_CODE || type == IMG_T_ASK;
}

/* "--upload-pa" is "--upload-pack" to getopt_long. */
static const struct img_item *find_long(const struct scan *s, const char *name)
{
	const struct img_item *best = find(s, IMG_I_LONG, name, 0);

	for (unsigned level = 0; !best && level < 2; level++) {
		uint32_t n;
		const struct img_item *it = items(s, level, &n);

		for (uint32_t i = 0; i < n && strlen(name) > 3; i++)
			if (it[i].kind == IMG_I_LONG &&
				str_after(img_str(s->img[level], it[i].name),
					name) &&
				(!best || sharp(it[i].type)))
				best = &it[i];
	}
	return best;
}

static void give(struct scan *s, const char *name, const char *value)
{
	if (s->out->opts < s->opt_max)
		s->out->opt[s->out->opts++] = (struct given_opt){name, value};
}

static bool takes_value(const struct img_item *it)
{
	return it->type != IMG_T_FLAG && it->type != IMG_T_DENY &&
	       it->type != IMG_T_ASK && it->type != IMG_T_DATA &&
	       it->type != IMG_T_CMD && it->type != IMG_T_CMDDATA;
}

static struct arg tail(struct scan *s, const struct arg *a, size_t from)
{
	struct arg v = *a;

	v.s += from;
	v.unknown = strchr(v.s, SHELL_ANY) != NULL;
	v.rel = strchr(v.s, SHELL_REL) != NULL;
	(void)s;
	return v;
}

/* An option that is in the schema: attached is its value, or NULL. */
static void known(struct scan *s, const struct img_item *it, const char *name,
	const struct arg *attached)
{
	struct arg value = {.s = ""};
	bool has = false;

	if (it->flags & IMG_F_SHIFT)
		s->shifted = true;
	if (it->flags & IMG_F_WRITES)
		s->writes = true;
	if (it->type == IMG_T_CODE || it->type == IMG_T_SH)
		s->coded = true;
	if (attached) {
		value = *attached;
		has = true;
	} else if (takes_value(it) && !(it->flags & IMG_F_OPTIONAL) &&
		   s->i + 1 < s->argc) {
		value = s->argv[s->i + 1];
		has = true;
		/* Where the table may be wrong about an argument, what looks
		 * like an option is looked at as one, too. */
		if (value.s[0] != '-' || !value.s[1] || s->style & IMG_S_STRICT)
			s->i++;
		if (value.many)
			s->out->unresolved = true;
	}
	give(s, name, has ? value.s : NULL);
	if (it->type == IMG_T_CMD || it->type == IMG_T_CMDDATA)
		args_command(s, it, s->i + 1);
	else
		args_value(s, it->type, has ? &value : NULL, name);
}

/* "-abc": letters until one takes an argument. */
static void cluster(struct scan *s, const struct arg *a)
{
	const char *c = a->s + 1;

	if (find(s, IMG_I_DIGITS, NULL, 0) && chr_digit(*c)) {
		give(s, a->s, NULL);
		return;
	}
	for (; *c; c++) {
		char *name = arena_bytes(s->k->j->arena, 3);
		const struct img_item *it;
		struct arg rest;

		if (!name)
			return;
		name[0] = '-';
		name[1] = *c;
		name[2] = 0;
		it = find(s, IMG_I_SHORT, name, 0);
		if (!it) {
			give(s, name, NULL);
			if (!is_flag(s, *c))
				args_unknown(s, a, c);
			continue;
		}
		rest = tail(s, a, (size_t)(c - a->s) + 1);
		if (takes_value(it) || it->flags & IMG_F_OPTIONAL) {
			if (rest.s[0] == '=' && s->style & IMG_S_WORDS)
				rest.s++;
			known(s, it, name, *rest.s ? &rest : NULL);
			return;
		}
		known(s, it, name, NULL);
		if (s->done)
			return;
	}
}

static void long_option(struct scan *s, const struct arg *a, bool word)
{
	const char *eq = strchr(a->s, '=');
	size_t n = eq ? (size_t)(eq - a->s) : strlen(a->s);
	const char *name = judge_text(s->k->j, a->s, n);
	const struct img_item *it = word ? find(s, IMG_I_WORD, name, 0) : NULL;
	struct arg value;

	if (!it)
		it = find_long(s, name);
	if (!it && word && a->s[2] == 0)
		it = find(s, IMG_I_SHORT, name, 0);
	if (it) {
		if (eq)
			value = tail(s, a, n + 1);
		known(s, it, name, eq ? &value : NULL);
		return;
	}
	give(s, name, eq ? eq + 1 : NULL);
	if (!word || a->s[2] || !is_flag(s, a->s[1]))
		args_unknown(s, a, NULL);
}

static void option(struct scan *s, const struct arg *a)
{
	struct arg rest;

	if (a->s[1] == SHELL_ANY || a->s[1] == SHELL_REL) {
		s->out->unresolved = true;
		args_unknown(s, a, NULL);
	} else if (a->s[0] == '-' && a->s[1] == '-') {
		long_option(s, a, false);
	} else if (s->style & IMG_S_WORDS || a->s[0] != '-') {
		long_option(s, a, true);
	} else {
		/* -word options exist beside clusters: -exec, -print0 */
		const struct img_item *it = find(s, IMG_I_WORD, a->s, 0);

		rest = *a;
		if (it)
			known(s, it, rest.s, NULL);
		else
			cluster(s, a);
	}
}

static bool is_option(const struct scan *s, const struct arg *a)
{
	if (s->no_options || !a->s[1])
		return false;
	return a->s[0] == '-' ||
	       (a->s[0] == '+' && s->style & (IMG_S_SHELL | IMG_S_WORDS)) ||
	       (a->s[0] == '/' && s->style & IMG_S_SLASH);
}

static void subcommand(struct scan *s, const struct arg *a)
{
	struct judge *j = s->k->j;
	char name[128];
	struct buf b = BUF_FIXED(name);

	buf_addf(&b, "%s/%s", img_str(s->img[0], s->schema[0]->name), a->s);
	if (b.err || a->unknown)
		return;
	s->schema[1] = args_schema(j, buf_str(&b), &s->img[1]);
	if (s->schema[1])
		s->style |= s->schema[1]->flags;
}

/* tar xPf x.tar: only what must not be there matters, the operands behind it
 * are files either way. */
static void bundle(struct scan *s, const struct arg *a)
{
	for (const char *c = a->s; *c; c++) {
		const char name[3] = {'-', *c, 0};
		const struct img_item *it = find(s, IMG_I_SHORT, name, 0);

		give(s, judge_text(s->k->j, name, 2), NULL);
		if (it && sharp(it->type))
			args_value(s, (enum img_type)it->type, NULL,
				judge_text(s->k->j, name, 2));
	}
}

/* An operand; options end here where they end at the first one. */
static void operand(struct scan *s, const struct arg *a, bool doubtful)
{
	const struct img_item *it;

	if (s->style & IMG_S_STOP && !(s->style & IMG_S_WRAPPER))
		s->no_options = true;
	if (s->style & IMG_S_WRAPPER && str_eq(a->s, "-"))
		return; /* env's other -i */
	if (!s->out->operands && strchr(a->s, '=') &&
		find(s, IMG_I_ASSIGN, NULL, 0)) {
		args_assign(s, a);
		return;
	}
	s->pos++;
	if (s->pos == 1 && s->shifted)
		s->pos++;
	if (s->pos == 1 && find(s, IMG_I_POS, NULL, 1) &&
		find(s, IMG_I_POS, NULL, 1)->type == IMG_T_SUB)
		subcommand(s, a);
	it = find(s, IMG_I_POS, NULL, s->pos);
	if (!it)
		it = find(s, IMG_I_REST, NULL, 0);
	if (it && (it->type == IMG_T_CMD || it->type == IMG_T_CMDDATA)) {
		args_command(s, it, s->i);
		return;
	}
	s->out->doubtful[s->out->operands] = doubtful;
	s->out->operand[s->out->operands++] = *a;
}

const struct img_item *args_item(const struct scan *s, size_t i)
{
	unsigned pos = (unsigned)(i > 98 ? 99 : i + 1) + s->shifted;
	const struct img_item *it = find(s, IMG_I_POS, NULL, pos);
	const char *text = s->out->operand[i].s;

	for (unsigned k = 0; !it && k < 2; k++) {
		unsigned level = 1 - k;
		uint32_t n;
		const struct img_item *at = items(s, level, &n);

		for (uint32_t p = 0; p < n && !it; p++)
			if (at[p].kind == IMG_I_PREFIX &&
				str_after(text,
					img_str(s->img[level], at[p].name)))
				it = &at[p];
	}
	if (!it && i + 1 == s->out->operands && i > 0)
		it = find(s, IMG_I_LAST, NULL, 0);
	return it ? it : find(s, IMG_I_REST, NULL, 0);
}

size_t args_prefix(const struct scan *s, const struct img_item *it)
{
	for (unsigned level = 0; level < 2; level++) {
		uint32_t n;
		const struct img_item *at = items(s, level, &n);

		if (at && it >= at && it < at + n)
			return strlen(img_str(s->img[level], it->name));
	}
	return 0;
}

void args_words(struct scan *s)
{
	for (s->i = 1; s->i < s->argc && !s->done; s->i++) {
		const struct arg *a = &s->argv[s->i];
		bool doubtful = s->unknown_before;

		s->unknown_before = false;
		if (a->many)
			s->out->unresolved = true;
		if (!s->no_options && str_eq(a->s, "--"))
			s->no_options = true;
		else if (is_option(s, a))
			option(s, a);
		else if (s->i == 1 && s->style & IMG_S_BUNDLE && !a->unknown)
			bundle(s, a);
		else
			operand(s, a, doubtful);
	}
}
