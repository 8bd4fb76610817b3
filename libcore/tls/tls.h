/* tls.h - TLS 1.2 between a socket and the bytes of a connection
 * SPDX-License-Identifier: MIT
 *
 * ECDHE with AES-GCM or ChaCha20 alone, no renegotiation, no resumption. A protocol
 * (ALPN) that both do not know ends the handshake. The socket does not block:
 *
 *	n = tls_recv(t, fd, to, size);	as recv(), with -errno
 *	n = tls_send(t, fd, from, size);	as send(), with -errno
 *	tls_waits(t)			then the socket is to be writable
 */
#ifndef WARDBOX_TLS_H
#define WARDBOX_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/diag.h"

/* A side's proof of itself: certificates and a private key. */
struct tls_keys;
/* Reads PEM: a certificate and those above it, and its key (RSA, P-256, P-384 or
 * P-521). h2: a server speaks HTTP/2, too. *k has one owner. -errno with d:
 * unreadable, no certificate, open to others, or no pair. */
int tls_keys_load(struct tls_keys **k, const char *chain_file,
	const char *key_file, bool h2, struct diag *d);
/* One owner fewer; the last one's is wiped. */
void tls_keys_drop(struct tls_keys *k);

struct tls;
/* The server's side of a connection, which owns k, too; NULL: out of memory. */
struct tls *tls_accept(struct tls_keys *k);
/* The client's: the server at host is to have the key of the first certificate of
 * the file, and no other proof counts. */
int tls_connect(struct tls **t, const char *host, const char *pin_file,
	struct diag *d);
/* The same, where a certificate for the name host counts that the authorities of
 * the file vouch for. http: HTTP/1.1 will be spoken. k: what the client proves itself
 * with where the server asks for that, which t owns, too; NULL: nothing. */
int tls_connect_by(struct tls **t, const char *host, const char *ca_file,
	struct tls_keys *k, bool http, struct diag *d);
void tls_free(struct tls *t);

/* At most n bytes. 0: the other side has ended; -EAGAIN; -EPROTO: no TLS of ours,
 * see tls_error(); -errno of the socket. What it does not give stays in fd, so
 * that fd is ready for reading again, if n is TLS_PIECE at least. */
ssize_t tls_recv(struct tls *t, int fd, void *to, size_t n);
/* How many of the n bytes were taken. */
ssize_t tls_send(struct tls *t, int fd, const void *from, size_t n);
enum { TLS_PIECE = 16384 };
/* Bytes that were taken wait for the socket: tls_send() with none writes them. */
bool tls_waits(const struct tls *t);
/* Says that no more will be sent. */
void tls_end(struct tls *t, int fd);
/* Both sides have agreed on keys; no byte of the connection was there before. */
bool tls_agreed(const struct tls *t);
/* The protocol that was agreed on by name; "": no names were said. */
const char *tls_protocol(const struct tls *t);
/* Why it failed, for a person. */
const char *tls_error(const struct tls *t);

#endif
