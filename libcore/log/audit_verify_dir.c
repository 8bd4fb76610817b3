/* audit_verify_dir.c - a log with its head and its spine
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log/audit_place.h"
#include "log/audit_extent_in.h"
#include "log/audit_verify_in.h"
#include "base/str.h"

/* Does the head sign with the key that the log announced? */
static bool keys_fit(const struct audit_check *c, const struct audit_head *h)
{
	uint8_t pk[AUDIT_PK];

	return memcmp(h->log_id, c->log_id, AUDIT_ID) == 0 &&
		h->epoch == c->epoch &&
		(c->epoch_unsure || h->epoch_first == c->epoch_first) &&
		!keys_public(h->sk, pk) && memcmp(pk, c->pk, AUDIT_PK) == 0 &&
		(!c->has_secret || memcmp(h->enext, c->secret, AUDIT_HASH) == 0);
}

/* Did the machine go down? The head's word is not enough: records of this boot
 * prove that it did not. */
static bool went_down(const struct audit_check *c, const struct audit_extent *s)
{
	return s->rebooted && memcmp(c->boot_id, s->boot_id, AUDIT_ID) != 0;
}

/* A machine that goes down loses, of what was not on the disk yet, either
 * records or the head's knowledge of them. */
static void tell_apart(struct audit_check *c, const struct audit_extent *s)
{
	const bool less = c->next > s->head.next;
	const bool down = went_down(c, s) && (less || c->next >= s->head.synced);

	audit_find(c, !down ? AUDIT_TAMPER : less ? AUDIT_NOTE : AUDIT_LOSS,
		!down ? "head" : less ? "adopted" : "power", NULL,
		"the head knows of %ju record%s, the log holds %ju%s",
		s->head.next, str_plural(s->head.next),
		c->next,
		!down  ? ""
		: less ? ": the machine went down; the next writer will look"
			 " at them"
		       : ": the end was lost when the machine went down, or"
			 " cut off before; nothing here tells which");
}

static void check_head(struct audit_check *c, const struct audit_extent *s)
{
	const struct audit_head *h = &s->head;

	if (s->blank && c->next <= 1) {
		audit_find(c, AUDIT_NOTE, "head", NULL,
			"a writer died as it began the log");
		return;
	}
	if (!s->good) {
		audit_find(c, AUDIT_TAMPER, "head", NULL,
			s->there ? "the head is broken"
				 : "the head is missing");
		return;
	}
	if (h->next != c->next) {
		tell_apart(c, s);
		return;
	}
	if (memcmp(h->link, c->link, AUDIT_HASH) != 0 ||
		(c->cut && !went_down(c, s))) {
		audit_find(c, AUDIT_TAMPER, "head", NULL,
			"the last record is not the one the head knows of");
		return;
	}
	c->v->ended = true;
	/* The next writer would take this for a loss. */
	if (h->end > s->size)
		audit_find(c, AUDIT_TAMPER, "head", NULL,
			"the head knows of %ju bytes in the last segment, "
			"there are %ju", h->end, s->size);
	if (memcmp(h->pin, c->v->pin, AUDIT_HASH) != 0 && !c->trust->from)
		audit_find(c, AUDIT_TAMPER, "identity", NULL,
			"the head is of another log");
	if (!keys_fit(c, h))
		audit_find(c, AUDIT_TAMPER, "head", NULL,
			"the head's keys are not those that the log announced:"
			" what it signs next would be by nobody");
	if (!c->has_secret || !c->agg_known)
		return;
	if (memcmp(h->agg, c->agg, AUDIT_HASH) != 0 ||
		memcmp(h->rk, c->rk, AUDIT_HASH) != 0) {
		audit_find(c, AUDIT_TAMPER, "aggregate", NULL,
			"the records since %ju are not those that were written",
			c->epoch_first);
		c->agg_failed = true;
		c->v->seeded = false;
	}
}

/* A header and a checkpoint name the record before them, so that a kept one
 * proves its own link, which may be an anchor. */
static void check_kept(struct audit_check *c, const struct audit_record *r)
{
	const struct cbor_item *item = audit_bytes(
		r, r->type == AUDIT_HEADER ? AUDIT_K_PREV : AUDIT_K_PAYLOAD);
	static const uint8_t none[AUDIT_HASH];
	struct audit_payload p = {0};
	const uint8_t *prev = r->seq ? NULL : none;
	uint8_t leaf[AUDIT_HASH], link[AUDIT_HASH];

	if (r->type == AUDIT_HEADER && item && item->n == AUDIT_HASH)
		prev = item->bytes;
	else if (r->type == AUDIT_CKPT && item &&
		!audit_payload_parse(&p, item->bytes, (size_t)item->n))
		prev = p.link;
	keys_leaf(&c->hw, r->frame.body, r->frame.body_len, leaf);
	if (prev)
		keys_link(&c->hw, prev, leaf, link);
	if (!prev || memcmp(link, r->frame.link, AUDIT_HASH) != 0)
		audit_find(c, AUDIT_TAMPER, "spine", r,
			"record %ju of the spine was changed", r->seq);
}

__attribute__((noinline)) int audit_check_spine(
	struct audit_check *c, int dirfd, uint64_t before, struct diag *d)
{
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	struct audit_damage damage;
	struct audit_record rec;
	struct stat st;
	int got, fd = openat(dirfd, "spine",
		O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	/* A file without an end is not read; it is reported as a stray. */
	if (fd < 0)
		return errno == ENOENT || errno == ELOOP || errno == ENXIO
			? 0
			: diag_errno(d, -errno, "audit log: %s", "spine");
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	got = audit_reader_fds(&r, &fd, 1, d);
	c->spined = !got;
	while (!got && (got = audit_next(&r, &rec, &damage, d)) > 0) {
		const bool record = got == AUDIT_GOT_RECORD;

		if (got != AUDIT_GOT_SEGMENT && !record)
			audit_check_other(c, got, &damage);
		got = 0;
		if (!record)
			continue;
		if (rec.seq >= before)
			break;
		check_kept(c, &rec);
		audit_check_anchor(c, &rec);
		if (rec.type == AUDIT_HEADER) {
			audit_check_header(c, &rec);
		} else if (rec.type == AUDIT_CKPT) {
			/* The checkpoint includes the records between. */
			c->agg_known = false;
			audit_check_ckpt(c, &rec);
		}
		memcpy(c->link, rec.frame.link, AUDIT_HASH);
		c->next = rec.seq + 1;
	}
	if (c->next != before)
		c->agg_known = false;
	return got;
}

/* If pin, seed or anchor is given, an empty directory means that the log was
 * taken away. */
static int verify_nothing(struct audit_check *c, struct diag *d)
{
	const struct audit_trust *t = c->trust;

	if (!t->pin && !t->seed && !t->anchor_link)
		return diag_fail(d, -ENODATA, "there is no log here");
	audit_find(c, AUDIT_TAMPER, "empty", NULL,
		"there is no record: the log was emptied, or is elsewhere");
	return 0;
}

int audit_verify_dir(int dirfd, const struct audit_trust *trust,
	audit_report *report, void *state, struct audit_verdict *v,
	struct diag *d)
{
	autocheck struct audit_check c;
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	autoextent struct audit_extent e = AUDIT_EXTENT_INIT;
	uint64_t first;
	int err;

	audit_check_begin(&c, trust, report, state, v);
	c.named = true;
	err = audit_extent_take(&e, dirfd, c.hw.crc, d);
	if (err)
		return err;
	if (!e.count && !e.there)
		return verify_nothing(&c, d);
	first = e.count ? e.firsts[0] : 0;
	c.live = &e;
	err = audit_reader_extent(&r, dirfd, &e, trust->from, d);
	if (e.unlocked)
		audit_find(&c, AUDIT_NOTE, "lock", NULL,
			"a writer holds the log and does not let go");
	if (!err && first && !trust->from && !trust->links_only)
		err = audit_check_spine(&c, dirfd, first, d);
	if (!err)
		err = audit_check_all(&c, &r, d);
	if (err)
		return err;
	audit_check_end(&c);
	audit_check_hole(&c, e.good && went_down(&c, &e) &&
			c.next >= e.head.synced);
	if (!trust->links_only)
		check_head(&c, &e);
	return audit_check_files(&c, dirfd, &e, went_down(&c, &e), d);
}
