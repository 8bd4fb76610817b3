/* drop_run.c - staying with the command: limits, watch, signals, its end
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"
#include "lean.h"
#include "sig.h"
#include "str.h"

struct drop_job {
	struct drop *o;
	struct sandbox *s;
	struct sigaction chld;
	sigset_t old;
	int signals; /* signalfd */
	int status;  /* wait status */
	char *const *argv;
};

/* Signals that are the command's, not ours. */
static void block_signals(struct drop_job *job)
{
	static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM,
		SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
		sigaddset(&set, forwarded[i]);
	sigprocmask(SIG_BLOCK, &set, &job->old);
	job->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A terminal sends to the whole foreground: the command has that already. */
static void forward_signals(const struct drop_job *job)
{
	struct signalfd_siginfo info;

	while (read(job->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_code <= 0)
			kill(job->s->pid, (int)info.ssi_signo);
}

static void write_status(const struct drop_job *job, struct buf *line)
{
	buf_addc(line, '\n');
	if (line->err == 0)
		file_write_all((int)job->o->status_fd, line->data, line->len);
}

static void status_start(const struct drop_job *job)
{
	autobuf struct buf line = BUF_INIT(1 << 16);
	struct json j = JSON_INIT(&line);

	if (!job->o->status_fd_given)
		return;
	json_open(&j, '{');
	json_u64(json_key(&j, "child-pid"), (uint64_t)job->s->pid);
	json_u64(json_key(&j, "landlock-abi"), (uint64_t)job->s->abi);
	json_open(json_key(&j, "enforced"), '[');
	for (unsigned part = 1; part <= SANDBOX_WATCH; part <<= 1)
		if (job->s->enforced & part)
			json_str(&j, sandbox_part_name(part));
	json_close(&j);
	json_open(json_key(&j, "missing"), '[');
	for (unsigned part = 1; part <= SANDBOX_WATCH; part <<= 1)
		if (job->s->missing & part)
			json_str(&j, sandbox_part_name(part));
	json_close(&j);
	json_close(&j);
	write_status(job, &line);
}

static void status_end(const struct drop_job *job, int code)
{
	const struct limits *l = &job->s->limits;
	autobuf struct buf line = BUF_INIT(1 << 16);
	struct json j = JSON_INIT(&line);
	char name[16];

	if (!job->o->status_fd_given)
		return;
	json_open(&j, '{');
	json_u64(json_key(&j, "exit-code"), (uint64_t)code);
	if (WIFSIGNALED(job->status))
		json_str(json_key(&j, "signal"),
			sig_name(WTERMSIG(job->status), name, sizeof(name)));
	if (l->hit) {
		json_str(json_key(&j, "limit"), limits_name(l->hit));
		json_str(json_key(&j, "limit-by"),
			limits_how_name((enum limits_how)l->how[l->hit]));
	}
	if (l->cpu_used)
		json_u64(json_key(&j, "cpu-ns"), l->cpu_used);
	if (l->mem_peak)
		json_u64(json_key(&j, "memory-peak"), l->mem_peak);
	if (job->s->watch.seen) {
		json_u64(json_key(&j, "execs"), job->s->watch.seen);
		json_u64(json_key(&j, "execs-denied"), job->s->watch.denied);
	}
	json_close(&j);
	write_status(job, &line);
}

static void on_file(void *ctx, const struct execwatch_access *a)
{
	struct drop *o = ctx;

	if (o->learn)
		drop_learn_file(o, a);
	else
		drop_explain_denial(o, a->path, a->wants, a->pid);
}

static int on_exec(void *ctx, const struct execwatch_event *ev)
{
	struct drop *o = ctx;
	autobuf struct buf line = BUF_INIT(1 << 18);

	drop_audit_fact(o, "exec", *ev->exe ? ev->exe : ev->path, NULL);
	if (o->learn)
		drop_learn_exec(o, ev->exe);
	else if (o->explain_denials && *ev->exe)
		drop_explain_denial(o, ev->exe, SANDBOX_EXEC, ev->pid);
	if (!o->watch_exec)
		return 0;
	if (o->json) {
		struct json j = JSON_INIT(&line);

		json_open(&j, '{');
		json_u64(json_key(&j, "pid"), (uint64_t)ev->pid);
		json_str(json_key(&j, "path"), ev->path);
		json_str(json_key(&j, "exe"), *ev->exe ? ev->exe : NULL);
		json_str(json_key(&j, "cwd"), ev->cwd);
		json_open(json_key(&j, "argv"), '[');
		for (size_t i = 0; i < ev->argc; i++)
			json_str(&j, ev->argv[i]);
		json_close(&j);
		json_close(&j);
		buf_addc(&line, '\n');
	} else {
		buf_addf(&line, "exec %d ", (int)ev->pid);
		cli_escape(&line, *ev->exe ? ev->exe : ev->path,
			strlen(*ev->exe ? ev->exe : ev->path));
		for (size_t i = 1; i < ev->argc; i++) {
			buf_addc(&line, ' ');
			cli_escape(&line, ev->argv[i], strlen(ev->argv[i]));
		}
		buf_adds(&line, ev->cut ? " ...\n" : "\n");
	}
	if (line.err == 0)
		file_write_all(2, line.data, line.len);
	return 0;
}

/* Until the command has ended. */
static void wait_for_it(struct drop_job *job)
{
	enum { SETTLE_MS = 30 };
	struct sandbox *s = job->s;
	bool ended = false, settled = false;

	while (!ended) {
		int ms = limits_timeout(&s->limits), n;
		struct pollfd p[] = {
			{.fd = s->pidfd, .events = POLLIN},
			{.fd = job->signals, .events = POLLIN},
			{.fd = execwatch_fd(&s->watch), .events = POLLIN},
		};

		if (!settled && (ms < 0 || ms > SETTLE_MS))
			ms = SETTLE_MS;
		n = poll(p, ARRAY_SIZE(p), ms);
		if (n < 0 && errno != EINTR)
			cli_die(EXIT_OURS, "poll: %s", strerror(errno));
		/* It lasts: now is time to be small. */
		if (n == 0 && !settled) {
			settled = true;
			lean_code();
		}
		if (p[1].revents)
			forward_signals(job);
		if (p[2].revents)
			execwatch_step(&s->watch);
		if (limits_check(&s->limits, false))
			break;
		ended = p[0].revents & POLLIN;
	}
	if (!ended)
		limits_kill(&s->limits);
	if (!ended)
		kill(s->pid, SIGKILL);
	while (waitpid(s->pid, &job->status, 0) < 0 && errno == EINTR)
		;
}

static void child(void *ctx)
{
	struct drop_job *job = ctx;

	close(job->signals);
	if (job->o->new_session && setsid() < 0)
		sandbox_child_fail(job->s, SANDBOX_STEP_SETUP, -errno);
	sigprocmask(SIG_SETMASK, &job->old, NULL);
	if (sandbox_apply(job->s) < 0)
		_exit(EXIT_OURS);
	_exit(drop_exec(job->o, job->argv));
}

/* Ends as the command ended. */
static int finish(struct drop_job *job)
{
	struct sandbox *s = job->s;
	enum limits_kind hit = limits_check(&s->limits, true);
	struct diag d = {0};
	int code;

	if (sandbox_kill(s) < 0)
		cli_warn("some processes of the command would not end");
	if (!sandbox_outcome(s, &job->status, &d)) {
		drop_audit_end(job->o, s, job->status, NULL);
		sandbox_release(s);
		cli_die_diag(EXIT_OURS, &d);
	}
	if (drop_audit_end(job->o, s, job->status, &d) < 0)
		cli_diag(&d);
	code = WIFEXITED(job->status) ? WEXITSTATUS(job->status) :
					128 + WTERMSIG(job->status);
	if (hit == LIMITS_WALL)
		code = EXIT_TIMEOUT;
	if (hit)
		cli_warn("ended: more %s than allowed (%s)", limits_name(hit),
			limits_how_name((enum limits_how)s->limits.how[hit]));
	status_end(job, code);
	if (job->o->learn && drop_learn_write(job->o, &d) < 0)
		cli_die_diag(EXIT_OURS, &d);
	sandbox_release(s);
	if (hit != LIMITS_WALL && WIFSIGNALED(job->status))
		sig_die(WTERMSIG(job->status));
	return code;
}

int drop_supervise(struct drop *o, struct sandbox *s, char *const *argv)
{
	struct drop_job job = {.o = o, .s = s, .argv = argv};
	struct diag d = {0};
	pid_t pid;

	s->watch.decide = on_exec;
	s->watch.see = on_file;
	s->watch.ctx = o;
	o->sandbox = s;
	if (o->audit && drop_audit_start(o, s, argv, &d) < 0) {
		sandbox_release(s);
		cli_die_diag(EXIT_OURS, &d);
	}
	block_signals(&job);
	if (o->die_with_parent)
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	pid = sandbox_spawn(s, child, &job, true);
	if (pid < 0) {
		diag_errno(&d, pid, "cannot start the sandbox");
		if (s->clone_flags)
			diag_hint(&d, "'wardbox doctor' shows which "
				      "namespaces work here");
		sandbox_release(s);
		cli_die_diag(EXIT_OURS, &d);
	}
	status_start(&job);
	if (s->enforced & SANDBOX_WATCH)
		execwatch_take(&s->watch);
	wait_for_it(&job);
	return finish(&job);
}
