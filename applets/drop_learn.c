/* drop_learn.c - what a command used, and what it was refused
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "path.h"
#include "str.h"

enum {
	USES_MAX = 65536,
	/* So many neighbours with the same rights stand for their directory. */
	CROWD = 12,
};

static bool is_given(const char *path)
{
	static const char *const given[] = {"/dev/null", "/dev/zero",
		"/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"};

	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (str_eq(given[i], path))
			return true;
	/* A descriptor by its name: nothing that a path grants. */
	return path[0] != '/';
}

static void note(struct drop *o, const char *path, unsigned wants)
{
	struct drop_uses *u = &o->uses;
	size_t i = 0;

	if (is_given(path) || u->full)
		return;
	/* Another run has other processes and terminals. */
	if (str_after(path, "/proc/") && chr_digit(path[6]))
		path = "/proc";
	if (str_after(path, "/dev/pts/"))
		path = "/dev/pts";
	/* Who may write may read, as a grant is given. */
	if (wants & SANDBOX_WRITE)
		wants |= SANDBOX_RW;
	while (i < u->count && !str_eq(u->item[i].path, path))
		i++;
	if (i < u->count) {
		u->item[i].wants |= wants;
		return;
	}
	if (u->count < USES_MAX && !(u->count & (u->count + 1))) {
		struct drop_use *more = reallocarray(
			u->item, 2 * u->count + 2, sizeof(*more));

		u->item = more ? more : u->item;
		u->full = !more;
	}
	u->full |= u->count == USES_MAX;
	if (u->full)
		return;
	u->item[u->count].path = strdup(path);
	u->item[u->count].wants = wants;
	u->count += !!u->item[u->count].path;
}

void drop_learn_exec(struct drop *o, const char *exe)
{
	for (int depth = 0; depth < 5 && exe && *exe; depth++) {
		char real[PATH_MAX];
		autofd int fd = openat(AT_FDCWD, exe, O_PATH | O_CLOEXEC);

		if (fd < 0 || path_of_fd(fd, real, sizeof(real)) < 0)
			return;
		note(o, real, SANDBOX_ROX);
		exe = drop_interpreter(o, real);
	}
}

void drop_learn_file(struct drop *o, const struct execwatch_access *a)
{
	note(o, a->path, a->wants);
}

static int by_path(const void *a, const void *b)
{
	const struct drop_use *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static size_t dir_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? 1 : (size_t)(slash - path);
}

/* Files that crowd a directory become one grant of it. They are sorted, so
 * those of one directory stand together, save for what lies deeper. */
static void fold_crowds(struct drop_uses *u)
{
	for (size_t i = 0; i < u->count; i++) {
		size_t n = dir_length(u->item[i].path), crowd = 0;
		unsigned wants = u->item[i].wants;

		for (size_t j = i; j < u->count; j++) {
			const char *path = u->item[j].path;

			if (strncmp(path, u->item[i].path, n) != 0)
				break;
			crowd += dir_length(path) == n &&
				 u->item[j].wants == wants;
		}
		/* Never what is next to the root: that would be everything. */
		if (n > 1 && crowd >= CROWD && wants == SANDBOX_RO)
			u->item[i].path[n] = '\0';
	}
	qsort(u->item, u->count, sizeof(*u->item), by_path);
}

static bool is_covered(const struct drop_uses *u, size_t i)
{
	for (size_t j = 0; j < u->count; j++) {
		bool same = str_eq(u->item[j].path, u->item[i].path);

		if (j != i && (!same || j < i) &&
			path_beneath(u->item[j].path, u->item[i].path) &&
			!(u->item[i].wants & ~u->item[j].wants))
			return true;
	}
	return false;
}

static const char *option_of(unsigned wants)
{
	if (wants == SANDBOX_UNIX)
		return "unix";
	if (wants & SANDBOX_WRITE)
		return wants & SANDBOX_EXEC ? "rwx" : "rw";
	return wants & SANDBOX_EXEC ? "rox" : "ro";
}

int drop_learn_write(struct drop *o, struct diag *d)
{
	struct drop_uses *u = &o->uses;
	autobuf struct buf out = BUF_INIT(1 << 24);
	size_t skipped = 0;
	int err;

	qsort(u->item, u->count, sizeof(*u->item), by_path);
	fold_crowds(u);
	buf_adds(&out, "# what a command used; for drop --grants\n");
	for (size_t i = 0; i < u->count; i++) {
		/* Covered, or gone: what made it had its directory. */
		if (is_covered(u, i) ||
			faccessat(AT_FDCWD, u->item[i].path, F_OK,
				AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (strchr(u->item[i].path, '\n')) {
			skipped++;
			continue;
		}
		buf_addf(&out, "%s %s\n", option_of(u->item[i].wants),
			u->item[i].path);
	}
	if (u->full || skipped)
		cli_warn("%s: not all of it could be written down", o->learn);
	if (out.err)
		return diag_errno(d, out.err, "%s", o->learn);
	err = file_replace(AT_FDCWD, o->learn, out.data, out.len, 0644, false);
	return err < 0 ? diag_errno(d, err, "%s", o->learn) : 0;
}

int drop_grants_file(struct drop *o, const char *name, struct diag *d)
{
	static const struct {
		char word[8];
		uint8_t access;
	} words[] = {{"ro", SANDBOX_RO}, {"rox", SANDBOX_ROX},
		{"rw", SANDBOX_RW}, {"rwx", SANDBOX_RWX},
		{"unix", SANDBOX_UNIX}, {"hide", SANDBOX_HIDE},
		{"tmpfs", SANDBOX_TMPFS}};
	/* Its strings live as long as the plan. */
	struct buf *text = arena_new(&o->strings, struct buf);
	unsigned line = 0;
	int err;

	if (!text)
		return diag_errno(d, -ENOMEM, "%s", name);
	*text = BUF_INIT(1 << 20);
	err = file_read(AT_FDCWD, name, text);
	if (err < 0)
		return diag_errno(d, err, "%s", name);
	buf_str(text);
	if (memchr(text->data, '\0', text->len))
		return diag_fail(d, -EINVAL, "%s: holds a NUL byte", name);
	for (char *s = text->data, *next; s; s = next) {
		size_t i = 0, n;

		line++;
		next = strchr(s, '\n');
		if (next)
			*next++ = '\0';
		if (!*s || *s == '#')
			continue;
		n = strcspn(s, " ");
		while (i < ARRAY_SIZE(words) &&
			!(strlen(words[i].word) == n &&
				strncmp(words[i].word, s, n) == 0))
			i++;
		if (i == ARRAY_SIZE(words) || s[n] != ' ' || s[n + 1] != '/') {
			diag_fail(d, -EINVAL,
				"expected ro, rox, rw, rwx, unix, hide or "
				"tmpfs, a space and an absolute path");
			diag_at(d, name, line, 1);
			return -EINVAL;
		}
		err = sandbox_grant(&o->plan, s + n + 1, words[i].access,
			o->ignore_missing, name);
		if (err < 0)
			return diag_errno(d, err, "%s", name);
	}
	o->granted = true;
	return 0;
}

/* One line for each thing that was refused, not for each attempt. */
void drop_explain_denial(
	struct drop *o, const char *path, unsigned wants, pid_t pid)
{
	static const struct {
		unsigned bit;
		char word[12];
	} words[] = {{SANDBOX_READ, "read"}, {SANDBOX_WRITE, "write"},
		{SANDBOX_EXEC, "execute"}, {SANDBOX_UNIX, "connect to"}};
	const struct sandbox_grant *g;
	unsigned missing;
	autobuf struct buf out = BUF_INIT(1 << 16);

	/* What has no name as a file (a pipe, a socket) needs no grant. */
	if (path[0] != '/')
		return;
	missing = wants & ~sandbox_explain(o->sandbox, path, &g);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!(missing & words[i].bit))
			continue;
		drop_audit_fact(o, "file.deny", path, words[i].word);
		buf_addf(&out, "denied: %d may not %s ", (int)pid,
			words[i].word);
		cli_escape(&out, path, strlen(path));
		if (g)
			buf_addf(&out, " (%s %s does not give it)\n", g->why,
				g->path);
		else
			buf_adds(&out, " (no grant reaches it)\n");
	}
	if (out.len && !out.err)
		file_write_all(2, out.data, out.len);
}
