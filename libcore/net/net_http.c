/* net_http.c - the head of an HTTP request, as strictly as any server reads it
 * SPDX-License-Identifier: MIT
 *
 * What two servers could take for different things (a line folded or ended by a
 * newline alone, two lengths, a space before a colon) is refused: behind it a
 * second request could hide.
 */
#include "net/net_in.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"

static bool http_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* "HOST[:PORT]" */
static bool http_host(struct net_http *h, const char *s, size_t n)
{
	const char *end = n && *s == '[' ? memchr(s, ']', n) : NULL;
	const char *colon = end ? memchr(end, ':', n - (size_t)(end - s))
				: memchr(s, ':', n);
	size_t host = colon ? (size_t)(colon - s) : n;
	char name[NET_NAME_MAX + 1], digits[8] = "";
	uint64_t port = 0;

	if (colon) {
		size_t rest = n - host - 1;

		if (!rest || rest >= sizeof digits)
			return false;
		memcpy(digits, colon + 1, rest);
		digits[rest] = '\0';
		if (num_u64(digits, 1, 65535, &port) < 0)
			return false;
	}
	if (end ? !net_addr_copy(name, s, host) : !net_name_copy(name, s, host))
		return false;
	/* The target and the header say the same, or one is not there. */
	if (h->host[0] && (strcmp(h->host, name) != 0 || h->port != port))
		return false;
	memcpy(h->host, name, sizeof name);
	h->port = (uint16_t)port;
	return true;
}

static int http_request_line(struct net_http *h, const char *s, size_t n)
{
	const char *target = memchr(s, ' ', n), *end;
	size_t method = target ? (size_t)(target - s) : 0, host;

	if (!method || n < method + 10)
		return -EBADMSG;
	for (size_t i = 0; i < method; i++)
		if (!http_token(s[i]))
			return -EBADMSG;
	target++;
	end = s + n - 9;
	if (end <= target || (memcmp(end, " HTTP/1.1", 9) != 0 &&
				     memcmp(end, " HTTP/1.0", 9) != 0))
		return -EBADMSG;
	for (const char *c = target; c < end; c++)
		if (*c <= ' ' || *c == 0x7f)
			return -EBADMSG;
	h->connect = method == 7 && memcmp(s, "CONNECT", 7) == 0;
	if (h->connect)
		return http_host(h, target, (size_t)(end - target)) && h->port
			? 0
			: -EBADMSG;
	if (*target == '/' || (*target == '*' && end == target + 1))
		return 0;
	if (end - target < 8 || strncasecmp(target, "http://", 7) != 0)
		return -EBADMSG;
	h->absolute = true;
	target += 7;
	for (host = 0; target + host < end && !strchr("/?#", target[host]);)
		host++;
	return http_host(h, target, host) ? 0 : -EBADMSG;
}

/* A header's value is s[0..n), without spaces around it. */
static int http_header(struct net_http *h, const char *name, size_t len,
	const char *s, size_t n, unsigned seen[static 3])
{
	char digits[24];

	if (len == 4 && strncasecmp(name, "host", 4) == 0)
		return seen[0]++ || !http_host(h, s, n) ? -EBADMSG : 0;
	if (len == 14 && strncasecmp(name, "content-length", 14) == 0) {
		if (seen[1]++ || seen[2] || !n || n >= sizeof digits)
			return -EBADMSG;
		memcpy(digits, s, n);
		digits[n] = '\0';
		return num_u64(digits, 0, INT64_MAX, &h->length) < 0 ? -EBADMSG
								      : 0;
	}
	h->websocket |= len == 7 && strncasecmp(name, "upgrade", 7) == 0 &&
		n == 9 && strncasecmp(s, "websocket", 9) == 0;
	if (len == 17 && strncasecmp(name, "transfer-encoding", 17) == 0) {
		if (seen[2]++ || seen[1] || n != 7 ||
			strncasecmp(s, "chunked", 7) != 0)
			return -EBADMSG;
		h->chunked = true;
	}
	return 0;
}

static int http_header_line(
	struct net_http *h, const char *s, size_t n, unsigned seen[static 3])
{
	size_t name = 0, from;

	while (name < n && http_token(s[name]))
		name++;
	if (!name || name == n || s[name] != ':')
		return -EBADMSG;
	for (size_t i = name; i < n; i++)
		if ((unsigned char)s[i] < ' ' && s[i] != '\t')
			return -EBADMSG;
	from = name + 1;
	while (from < n && (s[from] == ' ' || s[from] == '\t'))
		from++;
	while (n > from && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	return http_header(h, s, name, s + from, n - from, seen);
}

int net_http_parse(struct net_http *h, const char *bytes, size_t n)
{
	unsigned seen[3] = {0}; /* Host, Content-Length, Transfer-Encoding */
	size_t at = 0;
	int err = 0;

	*h = (struct net_http){0};
	for (bool first = true; !err; first = false) {
		const char *line = bytes + at;
		const char *newline = memchr(line, '\n', n - at);
		size_t len;

		if (!newline) {
			/* What is no request is not waited for. */
			for (size_t i = 0; first && i < n && i < 8; i++)
				if (!http_token(bytes[i]) && bytes[i] != ' ' &&
					!(i && strchr("/:", bytes[i])))
					return -EBADMSG;
			return n < NET_PEEK ? NET_MORE : -EBADMSG;
		}
		len = (size_t)(newline - line);
		if (!len || line[len - 1] != '\r')
			return -EBADMSG;
		len--;
		at += len + 2;
		if (first)
			err = http_request_line(h, line, len);
		else if (len)
			err = http_header_line(h, line, len, seen);
		else
			break;
	}
	h->head = at;
	return err ? err : h->host[0] ? 0 : -EBADMSG;
}

int net_http_chunk(const char *bytes, size_t n, size_t *line, uint64_t *size)
{
	const char *newline = memchr(bytes, '\n', n);
	size_t digits = 0, len;

	*size = 0;
	if (!newline)
		return n < 256 ? NET_MORE : -EBADMSG;
	len = (size_t)(newline - bytes);
	if (!len || bytes[len - 1] != '\r')
		return -EBADMSG;
	for (; digits < len - 1; digits++) {
		char c = bytes[digits];
		unsigned v = c >= '0' && c <= '9' ? (unsigned)(c - '0')
			: c >= 'a' && c <= 'f'	  ? (unsigned)(c - 'a' + 10)
			: c >= 'A' && c <= 'F'	  ? (unsigned)(c - 'A' + 10)
						  : 16;

		if (v == 16)
			break;
		*size = *size << 4 | v;
	}
	/* An extension is nobody's business, but no second line either. */
	if (!digits || digits > 15 ||
		(digits < len - 1 && bytes[digits] != ';') ||
		memchr(bytes, '\r', len - 1))
		return -EBADMSG;
	*line = len + 1;
	return 0;
}
