/* drop_preset.c - grants that go together
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/file.h"
#include "base/path.h"
#include "base/str.h"

/* The system: what programs are made of. */
static const char programs[] =
	"/usr\0/bin\0/sbin\0/lib\0/lib32\0/lib64\0/libx32\0/opt\0"
	"/nix/store\0/gnu/store\0";

static const char facts[] =
	"/run/systemd/resolve\0"
	"/proc\0/sys/devices/system/cpu\0/sys/fs/cgroup\0";

/* Grants each path of the list. */
static int grant_all(struct drop *o, const char *paths, unsigned access,
	const char *why)
{
	int err = 0;

	for (; *paths && err == 0; paths = cli_part(paths))
		err = sandbox_grant(&o->plan, paths, access, true, why);
	return err;
}

static const char *keep_joined(struct drop *o, const char *a, const char *b)
{
	size_t n = strlen(a) + strlen(b);
	struct buf s = {
		.data = arena_bytes(&o->strings, n + 1),
		.cap = n + 1,
		.max = n,
	};

	if (!s.data)
		return NULL;
	buf_addf(&s, "%s%s", a, b);
	return buf_str(&s);
}

/* /tmp is everybody's; a directory of this user's own stands in for it, and
 * for caches: what a build leaves there no trusted run ever reads. */
static int own_tmp(struct drop *o, bool caches, struct diag *d)
{
	static const char places[][2][17] = {
		{"npm_config_cache", "/npm"},
		{"XDG_CACHE_HOME", "/cache"},
		{"GOCACHE", "/go"},
	};
	char name[32];
	/* Inside of this preset, /tmp cannot be listed: a name in it can. */
	autofd int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofd int dir = -1;
	const char *path;
	int err;

	BUF_PRINT(name, "wardbox-tmp-%u", geteuid());
	if (tmp < 0)
		return diag_errno(d, -errno, "/tmp");
	dir = file_private_dir(tmp, name, geteuid(), true, d);
	if (dir < 0)
		return dir;
	path = keep_joined(o, "/tmp/", name);
	if (!path)
		return diag_errno(d, -ENOMEM, "/tmp");
	err = sandbox_grant(&o->plan, path,
		caches ? SANDBOX_RWX : SANDBOX_RW, false, "preset");
	if (err == 0)
		err = env_set(&o->child_env, "TMPDIR", path);
	for (size_t i = 0; caches && i < ARRAY_SIZE(places) && err == 0; i++) {
		const char *cache = keep_joined(o, path, places[i][1]);

		err = cache ? env_set(&o->child_env, places[i][0], cache) :
			      -ENOMEM;
	}
	return err < 0 ? diag_errno(d, err, "environment") : 0;
}

/* Grants reading the settings that name the user to git. */
static int own_settings(struct drop *o)
{
	static const char files[] =
		"/.gitconfig\0/.config/git/config\0/.config/git/ignore\0";
	const char *home = env_get(o->envp, "HOME");
	int err = 0;

	if (!home || home[0] != '/')
		return 0;
	for (const char *at = files; *at && err == 0; at = str_nth(at, 1)) {
		const char *path = keep_joined(o, home, at);

		err = path ? sandbox_grant(&o->plan, path, SANDBOX_RO, true,
				     "preset") :
			     -ENOMEM;
	}
	return err;
}

/* The terminal that the command is given anyway, by its name too. Not the whole
 * of /dev/pts: the other terminals of this user are there. */
static int own_terminal(struct drop *o)
{
	int err = 0;

	for (int fd = 0; fd <= 2 && err == 0; fd++) {
		char name[64];
		const char *path;

		if (path_of_fd(fd, name, sizeof(name)) < 0 ||
			!str_after(name, "/dev/pts/"))
			continue;
		path = keep_joined(o, name, "");
		err = path ? sandbox_grant(&o->plan, path, SANDBOX_RW, true,
				     "preset: own terminal") :
			     -ENOMEM;
	}
	return err;
}

int drop_preset(struct drop *o, const char *name, struct diag *d)
{
	bool build = str_eq(name, "build");
	bool work = build || str_eq(name, "workspace");
	unsigned access = build ? SANDBOX_RWX :
			  work	? SANDBOX_RW :
				  SANDBOX_ROX;
	int err = work || str_eq(name, "read-only") ?
			  grant_all(o, programs, SANDBOX_ROX,
				  "preset: programs") :
			  -EINVAL;

	if (err == 0)
		err = sandbox_grant_etc(&o->plan, "preset: facts");
	if (err == 0)
		err = grant_all(o, facts, SANDBOX_RO, "preset: facts");
	if (err == 0)
		err = grant_all(o, ".\0", access, "preset: here");
	if (err == 0)
		err = own_terminal(o);
	/* Others' shared memory is there as well; interpreters' worker pools
	 * cannot do without. */
	if (err == 0 && build)
		err = grant_all(o, "/dev/shm\0", SANDBOX_RW, "preset: shm");
	if (err == 0 && work)
		err = own_settings(o);
	if (err == -EINVAL)
		return diag_fail(d, err,
			"'%s' is no preset: read-only, workspace or build",
			name);
	if (err < 0)
		return diag_errno(d, err, "preset %s", name);
	return work ? own_tmp(o, build, d) : 0;
}
