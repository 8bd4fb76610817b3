/* attack_files.c - ways to files that were not granted
 * SPDX-License-Identifier: MIT
 */
#include "attack.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void pour(int from, int to)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, (size_t)n) != n)
			return;
}

static long run_fd(int fd)
{
	char *args[] = {"copy", words[1], words[2], words[3], NULL};
	char path[64];

	syscall(SYS_execveat, fd, "", args, environ, AT_EMPTY_PATH);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return execve(path, args, environ);
}

/* A program in memory. */
static long a_memfd(void)
{
	int from = open(word(0), O_RDONLY), fd = memfd_create("x", 0);

	if (fd < 0 || from < 0)
		return -1;
	pour(from, fd);
	return run_fd(fd);
}

/* A program in a file that never had a name. */
static long a_tmpfile(void)
{
	int from = open(word(0), O_RDONLY);
	int fd = open(".", O_TMPFILE | O_RDWR, 0700);
	char path[64];

	if (fd < 0 || from < 0)
		return -1;
	pour(from, fd);
	/* Not while it can be written. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	from = open(path, O_RDONLY);
	if (from < 0)
		return -1;
	close(fd);
	return run_fd(from);
}

static long a_read(void)
{
	char c[64];
	int fd = open(word(0), O_RDONLY);

	return fd < 0 ? -1 : read(fd, c, sizeof(c)) < 0 ? -1 : 0;
}

static long a_creat(void)
{
	return open(word(0), O_WRONLY | O_CREAT, 0600);
}

static long a_write(void)
{
	return open(word(0), O_WRONLY);
}

static long a_truncate(void)
{
	return truncate(word(0), 1);
}

static long a_collapse(void)
{
	int fd = open(word(0), O_WRONLY);

	return fd < 0 ? -1 : fallocate(fd, 8, 0, 4096);
}

static long a_utime(void)
{
	return utimensat(AT_FDCWD, word(0), NULL, 0);
}

static long a_ioctl_dev(void)
{
	int fd = open(word(0), O_RDONLY | O_NONBLOCK);
	char room[256];

	return fd < 0 ? -1 : ioctl(fd, 0x5401 /* TCGETS */, room);
}

/* How many fds are open beyond 2. */
static long a_open_fds(void)
{
	int n = 0;

	for (int fd = 3; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	printf("%d ", n);
	return 0;
}

static long a_chdir_up(void)
{
	int fd = open(word(0), O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return -1;
	return openat(fd, word(1), O_WRONLY | O_CREAT, 0600);
}

static long a_lease(void)
{
	int fd = open(word(0), O_RDONLY);

	return fd < 0 ? -1 : fcntl(fd, F_SETLEASE, F_RDLCK);
}

static long a_flock(void)
{
	int fd = open(word(0), O_RDONLY);

	return fd < 0 ? -1 : flock(fd, LOCK_EX);
}

const struct attack attacks_files[] = {
	{"memfd", a_memfd},
	{"tmpfile", a_tmpfile},
	{"read", a_read},
	{"creat", a_creat},
	{"write", a_write},
	{"truncate", a_truncate},
	{"collapse", a_collapse},
	{"utime", a_utime},
	{"ioctl-dev", a_ioctl_dev},
	{"open-fds", a_open_fds},
	{"at", a_chdir_up},
	{"lease", a_lease},
	{"flock", a_flock},
	{NULL, NULL},
};
