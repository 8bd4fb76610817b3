/* dirs.c - cd, pushd, popd and dirs done to a saved state, without a shell
 * SPDX-License-Identifier: MIT
 */
#include "dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"
#include "str.h"
#include "userdb.h"

static const char *skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/* What no shell gives a meaning inside of a word; '~' only where it leads. */
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
	if (word[0] == '-' && word[1])
		return DIRS_NONE;
	if (n && verb >= DIRS_POPD)
		return DIRS_NONE;
	return verb;
}

/* The logical name of where s stands. */
static const char *here(const struct state *s)
{
	return s->pwd ? s->pwd : s->cwd ? s->cwd : "/";
}

/* "~", "~/x", "~user/x" → out; another word as it is. */
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
	int err;

	out[0] = '\0';
	if (verb == DIRS_LIST)
		return 0;
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
		err = path_normal(out, size, here(s), named);
	return err ? diag_errno(d, err, "cd: %s", word) : 0;
}

/* Stands s at the directory called path, when that can be entered. */
static int enter(struct state *s, const char *path, struct diag *d)
{
	char real[STATE_PATH_MAX];
	autofd int fd = openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;

	if (!err && faccessat(fd, ".", X_OK, AT_EACCESS))
		err = -errno;
	if (!err)
		err = path_of_fd(fd, real, sizeof real);
	if (err)
		return diag_errno(d, err, "cd: %s", path);
	err = state_path(&s->old, here(s));
	if (!err)
		err = state_path(&s->cwd, real);
	if (!err)
		err = state_path(&s->pwd, path);
	return err;
}

static int list(const struct state *s, struct buf *said)
{
	buf_adds(said, here(s));
	for (size_t i = 0; i < s->dir_count; i++)
		buf_addf(said, " %s", s->dirs[i]);
	buf_addc(said, '\n');
	return said->err;
}

int dirs_apply(struct state *s, enum dirs_verb verb, const char *word,
	const char *home, struct buf *said, struct diag *d)
{
	autofree char *target = malloc(STATE_PATH_MAX), *before = NULL;
	int err = !target ? -ENOMEM
			  : dirs_target(s, verb, word, home, target,
				    STATE_PATH_MAX, d);

	if (err || verb == DIRS_LIST)
		return err ? err : list(s, said);
	before = strdup(here(s));
	err = before ? enter(s, target, d) : -ENOMEM;
	if (err)
		return err;
	if (verb == DIRS_CD) {
		if (str_eq(word, "-"))
			buf_addf(said, "%s\n", target);
		return said->err;
	}
	if (verb == DIRS_POPD || !*word)
		free(state_take(s, 0));
	if (verb == DIRS_PUSHD)
		err = state_push(s, before);
	return err ? err : list(s, said);
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
