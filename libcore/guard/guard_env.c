/* guard_env.c - the command's environment, and the caches that it names
 * SPDX-License-Identifier: MIT
 *
 * The caches lie beside the user's TMPDIR, in BASE/<uid>/cache, where no program
 * that is not guarded looks for anything: what a guarded command leaves there is
 * read by guarded commands of the same user alone.
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "redact/redact.h"
#include "sys/file.h"

/* The directory that a word NAME=DIRECTORY of the policy ends with. */
static const char *of_word(const char *word)
{
	const char *eq = strrchr(word, '=');

	return eq ? eq + 1 : "";
}

/* Makes the first component of each directory; the tools make the rest, because
 * a link may lie on the way. The order stays, so that the last directory tells
 * whether all are there. */
static void make_each(int dir, const struct policy_words *cache)
{
	for (size_t i = cache->count, made = 0; i--;) {
		char name[64];
		const char *all = of_word(cache->item[i]);
		size_t n = strcspn(all, "/");

		if (!n || n >= sizeof name)
			continue;
		memcpy(name, all, n);
		name[n] = '\0';
		if (mkdirat(dir, name, 0700) && !made && errno == EEXIST)
			return;
		made++;
	}
}

/* The place that the policy names for caches: an absolute path that gets a
 * directory for each user. NULL: beside TMPDIR. */
static const char *wanted_place(const struct policy_words *cache)
{
	for (size_t i = 0; i < cache->count; i++)
		if (cache->item[i][0] == '/')
			return cache->item[i];
	return NULL;
}

/* Opens the lasting directory: where the policy wants it, or beside TMPDIR.
 * *base is the path of its base. */
static int open_place(struct guard_place *p, const struct policy_words *cache,
	const char **base, struct diag *d)
{
	const char *const bases[] = {wanted_place(cache), NULL};
	struct session_where where = {
		.uid = p->uid, .bases = bases, .workspace = "/dev/null"};
	autofd int own = -1;

	*base = bases[0];
	if (*base)
		own = session_base(&where, true, NULL, d);
	else if (guard_place_base(p, NULL).own >= 0)
		*base = p->base;
	return *base && (own >= 0 || !bases[0])
		       ? guard_place_dir(p, bases[0] ? own : p->own, "cache", d)
		       : -ENOENT;
}

/* Makes the directories for caches and fills place.cache, once. */
static int find_caches(
	struct guard_place *p, const struct policy_words *cache, struct diag *d)
{
	autobuf struct buf path = BUF_INIT(PATH_MAX);
	const char *base;
	autofd int dir = -1;

	if (p->cache[0] || !cache->count)
		return 0;
	dir = open_place(p, cache, &base, d);
	if (dir < 0)
		return dir == -ENOENT && !wanted_place(cache) ? 0 : dir;
	make_each(dir, cache);
	buf_addf(&path, "%s/%u/cache", base, p->uid);
	return *buf_str(&path)
		       ? guard_keep(&p->texts, &p->cache, buf_str(&path))
		       : -ENAMETOOLONG;
}

/* Puts the variables that name the caches into the environment. */
static int name_caches(struct guard_box *b, const struct guard_place *p,
	const struct policy_words *cache)
{
	autobuf struct buf pair = BUF_INIT(2 * PATH_MAX);
	const size_t before = b->env.count;
	int err = 0;

	for (size_t i = 0; !err && p->cache[0] && i < cache->count; i++) {
		const char *word = cache->item[i], *dir = of_word(word);

		if (!*dir)
			continue;
		buf_clear(&pair);
		buf_add(&pair, word, (size_t)(dir - word));
		buf_adds(&pair, p->cache);
		buf_addc(&pair, '/');
		buf_adds(&pair, dir);
		err = *buf_str(&pair) ? env_put(&b->env, buf_str(&pair))
				      : -ENOMEM;
	}
	b->cache_vars = b->env.count - before;
	return err;
}

/* Variables by which a make around this process tells a make below it: flags,
 * overrides, the job server. The caller is trusted to set them; a line that
 * sets them is judged. */
static bool of_make(const struct guard *g, const char *name)
{
	const char *rest = str_after(name, "MAKE");

	return rest && (str_eq(rest, "FLAGS") || str_eq(rest, "LEVEL")) &&
	       !g->carry->env && env_get(g->caller->env, "MAKELEVEL");
}

/* Is the variable a secret by its name, or does its value hold one? A value
 * that cannot be searched counts as a secret. */
static bool holds_secret(
	const struct guard *g, const char *name, const char *value)
{
	const size_t n = strlen(value);
	autobuf struct buf shown = BUF_INIT(n + 4096);
	struct redact r = REDACT_INIT;
	bool secret = redact_secret_name(name, strlen(name));

	if (!secret) {
		redact_use_policy(&r, &g->terms.grants.redact);
		secret = redact_text(&r, value, n, false, &shown) ||
			!str_eq(buf_str(&shown), value);
		redact_release(&r);
	}
	return secret;
}

static bool env_keeps_name(
	const struct guard *g, const char *name, const char *value)
{
	if (of_make(g, name))
		return true;
	switch (policy_env(&g->terms.grants, name)) {
	case POLICY_ENV_KEEP:
		return true;
	case POLICY_ENV_ANY:
		return g->carry->env || !holds_secret(g, name, value);
	case POLICY_ENV_DROP:
		return g->carry->env && !g->carry->strict;
	case POLICY_ENV_DENY:
		return false;
	}
	return false;
}

int guard_env_keep(const struct guard *g, char *const *from, bool by_name,
	struct env *kept, struct buf *left)
{
	for (char *const *pair = from; pair && *pair; pair++) {
		char name[256];
		size_t n = strcspn(*pair, "=");
		int err;

		if (!n || !(*pair)[n] || n >= sizeof name)
			continue;
		memcpy(name, *pair, n);
		name[n] = '\0';
		if (by_name ? g->terms.grants.confine &&
					policy_env(&g->terms.grants, name) ==
						POLICY_ENV_DENY
			    : !env_keeps_name(g, name, *pair + n + 1)) {
			if (left->len < GUARD_ENV_LEFT)
				buf_addf(left, "%s%s", left->len ? " " : "",
					name);
			continue;
		}
		err = env_put(kept, *pair);
		if (err)
			return err;
	}
	return 0;
}

static int set_temporary(struct guard_box *b, const struct guard_place *p)
{
	char prefix[SESSION_BASE_MAX + 48];
	const char *tmp = guard_owns(p, "/tmp") ? "/tmp" : p->tmp;
	int err;

	if (!tmp[0])
		return 0;
	err = env_set(&b->env, "TMPDIR", tmp);
	/* zsh uses its own variable in place of TMPDIR. */
	if (!err)
		err = path_join(prefix, sizeof prefix, tmp, "zsh");
	return err ? err : env_set(&b->env, "TMPPREFIX", prefix);
}

/* Adds the home behind the other names, which include a home only where the
 * caller has one. */
static void name_home(struct guard_place *p)
{
	size_t n = 0;

	while (p->own_name[n])
		n++;
	if (!p->own_home || n == POLICY_PLACES)
		return;
	p->own_name[n] = p->own_home;
	p->own_name[n + 1] = NULL;
}

/* A user without a home, or whose home does not exist, gets the guarded user's
 * own home, called by its real path. */
static int set_home(struct guard_box *b, struct guard_place *p)
{
	struct stat st;

	if (p->lay <= 0 || (p->home[0] && (stat(p->home, &st) == 0
						  ? S_ISDIR(st.st_mode)
						  : errno != ENOENT)))
		return 0;
	p->own_home = guard_home_name(p);
	if (!p->own_home)
		return -ENOMEM;
	p->home = p->own_home;
	name_home(p);
	return env_set(&b->env, "HOME", p->own_home);
}

static bool is_exec_dir(void *ctx, const char *dir)
{
	return policy_word_in(ctx, dir);
}

/* Keeps PATH in the caller's order; where no entry is left, the policy's own
 * PATH stays. */
static int keep_search(struct guard_box *b, struct guard *g, char *const *from)
{
	autobuf struct buf kept = BUF_INIT(1 << 16);

	policy_search(&kept, env_get(from, "PATH"), g->place.root, is_exec_dir,
		&g->terms.grants.exec);
	return kept.len ? env_set(&b->env, "PATH", buf_str(&kept)) : kept.err;
}

/* Sets the variables of the policy, and those that name the places. */
static int set_granted(
	struct guard_box *b, struct guard *g, char *const *from, bool places,
	struct diag *d)
{
	const struct policy_grants *grants = &g->terms.grants;
	int err = 0;

	for (size_t i = 0; !err && i < grants->env_set.count; i++)
		err = env_put(&b->env, grants->env_set.item[i]);
	if (!err)
		err = keep_search(b, g, from);
	if (!err && places)
		err = guard_own_find(&g->place, grants);
	if (!err && places)
		err = set_home(b, &g->place);
	/* What is left in an image lies where each program looks for it. */
	if (g->place.whole)
		return err;
	if (!err && places)
		err = set_temporary(b, &g->place);
	if (!err && places)
		err = find_caches(&g->place, &grants->cache, d);
	return err;
}

/* Tells once per session which of the caller's variables the commands do not
 * get. */
static void tell_left(struct guard *g, const char *names)
{
	const struct audit_fact fact = {.key = "names", .text = names};

	if (names[0] && g->entry.fresh)
		guard_entry_event(g, "env.left", &fact, 1);
}

int guard_env_make(
	struct guard_box *b, struct guard *g, bool places, struct diag *d)
{
	const bool confine = g->terms.grants.confine;
	char *const *from = g->carry->env ? g->carry->env : g->caller->env;
	autobuf struct buf left = BUF_INIT(GUARD_ENV_LEFT + 512);
	int err = 0;

	if (confine)
		err = guard_env_keep(g, from, false, &b->env, &left);
	else
		for (; !err && from && *from; from++)
			err = env_add(&b->env, *from);
	if (!err)
		err = guard_env_keep(
			g, g->carry->also_env, true, &b->env, &left);
	if (!err)
		tell_left(g, buf_str(&left));
	if (!err && confine)
		err = set_granted(b, g, from, places, d);
	if (!err)
		err = env_set(&b->env, "WARDBOX_IN_SESSION", "1");
	if (!err)
		err = env_set(&b->env, "WARDBOX_SESSION_ID", g->out->session);
	if (!err && confine)
		err = name_caches(b, &g->place, &g->terms.grants.cache);
	return err ? diag_errno(d, err, "cannot make the environment") : 0;
}

int guard_env_without(struct guard_box *b, struct guard *g)
{
	struct guard_place *p = &g->place;
	int err;

	b->plan.view = false;
	p->own_count = 0;
	policy_places(&g->terms.grants, p->root, p->home, p->base, false,
		p->own_name);
	name_home(p);
	err = set_temporary(b, p);
	return err ? err : guard_entry_shared(g, NULL);
}
