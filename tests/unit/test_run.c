/* test_run.c - run, proc: how a command starts, is signalled and ends
 * SPDX-License-Identifier: MIT
 */
#include "run_unit.h"

#include <grp.h>

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

static rlim_t allowed;

static void hardly_any_files(void)
{
	struct rlimit l = {allowed, allowed};

	setrlimit(RLIMIT_NOFILE, &l);
}

/* Whatever cannot be had: it fails and says so, or all of it is there. */
static void fails_with_a_word(void **state)
{
	struct want w = plain;

	(void)state;
	w.before = hardly_any_files;
	w.script = "echo out; echo err >&2; exit 4";
	for (allowed = 3; allowed < 20; allowed++) {
		if (go(&w, NULL) != 4 << 8) {
			assert_true(told->err < 0);
			assert_true(told->diag.text[0]);
			continue;
		}
		assert_string_equal(text[0], "out\n");
		assert_string_equal(text[1], "err\n");
		assert_int_equal(told->shown[RUN_STDOUT], 4);
		assert_int_equal(told->shown[RUN_STDERR], 4);
	}
	assert_int_equal(told->err, 0);
	/* So it does when the sink had no word for it. */
	w.before = NULL;
	w.fail = -EIO;
	assert_int_equal(go(&w, NULL), 99 << 8);
	assert_int_equal(told->err, -EIO);
	assert_true(told->diag.text[0]);
}

/* With more groups of users than a page tells of, where that is allowed. */
static void own_group(void)
{
	gid_t groups[400];

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		groups[i] = 1234567890 + i;
	(void)!setgroups(ARRAY_SIZE(groups), groups);
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
			ready(&c); /* or two would be one to the shell */
			pause_ms(120);
		}
		kill(group ? -c.pid : c.pid, SIGUSR1);
		collect(&c, total);
		assert_int_equal(finish(&c), 7 << 8);
		assert_string_equal(text[0], "U\n");
		assert_int_equal(told->signals, group ? 0 : 4);
		close(c.in);
	}
}

/* However quickly they come: none of them is handed on. */
static void group_signals_are_never_forwarded(void **state)
{
	struct want w = plain;
	struct caller c;
	size_t total[2];

	(void)state;
	w.before = own_group;
	w.script = "trap : TERM HUP; trap 'exit 7' USR1; echo go; "
		   "while :; do sleep 0.05; done";
	c = begin(&w);
	ready(&c);
	pause_ms(80);
	for (unsigned i = 0; i < 3000; i++) {
		kill(-c.pid, i & 1 ? SIGHUP : SIGTERM);
		for (volatile unsigned n = i * 17 % 4001; n; n--)
			;
	}
	pause_ms(20);
	kill(-c.pid, SIGUSR1);
	collect(&c, total);
	assert_int_equal(finish(&c), 7 << 8);
	assert_int_equal(told->signals, 0);
	close(c.in);
}

/* The next one to it alone is, once what came before is dealt with. */
static void alone_after_the_group(void **state)
{
	struct want w = plain;
	struct caller c;
	size_t total[2];

	(void)state;
	w.before = own_group;
	w.script = "trap 'echo T' TERM; trap 'exit 7' USR1; echo go; "
		   "while :; do sleep 0.05; done";
	c = begin(&w);
	ready(&c);
	pause_ms(80);
	for (int i = 0; i < 3; i++) {
		kill(-c.pid, SIGTERM);
		ready(&c);
		pause_ms(50);
		kill(c.pid, SIGTERM);
		ready(&c);
	}
	kill(-c.pid, SIGUSR1);
	collect(&c, total);
	assert_int_equal(finish(&c), 7 << 8);
	assert_int_equal(told->signals, 3);
	close(c.in);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_the_end_on),
		cmocka_unit_test(tells_what_did_not_start),
		cmocka_unit_test(keeps_time),
		cmocka_unit_test(kills_the_rest),
		cmocka_unit_test(goes_on_for_others),
		cmocka_unit_test(closed_stays_closed),
		cmocka_unit_test(lives_with_little),
		cmocka_unit_test(fails_with_a_word),
		cmocka_unit_test(forwards_once),
		cmocka_unit_test(group_signals_are_never_forwarded),
		cmocka_unit_test(alone_after_the_group),
		cmocka_unit_test(stops_with_the_command),
		cmocka_unit_test(dies_with_us),
	};

	share_what_is_told();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
