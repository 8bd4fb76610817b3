/* redact_core.h - what the parts of redaction share
 * SPDX-License-Identifier: MIT
 *
 * Only redact*.c include this. A matcher looks at visible text: escape
 * sequences are out of it already. It says NO, YES with the span, or MORE: the
 * text ends before it is known, and the candidate begins at span.from. So the
 * answer never depends on how the stream was cut.
 */
#ifndef WARDBOX_REDACT_CORE_H
#define WARDBOX_REDACT_CORE_H

#include "redact.h"

/* Kinds of byte; a class of a token's letters is a sum of them. */
enum {
	B_DIGIT = 1,
	B_UPPER = 2,
	B_LOWER = 4,
	B_HEX = 8,
	B_UNDER = 16,
	B_DASH = 32,
	B_DOT = 64,
	B_BASE64 = 128, /* + / = */
	B_TRIGGER = 256,
	B_ALNUM = B_DIGIT | B_UPPER | B_LOWER,
	B_WORD = B_ALNUM | B_UNDER,
	B_TOKEN = B_WORD | B_DASH,
};
extern const uint16_t redact_bytes[256];

enum redact_answer { REDACT_NO, REDACT_YES, REDACT_MORE };

/* What goes on being swallowed when a secret was longer than can be held, or
 * the stream paused within it. */
enum redact_mode {
	REDACT_MODE_NONE,
	REDACT_MODE_TOKEN,  /* letters of tokens */
	REDACT_MODE_WORD,   /* all but white space and quotes */
	REDACT_MODE_LINE,   /* to the end of the line */
	REDACT_MODE_DOUBLE, /* to the quote, or the end of the line */
	REDACT_MODE_SINGLE,
	REDACT_MODE_PEM, /* to the END line */
};

struct redact_span {
	size_t from, to;
	size_t value; /* MORE: what would be hidden begins here */
	uint8_t kind;
	uint8_t mode;
	bool committed; /* MORE: what there is shows already that it is one */
};

struct redact_view {
	const unsigned char *text;
	size_t n;
	bool last; /* nothing follows */
};

/* Built-in kinds. */
enum redact_kind {
	KIND_ASSIGN,
	KIND_FLAG,
	KIND_HEADER,
	KIND_URL,
	KIND_PEM,
	KIND_ENV,
	KIND_JWT,
	KIND_AWS,
	KIND_GITHUB,
	KIND_GITLAB,
	KIND_SLACK,
	KIND_STRIPE,
	KIND_GOOGLE,
	KIND_OPENAI,
	KIND_ANTHROPIC,
	KIND_HUGGINGFACE,
	KIND_NPM,
	KIND_PYPI,
	KIND_AZURE,
	KIND_TELEGRAM,
	KIND_VAULT,
	KIND_OTHER,
	KIND_USER, /* the first of the user's */
};

/* A token of known shape that begins at at, a word's beginning. */
enum redact_answer redact_token(
	const struct redact_view *v, size_t at, struct redact_span *s);
/* Marks the three letters that tokens begin with, by a hash: most words are
 * told by one look that they are none. */
enum { REDACT_BEGIN = 3, REDACT_BEGINS = 8192 };
void redact_token_begins(uint8_t begins[static REDACT_BEGINS / 8]);
static inline unsigned redact_begin(const unsigned char *p)
{
	return ((unsigned)p[0] * 961u + (unsigned)p[1] * 31u + p[2]) %
		REDACT_BEGINS;
}

/* At '=' or ':', or what stands for it, n bytes: the value behind a secret's
 * name. */
enum redact_answer redact_assign(const struct redact *r,
	const struct redact_view *v, size_t at, size_t n,
	struct redact_span *s);
/* At "--name value" and "-u user:value". */
enum redact_answer redact_flag(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s);
/* At the ':' of "scheme://user:value@". */
enum redact_answer redact_url(
	const struct redact_view *v, size_t at, struct redact_span *s);
/* At the ':' of a Telegram bot's token; at the '~' of an Azure secret. */
enum redact_answer redact_telegram(
	const struct redact_view *v, size_t at, struct redact_span *s);
enum redact_answer redact_azure(
	const struct redact_view *v, size_t at, struct redact_span *s);
/* At "-----BEGIN". */
enum redact_answer redact_pem(
	const struct redact_view *v, size_t at, struct redact_span *s);

/* Is it the name of a secret? 2: surely, 1: perhaps, 0: no. */
int redact_key_strength(const struct redact *r, const unsigned char *key,
	size_t n);
/* Does the name end with that word: "auth_token", "authToken", not "broken"? */
bool redact_ends_with(const unsigned char *key, size_t n, const char *word);
enum { REDACT_KEY_MAX = 63 };
/* Does this stand for a secret rather than being one: $VAR, <here>, xxxx? */
bool redact_placeholder(const unsigned char *p, size_t n);
/* Shannon entropy of the bytes, in 1/256 bit each. */
unsigned redact_entropy(const unsigned char *p, size_t n);

/* The first value of an environment variable at or behind at. */
enum redact_answer redact_secret(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s);
/* The first match of a user's pattern at or behind at. */
enum redact_answer redact_pattern(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s);
/* Does a user's key glob fit? */
bool redact_user_key(const struct redact *r, const unsigned char *key, size_t n);
const char *redact_user_name(const struct redact *r, unsigned i);

#endif
