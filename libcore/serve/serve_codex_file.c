/* serve_codex_file.c - requests of codex's executor protocol about files
 * SPDX-License-Identifier: MIT
 *
 * Each is a command of the session: judged and recorded by plain words that say
 * what is done, and done by a process of this binary in that command's box. The
 * request and its answer are in a memory file that is the process's stdin.
 */
#include "serve/serve_codex_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "serve/serve_files.h"

enum { SANDBOX_MAX = 65536 };

/* A file that is read in blocks. */
struct codex_handle {
	struct codex_handle *next;
	char id[CODEX_ID_SIZE];
	uint64_t inode; /* of the file that was opened; 0: not opened yet */
	struct buf sandbox; /* the client's wish, as JSON; empty: none */
	char path[PATH_MAX];
};

/* A request that is being done. */
struct codex_job {
	struct serve_grave grave;
	struct codex_link *link;
	struct codex_job *next;
	struct rpc_token id;
	char opens[CODEX_ID_SIZE]; /* the handle of fs/open; "" */
	int memory;
	struct serve_reader reader;
};

static struct codex_handle **handle_at(struct codex_link *l, const char *id)
{
	struct codex_handle **at = &l->handles;

	while (*at && !str_eq((*at)->id, id))
		at = &(*at)->next;
	return at;
}

static void handle_free(struct codex_link *l, struct codex_handle **at)
{
	struct codex_handle *h = *at;

	*at = h->next;
	l->handle_count--;
	buf_release(&h->sandbox);
	free(h);
}

static void job_free(struct codex_job *job)
{
	struct codex_link *l = job->link;
	struct serve_command *c = job->reader.command;

	LIST_DROP(l->jobs, job);
	l->waiting--;
	serve_detach(&job->reader);
	if (c && !c->ended)
		serve_stop(c);
	cleanup_fd(&job->memory);
	job->memory = -1;
	serve_loop_bury(&l->engine->loop, &job->grave);
}

void codex_files_release(struct codex_link *l)
{
	while (l->jobs)
		job_free(l->jobs);
	while (l->handles)
		handle_free(l, &l->handles);
}

/* The answer as the process left it: {"result": ...} or {"error": ...}. */
static int job_read(const struct codex_job *job, struct buf *text)
{
	int err = lseek(job->memory, 0, SEEK_SET)
		? -errno
		: buf_read_fd(text, job->memory);

	while (text->len && text->data[text->len - 1] == '\n')
		text->len--;
	/* One line, and one object: nothing else is another message. */
	if (err || text->len < 2 || text->data[0] != '{' ||
		text->data[text->len - 1] != '}' ||
		memchr(text->data, '\n', text->len))
		return -EINVAL;
	return 0;
}

/* Answers with what the process left, and the request's id. */
static void job_splice(struct codex_job *job, const struct buf *text)
{
	struct buf *out = &job->link->answers;

	buf_adds(out, "{\"id\":");
	buf_add(out, job->id.text, job->id.len);
	buf_addc(out, ',');
	buf_add(out, text->data + 1, text->len - 1);
	buf_addc(out, '\n');
}

/* A file was opened: which one it is, is known now. */
static void job_opened(struct codex_job *job, const struct buf *text)
{
	struct codex_handle **at = handle_at(job->link, job->opens);
	autojson struct json_doc doc = {0};
	struct json j = JSON_INIT(&job->link->answers);
	uint32_t result = json_read(&doc, text->data, text->len, NULL)
		? 0
		: json_find(&doc, 0, "result");
	static const struct arg which = {
		"inode", ARG_NUMBER, 0, UINT64_MAX, 0, 0, NULL};
	char said[ARGS_SAID];
	uint64_t inode = 0;

	if (result)
		(void)args_read(&which, 1, 0, &doc, result, &inode, said);
	if (!*at || !inode) {
		if (*at)
			handle_free(job->link, at);
		job_splice(job, text);
		return;
	}
	(*at)->inode = inode;
	codex_begin(&j, &job->id);
	json_put_str(&j, "handleId", job->opens);
	rpc_end(&j);
}

static void job_end(struct codex_job *job, const struct serve_command *c)
{
	const struct serve_report *r = &c->report;
	autobuf struct buf text = BUF_INIT(FILES_ANSWER_MAX);
	struct codex_handle **at = handle_at(job->link, job->opens);
	char said[512];

	if (r->there && r->ran && !r->code && !job_read(job, &text)) {
		if (job->opens[0])
			job_opened(job, &text);
		else
			job_splice(job, &text);
		return;
	}
	if (job->opens[0] && *at)
		handle_free(job->link, at);
	codex_error(&job->link->answers, &job->id,
		r->there && !r->ran ? RPC_REQUEST : RPC_INTERNAL,
		r->there && !r->ran
			? BUF_PRINT(said, "%s%s%s", r->message,
				  r->hint[0] ? "; " : "", r->hint)
			: "the request was cut off");
}

static void job_changed(struct serve_reader *r)
{
	struct codex_job *job = CONTAINER(r, struct codex_job, reader);
	struct codex_link *l = job->link;

	for (enum serve_stream s = 0; s < SERVE_STREAMS; s++)
		serve_took(r, s, (size_t)(r->command->ring[s].end - r->at[s]));
	if (!r->command->ended)
		return;
	job_end(job, r->command);
	job_free(job);
	l->said(l);
}

static int job_start(struct codex_link *l, struct codex_message *m,
	struct codex_job *job, struct diag *d)
{
	struct codex_wish wish = CODEX_WISH_INIT;
	autobuf struct buf words = BUF_INIT(4 * PATH_MAX);
	autobuf struct buf options = BUF_INIT(200 << 10);
	autofree char **argv = NULL;
	struct serve_spec spec = {
		.session = l->session,
		.env = l->env,
		.approver_ns = l->approver_ns,
		.options = &options,
		.file = job->memory,
	};
	struct serve_command *c;
	int err = codex_words(m, &words);

	if (!err)
		err = codex_wish_read(m, &wish);
	if (err)
		diag_fail(d, err, "%s", m->said);
	buf_addf(&options, "--request%c", 0);
	codex_add_wish(&wish, &options);
	codex_wish_release(&wish);
	if (err)
		return err;
	spec.argv = argv = args_argv(&words);
	err = options.err || !argv
		? diag_errno(d, -ENOMEM, "a request")
		: serve_start(l->engine, &spec, &c, d);
	if (err)
		return err;
	/* It is in no list, and goes when it ends. */
	c->orphan = true;
	serve_attach(c, &job->reader);
	return 0;
}

static bool job_begin(struct codex_link *l, struct codex_message *m,
	const char *text, size_t n, const char *opens)
{
	struct codex_job *job = l->waiting < CODEX_WAITING_MAX
		? calloc(1, sizeof *job)
		: NULL;
	struct diag d = {.text = "too many requests wait already"};
	int err;

	if (!job) {
		codex_error(&l->answers, &m->id, RPC_INTERNAL, d.text);
		return false;
	}
	job->link = l;
	job->id = m->id;
	(void)str_copy(job->opens, sizeof job->opens, opens);
	job->reader.changed = job_changed;
	job->memory = codex_memory(text, n);
	job->next = l->jobs;
	l->jobs = job;
	l->waiting++;
	err = job->memory < 0 ? diag_errno(&d, job->memory, "a memory file")
			      : job_start(l, m, job, &d);
	if (!err)
		return true;
	codex_error(&l->answers, &m->id,
		err == -EINVAL ? RPC_PARAMS : RPC_INTERNAL, d.text);
	job_free(job);
	return false;
}

void codex_file(struct codex_link *l, struct codex_message *m, const char *text,
	size_t n)
{
	(void)job_begin(l, m, text, n, "");
}

/* What is asked of the process that reads a block. */
static void put_block(struct buf *out, const struct codex_handle *h,
	uint64_t at, uint64_t len)
{
	struct json j = JSON_INIT(out);

	json_open(&j, '{');
	json_put_u64(&j, "id", 0);
	json_put_str(&j, "method", "fs/readBlock");
	json_put_open(&j, "params", '{');
	codex_put_path(&j, "path", h->path);
	json_put_u64(&j, "offset", at);
	json_put_u64(&j, "len", len);
	json_put_u64(&j, "inode", h->inode);
	if (h->sandbox.len)
		json_raw(json_key(&j, "sandbox"), h->sandbox.data,
			h->sandbox.len);
	rpc_end(&j);
}

static bool begin_block(struct codex_link *l, const struct rpc_token *id,
	const struct codex_handle *h, uint64_t at, uint64_t len)
{
	autobuf struct buf text = BUF_INIT(SANDBOX_MAX + (4 * PATH_MAX));
	autocodex struct codex_message m = {.method = CODEX_NONE};

	put_block(&text, h, at, len);
	if (codex_read(&m, text.data, text.len)) {
		codex_error(&l->answers, id, RPC_PARAMS, m.said);
		return false;
	}
	m.id = *id;
	return job_begin(l, &m, text.data, text.len, h->inode ? "" : h->id);
}

/* As it came: a container's node stands behind its bracket. */
static void keep_sandbox(struct codex_handle *h, const struct codex_message *m)
{
	uint32_t at = rpc_member(&m->doc, m->params, "sandbox");
	const struct json_node *n = &m->doc.node[at];

	h->sandbox = BUF_INIT(SANDBOX_MAX);
	if (at && n->type == JSON_OBJECT)
		buf_add(&h->sandbox, m->doc.text + n->at - 1, n->len + 1);
}

/* The handle's name; "" where the request is answered because it has none. */
static const char *read_handle(struct codex_link *l, struct codex_message *m,
	char id[static CODEX_ID_SIZE])
{
	struct buf text = buf_fixed(id, CODEX_ID_SIZE);

	if (codex_text(m, m->params, "handleId", true, &text) || !text.len) {
		codex_error(&l->answers, &m->id, RPC_PARAMS,
			"handleId: no name of a handle");
		return "";
	}
	return buf_str(&text);
}

void codex_file_open(struct codex_link *l, struct codex_message *m)
{
	char id[CODEX_ID_SIZE];
	struct codex_handle *h;

	if (!*read_handle(l, m, id))
		return;
	if (*handle_at(l, id) || l->handle_count >= CODEX_HANDLES_MAX) {
		codex_error(&l->answers, &m->id, RPC_REQUEST, *handle_at(l, id)
				? "a handle of that id is there already"
				: "too many files are open");
		return;
	}
	h = calloc(1, sizeof *h);
	if (!h || codex_path(m, m->params, "path", h->path)) {
		free(h);
		codex_wrong(l, m);
		return;
	}
	(void)str_copy(h->id, sizeof h->id, id);
	h->next = l->handles;
	l->handles = h;
	l->handle_count++;
	keep_sandbox(h, m);
	if (h->sandbox.err)
		codex_error(&l->answers, &m->id, RPC_PARAMS,
			"sandbox: too long");
	if ((h->sandbox.err || !begin_block(l, &m->id, h, 0, 0)) &&
		*handle_at(l, id))
		handle_free(l, handle_at(l, id));
}

void codex_file_block(struct codex_link *l, struct codex_message *m)
{
	char id[CODEX_ID_SIZE];
	struct codex_handle *h;
	uint64_t at = 0, len = 0;

	if (!*read_handle(l, m, id))
		return;
	h = *handle_at(l, id);
	if (!h || !h->inode) {
		codex_error(&l->answers, &m->id, RPC_MISSING,
			"there is no such handle");
		return;
	}
	if (codex_number(m, m->params, "offset", INT64_MAX, &at) ||
		codex_number(m, m->params, "len", CODEX_BLOCK_MAX, &len) ||
		!len) {
		codex_error(&l->answers, &m->id, RPC_REQUEST,
			"offset or len: a block has 1 to 1048576 bytes");
		return;
	}
	(void)begin_block(l, &m->id, h, at, len);
}

void codex_file_close(struct codex_link *l, struct codex_message *m)
{
	char id[CODEX_ID_SIZE];
	struct codex_handle **at;

	if (!*read_handle(l, m, id))
		return;
	at = handle_at(l, id);
	if (*at)
		handle_free(l, at);
	codex_done(l, m);
}
