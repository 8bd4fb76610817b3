/* state_file.c - the state of a session as text, and back
 * SPDX-License-Identifier: MIT
 */
#include "sys/state.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

static const char magic[] = "wardbox-state 1\n";

/* Records that stand in a file at most once, in its order. */
static const struct {
	char key[12];
	uint16_t at;
	enum kind { A_PATH, A_TEXT, A_NUMBER } kind;
} fields[] = {
	{"cwd", offsetof(struct state, cwd), A_PATH},
	{"pwd", offsetof(struct state, pwd), A_PATH},
	{"old", offsetof(struct state, old), A_PATH},
	{"workspace", offsetof(struct state, workspace), A_PATH},
	{"changes", offsetof(struct state, changes), A_TEXT},
	{"code", offsetof(struct state, code), A_NUMBER},
	{"created", offsetof(struct state, created), A_NUMBER},
	{"used", offsetof(struct state, used), A_NUMBER},
	{"commands", offsetof(struct state, commands), A_NUMBER},
};

static void *add_field(const struct state *s, size_t i)
{
	return (void *)((uintptr_t)s + fields[i].at);
}

struct writer {
	struct buf *out;
	uint64_t records;
};

static void add_record(struct writer *w, const char *key, const char *value)
{
	size_t n = strlen(value);

	buf_adds(w->out, key);
	buf_addc(w->out, ' ');
	buf_addu(w->out, n);
	buf_addc(w->out, ':');
	buf_add(w->out, value, n);
	buf_addc(w->out, '\n');
	w->records++;
}

static void add_number(struct writer *w, const char *key, uint64_t value)
{
	char text[24];
	struct buf b = BUF_FIXED(text);

	buf_addu(&b, value);
	add_record(w, key, buf_str(&b));
}

/* Would the reader accept it? */
static int check_state(const struct state *s)
{
	size_t bytes = 0;

	for (size_t i = 0; fields[i].kind == A_PATH; i++) {
		const char *path = *(char **)add_field(s, i);

		if (path && (path[0] != '/' || strlen(path) >= STATE_PATH_MAX))
			return -EINVAL;
	}
	for (size_t i = 0; i < s->env.count; i++)
		bytes += strlen(s->env.vec[i]) + 1;
	if (s->env.count > STATE_VARS_MAX || bytes > CONFIG_LIMIT_ENV ||
		s->dir_count > STATE_DIRS_MAX ||
		(s->changes && strlen(s->changes) > STATE_CHANGES_MAX))
		return -E2BIG;
	return s->code > 255 ? -EINVAL : 0;
}

int state_write(const struct state *s, struct buf *out)
{
	struct writer w = {.out = out};
	int err = check_state(s);

	if (err)
		return err;
	buf_adds(out, magic);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const void *at = add_field(s, i);

		if (fields[i].kind == A_NUMBER)
			add_number(&w, fields[i].key, *(const uint64_t *)at);
		else if (*(char *const *)at)
			add_record(&w, fields[i].key, *(char *const *)at);
	}
	for (size_t i = 0; i < s->dir_count; i++)
		add_record(&w, "dir", s->dirs[i]);
	if (s->has_env)
		add_number(&w, "vars", s->env.count);
	for (size_t i = 0; s->has_env && i < s->env.count; i++)
		add_record(&w, "env", s->env.vec[i]);
	buf_addf(out, "end %llu\n", (unsigned long long)w.records);
	return out->err;
}

struct reader {
	const char *at, *end;
	uint64_t records;
	uint64_t vars; /* as announced */
	size_t env_bytes;
	struct buf value; /* of the record at hand */
};

/* Reads decimal digits up to stop, at most max, and at most as many digits as
 * always fit. */
static int take_number(struct reader *r, char stop, uint64_t max, uint64_t *out)
{
	const char *from = r->at;
	uint64_t n = 0;

	while (r->at < r->end && r->at < from + 19 && chr_digit(*r->at))
		n = 10 * n + (uint64_t)(*r->at++ - '0');
	*out = n;
	return r->at == from || r->at == r->end || *r->at++ != stop || n > max
		? -EINVAL : 0;
}

/* Reads "KEY " at the reader's place. */
static int take_key(struct reader *r, char *key, size_t size)
{
	size_t n = 0;

	while (r->at < r->end && *r->at >= 'a' && *r->at <= 'z' && n + 1 < size)
		key[n++] = *r->at++;
	key[n] = '\0';
	return n && r->at < r->end && *r->at++ == ' ' ? 0 : -EINVAL;
}

/* Reads "LENGTH:BYTES\n" to .value, without NUL in it. */
static int take_value(struct reader *r)
{
	uint64_t length;
	size_t n;
	int err = take_number(r, ':', CONFIG_LIMIT_ENV, &length);

	if (err)
		return err;
	n = (size_t)length;
	if ((size_t)(r->end - r->at) <= n || r->at[n] != '\n' ||
		memchr(r->at, '\0', n))
		return -EINVAL;
	buf_clear(&r->value);
	buf_add(&r->value, r->at, n);
	r->at += n + 1;
	return r->value.err;
}

static int take_var(struct state *s, struct reader *r, const char *pair)
{
	size_t before = s->env.count;
	int err;

	r->env_bytes += strlen(pair) + 1;
	if (!s->has_env)
		return -EINVAL;
	if (before == STATE_VARS_MAX || r->env_bytes > CONFIG_LIMIT_ENV)
		return -E2BIG;
	err = env_put(&s->env, pair);
	/* The writer never writes a name twice. */
	return err || s->env.count > before ? err : -EINVAL;
}

/* The writer's order is nearest first; state_push reverses it. */
static int take_dir(struct state *s, const char *dir)
{
	int err = state_push(s, dir);
	char *first;

	if (err)
		return err;
	first = s->dirs[0];
	memmove(s->dirs, s->dirs + 1, (s->dir_count - 1) * sizeof *s->dirs);
	s->dirs[s->dir_count - 1] = first;
	return 0;
}

static int take_single(struct state *s, size_t i, const char *value)
{
	void *at = add_field(s, i);
	uint64_t max = at == &s->code ? 255 : UINT64_MAX;

	if (fields[i].kind == A_NUMBER)
		return num_u64(value, 0, max, at);
	if (*(char **)at)
		return -EINVAL;
	return fields[i].kind == A_PATH
		? state_path(at, value)
		: state_changed(s, value, strlen(value));
}

static int take_field(
	struct state *s, struct reader *r, const char *key, const char *value)
{
	int err;

	if (str_eq(key, "env"))
		return take_var(s, r, value);
	if (str_eq(key, "dir"))
		return take_dir(s, value);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (str_eq(key, fields[i].key))
			return take_single(s, i, value);
	if (!str_eq(key, "vars"))
		return 0;
	err = s->has_env ? -EINVAL
			 : num_u64(value, 0, STATE_VARS_MAX, &r->vars);
	s->has_env = true;
	return err;
}

/* Reads one record; 1 at the end of a whole text. */
static int take_record(struct state *s, struct reader *r)
{
	uint64_t records;
	char key[16];
	int err = take_key(r, key, sizeof key);

	if (err)
		return err;
	if (str_eq(key, "end")) {
		err = take_number(r, '\n', UINT64_MAX, &records);
		if (!err && (records != r->records || r->at != r->end ||
				    s->env.count != r->vars))
			err = -EINVAL;
		return err ? err : 1;
	}
	err = take_value(r);
	if (err)
		return err;
	r->records++;
	return take_field(s, r, key, buf_str(&r->value));
}

static int parse_records(struct state *s, struct reader *r, struct diag *d)
{
	const char *begin = r->at - strlen(magic), *record = r->at;
	unsigned line = 1;
	int err = 0;

	while (!err) {
		record = r->at;
		err = take_record(s, r);
	}
	if (err > 0)
		return 0;
	while (begin < record)
		line += *begin++ == '\n';
	if (err == -E2BIG)
		diag_fail(d, err, "more is saved here than a state may hold");
	else if (err == -ENOMEM)
		diag_errno(d, err, "cannot hold the state");
	else
		diag_fail(d, err, "this is no record of a state");
	diag_at(d, "", line, 0);
	return err;
}

int state_parse(struct state *s, const char *bytes, size_t n, struct diag *d)
{
	struct reader r = {.at = bytes, .end = bytes + n,
		.value = BUF_INIT(CONFIG_LIMIT_ENV + 1)};
	size_t head = strlen(magic);
	int err;

	if (n < head || memcmp(bytes, magic, head) != 0)
		return diag_fail(d, -EINVAL,
			"this is no state of wardbox, or of a later version");
	r.at += head;
	err = parse_records(s, &r, d);
	buf_release(&r.value);
	return err;
}
