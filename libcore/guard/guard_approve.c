/* guard_approve.c - what a person said yes to for the rest of a session
 * SPDX-License-Identifier: MIT
 *
 * Beside the session's state, out of the sandbox's reach: a file of lines, each
 * the hash of one rule and one command. Only that very command under that very
 * rule is covered.
 */
#include "guard/guard_in.h"

#include <bearssl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/utf8.h"
#include "sys/file.h"

enum {
	APPROVAL_LINE = 65,
	APPROVALS_MAX = 1024 * APPROVAL_LINE,
	APPROVAL_NAME = SESSION_ID_MAX + sizeof ".approved",
};

static void file_name(const struct guard *g, char name[static APPROVAL_NAME])
{
	struct buf b = {
		.data = name, .cap = APPROVAL_NAME, .max = APPROVAL_NAME - 1};

	buf_addf(&b, "%s.approved", g->out->session);
	buf_str(&b);
}

/* The line that stands for this verdict on this command. */
static void line_of(const struct guard *g, const struct guard_question *what,
	char out[static APPROVAL_LINE + 1])
{
	struct buf b = {
		.data = out, .cap = APPROVAL_LINE + 1, .max = APPROVAL_LINE};
	const char *rule = what->v->rule;
	unsigned char hash[br_sha256_SIZE];
	br_sha256_context sha;

	br_sha256_init(&sha);
	br_sha256_update(&sha, rule, strlen(rule) + 1);
	br_sha256_update(&sha, what->cwd, strlen(what->cwd) + 1);
	if (!what->argv)
		br_sha256_update(&sha, g->command->text, g->command->len);
	else
		for (char *const *arg = what->argv; *arg; arg++)
			br_sha256_update(&sha, *arg, strlen(*arg) + 1);
	br_sha256_out(&sha, hash);
	for (size_t i = 0; i < sizeof hash; i++)
		buf_addf(&b, "%02x", hash[i]);
	buf_addc(&b, '\n');
	buf_str(&b);
}

static int sessions_dir(const struct guard *g, bool make)
{
	const struct session_where where = {.cwd = g->place.cwd,
		.workspace = g->place.root,
		.uid = g->place.uid,
		.own = g->place.own};

	return session_dir(&where, make, NULL, NULL);
}

bool guard_approved(const struct guard *g, const struct guard_question *what)
{
	char name[APPROVAL_NAME], line[APPROVAL_LINE + 1];
	autobuf struct buf all = BUF_INIT(APPROVALS_MAX);
	autofd int dir = sessions_dir(g, false);
	autofd int fd = -1;

	if (dir < 0)
		return false;
	file_name(g, name);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || file_check_trusted(fd, g->place.uid, name, NULL) ||
		buf_read_fd(&all, fd))
		return false;
	line_of(g, what, line);
	for (size_t at = 0; at + APPROVAL_LINE <= all.len; at += APPROVAL_LINE)
		if (memcmp(all.data + at, line, APPROVAL_LINE) == 0)
			return true;
	return false;
}

void guard_question_key(const struct guard *g,
	const struct guard_question *what, char key[static GUARD_KEY])
{
	line_of(g, what, key);
}

/* Keeps an "always". If that fails, the answer was still a yes to this one
 * command. */
void guard_approve(const struct guard *g, const struct guard_question *what)
{
	char name[APPROVAL_NAME], line[APPROVAL_LINE + 1];
	autofd int dir = sessions_dir(g, true);
	autofd int fd = -1;

	if (dir < 0)
		return;
	file_name(g, name);
	fd = openat(dir, name,
		O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || file_check_trusted(fd, g->place.uid, name, NULL))
		return;
	line_of(g, what, line);
	(void)file_write_all(fd, line, APPROVAL_LINE);
}

/* A no, a missing answer and a missing person are three things, for the record
 * and for whoever reads the denial. */
void guard_unanswered(struct policy_verdict *v, int answer)
{
	char reason[sizeof v->reason];
	const char *why = answer == 0 ? "a person said no"
		: answer == -ETIMEDOUT ? "nobody answered in time"
		: answer == -ENXIO     ? "nobody looked at the question"
		: answer == -EAGAIN    ? "too many questions wait"
				       : "the question came to no end";
	char text[sizeof v->reason * 2];

	utf8_cut(reason, sizeof reason, BUF_PRINT(text, "%s: %s", why,
		v->reason));
	(void)str_copy(v->reason, sizeof v->reason, reason);
	/* Who was told no is not told how to get a yes. */
	if (answer == 0)
		(void)str_copy(v->alternative, sizeof v->alternative,
			"that person knows why; do it in another way");
	else
		(void)BUF_PRINT(v->alternative, "'wardbox approve' on another"
			" terminal answers; or allow it in %s", POLICY_SYSTEM);
}
