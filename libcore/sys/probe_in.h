/* probe_try.h - the longer attempts; each is for probe_child()
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_PROBE_TRY_H
#define WARDBOX_PROBE_TRY_H

/* probe_child() in another directory. */
int probe_child_at(int dirfd, int (*fn)(unsigned arg), unsigned arg);

int probe_try_filter(unsigned arg);
int probe_try_notify(unsigned arg);
/* arg is a LL_SCOPE_ bit. */
int probe_try_scope(unsigned arg);

#endif
