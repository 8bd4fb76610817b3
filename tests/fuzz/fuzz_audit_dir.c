/* fuzz_audit_dir.c - the log's directory, damaged: recovered, verified
 * SPDX-License-Identifier: MIT
 *
 * Input: edits of a log that was well, each of five bytes: what is done, where
 * (two bytes, a fraction of the file), how (two bytes). Whatever became of it,
 * the verifier ends with a verdict, a writer goes on or says why not, and what
 * it settled stays settled: the next one finds nothing to repair.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/audit_format_in.h"
#include "log/audit_verify.h"
#include "log/audit_write.h"
#include "base/crc32c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEGMENT = 1 << 16 };
static const char segment_name[] = "0000000000000000.aud";

static struct {
	struct audit_head head;
	uint8_t flip[AUDIT_HEAD]; /* of the packed head */
	uint8_t segment[SEGMENT];
	size_t segment_len;
} well, hurt;
static char dir_name[64];

/* No time passes: a checkpoint that falls due is no repair. */
static void stand_still(uint64_t *wall, uint64_t *boot)
{
	*wall = UINT64_C(1700000000000000000);
	*boot = UINT64_C(1000000000);
}
static const struct audit_config config = {
	.sync = AUDIT_SYNC_NONE, .now = stand_still};

/* Its files go, so that each input finds its own alone. */
static void empty(void)
{
	DIR *d = opendir(dir_name);

	for (struct dirent *e; d && (e = readdir(d));)
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
}

static void leave(void)
{
	empty();
	rmdir(dir_name);
}

static int open_dir(void)
{
	const char *base = getenv("TMPDIR");

	if (!dir_name[0]) {
		snprintf(dir_name, sizeof dir_name, "%.40s/fuzz-XXXXXX",
			base ? base : "/tmp");
		if (!mkdtemp(dir_name))
			abort();
		atexit(leave);
	}
	empty();
	return open(dir_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void begin(void)
{
	struct audit_log log = AUDIT_LOG_INIT;
	struct audit_fact fact = {.key = "k", .text = "value"};
	uint8_t head[AUDIT_HEAD];
	struct diag d;
	int fd, dir = open_dir();
	bool bad = audit_open(&log, dir, geteuid(), &config, &d) != 0;

	for (int i = 0; i < 4; i++) {
		bad |= audit_event(&log, "s", 0, "e", &fact, 1, &d) != 0;
		bad |= i == 2 && audit_checkpoint(&log, &d);
	}
	audit_close(&log);
	fd = openat(dir, "head", O_RDONLY);
	bad |= read(fd, head, AUDIT_HEAD) != AUDIT_HEAD ||
	       audit_head_parse(&well.head, head, crc32c);
	close(fd);
	fd = openat(dir, segment_name, O_RDONLY);
	well.segment_len = (size_t)read(fd, well.segment, SEGMENT);
	close(fd);
	close(dir);
	if (bad || well.segment_len - 1 >= SEGMENT / 2)
		abort();
}

static void edit(const uint8_t e[5])
{
	size_t place = (size_t)e[1] << 8 | e[2];
	size_t at = place * (hurt.segment_len + 1) >> 16;
	size_t n = ((size_t)e[3] << 8 | e[4]) % 300;
	uint8_t *head = (uint8_t *)&hurt.head;

	if (n > hurt.segment_len - at)
		n = hurt.segment_len - at;
	switch (e[0] % 6) {
	case 0: /* so that it still has the right checksum */
		head[place * sizeof hurt.head >> 16] ^= e[3];
		break;
	case 1:
		hurt.flip[place * AUDIT_HEAD >> 16] ^= e[3];
		break;
	case 2:
		hurt.segment[at] ^= at < hurt.segment_len ? e[3] : 0;
		break;
	case 3:
		hurt.segment_len = at;
		break;
	case 4: /* a piece again, at the end */
		if (hurt.segment_len + n > SEGMENT)
			break;
		memmove(hurt.segment + hurt.segment_len, hurt.segment + at, n);
		hurt.segment_len += n;
		break;
	case 5: /* a piece taken out */
		memmove(hurt.segment + at, hurt.segment + at + n,
			hurt.segment_len - at - n);
		hurt.segment_len -= n;
		break;
	}
}

static void put(int dir, const char *name, const uint8_t *p, size_t n)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		abort();
	close(fd);
}

static void verify(int dir)
{
	struct audit_trust trust = {0};
	struct audit_verdict v = {0};
	struct diag d;

	audit_verify_dir(dir, &trust, NULL, NULL, &v, &d);
}

/* The seq that comes next, or 0 when no record could be added. */
static uint64_t add(int dir)
{
	struct audit_log log = AUDIT_LOG_INIT;
	struct audit_head head = {0};
	struct diag d = {0};
	int err = audit_open(&log, dir, geteuid(), &config, &d);

	if (!err)
		err = audit_event(&log, "s", 0, "after", NULL, 0, &d);
	if (!err)
		err = audit_peek(&log, &head, &d);
	if (err && !d.text[0])
		abort();
	audit_close(&log);
	return err ? 0 : head.next;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t head[AUDIT_HEAD];
	uint64_t next;
	int dir;

	if (!well.segment_len)
		begin();
	hurt = well;
	for (; size >= 5; data += 5, size -= 5)
		edit(data);
	audit_head_pack(&hurt.head, head, crc32c);
	for (size_t i = 0; i < AUDIT_HEAD; i++)
		head[i] ^= hurt.flip[i];
	dir = open_dir();
	put(dir, "head", head, AUDIT_HEAD);
	put(dir, segment_name, hurt.segment, hurt.segment_len);
	verify(dir);
	next = add(dir);
	if (next && add(dir) != next + 1)
		abort();
	verify(dir);
	close(dir);
	return 0;
}
