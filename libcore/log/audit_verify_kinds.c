/* audit_verify_kinds.c - headers, checkpoints, losses: what they must say
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "log/audit_verify_in.h"
#include "base/str.h"

static const uint8_t *bytes_of(
	const struct audit_record *r, enum audit_key key, size_t n)
{
	const struct cbor_item *item = audit_bytes(r, key);

	return item && item->n == n ? item->bytes : NULL;
}

/* Turns to the keys of the next epoch; sk is its signing key. */
static void turn_secret(struct audit_check *c, uint8_t sk[static AUDIT_HASH])
{
	keys_epoch(&c->hw, c->secret, c->rk, sk, c->secret);
	memcpy(c->first_rk, c->rk, AUDIT_HASH);
}

void audit_check_identity(struct audit_check *c, const uint8_t *pk,
	const uint8_t *log_id, const struct audit_record *r)
{
	const struct audit_trust *t = c->trust;

	memcpy(c->pk, pk, AUDIT_PK);
	memcpy(c->log_id, log_id, AUDIT_ID);
	c->has_pk = true;
	keys_hash2(&c->hw, pk, AUDIT_PK, "", 0, c->v->pin);
	if (t->pin) {
		c->v->pinned = memcmp(t->pin, c->v->pin, AUDIT_HASH) == 0;
		if (!c->v->pinned)
			audit_find(c, AUDIT_TAMPER, "identity", r,
				"this is another log: its first key is not the"
				" one that was pinned");
	}
	if (!t->seed)
		return;
	keys_first(&c->hw, log_id, t->seed, c->secret);
	turn_secret(c, (uint8_t[AUDIT_HASH]){0});
	c->has_secret = c->agg_known = true;
}

/* May a checkpoint be missing here: lost, or before the spine begins? */
static bool may_lack_one(const struct audit_check *c)
{
	return c->gap || (c->spined && !c->started);
}

/* When the machine went down a checkpoint may be lost while the head knows the
 * next key already. Only the seed proves that this key is the log's own. */
static bool seed_knows(struct audit_check *c, const struct audit_record *r,
	const uint8_t *pk)
{
	enum { LOST_MAX = 64 };
	const uint64_t epoch = audit_uint(r, AUDIT_K_EPOCH, 0);
	uint8_t sk[AUDIT_HASH], own[AUDIT_PK];
	bool known;

	/* Signatures reach the disk one by one. */
	if (!c->has_secret || !may_lack_one(c) || epoch <= c->epoch ||
		epoch - c->epoch > LOST_MAX)
		return false;
	for (uint64_t i = c->epoch; i < epoch; i++)
		turn_secret(c, sk);
	known = !keys_public(sk, own) && memcmp(pk, own, AUDIT_PK) == 0;
	explicit_bzero(sk, sizeof sk);
	return known;
}

static void check_continues(struct audit_check *c, const struct audit_record *r,
	const uint8_t *pk, const uint8_t *log_id)
{
	if (memcmp(pk, c->pk, AUDIT_PK) != 0) {
		if (!seed_knows(c, r, pk)) {
			audit_find(c, AUDIT_TAMPER, "key", r,
				may_lack_one(c)
				       ? "another key begins here: what announced it"
					 " is lost, or it is a forger's; only the"
					 " seed can tell"
				       : "another key begins here, signed by"
					 " nothing: the head was lost, or this is"
					 " another log");
			c->agg_failed = true;
			c->v->pinned = false;
			c->has_secret = false;
		}
		memcpy(c->pk, pk, AUDIT_PK);
		c->epoch = audit_uint(r, AUDIT_K_EPOCH, c->epoch);
		c->epoch_first = r->seq;
		c->epoch_unsure = may_lack_one(c);
	} else if (audit_uint(r, AUDIT_K_EPOCH, 0) != c->epoch) {
		audit_find(c, AUDIT_TAMPER, "epoch", r,
			"the header is of epoch %ju, the log of %ju",
			audit_uint(r, AUDIT_K_EPOCH, 0), c->epoch);
	}
	if (memcmp(log_id, c->log_id, AUDIT_ID) != 0)
		audit_find(c, AUDIT_TAMPER, "identity", r,
			"the segment is of another log");
}

void audit_check_header(struct audit_check *c, const struct audit_record *r)
{
	const uint8_t *pk = bytes_of(r, AUDIT_K_PK, AUDIT_PK);
	const uint8_t *log_id = bytes_of(r, AUDIT_K_LOG, AUDIT_ID);

	if (!pk || !log_id) {
		audit_find(c, AUDIT_TAMPER, "header", r,
			"a header without key or log id");
		return;
	}
	if (audit_uint(r, AUDIT_K_FMT, 0) != AUDIT_FMT ||
		audit_uint(r, AUDIT_K_INCOMPAT, 0))
		audit_find(c, AUDIT_TAMPER, "format", r,
			"format %ju, incompatible bits %jx: not known here",
			audit_uint(r, AUDIT_K_FMT, 0),
			audit_uint(r, AUDIT_K_INCOMPAT, 0));
	if (c->has_pk) {
		check_continues(c, r, pk, log_id);
		return;
	}
	c->epoch = audit_uint(r, AUDIT_K_EPOCH, 0);
	c->epoch_first = r->seq;
	if (!r->seq) {
		audit_check_identity(c, pk, log_id, r);
		return;
	}
	memcpy(c->pk, pk, AUDIT_PK);
	memcpy(c->log_id, log_id, AUDIT_ID);
	c->has_pk = c->epoch_unsure = true;
	if (!c->trust->from && !c->trust->partial)
		audit_find(c, AUDIT_TAMPER, "key", r,
			"the log begins at %ju, and the spine, which would tie "
			"its key to the first one, is not there", r->seq);
}

int audit_payload_parse(struct audit_payload *p, const uint8_t *bytes, size_t n)
{
	struct cbor_in in = {.p = bytes, .end = bytes + n};
	uint64_t *numbers[] = {[AUDIT_CP_EPOCH] = &p->epoch,
		[AUDIT_CP_FIRST] = &p->first,
		[AUDIT_CP_LAST] = &p->last,
		[AUDIT_CP_WALL] = &p->wall};
	const uint8_t **hashes[] = {[AUDIT_CP_LINK] = &p->link,
		[AUDIT_CP_AGG] = &p->agg,
		[AUDIT_CP_NEXT] = &p->next};
	struct cbor_item item;

	if (cbor_check(bytes, n) || cbor_next(&in, &item) ||
		item.major != CBOR_MAP || item.n <= AUDIT_CP_WALL)
		return -EBADMSG;
	for (uint64_t key = 0; key <= AUDIT_CP_WALL; key++) {
		const bool hash =
			key >= AUDIT_CP_LINK && key <= AUDIT_CP_NEXT;
		const size_t size =
			key == AUDIT_CP_NEXT ? AUDIT_PK : AUDIT_HASH;

		if (cbor_next(&in, &item) || item.major != CBOR_UINT ||
			item.n != key || cbor_next(&in, &item))
			return -EBADMSG;
		if (item.major != (hash ? CBOR_BYTES : CBOR_UINT) ||
			(hash && item.n != size))
			return -EBADMSG;
		if (hash)
			*hashes[key] = item.bytes;
		else
			*numbers[key] = item.n;
	}
	return 0;
}

void audit_check_turn(
	struct audit_check *c, const struct audit_payload *p, uint64_t first)
{
	memcpy(c->pk, p->next, AUDIT_PK);
	c->epoch = p->epoch + 1;
	c->epoch_first = first;
	if (c->has_secret)
		turn_secret(c, (uint8_t[AUDIT_HASH]){0});
}

/* After a loss the checkpoint's own statement counts, also about the first
 * record of its epoch, and what follows is checked again. */
static void resume_aggregate(struct audit_check *c,
	const struct audit_record *r, const struct audit_payload *p)
{
	/* Of the whole log, because a forger may state any first record in each
	 * of many checkpoints. */
	enum { SKIP_MAX = 1 << 22 };
	uint64_t n = r->seq - p->first;

	c->has_secret = n <= SKIP_MAX - c->skipped;
	c->skipped += c->has_secret ? n : 0;
	while (c->has_secret && n--)
		keys_fold(&c->hw, c->first_rk, c->agg, c->link);
	memcpy(c->agg, p->agg, AUDIT_HASH);
	keys_fold(&c->hw, c->first_rk, c->agg, r->frame.link);
	c->agg_known = c->has_secret;
}

static void check_aggregate(struct audit_check *c, const struct audit_record *r,
	const struct audit_payload *p)
{
	if (!c->has_secret)
		return;
	if (!c->agg_known) {
		resume_aggregate(c, r, p);
	} else if (memcmp(p->agg, c->prev_agg, AUDIT_HASH) != 0) {
		audit_find(c, AUDIT_TAMPER, "aggregate", r,
			"epoch %ju: the records are not those that were "
			"written", c->epoch);
		c->agg_failed = true;
	}
}

static void check_range(struct audit_check *c, const struct audit_record *r,
	const struct audit_payload *p)
{
	bool first_fits = p->first == c->epoch_first;

	/* In a log that is read from its middle, the first epoch may have begun
	 * before. */
	if (c->epoch_unsure)
		first_fits = p->first <= c->epoch_first;
	c->epoch_unsure = false;
	if (p->epoch != c->epoch || !first_fits || p->last + 1 != r->seq)
		audit_find(c, AUDIT_TAMPER, "checkpoint", r,
			"epoch %ju: the checkpoint is for other records",
			c->epoch);
}

void audit_check_ckpt(struct audit_check *c, const struct audit_record *r)
{
	const struct cbor_item *payload = audit_bytes(r, AUDIT_K_PAYLOAD);
	const uint8_t *sig = bytes_of(r, AUDIT_K_SIGNATURE, AUDIT_SIG);
	const uint8_t *prot = bytes_of(r, AUDIT_K_PROTECTED, AUDIT_PROTECTED);
	struct audit_payload p = {0};
	uint8_t hash[AUDIT_HASH];

	if (!payload || !sig || !prot || !c->has_pk ||
		audit_payload_parse(&p, payload->bytes, (size_t)payload->n)) {
		audit_find(c, AUDIT_TAMPER, "checkpoint", r,
			"a checkpoint that cannot be read");
		return;
	}
	audit_sig_hash(&c->hw, payload->bytes, (size_t)payload->n, hash);
	if (memcmp(prot, audit_protected, AUDIT_PROTECTED) != 0 ||
		keys_verify(c->pk, hash, sig)) {
		audit_find(c, AUDIT_TAMPER, "signature", r,
			"epoch %ju: the signature is not by its key", c->epoch);
		c->v->pinned = false;
	}
	check_range(c, r, &p);
	if (c->spined && !c->started) {
		/* The spine holds only records of its own kinds. */
	} else if (memcmp(p.link, c->prev_link, AUDIT_HASH) != 0) {
		audit_find(c, AUDIT_TAMPER, "checkpoint", r,
			"epoch %ju: the records are not those that were signed",
			c->epoch);
	}
	check_aggregate(c, r, &p);
	audit_check_turn(c, &p, r->seq + 1);
}

static void explain_gap(struct audit_check *c, const struct audit_record *r,
	uint64_t why, uint64_t expect, uint64_t found)
{
	const uint64_t lost = expect - found;

	if (expect != c->gap_expect || found != c->gap_found) {
		audit_find(c, AUDIT_TAMPER, "missing", r,
			"records %ju to %ju are missing, the log says %ju to "
			"%ju", c->gap_found, c->gap_expect - 1, found,
			expect - 1);
	} else if (why == AUDIT_WHY_POWER && !c->same_boot) {
		audit_check_hole(c, true);
		audit_find(c, AUDIT_LOSS, "power", r,
			"lost: %ju record%s from %ju on, when the machine went "
			"down, or cut off before", lost, str_plural(lost),
			found);
	} else {
		audit_find(c, AUDIT_TAMPER, "missing", r,
			"gone: %ju record%s from %ju on, while the machine ran",
			lost, str_plural(lost), found);
	}
}

void audit_check_recover(struct audit_check *c, const struct audit_record *r)
{
	uint64_t n[4] = {0};
	const bool gap = c->gap;

	c->gap = false;
	if (audit_lost_numbers(r, n)) {
		audit_find(c, AUDIT_TAMPER, "recover", r,
			"a recover record that cannot be read");
		return;
	}
	if (gap && n[0] != AUDIT_WHY_HEAD) {
		explain_gap(c, r, n[0], n[1], n[2]);
		return;
	}
	switch (n[0]) {
	case AUDIT_WHY_ADOPTED:
		audit_find(c, AUDIT_NOTE, "adopted", r,
			"the head did not know of the %ju record%s before",
			n[2] - n[1], str_plural(n[2] - n[1]));
		break;
	case AUDIT_WHY_TORN:
		audit_find(c, AUDIT_LOSS, "torn", r,
			"a writer died within a record: cut off, %ju byte%s",
			n[3], str_plural(n[3]));
		break;
	case AUDIT_WHY_IO:
		audit_find(c, AUDIT_LOSS, "io", r,
			"the disk failed to keep what was written before");
		break;
	case AUDIT_WHY_POWER:
		audit_check_hole(c, !c->same_boot);
		audit_find(c, AUDIT_LOSS, "power", r,
			"the end of the log was cut when the machine went"
			" down");
		break;
	case AUDIT_WHY_HEAD:
		audit_find(c, AUDIT_TAMPER, "head", r,
			"the head was missing or broken; the log began anew");
		break;
	default:
		audit_find(c, AUDIT_TAMPER,
			n[0] == AUDIT_WHY_CORRUPT ? "corrupt" : "missing", r,
			"a writer found the log damaged at record %ju", n[1]);
	}
}

/* Notes a row of a pruned record, whose first record is always 0. */
static void note_row(struct audit_check *c, uint64_t wall, uint64_t last,
	const uint8_t *link)
{
	const struct audit_trust *t = c->trust;

	if (c->prefix && last == c->prefix_last &&
		memcmp(link, c->prefix_link, AUDIT_HASH) == 0)
		c->prefix = false;
	if (t->anchor_link && t->anchor_seq <= last && !c->anchor_wall)
		c->anchor_wall = wall;
	if (t->anchor_link && t->anchor_seq == last &&
		memcmp(link, t->anchor_link, AUDIT_HASH) == 0)
		c->anchor_rowed = true;
	if (!c->deleted || last > c->deleted_last)
		c->deleted_last = last;
	c->deleted_wall = wall;
	c->deleted = true;
}

/* [first, last, link]: one row must be what was before our first record. */
void audit_check_pruned(struct audit_check *c, const struct audit_record *r)
{
	const struct audit_field *f = audit_field(r, AUDIT_K_PRUNED);
	struct cbor_item list, row, first, last, link;
	struct cbor_in in;

	if (!f)
		return;
	in = (struct cbor_in){.p = f->raw, .end = f->raw + f->raw_len};
	if (cbor_next(&in, &list) || list.major != CBOR_ARRAY)
		return;
	while (list.n-- && !cbor_next(&in, &row) && row.major == CBOR_ARRAY &&
		row.n == 3 && !cbor_next(&in, &first) &&
		!cbor_next(&in, &last) && !cbor_next(&in, &link))
		if (first.major == CBOR_UINT && !first.n &&
			last.major == CBOR_UINT && link.major == CBOR_BYTES &&
			link.n == AUDIT_HASH)
			note_row(c, r->wall, last.n, link.bytes);
}
