/* lean.h - a process that only waits should take no room
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_LEAN_H
#define WARDBOX_LEAN_H

/* Lets go of the pages of this program's code and constants, which come back by
 * themselves when they are used, and of the stack below. For a supervisor whose
 * command lasts. */
void lean_code(void);

#endif
