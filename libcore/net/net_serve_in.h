/* net_serve_in.h - the keeper at work: its names, links and connections
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_NET_SERVE_IN_H
#define WARDBOX_NET_SERVE_IN_H

#include <sys/epoll.h>

#include "net/net_in.h"

enum {
	SERVE_NAMES = 512,
	SERVE_NAMES_BELOW = SERVE_NAMES - NET_RULES, /* that no rule spells */
	SERVE_SETS = 8,
	SERVE_LISTENERS = 2048,
	SERVE_CONNS = 2048,
	SERVE_LINKS = 1024,
	SERVE_TOLD = 64,
	SERVE_MS_HELLO = 10000,   /* until a client said whom it speaks to */
	SERVE_MS_WHOSE = 3000,	  /* until a command says that it is its own */
	SERVE_MS_CONNECT = 20000, /* until somebody answered outside */
	SERVE_MS_ASK = 2000,	  /* until another server is asked */
	SERVE_MS_REST = 600000,	  /* until a name may make room for another */
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
	SERVE_INWARDS,
	SERVE_CLIENT,
	SERVE_OUTSIDE,
	SERVE_ANSWER,
};
struct serve_fd {
	uint8_t what;
	int fd;
};

/* Whom commands may speak to: those whose links came with the same number. */
struct serve_set {
	uint64_t sum;
	unsigned links;
	struct net_spec *spec;
	struct serve_name *proxy; /* outside; or NULL */
};

/* A command. */
struct serve_link {
	struct serve_fd fd;
	bool tells; /* of names comes next */
	bool ready; /* it has the namespace */
	bool flush; /* it waits until all that ended is told */
	struct serve_set *set; /* NULL: nobody */
	uint64_t up;	       /* bytes to each name; 0: no limit */
	/* A limit counts for names, then for all that is below a rule's. */
	uint64_t sent[SERVE_NAMES + NET_RULES];
	struct net_event more; /* connections that it had no room for */
};

/* A name that was asked for and may be spoken to. */
struct serve_name {
	struct serve_fd ask; /* to a server outside, while it is resolved */
	char name[NET_NAME_MAX + 1];
	bool literal; /* an address: nothing to resolve */
	bool listed;  /* in the machine's own file */
	bool trusted; /* it may have any address: the machine's own proxy */
	bool spelt;   /* by a rule, and not only the name that it is below */
	uint8_t asks, got; /* got: a bit for each type that was answered */
	uint16_t id;
	uint64_t used_ms;    /* when it was asked for last, or spoken to */
	uint64_t due_ms;     /* of the next question */
	uint64_t expires_ms; /* of the addresses */
	unsigned addrs;
	struct net_addr addr[2 * NET_ADDRS];
};

/* A socket of the namespace that waits for clients. */
struct serve_listener {
	struct serve_fd fd;
	struct serve_name *name;
	uint16_t port;
	struct net_addr at;
};

/* A port of this machine's loopback. */
struct serve_inward {
	struct serve_fd fd; /* -1: another has the port */
	uint16_t port;
};

enum serve_state {
	SERVE_ASKED,	/* at the front: where to is not all there */
	SERVE_WHOSE,	/* the command is not known, and it matters */
	SERVE_HELLO,	/* what the client says first is not all there */
	SERVE_RESOLVE,	/* the name's addresses are asked for */
	SERVE_CONNECT,	/* to one of them */
	SERVE_TUNNEL,	/* to a proxy outside, which is asked for the name */
	SERVE_OPEN,
};
enum serve_http {
	SERVE_HEAD,
	SERVE_CHUNK,
	SERVE_TRAILER,
	SERVE_SWITCH, /* the server may agree that the rest is no HTTP */
	SERVE_RAW,    /* the server agreed: nothing is looked at */
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
	bool inward; /* the other way round: .in is outside */
	uint16_t port;
	uint32_t inode;
	struct serve_link *owner; /* whose it is; NULL: not known, and all that
				   * could have the same .set */
	struct serve_set *set;
	const struct net_rule *rule; /* of the set; NULL: not known yet */
	struct serve_name *name;
	struct net_addr addr; /* that it is connected to */
	uint64_t due_ms;
	uint64_t left; /* of the request, to be passed on */
	struct serve_flow up, down;
};

struct serve {
	const struct net_keeper *keep;
	struct net_hosts *hosts; /* NULL: no names were told yet */
	int epoll, diag; /* -1 */
	uint64_t now_ms;
	unsigned names, listeners, links, conns;
	unsigned below; /* names that are not spelt */
	bool again; /* some connection waits for its turn */
	unsigned pipes;
	int spare[64][2];
	bool inwards; /* .in were brought */
	unsigned frees, ins; /* sockets inside, to listen and to connect */
	unsigned room; /* of .free, for names that are not spelt */
	int free[SERVE_LISTENERS];
	int in[NET_SOCK_INS];
	struct serve_fd fixed[1 + 2 * NET_SERVERS]; /* links; UDP and TCP */
	struct serve_inward inward[NET_LISTENS];
	struct serve_set set[SERVE_SETS];
	struct serve_link *link[SERVE_LINKS]; /* the oldest first */
	struct serve_conn *conn[SERVE_CONNS];
	struct {
		uint64_t sum, count;
	} told[SERVE_TOLD];
	unsigned delayed;
	struct {
		struct net_event ev;
		uint64_t due_ms;
	} delay[16];
	struct serve_listener listener[SERVE_LISTENERS];
	struct serve_name name[SERVE_NAMES];
	uint8_t peek[NET_PEEK];
};

#define SERVE_BOTH ((uint32_t)EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)
int serve_watch(struct serve *s, struct serve_fd *f, uint32_t events);
uint64_t serve_clock(void);

/* net_link.c: the last that is ready; NULL. */
struct serve_link *serve_link_newest(struct serve *s);
/* Tells the owner; NULL: all. */
void serve_tell(struct serve *s, struct serve_link *owner,
	struct net_event *ev);
/* Tells what nobody said was theirs, when it is time. */
void serve_link_late(struct serve *s, bool all);
void serve_link_new(struct serve *s, int fd);
void serve_link_read(struct serve *s, struct serve_link *l);
/* Nothing waits to be told: says so to those who want to know. */
void serve_link_flushed(struct serve *s);
/* c: NULL for a question. */
void serve_refuse(struct serve *s, const char *name, const struct serve_conn *c,
	uint16_t type, uint32_t inode, const char *why);

/* net_sets.c: the set of that number; NULL: it is not known. */
struct serve_set *serve_set_find(struct serve *s, uint64_t sum);
/* The sockets that a link brought with NET_ROOM. */
void serve_set_room(struct serve *s, struct net_parcel *got);
/* What a link brought with NET_NAMES becomes a set: spec, and got's descriptors.
 * -errno, with the spec still the caller's. */
int serve_set_add(struct serve *s, struct serve_set **set, struct net_spec *spec,
	struct net_parcel *got);
/* The set of all commands; NULL: they have not one in common. */
struct serve_set *serve_set_common(struct serve *s);
/* The rule for it; NULL: there is none. */
const struct net_rule *serve_set_rule(
	const struct serve_set *set, const char *name, uint16_t port);
/* Does a rule name it, or what it is below? "*" does not. */
bool serve_named(const struct serve_set *set, const char *name);
/* May it be spoken to, at any port? set: NULL: any command. */
bool serve_allowed(const struct serve *s, const struct serve_set *set,
	const char *name);
/* May a limit count for it, whoever's it is? How many bytes it may send yet; they
 * were sent. */
bool serve_up_counts(const struct serve *s, const struct serve_conn *c);
uint64_t serve_up_left(const struct serve *s, const struct serve_conn *c);
void serve_up_sent(struct serve *s, const struct serve_conn *c, uint64_t bytes);

/* net_names.c: the name, with listeners for an address of the family; NULL: it
 * may not be spoken to, and *why. */
struct serve_name *serve_name_open(struct serve *s, const char *name,
	sa_family_t family, struct net_addr *out, const char **why);
/* The name without an address of the pool; NULL: there are too many at once. */
struct serve_name *serve_name_at(struct serve *s, const char *name);
/* Another name of the machine's own file with the same address; NULL. */
struct serve_name *serve_name_beside(
	struct serve *s, const struct serve_name *n, const char *name);
/* What of a new set has an address of its own from the beginning. */
void serve_name_fixed(struct serve *s, struct serve_set *set);
/* A question of a client's: the answer, 0 for none. */
size_t serve_dns(struct serve *s, const uint8_t *msg, size_t n, uint32_t inode,
	uint8_t out[static NET_DNS_MAX]);
/* Resolves it, unless it is. 1: has addresses (or none); 0: wait. */
int serve_resolve(struct serve *s, struct serve_name *n);
void serve_answer(struct serve *s, struct serve_name *n);
void serve_resolve_due(struct serve *s, struct serve_name *n);

/* net_conn.c */
enum serve_kind { SERVE_FOR_NAME, SERVE_FOR_DNS, SERVE_FOR_FRONT };
/* A connection of the accepted client; NULL: there is no room, and fd is closed. */
struct serve_conn *serve_conn_new(struct serve *s, int fd);
void serve_accept(struct serve *s, enum serve_kind kind,
	const struct serve_listener *l, int listener);
void serve_conn_step(struct serve *s, struct serve_conn *c);
/* It cannot be connected to where it was tried. */
void serve_conn_unreached(struct serve *s, struct serve_conn *c);
/* Those that wait for this name go on. */
void serve_conn_resolved(struct serve *s, const struct serve_name *n);
void serve_conn_due(struct serve *s);
/* The connections of that socket are the link's. */
void serve_conn_claim(struct serve *s, struct serve_link *l, uint32_t inode);
/* Nobody is left of those that the link is for, or that have the set. */
void serve_conn_end_of(struct serve *s, const struct serve_link *l);
void serve_conn_end_set(struct serve *s, const struct serve_set *set);

/* Breaks it off, which the owner is told. */
void serve_conn_refuse(
	struct serve *s, struct serve_conn *c, const char *why);
/* Reads the client's bytes that nobody took yet to .peek. 0 at the end; -EAGAIN. */
ssize_t serve_conn_peek(struct serve *s, const struct serve_conn *c);

/* net_look.c: does the client's first word name the host? 0; NET_MORE; else it is
 * refused. */
int serve_look_first(struct serve *s, struct serve_conn *c);
/* May the next piece of what the client asks pass? Then .left is its size. False:
 * wait, or it is refused. */
bool serve_look_piece(struct serve *s, struct serve_conn *c);
/* Does the server's first answer say that the rest is no HTTP? False: that is not
 * known yet, so nothing passes. */
bool serve_look_switch(struct serve *s, struct serve_conn *c);

/* net_inward.c: waits at the ports that the set says; a connection from there. */
void serve_inward_open(struct serve *s, const struct net_spec *spec);
void serve_inward_accept(struct serve *s, const struct serve_inward *w);
/* Those that had to wait for a socket or their turn. */
void serve_inward_again(struct serve *s);
/* Its socket inside serves the next. */
void serve_inward_end(struct serve *s, struct serve_conn *c);

/* net_diag.c: the inode of the socket inside whose address is from, and that is
 * connected to, or speaks to, to; 0. */
uint32_t serve_inode(struct serve *s, int protocol,
	const struct sockaddr_storage *from, const struct sockaddr_storage *to,
	uid_t *uid);

/* net_front.c: what a client asks a proxy for. 0: .name and .rule are there;
 * NET_MORE; -errno: it was answered, or broken off. */
int serve_front(struct serve *s, struct serve_conn *c);

/* net_flow.c: small pieces go at once, as their sender may want. A program that
 * keeps its silent connection alive reaches the keeper alone, so that the keeper
 * does so outside, for all. */
void serve_flow_tune(int in, int out);
/* Moves bytes as far as it goes. 0; -errno: an end is gone. */
int serve_flow(struct serve *s, struct serve_flow *f, int from, int to,
	uint64_t most, uint64_t *moved);
void serve_flow_end(struct serve *s, struct serve_flow *f);

#endif
