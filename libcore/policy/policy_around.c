/* policy_around.c - a directory that holds one repository and what belongs to it
 * SPDX-License-Identifier: MIT
 *
 * Beside a repository lie its other worktrees (`git worktree add ../fix`), its local
 * remotes (`../remote.git`), patches and bundles. A directory that holds nothing else
 * is the workspace of that repository.
 */
#include "policy/policy_line_in.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"
#include "sys/file.h"

enum { ENTRIES_MAX = 64 };

/* What is seen of the directory while its names are looked at. */
struct around {
	const char *dir; /* absolute */
	uid_t uid;
	unsigned mains; /* repositories with settings and objects of their own */
	char main[NAME_MAX + 1];
	bool linked; /* there are worktrees, of the repository .owner */
	char owner[NAME_MAX + 1];
};

static bool is_there(int at, const char *dir, const char *name)
{
	char path[2 * NAME_MAX];
	struct stat st;

	return fstatat(at, BUF_PRINT(path, "%s/%s", dir, name), &st,
		       AT_SYMLINK_NOFOLLOW) == 0;
}

/* The file .git of a worktree names its repository, which has to be the one. */
static bool is_worktree(struct around *a, int at, const char *name)
{
	static const char below[] = "/.git/worktrees/";
	autobuf struct buf text = BUF_INIT(PATH_MAX + 16);
	char path[NAME_MAX + 8];
	const char *to, *end;
	size_t n;

	if (file_read(at, BUF_PRINT(path, "%s/.git", name), &text))
		return false;
	to = str_after(buf_str(&text), "gitdir: ");
	to = to ? str_after(to, a->dir) : NULL;
	end = to && *to == '/' ? str_find(++to, below) : NULL;
	n = end ? (size_t)(end - to) : 0;
	if (!n || n > NAME_MAX || memchr(to, '/', n) || str_find(to, "/../") ||
		(a->linked &&
			(strlen(a->owner) != n || memcmp(a->owner, to, n))))
		return false;
	memcpy(a->owner, to, n);
	a->owner[n] = '\0';
	a->linked = true;
	return true;
}

static bool file_belongs(struct around *a, int at, const char *name)
{
	char git[NAME_MAX + 8];
	struct stat st;

	if (name[0] == '.' || fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) ||
		st.st_uid != a->uid)
		return false;
	if (S_ISREG(st.st_mode))
		return st.st_nlink == 1;
	if (!S_ISDIR(st.st_mode))
		return false;
	if (fstatat(at, BUF_PRINT(git, "%s/.git", name), &st,
		    AT_SYMLINK_NOFOLLOW))
		return is_there(at, name, "HEAD") &&
		       is_there(at, name, "objects") &&
		       is_there(at, name, "refs");
	if (S_ISREG(st.st_mode))
		return is_worktree(a, at, name);
	memcpy(a->main, name, strlen(name) + 1);
	return S_ISDIR(st.st_mode) && !a->mains++;
}

bool root_around(const char *root, uid_t uid, char *out, size_t size)
{
	struct around a = {.uid = uid, .dir = out};
	const char *slash = strrchr(root, '/');
	DIR *dir = NULL;
	const struct dirent *e;
	unsigned seen = 0;
	bool all = slash && slash > root && str_copy(out, size, root) == 0;
	struct stat st;

	if (all) {
		out[slash - root] = '\0';
		dir = opendir(out);
	}
	all = dir && fstat(dirfd(dir), &st) == 0 && st.st_uid == uid &&
	      !(st.st_mode & S_IWOTH);
	while (all && (e = readdir(dir)))
		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
			all = ++seen <= ENTRIES_MAX &&
			      file_belongs(&a, dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
	return all && a.mains == 1 && (!a.linked || str_eq(a.owner, a.main));
}
