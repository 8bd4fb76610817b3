/* str.h - small questions about strings
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_STR_H
#define WARDBOX_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static inline bool str_eq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* strstr, by the memmem that is linked anyway. */
char *str_find(const char *s, const char *needle);

/* The text behind the prefix, or NULL when s does not start with it. */
const char *str_after(const char *s, const char *prefix);

bool str_ends(const char *s, const char *suffix);

/* The plural ending of a noun behind the number n. */
static inline const char *str_plural(unsigned long long n)
{
	return &"s"[n == 1];
}

/* ASCII only, whatever the locale. */
static inline bool chr_digit(char c)
{
	return c >= '0' && c <= '9';
}
static inline bool chr_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool chr_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}
/* The bytes that may start, and continue, a shell variable's name. */
static inline bool chr_name1(char c)
{
	return chr_alpha(c) || c == '_';
}
bool chr_name(char c);

/* The length of the first line of s[0..n), without its newline. */
size_t str_line(const char *s, size_t n);

/* For lists of words, each ended by a NUL, with an empty one at the end: the
 * i-th word, "" where there are fewer; and the index of a word, -1 for none. */
const char *str_nth(const char *list, size_t i);
int str_index(const char *list, const char *word);

/* Is s[0..n) a shell variable's name? */
bool str_is_name(const char *s, size_t n);

/* A whole-string glob of '*' and '?' alone; no classes, no escapes, linear
 * in time times the number of stars. '*' takes '/' too. */
bool str_glob(const char *pattern, const char *s);

/* Copies with a NUL; -ENAMETOOLONG when src does not fit (dst is then ""). */
int str_copy(char *dst, size_t size, const char *src);

/* Edit distance of a and b, or max + 1 when it is larger than max (<= 8). */
unsigned str_distance(const char *a, const char *b, unsigned max);

#endif
