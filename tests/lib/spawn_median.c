/* spawn_median.c - how long commands take from start to end
 * SPDX-License-Identifier: MIT
 *
 * spawn_median RUNS COMMAND [ARG...] [:: COMMAND [ARG...]]...
 *
 * The commands take turns, so that a busy machine slows all alike. A line per
 * command: the median in microseconds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS = 16 };

static double once(char **argv)
{
	struct timespec from, to;
	int status;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &from);
	pid = vfork();
	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (double)(to.tv_sec - from.tv_sec) * 1e6 +
		(double)(to.tv_nsec - from.tv_nsec) / 1e3;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	size_t runs = argc > 2 ? strtoul(argv[1], NULL, 10) : 0, count = 0;
	char **command[COMMANDS];
	double *took;
	int out = dup(1);

	if (!runs)
		return 2;
	command[count++] = argv + 2;
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], "::") == 0 && count < COMMANDS) {
			argv[i] = NULL;
			command[count++] = argv + i + 1;
		}
	took = calloc(count * runs, sizeof *took);
	dup2(open("/dev/null", O_RDWR), 1);
	for (size_t r = 0; r < runs; r++)
		for (size_t c = 0; c < count; c++)
			took[c * runs + r] = once(command[c]);
	for (size_t c = 0; c < count; c++) {
		qsort(took + c * runs, runs, sizeof *took, compare);
		dprintf(out, "%.1f\n", took[c * runs + runs / 2]);
	}
	return 0;
}
