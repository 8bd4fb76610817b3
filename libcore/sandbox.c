/* sandbox.c - the plan, the names of its parts, and the release of it all
 * SPDX-License-Identifier: MIT
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy.h"
#include "str.h"

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
	static const char *const text[] = {
		[SANDBOX_STEP_NONE] = "nothing",
		[SANDBOX_STEP_GROUP] = "making a process group",
		[SANDBOX_STEP_LIMITS] = "setting limits",
		[SANDBOX_STEP_NAMESPACES] = "entering namespaces",
		[SANDBOX_STEP_MOUNT] = "mounting over paths (mount namespace)",
		[SANDBOX_STEP_PROC] = "mounting /proc (pid namespace)",
		[SANDBOX_STEP_LOOPBACK] = "starting the loopback (netns)",
		[SANDBOX_STEP_CAPS] = "dropping capabilities",
		[SANDBOX_STEP_NNP] = "giving up new privileges",
		[SANDBOX_STEP_FDS] = "closing descriptors",
		[SANDBOX_STEP_LANDLOCK] = "restricting file access (Landlock)",
		[SANDBOX_STEP_SECCOMP] = "filtering system calls (seccomp)",
		[SANDBOX_STEP_LISTENER] = "handing over the exec watch",
		[SANDBOX_STEP_SELFTEST] = "testing that it holds",
		[SANDBOX_STEP_SETUP] = "setting up the command",
		[SANDBOX_STEP_EXEC] = "starting the command",
	};

	return (size_t)step < ARRAY_SIZE(text) ? text[step] : "unknown step";
}

void sandbox_plan_release(struct sandbox_plan *plan)
{
	free(plan->grants);
	free(plan->ports);
	plan->grants = NULL;
	plan->ports = NULL;
	plan->grant_count = plan->port_count = plan->connect_count = 0;
}

/* Room for one more item; capacities are powers of two, from 8. */
static int grow(void *slot, size_t count, size_t size, size_t max)
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
	int err = grow(&plan->grants, plan->grant_count, sizeof(*plan->grants),
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

static const char devices[][16] = {"/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom", "/dev/tty"};

/* A grant of which nothing but the file itself is looked at. */
static int grant_node(struct sandbox_plan *plan, const char *path,
	unsigned access, const char *why)
{
	int err = sandbox_grant(plan, path, access, true, why);

	if (!err)
		plan->grants[plan->grant_count - 1].device = true;
	return err;
}

int sandbox_grant_devices(struct sandbox_plan *plan)
{
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		int err = grant_node(plan, devices[i],
			SANDBOX_READ | SANDBOX_WRITE, "device");

		if (err < 0)
			return err;
	}
	return 0;
}

int sandbox_grant_open(struct sandbox_plan *plan, int fd, const char *name)
{
	static const unsigned modes[] = {SANDBOX_READ, SANDBOX_WRITE,
		SANDBOX_READ | SANDBOX_WRITE, 0};
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	/* What was opened to be named alone gives nothing more. */
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
	size_t i = 0;

	while (i < ARRAY_SIZE(devices) && !str_eq(devices[i], path))
		i++;
	return i < ARRAY_SIZE(devices);
}

int sandbox_port(struct sandbox_plan *plan, uint16_t port, bool bind)
{
	int err = grow(&plan->ports, plan->port_count, sizeof(*plan->ports),
		SANDBOX_PORTS_MAX);

	if (err < 0)
		return err;
	/* Those to connect to stand first. */
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
	execwatch_release(&s->watch);
	limits_release(&s->limits);
	*s = SANDBOX_INIT;
}
