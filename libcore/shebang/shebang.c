/* shebang.c - which interpreter a script means
 * SPDX-License-Identifier: MIT
 */
#include "shebang/shebang_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/env.h"
#include "base/path.h"
#include "base/str.h"

/* A message repeats what was found in a script or a variable. */
enum { LONGEST_TEXT = 256 << 10 };

FLOATLESS int shebang_fail(
	struct shebang *s, enum shebang_code code, const char *fmt, ...)
{
	va_list ap;

	buf_clear(&s->message);
	va_start(ap, fmt);
	buf_vaddf(&s->message, fmt, ap);
	va_end(ap);
	return (int)code;
}

FLOATLESS void shebang_trace(const struct shebang *s, const char *fmt, ...)
{
	const struct shebang_watch *w = s->rq->watch;
	va_list ap;

	if (!w || !w->trace)
		return;
	autobuf struct buf line = BUF_INIT(LONGEST_TEXT);
	va_start(ap, fmt);
	buf_vaddf(&line, fmt, ap);
	va_end(ap);
	w->trace(w->arg, buf_str(&line));
}

struct buf shebang_room(struct shebang *s)
{
	size_t left = sizeof s->pool - s->used;
	size_t cap = left < SHEBANG_PATH ? left : SHEBANG_PATH;

	return (struct buf){
		.data = s->pool + s->used, .cap = cap, .max = cap - 1};
}

void shebang_keep(struct shebang *s, const struct buf *room)
{
	s->used += room->len + 1;
}

static void trace_conf(const struct shebang *s)
{
	const struct shebang_conf *c = &s->conf;

	shebang_trace(s, "script: %s", s->rq->script);
	shebang_trace(s, "search-name: %s", s->rq->name);
	for (enum shebang_key k = 0; k < SHEBANG_TRUST_ENV; k++)
		shebang_trace(s, "config: %s=%s (%s)", shebang_key_name(k),
			c->value[k], shebang_source_name(c->source[k]));
	shebang_trace(s, "config: trust-env=%s", c->value[SHEBANG_TRUST_ENV]);
}

/* The first lines of the script into s->pool. How many bytes; *whole when the
 * script ends there. What is no readable file has none. */
static size_t read_head(struct shebang *s, bool *whole)
{
	const char *script = s->rq->script;
	struct stat st;
	size_t n = 0;
	unsigned lines = 0;

	*whole = true;
	/* Looked at before it is opened: opening a device may do something. */
	if (stat(script, &st))
		return 0;
	s->script_dev = st.st_dev;
	s->script_ino = st.st_ino;
	if (!S_ISREG(st.st_mode))
		return 0;
	autofd int fd = openat(AT_FDCWD, script,
		O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	while (lines < SHEBANG_LINES && n < SHEBANG_SCAN) {
		/* Thirty lines seldom need more than a page. */
		size_t want = n ? SHEBANG_SCAN - n : 4096;
		ssize_t got = read(fd, s->pool + n, want);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return n;
		for (size_t end = n + (size_t)got; n < end; n++)
			lines += s->pool[n] == '\n';
		if ((off_t)n == st.st_size)
			return n;
	}
	*whole = false;
	return n;
}

static int refuse_named(struct shebang *s, const char *variable,
	const char *path, enum shebang_verdict verdict)
{
	switch (verdict) {
	case SHEBANG_NOT_FILE:
		return shebang_fail(s, SHEBANG_BAD,
			"%s is not a regular file: %s", variable, path);
	case SHEBANG_NOT_EXECUTABLE:
		return shebang_fail(s, SHEBANG_NOEXEC, "%s not executable: %s",
			variable, path);
	case SHEBANG_SELF:
	case SHEBANG_COPY:
		return shebang_fail(s, SHEBANG_BAD,
			"%s points to the resolver itself: %s", variable, path);
	case SHEBANG_USABLE:
	case SHEBANG_ABSENT:
	case SHEBANG_NO_PLACE:
		break;
	}
	return shebang_fail(
		s, SHEBANG_MISSING, "%s not found: %s", variable, path);
}

/* Takes the interpreter a variable names outright. NONE when it names none. */
static int take_named(
	struct shebang *s, const char *variable, enum shebang_via via)
{
	const char *label = str_after(variable, "AUTO_SHEBANG_");
	const char *path = env_get(s->rq->env, variable);
	bool first = !s->result, over;
	enum shebang_verdict verdict;

	if (str_eq(s->conf.value[SHEBANG_TRUST_ENV], "no") || !path || !*path)
		return SHEBANG_NONE;
	if (first)
		shebang_trace(s, "checking %s: %s", label, path);
	verdict = shebang_judge(s, path);
	/* The binary has many names: called "sh" it is a shell. */
	if ((verdict == SHEBANG_SELF || verdict == SHEBANG_COPY) &&
		!str_after(path_base(path), "auto-"))
		verdict = SHEBANG_USABLE;
	over = shebang_weigh(s, path, via, verdict);
	if (first && verdict != SHEBANG_USABLE)
		return refuse_named(s, variable, path, verdict);
	if (first)
		shebang_trace(s, "resolved via %s: %s", label, path);
	return over ? SHEBANG_FOUND : SHEBANG_NONE;
}

static int walk_all(struct shebang *s)
{
	int code = SHEBANG_NONE;

	for (unsigned i = 0; i < 2 && code == SHEBANG_NONE; i++)
		if (s->origin[i])
			code = shebang_walk(s, s->origin[i]);
	return code;
}

static int search_tree(struct shebang *s)
{
	bool whole;
	size_t n = read_head(s, &whole);
	int code = shebang_directives(s, n, whole);

	s->used = n + 1;
	if (!code)
		code = shebang_variables(s);
	if (code)
		return code;
	trace_conf(s);
	code = take_named(s, "AUTO_SHEBANG_OVERRIDE_EXE", SHEBANG_OVERRIDE);
	if (code != SHEBANG_NONE)
		return code;
	code = shebang_origins(s);
	if (code)
		return code;
	code = walk_all(s);
	if (code == SHEBANG_FOUND && s->result)
		shebang_trace(s, "resolved: %s", s->result);
	if (code != SHEBANG_NONE)
		return code;
	return take_named(s, "AUTO_SHEBANG_FALLBACK_EXE", SHEBANG_FALLBACK);
}

int shebang_resolve(struct shebang *s, const struct shebang_request *rq)
{
	int code;

	s->rq = rq;
	s->result = s->origin[0] = s->origin[1] = s->copy = NULL;
	s->work = 0;
	s->script_dev = 0;
	s->script_ino = 0;
	s->self_known = s->loops = false;
	if (!s->message.owned)
		s->message = BUF_INIT(LONGEST_TEXT);
	buf_clear(&s->message);
	shebang_defaults(&s->conf);
	code = search_tree(s);
	/* While listing, what goes wrong behind the winner changes nothing. */
	return s->result ? SHEBANG_FOUND : code;
}

void shebang_release(struct shebang *s)
{
	buf_release(&s->message);
}
