/* sandbox_views.c - where else a place that is taken away can be seen
 * SPDX-License-Identifier: MIT
 *
 * A file system that is mounted twice, in whole or in part, shows one place by
 * two names, and Landlock's rules are for what is there and not for names.
 */
#include "box/sandbox_mount_in.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "sys/file.h"
#include "base/path.h"
#include "sys/proc_text.h"
#include "base/str.h"

/* Replaces the beginning from of a path by to. */
static int move_path(
	char *out, const char *path, const char *from, const char *to)
{
	const char *rest = path + strlen(from);

	rest += *rest == '/';
	return *rest ? path_join(out, PATH_MAX, to, rest) :
		       str_copy(out, PATH_MAX, to);
}

/* Is name another name of the rule's file? */
static bool is_same(const struct sandbox_rule *of, const char *name)
{
	struct stat st;

	return !str_eq(name, of->path) && lstat(name, &st) == 0 &&
	       st.st_dev == of->dev && st.st_ino == of->ino;
}

static int add_view(struct sandbox *s, const struct sandbox_rule *of,
	const char *path, size_t *added)
{
	size_t n = s->rule_count + *added;
	struct sandbox_rule rule = *of, *more;

	rule.path = strdup(path);
	rule.rights = 0;
	rule.other = true;
	if (of->access & SANDBOX_HIDE) {
		rule.access = SANDBOX_HIDE;
		rule.mount = SANDBOX_MOUNT_EMPTY;
	}
	more = rule.path ? reallocarray(s->rules, n + 1, sizeof(*more)) : NULL;
	if (!more) {
		free(rule.path);
		return -ENOMEM;
	}
	s->rules = more;
	s->rules[n] = rule;
	++*added;
	return 0;
}

/* In a chroot the mount that holds the place is not listed, nor the place's
 * path within its file system: the other mounts begin at one of the directories
 * on the way. */
static int views_in_chroot(struct sandbox *s, const struct sandbox_rule *of,
	const struct proc_mount *view, char *name, size_t *added)
{
	int err = 0;

	for (const char *rest = of->path; rest && err == 0;
		rest = strchr(rest + 1, '/')) {
		err = path_join(name, PATH_MAX, view->point, rest + 1);
		if (err == 0 && is_same(of, name))
			err = add_view(s, of, name, added);
	}
	if (err == 0 && is_same(of, view->point))
		err = add_view(s, of, view->point, added);
	return err;
}

int sandbox_views(struct sandbox *s, const struct sandbox_rule *r, size_t *added)
{
	const struct sandbox_rule of = *r;
	autobuf struct buf text = BUF_INIT(1 << 20);
	autofree struct proc_mount *views = NULL;
	autofree char *inner = malloc(2 * PATH_MAX);
	size_t n = 0;
	struct proc_mount *own = NULL;
	int err = file_read(AT_FDCWD, "/proc/self/mountinfo", &text);
	char *at;

	if (err == 0 && inner)
		views = calloc(text.len / PROC_MOUNT_LINE + 1, sizeof(*views));
	if (err < 0 || !views)
		return err < 0 ? err : -ENOMEM;
	buf_str(&text);
	for (at = text.data; proc_mount_next(&at, &views[n]); n++)
		if (path_beneath(views[n].point, of.path) &&
			(!own || strlen(views[n].point) >= strlen(own->point)))
			own = &views[n];
	err = own ? move_path(inner, of.path, own->point, own->root) : 0;
	for (size_t i = 0; i < n && err == 0; i++) {
		char *name = inner + PATH_MAX;

		if (!own) {
			err = views_in_chroot(s, &of, &views[i], name, added);
			continue;
		}
		if (!str_eq(views[i].dev, own->dev) ||
			!path_beneath(views[i].root, inner))
			continue;
		err = move_path(name, inner, views[i].root, views[i].point);
		if (err == 0 && is_same(&of, name))
			err = add_view(s, &of, name, added);
	}
	return err;
}
