/* limits_cgroup.c - control groups of either version
 * SPDX-License-Identifier: MIT
 */
#include "sys/limits_cgroup_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/path.h"
#include "sys/proc_text.h"
#include "base/str.h"
#include "base/uapi/linux.h"

enum { MEMORY, PIDS, CPU }; /* of version 1; version 2 has only the first */

static int write_at(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int write_number(int dir, const char *name, uint64_t v)
{
	char text[32];

	BUF_PRINT(text, "%ju", (uintmax_t)v);
	return write_at(dir, name, text);
}

/* The number behind a key ("" for the file's first). */
static uint64_t number_at(int dir, const char *name, const char *key)
{
	char text[2048];
	struct buf b = BUF_FIXED(text);
	const char *s = limits_read(dir, name, &b) < 0 ?
				NULL :
				str_find(buf_str(&b), key);

	return s ? proc_number(s + strlen(key)) : 0;
}

static bool is_group_fs(const char *path, long magic)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && (long)fs.f_type == magic;
}

/* Does the maker of the group still live? It holds a lock from the start, even
 * while the group is empty. */
static bool is_held(int parent, const char *name)
{
	autofd int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0;
}

/* Removes groups whose maker was killed. A new group may not be locked yet, so
 * those of the last two seconds stay. */
static void sweep_stale(int parent)
{
	int fd = fcntl(parent, F_DUPFD_CLOEXEC, 3);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	while (dir && (e = readdir(dir))) {
		const char *id = str_after(e->d_name, "wardbox-");
		struct stat st;

		if (id && fstatat(parent, e->d_name, &st,
				  AT_SYMLINK_NOFOLLOW) == 0 &&
			st.st_mtim.tv_sec + 2 < now.tv_sec &&
			!is_held(parent, e->d_name))
			unlinkat(parent, e->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* Makes base/path/NAME. 0, and the two descriptors. */
static int make_group(struct limits *l, unsigned i, const char *base,
	const char *path)
{
	char dir[PATH_MAX / 2];
	int parent, group;

	BUF_PRINT(dir, "%s%s", base, path);
	if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS))
		return -errno;
	parent = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return -errno;
	sweep_stale(parent);
	if (mkdirat(parent, l->name, 0755) < 0 ||
		(group = openat(parent, l->name,
			 O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		int err = -errno;

		unlinkat(parent, l->name, AT_REMOVEDIR);
		close(parent);
		return err;
	}
	flock(group, LOCK_EX);
	l->parent[i] = parent;
	l->group[i] = group;
	return 0;
}

static void remove_group(struct limits *l, unsigned i)
{
	if (l->group[i] < 0)
		return;
	close(l->group[i]);
	/* The group is busy for a moment after its last process was reaped. */
	for (int n = 0; n < 20; n++) {
		if (unlinkat(l->parent[i], l->name, AT_REMOVEDIR) == 0 ||
			errno != EBUSY)
			break;
		poll(NULL, 0, 2);
	}
	close(l->parent[i]);
	l->group[i] = l->parent[i] = -1;
}

/* A bound on tasks: threads are tasks, too, and may be many; a fork bomb has
 * more. */
static uint64_t task_bound(const struct limits *l)
{
	return 4ULL * limits_forks(l->spec.procs);
}

static bool set_v2(struct limits *l)
{
	int dir = l->group[0];

	if (l->spec.mem) {
		if (write_number(dir, "memory.max", l->spec.mem) < 0)
			return false;
		write_at(dir, "memory.swap.max", "0");
		write_at(dir, "memory.oom.group", "1");
		l->how[LIMITS_MEM] = LIMITS_BY_CGROUP2;
	}
	if (!l->spec.tasks && l->spec.procs &&
		write_number(dir, "pids.max", task_bound(l)) < 0 &&
			!l->spec.mem)
		return false;
	if (l->spec.tasks) {
		if (write_number(dir, "pids.max", l->spec.tasks) < 0)
			return false;
		l->how[LIMITS_TASKS] = LIMITS_BY_CGROUP2;
	}
	if (l->spec.cpu_ns)
		l->how[LIMITS_CPU] = LIMITS_BY_CGROUP2;
	return true;
}

/* Makes a group of version 2, at the own group or above: a group that holds
 * processes cannot hand out controllers, those above it usually do. own:
 * /proc/self/cgroup. */
static bool make_v2(struct limits *l, const char *own)
{
	const char *base = "/sys/fs/cgroup";
	char path[1024];

	if (!is_group_fs(base, CGROUP2_MAGIC))
		base = "/sys/fs/cgroup/unified";
	if (!is_group_fs(base, CGROUP2_MAGIC) ||
		proc_cgroup(own, "", path, sizeof(path)) < 0)
		return false;
	for (;;) {
		char *up = strrchr(path, '/');

		if (make_group(l, 0, base, path) == 0) {
			/* If nobody handed controllers out, as on a machine
			 * without a manager, this process does. */
			if (set_v2(l) ||
				(write_at(l->parent[0], "cgroup.subtree_control",
					 "+memory +pids") == 0 &&
					set_v2(l)))
				return true;
			remove_group(l, 0);
			l->how[LIMITS_MEM] = l->how[LIMITS_TASKS] =
				l->how[LIMITS_CPU] = LIMITS_BY_NOTHING;
		}
		if (!up || !path[0] || str_eq(path, "/"))
			return false;
		up[up == path] = '\0';
	}
}

static bool make_v1(struct limits *l, const char *own, unsigned i,
	const char *controller)
{
	char base[64], path[1024];

	BUF_PRINT(base, "/sys/fs/cgroup/%s", controller);
	if (!is_group_fs(base, CGROUP1_MAGIC) ||
		proc_cgroup(own, controller, path, sizeof(path)) < 0)
		return false;
	/* In a container the mount may begin at the own group. */
	return make_group(l, i, base, path) == 0 ||
	       make_group(l, i, base, "") == 0;
}

static void set_v1(struct limits *l, const char *own)
{
	if (l->spec.mem && make_v1(l, own, MEMORY, "memory")) {
		int dir = l->group[MEMORY];

		if (write_number(dir, "memory.limit_in_bytes", l->spec.mem) ==
			0) {
			/* This file only exists with swap accounting. */
			write_number(dir, "memory.memsw.limit_in_bytes",
				l->spec.mem);
			l->how[LIMITS_MEM] = LIMITS_BY_CGROUP1;
		}
	}
	if (!l->spec.tasks && l->spec.procs && make_v1(l, own, PIDS, "pids"))
		write_number(l->group[PIDS], "pids.max", task_bound(l));
	if (l->spec.tasks && make_v1(l, own, PIDS, "pids") &&
		write_number(l->group[PIDS], "pids.max", l->spec.tasks) == 0)
		l->how[LIMITS_TASKS] = LIMITS_BY_CGROUP1;
	if (l->spec.cpu_ns && make_v1(l, own, CPU, "cpuacct"))
		l->how[LIMITS_CPU] = LIMITS_BY_CGROUP1;
	for (unsigned i = 0; i < LIMITS_GROUPS; i++)
		if (l->group[i] >= 0)
			l->version = 1;
}

void limits_cgroup_make(struct limits *l)
{
	char text[4096 - 512];
	struct buf own = BUF_FIXED(text);
	struct timespec now;

	if (!l->spec.mem && !l->spec.tasks && !l->spec.cpu_ns &&
		!l->spec.procs)
		return;
	if (limits_read(AT_FDCWD, "/proc/self/cgroup", &own) < 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	BUF_PRINT(l->name, "wardbox-%d-%lx", (int)getpid(), now.tv_nsec);
	if (make_v2(l, buf_str(&own)))
		l->version = 2;
	else
		set_v1(l, buf_str(&own));
}

void limits_cgroup_remove(struct limits *l)
{
	for (unsigned i = 0; i < LIMITS_GROUPS; i++)
		remove_group(l, i);
	l->version = 0;
}

/* Moves this thread alone into groups of version 1, which is all of this
 * process, because moving a process waits for all CPUs, for milliseconds when
 * they are idle. */
int limits_cgroup_enter(const struct limits *l)
{
	const char *list = l->version == 1 ? "tasks" : "cgroup.procs";

	for (unsigned i = 0; i < LIMITS_GROUPS && !l->born; i++) {
		int err = l->group[i] < 0 ? 0 : write_at(l->group[i], list, "0");

		if (err < 0)
			return err;
	}
	return 0;
}

/* Kills the listed processes; true when there were any. */
static bool kill_listed(int dir)
{
	autobuf struct buf text = BUF_INIT(1 << 20);
	autobuf struct buf pids = BUF_INIT(1 << 18);

	if (limits_read(dir, "cgroup.procs", &text) == 0)
		proc_numbers(&pids, text.data, text.len);
	limits_kill_all(&pids, SIGKILL);
	return pids.len > 0;
}

int limits_cgroup_kill(const struct limits *l)
{
	if (l->version == 2 && write_at(l->group[0], "cgroup.kill", "1") == 0)
		return 0;
	for (unsigned i = 0; i < LIMITS_GROUPS; i++) {
		if (l->group[i] < 0)
			continue;
		/* A zombie stays listed until the sweep that follows reaps it,
		 * so there are few rounds. */
		for (int n = 0; n < 16 && kill_listed(l->group[i]); n++)
			;
		return 0;
	}
	return -ENOENT;
}

void limits_cgroup_read(struct limits *l, bool *killed)
{
	int dir = l->group[0];

	*killed = false;
	if (l->version == 2) {
		if (l->spec.mem) {
			*killed = number_at(dir, "memory.events", "oom_kill ");
			l->mem_peak = number_at(dir, "memory.peak", "");
		}
		l->cpu_used =
			1000 * number_at(dir, "cpu.stat", "usage_usec ");
	} else if (l->version == 1) {
		if (l->how[LIMITS_MEM] == LIMITS_BY_CGROUP1) {
			*killed = number_at(dir, "memory.oom_control",
				"oom_kill ");
			l->mem_peak = number_at(
				dir, "memory.max_usage_in_bytes", "");
		}
		if (l->group[CPU] >= 0)
			l->cpu_used = number_at(
				l->group[CPU], "cpuacct.usage", "");
	}
}
