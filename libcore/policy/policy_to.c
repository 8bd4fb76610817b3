/* policy_to.c - where the words of a command lead: `to:loopback`, `to:local`
 * SPDX-License-Identifier: MIT
 *
 * Neither gives a right. A command that these let through gets no network beyond
 * the session's loopback, so that a word which is read wrongly leads nowhere.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy_reads_in.h"
#include "base/buf.h"
#include "base/str.h"
#include "protect/gitconf.h"

enum { HOST_MAX = 64 }; /* of the loopback's names, which are short */

/* The host that a word names, as URL, USER@HOST, HOST:PORT or [V6]:PORT; false:
 * it is longer than a loopback's name. */
static bool host_of(const char *word, char host[static HOST_MAX])
{
	const char *from = str_find(word, "://");
	size_t n;

	from = from ? from + 3 : word;
	n = strcspn(from, "/?#\\");
	for (size_t i = 0; i < n; i++)
		if (from[i] == '@') {
			from += i + 1;
			n -= i + 1;
			i = (size_t)-1;
		}
	if (*from == '[') {
		from++;
		n = strcspn(from, "]");
	} else if (n && memchr(from, ':', n) == memrchr(from, ':', n)) {
		const char *colon = memchr(from, ':', n);

		n = colon ? (size_t)(colon - from) : n;
	}
	if (n >= HOST_MAX)
		return false;
	memcpy(host, from, n);
	host[n] = '\0';
	return true;
}

/* A name or an address, in its plain spelling, of this machine itself. */
static bool is_loopback(const char *word)
{
	char host[HOST_MAX];
	struct in_addr v4;
	struct in6_addr v6;

	if (!host_of(word, host))
		return false;
	if (inet_pton(AF_INET, host, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	if (inet_pton(AF_INET6, host, &v6) == 1)
		return IN6_IS_ADDR_LOOPBACK(&v6);
	return str_eq(host, "localhost") || str_eq(host, "ip6-localhost");
}

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* Some operand names the loopback, and none another host. What may be the
 * argument of an option says nothing, unless it is a URL. */
static bool leads_to_loopback(const struct parsed *w)
{
	bool any = false;

	for (size_t i = 0; i < w->operands; i++) {
		const struct arg *a = &w->operand[i];

		if (a->unknown || a->rel || a->many)
			return false;
		if (is_loopback(a->s))
			any = true;
		else if (str_find(a->s, "://") ||
			(!w->doubtful[i] && !is_number(a->s)))
			return false;
	}
	return any;
}

/* As git tells a path from a host: no colon stands before the first slash. */
static bool is_path(const char *word)
{
	return *word && word[strcspn(word, ":/")] != ':';
}

static bool is_inside(struct judge *j, const char *cwd, const char *path)
{
	struct path_found f = {0};

	judge_resolve(j, cwd, path, &f);
	return f.where == FOUND_IN ||
		(f.where == FOUND_OUT && judge_is_tmp(j, f.path));
}

struct git_remotes {
	struct judge *j;
	const char *cwd;
	bool some; /* at least one names a place */
};

/* Where a setting that names a place leads; -EACCES ends the reading. */
static int leads_away(void *ctx, const struct gitconf_var *var)
{
	const char *name = var->name;
	struct git_remotes *r = ctx;
	bool place = (str_after(name, "remote.") &&
			     (str_ends(name, ".url") ||
				     str_ends(name, ".pushurl"))) ||
		     (str_after(name, "submodule.") && str_ends(name, ".url"));

	/* What these bring is not looked at. */
	if (str_after(name, "include") || str_after(name, "url.") ||
		str_ends(name, ".vcs") || str_ends(name, ".promisor"))
		return -EACCES;
	if (!place)
		return 0;
	r->some = true;
	return is_path(var->value) && is_inside(r->j, r->cwd, var->value)
		? 0
		: -EACCES;
}

/* Do the repository's own settings name places by path alone, and at least
 * one? */
static bool remotes_are_local(struct judge_cmd *k)
{
	autobuf struct buf text = BUF_INIT(GITCONF_TEXT_MAX);
	struct judge *j = k->j;
	char path[JUDGE_PATH], top[JUDGE_PATH] = "";
	struct git_remotes r = {.j = j, .cwd = top};
	autofd int fd = -1;
	size_t n;

	if (j->no_project || str_copy(path, sizeof path, judge_cwd(k)) < 0)
		return false;
	for (n = strlen(path); fd < 0 && path_beneath(j->root, path);) {
		char name[JUDGE_PATH + 16];

		fd = open(BUF_PRINT(name, "%s/.git/config", path),
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		memcpy(top, path, sizeof top);
		while (n && path[--n] != '/')
			;
		path[n] = '\0';
		if (!n)
			break;
	}
	return fd >= 0 && buf_read_fd(&text, fd) == 0 &&
		gitconf_read(buf_str(&text), text.len, leads_away, &r) == 0 &&
		r.some;
}

/* A git command's place is a path, or a remote whose settings say so. */
static bool leads_to_path(struct judge_cmd *k, const struct parsed *w)
{
	const struct arg *place = NULL;

	if (w->opts && (reads_given(w, "-C") || reads_given(w, "--git-dir") ||
			       reads_given(w, "-c") ||
			       reads_given(w, "--config-env")))
		return false;
	for (size_t i = 0; i < w->operands; i++) {
		const struct arg *a = &w->operand[i];

		if (a->unknown || a->rel || a->many || str_find(a->s, "://") ||
			str_find(a->s, "::"))
			return false;
		if (i && !place && !str_eq(a->s, "add"))
			place = a;
		/* HOST:PATH; a refspec has its colon behind a name, too, and
		 * stands behind the place. */
		if (place == a && !is_path(a->s))
			return false;
		if (i && (strchr(a->s, '/') || a->s[0] == '.') &&
			!is_inside(k->j, judge_cwd(k), a->s))
			return false;
	}
	if (place && (strchr(place->s, '/') || place->s[0] == '.'))
		return true;
	/* A name alone is a directory for clone, else a remote. */
	if (place && w->operands && str_eq(w->operand[0].s, "clone"))
		return true;
	return remotes_are_local(k);
}

bool judge_leads(struct judge_cmd *k, const char *where, const struct parsed *w)
{
	return str_eq(where, "loopback") ? leads_to_loopback(w)
					 : leads_to_path(k, w);
}
