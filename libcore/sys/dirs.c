/* dirs.c - cd, pushd, popd and dirs done to a saved state, without a shell
 * SPDX-License-Identifier: MIT
 */
#include "sys/dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/path.h"
#include "base/str.h"
#include "sys/userdb.h"

static const char *skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/* The length of the word of bytes that have no meaning in any shell; '~' only
 * counts where it leads. */
static size_t plain_word(const char *s)
{
	size_t n = *s == '~' ? 1 : 0;

	while (chr_alpha(s[n]) || chr_digit(s[n]) ||
		(s[n] && strchr("_./+@%-", s[n])))
		n++;
	return n;
}

enum dirs_verb dirs_parse(const char *line, char *word, size_t size)
{
	static const struct {
		char name[8];
		enum dirs_verb verb;
	} verbs[] = {{"cd", DIRS_CD}, {"pushd", DIRS_PUSHD},
		{"popd", DIRS_POPD}, {"dirs", DIRS_LIST}};
	enum dirs_verb verb = DIRS_NONE;
	size_t n;

	line = skip_blanks(line);
	n = strcspn(line, " \t\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strlen(verbs[i].name) == n &&
			memcmp(line, verbs[i].name, n) == 0)
			verb = verbs[i].verb;
	line = skip_blanks(line + n);
	n = plain_word(line);
	if (verb == DIRS_NONE || n >= size || *skip_blanks(line + n))
		return DIRS_NONE;
	memcpy(word, line, n);
	word[n] = '\0';
	if (verb == DIRS_LIST && (str_eq(word, "-c") || str_eq(word, "-p") ||
					 str_eq(word, "-v")))
		return verb;
	if (verb != DIRS_CD && strchr("+-", word[0]) && chr_digit(word[n - !!n]))
		return verb;
	if ((word[0] == '-' && word[1]) || (n && verb >= DIRS_POPD))
		return DIRS_NONE;
	/* bash knows "~-" and "~2"; and whether a name before ".." must exist
	 * differs between shells. */
	if (verb == DIRS_CD &&
		((*word == '~' && (word[1] == '+' || word[1] == '-' ||
					  chr_digit(word[1]))) ||
			str_find(word + strspn(word, "./"), "/..")))
		return DIRS_NONE;
	return verb;
}

/* The logical name of the state's directory. */
static const char *logical_name(const struct state *s)
{
	return s->pwd ? s->pwd : s->cwd ? s->cwd : "/";
}

/* The place that a word counts from the top of the stack, +N, or from its end,
 * -N. -EINVAL when it does neither, -ERANGE when there is no such place. */
static int place_of(const struct state *s, const char *word, size_t *at)
{
	uint64_t n;

	if ((word[0] != '+' && word[0] != '-') ||
		num_u64(word + 1, 0, UINT32_MAX, &n))
		return -EINVAL;
	if (n > s->dir_count)
		return -ERANGE;
	*at = word[0] == '+' ? (size_t)n : s->dir_count - (size_t)n;
	return 0;
}

static const char *at_place(const struct state *s, size_t at)
{
	return at ? s->dirs[at - 1] : logical_name(s);
}

/* Expands "~", "~/x", "~user/x" to out; other words are copied. */
static int expand_home(const char *word, const char *home, char *out,
	size_t size, struct diag *d)
{
	char user[64];
	size_t n = strcspn(word, "/");
	struct user entry;

	if (word[0] != '~')
		return str_copy(out, size, word);
	if (n == 1 && !home[0])
		return diag_fail(d, -ENOENT, "cd: HOME not set");
	if (n == 1)
		return path_join(out, size, home, word + 1 + (word[1] == '/'));
	if (n > sizeof user)
		return diag_fail(d, -ENOENT, "cd: no such user");
	memcpy(user, word + 1, n - 1);
	user[n - 1] = '\0';
	if (user_find("/etc/passwd", user, 0, &entry))
		return diag_fail(d, -ENOENT, "cd: %s: no such user", word);
	return path_join(out, size, entry.home, word + n + (word[n] == '/'));
}

int dirs_target(const struct state *s, enum dirs_verb verb, const char *word,
	const char *home, char *out, size_t size, struct diag *d)
{
	char named[STATE_PATH_MAX];
	size_t at = 0;
	int err;

	out[0] = '\0';
	err = verb == DIRS_CD ? -EINVAL : place_of(s, word, &at);
	if (err == -ERANGE)
		return diag_fail(d, err,
			"%s: %s: directory stack index out of range",
			verb == DIRS_PUSHD  ? "pushd"
			: verb == DIRS_POPD ? "popd"
					    : "dirs",
			word);
	if (verb == DIRS_LIST || (verb == DIRS_POPD && at))
		return 0;
	if (!err && verb == DIRS_PUSHD)
		return path_normal(out, size, "/", at_place(s, at));
	if (verb == DIRS_POPD || (verb == DIRS_PUSHD && !*word)) {
		if (!s->dir_count)
			return diag_fail(d, -ENOENT, "%s",
				verb == DIRS_POPD
					? "popd: directory stack empty"
					: "pushd: no other directory");
		return path_normal(out, size, "/", s->dirs[0]);
	}
	if (str_eq(word, "-")) {
		if (!s->old)
			return diag_fail(d, -ENOENT, "cd: OLDPWD not set");
		err = str_copy(named, sizeof named, s->old);
	} else {
		err = expand_home(
			*word ? word : "~", home, named, sizeof named, d);
		if (err)
			return err;
	}
	if (!err)
		err = path_normal(out, size, logical_name(s), named);
	return err ? diag_errno(d, err, "cd: %s", word) : 0;
}

/* Enters the directory called path into the state, if it can be entered. */
static int enter_dir(struct state *s, const char *path, struct diag *d)
{
	const int flags = O_PATH | O_DIRECTORY;
	char real[STATE_PATH_MAX];
	/* A path without a link is the kernel's name, too, so /proc need not be
	 * asked, which costs more than everything else here. */
	autofd int fd = path_openat2(
		AT_FDCWD, path, flags, 0, RESOLVE_NO_SYMLINKS);
	const bool plain = fd >= 0;
	int err = 0;

	if (fd < 0)
		fd = openat(AT_FDCWD, path, flags | O_CLOEXEC);
	if (fd < 0 || faccessat(fd, ".", X_OK, AT_EACCESS))
		err = -errno;
	if (!err)
		err = plain ? str_copy(real, sizeof real, path)
			    : path_of_fd(fd, real, sizeof real);
	if (err)
		return diag_errno(d, err, "cd: %s", path);
	err = state_path(&s->old, logical_name(s));
	if (!err)
		err = state_path(&s->cwd, real);
	if (!err)
		err = state_path(&s->pwd, path);
	return err;
}

static int list_stack(struct state *s, const char *word, struct buf *said)
{
	bool numbers = str_eq(word, "-v"), lines = numbers || str_eq(word, "-p");
	size_t at;

	if (str_eq(word, "-c")) {
		while (s->dir_count)
			free(state_take(s, 0));
		return 0;
	}
	if (place_of(s, word, &at) == 0) {
		buf_addf(said, "%s\n", at_place(s, at));
		return said->err;
	}
	for (at = 0; at <= s->dir_count; at++) {
		if (numbers)
			buf_addf(said, "%s%zu  ", at < 10 ? " " : "", at);
		buf_addf(said, "%s%c", at_place(s, at),
			lines || at == s->dir_count ? '\n' : ' ');
	}
	return said->err;
}

/* Rotates the stack after pushd +N; `before` was the top. */
static void rotate_stack(struct state *s, size_t times, char *before)
{
	while (times--) {
		char *top = s->dirs[0];

		memmove(s->dirs, s->dirs + 1,
			(s->dir_count - 1) * sizeof *s->dirs);
		s->dirs[s->dir_count - 1] = before;
		before = top;
	}
	free(before);
}

int dirs_apply(struct state *s, enum dirs_verb verb, const char *word,
	const char *home, struct buf *said, struct diag *d)
{
	autofree char *target = malloc(STATE_PATH_MAX), *before = NULL;
	size_t at = 0;
	bool counts = place_of(s, word, &at) == 0;
	int err = !target ? -ENOMEM
			  : dirs_target(s, verb, word, home, target,
				    STATE_PATH_MAX, d);

	if (err || verb == DIRS_LIST)
		return err ? err : list_stack(s, word, said);
	before = strdup(logical_name(s));
	err = !before ? -ENOMEM : *target ? enter_dir(s, target, d) : 0;
	if (err)
		return err;
	if (verb == DIRS_CD) {
		if (str_eq(word, "-"))
			buf_addf(said, "%s\n", target);
		return said->err;
	}
	if (counts && verb == DIRS_PUSHD) {
		rotate_stack(s, at, before);
		before = NULL;
		return list_stack(s, "", said);
	}
	if (verb == DIRS_POPD || !*word)
		free(state_take(s, at ? at - 1 : 0));
	if (verb == DIRS_PUSHD)
		err = state_push(s, before);
	return err ? err : list_stack(s, "", said);
}

void dirs_name(struct state *s, const char *pwd)
{
	struct stat here, named;

	state_path(&s->pwd, NULL);
	if (pwd && (str_eq(pwd, s->cwd) ||
			(pwd[0] == '/' && stat(pwd, &named) == 0 &&
				stat(s->cwd, &here) == 0 &&
				named.st_dev == here.st_dev &&
				named.st_ino == here.st_ino)))
		state_path(&s->pwd, pwd);
}

bool dirs_revive(struct state *s)
{
	struct stat st;
	bool gone = false;

	while (s->cwd && (stat(s->cwd, &st) || !S_ISDIR(st.st_mode))) {
		char *slash = strrchr(s->cwd, '/');

		gone = true;
		slash[slash == s->cwd] = '\0';
		if (slash == s->cwd)
			break;
	}
	if (gone)
		state_path(&s->pwd, NULL);
	return gone;
}
