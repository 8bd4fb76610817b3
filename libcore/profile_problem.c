/* profile_problem.c - what can be wrong with startup files, and how to say it
 * SPDX-License-Identifier: MIT
 */
#include "profile_problem.h"

#include <string.h>

#include "buf.h"
#include "str.h"

static const struct {
	char name[20];
	const char *why;
} rows[PROBLEM_CODES] = {
	[PROBLEM_MISSING_PATH] = {"missing-path",
		"the program is there, but its name alone does not find it"},
	[PROBLEM_OTHER_SHELL] = {"other-shell",
		"another shell's file has the line; this shell never reads it"},
	[PROBLEM_SYNTAX] = {"syntax",
		"the shell stops reading there, or does not start at all"},
	[PROBLEM_UNCHECKED] = {"unchecked",
		"the shell is not here to say whether the file is right"},
	[PROBLEM_SHADOWED] = {"shadowed",
		"no login shell reads the file while the other one is there"},
	[PROBLEM_LOGIN_SKIPS_BASHRC] = {"login-skips-bashrc",
		"ssh and console logins lack what ~/.bashrc sets"},
	[PROBLEM_PATH_CORRUPT] = {"path-corrupt",
		"an entry of PATH names nothing, or lets others choose what "
		"runs"},
	[PROBLEM_PATH_MULTIPLE] = {"path-multiple",
		"which entry wins depends on the order of these lines"},
	[PROBLEM_PATH_CLOBBER] = {"path-clobber",
		"everything that was on PATH before is lost"},
	[PROBLEM_DANGLING_SOURCE] = {"dangling-source",
		"dash and ash end at once when the file is missing: no login"},
	[PROBLEM_CRLF] = {"crlf",
		"the shell takes the carriage return as part of the word"},
	[PROBLEM_BASHISM] = {"bashism-in-profile",
		"display managers and /bin/sh read the file too"},
	[PROBLEM_EARLY_EXIT] = {"early-exit",
		"the lines behind it are never reached"},
	[PROBLEM_MARKERS] = {"markers-corrupt",
		"no block can be changed while the markers do not pair"},
	[PROBLEM_ORDER_DIFFERS] = {"order-differs",
		"a name may find one program in a login shell and another "
		"elsewhere"},
	[PROBLEM_OUTPUT_NOISE] = {"output-noise",
		"scp, rsync and git over ssh break on text they did not ask "
		"for"},
	[PROBLEM_SLOW] = {"slow", "every new shell waits for it"},
	[PROBLEM_TIMEOUT] = {"timeout", "the shell did not become ready"},
	[PROBLEM_NO_ANSWER] = {"no-answer",
		"the shell ended, or became another one, before it ran a "
		"command"},
	[PROBLEM_PERM] = {"perm",
		"someone else can put commands into your shell"},
	[PROBLEM_SHELL_MISMATCH] = {"shell-mismatch",
		"the files of one shell are changed while another one runs"},
};

void profile_problems_release(struct profile_problems *p)
{
	free(p->problem);
	*p = (struct profile_problems){0};
}

static void cut(char *out, size_t size, const char *text, size_t n)
{
	if (n >= size)
		n = size - 1;
	memcpy(out, text, n);
	out[n] = '\0';
}

FLOATLESS struct profile_problem *profile_problem_add(struct profile_problems *p,
	enum profile_problem_code code, unsigned how, const char *file,
	unsigned line, const char *text, ...)
{
	autobuf struct buf said = BUF_INIT(65536);
	struct profile_problem *grown = NULL, *one;
	const char *detail, *fix;
	va_list ap;

	if (p->count < PROBLEMS_MAX)
		grown = reallocarray(p->problem, p->count + 1, sizeof *grown);
	if (!grown) {
		p->lost++;
		return NULL;
	}
	p->problem = grown;
	one = &grown[p->count++];
	*one = (struct profile_problem){.code = (uint8_t)code,
		.severity = (uint8_t)(how & 15u),
		.fixable = how & PROBLEM_FIXABLE,
		.line = line};
	str_copy(one->file, sizeof one->file, file);
	va_start(ap, text);
	buf_vaddf(&said, text, ap);
	va_end(ap);
	detail = buf_str(&said);
	fix = detail + strcspn(detail, "\036");
	cut(one->detail, sizeof one->detail, detail, (size_t)(fix - detail));
	fix += *fix != '\0';
	cut(one->fix, sizeof one->fix, fix, strlen(fix));
	return one;
}

const char *profile_problem_name(enum profile_problem_code code)
{
	return rows[code].name;
}

const char *profile_problem_why(enum profile_problem_code code)
{
	return rows[code].why;
}

const char *profile_severity_name(enum profile_severity severity)
{
	static const char names[][9] = {"info", "warning", "error", "critical"};

	return names[severity];
}

enum profile_problem_code profile_problem_named(const char *name)
{
	for (unsigned i = 0; i < PROBLEM_CODES; i++) {
		if (str_eq(rows[i].name, name))
			return (enum profile_problem_code)i;
	}
	return PROBLEM_CODES;
}

bool profile_problems_any(const struct profile_problems *p)
{
	for (size_t i = 0; i < p->count; i++) {
		if (p->problem[i].severity > SEVERITY_INFO)
			return true;
	}
	return p->lost;
}
