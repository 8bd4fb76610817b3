/* policy_line.c - the directories that a line names
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_line_in.h"

#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "shell/shell_walk.h"

enum { INTO_MAX = 8 };

struct line_read {
	line_dir_each *each;
	void *ctx;
	const char *home;
	bool first; /* the commands before this one only set up the shell */
	/* The files of redirections, until their command is shown. */
	struct shell_val into[INTO_MAX];
	size_t into_count;
	char word[PATH_MAX];
};

/* Shows a directory, or a path in it; one that is not whole lies in cwd. */
static int line_show(struct line_read *x, const struct shell_val *cwd,
	struct shell_str path, bool enters, bool goes)
{
	const struct line_dir w = {
		.word = x->word, .enters = enters, .goes = goes};
	const struct shell_str *base = cwd ? shell_val_text(cwd) : NULL;
	struct buf b = BUF_FIXED(x->word);

	if (!path.n || (path.p[0] != '/' && !base))
		return 0;
	if (path.p[0] != '/') {
		buf_add(&b, base->p, base->n);
		buf_addc(&b, '/');
	}
	buf_add(&b, path.p, path.n);
	return *buf_str(&b) && !b.err && !x->each(x->ctx, &w);
}

/* Shows a whole path; of a pattern the directory in which its files lie. */
static int show_path(struct line_read *x, const struct shell_val *v)
{
	struct shell_str path = v->text;

	if (v->glob) {
		path = shell_val_prefix(path);
		while (path.n && path.p[path.n - 1] != '/')
			path.n--;
	} else if (!shell_val_text(v)) {
		return 0;
	}
	return path.n > 1 && path.p[0] == '/'
		       ? line_show(x, NULL, path, false, false)
		       : 0;
}

static int show_into(struct line_read *x)
{
	int stop = 0;

	for (size_t i = 0; i < x->into_count && !stop; i++)
		stop = show_path(x, &x->into[i]);
	x->into_count = 0;
	return stop;
}

/* Is the word an option that names a working directory? *value is the text behind
 * its '='; "" where the next word is the value. */
static bool is_place_option(struct shell_str word, struct shell_str *value)
{
	static const char names[] =
		"-C\0--directory\0--prefix\0--cwd\0--dir\0";

	for (const char *at = names; *at; at = str_nth(at, 1)) {
		const size_t n = strlen(at);

		if (word.n < n || strncmp(word.p, at, n) != 0 ||
			(word.n > n && word.p[n] != '='))
			continue;
		*value = word.n > n
			? (struct shell_str){word.p + n + 1, word.n - n - 1}
			: SHELL_STR("");
		return true;
	}
	return false;
}

/* Is it -c, -lc or -euc, behind which a text for a shell stands? */
static bool is_text_option(struct shell_str word)
{
	enum { LONGEST = 7 };

	return word.n > 1 && word.n <= LONGEST && word.p[0] == '-' &&
	       word.p[1] != '-' && word.p[word.n - 1] == 'c';
}

/* Shows the whole paths that stand in quotes, as in a text of python's. */
static int show_quoted(struct line_read *x, struct shell_str text)
{
	const char *to;
	int stop = 0;

	for (size_t i = 0; i < text.n && !stop; i++) {
		struct shell_str path = {text.p + i + 1, 0};

		if (text.p[i] != '\'' && text.p[i] != '"')
			continue;
		to = memchr(path.p, text.p[i], text.n - i - 1);
		if (!to)
			break;
		path.n = (size_t)(to - path.p);
		i += path.n + 1;
		if (path.n > 1 && path.p[0] == '/')
			stop = line_show(x, NULL, path, false, false);
	}
	return stop;
}

static int read_text(
	struct line_read *x, struct shell_walk *w, const struct shell_val *text)
{
	const struct shell_child child = {.text = text, .dialect = SHELL_UNION};

	x->first = true;
	return shell_walk_child(w, &child);
}

static int on_risk(void *ctx, struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span)
{
	(void)w;
	(void)span;
	return risk == SHELL_RISK_UNPARSABLE ? show_quoted(ctx, what) : 0;
}

static int on_open(void *ctx, struct shell_walk *w, const struct shell_open *o,
	const struct shell_val *cwd)
{
	struct line_read *x = ctx;

	(void)w;
	(void)cwd;
	if (x->into_count < INTO_MAX)
		x->into[x->into_count++] = o->path;
	return 0;
}

/* The directory that cd goes to: the first word that is no option. */
static int show_goal(struct line_read *x, const struct shell_cmd *cmd)
{
	for (size_t i = 1; i < cmd->argc; i++) {
		const struct shell_str *word = shell_val_text(&cmd->argv[i]);

		if (!word || word->n < 2 || word->p[0] != '-')
			return word && x->first
				       ? line_show(x, cmd->cwd, *word, true, true)
				       : show_path(x, &cmd->argv[i]);
	}
	return 0;
}

static int show_words(struct line_read *x, struct shell_walk *w,
	const struct shell_cmd *cmd)
{
	int stop = show_path(x, &cmd->argv[0]);

	for (size_t i = 1; i < cmd->argc && !stop; i++) {
		const struct shell_str *word = shell_val_text(&cmd->argv[i]);
		const bool more = i + 1 < cmd->argc;
		struct shell_str value;

		if (word && is_place_option(*word, &value)) {
			if (!value.n && more)
				value = cmd->argv[++i].text;
			if (!shell_str_unknown(value, true))
				stop = line_show(
					x, cmd->cwd, value, true, false);
		} else if (word && more && is_text_option(*word)) {
			stop = read_text(x, w, &cmd->argv[++i]);
		} else {
			stop = show_path(x, &cmd->argv[i]);
		}
	}
	return stop;
}

static int on_command(
	void *ctx, struct shell_walk *w, const struct shell_cmd *cmd)
{
	static const char goes[] = " cd pushd ";
	static const char sets[] = " set export umask ulimit ";
	const struct shell_str *name = shell_val_text(&cmd->argv[0]);
	struct line_read *x = ctx;
	int stop = name && shell_str_in(*name, goes)
			   ? show_goal(x, cmd)
			   : show_words(x, w, cmd);

	if (!stop)
		stop = show_into(x);
	x->first &= name && shell_str_in(*name, sets);
	return stop;
}

static int know_home(void *ctx, struct shell_str name, struct shell_str *value)
{
	const struct line_read *x = ctx;

	if (!shell_str_is(name, "HOME") || !x->home || !x->home[0])
		return -1;
	*value = (struct shell_str){x->home, strlen(x->home)};
	return 1;
}

void line_dirs(const char *line, size_t len, const char *cwd, const char *home,
	line_dir_each *each, void *ctx)
{
	static const struct shell_walk_ops ops = {.command = on_command,
		.open = on_open,
		.risk = on_risk,
		.getvar = know_home};
	const struct shell_walk_opts opts = {
		.cwd = cwd, .dialect = SHELL_UNION};
	autoarena struct arena a = ARENA_INIT(SHELL_MAX_WALK);
	struct line_read *x = arena_zalloc(&a, sizeof *x);
	struct diag d = {0};

	if (!x)
		return;
	x->each = each;
	x->ctx = ctx;
	x->home = home;
	x->first = true;
	if (shell_walk(&a, line, len, &opts, &ops, x, &d) <= 0)
		show_into(x);
}
