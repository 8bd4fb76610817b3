/* net_registries.c - where this machine's package tools get their packages
 * SPDX-License-Identifier: MIT
 *
 * Of each tool's settings, the ones that a command cannot change: the machine's,
 * the user's own, and what the tool itself falls back to. No host is known here.
 */
#include "net/net.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "sys/file.h"

enum {
	TEXT_MAX = 1 << 20,
	SAME_LINE = 0, /* the value stands on the key's line */
	NEAR = 200,    /* or so many bytes behind it */
};

static const struct source {
	const char *tool;
	const char *files; /* "*" within a name; "~/" is the user's home */
	const char *key;   /* what stands before a value; "" for every line;
			    * "^": at its begin */
	unsigned within;
	bool bare; /* the value is a host, and no URL */
} sources[] = {
#define NPM_OWN "@npmcli/config/lib/definitions/definitions.js"
#define NPM "node_modules/" NPM_OWN
#define NPM_KEY "new Definition('registry'"
#define PIP "/python3*/*-packages/pip/_internal/models/index.py"
#define PIP_KEY "^PyPI = PackageIndex("
	{"apt", "/etc/apt/sources.list", "deb", SAME_LINE, false},
	{"apt", "/etc/apt/sources.list.d/*.list", "deb", SAME_LINE, false},
	{"apt", "/etc/apt/sources.list.d/*.sources", "URIs:", SAME_LINE, false},
	{"apk", "/etc/apk/repositories", "", SAME_LINE, false},
	{"npm", "/etc/npmrc", "registry", SAME_LINE, false},
	{"npm", "/usr/etc/npmrc", "registry", SAME_LINE, false},
	{"npm", "/usr/local/etc/npmrc", "registry", SAME_LINE, false},
	{"npm", "~/.npmrc", "registry", SAME_LINE, false},
	{"npm", "/usr/lib/node_modules/npm/" NPM, NPM_KEY, NEAR, false},
	{"npm", "/usr/local/lib/node_modules/npm/" NPM, NPM_KEY, NEAR, false},
	{"npm", "/usr/share/nodejs/npm/" NPM, NPM_KEY, NEAR, false},
	{"npm", "/usr/share/nodejs/" NPM_OWN, NPM_KEY, NEAR, false},
	{"npm", "/opt/*/lib/node_modules/npm/" NPM, NPM_KEY, NEAR, false},
	{"npm", "~/.nvm/versions/node/*/lib/node_modules/npm/" NPM, NPM_KEY,
		NEAR, false},
	{"pip", "/etc/pip.conf", "index-url", SAME_LINE, false},
	{"pip", "~/.config/pip/pip.conf", "index-url", SAME_LINE, false},
	{"pip", "~/.pip/pip.conf", "index-url", SAME_LINE, false},
	{"pip", "/usr/lib" PIP, PIP_KEY, NEAR, false},
	{"pip", "/usr/local/lib" PIP, PIP_KEY, NEAR, false},
	{"pip", "~/.pyenv/versions/*/lib" PIP, PIP_KEY, NEAR, false},
	{"pip", "/usr/lib" PIP, PIP_KEY, NEAR, true},
	{"pip", "/usr/local/lib" PIP, PIP_KEY, NEAR, true},
	{"pip", "~/.pyenv/versions/*/lib" PIP, PIP_KEY, NEAR, true},
	{"cargo", "~/.cargo/config.toml", "registry", SAME_LINE, false},
	{"cargo", "~/.cargo/config.toml", "index", SAME_LINE, false},
	{"go", "/usr/local/go/go.env", "GOPROXY=", SAME_LINE, false},
	{"go", "/usr/lib/go*/go.env", "GOPROXY=", SAME_LINE, false},
	{"go", "/usr/share/go*/go.env", "GOPROXY=", SAME_LINE, false},
	{"go", "/usr/local/go/go.env", "GOSUMDB=", SAME_LINE, true},
	{"go", "/usr/lib/go*/go.env", "GOSUMDB=", SAME_LINE, true},
	{"go", "/usr/share/go*/go.env", "GOSUMDB=", SAME_LINE, true},
	{"go", "~/.config/go/env", "GOPROXY=", SAME_LINE, false},
};

struct scan {
	const struct source *from;
	const char *file;
	net_registry *found;
	void *ctx;
};

static void scan_found(const struct scan *s, const char *host, size_t n,
	const char *port)
{
	char text[NET_NAME_MAX + 16];
	struct net_rule rule;

	if (n && n <= NET_NAME_MAX &&
		net_rule_parse(&rule, BUF_PRINT(text, "%.*s:%s", (int)n, host,
					      port)))
		s->found(s->ctx, &rule, s->from->tool, s->file);
}

/* The URLs of the text, each with its host. */
static void scan_urls(const struct scan *s, const char *at, const char *end,
	bool first)
{
	static const char schemes[2][9] = {"https://", "http://"};

	for (; at < end; at++)
		for (size_t k = 0; k < 2; k++) {
			const char *host = str_after(at, schemes[k]), *colon;
			char port[6];
			size_t n, digits;

			if (!host || host >= end)
				continue;
			/* A name and a password may stand before it. */
			n = strcspn(host, "/\"'`,; \t\r\n)|");
			for (size_t i = n; i > 0; i--)
				if (host[i - 1] == '@') {
					host += i;
					n -= i;
					break;
				}
			colon = memchr(host, ':', n);
			digits = colon ? n - (size_t)(colon - host) - 1 : 0;
			BUF_PRINT(port, "%.*s", digits < 6 ? (int)digits : 0,
				colon ? colon + 1 : "");
			scan_found(s, host, colon ? (size_t)(colon - host) : n,
				digits ? port : k ? "80" : "443");
			at = host + n;
			if (first)
				return;
			break;
		}
}

/* Words that look like a host's name. */
static void scan_bare(const struct scan *s, const char *at, const char *end)
{
	while (at < end) {
		size_t n = strcspn(at, "\"'=,;+ \t\r\n()");

		if (at + n > end)
			return;
		if (n > 3 && memchr(at, '.', n) && !memchr(at, '/', n) &&
			!memchr(at, ':', n) && !memchr(at, '_', n))
			scan_found(s, at, n, "443");
		at += n + 1;
	}
}

static void scan_text(const struct scan *s, const char *text, size_t n)
{
	const char *end = text + n, *line = text;

	for (; line < end; line++) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		const char *key;

		stop = stop ? stop : end;
		key = line + strspn(line, " \t");
		if (*key != '#' && *key != ';' && !str_after(key, "//")) {
			key = *s->from->key == '^'
				? str_after(line, s->from->key + 1)
				: *s->from->key
				? memmem(line, (size_t)(stop - line),
					  s->from->key, strlen(s->from->key))
				: line;
			if (key && s->from->within)
				stop = end - key > NEAR ? key + NEAR : end;
			if (key && s->from->bare)
				scan_bare(s, key, stop);
			else if (key)
				scan_urls(s, key, stop, s->from->within);
		}
		line = stop;
	}
}

static void scan_file(struct scan *s, const char *path)
{
	autobuf struct buf text = BUF_INIT(TEXT_MAX);

	s->file = path;
	if (file_read(AT_FDCWD, path, &text) == 0)
		scan_text(s, buf_str(&text), text.len);
}

/* The files below path that rest names: "/NAME/NA*ME/NAME". */
static void scan_files(struct scan *s, const char *path, const char *rest)
{
	const size_t n = strcspn(++rest, "/");
	char at[PATH_MAX], name[NAME_MAX + 1];
	const struct dirent *e;
	DIR *dir;

	BUF_PRINT(name, "%.*s", (int)n, rest);
	if (!strchr(name, '*')) {
		BUF_PRINT(at, "%s/%s", path, name);
		if (rest[n])
			scan_files(s, at, rest + n);
		else
			scan_file(s, at);
		return;
	}
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.' || !str_glob(name, e->d_name))
			continue;
		BUF_PRINT(at, "%s/%s", path, e->d_name);
		if (rest[n])
			scan_files(s, at, rest + n);
		else
			scan_file(s, at);
	}
	if (dir)
		closedir(dir);
}

void net_registries(const char *home, net_registry *found, void *ctx)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		struct scan s = {.from = &sources[i],
			.found = found,
			.ctx = ctx};
		const char *name = s.from->files;

		if (name[0] != '~')
			scan_files(&s, "", name);
		else if (*home)
			scan_files(&s, home, name + 1);
	}
}
