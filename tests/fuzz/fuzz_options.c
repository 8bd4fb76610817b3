/* fuzz_options.c - a command line: what is left are its own words, in order
 * SPDX-License-Identifier: MIT
 *
 * A word a line; the first byte chooses the table's flags. A mistake ends a
 * program, so exit() comes back here, and what was allocated goes by a list.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __sanitizer_install_malloc_and_free_hooks(
	void (*made)(const volatile void *, size_t),
	void (*gone)(const volatile void *)) __attribute__((weak));

enum { WORDS = 64, BLOCKS = 256 };

struct taken {
	bool flag, other;
	unsigned number;
	uint64_t size, time;
	const char *str;
	struct cli_list list;
};

static jmp_buf back;
static pthread_t inside; /* who is, or 0: the fuzzer's threads allocate, too */
static void *block[BLOCKS];
static size_t blocks;

static bool is_inside(void)
{
	return inside && pthread_equal(inside, pthread_self());
}

static void made(const volatile void *p, size_t n)
{
	(void)n;
	if (is_inside() && blocks < BLOCKS)
		block[blocks++] = (void *)(uintptr_t)p;
}

static void gone(const volatile void *p)
{
	for (size_t i = blocks; i--;)
		if (block[i] == p)
			block[i] = block[--blocks];
}

/* In place of libc's: of cli it leaves the table's reader alone. */
void exit(int code)
{
	if (is_inside())
		longjmp(back, 1);
	fflush(NULL);
	_exit(code);
}

static const struct cli_opt options[] = {
	CLI_FLAG('f', struct taken, flag, "flag", "a flag"),
	CLI_FLAG('v', struct taken, other, "verbose", "another"),
	CLI_STR('s', struct taken, str, "str", "S", "a string"),
	CLI_UINT('u', struct taken, number, 1023, "uint", "N", "a number"),
	CLI_SIZE(0, struct taken, size, "size", "N", "a size"),
	CLI_TIME('t', struct taken, time, "time", "T", "a time"),
	CLI_LIST('l', struct taken, list, "list", "WORD", "repeatable"),
};

/* The words are those given, each once, and the operands keep their order. */
static void judge(char **given, char **left, int argc, int first)
{
	int last = 0, seen[WORDS + 2] = {0};

	if (first < 1 || first > argc || left[0] != given[0])
		abort();
	for (int i = 1; i < argc; i++) {
		int at = 1;

		while (at < argc && given[at] != left[i])
			at++;
		if (at == argc || seen[at]++)
			abort();
		if (i >= first && at < last)
			abort();
		last = i >= first ? at : 0;
	}
}

static void parse(char **given, char **argv, int argc, unsigned flags)
{
	static const struct cli_spec base = {.name = "fuzz", .usage = "[WORD]",
		.about = "Is fuzzed.", .example = "fuzz", .opts = options,
		.opt_count = ARRAY_SIZE(options)};
	struct cli_spec spec = base;
	struct taken t = {0};
	int first;

	spec.flags = flags & (CLI_COMMAND | CLI_FAIL_OURS);
	if (setjmp(back))
		return;
	inside = pthread_self();
	first = cli_parse(&spec, &t, argc, argv);
	inside = 0;
	judge(given, argv, argc, first);
	if (t.number > 1023 || t.list.count >= (size_t)argc)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char self[] = "fuzz";
	static int quiet = -1, out, err;
	char text[4096], *given[WORDS + 2] = {self}, *argv[WORDS + 2];
	int argc = 1;

	if (size < 1 || size > sizeof text)
		return 0;
	if (quiet < 0) {
		quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
		out = dup(1);
		err = dup(2);
		if (__sanitizer_install_malloc_and_free_hooks)
			__sanitizer_install_malloc_and_free_hooks(made, gone);
	}
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	for (char *s = text; s && argc <= WORDS; argc++) {
		given[argc] = s;
		s = strchr(s, '\n');
		if (s)
			*s++ = '\0';
	}
	memcpy(argv, given, sizeof argv);
	dup2(quiet, 1);
	dup2(quiet, 2);
	parse(given, argv, argc, data[0]);
	inside = 0;
	dup2(out, 1);
	dup2(err, 2);
	while (blocks) {
		void *p = block[blocks - 1];

		gone(p);
		free(p);
	}
	return 0;
}
