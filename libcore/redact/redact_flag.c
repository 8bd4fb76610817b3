/* redact_flag.c - the value behind a flag, in text and in arguments
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"
#include "base/str.h"

enum { FLAG_MAX = 48, WORDS = 24 };

/* The secret part of a flag's value. */
enum form {
	FORM_NONE,
	FORM_WEAK = STRENGTH_WEAK, /* all of it, if it looks like a secret */
	FORM_LIKELY = STRENGTH_LIKELY,
	FORM_ALL = STRENGTH_SURE,
	/* the part behind that sign: "user:value" */
	FORM_PERCENT = '%',
	FORM_COMMA = ',',
	FORM_COLON = ':',
	FORM_EQUALS = '=',
};

static bool behind_sign(enum form form)
{
	return form >= FORM_PERCENT;
}

struct flag {
	const char *name;
	size_t n;
	size_t dashes;
};

/* Does the flag at at belong to a program of that line, in a command that
 * begins at from? A word behind a flag may be the flag's value, except behind
 * the "-it" or "--" of "docker exec", where a program follows. */
static bool line_runs(const struct redact_view *v, size_t from, size_t at,
	const struct policy_secret *o)
{
	const bool bare = o->word[0] == '-'; /* nothing but flags between */
	bool program = false, value = false;

	for (size_t i = from, end; i < at; i = end + 1) {
		const char *p = (const char *)v->text + i, *slash;
		const bool flag = *p == '-';
		size_t n;

		for (end = i; end < at && !redact_ends_word(v->text[end]);)
			end++;
		/* A word that began further back is not known. */
		if (end == i || (!v->whole && at - i >= REDACT_BEFORE - 1))
			continue;
		slash = memrchr(p, '/', end - i);
		p = slash ? slash + 1 : p;
		n = end - (size_t)(p - (const char *)v->text);
		if (program && n == strlen(o->word) && !memcmp(p, o->word, n))
			return true;
		if (program && bare)
			program = flag;
		program |= !value && redact_listed(o->programs, p, n, false);
		if (program && !o->word[0])
			return true;
		value = flag && strspn(p, "-it") < n;
	}
	return program && bare;
}

/* The secret part of the value behind the flag; *attached: where it begins in
 * the name, 0: apart. */
static enum form flag_form(const struct redact *r, const struct redact_view *v,
	size_t at, const struct flag *f, size_t *attached)
{
	const unsigned char *name = (const unsigned char *)f->name;
	const unsigned char tail = f->n > 1 && f->n < 7 ? name[f->n - 1] : 0;
	const struct policy_secret *o;
	size_t from = at;
	bool none;

	*attached = 0;
	if (!f->n)
		return FORM_NONE;
	none = redact_marked(r->flagless, name[0]) &&
		redact_marked(r->flagless, tail);
	for (size_t i = 0; !none && (o = redact_line(r, i)); i++) {
		const size_t dashes = 1 + (o->flag[1] == '-');
		const char *flag = o->flag + dashes;
		const bool last = tail == (unsigned char)flag[0] &&
			o->how & POLICY_FLAG_LAST;
		size_t n;
		bool apart;

		/* Most are done with here. */
		if (o->kind != POLICY_SECRET_FLAG || f->dashes != dashes ||
			(name[0] != (unsigned char)flag[0] && !last))
			continue;
		n = strlen(flag);
		apart = last || (f->n == n && o->how & POLICY_FLAG_APART);
		if ((!last && (f->n < n || memcmp(name, flag, n) != 0)) ||
			(!apart && !(o->how & POLICY_FLAG_ATTACHED && f->n > n)))
			continue;
		if (from == at)
			from = redact_begins(v, at, at, REDACT_STOPS);
		if (!line_runs(v, from, at, o))
			continue;
		*attached = apart ? 0 : n;
		return o->sign ? (enum form)o->sign
			: o->likely ? FORM_LIKELY : FORM_ALL;
	}
	if (f->dashes == 2 && (redact_key_is(name, f->n, "user") ||
				redact_key_is(name, f->n, "proxy-user")))
		return FORM_COLON;
	if (f->dashes == 1 && name[0] == 'u') {
		*attached = f->n > 1;
		return FORM_COLON;
	}
	return redact_ends_with(name, f->n, "token")
		? FORM_ALL
		: (enum form)redact_key_strength(r, name, f->n);
}

/* Is it "[--password FILE]" or "--password <file>", which give nothing away? */
static bool usage_text(
	const struct redact_view *v, const struct redact_span *x)
{
	for (size_t i = x->from; i < x->to; i++)
		if (!(redact_bytes[v->text[i]] & (B_UPPER | B_UNDER)))
			return false;
	return x->to < v->n && v->text[x->to] == ']';
}

/* The beginning of the value in "user:value" of curl and its like; 0 for
 * "1000:1000". */
static size_t behind_user(const unsigned char *p, size_t n, char sign)
{
	size_t at;
	bool letter = false;

	for (at = 0; at < n && p[at] != sign; at++)
		if (!(redact_bytes[p[at]] & (B_TOKEN | B_DOT)) &&
			!strchr("@\\/", p[at]))
			return 0;
	if (!at || at + 1 >= n)
		return 0;
	for (size_t k = at + 1; k < n; k++)
		letter |= !(redact_bytes[p[k]] & B_DIGIT);
	/* uid:gid, user:group of the same name, a time */
	if (sign == ':' && (!letter || p[at + 1] == ':' || p[at + 1] == '/' ||
				(n - at - 1 == at && !memcmp(p, p + at + 1, at))))
		return 0;
	at++;
	return redact_placeholder(p + at, n - at) ? 0 : at;
}

/* The beginning of the value behind a flag that ends at i; v->n: not known yet;
 * SIZE_MAX: no value. listed: the flag and the value are quoted elements of a
 * list. */
static size_t behind_flag(
	const struct redact_view *v, size_t i, bool listed, enum form form)
{
	const size_t end = i;

	i += listed;
	if (listed && i < v->n && v->text[i++] != ',')
		return SIZE_MAX;
	if (behind_sign(form) && i < v->n && v->text[i] == '=')
		i++;
	while (i < v->n && (v->text[i] == ' ' || v->text[i] == '\t'))
		i++;
	if (i == v->n)
		return end == i || v->last ? SIZE_MAX : i;
	if (i == end || v->text[i] == '-' ||
		(listed && v->text[i] != v->text[end]))
		return SIZE_MAX;
	return i;
}

/* Takes all parts of cookies into the value. */
static void take_cookies(const struct redact_view *v, struct redact_span *s)
{
	const struct redact_view value = {
		.text = v->text, .n = s->to, .last = true};

	s->to = redact_parts_end(&value, s->from, true);
	s->tail = REDACT_TAIL_OWN;
}

static enum redact_answer take_behind_user(const struct redact_view *v,
	size_t at, size_t i, enum form form, struct redact_span *s)
{
	struct redact_span x;
	enum redact_answer answer = redact_value(v, i, &x);
	size_t user;

	s->mode = x.mode;
	if (answer == REDACT_MORE)
		return redact_undecided(v, s, at, x.from, false);
	user = behind_user(v->text + x.from, x.to - x.from, (char)form);
	if (answer == REDACT_NO || !user)
		return REDACT_NO;
	s->from = x.from + user;
	s->to = x.to;
	if (form == FORM_EQUALS)
		take_cookies(v, s);
	return REDACT_YES;
}

enum redact_answer redact_flag(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	struct flag f = {.dashes = 1};
	size_t i = at + 1, name, attached;
	enum redact_answer answer;
	enum form form;
	bool listed;

	s->kind = KIND_FLAG;
	s->mode = REDACT_MODE_WORD;
	if (at && (redact_bytes[v->text[at - 1]] & (B_WORD | B_DASH)))
		return REDACT_NO;
	if (i < v->n && v->text[i] == '-') {
		f.dashes = 2;
		i++;
	}
	name = i;
	while (i < v->n && i - name < FLAG_MAX &&
		redact_bytes[v->text[i]] & (B_TOKEN | B_DOT))
		i++;
	if (i == v->n && !v->last)
		return redact_wait(v, s, at);
	f.name = (const char *)v->text + name;
	/* "-p'X'": the value's quote is one byte of it. */
	listed = at && i < v->n && v->text[i] == v->text[at - 1] &&
		(v->text[i] == '"' || v->text[i] == '\'');
	f.n = i - name +
		(i < v->n && f.dashes == 1 && v->text[i] > ' ' && !listed);
	form = flag_form(r, v, at, &f, &attached);
	if (form == FORM_NONE)
		return REDACT_NO;
	if (attached)
		i = name + attached;
	else
		i = behind_flag(v, i, listed, form);
	if (i == SIZE_MAX)
		return REDACT_NO;
	if (behind_sign(form))
		return take_behind_user(v, at, i, form, s);
	answer = redact_judge(v, at, i, v->text + name, attached ? 0 : f.n,
		(enum redact_strength)form, s);
	if (answer == REDACT_YES && redact_ends_with((const unsigned char *)
			f.name, f.n, "cookie"))
		take_cookies(v, s);
	return answer == REDACT_YES && usage_text(v, s) ? REDACT_NO : answer;
}

/* Bytes that are looked at: of each word, and of the word in question. */
enum { WORD_CUT = 64, VALUE_CUT = 1024 };

/* The words around argv[i] as a line, with the places of that word and the one
 * before. */
struct line {
	struct redact_view view;
	size_t before, from, to;
	char text[WORDS * (WORD_CUT + 1) + VALUE_CUT + 1];
};

/* Joins the words; blanks within a word become '_'. */
static void join_words(struct line *l, const char *const *argv, size_t argc,
	size_t i)
{
	const size_t first = i > WORDS ? i - WORDS : 0;
	struct buf line = BUF_FIXED(l->text);

	for (size_t k = first; k < argc && k <= first + WORDS; k++) {
		const size_t from = line.len, most = k == i ? VALUE_CUT : WORD_CUT;
		const char *slash = k ? NULL : strrchr(argv[0], '/');

		if (k <= i) {
			l->before = l->from;
			l->from = from;
		}
		for (const char *p = slash ? slash + 1 : argv[k];
			*p && line.len - from < most; p++)
			buf_addc(&line, strchr(" \t\r\n;|&`<>\"'", *p) ? '_' : *p);
		if (k == i)
			l->to = line.len;
		buf_addc(&line, ' ');
	}
	l->view = (struct redact_view){.text = (unsigned char *)l->text,
		.n = line.len, .last = true, .whole = true};
}

/* Do the words around argv[i] make it a secret, and from where on? */
static bool secret_arg(const struct redact *r, const char *const *argv,
	size_t argc, size_t i, size_t *from)
{
	const char *slash = strrchr(argv[0], '/'), *sign = NULL;
	const char *program = slash ? slash + 1 : argv[0];
	const char *before = i ? argv[i - 1] : "", *arg = argv[i];
	const struct redact_view v = {
		.text = (const unsigned char *)program, .n = strlen(program)};
	struct redact_span s = {0};
	bool operand;
	struct line l = {0};

	if (!i)
		return false;
	operand = i <= WORDS && redact_may_begin(r, v.text, v.n) &&
		redact_operand(r, &v, 0, &s) == REDACT_MORE;
	if (str_eq(before, "--from-literal") || str_eq(before, "set") ||
		strncmp(before, "-pass", 5) == 0)
		sign = strpbrk(arg, "=:");
	/* Most are done with here. */
	if (!operand && !sign && arg[0] != '-' && before[0] != '-' &&
		!redact_key_strength(r, (const unsigned char *)before,
			strnlen(before, REDACT_KEY_MAX)))
		return false;
	join_words(&l, argv, argc, i);
	for (unsigned way = 0; way < 5; way++) {
		enum redact_answer answer = REDACT_NO;

		if (way == 0 && operand)
			answer = redact_operand(r, &l.view, 0, &s);
		else if (way == 1 && arg[0] == '-')
			answer = redact_flag(r, &l.view, l.from, &s);
		else if (way == 2 && before[0] == '-')
			answer = redact_flag(r, &l.view, l.before, &s);
		else if (way == 3 && sign && sign - arg < VALUE_CUT)
			answer = redact_assign(r, &l.view,
				l.from + (size_t)(sign - arg), 1, &s);
		else if (way == 4)
			answer = redact_said(r, &l.view, l.from - 1, &s);
		*from = s.from > l.from ? s.from - l.from : 0;
		if (answer == REDACT_YES && s.to > l.from && s.from < l.to)
			return true;
	}
	return false;
}

/* Is argv[i] a text for a shell: behind the name of a shell, or of a program
 * that hands a line to one; or the value of "-c" or of env's "-S"? */
static bool shell_text(const char *const *argv, size_t i)
{
	static const char shells[] =
		"sh\0bash\0dash\0ash\0ksh\0mksh\0zsh\0yash\0busybox\0su\0"
		"ssh\0watch\0parallel\0eval\0";
	const char *before = i ? argv[i - 1] : "";
	const size_t n = strlen(before);

	if (strncmp(argv[i], "-S", 2) == 0 ||
		strncmp(argv[i], "--split-string", 14) == 0 ||
		(n > 1 && before[0] == '-' && before[1] != '-' &&
			strchr("cS", before[n - 1])))
		return true;
	while (i--) {
		const char *slash = strrchr(argv[i], '/');
		const char *name = slash ? slash + 1 : argv[i];

		name += *name == '-';
		EACH (shell, shells)
			if (str_eq(shell, name))
				return true;
	}
	return false;
}

int redact_arg(struct redact *r, const char *const *argv, size_t argc, size_t i,
	struct buf *out)
{
	const unsigned char *arg = (const unsigned char *)argv[i];
	const size_t n = strlen(argv[i]);
	const bool shell = shell_text(argv, i);
	size_t from, to;
	int err;

	if (!secret_arg(r, argv, argc, i, &from))
		return redact_text(r, argv[i], n, shell, out);
	to = strcspn(argv[i] + from, "\r\n") + from;
	to = redact_limit(arg, from, to, shell);
	buf_add(out, argv[i], from);
	err = redact_whole(r, argv[i] + from, to - from, out);
	r->found[KIND_FLAG] += to > from;
	if (err || to == n)
		return err ? err : out->err;
	return redact_text(r, argv[i] + to, n - to, shell, out);
}
