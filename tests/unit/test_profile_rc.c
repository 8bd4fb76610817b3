/* test_profile_rc.c - startup files as commands, and what they do to PATH
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/diff.h"
#include "profile/profile_line.h"
#include "profile/rc_path.h"
#include "profile/rcfile.h"
#include "profile/shellkind.h"
#include "base/str.h"
#include "sys/userdb.h"

/* "line:guards:words|…" of every command; PATH shown as %, unknown as ?. */
static int show(void *ctx, const struct rc_cmd *cmd)
{
	struct buf *out = ctx;

	buf_addf(out, "%u%s%s:", cmd->line, cmd->in_function ? "f" : "",
		cmd->top ? "" : cmd->guards ? "g" : "-");
	if (cmd->guards)
		buf_addf(out, "%u", cmd->guards);
	if (cmd->guard_op)
		buf_addf(out, "%c=%s", cmd->guard_op, cmd->guard_path);
	for (size_t i = 0; i < cmd->count; i++) {
		buf_addc(out, i ? ' ' : '[');
		for (size_t k = 0; k < cmd->word[i].len; k++) {
			char c = cmd->word[i].text[k];

			buf_addc(out, c == RC_PATH ? '%'
					: c == RC_UNKNOWN ? '?'
							  : c);
		}
	}
	buf_adds(out, "]\n");
	return 0;
}

static void check(enum shell_family family, const char *text, const char *want,
	int result)
{
	autobuf struct buf out = BUF_INIT(65536);
	struct rc_source source = {.text = text,
		.len = strlen(text),
		.family = family,
		.home = "/h"};
	struct rc_visitor visitor = {.command = show, .ctx = &out};

	assert_int_equal(rc_scan(&source, &visitor), result);
	assert_string_equal(buf_str(&out), want);
}

static void words_of_sh(void **state)
{
	(void)state;
	check(FAMILY_SH, "a b 'c d' \"e $HOME f\" ~/g h~ \"~/i\" \\j #k\n",
		"1:[a b c d e /h f /h/g h~ ~/i j]\n", 0);
	check(FAMILY_SH, "PATH=~/a:~/b:\"~/c\":$PATH\n",
		"1:[PATH=/h/a:/h/b:~/c:%]\n", 0);
	check(FAMILY_SH, "export PATH=\"/a${PATH:+:${PATH}}\"",
		"1:[export PATH=/a:%]\n", 0);
	check(FAMILY_SH, "PATH=${PATH:-/x}:${HOME}/y:${X}:$(z \")\" '(') a`b`",
		"1:[PATH=%:/h/y:?:? a?]\n", 0);
	check(FAMILY_SH, "a \\\n b\nc\\\nd\n", "1:[a b]\n3:[cd]\n", 0);
	check(FAMILY_SH, "x=$'a\\'b' $1$? $\n", "1:[x=? ?? $]\n", 0);
	check(FAMILY_SH, "a >f 2>&1 <g b 2>/dev/null >>h; c &>i\n",
		"1:[a b]\n1:[c]\n", 0);
	check(FAMILY_SH, "path=(a \"b c\" # d\n e)\nf\n",
		"1:[path= a b c e]\n3:[f]\n", 0);
	check(FAMILY_SH, "a 'open\nb\n", "1:[a open\nb\n]\n", 1);
}

static void heredocs(void **state)
{
	(void)state;
	check(FAMILY_SH, "cat <<A <<-'B' x\n' \"\nA\n$(\n\tB\ny\n",
		"1:[cat x]\n6:[y]\n", 0);
	check(FAMILY_SH, "cat <<<word y\nz\n", "1:[cat y]\n2:[z]\n", 0);
	check(FAMILY_SH, "x=$(cat <<E\n' ) \"\nE\n)\ny\n",
		"1:[x=?]\n5:[y]\n", 0);
	check(FAMILY_SH, "cat <<E\nx\n", "1:[cat]\n", RC_OPEN_HEREDOC);
}

static void guards_of_sh(void **state)
{
	(void)state;
	check(FAMILY_SH, "[ -d /x ] && a\n[ -d /x ] || b\n",
		"1:[[ -d /x ]]\n1g:1d=/x[a]\n2:[[ -d /x ]]\n2g:1[b]\n", 0);
	check(FAMILY_SH, "if [ -r ~/y ]; then\n a\nelse\n b\nfi; c\n",
		"1-:[[ -r /h/y ]]\n2g:1r=/h/y[a]\n4g:1[b]\n5:[c]\n", 0);
	check(FAMILY_SH, "f() {\n a\n}\nfunction g {\n b\n}\nfunction h() { c; }\nd",
		"2f-:[a]\n5f-:[b]\n7f-:[c]\n8:[d]\n", 0);
	check(FAMILY_SH,
		"case $- in *i*) a ;; x|y) b;; *) return;; esac\nc\n",
		"1g:1[a]\n1g:1[b]\n1g:1[return]\n2:[c]\n", 0);
	/* What only asks whether PATH has it already is no condition. */
	check(FAMILY_SH,
		"case \":${PATH}:\" in *:/x:*) ;; *) PATH=/x:$PATH ;; esac\n",
		"1-:[PATH=/x:%]\n", 0);
	check(FAMILY_SH, "if ! [[ \":$PATH:\" == *:/x:* ]]; then a; fi\n",
		"1-:[[[ :%: == *:/x:* ]]]\n1-:[a]\n", 0);
	check(FAMILY_SH, "for i in a b; do\n c\ndone\nwhile x; do y; done\n",
		"2g:1[c]\n4g:1[x]\n4g:1[y]\n", 0);
	check(FAMILY_SH, "{ a; }; ( b ); (( 1 + 2 )) && c; d | e\n",
		"1-:[a]\n1g:1[b]\n1g:1[c]\n1-:[d]\n1-:[e]\n", 0);
	check(FAMILY_SH, "if a; then\n b\n", "1-:[a]\n2g:1[b]\n", 1);
	check(FAMILY_SH, "[[ -n $x && ( -f y || a < b ) ]] && c\n",
		"1:[[[ -n ? -f y a b ]]]\n1g:1[c]\n", 0);
}

static void fish_and_csh(void **state)
{
	(void)state;
	check(FAMILY_FISH,
		"if test -d ~/x\n  set -gx PATH ~/x $PATH\nelse if b\n c\nend\nd 'e\\'f' (g)\n",
		"1-:[test -d /h/x]\n2g:1d=/h/x[set -gx PATH /h/x %]\n3-:[b]\n"
		"4g:2[c]\n6:[d e'f ?]\n",
		0);
	check(FAMILY_FISH, "contains -- /x $PATH; or set PATH /x $PATH\n",
		"1:[contains -- /x %]\n1-:[set PATH /x %]\n", 0);
	check(FAMILY_FISH, "function f\n a\nend\nfor i in b; c; end\nd\n",
		"2f-:[a]\n4g:1[c]\n5:[d]\n", 0);
	check(FAMILY_CSH,
		"if ( -d /x ) setenv PATH /x:${PATH}\nset path = ( ~/a $path )\n",
		"1g:1d=/x[setenv PATH /x:%]\n2:[set path = /h/a %]\n", 0);
	check(FAMILY_CSH, "if ( $?prompt ) then\n a\nelse\n b\nendif\nc\n",
		"2g:1[a]\n4g:1[b]\n6:[c]\n", 0);
}

static int has(enum shell_family family, const char *text, const char *dir,
	bool exists)
{
	struct rc_source source = {.text = text,
		.len = strlen(text),
		.family = family,
		.zsh = !str_after(text, "#bash"),
		.home = "/h"};

	return rc_path_has(&source, dir, exists, NULL, 0);
}

static void path_has(void **state)
{
	static const struct {
		enum shell_family family;
		const char *text;
		bool exists, want;
	} cases[] = {
		{FAMILY_SH, "export PATH=/x/b:$PATH", false, true},
		{FAMILY_SH, "PATH=$PATH:/x//b/", false, true},
		{FAMILY_SH, "PATH=/x/./b:$PATH; export PATH", false, true},
		{FAMILY_SH, "PATH=/x/b2:$PATH", false, false},
		{FAMILY_SH, "#PATH=/x/b:$PATH", false, false},
		{FAMILY_SH, "PATH=/x/b:$PATH cmd", false, false},
		{FAMILY_SH, "echo PATH=/x/b:$PATH", false, false},
		{FAMILY_SH, "[ -d /x/b ] && PATH=/x/b:$PATH", true, true},
		{FAMILY_SH, "[ -d /x/b ] && PATH=/x/b:$PATH", false, false},
		{FAMILY_SH, "[ -d /y ] && PATH=/x/b:$PATH", true, false},
		{FAMILY_SH, "f() { PATH=/x/b:$PATH; }", true, false},
		{FAMILY_SH, "PATH=/x/b:$PATH\nPATH=/usr/bin", true, false},
		{FAMILY_SH, "PATH=/usr/bin\nPATH=/x/b:$PATH", true, true},
		{FAMILY_SH, "path=(/x/b $path)", false, true},
		{FAMILY_SH, "path+=(/x/b)", false, true},
		{FAMILY_SH, "path=/x/b", false, false},
		{FAMILY_SH, "PATH+=:/x/b", false, true},
		{FAMILY_SH, "typeset -x PATH=/x/b:$PATH", false, true},
		{FAMILY_SH, "PATH=$(x):/x/b", false, true},
		{FAMILY_SH, "(PATH=/x/b:$PATH)", false, false},
		{FAMILY_SH, "cat <<E\nPATH=/x/b:$PATH\nE\n", false, false},
		{FAMILY_SH, "#bash\npath=(/x/b $path)", false, false},
		{FAMILY_SH, "exit\nPATH=/x/b:$PATH", false, false},
		{FAMILY_SH, "return 2>/dev/null || exit\nPATH=/x/b:$PATH", false,
			false},
		{FAMILY_SH, "exec 2>&1\nPATH=/x/b:$PATH", false, true},
		{FAMILY_SH, "[ -z \"$PATH\" ] && PATH=/x/b", false, false},
		{FAMILY_SH, "case \"$PATH\" in '') PATH=/x/b;; esac", false,
			false},
		{FAMILY_SH,
			"[[ \":$PATH:\" != *:/x/b:* ]] && PATH=/x/b:$PATH",
			false, true},
		{FAMILY_SH,
			"case :$PATH: in *:/x/b:*) ;; *) PATH=/x/b:$PATH;; esac",
			false, true},
		{FAMILY_FISH, "fish_add_path /x/b", false, true},
		{FAMILY_FISH, "fish_add_path -gaP /x/b", false, true},
		{FAMILY_FISH, "set -U fish_user_paths /x/b", false, true},
		{FAMILY_FISH, "set -gx PATH /x/b $PATH", false, true},
		{FAMILY_FISH, "set -q PATH /x/b", false, false},
		{FAMILY_FISH, "set -a PATH /x/b", false, true},
		{FAMILY_CSH, "setenv PATH ${PATH}:/x/b", false, true},
		{FAMILY_CSH, "set path=(/x/b $path)", false, true},
		{FAMILY_CSH, "set path = ($path /x/b)", false, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		print_message("%s\n", cases[i].text);
		assert_int_equal(has(cases[i].family, cases[i].text, "/x/b",
					 cases[i].exists),
			cases[i].want);
	}
}

static int sets(enum shell_family family, const char *text)
{
	struct rc_source source = {.text = text,
		.len = strlen(text),
		.family = family,
		.home = "/h"};

	return rc_var_has(&source, "V", "/h/x y", NULL, 0);
}

static void var_has(void **state)
{
	(void)state;
	assert_int_equal(sets(FAMILY_SH, "export V=\"$HOME/x y\""), 1);
	assert_int_equal(sets(FAMILY_SH, "V=~/'x y'\nexport A V"), 1);
	assert_int_equal(sets(FAMILY_SH, "V=\"$HOME/x y\""), 0);
	assert_int_equal(
		sets(FAMILY_SH, "export V=\"$HOME/x y\"\nunset V"), 0);
	assert_int_equal(
		sets(FAMILY_SH, "export V=\"$HOME/x y\"\nV=other"), 0);
	assert_int_equal(
		sets(FAMILY_SH, "if x; then export V=\"/h/x y\"; fi"), 0);
	assert_int_equal(sets(FAMILY_FISH, "set -gx V '/h/x y'"), 1);
	assert_int_equal(sets(FAMILY_FISH, "set -g V '/h/x y'"), 0);
	assert_int_equal(sets(FAMILY_CSH, "setenv V '/h/x y'"), 1);
}

static void same_dir(void **state)
{
	(void)state;
	assert_true(rc_same_dir("/a//b/", 6, "/a/b"));
	assert_true(rc_same_dir("/", 1, "//"));
	assert_true(rc_same_dir("/a/./b", 6, "/a/b/."));
	assert_false(rc_same_dir("/a/b", 4, "/a/bc"));
	assert_false(rc_same_dir("/a/bc", 5, "/a/b"));
	assert_false(rc_same_dir("/a", 2, "/"));
	assert_false(rc_same_dir("a", 1, "/a"));
	assert_false(rc_same_dir("/a/.b", 5, "/a/b"));
}

static void directories(void **state)
{
	static const struct {
		const char *input, *text;
		size_t home;
	} cases[] = {
		{"/opt//x/./y/", "/opt/x/y", 0},
		{"/", "/", 0},
		{"~", "/home/u", 7},
		{"~/a//", "/home/u/a", 7},
		{"$HOME/a", "/home/u/a", 7},
		{"${HOME}", "/home/u", 7},
		{"/home/u/a", "/home/u/a", 7},
		{"/home/user/a", "/home/user/a", 0},
		{"/opt/$HOME", "/opt/$HOME", 0},
		{"/a/../b", "/a/../b", 0},
		{"/a/.b/.", "/a/.b", 0},
	};
	static const char *const bad[] = {
		"", "a", "./a", "~root", "$HOMEX/a", "/a:b", "/a\n", "/a\r"};
	struct profile_dir *dir = malloc(sizeof *dir);
	struct diag d;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(profile_dir_parse(
					 dir, cases[i].input, "/home/u/", 0, &d),
			0);
		assert_string_equal(dir->text, cases[i].text);
		assert_int_equal(dir->home, cases[i].home);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(
			profile_dir_parse(dir, bad[i], "/home/u", 0, &d),
			-EINVAL);
	assert_int_equal(profile_dir_parse(dir, "~/x", NULL, 0, &d), -EINVAL);
	assert_int_equal(
		profile_dir_parse(dir, "/home/u/x", "//home/./u/", 0, &d), 0);
	assert_int_equal(dir->home, 7);
	/* A home of "/" makes nothing $HOME that was not asked to be. */
	assert_int_equal(profile_dir_parse(dir, "/opt", "/", 0, &d), 0);
	assert_int_equal(dir->home, 0);
	free(dir);
}

static void shell_names(void **state)
{
	bool restricted;

	(void)state;
	assert_int_equal(shellkind_of("/bin/bash", NULL), SHELL_BASH);
	assert_int_equal(shellkind_of("-zsh", NULL), SHELL_ZSH);
	assert_int_equal(shellkind_of("bash-5.2", NULL), SHELL_BASH);
	assert_int_equal(shellkind_of("/opt/zsh5", NULL), SHELL_ZSH);
	assert_int_equal(shellkind_of("busybox", NULL), SHELL_ASH);
	assert_int_equal(shellkind_of("/bin/rbash", &restricted), SHELL_BASH);
	assert_true(restricted);
	assert_int_equal(shellkind_of("/bin/bash", &restricted), SHELL_BASH);
	assert_false(restricted);
	assert_int_equal(
		shellkind_of("/usr/sbin/nologin", NULL), SHELL_NOLOGIN);
	assert_int_equal(shellkind_of("", NULL), SHELL_UNKNOWN);
	assert_int_equal(shellkind_of("fishy", NULL), SHELL_UNKNOWN);
}

static void users(void **state)
{
	static const char text[] =
		"# comment\nroot:x:0:0:r:/root:/bin/sh\nbad:x:1:1:/b:/bin/sh\n"
		"neg:x:-1:1::/b:\nu:x:1000:100:U,,,:/home/u:/bin/zsh\n"
		"extra:x:7:7:a:b:c:d\nu:x:0:0::/fake:/bin/sh";
	struct user u;

	(void)state;
	assert_int_equal(user_parse(text, sizeof text - 1, "u", 0, &u), 0);
	assert_int_equal(u.uid, 1000);
	assert_int_equal(u.gid, 100);
	assert_string_equal(u.home, "/home/u");
	assert_string_equal(u.shell, "/bin/zsh");
	assert_int_equal(user_parse(text, sizeof text - 1, NULL, 0, &u), 0);
	assert_string_equal(u.name, "root");
	assert_int_equal(
		user_parse(text, sizeof text - 1, "bad", 0, &u), -ENOENT);
	assert_int_equal(
		user_parse(text, sizeof text - 1, NULL, 7, &u), -ENOENT);
	assert_int_equal(user_parse("", 0, NULL, 0, &u), -ENOENT);
}

static void diff_is(const char *a, const char *b, const char *want)
{
	autobuf struct buf out = BUF_INIT(65536);

	assert_int_equal(
		diff_unified(&out, "o", "n", a, strlen(a), b, strlen(b)), 0);
	assert_string_equal(buf_str(&out), want);
}

static void diffs(void **state)
{
	(void)state;
	diff_is("a\n", "a\n", "");
	diff_is("", "a\n", "--- o\n+++ n\n@@ -0,0 +1 @@\n+a\n");
	diff_is("a\n", "", "--- o\n+++ n\n@@ -1 +0,0 @@\n-a\n");
	diff_is("a", "a\n",
		"--- o\n+++ n\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n"
		"+a\n");
	diff_is("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
		"--- o\n+++ n\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
	diff_is("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
		"--- o\n+++ n\n@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n"
		"@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n");
	diff_is("a\nb\nc\n", "b\nc\nd\n",
		"--- o\n+++ n\n@@ -1,3 +1,3 @@\n-a\n b\n c\n+d\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_sh),
		cmocka_unit_test(heredocs),
		cmocka_unit_test(guards_of_sh),
		cmocka_unit_test(fish_and_csh),
		cmocka_unit_test(path_has),
		cmocka_unit_test(var_has),
		cmocka_unit_test(same_dir),
		cmocka_unit_test(directories),
		cmocka_unit_test(shell_names),
		cmocka_unit_test(users),
		cmocka_unit_test(diffs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
