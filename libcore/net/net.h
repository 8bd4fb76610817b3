/* net.h - the network that the commands of a session share
 * SPDX-License-Identifier: MIT
 *
 * A network namespace of the session's own, with a loopback and no way out. A
 * keeper, a process of the guard's, holds it by descriptors. Whoever has a link
 * to the keeper has the namespace; the keeper ends some seconds after the last
 * link was closed. A link is closed when nothing lives in the namespace any more
 * that its owner started.
 */
#ifndef WARDBOX_NET_H
#define WARDBOX_NET_H

#include "base/cleanup.h"
#include "base/diag.h"

struct net_link {
	int sock; /* to the keeper; open as long as the namespace is needed */
	int net;  /* the namespace, to be joined */
	int user; /* the user namespace that owns it, to be joined before; -1:
		   * that of the machine */
};
#define NET_LINK_INIT ((struct net_link){-1, -1, -1})
void net_link_release(struct net_link *l);
#define autolink autoclean(net_link_release)

/* Links to the keeper of the session, which is started where there is none. dir
 * is a directory of this user alone, in which the keeper is found by name, a name
 * of at most 40 bytes. 0; -EPERM and its kin where no namespace can be had. */
int net_join(int dir, const char *name, struct net_link *out, struct diag *d);

#endif
