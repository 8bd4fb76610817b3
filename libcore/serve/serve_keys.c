/* serve_keys.c - who may do what at the server: keys and the owner's tokens
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_keys.h"

#include <bearssl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/str.h"
#include "sys/file.h"

enum {
	FILE_MAX = SERVE_KEYS_MAX * 160,
	RANDOM = 20, /* bytes of a key */
};
static const char file_name[] = "keys";

static const struct {
	char name[8];
	unsigned roles;
} roles[] = {
	{"view", SERVE_VIEW},
	{"run", SERVE_RUN | SERVE_VIEW},
	{"approve", SERVE_APPROVE | SERVE_VIEW},
};

const char *serve_role_name(unsigned of)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (roles[i].roles == of)
			return roles[i].name;
	return "none";
}

unsigned serve_role_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (str_eq(roles[i].name, name))
			return roles[i].roles;
	return 0;
}

void serve_key_digest(
	const char *text, unsigned char digest[static SERVE_DIGEST])
{
	br_sha256_context sha;

	br_sha256_init(&sha);
	br_sha256_update(&sha, text, strlen(text));
	br_sha256_out(&sha, digest);
}

int serve_key_make(char text[static SERVE_KEY_SIZE],
	unsigned char digest[static SERVE_DIGEST])
{
	struct buf b = {
		.data = text, .cap = SERVE_KEY_SIZE, .max = SERVE_KEY_SIZE - 1};
	unsigned char r[RANDOM];

	if (getrandom(r, sizeof r, 0) != sizeof r)
		return -EIO;
	buf_adds(&b, "wbk-");
	for (size_t i = 0; i < sizeof r; i++)
		buf_addf(&b, "%02x", r[i]);
	buf_str(&b);
	serve_key_digest(text, digest);
	return b.err;
}

bool serve_digest_eq(const unsigned char *a, const unsigned char *b)
{
	unsigned char differs = 0;

	for (size_t i = 0; i < SERVE_DIGEST; i++)
		differs |= a[i] ^ b[i];
	return !differs;
}

const struct serve_key *serve_keys_find(const struct serve_key *k, size_t count,
	const unsigned char digest[static SERVE_DIGEST])
{
	const struct serve_key *found = NULL;

	for (size_t i = 0; i < count; i++)
		if (serve_digest_eq(k[i].digest, digest))
			found = &k[i];
	return found;
}

static bool is_name(const char *name)
{
	size_t n = 0;

	while (chr_alpha(name[n]) || chr_digit(name[n]) || name[n] == '-' ||
		name[n] == '_')
		n++;
	return n && !name[n] && n < SERVE_KEY_NAME;
}

static const struct serve_key *by_name(
	const struct serve_keys *k, const char *name)
{
	for (size_t i = 0; i < k->count; i++)
		if (str_eq(k->key[i].name, name))
			return &k->key[i];
	return NULL;
}

static bool read_digest(const char *hex, unsigned char *digest)
{
	if (strlen(hex) != (size_t)SERVE_DIGEST * 2)
		return false;
	for (size_t i = 0; i < SERVE_DIGEST; i++) {
		const char pair[] = {hex[2 * i], hex[2 * i + 1], 0};
		uint64_t v;

		if (num_hex64(pair, &v))
			return false;
		digest[i] = (unsigned char)v;
	}
	return true;
}

/* One line, cut into its four words. */
static bool read_key(struct serve_key *key, char *line)
{
	char *word[4];
	int n = 0;

	for (char *at = line; n < 4; n++) {
		word[n] = at;
		at += strcspn(at, " ");
		if (!*at)
			break;
		*at++ = '\0';
	}
	if (n != 3 || !is_name(word[0]))
		return false;
	(void)str_copy(key->name, sizeof key->name, word[0]);
	key->roles = serve_role_of(word[1]);
	return key->roles && read_digest(word[2], key->digest) &&
		!num_u64(word[3], 0, UINT64_MAX, &key->made);
}

int serve_keys_parse(struct serve_keys *k, const char *text, size_t n,
	struct diag *d)
{
	size_t at = 0;

	k->count = 0;
	while (at < n) {
		size_t len = str_line(text + at, n - at);
		char line[160];

		if (k->count == SERVE_KEYS_MAX || len >= sizeof line)
			return diag_fail(d, -EINVAL, "too many keys, or no key");
		memcpy(line, text + at, len);
		line[len] = '\0';
		if (strlen(line) != len || !read_key(&k->key[k->count], line) ||
			by_name(k, k->key[k->count].name))
			return diag_fail(d, -EINVAL,
				"line %zu of the file of keys is no key",
				k->count + 1);
		k->count++;
		at += len + 1;
	}
	return 0;
}

void serve_keys_write(const struct serve_keys *k, struct buf *out)
{
	for (size_t i = 0; i < k->count; i++) {
		const struct serve_key *key = &k->key[i];

		buf_addf(out, "%s %s ", key->name, serve_role_name(key->roles));
		for (size_t b = 0; b < SERVE_DIGEST; b++)
			buf_addf(out, "%02x", key->digest[b]);
		buf_addf(out, " %ju\n", (uintmax_t)key->made);
	}
}

int serve_keys_load(int dir, struct serve_keys *k, struct diag *d)
{
	autobuf struct buf text = BUF_INIT(FILE_MAX);
	autofd int fd = openat(dir, file_name,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int err;

	k->count = 0;
	if (fd < 0)
		return errno == ENOENT
			? 0
			: diag_errno(d, -errno, "cannot read the keys");
	err = file_check_trusted(fd, geteuid(), file_name, d);
	if (!err && (err = buf_read_fd(&text, fd)))
		diag_errno(d, err, "cannot read the keys");
	return err ? err : serve_keys_parse(k, text.data, text.len, d);
}

int serve_keys_save(int dir, const struct serve_keys *k, struct diag *d)
{
	autobuf struct buf text = BUF_INIT(FILE_MAX);
	int err;

	serve_keys_write(k, &text);
	err = text.err ? text.err
		       : file_replace(dir, file_name, text.data, text.len, 0600,
				 true);
	return err ? diag_errno(d, err, "cannot write the keys") : 0;
}

int serve_keys_add(struct serve_keys *k, const char *name, unsigned of,
	char text[static SERVE_KEY_SIZE], struct diag *d)
{
	struct serve_key *key = &k->key[k->count];
	int err;

	if (!is_name(name))
		return diag_fail(d, -EINVAL, "'%.40s' is no name of a key",
			name);
	if (by_name(k, name))
		return diag_fail(d, -EEXIST, "there is a key %s already", name);
	if (k->count == SERVE_KEYS_MAX)
		return diag_fail(d, -ENOSPC, "there are %d keys already",
			SERVE_KEYS_MAX);
	err = serve_key_make(text, key->digest);
	if (err)
		return diag_fail(d, err, "the kernel gives no randomness");
	(void)str_copy(key->name, sizeof key->name, name);
	key->roles = of;
	key->made = clock_ns(CLOCK_REALTIME) / 1000000000;
	k->count++;
	return 0;
}

int serve_keys_revoke(struct serve_keys *k, const char *name, struct diag *d)
{
	const struct serve_key *key = by_name(k, name);
	size_t i;

	if (!key)
		return diag_fail(d, -ENOENT, "there is no key %.40s", name);
	i = (size_t)(key - k->key);
	memmove(&k->key[i], &k->key[i + 1],
		(k->count - i - 1) * sizeof k->key[0]);
	k->count--;
	return 0;
}
