/* profile_show.c - files, list, print
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/path.h"
#include "profile.h"
#include "profile/profile_block.h"
#include "profile_change.h"
#include "profile/rcfile.h"
#include "base/str.h"

static void files_json(const struct profile_files *files, enum shell_kind kind)
{
	autobuf struct buf out = BUF_INIT(1 << 20);
	struct json j = profile_json_begin(&out);

	json_putf(&j, "shell %s files [", shellkind_name(kind));
	for (size_t i = 0; i < files->count; i++) {
		const struct profile_file *f = &files->file[i];

		json_putf(&j,
			"{ file %s exists %d system %d shadowed_by %s "
			"sessions [",
			f->path, f->exists, f->system, f->shadowed_by);
		for (unsigned s = 0; s < SESSIONS; s++) {
			if (f->sessions >> s & 1)
				json_str(&j, profile_session_name(s));
		}
		json_putf(&j, "] }");
	}
	json_close(&j);
	cli_print_json(&j);
}

static void files_text(const struct profile_files *files, enum shell_kind kind)
{
	autobuf struct buf out = BUF_INIT(1 << 20);

	buf_addf(&out,
		"%s reads, in this order\n"
		"  (1 login interactive, 2 login command, 3 interactive, "
		"4 command):\n",
		shellkind_name(kind));
	for (size_t i = 0; i < files->count; i++) {
		const struct profile_file *f = &files->file[i];

		buf_adds(&out, "  ");
		for (unsigned s = 0; s < SESSIONS; s++)
			buf_addc(&out, f->sessions >> s & 1 ? "1234"[s] : '-');
		buf_addf(&out, "  %-8s ",
			!f->exists       ? "missing"
			: f->shadowed_by ? "shadowed"
					 : "read");
		cli_escape_str(&out, f->path);
		if (f->shadowed_by)
			buf_addf(&out, "  (hidden by %s)", f->shadowed_by);
		buf_addc(&out, '\n');
	}
	cli_print(&out);
}

int profile_verb_files(void *into)
{
	struct profile_opts *o = into;
	struct profile_who who;
	autofree struct profile_files *files = profile_alloc(sizeof *files);

	profile_who_find(&who, o);
	if (profile_files_list(files, who.kind, &who.place))
		cli_die(PROFILE_EXIT_REFUSED,
			"no startup files are known for %s",
			shellkind_name(who.kind));
	if (o->json)
		files_json(files, who.kind);
	else
		files_text(files, who.kind);
	return EXIT_OK;
}

/* Where blocks may be. */
struct listing {
	struct buf out;
	struct json j;
	const struct profile_opts *o;
	unsigned found, broken;
	bool bare;
	char seen[64][256];
	unsigned seen_count;
};

static void list_line(struct listing *l, const char *path, const char *id,
	unsigned line, const char *text, size_t n)
{
	l->found++;
	if (l->bare) {
		buf_add(&l->out, text, n);
		buf_addc(&l->out, '\n');
	} else if (l->o->json) {
		json_putf(&l->j, "{ file %s line %ju id %s", path,
			(uintmax_t)line, id);
		json_strn(json_key(&l->j, "text"), text, n);
		json_close(&l->j);
	} else {
		cli_escape_str(&l->out, path);
		buf_addf(&l->out, ":%u: [%s] ", line, id);
		cli_escape(&l->out, text, n);
		buf_addc(&l->out, '\n');
	}
}

static void list_block(struct listing *l, const char *path, const char *text,
	const struct profile_block *b)
{
	unsigned line = rc_line(text, b->body);

	for (size_t at = b->body; at < b->body_end; line++) {
		size_t n = strcspn(text + at, "\n");

		list_line(l, path, b->id, line, text + at, n);
		at += n + 1;
	}
}

static void list_file(
	struct listing *l, const char *path, enum shell_family family)
{
	autobuf struct buf text = BUF_INIT(PROFILE_TEXT_MAX);
	autofree struct profile_blocks *blocks = malloc(sizeof *blocks);
	struct diag d = {0};
	int err;

	for (unsigned i = 0; i < l->seen_count; i++) {
		if (str_eq(l->seen[i], path))
			return;
	}
	if (l->seen_count < ARRAY_SIZE(l->seen) &&
		str_copy(l->seen[l->seen_count], sizeof l->seen[0], path) == 0)
		l->seen_count++;
	err = blocks ? file_read(AT_FDCWD, path, &text) : -ENOMEM;
	if (err == -ENOENT)
		return;
	if (err) {
		diag_of(&d, err, path);
	} else {
		err = profile_blocks_find(
			blocks, buf_str(&text), text.len, family, &d);
		diag_at(&d, path, d.line, d.col);
	}
	if (err) {
		cli_diag(&d);
		l->broken++;
		return;
	}
	for (size_t i = 0; i < blocks->count; i++)
		list_block(l, path, buf_str(&text), &blocks->block[i]);
}

/* profile-ID.sh and profile-ID.fish in a directory of snippets. */
static void list_snippets(
	struct listing *l, const char *dir, enum shell_family family)
{
	autodir DIR *d = opendir(dir);
	const struct dirent *e;
	autofree char *path = malloc(PATH_MAX);

	while (d && path && (e = readdir(d)) != NULL) {
		if (!str_after(e->d_name, "profile-") ||
			path_join(path, PATH_MAX, dir, e->d_name))
			continue;
		list_file(l, path, family);
	}
}

static void list_kind(
	struct listing *l, enum shell_kind kind, const struct profile_who *who)
{
	autofree struct profile_files *files = profile_alloc(sizeof *files);
	enum shell_family family = shellkind_family(kind);

	if (profile_files_list(files, kind, &who->place))
		return;
	for (size_t i = 0; i < files->count; i++) {
		const char *path = files->file[i].path;

		if (!files->file[i].exists)
			continue;
		if (str_ends(path, ".d"))
			list_snippets(l, path, family);
		else
			list_file(l, path, family);
	}
}

static unsigned list_all(struct listing *l, const struct profile_who *who,
	const struct profile_opts *o)
{
	bool one = profile_shell_given(o);

	if (o->file) {
		list_file(l, o->file, shellkind_family(who->kind));
		return l->broken;
	}
	for (unsigned k = SHELL_SH; k < SHELL_KINDS; k++) {
		if (!one || (enum shell_kind)k == who->kind)
			list_kind(l, (enum shell_kind)k, who);
	}
	return l->broken;
}

int profile_verb_list(void *into)
{
	struct profile_opts *o = into;
	struct profile_who who;
	autofree struct listing *l = profile_alloc(sizeof *l);

	profile_who_find(&who, o);
	l->o = o;
	l->out = BUF_INIT(16u << 20);
	if (o->json) {
		l->j = profile_json_begin(&l->out);
		json_put_open(&l->j, "lines", '[');
	}
	list_all(l, &who, o);
	if (o->json) {
		json_close(&l->j);
		cli_print_json(&l->j);
	}
	cli_print(&l->out);
	buf_release(&l->out);
	return l->broken ? PROFILE_EXIT_REFUSED : EXIT_OK;
}

/* For eval, or within JSON. */
static void print_lines(const struct profile_who *who,
	const struct profile_opts *o, struct buf *lines)
{
	autobuf struct buf out = BUF_INIT(64u << 20);
	struct json j;

	if (!o->json) {
		cli_print(lines);
		return;
	}
	j = profile_json_begin(&out);
	json_putf(&j, "shell %s lines %s", shellkind_name(who->kind),
		lines->len ? buf_str(lines) : "");
	cli_print_json(&j);
}

/* Lines that are in the files already, for a session begun before. */
static int print_blocks(
	const struct profile_who *who, const struct profile_opts *o)
{
	autoclean(profile_goals_release) struct profile_goals goals = {0};
	autofree struct listing *l = profile_alloc(sizeof *l);
	autobuf struct buf once = BUF_INIT(16u << 20);
	struct diag d = {0};
	int err = profile_goals_find(&goals, who, o, &d);

	if (err) {
		cli_diag(&d);
		return profile_code(err);
	}
	l->o = o;
	l->bare = true;
	l->out = BUF_INIT(16u << 20);
	for (size_t i = 0; i < goals.count; i++)
		list_file(l, goals.goal[i].file.path, goals.goal[i].family);
	/* The login file and the interactive one hold the same lines. */
	for (size_t at = 0; at < l->out.len;) {
		const char *line = buf_str(&l->out) + at;
		size_t n = strcspn(line, "\n") + 1;

		if (!memmem(once.data ? once.data : "", once.len, line, n))
			buf_add(&once, line, n);
		at += n;
	}
	buf_release(&l->out);
	print_lines(who, o, &once);
	return l->broken ? PROFILE_EXIT_REFUSED : EXIT_OK;
}

static bool is_pair(const char *word)
{
	size_t n = strcspn(word, "=");

	return word[n] && str_is_name(word, n);
}

int profile_verb_print(void *into, int argc, char **argv)
{
	struct profile_opts *o = into;
	struct profile_who who;
	autoclean(profile_items_release) struct profile_items items =
		PROFILE_ITEMS_INIT;
	autobuf struct buf out = BUF_INIT(4 << 20);
	enum shell_family family;
	const char *home;

	profile_who_find(&who, o);
	if (argc < 2)
		return print_blocks(&who, o);
	for (int i = 1; i < argc; i++)
		profile_items_add(&items, &who, o,
			is_pair(argv[i]) ? PROFILE_VAR
			: o->append      ? PROFILE_APPEND
					 : PROFILE_PREPEND,
			1, argv + i);
	if (o->docker)
		return profile_change_items(&items, &who, o);
	family = shellkind_family(who.kind);
	home = o->absolute || family > FAMILY_CSH ? who.home : NULL;
	for (size_t i = 0; i < items.count; i++) {
		size_t k = profile_in_order(&items, i);
		struct diag d = {0};

		if (profile_line(&out, family, &items.item[k], home, &d))
			cli_die_diag(EXIT_USAGE, &d);
	}
	print_lines(&who, o, &out);
	return EXIT_OK;
}
