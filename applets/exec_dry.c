/* exec_dry.c - a command that is run, and what it changed thrown away
 * SPDX-License-Identifier: MIT
 */
#include "exec.h"

#include <unistd.h>

#include "base/str.h"
#include "guard/guard_undo.h"
#include "sys/file.h"
#include "undo/undo.h"

extern char **environ;

static int add_change(void *ctx, const struct undo_change *c)
{
	struct buf *out = ctx;

	buf_addf(out, "%-8s ", undo_became_name(c->became));
	cli_escape_str(out, c->path);
	if (c->from) {
		buf_adds(out, c->became == UNDO_LOST ? ": " : " from ");
		cli_escape_str(out, c->from);
	}
	buf_addc(out, '\n');
	return 0;
}

static int take_back(
	const struct guard_outcome *r, bool told, struct diag *d)
{
	const struct guard_caller who = {.env = environ};
	autofd int store = guard_undo_open(&who, true, d);
	autoundo_model struct undo_model *m = NULL;
	autoundo_acts struct undo_acts failed = UNDO_ACTS_INIT;
	autobuf struct buf text = BUF_INIT(1 << 28);
	struct undo_wish w = {
		.store = store, .session = r->session, .exec_id = r->exec_id};
	struct undo_sum sum;
	int err = store < 0 ? store : undo_load(store, r->undo, &m, d);

	if (err)
		return err;
	if (!told)
		(void)undo_changes(m, add_change, &text);
	err = undo_apply(m, &w, &sum, &failed, d);
	guard_undo_restored(&who, undo_info(m), &sum);
	for (size_t i = 0; i < failed.count; i++)
		add_change(&text, &(struct undo_change){.became = UNDO_LOST,
			.path = failed.act[i].path,
			.from = failed.act[i].why});
	(void)file_write_all(STDERR_FILENO, text.data, text.len);
	/* Neither of the two is of use to anybody. */
	if (!err && sum.number)
		(void)undo_forget(store, sum.number, NULL);
	if (!err)
		(void)undo_forget(store, r->undo, NULL);
	return err;
}

void exec_throw_away(struct exec_reply *reply, bool told)
{
	struct guard_outcome *r = &reply->result;
	struct diag d = {0};

	if (!r->undo || !take_back(r, told, &d))
		return;
	diag_hint(&d, "'wardbox undo --force %ju' does what can be done",
		r->undo);
	cli_diag(&d);
	r->code = EXIT_OURS;
}
