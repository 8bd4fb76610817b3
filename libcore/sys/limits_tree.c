/* limits_tree.c - the descendants of this process: counted, and ended
 * SPDX-License-Identifier: MIT
 */
#include "sys/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "sys/limits_cgroup_in.h"
#include "base/num.h"
#include "sys/proc_text.h"
#include "base/str.h"

enum { PIDS_MAX = 65536 };

static void put_pid(struct buf *pids, uint32_t pid)
{
	buf_add(pids, &pid, sizeof(pid));
}

static uint32_t get_pid(const struct buf *pids, size_t i)
{
	uint32_t pid;

	memcpy(&pid, pids->data + i * sizeof(pid), sizeof(pid));
	return pid;
}

void limits_kill_all(const struct buf *pids, int sig)
{
	for (size_t i = 0; i < pids->len / sizeof(uint32_t); i++)
		if ((pid_t)get_pid(pids, i) > 1)
			kill((pid_t)get_pid(pids, i), sig);
}

int limits_read(int dir, const char *name, struct buf *out)
{
	autofd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	buf_clear(out);
	return fd < 0 ? -errno : buf_read_fd(out, fd);
}

static int read_proc(struct buf *out, const char *path)
{
	return limits_read(AT_FDCWD, path, out);
}

/* The number that a name is; 0 for other names. */
static uint32_t name_pid(const char *name)
{
	unsigned pid;

	return num_uint(name, 1, INT32_MAX, &pid) ? 0 : pid;
}

static void cleanup_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* "Key: N kB" of a status file, in bytes. */
static uint64_t status_kb(const char *text, const char *key)
{
	size_t n;
	const char *s = proc_value(text, key, &n);

	return s ? proc_number(s) * 1024 : 0;
}

/* Memory that a thread's process uses alone, and its shared memory; mapped
 * files are left out, because they are shared and can be dropped. */
static uint64_t memory_of(const char *task, struct buf *text)
{
	char path[64];

	if (read_proc(text, BUF_PRINT(path, "%s/status", task)) < 0)
		return 0;
	return status_kb(buf_str(text), "RssAnon:") +
	       status_kb(text->data, "RssShmem:");
}

/* Adds the children of each thread of a process and counts the threads. Adds
 * the memory where that is asked for, which any living thread tells. */
static int add_children(struct buf *pids, uint32_t pid, unsigned *tasks,
	uint64_t *memory, struct buf *text)
{
	char path[64], task[48];
	autoclean(cleanup_dir) DIR *dir =
		opendir(BUF_PRINT(path, "/proc/%u/task", pid));
	uint64_t used = 0;
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		uint32_t tid = name_pid(e->d_name);

		if (!tid)
			continue;
		++*tasks;
		BUF_PRINT(task, "/proc/%u/task/%u", pid, tid);
		if (memory && !used)
			used = memory_of(task, text);
		BUF_PRINT(path, "%s/children", task);
		if (read_proc(text, path) == 0)
			proc_numbers(pids, text->data, text->len);
	}
	if (memory)
		*memory += used;
	return 0;
}

static uint64_t stat_field(const char *line, unsigned n)
{
	return proc_number(proc_stat(line, n));
}

/* Reads the stat line of a process or a thread; false when it is gone. */
static bool read_stat(uint32_t pid, struct buf *text)
{
	char path[64];

	return read_proc(text, BUF_PRINT(path, "/proc/%u/stat", pid)) == 0 &&
	       buf_str(text);
}

static uint64_t tick_ns(void)
{
	return 1000000000U / getauxval(AT_CLKTCK);
}

/* The time at which a look begins. */
static uint64_t ticks_now(void)
{
	return clock_ns(CLOCK_BOOTTIME) / tick_ns();
}

/* Reads the line, if the process is older than the look. Younger processes are
 * left to the next look, because a process that starts another one and ends
 * could be followed for ever. */
static bool read_older(uint32_t pid, uint64_t ticks, struct buf *text)
{
	return read_stat(pid, text) && stat_field(text->data, 22) <= ticks;
}

/* The start time, and within a tick the pid: an order in which nobody can
 * choose a place. */
static uint64_t age_of(uint32_t pid, const struct buf *text)
{
	enum { PID_BITS = 22 };

	return stat_field(text->data, 22) << PID_BITS | pid;
}

/* Adds the process; one that is younger than age is not counted as older. True
 * if it may have children. */
static bool add_stat(struct limits_tree *out, uint32_t pid, uint64_t age,
	const struct buf *text)
{
	char state = *proc_stat(text->data, 3);
	uint64_t ticks = 0;

	if (!state)
		return false;
	/* utime stime cutime cstime: includes children that it waited for */
	for (unsigned n = 14; n <= 17; n++)
		ticks += stat_field(text->data, n);
	out->cpu_ns += ticks * tick_ns();
	/* If only the first thread has ended, the other threads are counted. */
	if (state == 'Z' && stat_field(text->data, 20) < 2) {
		out->tasks++;
		return false;
	}
	out->procs++;
	out->older += age_of(pid, text) <= age;
	return true;
}

static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) >=
		       0 ||
	       errno != ECHILD;
}

int limits_others(struct buf *others)
{
	autobuf struct buf text = BUF_INIT(1 << 20);
	unsigned tasks = 0;
	int err;

	*others = BUF_INIT(PIDS_MAX * sizeof(uint32_t));
	if (!has_children())
		return 0;
	err = add_children(others, (uint32_t)getpid(), &tasks, NULL, &text);
	return err < 0 ? err : others->err;
}

static bool is_among(const struct buf *pids, uint32_t pid)
{
	size_t n = pids ? pids->len / sizeof(uint32_t) : 0, k = 0;

	while (k < n && get_pid(pids, k) != pid)
		k++;
	return k < n;
}

/* Removes others from pids. */
static void remove_others(struct buf *pids, const struct buf *others)
{
	size_t n = pids->len / sizeof(uint32_t), kept = 0;

	for (size_t i = 0; others && others->len && i < n; i++) {
		uint32_t pid = get_pid(pids, i);

		if (!is_among(others, pid))
			memcpy(pids->data + kept++ * sizeof(pid), &pid,
				sizeof(pid));
	}
	if (others && others->len)
		pids->len = kept * sizeof(uint32_t);
}

void limits_reaped(struct limits *l, pid_t pid, const struct rusage *usage)
{
	const struct timeval *t[] = {&usage->ru_utime, &usage->ru_stime};

	for (size_t i = 0; i < 2 && !is_among(&l->others, (uint32_t)pid); i++)
		l->cpu_reaped += (uint64_t)t[i]->tv_sec * 1000000000 +
				 (uint64_t)t[i]->tv_usec * 1000;
}

void limits_other(struct buf *others, pid_t pid, bool is)
{
	uint32_t number = (uint32_t)pid;
	const struct buf one = {.data = (char *)&number, .len = sizeof(number)};

	if (is)
		put_pid(others, number);
	else
		remove_others(others, &one);
}

static int look_at_tree(struct limits_tree *out, bool memory,
	const struct buf *others, uint64_t age)
{
	autobuf struct buf pids = BUF_INIT(PIDS_MAX * sizeof(uint32_t));
	autobuf struct buf text = BUF_INIT(1 << 20);
	const uint64_t now = ticks_now();
	unsigned own = 0;
	int err;

	*out = (struct limits_tree){0};
	if (!has_children())
		return 0;
	err = add_children(&pids, (uint32_t)getpid(), &own, NULL, &text);
	remove_others(&pids, others);
	for (size_t i = 0; err == 0 && i < pids.len / sizeof(uint32_t); i++) {
		uint32_t pid = get_pid(&pids, i);

		/* A process that ends meanwhile has no children. */
		if (read_older(pid, now, &text) &&
			add_stat(out, pid, age, &text))
			add_children(&pids, pid, &out->tasks,
				memory ? &out->memory : NULL, &text);
	}
	return err < 0 ? err : pids.err;
}

unsigned limits_left(const struct buf *others, pid_t *first, char name[static 16])
{
	autobuf struct buf pids = BUF_INIT(PIDS_MAX * sizeof(uint32_t));
	autobuf struct buf text = BUF_INIT(1 << 20);
	unsigned left = 0, tasks = 0;

	if (!has_children())
		return 0;
	add_children(&pids, (uint32_t)getpid(), &tasks, NULL, &text);
	remove_others(&pids, others);
	for (size_t i = 0; i < pids.len / sizeof(uint32_t); i++) {
		uint32_t pid = get_pid(&pids, i);
		char *from, *to;

		add_children(&pids, pid, &tasks, NULL, &text);
		if (!read_stat(pid, &text) ||
			*proc_stat(text.data, 3) == 'Z' || left++)
			continue;
		*first = (pid_t)pid;
		from = strchr(text.data, '(');
		to = strrchr(text.data, ')');
		if (to)
			*to = '\0';
		if (from && to)
			str_copy(name, 16, from + 1);
	}
	return left;
}

int limits_tree(
	struct limits_tree *out, bool memory, const struct buf *others)
{
	return look_at_tree(out, memory, others, 0);
}

bool limits_can_look(void)
{
	/* Process 1 always exists; for another process /proc would have to make
	 * an entry. */
	return access("/proc/1/task/1/children", R_OK) == 0 ||
	       access("/proc/thread-self/children", R_OK) == 0;
}

/* The pid of the machine's last process; 0 if that is not told. */
static unsigned last_pid(void)
{
	char text[128];
	struct buf b = BUF_FIXED(text);
	const char *s;

	if (read_proc(&b, "/proc/loadavg") < 0)
		return 0;
	s = strrchr(buf_str(&b), ' ');
	return s ? (unsigned)proc_number(s + 1) : 0;
}

bool limits_procs_over(struct limits_guess *g, unsigned max, pid_t pid)
{
	unsigned last = last_pid(), procs = 0, older = 0;
	autobuf struct buf text = BUF_INIT(1 << 12);
	uint64_t age = UINT64_MAX;
	struct limits_tree t;

	if (last && g->last && last >= g->last &&
		last - g->last + g->procs <= max)
		return false;
	if (pid && read_stat((uint32_t)pid, &text))
		age = age_of((uint32_t)pid, &text);
	/* The list of children skips one when another before it ends during the
	 * read, so a small count is taken again. */
	for (int i = 0; i < 2 && older <= max; i++) {
		if (look_at_tree(&t, false, g->others, age) < 0)
			return true;
		procs = t.procs > procs ? t.procs : procs;
		older = t.older > older ? t.older : older;
	}
	g->procs = procs;
	g->last = last;
	return older > max;
}

unsigned limits_user_tasks(void)
{
	autoclean(cleanup_dir) DIR *dir = opendir("/proc");
	unsigned tasks = 0;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		uint32_t pid = name_pid(e->d_name);
		char path[64];
		struct stat st;

		BUF_PRINT(path, "/proc/%u/task", pid);
		/* A task directory has two links of its own, and one for each
		 * task. */
		if (pid && stat(path, &st) == 0 &&
			st.st_uid == getuid() && st.st_nlink > 2)
			tasks += (unsigned)st.st_nlink - 2;
	}
	return tasks;
}

/* Reads all facts of one process; false when it has ended. A container may have
 * put outer filters around everything, this process too. */
static bool describe_process(uint32_t pid, uint64_t outer,
	struct limits_process *p, struct buf *text)
{
	const uint64_t boot =
		clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	char path[32];

	*p = (struct limits_process){.pid = (pid_t)pid};
	if (!read_stat(pid, text) || *proc_stat(text->data, 3) == 'Z')
		return false;
	p->parent = (pid_t)stat_field(text->data, 4);
	p->since = boot + stat_field(text->data, 22) * tick_ns();
	BUF_PRINT(path, "/proc/%u", pid);
	p->memory = memory_of(path, text);
	p->guarded = text->len && proc_filters(buf_str(text)) > outer;
	return true;
}

int limits_descendants(pid_t root, limits_each *each, void *ctx)
{
	autobuf struct buf pids = BUF_INIT(PIDS_MAX * sizeof(uint32_t));
	autobuf struct buf text = BUF_INIT(1 << 20);
	unsigned tasks = 0;
	const uint64_t outer = read_proc(&text, "/proc/self/status")
		? 0
		: proc_filters(buf_str(&text));
	int err = add_children(&pids, (uint32_t)root, &tasks, NULL, &text);

	for (size_t i = 0; err == 0 && i < pids.len / sizeof(uint32_t); i++) {
		const uint32_t pid = get_pid(&pids, i);
		struct limits_process p;

		add_children(&pids, pid, &tasks, NULL, &text);
		if (describe_process(pid, outer, &p, &text))
			err = each(ctx, &p);
	}
	return err;
}

pid_t limits_child(pid_t parent)
{
	autobuf struct buf pids = BUF_INIT(PIDS_MAX * sizeof(uint32_t));
	autobuf struct buf text = BUF_INIT(1 << 20);
	unsigned tasks = 0;

	add_children(&pids, (uint32_t)parent, &tasks, NULL, &text);
	return pids.len ? (pid_t)get_pid(&pids, 0) : 0;
}

void limits_signal(pid_t root, int sig)
{
	autobuf struct buf pids = BUF_INIT(PIDS_MAX * sizeof(uint32_t));
	autobuf struct buf text = BUF_INIT(1 << 20);
	const uint64_t now = ticks_now();
	unsigned tasks = 0;

	put_pid(&pids, (uint32_t)root);
	for (size_t i = 0; i < pids.len / sizeof(uint32_t); i++)
		if (read_older(get_pid(&pids, i), now, &text))
			add_children(&pids, get_pid(&pids, i), &tasks, NULL,
				&text);
	limits_kill_all(&pids, sig);
}

/* For kernels built without the children file: looks at the parent of every
 * process. */
static void scan_children(struct buf *pids, struct buf *text)
{
	autoclean(cleanup_dir) DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		uint32_t pid = name_pid(e->d_name);

		if (pid && read_stat(pid, text) &&
			stat_field(text->data, 4) == (uint64_t)getpid())
			put_pid(pids, pid);
	}
}

int limits_sweep(const struct buf *others)
{
	enum {
		PATIENCE_NS = 2000000000, /* and at least so many rounds */
		ROUNDS = 400,
		PAUSE_NS = 5000000,
		FIRST_NS = 100000,
		MANY = 4096 * sizeof(uint32_t),
	};
	const uint64_t start = clock_ns(CLOCK_MONOTONIC);
	autobuf struct buf pids = BUF_INIT(PIDS_MAX * sizeof(uint32_t));
	autobuf struct buf text = BUF_INIT(1 << 20);
	struct timespec pause = {.tv_nsec = FIRST_NS};
	size_t had = 0, n;
	uint32_t last = 0;

	for (int round = 0; round < ROUNDS ||
		clock_ns(CLOCK_MONOTONIC) - start < PATIENCE_NS;
		round++) {
		unsigned tasks = 0;
		bool settled;
		int err;

		if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			return 0;
		buf_clear(&pids);
		err = add_children(&pids, (uint32_t)getpid(), &tasks, NULL,
			&text);
		if (!pids.len)
			scan_children(&pids, &text);
		remove_others(&pids, others);
		/* The processes that are left are others. */
		if (!pids.len && !err && others && others->len)
			return 0;
		/* The children of those that die become ours and come in the
		 * next round. Where numbers are limited, the dead stay unreaped
		 * until the last one is ended, so that a bomb gets no room. */
		settled = pids.len <= had || pids.len >= MANY;
		had = pids.len;
		n = had / sizeof(uint32_t);
		/* Kills down to the last one that came first, as far as there
		 * are new ones, because a process that starts another and ends
		 * is dead soon anyway. */
		for (size_t i = n; i && get_pid(&pids, i - 1) != last; i--)
			kill((pid_t)get_pid(&pids, i - 1), SIGKILL);
		last = settled || !n ? 0 : get_pid(&pids, n - 1);
		for (size_t i = 0; settled && i < n; i++)
			waitpid((pid_t)get_pid(&pids, i), NULL, WNOHANG);
		/* A single process ends in a fraction of the time that many
		 * take. */
		if (round && settled && nanosleep(&pause, NULL) == 0 &&
			pause.tv_nsec < PAUSE_NS)
			pause.tv_nsec *= 2;
	}
	return -ETIMEDOUT;
}
