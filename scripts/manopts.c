/* manopts.c - keeps the OPTIONS of a man page equal to the option table
 * SPDX-License-Identifier: MIT
 *
 * manopts APPLET PAGE [--check]: rewrites what stands between the two marker
 * comments, or only says by its exit code whether it differs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "applet.h"
#include "base/str.h"

static const char begin[] = ".\\\" options begin\n";
static const char end[] = ".\\\" options end\n";

const struct applet_name *applet_find(const char *name)
{
	for (size_t i = 0; i < applet_names_count; i++)
		if (str_eq(applet_names[i].name, name))
			return &applet_names[i];
	return NULL;
}

/* A text line of mdoc: nothing in it may look like a request or an escape. */
static void add_text(struct buf *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		buf_adds(out, "\\&");
	for (; *text; text++)
		buf_adds(out, *text == '\\' ? "\\e" : (char[]){*text, 0});
	buf_addc(out, '\n');
}

static void add_item(struct buf *out, const struct cli_opt *o)
{
	const char *arg = cli_part(o->text);

	buf_adds(out, ".It ");
	if (o->letter)
		buf_addf(out, "Fl %c , ", o->letter);
	buf_addf(out, "Fl \\-%s", o->text);
	if (*arg)
		buf_addf(out, " Ns = Ns Ar %s", arg);
	buf_addc(out, '\n');
	add_text(out, cli_part(arg));
}

static void add_options(struct buf *out, const struct cli_spec *spec)
{
	if (spec->verb_count) {
		buf_adds(out, ".Pp\nVerbs:\n.Bl -tag -width Ds\n");
		for (size_t i = 0; i < spec->verb_count; i++) {
			const char *args = cli_part(spec->verbs[i].text);

			buf_addf(out, ".It Cm %s", spec->verbs[i].text);
			if (*args)
				buf_addf(out, " Ar \"%s\"", args);
			buf_addc(out, '\n');
			add_text(out, cli_part(args));
		}
		buf_adds(out, ".El\n.Pp\nOptions:\n");
	}
	buf_adds(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < spec->opt_count; i++)
		add_item(out, &spec->opts[i]);
	buf_adds(out, ".It Fl \\-help\nprint a summary\n.El\n");
}

int main(int argc, char **argv)
{
	static char page[1 << 20];
	autobuf struct buf out = BUF_INIT(1 << 20);
	const struct applet_name *found;
	char *from, *to;
	FILE *f;

	if (argc < 3 || !(found = applet_find(argv[1]))) {
		/* An applet that is configured out has no table to compare. */
		return argc < 3;
	}
	f = fopen(argv[2], "r");
	if (!f || fread(page, 1, sizeof page - 1, f) == 0) {
		fprintf(stderr, "manopts: cannot read %s\n", argv[2]);
		return 1;
	}
	fclose(f);
	from = strstr(page, begin);
	to = strstr(page, end);
	if (!from || !to || to < from) {
		fprintf(stderr, "manopts: %s has no options markers\n", argv[2]);
		return 1;
	}
	from += strlen(begin);
	buf_add(&out, page, (size_t)(from - page));
	add_options(&out, found->applet->cli);
	buf_adds(&out, to);
	if (argc > 3)
		return strcmp(buf_str(&out), page) != 0;
	f = fopen(argv[2], "w");
	return !f || fputs(buf_str(&out), f) < 0 || fclose(f) != 0;
}
