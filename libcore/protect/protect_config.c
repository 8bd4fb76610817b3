/* protect_config.c - single settings taken out of a file, or given back
 * SPDX-License-Identifier: MIT
 */
#include "protect/protect_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/path.h"
#include "base/str.h"
#include "protect/gitconf.h"

enum { SETTINGS_MAX = 256 };

/* A setting that runs something. */
struct setting {
	const char *name, *value;
	size_t start, end;
	bool paired; /* both texts have it */
};

struct settings {
	const struct protect *p;
	const char *file;
	struct setting *item;
	size_t count;
	struct arena arena;
};

static void settings_release(struct settings *s)
{
	free(s->item);
	arena_release(&s->arena);
}
#define autosettings autoclean(settings_release)

static const char *settings_text(struct settings *s, const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = arena_bytes(&s->arena, n);

	return copy ? memcpy(copy, text, n) : NULL;
}

/* Is this the setting that git itself writes into a submodule's files: a
 * worktree within the project, and not where settings and hooks lie? */
static bool is_own_worktree(const struct settings *s,
	const struct gitconf_var *var)
{
	char to[PROTECT_PATH];

	return str_eq(var->name, "core.worktree") &&
		str_find(s->file, "/modules/") && var->value[0] != '/' &&
		protect_within(s->p, s->file, var->value, to) &&
		!str_after(to, ".git") && !str_find(to, "/.git");
}

static int settings_add(void *ctx, const struct gitconf_var *var)
{
	struct settings *s = ctx;
	struct setting *to;

	if (!s->p->spec->runs(s->p->spec->ctx, var->name, var->value) ||
		is_own_worktree(s, var))
		return 0;
	if (s->count == SETTINGS_MAX)
		return -E2BIG;
	if (!s->item)
		s->item = calloc(SETTINGS_MAX, sizeof *s->item);
	if (!s->item)
		return -ENOMEM;
	to = &s->item[s->count++];
	to->name = settings_text(s, var->name);
	to->value = settings_text(s, var->value);
	to->start = var->start;
	to->end = var->end;
	return to->name && to->value ? 0 : -ENOMEM;
}

static struct settings settings_of(const struct protect *p, const char *file)
{
	return (struct settings){.p = p,
		.file = file,
		.arena = ARENA_INIT(2 * GITCONF_TEXT_MAX)};
}

/* Pairs settings that both texts have, each once; the rest of now is new. */
static size_t settings_pair(struct settings *was, struct settings *now)
{
	size_t left = 0;

	for (size_t i = 0; i < now->count; i++) {
		struct setting *to = &now->item[i];

		for (size_t k = 0; k < was->count && !to->paired; k++) {
			struct setting *from = &was->item[k];

			to->paired = !from->paired &&
				str_eq(from->name, to->name) &&
				str_eq(from->value, to->value);
			from->paired |= to->paired;
		}
		left += !to->paired;
	}
	return left;
}

/* The former value of a setting with a new value. */
static const struct setting *settings_former(
	struct settings *was, const char *name)
{
	for (size_t k = 0; k < was->count; k++)
		if (!was->item[k].paired && str_eq(was->item[k].name, name)) {
			was->item[k].paired = true;
			return &was->item[k];
		}
	return NULL;
}

static void config_tell(const struct protect *p, const char *file, bool strict,
	const struct setting *s)
{
	char text[256];
	const struct protect_change change = {
		.name = file,
		.what = BUF_PRINT(text, "%.100s=%.150s", s->name, s->value),
		.aside = "",
		.strict = strict,
	};

	p->spec->found(p->spec->ctx, &change);
}

/* Takes the new settings out of b, last one first, so that offsets stay. A line
 * with nothing else goes with its setting. */
static void config_cut(struct settings *was, const char *former,
	struct settings *now, struct buf *b, struct buf *out)
{
	size_t at = 0;

	for (size_t i = 0; i < now->count; i++) {
		const struct setting *s = &now->item[i], *old;
		size_t start = s->start, end = s->end;

		if (s->paired)
			continue;
		old = settings_former(was, s->name);
		while (!old && start > at &&
			(b->data[start - 1] == ' ' || b->data[start - 1] == '\t'))
			start--;
		if (!old && (!start || b->data[start - 1] == '\n') &&
			end < b->len)
			end++;
		else if (!old)
			start = s->start;
		buf_add(out, b->data + at, start - at);
		if (old)
			buf_add(out, former + old->start, old->end - old->start);
		at = end;
	}
	buf_add(out, b->data + at, b->len - at);
}

int protect_config(struct protect *p, const struct protect_seen *was,
	const char *name, bool strict, struct buf *b)
{
	autosettings struct settings then = settings_of(p, name);
	autosettings struct settings now = settings_of(p, name);
	autosettings struct settings again = settings_of(p, name);
	autobuf struct buf out = BUF_INIT(2 * GITCONF_TEXT_MAX);
	int err = 0;

	if (was && was->mark.how == PROTECT_FILE && !was->mark.kept)
		return -EINVAL;
	if (was && was->mark.how == PROTECT_FILE)
		err = gitconf_read(was->text, was->mark.text_len, settings_add,
			&then);
	if (!err)
		err = gitconf_read(b->data, b->len, settings_add, &now);
	if (err)
		return err == -ENOMEM ? err : -EINVAL;
	if (!settings_pair(&then, &now))
		return 0;
	config_cut(&then, was ? was->text : "", &now, b, &out);
	/* The proof: the text to be written has none of them. */
	for (size_t k = 0; k < then.count; k++)
		then.item[k].paired = false;
	if (out.err || gitconf_read(out.data, out.len, settings_add, &again) ||
		settings_pair(&then, &again))
		return -EINVAL;
	for (size_t i = 0; i < now.count; i++)
		if (!now.item[i].paired)
			config_tell(p, name, strict, &now.item[i]);
	buf_clear(b);
	buf_add(b, out.data, out.len);
	return b->err ? -EINVAL : 1;
}

/* Finds the bytes of a member of the top object, itself an object; empty when
 * there is no such member. */
static int member_find(struct json_doc *doc, const char *text, size_t n,
	const char *member, size_t *at, size_t *len)
{
	const size_t bom = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	uint32_t node;
	int err = json_read(doc, text + bom, n - bom, NULL);

	if (err)
		return err;
	node = json_find(doc, 0, member);
	*at = node ? bom + doc->node[node].at : 0;
	*len = node ? doc->node[node].len : 0;
	/* A string's span lies between its quotes. */
	return node && json_type(doc, node) != JSON_OBJECT ? -EINVAL : 0;
}

int protect_member(const struct protect_seen *was, const char *member,
	struct buf *b)
{
	autojson struct json_doc then = {0}, now = {0};
	autobuf struct buf out = BUF_INIT(2 * PROTECT_FILE_MAX);
	size_t at = 0, len = 0, at1 = 0, len1 = 0;

	if (!was->mark.kept || was->mark.how != PROTECT_FILE ||
		member_find(&then, was->text, was->mark.text_len, member, &at,
			&len) ||
		member_find(&now, b->data, b->len, member, &at1, &len1))
		return -EINVAL;
	if (len == len1 && !memcmp(was->text + at, b->data + at1, len))
		return 0;
	if (!len || !len1)
		return -EINVAL;
	buf_add(&out, b->data, at1);
	buf_add(&out, was->text + at, len);
	buf_add(&out, b->data + at1 + len1, b->len - at1 - len1);
	buf_clear(b);
	buf_add(b, out.data, out.len);
	return out.err || b->err ? -EINVAL : 1;
}
