/* serve_codex_read.c - what requests of codex's executor protocol ask for
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_codex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "serve/serve_uri.h"

void codex_wish_release(struct codex_wish *w)
{
	buf_release(&w->write);
	buf_release(&w->keep);
	buf_release(&w->hide);
}

void codex_start_release(struct codex_start *s)
{
	buf_release(&s->words);
	buf_release(&s->env);
	codex_wish_release(&s->wish);
}

static int refuse_wish(struct codex_message *m, const char *what)
{
	(void)BUF_PRINT(m->said, "sandbox: %s cannot be kept by this executor;"
		" its own policy holds without a sandbox of the client's",
		what);
	return -EINVAL;
}

static bool is_word(const struct codex_message *m, uint32_t node,
	const char *key, const char *word)
{
	char text[64];

	return rpc_string(&m->doc, rpc_member(&m->doc, node, key), text,
		       sizeof text) &&
		str_eq(text, word);
}

/* One entry of the permissions, as they are read. */
struct entry {
	struct buf *list; /* where its paths go */
	uint32_t roots;   /* the node of the client's own directories */
	uint32_t sandbox;
	char below[PATH_MAX]; /* "" or a path beneath each */
	char path[PATH_MAX], whole[PATH_MAX];
};

/* What lies at e->path, or below it. */
static int add_path(struct codex_message *m, struct entry *e)
{
	if (path_normal(e->whole, sizeof e->whole, e->path,
		    *e->below ? e->below : "."))
		return refuse_wish(m, "such a path");
	buf_add(e->list, e->whole, strlen(e->whole) + 1);
	return e->list->err ? refuse_wish(m, "so many paths") : 0;
}

/* The directories that the client works in. */
static int add_roots(struct codex_message *m, struct entry *e)
{
	int err = 0;

	if (!e->roots || !json_first(&m->doc, e->roots)) {
		err = codex_path(m, e->sandbox, "cwd", e->path);
		return err ? err : add_path(m, e);
	}
	for (uint32_t i = json_first(&m->doc, e->roots); i && !err;
		i = json_next(&m->doc, i)) {
		const struct json_node *n = &m->doc.node[i];

		if (n->type != JSON_STRING || n->escaped ||
			uri_read(e->path, m->doc.text + n->at, n->len))
			return refuse_wish(m, "such a directory");
		err = add_path(m, e);
	}
	return err;
}

/* 1: it names the whole file system; 0; -EINVAL. */
static int read_special(
	struct codex_message *m, uint32_t special, struct entry *e)
{
	struct buf text = BUF_FIXED(e->below);

	if (codex_text(m, special, "subpath", false, &text))
		return -EINVAL;
	buf_str(&text);
	if (is_word(m, special, "kind", "root") && !*e->below)
		return 1;
	/* The command's own, whatever the policy says. */
	if (is_word(m, special, "kind", "slash_tmp") ||
		is_word(m, special, "kind", "tmpdir"))
		return 0;
	if (is_word(m, special, "kind", "project_roots") ||
		is_word(m, special, "kind", "current_working_directory"))
		return add_roots(m, e);
	return refuse_wish(m, "such a place");
}

/* 1: it names the whole file system; 0; -EINVAL. */
static int read_place(struct codex_message *m, uint32_t place, struct entry *e)
{
	int err;

	if (is_word(m, place, "type", "special"))
		return read_special(
			m, rpc_member(&m->doc, place, "value"), e);
	if (!is_word(m, place, "type", "path"))
		return refuse_wish(m, "a pattern");
	err = codex_path(m, place, "path", e->path);
	if (err)
		return err;
	return str_eq(e->path, "/") ? 1 : add_path(m, e);
}

static int read_entries(
	struct codex_message *m, uint32_t files, struct codex_wish *w)
{
	uint32_t sandbox = rpc_member(&m->doc, m->params, "sandbox");
	uint32_t list = rpc_member(&m->doc, files, "entries");
	autofree struct entry *e = calloc(1, sizeof *e);
	bool readable = false;

	if (!e || !list || json_type(&m->doc, list) != JSON_ARRAY)
		return refuse_wish(m, "such a list");
	w->writes = true;
	for (uint32_t i = json_first(&m->doc, list); i;
		i = json_next(&m->doc, i)) {
		bool write = is_word(m, i, "access", "write");
		bool read = is_word(m, i, "access", "read");
		int all;

		e->list = write ? &w->write : read ? &w->keep : &w->hide;
		e->roots = rpc_member(&m->doc, sandbox, "workspaceRoots");
		e->sandbox = sandbox;
		e->below[0] = '\0';
		all = read_place(m, rpc_member(&m->doc, i, "path"), e);
		if (all < 0)
			return all;
		if (all && !write && !read)
			return refuse_wish(m, "that nothing may be read");
		readable |= all;
		w->writes &= !(all && write);
	}
	return readable ? 0 : refuse_wish(m, "what may not be read");
}

int codex_wish_read(struct codex_message *m, struct codex_wish *w)
{
	uint32_t sandbox = rpc_member(&m->doc, m->params, "sandbox");
	uint32_t is = rpc_member(&m->doc, sandbox, "permissions"), files;

	if (!sandbox || json_type(&m->doc, sandbox) == JSON_NULL)
		return 0;
	if (is_word(m, is, "type", "disabled"))
		return 0;
	w->offline = is_word(m, is, "network", "restricted");
	if (!w->offline && !is_word(m, is, "network", "enabled"))
		return refuse_wish(m, "such a network");
	if (is_word(m, is, "type", "external"))
		return 0;
	files = rpc_member(&m->doc, is, "file_system");
	if (!is_word(m, is, "type", "managed") || !files)
		return refuse_wish(m, "such a kind of permissions");
	if (is_word(m, files, "type", "unrestricted"))
		return 0;
	return is_word(m, files, "type", "restricted")
		? read_entries(m, files, w)
		: refuse_wish(m, "such a kind of file system");
}

/* The members of an object of texts as variables. */
static int read_env(
	struct codex_message *m, uint32_t object, struct codex_start *s)
{
	for (uint32_t key = object ? json_first(&m->doc, object) : 0; key;
		key = json_next(&m->doc, key)) {
		size_t at = s->env.len;

		if (json_text(&m->doc, key, &s->env) || s->env.len == at ||
			memchr(s->env.data + at, '=', s->env.len - at))
			return -EINVAL;
		buf_addc(&s->env, '=');
		if (json_text(&m->doc, json_value(&m->doc, key), &s->env))
			return -EINVAL;
		buf_addc(&s->env, '\0');
	}
	return s->env.err;
}

static int read_variables(struct codex_message *m, struct codex_start *s)
{
	uint32_t policy = rpc_member(&m->doc, m->params, "envPolicy");
	uint32_t set = policy && json_type(&m->doc, policy) == JSON_OBJECT
		? json_find(&m->doc, policy, "set")
		: 0;
	uint32_t env = rpc_member(&m->doc, m->params, "env");

	if ((set && json_type(&m->doc, set) != JSON_OBJECT) ||
		(env && json_type(&m->doc, env) != JSON_OBJECT) ||
		read_env(m, set, s) || read_env(m, env, s)) {
		(void)str_copy(m->said, sizeof m->said,
			"env: no object of names and texts");
		return -EINVAL;
	}
	return 0;
}

int codex_start_read(struct codex_message *m, struct codex_start *s)
{
#define ROW(name, kind, member, max)                                           \
	{name, kind, offsetof(struct codex_start, member), max, 0, 0, NULL}
	static const struct arg members[] = {
		ROW("processId", ARG_TEXT, id, CODEX_ID_SIZE),
		ROW("arg0", ARG_TEXT, argv0, 256),
		ROW("argv", ARG_TEXTS, words, 0),
		ROW("tty", ARG_TRUTH, tty, 0),
		ROW("pipeStdin", ARG_TRUTH, input, 0),
		ROW("enforceManagedNetwork", ARG_TRUTH, managed, 0),
	};
	int err = m->params
		? args_read(members, ARRAY_SIZE(members), 0, &m->doc, m->params,
			  s, m->said)
		: 0;

	if (!err && !(m->params && args_value(&m->doc, m->params, "processId")))
		err = args_wrong(m->said, "processId", "it is missing");
	if (!err)
		err = codex_path(m, m->params, "cwd", s->cwd);
	if (!err && s->managed)
		err = refuse_wish(m, "a network of the client's");
	if (!err && (!s->words.len || !s->words.data[0]))
		err = args_wrong(
			m->said, "argv", "no list of words that can be run");
	if (!err)
		err = read_variables(m, s);
	return err ? err : codex_wish_read(m, &s->wish);
}

static void add_words(struct buf *words, const char *const *list)
{
	for (; *list; list++)
		buf_add(words, *list, strlen(*list) + 1);
}

int codex_words(struct codex_message *m, struct buf *words)
{
	static const char *const read[] = {"cat", "--", NULL};
	static const char *const write[] = {"cp", "--", "/dev/stdin", NULL};
	static const char *const make[] = {"mkdir", "-p", "--", NULL};
	static const char *const remove[] = {"rm", "-rf", "--", NULL};
	static const char *const copy[] = {"cp", "-R", "--", NULL};
	const bool two = m->method == CODEX_FILE_COPY;
	char path[PATH_MAX];
	int err = codex_path(
		m, m->params, two ? "sourcePath" : "path", path);

	if (err)
		return err;
	add_words(words, m->method == CODEX_FILE_WRITE ? write
			: m->method == CODEX_FILE_MKDIR	 ? make
			: m->method == CODEX_FILE_REMOVE ? remove
			: two				 ? copy
							 : read);
	buf_add(words, path, strlen(path) + 1);
	if (two && (err = codex_path(m, m->params, "destinationPath", path)))
		return err;
	if (two)
		buf_add(words, path, strlen(path) + 1);
	return words->err;
}
