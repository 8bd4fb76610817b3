/* session_live.c - which supervisors of a session stay with what commands left
 * SPDX-License-Identifier: MIT
 */
#include "session/session_live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "base/str.h"
#include "base/uapi/linux.h"
#include "session/session.h"
#include "sys/sig.h"

enum {
	NAME_SIZE = SESSION_ID_MAX + 8,
	FILE_SIZE = 48,
	END_MS = 5000, /* a supervisor gives what it ends two seconds */
};

static const char *live_name(char name[static NAME_SIZE], const char *id)
{
	return buf_print(name, NAME_SIZE, "%s.live", id);
}

static int live_open(int dir, const char *id)
{
	char name[NAME_SIZE];
	int fd;

	if (!session_id_valid(id))
		return -EINVAL;
	fd = openat(dir, live_name(name, id),
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Numbers of processes mean something in one pid namespace. */
static uint64_t live_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

static const char *live_file(char name[static FILE_SIZE], pid_t pid)
{
	return buf_print(name, FILE_SIZE, "%d.%llu", (int)pid,
		(unsigned long long)live_namespace());
}

int session_live_enter(
	int dir, const char *id, pid_t pid, struct session_live *l)
{
	char name[NAME_SIZE], file[FILE_SIZE];
	int err = 0;

	*l = SESSION_LIVE_INIT;
	if (!session_id_valid(id))
		return -EINVAL;
	if (mkdirat(dir, live_name(name, id), 0700) && errno != EEXIST)
		return -errno;
	l->dir = live_open(dir, id);
	if (l->dir < 0)
		return l->dir;
	l->pid = pid;
	memcpy(l->id, id, strlen(id) + 1);
	l->lock = openat(l->dir, live_file(file, pid),
		O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (l->lock < 0 || flock(l->lock, LOCK_EX | LOCK_NB))
		err = -errno;
	if (err)
		session_live_leave(l);
	return err;
}

/* Of a session that was ended while the command ran the directory is all there
 * is, and goes when it is empty. */
static void live_forget(const struct session_live *l)
{
	autofd int sessions = openat(
		l->dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char state[NAME_SIZE], live[NAME_SIZE];

	buf_print(state, sizeof state, "%s.state", l->id);
	if (sessions >= 0 &&
		faccessat(sessions, state, F_OK, AT_SYMLINK_NOFOLLOW))
		unlinkat(sessions, live_name(live, l->id), AT_REMOVEDIR);
}

void session_live_leave(struct session_live *l)
{
	char file[FILE_SIZE];

	if (l->lock >= 0) {
		unlinkat(l->dir, live_file(file, l->pid), 0);
		close(l->lock);
	}
	if (l->dir >= 0) {
		live_forget(l);
		close(l->dir);
	}
	*l = SESSION_LIVE_INIT;
}

void session_live_use(int dir, const char *id)
{
	char name[NAME_SIZE];

	if (session_id_valid(id))
		utimensat(dir, live_name(name, id), NULL, AT_SYMLINK_NOFOLLOW);
}

uint64_t session_live_used(const struct session_live *l)
{
	struct stat st;

	if (l->dir < 0 || fstat(l->dir, &st))
		return 0;
	return (uint64_t)st.st_mtim.tv_sec * 1000000000 +
	       (uint64_t)st.st_mtim.tv_nsec;
}

/* The process whose file has that name, as far as it lives; 0. */
static pid_t live_owner(int live, const char *name, uint64_t namespace)
{
	const size_t n = strcspn(name, ".");
	char number[16];
	uint64_t pid, of;
	autofd int fd = -1;

	if (!name[n] || n >= sizeof number)
		return 0;
	memcpy(number, name, n);
	number[n] = '\0';
	if (num_u64(number, 1, INT32_MAX, &pid) ||
		num_u64(name + n + 1, 0, UINT64_MAX, &of))
		return 0;
	fd = openat(live, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!flock(fd, LOCK_EX | LOCK_NB)) {
		unlinkat(live, name, 0);
		return 0;
	}
	return of == namespace ? (pid_t)pid : 0;
}

static void close_stream(DIR **stream)
{
	if (*stream)
		closedir(*stream);
}

int session_live(int dir, const char *id, session_live_each *each, void *ctx)
{
	const uint64_t namespace = live_namespace();
	autofd int fd = live_open(dir, id);
	autoclean(close_stream) DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int err = 0;

	if (!stream)
		return fd == -ENOENT ? 0 : fd < 0 ? fd : -errno;
	fd = dup(fd_steal(&fd));
	while (fd >= 0 && !err && (e = readdir(stream))) {
		pid_t pid = live_owner(fd, e->d_name, namespace);

		if (pid > 0)
			err = each(ctx, pid);
	}
	return err;
}

/* Its number was not given to another process as long as its file is locked, so
 * that is looked at once more when the descriptor is there. */
struct ending {
	int dir;
	const char *id;
	pid_t pid;
	int fd;
};

static int is_there(void *ctx, pid_t pid)
{
	return pid == ((const struct ending *)ctx)->pid;
}

static int end_one(void *ctx, pid_t pid)
{
	struct ending *e = ctx;
	autofd int fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
	struct pollfd gone = {.fd = fd, .events = POLLIN};

	if (fd < 0)
		return errno == ESRCH ? 0 : -errno;
	e->pid = pid;
	if (session_live(e->dir, e->id, is_there, e) != 1)
		return 0;
	if (syscall(NR_PIDFD_SEND_SIGNAL, fd, SIG_END_TREE, NULL, 0) < 0)
		return errno == ESRCH ? 0 : -errno;
	return poll(&gone, 1, END_MS) > 0 ? 0 : -ETIMEDOUT;
}

int session_live_end(int dir, const char *id, struct diag *d)
{
	struct ending e = {.dir = dir, .id = id};
	int err = session_live(dir, id, end_one, &e);

	return err ? diag_errno(d, err, "what session %s left running", id) : 0;
}
