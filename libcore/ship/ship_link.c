/* ship_link.c - a connection that is given up when the other side keeps still
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/kconfig.h"
#include "net/net.h"
#include "ship/ship_in.h"

static int link_fail(const struct ship_link *w, int err, struct diag *d)
{
	const struct ship_target *to = &w->ship->to;

	if (err == -ETIMEDOUT)
		return diag_fail(d, err, "%s:%s keeps still", to->host, to->port);
	return diag_errno(d, err, "%s:%s", to->host, to->port);
}

/* Sealed bytes wait for the socket. */
static bool link_waits(const struct ship_link *w)
{
	return IS_ENABLED(CONFIG_AUDIT_SHIP_TLS) && w->tls && tls_waits(w->tls);
}

/* Until the socket is ready for events. */
static int link_wait(const struct ship_link *w, short events)
{
	const uint64_t ms = w->ship->timeout_ns / 1000000;
	struct pollfd p = {.fd = w->fd, .events = events};
	int n;

	if (link_waits(w))
		p.events |= POLLOUT;

	do
		n = poll(&p, 1, ms < INT_MAX ? (int)ms : INT_MAX);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n ? 0 : -ETIMEDOUT;
}

void link_release(struct ship_link *w)
{
	if (IS_ENABLED(CONFIG_AUDIT_SHIP_TLS))
		tls_free(w->tls);
	w->tls = NULL;
	cleanup_fd(&w->fd);
	w->fd = -1;
}

static ssize_t send_some(struct ship_link *w, const void *bytes, size_t n)
{
	ssize_t sent;

	if (IS_ENABLED(CONFIG_AUDIT_SHIP_TLS) && w->tls)
		return tls_send(w->tls, w->fd, bytes, n);
	sent = send(w->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	return sent < 0 ? -errno : sent;
}

static ssize_t read_some(struct ship_link *w, void *to, size_t n)
{
	ssize_t got;

	if (IS_ENABLED(CONFIG_AUDIT_SHIP_TLS) && w->tls)
		return tls_recv(w->tls, w->fd, to, n);
	got = recv(w->fd, to, n, MSG_DONTWAIT);
	return got < 0 ? -errno : got;
}

static bool is_later(ssize_t err)
{
	return err == -EAGAIN || err == -EINTR;
}

/* Both sides agree on keys before anything is sent. */
static int shake_hands(struct ship_link *w, struct diag *d)
{
	const struct ship_target *to = &w->ship->to;
	ssize_t n;
	char none;
	int err;

	if (!IS_ENABLED(CONFIG_AUDIT_SHIP_TLS))
		return diag_fail(d, -ENOSYS,
			"%s: AUDIT_SHIP_TLS is not built in", to->host);
	err = tls_connect_by(&w->tls, to->host, w->ship->ca, w->ship->keys,
		to->kind == SHIP_OTLP, d);
	while (!err && !tls_agreed(w->tls)) {
		n = read_some(w, &none, 0);
		if (tls_agreed(w->tls))
			break;
		if (!is_later(n))
			return diag_fail(d, -EPROTO, "%s:%s: %s", to->host,
				to->port, tls_error(w->tls));
		err = link_wait(w, POLLIN);
		if (err)
			return link_fail(w, err, d);
	}
	return err;
}

int link_open(struct ship_link *w, const struct ship *s, struct diag *d)
{
	*w = (struct ship_link){.ship = s, .fd = -1};
	w->fd = net_dial(s->to.host, s->to.port, s->timeout_ns, d);
	if (w->fd == -ETIMEDOUT)
		return link_fail(w, w->fd, d);
	if (w->fd < 0)
		return w->fd;
	return s->to.tls ? shake_hands(w, d) : 0;
}

int link_write(struct ship_link *w, const void *bytes, size_t n, struct diag *d)
{
	const char *p = bytes;
	int err = 0;

	while (!err && (n || link_waits(w))) {
		ssize_t sent = send_some(w, p, n);

		if (sent > 0) {
			p += sent;
			n -= (size_t)sent;
		} else {
			err = sent && !is_later(sent) ? (int)sent
						      : link_wait(w, POLLOUT);
		}
	}
	return err ? link_fail(w, err, d) : 0;
}

ssize_t link_read(struct ship_link *w, void *to, size_t n, struct diag *d)
{
	int err = 0;

	while (!err) {
		ssize_t got = read_some(w, to, n);

		if (got >= 0)
			return got;
		err = is_later(got) ? link_wait(w, POLLIN) : (int)got;
	}
	return link_fail(w, err, d);
}

int link_finish(struct ship_link *w, struct diag *d)
{
	char rest[512];
	ssize_t n;

	if (IS_ENABLED(CONFIG_AUDIT_SHIP_TLS) && w->tls) {
		tls_end(w->tls, w->fd);
		n = link_write(w, "", 0, d);
		if (n)
			return (int)n;
	}
	if (shutdown(w->fd, SHUT_WR))
		return link_fail(w, -errno, d);
	/* That TLS ends, too, many a receiver does not say: it closes. */
	do
		n = link_read(w, rest, sizeof rest, d);
	while (n > 0);
	if (n == -ETIMEDOUT)
		diag_hint(d, "a receiver that has read all of a connection ends it:"
			     " this one does not, and so nothing tells that it"
			     " has the records");
	return (int)n;
}
