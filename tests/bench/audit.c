/* audit.c - appends to a log, or takes secrets out of bytes, as fast as it can
 * SPDX-License-Identifier: MIT
 *
 * audit append DIR COUNT BYTES PROCESSES [sync]	records, each of BYTES
 * audit commands DIR COUNT		start and end of commands
 * audit redact MEGABYTES
 *
 * Prints what was done per second, and the processor's microseconds for each.
 */
#include "log/audit_verify.h"
#include "log/audit_write.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { TEXT_MAX = 4096, OVERHEAD = 107 };

/* What a build says. */
static const char line[] = "  CC       src/main.c -O2 -Wall "
	"-DVERSION=\"1.2\" 0123456789abcdef ok 12 ms\n";

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Microseconds of processor, the children's included. */
static double cpu(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	timeradd(&own.ru_utime, &own.ru_stime, &own.ru_utime);
	timeradd(&children.ru_utime, &children.ru_stime, &children.ru_utime);
	timeradd(&own.ru_utime, &children.ru_utime, &own.ru_utime);
	return (double)own.ru_utime.tv_sec * 1e6 + (double)own.ru_utime.tv_usec;
}

static int append(const char *dir, long count, size_t bytes, bool sync)
{
	struct audit_config cfg = {.sync = sync ? AUDIT_SYNC_ALWAYS : 0};
	struct audit_log log = AUDIT_LOG_INIT;
	struct diag d = {0};
	char text[TEXT_MAX] = "";
	const struct audit_fact fact = {"bench", text, 0};
	autofd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i + OVERHEAD < bytes && i + 1 < sizeof text; i++)
		text[i] = line[i % (sizeof line - 1)];
	if (fd < 0 || audit_open(&log, fd, getuid(), &cfg, &d) < 0)
		return 1;
	for (long i = 0; i < count; i++)
		if (audit_event(&log, "bench", 0, "bench", &fact, 1, &d) < 0)
			return 1;
	audit_close(&log);
	return 0;
}

static int commands(const char *dir, long count)
{
	static const char *const argv[] = {"sh", "-c", "make -j2 all"};
	struct audit_log log = AUDIT_LOG_INIT;
	struct diag d = {0};
	autofd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || audit_open(&log, fd, getuid(), NULL, &d) < 0)
		return 1;
	for (long i = 0; i < count; i++) {
		const struct audit_start start = {.session = "bench",
			.argv = argv, .argc = 3, .cwd = "/home/user/project",
			.exe = "/usr/bin/dash", .pid = 100, .ppid = 1,
			.rule = "default:1", .reason = "by the profile"};
		const struct audit_end end = {0};
		struct audit_exec x = AUDIT_EXEC_INIT;

		if (audit_start(&x, &log, &start, NULL, &d) < 0 ||
			audit_end(&x, &end, &d) < 0)
			return 1;
		audit_exec_release(&x);
	}
	audit_close(&log);
	return 0;
}

static int redact(long megabytes)
{
	static const struct policy_redacts own = {0};
	static char block[32768];
	struct redact r = REDACT_INIT;
	struct redact_stream s = REDACT_STREAM_INIT;
	static char room[131072];

	/* As for every guarded command. */
	redact_use_policy(&r, &own);
	for (size_t i = 0; i < sizeof block; i++)
		block[i] = line[i % (sizeof line - 1)];
	for (long i = 0; i < megabytes * 32; i++) {
		struct buf out = BUF_FIXED(room);

		if (redact_feed(&r, &s, block, sizeof block, &out) < 0)
			return 1;
	}
	return 0;
}

/* With no instruction that not every processor has. */
static int verify(const char *dir)
{
	const struct audit_trust trust = {.links_only = true, .portable = true};
	struct audit_verdict v;
	struct diag d = {0};
	autofd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || audit_verify_dir(fd, &trust, NULL, NULL, &v, &d) < 0 ||
	       v.findings[AUDIT_TAMPER];
}

int main(int argc, char **argv)
{
	long count = argc > 3 ? atol(argv[3]) : argc > 2 ? atol(argv[2]) : 0;
	const double from = seconds();
	long processes = 1;
	int bad = 0;

	if (argc > 5 && strcmp(argv[1], "append") == 0) {
		processes = atol(argv[5]);
		for (long p = 0; p < processes; p++)
			if (fork() == 0)
				_exit(append(argv[2], count,
					(size_t)atol(argv[4]), argc > 6));
		for (int status; wait(&status) > 0;)
			bad |= status;
	} else if (argc > 3 && strcmp(argv[1], "commands") == 0) {
		bad = commands(argv[2], count);
	} else if (argc > 2 && strcmp(argv[1], "verify") == 0) {
		bad = verify(argv[2]);
	} else if (argc > 2 && strcmp(argv[1], "redact") == 0) {
		bad = redact(count);
	} else {
		return 2;
	}
	printf("%.0f %.2f\n", (double)(count * processes) / (seconds() - from),
		cpu() / (double)(count * processes));
	return bad != 0;
}
