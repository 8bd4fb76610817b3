/* test_shell_walk.c - which commands a line can run, with which words
 * SPDX-License-Identifier: MIT
 *
 * What is reported is written down in one line per event and compared as a
 * whole or searched:
 *   word word …     a command; a set is {a|b}, '~' stands for bounded, '#'
 *                   for a number's and '?' for unknown text, a trailing '*'
 *                   for any number of words
 *   name=value      an assignment
 *   <path >path     a file opened
 *   @path           a directory entered
 *   !text           a risk
 */
#include "unit.h"

#include <errno.h>

#include "base/buf.h"
#include "shell/shell_walk.h"
#include "base/str.h"

struct record {
	struct buf out;
	unsigned commands;
};

static void put_str(struct buf *out, struct shell_str s)
{
	for (size_t i = 0; i < s.n; i++)
		buf_addc(out, s.p[i] == SHELL_REL   ? '~'
			      : s.p[i] == SHELL_ANY ? '?'
			      : s.p[i] == SHELL_NUM ? '#'
			      : s.p[i] == '\n'      ? '/'
						    : s.p[i]);
}

static void put_val(struct buf *out, const struct shell_val *v)
{
	if (v->n > 1)
		buf_addc(out, '{');
	for (unsigned i = 0; i < v->n; i++) {
		if (i)
			buf_addc(out, '|');
		put_str(out, v->alts[i]);
	}
	if (v->n > 1)
		buf_addc(out, '}');
	if (v->many)
		buf_addc(out, '*');
}

static int on_command(
	void *ctx, struct shell_walk *w, const struct shell_cmd *cmd)
{
	struct record *r = ctx;
	const struct shell_str *name = shell_val_text(&cmd->argv[0]);
	struct shell_child child = {.dialect = SHELL_UNION};

	r->commands++;
	for (size_t i = 0; i < cmd->argc; i++) {
		if (i)
			buf_addc(&r->out, ' ');
		put_val(&r->out, &cmd->argv[i]);
	}
	if (cmd->input == SHELL_IN_PIPE)
		buf_adds(&r->out, " <-pipe");
	if (cmd->input == SHELL_IN_TEXT) {
		buf_adds(&r->out, " <-text ");
		put_val(&r->out, cmd->input_text);
	}
	if (cmd->cwd->n != 1 || !shell_str_is(cmd->cwd->alts[0], "/r")) {
		buf_adds(&r->out, " in ");
		put_val(&r->out, cmd->cwd);
	}
	buf_addc(&r->out, '\n');
	if (!name || !shell_str_is(*name, "sh") || cmd->argc < 3)
		return 0;
	child.text = &cmd->argv[2];
	child.args = cmd->argv + 3;
	child.nargs = cmd->argc - 3;
	return shell_walk_child(w, &child);
}

static int on_set(void *ctx, struct shell_walk *w, const struct shell_set *s)
{
	struct record *r = ctx;

	(void)w;
	put_str(&r->out, s->name);
	buf_addc(&r->out, s->unset ? '-' : '=');
	put_val(&r->out, &s->value);
	buf_addc(&r->out, '\n');
	return 0;
}

static int on_open(void *ctx, struct shell_walk *w, const struct shell_open *o,
	const struct shell_val *cwd)
{
	struct record *r = ctx;

	(void)w;
	(void)cwd;
	buf_adds(&r->out, o->reads && o->writes ? "<>" : o->reads ? "<" : ">");
	put_val(&r->out, &o->path);
	buf_addc(&r->out, '\n');
	return 0;
}

static int on_chdir(void *ctx, struct shell_walk *w,
	const struct shell_val *target, struct shell_span span)
{
	struct record *r = ctx;

	(void)w;
	(void)span;
	buf_addc(&r->out, '@');
	put_val(&r->out, target);
	buf_addc(&r->out, '\n');
	return 0;
}

static int on_risk(void *ctx, struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span)
{
	struct record *r = ctx;

	(void)w;
	(void)what;
	(void)span;
	buf_addf(&r->out, "!%s\n", shell_risk_text(risk));
	return 0;
}

static int on_source(void *ctx, struct shell_walk *w,
	const struct shell_val *path, const struct shell_val *cwd,
	struct shell_str *text)
{
	(void)ctx;
	(void)w;
	(void)cwd;
	if (!shell_str_is(path->alts[0], "./env.sh"))
		return -ENOENT;
	*text = SHELL_STR("FOO=1; cd sub; return; x=y\n");
	return 0;
}

static int on_getvar(void *ctx, struct shell_str name, struct shell_str *value)
{
	(void)ctx;
	if (!shell_str_is(name, "HOME"))
		return 0;
	*value = SHELL_STR("/home/u");
	return 1;
}

/* The one that cannot be missing. */
static bool on_is_dir(void *ctx, const struct shell_val *dir)
{
	(void)ctx;
	return shell_str_is(dir->alts[0], "/r/is");
}

static const struct shell_walk_ops ops = {on_command, on_set, on_open,
	on_chdir, on_risk, on_source, on_getvar, on_is_dir};

static int walk(struct record *r, const char *line, enum shell_dialect dialect)
{
	struct arena a = ARENA_INIT(SHELL_MAX_WALK);
	struct shell_walk_opts opts = {.cwd = "/r", .dialect = dialect};
	int err;

	buf_clear(&r->out);
	r->commands = 0;
	err = shell_walk(&a, line, strlen(line), &opts, &ops, r, NULL);
	arena_release(&a);
	return err;
}

struct expected {
	const char *line, *events;
};

static void compare(const struct expected *e, size_t n, bool whole)
{
	struct record r = {.out = BUF_INIT(1024 * 1024)};

	for (size_t i = 0; i < n; i++) {
		const char *got;
		int err = walk(&r, e[i].line, whole ? SHELL_BASH : SHELL_UNION);

		got = buf_str(&r.out);
		if (err || (whole ? strcmp(got, e[i].events) != 0
				  : !strstr(got, e[i].events)))
			print_error("%d: %s\n-- is --\n%s-- not --\n%s\n", err,
				e[i].line, got, e[i].events);
		assert_int_equal(err, 0);
		if (whole)
			assert_string_equal(got, e[i].events);
		else
			assert_non_null(strstr(got, e[i].events));
	}
	buf_release(&r.out);
}

static void words_are_known(void **state)
{
	static const struct expected e[] = {
		{"cu''r\\l 'a b'\"c\"", "curl a bc\n"},
		{"x=/etc; cat $x/passwd", "x=/etc\ncat /etc/passwd\n"},
		{"x='a b'; c $x \"$x\"", "x=a b\nc a b a b\n"},
		{"a$1b$*c$@d", "abcd\n"},
		{"$x cat", "cat\n"},
		{"cat ~/x $HOME", "cat /home/u/x /home/u\n"},
		{"cat a{b,c}d", "cat abd acd\n"},
		{"cat *.c .?/x '*'", "cat ~.c* {.~/x|../x}* *\n"},
		{"rm tmp.$$", "rm tmp.#\n"},
		{"a & p=$!; wait $p; b \"$p\" ${#p}",
			"a\np={#|}\nwait {#|}\nb {#|} #\n"},
		{"a && x='b c'; d $x", "a\nx=b c\nd {b|c}* {b c||?}*\n"},
		{"a && set -- b; c \"$@\"; d $1",
			"a\nset -- b\nc b*\nd {b|}\n"},
		{"a \"$(b)\" x`c`", "b\nc\na ? {x?|?}*\n"},
		{"${x:-a b} ${x:+c} ${x=d} $x", "x=d\na b d d\n"},
		{"f=d/a.md; echo ${f%.md} ${f##*/}",
			"f=d/a.md\necho d/a a.md\n"},
		{"set -- a 'b c'; x \"$@\" $# \"$*\"; shift; y $1",
			"set -- a b c\nx a b c 2 a b c\nshift\ny b c\n"},
		{"a=(p q); x \"${a[@]}\" ${a[1]}",
			"a={p|q}\nx p q {p|q|}\n"},
		{"for f in a b; do c $f; done; e $f",
			"f={a|b}\nc {a|b}\ne {a|b|}\n"},
		{"if a; then x=1; else x=2; fi; b $x",
			"a\nx=1\nx=2\nb {1|2}\n"},
		{"x=1; a && x=2; b $x", "x=1\na\nx=2\nb {2|1}\n"},
		{"x=1; (x=2; a $x); b $x", "x=1\nx=2\na 2\nb 1\n"},
		{"i=0; while a; do i=$((i+1)); done; b $i",
			"i=0\na\ni=~\nb {~|0}\n"},
		{"f() { c $1 \"$#\"; }; f x; f y z",
			"f x\nc x 1\nf y z\nc y 2\n"},
		{"f() { x=a; return; x=b; }; f; c $x",
			"f\nx=a\nreturn\nx=b\nc a\n"},
		{"x=a; f() { local x=b; c $x; }; f; c $x",
			"x=a\nf\nlocal x=b\nx=b\nc b\nc {b|a}\n"},
		{"x=a; x=b :; c $x", "x=a\nx=b\n:\nc {b|a}\n"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e), true);
}

static void places_are_known(void **state)
{
	static const struct expected e[] = {
		{"cd s && a; b", "cd s\n@/r/s\na in /r/s\nb in {/r/s|/r}\n"},
		{"cd s || exit; a", "cd s\n@/r/s\nexit\na in /r/s\n"},
		{"cd s || exit 1 2; a",
			"cd s\n@/r/s\nexit 1 2\na in {/r|/r/s}\n"},
		{"(cd s; a); b", "cd s\n@/r/s\na in {/r/s|/r}\nb\n"},
		{"cd a/../.. && b", "cd a/../..\n@/r/a/../..\nb in /\n"},
		{"pushd s && a; popd; b",
			"pushd s\n@/r/s\na in /r/s\npopd in {/r/s|/r}\n"
			"b in {/r|/r/s}\n"},
		{"cd && a", "cd\n@/home/u\na in /home/u\n"},
		{"cd s && cd - && a",
			"cd s\n@/r/s\ncd - in /r/s\n@/r\na\n"},
		{"cd s && cd ~-/t && a", "cd s\n@/r/s\ncd {/r/t|~-/t} in /r/s\n"
			"@{/r/t|/r/s/~-/t}\na in {/r/t|/r/s/~-/t}\n"},
		{"pushd s && popd -n && a",
			"pushd s\n@/r/s\npopd -n in /r/s\na in {/r|?}\n"},
		{"for d in a b; do (cd $d; e); done; f",
			"d={a|b}\ncd {a|b}\n@{/r/a|/r/b}\n"
			"e in {/r/a|/r/b|/r}\nf\n"},
		{"for d in a b; do cd /r/$d; e; done",
			"d={a|b}\ncd {/r/a|/r/b} in {/r|/r/a|/r/b}\n"
			"@{/r/a|/r/b}\ne in {/r/a|/r/b|/r}\n"},
		{"cd is; a; cd ..; b",
			"cd is\n@/r/is\na in /r/is\ncd .. in /r/is\n"
			"@/r/is/..\nb in {/r|/r/is}\n"},
		{"cd is 2>x; a", ">x\ncd is\n@/r/is\na in {/r/is|/r}\n"},
		{"! cd is; a", "cd is\n@/r/is\na in {/r|/r/is}\n"},
		{"a && cd is; b", "a\ncd is\n@/r/is\nb in {/r/is|/r}\n"},
		{"set -e; cd a; b", "set -e\ncd a\n@/r/a\nb in /r/a\n"},
		{"set -e; cd a || b; c",
			"set -e\ncd a\n@/r/a\nb\nc in {/r|/r/a}\n"},
		{"set -e; set +e; cd a; b",
			"set -e\nset +e\ncd a\n@/r/a\nb in {/r/a|/r}\n"},
		{"set -e; f() { cd a; b; }; f || c",
			"set -e\nf\ncd a\n@/r/a\nb in {/r/a|/r}\nc in "
			"{/r/a|/r}\n"},
		{"for d in a b; do cd $d; done; e",
			"d={a|b}\ncd {a|b} in {/r|/r/a|/r/b|?}\n@{"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e) - 1, true);
	compare(e + ARRAY_SIZE(e) - 1, 1, false);
}

static void input_is_known(void **state)
{
	static const struct expected e[] = {
		{"a | b", "a\nb <-pipe\n"},
		{"a | { b; (c); }", "a\nb <-pipe\nc <-pipe\n"},
		{"f() { b; }; a | f", "a\nf <-pipe\nb <-pipe\n"},
		{"a <<E\nx $y\nE\n", "a <-text x /\n"},
		{"a <<'E'; b\n$(c)\nE\n", "a <-text $(c)/\nb\n"},
		{"a <<<'b c'", "a <-text b c\n"},
		{"a >x 2>&1 <y <>z 3>&-", ">x\n<y\n<>z\na\n"},
		{"{ a; } >&x &>y", ">x\n>y\na\n"},
		{"f() { a; } >x; f", "f\n>x\na\n"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e), true);
}

/* Each of these has, somewhere, the event. */
static void nothing_hides(void **state)
{
	static const struct expected e[] = {
		{"a $(b \"`c`\") ${x:-$(d)} $((1+$(e)))", "e\n"},
		{"[[ -n $(b) && a =~ $(c) ]]", "c\n"},
		{"case a in $(b)) ;; esac", "b\n"},
		{"for ((i=$(b);;)); do a; done", "b\n"},
		{"cat <<E\n${x:-`b`}\nE\n", "b\n"},
		{"a=([1]=$(b)); x[$(c)]=1", "c\n"},
		{"f() { b; }", "b\n"},
		{"false && b", "b\n"},
		{"exit; b", "b\n"},
		{"coproc b", "b <-pipe\n"},
		{"time b", "b\n"},
		{"a <(b) >(c)", "c <-pipe\n"},
		{"trap 'b' EXIT", "b\n"},
		{"trap '$x y' EXIT; x=b", "{b|} y\n"},
		{"eval 'eval \"b\"'", "b\n"},
		{"x=b; eval $x", "b\n"},
		{"command eval b", "\nb\n"},
		{"builtin cd ..", "@/r/..\n"},
		{". ./env.sh; b $FOO", "b 1 in {/r/sub|/r}\n"},
		{"sh -c '\"$@\"' _ b c", "\nb c\n"},
		{"sh -c '$0' b", "\nb\n"},
		{"export x=b; sh -c '$x'", "\nb\n"},
		{"f() { \"$@\"; }; f b", "\nb\n"},
		{"f() { g; }; g() { b; }; f", "\nb\n"},
		{"{b,c} d", "\n{b,c} d\n"},
		{"{b,c} d", "b c d\n"},
		{"((b))", "b\n"},
		{"((b))", "b\n"},
		{"a &> b", ">b\n"},
		{"a[1]=b", "a=b\n"},
		{"x=b; for i in 1 2; do $x; x=c; done", "{b|c}\n"},
		{"while a; do $x c; x=b; done", "!the command's name"},
		{"x=b; f() { local x=e; }; f; $x c", "{e|b} c\n"},
		{"trap 'x=b' USR1; $x c", "!the command's name"},
		{"readonly x=b; x=c; $x", "{b|c}\n"},
		{"x=b; x=c :; $x", "{c|b}\n"},
		{"x=b; f() { local x; $x c; }; f", "!the command's name"},
		{"exit 3</nofile; x=b; if :; then $x; fi", "\nb\n"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e), false);
}

static void risks_are_told(void **state)
{
	static const struct expected e[] = {
		{"$(a) b", "!the command's name is computed\n"},
		{"c[u]rl", "!the command's name is computed\n"},
		{"$SHELL -c x", "!the command's name is computed\n"},
		{"$BASH -c x", "!the command's name is computed\n"},
		{"\xd1\x81url", "!the command's name is not ASCII\n"},
		{"eval \"$(a)\"", "!shell code is computed\n"},
		{"trap \"$(a)\" 0", "!shell code is computed\n"},
		{"eval 'a ('", "!nested shell code cannot be read\n"},
		{". ./other", "!the sourced file"},
		{"alias a=b", "!an alias"},
		{"IFS=,; a $x", ""},
		{"IFS=,; x=a,b; c $x", "!words are split"},
		{"read 'a[$(b)]'", "!a subscript"},
		{"unset 'a[`b`]'", "!a subscript"},
		{"test -v 'a[$(b)]'", "!a subscript"},
		{"printf -v 'a[$(b)]' c", "!a subscript"},
		{"x='a[$(b)]'; : $((x))", "!a subscript"},
		{"x='a[$(b)]'; y=x; let y", "!a subscript"},
		{"x='a[$(b)]'; [[ x -eq 1 ]]", "!a subscript"},
		{"declare -i n; n='a[$(b)]'", "!a subscript"},
		{"echo ${a['$(b)']}", "!a subscript"},
		{"declare -n r=x", "!a variable is named"},
		{"x=y; : ${!x:=b}", "!a variable is named"},
		{"echo ${x@P}", "!text is expanded as a prompt"},
		{"set -k", "!a shell option"},
		{"set -o keyword", "!a shell"},
		{"shopt -s extglob", "!a shell option"},
		{"cd() { :; }", "!a function takes"},
		{"enable -n cd", "!a shell option"},
		{"jobs -x a", "!shell code"},
		{"hash -p ./x git", "!a name is tied"},
		{"BASH_CMDS[git]=./x", "!a name is tied"},
		{"f() { f; }; f", "!functions call too deep"},
		{"read \"$1$(a)\"", "!a variable's name is computed"},
		{"mapfile -C b x", "\nb {?|}\n"},
		{"mapfile -Cb x", "\nb {?|}\n"},
		{"getopts a PATH", "PATH=?\n"},
		{": $((PATH=1))", "PATH=~\n"},
		{"read PATH", "PATH=?\n"},
		{"unset PATH", "PATH-\n"},
		{": ${PATH:=x}", "PATH="},
		{"for PATH in x; do :; done", "PATH=x"},
		{"printf -v PATH x", "PATH=?\n"},
		{"{PATH}>x", "PATH=#\n"},
	};

	(void)state;
	compare(e, ARRAY_SIZE(e), false);
}

static void limits_hold(void **state)
{
	static const char *const deep[] = {
		"f0() { :; }; f1() { f0;f0;f0;f0;f0;f0;f0;f0; }; "
		"f2() { f1;f1;f1;f1;f1;f1;f1;f1; }; "
		"f3() { f2;f2;f2;f2;f2;f2;f2;f2; }; "
		"f4() { f3;f3;f3;f3;f3;f3;f3;f3; }; "
		"f5() { f4;f4;f4;f4;f4;f4;f4;f4; }; f5",
		"x='eval \"$x\"'; eval \"$x\"",
	};
	struct record r = {.out = BUF_INIT(4 * 1024 * 1024)};

	(void)state;
	assert_int_equal(walk(&r, deep[0], SHELL_BASH), -E2BIG);
	assert_int_equal(walk(&r, deep[1], SHELL_BASH), 0);
	assert_non_null(strstr(buf_str(&r.out), "!shell code nested too deep"));
	/* More values than are held become unknown, never fewer. */
	assert_int_equal(walk(&r,
				 "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 "
				 "15 16 17; do a $i; done",
				 SHELL_BASH),
		0);
	assert_non_null(strstr(buf_str(&r.out), "a {?"));
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

/* dash stops at what it cannot read, but has run the line before it. */
static void readings_count_up_to_their_error(void **state)
{
	struct record r = {.out = BUF_INIT(65536)};

	(void)state;
	assert_int_equal(walk(&r, "$'\\143url'\ncat <(a)", SHELL_UNION), 0);
	assert_non_null(strstr(buf_str(&r.out), "curl\n"));
	assert_non_null(strstr(buf_str(&r.out), "$\\143url\n"));
	assert_int_equal(walk(&r, "cat <(a)", SHELL_POSIX), -EINVAL);
	assert_int_equal(walk(&r, "f() a", SHELL_UNION), -EINVAL);
	buf_release(&r.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_known),
		cmocka_unit_test(places_are_known),
		cmocka_unit_test(input_is_known),
		cmocka_unit_test(nothing_hides),
		cmocka_unit_test(risks_are_told),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(memory_may_end),
		cmocka_unit_test(a_callback_ends_the_walk),
		cmocka_unit_test(readings_count_up_to_their_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
