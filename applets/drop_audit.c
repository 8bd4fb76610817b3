/* drop_audit.c - a sandboxed command in the log
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/kconfig.h"
#include "guard/guard_log.h"
#include "log/audit_write.h"
#include "base/buf.h"
#include "base/cbor.h"
#include "sys/file.h"
#include "base/str.h"

/* With --audit-fd alone only what exec knows to hide is used. */
struct drop_log {
	struct audit_log log;
	struct audit_exec exec;
};

static void names_of(struct buf *out, unsigned parts)
{
	for (unsigned part = 1; part <= SANDBOX_WATCH; part <<= 1)
		if (parts & part)
			buf_addf(out, "%s%s", out->len ? " " : "",
				sandbox_part_name(part));
	buf_str(out);
}

static int put_fact(struct buf *out, struct redact *secrets,
	const struct audit_fact *f)
{
	autobuf struct buf text = BUF_INIT(1 << 16);
	int err;

	cbor_put_text(out, f->key, strlen(f->key));
	if (!f->text) {
		cbor_put_uint(out, f->number);
		return 0;
	}
	err = redact_text(
		secrets, f->text, strlen(f->text), false, &text);
	cbor_put_text(out, buf_str(&text), text.len);
	return err;
}

/* An event as a CBOR map to the descriptor. */
static int tell_fd(struct drop *o, const char *event,
	const struct audit_fact *facts, size_t n, struct diag *d)
{
	autobuf struct buf out = BUF_INIT(1 << 16);
	int err = 0;

	if (o->events < 0)
		return 0;
	cbor_put_map(&out, n + 1);
	cbor_put_text(&out, "event", 5);
	cbor_put_text(&out, event, strlen(event));
	for (size_t i = 0; i < n && !err; i++)
		err = put_fact(&out, &o->log->exec.redact, &facts[i]);
	if (err || out.err || file_write_all(o->events, out.data, out.len) < 0)
		return diag_fail(d, -EIO, "--audit-fd: cannot write");
	return 0;
}

/* Writes an event to the descriptor and to the log. */
static int tell_event(struct drop *o, const char *event,
	const struct audit_fact *facts, size_t n, struct diag *d)
{
	int err;

	if (!IS_ENABLED(CONFIG_DROP_AUDIT) || !o->log)
		return 0;
	err = tell_fd(o, event, facts, n, d);
	if (err < 0 || !o->audit)
		return err;
	return audit_event(&o->log->log, NULL, o->log->exec.id, event, facts,
		n, d);
}

/* Records the sandbox beside the command, so that a reader can tell later what
 * the command could have done. */
static int record_sandbox(struct drop *o, const struct sandbox *s,
	struct diag *d)
{
	char enforced[160], missing[160];
	struct buf have = BUF_FIXED(enforced), lack = BUF_FIXED(missing);
	const struct audit_fact facts[] = {
		{.key = "command", .text = o->file},
		{.key = "enforced", .text = enforced},
		{.key = "missing", .text = missing},
		{.key = "landlock_abi", .number = (uint64_t)s->abi},
		{.key = "filter", .number = s->filter_hash},
		{.key = "grants", .number = s->rule_count},
	};

	names_of(&have, s->enforced);
	names_of(&lack, s->missing);
	return tell_event(o, "sandbox", facts, ARRAY_SIZE(facts), d);
}

/* Collects the variables of the command and of its caller, because the command
 * line may repeat the values of both. */
static int secrets_of(struct drop *o, struct audit_secrets *secrets)
{
	char *const *from[] = {o->outer, o->envp};
	const char **all;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(from); i++)
		for (size_t k = 0; from[i][k]; k++)
			n++;
	all = arena_zalloc(&o->strings, (n + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(from); i++)
		for (size_t k = 0; from[i][k]; k++)
			all[n++] = from[i][k];
	all[n] = NULL;
	*secrets = (struct audit_secrets){.env = all};
	return 0;
}

static int start_log(struct drop *o, const struct sandbox *s,
	char *const *argv, const struct audit_secrets *secrets, struct diag *d)
{
	static char path[PATH_MAX], cwd[PATH_MAX];
	struct audit_start start = {
		.argv = (const char *const *)argv,
		.cwd = getcwd(cwd, sizeof(cwd)) ? cwd : NULL,
		.exe = o->file,
		.pid = getpid(),
		.ppid = getppid(),
		.decision = AUDIT_ALLOW,
		.rule = "drop",
		.reason = "started by drop",
	};
	const struct session_where where = {
		.cwd = start.cwd ? start.cwd : "/", .uid = geteuid()};
	const struct guard_log log = {
		.env = o->outer, .where = &where, .make = true};
	autofd int dir = guard_log_open(&log, path, sizeof(path), d);
	int err;

	while (argv[start.argc])
		start.argc++;
	if (dir < 0)
		return dir;
	/* A log that the recorded command can write proves nothing. */
	if (!(s->enforced & SANDBOX_LANDLOCK) ||
		sandbox_explain(s, path, NULL) & SANDBOX_WRITE)
		return diag_fail(d, -EPERM,
			"%s: the command could write its log\036"
			"--hide=%.100s, or grant less around it",
			path, path);
	err = audit_open(&o->log->log, dir, geteuid(), NULL, d);
	if (err == 0)
		err = audit_start(
			&o->log->exec, &o->log->log, &start, secrets, d);
	return err;
}

int drop_audit_start(struct drop *o, const struct sandbox *s,
	char *const *argv, struct diag *d)
{
	struct audit_secrets secrets;
	int err;

	if (!IS_ENABLED(CONFIG_DROP_AUDIT) || (!o->audit && o->events < 0))
		return 0;
	o->log = arena_new(&o->strings, struct drop_log);
	if (!o->log || secrets_of(o, &secrets) < 0)
		return diag_errno(d, -ENOMEM, "log");
	o->log->log = AUDIT_LOG_INIT;
	o->log->exec = AUDIT_EXEC_INIT;
	err = o->audit ? start_log(o, s, argv, &secrets, d)
		       : redact_add_env(&o->log->exec.redact, secrets.env);
	return err < 0 ? err : record_sandbox(o, s, d);
}

void drop_audit_fact(
	struct drop *o, const char *event, const char *path, const char *what)
{
	const struct audit_fact facts[] = {
		{.key = "path", .text = path},
		{.key = "right", .text = what},
	};

	tell_event(o, event, facts, what ? 2 : 1, NULL);
}

int drop_audit_end(struct drop *o, const struct sandbox *s, int status,
	struct diag *d)
{
	bool exited = WIFEXITED(status);
	struct rusage usage;
	struct audit_end end = {
		.exit_code = exited ? WEXITSTATUS(status) : -1,
		.signal = exited ? 0 : WTERMSIG(status),
		.usage = &usage,
		.rollback = "none",
	};
	const struct audit_fact facts[] = {
		{.key = exited ? "exit" : "signal",
			.number = (uint64_t)(exited ? end.exit_code :
						      end.signal)},
		{.key = "limit", .text = limits_name(s->limits.hit)},
	};
	int err;

	if (!IS_ENABLED(CONFIG_DROP_AUDIT) || !o->log)
		return 0;
	/* The log has a record of its own for it. */
	tell_fd(o, "end", facts, s->limits.hit ? 2 : 1, NULL);
	if (!o->audit)
		return 0;
	getrusage(RUSAGE_CHILDREN, &usage);
	if (s->limits.hit)
		end.flags |= AUDIT_KILLED;
	if (s->limits.hit == LIMITS_WALL)
		end.flags |= AUDIT_TIMEOUT;
	if (s->limits.hit == LIMITS_MEM)
		end.flags |= AUDIT_OOM;
	err = audit_end(&o->log->exec, &end, d);
	audit_exec_release(&o->log->exec);
	audit_close(&o->log->log);
	return err;
}
