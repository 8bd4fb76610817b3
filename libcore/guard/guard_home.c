/* guard_home.c - the guarded user's own home, and what it has of the person's
 * SPDX-License-Identifier: MIT
 *
 * BASE/<uid>/home stands at HOME in a view of mounts. BASE/<uid>/kept, which no
 * command reaches, has the copies of the files that the policy's `home` names, each
 * with the time of its original; from there they go to the home when the original
 * has changed.
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "sys/file.h"

enum {
	HOME_FILE_MAX = 1 << 18,
	HOME_NAME_MAX = 256,
};

/* One file of the home while it is copied. */
struct home_file {
	const struct policy_words *words;
	const char *name; /* below the home */
	size_t n;         /* its length, in a word of the policy */
	bool whole;
	struct buf *out;
	char section[HOME_NAME_MAX], said[HOME_NAME_MAX]; /* read; written */
};

/* Is the word of the policy about this file? The setting that the word names,
 * "" for the whole file; NULL: no. */
static const char *setting_of(const struct home_file *f, const char *word)
{
	if (strncmp(word, f->name, f->n) != 0)
		return NULL;
	return word[f->n] == ':' ? word + f->n + 1 : word[f->n] ? NULL : "";
}

static bool is_named(const struct home_file *f, const char *setting)
{
	const struct policy_words *home = f->words;

	for (size_t i = 0; i < home->count; i++) {
		const char *of = setting_of(f, home->item[i]);

		if (of && *of && str_glob(of, setting))
			return true;
	}
	return false;
}

/* Does an address in the value hold a name or a password in front of its
 * host? */
static bool has_login(const char *value)
{
	const char *at = value;

	while ((at = str_find(at, "://"))) {
		const char *host = at + 3;

		at = host + strcspn(host, "/ \t\"',");
		if (memchr(host, '@', (size_t)(at - host)))
			return true;
	}
	return false;
}

static char low_case(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* [section] or [section "part"], in lower case, as section.part */
static void take_section(struct home_file *f, const char *line)
{
	struct buf b = {.data = f->section, .cap = sizeof f->section,
		.max = sizeof f->section - 1};

	for (line++; *line && *line != ']'; line++) {
		if (*line == '"' || *line == '\t')
			continue;
		buf_addc(&b, *line == ' ' ? '.' : low_case(*line));
	}
	if (b.err || *line != ']')
		b.len = 0;
	buf_str(&b);
}

/* KEY = VALUE, or KEY=VALUE */
static void take_setting(struct home_file *f, const char *line)
{
	char name[2 * HOME_NAME_MAX];
	struct buf b = BUF_FIXED(name);
	const char *eq = strchr(line, '=');
	size_t n = eq ? (size_t)(eq - line) : 0;

	while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
		n--;
	if (!n || str_ends(line, "\\"))
		return;
	if (f->section[0])
		buf_addf(&b, "%s.", f->section);
	for (size_t i = 0; i < n; i++)
		buf_addc(&b, f->section[0] ? low_case(line[i]) : line[i]);
	if (!*buf_str(&b) || b.err || !is_named(f, name) || has_login(eq))
		return;
	if (!str_eq(f->section, f->said)) {
		buf_addf(f->out, "[%s]\n", f->section);
		str_copy(f->said, sizeof f->said, f->section);
	}
	buf_addf(f->out, "%s%s\n", f->section[0] ? "\t" : "", line);
}

static void take_lines(struct home_file *f, char *text)
{
	for (char *next, *line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line += strspn(line, " \t");
		line[strcspn(line, "\r")] = '\0';
		if (*line == '[')
			take_section(f, line);
		else if (*line && *line != '#' && *line != ';')
			take_setting(f, line);
	}
}

/* Opens the directory below in that holds the file, making missing parts; *last
 * is the file's own name. No link is followed. */
static int open_parent(int in, const char *name, const char **last)
{
	int at = dup(in);
	const char *slash;

	while (at >= 0 && (slash = strchr(name, '/'))) {
		char part[HOME_NAME_MAX];
		int next;

		if ((size_t)(slash - name) >= sizeof part) {
			close(at);
			return -ENAMETOOLONG;
		}
		memcpy(part, name, (size_t)(slash - name));
		part[slash - name] = '\0';
		mkdirat(at, part, 0700);
		next = openat(at, part,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = next;
		name = slash + 1;
	}
	*last = name;
	return at < 0 ? -errno : at;
}

/* Writes the copy. An error is only a missing copy, because a command must
 * start whatever an earlier one did to its home. */
static void write_copy(int in, const char *name, const struct buf *text,
	const struct stat *like)
{
	const struct timespec when[] = {like->st_mtim, like->st_mtim};
	const char *last;
	autofd int dir = open_parent(in, name, &last);

	if (dir >= 0 && !file_replace(dir, last, text->data, text->len,
				like->st_mode & 0700, false))
		utimensat(dir, last, when, AT_SYMLINK_NOFOLLOW);
}

static bool same_time(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Copies one file, if its original has changed since the last copy. */
static void copy_file(const struct policy_words *words, uid_t uid,
	const char *word, int from, int kept, int home)
{
	struct stat now, then;
	char name[HOME_NAME_MAX];
	autobuf struct buf text = BUF_INIT(HOME_FILE_MAX);
	autobuf struct buf out = BUF_INIT(HOME_FILE_MAX + HOME_NAME_MAX);
	struct home_file f = {.words = words, .name = name, .n = strcspn(word, ":")};

	if (f.n >= sizeof name)
		return;
	memcpy(name, word, f.n);
	name[f.n] = '\0';
	if (fstatat(from, name, &now, 0) || !S_ISREG(now.st_mode) ||
		now.st_uid != uid ||
		(!fstatat(kept, name, &then, AT_SYMLINK_NOFOLLOW) &&
			same_time(&now, &then)))
		return;
	if (file_read(from, name, &text) || memchr(text.data, '\0', text.len))
		return;
	f.out = &out;
	if (!word[f.n]) {
		buf_add(&out, text.data, text.len);
	} else {
		buf_str(&text);
		take_lines(&f, text.data);
	}
	buf_str(&out);
	if (out.err)
		return;
	if (out.len)
		write_copy(home, name, &out, &now);
	write_copy(kept, name, &out, &now);
}

/* The words about one file stand side by side: is this the first of them? */
static bool is_first(const struct policy_words *home, size_t i)
{
	const size_t n = strcspn(home->item[i], ":");

	return !i || strcspn(home->item[i - 1], ":") != n ||
		strncmp(home->item[i - 1], home->item[i], n) != 0;
}

__attribute__((noinline)) static void copy_files(
	const struct guard_place *p, const struct policy_words *words, int home)
{
	autofd int from = openat(
		AT_FDCWD, p->home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autofd int kept =
		from < 0 ? -1 : guard_place_dir(p, p->lay, "kept", NULL);
	struct stat st;

	/* A file that somebody else put there is not read. */
	if (kept < 0 || fstat(from, &st) || st.st_uid != p->uid)
		return;
	for (size_t i = 0; i < words->count; i++)
		if (is_first(words, i))
			copy_file(words, p->uid, words->item[i], from, kept,
				home);
}

bool guard_home_has(const struct guard *g, const char *path)
{
	const char *rest = str_after(path, g->place.home);
	const struct policy_words *home = &g->terms.grants.home;

	if (!rest || *rest++ != '/' || !guard_owns(&g->place, g->place.home))
		return false;
	for (size_t i = 0; i < home->count; i++) {
		const size_t n = strcspn(home->item[i], ":");
		const size_t m = strlen(rest);

		if (m <= n && strncmp(home->item[i], rest, m) == 0 &&
			(m == n || home->item[i][m] == '/'))
			return true;
	}
	return false;
}

int guard_home_link(
	const struct guard_place *p, const char *name, const char *real)
{
	for (size_t i = p->own_count; i-- > 0;) {
		const char *rest = str_after(name, p->own_name[i]), *last;
		autofd int own = -1, dir = -1;

		if (!rest || rest[0] != '/' || !rest[1] ||
			(path_beneath(p->own_name[i], real) &&
				str_ends(real, rest)))
			continue;
		own = open(p->own_from[i],
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		dir = own < 0 ? -1 : open_parent(own, rest + 1, &last);
		return dir < 0 || symlinkat(real, dir, last) ? -errno : 0;
	}
	return 0;
}

const char *guard_home_name(struct guard_place *p)
{
	char path[SESSION_BASE_MAX + 48];
	const char *where;

	return guard_keep(&p->texts, &where,
		       BUF_PRINT(path, "%s/%u/home", p->lay_base, p->uid))
		       ? NULL
		       : where;
}

int guard_home_make(const struct guard_place *p, const struct policy_words *files)
{
	autofd int home = guard_place_dir(p, p->lay, "home", NULL);

	if (home < 0)
		return home;
	/* A user without a home has no files to copy. */
	if (!p->own_home)
		copy_files(p, files, home);
	return 0;
}
