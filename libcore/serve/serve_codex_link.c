/* serve_codex_link.c - what a client of codex's executor protocol asks for
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_codex_in.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "sys/file.h"

static const struct rpc_token nobody;

void codex_wrong(struct codex_link *l, const struct codex_message *m)
{
	codex_error(&l->answers, &m->id, RPC_PARAMS, m->said);
}

void codex_done(struct codex_link *l, const struct codex_message *m)
{
	struct json j = JSON_INIT(&l->answers);

	codex_begin(&j, &m->id);
	rpc_end(&j);
}

int codex_memory(const void *bytes, size_t n)
{
	autofd int fd = memfd_create("wardbox", MFD_CLOEXEC);
	int err = fd < 0 ? -errno : file_write_all(fd, bytes, n);
	int done = fd;

	if (err || lseek(fd, 0, SEEK_SET))
		return err ? err : -errno;
	fd = -1;
	return done;
}

static void add_each(struct buf *out, const char *option, const struct buf *paths)
{
	for (size_t at = 0; at < paths->len; at += strlen(paths->data + at) + 1)
		buf_addf(out, "--%s=%s%c", option, paths->data + at, 0);
}

void codex_add_wish(const struct codex_wish *w, struct buf *out)
{
	if (w->writes && !w->write.len)
		buf_addf(out, "--read-only%c", 0);
	else if (w->writes)
		add_each(out, "write", &w->write);
	add_each(out, "protect", &w->keep);
	add_each(out, "hide", &w->hide);
	if (w->offline)
		buf_addf(out, "--offline%c", 0);
}

/* What codex may ask of an executor beyond this one's methods: nothing of it. That
 * files are streamed in the box is true of all that is done with files. */
static void put_info(struct json *j, const struct codex_link *l)
{
	char cwd[PATH_MAX];
	const char *name = path_base(l->shell);

	json_put_open(j, "shell", '{');
	json_put_str(j, "name", name);
	json_put_str(j, "path", l->shell);
	json_close(j);
	json_put_str(j, "executorVersion", l->version);
	if (!path_cwd(cwd, sizeof cwd))
		codex_put_path(j, "cwd", cwd);
	if (l->home[0] == '/')
		codex_put_path(j, "userHomeDir", l->home);
	json_put_str(j, "platformOs", "linux");
	json_put_open(j, "temporaryDirectories", '[');
	json_close(j);
	codex_put_path(j, "tempDir", "/tmp");
	json_put_open(j, "capabilities", '{');
	json_put_bool(j, "sandboxedFileStreaming", true);
	json_close(j);
}

static void do_initialize(struct codex_link *l, struct codex_message *m)
{
	struct json j = JSON_INIT(&l->answers);
	char resumed[CODEX_ID_SIZE];
	struct buf text = BUF_FIXED(resumed);

	if (l->asked) {
		codex_error(&l->answers, &m->id, RPC_REQUEST,
			"initialize comes once");
		return;
	}
	if (codex_text(m, m->params, "resumeSessionId", false, &text) ||
		text.len) {
		codex_error(&l->answers, &m->id, RPC_REQUEST,
			"unknown session id: a client's commands end with it");
		return;
	}
	l->asked = true;
	codex_begin(&j, &m->id);
	json_put_str(&j, "sessionId", l->session);
	json_put_open(&j, "environmentInfo", '{');
	put_info(&j, l);
	rpc_end(&j);
}

static void do_info(struct codex_link *l, struct codex_message *m)
{
	struct json j = JSON_INIT(&l->answers);

	codex_begin(&j, &m->id);
	if (m->method == CODEX_INFO)
		put_info(&j, l);
	else
		json_put_str(&j, "status", "ready");
	rpc_end(&j);
}

static void do_request(struct codex_link *l, struct codex_message *m,
	const char *text, size_t n)
{
	static void (*const does[])(struct codex_link *l,
		struct codex_message *m) = {
		[CODEX_INFO] = do_info,
		[CODEX_STATUS] = do_info,
		[CODEX_START] = codex_start,
		[CODEX_READ] = codex_reread,
		[CODEX_WRITE] = codex_write,
		[CODEX_SIGNAL] = codex_signal,
		[CODEX_TERMINATE] = codex_terminate,
		[CODEX_FILE_OPEN] = codex_file_open,
		[CODEX_FILE_BLOCK] = codex_file_block,
		[CODEX_FILE_CLOSE] = codex_file_close,
	};

	if (!l->initialized)
		codex_error(&l->answers, &m->id, RPC_REQUEST,
			"initialize and initialized come first");
	else if (m->method < ARRAY_SIZE(does) && does[m->method])
		does[m->method](l, m);
	else
		codex_file(l, m, text, n);
}

void codex_link_line(struct codex_link *l, const char *line, size_t n)
{
	autocodex struct codex_message m = {.method = CODEX_NONE};
	int code = line ? codex_read(&m, line, n) : RPC_REQUEST;

	if (code)
		codex_error(&l->answers, &m.id, code,
			line ? m.said : "the message is longer than 64 MiB");
	else if (m.method == CODEX_INITIALIZE)
		do_initialize(l, &m);
	else if (m.method == CODEX_INITIALIZED && !l->asked)
		codex_error(&l->answers, &nobody, RPC_REQUEST,
			"initialize comes first");
	else if (m.method == CODEX_INITIALIZED)
		l->initialized = true;
	else if (m.method != CODEX_NONE)
		do_request(l, &m, line, n);
}

void codex_link_init(struct codex_link *l)
{
	l->answers = BUF_INIT(CODEX_OUT_MAX);
}

void codex_link_room(struct codex_link *l)
{
	for (struct codex_process *p = l->processes, *next; p; p = next) {
		next = p->next;
		codex_pump(p);
	}
}

void codex_link_release(struct codex_link *l)
{
	l->gone = true;
	while (l->waits)
		codex_wait_free(l->waits);
	while (l->processes)
		codex_process_free(l->processes);
	codex_files_release(l);
	buf_release(&l->answers);
}

static void stdio_take(struct serve_lines *lines, const char *line, size_t n)
{
	codex_link_line(&CONTAINER(lines, struct codex_stdio, lines)->link, line,
		n);
}

/* What the client started ends with it: nobody would read of it. */
static void stdio_gone(struct serve_lines *lines)
{
	static const size_t none;

	CONTAINER(lines, struct codex_stdio, lines)->link.gone = true;
	lines->waiting = &none;
}

static void stdio_room(struct serve_lines *lines)
{
	codex_link_room(&CONTAINER(lines, struct codex_stdio, lines)->link);
}

static void stdio_said(struct codex_link *l)
{
	serve_lines_flush(&CONTAINER(l, struct codex_stdio, link)->lines);
}

int codex_stdio_open(struct codex_stdio *s)
{
	codex_link_init(&s->link);
	s->link.said = stdio_said;
	s->lines.loop = &s->link.engine->loop;
	s->lines.max = CODEX_LINE_MAX;
	s->lines.answers = &s->link.answers;
	s->lines.waiting = &s->link.waiting;
	s->lines.take = stdio_take;
	s->lines.gone = stdio_gone;
	s->lines.room = stdio_room;
	return serve_lines_open(&s->lines);
}

void codex_stdio_close(struct codex_stdio *s)
{
	serve_lines_close(&s->lines);
	codex_link_release(&s->link);
}
