/* policy_grants.c - what a command that runs is given
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "policy/policy_image.h"
#include "base/str.h"
#include "sys/ns.h"
#include "sys/limits.h"

bool policy_word_in(const struct policy_words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++)
		if (words->item[i][0] == word[0] &&
			str_eq(words->item[i], word))
			return true;
	return false;
}

enum {
	GRANTS_MAX = 2 << 20,
	ASK_SECONDS = 60, /* default, where the policy has no time */
};

struct granting {
	const struct policy *p;
	const char *root, *home;
	enum policy_profile profile;
	struct arena *arena;
	struct policy_grants *g;
};

/* The pattern with its place filled in; NULL when the place is not known. */
static const char *fill_pattern(struct granting *x, const char *pattern)
{
	const char *rest, *base;
	size_t a, b;
	char *to;

	if (pattern[0] != '$')
		return pattern;
	base = policy_place(pattern, x->root, x->home, &rest);
	if (rest == pattern)
		return pattern;
	if (!base || !*base)
		return NULL;
	a = strlen(base);
	b = strlen(rest);
	to = arena_bytes(x->arena, a + b + 1);
	if (to) {
		memcpy(to, base, a);
		memcpy(to + a, rest, b + 1);
	}
	return to;
}

static void add_path(struct granting *x, const char *pattern,
	const struct policy_path *how)
{
	const char *text = fill_pattern(x, pattern);
	struct policy_path *to = &x->g->path[x->g->path_count];
	size_t n = text ? strlen(text) : 0, m = strlen(pattern);
	char *cut;

	if (!text)
		return;
	*to = *how;
	to->path = text;
	/* The text that was filled in is a name, even if it ends in a star. */
	to->tree = n > 3 && m > 3 && memcmp(pattern + m - 3, "/**", 3) == 0;
	to->many = memchr(pattern, '*', m - (to->tree ? 3 : 0));
	if (to->tree) {
		cut = arena_bytes(x->arena, n - 2);
		if (!cut)
			return;
		memcpy(cut, text, n - 3);
		cut[n - 3] = 0;
		to->path = cut;
	}
	x->g->path_count++;
}

static const struct policy_image *image_of(const struct granting *x, unsigned i)
{
	return x->p->layer[i];
}

/* The number of rows of a section: in layer i, and in all layers. */
static uint32_t count_rows(
	const struct granting *x, unsigned i, enum img_section s)
{
	return image_of(x, i) ? IMG_COUNT(image_of(x, i), s) : 0;
}
static uint32_t all_rows(const struct granting *x, enum img_section s)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < POLICY_LAYERS; i++)
		n += count_rows(x, i, s);
	return n;
}

/* Adds the paths of the system layer. Paths of a lower layer only count in the
 * decision, because a lower layer must not take away what programs need for
 * themselves. */
static void grant_paths(struct granting *x)
{
	const struct policy_image *sys = image_of(x, POLICY_LAYER_SYSTEM);
	static const struct {
		enum img_set set;
		struct policy_path how;
	} of[] = {
		{IMG_SET_RUN_R, {.runtime = true}},
		{IMG_SET_RUN_RX, {.runtime = true, .exec = true}},
		{IMG_SET_RUN_RW, {.runtime = true, .write = true}},
	};
	size_t n = IMG_COUNT(sys, IMG_PATH) + 1;
	struct img_path p;

	for (size_t k = 0; k < ARRAY_SIZE(of); k++)
		n += img_set(sys, of[k].set).count;
	x->g->path = arena_zalloc(x->arena, n * sizeof(*x->g->path));
	if (!x->g->path)
		return;
	for (uint32_t i = 0; i < IMG_COUNT(sys, IMG_PATH); i++) {
		img_get(sys, IMG_PATH, i, &p);
		add_path(x, img_str(sys, p.pattern),
			&(struct policy_path){.write = p.write});
	}
	for (size_t k = 0; k < ARRAY_SIZE(of); k++) {
		struct img_range r = img_set(sys, of[k].set);

		for (uint32_t i = 0; i < r.count; i++)
			add_path(x, img_ref(sys, r, i), &of[k].how);
	}
}

/* Is the word in the set of every lower layer that has such a set? */
static bool kept_below(
	const struct granting *x, enum img_set set, const char *word)
{
	for (unsigned i = POLICY_LAYER_USER; i < POLICY_LAYERS; i++) {
		const struct policy_image *img = image_of(x, i);

		if (img_set(img, set).count &&
			!img_ref_match(img, img_set(img, set), word))
			return false;
	}
	return true;
}

void policy_fill_home(struct buf *out, const char *text, const char *home)
{
	/* The home must be one absolute entry of a PATH. */
	bool good = home && home[0] == '/' && !strchr(home, ':');
	const char *at;

	for (; (at = str_find(text, "$HOME")); text = at) {
		buf_add(out, text, (size_t)(at - text));
		at += strlen("$HOME");
		if (good) {
			buf_adds(out, home);
			continue;
		}
		/* Removes the entry, and one colon beside it. */
		while (out->len && !strchr("=:", out->data[out->len - 1]))
			out->len--;
		at += strcspn(at, ":");
		if (out->len && out->data[out->len - 1] == ':')
			out->len--;
		else if (*at)
			at++;
	}
	buf_adds(out, text);
}

void policy_search(struct buf *out, const char *path, const char *root,
	bool exec_dir(void *ctx, const char *dir), void *ctx)
{
	char dir[PATH_MAX];

	while (path && *path) {
		size_t n = strcspn(path, ":"), end = n;

		while (end > 1 && path[end - 1] == '/')
			end--;
		if (path[0] == '/' && end < sizeof(dir)) {
			memcpy(dir, path, end);
			dir[end] = 0;
			if (exec_dir(ctx, dir) ||
				(*root && path_beneath(root, dir) &&
					!str_find(dir, "/..")))
				buf_addf(out, "%s%s", out->len ? ":" : "", dir);
		}
		path += n + (path[n] == ':');
	}
}

/* Fills in the value of NAME=VALUE. */
static const char *fill_value(struct granting *x, const char *text)
{
	autobuf struct buf b = BUF_INIT(GRANTS_MAX);
	char *to;

	if (!str_find(text, "$HOME"))
		return text;
	policy_fill_home(&b, text, x->home);
	to = arena_bytes(x->arena, b.len + 1);
	if (to)
		memcpy(to, buf_str(&b), b.len + 1);
	return to;
}

/* Collects the system layer's words that each lower layer keeps. */
static void grant_words(
	struct granting *x, enum img_set set, struct policy_words *out)
{
	const struct policy_image *img = image_of(x, POLICY_LAYER_SYSTEM);
	struct img_range r = img_set(img, set);

	out->item = arena_zalloc(x->arena, (r.count + 1) * sizeof(*out->item));
	for (uint32_t k = 0; out->item && k < r.count; k++) {
		const char *word = img_ref(img, r, k);
		const char *w = set == IMG_SET_ENV_SET ? fill_value(x, word)
						       : fill_pattern(x, word);

		if (w && kept_below(x, set, w))
			out->item[out->count++] = w;
	}
}

/* Collects the system layer's words, and the hosts that lower layers deny. */
static void net_words(struct granting *x)
{
	struct policy_words *out = &x->g->net_words;
	size_t n = 0;

	for (unsigned i = 0; i < POLICY_LAYERS; i++)
		n += img_set(image_of(x, i), IMG_SET_NET).count;
	out->item = arena_zalloc(x->arena, (n + 1) * sizeof(*out->item));
	for (unsigned i = 0; out->item && i < POLICY_LAYERS; i++) {
		const struct policy_image *img = image_of(x, i);
		struct img_range r = img_set(img, IMG_SET_NET);

		for (uint32_t k = 0; k < r.count; k++) {
			const char *word = img_ref(img, r, k);

			if (i == POLICY_LAYER_SYSTEM || word[0] == '-')
				out->item[out->count++] = word;
		}
	}
}

static void grant_protects(struct granting *x)
{
	x->g->protect = arena_zalloc(x->arena,
		(all_rows(x, IMG_PROTECT) + 1) * sizeof(*x->g->protect));
	for (unsigned i = 0; x->g->protect && i < POLICY_LAYERS; i++) {
		const struct policy_image *img = image_of(x, i);
		uint32_t count = count_rows(x, i, IMG_PROTECT);
		struct img_protect p;

		for (uint32_t k = 0; k < count; k++) {
			img_get(img, IMG_PROTECT, k, &p);
			const char *s = img_str(img, p.pattern);
			size_t len = strlen(s);
			struct policy_protect *to =
				&x->g->protect[x->g->protect_count];
			char *cut = arena_bytes(x->arena, len + 1);

			if (!cut || !(p.profiles & 1U << x->profile))
				continue;
			to->tree = len > 3 && str_ends(s, "/**");
			len -= to->tree ? 3 : 0;
			memcpy(cut, s, len);
			cut[len] = 0;
			to->path = cut;
			to->decision = (enum policy_decision)p.decision;
			x->g->protect_count++;
		}
	}
}

static void grant_redacts(struct granting *x)
{
	struct policy_redacts *out = &x->g->redact;

	out->pattern = arena_zalloc(x->arena,
		(all_rows(x, IMG_REDACT) + 1) * sizeof(*out->pattern));
	for (unsigned i = 0; out->pattern && i < POLICY_LAYERS; i++) {
		const struct policy_image *img = image_of(x, i);
		uint32_t count = count_rows(x, i, IMG_REDACT);
		struct img_redact r;
		struct img_class set;

		for (uint32_t k = 0; k < count; k++) {
			struct policy_redact *to =
				&out->pattern[out->pattern_count++];

			img_get(img, IMG_REDACT, k, &r);
			img_get(img, IMG_CLASS, r.class, &set);
			to->id = img_str(img, r.id);
			to->prefix = r.prefix ? img_str(img, r.prefix) : NULL;
			to->key = r.key ? img_str(img, r.key) : NULL;
			for (unsigned c = 0; c < sizeof(to->bytes); c++)
				to->bytes[c] = (uint8_t)(set.bits[c / 2] >>
							 c % 2 * 8);
			to->min = r.min;
			to->max = r.max;
		}
	}
}

static void grant_secrets(struct granting *x)
{
	struct policy_redacts *out = &x->g->redact;

	out->secret = arena_zalloc(x->arena,
		(all_rows(x, IMG_SECRET) + 1) * sizeof(*out->secret));
	for (unsigned i = 0; out->secret && i < POLICY_LAYERS; i++) {
		const struct policy_image *img = image_of(x, i);
		uint32_t count = count_rows(x, i, IMG_SECRET);
		struct img_secret s;

		for (uint32_t k = 0; k < count; k++) {
			struct policy_secret *to =
				&out->secret[out->secret_count++];

			img_get(img, IMG_SECRET, k, &s);
			to->programs = img_str(img, s.programs);
			to->word = img_str(img, s.word);
			str_copy(to->flag, sizeof(to->flag),
				img_str(img, s.flag));
			to->kind = IMG_SECRET_KIND(s.bits);
			to->likely = s.bits & IMG_SECRET_LIKELY;
			to->how = IMG_SECRET_HOW(s.bits);
			to->sign = IMG_SECRET_SIGN(s.bits);
		}
	}
}

/* A limit as a number; a share of memory is a share of the machine's memory, or
 * of its container's. */
static uint64_t limit_number(uint64_t n)
{
	return n & IMG_SHARE ? limits_memory() / 100 * (n & 0x7f) : n;
}

static void tighten_limit(uint64_t *limit, uint64_t by)
{
	if (by && (!*limit || by < *limit))
		*limit = by;
}

/* Takes who answers questions. A lower layer only tightens: fewer answer, in a
 * shorter time. */
static void who_answers(struct policy_grants *g, const struct img_profile *p)
{
	const uint32_t set = p->v[IMG_P_SET];

	if (set & 1U << IMG_P_ASK && p->v[IMG_P_ASK] > g->ask)
		g->ask = (enum policy_ask)p->v[IMG_P_ASK];
	if (set & 1U << IMG_P_ASK_TIME &&
		(!g->ask_time || p->v[IMG_P_ASK_TIME] < g->ask_time))
		g->ask_time = p->v[IMG_P_ASK_TIME];
}

/* tmp=deny, shared, or container: shared where that is the container's own. */
static bool shares_tmp(uint32_t said)
{
	enum { SHARED = 1 };

	return said == SHARED || (said && ns_is_contained());
}

static void grant_limits(struct granting *x)
{
	struct policy_limits *l = &x->g->limits;

	x->g->net = POLICY_NET_ALL;
	x->g->strangers = true;
	l->over_out = POLICY_OVER_TRUNCATE;
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		uint64_t *to[IMG_LIMITS] = {&l->cpu, &l->wall, &l->mem, &l->out,
			&l->procs, &l->files, &l->idle};
		struct img_profile p;
		bool net;

		if (!image_of(x, i))
			continue;
		img_get(image_of(x, i), IMG_PROFILE, x->profile, &p);
		for (unsigned k = 0; k < IMG_LIMITS; k++)
			tighten_limit(to[k], limit_number(img_u64(p.limit[k])));
		if (img_u64(p.limit[IMG_L_OUT]) &&
			p.v[IMG_P_OVER_OUT] == POLICY_OVER_KILL)
			l->over_out = POLICY_OVER_KILL;
		net = p.v[IMG_P_SET] & 1U << IMG_P_NET;
		if (i == 0 && !net)
			x->g->net = POLICY_NET_NONE;
		if (net && (i == 0 || p.v[IMG_P_NET] < x->g->net))
			x->g->net = p.v[IMG_P_NET];
		if ((i == 0 || p.v[IMG_P_SET] & 1U << IMG_P_UNKNOWN) &&
			p.v[IMG_P_UNKNOWN] != POLICY_ALLOW)
			x->g->strangers = false;
		if (p.v[IMG_P_SUPERVISE])
			x->g->supervise = true;
		who_answers(x->g, &p);
		/* A lower layer can only end what the system layer would
		 * keep. */
		if (p.v[IMG_P_SET] & 1U << IMG_P_BACKGROUND &&
			(i == 0 || p.v[IMG_P_BACKGROUND]))
			x->g->background = p.v[IMG_P_BACKGROUND] ?
				POLICY_BACKGROUND_END : POLICY_BACKGROUND_KEEP;
		if (p.v[IMG_P_UNDO])
			x->g->undo = true;
		if (p.v[IMG_P_SET] & 1U << IMG_P_TMP)
			x->g->tmp_shared = shares_tmp(p.v[IMG_P_TMP]) &&
				(i == 0 || x->g->tmp_shared);
	}
	x->g->hard_output = l->over_out == POLICY_OVER_KILL;
	if (!x->g->ask_time)
		x->g->ask_time = ASK_SECONDS;
}

static bool any_letter(char c)
{
	return c == '*' || c == '?';
}

/* The chain of a word: words that begin with the same two letters are in one
 * chain; globs that may begin with any letter are in chain 0. */
static unsigned env_chain(const char *word)
{
	if (!word[0] || any_letter(word[0]) || any_letter(word[1]))
		return 0;
	return 1 + (((unsigned)word[0] * 7 + (unsigned)word[1]) & 63);
}

static void add_env(struct granting *x, const char *word, bool deny)
{
	const bool out = *word == '!';
	const unsigned chain = env_chain(word += out);
	uint16_t *head = &x->g->env_chain[chain];
	char last = chain || !word[0] ? '\0' : word[strlen(word) - 1];

	x->g->env[x->g->env_count] = (struct policy_env_word){.word = word,
		.next = *head,
		.last = any_letter(last) ? '\0' : last,
		.deny = deny,
		.out = out};
	*head = (uint16_t)++x->g->env_count;
}

/* Collects the names: kept are the system layer's names that each lower layer
 * keeps, too; denied are the names that any layer denies. */
static void env_names(struct granting *x)
{
	size_t n = 0;

	for (unsigned i = 0; i < 2 * POLICY_LAYERS; i++)
		n += img_set(image_of(x, i / 2),
			i % 2 ? IMG_SET_ENV_DENY : IMG_SET_ENV_KEEP)
			     .count;
	x->g->env = n < UINT16_MAX
		? arena_zalloc(x->arena, (n + 1) * sizeof(*x->g->env))
		: NULL;
	x->arena->failed |= !x->g->env;
	for (unsigned i = 0; x->g->env && i < 2 * POLICY_LAYERS; i++) {
		const struct policy_image *img = image_of(x, i / 2);
		bool deny = i % 2;
		struct img_range set = {0};

		if (deny || i == 0)
			set = img_set(img,
				deny ? IMG_SET_ENV_DENY : IMG_SET_ENV_KEEP);
		for (uint32_t k = 0; k < set.count; k++) {
			const char *w = img_ref(img, set, k);

			if (deny || *w == '!' ||
				kept_below(x, IMG_SET_ENV_KEEP, w))
				add_env(x, w, deny);
		}
	}
}

int policy_grants(const struct policy *p, enum policy_profile profile,
	const char *root, const char *home, struct policy_grants *out)
{
	struct arena *a = malloc(sizeof(*a));
	struct granting x = {.p = p, .profile = profile, .arena = a, .g = out};

	x.root = root;
	x.home = home;
	*out = (struct policy_grants){.arena = a};
	if (!a)
		return -ENOMEM;
	*a = ARENA_INIT(GRANTS_MAX);
	out->confine = profile != POLICY_OBSERVE;
	grant_words(&x, IMG_SET_EXEC, &out->exec);
	grant_words(&x, IMG_SET_ENV_SET, &out->env_set);
	grant_words(&x, IMG_SET_RELAX, &out->relax);
	grant_words(&x, IMG_SET_HIDE, &out->hide);
	grant_words(&x, IMG_SET_CACHE, &out->cache);
	grant_words(&x, IMG_SET_UNDO, &out->undo_words);
	net_words(&x);
	grant_words(&x, IMG_SET_HOME, &out->home);
	grant_protects(&x);
	grant_redacts(&x);
	grant_secrets(&x);
	grant_limits(&x);
	env_names(&x);
	if (image_of(&x, POLICY_LAYER_SYSTEM))
		grant_paths(&x);
	if (a->failed) {
		policy_grants_release(out);
		return -ENOMEM;
	}
	return 0;
}

void policy_grants_release(struct policy_grants *g)
{
	struct arena *a = g->arena;

	if (a)
		arena_release(a);
	free(a);
	policy_free(g->owned);
	*g = (struct policy_grants){0};
}

enum policy_env_fate policy_env(const struct policy_grants *g, const char *name)
{
	const unsigned chain[] = {0, env_chain(name)};
	const size_t n = strlen(name);
	const char last = n ? name[n - 1] : '\0';
	bool keep = false, deny = false, keep_it = false, deny_it = false;
	bool any = false, out = false;

	for (unsigned c = 0; c < ARRAY_SIZE(chain); c++) {
		unsigned i = g->env_chain[chain[c]];

		for (; i; i = g->env[i - 1].next) {
			const struct policy_env_word *w = &g->env[i - 1];
			bool it;

			if ((c && w->word[0] != name[0]) ||
				(w->last && w->last != last) ||
				!str_glob(w->word, name))
				continue;
			it = str_eq(w->word, name);
			if (w->out || (!w->deny && str_eq(w->word, "*"))) {
				*(w->out ? &out : &any) = true;
				continue;
			}
			*(w->deny ? &deny : &keep) = true;
			*(w->deny ? &deny_it : &keep_it) |= it;
		}
	}
	/* A name that the policy keeps word for word is not meant by a broader
	 * pattern of denied names: WARDBOX_SESSION_ID beside WARDBOX_*. */
	if (keep_it ? deny_it : deny)
		return POLICY_ENV_DENY;
	if (keep)
		return POLICY_ENV_KEEP;
	return any && !out ? POLICY_ENV_ANY : POLICY_ENV_DROP;
}
