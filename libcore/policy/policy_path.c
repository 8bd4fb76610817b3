/* policy_path.c - may a path be read, written, entered
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "policy/policy_judge_in.h"
#include "base/str.h"

/* Compares segment by segment: '*' does not match '/'. The first name bytes are
 * compared literally. */
static bool grant_glob(const char *pattern, size_t name, const char *path)
{
	unsigned a = 0, b = 0;

	if (strncmp(pattern, path, name) != 0)
		return false;
	pattern += name;
	path += name;
	for (const char *c = pattern; *c; c++)
		a += *c == '/';
	for (const char *c = path; *c; c++)
		b += *c == '/';
	return a == b && str_glob(pattern, path);
}

/* Fills in $ROOT and $HOME; the first *name bytes are the place. False when it
 * does not fit. */
static bool expand_pattern(
	const struct judge *j, const char *pattern, char *out,
	size_t size, size_t *name)
{
	const char *rest;
	struct buf b = {.data = out, .cap = size, .max = size - 1};

	buf_adds(&b, policy_place(pattern, j->root, j->home, &rest));
	*name = b.len;
	buf_adds(&b, rest);
	return *buf_str(&b) != 0 && !b.err;
}

static bool granted_by(struct judge *j, const struct policy_image *img,
	const char *text, const char *physical, bool write, bool links);

/* Can the command not change what stands in dir? */
static bool dir_lasts(void *ctx, const char *dir)
{
	struct judge *j = ctx;
	const struct policy_image *sys = j->p->layer[POLICY_LAYER_SYSTEM];

	return sys && !judge_is_tmp(j, dir) &&
		!granted_by(j, sys, dir, dir, true, false);
}

/* A tree may be named by a link to it, unless the command could have made the
 * link. */
static bool leads_to(struct judge *j, const char *tree, const char *physical)
{
	enum { COST = 200 }; /* the kernel resolves each part of the name */
	autofree char *real = malloc(PATH_MAX);

	j->work += COST;
	return real && !judge_spent(j) && !path_settle(tree, real, dir_lasts,
		j) &&
		path_beneath(real, physical);
}

static bool granted_by(struct judge *j, const struct policy_image *img,
	const char *text, const char *physical, bool write, bool links)
{
	struct img_path p;
	char pattern[JUDGE_PATH];

	for (uint32_t i = 0; i < IMG_COUNT(img, IMG_PATH); i++) {
		size_t n, name;

		img_get(img, IMG_PATH, i, &p);
		if ((write && !p.write) ||
			!expand_pattern(j, img_str(img, p.pattern), pattern,
				sizeof(pattern), &name))
			continue;
		n = strlen(pattern);
		if (n > 3 && n >= name + 3 && str_ends(pattern, "/**")) {
			pattern[n - 3] = 0;
			if (links ? leads_to(j, pattern, physical)
				  : path_beneath(pattern, physical))
				return true;
		} else if (grant_glob(pattern, name, text) ||
			   str_eq(pattern, physical)) {
			return true;
		}
	}
	return false;
}

/* The home by the kernel's name. */
static const char *real_home(struct judge *j)
{
	autofree char *real = j->real_home ? NULL : malloc(PATH_MAX);

	if (!j->real_home)
		j->real_home = !real || path_real(j->home, real) ||
				str_eq(real, j->home)
			? j->home
			: judge_text(j, real, strlen(real));
	return j->real_home;
}

/* Is the path at or beneath the pattern? in_home: the path's part behind either
 * name of the home; or NULL. */
static bool is_within(struct judge *j, const char *pattern, const char *path,
	const char *const in_home[2])
{
	const char *rest, *base;

	if (*pattern != '$')
		return path[1] == pattern[1] && path_beneath(pattern, path);
	rest = str_after(pattern, "$HOME");
	if (rest && (*rest == '/' || !*rest))
		return (in_home[0] && path_beneath(rest, in_home[0])) ||
		       (in_home[1] && path_beneath(rest, in_home[1]));
	base = policy_place(pattern, j->root, "", &rest);
	return str_after(path, base) &&
	       path_beneath(rest, path + strlen(base));
}

/* Is the path in a secret place that no path of the system policy names? */
static bool is_hidden(struct judge *j, const char *physical)
{
	const struct policy_image *sys = j->p->layer[POLICY_LAYER_SYSTEM];
	struct img_range r = img_set(sys, IMG_SET_HIDE);
	const char *const in_home[] = {str_after(physical, j->home),
		str_after(physical, real_home(j))};
	const char *secret = NULL;
	struct img_path p;

	j->work += 2;
	for (uint32_t i = 0; i < r.count && !secret; i++)
		if (is_within(j, img_ref(sys, r, i), physical, in_home))
			secret = img_ref(sys, r, i);
	for (uint32_t i = 0; secret && i < IMG_COUNT(sys, IMG_PATH); i++) {
		img_get(sys, IMG_PATH, i, &p);
		if (path_beneath(secret, img_str(sys, p.pattern)))
			return false;
	}
	return secret != NULL;
}

/* Do all layers with paths grant it? */
static bool path_granted(struct judge *j, const char *cwd, const char *path,
	const char *physical, bool write)
{
	char text[JUDGE_PATH];

	if (path_normal(text, sizeof(text), cwd, path) < 0)
		return false;
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		const struct policy_image *img = j->p->layer[i];

		if (img && (i == 0 || IMG_COUNT(img, IMG_PATH)) &&
			!granted_by(j, img, text, physical, write, false) &&
			!granted_by(j, img, text, physical, write, true))
			return false;
	}
	return true;
}

/* Can the pattern match rel or, if it ends in "**", a directory above rel?
 * SHELL_REL in rel stands for any bytes; '/' matches only itself. at marks the
 * pattern positions that what was read of rel can reach. */
static bool protected_by(const char *pattern, const char *rel, bool glob)
{
	size_t n = strlen(pattern);
	const bool tree = n > 3 && str_ends(pattern, "/**");
	bool at[JUDGE_PATH] = {true}, any = true;

	n -= tree ? 3 : 0;
	if (n >= sizeof(at))
		return true;
	for (; any; rel++) {
		const bool some = *rel == SHELL_REL;
		bool was = false, is = false;
		char last = '/';

		any = false;
		for (size_t i = 0; i <= n; last = pattern[i++]) {
			const bool from = some ? is : was;
			bool stay = pattern[i] == '*' && *rel != '/';

			if (some) /* a glob matches no leading dot */
				stay = !glob || last != '/' || pattern[i] != '.';
			was = at[i] || (was && last == '*');
			is = (was && stay) ||
			     (from && (last == *rel || last == '?' ||
					      (some && last != '/')));
			at[i] = is;
			any |= is;
		}
		if (!*rel || (tree && was && *rel == '/'))
			return was;
	}
	return false;
}

/* Most names differ in their first byte. */
static bool begins_alike(const char *pattern, const char *rel)
{
	return *pattern == *rel || strchr("*?", *pattern) || *rel == SHELL_REL;
}

static void check_protect(
	struct judge_cmd *k, const char *physical, const struct arg *a)
{
	struct judge *j = k->j;
	const char *rel = physical + strlen(j->root);

	rel += *rel == '/';
	for (unsigned l = 0; l < POLICY_LAYERS; l++) {
		const struct policy_image *img = j->p->layer[l];
		uint32_t count = img ? IMG_COUNT(img, IMG_PROTECT) : 0;
		struct img_protect p;

		for (uint32_t i = 0; i < count; i++) {
			const char *text, *pattern;

			img_get(img, IMG_PROTECT, i, &p);
			text = img_str(img, p.text);
			pattern = img_str(img, p.pattern);
			if (!(p.profiles & 1U << j->profile) ||
				!begins_alike(pattern, rel))
				continue;
			j->work++;
			if (!protected_by(pattern, rel, a->glob))
				continue;
			/* A number could become any name, so the path is not
			 * known. */
			if (*rel == SHELL_REL && !a->glob)
				judge_unresolved(k, a, "path");
			else if (judge_raise(k, p.decision, "protect",
					 "writes the protected %s%s%s",
					 judge_show(j, rel), *text ? ": " : "",
					 text))
				k->v.is |= POLICY_IS_PROTECT;
		}
	}
}

/* The variable that names a replacement for a directory of which the command
 * has none of its own without a view of mounts; NULL where path is in no such
 * directory. */
static const char *stand_in(const struct judge *j, const char *path, bool write)
{

	if (!j->places || j->places[0] || !j->tmp || !*j->tmp)
		return NULL;
	if (path_beneath(j->home, path))
		return write ? "HOME=$TMPDIR" : NULL;
	for (size_t i = 0; i < POLICY_SHARED; i++)
		if (path_beneath(policy_shared[i], path))
			return "$TMPDIR";
	return NULL;
}

/* A path outside: the sandbox decides, so the line may name it. Where the
 * sandbox is sure to refuse and a replacement exists, the line is denied with
 * that hint. */
static void judge_outside(struct judge_cmd *k, const struct arg *a,
	const struct path_found *f, enum path_use use)
{
	static const char go[] = "begin with 'cd DIR &&', DIR a project of yours";
	struct judge *j = k->j;
	const bool none = j->no_project, open = k->v.open;
	const char *instead = stand_in(j, f->path, use == PATH_WRITE);
	bool first;

	if (instead) {
		judge_raise(k, POLICY_DENY, "path",
			"%s: the command has none of its own here, for want of "
			"a mount namespace",
			judge_show(j, a->s));
		if (str_eq(k->v.rule, "path") && !k->v.alternative[0])
			judge_alternative(k, judge_print(j, "%s is: %s%s%s",
				instead, j->tmp,
				*instead == '$' ? "; or root's policy says: "
						  "tmp=shared for profile " : "",
				*instead == '$' ? policy_profile_name(j->profile)
						: ""));
		return;
	}

	first = judge_raise(k, POLICY_OPEN, "path",
		none ? "%s: %s is no project, so the sandbox decides"
		     : "%s is outside of %s: the sandbox decides",
		judge_show(j, a->s), judge_show(j, none ? j->cwd : j->root));
	k->v.open = open; /* this is no matter for the watch */
	if (!first)
		return;
	str_copy(k->v.file, sizeof k->v.file, f->path);
	k->v.is |= POLICY_IS_OUTSIDE |
		   (use == PATH_WRITE ? POLICY_IS_WRITING : 0U);
	if (none && a->s[0] != '/' && !str_eq(j->cwd, "/"))
		judge_alternative(k, judge_print(j,
			"%s; or a line 'root %s' in " POLICY_SYSTEM, go,
			judge_show(j, j->cwd)));
	else
		judge_alternative(k, judge_print(j,
			"%s; or a line 'path %s %s' in " POLICY_SYSTEM,
			none ? go : "a file below the project or $TMPDIR works",
			use == PATH_WRITE ? "rw" : "r",
			judge_show(j, f->path)));
}

bool judge_is_place(const struct judge *j, const char *path)
{
	for (const char *const *at = j->places; at && *at; at++)
		if (path_beneath(*at, path))
			return !path_beneath(j->root, path);
	return false;
}

/* Does the word name something in a directory of the command's own? A file
 * outside with that name is another one. */
static bool in_place(struct judge *j, const char *cwd, const char *word,
	char *text, size_t size)
{
	return j->places && path_normal(text, size, cwd, word) == 0 &&
	       judge_is_place(j, text);
}

/* Is it a file that the command's own home has as a copy without secrets? */
static bool is_copied(struct judge *j, const char *path)
{
	const struct policy_image *sys = j->p->layer[POLICY_LAYER_SYSTEM];
	struct img_range r = img_set(sys, IMG_SET_HOME);
	const char *rest = NULL;

	for (const char *const *at = j->places; at && *at; at++)
		if (str_eq(*at, j->home))
			rest = str_after(path, j->home);
	for (uint32_t i = 0; rest && *rest == '/' && i < r.count; i++) {
		const char *word = img_ref(sys, r, i);
		const size_t n = strcspn(word, ":");

		if (strlen(rest + 1) == n && strncmp(word, rest + 1, n) == 0)
			return true;
	}
	return false;
}

static void judge_secret(struct judge_cmd *k, const struct arg *a,
	const char *path)
{
	struct judge *j = k->j;

	if (judge_raise(k, POLICY_DENY, "secret", "%s is a place for secrets",
		    judge_show(j, a->s)))
		judge_alternative(k, judge_print(j,
			"root shows it: 'path r %s' in " POLICY_SYSTEM,
			judge_show(j, path)));
}

static void path_from(struct judge_cmd *k, const struct arg *a, const char *cwd,
	enum path_use use)
{
	struct judge *j = k->j;
	struct path_found f;

	if (in_place(j, cwd, a->s, f.path, sizeof(f.path))) {
		const bool copied = is_copied(j, f.path);

		j->is |= POLICY_IS_STRAYING;
		f.want = 0;
		judge_resolve(j, cwd, a->s, &f);
		if (!copied && is_hidden(j, f.path))
			judge_secret(k, a, f.path);
		return;
	}
	f.want = k->unlinks && use == PATH_WRITE ? FOUND_ENTRY : 0;
	judge_resolve(j, cwd, a->s, &f);
	if (f.where != FOUND_IN && !judge_is_tmp(j, f.path) &&
		!path_beneath("/dev", f.path))
		j->is |= POLICY_IS_STRAYING;
	if (f.where == FOUND_TOO_LONG) {
		judge_raise(k, POLICY_OPEN, "path",
			"%s: too long or too many links", judge_show(j, a->s));
	} else if (is_hidden(j, f.path)) {
		judge_secret(k, a, f.path);
	} else if (f.where == FOUND_OUT) {
		/* A program that starts meets the sandbox. */
		if (!j->starts && !judge_is_tmp(j, f.path) &&
			!judge_is_place(j, f.path) &&
			!path_granted(j, cwd, a->s, f.path, use == PATH_WRITE))
			judge_outside(k, a, &f, use);
	} else if (use == PATH_WRITE) {
		check_protect(k, f.path, a);
	}
}

void judge_path(struct judge_cmd *k, const struct arg *a, enum path_use use)
{
	struct judge *j = k->j;
	struct arg known = *a;
	const char *cwd;

	/* Below an approved parent the kernel alone guards paths. */
	if (!*a->s || j->depth || judge_spent(j))
		return;
	/* @FILE is the way to give many programs more words. */
	if (*a->s == '@' && a->s[1] && strchr("/.~", a->s[1]))
		known.s++;
	j->is |= POLICY_IS_OPENING;
	if (a->unknown) {
		j->is |= POLICY_IS_STRAYING;
		judge_unresolved(k, a, "path");
		known.s = judge_text(j, known.s, strcspn(known.s, SHELL_ANY_S));
		if (!*known.s)
			return;
		known.unknown = false;
		use = PATH_READ;
	}
	cwd = judge_cwd(k);
	if (known.s[0] != '/' && strchr(cwd, SHELL_ANY)) {
		j->is |= POLICY_IS_STRAYING;
		judge_unresolved(k, a, "directory");
	}
	else
		path_from(k, &known, *cwd ? cwd : "/", use);
}

/* Does the pattern name the place at path? "$ROOT/..": the directories around
 * the project. */
static bool is_place(struct judge *j, const char *pattern, const char *path)
{
	char place[JUDGE_PATH];
	size_t name;

	if (str_eq(pattern, "$ROOT/.."))
		return !j->no_project && path_beneath(path, j->root) &&
		       !str_eq(path, j->root);
	return expand_pattern(j, pattern, place, sizeof(place), &name) &&
	       grant_glob(place, name, path);
}

bool judge_at(struct judge_cmd *k, const struct arg *a,
	const struct policy_image *img, struct img_range places)
{
	struct judge *j = k->j;
	const char *cwd = judge_cwd(k);
	struct path_found f = {.want = FOUND_ENTRY};
	bool at = false, all;
	size_t n;

	if (!*a->s || a->unknown || strchr(cwd, SHELL_ANY))
		return false;
	judge_resolve(j, *cwd ? cwd : "/", a->s, &f);
	if (f.where == FOUND_TOO_LONG)
		return false;
	/* All that lies in a directory counts as the directory, except in the
	 * project, where a build is cleaned that way. */
	n = strlen(f.path);
	all = n > 1 && f.path[n - 1] == SHELL_REL && f.path[n - 2] == '/';
	if (all)
		f.path[n > 2 ? n - 2 : 1] = 0;
	if (all && str_eq(f.path, j->root))
		return false;
	for (uint32_t i = 0; i < places.count; i++) {
		const char *p = img_ref(img, places, i);

		if (*p == '!' && is_place(j, p + 1, f.path))
			return false;
		at |= is_place(j, p, f.path);
	}
	return at;
}

void judge_path_val(
	struct judge_cmd *k, const struct shell_val *v, enum path_use use)
{
	struct arg a = judge_arg(k->j, v->text.p, v->text.n);

	a.many = v->many;
	a.glob = v->glob;
	judge_path(k, &a, use);
}

/* Is there a ".." between slashes, or at an end? */
static bool has_dotdot(const char *s)
{
	for (const char *c = s; (c = str_find(c, "..")); c += 2)
		if ((c == s || c[-1] == '/') && (!c[2] || c[2] == '/'))
			return true;
	return false;
}

/* Is it http://…? For file:// and git+file:// sets *s to the path behind. */
static bool is_address(const char **s)
{
	const char *at = *s, *behind;

	while (chr_name(*at) || *at == '+' || *at == '-' || *at == '.')
		at++;
	behind = at > *s ? str_after(at, "://") : NULL;
	if (!behind || at - *s < 4 || memcmp(at - 4, "file", 4) != 0)
		return behind;
	*s = behind;
	return false;
}

/* A value with blanks is a path only if it begins like one. */
static bool is_sentence(const char *s)
{
	const char *eq = strchr(s, '=');

	if (!strpbrk(s, " \t\n") || has_dotdot(s))
		return false;
	if (s[0] == '-' && s[1] && s[1] != '-' && s[2] == '/')
		return false;
	/* --out=/x y, but not: a b=/c */
	return s[0] != '/' &&
	       !(eq && eq[1] == '/' && strcspn(s, " \t\n") > (size_t)(eq - s));
}

/* Can a bare word lead elsewhere: is it a link, or, where there is no project
 * or the line starts among secrets, an existing file? Other words stay in the
 * project, if they are paths at all. */
static bool leads_on(const struct judge_cmd *k, const char *word)
{
	struct judge *j = k->j;
	char path[JUDGE_PATH], to[1];
	const char *cwd = *word && !j->starts ? judge_cwd(k) : "";

	if (!*cwd || strpbrk(cwd, SHELL_ANY_S SHELL_REL_S))
		return false;
	BUF_PRINT(path, "%s/%s", cwd, word);
	j->work += 2;
	if (!j->start)
		j->start = is_hidden(j, j->cwd) ? JUDGE_AMONG_SECRETS
						: JUDGE_ELSEWHERE;
	return j->no_project || j->start == JUDGE_AMONG_SECRETS
		? access(path, F_OK) == 0
		: readlink(path, to, sizeof(to)) > 0;
}

void judge_path_guess(struct judge_cmd *k, const struct arg *a)
{
	const char *s = a->s;

	if (k->data || is_sentence(s))
		return;
	if (s[0] == '-' && s[1] && s[1] != '-' && s[2])
		s += s[2] == '=' ? 3 : 2;
	while (*s && !is_address(&s)) {
		size_t n = strcspn(s, "=:,");
		struct arg piece = judge_arg(k->j, s, n);

		piece.many = a->many;
		piece.glob = a->glob;
		if (strchr(piece.s, '/') || has_dotdot(piece.s) ||
			piece.unknown || leads_on(k, piece.s))
			judge_path(k, &piece, PATH_READ);
		s += n + (s[n] != 0);
	}
}
