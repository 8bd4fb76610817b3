/* net_look.c - what is said on a connection: is it for the name?
 * SPDX-License-Identifier: MIT
 *
 * What is looked at stays in the client's socket until it was looked at, so that
 * a connection which says nothing costs no memory of the keeper's.
 */
#include "net/net_serve_in.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/str.h"

/* A request's head: is it for the name? NULL: it is. */
static const char *request_strange(
	const struct serve_conn *c, const struct net_http *h)
{
	if (h->connect)
		return "asks for another way";
	if (!str_eq(h->host, c->name->name))
		return "another host is asked for";
	return h->port && h->port != c->port ? "another port is asked for" : NULL;
}

/* Two names of the machine's own file may have one address: which of them is
 * meant is what the client says. */
static void name_meant(struct serve *s, struct serve_conn *c, const char *said)
{
	struct serve_name *n = str_eq(said, c->name->name)
		? NULL
		: serve_name_beside(s, c->name, said);
	const struct net_rule *r = n ? serve_set_rule(c->set, said, c->port) : NULL;

	if (r && r->kind == c->rule->kind) {
		c->name = n;
		c->rule = r;
	}
}

int serve_look_first(struct serve *s, struct serve_conn *c)
{
	ssize_t n = serve_conn_peek(s, c);
	struct net_hello hello;
	struct net_http head;
	const char *why = NULL;
	int err;

	if (n == -EAGAIN)
		return NET_MORE;
	if (n <= 0)
		return -EPIPE;
	if (c->rule->kind == NET_TLS) {
		err = net_hello_parse(&hello, s->peek, (size_t)n);
		if (!err)
			name_meant(s, c, hello.name);
		/* A program that speaks to an address names no host. */
		if (!err && !hello.name[0] && !c->name->literal)
			why = "a TLS hello without a name";
		else if (!err && hello.name[0] &&
			!str_eq(hello.name, c->name->name))
			why = "the TLS hello names another host";
		else if (!err && hello.ech && c->set->spec->no_ech)
			why = "an encrypted TLS hello";
	} else {
		err = net_http_parse(&head, (char *)s->peek, (size_t)n);
		if (!err)
			name_meant(s, c, head.host);
		if (!err)
			why = request_strange(c, &head);
	}
	if (err == NET_MORE && n < NET_PEEK)
		return NET_MORE;
	if (err)
		why = c->rule->kind == NET_TLS ? "no TLS hello"
					       : "no plain HTTP request";
	if (why)
		serve_conn_refuse(s, c, why);
	return why ? -EPERM : 0;
}

bool serve_look_piece(struct serve *s, struct serve_conn *c)
{
	struct net_http head;
	ssize_t n = serve_conn_peek(s, c);
	const char *why = NULL, *newline;
	size_t line = 0;
	uint64_t size;
	int err = 0;

	/* Its end is seen by who moves bytes. */
	if (n <= 0) {
		c->left = n == 0;
		return n == 0;
	}
	switch (c->http) {
	case SERVE_HEAD:
		err = net_http_parse(&head, (char *)s->peek, (size_t)n);
		if (err)
			break;
		why = request_strange(c, &head);
		c->left = head.head + (head.chunked ? 0 : head.length);
		c->http = head.chunked ? SERVE_CHUNK : SERVE_HEAD;
		/* The first answer answers the first request alone. */
		if (head.websocket && !head.length && !head.chunked &&
			!c->up.bytes)
			c->http = SERVE_SWITCH;
		break;
	case SERVE_SWITCH:
		return false;
	case SERVE_CHUNK:
		err = net_http_chunk((char *)s->peek, (size_t)n, &line, &size);
		if (err)
			break;
		c->left = line + (size ? size + 2 : 0);
		c->http = size ? SERVE_CHUNK : SERVE_TRAILER;
		break;
	default:
		newline = memchr(s->peek, '\n', (size_t)n);
		err = newline ? 0 : NET_MORE;
		if (err)
			break;
		c->left = (uint64_t)(newline - (char *)s->peek) + 1;
		c->http = c->left <= 2 ? SERVE_HEAD : SERVE_TRAILER;
	}
	if (err == NET_MORE && n < NET_PEEK)
		return false;
	if (err && !why)
		why = "no plain HTTP request";
	if (why)
		serve_conn_refuse(s, c, why);
	return !why;
}

bool serve_look_switch(struct serve *s, struct serve_conn *c)
{
	static const char yes[] = "HTTP/1.1 101 ";
	ssize_t n = recv(c->out.fd, s->peek, sizeof yes - 1, MSG_PEEK);

	if (n < 0 ? errno == EAGAIN : n && n < (ssize_t)sizeof yes - 1)
		return false;
	c->http = n > 0 && memcmp(s->peek, yes, sizeof yes - 1) == 0 ? SERVE_RAW
								  : SERVE_HEAD;
	c->again = true;
	return true;
}
