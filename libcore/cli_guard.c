/* cli_guard.c - what front ends of the guard share: facts, questions, endings
 * SPDX-License-Identifier: MIT
 */
#include "cli_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "file.h"
#include "sig.h"
#include "str.h"
#include "utf8.h"

extern char **environ;

/* What a reader of the line might not see. */
static void add_unusual(struct buf *out, const char *line)
{
	size_t n = strlen(line), hidden = 0, lines = 1;
	bool foreign = false;

	for (size_t i = 0; i < n;) {
		uint32_t cp = 0;
		size_t len = utf8_decode(line + i, n - i, &cp);

		lines += line[i] == '\n';
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

/* Escaped, but with its line ends, and not endless. */
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

static int ask(void *ctx, const struct policy_verdict *v, const char *line)
{
	autofd int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	autobuf struct buf out = BUF_INIT(65536);
	char answer[64];
	ssize_t n;

	(void)ctx;
	if (tty < 0)
		return -ENXIO;
	buf_adds(&out, "wardbox: this wants your yes:\n");
	add_line(&out, line);
	if (v->command[0] && !str_eq(v->command, line)) {
		buf_adds(&out, "  because of: ");
		cli_escape(&out, v->command, strlen(v->command));
		buf_addc(&out, '\n');
	}
	add_unusual(&out, line);
	buf_addf(&out, "  rule %s (%s:%u): %s\n", v->rule, v->file, v->line,
		v->reason);
	buf_adds(&out, "Run it? [y]es, [N]o, [a]lways in this session: ");
	if (out.err || file_write_all(tty, out.data, out.len))
		return -ENXIO;
	do
		n = read(tty, answer, sizeof answer);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	if (answer[0] == 'a' || answer[0] == 'A')
		return 2;
	return answer[0] == 'y' || answer[0] == 'Y';
}

void cli_guard_facts(struct guard_request *q)
{
	q->env = environ;
	q->profile = getenv("WARDBOX_PROFILE");
	q->ask = ask;
}

void cli_guard_tell(const struct guard_result *r)
{
	const struct policy_verdict *v = &r->verdict;
	const char *debug = getenv("WARDBOX_DEBUG");

	if (!r->ran)
		cli_diag(&r->diag);
	else if (r->run.limit != LIMITS_NONE)
		cli_warn("ended: it went over its limit on %s",
			limits_name(r->run.limit));
	else if (r->run.cut)
		cli_warn("output cut: it went over its limit on output");
	if (!debug || !str_eq(debug, "1"))
		return;
	cli_warn("profile %s, session %s: %s by rule %s (%s:%u): %s",
		policy_profile_name(r->profile), r->session,
		policy_decision_name(v->decision), v->rule, v->file, v->line,
		v->reason);
	if (r->ran && r->diag.text[0])
		cli_diag(&r->diag);
}

void cli_guard_exit(const struct guard_result *r)
{
	int sig = guard_exit_signal(r);

	cli_guard_tell(r);
	if (sig)
		sig_die(sig);
	exit(r->code);
}

void cli_guard_end(const struct guard_request *q)
{
	static struct guard_result r;

	guard_run(q, &r);
	cli_guard_exit(&r);
}
