/* cli_options.c - reads a command line by its option table
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

struct parse {
	const struct cli_spec *spec;
	void *into;
	int code; /* exit code of a mistake */
	char **argv;
	size_t list_size; /* a list cannot get more values */
};

/* Does a word ask for JSON? For a mistake, words behind it count, too. */
static bool asks_json(char *const *arg)
{
	for (; *arg && !str_eq(*arg, "--"); arg++)
		if (str_eq(*arg, "--json") || str_eq(*arg, "-j"))
			return true;
	return false;
}

/* argv: the arguments with the mistake, or NULL. */
__attribute__((noreturn, format(printf, 4, 0))) static void die_usage(
	const struct cli_spec *spec, int code, char *const *argv,
	const char *fmt, va_list ap)
{
	autobuf struct buf text = BUF_INIT(8192);
	struct diag d = {0};

	text.brief = true;
	buf_vaddf(&text, fmt, ap);
	if (argv && spec->refuse && asks_json(argv)) {
		diag_fail(&d, -EINVAL, "%s", buf_str(&text));
		spec->refuse(code, &d);
		exit(code);
	}
	cli_die(code, "%s; try 'wardbox %s%s--help'", buf_str(&text),
		spec->name, *spec->name ? " " : "");
}

FLOATLESS __attribute__((noreturn, format(printf, 2, 3))) static void
refuse_option(const struct parse *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	die_usage(p->spec, p->code, p->argv, fmt, ap);
	va_end(ap);
}

FLOATLESS void cli_die_usage(const struct cli_spec *spec, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	die_usage(spec, EXIT_USAGE, NULL, fmt, ap);
	va_end(ap);
}

static bool takes_value(const struct cli_opt *o)
{
	return *cli_part(o->text) != '\0';
}

/* Reports a value that does not fit. shown is "--name" or "-x". */
static void check_number(const struct parse *p, int err, const char *shown,
	const char *value, const char *what)
{
	if (err)
		refuse_option(p, "%s: '%s' is %s", shown, value,
			err == -ERANGE ? "out of range" : what);
}

static void store_list(
	const struct parse *p, struct cli_list *list, const char *value)
{
	if (!list->item) {
		list->item = calloc(p->list_size, sizeof *list->item);
		if (!list->item)
			cli_die(p->code, "out of memory");
	}
	list->item[list->count++] = value;
}

static bool is_place(const char *arg)
{
	return str_eq(arg, "DIR") || str_eq(arg, "FILE");
}

static void store_value(const struct parse *p, const struct cli_opt *o,
	const char *shown, const char *value)
{
	union {
		char *bytes;
		bool *flag;
		unsigned *number;
		uint64_t *wide;
		const char **str;
		struct cli_list *list;
	} at = {.bytes = (char *)p->into + o->offset};

	switch ((enum cli_kind)o->kind) {
	case CLI_KIND_FLAG:
		*at.flag = true;
		break;
	case CLI_KIND_STR:
		/* An empty "$UNSET" must not mean that the option was left
		 * out. */
		if (value && !*value && is_place(cli_part(o->text)))
			refuse_option(p, "%s needs a %s, not an empty name",
				shown, cli_part(o->text));
		*at.str = value;
		break;
	case CLI_KIND_UINT:
		check_number(p,
			num_uint(value, 0, o->max ? o->max : UINT32_MAX,
				at.number),
			shown, value, "not a number");
		break;
	case CLI_KIND_SIZE:
		check_number(p, num_size(value, 0, UINT64_MAX, at.wide), shown,
			value, "not a size such as 512M");
		break;
	case CLI_KIND_TIME:
		check_number(p, num_duration(value, 0, INT64_MAX, at.wide),
			shown, value, "not a time such as 1.5s");
		break;
	case CLI_KIND_LIST:
		store_list(p, at.list, value);
		break;
	}
	if (o->some && !(o->kind == CLI_KIND_UINT ? *at.number : *at.wide))
		refuse_option(p, "%s: 0 means nothing here: leave it out",
			shown);
}

static bool is_help(const char *name)
{
	return str_eq(name, "help");
}

static void help_and_exit(const struct parse *p)
{
	autobuf struct buf out = BUF_INIT(1 << 16);

	cli_help(p->spec, &out);
	cli_print(&out);
	exit(EXIT_OK);
}

static void unknown_long(const struct parse *p, const char *name, size_t n)
{
	const struct cli_spec *s = p->spec;
	autofree char *word = strndup(name, n);
	const char *near = NULL;
	unsigned best = n > 3 ? 3 : 2;

	for (size_t i = 0; word && i < s->opt_count; i++) {
		const char *known = s->opts[i].text;
		bool begins = n && strncmp(known, name, n) == 0;
		unsigned far = begins ? 0 : str_distance(word, known, best);

		if (far < best) {
			near = known;
			best = far;
		}
	}
	if (near)
		refuse_option(p, "unknown option --%.*s (is --%s meant?)",
			(int)n, name, near);
	refuse_option(p, "unknown option --%.*s", (int)n, name);
}

/* Takes "--name" or "--name=value" at argv[i]; returns how many words it
 * used. */
static int parse_long(const struct parse *p, int left, char **argv)
{
	const struct cli_spec *s = p->spec;
	const char *name = argv[0] + 2, *value = strchr(name, '=');
	size_t n = value ? (size_t)(value - name) : strlen(name);
	const struct cli_opt *o = NULL;
	char shown[64];
	int used = 1;

	for (size_t i = 0; i < s->opt_count && !o; i++)
		if (strlen(s->opts[i].text) == n &&
			strncmp(s->opts[i].text, name, n) == 0)
			o = &s->opts[i];
	if (!o && !value && is_help(name))
		help_and_exit(p);
	if (!o) {
		unknown_long(p, name, n);
		return 0;
	}
	if (value && !takes_value(o))
		refuse_option(p, "--%s takes no value", o->text);
	if (value) {
		value++;
	} else if (takes_value(o)) {
		if (left < 2)
			refuse_option(p, "--%s needs a %s", o->text,
				cli_part(o->text));
		value = argv[1];
		used = 2;
	}
	store_value(p, o, BUF_PRINT(shown, "--%s", o->text), value);
	return used;
}

static const struct cli_opt *find_letter(const struct cli_spec *s, char c)
{
	for (size_t i = 0; i < s->opt_count; i++)
		if (s->opts[i].letter == c)
			return &s->opts[i];
	return NULL;
}

/* Takes the cluster "-abc" at argv[i]; returns how many words it used. */
static int parse_short(const struct parse *p, int left, char **argv)
{
	for (const char *c = argv[0] + 1; *c; c++) {
		const char shown[3] = {'-', *c, '\0'};
		const struct cli_opt *o = find_letter(p->spec, *c);

		if (!o && *c == 'h')
			help_and_exit(p);
		if (!o) {
			refuse_option(p, "unknown option -%c", *c);
			return 0;
		}
		if (!takes_value(o)) {
			store_value(p, o, shown, NULL);
			continue;
		}
		if (c[1]) {
			store_value(p, o, shown, c + 1);
			return 1;
		}
		if (left < 2)
			refuse_option(p, "-%c needs a %s", *c,
				cli_part(o->text));
		store_value(p, o, shown, argv[1]);
		return 2;
	}
	return 1;
}

/* Moves argv[at..at+n) in front of the operands that begin at first. */
static void rotate_words(char **argv, int first, int at, int n)
{
	for (; n; n--, at++, first++) {
		char *moved = argv[at];

		memmove(argv + first + 1, argv + first,
			(size_t)(at - first) * sizeof *argv);
		argv[first] = moved;
	}
}

int cli_parse(const struct cli_spec *spec, void *into, int argc, char **argv)
{
	struct parse p = {
		.spec = spec,
		.into = into,
		.code = spec->flags & CLI_FAIL_OURS ? EXIT_OURS : EXIT_USAGE,
		.argv = argv,
		.list_size = (size_t)(argc > 0 ? argc : 0) + 1,
	};
	int operands = argc > 0 ? 1 : 0; /* the first operand so far */
	int at = operands;

	if (p.code == EXIT_OURS)
		cli_unwritten(p.code);
	while (at < argc) {
		const char *arg = argv[at];
		int used;

		if (arg[0] != '-' || !arg[1]) {
			if (spec->flags & CLI_COMMAND)
				break;
			at++;
			continue;
		}
		if (str_eq(arg, "--")) {
			rotate_words(argv, operands++, at, 1);
			break;
		}
		if (arg[1] == '-')
			used = parse_long(&p, argc - at, argv + at);
		else
			used = parse_short(&p, argc - at, argv + at);
		rotate_words(argv, operands, at, used);
		operands += used;
		at += used;
	}
	return operands;
}

static void unknown_verb(const struct cli_spec *spec, const char *name)
{
	autobuf struct buf near = BUF_INIT(1024);

	for (size_t i = 0; i < spec->verb_count; i++)
		if (str_distance(name, spec->verbs[i].text, 2) <= 2)
			buf_addf(&near, "%s%s", near.len ? ", " : " (near: ",
				spec->verbs[i].text);
	if (near.len)
		buf_addc(&near, ')');
	cli_die_usage(spec, "unknown verb '%s'%s", name, buf_str(&near));
}

static int run_verb(
	const struct cli_verb *v, void *into, int argc, char **argv)
{
	return v->plain ? v->plain(into) : v->run(into, argc, argv);
}

int cli_verb(const struct cli_spec *spec, void *into, int argc, char **argv,
	int fallback)
{
	if (argc <= 0) {
		if (fallback < 0)
			cli_die_usage(spec, "a verb is needed");
		return run_verb(&spec->verbs[fallback], into, 0, argv);
	}
	for (size_t i = 0; i < spec->verb_count; i++) {
		const char *text = spec->verbs[i].text;

		if (!str_eq(argv[0], text))
			continue;
		if (argc > 1 && !text[strlen(text) + 1])
			cli_die_usage(spec, "'%s' takes no operand", text);
		return run_verb(&spec->verbs[i], into, argc, argv);
	}
	unknown_verb(spec, argv[0]);
	return EXIT_USAGE;
}
