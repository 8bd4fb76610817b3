/* net_sets.c - what the commands of a session may do, each by its own policy
 * SPDX-License-Identifier: MIT
 *
 * All share one namespace, so that one's server is there for the others. What a
 * connection may do is what the command may whose it is.
 */
#include "net/net_serve_in.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/str.h"

struct serve_set *serve_set_find(struct serve *s, uint64_t sum)
{
	for (unsigned i = 0; i < SERVE_SETS; i++)
		if (s->set[i].spec && s->set[i].sum == sum)
			return &s->set[i];
	return NULL;
}

/* A set without links makes room for another. */
static struct serve_set *set_room(struct serve *s)
{
	for (unsigned i = 0; i < SERVE_SETS; i++)
		if (!s->set[i].spec)
			return &s->set[i];
	for (unsigned i = 0; i < SERVE_SETS; i++)
		if (!s->set[i].links) {
			serve_conn_end_set(s, &s->set[i]);
			free(s->set[i].spec);
			s->set[i] = (struct serve_set){0};
			return &s->set[i];
		}
	return NULL;
}

static int take_fd(int *fd)
{
	int it = *fd;

	*fd = -1;
	return it;
}

/* The name servers' addresses, where questions are answered. */
static int take_servers(struct serve *s, struct net_parcel *got)
{
	int err = 0;

	for (unsigned i = 0; !err && i < s->hosts->servers; i++) {
		struct sockaddr_storage at;
		socklen_t size = net_addr_sock(&s->hosts->server[i], 53, &at);
		struct serve_fd *f = &s->fixed[1 + i];
		struct serve_fd *tcp = &s->fixed[1 + NET_SERVERS + i];

		*f = (struct serve_fd){
			SERVE_UDP, take_fd(&got->fd[NET_SOCK_UDP + i])};
		*tcp = (struct serve_fd){
			SERVE_DNS, take_fd(&got->fd[NET_SOCK_DNS + i])};
		if (bind(f->fd, (struct sockaddr *)&at, size) == 0)
			err = serve_watch(s, f, EPOLLIN);
		if (!err && bind(tcp->fd, (struct sockaddr *)&at, size) == 0 &&
			listen(tcp->fd, 64) == 0)
			err = serve_watch(s, tcp, EPOLLIN);
	}
	return err;
}

/* The parts that the keeper needs from its first set on. */
static int take_first(struct serve *s, struct net_parcel *got)
{
	const struct net_keeper *k = s->keep;
	int err = 0;

	s->hosts = calloc(1, sizeof *s->hosts);
	if (!s->hosts)
		return -ENOMEM;
	net_hosts_read(s->hosts);
	if (k->front) {
		s->diag = k->ns.fd[NET_SPACE_USER];
	} else {
		s->diag = take_fd(&got->fd[NET_SOCK_DIAG]);
		err = take_servers(s, got);
	}
	return err || !k->confine ? err : k->confine();
}

static void take_ins(struct serve *s, struct net_parcel *got)
{
	const unsigned end = NET_SOCK_REST + got->says.ins;

	for (unsigned i = NET_SOCK_REST; !s->inwards && i < end; i++)
		s->in[s->ins++] = take_fd(&got->fd[i]);
	s->inwards |= s->ins;
}

void serve_set_room(struct serve *s, struct net_parcel *got)
{
	for (unsigned i = 0; i < got->count && s->frees < SERVE_LISTENERS; i++)
		s->free[s->frees++] = take_fd(&got->fd[i]);
}

/* Sockets brought for names that the rules spell are kept for those names. */
static void room_below(struct serve *s, const struct net_spec *spec)
{
	unsigned spelt = 0, below = 0;

	for (unsigned i = 0; i < spec->allowed; i++) {
		spelt += spec->allow[i].below ? 0 : NET_ROOM_NAME;
		below += spec->allow[i].below ? NET_ROOM_BELOW : 0;
	}
	if (spelt + below > NET_ROOM_MOST)
		below = spelt < NET_ROOM_MOST ? NET_ROOM_MOST - spelt : 0;
	s->room += below;
}

int serve_set_add(struct serve *s, struct serve_set **set, struct net_spec *spec,
	struct net_parcel *got)
{
	struct serve_set *room = set_room(s);
	int err = 0;

	if (!room)
		return -EMFILE;
	if (!s->keep->front && (got->count < NET_SOCK_REST + got->says.ins ||
				       got->says.ins > NET_SOCK_INS))
		return -EPROTO;
	if (!s->hosts)
		err = take_first(s, got);
	if (err)
		return err;
	take_ins(s, got);
	room_below(s, spec);
	*room = (struct serve_set){.sum = got->says.sum, .spec = spec};
	serve_name_fixed(s, room);
	*set = room;
	return 0;
}

struct serve_set *serve_set_common(struct serve *s)
{
	struct serve_set *set = NULL;

	for (unsigned i = 0; i < s->links; i++) {
		if (!s->link[i]->ready)
			continue;
		if (!s->link[i]->set || (set && set != s->link[i]->set))
			return NULL;
		set = s->link[i]->set;
	}
	return set;
}

static bool is_denied(const struct net_spec *spec, const char *name)
{
	for (unsigned i = 0; i < spec->denied; i++)
		/* "*" is an address, too, that is taken away. */
		if (!spec->deny[i].name[0] ||
			net_rule_named(&spec->deny[i], name))
			return true;
	return false;
}

bool serve_named(const struct serve_set *set, const char *name)
{
	for (unsigned i = 0; i < set->spec->allowed; i++)
		if (set->spec->allow[i].name[0] &&
			net_rule_named(&set->spec->allow[i], name))
			return true;
	return false;
}

const struct net_rule *serve_set_rule(
	const struct serve_set *set, const char *name, uint16_t port)
{
	const struct net_rule *found = NULL;

	for (unsigned i = 0; i < set->spec->allowed; i++) {
		const struct net_rule *r = &set->spec->allow[i];

		/* Of several the tightest limit counts. */
		if (net_rule_match(r, name, port) &&
			(!found || (r->up && (!found->up || r->up < found->up))))
			found = r;
	}
	return is_denied(set->spec, name) ? NULL : found;
}

bool serve_allowed(
	const struct serve *s, const struct serve_set *set, const char *name)
{
	for (unsigned i = 0; i < SERVE_SETS; i++) {
		const struct serve_set *one = &s->set[i];

		if (!one->spec || (set ? one != set : !one->links) ||
			is_denied(one->spec, name))
			continue;
		for (unsigned k = 0; k < one->spec->allowed; k++)
			if (net_rule_named(&one->spec->allow[k], name))
				return true;
	}
	return false;
}

static uint64_t limit_of(const struct serve_link *l, const struct net_rule *r)
{
	return !l->up || (r->up && r->up < l->up) ? r->up : l->up;
}

/* The connection's owner must be known where a limit counts. */
bool serve_up_counts(const struct serve *s, const struct serve_conn *c)
{
	for (unsigned i = 0; i < s->links; i++)
		if (limit_of(s->link[i], c->rule))
			return true;
	return false;
}

/* The bytes that the owner sent to the name, or to all below the rule's. */
static uint64_t *sent_of(const struct serve *s, const struct serve_conn *c)
{
	return &c->owner->sent[c->rule->below
			? SERVE_NAMES + (c->rule - c->set->spec->allow)
			: c->name - s->name];
}

uint64_t serve_up_left(const struct serve *s, const struct serve_conn *c)
{
	const uint64_t limit =
		c->owner && c->rule ? limit_of(c->owner, c->rule) : 0;
	const uint64_t sent = limit ? *sent_of(s, c) : 0;

	return !limit ? UINT64_MAX : sent < limit ? limit - sent : 0;
}

void serve_up_sent(struct serve *s, const struct serve_conn *c, uint64_t bytes)
{
	if (c->owner && c->rule && limit_of(c->owner, c->rule))
		*sent_of(s, c) += bytes;
}
