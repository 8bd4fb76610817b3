/* envrun_repl.c - many commands in one process: for people, for programs
 * SPDX-License-Identifier: MIT
 */
#include "envrun.h"
#include "envrun_edit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/dirs.h"
#include "base/path.h"
#include "sys/sig.h"
#include "base/str.h"

enum { READ_MAX = 65536 };

extern char **environ;

/* Bytes that were read beyond the last whole line. */
struct lines {
	struct buf pending;
	char end; /* what ends a line */
	bool over;
	bool skips; /* a line that is too long, to its end */
};

/* The next line, without its end, into line. 0; -ENODATA at the end; -EINTR
 * when a signal came first; -errno; -ENOBUFS for one beyond the longest line,
 * which is read to its end. */
static int next_line(struct lines *in, struct buf *line)
{
	for (;;) {
		char *end = in->pending.len ? memchr(in->pending.data, in->end,
						      in->pending.len)
					    : NULL;
		char *room;
		ssize_t n;

		if (end || (in->over && (in->pending.len || in->skips))) {
			size_t len = end ? (size_t)(end - in->pending.data)
					 : in->pending.len;

			if (in->skips)
				line->err = -ENOBUFS;
			in->skips = false;
			buf_add(line, in->pending.data, len);
			buf_consume(&in->pending, len + (end != NULL));
			return line->err;
		}
		if (in->over)
			return -ENODATA;
		room = buf_reserve(&in->pending, 4096);
		if (!room && in->pending.err != -ENOBUFS)
			return in->pending.err;
		if (!room) {
			in->skips = true;
			buf_clear(&in->pending);
			continue;
		}
		n = read(STDIN_FILENO, room, 4096);
		if (n < 0 && errno == EAGAIN && fd_again(STDIN_FILENO, POLLIN))
			continue;
		if (n < 0)
			return -errno;
		in->over = n == 0;
		in->pending.len += (size_t)n;
	}
}

static void answer_line(struct envrun *e, const char *line)
{
	struct envrun_outcome out = {0};
	autobuf struct buf text = BUF_INIT(ENVRUN_JSON_MAX);

	envrun_line(e, line, &out);
	envrun_json(e, line, &out, &text);
	envrun_outcome_release(&out);
	cli_print(&text);
	if (out.guard.run.told)
		sig_die(out.guard.run.told);
}

int envrun_serve(struct envrun *e)
{
	struct lines in = {
		.pending = BUF_INIT(CONFIG_LIMIT_LINE + READ_MAX),
		.end = e->nul ? '\0' : '\n',
	};
	autobuf struct buf line = BUF_INIT(CONFIG_LIMIT_LINE + READ_MAX);
	int err;

	e->json = true;
	while ((err = next_line(&in, &line)) != -ENODATA) {
		struct diag d = {0};

		if (err == -EINTR)
			continue;
		if (err == -ENOBUFS)
			diag_fail(&d, err, "a command is longer than can be read");
		else if (err)
			diag_fail(&d, err, "commands cannot be read");
		else if (memchr(line.data ? line.data : "", '\0', line.len))
			diag_fail(&d, err, "a command holds a NUL byte");
		if (d.text[0])
			envrun_refuse(EXIT_OURS, &d);
		else if (line.len)
			answer_line(e, buf_str(&line));
		if (err && err != -ENOBUFS)
			break;
		buf_clear(&line);
	}
	buf_release(&in.pending);
	return err == -ENODATA ? EXIT_OK : EXIT_OURS;
}

static void put_prompt(struct envrun *e, struct buf *out)
{
	const struct state *s = &e->state;
	bool colour = cli_colour(STDOUT_FILENO);
	static char cwd[STATE_PATH_MAX];
	const char *here;

	/* The next command tells what is wrong with the state. */
	(void)envrun_load(e, NULL);
	here = s->pwd ? s->pwd : s->cwd;
	if (!here)
		here = path_cwd(cwd, sizeof cwd) ? "/" : cwd;
	if (s->code)
		buf_addf(out, "%s[%u]%s ", cli_sgr(colour, "31"),
			(unsigned)s->code, cli_sgr(colour, "0"));
	buf_adds(out, cli_sgr(colour, "1"));
	cli_escape_str(out, here);
	buf_addf(out, "%s> ", cli_sgr(colour, "0"));
}

static void remember_line(struct history *h, const char *line)
{
	if (h->count == HISTORY_MAX) {
		free(h->line[0]);
		memmove(h->line, h->line + 1,
			(HISTORY_MAX - 1) * sizeof *h->line);
		h->count--;
	}
	h->line[h->count] = strdup(line);
	if (h->line[h->count])
		h->count++;
}

static void show_history(const struct history *h)
{
	autobuf struct buf out = BUF_INIT(1 << 22);

	for (size_t i = 0; i < h->count; i++) {
		buf_addf(&out, "%5zu  ", i + 1);
		cli_escape_str(&out, h->line[i]);
		buf_addc(&out, '\n');
	}
	cli_print(&out);
}

static void note_interrupt(int sig)
{
	(void)sig;
}

/* Is it this word, and blanks? */
static bool is_word(const char *line, const char *word)
{
	const char *rest = str_after(line, word);

	return rest && !rest[strspn(rest, " \t")];
}

/* Handles one line of a person. False ends the loop. */
static bool obey_line(struct envrun *e, struct history *h, const char *line)
{
	struct envrun_outcome out = {0};

	line += strspn(line, " \t");
	if (!*line)
		return true;
	if (is_word(line, "exit"))
		return false;
	remember_line(h, line);
	if (is_word(line, "history")) {
		show_history(h);
		return true;
	}
	envrun_line(e, line, &out);
	envrun_tell(e, &out);
	envrun_outcome_release(&out);
	if (out.guard.run.told)
		sig_die(out.guard.run.told);
	return true;
}

/* A line, as next_line() gives it; edited where the terminal can do that. */
static int ask_line(struct envrun *e, const struct history *h, struct lines *in,
	struct buf *line)
{
	autobuf struct buf text = BUF_INIT(8192);
	const char *term = env_get(environ, "TERM");
	int err = -ENOTTY;

	put_prompt(e, &text);
	if (term && !str_eq(term, "dumb") && isatty(STDIN_FILENO) &&
		isatty(STDOUT_FILENO))
		err = envrun_edit(buf_str(&text), h, &in->pending, line);
	if (err != -ENOTTY)
		return err;
	cli_print(&text);
	err = next_line(in, line);
	if (err == -EINTR) {
		(void)!write(STDOUT_FILENO, "\n", 1);
		buf_clear(&in->pending);
	}
	return err;
}

int envrun_repl(struct envrun *e)
{
	static struct lines in;
	autobuf struct buf line = BUF_INIT(CONFIG_LIMIT_LINE);
	static struct history h;
	bool going = true;

	/* Ctrl-C drops the line, or ends the command, not the loop. */
	struct sigaction act = {.sa_handler = note_interrupt};

	in = (struct lines){
		.pending = BUF_INIT(CONFIG_LIMIT_LINE + READ_MAX), .end = '\n'};
	e->typed = &in.pending;
	sigaction(SIGINT, &act, NULL);
	while (going) {
		int err;

		buf_clear(&line);
		err = ask_line(e, &h, &in, &line);
		if (err == -ENODATA)
			break;
		if (err && err != -EINTR)
			cli_warn("the line was not read: %s", strerror(-err));
		else if (!err)
			going = obey_line(e, &h, buf_str(&line));
	}
	buf_release(&in.pending);
	return (int)e->state.code;
}
