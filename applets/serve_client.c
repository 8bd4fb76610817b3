/* serve_client.c - the verbs that ask a server, and its keys
 * SPDX-License-Identifier: MIT
 */
#include "serve.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json_read.h"
#include "base/str.h"
#include "serve/serve_follow.h"
#include "serve/serve_home.h"
#include "sys/probe.h"
#include "sys/sig.h"

/* To the server, or the end. */
static void reach_server(const struct serve_opts *o, struct serve_client *c, int code)
{
	const struct serve_place at = {o->server, o->token, o->cert};
	struct diag d = {0};

	if (serve_home_connect(c, &at, &d))
		cli_die_diag(code, &d);
}

/* One question to the server, or the end. */
static void ask_server(const struct serve_opts *o, const char *method,
	const char *path, struct buf *body)
{
	autoclient struct serve_client c = SERVE_CLIENT_INIT;
	struct diag d = {0};

	reach_server(o, &c, EXIT_FOUND);
	if (serve_client_ask(&c, method, path, "", body, &d) < 0)
		cli_die_diag(EXIT_FOUND, &d);
}

static void add_text(struct buf *out, const struct json_doc *doc, uint32_t of,
	const char *key)
{
	autobuf struct buf text = BUF_INIT(1 << 20);
	uint32_t node = json_find(doc, of, key);

	if (node && !json_text(doc, node, &text))
		cli_escape(out, text.data, text.len);
}

int serve_run_list(void *into, int argc, char **argv)
{
	const struct serve_opts *o = into;
	autobuf struct buf body = BUF_INIT(8 << 20), out = BUF_INIT(16 << 20);
	autojson struct json_doc doc = {0};
	uint32_t all;

	(void)argv;
	if (argc > 1)
		cli_die(EXIT_USAGE, "list takes no operand");
	ask_server(o, "GET", "/api/v1/commands", &body);
	if (o->json) {
		cli_print(&body);
		return EXIT_OK;
	}
	if (json_read(&doc, body.data, body.len, NULL))
		cli_die(EXIT_FOUND, "what answers is no server of ours");
	all = json_find(&doc, 0, "commands");
	for (uint32_t i = all ? json_first(&doc, all) : 0; i;
		i = json_next(&doc, i)) {
		add_text(&out, &doc, i, "id");
		buf_addc(&out, ' ');
		add_text(&out, &doc, i, "state");
		buf_addc(&out, ' ');
		add_text(&out, &doc, i, "session");
		buf_addc(&out, ' ');
		add_text(&out, &doc, i, "command");
		buf_addc(&out, '\n');
	}
	cli_print(&out);
	return EXIT_OK;
}

int serve_run_stop(void *into, int argc, char **argv)
{
	autobuf struct buf body = BUF_INIT(65536);

	(void)argv;
	if (argc > 1)
		cli_die(EXIT_USAGE, "stop takes no operand");
	ask_server(into, "POST", "/api/v1/stop", &body);
	return EXIT_OK;
}

/* Which session a command belongs to, and whether it has a terminal. */
static void find_command(const struct serve_opts *o, const char *id,
	char *session, size_t size)
{
	autobuf struct buf body = BUF_INIT(8 << 20), name = BUF_INIT(256);
	autojson struct json_doc doc = {0};
	char path[128];
	uint32_t node;

	BUF_PRINT(path, "/api/v1/commands/%s", id);
	if (!path[0] || strspn(id, "c0123456789") != strlen(id))
		cli_die(EXIT_USAGE, "'%s' is no command's id", id);
	ask_server(o, "GET", path, &body);
	node = json_read(&doc, body.data, body.len, NULL)
		? 0
		: json_find(&doc, 0, "session");
	if (!node || json_text(&doc, node, &name) ||
		str_copy(session, size, buf_str(&name)))
		cli_die(EXIT_FOUND, "what answers is no server of ours");
}

int serve_run_attach(void *into, int argc, char **argv)
{
	const struct serve_opts *o = into;
	autoclient struct serve_client c = SERVE_CLIENT_INIT;
	autobuf struct buf message = BUF_INIT(4096);
	struct json j = JSON_INIT(&message);
	char session[SESSION_ID_MAX + 1];
	struct serve_follow f = {.client = &c, .input = !o->view,
		.raw = isatty(STDIN_FILENO) && !o->view};
	struct diag d = {0};

	if (argc != 2)
		cli_die(EXIT_USAGE, "attach: which command? 'wardbox serve list'"
			" names them");
	find_command(o, argv[1], session, sizeof session);
	json_putf(&j, "{ type %s id %s channels %d view %d }", "attach", argv[1],
		true, o->view);
	f.message = message.data;
	f.len = message.len;
	reach_server(o, &c, EXIT_OURS);
	if (serve_client_upgrade(&c, session, &d) || serve_follow(&f, &d))
		cli_die_diag(EXIT_OURS, &d);
	if (f.detached)
		return EXIT_OK;
	if (!f.report.ran)
		cli_warn("%s", f.report.message);
	if (f.report.signal)
		sig_die(f.report.signal);
	return f.report.code;
}

static void print_keys(const struct serve_opts *o, const struct serve_keys *k)
{
	autobuf struct buf out = BUF_INIT(65536);
	struct json j = JSON_INIT(&out);

	if (o->json)
		json_open(&j, '[');
	for (size_t i = 0; i < k->count; i++) {
		const struct serve_key *key = &k->key[i];

		if (o->json)
			json_putf(&j, "{ name %s role %s made %ju }", key->name,
				serve_role_name(key->roles),
				(uintmax_t)key->made);
		else
			buf_addf(&out, "%s %s\n", key->name,
				serve_role_name(key->roles));
	}
	if (o->json) {
		json_end(&j);
	}
	cli_print(&out);
}

static int add_key(int dir, struct serve_keys *k, const char *name,
	const char *role)
{
	autobuf struct buf out = BUF_INIT(256);
	char text[SERVE_KEY_SIZE];
	struct diag d = {0};

	if (!serve_role_of(role))
		cli_die(EXIT_USAGE, "'%s' is no role: view, run or approve",
			role);
	if (serve_keys_add(k, name, serve_role_of(role), text, &d) ||
		serve_keys_save(dir, k, &d))
		cli_die_diag(EXIT_FOUND, &d);
	buf_addf(&out, "%s\n", text);
	cli_print(&out);
	return EXIT_OK;
}

int serve_run_keys(void *into, int argc, char **argv)
{
	const struct serve_opts *o = into;
	static struct serve_keys keys;
	char home[SERVE_PATH_MAX];
	struct diag d = {0};
	autofd int dir = -1, lock = -1;

	if (probe_inside())
		cli_die(EXIT_FOUND, "a guarded command has no server's keys");
	dir = serve_home(argc > 1, home, &d);
	if (dir == -ENOENT && argc == 1) {
		print_keys(o, &keys);
		return EXIT_OK;
	}
	if (dir >= 0 && argc > 1)
		lock = session_lock(dir, &d);
	if (dir < 0 || (argc > 1 && lock < 0) ||
		serve_keys_load(dir, &keys, &d))
		cli_die_diag(EXIT_FOUND, &d);
	if (argc == 4 && str_eq(argv[1], "add"))
		return add_key(dir, &keys, argv[2], argv[3]);
	if (argc == 3 && str_eq(argv[1], "revoke")) {
		if (serve_keys_revoke(&keys, argv[2], &d) ||
			serve_keys_save(dir, &keys, &d))
			cli_die_diag(EXIT_FOUND, &d);
		return EXIT_OK;
	}
	if (argc != 1)
		cli_die(EXIT_USAGE, "keys: add NAME ROLE, or revoke NAME");
	print_keys(o, &keys);
	return EXIT_OK;
}
