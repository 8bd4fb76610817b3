/* landlock_log.h - what the kernel itself says that Landlock refused
 * SPDX-License-Identifier: MIT
 *
 * Its audit records, by netlink's multicast group: for processes that have
 * CAP_AUDIT_READ in the first namespaces, where auditing is on (Linux 6.15).
 */
#ifndef WARDBOX_LANDLOCK_LOG_H
#define WARDBOX_LANDLOCK_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	LANDLOCK_LOG_DENIED = 1423, /* AUDIT_LANDLOCK_ACCESS */
	LANDLOCK_LOG_DOMAIN = 1424, /* AUDIT_LANDLOCK_DOMAIN */
};

struct landlock_record {
	uint64_t domain;
	pid_t pid;        /* DOMAIN: its maker; 0 when it has ended */
	char rights[128]; /* DENIED: "fs.write_file", with commas between */
	char object[1024]; /* DENIED: the path, or the rest of the record */
};

/* Reads the text of a record of that type. 0, -EBADMSG. Pure. */
int landlock_record_parse(
	unsigned type, const char *text, size_t n, struct landlock_record *r);

/* A close-on-exec descriptor to poll, or the reason for none: -EPERM, -ENODATA
 * (auditing is off), -errno. */
int landlock_log_open(void);
/* Shows the records that have come. 0, -errno. */
int landlock_log_read(int fd, void *ctx,
	void (*show)(void *ctx, unsigned type, const struct landlock_record *r));

#endif
