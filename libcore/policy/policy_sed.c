/* policy_sed.c - a sed script: which files it opens, what it runs
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy/policy_judge_in.h"
#include "base/str.h"

/* Steps over a delimited part; at stands behind its first delimiter. */
static const char *part(const char *at, char delim)
{
	bool set = false;

	for (; *at && (set || *at != delim); at++) {
		if (*at == '\n' && !set)
			return NULL;
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '[' && !set && delim != '[')
			set = true;
		else if (*at == ']')
			set = false;
	}
	return *at ? at + 1 : NULL;
}

/* The same without brackets, which mean nothing in a replacement. */
static const char *plain_part(const char *at, char delim)
{
	for (; *at && *at != delim; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : NULL;
}

static const char *address(const char *at)
{
	for (;;) {
		while (*at && strchr(" \t,!~+$0123456789", *at))
			at++;
		if (*at == '/') {
			at = part(at + 1, '/');
		} else if (*at == '\\' && at[1]) {
			at = part(at + 2, at[1]);
		} else {
			return at;
		}
		if (!at)
			return NULL;
		while (*at == 'I' || *at == 'M')
			at++;
	}
}

static const char *file(struct judge_cmd *k, const char *at, enum path_use use)
{
	size_t n;
	struct arg a;

	while (*at == ' ' || *at == '\t')
		at++;
	n = strcspn(at, "\n");
	a = judge_arg(k->j, at, n);
	judge_path(k, &a, use);
	return at + n;
}

static void runs(struct judge_cmd *k)
{
	judge_raise(k, k->j->set[IMG_P_OPAQUE], "code", "the sed script runs a command");
}

static const char *substitute(struct judge_cmd *k, const char *at)
{
	char delim = *at;

	if (!delim || delim == '\n' || delim == '\\')
		return NULL;
	at = part(at + 1, delim);
	at = at ? plain_part(at, delim) : NULL;
	while (at && *at && strchr("gpiImM0123456789ew", *at)) {
		if (*at == 'e')
			runs(k);
		if (*at == 'w')
			return file(k, at + 1, PATH_WRITE);
		at++;
	}
	return at;
}

/* a, i, c: a text that ends with a line not ended by a backslash. */
static const char *text_lines(const char *at)
{
	for (; *at && *at != '\n'; at++)
		if (*at == '\\' && at[1])
			at++;
	return at;
}

static const char *command(struct judge_cmd *k, const char *at)
{
	char c = *at++;

	switch (c) {
	case 's':
		return substitute(k, at);
	case 'y':
		if (!*at)
			return NULL;
		c = *at;
		at = plain_part(at + 1, c);
		return at ? plain_part(at, c) : NULL;
	case 'r':
	case 'R':
		return file(k, at, PATH_READ);
	case 'w':
	case 'W':
		return file(k, at, PATH_WRITE);
	case 'e':
		runs(k);
		return at + strcspn(at, "\n");
	case 'a':
	case 'i':
	case 'c':
		return text_lines(at);
	case ':':
	case 'b':
	case 't':
	case 'T':
		return at + strcspn(at, ";\n}");
	case '#':
		return at + strcspn(at, "\n");
	case 'l':
	case 'L':
	case 'q':
	case 'Q':
		while (*at == ' ' || chr_digit(*at))
			at++;
		return at;
	default:
		return strchr("{}=dDgGhHnNpPxFzv", c) ? at : NULL;
	}
}

void judge_sed(struct judge_cmd *k, const struct arg *text)
{
	const char *at = text->s;

	if (text->unknown)
		judge_raise(k, k->j->set[IMG_P_UNRESOLVED], "unresolved",
			"the sed script is not known before it runs");
	for (;;) {
		while (*at && strchr(" \t\n;", *at))
			at++;
		if (!*at)
			return;
		at = address(at);
		if (at && *at)
			at = command(k, at);
		if (!at) {
			judge_raise(k, k->j->set[IMG_P_OPAQUE], "code",
				"the sed script is not understood");
			return;
		}
	}
}
