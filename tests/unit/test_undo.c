/* test_undo.c - trees at random, changed at random, taken back byte for byte
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "undo/undo.h"

enum { EXCHANGE = 2, SNAPSHOT_MAX = 1 << 22 };

static char room[] = "/tmp/undo.XXXXXX";
static char project[64];
static int store = -1;
static struct undo *recorder; /* NULL: nobody records */
static uint64_t seed;
static bool traced; /* one run is shown: UNDO_FIRST */

static unsigned any(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % n);
}

/* All that can be told of a tree, as text. */
struct snapshot {
	struct buf text;
	struct {
		ino_t ino;
		char name[512];
	} links[512];
	size_t count;
};

static void add_content(struct buf *b, int dir, const char *name,
	const struct stat *st)
{
	char bytes[4096];
	ssize_t n;
	int fd;

	if (S_ISLNK(st->st_mode)) {
		n = readlinkat(dir, name, bytes, sizeof bytes);
		buf_addf(b, " -> %.*s", (int)n, bytes);
	}
	if (!S_ISREG(st->st_mode))
		return;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NOATIME);
	assert_true(fd >= 0);
	buf_adds(b, " = ");
	while ((n = read(fd, bytes, sizeof bytes)) > 0)
		for (ssize_t i = 0; i < n; i++)
			buf_addc(b, bytes[i] ? bytes[i] : '.');
	close(fd);
}

static void snap_dir(struct snapshot *s, int dir, const char *path);

static void snap(struct snapshot *s, int dir, const char *name, const char *path)
{
	char full[512], value[64];
	struct stat st;
	ssize_t n;
	size_t i = 0;
	int fd;

	snprintf(full, sizeof full, "%s/%s", path, name);
	assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	buf_addf(&s->text, "%s %o %u %u %lld.%09ld", full, st.st_mode,
		st.st_uid, st.st_gid, (long long)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec);
	if (!S_ISDIR(st.st_mode)) {
		buf_addf(&s->text, " %lld %lu", (long long)st.st_size,
			(unsigned long)st.st_nlink);
		while (i < s->count && s->links[i].ino != st.st_ino)
			i++;
		assert_true(i < 512);
		if (i == s->count) {
			s->count++;
			s->links[i].ino = st.st_ino;
			snprintf(s->links[i].name, 512, "%s", full);
		}
		buf_addf(&s->text, " same as %s", s->links[i].name);
	}
	add_content(&s->text, dir, name, &st);
	if (!S_ISLNK(st.st_mode)) {
		char at[600];

		snprintf(at, sizeof at, "%s/%s", project, full + 2);
		n = lgetxattr(at, "user.a", value, sizeof value);
		if (n >= 0)
			buf_addf(&s->text, " user.a=%.*s", (int)n, value);
	}
	buf_addc(&s->text, '\n');
	if (!S_ISDIR(st.st_mode))
		return;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	snap_dir(s, fd, full);
}

static void snap_dir(struct snapshot *s, int fd, const char *path)
{
	struct dirent **list;
	int n = scandirat(fd, ".", &list, NULL, alphasort);

	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		if (!str_eq(list[i]->d_name, ".") && !str_eq(list[i]->d_name, ".."))
			snap(s, fd, list[i]->d_name, path);
		free(list[i]);
	}
	free(list);
	close(fd);
}

static char *snapshot(void)
{
	struct snapshot *s = calloc(1, sizeof *s);
	char *text;

	s->text = BUF_INIT(SNAPSHOT_MAX);
	snap(s, AT_FDCWD, project, "");
	text = strdup(strchr(buf_str(&s->text), ' '));
	assert_int_equal(s->text.err, 0);
	buf_release(&s->text);
	free(s);
	return text;
}

/* Opens the directory of a path in the project; its last name is *name. */
static int open_parent(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char dir[256] = ".";
	int root = open(project, O_RDONLY | O_DIRECTORY), fd;

	if (slash)
		snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
	*name = slash ? slash + 1 : path;
	fd = openat(root, dir, O_RDONLY | O_DIRECTORY);
	close(root);
	return fd;
}

static void touch(enum undo_what what, const char *path, const char *path2)
{
	struct undo_touch t = {.what = what, .dir2 = -1};

	if (traced)
		print_message("%s %d %s %s\n", recorder ? "act" : "before",
			(int)what, path, path2 ? path2 : "");
	if (!recorder)
		return;
	t.dir = open_parent(path, &t.name);
	if (path2)
		t.dir2 = open_parent(path2, &t.name2);
	if (t.dir >= 0 && (!path2 || t.dir2 >= 0))
		assert_int_equal(undo_touch(recorder, &t), 0);
	close(t.dir);
	if (path2)
		close(t.dir2);
}

/* A path of up to four parts, few of them different. */
static char *random_path(char *out)
{
	unsigned depth = 1 + any(3);
	size_t n = 0;

	for (unsigned i = 0; i < depth; i++)
		n += (size_t)snprintf(out + n, 64 - n, "%s%c", i ? "/" : "",
			'a' + (char)any(4));
	return out;
}

static const char *full(const char *path)
{
	static char at[2][512];
	static int turn;

	turn = !turn;
	snprintf(at[turn], sizeof at[turn], "%s/%s", project, path);
	return at[turn];
}

static void write_some(const char *path, int flags)
{
	struct stat st;
	char text[300];
	size_t n = any(sizeof text);
	int fd;

	if (lstat(full(path), &st) == 0) {
		if (!S_ISREG(st.st_mode))
			return;
		touch(UNDO_CONTENT, path, NULL);
	} else {
		touch(UNDO_MAKE, path, NULL);
	}
	fd = open(full(path), flags | O_WRONLY | O_CREAT | O_NOFOLLOW, 0640);
	if (fd < 0)
		return;
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('A' + any(26));
	if (any(8) == 0)
		assert_true(lseek(fd, 100000, SEEK_SET) >= 0);
	assert_int_equal(write(fd, text, n), (ssize_t)n);
	if (any(6) == 0)
		assert_int_equal(ftruncate(fd, any(200)), 0);
	close(fd);
}

static void remove_tree(const char *path)
{
	struct dirent **list;
	struct stat st;
	int n;

	if (lstat(full(path), &st))
		return;
	n = S_ISDIR(st.st_mode) ? scandir(full(path), &list, NULL, alphasort) : 0;
	for (int i = 0; i < n; i++) {
		char in[512];

		snprintf(in, sizeof in, "%s/%s", path, list[i]->d_name);
		if (!str_eq(list[i]->d_name, ".") && !str_eq(list[i]->d_name, ".."))
			remove_tree(in);
		free(list[i]);
	}
	if (n > 0)
		free(list);
	touch(UNDO_REMOVE, path, NULL);
	(void)remove(full(path));
}

static void change_meta(const char *path)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = any(1000)}};
	struct stat st;

	if (lstat(full(path), &st))
		return;
	touch(UNDO_META, path, NULL);
	switch (any(4)) {
	case 0:
		if (!S_ISLNK(st.st_mode))
			(void)chmod(full(path), 0700 | any(0100));
		break;
	case 1:
		(void)utimensat(AT_FDCWD, full(path), times, AT_SYMLINK_NOFOLLOW);
		break;
	case 2:
		if (!S_ISLNK(st.st_mode))
			(void)setxattr(full(path), "user.a", "some value",
				any(10), 0);
		break;
	default:
		if (!S_ISLNK(st.st_mode))
			(void)removexattr(full(path), "user.a");
	}
}

static void rename_one(const char *from, const char *to)
{
	const bool swap = any(4) == 0;
	struct stat st;

	touch(swap ? UNDO_SWAP : UNDO_MOVE, from, to);
	if (lstat(full(from), &st) == 0)
		(void)syscall(SYS_renameat2, AT_FDCWD, full(from), AT_FDCWD,
			full(to), swap ? EXCHANGE : 0);
}

/* One change of any kind; what cannot be done fails, as it would for a command. */
static void random_act(void)
{
	char a[64], b[64];

	random_path(a);
	random_path(b);
	switch (any(14)) {
	case 0:
	case 1:
		write_some(a, O_TRUNC);
		break;
	case 2:
		write_some(a, O_APPEND);
		break;
	case 3:
		write_some(a, 0);
		break;
	case 4:
	case 5:
		touch(UNDO_MAKE, a, NULL);
		(void)mkdir(full(a), 0755);
		break;
	case 6:
		touch(UNDO_REMOVE, a, NULL);
		(void)remove(full(a));
		break;
	case 7:
	case 8:
		rename_one(a, b);
		break;
	case 9:
		touch(UNDO_KNOWN, a, NULL);
		touch(UNDO_MAKE, b, NULL);
		(void)link(full(a), full(b));
		break;
	case 10:
		touch(UNDO_MAKE, a, NULL);
		(void)symlink(any(2) ? "a/b" : "not-there", full(a));
		break;
	case 11:
		change_meta(a);
		break;
	case 12:
		touch(UNDO_MAKE, a, NULL);
		(void)mkfifo(full(a), 0600);
		break;
	default:
		remove_tree(a);
	}
}

static const char *const roots[] = {project};
static struct undo_spec spec = {.roots = roots, .root_count = 1, .text = "x"};

static void record_begin(void)
{
	spec.store = store;
	assert_int_equal(undo_begin(&recorder, &spec), 0);
}

static uint64_t record_end(void)
{
	struct undo_sum sum;
	struct diag d = {0};

	assert_int_equal(undo_end(&recorder, true, NULL, NULL, &sum, &d), 0);
	return sum.number;
}

static uint64_t take_back(uint64_t number)
{
	autoundo_model struct undo_model *m = NULL;
	autoundo_acts struct undo_acts plan = UNDO_ACTS_INIT;
	autoundo_acts struct undo_acts failed = UNDO_ACTS_INIT;
	const struct undo_wish wish = {.store = store};
	struct undo_sum sum = {.number = 0};
	struct diag d = {0};
	int err;

	assert_int_equal(undo_load(store, number, &m, &d), 0);
	assert_int_equal(undo_plan(m, &wish, &plan, &d), 0);
	for (size_t i = 0; i < plan.count; i++)
		if (plan.act[i].why)
			print_error("%s: %s: %s\n", spec.text,
				plan.act[i].path, plan.act[i].why);
	assert_int_equal(plan.refused, 0);
	err = undo_apply(m, &wish, &sum, &failed, &d);
	for (size_t i = 0; i < failed.count; i++)
		print_error("%s: %s\n", failed.act[i].path, failed.act[i].why);
	if (err)
		print_error("%s: %s\n", spec.text, d.text);
	assert_int_equal(err, 0);
	return sum.number;
}

static void assert_snapshot(const char *want, const char *when)
{
	char *is = snapshot();

	if (!str_eq(is, want)) {
		FILE *f = fopen("/tmp/undo-want", "w"), *g = fopen("/tmp/undo-is", "w");

		fputs(want, f);
		fputs(is, g);
		fclose(f);
		fclose(g);
		print_error("%s: %s: diff /tmp/undo-want /tmp/undo-is\n",
			spec.text, when);
	}
	assert_string_equal(is, want);
	free(is);
}

static void empty_tree(const char *path)
{
	char line[128];

	snprintf(line, sizeof line, "rm -rf %s", path);
	assert_int_equal(system(line), 0);
}

static void one_run(uint64_t n)
{
	char *before, *after;
	uint64_t number;
	unsigned acts;

	seed = n * 0x9e3779b97f4a7c15U + 1;
	empty_tree(project);
	assert_int_equal(mkdir(project, 0755), 0);
	for (unsigned i = any(30); i-- > 0;)
		random_act();
	before = snapshot();
	record_begin();
	for (acts = 1 + any(25); acts-- > 0;)
		random_act();
	number = record_end();
	after = snapshot();
	if (number) {
		number = take_back(number);
		assert_snapshot(before, "undo");
		number = take_back(number);
		assert_snapshot(after, "redo");
		take_back(number);
		assert_snapshot(before, "undo of redo");
	}
	free(before);
	free(after);
}

static void every_tree_comes_back(void **state)
{
	const char *runs = getenv("UNDO_RUNS"), *first = getenv("UNDO_FIRST");
	const uint64_t n = runs ? strtoull(runs, NULL, 10) : 300;
	const uint64_t from = first ? strtoull(first, NULL, 10) : 1;

	(void)state;
	traced = first;
	for (uint64_t i = from; i < from + n; i++) {
		if (runs && i % 1000 == 0)
			print_message("%llu\n", (unsigned long long)i);
		spec.text = buf_print((char[64]){0}, 64, "run %llu",
			(unsigned long long)i);
		one_run(i);
		undo_prune(store, &(struct undo_bounds){.age_ns = 1});
	}
}

static uint64_t write_journal(void)
{
	empty_tree(project);
	assert_int_equal(mkdir(project, 0755), 0);
	seed = 7;
	for (unsigned i = 0; i < 40; i++)
		random_act();
	record_begin();
	for (unsigned i = 0; i < 40; i++)
		random_act();
	return record_end();
}

static int open_journal(uint64_t number)
{
	char name[64];

	snprintf(name, sizeof name, "%llu/journal", (unsigned long long)number);
	return openat(store, name, O_RDWR);
}

/* Cut off anywhere it is read as far as it is whole, and nothing is invented. */
static void a_journal_is_whole_up_to_its_cut(void **state)
{
	const uint64_t number = write_journal();
	int fd = open_journal(number);
	static char bytes[1 << 16];
	ssize_t n = pread(fd, bytes, sizeof bytes, 0);

	(void)state;
	assert_in_range(n, 1000, sizeof bytes - 1);
	for (ssize_t cut = n - 1; cut > 0; cut -= 1 + cut % 13) {
		autoundo_model struct undo_model *m = NULL;
		autoundo_acts struct undo_acts plan = UNDO_ACTS_INIT;
		const struct undo_wish wish = {.store = store};
		int err;

		assert_int_equal(pwrite(fd, bytes, (size_t)n, 0), n);
		assert_int_equal(ftruncate(fd, cut), 0);
		err = undo_load(store, number, &m, NULL);
		if (err) {
			assert_int_equal(err, -EBADMSG);
			continue;
		}
		assert_int_equal(undo_plan(m, &wish, &plan, NULL), 0);
		/* It was closed, and is read as such. */
		assert_true(undo_info(m)->ended);
	}
	close(fd);
}

/* What was changed in it is refused, or the rest behind it is. */
static void a_journal_that_was_changed_is_not_believed(void **state)
{
	const uint64_t number = write_journal();
	int fd = open_journal(number);
	static char bytes[1 << 16];
	ssize_t n = pread(fd, bytes, sizeof bytes, 0);

	(void)state;
	seed = 11;
	for (unsigned i = 0; i < 500; i++) {
		autoundo_model struct undo_model *m = NULL;
		autoundo_acts struct undo_acts plan = UNDO_ACTS_INIT;
		const struct undo_wish wish = {.store = store};
		const size_t at = any((unsigned)n);
		char byte = (char)(bytes[at] ^ (1 + any(255)));

		assert_int_equal(pwrite(fd, bytes, (size_t)n, 0), n);
		assert_int_equal(ftruncate(fd, n), 0);
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		if (undo_load(store, number, &m, NULL) == 0)
			assert_int_equal(undo_plan(m, &wish, &plan, NULL), 0);
	}
	close(fd);
}

/* Somebody's own file in a directory that the command made is not removed, nor
 * is a directory around it. */
static void nothing_is_removed_that_was_not_made(void **state)
{
	autoundo_model struct undo_model *m = NULL;
	autoundo_acts struct undo_acts plan = UNDO_ACTS_INIT;
	autoundo_acts struct undo_acts failed = UNDO_ACTS_INIT;
	struct undo_wish wish = {.store = store};
	struct undo_sum sum;
	uint64_t number;

	(void)state;
	empty_tree(project);
	assert_int_equal(mkdir(project, 0755), 0);
	record_begin();
	touch(UNDO_MAKE, "a", NULL);
	assert_int_equal(mkdir(full("a"), 0755), 0);
	number = record_end();
	write_some("a/mine", O_TRUNC);
	assert_int_equal(undo_load(store, number, &m, NULL), 0);
	assert_int_equal(undo_plan(m, &wish, &plan, NULL), 0);
	assert_in_range(plan.refused, 1, 2);
	assert_int_equal(undo_apply(m, &wish, &sum, &failed, NULL), -ESTALE);
	wish.force = true;
	assert_int_equal(undo_apply(m, &wish, &sum, &failed, NULL), -EIO);
	assert_int_equal(access(full("a/mine"), F_OK), 0);
}

static int set_up(void **state)
{
	int dir;

	(void)state;
	if (!mkdtemp(room))
		return -1;
	snprintf(project, sizeof project, "%s/project", room);
	dir = open(room, O_RDONLY | O_DIRECTORY);
	store = undo_store_open(dir, "undo", true, false, NULL);
	close(dir);
	return store < 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(store);
	empty_tree(room);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tree_comes_back),
		cmocka_unit_test(a_journal_is_whole_up_to_its_cut),
		cmocka_unit_test(a_journal_that_was_changed_is_not_believed),
		cmocka_unit_test(nothing_is_removed_that_was_not_made),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
