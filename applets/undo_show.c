/* undo_show.c - journals as people and programs read them
 * SPDX-License-Identifier: MIT
 */
#include "undo_applet.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diff.h"
#include "base/num.h"
#include "base/str.h"
#include "log/audit_read_json.h"
#include "sys/file.h"

enum { DIFF_FILE_MAX = 8 << 20, HEX = 2 * UNDO_SHA + 1 };

static const char *state_of(const struct undo_info *i)
{
	return i->running   ? "running"
	       : i->undone  ? "undone"
	       : !i->ended  ? "cut off"
	       : i->kind == UNDO_UNDO ? "undo"
	       : i->kind == UNDO_REDO ? "redo"
				      : "";
}

static void list_json(struct json *j, const struct undo_info *i)
{
	json_open(j, '{');
	json_put_u64(j, "journal", i->number);
	audit_json_time(j, "time", i->began_ns);
	json_put_str(j, "state", state_of(i));
	if (i->of)
		json_put_u64(j, "of", i->of);
	json_put_str(j, "project", i->root);
	json_put_str(j, "session", i->session);
	json_put_str(j, "command", i->text);
	json_put_u64(j, "made", i->made);
	json_put_u64(j, "changed", i->changed);
	json_put_u64(j, "removed", i->removed);
	json_put_u64(j, "moved", i->moved);
	json_put_u64(j, "lost", i->lost);
	json_put_u64(j, "bytes", i->bytes);
	json_close(j);
}

static void list_text(struct buf *out, const struct undo_info *i)
{
	char text[48];
	struct buf b = BUF_FIXED(text);

	audit_add_time(&b, i->began_ns);
	buf_addf(out, "%5llu  %.19s  %-8s", (unsigned long long)i->number,
		buf_str(&b), state_of(i));
	buf_addf(out, " +%u ~%u -%u", i->made, i->changed + i->moved, i->removed);
	if (i->lost)
		buf_addf(out, " !%u", i->lost);
	buf_adds(out, "  ");
	cli_escape_str(out, i->text);
	buf_addc(out, '\n');
}

int undo_verb_list(void *into, int argc, char **argv)
{
	const struct undo_opts *o = into;
	autofd int store = undo_store(false);
	autofree struct undo_info *list = NULL;
	autobuf struct buf out = BUF_INIT(1 << 26);
	struct json j = JSON_INIT(&out);
	struct diag d = {0};
	size_t n;

	if (argc > 1)
		cli_die(EXIT_USAGE, "list: no operands: %s", argv[1]);
	if (undo_list(store, o->all ? NULL : undo_here(), &list, &n, &d))
		cli_die_diag(EXIT_FOUND, &d);
	if (o->json)
		json_open(&j, '[');
	for (size_t i = 0; i < n; i++)
		if (o->json)
			list_json(&j, &list[i]);
		else
			list_text(&out, &list[i]);
	if (o->json) {
		json_end(&j);
	}
	cli_print(&out);
	return n ? EXIT_OK : EXIT_FOUND;
}

static struct undo_model *load_one(int store, const char *verb, int argc,
	char **argv)
{
	struct undo_model *m;
	struct diag d = {0};
	uint64_t number = 0;

	if (argc > 2 || (argc > 1 && num_u64(argv[1], 1, UINT64_MAX, &number)))
		cli_die(EXIT_USAGE, "%s: expected a number of 'undo list'", verb);
	if (!number)
		number = undo_last(store, undo_here(), false);
	if (undo_load(store, number, &m, &d))
		cli_die_diag(EXIT_FOUND, &d);
	return m;
}

struct showing {
	struct buf *out;
	struct json *json;
	const struct undo_model *m;
	int err;
};

static void json_sum(struct json *j, const char *key, const uint8_t *sum)
{
	char text[HEX];
	struct buf b = BUF_FIXED(text);

	for (size_t i = 0; sum && i < UNDO_SHA; i++)
		buf_addf(&b, "%02x", sum[i]);
	if (sum)
		json_put_str(j, key, buf_str(&b));
}

static int show_change(void *ctx, const struct undo_change *c)
{
	struct showing *s = ctx;

	if (s->json) {
		json_open(s->json, '{');
		json_put_str(s->json, "what", undo_became_name(c->became));
		json_put_str(s->json, "path", c->path);
		if (c->from)
			json_put_str(s->json,
				c->became == UNDO_LOST ? "reason" : "from",
				c->from);
		json_put_u64(s->json, "size", c->size);
		json_sum(s->json, "old", c->old_sha);
		json_sum(s->json, "new", c->new_sha);
		json_close(s->json);
		return 0;
	}
	buf_addf(s->out, "%-8s ", undo_became_name(c->became));
	cli_escape_str(s->out, c->path);
	if (c->from) {
		buf_adds(s->out, c->became == UNDO_LOST ? ": " : " from ");
		cli_escape_str(s->out, c->from);
	}
	buf_addc(s->out, '\n');
	return 0;
}

int undo_verb_show(void *into, int argc, char **argv)
{
	const struct undo_opts *o = into;
	autofd int store = undo_store(false);
	autoundo_model struct undo_model *m = load_one(store, "show", argc, argv);
	autobuf struct buf out = BUF_INIT(1 << 28);
	struct json j = JSON_INIT(&out);
	struct showing s = {.out = &out, .m = m, .json = o->json ? &j : NULL};

	if (o->json) {
		json_open(&j, '{');
		json_put_u64(&j, "journal", undo_info(m)->number);
		json_put_str(&j, "command", undo_info(m)->text);
		json_put_str(&j, "session", undo_info(m)->session);
		json_put_u64(&j, "bytes", undo_info(m)->bytes);
		json_put_open(&j, "also", '[');
		for (size_t i = 0; undo_else(m, i); i++)
			json_str(&j, undo_else(m, i));
		json_close(&j);
		json_put_open(&j, "changes", '[');
	} else {
		list_text(&out, undo_info(m));
	}
	for (size_t i = 0; !o->json && undo_else(m, i); i++) {
		buf_adds(&out, "also     ");
		cli_escape_str(&out, undo_else(m, i));
		buf_addc(&out, '\n');
	}
	(void)undo_changes(m, show_change, &s);
	if (o->json) {
		json_end(&j);
	}
	cli_print(&out);
	return EXIT_OK;
}

/* The bytes of a file; false for what is none, or too long. */
static bool read_fd(int fd, struct buf *b)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		st.st_size <= DIFF_FILE_MAX && !buf_read_fd(b, fd);
}

static int diff_change(void *ctx, const struct undo_change *c)
{
	struct showing *s = ctx;
	autobuf struct buf old = BUF_INIT(DIFF_FILE_MAX + 1);
	autobuf struct buf new = BUF_INIT(DIFF_FILE_MAX + 1);
	autofd int was = c->old ? undo_old(s->m, c->old) : -1;
	autofd int is = c->became == UNDO_REMOVED
			? -1
			: open(c->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
					O_NOCTTY | O_CLOEXEC);
	const bool has_old = read_fd(was, &old), has_new = read_fd(is, &new);

	if (!S_ISREG(c->mode) || (!has_old && !has_new) ||
		(c->became == UNDO_CHANGED && !has_old))
		return show_change(ctx, c);
	if ((old.len && memchr(old.data, 0, old.len)) ||
		(new.len && memchr(new.data, 0, new.len))) {
		buf_adds(s->out, "Binary file ");
		cli_escape_str(s->out, c->path);
		buf_addf(s->out, " %s\n", undo_became_name(c->became));
		return 0;
	}
	return diff_unified(s->out, has_old ? c->path : "/dev/null",
		has_new ? c->path : "/dev/null", buf_str(&old), old.len,
		buf_str(&new), new.len) == -ENOMEM
		       ? -ENOMEM
		       : 0;
}

int undo_verb_diff(void *into, int argc, char **argv)
{
	autofd int store = undo_store(false);
	autoundo_model struct undo_model *m = load_one(store, "diff", argc, argv);
	autobuf struct buf out = BUF_INIT(1 << 28);
	struct showing s = {.out = &out, .m = m};

	(void)into;
	if (undo_changes(m, diff_change, &s))
		cli_die(EXIT_FOUND, "out of memory");
	cli_print(&out);
	return EXIT_OK;
}

int undo_print_freed(const struct undo_opts *o, uint64_t bytes)
{
	autobuf struct buf out = BUF_INIT(256);
	struct json j = JSON_INIT(&out);

	if (o->json) {
		json_open(&j, '{');
		json_put_u64(&j, "freed", bytes);
		json_end(&j);
	} else {
		buf_addf(&out, "%llu bytes freed\n", (unsigned long long)bytes);
	}
	cli_print(&out);
	return EXIT_OK;
}
