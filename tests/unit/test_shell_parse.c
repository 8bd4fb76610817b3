/* test_shell_parse.c - what each shell reads, and the canonical form
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "parts/shell_print.h"
#include "base/str.h"

static int parse_n(const char *text, size_t n, enum shell_dialect dialect,
	struct shell_ast *ast)
{
	struct arena a = ARENA_INIT(SHELL_MAX_ARENA);
	int err = shell_parse(&a, text, n, dialect, ast, NULL);

	assert_true(a.used <= SHELL_MAX_ARENA);
	arena_release(&a);
	return err;
}

static int parse(const char *text, enum shell_dialect dialect)
{
	struct shell_ast ast;

	return parse_n(text, strlen(text), dialect, &ast);
}

/* One letter for dash, ash and bash: o it is read, e it is a syntax error to
 * that shell as well, n it is refused. */
static const struct {
	const char *verdict, *text;
} readings[] = {
	{"ooo", "git status && npm test | tail -5; echo done &"},
	{"ooo", "if a; then b; elif c; then d; else e; fi >x 2>&1"},
	{"ooo", "for i in a b\ndo :; done; for i do :; done; for i; do :; "
		"done"},
	{"ooo", "while a; do b; done; until a; do b; done"},
	{"ooo", "case x in (a|b) c;; *) d; esac; case x in esac"},
	{"ooo", "case in in in) ;; esac; for in in in; do :; done"},
	{"ooo", "{ a; }; (b); f() { c; } >x; f( ) (d)"},
	{"ooo", "! a; a=1 b=2; >x; a >x <y 2>>z >|w <>v 3<&- 4>&1"},
	{"ooo", "cat <<A <<-'B'\n$x\nA\n\tb\n\tB\necho"},
	{"ooo", "echo \"a $x ${y:-`z \\`w\\``} $((1 + (2)))\" 'b' c\\ d"},
	{"ooo", "echo } do fi # comment \\\necho"},
	{"ooo", "if\\\n :; th\\\nen a; f\\\ni"},
	{"eee", "if a; then b"},
	{"eee", "(a"},
	{"eee", "{ a"},
	{"eee", "a)"},
	{"eee", "a &&"},
	{"eee", "a | | b"},
	{"eee", "; a"},
	{"eee", "a ;; b"},
	{"eee", "()"},
	{"eee", "{ }"},
	{"eee", "fi"},
	{"eee", "for 1x in a; do :; done"},
	{"eee", "case x in a) b"},
	{"eee", "echo 'a"},
	{"eee", "echo \"a"},
	{"eee", "echo `a"},
	{"eee", "echo $(a"},
	{"eee", "echo ${a"},
	{"eee", "echo $((1+2"},
	{"eee", "echo >"},
	{"eee", "echo > >x"},
	{"eee", "{ a; }x"},
	{"eee", "if() { a; }"},
	{"eee", "in a"},
	{"een", "x=$(time for i in a; do b; done)"},
	{"ooo", "x=$(:; time a)"},
	{"ooo", "x=1 in a; echo in"},
	{"eee", "a=1 f() { b; }"},
	{"eeo", "a &>>b |& c"},
	{"ooo", "a &>b"},
	{"eeo", "cat <<<a"},
	{"eeo", "a=(1 2\n3); b+=(4)"},
	{"ooo", "a+=1; a[1]=2"},
	{"eoo", "cat <(a)"},
	{"eoo", "function f() { a; }"},
	{"eeo", "for ((i=0; i<3; i++)); do :; done"},
	{"eeo", "for ((i=0; i<3; i++)) { :; } >x; for ((;;)); { a; }"},
	{"eeo", "for i in a b; { :; }; for i\n{ a; }; select i in a; { b; }"},
	{"eee", "while a; { b; }"},
	{"eee", "for ((;;)) { a; done"},
	{"ooo", "read -d $'\\0' x; echo $'a\\x00'"},
	{"onn", "echo $'a\\0b'"},
	{"ooo", "echo \"${x// /\\ }${x//\\\"/\\\\\\\"}${x/#\\~/$HOME}\""},
	{"onn", "echo \"${x//\\$/y}\""},
	{"nnn", "echo \"${x//\\'/y}\""},
	{"ooo", "((1+2))"},
	{"ooo", "[[ a < b && -f c ]]"},
	{"eeo", "[[ (a) || b =~ x(y|z)$ ]]"},
	{"eeo", "[[ a == @(b|c d) ]]"},
	{"ooe", "[[ a"},
	{"eeo", "case x in a) b;& c) d;;& esac"},
	{"eeo", "! ! a"},
	{"ooe", "f() a"},
	{"eeo", "f-g() { a; }"},
	{"eeo", "eval() { a; }"},
	{"eeo", "select x in a; do b; done"},
	{"eeo", "echo $((a); (b))"},
	{"oon", "echo ${!x y}"},
	{"ooo", "echo ${x//a/b} ${x:1:2}"},
	/* What the shells read differently, or warn of, is refused. */
	{"nnn", "cat <<E\na"},
	{"nnn", "cat <<E\nE\\\n"},
	{"nnn", "cat <<AB\nA\\\nB\nAB\n"},
	{"nnn", "echo \"${x:-it's}\""},
	{"nnn", "echo ${}"},
	{"oon", "a {b[x]}>c"},
	{"ooo", "a {b[x]} >c"},
	{"nnn", "echo $((a\\\"))"},
	{"nnn", "echo a\\"},
	{"oon", "a[ #] ; b"},
	{"oon", "a[[] #]$(b)"},
	{"oon", "if a[[] #]$(b)\nthen c; fi"},
	{"eeo", "a=([b[]]=c [d]=e)"},
	{"een", "a=([[] #]=$(b)\n)"},
	{"oon", "declare a[[] #]=$(b)"},
	{"oon", "`a[[]`]="},
	{"ooo", "a[b[c]]; a[b]c[d"},
	{"eeo", "a[?(b)]=c >d"},
	{"eee", "declare .a=(b)"},
	{"onn", "$'\\x{41}'"},
	{"onn", "$'a\\0b'"},
	{"nnn", "cat <<A $(b\n)\nA\n"},
};

static void every_dialect(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(readings); i++) {
		for (unsigned d = 0; d < 3; d++) {
			int want = readings[i].verdict[d] == 'o'   ? 0
				   : readings[i].verdict[d] == 'e' ? -EINVAL
								   : -ENOTSUP;
			int got = parse(readings[i].text, d);

			if (got != want)
				print_error("%u: %s\n", d, readings[i].text);
			assert_int_equal(got, want);
		}
	}
}

static void bytes_are_refused(void **state)
{
	static const char *const bad[] = {"a\rb", "a\033b", "a\177b",
		"git \xe2\x80\xae#", "a\xe2\x80\x8b", "\xff", "\xc0\xaf",
		"\xc3"};
	struct shell_ast ast;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse(bad[i], SHELL_BASH), -EILSEQ);
	assert_int_equal(parse_n("a\0; b", 5, SHELL_BASH, &ast), -EILSEQ);
	assert_int_equal(parse("echo \xc3\xa9", SHELL_BASH), 0);
	/* An emoji that is made one by the selector behind it. */
	assert_int_equal(parse("echo \xe2\x9a\xa0\xef\xb8\x8f", SHELL_BASH), 0);
}

/* n times text, with a tail. */
static int repeated(const char *text, size_t n, const char *tail)
{
	size_t len = strlen(text), all = n * len + strlen(tail);
	char *big = malloc(all + 1);
	struct shell_ast ast;
	int err;

	assert_non_null(big);
	for (size_t i = 0; i < n; i++)
		memcpy(big + i * len, text, len);
	memcpy(big + n * len, tail, strlen(tail) + 1);
	err = parse_n(big, all, SHELL_BASH, &ast);
	free(big);
	return err;
}

static void limits_hold(void **state)
{
	static const char *const deep[] = {"(", "$(", "\"$(", "${x:-", "{ ",
		"if ", "while ", "case x in a) ", "f() ", "$((", "[[ ! ",
		"function f ", "coproc ", "a[$(", "a=(", "<(", "$["};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(deep); i++)
		if (repeated(deep[i], 10000, "x") == 0)
			fail_msg("%s", deep[i]);
	assert_int_equal(repeated("(a;", 20, "b))))))))))))))))))))"), 0);
	assert_int_equal(repeated("a;", 2500, ""), 0);
	assert_int_equal(repeated("a;", 4097, ""), -E2BIG);
	assert_int_equal(repeated("true;", 200000, ""), -E2BIG);
	assert_int_equal(repeated(" ", 65537, ""), -E2BIG);
	assert_int_equal(repeated("(", 100000, ""), -E2BIG);
	assert_int_equal(parse("echo {1..64}", SHELL_BASH), 0);
	assert_int_equal(parse("echo {1..10000}", SHELL_BASH), 0);
	assert_int_equal(parse("echo {1..10001}", SHELL_BASH), -E2BIG);
	assert_int_equal(parse("echo {-1..64}", SHELL_BASH), -E2BIG);
	assert_int_equal(
		parse("echo {1..99}{1..99}{1..99}{1..99}", SHELL_BASH), -E2BIG);
	assert_int_equal(
		parse("echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", SHELL_BASH),
		-E2BIG);
	/* of one line; one after another they are many commands */
	assert_int_equal(repeated("<<A ", 16, "\n"
		"A\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\n"), 0);
	assert_int_equal(repeated("<<A ", 17, "\n"
		"A\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\nA\n"),
		-E2BIG);
	assert_int_equal(repeated("cat <<A\nA\n", 1000, ""), 0);
	assert_int_equal(repeated("cat <<A\nA\n", 5000, ""), -E2BIG);
}

static void errors_have_places(void **state)
{
	struct arena a = ARENA_INIT(SHELL_MAX_ARENA);
	const char *text = "git status\ncat x |\n  | y";
	struct shell_ast ast;
	struct diag d;

	(void)state;
	assert_int_equal(
		shell_parse(&a, text, strlen(text), SHELL_BASH, &ast, &d),
		-EINVAL);
	assert_int_equal(d.line, 3);
	assert_int_equal(d.col, 3);
	/* What a shell runs before it sees the error is kept. */
	assert_non_null(ast.list->first);
	assert_null(ast.list->first->next);
	arena_release(&a);
}

static void only_differences_are_sensitive(void **state)
{
	static const char *const plain[] = {"a | b && c > d 2>&1",
		"for i in \"$@\"; do echo ${i%.c} $((1+2)); done"};
	static const char *const other[] = {"echo $'a'", "echo {a,b}",
		"[[ a ]]", "a &> b", "time a", "((a))", "a=(b)", "echo ${!x}",
		"f() a", "a 10>b", "a+=b", "$\"a\"", "x[1]=2"};
	struct shell_ast ast;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		parse_n(plain[i], strlen(plain[i]), SHELL_BASH, &ast);
		assert_false(ast.sensitive);
	}
	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		parse_n(other[i], strlen(other[i]), SHELL_BASH, &ast);
		assert_true(ast.sensitive);
	}
}

static void print(const char *text, enum shell_dialect dialect, struct buf *out)
{
	struct arena a = ARENA_INIT(SHELL_MAX_ARENA);
	struct shell_ast ast;

	buf_clear(out);
	assert_int_equal(
		shell_parse(&a, text, strlen(text), dialect, &ast, NULL), 0);
	shell_print(&ast, out);
	assert_int_equal(out->err, 0);
	arena_release(&a);
}

static void canonical_form(void **state)
{
	static const char *const pairs[][2] = {
		{"cu''rl  \\h\"i\"  # x", "cu''rl 'h''i'\n"},
		{"a&&b||c;x&", "a && b || c\nx &\n"},
		{"echo `a \\`b\\``", "echo $( a $( b; ); )\n"},
		{"echo \"it's $x\"", "echo \"it's ${x}\"\n"},
		{"echo $'\\x63\\n'", "echo 'c\n'\n"},
		{"echo $'\\033'", "echo $'\\033'\n"},
		{"echo $'\\u8d'", "echo $'\\302\\215'\n"},
		{"echo {a,b}c {d", "echo ac bc '{'d\n"},
		{"a {,} {b,,c} {,} d", "a b c d\n"},
		{"for i in {,}; do a; done; x=({,} b)",
			"for i in; do a; done\nx=(b)\n"},
		{"if a;then b;elif c;then d;fi>x",
			"if a; then b; elif c; then d; fi >x\n"},
		{"cat <<'X' <<Y; b\n$a\nX\nEOF $c\nY\n",
			"cat <<'EOF' <<EOF\n$a\nEOF\nEOF ${c}\nEOF\nb\n"},
		{"cat <<X\nEOF\nX\n", "cat <<EOF_\nEOF\nEOF_\n"},
		{">x if", "'if' >x\n"},
		{"f()(a)", "f() ( a; )\n"},
		{"case x in a|b)c;;esac", "case x in (a|b) c ;; esac\n"},
		{"echo *.c ~/x ${x:-'a b'}", "echo *.c ~/x ${x:-'a b'}\n"},
	};
	autobuf struct buf out = BUF_INIT(65536);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		print(pairs[i][0], SHELL_BASH, &out);
		assert_string_equal(buf_str(&out), pairs[i][1]);
	}
}

static void printing_is_stable(void **state)
{
	autobuf struct buf one = BUF_INIT(65536), two = BUF_INIT(65536);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(readings); i++)
		for (unsigned d = 0; d < 3; d++) {
			if (parse(readings[i].text, d) != 0)
				continue;
			print(readings[i].text, d, &one);
			print(buf_str(&one), d, &two);
			assert_string_equal(buf_str(&one), buf_str(&two));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_dialect),
		cmocka_unit_test(bytes_are_refused),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(errors_have_places),
		cmocka_unit_test(only_differences_are_sensitive),
		cmocka_unit_test(canonical_form),
		cmocka_unit_test(printing_is_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
