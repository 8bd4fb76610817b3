/* profile_undo.c - what a repair changed, kept until it is taken back
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h> /* renameat */
#include <string.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/num.h"
#include "base/path.h"
#include "profile/profile_edit.h"
#include "base/str.h"

void profile_undo_release(struct profile_undo *u)
{
	buf_release(&u->before);
	buf_release(&u->after);
}

int profile_undo_dir(
	const char *state, const char *home, int make, struct diag *d)
{
	char path[2048];
	autofd int base = -1;
	int err = state && state[0] == '/'
			  ? path_join(path, sizeof path, state, "wardbox")
			  : path_join(path, sizeof path, home,
				    ".local/state/wardbox");

	if (!err && make)
		err = file_mkdirs(path, 0700);
	if (err)
		return diag_of(d, err, path);
	base = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base < 0)
		return diag_of(d, -errno, path);
	return file_private_dir(base, "profile-undo", geteuid(), make, d);
}

/* A name for the record of path, ".NAME" while it does not count. */
static void record_name(const char *path, char name[18])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *path; path++) {
		hash ^= (unsigned char)*path;
		hash *= UINT64_C(0x100000001b3);
	}
	buf_print(name, 18, ".%016jx", (uintmax_t)hash);
}

static const char unkept[] = "cannot keep what is needed to undo";

static bool same_bytes(const struct buf *a, const struct buf *b)
{
	return a->len == b->len &&
	       (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

/* path NUL mode NUL length-of-before NUL before after */
int profile_undo_save(int dir, const char *path, mode_t mode,
	const struct buf *before, const struct buf *after, struct diag *d)
{
	autobuf struct buf out = BUF_INIT(3 * (size_t)PROFILE_TEXT_MAX);
	autoclean(profile_undo_release) struct profile_undo old = {.mode = 0};
	char name[18];
	int err;

	record_name(path, name);
	if (profile_undo_load(dir, name + 1, &old) == 0 &&
		str_eq(old.path, path) && same_bytes(&old.after, before)) {
		before = &old.before;
		mode = old.mode;
	}
	buf_add(&out, path, strlen(path) + 1);
	buf_addf(&out, "%u", (unsigned)mode);
	buf_addc(&out, '\0');
	buf_addf(&out, "%zu", before->len);
	buf_addc(&out, '\0');
	buf_add(&out, before->data, before->len);
	buf_add(&out, after->data, after->len);
	err = out.err ? out.err
		      : file_replace(dir, name, out.data, out.len, 0600, true);
	return err ? diag_errno(d, err, unkept) : 0;
}

int profile_undo_settle(int dir, const char *path, bool done, struct diag *d)
{
	char name[18];

	record_name(path, name);
	if (!done)
		unlinkat(dir, name, 0);
	else if (renameat(dir, name, dir, name + 1))
		return diag_errno(d, -errno, unkept);
	return 0;
}

static const char *next_field(const struct buf *b, size_t *at)
{
	const char *s = b->data + *at;
	const char *nul = memchr(s, '\0', b->len - *at);

	if (!nul)
		return NULL;
	*at = (size_t)(nul - b->data) + 1;
	return s;
}

int profile_undo_load(int dir, const char *name, struct profile_undo *u)
{
	autobuf struct buf in = BUF_INIT(3 * (size_t)PROFILE_TEXT_MAX);
	const char *path, *mode, *len;
	unsigned mode_bits;
	uint64_t n;
	size_t at = 0;
	int err;

	*u = (struct profile_undo){.before = BUF_INIT(PROFILE_TEXT_MAX),
		.after = BUF_INIT(PROFILE_TEXT_MAX)};
	err = file_read(dir, name, &in);
	if (err)
		return err;
	if (!in.len)
		return -EBADMSG;
	path = next_field(&in, &at);
	mode = path ? next_field(&in, &at) : NULL;
	len = mode ? next_field(&in, &at) : NULL;
	if (!len || num_uint(mode, 0, 07777 | 0170000, &mode_bits) ||
		num_u64(len, 0, in.len - at, &n) ||
		str_copy(u->path, sizeof u->path, path))
		return -EBADMSG;
	u->mode = mode_bits;
	buf_add(&u->before, in.data + at, (size_t)n);
	buf_add(&u->after, in.data + at + n, in.len - at - (size_t)n);
	return u->before.err ? u->before.err : u->after.err;
}
