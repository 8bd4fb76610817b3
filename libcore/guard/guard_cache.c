/* guard_cache.c - the guarded user's own directories for caches
 * SPDX-License-Identifier: MIT
 *
 * They lie beside the user's TMPDIR, in BASE/<uid>/cache, where no program that
 * is not guarded looks for anything: what a guarded command leaves there is
 * read by guarded commands of the same user alone.
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
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

int guard_cache_find(
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

int guard_cache_env(struct guard_box *b, const struct guard_place *p,
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
