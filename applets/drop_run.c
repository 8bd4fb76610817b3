/* drop_run.c - staying with the command: limits, watch, signals, its end
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/file.h"
#include "base/kconfig.h"
#include "box/landlock_log.h"
#include "sys/lean.h"
#include "sys/pump.h"
#include "sys/sig.h"
#include "base/str.h"

struct drop_job {
	struct drop *o;
	struct sandbox *s;
	struct sigaction chld, pipe;
	uint64_t reaped_ns; /* when it was last looked for who has ended */
	sigset_t old;
	int signals; /* signalfd */
	int status;  /* wait status */
	int log;     /* the kernel's audit records, or -1 */
	pid_t command; /* with that */
	uint64_t domains[8]; /* whose records are the command's */
	size_t domain_count;
	struct landlock_record held; /* its domain is told behind it */
	struct pump pumps[2]; /* with --output */
	int ends[2];          /* the command's */
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
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &job->old);
	/* Where it is ignored there is no status to wait for. */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL},
		&job->chld);
	/* A reader of the status that is gone must not end the command. */
	sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN},
		&job->pipe);
	job->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Reaps processes that the command left behind, because the number of processes
 * is limited for all. The command itself is waited for elsewhere. The count is
 * bounded, because more may end meanwhile; it is small where processes are
 * limited, because a fork bomb stops growing while its dead count. */
static void reap_strays(struct drop_job *job)
{
	enum { MANY = 16384, FEW = 16, PAUSE_NS = 50000000 };
	const struct limits_spec *l = &job->s->limits.spec;
	const bool counted = l->procs || l->tasks;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct rusage usage;

	if (counted && now - job->reaped_ns < PAUSE_NS)
		return;
	job->reaped_ns = now;
	for (int i = 0; i < (counted ? FEW : MANY); i++) {
		siginfo_t info = {.si_pid = 0};

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
			!info.si_pid || info.si_pid == job->s->pid)
			return;
		wait4(info.si_pid, NULL, WNOHANG, &usage);
		limits_reaped(&job->s->limits, info.si_pid, &usage);
	}
}

/* A terminal sends to the whole foreground: the command has that already. */
static void take_signals(struct drop_job *job)
{
	struct signalfd_siginfo info;
	bool died = false;

	while (read(job->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGCHLD)
			died = true;
		else if (info.ssi_code <= 0)
			kill(job->s->pid, (int)info.ssi_signo);
	/* Once: as it goes on more may die, and limits are to be looked at. */
	if (died)
		reap_strays(job);
}

static void write_status(const struct drop_job *job, struct buf *line)
{
	buf_addc(line, '\n');
	if (line->err == 0)
		file_write_all(job->o->status, line->data, line->len);
}

static void status_start(const struct drop_job *job)
{
	autobuf struct buf line = BUF_INIT(1 << 16);
	struct json j = JSON_INIT(&line);

	if (job->o->status < 0)
		return;
	json_putf(&j, "{ child-pid %ju landlock-abi %ju",
		(uintmax_t)job->s->pid, (uintmax_t)job->s->abi);
	drop_parts_json(&j, "enforced", job->s->enforced);
	drop_parts_json(&j, "missing", job->s->missing);
	json_close(&j);
	write_status(job, &line);
}

static void status_end(const struct drop_job *job, int code)
{
	const struct limits *l = &job->s->limits;
	autobuf struct buf line = BUF_INIT(1 << 16);
	struct json j = JSON_INIT(&line);
	char name[16];

	if (job->o->status < 0)
		return;
	json_putf(&j, "{ exit-code %ju", (uintmax_t)code);
	if (WIFSIGNALED(job->status))
		json_put_str(&j, "signal",
			sig_name(WTERMSIG(job->status), name, sizeof(name)));
	if (l->hit)
		json_putf(&j, "limit %s limit-by %s", limits_name(l->hit),
			limits_how_name((enum limits_how)l->how[l->hit]));
	if (l->cpu_used)
		json_put_u64(&j, "cpu-ns", l->cpu_used);
	if (l->mem_peak)
		json_put_u64(&j, "memory-peak", l->mem_peak);
	if (job->s->watch.seen)
		json_putf(&j, "execs %ju execs-denied %ju",
			(uintmax_t)job->s->watch.seen,
			(uintmax_t)job->s->watch.denied);
	json_close(&j);
	write_status(job, &line);
}

static void on_file(void *ctx, const struct watch_access *a)
{
	struct drop *o = ctx;

	if (IS_ENABLED(CONFIG_SANDBOX_LEARN) && o->learn)
		drop_learn_file(o, a);
	else
		drop_explain_denial(o, a->path, a->wants, a->pid);
}

static int on_exec(void *ctx, const struct watch_event *ev)
{
	struct drop *o = ctx;
	autobuf struct buf line = BUF_INIT(1 << 18);

	/* The interpreter of a script is learnt and not shown, because the script
	 * was shown. */
	if (ev->level) {
		if (IS_ENABLED(CONFIG_SANDBOX_LEARN) && o->learn)
			drop_learn_exec(o, ev->exe);
		return 0;
	}
	drop_audit_fact(o, "exec", *ev->exe ? ev->exe : ev->path, NULL);
	if (IS_ENABLED(CONFIG_SANDBOX_LEARN) && o->learn)
		drop_learn_exec(o, ev->exe);
	else if (o->explain_denials && *ev->exe)
		drop_explain_denial(o, ev->exe, SANDBOX_EXEC, ev->pid);
	if (!o->watch_exec)
		return 0;
	if (o->json) {
		struct json j = JSON_INIT(&line);

		json_putf(&j, "{ pid %ju path %s exe %s cwd %s argv [",
			(uintmax_t)ev->pid, ev->path,
			*ev->exe ? ev->exe : NULL, watch_cwd(ev));
		for (size_t i = 0; i < ev->argc; i++)
			json_str(&j, ev->argv[i]);
		json_putf(&j, "] }");
		buf_addc(&line, '\n');
	} else {
		buf_addf(&line, "exec %d ", (int)ev->pid);
		cli_escape(&line, *ev->exe ? ev->exe : ev->path,
			strlen(*ev->exe ? ev->exe : ev->path));
		for (size_t i = 1; i < ev->argc; i++) {
			buf_addc(&line, ' ');
			cli_escape_str(&line, ev->argv[i]);
		}
		buf_adds(&line, ev->cut ? " ...\n" : "\n");
	}
	if (line.err == 0)
		file_write_all(2, line.data, line.len);
	return 0;
}

static void tell_denial(struct drop_job *job, const struct landlock_record *r)
{
	autobuf struct buf line = BUF_INIT(1 << 13);

	drop_audit_fact(job->o, "kernel.deny", r->object, r->rights);
	buf_addf(&line, "denied by the kernel: %s ", r->rights);
	cli_escape_str(&line, r->object);
	buf_addc(&line, '\n');
	file_write_all(2, line.data, line.len);
}

/* A refusal comes first; whose it is, behind it, once for each domain. */
static void on_record(void *ctx, unsigned type, const struct landlock_record *r)
{
	struct drop_job *job = ctx;
	size_t i = 0;

	while (i < job->domain_count && job->domains[i] != r->domain)
		i++;
	if (type == LANDLOCK_LOG_DENIED) {
		job->held = *r;
		if (i < job->domain_count)
			tell_denial(job, r);
	} else if (i == job->domain_count && i < ARRAY_SIZE(job->domains) &&
		   r->pid && r->pid == job->command) {
		job->domains[job->domain_count++] = r->domain;
		if (job->held.domain == r->domain)
			tell_denial(job, &job->held);
	}
}

static void open_log(struct drop_job *job)
{
	job->log = -1;
	if (!job->o->plan.log || job->s->abi < 7)
		return;
	job->log = landlock_log_open();
	if (job->log < 0)
		cli_warn("the kernel's own records cannot be read: %s",
			job->log == -ENODATA ? "auditing is off (audit=1, or "
					       "auditctl -e 1)" :
					       strerror(-job->log));
}

/* Output beyond the limit is not passed on. */
static int count_output(void *ctx, struct pump *p, const void *bytes, size_t n)
{
	struct drop_job *job = ctx;
	uint64_t max = job->o->plan.limits.output;
	uint64_t all = job->pumps[0].bytes + job->pumps[1].bytes;

	(void)bytes;
	if (all <= max)
		return PUMP_MORE;
	job->s->limits.hit = LIMITS_OUTPUT;
	p->allow = all - max < n ? n - (size_t)(all - max) : 0;
	return PUMP_DROP;
}

static void open_pumps(struct drop_job *job)
{
	for (int i = 0; i < 2; i++) {
		struct stat st;
		int ends[2];

		job->ends[i] = -1;
		if (!job->o->plan.limits.output || fstat(i + 1, &st) < 0)
			continue;
		if (pipe2(ends, O_CLOEXEC) < 0)
			cli_die(EXIT_OURS, "pipe: %s", strerror(errno));
		job->ends[i] = ends[1];
		job->pumps[i] = (struct pump){
			.live = true,
			.from = ends[0],
			.to = i + 1,
			.to_socket = S_ISSOCK(st.st_mode),
			.to_tty = isatty(i + 1),
			.show = count_output,
			.ctx = job,
		};
	}
}

static bool pumps_live(const struct drop_job *job)
{
	return !pump_ended(&job->pumps[0]) || !pump_ended(&job->pumps[1]);
}

/* Handles the events of at most ms milliseconds. True when the command has
 * ended. */
static bool take_turn(struct drop_job *job, bool over, int ms)
{
	struct sandbox *s = job->s;
	struct pollfd p[] = {
		{.fd = over ? -1 : s->pidfd, .events = POLLIN},
		{.fd = job->signals, .events = POLLIN},
		{.fd = watch_fd(&s->watch), .events = POLLIN},
		{.fd = job->log, .events = POLLIN},
		{.fd = -1}, {.fd = -1}, {.fd = -1}, {.fd = -1},
	};

	for (int i = 0; i < 2; i++)
		if (!pump_ended(&job->pumps[i]))
			pump_poll(&job->pumps[i], p + 4 + 2 * i);
	/* No more than may be open are asked about: the kernel refuses that. */
	if (poll(p, job->o->plan.limits.output ? ARRAY_SIZE(p) : 4, ms) < 0) {
		if (errno != EINTR)
			cli_die(EXIT_OURS, "poll: %s", strerror(errno));
		return false;
	}
	if (p[1].revents)
		take_signals(job);
	if (p[2].revents)
		watch_step(&s->watch, p[2].revents);
	if (p[3].revents && landlock_log_read(job->log, job, on_record) < 0) {
		close(job->log);
		job->log = -1;
	}
	for (int i = 0; i < 2; i++)
		if (!pump_ended(&job->pumps[i]) &&
			pump_step(&job->pumps[i], p + 4 + 2 * i))
			pump_end(&job->pumps[i]);
	return p[0].revents & POLLIN;
}

/* Until the command has ended. */
static void wait_for_it(struct drop_job *job)
{
	enum { SETTLE_MS = 30 };
	struct sandbox *s = job->s;
	bool ended = false, settled = false;

	while (!ended && !limits_check(&s->limits, false)) {
		int ms = limits_timeout(&s->limits);

		ended = take_turn(job, false,
			settled || (ms >= 0 && ms < SETTLE_MS) ? ms : SETTLE_MS);
		/* The command lasts, so memory is given back now. */
		if (!settled && !ended)
			lean_code();
		settled = true;
	}
	if (!ended) {
		limits_kill(&s->limits);
		kill(s->pid, SIGKILL);
	}
	while (waitpid(s->pid, &job->status, 0) < 0 && errno == EINTR)
		;
}

static void child_start(void *ctx)
{
	struct drop_job *job = ctx;

	close(job->signals);
	for (int i = 0; i < 2; i++)
		if (job->ends[i] >= 0 && dup2(job->ends[i], i + 1) < 0)
			sandbox_child_fail(job->s, SANDBOX_STEP_SETUP, -errno);
	if (job->o->new_session && setsid() < 0)
		sandbox_child_fail(job->s, SANDBOX_STEP_SETUP, -errno);
	sigaction(SIGCHLD, &job->chld, NULL);
	sigaction(SIGPIPE, &job->pipe, NULL);
	sigprocmask(SIG_SETMASK, &job->old, NULL);
	if (sandbox_apply(job->s) < 0)
		_exit(EXIT_OURS);
	_exit(drop_exec(job->o, job->argv));
}

/* The pipes are read until they are empty. A process outside of the command may
 * hold them open, so their end is not waited for. */
static void drain_pumps(struct drop_job *job)
{
	for (;;) {
		for (int i = 0; i < 2; i++) {
			struct pump *p = &job->pumps[i];

			if (!pump_ended(p) && pump_idle(p) &&
				pump_due(p) == p->bytes)
				pump_end(p);
		}
		if (!pumps_live(job))
			return;
		take_turn(job, true, -1);
	}
}

/* Ends as the command ended. */
static int job_finish(struct drop_job *job)
{
	struct sandbox *s = job->s;
	enum limits_kind hit = limits_check(&s->limits, true);
	struct diag d = {0};
	int code;

	if (sandbox_kill(s) < 0)
		cli_warn("some processes of the command would not end");
	if (job->log >= 0)
		take_turn(job, true, 0);
	drain_pumps(job);
	if (!sandbox_outcome(s, &job->status, &d)) {
		drop_audit_end(job->o, s, job->status, NULL);
		sandbox_release(s);
		cli_die_diag(EXIT_OURS, &d);
	}
	if (!hit && WIFSIGNALED(job->status) &&
		WTERMSIG(job->status) == SIGXFSZ && s->limits.spec.fsize)
		hit = s->limits.hit = LIMITS_FSIZE;
	if (drop_audit_end(job->o, s, job->status, &d) < 0)
		cli_diag(&d);
	code = WIFEXITED(job->status) ? WEXITSTATUS(job->status) :
					128 + WTERMSIG(job->status);
	if (hit == LIMITS_WALL)
		code = EXIT_TIMEOUT;
	if (!hit)
		hit = s->limits.hit;
	if (s->watch.refused)
		cli_warn("some programs were not started: more processes "
			 "than allowed");
	if (hit)
		cli_warn("ended: more %s than allowed (%s)", limits_name(hit),
			limits_how_name((enum limits_how)s->limits.how[hit]));
	drop_names_told(job->o);
	status_end(job, code);
	if (IS_ENABLED(CONFIG_SANDBOX_LEARN) && job->o->learn &&
		drop_learn_write(job->o, &d) < 0)
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
	block_signals(&job);
	if ((IS_ENABLED(CONFIG_SANDBOX_LEARN) && o->learn &&
		    drop_learn_ready(o, &d) < 0) ||
		drop_audit_start(o, s, argv, &d) < 0) {
		sandbox_release(s);
		cli_die_diag(EXIT_OURS, &d);
	}
	open_log(&job);
	open_pumps(&job);
	if (o->die_with_parent)
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	pid = sandbox_spawn(s, child_start, &job, true);
	if (pid < 0) {
		if (!sandbox_namespace_lacks(s, &d))
			diag_errno(&d, pid, "cannot start the sandbox");
		sandbox_release(s);
		cli_die_diag(EXIT_OURS, &d);
	}
	if (job.log >= 0)
		job.command = sandbox_command(s);
	for (int i = 0; i < 2; i++)
		if (job.ends[i] >= 0)
			close(job.ends[i]);
	status_start(&job);
	sandbox_take_watch(s);
	wait_for_it(&job);
	return job_finish(&job);
}
