/* test_shim.c - finding the real shell, and the record of an installation
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/shim_record_in.h"
#include "shim/shimlinks.h"
#include "base/str.h"

/* A directory with shims, which are links to this very program, hard ones,
 * too: it is on the program's file system. */
static char top[PATH_MAX / 2];
static char self[PATH_MAX];

static const char *in(const char *name)
{
	static char paths[8][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, PATH_MAX, "%s/%s", top, name);
	return path;
}

static int setup(void **state)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	(void)state;
	if (n <= 0 || (size_t)n + sizeof "-XXXXXX" > sizeof top)
		return -1;
	memcpy(top, self, (size_t)n);
	strcpy(top + n, "-XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", top);
	return system(command);
}

static void shell(const char *name)
{
	int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC, 0755);

	assert_true(fd >= 0);
	close(fd);
}

static void link_to(const char *target, const char *name)
{
	unlink(in(name));
	assert_int_equal(symlink(target, in(name)), 0);
}

static void expect(const char *called, const char *want)
{
	char out[PATH_MAX] = "";
	struct diag d;
	int err = shim_real(called, in("record"), out, sizeof out, &d);

	if (err)
		print_error("%s: %s\n", called, d.text);
	assert_int_equal(err, 0);
	assert_string_equal(out, want);
}

static void beside_the_shim(void **state)
{
	(void)state;
	link_to(self, "sh");
	shell("sh.real");
	expect(in("sh"), in("sh.real"));
	/* A link stays unresolved: policy and busybox see the name. */
	shell("busybox");
	link_to("busybox", "ash.real");
	link_to(self, "ash");
	expect(in("ash"), in("ash.real"));
	/* A login shell's mark, before the path or before the name. */
	char marked[PATH_MAX];

	snprintf(marked, sizeof marked, "-%s", in("ash"));
	expect(marked, in("ash.real"));
	snprintf(marked, sizeof marked, "%s/-ash", top);
	expect(marked, in("ash.real"));
}

static void through_another_shim(void **state)
{
	(void)state;
	/* sh was a link to dash, and dash is a shim by now. */
	link_to(self, "sh");
	link_to("dash", "sh.real");
	link_to(self, "dash");
	shell("dash.real");
	expect(in("sh"), in("dash.real"));
	expect(in("dash"), in("dash.real"));
	expect(in("sh.real"), in("dash.real"));
	/* Over two of them, the second absolute. */
	link_to("bash", "sh.real");
	link_to(self, "bash");
	link_to(in("dash"), "bash.real");
	expect(in("sh"), in("dash.real"));
	/* Never itself, and never round in circles. */
	link_to("sh", "dash.real");
	assert_int_equal(unlink(in("bash.real")), 0);
	expect(in("sh"), "/bin/sh");
}

static void hard_linked_self(void **state)
{
	(void)state;
	shell("sh.real");
	unlink(in("sh.real"));
	if (link(self, in("sh.real")))
		skip();
	link_to(self, "sh");
	expect(in("sh"), "/bin/sh");
}

static void whatever_argv0_says(void **state)
{
	char out[PATH_MAX];

	(void)state;
	link_to(self, "bash");
	link_to("bash", "rbash");
	link_to(self, "other");
	struct {
		const char *argv0, *file, *want;
	} cases[] = {
		{"foo", in("bash"), in("bash")},
		{"-su", in("bash"), in("bash")},
		{"", in("bash"), in("bash")},
		{"session", in("bash"), in("bash")},
		{"rbash", in("rbash"), in("bash")},
		/* A script: the kernel names it, argv[0] is the shell. */
		{"/bin/sh", "/etc/passwd", "/bin/sh"},
		{in("rbash"), "/etc/passwd", in("bash")},
		{in("rbash"), "/nowhere", in("bash")},
		{"-sh", NULL, "-sh"},
		{"sh", "/nowhere", "sh"},
		{"/bin/sh.real", NULL, "/bin/sh.real"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(shim_called(cases[i].argv0, cases[i].file, out,
					 sizeof out),
			0);
		assert_string_equal(out, cases[i].want);
	}
	assert_int_equal(
		shim_called("foo", in("other"), out, sizeof out), -ENOENT);
	assert_int_equal(
		shim_called("wardbox", self, out, sizeof out), -ENOENT);
	assert_int_equal(shim_called("shx", NULL, out, sizeof out), -ENOENT);
	assert_int_equal(
		shim_called("rbash", "/etc/passwd", out, sizeof out), -ENOENT);
	assert_int_equal(shim_called(in("other"), "/etc/passwd", out,
				 sizeof out),
		-ENOENT);
	assert_int_equal(shim_called("x", in("bash"), out, 4), -ENAMETOOLONG);
}

static void not_installed(void **state)
{
	char out[PATH_MAX];
	struct diag d;

	(void)state;
	expect("sh", "/bin/sh");
	expect("-sh", "/bin/sh");
	expect("nonsense", "/bin/sh");
	expect(in("sh"), "/bin/sh");
	/* Not executable, a directory, a dangling link: no shells. */
	shell("sh.real");
	chmod(in("sh.real"), 0644);
	expect(in("sh"), "/bin/sh");
	unlink(in("sh.real"));
	mkdir(in("sh.real"), 0755);
	expect(in("sh"), "/bin/sh");
	rmdir(in("sh.real"));
	link_to("gone", "sh.real");
	expect(in("sh"), "/bin/sh");
	shell("ash");
	expect(in("ash"), in("ash"));
	/* One that was named is not looked for elsewhere. */
	assert_int_equal(shim_real(in("sh"), "", out, sizeof out, NULL), -ENOENT);
	assert_int_equal(shim_real("sh", "", out, sizeof out, NULL), -ENOENT);
	assert_int_equal(shim_real(in("ash"), "", out, sizeof out, NULL), 0);
	assert_string_equal(out, in("ash"));
	shell("ash.real");
	assert_int_equal(shim_real(in("ash"), "", out, sizeof out, NULL), 0);
	assert_string_equal(out, in("ash.real"));
	unlink(in("ash.real"));
	if (!access("/bin/ash", F_OK) || !access("/usr/bin/ash", F_OK))
		return;
	assert_int_equal(
		shim_real("ash", in("record"), out, sizeof out, &d), -ENOENT);
	assert_non_null(strstr(d.text, "ash"));
	assert_int_equal(shim_real("sh", in("record"), out, 4, &d), -ENOENT);
}

static void by_the_record(void **state)
{
	static struct shim_record r;
	static char text[4096];
	char shell_path[PATH_MAX];
	struct buf b = BUF_FIXED(text);
	int fd;

	(void)state;
	snprintf(shell_path, sizeof shell_path, "%s/ash", top);
	assert_int_equal(shim_record_add(&r, shell_path), 0);
	strcpy(r.binary, "/usr/bin/wardbox");
	strcpy(r.policy, "/etc/wardbox/policy");
	assert_int_equal(shim_record_write(&r, &b), 0);
	fd = open(in("record"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_int_equal(write(fd, b.data, b.len), (ssize_t)b.len);
	close(fd);
	shell("ash.real");
	if (!access("/bin/ash", F_OK))
		skip();
	expect("ash", in("ash.real"));
	/* One that others may write is not believed. */
	chmod(in("record"), 0666);
	assert_int_equal(
		shim_real("ash", in("record"), text, sizeof text, NULL),
		-ENOENT);
}

static void record_comes_back(void **state)
{
	static struct shim_record r = {.busy = true, .binary_made = true};
	static struct shim_record back;
	autobuf struct buf b = BUF_INIT(SHIM_RECORD_MAX);
	struct diag d;

	(void)state;
	strcpy(r.binary, "/opt/a b%\n/wardbox");
	strcpy(r.policy, "/etc/wardbox/policy");
	assert_int_equal(shim_record_add(&r, "/bin/sh"), 0);
	assert_int_equal(shim_record_add(&r, "/bin/sh"), 0);
	assert_int_equal(shim_record_add(&r, "/usr/bin/b\xc3\xa4sh"), 0);
	r.time[0] = (struct shim_time){.path = "/bin", .before = {-5, 7},
		.after = {1700000000, 999999999}};
	r.time_count = 1;
	assert_int_equal(shim_record_write(&r, &b), 0);
	assert_int_equal(shim_record_parse(&back, b.data, b.len, &d), 0);
	assert_true(back.busy && back.binary_made && !back.policy_made);
	assert_string_equal(back.binary, r.binary);
	assert_int_equal(back.shell_count, 2);
	assert_string_equal(back.shell[1], "/usr/bin/b\xc3\xa4sh");
	assert_int_equal(back.time_count, 1);
	assert_memory_equal(&back.time[0].after, &r.time[0].after,
		sizeof r.time[0].after);
	assert_int_equal(back.time[0].before.tv_sec, -5);
	shim_record_drop(&back, "/bin/sh");
	assert_int_equal(back.shell_count, 1);
	assert_true(shim_record_has(&back, "/usr/bin/b\xc3\xa4sh"));
}

static void bad_records(void **state)
{
	static const char *const bad[] = {
		"",
		"# only a comment\n",
		"wardbox-install 2\n",
		"wardbox-install 1",
		"wardbox-install 1\nshell\n",
		"wardbox-install 1\nshell sh\n",
		"wardbox-install 1\nshell /bin/../sh\n",
		"wardbox-install 1\nshell /bin/sh more\n",
		"wardbox-install 1\nshell /bin/s%0\n",
		"wardbox-install 1\nshell /bin/s%00\n",
		"wardbox-install 1\nbinary mad /bin/x\n",
		"wardbox-install 1\nbinary made\n",
		"wardbox-install 1\nunknown\n",
		"wardbox-install 1\ntime /bin 1.0 2.000000000\n",
		"wardbox-install 1\ntime /bin 1.000000000\n",
	};
	struct shim_record r;
	struct diag d;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(shim_record_parse(&r, bad[i], strlen(bad[i]),
					 &d),
			-EINVAL);
	assert_int_equal(d.line, 2);
	assert_int_equal(
		shim_record_parse(&r, "wardbox-install 1\nbusy\n\0\n", 26, &d),
		-EINVAL);
	for (int i = 0; i < SHIM_SHELLS_MAX + 1; i++) {
		char path[32];

		snprintf(path, sizeof path, "/bin/sh%d", i);
		r.shell_count = i ? r.shell_count : 0;
		assert_int_equal(shim_record_add(&r, path),
			i < SHIM_SHELLS_MAX ? 0 : -E2BIG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			beside_the_shim, setup, teardown),
		cmocka_unit_test_setup_teardown(
			through_another_shim, setup, teardown),
		cmocka_unit_test_setup_teardown(
			hard_linked_self, setup, teardown),
		cmocka_unit_test_setup_teardown(
			whatever_argv0_says, setup, teardown),
		cmocka_unit_test_setup_teardown(
			not_installed, setup, teardown),
		cmocka_unit_test_setup_teardown(
			by_the_record, setup, teardown),
		cmocka_unit_test(record_comes_back),
		cmocka_unit_test(bad_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
