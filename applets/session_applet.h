/* session_applet.h - what the parts of the session applet share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SESSION_APPLET_H
#define WARDBOX_SESSION_APPLET_H

#include <limits.h>

#include "cli/cli.h"
#include "cli/cli_guard.h"
#include "session/session.h"

struct session_opts {
	bool json, null, here, all, dry_run;
	struct cli_list unset;
	const char *cwd;
	uint64_t older;
};

/* Fills w from the process's environment and the project of its
 * directory, which stays until the next call. */
void session_where_am_i(struct session_where *w);

/* The sessions' directory; with make it is made or the applet ends, without it
 * is negative when there is none. */
int session_open(const struct session_where *w, bool make);

/* Picks the session that id names, or that of this place. Ends the applet when
 * there is no such session and make is not set. */
void session_pick(const struct session_where *w, const char *id, bool make,
	struct session_name *name);

/* The operand of the verb, or NULL; more than one operand ends the applet. */
const char *session_operand(int argc, char **argv);

/* A session that was just made, as JSON. */
void session_print_made(
	struct buf *out, const char *id, const struct state *s);

void session_print_env(
	const struct state *s, const struct session_opts *o, struct buf *out);
/* Adds the programs that commands of the session left running: rows for people,
 * or an array. dir may be negative. */
void session_add_programs(struct buf *out, int dir, const char *id);
void session_json_programs(struct json *j, int dir, const char *id);
/* "3 m", "2 h": how long ago; "-" when never. */
void session_add_age(struct buf *out, uint64_t then, uint64_t now);

int session_run_stop(void *into, int argc, char **argv);
int session_run_list(void *into);
int session_run_show(void *into, int argc, char **argv);

#endif
