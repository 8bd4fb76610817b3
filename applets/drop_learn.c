/* drop_learn.c - what a command used, and what it was refused
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/path.h"
#include "base/str.h"

enum {
	ROOM_MAX = 1 << 17,
	/* So many files that are read stand for their directory, or so many
	 * wherever they lie in it. */
	CROWD = 12,
	CROWD_DEEP = 48,
	DEPTH_MAX = 32,
	GRANTS_WANTED = 1024,
};

static int by_path(const void *a, const void *b)
{
	const struct drop_use *x = a, *y = b;

	return path_order(x->path, y->path);
}

/* Sorts; one path twice is one use of both. */
static void uses_merge(struct drop_uses *u)
{
	size_t n = 0;

	qsort(u->item, u->count, sizeof(*u->item), by_path);
	for (size_t i = 0; i < u->count; i++) {
		if (n && str_eq(u->item[n - 1].path, u->item[i].path)) {
			u->item[n - 1].wants |= u->item[i].wants;
			free(u->item[i].path);
		} else {
			u->item[n++] = u->item[i];
		}
	}
	u->count = n;
}

/* Where the name of the depth-th directory around a path ends; 0: there is no
 * such directory. */
static size_t dir_end(const char *path, unsigned depth)
{
	const char *end = path;

	while (end && depth--)
		end = strchr(end + 1, '/');
	return end ? (size_t)(end - path) : 0;
}

/* Is that the user's home, or around it? Too much for any crowd. */
static bool holds_home(const struct drop *o, const char *path, size_t n)
{
	const char *home = env_get(o->outer, "HOME");

	return home && strncmp(home, path, n) == 0 &&
	       (home[n] == '/' || !home[n]);
}

/* The uses from i on that lie in the directory that ends at n; how many of them
 * want just that, and how many of those are right there. */
static size_t crowd_end(const struct drop_uses *u, size_t i, size_t n,
	unsigned wants, size_t *all, size_t *near)
{
	const char *dir = u->item[i].path;

	for (*all = *near = 0; i < u->count; i++) {
		const struct drop_use *use = &u->item[i];

		if (strncmp(use->path, dir, n + 1) != 0)
			break;
		*all += use->wants == wants;
		*near += use->wants == wants &&
			 !strchr(use->path + n + 1, '/');
	}
	return i;
}

static void fold_depth(
	struct drop *o, unsigned depth, unsigned wants, size_t crowd)
{
	struct drop_uses *u = &o->uses;

	for (size_t i = 0, end; i < u->count; i = end) {
		size_t n = dir_end(u->item[i].path, depth), all, near;

		end = i + 1;
		if (!n)
			continue;
		end = crowd_end(u, i, n, wants, &all, &near);
		if ((near < CROWD && all < crowd) ||
			holds_home(o, u->item[i].path, n))
			continue;
		for (size_t k = i; k < end; k++)
			if (u->item[k].wants == wants)
				u->item[k].path[n] = '\0';
	}
	uses_merge(u);
}

/* Never what is next to the root: that would be nearly everything. */
static void uses_fold(struct drop *o, unsigned wants)
{
	size_t crowd = CROWD_DEEP;

	uses_merge(&o->uses);
	do {
		for (unsigned depth = DEPTH_MAX; depth >= 2; depth--)
			fold_depth(o, depth, wants, crowd);
		crowd /= 2;
	} while (crowd > 1 && o->uses.count > GRANTS_WANTED);
}

static void fold_all(struct drop *o)
{
	uses_fold(o, SANDBOX_LIST);
	uses_fold(o, SANDBOX_LIST | SANDBOX_RO);
	if (o->uses.count > GRANTS_WANTED)
		uses_fold(o, SANDBOX_LIST | SANDBOX_RW);
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
				      : a->tv_nsec < b->tv_nsec;
}

/* Now, once what is older than the command has an older time, and what it makes
 * none: files are stamped by a clock that comes after this one, or by this. */
static void next_tick(struct timespec *t)
{
	enum { TRIES = 1000 }; /* somebody may have set it back meanwhile */
	struct timespec behind;

	clock_gettime(CLOCK_REALTIME, t);
	for (int i = 0; i < TRIES; i++) {
		poll(NULL, 0, 1);
		clock_gettime(CLOCK_REALTIME_COARSE, &behind);
		if (!is_before(&behind, t))
			return;
	}
}

static bool make_room(struct drop *o)
{
	struct drop_uses *u = &o->uses;
	struct drop_use *more;

	if (u->count < u->room)
		return true;
	uses_merge(u);
	if (u->room == ROOM_MAX)
		fold_all(o);
	if (u->count < u->room / 2)
		return true;
	if (u->room == ROOM_MAX)
		return false;
	more = reallocarray(u->item, u->room ? 2 * u->room : 256,
		sizeof(*more));
	if (!more)
		return false;
	if (!u->room)
		next_tick(&u->since);
	u->room = u->room ? 2 * u->room : 256;
	u->item = more;
	return true;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void note_use(struct drop *o, const char *path, unsigned wants)
{
	struct drop_uses *u = &o->uses;

	/* A descriptor by its name is nothing that a path grants. */
	if (path[0] != '/' || sandbox_is_device(path) || u->full)
		return;
	/* Reading a directory gives its names alone. */
	if (wants == SANDBOX_READ && is_dir(path))
		wants = SANDBOX_LIST;
	/* Another run has other processes, terminals and control groups. */
	if (str_after(path, "/proc/") && chr_digit(path[6]))
		path = "/proc";
	if (str_after(path, "/dev/pts/"))
		path = "/dev/pts";
	if (str_after(path, "/sys/fs/cgroup/"))
		path = "/sys/fs/cgroup";
	/* Without the right of the user to write, the grant to write is of no
	 * use. */
	if (wants & SANDBOX_WRITE && faccessat(AT_FDCWD, path, W_OK, 0) < 0)
		wants &= ~(unsigned)SANDBOX_WRITE;
	/* A grant to write includes reading. */
	if (wants & SANDBOX_WRITE)
		wants |= SANDBOX_RW;
	if (wants != SANDBOX_UNIX)
		wants |= SANDBOX_LIST;
	u->full = !make_room(o);
	if (u->full)
		return;
	u->item[u->count].path = strdup(path);
	u->item[u->count].wants = wants;
	u->count += !!u->item[u->count].path;
}

void drop_learn_exec(struct drop *o, const char *exe)
{
	autofree char *real = malloc(PATH_MAX);

	for (int depth = 0; real && depth < 5 && exe && *exe; depth++) {
		autofd int fd = openat(AT_FDCWD, exe, O_PATH | O_CLOEXEC);

		if (fd < 0 || path_of_fd(fd, real, PATH_MAX) < 0)
			return;
		note_use(o, real, SANDBOX_ROX);
		exe = drop_interpreter(o, real);
	}
}

void drop_learn_file(struct drop *o, const struct watch_access *a)
{
	note_use(o, a->path, a->wants);
}

/* Did the command itself make it? */
static bool is_made(const struct drop_uses *u, const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 || !is_before(&st.st_ctim, &u->since);
}

/* Programs that the command made and started need a directory with the right to
 * execute. */
static void start_made(struct drop_uses *u)
{
	for (size_t i = 0; i < u->count; i++) {
		autofree char *dir = NULL;
		struct drop_use key = {0}, *found = NULL;

		if (!(u->item[i].wants & SANDBOX_EXEC) ||
			!is_made(u, u->item[i].path))
			continue;
		key.path = dir = strdup(u->item[i].path);
		for (char *end; dir && (end = strrchr(dir, '/')) && end > dir;) {
			*end = '\0';
			found = bsearch(&key, u->item, u->count,
				sizeof(key), by_path);
			if (found && found->wants & SANDBOX_WRITE &&
				faccessat(AT_FDCWD, dir, F_OK, 0) == 0)
				break;
			found = NULL;
		}
		if (found)
			found->wants |= SANDBOX_EXEC;
	}
}

/* Takes the wants from what a grant around it gives, or what is gone: what made
 * that had its directory. */
static void uses_cover(struct drop_uses *u)
{
	enum { NONE = ROOM_MAX };
	size_t last = NONE;

	for (size_t i = 0; i < u->count; i++) {
		struct drop_use *use = &u->item[i];
		size_t in = last;

		while (in != NONE &&
			!path_beneath(u->item[in].path, use->path))
			in = u->item[in].in;
		use->in = in;
		use->gets = use->wants | (in == NONE ? 0 : u->item[in].gets);
		if ((in != NONE && use->gets == u->item[in].gets) ||
			faccessat(AT_FDCWD, use->path, F_OK,
				AT_SYMLINK_NOFOLLOW) < 0)
			use->wants = 0;
		else
			last = i;
	}
}

static const char *option_of(unsigned wants)
{
	if (wants == SANDBOX_UNIX)
		return "unix";
	if (wants & SANDBOX_WRITE)
		return wants & SANDBOX_EXEC ? "rwx" : "rw";
	return wants & SANDBOX_EXEC ? "rox" :
	       wants & SANDBOX_READ ? "ro" :
				      "list";
}

int drop_learn_ready(struct drop *o, struct diag *d)
{
	autobuf struct buf old = BUF_INIT(1 << 24);
	struct stat st;
	int err = 0;

	if (file_is_replaced(o->learn)) {
		err = file_read(AT_FDCWD, o->learn, &old);
		if (err == 0 || err == -ENOENT)
			err = file_replace(AT_FDCWD, o->learn, old.data,
				old.len, 0644, false);
	} else if (stat(o->learn, &st) == 0) {
		err = S_ISDIR(st.st_mode)	   ? -EISDIR :
		      access(o->learn, W_OK) < 0 ? -errno :
						     0;
	}
	return err < 0 ? diag_of(d, err, o->learn) : 0;
}

int drop_learn_write(struct drop *o, struct diag *d)
{
	struct drop_uses *u = &o->uses;
	autobuf struct buf out = BUF_INIT(1 << 24);
	size_t skipped = 0;
	int err;

	fold_all(o);
	start_made(u);
	uses_cover(u);
	buf_adds(&out, "# what a command used; for drop --grants\n");
	for (size_t i = 0; i < u->count; i++) {
		if (!u->item[i].wants)
			continue;
		if (strchr(u->item[i].path, '\n')) {
			skipped++;
			continue;
		}
		buf_addf(&out, "%s %s\n", option_of(u->item[i].wants),
			u->item[i].path);
	}
	if (u->full || skipped)
		cli_warn("%s: not all of it could be written down", o->learn);
	if (out.err)
		return diag_of(d, out.err, o->learn);
	err = file_put(o->learn, out.data, out.len, 0644, false);
	return err < 0 ? diag_of(d, err, o->learn) : 0;
}

int drop_grants_file(struct drop *o, const char *name, struct diag *d)
{
	static const struct {
		char word[8];
		uint8_t access;
	} words[] = {{"ro", SANDBOX_RO}, {"rox", SANDBOX_ROX},
		{"rw", SANDBOX_RW}, {"rwx", SANDBOX_RWX},
		{"unix", SANDBOX_UNIX}, {"hide", SANDBOX_HIDE},
		{"tmpfs", SANDBOX_TMPFS}, {"list", SANDBOX_LIST}};
	/* The plan points into the text, which therefore lives as long as the
	 * plan. */
	struct buf *text = arena_new(&o->strings, struct buf);
	unsigned line = 0;
	int err;

	if (!text)
		return diag_of(d, -ENOMEM, name);
	*text = BUF_INIT(1 << 20);
	err = file_read(AT_FDCWD, name, text);
	if (err < 0)
		return diag_of(d, err, name);
	buf_str(text);
	if (memchr(text->data, '\0', text->len))
		return diag_fail(d, -EINVAL, "%s: holds a NUL byte", name);
	for (char *s = text->data, *next; s; s = next) {
		size_t i = 0, n;

		line++;
		next = strchr(s, '\n');
		if (next)
			*next++ = '\0';
		if (!*s || *s == '#')
			continue;
		n = strcspn(s, " ");
		while (i < ARRAY_SIZE(words) &&
			!(strlen(words[i].word) == n &&
				strncmp(words[i].word, s, n) == 0))
			i++;
		if (i == ARRAY_SIZE(words) || s[n] != ' ' || s[n + 1] != '/') {
			diag_fail(d, -EINVAL,
				"expected list, ro, rox, rw, rwx, unix, hide "
				"or tmpfs, a space and an absolute path");
			diag_at(d, name, line, 1);
			return -EINVAL;
		}
		err = sandbox_grant(&o->plan, s + n + 1, words[i].access,
			o->ignore_missing, name);
		if (err < 0)
			return diag_of(d, err, name);
	}
	o->granted = true;
	return 0;
}

/* Prints one line for each refused right. */
void drop_explain_denial(
	struct drop *o, const char *path, unsigned wants, pid_t pid)
{
	static const struct {
		unsigned bit;
		char word[12];
	} words[] = {{SANDBOX_READ, "read"}, {SANDBOX_WRITE, "write"},
		{SANDBOX_EXEC, "execute"}, {SANDBOX_UNIX, "connect to"}};
	const struct sandbox_grant *g;
	unsigned missing, has;
	autobuf struct buf out = BUF_INIT(1 << 16);

	/* A pipe or socket has no path and needs no grant. */
	if (path[0] != '/')
		return;
	has = sandbox_explain(o->sandbox, path, &g);
	if (has & SANDBOX_LIST && is_dir(path))
		has |= SANDBOX_READ;
	missing = wants & ~has;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!(missing & words[i].bit))
			continue;
		drop_audit_fact(o, "file.deny", path, words[i].word);
		buf_addf(&out, "denied: %d may not %s ", (int)pid,
			words[i].word);
		cli_escape_str(&out, path);
		if (g)
			buf_addf(&out, " (%s %s does not give it)\n", g->why,
				g->path);
		else
			buf_adds(&out, " (no grant reaches it)\n");
	}
	if (out.len && !out.err)
		file_write_all(2, out.data, out.len);
}
