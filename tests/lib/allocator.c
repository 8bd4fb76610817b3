/* allocator.c - the product's malloc against the C library's promises
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define CHECK(what)                                              \
	do {                                                     \
		if (!(what)) {                                   \
			printf("line %d: %s\n", __LINE__, #what); \
			exit(1);                                 \
		}                                                \
	} while (0)

/* Of what a compiler knows of a size it makes its own. */
static volatile size_t top = SIZE_MAX, null;

static int refused(void *p)
{
	return !p && errno == ENOMEM;
}

static void sizes(void)
{
	size_t half = (top >> (sizeof(size_t) * 4)) + 1;
	char *p = malloc(100), *q;

	memset(p, 7, 100);
	for (size_t less = 0; less < 40; less++) {
		CHECK(refused(malloc(top - less)));
		CHECK(refused(malloc(top / 2 - less)));
		CHECK(refused(calloc(1, top - less)));
		CHECK(refused(realloc(NULL, top - less)));
		CHECK(refused(realloc(p, top - less)));
		CHECK(refused(reallocarray(p, top - less, 2)));
		errno = 0;
	}
	CHECK(refused(calloc(half, half)));
	CHECK(refused(calloc(top / 2 + 1, 2)));
	CHECK(refused(calloc(3, top / 3 + 1)));
	CHECK(refused(reallocarray(p, half, half)));
	for (int i = 0; i < 100; i++)
		CHECK(p[i] == 7);

	/* Nothing is something, each time another one. */
	q = malloc(null);
	CHECK(q && q != p && malloc(null) != q);
	CHECK(calloc(null, top) && calloc(top, null));
	CHECK(realloc(p, null));
	CHECK(realloc(NULL, null));
	free(q);
	errno = EDOM;
	free(NULL);
	free(p);
	CHECK(errno == EDOM);
}

/* What was used and comes back by calloc is zeros, of every kind of block. */
static void zeros(void)
{
	for (size_t n = 1; n < 3000000; n = n * 3 / 2 + 1) {
		unsigned char *p = malloc(n), *q;

		CHECK(p && (uintptr_t)p % 16 == 0);
		memset(p, 0xff, n);
		free(p);
		q = calloc(1, n);
		CHECK(q && (uintptr_t)q % 16 == 0);
		for (size_t i = 0; i < n; i++)
			CHECK(!q[i]);
		free(q);
	}
}

static void growth(void)
{
	unsigned char *p = NULL, *between;
	size_t was = 0;

	for (size_t n = 1; n < 3000000; n = n * 5 / 4 + 1) {
		p = realloc(p, n);
		CHECK(p && (uintptr_t)p % 16 == 0);
		for (size_t i = was ? was - 1 : 0; i < n; i++)
			p[i] = (unsigned char)(i * 7);
		between = malloc(n % 3 ? 40 : 200000);
		CHECK(between);
		memset(between, 1, 40);
		for (size_t i = 0; i < n; i += n / 50 + 1)
			CHECK(p[i] == (unsigned char)(i * 7));
		was = n;
	}
	free(p);
}

/* No memory is a failure that one can live through. */
static void limit(void)
{
	const struct rlimit few = {64 << 20, 64 << 20};
	static void *taken[200];
	int n = 0;

	CHECK(!setrlimit(RLIMIT_AS, &few));
	while (n < 200 && (taken[n] = malloc(1 << 20)))
		n++;
	CHECK(n == 200 || errno == ENOMEM); /* qemu-user knows no limit */
	while (n)
		free(taken[--n]);
	CHECK(malloc(1 << 20));
}

int main(void)
{
	sizes();
	zeros();
	growth();
	limit();
	return 0;
}
