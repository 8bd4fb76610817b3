/* profile_line.c - a directory or a variable, and the line that sets it
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_line.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

size_t profile_home_prefix(const char *s)
{
	static const char forms[][8] = {"~", "$HOME", "${HOME}"};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const char *rest = str_after(s, forms[i]);

		if (rest && (*rest == '/' || !*rest))
			return (size_t)(rest - s);
	}
	return 0;
}

/* Appends path with its slashes collapsed; a lone "/" stays. */
static void add_collapsed(struct buf *b, const char *path)
{
	while (*path) {
		size_t n;

		while (*path == '/' ||
			(path[0] == '.' && (path[1] == '/' || !path[1])))
			path++;
		n = strcspn(path, "/");
		if (n) {
			buf_addc(b, '/');
			buf_add(b, path, n);
		}
		path += n;
	}
}

static int dir_check(const char *input, size_t prefix, struct diag *d)
{
	if (!*input)
		return diag_fail(d, -EINVAL, "an empty directory name");
	if (!prefix && input[0] != '/')
		return diag_fail(d, -EINVAL,
			"'%s' is relative: PATH would change with the "
			"current directory\036"
			"give it in full, or start it with '$HOME/'",
			input);
	if (strpbrk(input, ":\r\n"))
		return diag_fail(d, -EINVAL,
			"a directory in PATH cannot hold ':' or a line end");
	return 0;
}

int profile_dir_parse(struct profile_dir *dir, const char *input,
	const char *home, unsigned flags, struct diag *d)
{
	size_t prefix = profile_home_prefix(input);
	struct buf b = BUF_FIXED(dir->text);
	autofree char *plain_home = NULL;
	size_t home_len;
	int err = dir_check(input, prefix, d);

	if (err)
		return err;
	if (prefix && (!home || home[0] != '/'))
		return diag_fail(
			d, -EINVAL, "'%s': the home is not known", input);
	if (home && home[0] == '/')
		add_collapsed(&b, home);
	home_len = b.len;
	plain_home = strdup(buf_str(&b));
	if (!plain_home)
		return diag_of(d, -ENOMEM, input);
	if (!prefix)
		buf_clear(&b);
	add_collapsed(&b, input + prefix);
	if (b.err)
		return diag_fail(
			d, -EINVAL, "longer than %d bytes", PROFILE_DIR_MAX);
	if (!b.len)
		buf_addc(&b, '/');
	buf_str(&b);
	dir->home = 0;
	if (prefix)
		dir->home = home_len;
	else if (home_len && !(flags & PROFILE_SYSTEM) && b.len >= home_len &&
		 strncmp(dir->text, plain_home, home_len) == 0 &&
		 (dir->text[home_len] == '/' || !dir->text[home_len]))
		dir->home = home_len;
	if (flags & PROFILE_ABSOLUTE)
		dir->home = 0;
	return 0;
}

static bool is_protected(const char *name)
{
	/* Variables that take the shell over, or that the shell refuses to
	 * set. */
	static const char names[] =
		"IFS\0ENV\0BASH_ENV\0UID\0EUID\0PPID\0GROUPS\0SHELLOPTS\0"
		"BASHOPTS\0ZDOTDIR\0PS4\0PROMPT_COMMAND\0BASH_VERSINFO\0"
		"HOME\0PWD\0";

	return str_index(names, name) >= 0 || str_after(name, "LD_");
}

int profile_var_check(const char *name, const char *value,
	enum shell_family family, unsigned flags, struct diag *d)
{
	if (!str_is_name(name, strlen(name)))
		return diag_fail(d, -EINVAL,
			"'%s' is no variable name: letters, digits and '_'",
			name);
	/* zsh and csh tie "path" to PATH. */
	if (str_eq(name, "PATH") || str_eq(name, "path"))
		return diag_fail(d, -EINVAL,
			"%s is not set here\036"
			"use 'profile add DIR' or 'profile append DIR'",
			name);
	if (is_protected(name) && !(flags & PROFILE_FORCE))
		return diag_fail(d, -EINVAL,
			"%s changes how every shell works\036"
			"--force sets it all the same",
			name);
	if (strpbrk(value, "\r\n"))
		return diag_fail(
			d, -EINVAL, "the value of %s holds a line end", name);
	if (strlen(value) > PROFILE_DIR_MAX)
		return diag_fail(d, -EINVAL,
			"the value of %s is longer than %d bytes", name,
			PROFILE_DIR_MAX);
	if (family == FAMILY_NONE)
		return diag_fail(d, -EINVAL, "no line is known for that shell");
	return 0;
}

/* Backslash before each byte of stop. */
static void add_backslashed(
	struct buf *out, const char *s, size_t n, const char *stop)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] && strchr(stop, s[i]))
			buf_addc(out, '\\');
		buf_addc(out, s[i]);
	}
}

/* '…' with what must leave the quotes written as replacements. */
static void add_csh(struct buf *out, const char *s, size_t n)
{
	buf_addc(out, '\'');
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\'')
			buf_adds(out, "'\\''");
		else if (s[i] == '!')
			buf_adds(out, "\\!");
		else
			buf_addc(out, s[i]);
	}
	buf_addc(out, '\'');
}

/* '…' with quotes doubled: elvish, and pwsh, to which the four typographic
 * single quotes are quotes as well. */
static void add_doubled(struct buf *out, const char *s, size_t n, bool curly)
{
	buf_addc(out, '\'');
	for (size_t i = 0; i < n; i++) {
		bool typographic = curly && i + 2 < n &&
				   (unsigned char)s[i] == 0xe2 &&
				   (unsigned char)s[i + 1] == 0x80 &&
				   (unsigned char)s[i + 2] >= 0x98 &&
				   (unsigned char)s[i + 2] <= 0x9b;

		if (typographic) {
			buf_add(out, s + i, 3);
			buf_add(out, s + i, 3);
			i += 2;
			continue;
		}
		if (s[i] == '\'')
			buf_addc(out, '\'');
		buf_addc(out, s[i]);
	}
	buf_addc(out, '\'');
}

/* A Python string; a byte that is no UTF-8 by the escape Python itself uses
 * for it in file names. */
static void add_python(struct buf *out, const char *s, size_t n)
{
	size_t i = 0;

	buf_addc(out, '\'');
	while (i < n) {
		uint32_t cp;
		size_t len = utf8_decode(s + i, n - i, &cp);

		if (!len)
			buf_addf(out, "\\udc%02x", (unsigned char)s[i]);
		else if (len == 1)
			add_backslashed(out, s + i, 1, "\\'");
		else
			buf_add(out, s + i, len);
		i += len ? len : 1;
	}
	buf_addc(out, '\'');
}

static const char *stop_bytes(enum shell_family family)
{
	if (family == FAMILY_FISH)
		return "\\$\"";
	return family == FAMILY_NU ? "\\\"" : "\\$\"`";
}

void profile_quote(
	struct buf *out, enum shell_family family, const char *s, size_t n)
{
	switch (family) {
	case FAMILY_CSH:
		add_csh(out, s, n);
		break;
	case FAMILY_ELVISH:
	case FAMILY_PWSH:
		add_doubled(out, s, n, family == FAMILY_PWSH);
		break;
	case FAMILY_XONSH:
		add_python(out, s, n);
		break;
	case FAMILY_NU:
	case FAMILY_FISH:
	case FAMILY_NONE:
	case FAMILY_SH:
	default:
		buf_addc(out, '"');
		add_backslashed(out, s, n, stop_bytes(family));
		buf_addc(out, '"');
		break;
	}
}

/* Adds the text between the double quotes of sh and fish. */
static void add_inner(struct buf *out, enum shell_family family,
	const char *text, size_t home)
{
	if (home)
		buf_adds(out, "$HOME");
	add_backslashed(out, text + home, strlen(text + home),
		stop_bytes(family));
}

/* One word; its first home bytes are written as the shell's own $HOME where
 * the family has a way to. */
static void add_word(struct buf *out, enum shell_family family,
	const char *text, size_t home)
{
	if (home && family == FAMILY_CSH) {
		buf_adds(out, "\"${HOME}\"");
		text += home;
		if (!*text)
			return;
	} else if (home && (family == FAMILY_SH || family == FAMILY_FISH)) {
		buf_addc(out, '"');
		add_inner(out, family, text, home);
		buf_addc(out, '"');
		return;
	}
	profile_quote(out, family, text, strlen(text));
}

/* The text of a line with its words left open: '@' is the directory, '^' what
 * goes between quotes for it, '%' a literal '@'. */
static void add_template(struct buf *out, enum shell_family family,
	const struct profile_dir *dir, const char *text)
{
	for (; *text; text++) {
		if (*text == '@')
			add_word(out, family, dir->text, dir->home);
		else if (*text == '^')
			add_inner(out, family, dir->text, dir->home);
		else
			buf_addc(out, *text == '%' ? '@' : *text);
	}
	buf_addc(out, '\n');
}

static int add_path(struct buf *out, enum shell_family family,
	const struct profile_dir *dir, bool append, struct diag *d)
{
	/* For each family, in the order of the enum: in front, and behind. */
	static const char texts[] =
		"case \":${PATH-}:\" in *:\"^\":*) ;; *) "
		"export PATH=\"^${PATH:+:${PATH}}\" ;; esac\0"
		"case \":${PATH-}:\" in *:\"^\":*) ;; *) "
		"export PATH=\"${PATH:+${PATH}:}^\" ;; esac\0"
		"contains -- @ $PATH; or set -gx PATH @ $PATH\0"
		"contains -- @ $PATH; or set -gx PATH $PATH @\0"
		"if ( \":${PATH}:\" !~ *:@:* ) setenv PATH @:\"${PATH}\"\0"
		"if ( \":${PATH}:\" !~ *:@:* ) setenv PATH \"${PATH}\":@\0"
		"$env.PATH = ($env.PATH | split row (char esep)"
		" | prepend @ | uniq)\0"
		"$env.PATH = ($env.PATH | split row (char esep)"
		" | append @ | uniq)\0"
		"if (not (has-value $paths @)) { set paths = [@ $%paths] }\0"
		"if (not (has-value $paths @)) { set paths = [$%paths @] }\0"
		"if @ not in $PATH: $PATH.insert(0, @)\0"
		"if @ not in $PATH: $PATH.append(@)\0"
		"if (($env:PATH -split ':') -cnotcontains @) "
		"{ $env:PATH = @ + $(if ($env:PATH) "
		"{ ':' + $env:PATH }) }\0"
		"if (($env:PATH -split ':') -cnotcontains @) "
		"{ $env:PATH = \"$(if ($env:PATH) "
		"{ $env:PATH + ':' })\" + @ }\0";

	if (family == FAMILY_NONE)
		return diag_fail(d, -EINVAL, "no line is known for that shell");
	if (family == FAMILY_XONSH && strchr(dir->text, '$'))
		return diag_fail(d, -EINVAL,
			"xonsh expands every '$' in PATH, however quoted");
	/* The guard is a glob, and csh has no quoting inside one that every
	 * version agrees on. */
	if (family == FAMILY_CSH && strpbrk(dir->text, "*?[]{}\\"))
		return diag_fail(d, -EINVAL,
			"csh cannot compare a directory with one of *?[]{}\\");
	add_template(out, family, dir,
		str_nth(texts, 2 * (size_t)(family - FAMILY_SH) + append));
	return out->err;
}

/* The value with its home prefix replaced by home, when both are there. */
static size_t resolve_value(
	struct buf *out, const char *value, const char *home)
{
	size_t prefix = profile_home_prefix(value);
	size_t len = prefix && home ? strlen(home) : prefix;

	if (prefix && home)
		buf_adds(out, home);
	else
		buf_add(out, value, prefix);
	buf_adds(out, value + prefix);
	return prefix ? len : 0;
}

int profile_line(struct buf *out, enum shell_family family,
	const struct profile_item *item, const char *home, struct diag *d)
{
	static const char set[][13] = {
		[FAMILY_SH] = "export %s=",
		[FAMILY_FISH] = "set -gx %s ",
		[FAMILY_CSH] = "setenv %s ",
		[FAMILY_NU] = "$env.%s = ",
		[FAMILY_ELVISH] = "set-env %s ",
		[FAMILY_XONSH] = "$%s = ",
		[FAMILY_PWSH] = "$env:%s = ",
	};
	autobuf struct buf value = BUF_INIT(2 * (size_t)PROFILE_DIR_MAX + 2);
	const char *at;
	size_t prefix;

	if (item->what != PROFILE_VAR)
		return add_path(out, family, item->dir,
			item->what == PROFILE_APPEND, d);
	if (family == FAMILY_NONE)
		return diag_fail(d, -EINVAL, "no line is known for that shell");
	prefix = resolve_value(&value, item->value, home);
	at = strchr(set[family], '%');
	buf_add(out, set[family], (size_t)(at - set[family]));
	buf_adds(out, item->name);
	buf_adds(out, at + 2);
	add_word(out, family, buf_str(&value), home ? 0 : prefix);
	buf_addc(out, '\n');
	return value.err ? value.err : out->err;
}

int profile_line_docker(struct buf *out, const struct profile_item *item,
	const char *home, struct diag *d)
{
	autobuf struct buf value = BUF_INIT(2 * (size_t)PROFILE_DIR_MAX + 2);

	if (item->what == PROFILE_VAR) {
		if (profile_home_prefix(item->value) && !home)
			return diag_fail(d, -EINVAL,
				"'%s': the home is not known", item->value);
		resolve_value(&value, item->value, home);
		buf_addf(out, "ENV %s=\"", item->name);
	} else {
		buf_adds(&value, item->dir->text);
		buf_adds(out, "ENV PATH=\"");
	}
	if (item->what == PROFILE_APPEND)
		buf_adds(out, "${PATH}:");
	add_backslashed(out, buf_str(&value), value.len, "\\$\"");
	buf_adds(out, item->what == PROFILE_PREPEND ? ":${PATH}\"\n" : "\"\n");
	return value.err ? value.err : out->err;
}
