/* serve_mcp_link.c - lines from an MCP client, and lines back
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_mcp_in.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	READ_SIZE = 65536,
	PIECE = 4096, /* a pipe that is ready takes it at once */
	LAST_NS = 1000000000, /* for what is asked when the client goes */
};

static void link_over(struct mcp_link *l)
{
	void (*over)(struct mcp_link *l) = l->over;

	l->over = NULL;
	if (over)
		over(l);
}

/* Some of it, without waiting. -errno; -EAGAIN: later. */
static ssize_t write_some(int fd, const char *bytes, size_t n)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	ssize_t done = send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (done < 0 && errno == ENOTSOCK) {
		if (poll(&p, 1, 0) == 0)
			return -EAGAIN;
		done = write(fd, bytes, n < PIECE ? n : PIECE);
	}
	return done < 0 ? -errno : done;
}

void mcp_flush(struct mcp_link *l)
{
	size_t at = 0;
	ssize_t n = 0;

	while (at < l->answers.len && n >= 0) {
		n = write_some(l->out, l->answers.data + at,
			l->answers.len - at);
		at += n > 0 ? (size_t)n : 0;
	}
	buf_consume(&l->answers, at);
	if (l->answers.err || (n < 0 && n != -EAGAIN && n != -EINTR)) {
		l->ended = true;
		link_over(l);
		return;
	}
	if (!l->answers.len)
		serve_watch_stop(&l->engine->loop, &l->write);
	else if (serve_watch_set(
			 &l->engine->loop, &l->write, l->out, EPOLLOUT))
		link_over(l);
	if (l->ended && !l->calls && !l->answers.len)
		link_over(l);
}

void mcp_link_line(struct mcp_link *l, const char *line, size_t n)
{
	automcp struct mcp_message m = {.method = MCP_OTHER};
	int err = mcp_read(&m, line, n, l->initialized);

	if (err == MCP_VERSION) {
		mcp_error_version(&l->answers, &m.id, m.version);
	} else if (err) {
		/* What has no id is no question, unless it is no message. */
		if (m.id.len || err == MCP_PARSE || err == MCP_REQUEST)
			mcp_error(&l->answers, &m.id, err, m.said);
	} else if (m.method == MCP_INITIALIZE) {
		l->initialized = true;
		mcp_initialize(&l->answers, &m, l->version);
	} else if (m.method == MCP_DISCOVER) {
		mcp_discover(&l->answers, &m, l->version);
	} else if (m.method == MCP_LIST) {
		mcp_list(&l->answers, &m, l->version);
	} else if (m.method == MCP_CALL) {
		mcp_do(l, &m);
	} else if (m.method == MCP_CANCELLED) {
		mcp_cancel(l, &m.cancelled);
	} else if (m.method == MCP_PING) {
		struct json j = JSON_INIT(&l->answers);

		mcp_begin(&j, &m.id, m.modern, l->version);
		mcp_end(&j);
	}
}

/* Each whole line; what is left waits for its end. */
static void take_lines(struct mcp_link *l)
{
	static const struct mcp_token none;
	size_t at = 0;
	char *end;

	while ((end = memchr(l->line.data + at, '\n', l->line.len - at))) {
		size_t n = (size_t)(end - l->line.data) - at;

		if (!l->skipping && n)
			mcp_link_line(l, l->line.data + at, n);
		l->skipping = false;
		at += n + 1;
	}
	buf_consume(&l->line, at);
	if (l->line.len < MCP_LINE_MAX)
		return;
	if (!l->skipping)
		mcp_error(&l->answers, &none, MCP_REQUEST,
			"the line is longer than 4 MiB");
	l->skipping = true;
	buf_clear(&l->line);
}

/* The client has gone: what it waits for may end soon, or is ended. */
static void client_gone(struct mcp_link *l)
{
	l->ended = true;
	serve_watch_stop(&l->engine->loop, &l->read);
	for (struct mcp_call *c = l->first; c; c = c->next)
		serve_timer_set(&l->engine->loop, &c->tick, LAST_NS);
}

static void read_ready(struct serve_watch *w, uint32_t events)
{
	struct mcp_link *l = CONTAINER(w, struct mcp_link, read);
	char *to = buf_reserve(&l->line, READ_SIZE);
	ssize_t n = to ? read(l->in, to, READ_SIZE) : 0;

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		l->line.len += (size_t)n;
		take_lines(l);
	} else {
		client_gone(l);
	}
	/* One that asks and does not read is not asked for more. */
	if (l->answers.len > MCP_OUT_ENOUGH)
		serve_watch_stop(&l->engine->loop, &l->read);
	mcp_flush(l);
}

static void write_ready(struct serve_watch *w, uint32_t events)
{
	struct mcp_link *l = CONTAINER(w, struct mcp_link, write);

	(void)events;
	mcp_flush(l);
	if (l->over && !l->ended && l->answers.len <= MCP_OUT_ENOUGH &&
		l->read.fd < 0)
		(void)serve_watch_set(
			&l->engine->loop, &l->read, l->in, EPOLLIN);
}

/* A file that cannot be waited for: all of it is there. */
static int read_file(struct mcp_link *l)
{
	while (!l->ended && l->over)
		read_ready(&l->read, 0);
	return 0;
}

int mcp_link_open(struct mcp_link *l)
{
	int err;

	l->line = BUF_INIT(MCP_LINE_MAX + READ_SIZE);
	l->answers = BUF_INIT(MCP_OUT_MAX);
	l->read.fd = l->write.fd = -1;
	l->read.ready = read_ready;
	l->write.ready = write_ready;
	err = serve_watch_set(&l->engine->loop, &l->read, l->in, EPOLLIN);
	return err == -EPERM ? read_file(l) : err;
}

void mcp_link_close(struct mcp_link *l)
{
	l->over = NULL;
	while (l->first)
		mcp_call_drop(l->first);
	serve_watch_stop(&l->engine->loop, &l->read);
	serve_watch_stop(&l->engine->loop, &l->write);
	buf_release(&l->line);
	buf_release(&l->answers);
}
