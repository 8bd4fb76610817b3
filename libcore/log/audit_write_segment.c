/* audit_write_segment.c - the files of the log: opened and begun
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "log/audit_write.h"
#include "log/audit_write_in.h"
#include "base/cbor.h"
#include "base/str.h"

int audit_file_open(const struct audit_log *log, const char *name, int flags,
	struct diag *d)
{
	autofd int fd = openat(log->dirfd, name,
		flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
			O_NOATIME,
		0600);
	const char *why = NULL;
	struct stat st;

	if (fd < 0)
		return diag_errno(d, -errno, "audit log: cannot open %s", name);
	if (fstat(fd, &st))
		return diag_errno(d, -errno, "audit log: %s", name);
	if (!S_ISREG(st.st_mode))
		why = "is no regular file";
	else if (st.st_uid != log->uid)
		why = "is owned by someone else";
	else if (st.st_mode & 077)
		why = "is open to others";
	else if (st.st_nlink > 1)
		why = "has a second name";
	if (!why)
		return fd_steal(&fd);
	diag_fail(d, -EPERM, "audit log: %s %s (uid %u, mode %04o)", name, why,
		st.st_uid, st.st_mode & 07777u);
	diag_hint(d, "move it away; nothing runs while it is there");
	return -EPERM;
}

int audit_file_size(int fd, uint64_t *size, uint64_t *held, uint32_t *links,
	struct diag *d)
{
	enum { SIZE = 0x200, BLOCKS = 0x400, LINKS = 4, EMPTY_PATH = 0x1000 };
	/* The needed part of the kernel's struct statx. */
	__attribute__((uninitialized)) struct {
		uint32_t mask, block;
		uint64_t attributes;
		uint32_t links, uid, gid, mode;
		uint64_t ino, size, blocks, rest[25];
	} x;
	struct stat st;

	if (!syscall(SYS_statx, fd, "", EMPTY_PATH,
		    SIZE | BLOCKS | LINKS, &x) &&
		(x.mask & (SIZE | LINKS)) == (SIZE | LINKS)) {
		*size = x.size;
		*held = x.mask & BLOCKS ? x.blocks * 512 : 0;
		*links = x.links;
		return 0;
	}
	if (fstat(fd, &st))
		return diag_errno(d, -errno, "audit log");
	*size = (uint64_t)st.st_size;
	*held = (uint64_t)st.st_blocks * 512;
	*links = (uint32_t)st.st_nlink;
	return 0;
}

int audit_segment_open(
	struct audit_log *log, const struct audit_head *h, struct diag *d)
{
	char name[AUDIT_NAME];

	if (log->segfd >= 0 && log->segment == h->segment)
		return 0;
	if (log->segfd >= 0)
		close(log->segfd);
	audit_segment_name(name, h->segment);
	log->segfd = audit_file_open(log, name, O_RDWR | O_APPEND, d);
	log->segment = h->segment;
	return log->segfd < 0 ? log->segfd : 0;
}

static int no_room(const struct audit_log *log, uint64_t want, struct diag *d)
{
	struct statvfs fs = {0};

	(void)fstatvfs(log->dirfd, &fs);
	diag_fail(d, -ENOSPC,
		"cannot write to the audit log: No space left: it keeps %ju "
		"KiB for the ends of commands, of %ju KiB that its disk has "
		"left", want >> 10, (fs.f_bavail * fs.f_frsize) >> 10);
	diag_hint(d, "nothing runs unrecorded: make room, or raise the quota");
	return -ENOSPC;
}

int audit_keep_room(
	struct audit_log *log, const struct audit_head *h, bool start,
	struct diag *d)
{
	enum { ROOM = 64 << 10 };

	if (log->held >= h->end + (start ? ROOM : ROOM / 2))
		return 0;
	if (!fallocate(log->segfd, FALLOC_FL_KEEP_SIZE, (off_t)h->end,
		    2 * ROOM) ||
		(errno != ENOSPC && errno != EDQUOT))
		return 0;
	return no_room(log, 2 * ROOM, d);
}

/* Gives back the room that was kept for the ends of commands. */
static void give_room_back(const struct audit_log *log)
{
	struct stat st;

	if (!fstat(log->segfd, &st))
		(void)!ftruncate(log->segfd, st.st_size);
}

/* Removes segments of writers that died between making one and telling the
 * head. The log went on in the live one, and is now beyond their first seq. */
static void remove_orphans(const struct audit_log *log, const struct audit_head *h)
{
	autofree uint64_t *firsts = NULL;
	int n = audit_segments(log->dirfd, &firsts, NULL);
	char name[AUDIT_NAME];
	struct stat st;

	while (n-- > 0 && firsts[n] > h->segment) {
		audit_segment_name(name, firsts[n]);
		if (firsts[n] < h->next &&
			!fstatat(log->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) &&
			st.st_size <= AUDIT_ORPHAN_MAX)
			unlinkat(log->dirfd, name, 0);
	}
}

/* Uses a segment of that name which the head does not know: its writer died
 * before telling the head. Its header, all that it can hold, is written
 * again. */
static int reuse_orphan(const struct audit_log *log, const char *name,
	struct diag *d)
{
	autofd int fd = audit_file_open(log, name, O_RDWR | O_APPEND, d);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return diag_errno(d, -errno, "audit log: %s", name);
	if (st.st_size > AUDIT_ORPHAN_MAX) {
		diag_fail(d, -EEXIST,
			"audit log: %s holds records the head knows nothing of",
			name);
		diag_hint(d, "move it away as evidence: nothing runs while it"
			     " is there");
		return -EEXIST;
	}
	if (ftruncate(fd, 0))
		return diag_errno(d, -errno, "audit log: %s", name);
	return fd_steal(&fd);
}

static int put_header(struct audit_log *log, struct audit_head *h, bool first,
	struct diag *d)
{
	autorec struct audit_rec r = AUDIT_REC(log, AUDIT_HEADER);
	uint8_t pk[AUDIT_PK];
	struct utsname host;
	int err = keys_public(h->sk, pk);

	if (err)
		return diag_fail(d, err, "audit log: its key is unusable");
	cbor_put_bytes(audit_rec_key(&r, AUDIT_K_PK), pk, sizeof pk);
	cbor_put_bytes(audit_rec_key(&r, AUDIT_K_LOG), h->log_id, AUDIT_ID);
	if (!first)
		cbor_put_bytes(audit_rec_key(&r, AUDIT_K_PREV), h->link,
			AUDIT_HASH);
	cbor_put_uint(audit_rec_key(&r, AUDIT_K_FMT), AUDIT_FMT);
	cbor_put_bytes(
		audit_rec_key(&r, AUDIT_K_BOOT_ID), log->boot_id, AUDIT_ID);
	if (!uname(&host))
		audit_rec_text(&r, AUDIT_K_HOST, host.nodename);
	cbor_put_uint(audit_rec_key(&r, AUDIT_K_EPOCH), h->epoch);
	return audit_put_untold(log, h, &r, d);
}

/* Writes the segment's beginning, and then the head that knows of it. */
static int put_beginning(struct audit_log *log, struct audit_head *h, bool first,
	const struct audit_rec *why, struct diag *d)
{
	const bool sync = log->cfg.sync != AUDIT_SYNC_NONE;
	int err = put_header(log, h, first, d);

	if (!err && why)
		err = audit_put_untold(log, h, why, d);
	if (!err && sync) {
		fdatasync(log->segfd);
		fsync(log->dirfd);
	}
	if (!err)
		err = audit_head_write(log, h, d);
	if (!err && sync)
		fdatasync(log->headfd);
	return err;
}

int audit_segment_begin(struct audit_log *log, struct audit_head *h,
	const struct audit_rec *why, struct diag *d)
{
	const bool first = h->next == 0;
	char name[AUDIT_NAME];
	int err = 0, fd;

	/* After a failed segment there is nothing to sync: log->segfd is the
	 * one before, or none. A record that was signed may be one whose writer
	 * died before it was synced. */
	if (log->segfd >= 0) {
		err = audit_put_checkpoint(log, h, d);
		if (!err && log->cfg.sync != AUDIT_SYNC_NONE)
			fdatasync(log->segfd);
	}
	if (err)
		return err;
	audit_segment_name(name, h->next);
	fd = audit_file_open(
		log, name, O_RDWR | O_APPEND | O_CREAT | O_EXCL, d);
	if (fd == -EEXIST)
		fd = reuse_orphan(log, name, d);
	if (fd < 0)
		return fd;
	remove_orphans(log, h);
	if (log->segfd >= 0) {
		give_room_back(log);
		close(log->segfd);
	}
	log->segfd = fd;
	log->held = 0;
	log->segment = h->next;
	h->segment = h->next;
	h->end = 0;
	h->segment_wall = log->wall;
	memcpy(h->boot_id, log->boot_id, AUDIT_ID);
	err = put_beginning(log, h, first, why, d);
	if (err) {
		/* The head still knows the segment before. */
		unlinkat(log->dirfd, name, 0);
		cleanup_fd(&log->segfd);
		log->segfd = -1;
	}
	return err;
}

int audit_rotate(struct audit_log *log, struct diag *d)
{
	struct audit_head h;
	int err = audit_lock(log, &h, d);

	if (err)
		return err;
	err = audit_segment_begin(log, &h, NULL, d);
	audit_unlock(log, &h);
	return err;
}
