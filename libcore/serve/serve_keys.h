/* serve_keys.h - who may do what at the server: keys and the owner's tokens
 * SPDX-License-Identifier: MIT
 *
 * A key is shown once, when it is made; kept is its digest, in the file "keys" of
 * the server's directory, in the guard's own state. The owner's tokens lie there as
 * files of mode 0600, new with each start of the server.
 */
#ifndef WARDBOX_SERVE_KEYS_H
#define WARDBOX_SERVE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"

/* No key has both RUN and APPROVE. */
enum serve_role {
	SERVE_VIEW = 1,
	SERVE_RUN = 2,     /* and VIEW */
	SERVE_APPROVE = 4, /* and VIEW */
};

enum {
	SERVE_KEY_SIZE = 48, /* as text, with a NUL */
	SERVE_KEY_NAME = 33,
	SERVE_KEYS_MAX = 64,
	SERVE_DIGEST = 32,
};

struct serve_key {
	char name[SERVE_KEY_NAME];
	unsigned roles;
	unsigned char digest[SERVE_DIGEST];
	uint64_t made; /* wall clock, seconds */
};

struct serve_keys {
	struct serve_key key[SERVE_KEYS_MAX];
	size_t count;
};

/* "view" "run" "approve", and what each may; 0: no such word. */
const char *serve_role_name(unsigned roles);
unsigned serve_role_of(const char *name);

/* A new key as text, and its digest. */
int serve_key_make(char text[static SERVE_KEY_SIZE],
	unsigned char digest[static SERVE_DIGEST]);
void serve_key_digest(
	const char *text, unsigned char digest[static SERVE_DIGEST]);
/* As long whatever they are. */
bool serve_digest_eq(const unsigned char *a, const unsigned char *b);
/* The key that has that digest; NULL. As long for any digest. */
const struct serve_key *serve_keys_find(const struct serve_key *k, size_t count,
	const unsigned char digest[static SERVE_DIGEST]);

/* The file's text; a line per key: NAME ROLE DIGEST SECONDS. -EINVAL with d. */
int serve_keys_parse(struct serve_keys *k, const char *text, size_t n,
	struct diag *d);
void serve_keys_write(const struct serve_keys *k, struct buf *out);
/* dir is the server's directory. No file is no key. */
int serve_keys_load(int dir, struct serve_keys *k, struct diag *d);
int serve_keys_save(int dir, const struct serve_keys *k, struct diag *d);

/* -EEXIST, -ENOSPC, -EINVAL (name or role); the key's text. */
int serve_keys_add(struct serve_keys *k, const char *name, unsigned roles,
	char text[static SERVE_KEY_SIZE], struct diag *d);
/* -ENOENT. */
int serve_keys_revoke(struct serve_keys *k, const char *name, struct diag *d);

#endif
