/* redact_name.c - what is the name of a secret, and what is no secret
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact_core.h"
#include "str.h"

static char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : (char)c;
}

/* A name in small letters, without what joins its words. */
struct key {
	char flat[REDACT_KEY_MAX + 1];
	size_t n;
};

static bool flat_ends(const struct key *k, const char *s)
{
	size_t n = strlen(s);

	return k->n >= n && memcmp(k->flat + k->n - n, s, n) == 0;
}

bool redact_ends_with(
	const unsigned char *key, size_t n, const char *word)
{
	size_t len = strlen(word);

	if (n < len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (lower(key[n - len + i]) != word[i])
			return false;
	if (n == len)
		return true;
	key += n - len;
	return !(redact_bytes[key[-1]] & B_ALNUM) ||
		(redact_bytes[key[0]] & B_UPPER &&
			redact_bytes[key[-1]] & (B_LOWER | B_DIGIT));
}

static void flatten(struct key *k, const unsigned char *key, size_t n)
{
	k->n = 0;
	for (size_t i = 0; i < n && k->n < REDACT_KEY_MAX; i++)
		if (redact_bytes[key[i]] & B_ALNUM)
			k->flat[k->n++] = lower(key[i]);
	k->flat[k->n] = '\0';
}

static bool in_list(const char *const *list, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(list[i], s))
			return true;
	return false;
}

/* Names of what is about a secret and is none. */
static bool about_a_secret(const struct key *k, const unsigned char *key, size_t n)
{
	static const char *const ends[] = {"file", "path", "id", "name", "url",
		"uri", "dir", "ttl", "type", "length", "len", "count", "size",
		"limit", "expiry", "expires", "endpoint", "policy", "prompt",
		"field", "format", "version", "method"};

	if (str_eq(k->flat, "pwd") || str_eq(k->flat, "oldpwd"))
		return redact_bytes[key[n - 1]] & B_UPPER;
	if (flat_ends(k, "secretid") || flat_ends(k, "roleid"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (redact_ends_with(key, n, ends[i]))
			return true;
	return false;
}

/* Every name of a secret holds one of these; most names hold none, and are
 * done with here. */
static bool worth_a_look(const unsigned char *key, size_t n)
{
	static const char marks[][5] = {"auth", "bear", "conn", "cook", "cred",
		"key", "pass", "pwd", "salt", "secr", "sess", "sid", "sign",
		"toke"};
	/* By letter from 'a': the first mark that begins with it. */
	static const uint8_t from[26] = {
		['a' - 'a'] = 1, ['b' - 'a'] = 2, ['c' - 'a'] = 3,
		['k' - 'a'] = 6, ['p' - 'a'] = 7, ['s' - 'a'] = 9,
		['t' - 'a'] = 14};

	for (size_t i = 0; i + 2 < n; i++) {
		unsigned first = (key[i] | 32u) - 'a';
		unsigned m = first < 26 ? from[first] : 0;

		for (; m && m <= ARRAY_SIZE(marks) &&
			marks[m - 1][0] == (char)(key[i] | 32);
			m++) {
			const char *mark = marks[m - 1];
			size_t k = 1;

			while (mark[k] && i + k < n &&
				(char)(key[i + k] | 32) == mark[k])
				k++;
			if (!mark[k])
				return true;
		}
	}
	return false;
}

int redact_key_strength(
	const struct redact *r, const unsigned char *key, size_t n)
{
	static const char *const strong[] = {"password", "passwd", "passphrase",
		"passwort", "passcode", "secret", "apikey", "accesskey", "privatekey",
		"credential", "clientsecret", "signingkey", "encryptionkey",
		"masterkey", "accountkey", "sharedaccesskey", "connectionstring",
		"authkey", "bearer"};
	static const char *const weak_words[] = {
		"key", "auth", "cookie", "pass", "salt", "signature", "sid"};
	struct key k;

	if (r->pattern_count && redact_user_key(r, key, n))
		return 2;
	if (!worth_a_look(key, n))
		return 0;
	flatten(&k, key, n);
	if (about_a_secret(&k, key, n))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(strong); i++)
		if (str_find(k.flat, strong[i]))
			return 2;
	if (str_eq(k.flat, "pwd") || redact_ends_with(key, n, "pwd") ||
		redact_ends_with(key, n, "passwd"))
		return 2;
	if (str_eq(k.flat, "token"))
		return 1;
	if (redact_ends_with(key, n, "token"))
		return 2;
	if (str_eq(k.flat, "sessionid") || flat_ends(&k, "sessionkey"))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(weak_words); i++)
		if (redact_ends_with(key, n, weak_words[i]))
			return 1;
	return 0;
}

bool redact_secret_name(const char *name, size_t n)
{
	static const struct redact none = REDACT_INIT;

	return redact_key_strength(&none, (const unsigned char *)name,
		       n < REDACT_KEY_MAX ? n : REDACT_KEY_MAX) > 0;
}

/* $NAME ${NAME} $(call) $1, {{ name }} {name}, %s %NAME%; a hash such as
 * $6$salt$... does not. */
static bool stands_for_a_value(const unsigned char *p, size_t n)
{
	if (p[0] == '$')
		return n < 3 || redact_bytes[p[1]] &
				(B_UPPER | B_LOWER | B_UNDER) ||
			strchr("{(", p[1]);
	if (p[0] == '{')
		return n < 3 || p[1] == '{' || p[n - 1] == '}';
	return p[0] == '%' && (n < 4 || p[n - 1] == '%');
}

bool redact_placeholder(const unsigned char *p, size_t n)
{
	static const char *const words[] = {"null", "nil", "none", "undefined",
		"true", "false", "[redacted]", "redacted", "file", "path",
		"password", "value", "string", "changeme", "example", "required",
		"prompt", "stdin", "yes", "no", "optional"};
	static const char *const starts[] = {"os.environ", "process.env",
		"env.", "getenv", "secrets.", "var.", "vault:", "ssm:", "ref+",
		"op://"};
	char word[16];
	size_t i = 0;

	if (!n || p[0] == '<' || stands_for_a_value(p, n))
		return true;
	while (i < n && (p[i] == '*' || p[i] == 'x' || p[i] == 'X' ||
				p[i] == '.'))
		i++;
	if (i == n)
		return true;
	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		size_t len = strlen(starts[i]);

		if (n >= len && memcmp(p, starts[i], len) == 0)
			return true;
	}
	/* A call: word( or word.word( */
	for (i = 0; i < n && redact_bytes[p[i]] & (B_WORD | B_DOT); i++)
		;
	if (i && i < n && p[i] == '(')
		return true;
	if (n >= sizeof word)
		return false;
	for (i = 0; i < n; i++)
		word[i] = lower(p[i]);
	word[n] = '\0';
	return in_list(words, ARRAY_SIZE(words), word);
}
