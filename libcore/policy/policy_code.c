/* policy_code.c - code that stands in an argument
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy/policy_judge_in.h"
#include "base/str.h"

static bool word_char(char c)
{
	return chr_name(c) || c == '-';
}

/* ".format(" is a method, whatever program has that name. */
static bool is_method(const char *code, const char *at, const char *end)
{
	return at > code && at[-1] == '.' && *end == '(';
}

/* A quoted text that begins like a path: open("/etc/x"). */
static void literal_path(struct judge_cmd *k, const char *at)
{
	const char *s = at + 1 + strspn(at + 1, "<>+ ");
	size_t n = strcspn(s, "\"'` \t\n;|<>(){}");
	struct arg a = judge_arg(k->j, s, n);

	if (s[n] != *at || n < 2 || (s[0] == '/' && !chr_alpha(s[1])))
		return;
	if (s[0] == '/' || str_after(s, "../") || str_eq(a.s, ".."))
		judge_path(k, &a, PATH_READ);
}

/* The next word from *at on, which is behind it then; NULL: there is none. */
static const char *next_word(struct judge *j, const char **at, const char **from)
{
	const char *s = *at, *end;

	while (*s && !word_char(*s))
		s++;
	for (end = s; word_char(*end);)
		end++;
	*from = s;
	*at = end;
	j->work++;
	return end > s ? judge_text(j, s, (size_t)(end - s)) : NULL;
}

void judge_code(struct judge_cmd *k, const struct arg *text)
{
	struct judge *j = k->j;
	const char *code = text->s, *at = code, *from, *word;

	if (text->unknown)
		judge_raise(k, j->set[IMG_P_OPAQUE], "dynamic",
			"the code is not known before it runs");
	if (strchr(code, '`'))
		judge_raise(k, j->set[IMG_P_OPAQUE], "code",
			"the code may start programs");
	for (const char *c = code; (c = strpbrk(c, "\"'")); c++)
		literal_path(k, c);
	while ((word = next_word(j, &at, &from))) {
		if (!is_method(code, from, at) &&
			judge_listed(j, LIST_CODE_DENY, word))
			judge_raise(k, k->j->set[IMG_P_OPAQUE], "code",
				"the code names the blocked program %s", word);
		else if (judge_listed(j, LIST_CODE_ASK, word))
			judge_raise(k, j->set[IMG_P_OPAQUE], "code",
				"the code uses %s: what it starts or reaches "
				"is not seen",
				word);
	}
}

/* Would a command begin here, in whatever language this is? */
static bool begins_command(const char *text, const char *at)
{
	if (at > text && (at[-1] == '"' || at[-1] == '\''))
		return true;
	while (at > text && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at == text || strchr(";|&({`!", at[-1]);
}

void judge_embedded(struct judge_cmd *k, const char *text)
{
	const char *at = text, *from, *word;

	if (!strpbrk(text, " \t"))
		return;
	while ((word = next_word(k->j, &at, &from)))
		if ((*at == ' ' || *at == '\t') && begins_command(text, from) &&
			judge_listed(k->j, LIST_CODE_DENY, word))
			judge_raise(k, k->j->set[IMG_P_OPAQUE], "code",
				"an argument runs the blocked program %s",
				word);
}

/* The code is in a string that another language runs as a command. */
static void command_text(
	struct judge_cmd *k, const char *s, size_t n, bool piped)
{
	autobuf struct buf b = BUF_INIT(JUDGE_ARENA);
	struct arg a;

	/* What a pipe gives it is not seen. */
	buf_addf(&b, piped ? ": | {\n%.*s\n}" : "%.*s", (int)n, s);
	a = (struct arg){.s = judge_text(k->j, buf_str(&b), b.len)};
	judge_sh(k, &a, NULL, 0, SHELL_UNION);
}

void judge_editor(struct judge_cmd *k, const struct arg *text)
{
	size_t n;

	for (const char *at = text->s; *at; at += n + (at[n] != 0)) {
		const char *shell = at + strspn(at, ":%$.,'<>\\0123456789");
		struct arg word;

		n = strcspn(at, " \t\n|;");
		if (*shell == '!' && !strchr("=<>", shell[1])) {
			n = strcspn(shell, "\n");
			word = judge_arg(k->j, shell + 1, n - 1);
			judge_sh(k, &word, NULL, 0, SHELL_UNION);
			at = shell;
			continue;
		}
		word = judge_arg(k->j, at, n);
		if (at > text->s && at[-1] != '\n' &&
			(str_after(word.s, "../") || *word.s == '~' ||
				(word.s[0] == '/' && word.s[1] &&
					strchr(word.s + 2, '/'))))
			judge_path(k, &word, PATH_WRITE);
	}
}

struct awk {
	struct judge_cmd *k;
	const char *at;
	const char *str; /* the string literal just passed, or NULL */
	size_t str_len;
	bool operand; /* the token before ends an operand: '/' divides */
	bool print;   /* within a print statement */
	unsigned parens;
};

static void awk_string(struct awk *w)
{
	const char *s = ++w->at;

	while (*w->at && *w->at != '"')
		w->at += w->at[0] == '\\' && w->at[1] ? 2 : 1;
	w->str = s;
	w->str_len = (size_t)(w->at - s);
	w->at += *w->at == '"';
	w->operand = true;
	if (str_after(s, "/inet"))
		judge_raise(w->k, w->k->j->set[IMG_P_OPAQUE], "net", "awk opens a connection");
}

/* "a" "b" is one text, and not known by its end. */
static void awk_literal(struct awk *w)
{
	bool joined = w->operand;

	awk_string(w);
	if (joined)
		w->str = NULL;
}

static void awk_regex(struct awk *w)
{
	bool set = false;

	for (w->at++; *w->at && (set || *w->at != '/'); w->at++) {
		if (*w->at == '\\' && w->at[1])
			w->at++;
		else if (*w->at == '[')
			set = true;
		else if (*w->at == ']')
			set = false;
	}
	w->at += *w->at == '/';
	w->operand = true;
	w->str = NULL;
}

/* A string literal that comes next; else the target is computed. */
static bool awk_next_string(struct awk *w)
{
	while (chr_space(*w->at) || *w->at == '(')
		w->at++;
	if (*w->at != '"')
		return false;
	awk_string(w);
	while (chr_space(*w->at))
		w->at++;
	/* "a" "b" is put together: not this text alone. */
	return !*w->at || strchr(";}\n)|,", *w->at);
}

/* A command, known only when it is a text without a backslash. */
static void awk_starts(struct awk *w, const char *cmd, size_t n, bool piped)
{
	if (cmd && !memchr(cmd, '\\', n))
		command_text(w->k, cmd, n, piped);
	else
		judge_raise(w->k, w->k->j->set[IMG_P_OPAQUE], "code",
			"awk starts a command that is computed");
}

static void awk_run(struct awk *w, bool piped)
{
	const char *cmd = awk_next_string(w) ? w->str : NULL;

	awk_starts(w, cmd, w->str_len, piped);
}

static void awk_file(struct awk *w, enum path_use use)
{
	struct arg a = {0};

	if (!awk_next_string(w) || memchr(w->str, '\\', w->str_len)) {
		judge_raise(w->k, w->k->j->set[IMG_P_OPAQUE], "code",
			"awk opens a file whose name is computed");
		return;
	}
	a.s = judge_text(w->k->j, w->str, w->str_len);
	if (!str_eq(a.s, "-"))
		judge_path(w->k, &a, use);
}

/* ARGV[1] = …: a file to be read. */
static void awk_operand(struct awk *w)
{
	const char *s = strchr(w->at, ']');

	if (*w->at != '[' || !s)
		return;
	while (chr_space(*++s))
		;
	if (*s == '=' && s[1] != '=') {
		w->at = s + 1;
		awk_file(w, PATH_READ);
	}
}

static void awk_word(struct awk *w)
{
	const char *s = w->at, *word;

	while (chr_name(*w->at))
		w->at++;
	word = judge_text(w->k->j, s, (size_t)(w->at - s));
	w->operand = true;
	w->str = NULL;
	switch (str_index("system\0print\0printf\0ARGV\0getline\0", word)) {
	case 0:
		awk_run(w, false);
		break;
	case 1:
	case 2:
		w->print = true;
		w->parens = 0;
		w->operand = false;
		break;
	case 3:
		awk_operand(w);
		break;
	case 4:
		while (chr_space(*w->at))
			w->at++;
		while (chr_name(*w->at))
			w->at++;
		while (chr_space(*w->at))
			w->at++;
		if (*w->at == '<') {
			w->at++;
			awk_file(w, PATH_READ);
		}
		break;
	default:
		break;
	}
}

static void awk_pipe(struct awk *w)
{
	const char *cmd = w->str;
	size_t n = w->str_len;

	w->at++;
	if (*w->at == '|') {
		w->at++;
		w->operand = false;
		return;
	}
	w->at += *w->at == '&';
	while (chr_space(*w->at))
		w->at++;
	if (strncmp(w->at, "getline", 7) != 0)
		awk_run(w, true);
	else
		awk_starts(w, cmd, n, false);
}

static void awk_sign(struct awk *w)
{
	char c = *w->at;

	if (c == '|') {
		awk_pipe(w);
		return;
	}
	w->at++;
	if (c == '>' && w->print && w->parens == 0) {
		w->at += *w->at == '>';
		awk_file(w, PATH_WRITE);
		return;
	}
	if (c == '@')
		judge_raise(w->k, w->k->j->set[IMG_P_OPAQUE], "code",
			"awk loads code or calls by name");
	if (c == '(')
		w->parens++;
	if (c == ')' && w->parens)
		w->parens--;
	if (c == ';' || c == '}' || c == '\n')
		w->print = false;
	w->operand = c == ')' || c == ']' || c == '$';
	w->str = NULL;
}

void judge_awk(struct judge_cmd *k, const struct arg *text)
{
	struct awk w = {.k = k, .at = text->s};

	if (text->unknown) {
		judge_raise(k, k->j->set[IMG_P_OPAQUE], "dynamic",
			"the awk program is not known before it runs");
		return;
	}
	while (*w.at) {
		char c = *w.at;

		if (c == '"')
			awk_literal(&w);
		else if (c == '#')
			w.at += strcspn(w.at, "\n");
		else if (c == '/' && !w.operand)
			awk_regex(&w);
		else if (chr_name(c))
			awk_word(&w);
		else if (c == ' ' || c == '\t' || c == '\\')
			w.at++;
		else
			awk_sign(&w);
	}
}
