/* audit_read_text.c - which commands and outputs fit, by their text
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/audit_read_filter.h"
#include "log/audit_write.h"
#include "base/str.h"

/* The ends of the last records of streams, because text may be cut anywhere
 * between two records. With more streams at once some are forgotten. */
enum { ENDS = 64, END_MAX = 255 };
struct audit_ends {
	struct {
		uint64_t exec, stream;
		size_t len;
		char text[END_MAX];
	} of[ENDS];
	char join[2 * END_MAX];
};
static bool plain_char(char c)
{
	return chr_name(c) || (c && strchr("-./:@%+=,^", c));
}

static void add_word(struct buf *out, const char *s, size_t n)
{
	bool plain = n > 0;

	for (size_t i = 0; i < n && plain; i++)
		plain = plain_char(s[i]);
	if (plain) {
		buf_add(out, s, n);
		return;
	}
	buf_addc(out, '\'');
	for (size_t i = 0; i < n; i++)
		if (s[i] == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, s[i]);
	buf_addc(out, '\'');
}

uint64_t audit_words(const struct audit_record *r, struct cbor_in *in)
{
	const struct audit_field *f = audit_field(r, AUDIT_K_ARGV);
	struct cbor_item list;

	if (!f || f->item.major != CBOR_ARRAY)
		return 0;
	*in = (struct cbor_in){.p = f->raw, .end = f->raw + f->raw_len};
	return cbor_next(in, &list) ? 0 : list.n;
}

void audit_add_command(struct buf *out, const struct audit_record *r)
{
	struct cbor_in in;
	struct cbor_item word;
	const uint64_t n = audit_words(r, &in);

	for (uint64_t i = 0; i < n && !cbor_next(&in, &word); i++) {
		if (!word.bytes)
			return;
		if (i)
			buf_addc(out, ' ');
		add_word(out, (const char *)word.bytes, (size_t)word.n);
	}
}

/* Does the pattern match the whole or, if it has no star of its own, a part? */
static bool pattern_fits(const char *pattern, const char *s)
{
	if (strpbrk(pattern, "*?"))
		return str_glob(pattern, s);
	return str_find(s, pattern) != NULL;
}

static bool text_fits(const char *pattern, const struct audit_record *r,
	enum audit_key key)
{
	autobuf struct buf b = BUF_INIT(AUDIT_BODY_MAX);
	const struct cbor_item *text;

	if (!pattern)
		return true;
	text = audit_text(r, key);
	if (!text)
		return false;
	buf_add(&b, text->bytes, (size_t)text->n);
	return pattern_fits(pattern, buf_str(&b));
}

/* Compares the line as a person would type it; for "sh -c LINE" also LINE,
 * which people call the command. */
static bool line_fits(const char *pattern, const struct audit_record *r)
{
	autobuf struct buf b = BUF_INIT(4 * AUDIT_BODY_MAX);
	struct cbor_in in;
	struct cbor_item word;
	uint64_t n = audit_words(r, &in);
	bool text = false;

	audit_add_command(&b, r);
	if (pattern_fits(pattern, buf_str(&b)))
		return true;
	while (n-- && !cbor_next(&in, &word) && word.bytes) {
		if (text) {
			buf_clear(&b);
			buf_add(&b, word.bytes, (size_t)word.n);
			return pattern_fits(pattern, buf_str(&b));
		}
		text = word.n > 1 && word.bytes[0] == '-' &&
			word.bytes[1] != '-' && word.bytes[word.n - 1] == 'c';
	}
	return false;
}

bool audit_start_fits(const struct audit_filter *f, const struct audit_record *r)
{
	uint64_t decision = audit_uint(r, AUDIT_K_DECISION, AUDIT_ALLOW);

	if (f->decisions && (decision > 31 || !(f->decisions >> decision & 1)))
		return false;
	if (f->pid && audit_uint(r, AUDIT_K_PID, 0) != f->pid)
		return false;
	if (!text_fits(f->exe, r, AUDIT_K_EXE) ||
		!text_fits(f->cwd, r, AUDIT_K_CWD))
		return false;
	if (f->rule && !text_fits(f->rule, r, AUDIT_K_RULE))
		return false;
	return !f->command || line_fits(f->command, r);
}

int audit_output_begin(struct audit_filter *f)
{
	if (strlen(f->grep) > END_MAX)
		return -E2BIG;
	f->ends = calloc(1, sizeof *f->ends);
	return f->ends ? 0 : -ENOMEM;
}

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The record before may hold the first half of the text. */
bool audit_output_fits(struct audit_filter *f, const struct audit_record *r)
{
	const size_t want = strlen(f->grep), half = want ? want - 1 : 0;
	const uint64_t stream = audit_uint(r, AUDIT_K_STREAM, 31);
	const size_t slot = (size_t)(r->exec * 8 + stream) % ENDS;
	const struct cbor_item *data = audit_text(r, AUDIT_K_DATA);
	char *join = f->ends->join;
	size_t head, n;

	if (!data)
		return false;
	if (memmem(data->bytes, (size_t)data->n, f->grep, want))
		return true;
	if (f->ends->of[slot].exec != r->exec ||
		f->ends->of[slot].stream != stream ||
		audit_field(r, AUDIT_K_GAP))
		f->ends->of[slot].len = 0;
	n = f->ends->of[slot].len;
	head = least_of((size_t)data->n, half);
	memcpy(join, f->ends->of[slot].text, n);
	memcpy(join + n, data->bytes, head);
	f->ends->of[slot].exec = r->exec;
	f->ends->of[slot].stream = stream;
	if (memmem(join, n + head, f->grep, want))
		return true;
	if (data->n >= half) {
		memcpy(join, data->bytes + data->n - half, half);
		n = half;
	} else {
		n += head;
	}
	head = least_of(n, half);
	f->ends->of[slot].len = head;
	memcpy(f->ends->of[slot].text, join + n - head, head);
	return false;
}
