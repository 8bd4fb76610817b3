/* policy_sign.c - policy files that somebody stands up for
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_sign.h"

#include <bearssl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "sys/file.h"
#include "base/str.h"

static const char *kind_of(size_t n)
{
	return n == SIGN_PRIVATE  ? "wardbox-policy-private-1 "
	       : n == SIGN_PUBLIC ? "wardbox-policy-public-1 "
				  : "wardbox-policy-signature-1 ";
}

static int hex_digit(char c)
{
	if (chr_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int policy_sign_parse(const char *name, const char *text, uint8_t *out,
	size_t n, struct diag *d)
{
	const char *at = str_after(text, kind_of(n));

	for (size_t i = 0; at && i < n; i++, at += 2) {
		int hi = hex_digit(at[0]), lo = hi < 0 ? -1 : hex_digit(at[1]);

		if (lo < 0) {
			at = NULL;
			break;
		}
		out[i] = (uint8_t)(hi * 16 + lo);
	}
	if (at && (str_eq(at, "\n") || !*at))
		return 0;
	diag_fail(d, -EINVAL, "expected one line: %sand %zu hex digits",
		kind_of(n), n * 2);
	diag_at(d, name, 1, 1);
	return -EINVAL;
}

void policy_sign_format(struct buf *out, const uint8_t *bytes, size_t n)
{
	buf_adds(out, kind_of(n));
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%02x", bytes[i]);
	buf_addc(out, '\n');
}

static br_ec_private_key private_key(uint8_t *bytes)
{
	return (br_ec_private_key){
		.curve = BR_EC_secp256r1, .x = bytes, .xlen = SIGN_PRIVATE};
}

int policy_sign_pair(const uint8_t priv[static SIGN_PRIVATE],
	uint8_t pub[static SIGN_PUBLIC])
{
	uint8_t copy[SIGN_PRIVATE], full[BR_EC_KBUF_PUB_MAX_SIZE];
	br_ec_private_key key = private_key(copy);
	size_t n;

	memcpy(copy, priv, sizeof(copy));
	n = br_ec_compute_pub(&br_ec_p256_m31, NULL, full, &key);
	explicit_bzero(copy, sizeof(copy));
	if (n != SIGN_PUBLIC)
		return -EINVAL;
	memcpy(pub, full, n);
	return 0;
}

static void hash_text(const void *text, size_t n, uint8_t out[static 32])
{
	br_sha256_context c;

	br_sha256_init(&c);
	br_sha256_update(&c, "wardbox policy 1\n", 17);
	br_sha256_update(&c, text, n);
	br_sha256_out(&c, out);
}

int policy_sign(const uint8_t priv[static SIGN_PRIVATE], const void *text,
	size_t n, uint8_t sig[static SIGN_SIGNATURE])
{
	uint8_t copy[SIGN_PRIVATE], digest[32];
	br_ec_private_key key = private_key(copy);
	size_t got;

	memcpy(copy, priv, sizeof(copy));
	hash_text(text, n, digest);
	got = br_ecdsa_i31_sign_raw(
		&br_ec_p256_m31, &br_sha256_vtable, digest, &key, sig);
	explicit_bzero(copy, sizeof(copy));
	return got == SIGN_SIGNATURE ? 0 : -EINVAL;
}

int policy_sign_verify(const uint8_t pub[static SIGN_PUBLIC], const void *text,
	size_t n, const uint8_t sig[static SIGN_SIGNATURE])
{
	uint8_t copy[SIGN_PUBLIC], digest[32];
	br_ec_public_key key = {
		.curve = BR_EC_secp256r1, .q = copy, .qlen = SIGN_PUBLIC};

	memcpy(copy, pub, sizeof(copy));
	hash_text(text, n, digest);
	return br_ecdsa_i31_vrfy_raw(&br_ec_p256_m31, digest, sizeof(digest),
		       &key, sig, SIGN_SIGNATURE) == 1
		       ? 0
		       : -EBADMSG;
}

int policy_sign_check(const uint8_t pub[static SIGN_PUBLIC], const char *path,
	const void *text, size_t n, struct diag *d)
{
	char name[512], line[256];
	struct buf path_sig = BUF_FIXED(name), b = BUF_FIXED(line);
	uint8_t sig[SIGN_SIGNATURE];
	int rc;

	buf_addf(&path_sig, "%s.sig", path);
	if (path_sig.err)
		return diag_fail(d, -ENAMETOOLONG, "%s: path too long", path);
	rc = file_read(AT_FDCWD, buf_str(&path_sig), &b);
	if (rc < 0) {
		diag_errno(d, rc, "%s: a signature is required", name);
		diag_hint(d, "wardbox policy sign --key KEY %s", path);
		return rc;
	}
	rc = policy_sign_parse(name, buf_str(&b), sig, sizeof(sig), d);
	if (rc == 0 && policy_sign_verify(pub, text, n, sig) < 0) {
		rc = diag_fail(
			d, -EBADMSG, "the signature does not fit the file");
		diag_at(d, path, 0, 0);
	}
	return rc;
}
