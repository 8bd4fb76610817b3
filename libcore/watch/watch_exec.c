/* watch_exec.c - what a waiting process is about to start
 * SPDX-License-Identifier: MIT
 */
#include "watch/watch_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/str.h"
#include "base/uapi/nr.h"
#include "sys/file.h"
#include "sys/proc_text.h"

enum {
	PAGE = 4096, /* steps of this size never cross into a missing page */
	EMPTY_PATH = 0x1000,
	WORDS = 64,
	AHEAD = 256, /* most paths are shorter */
	STRING_MAX = 1 << 17, /* the kernel's bound on one string of an exec */
};

ssize_t watch_mem(pid_t pid, uint64_t at, void *out, size_t n)
{
	struct iovec here = {.iov_base = out, .iov_len = n};
	struct iovec there = {.iov_base = (void *)(uintptr_t)at, .iov_len = n};
	ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);

	return got < 0 ? -errno : got;
}

/* Reads a string to out[0..size); *have bytes are there already, and then as
 * many as were read. Its length; -E2BIG when it is longer (what fits is there,
 * ended by a NUL); -errno. */
static ssize_t read_str(
	pid_t pid, uint64_t at, char *out, size_t size, size_t *have)
{
	size_t seen = 0;

	for (;;) {
		char *nul = memchr(out + seen, '\0', *have - seen);
		size_t n = PAGE - (at + *have) % PAGE;
		ssize_t got;

		if (nul)
			return nul - out;
		seen = *have;
		if (seen == size)
			break;
		n = n > size - seen ? size - seen : n;
		got = watch_mem(pid, at + seen, out + seen, n);
		if (got <= 0)
			return got < 0 ? got : -EFAULT;
		*have += (size_t)got;
	}
	if (size)
		out[size - 1] = '\0';
	return -E2BIG;
}

ssize_t watch_str(pid_t pid, uint64_t at, char *out, size_t size)
{
	size_t have = 0;

	return read_str(pid, at, out, size, &have);
}

/* Pointers of another process, as many as fit before the next page. */
struct words {
	uintptr_t at[WORDS];
	size_t count;
};

/* Reads the pointers at at, as many as fit before the next page. */
static int read_words(pid_t pid, uint64_t at, struct words *w)
{
	size_t n = (PAGE - (size_t)at % PAGE) / sizeof(*w->at);
	ssize_t got;

	/* A pointer that lies across pages is read alone. */
	n = n < 1 ? 1 : n > WORDS ? WORDS : n;
	got = watch_mem(pid, at, w->at, n * sizeof(*w->at));
	if (got < (ssize_t)sizeof(*w->at))
		return got < 0 ? (int)got : -EFAULT;
	w->count = (size_t)got / sizeof(*w->at);
	return 0;
}

/* Reads the beginning of the path and of the pointers in one call, because both
 * are readable most of the time. If not, the single reads show it. */
static void look_ahead(pid_t pid, uint64_t path, char *out, size_t *have,
	uint64_t at, struct words *w)
{
	size_t n = PAGE - path % PAGE, m = PAGE - at % PAGE;
	struct iovec here[] = {{out, n > AHEAD ? AHEAD : n},
		{w->at, m > sizeof(w->at) ? sizeof(w->at) : m}};
	struct iovec there[] = {
		{(void *)(uintptr_t)path, here[0].iov_len},
		{(void *)(uintptr_t)at, here[1].iov_len}};
	ssize_t got = process_vm_readv(pid, here, 2, there, 2, 0);

	n = here[0].iov_len;
	*have = got < 0 ? 0 : (size_t)got < n ? (size_t)got : n;
	w->count = got < (ssize_t)n ? 0 : ((size_t)got - n) / sizeof(*w->at);
}

/* Reads the arguments to *room, which moves behind them; have bytes behind the
 * path are there already. */
static int read_args(pid_t pid, const uint64_t *args, char **argv, char **room,
	size_t have, struct words *w, struct watch_event *ev)
{
	char *text = *room;
	size_t left = WATCH_BYTES_MAX, n = 0;
	uint64_t at = args[1];
	uint64_t next = args[0] + (uint64_t)(text - ev->path);
	/* A process may give no pointers at all. */
	bool end = !at;

	ev->argv = argv;
	while (!end && n < WATCH_ARGS_MAX && left) {
		ssize_t len = 0;
		int err = w->count ? 0 :
				     read_words(pid, at + n * sizeof(*w->at), w);

		if (err < 0)
			return err;
		for (size_t i = 0; i < w->count && left; i++, n++) {
			end = !w->at[i];
			if (end || n == WATCH_ARGS_MAX)
				break;
			argv[n] = (char *)(uintptr_t)ev->path;
			if (w->at[i] == args[0])
				continue;
			/* Most arguments lie one behind the other. */
			have = w->at[i] == next ? have : 0;
			len = read_str(pid, w->at[i], text, left, &have);
			if (len < 0 && len != -E2BIG)
				return (int)len;
			argv[n] = text;
			len = len < 0 ? (ssize_t)left - 1 : len;
			text += len + 1;
			left -= (size_t)len + 1;
			have -= (size_t)len + 1;
			next = w->at[i] + (size_t)len + 1;
		}
		w->count = 0;
	}
	*room = text;
	ev->cut = !end || !left;
	ev->argc = n;
	argv[n] = NULL;
	return 0;
}

int watch_env(const struct watch_event *ev, struct buf *out)
{
	struct words w = {.count = 0};

	for (uint64_t at = ev->env; at; at += w.count * sizeof(*w.at)) {
		int err = read_words(ev->pid, at, &w);

		if (err < 0)
			return err;
		for (size_t i = 0; i < w.count; i++) {
			char *room = w.at[i] ? buf_reserve(out, STRING_MAX) :
					       NULL;
			ssize_t len;

			if (!room)
				return 0;
			len = watch_str(
				ev->pid, w.at[i], room, STRING_MAX);
			if (len < 0)
				return (int)len;
			out->len += (size_t)len + 1;
		}
	}
	return 0;
}

/* Is it "exe" or "fd/N" behind /proc/self/, a link into the process that must
 * be followed as its own? */
static bool is_own(const char *rest)
{
	if (strcmp(rest, "exe") == 0)
		return true;
	return strncmp(rest, "fd/", 3) == 0 && rest[3] &&
		strspn(rest + 3, "0123456789") == strlen(rest + 3);
}

/* Opens what path leads to, and names it. */
static int name_at(int base, const char *path, uint64_t resolve, char *real)
{
	autofd int fd = path_openat2(
		base, path, O_PATH, 0, resolve | RESOLVE_NO_MAGICLINKS);
	int err = fd < 0 ? fd : path_of_fd(fd, real, PATH_MAX);

	return err ? err : fd_steal(&fd);
}

/* All processes of a tree have one root, because the filter refuses the calls
 * that change it. */
int watch_root_open(struct watch_root *root, pid_t pid)
{
	char name[64], above[PATH_MAX];
	autofd int fd = -1;
	int err;

	if (root->fd >= 0)
		return 0;
	fd = openat(AT_FDCWD, BUF_PRINT(name, "/proc/%d/root", (int)pid),
		O_PATH | O_CLOEXEC);
	err = fd < 0 ? -errno : path_of_fd(fd, above, sizeof above);
	if (!err && !str_eq(above, "/")) {
		root->above = strdup(above);
		err = root->above ? 0 : -ENOMEM;
	}
	if (!err)
		root->fd = fd_steal(&fd);
	return err;
}

/* Removes the part above the tree's root from a name. A name that is not below
 * the root does not exist for the tree. */
static int below_root(const struct watch_root *root, char *real)
{
	const char *rest = root->above ? str_after(real, root->above) : real;

	if (!rest || (*rest && *rest != '/')) {
		real[0] = '\0';
		return -EXDEV;
	}
	if (rest != real)
		memmove(real, *rest ? rest : "/", *rest ? strlen(rest) + 1 : 2);
	return 0;
}

/* The process of a thread; -errno. The kernel takes /proc/self for the process, and
 * a thread may have descriptors of its own. */
static int process_of(pid_t pid)
{
	enum { TEXT_MAX = 8192 };
	char name[32];
	size_t len;
	const char *value;
	autobuf struct buf text = BUF_INIT(TEXT_MAX);
	int err = file_read(AT_FDCWD,
		BUF_PRINT(name, "/proc/%d/status", (int)pid), &text);

	value = err ? NULL : proc_value(buf_str(&text), "Tgid:", &len);
	return err ? err : value ? (int)proc_number(value) : -ESRCH;
}

/* A descriptor of what path leads to. Any other link into a process would lead
 * into this one: -ELOOP. */
static int find_name(const struct watch_root *root, pid_t pid, int dirfd,
	const char *path, char *real)
{
	static const char self[] = "/proc/self/";
	const bool own = strncmp(path, self, sizeof(self) - 1) == 0 &&
		is_own(path + sizeof(self) - 1);
	char name[64];
	struct buf b = BUF_FIXED(name);
	autofd int base = -1;
	int err;

	if (path[0] == '/' && !own)
		return name_at(root->fd, path, RESOLVE_IN_ROOT, real);
	if (own)
		pid = process_of(pid);
	if (pid < 0)
		return pid;
	buf_addf(&b, "/proc/%d/", (int)pid);
	if (own)
		buf_adds(&b, path + sizeof(self) - 1);
	else if (dirfd == AT_FDCWD)
		buf_adds(&b, "cwd");
	else
		buf_addf(&b, "fd/%d", dirfd);
	if (b.err)
		return -ENAMETOOLONG;
	base = openat(AT_FDCWD, buf_str(&b), O_PATH | O_CLOEXEC);
	if (base < 0)
		return -errno;
	if (!own && path[0])
		return name_at(base, path, 0, real);
	err = path_of_fd(base, real, PATH_MAX);
	return err ? err : fd_steal(&base);
}

int watch_find(struct watch_root *root, pid_t pid, int dirfd,
	const char *path, char *real, int *file)
{
	int err = watch_root_open(root, pid);
	autofd int fd = -1;

	real[0] = '\0';
	if (err)
		return err;
	fd = find_name(root, pid, dirfd, path, real);
	err = fd < 0 ? fd : below_root(root, real);
	if (!err) {
		if (*file >= 0)
			close(*file);
		*file = fd_steal(&fd);
	}
	return err;
}

int watch_name(struct watch_root *root, pid_t pid, int dirfd,
	const char *path, char *real)
{
	autofd int file = -1;

	return watch_find(root, pid, dirfd, path, real, &file);
}

const char *watch_cwd(const struct watch_event *ev)
{
	char name[64];
	ssize_t n = readlink(BUF_PRINT(name, "/proc/%d/cwd", (int)ev->pid),
		ev->room, PATH_MAX - 1);

	ev->room[n > 0 ? n : 0] = '\0';
	(void)below_root(ev->root, ev->room);
	return ev->room;
}

int watch_read(struct watch_root *root, const struct sc_notif *n,
	char *room, struct watch_event *ev)
{
	bool at = n->data.nr == __NR_execveat;
	const uint64_t *args = n->data.args + at;
	pid_t pid = (pid_t)n->pid;
	char **argv = (char **)(void *)room;
	char *path = room + (WATCH_ARGS_MAX + 1) * sizeof(char *);
	char *exe;
	struct words words;
	size_t have;
	ssize_t len;

	*ev = (struct watch_event){
		.pid = pid, .path = path, .file = -1, .env = args[2],
		.root = root};
	look_ahead(pid, args[0], path, &have, args[1], &words);
	len = read_str(pid, args[0], path, PATH_MAX, &have);
	if (len < 0)
		return len == -E2BIG ? -ENAMETOOLONG : (int)len;
	/* Texts lie one behind the other, so that few pages are used. */
	exe = path + len + 1;
	len = read_args(pid, args, argv, &exe, have - (size_t)len - 1, &words,
		ev);
	if (len < 0)
		return (int)len;
	ev->exe = exe;
	exe[0] = '\0';
	/* execve("") names nothing; execveat(fd, "", AT_EMPTY_PATH) names
	 * fd. */
	if (path[0] || (at && args[3] & EMPTY_PATH))
		ev->missing = watch_find(root, pid,
			at ? (int)n->data.args[0] : AT_FDCWD, path, exe,
			&ev->file);
	ev->room = exe + strlen(exe) + 1;
	return 0;
}
