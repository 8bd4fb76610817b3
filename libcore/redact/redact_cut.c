/* redact_cut.c - what is hidden: how far it may go, and the mark in its place
 * SPDX-License-Identifier: MIT
 */
#include <bearssl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "redact/redact_in.h"

/* PLAIN: the longest word of a phrase; ENCODED: the shortest word that may hold
 * the signs of base64. */
enum { PLAIN = 40, ENCODED = 16, DIGEST = 4 };

struct redact_cut {
	size_t length;
	br_hmac_key_context key;
	br_hmac_context mac;
};

static int random_key(uint8_t key[static REDACT_KEY])
{
	ssize_t got;

	do
		got = getrandom(key, REDACT_KEY, 0);
	while (got < 0 && errno == EINTR);
	return got == REDACT_KEY ? 0 : -EIO;
}

/* Prepares for marks; kept from the first mark on. */
static int cut_begin(struct redact *r, struct redact_cut **cut)
{
	int err = 0;

	if (!r->keyed)
		err = r->key_get ? r->key_get(r->key_from, r->key)
				 : random_key(r->key);
	if (err)
		return err;
	r->keyed = true;
	if (!*cut) {
		*cut = calloc(1, sizeof **cut);
		if (!*cut)
			return -ENOMEM;
		br_hmac_key_init(&(*cut)->key, &br_sha256_vtable, r->key,
			sizeof r->key);
	}
	br_hmac_init(&(*cut)->mac, &(*cut)->key, DIGEST);
	return 0;
}

void redact_cut_free(struct redact_cut *cut)
{
	if (cut)
		explicit_bzero(cut, sizeof *cut);
	free(cut);
}

int redact_cut_end(struct redact_cut *cut, struct buf *out)
{
	uint8_t digest[DIGEST];

	if (!cut || !cut->length)
		return out->err;
	br_hmac_out(&cut->mac, digest);
	buf_addf(out, REDACT_MARK "{%zu:%02x%02x%02x%02x}", cut->length,
		digest[0], digest[1], digest[2], digest[3]);
	explicit_bzero(&cut->mac, sizeof cut->mac);
	cut->length = 0;
	return out->err;
}

int redact_cut_add(struct redact *r, struct redact_cut **cut, const void *bytes,
	size_t n, struct buf *out)
{
	const char *p = bytes;
	int err = 0;

	while (n && !err) {
		size_t part;

		if (!*cut || !(*cut)->length)
			err = cut_begin(r, cut);
		if (err)
			break;
		part = REDACT_PIECE - (*cut)->length;
		part = n < part ? n : part;
		br_hmac_update(&(*cut)->mac, p, part);
		(*cut)->length += part;
		if ((*cut)->length == REDACT_PIECE)
			err = redact_cut_end(*cut, out);
		p += part;
		n -= part;
	}
	return err;
}

bool redact_phrase(const unsigned char *text, size_t from, size_t to)
{
	static const char signs[] = "!?.,:@%^*_+~'\"\\-";
	bool plain = to - from <= PLAIN && !strchr("-+", text[from]);
	bool encoded = to - from >= ENCODED;

	for (size_t i = from; i < to; i++) {
		const unsigned char c = text[i];

		plain &= c >= 0x80 || redact_bytes[c] & B_ALNUM ||
			(c && strchr(signs, c));
		encoded &= (redact_bytes[c] & (B_TOKEN | B_BASE64)) != 0;
	}
	return plain || encoded;
}

/* Does an expansion of a shell begin at i? */
static bool begins_expansion(const unsigned char *text, size_t i, size_t to)
{
	return text[i] == '`' ||
		(text[i] == '$' && i + 1 < to &&
			(text[i + 1] == '(' || text[i + 1] == '{'));
}

/* The end of the word behind the blank at i, if that word may belong to the
 * secret; else i. */
static size_t limit_word(
	const unsigned char *text, size_t from, size_t i, size_t to)
{
	size_t word = i, end;

	if (i > from && strchr(";|&", text[i - 1]))
		return i;
	while (word < to && text[word] <= ' ')
		word++;
	for (end = word; end < to && text[end] > ' ';)
		end++;
	if (!redact_phrase(text, word, end))
		return i;
	return end - from > REDACT_PHRASE && end - word < ENCODED ? i : end;
}

size_t redact_limit(
	const unsigned char *text, size_t from, size_t to, bool code)
{
	size_t i = from, first = 0, next;

	for (;; i = next) {
		while (i < to && !(code && begins_expansion(text, i, to)) &&
			(text[i] > ' ' || (i > from && redact_blank(text[i]) &&
						   text[i - 1] == '\\')))
			i++;
		first = first ? first : i;
		if (i == to || text[i] > ' ')
			return i;
		for (next = i; next < to && text[next] <= ' ';)
			next++;
		if (next == to)
			return i;
		next = limit_word(text, from, i, to);
		if (next == i)
			break;
	}
	/* A phrase has only plain words; otherwise the first word is the
	 * secret. */
	while (first > from && text[first - 1] && strchr(";|&", text[first - 1]))
		first--;
	return first;
}

int redact_whole(struct redact *r, const char *s, size_t n, struct buf *out)
{
	struct redact_cut *cut = NULL;
	int err = redact_cut_add(r, &cut, s, n, out);

	if (!err)
		err = redact_cut_end(cut, out);
	redact_cut_free(cut);
	return err;
}
