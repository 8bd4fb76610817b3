/* diff.c - two texts as a unified diff
 * SPDX-License-Identifier: MIT
 */
#include "base/diff.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { CONTEXT = 3, TABLE_MAX = 1 << 20 };

struct diff_side {
	const char *text;
	size_t *at; /* line starts; at[count] is the end of the text */
	bool *gone; /* not on the other side */
	size_t count;
};

static void side_release(struct diff_side *s)
{
	free(s->at);
	free(s->gone);
}

static int split_lines(struct diff_side *s, const char *text, size_t n)
{
	size_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n' || i + 1 == n;
	s->text = text;
	s->at = calloc(lines + 1, sizeof *s->at);
	s->gone = calloc(lines + 1, sizeof *s->gone);
	if (!s->at || !s->gone)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\n' || i + 1 == n)
			s->at[++s->count] = i + 1;
	}
	return 0;
}

static bool same_line(const struct diff_side *a, size_t i, const struct diff_side *b,
	size_t j)
{
	size_t n = a->at[i + 1] - a->at[i];

	return n == b->at[j + 1] - b->at[j] &&
	       memcmp(a->text + a->at[i], b->text + b->at[j], n) == 0;
}

/* Marks the lines between the common ends that are in no longest common
 * sequence. */
static int mark_middle(struct diff_side *a, struct diff_side *b, size_t head,
	size_t rows, size_t cols)
{
	autofree uint32_t *table = NULL;
	size_t width = cols + 1, i = 0, j = 0;

	memset(a->gone + head, true, rows);
	memset(b->gone + head, true, cols);
	if (!rows || !cols || (rows + 1) > TABLE_MAX / (cols + 1))
		return 0;
	table = calloc((rows + 1) * width, sizeof *table);
	if (!table)
		return -ENOMEM;
	for (size_t r = rows; r-- > 0;) {
		for (size_t c = cols; c-- > 0;) {
			uint32_t down = table[(r + 1) * width + c];
			uint32_t right = table[r * width + c + 1];

			table[r * width + c] =
				same_line(a, head + r, b, head + c)
					? table[(r + 1) * width + c + 1] + 1
				: down > right ? down
					       : right;
		}
	}
	while (i < rows && j < cols) {
		if (same_line(a, head + i, b, head + j))
			a->gone[head + i++] = b->gone[head + j++] = false;
		else if (table[(i + 1) * width + j] >= table[i * width + j + 1])
			i++;
		else
			j++;
	}
	return 0;
}

static int mark_line(struct diff_side *a, struct diff_side *b)
{
	size_t least = a->count < b->count ? a->count : b->count;
	size_t head = 0, tail = 0;

	while (head < least && same_line(a, head, b, head))
		head++;
	while (tail < least - head &&
		same_line(a, a->count - 1 - tail, b, b->count - 1 - tail))
		tail++;
	return mark_middle(
		a, b, head, a->count - head - tail, b->count - head - tail);
}

static void add_line(
	struct buf *out, char sign, const struct diff_side *s, size_t i)
{
	size_t n = s->at[i + 1] - s->at[i];

	buf_addc(out, sign);
	buf_add(out, s->text + s->at[i], n);
	if (s->text[s->at[i] + n - 1] != '\n')
		buf_adds(out, "\n\\ No newline at end of file\n");
}

/* Writes "start,count" as diff does: from 1, and 0 before an empty range. */
static void add_range(struct buf *out, size_t from, size_t count)
{
	buf_addf(out, "%zu", count ? from + 1 : from);
	if (count != 1)
		buf_addf(out, ",%zu", count);
}

/* Writes the lines of one hunk, a from i to i_end beside b from j. */
static void add_hunk(struct buf *out, const struct diff_side *a, size_t i,
	size_t i_end, const struct diff_side *b, size_t j, size_t j_end)
{
	buf_adds(out, "@@ -");
	add_range(out, i, i_end - i);
	buf_adds(out, " +");
	add_range(out, j, j_end - j);
	buf_adds(out, " @@\n");
	while (i < i_end || j < j_end) {
		if (i < i_end && a->gone[i])
			add_line(out, '-', a, i++);
		else if (j < j_end && b->gone[j])
			add_line(out, '+', b, j++);
		else if (i < i_end && j < j_end) {
			add_line(out, ' ', a, i++);
			j++;
		} else {
			return;
		}
	}
}

static bool is_changed(const struct diff_side *a, size_t i,
	const struct diff_side *b, size_t j)
{
	return (i < a->count && a->gone[i]) || (j < b->count && b->gone[j]);
}

/* Moves over changes, and over short stretches between them. */
static void hunk_end(const struct diff_side *a, size_t *i,
	const struct diff_side *b, size_t *j)
{
	size_t quiet = 0;

	while ((*i < a->count || *j < b->count) && quiet < 2 * CONTEXT + 1) {
		if (*i < a->count && a->gone[*i]) {
			++*i;
			quiet = 0;
		} else if (*j < b->count && b->gone[*j]) {
			++*j;
			quiet = 0;
		} else {
			++*i;
			++*j;
			quiet++;
		}
	}
	quiet = quiet > CONTEXT ? quiet - CONTEXT : 0;
	*i -= quiet;
	*j -= quiet;
}

static void write_hunks(
	struct buf *out, const struct diff_side *a, const struct diff_side *b)
{
	size_t i = 0, j = 0;

	while (i < a->count || j < b->count) {
		size_t back, from_i, from_j;

		if (!is_changed(a, i, b, j)) {
			i++;
			j++;
			continue;
		}
		back = i < CONTEXT ? i : CONTEXT;
		back = j < back ? j : back;
		from_i = i - back;
		from_j = j - back;
		hunk_end(a, &i, b, &j);
		add_hunk(out, a, from_i, i, b, from_j, j);
	}
}

int diff_unified(struct buf *out, const char *old_name, const char *new_name,
	const char *a, size_t a_len, const char *b, size_t b_len)
{
	autoclean(side_release) struct diff_side left = {0};
	autoclean(side_release) struct diff_side right = {0};
	int err;

	if (a_len == b_len && (!a_len || memcmp(a, b, a_len) == 0))
		return 0;
	err = split_lines(&left, a, a_len);
	if (!err)
		err = split_lines(&right, b, b_len);
	if (!err)
		err = mark_line(&left, &right);
	if (err)
		return err;
	buf_addf(out, "--- %s\n+++ %s\n", old_name, new_name);
	write_hunks(out, &left, &right);
	return out->err;
}
