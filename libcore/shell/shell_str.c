/* shell_str.c - texts of shell code, and values that may not be known
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/str.h"
#include "shell/shell_walk.h"

bool shell_str_eq(struct shell_str a, struct shell_str b)
{
	return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

bool shell_str_is(struct shell_str s, const char *text)
{
	if (!s.n || s.p[0] != text[0])
		return !s.n && !text[0];
	return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

bool shell_str_in(struct shell_str s, const char *words)
{
	const char *at = s.n && !memchr(s.p, ' ', s.n)
				 ? memmem(words, strlen(words), s.p, s.n)
				 : NULL;

	while (at && (at[-1] != ' ' || at[s.n] != ' '))
		at = memmem(at + 1, strlen(at + 1), s.p, s.n);
	return at;
}

bool shell_str_has(struct shell_str s, const char *bytes)
{
	while (s.n && *bytes)
		if (memchr(s.p, *bytes++, s.n))
			return true;
	return false;
}

int shell_str_number(struct shell_str s)
{
	int n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (!chr_digit(s.p[i]))
			return -1;
		n = n < SHELL_MAX_NUMBER ? 10 * n + (s.p[i] - '0') : n;
	}
	return s.n ? n : -1;
}

size_t shell_str_name(struct shell_str s)
{
	size_t n = 0;

	while (n < s.n && (n ? chr_name(s.p[n]) : chr_name1(s.p[n])))
		n++;
	return n;
}

size_t shell_str_assigns(struct shell_str s, size_t name)
{
	size_t op = name < s.n && s.p[name] == '+';

	return name + op < s.n && s.p[name + op] == '=' ? op + 1 : 0;
}

bool shell_str_unknown(struct shell_str s, bool rel)
{
	return shell_str_has(s, rel ? SHELL_REL_S SHELL_ANY_S SHELL_NUM_S
				    : SHELL_ANY_S);
}

struct shell_str shell_val_prefix(struct shell_str text)
{
	size_t n = 0;

	while (n < text.n && text.p[n] != SHELL_ANY && text.p[n] != SHELL_REL &&
		text.p[n] != SHELL_NUM)
		n++;
	return (struct shell_str){text.p, n};
}

const struct shell_str *shell_val_text(const struct shell_val *v)
{
	return v && v->kind == SHELL_CONST && !v->many ? &v->text : NULL;
}

