/* profile_recipe.h - what an installer's recipe asks of a shell
 * SPDX-License-Identifier: MIT
 *
 *	{
 *	  "shell_config": {
 *	    "path_append": ["$HOME/.cargo/bin"],
 *	    "env_vars": {"GOPATH": "$HOME/go"}
 *	  },
 *	  "post_env": "export PATH=\"$HOME/.cargo/bin:$PATH\""
 *	}
 */
#ifndef WARDBOX_PROFILE_RECIPE_H
#define WARDBOX_PROFILE_RECIPE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/diag.h"

enum { RECIPE_ITEMS = 64, RECIPE_MAX = 1 << 18 };

struct profile_recipe {
	char *dir[RECIPE_ITEMS];
	size_t dirs;
	char *pair[RECIPE_ITEMS]; /* NAME=VALUE */
	size_t pairs;
	char *post_env; /* or NULL */
};

void profile_recipe_release(struct profile_recipe *r);

/* Other keys of the recipe are somebody else's and passed over; an unknown key
 * within shell_config is refused, as something asked for would be left out.
 * -EINVAL with the place in d, -ENOMEM, -E2BIG. */
int profile_recipe_parse(
	struct profile_recipe *r, const char *text, size_t n, struct diag *d);

#endif
