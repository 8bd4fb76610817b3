/* session_live.c - what commands of a session left running: shown, ended
 * SPDX-License-Identifier: MIT
 */
#include "session_applet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/audit_read_json.h"
#include "base/num.h"
#include "base/str.h"
#include "base/uapi/linux.h"
#include "session/session_live.h"
#include "sys/file.h"
#include "sys/limits.h"

enum {
	COMMAND_MAX = 4096,
	STOP_MS = 2000, /* from SIGTERM to SIGKILL */
};

/* The command line of a process, its words with blanks between. */
static void add_command(struct buf *out, pid_t pid)
{
	autobuf struct buf text = BUF_INIT(COMMAND_MAX);
	char path[32];

	(void)file_read(AT_FDCWD, BUF_PRINT(path, "/proc/%d/cmdline", (int)pid),
		&text);
	while (text.len && !text.data[text.len - 1])
		text.len--;
	for (size_t i = 0; i < text.len; i++)
		if (!text.data[i])
			text.data[i] = ' ';
	buf_add(out, text.data, text.len);
}

/* A callback for each program. */
typedef int with_program(void *ctx, const struct limits_process *p);
struct asked {
	with_program *with;
	void *ctx;
	pid_t supervisor;
};

/* The supervisor's own helper stands beside the programs, and no filter holds for
 * it. */
static int pass_program(void *ctx, const struct limits_process *p)
{
	const struct asked *a = ctx;

	if (p->parent == a->supervisor && !p->guarded)
		return 0;
	return a->with(a->ctx, p);
}

static int each_supervisor(void *ctx, pid_t pid)
{
	struct asked *a = ctx;

	a->supervisor = pid;
	return limits_descendants(pid, pass_program, a);
}

static int each_program(int dir, const char *id, with_program *with, void *ctx)
{
	struct asked a = {.with = with, .ctx = ctx};
	int err = dir < 0 ? 0 : session_live(dir, id, each_supervisor, &a);

	return err == -ENOENT ? 0 : err;
}

static int add_program(void *ctx, const struct limits_process *p)
{
	struct buf *out = ctx;
	autobuf struct buf command = BUF_INIT(COMMAND_MAX + 1);
	char age[24];
	struct buf b = BUF_FIXED(age);

	session_add_age(&b, p->since, clock_ns(CLOCK_REALTIME));
	add_command(&command, p->pid);
	buf_addf(out, "    pid %-7d %8s %7ju KiB  ", (int)p->pid, buf_str(&b),
		p->memory / 1024);
	cli_escape_str(out, buf_str(&command));
	buf_addc(out, '\n');
	return 0;
}

void session_add_programs(struct buf *out, int dir, const char *id)
{
	(void)each_program(dir, id, add_program, out);
}

static int json_program(void *ctx, const struct limits_process *p)
{
	struct json *j = ctx;
	autobuf struct buf command = BUF_INIT(COMMAND_MAX + 1);

	add_command(&command, p->pid);
	json_putf(j, "{ pid %ju command %s", (uintmax_t)p->pid,
		buf_str(&command));
	audit_json_time(j, "since", p->since);
	json_putf(j, "memory %ju }", p->memory);
	return 0;
}

void session_json_programs(struct json *j, int dir, const char *id)
{
	json_put_open(j, "background", '[');
	(void)each_program(dir, id, json_program, j);
	json_close(j);
}

/* The program with that number, or all. */
struct stopping {
	pid_t wanted;
	bool found;
	int err;
};

/* A number may have gone to another process since the tree was looked at, so the
 * tree is looked at again when the process is held. */
static int is_wanted(void *ctx, const struct limits_process *p)
{
	return p->pid == *(const pid_t *)ctx;
}

static int stop_one(int dir, const char *id, pid_t pid)
{
	autofd int fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
	struct pollfd gone = {.fd = fd, .events = POLLIN};

	if (each_program(dir, id, is_wanted, &pid) != 1)
		return -ESRCH;
	if (fd < 0)
		return -errno;
	if (syscall(NR_PIDFD_SEND_SIGNAL, fd, SIGTERM, NULL, 0) < 0)
		return errno == ESRCH ? 0 : -errno;
	if (poll(&gone, 1, STOP_MS) > 0)
		return 0;
	syscall(NR_PIDFD_SEND_SIGNAL, fd, SIGKILL, NULL, 0);
	return poll(&gone, 1, STOP_MS) > 0 ? 0 : -ETIMEDOUT;
}

static int stop_named(int dir, const char *id, const char *word)
{
	struct diag d = {0};
	uint64_t pid;
	int err;

	if (num_u64(word, 1, INT32_MAX, &pid))
		cli_die(EXIT_USAGE, "stop: '%s' is no process number", word);
	err = stop_one(dir, id, (pid_t)pid);
	if (err == -ESRCH)
		diag_fail(&d, err, "session %s left no process %s running; see"
			" 'wardbox session list'", id, word);
	else if (err)
		diag_errno(&d, err, "cannot end process %s", word);
	if (err)
		cli_diag(&d);
	return err ? EXIT_FOUND : EXIT_OK;
}

static int count_program(void *ctx, const struct limits_process *p)
{
	(void)p;
	++*(unsigned *)ctx;
	return 0;
}

int session_run_stop(void *into, int argc, char **argv)
{
	struct session_where w;
	struct session_name name;
	struct diag d = {0};
	autofd int dir = -1;
	unsigned count = 0;
	int code = EXIT_OK;

	(void)into;
	session_where_am_i(&w);
	session_pick(&w, argc > 1 ? argv[1] : NULL, false, &name);
	dir = session_open(&w, false);
	for (int i = 2; i < argc; i++)
		code |= stop_named(dir, name.id, argv[i]);
	if (argc > 2)
		return code;
	(void)each_program(dir, name.id, count_program, &count);
	if (!count)
		cli_die(EXIT_FOUND, "session %s left nothing running", name.id);
	if (session_live_end(dir, name.id, &d))
		cli_die_diag(EXIT_FOUND, &d);
	return EXIT_OK;
}
