/* serve_command.c - the streams of a command, and how it ends
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_in.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

enum {
	READ_MAX = 256 << 10, /* of one stream in one round */
	DROP_MIN = 16 << 10,
	DRAIN_TURNS = 16,
	KILL_MS = 1000,
};
static const char ctrl_d = '\4';

void command_changed(struct serve_command *c)
{
	for (struct serve_reader *r = c->readers, *next; r; r = next) {
		next = r->next;
		r->changed(r);
	}
}

static void stream_empty(struct serve_command *c, enum serve_stream s)
{
	c->engine->kept -= c->ring[s].cap;
	ring_release(&c->ring[s]);
}

void command_empty(struct serve_command *c)
{
	for (enum serve_stream s = 0; s < SERVE_STREAMS; s++)
		stream_empty(c, s);
}

/* Room in the engine's memory, if need be that of commands that have ended. */
static bool make_room(struct serve *s, size_t more)
{
	while (s->kept + more > SERVE_KEPT_MAX) {
		struct serve_command *oldest = NULL;

		for (struct serve_command *c = s->first; c; c = c->next)
			if (c->ended && !c->readers &&
				(c->ring[0].cap || c->ring[1].cap))
				oldest = c;
		if (!oldest)
			return false;
		command_empty(oldest);
	}
	return true;
}

/* How many of the oldest bytes may go: those that all who are waited for have. */
static uint64_t may_drop(const struct serve_command *c, enum serve_stream s)
{
	uint64_t least = c->ring[s].begin + DROP_MIN;

	for (const struct serve_reader *r = c->readers; r; r = r->next)
		if (!r->looks && r->at[s] < least)
			least = r->at[s];
	return least > c->ring[s].begin ? least - c->ring[s].begin : 0;
}

/* Where the next bytes go; 0: the command is to wait. */
static int find_room(struct serve_command *c, enum serve_stream s,
	struct iovec to[static 2])
{
	struct serve_ring *r = &c->ring[s];
	size_t more = r->cap ? r->cap : SERVE_RING_MIN;
	int n = ring_room(r, to);

	if (n)
		return n;
	if (r->cap + more <= c->engine->ring_max &&
		(!r->cap || make_room(c->engine, more)) && !ring_grow(r)) {
		c->engine->kept += more;
		return ring_room(r, to);
	}
	ring_drop(r, may_drop(c, s));
	return ring_room(r, to);
}

static void close_fd(struct serve_command *c, struct serve_watch *w, int *fd)
{
	serve_watch_stop(&c->engine->loop, w);
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Bytes of one stream. 1: there may be more; 0: none now; -EAGAIN: the ring is
 * full, and it waits for a reader. */
static int read_stream(struct serve_command *c, enum serve_stream s)
{
	struct iovec to[2];
	size_t left = READ_MAX;
	ssize_t n;
	int count = find_room(c, s, to);

	if (!count) {
		serve_watch_stop(&c->engine->loop, &c->output[s]);
		return -EAGAIN;
	}
	for (int i = 0; i < count; i++) {
		to[i].iov_len = to[i].iov_len < left ? to[i].iov_len : left;
		left -= to[i].iov_len;
	}
	n = readv(c->fd[s], to, count);
	if (n > 0) {
		c->ring[s].end += (uint64_t)n;
		return 1;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	/* A terminal that nobody has open any more gives EIO. */
	close_fd(c, &c->output[s], &c->fd[s]);
	if (!c->ring[s].end)
		stream_empty(c, s);
	return 0;
}

/* Each line that is whole: a question, and at last how it went. */
static void take_lines(struct serve_command *c)
{
	char *end;

	while (c->told.len && (end = memchr(c->told.data, '\n', c->told.len))) {
		size_t n = (size_t)(end - c->told.data);

		(void)serve_report_read(
			&c->report, c->question, c->told.data, n);
		buf_consume(&c->told, n + 1);
	}
}

/* What exec has said; false: nothing more is there now. */
static bool read_said(struct serve_command *c)
{
	char *to = buf_reserve(&c->told, 4096);
	ssize_t n = to ? read(c->said.fd, to, 4096) : 0;

	if (n > 0) {
		c->told.len += (size_t)n;
		take_lines(c);
		return true;
	}
	if (n == 0 || errno != EAGAIN) {
		int fd = c->said.fd;

		serve_watch_stop(&c->engine->loop, &c->said);
		close(fd);
	}
	return false;
}

static void said_ready(struct serve_watch *w, uint32_t events)
{
	struct serve_command *c = CONTAINER(w, struct serve_command, said);

	(void)events;
	if (read_said(c))
		command_changed(c);
}

/* Exec writes its report before it ends; a process that lives on may hold the
 * pipe. */
static void take_report(struct serve_command *c)
{
	while (c->said.fd >= 0 && read_said(c))
		;
	if (c->said.fd >= 0) {
		int fd = c->said.fd;

		serve_watch_stop(&c->engine->loop, &c->said);
		close(fd);
	}
	buf_release(&c->told);
	c->told = BUF_INIT(0);
	c->question[0] = '\0';
	if (c->report.there)
		return;
	/* Exec was killed, or refused its options: what the kernel tells. */
	c->report = (struct serve_report){.code = WEXITSTATUS(c->status)};
	if (WIFSIGNALED(c->status)) {
		c->report.signal = WTERMSIG(c->status);
		c->report.code = 128 + c->report.signal;
	}
}

static void conclude_command(struct serve_command *c)
{
	take_report(c);
	c->ended = true;
	c->ended_ns = clock_ns(CLOCK_REALTIME);
	c->engine->running--;
	c->engine->ended++;
	serve_timer_stop(&c->engine->loop, &c->kill);
	close_fd(c, &c->input, &c->in);
	buf_release(&c->waiting);
	c->waiting = BUF_INIT(0);
}

/* Reads what the process has left in its pipes; it has ended when all of that
 * is here. */
static void drain_streams(struct serve_command *c)
{
	for (enum serve_stream s = 0; s < SERVE_STREAMS; s++) {
		int more = 1;

		/* More than a pipe holds is somebody's who lives on. */
		for (int i = 0; c->fd[s] >= 0 && more > 0 && i < DRAIN_TURNS; i++)
			more = read_stream(c, s);
		if (more < 0)
			return;
	}
	if (!c->ended)
		conclude_command(c);
}

static void read_ready(struct serve_command *c, enum serve_stream s)
{
	(void)read_stream(c, s);
	if (c->gone && !c->ended)
		drain_streams(c);
	command_changed(c);
}

static void out_ready(struct serve_watch *w, uint32_t events)
{
	(void)events;
	read_ready(CONTAINER(w, struct serve_command, output[SERVE_OUT]),
		SERVE_OUT);
}

static void err_ready(struct serve_watch *w, uint32_t events)
{
	(void)events;
	read_ready(CONTAINER(w, struct serve_command, output[SERVE_ERR]),
		SERVE_ERR);
}

static void process_ready(struct serve_watch *w, uint32_t events)
{
	struct serve_command *c = CONTAINER(w, struct serve_command, process);
	int fd = w->fd;

	(void)events;
	/* What was stopped leaves nothing running: a process that a shell had
	 * just started has not heard of it. The zombie keeps the group's name. */
	if (c->stopping)
		kill(-c->pid, SIGKILL);
	if (waitpid(c->pid, &c->status, WNOHANG) == 0)
		return;
	serve_watch_stop(&c->engine->loop, w);
	close(fd);
	c->gone = true;
	drain_streams(c);
	command_changed(c);
	serve_trim(c->engine);
}

static void command_resume(struct serve_command *c, enum serve_stream s)
{
	if (c->fd[s] < 0 || c->output[s].fd >= 0)
		return;
	(void)serve_watch_set(
		&c->engine->loop, &c->output[s], c->fd[s], EPOLLIN);
}

/* Writes the input that waits, as far as the command reads. */
static void feed_input(struct serve_command *c)
{
	ssize_t n = 0;

	while (c->waiting.len && n >= 0) {
		n = write(c->in, c->waiting.data, c->waiting.len);
		if (n > 0)
			buf_consume(&c->waiting, (size_t)n);
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		(void)serve_watch_set(
			&c->engine->loop, &c->input, c->in, EPOLLOUT);
		return;
	}
	serve_watch_stop(&c->engine->loop, &c->input);
	if (n < 0 || c->closing)
		close_fd(c, &c->input, &c->in);
}

static void input_ready(struct serve_watch *w, uint32_t events)
{
	struct serve_command *c = CONTAINER(w, struct serve_command, input);

	(void)events;
	feed_input(c);
	if (!c->waiting.len)
		command_changed(c);
}

static void kill_due(struct serve_timer *t)
{
	struct serve_command *c = CONTAINER(t, struct serve_command, kill);

	if (!c->gone)
		kill(c->pid, SIGKILL);
}

static void resized_due(struct serve_timer *t)
{
	command_changed(CONTAINER(t, struct serve_command, resized));
}

int command_watch(struct serve_command *c, int pidfd, int said)
{
	struct serve_loop *l = &c->engine->loop;
	int err;

	c->process.ready = process_ready;
	c->output[SERVE_OUT].ready = out_ready;
	c->output[SERVE_ERR].ready = err_ready;
	c->input.ready = input_ready;
	c->kill.due = kill_due;
	c->resized.due = resized_due;
	c->said.ready = said_ready;
	err = serve_watch_set(l, &c->process, pidfd, EPOLLIN);
	if (!err)
		err = serve_watch_set(l, &c->said, said, EPOLLIN);
	for (enum serve_stream s = 0; s < SERVE_STREAMS && !err; s++)
		if (c->fd[s] >= 0)
			err = serve_watch_set(
				l, &c->output[s], c->fd[s], EPOLLIN);
	return err;
}

int serve_write(struct serve_command *c, const void *bytes, size_t n)
{
	if (c->in < 0 || c->closing)
		return -EPIPE;
	if (c->waiting.len + n > SERVE_INPUT_MAX)
		return -ENOBUFS;
	buf_add(&c->waiting, bytes, n);
	if (c->waiting.err)
		return c->waiting.err;
	feed_input(c);
	return 0;
}

int serve_shut(struct serve_command *c)
{
	if (c->pty)
		return serve_write(c, &ctrl_d, 1);
	if (c->in < 0)
		return -EPIPE;
	c->closing = true;
	feed_input(c);
	return 0;
}

int serve_resize(
	struct serve_command *c, unsigned short rows, unsigned short cols)
{
	const struct winsize size = {.ws_row = rows, .ws_col = cols};

	if (!c->pty || c->fd[SERVE_OUT] < 0)
		return -ENOTTY;
	if (ioctl(c->fd[SERVE_OUT], TIOCSWINSZ, &size))
		return -errno;
	c->rows = rows;
	c->cols = cols;
	/* Whoever follows it is told in a moment, because one of them may be who
	 * asks. */
	serve_timer_set(&c->engine->loop, &c->resized, 0);
	return 0;
}

int serve_signal(struct serve_command *c, int sig)
{
	/* As a terminal would: to the shell and what it waits for. Exec itself
	 * knows what came to all of its group. */
	bool group = !c->pty && sig != SIGKILL;

	return c->gone || kill(group ? -c->pid : c->pid, sig) ? -ESRCH : 0;
}

void serve_stop(struct serve_command *c)
{
	c->stopping = true;
	if (serve_signal(c, SIGTERM) == 0)
		serve_timer_set(
			&c->engine->loop, &c->kill, KILL_MS * 1000000ULL);
}

void serve_attach(struct serve_command *c, struct serve_reader *r)
{
	r->command = c;
	r->next = c->readers;
	c->readers = r;
}

/* Streams that waited for the slowest reader go on. */
static void resume_all(struct serve_command *c)
{
	for (enum serve_stream s = 0; s < SERVE_STREAMS; s++)
		command_resume(c, s);
}

void serve_detach(struct serve_reader *r)
{
	struct serve_command *c = r->command;

	if (!c)
		return;
	LIST_DROP(c->readers, r);
	r->command = NULL;
	resume_all(c);
}

void serve_took(struct serve_reader *r, enum serve_stream stream, size_t n)
{
	r->at[stream] += n;
	command_resume(r->command, stream);
}
