/* completion.c - completions for the shells, from the option tables
 * SPDX-License-Identifier: MIT
 */
#include "toplevel.h"

#include <string.h>

#include "applet.h"
#include "base/str.h"

/* Words that may follow an applet's name: its verbs and long options. */
static void add_words(struct buf *out, const struct cli_spec *s)
{
	for (size_t i = 0; i < s->verb_count; i++)
		buf_addf(out, "%s ", s->verbs[i].text);
	for (size_t i = 0; i < s->opt_count; i++)
		buf_addf(out, "--%s ", s->opts[i].text);
	buf_adds(out, "--help");
}

/* Lists the possible first words: applets, and the options of wardbox
 * itself. */
static void add_names(struct buf *out, const struct cli_spec *top)
{
	for (size_t i = 0; i < applet_names_count; i++)
		if (applet_names[i].about)
			buf_addf(out, "%s ", applet_names[i].name);
	add_words(out, top);
}

static void add_bash(struct buf *out, const struct cli_spec *top)
{
	buf_adds(out, "_wardbox() {\n"
		      "\tlocal words cur=${COMP_WORDS[COMP_CWORD]}\n"
		      "\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < applet_names_count; i++) {
		if (!applet_names[i].about)
			continue;
		buf_addf(out, "\t%s) words='", applet_names[i].name);
		add_words(out, applet_names[i].applet->cli);
		buf_adds(out, "' ;;\n");
	}
	buf_adds(out, "\t*) words= ;;\n\tesac\n"
		      "\t[ \"$COMP_CWORD\" -gt 1 ] || words='");
	add_names(out, top);
	buf_adds(out, "'\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
		      "complete -o default -F _wardbox wardbox\n");
}

/* A line's end: what it is about, quoted for fish. */
static void add_about(struct buf *out, const char *text)
{
	buf_adds(out, " -d '");
	for (; *text; text++) {
		if (*text == '\'')
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
	buf_adds(out, "'\n");
}

static void add_zsh(struct buf *out, const struct cli_spec *top)
{
	buf_adds(out, "#compdef wardbox\n_wardbox() {\n"
		      "\tif (( CURRENT == 2 )); then\n\t\tcompadd -- ");
	add_names(out, top);
	buf_adds(out, "\n\t\treturn\n\tfi\n\tcase $words[2] in\n");
	for (size_t i = 0; i < applet_names_count; i++) {
		if (!applet_names[i].about)
			continue;
		buf_addf(out, "\t%s) compadd -- ", applet_names[i].name);
		add_words(out, applet_names[i].applet->cli);
		buf_adds(out, "; _files ;;\n");
	}
	buf_adds(out, "\tesac\n}\ncompdef _wardbox wardbox\n");
}

/* A word to be offered where the condition holds. */
static void add_word(struct buf *out, const char *when, const char *of,
	const char *word, const char *about)
{
	buf_addf(out, "complete -c wardbox -n '%s%s' -a %s", when, of, word);
	add_about(out, about);
}

static void add_options(struct buf *out, const char *when, const char *of,
	const struct cli_spec *s)
{
	for (size_t i = 0; i < s->opt_count; i++) {
		const struct cli_opt *o = &s->opts[i];

		buf_addf(out, "complete -c wardbox -n '%s%s' -l %s", when, of,
			o->text);
		if (o->letter)
			buf_addf(out, " -s %c", o->letter);
		if (*cli_part(o->text))
			buf_adds(out, " -r");
		add_about(out, cli_part(cli_part(o->text)));
	}
}

static void add_fish(struct buf *out, const struct cli_spec *top)
{
	static const char first[] = "__fish_use_subcommand";
	static const char within[] = "__fish_seen_subcommand_from ";

	add_options(out, first, "", top);
	buf_adds(out, "complete -c wardbox -l help -s h");
	add_about(out, "print this text");
	for (size_t i = 0; i < applet_names_count; i++) {
		const struct applet_name *row = &applet_names[i];
		const struct cli_spec *s = row->applet->cli;

		if (!row->about)
			continue;
		add_word(out, first, "", row->name, row->about);
		for (size_t k = 0; k < s->verb_count; k++)
			add_word(out, within, row->name, s->verbs[k].text,
				cli_part(cli_part(s->verbs[k].text)));
		add_options(out, within, row->name, s);
	}
}

int completion_print(const char *shell, const struct cli_spec *top)
{
	static const struct {
		char name[8];
		void (*add)(struct buf *out, const struct cli_spec *top);
	} shells[] = {{"bash", add_bash}, {"zsh", add_zsh}, {"fish", add_fish}};
	autobuf struct buf out = BUF_INIT(1 << 18);

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		if (!str_eq(shell, shells[i].name))
			continue;
		shells[i].add(&out, top);
		cli_print(&out);
		return EXIT_OK;
	}
	cli_warn("no completions for '%s'; there are bash, zsh and fish", shell);
	return EXIT_USAGE;
}
