/* drop.c - enter a sandbox, then become the command
 * SPDX-License-Identifier: MIT
 *
 * APPLET(drop)
 *
 * config APPLET_DROP
 *	bool "drop: run a command in a sandbox (28.7 KB)"
 *	default y
 *	help
 *	  Gives up files, network, system calls and capabilities for good, then
 *	  execs. Needs no privilege and no daemon; where no limit or watch is
 *	  asked for, no process of ours stays behind.
 */
#include "drop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "applet.h"
#include "sys/env.h"
#include "base/kconfig.h"
#include "base/path.h"
#include "base/str.h"

extern char **environ;

/* The one to begin with: what a preset sets comes next. */
static int drop_environment(struct drop *o, struct diag *d)
{
	bool work = o->preset && !str_eq(o->preset, "read-only");
	int err;

	o->envp = o->outer = environ;
	if (o->clearenv || (!o->env.count && !o->unsetenv.count && !work))
		return 0;
	err = env_copy(&o->child_env, environ);
	return err < 0 ? diag_errno(d, err, "environment") : 0;
}

/* An option for one variable overrules the options for all variables. */
static int drop_variables(struct drop *o, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < o->env.count && err == 0; i++) {
		const char *pair = o->env.item[i], *value;

		if (strchr(pair, '=')) {
			err = env_put(&o->child_env, pair);
			continue;
		}
		value = env_get(environ, pair);
		if (value)
			err = env_set(&o->child_env, pair, value);
	}
	for (size_t i = 0; i < o->unsetenv.count; i++)
		env_unset(&o->child_env, o->unsetenv.item[i]);
	return err < 0 ? diag_errno(d, err, "environment") : 0;
}

/* Does anything need a process that stays? */
static bool drop_stays(const struct drop *o, const struct sandbox *s)
{
	const struct limits_spec *l = &o->plan.limits;

	return l->wall_ns || l->cpu_ns || l->mem || l->tasks || l->procs ||
	       l->output || s->clone_flags || s->enforced & SANDBOX_WATCH ||
	       o->link.sock >= 0 || o->status >= 0 || o->events >= 0 || o->no_strays || o->audit;
}

static struct net_spec *names_given(void *ctx)
{
	struct drop *o = ctx;
	struct net_spec *spec = o->names;

	o->names = NULL;
	return spec;
}

/* The namespace in which the hosts are there that --net names. */
static int drop_names(struct drop *o, struct diag *d)
{
	const struct net_ask ask = {.sum = 1, .spec = names_given, .ctx = o};
	int err;

	if (!o->names || o->dry_run || o->explain)
		return 0;
	if (!IS_ENABLED(CONFIG_NET_NAMES))
		return diag_fail(d, -ENOTSUP,
			"this wardbox was built without NET_NAMES");
	if (o->plan.want & SANDBOX_PIDNS)
		return diag_fail(d, -EINVAL,
			"hosts by name and --unshare-pid do not go together");
	err = net_join(-1, "", &ask, &o->link, d);
	o->join = (struct sandbox_join){o->link.net, o->link.user, -1};
	o->plan.join = &o->join;
	return err;
}

/* Tells the names that the keeper refused, when the command has ended. */
void drop_names_told(const struct drop *o)
{
	enum { WAIT_MS = 500 };
	struct net_event ev;
	bool more = true;

	if (o->link.sock < 0)
		return;
	net_link_flush(&o->link);
	while (more && net_link_read(&o->link, WAIT_MS, &ev) > 0) {
		more = ev.kind != NET_FLUSHED;
		if (ev.kind == NET_REFUSED && ev.count == 1)
			cli_warn("refused: %s: %s", ev.name, ev.why);
	}
}

static int drop_start(struct drop *o, struct sandbox *s, char *const *argv)
{
	struct diag d = {0};

	if (drop_stays(o, s))
		return drop_supervise(o, s, argv);
	if (o->die_with_parent)
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (o->new_session && setsid() < 0 && errno != EPERM)
		cli_die(EXIT_OURS, "cannot start a session");
	if (sandbox_apply(s) < 0) {
		sandbox_apply_diag(s, &d);
		cli_die_diag(EXIT_OURS, &d);
	}
	return drop_exec(o, argv);
}

static int drop_run(int argc, char **argv)
{
	struct drop o = {.plan = SANDBOX_PLAN_INIT,
		.link = NET_LINK_INIT,
		.strings = ARENA_INIT(1 << 20)};
	struct sandbox s = SANDBOX_INIT;
	struct diag d = {0};
	char *none[] = {NULL};
	int at, code;

	at = drop_options(&o, argc, argv);
	if (o.probe)
		return drop_show_probe(&o);
	if (o.chdir && chdir(o.chdir) < 0)
		cli_die(EXIT_OURS, "%s: cannot enter: %s", o.chdir,
			strerror(errno));
	if (drop_environment(&o, &d) < 0 ||
		(o.grants && drop_grants_file(&o, o.grants, &d) < 0) ||
		(!o.granted && drop_preset(&o, "read-only", &d) < 0) ||
		(o.preset && drop_preset(&o, o.preset, &d) < 0) ||
		drop_variables(&o, &d) < 0 ||
		sandbox_grant_devices(&o.plan, SIZE_MAX) < 0)
		cli_die_diag(EXIT_OURS, &d);
	if (o.envp != environ || o.child_env.vec || o.clearenv)
		o.envp = o.child_env.vec ? o.child_env.vec : none;
	if (at >= argc && !o.dry_run && !o.explain)
		cli_die(EXIT_OURS, "no command; try 'wardbox %s --help'",
			"drop");
	if (at < argc) {
		code = drop_find(&o, argv[at], &d);
		if (code)
			cli_die_diag(code, &d);
		if ((o.add_exec || o.ldd) &&
			drop_grant_program(&o, o.file, o.ldd, &d) < 0)
			cli_die_diag(EXIT_OURS, &d);
	}
	if (drop_names(&o, &d) < 0 || sandbox_compile(&o.plan, &s, &d) < 0)
		cli_die_diag(EXIT_OURS, &d);
	if (o.dry_run || o.explain) {
		if (o.explain)
			drop_show_path(&o, &s, o.explain);
		else
			drop_show_plan(&o, &s);
		sandbox_release(&s);
		return EXIT_OK;
	}
	code = drop_start(&o, &s, argv + at);
	sandbox_release(&s);
	return code;
}

const struct applet drop_applet = {.run = drop_run, .cli = &drop_cli};
