/* serve_server.c - listens, accepts, and lets go
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_server_in.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/kconfig.h"
#include "base/num.h"
#include "base/str.h"

enum { BACKLOG = 1024 };

static bool uid_may(const struct serve_server *s, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return false;
	for (size_t i = 0; i < s->uid_count; i++)
		if (s->uids[i] == peer.uid)
			return true;
	return false;
}

static bool is_kind(const struct serve_conn *c, enum conn_kind kind)
{
	if (c->who.roles)
		return false;
	if (kind == CONN_PAGED)
		return c->paged;
	return (c->state == CONN_HTTP || c->state == CONN_H2) &&
		(kind == CONN_ANY || c->dear);
}

void conn_drop(struct serve_server *s, enum conn_kind kind)
{
	struct serve_conn *c = s->last;

	while (c && !is_kind(c, kind))
		c = c->prev;
	if (c)
		conn_close(c);
}

bool conn_dear(struct serve_conn *c)
{
	struct serve_server *s = c->server;

	if (c->dear)
		return true;
	if (s->dear >= CONN_DEAR_MAX)
		conn_drop(s, CONN_DEAR);
	c->dear = s->dear < CONN_DEAR_MAX;
	s->dear += c->dear;
	return c->dear;
}

static void conn_ready(struct serve_watch *w, uint32_t events);
static void conn_due(struct serve_timer *t);
static void conn_changed(struct serve_reader *r);

static void conn_new(const struct serve_listener *l, int fd)
{
	struct serve_server *s = l->server;
	struct serve_conn *c = calloc(1, sizeof *c);
	int on = 1;

	if (!c) {
		close(fd);
		return;
	}
	/* The echo of a key is sent at once. */
	if (!l->local)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	c->server = s;
	c->local = l->local;
	c->sealed = l->sealed;
	c->in = BUF_INIT(CONN_IN_MAX);
	c->out = BUF_INIT(CONN_OUT_MAX);
	c->watch = (struct serve_watch){.fd = -1, .ready = conn_ready};
	c->timer.due = conn_due;
	c->reader.changed = conn_changed;
	c->next = s->first;
	*(s->first ? &s->first->prev : &s->last) = c;
	s->first = c;
	s->count++;
	serve_timer_set(
		&s->engine->loop, &c->timer, CONN_HEAD_S * 1000000000ULL);
	if (serve_watch_set(&s->engine->loop, &c->watch, fd, EPOLLIN)) {
		c->watch.fd = fd;
		conn_close(c);
	}
}

static void listener_ready(struct serve_watch *w, uint32_t events)
{
	struct serve_listener *l = CONTAINER(w, struct serve_listener, watch);
	struct serve_server *s = l->server;

	(void)events;
	for (int i = 0; i < 64; i++) {
		int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
			conn_drop(s, CONN_ANY);
			continue;
		}
		if (fd < 0)
			return;
		if (l->local && !uid_may(s, fd)) {
			close(fd);
			continue;
		}
		if (s->count >= s->max)
			conn_drop(s, CONN_ANY);
		if (s->count >= s->max) {
			close(fd);
			continue;
		}
		conn_new(l, fd);
	}
}

void conn_close(struct serve_conn *c)
{
	struct serve_server *s = c->server;
	struct serve_command *command = c->reader.command;
	int fd;

	if (c->watch.fd < 0)
		return;
	if (IS_ENABLED(CONFIG_SERVE_GRPC) && c->h2)
		h2_close(c);
	serve_detach(&c->reader);
	if (IS_ENABLED(CONFIG_SERVE_CODEX) && c->codex)
		codex_close(c);
	if (c->post)
		post_close(c);
	if (command && command->own)
		serve_forget(command);
	else if (command && c->own)
		serve_stop(command);
	*(c->prev ? &c->prev->next : &s->first) = c->next;
	*(c->next ? &c->next->prev : &s->last) = c->prev;
	s->count--;
	s->refused -= c->refused;
	s->dear -= c->dear;
	s->paged -= c->paged;
	if (IS_ENABLED(CONFIG_SERVE_TLS) && c->tls)
		tls_free(c->tls);
	fd = c->watch.fd;
	/* A copy of the descriptor may live on, and the kernel would report that. */
	serve_watch_stop(&s->engine->loop, &c->watch);
	close(fd);
	serve_timer_stop(&s->engine->loop, &c->timer);
	buf_release(&c->in);
	buf_release(&c->out);
	buf_release(&c->ws.text);
	buf_release(&c->size);
	serve_loop_bury(&s->engine->loop, &c->grave);
}

/* recv() and send() of the connection, with -errno. */
static ssize_t conn_recv(struct serve_conn *c, void *to, size_t n)
{
	ssize_t got;

	if (IS_ENABLED(CONFIG_SERVE_TLS) && c->tls)
		return tls_recv(c->tls, c->watch.fd, to, n);
	got = recv(c->watch.fd, to, n, MSG_DONTWAIT);
	return got < 0 ? -errno : got;
}

static ssize_t conn_send(struct serve_conn *c, const void *from, size_t n)
{
	ssize_t sent;

	if (IS_ENABLED(CONFIG_SERVE_TLS) && c->tls)
		return tls_send(c->tls, c->watch.fd, from, n);
	sent = send(c->watch.fd, from, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	return sent < 0 ? -errno : sent;
}

/* Bytes that were sent wait for the socket. */
static bool conn_waits(const struct serve_conn *c)
{
	return IS_ENABLED(CONFIG_SERVE_TLS) && c->tls && tls_waits(c->tls);
}

/* TLS begins with the first byte, because a silent peer is to cost nothing. */
static int conn_seal(struct serve_conn *c)
{
	if (!IS_ENABLED(CONFIG_SERVE_TLS) || !c->sealed || c->tls)
		return 0;
	if (conn_dear(c))
		c->tls = tls_accept(c->server->tls);
	return c->tls ? 0 : -ENOMEM;
}

static void read_requests(struct serve_conn *c);

/* The written bytes have gone: more of the followed output, or the next request. */
static void conn_pump(struct serve_conn *c)
{
	c->server->paged -= c->paged;
	c->paged = false;
	if (c->state == CONN_HTTP)
		read_requests(c);
	else if (c->state == CONN_SOCKET)
		socket_pump(c);
	else if (c->state == CONN_EVENTS)
		events_pump(c);
	else if (c->state == CONN_OWN)
		own_pump(c);
	else if (IS_ENABLED(CONFIG_SERVE_GRPC) && c->state == CONN_H2)
		h2_pump(c);
}

/* The peer is not read while its answers wait, or its command does not read. */
static bool conn_full(struct serve_conn *c)
{
	return c->refused || socket_full(c) ||
		((c->state == CONN_H2 || c->state == CONN_HTTP) &&
			c->out.len >= CONN_OUT_ENOUGH);
}

/* All is written. The peer's end is waited for, because the kernel drops what is
 * written and not read when bytes arrive at a closed socket. */
static void conn_last(struct serve_conn *c)
{
	c->shut = true;
	if (IS_ENABLED(CONFIG_SERVE_TLS) && c->tls)
		tls_end(c->tls, c->watch.fd);
	else
		shutdown(c->watch.fd, SHUT_WR);
	serve_timer_set(&c->server->engine->loop, &c->timer,
		CONN_LAST_S * 1000000000ULL);
}

void conn_flush(struct serve_conn *c)
{
	bool answered = false;
	size_t at = 0;
	ssize_t n = 0;

	do {
		at = 0;
		while (at < c->out.len || conn_waits(c)) {
			n = conn_send(c, at < c->out.len ? c->out.data + at : "",
				c->out.len - at);
			if (n < 0 || (at == c->out.len && conn_waits(c)))
				break;
			at += (size_t)n;
		}
		buf_consume(&c->out, at);
		if (c->out.err || (n < 0 && n != -EAGAIN && n != -EINTR)) {
			conn_close(c);
			return;
		}
		/* The next request waits until others had their turn. */
		if (!c->out.len && !answered) {
			conn_pump(c);
			answered = c->state == CONN_HTTP && c->out.len;
		}
		if (c->watch.fd < 0)
			return;
	} while (c->out.len && n >= 0);
	if (c->state == CONN_LAST && !c->out.len && !conn_waits(c) && !c->shut)
		conn_last(c);
	(void)serve_watch_set(&c->server->engine->loop, &c->watch, c->watch.fd,
		(conn_full(c) ? 0 : EPOLLIN) |
			(answered || c->out.len || conn_waits(c) ? EPOLLOUT : 0));
}

static void conn_changed(struct serve_reader *r)
{
	struct serve_conn *c = CONTAINER(r, struct serve_conn, reader);

	if (c->state == CONN_SOCKET)
		socket_read(c);
	if (c->out.len < CONN_OUT_ENOUGH)
		conn_flush(c);
}

/* Does the connection begin with HTTP/2? 1; 0; -EAGAIN: more bytes tell. */
static int begins_h2(const struct serve_conn *c)
{
	static const char magic[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	const size_t all = sizeof magic - 1, n = c->in.len < all ? c->in.len : all;

	if (!IS_ENABLED(CONFIG_SERVE_GRPC) || c->state != CONN_HTTP || !n ||
		memcmp(c->in.data, magic, n) != 0)
		return 0;
	if (IS_ENABLED(CONFIG_SERVE_TLS) && c->tls &&
		str_eq(tls_protocol(c->tls), "http/1.1"))
		return 0;
	return n == all ? 1 : -EAGAIN;
}

/* The requests that are whole, as far as their answers are taken. */
static void read_requests(struct serve_conn *c)
{
	int h2 = begins_h2(c);

	if (IS_ENABLED(CONFIG_SERVE_GRPC) && h2) {
		if (h2 > 0 && !h2_open(c))
			conn_close(c);
		return;
	}
	while (c->state == CONN_HTTP && !c->refused && c->watch.fd >= 0 &&
		c->out.len < CONN_OUT_ENOUGH) {
		struct http_request r;
		int head = http_read(&r, c->in.data, c->in.len);

		if (head < 0) {
			r = (struct http_request){.keep = false};
			conn_refuse(c, &r, -head, http_reason(-head));
			return;
		}
		if (!head)
			return;
		if (c->in.len - (size_t)head < r.length) {
			/* Who is nobody sends no body. */
			if (!c->admitted)
				c->admitted = api_admit(c, &r);
			return;
		}
		c->admitted = false;
		serve_timer_set(&c->server->engine->loop, &c->timer,
			CONN_IDLE_S * 1000000000ULL);
		api_request(c, &r, c->in.data + head);
		if (c->watch.fd >= 0)
			buf_consume(&c->in, (size_t)head + (size_t)r.length);
	}
}

static void conn_ready(struct serve_watch *w, uint32_t events)
{
	struct serve_conn *c = CONTAINER(w, struct serve_conn, watch);
	char *to;
	ssize_t n;

	if (events & EPOLLIN) {
		to = buf_reserve(&c->in, TLS_PIECE);
		n = to && !conn_seal(c) ? conn_recv(c, to, TLS_PIECE) : 0;
		if (n == 0 || (n < 0 && n != -EAGAIN && n != -EINTR)) {
			conn_close(c);
			return;
		}
		c->in.len += n > 0 ? (size_t)n : 0;
		if (c->state == CONN_LAST)
			buf_clear(&c->in);
		read_requests(c);
		if (c->watch.fd >= 0 && c->state == CONN_SOCKET)
			socket_read(c);
		else if (IS_ENABLED(CONFIG_SERVE_GRPC) && c->watch.fd >= 0 &&
			c->state == CONN_H2)
			h2_read(c);
	} else if (events & (EPOLLHUP | EPOLLERR)) {
		conn_close(c);
		return;
	}
	if (c->watch.fd >= 0)
		conn_flush(c);
	/* Messages that came while there was no room for their answers. */
	if (c->watch.fd >= 0 && c->codex && c->in.len && !socket_full(c)) {
		socket_read(c);
		conn_flush(c);
	}
}

/* A client that was silent too long, or that has waited for its refusal. */
static void conn_due(struct serve_timer *t)
{
	struct serve_conn *c = CONTAINER(t, struct serve_conn, timer);
	struct serve_loop *l = &c->server->engine->loop;

	if (c->refused) {
		struct http_request r = {.keep = false};

		c->refused = false;
		c->server->refused--;
		conn_refuse(c, &r, 401, api_judged(401));
		conn_flush(c);
		return;
	}
	if (IS_ENABLED(CONFIG_SERVE_GRPC) && c->state == CONN_H2) {
		h2_due(c);
		return;
	}
	if (c->state != CONN_SOCKET || !c->pong) {
		conn_close(c);
		return;
	}
	c->pong = false;
	ws_frame_add(&c->out, WS_PING, "", 0, NULL);
	serve_timer_set(l, t, CONN_PING_S * 1000000000ULL);
	conn_flush(c);
}

int serve_listen(struct serve_server *s, int fd, enum serve_door door)
{
	struct serve_listener *l = &s->listeners[s->listening];
	int err;

	if (s->listening == SERVE_LISTEN_MAX)
		return -ENOSPC;
	*l = (struct serve_listener){
		.watch = {.fd = -1, .ready = listener_ready},
		.server = s,
		.local = door == SERVE_LOCAL,
		.sealed = door == SERVE_SEALED};
	err = serve_watch_set(&s->engine->loop, &l->watch, fd, EPOLLIN);
	s->listening += !err;
	return err;
}

void serve_server_close(struct serve_server *s)
{
	for (size_t i = 0; i < s->listening; i++) {
		int fd = s->listeners[i].watch.fd;

		serve_watch_stop(&s->engine->loop, &s->listeners[i].watch);
		close(fd);
	}
	s->listening = 0;
	peers_close(s);
	while (s->first)
		conn_close(s->first);
}

int serve_bind_local(const char *path, struct diag *d)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	autofd int fd = socket(AF_UNIX,
		SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask;
	int err;

	if (str_copy(at.sun_path, sizeof at.sun_path, path))
		return diag_errno(d, -ENAMETOOLONG, "%s", path);
	if (fd < 0)
		return diag_errno(d, -errno, "a unix socket");
	/* What no server answers on is left over. */
	if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
		return diag_fail(d, -EADDRINUSE, "a server answers on %s", path);
	if (errno == ECONNREFUSED)
		unlink(path);
	mask = umask(0177);
	err = bind(fd, (struct sockaddr *)&at, sizeof at) ? -errno : 0;
	umask(mask);
	if (!err && listen(fd, BACKLOG))
		err = -errno;
	return err ? diag_errno(d, err, "cannot listen on %s", path)
		   : fd_steal(&fd);
}

static int bind_port(const struct sockaddr *at, socklen_t size,
	const char *name, struct diag *d)
{
	autofd int fd = socket(at->sa_family,
		SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
		bind(fd, at, size) || listen(fd, BACKLOG))
		return diag_errno(d, -errno, "cannot listen on %s", name);
	return fd_steal(&fd);
}

static int bind_address(const char *text, unsigned least, struct diag *d)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	struct sockaddr_in four = {.sin_family = AF_INET};
	char host[64], port_text[8];
	unsigned port;

	if (http_authority(text, host, sizeof host, port_text, sizeof port_text) ||
		num_uint(port_text, least, 65535, &port))
		return diag_fail(d, -EINVAL,
			"'%s' is no ADDRESS:PORT or [ADDRESS]:PORT", text);
	four.sin_port = six.sin6_port = htons((uint16_t)port);
	if (inet_pton(AF_INET, host, &four.sin_addr) == 1)
		return bind_port((struct sockaddr *)&four, sizeof four, text, d);
	if (inet_pton(AF_INET6, host, &six.sin6_addr) == 1)
		return bind_port((struct sockaddr *)&six, sizeof six, text, d);
	return diag_fail(d, -EINVAL, "'%s' is no address in numbers", host);
}

int serve_bind_address(const char *text, struct diag *d)
{
	return bind_address(text, 1, d);
}

int serve_bind_loopback(unsigned port, struct diag *d)
{
	char name[24];

	return bind_address(BUF_PRINT(name, "127.0.0.1:%u", port), 0, d);
}

int serve_listen_given(struct serve_server *s, int fd, struct diag *d)
{
	struct sockaddr_storage at;
	socklen_t size = sizeof at;
	const struct sockaddr_in *ip = (const struct sockaddr_in *)(void *)&at;
	enum serve_door door = SERVE_LOCAL;
	int err, listens = 0;

	if (getsockname(fd, (struct sockaddr *)&at, &size))
		return diag_errno(d, -errno, "descriptor %d", fd);
	size = sizeof listens;
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens)
		return diag_fail(d, -EINVAL, "descriptor %d listens for no"
			" connections\036a unit has ListenStream= and Accept=no", fd);
	if (at.ss_family != AF_UNIX)
		door = at.ss_family == AF_INET &&
				ntohl(ip->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
			? SERVE_PLAIN
			: SERVE_SEALED;
	if (door == SERVE_SEALED && !s->tls)
		return diag_fail(d, -EACCES, "descriptor %d listens on more than"
			" a unix socket or 127.0.0.1, which needs TLS\036"
			"--cert FILE --key FILE", fd);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) || fcntl(fd, F_SETFL, O_NONBLOCK))
		return diag_errno(d, -errno, "descriptor %d", fd);
	err = serve_listen(s, fd, door);
	return err ? diag_errno(d, err, "descriptor %d", fd) : 0;
}

size_t serve_max(size_t files)
{
	size_t most = files / 4 * 3;

	return most < CONN_MAX ? most : CONN_MAX;
}
