/* fuzz_shebang.c - a script's head, variables and a probe entry, as given
 * SPDX-License-Identifier: MIT
 *
 * Input: the entry, the value of $V and the head of the script, each but the
 * last up to a byte 0xff. No file is looked at.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shebang/shebang.h"
#include "shebang/shebang_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The part of the input up to 0xff, as a string behind prefix. */
static char *take(const uint8_t **data, size_t *size, const char *prefix)
{
	const uint8_t *end = memchr(*data, 0xff, *size);
	size_t n = end ? (size_t)(end - *data) : *size;
	size_t p = strlen(prefix);
	char *text = malloc(p + n + 1);

	memcpy(text, prefix, p);
	memcpy(text + p, *data, n);
	text[p + n] = '\0';
	*data += n + (end != NULL);
	*size -= n + (end != NULL);
	return text;
}

static void ignore(void *arg, const char *line)
{
	if (!line[0])
		abort();
	(void)arg;
}

static void check_conf(const struct shebang_conf *c)
{
	for (enum shebang_key k = 0; k < SHEBANG_KEYS; k++)
		if (!c->value[k] || !c->value[k][0] ||
			strpbrk(c->value[k], " \t\n"))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct shebang s;
	static const struct shebang_watch watch = {.trace = ignore};
	char *entry = take(&data, &size, "");
	char *v = take(&data, &size, "V=");
	char home[] = "HOME=/h";
	char *env[] = {v, home, NULL};
	struct shebang_request rq = {
		.name = "auto-x", .script = "s", .env = env, .watch = &watch};
	size_t n = size < SHEBANG_SCAN ? size : SHEBANG_SCAN;
	struct buf place;
	int code;

	s.rq = &rq;
	s.message = BUF_INIT(1 << 20);
	memcpy(s.pool, data, n);
	s.used = 0;
	shebang_defaults(&s.conf);
	code = shebang_directives(&s, n, n == size);
	s.used = n + 1;
	if (!code)
		check_conf(&s.conf);
	if ((code != 0) != (buf_str(&s.message)[0] != '\0'))
		abort();
	place = shebang_room(&s);
	buf_clear(&s.message);
	code = shebang_place(&s, entry, strlen(entry), "/d", 2, &place);
	if (!code && !place.err && buf_str(&place)[0] != '/')
		abort();
	if (code && !buf_str(&s.message)[0])
		abort();
	shebang_release(&s);
	free(entry);
	free(v);
	return 0;
}
