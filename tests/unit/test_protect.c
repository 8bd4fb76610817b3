/* test_protect.c - git's settings as they are read, and names that are put back
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "protect/gitconf.h"
#include "protect/protect.h"

static int list_one(void *ctx, const struct gitconf_var *var)
{
	struct buf *b = ctx;

	buf_addf(b, "%s=%s|", var->name, var->value);
	return 0;
}

static void assert_reads(const char *text, const char *want)
{
	char room[512];
	struct buf b = BUF_FIXED(room);
	int err = gitconf_read(text, strlen(text), list_one, &b);

	if (!want) {
		assert_int_equal(err, -EINVAL);
		return;
	}
	assert_int_equal(err, 0);
	assert_string_equal(buf_str(&b), want);
}

static void names_have_their_case(void **state)
{
	(void)state;
	assert_reads("[CoRe]\nFsMonitor = X\n", "core.fsmonitor=X|");
	assert_reads("[a \"B.c\"]\nD=e", "a.B.c.d=e|");
	assert_reads("[A.B]\nD=e", "a.b.d=e|");
	assert_reads("[a \"b\\\"\\c]\"] d = e", "a.b\"c].d=e|");
	assert_reads("\xef\xbb\xbf[a]b", "a.b=true|");
}

static void values_are_without_their_quotes(void **state)
{
	(void)state;
	assert_reads("[a]b = c d  ; e\n", "a.b=c d|");
	assert_reads("[a]b = \"c ; d \" # e\n", "a.b=c ; d |");
	assert_reads("[a]b = c\\\n  d\n", "a.b=c  d|");
	assert_reads("[a]b=c # \\\nd=e\n", "a.b=c|a.d=e|");
	assert_reads("[a]b=\"x\\ty\\\\\\\"\"\r\nc\r\n", "a.b=x\ty\\\"|a.c=true|");
	assert_reads("[a]b =\n", "a.b=|");
	assert_reads("[a]b = \"\" \"!x\"", "a.b=!x|");
}

static void what_git_refuses_is_refused(void **state)
{
	static const char *const bad[] = {"a=b", "[a", "[a \"b\n\"]", "[a]1=2",
		"[a]b c", "[a]b=\"c\n", "[a]b=\\x", "[a \"b\"c]", "[]b=c",
		"[a]b=c\n]"};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_reads(bad[i], NULL);
	assert_int_equal(gitconf_read("[a]b=c\0d", 8, list_one, NULL), -EINVAL);
}

/* A project in a directory of its own. */
static char project[] = "/tmp/protect.XXXXXX";
static char told[2048];

static void put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void assert_text(const char *name, const char *want)
{
	char text[1024] = "";
	int fd = open(name, O_RDONLY | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (!want) {
		assert_int_equal(n, -1);
		return;
	}
	assert_true(n >= 0);
	assert_string_equal(text, want);
}

static void shell(const char *line)
{
	assert_int_equal(WEXITSTATUS(system(line)), 0);
}

static bool runs(void *ctx, const char *name, const char *value)
{
	(void)ctx;
	return strstr(name, "fsmonitor") || strstr(name, "hookspath") ||
		strstr(name, "include") || strstr(name, "worktree") ||
		value[0] == '!';
}

static const char *member(void *ctx, const char *name)
{
	(void)ctx;
	return strstr(name, ".json") ? "scripts" : NULL;
}

static void found(void *ctx, const struct protect_change *c)
{
	size_t n = strlen(told);

	(void)ctx;
	snprintf(told + n, sizeof told - n, "%s:%s:%s:%d|", c->name, c->what,
		c->aside, c->err);
}

static const struct protect_name names[] = {
	{.path = ".git"},
	{.path = ".git", .tree = true},
	{.path = ".wardbox", .strict = true},
	{.path = ".wardbox", .tree = true, .strict = true},
	{.path = "package.json"},
	{.path = ".npmrc"},
	{.path = ".ci/*.yml"},
};
static struct protect_spec spec = {
	.root = project,
	.cwd = project,
	.names = names,
	.name_count = sizeof names / sizeof *names,
	.state = -1,
	.runs = runs,
	.member = member,
	.found = found,
};

static const char usual[] = "[core]\n\tbare = false\n[alias]\n\ts = !old\n";

static int setup(void **state)
{
	(void)state;
	memcpy(project, "/tmp/protect.XXXXXX", sizeof project);
	told[0] = '\0';
	spec.state = -1;
	spec.allowed = false;
	if (!mkdtemp(project) || chdir(project))
		return -1;
	shell("mkdir -p .git/hooks .git/modules .ci");
	put(".git/config", usual);
	put(".git/HEAD", "ref: refs/heads/main\n");
	put(".git/hooks/a.sample", "");
	return 0;
}

static int teardown(void **state)
{
	char line[64];

	(void)state;
	snprintf(line, sizeof line, "rm -rf %s", project);
	return chdir("/") || system(line);
}

/* What act makes of the project is looked at, and put back. */
static void check(const char *act)
{
	struct protect *p;

	told[0] = '\0';
	assert_int_equal(protect_begin(&p, &spec), 0);
	shell(act);
	protect_check(p);
	protect_end(p);
}

static void single_settings_are_taken_out(void **state)
{
	(void)state;
	check("printf '[user]\\n\\tname = me\\n[core]fsmonitor = x\\n"
	      "[core]\\n\\tfsmonitor = y\\n\\teol = lf' >>.git/config");
	assert_string_equal(told, ".git/config:core.fsmonitor=x::0|"
				  ".git/config:core.fsmonitor=y::0|");
	assert_text(".git/config",
		"[core]\n\tbare = false\n[alias]\n\ts = !old\n[user]\n\tname = "
		"me\n[core]\n[core]\n\teol = lf");
}

static void a_former_value_comes_back(void **state)
{
	(void)state;
	check("sed -i 's/!old/!new/; s/bare/eol/' .git/config");
	assert_string_equal(told, ".git/config:alias.s=!new::0|");
	assert_text(".git/config", "[core]\n\teol = false\n[alias]\n\ts = !old\n");
	check("printf '[user]\\n\\tname = me\\n' >.git/config");
	assert_string_equal(told, "");
}

static void a_text_that_git_cannot_read_goes_as_a_whole(void **state)
{
	(void)state;
	check("printf '[core]\\nfsmonitor = \"x\\n' >>.git/config");
	assert_string_equal(told, ".git/config:::0|");
	assert_text(".git/config", usual);
}

static void settings_of_other_kinds_of_file(void **state)
{
	(void)state;
	check("printf '[core]fsmonitor=x' >v; ln -sf ../v .git/config");
	assert_string_equal(told, ".git/config::.git/config.denied:0|");
	assert_text(".git/config", usual);
	check("rm .git/config; mkfifo .git/config");
	assert_text(".git/config", usual);
	check("cat .git/config v >w; ln -f w .git/config");
	assert_text(".git/config", "[core]\n\tbare = false\n[alias]\n\ts = !old\n"
				   "[core]");
	put(".git/config", usual);
	assert_text("w", "[core]\n\tbare = false\n[alias]\n\ts = !old\n"
			 "[core]fsmonitor=x");
	check("head -c 2000000 /dev/zero | tr '\\0' '#' >>.git/config");
	assert_text(".git/config", usual);
	check("rm -r .git/config; mkdir -p .git/config/x");
	check("rm -rf .git/config; printf '[core]\\nfsmonitor=x\\neol=lf\\n' "
	      ">.git/config");
	assert_text(".git/config", "[core]\neol=lf\n");
}

static void hooks_are_put_aside(void **state)
{
	struct stat st;

	(void)state;
	put(".git/hooks/update", "old");
	check("echo new >.git/hooks/update; echo x >.git/hooks/pre-push; "
	      "echo s >.git/hooks/b.sample; chmod +x .git/hooks/update");
	assert_text(".git/hooks/update", "old");
	assert_int_equal(stat(".git/hooks/update", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_text(".git/hooks/pre-push", NULL);
	assert_text(".git/hooks/pre-push.denied", "x\n");
	assert_text(".git/hooks/b.sample", "s\n");
	/* A mode alone arms it. */
	check("chmod +x .git/hooks/update");
	assert_int_equal(stat(".git/hooks/update", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	check("rm .git/hooks/update; echo y >.git/hooks/pre-push");
	assert_text(".git/hooks/update", "old");
	assert_text(".git/hooks/pre-push.denied.1", "y\n");
	check("mv .git/hooks h; ln -s ../h .git/hooks");
	assert_text(".git/hooks/x", NULL);
}

static void another_repository_in_its_place(void **state)
{
	(void)state;
	shell("mkdir -p v/.git/hooks; printf '[core]\\nfsmonitor=x\\n[a]b=c\\n' "
	      ">v/.git/config; echo x >v/.git/hooks/update; echo r >v/.git/HEAD");
	check("rm -rf .git; mv v/.git .");
	assert_text(".git/config", "[core]\n[a]b=c\n");
	assert_text(".git/hooks/update", NULL);
	check("mv .git v; echo 'gitdir: v/.git' >.git");
	assert_string_equal(told, ".git::.git.denied:0|");
	assert_text(".git", NULL);
	shell("rm -f .git.denied");
	check("ln -s v/.git .git");
	assert_string_equal(told, ".git::.git.denied:0|");
	check("mv v/.git .; echo ../v >.git/commondir");
	assert_text(".git/commondir", NULL);
}

static void worktrees_and_submodules(void **state)
{
	(void)state;
	check("mkdir -p .git/worktrees/w .git/modules/a/b/hooks; cd .git; "
	      "echo ../.. >worktrees/w/commondir; echo x >modules/a/b/HEAD; "
	      "printf '[core]\\nfsmonitor=x\\nworktree=../../../../b\\n' "
	      ">modules/a/b/config; printf '[core]fsmonitor=z' "
	      ">worktrees/w/config.worktree; echo x >modules/a/b/hooks/update");
	assert_text(".git/worktrees/w/commondir", "../..\n");
	assert_text(".git/worktrees/w/config.worktree", "[core]");
	assert_text(".git/modules/a/b/config",
		"[core]\nworktree=../../../../b\n");
	assert_text(".git/modules/a/b/hooks/update", NULL);
	check("echo ../../../v >.git/worktrees/w/commondir");
	assert_text(".git/worktrees/w/commondir", "../..\n");
	check("echo '[core]worktree=../../..' >.git/modules/a/b/config");
	assert_text(".git/modules/a/b/config", "[core]\n");
}

static void files_that_settings_include(void **state)
{
	(void)state;
	put(".git/config", "[include]\n\tpath = ../team\n");
	check("printf '[core]fsmonitor=x\\n' >team");
	assert_text("team", "[core]\n");
	put("team", "[include]path=more\n[user]name=a\n");
	check("sed -i s/a$/b/ team; printf '[alias]x=!y\\n' >more");
	assert_text("team", "[include]path=more\n[user]name=b\n");
	assert_text("more", "[alias]\n");
}

static void other_names(void **state)
{
	(void)state;
	put("package.json", "{\"scripts\": {\"test\": \"a\"}, \"x\": 1}");
	put(".npmrc", "a");
	put(".ci/a.yml", "a");
	check("echo '{\"x\": 2,\"scripts\": {\"test\": \"evil\"}}' >package.json; "
	      "echo b >.npmrc; rm .ci/a.yml; echo c >.ci/b.yml; echo d >.ci/c; "
	      "mkdir .wardbox; echo x >.wardbox/policy");
	assert_text("package.json", "{\"x\": 2,\"scripts\": {\"test\": \"a\"}}\n");
	assert_text(".npmrc", "a");
	assert_text(".ci/a.yml", "a");
	assert_text(".ci/b.yml", NULL);
	assert_text(".ci/c", "d\n");
	assert_text(".wardbox/policy", NULL);
	assert_text(".wardbox.denied/policy", "x\n");
	check("echo '{\"scripts\": {\"test\": \"a\"}, \"x\": 3}' >package.json");
	assert_string_equal(told, "");
}

static void what_is_too_large_is_told(void **state)
{
	struct protect *p;

	(void)state;
	shell("head -c 1100000 /dev/zero | tr '\\0' '#' >>.git/config");
	told[0] = '\0';
	assert_int_equal(protect_begin(&p, &spec), 0);
	assert_int_equal(protect_check(p), 0);
	shell("echo >>.git/config");
	assert_int_equal(protect_check(p), -EFBIG);
	protect_end(p);
	assert_string_equal(told, ".git/config:::-27|");
}

static void what_was_allowed_stays(void **state)
{
	(void)state;
	spec.allowed = true;
	check("echo '[core]fsmonitor=x' >>.git/config; mkdir .wardbox");
	assert_string_equal(told, ".wardbox::.wardbox.denied:0|");
}

static void a_crowd_hides_nothing(void **state)
{
	(void)state;
	check("cd .git/hooks; i=0; while [ $i -lt 1200 ]; do : >h$i; i=$((i + 1)); "
	      "done; mkdir ../../.wardbox; i=1; : >../../.wardbox.denied; while "
	      "[ $i -lt 40 ]; do : >../../.wardbox.denied.$i; i=$((i + 1)); done");
	shell("[ -z \"$(ls .git/hooks | grep -v -e denied -e sample)\" ]");
	shell("[ ! -e .wardbox ]");
}

/* The owner takes its own rights away, so that nothing could be put back. */
static void closed_directories_are_opened(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	shell("chown -R 1000 .");
	pid = fork();
	if (pid == 0) {
		if (setgid(1000) || setuid(1000))
			_exit(0);
		check("printf '[core]fsmonitor=x\\n' >>.git/config; "
		      "echo x >.git/hooks/update; chmod 0 .git/hooks; chmod 0500 .git");
		check("printf '[core]fsmonitor=x\\n' >>.git/config; chmod 0 .git");
		_exit(strstr(told, "core.fsmonitor=x::0") ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_text(".git/config", "[core]\n\tbare = false\n[alias]\n\ts = !old\n"
				   "[core]\n[core]\n");
	assert_text(".git/hooks/update", NULL);
}

/* The first one's look counts for all that run at the same time, and for who
 * comes when its supervisor was killed. */
static void commands_at_the_same_time(void **state)
{
	struct protect *a, *b;

	(void)state;
	shell("mkdir state");
	spec.state = open("state", O_RDONLY | O_DIRECTORY);
	assert_int_equal(protect_begin(&a, &spec), 0);
	shell("echo '[core]fsmonitor=x' >>.git/config");
	assert_int_equal(protect_begin(&b, &spec), 0);
	assert_int_equal(protect_check(a), 0);
	assert_text(".git/config", "[core]\n\tbare = false\n[alias]\n\ts = !old\n[core]\n");
	protect_end(a);
	assert_int_equal(protect_check(b), 0);
	protect_end(b);
	assert_text(".git/config", "[core]\n\tbare = false\n[alias]\n\ts = !old\n[core]\n");
	if (fork() == 0) {
		protect_begin(&a, &spec);
		shell("echo y >.git/hooks/update");
		_exit(0);
	}
	wait(NULL);
	check(":");
	assert_text(".git/hooks/update", NULL);
	/* Nobody runs: a person's own change is none of ours. */
	shell("echo z >.git/hooks/update");
	check(":");
	assert_text(".git/hooks/update", "z\n");
	close(spec.state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_their_case),
		cmocka_unit_test(values_are_without_their_quotes),
		cmocka_unit_test(what_git_refuses_is_refused),
		TEST(single_settings_are_taken_out),
		TEST(a_former_value_comes_back),
		TEST(a_text_that_git_cannot_read_goes_as_a_whole),
		TEST(settings_of_other_kinds_of_file),
		TEST(hooks_are_put_aside),
		TEST(another_repository_in_its_place),
		TEST(worktrees_and_submodules),
		TEST(files_that_settings_include),
		TEST(other_names),
		TEST(what_is_too_large_is_told),
		TEST(what_was_allowed_stays),
		TEST(a_crowd_hides_nothing),
		TEST(closed_directories_are_opened),
		TEST(commands_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
