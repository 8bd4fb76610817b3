/* audit_write_exec.c - the records of a command: start, end, events
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/audit_write.h"
#include "log/audit_write_in.h"
#include "log/audit_write_stream_in.h"
#include "base/cbor.h"
#include "base/str.h"
#include "base/utf8.h"

enum {
	ARG_MAX_BYTES = 65536,   /* of one argument */
	ARGV_MAX_BYTES = 262144, /* of all */
	ENV_MAX_BYTES = 131072,
	ENV_MAX = 1024,
	FACTS_MAX = 16,
};

static void session_id(
	const struct keys_hw *hw, uint8_t id[AUDIT_ID], const char *name)
{
	uint8_t hash[AUDIT_HASH];

	if (audit_id_parse(id, name))
		return;
	keys_hash2(hw, "session\0", 8, name, strlen(name), hash);
	memcpy(id, hash, AUDIT_ID);
}

void audit_session(uint8_t session[static AUDIT_ID], const char *name)
{
	/* Asking the processor for its features costs more than one hash. */
	const struct keys_hw hw = keys_hw_portable();

	session_id(&hw, session, name);
}

static void put_session(struct audit_rec *r, const char *name)
{
	uint8_t id[AUDIT_ID];

	if (!name)
		return;
	session_id(&r->log->hw, id, name);
	cbor_put_bytes(audit_rec_key(r, AUDIT_K_SESSION), id, sizeof id);
}

static void put_cut(struct buf *out, const char *s, size_t n, bool *cut)
{
	autobuf struct buf b = BUF_INIT(2 * ARG_MAX_BYTES);

	if (n <= ARG_MAX_BYTES) {
		cbor_put_text(out, s, n);
		return;
	}
	*cut = true;
	buf_add(&b, s, ARG_MAX_BYTES);
	buf_addf(&b, " [%zu more bytes]", n - ARG_MAX_BYTES);
	cbor_put_text(out, buf_str(&b), b.len);
}

/* The number of arguments that fit. */
static size_t args_kept(const struct audit_start *start)
{
	size_t total = 0;

	for (size_t i = 0; i < start->argc; i++) {
		size_t n = strlen(start->argv[i]);

		total += 16 + (n < ARG_MAX_BYTES ? n : ARG_MAX_BYTES);
		if (total > ARGV_MAX_BYTES)
			return i;
	}
	return start->argc;
}

/* Room for one redacted text. */
static struct buf *text_room(struct audit_rec *r, size_t max)
{
	buf_clear(&r->text);
	r->text.max = max;
	return &r->text;
}

/* A redaction may be longer than the hidden text. */
static size_t redacted_max(size_t n)
{
	return 8 * n + 64;
}

static int put_argv(struct audit_rec *r, struct redact *secrets,
	const struct audit_start *start, bool *cut)
{
	struct buf *out = audit_rec_key(r, AUDIT_K_ARGV);
	size_t kept = args_kept(start), left = start->argc - kept;

	cbor_put_array(out, kept + (left > 0));
	for (size_t i = 0; i < kept; i++) {
		struct buf *b = text_room(
			r, redacted_max(strlen(start->argv[i])));
		int err = redact_arg(
			secrets, start->argv, start->argc, i, b);

		if (err)
			return err;
		put_cut(out, buf_str(b), b->len, cut);
	}
	if (left) {
		char space[48];
		struct buf b = BUF_FIXED(space);

		*cut = true;
		buf_addf(&b, "[%zu more arguments]", left);
		cbor_put_text(out, b.data, b.len);
	}
	return out->err;
}

/* A pair of a map. Keys are ordered by their encoding: byte strings, then text,
 * short before long. */
struct pair {
	const char *key, *value;
	uint64_t number; /* or the length of the value */
	uint32_t key_len;
	bool text; /* the key is UTF-8 */
};

static int by_encoding(const struct pair *x, const struct pair *y)
{
	if (x->text != y->text)
		return x->text ? 1 : -1;
	if (x->key_len != y->key_len)
		return x->key_len < y->key_len ? -1 : 1;
	return memcmp(x->key, y->key, x->key_len);
}

/* Inserts a pair into p[0..*n), unless its key is there. */
static struct pair *pairs_add(
	struct pair *p, size_t *n, const char *key, size_t key_len)
{
	const struct pair it = {.key = key,
		.key_len = (uint32_t)key_len,
		.text = utf8_valid(key, key_len)};
	size_t from = 0, to = *n;

	while (from < to) {
		size_t mid = (from + to) / 2;
		int order = by_encoding(&p[mid], &it);

		if (!order)
			return NULL;
		if (order < 0)
			from = mid + 1;
		else
			to = mid;
	}
	memmove(p + from + 1, p + from, (*n - from) * sizeof *p);
	p[from] = it;
	++*n;
	return &p[from];
}

static int put_text_pair(
	struct audit_rec *r, struct redact *secrets, const struct pair *p)
{
	const size_t n = (size_t)p->number;
	struct buf *b = text_room(r, redacted_max(n));
	int err = 0;

	cbor_put_text(&r->rest, p->key, p->key_len);
	if (redact_secret_name(p->key, p->key_len) && *p->value)
		err = redact_whole(secrets, p->value, n, b);
	else
		err = redact_text(secrets, p->value, n, false, b);
	cbor_put_text(&r->rest, buf_str(b), b->len);
	return err ? err : r->rest.err;
}

static int put_env(struct audit_rec *r, struct redact *secrets,
	const char *const *env, size_t untold, bool *cut)
{
	autofree struct pair *p = NULL;
	const char *const *end = env;
	size_t n, bytes = 0;
	int err = 0;

	while (*end)
		end++;
	end -= untold;
	n = (size_t)(end - env);
	p = calloc((n < ENV_MAX ? n : ENV_MAX) + 1, sizeof *p);
	if (!p)
		return -ENOMEM;
	for (n = 0; env < end && n < ENV_MAX; env++) {
		const char *eq = strchr(*env, '=');
		size_t len = strlen(*env);
		struct pair *new;

		if (!eq || eq == *env)
			continue;
		bytes += len + 16;
		if (bytes > ENV_MAX_BYTES)
			break;
		new = pairs_add(p, &n, *env, (size_t)(eq - *env));
		if (new) {
			new->value = eq + 1;
			new->number = len - new->key_len - 1;
		}
	}
	*cut |= env < end;
	cbor_put_map(audit_rec_key(r, AUDIT_K_ENV), n);
	for (size_t i = 0; i < n && !err; i++)
		err = put_text_pair(r, secrets, &p[i]);
	return err;
}

static int put_redacted(struct audit_rec *r, enum audit_key key,
	struct redact *secrets, const char *s)
{
	struct buf *b = text_room(r, AUDIT_BODY_MAX);
	int err;

	if (!s)
		return 0;
	err = redact_text(secrets, s, strlen(s), false, b);
	if (!err)
		cbor_put_text(audit_rec_key(r, key), buf_str(b), b->len);
	return err;
}

static int build_start(struct audit_rec *r, struct redact *secrets,
	const struct audit_start *s)
{
	uint8_t id[AUDIT_ID];
	bool cut = false;
	int err;

	put_session(r, s->session);
	cbor_put_uint(audit_rec_key(r, AUDIT_K_PID), (uint64_t)s->pid);
	cbor_put_uint(audit_rec_key(r, AUDIT_K_PPID), (uint64_t)s->ppid);
	err = put_argv(r, secrets, s, &cut);
	if (!err)
		err = put_redacted(
			r, AUDIT_K_CWD, secrets, s->cwd ? s->cwd : "");
	if (!err)
		err = put_redacted(r, AUDIT_K_EXE, secrets, s->exe);
	cbor_put_uint(audit_rec_key(r, AUDIT_K_DECISION), s->decision);
	if (!err && s->session && !audit_id_parse(id, s->session))
		err = put_redacted(r, AUDIT_K_NAME, secrets, s->session);
	if (!err)
		err = put_redacted(
			r, AUDIT_K_RULE, secrets, s->rule ? s->rule : "");
	if (s->policy_sha)
		cbor_put_bytes(audit_rec_key(r, AUDIT_K_POLICY), s->policy_sha,
			AUDIT_HASH);
	if (!err && s->env)
		err = put_env(r, secrets, s->env, s->env_untold, &cut);
	if (cut)
		cbor_put_uint(
			audit_rec_key(r, AUDIT_K_FLAGS), AUDIT_TRUNCATED);
	if (!err)
		err = put_redacted(r, AUDIT_K_ROLLBACK, secrets, s->rollback);
	if (!err)
		err = put_redacted(r, AUDIT_K_REASON, secrets, s->reason);
	return err ? err : r->rest.err;
}

static int load_secrets(
	struct redact *r, const struct audit_secrets *s, struct diag *d)
{
	int err = 0;

	if (!s)
		return 0;
	if (s->env)
		err = redact_add_env(r, s->env);
	if (err)
		return diag_errno(d, err, "audit: redaction");
	if (s->policy)
		redact_use_policy(r, s->policy);
	return 0;
}

int audit_start(struct audit_exec *x, struct audit_log *log,
	const struct audit_start *start, const struct audit_secrets *secrets,
	struct diag *d)
{
	autorec struct audit_rec r = AUDIT_REC(log, AUDIT_START);
	uint64_t wall;
	int err;

	*x = AUDIT_EXEC_INIT;
	x->log = log;
	log->exec = x;
	x->redact.work = ptr_steal(&log->plain.work);
	x->redact.key_get = audit_mark_key;
	x->redact.key_from = log;
	x->script = start->script;
	err = load_secrets(&x->redact, secrets, d);
	if (err)
		return err;
	err = build_start(&r, &x->redact, start);
	if (err)
		return diag_errno(d, err, "audit: start record");
	if (start->session) {
		session_id(&log->hw, x->session, start->session);
		x->has_session = true;
	}
	audit_now(log, &wall, &x->t0);
	return audit_append(
		log, &r, start->decision == AUDIT_DENY, &x->id, d);
}

int audit_deny(struct audit_exec *x, struct audit_log *log,
	const struct audit_start *start, const struct audit_secrets *secrets,
	const char *text, size_t n, struct diag *d)
{
	struct audit_start denied = *start;
	bool cut = false;
	int err;

	denied.decision = AUDIT_DENY;
	err = audit_start(x, log, &denied, secrets, d);
	if (!err && n)
		err = audit_io(x, AUDIT_IN, text, n, d);
	return err ? err : audit_streams_finish(x, &cut, d);
}

void audit_put_exec(struct audit_rec *r, const struct audit_exec *x)
{
	if (x->has_session)
		cbor_put_bytes(audit_rec_key(r, AUDIT_K_SESSION), x->session,
			AUDIT_ID);
	cbor_put_uint(audit_rec_key(r, AUDIT_K_EXEC), x->id);
}

static uint64_t time_us(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static void put_usage(struct buf *b, const struct rusage *u)
{
	const struct rusage none = {0};

	if (!u)
		u = &none;
	cbor_put_array(b, 9);
	cbor_put_uint(b, time_us(u->ru_utime));
	cbor_put_uint(b, time_us(u->ru_stime));
	cbor_put_uint(b, (uint64_t)u->ru_maxrss);
	cbor_put_uint(b, (uint64_t)u->ru_minflt);
	cbor_put_uint(b, (uint64_t)u->ru_majflt);
	cbor_put_uint(b, (uint64_t)u->ru_inblock);
	cbor_put_uint(b, (uint64_t)u->ru_oublock);
	cbor_put_uint(b, (uint64_t)u->ru_nvcsw);
	cbor_put_uint(b, (uint64_t)u->ru_nivcsw);
}

/* Writes how often each kind was redacted. */
static void put_redactions(struct audit_rec *r, const struct redact *secrets)
{
	struct pair p[REDACT_KINDS];
	struct buf *out;
	size_t n = 0;

	for (unsigned i = 0; i < REDACT_KINDS; i++) {
		const char *name = secrets->found[i]
			? redact_kind_name(secrets, i)
			: NULL;
		struct pair *new;

		new = name ? pairs_add(p, &n, name, strlen(name)) : NULL;
		if (new)
			new->number = secrets->found[i];
	}
	if (!n)
		return;
	out = audit_rec_key(r, AUDIT_K_REDACTED);
	cbor_put_map(out, n);
	for (size_t i = 0; i < n; i++) {
		cbor_put_text(out, p[i].key, p[i].key_len);
		cbor_put_uint(out, p[i].number);
	}
}

int audit_end(struct audit_exec *x, const struct audit_end *end, struct diag *d)
{
	autorec struct audit_rec r = AUDIT_REC(x->log, AUDIT_END);
	uint64_t wall, boot;
	bool cut = false;
	int lost = audit_streams_finish(x, &cut, d), err;

	/* Even without room for the output the end is recorded. */
	cut = cut || lost;
	audit_now(x->log, &wall, &boot);
	audit_put_exec(&r, x);
	cbor_put_int(audit_rec_key(&r, AUDIT_K_EXIT), end->exit_code);
	if (end->signal)
		cbor_put_uint(audit_rec_key(&r, AUDIT_K_SIGNAL),
			(uint64_t)end->signal);
	cbor_put_uint(audit_rec_key(&r, AUDIT_K_DURATION), boot - x->t0);
	put_usage(audit_rec_key(&r, AUDIT_K_USAGE), end->usage);
	audit_put_totals(&r, x);
	put_redactions(&r, &x->redact);
	if (end->flags || cut)
		cbor_put_uint(audit_rec_key(&r, AUDIT_K_FLAGS),
			end->flags | (cut ? AUDIT_TRUNCATED : 0));
	err = put_redacted(&r, AUDIT_K_ROLLBACK, &x->redact, end->rollback);
	if (err)
		return diag_errno(d, err, "audit: end record");
	err = audit_append(x->log, &r, false, NULL, lost ? NULL : d);
	return lost ? lost : err;
}

static int put_detail(struct audit_rec *r, struct redact *secrets,
	const struct audit_fact *facts, size_t n)
{
	struct pair p[FACTS_MAX];
	struct buf *out = audit_rec_key(r, AUDIT_K_DETAIL);
	size_t count = 0;
	int err = 0;

	if (n > FACTS_MAX)
		return -E2BIG;
	for (size_t i = 0; i < n; i++) {
		const struct audit_fact *f = &facts[i];
		struct pair *new = pairs_add(p, &count, f->key, strlen(f->key));

		if (!new)
			continue;
		new->value = f->text;
		new->number = f->text ? strlen(f->text) : f->number;
	}
	cbor_put_map(out, count);
	for (size_t i = 0; i < count && !err; i++) {
		if (p[i].value) {
			err = put_text_pair(r, secrets, &p[i]);
			continue;
		}
		cbor_put_text(out, p[i].key, p[i].key_len);
		cbor_put_uint(out, p[i].number);
	}
	return err;
}

int audit_event(struct audit_log *log, const char *session, uint64_t exec,
	const char *name, const struct audit_fact *facts, size_t n,
	struct diag *d)
{
	autorec struct audit_rec r = AUDIT_REC(log, AUDIT_EVENT);
	int err = 0;

	log->plain.key_get = audit_mark_key;
	log->plain.key_from = log;
	put_session(&r, session);
	if (exec)
		cbor_put_uint(audit_rec_key(&r, AUDIT_K_EXEC), exec);
	audit_rec_text(&r, AUDIT_K_EVENT, name);
	if (n)
		err = put_detail(&r,
			log->exec ? &log->exec->redact : &log->plain, facts,
			n);
	if (err)
		return diag_errno(d, err, "audit: event %s", name);
	return audit_append(log, &r, false, NULL, d);
}
