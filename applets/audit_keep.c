/* audit_keep.c - init, rotate, vacuum, expunge: what changes the log's files
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit.h"
#include "log/audit_read_json.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/str.h"

/* Seed and fingerprint, once: nothing keeps the seed. */
static void print_init(
	const struct audit *a, const uint8_t *seed, const uint8_t *pin)
{
	char space[1024];
	struct buf out = BUF_FIXED(space);

	if (a->json) {
		struct json j = JSON_INIT(&out);

		json_open(&j, '{');
		audit_put_hex(&j, "pubkey", pin, AUDIT_HASH);
		if (a->seal)
			audit_put_hex(&j, "seed", seed, AUDIT_HASH);
		cli_print_json(&j);
		return;
	}
	buf_adds(&out, "pubkey ");
	audit_add_hex(&out, pin, AUDIT_HASH);
	if (a->seal) {
		buf_adds(&out, "\nseed   ");
		audit_add_hex(&out, seed, AUDIT_HASH);
	}
	buf_addc(&out, '\n');
	cli_print(&out);
	if (a->quiet)
		return;
	cli_warn("keep the pubkey off this machine: 'audit verify --pubkey' "
		 "proves by it whose log this is");
	if (a->seal)
		cli_warn("keep the seed off this machine, and secret: it is "
			 "stored nowhere, and vouches for every record");
	explicit_bzero(space, sizeof space);
}

static void print_would(const struct audit *a, const char *what)
{
	char space[64];
	struct buf out = BUF_FIXED(space);

	buf_addf(&out, a->json ? "{\"would\":\"%s\"}\n" : "would %s\n", what);
	cli_print(&out);
}

int audit_run_init(void *into)
{
	const struct audit *a = into;
	struct audit_log log = AUDIT_LOG_INIT;
	uint8_t seed[AUDIT_HASH], pin[AUDIT_HASH];
	struct diag d = {0};
	autofd int dir = -1;

	if (a->dry_run) {
		if (audit_is_there(a))
			cli_die(EXIT_USAGE, "there is an audit log already");
		print_would(a, "begin a log");
		return EXIT_OK;
	}
	dir = audit_dir(a, true);
	if (audit_seal(&log, dir, geteuid(), NULL, seed, pin, &d))
		audit_fail(&d);
	audit_close(&log);
	print_init(a, seed, pin);
	explicit_bzero(seed, sizeof seed);
	return EXIT_OK;
}

int audit_run_rotate(void *into)
{
	const struct audit *a = into;
	struct audit_log log = AUDIT_LOG_INIT;
	struct diag d = {0};

	audit_dir_log(a, &log);
	if (a->dry_run)
		print_would(a, "begin the next segment");
	else if (audit_rotate(&log, &d))
		audit_fail(&d);
	audit_close(&log);
	return EXIT_OK;
}

int audit_run_vacuum(void *into)
{
	const struct audit *a = into;
	struct audit_log log = AUDIT_LOG_INIT;
	struct diag d = {0};
	uint64_t since = 0;
	char space[128];
	struct buf out = BUF_FIXED(space);
	int n;

	if (!a->keep_bytes && !a->keep_time)
		cli_die_usage(&audit_cli, "vacuum needs --keep-bytes or"
					  " --keep-time");
	if (a->keep_time)
		since = clock_ns(CLOCK_REALTIME) - a->keep_time;
	audit_dir_log(a, &log);
	n = audit_vacuum(&log, a->keep_bytes, since, a->dry_run, &d);
	if (n < 0)
		audit_fail(&d);
	audit_close(&log);
	if (a->json)
		buf_addf(&out, "{\"segments\":%d,\"deleted\":%s}\n", n,
			a->dry_run ? "false" : "true");
	else
		buf_addf(&out, "%d segment%s %sdeleted\n", n,
			str_plural((unsigned)n), a->dry_run ? "would be " : "");
	cli_print(&out);
	return EXIT_OK;
}

int audit_run_expunge(void *into, int argc, char **argv)
{
	const struct audit *a = into;
	struct audit_log log = AUDIT_LOG_INIT;
	struct diag d = {0};
	char space[128];
	struct buf question = BUF_FIXED(space);
	uint64_t seq = 0;

	if (argc != 2 || num_u64(argv[1], 0, UINT64_MAX, &seq))
		cli_die_usage(&audit_cli, "expunge takes a record's number");
	buf_addf(&question, "Take out the contents of record %ju for good?",
		seq);
	if (!a->yes && !a->dry_run && cli_ask(buf_str(&question)) != 1)
		cli_die(EXIT_FOUND, "nothing was changed (--yes does not ask)");
	audit_dir_log(a, &log);
	if (audit_expunge(&log, seq, a->reason, a->dry_run, &d))
		audit_fail(&d);
	if (a->dry_run)
		print_would(a, "take it out");
	audit_close(&log);
	return EXIT_OK;
}
