/* install.c - put the shim over the shells of a root, and take it off
 * SPDX-License-Identifier: MIT
 *
 * APPLET(install)
 *
 * config APPLET_INSTALL
 *	bool "install: put the shim over the shells of a root (16.3 KB)"
 *	default y
 *	help
 *	  Keeps each original as NAME.real, never leaves a moment without a
 *	  shell, tells what became of it, and undoes it to the byte.
 */
#include "install.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "applet.h"
#include "base/str.h"
#include "policy/policy.h"
#include "sys/file.h"

/* Names that are given as a,b,c; cut in place. */
static void split_shells(
	const char *list, char *copy, size_t size, const char **names)
{
	size_t n = 0;

	if (str_copy(copy, size, list))
		cli_die(EXIT_USAGE, "--shells: '%s' is too long", list);
	for (char *p = copy; *p && n < SHIM_SHELLS;) {
		size_t len = strcspn(p, ",");
		bool last = !p[len];

		p[len] = '\0';
		if (!shim_is_shell(p))
			cli_die(EXIT_USAGE, "--shells: wardbox does not stand in"
				" for '%s'; it does for sh, bash, dash and ash",
				p);
		names[n++] = p;
		p += len + !last;
	}
	if (!n)
		cli_die(EXIT_USAGE, "--shells: no name given");
}

static const char *ask_policy(void)
{
	static const char question[] =
		"There is no policy yet. Which one shall it be?\n"
		"  agent      a coding agent's shell\n"
		"  ci         a build job: nothing asks\n"
		"  image      RUN lines of an image build\n"
		"or a profile of the contract:\n"
		"  SAFE       nothing runs\n"
		"  DEV        what is allowed runs, the rest asks\n"
		"  FULL-AUTO  all but what is blocked runs\n"
		"  OBSERVE    all runs and is recorded\n"
		"policy [FULL-AUTO]: ";
	static char answer[32];
	autofd int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	if (tty < 0 || file_write_all(tty, question, sizeof question - 1))
		return NULL;
	do
		n = read(tty, answer, sizeof answer - 1);
	while (n < 0 && errno == EINTR);
	while (n > 0 && chr_space(answer[n - 1]))
		n--;
	answer[n > 0 ? n : 0] = '\0';
	return answer;
}

static const struct cli_spec spec;

/* The profile's name as the policy spells it. */
static const char *profile_name(const char *wish)
{
	static const char names[][12] = {"SAFE", "DEV", "FULL-AUTO", "OBSERVE"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcasecmp(wish, names[i]))
			return names[i];
	cli_die(EXIT_USAGE, "'%s' is no profile: SAFE, DEV, FULL-AUTO or"
		" OBSERVE; a policy is named with --policy", wish);
}

/* The name of a policy that wardbox brings along, as it is spelled, or NULL. */
static const char *policy_name(const char *wish)
{
	const struct policy_shipped *s = policy_shipped();

	while (s->name && strcasecmp(wish, s->name))
		s++;
	return s->name;
}

static void check_choice(const struct install_opts *o)
{
	if (o->profile)
		profile_name(o->profile);
	if (o->policy && o->profile)
		cli_die_usage(&spec, "--policy or --profile, not both");
	if (o->policy && !policy_name(o->policy))
		cli_die(EXIT_USAGE, "'%s' is no policy: agent, ci, image or"
			" contract", o->policy);
}

static void choose_policy(const struct shim_root *r,
	const struct install_opts *o, struct shim_plan *plan)
{
	const char *answer = NULL;

	if ((o->policy || o->profile) && shim_has_policy(r))
		cli_warn("--%s is not applied: %s is there already",
			o->policy ? "policy" : "profile", r->record.policy);
	plan->include = o->policy ? policy_name(o->policy) : "default";
	if (o->policy)
		return;
	if (o->profile)
		answer = o->profile;
	else if (!shim_has_policy(r) && !o->yes && !o->dry_run)
		answer = ask_policy();
	if (!answer || !*answer)
		answer = "FULL-AUTO";
	if (policy_name(answer))
		plan->include = policy_name(answer);
	else
		plan->profile = profile_name(answer);
}

static int open_binary(const struct install_opts *o)
{
	const char *path = o->binary ? o->binary : "/proc/self/exe";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	cli_die(EXIT_FOUND, "cannot open %s: %s%s", path, strerror(errno),
		o->binary ? "" : "; name the binary with --binary");
}

static void refuse_host(const struct shim_root *r, const struct install_opts *o)
{
	if (r->host && !o->yes && !o->dry_run)
		cli_die(EXIT_FOUND, "%s is the root that this machine runs on:"
			" its shells would be replaced; --yes if that is meant,"
			" or another --root", o->root);
}

static size_t count_guarded(const struct shim_root *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->entry_count; i++)
		n += r->entry[i].state == SHIM_GUARDED;
	return n;
}

static size_t count_present(const struct shim_root *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->entry_count; i++)
		n += r->entry[i].state != SHIM_ABSENT &&
			r->entry[i].state != SHIM_DANGLING;
	return n;
}

/* Says what could not be done; the exit code. */
static int tell_rest(const struct shim_root *r)
{
	int code = EXIT_OK;

	for (size_t i = 0; i < r->entry_count; i++) {
		const struct shim_entry *e = &r->entry[i];

		if (e->state != SHIM_LOST && e->state != SHIM_FOREIGN)
			continue;
		cli_warn("%s: %s", e->path, shim_state_advice(e->state));
		code = EXIT_FOUND;
	}
	return code;
}

/* The plan, and the code that a run would end with. */
static int foretell_run(const struct shim_root *r, const struct shim_plan *plan,
	const struct install_opts *o)
{
	struct diag d = {0};
	int binary = shim_foresee(r, plan, &d);

	install_print_plan(r, plan, binary > 0, o);
	if (binary < 0)
		cli_die_diag(EXIT_FOUND, &d);
	return tell_rest(r);
}

static int put_on(struct shim_root *r, const struct install_opts *o)
{
	autofd int binary = -1;
	struct shim_plan plan;
	struct diag d = {0};
	int code;

	if (!count_present(r))
		cli_die(EXIT_FOUND, "%s has no shell to stand in for: nothing is"
			" changed (looked in /bin, /usr/bin, /usr/local/bin)",
			o->root);
	binary = open_binary(o);
	if (shim_check_binary(binary, r, &d))
		cli_die_diag(EXIT_FOUND, &d);
	if (install_check_policy(o, &d)) {
		cli_diag(&d);
		cli_die(EXIT_FOUND, "with such a policy no shell of the root"
			" would run anything: nothing is changed");
	}
	refuse_host(r, o);
	plan = (struct shim_plan){.binary = binary};
	choose_policy(r, o, &plan);
	if (o->dry_run)
		return foretell_run(r, &plan, o);
	if (shim_install(r, &plan, &d))
		cli_die_diag(EXIT_FOUND, &d);
	code = tell_rest(r);
	install_print(r, o);
	return count_guarded(r) ? code : EXIT_FOUND;
}

static int take_off(struct shim_root *r, const struct install_opts *o)
{
	struct diag d = {0};
	int code;

	refuse_host(r, o);
	if (o->dry_run)
		return foretell_run(r, NULL, o);
	if (shim_uninstall(r, &d))
		cli_die_diag(EXIT_FOUND, &d);
	code = tell_rest(r);
	install_print(r, o);
	return code;
}

static const struct cli_opt options[] = {
	CLI_STR('r', struct install_opts, root, "root", "DIR",
		"the root to work on; default /"),
	CLI_STR('s', struct install_opts, shells, "shells", "LIST",
		"of sh,bash,dash,ash; default all that are there"),
	CLI_STR('P', struct install_opts, policy, "policy", "NAME",
		"write a policy that includes agent, ci, image or contract"),
	CLI_STR('p', struct install_opts, profile, "profile", "PROFILE",
		"write a policy with it where there is none"),
	CLI_STR(0, struct install_opts, bindir, "bindir", "DIR",
		"where wardbox goes within the root; default /usr/bin"),
	CLI_STR(0, struct install_opts, binary, "binary", "FILE",
		"the wardbox to install; default this one"),
	CLI_FLAG('u', struct install_opts, uninstall, "uninstall",
		"put the originals back, leave nothing behind"),
	CLI_FLAG('S', struct install_opts, status, "status",
		"tell what is guarded and what needs a hand"),
	CLI_FLAG('j', struct install_opts, json, "json", "print facts as JSON"),
	CLI_FLAG('n', struct install_opts, dry_run, "dry-run",
		"only print what would be done"),
	CLI_FLAG('y', struct install_opts, yes, "yes",
		"ask nothing; work on the running root"),
};

static const struct cli_spec spec = {
	.name = "install",
	.usage = "[OPTION...]",
	.about = "Puts the shim over the shells of a root, so that every command"
		 " through\n/bin/sh is guarded; takes it off again.",
	.example = "wardbox install --root ./rootfs --policy agent\n"
		   "wardbox install --status\n"
		   "wardbox install --uninstall --root ./rootfs",
	CLI_OPTS(options),
};

static int install_run(int argc, char **argv)
{
	static struct shim_root r;
	struct install_opts o = {0};
	const char *names[SHIM_SHELLS + 1] = {NULL};
	char copy[64];
	struct diag d = {0};
	int code;

	if (cli_parse(&spec, &o, argc, argv) < argc)
		cli_die_usage(&spec, "operands are not taken");
	if (o.uninstall && o.status)
		cli_die_usage(&spec, "--uninstall or --status, not both");
	check_choice(&o);
	if (!applet_find("sh"))
		cli_die(EXIT_FOUND, "this wardbox was built without 'sh'");
	if (o.shells)
		split_shells(o.shells, copy, sizeof copy, names);
	if (!o.root || !*o.root)
		o.root = "/";
	r = SHIM_ROOT_INIT;
	if (shim_root_open(&r, o.root, o.bindir, o.shells ? names : NULL, &d))
		cli_die_diag(EXIT_FOUND, &d);
	if (o.status)
		code = install_print_status(&r, &o);
	else
		code = o.uninstall ? take_off(&r, &o) : put_on(&r, &o);
	shim_root_release(&r);
	return code;
}

const struct applet install_applet = {.run = install_run, .cli = &spec};
