/* confinement_table.c - what each kind of confinement means to a user
 * SPDX-License-Identifier: MIT
 */
#include "profile/confinement.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/str.h"

/* In the order of the enum: the name of each, and a note. */
static const char texts[] =
	"snap-strict\0"
	"only the snap's own home can be written; no shell outside "
	"reads it\0"
	"snap-classic\0"
	"packages need sudo\0"
	"flatpak\0"
	"what is written stays within the sandbox\0"
	"selinux\0"
	"as far as the policy allows\0"
	"apparmor\0"
	"as far as the profile allows\0"
	"chroot\0"
	"packages need a package manager within; the files count here "
	"only\0"
	"container\0"
	"gone with the container; commands run in it read no startup "
	"file: --docker\0"
	"image-origin\0"
	"nothing is held back\0"
	"pid-namespace\0"
	"other processes are out of sight\0"
	"user-namespace\0"
	"root here is not root outside; some owners cannot be set\0"
	"seccomp\0"
	"some system calls fail\0"
	"no-new-privs\0"
	"sudo cannot work\0"
	"traced\0"
	"another process watches every call\0"
	"proot\0"
	"root is pretended; the files count within only\0"
	"wsl\0"
	"Windows directories follow in PATH\0"
	"initramfs\0"
	"the file system is in memory: all is lost at the end\0"
	"home-read-only\0"
	"the home directory cannot be written\0";

static const struct {
	uint8_t packages, user, profile; /* enum confinement_impact */
} rows[CONFINED_KINDS] = {
	[CONFINED_SNAP_STRICT] = {IMPACT_NO, IMPACT_MAYBE, IMPACT_NO},
	[CONFINED_SNAP_CLASSIC] = {IMPACT_YES, IMPACT_YES, IMPACT_YES},
	[CONFINED_FLATPAK] = {IMPACT_NO, IMPACT_MAYBE, IMPACT_NO},
	[CONFINED_SELINUX] = {IMPACT_YES, IMPACT_YES, IMPACT_YES},
	[CONFINED_APPARMOR] = {IMPACT_YES, IMPACT_YES, IMPACT_YES},
	[CONFINED_CHROOT] = {IMPACT_MAYBE, IMPACT_YES, IMPACT_YES},
	[CONFINED_CONTAINER] = {IMPACT_MAYBE, IMPACT_YES, IMPACT_MAYBE},
	[CONFINED_IMAGE_ORIGIN] = {IMPACT_YES, IMPACT_YES, IMPACT_YES},
	[CONFINED_PID_NAMESPACE] = {IMPACT_YES, IMPACT_YES, IMPACT_YES},
	[CONFINED_USER_NAMESPACE] = {IMPACT_MAYBE, IMPACT_YES, IMPACT_YES},
	[CONFINED_SECCOMP] = {IMPACT_MAYBE, IMPACT_YES, IMPACT_YES},
	[CONFINED_NO_NEW_PRIVS] = {IMPACT_NO, IMPACT_YES, IMPACT_YES},
	[CONFINED_TRACED] = {IMPACT_YES, IMPACT_YES, IMPACT_YES},
	[CONFINED_PROOT] = {IMPACT_MAYBE, IMPACT_YES, IMPACT_YES},
	[CONFINED_WSL] = {IMPACT_YES, IMPACT_YES, IMPACT_YES},
	[CONFINED_INITRAMFS] = {IMPACT_MAYBE, IMPACT_MAYBE, IMPACT_MAYBE},
	[CONFINED_HOME_READ_ONLY] = {IMPACT_YES, IMPACT_NO, IMPACT_NO},
};

const char *confinement_name(enum confinement_kind kind)
{
	return str_nth(texts, 2 * (size_t)kind);
}

static const char *note_of(enum confinement_kind kind)
{
	return str_nth(texts, 2 * (size_t)kind + 1);
}

static const char impacts[][6] = {"yes", "maybe", "no"};

bool confinement_forbids_profile(char *const *env, struct diag *d)
{
	struct confinement_source source = {.root = "", .env = env};
	autofree struct confinement *c = calloc(1, sizeof *c);

	if (!c)
		return false;
	confinement_detect(&source, c);
	for (size_t i = 0; i < c->count; i++) {
		const struct confinement_fact *f = &c->fact[i];

		/* A home that cannot be written says so when it is tried. */
		if (!f->confined || f->kind == CONFINED_HOME_READ_ONLY ||
			rows[f->kind].profile != IMPACT_NO)
			continue;
		diag_fail(d, -EPERM,
			"in a sandbox (%s): %s\036"
			"run it outside; --force writes all the same",
			confinement_name(f->kind), note_of(f->kind));
		return true;
	}
	return false;
}

void confinement_text(struct buf *out, const struct confinement *c)
{
	if (!c->count)
		buf_adds(out, "nothing confines this process\n");
	for (size_t i = 0; i < c->count; i++) {
		const struct confinement_fact *f = &c->fact[i];

		buf_addf(out, "%s%s%s%s\n  because: %s\n", confinement_name(f->kind),
			f->detail[0] ? ": " : "", f->detail,
			f->confined ? "" : " (holds nothing back)",
			f->evidence);
		buf_addf(out, "  packages %s, user install %s, profile %s: %s\n",
			impacts[rows[f->kind].packages], impacts[rows[f->kind].user],
			impacts[rows[f->kind].profile], note_of(f->kind));
	}
}

void confinement_json(struct json *j, const struct confinement *c)
{
	json_open(j, '[');
	for (size_t i = 0; i < c->count; i++) {
		const struct confinement_fact *f = &c->fact[i];

		json_putf(j,
			"{ kind %s confined %d detail %s evidence %s "
			"package_install %s user_install %s profile_write %s "
			"note %s }",
			confinement_name(f->kind), f->confined,
			f->detail[0] ? f->detail : NULL, f->evidence,
			impacts[rows[f->kind].packages], impacts[rows[f->kind].user],
			impacts[rows[f->kind].profile], note_of(f->kind));
	}
	json_close(j);
}
