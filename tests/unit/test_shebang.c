/* test_shebang.c - directives, expansion, and searches in a small tree
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shebang/shebang.h"
#include "shebang/shebang_in.h"
#include "base/str.h"

static struct shebang s;
static char top[] = "/tmp/wardbox-test-XXXXXX";

static const char *in(const char *name)
{
	static char paths[8][512];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof paths[0], "%s/%s", top, name);
	return path;
}

static void put(const char *name, const char *text, size_t n, mode_t mode)
{
	FILE *f = fopen(in(name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(in(name), mode), 0);
}

static int prepare(void **state)
{
	(void)state;
	if (!mkdtemp(top) || mkdir(in("p"), 0755) || mkdir(in("p/a"), 0755) ||
		mkdir(in("p/bin"), 0755) || mkdir(in("p/t"), 0755))
		return -1;
	put("p/bin/auto-x", "#!/bin/sh\n", 10, 0755);
	put("p/t/auto-x", "#!/bin/sh\n", 10, 0755);
	put("p/a/s", "#!/usr/bin/env auto-x\n", 22, 0644);
	return 0;
}

static int tidy(void **state)
{
	static const char *const names[] = {"p/a/s", "p/bin/auto-x",
		"p/t/auto-x", "p/t", "p/bin", "p/a", "p", "."};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names) - 1; i++)
		remove(in(names[i]));
	shebang_release(&s);
	return rmdir(top);
}

/* The directives of text, which is all there is when whole. */
static int directives(const char *text, size_t n, bool whole, char **env)
{
	static struct shebang_request rq;

	rq = (struct shebang_request){.name = "auto-x", .script = "s",
		.env = env};
	s.rq = &rq;
	s.message = BUF_INIT(1 << 20);
	memcpy(s.pool, text, n);
	shebang_defaults(&s.conf);
	return shebang_directives(&s, n, whole);
}

static const char *value(enum shebang_key key)
{
	return s.conf.value[key];
}

static void directives_are_read(void **state)
{
	static const char good[] =
		"#!/x\nx auto-shebang-probe-dirs=a:b # tail\n"
		"auto-shebang-suffixes=:p\r\n\nauto-shebang-follow-symlinks=yes\t\n"
		"auto-shebang-symlink-priority=symlink-first\n"
		"auto-shebang-unsafe-expand-probe-dirs=yes\n"
		"auto-shebang-trust-env=no";
	static const enum shebang_key keys[] = {SHEBANG_FOLLOW,
		SHEBANG_PRIORITY, SHEBANG_PROBE_DIRS, SHEBANG_EXPAND,
		SHEBANG_SUFFIXES, SHEBANG_TRUST_ENV};

	(void)state;
	assert_int_equal(directives(good, sizeof good - 1, true, NULL), 0);
	assert_string_equal(value(SHEBANG_PROBE_DIRS), "a:b");
	assert_string_equal(value(SHEBANG_SUFFIXES), ":p");
	assert_string_equal(value(SHEBANG_FOLLOW), "yes");
	assert_string_equal(value(SHEBANG_PRIORITY), "symlink-first");
	assert_string_equal(value(SHEBANG_EXPAND), "yes");
	assert_string_equal(value(SHEBANG_TRUST_ENV), "no");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		assert_int_equal(s.conf.source[keys[i]], SHEBANG_DIRECTIVE);
	shebang_release(&s);
}

static void odd_lines_are_none(void **state)
{
	static const char *const none[] = {"", "\n", "auto-shebang-",
		"auto-shebang-probe-dirs", "auto-shebang-probe-dirs =x",
		"auto-shebang-=x", "auto-shebang-x=1 auto-shebang-probe-dirs=x",
		"auto-shebangprobe-dirs=x", "Auto-shebang-probe-dirs=x",
		"auto-shebang-probe-dirs=", "auto-shebang-probe-dirs= x"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		assert_int_equal(
			directives(none[i], strlen(none[i]), true, NULL), 0);
		assert_string_equal(value(SHEBANG_PROBE_DIRS), ".:bin");
		shebang_release(&s);
	}
}

static void a_cut_value_is_refused(void **state)
{
	static const char text[] = "auto-shebang-probe-dirs=x";
	static const char ended[] = "auto-shebang-probe-dirs=x y";
	static const char other[] = "auto-shebang-other=x";

	(void)state;
	assert_int_equal(directives(text, sizeof text - 1, false, NULL),
		SHEBANG_BAD);
	shebang_release(&s);
	assert_int_equal(directives(ended, sizeof ended - 1, false, NULL), 0);
	assert_string_equal(value(SHEBANG_PROBE_DIRS), "x");
	shebang_release(&s);
	assert_int_equal(directives(other, sizeof other - 1, false, NULL), 0);
	shebang_release(&s);
}

static void only_thirty_lines(void **state)
{
	char text[200];
	size_t n;

	(void)state;
	for (unsigned lines = 28; lines < 32; lines++) {
		memset(text, '\n', lines);
		n = lines + (size_t)snprintf(text + lines, 100,
				    "auto-shebang-probe-dirs=x");
		assert_int_equal(directives(text, n, true, NULL), 0);
		assert_string_equal(value(SHEBANG_PROBE_DIRS),
			lines < 30 ? "x" : ".:bin");
		shebang_release(&s);
	}
}

static void variables_overrule(void **state)
{
	char probe[] = "AUTO_SHEBANG_PROBE_DIRS=e", empty[] = "AUTO_SHEBANG_SUFFIXES=";
	char follow[] = "AUTO_SHEBANG_FOLLOW_SYMLINKS=0";
	char bad[] = "AUTO_SHEBANG_UNSAFE_EXPAND_PROBE_DIRS=yes";
	char *env[] = {probe, empty, follow, NULL};
	char *bad_env[] = {bad, NULL};
	static const char text[] = "auto-shebang-follow-symlinks=yes\n";
	static const char no[] = "auto-shebang-trust-env=no\n";

	(void)state;
	assert_int_equal(directives(text, sizeof text - 1, true, env), 0);
	assert_int_equal(shebang_variables(&s), 0);
	assert_string_equal(value(SHEBANG_PROBE_DIRS), "e");
	assert_string_equal(value(SHEBANG_FOLLOW), "no");
	assert_int_equal(s.conf.source[SHEBANG_FOLLOW], SHEBANG_ENV);
	assert_int_equal(s.conf.source[SHEBANG_SUFFIXES], SHEBANG_DEFAULT);
	shebang_release(&s);
	assert_int_equal(directives("", 0, true, bad_env), 0);
	assert_int_equal(shebang_variables(&s), SHEBANG_BAD);
	assert_string_equal(buf_str(&s.message),
		"invalid AUTO_SHEBANG_UNSAFE_EXPAND_PROBE_DIRS: 'yes' "
		"(must be 1 or 0)");
	shebang_release(&s);
	assert_int_equal(directives(no, sizeof no - 1, true, bad_env), 0);
	assert_int_equal(shebang_variables(&s), 0);
	shebang_release(&s);
}

static void paths_are_cut_as_dirname_does(void **state)
{
	static const char *const table[][3] = {{"", ".", ""}, {"/", "/", "/"},
		{"//", "/", "/"}, {"a", ".", "a"}, {"a/", ".", "a"},
		{"/a", "/", "a"}, {"//a", "/", "a"}, {"/a/", "/", "a"},
		{"a/b", "a", "b"}, {"a//b", "a", "b"}, {"a/b//", "a", "b"},
		{"/a//b", "/a", "b"}, {"a/.", "a", "."}, {"a/..", "a", ".."},
		{"-", ".", "-"}, {"-/x", "-", "x"}, {"./-", ".", "-"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const char *base;
		size_t base_len;
		size_t n = shebang_cut(table[i][0], &base, &base_len);
		const char *dir = n ? table[i][0] : ".";

		n = n ? n : 1;
		assert_int_equal(n, strlen(table[i][1]));
		assert_memory_equal(dir, table[i][1], n);
		assert_int_equal(base_len, strlen(table[i][2]));
		assert_memory_equal(base, table[i][2], base_len);
	}
}

static void expansion(void **state)
{
	static const char *const table[][2] = {{"", ""}, {"a", "a"},
		{"$A", "1"}, {"${A}", "1"}, {"x$A/y", "x1/y"}, {"$AB", ""},
		{"${A}B", "1B"}, {"$", "$"}, {"$$", "$$"}, {"$1", "$1"},
		{"${A", "${A"}, {"$A}", "1}"}, {"$Z$A", "1"}, {"$_1", "u"},
		{"$B", "$A"}, {"a$", "a$"}, {"$-", "$-"}, {"$\xc3", "$\xc3"}};
	static const char *const bad[] = {"$(", "a$(b)", "`", "${}", "${1}",
		"${A-}", "${ }", "${A}${", "${\xc3}"};
	char a[] = "A=1", b[] = "B=$A", u[] = "_1=u", twice[] = "A=2";
	char *env[] = {a, b, u, twice, NULL};
	char text[64];

	(void)state;
	assert_int_equal(directives("", 0, true, env), 0);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct buf out = BUF_FIXED(text);

		assert_int_equal(shebang_expand(&s, table[i][0],
					 strlen(table[i][0]), &out),
			0);
		assert_string_equal(buf_str(&out), table[i][1]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct buf out = BUF_FIXED(text);
		int code = shebang_expand(&s, bad[i], strlen(bad[i]), &out);

		if (str_eq(bad[i], "${A}${"))
			assert_int_equal(code, 0);
		else
			assert_int_equal(code, SHEBANG_BAD);
	}
	shebang_release(&s);
}

struct seen {
	unsigned traces, candidates, usable;
};

static void on_trace(void *arg, const char *line)
{
	struct seen *seen = arg;

	assert_true(*line);
	seen->traces++;
}

static void on_candidate(void *arg, const char *path, enum shebang_via via,
	enum shebang_verdict verdict)
{
	struct seen *seen = arg;

	assert_int_equal(path[0], '/');
	assert_int_equal(via, SHEBANG_WALK);
	seen->candidates++;
	seen->usable += verdict == SHEBANG_USABLE;
}

static void searches(void **state)
{
	char probe[] = "AUTO_SHEBANG_PROBE_DIRS=bin:t";
	char *env[] = {probe, NULL};
	struct seen seen = {0};
	struct shebang_watch watch = {.arg = &seen, .trace = on_trace};
	struct shebang_request rq = {.name = "auto-x", .script = in("p/a/s"),
		.env = env, .watch = &watch};

	(void)state;
	s = (struct shebang){0};
	assert_int_equal(shebang_resolve(&s, &rq), SHEBANG_FOUND);
	assert_string_equal(s.result, in("p/bin/auto-x"));
	assert_string_equal(s.origin[0], in("p/a"));
	assert_null(s.origin[1]);
	assert_true(seen.traces > 10);
	assert_int_equal(seen.candidates, 0);
	/* On behind the winner, which stays. */
	watch.candidate = on_candidate;
	assert_int_equal(shebang_resolve(&s, &rq), SHEBANG_FOUND);
	assert_string_equal(s.result, in("p/bin/auto-x"));
	assert_int_equal(seen.usable, 2);
	assert_true(seen.candidates > 10);
	/* Nothing is left of the one before. */
	rq.watch = NULL;
	rq.name = "auto-y";
	assert_int_equal(shebang_resolve(&s, &rq), SHEBANG_NONE);
	assert_null(s.result);
	assert_int_equal(buf_str(&s.message)[0], '\0');
	rq.script = in("no/s");
	assert_int_equal(shebang_resolve(&s, &rq), SHEBANG_MISSING);
	assert_non_null(strstr(buf_str(&s.message), "cannot resolve"));
	assert_null(s.origin[0]);
	rq.name = "auto-x";
	rq.script = in("p/a/s");
	assert_int_equal(shebang_resolve(&s, &rq), SHEBANG_FOUND);
	assert_int_equal(buf_str(&s.message)[0], '\0');
	shebang_release(&s);
}

static void the_resolver_is_no_interpreter(void **state)
{
	char named[600];
	char *env[] = {named, NULL};
	struct shebang_request rq = {.name = "auto-x", .script = in("p/a/s"),
		.self = in("p/bin/auto-x")};

	(void)state;
	put("p/bin/auto-x", "#!/bin/sh\n" SHEBANG_MARK "\n", 33, 0755);
	assert_int_equal(shebang_resolve(&s, &rq), SHEBANG_NONE);
	assert_null(s.copy);
	rq.self = NULL;
	assert_int_equal(shebang_resolve(&s, &rq), SHEBANG_NONE);
	assert_string_equal(s.copy, in("p/bin/auto-x"));
	snprintf(named, sizeof named, "AUTO_SHEBANG_OVERRIDE_EXE=%s",
		in("p/bin/auto-x"));
	rq.env = env;
	assert_int_equal(shebang_resolve(&s, &rq), SHEBANG_BAD);
	put("p/bin/auto-x", "#!/bin/sh\n", 10, 0755);
	assert_int_equal(shebang_resolve(&s, &rq), SHEBANG_FOUND);
	assert_int_equal(s.via, SHEBANG_OVERRIDE);
	shebang_release(&s);
}

static void everything_has_a_name(void **state)
{
	(void)state;
	for (unsigned v = SHEBANG_USABLE; v <= SHEBANG_COPY; v++)
		assert_in_range(strlen(shebang_verdict_name(v)), 1, 16);
	for (unsigned k = 0; k < SHEBANG_KEYS; k++)
		assert_in_range(strlen(shebang_key_name(k)), 1, 16);
	for (unsigned i = SHEBANG_DEFAULT; i <= SHEBANG_ENV; i++)
		assert_in_range(strlen(shebang_source_name(i)), 1, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directives_are_read),
		cmocka_unit_test(odd_lines_are_none),
		cmocka_unit_test(a_cut_value_is_refused),
		cmocka_unit_test(only_thirty_lines),
		cmocka_unit_test(variables_overrule),
		cmocka_unit_test(paths_are_cut_as_dirname_does),
		cmocka_unit_test(expansion),
		cmocka_unit_test(searches),
		cmocka_unit_test(the_resolver_is_no_interpreter),
		cmocka_unit_test(everything_has_a_name),
	};

	return cmocka_run_group_tests_name("shebang", tests, prepare, tidy);
}
