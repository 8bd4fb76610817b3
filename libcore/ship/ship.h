/* ship.h - records of the log for a receiver elsewhere
 * SPDX-License-Identifier: MIT
 *
 * Records are added to a batch in the order of the log, and the batch is sent; it
 * holds what fits into SHIP_BYTES, and one more. What the receiver has taken for
 * certain is counted from the front. Certain is
 *
 *	syslog	the receiver ended the connection in order, after its end: one
 *		that has not read all of it cannot
 *	otlp	its answer
 *	file	the bytes are on the disk
 */
#ifndef WARDBOX_SHIP_H
#define WARDBOX_SHIP_H

#include "base/json.h"
#include "log/audit_read.h"

enum ship_kind {
	SHIP_SYSLOG,
	SHIP_OTLP,
	SHIP_FILE,
};

struct tls_keys;
struct ship_target {
	enum ship_kind kind;
	bool tls;
	char host[256], port[6];
	char path[1024]; /* of OTLP's requests; the directory of file */
};
/* "syslog://HOST[:PORT]" (514), "syslog+tls://" (6514), "otlp://HOST[:PORT][/PATH]"
 * (4318, /v1/logs), "otlp+tls://", "file:DIRECTORY". -EINVAL with d. */
int ship_target_parse(struct ship_target *t, const char *text, struct diag *d);

enum {
	SHIP_ITEMS = 512,
	SHIP_BYTES = 1 << 20,
	SHIP_SYSLOG_MAX = 8192, /* a message, header and all; RFC 5424, 6.1 */
	SHIP_JSON_MAX = 4 << 20,
	SHIP_LINK = 8, /* so much of a record's link tells it from another */
};

struct ship_item {
	size_t end; /* in the batch's bytes */
	uint64_t seq; /* 0: a note */
	uint64_t segment;
};

struct ship {
	struct ship_target to;
	const char *host, *version; /* this machine's name, and wardbox's */
	const char *headers;        /* of OTLP's requests: "Name: value\r\n" */
	const char *ca;             /* of TLS: the file of those who vouch */
	struct tls_keys *keys; /* what we prove ourselves with; NULL: nothing */
	uint64_t timeout_ns;        /* that a receiver may keep still */
	int dir;                    /* of file; ship_file_open() opens it */
	/* Called for records that the receiver refuses for good. first and last:
	 * among which they are. */
	void (*refused)(void *ctx, uint64_t first, uint64_t last,
		uint64_t count, const char *why);
	void *ctx;
	uint64_t wait_s; /* what the receiver asks to wait after a failure */
	/* its own */
	struct buf bytes;
	struct ship_item item[SHIP_ITEMS];
	size_t count, done;
	uint64_t messages; /* that were written since the start */
};
void ship_init(struct ship *s);
void ship_release(struct ship *s);

/* Adds a record; one that is too large for its form comes without the fields that
 * do not fit, which it names. */
void ship_add(struct ship *s, const struct audit_record *r);
/* Adds what is no record but concerns the log, such as damage. A file gets none. */
void ship_note(struct ship *s, uint64_t wall, const char *text);
bool ship_full(const struct ship *s);
/* Sends what is there; s->done of s->count were taken. 0: all; -errno with d:
 * again later. */
int ship_send(struct ship *s, struct diag *d);
/* Forgets what was taken, and all of it when nothing is left. */
void ship_clear(struct ship *s);

/* Opens a file target, alone; what was cut off as somebody died is taken away.
 * 1: *seq and link are of the last record that is there; 0: there is none. */
int ship_file_open(struct ship *s, uint64_t *seq,
	uint8_t link[static AUDIT_HASH], struct diag *d);

/* An answer of HTTP/1.1. */
struct ship_answer {
	int status;
	uint64_t retry_s;  /* what Retry-After says; 0: nothing */
	char body[3072];   /* as much as there is room for */
	size_t len;
};
/* Reads it. How far; 0: more bytes are needed; -EBADMSG. ended: no more come. */
int ship_answer_read(struct ship_answer *a, const char *bytes, size_t n,
	bool ended);
/* What OTLP's answer with a status of 2xx says: how many records were refused, and
 * in why its reason. -EBADMSG: no receiver of OTLP speaks so. */
int ship_answer_partial(const struct ship_answer *a, uint64_t *refused,
	struct buf *why);

#endif
