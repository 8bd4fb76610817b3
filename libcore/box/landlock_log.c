/* landlock_log.c - what the kernel itself says that Landlock refused
 * SPDX-License-Identifier: MIT
 */
#include "box/landlock_log.h"

#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"

enum {
	GET_STATUS = 1000,
	READ_GROUP = 1, /* AUDIT_NLGRP_READLOG */
	PATIENCE_MS = 500,
};

struct message {
	struct nlmsghdr head;
	char text[2560]; /* a longer one is cut */
};

/* The value of a field, up to the next space; NULL when there is none. */
static const char *field_value(
	const char *text, size_t n, const char *key, size_t *len)
{
	size_t k = strlen(key);

	for (size_t i = 0; i + k < n; i++) {
		if ((i && text[i - 1] != ' ') || memcmp(text + i, key, k) != 0)
			continue;
		text += i + k;
		n -= i + k;
		for (*len = 0; *len < n && text[*len] != ' ';)
			++*len;
		return text;
	}
	return NULL;
}

static int hex_path(char c)
{
	return chr_digit(c) ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

static int field_number(const char *s, size_t n, int base, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		int v = hex_path(s[i]);

		if (v < 0 || v >= base || i == 16)
			return -EBADMSG;
		*out = *out * (uint64_t)base + (uint64_t)v;
	}
	return n ? 0 : -EBADMSG;
}

/* Appends as much as fits. */
static void add_text(struct buf *out, const char *s, size_t n)
{
	buf_add(out, s, n < out->cap ? n : out->cap - 1);
}

/* A path stands in quotes, or in hex if it holds bytes that could mislead. */
static int add_path(const char *s, size_t n, struct buf *out)
{
	const char *end = n > 1 && *s == '"' ? memchr(s + 1, '"', n - 1) : NULL;

	if (end) {
		add_text(out, s + 1, (size_t)(end - s) - 1);
		return 0;
	}
	for (size_t i = 0; i + 1 < n && s[i] != ' ' && out->len + 1 < out->cap;
		i += 2) {
		if (hex_path(s[i]) < 0 || hex_path(s[i + 1]) < 0)
			return -EBADMSG;
		buf_addc(out, (char)(hex_path(s[i]) << 4 | hex_path(s[i + 1])));
	}
	return 0;
}

int landlock_record_parse(
	unsigned type, const char *text, size_t n, struct landlock_record *r)
{
	struct buf rights = BUF_FIXED(r->rights), object = BUF_FIXED(r->object);
	size_t len = 0;
	const char *s = field_value(text, n, "domain=", &len);
	uint64_t pid = 0;
	int err = s ? field_number(s, len, 16, &r->domain) : -EBADMSG;

	r->pid = 0;
	if (err == 0 && type == LANDLOCK_LOG_DOMAIN) {
		s = field_value(text, n, "pid=", &len);
		err = s ? field_number(s, len, 10, &pid) : 0;
		r->pid = (pid_t)(pid > INT32_MAX ? 0 : pid);
	} else if (err == 0) {
		s = field_value(text, n, "blockers=", &len);
		if (!s)
			return -EBADMSG;
		add_text(&rights, s, len);
		s += len;
		if (s < text + n)
			s++;
		n -= (size_t)(s - text);
		if (n > 5 && memcmp(s, "path=", 5) == 0)
			err = add_path(s + 5, n - 5, &object);
		else
			add_text(&object, s, n);
	}
	buf_str(&rights);
	buf_str(&object);
	return err;
}

static ssize_t receive_record(int fd, struct message *m)
{
	ssize_t n;

	do
		n = recv(fd, m, sizeof(*m), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Is auditing on? Without it the kernel reports nothing. */
static int is_on(int fd)
{
	struct nlmsghdr ask = {.nlmsg_len = sizeof(ask),
		.nlmsg_type = GET_STATUS,
		.nlmsg_flags = NLM_F_REQUEST};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct message m;
	uint32_t status[2]; /* a mask, and whether it is on */

	if (send(fd, &ask, sizeof(ask), 0) < 0)
		return -errno;
	while (poll(&p, 1, PATIENCE_MS) > 0) {
		ssize_t n = receive_record(fd, &m);

		if (n < (ssize_t)(sizeof(m.head) + sizeof(int32_t)))
			return -EPROTO;
		if (m.head.nlmsg_type == NLMSG_ERROR) {
			int32_t err;

			memcpy(&err, m.text, sizeof(err));
			return err < 0 ? err : -EPROTO;
		}
		if (m.head.nlmsg_type != GET_STATUS ||
			n < (ssize_t)(sizeof(m.head) + sizeof(status)))
			continue;
		memcpy(status, m.text, sizeof(status));
		return status[1] ? 0 : -ENODATA;
	}
	return -ETIMEDOUT;
}

int landlock_log_open(void)
{
	struct sockaddr_nl at = {
		.nl_family = AF_NETLINK, .nl_groups = READ_GROUP};
	int fd = socket(
		AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
	int err;

	if (fd < 0)
		return -errno;
	err = bind(fd, (const void *)&at, sizeof(at)) < 0 ? -errno : is_on(fd);
	if (err < 0)
		close(fd);
	return err < 0 ? err : fd;
}

int landlock_log_read(int fd, void *ctx,
	void (*show)(void *ctx, unsigned type, const struct landlock_record *r))
{
	struct landlock_record r;
	struct message m;

	for (;;) {
		ssize_t n = receive_record(fd, &m);
		unsigned type;

		if (n == -EAGAIN)
			return 0;
		/* The kernel lost records because too many came. */
		if (n == -ENOBUFS)
			continue;
		if (n < (ssize_t)sizeof(m.head))
			return n < 0 ? (int)n : -EPROTO;
		type = m.head.nlmsg_type;
		if ((type == LANDLOCK_LOG_DENIED ||
			    type == LANDLOCK_LOG_DOMAIN) &&
			landlock_record_parse(type, m.text,
				(size_t)n - sizeof(m.head), &r) == 0)
			show(ctx, type, &r);
	}
}
