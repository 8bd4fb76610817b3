/* run_stdio.c - which of the command's descriptors are stood between, and how
 * SPDX-License-Identifier: MIT
 */
#include "run/run_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "run/run_pty_in.h"

enum {
	FIRST = 16, /* the first block: most have fewer descriptors */
	BLOCK = 128,
	INHERITED_END = 8 * BLOCK,
	READ_BACK = 16384,
	FILE_TAIL = 16 << 20, /* at most so much of a file's end is read back */
};

/* The number of open descriptors, at most. Kernels before 6.2, and a /proc that
 * is not mounted, do not tell it. */
static size_t open_count(void)
{
	struct stat st;

	if (stat("/proc/self/fd", &st) < 0 || st.st_size <= 0)
		return INHERITED_END;
	return (size_t)st.st_size;
}

size_t run_inherited(int *fds, size_t max)
{
	size_t count = 0, left = open_count();

	/* poll() answers POLLNVAL for closed descriptors: one call for a
	 * block. */
	for (int from = 0, n = FIRST; left && from < INHERITED_END;
		from += n, n = BLOCK) {
		struct pollfd ask[BLOCK];

		for (int i = 0; i < n; i++)
			ask[i] = (struct pollfd){.fd = from + i};
		/* If so many are not allowed, poll() fails, and each is asked
		 * alone. */
		(void)poll(ask, (nfds_t)n, 0);
		for (int i = 0; i < n && left && count < max; i++) {
			int fd = from + i, flags = FD_CLOEXEC;

			if (ask[i].revents & POLLNVAL)
				continue;
			if (fd > STDERR_FILENO)
				flags = fcntl(fd, F_GETFD);
			left -= flags >= 0;
			if (flags >= 0 && !(flags & FD_CLOEXEC))
				fds[count++] = fd;
		}
	}
	return count;
}

static bool is_writable(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_PATH) &&
	       (flags & O_ACCMODE) != O_RDONLY;
}

/* Was the descriptor open when this process was started? A stand-in for a
 * closed one is marked close-on-exec. */
static bool was_given(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags >= 0 && !(flags & FD_CLOEXEC);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static bool local_socket(int fd)
{
	int domain = 0, type = 0;
	socklen_t size = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
	       domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
	       type == SOCK_STREAM;
}

/* Interposes a pipe. If the stream cannot be seen, the command does not run: 0,
 * or an error. */
static int interpose_pipe(struct run_state *st, enum run_pump which, int fd,
	enum run_stream stream, bool socket)
{
	struct pump *p = &st->pumps[which];
	int pair[2]; /* our end, and the command's */

	if (socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)
		   : pipe2(pair, O_CLOEXEC))
		return diag_errno(st->d, -errno, "cannot attend to output");
	fcntl(pair[0], F_SETFL, fcntl(pair[0], F_GETFL) | O_NONBLOCK);
	*p = (struct pump){.live = true,
		.from = pair[0],
		.to = st->spec->swallow ? -1 : fd,
		.to_socket = socket,
		.spliced = !socket && !st->spec->swallow,
		.show = run_show,
		.ctx = st,
		.tag = (int)stream};
	st->theirs[which] = pair[1];
	st->setup.fd[fd] = pair[1];
	st->result->captured |= 1U << stream;
	return 0;
}

static bool is_wanted(const struct run_state *st)
{
	const struct run_spec *spec = st->spec;

	return spec->mode != RUN_DIRECT &&
	       ((spec->sink && spec->sink->bytes) || spec->output_hard);
}

static void watch_file(struct run_state *st, int fd, const struct stat *now)
{
	struct run_file *f = &st->files[fd];
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || flags & O_PATH ||
		(!fd && (flags & O_ACCMODE) == O_WRONLY))
		return;
	f->append = fd && flags & O_APPEND;
	f->start = f->append ? now->st_size : lseek(fd, 0, SEEK_CUR);
	f->on = f->start >= 0;
}

/* Another descriptor for the same pipe becomes the same stream, so that the
 * order of 1 and 2 stays. */
static int follow_pipe(struct run_state *st, const struct stat *was, int end)
{
	const int *fds = st->spec->inherited;

	int err = 0;

	for (size_t i = 0; !err && i < st->spec->inherited_count; i++) {
		struct stat s;

		if (fstat(fds[i], &s) == 0 && same_file(&s, was) &&
			is_writable(fds[i]))
			err = proc_also(&st->setup, end, fds[i]);
	}
	return err ? diag_errno(st->d, err, "too many descriptors of a pipe")
		   : 0;
}

static int open_output(
	struct run_state *st, int fd, const struct stat *in, struct stat *out)
{
	enum run_pump which = fd == 1 ? RUN_OUT : RUN_ERR;
	enum run_stream stream = fd == 1 ? RUN_STDOUT : RUN_STDERR;
	struct stat *now = &out[fd];
	bool socket;
	int err;

	if (!was_given(fd) || fstat(fd, now) < 0 || st->setup.fd[fd] >= 0)
		return 0;
	if (fd == 2 && st->theirs[RUN_OUT] >= 0 && is_writable(2) &&
		same_file(now, &out[1])) {
		st->setup.fd[2] = st->theirs[RUN_OUT];
		return 0;
	}
	if (S_ISREG(now->st_mode) && is_writable(fd)) {
		if (fd == 1 || !st->files[1].on || !same_file(now, &out[1]))
			watch_file(st, fd, now);
		return 0;
	}
	socket = S_ISSOCK(now->st_mode);
	if (socket ? !local_socket(fd) || same_file(now, in)
		   : !S_ISFIFO(now->st_mode) || !is_writable(fd))
		return 0;
	err = interpose_pipe(st, which, fd, stream, socket);
	return err ? err : follow_pipe(st, now, st->theirs[which]);
}

int run_stdio_open(struct run_state *st)
{
	struct stat in = {0}, out[3];
	int err;

	memset(out, 0, sizeof(out));
	if (st->spec->mode == RUN_PTY) {
		err = run_pty_open(st);
		if (err)
			return err;
	}
	if (!is_wanted(st))
		return 0;
	if (fstat(0, &in) < 0)
		in = (struct stat){0};
	/* Bytes of a pipe on 0 could only be seen by taking them from other
	 * readers; a file can be read again. */
	if (was_given(0) && st->setup.fd[0] < 0 && S_ISREG(in.st_mode))
		watch_file(st, 0, &in);
	if (st->spec->swallow) {
		err = interpose_pipe(st, RUN_OUT, 1, RUN_STDOUT, false);
		return err ? err :
			     interpose_pipe(st, RUN_ERR, 2, RUN_STDERR, false);
	}
	err = open_output(st, 1, &in, out);
	return err ? err : open_output(st, 2, &in, out);
}

int run_stdio_errors(const struct run_state *st)
{
	for (int i = RUN_OUT; i <= RUN_ERR; i++)
		if (st->theirs[i] >= 0 && st->setup.fd[2] == st->theirs[i])
			return st->pumps[i].to_socket ? -1 : st->pumps[i].from;
	return -1;
}

void run_stdio_close_theirs(struct run_state *st)
{
	for (size_t i = 0; i < RUN_PUMPS; i++) {
		if (st->theirs[i] >= 0)
			close(st->theirs[i]);
		st->theirs[i] = -1;
	}
	if (st->pty.slave >= 0)
		close(st->pty.slave);
	st->pty.slave = -1;
	if (st->talk[1] >= 0)
		close(st->talk[1]);
	st->talk[1] = -1;
}

static bool is_needed(const struct run_state *st, int fd)
{
	const struct run_spec *spec = st->spec;

	if (!st->living && (spec->keep_fds || (fd == 2 && spec->keep_stderr)))
		return true;
	for (size_t i = 0; i < RUN_PUMPS; i++)
		if (!pump_ended(&st->pumps[i]) && st->pumps[i].to == fd)
			return true;
	return fd <= 2 && st->files[fd].on;
}

void run_stdio_let_go(struct run_state *st, int fd)
{
	if (is_needed(st, fd))
		return;
	if (st->null < 0)
		st->null = open("/dev/null", O_PATH | O_CLOEXEC);
	if (st->null < 0 || dup3(st->null, fd, O_CLOEXEC) < 0)
		close(fd);
}

void run_stdio_release(struct run_state *st)
{
	int fds[64];
	size_t n;

	if (st->spec->keep_fds && !st->living)
		return;
	for (int fd = 0; fd <= 2; fd++)
		if (was_given(fd))
			run_stdio_let_go(st, fd);
	do {
		n = run_inherited(fds, 64);
		for (size_t i = 0; i < n; i++)
			close(fds[i]);
	} while (n == 64);
}

/* The sink had enough of a file: tells the sink how much it did not see, and
 * shows the last bytes, which cost nothing with a file. */
static int show_file_tail(struct run_state *st, enum run_stream stream, int fd,
	off_t from, off_t to, char *bytes, size_t size)
{
	const struct run_sink *sink = st->spec->sink;
	int err = 0;

	if (to - from > FILE_TAIL)
		err = sink->skipped(sink->ctx, stream,
			(uint64_t)(to - from - FILE_TAIL));
	from = to - from > FILE_TAIL ? to - FILE_TAIL : from;
	while (from < to && err >= 0) {
		size_t want = size;
		ssize_t n;

		if ((off_t)want > to - from)
			want = (size_t)(to - from);
		n = pread(fd, bytes, want, from);
		if (n <= 0)
			return sink->skipped(
				sink->ctx, stream, (uint64_t)(to - from));
		err = sink->bytes(sink->ctx, stream, bytes, (size_t)n, true);
		from += n;
	}
	return err < 0 ? err : 0;
}

/* Shows the bytes of a file between two places. */
static int show_file(struct run_state *st, int fd, off_t from, off_t to)
{
	static const enum run_stream streams[] = {
		RUN_STDIN, RUN_STDOUT, RUN_STDERR};
	struct pump like = {.from = -1, .to = -1};
	char path[32], bytes[READ_BACK / 4];
	enum run_stream stream = streams[fd];
	autofd int again = -1;

	st->result->bytes[stream] = (uint64_t)(to - from);
	if (!st->spec->sink || !st->spec->sink->bytes)
		return 0;
	again = open(BUF_PRINT(path, "/proc/self/fd/%d", fd),
		O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (again < 0)
		return 0;
	st->result->captured |= 1U << stream;
	like.tag = (int)stream;
	while (from < to) {
		size_t want = sizeof(bytes);
		ssize_t n;
		int answer;

		if ((off_t)want > to - from)
			want = (size_t)(to - from);
		n = pread(again, bytes, want, from);
		if (n <= 0)
			break;
		answer = run_show(st, &like, bytes, (size_t)n);
		from += n;
		if (answer == PUMP_TAIL)
			return show_file_tail(st, stream, again, from, to,
				bytes, sizeof(bytes));
		if (answer != PUMP_MORE)
			return answer < 0 ? answer : 0;
	}
	return 0;
}

int run_stdio_files(struct run_state *st)
{
	int err = 0;

	for (int fd = 0; fd <= 2 && err == 0; fd++) {
		struct run_file *f = &st->files[fd];
		struct stat s;
		off_t end;

		if (!f->on || fstat(fd, &s) < 0)
			continue;
		end = f->append ? s.st_size : lseek(fd, 0, SEEK_CUR);
		if (end > s.st_size)
			end = s.st_size;
		if (end > f->start)
			err = show_file(st, fd, f->start, end);
	}
	return err;
}

void run_stdio_close(struct run_state *st)
{
	run_stdio_close_theirs(st);
	for (size_t i = 0; i < RUN_PUMPS; i++) {
		pump_end(&st->pumps[i]);
		pump_tail_close(&st->pumps[i].tail);
	}
	if (st->null >= 0)
		close(st->null);
	st->null = -1;
}
