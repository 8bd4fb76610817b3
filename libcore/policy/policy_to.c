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

/* The host in a word like URL, USER@HOST, HOST:PORT or [V6]:PORT; false if it
 * is longer than a name of the loopback. */
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

/* Is it a name or an address, plainly spelled, of this machine itself? */
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

/* Does some operand name the loopback, and none another host? A word that may
 * be an option's argument says nothing, unless it is a URL. */
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

/* Is the word a path to git: no colon stands before the first slash? */
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
	bool some; /* at least one setting names a place */
};

/* Looks where a setting leads that names a place; -EACCES ends the reading. */
static int leads_away(void *ctx, const struct gitconf_var *var)
{
	const char *name = var->name;
	struct git_remotes *r = ctx;
	bool place = (str_after(name, "remote.") &&
			     (str_ends(name, ".url") ||
				     str_ends(name, ".pushurl"))) ||
		     (str_after(name, "submodule.") && str_ends(name, ".url"));

	/* Settings that these bring in are not looked at. */
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

/* Do the repository's own settings name at least one place, and all places by
 * paths? */
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

/* Is the place of a git command a path, or a remote whose settings are
 * paths? */
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
		/* HOST:PATH is no path. A refspec has its colon behind a name,
		 * too, but stands behind the place. */
		if (place == a && !is_path(a->s))
			return false;
		if (i && (strchr(a->s, '/') || a->s[0] == '.') &&
			!is_inside(k->j, judge_cwd(k), a->s))
			return false;
	}
	if (place && (strchr(place->s, '/') || place->s[0] == '.'))
		return true;
	/* A bare name is a directory for clone, and a remote for the other
	 * commands. */
	if (place && w->operands && str_eq(w->operand[0].s, "clone"))
		return true;
	return remotes_are_local(k);
}

bool judge_leads(struct judge_cmd *k, const char *where, const struct parsed *w)
{
	return str_eq(where, "loopback") ? leads_to_loopback(w)
					 : leads_to_path(k, w);
}
