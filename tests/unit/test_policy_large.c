/* test_policy_large.c - lines of thousands of commands: judged, or refused
 * SPDX-License-Identifier: MIT
 *
 * What a line may cost has an end. A real one is not near it; past it the line
 * is open, whatever stands behind.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "policy/policy_image.h"
#include "policy/policy_load.h"
#include "base/str.h"

static struct policy *policy;
static struct policy_verdict v; /* of the last decision */

static int load(void **state)
{
	struct policy_where none = {0};
	struct diag d;

	(void)state;
	assert_int_equal(policy_load(&policy, &none, &d), 0);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	policy_free(policy);
	return 0;
}

static enum policy_decision decide(const char *text)
{
	static char path[] = "PATH=/usr/bin:/bin";
	char *const env[] = {path, NULL};
	struct policy_request req = {.text = text,
		.len = strlen(text),
		.profile = POLICY_FULL_AUTO,
		.cwd = "/srv/proj",
		.root = "/srv/proj",
		.home = "/home/dev",
		.env = env};

	policy_decide_line(policy, &req, &v, NULL, NULL);
	return v.would;
}

/* The piece n times, each '#' in it a number, between before and behind. */
static char *repeat(
	const char *before, unsigned n, const char *piece, const char *behind)
{
	struct buf b = BUF_INIT(1 << 20);

	buf_adds(&b, before);
	for (unsigned i = 0; i < n; i++)
		for (const char *c = piece; *c; c++)
			*c == '#' ? buf_addf(&b, "%u", i) : buf_addc(&b, *c);
	buf_adds(&b, behind);
	buf_addc(&b, 0);
	assert_int_equal(b.err, 0);
	return b.data;
}

/* As a build writes them. */
static void judged(void **state)
{
	static const struct {
		unsigned n;
		const char *piece;
	} t[] = {
		{300, "./configure# && make; "},
		{300, "prog# a; "},
		{400, "gcc -O2 -c src/f#.c -o obj/f#.o || exit 1; "},
		{1000, "rm -f out/f#; "},
		{2500, ">>log# "},
		{2500, "echo a; "},
		{500, "if [ -f f# ]; then x=$x.; fi; "},
		{100, "f#() { local t=$1; cc -c t.c; }; f# m#; "},
		{100, "if a; then f#() { x; }; fi; "},
		{2000, "(b); "},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		char *good = repeat("x=a; ", t[i].n, t[i].piece, "");
		char *bad = repeat("x=a; ", t[i].n, t[i].piece, "curl x");

		if (decide(good) != POLICY_ALLOW)
			fail_msg("%s: %s", t[i].piece, v.reason);
		if (decide(bad) != POLICY_DENY)
			fail_msg("%s curl: %s", t[i].piece, v.reason);
		free(good);
		free(bad);
	}
}

static void refused(void **state)
{
	static const struct {
		unsigned n;
		const char *before, *piece;
	} t[] = {
		{4000, "", "cat f#; "},
		{3000, "", "prog# a; "},
		{12000, "cat", " f#"},
		{9000, "", ">f# "},
		{4000, "", "git log a#; "},
		{4000, "", "(cd src#); "},
		{5000, "", "a; "},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		char *line = repeat(t[i].before, t[i].n, t[i].piece, "");

		if (decide(line) != POLICY_OPEN || !str_eq(v.rule, "limit"))
			fail_msg("%s: %s: %s", t[i].piece, v.rule, v.reason);
		free(line);
	}
}

/* Code that an execve is given, and its operands. */
static void executed(void **state)
{
	char *code = repeat("", 3000, "cat f#; ", "curl x");
	char shell[] = "sh", c[] = "-c", rm[] = "rm", file[] = "f";
	char *argv[3002] = {shell, c, code};
	struct policy_request req = {.argv = argv,
		.path = "/usr/bin/dash",
		.profile = POLICY_FULL_AUTO,
		.cwd = "/srv/proj",
		.root = "/srv/proj"};

	(void)state;
	policy_decide_exec(policy, &req, &v);
	assert_int_equal(v.would, POLICY_DENY);
	argv[0] = rm;
	for (size_t i = 1; i < ARRAY_SIZE(argv) - 1; i++)
		argv[i] = file;
	req.path = "/usr/bin/rm";
	policy_decide_exec(policy, &req, &v);
	assert_int_equal(v.would, POLICY_ALLOW);
	free(code);
}

/* How many variables there are makes no difference to one of them. */
static void variables(void **state)
{
	static const char *const lines[] = {
		"CC=gcc; while a; do if b; then x=1; fi; done; $CC -c f.c",
		"CC=gcc; for i in a b; do x=$i; (y=1); done; $CC -c f.c",
		"a && x=1 || y=2; CC=gcc; while read z; do p1=$z; done; $CC f",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		for (unsigned n = 0; n < 100; n += 10) {
			char *line = repeat("", n, "p#=a; ", lines[i]);

			if (decide(line) != POLICY_ALLOW)
				fail_msg("%u: %s: %s", n, lines[i], v.reason);
			free(line);
		}
}

/* What code within code, and a shell within, see of variables. */
static void seen_within(void **state)
{
	static const struct {
		const char *text;
		enum policy_decision want;
	} t[] = {
		{"export v=curl; sh -c '$v x'", POLICY_DENY},
		{"v=curl; trap '$v x' EXIT", POLICY_DENY},
		{"v=curl; sh -c '$v x'", POLICY_ALLOW},
		{"v=curl sh -c '$v x'", POLICY_DENY},
		{"export v=curl; env -i sh -c '$v ls'", POLICY_ALLOW},
		{"export v=curl; env -i sh -c 'echo $v'; sh -c '$v x'",
			POLICY_DENY},
		{"export v=ls; sh -c 'v=echo; $v x'; v=curl sh -c '$v x'",
			POLICY_DENY},
		{"set -a; v=curl; sh -c '$v x'", POLICY_DENY},
		{"for i in a b; do $w x; w=curl; done", POLICY_OPEN},
		{"for w in ls curl; do $w x; done", POLICY_DENY},
		{"w=$(ls); for i in a b; do $w x; done", POLICY_OPEN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		if (decide(t[i].text) != t[i].want)
			fail_msg("%s: %s, %s", t[i].text,
				policy_decision_name(v.would), v.reason);
}

/* One command that is not the shell's own, wherever it stands. */
static void neutral(void **state)
{
	static const struct {
		const char *text;
		bool neutral;
	} t[] = {
		{"", true},
		{"echo a; x=1; cd src; [ -f a ]", true},
		{"echo a; ls; echo b", false},
		{"ls; echo a", false},
		{"echo a; echo $(ls)", false},
		{"f() { ls; }; echo a; f", false},
		{"echo a; curl x; echo b", false},
		{"/bin/echo a", false},
		{"exec echo a", false},
		{"env printf a", false},
		{"command echo a", false},
		{"echo a; eval 'ls'; echo b", false},
	};
	char *many = repeat("", 2000, "echo a; ", "ls");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		decide(t[i].text);
		if (!(v.is & POLICY_IS_SHELL) == t[i].neutral)
			fail_msg("%s", t[i].text);
	}
	assert_int_equal(decide(many), POLICY_ALLOW);
	assert_false(v.is & POLICY_IS_SHELL);
	free(many);
}

/* Which files a line of the shell's own commands may open. */
static void opening(void **state)
{
	enum { NO, IN = POLICY_IS_OPENING, OUT = IN | POLICY_IS_STRAYING };
	static const struct {
		const char *text;
		unsigned is;
	} t[] = {
		{"", NO},
		{"echo a/b /etc/passwd", NO},
		{"x=1; echo \"$x\"", NO},
		{"echo a >&2", NO},
		{"echo a >/dev/null", IN},
		{"echo a >b", IN},
		{"cd src", IN},
		{"echo *", IN},
		{"echo src/*", IN},
		{"[ -f a ]", IN},
		{"[ -f /etc/passwd ]", OUT},
		{"read x </proc/version", OUT},
		{"read x </etc/../proc/version", OUT},
		{"cd /etc; echo *", OUT},
		{"echo /etc/*", OUT},
		{"echo ../*", OUT},
		{"x=/et; echo ${x}c/*", OUT},
		{"read x; echo $x", OUT},
		{"read x; echo \"$x\"", NO},
		{"x='/etc/*'; echo $x", OUT},
		{"echo {/etc,/proc}/*", OUT},
		{"echo $unset", NO},
		{"read x; read y <\"$x\"", OUT},
		{"read x; cd \"$x\"; echo *", OUT},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		decide(t[i].text);
		if ((v.is & OUT) != t[i].is)
			fail_msg("%s: %u", t[i].text, v.is);
	}
}

/* A list's words are found in any order of writing, globs among them. */
static void lists(void **state)
{
	static const char *const in[] = {
		"zebra", "mx", "matrix", "apple", "fox", "middle"};
	struct policy_where none = {0};
	struct img_range r;
	struct policy *p = NULL;
	char path[] = "/tmp/wardbox-large-XXXXXX";
	int fd = mkstemp(path);
	struct diag d;

	(void)state;
	assert_true(fd >= 0);
	dprintf(fd, "include default\nlist mine zebra m*x apple ?ox middle\n");
	close(fd);
	none.system = path;
	none.system_uid = geteuid();
	assert_int_equal(policy_load(&p, &none, &d), 0);
	assert_int_equal(p->state, POLICY_GOOD);
	r = img_list(p->layer[0], "mine");
	for (size_t i = 0; i < ARRAY_SIZE(in); i++)
		assert_true(img_ref_find(p->layer[0], r, in[i]));
	assert_false(img_ref_find(p->layer[0], r, "appl"));
	assert_false(img_ref_find(p->layer[0], r, "zebras"));
	assert_false(img_ref_find(p->layer[0], r, ""));
	policy_free(p);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judged),
		cmocka_unit_test(refused),
		cmocka_unit_test(executed),
		cmocka_unit_test(variables),
		cmocka_unit_test(seen_within),
		cmocka_unit_test(neutral),
		cmocka_unit_test(opening),
		cmocka_unit_test(lists),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
