/* tls_in.h - what a server's certificate and key are made of
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_TLS_IN_H
#define WARDBOX_TLS_IN_H

#include <bearssl.h>

#include "base/buf.h"
#include "tls/tls.h"

enum { TLS_CHAIN_MAX = 8 };

struct tls_keys {
	size_t owners;
	bool h2;
	br_x509_certificate chain[TLS_CHAIN_MAX];
	size_t count;
	struct buf der;           /* the chain's bytes */
	br_skey_decoder_context key;
};

/* Reads the certificates of a file, at most max; their count, or -errno with d. */
int tls_chain_read(const char *file, struct buf *der,
	br_x509_certificate *chain, size_t max, struct diag *d);
/* Who vouches for servers. */
struct tls_authorities {
	br_x509_trust_anchor *anchor;
	size_t count;
	struct buf bytes; /* names and keys */
	br_x509_minimal_context x509;
};
/* Those of a file, and what asks them. -errno with d. */
int tls_authorities_load(
	struct tls_authorities *a, const char *file, struct diag *d);
void tls_authorities_release(struct tls_authorities *a);

/* The key of a certificate, which c keeps; NULL: it has none that is known here. */
const br_x509_pkey *tls_cert_key(
	br_x509_decoder_context *c, const br_x509_certificate *cert);

#endif
