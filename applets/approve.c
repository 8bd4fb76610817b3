/* approve.c - answers questions from another terminal
 * SPDX-License-Identifier: MIT
 *
 * APPLET(approve)
 *
 * config APPLET_APPROVE
 *	bool "approve: answer questions from another terminal (3.2 KB)"
 *	default y
 *	select APPLET_EXEC
 *	help
 *	  Lists, shows and answers what the policy asks about commands whose
 *	  terminal, if any, no person sits at: exec --approver, mcp and serve.
 */
#include "applet.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "approve/approve.h"
#include "base/json_read.h"
#include "base/str.h"
#include "sys/probe.h"

struct approve_opts {
	bool json;
};

/* The questions' directory, or the end: a question's own command is no person. */
static int open_dir(void)
{
	struct diag d = {0};
	int dir;

	if (probe_inside())
		cli_die(EXIT_FOUND, "a guarded command answers no question");
	dir = approve_dir(false, &d);
	if (dir == -ENOENT)
		cli_die(EXIT_FOUND, "no question waits");
	if (dir < 0)
		cli_die_diag(EXIT_FOUND, &d);
	return dir;
}

static void add_member(struct buf *out, const struct json_doc *doc,
	const char *key, const char *title)
{
	autobuf struct buf text = BUF_INIT(1 << 20);
	uint32_t node = json_find(doc, 0, key);

	if (!node || json_text(doc, node, &text) || !text.len)
		return;
	buf_adds(out, title);
	cli_escape(out, text.data, text.len);
	buf_addc(out, '\n');
}

/* Adds one question for a person: the whole line, or its beginning. */
static void add_question(struct buf *out, const struct buf *json, bool whole)
{
	autojson struct json_doc doc = {0};

	if (json_read(&doc, json->data, json->len, NULL))
		return;
	add_member(out, &doc, "id", "");
	add_member(out, &doc, "line", "    ");
	if (!whole)
		return;
	add_member(out, &doc, "command", "  because of: ");
	add_member(out, &doc, "rule", "  rule: ");
	add_member(out, &doc, "reason", "  why it asks: ");
	add_member(out, &doc, "directory", "  in: ");
	add_member(out, &doc, "session", "  session: ");
	add_member(out, &doc, "by", "  by: ");
}

static int list_questions(void *into, int argc, char **argv)
{
	const struct approve_opts *o = into;
	autobuf struct buf out = BUF_INIT(64 << 20);
	autofd int dir = open_dir();
	struct approve_list l;
	struct diag d = {0};
	struct json j = JSON_INIT(&out);

	(void)argv;
	if (argc > 1)
		cli_die(EXIT_USAGE, "list takes no operand");
	if (approve_list(dir, &l, &d))
		cli_die_diag(EXIT_FOUND, &d);
	if (o->json)
		json_open(&j, '[');
	for (size_t i = 0; i < l.count; i++) {
		autobuf struct buf text = BUF_INIT(1 << 20);

		if (approve_read(dir, l.id[i], true, &text, NULL))
			continue;
		if (o->json)
			json_raw(&j, text.data, str_line(text.data, text.len));
		else
			add_question(&out, &text, false);
	}
	if (o->json) {
		json_end(&j);
	}
	if (!l.count && !o->json)
		cli_die(EXIT_FOUND, "no question waits");
	cli_print(&out);
	return EXIT_OK;
}

static int show_question(void *into, int argc, char **argv)
{
	const struct approve_opts *o = into;
	autobuf struct buf out = BUF_INIT(8 << 20), text = BUF_INIT(1 << 20);
	autofd int dir = open_dir();
	struct diag d = {0};

	if (argc != 2)
		cli_die(EXIT_USAGE, "show: which question? 'wardbox approve'"
			" lists them");
	if (approve_read(dir, argv[1], true, &text, &d))
		cli_die_diag(EXIT_FOUND, &d);
	if (o->json)
		buf_add(&out, text.data, text.len);
	else
		add_question(&out, &text, true);
	cli_print(&out);
	return EXIT_OK;
}

/* yes, no and always are the verb itself. */
static int give_answer(void *into, int argc, char **argv)
{
	autofd int dir = open_dir();
	struct diag d = {0};
	int word = approve_word(argv[0]);

	(void)into;
	if (argc != 2)
		cli_die(EXIT_USAGE, "%s: which question? 'wardbox approve' lists"
			" them", argv[0]);
	if (approve_answer(dir, argv[1], (enum approve_answer)word, &d))
		cli_die_diag(EXIT_FOUND, &d);
	return EXIT_OK;
}

/* Each question as it comes. */
static int watch_questions(void *into, int argc, char **argv)
{
	static struct approve_list had, now;
	static char events[4096];
	struct diag d = {0};
	char path[32];
	autofd int dir = -1, changes = inotify_init1(IN_CLOEXEC);

	(void)into;
	(void)argv;
	if (argc > 1)
		cli_die(EXIT_USAGE, "watch takes no operand");
	if (probe_inside())
		cli_die(EXIT_FOUND, "a guarded command answers no question");
	dir = approve_dir(true, &d);
	if (dir < 0)
		cli_die_diag(EXIT_FOUND, &d);
	BUF_PRINT(path, "/proc/self/fd/%d", dir);
	if (changes < 0 || inotify_add_watch(changes, path,
				   IN_CREATE | IN_MOVED_TO | IN_DELETE) < 0)
		cli_die(EXIT_FOUND, "cannot wait: %s", strerror(errno));
	do {
		autobuf struct buf out = BUF_INIT(64 << 20);

		if (approve_list(dir, &now, &d))
			cli_die_diag(EXIT_FOUND, &d);
		for (size_t i = 0; i < now.count; i++) {
			autobuf struct buf text = BUF_INIT(1 << 20);
			bool known = false;

			for (size_t k = 0; k < had.count; k++)
				known |= str_eq(had.id[k], now.id[i]);
			if (!known && !approve_read(dir, now.id[i], true, &text, NULL))
				add_question(&out, &text, true);
		}
		had = now;
		cli_print(&out);
	} while (read(changes, events, sizeof events) > 0 || errno == EINTR);
	return EXIT_OK;
}

static const struct cli_opt options[] = {
	CLI_FLAG('j', struct approve_opts, json, "json",
		"list, show: print facts as JSON"),
};

static const struct cli_verb verbs[] = {
	CLI_VERB(list_questions, "list", "", "the questions that wait"),
	CLI_VERB(show_question, "show", "ID",
		"one, with its rule, directory and session"),
	CLI_VERB(give_answer, "yes", "ID", "let it run, this once"),
	CLI_VERB(give_answer, "no", "ID", "deny it"),
	CLI_VERB(give_answer, "always", "ID",
		"let it run, and the same again in that session"),
	CLI_VERB(watch_questions, "watch", "", "show each question as it comes"),
};

static const struct cli_spec spec = {
	.name = "approve",
	.usage = "[OPTION...] [VERB [ID]]",
	.about = "Answers from another terminal what the policy asks about"
		 " commands that\nno person sits at.",
	.example = "wardbox approve\n"
		   "wardbox approve yes 3fa9c101",
	.opts = options,
	.opt_count = ARRAY_SIZE(options),
	.verbs = verbs,
	.verb_count = ARRAY_SIZE(verbs),
};

static int approve_run(int argc, char **argv)
{
	struct approve_opts o = {0};
	int first = cli_parse(&spec, &o, argc, argv);

	return cli_verb(&spec, &o, argc - first, argv + first, 0);
}

const struct applet approve_applet = {.run = approve_run, .cli = &spec};
