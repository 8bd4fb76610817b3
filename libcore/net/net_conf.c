/* net_conf.c - resolv.conf and hosts
 * SPDX-License-Identifier: MIT
 */
#include "net/net_in.h"

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/str.h"
#include "sys/file.h"

/* The next word of the line that begins at *at, cut at size. False at its end. */
static bool conf_word(const char **at, const char *end, char *out, size_t size)
{
	const char *s = *at;
	size_t n = 0;

	while (s < end && (*s == ' ' || *s == '\t' || *s == '\r'))
		s++;
	while (s < end && *s != ' ' && *s != '\t' && *s != '\r' && *s != '#' &&
		*s != ';') {
		if (n + 1 < size)
			out[n++] = *s;
		s++;
	}
	out[n] = '\0';
	*at = s < end && (*s == '#' || *s == ';') ? end : s;
	return n > 0;
}

static const char *conf_line_end(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline : end;
}

/* Reads a line of resolv.conf, whose first word is key. */
static void conf_line(
	struct net_hosts *h, const char *key, const char *at, const char *stop)
{
	char word[NET_NAME_MAX + 2];
	const char *dots;

	if (str_eq(key, "nameserver")) {
		if (h->servers < NET_SERVERS &&
			conf_word(&at, stop, word, sizeof word) &&
			net_addr_parse(&h->server[h->servers], word))
			h->servers++;
	} else if (str_eq(key, "search") || str_eq(key, "domain")) {
		h->searches = 0;
		while (h->searches < NET_SEARCHES &&
			conf_word(&at, stop, word, sizeof word))
			h->searches += net_name_copy(
				h->search[h->searches], word, strlen(word));
	} else if (str_eq(key, "options")) {
		while (conf_word(&at, stop, word, sizeof word))
			if ((dots = str_after(word, "ndots:")))
				(void)num_uint(dots, 0, 15, &h->dots);
	}
}

void net_conf_servers(struct net_hosts *h, const char *text, size_t n)
{
	const char *end = text + n, *stop;
	char word[16];

	h->dots = 1;
	for (; text < end; text = stop + 1) {
		stop = conf_line_end(text, end);
		if (conf_word(&text, stop, word, sizeof word))
			conf_line(h, word, text, stop);
	}
	/* As the resolvers of C libraries do. */
	if (!h->servers)
		h->servers = net_addr_parse(&h->server[0], "127.0.0.1");
}

void net_conf_hosts(struct net_hosts *h, const char *text, size_t n)
{
	const char *end = text + n, *stop;
	char word[NET_NAME_MAX + 2];
	struct net_addr addr;

	for (; text < end; text = stop + 1) {
		stop = conf_line_end(text, end);
		if (!conf_word(&text, stop, word, sizeof word) ||
			!net_addr_parse(&addr, word))
			continue;
		while (h->count < NET_HOSTS &&
			conf_word(&text, stop, word, sizeof word)) {
			char *name = h->host[h->count].name;

			if (!net_name_copy(name, word, strlen(word)) ||
				(h->only && !str_eq(name, h->only)))
				continue;
			h->host[h->count++].addr = addr;
		}
	}
}

static void conf_read(const char *path, struct net_hosts *h,
	void take(struct net_hosts *h, const char *text, size_t n))
{
	autobuf struct buf text = BUF_INIT(1 << 20);

	(void)file_read(AT_FDCWD, path, &text);
	take(h, buf_str(&text), text.len);
}

void net_hosts_read(struct net_hosts *h)
{
	conf_read("/etc/resolv.conf", h, net_conf_servers);
	conf_read("/etc/hosts", h, net_conf_hosts);
}
