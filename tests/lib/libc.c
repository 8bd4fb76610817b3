/* libc.c - what the product has instead of the C library's own
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what)                                              \
	do {                                                     \
		if (!(what)) {                                   \
			printf("line %d: %s\n", __LINE__, #what); \
			exit(1);                                 \
		}                                                \
	} while (0)

/* Of an odd size, with what must not be torn off its number. */
struct row {
	unsigned char number, mark[2];
};

static int by_number(const void *a, const void *b)
{
	return ((const struct row *)a)->number - ((const struct row *)b)->number;
}

static void order(size_t n, unsigned step, unsigned numbers)
{
	static struct row row[1000];
	unsigned sum = 0;

	memset(row, 0xee, sizeof(row));
	for (size_t i = 0; i < n; i++) {
		unsigned char number = (unsigned char)(i * step % numbers);

		row[i] = (struct row){number, {number ^ 1, number ^ 2}};
		sum += number;
	}
	qsort(row, n, sizeof(*row), by_number);
	for (size_t i = 0; i < n; i++) {
		CHECK(!i || row[i - 1].number <= row[i].number);
		CHECK(row[i].mark[0] == (row[i].number ^ 1));
		CHECK(row[i].mark[1] == (row[i].number ^ 2));
		sum -= row[i].number;
	}
	CHECK(!sum && (n == 1000 || row[n].mark[0] == 0xee));
}

static void children(void)
{
	int word = 1, status;
	pid_t pid = fork();

	if (pid == 0) {
		word = 2;
		_exit(getpid() == getppid() || word != 2);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(!status && word == 1);
}

/* Up to the end of what there is, from wherever they begin, behind and before
 * zeros that are not theirs. */
static void strings(void)
{
	size_t (*volatile length)(const char *) = strlen;
	const size_t page = 65536, most = 70;
	char *s = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(s != MAP_FAILED && !mprotect(s + page, page, PROT_NONE));
	for (size_t n = 0; n < most; n++)
		for (size_t room = 1; room < 40; room++) {
			char *end = s + page - room;

			memset(s, 0, page);
			memset(end - n, 0x80 + (int)n, n);
			CHECK(length(end - n) == n);
		}
	munmap(s, 2 * page);
}

int main(void)
{
	strings();
	for (size_t n = 0; n < 40; n++)
		for (unsigned step = 0; step < 40; step++)
			order(n, step, 37);
	order(1000, 1, 255);
	order(1000, 254, 255);
	order(1000, 97, 255);
	order(1000, 97, 2);
	children();
	return 0;
}
