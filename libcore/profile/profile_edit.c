/* profile_edit.c - the new text of a startup file, from the old one
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_edit.h"

#include <errno.h>
#include <string.h>

#include "profile/profile_block.h"
#include "profile/rc_path.h"
#include "profile/rcfile.h"
#include "base/str.h"

struct edit {
	const struct profile_change *change;
	struct rc_source source;
	const char *text; /* the source's */
	size_t n;
	struct profile_blocks *blocks;
	struct profile_block *own; /* NULL: not there yet */
	struct buf *out;
	struct diag *d;
};

const char *profile_action_name(enum profile_action action)
{
	static const char names[][10] = {
		"unchanged", "added", "updated", "removed", "removed"};

	return names[action];
}

/* Is it in the text, but for what is to be skipped? 1, 0, -errno. */
static int is_in(const struct edit *e, const struct rc_source *source,
	size_t index, const size_t (*skip)[2], size_t skips)
{
	const struct profile_change *c = e->change;
	const struct profile_item *item = &c->item[index];

	if (item->what != PROFILE_VAR)
		return rc_path_has(source, item->dir->text,
			c->exists && c->exists[index], skip, skips);
	return rc_var_has(source, item->name, item->value, skip, skips);
}

/* Is it there already, by the user's own doing? 1, 0, -errno. */
static int is_foreign(const struct edit *e, size_t index)
{
	const struct profile_change *c = e->change;
	struct rc_source beside = e->source;
	size_t skip[PROFILE_BLOCKS][2];
	int err;

	if (c->force)
		return 0;
	/* A block belongs to the owner of its id, who may remove it, so that
	 * its lines do not count. */
	for (size_t i = 0; i < e->blocks->count; i++) {
		skip[i][0] = e->blocks->block[i].begin;
		skip[i][1] = e->blocks->block[i].end;
	}
	err = is_in(e, &e->source, index, skip, e->blocks->count);
	if (err || !c->beside || !c->beside->len)
		return err;
	beside.text = c->beside->data;
	beside.len = c->beside->len;
	return is_in(e, &beside, index, NULL, 0);
}

/* The line in body[0..n) that starts at *at: its length with the newline. */
static size_t line_length(const char *body, size_t n, size_t at)
{
	size_t len = str_line(body + at, n - at);

	return len + (at + len < n);
}

static bool line_is(const char *body, size_t at, size_t len, struct buf *line)
{
	/* An editor may have put a carriage return before the newline. */
	if (len == line->len + 1 && len >= 2 && body[at + len - 2] == '\r')
		return memcmp(body + at, line->data, line->len - 1) == 0;
	return len == line->len && memcmp(body + at, line->data, len) == 0;
}

/* Does the line set the same thing as item, otherwise? So the other direction
 * of a directory, and any value of a variable. */
static bool same_subject(const struct edit *e, const struct profile_item *item,
	const char *body, size_t at, size_t len)
{
	autobuf struct buf other = BUF_INIT(PROFILE_TEXT_MAX);
	autofree struct profile_dir *dir = NULL;
	struct profile_item twin = *item;
	struct buf *o = &other;

	if (item->what == PROFILE_VAR) {
		size_t stem;

		twin.value = "";
		if (profile_line(o, e->change->family, &twin, NULL, NULL))
			return false;
		/* The line's stem ends where the value begins. */
		stem = o->len - 3;
		return len > stem && memcmp(body + at, o->data, stem) == 0;
	}
	dir = malloc(sizeof *dir);
	if (!dir)
		return false;
	*dir = *item->dir;
	twin.dir = dir;
	for (unsigned i = 0; i < 4; i++) {
		twin.what = i & 1 ? PROFILE_PREPEND : PROFILE_APPEND;
		if (i & 2)
			dir->home = 0;
		buf_clear(o);
		if (profile_line(o, e->change->family, &twin, NULL, NULL) ==
				0 &&
			line_is(body, at, len, o))
			return true;
	}
	return false;
}

/* Puts one item's line into body. *changed says whether that did anything. */
static int merge_item(
	struct edit *e, struct buf *body, size_t index, bool *changed)
{
	const struct profile_item *item = &e->change->item[index];
	autobuf struct buf line = BUF_INIT(PROFILE_TEXT_MAX);
	autobuf struct buf merged = BUF_INIT(PROFILE_TEXT_MAX);
	bool placed = false, same = false;
	int err = profile_line(&line, e->change->family, item, NULL, e->d);
	size_t at = 0;

	if (err)
		return err;
	while (at < body->len) {
		size_t len = line_length(body->data, body->len, at);

		if (!placed && line_is(body->data, at, len, &line))
			same = placed = true;
		else if (same_subject(e, item, body->data, at, len)) {
			if (!placed)
				buf_add(&merged, line.data, line.len);
			placed = *changed = true;
			at += len;
			continue;
		}
		buf_add(&merged, body->data + at, len);
		at += len;
	}
	if (!placed) {
		err = is_foreign(e, index);
		if (err)
			return err < 0 ? diag_errno(e->d, err, "startup file")
				       : 0;
		buf_add(&merged, line.data, line.len);
		*changed = true;
	} else if (same && !*changed) {
		return 0;
	}
	if (merged.err)
		return merged.err;
	buf_clear(body);
	buf_add(body, merged.data, merged.len);
	return body->err;
}

static int merge_items(struct edit *e, struct buf *body, bool *changed)
{
	const struct profile_change *c = e->change;
	int err = 0;

	if (c->raw) {
		*changed = body->len != strlen(c->raw) ||
			   !str_eq(buf_str(body), c->raw);
		buf_clear(body);
		buf_adds(body, c->raw);
		return body->err;
	}
	/* The directory that is put in front last comes out first; such lines
	 * stand before the rest. */
	for (size_t i = 0; i < 2 * c->count && !err; i++) {
		bool front = i < c->count;
		size_t k = front ? c->count - 1 - i : i - c->count;

		if (front == (c->item[k].what == PROFILE_PREPEND))
			err = merge_item(e, body, k, changed);
	}
	return err;
}

struct ending {
	size_t at;
	bool found;
};

/* The first command behind which nothing of the file runs. */
static int find_ending(void *ctx, const struct rc_cmd *cmd)
{
	struct ending *end = ctx;

	if (!rc_ends(cmd))
		return 0;
	end->at = cmd->list_at;
	end->found = true;
	return 1;
}

/* Where a new block goes. */
static int find_place(const struct edit *e, size_t *at)
{
	const struct profile_change *c = e->change;
	struct ending end = {.found = false};
	struct rc_visitor visitor = {.command = find_ending, .ctx = &end};
	int err;

	*at = e->n;
	if (c->top) {
		*at = 0;
		if (e->n > 1 && e->text[0] == '#' && e->text[1] == '!')
			*at = line_length(e->text, e->n, 0);
		return 0;
	}
	err = rc_scan(&e->source, &visitor);
	if (err < 0)
		return diag_errno(e->d, err, "startup file");
	if (end.found)
		*at = end.at;
	/* Never within a block: of its ends only one would be seen. */
	for (size_t i = 0; i < e->blocks->count; i++)
		if (*at > e->blocks->block[i].begin &&
			*at < e->blocks->block[i].end)
			*at = e->blocks->block[i].begin;
	if (end.found)
		return 0;
	if (err == RC_OPEN_HEREDOC && !c->force)
		return diag_fail(e->d, -EBADMSG,
			"ends within a here-document: what is put behind it "
			"would be its text");
	return 0;
}

/* How many newlines must come before a block at that place: one to end the
 * file's last line, and one more when a backslash would join the next line to
 * it. Before the end a line begins there, whatever the comment above ends in. */
static unsigned newlines_before(const struct edit *e, size_t at)
{
	unsigned nl = at && e->text[at - 1] != '\n';
	size_t end = at - (at && !nl), from = end;

	while (at == e->n && from && e->text[from - 1] == '\\')
		from--;
	return nl + ((end - from) & 1);
}

/* The block with that body, in its place or a new one. */
static int put_block(struct edit *e, struct buf *body)
{
	struct profile_block new = {.file = e->change->no_file};
	const struct profile_block *b = e->own ? e->own : &new;
	int err = e->own ? 0 : find_place(e, &new.begin);

	if (err)
		return err;
	buf_add(e->out, e->text, b->begin);
	if (!e->own) {
		new.end = new.begin;
		new.nl = newlines_before(e, new.begin);
		buf_add(e->out, "\n\n", new.nl);
	}
	profile_block_begin(e->out, e->change->id, b->nl, b->file);
	buf_add(e->out, body->data, body->len);
	profile_block_end(e->out, e->change->id);
	buf_add(e->out, e->text + b->end, e->n - b->end);
	return e->out->err;
}

/* The heir of "+file" when the file's other blocks are all that is left, and
 * of "+nl" when one follows at once; NULL: none. */
static const struct profile_block *block_heir(
	const struct edit *e, unsigned *nl, bool *file)
{
	const struct profile_block *b = e->own, *next = NULL;
	size_t covered = 0;

	for (size_t i = 0; i < e->blocks->count; i++) {
		const struct profile_block *o = &e->blocks->block[i];

		covered += o->end - o->begin;
		if (o != b && !next)
			next = o;
	}
	*file = b->file && next && covered == e->n;
	if (*file) {
		*nl = 0;
		return next;
	}
	for (size_t i = 0; i < e->blocks->count; i++) {
		const struct profile_block *o = &e->blocks->block[i];

		if (b->nl && o->begin == b->end) {
			*nl = b->nl;
			return o;
		}
	}
	return NULL;
}

static int remove_block(struct edit *e, enum profile_action *action)
{
	const struct profile_block *b = e->own;
	unsigned nl = 0;
	bool file = false;
	const struct profile_block *next = block_heir(e, &nl, &file);
	size_t before = b->begin, done = 0;

	*action = PROFILE_REMOVED;
	/* The newline before the block is only taken away while nothing follows
	 * the block. */
	for (unsigned i = 0; !next && i < b->nl && b->end == e->n && before &&
			     e->text[before - 1] == '\n';
		i++)
		before--;
	for (size_t i = 0; i < e->blocks->count; i++) {
		const struct profile_block *o = &e->blocks->block[i];

		if (o != b && o != next)
			continue;
		buf_add(e->out, e->text + done,
			(o == b ? before : o->begin) - done);
		if (o == next)
			profile_block_begin(e->out, o->id, o->nl + nl,
				o->file || file);
		done = o == next ? o->body : o->end;
	}
	buf_add(e->out, e->text + done, e->n - done);
	if (!next && b->file && !e->out->len)
		*action = PROFILE_UNLINKED;
	return e->out->err;
}

/* Takes the items' lines out of body. */
static int cut_items(struct edit *e, struct buf *body, bool *changed)
{
	const struct profile_change *c = e->change;
	autobuf struct buf kept = BUF_INIT(PROFILE_TEXT_MAX);
	size_t at = 0;

	while (at < body->len) {
		size_t len = line_length(body->data, body->len, at);
		bool cut = false;

		for (size_t i = 0; i < c->count && !cut; i++)
			cut = same_subject(e, &c->item[i], body->data, at, len);
		if (cut)
			*changed = true;
		else
			buf_add(&kept, body->data + at, len);
		at += len;
	}
	buf_clear(body);
	buf_add(body, kept.data, kept.len);
	return kept.err ? kept.err : body->err;
}

static int do_remove(
	struct edit *e, struct buf *body, enum profile_action *action)
{
	bool changed = false;
	int err;

	if (!e->own)
		return 0;
	if (e->change->count) {
		err = cut_items(e, body, &changed);
		if (err || !changed)
			return err;
		if (body->len) {
			*action = PROFILE_UPDATED;
			return put_block(e, body);
		}
	}
	return remove_block(e, action);
}

static int do_add(struct edit *e, struct buf *body, enum profile_action *action)
{
	bool changed = false;
	int err = merge_items(e, body, &changed);

	if (err || !changed)
		return err;
	*action = e->own ? PROFILE_UPDATED : PROFILE_ADDED;
	return put_block(e, body);
}

int profile_edit(const struct profile_change *change, const char *text,
	size_t n, struct buf *out, enum profile_action *action, struct diag *d)
{
	autofree struct profile_blocks *blocks = malloc(sizeof *blocks);
	autobuf struct buf body = BUF_INIT(PROFILE_TEXT_MAX);
	struct edit e = {.change = change,
		.source = {.text = text ? text : "",
			.len = n,
			.family = change->family,
			.zsh = change->zsh,
			.home = change->home},
		.text = text ? text : "",
		.n = n,
		.blocks = blocks,
		.out = out,
		.d = d};
	int err;

	*action = PROFILE_UNCHANGED;
	if (!blocks)
		return diag_errno(d, -ENOMEM, "startup file");
	if (n > PROFILE_TEXT_MAX)
		return diag_fail(
			d, -EFBIG, "larger than %d bytes", PROFILE_TEXT_MAX);
	err = profile_blocks_find(blocks, e.text, n, change->family, d);
	if (err)
		return err;
	e.own = profile_block_of(blocks, change->id);
	if (e.own)
		buf_add(&body, text + e.own->body,
			e.own->body_end - e.own->body);
	err = change->remove ? do_remove(&e, &body, action)
			     : do_add(&e, &body, action);
	if (err == -ENOBUFS)
		return diag_fail(d, -EFBIG, "would grow larger than %d bytes",
			PROFILE_TEXT_MAX);
	if (!err && *action == PROFILE_UNCHANGED)
		buf_add(out, e.text, n);
	return err;
}
