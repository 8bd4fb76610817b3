/* auto-shebang.h - what the files of the applet share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_AUTO_SHEBANG_H
#define WARDBOX_AUTO_SHEBANG_H

#include <stdbool.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "shebang/shebang.h"

extern const struct cli_spec auto_shebang_spec;

struct auto_shebang {
	bool debug, json, dry_run, force;
	/* What to do. */
	bool resolve, check, list, init, sh_lib, version;
};

/* One search: *code is an enum shebang_code, nothing is printed yet but the
 * trace, when debug or AUTO_SHEBANG_DEBUG asks for it. watch may be NULL. The
 * result is overwritten by the next search. */
const struct shebang *auto_shebang_search(const char *name, const char *script,
	bool debug, const struct shebang_watch *watch, int *code);

/* Can path serve as an interpreter? */
enum shebang_verdict auto_shebang_judge(const char *path);

/* "NAME: text" on stderr. */
__attribute__((format(printf, 2, 3))) void auto_shebang_say(
	const char *name, const char *fmt, ...);

/* What went wrong, in the compatible script's words. */
void auto_shebang_tell(const struct shebang *s, int code);

/* The facts of a search as a JSON object on stdout; candidates is JSON already,
 * or NULL. */
void auto_shebang_json(
	const struct shebang *s, int code, struct buf *candidates);

int auto_shebang_list(
	const char *name, const char *script, const struct auto_shebang *o);
int auto_shebang_init(int argc, char **argv, const struct auto_shebang *o);
int auto_shebang_sh_lib(void);

#endif
