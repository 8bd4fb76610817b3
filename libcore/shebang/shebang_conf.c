/* shebang_conf.c - how to search: defaults, then the script, then variables
 * SPDX-License-Identifier: MIT
 */
#include "shebang/shebang_in.h"

#include <string.h>

#include "sys/env.h"
#include "base/str.h"

enum kind { BOOLEAN, PRIORITY, FREE };

static const struct {
	const char *name;     /* behind "auto-shebang-" */
	const char *shown;    /* in the trace */
	const char *variable; /* NULL: the environment has no say */
	const char *standard;
	enum kind kind;
} keys[SHEBANG_KEYS] = {
	[SHEBANG_FOLLOW] = {"follow-symlinks", "follow-symlinks",
		"AUTO_SHEBANG_FOLLOW_SYMLINKS", "no", BOOLEAN},
	[SHEBANG_PRIORITY] = {"symlink-priority", "symlink-priority",
		"AUTO_SHEBANG_SYMLINK_PRIORITY", "real-first", PRIORITY},
	[SHEBANG_PROBE_DIRS] = {"probe-dirs", "probe-dirs",
		"AUTO_SHEBANG_PROBE_DIRS", ".:bin", FREE},
	[SHEBANG_EXPAND] = {"unsafe-expand-probe-dirs", "unsafe-expand",
		"AUTO_SHEBANG_UNSAFE_EXPAND_PROBE_DIRS", "no", BOOLEAN},
	[SHEBANG_SUFFIXES] = {"suffixes", "suffixes", "AUTO_SHEBANG_SUFFIXES",
		":primary:secondary:tertiary", FREE},
	[SHEBANG_TRUST_ENV] = {"trust-env", "trust-env", NULL, "yes", BOOLEAN},
};

const char *shebang_key_name(enum shebang_key key)
{
	return keys[key].shown;
}

const char *shebang_source_name(enum shebang_source source)
{
	static const char names[][10] = {
		[SHEBANG_DEFAULT] = "default",
		[SHEBANG_DIRECTIVE] = "directive",
		[SHEBANG_ENV] = "env",
	};

	return names[source];
}

static void take_value(struct shebang_conf *c, enum shebang_key key,
	const char *value, enum shebang_source source)
{
	c->value[key] = value;
	c->source[key] = source;
}

void shebang_defaults(struct shebang_conf *c)
{
	for (enum shebang_key k = 0; k < SHEBANG_KEYS; k++)
		take_value(c, k, keys[k].standard, SHEBANG_DEFAULT);
}

static bool is_priority(const char *value)
{
	return str_eq(value, "real-first") || str_eq(value, "symlink-first");
}

static int take_direct(struct shebang *s, enum shebang_key key,
	const char *value)
{
	const char *must = NULL;

	if (keys[key].kind == BOOLEAN && !str_eq(value, "yes") &&
		!str_eq(value, "no"))
		must = "yes or no";
	if (keys[key].kind == PRIORITY && !is_priority(value))
		must = "real-first or symlink-first";
	if (must)
		return shebang_fail(s, SHEBANG_BAD,
			"invalid auto-shebang-%s: '%s' (must be %s)",
			keys[key].name, value, must);
	if (*value)
		take_value(&s->conf, key, value, SHEBANG_DIRECTIVE);
	else
		take_value(&s->conf, key, keys[key].standard, SHEBANG_DEFAULT);
	return SHEBANG_FOUND;
}

char *shebang_find(char *text, size_t n, const char *word, size_t len)
{
	char *at = text, *end = text + n;

	while ((at = memchr(at, word[0], (size_t)(end - at))) != NULL) {
		if ((size_t)(end - at) < len)
			return NULL;
		if (memcmp(at, word, len) == 0)
			return at;
		at++;
	}
	return NULL;
}

/* Reads one line; line[n] may be written to. cut: the line is longer than what
 * was scanned. */
static int read_line(struct shebang *s, char *line, size_t n, bool cut)
{
	static const char sign[] = "auto-shebang-";
	char *key, *value, *end;

	if (n && line[n - 1] == '\r')
		n--;
	key = shebang_find(line, n, sign, sizeof sign - 1);
	if (!key)
		return SHEBANG_FOUND;
	key += sizeof sign - 1;
	value = memchr(key, '=', (size_t)(line + n - key));
	if (!value)
		return SHEBANG_FOUND;
	*value++ = '\0';
	for (end = value; end < line + n && *end != ' ' && *end != '\t'; end++)
		;
	cut &= end == line + n;
	*end = '\0';
	for (enum shebang_key k = 0; k < SHEBANG_KEYS; k++) {
		if (!str_eq(key, keys[k].name))
			continue;
		if (cut)
			return shebang_fail(s, SHEBANG_BAD,
				"auto-shebang-%s goes on behind the first %d "
				"bytes of the script, which are all that is "
				"read",
				key, SHEBANG_SCAN);
		return take_direct(s, k, value);
	}
	shebang_trace(s, "unknown directive: auto-shebang-%s", key);
	return SHEBANG_FOUND;
}

/* A shell's read drops NULs, so they hide nothing. */
static size_t drop_nuls(char *text, size_t n)
{
	char *first = memchr(text, '\0', n);
	size_t kept = first ? (size_t)(first - text) : n;

	for (size_t i = kept; i < n; i++)
		if (text[i])
			text[kept++] = text[i];
	return kept;
}

int shebang_directives(struct shebang *s, size_t n, bool whole)
{
	char *line = s->pool, *end;
	int code = SHEBANG_FOUND;

	n = drop_nuls(s->pool, n);
	end = line + n;
	for (unsigned i = 0; i < SHEBANG_LINES && line < end && !code; i++) {
		char *stop = memchr(line, '\n', (size_t)(end - line));
		bool cut = !stop && !whole;

		if (!stop)
			stop = end;
		code = read_line(s, line, (size_t)(stop - line), cut);
		line = stop + 1;
	}
	return code;
}

static int take_override(struct shebang *s, enum shebang_key key,
	const char *value)
{
	const char *taken = value, *must = NULL;

	if (keys[key].kind == BOOLEAN) {
		taken = str_eq(value, "1") ? "yes" : "no";
		if (!str_eq(value, "1") && !str_eq(value, "0"))
			must = "1 or 0";
	} else if (keys[key].kind == PRIORITY && !is_priority(value)) {
		must = "real-first or symlink-first";
	}
	if (must)
		return shebang_fail(s, SHEBANG_BAD,
			"invalid %s: '%s' (must be %s)", keys[key].variable,
			value, must);
	take_value(&s->conf, key, taken, SHEBANG_ENV);
	return SHEBANG_FOUND;
}

int shebang_variables(struct shebang *s)
{
	int code = SHEBANG_FOUND;

	if (str_eq(s->conf.value[SHEBANG_TRUST_ENV], "no"))
		return code;
	for (enum shebang_key k = 0; k < SHEBANG_TRUST_ENV && !code; k++) {
		const char *value = env_get(s->rq->env, keys[k].variable);

		if (value && *value)
			code = take_override(s, k, value);
	}
	return code;
}
