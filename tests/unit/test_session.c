/* test_session.c - which session, and where it is kept
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/session.h"
#include "base/str.h"

static char top[] = "/tmp/wardbox-test-XXXXXX";
static char base1[64], base2[64], work[64], other[64];
static const char *bases[] = {base1, base2, NULL};
static struct session_where w;
static struct session_name n1, n2;
static struct diag d;

static int setup(void **state)
{
	(void)state;
	strcpy(top + sizeof top - 7, "XXXXXX");
	if (!mkdtemp(top))
		return -1;
	snprintf(base1, sizeof base1, "%s/run", top);
	snprintf(base2, sizeof base2, "%s/tmp", top);
	snprintf(work, sizeof work, "%s/work", top);
	snprintf(other, sizeof other, "%s/other", top);
	w = (struct session_where){
		.cwd = work, .uid = geteuid(), .bases = bases};
	return mkdir(work, 0755) || mkdir(other, 0755);
}

static int teardown(void **state)
{
	char command[PATH_MAX + 64];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", top);
	return system(command);
}

static const char *in(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", top, name);
	return path;
}

static void put(const char *name, const char *text, mode_t mode)
{
	int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	fchmod(fd, mode);
	close(fd);
}

static void ids(void **state)
{
	char id[SESSION_ID_MAX + 1], again[SESSION_ID_MAX + 1], big[140];

	(void)state;
	assert_int_equal(session_id_make(id), 0);
	assert_int_equal(session_id_make(again), 0);
	assert_true(session_id_valid(id));
	assert_string_not_equal(id, again);
	assert_int_equal(strlen(id), 8 + 36);
	assert_true(session_id_valid("a") && session_id_valid("7-x_Y"));
	assert_false(session_id_valid(""));
	assert_false(session_id_valid("-a"));
	assert_false(session_id_valid("a.b"));
	assert_false(session_id_valid("../a"));
	assert_false(session_id_valid("a/b"));
	assert_false(session_id_valid("a b"));
	assert_false(session_id_valid("a\n"));
	memset(big, 'a', sizeof big);
	big[129] = '\0';
	assert_false(session_id_valid(big));
	big[128] = '\0';
	assert_true(session_id_valid(big));
}

static void by_variable(void **state)
{
	struct stat st;

	(void)state;
	w.id = "ci-42";
	w.file = "/nowhere";
	assert_int_equal(session_resolve(&w, true, &n1, &d), 0);
	assert_string_equal(n1.id, "ci-42");
	assert_int_equal(n1.source, SESSION_BY_ID);
	/* Nothing was made for it. */
	assert_int_equal(stat(base1, &st), -1);
	w.id = "../../etc";
	assert_int_equal(session_resolve(&w, true, &n1, &d), -EINVAL);
	w.id = "";
	w.file = "";
	assert_int_equal(session_resolve(&w, false, &n1, &d), -ENOENT);
	assert_int_equal(stat(base1, &st), -1);
}

static void by_file(void **state)
{
	static const char *const bad[] = {
		"a\nb\n", "../x\n", "a b\n", "\x01\n", "a\0b"};
	char file[PATH_MAX];

	(void)state;
	strcpy(file, in("sid"));
	w.file = file;
	assert_int_equal(session_resolve(&w, false, &n1, &d), -ENOENT);
	assert_int_equal(access(file, F_OK), -1);
	assert_int_equal(session_resolve(&w, true, &n1, &d), 0);
	assert_true(n1.fresh);
	assert_int_equal(session_resolve(&w, true, &n2, &d), 0);
	assert_false(n2.fresh);
	assert_int_equal(n2.source, SESSION_BY_FILE);
	assert_string_equal(n1.id, n2.id);
	put("sid", "harness-1", 0644);
	assert_int_equal(session_resolve(&w, true, &n1, &d), 0);
	assert_string_equal(n1.id, "harness-1");
	put("sid", "harness-2\r\n", 0444);
	assert_int_equal(session_resolve(&w, false, &n1, &d), 0);
	assert_string_equal(n1.id, "harness-2");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		int fd = open(file, O_WRONLY | O_TRUNC);

		assert_int_equal(write(fd, bad[i], i == 4 ? 3 : strlen(bad[i])),
			(ssize_t)(i == 4 ? 3 : strlen(bad[i])));
		close(fd);
		assert_int_equal(session_resolve(&w, true, &n1, &d), -EINVAL);
	}
	put("sid", "harness-2\n", 0666);
	assert_int_equal(session_resolve(&w, true, &n1, &d), -EPERM);
	put("sid", "harness-2\n", 0600);
	symlink("sid", in("link"));
	strcpy(file, in("link"));
	assert_int_equal(session_resolve(&w, true, &n1, &d), -ELOOP);
	strcpy(file, in("fifo"));
	assert_int_equal(mkfifo(file, 0600), 0);
	assert_int_equal(session_resolve(&w, true, &n1, &d), -EINVAL);
	strcpy(file, in("missing/sid"));
	assert_int_equal(session_resolve(&w, true, &n1, &d), -ENOENT);
	strcpy(file, "/dev/null");
	assert_int_equal(session_resolve(&w, true, &n1, &d), -EINVAL);
}

static void by_workspace(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(session_resolve(&w, true, &n1, &d), 0);
	assert_int_equal(n1.source, SESSION_BY_WORKSPACE);
	assert_true(n1.fresh);
	assert_int_equal(session_resolve(&w, false, &n2, &d), 0);
	assert_string_equal(n1.id, n2.id);
	assert_false(n2.fresh);
	/* Another name for the same place is the same workspace. */
	symlink("work", in("alias"));
	char alias[PATH_MAX];
	strcpy(alias, in("alias"));
	w.cwd = alias;
	assert_int_equal(session_resolve(&w, true, &n2, &d), 0);
	assert_string_equal(n1.id, n2.id);
	w.cwd = other;
	assert_int_equal(session_resolve(&w, true, &n2, &d), 0);
	assert_string_not_equal(n1.id, n2.id);
	w.workspace = work;
	assert_int_equal(session_resolve(&w, true, &n2, &d), 0);
	assert_string_equal(n1.id, n2.id);
	/* A place made anew is a new one. */
	static char moved[1100];
	strcpy(moved, in("moved"));
	assert_int_equal(rename(work, moved), 0);
	assert_int_equal(mkdir(work, 0755), 0);
	assert_int_equal(session_resolve(&w, true, &n2, &d), 0);
	assert_string_not_equal(n1.id, n2.id);
	/* A workspace that is gone. */
	rmdir(work);
	assert_int_equal(session_resolve(&w, true, &n2, &d), 0);
	assert_string_equal(n2.id, SESSION_DEFAULT);
	snprintf(moved, sizeof moved, "%s/%u", base1, geteuid());
	assert_int_equal(stat(moved, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

/* Where does the base end up? */
static const char *place(void)
{
	static char base[SESSION_BASE_MAX];
	int fd = session_base(&w, true, base, &d);

	if (fd < 0)
		return "none";
	close(fd);
	return base;
}

static void unsafe_places(void **state)
{
	static char own[1024], last[1024];

	(void)state;
	snprintf(last, sizeof last, "%s/.wardbox", work);
	assert_string_equal(place(), base1);
	/* Others may write, and move directories away. */
	chmod(base1, 0777);
	assert_string_equal(place(), base2);
	chmod(base1, 01777);
	assert_string_equal(place(), base1);
	/* Our part of it is open to others. */
	snprintf(own, sizeof own, "%s/%u", base1, geteuid());
	chmod(own, 0750);
	assert_string_equal(place(), base2);
	chmod(own, 0700);
	/* A link in either place. */
	static char moved[1100];
	snprintf(moved, sizeof moved, "%s.old", own);
	assert_int_equal(rename(own, moved), 0);
	assert_int_equal(symlink(moved, own), 0);
	assert_string_equal(place(), base2);
	snprintf(moved, sizeof moved, "%s.old", base1);
	assert_int_equal(rename(base1, moved), 0);
	assert_int_equal(symlink(moved, base1), 0);
	assert_string_equal(place(), base2);
	chmod(base2, 0777);
	assert_string_equal(place(), last);
	chmod(last, 0777);
	assert_string_equal(place(), "none");
	assert_int_equal(session_resolve(&w, true, &n1, &d), 0);
	assert_string_equal(n1.id, SESSION_DEFAULT);
	assert_int_equal(n1.source, SESSION_BY_DEFAULT);
	assert_int_equal(session_resolve(&w, false, &n1, &d), -ENOENT);
}

static void someone_elses_place(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(mkdir(base1, 0755), 0);
	assert_int_equal(chown(base1, 1234, 1234), 0);
	assert_string_equal(place(), base2);
	w.uid = 1234;
	assert_string_equal(place(), "none"); /* root's hands, 1234's files */
}

static void damaged_claims(void **state)
{
	static char key[1024], command[2048];

	(void)state;
	assert_int_equal(session_resolve(&w, true, &n1, &d), 0);
	snprintf(key, sizeof key, "%s/%u/sessions", base1, geteuid());
	/* Empty, garbage, a link: each is replaced by a new id. */
	static const char *const damage[] = {": >$f", "echo ../x >$f",
		"rm $f; ln -s /etc/passwd $f", "chmod 666 $f"};
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		snprintf(command, sizeof command,
			"cd %s && for f in *.sid; do %s; done", key, damage[i]);
		assert_int_equal(system(command), 0);
		assert_int_equal(session_resolve(&w, true, &n2, &d), 0);
		assert_int_equal(n2.source, SESSION_BY_WORKSPACE);
		assert_true(n2.fresh);
		assert_string_not_equal(n1.id, n2.id);
		n1 = n2;
	}
}

static void many_at_once(void **state)
{
	int ends[2], status;
	char ids[16][SESSION_ID_MAX + 1];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	for (int i = 0; i < 16; i++)
		if (!fork()) {
			if (session_resolve(&w, true, &n1, &d))
				_exit(1);
			_exit(write(ends[1], n1.id, sizeof n1.id) !=
				sizeof n1.id);
		}
	for (int i = 0; i < 16; i++) {
		wait(&status);
		assert_int_equal(status, 0);
		assert_int_equal(read(ends[0], ids[i], sizeof ids[i]),
			sizeof ids[i]);
		assert_string_equal(ids[i], ids[0]);
	}
	close(ends[0]), close(ends[1]);
}

static void kept_listed_ended(void **state)
{
	autosessions struct session_list l = SESSION_LIST_INIT;
	autostate struct state s = STATE_INIT, back = STATE_INIT;
	int dir;

	(void)state;
	assert_int_equal(session_resolve(&w, true, &n1, &d), 0);
	dir = session_dir(&w, false, NULL, &d);
	assert_true(dir >= 0);
	assert_int_equal(session_load(dir, w.uid, n1.id, &back, &d), 0);
	assert_string_equal(back.workspace, work);
	assert_true(back.created > 1000000000u * 1000000000ull);
	assert_int_equal(state_path(&s.cwd, "/tmp"), 0);
	assert_int_equal(session_create(dir, "zz", &s, &d), 0);
	assert_int_equal(session_create(dir, "zz", &s, &d), -EEXIST);
	assert_int_equal(session_create(dir, "z/z", &s, &d), -EINVAL);
	assert_int_equal(session_save(dir, "aa", &s, &d), 0);
	assert_int_equal(session_list(dir, &l, &d), 0);
	assert_int_equal(l.count, 3);
	assert_string_equal(l.id[0], "aa");
	assert_string_equal(l.id[1], n1.id);
	assert_string_equal(l.id[2], "zz");
	/* The workspace may be given to another session. */
	assert_int_equal(session_bind(&w, dir, "zz", &d), 0);
	assert_int_equal(session_resolve(&w, true, &n2, &d), 0);
	assert_string_equal(n2.id, "zz");
	assert_int_equal(session_end(dir, w.uid, "zz", &d), 0);
	assert_int_equal(session_end(dir, w.uid, "zz", &d), -ENOENT);
	assert_int_equal(session_resolve(&w, false, &n2, &d), -ENOENT);
	close(dir);
}

static void locks(void **state)
{
	int dir, lock, status;

	(void)state;
	dir = session_dir(&w, true, NULL, &d);
	lock = session_lock(dir, &d);
	assert_true(lock >= 0);
	if (!fork())
		_exit(session_lock(dir, &d) != -ETIMEDOUT);
	wait(&status);
	assert_int_equal(status, 0);
	close(lock);
	lock = session_lock(dir, &d);
	assert_true(lock >= 0);
	close(lock);
	close(dir);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids),
		TEST(by_variable),
		TEST(by_file),
		TEST(by_workspace),
		TEST(unsafe_places),
		TEST(someone_elses_place),
		TEST(damaged_claims),
		TEST(many_at_once),
		TEST(kept_listed_ended),
		TEST(locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
