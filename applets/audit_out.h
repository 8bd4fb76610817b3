/* audit_out.h - the forms a record can be printed in
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_APPLET_AUDIT_OUT_H
#define WARDBOX_APPLET_AUDIT_OUT_H

#include "audit.h"

enum audit_form_name {
	OUT_SHORT,
	OUT_SHORT_ISO,
	OUT_SHORT_DELTA,
	OUT_VERBOSE,
	OUT_JSON,
	OUT_JSON_PRETTY,
	OUT_JSON_SEQ,
	OUT_CSV,
	OUT_OCSF,
	OUT_ASCIICAST,
	OUT_CONTRACT,
	OUT_CAT,
	OUT_CBOR,
	OUT_COSE,
	OUT_FORMAT, /* --format */
};

/* One command, put together from its records, for the forms that want it
 * whole. */
struct audit_command {
	uint64_t exec, start_wall, end_wall, duration;
	uint64_t cpu_us, maxrss_kib, pid, signal, flags;
	int64_t exit;
	bool ended, open, has_session;
	uint8_t session[AUDIT_ID], log_id[AUDIT_ID], decision;
	struct buf argv;   /* NUL after each */
	struct buf line;   /* as typed */
	struct buf cwd, exe, rule, reason, rollback;
	struct buf output[3]; /* stdin, stdout, stderr; only if wanted */
	/* report's own */
	struct buf pieces, changed;
	size_t shown;
	bool terminal, cut;
};

enum { AUDIT_OPEN_MAX = 1024 };

/* The printing of a dump. */
struct audit_out {
	const struct audit *a;
	struct buf out;
	enum audit_form_name form;
	struct audit_names *names;
	uint64_t last_wall;
	bool escape, colour, begun, streams;
	struct audit_command *open; /* AUDIT_OPEN_MAX, on first use */
	/* If set, takes each whole command instead of a form. */
	void (*each)(void *state, struct audit_command *c);
	void *each_state;
	/* asciicast: the command being played */
	uint64_t cast, cast_at;
};

void audit_out_begin(struct audit_out *o, const struct audit *a);
/* Is there anything to see of the record in this form? */
bool audit_out_shows(const struct audit_out *o, const struct audit_record *r);
/* Appends a record to o->out. */
void audit_out_record(struct audit_out *o, const struct audit_record *r);
/* What remains: commands that have not ended. */
void audit_out_end(struct audit_out *o);
void audit_out_release(struct audit_out *o);

void audit_short(struct audit_out *o, const struct audit_record *r);
void audit_verbose(struct audit_out *o, const struct audit_record *r);
void audit_cat(struct audit_out *o, const struct audit_record *r);
void audit_csv(struct audit_out *o, const struct audit_record *r);
void audit_cast(struct audit_out *o, const struct audit_record *r);
void audit_cose(struct audit_out *o, const struct audit_record *r);
/* JSON of a record with --fields applied. */
void audit_json_some(struct audit_out *o, struct json *j,
	const struct audit_record *r);

/* Its exit code, as a shell tells it. */
static inline int64_t audit_exit(const struct audit_command *c)
{
	return c->signal ? 128 + (int64_t)c->signal : c->exit;
}

/* The command r belongs to, with r's part added; NULL when r is of none. */
struct audit_command *audit_command_note(
	struct audit_out *o, const struct audit_record *r);
void audit_command_done(struct audit_command *c);
/* Prints a whole command: contract, ocsf, --format. */
void audit_command_print(struct audit_out *o, struct audit_command *c);

#endif
