/* test_audit_exec.c - the records of a command: start, what it said, end
 * SPDX-License-Identifier: MIT
 */
#include "audit_unit.h"

#include <signal.h>
#include <sys/resource.h>

#include "log/audit_write_in.h"

static void records_a_command(void **state)
{
	struct test_log *t = *state;
	static const char *const argv[] = {"sh", "-c", "echo hi", "\xff"};
	static const char *const env[] = {"B=2", "AA=3", "A=1", "A=9", "bad",
		NULL};
	const struct audit_start start = {.session = "session-x",
		.argv = argv,
		.argc = 4,
		.cwd = "/w",
		.exe = "/bin/sh",
		.pid = 7,
		.ppid = 6,
		.rule = "allow.echo",
		.env = env};
	const struct audit_end end = {.exit_code = 3, .rollback = "none"};
	struct audit_exec x = AUDIT_EXEC_INIT;
	struct diag d = {0};
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	struct audit_damage damage;
	struct audit_record rec;
	unsigned met = 0;
	int got;

	assert_int_equal(audit_start(&x, &t->log, &start, NULL, &d), 0);
	assert_int_equal(audit_io(&x, AUDIT_OUT, "hi\n", 3, &d), 0);
	assert_true(audit_due(&x) >= 0);
	assert_int_equal(audit_winsize(&x, 80, 24, &d), 0);
	assert_int_equal(audit_signal(&x, SIGINT, &d), 0);
	assert_int_equal(audit_io_hidden(&x, &d), 0);
	assert_int_equal(audit_end(&x, &end, &d), 0);
	audit_exec_release(&x);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	assert_int_equal(audit_reader_dir(&r, t->dir, 0, &d), 0);
	while ((got = audit_next(&r, &rec, &damage, &d)) != AUDIT_GOT_END) {
		if (got != AUDIT_GOT_RECORD || rec.exec != x.id)
			continue;
		met |= 1u << rec.type;
		if (rec.type == AUDIT_END) {
			assert_int_equal(audit_int(&rec, AUDIT_K_EXIT, 0), 3);
			assert_non_null(audit_field(&rec, AUDIT_K_TOTALS));
		}
		if (rec.type == AUDIT_START)
			assert_int_equal(
				audit_field(&rec, AUDIT_K_ENV)->item.n, 3);
	}
	assert_int_equal(
		met, 1u << AUDIT_START | 1u << AUDIT_IO | 1u << AUDIT_END);
}

/* Of a long stream the first half and the last are kept, and how much lies
 * between. */
static void keeps_both_ends_of_a_long_output(void **state)
{
	struct test_log *t = *state;
	static const char *const argv[] = {"x"};
	const struct audit_start start = {.argv = argv, .argc = 1};
	const struct audit_end end = {0};
	struct audit_exec x = AUDIT_EXEC_INIT;
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	autobuf struct buf all = BUF_INIT(1 << 20);
	struct audit_damage damage;
	struct audit_record rec;
	struct diag d = {0};
	uint64_t gap = 0;
	char line[16];
	int got;

	t->log.cfg.stream_cap = 100000;
	assert_int_equal(audit_start(&x, &t->log, &start, NULL, &d), 0);
	for (unsigned i = 0; i < 50000; i++) {
		snprintf(line, sizeof line, "%08u\n", i);
		assert_int_equal(audit_io(&x, AUDIT_OUT, line, 9, &d), 0);
	}
	assert_int_equal(audit_end(&x, &end, &d), 0);
	audit_exec_release(&x);
	assert_int_equal(audit_reader_dir(&r, t->dir, 0, &d), 0);
	while ((got = audit_next(&r, &rec, &damage, &d)) != AUDIT_GOT_END) {
		const struct cbor_item *data;

		if (got != AUDIT_GOT_RECORD || rec.type != AUDIT_IO)
			continue;
		data = audit_bytes(&rec, AUDIT_K_DATA);
		gap += audit_uint(&rec, AUDIT_K_GAP, 0);
		buf_add(&all, data->bytes, data->n);
	}
	assert_int_equal(all.len, 100000);
	assert_int_equal(gap, 350000);
	assert_memory_equal(all.data, "00000000\n00000001\n", 18);
	assert_memory_equal(all.data + all.len - 9, "00049999\n", 9);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
}

static void endless_arguments_are_cut(void **state)
{
	struct test_log *t = *state;
	const char **argv = calloc(3000, sizeof *argv);
	struct audit_start start = {.argv = argv, .argc = 3000};
	struct audit_exec x = AUDIT_EXEC_INIT;
	char *big = malloc(2000000);
	struct diag d = {0};

	memset(big, 'x', 1999999);
	big[1999999] = '\0';
	for (unsigned i = 0; i < 3000; i++)
		argv[i] = i ? "-x some argument of usual length, or so, and"
			      " then some more of it, to be sure, and more"
			    : big;
	assert_int_equal(audit_deny(&x, &t->log, &start, NULL, NULL, 0, &d), 0);
	audit_exec_release(&x);
	assert_outcome(verify(t, WITH_PIN | WITH_SEED), AUDIT_INTACT);
	free(big);
	free(argv);
}

#define ON_LOG(f) cmocka_unit_test_setup_teardown(f, test_make, test_unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_LOG(records_a_command),
		ON_LOG(keeps_both_ends_of_a_long_output),
		ON_LOG(endless_arguments_are_cut),
	};

	return cmocka_run_group_tests_name("audit_exec", tests, NULL, NULL);
}
