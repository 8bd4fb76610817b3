/* shim_install.c - puts shims over the shells of a root, and takes them off
 * SPDX-License-Identifier: MIT
 */
#include "shim/shim_install.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "shim/shim_steps_in.h"
#include "base/str.h"

bool shim_has_policy(const struct shim_root *r)
{
	autofd int fd = shim_root_openat(r, r->record.policy, O_PATH);

	return fd >= 0;
}

/* Finds what would stop the install half-way, before anything is changed. */
static int check_writable(const struct shim_root *r, struct diag *d)
{
	for (size_t i = 0; i < SHIM_PLACES; i++) {
		const struct shim_place *p = &r->place[i];

		if (p->fd < 0 || !faccessat(p->fd, ".", W_OK, AT_EACCESS))
			continue;
		diag_errno(d, -errno, "cannot change %s", p->path);
		if (errno == EROFS)
			diag_hint(d, "remount it read-write, or install into"
				     " the image before it is sealed");
		else
			diag_hint(d, "run it as the owner of the root");
		return -errno;
	}
	return 0;
}

static int take_lock(const struct shim_root *r, struct diag *d)
{
	if (!flock(r->fd, LOCK_EX | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK
		? diag_fail(d, -EAGAIN, "another install is at work on it")
		: diag_errno(d, -errno, "cannot lock the root");
}

/* Syncs the names of every place to the disk. */
static int sync_places(const struct shim_root *r)
{
	for (size_t i = 0; i < SHIM_PLACES; i++)
		if (r->place[i].fd >= 0 && fsync(r->place[i].fd))
			return -errno;
	return 0;
}

static bool to_guard(const struct shim_entry *e)
{
	return e->state == SHIM_PLAIN || e->state == SHIM_HALF ||
		e->state == SHIM_OVERWRITTEN || e->state == SHIM_REMOVED;
}

static const char policy_head[] = "# written by 'wardbox install'\n"
				  "policy 1 system\ninclude ";

static int put_policy(const struct shim_root *r, const struct shim_plan *plan,
	struct diag *d)
{
	char name[SHIM_PATH_MAX], text[128];
	struct buf b = BUF_FIXED(text);
	autofd int dir = shim_open_parent(r, r->record.policy, name);
	int err;

	buf_addf(&b, "%s%s\n", policy_head, plan->include);
	if (plan->profile)
		buf_addf(&b, "use %s\n", plan->profile);
	err = dir < 0 ? dir : shim_put_file(dir, name, b.data, b.len, 0644);
	return err ? diag_errno(d, err, "cannot write %s", r->record.policy) : 0;
}

/* May the binary be put in its place? */
static int check_binary_place(
	const struct shim_root *r, enum shim_fate binary, struct diag *d)
{
	char name[SHIM_PATH_MAX];
	autofd int dir = shim_open_parent(r, r->record.binary, name);

	if (dir < 0) {
		diag_errno(d, dir, "no place for %s", r->record.binary);
		diag_hint(d, "--bindir names a directory of the root");
		return dir;
	}
	if (binary != SHIM_REFUSE)
		return 0;
	diag_fail(d, -EEXIST, "%s is there already, and is another one",
		r->record.binary);
	diag_hint(d, "install that one (its own 'install'), move it away, or"
		     " use --bindir");
	return -EEXIST;
}

/* Checks that every entry can be guarded, because a root in which only one of
 * two shells is guarded is not guarded. */
static int check_entries(const struct shim_root *r, struct diag *d)
{
	for (size_t i = 0; i < r->entry_count; i++) {
		const struct shim_entry *e = &r->entry[i];

		if (e->state != SHIM_FOREIGN && e->state != SHIM_LOST)
			continue;
		diag_fail(d, -EEXIST, "%s: %s", e->path,
			shim_state_advice(e->state));
		diag_hint(d, "nothing is changed; --shells names those that are"
			     " to be guarded without it");
		return -EEXIST;
	}
	return 0;
}

int shim_foresee(const struct shim_root *r, const struct shim_plan *plan,
	struct diag *d)
{
	enum shim_fate binary = SHIM_KEEP;
	int err = check_writable(r, d);

	if (!err && plan) {
		binary = shim_binary_fate(r, plan);
		err = check_binary_place(r, binary, d);
		err = err ? err : check_entries(r, d);
	}
	return err ? err : binary == SHIM_MAKE;
}

/* Makes everything that a shim needs. The record comes first, because it tells
 * the next run what this one has begun. */
static int lay_down(struct shim_root *r, const struct shim_plan *plan,
	bool binary, struct diag *d)
{
	bool policy = !shim_has_policy(r);
	int err = shim_times_before(r);

	if (!err)
		err = shim_make_etc(r, d);
	if (err)
		return err;
	r->record.busy = true;
	r->record.binary_made |= binary;
	r->record.policy_made |= policy;
	for (size_t i = 0; i < r->entry_count; i++)
		if (to_guard(&r->entry[i]))
			err = err ? err
				  : shim_record_add(&r->record,
					    r->entry[i].path);
	if (!err)
		err = shim_save_record(r, d);
	if (!err && binary)
		err = shim_put_binary(r, plan, d);
	if (!err && policy)
		err = put_policy(r, plan, d);
	return err;
}

static int guard_entries(struct shim_root *r, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < r->entry_count && !err; i++) {
		if (to_guard(&r->entry[i]))
			err = shim_entry_prepare(&r->entry[i]);
		if (err)
			diag_errno(d, err, "cannot keep %s as %s.real",
				r->entry[i].path, r->entry[i].path);
	}
	if (!err)
		err = sync_places(r);
	for (size_t i = 0; i < r->entry_count && !err; i++) {
		if (to_guard(&r->entry[i]))
			err = shim_entry_swap(
				&r->entry[i], r->record.binary);
		if (err)
			diag_errno(d, err, "cannot put the shim over %s",
				r->entry[i].path);
	}
	return err ? err : sync_places(r);
}

/* Is the policy as install wrote it? A policy that somebody has changed
 * stays. */
static bool policy_untouched(const struct shim_root *r)
{
	char text[160];
	autofd int fd = shim_root_openat(r, r->record.policy, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	const char *rest, *use;

	if (fd == -ENOENT)
		return true;
	if (n <= 0 || n == sizeof text - 1)
		return false;
	text[n] = '\0';
	rest = str_after(text, policy_head);
	rest = rest ? strchr(rest, '\n') : NULL;
	use = rest ? str_after(rest, "\nuse ") : NULL;
	return rest && strchr(use ? use : rest, '\n') == text + n - 1;
}

/* Removes what was made for the shims, when the last one is gone; the record
 * comes last. */
static int clear_away(struct shim_root *r, struct diag *d)
{
	const struct shim_record *rec = &r->record;
	int err = 0;

	if (rec->binary_made)
		err = shim_remove(r, rec->binary);
	if (!err && rec->policy_made && policy_untouched(r))
		err = shim_remove(r, rec->policy);
	if (!err)
		err = shim_remove(r, SHIM_RECORD);
	if (err)
		return diag_errno(d, err, "cannot take away what was installed");
	/* Directories only go when they are empty. */
	for (size_t i = ARRAY_SIZE(rec->made); i-- > 0;)
		if (rec->made[i][0])
			(void)shim_remove_dir(r, rec->made[i]);
	shim_times_restore(r);
	return 0;
}

static int restore_entries(struct shim_root *r, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < r->entry_count && !err; i++) {
		err = shim_entry_restore(&r->entry[i]);
		if (err)
			return diag_errno(d, err, "cannot put %s back",
				r->entry[i].path);
	}
	err = sync_places(r);
	for (size_t i = 0; i < r->entry_count && !err; i++) {
		err = shim_entry_forget(&r->entry[i]);
		if (err)
			return diag_errno(d, err, "cannot remove %s.real",
				r->entry[i].path);
		if (r->entry[i].state != SHIM_LOST)
			shim_record_drop(&r->record, r->entry[i].path);
	}
	return err ? err : sync_places(r);
}

/* Goes back to the state before: takes off the shims of this run and, where
 * nothing was installed before, everything that it made. */
static void roll_back(
	struct shim_root *r, const bool *mine, bool first)
{
	shim_root_survey(r);
	for (size_t i = 0; i < r->entry_count; i++) {
		struct shim_entry *e = &r->entry[i];

		if (!mine[i])
			continue;
		if (shim_entry_restore(e) || shim_entry_forget(e))
			return;
		if (e->state != SHIM_LOST)
			shim_record_drop(&r->record, e->path);
	}
	if (first) {
		(void)clear_away(r, NULL);
		return;
	}
	/* A newer wardbox stays, because the shims that were there lead to
	 * it. */
	(void)shim_binary_sum(r, &r->record.size, r->record.sum, NULL);
	(void)shim_end_record(r, NULL);
}

int shim_install(
	struct shim_root *r, const struct shim_plan *plan, struct diag *d)
{
	bool mine[SHIM_ENTRIES] = {false};
	const bool first = !r->recorded;
	int err = take_lock(r, d);
	int binary = err ? err : shim_foresee(r, plan, d);

	if (binary < 0)
		return binary;
	for (size_t i = 0; i < r->entry_count; i++)
		mine[i] = to_guard(&r->entry[i]);
	err = lay_down(r, plan, binary > 0, d);
	if (!err)
		err = guard_entries(r, d);
	if (!err)
		err = shim_binary_sum(
			r, &r->record.size, r->record.sum, NULL);
	if (!err)
		err = shim_end_record(r, d);
	if (err)
		roll_back(r, mine, first);
	shim_root_survey(r);
	return err;
}

int shim_uninstall(struct shim_root *r, struct diag *d)
{
	int err = take_lock(r, d);

	if (!err)
		err = shim_foresee(r, NULL, d);
	if (err)
		return err;
	if (!r->record.busy)
		shim_times_check(r);
	r->record.busy = true;
	if (r->recorded)
		err = shim_save_record(r, d);
	if (!err)
		err = restore_entries(r, d);
	shim_root_survey(r);
	if (err)
		return err;
	if (!r->recorded) {
		/* A run may have been killed before it wrote its record. */
		(void)shim_remove(r, SHIM_RECORD);
		(void)shim_remove_dir(r, "/etc/wardbox");
		return 0;
	}
	return r->record.shell_count ? shim_end_record(r, d) : clear_away(r, d);
}
