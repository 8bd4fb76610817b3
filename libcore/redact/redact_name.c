/* redact_name.c - what is the name of a secret, and what is no secret
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact/redact_in.h"
#include "base/str.h"

/* Digits of a length and of a digest together. */
enum { DIGITS = 20 };

/* A name in small letters, without the signs between its words. */
struct key {
	char flat[REDACT_KEY_MAX + 1];
	size_t n;
};

static bool flat_ends(const struct key *k, const char *s)
{
	size_t n = strlen(s);

	return k->n >= n && memcmp(k->flat + k->n - n, s, n) == 0;
}

static bool ends_word(
	const unsigned char *key, size_t n, const char *word, size_t len)
{
	/* Most words differ in the last letter. */
	if (n < len || redact_lower(key[n - 1]) != word[len - 1])
		return false;
	for (size_t i = 0; i < len; i++)
		if (redact_lower(key[n - len + i]) != word[i])
			return false;
	if (n == len)
		return true;
	key += n - len;
	return !(redact_bytes[key[-1]] & B_ALNUM) ||
		(redact_bytes[key[0]] & B_UPPER &&
			redact_bytes[key[-1]] & (B_LOWER | B_DIGIT));
}

bool redact_ends_with(
	const unsigned char *key, size_t n, const char *word)
{
	return ends_word(key, n, word, strlen(word));
}

/* Does the key end with one of the list's words? */
static bool ends_listed(const unsigned char *key, size_t n, const char *list)
{
	for (size_t len; *list; list += len + 1) {
		len = strlen(list);
		if (ends_word(key, n, list, len))
			return true;
	}
	return false;
}

static bool flat_ends_listed(const struct key *k, const char *list)
{
	EACH (word, list)
		if (flat_ends(k, word))
			return true;
	return false;
}

static void key_flatten(struct key *k, const unsigned char *key, size_t n)
{
	k->n = 0;
	for (size_t i = 0; i < n && k->n < REDACT_KEY_MAX; i++)
		if (redact_bytes[key[i]] & B_ALNUM)
			k->flat[k->n++] = redact_lower(key[i]);
	k->flat[k->n] = '\0';
}

/* Does the name tell something about a secret, such as its length or file? */
static bool about_a_secret(const struct key *k, const unsigned char *key, size_t n)
{
	static const char ends[] =
		"file\0path\0id\0name\0url\0uri\0dir\0ttl\0type\0"
		"length\0len\0count\0size\0limit\0expiry\0expires\0"
		"endpoint\0policy\0prompt\0field\0format\0version\0"
		"method\0max\0min\0stdin\0fd\0command\0algorithm\0"
		"helper\0askpass\0manager\0interval\0bypass\0ref\0at\0date\0age\0"
		"hint\0label\0title\0error\0help\0placeholder\0"
		"description\0strength\0enabled\0required\0"
		"secretary\0";
	/* Names of keys that open nothing. */
	static const char keys[] =
		"publickey\0pubkey\0hostkey\0cachekey\0primarykey\0"
		"publishablekey\0foreignkey\0sortkey\0partitionkey\0routingkey\0"
		"secretsmanager\0libsecret10\0pagetoken\0nexttoken\0";

	if (str_eq(k->flat, "pwd") || str_eq(k->flat, "oldpwd"))
		return redact_bytes[key[n - 1]] & B_UPPER;
	if (flat_ends(k, "secretid") || flat_ends(k, "roleid") ||
		flat_ends(k, "sessionid"))
		return false;
	return ends_listed(key, n, ends) || flat_ends_listed(k, keys);
}

/* The strength of "pass", which is also what a test does, and one run of
 * many. */
static enum redact_strength pass_strength(
	struct key k, const unsigned char *key, size_t n)
{
	static const char whose[] =
		"db\0mysql\0pg\0redis\0ldap\0smtp\0imap\0mail\0ftp\0"
		"ssh\0http\0proxy\0auth\0api\0user\0admin\0root\0sudo\0"
		"become\0login\0key\0store\0trust\0vault\0wifi\0require\0";
	size_t under = 0, small = 0;

	if (!flat_ends(&k, "pass"))
		return STRENGTH_NONE;
	for (size_t i = 0; i < n; i++) {
		under += key[i] == '_';
		small += (redact_bytes[key[i]] & B_LOWER) != 0;
	}
	if (under && !small)
		return STRENGTH_SURE;
	k.n -= strlen("pass");
	if (flat_ends_listed(&k, whose))
		return STRENGTH_SURE;
	return redact_ends_with(key, n, "pass") ? STRENGTH_LIKELY
						: STRENGTH_NONE;
}

static bool begins_mark(const char *key, size_t n, const char *mark)
{
	size_t k = 0;

	while (k < n && mark[k] && (char)(key[k] | 32) == mark[k])
		k++;
	return !mark[k];
}

/* Does the name hold one of the marks? Every secret's name does; most names
 * hold none. */
static bool worth_a_look(const unsigned char *key, size_t n)
{
	static const char marks[][5] = {"auth", "bear", "conn", "cook", "cred",
		"kenn", "key", "pass", "phra", "psk", "pw", "salt",
		"secr", "sess", "sid", "sig", "toke"};
#define LETTER(c) (1U << ((c) & 31))
	/* Letters that may stand behind a mark's first letter. */
	static const uint32_t second[32] = {
		['a' & 31] = LETTER('u'),
		['b' & 31] = LETTER('e'),
		['c' & 31] = LETTER('o') | LETTER('r'),
		['k' & 31] = LETTER('e'),
		['p' & 31] = LETTER('a') | LETTER('h') | LETTER('s') |
			LETTER('w'),
		['s' & 31] = LETTER('a') | LETTER('e') | LETTER('i'),
		['t' & 31] = LETTER('o'),
	};

	for (size_t i = 0; i + 1 < n; i++) {
		if (!(second[key[i] & 31] >> (key[i + 1] & 31) & 1))
			continue;
		for (size_t m = 0; m < ARRAY_SIZE(marks); m++)
			if (marks[m][0] == (char)(key[i] | 32) &&
				begins_mark((const char *)key + i, n - i,
					marks[m]))
				return true;
	}
	return false;
}

static enum redact_strength name_strength(const unsigned char *key, size_t n)
{
	static const char plural[] =
		"secrets\0credentials\0passwords\0psk\0";
	static const char strong[] =
		"password\0passwd\0passphrase\0passwort\0passcode\0secret\0"
		"apikey\0accesskey\0privatekey\0credential\0signingkey\0"
		"encryptionkey\0masterkey\0accountkey\0connectionstring\0"
		"authkey\0bearer\0kennwort\0motdepasse\0seedphrase\0"
		"recoveryphrase\0unsealkey\0recoverykey\0authtok\0";
	static const char weak[] =
		"key\0auth\0cookie\0salt\0signature\0sig\0sid\0"
		"key-data\0";
	/* These count whatever stands before them. */
	static const char weak_ends[] =
		"token\0sessionid\0sessid\0sessionkey\0bwsession\0secretid\0roleid\0";
	enum redact_strength pass;
	struct key k;

	key_flatten(&k, key, n);
	if (about_a_secret(&k, key, n))
		return STRENGTH_NONE;
	if (flat_ends_listed(&k, plural))
		return STRENGTH_LIKELY;
	pass = pass_strength(k, key, n);
	if (pass)
		return pass;
	if (!flat_ends(&k, "secretid"))
		EACH (word, strong)
			if (str_find(k.flat, word))
				return STRENGTH_SURE;
	if (str_eq(k.flat, "pwd") || redact_ends_with(key, n, "pwd") ||
		redact_ends_with(key, n, "passwd"))
		return STRENGTH_SURE;
	if (!str_eq(k.flat, "token") && redact_ends_with(key, n, "token"))
		return STRENGTH_SURE;
	if (flat_ends(&k, "pw"))
		return STRENGTH_LIKELY;
	return flat_ends_listed(&k, weak_ends) || ends_listed(key, n, weak)
		? STRENGTH_WEAK
		: STRENGTH_NONE;
}

/* API_KEY and api-key are one name. */
static char join_sign(unsigned char c)
{
	return c == '-' ? '_' : redact_lower(c);
}

bool redact_names_itself(const unsigned char *key, size_t n,
	const unsigned char *value, size_t len)
{
	static const char shortest[] = "key";

	/* Prefixes of SQL, Ruby and the shell. */
	if (len && value[0] && strchr(":@&*", value[0])) {
		value++;
		len--;
	}
	if (len < sizeof shortest - 1 || len > n)
		return false;
	for (size_t i = 0; i < len; i++)
		if (join_sign(key[n - len + i]) != join_sign(value[i]))
			return false;
	return n == len || !(redact_bytes[key[n - len - 1]] & B_ALNUM) ||
		redact_bytes[key[n - len]] & B_UPPER;
}

enum redact_strength redact_key_strength(
	const struct redact *r, const unsigned char *key, size_t n)
{
	if (r && r->policy && r->policy->pattern_count &&
		redact_user_key(r, key, n))
		return STRENGTH_SURE;
	return worth_a_look(key, n) ? name_strength(key, n) : STRENGTH_NONE;
}

bool redact_secret_name(const char *name, size_t n)
{
	const unsigned char *key = (const unsigned char *)name;
	const size_t most = n < REDACT_KEY_MAX ? n : REDACT_KEY_MAX;

	/* Our own mark is a secret's, and must be found again in a record. */
	return worth_a_look(key, most) && !redact_ends_with(key, n,
		"session_id") && name_strength(key, most);
}

/* {name}, {0.name!r}; no base64 */
static bool in_braces(const unsigned char *p, size_t n)
{
	for (size_t i = 1; i + 1 < n; i++)
		if (p[i] && strchr("+/=", p[i]))
			return false;
	return p[n - 1] == '}';
}

/* Does the value stand for a variable: $NAME ${NAME} $(call) $1, {{ name }}
 * {name}, %s %NAME%? A hash such as $6$salt$... does not. */
static bool stands_for_a_value(const unsigned char *p, size_t n)
{
	if (p[0] == '$')
		return n < 3 || redact_bytes[p[1]] &
				(B_UPPER | B_LOWER | B_UNDER) ||
			strchr("{(", p[1]);
	if (p[0] == '{')
		return n < 3 || p[1] == '{' || in_braces(p, n);
	return p[0] == '%' && (n < 4 || p[1] == '(' || p[n - 1] == '%' ||
				      (n == 4 && p[2] == '\\'));
}

/* Does the value only say where the secret is: "(sensitive", "[hidden]",
 * "!secret", config.db.password, or a part of a secret's address:
 * random_password.db.result? */
static bool says_where(const unsigned char *p, size_t n)
{
	const bool opened = p[0] && strchr("([!", p[0]);
	size_t i = opened, part = 0;
	bool named = false;

	for (; i < n && redact_bytes[p[i]] & (B_LOWER | B_UPPER | B_UNDER | B_DOT);
		i++) {
		if (p[i] != '.')
			continue;
		named |= redact_key_strength(NULL, p + part, i - part) > 0;
		part = i + 1;
	}
	if (opened)
		return i > 1 && (i == n || (i + 1 == n && (p[i] == ')' || p[i] == ']')));
	return i == n && part > 1 && part < n &&
		(named || redact_key_strength(NULL, p + part, n - part));
}

/* The length of a letter at p that hides another one: *, x, a dot of UTF-8. */
static size_t hidden_letter(const unsigned char *p, size_t n)
{
	static const char dots[] = "\u2026\0\u2022\0\u25cf\0";

	if (p[0] && strchr("*xX.-", p[0]))
		return 1;
	EACH (dot, dots)
		if (n >= 3 && memcmp(p, dot, 3) == 0)
			return 3;
	return 0;
}

/* Is it our mark "[REDACTED]{63:ab12cd34}", of a log that is shown: whole, or
 * as far as a word goes? */
static bool our_mark(const unsigned char *p, size_t n)
{
	static const char mark[] = REDACT_MARK "{";
	size_t i = sizeof mark - 1;

	if (n <= i || n > i + DIGITS || memcmp(p, mark, i) != 0)
		return false;
	while (i < n && (redact_bytes[p[i]] & B_HEX || p[i] == ':'))
		i++;
	return i == n || (i + 1 == n && p[i] == '}');
}

bool redact_placeholder(const unsigned char *p, size_t n)
{
	static const char words[] =
		"null\0nil\0none\0undefined\0true\0false\0[redacted]\0"
		"redacted\0file\0path\0password\0value\0string\0"
		"changeme\0example\0required\0prompt\0stdin\0yes\0no\0"
		"optional\0str\0&str\0bool\0bytes\0text\0"
		"default\0buffer\0secretstr\0any\0number\0the\0your\0"
		"both\0must\0not\0await\0disabled\0enabled\0unset\0empty\0"
		"missing\0invalid\0incorrect\0expired\0wrong\0ok\0";
	/* The last one is our own session id. */
	static const char starts[] =
		"os.environ\0process.env\0env.\0getenv\0secrets.\0"
		"var.\0local.\0module.\0vault:\0ssm:\0ref+\0op://\0"
		"id=\0your-\0your_\0YOUR_\0SHA256:\0/etc/\0/home/\0"
		"/root/\0/run/\0/tmp/\0/usr/\0/var/\0~/\0./\0../\0"
		"/opt/\0/srv/\0/mnt/\0/work\0/app\0data.\0env:\0file:\0"
		"session-\0";
	char flat[16];
	size_t i = 0, step;

	if (!n || p[0] == '<' || stands_for_a_value(p, n) || says_where(p, n) ||
		our_mark(p, n))
		return true;
	while (i < n && (step = hidden_letter(p + i, n - i)))
		i += step;
	if (i == n)
		return true;
	EACH (start, starts)
		if (n >= strlen(start) && memcmp(p, start, strlen(start)) == 0)
			return true;
	/* A call, an element: word( or word.word[ */
	for (i = 0; i < n && redact_bytes[p[i]] & (B_WORD | B_DOT); i++)
		;
	if (i && i < n && (p[i] == '(' || p[i] == '['))
		return true;
	if (n >= sizeof flat)
		return false;
	for (i = 0; i < n; i++)
		flat[i] = redact_lower(p[i]);
	flat[n] = '\0';
	EACH (word, words)
		if (str_eq(word, flat))
			return true;
	return false;
}
