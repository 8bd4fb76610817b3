/* shellkind.c - which shell a name means, and what its language is
 * SPDX-License-Identifier: MIT
 */
#include "profile/shellkind.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"

struct shell_row {
	char name[9];
	uint8_t family;
};

static const struct shell_row rows[SHELL_KINDS] = {
	[SHELL_UNKNOWN] = {"unknown", FAMILY_NONE},
	[SHELL_SH] = {"sh", FAMILY_SH},
	[SHELL_DASH] = {"dash", FAMILY_SH},
	[SHELL_ASH] = {"ash", FAMILY_SH},
	[SHELL_BASH] = {"bash", FAMILY_SH},
	[SHELL_ZSH] = {"zsh", FAMILY_SH},
	[SHELL_MKSH] = {"mksh", FAMILY_SH},
	[SHELL_KSH] = {"ksh", FAMILY_SH},
	[SHELL_FISH] = {"fish", FAMILY_FISH},
	[SHELL_TCSH] = {"tcsh", FAMILY_CSH},
	[SHELL_CSH] = {"csh", FAMILY_CSH},
	[SHELL_NU] = {"nu", FAMILY_NU},
	[SHELL_ELVISH] = {"elvish", FAMILY_ELVISH},
	[SHELL_XONSH] = {"xonsh", FAMILY_XONSH},
	[SHELL_PWSH] = {"pwsh", FAMILY_PWSH},
	[SHELL_NOLOGIN] = {"nologin", FAMILY_NONE},
};

/* Other names of the same shells. */
static const struct shell_alias {
	char name[16];
	uint8_t kind;
	uint8_t restricted;
} aliases[] = {
	{"busybox", SHELL_ASH, 0},
	{"false", SHELL_NOLOGIN, 0},
	{"git-shell", SHELL_NOLOGIN, 0},
	{"ksh93", SHELL_KSH, 0},
	{"lksh", SHELL_MKSH, 0},
	{"nushell", SHELL_NU, 0},
	{"oksh", SHELL_KSH, 0},
	{"pdksh", SHELL_KSH, 0},
	{"powershell", SHELL_PWSH, 0},
	{"rbash", SHELL_BASH, 1},
	{"rksh", SHELL_KSH, 1},
	{"rksh93", SHELL_KSH, 1},
	{"rmksh", SHELL_MKSH, 1},
	{"rzsh", SHELL_ZSH, 1},
	{"true", SHELL_NOLOGIN, 0},
};

enum shell_kind shellkind_named(const char *name)
{
	for (unsigned i = SHELL_UNKNOWN + 1; i < SHELL_KINDS; i++) {
		if (str_eq(rows[i].name, name))
			return (enum shell_kind)i;
	}
	return SHELL_UNKNOWN;
}

static enum shell_kind find_kind(const char *name, bool *restricted)
{
	enum shell_kind kind = shellkind_named(name);

	for (size_t i = 0; kind == SHELL_UNKNOWN && i < ARRAY_SIZE(aliases);
		i++) {
		if (!str_eq(aliases[i].name, name))
			continue;
		kind = (enum shell_kind)aliases[i].kind;
		*restricted = aliases[i].restricted;
	}
	return kind;
}

enum shell_kind shellkind_of(const char *name, bool *restricted)
{
	bool ignored;
	char plain[16];
	const char *base = path_base(name);
	enum shell_kind kind;
	size_t n;

	if (!restricted)
		restricted = &ignored;
	*restricted = false;
	base += *base == '-';
	kind = find_kind(base, restricted);
	if (kind != SHELL_UNKNOWN)
		return kind;
	/* bash-5.2, zsh5, ksh2020: a version behind the name. */
	n = strlen(base);
	while (n && (chr_digit(base[n - 1]) || base[n - 1] == '.'))
		n--;
	if (n && base[n - 1] == '-')
		n--;
	if (!n || n >= sizeof plain)
		return SHELL_UNKNOWN;
	memcpy(plain, base, n);
	plain[n] = '\0';
	return find_kind(plain, restricted);
}

const char *shellkind_name(enum shell_kind kind)
{
	return rows[kind].name;
}

enum shell_family shellkind_family(enum shell_kind kind)
{
	return (enum shell_family)rows[kind].family;
}

bool shellkind_writable(enum shell_kind kind)
{
	enum shell_family family = shellkind_family(kind);

	return family == FAMILY_SH || family == FAMILY_FISH ||
	       family == FAMILY_CSH;
}
