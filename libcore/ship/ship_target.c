/* ship_target.c - where the records go
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "ship/ship_in.h"

static const struct {
	const char *scheme, *port;
	enum ship_kind kind;
	bool tls;
} schemes[] = {
	{"syslog://", "514", SHIP_SYSLOG, false},
	{"syslog+tls://", "6514", SHIP_SYSLOG, true},
	{"otlp://", "4318", SHIP_OTLP, false},
	{"otlp+tls://", "4318", SHIP_OTLP, true},
	{"file:", "", SHIP_FILE, false},
};

static bool host_char(char c, bool literal)
{
	return chr_alpha(c) || chr_digit(c) || c == '.' ||
		(literal ? c == ':' || c == '%' : c == '-' || c == '_');
}

/* "HOST", "[ADDRESS]", and what is behind it; NULL: neither. */
static const char *take_host(struct ship_target *t, const char *p)
{
	const bool literal = *p == '[';
	size_t n = 0;

	p += literal;
	while (host_char(p[n], literal))
		n++;
	if (!n || n >= sizeof t->host || (literal && p[n] != ']'))
		return NULL;
	memcpy(t->host, p, n);
	t->host[n] = '\0';
	return p + n + literal;
}

static const char *take_port(struct ship_target *t, const char *p)
{
	unsigned port;
	size_t n;

	if (*p != ':')
		return p;
	n = strspn(++p, "0123456789");
	if (n >= sizeof t->port)
		return NULL;
	memcpy(t->port, p, n);
	t->port[n] = '\0';
	return num_uint(t->port, 1, 65535, &port) ? NULL : p + n;
}

/* What stands in the first line of a request. */
static bool path_plain(const char *p)
{
	while (*p > ' ' && *p < 0x7f)
		p++;
	return !*p;
}

int ship_target_parse(struct ship_target *t, const char *text, struct diag *d)
{
	const char *p = NULL;
	size_t i = 0;

	*t = (struct ship_target){.kind = SHIP_FILE};
	while (i < ARRAY_SIZE(schemes) && !(p = str_after(text, schemes[i].scheme)))
		i++;
	if (!p)
		return diag_fail(d, -EINVAL, "'%s' names no receiver\036"
			"syslog://HOST[:PORT], syslog+tls://, otlp://, otlp+tls://,"
			" or file:DIRECTORY", text);
	t->kind = schemes[i].kind;
	t->tls = schemes[i].tls;
	(void)str_copy(t->port, sizeof t->port, schemes[i].port);
	if (t->kind != SHIP_FILE) {
		p = take_host(t, p);
		p = p ? take_port(t, p) : NULL;
	}
	if (p && t->kind == SHIP_OTLP && !*p)
		p = "/v1/logs";
	if (!p || (t->kind == SHIP_SYSLOG && *p) ||
		(t->kind == SHIP_OTLP && (*p != '/' || !path_plain(p))) ||
		(t->kind == SHIP_FILE && !*p) ||
		str_copy(t->path, sizeof t->path, p))
		return diag_fail(d, -EINVAL, "'%s': expected %s%s", text,
			schemes[i].scheme, t->kind == SHIP_FILE ? "DIRECTORY"
				: t->kind == SHIP_OTLP ? "HOST[:PORT][/PATH]"
						       : "HOST[:PORT]");
	return 0;
}
