/* test_shell_plain.c - which commands of a text are plain, with which words
 * SPDX-License-Identifier: MIT
 *
 * What is reported is compared as the lines of shell_unit.h.
 */
#include "shell_unit.h"

struct expected {
	const char *line, *events;
};

static void compare(const struct expected *e, size_t n, bool whole)
{
	struct record r = {.out = BUF_INIT(1024 * 1024)};
	unsigned wrong = 0;

	for (size_t i = 0; i < n; i++) {
		int err = walk(&r, e[i].line, whole ? SHELL_BASH : SHELL_UNION);
		const char *got = buf_str(&r.out);

		if (!err && (whole ? strcmp(got, e[i].events) == 0
				   : strstr(got, e[i].events) != NULL))
			continue;
		print_error("%d: %s\n-- is --\n%s-- not --\n%s\n", err,
			e[i].line, got, e[i].events);
		wrong++;
	}
	buf_release(&r.out);
	assert_int_equal(wrong, 0);
}

static void words(void **state)
{
	static const struct expected e[] = {
		{"cu''r\\l 'a b'\"c\" $'\\x64'", "curl a bc d\n"},
		{"x=/etc; cat $x/passwd", "x=/etc\ncat /etc/passwd\n"},
		{"x='a b'; c $x \"$x\"", "x=a b\nc a b a b\n"},
		{"x='a b'; c d$x", "x=a b\nc d?*\n"},
		{"x='a *'; c $x", "x=a *\nc ?*\n"},
		{"x='*.c'; c $x \"$x\"", "x=*.c\nc ~.c* *.c\n"},
		{"a$1b$*c$@d", "ab?c?d*\n"},
		{"$x cat", "cat\n"},
		{"$x", ""},
		{"\"$x\" ''", " \n"},
		{"$made cat", "?* cat\n"},
		{"c \"$odd\"", "c ?\n"},
		{"cat ~/x $HOME ~u/y ~+/z", "cat /home/u/x /home/u ?/y /r/z\n"},
		{"cat a{b,c}d {1..3} {1..999}",
			"cat abd acd 1 2 3 1 ?* 999\n"},
		{"cat *.c .?/x '*' [ab]c [x", "cat ~.c* .?/x* * ~c* [x\n"},
		{"cat /e[\"t\"]c /[!]x []", "cat /e~c* /[!]x []\n"},
		{"cat /a['/']b", "cat /a[/]b\n"},
		{"rm tmp.$$ ${#x} $? $#", "rm tmp.# # # #\n"},
		{"a & p=$!; wait $p", "a\np=#\nwait #\n"},
		{"a \"$(b)\" x`c`", "b\nc\na ? x?*\n"},
		{"a $((1+2)) <(b) >(c)", "b\nc <-pipe\na # /dev/fd/# /dev/fd/#\n"},
		{"c $'\\6' $'\\1x'", "c ? ?x\n"},
		{"IFS=,; x=a,b; c $x \"$x\"", "IFS=,\nx=a,b\nc ?* a,b\n"},
		{"y=a$(b); c \"$y\" $y", "b\ny=a?\nc a? a?*\n"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e), true);
}

static void parameters(void **state)
{
	static const struct expected e[] = {
		{"${x:-a b} ${x-c} ${x:+d} ${x+e} f", "?* c f\n"},
		{"x=1; a ${x:-b} ${x:+c d} \"${x:+e f}\"",
			"x=1\na 1 ?* e f\n"},
		{"x=; a ${x-b} ${x:-c} ${x+d}", "x=\na c d\n"},
		{"a ${made:-$(b)} ${made+c}", "b\na ?* ?*\n"},
		{"a ${x=d} $x", "x=d\na d d\n"},
		{"a ${x:=$(b)} \"$x\"", "b\nx=?\na ?* ?\n"},
		{"a ${made:=d} \"$made\"", "made=d\na ?* ?\n"},
		{"a ${x?$(b)}", "b\na ?*\n"},
		{"f=d/a.md; echo ${f%.md} ${f/a/b} ${f:1} ${f^}",
			"f=d/a.md\necho ?* ?* ?* ?*\n"},
		{"a ${!x} ${!x@} \"${y[1]}\" \"${y[@]}\" \"$@\"",
			"a ?* ?* ? ?*\n"},
		{"set -- a 'b c'; x \"$@\" \"$2\" $3 $#; shift; y $1 \"$1\"",
			"set -- a b c\nx a b c b c #\nshift\n"
			"y ?* b c\n"},
		{"set -euo pipefail; x $1 ${1-y}",
			"set -euo pipefail\nx y\n"},
		{"set -- $(b) c; x $1 \"$@\"; shift; y \"$@\"",
			"b\nset -- ?* c\nx ?* ?* c\nshift\ny ?*\n"},
		{"set \"$made\" c; x \"$2\"", "set ? c\nx ?\n"},
		{"shift 5; x \"$1\"", "shift 5\nx ?\n"},
		{"unset x; a \"${x-b}\"", "unset x\nx-\na b\n"},
		{"a ${x@P}", "!text is expanded as a prompt\na ?*\n"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e), true);
}

static void lists(void **state)
{
	static const struct expected e[] = {
		{"a; b & c && d || e | f; ! g\ntime h",
			"a\nb\nc\nd\ne\nf <-pipe\ng\nh\n"},
		{"a && x=1 && b $x; c \"$x\"", "a\nx=1\nb 1\nc 1\n"},
		{"x=1 && a $x || x=2; b \"$x\"", "x=1\na 1\nx=2\nb ?\n"},
		{"x=1; (x=2; a $x); b $x", "x=1\nx=2\na 2\nb 1\n"},
		{"x=1; { x=2; }; b $x", "x=1\nx=2\nb 2\n"},
		{"x=1 | b; x=2 & c ${x-d}", "x=1\nb <-pipe\nx=2\nc d\n"},
		{"if a; then x=1; else b ${x-y}; fi; c \"$x\"",
			"a\nx=1\nb y\nc ?\n"},
		{"if a; then b; elif c; then d; else e; fi",
			"a\nb\nc\nd\ne\n"},
		{"for f in a b; do c $f; done; e \"$f\"",
			"f=a\nc a\nf=b\nc b\ne ?\n"},
		{"for f in *.c; do c \"$f\" $f; done", "f=~.c\nc ~.c ~.c*\n"},
		{"for f in $(a); do c \"$f\"; done", "a\nf=?\nc ?\n"},
		{"for f; do c \"$f\"; done", "f=?\nc ?\n"},
		{"select f in a b; do c \"$f\"; done", "f=?\nc ?\n"},
		{"while a; do x=1; done; b \"$x\"", "a\nx=1\nb ?\n"},
		{"for ((i=0; i<3; i++)); do a $i; done; b $i",
			"i=#\ni=#\na #\nb ?*\n"},
		{"case $(a) in $(b)) c;; *) x=1;& z) d;; esac; e \"$x\"",
			"a\nb\nc\nx=1\nd\ne ?\n"},
		{"[[ -n $(a) && ! b =~ $(c) ]]; ((x = $(d)))",
			"a\nc\nd\nx=#\n"},
		{"coproc { a; }", "a <-pipe\n"},
		{"f() { a $1 \"$y\"; x=1; }; x=0; f b; c \"$x\"",
			"a ?* \nx=1\nx=0\nf() f b\nc 0\n"},
		{"f; f() { g; f; }; g() { a; }; (g)",
			"f\nf() g\nf() f\na\nf() g\n"},
		{"f() { g; }; case a in a) g() { :; };; esac",
			"f() g\n:\n"},
		{"a=([1]=$(b) c); x[$(d)]=1; e ${y[$(g)]}",
			"b\na=?\nd\nx=?\ng\ne ?*\n"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e), true);
}

static void redirections(void **state)
{
	static const struct expected e[] = {
		{"a <x", "<x\na <-file x\n"},
		{"a >x 2>&1 <y <>z 3>&- >>v >|w &>u &>>t",
			">x\n<y\n<>z\n>v\n>w\n>u\n>t\na <-file z\n"},
		{"a >&x; b <&3; c <&0; d 3<f {v}>g; e $v",
			">x\na\nb <-unknown\nc\n<f\n>g\nv=#\nd\ne #\n"},
		{"a >&$made", ">?\na\n"},
		{"{ a; } >&x", ">x\na\n"},
		{"(a; b) <x; c", "<x\na <-file x\nb <-file x\nc\n"},
		{"f() { a; } >x", ">x\na\n"},
		{"exec <x; a", "<x\nexec <-file x\na <-file x\n"},
		{"a <<E\nx $y $(b)\nE\n", "b\na <-text x  ?/\n"},
		{"a <<'E'; b\n$(c)\nE\n", "a <-text $(c)/\nb\n"},
		{"a <<<'b c'", "a <-text b c\n"},
		{"a <<{b,c}\nd\n{b,c}\n", "a <-text d/\n"},
		{"a </e*c/x", "</e~c/x\na <-file /e~c/x\n"},
		{"a <'*'", "<*\na <-file *\n"},
		{"a </dev/stdin </proc/self/fd/3",
			"</dev/stdin\n</proc/self/fd/3\na <-unknown\n"},
		{"a | { b; (c); d <<<e; }",
			"a\nb <-pipe\nc <-pipe\nd <-text e\n"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e), true);
}

static void assignments(void **state)
{
	static const struct expected e[] = {
		{"x=a; x=b :; c $x", "x=a\nx=b\n:\nc a\n"},
		{"x=a; x+=b; c \"$x\"", "x=a\nx=?\nc ?\n"},
		{"x=b eval 'a $x'; c \"$x\"", "x=b\neval a $x\na b\nc ?\n"},
		{"export x=a y; sh -c 'b $x'", "export x=a y\nx=a\nsh -c b $x\n"
					       "b a\n"},
		{"x=a; sh -c 'b $x'; export x; sh -c 'c $x'",
			"x=a\nsh -c b $x\nb\nexport x\nsh -c c $x\nc a\n"},
		{"x=a sh -c 'b $x'", "x=a\nsh -c b $x\nb a\n"},
		{"export x=a; env -i sh -c 'b $x $HOME'",
			"export x=a\nx=a\nenv -i sh -c b $x $HOME\nb\n"},
		{"declare -l x=A; b \"$x\"", "declare -l x=A\nx=A\nb ?\n"},
		{"readonly x='a b'; c \"$x\"", "readonly x=a b\nx=a b\nc a b\n"},
		{"read -r x y; a \"$x\" \"$y\"", "read -r x y\nx=?\ny=?\na ? ?\n"},
		{"read -ra x; read -p y z", "read -ra x\nx=?\nread -p y z\nz=?\n"},
		{"while IFS= read -r l; do a \"$l\" $x; done",
			"IFS=\nread -r l\nl=?\na ?\n"},
		{"read; a \"$REPLY\"; mapfile -t m; b \"${m[@]}\"",
			"read\na ?\nmapfile -t m\nm=?\nb ?*\n"},
		{"getopts a x; printf -v y z; printf -vw z",
			"getopts a x\nx=?\nprintf -v y z\ny=?\n"
			"printf -vw z\nw=?\n"},
		{"let x=1 'y += 2' z==3 u++; a \"$x$z\"",
			"let x=1 y += 2 z==3 u++\nx=#\ny=#\nu=#\na #\n"},
		{"a $((x = 1, y <= 2, z <<= 3, --u))", "x=#\nz=#\nu=#\na #\n"},
		{"command export x=a; builtin unset x",
			"command export x=a\nx=a\nbuiltin unset x\nx-\n"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e), true);
}

static void places(void **state)
{
	static const struct expected e[] = {
		{"cd s && a; b", "cd s\n@/r/s\na in /r/s\nb in /r/s\n"},
		{"cd s || exit; a $PWD", "cd s\n@/r/s\nexit in /r/s\n"
					 "a /r/s in /r/s\n"},
		{"a || cd s; b \"$PWD\"", "a\ncd s\n@/r/s\nb ? in ?\n"},
		{"(cd s; a); b", "cd s\n@/r/s\na in /r/s\nb\n"},
		{"cd a/../.. && b", "cd a/../..\n@/r/a/../..\nb in /\n"},
		{"pushd s && a; popd; b",
			"pushd s\n@/r/s\na in /r/s\npopd in /r/s\nb in ?\n"},
		{"pushd +1; a", "pushd +1\n@?\na in ?\n"},
		{"cd && a", "cd\n@/home/u\na in /home/u\n"},
		{"cd -P -- s && cd - && a",
			"cd -P -- s\n@/r/s\ncd - in /r/s\n@/r\na\n"},
		{"cd -; a", "cd -\n@?\na in ?\n"},
		{"cd +x; a", "cd +x\n@/r/+x\na in /r/+x\n"},
		{"cd s$(b); a", "b\ncd s?*\n@/r/s?\na in ?\n"},
		{"cd $made; cd s", "cd ?*\n@?*\ncd s in ?\n@?/s\n"},
		{"for d in a b; do (cd $d; e); done; f",
			"d=a\ncd a\n@/r/a\ne in /r/a\nd=b\ncd b\n@/r/b\n"
			"e in /r/b\nf\n"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e), true);
}

static void code_in_code(void **state)
{
	static const struct expected e[] = {
		{"eval 'eval \"b\"' c", "eval eval \"b\" c\neval b c\nb c\n"},
		{"x=b; eval $x '$x'", "x=b\neval b $x\nb b\n"},
		{"eval 'x=1'; a $x", "eval x=1\nx=1\na 1\n"},
		{"eval \"$made\"", "eval ?\n!shell code is computed\n"},
		{"eval 'a ('", "eval a (\n!nested shell code cannot be read\n"},
		{"eval 'a\nb ('", "eval a/b (\na\n"
			"!nested shell code cannot be read\n"},
		{"trap 'b; f' EXIT; trap - EXIT; trap; f() { :; }",
			"trap b; f EXIT\nb\nf() f\ntrap - EXIT\ntrap\n:\n"},
		{"trap \"$(a)\" 0", "a\ntrap ? 0\n!shell code is computed\n"},
		{"sh -c '\"$@\" $0' n b c", "sh -c \"$@\" $0 n b c\nb c n\n"},
		{"sh -c 'a $1 ${2-b}'", "sh -c a $1 ${2-b}\na b\n"},
		{"sh -c 'a \"$2\"' n $(b) c",
			"b\nsh -c a \"$2\" n ?* c\na ?\n"},
		{"sh -c $(a)", "a\nsh -c ?*\n!shell code is computed\n"},
		{"cd s; sh -c 'cd t; a'; b", "cd s\n@/r/s\nsh -c cd t; a in /r/s\n"
			"cd t in /r/s\n@/r/s/t\na in /r/s/t\nb in /r/s\n"},
		{"f() { :; }; sh -c 'f; g() { f; }'",
			":\nsh -c f; g() { f; }\nf\nf\n"},
		{". ./x", ". ./x\n<./x\n!a file's commands are run\n"},
		{"command eval a", "command eval a\na\n"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e), true);
}

/* Each of these has, somewhere, the event. */
static void risks(void **state)
{
	static const struct expected e[] = {
		{"alias a=b", "!an alias"},
		{"read 'a[$(b)]'", "!shell code is computed"},
		{"unset 'a[`b`]'", "!shell code is computed"},
		{"test -v 'a[$(b)]'", "!shell code is computed"},
		{"printf -v 'a[$(b)]' c", "!shell code is computed"},
		{"x='a[$(b)]'; : $((x))", "!shell code is computed"},
		{"[[ 'a[$(b)]' -eq 1 ]]", "!shell code is computed"},
		{"echo ${a['$(b)']}", "echo"},
		{"declare -n r=x", "!a variable is named"},
		{"echo ${x@P}", "!text is expanded as a prompt"},
		{"hash -p ./x git", "!a name is tied"},
		{"read \"$1$(a)\"", "!a variable's name is computed"},
		{"export $(a)", "!a variable's name is computed"},
		{"mapfile -C b x", "!shell code is computed"},
		{"a &>b", "!shells read it in different ways"},
		{"sh -c 'a &>b'", "!shells read it in different ways"},
		{"unset PATH", "PATH-\n"},
		{": $((PATH=1))", "PATH=#\n"},
	};
	static const char *const none[] = {"re='^[0-9]+$'; [[ $x =~ $re ]]",
		"eval '[ $(a) ]'", "printf '[%s]' \"$x\""};
	struct record r = {.out = BUF_INIT(65536)};

	(void)state;
	compare(e, ARRAY_SIZE(e), false);
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		assert_int_equal(walk(&r, none[i], SHELL_BASH), 0);
		if (strchr(buf_str(&r.out), '!'))
			fail_msg("%s: %s", none[i], buf_str(&r.out));
	}
	buf_release(&r.out);
}

static char *repeated(const char *before, const char *part, unsigned n,
	const char *behind)
{
	size_t len = strlen(before) + n * strlen(part) + strlen(behind) + 1;
	char *to = malloc(len);

	assert_non_null(to);
	strcpy(to, before);
	for (unsigned i = 0; i < n; i++)
		memcpy(to + strlen(before) + i * strlen(part), part,
			strlen(part));
	strcpy(to + strlen(before) + n * strlen(part), behind);
	return to;
}

static void limits(void **state)
{
	struct record r = {.out = BUF_INIT(4 * 1024 * 1024)};
	char *text;

	(void)state;
	text = repeated("x='eval \"$x\"'; ", "", 0, "eval \"$x\"");
	assert_int_equal(walk(&r, text, SHELL_BASH), 0);
	assert_non_null(strstr(buf_str(&r.out), "!shell code nested too deep"));
	free(text);
	/* As deep as both can go, on this stack. */
	text = repeated("x='", "(if a; then ", 20, "eval \"$x\"");
	text = realloc(text, 4096);
	for (unsigned i = 0; i < 20; i++)
		strcat(text, "; fi)");
	strcat(text, "'; eval \"$x\"");
	assert_int_equal(walk(&r, text, SHELL_BASH), 0);
	assert_non_null(strstr(buf_str(&r.out), "!shell code nested too deep"));
	free(text);
	/* More words than are tried singly; rounds in rounds. */
	assert_int_equal(walk(&r, "for i in {1..16}; do a $i; done", SHELL_BASH),
		0);
	assert_int_equal(r.commands, 16);
	assert_int_equal(walk(&r, "for i in {1..17}; do a \"$i\"; done",
				 SHELL_BASH),
		0);
	assert_int_equal(r.commands, 1);
	assert_non_null(strstr(buf_str(&r.out), "a ?\n"));
	text = repeated("", "for i in {1..16}; do ", 9, "a");
	text = realloc(text, 4096);
	for (unsigned i = 0; i < 9; i++)
		strcat(text, "; done");
	assert_int_equal(walk(&r, text, SHELL_BASH), 0);
	assert_int_equal(r.commands, 16);
	free(text);
	text = repeated("a ", "b ", 20000, "");
	assert_int_equal(walk(&r, text, SHELL_BASH), -E2BIG);
	free(text);
	text = repeated("a ", "bbbbbbbb", 8192, "");
	assert_int_equal(walk(&r, text, SHELL_BASH), -E2BIG);
	free(text);
	text = repeated("a ", "${x:=", 40, "c");
	text = realloc(text, 4096);
	for (unsigned i = 0; i < 40; i++)
		strcat(text, "}");
	assert_int_equal(walk(&r, text, SHELL_BASH), 0);
	assert_int_equal(strlen(buf_str(&r.out)), 40 * 4 + 4);
	free(text);
	buf_release(&r.out);
}

static int go_on(void *ctx, struct shell_walk *w, const struct shell_cmd *cmd)
{
	(void)ctx;
	(void)w;
	(void)cmd;
	return 0;
}

/* Wherever the memory ends, the walk ends with it. */
static void memory_may_end(void **state)
{
	static const struct shell_walk_ops none = {.command = go_on};
	struct shell_walk_opts opts = {.dialect = SHELL_BASH};
	struct buf text = BUF_INIT(64 * 1024);
	unsigned whole = 0;

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		buf_addf(&text, "if a; then v%u=$x; else v%u=c; fi\n", i,
			i / 2);
	buf_adds(&text, "f() { b $1; }\nwhile a; do v1=$v2; f $v3; done\n");
	for (size_t max = 8192; max < 300 * 1024; max += 331) {
		struct arena a = ARENA_INIT(max);
		int rc = shell_walk(&a, buf_str(&text), text.len, &opts, &none,
			NULL, NULL);

		assert_true(rc == 0 || rc == -E2BIG || rc == -ENOMEM);
		whole += rc == 0;
		arena_release(&a);
	}
	assert_true(whole > 5);
	buf_release(&text);
}

static int refuse(void *ctx, struct shell_walk *w, const struct shell_cmd *cmd)
{
	(void)ctx;
	(void)w;
	(void)cmd;
	return -EACCES;
}

static void a_callback_ends_the_walk(void **state)
{
	static const struct shell_walk_ops no = {.command = refuse};
	struct shell_walk_opts opts = {.dialect = SHELL_UNION};
	struct arena a = ARENA_INIT(SHELL_MAX_WALK);

	(void)state;
	assert_int_equal(
		shell_walk(&a, "a; b", 4, &opts, &no, NULL, NULL), -EACCES);
	arena_release(&a);
}

/* What stands before an error is reported. */
static void up_to_the_error(void **state)
{
	struct record r = {.out = BUF_INIT(65536)};

	(void)state;
	assert_int_equal(walk(&r, "a; b\nc (", SHELL_UNION), -EINVAL);
	assert_string_equal(buf_str(&r.out), "a\nb\n");
	assert_int_equal(walk(&r, "cat <(a)", SHELL_POSIX), -EINVAL);
	assert_int_equal(walk(&r, "cat <(a)", SHELL_UNION), 0);
	assert_int_equal(walk(&r, "f() a", SHELL_UNION), 0);
	/* The bytes that mean "not known" are in no text. */
	assert_int_equal(walk(&r, "a; b '\2'", SHELL_UNION), -EILSEQ);
	buf_release(&r.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(parameters),
		cmocka_unit_test(lists),
		cmocka_unit_test(redirections),
		cmocka_unit_test(assignments),
		cmocka_unit_test(places),
		cmocka_unit_test(code_in_code),
		cmocka_unit_test(risks),
		cmocka_unit_test(limits),
		cmocka_unit_test(memory_may_end),
		cmocka_unit_test(a_callback_ends_the_walk),
		cmocka_unit_test(up_to_the_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
