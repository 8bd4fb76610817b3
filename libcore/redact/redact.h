/* redact.h - secrets taken out of a stream of bytes
 * SPDX-License-Identifier: MIT
 *
 * What is found is replaced by "[REDACTED]": tokens of known shape, the value
 * behind a secret-sounding name, passwords in URLs and headers, private keys,
 * and the values of secret-named environment variables. Works on a stream cut
 * anywhere, and through ANSI sequences inside a token. When in doubt, redacts.
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
	REDACT_PEM_MAX = 65536,  /* most bytes taken as one private key */
	REDACT_BEFORE = 96,      /* bytes looked back at */
	REDACT_KINDS = 64,       /* built-in ones, then the user's */
	REDACT_PAIRS = 1024,
	REDACT_SECRETS = 64,     /* values of environment variables */
	REDACT_SECRET_MIN = 8,   /* shorter values are not searched for */
};

struct redact_secret;
struct redact_work;

/* What is looked for, and how often it was found. */
struct redact {
	struct redact_secret *secrets;
	size_t secret_count;
	const struct policy_redact *patterns;
	size_t pattern_count;
	bool shapes; /* some of them have a prefix */
	uint8_t pairs[REDACT_PAIRS / 8]; /* their first two bytes, by a hash */
	uint32_t found[REDACT_KINDS];
	uint8_t first[32]; /* which bytes the secrets begin with */
	struct redact_work *work; /* allocated on first use */
};
#define REDACT_INIT ((struct redact){0})
void redact_release(struct redact *r);

/* Adds the values of secret-named variables of NAME=VALUE strings. Of more
 * than REDACT_SECRETS the longest are kept. -ENOMEM. */
int redact_add_env(struct redact *r, const char *const *env);

/* Looks for what the policy's redact lines describe, too. The list stays the
 * caller's. */
void redact_use_patterns(
	struct redact *r, const struct policy_redact *list, size_t n);

/* The name of kind, or NULL beyond the last. */
const char *redact_kind_name(const struct redact *r, unsigned kind);

/* Is this a name whose value is a secret: "GITHUB_TOKEN", "db-password"? */
bool redact_secret_name(const char *name, size_t n);

/* The state of one stream. */
struct redact_stream {
	char *held; /* allocated on first use */
	size_t len;
	size_t swallowed; /* bytes of a private key or an endless token so far */
	uint8_t mode;
	uint8_t before_len;
	uint8_t again; /* so much of before may be the beginning of a secret */
	char before[REDACT_BEFORE]; /* what was let through or hidden last */
};
#define REDACT_STREAM_INIT ((struct redact_stream){0})
void redact_stream_release(struct redact_stream *s);

/* Takes n more bytes, appends what is safe to show to out. What may be the
 * start of a secret is held back until more is known. -ENOMEM, -ENOBUFS. */
int redact_feed(struct redact *r, struct redact_stream *s, const char *bytes,
	size_t n, struct buf *out);

/* Is anything held? */
bool redact_pending(const struct redact_stream *s);

/* Decides about what is held: at the end of the stream (last), or after a
 * pause, when what looks like the beginning of a secret is taken for one. */
int redact_flush(struct redact *r, struct redact_stream *s, bool last,
	struct buf *out);

/* A whole string at once. */
int redact_text(struct redact *r, const char *s, size_t n, struct buf *out);

/* argv[i] of a command of argc words, so that "--password X", "curl -u user:X"
 * and "vault login X" are seen across some of them. */
int redact_arg(struct redact *r, const char *const *argv, size_t argc, size_t i,
	struct buf *out);

#endif
