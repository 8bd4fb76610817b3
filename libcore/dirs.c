/* dirs.c - cd, pushd, popd and dirs done to a saved state, without a shell
 * SPDX-License-Identifier: MIT
 */
#include "dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"
#include "str.h"

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
	struct passwd *entry;

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
	entry = getpwnam(user);
	if (!entry)
		return diag_fail(d, -ENOENT, "cd: %s: no such user", word);
	return path_join(out, size, entry->pw_dir, word + n + (word[n] == '/'));
}

/* Stands s at the directory called logical, when that can be entered. */
static int enter(struct state *s, const char *logical, struct diag *d)
{
	char path[STATE_PATH_MAX], real[STATE_PATH_MAX];
	autofd int fd = -1;
	int err = path_normal(path, sizeof path, here(s), logical);

	if (!err) {
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		err = fd < 0 ? -errno : 0;
	}
	if (!err && faccessat(fd, ".", X_OK, AT_EACCESS))
		err = -errno;
	if (!err)
		err = path_of_fd(fd, real, sizeof real);
	if (err)
		return diag_errno(d, err, "cd: %s", logical);
	err = env_set(&s->env, "OLDPWD", here(s));
	if (!err)
		err = state_path(&s->cwd, real);
	if (!err)
		err = state_path(&s->pwd, path);
	return err;
}

static int change(struct state *s, const char *word, const char *home,
	struct buf *said, struct diag *d)
{
	char target[STATE_PATH_MAX];
	const char *old = env_get(s->env.vec, "OLDPWD");
	int err;

	if (str_eq(word, "-")) {
		if (!old || !old[0])
			return diag_fail(d, -ENOENT, "cd: OLDPWD not set");
		err = str_copy(target, sizeof target, old);
	} else {
		err = expand_home(*word ? word : "~", home, target,
			sizeof target, d);
	}
	if (err)
		return d && d->text[0] ? err : diag_errno(d, err, "cd");
	err = enter(s, target, d);
	if (!err && str_eq(word, "-"))
		buf_addf(said, "%s\n", here(s));
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

/* Goes to the directory on top of the stack and takes it off. */
static int enter_top(struct state *s, const char *who, struct diag *d)
{
	autofree char *top = NULL;
	int err;

	if (!s->dir_count)
		return diag_fail(d, -ENOENT, "%s", who);
	err = enter(s, s->dirs[0], d);
	if (!err)
		top = state_take(s, 0);
	return err;
}

static int push(struct state *s, const char *word, const char *home,
	struct buf *said, struct diag *d)
{
	char before[STATE_PATH_MAX];
	int err;

	str_copy(before, sizeof before, here(s));
	if (*word) {
		err = change(s, word, home, said, d);
		buf_clear(said);
	} else {
		err = enter_top(s, "pushd: no other directory", d);
	}
	if (!err)
		err = state_push(s, before);
	return err ? err : list(s, said);
}

static int pop(struct state *s, struct buf *said, struct diag *d)
{
	int err = enter_top(s, "popd: directory stack empty", d);

	return err ? err : list(s, said);
}

int dirs_apply(struct state *s, enum dirs_verb verb, const char *word,
	const char *home, struct buf *said, struct diag *d)
{
	switch (verb) {
	case DIRS_CD:
		return change(s, word, home, said, d);
	case DIRS_PUSHD:
		return push(s, word, home, said, d);
	case DIRS_POPD:
		return pop(s, said, d);
	case DIRS_LIST:
		return list(s, said);
	case DIRS_NONE:
		break;
	}
	return -EINVAL;
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
