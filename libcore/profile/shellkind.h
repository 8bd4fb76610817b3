/* shellkind.h - which shell a name means, and what its language is
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHELLKIND_H
#define WARDBOX_SHELLKIND_H

#include <stdbool.h>

enum shell_kind {
	SHELL_UNKNOWN,
	SHELL_SH,
	SHELL_DASH,
	SHELL_ASH,
	SHELL_BASH,
	SHELL_ZSH,
	SHELL_MKSH,
	SHELL_KSH,
	SHELL_FISH,
	SHELL_TCSH,
	SHELL_CSH,
	SHELL_NU,
	SHELL_ELVISH,
	SHELL_XONSH,
	SHELL_PWSH,
	SHELL_NOLOGIN, /* nologin, false, git-shell: no shell at all */
	SHELL_KINDS,
};

/* How lines for it are written. */
enum shell_family {
	FAMILY_NONE,
	FAMILY_SH,
	FAMILY_FISH,
	FAMILY_CSH,
	FAMILY_NU,
	FAMILY_ELVISH,
	FAMILY_XONSH,
	FAMILY_PWSH,
};

/* From a path or an argv[0] ("/usr/bin/rbash", "-zsh", "bash-5.2"). restricted
 * (may be NULL) is set to whether the name asks for the restricted form. */
enum shell_kind shellkind_of(const char *name, bool *restricted);

const char *shellkind_name(enum shell_kind kind);
enum shell_family shellkind_family(enum shell_kind kind);

/* The kind named exactly so ("bash"), or SHELL_UNKNOWN: for options. */
enum shell_kind shellkind_named(const char *name);

/* Has it startup files that a profile writer may edit? nushell, elvish, xonsh
 * and pwsh only get lines printed. */
bool shellkind_writable(enum shell_kind kind);

#endif
