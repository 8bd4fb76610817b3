/* test_policy_laws.c - what must hold of decisions, whatever the line
 * SPDX-License-Identifier: MIT
 *
 * Over the lines of the corpus: a rewriting that runs the same commands, and
 * a layer that comes on top, never make an answer weaker; a stricter profile
 * never gives a weaker one; a list is as strict as its parts.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "policy/policy_image.h"
#include "policy/policy_load.h"
#include "base/str.h"

enum {
	MAX_LINES = 6000,
};

static char *lines[MAX_LINES];
static size_t count;
static struct policy *policy;
static char rule[40]; /* of the last decision */

static enum policy_decision decide_in(
	const struct policy *p, enum policy_profile profile, const char *text)
{
	static char path[] = "PATH=/usr/bin:/bin", user[] = "USER=dev";
	char *const env[] = {path, user, NULL};
	struct policy_request req = {.text = text,
		.len = strlen(text),
		.profile = profile,
		.cwd = "/srv/proj",
		.root = "/srv/proj",
		.home = "/home/dev",
		.env = env};
	struct policy_verdict v;

	policy_decide_line(p, &req, &v, NULL, NULL);
	memcpy(rule, v.rule, sizeof(rule));
	return v.would;
}

/* Each step-th line: all of them take minutes with the sanitizers. */
static void read_lines(const char *path, size_t step)
{
	size_t seen = 0;
	FILE *f = fopen(path, "r");
	char *row = NULL;
	size_t cap = 0;

	assert_non_null(f);
	while (getline(&row, &cap, f) > 0 && count < MAX_LINES) {
		char *tab = strchr(row, '\t'), *line;

		if (row[0] == '#' || !str_after(row, "PROFILE-FULL-AUTO"))
			continue;
		line = strchr(tab + 1, '\t') + 1;
		line[strcspn(line, "\t\n")] = 0;
		/* Escaped ones have line ends: prefixes alone fit them. */
		if (line[0] != '@' && seen++ % step == 0)
			lines[count++] = strdup(line);
	}
	free(row);
	fclose(f);
}

static int load(void **state)
{
	struct policy_where none = {0};
	struct diag d;

	(void)state;
	read_lines(TEST_DATA "/policy-corpus.tsv", 1);
	assert_true(count > 300);
	read_lines(TEST_DATA "/policy-lines.tsv", 1);
	read_lines(TEST_DATA "/policy-siblings.tsv", 4);
	assert_true(count > 3000);
	assert_int_equal(policy_load(&policy, &none, &d), 0);
	assert_int_equal(policy->state, POLICY_GOOD);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	for (size_t i = 0; i < count; i++)
		free(lines[i]);
	policy_free(policy);
	return 0;
}

/* What is held stays held: what is no longer plain is open, never allowed. */
static void not_weaker(const char *line, const char *other)
{
	for (unsigned p = POLICY_DEV; p <= POLICY_FULL_AUTO; p++) {
		enum policy_decision a = decide_in(policy, p, line);
		enum policy_decision b = decide_in(policy, p, other);

		if (b < a && b == POLICY_ALLOW)
			fail_msg("%s: %s, but %s: %s", policy_decision_name(a),
				line, policy_decision_name(b), other);
	}
}

/* Puts the line's text into single quotes. */
static void quote(char *to, const char *s)
{
	*to++ = '\'';
	for (; *s; s++) {
		if (*s == '\'') {
			memcpy(to, "'\\''", 4);
			to += 4;
		} else {
			*to++ = *s;
		}
	}
	memcpy(to, "'", 2);
}

static void rewritten(void **state)
{
	static const struct {
		const char *before, *behind;
	} frames[] = {
		{"true; ", ""},
		{"true && ", ""},
		{"false || ", ""},
		{"( ", "\n)"},
		{"{ ", "\n}"},
		{"if true; then ", "\nfi"},
		{"! true\n", ""},
		{"while true; do ", "\nbreak; done"},
		{"f() { ", "\n}; f"},
		{"# note\n", ""},
		{"\n\n", "\n"},
		{"cat <<X\nnote\nX\n", ""},
		{"case a in a) ", "\n;; esac"},
		{"", " # note"},
		{"echo $( ", "\n)"},
		{": \\\n; ", ""},
		{"coproc true; ", ""},
	};
	static char text[1 << 16], quoted[1 << 15];

	(void)state;
	for (size_t i = 0; i < count; i++) {
		/* What does not parse may be made whole by a frame. */
		decide_in(policy, POLICY_FULL_AUTO, lines[i]);
		if (strlen(lines[i]) > 4000 || str_eq(rule, "unparsable"))
			continue;
		for (size_t f = 0; f < ARRAY_SIZE(frames); f++) {
			snprintf(text, sizeof(text), "%s%s%s", frames[f].before,
				lines[i], frames[f].behind);
			if (decide_in(policy, POLICY_FULL_AUTO, lines[i]) ==
					POLICY_DENY ||
				f < 3)
				not_weaker(lines[i], text);
		}
		quote(quoted, lines[i]);
		snprintf(text, sizeof(text), "sh -c %s", quoted);
		not_weaker(lines[i], text);
		snprintf(text, sizeof(text), "env -i HOME=/home/dev bash -c %s", quoted);
		/* bash reads time itself, and no option but -p; and what the
		 * shells read in different ways, it reads in one. */
		decide_in(policy, POLICY_FULL_AUTO, lines[i]);
		if (!strchr(lines[i], '$') && !str_after(lines[i], "time ") &&
			!str_eq(rule, "dialect"))
			not_weaker(lines[i], text);
		snprintf(text, sizeof(text), "eval %s", quoted);
		not_weaker(lines[i], text);
	}
}

/* curl becomes c''url, cu\rl, cur"l" and so on: every word of plain letters. */
static void split_quotes(void **state)
{
	static const char *const cut[] = {"''", "\"\"", "\\\n", "\\"};
	static char text[1 << 16];

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const char *l = lines[i];
		size_t n = strcspn(l, " ");

		/* A reserved word in quotes is none. */
		decide_in(policy, POLICY_FULL_AUTO, l);
		if (str_eq(rule, "unparsable") || str_after(l, "time "))
			continue;
		for (size_t k = 0; n > 2 && k < ARRAY_SIZE(cut); k++) {
			size_t plain = 0;

			while (plain < n && chr_alpha(l[plain]))
				plain++;
			if (plain < n)
				break;
			snprintf(text, sizeof(text), "%.*s%s%s", 2, l, cut[k],
				l + 2);
			not_weaker(l, text);
			snprintf(text, sizeof(text), "%.*s%s%s", (int)n - 1, l,
				cut[k], l + n - 1);
			not_weaker(l, text);
		}
	}
}

/* A line of plain words says the same with empty quotes, or a line's end that
 * is taken back, anywhere within a word. */
static void split_anywhere(void **state)
{
	static const char *const cut[] = {"''", "\"\"", "\\\n"};
	static char text[1 << 16];
	unsigned seed = 7;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const char *l = lines[i];
		size_t n = strlen(l), first = strcspn(l, " ");

		decide_in(policy, POLICY_FULL_AUTO, l);
		if (str_eq(rule, "unparsable") || n < 4 || memchr(l, '=', first) || str_after(l, "time") ||
			strspn(l, "abcdefghijklmnopqrstuvwxyz0123456789"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ _./:=,@%+-") != n)
			continue;
		for (unsigned k = 0; k < 6; k++) {
			size_t at;

			seed = seed * 1103515245 + 12345;
			at = 1 + seed / 65536 % (n - 2);
			if (l[at - 1] == ' ' || l[at] == ' ')
				continue;
			snprintf(text, sizeof(text), "%.*s%s%s", (int)at, l,
				cut[k % 3], l + at);
			not_weaker(l, text);
		}
	}
}

/* A word that is none, or may be, anywhere behind the first one. */
static void with_nothing(void **state)
{
	static const struct {
		const char *before, *word, *behind;
	} none[] = {
		{"v=; if test -f a; then v=5; fi; ", "$v", ""},
		{"", "$(:)", ""},
		{"w=(); if test -f a; then w=(5); fi; ", "\"${w[@]}\"", ""},
		{"for v in '' 5; do ", "$v", "; done"},
		{"", "$@", ""},
	};
	static char text[1 << 16];
	size_t tried = 0;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const char *l = lines[i];

		/* Which processes a signal reaches, the box holds. */
		if (strspn(l, "abcdefghijklmnopqrstuvwxyz0123456789"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ _./:,@%+-") !=
				strlen(l) ||
			str_after(l, "time ") ||
			decide_in(policy, POLICY_FULL_AUTO, l) !=
				POLICY_DENY ||
			str_eq(rule, "unparsable"))
			continue;
		for (const char *at = l; (at = strchr(at, ' ')); at++) {
			size_t k = tried++ % ARRAY_SIZE(none);

			snprintf(text, sizeof(text), "%s%.*s %s%s%s",
				none[k].before, (int)(at - l), l, none[k].word,
				at, none[k].behind);
			not_weaker(l, text);
		}
	}
	assert_true(tried > 1000);
}

static void wrapped(void **state)
{
	static const char *const wrap[] = {"env", "nohup", "nice -n 5",
		"command", "timeout 5", "stdbuf -oL", "setsid", "env A=1",
		"nice timeout 3 env", "exec", "xargs -r"};
	static char text[1 << 16];

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const char *l = lines[i];
		size_t n = strcspn(l, " ");
		bool plain = n > 0;

		/* A simple command that begins with a plain name. */
		for (size_t k = 0; k < n; k++)
			plain &= chr_alpha(l[k]) || l[k] == '/' || l[k] == '.';
		if (!plain || l[0] == '.' || str_after(l, "time ") ||
			str_after(l, "if ") || str_after(l, "for ") ||
			str_after(l, "while ") || str_after(l, "case ") ||
			str_after(l, "coproc "))
			continue;
		if (decide_in(policy, POLICY_FULL_AUTO, l) != POLICY_DENY ||
			str_eq(rule, "unparsable"))
			continue;
		/* Builtins that only the shell itself has mean nothing there.
		 */
		if (strspn(l, "abcdefghijklmnopqrstuvwxyz") == n) {
			char name[32];

			if (n >= sizeof(name))
				continue;
			memcpy(name, l, n);
			name[n] = 0;
			if (img_ref_match(policy->layer[0],
				    img_list(policy->layer[0], "builtin"),
				    name))
				continue;
		}
		for (size_t k = 0; k < ARRAY_SIZE(wrap); k++) {
			/* xargs itself reads what the command would have. */
			if (str_after(wrap[k], "xargs") && strchr(l, '<'))
				continue;
			snprintf(text, sizeof(text), "%s %s", wrap[k], l);
			not_weaker(l, text);
		}
	}
}

static void profiles_in_order(void **state)
{
	for (size_t i = 0; i < count; i++) {
		enum policy_decision dev =
			decide_in(policy, POLICY_DEV, lines[i]);

		(void)state;
		assert_true(
			dev >= decide_in(policy, POLICY_FULL_AUTO, lines[i]));
		assert_int_equal(
			decide_in(policy, POLICY_SAFE, lines[i]), POLICY_DENY);
		assert_int_equal(
			decide_in(policy, POLICY_OBSERVE, lines[i]), dev);
	}
}

static void lists_are_as_strict_as_their_parts(void **state)
{
	static char text[1 << 16];
	unsigned seed = 1;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		/* What does not parse may be made whole by what follows. */
		decide_in(policy, POLICY_FULL_AUTO, lines[i]);
		if (str_eq(rule, "unparsable"))
			continue;
		seed = seed * 1103515245 + 12345;
		snprintf(text, sizeof(text), "%s\n%s", lines[i],
			lines[seed / 65536 % count]);
		not_weaker(lines[i], text);
	}
}

/* Random lower layers, without a delegate: never weaker. */
static void layers_only_tighten(void **state)
{
	static const char *const say[] = {
		"allow * **",
		"allow curl **",
		"allow {git|make|npm|cat} **",
		"deny git **",
		"ask npm **",
		"confirm cat **",
		"profile DEV unknown=allow",
		"profile FULL-AUTO unknown=confirm",
		"profile DEV net=all supervise=off",
		"profile FULL-AUTO open=deny",
		"profile DEV shell=on child=allow",
		"path rw /**",
		"path r $ROOT/src/**",
		"protect deny src/**",
		"protect confirm docs/a.md",
		"use OBSERVE",
		"list builtin curl",
		"list git-safe-keys core.pager",
		"list neutral curl",
		"exec /srv/proj/tools",
		"env keep LD_PRELOAD",
		"limit DEV cpu=1000h",
		"list code-deny x",
		"env deny CI",
	};
	unsigned seed = 7;

	(void)state;
	for (unsigned round = 0; round < 24; round++) {
		char text[1024] = "";
		struct policy p = *policy;
		char name[] = "/tmp/policy-layer-XXXXXX";
		int fd = mkstemp(name);
		struct diag d;
		void *bytes;
		size_t size;

		for (unsigned k = 0; k < 1 + round % 5; k++) {
			seed = seed * 1103515245 + 12345;
			strcat(text, say[seed / 65536 % ARRAY_SIZE(say)]);
			strcat(text, "\n");
		}
		assert_int_equal(write(fd, text, strlen(text)), strlen(text));
		close(fd);
		if (policy_build_file(name, POLICY_LAYER_PROJECT, getuid(),
			    false, p.layer[0], &bytes, &size, &d) < 0)
			fail_msg("%s: %s", text, d.text);
		unlink(name);
		assert_int_equal(
			policy_image_wrap(&p.layer[POLICY_LAYER_PROJECT], bytes,
				size, &d),
			0);
		for (size_t i = round % 3; i < count; i += 3) {
			for (unsigned f = 1; f <= 2; f++) {
				enum policy_decision a =
					decide_in(policy, f, lines[i]);

				if (decide_in(&p, f, lines[i]) < a)
					fail_msg("%sloosens: %s", text,
						lines[i]);
			}
		}
		policy_image_free(p.layer[POLICY_LAYER_PROJECT]);
	}
}

static void an_execve_is_judged_alike(void **state)
{
	static const struct {
		const char *argv[6], *path;
		unsigned depth;
		enum policy_decision want;
	} t[] = {
		{{"curl", "x"}, "/usr/bin/curl", 1, POLICY_DENY},
		{{"innocent", "x"}, "/usr/bin/curl", 1, POLICY_DENY},
		{{"wget", "x"}, "/bin/busybox", 1, POLICY_DENY},
		{{"gcc", "-c", "/usr/lib/x.c"}, "/usr/bin/gcc", 1,
			POLICY_ALLOW},
		{{"cc1"}, "/usr/lib/gcc/cc1", 1, POLICY_ALLOW},
		{{"sh", "-c", "curl x"}, "/usr/bin/dash", 1, POLICY_DENY},
		{{"sh", "-c", "make all"}, "/usr/bin/dash", 1, POLICY_ALLOW},
		{{"sh", "-c", "$CC -c x.c"}, "/usr/bin/dash", 1, POLICY_ALLOW},
		{{"sh", "-c", "PATH=x:$PATH make"}, "/usr/bin/dash", 1,
			POLICY_ALLOW},
		{{"sh", "-c", "$CC -c x.c"}, "/usr/bin/dash", 0, POLICY_OPEN},
		{{"sh", "-c", "'"}, "/usr/bin/dash", 1, POLICY_ALLOW},
		{{"tar", "--to-command=x"}, "/usr/bin/tar", 1, POLICY_ALLOW},
		{{"tar", "--to-command=x"}, "/usr/bin/tar", 0, POLICY_CONFIRM},
		{{"env", "curl", "x"}, "/usr/bin/env", 1, POLICY_DENY},
		{{"ld.so", "/usr/bin/curl"}, "/lib64/ld-linux-x86-64.so.2", 1,
			POLICY_DENY},
		{{"make"}, "/usr/bin/make", 0, POLICY_CONFIRM},
		{{"git", "status"}, "/usr/bin/git", 0, POLICY_ALLOW},
		{{"env", "c=curl", "sh", "-c", "$c x"}, "/usr/bin/env", 0,
			POLICY_OPEN},
		{{"env", "c=curl", "sh", "-c", "echo $c"}, "/usr/bin/env", 0,
			POLICY_ALLOW},
		{{"cat", "/etc/shadow"}, "/usr/bin/cat", 0, POLICY_OPEN},
		{{"cat", "/home/dev/.ssh/id_rsa"}, "/usr/bin/cat", 0,
			POLICY_DENY},
		{{"rm", "-rf", "/usr"}, "/usr/bin/rm", 1, POLICY_DENY},
		{{"rm", "-rf", "/srv"}, "/usr/bin/rm", 1, POLICY_DENY},
		{{"tool"}, "/tmp/tool", 0, POLICY_CONFIRM},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		char *argv[6] = {0};
		struct policy_request req = {.argv = argv,
			.path = t[i].path,
			.profile = POLICY_DEV,
			.cwd = "/srv/proj",
			.root = "/srv/proj",
			.home = "/home/dev",
			.depth = t[i].depth};
		struct policy_verdict v;

		for (unsigned k = 0; k < 5 && t[i].argv[k]; k++)
			argv[k] = strdup(t[i].argv[k]);
		policy_decide_exec(policy, &req, &v);
		if (v.decision != t[i].want)
			fail_msg("%s %s: %s (%s: %s)", t[i].path, t[i].argv[0],
				policy_decision_name(v.decision), v.rule,
				v.reason);
		for (unsigned k = 0; k < 6; k++)
			free(argv[k]);
	}
}

static void grants(void **state)
{
	autogrants struct policy_grants g = {0};

	(void)state;
	assert_int_equal(
		policy_grants(policy, POLICY_DEV, "/srv/proj", "/home/dev", &g),
		0);
	assert_true(g.confine && g.supervise && !g.hard_output);
	assert_int_equal(g.limits.procs, 5);
	assert_int_equal(g.limits.cpu, 60000000000ULL);
	assert_string_equal(g.path[0].path, "/srv/proj");
	assert_true(g.path[0].tree && g.path[0].write);
	assert_int_equal(policy_env(&g, "LD_PRELOAD"), POLICY_ENV_DENY);
	assert_int_equal(policy_env(&g, "LC_TIME"), POLICY_ENV_KEEP);
	assert_int_equal(policy_env(&g, "WARDBOX_SESSION_ID"), POLICY_ENV_KEEP);
	assert_int_equal(policy_env(&g, "WARDBOX_PROFILE"), POLICY_ENV_DENY);
	assert_int_equal(policy_env(&g, "FOO"), POLICY_ENV_DROP);
	assert_int_equal(g.redact.pattern_count, 0);
}

/* What is loaded only to decide by decides as what is loaded to be shown. */
static void brief_is_the_same(void **state)
{
	static const struct {
		const char *text;
		bool alone; /* says nothing but which profile */
	} files[] = {
		{"use FULL-AUTO\n", true},
		{"# a word\n\npolicy 1 system\nuse\tSAFE  # low\n", true},
		{"use FULL-AUTO\n use SAFE\n", false},
		{"use SAFE\nuse OBSERVE", true},
		{"use OBSERVE\n# use SAFE \\\nuse DEV\n", false},
		{"use FULL-AUTO\ndeny id=x ls **\n", false},
		{"use FULL-AUTO please\n", false},
		{"use WHATEVER\n", false},
		{"policy 1 user\nuse OBSERVE\n", false},
		{"policy 1 system\n", false},
		{"", false},
	};
	char path[] = "/tmp/policy-brief-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct policy_where w = {.system = path,
			.system_uid = geteuid(),
			.uid = geteuid()};
		size_t n = strlen(files[i].text);
		struct policy *full, *brief;
		struct diag d;

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, files[i].text, n, 0), n);
		assert_int_equal(policy_load(&full, &w, &d), 0);
		w.brief = true;
		assert_int_equal(policy_load(&brief, &w, &d), 0);
		assert_int_equal(brief->state, full->state);
		assert_int_equal(policy_profile(brief, NULL, &d),
			policy_profile(full, NULL, &d));
		assert_int_equal(!!brief->use, files[i].alone);
		for (unsigned p = 0; p < POLICY_PROFILES; p++)
			assert_int_equal(decide_in(brief, p, "ls; sudo true"),
				decide_in(full, p, "ls; sudo true"));
		policy_free(full);
		policy_free(brief);
	}
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rewritten),
		cmocka_unit_test(split_quotes),
		cmocka_unit_test(split_anywhere),
		cmocka_unit_test(with_nothing),
		cmocka_unit_test(wrapped),
		cmocka_unit_test(profiles_in_order),
		cmocka_unit_test(lists_are_as_strict_as_their_parts),
		cmocka_unit_test(layers_only_tighten),
		cmocka_unit_test(an_execve_is_judged_alike),
		cmocka_unit_test(grants),
		cmocka_unit_test(brief_is_the_same),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
