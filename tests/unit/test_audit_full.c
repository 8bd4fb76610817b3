/* test_audit_full.c - a disk that is full, or breaks, at each single write
 * SPDX-License-Identifier: MIT
 *
 * What the writer does to files goes through the functions below, which refuse
 * the n-th call, or that and all behind it; every n has its turn. A record that
 * was promised must be in the log, the log must prove itself, and whoever comes
 * next must be able to go on.
 */
#include "audit_unit.h"

#include <dirent.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { EVENTS = 32 };

enum mode {
	ONCE,       /* one call is refused */
	HALF,       /* one write takes half of its bytes, the next one nothing */
	FROM_THERE, /* all are, until there is room again */
	MODES,
};

static struct {
	bool on, met;
	enum mode mode;
	unsigned calls, at;
} fault;

/* Is this call to fail? */
static bool refused(void)
{
	bool now;

	if (!fault.on)
		return false;
	fault.calls++;
	now = fault.calls == fault.at ||
		(fault.mode == FROM_THERE && fault.calls > fault.at) ||
		(fault.mode == HALF && fault.calls == fault.at + 1);
	fault.met |= now;
	return now;
}

static int fails(int error)
{
	errno = error;
	return -1;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	if (fd > 2 && refused()) {
		if (fault.mode != HALF || fault.calls != fault.at || n < 2)
			return fails(ENOSPC);
		n /= 2;
	}
	return syscall(SYS_write, fd, bytes, n);
}

/* The plain call takes its 64-bit place in another way on each 32-bit machine. */
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	const struct iovec v = {(void *)(uintptr_t)bytes, n};

	return refused() ? fails(ENOSPC)
			 : syscall(SYS_pwritev, fd, &v, 1, (long)at, 0L);
}

int fallocate(int fd, int how, off_t from, off_t n)
{
	if (refused())
		return fails(ENOSPC);
	return sizeof(long) < sizeof from
		? fails(EOPNOTSUPP)
		: (int)syscall(SYS_fallocate, fd, how, from, n);
}

int ftruncate(int fd, off_t n)
{
	return refused() ? fails(EIO) : (int)syscall(SYS_ftruncate, fd, n);
}

int fsync(int fd)
{
	(void)fd;
	return refused() ? fails(EIO) : 0;
}

int fdatasync(int fd)
{
	return fsync(fd);
}

int renameat(int from, const char *old, int to, const char *new)
{
	return refused() ? fails(ENOSPC)
			 : (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

int openat(int dir, const char *name, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	/* Only what is made needs room. */
	if (flags & O_CREAT && faccessat(dir, name, F_OK, 0) && refused())
		return fails(ENOSPC);
	return (int)syscall(SYS_openat, dir, name, flags, mode);
}

/* What the writer said is in the log. */
struct promised {
	bool event[EVENTS];
	uint64_t start, end; /* seqs, or 0 */
};

/* An error is one that its reader can do something with. */
static bool said(int err, const struct diag *d)
{
	if (err < 0 && !d->text[0])
		fail_msg("error %d without a word at call %u", err, fault.at);
	return err >= 0;
}

static void append_all(struct test_log *t, struct promised *p)
{
	static const char *const argv[] = {"sh", "-c", "true"};
	const struct audit_start start = {.session = "s", .argv = argv,
		.argc = 3, .cwd = "/", .rule = "r"};
	const struct audit_end end = {0};
	struct audit_exec x = AUDIT_EXEC_INIT;

	for (unsigned i = 0; i < EVENTS; i++) {
		const struct audit_fact fact = {.key = "n", .number = i};
		const char name[] = {'e', (char)('0' + i), '\0'};
		struct diag d = {0};

		if (i == EVENTS / 2 && said(audit_start(&x, &t->log, &start,
							NULL, &d), &d)) {
			struct diag io = {0};

			p->start = x.id;
			said(audit_io(&x, AUDIT_OUT, "output\n", 7, &io), &io);
		}
		d = (struct diag){0};
		p->event[i] = said(audit_event(&t->log, "s", 0, name, &fact,
					   1, &d), &d);
	}
	if (p->start) {
		struct diag d = {0};

		if (said(audit_end(&x, &end, &d), &d))
			p->end = x.id;
	}
	audit_exec_release(&x);
}

static void keep_house(struct test_log *t, struct promised *p)
{
	struct diag d = {0};

	for (unsigned i = 0; i < 6; i++) {
		struct audit_fact fact = {.key = "n", .number = i};

		audit_event(&t->log, "s", 0, "e", &fact, 1, NULL);
	}
	said(audit_rotate(&t->log, &d), &d);
	said(audit_expunge(&t->log, 3, "oops", false, &d), &d);
	said(audit_checkpoint(&t->log, &d), &d);
	said(audit_rotate(&t->log, &d), &d);
	said(audit_vacuum(&t->log, 1, 0, false, &d), &d);
	(void)p;
}

static void look_for(struct test_log *t, struct promised *p)
{
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	struct audit_damage damage;
	struct audit_record rec;
	struct diag d = {0};
	int got;

	assert_int_equal(audit_reader_dir(&r, t->dir, 0, &d), 0);
	while ((got = audit_next(&r, &rec, &damage, &d)) > 0) {
		if (got != AUDIT_GOT_RECORD)
			continue;
		if (rec.type == AUDIT_START && rec.seq == p->start)
			p->start = 0;
		if (rec.type == AUDIT_END &&
			audit_uint(&rec, AUDIT_K_EXEC, 0) == p->end)
			p->end = 0;
		for (unsigned i = 0; i < EVENTS; i++) {
			const char name[] = {'e', (char)('0' + i), '\0'};

			if (rec.type == AUDIT_EVENT &&
				audit_event_is(&rec, name))
				p->event[i] = false;
		}
	}
	assert_int_equal(got, 0);
	assert_int_equal(p->start, 0);
	assert_int_equal(p->end, 0);
	for (unsigned i = 0; i < EVENTS; i++)
		if (p->event[i])
			fail_msg("event %u is lost at call %u", i, fault.at);
}

/* As test_end(), without a process for each of so many logs. */
static void remove_log(struct test_log *t)
{
	DIR *dir = opendir(t->path);
	struct dirent *e;

	audit_close(&t->log);
	close(t->dir);
	assert_non_null(dir);
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.')
			assert_int_equal(unlinkat(dirfd(dir), e->d_name, 0), 0);
	closedir(dir);
	assert_int_equal(rmdir(t->path), 0);
}

/* The log after one fault. False when no call was left to refuse. */
static bool one_fault(void (*work)(struct test_log *t, struct promised *p),
	enum mode mode, unsigned at, bool promises)
{
	struct audit_fact fact = {.key = "n", .number = 0};
	struct promised p = {0};
	struct test_log t;
	struct findings all;
	struct diag d = {0};

	test_begin(&t, 5);
	t.log.cfg.segment_bytes = 4000;
	t.log.cfg.keep_bytes = 1 << 20;
	t.log.cfg.sync = AUDIT_SYNC_CKPT;
	fault.mode = mode;
	fault.at = at;
	fault.calls = 0;
	fault.met = false;
	fault.on = true;
	work(&t, &p);
	fault.on = false;
	/* There is room again: for whoever has it open, and who opens it. */
	if (audit_event(&t.log, "s", 0, "after", &fact, 1, &d))
		fail_msg("call %u, mode %d: %s", at, (int)mode, d.text);
	audit_close(&t.log);
	assert_int_equal(audit_open(&t.log, t.dir, geteuid(), &t.cfg, &d), 0);
	test_event(&t, "later", 0);
	all = verify(&t, WITH_PIN | WITH_SEED);
	if (all.outcome != AUDIT_INTACT && all.outcome != AUDIT_DECLARED_LOSS)
		fail_msg("call %u, mode %d: %s", at, (int)mode, all.kinds);
	if (promises)
		look_for(&t, &p);
	remove_log(&t);
	return fault.met;
}

static void every_fault(void (*work)(struct test_log *t, struct promised *p),
	bool promises)
{
	for (unsigned mode = 0; mode < MODES; mode++) {
		unsigned at = 1;

		while (one_fault(work, (enum mode)mode, at, promises))
			at++;
		/* All the writes there are, and not a few of them. */
		assert_true(at > 20);
	}
}

static void what_was_promised_is_there(void **state)
{
	(void)state;
	every_fault(append_all, true);
}

static void upkeep_breaks_nothing(void **state)
{
	(void)state;
	every_fault(keep_house, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_promised_is_there),
		cmocka_unit_test(upkeep_breaks_nothing),
	};

	return cmocka_run_group_tests_name("audit_full", tests, NULL, NULL);
}
