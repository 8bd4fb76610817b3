/* audit_verify.c - is the log whole, and by the right hand?
 * SPDX-License-Identifier: MIT
 */
#include "log/audit_verify.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log/audit_verify_in.h"
#include "base/str.h"

enum audit_outcome audit_outcome(const struct audit_verdict *v)
{
	if (v->findings[AUDIT_TAMPER])
		return AUDIT_TAMPERED;
	if (v->findings[AUDIT_LOSS])
		return AUDIT_DECLARED_LOSS;
	if ((v->pinned || v->seeded || v->anchored) && v->ended)
		return AUDIT_INTACT;
	return AUDIT_UNAUTHENTICATED;
}

FLOATLESS void audit_find(struct audit_check *c, enum audit_level level, const char *kind,
	const struct audit_record *r, const char *fmt, ...)
{
	char text[240];
	struct buf b = BUF_FIXED(text);
	struct audit_finding f = {.level = level, .kind = kind};
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	b.err = 0;
	f.text = buf_str(&b);
	if (r) {
		f.placed = true;
		f.seq = r->seq;
		f.segment = r->segment;
		f.offset = r->offset;
	} else {
		f.seq = c->next;
	}
	c->v->findings[level]++;
	if (c->report)
		c->report(c->state, &f);
}

void audit_check_begin(struct audit_check *c, const struct audit_trust *trust,
	audit_report *report, void *state, struct audit_verdict *v)
{
	*v = (struct audit_verdict){.partial = trust->partial || trust->from};
	*c = (struct audit_check){.trust = trust,
		.hw = trust->portable ? keys_hw_portable() : keys_hw_pick(),
		.report = report,
		.state = state,
		.v = v,
		.segment_start = true};
}

void audit_check_release(struct audit_check *c)
{
	explicit_bzero(c->secret, sizeof c->secret);
	explicit_bzero(c->rk, sizeof c->rk);
	explicit_bzero(c->first_rk, sizeof c->first_rk);
	free(c->purged);
	free(c->ordered);
	c->purged = c->ordered = NULL;
}

static void remember_purge(struct audit_check *c, struct audit_purge **list,
	size_t *count, uint64_t seq, uint64_t by)
{
	if (!*list)
		*list = calloc(AUDIT_PURGES, sizeof **list);
	if (!*list || *count == AUDIT_PURGES) {
		audit_find(c, AUDIT_TAMPER, "purged", NULL,
			"more expunged records than can be accounted for");
		return;
	}
	(*list)[(*count)++] = (struct audit_purge){.seq = seq, .by = by};
}

/* Takes the boot that a header or an event names. True when it is the one
 * before. */
static bool take_boot(struct audit_check *c, const struct cbor_item *id)
{
	if (!id || id->major != CBOR_BYTES || id->n != AUDIT_ID)
		return false;
	if (memcmp(id->bytes, c->boot_id, AUDIT_ID) == 0)
		return true;
	memcpy(c->boot_id, id->bytes, AUDIT_ID);
	c->boot = 0;
	return false;
}

static void check_event(struct audit_check *c, const struct audit_record *r)
{
	struct cbor_item value;

	if (audit_event_is(r, "boot"))
		take_boot(c, audit_detail(r, "id", &value));
	if (audit_event_is(r, "expunge") && audit_detail(r, "seq", &value) &&
		value.major == CBOR_UINT)
		remember_purge(c, &c->ordered, &c->ordered_count, value.n,
			r->seq);
}

static void check_times(struct audit_check *c, const struct audit_record *r)
{
	if (r->wall < c->wall)
		audit_find(c, AUDIT_NOTE, "clock", r,
			"the wall clock went back by %ju ms",
			(c->wall - r->wall) / 1000000);
	c->wall = r->wall;
	if (!audit_field(r, AUDIT_K_BOOT))
		return;
	if (r->boot < c->boot)
		audit_find(c, AUDIT_TAMPER, "clock", r,
			"the boot clock, which cannot, went back");
	c->boot = r->boot;
}

/* Records are missing before r, or at the end, and no record explains it. */
static void tell_gap(struct audit_check *c, const struct audit_record *r)
{
	if (c->gap)
		audit_find(c, AUDIT_TAMPER, "missing", r,
			"records %ju to %ju are missing, and nothing says why",
			c->gap_found, c->gap_expect - 1);
	c->gap = false;
}

/* Checks the record's place: next in order, or behind a gap. True when its link
 * must follow from the record before. */
static bool check_seq(struct audit_check *c, const struct audit_record *r)
{
	if (r->type != AUDIT_RECOVER)
		tell_gap(c, r);
	if (!c->started && r->seq) {
		c->prefix = true;
		c->prefix_last = r->seq - 1;
		return c->spined && r->seq == c->next;
	}
	if (r->seq == c->next)
		return true;
	c->agg_known = false;
	if (r->seq > c->next && r->type == AUDIT_HEADER) {
		c->gap = true;
		c->gap_expect = r->seq;
		c->gap_found = c->next;
		return false;
	}
	audit_find(c, AUDIT_TAMPER, r->seq > c->next ? "missing" : "order", r,
		r->seq > c->next
			? "record %ju where %ju must be: records are missing"
			: "record %ju where %ju must be: records are out of"
			  " order",
		r->seq, c->next);
	return false;
}

static void leaf_of(const struct audit_check *c, const struct audit_record *r,
	uint8_t leaf[static AUDIT_HASH])
{
	if (r->type == AUDIT_PURGED)
		memcpy(leaf, r->field[0].item.bytes, AUDIT_HASH);
	else
		keys_leaf(&c->hw, r->frame.body, r->frame.body_len, leaf);
}

static void tell_link(struct audit_check *c, const struct audit_record *r)
{
	audit_find(c, AUDIT_TAMPER, "link", r,
		"record %ju, or the one before it, was changed", r->seq);
}

/* If nothing follows a record in its segment, a cut link counts as a torn
 * record, except that the whole record is known. */
static bool cut_link(struct audit_check *c, const struct audit_record *r,
	const uint8_t *link)
{
	if (!audit_link_cut(r->frame.link, link))
		return false;
	c->torn = 1;
	while (!r->frame.link[AUDIT_HASH - 1 - c->torn])
		c->torn++;
	c->torn_segment = r->segment;
	c->torn_offset = r->offset + r->frame.len - c->torn;
	c->cut = true;
	return true;
}

/* Checks the link and, with the seed, the aggregate. The next record is checked
 * against the stored link, so that one change gives one finding. */
static void check_link(
	struct audit_check *c, const struct audit_record *r, bool follows)
{
	const struct cbor_item *prev = r->type == AUDIT_HEADER
		? audit_bytes(r, AUDIT_K_PREV)
		: NULL;
	uint8_t leaf[AUDIT_HASH], link[AUDIT_HASH];

	if (prev && prev->n == AUDIT_HASH) {
		if (follows && memcmp(prev->bytes, c->link, AUDIT_HASH) != 0)
			audit_find(c, AUDIT_TAMPER, "link", r,
				"the segment does not follow the one before");
		memcpy(c->link, prev->bytes, AUDIT_HASH);
		if (c->prefix && !c->started)
			memcpy(c->prefix_link, prev->bytes, AUDIT_HASH);
	} else if (r->type == AUDIT_HEADER && r->seq) {
		audit_find(c, AUDIT_TAMPER, "header", r,
			"a segment's header does not say what it follows");
	}
	leaf_of(c, r, leaf);
	keys_link(&c->hw, c->link, leaf, link);
	if ((follows || prev) && memcmp(link, r->frame.link, AUDIT_HASH) != 0) {
		if (cut_link(c, r, link)) {
			memcpy(c->link, link, AUDIT_HASH);
			return;
		}
		tell_link(c, r);
	}
	memcpy(c->link, r->frame.link, AUDIT_HASH);
}

static void tell_torn(
	struct audit_check *c, enum audit_level level, const char *so)
{
	const struct audit_record at = {.seq = c->next,
		.segment = c->torn_segment,
		.offset = c->torn_offset};

	audit_find(c, level, "torn", &at,
		"the segment ends in %ju bytes that are no record%s", c->torn,
		so);
	c->torn = 0;
}

/* Only a recover record right behind the header explains a segment that ended
 * within a record. */
static void check_torn(struct audit_check *c, const struct audit_record *r)
{
	if (!c->torn || r->type == AUDIT_HEADER)
		return;
	if (r->type == AUDIT_RECOVER)
		c->torn = 0;
	else
		tell_torn(c, AUDIT_TAMPER,
			", and nothing says why");
}

static void check_kind(struct audit_check *c, const struct audit_record *r)
{
	__attribute__((uninitialized)) struct audit_record whole;

	whole.frame = r->frame;
	if (c->segment_start && c->named && r->segment != r->seq)
		audit_find(c, AUDIT_TAMPER, "segment", r,
			"the segment's name is not its first record's number");
	if (c->segment_start && r->type != AUDIT_HEADER)
		audit_find(c, AUDIT_TAMPER, "header", r,
			"the segment begins without its header");
	if (!c->segment_start && c->named && r->type == AUDIT_HEADER)
		audit_find(c, AUDIT_TAMPER, "segment", r,
			"a segment within another: two were put together");
	switch (r->type) {
	case AUDIT_HEADER:
		c->same_boot = take_boot(c, audit_bytes(r, AUDIT_K_BOOT_ID));
		break;
	case AUDIT_CKPT:
		if (!c->trust->links_only)
			audit_check_ckpt(c, r);
		break;
	case AUDIT_EVENT:
		/* With links alone the body was not read, for speed. */
		if (!c->trust->links_only)
			check_event(c, r);
		else if (memmem(r->frame.body, r->frame.body_len, "expunge",
				 7) &&
			!audit_record_parse(&whole))
			check_event(c, &whole);
		break;
	case AUDIT_RECOVER:
		audit_check_recover(c, r);
		break;
	case AUDIT_PRUNED:
		audit_check_pruned(c, r);
		break;
	case AUDIT_PURGED:
		c->v->purged++;
		remember_purge(c, &c->purged, &c->purged_count, r->seq,
			r->field[1].item.n);
		break;
	default:
		break;
	}
}

void audit_check_anchor(struct audit_check *c, const struct audit_record *r)
{
	if (!c->trust->anchor_link || r->seq != c->trust->anchor_seq)
		return;
	if (memcmp(c->trust->anchor_link, r->frame.link, AUDIT_HASH) == 0) {
		c->anchor_spined = c->spined && !c->started;
		c->v->anchored = !c->anchor_spined;
		return;
	}
	c->anchor_failed = true;
	audit_find(c, AUDIT_TAMPER, "anchor", r,
		"record %ju is not the one that was anchored", r->seq);
}

/* A segment has no record only if everything in it was lost, and the next
 * header comes with the reason. */
static void check_hollow(struct audit_check *c, const struct audit_record *r)
{
	if (c->hollow && (c->started || !c->trust->from) &&
		(c->hollow > 1 || !c->gap || c->gap_found != c->hollow_first))
		audit_find(c, AUDIT_TAMPER, "segment", r,
			"segment %016jx%s without a record, and nothing says"
			" why",
			c->hollow_first,
			c->hollow > 1 ? " and others are" : " is");
	c->hollow = 0;
}

/* Checks what the keys and the form of the body tell. */
static void check_contents(struct audit_check *c, const struct audit_record *r)
{
	if (r->type == AUDIT_HEADER)
		audit_check_header(c, r);
	memcpy(c->prev_agg, c->agg, AUDIT_HASH);
	if (c->has_secret)
		keys_fold(&c->hw, c->rk, c->agg, c->link);
	if (r->type != AUDIT_PURGED &&
		cbor_check(r->frame.body, r->frame.body_len))
		audit_find(c, AUDIT_TAMPER, "cbor", r,
			"record %ju is not in deterministic form", r->seq);
}

void audit_check_hole(struct audit_check *c, bool lost)
{
	const struct audit_record at = {.seq = c->next,
		.segment = c->torn_segment,
		.offset = c->torn_offset};

	if (c->hole)
		audit_find(c, lost ? AUDIT_LOSS : AUDIT_TAMPER, "crc", &at,
			"%ju bytes are damaged; good records follow%s",
			c->hole,
			lost ? ", which were not on the disk either when the"
			       " machine went down"
			     : "");
	c->hole = 0;
}

void audit_check_record(struct audit_check *c, const struct audit_record *r)
{
	const bool links_only = c->trust->links_only;
	const bool follows = check_seq(c, r);

	check_hollow(c, r);
	if (c->cut && r->type != AUDIT_HEADER)
		tell_link(c, r);
	c->cut = false;
	check_torn(c, r);
	memcpy(c->prev_link, c->link, AUDIT_HASH);
	if (!c->started)
		c->v->first = r->seq;
	check_link(c, r, follows);
	c->v->records++;
	c->v->bytes += r->frame.len;
	c->v->last = r->seq;
	audit_check_anchor(c, r);
	if (!links_only)
		check_contents(c, r);
	check_kind(c, r);
	if (!links_only && r->type != AUDIT_PURGED)
		check_times(c, r);
	if (r->type != AUDIT_HEADER)
		audit_check_hole(c, false);
	c->started = true;
	c->segment_start = false;
	c->next = r->seq + 1;
}

void audit_check_other(
	struct audit_check *c, int got, const struct audit_damage *damage)
{
	struct audit_record at = {.seq = c->next,
		.segment = damage->segment,
		.offset = damage->offset};
	uint64_t bytes = damage->bytes;

	if (got == AUDIT_GOT_SEGMENT) {
		if (c->segment_start && c->v->segments && !c->hollow++)
			c->hollow_first = c->segment;
		c->segment = damage->segment;
		c->v->segments++;
		c->segment_start = true;
		return;
	}
	c->agg_known = false;
	if (c->hole)
		return;
	if (got == AUDIT_GOT_BAD)
		c->hole = bytes;
	else if (got == AUDIT_GOT_ALIEN)
		audit_find(c, AUDIT_TAMPER, "cbor", &at,
			"a record that cannot be read");
	else
		c->torn = bytes;
	c->torn_segment = damage->segment;
	c->torn_offset = damage->offset;
}

/* Checks that an event names every expunged record. */
static void check_purges(struct audit_check *c)
{
	for (size_t i = 0; i < c->purged_count; i++) {
		bool found = false;

		for (size_t k = 0; k < c->ordered_count && !found; k++)
			found = c->ordered[k].seq == c->purged[i].seq &&
				c->ordered[k].by == c->purged[i].by;
		if (!found)
			audit_find(c, AUDIT_TAMPER, "purged", NULL,
				"record %ju was taken out, and no event says "
				"so", c->purged[i].seq);
	}
}

/* "2031-05-06 07:08:09 UTC" */
static const char *put_date(char space[static 32], uint64_t wall)
{
	struct buf b = {.data = space, .cap = 32, .max = 31};
	const time_t t = (time_t)(wall / 1000000000);
	struct tm tm;

	if (gmtime_r(&t, &tm))
		buf_addf(&b, "%04d-%02d-%02d %02d:%02d:%02d UTC",
			tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
			tm.tm_hour, tm.tm_min, tm.tm_sec);
	return buf_str(&b);
}

static void tell_deleted(struct audit_check *c)
{
	char date[32];

	audit_find(c, AUDIT_NOTE, "pruned", NULL,
		"records 0 to %ju were lawfully deleted, the last of them on "
		"%s", c->v->first - 1, put_date(date, c->deleted_wall));
}

/* The anchored record is not in the segments. The spine proves that the log
 * itself deleted it, if it holds the record's body; a row of a pruned record is
 * only its writer's word, and as good as the key that signed it. */
static void settle_anchor(struct audit_check *c)
{
	const struct audit_trust *t = c->trust;
	const uint64_t seq = t->anchor_seq;
	const bool gone = c->started && t->anchor_seq < c->v->first &&
		c->deleted && t->anchor_seq <= c->deleted_last && !c->prefix;
	const bool proven = c->anchor_spined ||
		(c->anchor_rowed && (c->v->pinned || c->has_secret));
	char date[32];

	put_date(date, c->anchor_wall);
	if (gone && proven) {
		c->v->anchored = true;
		audit_find(c, AUDIT_NOTE, "anchor", NULL,
			"the anchor holds: record %ju and those before it were"
			" lawfully deleted on %s",
			seq, date);
	} else if (gone) {
		audit_find(c, AUDIT_LOSS, "anchor", NULL,
			"the anchored record, %ju, was deleted on %s, as the"
			" log says%s",
			seq, date,
			c->anchor_rowed ? "; its link is there, and --pubkey"
					  " would prove it"
					: ", which keeps no link of it to hold"
					  " the anchor against");
	} else {
		audit_find(c, AUDIT_TAMPER, "anchor", NULL,
			"the anchored record, %ju, is not in the log", seq);
	}
}

void audit_check_end(struct audit_check *c)
{
	const struct audit_trust *t = c->trust;

	if (!c->live)
		audit_check_hole(c, false);
	if (c->torn)
		tell_torn(c, AUDIT_LOSS,
			": a writer died; the next one will see to it");
	tell_gap(c, NULL);
	if (c->prefix && !t->from && !t->partial)
		audit_find(c, AUDIT_TAMPER, "missing", NULL,
			"the log begins at %ju, and no record says that what "
			"was before was deleted", c->prefix_last + 1);
	check_purges(c);
	if (c->deleted && c->started && c->v->first > c->prefix_last && !c->prefix)
		tell_deleted(c);
	if (t->anchor_link && !c->v->anchored && !c->anchor_failed &&
		!(t->from && c->started && t->anchor_seq < c->v->first))
		settle_anchor(c);
	c->v->ended = c->v->anchored && t->anchor_seq == c->v->last;
	memcpy(c->v->link, c->link, AUDIT_HASH);
	memcpy(c->v->log_id, c->log_id, AUDIT_ID);
	c->v->epochs = c->epoch;
	c->v->unsigned_from = c->epoch_first;
	c->v->seeded = c->has_secret && !c->agg_failed && c->agg_known;
}

int audit_check_all(
	struct audit_check *c, struct audit_reader *r, struct diag *d)
{
	struct audit_damage damage;
	struct audit_record rec;
	int got;

	r->crc = c->hw.crc;
	if (c->trust->links_only)
		r->deep = AUDIT_LINKS;
	while ((got = audit_next(r, &rec, &damage, d)) != AUDIT_GOT_END) {
		if (got < 0)
			return got;
		if (got == AUDIT_GOT_RECORD)
			audit_check_record(c, &rec);
		else
			audit_check_other(c, got, &damage);
	}
	return 0;
}

int audit_verify_reader(struct audit_reader *r, const struct audit_trust *trust,
	audit_report *report, void *state, struct audit_verdict *v,
	struct diag *d)
{
	autocheck struct audit_check c;
	int err;

	audit_check_begin(&c, trust, report, state, v);
	err = audit_check_all(&c, r, d);
	if (err)
		return err;
	if (!c.started)
		audit_find(&c, AUDIT_TAMPER, "empty", NULL,
			"there is no record");
	audit_check_end(&c);
	return 0;
}
