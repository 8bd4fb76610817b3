/* drop_bwrap.c - what bwrap's command lines mean here
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/* Does the word behind this option belong to it? */
static bool takes_next(const char *word)
{
	const struct cli_opt *opt = drop_cli.opts;

	for (size_t i = drop_cli.opt_count; i; i--, opt++) {
		const char *name = opt->text;

		if (word[1] == '-' ? str_eq(word + 2, name)
				   : opt->letter == word[1] && !word[2])
			return *cli_part(name);
	}
	return false;
}

/* bwrap's words, and what they are here. It names a path twice, inside and
 * outside; here they are one. Devices are always granted; what a namespace of
 * users, host names or control groups keeps apart is not there to be changed. */
static const struct bwrap {
	char word[15], at[6]; /* at: the only path that it may have */
	uint8_t access, args;
} bwrap[] = {
	{"ro-bind", "", SANDBOX_ROX, 2},
	{"bind", "", SANDBOX_RWX, 2},
	{"dev-bind", "", SANDBOX_RWX, 2},
	{"setenv", "", 0, 2},
	{"proc", "/proc", SANDBOX_RO, 1},
	{"dev", "/dev", 0, 1},
	{"unshare-user", "", 0, 0},
	{"unshare-uts", "", 0, 0},
	{"unshare-cgroup", "", 0, 0},
};

/* The word, and whether a path of it may be missing. */
static const struct bwrap *bwrap_find(const char *option, bool *try)
{
	for (size_t i = 0; i < ARRAY_SIZE(bwrap); i++) {
		const char *rest = str_after(
			option + strspn(option, "-"), bwrap[i].word);

		*try = rest && *rest;
		if (rest && (!*rest || str_eq(rest, "-try")))
			return &bwrap[i];
	}
	return NULL;
}

/* Joins the two words of --setenv to "NAME=VALUE". */
static char *setenv_word(struct drop *o, char **at)
{
	size_t n = strlen(at[1]) + strlen(at[2]) + 2;
	struct buf b = {.data = arena_bytes(&o->strings, n),
		.cap = n,
		.max = n - 1};

	if (!b.data)
		cli_die(EXIT_OURS, "%s: out of memory", at[0]);
	buf_addf(&b, "%s=%s", at[1], at[2]);
	return (char *)(uintptr_t)buf_str(&b);
}

/* Grants the path as it is: a comma belongs to its name. */
static void grant_path(
	struct drop *o, const struct bwrap *w, bool try, char **at)
{
	if (!str_eq(at[1], w->args == 2 ? at[2] : w->at))
		cli_die(EXIT_OURS, "%s: needs %s", at[0],
			w->args == 2 ? "the same path twice, shown where it is"
				     : w->at);
	if (w->access && sandbox_grant(&o->plan, at[1], w->access, try,
				 at[0]) < 0)
		cli_die(EXIT_OURS, "%s: too many grants", at[0]);
	o->granted |= w->access;
}

int drop_fold_bwrap(struct drop *o, int argc, char **argv)
{
	bool shared = false, try;
	int out = 1, i = 1;

	while (i < argc && argv[i][0] == '-' && !str_eq(argv[i], "--")) {
		const struct bwrap *w = bwrap_find(argv[i], &try);
		int words = w ? w->args : takes_next(argv[i]);

		if (w && i + words >= argc)
			cli_die(EXIT_OURS, "%s: needs %d words", argv[i], words);
		if (!w) {
			argv[out++] = argv[i];
			if (words && i + 1 < argc)
				argv[out++] = argv[i + 1];
		} else if (str_eq(w->word, "setenv")) {
			argv[out++] = (char *)(uintptr_t)"--env";
			argv[out++] = setenv_word(o, argv + i);
		} else if (words) {
			grant_path(o, w, try, argv + i);
		}
		/* For bwrap the later of the two options counts; drop refuses
		 * both together. */
		o->unshare_net |= shared && str_eq(argv[i], "--unshare-all");
		shared |= str_eq(argv[i], "--share-net");
		i += 1 + words;
	}
	while (i < argc)
		argv[out++] = argv[i++];
	argv[out] = NULL;
	return out;
}
