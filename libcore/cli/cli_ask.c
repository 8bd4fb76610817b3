/* cli_ask.c - questions to the person at the terminal
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/str.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "sys/file.h"

/* The question that is being asked. */
static struct {
	int tty, keys, ready; /* keys: reads SIGINT, where that is not the
			       * command's; ready: is readable when tty or keys
			       * is */
	bool on, changed, masked;
	size_t len;
	struct termios was;
	sigset_t mask;
	char answer[64];
} asked = {.tty = -1, .keys = -1, .ready = -1};

/* The signal with which the person ended the question. */
static int stopped;

/* Adds what a reader of the line might overlook. */
static void add_unusual(struct buf *out, const char *line)
{
	size_t n = strlen(line), hidden = 0, lines = 1;
	bool foreign = false;

	for (size_t i = 0; i < n;) {
		uint32_t cp = 0;
		size_t len = utf8_decode(line + i, n - i, &cp);

		/* The last newline begins no line. */
		lines += line[i] == '\n' && line[i + 1];
		hidden += (!len || utf8_is_hidden(cp)) && line[i] != '\n' &&
			  line[i] != '\t';
		foreign |= cp > 0x7f;
		i += len ? len : 1;
	}
	if (lines > 1)
		buf_addf(out, "  unusual: %zu lines\n", lines);
	if (hidden)
		buf_addf(out, "  unusual: %zu characters that do not show\n",
			hidden);
	if (foreign)
		buf_adds(out, "  unusual: letters that are not ASCII\n");
	if (n > 1000)
		buf_addf(out, "  unusual: %zu bytes long\n", n);
}

/* Adds the line, escaped except for its line ends, and cut. */
static void add_line(struct buf *out, const char *line)
{
	enum { SHOWN = 2000 };
	size_t n = strlen(line), shown = n < SHOWN ? n : SHOWN;
	size_t at = 0;

	while (at < shown) {
		size_t part = strcspn(line + at, "\n");

		if (part > shown - at)
			part = shown - at;
		buf_adds(out, "    ");
		cli_escape(out, line + at, part);
		buf_addc(out, '\n');
		at += part + 1;
	}
	if (n > shown)
		buf_addf(out, "    … %zu bytes more\n", n - shown);
}

void cli_ask_rule(struct buf *out, const struct policy_verdict *v)
{
	buf_adds(out, v->rule);
	if (v->line)
		buf_addf(out, " (%s:%u)", v->file, v->line);
	buf_addf(out, ": %s", v->reason);
}

static void close_question(void)
{
	if (!asked.on)
		return;
	asked.on = false;
	if (asked.changed)
		tcsetattr(asked.tty, TCSADRAIN, &asked.was);
	if (asked.masked)
		sigprocmask(SIG_SETMASK, &asked.mask, NULL);
	close(asked.tty);
	if (asked.keys >= 0)
		close(asked.keys);
	close(asked.ready);
}

/* Lines and their ends, even while a command has the terminal raw. Of the keys
 * Ctrl-C alone raises a signal, because it answers the question. */
static void take_keyboard(void)
{
	struct termios lines;

	if (tcgetattr(asked.tty, &asked.was))
		return;
	lines = asked.was;
	lines.c_iflag |= ICRNL;
	lines.c_oflag |= OPOST | ONLCR;
	lines.c_lflag |= ICANON | ECHO | ECHOE | ISIG;
	lines.c_cc[VQUIT] = lines.c_cc[VSUSP] = _POSIX_VDISABLE;
	asked.changed = tcsetattr(asked.tty, TCSADRAIN, &lines) == 0;
}

static bool is_ignored(int sig)
{
	struct sigaction act;

	return sigaction(sig, NULL, &act) == 0 && act.sa_handler == SIG_IGN;
}

/* Reads SIGINT, which is a recorded no and does not end this process. If it was
 * blocked before, because this process waits for a command, it is left to be
 * read later: it is the command's. */
static void take_interrupt(void)
{
	sigset_t only;

	sigemptyset(&only);
	sigaddset(&only, SIGINT);
	asked.masked = sigprocmask(SIG_BLOCK, &only, &asked.mask) == 0;
	if (asked.masked && !sigismember(&asked.mask, SIGINT) &&
		!is_ignored(SIGINT))
		asked.keys = signalfd(-1, &only, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int wait_for_both(void)
{
	struct epoll_event at = {.events = EPOLLIN};

	asked.ready = epoll_create1(EPOLL_CLOEXEC);
	if (asked.ready < 0 ||
		epoll_ctl(asked.ready, EPOLL_CTL_ADD, asked.tty, &at) ||
		(asked.keys >= 0 &&
			epoll_ctl(asked.ready, EPOLL_CTL_ADD, asked.keys, &at)))
		return -errno;
	return 0;
}

static int ask_put(void *ctx, const struct policy_verdict *v, const char *line,
	unsigned seconds)
{
	static const char prompt[] =
		"Run it? [y]es, [N]o, [a]lways in this session: ";
	autobuf struct buf out = BUF_INIT(65536);
	int err;

	(void)ctx;
	(void)seconds;
	asked.tty =
		open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (asked.tty < 0)
		return -ENXIO;
	/* The person has another program in front. */
	if (tcgetpgrp(asked.tty) != getpgrp()) {
		close(asked.tty);
		return -ENXIO;
	}
	asked.on = true;
	asked.changed = asked.masked = false;
	asked.keys = asked.ready = -1;
	asked.len = 0;
	stopped = 0;
	take_interrupt();
	take_keyboard();
	err = wait_for_both();
	buf_adds(&out, "wardbox: this wants your yes:\n");
	add_line(&out, line);
	if (v->command[0] && !str_eq(v->command, line)) {
		buf_adds(&out, "  because of: ");
		cli_escape_str(&out, v->command);
		buf_addc(&out, '\n');
	}
	add_unusual(&out, line);
	buf_adds(&out, "  rule ");
	cli_ask_rule(&out, v);
	buf_addc(&out, '\n');
	if (!err)
		err = out.err ? -ENOMEM
			      : file_write_all(asked.tty, out.data, out.len);
	/* Keys that were typed before the prompt are no answer. */
	tcflush(asked.tty, TCIFLUSH);
	if (!err)
		err = file_write_all(asked.tty, prompt, sizeof prompt - 1);
	if (err)
		close_question();
	return err;
}

static int ask_fd(void *ctx)
{
	(void)ctx;
	return asked.ready;
}

/* Is the answer "y" or "Yes"? A longer word that begins so is not. */
static bool reads_answer(const char *word)
{
	return (asked.len == 1 || asked.len == strlen(word)) &&
	       !strncasecmp(asked.answer, word, asked.len);
}

static enum guard_answer by_line(void)
{
	enum guard_answer answer = reads_answer("always") ? GUARD_ALWAYS
				   : reads_answer("yes")  ? GUARD_YES
						     : GUARD_NO;

	close_question();
	return answer;
}

static enum guard_answer by_interrupt(void)
{
	(void)!write(asked.tty, "\n", 1);
	close_question();
	stopped = SIGINT;
	return GUARD_NO;
}

static enum guard_answer ask_poll(void *ctx)
{
	struct signalfd_siginfo got;
	ssize_t n;

	(void)ctx;
	if (asked.keys >= 0 && read(asked.keys, &got, sizeof got) > 0)
		return by_interrupt();
	n = read(asked.tty, asked.answer, sizeof asked.answer);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return GUARD_WAITS;
	if (n <= 0) {
		close_question();
		return n < 0 ? GUARD_NOBODY : GUARD_NO;
	}
	/* A line that does not fit, or has no end, is no answer. */
	asked.len = asked.answer[n - 1] == '\n' ? (size_t)n - 1 : 0;
	return by_line();
}

static void ask_cancel(void *ctx, const char *why)
{
	char text[128];

	(void)ctx;
	if (!asked.on)
		return;
	if (why)
		BUF_PRINT(text, "\n(%s)\n", why);
	else
		BUF_PRINT(text, "\n");
	(void)!write(asked.tty, text, strlen(text));
	close_question();
}

const struct guard_answerer *cli_person(void)
{
	static const struct guard_answerer person = {
		.put = ask_put,
		.fd = ask_fd,
		.poll = ask_poll,
		.cancel = ask_cancel,
	};

	return &person;
}

int cli_ask_stopped(void)
{
	return stopped;
}
