/* audit_text.c - times, names, numbers, failures as people read and write them
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit.h"
#include "log/audit_read_json.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/str.h"

static const uint64_t second = 1000000000;

void audit_put_local(struct buf *out, uint64_t ns, bool utc, bool brief)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t t = (time_t)(ns / second);
	struct tm tm = {0};
	long off;

	if (!(utc ? gmtime_r(&t, &tm) : localtime_r(&t, &tm))) {
		buf_addf(out, "@%ju", ns / second);
		return;
	}
	if (brief) {
		buf_addf(out, "%.3s %2d %02d:%02d:%02d", months + 3 * tm.tm_mon,
			tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
		return;
	}
	off = tm.tm_gmtoff / 60;
	buf_addf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%06u%c%02ld%02ld",
		tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
		tm.tm_min, tm.tm_sec, (unsigned)(ns % second / 1000),
		off < 0 ? '-' : '+', (off < 0 ? -off : off) / 60,
		(off < 0 ? -off : off) % 60);
}

void audit_put_lines(struct buf *out, const char *s, size_t n)
{
	while (n) {
		const char *end = memchr(s, '\n', n);
		size_t part = end ? (size_t)(end - s) : n;

		cli_escape(out, s, part);
		if (end)
			buf_addc(out, '\n');
		part += end != NULL;
		s += part;
		n -= part;
	}
}

void audit_put_duration(struct buf *out, uint64_t ns)
{
	uint64_t us = ns / 1000;

	if (us < 1000)
		buf_addf(out, "%ju us", us);
	else if (us < 1000000)
		buf_addf(out, "%ju.%ju ms", us / 1000, us / 100 % 10);
	else if (us < 60 * 1000000ULL)
		buf_addf(out, "%ju.%02ju s", us / 1000000, us / 10000 % 100);
	else if (us < 3600 * 1000000ULL)
		buf_addf(out, "%ju min %ju s", us / 60000000,
			us / 1000000 % 60);
	else
		buf_addf(out, "%ju h %ju min", us / 3600000000,
			us / 60000000 % 60);
}

/* Parses the end of a time as this program prints it: ".123456", then "Z",
 * "+0100" or "+01:00". *ahead: seconds by which the time is ahead of UTC. */
static int parse_zone(const char *s, uint64_t *ns, bool *utc, time_t *ahead)
{
	unsigned digits[4];
	bool colon;

	*ns = 0;
	*ahead = 0;
	if (*s == '.')
		for (uint64_t unit = second / 10; chr_digit(*++s); unit /= 10)
			*ns += (uint64_t)(*s - '0') * unit;
	if (!*s)
		return 0;
	*utc = true;
	if (str_eq(s, "Z"))
		return 0;
	colon = strlen(s) > 3 && s[3] == ':';
	if ((*s != '+' && *s != '-') || strlen(s) != (colon ? 6 : 5))
		return -EINVAL;
	for (unsigned i = 0; i < 4; i++) {
		const char c = s[i + 1 + (colon && i > 1)];

		if (!chr_digit(c))
			return -EINVAL;
		digits[i] = (unsigned)(c - '0');
	}
	*ahead = (time_t)(digits[0] * 10 + digits[1]) * 3600 +
		(time_t)(digits[2] * 10 + digits[3]) * 60;
	*ahead = *s == '-' ? -*ahead : *ahead;
	return 0;
}

/* "2026-11-18", "2026-11-18 10:22", "2026-11-18 10:22:01", T for the space. */
static int parse_date(const char *s, bool utc, uint64_t *ns)
{
	static const char shape[] = "dddd-dd-dd dd:dd:dd";
	size_t n = strcspn(s, ".Z+");
	struct tm tm = {.tm_isdst = -1};
	int field[6] = {0}, at = 0;
	time_t t, ahead;
	uint64_t part;

	/* The minus of a zone is not that of a date. */
	if (n == strlen(s) && n > 19 && s[19] == '-')
		n = 19;
	if ((n != 10 && n != 16 && n != 19) || (s[n] && n != 19) ||
		parse_zone(s + n, &part, &utc, &ahead))
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (shape[i] == 'd' && chr_digit(s[i]))
			field[at] = field[at] * 10 + (s[i] - '0');
		else if (shape[i] == s[i] || (shape[i] == ' ' && s[i] == 'T'))
			at++;
		else
			return -EINVAL;
	}
	if (field[1] < 1 || field[1] > 12 || field[2] < 1 || field[2] > 31 ||
		field[3] > 23 || field[4] > 59 || field[5] > 60)
		return -EINVAL;
	tm.tm_year = field[0] - 1900;
	tm.tm_mon = field[1] - 1;
	tm.tm_mday = field[2];
	tm.tm_hour = field[3];
	tm.tm_min = field[4];
	tm.tm_sec = field[5];
	t = (utc ? timegm(&tm) : mktime(&tm)) - ahead;
	/* February has no 30th. */
	if (t < 0 || tm.tm_mday != field[2])
		return -EINVAL;
	/* No record is of later than what 64 bits hold. */
	*ns = (uint64_t)t < INT64_MAX / second ? (uint64_t)t * second + part
					       : INT64_MAX;
	return 0;
}

/* The last midnight, days ago. */
static int last_midnight(uint64_t now, int days, bool utc, uint64_t *ns)
{
	time_t t = (time_t)(now / second);
	struct tm tm = {0};

	if (!(utc ? gmtime_r(&t, &tm) : localtime_r(&t, &tm)))
		return -EINVAL;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday -= days;
	tm.tm_isdst = -1;
	t = utc ? timegm(&tm) : mktime(&tm);
	*ns = (uint64_t)t * second;
	return 0;
}

int audit_parse_time(const char *s, bool utc, uint64_t *ns)
{
	const uint64_t now = clock_ns(CLOCK_REALTIME);
	uint64_t v;

	if (str_eq(s, "now"))
		*ns = now;
	else if (str_eq(s, "recent"))
		*ns = now - 600 * second;
	else if (str_eq(s, "boot"))
		*ns = now - clock_ns(CLOCK_BOOTTIME);
	else if (str_eq(s, "today"))
		return last_midnight(now, 0, utc, ns);
	else if (str_eq(s, "yesterday"))
		return last_midnight(now, 1, utc, ns);
	else if (s[0] == '@' && !num_duration(s + 1, 0, INT64_MAX, &v))
		*ns = v;
	else if (s[0] == '-' && !num_duration(s + 1, 0, now, &v))
		*ns = now - v;
	else
		return parse_date(s, utc, ns);
	return 0;
}

void audit_names_note(struct audit_names *names, const struct audit_record *r)
{
	const struct cbor_item *name = audit_text(r, AUDIT_K_NAME);
	char old[48];
	size_t n;
	unsigned at;

	if (!name || !r->session)
		return;
	if (names->count && audit_names_find(names, r->session, old)[0] != '~')
		return;
	at = names->count++ % AUDIT_NAMES;
	memcpy(names->known[at].id, r->session, AUDIT_ID);
	n = name->n < sizeof names->known[at].name - 1
		? (size_t)name->n
		: sizeof names->known[at].name - 1;
	memcpy(names->known[at].name, name->bytes, n);
	names->known[at].name[n] = '\0';
}

const char *audit_names_find(const struct audit_names *names,
	const uint8_t *id, char space[static 48])
{
	struct buf b = {.data = space, .cap = 48, .max = 47};

	if (!id)
		return "-";
	for (unsigned i = 0; i < names->count && i < AUDIT_NAMES; i++)
		if (memcmp(names->known[i].id, id, AUDIT_ID) == 0)
			return names->known[i].name;
	buf_addc(&b, '~');
	audit_add_hex(&b, id, 4);
	return buf_str(&b);
}

void audit_die(const char *what, int err)
{
	cli_die(EXIT_USAGE, "%s: %s", what, strerror(err < 0 ? -err : err));
}

void audit_fail(const struct diag *d)
{
	cli_die_diag(EXIT_USAGE, d);
}

const char *audit_number(const char *s, uint64_t *n)
{
	const size_t len = strspn(s, "0123456789");
	char digits[24] = "";

	if (!len || len >= sizeof digits)
		return NULL;
	memcpy(digits, s, len);
	return num_u64(digits, 0, UINT64_MAX, n) ? NULL : s + len;
}

void *audit_need(void *p)
{
	if (!p)
		cli_die(EXIT_USAGE, "out of memory");
	return p;
}

void *audit_room(
	void *list, size_t count, size_t *cap, size_t size, size_t most)
{
	if (count < *cap)
		return list;
	*cap = *cap ? 2 * *cap : 256;
	if (*cap > most)
		cli_die(EXIT_USAGE, "there is more than can be held in memory");
	return audit_need(reallocarray(list, *cap, size));
}

void audit_put_numbers(
	struct json *j, const char *names, const uint64_t *values)
{
	for (; *names; names = cli_part(names))
		json_put_u64(j, names, *values++);
}

void audit_print_some(struct buf *out, bool now)
{
	enum { LARGE = 65536 };

	if (now || out->len > LARGE)
		cli_print(out);
}
