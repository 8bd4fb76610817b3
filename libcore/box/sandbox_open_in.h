/* sandbox_open_in.h - the grants and ports of a plan as rules of the kernel
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SANDBOX_OPEN_IN_H
#define WARDBOX_SANDBOX_OPEN_IN_H

#include "box/sandbox.h"

/* Makes the ruleset for the enforced parts and opens each grant into s->rules;
 * adds the Landlock rules of those that no mount will cover. */
int sandbox_open_grants(struct sandbox *s, struct diag *d);

/* Adds the TCP ports to the ruleset, once it is known that the network is
 * kept. */
int sandbox_open_ports(struct sandbox *s, struct diag *d);

#endif
