/* profile_block.c - the marked lines of ours in somebody else's file
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_block.h"

#include <errno.h>
#include <string.h>

#include "profile/rcfile.h"
#include "base/str.h"

static const char begin_mark[] = "# >>> profile:";
static const char end_mark[] = "# <<< profile:";

static bool id_char(char c)
{
	return chr_name(c) || c == '.' || c == '-';
}

bool profile_id_valid(const char *id)
{
	size_t n = strlen(id);

	for (size_t i = 0; i < n; i++)
		if (!id_char(id[i]))
			return false;
	return n && n <= PROFILE_ID_MAX;
}

void profile_block_begin(
	struct buf *out, const char *id, unsigned nl, bool file)
{
	buf_addf(out, "%s%s >>>%s%s%s\n", begin_mark, id, nl ? " +nl" : "",
		nl > 1 ? " +nl" : "", file ? " +file" : "");
}

void profile_block_end(struct buf *out, const char *id)
{
	buf_addf(out, "%s%s <<<\n", end_mark, id);
}

/* The kind of a line. */
enum marker { MARK_NONE, MARK_BEGIN, MARK_END, MARK_BROKEN };

/* Attributes: " +word" any number of times, nothing else. */
static bool read_attributes(const char *s, size_t n,
	struct profile_block *block)
{
	while (n) {
		size_t word = 2;

		if (n < 3 || s[0] != ' ' || s[1] != '+')
			return false;
		while (word < n && s[word] != ' ')
			word++;
		if (word == 4 && memcmp(s, " +nl", 4) == 0)
			block->nl += block->nl < 2;
		else if (word == 6 && memcmp(s, " +file", 6) == 0)
			block->file = true;
		s += word;
		n -= word;
	}
	return true;
}

/* line has no newline. A carriage return behind it came with an editor. */
static enum marker classify_line(
	const char *line, size_t n, struct profile_block *block)
{
	bool begin;
	size_t id = sizeof begin_mark - 1, end;

	if (n && line[n - 1] == '\r')
		n--;
	if (n < id)
		return MARK_NONE;
	begin = memcmp(line, begin_mark, id) == 0;
	if (!begin && memcmp(line, end_mark, id) != 0)
		return MARK_NONE;
	*block = (struct profile_block){0};
	for (end = id; end < n && id_char(line[end]); end++)
		;
	BUF_PRINT(block->id, "%.*s", (int)(end - id), line + id);
	if (!block->id[0] || n - end < 4 ||
		memcmp(line + end, begin ? " >>>" : " <<<", 4) != 0)
		return MARK_BROKEN;
	end += 4;
	if (!begin)
		return end == n ? MARK_END : MARK_BROKEN;
	return read_attributes(line + end, n - end, block) ? MARK_BEGIN
						      : MARK_BROKEN;
}

struct heredocs {
	size_t range[32][2];
	size_t count;
};

static void note_heredoc(void *ctx, size_t from, size_t to)
{
	struct heredocs *h = ctx;

	if (h->count < ARRAY_SIZE(h->range)) {
		h->range[h->count][0] = from;
		h->range[h->count][1] = to;
		h->count++;
	}
}

static bool in_heredoc(const struct heredocs *h, size_t at)
{
	for (size_t i = 0; i < h->count; i++) {
		if (at >= h->range[i][0] && at < h->range[i][1])
			return true;
	}
	return false;
}

static int refuse_marker(const char *text, size_t at, const char *why,
	struct diag *d)
{
	diag_fail(d, -EBADMSG,
		"%s\036put the marker lines right by hand, or delete both",
		why);
	diag_at(d, "", rc_line(text, at), 1);
	return -EBADMSG;
}

/* A pair is complete: keeps it, unless its id was there before. */
static int keep_block(struct profile_blocks *blocks,
	const struct profile_block *one, const char *text, struct diag *d)
{
	if (profile_block_of(blocks, one->id))
		return refuse_marker(
			text, one->begin, "a second block of the same id", d);
	if (blocks->count == PROFILE_BLOCKS)
		return diag_fail(
			d, -E2BIG, "more than %d blocks", PROFILE_BLOCKS);
	blocks->block[blocks->count++] = *one;
	return 0;
}

int profile_blocks_find(struct profile_blocks *blocks, const char *text,
	size_t n, enum shell_family family, struct diag *d)
{
	struct heredocs docs = {.count = 0};
	struct rc_source source = {.text = text, .len = n, .family = family};
	struct rc_visitor visitor = {.heredoc = note_heredoc, .ctx = &docs};
	struct profile_block open = {0}, found;
	bool is_open = false;
	int err = 0;

	blocks->count = 0;
	if (memmem(text, n, "<<", 2) && memmem(text, n, " profile:", 9)) {
		err = rc_scan(&source, &visitor);
		if (err < 0)
			return diag_errno(d, err, "startup file");
	}
	err = 0;
	for (size_t at = 0; at < n && !err;) {
		size_t len = str_line(text + at, n - at);
		size_t next = at + len + (at + len < n);
		enum marker mark = classify_line(text + at, len, &found);

		if (mark != MARK_NONE && in_heredoc(&docs, at))
			mark = MARK_NONE;
		if (mark == MARK_BROKEN) {
			err = refuse_marker(text, at,
				"a marker line was changed", d);
		} else if (mark == MARK_BEGIN) {
			if (is_open)
				err = refuse_marker(text, open.begin,
					"a block begins and does not end", d);
			open = found;
			open.begin = at;
			open.body = next;
			is_open = true;
		} else if (mark == MARK_END) {
			if (!is_open || !str_eq(open.id, found.id))
				return refuse_marker(text, at,
					"a block ends that did not begin", d);
			open.body_end = at;
			open.end = next;
			is_open = false;
			err = keep_block(blocks, &open, text, d);
		}
		at = next;
	}
	if (!err && is_open)
		err = refuse_marker(
			text, open.begin, "a block begins and does not end", d);
	return err;
}

struct profile_block *profile_block_of(
	struct profile_blocks *blocks, const char *id)
{
	for (size_t i = 0; i < blocks->count; i++)
		if (str_eq(blocks->block[i].id, id))
			return &blocks->block[i];
	return NULL;
}
