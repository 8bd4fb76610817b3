/* execwatch_read.c - what a waiting process is about to start
 * SPDX-License-Identifier: MIT
 */
#include "execwatch_read.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "buf.h"
#include "path.h"
#include "uapi/nr.h"

enum {
	PAGE = 4096, /* a step that never crosses into a page that is not there */
	EMPTY_PATH = 0x1000,
	WORDS = 64,
};

ssize_t execwatch_mem(pid_t pid, uint64_t at, void *out, size_t n)
{
	struct iovec here = {.iov_base = out, .iov_len = n};
	struct iovec there = {.iov_base = (void *)(uintptr_t)at, .iov_len = n};
	ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);

	return got < 0 ? -errno : got;
}

/* A string, to out[0..size), of which *have bytes are there already; then as
 * many as have been read. Its length; -E2BIG when it is longer (what fits is
 * there, ended by a NUL); -errno. */
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
		got = execwatch_mem(pid, at + seen, out + seen, n);
		if (got <= 0)
			return got < 0 ? got : -EFAULT;
		*have += (size_t)got;
	}
	if (size)
		out[size - 1] = '\0';
	return -E2BIG;
}

ssize_t execwatch_str(pid_t pid, uint64_t at, char *out, size_t size)
{
	size_t have = 0;

	return read_str(pid, at, out, size, &have);
}

/* The pointers at at, as many as fit before the next page and into max; up to
 * and with the one that ends them. Their number without it, or -errno. */
static ssize_t read_pointers(
	pid_t pid, uint64_t at, uintptr_t *out, size_t max, bool *end)
{
	size_t n = (PAGE - at % PAGE) / sizeof(*out), i = 0;
	ssize_t got;

	/* One that lies across pages is taken alone. */
	n = n < 1 ? 1 : n > max ? max : n;
	got = execwatch_mem(pid, at, out, n * sizeof(*out));
	if (got < (ssize_t)sizeof(*out))
		return got < 0 ? got : -EFAULT;
	while (i < (size_t)got / sizeof(*out) && out[i])
		i++;
	*end = i < (size_t)got / sizeof(*out);
	return (ssize_t)i;
}

static int read_args(pid_t pid, uint64_t at, char *room,
	struct execwatch_event *ev)
{
	char **argv = (char **)(void *)room;
	char *text = room + (EXECWATCH_ARGS_MAX + 1) * sizeof(char *);
	size_t left = EXECWATCH_BYTES_MAX, n = 0, have = 0;
	uint64_t next = 0; /* where what was read ahead comes from */
	/* A process may give none at all. */
	bool end = !at;

	ev->argv = argv;
	while (!end && n < EXECWATCH_ARGS_MAX && left) {
		uintptr_t word[WORDS];
		size_t max = EXECWATCH_ARGS_MAX - n;
		ssize_t count = read_pointers(pid, at + n * sizeof(*word), word,
			max < WORDS ? max : WORDS, &end), len = 0;

		if (count < 0)
			return (int)count;
		for (ssize_t i = 0; i < count && left; i++, n++) {
			/* Most lie one behind the other. */
			have = word[i] == next ? have : 0;
			len = read_str(pid, word[i], text, left, &have);
			if (len < 0 && len != -E2BIG)
				return (int)len;
			argv[n] = text;
			len = len < 0 ? (ssize_t)left - 1 : len;
			text += len + 1;
			left -= (size_t)len + 1;
			have -= (size_t)len + 1;
			next = word[i] + (size_t)len + 1;
		}
	}
	ev->cut = !end || !left;
	ev->argc = n;
	argv[n] = NULL;
	return 0;
}

/* A link in /proc/PID; "" when it cannot be read. */
static void read_link(pid_t pid, const char *what, char *out)
{
	char name[64];
	struct buf b = BUF_FIXED(name);
	ssize_t n;

	buf_addf(&b, "/proc/%d/%s", (int)pid, what);
	n = readlink(buf_str(&b), out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = '\0';
}

/* "exe" and "fd/N" behind /proc/self/: links into the process, to be followed
 * as its own. */
static bool is_own(const char *rest)
{
	if (strcmp(rest, "exe") == 0)
		return true;
	return strncmp(rest, "fd/", 3) == 0 && rest[3] &&
		strspn(rest + 3, "0123456789") == strlen(rest + 3);
}

/* With its root, its directory and its view of mounts. What leads through any
 * other link into a process would lead into this one: -ELOOP. */
int execwatch_name(pid_t pid, int dirfd, const char *path, char *real)
{
	static const char self[] = "/proc/self/";
	const bool own = strncmp(path, self, sizeof(self) - 1) == 0 &&
		is_own(path + sizeof(self) - 1);
	char name[64];
	struct buf b = BUF_FIXED(name);
	autofd int base = -1, fd = -1;

	real[0] = '\0';
	buf_addf(&b, "/proc/%d/", (int)pid);
	if (own)
		buf_adds(&b, path + sizeof(self) - 1);
	else if (path[0] == '/')
		buf_adds(&b, "root");
	else if (dirfd == AT_FDCWD)
		buf_adds(&b, "cwd");
	else
		buf_addf(&b, "fd/%d", dirfd);
	if (b.err)
		return -ENAMETOOLONG;
	base = openat(AT_FDCWD, buf_str(&b), O_PATH | O_CLOEXEC);
	if (base < 0)
		return -errno;
	if (own || !path[0])
		return path_of_fd(base, real, PATH_MAX);
	fd = path_openat2(base, path, O_PATH, 0,
		path[0] == '/' ? RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS :
				 RESOLVE_NO_MAGICLINKS);
	return fd < 0 ? fd : path_of_fd(fd, real, PATH_MAX);
}

/* Can somebody else write to its memory while we look? */
static bool has_threads(pid_t pid)
{
	char name[64];
	struct buf b = BUF_FIXED(name);
	struct stat st;

	buf_addf(&b, "/proc/%d/task", (int)pid);
	return stat(buf_str(&b), &st) < 0 || st.st_nlink > 3;
}

int execwatch_read(const struct sc_notif *n, char *room,
	struct execwatch_event *ev)
{
	bool at = n->data.nr == __NR_execveat;
	pid_t pid = (pid_t)n->pid;
	char *path = room + EXECWATCH_ROOM - 3 * PATH_MAX;
	char *exe = path + PATH_MAX, *cwd = exe + PATH_MAX;
	int dirfd = at ? (int)n->data.args[0] : AT_FDCWD;
	ssize_t len;

	*ev = (struct execwatch_event){
		.pid = pid, .path = path, .exe = exe, .cwd = cwd};
	len = execwatch_str(pid, n->data.args[at ? 1 : 0], path, PATH_MAX);
	if (len < 0)
		return len == -E2BIG ? -ENAMETOOLONG : (int)len;
	len = read_args(pid, n->data.args[at ? 2 : 1], room, ev);
	if (len < 0)
		return (int)len;
	read_link(pid, "cwd", cwd);
	/* execve("") is nothing; execveat(fd, "", AT_EMPTY_PATH) is fd. */
	if (path[0] || (at && n->data.args[4] & EMPTY_PATH))
		ev->missing = execwatch_name(pid, dirfd, path, exe);
	else
		exe[0] = '\0';
	ev->shared = has_threads(pid);
	return 0;
}
