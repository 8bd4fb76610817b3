/* policy_protect.c - what of a protected file counts
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "policy/policy_image.h"

enum { SETTING_MAX = 1 << 20, SETTING_NAME = 1200 };

/* Lowers the part before '=', because git reads names so. */
static void add_setting(struct buf *b, const char *text)
{
	size_t name = strcspn(text, "=");

	for (size_t i = 0; i < name; i++)
		buf_addc(b, (char)(text[i] >= 'A' && text[i] <= 'Z'
				? text[i] - 'A' + 'a' : text[i]));
	buf_adds(b, text + name);
}

/* Does the list of a layer have a pattern NAME or NAME=VALUE for the
 * setting? */
static bool list_has(const struct policy_image *img, const char *list,
	const char *setting)
{
	struct img_range r = img ? img_list(img, list)
				 : (struct img_range){.count = 0};
	const size_t name = strcspn(setting, "=");
	char only[SETTING_NAME];

	memcpy(only, setting, name);
	only[name] = '\0';
	for (uint32_t i = 0; i < r.count; i++) {
		char room[512];
		struct buf b = BUF_FIXED(room);

		add_setting(&b, img_ref(img, r, i));
		if (str_glob(buf_str(&b), strchr(room, '=') ? setting : only))
			return true;
	}
	return false;
}

/* The setting as git splits it into words: without quotes, with one kind of
 * white space. */
static void setting_words(struct buf *out, const char *setting)
{
	for (const char *s = setting; *s; s++)
		if (!strchr("'\"\\", *s))
			buf_addc(out, strchr("\t\n\v\f\r", *s) ? ' ' : *s);
}

/* NAME=VALUE, as list_has() takes it. False: the setting is too long. */
static bool make_setting(struct buf *b, const char *name, const char *value)
{
	add_setting(b, name);
	/* No list has a name with '=' in its subsection. */
	for (size_t i = 0; i < b->len; i++)
		if (b->data[i] == '=')
			b->data[i] = '?';
	buf_addc(b, '=');
	buf_adds(b, value);
	return !b->err && strlen(name) < SETTING_NAME;
}

bool policy_git_runs(const struct policy *p, const char *name, const char *value)
{
	autobuf struct buf b = BUF_INIT(SETTING_MAX);
	autobuf struct buf words = BUF_INIT(SETTING_MAX);
	const struct policy_image *sys = p->layer[POLICY_LAYER_SYSTEM];
	bool runs = false;

	if (!make_setting(&b, name, value))
		return true;
	setting_words(&words, buf_str(&b));
	if (words.err || list_has(sys, "git-arms", buf_str(&words)))
		return true;
	for (unsigned i = 0; i < POLICY_LAYERS && !runs; i++)
		runs = list_has(p->layer[i], "git-runs", buf_str(&b));
	return runs && !list_has(sys, "git-safe-keys", buf_str(&b));
}

bool policy_git_once(const struct policy *p, const char *name, const char *value)
{
	autobuf struct buf b = BUF_INIT(SETTING_MAX);

	return make_setting(&b, name, value) &&
	       list_has(p->layer[POLICY_LAYER_SYSTEM], "git-once", buf_str(&b));
}

const char *policy_protect_member(const struct policy *p, const char *file)
{
	for (unsigned l = 0; l < POLICY_LAYERS; l++) {
		const struct policy_image *img = p->layer[l];
		struct img_range r = img ? img_list(img, "protect-members")
					 : (struct img_range){.count = 0};

		for (uint32_t i = 0; i < r.count; i++) {
			const char *word = img_ref(img, r, i);
			const char *rest = str_after(word, file);

			if (rest && *rest == '=')
				return rest + 1;
		}
	}
	return NULL;
}
