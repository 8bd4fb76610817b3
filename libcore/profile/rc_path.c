/* rc_path.c - what the commands of a startup file do to PATH
 * SPDX-License-Identifier: MIT
 */
#include "profile/rc_path.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

static void add_list(struct buf *out, const struct rc_cmd *cmd, size_t from)
{
	for (size_t i = from; i < cmd->count; i++) {
		if (i > from)
			buf_addc(out, ':');
		buf_add(out, cmd->word[i].text, cmd->word[i].len);
	}
}

static bool is_flag(const struct rc_word *w)
{
	return w->len > 1 && w->text[0] == '-' && !w->quoted;
}

/* Is the letter among the short flags of the command, or the long one there? */
static bool has_flag(const struct rc_cmd *cmd, char letter, const char *name)
{
	for (size_t i = 1; i < cmd->count && is_flag(&cmd->word[i]); i++) {
		const char *s = cmd->word[i].text;

		if (s[1] == '-' ? str_eq(s + 2, name)
				: strchr(s + 1, letter) != NULL)
			return true;
	}
	return false;
}

static size_t behind_flags(const struct rc_cmd *cmd)
{
	size_t i = 1;

	while (i < cmd->count && is_flag(&cmd->word[i]))
		i++;
	return i;
}

/* The length of NAME in NAME= or NAME+=, or 0. */
static size_t assigned_name(const struct rc_word *w, bool *plus)
{
	size_t n = 0;

	while (n < w->len && chr_name(w->text[n]))
		n++;
	*plus = n && n < w->len && w->text[n] == '+';
	if (!n || chr_digit(w->text[0]) || w->text[n + *plus] != '=')
		return 0;
	return n;
}

static bool is_declaring(const char *word)
{
	return str_index("export\0typeset\0declare\0readonly\0local\0integer\0",
		       word) >= 0;
}

/* The word of an sh command that assigns name for good; SIZE_MAX: none. */
static size_t find_assignment(
	const struct rc_cmd *cmd, const char *name, bool *plus)
{
	size_t n = strlen(name), hit = SIZE_MAX;
	bool declaring = is_declaring(cmd->word[0].text), more;

	for (size_t i = declaring; i < cmd->count; i++) {
		const struct rc_word *w = &cmd->word[i];
		size_t len = assigned_name(w, &more);

		/* NAME=x command: only for that command. */
		if (!len && !declaring)
			return hit != SIZE_MAX && cmd->word[hit].array
				       ? hit
				       : SIZE_MAX;
		if (len != n || memcmp(w->text, name, n) != 0)
			continue;
		hit = i;
		*plus = more;
		if (w->array)
			break;
	}
	return hit;
}

static bool sh_change(
	const struct rc_cmd *cmd, const char *name, struct buf *out)
{
	bool plus, array = false;
	size_t i = find_assignment(cmd, name, &plus);
	size_t skip;

	if (i == SIZE_MAX && cmd->zsh && str_eq(name, "PATH")) {
		i = find_assignment(cmd, "path", &plus);
		/* Only the array of that name is tied to PATH. */
		if (i != SIZE_MAX && !cmd->word[i].array)
			return false;
		array = true;
	}
	if (i == SIZE_MAX)
		return false;
	skip = strlen(name) + 1 + plus;
	if (plus)
		buf_addc(out, RC_PATH);
	if (plus && array)
		buf_addc(out, ':');
	if (cmd->word[i].array)
		add_list(out, cmd, i + 1);
	else
		buf_add(out, cmd->word[i].text + skip, cmd->word[i].len - skip);
	return true;
}

static bool fish_add_path(const struct rc_cmd *cmd, struct buf *out)
{
	bool append = has_flag(cmd, 'a', "append");

	if (append)
		buf_adds(out, "\1:");
	add_list(out, cmd, behind_flags(cmd));
	if (!append)
		buf_adds(out, ":\1");
	return true;
}

static bool fish_change(
	const struct rc_cmd *cmd, const char *name, struct buf *out)
{
	bool is_path = str_eq(name, "PATH"), before, after;
	size_t i = behind_flags(cmd);

	if (is_path && str_eq(cmd->word[0].text, "fish_add_path"))
		return fish_add_path(cmd, out);
	if (!str_eq(cmd->word[0].text, "set") || i >= cmd->count ||
		has_flag(cmd, 'q', "query") || has_flag(cmd, 'l', "local"))
		return false;
	if (!str_eq(cmd->word[i].text, name) &&
		!(is_path && str_eq(cmd->word[i].text, "fish_user_paths")))
		return false;
	/* fish_user_paths is put before PATH, whatever else it holds. */
	before = has_flag(cmd, 'p', "prepend") ||
		 !str_eq(cmd->word[i].text, name);
	after = has_flag(cmd, 'a', "append");
	if (after)
		buf_adds(out, "\1:");
	add_list(out, cmd, i + 1);
	if (before)
		buf_adds(out, ":\1");
	return true;
}

static bool csh_change(
	const struct rc_cmd *cmd, const char *name, struct buf *out)
{
	const char *first = cmd->word[0].text;
	bool is_path = str_eq(name, "PATH");

	if (str_eq(first, "setenv") && cmd->count >= 2 &&
		str_eq(cmd->word[1].text, name)) {
		if (cmd->count > 2)
			buf_add(out, cmd->word[2].text, cmd->word[2].len);
		return true;
	}
	if (!is_path || !str_eq(first, "set") || cmd->count < 2)
		return false;
	if (str_eq(cmd->word[1].text, "path=")) {
		add_list(out, cmd, 2);
		return true;
	}
	if (cmd->count < 3 || !str_eq(cmd->word[1].text, "path") ||
		!str_eq(cmd->word[2].text, "="))
		return false;
	add_list(out, cmd, 3);
	return true;
}

bool rc_var_change(const struct rc_cmd *cmd, enum shell_family family,
	const char *name, struct buf *out)
{
	if (family == FAMILY_FISH)
		return fish_change(cmd, name, out);
	if (family == FAMILY_CSH)
		return csh_change(cmd, name, out);
	return sh_change(cmd, name, out);
}

bool rc_path_change(
	const struct rc_cmd *cmd, enum shell_family family, struct buf *out)
{
	return rc_var_change(cmd, family, "PATH", out);
}

bool rc_entry(
	const char *list, size_t n, size_t *at, const char **entry, size_t *len)
{
	const char *colon;

	if (*at > n)
		return false;
	*entry = list + *at;
	colon = n > *at ? memchr(*entry, ':', n - *at) : NULL;
	*len = colon ? (size_t)(colon - *entry) : n - *at;
	*at += *len + 1;
	return true;
}

/* Steps over "/", "//", "/./" in s[0..n): true when a component follows. */
static bool next_part(const char *s, size_t n, size_t *at)
{
	while (*at < n &&
		(s[*at] == '/' ||
			(s[*at] == '.' && (!*at || s[*at - 1] == '/') &&
				(*at + 1 == n || s[*at + 1] == '/'))))
		++*at;
	return *at < n;
}

bool rc_same_dir(const char *a, size_t n, const char *b)
{
	size_t m = strlen(b), i = 0, j = 0;

	if (!n || a[0] != '/' || b[0] != '/')
		return false;
	for (;;) {
		bool more = next_part(a, n, &i);

		if (more != next_part(b, m, &j))
			return false;
		if (!more)
			return true;
		while (i < n && j < m && a[i] == b[j] && a[i] != '/') {
			i++;
			j++;
		}
		if ((i < n && a[i] != '/') || (j < m && b[j] != '/'))
			return false;
	}
}

struct has_ctx {
	const struct rc_source *source;
	const char *name, *value; /* of a variable; NULL: a directory in PATH */
	const char *dir;
	bool dir_exists, found;
	bool exported; /* a variable that is not is no environment's */
	const size_t (*skip)[2];
	size_t skips;
	struct buf value_buf;
};

static bool is_skipped(const struct has_ctx *c, size_t at)
{
	for (size_t i = 0; i < c->skips; i++) {
		if (at >= c->skip[i][0] && at < c->skip[i][1])
			return true;
	}
	return false;
}

static bool list_has(const char *list, size_t n, const char *dir)
{
	const char *entry;
	size_t at = 0, len;

	while (rc_entry(list, n, &at, &entry, &len)) {
		if (rc_same_dir(entry, len, dir))
			return true;
	}
	return false;
}

bool rc_ends(const struct rc_cmd *cmd)
{
	const char *name = cmd->word[0].text;

	if (!cmd->top || cmd->in_function)
		return false;
	/* exec without a command only moves descriptors. */
	return (str_eq(name, "exec") && cmd->count > 1) ||
	       str_eq(name, "exit") || str_eq(name, "return");
}

/* Does the command put the variable into the environment? */
static bool exports_name(
	const struct rc_cmd *cmd, enum shell_family family, const char *name)
{
	const char *first = cmd->word[0].text;
	size_t n = strlen(name);

	if (family == FAMILY_CSH)
		return true;
	if (family == FAMILY_FISH)
		return has_flag(cmd, 'x', "export");
	if (!str_eq(first, "export") &&
		!(is_declaring(first) && has_flag(cmd, 'x', "export")))
		return false;
	for (size_t i = 1; i < cmd->count; i++) {
		const char *word = cmd->word[i].text;

		if (strncmp(word, name, n) == 0 && (!word[n] || word[n] == '='))
			return true;
	}
	return false;
}

static bool unsets_name(const struct rc_cmd *cmd, const char *name)
{
	const char *first = cmd->word[0].text;

	if (!str_eq(first, "unset") && !str_eq(first, "unsetenv") &&
		!(str_eq(first, "set") && has_flag(cmd, 'e', "erase")))
		return false;
	for (size_t i = 1; i < cmd->count; i++) {
		if (str_eq(cmd->word[i].text, name))
			return true;
	}
	return false;
}

static int look_at(void *ctx, const struct rc_cmd *cmd)
{
	struct has_ctx *c = ctx;
	struct buf *v = &c->value_buf;
	bool sure = !cmd->guards, there;

	if (rc_ends(cmd))
		return 1;
	if (cmd->in_function || is_skipped(c, cmd->at))
		return 0;
	if (c->name && sure && exports_name(cmd, c->source->family, c->name))
		c->exported = true;
	if (c->name && unsets_name(cmd, c->name))
		c->found = c->exported = false;
	if (c->dir && c->dir_exists && cmd->guard_op == 'd' &&
		rc_same_dir(cmd->guard_path, strlen(cmd->guard_path), c->dir))
		sure = true;
	buf_clear(v);
	if (!rc_var_change(
		    cmd, c->source->family, c->dir ? "PATH" : c->name, v))
		return 0;
	if (v->err)
		return v->err == -ENOMEM ? -ENOMEM : 0;
	if (c->dir)
		there = list_has(buf_str(v), v->len, c->dir);
	else
		there = str_eq(buf_str(v), c->value) &&
			!memchr(c->value, RC_UNKNOWN, strlen(c->value));
	if (there && sure)
		c->found = true;
	else if (!there && (!c->dir || !memchr(buf_str(v), RC_PATH, v->len)))
		/* Set anew, perhaps without what stood there. */
		c->found = false;
	return 0;
}

static int scan_for(struct has_ctx *c)
{
	struct rc_visitor visitor = {.command = look_at, .ctx = c};
	int err;

	c->value_buf = BUF_INIT(RC_TEXT_MAX);
	err = rc_scan(c->source, &visitor);
	buf_release(&c->value_buf);
	return err < 0 ? err : c->found && (c->dir || c->exported);
}

int rc_path_has(const struct rc_source *source, const char *dir,
	bool dir_exists, const size_t (*skip)[2], size_t skips)
{
	struct has_ctx c = {.source = source,
		.dir = dir,
		.dir_exists = dir_exists,
		.skip = skip,
		.skips = skips};

	return scan_for(&c);
}

int rc_var_has(const struct rc_source *source, const char *name,
	const char *value, const size_t (*skip)[2], size_t skips)
{
	struct has_ctx c = {.source = source,
		.name = name,
		.value = value,
		.skip = skip,
		.skips = skips};

	return scan_for(&c);
}
