/* sandbox_open.c - the grants and ports of a plan as rules of the kernel
 * SPDX-License-Identifier: MIT
 */
#include "box/sandbox_open_in.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/path.h"
#include "base/str.h"
#include "base/uapi/linux.h"
#include "box/landlock_in.h"
#include "box/sandbox.h"
#include "sys/probe.h"

enum {
	/* Rights that a rule on a file may hold; the others are about
	 * directories. */
	FILE_RIGHTS = LL_FS_EXECUTE | LL_FS_WRITE_FILE | LL_FS_READ_FILE |
		      LL_FS_TRUNCATE | LL_FS_IOCTL_DEV | LL_FS_RESOLVE_UNIX,
	/* Device nodes are never made: MAKE_CHAR and MAKE_BLOCK are handled and
	 * granted to nobody. */
	WRITE_RIGHTS = LL_FS_WRITE_FILE | LL_FS_TRUNCATE | LL_FS_REMOVE_DIR |
		       LL_FS_REMOVE_FILE | LL_FS_MAKE_DIR | LL_FS_MAKE_REG |
		       LL_FS_MAKE_SOCK | LL_FS_MAKE_FIFO | LL_FS_MAKE_SYM |
		       LL_FS_REFER | LL_FS_IOCTL_DEV,
};

uint64_t landlock_all_fs(int abi)
{
	/* How many bits each ABI knows. */
	static const uint8_t bits[LL_ABI_MAX + 1] = {
		0, 13, 14, 15, 15, 16, 16, 16, 16, 17, 17};

	if (abi <= 0)
		return 0;
	return (1ULL << bits[abi > LL_ABI_MAX ? LL_ABI_MAX : abi]) - 1;
}

uint64_t landlock_all_net(int abi)
{
	if (abi < 4)
		return 0;
	if (abi < 10)
		return LL_NET_BIND_TCP | LL_NET_CONNECT_TCP;
	return LL_NET_BIND_TCP | LL_NET_CONNECT_TCP | LL_NET_BIND_UDP |
	       LL_NET_CONNECT_SEND_UDP;
}

uint64_t landlock_rights(unsigned access, bool dir, int abi)
{
	uint64_t rights = 0;

	if (access & SANDBOX_READ)
		rights |= LL_FS_READ_FILE | LL_FS_READ_DIR;
	if (access & SANDBOX_LIST)
		rights |= LL_FS_READ_DIR;
	if (access & SANDBOX_EXEC)
		rights |= LL_FS_EXECUTE;
	if (access & SANDBOX_WRITE)
		rights |= WRITE_RIGHTS;
	if (access & SANDBOX_UNIX)
		rights |= LL_FS_RESOLVE_UNIX;
	if (!dir)
		rights &= FILE_RIGHTS;
	return rights & landlock_all_fs(abi);
}

int landlock_create(uint64_t fs, uint64_t net, uint64_t scoped, int abi)
{
	struct ll_ruleset_attr attr = {
		.fs = fs, .net = net, .scoped = scoped};
	size_t size = abi < 4 ? 8 : abi < 6 ? 16 : 24;
	long fd = syscall(LL_NR_CREATE_RULESET, &attr, size, 0);

	return fd < 0 ? -errno : (int)fd;
}

int landlock_add_path(int ruleset, int fd, uint64_t rights)
{
	struct ll_path_attr attr = {.allowed = rights, .fd = fd};

	return syscall(LL_NR_ADD_RULE, ruleset, LL_RULE_PATH, &attr, 0) < 0 ?
		       -errno :
		       0;
}

int landlock_add_port(int ruleset, uint16_t port, uint64_t rights)
{
	struct ll_port_attr attr = {.allowed = rights, .port = port};

	return syscall(LL_NR_ADD_RULE, ruleset, LL_RULE_PORT, &attr, 0) < 0 ?
		       -errno :
		       0;
}

int landlock_restrict(int ruleset, unsigned flags)
{
	return syscall(LL_NR_RESTRICT_SELF, ruleset, flags) < 0 ? -errno : 0;
}

/* Is the path in /proc/self, which is another directory in every child? */
static bool is_own_proc(const char *path)
{
	char own[32];
	const char *rest = str_after(path, "/proc/");

	if (rest)
		rest = str_after(rest, BUF_PRINT(own, "%d", (int)getpid()));
	return rest && (*rest == '/' || !*rest);
}

/* Opens a device. Nothing lies beneath a device and no mount is made for it, so
 * its own path is enough and the work stays cheap, because every program wants
 * these. Landlock does not know files that only the kernel can name, such as a
 * memfd: EBADFD. */
static int open_device(struct sandbox *s, const struct sandbox_grant *g,
	struct diag *d)
{
	const char *name = path_base(g->path);
	autofd int opened = -1;
	uint64_t number;
	/* A number names an open descriptor: sandbox_grant_open(). */
	const bool given = num_u64(name, 0, INT_MAX, &number) == 0;
	int fd, err;

	if (!(s->enforced & SANDBOX_LANDLOCK))
		return 0;
	if (!given)
		opened = openat(AT_FDCWD, g->path, O_PATH | O_CLOEXEC);
	fd = given ? (int)number : opened;
	if (fd < 0)
		return errno == ENOENT ? 0 :
					 diag_of(d, -errno, g->path);
	err = landlock_add_path(s->ruleset_fd, fd,
		landlock_rights(g->access, false, s->abi));
	return err < 0 && err != -EBADFD ? diag_of(d, err, g->path) :
					   0;
}

int sandbox_admit_terminal(struct sandbox *s, int fd)
{
	if (!(s->enforced & SANDBOX_LANDLOCK))
		return 0;
	return landlock_add_path(s->ruleset_fd, fd,
		landlock_rights(SANDBOX_READ | SANDBOX_WRITE, false, s->abi));
}

/* Is path what path_of_fd() would return, if no link is on the way? */
static bool is_plain(const char *path)
{
	const char *s = path;

	if (*s != '/')
		return false;
	for (; *s; s++)
		if (s[0] == '/' && (s[1] == '/' || s[1] == '.' || !s[1]))
			return false;
	return true;
}

/* Opens a path, through links; *name is its real one, to be freed. */
static int open_named(const char *path, char **name)
{
	char real[PATH_MAX];
	int fd = -ELOOP, err;

	/* Most paths have no link on the way and are in plain form, so the
	 * kernel need not be asked for the name. */
	if (is_plain(path)) {
		*name = strdup(path);
		if (!*name)
			return -ENOMEM;
		fd = path_openat2(AT_FDCWD, path, O_PATH, 0,
			RESOLVE_NO_SYMLINKS_ | RESOLVE_NO_MAGICLINKS_);
	}
	if (fd != -ELOOP && fd != -ENOSYS && fd != -EPERM)
		return fd;
	fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	free(*name);
	err = path_of_fd(fd, real, sizeof(real));
	*name = err < 0 ? NULL : strdup(real);
	err = err == 0 && !*name ? -ENOMEM : err;
	if (err < 0)
		close(fd);
	return err < 0 ? err : fd;
}

/* Opens what a grant is for: of a bind the directory that stands at its path in
 * the view. */
static int open_source(const struct sandbox_grant *g, char **path, struct stat *st)
{
	int fd = open_named(g->path, path);
	struct stat at;

	if (fd < 0 || !*path || (!g->from && !g->frame))
		return fd;
	if (fstat(fd, &at) < 0 || !S_ISDIR(at.st_mode)) {
		close(fd);
		return -ENOTDIR;
	}
	if (!g->from)
		return fd;
	close(fd);
	fd = openat(AT_FDCWD, g->from,
		O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* The right directory stands there already. */
	if (fstat(fd, st) == 0 && st->st_dev == at.st_dev &&
		st->st_ino == at.st_ino) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/* Before ABI 5 whoever has opened a device gives it commands (ioctl), though it was
 * opened to read. */
static int takes_commands(const struct sandbox *s, const struct sandbox_grant *g,
	const struct stat *st, struct diag *d)
{
	if (!(S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode)) ||
		g->access & (SANDBOX_WRITE | SANDBOX_HIDE) ||
		s->abi >= PROBE_IOCTL_ABI ||
		!(s->enforced & ~s->plan->relax & SANDBOX_LANDLOCK))
		return 0;
	return diag_fail(d, -ENOTSUP,
		"landlock: a device that can only be read (%s) needs "
		"Landlock ABI 5\036Linux 6.10 has it", g->path);
}

/* Opens the file of a grant and adds its rule. 1 when it was added, 0 when it
 * is optional and missing. */
static int open_grant(struct sandbox *s, size_t i, struct diag *d)
{
	const struct sandbox_grant *g = &s->plan->grants[i];
	struct sandbox_rule *r = &s->rules[s->rule_count];
	autofree char *path = NULL;
	struct stat st;
	autofd int fd = -1;
	int err;

	const bool view = s->plan->view && !s->nested;

	if (view ? g->bare : g->from || g->frame || g->viewed)
		return 0;
	fd = open_source(g, &path, &st);
	err = fd < 0 ? fd : path && fstat(fd, &st) == 0 ? 0 : -EIO;

	/* A path that this user cannot reach counts as missing. */
	if (g->optional &&
		(err == -ENOENT || err == -ENOTDIR || err == -EACCES))
		return 0;
	if (err < 0) {
		diag_errno(d, err, "grant %s", g->path);
		if (err == -ENOENT)
			diag_hint(d, "--ignore-missing passes over missing "
				     "paths");
		return err;
	}
	err = takes_commands(s, g, &st, d);
	if (err < 0)
		return err;
	*r = (struct sandbox_rule){
		.path = path,
		.dev = st.st_dev,
		.ino = st.st_ino,
		.dir = S_ISDIR(st.st_mode),
		.node = !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode),
		.tree = -1,
		.grant = (uint16_t)i,
		.access = g->access,
		.from = g->from,
		.frame = g->frame,
		.pts = g->pts,
	};
	path = NULL;
	s->rule_count++;
	/* A file would be mounted over itself. */
	if (g->access == SANDBOX_TMPFS && !r->dir)
		return diag_errno(d, -ENOTDIR, "grant %s", g->path);
	if (is_own_proc(r->path))
		return diag_fail(d, -EINVAL,
			"grant %s: that is the wrapper's own process\036"
			"grant /proc; --unshare-pid makes it a fresh one",
			g->path);
	if (s->enforced & SANDBOX_LANDLOCK)
		r->rights = landlock_rights(g->access, r->dir, s->abi);
	if (g->access & (SANDBOX_READ | SANDBOX_LIST) &&
		str_eq(r->path, "/"))
		s->root_granted = true;
	/* The rule of a path that a mount will cover is added behind that
	 * mount. */
	r->late = g->access & SANDBOX_HIDE || g->pts ||
		  (s->plan->want & SANDBOX_PIDNS &&
			  path_beneath("/proc", r->path));
	if (r->late || !r->rights)
		return 1;
	err = landlock_add_path(s->ruleset_fd, fd, r->rights);
	return err < 0 ? diag_errno(d, err, "grant %s", g->path) : 1;
}

int sandbox_open_grants(struct sandbox *s, struct diag *d)
{
	const struct sandbox_plan *p = s->plan;
	bool tcp = p->net == SANDBOX_NET_TCP && s->abi >= 4;
	int err;

	s->rules = calloc(p->grant_count + 1, sizeof(*s->rules));
	if (!s->rules)
		return diag_errno(d, -ENOMEM, "sandbox");
	if (s->enforced & (SANDBOX_LANDLOCK | SANDBOX_SCOPE) || tcp) {
		bool files = s->enforced & SANDBOX_LANDLOCK;
		bool ports = tcp || (files && p->net == SANDBOX_NET_NONE);

		s->ruleset_fd = landlock_create(
			files ? landlock_all_fs(s->abi) : 0,
			ports ? landlock_all_net(s->abi) : 0,
			s->enforced & SANDBOX_SCOPE ?
				LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL :
				0,
			s->abi);
		if (s->ruleset_fd < 0)
			return diag_errno(
				d, s->ruleset_fd, "Landlock ruleset");
	}
	for (size_t i = 0; i < p->grant_count; i++) {
		if (p->grants[i].device && p->grants[i].viewed &&
			(!p->view || s->nested))
			continue;
		err = p->grants[i].device ?
			      open_device(s, &p->grants[i], d) :
			      open_grant(s, i, d);
		if (err < 0)
			return err;
	}
	return 0;
}

int sandbox_open_ports(struct sandbox *s, struct diag *d)
{
	const struct sandbox_plan *p = s->plan;

	if (p->net != SANDBOX_NET_TCP || s->ruleset_fd < 0 ||
		!(s->enforced & SANDBOX_NETWORK))
		return 0;
	for (size_t i = 0; i < p->port_count; i++) {
		bool connect = i < p->connect_count;
		int err = landlock_add_port(s->ruleset_fd, p->ports[i],
			connect ? LL_NET_CONNECT_TCP : LL_NET_BIND_TCP);

		/* The kernel has no INET, so there is nothing to allow. */
		if (err < 0 && err != -EAFNOSUPPORT)
			return diag_errno(d, err, "port %u", p->ports[i]);
	}
	return 0;
}
