/* guard_about.c - what is asked beside a run: where, which record, which id
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/path.h"
#include "base/str.h"
#include "log/audit_read_json.h"

/* Opens the log of the caller's user, as seen from the caller's directory. */
static int open_log(struct guard_entry *e, const struct guard_caller *who)
{
	autoplace struct guard_place p = GUARD_PLACE_INIT;
	autoterms struct guard_terms t = GUARD_TERMS_INIT;
	int err = guard_place_find(&p, who, NULL);

	if (!err)
		(void)guard_terms_policy(&t, &p, who, NULL, NULL);
	if (!err)
		err = guard_entry_open(e, &p, &t, who, NULL);
	e->path = "";
	return err;
}

int guard_note(const struct guard_caller *who, const struct guard_outcome *out,
	const char *event, const struct audit_fact *facts, size_t n)
{
	autoentry struct guard_entry e = GUARD_ENTRY_INIT;
	int err = open_log(&e, who);

	if (err || !e.on)
		return err;
	err = audit_event(
		&e.log, out->session, out->exec_id, event, facts, n, NULL);
	/* The log is signed when a session ends, because a signature with every
	 * command would cost too much. */
	if (!err && str_eq(event, "session.end"))
		err = audit_checkpoint(&e.log, NULL);
	return err;
}

void guard_correlation(const struct guard_outcome *out, struct buf *uuid)
{
	uint8_t id[sizeof out->log_id];
	uint64_t number = out->exec_id;

	memcpy(id, out->log_id, sizeof id);
	if (!number)
		number = getrandom(id, sizeof id, 0) > 0;
	audit_add_uuid(uuid, id, number);
}

void guard_where(const struct guard_caller *who, struct guard_here *here,
	struct session_where *w)
{
	autoplace struct guard_place p = GUARD_PLACE_INIT;
	autoterms struct guard_terms t = GUARD_TERMS_INIT;
	int err = guard_place_find(&p, who, NULL);

	str_copy(here->cwd, PATH_MAX, err ? "/" : p.cwd);
	if (!err)
		err = guard_terms_policy(&t, &p, who, NULL, NULL);
	str_copy(here->workspace, PATH_MAX, err ? "/" : p.root);
	*w = (struct session_where){
		.id = env_get(who->env, "WARDBOX_SESSION_ID"),
		.file = env_get(who->env, "WARDBOX_SESSION_FILE"),
		.cwd = here->cwd,
		.workspace = here->workspace,
		.real = p.real,
		.uid = p.uid,
		.guarded = err ? NULL : p.around,
	};
}

int guard_session(const struct guard_caller *who, const char *wanted,
	char id[static SESSION_ID_MAX + 1], struct diag *d)
{
	autofree struct guard_here *here = malloc(sizeof *here);
	struct session_where w;
	struct session_name name;
	int err = here ? 0 : diag_errno(d, -ENOMEM, "a session");

	if (err)
		return err;
	guard_where(who, here, &w);
	if (wanted)
		w.id = wanted;
	err = session_resolve(&w, true, &name, d);
	return err ? err : str_copy(id, SESSION_ID_MAX + 1, name.id);
}
