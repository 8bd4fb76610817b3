/* confinement_table.c - what each kind of confinement means to a user
 * SPDX-License-Identifier: MIT
 */
#include "confinement.h"

#include <errno.h>

#include "cleanup.h"

static const char names[CONFINED_KINDS][16] = {
	[CONFINED_SNAP_STRICT] = "snap-strict",
	[CONFINED_SNAP_CLASSIC] = "snap-classic",
	[CONFINED_FLATPAK] = "flatpak",
	[CONFINED_SELINUX] = "selinux",
	[CONFINED_APPARMOR] = "apparmor",
	[CONFINED_CHROOT] = "chroot",
	[CONFINED_CONTAINER] = "container",
	[CONFINED_IMAGE_ORIGIN] = "image-origin",
	[CONFINED_PID_NAMESPACE] = "pid-namespace",
	[CONFINED_USER_NAMESPACE] = "user-namespace",
	[CONFINED_SECCOMP] = "seccomp",
	[CONFINED_NO_NEW_PRIVS] = "no-new-privs",
	[CONFINED_TRACED] = "traced",
	[CONFINED_PROOT] = "proot",
	[CONFINED_WSL] = "wsl",
	[CONFINED_INITRAMFS] = "initramfs",
	[CONFINED_HOME_READ_ONLY] = "home-read-only",
};

static const struct confinement_row rows[CONFINED_KINDS] = {
	[CONFINED_SNAP_STRICT] = {IMPACT_NO, IMPACT_MAYBE, IMPACT_NO,
		"only the snap's own home can be written; no shell outside "
		"reads it"},
	[CONFINED_SNAP_CLASSIC] = {IMPACT_YES, IMPACT_YES, IMPACT_YES,
		"packages need sudo"},
	[CONFINED_FLATPAK] = {IMPACT_NO, IMPACT_MAYBE, IMPACT_NO,
		"what is written stays within the sandbox"},
	[CONFINED_SELINUX] = {IMPACT_YES, IMPACT_YES, IMPACT_YES,
		"as far as the policy allows"},
	[CONFINED_APPARMOR] = {IMPACT_YES, IMPACT_YES, IMPACT_YES,
		"as far as the profile allows"},
	[CONFINED_CHROOT] = {IMPACT_MAYBE, IMPACT_YES, IMPACT_YES,
		"packages need a package manager within; the files count here "
		"only"},
	[CONFINED_CONTAINER] = {IMPACT_MAYBE, IMPACT_YES, IMPACT_MAYBE,
		"gone with the container; commands run in it read no startup "
		"file: --docker"},
	[CONFINED_IMAGE_ORIGIN] = {IMPACT_YES, IMPACT_YES, IMPACT_YES,
		"nothing is held back"},
	[CONFINED_PID_NAMESPACE] = {IMPACT_YES, IMPACT_YES, IMPACT_YES,
		"other processes are out of sight"},
	[CONFINED_USER_NAMESPACE] = {IMPACT_MAYBE, IMPACT_YES, IMPACT_YES,
		"root here is not root outside; some owners cannot be set"},
	[CONFINED_SECCOMP] = {IMPACT_MAYBE, IMPACT_YES, IMPACT_YES,
		"some system calls fail"},
	[CONFINED_NO_NEW_PRIVS] = {IMPACT_NO, IMPACT_YES, IMPACT_YES,
		"sudo cannot work"},
	[CONFINED_TRACED] = {IMPACT_YES, IMPACT_YES, IMPACT_YES,
		"another process watches every call"},
	[CONFINED_PROOT] = {IMPACT_MAYBE, IMPACT_YES, IMPACT_YES,
		"root is pretended; the files count within only"},
	[CONFINED_WSL] = {IMPACT_YES, IMPACT_YES, IMPACT_YES,
		"Windows directories follow in PATH"},
	[CONFINED_INITRAMFS] = {IMPACT_MAYBE, IMPACT_MAYBE, IMPACT_MAYBE,
		"the file system is in memory: all is lost at the end"},
	[CONFINED_HOME_READ_ONLY] = {IMPACT_YES, IMPACT_NO, IMPACT_NO,
		"the home directory cannot be written"},
};

const char *confinement_name(enum confinement_kind kind)
{
	return names[kind];
}

const struct confinement_row *confinement_means(enum confinement_kind kind)
{
	return &rows[kind];
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
		diag_fail(d, -EPERM, "in a sandbox (%s): %s", names[f->kind],
			rows[f->kind].note);
		diag_hint(d, "run it outside; --force writes all the same");
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
		const struct confinement_row *row = &rows[f->kind];

		buf_addf(out, "%s%s%s%s\n  because: %s\n", names[f->kind],
			f->detail[0] ? ": " : "", f->detail,
			f->confined ? "" : " (holds nothing back)",
			f->evidence);
		buf_addf(out, "  packages %s, user install %s, profile %s: %s\n",
			impacts[row->packages], impacts[row->user],
			impacts[row->profile], row->note);
	}
}

void confinement_json(struct json *j, const struct confinement *c)
{
	json_open(j, '[');
	for (size_t i = 0; i < c->count; i++) {
		const struct confinement_fact *f = &c->fact[i];
		const struct confinement_row *row = &rows[f->kind];

		json_putf(j,
			"{ kind %s confined %d detail %s evidence %s "
			"package_install %s user_install %s profile_write %s "
			"note %s }",
			names[f->kind], f->confined,
			f->detail[0] ? f->detail : NULL, f->evidence,
			impacts[row->packages], impacts[row->user],
			impacts[row->profile], row->note);
	}
	json_close(j);
}
