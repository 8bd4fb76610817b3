/* policy_root.c - which directory is a command's project
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "policy/policy_image.h"
#include "policy/policy_line_in.h"
#include "base/str.h"
#include "sys/userdb.h"

/* The state of one search. */
struct root_search {
	const struct policy *p;
	const struct policy_spot *at;
	bool aliased; /* directories may have other names than they seem to */
	char home[PATH_MAX]; /* as the kernel calls it; "" */
	bool two_homes; /* the kernel's name of the home differs */
	char text[PATH_MAX], up[PATH_MAX], to[PATH_MAX];
	/* The directory in question and, if it may have other names, those above
	 * it. */
	struct root_file {
		dev_t dev;
		ino_t ino;
	} line[PATH_MAX / 2];
	size_t line_count;
};

/* Is dir, or a directory above it, mounted? Then its name is only that of the
 * mount point. Also true where the kernel does not tell. */
static bool is_mounted(const char *dir)
{
	autofd int fd = path_openat2(
		AT_FDCWD, dir, O_PATH, 0, RESOLVE_NO_XDEV);

	return fd < 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Does the name lead to one of the first n directories of the line? */
static bool leads_into(const struct root_search *r, const char *name, size_t n)
{
	struct stat st;

	if (stat(name, &st))
		return false;
	for (size_t i = 0; i < n; i++)
		if (r->line[i].dev == st.st_dev && r->line[i].ino == st.st_ino)
			return true;
	return false;
}

/* Notes dir and, if it may have other names, the directories above it. */
static void note_line(
	struct root_search *r, const char *dir, const struct stat *of_dir)
{
	struct stat st = *of_dir;
	size_t n = strlen(dir);

	r->line_count = 0;
	if (str_copy(r->up, sizeof r->up, dir))
		return;
	do {
		r->line[r->line_count++] =
			(struct root_file){st.st_dev, st.st_ino};
		while (n > 1 && r->up[--n] != '/')
			;
		r->up[n] = '\0';
	} while (r->aliased && n > 1 && !stat(r->up, &st));
}

/* Does the name lead to the directory dir, whatever dir is called? */
static bool leads_to(const char *name, const struct stat *dir)
{
	struct stat st;

	return stat(name, &st) == 0 && same_file(&st, dir);
}

/* Does dir (n bytes in a buffer of size) hold one of the markers, or of the weak
 * ones, which are spelled ?NAME? A project's own policy is always a marker. */
static bool has_marker(const struct policy *p, char *dir, size_t n, size_t size,
	bool weak)
{
	static const char own[] = ".wardbox/policy";
	const struct policy_image *sys = p->layer[POLICY_LAYER_SYSTEM];
	struct img_range r = img_set(sys, IMG_SET_ROOT);
	bool found = false;

	for (uint32_t i = 0; i <= r.count && !found; i++) {
		const char *name = i < r.count ? img_ref(sys, r, i) : own;
		struct buf b = {.data = dir, .cap = size, .max = size - 1};

		if (name[0] == '/' || name[0] == '$' || str_eq(name, "..") ||
			(name[0] == '?') != weak)
			continue;
		name += weak;
		b.len = n;
		buf_addc(&b, '/');
		buf_adds(&b, name);
		found = *buf_str(&b) && access(dir, F_OK) == 0;
		dir[n] = 0;
	}
	return found;
}

/* Does base with rest behind it begin as dir does, or dir as that? Two stars at
 * rest's end match anything. */
static bool begins_alike(const char *base, const char *rest, const char *dir)
{
	for (; *base && *base == *dir; base++)
		dir++;
	if (*base)
		return !*dir;
	for (; *rest && *rest == *dir; rest++)
		dir++;
	return !*rest || !*dir || *rest == '*' || str_eq(rest, "/**");
}

/* Fills in the pattern's place, without two stars at its end, to r->text. False
 * when the place is not known, or when the name can neither be dir's nor hold
 * dir, which is decided without a copy. */
static bool fill_pattern(struct root_search *r, const char *pattern,
	const char *home, const char *dir)
{
	struct buf b = {.data = r->text, .cap = sizeof r->text,
		.max = sizeof r->text - 1};
	const char *rest, *base = policy_place(pattern, "", home, &rest);

	if ((rest != pattern && (!base || !*base)) ||
		(!r->aliased && !begins_alike(base, rest, dir)))
		return false;
	buf_adds(&b, base);
	buf_add(&b, rest, strlen(rest) - (str_ends(rest, "/**") ? 3 : 0));
	buf_str(&b);
	return !b.err;
}

/* Is the place within dir? If the home lies in a project, the project is no
 * part of the home. */
static bool dir_holds(const char *dir, const char *place, const char *home)
{
	return path_beneath(dir, place) && (!home || path_beneath(home, dir));
}

/* Does the word of the policy mean dir, which the line begins with: as itself, as
 * a directory above (with tree, or two stars at the word's end), or as a directory
 * inside (with around)? */
static bool word_means(struct root_search *r, const char *word, const char *dir,
	bool tree, bool around)
{
	const char *const home[] = {r->at->home, r->home};
	const size_t names = word[0] == '$' && r->two_homes ? 2 : 1;

	if (word[0] != '/' && word[0] != '$')
		return false;
	for (size_t i = 0; i < names; i++) {
		if (!fill_pattern(r, word, home[i], dir))
			continue;
		if ((tree || str_ends(word, "/**")
				    ? path_beneath(r->text, dir)
				    : str_eq(r->text, dir)) ||
			(r->aliased && leads_into(r, r->text,
					       tree ? r->line_count : 1)) ||
			(around && dir_holds(dir, r->text,
					   word[0] == '$' ? home[i] : NULL)))
			return true;
	}
	return false;
}

/* Do the set's words name dir, or a directory above with two stars behind? */
static bool set_names(struct root_search *r, enum img_set set, const char *dir)
{
	const struct policy_image *sys = r->p->layer[POLICY_LAYER_SYSTEM];
	struct img_range words = img_set(sys, set);

	for (uint32_t i = 0; i < words.count; i++)
		if (word_means(r, img_ref(sys, words, i), dir, false,
			    set == IMG_SET_NEVER))
			return true;
	return false;
}

/* Does dir, or a directory above it, lead to a place of secrets? */
static bool is_hidden(struct root_search *r, const char *dir)
{
	const struct policy_image *sys = r->p->layer[POLICY_LAYER_SYSTEM];
	struct img_range words = img_set(sys, IMG_SET_HIDE);

	for (uint32_t i = 0; i < words.count; i++)
		if (word_means(r, img_ref(sys, words, i), dir, true, false))
			return true;
	return !r->line_count;
}

struct home_sought {
	const char *dir;
	bool aliased;
	struct stat st;
};

/* Is dir a home, or does it hold one? Neither is a project. A person's home
 * that is a link counts; a service's does not, because a machine has many of
 * those. */
static int is_home(void *ctx, uid_t uid, const char *home)
{
	enum { FIRST_PERSON = 1000 };
	const struct home_sought *s = ctx;

	return home[0] == '/' && home[1] &&
		(path_beneath(s->dir, home) ||
			((!uid || uid >= FIRST_PERSON || s->aliased) &&
				leads_to(home, &s->st)));
}

/* A project that holds the policy, the log and the programs would confine
 * nothing; and the guard's own directories are no project. */
static bool is_the_system(const char *dir)
{
	static const char *const kept[] = {
		"/etc/wardbox", "/var/log/wardbox", "/run/wardbox",
		"/tmp/wardbox", "/usr/bin", "/bin", "/dev/null", "/proc/self"};
	enum { OWN = 4 };

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (path_beneath(dir, kept[i]) ||
			(i < OWN && path_beneath(kept[i], dir)))
			return true;
	return false;
}

/* The reason why dir is no project; NULL when it may be one. */
static const char *why_never(struct root_search *r, const char *dir)
{
	const char *home = r->at->home;
	struct home_sought s = {.dir = dir};

	if (is_the_system(dir))
		return "it is the system's";
	if (stat(dir, &s.st))
		return NULL;
	r->aliased |= is_mounted(dir);
	s.aliased = r->aliased;
	note_line(r, dir, &s.st);
	if (is_hidden(r, dir))
		return "it is a place for secrets";
	if (set_names(r, IMG_SET_ROOT, dir))
		return NULL;
	for (size_t i = 0; i < POLICY_SHARED; i++)
		if (leads_to(policy_shared[i], &s.st))
			return "it is everybody's";
	if ((home && home[0] == '/' && leads_to(home, &s.st)) ||
		user_each_home("/etc/passwd", is_home, &s) > 0)
		return "it is a home";
	return set_names(r, IMG_SET_NEVER, dir)
		? "what it holds is run outside of projects"
		: NULL;
}

/* Does the directory belong to the user? */
static bool is_own_dir(const struct root_search *r, const char *dir)
{
	struct stat st;

	return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == r->at->uid;
}

/* Finds the nearest directory from dir upwards with a marker; a weak one counts
 * in directories of the user's. 1; 0: there is none. */
static int find_marked(const struct root_search *r, const char *dir, bool weak,
	char *out, size_t size)
{
	char *slash;

	if (str_copy(out, size, dir) < 0)
		return -ENAMETOOLONG;
	while (out[0] == '/' && out[1] && (!weak || is_own_dir(r, out))) {
		if (has_marker(r->p, out, strlen(out), size, weak))
			return 1;
		slash = strrchr(out, '/');
		slash[slash == out] = 0;
	}
	return 0;
}

/* Does the system policy say that word? */
static bool root_says(const struct policy *p, const char *word)
{
	const struct policy_image *sys = p->layer[POLICY_LAYER_SYSTEM];
	struct img_range words = img_set(sys, IMG_SET_ROOT);
	bool said = false;

	for (uint32_t i = 0; i < words.count && !said; i++)
		said = str_eq(img_ref(sys, words, i), word);
	return said;
}

/* With the word "..": a repository's workspace in place of the repository. */
static int widen_root(struct root_search *r, char *out, size_t size)
{
	if (root_says(r->p, "..") &&
		root_around(out, r->at->uid, r->up, sizeof r->up) &&
		!str_copy(r->to, sizeof r->to, r->up) && !why_never(r, r->to))
		return str_copy(out, size, r->to);
	return 0;
}

/* The marked directory, if it may be a project, else dir. */
static int root_of(struct root_search *r, const char *dir, char *out,
	size_t size, const char **why)
{
	for (unsigned weak = 0; weak <= 1; weak++) {
		int found = find_marked(r, dir, weak, out, size);

		if (found < 0)
			return found;
		*why = found ? why_never(r, out) : "";
		if (!*why)
			return widen_root(r, out, size);
	}
	*why = why_never(r, dir);
	if (*why)
		return -ENOENT;
	if (str_copy(out, size, dir))
		return -ENAMETOOLONG;
	return widen_root(r, out, size);
}

/* Finds the directory that a word of the line names, or that holds its file
 * (perhaps not yet made), to r->to. */
static bool names_dir(struct root_search *r, const struct line_dir *w)
{
	struct stat st;

	if (path_normal(r->text, sizeof r->text, NULL, w->word))
		return false;
	while (!w->enters && r->text[0] &&
		(stat(r->text, &st) || !S_ISDIR(st.st_mode)))
		*strrchr(r->text, '/') = '\0';
	return r->text[0] && !path_real(r->text, r->to) && is_own_dir(r, r->to);
}

/* Does the line only mention a directory of programs or services? Such a
 * directory is no project, unless a marker makes it one. */
static bool is_named_by_chance(const struct root_search *r, const char *root)
{
	static const char *const system[] = {"/usr", "/opt", "/etc", "/var",
		"/proc", "/sys", "/dev", "/run", "/boot", "/tmp", "/nix",
		"/snap"};
	char dir[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(system); i++)
		if (path_beneath(system[i], root))
			return str_copy(dir, sizeof dir, root) ||
			       !has_marker(r->p, dir, strlen(dir), sizeof dir,
				       false);
	return false;
}

/* The state of a search of a line's words. */
struct root_goes {
	struct root_search *r;
	char *out;
	size_t size;
	unsigned tries;
	bool found;
	char root[PATH_MAX];
};

/* Takes one word: the directory that the line enters, or, if it enters none
 * first, the first directory that it names, and later ones around that. */
static bool take_dir(void *ctx, const struct line_dir *w)
{
	enum { TRIES_MAX = 12 };
	struct root_goes *at = ctx;
	const char *why = NULL;

	if (at->tries++ >= TRIES_MAX)
		return false;
	if (!names_dir(at->r, w) ||
		root_of(at->r, at->r->to, at->root, sizeof at->root, &why) ||
		(!w->enters && is_named_by_chance(at->r, at->root)))
		return !w->goes;
	if (at->found && !path_beneath(at->root, at->out))
		return true;
	at->found = str_copy(at->out, at->size, at->root) == 0;
	return at->found && !w->enters;
}

/* Finds the project of the directory that the line goes to, if that is the
 * user's own. */
static bool goes_to(struct root_search *r, char *out, size_t size)
{
	autofree struct root_goes *at = r->at->line ? malloc(sizeof *at) : NULL;

	if (!at)
		return false;
	at->r = r;
	at->out = out;
	at->size = size;
	at->tries = 0;
	at->found = false;
	line_dirs(r->at->line, r->at->len, r->at->cwd, r->at->home, take_dir,
		at);
	return at->found;
}

int policy_find_root(const struct policy *p, const struct policy_spot *at,
	char *out, size_t size, struct diag *d)
{
	autofree struct root_search *r = malloc(sizeof *r);
	const char *why = NULL;
	int err;

	if (!r)
		return -ENOMEM;
	/* All that root does, it does in the root directory, as for an image that
	 * is built. */
	if (!at->uid && root_says(p, "/"))
		return str_copy(out, size, "/");
	r->p = p;
	r->at = at;
	r->aliased = false;
	if (!at->home || at->home[0] != '/' || path_real(at->home, r->home))
		r->home[0] = '\0';
	r->two_homes = r->home[0] && !str_eq(r->home, at->home);
	err = root_of(r, at->cwd, out, size, &why);
	/* The line chose this place, so it is checked more strictly. */
	r->aliased = true;
	if (err == -ENOENT && goes_to(r, out, size))
		return 0;
	if (err == -ENOENT) {
		diag_fail(d, err, "%.80s is no project: %s", at->cwd, why);
		diag_hint(d, "begin with 'cd DIR &&' of a project of yours"
			", or root's policy says: root %.80s", at->cwd);
	}
	return err;
}
