/* run_lost.c - what is left to do when this process was killed
 * SPDX-License-Identifier: MIT
 *
 * The command dies with its supervisor, but not what the command had started,
 * and nobody would write down how it ended. The witness of run_signal.c shares
 * this process's memory and descriptors and outlives it: it runs what is here.
 */
#include "run/run_in.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"

/* Opens a namespace of /proc/NAME: a descriptor, -1. */
static int space_of(const char *name, const char *kind)
{
	char path[64];

	return open(BUF_PRINT(path, "/proc/%s/ns/%s", name, kind),
		O_RDONLY | O_CLOEXEC);
}

static bool is_same(int space, const char *name, const char *kind)
{
	autofd int other = space_of(name, kind);
	struct stat a, b;

	return other >= 0 && fstat(space, &a) == 0 && fstat(other, &b) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* The namespace that only this tree has: the network may be the session's. */
static const char *kind_of(const struct run_state *st)
{
	const struct sandbox *s = st->spec->sandbox;

	return s && s->join ? "mnt" : "net";
}

/* Marks the tree by a namespace of its own, which no process of it can leave.
 * The namespace is held open, because its number would soon be given to another
 * one. */
void run_lost_mark(struct run_state *st, pid_t pid)
{
	char name[16];
	struct buf b = BUF_FIXED(name);
	autofd int space = -1;

	buf_addf(&b, "%d", (int)pid);
	space = space_of(buf_str(&b), kind_of(st));
	if (space >= 0 && !is_same(space, "self", kind_of(st)))
		st->space = fd_steal(&space);
}

/* Sends SIGKILL to each process of that namespace; true when there was one. */
static bool kill_marked(int space, const char *kind)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	bool any = false;

	while (proc && (e = readdir(proc))) {
		uint64_t pid;

		if (num_u64(e->d_name, 1, INT32_MAX, &pid) == 0 &&
			is_same(space, e->d_name, kind))
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

	if (spec->kill_tree || spec->stays) {
		/* The command has ended already, unless it was not to die with
		 * us. */
		if (!st->reaped)
			kill(st->pid, SIGKILL);
		if (spec->sandbox)
			limits_kill(&spec->sandbox->limits);
		/* A process that was about to fork is found by the next
		 * pass. */
		for (int i = 0; i < PASSES && st->space >= 0; i++) {
			if (!kill_marked(st->space, kind_of(st)))
				break;
			nanosleep(&pause, NULL);
		}
		if (spec->sandbox)
			limits_release(&spec->sandbox->limits);
	}
	if (spec->sink && spec->sink->lost)
		spec->sink->lost(spec->sink->ctx);
}
