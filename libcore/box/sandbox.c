/* sandbox.c - the plan, the names of its parts, and the release of it all
 * SPDX-License-Identifier: MIT
 */
#include "box/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/policy.h"
#include "base/str.h"

const char *sandbox_part_name(unsigned part)
{
	for (unsigned i = 0; i < POLICY_PARTS; i++)
		if (part == 1U << i)
			return policy_protections[i];
	return NULL;
}

unsigned sandbox_part_named(const char *name)
{
	for (unsigned i = 0; i < POLICY_PARTS; i++)
		if (str_eq(policy_protections[i], name))
			return 1U << i;
	return 0;
}

const char *sandbox_step_text(enum sandbox_step step)
{
	static const char texts[] =
		"nothing\0"
		"making a process group\0"
		"setting limits\0"
		"entering namespaces\0"
		"mounting over paths (mount namespace)\0"
		"mounting /proc (pid namespace)\0"
		"starting the loopback (netns)\0"
		"dropping capabilities\0"
		"giving up new privileges\0"
		"closing descriptors\0"
		"restricting file access (Landlock)\0"
		"filtering system calls (seccomp)\0"
		"handing over the exec watch\0"
		"testing that it holds\0"
		"setting up the command\0"
		"starting the command\0";
	const char *text = str_nth(texts, (size_t)step);

	return *text ? text : "unknown step";
}

void sandbox_plan_release(struct sandbox_plan *plan)
{
	free(plan->grants);
	free(plan->ports);
	plan->grants = NULL;
	plan->ports = NULL;
	plan->grant_count = plan->port_count = plan->connect_count = 0;
}

/* Makes room for one more item; capacities are powers of two, from 8. */
static int grow_array(void *slot, size_t count, size_t size, size_t max)
{
	void **items = slot;
	void *more;

	if (count >= max)
		return -E2BIG;
	if (count && (count < 8 || (count & (count - 1))))
		return 0;
	more = reallocarray(*items, count ? 2 * count : 8, size);
	if (!more)
		return -ENOMEM;
	*items = more;
	return 0;
}

int sandbox_grant(struct sandbox_plan *plan, const char *path, unsigned access,
	bool optional, const char *why)
{
	int err = grow_array(&plan->grants, plan->grant_count,
		sizeof(*plan->grants),
		SANDBOX_GRANTS_MAX);

	if (err < 0)
		return err;
	plan->grants[plan->grant_count++] = (struct sandbox_grant){
		.path = path,
		.why = why,
		.access = (uint8_t)access,
		.optional = optional,
	};
	return 0;
}

int sandbox_grant_in_view(struct sandbox_plan *plan, const char *path,
	unsigned access, const char *why)
{
	int err = sandbox_grant(plan, path, access, true, why);

	if (!err)
		plan->grants[plan->grant_count - 1].in_view = true;
	return err;
}

int sandbox_grant_viewed(struct sandbox_plan *plan, const char *path,
	unsigned access, const char *why)
{
	int err = sandbox_grant(plan, path, access, true, why);

	if (!err)
		plan->grants[plan->grant_count - 1].viewed = true;
	return err;
}

int sandbox_grant_terminals(struct sandbox_plan *plan)
{
	static const char why[] = "its own terminals";
	int err = sandbox_grant_in_view(plan, "/dev/pts", SANDBOX_RW, why);

	if (err)
		return err;
	plan->grants[plan->grant_count - 1].viewed = true;
	plan->grants[plan->grant_count - 1].pts = true;
	/* A /dev/ptmx that is a device makes terminals in the directory pts
	 * beside it. */
	err = sandbox_grant(plan, "/dev/ptmx", SANDBOX_READ | SANDBOX_WRITE,
		true, why);
	if (!err) {
		plan->grants[plan->grant_count - 1].viewed = true;
		plan->grants[plan->grant_count - 1].device = true;
	}
	return err;
}

int sandbox_grant_bare(struct sandbox_plan *plan, const char *path,
	unsigned access, const char *why)
{
	int err = sandbox_grant(plan, path, access, true, why);

	if (!err)
		plan->grants[plan->grant_count - 1].bare = true;
	return err;
}

int sandbox_bind(struct sandbox_plan *plan, const char *path, const char *from,
	unsigned access, const char *why)
{
	int err = sandbox_grant_in_view(plan, path, access, why);

	if (!err)
		plan->grants[plan->grant_count - 1].from = from;
	return err;
}

int sandbox_cover(struct sandbox_plan *plan, const char *path, const char *why)
{
	int err = sandbox_grant_in_view(plan, path, SANDBOX_HIDE, why);

	if (!err)
		plan->grants[plan->grant_count - 1].frame = true;
	return err;
}

static const char devices[] = "/dev/null\0/dev/tty\0/dev/zero\0/dev/full\0"
			      "/dev/random\0/dev/urandom\0";

/* Adds a grant for a file that is not looked through. */
static int grant_node(struct sandbox_plan *plan, const char *path,
	unsigned access, const char *why)
{
	int err = sandbox_grant(plan, path, access, true, why);

	if (!err)
		plan->grants[plan->grant_count - 1].device = true;
	return err;
}

int sandbox_grant_devices(struct sandbox_plan *plan, size_t most)
{
	int err = 0;

	for (const char *at = devices; *at && most-- && !err; at = str_nth(at, 1))
		err = grant_node(
			plan, at, SANDBOX_READ | SANDBOX_WRITE, "device");
	return err;
}

/* The machine's name in the name of musl's configuration file. */
#if defined(__aarch64__)
#define MUSL_PATH "/etc/ld-musl-aarch64.path"
#elif defined(__arm__)
#define MUSL_PATH "/etc/ld-musl-armhf.path"
#elif defined(__riscv)
#define MUSL_PATH "/etc/ld-musl-riscv64.path"
#else
#define MUSL_PATH "/etc/ld-musl-x86_64.path"
#endif
/* Files of /etc that everybody needs and nobody hides: no shadow, no keys of
 * hosts, no passwords of services. java.security: no Java starts without it;
 * pki is behind ssl on Red Hat. */
static const char etc[] =
	MUSL_PATH "\0"
	"/etc/alpine-release\0/etc/alternatives\0/etc/bash.bashrc\0"
	"/etc/ca-certificates\0/etc/ca-certificates.conf\0"
	"/etc/crypto-policies\0/etc/debian_version\0/etc/default/locale\0/etc/dpkg\0"
	"/etc/fonts\0/etc/gai.conf\0/etc/gitconfig\0/etc/group\0"
	"/etc/host.conf\0/etc/hostname\0/etc/hosts\0/etc/inputrc\0/etc/java\0"
	"/etc/java-11-openjdk\0/etc/java-17-openjdk\0/etc/java-21-openjdk\0"
	"/etc/java-25-openjdk\0/etc/java-8-openjdk\0/etc/ld.so.cache\0"
	"/etc/ld.so.conf\0/etc/ld.so.conf.d\0/etc/locale.alias\0"
	"/etc/locale.conf\0/etc/localtime\0/etc/login.defs\0/etc/lsb-release\0"
	"/etc/machine-id\0/etc/magic\0/etc/magic.mime\0/etc/manpath.config\0"
	"/etc/mime.types\0/etc/nanorc\0/etc/networks\0/etc/npmrc\0/etc/nsswitch.conf\0"
	"/etc/os-release\0/etc/passwd\0/etc/perl\0/etc/pip.conf\0"
	"/etc/pki/ca-trust\0/etc/pki/tls/certs\0/etc/profile\0/etc/profile.d\0"
	"/etc/protocols\0/etc/python3\0/etc/resolv.conf\0/etc/rpc\0"
	"/etc/services\0/etc/shells\0/etc/ssl/cert.pem\0/etc/ssl/certs\0"
	"/etc/ssl/openssl.cnf\0/etc/terminfo\0/etc/timezone\0/etc/vim\0"
	"/etc/wgetrc\0/etc/xdg\0";

/* Settings that may hold a password: what everybody may read holds none. */
static const char etc_maybe[] =
	"/etc/apt/apt.conf\0/etc/apt/apt.conf.d\0/etc/apt/preferences\0"
	"/etc/apt/preferences.d\0/etc/apt/sources.list\0"
	"/etc/apt/sources.list.d\0/etc/apt/trusted.gpg.d\0";

/* May everybody read it, and each file in it? */
static bool is_everybodys(const char *path)
{
	struct stat st;
	DIR *dir = opendir(path);
	bool all = dir || (errno == ENOTDIR && stat(path, &st) == 0 &&
				  st.st_mode & S_IROTH);

	const struct dirent *e;

	while (all && dir && (e = readdir(dir)))
		all = fstatat(dirfd(dir), e->d_name, &st, 0) == 0 &&
		      st.st_mode & S_IROTH;
	if (dir)
		closedir(dir);
	return all;
}

int sandbox_grant_etc(struct sandbox_plan *plan, const char *why)
{
	int err = 0;

	for (const char *at = etc; *at && !err; at = str_nth(at, 1))
		err = sandbox_grant(plan, at, SANDBOX_READ, true, why);
	for (const char *at = etc_maybe; *at && !err; at = str_nth(at, 1))
		if (is_everybodys(at))
			err = sandbox_grant(plan, at, SANDBOX_READ, true, why);
	return err;
}

int sandbox_grant_open(struct sandbox_plan *plan, int fd, const char *name)
{
	static const unsigned modes[] = {SANDBOX_READ, SANDBOX_WRITE,
		SANDBOX_READ | SANDBOX_WRITE, 0};
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	/* A descriptor with O_PATH gives no access to the file. */
	if (flags < 0 || flags & O_PATH || fstat(fd, &st) < 0)
		return 0;
	if (S_ISCHR(st.st_mode) && isatty(fd))
		flags = O_RDWR;
	else if (!S_ISREG(st.st_mode))
		return 0;
	return grant_node(plan, name, modes[flags & O_ACCMODE],
		"given to it");
}

bool sandbox_is_device(const char *path)
{
	return str_index(devices, path) >= 0;
}

int sandbox_port(struct sandbox_plan *plan, uint16_t port, bool bind)
{
	int err = grow_array(&plan->ports, plan->port_count,
		sizeof(*plan->ports),
		SANDBOX_PORTS_MAX);

	if (err < 0)
		return err;
	/* Ports to connect to come first. */
	plan->ports[plan->port_count++] = port;
	if (!bind) {
		plan->ports[plan->port_count - 1] =
			plan->ports[plan->connect_count];
		plan->ports[plan->connect_count++] = port;
	}
	return 0;
}

void sandbox_release(struct sandbox *s)
{
	for (size_t i = 0; i < s->rule_count; i++)
		free(s->rules[i].path);
	free(s->rules);
	free(s->filter);
	free(s->cwd);
	if (s->shared && s->shared != &s->local)
		munmap(s->shared, sizeof(*s->shared));
	if (s->init_stack)
		munmap(s->init_stack, SANDBOX_STACK);
	if (s->ruleset_fd >= 0)
		close(s->ruleset_fd);
	if (s->pidfd >= 0)
		close(s->pidfd);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	watch_release(&s->watch);
	limits_release(&s->limits);
	*s = SANDBOX_INIT;
}
