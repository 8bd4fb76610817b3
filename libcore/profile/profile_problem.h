/* profile_problem.h - what can be wrong with startup files, and how to say it
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROFILE_PROBLEM_H
#define WARDBOX_PROFILE_PROBLEM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum profile_problem_code {
	PROBLEM_MISSING_PATH,
	PROBLEM_OTHER_SHELL,
	PROBLEM_SYNTAX,
	PROBLEM_UNCHECKED,
	PROBLEM_SHADOWED,
	PROBLEM_LOGIN_SKIPS_BASHRC,
	PROBLEM_PATH_CORRUPT,
	PROBLEM_PATH_MULTIPLE,
	PROBLEM_PATH_CLOBBER,
	PROBLEM_DANGLING_SOURCE,
	PROBLEM_CRLF,
	PROBLEM_BASHISM,
	PROBLEM_EARLY_EXIT,
	PROBLEM_MARKERS,
	PROBLEM_ORDER_DIFFERS,
	PROBLEM_OUTPUT_NOISE,
	PROBLEM_SLOW,
	PROBLEM_TIMEOUT,
	PROBLEM_NO_ANSWER,
	PROBLEM_PERM,
	PROBLEM_SHELL_MISMATCH,
	PROBLEM_CODES,
};

enum profile_severity {
	SEVERITY_INFO, /* worth knowing; not counted as a problem */
	SEVERITY_WARNING,
	SEVERITY_ERROR,
	SEVERITY_CRITICAL,
};

struct profile_problem {
	uint8_t code, severity;
	bool fixable;    /* 'profile fix CODE' repairs it */
	char file[1024]; /* "" when it is no file's */
	unsigned line;   /* 0: none */
	/* MISSING_PATH: what is to be added; SHADOWED: the file that hides
	 * this one; else "". */
	char dir[1024];
	char detail[256];
	char fix[384]; /* the exact next step */
};

enum { PROBLEMS_MAX = 256 };

/* On the heap; what does not fit is counted. */
struct profile_problems {
	struct profile_problem *problem;
	size_t count, lost;
};

void profile_problems_release(struct profile_problems *p);

/* Appends one; NULL when there is no room. how is the severity, with
 * PROBLEM_FIXABLE added when 'profile fix' repairs it; text the detail and,
 * behind a "\036", the next step. */
enum { PROBLEM_FIXABLE = 16 };
__attribute__((format(printf, 6, 7))) struct profile_problem *
profile_problem_add(struct profile_problems *p, enum profile_problem_code code,
	unsigned how, const char *file, unsigned line, const char *text, ...);

const char *profile_problem_name(enum profile_problem_code code);
/* Why it matters: a line. */
const char *profile_problem_why(enum profile_problem_code code);
const char *profile_severity_name(enum profile_severity severity);
/* PROBLEM_CODES when there is no such code. */
enum profile_problem_code profile_problem_named(const char *name);

/* Worth an exit code of 1? */
bool profile_problems_any(const struct profile_problems *p);

#endif
