/* profile_recipe.c - what an installer's recipe asks of a shell
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_recipe.h"

#include <errno.h>
#include <string.h>

#include "base/json_read.h"
#include "base/str.h"

struct reading {
	struct profile_recipe *r;
	const struct json_doc *doc;
	struct diag *d;
};

void profile_recipe_release(struct profile_recipe *r)
{
	for (size_t i = 0; i < r->dirs; i++)
		free(r->dir[i]);
	for (size_t i = 0; i < r->pairs; i++)
		free(r->pair[i]);
	free(r->post_env);
	*r = (struct profile_recipe){0};
}

static int refuse_node(const struct reading *c, uint32_t node, const char *why)
{
	unsigned line, col;

	json_place(c->doc, node, &line, &col);
	diag_fail(c->d, -EINVAL, "%s", why);
	diag_at(c->d, "", line, col);
	return -EINVAL;
}

/* head (or "") and the node's text as one string. */
static int copy_text(
	const struct reading *c, const char *head, uint32_t node, char **out)
{
	autobuf struct buf b = BUF_INIT(65536);
	int err;

	buf_adds(&b, head);
	err = json_text(c->doc, node, &b);
	if (err == -EINVAL)
		return refuse_node(c, node, "expected a string without NUL");
	if (err)
		return refuse_node(c, node, "too long");
	*out = strdup(buf_str(&b));
	return *out ? 0 : diag_errno(c->d, -ENOMEM, "recipe");
}

static int read_dirs(struct reading *c, uint32_t list)
{
	if (json_type(c->doc, list) != JSON_ARRAY)
		return refuse_node(c, list, "path_append: expected a list");
	for (uint32_t i = json_first(c->doc, list); i;
		i = json_next(c->doc, i)) {
		int err;

		if (c->r->dirs == RECIPE_ITEMS)
			return refuse_node(c, i, "path_append: too many");
		err = copy_text(c, "", i, &c->r->dir[c->r->dirs]);
		if (err)
			return err;
		c->r->dirs++;
	}
	return 0;
}

static int read_vars(struct reading *c, uint32_t map)
{
	if (json_type(c->doc, map) != JSON_OBJECT)
		return refuse_node(c, map, "env_vars: expected an object");
	for (uint32_t k = json_first(c->doc, map); k;
		k = json_next(c->doc, k)) {
		autobuf struct buf name = BUF_INIT(1024);
		int err;

		if (c->r->pairs == RECIPE_ITEMS)
			return refuse_node(c, k, "env_vars: too many");
		if (json_text(c->doc, k, &name) ||
			!str_is_name(buf_str(&name), name.len))
			return refuse_node(
				c, k, "env_vars: no variable's name");
		buf_addc(&name, '=');
		err = copy_text(c, buf_str(&name), json_value(c->doc, k),
			&c->r->pair[c->r->pairs]);
		if (err)
			return err;
		c->r->pairs++;
	}
	return 0;
}

static int read_config(struct reading *c, uint32_t map)
{
	if (json_type(c->doc, map) != JSON_OBJECT)
		return refuse_node(c, map, "shell_config: expected an object");
	for (uint32_t k = json_first(c->doc, map); k;
		k = json_next(c->doc, k)) {
		uint32_t value = json_value(c->doc, k);
		int err;

		if (value == json_find(c->doc, map, "path_append"))
			err = read_dirs(c, value);
		else if (value == json_find(c->doc, map, "env_vars"))
			err = read_vars(c, value);
		else
			err = refuse_node(c, k,
				"shell_config has path_append and env_vars, "
				"and nothing else");
		if (err)
			return err;
	}
	return 0;
}

static int read_recipe(struct reading *c)
{
	uint32_t config, post;
	int err = 0;

	if (json_type(c->doc, 0) != JSON_OBJECT)
		return refuse_node(c, 0, "expected an object");
	config = json_find(c->doc, 0, "shell_config");
	post = json_find(c->doc, 0, "post_env");
	if (config && json_type(c->doc, config) != JSON_NULL)
		err = read_config(c, config);
	else if (!config && !post)
		/* The fragment by itself. */
		err = read_config(c, 0);
	if (!err && post && json_type(c->doc, post) != JSON_NULL)
		err = copy_text(c, "", post, &c->r->post_env);
	if (!err && !c->r->dirs && !c->r->pairs && !c->r->post_env)
		err = refuse_node(c, 0,
			"neither shell_config nor post_env says "
			"anything");
	return err;
}

int profile_recipe_parse(
	struct profile_recipe *r, const char *text, size_t n, struct diag *d)
{
	autojson struct json_doc doc = {0};
	struct reading c = {.r = r, .doc = &doc, .d = d};
	int err;

	*r = (struct profile_recipe){0};
	err = json_read(&doc, text, n, d);
	if (!err)
		err = read_recipe(&c);
	if (err)
		profile_recipe_release(r);
	return err;
}
