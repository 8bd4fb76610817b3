/* profile_problem.c - what can be wrong with startup files, and how to say it
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_problem.h"

#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/* In the order of the enum: the name of each, and why it matters. */
static const char texts[] =
	"missing-path\0"
	"its name alone does not find the program\0"
	"other-shell\0"
	"another shell's file has the line; this shell never reads "
	"it\0"
	"syntax\0"
	"the shell stops reading there, or does not start at all\0"
	"unchecked\0"
	"nothing here can say whether the file is right\0"
	"shadowed\0"
	"no login shell reads the file while the other one is there\0"
	"login-skips-bashrc\0"
	"ssh and console logins lack what ~/.bashrc sets\0"
	"path-corrupt\0"
	"an entry of PATH names nothing, or lets others choose "
	"what runs\0"
	"path-multiple\0"
	"which entry wins depends on the order of these lines\0"
	"path-clobber\0"
	"everything that was on PATH before is lost\0"
	"dangling-source\0"
	"dash and ash end at once when the file is missing: no "
	"login\0"
	"crlf\0"
	"the shell takes the carriage return as part of the word\0"
	"bashism-in-profile\0"
	"display managers and /bin/sh read the file too\0"
	"early-exit\0"
	"the lines behind it are never reached\0"
	"markers-corrupt\0"
	"no block can be changed while the markers do not pair\0"
	"order-differs\0"
	"a name may find one program in a login shell and another "
	"elsewhere\0"
	"output-noise\0"
	"scp, rsync and git over ssh break on text they did not "
	"ask for\0"
	"slow\0"
	"every new shell waits for it\0"
	"timeout\0"
	"the shell did not become ready\0"
	"no-answer\0"
	"the shell ended, or became another one, before it ran a "
	"command\0"
	"perm\0"
	"someone else can put commands into your shell\0"
	"shell-mismatch\0"
	"the files of one shell are changed while another one runs\0";

void profile_problems_release(struct profile_problems *p)
{
	free(p->problem);
	*p = (struct profile_problems){0};
}

static void copy_cut(char *out, size_t size, const char *text, size_t n)
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
	copy_cut(one->detail, sizeof one->detail, detail,
		(size_t)(fix - detail));
	fix += *fix != '\0';
	copy_cut(one->fix, sizeof one->fix, fix, strlen(fix));
	return one;
}

const char *profile_problem_name(enum profile_problem_code code)
{
	return str_nth(texts, 2 * (size_t)code);
}

const char *profile_problem_why(enum profile_problem_code code)
{
	return str_nth(texts, 2 * (size_t)code + 1);
}

const char *profile_severity_name(enum profile_severity severity)
{
	static const char names[][9] = {"info", "warning", "error", "critical"};

	return names[severity];
}

enum profile_problem_code profile_problem_named(const char *name)
{
	for (unsigned i = 0; i < PROBLEM_CODES; i++) {
		if (str_eq(profile_problem_name((enum profile_problem_code)i),
			    name))
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
