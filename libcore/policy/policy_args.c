/* policy_args.c - what each word of a command is
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy/policy_args_in.h"
#include "base/str.h"

/* Does this type make a difference that an abbreviation must not hide? */
static bool sharp(unsigned type)
{
	return 1U << type &
	       (1U << IMG_T_EXEC | 1U << IMG_T_DENY | 1U << IMG_T_SH |
		       1U << IMG_T_SPLIT | 1U << IMG_T_CODE | 1U << IMG_T_ASK);
}

/* Is a cell of a group the name that is sought, or the number? cut: a longer
 * name that begins so will do. */
static bool fits(const struct scan *s, unsigned kind, uint32_t cell,
	const char *name, unsigned pos, bool cut)
{
	const char *word = img_str(s->img, cell);

	if (kind == IMG_I_POS)
		return cell == pos;
	if (!name)
		return false;
	if (kind <= IMG_I_FLAGS)
		return strchr(word, name[1]);
	if (kind == IMG_I_PREFIX)
		return str_after(name, word);
	return cut ? str_after(word, name) != NULL : str_eq(word, name);
}

/* The first item of that name, or for an operand that number, of the subcommand
 * first; of those cut short, one that makes a difference before any other. */
static struct item find_item(const struct scan *s, unsigned kind,
	const char *name, unsigned pos, bool cut)
{
	struct item it = {0};

	for (unsigned level = 2; level--;) {
		uint32_t at = s->schema[level];
		struct img_group g;

		for (at += at != 0; at && img_group(s->img, &at, kind, &g);) {
			uint32_t i = 0;

			while (i < g.count &&
				!fits(s, kind, img_cell(s->img, g.at + i), name,
					pos, cut))
				i++;
			if ((g.count && i == g.count) ||
				(it.kind && !sharp(g.type)))
				continue;
			it.kind = g.kind;
			it.type = g.type;
			it.flags = g.flags;
			/* What it takes of a word. */
			if (kind == IMG_I_PREFIX)
				it.prefix = strlen(img_str(s->img,
					img_cell(s->img, g.at + i)));
			if (!cut)
				return it;
		}
	}
	return it;
}

static struct item find(const struct scan *s, enum img_item_kind kind,
	const char *name)
{
	return find_item(s, kind, name, 0, false);
}

static struct item find_pos(const struct scan *s, unsigned pos)
{
	return find_item(s, IMG_I_POS, NULL, pos, false);
}

/* Is the letter one without effect? */
static bool is_flag(const struct scan *s, char letter)
{
	const char name[] = {'-', letter, 0};

	return find(s, IMG_I_FLAGS, name).kind;
}

/* "--upload-pa" is "--upload-pack" to getopt_long. */
static struct item find_long(const struct scan *s, const char *name)
{
	struct item it = find(s, IMG_I_LONG, name);

	return it.kind || strlen(name) < 2
		       ? it
		       : find_item(s, IMG_I_LONG, name, 0, true);
}

static void give(struct scan *s, const char *name, const char *value)
{
	s->k->j->work += 2;
	if (s->out->opts < s->opt_max)
		s->out->opt[s->out->opts++] = (struct given_opt){name, value};
	else
		judge_raise(s->k, s->k->j->set[IMG_P_DYNAMIC], "limit",
			"more than %zu options", s->opt_max);
}

static bool takes_value(unsigned type)
{
	return !(1U << type &
		 (1U << IMG_T_FLAG | 1U << IMG_T_DENY | 1U << IMG_T_ASK |
			 1U << IMG_T_DATA | 1U << IMG_T_CMD |
			 1U << IMG_T_CMDDATA));
}

static struct arg tail(const struct arg *a, size_t from)
{
	struct arg v = *a;

	v.s += from;
	v.unknown = strchr(v.s, SHELL_ANY) != NULL;
	v.rel = strchr(v.s, SHELL_REL) != NULL;
	return v;
}

/* git bisect, then git bisect run. */
static void subcommand(struct scan *s, const struct arg *a)
{
	const char *name = judge_print(
		s->k->j, "%s/%s", s->sub ? s->sub : s->name, a->s);

	if (a->unknown)
		judge_unresolved(s->k, a, "subcommand");
	else if (args_schema(s, 1, name))
		s->sub = name;
}

/* python3 -m MODULE: the words behind it are the module's alone. */
static void module(struct scan *s, const struct arg *a)
{
	s->schema[1] = s->style = 0;
	s->sub = "-m";
	subcommand(s, a);
	s->schema[0] = s->schema[1];
}

/* An option that is in the schema: attached is its value, or NULL. */
static void known(struct scan *s, struct item it, const char *name,
	const struct arg *attached)
{
	struct arg value = {.s = ""};
	bool has = false;

	if (it.flags & IMG_F_SHIFT)
		s->shifted = true;
	if (it.flags & IMG_F_WRITES)
		s->writes = true;
	if (it.type == IMG_T_CODE || it.type == IMG_T_SH)
		s->coded = true;
	if (attached) {
		value = *attached;
		has = true;
	} else if (takes_value(it.type) && !(it.flags & IMG_F_OPTIONAL) &&
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
	/* fd --exec=PROGRAM {} */
	if (it.type == IMG_T_CMD && attached)
		args_value(s, IMG_T_PROG, attached, name);
	if (it.type == IMG_T_CMD || it.type == IMG_T_CMDDATA)
		args_command(s, it, s->i + 1);
	else if (it.type == IMG_T_SUB && has)
		module(s, &value);
	else
		args_value(s, (enum img_type)it.type, has ? &value : NULL, name);
}

/* "-abc": letters until one takes an argument. */
static void cluster(struct scan *s, const struct arg *a)
{
	const char *c = a->s + 1;
	bool strange = false;
	struct item it;

	if (chr_digit(*c) && find(s, IMG_I_DIGITS, NULL).kind) {
		give(s, a->s, NULL);
		return;
	}
	for (; *c; c++) {
		char *name = arena_bytes(s->k->j->arena, 3);
		struct arg rest;

		if (!name)
			return;
		name[0] = '-';
		name[1] = *c;
		name[2] = 0;
		it = find(s, IMG_I_SHORT, name);
		if (!it.kind) {
			give(s, name, NULL);
			/* The first of them tells of all; the last may have
			 * an argument. */
			if (!is_flag(s, *c) && (!strange || !c[1])) {
				args_unknown(s, a, c);
				strange = true;
			}
			continue;
		}
		/* perl -le: a number, if there is one, and more letters. */
		if (it.type == IMG_T_NUM && it.flags & IMG_F_OPTIONAL) {
			give(s, name, NULL);
			while (chr_digit(c[1]))
				c++;
			continue;
		}
		rest = tail(a, (size_t)(c - a->s) + 1);
		/* A shell's -o takes the next word, and more letters follow. */
		if ((takes_value(it.type) || it.flags & IMG_F_OPTIONAL) &&
			!(s->style & IMG_S_SHELL)) {
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
	/* -javaagent:FILE, /logger:FILE */
	size_t n = strcspn(a->s, word ? "=:" : "=");
	const char *eq = a->s[n] ? a->s + n : NULL;
	char *name = arena_bytes(s->k->j->arena, n + 1);
	struct item it = {0};
	struct arg value;

	if (!name)
		return;
	memcpy(name, a->s, n);
	name[n] = '\0';
	if (*name == '/')
		*name = '-';
	if (word)
		it = find(s, IMG_I_WORD, name);
	if (!it.kind && str_after(name, "--"))
		it = find_long(s, name + 2);
	if (!it.kind && word && n == 2)
		it = find(s, IMG_I_SHORT, name);
	if (!it.kind && word)
		it = find(s, IMG_I_PREFIX, a->s);
	if (it.kind) {
		/* gcc -MFfile */
		if (it.kind == IMG_I_PREFIX)
			eq = a->s + (n = it.prefix - 1);
		if (eq)
			value = tail(a, n + 1);
		known(s, it, name, eq ? &value : NULL);
		return;
	}
	give(s, name, eq ? eq + 1 : NULL);
	if (!word || a->s[2] || !is_flag(s, a->s[1]))
		args_unknown(s, a, NULL);
}

static void option(struct scan *s, const struct arg *a)
{
	const bool dashes = str_after(a->s, "--");
	struct item it;

	if (a->s[1] == SHELL_ANY || a->s[1] == SHELL_REL) {
		s->out->unresolved = true;
		args_unknown(s, a, NULL);
		return;
	}
	if (dashes || s->style & IMG_S_WORDS || a->s[0] == '/') {
		long_option(s, a, !dashes);
		return;
	}
	/* -word options exist beside clusters: -exec, -print0 */
	it = find(s, IMG_I_WORD, a->s);
	if (!it.kind)
		it = find(s, IMG_I_PREFIX, a->s);
	if (it.kind)
		known(s, it, a->s, NULL);
	else
		cluster(s, a);
}

static bool is_option(const struct scan *s, const struct arg *a)
{
	if (s->no_options || !a->s[0] || !a->s[1])
		return false;
	return a->s[0] == '-' ||
	       (a->s[0] == '+' && s->style & (IMG_S_SHELL | IMG_S_WORDS)) ||
	       (a->s[0] == '/' && s->style & IMG_S_SLASH);
}

/* tar xPf x.tar: only what must not be there matters, the operands behind it
 * are files either way. */
static void bundle(struct scan *s, const struct arg *a)
{
	for (const char *c = a->s; *c; c++) {
		const char name[3] = {'-', *c, 0};
		struct item it = find(s, IMG_I_SHORT, name);

		give(s, judge_text(s->k->j, name, 2), NULL);
		if (sharp(it.type))
			args_value(s, (enum img_type)it.type, NULL,
				judge_text(s->k->j, name, 2));
	}
}

/* An operand; options end here where they end at the first one. */
static void operand(struct scan *s, const struct arg *a, bool doubtful)
{
	struct item it;

	/* What a shell is told behind its script is the script's; a word that
	 * is not known may be nothing at all, and an option follow. */
	if ((s->style & IMG_S_STOP && !(s->style & IMG_S_WRAPPER)) ||
		(s->style & IMG_S_SHELL && !a->unknown && !a->many))
		s->no_options = true;
	if (find(s, IMG_I_ASSIGN, NULL).kind) {
		if (str_eq(a->s, "-"))
			return; /* env's other -i */
		if (!s->out->operands && strchr(a->s, '=')) {
			args_assign(s, a);
			return;
		}
	}
	s->pos++;
	if (s->pos == 1 && s->shifted)
		s->pos++;
	if (s->pos == 1 ? find_pos(s, 1).type == IMG_T_SUB
			: s->pos == 2 && s->sub)
		subcommand(s, a);
	/* chrt -i CMD: the number may be left out. */
	if (find_pos(s, s->pos).type == IMG_T_NUM && !chr_digit(a->s[0]))
		s->pos++;
	it = find_pos(s, s->pos);
	if (!it.kind)
		it = find(s, IMG_I_REST, NULL);
	if (it.type == IMG_T_CMD || it.type == IMG_T_CMDDATA) {
		args_command(s, it, s->i);
		return;
	}
	s->out->doubtful[s->out->operands] = doubtful;
	s->out->operand[s->out->operands++] = *a;
}

struct item args_item(const struct scan *s, size_t i)
{
	unsigned pos = (unsigned)(i > 98 ? 99 : i + 1) + s->shifted;
	size_t last = s->out->operands - 1;
	struct item it;

	/* What may be no operand at all leaves the one before it the last. */
	if (i < last && s->out->operand[last].many)
		last--;

	it = find_pos(s, pos);
	if (!it.kind)
		it = find(s, IMG_I_PREFIX, s->out->operand[i].s);
	if (!it.kind && i > 0 && i >= last)
		it = find(s, IMG_I_LAST, NULL);
	return it.kind ? it : find(s, IMG_I_REST, NULL);
}

void args_words(struct scan *s)
{
	for (s->i = 1; s->i < s->argc && !s->done; s->i++) {
		const struct arg *a = &s->argv[s->i];
		bool doubtful = s->unknown_before;

		s->unknown_before = false;
		if (a->many)
			s->out->unresolved = true;
		if (!s->no_options &&
			(str_eq(a->s, "--") ||
				(str_eq(a->s, "-") && s->style & IMG_S_SHELL)))
			s->no_options = true;
		else if (is_option(s, a))
			option(s, a);
		else if (s->i == 1 && s->style & IMG_S_BUNDLE && !a->unknown)
			bundle(s, a);
		else
			operand(s, a, doubtful);
	}
}

/* Is there a ".." between slashes, or at an end? */
static bool has_dotdot(const char *s)
{
	for (const char *c = s; (c = str_find(c, "..")); c += 2)
		if ((c == s || c[-1] == '/') && (!c[2] || c[2] == '/'))
			return true;
	return false;
}

/* http://…; behind file:// and git+file:// stands a path, which *s is set to.
 */
static bool is_address(const char **s)
{
	const char *at = *s, *behind;

	while (chr_name(*at) || *at == '+' || *at == '-' || *at == '.')
		at++;
	behind = at > *s ? str_after(at, "://") : NULL;
	if (!behind || at - *s < 4 || memcmp(at - 4, "file", 4) != 0)
		return behind;
	*s = behind;
	return false;
}

/* A value with blanks in it is a path only where it begins like one. */
static bool is_sentence(const char *s)
{
	const char *eq = strchr(s, '=');

	if (!strpbrk(s, " \t\n") || has_dotdot(s))
		return false;
	if (s[0] == '-' && s[1] && s[1] != '-' && s[2] == '/')
		return false;
	/* --out=/x y, but not: a b=/c */
	return s[0] != '/' &&
	       !(eq && eq[1] == '/' && strcspn(s, " \t\n") > (size_t)(eq - s));
}

void judge_path_guess(struct judge_cmd *k, const struct arg *a)
{
	const char *s = a->s;

	if (is_sentence(s))
		return;
	if (s[0] == '-' && s[1] && s[1] != '-' && s[2])
		s += s[2] == '=' ? 3 : 2;
	while (*s && !is_address(&s)) {
		size_t n = strcspn(s, "=:,");
		struct arg piece = judge_arg(k->j, s, n);

		piece.many = a->many;
		piece.glob = a->glob;
		if (piece.s[0] == '/' || has_dotdot(piece.s) ||
			(s == a->s && !k->j->no_project) ||
			strchr(piece.s, '/'))
			judge_path(k, &piece, PATH_GUESS);
		s += n + (s[n] != 0);
	}
}
