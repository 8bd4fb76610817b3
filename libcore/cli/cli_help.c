/* cli_help.c - --help, drawn from the option table within 80 columns
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <string.h>

#include "base/str.h"

enum { HELP_WIDTH = 80, HELP_INDENT = 28 };

/* Adds text from column HELP_INDENT on, breaking at blanks; used columns of the
 * line are taken. */
static void add_wrapped(struct buf *out, size_t used, const char *text)
{
	size_t column = HELP_INDENT;

	if (used + 2 > HELP_INDENT)
		buf_addf(out, "\n%*s", HELP_INDENT, "");
	else
		buf_addf(out, "%*s", (int)(HELP_INDENT - used), "");
	while (*text) {
		size_t n = strcspn(text, " ");
		bool first = column == HELP_INDENT;

		if (!first && column + 1 + n >= HELP_WIDTH) {
			buf_addf(out, "\n%*s", HELP_INDENT, "");
			column = HELP_INDENT;
		} else if (!first) {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, text, n);
		column += n;
		text += n;
		text += strspn(text, " ");
	}
	buf_addc(out, '\n');
}

static void add_option(struct buf *out, const struct cli_opt *o)
{
	const char *arg = cli_part(o->text), *help = cli_part(arg);
	size_t before = out->len;

	if (o->letter)
		buf_addf(out, "  -%c, --%s", o->letter, o->text);
	else
		buf_addf(out, "      --%s", o->text);
	if (*arg)
		buf_addf(out, "=%s", arg);
	add_wrapped(out, out->len - before, help);
}

static void add_verb(struct buf *out, const struct cli_verb *v)
{
	const char *args = cli_part(v->text), *help = cli_part(args);
	size_t before = out->len;

	buf_addf(out, "  %s%s%s", v->text, *args ? " " : "", args);
	add_wrapped(out, out->len - before, help);
}

/* Adds each line of text, indented by two. */
static void add_indented(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		buf_adds(out, "  ");
		buf_add(out, text, n);
		buf_addc(out, '\n');
		text += n + (text[n] == '\n');
	}
}

void cli_help(const struct cli_spec *spec, struct buf *out)
{
	static const struct cli_opt help = {
		'h', 0, 0, 0, 0, "help\0\0print this text"};
	bool own_letter = false;

	buf_addf(out, "Usage: wardbox%s%s%s%s\n%s\n", *spec->name ? " " : "",
		spec->name, *spec->usage ? " " : "", spec->usage, spec->about);
	if (spec->verb_count)
		buf_adds(out, "\nVerbs:\n");
	for (size_t i = 0; i < spec->verb_count; i++)
		add_verb(out, &spec->verbs[i]);
	buf_adds(out, "\nOptions:\n");
	for (size_t i = 0; i < spec->opt_count; i++) {
		add_option(out, &spec->opts[i]);
		own_letter |= spec->opts[i].letter == 'h';
	}
	if (own_letter || !spec->opt_count)
		buf_adds(out, "      --help                print this text\n");
	else
		add_option(out, &help);
	if (spec->example && *spec->example) {
		buf_adds(out, "\nExample:\n");
		add_indented(out, spec->example);
	}
}
