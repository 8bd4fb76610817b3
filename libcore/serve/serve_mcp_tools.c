/* serve_mcp_tools.c - what MCP's clients are told of the tools
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_mcp.h"

#include "base/kconfig.h"

#define TEXT(name, about) "\"" name "\":{\"type\":\"string\",\"description\":\"" \
	about "\"}"
#define NUMBER(name, about) "\"" name "\":{\"type\":\"number\",\"minimum\":0," \
	"\"description\":\"" about "\"}"
#define WHOLE(name, about) "\"" name "\":{\"type\":\"integer\",\"minimum\":0," \
	"\"description\":\"" about "\"}"
#define TRUTH(name, about) "\"" name "\":{\"type\":\"boolean\"," \
	"\"description\":\"" about "\"}"
#define TOOL(name, about, required, arguments, result)                         \
	"{\"name\":\"" name "\",\"description\":\"" about                      \
	"\",\"inputSchema\":{\"type\":\"object\",\"properties\":{" arguments   \
	"},\"required\":[" required "],\"additionalProperties\":false},"       \
	"\"outputSchema\":" result "}"
#define ID TEXT("id", "the command, as run or list says it")
#define MAX WHOLE("max", "bytes of each stream in the answer; 32768 by default")

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

#ifdef CONFIG_APPLET_UNDO
#define UNDO_TOOLS                                                             \
	","                                                                    \
	TOOL("changed", "The paths that a command changed, where the policy"   \
		" journals that (undo=on).", "\"id\"", ID, RESULT) ","         \
	TOOL("undo", "Takes back what a command changed, all of it or some"    \
		" paths. Refuses what was changed since, and names it.",       \
		"\"id\"",                                                      \
		ID ",\"paths\":{\"type\":\"array\",\"items\":{\"type\":"         \
		"\"string\"},\"description\":\"only these\"},"                 \
		TRUTH("dry_run", "only say what would be done"), RESULT)
#else
#define UNDO_TOOLS ""
#endif

const char mcp_tools[] = "["
	TOOL("run", "Runs a shell command line: decided by the policy, confined,"
		" recorded. Returns its output and exit code, or why it was"
		" denied. With background it returns at once; read, write and"
		" signal go on with it. State asking: a person is to say yes"
		" elsewhere; read with wait says what came of it.",
		"\"text\"",
		TEXT("text", "the command line, read by sh") ","
		TEXT("cwd", "the directory; a relative one is below the"
			" session's") ","
		NUMBER("timeout", "seconds until it is ended, with all that it"
			" started") ","
		TEXT("input", "what it reads from standard input") ","
		TRUTH("background", "return at once; standard input stays open"
			" for write") ","
		TRUTH("pty", "run it on a terminal; stdout has all output") ","
		MAX, STATE) ","
	TOOL("read", "Output of a command and how it stands. Without cursors it"
		" goes on where the last read of that command ended.",
		"\"id\"",
		ID "," WHOLE("stdout_cursor", "from this byte of stdout on") ","
		WHOLE("stderr_cursor", "from this byte of stderr on") ","
		NUMBER("wait", "seconds to wait for output or the end when there"
			" is nothing new") ","
		MAX, STATE) ","
	TOOL("write", "Writes text to the standard input of a command that runs"
		" in the background.", "\"id\"",
		ID "," TEXT("text", "what is written") ","
		TRUTH("close", "end its standard input behind the text") ","
		WHOLE("rows", "new height of its terminal") ","
		WHOLE("cols", "new width of its terminal"), DONE) ","
	TOOL("signal", "Sends a signal to a command.", "\"id\"",
		ID "," TEXT("signal", "such as INT, TERM or KILL; TERM by"
			" default"), DONE) ","
	TOOL("list", "The commands of this server, the newest first.", "",
		"", COMMANDS) ","
	TOOL("why", "Why a command was allowed or denied, by which rule, and how"
		" it ended.", "\"id\"", ID, STATE)
	UNDO_TOOLS "]";

const char *mcp_tool_name(enum mcp_tool tool)
{
	static const char names[MCP_TOOLS][8] = {
		"run", "read", "write", "signal", "list", "why", "changed",
		"undo"};

	return names[tool];
}
