/* test_audit_crash.c - a machine that goes down between any two writes
 * SPDX-License-Identifier: MIT
 *
 * What the writer does to its files is noted, call by call. Of each moment the
 * test builds what a file system may have kept: of a file all that was brought
 * to the disk, and of what came behind that any beginning, with or without the
 * length that it had; of the directory what was brought to the disk. The files
 * do not know of each other.
 */
#include "audit_unit.h"

#include <stdarg.h>
#include <sys/syscall.h>

#include "log/audit_write_in.h"

enum { FILES = 12, STEPS = 512, FILE_MAX = 1 << 14, BLOCK = 64 };

enum what { CREATE, WRITE, CUT, SYNC, SYNC_DIR, REMOVE };

/* One call; of WRITE the n bytes at at, of CUT the length at. */
struct step {
	enum what what;
	unsigned file;
	uint64_t at;
	size_t n;
	char *bytes;
};

static struct trace {
	bool on;
	unsigned begun; /* the steps that made the log */
	struct step step[STEPS];
	unsigned count;
	char name[FILES][AUDIT_NAME];
	unsigned files;
} trace;

static const char *file_of(int fd)
{
	static char path[256];
	char link[64];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	path[n < 0 ? 0 : n] = 0;
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static void note(enum what what, const char *name, uint64_t at,
	const void *bytes, size_t n)
{
	struct step *s = &trace.step[trace.count];
	unsigned file = 0;

	if (!trace.on)
		return;
	assert_true(trace.count < STEPS);
	while (what != SYNC_DIR && file < trace.files &&
		strcmp(trace.name[file], name) != 0)
		file++;
	if (what != SYNC_DIR && file == trace.files) {
		assert_true(file < FILES && strlen(name) < AUDIT_NAME);
		strcpy(trace.name[trace.files++], name);
	}
	*s = (struct step){.what = what, .file = file, .at = at, .n = n};
	if (n) {
		s->bytes = malloc(n);
		memcpy(s->bytes, bytes, n);
	}
	trace.count++;
}

/* The kernel's calls, noted. */
ssize_t write(int fd, const void *p, size_t n)
{
	const off_t at = trace.on ? lseek(fd, 0, SEEK_END) : 0;
	ssize_t done = syscall(SYS_write, fd, p, n);

	if (trace.on && done > 0)
		note(WRITE, file_of(fd), (uint64_t)at, p, (size_t)done);
	return done;
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	ssize_t done = syscall(SYS_pwrite64, fd, p, n, at);

	if (trace.on && done > 0)
		note(WRITE, file_of(fd), (uint64_t)at, p, (size_t)done);
	return done;
}

int ftruncate(int fd, off_t size)
{
	if (trace.on)
		note(CUT, file_of(fd), (uint64_t)size, NULL, 0);
	return (int)syscall(SYS_ftruncate, fd, size);
}

int fdatasync(int fd)
{
	if (trace.on)
		note(SYNC, file_of(fd), 0, NULL, 0);
	return 0;
}

int fsync(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	if (trace.on)
		note(S_ISDIR(st.st_mode) ? SYNC_DIR : SYNC, file_of(fd), 0,
			NULL, 0);
	return 0;
}

int openat(int dir, const char *name, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	/* The boot that ends. */
	if (trace.on && strstr(name, "boot_id"))
		name = "/proc/sys/kernel/random/uuid";
	if (trace.on && flags & O_CREAT && faccessat(dir, name, F_OK, 0))
		note(CREATE, name, 0, NULL, 0);
	return (int)syscall(SYS_openat, dir, name, flags, mode);
}

int unlinkat(int dir, const char *name, int flags)
{
	if (trace.on)
		note(REMOVE, name, 0, NULL, 0);
	return (int)syscall(SYS_unlinkat, dir, name, flags);
}

/* A file as some of the steps made it. */
struct made {
	bool there;
	char bytes[FILE_MAX];
	size_t n;
};

static uint32_t dice_state = 1;

static unsigned dice(size_t n)
{
	dice_state = dice_state * 1664525u + 1013904223u;
	return (dice_state >> 8) % (unsigned)n;
}

static void apply(struct made *m, const struct step *s, size_t n)
{
	const size_t end = s->what == WRITE ? s->at + n : s->at;

	if (s->what == CREATE || s->what == REMOVE) {
		m->there = s->what == CREATE;
		m->n = 0;
		return;
	}
	assert_true(end <= sizeof m->bytes);
	if (end > m->n)
		memset(m->bytes + m->n, 0, end - m->n);
	if (n)
		memcpy(m->bytes + s->at, s->bytes, n);
	if (end > m->n || s->what == CUT)
		m->n = end;
}

/* The step before which all of that file is on the disk; *named: so is its
 * name. */
static unsigned sure_of(unsigned file, unsigned end, bool *named)
{
	bool made = false;
	unsigned sure = 0;

	*named = false;
	for (unsigned i = 0; i < end; i++) {
		const struct step *s = &trace.step[i];

		if (s->what == SYNC_DIR) {
			*named = made;
		} else if (s->file == file && s->what == CREATE) {
			made = true;
			*named = false;
		} else if (s->file == file && s->what == SYNC) {
			sure = i;
			*named = true;
		}
	}
	return sure;
}

static bool changes(unsigned i, unsigned file)
{
	const struct step *s = &trace.step[i];

	return s->file == file && (s->what == WRITE || s->what == CUT);
}

/* How much survives. Of the head, 512 bytes, all of a write or nothing. */
enum way { ALL, LEAST, SOME, TORN, ZEROS, ANY, HOLES = 8, WAYS = 12 };

/* One file as it may be found again. */
static void make_file(struct test_log *t, unsigned file, unsigned end,
	unsigned way)
{
	const bool head = strcmp(trace.name[file], "head") == 0;
	static struct made m, now;
	unsigned loose = 0, take, seen = 0;
	size_t bytes_sure = 0;
	bool named;
	const unsigned sure = sure_of(file, end, &named);

	m = now = (struct made){0};
	for (unsigned i = sure; i < end; i++)
		loose += changes(i, file);
	take = way == ALL ? loose : way == LEAST ? 0 : dice(loose + 1);
	for (unsigned i = 0; i < end; i++) {
		const struct step *s = &trace.step[i];

		if (s->file != file || s->what == SYNC || s->what == SYNC_DIR)
			continue;
		apply(&now, s, s->n);
		if (!changes(i, file) || i < sure || seen++ < take)
			apply(&m, s, s->n);
		else if (seen == take + 1 && !head && way >= TORN &&
			s->what == WRITE)
			apply(&m, s, dice(s->n));
		if (i < sure)
			bytes_sure = m.n;
	}
	/* The length is there, the bytes are not. */
	if (way >= ZEROS && dice(2) && m.n < now.n && !head) {
		memset(m.bytes + m.n, 0, now.n - m.n);
		m.n = now.n;
	}
	/* And of what was not brought to the disk some blocks, not the last. */
	if (way >= HOLES && !head)
		for (size_t b = bytes_sure; b < m.n; b += BLOCK)
			if (!dice(3))
				memset(m.bytes + b, 0,
					m.n - b < BLOCK ? m.n - b : BLOCK);
	if (!m.there || (!named && way >= SOME && dice(4) == 0))
		unlinkat(t->dir, trace.name[file], 0);
	else
		spit(t, trace.name[file], m.bytes, m.n);
}

static void wipe(struct test_log *t)
{
	autofree uint64_t *firsts = NULL;
	int n = audit_segments(t->dir, &firsts, NULL);
	char name[AUDIT_NAME];

	audit_close(&t->log);
	unlinkat(t->dir, "head", 0);
	while (n-- > 0) {
		audit_segment_name(name, firsts[n]);
		unlinkat(t->dir, name, 0);
	}
}

/* Nobody did anything: no verdict may say so. */
static bool is_no_crime(struct test_log *t, const char *when, unsigned end,
	unsigned way)
{
	struct findings all = verify(t, WITH_PIN | WITH_SEED);

	if (!all.v.findings[AUDIT_TAMPER])
		return true;
	print_message("%s: %s (before step %u, way %u)\n", when, all.kinds, end,
		way);
	return false;
}

static void deny(struct test_log *t)
{
	const char *const argv[] = {"rm", "x", NULL};
	struct audit_start s = {
		.argv = argv, .argc = 2, .decision = AUDIT_DENY};
	struct audit_exec x = AUDIT_EXEC_INIT;
	struct diag d = {0};

	assert_int_equal(audit_deny(&x, &t->log, &s, NULL, "", 0, &d), 0);
	audit_exec_release(&x);
}

static void write_a_log(struct test_log *t)
{
	struct diag d = {0};

	test_begin(t, 6);
	wipe(t);
	t->cfg.sync = AUDIT_SYNC_CKPT;
	t->cfg.segment_bytes = 2500;
	trace.on = true;
	assert_int_equal(audit_seal(&t->log, t->dir, geteuid(), &t->cfg,
				 t->seed, t->pin, &d),
		0);
	trace.begun = trace.count;
	for (unsigned i = 0; i < 24; i++) {
		if (i % 7 == 3)
			deny(t);
		test_event(t, "e", i);
	}
	trace.on = false;
}

static void open_again(struct test_log *t)
{
	struct diag d = {0};
	int err = audit_open(&t->log, t->dir, geteuid(), &t->cfg, &d);

	if (err)
		fail_msg("%s", d.text);
}

static void go_down(struct test_log *t, unsigned end, unsigned way)
{
	wipe(t);
	dice_state = end * 64 + way;
	for (unsigned f = 0; f < trace.files; f++)
		make_file(t, f, end, way);
}

/* What the head that was found knows of and the log does not hold is told as a
 * loss, and seed and pin vouch for what is there. */
static bool is_told(struct test_log *t, const char *when, bool lost, unsigned end,
	unsigned way)
{
	struct findings all = verify(t, WITH_PIN | WITH_SEED);

	if (all.v.pinned && all.v.seeded && all.v.ended &&
		(all.v.findings[AUDIT_LOSS] || !lost))
		return true;
	print_message("%s: %s, %d (before step %u, way %u)\n", when, all.kinds,
		(int)all.outcome, end, way);
	return false;
}

static bool try_moment(struct test_log *t, unsigned end, unsigned way)
{
	autobuf struct buf raw = {0};
	struct audit_head h;
	bool good, lost;

	go_down(t, end, way);
	slurp(t, "head", &raw);
	assert_int_equal(audit_head_parse(&h, (uint8_t *)raw.data, crc32c), 0);
	lost = h.next > verify(t, 0).v.last + 1;
	good = is_no_crime(t, "at once", end, way);
	open_again(t);
	test_event(t, "after", 1);
	good = is_no_crime(t, "after one", end, way) && good;
	for (unsigned i = 0; i < 8; i++)
		test_event(t, "more", i);
	good = is_no_crime(t, "after more", end, way) && good;
	return is_told(t, "after more", lost, end, way) && good;
}

static void free_steps(void)
{
	for (unsigned i = 0; i < trace.count; i++)
		free(trace.step[i].bytes);
	trace.count = trace.files = 0;
}

static void forget(struct test_log *t)
{
	free_steps();
	test_end(t);
}

static void any_moment(void **state)
{
	struct test_log t;
	unsigned bad = 0, tried = 0;

	(void)state;
	write_a_log(&t);
	for (unsigned i = 0; getenv("TRACE") && i < trace.count; i++)
		print_message("%u %d %s %llu %zu\n", i, trace.step[i].what,
			trace.name[trace.step[i].file],
			(unsigned long long)trace.step[i].at, trace.step[i].n);
	for (unsigned end = trace.begun; end <= trace.count; end++)
		for (unsigned way = 0; way < WAYS; way++) {
			bad += !try_moment(&t, end, way);
			tried++;
		}
	forget(&t);
	if (bad)
		fail_msg("%u of %u", bad, tried);
}

/* What the disk holds, as the beginning of another trace. */
static void note_disk(struct test_log *t)
{
	autofree uint64_t *firsts = NULL;
	int n = audit_segments(t->dir, &firsts, NULL);

	trace = (struct trace){.on = true};
	for (int i = -1; i < n; i++) {
		char name[AUDIT_NAME] = "head";
		autobuf struct buf b = {0};

		if (i >= 0)
			audit_segment_name(name, firsts[i]);
		slurp(t, name, &b);
		note(CREATE, name, 0, NULL, 0);
		note(WRITE, name, 0, b.data, b.len);
		note(SYNC, name, 0, NULL, 0);
	}
	note(SYNC_DIR, "", 0, NULL, 0);
	trace.begun = trace.count;
}

/* It goes down once more while the next boot's writer repairs the log. */
static void twice(void **state)
{
	static struct trace first;
	struct test_log t;
	unsigned bad = 0;

	(void)state;
	write_a_log(&t);
	first = trace;
	for (unsigned once = first.begun + 1; once <= first.count; once += 5) {
		trace = first;
		go_down(&t, once, once % WAYS);
		note_disk(&t);
		open_again(&t);
		for (unsigned i = 0; i < 3; i++)
			test_event(&t, "after", i);
		trace.on = false;
		for (unsigned end = trace.begun; end <= trace.count; end++)
			for (unsigned way = 1; way < WAYS; way += 2)
				bad += !try_moment(&t, end, way);
		free_steps();
	}
	trace = first;
	forget(&t);
	if (bad)
		fail_msg("%u", bad);
}

/* Nobody was told yet of the log that was lost: another one begins. */
static void before_it_began(void **state)
{
	struct test_log t;
	unsigned bad = 0;

	(void)state;
	write_a_log(&t);
	for (unsigned end = 1; end < trace.begun; end++)
		for (unsigned way = 0; way < WAYS; way++) {
			go_down(&t, end, way);
			open_again(&t);
			audit_close(&t.log);
			if (verify(&t, 0).v.findings[AUDIT_TAMPER])
				bad++;
			open_again(&t);
			test_event(&t, "after", 1);
			if (verify(&t, 0).v.findings[AUDIT_TAMPER])
				bad++;
		}
	assert_int_equal(bad, 0);
	forget(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_it_began),
		cmocka_unit_test(any_moment),
		cmocka_unit_test(twice),
	};

	return cmocka_run_group_tests_name("audit_crash", tests, NULL, NULL);
}
