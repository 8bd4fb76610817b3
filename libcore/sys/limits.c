/* limits.c - how much a process tree may use
 * SPDX-License-Identifier: MIT
 */
#include "sys/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kconfig.h"
#include "sys/limits_cgroup_in.h"
#include "base/num.h"
#include "base/str.h"
#include "sys/file.h"

enum {
	SECOND = 1000000000,
	MS = 1000000,
	LOOK = 50 * MS, /* interval of looks at a watched tree */
	LOOK_SOON = 5 * MS,
};

const char *limits_name(enum limits_kind kind)
{
	static const char name[LIMITS_KINDS][11] = {
		[LIMITS_NONE] = "none",
		[LIMITS_WALL] = "wall time",
		[LIMITS_CPU] = "CPU time",
		[LIMITS_MEM] = "memory",
		[LIMITS_TASKS] = "tasks",
		[LIMITS_PROCS] = "processes",
		[LIMITS_FILES] = "open files",
		[LIMITS_FSIZE] = "file size",
		[LIMITS_OUTPUT] = "output",
	};

	return kind < LIMITS_KINDS ? name[kind] : "unknown";
}

const char *limits_how_name(enum limits_how how)
{
	static const char name[][27] = {
		[LIMITS_BY_NOTHING] = "not limited",
		[LIMITS_BY_CGROUP2] = "cgroup v2",
		[LIMITS_BY_CGROUP1] = "cgroup v1",
		[LIMITS_BY_RLIMIT] = "rlimit, each process",
		[LIMITS_BY_WATCHDOG] = "tree watchdog, approximate",
		[LIMITS_BY_WATCH] = "exec watch",
		[LIMITS_BY_TIMER] = "timer",
		[LIMITS_BY_COUNT] = "counted on its way",
	};

	return (size_t)how < ARRAY_SIZE(name) ? name[how] : "unknown";
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The kernel counts all tasks of a user together, so the user's other tasks are
 * added; for uid 0 it does not count. */
static void plan_nproc(struct limits *l)
{
	l->how[LIMITS_TASKS] = LIMITS_BY_WATCHDOG;
	if (getuid() != 0)
		l->nproc = l->spec.tasks + limits_user_tasks();
}

static bool by_watchdog(const struct limits *l, enum limits_kind kind)
{
	return l->how[kind] == LIMITS_BY_WATCHDOG;
}

static bool needs_looks(const struct limits *l)
{
	return l->how[LIMITS_CPU] || l->how[LIMITS_MEM] ||
	       by_watchdog(l, LIMITS_TASKS) || l->how[LIMITS_PROCS];
}

/* Where no control group stops a fork bomb, the kernel's own count does, before
 * the bomb is too large to be ended; it leaves room for all that runs on this
 * machine. */
static void plan_backstop(struct limits *l)
{
	struct sysinfo all;

	if (getuid() != 0 && sysinfo(&all) == 0)
		l->nproc = all.procs + 4 * limits_forks(l->spec.procs);
}

int limits_prepare(struct limits *l, const struct limits_spec *spec)
{
	*l = LIMITS_INIT;
	l->spec = *spec;
	if (!spec->brief && IS_ENABLED(CONFIG_SANDBOX_CGROUP))
		limits_cgroup_make(l);
	if (spec->mem && !l->how[LIMITS_MEM])
		l->how[LIMITS_MEM] = LIMITS_BY_WATCHDOG;
	if (spec->cpu_ns && !l->how[LIMITS_CPU])
		l->how[LIMITS_CPU] = LIMITS_BY_WATCHDOG;
	if (spec->tasks && !l->how[LIMITS_TASKS])
		plan_nproc(l);
	if (spec->wall_ns)
		l->how[LIMITS_WALL] = LIMITS_BY_TIMER;
	if (spec->output)
		l->how[LIMITS_OUTPUT] = LIMITS_BY_COUNT;
	if (spec->procs)
		l->how[LIMITS_PROCS] = LIMITS_BY_WATCH;
	if (spec->procs && !spec->tasks)
		plan_backstop(l);
	if (spec->files)
		l->how[LIMITS_FILES] = LIMITS_BY_RLIMIT;
	if (spec->fsize)
		l->how[LIMITS_FSIZE] = LIMITS_BY_RLIMIT;
	/* A control group counts by itself. */
	if (!(by_watchdog(l, LIMITS_CPU) || by_watchdog(l, LIMITS_MEM) ||
		    by_watchdog(l, LIMITS_TASKS) || spec->procs) ||
		limits_can_look())
		return 0;
	limits_release(l);
	return -ENOTSUP;
}

void limits_release(struct limits *l)
{
	limits_cgroup_remove(l);
	buf_release(&l->others);
	*l = LIMITS_INIT;
}

/* Lowers a limit; never raises one. */
static int lower_limit(int resource, uint64_t soft, uint64_t hard)
{
	/* The kernel's struct; C libraries have different ones. */
	struct {
		uint64_t soft, hard;
	} r;

	if (syscall(__NR_prlimit64, 0, resource, NULL, &r) < 0)
		return -errno;
	if (r.hard > hard)
		r.hard = hard;
	if (r.soft > soft)
		r.soft = soft;
	if (r.soft > r.hard)
		r.soft = r.hard;
	return syscall(__NR_prlimit64, 0, resource, &r, NULL) < 0 ? -errno : 0;
}

/* A limit of one byte, because a core pattern that is a pipe ignores a limit of
 * 0 and keeps 1 for its own recursion. Where even that is refused, there is no
 * core either way. */
static int no_cores(void)
{
	const uint64_t one[2] = {1, 1};

	return syscall(__NR_prlimit64, 0, RLIMIT_CORE, one, NULL) < 0 ?
		       lower_limit(RLIMIT_CORE, 0, 0) :
		       0;
}

int limits_enter(const struct limits *l)
{
	const struct limits_spec *s = &l->spec;
	uint64_t cpu = (s->cpu_ns + SECOND - 1) / SECOND;
	int err = limits_cgroup_enter(l);

	if (err == 0 && !s->cores)
		err = no_cores();
	if (err == 0 && s->cpu_ns)
		err = lower_limit(RLIMIT_CPU, cpu + 1, cpu + 2);
	if (err == 0 && s->files)
		err = lower_limit(RLIMIT_NOFILE, s->files, s->files);
	if (err == 0 && s->fsize)
		err = lower_limit(RLIMIT_FSIZE, s->fsize, s->fsize);
	if (err == 0 && l->nproc)
		err = lower_limit(RLIMIT_NPROC, l->nproc, l->nproc);
	/* There is no rlimit for memory: address space and data count
	 * reservations, and sanitizers and runtimes reserve terabytes and touch
	 * little. */
	return err;
}

void limits_start(struct limits *l)
{
	l->start_ns = l->look_ns = now_ns();
	l->pause_ns = LOOK;
}

int limits_timeout(const struct limits *l)
{
	uint64_t now = now_ns(), due = UINT64_MAX;

	if (l->spec.wall_ns && l->spec.wall_ns < UINT64_MAX - l->start_ns)
		due = l->start_ns + l->spec.wall_ns;
	if (needs_looks(l) && l->look_ns + l->pause_ns < due)
		due = l->look_ns + l->pause_ns;
	if (due == UINT64_MAX)
		return -1;
	if (due <= now)
		return 0;
	due = (due - now + MS - 1) / MS;
	return due > 3600000 ? 3600000 : (int)due;
}

/* The next look comes before a program that writes two bytes a nanosecond,
 * about what processors can do, could have used the rest up. */
static uint64_t pause_for(const struct limits *l, uint64_t used)
{
	uint64_t left = used < l->spec.mem ? (l->spec.mem - used) / 2 : 0;

	return left < LOOK_SOON ? LOOK_SOON : left > LOOK ? LOOK : left;
}

/* Adds the CPU time of the tree. The time of a child whose parent ignores it is
 * lost with it, so what was seen before still counts. A smaller sum is taken
 * twice, because a child may have been waited for between the looks at its
 * parent and at it. */
static void add_cpu(struct limits *l, struct limits_tree *t)
{
	if (t->cpu_ns + l->cpu_reaped < l->cpu_seen &&
		limits_tree(t, false, &l->others) < 0)
		return;
	t->cpu_ns += l->cpu_reaped;
	if (t->cpu_ns > l->cpu_seen)
		l->cpu_used += t->cpu_ns - l->cpu_seen;
	l->cpu_seen = t->cpu_ns;
}

static void look_at_tree(struct limits *l, bool last)
{
	bool killed = false, mem = by_watchdog(l, LIMITS_MEM);
	struct limits_tree t;

	if (l->version)
		limits_cgroup_read(l, &killed);
	/* A tree that only forks is not asked by the watch; a bomb does nothing
	 * else. */
	if (l->spec.procs && !last &&
		limits_procs_over(&l->guess, limits_forks(l->spec.procs), 0))
		l->hit = LIMITS_PROCS;
	if ((mem || by_watchdog(l, LIMITS_CPU) ||
		    by_watchdog(l, LIMITS_TASKS)) &&
		limits_tree(&t, mem, &l->others) == 0) {
		if (mem && t.memory > l->mem_peak)
			l->mem_peak = t.memory;
		if (mem) {
			killed = t.memory > l->spec.mem;
			l->pause_ns = pause_for(l, t.memory);
		}
		if (by_watchdog(l, LIMITS_CPU))
			add_cpu(l, &t);
		if (by_watchdog(l, LIMITS_TASKS) && t.tasks > l->spec.tasks &&
			!last)
			l->hit = LIMITS_TASKS;
	}
	if (l->spec.mem && killed)
		l->hit = LIMITS_MEM;
	else if (l->spec.cpu_ns && l->cpu_used > l->spec.cpu_ns)
		l->hit = LIMITS_CPU;
}

enum limits_kind limits_check(struct limits *l, bool last)
{
	uint64_t now = now_ns();

	if (l->hit)
		return l->hit;
	if (!last && l->spec.wall_ns && now - l->start_ns >= l->spec.wall_ns) {
		l->hit = LIMITS_WALL;
	} else if (needs_looks(l) &&
		   (last || now - l->look_ns >= l->pause_ns)) {
		look_at_tree(l, last);
		l->look_ns = now;
	}
	return l->hit;
}

int limits_kill(const struct limits *l)
{
	return limits_cgroup_kill(l);
}

uint64_t limits_memory(void)
{
	autobuf struct buf text = BUF_INIT(64);
	struct sysinfo machine = {0};
	uint64_t all, own = 0;

	sysinfo(&machine);
	all = (uint64_t)machine.totalram * machine.mem_unit;
	/* "max", no limit, is no number. */
	if (file_read(AT_FDCWD, "/sys/fs/cgroup/memory.max", &text) || !text.len)
		return all;
	text.len = str_line(text.data, text.len);
	if (num_u64(buf_str(&text), 1, UINT64_MAX, &own))
		return all;
	return own < all ? own : all;
}
