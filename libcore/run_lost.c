/* run_lost.c - what is left to do when this process was killed
 * SPDX-License-Identifier: MIT
 *
 * The command dies with its supervisor, but not what the command had started,
 * and nobody would write down how it ended. The witness of run_signal.c shares
 * this process's memory and descriptors and outlives it: it runs what is here.
 */
#include "run_state.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "num.h"

/* The network namespace of /proc/NAME. */
static bool net_of(const char *name, struct stat *st)
{
	char path[64];
	struct buf b = BUF_FIXED(path);

	buf_addf(&b, "/proc/%s/ns/net", name);
	return stat(buf_str(&b), st) == 0;
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* A tree that has a network namespace of its own can be told by it: nothing of
 * it can leave. */
void run_lost_mark(struct run_state *st)
{
	char name[16];
	struct buf b = BUF_FIXED(name);
	struct stat own;

	buf_addf(&b, "%d", st->pid);
	if (!net_of("self", &own) || !net_of(buf_str(&b), &st->net) ||
		same(&own, &st->net))
		st->net.st_ino = 0;
}

/* SIGKILL for each process of that namespace; true when there was one. */
static bool kill_marked(const struct stat *net)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	bool any = false;

	while (proc && (e = readdir(proc))) {
		struct stat st;
		uint64_t pid;

		if (num_u64(e->d_name, 1, INT32_MAX, &pid) == 0 &&
			net_of(e->d_name, &st) && same(&st, net))
			any |= kill((pid_t)pid, SIGKILL) == 0;
	}
	if (proc)
		closedir(proc);
	return any;
}

void run_lost(struct run_state *st)
{
	enum { PASSES = 200 };
	const struct timespec pause = {.tv_nsec = 1000000};
	const struct run_spec *spec = st->spec;

	if (spec->kill_tree) {
		/* Ended already, unless it was not to die with us. */
		kill(st->pid, SIGKILL);
		if (spec->sandbox)
			limits_kill(&spec->sandbox->limits);
		/* What was about to fork is met again. */
		for (int i = 0; i < PASSES && st->net.st_ino; i++) {
			if (!kill_marked(&st->net))
				break;
			nanosleep(&pause, NULL);
		}
		if (spec->sandbox)
			limits_release(&spec->sandbox->limits);
	}
	if (spec->sink && spec->sink->lost)
		spec->sink->lost(spec->sink->ctx);
}
