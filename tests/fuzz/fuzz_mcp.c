/* fuzz_mcp.c - lines of an MCP client, and every line that answers them
 * SPDX-License-Identifier: MIT
 *
 * The first byte says whether `initialize` was answered before. Whatever the line
 * is, each answer is one line of JSON.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"
#include "serve/serve_mcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(struct buf *out)
{
	autojson struct json_doc doc = {0};

	if (out->err || !out->len || out->data[out->len - 1] != '\n' ||
		memchr(out->data, '\n', out->len - 1) ||
		json_read(&doc, out->data, out->len - 1, NULL) ||
		json_type(&doc, 0) != JSON_OBJECT)
		abort();
	buf_clear(out);
}

static void read_arguments(struct mcp_message *m)
{
	struct mcp_args a;

	if (!mcp_args_read(m, &a) && (a.max > MCP_INLINE_MAX || a.rows > 1000))
		abort();
	mcp_args_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mcp_message m = {.method = MCP_OTHER};
	struct serve_report report;
	char question[16];
	struct buf out = BUF_INIT(1 << 20);
	struct json j = JSON_INIT(&out);
	char *line;
	int err;

	if (!size)
		return 0;
	line = malloc(size);
	if (!line)
		return 0;
	memcpy(line, data + 1, size - 1);
	err = mcp_read(&m, line, size - 1, data[0] & 1);
	if (err) {
		mcp_error(&out, &m.id, err, m.said);
		check_line(&out);
		mcp_error_version(&out, &m.id, m.version);
		check_line(&out);
	} else if (m.method == MCP_CALL) {
		read_arguments(&m);
	}
	mcp_begin(&j, &m.id, m.modern, "1");
	rpc_end(&j);
	check_line(&out);
	mcp_initialize(&out, &m, "1");
	check_line(&out);
	mcp_progress(&out, &m.progress, 1, m.said);
	check_line(&out);
	(void)serve_report_read(&report, question, line, size - 1);
	mcp_release(&m);
	buf_release(&out);
	free(line);
	return 0;
}
