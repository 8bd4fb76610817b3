/* audit_write_stream_in.h - what audit_end needs of the streams
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_AUDIT_WRITE_STREAM_IN_H
#define WARDBOX_AUDIT_WRITE_STREAM_IN_H

#include "log/audit_write_in.h"

/* Writes everything that is held or waits. *cut: bytes of a stream were left
 * out. */
int audit_streams_finish(struct audit_exec *x, bool *cut, struct diag *d);

/* Writes session and id of the command to a record. */
void audit_put_exec(struct audit_rec *r, const struct audit_exec *x);

/* Writes the totals of the used streams, if any. */
void audit_put_totals(struct audit_rec *r, const struct audit_exec *x);

#endif
