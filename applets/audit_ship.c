/* audit_ship.c - sends the log to where others keep theirs
 * SPDX-License-Identifier: MIT
 *
 * The log is the queue: a receiver that is slow, full or gone is waited for here,
 * and by nobody who runs commands. A place in the log moves on when what stands
 * before it was taken for certain, so that each record arrives at least once.
 */
#include "ship/ship.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "audit.h"
#include "base/clock.h"
#include "base/kconfig.h"
#include "base/str.h"
#include "sys/file.h"
#include "tls/tls.h"
#include "version.h"

enum {
	TIMEOUT_S = 30,
	NAP_MAX_S = 60,
	WAIT_MAX_S = 600, /* whatever a receiver asks for */
	GATHER_MS = 200,  /* what comes so close together goes together */
	EXIT_LOSS = 3,
};

struct shipping {
	const struct audit *a;
	struct ship ship;
	int dir;
	struct audit_reader reader;
	struct audit_filter filter;
	struct audit_cursor from, last; /* where to go on; what was read last */
	bool placed;  /* there is a from */
	bool seeking; /* its record has not come yet */
	bool moved; /* last is behind from */
	uint64_t refused;
	struct diag told; /* the trouble that was told last */
};

static void tell_refused(void *ctx, uint64_t first, uint64_t last,
	uint64_t count, const char *why)
{
	struct shipping *p = ctx;

	p->refused += count;
	cli_warn("the receiver refuses %ju of the records %ju to %ju, and they"
		 " are not sent again: %s",
		count, first,
		last, *why ? why : "it says no reason");
}

/* Told here, and to the receiver. */
__attribute__((format(printf, 2, 3))) static void tell_note(
	struct shipping *p, const char *fmt, ...)
{
	char text[256];
	struct buf b = BUF_FIXED(text);
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	if (!p->a->quiet)
		cli_warn("%s", buf_str(&b));
	ship_note(&p->ship, clock_ns(CLOCK_REALTIME), buf_str(&b));
}

static void reader_begin(struct shipping *p)
{
	struct diag d = {0};

	audit_reader_release(&p->reader);
	if (audit_reader_dir(&p->reader, p->dir, p->from.seq, &d))
		audit_fail(&d);
	p->reader.patient = true;
	p->seeking = p->placed;
}

/* The log does not have what was shipped last. */
static void start_over(struct shipping *p)
{
	const uint64_t seq = p->from.seq;

	if (p->ship.to.kind == SHIP_FILE)
		cli_die(AUDIT_CURSOR_GONE,
			"%s ends with record %ju, which the log has not: it was"
			" cut, rewritten, or is another; keep what is there, and"
			" name another directory",
			p->ship.to.path, seq);
	tell_note(p,
		"record %ju, the last one that was shipped, is not in the log: "
		"it was cut, rewritten, or is another; all of it comes again",
		seq);
	p->from = (struct audit_cursor){0};
	p->placed = false;
	reader_begin(p);
}

/* Is r behind what was shipped before? -1: it shows that the log is another. */
static int is_new(struct shipping *p, const struct audit_record *r)
{
	const struct cbor_item *prev;

	if (!p->seeking)
		return 1;
	if (r->seq < p->from.seq)
		return 0;
	p->seeking = false;
	if (r->seq == p->from.seq)
		return audit_cursor_is(&p->from, r) ? 0 : -1;
	if (r->seq > p->from.seq + 1) {
		tell_note(p, "the records %ju to %ju were deleted before they"
			" were shipped", p->from.seq + 1, r->seq - 1);
		return 1;
	}
	/* The header of the first segment that is left names the record
	 * before it. */
	prev = audit_bytes(r, AUDIT_K_PREV);
	return prev && prev->n == AUDIT_HASH &&
			memcmp(prev->bytes, p->from.link, sizeof p->from.link)
		? -1
		: 1;
}

static void take_record(struct shipping *p, const struct audit_record *r)
{
	const int fresh = is_new(p, r);

	if (fresh < 0)
		start_over(p);
	if (fresh <= 0)
		return;
	audit_cursor_at(&p->last, r);
	p->moved = true;
	if (p->ship.to.kind == SHIP_FILE || audit_filter_match(&p->filter, r))
		ship_add(&p->ship, r);
}

/* A batch, or what there is. true: that was all. */
static bool batch_gather(struct shipping *p)
{
	struct audit_damage damage;
	struct audit_record r;
	struct diag d = {0};

	while (!ship_full(&p->ship)) {
		int got = audit_next(&p->reader, &r, &damage, &d);

		if (got < 0)
			audit_fail(&d);
		if (got == AUDIT_GOT_RECORD) {
			take_record(p, &r);
		} else if (got == AUDIT_GOT_END && p->seeking) {
			start_over(p);
		} else if (got == AUDIT_GOT_END) {
			return true;
		} else if (got != AUDIT_GOT_SEGMENT && !p->seeking) {
			tell_note(p,
				"segment %016jx, byte %ju: %ju bytes are no "
				"record that can be read", damage.segment,
				damage.offset, damage.bytes + damage.unread);
		}
	}
	return false;
}

static void nap_ms(uint64_t ms)
{
	const struct timespec t = {.tv_sec = (time_t)(ms / 1000),
		.tv_nsec = (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

/* The same trouble is told once. */
static void tell_trouble(struct shipping *p, const struct diag *d)
{
	const bool first = !*p->told.text;

	if (str_eq(p->told.text, d->text))
		return;
	p->told = *d;
	if (p->a->quiet)
		return;
	cli_diag(d);
	if (first)
		cli_warn("it is tried again until the receiver takes it");
}

/* Until the batch is there; without -f, one try. */
static void batch_deliver(struct shipping *p)
{
	uint64_t wait_s = 1;
	struct diag d = {0};

	while (ship_send(&p->ship, &d)) {
		const uint64_t asked = p->ship.wait_s < WAIT_MAX_S
			? p->ship.wait_s
			: WAIT_MAX_S;

		if (!p->a->follow)
			audit_fail(&d);
		tell_trouble(p, &d);
		nap_ms(1000 * (asked > wait_s ? asked : wait_s));
		wait_s = 2 * wait_s < NAP_MAX_S ? 2 * wait_s : NAP_MAX_S;
	}
	if (*p->told.text && !p->a->quiet)
		cli_warn("the receiver takes records again");
	p->told = (struct diag){0};
	ship_clear(&p->ship);
}

/* Records that no receiver is to get count as sent, too. */
static void move_on(struct shipping *p)
{
	if (p->ship.count)
		batch_deliver(p);
	p->from = p->last;
	if (p->a->mark && p->moved)
		audit_cursor_save(&p->from, p->a->mark);
	p->moved = false;
}

static void ship_on(struct shipping *p, int watch)
{
	struct diag d = {0};
	int more;

	for (;;) {
		const bool all = batch_gather(p);

		move_on(p);
		if (!all)
			continue;
		if (!p->a->follow)
			return;
		audit_await(watch);
		nap_ms(GATHER_MS);
		more = audit_reader_more(&p->reader, &d);
		if (more < 0)
			audit_fail(&d);
		if (more == AUDIT_ANEW)
			tell_note(p, "the log was deleted: another one begins");
	}
}

/* Lines "Name: value" as a request has them. */
static void load_headers(const char *file, struct buf *out)
{
	autobuf struct buf text = BUF_INIT(16384);
	int err = file_read(AT_FDCWD, file, &text);

	if (err)
		audit_die(file, err);
	for (const char *p = buf_str(&text); *p;) {
		const size_t n = str_line(p, strlen(p));
		const char *colon = memchr(p, ':', n);

		for (size_t i = 0; i < n; i++)
			if (p[i] < ' ' || p[i] >= 0x7f)
				colon = NULL;
		if (n && (!colon || colon == p))
			cli_die(EXIT_USAGE, "%s: a line is 'Name: value'", file);
		buf_add(out, p, n);
		buf_adds(out, n ? "\r\n" : "");
		p += n + (p[n] == '\n');
	}
}

static void filter_begin(struct shipping *p)
{
	const struct audit *a = p->a;

	audit_filter_from(a, &p->filter);
	if (audit_filter_kinds(&p->filter))
		cli_die_usage(&audit_cli, "ship chooses by kind, session and time;"
			" what a command did is for the receiver to search");
	if (p->ship.to.kind == SHIP_FILE &&
		(a->type || a->only || a->session || a->since || a->until || a->invert))
		cli_die_usage(&audit_cli, "a file gets all records: with some left"
			" out nothing would prove the others");
	if (!p->filter.types && !a->all)
		p->filter.types = ~(1u << AUDIT_HEADER | 1u << AUDIT_CKPT);
}

/* The place at which shipping goes on. */
static void place_find(struct shipping *p)
{
	uint8_t link[AUDIT_HASH] = {0};
	struct diag d = {0};
	int found;

	if (p->ship.to.kind != SHIP_FILE) {
		if (!p->a->mark)
			cli_die_usage(&audit_cli, "ship keeps its place in"
				" --checkpoint FILE");
		p->placed = audit_cursor_load(&p->from, p->a->mark);
	} else {
		if (p->a->mark)
			cli_die_usage(&audit_cli, "a file is its own --checkpoint");
		found = ship_file_open(&p->ship, &p->from.seq, link, &d);
		if (found < 0)
			audit_fail(&d);
		p->placed = found;
		memcpy(p->from.link, link, sizeof p->from.link);
	}
}

/* Checks the options before the log is read. */
static void request_check(struct shipping *p)
{
	struct diag d = {0};

	if (!IS_ENABLED(CONFIG_AUDIT_SHIP))
		cli_die(EXIT_USAGE, "ship: AUDIT_SHIP is not built in");
	if (!p->a->to)
		cli_die_usage(&audit_cli, "ship needs --to");
	if (ship_target_parse(&p->ship.to, p->a->to, &d))
		cli_die_diag(EXIT_USAGE, &d);
	if (p->a->header_file && p->ship.to.kind != SHIP_OTLP)
		cli_die_usage(&audit_cli, "--header-file is of otlp");
	if (p->ship.to.tls != (p->a->ca != NULL))
		cli_die_usage(&audit_cli, p->a->ca
				? "--ca is of syslog+tls and otlp+tls"
				: "%s needs --ca, who vouches for the receiver,"
				  " such as /etc/ssl/certs/ca-certificates.crt",
			p->a->to);
	if (!p->a->cert != !p->a->key || (p->a->cert && !p->a->ca))
		cli_die_usage(&audit_cli, "--cert and --key go together, with --ca");
	if (p->a->cert && !IS_ENABLED(CONFIG_AUDIT_SHIP_TLS))
		cli_die(EXIT_USAGE, "--cert: AUDIT_SHIP_TLS is not built in");
	if (p->a->cert && tls_keys_load(&p->ship.keys, p->a->cert, p->a->key,
				  false, &d))
		cli_die_diag(EXIT_USAGE, &d);
	filter_begin(p);
}

int audit_run_ship(void *into)
{
	static struct shipping p;
	autobuf struct buf headers = BUF_INIT(16384);
	struct utsname host = {0};
	int watch;

	p.a = into;
	p.reader = AUDIT_READER_INIT;
	ship_init(&p.ship);
	request_check(&p);
	if (p.a->header_file)
		load_headers(p.a->header_file, &headers);
	uname(&host);
	p.ship.host = host.nodename;
	p.ship.version = WARDBOX_VERSION;
	p.ship.headers = buf_str(&headers);
	p.ship.ca = p.a->ca;
	p.ship.timeout_ns =
		p.a->timeout ? p.a->timeout : TIMEOUT_S * 1000000000ULL;
	p.ship.refused = tell_refused;
	p.ship.ctx = &p;
	p.dir = audit_dir(p.a, false);
	if (!audit_is_there(p.a) && !p.a->follow)
		audit_no_log(p.a);
	watch = audit_watch(p.dir);
	place_find(&p);
	reader_begin(&p);
	ship_on(&p, watch);
	audit_reader_release(&p.reader);
	audit_filter_release(&p.filter);
	ship_release(&p.ship);
	close(watch);
	close(p.dir);
	return p.refused ? EXIT_LOSS : EXIT_OK;
}
