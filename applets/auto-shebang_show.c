/* auto-shebang_show.c - a search and what is told of it
 * SPDX-License-Identifier: MIT
 */
#include "auto-shebang.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/json.h"
#include "base/str.h"
#include "base/utf8.h"

extern char **environ;

enum { LONGEST_OUTPUT = 32 << 20 };

/* Adds what came from outside: to a terminal nothing that could steer it. */
static void add_shown(struct buf *out, const char *text, int fd)
{
	if (isatty(fd))
		cli_escape_str(out, text);
	else
		buf_adds(out, text);
}

static void print_error(struct buf *out)
{
	(void)file_write_all(STDERR_FILENO, out->data, out->len);
}

FLOATLESS void auto_shebang_say(const char *name, const char *fmt, ...)
{
	autobuf struct buf line = BUF_INIT(LONGEST_OUTPUT);
	autobuf struct buf text = BUF_INIT(LONGEST_OUTPUT);
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	add_shown(&line, *name ? name : "auto-shebang", STDERR_FILENO);
	buf_adds(&line, ": ");
	add_shown(&line, buf_str(&text), STDERR_FILENO);
	buf_addc(&line, '\n');
	print_error(&line);
}

/* All of one search together, so that few pages are touched. Zero until then,
 * and had without a call, unlike the heap. */
static struct {
	_Alignas(4096) struct shebang_request rq;
	struct shebang_watch watch;
	struct shebang found;
} search;

static void trace_line(void *arg, const char *line)
{
	(void)arg;
	auto_shebang_say(search.rq.name, "%s", line);
}

const struct shebang *auto_shebang_search(const char *name, const char *script,
	bool debug, const struct shebang_watch *watch, int *code)
{
	const char *wanted = getenv("AUTO_SHEBANG_DEBUG");

	if (watch)
		search.watch = *watch;
	if (debug || (wanted && str_eq(wanted, "1")))
		search.watch.trace = trace_line;
	search.rq = (struct shebang_request){
		.name = name,
		.script = script,
		.env = environ,
		.self = "/proc/self/exe",
		.watch = &search.watch,
	};
	*code = shebang_resolve(&search.found, &search.rq);
	return &search.found;
}

enum shebang_verdict auto_shebang_judge(const char *path)
{
	search.rq = (struct shebang_request){.self = "/proc/self/exe"};
	search.found.rq = &search.rq;
	return shebang_judge(&search.found, path);
}

/* Nothing found: what was looked through, and what to do. */
static void tell_none(const struct shebang *s)
{
	autobuf struct buf out = BUF_INIT(LONGEST_OUTPUT);
	const char *name = s->rq->name;
	const int fd = STDERR_FILENO;

	add_shown(&out, name, fd);
	buf_adds(&out, ": no interpreter found for: ");
	add_shown(&out, s->rq->script, fd);
	buf_adds(&out, s->origin[1] ? "\n\nSearch origins: "
				    : "\n\nSearch origin: ");
	add_shown(&out, s->origin[0], fd);
	buf_adds(&out, s->origin[1] ? ", " : " (walked to /)");
	add_shown(&out, s->origin[1] ? s->origin[1] : "", fd);
	buf_adds(&out, "\nProbe dirs: ");
	add_shown(&out, s->conf.value[SHEBANG_PROBE_DIRS], fd);
	buf_adds(&out, "\nSuffixes: ");
	add_shown(&out, s->conf.value[SHEBANG_SUFFIXES], fd);
	if (s->copy) {
		buf_adds(&out, "\nPassed over, being a resolver itself: ");
		add_shown(&out, s->copy, fd);
	}
	buf_adds(&out, "\n\nCreate an interpreter symlink:\n"
		       "  ln -sf /path/to/interpreter <project>/bin/");
	add_shown(&out, name, fd);
	buf_adds(&out, "\n\nHint: set AUTO_SHEBANG_DEBUG=1 for full resolution "
		       "trace\n");
	print_error(&out);
}

void auto_shebang_tell(const struct shebang *s, int code)
{
	struct buf message = s->message;

	if (code == SHEBANG_NONE)
		tell_none(s);
	else if (code != SHEBANG_FOUND)
		auto_shebang_say(s->rq->name, "%s", buf_str(&message));
}

/* JSON is UTF-8 and a path is bytes: the odd one is given in hex beside. */
static void json_path(struct json *j, const char *key, const char *path)
{
	autobuf struct buf hex = BUF_INIT(4 * SHEBANG_PATH);
	char name[32];

	json_put_str(j, key, path);
	if (!path || utf8_valid(path, strlen(path)))
		return;
	for (; *path; path++)
		buf_addf(&hex, "%02x", (unsigned char)*path);
	json_put_str(j, BUF_PRINT(name, "%s_hex", key), buf_str(&hex));
}

static const char *via_name(enum shebang_via via)
{
	static const char names[][9] = {
		[SHEBANG_WALK] = "walk",
		[SHEBANG_OVERRIDE] = "override",
		[SHEBANG_FALLBACK] = "fallback",
	};

	return names[via];
}

static void json_conf(struct json *j, const struct shebang_conf *c)
{
	json_put_open(j, "config", '{');
	for (enum shebang_key k = 0; k < SHEBANG_KEYS; k++) {
		json_key(j, shebang_key_name(k));
		json_putf(j, "{ value %s source %s }", c->value[k],
			shebang_source_name(c->source[k]));
	}
	json_close(j);
}

void auto_shebang_json(
	const struct shebang *s, int code, struct buf *candidates)
{
	autobuf struct buf out = BUF_INIT(LONGEST_OUTPUT);
	struct json j = JSON_INIT(&out);
	struct buf message = s->message;

	json_putf(&j, "{ name %s", s->rq->name);
	json_path(&j, "script", s->rq->script);
	json_putf(&j, "found %d", code == SHEBANG_FOUND);
	json_path(&j, "interpreter", s->result);
	json_putf(&j, "via %s error %s origins [",
		s->result ? via_name(s->via) : NULL,
		code == SHEBANG_FOUND  ? NULL
		: code == SHEBANG_NONE ? "no interpreter found"
				       : buf_str(&message));
	for (unsigned i = 0; i < 2; i++)
		if (s->origin[i])
			json_str(&j, s->origin[i]);
	json_close(&j);
	json_conf(&j, &s->conf);
	if (candidates) {
		json_key(&j, "candidates");
		json_raw(&j, candidates->data, candidates->len);
		if (candidates->err)
			out.err = candidates->err;
	}
	cli_print_json(&j);
}

struct listing {
	struct buf text;
	struct json json;
	bool as_json, won;
};

static void list_candidate(void *arg, const char *path, enum shebang_via via,
	enum shebang_verdict verdict)
{
	struct listing *l = arg;
	bool usable = verdict == SHEBANG_USABLE, wins = usable && !l->won;
	const char *word = wins ? "wins"
		: usable	? "behind it"
				: shebang_verdict_name(verdict);
	static char target[SHEBANG_PATH];
	ssize_t n = readlink(path, target, sizeof target - 1);

	target[n > 0 ? n : 0] = '\0';
	l->won |= usable;
	if (l->as_json) {
		json_open(&l->json, '{');
		json_path(&l->json, "path", path);
		json_path(&l->json, "target", n > 0 ? target : NULL);
		json_putf(&l->json, "verdict %s via %s wins %d }", word,
			via_name(via), wins);
		return;
	}
	buf_addf(&l->text, "%s %-16s ", wins ? "*" : " ", word);
	add_shown(&l->text, path, STDOUT_FILENO);
	if (n > 0) {
		buf_adds(&l->text, " -> ");
		add_shown(&l->text, target, STDOUT_FILENO);
	}
	if (via != SHEBANG_WALK)
		buf_addf(&l->text, "  (AUTO_SHEBANG_%s_EXE)",
			via == SHEBANG_OVERRIDE ? "OVERRIDE" : "FALLBACK");
	buf_addc(&l->text, '\n');
}

static void add_row(struct buf *out, const char *name, const char *value,
	const char *source)
{
	buf_addf(out, "%-18s ", name);
	add_shown(out, value, STDOUT_FILENO);
	buf_addf(out, "%s%s%s\n", *source ? " (" : "", source,
		*source ? ")" : "");
}

static void print_list(const struct shebang *s, struct buf *candidates)
{
	autobuf struct buf out = BUF_INIT(LONGEST_OUTPUT);

	add_row(&out, "script", s->rq->script, "");
	for (unsigned i = 0; i < 2; i++)
		if (s->origin[i])
			add_row(&out, "search origin", s->origin[i], "");
	for (enum shebang_key k = 0; k < SHEBANG_KEYS; k++)
		add_row(&out, shebang_key_name(k), s->conf.value[k],
			shebang_source_name(s->conf.source[k]));
	buf_add(&out, candidates->data, candidates->len);
	if (candidates->err)
		out.err = candidates->err;
	cli_print(&out);
}

int auto_shebang_list(
	const char *name, const char *script, const struct auto_shebang *o)
{
	struct listing l = {.text = BUF_INIT(LONGEST_OUTPUT), .as_json = o->json};
	struct shebang_watch watch = {.arg = &l, .candidate = list_candidate};
	const struct shebang *s;
	int code;

	l.json = JSON_INIT(&l.text);
	if (o->json)
		json_open(&l.json, '[');
	s = auto_shebang_search(name, script, o->debug, &watch, &code);
	if (o->json) {
		json_close(&l.json);
		auto_shebang_json(s, code, &l.text);
	} else {
		print_list(s, &l.text);
	}
	if (code != SHEBANG_NONE)
		auto_shebang_tell(s, code);
	buf_release(&l.text);
	return code;
}
