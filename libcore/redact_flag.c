/* redact_flag.c - the value behind a flag, in text and in arguments
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "redact_core.h"
#include "str.h"

enum { FLAG_MAX = 48, WORDS = 24 };

/* Which part of a flag's value is secret. */
enum form {
	FORM_NONE,
	FORM_WEAK = STRENGTH_WEAK, /* all, if it looks like one */
	FORM_LIKELY = STRENGTH_LIKELY,
	FORM_ALL = STRENGTH_SURE,
	/* What is behind that sign: "user:value" */
	FORM_PERCENT = '%',
	FORM_COMMA = ',',
	FORM_COLON = ':',
	FORM_EQUALS = '=',
};

static bool behind_sign(enum form form)
{
	return form >= FORM_PERCENT;
}

/* The words of a command so far; v: those before the flag at at of it, not yet
 * looked for. */
struct words {
	const struct redact_view *v;
	size_t at;
	const char *p[WORDS];
	size_t len[WORDS];
	size_t n;
};

struct flag {
	const char *name;
	size_t n;
	size_t dashes;
};

/* What single programs call it: apart, "-p X"; or attached, "-pX". With a verb
 * only behind that word; with "-" only where nothing but flags is between. */
static const struct own {
	const char *programs;
	char flag[10], verb[14];
	bool apart, attached;
	uint8_t form;
} owns[] = {
	{"sshpass\0", "p", "-", true, true, FORM_ALL},
	{"curl\0", "b", "", true, true, FORM_EQUALS},
	{"lftp\0", "u", "", true, true, FORM_COMMA},
	{"ldappasswd\0", "s", "", true, false, FORM_ALL},
	{"mysql\0mysqldump\0mysqladmin\0mysqlimport\0mysqlsh\0mariadb\0"
	 "mariadb-dump\0mariadb-admin\0""7z\0""7za\0""7zr\0""7zz\0rar\0unrar\0",
		"p", "", false, true, FORM_ALL},
	{"docker\0podman\0buildah\0nerdctl\0helm\0oc\0skopeo\0oras\0crane\0"
	 "az\0cf\0", "p", "login", true, false, FORM_ALL},
	{"twine\0cqlsh\0rdesktop\0crackmapexec\0netexec\0evil-winrm\0"
	 "ncftpput\0ncftpget\0useradd\0usermod\0psexec\0altool\0steghide\0"
	 "hydra\0", "p", "", true, true, FORM_ALL},
	{"snmpget\0snmpwalk\0snmpset\0", "c", "", true, false, FORM_LIKELY},
	{"ssh-keygen\0", "N", "", true, false, FORM_ALL},
	{"ssh-keygen\0", "P", "", true, false, FORM_ALL},
	{"http\0https\0xh\0", "a", "", true, false, FORM_COLON},
	{"http\0https\0xh\0", "-auth", "", true, false, FORM_COLON},
	{"curl\0", "U", "", true, true, FORM_COLON},
	{"curl\0", "E", "", true, true, FORM_COLON},
	{"curl\0", "-cert", "", true, false, FORM_COLON},
	{"gh\0", "b", "secret", true, true, FORM_ALL},
	{"gh\0", "-body", "secret", true, false, FORM_ALL},
	{"snmpget\0snmpwalk\0snmpset\0", "A", "", true, false, FORM_ALL},
	{"snmpget\0snmpwalk\0snmpset\0", "X", "", true, false, FORM_ALL},
	{"rar\0", "hp", "", false, true, FORM_ALL},
	{"mongo\0mongosh\0mongodump\0mongorestore\0mongoimport\0"
	 "mongoexport\0", "p", "", true, false, FORM_ALL},
	{"redis-cli\0valkey-cli\0", "a", "", true, false, FORM_ALL},
	{"zip\0unzip\0ipmitool\0sqlcmd\0bcp\0", "P", "", true, false, FORM_ALL},
	{"ldapsearch\0ldapadd\0ldapmodify\0ldapdelete\0ldapwhoami\0"
	 "ldappasswd\0", "w", "",
		true, false, FORM_ALL},
	{"openssl\0", "k", "", true, false, FORM_ALL},
	{"keytool\0jarsigner\0", "storepass", "", true, false, FORM_ALL},
	{"keytool\0jarsigner\0", "keypass", "", true, false, FORM_ALL},
	{"smbclient\0rpcclient\0smbget\0net\0", "U", "", true, true, FORM_PERCENT},
};

static bool named(const char *p, size_t n, const char *name)
{
	return n == strlen(name) && memcmp(p, name, n) == 0;
}

static const struct own curl = {.programs = "curl\0"};

/* What stands behind a flag may be its value; behind the "-it" or "--" of
 * "docker exec" a program follows. */
static bool may_be_program(const struct words *w, size_t i)
{
	return !i || w->p[i - 1][0] != '-' ||
		strspn(w->p[i - 1], "-it") >= w->len[i - 1];
}

/* The words before the flag at at, of its command. What is looked back at is
 * the same however the stream was cut. */
static void find_words(struct words *w)
{
	const struct redact_view *v = w->v;
	const size_t at = w->at;
	size_t from = at, end;

	w->v = NULL;
	while (from && at - from < REDACT_BEFORE && v->text[from - 1] &&
		!strchr("\n;|&(`", v->text[from - 1]))
		from--;
	for (; from < at && w->n < WORDS; from = end) {
		size_t start = from;

		while (start < at && v->text[start] &&
			strchr(" \t'\"", v->text[start]))
			start++;
		for (end = start; end < at && (!v->text[end] ||
			     !strchr(" \t'\"", v->text[end]));)
			end++;
		/* One that was begun further back is not known. */
		if (end > start && at - start < REDACT_BEFORE) {
			w->p[w->n] = (const char *)v->text + start;
			w->len[w->n++] = end - start;
		}
	}
}

static bool runs(struct words *w, const struct own *o)
{
	bool program = false;

	if (w->v)
		find_words(w);
	for (size_t i = 0; i < w->n; i++) {
		const char *slash = memrchr(w->p[i], '/', w->len[i]);
		const char *p = slash ? slash + 1 : w->p[i];
		size_t n = (size_t)(w->p[i] + w->len[i] - p);

		if (program && named(p, n, o->verb))
			return true;
		if (program && o->verb[0] == '-')
			program = w->p[i][0] == '-';
		if (!may_be_program(w, i))
			continue;
		EACH (name, o->programs)
			program |= named(p, n, name);
		if (program && !o->verb[0])
			return true;
	}
	return program && o->verb[0] == '-';
}

/* What the flag says of the value behind it, apart; or attached, at *attached
 * of the name. */
static enum form flag_form(const struct redact *r, struct words *w,
	const struct flag *f, size_t *attached)
{
	const unsigned char *name = (const unsigned char *)f->name;
	*attached = 0;
	if (!f->n)
		return FORM_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(owns); i++) {
		const struct own *o = &owns[i];
		const char *flag = o->flag + (o->flag[0] == '-');
		size_t n;
		bool apart;

		/* Most are done with here. */
		if (name[0] != (unsigned char)flag[0])
			continue;
		n = strlen(flag);
		apart = f->n == n && o->apart;
		if (f->dashes != 1 + (size_t)(flag - o->flag) || f->n < n ||
			memcmp(name, flag, n) != 0 ||
			(!apart && !(o->attached && f->n > n)) || !runs(w, o))
			continue;
		*attached = apart ? 0 : n;
		return (enum form)o->form;
	}
	if (f->dashes == 2 && (redact_key_is(name, f->n, "user") ||
				redact_key_is(name, f->n, "proxy-user")))
		return FORM_COLON;
	if (f->dashes == 1 && name[0] == 'u') {
		*attached = f->n > 1;
		return FORM_COLON;
	}
	/* "curl -sSLu" */
	if (f->dashes == 1 && f->n > 1 && f->n < 7 && name[f->n - 1] == 'u' &&
		runs(w, &curl))
		return FORM_COLON;
	return redact_ends_with(name, f->n, "token")
		? FORM_ALL
		: (enum form)redact_key_strength(r, name, f->n);
}

/* In "[--password FILE]" and "--password <file>" nothing is given away. */
static bool usage_text(
	const struct redact_view *v, const struct redact_span *x)
{
	for (size_t i = x->from; i < x->to; i++)
		if (!(redact_bytes[v->text[i]] & (B_UPPER | B_UNDER)))
			return false;
	return x->to < v->n && v->text[x->to] == ']';
}

/* "user:value", of curl and its like; not "1000:1000". Where the value begins,
 * or 0. */
static size_t behind_user(const unsigned char *p, size_t n, char sign)
{
	size_t at;
	bool letter = false;

	for (at = 0; at < n && p[at] != sign; at++)
		if (!(redact_bytes[p[at]] & (B_TOKEN | B_DOT)) &&
			!strchr("@\\/", p[at]))
			return 0;
	if (!at || at + 1 >= n)
		return 0;
	for (size_t k = at + 1; k < n; k++)
		letter |= !(redact_bytes[p[k]] & B_DIGIT);
	/* uid:gid, user:group of the same name, a time */
	if (sign == ':' && (!letter || p[at + 1] == ':' || p[at + 1] == '/' ||
				(n - at - 1 == at && !memcmp(p, p + at + 1, at))))
		return 0;
	at++;
	return redact_placeholder(p + at, n - at) ? 0 : at;
}

/* Where the value apart of a flag that ends at i begins; v->n: not yet known;
 * SIZE_MAX: there is none. Listed: "--flag", "value". */
static size_t behind_flag(
	const struct redact_view *v, size_t i, bool listed, enum form form)
{
	const size_t end = i;

	i += listed;
	if (listed && i < v->n && v->text[i++] != ',')
		return SIZE_MAX;
	if (behind_sign(form) && i < v->n && v->text[i] == '=')
		i++;
	while (i < v->n && (v->text[i] == ' ' || v->text[i] == '\t'))
		i++;
	if (i == v->n)
		return end == i || v->last ? SIZE_MAX : i;
	if (i == end || v->text[i] == '-' ||
		(listed && v->text[i] != v->text[end]))
		return SIZE_MAX;
	return i;
}

static enum redact_answer take_behind_user(const struct redact_view *v,
	size_t at, size_t i, enum form form, struct redact_span *s)
{
	struct redact_span x;
	enum redact_answer answer = redact_value(v, i, &x);
	size_t user;

	s->mode = x.mode;
	if (answer == REDACT_MORE)
		return redact_undecided(v, s, at, x.from, false);
	user = behind_user(v->text + x.from, x.to - x.from, (char)form);
	if (answer == REDACT_NO || !user)
		return REDACT_NO;
	s->from = x.from + user;
	s->to = x.to;
	return REDACT_YES;
}

enum redact_answer redact_flag(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	struct flag f = {.dashes = 1};
	size_t i = at + 1, name, attached;
	enum redact_answer answer;
	struct words w = {.v = v, .at = at};
	enum form form;
	bool listed;

	s->kind = KIND_FLAG;
	s->mode = REDACT_MODE_WORD;
	if (at && (redact_bytes[v->text[at - 1]] & (B_WORD | B_DASH)))
		return REDACT_NO;
	if (i < v->n && v->text[i] == '-') {
		f.dashes = 2;
		i++;
	}
	name = i;
	while (i < v->n && i - name < FLAG_MAX &&
		redact_bytes[v->text[i]] & (B_TOKEN | B_DOT))
		i++;
	if (i == v->n && !v->last)
		return redact_undecided(v, s, at, at, false);
	f.name = (const char *)v->text + name;
	/* "-p'X'": the value's quote is one byte of it. */
	listed = at && i < v->n && v->text[i] == v->text[at - 1] &&
		(v->text[i] == '"' || v->text[i] == '\'');
	f.n = i - name +
		(i < v->n && f.dashes == 1 && v->text[i] > ' ' && !listed);
	form = flag_form(r, &w, &f, &attached);
	if (form == FORM_NONE)
		return REDACT_NO;
	if (attached)
		i = name + attached;
	else
		i = behind_flag(v, i, listed, form);
	if (i == SIZE_MAX)
		return REDACT_NO;
	if (behind_sign(form))
		return take_behind_user(v, at, i, form, s);
	answer = redact_judge(v, at, i, v->text + name, attached ? 0 : f.n,
		(enum redact_strength)form, s);
	return answer == REDACT_YES && usage_text(v, s) ? REDACT_NO : answer;
}

static struct flag flag_of(const char *arg)
{
	struct flag f = {.dashes = arg[0] == '-' ? 1u + (arg[1] == '-') : 0};

	f.name = arg + f.dashes;
	f.n = f.dashes && !strchr(arg, '=') ? strlen(f.name) : 0;
	return f;
}

/* Where in argv[i] a secret begins, for the flag before it or its own. */
static bool secret_arg(const struct redact *r, const char *const *argv,
	size_t i, size_t *from)
{
	const unsigned char *text = (const unsigned char *)argv[i];
	const size_t n = strlen(argv[i]);
	struct words w = {.n = 0};
	enum form form = FORM_NONE;
	struct flag f;

	for (size_t k = i > WORDS ? i - WORDS : 0; k < i; k++) {
		w.p[w.n] = argv[k];
		w.len[w.n++] = strlen(argv[k]);
	}
	*from = 0;
	f = flag_of(argv[i]);
	if (f.dashes == 1 && f.n)
		form = flag_form(r, &w, &f, from);
	if (form != FORM_NONE && *from) {
		*from += f.dashes;
	} else if (i && text[0] != '-') {
		f = flag_of(argv[i - 1]);
		w.n--;
		form = flag_form(r, &w, &f, from);
		if (*from)
			return false;
		/* openssl's */
		if (f.dashes && strncmp(f.name, "pass", 4) == 0 &&
			strncmp(argv[i], "pass:", 5) == 0) {
			*from = 5;
			return n > 5;
		}
	} else {
		return false;
	}
	if (form == FORM_NONE)
		return false;
	if (behind_sign(form)) {
		size_t user = behind_user(text + *from, n - *from, (char)form);

		*from += user;
		return user > 0;
	}
	return redact_is_secret(
		text + *from, n - *from, (enum redact_strength)form);
}

/* Is argv[i] what redact_operand looks for, and from where on? */
static bool operand_arg(
	const char *const *argv, size_t argc, size_t i, size_t *from)
{
	char space[512];
	struct buf line = BUF_FIXED(space);
	struct redact_view v = {.text = (unsigned char *)space};
	const char *slash = strrchr(argv[0], '/');
	struct redact_span s;
	size_t at = 0;

	buf_adds(&line, slash ? slash + 1 : argv[0]);
	v.n = line.len;
	/* Most programs are done with here. */
	if (!i || i > WORDS || redact_operand(&v, 0, &s) != REDACT_MORE)
		return false;
	for (size_t k = 1; k <= i; k++) {
		buf_addc(&line, ' ');
		at = line.len;
		buf_adds(&line, argv[k]);
	}
	v.n = line.len;
	v.last = true;
	/* Of a line that is too long the last word is hidden unseen. */
	*from = 0;
	if (line.err)
		return i + 1 == argc;
	if (redact_operand(&v, 0, &s) != REDACT_YES || s.from < at)
		return false;
	/* A blank within is none between words. */
	if (space[s.from - 1] == '/')
		*from = s.from - at;
	return *from || i + 1 == argc;
}

int redact_arg(struct redact *r, const char *const *argv, size_t argc, size_t i,
	struct buf *out)
{
	size_t from;

	if (!secret_arg(r, argv, i, &from) &&
		!operand_arg(argv, argc, i, &from))
		return redact_text(r, argv[i], strlen(argv[i]), out);
	buf_add(out, argv[i], from);
	buf_adds(out, REDACT_MARK);
	r->found[KIND_FLAG]++;
	return out->err;
}
