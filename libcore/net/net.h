/* net.h - the network that the commands of a session share
 * SPDX-License-Identifier: MIT
 *
 * A network namespace of the session's own, with a loopback and no way out but
 * for names. A keeper, a process of the guard's outside of it, holds the namespace
 * by descriptors. Whoever has a link to the keeper has the namespace, and the names
 * that its own policy gives it; the keeper ends some seconds after the last link was
 * closed. A link is closed when nothing lives in the namespace any more that its
 * owner started.
 *
 * A name that may be spoken to has an address of a pool, which is routed to the
 * loopback. The keeper answers for that address, checks what is said first (the
 * name in a TLS hello, the host of each HTTP request), resolves the name outside
 * and connects to what it checked.
 */
#ifndef WARDBOX_NET_H
#define WARDBOX_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/diag.h"

enum {
	NET_NAME_MAX = 253,
	NET_RULES = 256,
	NET_DENIES = 300,
};

/* What is spoken: what is looked at before a byte leaves. */
enum net_kind {
	NET_TLS,  /* the hello's name */
	NET_HTTP, /* each request's host */
	NET_TCP,  /* nothing */
};
#define NET_KINDS "tls\0http\0tcp\0"

/* NAME, *.NAME (what lies below it), * (every name), or an address. */
struct net_rule {
	char name[NET_NAME_MAX + 1]; /* without "*."; "" for "*" */
	bool below; /* no address */
	uint8_t kind;
	uint16_t port;
	uint64_t up; /* bytes that one command may send there; 0: no limit */
};
/* "NAME[:PORT][/tls|http|tcp]"; without a port 443; 443 is tls, 80 http, else tcp.
 * False: it is none. */
bool net_rule_parse(struct net_rule *r, const char *text);
bool net_rule_match(const struct net_rule *r, const char *name, uint16_t port);
/* Does any port of it match? */
bool net_rule_named(const struct net_rule *r, const char *name);

/* Whom a command may speak to. */
enum { NET_LISTENS = 8 };
struct net_spec {
	struct net_rule allow[NET_RULES], deny[NET_DENIES];
	unsigned allowed, denied;
	uint64_t registry_up; /* .up of what net_registries() finds */
	bool no_ech;    /* a hello with an encrypted one within is refused */
	bool any; /* names may lead to any address */
	/* A proxy of the machine's own network, through which all connections
	 * go but those to addresses, and to names of the machine's own file; .port
	 * is 0 where there is none. */
	struct net_rule proxy;
	char proxy_auth[256]; /* base64 of NAME:PASSWORD; "" */
	/* Ports of this machine's loopback that lead to the namespace's. */
	uint16_t listen[NET_LISTENS];
	unsigned listens;
};
/* "http://[NAME:PASSWORD@]HOST[:PORT][/]", as variables name a proxy, into
 * spec->proxy. False: it is none. */
bool net_proxy_parse(struct net_spec *spec, const char *url);

/* Where this machine's own settings of apt, apk, npm, pip, cargo and go say that
 * packages come from: each host, as often as it is found. */
typedef void net_registry(void *ctx, const struct net_rule *rule,
	const char *tool, const char *file);
void net_registries(const char *home, net_registry *found, void *ctx);

struct net_link {
	int sock; /* to the keeper; open as long as the namespace is needed */
	int net;  /* the namespace, to be joined */
	int user; /* the user namespace that owns it, to be joined before; -1:
		   * that of the machine */
	int ipc;  /* the namespace of System V IPC and message queues that goes
		   * with it; -1: none */
	uint16_t port; /* of a front: then there is no namespace */
};
#define NET_LINK_INIT ((struct net_link){-1, -1, -1, -1, 0})
void net_link_release(struct net_link *l);
#define autolink autoclean(net_link_release)

/* What the keeper tells on a link. */
enum net_event_kind {
	NET_OPENED,  /* a connection: whose is it? */
	NET_ENDED,   /* that, and how */
	NET_REFUSED, /* a name, or what was said on a connection */
	NET_ENTERED, /* a connection from this machine's loopback, and how it ended */
	NET_FLUSHED, /* the answer to net_link_flush() */
};
struct net_event {
	uint32_t kind;
	uint16_t port, type; /* type: of a DNS question; 0 */
	uint32_t inode;      /* of the program's socket; 0: not known */
	bool last;	     /* nobody else is told who could take it */
	bool waits;	     /* the connection does, until it is claimed */
	uint64_t up, down;   /* bytes */
	uint64_t count; /* refused so often by now; so many connections */
	char name[NET_NAME_MAX + 1];
	char addr[48]; /* outside; "" when none was reached */
	char why[64];
};
/* The next one, waited for so long: 1; 0: none is there; -EPIPE: the keeper is
 * gone. */
int net_link_read(const struct net_link *l, int wait_ms, struct net_event *ev);
/* The connection of that socket is this link's: what it may do counts. */
void net_link_claim(const struct net_link *l, uint32_t inode);
/* Asks to be told of all that ended. */
void net_link_flush(const struct net_link *l);

/* What a link is for. */
struct net_ask {
	/* Whom its command may speak to, by a number of the caller's. A keeper that
	 * does not know the number is given what .spec returns, which is freed;
	 * NULL: -ENOMEM. Other names are refused, and told. */
	uint64_t sum;
	struct net_spec *(*spec)(void *ctx);
	void *ctx;
	uint64_t up; /* bytes to each host, at most; 0: no limit */
	/* For a keeper that is started. No namespace: programs ask a proxy on this
	 * machine's loopback, HTTP or SOCKS 5, and the link has its port. */
	bool front;
	/* Called by the keeper when it has all that it needs, before it speaks to
	 * anybody: gives up the rest. -errno. */
	int (*confine)(void);
};

/* Links to the keeper of the session, which is started where there is none. dir
 * is a directory of this user alone, in which the keeper is found by name, a name
 * of at most 40 bytes; -1: a keeper for this link alone. 0; -EPERM and its kin
 * where no namespace can be had. */
int net_join(int dir, const char *name, const struct net_ask *ask,
	struct net_link *out, struct diag *d);

/* Connects to a host of this machine's own network: an address, or a name that
 * /etc/hosts or a name server of /etc/resolv.conf knows; each of its addresses in
 * turn, and each for wait_ns at most. A descriptor that does not block; -EINVAL,
 * -EHOSTUNREACH, -ETIMEDOUT, -errno with d. */
int net_dial(const char *host, const char *port, uint64_t wait_ns,
	struct diag *d);

#endif
