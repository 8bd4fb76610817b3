/* test_audit_kills.c - writers that are killed at any moment
 * SPDX-License-Identifier: MIT
 */
#include "audit_unit.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/cbor.h"

static int make(void **state)
{
	struct test_log *t = malloc(sizeof *t);

	test_begin(t, 8);
	*state = t;
	return 0;
}

/* What the writers say of their records, seen by all. */
enum { KILL_RECORDS = 1 << 22 };
struct acks {
	_Atomic uint32_t next;
	uint8_t said[KILL_RECORDS]; /* it is in the log */
	uint8_t seen[KILL_RECORDS];
};

__attribute__((noreturn)) static void write_until_killed(
	struct test_log *t, struct acks *acks)
{
	struct audit_log log = AUDIT_LOG_INIT;
	struct diag d;

	t->cfg.now = NULL;
	t->cfg.segment_bytes = 200000;
	for (;;) {
		if (audit_open(&log, t->dir, geteuid(), &t->cfg, &d))
			_exit(1);
		for (unsigned n = 0; n < 20; n++) {
			struct audit_fact f = {.key = "n",
				.number = atomic_fetch_add(&acks->next, 1)};

			if (f.number >= KILL_RECORDS ||
				audit_event(
					&log, "k", 0, "kill", &f, 1, &d))
				_exit(1);
			acks->said[f.number] = 1;
		}
		audit_close(&log);
	}
}

static void see_records(struct test_log *t, struct acks *acks)
{
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	struct audit_damage damage;
	struct audit_record rec;
	struct cbor_item item;
	struct diag d;
	int got;

	assert_int_equal(audit_reader_dir(&r, t->dir, 0, &d), 0);
	while ((got = audit_next(&r, &rec, &damage, &d)) > 0) {
		const struct audit_field *f;
		struct cbor_in in;

		f = got == AUDIT_GOT_RECORD ? audit_field(&rec, AUDIT_K_DETAIL)
					    : NULL;
		if (!f)
			continue;
		in = (struct cbor_in){.p = f->raw, .end = f->raw + f->raw_len};
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(cbor_next(&in, &item), 0);
		if (item.major == CBOR_UINT && item.n < KILL_RECORDS)
			acks->seen[item.n] = 1;
	}
	assert_int_equal(got, AUDIT_GOT_END);
}

/* Eight writers at once, killed at any moment, again and again. WARDBOX_KILLS
 * says how often. */
static void survives_kills(void **state)
{
	struct test_log *t = *state;
	const char *times = getenv("WARDBOX_KILLS");
	const unsigned kills = times ? (unsigned)atoi(times) : 200;
	struct acks *acks = mmap(NULL, sizeof *acks, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct findings all;
	pid_t pid[8] = {0};

	assert_true(acks != MAP_FAILED);
	for (unsigned n = 0; n < kills + 8; n++) {
		pid_t *p = &pid[n % 8];

		if (*p) {
			usleep(n * 7919 % 1000);
			kill(*p, SIGKILL);
			waitpid(*p, NULL, 0);
		}
		*p = n < kills ? fork() : 0;
		if (n < kills && !*p)
			write_until_killed(t, acks);
	}
	t->log.cfg.now = NULL;
	test_event(t, "after", 1);
	all = verify(t, WITH_PIN | WITH_SEED);
	if (all.v.findings[AUDIT_TAMPER])
		fail_msg("%s", all.kinds);
	see_records(t, acks);
	for (uint32_t i = 0; i < KILL_RECORDS; i++)
		if (acks->said[i] && !acks->seen[i])
			fail_msg("record %u of %u is lost", i, acks->next);
	assert_true(acks->next > kills);
	munmap(acks, sizeof *acks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(survives_kills, make, test_unmake),
	};

	return cmocka_run_group_tests_name("audit_kills", tests, NULL, NULL);
}
