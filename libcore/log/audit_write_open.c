/* audit_write_open.c - the log opened, begun, signed
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/audit_place.h"
#include "log/audit_write.h"
#include "log/audit_write_in.h"
#include "base/cbor.h"
#include "sys/file.h"
#include "base/str.h"

static uint64_t or_default(uint64_t v, uint64_t standard)
{
	return v ? v : standard;
}

static void fill_config(struct audit_config *c, const struct audit_config *given)
{
	const uint64_t day = UINT64_C(86400) * 1000000000;

	if (given)
		*c = *given;
	c->stream_cap = or_default(c->stream_cap, 1 << 20);
	if (c->stream_cap < 2)
		c->stream_cap = 2;
	c->segment_bytes = or_default(c->segment_bytes, 64 << 20);
	c->segment_age = or_default(c->segment_age, 30 * day);
	c->lock_wait = or_default(c->lock_wait, UINT64_C(2000000000));
	if (!c->epoch_records)
		c->epoch_records = 1024;
}

static int check_dir(int dirfd, uid_t uid, struct diag *d)
{
	struct stat st;

	if (fstat(dirfd, &st))
		return diag_errno(d, -errno, "audit log");
	if (S_ISDIR(st.st_mode) && st.st_uid == uid && !(st.st_mode & 077))
		return 0;
	diag_fail(d, -EPERM,
		"the directory of the audit log is not private (uid %u, mode"
		" %04o; expected uid %u, mode 0700)",
		st.st_uid, st.st_mode & 07777u, uid);
	return -EPERM;
}

static int open_files(struct audit_log *log, int dirfd, uid_t uid,
	const struct audit_config *cfg, struct diag *d)
{
	int err = check_dir(dirfd, uid, d);

	if (err)
		return err;
	*log = AUDIT_LOG_INIT;
	log->uid = uid;
	log->hw = keys_hw_pick();
	log->dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
	fill_config(&log->cfg, cfg);
	audit_boot_id(log->boot_id);
	log->dirfd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (log->dirfd < 0)
		return diag_errno(d, -errno, "audit log");
	log->headfd = audit_file_open(log, "head", O_RDWR | O_CREAT, d);
	return log->headfd < 0 ? log->headfd : 0;
}

int audit_open(struct audit_log *log, int dirfd, uid_t uid,
	const struct audit_config *cfg, struct diag *d)
{
	int err = open_files(log, dirfd, uid, cfg, d);

	if (err)
		audit_close(log);
	return err;
}

void audit_close(struct audit_log *log)
{
	if (log->dumpable)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	log->dumpable = false;
	cleanup_fd(&log->segfd);
	cleanup_fd(&log->headfd);
	cleanup_fd(&log->dirfd);
	log->segfd = log->headfd = log->dirfd = -1;
	buf_release(&log->spare);
	redact_release(&log->plain);
}

int audit_keys_begin(struct audit_log *log, struct audit_head *h,
	const uint8_t *seed, struct diag *d)
{
	uint8_t fresh[AUDIT_HASH], epoch[AUDIT_HASH], pk[AUDIT_PK];
	int err = seed ? 0 : keys_random(fresh, sizeof fresh);

	if (err)
		return diag_errno(d, err, "no random bytes for the audit log");
	keys_first(&log->hw, h->log_id, seed ? seed : fresh, epoch);
	keys_epoch(&log->hw, epoch, h->rk, h->sk, h->enext);
	keys_mark(&log->hw, epoch, h->mark);
	explicit_bzero(fresh, sizeof fresh);
	explicit_bzero(epoch, sizeof epoch);
	h->ckpt_wall = log->wall;
	err = keys_public(h->sk, pk);
	if (err)
		return diag_fail(d, err, "audit log: its key is unusable");
	keys_hash2(&log->hw, pk, sizeof pk, "", 0, h->pin);
	return 0;
}

/* Seals an empty log, under the lock. */
static int seal_empty(struct audit_log *log, uint8_t seed[static AUDIT_HASH],
	uint8_t pin[static AUDIT_HASH], struct diag *d)
{
	struct audit_head h = {0};
	autofree uint64_t *firsts = NULL;
	struct stat st;
	int err = audit_segments(log->dirfd, &firsts, d);

	if (err > 0 || (!err && !fstat(log->headfd, &st) && st.st_size))
		return diag_fail(d, -EEXIST, "there is an audit log already");
	if (!err)
		err = keys_random(seed, AUDIT_HASH);
	if (!err)
		err = keys_random(h.log_id, sizeof h.log_id);
	if (err)
		return diag_errno(d, err, "audit log");
	err = audit_keys_begin(log, &h, seed, d);
	if (!err)
		err = audit_segment_begin(log, &h, NULL, d);
	memcpy(pin, h.pin, AUDIT_HASH);
	explicit_bzero(&h, sizeof h);
	return err;
}

int audit_seal(struct audit_log *log, int dirfd, uid_t uid,
	const struct audit_config *cfg, uint8_t seed[static AUDIT_HASH],
	uint8_t pin[static AUDIT_HASH], struct diag *d)
{
	struct audit_head wiped = {0};
	int err = audit_open(log, dirfd, uid, cfg, d);

	if (err)
		return err;
	err = audit_lock_head(log, d);
	audit_now(log, &log->wall, &log->boot);
	if (!err) {
		err = seal_empty(log, seed, pin, d);
		audit_unlock(log, &wiped);
	}
	if (err)
		audit_close(log);
	return err;
}

int audit_peek(struct audit_log *log, struct audit_head *head, struct diag *d)
{
	struct audit_head h;
	int err = audit_lock(log, &h, d);

	if (err)
		return err;
	*head = h;
	explicit_bzero(head->mark, sizeof head->mark);
	explicit_bzero(head->rk, sizeof head->rk);
	explicit_bzero(head->sk, sizeof head->sk);
	explicit_bzero(head->enext, sizeof head->enext);
	audit_unlock(log, &h);
	return 0;
}

int audit_mark_key(void *from, uint8_t key[static REDACT_KEY])
{
	static const uint8_t none[AUDIT_HASH];
	struct audit_log *log = from;
	struct audit_head h;
	int err = audit_lock(log, &h, NULL);

	if (err)
		return err;
	/* The log was begun before there were such keys. */
	if (memcmp(h.mark, none, sizeof none) == 0) {
		keys_mark(&log->hw, h.enext, h.mark);
		err = audit_head_write(log, &h, NULL);
	}
	memcpy(key, h.mark, REDACT_KEY);
	audit_unlock(log, &h);
	return err;
}

/* Builds a checkpoint's payload: RFC 9052's COSE_Sign1. */
static int build_payload(const struct keys_hw *hw, struct buf *out,
	const struct audit_head *h, uint64_t wall, struct diag *d)
{
	uint8_t rk[AUDIT_HASH], sk[AUDIT_HASH], next[AUDIT_HASH];
	uint8_t pk[AUDIT_PK];
	struct cbor_map m;
	int err;

	keys_epoch(hw, h->enext, rk, sk, next);
	err = keys_public(sk, pk);
	explicit_bzero(rk, sizeof rk);
	explicit_bzero(sk, sizeof sk);
	explicit_bzero(next, sizeof next);
	if (err)
		return diag_fail(d, err, "audit log: its key is unusable");
	m = cbor_map_open(out);
	cbor_put_uint(cbor_key(&m, AUDIT_CP_EPOCH), h->epoch);
	cbor_put_uint(cbor_key(&m, AUDIT_CP_FIRST), h->epoch_first);
	cbor_put_uint(cbor_key(&m, AUDIT_CP_LAST), h->next - 1);
	cbor_put_bytes(cbor_key(&m, AUDIT_CP_LINK), h->link, AUDIT_HASH);
	cbor_put_bytes(cbor_key(&m, AUDIT_CP_AGG), h->agg, AUDIT_HASH);
	cbor_put_bytes(cbor_key(&m, AUDIT_CP_NEXT), pk, sizeof pk);
	cbor_put_uint(cbor_key(&m, AUDIT_CP_WALL), wall);
	cbor_map_close(&m);
	return out->err;
}

int audit_put_checkpoint(
	struct audit_log *log, struct audit_head *h, struct diag *d)
{
	char space[384];
	struct buf payload = BUF_FIXED(space);
	uint8_t hash[AUDIT_HASH], sig[AUDIT_SIG];
	autorec struct audit_rec r = AUDIT_REC(log, AUDIT_CKPT);
	int err;

	if (h->epoch_first >= h->next)
		return 0;
	err = build_payload(&log->hw, &payload, h, log->wall, d);
	if (err)
		return err;
	audit_sig_hash(&log->hw, (const uint8_t *)payload.data, payload.len,
		hash);
	err = keys_sign(&log->hw, h->sk, hash, sig);
	if (err)
		return diag_fail(d, err, "audit log: cannot sign");
	cbor_put_bytes(audit_rec_key(&r, AUDIT_K_PAYLOAD), payload.data,
		payload.len);
	cbor_put_bytes(audit_rec_key(&r, AUDIT_K_SIGNATURE), sig, sizeof sig);
	cbor_put_bytes(audit_rec_key(&r, AUDIT_K_PROTECTED), audit_protected,
		AUDIT_PROTECTED);
	return audit_put(log, h, &r, d);
}
