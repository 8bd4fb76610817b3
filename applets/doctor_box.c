/* doctor_box.c - a guarded command, from end to end
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "applet.h"
#include "base/path.h"
#include "base/str.h"
#include "box/sandbox.h"
#include "doctor.h"
#include "policy/policy.h"
#include "run/run.h"
#include "sys/env.h"

void doctor_needs(struct doctor_needs *needs)
{
	const struct policy_where where = {
		.system = POLICY_SYSTEM,
		.system_dir = POLICY_SYSTEM_DIR,
		.image = POLICY_IMAGE,
		.key = POLICY_KEY,
		.uid = geteuid(),
		.brief = true,
	};
	autopolicy struct policy *p = NULL;
	autogrants struct policy_grants g = {0};
	struct diag d = {0};

	*needs = (struct doctor_needs){.confined = true};
	if (policy_load(&p, &where, &d) < 0 || p->state != POLICY_GOOD ||
		policy_grants(p,
			policy_profile(p, env_get(environ, "WARDBOX_PROFILE"),
				&d),
			"/", NULL, &g) < 0)
		return;
	needs->confined = g.confine;
	for (size_t i = 0; i < g.relax.count; i++)
		needs->relax |= sandbox_part_named(g.relax.item[i]);
}

struct judge {
	int answer;
	unsigned seen;
};

static int judge_exec(void *ctx, const struct watch_event *ev)
{
	struct judge *j = ctx;

	j->seen += ev->exe[0] && ev->argc == 2 && str_eq(ev->argv[1], "--list");
	return j->answer;
}

enum way { LET_GO_ON, DENIED, UNSEEN, WAYS }; /* UNSEEN: judged before */

static int run_boxed(const struct doctor_needs *needs, const char *exe,
	enum way way, struct diag *d)
{
	char *argv[] = {(char[]){"wardbox"}, (char[]){"--list"}, NULL};
	char *none[] = {NULL};
	autosandbox_plan struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	autosandbox struct sandbox box = SANDBOX_INIT;
	struct judge judge = {.answer = way == DENIED ? -EACCES : 0};
	struct run_result result = {0};
	const struct run_spec spec = {
		.path = exe,
		.argv = argv,
		.env = none,
		.sandbox = &box,
		.mode = RUN_DIRECT,
		.kill_tree = true,
		.keep_fds = true, /* there is more than one run */
	};
	int err;

	plan.want = SANDBOX_WATCH;
	plan.watch_names = true;
	plan.watch_scope = true;
	plan.own_exec = way == UNSEEN;
	plan.relax = needs->relax;
	plan.limits = (struct limits_spec){
		.wall_ns = 10000000000, .files = 64, .procs = 64, .brief = true};
	err = sandbox_grant(&plan, "/", SANDBOX_ROX, false, "doctor");
	if (err < 0)
		return diag_errno(d, err, "/");
	err = sandbox_compile(&plan, &box, d);
	box.watch.decide = judge_exec;
	box.watch.ctx = &judge;
	if (err == 0)
		err = run(&spec, &result, d);
	if (err < 0)
		return err;
	if (box.enforced & SANDBOX_WATCH && !judge.seen != (way == UNSEEN))
		return d->text[0] ? -EBADE :
				    diag_fail(d, -EBADE, "the watch was not asked");
	if (way != DENIED && (!result.started || result.status))
		return d->text[0] ? -EBADE :
				    diag_fail(d, -EBADE, "it does not run");
	if (way == DENIED && box.enforced & SANDBOX_WATCH && result.started)
		return diag_fail(d, -EBADE, "what was denied runs");
	*d = (struct diag){0};
	return 0;
}

struct answer {
	int err;
	struct diag d;
};

static void box_child(const struct doctor_needs *needs, int to)
{
	struct answer a = {0};
	int nowhere[2]; /* a root may have no /dev/null; the list is short */
	autofree char *exe = malloc(PATH_MAX);

	for (int fd = pipe2(nowhere, O_CLOEXEC) ? 3 : 0; fd <= 2; fd++)
		dup2(nowhere[1], fd);
	a.err = exe ? path_real("/proc/self/exe", exe) : -ENOMEM;
	if (a.err < 0)
		diag_errno(&a.d, a.err, "/proc/self/exe");
	for (int way = 0; way < WAYS && a.err == 0; way++)
		a.err = run_boxed(needs, exe, (enum way)way, &a.d);
	_exit(write(to, &a, sizeof(a)) != sizeof(a));
}

int doctor_box(const struct doctor_needs *needs, struct diag *d)
{
	enum { PATIENCE_MS = 30000 };
	struct answer a = {.err = -EINTR};
	struct pollfd p = {.events = POLLIN};
	int ends[2], ready = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return diag_errno(d, -errno, "pipe2");
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		box_child(needs, ends[1]);
	}
	if (pid < 0)
		diag_errno(&a.d, -errno, "fork");
	close(ends[1]);
	p.fd = ends[0];
	while (pid > 0 && (ready = poll(&p, 1, PATIENCE_MS)) < 0 &&
		errno == EINTR)
		;
	if (pid > 0 && (!ready || read(ends[0], &a, sizeof(a)) != sizeof(a)))
		a.err = diag_fail(&a.d, -EINTR, "no answer came");
	close(ends[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	*d = a.d;
	return a.err;
}
