/* tls_authority.c - who vouches for a server's name
 * SPDX-License-Identifier: MIT
 */
#include "tls/tls_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	AUTHORITIES_MAX = 512,
	RSA_MIN = 2048 / 8,
};

static void add_name(void *to, const void *bytes, size_t n)
{
	buf_add(to, bytes, n);
}

/* Copies n bytes; where they are is known when all are there: until then it is how
 * far from the beginning. */
static unsigned char *keep_bytes(struct buf *to, const void *bytes, size_t n)
{
	const size_t at = to->len;

	buf_add(to, bytes, n);
	return (unsigned char *)(uintptr_t)at;
}

static void keep_key(struct buf *to, br_x509_pkey *key, const br_x509_pkey *from)
{
	*key = *from;
	if (key->key_type == BR_KEYTYPE_EC) {
		key->key.ec.q = keep_bytes(to, from->key.ec.q, from->key.ec.qlen);
		return;
	}
	key->key.rsa.n = keep_bytes(to, from->key.rsa.n, from->key.rsa.nlen);
	key->key.rsa.e = keep_bytes(to, from->key.rsa.e, from->key.rsa.elen);
}

static unsigned char *found_at(const struct buf *b, const unsigned char *from)
{
	return (unsigned char *)b->data + (uintptr_t)from;
}

static void find_all(struct tls_authorities *a)
{
	for (size_t i = 0; i < a->count; i++) {
		br_x509_trust_anchor *one = &a->anchor[i];

		one->dn.data = found_at(&a->bytes, one->dn.data);
		if (one->pkey.key_type == BR_KEYTYPE_EC) {
			one->pkey.key.ec.q =
				found_at(&a->bytes, one->pkey.key.ec.q);
			continue;
		}
		one->pkey.key.rsa.n = found_at(&a->bytes, one->pkey.key.rsa.n);
		one->pkey.key.rsa.e = found_at(&a->bytes, one->pkey.key.rsa.e);
	}
}

/* One whose key is of a kind that is not known here vouches for nobody. A
 * certificate that is no authority's stands for that server alone. */
static void take_authority(
	struct tls_authorities *a, const br_x509_certificate *cert)
{
	br_x509_trust_anchor *one = &a->anchor[a->count];
	const size_t at = a->bytes.len;
	br_x509_decoder_context c;
	const br_x509_pkey *key;

	br_x509_decoder_init(&c, add_name, &a->bytes);
	br_x509_decoder_push(&c, cert->data, cert->data_len);
	key = br_x509_decoder_get_pkey(&c);
	if (!key) {
		a->bytes.len = at;
		return;
	}
	one->dn.data = (unsigned char *)(uintptr_t)at;
	one->dn.len = a->bytes.len - at;
	one->flags = br_x509_decoder_isCA(&c) ? BR_X509_TA_CA : 0;
	keep_key(&a->bytes, &one->pkey, key);
	a->count++;
}

static void begin_x509(struct tls_authorities *a)
{
	br_x509_minimal_context *x = &a->x509;

	br_x509_minimal_init(x, &br_sha256_vtable, a->anchor, a->count);
	br_x509_minimal_set_rsa(x, br_rsa_i31_pkcs1_vrfy);
	br_x509_minimal_set_ecdsa(x, &br_ec_prime_i31, br_ecdsa_i31_vrfy_asn1);
	br_x509_minimal_set_hash(x, br_sha256_ID, &br_sha256_vtable);
	br_x509_minimal_set_hash(x, br_sha384_ID, &br_sha384_vtable);
	br_x509_minimal_set_hash(x, br_sha512_ID, &br_sha512_vtable);
	br_x509_minimal_set_minrsa(x, RSA_MIN);
}

int tls_authorities_load(
	struct tls_authorities *a, const char *file, struct diag *d)
{
	autofree br_x509_certificate *certs =
		calloc(AUTHORITIES_MAX, sizeof *certs);
	autobuf struct buf der = BUF_INIT(1 << 20);
	int n;

	*a = (struct tls_authorities){.bytes = BUF_INIT(1 << 20),
		.anchor = calloc(AUTHORITIES_MAX, sizeof *a->anchor)};
	if (!certs || !a->anchor)
		return diag_errno(d, -ENOMEM, "%s", file);
	n = tls_chain_read(file, &der, certs, AUTHORITIES_MAX, d);
	for (int i = 0; i < n; i++)
		take_authority(a, &certs[i]);
	if (n < 0)
		return n;
	if (!a->count || a->bytes.err)
		return diag_fail(d, -EINVAL, "%s: no authority with a key of RSA,"
			" P-256, P-384 or P-521", file);
	find_all(a);
	begin_x509(a);
	return 0;
}

void tls_authorities_release(struct tls_authorities *a)
{
	free(a->anchor);
	buf_release(&a->bytes);
}
