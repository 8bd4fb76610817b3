/* net_in.h - what the files of net share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_NET_IN_H
#define WARDBOX_NET_IN_H

#include <stddef.h>

#include "net/net.h"

/* net_fds.c: a message with descriptors. .err is the sender's -errno. */
enum { NET_FDS_MAX = 16 };
struct net_parcel {
	int err;
	int fd[NET_FDS_MAX]; /* unused: -1 */
	unsigned count;
};
#define NET_PARCEL_INIT ((struct net_parcel){0})
void net_parcel_release(struct net_parcel *p);
#define autoparcel autoclean(net_parcel_release)
int net_send(int sock, const struct net_parcel *p);
/* -EPIPE: the other end is closed. */
int net_receive(int sock, struct net_parcel *p);

/* net_ns.c: makes the namespace in a child that is gone afterwards. In the parcel
 * come the namespace, and the user namespace where one was needed. */
int net_make(struct net_parcel *out);

/* net_keep.c: what the keeper does until its last link is closed. */
struct net_keeper;

#endif
