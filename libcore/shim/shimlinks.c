/* shimlinks.c - from a shim to the shell it stands in for
 * SPDX-License-Identifier: MIT
 */
#include "shim/shimlinks.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/path.h"
#include "shim/shim_record_in.h"
#include "base/str.h"

enum {
	HOPS_MAX = 8,	   /* links from one shim to another */
	LENGTH_MAX = 1024, /* bytes of a path at which a shell is looked for */
};

const char shim_shells[SHIM_SHELLS][SHIM_NAME_MAX] = {
	"sh", "bash", "dash", "ash"};

bool shim_is_shell(const char *name)
{
	for (size_t i = 0; i < SHIM_SHELLS; i++)
		if (str_eq(shim_shells[i], name))
			return true;
	return false;
}

/* A search: what is looked for, and what must not be found. */
struct search {
	const char *called;
	char name[SHIM_NAME_MAX]; /* of the shell */
	struct stat self;	  /* set when first asked for, */
	int known;		  /* and then 1; -1 where it could not be found
				   * out */
	char *out;
	size_t size;
};

/* Finds wardbox's own file; before /proc is mounted, by its link. */
static int find_self(const char *called, struct stat *self)
{
	if (!stat("/proc/self/exe", self))
		return 0;
	if (strchr(called, '/') && !stat(called, self))
		return 0;
	return stat("/usr/bin/wardbox", self) ? -ENOENT : 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The size of the loaded part of this program's file. */
static off_t load_offset(void)
{
	const ElfW(Phdr) *p = (const void *)getauxval(AT_PHDR);
	size_t n = p ? getauxval(AT_PHNUM) : 0;
	off_t end = 0;

	for (; n; n--, p++)
		if (p->p_type == PT_LOAD &&
			end < (off_t)(p->p_offset + p->p_filesz))
			end = (off_t)(p->p_offset + p->p_filesz);
	return end;
}

/* Is the file wardbox? A smaller file is not, as most shells are; that saves a
 * look at this process in /proc, which is the most expensive part of a new
 * process. */
static bool is_shim(struct search *s, const struct stat *st)
{
	if (st->st_size < load_offset())
		return false;
	if (!s->known)
		s->known = find_self(s->called, &s->self) ? -1 : 1;
	return s->known < 0 || same_file(st, &s->self);
}

/* Is path a shell? Then it goes to s->out. */
static bool take_link(struct search *s, const char *path, bool *there)
{
	struct stat st;

	*there = !stat(path, &st);
	return *there && S_ISREG(st.st_mode) && !is_shim(s, &st) &&
		!faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) &&
		!str_copy(s->out, s->size, path);
}

/* Moves path one link further; false at its end. ".." is left in the path,
 * because only the kernel knows where it leads behind a link. */
static bool follow_link(char *path, size_t size)
{
	char target[LENGTH_MAX];
	struct buf b = {.data = path, .cap = size, .max = size - 1};
	ssize_t n = readlink(path, target, sizeof target);

	if (n <= 0 || n == sizeof target)
		return false;
	b.len = target[0] == '/' ? 0 : (size_t)(path_base(path) - path);
	buf_add(&b, target, (size_t)n);
	buf_str(&b);
	return !b.err;
}

static int add_real(char *path, size_t size)
{
	size_t n = strlen(path);

	return str_copy(path + n, size - n, ".real");
}

/* Takes PATH.real; if that is a link to another shim, that shim's original. */
static bool take_real(struct search *s, const char *path)
{
	char at[LENGTH_MAX], real[LENGTH_MAX];

	if (str_copy(at, sizeof at, path))
		return false;
	for (int hops = 0; hops < HOPS_MAX; hops++) {
		struct stat st;
		bool there;

		if (str_copy(real, sizeof real, at) ||
			add_real(real, sizeof real))
			return false;
		if (take_link(s, real, &there))
			return true;
		/* A file that is no shim has no original. */
		if (there)
			memcpy(at, real, sizeof at);
		else if (stat(at, &st) || !is_shim(s, &st))
			return false;
		if (!follow_link(at, sizeof at))
			return false;
	}
	return false;
}

/* Takes DIR/NAME.real, or DIR/NAME itself. */
static bool take_in(struct search *s, const char *dir, bool original)
{
	char path[LENGTH_MAX];
	bool there;

	if (path_join(path, sizeof path, dir, s->name))
		return false;
	return original ? take_real(s, path) : take_link(s, path, &there);
}

static bool take_recorded(struct search *s, const char *record)
{
	struct shim_record r;

	if (shim_record_load(AT_FDCWD, record, &r, NULL))
		return false;
	for (size_t i = 0; i < r.shell_count; i++)
		if (str_eq(path_base(r.shell[i]), s->name) &&
			take_real(s, r.shell[i]))
			return true;
	return false;
}

/* Splits the name: the shell's name and, when given, its directory. */
static int split_line(const char *called, char *name, size_t name_size, char *dir,
	size_t dir_size)
{
	const char *base;
	size_t n;

	/* A login shell's '-' stands before the whole word, or before the
	 * name. */
	called += called[0] == '-' && strchr(called, '/');
	base = path_base(called);
	dir[0] = '\0';
	if (base != called) {
		n = (size_t)(base - called);
		if (n >= dir_size)
			return -ENAMETOOLONG;
		memcpy(dir, called, n);
		dir[n] = '\0';
	}
	base += base[0] == '-';
	n = strlen(base);
	if (str_ends(base, ".real"))
		n -= strlen(".real");
	if (n < name_size) {
		memcpy(name, base, n);
		name[n] = '\0';
	}
	/* Under any other name wardbox stands in for sh. */
	if (n >= name_size || !shim_is_shell(name))
		return str_copy(name, name_size, "sh");
	return 0;
}

static bool search_path(struct search *s, const char *dir, const char *record)
{
	static const char places[][9] = {"/bin", "/usr/bin"};

	if (dir[0] && take_in(s, dir, true))
		return true;
	if (!*record)
		return dir[0] && take_in(s, dir, false);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (take_in(s, places[i], true))
			return true;
	if (take_recorded(s, record))
		return true;
	if (dir[0] && take_in(s, dir, false))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (take_in(s, places[i], false))
			return true;
	return false;
}

/* Is the last part the name of a shell, perhaps with a login's '-' or with
 * .real? */
static bool names_shell(const char *path)
{
	char name[SHIM_NAME_MAX];
	const char *base = path_base(path);
	size_t n;

	base += base[0] == '-';
	n = strlen(base);
	if (str_ends(base, ".real"))
		n -= strlen(".real");
	if (n >= sizeof name)
		return false;
	memcpy(name, base, n);
	name[n] = '\0';
	return shim_is_shell(name);
}

/* The shell's name, on the way from a link to this program. */
static bool find_name(const char *link, char path[static LENGTH_MAX])
{
	struct stat self, st;
	int hops = 0;

	if (str_copy(path, LENGTH_MAX, link))
		return false;
	while (!names_shell(path))
		if (++hops == HOPS_MAX || !follow_link(path, LENGTH_MAX))
			return false;
	return !find_self(link, &self) && !stat(link, &st) && same_file(&st, &self);
}

int shim_called(
	const char *argv0, const char *execfn, char *out, size_t size)
{
	char path[LENGTH_MAX];

	if (execfn && str_eq(execfn, argv0) && names_shell(argv0))
		return str_copy(out, size, argv0);
	if (execfn && find_name(execfn, path))
		return str_copy(out, size, path);
	/* Otherwise it is a script, or wardbox under its own name: the words
	 * decide. */
	if (names_shell(argv0))
		return str_copy(out, size, argv0);
	/* A script may name such a link, too: "#!/bin/rbash". */
	return strchr(argv0, '/') && find_name(argv0, path)
		? str_copy(out, size, path)
		: -ENOENT;
}

int shim_real(const char *called, const char *record, char *out, size_t size,
	struct diag *d)
{
	struct search s = {.called = called, .out = out, .size = size};
	char dir[LENGTH_MAX];
	int err = split_line(called, s.name, sizeof s.name, dir, sizeof dir);

	if (err)
		return diag_errno(d, err, "%.80s", called);
	if (!record)
		record = SHIM_RECORD;
	/* Searches twice, because an install may be renaming the files right
	 * now. */
	if (search_path(&s, dir, record) || search_path(&s, dir, record))
		return 0;
	if (s.known < 0)
		return diag_fail(d, -ENOSYS,
			"cannot tell which file I am: /proc is not mounted");
	return diag_fail(d, -ENOENT,
		"there is no real %s behind this shim\036"
		"put %s%s%s.real back, or reinstall the shell's package; /bin,"
		" /usr/bin and %s name none either",
		s.name, dir, dir[0] ? "" : "/bin/", s.name, record);
}
