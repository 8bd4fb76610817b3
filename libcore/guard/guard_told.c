/* guard_told.c - what the commands of a session may know of their guard
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_told.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/cbor.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/str.h"
#include "base/utf8.h"
#include "guard/guard_in.h"
#include "redact/redact.h"
#include "sys/file.h"

enum {
	TOLD_NAME = SESSION_ID_MAX + sizeof ".policy",
	TOLD_MAX = 64 << 10,
	TOLD_POLICY_MAX = 8 << 20,
	TOLD_VERSION = 1,
};

/* The texts of a denial, in the order in which they are written. */
#define TOLD_TEXTS(X)                                                          \
	X(session)                                                             \
	X(profile) X(decision) X(layer) X(rule) X(file) X(command) X(reason)   \
		X(instead) X(cwd) X(what)
enum { TOLD_NUMBERS = 4, TOLD_TEXT_COUNT = 11 };

static const char *told_name(
	char name[static TOLD_NAME], const char *session, const char *suffix)
{
	struct buf b = {.data = name, .cap = TOLD_NAME, .max = TOLD_NAME - 1};

	buf_addf(&b, "%s.%s", session, suffix);
	return buf_str(&b);
}

static void put_denial(struct buf *b, const struct guard_told *t)
{
	cbor_put_array(b, TOLD_NUMBERS + TOLD_TEXT_COUNT);
	cbor_put_uint(b, TOLD_VERSION);
	cbor_put_uint(b, t->wall);
	cbor_put_uint(b, t->line);
	cbor_put_uint(b, t->program);
#define PUT(field) cbor_put_bytes(b, t->field, strlen(t->field));
	TOLD_TEXTS(PUT)
#undef PUT
}

static int take_text(struct cbor_in *in, char *to, size_t size)
{
	struct cbor_item item;
	int err = cbor_next(in, &item);

	if (err || item.major != CBOR_BYTES || item.n >= size)
		return err ? err : -EBADMSG;
	memcpy(to, item.bytes, (size_t)item.n);
	to[item.n] = '\0';
	return 0;
}

static int take_denial(struct cbor_in *in, struct guard_told *t)
{
	struct cbor_item head[1 + TOLD_NUMBERS];
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(head); i++) {
		err = cbor_next(in, &head[i]);
		if (!err && head[i].major != (i ? CBOR_UINT : CBOR_ARRAY))
			err = -EBADMSG;
	}
	if (err || head[0].n != TOLD_NUMBERS + TOLD_TEXT_COUNT ||
		head[1].n != TOLD_VERSION)
		return err ? err : -EBADMSG;
	t->wall = head[2].n;
	t->line = head[3].n;
	t->program = head[4].n;
#define TAKE(field)                                                            \
	if (!err)                                                              \
		err = take_text(in, t->field, sizeof t->field);
	TOLD_TEXTS(TAKE)
#undef TAKE
	return err;
}

/* Inside of a guarded tree only this directory of the state base can be read:
 * looks where it may be. */
static int told_inside(const struct session_where *where)
{
	const char *workspace = where->workspace ? where->workspace : "";
	const unsigned uid = where->uid;
	char path[SESSION_BASE_MAX + 32];
	int dir = -1;

	for (unsigned i = 0; dir < 0 && i < 3; i++) {
		struct buf b = BUF_FIXED(path);

		if (i == 0)
			buf_adds(&b, "/run/wardbox");
		else if (i == 1)
			buf_addf(&b, "/tmp/wardbox-%u", uid);
		else
			buf_addf(&b, "%s/.wardbox", workspace);
		buf_addf(&b, "/%u/told", uid);
		dir = open(buf_str(&b), O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
				O_CLOEXEC);
	}
	return dir < 0 ? -ENOENT : dir;
}

int guard_told_dir(const struct session_where *where)
{
	autofd int own = -1;
	int dir;

	if (where->guarded)
		return told_inside(where);
	own = session_base(where, false, NULL, NULL);
	if (own < 0)
		return -ENOENT;
	dir = openat(own, "told",
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return dir < 0 ? -errno : dir;
}

static int read_told(int dir, const char *session, const char *suffix,
	struct buf *b, struct diag *d)
{
	char name[TOLD_NAME];
	int err = file_read(dir, told_name(name, session, suffix), b);

	return err ? diag_errno(d, err, "session %s", session) : 0;
}

int guard_told_read(
	int dir, const char *session, struct guard_told *t, struct diag *d)
{
	autobuf struct buf b = BUF_INIT(TOLD_MAX);
	struct cbor_in in;
	int err = read_told(dir, session, "why", &b, d);

	if (err)
		return err;
	in = (struct cbor_in){
		(const uint8_t *)b.data, (const uint8_t *)b.data + b.len};
	err = take_denial(&in, t);
	return err ? diag_errno(d, err, "session %s", session) : 0;
}

int guard_told_load(int dir, const char *session, struct guard_told_policy *p,
	struct diag *d)
{
	autobuf struct buf b = BUF_INIT(TOLD_POLICY_MAX);
	struct cbor_item profile, no_project;
	struct cbor_in in;
	int err = read_told(dir, session, "policy", &b, d);

	if (err)
		return err;
	in = (struct cbor_in){
		(const uint8_t *)b.data, (const uint8_t *)b.data + b.len};
	err = cbor_next(&in, &profile);
	if (!err)
		err = cbor_next(&in, &no_project);
	if (!err &&
		(profile.major != CBOR_UINT || profile.n >= POLICY_PROFILES ||
			no_project.major != CBOR_UINT))
		err = -EBADMSG;
	if (!err)
		err = take_text(&in, p->root, sizeof p->root);
	if (!err)
		err = take_text(&in, p->tmp, sizeof p->tmp);
	if (!err)
		err = take_text(&in, p->cache, sizeof p->cache);
	if (err)
		return diag_errno(d, err, "session %s", session);
	p->profile = (enum policy_profile)profile.n;
	p->no_project = no_project.n;
	return policy_unpack(&p->policy, &in, d);
}

/* Opens the directory for writing, in the supervisor. */

static int open_told(struct guard *g)
{
	int own = guard_place_base(&g->place, NULL).own;

	return own < 0 ? own : guard_place_dir(&g->place, own, "told", NULL);
}

int guard_told_grant(struct guard_box *b, const struct guard_place *p)
{
	autofd int dir = p->own > 0 ? guard_place_dir(p, p->own, "told", NULL)
				    : -ENOENT;
	char path[SESSION_BASE_MAX + 32];
	int err;

	if (dir < 0)
		return dir == -ENOENT ? 0 : dir;
	err = guard_keep(b->texts, &b->told,
		BUF_PRINT(path, "%s/%u/told", p->base, p->uid));
	return err ? err
		   : sandbox_grant(&b->plan, b->told, SANDBOX_RO, true,
			     "what is told of the guard");
}

/* Writes text without the secrets that the caller's environment and the policy
 * name; if secrets cannot be found, nothing is shown. */
static void put_redacted(const struct guard *g, char *to, size_t size,
	const char *text, size_t n)
{
	struct redact r = REDACT_INIT;
	autobuf struct buf out = BUF_INIT(TOLD_MAX);

	redact_use_policy(&r, &g->terms.grants.redact);
	if (redact_add_env(&r, (const char *const *)g->caller->env) ||
		redact_text(&r, text, n, g->command->kind == GUARD_LINE, &out))
		str_copy(to, size, "(not shown)");
	else
		utf8_cut(to, size, buf_str(&out));
	redact_release(&r);
}

static void put_what(const struct guard *g, struct guard_told *t,
	const struct guard_question *what)
{
	autobuf struct buf words = BUF_INIT(TOLD_MAX);

	if (!what->argv && g->command->text) {
		put_redacted(g, t->what, sizeof t->what, g->command->text,
			g->command->len < sizeof t->what ? g->command->len
							 : sizeof t->what);
		return;
	}
	for (char *const *arg = what->argv; arg && *arg && !words.err; arg++) {
		if (words.len)
			buf_addc(&words, ' ');
		buf_adds(&words, *arg);
	}
	words.err = 0;
	put_redacted(g, t->what, sizeof t->what, buf_str(&words), words.len);
}

void guard_told_denial(struct guard *g, const struct guard_question *what,
	bool program, const struct diag *said)
{
	const struct policy_verdict *v = what->v;
	struct guard_told *t = arena_zalloc(&g->place.texts, sizeof *t);
	autobuf struct buf b = BUF_INIT(TOLD_MAX);
	char name[TOLD_NAME];
	autofd int dir = open_told(g);

	if (!t || dir < 0)
		return;
	t->wall = clock_ns(CLOCK_REALTIME);
	t->line = v->line;
	t->program = program;
	str_copy(t->session, sizeof t->session, g->out->session);
	str_copy(t->profile, sizeof t->profile,
		policy_profile_name(g->terms.profile));
	str_copy(t->decision, sizeof t->decision,
		policy_decision_name(v->decision));
	str_copy(t->layer, sizeof t->layer, policy_layer_name(v->layer));
	str_copy(t->rule, sizeof t->rule, v->rule);
	str_copy(t->file, sizeof t->file, v->file);
	utf8_cut(t->cwd, sizeof t->cwd, what->cwd);
	utf8_cut(t->instead, sizeof t->instead, said->hint);
	put_redacted(g, t->command, sizeof t->command, v->command,
		strlen(v->command));
	put_redacted(
		g, t->reason, sizeof t->reason, v->reason, strlen(v->reason));
	put_what(g, t, what);
	put_denial(&b, t);
	if (!b.err)
		(void)file_replace(dir, told_name(name, t->session, "why"),
			b.data, b.len, 0600, false);
}

/* Does a command ask for the policy? */
static bool asks_policy(const struct watch_event *ev)
{
	const char *name = ev->argc ? path_base(ev->argv[0]) : "";

	return str_eq(name, "policy") || str_eq(name, "shell") ||
	       (ev->argc > 1 && (str_eq(ev->argv[1], "policy") ||
					str_eq(ev->argv[1], "shell")));
}

void guard_told_policy(struct guard *g, const struct watch_event *ev)
{
	autobuf struct buf b = BUF_INIT(TOLD_POLICY_MAX);
	const struct guard_place *p = &g->place;
	char name[TOLD_NAME];
	autofd int dir = -1;

	if (g->tree.policy_told || !asks_policy(ev))
		return;
	g->tree.policy_told = true;
	dir = open_told(g);
	if (dir < 0)
		return;
	cbor_put_uint(&b, g->terms.profile);
	cbor_put_uint(&b, p->no_project);
	cbor_put_bytes(&b, p->root, strlen(p->root));
	cbor_put_bytes(&b, p->tmp, strlen(p->tmp));
	cbor_put_bytes(&b, p->cache, strlen(p->cache));
	policy_pack(g->terms.policy, &b);
	if (!b.err)
		(void)file_replace(dir,
			told_name(name, g->out->session, "policy"), b.data,
			b.len, 0600, false);
}
