/* shebang_expand.c - where an entry of probe-dirs leads
 * SPDX-License-Identifier: MIT
 */
#include "shebang/shebang_in.h"

#include <string.h>

#include "sys/env.h"
#include "base/str.h"

static bool is_home(const char *entry, size_t n)
{
	return n && entry[0] == '~' && (n == 1 || entry[1] == '/');
}

bool shebang_is_rooted(const char *entry, size_t n)
{
	return (n && entry[0] == '/') || is_home(entry, n);
}

/* The value of name[0..n), "" when there is none. */
static const char *env_value(char *const *env, const char *name, size_t n)
{
	for (; env && *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return "";
}

/* text[0] is '$'. How much of it was replaced; 0 after an error. */
static size_t expand_one(
	struct shebang *s, const char *text, size_t n, struct buf *out)
{
	const char *name = text + 1;
	const char *close = NULL;
	size_t len = 0;

	if (n > 1 && *name == '{')
		close = memchr(++name, '}', n - 2);
	s->work++;
	if (close) {
		len = (size_t)(close - name);
		if (!str_is_name(name, len)) {
			if (len)
				shebang_fail(s, SHEBANG_BAD,
					"unsafe expansion: invalid variable "
					"'${%.*s}'",
					(int)len, name);
			else
				shebang_fail(s, SHEBANG_BAD,
					"unsafe expansion: empty variable name");
			return 0;
		}
		buf_adds(out, env_value(s->rq->env, name, len));
		return len + 3;
	}
	while (len + 1 < n && chr_name(text[1 + len]))
		len++;
	if (!len || !chr_name1(text[1])) {
		buf_addc(out, '$');
		return 1;
	}
	buf_adds(out, env_value(s->rq->env, text + 1, len));
	return len + 1;
}

int shebang_expand(
	struct shebang *s, const char *text, size_t n, struct buf *out)
{
	const char *what = NULL;

	if (memmem(text, n, "$(", 2))
		what = "command substitution";
	else if (memchr(text, '`', n))
		what = "backtick";
	if (what)
		return shebang_fail(s, SHEBANG_BAD,
			"unsafe expansion: %s in probe-dirs: %.*s", what,
			(int)n, text);
	while (n) {
		const char *dollar = memchr(text, '$', n);
		size_t plain = dollar ? (size_t)(dollar - text) : n;
		size_t used;

		buf_add(out, text, plain);
		text += plain;
		n -= plain;
		if (!n)
			break;
		used = expand_one(s, text, n, out);
		if (!used)
			return SHEBANG_BAD;
		text += used;
		n -= used;
	}
	return SHEBANG_FOUND;
}

static int too_long(struct shebang *s, const char *entry, size_t n)
{
	return shebang_fail(s, SHEBANG_BAD,
		"probe-dirs entry becomes longer than %d bytes: %.*s",
		SHEBANG_PATH - 1, (int)n, entry);
}

int shebang_place(struct shebang *s, const char *entry, size_t n,
	const char *dir, size_t dir_len, struct buf *place)
{
	struct buf home = BUF_FIXED(s->entry[0]);
	struct buf expanded = BUF_FIXED(s->entry[1]);
	const char *text = entry;
	size_t len = n;

	if (is_home(entry, n)) {
		const char *at = env_get(s->rq->env, "HOME");

		if (!at || !*at)
			return shebang_fail(s, SHEBANG_BAD,
				"HOME is not set but probe-dirs contains ~");
		buf_adds(&home, at);
		buf_add(&home, entry + 1, n - 1);
		if (home.err)
			return too_long(s, entry, n);
		text = home.data;
		len = home.len;
	}
	if (str_eq(s->conf.value[SHEBANG_EXPAND], "yes")) {
		int code = shebang_expand(s, text, len, &expanded);

		if (code)
			return code;
		if (expanded.err)
			return too_long(s, entry, n);
		text = expanded.data;
		len = expanded.len;
	}
	if (len && text[0] == '/') {
		buf_add(place, text, len);
		return SHEBANG_FOUND;
	}
	buf_add(place, dir, dir_len);
	if (len == 1 && text[0] == '.')
		return SHEBANG_FOUND;
	buf_addc(place, '/');
	buf_add(place, text, len);
	return SHEBANG_FOUND;
}
