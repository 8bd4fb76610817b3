/* shim_root.c - the shells of a root, and how far each is guarded
 * SPDX-License-Identifier: MIT
 */
#include "shim/shim_root_in.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

void shim_root_release(struct shim_root *r)
{
	for (size_t i = 0; i < SHIM_PLACES; i++)
		cleanup_fd(&r->place[i].fd);
	cleanup_fd(&r->fd);
	*r = SHIM_ROOT_INIT;
}

/* Part number i of NUL-ended parts. */
static const char *nth_part(const char *parts, unsigned i)
{
	while (i--)
		parts += strlen(parts) + 1;
	return parts;
}

const char *shim_state_name(enum shim_state state)
{
	return nth_part("absent\0not guarded\0dangling\0half\0guarded\0"
		"overwritten\0removed\0lost\0foreign", state);
}

const char *shim_state_advice(enum shim_state state)
{
	return nth_part("\0\0it is a link to nothing\0"
		"an install was interrupted: run it again\0\0"
		"something was put over the shim: run install again\0"
		"the shim was taken away: run install again\0"
		"the original is gone: reinstall the shell's package\0"
		"its .real is not from wardbox: move that away first", state);
}

int shim_root_openat(const struct shim_root *r, const char *path, int flags)
{
	return path_openat2(r->fd, path, flags, 0,
		RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is dir/name a shim: a link to wardbox, or wardbox itself? */
static bool is_shim(
	const struct shim_root *r, int dir, const char *name,
	const struct stat *st)
{
	char target[SHIM_PATH_MAX];
	autofd int fd = -1;
	struct stat box;
	ssize_t n;

	if (S_ISLNK(st->st_mode)) {
		n = readlinkat(dir, name, target, sizeof target - 1);
		if (n < 0)
			return false;
		target[n] = '\0';
		return str_eq(target, r->record.binary);
	}
	fd = shim_root_openat(r, r->record.binary, O_PATH);
	return fd >= 0 && !fstat(fd, &box) && same_file(&box, st);
}

/* Does the link lead to a file, within the root? */
static bool leads_somewhere(const struct shim_root *r, const char *path)
{
	autofd int fd = shim_root_openat(r, path, O_PATH);

	return fd >= 0;
}

const char *shim_entry_state(
	const struct shim_root *r, const struct shim_entry *e)
{
	return shim_state_name(e->state == SHIM_GUARDED && r->changed
			? SHIM_OVERWRITTEN : e->state);
}

const char *shim_entry_advice(
	const struct shim_root *r, const struct shim_entry *e)
{
	char real[SHIM_PATH_MAX + 8];
	bool lost = e->state == SHIM_GUARDED &&
		!leads_somewhere(r, BUF_PRINT(real, "%s.real", e->path));

	if (e->state == SHIM_GUARDED && r->changed && !lost)
		return "wardbox, which it leads to, was written over: run the"
		       " install of a wardbox that is whole";
	return shim_state_advice(lost ? SHIM_LOST : e->state);
}

static enum shim_state look_at(const struct shim_root *r, struct shim_entry *e)
{
	char real[SHIM_NAME_MAX + 8];
	struct buf b = BUF_FIXED(real);
	struct stat st, original;
	bool have, have_real, recorded;

	buf_addf(&b, "%s.real", e->name);
	have = !fstatat(e->dir, e->name, &st, AT_SYMLINK_NOFOLLOW);
	have_real = !fstatat(e->dir, buf_str(&b), &original,
		AT_SYMLINK_NOFOLLOW);
	recorded = shim_record_has(&r->record, e->path);
	if (have && S_ISDIR(st.st_mode))
		return SHIM_ABSENT;
	if (have && is_shim(r, e->dir, e->name, &st))
		return have_real ? SHIM_GUARDED : SHIM_LOST;
	if (have && have_real && recorded && same_file(&st, &original))
		return SHIM_HALF;
	if (have_real)
		return !recorded ? SHIM_FOREIGN
			: have	 ? SHIM_OVERWRITTEN
				 : SHIM_REMOVED;
	if (!have)
		return SHIM_ABSENT;
	return leads_somewhere(r, e->path) ? SHIM_PLAIN : SHIM_DANGLING;
}

static void read_target(struct shim_entry *e)
{
	char real[SHIM_NAME_MAX + 8];
	struct buf b = BUF_FIXED(real);
	ssize_t n;

	buf_addf(&b, "%s.real", e->name);
	n = readlinkat(e->dir, buf_str(&b), e->target, sizeof e->target - 1);
	if (n < 0 && errno == ENOENT)
		n = readlinkat(e->dir, e->name, e->target,
			sizeof e->target - 1);
	e->target[n > 0 ? n : 0] = '\0';
}

/* A write to a shell's name goes through its link to the binary. */
static bool binary_changed(const struct shim_root *r)
{
	char sum[65];
	uint64_t size;
	bool ours;

	if (!r->recorded || !r->record.sum[0] ||
		shim_binary_sum(r, &size, sum, &ours))
		return false;
	/* If a package brings the binary, an upgrade brings another one. */
	if (ours && !r->record.binary_made)
		return false;
	return size != r->record.size || !str_eq(sum, r->record.sum);
}

void shim_root_survey(struct shim_root *r)
{
	r->changed = binary_changed(r);
	for (size_t i = 0; i < r->entry_count; i++) {
		r->entry[i].state = look_at(r, &r->entry[i]);
		read_target(&r->entry[i]);
	}
}

bool shim_root_sound(const struct shim_root *r)
{
	bool sound = !r->record.busy;

	for (size_t i = 0; i < r->entry_count; i++)
		if (shim_entry_advice(r, &r->entry[i])[0] &&
			r->entry[i].state != SHIM_DANGLING)
			sound = false;
	return sound;
}

/* The path of fd within the root, by the kernel, so with links resolved. */
static int path_within(const struct shim_root *r, int fd, const char *given,
	char out[static SHIM_PATH_MAX])
{
	char root[SHIM_PATH_MAX * 4], full[SHIM_PATH_MAX * 5];
	const char *rest = NULL;

	if (!path_of_fd(r->fd, root, sizeof root) &&
		!path_of_fd(fd, full, sizeof full))
		rest = str_after(full, str_eq(root, "/") ? "" : root);
	return str_copy(out, SHIM_PATH_MAX,
		rest && rest[0] == '/' ? rest : given);
}

/* Opens the places; one directory with two names counts once. */
static int open_places(struct shim_root *r, struct diag *d)
{
	static const char names[SHIM_PLACES][16] = {
		"/bin", "/usr/bin", "/usr/local/bin"};
	struct stat st[SHIM_PLACES];

	for (size_t i = 0; i < SHIM_PLACES; i++) {
		struct shim_place *p = &r->place[i];

		p->fd = shim_root_openat(r, names[i], O_RDONLY | O_DIRECTORY);
		if (p->fd == -ENOSYS)
			return diag_fail(d, -ENOSYS, "links within a root need"
				" Linux 5.6 or later (openat2)");
		if (p->fd < 0 || fstat(p->fd, &st[i])) {
			p->fd = -1;
			continue;
		}
		for (size_t k = 0; k < i && p->fd >= 0; k++)
			if (r->place[k].fd >= 0 && same_file(&st[k], &st[i])) {
				close(p->fd);
				p->fd = -1;
			}
		if (p->fd >= 0 && path_within(r, p->fd, names[i], p->path))
			return diag_errno(d, -ENAMETOOLONG, "%s", names[i]);
	}
	return 0;
}

static bool is_wanted(const char *const *shells, const char *name)
{
	for (; shells && *shells; shells++)
		if (str_eq(*shells, name))
			return true;
	return !shells;
}

static void add_entries(struct shim_root *r, const char *const *shells)
{
	for (size_t i = 0; i < SHIM_PLACES; i++)
		for (size_t k = 0; k < SHIM_SHELLS; k++) {
			struct shim_entry *e = &r->entry[r->entry_count];

			if (r->place[i].fd < 0 ||
				!is_wanted(shells, shim_shells[k]) ||
				path_join(e->path, sizeof e->path,
					r->place[i].path, shim_shells[k]))
				continue;
			e->dir = r->place[i].fd;
			str_copy(e->name, sizeof e->name, shim_shells[k]);
			r->entry_count++;
		}
}

/* Finds where wardbox is, or will be. */
static int find_binary(struct shim_root *r, const char *bindir, struct diag *d)
{
	char dir[SHIM_PATH_MAX];
	autofd int fd = -1;

	if (r->recorded)
		return 0;
	fd = shim_root_openat(r, "/usr/bin", O_PATH | O_DIRECTORY);
	if (!bindir)
		bindir = fd >= 0 ? "/usr/bin" : "/bin";
	if (path_normal(dir, sizeof dir, "/", bindir) ||
		path_join(r->record.binary, SHIM_PATH_MAX, dir, "wardbox"))
		return diag_errno(d, -ENAMETOOLONG, "%.80s", bindir);
	return str_copy(r->record.policy, SHIM_PATH_MAX, "/etc/wardbox/policy");
}

static int load_record(struct shim_root *r, struct diag *d)
{
	autofd int etc = shim_root_openat(r, "/etc/wardbox",
		O_RDONLY | O_DIRECTORY);
	int err;

	if (etc < 0)
		return 0;
	err = shim_record_load(etc, path_base(SHIM_RECORD), &r->record, d);
	r->recorded = !err;
	if (!err && (!r->record.binary[0] || !r->record.policy[0]))
		err = diag_fail(d, -EINVAL, "the record tells no binary");
	return err == -ENOENT ? 0 : err;
}

int shim_root_open(struct shim_root *r, const char *path, const char *bindir,
	const char *const *shells, struct diag *d)
{
	struct stat own, st;
	int err;

	r->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0 || fstat(r->fd, &st))
		return diag_errno(d, -errno, "cannot open the root %s", path);
	r->host = !stat("/", &own) && same_file(&own, &st);
	err = load_record(r, d);
	if (!err)
		err = find_binary(r, bindir, d);
	if (!err)
		err = open_places(r, d);
	if (err)
		return err;
	add_entries(r, shells);
	shim_root_survey(r);
	return 0;
}
