/* sandbox_meta_in.h - whose metadata the command may change
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SANDBOX_META_IN_H
#define WARDBOX_SANDBOX_META_IN_H

#include "box/sandbox.h"

/* The watch's watch_allow; ctx is the struct sandbox. 0: metadata of that
 * object may be changed, because the object may be written; else -EPERM. */
int sandbox_may_change(void *ctx, const struct watch_object *o);

#endif
