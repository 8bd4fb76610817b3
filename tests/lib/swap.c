/* swap.c - changes a file by a path that another thread swaps
 * SPDX-License-Identifier: MIT
 *
 * swap N OWN OTHER: in the current directory a link leads now to OWN, now to
 * OTHER, and a path in memory says now one, now the other, while N times each way
 * to change mode, times and attributes is tried on them. It prints how many of
 * the calls went through and how many were refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static char path[512];
static const char *own, *other;
static atomic_bool over;

static void *swap_paths(void *arg)
{
	(void)arg;
	for (unsigned i = 0; !over; i++) {
		const char *to = i % 2 ? own : other;

		if (symlink(to, "swap-new") == 0)
			rename("swap-new", "swap-at");
		/* With a NUL at every moment. */
		memcpy(path, to, strlen(to) + 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct timespec then[2] = {{1, 0}, {1, 0}};
	long n, done = 0, refused = 0;
	pthread_t thread;

	if (argc != 4)
		return 2;
	n = strtol(argv[1], NULL, 10);
	own = argv[2];
	other = argv[3];
	if (strlen(own) >= sizeof path || strlen(other) >= sizeof path)
		return 2;
	memcpy(path, own, strlen(own));
	if (symlink(own, "swap-at") < 0 ||
		pthread_create(&thread, NULL, swap_paths, NULL))
		return 2;
	for (long i = 0; i < n; i++) {
		const char *at = i % 2 ? path : "swap-at";
		int err;

		switch (i / 2 % 4) {
		case 0:
			err = chmod(at, 0606);
			break;
		case 1:
			err = chown(at, geteuid(), getegid());
			break;
		case 2:
			err = utimensat(AT_FDCWD, at, then, 0);
			break;
		default:
			err = setxattr(at, "user.swap", "1", 1, 0);
		}
		if (err == 0)
			done++;
		else
			refused += errno == EPERM || errno == EACCES;
	}
	over = true;
	pthread_join(thread, NULL);
	printf("done %ld refused %ld\n", done, refused);
	return 0;
}
