/* cli.h - options, help, messages: the only module that prints or exits
 * SPDX-License-Identifier: MIT
 *
 * One const table per applet feeds the parser, --help, the OPTIONS of the man
 * page and the completions.
 *
 *	struct envrun {
 *		bool json;
 *		const char *shell;
 *		uint64_t timeout;
 *	};
 *	static const struct cli_opt opts[] = {
 *		CLI_FLAG('j', struct envrun, json, "json", "print facts as JSON"),
 *		CLI_STR('s', struct envrun, shell, "shell", "PATH", "use PATH"),
 *		CLI_TIME(0, struct envrun, timeout, "timeout", "S", "stop after S"),
 *	};
 *
 * A field of the wrong type does not compile.
 */
#ifndef WARDBOX_CLI_H
#define WARDBOX_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/json.h"

/* Exit codes of applets that run nothing. */
enum {
	EXIT_OK = 0,
	EXIT_FOUND = 1, /* problems found, or nothing matched */
	EXIT_USAGE = 2,
};
/* Exit codes around a command that is to run. */
enum {
	EXIT_TIMEOUT = 124,
	EXIT_OURS = 125,   /* wardbox itself failed, and nothing ran */
	EXIT_DENIED = 126, /* denied by policy, or not executable */
	EXIT_NOTFOUND = 127,
};

enum cli_kind {
	CLI_KIND_FLAG,  /* bool */
	CLI_KIND_STR,   /* const char * */
	CLI_KIND_UINT,  /* unsigned, decimal */
	CLI_KIND_SIZE,  /* uint64_t bytes: 512M */
	CLI_KIND_TIME,  /* uint64_t nanoseconds: 1.5s */
	CLI_KIND_LIST,  /* struct cli_list: repeatable */
};

/* The values of a repeatable option, in order; slices of argv. */
struct cli_list {
	const char **item;
	size_t count;
};

struct cli_opt {
	char letter; /* 0 for none */
	uint8_t kind;
	uint16_t offset;
	/* UINT: the largest accepted value (0: no bound) */
	uint32_t max : 31;
	uint32_t some : 1; /* UINT, SIZE, TIME: 0 is a mistake */
	const char *text; /* long name NUL argument name NUL help */
};

/* Added to max: 0 makes no sense as a value. */
#define CLI_SOME 0x80000000U
#define CLI_FIELD_(type, field, ctype)                                         \
	((uint16_t)(_Generic(&((type *)0)->field, ctype *: offsetof(type, field))))
#define CLI_ROW_(letter, kind, type, field, ctype, max, name, arg, help)       \
	{                                                                      \
		letter, kind, CLI_FIELD_(type, field, ctype),                  \
			(max) & ~CLI_SOME, !!((max) & CLI_SOME),               \
			name "\0" arg "\0" help                                \
	}
#define CLI_FLAG(l, type, field, name, help)                                   \
	CLI_ROW_(l, CLI_KIND_FLAG, type, field, bool, 0, name, "", help)
#define CLI_STR(l, type, field, name, arg, help)                               \
	CLI_ROW_(l, CLI_KIND_STR, type, field, const char *, 0, name, arg, help)
#define CLI_UINT(l, type, field, max, name, arg, help)                         \
	CLI_ROW_(l, CLI_KIND_UINT, type, field, unsigned, max, name, arg, help)
#define CLI_SIZE(l, type, field, name, arg, help)                              \
	CLI_ROW_(l, CLI_KIND_SIZE, type, field, uint64_t, 0, name, arg, help)
#define CLI_TIME(l, type, field, name, arg, help)                              \
	CLI_ROW_(l, CLI_KIND_TIME, type, field, uint64_t, 0, name, arg, help)
#define CLI_SOME_SIZE(l, type, field, name, arg, help)                         \
	CLI_ROW_(l, CLI_KIND_SIZE, type, field, uint64_t, CLI_SOME, name, arg, \
		help)
#define CLI_SOME_TIME(l, type, field, name, arg, help)                         \
	CLI_ROW_(l, CLI_KIND_TIME, type, field, uint64_t, CLI_SOME, name, arg, \
		help)
#define CLI_LIST(l, type, field, name, arg, help)                              \
	CLI_ROW_(l, CLI_KIND_LIST, type, field, struct cli_list, 0, name, arg, \
		help)

/* The next of the packed parts of an option's or a verb's text. */
static inline const char *cli_part(const char *text)
{
	while (*text++)
		;
	return text;
}

/* A verb of an applet: "dump", "[FILE...]", and what it does. */
struct cli_verb {
	const char *text; /* name NUL arguments NUL help */
	/* One of them: argv[0] is the verb; plain takes no operand. */
	int (*run)(void *into, int argc, char **argv);
	int (*plain)(void *into);
};
#define CLI_VERB(fn, name, args, help)                                         \
	{                                                                      \
		name "\0" args "\0" help,                                      \
			_Generic(fn, int (*)(void *): NULL, default: fn),      \
			_Generic(fn, int (*)(void *): fn, default: NULL)       \
	}

enum {
	/* The first operand ends the options, because a command follows. */
	CLI_COMMAND = 1,
	/* An unknown option, a bad value or output that cannot be written is
	 * wardbox's own failure and not a command's code: 125. */
	CLI_FAIL_OURS = 2,
};

struct cli_spec {
	const char *name;
	const char *usage;   /* the text behind the name: "[OPTION...] --
			      * COMMAND..." */
	const char *about;   /* a line or two, each <= 78 columns */
	const char *example; /* lines of "command" or "command  # what for" */
	const struct cli_opt *opts;
	size_t opt_count;
	const struct cli_verb *verbs;
	size_t verb_count;
	unsigned flags;
	/* Prints a mistake if --json asks for that; NULL: as usual. */
	void (*refuse)(int code, const struct diag *d);
};

/* The tables of a spec. */
#define CLI_OPTS(table) .opts = (table), .opt_count = ARRAY_SIZE(table)
#define CLI_VERBS(table) .verbs = (table), .verb_count = ARRAY_SIZE(table)

/* Parses argv[1..] into *into, permuting so that the operands stand last.
 * --help prints and exits 0; a mistake prints one line and exits 2 (125 with
 * CLI_FAIL_OURS). Returns the index of the first operand; argc when there is
 * none. Short clusters, -ovalue, -o value, --long=value, --long value, "--".
 * Abbreviated long options are refused, naming the full ones. Lists are
 * allocated once and live until the process ends. */
int cli_parse(const struct cli_spec *spec, void *into, int argc, char **argv);

/* Runs the verb named by argv[0], or fallback (an index) when argc is 0.
 * Unknown verbs print the nearest ones and give EXIT_USAGE. */
int cli_verb(const struct cli_spec *spec, void *into, int argc, char **argv,
	int fallback);

/* Prints the whole help text of an applet to out. */
void cli_help(const struct cli_spec *spec, struct buf *out);

/* The name in messages: set once by main to "wardbox APPLET" or the alias's
 * name. */
void cli_name(const char *name);

/* Writes "name: text" to stderr, in one write. */
__attribute__((format(printf, 1, 2))) void cli_warn(const char *fmt, ...);
/* The same, then exit(code). */
__attribute__((noreturn, format(printf, 2, 3))) void cli_die(
	int code, const char *fmt, ...);
/* Writes "name: file:line:col: text" and, if there is one, " hint" on a second
 * line. */
void cli_diag(const struct diag *d);
/* The same in one write to fd; bytes that do not get through are lost. */
void cli_diag_to(int fd, const struct diag *d);
/* Says so in d, where the cause is that this is a guarded command. */
void cli_hint_inside(struct diag *d);
__attribute__((noreturn)) void cli_die_diag(int code, const struct diag *d);
/* Writes the text and "try 'wardbox NAME --help'", and exits with
 * EXIT_USAGE. */
__attribute__((noreturn, format(printf, 2, 3))) void cli_die_usage(
	const struct cli_spec *spec, const char *fmt, ...);

/* Writes all of out to fd 1; a failure (closed, full) ends with a message and
 * code 1, EPIPE silently. Clears out. */
void cli_print(struct buf *out);
/* The same for the text of j, after everything open is closed. */
void cli_print_json(struct json *j);
/* Sets the code for failed output, in applets where EXIT_FOUND means something
 * else. */
void cli_unwritten(int code);

/* May stdout carry colour? A terminal, TERM not "dumb", NO_COLOR unset. */
bool cli_colour(int fd);
/* The terminal's sequence for an SGR code, "0" or "1;31"; "" when colour is
 * off. */
const char *cli_sgr(bool on, const char *code);

/* Columns of the terminal on fd, or 80. */
unsigned cli_columns(int fd);

/* Appends s so that a terminal only shows it: control bytes, broken UTF-8 and
 * hidden characters become \xHH or \uHHHH. */
void cli_escape(struct buf *out, const char *s, size_t n);
void cli_escape_str(struct buf *out, const char *s);

/* Asks on /dev/tty, "question [y/N] ". 1 yes, 0 no, -ENXIO without a terminal. */
int cli_ask(const char *question);

#endif
