/* audit_write_stream.c - a command's bytes: redacted, joined, capped, written
 * SPDX-License-Identifier: MIT
 *
 * Of a stream longer than its cap the first and the last half are kept. The
 * last half is not known before the end, so it goes round in an unlinked file,
 * redacted already, and into the log when the command has ended.
 */
#include "log/audit_write_stream_in.h"

#include <bearssl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cbor.h"
#include "sys/sig.h"
#include "base/str.h"

enum {
	SLICE = 4096,   /* redacted at a time */
	ENOUGH = 24576, /* waiting bytes that make a record */
	WAIT_MAX = 65536,
};
static const uint64_t join_ns = 64000000, hold_ns = 200000000;

struct audit_stream {
	struct redact_stream redact;
	struct buf wait; /* redacted bytes that are not written yet */
	uint64_t since;  /* when the oldest waiting byte came; ns since t0 */
	uint64_t fed;    /* time of the last byte */
	uint64_t total;  /* redacted bytes */
	uint64_t head;   /* bytes written as they came */
	bool skipped;    /* a part was not seen, so there is no hash */
	uint64_t fresh;  /* offset, behind the head, from which the spool is
			  * whole again */
	int spool;       /* file of the last half, or -1 */
	br_sha256_context sha;
};

static uint64_t time_since(const struct audit_exec *x)
{
	uint64_t wall, boot;

	audit_now(x->log, &wall, &boot);
	return boot - x->t0;
}

static int put_io(struct audit_exec *x, enum audit_io stream, uint64_t at,
	const char *bytes, size_t n, uint64_t gap, struct diag *d)
{
	autorec struct audit_rec r = AUDIT_REC(x->log, AUDIT_IO);

	/* Exactly the needed size, because a doubled buffer would be our
	 * peak. */
	if (n > 256) {
		r.rest.max = n + 80;
		buf_reserve(&r.rest, n + 64);
	}
	audit_put_exec(&r, x);
	cbor_put_uint(audit_rec_key(&r, AUDIT_K_STREAM), stream);
	cbor_put_uint(audit_rec_key(&r, AUDIT_K_AT), at);
	cbor_put_bytes(audit_rec_key(&r, AUDIT_K_DATA), bytes, n);
	if (gap)
		cbor_put_uint(audit_rec_key(&r, AUDIT_K_GAP), gap);
	return audit_append(x->log, &r, false, NULL, d);
}

static uint64_t half_of_cap(const struct audit_exec *x)
{
	return x->log->cfg.stream_cap / 2;
}

static int pwrite_all(int fd, const char *p, size_t n, uint64_t at)
{
	while (n) {
		ssize_t done = pwrite(fd, p, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
		at += (uint64_t)done;
	}
	return 0;
}

/* Puts bytes beyond the first half into the spool, round and round. */
static int spool_bytes(struct audit_exec *x, struct audit_stream *s,
	const char *p, size_t n, uint64_t at, struct diag *d)
{
	const uint64_t ring = half_of_cap(x);
	int err = 0;

	if (s->spool < 0)
		s->spool = openat(x->log->dirfd, ".",
			O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (s->spool < 0)
		return diag_errno(d, -errno,
			"audit log: no room for the end of a long output");
	while (n && !err) {
		uint64_t to = at % ring;
		size_t part = n < ring - to ? n : (size_t)(ring - to);

		err = pwrite_all(s->spool, p, part, to);
		p += part;
		n -= part;
		at += part;
	}
	return err ? diag_errno(d, err, "audit log: output of a command") : 0;
}

/* Writes waiting bytes, until at most rest are left. */
static int spool_drain(struct audit_exec *x, enum audit_io which, size_t rest,
	struct diag *d)
{
	struct audit_stream *s = x->stream[which];
	size_t done = 0;
	int err = 0;

	while (!err && s->wait.len - done > rest) {
		size_t n = s->wait.len - done;
		uint64_t room = half_of_cap(x) - s->head;

		if (n > AUDIT_IO_MAX)
			n = AUDIT_IO_MAX;
		if (room) {
			n = n < room ? n : (size_t)room;
			err = put_io(x, which, s->since, s->wait.data + done,
				n, 0, d);
			s->head += n;
		} else {
			err = spool_bytes(x, s, s->wait.data + done, n,
				s->total - s->head - (s->wait.len - done), d);
		}
		done += n;
	}
	buf_consume(&s->wait, done);
	return err;
}

static struct audit_stream *stream_get(struct audit_exec *x, enum audit_io which)
{
	struct audit_stream *s = x->stream[which];

	if (s)
		return s;
	s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	/* Typed text may be a command that begins anywhere. */
	s->redact = (struct redact_stream){
		.shell = which == AUDIT_TTYIN || (which == AUDIT_IN && x->script),
		.lex.lost = which == AUDIT_TTYIN};
	s->wait = BUF_INIT(WAIT_MAX);
	s->spool = -1;
	x->log->hw.sha->init(&s->sha.vtable);
	x->stream[which] = s;
	return s;
}

/* Counts the bytes that redaction let through since the wait buffer had was
 * bytes. */
static void account_seen(const struct audit_exec *x, struct audit_stream *s,
	size_t was, uint64_t now)
{
	size_t n = s->wait.len - was;

	if (!n)
		return;
	if (!was)
		s->since = now;
	s->total += n;
	x->log->hw.sha->update(&s->sha.vtable, s->wait.data + was, n);
}

/* Writes other streams' bytes first, because the order between streams is a
 * part of what happened. */
static int drain_others(
	struct audit_exec *x, enum audit_io stream, struct diag *d)
{
	int err = 0;

	for (enum audit_io i = 0; i < AUDIT_STREAMS && !err; i++)
		if (i != stream && x->stream[i] && x->stream[i]->wait.len)
			err = spool_drain(x, i, 0, d);
	return err;
}

int audit_io(struct audit_exec *x, enum audit_io stream, const void *bytes,
	size_t n, struct diag *d)
{
	struct audit_stream *s;
	const char *p = bytes;
	uint64_t now;
	int err;

	if (stream > AUDIT_TTYOUT)
		return diag_fail(d, -EINVAL, "audit: no such stream");
	s = stream_get(x, stream);
	if (!s)
		return diag_errno(d, -ENOMEM, "audit");
	now = time_since(x);
	s->fed = now;
	err = drain_others(x, stream, d);
	while (n && !err) {
		size_t part = n < SLICE ? n : SLICE, was = s->wait.len;

		err = redact_feed(&x->redact, &s->redact, p, part, &s->wait);

		if (err)
			return diag_errno(d, err, "audit: redaction");
		account_seen(x, s, was, now);
		p += part;
		n -= part;
		if (s->wait.len >= ENOUGH)
			err = spool_drain(x, stream, 0, d);
	}
	if (err)
		return err;
	if (s->wait.len && now - s->since >= join_ns)
		return spool_drain(x, stream, 0, d);
	return 0;
}

int audit_io_hidden(struct audit_exec *x, struct diag *d)
{
	static const char hidden[] = "[REDACTED]";
	struct audit_stream *s = stream_get(x, AUDIT_TTYIN);
	size_t was;

	if (!s)
		return diag_errno(d, -ENOMEM, "audit");
	was = s->wait.len;
	buf_add(&s->wait, hidden, sizeof hidden - 1);
	account_seen(x, s, was, time_since(x));
	return spool_drain(x, AUDIT_TTYIN, 0, d);
}

static int stream_flush(struct audit_exec *x, enum audit_io which, bool last,
	struct diag *d)
{
	struct audit_stream *s = x->stream[which];
	size_t was = s->wait.len;
	int err = redact_flush(&x->redact, &s->redact, last, &s->wait);

	if (err)
		return diag_errno(d, err, "audit: redaction");
	account_seen(x, s, was, s->fed);
	return spool_drain(x, which, 0, d);
}

int audit_io_skip(struct audit_exec *x, enum audit_io stream, uint64_t n,
	struct diag *d)
{
	struct audit_stream *s =
		stream > AUDIT_TTYOUT ? NULL : stream_get(x, stream);
	int err;

	if (!s)
		return diag_fail(d, -EINVAL, "audit: no such stream");
	err = stream_flush(x, stream, false, d);
	s->redact.lex.lost = true;
	s->total += n;
	s->skipped = true;
	s->fresh = s->total - s->head;
	return err;
}

int audit_winsize(
	struct audit_exec *x, unsigned cols, unsigned rows, struct diag *d)
{
	char space[32];
	struct buf b = BUF_FIXED(space);

	int err = drain_others(x, AUDIT_WINSIZE, d);

	if (err)
		return err;
	buf_addf(&b, "%ux%u", cols, rows);
	return put_io(x, AUDIT_WINSIZE, time_since(x), b.data, b.len, 0, d);
}

int audit_signal(struct audit_exec *x, int sig, struct diag *d)
{
	char space[16];
	const char *name = sig_name(sig, space, sizeof space);
	int err;

	if (!name)
		return diag_fail(d, -EINVAL, "audit: no signal %d", sig);
	err = drain_others(x, AUDIT_SIGNAL, d);
	if (err)
		return err;
	return put_io(
		x, AUDIT_SIGNAL, time_since(x), name, strlen(name), 0, d);
}

/* The time at which s needs attention; UINT64_MAX: never. */
static uint64_t stream_deadline(const struct audit_stream *s)
{
	uint64_t when = UINT64_MAX;

	if (s->wait.len)
		when = s->since + join_ns;
	if (redact_pending(&s->redact) && s->fed + hold_ns < when)
		when = s->fed + hold_ns;
	return when;
}

int audit_due(const struct audit_exec *x)
{
	uint64_t when = UINT64_MAX, now;

	for (unsigned i = 0; i < AUDIT_STREAMS; i++) {
		uint64_t w = x->stream[i] ? stream_deadline(x->stream[i])
					  : UINT64_MAX;

		when = w < when ? w : when;
	}
	if (when == UINT64_MAX)
		return -1;
	now = time_since(x);
	return when <= now ? 0 : (int)((when - now + 999999) / 1000000);
}

int audit_tick(struct audit_exec *x, struct diag *d)
{
	const uint64_t now = time_since(x);
	int err = 0;

	for (enum audit_io i = 0; i < AUDIT_STREAMS && !err; i++) {
		struct audit_stream *s = x->stream[i];

		if (!s || stream_deadline(s) > now)
			continue;
		if (redact_pending(&s->redact) && s->fed + hold_ns <= now)
			err = stream_flush(x, i, false, d);
		else
			err = spool_drain(x, i, 0, d);
	}
	return err;
}

/* Writes the last half from the spool to the log. */
static int write_tail(struct audit_exec *x, enum audit_io which, struct diag *d)
{
	struct audit_stream *s = x->stream[which];
	const uint64_t ring = half_of_cap(x), beyond = s->total - s->head;
	const uint64_t whole = beyond - s->fresh;
	const uint64_t kept = whole < ring ? whole : ring;
	autofree char *bytes = malloc(AUDIT_IO_MAX);
	uint64_t at = beyond - kept, gap = at;
	int err = 0;

	if (!bytes)
		return diag_errno(d, -ENOMEM, "audit");
	while (at < beyond && !err) {
		uint64_t from = at % ring, n = beyond - at;
		ssize_t got;

		n = n < ring - from ? n : ring - from;
		n = n < AUDIT_IO_MAX ? n : AUDIT_IO_MAX;
		got = pread(s->spool, bytes, (size_t)n, (off_t)from);
		if (got <= 0)
			return diag_errno(d, got ? -errno : -EIO,
				"audit log: output of a command");
		err = put_io(x, which, s->fed, bytes, (size_t)got, gap, d);
		gap = 0;
		at += (uint64_t)got;
	}
	return err;
}

/* The number of the stream's bytes in the log. */
static uint64_t kept_bytes(const struct audit_exec *x,
	const struct audit_stream *s)
{
	uint64_t whole = s->total - s->head - s->fresh;

	return s->head + (whole < half_of_cap(x) ? whole : half_of_cap(x));
}

int audit_streams_finish(struct audit_exec *x, bool *cut, struct diag *d)
{
	int err = 0;

	for (enum audit_io i = 0; i < AUDIT_STREAMS && !err; i++) {
		struct audit_stream *s = x->stream[i];

		if (!s)
			continue;
		err = stream_flush(x, i, true, d);
		if (!err && s->total > s->head)
			err = write_tail(x, i, d);
		*cut |= kept_bytes(x, s) < s->total;
	}
	return err;
}

void audit_put_totals(struct audit_rec *r, const struct audit_exec *x)
{
	struct buf *out;
	size_t n = 0;

	for (unsigned i = 0; i < AUDIT_STREAMS; i++)
		n += x->stream[i] != NULL;
	if (!n)
		return;
	out = audit_rec_key(r, AUDIT_K_TOTALS);
	cbor_put_map(out, n);
	for (unsigned i = 0; i < AUDIT_STREAMS; i++) {
		const struct audit_stream *s = x->stream[i];
		uint8_t sha[AUDIT_HASH];

		if (!s)
			continue;
		x->log->hw.sha->out(&s->sha.vtable, sha);
		cbor_put_uint(out, i);
		cbor_put_array(out, s->skipped ? 2 : 3);
		cbor_put_uint(out, s->total);
		cbor_put_uint(out, kept_bytes(x, s));
		if (!s->skipped)
			cbor_put_bytes(out, sha, sizeof sha);
	}
}

void audit_exec_release(struct audit_exec *x)
{
	for (unsigned i = 0; i < AUDIT_STREAMS; i++) {
		struct audit_stream *s = x->stream[i];

		if (!s)
			continue;
		redact_stream_release(&s->redact);
		buf_release(&s->wait);
		cleanup_fd(&s->spool);
		free(s);
		x->stream[i] = NULL;
	}
	if (x->log && !x->log->plain.work)
		x->log->plain.work = ptr_steal(&x->redact.work);
	if (x->log && x->log->exec == x)
		x->log->exec = NULL;
	redact_release(&x->redact);
}
