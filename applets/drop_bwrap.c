/* drop_bwrap.c - what bwrap's command lines mean here
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <string.h>

#include "buf.h"
#include "str.h"

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
	char word[16], to[6];
	uint8_t args;
} bwrap[] = {
	{"ro-bind", "--rox", 2},
	{"bind", "--rwx", 2},
	{"dev-bind", "--rwx", 2},
	{"setenv", "--env", 2},
	{"proc", "--ro", 1},
	{"dev", "", 1},
	{"unshare-user", "", 0},
	{"unshare-uts", "", 0},
	{"unshare-cgroup", "", 0},
};

static const struct bwrap *bwrap_find(const char *option)
{
	for (size_t i = 0; i < ARRAY_SIZE(bwrap); i++) {
		const char *rest = str_after(
			option + strspn(option, "-"), bwrap[i].word);

		if (rest && (!*rest || str_eq(rest, "-try")))
			return &bwrap[i];
	}
	return NULL;
}

/* The one word that becomes of those behind the option. */
static char *bwrap_word(struct drop *o, const struct bwrap *w, char **at)
{
	if (str_eq(w->to, "--env")) {
		size_t n = strlen(at[1]) + strlen(at[2]) + 2;
		struct buf b = {.data = arena_bytes(&o->strings, n),
			.cap = n,
			.max = n - 1};

		if (!b.data)
			cli_die(EXIT_OURS, "%s: out of memory", at[0]);
		buf_addf(&b, "%s=%s", at[1], at[2]);
		return (char *)(uintptr_t)buf_str(&b);
	}
	if (w->args == 2 ? !str_eq(at[1], at[2]) :
			   !*w->to && !str_eq(at[1], "/dev"))
		cli_die(EXIT_OURS,
			"%s: needs the same path twice, shown where it is",
			at[0]);
	return at[1];
}

int drop_fold_bwrap(struct drop *o, int argc, char **argv)
{
	int out = 1, i = 1;

	while (i < argc && argv[i][0] == '-' && !str_eq(argv[i], "--")) {
		const struct bwrap *w = bwrap_find(argv[i]);
		int words = w ? w->args : takes_next(argv[i]);

		if (w && i + words >= argc)
			cli_die(EXIT_OURS, "%s: needs %d words", argv[i], words);
		if (!w) {
			argv[out++] = argv[i];
			if (words && i + 1 < argc)
				argv[out++] = argv[i + 1];
		} else if (words) {
			char *word = bwrap_word(o, w, argv + i);

			/* cli_parse only reads it. */
			if (*w->to) {
				argv[out++] = (char *)(uintptr_t)w->to;
				argv[out++] = word;
			}
		}
		i += 1 + words;
	}
	while (i < argc)
		argv[out++] = argv[i++];
	argv[out] = NULL;
	return out;
}
