/* tls.c - TLS 1.2 between a socket and the bytes of a connection
 * SPDX-License-Identifier: MIT
 */
#include "tls/tls_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/str.h"

struct tls {
	union {
		br_ssl_server_context server;
		br_ssl_client_context client;
	} side;
	br_ssl_engine_context *engine; /* of that side */
	struct tls_keys *keys; /* this side's; NULL: a client without */
	br_x509_knownkey_context pin; /* the client's, with its bytes in .der */
	struct buf der;
	struct tls_authorities *authorities; /* the client's, in place of a pin */
	br_x509_decoder_context cert;
	const char *protocols[2];
	unsigned char io[BR_SSL_BUFSIZE_BIDI];
};

/* What both sides agree to, and nothing else is built in. false: the kernel gives
 * no randomness. */
static bool setup_engine(struct tls *t, br_ssl_engine_context *e, bool h2)
{
	static const uint16_t suites[] = {
		BR_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
		BR_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		BR_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
		BR_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	};
	unsigned char seed[32];

	if (getrandom(seed, sizeof seed, 0) != sizeof seed)
		return false;
	t->engine = e;
	br_ssl_engine_set_versions(e, BR_TLS12, BR_TLS12);
	br_ssl_engine_set_suites(e, suites, ARRAY_SIZE(suites));
	br_ssl_engine_set_hash(e, br_sha256_ID, &br_sha256_vtable);
	br_ssl_engine_set_prf_sha256(e, &br_tls12_sha256_prf);
	br_ssl_engine_set_ec(e, &br_ec_p256_m31);
	br_ssl_engine_set_default_aes_gcm(e);
	br_ssl_engine_set_default_chapol(e);
	/* The first that the other side knows, too: gRPC's clients know one. */
	t->protocols[0] = "http/1.1";
	t->protocols[1] = "h2";
	br_ssl_engine_set_protocol_names(e, t->protocols, h2 ? 2 : 1);
	br_ssl_engine_add_flags(e, BR_OPT_NO_RENEGOTIATION |
			BR_OPT_FAIL_ON_ALPN_MISMATCH);
	/* Where a processor has none of AES, the other side's wish counts. */
	if (br_aes_x86ni_ctr_get_vtable())
		br_ssl_engine_add_flags(e, BR_OPT_ENFORCE_SERVER_PREFERENCES);
	br_ssl_engine_set_buffer(e, t->io, sizeof t->io, 1);
	br_ssl_engine_inject_entropy(e, seed, sizeof seed);
	return true;
}

struct tls *tls_accept(struct tls_keys *k)
{
	struct tls *t = malloc(sizeof *t);
	br_ssl_server_context *s = t ? &t->side.server : NULL;
	const br_ec_private_key *ec = br_skey_decoder_get_ec(&k->key);
	bool good;

	if (!t)
		return NULL;
	br_ssl_server_zero(s);
	t->der = BUF_INIT(0);
	t->authorities = NULL;
	t->keys = k;
	k->owners++;
	good = setup_engine(t, &s->eng, k->h2);
	if (ec)
		br_ssl_server_set_single_ec(s, k->chain, k->count, ec,
			BR_KEYTYPE_SIGN, 0, &br_ec_prime_i31,
			br_ecdsa_i31_sign_asn1);
	else
		br_ssl_server_set_single_rsa(s, k->chain, k->count,
			br_skey_decoder_get_rsa(&k->key), BR_KEYTYPE_SIGN, NULL,
			br_rsa_i31_pkcs1_sign);
	if (!good || !br_ssl_server_reset(s)) {
		tls_free(t);
		return NULL;
	}
	return t;
}

/* The first certificate's key, and nothing else that it says. */
static int pin_key(struct tls *t, const char *file, struct diag *d)
{
	br_x509_certificate cert;
	const br_x509_pkey *key;
	int n = tls_chain_read(file, &t->der, &cert, 1, d);

	if (n < 0)
		return n;
	key = tls_cert_key(&t->cert, &cert);
	if (!key)
		return diag_fail(d, -EINVAL, "%s: no certificate of RSA,"
			" P-256, P-384 or P-521", file);
	if (key->key_type == BR_KEYTYPE_EC)
		br_x509_knownkey_init_ec(
			&t->pin, &key->key.ec, BR_KEYTYPE_SIGN);
	else
		br_x509_knownkey_init_rsa(
			&t->pin, &key->key.rsa, BR_KEYTYPE_SIGN);
	return 0;
}

/* A client, its engine set up; NULL: out of memory or of randomness. */
static struct tls *client_new(void)
{
	struct tls *t = calloc(1, sizeof *t);
	br_ssl_client_context *c = t ? &t->side.client : NULL;

	if (!t)
		return NULL;
	t->der = BUF_INIT(1 << 16);
	br_ssl_client_zero(c);
	if (!setup_engine(t, &c->eng, false)) {
		tls_free(t);
		return NULL;
	}
	br_ssl_engine_set_rsavrfy(&c->eng, br_rsa_i31_pkcs1_vrfy);
	br_ssl_engine_set_ec(&c->eng, &br_ec_prime_i31);
	br_ssl_engine_set_ecdsa(&c->eng, br_ecdsa_i31_vrfy_asn1);
	return t;
}

/* err: what was wrong before, or 0. */
static int client_begin(struct tls *t, const char *host,
	const br_x509_class **proof, int err, struct tls **out, struct diag *d)
{
	br_ssl_client_context *c = &t->side.client;

	if (!err) {
		br_ssl_engine_set_x509(&c->eng, proof);
		err = br_ssl_client_reset(c, host, 0)
			? 0
			: diag_fail(d, -EIO, "TLS cannot begin with %s", host);
	}
	if (err)
		tls_free(t);
	else
		*out = t;
	return err;
}

int tls_connect(struct tls **out, const char *host, const char *pin_file,
	struct diag *d)
{
	struct tls *t = client_new();

	if (!t)
		return diag_errno(d, -ENOMEM, "%s", host);
	return client_begin(
		t, host, &t->pin.vtable, pin_key(t, pin_file, d), out, d);
}

/* The client's certificates and key, where the server asks for them. */
static void client_keys(struct tls *t, struct tls_keys *k)
{
	br_ssl_client_context *c = &t->side.client;
	const br_ec_private_key *ec = br_skey_decoder_get_ec(&k->key);

	t->keys = k;
	k->owners++;
	if (ec)
		br_ssl_client_set_single_ec(c, k->chain, k->count, ec,
			BR_KEYTYPE_SIGN, 0, &br_ec_prime_i31,
			br_ecdsa_i31_sign_asn1);
	else
		br_ssl_client_set_single_rsa(c, k->chain, k->count,
			br_skey_decoder_get_rsa(&k->key),
			br_rsa_i31_pkcs1_sign);
}

int tls_connect_by(struct tls **out, const char *host, const char *ca_file,
	struct tls_keys *k, bool http, struct diag *d)
{
	struct tls *t = client_new();
	int err;

	if (!t)
		return diag_errno(d, -ENOMEM, "%s", host);
	t->authorities = calloc(1, sizeof *t->authorities);
	if (!t->authorities)
		return client_begin(t, host, NULL,
			diag_errno(d, -ENOMEM, "%s", host), out, d);
	if (k)
		client_keys(t, k);
	if (!http)
		br_ssl_engine_set_protocol_names(t->engine, NULL, 0);
	err = tls_authorities_load(t->authorities, ca_file, d);
	return client_begin(
		t, host, &t->authorities->x509.vtable, err, out, d);
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	tls_keys_drop(t->keys);
	if (t->authorities)
		tls_authorities_release(t->authorities);
	free(t->authorities);
	buf_release(&t->der);
	explicit_bzero(&t->side, sizeof t->side);
	free(t);
}

/* Sealed bytes to the socket. 0: all of them; -EAGAIN; -errno. */
static int push_records(struct tls *t, int fd)
{
	size_t n;
	unsigned char *from;

	while ((from = br_ssl_engine_sendrec_buf(t->engine, &n))) {
		ssize_t sent = send(fd, from, n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0)
			return errno == EINTR ? -EAGAIN : -errno;
		br_ssl_engine_sendrec_ack(t->engine, (size_t)sent);
	}
	return 0;
}

/* Sealed bytes from the socket; as recv(). */
static ssize_t pull_record(struct tls *t, int fd)
{
	size_t n;
	unsigned char *to = br_ssl_engine_recvrec_buf(t->engine, &n);
	ssize_t got;

	if (!to)
		return -EAGAIN;
	got = recv(fd, to, n, MSG_DONTWAIT);
	if (got < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (got)
		br_ssl_engine_recvrec_ack(t->engine, (size_t)got);
	return got;
}

/* 0: it goes on; what has ended, and how. */
static bool has_ended(const struct tls *t, ssize_t *how)
{
	if (br_ssl_engine_current_state(t->engine) != BR_SSL_CLOSED)
		return false;
	*how = br_ssl_engine_last_error(t->engine) ? -EPROTO : 0;
	return true;
}

ssize_t tls_recv(struct tls *t, int fd, void *to, size_t n)
{
	ssize_t got;

	for (;;) {
		size_t here;
		unsigned char *from = br_ssl_engine_recvapp_buf(t->engine, &here);
		int err = push_records(t, fd);

		if (err && err != -EAGAIN)
			return err;
		if (from) {
			here = here < n ? here : n;
			memcpy(to, from, here);
			br_ssl_engine_recvapp_ack(t->engine, here);
			return (ssize_t)here;
		}
		if (has_ended(t, &got))
			return got;
		got = pull_record(t, fd);
		if (got <= 0)
			return got;
	}
}

ssize_t tls_send(struct tls *t, int fd, const void *from, size_t n)
{
	const char *at = from;
	size_t left = n, room;
	unsigned char *to;
	ssize_t how;
	int err = push_records(t, fd);

	while (!err && left && (to = br_ssl_engine_sendapp_buf(t->engine, &room))) {
		room = room < left ? room : left;
		memcpy(to, at, room);
		br_ssl_engine_sendapp_ack(t->engine, room);
		at += room;
		left -= room;
		if (!left)
			br_ssl_engine_flush(t->engine, 0);
		err = push_records(t, fd);
	}
	if (err && err != -EAGAIN)
		return err;
	if (has_ended(t, &how))
		return -EPIPE;
	return n == left && n ? -EAGAIN : (ssize_t)(n - left);
}

bool tls_waits(const struct tls *t)
{
	return br_ssl_engine_current_state(t->engine) & BR_SSL_SENDREC;
}

void tls_end(struct tls *t, int fd)
{
	br_ssl_engine_close(t->engine);
	(void)push_records(t, fd);
}

bool tls_agreed(const struct tls *t)
{
	return br_ssl_engine_current_state(t->engine) &
		(BR_SSL_SENDAPP | BR_SSL_RECVAPP);
}

const char *tls_protocol(const struct tls *t)
{
	const char *name = br_ssl_engine_get_selected_protocol(t->engine);

	return name ? name : "";
}

const char *tls_error(const struct tls *t)
{
	int err = br_ssl_engine_last_error(t->engine);

	switch (err) {
	case BR_ERR_OK:
		return "the connection ended";
	case BR_ERR_BAD_SIGNATURE:
	case BR_ERR_X509_WRONG_KEY_TYPE:
	case BR_ERR_WRONG_KEY_USAGE:
		return "it does not have the pinned certificate's key";
	case BR_ERR_X509_NOT_TRUSTED:
	case BR_ERR_X509_BAD_SIGNATURE:
		return "no authority of the file vouches for it";
	case BR_ERR_X509_BAD_SERVER_NAME:
		return "its certificate is for another name";
	case BR_ERR_X509_EXPIRED:
		return "its certificate is not valid now";
	case BR_ERR_UNSUPPORTED_VERSION:
	case BR_ERR_BAD_VERSION:
	case BR_ERR_RECV_FATAL_ALERT + 70:
		return "it does not speak TLS 1.2";
	case BR_ERR_RECV_FATAL_ALERT + 40:
		return "no common cipher";
	}
	return "no TLS of this server's kind";
}
