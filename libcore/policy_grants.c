/* policy_grants.c - what a command that runs is given
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "arena.h"
#include "policy_image.h"
#include "str.h"

bool policy_word_in(const struct policy_words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++)
		if (str_eq(words->item[i], word))
			return true;
	return false;
}

enum {
	GRANTS_MAX = 2 << 20,
};

struct granting {
	const struct policy *p;
	const char *root, *home;
	enum policy_profile profile;
	struct arena *arena;
	struct policy_grants *g;
};

/* The pattern with its place filled in; NULL when the place is not known. */
static const char *fill(struct granting *x, const char *pattern)
{
	static const char *const name[] = {"$ROOT", "$HOME"};
	const char *const place[] = {x->root, x->home};
	const char *base = "", *rest = pattern;
	size_t a, b;
	char *to;

	for (unsigned i = 0; i < ARRAY_SIZE(name); i++) {
		const char *behind = str_after(pattern, name[i]);

		if (!behind || (*behind && *behind != '/'))
			continue;
		base = place[i];
		rest = behind;
		if (!base || !*base)
			return NULL;
	}
	a = strlen(base);
	b = strlen(rest);
	to = arena_bytes(x->arena, a + b + 1);
	if (to) {
		memcpy(to, base, a);
		memcpy(to + a, rest, b + 1);
	}
	return to;
}

static void add_path(
	struct granting *x, const char *pattern, bool write, bool runtime)
{
	const char *text = fill(x, pattern);
	struct policy_path *to = &x->g->path[x->g->path_count];
	size_t n = text ? strlen(text) : 0;
	char *cut;

	if (!text)
		return;
	*to = (struct policy_path){
		.path = text, .write = write, .runtime = runtime};
	if (n > 3 && str_ends(text, "/**")) {
		cut = arena_bytes(x->arena, n - 2);
		if (!cut)
			return;
		memcpy(cut, text, n - 3);
		cut[n - 3] = 0;
		to->path = cut;
		to->tree = true;
	}
	x->g->path_count++;
}

static const struct policy_image *layer(const struct granting *x, unsigned i)
{
	return x->p->layer[i];
}

/* The system's paths: a lower layer's stay a matter of the decision, for what
 * programs need for themselves is not theirs to take away. */
static void paths(struct granting *x)
{
	const struct policy_image *sys = layer(x, POLICY_LAYER_SYSTEM);
	struct img_range r = img_set(sys, IMG_SET_RUN_R);
	struct img_range rw = img_set(sys, IMG_SET_RUN_RW);
	struct img_path p;

	x->g->path = arena_zalloc(
		x->arena, (IMG_COUNT(sys, IMG_PATH) + r.count + rw.count + 1) *
				  sizeof(*x->g->path));
	if (!x->g->path)
		return;
	for (uint32_t i = 0; i < IMG_COUNT(sys, IMG_PATH); i++) {
		img_get(sys, IMG_PATH, i, &p);
		add_path(x, img_str(sys, p.pattern), p.write, false);
	}
	for (uint32_t i = 0; i < r.count; i++)
		add_path(x, img_ref(sys, r, i), false, true);
	for (uint32_t i = 0; i < rw.count; i++)
		add_path(x, img_ref(sys, rw, i), true, true);
}

/* Is word in the set of every lower layer that has one? */
static bool kept_below(
	const struct granting *x, enum img_set set, const char *word)
{
	for (unsigned i = POLICY_LAYER_USER; i < POLICY_LAYERS; i++) {
		const struct policy_image *img = layer(x, i);

		if (img && img_set(img, set).count &&
			!img_ref_match(img, img_set(img, set), word))
			return false;
	}
	return true;
}

/* all: the union of the layers; else the system's, cut by each lower one. */
static void words(struct granting *x, enum img_set set, bool all,
	struct policy_words *out)
{
	size_t n = 1;

	for (unsigned i = 0; i < POLICY_LAYERS; i++)
		n += layer(x, i) ? img_set(layer(x, i), set).count : 0;
	out->item = arena_zalloc(x->arena, n * sizeof(*out->item));
	for (unsigned i = 0; out->item && i < (all ? POLICY_LAYERS : 1); i++) {
		const struct policy_image *img = layer(x, i);
		uint32_t count = img ? img_set(img, set).count : 0;

		for (uint32_t k = 0; k < count; k++) {
			const char *w =
				fill(x, img_ref(img, img_set(img, set), k));

			if (w && (all || kept_below(x, set, w)))
				out->item[out->count++] = w;
		}
	}
}

static void protects(struct granting *x)
{
	size_t n = 0;

	for (unsigned i = 0; i < POLICY_LAYERS; i++)
		n += layer(x, i) ? IMG_COUNT(layer(x, i), IMG_PROTECT) : 0;
	x->g->protect =
		arena_zalloc(x->arena, (n + 1) * sizeof(*x->g->protect));
	for (unsigned i = 0; x->g->protect && i < POLICY_LAYERS; i++) {
		const struct policy_image *img = layer(x, i);
		uint32_t count = img ? IMG_COUNT(img, IMG_PROTECT) : 0;
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

static void redacts(struct granting *x)
{
	size_t n = 0;

	for (unsigned i = 0; i < POLICY_LAYERS; i++)
		n += layer(x, i) ? IMG_COUNT(layer(x, i), IMG_REDACT) : 0;
	x->g->redact = arena_zalloc(x->arena, (n + 1) * sizeof(*x->g->redact));
	for (unsigned i = 0; x->g->redact && i < POLICY_LAYERS; i++) {
		const struct policy_image *img = layer(x, i);
		uint32_t count = img ? IMG_COUNT(img, IMG_REDACT) : 0;
		struct img_redact r;
		struct img_class set;

		for (uint32_t k = 0; k < count; k++) {
			struct policy_redact *to =
				&x->g->redact[x->g->redact_count++];

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

static void tighten(uint64_t *limit, uint64_t by)
{
	if (by && (!*limit || by < *limit))
		*limit = by;
}

static void limits(struct granting *x)
{
	struct policy_limits *l = &x->g->limits;

	x->g->net = POLICY_NET_ALL;
	l->over_out = POLICY_OVER_TRUNCATE;
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		uint64_t *to[IMG_LIMITS] = {&l->cpu, &l->wall, &l->mem, &l->out,
			&l->procs, &l->files};
		struct img_profile p;
		bool net;

		if (!layer(x, i))
			continue;
		img_get(layer(x, i), IMG_PROFILE, x->profile, &p);
		for (unsigned k = 0; k < IMG_LIMITS; k++)
			tighten(to[k], img_u64(p.limit[k]));
		if (img_u64(p.limit[IMG_L_OUT]) &&
			p.v[IMG_P_OVER_OUT] == POLICY_OVER_KILL)
			l->over_out = POLICY_OVER_KILL;
		net = p.v[IMG_P_SET] & 1U << IMG_P_NET;
		if (i == 0 && !net)
			x->g->net = POLICY_NET_NONE;
		if (net && (i == 0 || p.v[IMG_P_NET] < x->g->net))
			x->g->net = p.v[IMG_P_NET];
		if (p.v[IMG_P_SUPERVISE])
			x->g->supervise = true;
	}
	x->g->hard_output = l->over_out == POLICY_OVER_KILL;
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
	words(&x, IMG_SET_EXEC, false, &out->exec);
	words(&x, IMG_SET_ENV_KEEP, false, &out->env_keep);
	words(&x, IMG_SET_ENV_SET, true, &out->env_set);
	words(&x, IMG_SET_ENV_DENY, true, &out->env_deny);
	words(&x, IMG_SET_RELAX, false, &out->relax);
	protects(&x);
	redacts(&x);
	limits(&x);
	if (layer(&x, POLICY_LAYER_SYSTEM))
		paths(&x);
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
	*g = (struct policy_grants){0};
}

static bool listed(const struct policy_words *w, const char *name)
{
	for (size_t i = 0; i < w->count; i++) {
		char first = w->item[i][0];

		/* Most differ in their first letter. */
		if ((first == name[0] || first == '*' || first == '?') &&
			str_glob(w->item[i], name))
			return true;
	}
	return false;
}

enum policy_env_fate policy_env(const struct policy_grants *g, const char *name)
{
	/* What the policy keeps by its very name is not what a broader pattern
	 * of denied ones means: WARDBOX_SESSION_ID beside WARDBOX_*. */
	for (size_t i = 0; i < g->env_keep.count; i++)
		if (g->env_keep.item[i][0] == name[0] &&
			str_eq(g->env_keep.item[i], name) &&
			!strpbrk(g->env_keep.item[i], "*?")) {
			for (size_t k = 0; k < g->env_deny.count; k++)
				if (str_eq(g->env_deny.item[k], name))
					return POLICY_ENV_DENY;
			return POLICY_ENV_KEEP;
		}
	if (listed(&g->env_deny, name))
		return POLICY_ENV_DENY;
	return listed(&g->env_keep, name) ? POLICY_ENV_KEEP : POLICY_ENV_DROP;
}
