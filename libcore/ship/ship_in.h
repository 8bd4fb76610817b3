/* ship_in.h - what the files of ship share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHIP_IN_H
#define WARDBOX_SHIP_IN_H

#include "ship/ship.h"
#include "tls/tls.h"

/* How grave a record is, as syslog counts. */
enum ship_severity {
	SHIP_ALERT = 1,
	SHIP_WARNING = 4,
	SHIP_INFO = 6,
};

/* What of a record both forms say. */
struct ship_facts {
	enum ship_severity severity;
	const char *type; /* "start", ...; "note" */
	uint64_t wall, seq, pid;
	const uint8_t *log_id; /* NULL: a note */
	const char *json;
	size_t json_len;
};

/* Append one message. */
void ship_syslog_add(struct ship *s, const struct ship_facts *f);
void ship_otlp_add(struct ship *s, const struct ship_facts *f);

/* Send from s->done on, and count. -errno with d. */
int ship_syslog_send(struct ship *s, struct diag *d);
int ship_otlp_send(struct ship *s, struct diag *d);
int ship_file_send(struct ship *s, struct diag *d);

/* A connection to the target. */
struct ship_link {
	const struct ship *ship;
	int fd;
	struct tls *tls; /* NULL: bare */
};
int link_open(struct ship_link *w, const struct ship *s, struct diag *d);
void link_release(struct ship_link *w);
/* All n bytes. */
int link_write(struct ship_link *w, const void *bytes, size_t n, struct diag *d);
/* At most n; 0: the other side has ended. */
ssize_t link_read(struct ship_link *w, void *to, size_t n, struct diag *d);
/* Says that no more comes, and waits until the other side has ended in order. */
int link_finish(struct ship_link *w, struct diag *d);

#endif
