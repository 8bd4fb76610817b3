/* test_profile_edit.c - the byte-exact cases of adding and taking out
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "sys/file.h"
#include "base/json_read.h"
#include "profile/profile_block.h"
#include "profile/profile_edit.h"
#include "base/str.h"

static const char home[] = "/home/u";

/* The cases file shows bytes above 0x7f as Latin-1. */
static void text_of(const struct json_doc *doc, uint32_t node, struct buf *out)
{
	autobuf struct buf utf8 = BUF_INIT(65536);

	assert_int_equal(json_text(doc, node, &utf8), 0);
	for (size_t i = 0; i < utf8.len; i++) {
		unsigned char c = (unsigned char)utf8.data[i];

		if (c == 0xc3)
			c = (unsigned char)(utf8.data[++i] | 0x40);
		buf_addc(out, (char)c);
	}
	buf_str(out);
}

struct command {
	char words[4096];
	const char *dir[4];
	size_t dirs;
	bool append, force, remove;
	const char *id;
};

static char *cut(char *s, const char *option)
{
	char *at = strstr(s, option);

	if (at)
		*at = '\0';
	return at ? at + strlen(option) : NULL;
}

/* \\ \' \n as the cases file writes them. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && s[1])
			*to++ = *++s == 'n' ? '\n' : *s;
		else
			*to++ = *s;
	}
	*to = '\0';
}

static void parse_command(struct command *c, const char *text)
{
	char *rest, *next;

	*c = (struct command){.id = "default"};
	str_copy(c->words, sizeof c->words, text);
	c->remove = str_after(text, "remove") != NULL;
	rest = c->words + strcspn(c->words, " ");
	rest += *rest == ' ';
	c->append = cut(rest, " --append");
	c->force = cut(rest, " --force");
	next = cut(rest, " --id ");
	if (next)
		c->id = next;
	while (*rest) {
		next = strstr(rest + 1, " /");
		if (next)
			*next++ = '\0';
		unescape(rest);
		c->dir[c->dirs++] = rest;
		rest = next ? next : rest + strlen(rest);
		if (!next)
			break;
	}
}

/* What profile_edit says, in the words of the cases file. */
static int run_case(const char *text, bool missing, size_t n,
	struct command *c, enum shell_family family, struct buf *out,
	enum profile_action *action)
{
	struct profile_item item[4] = {{0}};
	static struct profile_dir dir[4];
	struct profile_change change = {.id = c->id,
		.family = family,
		.home = home,
		.item = item,
		.count = c->dirs,
		.remove = c->remove,
		.force = c->force,
		.no_file = missing};
	struct diag d;

	for (size_t i = 0; i < c->dirs; i++) {
		int err = profile_dir_parse(&dir[i], c->dir[i], home, 0, &d);

		if (err)
			return err;
		item[i].dir = &dir[i];
		item[i].what = c->append ? PROFILE_APPEND : PROFILE_PREPEND;
	}
	return profile_edit(&change, text, n, out, action, &d);
}

static void check_case(const struct json_doc *doc, uint32_t node)
{
	autobuf struct buf in = BUF_INIT(65536), want = BUF_INIT(65536);
	autobuf struct buf cmd = BUF_INIT(4096), status = BUF_INIT(64);
	autobuf struct buf name = BUF_INIT(64), syntax = BUF_INIT(16);
	autobuf struct buf out = BUF_INIT(PROFILE_TEXT_MAX);
	uint32_t input = json_find(doc, node, "input");
	uint32_t expect = json_find(doc, node, "expect");
	bool missing = json_type(doc, input) == JSON_NULL;
	enum profile_action action;
	struct command c;
	int err;

	text_of(doc, json_find(doc, node, "name"), &name);
	text_of(doc, json_find(doc, node, "cmd"), &cmd);
	text_of(doc, json_find(doc, node, "status"), &status);
	text_of(doc, json_find(doc, node, "syntax"), &syntax);
	if (!missing)
		text_of(doc, input, &in);
	if (json_type(doc, expect) != JSON_NULL)
		text_of(doc, expect, &want);
	print_message("case %s\n", buf_str(&name));
	parse_command(&c, buf_str(&cmd));
	err = run_case(in.data, missing, in.len, &c,
		str_eq(buf_str(&syntax), "fish") ? FAMILY_FISH : FAMILY_SH,
		&out, &action);
	if (str_after(buf_str(&status), "usage:")) {
		assert_int_equal(err, -EINVAL);
		return;
	}
	if (str_after(buf_str(&status), "refused:")) {
		assert_int_equal(err, -EBADMSG);
		return;
	}
	assert_int_equal(err, 0);
	assert_string_equal(action == PROFILE_UNLINKED
			? "removed+unlinked"
			: profile_action_name(action),
		buf_str(&status));
	assert_int_equal(out.len, want.len);
	assert_string_equal(buf_str(&out), buf_str(&want));
}

static void every_vector(void **state)
{
	autobuf struct buf text = BUF_INIT(1 << 20);
	autojson struct json_doc doc = {0};
	unsigned cases = 0;
	struct diag d;

	(void)state;
	assert_int_equal(file_read(AT_FDCWD,
				 TEST_DATA "/profile/profile_cases.json", &text),
		0);
	assert_int_equal(json_read(&doc, text.data, text.len, &d), 0);
	for (uint32_t i = json_first(&doc, 0); i; i = json_next(&doc, i)) {
		check_case(&doc, i);
		cases++;
	}
	assert_int_equal(cases, 25);
}

/* One edit of text with "default" or id; the result replaces text. */
static enum profile_action edit(struct buf *text, const char *id,
	const char *dir, bool remove, bool *missing)
{
	autobuf struct buf out = BUF_INIT(PROFILE_TEXT_MAX);
	struct command c = {.id = id, .remove = remove, .force = true};
	enum profile_action action = PROFILE_UNCHANGED;

	if (dir)
		c.dir[c.dirs++] = dir;
	assert_int_equal(run_case(text->data, *missing, text->len, &c,
				 FAMILY_SH, &out, &action),
		0);
	buf_clear(text);
	buf_add(text, out.data, out.len);
	*missing = action == PROFILE_UNLINKED;
	return action;
}

/* Whatever order blocks come and go in, the bytes come back. */
static void any_order_of_removal(void **state)
{
	static const char *const starts[] = {NULL, "", "x=1\n", "x=1",
		"\xff\xfe\r\nno end", "x=1\nexec fish\n", "x=1\nexec fish",
		/* A backslash at a comment's end joins nothing. */
		"# c \\\nreturn\n", "# c \\\n", "x=1 \\\nreturn\n",
		"#!/bin/sh\n", "\n\n\n", "x=1\n\\", "x=1\\\n", "x=1\\",
		"x=1\\\\", "x=1\\\\\n", "\\", "# a\n\nreturn\n# b"};
	static const char *const ids[] = {"a", "b.c", "d-e"};
	static const unsigned order[][3] = {
		{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(starts); s++) {
		for (size_t o = 0; o < ARRAY_SIZE(order); o++) {
			autobuf struct buf text = BUF_INIT(65536);
			bool missing = !starts[s];

			if (starts[s])
				buf_adds(&text, starts[s]);
			for (unsigned i = 0; i < 3; i++)
				edit(&text, ids[i], "/opt/x", false, &missing);
			for (unsigned i = 0; i < 3; i++)
				edit(&text, ids[order[o][i]], NULL, true,
					&missing);
			assert_int_equal(missing, !starts[s]);
			assert_string_equal(
				buf_str(&text), starts[s] ? starts[s] : "");
		}
	}
}

static void newline_stays_when_text_follows(void **state)
{
	autobuf struct buf text = BUF_INIT(65536);
	bool missing = false;

	(void)state;
	buf_adds(&text, "a=1");
	edit(&text, "default", "/opt/x", false, &missing);
	buf_adds(&text, "b=2\n");
	edit(&text, "default", NULL, true, &missing);
	assert_string_equal(buf_str(&text), "a=1\nb=2\n");
}

static void lines_go_one_by_one(void **state)
{
	autobuf struct buf text = BUF_INIT(65536);
	bool missing = false;

	(void)state;
	buf_adds(&text, "a=1\n");
	edit(&text, "default", "/opt/x", false, &missing);
	edit(&text, "default", "/home/u/y", false, &missing);
	assert_int_equal(edit(&text, "default", "/opt/x", true, &missing),
		PROFILE_UPDATED);
	assert_null(strstr(buf_str(&text), "/opt/x"));
	assert_non_null(strstr(buf_str(&text), "$HOME/y"));
	assert_int_equal(edit(&text, "default", "/opt/none", true, &missing),
		PROFILE_UNCHANGED);
	assert_int_equal(edit(&text, "default", "~/y", true, &missing),
		PROFILE_REMOVED);
	assert_string_equal(buf_str(&text), "a=1\n");
}

static void variables_replace_their_line(void **state)
{
	autobuf struct buf one = BUF_INIT(65536), two = BUF_INIT(65536);
	autobuf struct buf three = BUF_INIT(65536);
	struct profile_item item = {
		.what = PROFILE_VAR, .name = "GOPATH", .value = "$HOME/go"};
	struct profile_change change = {.id = "default",
		.family = FAMILY_SH,
		.home = home,
		.item = &item,
		.count = 1};
	enum profile_action action;
	struct diag d;

	(void)state;
	assert_int_equal(profile_edit(&change, "", 0, &one, &action, &d), 0);
	assert_string_equal(buf_str(&one),
		"# >>> profile:default >>>\nexport GOPATH=\"$HOME/go\"\n"
		"# <<< profile:default <<<\n");
	item.value = "/x$y";
	assert_int_equal(
		profile_edit(&change, one.data, one.len, &two, &action, &d), 0);
	assert_int_equal(action, PROFILE_UPDATED);
	assert_string_equal(buf_str(&two),
		"# >>> profile:default >>>\nexport GOPATH=\"/x\\$y\"\n"
		"# <<< profile:default <<<\n");
	assert_int_equal(
		profile_edit(&change, two.data, two.len, &three, &action, &d),
		0);
	assert_int_equal(action, PROFILE_UNCHANGED);
}

static void markers(void **state)
{
	static const struct {
		const char *text;
		int result; /* blocks, or -errno */
	} cases[] = {
		{"", 0},
		{" # >>> profile:a >>>\n", 0},
		{"# >>> profile:a >>>\n# <<< profile:a <<<", 1},
		{"# >>> profile:a >>>\r\n# <<< profile:a <<<\r\n", 1},
		{"# >>> profile:a >>> +x +nl\n# <<< profile:a <<<\n", 1},
		{"# >>> profile:a >>> nl\n# <<< profile:a <<<\n", -EBADMSG},
		{"# >>> profile:a >>>\n# <<< profile:b <<<\n", -EBADMSG},
		{"# <<< profile:a <<<\n", -EBADMSG},
		{"# >>> profile: >>>\n", -EBADMSG},
		{"# >>> profile:a >>\n", -EBADMSG},
		{"# >>> profile:a >>>\n# <<< profile:a <<<\n"
		 "# >>> profile:a >>>\n# <<< profile:a <<<\n",
			-EBADMSG},
		{"cat <<E\n# >>> profile:a >>>\nE\n", 0},
		{"cat <<-'E'\n# >>> profile:a >>>\n\tE\n# >>> profile:a >>>\n"
		 "# <<< profile:a <<<\n",
			1},
		/* A here-document without end hides nothing. */
		{"cat <<E\n# >>> profile:a >>>\n", -EBADMSG},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree struct profile_blocks *b = malloc(sizeof *b);
		struct diag d;
		int err = profile_blocks_find(b, cases[i].text,
			strlen(cases[i].text), FAMILY_SH, &d);

		print_message("markers %zu\n", i);
		assert_int_equal(err ? err : (int)b->count, cases[i].result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_vector),
		cmocka_unit_test(any_order_of_removal),
		cmocka_unit_test(newline_stays_when_text_follows),
		cmocka_unit_test(lines_go_one_by_one),
		cmocka_unit_test(variables_replace_their_line),
		cmocka_unit_test(markers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
