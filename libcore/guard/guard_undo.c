/* guard_undo.c - what the command changes is journaled, to be taken back
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"
#include "guard/guard_undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/kconfig.h"
#include "base/num.h"
#include "base/path.h"
#include "base/str.h"
#include "base/json.h"
#include "guard/guard_log.h"
#include "log/audit_write.h"
#include "redact/redact.h"
#include "sys/file.h"
#include "undo/undo.h"

enum {
	LISTED = 200, /* files that the log names; the journal has all */
	TOLD = 5,
	HEX = 2 * UNDO_SHA + 1,
};
static const uint64_t bytes_default = 512 << 20, keep_default = 2ULL << 30,
		      entries_default = 200000,
		      age_default = 7ULL * 24 * 3600 * 1000000000;

enum undo_over { OVER_GO, OVER_ASK, OVER_REFUSE };

struct guard_undo {
	struct undo *u;
	struct undo_spec spec;
	const char *roots[UNDO_ROOTS_MAX];
	enum undo_over over;
	bool asked, allowed;
	uint64_t listed, told;
};

/* Sets one of the policy's bounds; without a value the default stays. */
static void set_bound(
	struct undo_bounds *b, enum undo_over *over, int key, const char *v)
{
	int one;

	switch (key) {
	case 0:
		(void)num_size(v, 1, UINT64_MAX, &b->bytes);
		break;
	case 1:
		(void)num_size(v, 1, UINT64_MAX, &b->keep);
		break;
	case 2:
		(void)num_u64(v, 1, UNDO_ENTRIES, &b->entries);
		break;
	case 3:
		(void)num_duration(v, 1, UINT64_MAX, &b->age_ns);
		break;
	case 5:
		(void)num_size(v, 1, UINT64_MAX, &b->session);
		break;
	default:
		one = str_index(POLICY_UNDO_OVERS, v);
		*over = one < 0 ? OVER_REFUSE : (enum undo_over)one;
	}
}

static void read_bounds(const struct policy_words *words, struct undo_bounds *b,
	enum undo_over *over)
{
	*b = (struct undo_bounds){.bytes = bytes_default,
		.keep = keep_default,
		.entries = entries_default,
		.age_ns = age_default};
	*over = OVER_GO;
	for (size_t i = 0; i < words->count; i++) {
		const char *eq = strchr(words->item[i], '=');
		char key[16];

		if (words->item[i][0] == '/' || !eq ||
			(size_t)(eq - words->item[i]) >= sizeof key)
			continue;
		memcpy(key, words->item[i], (size_t)(eq - words->item[i]));
		key[eq - words->item[i]] = '\0';
		set_bound(b, over, str_index(POLICY_UNDO_KEYS, key), eq + 1);
	}
}

static int keep_path(struct arena *texts, const char **path, const char *dir,
	const char *name)
{
	autobuf struct buf b = BUF_INIT(PATH_MAX);

	buf_addf(&b, "%s/%s", dir, name);
	return b.err ? b.err : guard_keep(texts, path, buf_str(&b));
}

/* Opens the store: beside the log where the user may write there, else in the
 * user's own state. Its name is private to the user. */
static __attribute__((noinline)) int open_store(char *const *env, uid_t uid,
	const char *log, bool make, bool alone, const char **path,
	struct arena *texts, struct diag *d)
{
	const char *state = env_get(env, "XDG_STATE_HOME");
	const char *home = env_get(env, "HOME");
	char dir[PATH_MAX], name[24];
	int fd = -ENOENT;

	BUF_PRINT(name, "undo-%u", (unsigned)uid);
	for (int i = 0; i < 2 && fd < 0; i++) {
		autofd int at = -1;

		if (i == 0 && (!log[0] || path_normal(dir, sizeof dir, log, "..")))
			continue;
		if (i == 1 && (state && state[0] == '/'
					      ? path_join(dir, sizeof dir, state,
							"wardbox")
				      : home && home[0] == '/'
					      ? path_join(dir, sizeof dir, home,
							".local/state/wardbox")
					      : -ENOENT))
			continue;
		if (i == 1 && make && file_mkdirs(dir, 0700))
			continue;
		at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (at < 0)
			continue;
		fd = undo_store_open(at, name, make, alone, d);
		if (fd >= 0 && path && keep_path(texts, path, dir, name)) {
			close(fd);
			return -ENOMEM;
		}
	}
	return fd;
}

int guard_undo_plan(struct guard_box *b, const struct guard *g, struct diag *d)
{
	const char *path = "";
	int err = 0;

	if (g->io->dry && (g->place.inside || !g->terms.grants.confine))
		return diag_fail(d, -ENOTSUP, "a dry run needs the sandbox, which"
			" %s", g->place.inside ? "a guard around has"
					       : "the policy has off");
	if ((!g->terms.grants.undo && !g->io->dry) || !g->terms.grants.confine ||
		(b->brief && !b->opens) || g->place.inside ||
		g->place.no_project)
		return 0;
	b->undo_why = "this wardbox was built without UNDO";
	if (!IS_ENABLED(CONFIG_UNDO))
		return 0;
	b->undo_why = "there is no place for the journal";
	b->undo_store = open_store(g->caller->env, g->place.uid, g->entry.path,
		true, false, &path, b->texts, NULL);
	if (b->undo_store <= 0) {
		b->undo_store = 0;
		return g->io->dry ? diag_fail(d, -ENOENT, "a dry run: %s",
					    b->undo_why) : 0;
	}
	b->undo_why = NULL;
	b->undo_on = true;
	b->plan.watch_writes = true;
	b->plan.want |= SANDBOX_WATCH;
	for (size_t i = 0; !err && i < b->plan.grant_count; i++)
		if (path_beneath(b->plan.grants[i].path, path))
			return sandbox_grant(&b->plan, path, SANDBOX_HIDE, true,
				"the undo journal");
	return err;
}

/* A path that cannot be brought back is changed all the same, if the policy
 * says so. */
static int lose_path(void *ctx, const char *path, const char *why)
{
	struct guard *g = ctx;
	struct guard_undo *w = g->tree.undo;
	const struct audit_fact facts[] = {
		{.key = "file", .text = path},
		{.key = "reason", .text = why},
	};
	struct diag d = {0};

	if (++w->told <= TOLD || !(w->told & (w->told - 1)))
		guard_entry_event(g, "undo.lost", facts, ARRAY_SIZE(facts));
	if (w->over == OVER_ASK && !w->asked) {
		struct policy_verdict v = {.decision = POLICY_CONFIRM};
		const struct guard_question what = {
			.v = &v, .cwd = g->place.cwd};

		w->asked = true;
		BUF_PRINT(v.command, "a change of %.200s", path);
		str_copy(v.rule, sizeof v.rule, "undo");
		BUF_PRINT(v.reason, "it could not be taken back: %s", why);
		w->allowed = guard_asked_yes(g, &what);
	}
	if (w->over == OVER_GO || (w->over == OVER_ASK && w->allowed))
		return 0;
	if (w->told <= TOLD && g->caller->tell) {
		diag_fail(&d, -EPERM,
			"%.150s stays as it is: %s (rule undo)", path, why);
		g->caller->tell(&d, STDERR_FILENO);
	}
	return -EPERM;
}

/* Adds a directory, but never the command's own /tmp. What lies in the project is
 * there already; of others the outer one counts. */
static void add_root(struct guard_undo *w, struct guard *g, const char *path)
{
	char real[PATH_MAX];
	struct stat st;
	size_t at;

	if (path_real(path, real) || stat(real, &st) || !S_ISDIR(st.st_mode) ||
		(g->place.tmp[0] && path_beneath(g->place.tmp, real)))
		return;
	for (at = 0; at < w->spec.root_count; at++) {
		if (path_beneath(w->roots[at], real))
			return;
		if (at && path_beneath(real, w->roots[at]))
			break;
	}
	if (at < UNDO_ROOTS_MAX &&
		!guard_keep(g->box.texts, &w->roots[at], real))
		w->spec.root_count += at == w->spec.root_count;
}

/* The project and the policy's places for undo; in a dry run all that the policy
 * lets the command write. */
static void find_roots(struct guard_undo *w, struct guard *g)
{
	const struct policy_grants *t = &g->terms.grants;

	w->roots[w->spec.root_count++] = g->place.root;
	for (size_t i = 0; i < t->undo_words.count; i++)
		if (t->undo_words.item[i][0] == '/')
			add_root(w, g, t->undo_words.item[i]);
	for (size_t i = 0; g->io->dry && i < t->path_count; i++)
		if (t->path[i].write && !t->path[i].many && !t->path[i].runtime)
			add_root(w, g, t->path[i].path);
}

/* The command's text as the log shows it, because the journal must hide the
 * same secrets. */
static const char *command_text(struct guard *g)
{
	struct redact *secrets = &g->entry.exec.redact;
	autobuf struct buf b = BUF_INIT(1 << 20);
	const char *const *argv = (const char *const *)g->command->argv;
	const char *text = "";
	size_t n = 0;
	int err = 0;

	if (!g->entry.on)
		return "";
	if (g->command->kind == GUARD_LINE) {
		err = redact_text(secrets, g->command->text, g->command->len,
			true, &b);
	} else {
		while (argv[n])
			n++;
		for (size_t i = 0; !err && i < n; i++) {
			if (i)
				buf_addc(&b, ' ');
			err = redact_arg(secrets, argv, n, i, &b);
		}
	}
	if (b.len >= UNDO_TEXT)
		b.len = UNDO_TEXT - 1;
	if (err || b.err || guard_keep(g->box.texts, &text, buf_str(&b)))
		return "";
	return text;
}

const char *guard_undo_strategy(
	const struct guard *g, bool ended, char out[static GUARD_STRATEGY])
{
	const struct policy_verdict *v = &g->out->verdict;
	struct buf b = buf_fixed(out, GUARD_STRATEGY);

	if (g->out->undo)
		buf_addf(&b, "restore from journal %llu",
			(unsigned long long)g->out->undo);
	else if (!g->box.undo_on)
		buf_adds(&b, "none");
	else
		buf_adds(&b, ended ? "nothing changed"
				   : "delete what it makes, and restore the rest "
				     "from the journal");
	if (v->revert[0])
		buf_addf(&b, "; %s", v->revert);
	if (v->net > POLICY_NET_LOCAL)
		buf_adds(&b, "; none for what goes over the network");
	return buf_str(&b);
}

void guard_undo_starts(struct guard *g, const struct policy_verdict *v)
{
	enum { TOLD_OF = 16 };
	const struct audit_fact facts[] = {
		{.key = "command", .text = v->command},
		{.key = "strategy", .text = v->revert},
	};

	if (!v->revert[0] || str_find(g->out->verdict.revert, v->revert) ||
		g->tree.reverts++ >= TOLD_OF)
		return;
	guard_entry_event(g, "rollback", facts, ARRAY_SIZE(facts));
	if (IS_ENABLED(CONFIG_UNDO) && g->tree.undo && g->tree.undo->u)
		(void)undo_also(g->tree.undo->u, v->revert);
}

int guard_undo_begin(struct guard *g, struct diag *d)
{
	struct guard_undo *w;
	const struct audit_fact why = {.key = "reason", .text = g->box.undo_why};
	int err;

	if (g->box.undo_why)
		guard_entry_event(g, "undo.off", &why, 1);
	if (!IS_ENABLED(CONFIG_UNDO) || !g->box.undo_store)
		return 0;
	w = calloc(1, sizeof *w);
	if (!w)
		return diag_errno(d, -ENOMEM, "the undo journal");
	g->tree.undo = w;
	find_roots(w, g);
	w->spec.store = g->box.undo_store;
	w->spec.roots = w->roots;
	w->spec.session = g->out->session;
	w->spec.text = command_text(g);
	w->spec.exec_id = g->out->exec_id;
	w->spec.lost = lose_path;
	w->spec.ctx = g;
	read_bounds(&g->terms.grants.undo_words, &w->spec.bounds, &w->over);
	if (g->io->dry)
		w->over = OVER_REFUSE;
	err = undo_begin(&w->u, &w->spec);
	if (!err && g->out->verdict.revert[0])
		err = undo_also(w->u, g->out->verdict.revert);
	return err ? diag_errno(d, err, "the undo journal") : 0;
}

int guard_undo_before(void *ctx, const struct watch_write *x)
{
	static const enum undo_what what[] = {
		[WATCH_MAKES] = UNDO_MAKE,
		[WATCH_REMOVES] = UNDO_REMOVE,
		[WATCH_MOVES] = UNDO_MOVE,
		[WATCH_SWAPS] = UNDO_SWAP,
		[WATCH_FILLS] = UNDO_CONTENT,
		[WATCH_ALTERS] = UNDO_META,
		[WATCH_LINKS] = UNDO_KNOWN,
	};
	const struct guard *g = ctx;
	const struct undo_touch t = {.what = what[x->what],
		.who = x->pid,
		.dir = x->dir,
		.name = x->name,
		.dir2 = x->dir2,
		.name2 = x->name2};

	if (!IS_ENABLED(CONFIG_UNDO) || !g->tree.undo || !g->tree.undo->u)
		return 0;
	if (x->dir < 0)
		return undo_unseen(g->tree.undo->u, "",
			"a process that cannot be looked at changes a file");
	return undo_touch(g->tree.undo->u, &t);
}

static const char *add_hex(char out[static HEX], const uint8_t *sum)
{
	struct buf b = buf_fixed(out, HEX);

	for (size_t i = 0; sum && i < UNDO_SHA; i++)
		buf_addf(&b, "%02x", sum[i]);
	return buf_str(&b);
}

static int record_change(void *ctx, const struct undo_change *c)
{
	struct guard *g = ctx;
	char old[HEX], new[HEX];
	struct audit_fact facts[5] = {
		{.key = "file", .text = c->path},
		{.key = "what", .text = undo_became_name(c->became)},
	};
	size_t n = 2;

	if (c->from)
		facts[n++] = (struct audit_fact){
			.key = c->became == UNDO_LOST ? "reason" : "from",
			.text = c->from};
	if (c->old_sha)
		facts[n++] = (struct audit_fact){
			.key = "old", .text = add_hex(old, c->old_sha)};
	if (c->new_sha)
		facts[n++] = (struct audit_fact){
			.key = "new", .text = add_hex(new, c->new_sha)};
	if (g->tree.undo->listed++ < LISTED)
		guard_entry_event(g, "file.change", facts, n);
	return 0;
}

int guard_undo_end(struct guard *g, struct diag *d)
{
	enum { PRUNE_EACH = 16 };
	struct guard_undo *w = g->tree.undo;
	struct undo_sum sum;
	int err;

	if (!IS_ENABLED(CONFIG_UNDO) || !w)
		return 0;
	err = undo_end(&w->u, true, record_change, g, &sum, d);
	if (sum.number) {
		const struct audit_fact facts[] = {
			{.key = "journal", .number = sum.number},
			{.key = "made", .number = sum.made},
			{.key = "changed", .number = sum.changed},
			{.key = "removed", .number = sum.removed},
			{.key = "moved", .number = sum.moved},
			{.key = "lost", .number = sum.lost},
			{.key = "bytes", .number = sum.bytes},
		};

		guard_entry_event(g, "undo.journal", facts, ARRAY_SIZE(facts));
		g->out->undo = sum.number;
		g->out->undo_gone = sum.removed;
		if (sum.number % PRUNE_EACH == 0 ||
			sum.bytes > w->spec.bounds.keep / PRUNE_EACH ||
			(w->spec.bounds.session &&
				sum.bytes > w->spec.bounds.session / PRUNE_EACH))
			(void)undo_prune(g->box.undo_store, &w->spec.bounds);
	}
	free(w);
	g->tree.undo = NULL;
	close(g->box.undo_store);
	g->box.undo_store = 0;
	return err;
}

static int put_change(void *ctx, const struct undo_change *c)
{
	struct json *j = ctx;

	json_open(j, '{');
	json_put_str(j, "what", undo_became_name(c->became));
	json_put_str(j, "path", c->path);
	if (c->from)
		json_put_str(j, c->became == UNDO_LOST ? "reason" : "from",
			c->from);
	json_close(j);
	return 0;
}

void guard_undo_json(struct json *j, const struct guard_caller *who,
	const struct guard_outcome *out)
{
	autoundo_model struct undo_model *m = NULL;
	autofd int store = -1;

	if (!IS_ENABLED(CONFIG_UNDO) || !out->undo)
		return;
	store = guard_undo_open(who, false, NULL);
	json_put_u64(j, "journal", out->undo);
	json_put_open(j, "changed", '[');
	if (store >= 0 && !undo_load(store, out->undo, &m, NULL))
		(void)undo_changes(m, put_change, j);
	json_close(j);
}

int guard_undo_open(const struct guard_caller *who, bool alone, struct diag *d)
{
	const struct session_where where = {.uid = geteuid()};
	const struct guard_log log = {.env = who->env, .where = &where};
	char path[PATH_MAX] = "";
	autofd int dir = guard_log_open(&log, path, sizeof path, NULL);

	if (dir < 0)
		path[0] = '\0';
	return open_store(who->env, where.uid, path, false, alone, NULL,
		NULL, d);
}

void guard_undo_restored(const struct guard_caller *who,
	const struct undo_info *i, const struct undo_sum *sum)
{
	const struct audit_fact facts[] = {
		{.key = "journal", .number = i->number},
		{.key = "made", .number = sum->made},
		{.key = "changed", .number = sum->changed},
		{.key = "removed", .number = sum->removed},
		{.key = "as", .number = sum->number},
	};
	struct guard_outcome out = {.exec_id = i->exec_id};

	str_copy(out.session, sizeof out.session, i->session);
	(void)guard_note(who, &out, "undo.restore", facts, ARRAY_SIZE(facts));
}
