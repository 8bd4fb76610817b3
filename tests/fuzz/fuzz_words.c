/* fuzz_words.c - the small parsers: one word, one line, one vector
 * SPDX-License-Identifier: MIT
 *
 * What is taken is within the range asked for; what can be written again reads
 * as the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "log/audit_format_in.h"
#include "sys/dirs.h"
#include "base/num.h"
#include "base/path.h"
#include "policy/policy_sign.h"
#include "session/session.h"
#include "shell/shell_call.h"
#include "sys/userdb.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
	if (!truth)
		abort();
}

static void numbers(const char *s)
{
	uint64_t u = 0;
	int64_t i = 0;

	must(num_u64(s, 5, 1 << 20, &u) || (u >= 5 && u <= 1 << 20));
	must(num_i64(s, -9, 9, &i) || (i >= -9 && i <= 9));
	must(num_size(s, 1, 1 << 30, &u) || (u && u <= 1 << 30));
	must(num_duration(s, 1, UINT64_C(1) << 40, &u) ||
		(u && u <= UINT64_C(1) << 40));
	(void)num_hex64(s, &u);
}

static void names(const char *s)
{
	char text[AUDIT_NAME], out[512], word[64];
	uint8_t id[AUDIT_ID];
	uint64_t first;

	if (audit_segment_parse(s, &first) == 0) {
		audit_segment_name(text, first);
		must(strcmp(text, s) == 0);
	}
	(void)audit_id_parse(id, s);
	must(!session_id_valid(s) ||
		(strlen(s) <= SESSION_ID_MAX && !strpbrk(s, "/. \n")));
	if (path_normal(out, sizeof out, "/base", s) == 0)
		must(out[0] == '/' && !strstr(out, "//") &&
			!strstr(out, "/../") && strlen(out) < sizeof out);
	must(dirs_parse(s, word, sizeof word) == DIRS_NONE ||
		strlen(word) < sizeof word);
}

static void keys(const char *s)
{
	uint8_t bytes[SIGN_PUBLIC];
	autobuf struct buf b = BUF_INIT(512);
	struct diag d = {0};

	if (policy_sign_parse("f", s, bytes, sizeof bytes, &d)) {
		must(d.text[0]);
		return;
	}
	policy_sign_format(&b, bytes, sizeof bytes);
	must(!b.err);
}

static void users(const char *s, size_t n)
{
	struct user u;

	if (user_parse(s, n, NULL, 0, &u) == 0)
		must(u.uid == 0 && memchr(u.home, 0, sizeof u.home) &&
			memchr(u.shell, 0, sizeof u.shell));
	(void)user_parse(s, n, "me", 0, &u);
}

/* The words between newlines as a shell's arguments. */
static void call(char *s)
{
	char name[] = "sh", *argv[32] = {name};
	struct shell_call c = {0};
	int n = 1;

	for (char *word; n < 31 && (word = strsep(&s, "\n"));)
		argv[n++] = word;
	argv[n] = NULL;
	if (shell_call_parse(n, argv, &c) == 0)
		must(c.at >= 1 && c.at <= n &&
			(c.at < n || c.kind == SHELL_CALL_STDIN));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);
	uint32_t cp;

	if (!s)
		return 0;
	memcpy(s, data, size);
	s[size] = '\0';
	for (size_t at = 0, n; at < size; at += n) {
		n = utf8_decode(s + at, size - at, &cp);
		if (!n)
			break;
		must(n <= size - at && cp <= 0x10ffff);
	}
	users(s, size);
	numbers(s);
	names(s);
	keys(s);
	call(s);
	free(s);
	return 0;
}
