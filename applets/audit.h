/* audit.h - what the verbs of "audit" share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_APPLET_AUDIT_H
#define WARDBOX_APPLET_AUDIT_H

#include <limits.h>

#include "log/audit_read.h"
#include "log/audit_read_filter.h"
#include "log/audit_write.h"
#include "cli/cli.h"

#define AUDIT_ALL UINT_MAX /* lines, as many as there are */

struct audit {
	const char *dir, *since, *until, *session, *exe, *command, *cwd, *exit;
	const char *decision, *rule, *event, *grep, *output, *fields, *format, *cursor;
	const char *mark, *pubkey, *seed, *anchor, *only, *type, *html, *reason;
	const char *boot, *from_cursor, *to, *ca, *cert, *key, *header_file;
	struct cli_list merge;
	unsigned lines, pid;
	uint64_t min_duration, max_wait, keep_time, keep_bytes, timeout;
	const char *speed, *first;
	bool reverse, follow, utc, quiet, all, invert, json, seal, dry_run;
	bool show_cursor, list, no_pager, end, links, yes;
};

extern const struct cli_spec audit_cli;

/* The directory of the log: -D, or where it is by default. Ends the process
 * when there is none. */
int audit_dir(const struct audit *a, bool make);
/* Has a log begun there? */
bool audit_is_there(const struct audit *a);
/* Says that there is no log, and how one begins; ends the process. */
__attribute__((noreturn)) void audit_no_log(const struct audit *a);
/* "what: why", and the end. */
__attribute__((noreturn)) void audit_die(const char *what, int err);
/* Prints the diag and ends the process. */
__attribute__((noreturn)) void audit_fail(const struct diag *d);
/* Reads the number at the start of s. The text behind it; NULL: no number is
 * there. */
const char *audit_number(const char *s, uint64_t *n);
/* Says what of the log is no record, but with -q. */
void audit_tell_damage(
	const struct audit *a, int got, const struct audit_damage *d);
/* Returns p; ends the process if p is NULL. */
void *audit_need(void *p);
/* Room for one more in a list of *cap elements; without memory, or beyond most
 * elements, the end. */
void *audit_room(
	void *list, size_t count, size_t *cap, size_t size, size_t most);
/* The values by their names, a list as EACH of redaction has them. */
void audit_put_numbers(
	struct json *j, const char *names, const uint64_t *values);
/* Exactly n bytes from s[0..len) in hexadecimal, else false. */
bool audit_hex_parse(const char *s, size_t len, uint8_t *out, size_t n);

/* A place in the log: a record's seq, and the beginning of its link. */
struct audit_cursor {
	uint64_t seq;
	uint8_t link[8];
};
/* Exit code: what a cursor names is gone or another. */
enum { AUDIT_CURSOR_GONE = 5 };
void audit_cursor_at(struct audit_cursor *c, const struct audit_record *r);
bool audit_cursor_is(const struct audit_cursor *c, const struct audit_record *r);
/* "SEQ:LINK"; any other text ends the process. */
void audit_cursor_put(struct buf *out, const struct audit_cursor *c);
void audit_cursor_parse(struct audit_cursor *c, const char *text);
/* From a file, and to it. false: it is not there, or empty. */
bool audit_cursor_load(struct audit_cursor *c, const char *file);
void audit_cursor_save(const struct audit_cursor *c, const char *file);

/* For writing; the same. */
void audit_dir_log(const struct audit *a, struct audit_log *log);

/* A reader over the operands (files, "-"), or over the log. Calls it again for
 * a second pass. */
void audit_source(const struct audit *a, int argc, char **argv,
	struct audit_reader *r);

/* The options as a filter; a mistake ends the process. */
void audit_filter_from(const struct audit *a, struct audit_filter *f);

/* Shows one record that fits the filter; a result above 0 ends the walk. */
typedef int audit_view(void *state, const struct audit_record *r);
/* Walks the log, both passes where the filter needs them. Damage is told on
 * stderr unless -q. The number of records shown, and *damaged. */
uint64_t audit_walk(const struct audit *a, int argc, char **argv,
	audit_view *view, void *state, bool *damaged);

/* The names of sessions met so far. */
enum { AUDIT_NAMES = 64 };
struct audit_names {
	struct {
		uint8_t id[AUDIT_ID];
		char name[48];
	} known[AUDIT_NAMES];
	unsigned count;
};
void audit_names_note(struct audit_names *names, const struct audit_record *r);
/* Its name, or the first digits of its id; "-" without one. */
const char *audit_names_find(const struct audit_names *names,
	const uint8_t *id, char space[static 48]);

/* Wall ns as local time, or UTC. short: "Nov 18 10:22:01", else
 * "2026-11-18T10:22:01.123456+0100". */
void audit_put_local(struct buf *out, uint64_t ns, bool utc, bool brief);
/* n bytes, of at most AUDIT_HASH, in hexadecimal digits. */
void audit_put_hex(struct json *j, const char *key, const uint8_t *p, size_t n);
/* "1.5 s", "12 ms". */
void audit_put_duration(struct buf *out, uint64_t ns);
/* A time as the user writes it: @unix, now, today, yesterday, -2h, boot,
 * recent, YYYY-MM-DD[ hh:mm[:ss]], and as this program prints it. */
int audit_parse_time(const char *s, bool utc, uint64_t *ns);

/* Text whose lines stay lines; all else that steers a terminal is shown. */
void audit_put_lines(struct buf *out, const char *s, size_t n);

/* A watch on the log's directory, to be set before it is read; and what it has
 * seen so far forgotten. */
int audit_watch(int dir);
void audit_watched(int watch);
/* Returns when something happened, or may have: of a directory that is open the
 * kernel does not say that it was deleted. */
void audit_await(int watch);

/* Prints out when it has grown large, or at once when people watch. */
void audit_print_some(struct buf *out, bool now);

int audit_run_dump(void *into, int argc, char **argv);
int audit_run_follow(void *into);
int audit_run_show(void *into, int argc, char **argv);
int audit_run_sessions(void *into, int argc, char **argv);
int audit_run_replay(void *into, int argc, char **argv);
int audit_run_verify(void *into, int argc, char **argv);
int audit_run_stats(void *into, int argc, char **argv);
int audit_run_report(void *into, int argc, char **argv);
int audit_run_export(void *into, int argc, char **argv);
int audit_run_anchor(void *into);
int audit_run_init(void *into);
int audit_run_rotate(void *into);
int audit_run_vacuum(void *into);
int audit_run_expunge(void *into, int argc, char **argv);
int audit_run_schema(void *into);
int audit_run_ship(void *into);

#endif
