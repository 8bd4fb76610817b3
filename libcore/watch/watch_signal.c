/* watch_signal.c - signals that a process of the tree is about to send
 * SPDX-License-Identifier: MIT
 *
 * From ABI 6 on Landlock keeps signals inside of the tree. Before (WATCH_SCOPE)
 * each call that sends one is shown, and is done here: a descriptor of the
 * process is opened, the process is looked at, and the signal goes by the
 * descriptor, so that it cannot reach another process that got the number
 * meanwhile. A process is the tree's if it descends from this process and has
 * more filters than this process.
 */
#include "watch/watch_in.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/uapi/linux.h"
#include "base/uapi/nr.h"
#include "sys/file.h"
#include "sys/limits.h"
#include "sys/proc_text.h"

enum {
	KILL_CAP = 5,
	INFO_INTS = 32, /* a siginfo_t has 128 bytes */
	DEPTH_MAX = 1 << 16,
};

/* The facts of /proc/PID/status; a thread's number is good for it, too. */
struct facts {
	pid_t process, parent;
	uint64_t real, effective, saved; /* user ids */
	uint64_t filters;
	bool may_kill; /* CAP_KILL is in effect */
};

struct sending {
	struct watch *w;
	struct facts caller;
	uint64_t filters; /* this process's */
	pid_t group; /* of sending to many; 0: everybody */
	unsigned sent;
	int sig;
	bool informed;
	int info[INFO_INTS];
};

static uint64_t number_at(const char *text, const char *key, int word)
{
	size_t n;
	const char *v = proc_value(text, key, &n);

	for (; v && word > 0; word--) {
		v += strspn(v, "0123456789");
		v += strspn(v, "\t ");
	}
	return v ? proc_number(v) : 0;
}

static int facts_read(pid_t pid, struct facts *f)
{
	autobuf struct buf text = BUF_INIT(1 << 14);
	const char *s, *caps;
	char name[32];
	size_t n;

	if (file_read(AT_FDCWD,
		    BUF_PRINT(name, "/proc/%d/status", (int)pid), &text))
		return -ESRCH;
	s = buf_str(&text);
	*f = (struct facts){
		.process = (pid_t)number_at(s, "Tgid:", 0),
		.parent = (pid_t)number_at(s, "PPid:", 0),
		.real = number_at(s, "Uid:", 0),
		.effective = number_at(s, "Uid:", 1),
		.saved = number_at(s, "Uid:", 2),
		.filters = proc_filters(s),
	};
	/* Sixteen hexadecimal digits; the capability is in the last but one. */
	caps = proc_value(s, "CapEff:", &n);
	f->may_kill = caps && n == 16 && strchr("2367abef", caps[14]);
	return 0;
}

static bool is_ours(const struct sending *s, const struct facts *f)
{
	const pid_t self = getpid();
	struct facts above = *f;

	if (f->filters <= s->filters)
		return false;
	for (int i = 0; i < DEPTH_MAX && above.parent > 1; i++)
		if (above.parent == self)
			return true;
		else if (facts_read(above.parent, &above))
			return false;
	return false;
}

/* The kernel's own rule, which a sender with more rights than the caller has to
 * keep for the caller. */
static bool has_right(const struct sending *s, const struct facts *f)
{
	const struct facts *c = &s->caller;

	return !s->w->other_ids || c->may_kill || c->effective == f->saved ||
		c->effective == f->real || c->real == f->saved ||
		c->real == f->real;
}

/* Sends to a process, or to one thread of it. */
static int send_one(const struct sending *s, pid_t pid, pid_t thread)
{
	autofd int fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
	struct facts f;

	if (fd < 0)
		return -errno;
	if (facts_read(pid, &f))
		return -ESRCH;
	if (!is_ours(s, &f) || !has_right(s, &f))
		return -EPERM;
	if (thread)
		return syscall(__NR_tgkill, pid, thread, s->sig) < 0
			? -errno
			: 0;
	return syscall(NR_PIDFD_SEND_SIGNAL, fd, s->sig,
		       s->informed ? s->info : NULL, 0) < 0
		? -errno
		: 0;
}

static int send_each(void *ctx, const struct limits_process *p)
{
	struct sending *s = ctx;

	if (p->pid != s->caller.process &&
		(!s->group || getpgid(p->pid) == s->group))
		s->sent += !send_one(s, p->pid, 0);
	return 0;
}

/* Sends to a group, or to all but the caller. In the caller's group the caller
 * comes last, because a signal may end the wait for this answer. */
static int send_many(struct sending *s, pid_t group)
{
	s->group = group;
	(void)limits_descendants(getpid(), send_each, s);
	if (group && getpgid(s->caller.process) == group)
		s->sent += !send_one(s, s->caller.process, 0);
	if (s->sent)
		return 0;
	return group && kill(-group, 0) < 0 ? -errno : -EPERM;
}

/* The process that one of the caller's descriptors stands for; 0. */
static pid_t pid_of_fd(pid_t caller, int fd)
{
	enum { INFO_MAX = 4096 };
	autobuf struct buf text = BUF_INIT(INFO_MAX);
	char path[48];

	if (file_read(AT_FDCWD,
		    BUF_PRINT(path, "/proc/%d/fdinfo/%d", (int)caller, fd),
		    &text))
		return 0;
	return (pid_t)number_at(buf_str(&text), "Pid:", 0);
}

/* A program that an earlier command of the session left is not of this tree. */
static int send_beyond(struct watch *w, pid_t to, int sig)
{
	return w->signal && w->kinds & WATCH_SIGNALS
		? w->signal(w->ctx, to, sig)
		: 0;
}

/* To a process, or negative, to a group. */
static int send_to(struct sending *s, pid_t to)
{
	int err = to > 0 ? send_one(s, to, 0) : send_many(s, -to);

	if (err == -EPERM && send_beyond(s->w, to, s->sig) == WATCH_DONE)
		err = 0;
	return err;
}

static int send_thread(struct sending *s, pid_t process, pid_t thread)
{
	struct facts f = {.process = process};

	if (process < 0 || thread <= 0)
		return -EINVAL;
	if (!process && facts_read(thread, &f))
		return -ESRCH;
	return send_one(s, f.process, thread);
}

/* Reads what the caller tells beside the signal. */
static int info_read(struct sending *s, const struct sc_notif *n, uint64_t at)
{
	const ssize_t got =
		watch_mem((pid_t)n->pid, at, s->info, sizeof s->info);

	if (got != (ssize_t)sizeof s->info)
		return got < 0 ? (int)got : -EFAULT;
	s->info[0] = s->sig;
	s->informed = true;
	return watch_still(s->w, n);
}

/* What a process does to itself goes on: nobody gets its number while it waits.
 * Everything else is done here. 0: it goes on; WATCH_DONE; -errno. */
static int hold_process(struct sending *s, const struct sc_notif *n)
{
	const uint64_t *args = n->data.args;
	pid_t to = (pid_t)args[0];
	struct facts own;
	int err = 0;

	if (to == (n->data.nr == __NR_tkill ? (pid_t)n->pid
					    : s->caller.process) &&
		n->data.nr != NR_PIDFD_SEND_SIGNAL)
		return 0;
	if (facts_read(getpid(), &own))
		return -EPERM;
	s->filters = own.filters;
	s->sig = (int)args[1];
	switch (n->data.nr) {
	case __NR_kill:
		if (to == -1)
			err = send_many(s, 0);
		else
			err = send_to(s,
				to ? to : -getpgid(s->caller.process));
		break;
	case NR_PIDFD_SEND_SIGNAL:
		to = args[3] ? 0 : pid_of_fd((pid_t)n->pid, to);
		err = to && args[2] ? info_read(s, n, args[2]) : 0;
		err = err ? err : to > 0 ? send_to(s, to) : -ESRCH;
		break;
	case __NR_rt_sigqueueinfo:
		err = info_read(s, n, args[2]);
		err = err ? err : to > 0 ? send_to(s, to) : -ESRCH;
		break;
	case __NR_tkill:
		err = send_thread(s, 0, to);
		break;
	default:
		s->sig = (int)args[2];
		err = send_thread(s, to, (pid_t)args[1]);
		break;
	}
	return err ? err : WATCH_DONE;
}

int watch_send(struct watch *w, const struct sc_notif *n)
{
	struct sending s = {.w = w};
	pid_t to = (pid_t)n->data.args[0];

	if (facts_read((pid_t)n->pid, &s.caller) || watch_still(w, n))
		return -ESRCH;
	if (w->kinds & WATCH_SCOPE)
		return hold_process(&s, n);
	/* To itself, to its own group and to all that it may reach the process
	 * sends by itself. */
	if (n->data.nr == NR_PIDFD_SEND_SIGNAL)
		to = n->data.args[2] ? 0 : pid_of_fd((pid_t)n->pid, to);
	return !to || to == -1 || to == s.caller.process
		? 0
		: send_beyond(w, to, (int)n->data.args[1]);
}
