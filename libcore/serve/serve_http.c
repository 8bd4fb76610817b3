/* serve_http.c - heads of HTTP/1.1 requests, and answers to them
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_http.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "base/str.h"

/* RFC 9110's token. */
static bool chr_token(char c)
{
	return chr_alpha(c) || chr_digit(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* Copies n bytes; false: they do not fit, or a control byte is among them. */
static bool copy_text(char *to, size_t size, const char *from, size_t n)
{
	if (n >= size)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)from[i] < ' ' || from[i] == 0x7f)
			return false;
	memcpy(to, from, n);
	to[n] = '\0';
	return true;
}

/* "GET /path?query HTTP/1.1". 0 or a status. */
static int read_line(struct http_request *r, const char *s, size_t n)
{
	const char *space = memchr(s, ' ', n), *rest, *end, *mark;
	size_t method = space ? (size_t)(space - s) : 0;

	if (!method || !copy_text(r->method, sizeof r->method, s, method))
		return 400;
	for (size_t i = 0; i < method; i++)
		if (!chr_token(s[i]))
			return 400;
	rest = space + 1;
	end = memchr(rest, ' ', n - method - 1);
	if (!end || *rest != '/')
		return 400;
	n -= (size_t)(end + 1 - s);
	if (n != 8 || memcmp(end + 1, "HTTP/", 5) != 0)
		return 400;
	if (memcmp(end + 1, "HTTP/1.1", 8) != 0)
		return 505;
	mark = memchr(rest, '?', (size_t)(end - rest));
	if (mark) {
		r->query = mark + 1;
		r->query_len = (size_t)(end - r->query);
	}
	for (size_t i = 0; i < r->query_len; i++)
		if ((unsigned char)r->query[i] <= ' ' || r->query[i] == 0x7f)
			return 400;
	return copy_text(r->path, sizeof r->path, rest,
		       (size_t)((mark ? mark : end) - rest))
		? 0
		: 400;
}

static bool name_is(const char *s, size_t n, const char *name)
{
	return strlen(name) == n && strncasecmp(s, name, n) == 0;
}

/* Said twice, two readers may take one each. */
static int take_once(char *to, size_t size, const char *value, size_t n)
{
	return *to || !copy_text(to, size, value, n) ? 400 : 0;
}

static int take_length(
	struct http_request *r, const char *value, size_t n, bool *said)
{
	char digits[24];

	if (*said || !copy_text(digits, sizeof digits, value, n) ||
		num_u64(digits, 0, UINT64_MAX, &r->length))
		return 400;
	*said = true;
	return r->length > HTTP_BODY_MAX ? 413 : 0;
}

/* A browser's WebSocket has no other field that its page can set, so the key may
 * stand here. */
static int take_protocols(struct http_request *r, const char *value, size_t n)
{
	static const char key[] = "wardbox.key.";
	const char *at, *end;

	if (take_once(r->protocols, sizeof r->protocols, value, n))
		return 400;
	at = str_find(r->protocols, key);
	if (!at)
		return 0;
	at += sizeof key - 1;
	end = at + strcspn(at, ", \t");
	return take_once(r->token, sizeof r->token, at, (size_t)(end - at));
}

/* Fields that are kept as they are said, once. */
#define ROW(name, member)                                                      \
	{name, offsetof(struct http_request, member),                          \
		sizeof ((struct http_request *)0)->member}
static const struct {
	char name[22];
	unsigned short at, size;
} kept_fields[] = {
	ROW(":method", method),
	ROW(":path", path),
	ROW(":authority", host),
	ROW("host", host),
	ROW("origin", origin),
	ROW("x-api-key", token),
	ROW("upgrade", upgrade),
	ROW("sec-websocket-key", key),
	ROW("sec-websocket-version", version),
	ROW("mcp-protocol-version", mcp_version),
	ROW("mcp-method", mcp_method),
	ROW("mcp-name", mcp_name),
};

static int take_kept(struct http_request *r, const char *name, size_t len,
	const char *value, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(kept_fields); i++)
		if (name_is(name, len, kept_fields[i].name))
			return take_once((char *)r + kept_fields[i].at,
				kept_fields[i].size, value, n);
	return 0;
}

static int take_field(struct http_request *r, const char *name, size_t len,
	const char *value, size_t n, bool *has_length)
{
	static const char bearer[] = "Bearer ";
	const size_t skip = sizeof bearer - 1;
	char text[128];

	if (name_is(name, len, "authorization"))
		return n > skip && !strncasecmp(value, bearer, skip)
			? take_once(r->token, sizeof r->token, value + skip,
				  n - skip)
			: 0;
	if (name_is(name, len, "sec-websocket-protocol"))
		return take_protocols(r, value, n);
	if (name_is(name, len, "accept-encoding"))
		r->gzip = copy_text(text, sizeof text, value, n) &&
			http_lists(text, "gzip");
	if (name_is(name, len, "content-length"))
		return take_length(r, value, n, has_length);
	if (name_is(name, len, "transfer-encoding") ||
		name_is(name, len, "expect"))
		return 501;
	if (name_is(name, len, "connection")) {
		if (!copy_text(text, sizeof text, value, n))
			return 400;
		r->connection_upgrade |= http_lists(text, "upgrade");
		r->keep &= !http_lists(text, "close");
	}
	return take_kept(r, name, len, value, n);
}

int http_field(struct http_request *r, const char *name, size_t len,
	const char *value, size_t n)
{
	bool has_length = false;

	/* Beside an authority a host may stand that says the same. */
	if (name_is(name, len, "host") && n == strlen(r->host) &&
		!memcmp(value, r->host, n))
		return 0;
	return take_field(r, name, len, value, n, &has_length);
}

/* "Name: value". 0 or a status. */
static int read_field(
	struct http_request *r, const char *s, size_t n, bool *has_length)
{
	const char *colon = memchr(s, ':', n), *value;
	size_t len = colon ? (size_t)(colon - s) : 0;

	if (!len)
		return 400;
	for (size_t i = 0; i < len; i++)
		if (!chr_token(s[i]))
			return 400;
	value = colon + 1;
	n -= len + 1;
	while (n && (*value == ' ' || *value == '\t'))
		value++, n--;
	while (n && (value[n - 1] == ' ' || value[n - 1] == '\t'))
		n--;
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)value[i] < ' ' && value[i] != '\t') ||
			value[i] == 0x7f)
			return 400;
	return take_field(r, s, len, value, n, has_length);
}

int http_read(struct http_request *r, const char *bytes, size_t n)
{
	static const char end[] = "\r\n\r\n";
	const char *last = n ? memmem(bytes, n < HTTP_HEAD_MAX ? n
				: HTTP_HEAD_MAX, end, 4) : NULL;
	const char *at = bytes, *line;
	bool has_length = false;
	int status, fields = 0;

	if (!last)
		return n >= HTTP_HEAD_MAX ? -431 : 0;
	*r = (struct http_request){.keep = true};
	line = memmem(at, (size_t)(last + 2 - at), end, 2);
	status = read_line(r, at, (size_t)(line - at));
	for (at = line + 2; !status && at < last + 2; at = line + 2) {
		line = memmem(at, (size_t)(last + 2 - at), end, 2);
		if (fields++ == HTTP_FIELDS_MAX)
			return -431;
		status = read_field(r, at, (size_t)(line - at), &has_length);
	}
	if (!status && !r->host[0])
		status = 400;
	return status ? -status : (int)(last + 4 - bytes);
}

/* The value of two digits; -1: they are none. */
static int hex_pair(const char *s)
{
	const char pair[] = {s[0], s[1], '\0'};
	uint64_t v;

	return num_hex64(pair, &v) ? -1 : (int)v;
}

static int add_decoded(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int c = s[i] == '+' ? ' ' : (unsigned char)s[i];

		if (s[i] == '%') {
			c = i + 2 < n ? hex_pair(s + i + 1) : -1;
			i += 2;
		}
		if (c <= 0)
			return -EINVAL;
		buf_addc(out, (char)c);
	}
	return out->err ? out->err : 1;
}

int http_query_text(const struct http_request *r, const char *name, size_t nth,
	struct buf *out)
{
	size_t len = strlen(name);
	const char *at = r->query ? r->query : "", *end = at + r->query_len;

	while (at < end) {
		const char *next = memchr(at, '&', (size_t)(end - at));
		size_t n = (size_t)((next ? next : end) - at);

		if (n > len && at[len] == '=' && !memcmp(at, name, len) && !nth--)
			return add_decoded(out, at + len + 1, n - len - 1);
		at += n + (next != NULL);
	}
	return 0;
}

int http_query(const struct http_request *r, const char *name, uint64_t max,
	uint64_t *value)
{
	char digits[24];
	struct buf text = BUF_FIXED(digits);
	int got = http_query_text(r, name, 0, &text);

	if (got <= 0)
		return got ? -EINVAL : 0;
	return num_u64(buf_str(&text), 0, max, value) ? -EINVAL : 0;
}

bool http_lists(const char *list, const char *word)
{
	while (*list) {
		size_t n = strcspn(list, ",");
		const char *from = list;
		size_t len = n;

		while (len && (*from == ' ' || *from == '\t'))
			from++, len--;
		while (len && (from[len - 1] == ' ' || from[len - 1] == '\t'))
			len--;
		if (name_is(from, len, word))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

int http_authority(const char *text, char *host, size_t host_size, char *port,
	size_t port_size)
{
	bool six = *text == '[';
	const char *from = text + six;
	size_t n = strcspn(from, six ? "]" : ":");
	const char *rest = from + n;

	if (six && *rest++ != ']')
		return -EINVAL;
	if (*rest && *rest != ':')
		return -EINVAL;
	if (!n || !copy_text(host, host_size, from, n))
		return -EINVAL;
	return str_copy(port, port_size, *rest ? rest + 1 : "");
}

const char *http_reason(int status)
{
	static const struct {
		int status;
		char text[28];
	} reasons[] = {
		{101, "Switching Protocols"}, {200, "OK"}, {201, "Created"},
		{202, "Accepted"}, {204, "No Content"}, {400, "Bad Request"},
		{401, "Unauthorized"}, {403, "Forbidden"}, {404, "Not Found"},
		{405, "Method Not Allowed"}, {409, "Conflict"},
		{413, "Content Too Large"}, {426, "Upgrade Required"},
		{429, "Too Many Requests"},
		{431, "Header Fields Too Large"}, {501, "Not Implemented"},
		{503, "Service Unavailable"}, {505, "Version Not Supported"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "Error";
}

void http_answer(struct buf *out, int status, const char *type,
	const char *fields, const void *body, size_t n, bool keep)
{
	buf_addf(out, "HTTP/1.1 %d %s\r\n", status, http_reason(status));
	if (type)
		buf_addf(out, "Content-Type: %s\r\n", type);
	if (status == 401)
		buf_adds(out, "WWW-Authenticate: Bearer\r\n");
	if (status != 204)
		buf_addf(out, "Content-Length: %zu\r\n", type ? n : 0);
	buf_addf(out, "%sCache-Control: no-store\r\n"
		"X-Content-Type-Options: nosniff\r\n"
		"Connection: %s\r\n\r\n", fields, keep ? "keep-alive" : "close");
	if (type)
		buf_add(out, body, n);
}

void http_stream(struct buf *out, const char *type)
{
	buf_addf(out, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n"
		"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
		"Connection: close\r\n\r\n", type);
}
