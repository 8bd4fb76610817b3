/* test_run_pty.c - a command on a terminal of its own
 * SPDX-License-Identifier: MIT
 *
 * The caller's terminal is a pty whose other end this test holds.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "run/run.h"

enum { SEEN_MAX = 4096 };

static struct told {
	struct run_result result;
	struct diag diag;
	int err;
	char keys[SEEN_MAX], screen[SEEN_MAX], left[SEEN_MAX];
	size_t keys_len, screen_len;
	unsigned hidden;
	struct winsize size;
	pid_t monitor;
} * told;

static int see(void *ctx, enum run_stream s, const void *p, size_t n, bool echo)
{
	char *to = s == RUN_TTYIN ? told->keys : told->screen;
	size_t *len = s == RUN_TTYIN ? &told->keys_len : &told->screen_len;

	(void)ctx;
	if (s == RUN_TTYIN && !echo) {
		told->hidden += (unsigned)n;
		return RUN_MORE;
	}
	if (*len + n < SEEN_MAX) {
		memcpy(to + *len, p, n);
		*len += n;
	}
	return RUN_MORE;
}

static void a_while(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

/* One that was held up ends before its supervisor goes on. */
static int see_signal(void *ctx, int sig)
{
	(void)ctx;
	if (sig == SIGWINCH && told->monitor) {
		kill(told->monitor, SIGCONT);
		a_while();
	}
	return 0;
}

static int see_size(void *ctx, const struct winsize *size)
{
	(void)ctx;
	told->size = *size;
	return 0;
}

static char *const environment[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};

struct user {
	pid_t pid;
	int tty;
};

static rlim_t allowed; /* open files; 0: as many as ever */

static struct user begin_with(const char *script, const char *typed)
{
	static const struct run_sink sink = {
		.bytes = see, .winsize = see_size, .signal = see_signal};
	struct winsize size = {.ws_row = 33, .ws_col = 77};
	char *const argv[] = {
		(char[]){"sh"}, (char[]){"-c"}, strdup(script), NULL};
	struct buf keys = BUF_INIT(SEEN_MAX - 1);
	const struct run_spec spec = {.path = "/bin/sh",
		.argv = argv,
		.env = environment,
		.mode = RUN_PTY,
		.unread = typed ? &keys : NULL,
		.sink = &sink};
	struct user u;

	memset(told, 0, sizeof(*told));
	u.pid = forkpty(&u.tty, NULL, NULL, &size);
	assert_true(u.pid >= 0);
	if (u.pid == 0) {
		const struct rlimit l = {allowed, allowed};

		for (int fd = 3; fd < 64; fd++)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
		if (allowed)
			setrlimit(RLIMIT_NOFILE, &l);
		buf_adds(&keys, typed ? typed : "");
		told->err = run(&spec, &told->result, &told->diag);
		memcpy(told->left, keys.data ? keys.data : "", keys.len);
		_exit(told->err ? 99 : 0);
	}
	free(argv[2]);
	return u;
}

static struct user begin(const char *script)
{
	return begin_with(script, NULL);
}

static char text[SEEN_MAX];

/* What comes until the pattern is there, or the end. */
static bool until(struct user *u, const char *pattern)
{
	size_t n = 0;

	memset(text, 0, sizeof(text));
	while (!strstr(text, pattern)) {
		struct pollfd f = {.fd = u->tty, .events = POLLIN};
		ssize_t got;

		if (poll(&f, 1, 10000) != 1)
			return false;
		got = read(u->tty, text + n, sizeof(text) - 1 - n);
		if (got <= 0)
			return false;
		n += (size_t)got;
	}
	return true;
}

static void type(struct user *u, const char *keys)
{
	assert_int_equal(
		write(u->tty, keys, strlen(keys)), (ssize_t)strlen(keys));
}

static int end(struct user *u)
{
	int status;

	/* Until the process is gone it may wait for its output to be read. */
	until(u, "\001never");
	assert_int_equal(waitpid(u->pid, &status, 0), u->pid);
	close(u->tty);
	assert_int_equal(status, 0);
	assert_true(told->result.started);
	return told->result.status;
}

/* Whatever cannot be had: it fails and says so, or all of it is there. */
static void fails_with_a_word(void **state)
{
	(void)state;
	for (allowed = 5; allowed < 24; allowed++) {
		struct user u;
		int status;

		u = begin("echo it; exit 3");
		until(&u, "\001never");
		assert_int_equal(waitpid(u.pid, &status, 0), u.pid);
		close(u.tty);
		if (told->err || !told->result.started) {
			assert_true(told->diag.text[0]);
			continue;
		}
		assert_int_equal(told->result.status, 3 << 8);
		assert_string_equal(told->screen, "it\r\n");
	}
	allowed = 0;
	assert_true(told->result.started);
}

static void is_a_terminal(void **state)
{
	struct user u = begin("tty; stty size; echo err >&2; exit 3");

	(void)state;
	assert_true(until(&u, "err\r\n"));
	assert_non_null(strstr(text, "/dev/pts/"));
	assert_non_null(strstr(text, "33 77\r\n"));
	assert_int_equal(end(&u), 3 << 8);
	assert_int_equal(told->size.ws_row, 33);
	assert_int_equal(told->size.ws_col, 77);
	assert_non_null(strstr(told->screen, "33 77\r\n"));
}

static void hides_what_is_not_shown(void **state)
{
	struct user u = begin("echo go; read a; stty -echo; echo pass; read b; "
			      "stty echo; echo $a-$b");

	(void)state;
	assert_true(until(&u, "go\r\n"));
	type(&u, "open\n");
	assert_true(until(&u, "pass\r\n"));
	type(&u, "secret\n");
	assert_true(until(&u, "open-secret\r\n"));
	assert_int_equal(end(&u), 0);
	assert_memory_equal(told->keys, "open\n", 6);
	assert_int_equal(told->hidden, 7);
}

static void passes_keys_that_are_signals(void **state)
{
	struct user u = begin("echo go; exec sleep 60");

	(void)state;
	assert_true(until(&u, "go\r\n"));
	type(&u, "\003");
	assert_int_equal(end(&u), SIGINT);
}

static void follows_the_size(void **state)
{
	struct winsize size = {.ws_row = 44, .ws_col = 99};
	struct user u = begin("trap 'stty size; exit 5' WINCH; echo go; "
			      "while :; do sleep 0.05; done");

	(void)state;
	assert_true(until(&u, "go\r\n"));
	assert_int_equal(ioctl(u.tty, TIOCSWINSZ, &size), 0);
	assert_true(until(&u, "44 99\r\n"));
	assert_int_equal(end(&u), 5 << 8);
	assert_int_equal(told->size.ws_col, 99);
}

/* A key typed behind a change of size is read behind it. */
static void size_comes_before_the_key(void **state)
{
	struct winsize size = {.ws_row = 40, .ws_col = 99};
	struct user u = begin("echo go; while read a; do stty size; done");

	(void)state;
	assert_true(until(&u, "go\r\n"));
	for (; size.ws_row < 70; size.ws_row++) {
		char want[16];

		assert_int_equal(ioctl(u.tty, TIOCSWINSZ, &size), 0);
		type(&u, "\n");
		snprintf(want, sizeof(want), "%d 99\r\n", size.ws_row);
		assert_true(until(&u, " 99\r\n"));
		assert_non_null(strstr(text, want));
	}
	type(&u, "\004");
	assert_int_equal(end(&u), 0);
}

/* Keys that were typed before are the command's, and those that it leaves stay
 * for the next. */
static void keeps_keys(void **state)
{
	struct user u = begin_with(
		"read a; echo got $a; read b; sleep 0.5", "old\nmid");

	(void)state;
	assert_true(until(&u, "got old\r\n"));
	type(&u, "dle\nnew\nhalf");
	assert_true(until(&u, "half"));
	assert_int_equal(end(&u), 0);
	assert_string_equal(told->left, "new\nhalf");
	u = begin_with("kill -9 $$", "gone\n");
	assert_int_equal(end(&u), SIGKILL);
	assert_string_equal(told->left, "");
}

/* The modes of the user's terminal after a run that ended by a signal to the
 * command, to us, or with modes that the command set on purpose. */
static void gives_the_terminal_back(void **state)
{
	static const char *const scripts[] = {
		"stty raw -echo; echo go; kill -9 $$",
		"stty raw -echo; echo go; exec sleep 60",
		"stty -echoctl; echo go",
	};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct termios before, after;
		struct user u = begin(scripts[i]);
		int status = 0;

		assert_int_equal(tcgetattr(u.tty, &before), 0);
		assert_true(until(&u, "go"));
		if (i == 1)
			kill(u.pid, SIGTERM);
		/* Stays until its terminal is read no more. */
		assert_int_equal(waitpid(u.pid, &status, 0), u.pid);
		assert_int_equal(tcgetattr(u.tty, &after), 0);
		assert_true(after.c_lflag & ICANON);
		assert_true(after.c_lflag & ECHO);
		assert_true(after.c_oflag & OPOST);
		assert_int_equal(!(after.c_lflag & ECHOCTL), i == 2);
		close(u.tty);
	}
}

static void hangs_up(void **state)
{
	struct user u = begin("trap 'exit 6' HUP; echo go; "
			      "while :; do sleep 0.05; done");
	int status;

	(void)state;
	assert_true(until(&u, "go\r\n"));
	close(u.tty);
	assert_int_equal(waitpid(u.pid, &status, 0), u.pid);
	assert_int_equal(told->result.status, 6 << 8);
}

/* Its end is known although the last word to the monitor was never heard. */
static void ends_behind_a_word(void **state)
{
	struct user u = begin("echo m$PPID; read x; exit 3");
	const struct winsize size = {.ws_row = 9, .ws_col = 9};

	(void)state;
	assert_true(until(&u, "\r\n"));
	told->monitor = (pid_t)atoi(strchr(text, 'm') + 1);
	assert_int_equal(kill(told->monitor, SIGSTOP), 0);
	type(&u, "\n");
	a_while();
	/* Makes it say that the command may go on. */
	assert_int_equal(kill(u.pid, SIGCONT), 0);
	a_while();
	assert_int_equal(ioctl(u.tty, TIOCSWINSZ, &size), 0);
	assert_int_equal(end(&u), 3 << 8);
}

static void wants_a_terminal(void **state)
{
	char *const argv[] = {(char[]){"true"}, NULL};
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0) {
		struct run_spec spec = {.path = "/bin/true",
			.argv = argv,
			.env = environment,
			.mode = RUN_PTY};
		int fd = open("/dev/null", O_RDWR);

		for (int i = 0; i < 3; i++)
			dup2(fd, i);
		_exit(run(&spec, &told->result, &told->diag) == -ENOTTY ? 0
									: 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_non_null(strstr(told->diag.text, "terminal"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fails_with_a_word),
		cmocka_unit_test(is_a_terminal),
		cmocka_unit_test(hides_what_is_not_shown),
		cmocka_unit_test(passes_keys_that_are_signals),
		cmocka_unit_test(follows_the_size),
		cmocka_unit_test(size_comes_before_the_key),
		cmocka_unit_test(keeps_keys),
		cmocka_unit_test(gives_the_terminal_back),
		cmocka_unit_test(hangs_up),
		cmocka_unit_test(ends_behind_a_word),
		cmocka_unit_test(wants_a_terminal),
	};

	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
