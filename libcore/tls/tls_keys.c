/* tls_keys.c - certificates and private keys from files
 * SPDX-License-Identifier: MIT
 */
#include "tls/tls_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"

enum {
	FILE_MAX = 1 << 20, /* as the authorities of a whole system */
	HASH = br_sha256_SIZE,
};

/* Calls of one PEM file, per block of that name's end. */
struct pem {
	const char *word; /* of the blocks that count: "CERTIFICATE" */
	struct buf *der;  /* gets their bytes */
	br_x509_certificate *found; /* their lengths */
	size_t count, max, begin;
	bool encrypted;
};

static void add_bytes(void *to, const void *bytes, size_t n)
{
	buf_add(to, bytes, n);
}

/* One event; false: the file is no PEM, or too long. */
static bool pem_event(struct pem *p, br_pem_decoder_context *c)
{
	const char *name;

	switch (br_pem_decoder_event(c)) {
	case BR_PEM_BEGIN_OBJ:
		name = br_pem_decoder_name(c);
		p->encrypted |= strstr(name, "ENCRYPTED") != NULL;
		p->begin = p->der->len;
		/* "EC PRIVATE KEY" is a private key, too. */
		br_pem_decoder_setdest(c,
			strstr(name, p->word) && p->count < p->max ? add_bytes
								   : NULL,
			p->der);
		return true;
	case BR_PEM_END_OBJ:
		if (p->count < p->max && p->der->len > p->begin)
			p->found[p->count++].data_len = p->der->len - p->begin;
		return true;
	case BR_PEM_ERROR:
		return false;
	}
	return true;
}

static bool pem_read(struct pem *p, const struct buf *text)
{
	br_pem_decoder_context c;
	bool good = true;

	br_pem_decoder_init(&c);
	for (size_t at = 0; at < text->len && good;) {
		at += br_pem_decoder_push(&c, text->data + at, text->len - at);
		good = pem_event(p, &c);
	}
	/* A last line without an end. */
	if (good && br_pem_decoder_push(&c, "\n", 1))
		good = pem_event(p, &c);
	return good && !p->der->err && p->count;
}

/* secret: nobody else may read it. */
static int read_file(const char *file, bool secret, struct buf *text,
	struct diag *d)
{
	autofd int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int err = fd < 0 || fstat(fd, &st) ? -errno : 0;

	if (!err && secret && st.st_mode & 007)
		return diag_fail(d, -EPERM, "%s: a private key that others may"
			" open\036chmod 600 %s", file, file);
	if (!err)
		err = buf_read_fd(text, fd);
	return err ? diag_errno(d, err, "%s", file) : 0;
}

int tls_chain_read(const char *file, struct buf *der,
	br_x509_certificate *chain, size_t max, struct diag *d)
{
	autobuf struct buf text = BUF_INIT(FILE_MAX);
	struct pem p = {.word = "CERTIFICATE", .der = der, .found = chain,
		.max = max};
	int err = read_file(file, false, &text, d);

	if (err)
		return err;
	if (!pem_read(&p, &text))
		return diag_fail(d, -EINVAL, "%s holds no certificate in PEM",
			file);
	for (size_t i = 0, at = 0; i < p.count; at += chain[i++].data_len)
		chain[i].data = (unsigned char *)der->data + at;
	return (int)p.count;
}

const br_x509_pkey *tls_cert_key(
	br_x509_decoder_context *c, const br_x509_certificate *cert)
{
	br_x509_decoder_init(c, NULL, NULL);
	br_x509_decoder_push(c, cert->data, cert->data_len);
	return br_x509_decoder_get_pkey(c);
}

static int read_key(br_skey_decoder_context *key, const char *file,
	struct diag *d)
{
	struct buf text = BUF_INIT(FILE_MAX), der = BUF_INIT(FILE_MAX);
	br_x509_certificate one;
	struct pem p = {.word = "PRIVATE KEY", .der = &der, .found = &one,
		.max = 1};
	int err = read_file(file, true, &text, d);
	bool found = !err && pem_read(&p, &text);

	br_skey_decoder_init(key);
	if (found)
		br_skey_decoder_push(key, der.data, der.len);
	if (!err && (!found || !br_skey_decoder_key_type(key)))
		err = diag_fail(d, -EINVAL, p.encrypted
				? "%s: the key is encrypted, and nobody types"
				  " a passphrase here"
				: "%s holds no private key (RSA or EC) in PEM",
			file);
	if (text.data)
		explicit_bzero(text.data, text.cap);
	if (der.data)
		explicit_bzero(der.data, der.cap);
	buf_release(&text);
	buf_release(&der);
	return err;
}

/* Does what the key signs verify by the certificate? */
static bool keys_match(
	const br_skey_decoder_context *key, const br_x509_pkey *cert)
{
	const br_ec_private_key *ec = br_skey_decoder_get_ec(key);
	const br_rsa_private_key *rsa = br_skey_decoder_get_rsa(key);
	unsigned char hash[HASH] = "wardbox", sig[BR_X509_BUFSIZE_SIG];
	unsigned char out[HASH];
	size_t n;

	if (!cert || cert->key_type != br_skey_decoder_key_type(key))
		return false;
	if (ec) {
		n = ec->curve == cert->key.ec.curve
			? br_ecdsa_i31_sign_asn1(&br_ec_prime_i31,
				  &br_sha256_vtable, hash, ec, sig)
			: 0;
		return n && br_ecdsa_i31_vrfy_asn1(&br_ec_prime_i31, hash, HASH,
				    &cert->key.ec, sig, n);
	}
	n = (rsa->n_bitlen + 7) / 8;
	return n >= 256 && n <= sizeof sig && n == cert->key.rsa.nlen &&
		br_rsa_i31_pkcs1_sign(
			BR_HASH_OID_SHA256, hash, HASH, rsa, sig) &&
		br_rsa_i31_pkcs1_vrfy(sig, n, BR_HASH_OID_SHA256, HASH,
			&cert->key.rsa, out) &&
		memcmp(out, hash, HASH) == 0;
}

int tls_keys_load(struct tls_keys **out, const char *chain_file,
	const char *key_file, bool h2, struct diag *d)
{
	struct tls_keys *k = calloc(1, sizeof *k);
	br_x509_decoder_context cert;
	int n;

	if (!k)
		return diag_errno(d, -ENOMEM, "%s", chain_file);
	k->owners = 1;
	k->h2 = h2;
	k->der = BUF_INIT(FILE_MAX);
	n = tls_chain_read(chain_file, &k->der, k->chain, TLS_CHAIN_MAX, d);
	if (n >= 0) {
		k->count = (size_t)n;
		n = read_key(&k->key, key_file, d);
	}
	if (n >= 0 && !keys_match(&k->key, tls_cert_key(&cert, &k->chain[0])))
		n = diag_fail(d, -EINVAL, "%s is not the key of %s, or it is"
			" neither RSA of 2048 to 4096 bits nor P-256, P-384 or"
			" P-521", key_file,
			chain_file);
	if (n < 0)
		tls_keys_drop(k);
	else
		*out = k;
	return n < 0 ? n : 0;
}

void tls_keys_drop(struct tls_keys *k)
{
	if (!k || --k->owners)
		return;
	buf_release(&k->der);
	explicit_bzero(k, sizeof *k);
	free(k);
}
