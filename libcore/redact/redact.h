/* redact.h - secrets taken out of a stream of bytes
 * SPDX-License-Identifier: MIT
 *
 * What is found is replaced by "[REDACTED]{LENGTH:DIGEST}": tokens of known
 * shape, the value behind a secret-sounding name, passwords in URLs and headers,
 * private keys, and the values of secret-named environment variables. Works on
 * a stream cut anywhere, and through ANSI sequences inside a token.
 *
 * LENGTH is the number of bytes that were cut, DIGEST the first 32 bits of
 * their HMAC-SHA-256 in hexadecimal, with a key that the record does not hold:
 * two things that are hidden can be told apart, and none can be guessed.
 *
 * What is hidden is one word, or a phrase of plain words, or a private key. In
 * the text of a shell it ends where the word does in which it begins, and what
 * the shell expands is shown: no command can be behind a secret's mark.
 */
#ifndef WARDBOX_REDACT_H
#define WARDBOX_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "policy/policy.h"

enum {
	REDACT_HOLD = 4096,      /* most bytes ever held back */
	REDACT_PEM_MAX = 16384,  /* most bytes taken as one private key: an RSA
				  * key of 16384 bits, the longest that is made,
				  * has 12.7 KiB */
	REDACT_PIECE = 16384,    /* most bytes behind one mark */
	REDACT_PHRASE = 512,     /* most bytes of a text with blanks */
	REDACT_KEY = 32,
	REDACT_NEST = 16,        /* quotes and expansions within each other */
	REDACT_BEFORE = 96,      /* bytes looked back at */
	REDACT_KINDS = 64,       /* built-in kinds, then the user's */
	REDACT_PAIRS = 1024,
	REDACT_SECRETS = 64,     /* values of environment variables */
	REDACT_SECRET_MIN = 8,   /* shorter values are not searched */
};

struct redact_secret;
struct redact_work;

/* The secrets that are searched, and how often they were found. */
struct redact {
	struct redact_secret *secrets;
	size_t secret_count;
	const struct policy_redacts *policy; /* its own lines; or NULL */
	bool shapes; /* some of its patterns have a prefix */
	uint8_t pairs[REDACT_PAIRS / 8]; /* the first two bytes of those, by a
					  * hash */
	uint8_t words[32]; /* first bytes of the programs in its lines */
	/* First bytes that no line's flag has, and no program of a line about
	 * words; 0 before redact_use_policy(). */
	uint8_t flagless[32], wordless[32];
	uint32_t found[REDACT_KINDS];
	uint8_t first[32]; /* first bytes of the secrets */
	struct redact_work *work; /* allocated on first use */
	/* Gets the key of the digests, with the first secret; NULL: random
	 * bytes. -errno when there is none. */
	int (*key_get)(void *from, uint8_t key[static REDACT_KEY]);
	void *key_from;
	bool keyed;
	uint8_t key[REDACT_KEY];
};
#define REDACT_INIT ((struct redact){0})
void redact_release(struct redact *r);

/* Adds the values of NAME=VALUE strings with a secret's name. Of more than
 * REDACT_SECRETS the longest are kept. -ENOMEM. */
int redact_add_env(struct redact *r, const char *const *env);

/* Also searches what the policy's redact lines describe; the default policy's
 * lines always hold. The lines stay the caller's. */
void redact_use_policy(struct redact *r, const struct policy_redacts *policy);

/* The name of kind, or NULL beyond the last. */
const char *redact_kind_name(const struct redact *r, unsigned kind);

/* Is this the name of a secret: "GITHUB_TOKEN", "db-password"? */
bool redact_secret_name(const char *name, size_t n);

/* A place in the text of a shell. */
struct redact_lex {
	uint8_t depth, nested; /* depth of all frames, and of expansions */
	uint8_t frame[REDACT_NEST];
	uint8_t arithmetic; /* the depth of "((", or 0 */
	bool lost;	    /* cannot be followed any longer */
	bool escaped, comment;
	bool word; /* within a word of code */
	unsigned char before;
	char name[8]; /* the word's letters so far, without quotes */
	uint8_t name_len;
	/* A here-document, its end word, and how much of that a line has. */
	uint8_t here, here_depth, here_len, here_at;
	bool here_plain, here_tabs;
	char here_end[32];
};

/* A place in a private key. */
struct redact_pem {
	uint32_t total;
	uint16_t width; /* letters of each line except the last */
	uint16_t run;	/* letters of the line so far */
	uint8_t heads;
};

/* The state of one stream. */
struct redact_stream {
	char *held; /* allocated on first use */
	struct redact_cut *cut; /* hidden bytes since the last mark */
	size_t len;
	struct redact_pem pem;
	bool shell; /* the text is a shell's; set before the first byte */
	struct redact_lex lex;
	uint8_t mode, kind; /* of the secret that is being swallowed */
	uint8_t before_len;
	uint8_t again; /* so many bytes of before may begin a secret */
	char before[REDACT_BEFORE]; /* the bytes that were shown or hidden
				     * last */
};
#define REDACT_STREAM_INIT ((struct redact_stream){0})
void redact_stream_release(struct redact_stream *s);

/* Takes n more bytes and appends to out what is safe to show. Bytes that may
 * begin a secret are held back until more is known. -ENOMEM, -ENOBUFS. */
int redact_feed(struct redact *r, struct redact_stream *s, const char *bytes,
	size_t n, struct buf *out);

/* Are bytes held back? */
bool redact_pending(const struct redact_stream *s);

/* Decides about the held bytes: at the end of the stream (last), or after a
 * pause, when what looks like the beginning of a secret counts as one. */
int redact_flush(struct redact *r, struct redact_stream *s, bool last,
	struct buf *out);

/* Redacts a whole string: the text of a shell, or another text. */
int redact_text(struct redact *r, const char *s, size_t n, bool shell,
	struct buf *out);

/* Hides the whole string. */
int redact_whole(struct redact *r, const char *s, size_t n, struct buf *out);

/* Redacts argv[i] of a command of argc words, looking at its neighbours for
 * "--password X", "curl -u user:X" and "vault login X". A word behind a shell's
 * name is a shell's text. */
int redact_arg(struct redact *r, const char *const *argv, size_t argc, size_t i,
	struct buf *out);

#endif
