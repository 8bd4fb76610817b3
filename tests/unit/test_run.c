/* test_run.c - run, pump, proc: a command and what stands round it
 * SPDX-License-Identifier: MIT
 *
 * Each case runs in a fork of its own: run() takes a process's descriptors and
 * signals over.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"
#include "str.h"

enum { SEEN_MAX = 1 << 16 };

/* What the case's fork tells; shared memory. */
struct told {
	struct run_result result;
	struct diag diag;
	int err;
	size_t shown[RUN_STREAMS];
	char seen[RUN_STREAMS][SEEN_MAX];
	unsigned hidden, signals, cuts;
	pid_t pid;
};
static struct told *told;

struct want {
	struct run_spec spec;
	const char *script;
	size_t enough; /* bytes of a stream that satisfy the sink */
	int fail;      /* the sink's answer */
	bool detach;
	void (*before)(void); /* in the fork */
};

static size_t sink_enough;
static int sink_fail;

static int see(void *ctx, enum run_stream s, const void *p, size_t n, bool echo)
{
	size_t room = SEEN_MAX - told->shown[s];

	(void)ctx;
	if (sink_fail)
		return sink_fail;
	if (!echo) {
		told->hidden += (unsigned)n;
		return RUN_MORE;
	}
	memcpy(told->seen[s] + told->shown[s], p, n < room ? n : room);
	told->shown[s] += n < room ? n : room;
	return sink_enough && told->shown[s] >= sink_enough ? RUN_ENOUGH
							    : RUN_MORE;
}

static int see_signal(void *ctx, int sig)
{
	(void)ctx;
	(void)sig;
	told->signals++;
	return 0;
}

static int see_cut(void *ctx, enum run_stream s)
{
	(void)ctx;
	(void)s;
	told->cuts++;
	return 0;
}

static int see_start(void *ctx, pid_t pid)
{
	(void)ctx;
	told->pid = pid;
	return 0;
}

static int keep_on(void *ctx)
{
	(void)ctx;
	return 0;
}

static char *const environment[] = {
	(char[]){"PATH=/usr/bin:/bin"}, (char[]){"A=b"}, NULL};

/* In the fork: runs it and goes as it went. */
static void perform(const struct want *w)
{
	struct run_sink sink = {.bytes = see,
		.signal = see_signal,
		.cut = see_cut,
		.started = see_start,
		.detach = w->detach ? keep_on : NULL};
	char *const argv[] = {
		(char[]){"sh"}, (char[]){"-c"}, strdup(w->script), NULL};
	struct run_spec spec = w->spec;
	int status, given[64];

	sink_enough = w->enough;
	sink_fail = w->fail;
	spec.sink = &sink;
	spec.env = environment;
	if (!spec.path)
		spec.path = "/bin/sh";
	if (!spec.argv)
		spec.argv = argv;
	if (w->before)
		w->before();
	spec.inherited = given;
	spec.inherited_count = run_inherited(given, 64);
	told->err = run(&spec, &told->result, &told->diag);
	if (told->err || !told->result.started)
		_exit(99);
	status = told->result.status;
	sigprocmask(SIG_SETMASK, &told->result.mask, NULL);
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		kill(getpid(), WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

/* The caller's side of a case that is under way. */
struct caller {
	pid_t pid;
	int in, out, err;
};

static void cloexec_from(int fd)
{
	for (; fd < 256; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static struct caller begin(const struct want *w)
{
	int in[2], out[2], err[2];
	struct caller c;

	memset(told, 0, sizeof(*told));
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	c.pid = fork();
	if (c.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(in[1]);
		close(out[0]);
		close(err[0]);
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		close(in[0]);
		close(out[1]);
		close(err[1]);
		cloexec_from(3);
		signal(SIGPIPE, SIG_DFL);
		perform(w);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	c.in = in[1];
	c.out = out[0];
	c.err = err[0];
	return c;
}

static char text[2][1 << 17];

/* All of it, both at once; what of it fits is kept. */
static size_t collect(struct caller *c, size_t total[2])
{
	struct pollfd fds[2] = {{.fd = c->out, .events = POLLIN},
		{.fd = c->err, .events = POLLIN}};
	static char piece[65536];

	total[0] = total[1] = 0;
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		poll(fds, 2, -1);
		for (int i = 0; i < 2; i++) {
			ssize_t n;

			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			n = read(fds[i].fd, piece, sizeof(piece));
			if (n <= 0) {
				close(fds[i].fd);
				fds[i].fd = -1;
				continue;
			}
			if (total[i] + (size_t)n < sizeof(text[i]))
				memcpy(text[i] + total[i], piece, (size_t)n);
			total[i] += (size_t)n;
			text[i][total[i] < sizeof(text[i]) ? total[i] : 0] = 0;
		}
	}
	return total[0];
}

static int finish(struct caller *c)
{
	int status;

	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	return status;
}

/* The whole of a case: stdin given, outputs kept in text[]. */
static int go(const struct want *w, const char *input)
{
	struct caller c;
	size_t total[2];

	text[0][0] = text[1][0] = 0;
	signal(SIGPIPE, SIG_IGN);
	c = begin(w);
	if (input && write(c.in, input, strlen(input)) < 0)
		fail();
	close(c.in);
	collect(&c, total);
	return finish(&c);
}

static const struct want plain = {.spec = {.mode = RUN_CAPTURE}};

static int sh(const char *script)
{
	struct want w = plain;

	w.script = script;
	return go(&w, NULL);
}

static void captures_both(void **state)
{
	(void)state;
	assert_int_equal(sh("echo out; echo err >&2; exit 3"), 3 << 8);
	assert_string_equal(text[0], "out\n");
	assert_string_equal(text[1], "err\n");
	assert_memory_equal(told->seen[RUN_STDOUT], "out\n", 5);
	assert_memory_equal(told->seen[RUN_STDERR], "err\n", 5);
	assert_int_equal(told->result.bytes[RUN_STDOUT], 4);
	assert_int_equal(
		told->result.captured, 1 << RUN_STDOUT | 1 << RUN_STDERR);
	assert_int_equal(told->result.truncated, 0);
	assert_true(told->result.duration_ns > 0);
	assert_false(told->result.detached);
	assert_true(told->pid > 0);
}

static void direct_captures_nothing(void **state)
{
	struct want w = {.spec = {.mode = RUN_DIRECT}, .script = "echo x; cat"};

	(void)state;
	assert_int_equal(go(&w, "in"), 0);
	assert_string_equal(text[0], "x\nin");
	assert_int_equal(told->result.captured, 0);
	assert_int_equal(told->shown[RUN_STDOUT], 0);
}

static void join_outputs(void)
{
	dup2(1, 2);
	dup2(1, 7); /* and one that the command finds at 7 */
}

static void one_pipe_keeps_its_order(void **state)
{
	struct want w = plain;

	(void)state;
	w.before = join_outputs;
	w.script = "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; "
		   "echo s$i >&7; done";
	assert_int_equal(go(&w, NULL), 0);
	for (int i = 1; i <= 9; i++) {
		char want[48];

		snprintf(want, sizeof(want), "o%d\ne%d\ns%d\n", i, i, i);
		assert_memory_equal(text[0] + (i - 1) * 9, want, 9);
	}
	assert_int_equal(told->result.bytes[RUN_STDOUT], 81);
	assert_int_equal(told->result.captured, 1 << RUN_STDOUT);
}

static void passes_the_end_on(void **state)
{
	(void)state;
	assert_int_equal(sh("kill -9 $$"), SIGKILL);
	assert_int_equal(sh("kill -TERM $$"), SIGTERM);
	assert_int_equal(sh("exit 255"), 255 << 8);
	assert_int_equal(WTERMSIG(told->result.status), 0);
}

static void tells_what_did_not_start(void **state)
{
	struct want w = plain;

	(void)state;
	w.script = "";
	w.spec.path = "/nonexistent/sh";
	go(&w, NULL);
	assert_false(told->result.started);
	assert_int_equal(told->err, 0);
	assert_int_equal(told->result.code, 127);
	assert_non_null(strstr(told->diag.text, "/nonexistent/sh"));
	w.spec.path = "/etc/passwd";
	go(&w, NULL);
	assert_int_equal(told->result.code, 126);
	w.spec.path = "/";
	go(&w, NULL);
	assert_int_equal(told->result.code, 126);
	w.spec.path = NULL;
	w.spec.cwd = "/nonexistent";
	go(&w, NULL);
	assert_false(told->result.started);
	assert_int_equal(told->result.code, 125);
	w.spec.cwd = "/proc";
	w.script = "pwd -P";
	assert_int_equal(go(&w, NULL), 0);
	assert_string_equal(text[0], "/proc\n");
}

static int given_stdin;
static void take_stdin(void)
{
	dup2(given_stdin, 0);
}

static void leaves_stdin_to_the_caller(void **state)
{
	struct want w = plain;
	char rest[16];
	int in[2];

	(void)state;
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(write(in[1], "one\ntwo\n", 8), 8);
	given_stdin = in[0];
	w.before = take_stdin;
	w.script = "read x; echo $x";
	assert_int_equal(go(&w, NULL), 0);
	assert_string_equal(text[0], "one\n");
	assert_int_equal(read(in[0], rest, sizeof(rest)), 4);
	assert_memory_equal(rest, "two\n", 4);
	close(in[0]);
	close(in[1]);
}

static void feeds_stdin(void **state)
{
	struct want w = plain;

	(void)state;
	w.script = "cat";
	w.spec.feed = "first ";
	w.spec.feed_len = 6;
	assert_int_equal(go(&w, "then"), 0);
	assert_string_equal(text[0], "first then");
	assert_int_equal(told->shown[RUN_STDIN], 0);
	w.spec.capture_stdin = true;
	assert_int_equal(go(&w, "then"), 0);
	assert_string_equal(text[0], "first then");
	assert_memory_equal(told->seen[RUN_STDIN], "then", 5);
	assert_int_equal(told->result.bytes[RUN_STDIN], 4);
	w.spec.feed_only = true;
	assert_int_equal(go(&w, "then"), 0);
	assert_string_equal(text[0], "first ");
	/* One who does not read it all is not waited for. */
	w.spec.feed = calloc(1, 1 << 20);
	w.spec.feed_len = 1 << 20;
	w.script = "head -c 3 | wc -c";
	assert_int_equal(go(&w, NULL), 0);
	assert_string_equal(text[0], "3\n");
	free((void *)(uintptr_t)w.spec.feed);
}

static void cuts_where_it_is_hard(void **state)
{
	struct want w = plain;

	(void)state;
	w.spec.output_hard = true;
	w.spec.output_max = 10;
	w.script = "printf 12345678; printf abcdefgh >&2; sleep 0.1; "
		   "printf more; exit 5";
	assert_int_equal(go(&w, NULL), 5 << 8);
	assert_int_equal(strlen(text[0]) + strlen(text[1]), 10);
	assert_true(told->result.cut);
	assert_int_equal(told->cuts, 1);
	assert_true(told->result.truncated != 0);
	w.spec.output_hard = false;
	assert_int_equal(go(&w, NULL), 5 << 8);
	assert_int_equal(strlen(text[0]) + strlen(text[1]), 20);
	assert_false(told->result.cut);
}

static void moves_much(void **state)
{
	struct want w = plain;
	struct caller c;
	size_t total[2];

	(void)state;
	w.script = "head -c 20000000 /dev/zero; head -c 3000 /dev/zero >&2";
	w.enough = 50000;
	c = begin(&w);
	close(c.in);
	collect(&c, total);
	assert_int_equal(finish(&c), 0);
	assert_int_equal(total[0], 20000000);
	assert_int_equal(total[1], 3000);
	assert_int_equal(told->result.bytes[RUN_STDOUT], 20000000);
	assert_int_equal(told->result.truncated, 1 << RUN_STDOUT);
	assert_true(told->shown[RUN_STDOUT] >= 50000);
}

/* Small pieces must fit into the caller's pipe as they would have without us:
 * who waits for the end before reading would wait for ever. */
static void packs_small_pieces(void **state)
{
	struct want w = plain;
	struct caller c;
	size_t total[2];

	(void)state;
	w.enough = 1;
	w.script = "i=0; while [ $i -lt 600 ]; do echo "
		   "12345678901234567890123456789012345678901234567890; "
		   "i=$((i+1)); done";
	c = begin(&w);
	close(c.in);
	assert_int_equal(finish(&c), 0);
	collect(&c, total);
	assert_int_equal(total[0], 600 * 51);
}

static void passes_a_gone_reader_on(void **state)
{
	struct want w = plain;
	struct caller c;

	(void)state;
	w.script = "exec yes";
	c = begin(&w);
	close(c.in);
	close(c.out);
	assert_int_equal(finish(&c), SIGPIPE);
	close(c.err);
	/* Also when it is silent at that time. */
	w.script = "sleep 0.2; echo a || exit 4; exit 0";
	c = begin(&w);
	close(c.in);
	close(c.out);
	assert_true(finish(&c) == SIGPIPE);
	close(c.err);
}

static void passes_an_end_on(void **state)
{
	struct want w = plain;
	struct caller c;
	char byte;

	(void)state;
	/* The command closes its output and lives on. */
	w.script = "exec >&- 2>&-; read x";
	c = begin(&w);
	assert_int_equal(read(c.out, &byte, 1), 0);
	assert_int_equal(read(c.err, &byte, 1), 0);
	assert_int_equal(waitpid(c.pid, NULL, WNOHANG), 0);
	close(c.in);
	finish(&c);
	close(c.out);
	close(c.err);
}

static int file_fd;
static void into_file(void)
{
	dup2(file_fd, 1);
	dup2(file_fd, 2);
}

static void reads_files_back(void **state)
{
	struct want w = plain;

	(void)state;
	for (int append = 0; append <= 1; append++) {
		char path[] = "/tmp/wardbox-run-XXXXXX";
		int fd = mkstemp(path);

		assert_int_equal(write(fd, "old\n", 4), 4);
		close(fd);
		file_fd = open(path,
			O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC));
		w.before = into_file;
		w.script = "echo one; echo two >&2";
		assert_int_equal(go(&w, NULL), 0);
		close(file_fd);
		assert_int_equal(told->result.bytes[RUN_STDOUT], 8);
		assert_memory_equal(told->seen[RUN_STDOUT], "one\ntwo\n", 9);
		assert_int_equal(told->result.captured, 1 << RUN_STDOUT);
		unlink(path);
	}
}

static void keeps_time(void **state)
{
	struct want w = plain;

	(void)state;
	w.script = "setsid sleep 60 & sleep 60; exit 0";
	w.spec.timeout_ns = 200000000;
	assert_int_equal(go(&w, NULL), SIGKILL);
	assert_true(told->result.timed_out);
	assert_int_equal(told->result.limit, LIMITS_WALL);
}

static void kills_the_rest(void **state)
{
	struct want w = plain;
	int pid;

	(void)state;
	w.script = "setsid sleep 60 & echo $!";
	w.spec.kill_tree = true;
	assert_int_equal(go(&w, NULL), 0);
	pid = atoi(text[0]);
	assert_true(pid > 1);
	assert_true(kill(pid, 0) < 0 && errno == ESRCH);
	assert_false(told->result.detached);
}

static void goes_on_for_others(void **state)
{
	struct want w = plain;

	(void)state;
	for (int heard = 0; heard <= 1; heard++) {
		struct caller c;
		size_t total[2];

		w.detach = heard;
		/* The writer waits for the caller, who waits for the end. */
		w.script = "exec 5<&0; (cat <&5; echo late) & echo now";
		c = begin(&w);
		assert_int_equal(finish(&c), 0);
		assert_true(told->result.detached);
		assert_int_equal(told->shown[RUN_STDOUT], 4);
		assert_int_equal(write(c.in, "x", 1), 1);
		close(c.in);
		collect(&c, total);
		assert_string_equal(text[0], "now\nxlate\n");
		if (heard)
			assert_memory_equal(
				told->seen[RUN_STDOUT], "now\nxlate\n", 10);
	}
}

static void swallows(void **state)
{
	struct want w = plain;

	(void)state;
	w.spec.swallow = true;
	w.script = "echo a; echo b >&2";
	assert_int_equal(go(&w, NULL), 0);
	assert_string_equal(text[0], "");
	assert_string_equal(text[1], "");
	assert_memory_equal(told->seen[RUN_STDOUT], "a\n", 3);
	assert_memory_equal(told->seen[RUN_STDERR], "b\n", 3);
}

static void ends_with_its_sink(void **state)
{
	struct want w = plain;

	(void)state;
	w.fail = -ENOSPC;
	w.script = "echo a; sleep 60";
	assert_int_equal(go(&w, NULL), 99 << 8);
	assert_int_equal(told->err, -ENOSPC);
	assert_true(told->result.started);
	assert_int_equal(told->result.status, SIGKILL);
}

static void close_some(void)
{
	close(1);
	assert_int_equal(open("/dev/null", O_RDONLY | O_CLOEXEC), 1);
	dup2(2, 5);
}

static void closed_stays_closed(void **state)
{
	struct want w = plain;

	(void)state;
	w.before = close_some;
	w.script = "for i in 0 1 2 3 4 5 6; do "
		   "[ -e /proc/$$/fd/$i ] && echo $i >&2; done; true";
	assert_int_equal(go(&w, NULL), 0);
	assert_string_equal(text[1], "0\n2\n5\n");
}

static void few_files(void)
{
	struct rlimit l = {16, 16};

	setrlimit(RLIMIT_NOFILE, &l);
	signal(SIGCHLD, SIG_IGN);
}

static void lives_with_little(void **state)
{
	struct want w = plain;

	(void)state;
	w.before = few_files;
	w.script = "ulimit -n; ulimit -Hn; exit 4";
	assert_int_equal(go(&w, NULL), 4 << 8);
	assert_string_equal(text[0], "16\n16\n");
}

static void own_group(void)
{
	setpgid(0, 0);
}

static void ready(struct caller *c)
{
	char byte;

	do
		assert_int_equal(read(c->out, &byte, 1), 1);
	while (byte != '\n');
}

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void forwards_once(void **state)
{
	struct want w = plain;

	(void)state;
	w.before = own_group;
	w.script = "trap 'echo T' TERM; trap 'echo U; exit 7' USR1; echo go; "
		   "while :; do sleep 0.05; done";
	for (int group = 0; group <= 1; group++) {
		struct caller c = begin(&w);
		size_t total[2];

		ready(&c);
		pause_ms(80); /* a signal witness is called after a while */
		for (int i = 0; i < 3; i++) {
			kill(group ? -c.pid : c.pid, SIGTERM);
			pause_ms(120);
		}
		kill(group ? -c.pid : c.pid, SIGUSR1);
		collect(&c, total);
		assert_int_equal(finish(&c), 7 << 8);
		assert_string_equal(text[0], "T\nT\nT\nU\n");
		assert_int_equal(told->signals, group ? 0 : 4);
		close(c.in);
	}
}

static void stops_with_the_command(void **state)
{
	static const int sigs[] = {SIGTSTP, SIGSTOP, SIGTTIN};
	struct want w = plain;

	(void)state;
	w.before = own_group;
	for (size_t i = 0; i < ARRAY_SIZE(sigs); i++) {
		char script[64];
		struct caller c;
		size_t total[2];
		int status;

		snprintf(script, sizeof(script), "kill -%d $$; echo on",
			sigs[i]);
		w.script = script;
		c = begin(&w);
		assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
		assert_true(WIFSTOPPED(status));
		assert_int_equal(WSTOPSIG(status), sigs[i]);
		kill(c.pid, SIGCONT);
		collect(&c, total);
		assert_int_equal(finish(&c), 0);
		assert_string_equal(text[0], "on\n");
		close(c.in);
	}
}

static void dies_with_us(void **state)
{
	struct want w = plain;
	struct caller c;
	char byte;

	(void)state;
	w.script = "echo go; exec sleep 60";
	c = begin(&w);
	ready(&c);
	kill(c.pid, SIGKILL);
	finish(&c);
	assert_int_equal(read(c.out, &byte, 1), 0);
	close(c.in);
	close(c.out);
	close(c.err);
}

static void peeks(void **state)
{
	autobuf struct buf b = BUF_INIT(1 << 20);
	bool complete;
	char back[8];
	int p[2], s[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(run_peek(p[0], &b, 100, &complete), 0);
	assert_int_equal(b.len, 0);
	assert_false(complete);
	assert_int_equal(write(p[1], "script", 6), 6);
	assert_int_equal(run_peek(p[0], &b, 100, &complete), 0);
	assert_string_equal(buf_str(&b), "script");
	assert_false(complete);
	buf_clear(&b);
	close(p[1]);
	assert_int_equal(run_peek(p[0], &b, 3, &complete), 0);
	assert_string_equal(buf_str(&b), "scr");
	assert_false(complete);
	buf_clear(&b);
	assert_int_equal(run_peek(p[0], &b, 100, &complete), 0);
	assert_true(complete);
	assert_int_equal(read(p[0], back, 8), 6);
	close(p[0]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	assert_int_equal(write(s[0], "abc", 3), 3);
	buf_clear(&b);
	assert_int_equal(run_peek(s[1], &b, 100, &complete), 0);
	assert_string_equal(buf_str(&b), "abc");
	assert_false(complete);
	close(s[0]);
	buf_clear(&b);
	assert_int_equal(run_peek(s[1], &b, 100, &complete), 0);
	assert_true(complete);
	close(s[1]);
	p[0] = open("/dev/null", O_RDONLY);
	assert_int_equal(run_peek(p[0], &b, 100, &complete), -ESPIPE);
	close(p[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_both),
		cmocka_unit_test(direct_captures_nothing),
		cmocka_unit_test(one_pipe_keeps_its_order),
		cmocka_unit_test(passes_the_end_on),
		cmocka_unit_test(tells_what_did_not_start),
		cmocka_unit_test(leaves_stdin_to_the_caller),
		cmocka_unit_test(feeds_stdin),
		cmocka_unit_test(cuts_where_it_is_hard),
		cmocka_unit_test(moves_much),
		cmocka_unit_test(packs_small_pieces),
		cmocka_unit_test(passes_a_gone_reader_on),
		cmocka_unit_test(passes_an_end_on),
		cmocka_unit_test(reads_files_back),
		cmocka_unit_test(keeps_time),
		cmocka_unit_test(kills_the_rest),
		cmocka_unit_test(goes_on_for_others),
		cmocka_unit_test(swallows),
		cmocka_unit_test(ends_with_its_sink),
		cmocka_unit_test(closed_stays_closed),
		cmocka_unit_test(lives_with_little),
		cmocka_unit_test(forwards_once),
		cmocka_unit_test(stops_with_the_command),
		cmocka_unit_test(dies_with_us),
		cmocka_unit_test(peeks),
	};

	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
