/* spawn_median.c - how long commands take from start to end
 * SPDX-License-Identifier: MIT
 *
 * spawn_median RUNS COMMAND [ARG...] [:: COMMAND [ARG...]]...
 * spawn_median -l RUNS NAME COMMAND [ARG...] [:: NAME COMMAND [ARG...]]...
 * spawn_median -i RUNS NAME COMMAND [ARG...] [:: NAME COMMAND [ARG...]]...
 *
 * The commands take turns, so that a busy machine slows all alike. A line per
 * command: the median in microseconds; with -l "NAME median us p90"; with -i the
 * same, and the machine is left idle before each, as by who types. A command
 * that cannot be executed or always fails is told on stderr, and by status 1.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS = 16, IDLE_US = 60000 };

static double once(char **argv, bool *worked)
{
	struct timespec from, to;
	int status = 0;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &from);
	pid = vfork();
	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	*worked |= status == 0;
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
	bool idle = argc > 1 && strcmp(argv[1], "-i") == 0;
	bool labels = idle || (argc > 1 && strcmp(argv[1], "-l") == 0);
	char **command[COMMANDS], *name[COMMANDS];
	bool worked[COMMANDS] = {false};
	size_t runs, count = 0;
	int out, code = 0;
	double *took;

	/* What this process was left by chance is not the commands'. */
	syscall(SYS_close_range, 3, ~0U, 0);
	out = dup(1);
	argc -= labels;
	argv += labels;
	runs = argc > 2 + labels ? strtoul(argv[1], NULL, 10) : 0;
	if (!runs)
		return 2;
	command[count++] = argv + 2;
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], "::") == 0 && count < COMMANDS) {
			argv[i] = NULL;
			command[count++] = argv + i + 1;
		}
	for (size_t c = 0; c < count; c++)
		name[c] = labels ? *command[c]++ : command[c][0];
	took = calloc(count * runs, sizeof *took);
	dup2(open("/dev/null", O_RDWR), 1);
	for (size_t r = 0; r < runs; r++)
		for (size_t c = 0; c < count; c++) {
			if (idle)
				usleep(IDLE_US);
			took[c * runs + r] = once(command[c], worked + c);
		}
	for (size_t c = 0; c < count; c++) {
		qsort(took + c * runs, runs, sizeof *took, compare);
		if (!worked[c]) {
			fprintf(stderr, "spawn_median: %s never worked\n",
				name[c]);
			code = 1;
		}
		if (labels)
			dprintf(out, "%s %.1f us %.1f\n", name[c],
				took[c * runs + runs / 2],
				took[c * runs + runs * 9 / 10]);
		else
			dprintf(out, "%.1f\n", took[c * runs + runs / 2]);
	}
	return code;
}
