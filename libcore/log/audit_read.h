/* audit_read.h - reads a log that anyone may have written, record by record
 * SPDX-License-Identifier: MIT
 *
 * There is one way through a log, for showing and for verifying alike, so that
 * nothing can be in the one view and not in the other. Damage is reported and
 * passed over; memory stays bounded whatever the files hold.
 */
#ifndef WARDBOX_AUDIT_READ_H
#define WARDBOX_AUDIT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/audit_format_in.h"
#include "base/buf.h"
#include "base/cbor.h"
#include "base/diag.h"

/* A pair of a body. */
struct audit_field {
	int64_t key;
	struct cbor_item item; /* the value's head */
	const uint8_t *raw;    /* the whole value */
	size_t raw_len;
};

enum { AUDIT_FIELDS = 32 };

/* A record; its pointers lead into the reader's window. */
struct audit_record {
	uint64_t type; /* enum audit_type, or something newer */
	uint64_t seq, boot;
	uint64_t wall; /* of a purged record, which has none, the record's
			* before it */
	uint64_t exec;          /* 0: of no command; for a start its own seq */
	const uint8_t *session; /* AUDIT_ID bytes, or NULL */
	const uint8_t *log_id;  /* of its log; zeros if unknown */
	uint64_t segment;       /* first seq of its segment */
	uint64_t offset;        /* offset in the segment */
	struct audit_frame frame;
	unsigned fields;
	struct audit_field field[AUDIT_FIELDS];
};

/* Reads the body of r->frame. A purged record gets type AUDIT_PURGED, and as
 * fields 0 and 1 its leaf and the seq of the event that ordered it.
 * -EBADMSG. */
int audit_record_parse(struct audit_record *r);

/* Type, seq and wall time, with which every body begins. -EBADMSG. */
struct audit_intro {
	uint64_t type, seq, wall;
};
int audit_intro(struct audit_intro *in, const uint8_t *body, size_t n);

/* Is the link right, except for zeros from some byte on? A file may keep its
 * length and lose its contents. */
bool audit_link_cut(const uint8_t link[static AUDIT_HASH],
	const uint8_t right[static AUDIT_HASH]);

/* Is the frame whole, and is it record seq behind link? Then link becomes its
 * own. */
bool audit_frame_follows(const struct audit_frame *f, const struct keys_hw *hw,
	uint64_t seq, uint8_t link[static AUDIT_HASH], struct audit_intro *in);

/* The numbers of a recover record: why, the seq expected, the one found, bytes.
 * -EBADMSG. */
int audit_lost_numbers(const struct audit_record *r, uint64_t n[static 4]);

/* The value of key, or NULL. */
const struct audit_field *audit_field(
	const struct audit_record *r, enum audit_key key);
/* The same, if the value is of that kind; byte strings count as text. */
const struct cbor_item *audit_bytes(
	const struct audit_record *r, enum audit_key key);
const struct cbor_item *audit_text(
	const struct audit_record *r, enum audit_key key);
/* The number of key, or otherwise. */
uint64_t audit_uint(const struct audit_record *r, enum audit_key key,
	uint64_t otherwise);
int64_t audit_int(const struct audit_record *r, enum audit_key key,
	int64_t otherwise);

/* Is the record the event of that name? audit_detail: a value of an event's
 * detail, or NULL. */
bool audit_event_is(const struct audit_record *r, const char *name);
const struct cbor_item *audit_detail(const struct audit_record *r,
	const char *name, struct cbor_item *value);

/* The result of audit_next. */
enum audit_got {
	AUDIT_GOT_END,
	AUDIT_GOT_RECORD,
	AUDIT_GOT_SEGMENT, /* another segment begins */
	AUDIT_GOT_BAD,     /* bytes that are no record; good ones follow, and
			    * are skipped with the rest of the segment */
	AUDIT_GOT_TORN,    /* the segment ends within a record, or in rubbish */
	AUDIT_GOT_ALIEN,   /* a whole frame whose body cannot be read */
};

struct audit_damage {
	uint64_t segment, offset, bytes;
	uint64_t unread; /* bytes behind them, skipped */
};

/* Private. */
struct audit_reader {
	int dirfd, fd;
	uint64_t *firsts; /* segments that follow */
	int *fds;
	size_t count, at;
	uint64_t live, limit; /* of segment live; only limit bytes are read */
	uint64_t segment, offset;
	size_t pos; /* position in window */
	struct buf window;
	uint8_t log_id[AUDIT_ID]; /* from the last header */
	uint64_t wall; /* of the record before */
	uint64_t effort; /* bytes that may still be tried to find a frame */
	crc32c_fn *crc;
	bool eof;
	uint32_t deep; /* a bit for each kind whose body is read; of other kinds
			* only type, seq and wall are */
	bool salvage; /* goes on behind damage: nothing ties the rest
		       * together */
	bool patient; /* an incomplete last record is still being written */
};
void audit_reader_release(struct audit_reader *r);
#define autoreader autoclean(audit_reader_release)
#define AUDIT_READER_INIT ((struct audit_reader){.dirfd = -1, .fd = -1})

/* First seqs of all segments of a directory by their names, whatever they are;
 * ascending; free() them. -errno or the count. */
int audit_segments(int dirfd, uint64_t **firsts, struct diag *d);

/* Reads the segments of a directory that its head knows of, from the one that
 * holds seq from; of the live one no more than the head knows. What is written
 * meanwhile is not half seen, and a file that was put there is not read. */
int audit_reader_dir(
	struct audit_reader *r, int dirfd, uint64_t from, struct diag *d);
/* The same for a caller that has the extent already; its list is taken over. */
struct audit_extent;
int audit_reader_extent(struct audit_reader *r, int dirfd,
	struct audit_extent *e, uint64_t from, struct diag *d);
/* Reads n descriptors one after the other: files, or a pipe. The reader owns
 * them from now on. */
int audit_reader_fds(
	struct audit_reader *r, const int *fds, size_t n, struct diag *d);

/* Reads on: enum audit_got, or -errno with d. Fills rec for a record, damage
 * for the other results. */
int audit_next(struct audit_reader *r, struct audit_record *rec,
	struct audit_damage *damage, struct diag *d);

/* Goes on after AUDIT_GOT_END, for a log that grows; set patient before the
 * first audit_next. Takes up new segments, and records that were cut off and
 * written anew. AUDIT_ANEW: the log was deleted, and the next record is another
 * log's. -ENOENT: its directory was, too; or -errno. */
enum audit_more { AUDIT_MORE = 1, AUDIT_ANEW };
int audit_reader_more(struct audit_reader *r, struct diag *d);

#endif
