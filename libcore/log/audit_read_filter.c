/* audit_read_filter.c - which records, and whose
 * SPDX-License-Identifier: MIT
 */
#include "log/audit_read_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/audit_write.h"
#include "base/num.h"
#include "base/str.h"

/* The conditions about a command that are known to hold. */
struct audit_seen {
	uint64_t exec; /* 0: free */
	uint8_t fits;
};
enum { FITS_START = 1, FITS_END = 2, FITS_OUTPUT = 4 };
enum { SEEN_MAX = 1 << 24 };

void audit_filter_release(struct audit_filter *f)
{
	free(f->seen);
	free(f->ends);
	f->seen = NULL;
	f->ends = NULL;
	f->seen_cap = f->seen_count = 0;
}

int audit_filter_exit(struct audit_filter *f, const char *text)
{
	f->exit = *text == '!' ? AUDIT_EXIT_NOT : AUDIT_EXIT_IS;
	if (str_eq(text, "fail"))
		f->exit = AUDIT_EXIT_FAIL;
	else if (str_eq(text, "signal"))
		f->exit = AUDIT_EXIT_SIGNAL;
	else
		return num_int(text + (*text == '!'), 0, 255, &f->exit_code);
	return 0;
}

static bool asks_start(const struct audit_filter *f)
{
	return f->exe || f->command || f->cwd || f->rule || f->pid ||
		f->decisions;
}

static bool asks_end(const struct audit_filter *f)
{
	return f->exit != AUDIT_EXIT_ANY || f->min_duration;
}

uint32_t audit_filter_kinds(const struct audit_filter *f)
{
	return (asks_start(f) ? 1u << AUDIT_START : 0) |
		(asks_end(f) ? 1u << AUDIT_END : 0) |
		(f->grep ? 1u << AUDIT_IO : 0);
}

static struct audit_seen *exec_slot(const struct audit_filter *f, uint64_t exec)
{
	size_t mask = f->seen_cap - 1;
	size_t i = (size_t)(exec * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;

	while (f->seen[i].exec && f->seen[i].exec != exec)
		i = (i + 1) & mask;
	return &f->seen[i];
}

static int execs_grow(struct audit_filter *f)
{
	struct audit_filter bigger = *f;

	if (f->seen_cap >= SEEN_MAX)
		return -E2BIG;
	bigger.seen_cap = f->seen_cap ? 2 * f->seen_cap : 1024;
	bigger.seen = calloc(bigger.seen_cap, sizeof *bigger.seen);
	if (!bigger.seen)
		return -ENOMEM;
	for (size_t i = 0; i < f->seen_cap; i++)
		if (f->seen[i].exec)
			*exec_slot(&bigger, f->seen[i].exec) = f->seen[i];
	free(f->seen);
	f->seen = bigger.seen;
	f->seen_cap = bigger.seen_cap;
	return 0;
}

static bool end_fits(const struct audit_filter *f, const struct audit_record *r)
{
	int64_t code = audit_int(r, AUDIT_K_EXIT, 0);
	uint64_t sig = audit_uint(r, AUDIT_K_SIGNAL, 0);

	if (audit_uint(r, AUDIT_K_DURATION, 0) < f->min_duration)
		return false;
	switch (f->exit) {
	case AUDIT_EXIT_ANY:
		return true;
	case AUDIT_EXIT_IS:
		return !sig && code == f->exit_code;
	case AUDIT_EXIT_NOT:
		return sig || code != f->exit_code;
	case AUDIT_EXIT_FAIL:
		return sig || code != 0;
	case AUDIT_EXIT_SIGNAL:
		break;
	}
	return sig != 0;
}

/* The conditions of its command that r fulfils. */
static uint8_t judge_exec(struct audit_filter *f, const struct audit_record *r)
{
	if (r->type == AUDIT_START)
		return audit_start_fits(f, r) ? FITS_START : 0;
	if (r->type == AUDIT_END)
		return end_fits(f, r) ? FITS_END : 0;
	if (r->type == AUDIT_IO && f->grep)
		return audit_output_fits(f, r) ? FITS_OUTPUT : 0;
	return 0;
}

int audit_filter_note(struct audit_filter *f, const struct audit_record *r)
{
	struct audit_seen *s;
	uint8_t fits;

	if (f->grep && !f->ends) {
		int err = audit_output_begin(f);

		if (err)
			return err;
	}
	fits = r->exec ? judge_exec(f, r) : 0;
	if (!fits)
		return 0;
	if (4 * f->seen_count >= 3 * f->seen_cap) {
		int err = execs_grow(f);

		if (err)
			return err;
	}
	s = exec_slot(f, r->exec);
	if (!s->exec)
		f->seen_count++;
	s->exec = r->exec;
	s->fits |= fits;
	return 0;
}

static bool command_fits(const struct audit_filter *f, uint64_t exec)
{
	const uint8_t want = (asks_start(f) ? FITS_START : 0) |
		(asks_end(f) ? FITS_END : 0) | (f->grep ? FITS_OUTPUT : 0);
	uint8_t fits;

	if (!want)
		return true;
	if (!exec)
		return false;
	fits = f->seen_cap ? exec_slot(f, exec)->fits : 0;
	return ((fits & want) == want) != f->invert;
}

static bool hex_prefix(const uint8_t *id, const char *s)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = strlen(s);

	if (n < 4 || n > 2 * AUDIT_ID)
		return false;
	for (size_t i = 0; i < n; i++)
		if (s[i] != digits[id[i / 2] >> (i % 2 ? 0 : 4) & 15])
			return false;
	return true;
}

static bool session_fits(const char *name, const uint8_t *id)
{
	uint8_t wanted[AUDIT_ID];

	if (!id)
		return false;
	audit_session(wanted, name);
	return memcmp(wanted, id, AUDIT_ID) == 0 || hex_prefix(id, name);
}

/* The text need not end with a zero. */
static bool event_fits(const char *glob, const struct audit_record *r)
{
	const struct cbor_item *name = audit_text(r, AUDIT_K_EVENT);
	char text[64];

	if (r->type != AUDIT_EVENT || !name || name->n >= sizeof text)
		return false;
	memcpy(text, name->bytes, name->n);
	text[name->n] = '\0';
	return str_glob(glob, text);
}

bool audit_filter_match(
	const struct audit_filter *f, const struct audit_record *r)
{
	uint64_t stream;

	if (r->wall < f->since || (f->until && r->wall > f->until))
		return false;
	if (r->seq < f->first || (f->last && r->seq > f->last))
		return false;
	if (f->exec && r->exec != f->exec)
		return false;
	if (f->types && (r->type > 31 || !(f->types >> r->type & 1)))
		return false;
	if (f->event && !event_fits(f->event, r))
		return false;
	if (f->streams && r->type == AUDIT_IO) {
		stream = audit_uint(r, AUDIT_K_STREAM, 31);
		if (stream > 31 || !(f->streams >> stream & 1))
			return false;
	}
	if (f->session && !session_fits(f->session, r->session))
		return false;
	return command_fits(f, r->exec);
}
