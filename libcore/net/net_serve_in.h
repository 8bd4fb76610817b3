/* net_serve_in.h - the keeper at work: its names, links and connections
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_NET_SERVE_IN_H
#define WARDBOX_NET_SERVE_IN_H

#include "net/net_in.h"

enum {
	SERVE_NAMES = 256,
	SERVE_LISTENERS = NET_SOCK_COUNT,
	SERVE_CONNS = 2048,
	SERVE_LINKS = 1024,
	SERVE_TOLD = 256,
	SERVE_MS_HELLO = 10000,   /* until a client said whom it speaks to */
	SERVE_MS_CONNECT = 20000, /* until somebody answered outside */
	SERVE_MS_ASK = 2000,	  /* until another server is asked */
	SERVE_ASKS = 4,
	SERVE_BURST = 1 << 22, /* bytes until others have their turn */
};

/* What an event of the kernel's is about: the first member of each. */
enum serve_what {
	SERVE_NEW_LINK,
	SERVE_LINK,
	SERVE_UDP,
	SERVE_DNS,
	SERVE_FRONT,
	SERVE_LISTENER,
	SERVE_CLIENT,
	SERVE_OUTSIDE,
	SERVE_ANSWER,
};
struct serve_fd {
	uint8_t what;
	int fd;
};

/* A command. */
struct serve_link {
	struct serve_fd fd;
	bool flush; /* it waits until all that ended is told */
	struct net_event more; /* connections that it had no room for */
};

/* A name that was asked for and may be spoken to. */
struct serve_name {
	struct serve_fd ask; /* to a server outside, while it is resolved */
	char name[NET_NAME_MAX + 1];
	bool literal; /* an address: nothing to resolve */
	bool listed;  /* in the machine's own file */
	bool trusted; /* it may have any address: the machine's own proxy */
	uint8_t asks, got; /* got: a bit for each type that was answered */
	uint16_t id;
	uint64_t due_ms;     /* of the next question */
	uint64_t expires_ms; /* of the addresses */
	unsigned addrs;
	bool hidden; /* it has addresses, and none that may be spoken to */
	uint64_t up; /* bytes, of all connections */
	struct net_addr addr[2 * NET_ADDRS];
};

/* A socket of the namespace that waits for clients. */
struct serve_listener {
	struct serve_fd fd;
	struct serve_name *name;
	const struct net_rule *rule;
	struct net_addr at;
};

enum serve_state {
	SERVE_ASKED,	/* at the front: where to is not all there */
	SERVE_HELLO,	/* what the client says first is not all there */
	SERVE_RESOLVE,	/* the name's addresses are asked for */
	SERVE_CONNECT,	/* to one of them */
	SERVE_TUNNEL,	/* to a proxy outside, which is asked for the name */
	SERVE_OPEN,
};
enum serve_http {
	SERVE_HEAD,
	SERVE_BODY,
	SERVE_CHUNK,
	SERVE_TRAILER,
};

/* What goes one way. A pipe only while bytes are under way. */
struct serve_flow {
	int pipe[2];
	uint32_t held; /* bytes in it */
	bool ended;    /* the source has no more, and the other end was told */
	uint64_t bytes;
};

struct serve_conn {
	struct serve_fd in, out;
	uint8_t state, http, tried;
	bool dns, greeted, again, dead;
	uint16_t peer_port;
	uint32_t inode;
	struct serve_link *owner; /* who said that it is theirs; NULL */
	const struct net_rule *rule;
	struct serve_name *name;
	struct net_addr addr; /* that it is connected to */
	uint64_t due_ms;
	uint64_t left; /* of the request, to be passed on */
	struct serve_flow up, down;
};

struct serve {
	const struct net_spec *spec;
	const struct net_hosts *hosts;
	const struct net_parcel *ns;
	int epoll, idle_ms;
	uint64_t now_ms;
	struct serve_name *proxy; /* outside; or NULL */
	unsigned give; /* so many descriptors to a link */
	unsigned free; /* the next socket of the parcel that has no address */
	unsigned names, listeners, links, conns;
	bool again; /* some connection waits for its turn */
	unsigned pipes;
	int spare[64][2];
	struct serve_fd fixed[1 + 2 * NET_SERVERS]; /* links; UDP and TCP */
	struct serve_link *link[SERVE_LINKS]; /* the oldest first */
	struct serve_conn *conn[SERVE_CONNS];
	struct {
		uint64_t sum, count;
	} told[SERVE_TOLD];
	struct serve_listener listener[SERVE_LISTENERS];
	struct serve_name name[SERVE_NAMES];
	uint8_t peek[NET_PEEK];
};

int serve_watch(struct serve *s, struct serve_fd *f, uint32_t events);
uint64_t serve_clock(void);

/* net_link.c: tells the owner; NULL: all. */
void serve_tell(struct serve *s, struct serve_link *owner,
	struct net_event *ev);
void serve_link_new(struct serve *s, int fd);
void serve_link_read(struct serve *s, struct serve_link *l);
/* Nothing waits to be told: says so to those who want to know. */
void serve_link_flushed(struct serve *s);
void serve_refuse(struct serve *s, const char *name, uint16_t port,
	uint16_t type, uint32_t inode, const char *why);

/* net_names.c: the name, with listeners for an address of the family; NULL: it
 * may not be spoken to, and *why. */
struct serve_name *serve_name_open(struct serve *s, const char *name,
	sa_family_t family, struct net_addr *out, const char **why);
/* The name without an address of the pool, and the rule for that port. */
struct serve_name *serve_name_at(struct serve *s, const char *name,
	uint16_t port, const struct net_rule **rule, const char **why);
/* The proxy outside, if there is one. */
void serve_name_proxy(struct serve *s);
/* What has an address of its own from the beginning. */
void serve_name_fixed(struct serve *s);
/* A question of a client's: the answer, 0 for none. */
size_t serve_dns(struct serve *s, const uint8_t *msg, size_t n, uint32_t inode,
	uint8_t out[static NET_DNS_MAX]);
/* Resolves it, unless it is. 1: has addresses (or none); 0: wait. */
int serve_resolve(struct serve *s, struct serve_name *n);
void serve_answer(struct serve *s, struct serve_name *n);
void serve_resolve_due(struct serve *s, struct serve_name *n);

/* net_conn.c */
enum serve_kind { SERVE_FOR_NAME, SERVE_FOR_DNS, SERVE_FOR_FRONT };
void serve_accept(struct serve *s, enum serve_kind kind,
	const struct serve_listener *l, int listener);
void serve_conn_step(struct serve *s, struct serve_conn *c);
/* Those that wait for this name go on. */
void serve_conn_resolved(struct serve *s, const struct serve_name *n);
void serve_conn_due(struct serve *s);
/* Nobody is left of those that the link is for. */
void serve_conn_end_of(struct serve *s, const struct serve_link *l);

/* net_diag.c: the inode of the socket inside whose address is from, and that is
 * connected to, or speaks to, to; 0. */
uint32_t serve_inode(struct serve *s, int protocol,
	const struct sockaddr_storage *from, const struct sockaddr_storage *to,
	uid_t *uid);

/* net_front.c: what a client asks a proxy for. 0: .name and .rule are there;
 * NET_MORE; -errno: it was answered, or broken off. */
int serve_front(struct serve *s, struct serve_conn *c);

/* net_flow.c: moves bytes as far as it goes. 0; -errno: an end is gone. */
int serve_flow(struct serve *s, struct serve_flow *f, int from, int to,
	uint64_t most, uint64_t *moved);
void serve_flow_end(struct serve *s, struct serve_flow *f);

#endif
