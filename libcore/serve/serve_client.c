/* serve_client.c - the server's own client
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/json_read.h"
#include "base/kconfig.h"
#include "base/num.h"
#include "base/str.h"
#include "net/net.h"
#include "sys/file.h"

static const uint64_t connect_ns = UINT64_C(120000000000);

void serve_client_close(struct serve_client *c)
{
	if (IS_ENABLED(CONFIG_SERVE_TLS) && c->tls)
		tls_free(c->tls);
	c->tls = NULL;
	cleanup_fd(&c->fd);
	c->fd = -1;
	buf_release(&c->in);
}

ssize_t serve_client_recv(struct serve_client *c, void *to, size_t n)
{
	ssize_t got;

	if (IS_ENABLED(CONFIG_SERVE_TLS) && c->tls)
		return tls_recv(c->tls, c->fd, to, n);
	got = recv(c->fd, to, n, MSG_DONTWAIT);
	return got < 0 ? -errno : got;
}

ssize_t serve_client_send(struct serve_client *c, const void *from, size_t n)
{
	ssize_t sent;

	if (IS_ENABLED(CONFIG_SERVE_TLS) && c->tls)
		return tls_send(c->tls, c->fd, from, n);
	sent = send(c->fd, from, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	return sent < 0 ? -errno : sent;
}

bool serve_client_waits(const struct serve_client *c)
{
	return IS_ENABLED(CONFIG_SERVE_TLS) && c->tls && tls_waits(c->tls);
}

static void wait_for(struct serve_client *c, short events)
{
	struct pollfd p = {.fd = c->fd, .events = events};

	if (serve_client_waits(c))
		p.events |= POLLOUT;
	(void)poll(&p, 1, -1);
}

static int write_all(struct serve_client *c, const struct buf *out,
	struct diag *d)
{
	size_t at = 0;

	if (out->err)
		return diag_errno(d, out->err, "the server");
	while (at < out->len || serve_client_waits(c)) {
		ssize_t n = serve_client_send(
			c, out->data + at, out->len - at);

		if (n < 0 && n != -EAGAIN && n != -EINTR)
			return diag_errno(d, (int)n, "the server");
		at += n > 0 ? (size_t)n : 0;
		if (n <= 0)
			wait_for(c, POLLOUT);
	}
	return 0;
}

static int read_token(struct serve_client *c, const char *file, struct diag *d)
{
	autobuf struct buf text = BUF_INIT(SERVE_KEY_SIZE);
	int err = file_read(AT_FDCWD, file, &text);

	if (err)
		return diag_errno(d, err, "%s", file);
	text.len = str_line(text.data, text.len);
	return str_copy(c->token, sizeof c->token, buf_str(&text))
		? diag_fail(d, -EINVAL, "%s holds no key", file)
		: 0;
}

int serve_client_open(struct serve_client *c, const char *path,
	const char *token_file, struct diag *d)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	autobuf struct buf health = BUF_INIT(4096);
	int status;

	if (str_copy(at.sun_path, sizeof at.sun_path, path))
		return diag_errno(d, -ENAMETOOLONG, "%s", path);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&at, sizeof at))
		return diag_errno(d, -errno, "no server answers on %s", path);
	/* A server that this very connection starts makes its tokens before it
	 * answers. */
	status = serve_client_ask(c, "GET", "/health", "", &health, d);
	return status < 0 ? status : read_token(c, token_file, d);
}

/* Both agree on keys before anything is asked. */
static int shake_hands(struct serve_client *c, struct diag *d)
{
	char none;
	ssize_t n = serve_client_recv(c, &none, 0);

	while (!tls_agreed(c->tls) && (n == -EAGAIN || n == -EINTR)) {
		wait_for(c, POLLIN);
		n = serve_client_recv(c, &none, 0);
	}
	return tls_agreed(c->tls) ? 0
				  : diag_fail(d, -EPROTO, "%s: %s", c->host,
					    tls_error(c->tls));
}

int serve_client_open_url(struct serve_client *c, const char *url,
	const char *token_file, const char *cert_file, struct diag *d)
{
	const char *at = str_after(url, "https://");
	char host[256], port[8];
	size_t n = at ? strcspn(at, "/") : 0;
	int err;

	if (!IS_ENABLED(CONFIG_SERVE_TLS))
		return diag_fail(d, -ENOSYS, "%s: SERVE_TLS is not built in", url);
	if (!at || (at[n] && at[n + 1]) || n >= sizeof c->host)
		return diag_fail(d, -EINVAL, "'%s' is no https://HOST[:PORT]",
			url);
	memcpy(c->host, at, n);
	c->host[n] = '\0';
	if (http_authority(c->host, host, sizeof host, port, sizeof port))
		return diag_fail(d, -EINVAL, "'%s' is no https://HOST[:PORT]",
			url);
	if (!token_file || !cert_file)
		return diag_fail(d, -EINVAL, "%s: %s is needed", url,
			token_file ? "--cert, the server's certificate,"
				   : "--token-file, with a key,");
	err = read_token(c, token_file, d);
	if (!err)
		err = tls_connect(&c->tls, host, cert_file, d);
	if (!err)
		c->fd = net_dial(host, *port ? port : "443", connect_ns, d);
	return err ? err : c->fd < 0 ? c->fd : shake_hands(c, d);
}

static int read_more(struct serve_client *c, struct diag *d)
{
	char *to = buf_reserve(&c->in, 65536);
	ssize_t n = to ? serve_client_recv(c, to, 65536) : -ENOMEM;

	if (n == -EAGAIN || n == -EINTR) {
		wait_for(c, POLLIN);
		return 0;
	}
	if (n <= 0)
		return diag_fail(d, -EPIPE, "the server has gone");
	c->in.len += (size_t)n;
	return 0;
}

/* The head of an answer: its status, its length in *length. */
static int read_head(struct serve_client *c, size_t *length, struct diag *d)
{
	static const char field[] = "Content-Length: ";
	char *end, *at;
	char digits[24] = "0", code[4] = "";
	uint64_t status = 0, n = 0;
	int err;

	while (!(end = c->in.len ? memmem(c->in.data, c->in.len, "\r\n\r\n", 4)
				 : NULL)) {
		err = read_more(c, d);
		if (err)
			return err;
	}
	at = memmem(c->in.data, (size_t)(end - c->in.data), field,
		sizeof field - 1);
	if (at) {
		size_t len = strcspn(at + sizeof field - 1, "\r");

		len = len < sizeof digits - 1 ? len : sizeof digits - 1;
		memcpy(digits, at + sizeof field - 1, len);
		digits[len] = '\0';
	}
	if (end - c->in.data >= 12)
		memcpy(code, c->in.data + 9, 3);
	if (num_u64(code, 100, 599, &status) ||
		num_u64(digits, 0, 8 << 20, &n))
		return diag_fail(d, -EPROTO, "what answers is no server of ours");
	*length = (size_t)n;
	buf_consume(&c->in, (size_t)(end + 4 - c->in.data));
	return (int)status;
}

/* What the server says is wrong. */
static int tell_refused(const struct buf *body, int status, struct diag *d)
{
	autojson struct json_doc doc = {0};
	char text[200];
	struct buf said = BUF_FIXED(text);
	uint32_t node = 0;

	if (!json_read(&doc, body->data, body->len, NULL))
		node = json_find(&doc, 0, "error");
	if (node)
		(void)json_text(&doc, node, &said);
	return diag_fail(d, -EACCES, "the server says: %s",
		said.len ? buf_str(&said) : http_reason(status));
}

int serve_client_ask(struct serve_client *c, const char *method,
	const char *path, const char *json, struct buf *body, struct diag *d)
{
	autobuf struct buf out = BUF_INIT(HTTP_BODY_MAX + HTTP_HEAD_MAX);
	size_t length = 0;
	int status, err;

	buf_addf(&out, "%s %s HTTP/1.1\r\nHost: %s\r\n"
		"Authorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n%s",
		method, path, c->host, c->token, strlen(json), json);
	err = write_all(c, &out, d);
	if (err)
		return err;
	status = read_head(c, &length, d);
	if (status < 0)
		return status;
	while (c->in.len < length) {
		err = read_more(c, d);
		if (err)
			return err;
	}
	buf_add(body, c->in.data, length);
	buf_consume(&c->in, length);
	return status >= 400 ? tell_refused(body, status, d) : status;
}

static int upgrade_to(struct serve_client *c, const char *session,
	const char *what, const char *more, struct diag *d)
{
	autobuf struct buf out = BUF_INIT(4096), body = BUF_INIT(65536);
	size_t length = 0;
	int status, err;

	buf_addf(&out, "GET /api/v1/sessions/%s/%s HTTP/1.1\r\n"
		"Host: %s\r\nAuthorization: Bearer %s\r\n"
		"Connection: Upgrade\r\n%s\r\n", session, what, c->host,
		c->token, more);
	err = write_all(c, &out, d);
	if (err)
		return err;
	status = read_head(c, &length, d);
	while (status >= 400 && c->in.len < length && !err)
		err = read_more(c, d);
	if (status < 0 || err)
		return status < 0 ? status : err;
	if (status == 101)
		return 0;
	buf_add(&body, c->in.data, length);
	return tell_refused(&body, status, d);
}

int serve_client_upgrade(
	struct serve_client *c, const char *session, struct diag *d)
{
	unsigned char r[16];
	char key[32], fields[160];
	struct buf text = BUF_FIXED(key);

	if (getrandom(r, sizeof r, 0) != sizeof r)
		return diag_fail(d, -EIO, "the kernel gives no randomness");
	base64_add(&text, r, sizeof r);
	return upgrade_to(c, session, "pty",
		BUF_PRINT(fields, "Upgrade: websocket\r\nSec-WebSocket-Key: %s"
			"\r\nSec-WebSocket-Version: 13\r\n",
			buf_str(&text)), d);
}

int serve_client_mcp(struct serve_client *c, const char *session, struct diag *d)
{
	return upgrade_to(c, session, "mcp", "Upgrade: mcp\r\n", d);
}
