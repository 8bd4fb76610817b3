/* confinement.h - what already confines this process, and how one can tell
 * SPDX-License-Identifier: MIT
 *
 * Told by the kernel wherever it tells; files and variables that anybody can
 * set are named as such and decide nothing. Without privileges.
 */
#ifndef WARDBOX_CONFINEMENT_H
#define WARDBOX_CONFINEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/json.h"

enum confinement_kind {
	CONFINED_SNAP_STRICT,
	CONFINED_SNAP_CLASSIC,
	CONFINED_FLATPAK,
	CONFINED_SELINUX,
	CONFINED_APPARMOR,
	CONFINED_CHROOT,
	CONFINED_CONTAINER,
	CONFINED_IMAGE_ORIGIN,
	CONFINED_PID_NAMESPACE,
	CONFINED_USER_NAMESPACE,
	CONFINED_SECCOMP,
	CONFINED_NO_NEW_PRIVS,
	CONFINED_TRACED,
	CONFINED_PROOT,
	CONFINED_WSL,
	CONFINED_INITRAMFS,
	CONFINED_HOME_READ_ONLY,
	CONFINED_KINDS,
};

/* Does it still work? */
enum confinement_impact { IMPACT_YES, IMPACT_MAYBE, IMPACT_NO };

struct confinement_fact {
	enum confinement_kind kind;
	bool confined;      /* false: seen, but it holds nothing back */
	char evidence[192]; /* the file and what stands in it */
	char detail[64];    /* which container, which label; or "" */
};

struct confinement {
	struct confinement_fact fact[CONFINED_KINDS];
	size_t count;
};

struct confinement_source {
	const char *root; /* "" for this machine; else a tree with proc in it */
	char *const *env; /* of the process, for what only hints */
};

/* At most one fact per kind, in the order of the enum. */
void confinement_detect(
	const struct confinement_source *source, struct confinement *out);

const char *confinement_name(enum confinement_kind kind);

/* Would a startup file written from here be of no use? Then d says why. */
bool confinement_forbids_profile(char *const *env, struct diag *d);

/* The facts for a person, three lines each. */
void confinement_text(struct buf *out, const struct confinement *c);

/* The facts as a JSON array. */
void confinement_json(struct json *j, const struct confinement *c);

#endif
