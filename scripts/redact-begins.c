/* redact-begins.c - the marks of redaction's words, made while wardbox is built
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "redact/redact_in.h"

static void put(const char *name, const uint8_t *marks, size_t n)
{
	printf("static const uint8_t %s[%zu] = {", name, n);
	for (size_t i = 0; i < n; i++)
		printf("%s%u,", i % 16 ? " " : "\n\t", marks[i]);
	printf("\n};\n");
}

static void mark(uint8_t *marks, unsigned slot)
{
	marks[slot / 8] |= (uint8_t)(1 << slot % 8);
}

static void mark_thirds(
	uint8_t *begins, const unsigned char *p, unsigned class)
{
	unsigned char spelt[REDACT_BEGIN] = {p[0], p[1], 'z'};

	for (; spelt[2]; spelt[2]--)
		if (redact_bytes[spelt[2]] & class)
			mark(begins, redact_begin(spelt));
}

static void mark_shape(uint8_t *begins, const struct redact_shape *sh)
{
	unsigned char p[REDACT_BEGIN];

	memcpy(p, sh->prefix, sizeof p);
	if (p[2] && p[2] != '?')
		mark(begins, redact_begin(p));
	else
		/* Of a prefix of two letters the third is the token's. */
		mark_thirds(begins, p, p[2] ? B_LOWER : sh->class);
}

/* A name of two letters and the blank behind it; none is shorter. */
static void mark_programs(uint8_t *begins, const struct policy_secret *o)
{
	unsigned char p[REDACT_BEGIN];

	if (o->kind != POLICY_SECRET_WORD)
		return;
	for (const char *name = o->programs; *name; name += *name == '|') {
		memcpy(p, name, sizeof p);
		p[2] = p[2] && p[2] != '|' ? p[2] : ' ';
		mark(begins, redact_begin(p));
		name = strchrnul(name, '|');
	}
}

static void token_begins(uint8_t *begins)
{
	/* Of a JWT, and of redact_piped. */
	static const char others[] = "eyJ\0ech\0pri\0yes\0";

	EACH (word, others)
		mark(begins, redact_begin((const unsigned char *)word));
	for (size_t i = 0; i < redact_line_count; i++)
		mark_programs(begins, &redact_lines[i]);
	for (unsigned first = 0; first < 256; first++) {
		size_t n;
		const struct redact_shape *sh =
			redact_shapes((unsigned char)first, &n);

		for (; n; n--)
			mark_shape(begins, sh++);
	}
}

/* password, bindpw, rootpw, identified, token, key, pass, passphrase, secret,
 * bearer, basic; Key 1. */
static void name_ends(uint8_t *ends)
{
	static const char spelt[] =
		"ord\0swd\0pwd\0dpw\0tpw\0ied\0ken\0key\0ass\0ase\0ret\0rer\0sic\0uth\0"
		"y 1\0y 2\0y 3\0y 4\0y 5\0y 6\0y 7\0y 8\0y 9\0";

	EACH (word, spelt)
		mark(ends, redact_end((const unsigned char *)word + 3));
}

int main(void)
{
	static uint8_t begins[REDACT_BEGINS / 8], ends[REDACT_ENDS / 8];

	token_begins(begins);
	name_ends(ends);
	printf("#include <stdint.h>\n\n");
	put("token_begins", begins, sizeof begins);
	put("name_ends", ends, sizeof ends);
	return ferror(stdout) || fflush(stdout);
}
