/* proc_text.c - what files below /proc say, read from their texts
 * SPDX-License-Identifier: MIT
 */
#include "sys/proc_text.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

uint64_t proc_number(const char *s)
{
	uint64_t v = 0;

	for (; chr_digit(*s) && v < UINT64_MAX / 16; s++)
		v = 10 * v + (uint64_t)(*s - '0');
	return v;
}

void proc_numbers(struct buf *pids, const char *s, size_t n)
{
	uint32_t v = 0;
	bool in = false;

	for (size_t i = 0; i < n; i++) {
		if (chr_digit(s[i])) {
			v = 10 * v + (uint32_t)(s[i] - '0');
			in = true;
		} else if (in) {
			buf_add(pids, &v, sizeof(v));
			v = 0;
			in = false;
		}
	}
	if (in)
		buf_add(pids, &v, sizeof(v));
}

const char *proc_stat(const char *line, unsigned n)
{
	const char *s = strrchr(line, ')');

	for (unsigned i = 2; s && i < n; i++)
		s = strchr(s + 1, ' ');
	return s ? s + 1 : "";
}

const char *proc_value(const char *text, const char *key, size_t *len)
{
	size_t n = strlen(key);

	while (text && *text) {
		if (strncmp(text, key, n) == 0) {
			text += n;
			text += strspn(text, " \t");
			*len = strcspn(text, "\n");
			return text;
		}
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

uint64_t proc_filters(const char *status)
{
	size_t n;
	const char *v = proc_value(status, "Seccomp_filters:", &n);

	if (v)
		return proc_number(v);
	v = proc_value(status, "Seccomp:", &n);
	return v && *v == '2';
}

int proc_cgroup(
	const char *text, const char *controller, char *out, size_t size)
{
	const size_t n = strlen(controller);

	for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
		const char *at, *path;

		end = line + strcspn(line, "\n");
		at = memchr(line, ':', (size_t)(end - line));
		path = at ? memchr(at + 1, ':', (size_t)(end - at - 1)) : NULL;
		while (path && at < path &&
			!(strncmp(at + 1, controller, n) == 0 &&
				(at[1 + n] == ':' || at[1 + n] == ',')))
			at = strpbrk(at + 1, ":,");
		if (!path || at >= path)
			continue;
		if ((size_t)(end - path) > size)
			return -ENAMETOOLONG;
		memcpy(out, path + 1, (size_t)(end - path - 1));
		out[end - path - 1] = '\0';
		return 0;
	}
	return -ENOENT;
}

size_t proc_cgroup_place(const char *line, size_t n)
{
	static const char logins[] = "/user.slice";
	const char *path = memchr(line, '/', n);

	return path && str_after(path, logins) ?
		       (size_t)(path - line) + strlen(logins) :
		       n;
}

/* Takes the word at *at, and moves *at behind it; "\040" is a blank in a
 * word. */
static const char *next_word(char **at)
{
	char *const start = *at;
	char *to = start, *from = start;

	while (*from && *from != ' ') {
		*to = *from++;
		if (*to == '\\' && strnlen(from, 3) == 3) {
			*to = (char)((from[0] & 3) << 6 | (from[1] & 7) << 3 |
				     (from[2] & 7));
			from += 3;
		}
		to++;
	}
	*at = from + !!*from;
	*to = '\0';
	return start;
}

bool proc_mount_next(char **at, struct proc_mount *m)
{
	bool whole = false;

	/* "ID PARENT DEVICE ROOT POINT ..." */
	while (**at && !whole) {
		const char *words[5];
		char *line = *at;

		*at += strcspn(line, "\n");
		if (**at)
			*(*at)++ = '\0';
		whole = true;
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			words[i] = next_word(&line);
			whole &= *words[i] != '\0';
		}
		*m = (struct proc_mount){words[2], words[3], words[4]};
	}
	return whole;
}
