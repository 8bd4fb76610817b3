/* profile_lint.c - what is wrong with a startup file, by reading it
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_lint.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "profile/profile_block.h"
#include "profile/profile_lint_rules_in.h"
#include "profile/rc_path.h"
#include "base/str.h"

/* One PATH change, kept until it is known whether there are more. */
struct change {
	unsigned line;
	bool clobbers;
};

struct linting {
	const struct profile_lint *l;
	struct profile_problems *out;
	struct profile_blocks *blocks; /* none while the markers are broken */
	struct change change[64];
	size_t changes;
	size_t end_at; /* of a command that ends the file early */
	unsigned end_line;
	bool ended;
	struct buf value;
};

bool lint_is_source(const struct rc_cmd *cmd)
{
	const char *word = cmd->word[0].text;

	return cmd->count > 1 && (str_eq(word, ".") || str_eq(word, "source"));
}

bool lint_is_dangling(const struct profile_lint *l, const struct rc_cmd *cmd)
{
	const struct rc_word *w;

	if (!lint_is_source(cmd) || cmd->guards || cmd->in_function)
		return false;
	w = &cmd->word[1];
	return w->len && w->text[0] == '/' && !strchr(w->text, RC_UNKNOWN) &&
	       !strchr(w->text, RC_PATH) && !strpbrk(w->text, "*?[") &&
	       !l->look(l->ctx, w->text);
}

bool lint_is_bashism(const struct profile_lint *l, const struct rc_cmd *cmd)
{
	static const char words[] =
		"source\0[[\0shopt\0declare\0typeset\0complete\0bind\0";
	const char *base = path_base(l->path);

	if (shellkind_family(l->kind) != FAMILY_SH || cmd->guards ||
		cmd->in_function ||
		!(str_eq(base, ".profile") ||
			(l->system && l->kind == SHELL_SH)))
		return false;
	for (size_t i = 0; i < cmd->count; i++) {
		if (cmd->word[i].array)
			return true;
	}
	return !cmd->word[0].quoted && str_index(words, cmd->word[0].text) >= 0;
}

/* The fault of an entry of PATH, or NULL. profile_repair() mends the first two
 * faults. */
static const char *entry_fault(const char *entry, size_t n)
{
	if (!n)
		return "an empty entry: the current directory";
	if (memchr(entry, RC_PATH, n) || memchr(entry, RC_UNKNOWN, n))
		return NULL;
	if (entry[0] == '~')
		return "a literal ~, which most shells do not expand there";
	if (entry[0] == '$')
		return "a literal $: it is within single quotes or escaped";
	if (memchr(entry, '\r', n))
		return "a carriage return";
	if (entry[0] != '/')
		return "a relative entry: it depends on the current directory";
	return NULL;
}

/* Entries that are well formed but lead nowhere, or too far. */
static void judge_dir(const struct profile_lint *l, const char *file,
	unsigned line, const char *entry, size_t n,
	struct profile_problems *out)
{
	char path[1024];
	char what;

	if (n >= sizeof path || entry[0] != '/' ||
		memchr(entry, RC_UNKNOWN, n) || memchr(entry, RC_PATH, n))
		return;
	memcpy(path, entry, n);
	path[n] = '\0';
	what = l->look(l->ctx, path);
	if (what == 'w')
		profile_problem_add(out, PROBLEM_PATH_CORRUPT, SEVERITY_ERROR,
			file, line,
			"%s: anyone may put programs there\036"
			"chmod o-w '%s', or take it off PATH",
			path, path);
	else if (what == 'f')
		profile_problem_add(out, PROBLEM_PATH_CORRUPT, SEVERITY_WARNING,
			file, line,
			"%s is not a directory\036"
			"name its directory instead",
			path);
	else if (!what && strpbrk(path, "\"'"))
		profile_problem_add(out, PROBLEM_PATH_CORRUPT, SEVERITY_ERROR,
			file, line,
			"%s is not there, for the quote character in it\036"
			"take the quotes out of the value",
			path);
	else if (!what)
		profile_problem_add(out, PROBLEM_PATH_CORRUPT, SEVERITY_INFO,
			file, line,
			"%s is not there\036"
			"make it, or take it off PATH",
			path);
}

static void judge_list(const struct profile_lint *l, const char *file,
	unsigned line, const char *list, size_t n, const char *where,
	struct profile_problems *out)
{
	const char *entry;
	size_t at = 0, len;

	while (rc_entry(list, n, &at, &entry, &len)) {
		const char *fault = entry_fault(entry, len);
		bool mends = *file && (!len || *entry == '~') &&
			shellkind_family(l->kind) == FAMILY_SH;
		const char *other;
		size_t from = 0, other_len;

		if (fault) {
			profile_problem_add(out, PROBLEM_PATH_CORRUPT,
				SEVERITY_ERROR | (mends ? PROBLEM_FIXABLE : 0u),
				file, line, "%s%.*s%s%s\036%s", where,
				(int)(len < 120 ? len : 120), entry,
				len ? ": " : "", fault,
				mends   ? "profile fix path-corrupt"
				: *file ? "name a directory from its root"
					: "find the line that adds it with "
					  "'profile doctor --no-exec'");
			continue;
		}
		while (rc_entry(list, (size_t)(entry - list), &from, &other,
			       &other_len) &&
			other < entry) {
			if (other_len != len || !len || entry[0] != '/' ||
				memcmp(other, entry, len) != 0)
				continue;
			profile_problem_add(out, PROBLEM_PATH_CORRUPT,
				SEVERITY_INFO, file, line,
				"%s%.*s is there twice\036"
				"take one of them away",
				where, (int)(len < 120 ? len : 120), entry);
			break;
		}
		judge_dir(l, file, line, entry, len, out);
	}
}

void profile_lint_path(const struct profile_lint *lint, const char *path,
	const char *where, struct profile_problems *problems)
{
	judge_list(lint, "", 0, path, strlen(path), where, problems);
}

static bool in_block(const struct linting *c, size_t at)
{
	for (size_t i = 0; i < c->blocks->count; i++) {
		if (at >= c->blocks->block[i].begin &&
			at < c->blocks->block[i].end)
			return true;
	}
	return false;
}

static void see_path(struct linting *c, const struct rc_cmd *cmd)
{
	struct buf *v = &c->value;

	buf_clear(v);
	if (!rc_path_change(cmd, shellkind_family(c->l->kind), v) || v->err ||
		in_block(c, cmd->at))
		return;
	judge_list(c->l, c->l->path, cmd->line, buf_str(v), v->len, "", c->out);
	if (c->changes == ARRAY_SIZE(c->change))
		return;
	c->change[c->changes++] = (struct change){
		.line = cmd->line,
		.clobbers = !c->l->system && !cmd->in_function && v->len &&
			    !memchr(v->data, RC_PATH, v->len) &&
			    !memchr(v->data, RC_UNKNOWN, v->len),
	};
}

static void see_source(struct linting *c, const struct rc_cmd *cmd)
{
	const char *base = path_base(c->l->path);
	autobuf struct buf guarded = BUF_INIT(4096);

	if (!lint_is_dangling(c->l, cmd))
		return;
	lint_guarded(c->l, cmd, &guarded);
	profile_problem_add(c->out, PROBLEM_DANGLING_SOURCE,
		(str_ends(base, "profile") ? SEVERITY_CRITICAL
					   : SEVERITY_ERROR) |
			PROBLEM_FIXABLE,
		c->l->path, cmd->line,
		"reads %s, which is not there\036profile fix dangling-source: "
		"%s",
		cmd->word[1].text, buf_str(&guarded));
}

static void see_bashism(struct linting *c, const struct rc_cmd *cmd)
{
	bool source;

	if (!lint_is_bashism(c->l, cmd))
		return;
	source = str_eq(cmd->word[0].text, "source");
	profile_problem_add(c->out, PROBLEM_BASHISM,
		(source ? SEVERITY_WARNING : SEVERITY_ERROR) |
			(source ? PROBLEM_FIXABLE : 0),
		c->l->path, cmd->line,
		"'%s' is no word of plain sh\036"
		"%s",
		cmd->word[0].text,
		source ? "profile fix bashism-in-profile: '.' for 'source'"
		       : "move the line to ~/.bashrc, or put it behind "
			 "[ -n \"$BASH_VERSION\" ]");
}

static void see_end(struct linting *c, const struct rc_cmd *cmd)
{
	if (c->ended || !rc_ends(cmd))
		return;
	c->ended = true;
	c->end_at = cmd->at;
	c->end_line = cmd->line;
}

static int see_command(void *ctx, const struct rc_cmd *cmd)
{
	struct linting *c = ctx;

	see_path(c, cmd);
	see_source(c, cmd);
	see_bashism(c, cmd);
	see_end(c, cmd);
	return 0;
}

static void tell_changes(struct linting *c)
{
	for (size_t i = 0; i < c->changes; i++) {
		if (c->changes > 1)
			profile_problem_add(c->out, PROBLEM_PATH_MULTIPLE,
				SEVERITY_INFO, c->l->path, c->change[i].line,
				"PATH is set here (%zu of %zu)\036"
				"keep one of the lines",
				i + 1, c->changes);
		if (c->change[i].clobbers)
			profile_problem_add(c->out, PROBLEM_PATH_CLOBBER,
				SEVERITY_ERROR, c->l->path, c->change[i].line,
				"PATH is set without $PATH in it\036"
				"put :$PATH at the end of the value");
	}
}

static void tell_end(struct linting *c)
{
	for (size_t i = 0; c->ended && i < c->blocks->count; i++) {
		const struct profile_block *b = &c->blocks->block[i];

		if (b->begin < c->end_at)
			continue;
		profile_problem_add(c->out, PROBLEM_EARLY_EXIT,
			SEVERITY_ERROR | PROBLEM_FIXABLE, c->l->path,
			c->end_line,
			"the file ends here, before the block '%s'\036"
			"profile fix early-exit: moves the block up",
			b->id);
	}
}

static void tell_crlf(struct linting *c)
{
	const char *at =
		c->l->len ? memmem(c->l->text, c->l->len, "\r\n", 2) : NULL;

	if (at)
		profile_problem_add(c->out, PROBLEM_CRLF,
			SEVERITY_ERROR | PROBLEM_FIXABLE, c->l->path,
			rc_line(c->l->text, (size_t)(at - c->l->text)),
			"lines end in CR LF\036"
			"profile fix crlf");
}

static void find_blocks(struct linting *c)
{
	struct diag d = {0};
	int err = profile_blocks_find(c->blocks, c->l->text, c->l->len,
		shellkind_family(c->l->kind), &d);

	if (!err)
		return;
	c->blocks->count = 0;
	profile_problem_add(c->out, PROBLEM_MARKERS, SEVERITY_ERROR, c->l->path,
		d.line,
		"%s\036"
		"%s",
		d.text,
		d.hint[0] ? d.hint : "put the marker lines right by hand");
}

struct rc_source lint_source(const struct profile_lint *l)
{
	return (struct rc_source){.text = l->text,
		.len = l->len,
		.family = shellkind_family(l->kind),
		.zsh = l->kind == SHELL_ZSH,
		.home = l->home};
}

int profile_lint(
	const struct profile_lint *lint, struct profile_problems *problems)
{
	autofree struct profile_blocks *blocks = malloc(sizeof *blocks);
	struct linting c = {.l = lint,
		.out = problems,
		.blocks = blocks,
		.value = BUF_INIT(RC_TEXT_MAX)};
	struct rc_source source = lint_source(lint);
	struct rc_visitor visitor = {.command = see_command, .ctx = &c};
	int err;

	if (!blocks)
		return -ENOMEM;
	find_blocks(&c);
	tell_crlf(&c);
	err = rc_scan(&source, &visitor);
	tell_changes(&c);
	tell_end(&c);
	buf_release(&c.value);
	return err < 0 ? err : 0;
}

struct sourcing {
	const char *name;
	bool found;
};

static int find_source(void *ctx, const struct rc_cmd *cmd)
{
	struct sourcing *s = ctx;

	/* The last part may be all that is known: . "$DIR/.bashrc" */
	if (lint_is_source(cmd) && !cmd->in_function &&
		str_ends(cmd->word[1].text, s->name))
		s->found = true;
	return s->found;
}

bool profile_sources(const struct profile_lint *lint, const char *name)
{
	struct sourcing s = {.name = name};
	struct rc_source source = lint_source(lint);
	struct rc_visitor visitor = {.command = find_source, .ctx = &s};

	rc_scan(&source, &visitor);
	return s.found;
}
