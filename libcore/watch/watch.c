/* watch.c - every execve in a tree, shown to a supervisor before it runs
 * SPDX-License-Identifier: MIT
 */
#include "watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/path.h"
#include "watch/watch_in.h"
#include "base/kconfig.h"
#include "sys/file.h"
#include "sys/limits.h"
#include "sys/proc_text.h"
#include "base/str.h"
#include "base/uapi/linux.h"
#include "base/uapi/nr.h"
#include "base/uapi/seccomp.h"

/* The type of ioctl's second argument differs between C libraries. A process
 * that is stopped or frozen while it waits for the kernel's lock gets EINTR
 * although nothing was done, so the call is repeated; only a repeated receive
 * could wait for another question. */
static int listener_ioctl(const struct watch *w, unsigned long cmd, void *arg)
{
	int got;

	do
		got = (int)syscall(__NR_ioctl, w->fd, cmd, arg);
	while (got < 0 && errno == EINTR && cmd != SC_IOCTL_RECV);
	return got;
}

int watch_prepare(struct watch *w)
{
	struct sc_sizes sizes;

	if (!IS_ENABLED(CONFIG_SANDBOX_UNOTIFY) ||
		syscall(__NR_seccomp, SC_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return -ENOTSUP;
	/* A newer kernel's structs may be longer than ours. */
	w->notif_size = sizes.notif > sizeof(struct sc_notif) ?
				sizes.notif :
				sizeof(struct sc_notif);
	w->resp_size = sizes.resp > sizeof(struct sc_resp) ?
			       sizes.resp :
			       sizeof(struct sc_resp);
	w->notif = calloc(WATCH_QUEUE, w->notif_size);
	w->resp = calloc(1, w->resp_size);
	return w->notif && w->resp ? 0 : -ENOMEM;
}

int watch_connect(struct watch *w)
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, w->sock) <
			0
		? -errno
		: 0;
}

void watch_release(struct watch *w)
{
	int fds[] = {w->fd, w->sock[0], w->sock[1], w->root.fd};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(w->notif);
	free(w->later);
	free(w->resp);
	free(w->bytes);
	free(w->root.above);
	*w = WATCH_INIT;
}

void watch_lean(struct watch *w)
{
	free(w->bytes);
	w->bytes = NULL;
}

/* A message of one byte that carries a descriptor. */
struct handing {
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov;
};

static struct msghdr handing_message(struct handing *h)
{
	*h = (struct handing){.iov = {.iov_base = &h->byte, .iov_len = 1}};
	return (struct msghdr){
		.msg_iov = &h->iov,
		.msg_iovlen = 1,
		.msg_control = h->control.room,
		.msg_controllen = sizeof(h->control.room),
	};
}

int watch_hand_over(struct watch *w, int listener)
{
	struct handing h;
	struct msghdr msg = handing_message(&h);
	int err = 0;

	h.control.head.cmsg_level = SOL_SOCKET;
	h.control.head.cmsg_type = SCM_RIGHTS;
	h.control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&h.control.head), &listener, sizeof(int));
	if (sendmsg(w->sock[1], &msg, MSG_NOSIGNAL) < 0)
		err = -errno;
	/* A listener that stayed here could answer for its own process. */
	close(listener);
	close(w->sock[1]);
	close(w->sock[0]);
	return err;
}

/* Raises this process's priority. A signal makes the asking process give up,
 * with EINTR, until its question is received, so this process must run first,
 * in short turns, where that is allowed. Later forks of this process do not
 * inherit that. */
static void be_quick(void)
{
	enum { RESET_ON_FORK = 1, TURN_NS = 100000, NICE = -10 };
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr;

	/* Not if somebody chose how this process is scheduled. */
	if (syscall(__NR_sched_getattr, 0, &attr, sizeof(attr), 0) < 0 ||
		attr.policy != SCHED_OTHER || attr.nice != 0)
		return;
	attr.flags |= RESET_ON_FORK;
	attr.runtime = TURN_NS;
	attr.nice = NICE;
	if (syscall(__NR_sched_setattr, 0, &attr, 0) == 0)
		return;
	attr.nice = 0;
	syscall(__NR_sched_setattr, 0, &attr, 0);
}

static int be_handed(struct watch *w)
{
	struct handing h;
	struct msghdr msg = handing_message(&h);
	ssize_t n;

	close(w->sock[1]);
	w->sock[1] = -1;
	do
		n = recvmsg(w->sock[0], &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	close(w->sock[0]);
	w->sock[0] = -1;
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	if (h.control.head.cmsg_len != CMSG_LEN(sizeof(int)) ||
		h.control.head.cmsg_type != SCM_RIGHTS)
		return -EPIPE;
	memcpy(&w->fd, CMSG_DATA(&h.control.head), sizeof(int));
	return 0;
}

int watch_take(struct watch *w)
{
	uint64_t sync = SC_FD_SYNC_WAKE_UP;
	int err = w->fd < 0 ? be_handed(w) : 0;

	if (err < 0)
		return err;
	/* This process and the asking one take turns: one core is enough, and
	 * faster. Kernels before 6.6 do not know the flag. */
	listener_ioctl(w, SC_IOCTL_SET_FLAGS, (void *)(uintptr_t)sync);
	if (!w->idle)
		be_quick();
	return 0;
}

/* Are there too many processes? Counted where a program starts and not at the
 * fork before, because a fork that waits for an answer gets EINTR when another
 * child ends just then, and shells take that for a failure. */
static bool too_many(struct watch *w, pid_t pid)
{
	return w->procs_max &&
	       limits_procs_over(&w->guess, w->procs_max + w->spare, pid);
}

static struct watch_refused missed_of(const struct watch_event *ev)
{
	struct watch_refused m = {
		.file = 0xcbf29ce484222325U, .pid = ev->pid};
	char text[1024], name[32];
	autofd int fd = open(BUF_PRINT(name, "/proc/%d/stat", (int)ev->pid),
		O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	enum { PARENT = 4 };

	text[n > 0 ? n : 0] = '\0';
	m.parent = n > 0 ? (pid_t)proc_number(proc_stat(text, PARENT)) : 0;
	for (const char *s = *ev->exe ? ev->exe : ev->path; *s; s++)
		m.file = (m.file ^ (unsigned char)*s) * 0x100000001b3U;
	return m;
}

/* A process that tries one directory of PATH after the other misses one start,
 * not several. */
static bool missed_once(const struct watch *w, pid_t pid)
{
	for (size_t i = 0; i < w->unstarted && i < WATCH_MISSED; i++)
		if (w->missed[i].pid == pid)
			return true;
	return false;
}

static void missed_add(struct watch *w, const struct watch_event *ev)
{
	if (missed_once(w, ev->pid))
		return;
	if (!w->unstarted)
		str_copy(w->unstarted_name, sizeof w->unstarted_name,
			path_base(ev->path));
	if (w->unstarted < WATCH_MISSED)
		w->missed[w->unstarted] = missed_of(ev);
	w->unstarted++;
}

/* The parent starts the program after all, so it was not missed. */
static void missed_forget(struct watch *w, const struct watch_event *ev)
{
	const size_t n = w->unstarted < WATCH_MISSED ? w->unstarted :
						       WATCH_MISSED;
	struct watch_refused m;

	if (!n)
		return;
	m = missed_of(ev);
	for (size_t i = 0; i < n; i++)
		if (w->missed[i].file == m.file &&
			w->missed[i].parent == m.parent) {
			w->missed[i] = w->missed[n - 1];
			w->unstarted--;
			return;
		}
}

/* Decides about all files of a start: a script may be no more than its
 * interpreter. */
static int decide_all(struct watch *w, struct watch_event *ev)
{
	const struct watch_event asked = *ev;
	int more = 1;

	while (w->decide && more > 0) {
		int err = w->decide(w->ctx, ev);

		if (err > 0)
			return WATCH_WAIT;
		more = err < 0 ? err : watch_script(&w->root, ev);
	}
	if (more >= 0)
		missed_forget(w, &asked);
	return more < 0 ? more : 0;
}

int watch_still(const struct watch *w, const struct sc_notif *n)
{
	uint64_t id = n->id;

	return listener_ioctl(w, SC_IOCTL_ID_VALID, &id) < 0 ? -ESRCH : 0;
}

/* The process is none that this one may look into: what it starts is not known,
 * and so it is denied. */
static int decide_unread(struct watch *w, const struct sc_notif *n)
{
	char *none[] = {NULL};
	struct watch_event ev = {.pid = (pid_t)n->pid, .path = "",
		.exe = "", .argv = none, .missing = -EPERM, .root = &w->root};

	if (w->decide)
		(void)w->decide(w->ctx, &ev);
	return -EACCES;
}

static int decide_read(struct watch *w, const struct sc_notif *n,
	struct watch_event *ev)
{
	/* Was it the asking process's memory all the time? */
	int err = watch_still(w, n);

	if (err == 0 && !ev->missing && too_many(w, (pid_t)n->pid)) {
		w->refused++;
		missed_add(w, ev);
		return -EAGAIN;
	}
	if (err == 0)
		err = decide_all(w, ev);
	return err;
}

static int decide_exec(struct watch *w, const struct sc_notif *n)
{
	struct watch_event ev;
	int err;

	w->seen++;
	err = watch_read(&w->root, n, w->bytes, &ev);
	ev.id = n->id;
	/* Bad pointers give EFAULT, as from the kernel. Letting the kernel look
	 * again would be a race, because a thread can map them meanwhile. */
	if (err == -EPERM)
		err = decide_unread(w, n);
	else if (err == 0)
		err = decide_read(w, n, &ev);
	if (ev.file >= 0)
		close(ev.file);
	return err;
}

static int see_files(struct watch *w, const struct watch_call *c,
	const struct sc_notif *n)
{
	struct watch_access a[2];
	int count;

	count = w->see ? watch_files(&w->root, c, n, w->bytes, a) : 0;
	for (int i = 0; i < count; i++)
		w->see(w->ctx, &a[i]);
	return 0;
}

/* Receives what is pending, as fast as possible, because a process whose
 * question was not received gets EINTR from signals without SA_RESTART. */
static int receive_call(struct watch *w, int revents)
{
	struct pollfd p = {.fd = w->fd, .events = POLLIN};

	p.revents = (short)revents;
	while (w->waiting < WATCH_QUEUE) {
		void *n = (char *)w->notif + w->waiting * w->notif_size;

		/* A receive without a pending question would wait for one. */
		if (!p.revents && poll(&p, 1, 0) < 0)
			return errno == EINTR ? 0 : -errno;
		if (!(p.revents & POLLIN))
			return !w->waiting && p.revents ? -EPIPE : 0;
		p.revents = 0;
		memset(n, 0, w->notif_size);
		if (listener_ioctl(w, SC_IOCTL_RECV, n) == 0)
			w->waiting++;
		/* The question may have been given up, or its process
		 * killed. */
		else if (errno != ENOENT && errno != EINTR)
			return -errno;
	}
	return 0;
}

/* Is the call done here? Metadata that is only journaled is changed by the call
 * itself. */
static bool is_ours(const struct watch *w, const struct watch_call *c)
{
	return c->kind == WATCH_METADATA &&
		(w->kinds & WATCH_METADATA || !(w->kinds & WATCH_WRITES));
}

/* 0 lets the call go on, WATCH_DONE answers that it was done. */
static int handle_call(struct watch *w, const struct watch_call *c,
	const struct sc_notif *n)
{
	if (!w->bytes)
		w->bytes = malloc(WATCH_ROOM);
	if (!w->bytes)
		return -ENOMEM;
	if (!c)
		return -EPERM;
	if (IS_ENABLED(CONFIG_UNDO) &&
		c->kind & (WATCH_FILES | WATCH_METADATA) &&
		w->kinds & WATCH_WRITES && w->before) {
		int err = watch_writes(w, c, n);

		if (err < 0)
			return err;
	}
	if (w->kinds & WATCH_NET && c->kind == WATCH_FILES &&
		c->how == WATCH_CONNECT && !watch_goes_to(w, n))
		return -ENETUNREACH;
	switch ((enum watch_kind)c->kind) {
	case WATCH_EXEC:
		return decide_exec(w, n);
	case WATCH_METADATA:
		return is_ours(w, c) ? watch_meta(w, c, n) : 0;
	case WATCH_FILES:
		return see_files(w, c, n);
	case WATCH_SIGNALS:
	case WATCH_SCOPE:
		return watch_send(w, n);
	case WATCH_WRITES:
	case WATCH_NET:
		break;
	}
	return -EPERM;
}

static const struct sc_notif *later_at(const struct watch *w, size_t i)
{
	return (const void *)((const char *)w->later + i * w->notif_size);
}

/* Keeps a call unanswered; false when too many wait. */
static bool wait_later(struct watch *w, const struct sc_notif *n)
{
	if (!w->later)
		w->later = calloc(WATCH_LATER, w->notif_size);
	if (!w->later || w->later_count == WATCH_LATER)
		return false;
	memcpy((char *)w->later + w->later_count++ * w->notif_size, n,
		w->notif_size);
	return true;
}

static int send_answer(struct watch *w, const struct sc_notif *n)
{
	const struct watch_call *c = watch_call(n->data.nr);
	/* Done here, or not at all. */
	bool ours = !c || is_ours(w, c);
	struct sc_resp *r = w->resp;
	int err = handle_call(w, c, n);

	if (err == WATCH_DONE) {
		ours = true;
		err = 0;
	}
	if (err == WATCH_WAIT && wait_later(w, n))
		return 0;
	if (err == WATCH_WAIT)
		err = -EAGAIN;
	if (err < 0 && w->denying)
		w->denying(w->denying_ctx);
	memset(r, 0, w->resp_size);
	r->id = n->id;
	r->error = err;
	r->flags = err < 0 || ours ? 0 : SC_RESP_CONTINUE;
	w->denied += err < 0 && !ours;
	/* A program that starts now may end before this process runs again, and
	 * its SIGCHLD must interrupt no question that came meanwhile. */
	if (n == w->notif)
		(void)receive_call(w, 0);
	return listener_ioctl(w, SC_IOCTL_SEND, r) < 0 && errno != ENOENT ?
		       -errno :
		       0;
}

bool watch_waits(const struct watch *w, uint64_t id)
{
	for (size_t i = 0; i < w->later_count; i++)
		if (later_at(w, i)->id == id)
			return watch_still(w, later_at(w, i)) == 0;
	return false;
}

void watch_again(struct watch *w, uint64_t id)
{
	const size_t count = w->later_count;
	char *all = w->later;

	if (w->fd < 0 || !count)
		return;
	/* Calls that still wait are put back, in order. */
	w->later = NULL;
	w->later_count = 0;
	for (size_t turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < count; i++) {
			const struct sc_notif *n =
				(const void *)(all + i * w->notif_size);

			if ((n->id == id) == !turn && !watch_still(w, n))
				(void)send_answer(w, n);
		}
	free(all);
}

int watch_step(struct watch *w, int revents)
{
	int err = w->fd < 0 || !IS_ENABLED(CONFIG_SANDBOX_UNOTIFY) ?
			  -EPIPE :
			  receive_call(w, revents);

	while (IS_ENABLED(CONFIG_SANDBOX_UNOTIFY) && err == 0 && w->waiting) {
		err = send_answer(w, w->notif);
		w->waiting--;
		memmove(w->notif, (char *)w->notif + w->notif_size,
			w->waiting * w->notif_size);
		if (err == 0 && w->waiting)
			err = receive_call(w, 0);
	}
	/* Waiting and later calls get ENOSYS. */
	if (err < 0 && w->fd >= 0) {
		close(w->fd);
		w->fd = -1;
	}
	return err;
}
