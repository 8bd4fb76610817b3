/* audit_write.h - records commands in the log: start, io, end, events
 * SPDX-License-Identifier: MIT
 *
 *	struct audit_log log = AUDIT_LOG_INIT;
 *	struct audit_exec x = AUDIT_EXEC_INIT;
 *
 *	audit_open(&log, dirfd, getuid(), NULL, &d)
 *	audit_start(&x, &log, &start, &d)	before the exec
 *	audit_io(&x, AUDIT_OUT, bytes, n, &d)	as it flows, any stream
 *	audit_tick(&x, &d)			when audit_due() has passed
 *	audit_end(&x, &end, &d)			after the wait
 *	audit_exec_release(&x); audit_close(&log)
 *
 * Any number of processes append at once. Every call takes and drops the lock
 * itself, so no lock is ever held when the caller forks. All descriptors are
 * close-on-exec. What cannot be written is an error, never silence: with
 * -ENOSPC, -EIO or -ETIMEDOUT from audit_start nothing may run. Redaction is
 * done here, before anything is hashed or written; the caller's own bytes are
 * never changed.
 */
#ifndef WARDBOX_AUDIT_WRITE_H
#define WARDBOX_AUDIT_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "log/audit_format_in.h"
#include "log/audit_place.h"
#include "base/diag.h"
#include "log/keys_in.h"
#include "redact/redact.h"

/* When the log is synced to the disk. A denial always is, except with NONE. */
enum audit_sync {
	AUDIT_SYNC_CKPT, /* with every checkpoint; the default */
	AUDIT_SYNC_NONE,
	AUDIT_SYNC_ALWAYS, /* after each record, outside the lock */
};

/* Zero means the default. */
struct audit_config {
	uint64_t stream_cap;    /* bytes kept of a stream; default 1 MiB */
	uint64_t segment_bytes; /* 64 MiB */
	uint64_t segment_age;   /* ns: 30 days */
	uint64_t keep_bytes;    /* of all segments, when another one begins: a
				 * tenth of the file system, 4 GiB at most */
	uint64_t lock_wait;     /* ns: 2 s */
	unsigned epoch_records; /* records between checkpoints: 1024 */
	enum audit_sync sync;
	/* Wall and boot clock in ns, for tests; NULL: the kernel's. */
	void (*now)(uint64_t *wall, uint64_t *boot);
	/* Assume a swap area, for tests. */
	bool swaps;
};

/* An open log: three descriptors and the configuration; about 300 bytes. */
struct audit_log {
	int dirfd, headfd, segfd;
	uid_t uid;
	uint64_t segment; /* first seq of the open segment */
	uint64_t held;    /* bytes that the segment takes on the disk */
	struct audit_config cfg;
	struct keys_hw hw;
	unsigned appended;   /* records appended by this process */
	bool dumpable;       /* the process's dumpable state, while it holds
			      * keys */
	bool guarded;        /* the stack is locked in memory */
	uint64_t wall, boot; /* when the lock was taken last */
	uint8_t boot_id[AUDIT_ID];
	struct buf spare;    /* memory of the last record */
	struct redact plain; /* for records that belong to no command */
	struct audit_exec *exec; /* the command begun last, for its secrets */
};
#define AUDIT_LOG_INIT                                                         \
	((struct audit_log){.dirfd = -1, .headfd = -1, .segfd = -1})

/* Opens the log in dirfd (which stays the caller's), or creates one with a new
 * seed that is thrown away. cfg may be NULL. -EPERM when the directory or a
 * file in it is not private to uid. */
int audit_open(struct audit_log *log, int dirfd, uid_t uid,
	const struct audit_config *cfg, struct diag *d);
void audit_close(struct audit_log *log);

/* Begins a log in an empty directory and hands out its seed, to be kept
 * elsewhere, and the fingerprint of its first public key. -EEXIST when there is
 * a log. */
int audit_seal(struct audit_log *log, int dirfd, uid_t uid,
	const struct audit_config *cfg, uint8_t seed[static AUDIT_HASH],
	uint8_t pin[static AUDIT_HASH], struct diag *d);

/* A session's 16 bytes: a name that is a UUID or 32 hex digits is taken as it
 * is, another name is hashed. */
void audit_session(uint8_t session[static AUDIT_ID], const char *name);

/* Facts that are known before a command runs. All but argv may be missing. */
struct audit_start {
	const char *session; /* the session's name */
	const char *const *argv;
	size_t argc;
	const char *cwd, *exe;
	pid_t pid, ppid;
	enum audit_decision decision;
	const char *rule;          /* the rule that decided; "" writes "" */
	const char *reason;        /* one line for people */
	const char *rollback;      /* how it is to be taken back, or NULL */
	const uint8_t *policy_sha; /* 32 bytes */
	const char *const *env;    /* NAME=VALUE kept for the child, or NULL */
	size_t env_untold;         /* so many variables at its end are not
				    * recorded */
	bool script; /* standard input is the script of a shell */
};

/* Facts for redaction, beside its built-in patterns. */
struct audit_secrets {
	const char *const *env; /* NAME=VALUE: values of variables with a
				 * secret's name */
	const struct policy_redacts *policy; /* the policy's lines; or NULL */
};

/* The end of a command. */
struct audit_end {
	int exit_code; /* -1: none, because a signal ended it */
	int signal;
	const struct rusage *usage; /* of the tree, or NULL */
	unsigned flags;             /* AUDIT_TIMEOUT, AUDIT_OOM, ... */
	const char *rollback;       /* how it can be taken back, or NULL */
};

struct audit_stream;

/* A command that is being recorded. About 200 bytes, and for each stream in use
 * at most 4 KiB held back and 32 KiB waiting to be written. */
struct audit_exec {
	struct audit_log *log;
	uint64_t id; /* the seq of its start record */
	uint64_t t0; /* CLOCK_BOOTTIME ns of its start */
	uint8_t session[AUDIT_ID];
	bool has_session;
	bool script;
	struct audit_stream *stream[AUDIT_STREAMS];
	struct redact redact;
};
#define AUDIT_EXEC_INIT ((struct audit_exec){0})

/* Writes the start record and syncs as configured. secrets may be NULL. x must
 * be released after any result. */
int audit_start(struct audit_exec *x, struct audit_log *log,
	const struct audit_start *start, const struct audit_secrets *secrets,
	struct diag *d);

/* Records a command that will not run: its start record, synced, and the n
 * bytes that it would have read. x must be released, as after audit_start(). */
int audit_deny(struct audit_exec *x, struct audit_log *log,
	const struct audit_start *start, const struct audit_secrets *secrets,
	const char *text, size_t n, struct diag *d);

/* Bytes of a stream, in order. AUDIT_WINSIZE and AUDIT_SIGNAL have the calls
 * below. */
int audit_io(struct audit_exec *x, enum audit_io stream, const void *bytes,
	size_t n, struct diag *d);
/* Keys were typed while the terminal did not echo: records only that. */
int audit_io_hidden(struct audit_exec *x, struct diag *d);
/* n bytes of the stream passed unseen, and the next bytes are its last. They
 * count in its total and are not in the log; the stream has no hash. The bytes
 * that were kept as the last half are dropped for the coming ones. */
int audit_io_skip(struct audit_exec *x, enum audit_io stream, uint64_t n,
	struct diag *d);
int audit_winsize(struct audit_exec *x, unsigned cols, unsigned rows,
	struct diag *d);
int audit_signal(struct audit_exec *x, int sig, struct diag *d);

/* Milliseconds until audit_tick has something to write, or -1: a timeout for
 * poll. audit_tick writes what has waited long enough. */
int audit_due(const struct audit_exec *x);
int audit_tick(struct audit_exec *x, struct diag *d);

/* Flushes every stream and writes the end record. */
int audit_end(struct audit_exec *x, const struct audit_end *end, struct diag *d);
/* Call it before audit_close of the log. */
void audit_exec_release(struct audit_exec *x);

/* A fact of an event: text, or number when text is NULL. */
struct audit_fact {
	const char *key, *text;
	uint64_t number;
};

/* Records "policy.load", "session.open", "relax", ... session may be NULL; exec
 * is the command's id, or 0. */
int audit_event(struct audit_log *log, const char *session, uint64_t exec,
	const char *name, const struct audit_fact *facts, size_t n,
	struct diag *d);

/* Signs what was written since the last checkpoint, if anything was. For the
 * end of a session. */
int audit_checkpoint(struct audit_log *log, struct diag *d);

/* Ends the live segment and begins the next. */
int audit_rotate(struct audit_log *log, struct diag *d);

/* The present state of the log, for "aud1 <log id> <seq> <link> <SHA-256 of
 * pk_0>". Takes the lock for reading; the keys are wiped from *head. */
int audit_peek(struct audit_log *log, struct audit_head *head, struct diag *d);

/* Deletes the oldest closed segments until at most keep_bytes remain, and those
 * that ended before keep_since (wall ns). What proves the key chain is copied
 * to the file "spine", and a pruned record tells what was deleted. With dry
 * nothing is done. Returns the number of segments, or -errno. */
int audit_vacuum(struct audit_log *log, uint64_t keep_bytes,
	uint64_t keep_since, bool dry, struct diag *d);

/* Removes the contents of one record for good; the chain still verifies, and an
 * event records it. -ENOENT: no such record; -EPERM: a header, a checkpoint or
 * the like, without which nothing verifies. With dry only checks. */
int audit_expunge(struct audit_log *log, uint64_t seq, const char *reason,
	bool dry, struct diag *d);

#endif
