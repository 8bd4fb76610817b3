/* net_link.c - the commands that use the namespace, and what they are told
 * SPDX-License-Identifier: MIT
 */
#include "net/net_serve_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/kconfig.h"
#include "base/str.h"

static bool link_try(struct serve_link *l, const struct net_event *ev, int flags)
{
	return send(l->fd.fd, ev, sizeof *ev, MSG_NOSIGNAL | flags) == sizeof *ev;
}

/* The keeper waits for no command that does not read: connections that ended add up
 * in .more until there is room, and other messages are dropped. */
static void link_send(struct serve_link *l, const struct net_event *ev)
{
	if (l->more.count && link_try(l, &l->more, MSG_DONTWAIT))
		l->more.count = 0;
	if ((!l->more.count && link_try(l, ev, MSG_DONTWAIT)) ||
		ev->kind != NET_ENDED)
		return;
	if (!l->more.count) {
		l->more = *ev;
		return;
	}
	l->more.count += ev->count;
	l->more.up += ev->up;
	l->more.down += ev->down;
}

struct serve_link *serve_link_newest(struct serve *s)
{
	for (unsigned i = s->links; i--;)
		if (s->link[i]->ready)
			return s->link[i];
	return NULL;
}

/* Of several commands each looks whether the event is its own. An event that no
 * command claims is the newest command's. */
static void tell_all(struct serve *s, const struct net_event *ev)
{
	enum { LOOK_MS = 100 };

	for (unsigned i = 0; i < s->links; i++)
		/* A link that is not ready waits for another message. */
		if (s->link[i]->ready)
			link_send(s->link[i], ev);
	if (ev->kind != NET_REFUSED)
		return;
	if (s->delayed == ARRAY_SIZE(s->delay))
		serve_link_late(s, true);
	s->delay[s->delayed].ev = *ev;
	s->delay[s->delayed++].due_ms = s->now_ms + LOOK_MS;
}

void serve_link_late(struct serve *s, bool all)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s->delayed; i++) {
		if (all || s->now_ms >= s->delay[i].due_ms)
			serve_tell(s, serve_link_newest(s), &s->delay[i].ev);
		else
			s->delay[kept++] = s->delay[i];
	}
	s->delayed = kept;
}

static void late_claim(struct serve *s, uint32_t inode)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s->delayed; i++)
		if (s->delay[i].ev.inode != inode)
			s->delay[kept++] = s->delay[i];
	s->delayed = kept;
}

void serve_tell(struct serve *s, struct serve_link *owner,
	struct net_event *ev)
{
	struct serve_link *newest = serve_link_newest(s);

	if (!owner && newest && (s->links == 1 || !ev->inode) &&
		ev->kind == NET_REFUSED)
		owner = newest;
	ev->last = owner;
	if (owner)
		link_send(owner, ev);
	else
		tell_all(s, ev);
}

/* Of equal refusals the first, the fourth, the sixteenth and so on are told: four,
 * because most programs ask for a name's addresses of both kinds. */
static bool is_told(struct serve *s, const struct serve_link *owner,
	const struct net_event *ev, uint64_t *count)
{
	uint64_t sum = 0xcbf29ce484222325U ^ (uintptr_t)owner;
	const char *const of[] = {ev->name, ev->why};
	size_t i = 0;

	for (size_t k = 0; k < ARRAY_SIZE(of); k++)
		for (const char *c = of[k]; *c; c++)
			sum = (sum ^ (unsigned char)*c) * 0x100000001b3U;
	while (i < SERVE_TOLD - 1 && s->told[i].count && s->told[i].sum != sum)
		i++;
	/* The last place is that of all for whom there is none. */
	s->told[i].sum = sum;
	*count = ++s->told[i].count;
	return *count & (*count - 1) || !(*count & 0x5555555555555555U);
}

void serve_refuse(struct serve *s, const char *name, const struct serve_conn *c,
	uint16_t type, uint32_t inode, const char *why)
{
	struct serve_link *owner = c ? c->owner : NULL;
	struct net_event ev = {.kind = NET_REFUSED,
		.port = c && c->name ? c->port : 0,
		.type = type,
		.inode = inode};

	str_copy(ev.name, sizeof ev.name, name);
	str_copy(ev.why, sizeof ev.why, why);
	if (!is_told(s, owner, &ev, &ev.count))
		serve_tell(s, owner, &ev);
}

void serve_link_new(struct serve *s, int fd)
{
	enum { WAIT_S = 1 };
	const struct timeval wait = {.tv_sec = WAIT_S};
	struct serve_link *l;

	if (fd < 0)
		return;
	l = s->links < SERVE_LINKS ? calloc(1, sizeof *l) : NULL;
	if (!l) {
		close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
	l->fd = (struct serve_fd){SERVE_LINK, fd};
	s->link[s->links++] = l;
	(void)serve_watch(s, &l->fd, EPOLLIN | EPOLLRDHUP);
}

/* Says so, from when on it is told what happens. */
static int link_ready(struct serve *s, struct serve_link *l,
	struct serve_set *set, const struct net_parcel *good)
{
	int err = net_send(l->fd.fd, good, NULL);

	l->set = set;
	l->ready = true;
	if (!set)
		return err;
	set->links++;
	/* Another process may have had the port until now. */
	if (IS_ENABLED(CONFIG_NET_NAMES))
		serve_inward_open(s, set->spec);
	return err;
}

static int link_hello(
	struct serve *s, struct serve_link *l, const struct net_says *says)
{
	struct net_parcel give = s->keep->ns;
	struct serve_set *set = NULL;

	l->up = says->up;
	if (IS_ENABLED(CONFIG_NET_NAMES) && says->sum) {
		set = serve_set_find(s, says->sum);
		l->tells = !set;
	}
	/* What was refused to others is told anew. */
	memset(s->told, 0, sizeof s->told);
	if (s->keep->front)
		give.count = 0;
	give.says.word = l->tells ? NET_TELL : NET_GOOD;
	return l->tells ? net_send(l->fd.fd, &give, NULL)
			: link_ready(s, l, set, &give);
}

/* The link brought a spec and descriptors. */
static int link_names(struct serve *s, struct serve_link *l,
	struct net_spec **spec, struct net_parcel *got)
{
	struct net_parcel answer = {.says = {.word = NET_GOOD}};
	/* Another may have been faster. */
	struct serve_set *set = serve_set_find(s, got->says.sum);
	int err = l->tells ? 0 : -EPROTO;

	if (!err && !set) {
		err = serve_set_add(s, &set, *spec, got);
		if (!err)
			*spec = NULL;
	}
	l->tells = false;
	if (!err)
		return link_ready(s, l, set, &answer);
	answer.says = (struct net_says){.word = NET_FAIL, .err = err};
	return net_send(l->fd.fd, &answer, NULL);
}

static void link_end(struct serve *s, struct serve_link *l)
{
	unsigned i = 0;

	while (i < s->links && s->link[i] != l)
		i++;
	s->links--;
	memmove(s->link + i, s->link + i + 1,
		(s->links - i) * sizeof(struct serve_link *));
	if (l->set)
		l->set->links--;
	/* The link's connections serve nobody any more. */
	if (IS_ENABLED(CONFIG_NET_NAMES))
		serve_conn_end_of(s, l);
	close(l->fd.fd);
	free(l);
}

void serve_link_read(struct serve *s, struct serve_link *l)
{
	struct net_parcel got = NET_PARCEL_INIT;
	autofree struct net_spec *spec =
		IS_ENABLED(CONFIG_NET_NAMES) && l->tells
			? calloc(1, sizeof *spec)
			: NULL;
	int err = net_receive(l->fd.fd, &got, spec);

	if (err == -EAGAIN)
		return;
	if (!err && got.says.word == NET_HELLO)
		err = l->ready || l->tells ? -EPROTO
					   : link_hello(s, l, &got.says);
	else if (!err && got.says.word == NET_ROOM && spec)
		serve_set_room(s, &got);
	else if (!err && got.says.word == NET_NAMES && spec)
		err = link_names(s, l, &spec, &got);
	else if (!err && got.says.word == NET_CLAIM) {
		late_claim(s, got.says.inode);
		if (IS_ENABLED(CONFIG_NET_NAMES))
			serve_conn_claim(s, l, got.says.inode);
	} else if (!err && got.says.word == NET_FLUSH)
		l->flush = true;
	net_parcel_release(&got);
	if (err)
		link_end(s, l);
}

void serve_link_flushed(struct serve *s)
{
	struct net_event ev = {.kind = NET_FLUSHED};

	for (unsigned i = 0; i < s->links; i++) {
		struct serve_link *l = s->link[i];

		if (!l->flush)
			continue;
		l->flush = false;
		if (l == serve_link_newest(s))
			serve_link_late(s, true);
		serve_conn_end_of(s, l);
		/* This send waits (SO_SNDTIMEO), because the command reads now. */
		if (l->more.count)
			(void)link_try(l, &l->more, 0);
		l->more.count = 0;
		(void)link_try(l, &ev, 0);
	}
}
