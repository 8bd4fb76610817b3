/* fuzz_grants.c - a file of grants, as drop --learn writes one
 * SPDX-License-Identifier: MIT
 *
 * What is taken are the lines' own paths with the lines' own access, in order;
 * a line that is none ends it with a word why.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/file.h"

static struct buf *text_of_file;

/* It lives as long as the process would. */
static int keep(int dir, const char *name, struct buf *text)
{
	text_of_file = text;
	return file_read(dir, name, text);
}

#define file_read keep
#include "drop_learn.c"
#undef file_read

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char *drop_interpreter(struct drop *o, const char *file)
{
	(void)o;
	(void)file;
	return "";
}

void drop_audit_fact(struct drop *o, const char *event, const char *path,
	const char *what)
{
	(void)o;
	(void)event;
	(void)path;
	(void)what;
}

static const struct {
	char word[6];
	unsigned access;
} words[] = {{"ro", SANDBOX_RO}, {"rox", SANDBOX_ROX}, {"rw", SANDBOX_RW},
	{"rwx", SANDBOX_RWX}, {"unix", SANDBOX_UNIX}, {"hide", SANDBOX_HIDE},
	{"tmpfs", SANDBOX_TMPFS}, {"list", SANDBOX_LIST}};

/* The grants as text again, as far as they were in the file. */
static void judge(const struct sandbox_plan *plan, const char *p, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < plan->grant_count; i++) {
		const struct sandbox_grant *g = &plan->grants[i];
		size_t n, k = 0;

		while (at < size && (p[at] == '\n' || p[at] == '#')) {
			const char *nl = memchr(p + at, '\n', size - at);

			at = nl ? (size_t)(nl - p) + 1 : size;
		}
		while (k < ARRAY_SIZE(words) && words[k].access != g->access)
			k++;
		if (k == ARRAY_SIZE(words) || g->path[0] != '/')
			abort();
		n = strlen(words[k].word);
		if (size - at < n || memcmp(p + at, words[k].word, n) != 0)
			abort();
		at += n + 1;
		n = strlen(g->path);
		if (at > size || size - at < n || memcmp(p + at, g->path, n) != 0)
			abort();
		at += n;
		if (at < size && p[at++] != '\n')
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct drop o;
	struct diag d = {0};
	char name[32];
	int fd = memfd_create("fuzz", 0), err;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	o = (struct drop){.plan = SANDBOX_PLAN_INIT,
		.strings = ARENA_INIT(1 << 20)};
	err = drop_grants_file(&o, name, &d);
	if (err > 0 || o.granted != !err || (err && !d.text[0]))
		abort();
	judge(&o.plan, (const char *)data, size);
	buf_release(text_of_file);
	sandbox_plan_release(&o.plan);
	arena_release(&o.strings);
	close(fd);
	return 0;
}
