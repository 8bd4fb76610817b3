/* audit_write_stream_in.h - what audit_end needs of the streams
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_AUDIT_WRITE_STREAM_IN_H
#define WARDBOX_AUDIT_WRITE_STREAM_IN_H

#include "log/audit_write_in.h"

/* Writes all that is held or waits. *cut: bytes were left out of a stream. */
int audit_streams_finish(struct audit_exec *x, bool *cut, struct diag *d);

/* Session and id of the command a record belongs to. */
void audit_put_exec(struct audit_rec *r, const struct audit_exec *x);

/* The totals of the streams that were used, if any was. */
void audit_put_totals(struct audit_rec *r, const struct audit_exec *x);

#endif
