/* audit_unit.h - a log in a temporary directory, and hands to falsify it
 * SPDX-License-Identifier: MIT
 */
#ifndef AUDIT_UNIT_H
#define AUDIT_UNIT_H

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/audit_read.h"
#include "log/audit_verify.h"
#include "log/audit_write.h"
#include "sys/file.h"

static uint64_t test_wall = UINT64_C(1755000000000000000);
static uint64_t test_boot = UINT64_C(5000000000);

__attribute__((unused)) static void test_now(uint64_t *wall, uint64_t *boot)
{
	*wall = test_wall += 1000;
	*boot = test_boot += 1000;
}

/* A directory of its own, removed by test_dir_end. */
struct test_log {
	char path[64];
	int dir;
	struct audit_log log;
	struct audit_config cfg;
	uint8_t seed[AUDIT_HASH], pin[AUDIT_HASH];
};

__attribute__((unused)) static void test_begin(struct test_log *t, unsigned epoch)
{
	struct diag d = {0};

	*t = (struct test_log){.path = "/tmp/wardbox-audit-XXXXXX",
		.log = AUDIT_LOG_INIT,
		.cfg = {.epoch_records = epoch,
			.sync = AUDIT_SYNC_NONE,
			.now = test_now}};
	assert_non_null(mkdtemp(t->path));
	t->dir = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(t->dir >= 0);
	assert_int_equal(audit_seal(&t->log, t->dir, geteuid(), &t->cfg,
				 t->seed, t->pin, &d),
		0);
}

__attribute__((unused)) static void test_end(struct test_log *t)
{
	char command[128];

	audit_close(&t->log);
	close(t->dir);
	snprintf(command, sizeof command, "rm -rf '%s'", t->path);
	assert_int_equal(system(command), 0);
}

/* The teardown of a test whose state is an own log. */
__attribute__((unused)) static int test_unmake(void **state)
{
	struct test_log *t = *state;

	test_end(t);
	free(t);
	return 0;
}

__attribute__((unused)) static void test_event(
	struct test_log *t, const char *name, uint64_t number)
{
	struct audit_fact fact = {.key = "n", .number = number};
	struct diag d = {0};
	int err = audit_event(&t->log, "s", 0, name, &fact, 1, &d);

	if (err)
		print_message("%s\n", d.text);
	assert_int_equal(err, 0);
}

/* A log of twenty events. */
__attribute__((unused)) static int test_make(void **state)
{
	struct test_log *t = malloc(sizeof *t);

	test_begin(t, 8);
	for (unsigned i = 0; i < 20; i++)
		test_event(t, "e", i);
	*state = t;
	return 0;
}

/* A file as bytes, and back. */
__attribute__((unused)) static void slurp(
	struct test_log *t, const char *name, struct buf *b)
{
	*b = BUF_INIT(1 << 24);
	assert_int_equal(file_read(t->dir, name, b), 0);
}

__attribute__((unused)) static void spit(
	struct test_log *t, const char *name, const void *p, size_t n)
{
	int fd = openat(t->dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, p, n), 0);
	close(fd);
}

/* What was found. */
struct findings {
	char kinds[1024];
	struct audit_verdict v;
	enum audit_outcome outcome;
};

__attribute__((unused)) static void note_finding(
	void *state, const struct audit_finding *f)
{
	struct findings *all = state;
	size_t n = strlen(all->kinds);

	snprintf(all->kinds + n, sizeof all->kinds - n, "%s%s:%s", n ? " " : "",
		f->level == AUDIT_TAMPER ? "T" : f->level == AUDIT_LOSS ? "L"
									: "n",
		f->kind);
}

enum { WITH_PIN = 1, WITH_SEED = 2, LINKS_ALONE = 4 };

__attribute__((unused)) static struct findings verify_with(struct test_log *t,
	unsigned with, uint64_t anchor_seq, const uint8_t *anchor)
{
	struct findings all = {0};
	struct diag d = {0};
	struct audit_trust trust = {
		.pin = with & WITH_PIN ? t->pin : NULL,
		.seed = with & WITH_SEED ? t->seed : NULL,
		.anchor_seq = anchor_seq,
		.anchor_link = anchor,
		.links_only = with & LINKS_ALONE,
	};

	assert_int_equal(
		audit_verify_dir(t->dir, &trust, note_finding, &all, &all.v, &d),
		0);
	all.outcome = audit_outcome(&all.v);
	return all;
}

__attribute__((unused)) static struct findings verify(
	struct test_log *t, unsigned with)
{
	return verify_with(t, with, 0, NULL);
}

#define assert_outcome(found, wanted)                                          \
	do {                                                                   \
		struct findings f_ = (found);                                  \
		if (f_.outcome != (wanted))                                    \
			print_message("outcome %d, wanted %d: %s\n",           \
				(int)f_.outcome, (int)(wanted), f_.kinds);     \
		assert_int_equal(f_.outcome, wanted);                          \
	} while (0)

#endif
