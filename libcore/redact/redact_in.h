/* redact_in.h - what the parts of redaction share
 * SPDX-License-Identifier: MIT
 *
 * Only redact*.c include this. A matcher looks at visible text: escape
 * sequences are out of it already. It says NO, YES with the span, or MORE: the
 * text ends before it is known, and the candidate begins at span.from. So the
 * answer never depends on how the stream was cut.
 */
#ifndef WARDBOX_REDACT_IN_H
#define WARDBOX_REDACT_IN_H

#include "redact/redact.h"

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
	B_CRYPT = 512, /* $ , of a hashed password */
	B_BEHIND = 1024, /* may follow a name that has no sign behind it */
	B_ALNUM = B_DIGIT | B_UPPER | B_LOWER,
	B_WORD = B_ALNUM | B_UNDER,
	B_TOKEN = B_WORD | B_DASH,
};
extern const uint16_t redact_bytes[256];

#define REDACT_MARK "[REDACTED]"

enum redact_answer { REDACT_NO, REDACT_YES, REDACT_MORE };

/* The bytes that are swallowed behind a secret that was too long to be held, or
 * in which the stream paused. */
enum redact_mode {
	REDACT_MODE_NONE,
	REDACT_MODE_TOKEN,  /* letters of tokens */
	REDACT_MODE_WORD,   /* all but white space, quotes, operators */
	REDACT_MODE_LINE,   /* the same, and a blank behind a comma */
	REDACT_MODE_SCHEME, /* a word, and the next one */
	REDACT_MODE_DOUBLE, /* up to the quote, or a blank */
	REDACT_MODE_SINGLE,
	REDACT_MODE_PEM, /* up to the END line */
};

/* The text that may be hidden behind a blank in a span. */
enum redact_tail {
	REDACT_TAIL_PHRASE, /* plain words */
	REDACT_TAIL_WORDS,  /* other words of a command, each by itself */
	REDACT_TAIL_OWN,    /* everything: the finder looked at it */
};

struct redact_span {
	size_t from, to;
	struct redact_pem pem;
	uint8_t tail;
	size_t value; /* MORE: the beginning of what would be hidden */
	uint8_t kind;
	uint8_t mode;
	bool committed; /* MORE: the text shows already that it is a secret */
};

struct redact_view {
	const unsigned char *text;
	size_t n;
	const uint8_t *map; /* of a shell's text: the classes of its bytes */
	bool last; /* no more text comes */
	bool whole; /* and no text was before */
	bool pause; /* no more text comes soon */
};

/* A byte's class: its depth in expansions; whether it ends a command or a word
 * of code. */
enum { LEX_DEPTH = 0x1f, LEX_CUT = 0x40, LEX_BLANK = 0x80 };

/* Classifies text[from..to) from the state l on; the byte before gets its
 * depth. */
void redact_lex_map(struct redact_lex l, const unsigned char *text,
	size_t from, size_t to, uint8_t *map);
void redact_lex_skip(struct redact_lex *l, const unsigned char *text,
	size_t from, size_t to);
/* The depth of the text at i. */
static inline unsigned redact_depth(const uint8_t *map, size_t i)
{
	const unsigned here = map[i] & LEX_DEPTH;
	const unsigned before = i ? map[i - 1] & LEX_DEPTH : here;

	return here < before ? here : before;
}
/* The last possible end of a redaction of text[from..to), by its blanks and, in
 * code, by its expansions. */
size_t redact_limit(
	const unsigned char *text, size_t from, size_t to, bool code);
/* May text[from..to) stand behind a blank? */
bool redact_phrase(const unsigned char *text, size_t from, size_t to);

/* Hides bytes, and ends their mark. -errno. */
int redact_cut_add(struct redact *r, struct redact_cut **cut, const void *p,
	size_t n, struct buf *out);
int redact_cut_end(struct redact_cut *cut, struct buf *out);
void redact_cut_free(struct redact_cut *cut);

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
	KIND_CRYPT,
	KIND_OTHER,
	KIND_USER, /* the first kind of the user's */
};

/* For prefixes that prove little: exactly min letters with no letter or digit
 * behind; letters that look random. */
enum { SHAPE_EXACT = 1, SHAPE_RANDOM = 2 };

/* The shape of a token: a prefix, in which '?' is any small letter, and at
 * least min letters of the class. */
struct redact_shape {
	char prefix[12]; /* with its NUL */
	uint8_t kind : 6;
	uint8_t proof : 2;
	uint8_t min;
	uint16_t class;
};
/* The n shapes that begin with that letter. */
const struct redact_shape *redact_shapes(unsigned char first, size_t *n);

/* A token of known shape that begins at at, where a word begins. */
enum redact_answer redact_token(
	const struct redact_view *v, size_t at, struct redact_span *s);
/* Hashed marks: of the three letters that tokens begin with, and of those that
 * end a word that may be a secret's name without a sign behind. Most words are
 * ruled out by one look. Of a thousand hashes this one takes the fewest words
 * of English, C and builds for a token. scripts/redact-begins makes
 * redact_begins.h while wardbox is built. */
enum { REDACT_BEGIN = 3, REDACT_BEGINS = 6144, REDACT_ENDS = 1024 };
static inline unsigned redact_begin(const unsigned char *p)
{
	return (p[0] * 8183u + p[1] * 4715u + p[2]) % REDACT_BEGINS;
}
/* The hash of the letters before end, in small letters. */
static inline unsigned redact_end(const unsigned char *end)
{
	const unsigned char p[REDACT_BEGIN] = {
		end[-3] | 32, end[-2] | 32, end[-1] | 32};

	return redact_begin(p) % REDACT_ENDS;
}
static inline bool redact_marked(const uint8_t *marks, unsigned slot)
{
	return marks[slot / 8] >> slot % 8 & 1;
}
/* The token of a Discord bot begins with the bot's number in base64, 23 letters
 * or more. */
static inline bool redact_begins_bot(const unsigned char *p, size_t n)
{
	return *p >= 'M' && *p <= 'O' &&
		(n < 16 || (redact_bytes[p[7]] & B_TOKEN &&
				   redact_bytes[p[11]] & B_TOKEN &&
				   redact_bytes[p[15]] & B_TOKEN));
}

/* How strongly a name says that its value is a secret. */
enum redact_strength {
	STRENGTH_NONE,
	STRENGTH_WEAK,	 /* a secret if it is long and looks random */
	STRENGTH_LIKELY, /* a secret if it has letters and digits */
	STRENGTH_SURE,	 /* a secret, unless it is a placeholder */
};

/* At '=' or ':' or their spellings of n bytes, or at the '>' of "<name>": the
 * value behind a secret's name. */
enum redact_answer redact_assign(const struct redact *r,
	const struct redact_view *v, size_t at, size_t n,
	struct redact_span *s);
/* The text between "<name>", whose '>' is at at, and the next tag. Without a
 * next tag it may be prose. */
enum redact_answer redact_element(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s);
/* The beginning of a block of YAML whose mark "|", or line end, is at i: of
 * "password: |" the value is the block below, of "password:" it may be the next
 * line. i when there is none. */
size_t redact_block_begins(const struct redact_view *v, size_t i);
/* The value of "key: |" (marked) at i, or the word alone on the line below
 * "key:"; the candidate begins at at. */
enum redact_answer redact_block(const struct redact_view *v, size_t at,
	size_t i, bool marked, enum redact_strength strength,
	struct redact_span *s);
/* Is it the name of a secret header? 1: with a scheme before the secret, 2:
 * without. */
unsigned redact_header(const unsigned char *key, size_t n, bool colon);
/* The header's value at i. The scheme in "Bearer X", "Basic X" may be shown;
 * else the whole line is hidden. */
enum redact_answer redact_header_value(const struct redact_view *v, size_t i,
	struct redact_span *s, bool scheme);
/* At "--name value", "-u user:value", and the flags of single programs. */
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
/* At the last ':' of a line of .pgpass, host:port:database:user:value. */
enum redact_answer redact_pgpass(
	const struct redact_view *v, size_t at, struct redact_span *s);
/* At "-----BEGIN", and at the '-' of PuTTY's "Private-Lines: 14". */
enum redact_answer redact_pem(
	const struct redact_view *v, size_t at, struct redact_span *s);
/* Does a private key begin at i, as far as the text goes? Such a value is left
 * to redact_pem(). */
bool redact_begins_key(const struct redact_view *v, size_t i);
/* The end of the parts of a header, or of cookies, that begin at at. */
size_t redact_parts_end(const struct redact_view *v, size_t at, bool cookie);
/* The end of a private key's lines that begin at i, as far as known: MORE. YES:
 * with its last line; NO: there are no such lines. */
enum redact_answer redact_pem_lines(const struct redact_view *v, size_t i,
	struct redact_pem *p, size_t *end);

/* At the byte behind a word: the value behind a secret's name without a sign
 * between: "token X", "password is X", "'SECRET', 'X'". */
enum redact_answer redact_said(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s);
/* May redact_word() know a word of n bytes and more that begins so? */
bool redact_may_begin(const struct redact *r, const unsigned char *p, size_t n);
/* At a word's beginning: a token, or one of the next two. */
enum redact_answer redact_word(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s);
/* At "echo" and its like, whose words a program reads as a secret. */
enum redact_answer redact_piped(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s);
/* At a program with a secret among its words. */
enum redact_answer redact_operand(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s);
/* At the "<<<" or "<<" of a shell, for a program that reads a secret. */
enum redact_answer redact_here(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s);

/* The beginning of the line of k, or of the part behind one of the stops. Looks
 * back a bounded number of bytes from at, so that the result does not depend on
 * how the stream was cut. */
size_t redact_begins(const struct redact_view *v, size_t at, size_t k,
	const char *stops);
/* Does one of the list's words stand between there and k? */
bool redact_told(const struct redact_view *v, size_t at, size_t k,
	const char *stops, const char *words);
/* Separators of commands, beside blanks. */
#define REDACT_STOPS "\n;|&(`"

/* If the text at i begins with that word, the place behind it and its blanks;
 * else i. */
size_t redact_behind(const struct redact_view *v, size_t i, const char *word);

/* Does the byte begin or end a quoted text? */
bool redact_quote(unsigned char c);
/* Does the byte end a word, as white space and quotes do? */
bool redact_ends_word(unsigned char c);
/* Is it a quotation mark, single or double? */
static inline bool redact_quotation(unsigned char c)
{
	return c == '"' || c == '\'';
}
/* The small letter. */
static inline char redact_lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : (char)c;
}
static inline bool redact_blank(unsigned char c)
{
	return c == ' ' || c == '\t';
}

/* A value, quoted or bare, at i: x->from, to and mode. */
enum redact_answer redact_value(
	const struct redact_view *v, size_t i, struct redact_span *x);
/* Is the value at i base64 of text: only letters, so not by chance? */
enum redact_answer redact_encoded(const struct redact_view *v, size_t i);
/* The answer if the text ends within a candidate. */
enum redact_answer redact_undecided(const struct redact_view *v,
	struct redact_span *s, size_t from, size_t value, bool committed);
/* The same for a candidate that begins at at and shows nothing yet; NO when no
 * more text comes. */
enum redact_answer redact_wait(
	const struct redact_view *v, struct redact_span *s, size_t at);
/* Does that word stand at at, or is the text's end a beginning of it? */
bool redact_agrees(const struct redact_view *v, size_t at, const char *word);
/* Judges the value at i, by its name and strength; the candidate begins at at.
 * A value that only repeats its name is no secret. */
enum redact_answer redact_judge(const struct redact_view *v, size_t at,
	size_t i, const unsigned char *key, size_t n,
	enum redact_strength strength, struct redact_span *s);
/* Is the value a secret, given the strength of its name? */
bool redact_is_secret(
	const unsigned char *p, size_t n, enum redact_strength strength);
bool redact_key_is(const unsigned char *key, size_t n, const char *name);
/* Is it one of the list's words? */
bool redact_key_any(const unsigned char *p, size_t n, const char *list);
/* Sets the kind by the value's own shape, which is more exact. */
void redact_name_kind(const struct redact_view *v, struct redact_span *s);

/* Iterates over a list's words, each ended by NUL, with an empty word at the
 * end, of which clang's analyzer does not know. */
#define EACH(word, list) \
	for (const char *word = list; *word; word += strlen(word) + 1) /* NOLINT */

/* Is it a secret's name? r may be NULL. */
enum redact_strength redact_key_strength(
	const struct redact *r, const unsigned char *key, size_t n);
/* Is the value the end of its own name: "self.token = token", "--key KEY"? */
bool redact_names_itself(const unsigned char *key, size_t n,
	const unsigned char *value, size_t len);
/* Extends the name to all of "API key" and "Unseal Key 1". */
void redact_whole_name(
	const struct redact_view *v, const unsigned char **key, size_t *n);
/* The length of the name (letters, digits, '-', '_', '.') right before end. */
size_t redact_name_before(const struct redact_view *v, size_t end);
/* Does the name end with that word: "auth_token", "authToken", not "broken"? */
bool redact_ends_with(const unsigned char *key, size_t n, const char *word);
enum { REDACT_KEY_MAX = 63 };
/* Is the value a placeholder for a secret: $VAR, <here>, xxxx? */
bool redact_placeholder(const unsigned char *p, size_t n);
/* Shannon entropy of the bytes, in 1/256 bit each. */
unsigned redact_entropy(const unsigned char *p, size_t n);

/* The first secret at or behind at, of any sort. */
enum redact_answer redact_find(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s);
/* The lines of the default policy about programs and their secrets: always in
 * force, whatever the policy is. */
extern const struct policy_secret redact_lines[];
extern const size_t redact_line_count;
/* Line i of those and, behind them, the policy's own; NULL behind the last. */
static inline const struct policy_secret *redact_line(
	const struct redact *r, size_t i)
{
	if (i < redact_line_count)
		return &redact_lines[i];
	i -= redact_line_count;
	return r->policy && i < r->policy->secret_count
		? &r->policy->secret[i]
		: NULL;
}
/* Is p[0..n) one of "curl|wget", or with cut the beginning of one? */
bool redact_listed(const char *list, const char *p, size_t n, bool cut);
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
