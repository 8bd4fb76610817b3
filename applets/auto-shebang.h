/* auto-shebang.h - what the files of the applet share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_AUTO_SHEBANG_H
#define WARDBOX_AUTO_SHEBANG_H

#include <stdbool.h>

#include "buf.h"
#include "cli.h"
#include "shebang.h"

extern const struct cli_spec auto_shebang_spec;

struct auto_shebang {
	bool debug, json, dry_run, force;
	/* What to do. */
	bool resolve, check, list, init, sh_lib, version;
};

/* One search; an enum shebang_code, messages not printed yet. The result lives
 * until the next one. With a candidate function, see struct shebang_watch. */
int auto_shebang_search(const struct shebang **found, const char *name,
	const char *script, const struct shebang_watch *watch);

/* A watch that prints the trace when asked for. arg of the watch is name. */
void auto_shebang_trace(void *arg, const char *line);

/* "NAME: text" on stderr. */
void auto_shebang_say(const char *name, const char *text);

/* What went wrong, in the compatible script's words. */
void auto_shebang_tell(const struct shebang *s, int code);

/* The facts of a search as a JSON object on stdout; candidates is JSON already,
 * or NULL. */
void auto_shebang_json(
	const struct shebang *s, int code, struct buf *candidates);

int auto_shebang_list(const char *name, const char *script, bool json);
int auto_shebang_init(int argc, char **argv, const struct auto_shebang *o);
int auto_shebang_sh_lib(void);

#endif
