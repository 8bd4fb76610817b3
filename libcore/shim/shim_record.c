/* shim_record.c - what install did to a root, as plain text
 * SPDX-License-Identifier: MIT
 */
#include "shim/shim_record_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "sys/file.h"
#include "base/num.h"
#include "base/str.h"

static const char magic[] = "wardbox-install 1";

static void add_word(struct buf *out, const char *s)
{
	buf_addc(out, ' ');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c <= ' ' || c == '%' || c == 0x7f)
			buf_addf(out, "%%%02x", c);
		else
			buf_addc(out, (char)c);
	}
}

static void add_time(struct buf *out, const struct timespec *t)
{
	buf_addf(out, " %lld.%09ld", (long long)t->tv_sec, t->tv_nsec);
}

int shim_record_write(const struct shim_record *r, struct buf *out)
{
	buf_addf(out, "# written by 'wardbox install', taken back by"
		      " 'wardbox install --uninstall'\n%s\n", magic);
	if (r->busy)
		buf_adds(out, "busy\n");
	buf_addf(out, "binary %s", r->binary_made ? "made" : "kept");
	add_word(out, r->binary);
	buf_addf(out, "\npolicy %s", r->policy_made ? "made" : "kept");
	add_word(out, r->policy);
	buf_addc(out, '\n');
	if (r->sum[0])
		buf_addf(out, "content %ju %s\n", (uintmax_t)r->size, r->sum);
	for (size_t i = 0; i < ARRAY_SIZE(r->made) && r->made[i][0]; i++) {
		buf_adds(out, "made");
		add_word(out, r->made[i]);
		buf_addc(out, '\n');
	}
	for (size_t i = 0; i < r->shell_count; i++) {
		buf_adds(out, "shell");
		add_word(out, r->shell[i]);
		buf_addc(out, '\n');
	}
	for (size_t i = 0; i < r->time_count; i++) {
		buf_adds(out, "time");
		add_word(out, r->time[i].path);
		add_time(out, &r->time[i].before);
		add_time(out, &r->time[i].after);
		buf_addc(out, '\n');
	}
	return out->err;
}

/* Takes the next word of a line to out, with %XX decoded. Returns the rest;
 * NULL when there is no such word, or it is too long. */
static const char *take_word(const char *s, char *out, size_t size)
{
	size_t n = 0;

	if (*s++ != ' ')
		return NULL;
	for (; *s && *s != ' '; s++) {
		uint64_t c = (unsigned char)*s;

		if (c == '%') {
			char hex[3] = {s[1], s[1] ? s[2] : '\0', '\0'};

			if (!hex[1] || num_hex64(hex, &c) || !c)
				return NULL;
			s += 2;
		}
		if (n + 1 >= size)
			return NULL;
		out[n++] = (char)c;
	}
	out[n] = '\0';
	return n ? s : NULL;
}

/* Takes a path of the root: absolute and without "..". */
static const char *take_path(const char *s, char *out)
{
	s = take_word(s, out, SHIM_PATH_MAX);
	if (!s || out[0] != '/' || str_find(out, "/../") || str_ends(out, "/.."))
		return NULL;
	return s;
}

static const char *take_time(const char *s, struct timespec *t)
{
	char word[48], *dot;
	int64_t sec, nsec;

	s = take_word(s, word, sizeof word);
	dot = s ? strchr(word, '.') : NULL;
	if (!dot)
		return NULL;
	*dot++ = '\0';
	if (num_i64(word, INT64_MIN / 2, INT64_MAX / 2, &sec) ||
		strlen(dot) != 9 || num_i64(dot, 0, 999999999, &nsec))
		return NULL;
	t->tv_sec = (time_t)sec;
	t->tv_nsec = (long)nsec;
	return s;
}

/* Takes "made PATH" or "kept PATH". */
static const char *take_fate(const char *s, bool *made, char *path)
{
	char word[8];

	s = take_word(s, word, sizeof word);
	if (!s || (!str_eq(word, "made") && !str_eq(word, "kept")))
		return NULL;
	*made = str_eq(word, "made");
	return take_path(s, path);
}

static const char *take_content(const char *s, struct shim_record *r)
{
	char word[24];

	s = take_word(s, word, sizeof word);
	if (!s || num_u64(word, 0, INT64_MAX, &r->size))
		return NULL;
	s = take_word(s, r->sum, sizeof r->sum);
	return s && strlen(r->sum) == 64 &&
			       strspn(r->sum, "0123456789abcdef") == 64 ?
		       s :
		       NULL;
}

static int parse_line(struct shim_record *r, const char *line)
{
	char path[SHIM_PATH_MAX];
	const char *s;

	if (!line[0] || line[0] == '#')
		return 0;
	if (str_eq(line, "busy")) {
		r->busy = true;
		return 0;
	}
	if ((s = str_after(line, "binary"))) {
		s = take_fate(s, &r->binary_made, r->binary);
	} else if ((s = str_after(line, "policy"))) {
		s = take_fate(s, &r->policy_made, r->policy);
	} else if ((s = str_after(line, "made"))) {
		size_t i = r->made[0][0] != '\0';

		s = r->made[1][0] ? NULL : take_path(s, r->made[i]);
	} else if ((s = str_after(line, "content"))) {
		s = take_content(s, r);
	} else if ((s = str_after(line, "shell"))) {
		s = take_path(s, path);
		if (s && !*s)
			return shim_record_add(r, path);
	} else if ((s = str_after(line, "time"))) {
		struct shim_time *t = &r->time[r->time_count];

		if (r->time_count == SHIM_DIRS_MAX)
			return -E2BIG;
		s = take_path(s, t->path);
		s = s ? take_time(s, &t->before) : NULL;
		s = s ? take_time(s, &t->after) : NULL;
		r->time_count += s != NULL;
	}
	return s && !*s ? 0 : -EINVAL;
}

int shim_record_parse(
	struct shim_record *r, const char *text, size_t n, struct diag *d)
{
	bool begun = false;
	unsigned number = 0;

	*r = (struct shim_record){0};
	while (n) {
		char line[SHIM_PATH_MAX * 4];
		const char *end = memchr(text, '\n', n);
		size_t len = end ? (size_t)(end - text) : n;
		int err = -EINVAL;

		number++;
		if (end && len < sizeof line && !memchr(text, '\0', len)) {
			memcpy(line, text, len);
			line[len] = '\0';
			if (!begun && line[0] != '#')
				err = (begun = str_eq(line, magic)) ? 0
								    : -EINVAL;
			else
				err = parse_line(r, line);
		}
		if (err) {
			diag_fail(d, err, "this is no line of wardbox's record");
			diag_at(d, "", number, 0);
			return err;
		}
		text += len + 1;
		n -= len + 1;
	}
	return begun ? 0 : diag_fail(d, -EINVAL, "this is no record of wardbox");
}

int shim_record_load(int dirfd, const char *path, struct shim_record *r,
	struct diag *d)
{
	autofd int fd = openat(dirfd, path,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	autobuf struct buf b = BUF_INIT(SHIM_RECORD_MAX);
	int err;

	if (fd < 0)
		return diag_errno(d, -errno, "%s", path);
	err = file_check_trusted(fd, geteuid(), path, d);
	if (err)
		return err;
	err = buf_read_fd(&b, fd);
	if (err)
		return diag_errno(d, err, "cannot read %s", path);
	err = shim_record_parse(r, buf_str(&b), b.len, d);
	if (err && d)
		diag_at(d, path, d->line, 0);
	return err;
}

static size_t record_slot(const struct shim_record *r, const char *shell)
{
	size_t i = 0;

	while (i < r->shell_count && !str_eq(r->shell[i], shell))
		i++;
	return i;
}

bool shim_record_has(const struct shim_record *r, const char *shell)
{
	return record_slot(r, shell) < r->shell_count;
}

int shim_record_add(struct shim_record *r, const char *shell)
{
	if (shim_record_has(r, shell))
		return 0;
	if (r->shell_count == SHIM_SHELLS_MAX)
		return -E2BIG;
	if (str_copy(r->shell[r->shell_count], SHIM_PATH_MAX, shell))
		return -ENAMETOOLONG;
	r->shell_count++;
	return 0;
}

void shim_record_drop(struct shim_record *r, const char *shell)
{
	size_t i = record_slot(r, shell);

	if (i == r->shell_count)
		return;
	r->shell_count--;
	memmove(r->shell[i], r->shell[i + 1],
		(r->shell_count - i) * sizeof r->shell[0]);
}
