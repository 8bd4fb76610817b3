/* fuzz_rcfile.c - startup files of any bytes: read, judged, edited, restored
 * SPDX-License-Identifier: MIT
 *
 * The first byte picks the language and the edit, the rest is the file. What
 * is added must come out again and leave the very bytes; adding twice must be
 * adding once.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "profile/profile_edit.h"
#include "profile/profile_lint.h"
#include "profile/rcfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char look(void *ctx, const char *path)
{
	(void)ctx;
	return strlen(path) % 2 ? 'd' : 0;
}

static int see(void *ctx, const struct rc_cmd *cmd)
{
	size_t *sum = ctx;

	if (!cmd->count || cmd->at > cmd->end)
		abort();
	for (size_t i = 0; i < cmd->count; i++) {
		if (cmd->word[i].text[cmd->word[i].len] ||
			cmd->word[i].at > cmd->word[i].end)
			abort();
		*sum += cmd->word[i].len;
	}
	return 0;
}

static void judge(const char *text, size_t n, enum shell_kind kind)
{
	struct profile_lint lint = {.path = "/h/.profile",
		.text = text,
		.len = n,
		.kind = kind,
		.home = "/h",
		.look = look};
	struct profile_problems problems = {0};
	static const enum profile_problem_code codes[] = {PROBLEM_CRLF,
		PROBLEM_DANGLING_SOURCE, PROBLEM_BASHISM, PROBLEM_PATH_CORRUPT};

	profile_lint(&lint, &problems);
	profile_problems_release(&problems);
	for (size_t i = 0; i < 4; i++) {
		struct buf out = BUF_INIT(8 << 20);

		profile_repair(&lint, codes[i], &out);
		buf_release(&out);
	}
}

static void edit(const char *text, size_t n, enum shell_family family, int top,
	int missing)
{
	static struct profile_dir dir;
	struct profile_item item = {.what = PROFILE_PREPEND, .dir = &dir};
	struct profile_change change = {.id = "fuzz",
		.family = family,
		.home = "/h",
		.item = &item,
		.count = 1,
		.force = true,
		.top = top,
		.no_file = missing && !n};
	struct buf one = BUF_INIT(PROFILE_TEXT_MAX);
	struct buf two = BUF_INIT(PROFILE_TEXT_MAX);
	struct buf three = BUF_INIT(PROFILE_TEXT_MAX);
	enum profile_action action;
	struct diag d;

	if (profile_dir_parse(&dir, "/opt/a b", "/h", 0, &d))
		abort();
	if (profile_edit(&change, text, n, &one, &action, &d) == 0 &&
		action == PROFILE_ADDED) {
		if (profile_edit(&change, one.data, one.len, &two, &action, &d) ||
			action != PROFILE_UNCHANGED || two.len != one.len)
			abort();
		change.remove = true;
		change.count = 0;
		if (profile_edit(
			    &change, one.data, one.len, &three, &action, &d) ||
			three.len != n ||
			(n && memcmp(three.data, text, n) != 0))
			abort();
	}
	buf_release(&one);
	buf_release(&two);
	buf_release(&three);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum shell_kind kinds[] = {
		SHELL_BASH, SHELL_FISH, SHELL_TCSH, SHELL_SH};
	enum shell_kind kind;
	struct rc_source source;
	size_t sum = 0;
	struct rc_visitor visitor = {.command = see, .ctx = &sum};
	char *text;

	if (!size)
		return 0;
	kind = kinds[data[0] & 3];
	/* A copy of its own, so that one byte too far is seen. */
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text = realloc(text, size > 1 ? size - 1 : 1);
	source = (struct rc_source){.text = text,
		.len = size - 1,
		.family = shellkind_family(kind),
		.home = "/h"};
	rc_scan(&source, &visitor);
	judge(text, size - 1, kind);
	edit(text, size - 1, shellkind_family(kind), data[0] & 4, data[0] & 8);
	free(text);
	return 0;
}
