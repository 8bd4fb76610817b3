/* serve.c - starts the commands of sessions and keeps them in a list
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_in.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "sys/proc.h"
#include "sys/pty.h"

enum {
	ARGS_MAX = 65536,
	REPORT_MAX = 64 << 10,
	VARIABLES_FD = 5,
	FREE_FD = 16,
	OPTIONS_MAX = 256 << 10,
};

int serve_open(struct serve *s)
{
	sigset_t all;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &s->mask))
		return -errno;
	/* Where SIGCHLD was ignored the kernel would keep no exit code. */
	signal(SIGCHLD, SIG_DFL);
	return serve_loop_open(&s->loop);
}

struct serve_command *serve_find(const struct serve *s, const char *id)
{
	struct serve_command *c = s->first;

	while (c && !str_eq(c->id, id))
		c = c->next;
	return c;
}

static void watch_end(struct serve *s, struct serve_watch *w)
{
	int fd = w->fd;

	serve_watch_stop(&s->loop, w);
	cleanup_fd(&fd);
}

/* Closes all of it; the process, if any, has ended or is nobody's. */
static void command_free(struct serve_command *c)
{
	struct serve *s = c->engine;

	LIST_DROP(s->first, c);
	while (c->readers)
		serve_detach(c->readers);
	command_empty(c);
	for (enum serve_stream i = 0; i < SERVE_STREAMS; i++) {
		serve_watch_stop(&s->loop, &c->output[i]);
		cleanup_fd(&c->fd[i]);
	}
	serve_watch_stop(&s->loop, &c->input);
	cleanup_fd(&c->in);
	watch_end(s, &c->said);
	watch_end(s, &c->process);
	buf_release(&c->told);
	serve_timer_stop(&s->loop, &c->kill);
	serve_timer_stop(&s->loop, &c->resized);
	buf_release(&c->waiting);
	free(c->text);
	s->ended -= c->ended;
	serve_loop_bury(&s->loop, &c->grave);
}

void serve_forget(struct serve_command *c)
{
	if (c->ended) {
		command_free(c);
		return;
	}
	c->orphan = true;
	serve_stop(c);
}

void serve_trim(struct serve *s)
{
	for (struct serve_command *c = s->first, *next; c; c = next) {
		next = c->next;
		if (c->ended && c->orphan)
			command_free(c);
	}
	while (s->ended > SERVE_ENDED_MAX) {
		struct serve_command *oldest = NULL;

		for (struct serve_command *c = s->first; c; c = c->next)
			if (c->ended && !c->readers)
				oldest = c;
		if (!oldest)
			return;
		command_free(oldest);
	}
}

void serve_close(struct serve *s)
{
	sigset_t pipes;

	if (s->loop.epoll < 0)
		return;
	for (struct serve_command *c = s->first; c; c = c->next) {
		while (c->readers)
			serve_detach(c->readers);
		serve_stop(c);
	}
	s->loop.stop = false;
	while (s->running && !serve_loop_turn(&s->loop))
		;
	while (s->first)
		command_free(s->first);
	serve_loop_close(&s->loop);
	/* Of our own writes to what had ended. */
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	while (sigtimedwait(&pipes, NULL, &(struct timespec){0}) > 0)
		;
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

/* The ends of a command's streams: ours, and the command's, to be closed here. */
struct ends {
	int theirs[3], report;
};

static void ends_close(const struct ends *e)
{
	for (int i = 0; i < 3; i++)
		/* A terminal's end is one descriptor for all three. */
		if (!i || e->theirs[i] != e->theirs[0])
			cleanup_fd(&e->theirs[i]);
	cleanup_fd(&e->report);
}
#define autoends autoclean(ends_close)

static int pipe_pair(int *read_end, int *write_end, int ours)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	*read_end = fds[0];
	*write_end = fds[1];
	return fcntl(fds[ours], F_SETFL, O_NONBLOCK) ? -errno : 0;
}

static int make_terminal(
	struct serve_command *c, struct ends *e, struct diag *d)
{
	struct pty p = PTY_INIT;
	const struct winsize size = {
		.ws_row = c->rows,
		.ws_col = c->cols,
	};
	int err = pty_open(&p, -1, d);

	c->fd[SERVE_OUT] = p.master;
	e->theirs[0] = e->theirs[1] = e->theirs[2] = p.slave;
	if (err)
		return err;
	ioctl(p.slave, TIOCSWINSZ, &size);
	/* A second descriptor, because one is waited for only once. */
	c->in = fcntl(p.master, F_DUPFD_CLOEXEC, 3);
	return c->in < 0 ? diag_errno(d, -errno, "cannot open a terminal") : 0;
}

static int make_pipes(struct serve_command *c, const struct serve_spec *spec,
	struct ends *e, struct diag *d)
{
	int err = 0;

	if (spec->file) {
		e->theirs[0] = fcntl(spec->file, F_DUPFD_CLOEXEC, 3);
		err = e->theirs[0] < 0 ? -errno : 0;
	} else if (!spec->input) {
		e->theirs[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		err = e->theirs[0] < 0 ? -errno : 0;
	} else {
		err = pipe_pair(&e->theirs[0], &c->in, 1);
	}
	if (!err)
		err = pipe_pair(&c->fd[SERVE_OUT], &e->theirs[1], 0);
	if (!err)
		err = pipe_pair(&c->fd[SERVE_ERR], &e->theirs[2], 0);
	return err ? diag_errno(d, err, "cannot make a pipe") : 0;
}

/* exec's own arguments, a NUL behind each. */
static void add_options(const struct serve_command *c,
	const struct serve_spec *spec, int report, struct buf *out)
{
	static const char word[] = "wardbox\0exec\0--unattended\0";

	buf_add(out, word, sizeof word - 1);
	buf_addf(out, "--report=%d%c", report, 0);
	if (spec->variables)
		buf_addf(out, "--environment=%d%c", VARIABLES_FD, 0);
	if (spec->options)
		buf_add(out, spec->options->data, spec->options->len);
	if (spec->pty)
		buf_addf(out, "--pty%c", 0);
	if (c->engine->keeps)
		buf_addf(out, "--keep%c", 0);
	if (spec->timeout_ns)
		buf_addf(out, "--timeout=%juns%c", (uintmax_t)spec->timeout_ns,
			0);
	if (spec->approver_ns)
		buf_addf(out, "--approver=%juns%c",
			(uintmax_t)spec->approver_ns, 0);
	if (spec->cwd)
		buf_addf(out, "--cwd=%s%c", spec->cwd, 0);
	if (spec->argv0)
		buf_addf(out, "--argv0=%s%c", spec->argv0, 0);
	buf_addf(out, "%s%c--%c", c->session, 0, 0);
}

static int spawn_exec(struct serve_command *c, const struct serve_spec *spec,
	const struct ends *e, char *const *argv, struct diag *d)
{
	struct proc_setup setup = PROC_SETUP_INIT;
	autofd int variables = -1;
	enum proc_step step;
	int err;

	for (int i = 0; i < 3; i++)
		setup.fd[i] = e->theirs[i];
	setup.mask = c->engine->mask;
	setup.limits = c->engine->limits;
	setup.leads = true;
	setup.cwd = spec->directory;
	setup.parent = getpid();
	setup.parent_signal = SIGTERM;
	(void)proc_also(&setup, e->report, e->report == 3 ? 4 : 3);
	/* No descriptor that another one is moved onto. */
	variables = spec->variables
		? fcntl(spec->variables, F_DUPFD_CLOEXEC, FREE_FD)
		: -1;
	if (spec->variables && variables < 0)
		return diag_errno(d, -errno, "a command's variables");
	if (variables >= 0)
		(void)proc_also(&setup, variables, VARIABLES_FD);
	err = proc_spawn(&setup, "/proc/self/exe", argv, spec->env, &c->pid,
		&step);
	if (err && step == PROC_SETUP && spec->directory)
		return diag_errno(d, err, "%s", spec->directory);
	return err ? diag_errno(d, err, "cannot start wardbox exec") : 0;
}

/* The whole argv; its words before the command's stand in text. */
static int make_argv(const struct serve_spec *spec, struct buf *text,
	char ***out, struct diag *d)
{
	size_t count = 0, own = 0, n = 0;
	char **argv;

	while (spec->argv[count])
		if (++count > ARGS_MAX)
			return diag_fail(d, -E2BIG, "too many arguments");
	for (size_t i = 0; i < text->len; i++)
		own += !text->data[i];
	argv = calloc(count + own + 1, sizeof *argv);
	if (!argv || text->err) {
		free(argv);
		return diag_errno(d, -ENOMEM, "a command");
	}
	for (char *at = text->data; n < own; at += strlen(at) + 1)
		argv[n++] = at;
	memcpy(argv + n, spec->argv, count * sizeof *argv);
	*out = argv;
	return 0;
}

static int launch_command(struct serve_command *c, const struct serve_spec *spec,
	int *said, struct diag *d)
{
	autoends struct ends e = {{-1, -1, -1}, -1};
	autobuf struct buf text = BUF_INIT(OPTIONS_MAX);
	autofree char **argv = NULL;
	int err = spec->pty ? make_terminal(c, &e, d)
			    : make_pipes(c, spec, &e, d);

	if (err)
		return err;
	err = pipe_pair(said, &e.report, 0);
	if (err)
		return diag_errno(d, err, "cannot make a pipe");
	if (spec->own)
		buf_addf(&text, "wardbox%c", 0);
	else
		add_options(c, spec, e.report == 3 ? 4 : 3, &text);
	err = make_argv(spec, &text, &argv, d);
	return err ? err : spawn_exec(c, spec, &e, argv, d);
}

static struct serve_command *command_new(
	struct serve *s, const struct serve_spec *spec)
{
	struct serve_command *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->engine = s;
	c->pty = spec->pty;
	c->own = spec->own;
	c->rows = spec->rows ? spec->rows : 24;
	c->cols = spec->cols ? spec->cols : 80;
	c->in = c->said.fd = c->process.fd = c->input.fd = -1;
	for (enum serve_stream i = 0; i < SERVE_STREAMS; i++)
		c->fd[i] = c->output[i].fd = -1;
	c->waiting = BUF_INIT(SERVE_INPUT_MAX);
	c->told = BUF_INIT(REPORT_MAX);
	c->text = strndup(
		spec->text ? spec->text : spec->argv[0], SERVE_TEXT_MAX);
	(void)str_copy(c->session, sizeof c->session, spec->session);
	(void)BUF_PRINT(c->id, "c%ju", (uintmax_t)++s->last_id);
	c->started_ns = clock_ns(CLOCK_REALTIME);
	c->next = s->first;
	s->first = c;
	return c;
}

int serve_start(struct serve *s, const struct serve_spec *spec,
	struct serve_command **out, struct diag *d)
{
	struct serve_command *c;
	int err = session_id_check("", spec->session, d), pidfd, said = -1;

	if (err)
		return err;
	if (s->running >= SERVE_COMMANDS_MAX)
		return diag_fail(d, -EAGAIN, "%zu commands run already",
			s->running);
	c = command_new(s, spec);
	if (!c)
		return diag_errno(d, -ENOMEM, "a command");
	err = c->text ? launch_command(c, spec, &said, d)
		      : diag_errno(d, -ENOMEM, "a command");
	if (err) {
		cleanup_fd(&said);
		command_free(c);
		return err;
	}
	pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	err = pidfd < 0 ? -errno : command_watch(c, pidfd, said);
	if (err) {
		kill(c->pid, SIGKILL);
		while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
			;
		if (c->said.fd < 0)
			close(said);
		command_free(c);
		return diag_errno(d, err, "cannot wait for a command");
	}
	s->running++;
	*out = c;
	return 0;
}

static void ending_ready(struct serve_watch *w, uint32_t events)
{
	struct serve_ending *e = (struct serve_ending *)(void *)w;
	struct signalfd_siginfo got;

	(void)events;
	if (read(w->fd, &got, sizeof got) <= 0)
		return;
	if (got.ssi_signo == SIGHUP && e->hangup)
		e->hangup(e);
	else
		e->engine->loop.stop = true;
}

int serve_watch_ending(struct serve_ending *e)
{
	sigset_t ends;
	int fd;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	e->watch = (struct serve_watch){.fd = -1, .ready = ending_ready};
	return fd < 0 ? -errno
		      : serve_watch_set(
				&e->engine->loop, &e->watch, fd, EPOLLIN);
}
