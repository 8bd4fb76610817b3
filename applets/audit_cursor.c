/* audit_cursor.c - a place in the log, as a word and in a file
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "audit.h"
#include "base/str.h"
#include "log/audit_read_json.h"
#include "sys/file.h"

void audit_cursor_at(struct audit_cursor *c, const struct audit_record *r)
{
	c->seq = r->seq;
	if (r->frame.link)
		memcpy(c->link, r->frame.link, sizeof c->link);
}

bool audit_cursor_is(const struct audit_cursor *c, const struct audit_record *r)
{
	return r->seq == c->seq && r->frame.link &&
		memcmp(r->frame.link, c->link, sizeof c->link) == 0;
}

void audit_cursor_put(struct buf *out, const struct audit_cursor *c)
{
	buf_addf(out, "%ju:", c->seq);
	audit_add_hex(out, c->link, sizeof c->link);
}

void audit_cursor_parse(struct audit_cursor *c, const char *text)
{
	const char *colon = audit_number(text, &c->seq);

	if (!colon || *colon != ':' ||
		!audit_hex_parse(colon + 1, strlen(colon + 1), c->link,
			sizeof c->link))
		cli_die_usage(&audit_cli, "'%s' is no cursor", text);
}

bool audit_cursor_load(struct audit_cursor *c, const char *file)
{
	autobuf struct buf text = BUF_INIT(128);
	int err = file_read(AT_FDCWD, file, &text);

	if (err == -ENOENT)
		return false;
	if (err)
		audit_die(file, err);
	if (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	if (text.len)
		audit_cursor_parse(c, buf_str(&text));
	return text.len > 0;
}

void audit_cursor_save(const struct audit_cursor *c, const char *file)
{
	autobuf struct buf text = BUF_INIT(128);
	int err;

	audit_cursor_put(&text, c);
	buf_addc(&text, '\n');
	err = file_put(file, text.data, text.len, 0600, false);
	if (err)
		audit_die(file, err);
}
