/* profile_taken.c - undo: a repair taken back
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diff.h"
#include "env.h"
#include "path.h"
#include "profile.h"
#include "profile_taken.h"
#include "profile_undo.h"
#include "str.h"

enum { LOCK_MS = 10000 };

int profile_undo_open(const struct profile_who *who, bool make, struct diag *d)
{
	const char *state =
		who->other ? NULL
			   : env_get(profile_environ(), "XDG_STATE_HOME");

	return profile_undo_dir(state, who->home, make, d);
}

/* Puts back what the record has, if the file is as the repair left it. */
static int put_back(void *ctx, const char *text, size_t n, bool missing,
	struct buf *out, enum profile_action *action, struct diag *d)
{
	const struct profile_undo *u = ctx;

	*action = PROFILE_UNCHANGED;
	if (missing || n != u->after.len ||
		(n && memcmp(text, u->after.data, n) != 0))
		return diag_fail(d, -EBADMSG,
			"%s was changed since: it is left as it is", u->path);
	buf_add(out, u->before.data, u->before.len);
	if (!u->mode)
		*action = PROFILE_UNLINKED;
	else if (out->len != n || (n && memcmp(out->data, text, n) != 0))
		*action = PROFILE_UPDATED;
	return out->err;
}

static int undo_one(int dir, const char *name, struct profile_undo *u,
	const struct profile_who *who, const struct profile_opts *o)
{
	struct profile_write job = {.path = u->path,
		.edit = put_back,
		.ctx = u,
		.flags = who->flags,
		.dry_run = true,
		.wait_ms = LOCK_MS};
	struct profile_written w;
	autobuf struct buf diff = BUF_INIT(8 << 20);
	struct diag d = {0};
	int err, code;

	for (;;) {
		err = profile_write(&job, &w, &d);
		if (!err && job.dry_run && (o->dry_run || !o->yes)) {
			diff_unified(&diff, u->path, u->path, w.before.data,
				w.before.len, w.after.data, w.after.len);
			profile_show_diff(&diff);
		}
		profile_written_release(&w);
		if (err || !job.dry_run)
			break;
		if (o->dry_run)
			return EXIT_OK;
		code = profile_consent(o, "Put it back as shown?");
		if (code)
			return code;
		job.dry_run = false;
	}
	if (!err && u->mode && chmod(u->path, u->mode))
		err = diag_of(&d, -errno, u->path);
	if (err) {
		cli_diag(&d);
		return profile_code(err);
	}
	unlinkat(dir, name, 0);
	if (!o->quiet)
		cli_warn("put back %s", u->path);
	return EXIT_OK;
}

static bool named(const char *path, int argc, char **argv)
{
	bool any = argc < 2;

	for (int i = 1; i < argc; i++)
		any |= str_eq(path_base(path), path_base(argv[i]));
	return any;
}

int profile_verb_undo(void *into, int argc, char **argv)
{
	struct profile_opts *o = into;
	struct profile_who who;
	struct diag d = {0};
	autofree struct profile_undo *u = profile_alloc(sizeof *u);
	const struct dirent *e;
	int dir, worst = EXIT_OK, seen = 0;
	DIR *list;

	profile_who_find(&who, o);
	dir = profile_undo_open(&who, false, &d);
	list = dir < 0 ? NULL : fdopendir(dir);
	while (list && (e = readdir(list)) != NULL) {
		int code;

		if (e->d_name[0] != '.' &&
			!profile_undo_load(dir, e->d_name, u) &&
			named(u->path, argc, argv)) {
			seen++;
			code = undo_one(dir, e->d_name, u, &who, o);
			worst = code > worst ? code : worst;
		}
		profile_undo_release(u);
	}
	if (list)
		closedir(list);
	if (!seen) {
		cli_warn("there is no repair to take back");
		return EXIT_FOUND;
	}
	return worst;
}
