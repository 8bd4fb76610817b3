/* str.c - small questions about strings
 * SPDX-License-Identifier: MIT
 */
#include "base/str.h"

#include <errno.h>

bool chr_name(char c)
{
	return chr_name1(c) || chr_digit(c);
}

char *str_find(const char *s, const char *needle)
{
	return memmem(s, strlen(s), needle, strlen(needle));
}

const char *str_after(const char *s, const char *prefix)
{
	while (*prefix)
		if (*s++ != *prefix++)
			return NULL;
	return s;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && str_eq(s + n - m, suffix);
}

size_t str_line(const char *s, size_t n)
{
	const char *nl = n ? memchr(s, '\n', n) : NULL;

	return nl ? (size_t)(nl - s) : n;
}

const char *str_nth(const char *list, size_t i)
{
	while (*list && i--)
		list += strlen(list) + 1;
	return list;
}

int str_index(const char *list, const char *word)
{
	for (int i = 0; *list; list += strlen(list) + 1, i++)
		if (str_eq(list, word))
			return i;
	return -1;
}

bool str_is_name(const char *s, size_t n)
{
	if (!n || !chr_name1(s[0]))
		return false;
	for (size_t i = 1; i < n; i++)
		if (!chr_name(s[i]))
			return false;
	return true;
}

bool str_glob(const char *pattern, const char *s)
{
	const char *star = NULL, *resume = NULL;

	while (*s) {
		if (*pattern == '*') {
			const size_t n = strlen(++pattern), m = strlen(s);

			star = pattern;
			resume = s;
			/* The rest must match at the end behind the last
			 * star. */
			if (!memchr(pattern, '*', n)) {
				if (m < n)
					return false;
				star = NULL;
				s += m - n;
			}
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star;
			s = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

int str_copy(char *dst, size_t size, const char *src)
{
	size_t n = strlen(src);

	if (n >= size) {
		if (size)
			dst[0] = '\0';
		return -ENAMETOOLONG;
	}
	memcpy(dst, src, n + 1);
	return 0;
}

unsigned str_distance(const char *a, const char *b, unsigned max)
{
	enum { LONGEST = 64 };
	unsigned row[LONGEST + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > LONGEST || m > LONGEST)
		return max + 1;
	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned change = diagonal + (a[i - 1] != b[j - 1]);
			unsigned drop = row[j] + 1, add = row[j - 1] + 1;

			diagonal = row[j];
			row[j] = change < drop ? change : drop;
			if (add < row[j])
				row[j] = add;
		}
	}
	return row[m] > max ? max + 1 : row[m];
}
