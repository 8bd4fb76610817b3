/* shell_call.c - what a shell was called to do, read from its arguments
 * SPDX-License-Identifier: MIT
 */
#include "shell/shell_call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

/* bash's long options that take the next word. */
static bool long_takes_word(const char *name)
{
	return str_eq(name, "rcfile") || str_eq(name, "init-file");
}

/* Reads one cluster, "-ec" or "+o". Returns the number of following words that
 * it takes. */
static int read_cluster(const char *arg, struct shell_call *call, bool *text,
	bool *from_stdin)
{
	int words = 0;

	for (const char *c = arg + 1; *c; c++) {
		if (*c == 'o' || *c == 'O')
			words++;
		if (arg[0] == '+')
			continue;
		*text |= *c == 'c';
		*from_stdin |= *c == 's';
		call->interactive |= *c == 'i';
		call->login |= *c == 'l';
	}
	return words;
}

int shell_call_parse(int argc, char *const *argv, struct shell_call *out)
{
	bool text = false, from_stdin = false;
	int i = 1;

	*out = (struct shell_call){.login = argc && argv[0][0] == '-'};
	for (; i < argc; i++) {
		const char *arg = argv[i];

		if ((arg[0] != '-' && arg[0] != '+') || !arg[1]) {
			/* "-" ends the options and is dropped. */
			i += str_eq(arg, "-");
			break;
		}
		if (str_eq(arg, "--")) {
			i++;
			break;
		}
		if (arg[0] == '-' && arg[1] == '-') {
			const char *name = arg + 2;

			out->login |= str_eq(name, "login");
			out->tells_only |= str_eq(name, "version") ||
				str_eq(name, "help");
			i += long_takes_word(name);
			continue;
		}
		i += read_cluster(arg, out, &text, &from_stdin);
	}
	if (i > argc)
		i = argc;
	out->at = i;
	if (text) {
		out->kind = SHELL_CALL_TEXT;
		return i < argc ? 0 : -EINVAL;
	}
	if (from_stdin || i == argc) {
		out->kind = SHELL_CALL_STDIN;
		out->at = argc;
		return 0;
	}
	out->kind = SHELL_CALL_SCRIPT;
	return 0;
}

static int peek_file(int fd, off_t from, struct buf *b)
{
	for (;;) {
		size_t want = b->max - b->len < 65536 ? b->max - b->len : 65536;
		char *to = buf_reserve(b, want);
		ssize_t got;

		if (!to)
			return b->err;
		got = pread(fd, to, want ? want : 1, from + (off_t)b->len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return 0;
		if (!want)
			return -EFBIG;
		b->len += (size_t)got;
	}
}

/* The time for which a writer that is about to end ("echo cmd | sh") is
 * awaited. */
enum { PEEK_WAIT_MS = 50 };

/* If the writers are gone, the pipe holds all there will ever be: tee copies it
 * into a second pipe without taking it out of the first. */
static int peek_pipe(int fd, struct buf *b)
{
	autofd int out = -1;
	autofd int in = -1;
	struct pollfd p = {.fd = fd, .events = 0};
	int waiting = 0, ends[2], err;
	ssize_t copied;

	/* Only the hang-up is awaited. */
	if (poll(&p, 1, PEEK_WAIT_MS) <= 0 || !(p.revents & POLLHUP))
		return -EAGAIN;
	if (ioctl(fd, FIONREAD, &waiting))
		return -errno;
	if ((size_t)waiting > b->max)
		return -EFBIG;
	if (!waiting)
		return 0;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	out = ends[0];
	in = ends[1];
	fcntl(in, F_SETPIPE_SZ, waiting);
	copied = tee(fd, in, (size_t)waiting, SPLICE_F_NONBLOCK);
	if (copied != waiting)
		return copied < 0 ? -errno : -EAGAIN;
	close(fd_steal(&in));
	err = buf_read_fd(b, out);
	return err;
}

int shell_call_peek(int fd, struct buf *b)
{
	struct stat st;
	off_t from;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISFIFO(st.st_mode))
		return peek_pipe(fd, b);
	if (!S_ISREG(st.st_mode))
		return -EAGAIN;
	from = lseek(fd, 0, SEEK_CUR);
	return from < 0 ? -errno : peek_file(fd, from, b);
}
