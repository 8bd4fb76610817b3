/* fuzz_audit.c - a hostile segment: read, shown, verified
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log/audit_read.h"
#include "log/audit_read_filter.h"
#include "log/audit_read_json.h"
#include "log/audit_verify.h"

static int give(const uint8_t *p, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, p, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const uint8_t seed[32] = {1}, pin[32] = {2};
	struct audit_trust trust = {.seed = seed, .pin = pin, .partial = true};
	struct audit_filter f = {.command = "a*", .grep = "b",
		.exit = AUDIT_EXIT_FAIL};
	struct audit_reader r = AUDIT_READER_INIT;
	struct buf out = BUF_INIT(1 << 26);
	struct audit_damage damage;
	struct audit_record rec;
	struct audit_verdict v;
	struct diag d;
	uint64_t passed = 0;
	int got, fd = give(p, n);

	if (audit_reader_fds(&r, &fd, 1, &d))
		return 0;
	while ((got = audit_next(&r, &rec, &damage, &d)) > 0) {
		struct json j = JSON_INIT(&out);

		if (got != AUDIT_GOT_RECORD) {
			passed += damage.bytes + damage.unread;
			continue;
		}
		passed += rec.frame.len;
		buf_clear(&out);
		audit_json(&j, &rec);
		if (audit_filter_note(&f, &rec))
			abort();
		audit_filter_match(&f, &rec);
	}
	/* Every byte was a record's or reported. */
	if (got == AUDIT_GOT_END && passed != n)
		abort();
	audit_reader_release(&r);
	audit_filter_release(&f);
	buf_release(&out);
	fd = give(p, n);
	if (!audit_reader_fds(&r, &fd, 1, &d))
		audit_verify_reader(&r, &trust, NULL, NULL, &v, &d);
	audit_reader_release(&r);
	return 0;
}
