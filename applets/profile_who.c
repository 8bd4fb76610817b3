/* profile_who.c - for whom, with which shell, with whose rights
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applet.h"
#include "sys/env.h"
#include "sys/file.h"
#include "base/num.h"
#include "base/path.h"
#include "sys/proc_text.h"
#include "profile.h"
#include "profile/profile_open.h"
#include "base/str.h"
#include "sys/userdb.h"

extern char **environ;

char **profile_environ(void)
{
	return environ;
}

bool profile_shell_given(const struct profile_opts *o)
{
	return o->shell && !str_eq(o->shell, "auto") &&
	       !str_eq(o->shell, "all");
}

static const char *env_value(const char *name)
{
	const char *value = env_get(environ, name);

	return value && *value ? value : NULL;
}

/* By name or number. */
static int named_user(const char *word, struct user *user)
{
	unsigned uid = 0;
	bool by_name = num_uint(word, 0, UINT_MAX - 1, &uid) != 0;

	return user_find("/etc/passwd", by_name ? word : NULL, uid, user);
}

/* Finds the user who became root by sudo and its like; false when nobody
 * did. */
static bool invoking_user(struct user *user)
{
	static const char names[][11] = {
		"SUDO_UID", "PKEXEC_UID", "DOAS_USER"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = env_value(names[i]);

		if (value && named_user(value, user) == 0)
			return user->uid != 0;
	}
	return false;
}

static void find_user(struct user *user, struct profile_who *who,
	const struct profile_opts *o)
{
	if (o->user) {
		if (named_user(o->user, user))
			cli_die(EXIT_USAGE, "no user '%s' in /etc/passwd",
				o->user);
		if (geteuid() != 0 && user->uid != geteuid())
			cli_die(PROFILE_EXIT_WRITE,
				"only root can work for another user");
		who->other = user->uid != geteuid();
		return;
	}
	if (geteuid() == 0 && !o->system && !o->home && !o->file &&
		invoking_user(user)) {
		who->other = true;
		return;
	}
	if (user_find("/etc/passwd", NULL, geteuid(), user))
		*user = (struct user){
			.uid = geteuid(), .gid = getegid(), .name = "nobody"};
}

static void find_home(struct profile_who *who, const struct user *user,
	const struct profile_opts *o)
{
	const char *home = o->home;

	if (!home && !who->other)
		home = env_value("HOME");
	if (!home || home[0] != '/')
		home = o->home ? o->home : user->home;
	if (o->home && home[0] != '/') {
		char cwd[1024];
		int err = path_cwd(cwd, sizeof cwd);

		if (!err)
			err = path_normal(
				who->home, sizeof who->home, cwd, home);
		if (err)
			cli_die(EXIT_USAGE, "--home %s: %s", home,
				strerror(-err));
		return;
	}
	if (str_copy(who->home, sizeof who->home, home))
		cli_die(EXIT_USAGE, "the home directory's name is too long");
}

/* Becomes uid for good: what happens from here on, a symlink in that user's
 * home included, happens with that user's rights. */
static void become_user(uid_t uid, gid_t gid)
{
	int err = user_become(uid, gid);

	if (err)
		cli_die(PROFILE_EXIT_WRITE,
			"cannot take the rights of uid %u: %s", uid,
			strerror(-err));
	/* The shells that get probed answer by way of /proc/PID/fd. */
	prctl(PR_SET_DUMPABLE, 1);
}

/* Gives up root's rights for those of the owner of the file or home. */
static void give_up_root(const struct profile_who *who, const struct user *user,
	const struct profile_opts *o)
{
	struct user owner = *user;
	const char *place = o->file ? o->file : who->home;
	char dir[1024];
	struct stat st;
	char *slash;

	if (geteuid() != 0 || o->system)
		return;
	if (who->other) {
		become_user(user->uid, user->gid);
		return;
	}
	if (str_copy(dir, sizeof dir, place))
		return;
	slash = strrchr(dir, '/');
	if (o->file)
		str_copy(slash ? slash : dir, 2, slash ? "" : ".");
	if (!*place || stat(*dir ? dir : "/", &st) || !st.st_uid)
		return;
	if (user_find("/etc/passwd", NULL, st.st_uid, &owner))
		owner = (struct user){.gid = st.st_gid};
	become_user(st.st_uid, owner.gid);
}

/* A name or argument of the process says: a restricted shell. */
static bool restricted_process(const char *cmdline, size_t n)
{
	bool restricted;
	enum shell_kind kind = shellkind_of(cmdline, &restricted);

	if (kind != SHELL_BASH && kind != SHELL_ZSH && kind != SHELL_MKSH &&
		kind != SHELL_KSH)
		return false;
	for (size_t at = strlen(cmdline) + 1; at < n && !restricted;
		at += strlen(cmdline + at) + 1) {
		const char *arg = cmdline + at;

		if (arg[0] != '-' || str_eq(arg, "-c") || str_eq(arg, "--"))
			break;
		restricted = str_eq(arg, "--restricted") ||
			     (arg[1] != '-' && strchr(arg, 'r'));
	}
	return restricted;
}

static pid_t parent_of(pid_t pid)
{
	char path[64];
	autobuf struct buf text = BUF_INIT(4096);

	BUF_PRINT(path, "/proc/%d/stat", (int)pid);
	if (file_read(AT_FDCWD, path, &text))
		return 0;
	return (pid_t)proc_number(proc_stat(buf_str(&text), 4));
}

void profile_who_parents(struct profile_who *who)
{
	pid_t pid = getppid();

	if (who->other || who->asked_parents)
		return;
	who->asked_parents = true;

	for (unsigned i = 0; i < 8 && pid > 1; i++) {
		char path[64];
		autobuf struct buf text = BUF_INIT(8192);
		enum shell_kind kind;
		const char *name;

		BUF_PRINT(path, "/proc/%d/cmdline", (int)pid);
		if (file_read(AT_FDCWD, path, &text) || !text.len)
			return;
		name = buf_str(&text);
		kind = shellkind_of(name, NULL);
		if (kind != SHELL_UNKNOWN && kind != SHELL_NOLOGIN) {
			if (!who->current[0])
				str_copy(who->current, sizeof who->current,
					shellkind_name(kind));
			who->restricted |= restricted_process(name, text.len);
		}
		pid = parent_of(pid);
	}
}

static bool try_shell(
	struct profile_who *who, const char *path, const char *source)
{
	bool restricted;
	enum shell_kind kind;

	if (!path || !*path)
		return false;
	kind = shellkind_of(path, &restricted);
	if (kind == SHELL_UNKNOWN ||
		str_copy(who->shell, sizeof who->shell, path))
		return false;
	who->kind = kind;
	who->source = source;
	who->restricted |= restricted;
	return true;
}

static void find_shell(struct profile_who *who, const struct user *user,
	const struct profile_opts *o)
{
	bool given = profile_shell_given(o);

	if (!(!who->other && try_shell(who, env_value("SHELL"), "SHELL")) &&
		!try_shell(who, user->shell, "passwd") &&
		!try_shell(who, "/bin/sh", "fallback"))
		who->kind = SHELL_SH;
	if (given) {
		enum shell_kind kind = shellkind_of(o->shell, NULL);

		if (kind != who->kind) {
			who->shell[0] = '\0';
			if (o->shell[0] == '/')
				str_copy(who->shell, sizeof who->shell,
					o->shell);
		}
		who->kind = kind;
		who->source = "option";
	}
	if (o->shell_flags && strchr(o->shell_flags, 'r'))
		who->restricted = true;
}

void profile_who_find(struct profile_who *who, struct profile_opts *o)
{
	struct user user;

	*who = (struct profile_who){.source = "fallback"};
	find_user(&user, who, o);
	find_home(who, &user, o);
	str_copy(who->name, sizeof who->name, user.name);
	find_shell(who, &user, o);
	give_up_root(who, &user, o);
	who->uid = geteuid();
	if (who->uid == 0)
		who->flags |= PROFILE_OPEN_TRUSTED;
	if (o->system)
		who->flags |= PROFILE_OPEN_PUBLIC;
	if (o->no_follow)
		who->flags |= PROFILE_OPEN_NOFOLLOW;
	who->place = (struct profile_place){
		.root = o->root ? o->root : "", .home = who->home};
	/* The caller's variables say nothing about another user's files. */
	if (who->other || o->home)
		return;
	who->place.zdotdir = env_value("ZDOTDIR");
	who->place.xdg_config = env_value("XDG_CONFIG_HOME");
	who->place.env = env_value("ENV");
	who->place.bash_env = env_value("BASH_ENV");
}
