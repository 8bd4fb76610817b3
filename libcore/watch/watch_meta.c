/* watch_meta.c - changes of metadata, done here for the process that asks
 * SPDX-License-Identifier: MIT
 *
 * Landlock has no right for modes, owners, times and extended attributes. So the
 * object is opened here, once, as the process would find it; what is asked of it
 * is done on that descriptor, without any capability, and the result is the
 * call's. Nothing is let go on, so nothing that another thread swaps is read
 * twice.
 */
#include "watch/watch_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "base/path.h"
#include "base/str.h"
#include "base/uapi/linux.h"
#include "base/uapi/nr.h"
#include "sys/file.h"
#include "sys/proc_text.h"

enum {
	FLAG_NOFOLLOW = 0x100,
	FLAG_EMPTY = 0x1000,
	XNAME_MAX = 255,
	XVALUE_MAX = 65536,
	TIMES_MAX = 32, /* the longest form of two times */
};

/* A change to be made, with copies of everything that its arguments point
 * to. */
struct change {
	const struct watch_call *c;
	const uint64_t *args;
	pid_t pid;
	unsigned flags;
	bool now; /* both times are the present */
	char *path; /* NULL: the descriptor itself */
	char *value;
	char xname[XNAME_MAX + 1];
	_Alignas(8) char times[TIMES_MAX];
};

static enum watch_change kind_of(const struct watch_call *c)
{
	switch ((enum watch_alter)c->how) {
	case WATCH_MODE:
		return WATCH_CHANGE_MODE;
	case WATCH_OWNER:
	case WATCH_OWNER_OLD:
		return WATCH_CHANGE_OWNER;
	case WATCH_TIME:
	case WATCH_TIMES:
	case WATCH_TIMES64:
		return WATCH_CHANGE_TIMES;
	case WATCH_SETXATTR:
	case WATCH_RMXATTR:
		break;
	}
	return WATCH_CHANGE_XATTR;
}

/* Reads exactly n bytes. */
static int read_whole(pid_t pid, uint64_t at, void *out, size_t n)
{
	ssize_t got = watch_mem(pid, at, out, n);

	return got < 0 ? (int)got : (size_t)got == n ? 0 : -EFAULT;
}

static int read_xattr(struct change *ch)
{
	const uint64_t *args = ch->args + ch->c->arg;
	ssize_t n = watch_str(ch->pid, args[0], ch->xname, sizeof ch->xname);

	if (n <= 0)
		return n == -E2BIG || n == 0 ? -ERANGE : (int)n;
	if (ch->c->how == WATCH_RMXATTR)
		return 0;
	if (args[2] > XVALUE_MAX)
		return -E2BIG;
	return args[2] ? read_whole(ch->pid, args[1], ch->value,
				 (size_t)args[2]) :
			 0;
}

static int read_times(struct change *ch)
{
	const uint64_t at = ch->args[ch->c->arg];
	size_t n = 4 * sizeof(long);

	if (ch->c->how == WATCH_TIME)
		n = 2 * sizeof(long);
	if (ch->c->how == WATCH_TIMES64)
		n = TIMES_MAX;
	ch->now = !at;
	return ch->now ? 0 : read_whole(ch->pid, at, ch->times, n);
}

/* Copies everything that the call points to, once. room: PATH_MAX bytes, and
 * behind them XVALUE_MAX. */
static int change_read(struct change *ch, char *room)
{
	const struct watch_call *c = ch->c;
	enum watch_change kind = kind_of(c);
	bool fd = c->path == WATCH_NO;
	ssize_t n = 0;

	if (c->flags == WATCH_NOFOLLOW)
		ch->flags = FLAG_NOFOLLOW;
	else if (c->flags != WATCH_NO)
		ch->flags = (unsigned)ch->args[c->flags];
	if (ch->flags & ~(unsigned)(FLAG_NOFOLLOW | FLAG_EMPTY))
		return -EINVAL;
	/* A call that sets a descriptor's times has no path. */
	if (!fd && kind == WATCH_CHANGE_TIMES && c->dir != WATCH_NO &&
		!ch->args[c->path] && (int)ch->args[c->dir] != AT_FDCWD)
		fd = true;
	ch->value = room + PATH_MAX;
	if (kind == WATCH_CHANGE_TIMES)
		n = read_times(ch);
	if (n == 0 && !fd) {
		ch->path = room;
		n = watch_str(ch->pid, ch->args[c->path], room, PATH_MAX);
		if (n == -E2BIG)
			n = -ENAMETOOLONG;
		if (n == 0 && !(ch->flags & FLAG_EMPTY))
			n = -ENOENT;
	}
	if (n >= 0 && kind == WATCH_CHANGE_XATTR)
		n = read_xattr(ch);
	return n < 0 ? (int)n : 0;
}

int watch_own_fd(pid_t pid, const char *path, const char **rest)
{
	char own[32];
	const char *names[] = {"/proc/self/fd/", "/proc/thread-self/fd/",
		"/dev/fd/", BUF_PRINT(own, "/proc/%d/fd/", (int)pid)};
	static const char *const std[] = {
		"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	const char *digits = NULL;
	char number[12];
	unsigned fd;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(std); i++)
		if (str_eq(path, std[i])) {
			*rest = "";
			return (int)i;
		}
	for (size_t i = 0; i < ARRAY_SIZE(names) && !digits; i++)
		digits = str_after(path, names[i]);
	n = digits ? strspn(digits, "0123456789") : 0;
	if (!n || n >= sizeof number || (digits[n] && digits[n] != '/'))
		return -1;
	memcpy(number, digits, n);
	number[n] = '\0';
	*rest = digits + n + strspn(digits + n, "/");
	return num_uint(number, 0, INT32_MAX, &fd) ? -1 : (int)fd;
}

/* Opens where the path begins: the process's root, its directory, or its
 * descriptor. */
static int base_open(const struct change *ch, int dirfd)
{
	char name[48];
	int fd;

	if (dirfd == AT_FDCWD)
		BUF_PRINT(name, "/proc/%d/cwd", (int)ch->pid);
	else
		BUF_PRINT(name, "/proc/%d/fd/%d", (int)ch->pid, dirfd);
	fd = open(name, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -EBADF : -errno;
	return fd;
}

/* Is the descriptor open for reading or writing, and not only O_PATH? */
static bool is_open(pid_t pid, int fd)
{
	char name[48];
	struct stat st;

	return lstat(BUF_PRINT(name, "/proc/%d/fd/%d", (int)pid, fd), &st) == 0 &&
		st.st_mode & (S_IRUSR | S_IWUSR);
}

/* The object, as the process would find it; an open one needs no search. */
struct found {
	int base; /* owned */
	uint64_t resolve;
	const char *path; /* "": the base itself */
};

static void found_release(struct found *f)
{
	cleanup_fd(&f->base);
}

static int found_begin(struct watch *w, const struct change *ch,
	struct found *f)
{
	int dirfd = ch->c->dir == WATCH_NO ? AT_FDCWD : (int)ch->args[ch->c->dir];
	int own = -1;

	f->path = ch->path ? ch->path : "";
	f->resolve = RESOLVE_NO_MAGICLINKS;
	if (!ch->path) {
		f->base = base_open(ch, dirfd);
		return f->base < 0 ? f->base :
			is_open(ch->pid, dirfd) ? 0 : -EBADF;
	}
	if (f->path[0] == '/' && !(ch->flags & FLAG_NOFOLLOW))
		own = watch_own_fd(ch->pid, f->path, &f->path);
	if (own >= 0) {
		f->base = base_open(ch, own);
		return f->base == -EBADF ? -ENOENT : f->base < 0 ? f->base : 0;
	}
	if (f->path[0] != '/') {
		f->base = base_open(ch, dirfd);
		return f->base < 0 ? f->base : 0;
	}
	f->resolve |= RESOLVE_IN_ROOT;
	own = watch_root_open(&w->root, ch->pid);
	if (own == 0)
		f->base = fcntl(w->root.fd, F_DUPFD_CLOEXEC, 0);
	return own < 0 ? own : f->base < 0 ? -errno : 0;
}

/* Widens the 16-bit ids of a 32-bit system's oldest calls. */
static uint32_t wide_id(const struct change *ch, uint64_t id)
{
	if (ch->c->how != WATCH_OWNER_OLD || __NR_chown32 == NR_NONE)
		return (uint32_t)id;
	return (uint16_t)id == UINT16_MAX ? UINT32_MAX : (uint16_t)id;
}

static int change_do(const struct change *ch, const char *name)
{
	const struct watch_call *c = ch->c;
	const uint64_t *a = ch->args + c->arg;
	const void *times = ch->now ? NULL : ch->times;
	long done = -1;

	switch ((enum watch_alter)c->how) {
	case WATCH_MODE:
		done = syscall(__NR_fchmodat, AT_FDCWD, name, (mode_t)a[0]);
		break;
	case WATCH_OWNER:
	case WATCH_OWNER_OLD:
		done = syscall(__NR_fchownat, AT_FDCWD, name,
			wide_id(ch, a[0]), wide_id(ch, a[1]), 0);
		break;
	case WATCH_TIME:
	case WATCH_TIMES:
	case WATCH_TIMES64:
		done = c->dir == WATCH_NO ?
			       syscall(c->nr, name, times) :
			       syscall(c->nr, AT_FDCWD, name, times, 0);
		break;
	case WATCH_SETXATTR:
		done = syscall(__NR_setxattr, name, ch->xname, ch->value,
			(size_t)a[2], (int)a[3]);
		break;
	case WATCH_RMXATTR:
		done = syscall(__NR_removexattr, name, ch->xname);
		break;
	}
	return done < 0 ? -errno : 0;
}

/* Has the process this process's ids? Yes, as long as it has no capability to
 * change them. */
static bool same_ids(const struct watch *w, pid_t pid)
{
	static const char *const keys[] = {"Uid:", "Gid:"};
	const uint64_t own[] = {geteuid(), getegid()};
	autobuf struct buf text = BUF_INIT(1 << 14);
	char name[32];
	size_t n;

	if (!w->other_ids)
		return getuid() == geteuid() && getgid() == getegid();
	if (file_read(AT_FDCWD,
		    BUF_PRINT(name, "/proc/%d/status", (int)pid), &text))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *v = proc_value(buf_str(&text), keys[i], &n);

		for (int k = 0; k < 4; k++) {
			if (!v || proc_number(v) != own[i])
				return false;
			v += strspn(v, "0123456789");
			v += strspn(v, "\t ");
		}
	}
	return true;
}

/* Takes or gives up this process's capabilities, which the command does not
 * have. 0, -EPERM. */
static int caps_use(struct watch *w, bool on)
{
	struct cap_head head = {.version = CAP_VERSION3};
	struct cap_data data[2];

	if (!w->caps_known) {
		if (syscall(__NR_capget, &head, w->caps) < 0)
			return -EPERM;
		w->caps_known = true;
	}
	memcpy(data, w->caps, sizeof data);
	if (!(data[0].effective | data[1].effective))
		return 0;
	if (!on)
		data[0].effective = data[1].effective = 0;
	return syscall(__NR_capset, &head, data) < 0 ? -EPERM : 0;
}

/* Fills o; o->path has room for the path. */
static int change_found(struct watch *w, const struct change *ch,
	const struct found *f, char *real, struct watch_object *o)
{
	autofd int fd = -1;
	char name[32];
	int err = -EPERM, at = f->base;

	if (f->path[0]) {
		fd = path_openat2(f->base, f->path,
			O_PATH | (ch->flags & FLAG_NOFOLLOW ? O_NOFOLLOW : 0),
			0, f->resolve);
		at = fd;
	}
	if (at < 0)
		return at == -ENOSYS ? -EPERM : at;
	if (fstat(at, &o->st) < 0 || path_of_fd(at, real, PATH_MAX) < 0)
		return -EPERM;
	if (w->allow)
		err = w->allow(w->ctx_allow, o);
	o->refused = err < 0;
	return err ? err :
		change_do(ch, BUF_PRINT(name, "/proc/self/fd/%d", at));
}

int watch_meta(struct watch *w, const struct watch_call *c,
	const struct sc_notif *n)
{
	struct change ch = {
		.c = c, .args = n->data.args, .pid = (pid_t)n->pid};
	autoclean(found_release) struct found f = {.base = -1};
	char *room = w->bytes, *real = room + PATH_MAX + XVALUE_MAX;
	struct watch_object o = {.path = real,
		.change = kind_of(c),
		.pid = ch.pid};
	int err = change_read(&ch, room);

	if (err < 0)
		return err;
	o.open = !ch.path;
	if (!same_ids(w, ch.pid))
		return -EPERM;
	err = found_begin(w, &ch, &f);
	/* Was it the asking process's memory all the time? */
	if (err == 0)
		err = watch_still(w, n);
	if (err == 0)
		err = caps_use(w, false);
	if (err < 0)
		return err;
	err = change_found(w, &ch, &f, real, &o);
	(void)caps_use(w, true);
	if (o.refused && w->refused_change)
		w->refused_change(w->ctx, &o);
	return err;
}
