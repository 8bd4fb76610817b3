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
#include "log/audit_read_segments_in.h"
#include "log/audit_verify_in.h"
#include "base/str.h"

/* The head, and how long the live segment was at the same moment. */
struct snapshot {
	int dirfd;
	struct audit_head head;
	uint64_t size;
	bool there, good, unlocked;
	bool blank; /* nothing was ever written to the head */
	uint8_t boot_id[AUDIT_ID]; /* this boot's */
	bool rebooted; /* nobody wrote since the machine came up */
};

/* Writers hold the lock for microseconds; one that was stopped does not keep
 * us from looking. */
static bool lock_shared(int fd)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	for (int i = 0; i < 2000; i++) {
		if (!flock(fd, LOCK_SH | LOCK_NB))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

static int take_snapshot(
	const struct audit_check *c, int dirfd, struct snapshot *s, struct diag *d)
{
	autofd int fd = openat(dirfd, "head",
		O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint8_t raw[AUDIT_HEAD];
	char name[AUDIT_NAME];
	struct stat st;
	ssize_t got;

	*s = (struct snapshot){.dirfd = dirfd};
	if (fd < 0 && errno != ENOENT && errno != ELOOP)
		return diag_errno(d, -errno, "audit log: %s", "head");
	if (fd < 0)
		return 0;
	s->there = true;
	s->unlocked = !lock_shared(fd);
	got = pread(fd, raw, sizeof raw, 0);
	s->blank = !got;
	s->good = got == sizeof raw &&
		!audit_head_parse(&s->head, raw, c->hw.crc);
	explicit_bzero(raw, sizeof raw);
	if (!s->good)
		return 0;
	audit_boot_id(s->boot_id);
	s->rebooted = memcmp(s->head.boot_id, s->boot_id, AUDIT_ID) != 0;
	audit_segment_name(name, s->head.segment);
	if (!fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW))
		s->size = (uint64_t)st.st_size;
	return 0;
}

/* What the head is to sign with is what the log announced. */
static bool keys_fit(const struct audit_check *c, const struct audit_head *h)
{
	uint8_t pk[AUDIT_PK];

	return memcmp(h->log_id, c->log_id, AUDIT_ID) == 0 &&
		h->epoch == c->epoch &&
		(c->epoch_unsure || h->epoch_first == c->epoch_first) &&
		!keys_public(h->sk, pk) && memcmp(pk, c->pk, AUDIT_PK) == 0 &&
		(!c->has_secret || memcmp(h->enext, c->secret, AUDIT_HASH) == 0);
}

/* The head's word alone is none: records of this boot prove that the machine has
 * not gone down since. */
static bool went_down(const struct audit_check *c, const struct snapshot *s)
{
	return s->rebooted && memcmp(c->boot_id, s->boot_id, AUDIT_ID) != 0;
}

/* Of what was not yet on the disk a machine that goes down loses either: some
 * records, or what the head knew of them. */
static void tell_apart(struct audit_check *c, const struct snapshot *s)
{
	const bool less = c->next > s->head.next;
	const bool down = went_down(c, s) && (less || c->next >= s->head.synced);

	audit_find(c, !down ? AUDIT_TAMPER : less ? AUDIT_NOTE : AUDIT_LOSS,
		!down ? "head" : less ? "adopted" : "power", NULL,
		"the head knows of %llu record%s, the log holds %llu%s",
		(unsigned long long)s->head.next, str_plural(s->head.next),
		(unsigned long long)c->next,
		!down  ? ""
		: less ? ": the machine went down; the next writer will look"
			 " at them"
		       : ": the end was lost when the machine went down, or"
			 " cut off before; nothing here tells which");
}

static void check_head(struct audit_check *c, const struct snapshot *s)
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
	/* The next writer would take it for a loss. */
	if (h->end > s->size)
		audit_find(c, AUDIT_TAMPER, "head", NULL,
			"the head knows of %llu bytes in the last segment,"
			" there are %llu",
			(unsigned long long)h->end, (unsigned long long)s->size);
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
			"the records since %llu are not those that were"
			" written",
			(unsigned long long)c->epoch_first);
		c->agg_failed = true;
		c->v->seeded = false;
	}
}

/* What lies beyond the head's end: a record that was written and not yet
 * noted, or a part of one. */
static void check_beyond(struct audit_check *c, int dirfd,
	const struct snapshot *s, uint64_t limit)
{
	autobuf struct buf b = BUF_INIT(AUDIT_FRAME_MAX);
	char name[AUDIT_NAME];
	autofd int fd = -1;
	struct audit_intro in;
	struct audit_frame f;
	size_t at = 0;
	unsigned whole = 0;
	bool follows = true;

	if (!s->good || s->size <= limit)
		return;
	if (s->size - limit > AUDIT_FRAME_MAX) {
		audit_find(c, AUDIT_TAMPER, "head", NULL,
			"%llu bytes that the head knows nothing of",
			(unsigned long long)(s->size - limit));
		return;
	}
	audit_segment_name(name, s->head.segment);
	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || lseek(fd, (off_t)limit, SEEK_SET) < 0 ||
		buf_read_fd(&b, fd))
		return;
	if (b.len > s->size - limit)
		b.len = (size_t)(s->size - limit);
	while (at < b.len) {
		const uint8_t *p = (const uint8_t *)b.data + at;

		if (audit_frame_parse(&f, p, b.len - at) ||
			c->hw.crc(f.body, f.body_len) != f.crc)
			break;
		follows = follows &&
			audit_frame_follows(
				&f, &c->hw, c->next + whole, c->link, &in);
		at += f.len;
		whole++;
	}
	if (whole)
		/* One is what a kill leaves, and it is the next one. */
		audit_find(c,
			whole > 1 || !follows ? AUDIT_TAMPER : AUDIT_NOTE,
			"adopted", NULL,
			"behind what the head knows of: %u record%s, which the"
			" next writer will look at",
			whole, str_plural(whole));
	if (at < b.len)
		audit_find(c, AUDIT_LOSS, "torn", NULL,
			"the log ends in %zu bytes that are no record: a"
			" writer died; the next one will see to it",
			b.len - at);
}

/* A segment that the head does not know of. True: look no further. */
static bool beyond_live(struct audit_check *c, const struct audit_damage *at)
{
	const struct snapshot *s = c->live;
	const struct audit_record here = {
		.seq = at->segment, .segment = at->segment};
	char name[AUDIT_NAME];
	struct stat st = {0};
	struct snapshot now;

	if (!s->good || at->segment <= s->head.segment)
		return false;
	/* It may have come since. */
	if (!take_snapshot(c, s->dirfd, &now, NULL) && now.good &&
		now.head.segment >= at->segment)
		return true;
	audit_segment_name(name, at->segment);
	/* The machine may have lost what the head knew of the one before. */
	if ((at->segment <= s->head.next ||
		    (went_down(c, s) && at->segment <= c->next)) &&
		!fstatat(s->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) &&
		st.st_size <= AUDIT_ORPHAN_MAX)
		audit_find(c, AUDIT_NOTE, "orphan", &here,
			"a writer died as it began a segment");
	else
		audit_find(c, AUDIT_TAMPER, "segment", &here,
			"a segment that the head knows nothing of");
	return true;
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

	if (fd < 0)
		return errno == ENOENT
			? 0
			: diag_errno(d, -errno, "audit log: %s", "spine");
	/* What has no end is not read. */
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return diag_fail(d, -EPERM, "audit log: %s is no regular file",
			"spine");
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
		if (rec.type == AUDIT_HEADER) {
			audit_check_header(c, &rec);
		} else if (rec.type == AUDIT_CKPT) {
			/* What was between is in the checkpoint. */
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

int audit_verify_dir(int dirfd, const struct audit_trust *trust,
	audit_report *report, void *state, struct audit_verdict *v,
	struct diag *d)
{
	autocheck struct audit_check c;
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	autofree uint64_t *firsts = NULL;
	struct snapshot s;
	uint64_t limit;
	int err, n;

	audit_check_begin(&c, trust, report, state, v);
	c.named = true;
	err = take_snapshot(&c, dirfd, &s, d);
	if (!err)
		err = audit_reader_dir(&r, dirfd, trust->from, d);
	if (err)
		return err;
	c.live = &s;
	limit = s.rebooted ? s.size : s.head.end;
	if (s.good)
		audit_reader_limit(&r, s.head.segment, limit);
	if (s.unlocked)
		audit_find(&c, AUDIT_NOTE, "lock", NULL,
			"a writer holds the log and does not let go");
	n = audit_segments(dirfd, &firsts, d);
	if (n < 0)
		return n;
	if (!n && !s.there)
		return diag_fail(d, -ENODATA, "there is no log here");
	if (n && firsts[0] && !trust->from && !trust->links_only)
		err = audit_check_spine(&c, dirfd, firsts[0], d);
	if (!err)
		err = audit_check_all(&c, &r, beyond_live, d);
	if (err)
		return err;
	audit_check_end(&c);
	audit_check_hole(&c, s.good && went_down(&c, &s) &&
			c.next >= s.head.synced);
	if (!trust->links_only)
		check_head(&c, &s);
	check_beyond(&c, dirfd, &s, limit);
	explicit_bzero(&s, sizeof s);
	return 0;
}
