/* audit_verify.c - verify and anchor: is it whole, and a line to pin it by
 * SPDX-License-Identifier: MIT
 */
#include "log/audit_verify.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "audit.h"
#include "log/audit_read_json.h"
#include "sys/file.h"
#include "base/num.h"
#include "base/str.h"

/* The output of a verify: lines, or JSON. */
struct telling {
	const struct audit *a;
	struct json *json; /* NULL: lines */
	struct buf out;
	bool colour;
	uint64_t told;
};

enum { TOLD_MAX = 1000 };

static const char *const levels[] = {"note", "loss", "tampered"};

static void tell_finding(void *state, const struct audit_finding *f)
{
	struct telling *t = state;
	const char *code = f->level == AUDIT_TAMPER ? "1;31"
		: f->level == AUDIT_LOSS           ? "33"
						   : "2";

	if (t->told++ == TOLD_MAX && !t->json)
		buf_adds(&t->out, "... and more of the like\n");
	if (t->told > TOLD_MAX || (t->a->quiet && f->level != AUDIT_TAMPER))
		return;
	if (t->json) {
		json_putf(t->json,
			"{ level %s kind %s seq %ju segment %ju offset %ju "
			"text %s }",
			levels[f->level], f->kind, f->seq, f->segment,
			f->offset, f->text);
		return;
	}
	buf_addf(&t->out, "%s%s%s: ", cli_sgr(t->colour, code),
		levels[f->level], cli_sgr(t->colour, "0"));
	if (f->placed)
		buf_addf(&t->out, "record %ju (segment %016jx, byte %ju): ",
			f->seq, f->segment, f->offset);
	buf_addf(&t->out, "%s [%s]\n", f->text, f->kind);
}

bool audit_hex_parse(const char *s, size_t len, uint8_t *out, size_t n)
{
	if (len != 2 * n)
		return false;
	for (size_t i = 0; i < len; i++) {
		/* A person may type capital letters, which this program never
		 * prints. */
		int v = audit_hex((char)(s[i] | (s[i] & 64) >> 1));

		if (v < 0)
			return false;
		out[i / 2] = (uint8_t)(out[i / 2] << 4 | v);
	}
	return true;
}

/* The digits alone, or what "audit init --seal" printed, as lines or JSON. */
static void load_seed(const char *file, uint8_t seed[static AUDIT_HASH])
{
	autobuf struct buf text = BUF_INIT(4096);
	int err = file_read(AT_FDCWD, file, &text);
	const char *at;

	if (err)
		audit_die(file, err);
	at = str_find(buf_str(&text), "seed");
	at = at ? at + 4 : buf_str(&text);
	at += strspn(at, "\": \t");
	if (!audit_hex_parse(at, strcspn(at, "\"\r\n"), seed, AUDIT_HASH))
		cli_die(EXIT_USAGE, "%s: no seed: 64 hexadecimal digits were"
				    " expected",
			file);
	explicit_bzero(text.data, text.cap);
}

/* "SEQ:LINK", or the line that "audit anchor" printed: "aud1 LOG SEQ LINK
 * PIN", or a file holding it. */
static void load_anchor(
	const char *text, uint64_t *seq, uint8_t link[static AUDIT_HASH])
{
	autobuf struct buf b = BUF_INIT(4096);
	const char *at;

	if (strchr(text, '/') || !strchr(text, ':'))
		if (file_read(AT_FDCWD, text, &b) || !b.len)
			buf_clear(&b);
	if (!b.len)
		buf_adds(&b, text);
	at = str_after(buf_str(&b), "aud1 ");
	at = at ? strchr(at, ' ') : NULL;
	at = at ? at + 1 : buf_str(&b);
	at = audit_number(at, seq);
	if (!at || (*at != ':' && *at != ' ') ||
		!audit_hex_parse(at + 1, strspn(at + 1, "0123456789abcdef"), link,
			AUDIT_HASH))
		cli_die_usage(&audit_cli, "--anchor takes SEQ:LINK, or what"
					  " 'audit anchor' printed");
}

struct trusted {
	struct audit_trust trust;
	uint8_t pin[AUDIT_HASH], seed[AUDIT_HASH], link[AUDIT_HASH];
};

static void trust_from(const struct audit *a, struct trusted *t)
{
	*t = (struct trusted){0};
	t->trust.links_only = a->links;
	if (a->links && (a->pubkey || a->seed))
		cli_die_usage(&audit_cli, "--links looks at no key");
	if (a->pubkey) {
		const char *hex = str_after(a->pubkey, "sha256:");

		hex = hex ? hex : a->pubkey;
		if (!audit_hex_parse(hex, strlen(hex), t->pin, AUDIT_HASH))
			cli_die_usage(&audit_cli, "--pubkey takes the 64 digits"
						  " that 'audit init' printed");
		t->trust.pin = t->pin;
	}
	if (a->seed) {
		load_seed(a->seed, t->seed);
		t->trust.seed = t->seed;
	}
	if (a->anchor) {
		load_anchor(a->anchor, &t->trust.anchor_seq, t->link);
		t->trust.anchor_link = t->link;
	}
	if (a->first && num_u64(a->first, 0, UINT64_MAX, &t->trust.from))
		cli_die_usage(&audit_cli, "--from takes a record's number");
}

/* For people, and for programs, by enum audit_outcome. */
static const char *const outcomes[][2] = {
	[AUDIT_INTACT] = {"intact", "intact"},
	[AUDIT_TAMPERED] = {"tampered with", "tampered"},
	[AUDIT_DECLARED_LOSS] = {"intact but for a declared loss",
		"declared-loss"},
	[AUDIT_UNAUTHENTICATED] = {"intact but unauthenticated",
		"unauthenticated"},
};

void audit_put_hex(struct json *j, const char *key, const uint8_t *p, size_t n)
{
	char text[2 * AUDIT_HASH + 1];
	struct buf b = BUF_FIXED(text);

	audit_add_hex(&b, p, n);
	json_put_str(j, key, buf_str(&b));
}

/* Was the first key read? A part of a log lacks it. */
static bool knows_pin(const struct audit_verdict *v)
{
	static const uint8_t none[AUDIT_HASH];

	return memcmp(v->pin, none, AUDIT_HASH) != 0;
}

static void sum_json(struct json *j, const struct audit_verdict *v,
	enum audit_outcome o, uint64_t told)
{
	/* As they lie in the verdict. */
	uint64_t numbers[offsetof(struct audit_verdict, findings) /
		sizeof(uint64_t)];

	json_putf(j, "] findings_in_all %ju outcome %s exit %ju", told,
		outcomes[o][1], (uintmax_t)o);
	memcpy(numbers, v, sizeof numbers);
	audit_put_numbers(j,
		"records\0bytes\0segments\0epochs\0purged\0first\0last\0"
		"unsigned_from\0other_files\0",
		numbers);
	audit_put_hex(j, "link", v->link, AUDIT_HASH);
	if (knows_pin(v))
		audit_put_hex(j, "pubkey", v->pin, AUDIT_HASH);
	else
		json_null(json_key(j, "pubkey"));
	audit_put_hex(j, "log_id", v->log_id, AUDIT_ID);
	json_putf(j, "pinned %d seeded %d anchored %d", v->pinned, v->seeded,
		v->anchored);
	json_end(j);
}

/* Tells which option would prove what this log alone cannot. */
static void tell_how(struct telling *t, const struct audit_verdict *v)
{
	struct buf *out = &t->out;

	if (v->pinned || v->seeded || v->anchored) {
		buf_adds(out, t->a->links || v->partial
				? "that nothing is missing at its end is not"
				  " looked at: verify the whole log\n"
				: "that nothing is missing at its end cannot be"
				  " told before the next command has run\n");
		return;
	}
	if (t->a->links) {
		buf_adds(out, "to authenticate it: leave out --links\n");
		return;
	}
	buf_adds(out, "to authenticate it: --pubkey with the fingerprint noted"
		      " when it was begun");
	if (knows_pin(v)) {
		buf_adds(out, ";\nby its own word that is ");
		audit_add_hex(out, v->pin, AUDIT_HASH);
	}
	buf_addc(out, '\n');
}

static void put_count(
	struct buf *out, const char *before, uint64_t n, const char *what)
{
	buf_addf(out, "%s%ju %s%s", before, n, what, str_plural(n));
}

static void sum_text(struct telling *t, const struct audit_verdict *v,
	enum audit_outcome o)
{
	struct buf *out = &t->out;

	buf_addf(out, "%s%s%s", cli_sgr(t->colour, o == AUDIT_INTACT ? "1;32"
				: o == AUDIT_TAMPERED ? "1;31"
						      : "1;33"),
		outcomes[o][0], cli_sgr(t->colour, "0"));
	if (v->partial && v->first)
		buf_addf(out, " from record %ju on", v->first);
	put_count(out, ": ", v->records, "record");
	put_count(out, ", ", v->segments, "segment");
	put_count(out, ", ", v->bytes, "byte");
	if (t->a->links)
		buf_adds(out, ", signatures not looked at");
	else
		put_count(out, ", ", v->epochs, "signed epoch");
	buf_addc(out, '\n');
	if (t->a->quiet)
		return;
	buf_addf(out, "held against: %s%s%s%s\n",
		v->pinned ? "the pinned key; " : "",
		v->seeded ? "the seed; " : "",
		v->anchored ? "the anchor; " : "",
		v->pinned || v->seeded || v->anchored ? "and itself"
						      : "itself alone");
	if (v->strays) {
		put_count(out, "beside the log in its directory: ", v->strays,
			"file");
		buf_adds(out, ", named above\n");
	}
	if (v->purged) {
		put_count(out, "expunged, as the log says: ", v->purged,
			"record");
		buf_addc(out, '\n');
	}
	if (v->unsigned_from <= v->last && v->records && !t->a->links)
		buf_addf(out, "not signed yet: records %ju to %ju%s\n",
			v->unsigned_from, v->last,
			v->seeded && v->ended ? ", which the seed vouches for"
					      : "");
	if (o == AUDIT_UNAUTHENTICATED)
		tell_how(t, v);
}

int audit_run_verify(void *into, int argc, char **argv)
{
	const struct audit *a = into;
	struct telling t = {.a = a, .out = BUF_INIT(1 << 26)};
	struct json j = JSON_INIT(&t.out);
	autoreader struct audit_reader r = AUDIT_READER_INIT;
	struct audit_verdict v;
	enum audit_outcome o;
	struct diag d = {0};
	struct trusted trusted;
	uint64_t from;
	int err;

	trust_from(a, &trusted);
	t.colour = cli_colour(STDOUT_FILENO);
	if (a->json) {
		t.json = &j;
		json_putf(&j, "{ findings [");
	}
	if (argc > 1) {
		trusted.trust.partial = true;
		audit_source(a, argc, argv, &r);
		err = audit_verify_reader(
			&r, &trusted.trust, tell_finding, &t, &v, &d);
	} else {
		autofd int dir = audit_dir(a, false);

		err = audit_verify_dir(dir, &trusted.trust, tell_finding, &t,
			&v, &d);
	}
	from = trusted.trust.from;
	explicit_bzero(&trusted, sizeof trusted);
	if (err == -ENODATA)
		audit_no_log(a);
	if (err)
		audit_fail(&d);
	if (from > v.last && !v.findings[AUDIT_TAMPER])
		cli_die(EXIT_USAGE,
			"--from: there is no record %ju, the last is %ju", from,
			v.last);
	o = audit_outcome(&v);
	if (a->json)
		sum_json(&j, &v, o, t.told);
	else
		sum_text(&t, &v, o);
	cli_print(&t.out);
	buf_release(&t.out);
	return (int)o;
}

int audit_run_anchor(void *into)
{
	const struct audit *a = into;
	struct audit_log log = AUDIT_LOG_INIT;
	struct audit_head h;
	struct diag d = {0};
	char space[512];
	struct buf out = BUF_FIXED(space);
	struct json j = JSON_INIT(&out);

	audit_dir_log(a, &log);
	/* The anchored record must be on the disk: if the machine went down and
	 * lost it, the loss would look like tampering. */
	if (audit_checkpoint(&log, &d) || audit_peek(&log, &h, &d))
		audit_fail(&d);
	audit_close(&log);
	if (a->json) {
		json_open(&j, '{');
		audit_put_hex(&j, "log_id", h.log_id, AUDIT_ID);
		json_put_u64(&j, "seq", h.next - 1);
		audit_put_hex(&j, "link", h.link, AUDIT_HASH);
		audit_put_hex(&j, "pubkey", h.pin, AUDIT_HASH);
		cli_print_json(&j);
		return EXIT_OK;
	}
	buf_adds(&out, "aud1 ");
	audit_add_hex(&out, h.log_id, AUDIT_ID);
	buf_addf(&out, " %ju ", h.next - 1);
	audit_add_hex(&out, h.link, AUDIT_HASH);
	buf_addc(&out, ' ');
	audit_add_hex(&out, h.pin, AUDIT_HASH);
	buf_addc(&out, '\n');
	cli_print(&out);
	return EXIT_OK;
}
