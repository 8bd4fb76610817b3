/* undo_acts.c - changes the tree it stands in at random
 * SPDX-License-Identifier: MIT
 *
 * undo_acts SEED COUNT [THREADS]: each thread does COUNT things in the same few
 * names, most of which fail. The same seed does the same with one thread.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

struct acting {
	uint64_t seed;
	int count;
};

static unsigned pick(struct acting *a, unsigned n)
{
	a->seed ^= a->seed << 13;
	a->seed ^= a->seed >> 7;
	a->seed ^= a->seed << 17;
	return (unsigned)((a->seed >> 11) % n);
}

/* "b/a/d": one to three of four names. */
static void any_path(struct acting *a, char out[static 8])
{
	const unsigned n = 1 + pick(a, 3);

	for (unsigned i = 0; i < n; i++) {
		out[2 * i] = (char)('a' + pick(a, 4));
		out[2 * i + 1] = '/';
	}
	out[2 * n - 1] = '\0';
}

static void fill(struct acting *a, int fd)
{
	static const unsigned sizes[] = {1, 50, 5000};
	char bytes[5000];
	const unsigned n = sizes[pick(a, 3)];

	for (unsigned i = 0; i < n; i++)
		bytes[i] = (char)pick(a, 256);
	if (write(fd, bytes, n) < 0)
		return;
}

/* A pipe without a reader is an error, and nothing to wait for. */
static void write_to(struct acting *a, const char *path, int flags)
{
	const int fd = open(path, flags | O_NONBLOCK, 0640);
	struct stat st;
	char *at;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		if (flags & O_RDWR && st.st_size > 1 && pick(a, 2)) {
			at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
				MAP_SHARED, fd, 0);
			if (at != MAP_FAILED) {
				at[st.st_size / 2] ^= 1;
				munmap(at, (size_t)st.st_size);
			}
		} else if (pick(a, 8)) {
			fill(a, fd);
		} else if (ftruncate(fd, pick(a, 9000))) {
			perror(path);
		}
	}
	close(fd);
}

static void set_meta(struct acting *a, const char *path)
{
	struct timespec times[2] = {{.tv_sec = pick(a, 9)}, {.tv_sec = pick(a, 9)}};
	const char byte = (char)pick(a, 256);
	int fd;

	switch (pick(a, 5)) {
	case 0:
		(void)!chmod(path, 0700 | pick(a, 64));
		break;
	case 1:
		utimensat(AT_FDCWD, path, times, 0);
		break;
	case 2:
		fd = open(path, O_RDONLY | O_NONBLOCK);
		if (fd >= 0) {
			fchmod(fd, 0711);
			futimens(fd, times);
			close(fd);
		}
		break;
	case 3:
		setxattr(path, "user.x", &byte, 1, 0);
		break;
	case 4:
		removexattr(path, "user.x");
		break;
	}
}

static void remove_tree(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char in[4096];

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(in, sizeof in, "%s/%s", path, e->d_name);
		if (unlink(in) && errno == EISDIR)
			remove_tree(in);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

static void make_all(const char *path)
{
	char part[8];

	for (size_t i = 0; path[i]; i++)
		if (path[i] == '/') {
			memcpy(part, path, i);
			part[i] = '\0';
			mkdir(part, 0755);
		}
	mkdir(path, 0755);
}

/* A file without a name gets one. */
static void name_late(struct acting *a, const char *path)
{
	const int fd = open(".", O_TMPFILE | O_RDWR, 0644);
	char name[40];

	if (fd < 0)
		return;
	fill(a, fd);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
	close(fd);
}

/* As editors do. */
static void write_over(struct acting *a, const char *path)
{
	char new[16];

	snprintf(new, sizeof new, "%s~", path);
	write_to(a, new, O_WRONLY | O_CREAT | O_TRUNC);
	rename(new, path);
	unlink(new);
}

static void act(struct acting *a)
{
	static const char *const targets[] = {"a", "b/c", "not-there"};
	char p[8], q[8];

	any_path(a, p);
	any_path(a, q);
	switch (pick(a, 18)) {
	case 0: write_to(a, p, O_WRONLY | O_CREAT | O_TRUNC); break;
	case 1: write_to(a, p, O_WRONLY | O_CREAT | O_APPEND); break;
	case 2: write_to(a, p, O_RDWR); break;
	case 3: (void)!truncate(p, pick(a, 100)); break;
	case 4: mkdir(p, 0755); break;
	case 5: make_all(p); break;
	case 6: unlink(p); break;
	case 7: remove_tree(p); break;
	case 8:
	case 9:
	case 10: rename(p, q); break;
	case 11: syscall(SYS_renameat2, AT_FDCWD, p, AT_FDCWD, q, 2); break;
	case 12: (void)!link(p, q); break;
	case 13: (void)!symlink(targets[pick(a, 3)], p); break;
	case 14: mkfifo(p, 0644); break;
	case 15: set_meta(a, p); break;
	case 16: name_late(a, p); break;
	case 17: write_over(a, p); break;
	}
}

static void *act_all(void *ctx)
{
	struct acting *a = ctx;

	while (a->count-- > 0)
		act(a);
	return NULL;
}

int main(int argc, char **argv)
{
	enum { MOST = 16 };
	struct acting a[MOST];
	pthread_t thread[MOST];
	const int n = argc > 3 ? atoi(argv[3]) : 1;

	if (argc < 3 || n < 1 || n > MOST)
		return 2;
	for (int i = 0; i < n; i++) {
		a[i].seed = (strtoull(argv[1], NULL, 10) * 100 + (unsigned)i + 1) *
			0x9e3779b97f4a7c15U;
		a[i].count = atoi(argv[2]);
		for (int k = 0; k < 8; k++)
			pick(&a[i], 2);
	}
	for (int i = 1; i < n; i++)
		if (pthread_create(&thread[i], NULL, act_all, &a[i]))
			return 1;
	act_all(&a[0]);
	for (int i = 1; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
