/* policy_here.c - the place and the policy that a question is about
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys/env.h"
#include "sys/file.h"
#include "sys/ns.h"
#include "base/path.h"
#include "policy_applet.h"
#include "guard/guard.h"
#include "guard/guard_told.h"
#include "session/session.h"
#include "sys/probe.h"

extern char **environ;

void policy_here_release(struct policy_here **h)
{
	if (*h)
		policy_free((*h)->policy);
	free(*h);
}

static const char *env_value(const char *name)
{
	const char *v = env_get(environ, name);

	return v ? v : "";
}

/* A directory as the kernel has it: links followed. */
static void path_physical(
	const struct cli_spec *spec, const char *dir, char *out, size_t size)
{
	autofd int fd = path_openat2(
		AT_FDCWD, dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0);
	int err;

	if (fd < 0)
		cli_die_usage(spec, "%s: %s", dir, strerror(-fd));
	err = path_of_fd(fd, out, size);
	if (err)
		cli_die(EXIT_FOUND, "%s: cannot tell its path: %s", dir,
			strerror(-err));
}

static void project_file(struct policy_here *h)
{
	if (*BUF_PRINT(h->project, "%s/.wardbox/policy", h->root))
		h->where.project = h->project;
}

static void load_policy(struct policy_here *h)
{
	struct diag d;

	policy_free(h->policy);
	h->policy = NULL;
	if (policy_load(&h->policy, &h->where, &d) < 0)
		cli_die_diag(EXIT_FOUND, &d);
}

/* The places that a shell would be given, where one was here before. */
static void find_own(struct policy_here *h)
{
	const struct session_where w = {.cwd = h->cwd,
		.workspace = h->no_project ? NULL : h->root,
		.uid = geteuid()};
	char base[SESSION_BASE_MAX], caller[SESSION_CALLER_SIZE];
	autofd int fd = session_base(&w, false, base, NULL);

	session_caller(&w, caller);
	if (fd < 0 || path_join(h->tmp, sizeof(h->tmp), base,
			      BUF_PRINT(h->own, "%u/at-%s/tmp", geteuid(),
				      caller)))
		h->tmp[0] = '\0';
	if (!h->tmp[0] || path_normal(h->own, sizeof(h->own), h->tmp,
				  "../../cache"))
		h->own[0] = '\0';
}

static void find_places(struct policy_here *h)
{
	autogrants struct policy_grants grants = {0};

	h->places[0] = NULL;
	if (h->policy && !policy_grants(h->policy, h->profile, h->root, h->home,
				 &grants))
		policy_places(&grants, h->root, h->home, h->tmp,
			!ns_is_refused(), h->places);
}

/* The root, of a line where there is one; true where there is no project. */
static bool find_root(struct policy_here *h, const char *line, size_t len)
{
	const struct policy_spot at = {.cwd = h->cwd,
		.home = h->home,
		.line = line,
		.len = len,
		.uid = geteuid()};
	int err = policy_find_root(
		h->policy, &at, h->root, sizeof(h->root), NULL);

	h->no_project = err == -ENOENT;
	if (err && !h->no_project)
		cli_die(EXIT_FOUND, "%s: path too long", h->cwd);
	find_own(h);
	if (h->no_project)
		str_copy(h->root, sizeof(h->root),
			h->tmp[0] ? h->tmp : POLICY_NOWHERE);
	return h->no_project;
}

void policy_follow_line(struct policy_here *h, const char *line, size_t len)
{
	bool had = h->where.project && access(h->project, F_OK) == 0;

	if (!h->astray)
		return;
	find_root(h, line, len);
	h->where.project = NULL;
	if (!h->no_project)
		project_file(h);
	if (had || (h->where.project && access(h->project, F_OK) == 0))
		load_policy(h);
	find_places(h);
}

static void choose_profile(const struct policy_opts *o, struct policy_here *h)
{
	if (policy_profile_parse(o->profile, &h->profile) < 0)
		cli_die_usage(o->spec,
			"%s: no such profile; one of SAFE, DEV, FULL-AUTO, "
			"OBSERVE",
			o->profile);
}

/* Inside of a guarded tree, where the policy is out of reach: as the guard around
 * has it. */
static bool told_here(struct policy_here *h)
{
	static struct guard_here here;
	const struct guard_caller who = {.env = environ};
	autofree struct guard_told_policy *t = calloc(1, sizeof *t);
	struct session_where where;
	autofd int dir = -1;

	if (!probe_inside())
		return false;
	guard_where(&who, &here, &where);
	dir = guard_told_dir(&where);
	if (!t || dir < 0 ||
		guard_told_load(dir, env_value("WARDBOX_SESSION_ID"), t, NULL))
		return false;
	h->policy = t->policy;
	h->profile = t->profile;
	h->no_project = t->no_project;
	str_copy(h->root, sizeof h->root, t->root);
	str_copy(h->tmp, sizeof h->tmp, t->tmp);
	str_copy(h->own, sizeof h->own, t->cache);
	h->told = true;
	return true;
}

struct policy_here *policy_find_here(const struct policy_opts *o)
{
	struct policy_here *h = calloc(1, sizeof(*h));
	struct diag d;

	if (!h)
		cli_die(EXIT_FOUND, "out of memory");
	path_physical(o->spec, o->cwd ? o->cwd : ".", h->cwd, sizeof(h->cwd));
	if (str_copy(h->home, sizeof(h->home), env_value("HOME")) < 0)
		h->home[0] = 0;
	if (!o->system && told_here(h)) {
		if (o->root)
			path_physical(o->spec, o->root, h->root,
				sizeof(h->root));
		if (o->profile)
			choose_profile(o, h);
		find_places(h);
		return h;
	}
	h->where = (struct policy_where){.system = POLICY_SYSTEM,
		.system_dir = POLICY_SYSTEM_DIR,
		.image = POLICY_IMAGE,
		.key = POLICY_KEY,
		.uid = geteuid()};
	if (o->system) {
		h->where = (struct policy_where){.system = o->system,
			.system_uid = geteuid(),
			.uid = geteuid()};
		if (access(o->system, R_OK) < 0)
			cli_die_usage(
				o->spec, "%s: %s", o->system, strerror(errno));
	}
	/* The system's policy says how the root is found, and the root may hold
	 * a policy of its own. */
	load_policy(h);
	if (o->root)
		path_physical(o->spec, o->root, h->root, sizeof(h->root));
	else
		h->astray = find_root(h, NULL, 0);
	if (policy_user_file(env_value("XDG_CONFIG_HOME"), h->home,
		    h->where.uid, h->user, sizeof h->user) != -EPERM &&
		h->user[0])
		h->where.user = h->user;
	if (!h->no_project)
		project_file(h);
	if (access(h->user, F_OK) == 0 ||
		(h->where.project && access(h->project, F_OK) == 0))
		load_policy(h);
	if (h->policy && h->policy->state != POLICY_GOOD) {
		cli_hint_inside(&h->policy->why);
		cli_diag(&h->policy->why);
	}
	if (o->profile) {
		choose_profile(o, h);
		find_places(h);
		return h;
	}
	h->profile = policy_profile(h->policy, env_value("WARDBOX_PROFILE"),
		&d);
	if (d.text[0])
		cli_diag(&d);
	find_places(h);
	return h;
}

static enum policy_dialect dialect_of(const struct policy_opts *o)
{
	if (!o->dialect)
		return POLICY_SH_UNION;
	if (str_eq(o->dialect, "sh") || str_eq(o->dialect, "dash") ||
		str_eq(o->dialect, "posix"))
		return POLICY_SH_POSIX;
	if (str_eq(o->dialect, "ash"))
		return POLICY_SH_ASH;
	if (str_eq(o->dialect, "bash"))
		return POLICY_SH_BASH;
	cli_die_usage(o->spec, "%s: no such dialect; one of sh, ash, bash",
		o->dialect);
}

struct policy_request policy_request_here(
	const struct policy_opts *o, const struct policy_here *h)
{
	return (struct policy_request){.dialect = dialect_of(o),
		.profile = h->profile,
		.cwd = h->cwd,
		.root = h->root,
		.tmp = h->tmp,
		.own = h->own,
		/* Rows are of no machine. */
		.places = o->batch ? NULL : h->places,
		.no_project = h->no_project,
		.home = h->home,
		.env = environ};
}

void policy_write(const char *file, const void *bytes, size_t n, mode_t mode)
{
	int rc = file_put(file, bytes, n, mode, true);

	if (rc < 0)
		cli_die(EXIT_FOUND, "%s: %s", file, strerror(-rc));
}

void policy_wrote(const struct policy_opts *o, struct json *j, const char *file,
	const char *text)
{
	if (!o->json) {
		buf_addf(j->out, "%s%s%s%s\n", file, text ? ": " : "",
			text ? text : "", o->dry_run ? " (not written)" : "");
		return;
	}
	if (!j->depth)
		json_open(j, '[');
	json_putf(j, "{ file %s", file);
	if (text)
		json_put_str(j, "text", text);
	json_putf(j, "written %d }", !o->dry_run);
}

void policy_line_of(
	const struct policy_opts *o, int argc, char **argv, struct buf *out)
{
	if (argc < 2)
		cli_die_usage(o->spec, "%s: expected a shell line", argv[0]);
	for (int i = 1; i < argc; i++) {
		if (i > 1)
			buf_addc(out, ' ');
		buf_adds(out, argv[i]);
	}
	if (out->err)
		cli_die(EXIT_FOUND, "the line is too long");
}
