/* net_flow.c - bytes from one socket to another, without looking at them
 * SPDX-License-Identifier: MIT
 */
#include "net/net_serve_in.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"

enum { PIPE_BYTES = 1 << 16 };

void serve_flow_tune(int in, int out)
{
	enum { IDLE_S = 60 };
	const int on = 1, idle = IDLE_S;

	setsockopt(in, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	setsockopt(out, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	setsockopt(out, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
}

static int flow_pipe(struct serve *s, struct serve_flow *f)
{
	if (f->pipe[0] >= 0)
		return 0;
	if (s->pipes) {
		memcpy(f->pipe, s->spare[--s->pipes], sizeof f->pipe);
		return 0;
	}
	if (pipe2(f->pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

/* An empty pipe serves the next. */
static void flow_give_back(struct serve *s, struct serve_flow *f)
{
	if (f->pipe[0] < 0 || f->held)
		return;
	if (s->pipes < ARRAY_SIZE(s->spare)) {
		memcpy(s->spare[s->pipes++], f->pipe, sizeof f->pipe);
	} else {
		close(f->pipe[0]);
		close(f->pipe[1]);
	}
	f->pipe[0] = f->pipe[1] = -1;
}

void serve_flow_end(struct serve *s, struct serve_flow *f)
{
	if (f->pipe[0] >= 0 && f->held) {
		close(f->pipe[0]);
		close(f->pipe[1]);
		f->pipe[0] = f->pipe[1] = -1;
	}
	flow_give_back(s, f);
}

/* -EAGAIN: the reader is slow. */
static int flow_out(struct serve_flow *f, int to)
{
	while (f->held) {
		ssize_t n = splice(f->pipe[0], NULL, to, NULL, f->held,
			SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

		if (n <= 0)
			return n < 0 ? -errno : -EPIPE;
		f->held -= (uint32_t)n;
		f->bytes += (uint64_t)n;
	}
	return 0;
}

int serve_flow(struct serve *s, struct serve_flow *f, int from, int to,
	uint64_t most, uint64_t *moved)
{
	uint64_t taken = 0;
	int err = flow_out(f, to);

	while (!err && taken < most && !f->ended) {
		uint64_t want = most - taken;
		ssize_t n;

		err = flow_pipe(s, f);
		if (err)
			break;
		n = splice(from, NULL, f->pipe[1], NULL,
			want < PIPE_BYTES ? (size_t)want : PIPE_BYTES,
			SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n < 0) {
			err = -errno;
		} else if (n == 0) {
			f->ended = true;
			shutdown(to, SHUT_WR);
		} else {
			taken += (uint64_t)n;
			f->held = (uint32_t)n;
			err = flow_out(f, to);
		}
	}
	flow_give_back(s, f);
	*moved = taken;
	return err == -EAGAIN ? 0 : err;
}
