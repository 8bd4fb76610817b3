/* serve_server.c - listens, accepts, and lets go
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_server_in.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "sys/file.h"

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

/* The oldest that has not said who it is makes room. */
static void drop_silent(struct serve_server *s)
{
	struct serve_conn *c = s->last;

	while (c && (c->state != CONN_HTTP || c->roles))
		c = c->prev;
	if (c)
		conn_close(c);
}

static void conn_ready(struct serve_watch *w, uint32_t events);
static void conn_due(struct serve_timer *t);
static void conn_changed(struct serve_reader *r);

static void conn_new(struct serve_server *s, int fd, bool local)
{
	struct serve_conn *c = calloc(1, sizeof *c);

	if (!c) {
		close(fd);
		return;
	}
	c->server = s;
	c->local = local;
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
			drop_silent(s);
			continue;
		}
		if (fd < 0)
			return;
		if (l->local && !uid_may(s, fd)) {
			close(fd);
			continue;
		}
		if (s->count >= s->max)
			drop_silent(s);
		if (s->count >= s->max) {
			close(fd);
			continue;
		}
		conn_new(s, fd, l->local);
	}
}

void conn_close(struct serve_conn *c)
{
	struct serve_server *s = c->server;
	struct serve_command *command = c->reader.command;
	int fd;

	if (c->watch.fd < 0)
		return;
	serve_detach(&c->reader);
	if (command && c->own)
		serve_stop(command);
	*(c->prev ? &c->prev->next : &s->first) = c->next;
	*(c->next ? &c->next->prev : &s->last) = c->prev;
	s->count--;
	s->refused -= c->refused;
	fd = c->watch.fd;
	/* A copy of it may live on, which the kernel would still tell of. */
	serve_watch_stop(&s->engine->loop, &c->watch);
	close(fd);
	serve_timer_stop(&s->engine->loop, &c->timer);
	buf_release(&c->in);
	buf_release(&c->out);
	buf_release(&c->ws.text);
	serve_loop_bury(&s->engine->loop, &c->grave);
}

/* More of what is followed, as far as the peer takes it. */
static void conn_pump(struct serve_conn *c)
{
	if (c->state == CONN_SOCKET)
		socket_pump(c);
	else if (c->state == CONN_EVENTS)
		events_pump(c);
}

void conn_flush(struct serve_conn *c)
{
	size_t at = 0;
	ssize_t n = 0;

	do {
		at = 0;
		while (at < c->out.len) {
			n = send(c->watch.fd, c->out.data + at, c->out.len - at,
				MSG_NOSIGNAL | MSG_DONTWAIT);
			if (n < 0)
				break;
			at += (size_t)n;
		}
		buf_consume(&c->out, at);
		if (c->out.err || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			conn_close(c);
			return;
		}
		if (!c->out.len)
			conn_pump(c);
	} while (c->out.len && n >= 0);
	if (c->state == CONN_LAST && !c->out.len && !c->shut) {
		/* What the peer still sends would make the kernel forget what
		 * it has not read: its end is waited for. */
		c->shut = true;
		shutdown(c->watch.fd, SHUT_WR);
		serve_timer_set(&c->server->engine->loop, &c->timer,
			CONN_LAST_S * 1000000000ULL);
	}
	(void)serve_watch_set(&c->server->engine->loop, &c->watch, c->watch.fd,
		(socket_full(c) || c->refused ? 0 : EPOLLIN) |
			(c->out.len ? EPOLLOUT : 0));
}

static void conn_changed(struct serve_reader *r)
{
	struct serve_conn *c = CONTAINER(r, struct serve_conn, reader);

	if (c->state == CONN_SOCKET)
		socket_read(c);
	if (c->out.len < CONN_OUT_ENOUGH)
		conn_flush(c);
}

/* The requests that are whole. */
static void read_requests(struct serve_conn *c)
{
	while (c->state == CONN_HTTP && !c->refused && c->watch.fd >= 0) {
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
		to = buf_reserve(&c->in, 16384);
		n = to ? recv(w->fd, to, 16384, MSG_DONTWAIT) : 0;
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			conn_close(c);
			return;
		}
		c->in.len += n > 0 ? (size_t)n : 0;
		if (c->state == CONN_LAST)
			buf_clear(&c->in);
		read_requests(c);
		if (c->watch.fd >= 0 && c->state == CONN_SOCKET)
			socket_read(c);
	} else if (events & (EPOLLHUP | EPOLLERR)) {
		conn_close(c);
		return;
	}
	if (c->watch.fd >= 0)
		conn_flush(c);
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
		conn_refuse(c, &r, 401, "no key, or none that is known");
		conn_flush(c);
		return;
	}
	if (c->state != CONN_SOCKET || !c->pong) {
		conn_close(c);
		return;
	}
	/* A key that was revoked ends what it began. */
	if (!server_roles(c->server, c, c->digest)) {
		socket_close(c, WS_POLICY, "the key was revoked");
		conn_flush(c);
		return;
	}
	c->pong = false;
	ws_frame_add(&c->out, WS_PING, "", 0, NULL);
	serve_timer_set(l, t, CONN_PING_S * 1000000000ULL);
	conn_flush(c);
}

unsigned server_roles(struct serve_server *s, struct serve_conn *c,
	const unsigned char digest[static SERVE_DIGEST])
{
	const struct serve_key *own =
		serve_keys_find(s->owner, ARRAY_SIZE(s->owner), digest);
	const struct serve_key *key = NULL;
	autofree struct serve_keys *keys = malloc(sizeof *keys);

	/* Read anew each time: a key that was revoked is none at once. */
	if (keys && !serve_keys_load(s->dir, keys, NULL))
		key = serve_keys_find(keys->key, keys->count, digest);
	/* The owner's tokens are for this machine's own users. */
	c->owner = own && c->local;
	return c->owner ? own->roles : key ? key->roles : 0;
}

int serve_listen(struct serve_server *s, int fd, bool local)
{
	struct serve_listener *l = &s->listeners[s->listening];
	int err;

	if (s->listening == SERVE_LISTEN_MAX)
		return -ENOSPC;
	*l = (struct serve_listener){
		.watch = {.fd = -1, .ready = listener_ready},
		.server = s, .local = local};
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

int serve_bind_loopback(unsigned port, struct diag *d)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	autofd int fd = socket(AF_INET,
		SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
		bind(fd, (const struct sockaddr *)&at, sizeof at) ||
		listen(fd, BACKLOG))
		return diag_errno(d, -errno, "cannot listen on port %u", port);
	return fd_steal(&fd);
}

int serve_listen_given(struct serve_server *s, int fd, struct diag *d)
{
	struct sockaddr_storage at;
	socklen_t size = sizeof at;
	const struct sockaddr_in *ip = (const struct sockaddr_in *)(void *)&at;
	bool loopback;
	int err;

	if (getsockname(fd, (struct sockaddr *)&at, &size))
		return diag_errno(d, -errno, "descriptor %d", fd);
	loopback = at.ss_family == AF_INET &&
		ntohl(ip->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	if (at.ss_family != AF_UNIX && !loopback)
		return diag_fail(d, -EACCES, "descriptor %d listens on more than"
			" a unix socket or 127.0.0.1", fd);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) || fcntl(fd, F_SETFL, O_NONBLOCK))
		return diag_errno(d, -errno, "descriptor %d", fd);
	err = serve_listen(s, fd, at.ss_family == AF_UNIX);
	return err ? diag_errno(d, err, "descriptor %d", fd) : 0;
}

size_t serve_max(size_t files)
{
	size_t most = files / 4 * 3;

	return most < CONN_MAX ? most : CONN_MAX;
}

static const struct {
	char name[12], role[8];
} tokens[2] = {
	{SERVE_TOKEN_RUN, "run"},
	{SERVE_TOKEN_APPROVE, "approve"},
};

void serve_tokens_remove(const struct serve_server *s)
{
	for (int i = 0; i < 2; i++)
		unlinkat(s->dir, tokens[i].name, 0);
	if (s->bound)
		unlinkat(s->dir, SERVE_SOCKET, 0);
}

int serve_tokens_make(struct serve_server *s, struct diag *d)
{
	for (int i = 0; i < 2; i++) {
		char text[SERVE_KEY_SIZE];
		int err = serve_key_make(text, s->owner[i].digest);

		s->owner[i].roles = serve_role_of(tokens[i].role);
		if (!err)
			err = file_replace(s->dir, tokens[i].name, text,
				strlen(text), 0600, false);
		if (err)
			return diag_errno(d, err, "cannot write %s",
				tokens[i].name);
	}
	return 0;
}
