/* profile_taken.c - undo: a repair taken back
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diff.h"
#include "sys/env.h"
#include "sys/file.h"
#include "base/path.h"
#include "profile.h"
#include "profile_doctor.h"
#include "profile/profile_undo.h"
#include "base/str.h"

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
	*action = u->mode ? PROFILE_UPDATED : PROFILE_UNLINKED;
	return out->err;
}

static int undo_one(int dir, const char *name, struct profile_undo *u,
	const struct profile_who *who, const struct profile_opts *o,
	struct json *j)
{
	struct profile_write job = {.path = u->path,
		.edit = put_back,
		.ctx = u,
		.flags = who->flags,
		.less = u->mode ? 07777 : 0,
		.more = u->mode,
		.dry_run = true,
		.wait_ms = LOCK_MS};
	struct profile_outcome done = {0};
	struct profile_written *w = &done.w;
	autobuf struct buf diff = BUF_INIT(8 << 20);
	const char *withheld = NULL;
	int code;

	done.err = profile_write(&job, w, &done.d);
	if (!done.err && !o->json && (o->dry_run || !o->yes)) {
		profile_add_diff(&diff, u->path, w);
		profile_show_diff(&diff);
	}
	code = profile_code(done.err);
	if (!code && !o->dry_run) {
		code = profile_consent(o, "Put it back as shown?");
		if (code) {
			withheld = "nobody said yes";
		} else {
			job.dry_run = false;
			done.err = profile_write(&job, w, &done.d);
			code = profile_code(done.err);
		}
		if (!code) {
			unlinkat(dir, name, 0);
			if (!o->quiet)
				cli_warn("put back %s", u->path);
		}
	}
	if (done.err)
		cli_diag(&done.d);
	profile_json_change(
		j, u->path, profile_language(u->path, who), &done, withheld);
	json_close(j);
	profile_written_release(w);
	return code;
}

static bool is_named(const char *path, int argc, char **argv)
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
	autobuf struct buf out = BUF_INIT(64u << 20);
	struct json j = profile_json_begin(&out);
	autodir DIR *list = NULL;

	profile_who_find(&who, o);
	profile_json_changes(&j, o);
	dir = profile_undo_open(&who, false, &d);
	list = dir < 0 ? NULL : fdopendir(dir);
	while (list && (e = readdir(list)) != NULL) {
		int code;

		if (e->d_name[0] != '.' &&
			!profile_undo_load(dir, e->d_name, u) &&
			is_named(u->path, argc, argv)) {
			seen++;
			code = undo_one(dir, e->d_name, u, &who, o, &j);
			worst = code > worst ? code : worst;
		}
		profile_undo_release(u);
	}
	if (!seen) {
		cli_warn("there is no repair to take back");
		worst = EXIT_FOUND;
	}
	if (o->json)
		cli_print_json(&j);
	return worst;
}
