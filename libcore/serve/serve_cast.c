/* serve_cast.c - a command's output as asciinema has it
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_cast.h"

#include <string.h>

#include "base/json.h"

enum { US = 1000000 };

/* A number of ALiS: seven bits a byte, the lowest first. */
static void add_leb128(struct buf *out, uint64_t v)
{
	for (; v > 127; v >>= 7)
		buf_addc(out, (char)(v | 128));
	buf_addc(out, (char)v);
}

/* What each frame of ALiS begins with: its kind, its number, the time since the one
 * before. */
static void add_frame(struct cast *c, struct buf *out, char kind, uint64_t us)
{
	us = us > c->last_us ? us : c->last_us;
	buf_addc(out, kind);
	add_leb128(out, ++c->events);
	add_leb128(out, us - c->last_us);
	c->last_us = us;
}

/* [time, "kind", "data"] */
static void add_line(struct cast *c, struct buf *out, char kind, uint64_t us,
	const char *data, size_t n)
{
	const char text[] = {kind, '\0'};
	struct json j = JSON_INIT(out);
	char number[32];
	uint64_t at;

	us = us > c->last_us ? us : c->last_us;
	at = us - (c->form == CAST_V3 ? c->last_us : c->first_us);
	c->last_us = us;
	json_open(&j, '[');
	BUF_PRINT(number, "%ju.%06ju", (uintmax_t)(at / US), (uintmax_t)(at % US));
	json_raw(&j, number, strlen(number));
	json_str(&j, text);
	json_strn(&j, data, n);
	json_close(&j);
	buf_addc(out, '\n');
}

void cast_begin(struct cast *c, struct buf *out, uint64_t us, unsigned rows,
	unsigned cols, const char *command, uint64_t began)
{
	struct json j = JSON_INIT(out);

	c->first_us = c->last_us = us;
	if (c->form == CAST_ALIS) {
		buf_addc(out, 1);
		add_leb128(out, c->events);
		add_leb128(out, us);
		add_leb128(out, cols);
		add_leb128(out, rows);
		/* No theme, and nothing on the screen. */
		buf_addc(out, 0);
		buf_addc(out, 0);
		return;
	}
	if (c->form == CAST_V2)
		json_putf(&j, "{ version %ju width %ju height %ju",
			(uintmax_t)2, (uintmax_t)cols, (uintmax_t)rows);
	else
		json_putf(&j, "{ version %ju term { cols %ju rows %ju }",
			(uintmax_t)3, (uintmax_t)cols, (uintmax_t)rows);
	json_putf(&j, "timestamp %ju command %s }", (uintmax_t)began, command);
	buf_addc(out, '\n');
}

/* Without a terminal nothing returns to the line's begin. */
static void add_returns(struct buf *out, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\n')
			buf_addc(out, '\r');
		buf_addc(out, bytes[i]);
	}
}

void cast_output(struct cast *c, struct buf *out, uint64_t us, const char *bytes,
	size_t n)
{
	autobuf struct buf text = BUF_INIT(2 * n + 1);

	if (c->pipes) {
		add_returns(&text, bytes, n);
		bytes = buf_str(&text);
		n = text.len;
	}
	if (c->form != CAST_ALIS) {
		add_line(c, out, 'o', us, bytes, n);
		return;
	}
	add_frame(c, out, 'o', us);
	add_leb128(out, n);
	buf_add(out, bytes, n);
}

void cast_resize(struct cast *c, struct buf *out, uint64_t us, unsigned rows,
	unsigned cols)
{
	char size[32];

	if (c->form == CAST_ALIS) {
		add_frame(c, out, 'r', us);
		add_leb128(out, cols);
		add_leb128(out, rows);
		return;
	}
	BUF_PRINT(size, "%ux%u", cols, rows);
	add_line(c, out, 'r', us, size, strlen(size));
}

void cast_exit(struct cast *c, struct buf *out, uint64_t us, unsigned code)
{
	char text[16];

	if (c->form == CAST_ALIS) {
		add_frame(c, out, 'x', us);
		add_leb128(out, code);
		return;
	}
	BUF_PRINT(text, "%u", code);
	add_line(c, out, 'x', us, text, strlen(text));
}

size_t cast_whole(const char *bytes, size_t n)
{
	size_t back = 0;
	unsigned char lead;
	size_t need;

	while (back < 3 && back < n &&
		((unsigned char)bytes[n - 1 - back] & 0xc0) == 0x80)
		back++;
	if (back == n)
		return n;
	lead = (unsigned char)bytes[n - 1 - back];
	need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
	return need > back + 1 && lead < 0xf8 ? n - back - 1 : n;
}
