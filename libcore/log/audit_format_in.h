/* audit_format_in.h - the log's files as bytes: keys, frames, the head
 * SPDX-License-Identifier: MIT
 *
 * A segment is a CBOR sequence (RFC 8742) of frames
 *	[crc: bstr .size 4, body: bstr .cbor map, link: bstr .size 32]
 * "audit schema" prints the whole of it. Everything here is pure.
 */
#ifndef WARDBOX_AUDIT_FORMAT_IN_H
#define WARDBOX_AUDIT_FORMAT_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "log/keys_in.h"

enum {
	AUDIT_ID = 16,
	AUDIT_HASH = 32,
	AUDIT_PK = 65,
	AUDIT_SIG = 64,
	AUDIT_HEAD = 512,
	AUDIT_BODY_MAX = 1 << 20,
	AUDIT_FRAME_MAX = AUDIT_BODY_MAX + 64,
	AUDIT_IO_MAX = 32768,
	AUDIT_FMT = 1,
};

enum audit_type {
	AUDIT_HEADER,
	AUDIT_START,
	AUDIT_IO,
	AUDIT_END,
	AUDIT_EVENT,
	AUDIT_CKPT,
	AUDIT_RECOVER,
	AUDIT_PRUNED,
	AUDIT_PURGED = 15, /* never stored: the body was expunged */
};

enum audit_key {
	AUDIT_K_TYPE = 0,
	AUDIT_K_SEQ = 1,
	AUDIT_K_WALL = 2,
	AUDIT_K_BOOT = 3,
	AUDIT_K_SESSION = 4,
	AUDIT_K_EXEC = 5,
	AUDIT_K_PID = 6,
	AUDIT_K_PPID = 7,
	AUDIT_K_ARGV = 8,
	AUDIT_K_CWD = 9,
	AUDIT_K_EXE = 10,
	AUDIT_K_DECISION = 11,
	AUDIT_K_NAME = 12, /* the session's name, unless the id is the name */
	AUDIT_K_RULE = 13,
	AUDIT_K_POLICY = 14,
	AUDIT_K_ENV = 15,
	AUDIT_K_EXIT = 16,
	AUDIT_K_SIGNAL = 17,
	AUDIT_K_DURATION = 18,
	AUDIT_K_USAGE = 19,
	AUDIT_K_STREAM = 20,
	AUDIT_K_AT = 21,
	AUDIT_K_DATA = 22,
	AUDIT_K_GAP = 23,
	AUDIT_K_TOTALS = 24,
	AUDIT_K_REDACTED = 25,
	AUDIT_K_FLAGS = 26,
	AUDIT_K_ROLLBACK = 27,
	AUDIT_K_REASON = 28,
	AUDIT_K_EVENT = 30,
	AUDIT_K_DETAIL = 31,
	AUDIT_K_PAYLOAD = 40,
	AUDIT_K_SIGNATURE = 41,
	AUDIT_K_PROTECTED = 42,
	AUDIT_K_PK = 43,
	AUDIT_K_LOG = 44,
	AUDIT_K_PREV = 45,
	AUDIT_K_LOST = 46,
	AUDIT_K_FMT = 47,
	AUDIT_K_INCOMPAT = 48,
	AUDIT_K_BOOT_ID = 49,
	AUDIT_K_HOST = 50,
	AUDIT_K_PRUNED = 51,
	AUDIT_K_EPOCH = 52,
};

/* Keys of a checkpoint's payload; 7 is kept for a Merkle root. */
enum audit_cp {
	AUDIT_CP_EPOCH,
	AUDIT_CP_FIRST,
	AUDIT_CP_LAST,
	AUDIT_CP_LINK,
	AUDIT_CP_AGG,
	AUDIT_CP_NEXT, /* the next epoch's public key */
	AUDIT_CP_WALL,
};

/* COSE's protected header of a checkpoint: {1: -7}, ES256. */
enum { AUDIT_PROTECTED = 3 };
extern const uint8_t audit_protected[AUDIT_PROTECTED];

enum audit_decision {
	AUDIT_ALLOW,
	AUDIT_DENY,
	AUDIT_CONFIRM,
	AUDIT_REDIRECT,
	AUDIT_OPEN, /* ran; unknown parts were decided when they started */
};

enum audit_io {
	AUDIT_IN,
	AUDIT_OUT,
	AUDIT_ERR,
	AUDIT_TTYIN,
	AUDIT_TTYOUT,
	AUDIT_WINSIZE, /* "80x24" */
	AUDIT_SIGNAL,  /* "INT" */
	AUDIT_STREAMS,
};

/* Bits of AUDIT_K_FLAGS. */
enum {
	AUDIT_TRUNCATED = 1,
	AUDIT_TIMEOUT = 2,
	AUDIT_OOM = 4,
	AUDIT_KILLED = 8,
};

/* Reasons of a recover record. */
enum audit_why {
	AUDIT_WHY_ADOPTED = 1, /* more records than the head knew of */
	AUDIT_WHY_TORN = 2,    /* a partial record was cut off */
	AUDIT_WHY_LOST = 3,    /* fewer bytes than the head knew of: tampering */
	AUDIT_WHY_POWER = 4,   /* the same, after another boot */
	AUDIT_WHY_CORRUPT = 5, /* a bad frame before good ones */
	AUDIT_WHY_HEAD = 6,    /* no head, or a bad one */
	AUDIT_WHY_IO = 7,      /* a write or sync failed */
};

/* The writer's state, 512 bytes on disk. A reader of it can forge the future,
 * not the past. */
struct audit_head {
	uint8_t boot_id[AUDIT_ID], log_id[AUDIT_ID];
	uint64_t next;    /* seq of the next record */
	uint64_t segment; /* first seq of the live segment */
	uint64_t end;     /* length of the live segment */
	uint64_t synced;  /* every record below this seq is on the disk
			   * (advisory) */
	uint64_t epoch, epoch_first;
	uint64_t ckpt_wall;    /* when the last checkpoint was made */
	uint64_t segment_wall; /* when the segment was begun */
	uint8_t link[AUDIT_HASH], agg[AUDIT_HASH];
	uint8_t rk[AUDIT_HASH], sk[AUDIT_HASH], enext[AUDIT_HASH];
	uint8_t pin[AUDIT_HASH]; /* SHA-256 of the first public key */
	uint8_t mark[AUDIT_HASH]; /* the key of redaction's digests; zeros: none */
};

void audit_head_pack(const struct audit_head *h,
	uint8_t out[static AUDIT_HEAD], crc32c_fn *crc);
/* Reads a head. -EBADMSG: not a head, another version, or a bad checksum. */
int audit_head_parse(struct audit_head *h,
	const uint8_t in[static AUDIT_HEAD], crc32c_fn *crc);

/* A frame in a segment; pointers lead into the caller's bytes. */
struct audit_frame {
	const uint8_t *body, *link;
	size_t body_len;
	size_t len; /* of the whole frame */
	uint32_t crc;
};

/* Reads the frame at p[0..n). 0; -EAGAIN: it is cut short and may be whole with
 * more bytes; -EBADMSG: no frame begins here. The caller compares f->crc with
 * the body's. */
int audit_frame_parse(struct audit_frame *f, const uint8_t *p, size_t n);

/* Write a frame into an empty buf in two steps: everything up to the body,
 * which the caller then adds; and the crc and link, which are known then. */
void audit_frame_open(struct buf *out, size_t body_len);
void audit_frame_close(struct buf *out, uint32_t crc,
	const uint8_t link[static AUDIT_HASH]);

/* The hash that a checkpoint's signature signs: of COSE's Sig_structure
 * ["Signature1", protected, "aud1", payload]. */
void audit_sig_hash(const struct keys_hw *hw, const uint8_t *payload, size_t n,
	uint8_t hash[static AUDIT_HASH]);

/* The value of a hexadecimal digit (small letters), or -1. */
int audit_hex(char c);

/* 32 hexadecimal digits, with the dashes of a UUID or without. */
bool audit_id_parse(uint8_t id[static AUDIT_ID], const char *text);

/* "00000000000004d2.aud" and back. */
enum { AUDIT_NAME = 21 };
void audit_segment_name(char out[static AUDIT_NAME], uint64_t first);
int audit_segment_parse(const char *name, uint64_t *first);

#endif
