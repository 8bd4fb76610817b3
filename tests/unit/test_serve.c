/* test_serve.c - commands, their streams, and whoever follows them
 * SPDX-License-Identifier: MIT
 *
 * The engine starts /proc/self/exe as `wardbox exec`: here that is this program,
 * whose main plays exec.
 */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/str.h"
#include "serve/serve_in.h"
#include "serve/serve_mcp.h"

extern char **environ;

/* "out N": the numbers below N, in eight digits each. */
static int play_out(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		printf("%08u", i);
	fflush(stdout);
	return 0;
}

static int play_cat(void)
{
	char some[4096];
	ssize_t n;

	while ((n = read(0, some, sizeof some)) > 0)
		if (write(1, some, (size_t)n) != n)
			return 1;
	return 0;
}

static int play(char **argv)
{
	struct winsize size = {0};

	if (str_eq(argv[0], "out"))
		return play_out((unsigned)atoi(argv[1]));
	if (str_eq(argv[0], "cat"))
		return play_cat();
	if (str_eq(argv[0], "pause"))
		return pause();
	if (str_eq(argv[0], "leave")) {
		/* One that lives on and never stops writing. */
		if (fork())
			return 0;
		while (write(1, "left behind", 11) > 0)
			;
		_exit(0);
	}
	if (str_eq(argv[0], "deaf")) {
		signal(SIGTERM, SIG_IGN);
		(void)!write(1, "deaf", 4);
		for (;;)
			pause();
	}
	if (str_eq(argv[0], "size")) {
		char key;

		(void)!read(0, &key, 1);
		ioctl(0, TIOCGWINSZ, &size);
		printf("%d %d %d", size.ws_row, size.ws_col,
			getsid(0) == getpid());
		return 0;
	}
	return atoi(argv[0]);
}

/* exec SESSION -- COMMAND, with its report. */
static int play_exec(char **argv)
{
	int report = -1, code;

	for (; *argv && !str_eq(*argv, "--"); argv++)
		if (str_after(*argv, "--report="))
			report = atoi(str_after(*argv, "--report="));
	if (!*argv || report < 0)
		return 99;
	code = play(argv + 1);
	fflush(stdout);
	if (!str_eq(argv[1], "7"))
		dprintf(report, "{\"ran\":%s,\"exit_code\":%d,\"decision\":"
			"\"%s\",\"error\":{\"message\":\"m\"}}\n",
			code == 126 ? "false" : "true", code,
			code == 126 ? "deny" : "allow");
	return code;
}

static struct serve_command *start(struct serve *s, const char *word,
	const char *arg, bool pty, bool input)
{
	char *argv[] = {strdup(word), arg ? strdup(arg) : NULL, NULL};
	struct serve_spec spec = {.session = "s", .argv = argv,
		.env = environ, .pty = pty, .input = input};
	struct serve_command *c = NULL;
	struct diag d;

	assert_int_equal(serve_start(s, &spec, &c, &d), 0);
	free(argv[0]);
	free(argv[1]);
	return c;
}

static void until_ended(struct serve *s, const struct serve_command *c)
{
	while (!c->ended)
		assert_int_equal(serve_loop_turn(&s->loop), 0);
}

static void quiet(struct serve_reader *r)
{
	(void)r;
}

static void ends_with_code_and_report(void **state)
{
	struct serve s = SERVE_INIT;
	struct serve_command *c, *silent, *denied;

	(void)state;
	assert_int_equal(serve_open(&s), 0);
	c = start(&s, "3", NULL, false, false);
	silent = start(&s, "7", NULL, false, false);
	denied = start(&s, "126", NULL, false, false);
	until_ended(&s, c);
	until_ended(&s, silent);
	until_ended(&s, denied);
	assert_true(c->report.there && c->report.ran);
	assert_int_equal(c->report.code, 3);
	/* Without a report the kernel's word counts. */
	assert_false(silent->report.there);
	assert_int_equal(silent->report.code, 7);
	assert_true(denied->report.there && !denied->report.ran);
	assert_string_equal(denied->report.message, "m");
	assert_ptr_equal(serve_find(&s, c->id), c);
	assert_null(serve_find(&s, "c99"));
	assert_int_equal(serve_signal(c, SIGTERM), -ESRCH);
	serve_forget(c);
	assert_null(serve_find(&s, "c1"));
	serve_close(&s);
}

/* All that comes is the stream's bytes from *at on, in order. */
static uint64_t check_bytes(struct serve_reader *r, size_t max)
{
	const char *bytes;
	size_t n = serve_peek(r, SERVE_OUT, &bytes);

	n = n < max ? n : max;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = r->at[SERVE_OUT] + i;
		char number[24];

		snprintf(number, sizeof number, "%08u", (unsigned)(at / 8));
		assert_int_equal(bytes[i], number[at % 8]);
	}
	return n;
}

static void slow_reader_loses_nothing(void **state)
{
	enum { COUNT = 50000 };
	struct serve s = SERVE_INIT;
	struct serve_reader slow = {.changed = quiet}, fast = slow;
	struct serve_command *c;

	(void)state;
	s.ring_max = SERVE_RING_MIN * 2;
	assert_int_equal(serve_open(&s), 0);
	c = start(&s, "out", "50000", false, false);
	serve_attach(c, &slow);
	serve_attach(c, &fast);
	while (!c->ended || slow.at[0] < c->ring[0].end) {
		if (!c->ended)
			serve_loop_turn(&s.loop);
		serve_took(&fast, SERVE_OUT, check_bytes(&fast, 1 << 20));
		/* The command waits for the slowest. */
		assert_true(c->ring[0].end - slow.at[0] <= s.ring_max);
		serve_took(&slow, SERVE_OUT, check_bytes(&slow, 1001));
	}
	assert_int_equal(slow.at[0], COUNT * 8);
	assert_int_equal(slow.lost[0] + fast.lost[0], 0);
	serve_close(&s);
}

static void bounded_without_reader(void **state)
{
	struct serve s = SERVE_INIT;
	struct serve_reader late = {.changed = quiet};
	struct serve_command *c;

	(void)state;
	s.ring_max = SERVE_RING_MIN * 2;
	assert_int_equal(serve_open(&s), 0);
	c = start(&s, "out", "50000", false, false);
	until_ended(&s, c);
	assert_int_equal(c->ring[0].end, 50000 * 8);
	assert_true(c->ring[0].cap <= s.ring_max);
	assert_true(s.kept <= s.ring_max);
	/* Whoever comes now is told what went. */
	serve_attach(c, &late);
	assert_true(check_bytes(&late, 1 << 20) > 0);
	assert_int_equal(late.lost[0], c->ring[0].begin);
	while (late.at[0] < c->ring[0].end)
		serve_took(&late, SERVE_OUT, check_bytes(&late, 1 << 20));
	serve_close(&s);
	assert_int_equal(s.kept, 0);
}

static void comes_back_to_its_cursor(void **state)
{
	struct serve s = SERVE_INIT;
	struct serve_reader r = {.changed = quiet};
	struct serve_command *c;
	struct buf all = BUF_INIT(1 << 20);
	uint64_t at = 4;

	(void)state;
	assert_int_equal(serve_open(&s), 0);
	c = start(&s, "cat", NULL, false, true);
	serve_attach(c, &r);
	assert_int_equal(serve_write(c, "hello ", 6), 0);
	while (c->ring[0].end < 6)
		serve_loop_turn(&s.loop);
	serve_detach(&r);
	assert_int_equal(serve_write(c, "world", 5), 0);
	assert_int_equal(serve_shut(c), 0);
	assert_int_equal(serve_write(c, "x", 1), -EPIPE);
	until_ended(&s, c);
	assert_int_equal(serve_copy(c, SERVE_OUT, &at, 100, &all), 0);
	assert_string_equal(buf_str(&all), "o world");
	assert_int_equal(at, 11);
	buf_release(&all);
	serve_close(&s);
}

static void terminal_and_its_size(void **state)
{
	struct serve s = SERVE_INIT;
	struct serve_command *c, *pipe;
	struct buf all = BUF_INIT(4096);
	uint64_t at = 0;

	(void)state;
	assert_int_equal(serve_open(&s), 0);
	c = start(&s, "size", NULL, true, true);
	pipe = start(&s, "cat", NULL, false, true);
	assert_int_equal(serve_resize(pipe, 1, 1), -ENOTTY);
	assert_int_equal(serve_resize(c, 33, 111), 0);
	assert_int_equal(serve_write(c, "\n", 1), 0);
	until_ended(&s, c);
	serve_copy(c, SERVE_OUT, &at, 4096, &all);
	assert_non_null(strstr(buf_str(&all), "33 111 1"));
	buf_release(&all);
	serve_close(&s);
	assert_int_equal(s.running, 0);
}

static void stops_what_does_not_listen(void **state)
{
	struct serve s = SERVE_INIT;
	struct serve_command *c, *soft;

	(void)state;
	assert_int_equal(serve_open(&s), 0);
	c = start(&s, "deaf", NULL, false, false);
	soft = start(&s, "pause", NULL, false, false);
	while (c->ring[0].end < 4)
		serve_loop_turn(&s.loop);
	serve_stop(soft);
	until_ended(&s, soft);
	assert_int_equal(soft->report.signal, SIGTERM);
	serve_stop(c);
	until_ended(&s, c);
	assert_int_equal(c->report.signal, SIGKILL);
	serve_close(&s);
}

static void ends_though_somebody_writes_on(void **state)
{
	struct serve s = SERVE_INIT;
	struct serve_command *c;

	(void)state;
	assert_int_equal(serve_open(&s), 0);
	c = start(&s, "leave", NULL, false, false);
	until_ended(&s, c);
	assert_true(c->report.there);
	assert_int_equal(c->report.code, 0);
	serve_close(&s);
}

static void input_is_bounded(void **state)
{
	static char some[65536];
	struct serve s = SERVE_INIT;
	struct serve_command *c;
	int err = 0, n = 0;

	(void)state;
	assert_int_equal(serve_open(&s), 0);
	c = start(&s, "pause", NULL, false, true);
	while (!(err = serve_write(c, some, sizeof some)) && n < 100)
		n++;
	assert_int_equal(err, -ENOBUFS);
	serve_close(&s);
}

static int read_line(struct mcp_message *m, const char *line, bool initialized)
{
	*m = (struct mcp_message){.method = MCP_OTHER};
	return mcp_read(m, line, strlen(line), initialized);
}

#define MODERN(version, more) "\"_meta\":{\"io.modelcontextprotocol/" \
	"protocolVersion\":\"" version "\"" more "}"
#define CAPS ",\"io.modelcontextprotocol/clientCapabilities\":{}"
#define LIST(params) "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"," \
	"\"params\":{" params "}}"

static void mcp_speaks_both_eras(void **state)
{
	struct mcp_message m;

	(void)state;
	assert_int_equal(read_line(&m, LIST(""), false), RPC_PARAMS);
	mcp_release(&m);
	assert_int_equal(read_line(&m, LIST(""), true), 0);
	assert_false(m.modern);
	mcp_release(&m);
	assert_int_equal(read_line(&m, LIST(MODERN("2026-07-28", CAPS)), false),
		0);
	assert_true(m.modern);
	mcp_release(&m);
	assert_int_equal(read_line(&m, LIST(MODERN("2026-07-28", "")), true),
		RPC_PARAMS);
	mcp_release(&m);
	assert_int_equal(read_line(&m, LIST(MODERN("1900-01-01", CAPS)), true),
		RPC_VERSION);
	assert_string_equal(m.version, "1900-01-01");
	mcp_release(&m);
	/* What stands beside params is none of it. */
	assert_int_equal(read_line(&m, "{\"jsonrpc\":\"2.0\",\"id\":1,"
		"\"method\":\"tools/call\",\"name\":\"run\"}", true), RPC_PARAMS);
	mcp_release(&m);
	assert_int_equal(read_line(&m, "[]", true), RPC_REQUEST);
	mcp_release(&m);
	assert_int_equal(read_line(&m, "{", true), RPC_PARSE);
	mcp_release(&m);
}

/* The tools as clients are told of them; the first one. */
static uint32_t read_tools(struct json_doc *doc, struct buf *text)
{
	struct json j = JSON_INIT(text);

	mcp_put_tools(&j);
	assert_int_equal(json_read(doc, text->data, text->len, NULL), 0);
	return json_first(doc, 0);
}

static void mcp_tools_are_json(void **state)
{
	struct buf text = BUF_INIT(1 << 16);
	struct json_doc doc = {0};
	int i = 0;

	(void)state;
	for (uint32_t tool = read_tools(&doc, &text); tool;
		tool = json_next(&doc, tool)) {
		struct buf name = BUF_INIT(100);

		assert_int_equal(json_text(&doc,
			json_find(&doc, tool, "name"), &name), 0);
		assert_string_equal(buf_str(&name),
			mcp_tool_name((enum mcp_tool)i++));
		assert_int_equal(json_type(&doc, json_find(&doc, tool,
			"outputSchema")), JSON_OBJECT);
		buf_release(&name);
	}
	assert_int_equal(i, MCP_TOOLS);
	json_doc_release(&doc);
	buf_release(&text);
}

/* Whatever its type is, an argument that a tool's schema names is known to it. */
static void mcp_schema_and_reader_agree(void **state)
{
	struct buf text = BUF_INIT(1 << 16);
	struct json_doc doc = {0};
	int i = 0;

	(void)state;
	for (uint32_t tool = read_tools(&doc, &text); tool;
		tool = json_next(&doc, tool), i++) {
		uint32_t schema = json_find(&doc, tool, "inputSchema");
		uint32_t all = json_find(&doc, schema, "properties");

		for (uint32_t key = json_first(&doc, all); key;
			key = json_next(&doc, key)) {
			struct buf name = BUF_INIT(100), line = BUF_INIT(4096);
			struct mcp_message m;
			struct mcp_args a;

			json_text(&doc, key, &name);
			buf_addf(&line, "{\"jsonrpc\":\"2.0\",\"id\":1,"
				"\"method\":\"tools/call\",\"params\":{\"name\":"
				"\"%s\",\"arguments\":{\"%s\":null}}}",
				mcp_tool_name((enum mcp_tool)i), buf_str(&name));
			assert_int_equal(read_line(&m, buf_str(&line), true), 0);
			assert_int_equal(mcp_args_read(&m, &a), 0);
			mcp_args_release(&a);
			mcp_release(&m);
			buf_release(&line);
			buf_release(&name);
		}
	}
	json_doc_release(&doc);
	buf_release(&text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_with_code_and_report),
		cmocka_unit_test(slow_reader_loses_nothing),
		cmocka_unit_test(bounded_without_reader),
		cmocka_unit_test(comes_back_to_its_cursor),
		cmocka_unit_test(terminal_and_its_size),
		cmocka_unit_test(stops_what_does_not_listen),
		cmocka_unit_test(ends_though_somebody_writes_on),
		cmocka_unit_test(input_is_bounded),
		cmocka_unit_test(mcp_speaks_both_eras),
		cmocka_unit_test(mcp_tools_are_json),
		cmocka_unit_test(mcp_schema_and_reader_agree),
	};

	if (argc > 1 && str_eq(argv[1], "exec"))
		return play_exec(argv + 2);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
