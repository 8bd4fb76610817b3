/* fuzz_edit.c - keys of any bytes, in a terminal of any width
 * SPDX-License-Identifier: MIT
 *
 * The first byte is the width, the rest are keys. Each line that is done is
 * remembered; what is shown is text, or a sequence of the editor's own.
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned short wide;

static void look(const char *s, size_t n);

static ssize_t see(int fd, const void *s, size_t n)
{
	if (fd != STDOUT_FILENO)
		abort();
	look(s, n);
	return (ssize_t)n;
}

static int tell(int fd, unsigned long what, void *to)
{
	(void)fd;
	if (what == TIOCGWINSZ)
		((struct winsize *)to)->ws_col = wide;
	return what == TIOCGWINSZ ? 0 : -1;
}

/* Nobody types: the keys that are there are all. */
static int none(int fd, ...)
{
	(void)fd;
	return 0;
}

static int never(const struct pollfd *p, ...)
{
	(void)p;
	return -1;
}

#define tcgetattr(fd, to) (memset(to, 0, sizeof *(to)), none(fd))
#define tcsetattr none
#define sigaction(...) none(__VA_ARGS__)
#define sigprocmask none
#define ppoll never
#define kill none
#define ioctl tell
#define write see
#include "envrun_keys.c"
#include "envrun_edit.c"
#undef sigaction
#undef write

static void look(const char *s, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		uint32_t cp = 0;

		if (s[i] == ESC && i + 2 < n && s[i + 1] == '[') {
			len = 2;
			while (i + len < n && s[i + len] < '@')
				len++;
			if (i + len++ >= n || !strchr("HJKC", s[i + len - 1]))
				abort();
			continue;
		}
		len = utf8_decode(s + i, n - i, &cp);
		if (!len || (utf8_is_hidden(cp) && cp != '\r' && cp != '\n'))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf keys = BUF_INIT(1 << 16), line = BUF_INIT(256);
	struct history h = {0};
	int err = 0;

	if (!size)
		return 0;
	wide = data[0];
	buf_add(&keys, data + 1, size - 1);
	while (err != -ENODATA && h.count < HISTORY_MAX) {
		size_t before = keys.len;

		buf_clear(&line);
		err = envrun_edit("~> ", &h, &keys, &line);
		if (line.len > 256 || (err && err != -ENODATA &&
			err != -EINTR && err != -E2BIG && err != -ENOBUFS))
			abort();
		/* Ctrl-D takes a key, too. */
		if (keys.len < before && err == -ENODATA)
			err = 0;
		if (!err && line.len) {
			if (memchr(line.data, 0, line.len))
				abort();
			h.line[h.count++] = strdup(buf_str(&line));
		}
	}
	while (h.count)
		free(h.line[--h.count]);
	buf_release(&keys);
	buf_release(&line);
	return 0;
}
