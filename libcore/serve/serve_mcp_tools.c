/* serve_mcp_tools.c - MCP's tools: what they take, and what clients are told of them
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_mcp.h"

#include <string.h>

#include "base/kconfig.h"
#include "base/str.h"

enum {
	RUN = 1 << MCP_RUN,
	READ = 1 << MCP_READ,
	WRITE = 1 << MCP_WRITE,
	SIGNAL = 1 << MCP_SIGNAL,
	UNDO = 1 << MCP_UNDO,
	OF_ONE = 0xff & ~RUN & ~(1 << MCP_COMMANDS),
	TEXT_MAX = 1 << 20, /* of a command line, an input */
};

#define ROW(name, kind, member, max, of, about)                                \
	{name, kind, offsetof(struct mcp_args, member), max, of, 0, about}
static const struct arg tool_args[] = {
	ROW("id", ARG_TEXT, id, SERVE_ID_SIZE, OF_ONE,
		"the command, as run or list says it"),
	ROW("text", ARG_BUF, text, 0, RUN, "the command line, read by sh"),
	ROW("text", ARG_BUF, text, 0, WRITE, "what is written"),
	ROW("cwd", ARG_BUF, cwd, 0, RUN,
		"the directory; a relative one is below the session's"),
	ROW("timeout", ARG_SECONDS, timeout_ns, 0, RUN,
		"seconds until it is ended, with all that it started"),
	ROW("input", ARG_BUF, input, 0, RUN,
		"what it reads from standard input"),
	ROW("background", ARG_TRUTH, background, 0, RUN,
		"return at once; standard input stays open for write"),
	ROW("pty", ARG_TRUTH, pty, 0, RUN,
		"run it on a terminal; stdout has all output"),
	ROW("stdout_cursor", ARG_NUMBER, at[SERVE_OUT], INT64_MAX, READ,
		"from this byte of stdout on"),
	ROW("stderr_cursor", ARG_NUMBER, at[SERVE_ERR], INT64_MAX, READ,
		"from this byte of stderr on"),
	ROW("wait", ARG_SECONDS, wait_ns, 0, READ,
		"seconds to wait for output or the end when there is nothing"
		" new"),
	ROW("max", ARG_NUMBER, max, MCP_INLINE_MAX, RUN | READ,
		"bytes of each stream in the answer; 32768 by default"),
	ROW("close", ARG_TRUTH, close, 0, WRITE,
		"end its standard input behind the text"),
	ROW("rows", ARG_LENGTH, rows, 1000, WRITE, "new height of its terminal"),
	ROW("cols", ARG_LENGTH, cols, 1000, WRITE, "new width of its terminal"),
	ROW("signal", ARG_TEXT, signal, 16, SIGNAL,
		"such as INT, TERM or KILL; TERM by default"),
	ROW("paths", ARG_TEXTS, paths, 0, UNDO, "only these"),
	ROW("dry_run", ARG_TRUTH, dry_run, 0, UNDO,
		"only say what would be done"),
};

/* How a command stands. */
#define STATE                                                                  \
	"{\"type\":\"object\",\"properties\":{"                                \
	"\"id\":{\"type\":\"string\"},\"state\":{\"type\":\"string\","         \
	"\"enum\":[\"running\",\"asking\",\"ended\",\"denied\","              \
	"\"failed\"]},\"question\":{\"type\":\"string\"},"                     \
	"\"exit_code\":{\"type\":\"integer\"},\"signal\":{\"type\":"           \
	"\"string\"},\"timed_out\":{\"type\":\"boolean\"},"                    \
	"\"stdout\":{\"type\":\"string\"},\"stderr\":{\"type\":\"string\"},"   \
	"\"stdout_cursor\":{\"type\":\"integer\"},"                            \
	"\"stderr_cursor\":{\"type\":\"integer\"},"                            \
	"\"stdout_omitted\":{\"type\":\"integer\"},"                           \
	"\"stderr_omitted\":{\"type\":\"integer\"},"                           \
	"\"reason\":{\"type\":\"string\"},\"rule\":{\"type\":\"string\"},"     \
	"\"hint\":{\"type\":\"string\"}},\"required\":[\"id\",\"state\"]}"
#define DONE                                                                   \
	"{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"}},"  \
	"\"required\":[\"id\"]}"
/* What an applet says as JSON. */
#define RESULT                                                                 \
	"{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},"  \
	"\"result\":{}},\"required\":[\"id\"]}"
#define COMMANDS                                                               \
	"{\"type\":\"object\",\"properties\":{\"commands\":{\"type\":"         \
	"\"array\",\"items\":{\"type\":\"object\"}}},"                         \
	"\"required\":[\"commands\"]}"

static const struct {
	char name[8], needs[5];
	const char *about, *result;
} tool_list[MCP_TOOLS] = {
	[MCP_RUN] = {"run", "text",
		"Runs a shell command line: decided by the policy, confined,"
		" recorded. Returns its output and exit code, or why it was"
		" denied. With background it returns at once; read, write and"
		" signal go on with it. State asking: a person is to say yes"
		" elsewhere; read with wait says what came of it.", STATE},
	[MCP_READ] = {"read", "id",
		"Output of a command and how it stands. Without cursors it"
		" goes on where the last read of that command ended.", STATE},
	[MCP_WRITE] = {"write", "id",
		"Writes text to the standard input of a command that runs in"
		" the background.", DONE},
	[MCP_SIGNAL] = {"signal", "id", "Sends a signal to a command.", DONE},
	[MCP_COMMANDS] = {"list", "",
		"The commands of this server, the newest first.", COMMANDS},
	[MCP_WHY] = {"why", "id",
		"Why a command was allowed or denied, by which rule, and how it"
		" ended.", STATE},
	[MCP_CHANGED] = {"changed", "id",
		"The paths that a command changed, where the policy journals"
		" that (undo=on).", RESULT},
	[MCP_UNDO] = {"undo", "id",
		"Takes back what a command changed, all of it or some paths."
		" Refuses what was changed since, and names it.", RESULT},
};

const char *mcp_tool_name(enum mcp_tool tool)
{
	return tool_list[tool].name;
}

void mcp_args_release(struct mcp_args *a)
{
	buf_release(&a->text);
	buf_release(&a->cwd);
	buf_release(&a->input);
	buf_release(&a->paths);
}

int mcp_args_read(struct mcp_message *m, struct mcp_args *a)
{
	const unsigned of = 1U << m->tool;
	int err;

	*a = (struct mcp_args){
		.cwd = BUF_INIT(4096),
		.paths = BUF_INIT(65536),
		.max = MCP_INLINE,
		.at = {UINT64_MAX, UINT64_MAX},
	};
	a->text = a->input = BUF_INIT(TEXT_MAX);
	if (!m->arguments)
		return 0;
	err = args_known(tool_args, ARRAY_SIZE(tool_args), of, &m->doc, m->arguments,
		m->said);
	return err ? err
		   : args_read(tool_args, ARRAY_SIZE(tool_args), of, &m->doc,
			     m->arguments, a, m->said);
}

static void put_argument(struct json *j, const struct arg *a)
{
	static const char *const types[] = {
		[ARG_TEXT] = "string",
		[ARG_BUF] = "string",
		[ARG_TEXTS] = "array",
		[ARG_TRUTH] = "boolean",
		[ARG_NUMBER] = "integer",
		[ARG_LENGTH] = "integer",
		[ARG_INT] = "integer",
		[ARG_SECONDS] = "number",
	};

	json_put_open(j, a->name, '{');
	json_putf(j, "type %s description %s", types[a->kind], a->about);
	if (a->kind == ARG_TEXTS)
		json_putf(j, "items { type %s }", "string");
	else if (a->kind > ARG_TRUTH)
		json_put_u64(j, "minimum", 0);
	json_close(j);
}

void mcp_put_tools(struct json *j)
{
	const size_t count =
		IS_ENABLED(CONFIG_APPLET_UNDO) ? MCP_TOOLS : MCP_CHANGED;

	json_open(j, '[');
	for (size_t t = 0; t < count; t++) {
		json_putf(j, "{ name %s description %s inputSchema {"
			" type %s properties {", tool_list[t].name, tool_list[t].about,
			"object");
		for (size_t i = 0; i < ARRAY_SIZE(tool_args); i++)
			if (tool_args[i].of >> t & 1)
				put_argument(j, &tool_args[i]);
		json_putf(j, "} required [");
		if (tool_list[t].needs[0])
			json_str(j, tool_list[t].needs);
		json_putf(j, "] additionalProperties %d }", 0);
		json_raw(json_key(j, "outputSchema"), tool_list[t].result,
			strlen(tool_list[t].result));
		json_close(j);
	}
	json_close(j);
}
