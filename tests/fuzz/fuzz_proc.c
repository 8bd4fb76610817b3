/* fuzz_proc.c - what files below /proc say: every reader on one text
 * SPDX-License-Identifier: MIT
 *
 * What is told lies within the text; a mount that is written again reads as the
 * same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sys/proc_text.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
	if (!truth)
		abort();
}

static void numbers(const char *s, size_t n)
{
	autobuf struct buf pids = BUF_INIT(1 << 22);
	uint64_t v = proc_number(s);

	must(chr_digit(*s) || v == 0);
	proc_numbers(&pids, s, n);
	must(pids.len / sizeof(uint32_t) <= n / 2 + 1);
}

static void stat_line(const char *s)
{
	const char *behind = strrchr(s, ')');

	for (unsigned n = 3; n < 60; n++) {
		const char *field = proc_stat(s, n);

		must(!*field || (behind && field > behind && field[-1] == ' '));
		must(*field || !*proc_stat(s, n + 1));
	}
}

static void value(const char *s)
{
	static const char *const keys[] = {"RssAnon:", "ShdPnd:", "name=", "a"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t n = strlen(s) + 1;
		const char *v = proc_value(s, keys[i], &n);

		must(!v || (v >= s && n <= strlen(v) && !memchr(v, '\n', n)));
		must(!v || v[n] == '\n' || v[n] == '\0');
		must(v || strncmp(s, keys[i], strlen(keys[i])) != 0);
	}
}

static void cgroup(char *s, size_t size)
{
	static const char *const names[] = {"", "memory", "cpuacct"};
	char path[64];

	for (size_t at = 0, n; at < size; at += n + 1) {
		n = strcspn(s + at, "\n");
		must(proc_cgroup_place(s + at, n) <= n);
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		must(proc_cgroup(s, names[i], path, sizeof path) != 0 ||
			(strlen(path) < sizeof path && !strchr(path, '\n')));
}

/* As the kernel writes a word. */
static void put_word(struct buf *out, const char *s)
{
	buf_addc(out, ' ');
	for (; *s; s++)
		if (strchr(" \n\\", *s))
			buf_addf(out, "\\%03o", (unsigned)(unsigned char)*s);
		else
			buf_addc(out, *s);
}

static void mounts(char *s, size_t size)
{
	size_t count = 0;
	struct proc_mount m, again;

	for (char *at = s; proc_mount_next(&at, &m); count++) {
		autobuf struct buf line = BUF_INIT(1 << 22);
		char *to;

		must(m.dev > s && m.root > m.dev && m.point > m.root &&
			m.point < at && at <= s + size);
		must(*m.dev && *m.root && *m.point);
		buf_adds(&line, "1 2");
		put_word(&line, m.dev);
		put_word(&line, m.root);
		put_word(&line, m.point);
		buf_str(&line);
		to = line.data;
		must(proc_mount_next(&to, &again) && str_eq(m.dev, again.dev) &&
			str_eq(m.root, again.root) &&
			str_eq(m.point, again.point));
	}
	must(count <= size / PROC_MOUNT_LINE + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);

	if (!s)
		return 0;
	memcpy(s, data, size);
	s[size] = '\0';
	/* A NUL ends the text for all of them. */
	size = strlen(s);
	numbers(s, size);
	stat_line(s);
	value(s);
	cgroup(s, size);
	mounts(s, size);
	free(s);
	return 0;
}
