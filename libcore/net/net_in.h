/* net_in.h - what the files of net share
 * SPDX-License-Identifier: MIT
 *
 * Parsers are pure: bytes in, a struct out. NET_MORE means that what is there is
 * the beginning of something that may be good.
 */
#ifndef WARDBOX_NET_IN_H
#define WARDBOX_NET_IN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "net/net.h"

enum {
	NET_MORE = 1,     /* wait for more bytes */
	NET_PEEK = 16384, /* the longest hello, and head of an HTTP request */
	NET_DNS_MAX = 1232,
};

/* net_fds.c: a message with descriptors. */
enum { NET_FDS_MAX = 200 };
enum net_word {
	NET_HELLO, /* to the keeper: sum, up */
	NET_ROOM,  /* to it, before NET_NAMES: sockets to listen at names */
	NET_NAMES, /* to it: sum; a struct net_spec; sockets, see enum net_socket */
	NET_CLAIM, /* to it: inode */
	NET_FLUSH, /* to it */
	NET_GOOD,  /* from it: the namespaces; port, of a front */
	NET_TELL,  /* the same, but it knows no such sum: NET_NAMES comes next */
	NET_FAIL,  /* from it, or who works for it: err */
};
struct net_parcel {
	struct net_says {
		uint32_t word, inode, port, ins;
		int32_t err;
		uint64_t sum, up;
	} says;
	unsigned count;
	int fd[NET_FDS_MAX];
};
#define NET_PARCEL_INIT ((struct net_parcel){0})
void net_parcel_release(struct net_parcel *p);
/* This process may have descriptors for many connections, inside and outside: how
 * many. */
unsigned net_raise_files(void);
/* spec: of NET_NAMES, else NULL. */
int net_send(
	int sock, const struct net_parcel *p, const struct net_spec *spec);
/* -EPIPE: the other end is closed, or what came is no such message. */
int net_receive(int sock, struct net_parcel *p, struct net_spec *spec);

/* An address of either family; .port stays apart. */
struct net_addr {
	sa_family_t family;
	union {
		struct in_addr v4;
		struct in6_addr v6;
	};
};
bool net_addr_parse(struct net_addr *a, const char *text);
void net_addr_text(const struct net_addr *a, char out[static INET6_ADDRSTRLEN]);
bool net_addr_equal(const struct net_addr *a, const struct net_addr *b);
/* The struct sockaddr of it. */
socklen_t net_addr_sock(const struct net_addr *a, uint16_t port,
	struct sockaddr_storage *out);
/* Is it an address of the world, and not one of this machine, its networks or
 * what serves metadata to machines? */
bool net_addr_public(const struct net_addr *a);

/* Where names of the machine's are resolved. */
enum { NET_SERVERS = 3, NET_HOSTS = 256, NET_SEARCHES = 6 };
struct net_hosts {
	const char *only; /* no other name's addresses are kept; NULL: all */
	struct net_addr server[NET_SERVERS];
	unsigned servers;
	char search[NET_SEARCHES][NET_NAME_MAX + 1]; /* domains of short names */
	unsigned searches, dots; /* that a name has which is not short */
	unsigned count;
	struct {
		char name[NET_NAME_MAX + 1];
		struct net_addr addr;
	} host[NET_HOSTS];
};
/* The texts of resolv.conf and hosts: what cannot be read is passed over. */
void net_conf_servers(struct net_hosts *h, const char *text, size_t n);
void net_conf_hosts(struct net_hosts *h, const char *text, size_t n);

/* DNS. A question of one name. */
enum { NET_DNS_A = 1, NET_DNS_AAAA = 28 };
struct net_query {
	uint16_t id, type, class, flags;
	size_t end; /* of the question, in the message */
	bool odd;   /* more than one plain question */
	char name[NET_NAME_MAX + 1]; /* lower case, without the last dot */
};
/* -EBADMSG: no query at all, to be dropped. A name that is no host's (a space, a
 * zero, …) is NET_NAME_MAX long or shorter with such bytes as '?'. */
int net_dns_query(struct net_query *q, const uint8_t *msg, size_t n);
enum net_rcode { NET_DNS_OK = 0, NET_DNS_SERVFAIL = 2, NET_DNS_NXDOMAIN = 3,
	NET_DNS_REFUSED = 5 };
/* The answer to q, whose message msg is: with an address of q's type, or NULL for
 * none. The size, at most NET_DNS_MAX. */
size_t net_dns_answer(uint8_t out[static NET_DNS_MAX], const struct net_query *q,
	const uint8_t *msg, enum net_rcode code, const struct net_addr *a);
/* A question to the outside. The size. */
size_t net_dns_ask(uint8_t out[static NET_DNS_MAX], uint16_t id,
	const char *name, uint16_t type);
/* The addresses of an answer to the question (id, name, type), along its aliases;
 * *ttl their shortest life in seconds. The count, 0 for none; -EBADMSG: it is no
 * answer to that, or not to be read; -EMSGSIZE: it was cut. */
enum { NET_ADDRS = 8 };
int net_dns_addrs(const uint8_t *msg, size_t n, uint16_t id, const char *name,
	uint16_t type, struct net_addr out[static NET_ADDRS], uint32_t *ttl);

/* The name in a TLS ClientHello, in lower case; "" when it has none. 0; NET_MORE;
 * -EBADMSG: that is no hello. The bytes are put together in place. */
struct net_hello {
	char name[NET_NAME_MAX + 1];
	bool ech; /* an encrypted hello within, or what looks like one */
};
int net_hello_parse(struct net_hello *h, uint8_t *bytes, size_t n);

/* The head of an HTTP/1 request. 0; NET_MORE; -EBADMSG: none that every server
 * reads alike. */
struct net_http {
	size_t head; /* bytes */
	bool chunked, connect, absolute;
	bool websocket; /* asks to go on with that */
	uint64_t length; /* of the body, unless chunked */
	uint16_t port;   /* that the host names; 0: none */
	char host[NET_NAME_MAX + 1];
};
int net_http_parse(struct net_http *h, const char *bytes, size_t n);
/* A chunk's first line: its bytes in *line, the chunk's size. */
int net_http_chunk(const char *bytes, size_t n, size_t *line, uint64_t *size);

/* The beginning of a SOCKS 5 conversation: greeting, then request. */
struct net_socks {
	size_t used;
	bool plain; /* the greeting offers no authentication, as wanted */
	uint16_t port;
	char host[NET_NAME_MAX + 1];
};
int net_socks_greeting(struct net_socks *s, const uint8_t *bytes, size_t n);
int net_socks_request(struct net_socks *s, const uint8_t *bytes, size_t n);

/* net_name.c: "example.com" in lower case to out; false when it is no name. */
bool net_name_copy(char out[static NET_NAME_MAX + 1], const char *name,
	size_t n);
/* "[2001:db8::1]" as net_addr_text() writes it; false when it is none. */
bool net_addr_copy(char out[static NET_NAME_MAX + 1], const char *text,
	size_t n);

/* net_ns.c: makes the namespace in a child that is gone afterwards. In the parcel
 * come the namespace, the user namespace where one was needed (else the same
 * again), and that of System V IPC where the kernel has them. */
enum net_space { NET_SPACE_NET, NET_SPACE_USER, NET_SPACE_IPC };
int net_make(struct net_parcel *out);
/* In a child that is gone afterwards: in the link's namespace what spec takes, as
 * NET_NAMES to the keeper. With a front there is none, and no socket comes. */
enum net_socket {
	NET_SOCK_DIAG,
	NET_SOCK_UDP,  /* one for each server, 4 or 6 */
	NET_SOCK_DNS = NET_SOCK_UDP + NET_SERVERS, /* the same, TCP */
	NET_SOCK_REST = NET_SOCK_DNS + NET_SERVERS,
	/* Then TCP, as far as they are needed, those (.ins) that connect to the
	 * loopback. */
	NET_SOCK_INS = 32,
};
/* How many sockets listen at names. A name needs one for each family and port. */
enum {
	NET_ROOM_NAME = 2,
	NET_ROOM_BELOW = 256, /* for all names below one */
	NET_ROOM_MOST = 640,
};
int net_open(const struct net_link *l, uint64_t sum, const struct net_spec *spec);
/* In place of a namespace: a socket that listens on this machine's loopback, in
 * the place of NET_SPACE_NET, and a NET_SOCK_DIAG in the other; the port. */
int net_front(struct net_parcel *out);
/* Where names of this machine's are resolved, as its files say. */
void net_hosts_read(struct net_hosts *h);
/* An address of the pool. */
struct net_addr net_pool(unsigned i, sa_family_t family);

/* net_serve.c: the keeper at work, until nobody is linked for so long; 0: its is no
 * listener but the one link. The namespaces of the parcel are given to each
 * link. */
struct net_keeper {
	int its;
	int idle_ms;
	bool front;
	int (*confine)(void);
	struct net_parcel ns;
};
void net_serve(const struct net_keeper *k);

#endif
