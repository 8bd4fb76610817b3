/* fuzz_serve.c - commands on stdin, as a program sends them
 * SPDX-License-Identifier: MIT
 *
 * The first byte says what ends a command (bit 0: a NUL) and how many bytes
 * come at a time; the rest is what comes, where 0xff N are N KiB of 'x'. Each
 * command runs, or is refused, once and in order.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "applet.h"
#include "cli/cli.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What no command is stands for a refusal in what happened. */
static const char refused[] = "\xff";

static struct buf came, happened;
static size_t given, at_once;

static ssize_t give(int fd, void *to, size_t n)
{
	size_t left = came.len - given;

	n = n < at_once ? n : at_once;
	n = n < left ? n : left;
	if (fd != STDIN_FILENO)
		abort();
	if (n)
		memcpy(to, came.data + given, n);
	given += n;
	return (ssize_t)n;
}

#define read give
#include "envrun_repl.c"
#undef read

void envrun_refuse(int code, const struct diag *d)
{
	if (code != EXIT_OURS || !d->text[0])
		abort();
	buf_add(&happened, refused, sizeof refused);
}

int envrun_line(struct envrun *e, const char *line, struct envrun_outcome *out)
{
	(void)e;
	(void)out;
	buf_add(&happened, line, strlen(line) + 1);
	return 0;
}

void envrun_json(const struct envrun *e, const char *line,
	struct envrun_outcome *out, struct buf *text)
{
	(void)e;
	(void)line;
	(void)out;
	(void)text;
}

void envrun_outcome_release(struct envrun_outcome *out)
{
	(void)out;
}

void envrun_tell(const struct envrun *e, const struct envrun_outcome *out)
{
	(void)e;
	(void)out;
}

int envrun_load(struct envrun *e, struct diag *d)
{
	(void)e;
	(void)d;
	return 0;
}

int envrun_edit(const char *prompt, const struct history *h, struct buf *typed,
	struct buf *line)
{
	(void)prompt;
	(void)h;
	(void)typed;
	(void)line;
	return -ENOTTY;
}

static void take(const uint8_t *data, size_t size)
{
	char *room;

	for (size_t i = 0; i < size; i++) {
		size_t n;

		if (data[i] != 0xff) {
			buf_addc(&came, (char)data[i]);
			continue;
		}
		n = ++i < size ? data[i] : 1;
		room = buf_reserve(&came, n * 1024);
		if (!room)
			return;
		memset(room, 'x', n * 1024);
		came.len += n * 1024;
	}
}

/* The next thing that happened. */
static const char *next(size_t *at)
{
	const char *s = happened.data + *at;

	if (*at >= happened.len)
		abort();
	*at += strlen(s) + 1;
	return s;
}

static void judge(char end)
{
	size_t seen = 0;

	for (size_t at = 0, n; at < came.len; at += n + 1) {
		const char *s = came.data + at, *said;
		const char *stop = memchr(s, end, came.len - at);

		n = stop ? (size_t)(stop - s) : came.len - at;
		if (!n)
			continue;
		said = next(&seen);
		if (!strcmp(said, refused)) {
			if (n <= CONFIG_LIMIT_LINE && !memchr(s, 0, n))
				abort();
		} else if (n > CONFIG_LIMIT_LINE + READ_MAX ||
			   strlen(said) != n || memcmp(said, s, n) != 0) {
			abort();
		}
	}
	if (seen != happened.len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct envrun e = {0};

	if (!size)
		return 0;
	came = BUF_INIT(1 << 20);
	happened = BUF_INIT(4 << 20);
	given = 0;
	take(data + 1, size - 1);
	e.nul = data[0] & 1;
	at_once = came.len < 4096 ? 1 + (data[0] >> 1) : 4096 - data[0];
	if (envrun_serve(&e) != 0)
		abort();
	judge(e.nul ? '\0' : '\n');
	buf_release(&came);
	buf_release(&happened);
	return 0;
}
