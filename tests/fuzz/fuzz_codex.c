/* fuzz_codex.c - messages of codex's executor protocol, and every line that answers
 * them
 * SPDX-License-Identifier: MIT
 *
 * Whatever the message is, each answer is one line of JSON; a path that was read is
 * absolute, and comes back from its URI.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "serve/serve_codex.h"
#include "serve/serve_uri.h"

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

static void check_uri(const char *text, size_t n)
{
	static char path[PATH_MAX], again[PATH_MAX];
	struct buf uri = BUF_INIT(4 * PATH_MAX);

	if (!uri_read(path, text, n)) {
		uri_add(&uri, path);
		if (path[0] != '/' || strstr(path, "/../") ||
			uri_read(again, uri.data, uri.len) ||
			strcmp(path, again) != 0)
			abort();
	}
	buf_release(&uri);
}

static void check_base64(const char *text, size_t n)
{
	struct buf bytes = BUF_INIT(1 << 20), letters = BUF_INIT(1 << 20);

	if (!base64_read(&bytes, text, n)) {
		base64_add(&letters, (const uint8_t *)bytes.data, bytes.len);
		if (letters.len != n || (n && memcmp(letters.data, text, n)))
			abort();
	}
	buf_release(&bytes);
	buf_release(&letters);
}

/* Lists end with a NUL, and wishes have absolute paths. */
static void check_list(const struct buf *list, bool paths)
{
	for (size_t at = 0; at < list->len; at += strlen(list->data + at) + 1)
		if (list->data[list->len - 1] ||
			(paths && list->data[at] != '/'))
			abort();
}

static void read_requests(struct codex_message *m)
{
	struct codex_start *s = malloc(sizeof *s);
	struct buf words = BUF_INIT(4 * PATH_MAX), bytes = BUF_INIT(1 << 20);
	uint64_t n = 0;
	bool truth;

	if (!s)
		return;
	*s = CODEX_START_INIT;
	if (!codex_start_read(m, s)) {
		check_list(&s->words, false);
		check_list(&s->env, false);
		check_list(&s->wish.write, true);
		check_list(&s->wish.keep, true);
		check_list(&s->wish.hide, true);
		if (!s->words.len || s->cwd[0] != '/')
			abort();
	}
	codex_start_release(s);
	free(s);
	if (!codex_words(m, &words))
		check_list(&words, false);
	(void)codex_bytes(m, m->params, "chunk", &bytes);
	(void)codex_truth(m, m->params, "recursive", &truth);
	if (!codex_number(m, m->params, "len", 1000, &n) && n > 1000)
		abort();
	buf_release(&words);
	buf_release(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct codex_message m = {.method = CODEX_NONE};
	struct buf out = BUF_INIT(1 << 20);
	struct json j = JSON_INIT(&out);
	char *text = malloc(size + 1);
	int code;

	if (!text)
		return 0;
	memcpy(text, data, size);
	check_uri(text, size);
	check_base64(text, size);
	code = codex_read(&m, text, size);
	if (!code && m.method != CODEX_NONE)
		read_requests(&m);
	codex_error(&out, &m.id, code, m.said);
	check_line(&out);
	codex_begin(&j, &m.id);
	codex_put_bytes(&j, "bytes", text, size < 1000 ? size : 1000);
	rpc_end(&j);
	check_line(&out);
	codex_release(&m);
	buf_release(&out);
	free(text);
	return 0;
}
