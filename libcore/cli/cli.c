/* cli.c - messages, output, terminal: the module that prints and exits
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sys/file.h"
#include "sys/probe.h"
#include "base/str.h"
#include "base/utf8.h"

static char speaker[64] = "wardbox";
static int unwritten = EXIT_FOUND;

void cli_unwritten(int code)
{
	unwritten = code;
}

void cli_name(const char *name)
{
	if (str_copy(speaker, sizeof speaker, name))
		memcpy(speaker, "wardbox", sizeof "wardbox");
}

/* Writes a line in one call, so that lines of parallel processes do not mix. A
 * failure cannot be reported anywhere. */
static void say_line(struct buf *line)
{
	buf_addc(line, '\n');
	(void)file_write_all(STDERR_FILENO, line->data, line->len);
	buf_clear(line);
}

__attribute__((format(printf, 1, 0))) static void warn_v(
	const char *fmt, va_list ap)
{
	autobuf struct buf line = BUF_INIT(4 << 20), text = BUF_INIT(1 << 20);

	buf_addf(&line, "%s: ", speaker);
	buf_vaddf(&text, fmt, ap);
	cli_escape(&line, text.data, text.len);
	say_line(&line);
}

FLOATLESS void cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warn_v(fmt, ap);
	va_end(ap);
}

FLOATLESS void cli_die(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warn_v(fmt, ap);
	va_end(ap);
	exit(code);
}

static void add_diag(struct buf *line, const struct diag *d)
{
	buf_addf(line, "%s: ", speaker);
	if (d->file[0]) {
		cli_escape_str(line, d->file);
		if (d->line)
			buf_addf(line, ":%u", d->line);
		if (d->line && d->col)
			buf_addf(line, ":%u", d->col);
		buf_adds(line, ": ");
	}
	cli_escape_str(line, d->text);
	if (d->hint[0]) {
		buf_adds(line, "\n  ");
		cli_escape_str(line, d->hint);
	}
}

void cli_diag(const struct diag *d)
{
	autobuf struct buf line = BUF_INIT(16384);

	add_diag(&line, d);
	say_line(&line);
}

void cli_diag_to(int fd, const struct diag *d)
{
	autobuf struct buf line = BUF_INIT(16384);

	add_diag(&line, d);
	buf_addc(&line, '\n');
	if (!line.err)
		(void)!write(fd, line.data, line.len);
}

void cli_hint_inside(struct diag *d)
{
	if (probe_inside())
		diag_hint(d, "a guarded command cannot read it: ask outside");
}

void cli_die_diag(int code, const struct diag *d)
{
	cli_diag(d);
	exit(code);
}

void cli_print(struct buf *out)
{
	int err = out->err;

	if (!err)
		err = file_write_all(STDOUT_FILENO, out->data, out->len);
	buf_clear(out);
	if (!err)
		return;
	if (err == -EPIPE)
		exit(unwritten);
	cli_die(unwritten, "cannot write the output: %s", strerror(-err));
}

void cli_print_json(struct json *j)
{
	json_end(j);
	cli_print(j->out);
}

bool cli_colour(int fd)
{
	const char *term = getenv("TERM");
	const char *none = getenv("NO_COLOR");

	return !(none && *none) && term && !str_eq(term, "dumb") && isatty(fd);
}

const char *cli_sgr(bool on, const char *code)
{
	static const char known[][8] = {"\033[0m", "\033[1m", "\033[2m",
		"\033[31m", "\033[32m", "\033[33m", "\033[36m", "\033[1;31m",
		"\033[1;32m", "\033[1;33m"};
	const size_t n = strlen(code);

	for (size_t i = 0; on && i < ARRAY_SIZE(known); i++)
		if (!strncmp(known[i] + 2, code, n) && known[i][n + 2] == 'm')
			return known[i];
	return "";
}

unsigned cli_columns(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < 20)
		return 80;
	return size.ws_col;
}

void cli_escape(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t cp = 0;
		size_t len = utf8_decode(s + i, n - i, &cp);

		if (!len || cp < 0x80) {
			unsigned char c = (unsigned char)s[i];

			if (len && c >= ' ' && c < 0x7f)
				buf_addc(out, (char)c);
			else
				buf_addf(out, "\\x%02x", c);
			i++;
			continue;
		}
		if (utf8_is_hidden(cp))
			buf_addf(out, cp > 0xffff ? "\\U%08x" : "\\u%04x", cp);
		else
			buf_add(out, s + i, len);
		i += len;
	}
}

void cli_escape_str(struct buf *out, const char *s)
{
	cli_escape(out, s, strlen(s));
}

int cli_ask(const char *question)
{
	autofd int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	autobuf struct buf line = BUF_INIT(16384);
	char answer[64];
	ssize_t n;

	if (tty < 0)
		return -ENXIO;
	buf_addf(&line, "%s [y/N] ", question);
	if (line.err || file_write_all(tty, line.data, line.len))
		return -ENXIO;
	do
		n = read(tty, answer, sizeof answer);
	while (n < 0 && errno == EINTR);
	return n > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}
