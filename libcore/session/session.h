/* session.h - which session a command belongs to, and what the session keeps
 * SPDX-License-Identifier: MIT
 *
 *	struct session_where w = {.id = ..., .file = ..., .cwd = cwd,
 *		.workspace = root, .uid = geteuid()};
 *	struct session_name name;
 *
 *	session_resolve(&w, true, &name, &d)	the id, made when there is none
 *	dir = session_dir(&w, true, NULL, &d)	where the sessions' files are
 *	session_load(dir, w.uid, name.id, &state, &d)
 *	session_save(dir, name.id, &state, &d)
 *
 * Nothing is opened or made before the first call: a shim that only passes
 * through leaves no trace.
 */
#ifndef WARDBOX_SESSION_H
#define WARDBOX_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/diag.h"
#include "sys/state.h"

enum {
	SESSION_ID_MAX = 128,	 /* bytes of an id, without the NUL */
	SESSION_CALLER_SIZE = 9,
	SESSION_COUNT_MAX = 65536, /* sessions of a user that a list shows */
	SESSION_BASE_MAX = STATE_PATH_MAX,
	SESSION_CGROUPS_MAX = 16384,
};
#define SESSION_DEFAULT "session-default"

/* Facts that the caller knows. Values of variables are passed in; NULL or "" is
 * an unset one. */
struct session_where {
	const char *id;        /* WARDBOX_SESSION_ID */
	const char *file;      /* WARDBOX_SESSION_FILE */
	const char *cwd;       /* absolute */
	const char *workspace; /* the project's root; NULL: cwd */
	bool real;             /* cwd is the kernel's name: without links */
	uid_t uid;             /* the effective user, whose sessions are
				* meant */
	int own; /* BASE/<uid> from session_base(); 0: not opened yet */
	int dir; /* its "sessions" from session_dir(); 0: not opened yet */
	/* Possible state bases, NULL-terminated; NULL: /run/wardbox,
	 * /tmp/wardbox-UID. WORKSPACE/.wardbox is always the last. */
	const char *const *bases;
	/* In a guarded tree, where none of these is the command's, what stands
	 * for them all: its TMPDIR, or "". NULL: not in one. */
	const char *guarded;
	/* The text of /proc/self/cgroup, where it was read already; NULL. */
	const char *cgroups;
	/* From sha256_pick(), where it was asked already; NULL: portable. */
	const struct br_hash_class_ *sha;
};

enum session_source {
	SESSION_BY_ID,        /* WARDBOX_SESSION_ID */
	SESSION_BY_FILE,      /* WARDBOX_SESSION_FILE */
	SESSION_BY_WORKSPACE, /* the workspace's file under the state base */
	SESSION_BY_DEFAULT,   /* no place could be written */
};

struct session_name {
	char id[SESSION_ID_MAX + 1];
	enum session_source source;
	bool fresh; /* made by this call */
};

/* "id" "file" "workspace" "default". */
const char *session_source_name(enum session_source source);

/* A letter or digit, then letters, digits, '-' and '_', at most 128 in all:
 * safe as a file's name. */
bool session_id_valid(const char *id);

/* 0, or -EINVAL with a message that begins with what. */
int session_id_check(const char *what, const char *id, struct diag *d);

/* A new id, "session-" and a random UUID. */
int session_id_make(char id[static SESSION_ID_MAX + 1]);

/* The four steps: the id itself; the one-line file (made under a lock when
 * missing); the workspace's file under the state base, keyed by the real path,
 * device and inode of the workspace, the host's name and the control group,
 * made under a lock when missing; "session-default".
 *
 * A variable that is set counts: a value that is no id, or a file that is a
 * symlink, someone else's or writable by others, is an error (-EINVAL,
 * -EPERM), not a reason to take another session. Without make nothing is
 * created or locked, and -ENOENT means that there is no session yet. */
int session_resolve(const struct session_where *w, bool make,
	struct session_name *out, struct diag *d);

/* The state base of the user: the first of the places that is there, else the
 * first that can be made, with a private directory named after the uid in it. Returns a descriptor of
 * BASE/<uid> and writes BASE to base (SESSION_BASE_MAX bytes, or NULL).
 * A symlink, a base owned by someone else or writable by others without the
 * sticky bit is passed over; below /tmp it is refused: -EPERM. -ENOENT with d telling why of the last one. */
int session_base(const struct session_where *w, bool make, char *base,
	struct diag *d);

/* Eight hex digits that tell the caller's login or container from others on the
 * same machine; the logins of one user are one. */
void session_caller(const struct session_where *w,
	char out[static SESSION_CALLER_SIZE]);

/* Reads what .cgroups takes; "" where it cannot be read. */
const char *session_cgroups(struct buf *text);

/* BASE/<uid>/sessions, the same way. */
int session_dir(const struct session_where *w, bool make, char *base,
	struct diag *d);

/* Makes the session the one that the workspace resolves to from now on. */
int session_bind(const struct session_where *w, int dir, const char *id,
	struct diag *d);

/* The saved state of a session; -ENOENT when nothing was saved, and s is then
 * the empty state, good to be filled and saved. dir is from session_dir. */
int session_load(int dir, uid_t uid, const char *id, struct state *s,
	struct diag *d);
/* Saves it atomically; the last writer wins, no reader sees a mix. */
int session_save(int dir, const char *id, const struct state *s,
	struct diag *d);

/* The same of what a command made of s; see state_update(). */
int session_update(int dir, uid_t uid, const char *id, struct state *s,
	struct diag *d);

/* Keeps other writers out between load and save; released by closing. Waits at
 * most two seconds: -ETIMEDOUT. A descriptor. Runs of commands never hold it. */
int session_lock(int dir, struct diag *d);

/* Makes a session with that state's workspace and cwd. -EEXIST. */
int session_create(int dir, const char *id, const struct state *s,
	struct diag *d);

/* Takes the session's state and every workspace's claim on it away. -ENOENT
 * when there was neither. */
int session_end(int dir, uid_t uid, const char *id, struct diag *d);

struct session_list {
	char (*id)[SESSION_ID_MAX + 1]; /* in byte order */
	size_t count;
};
#define SESSION_LIST_INIT ((struct session_list){0})
void session_list_release(struct session_list *l);
#define autosessions autoclean(session_list_release)

/* The ids of all sessions that have a state or a workspace. */
int session_list(int dir, struct session_list *l, struct diag *d);

#endif
