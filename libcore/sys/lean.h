/* lean.h - a process that only waits should take no room
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_LEAN_H
#define WARDBOX_LEAN_H

/* Lets go of the pages of this program's code and constants, which come back by
 * themselves when they are used, and of the stack below. For a supervisor whose
 * command lasts. */
void lean_code(void);

/* Lets go of the stack below a place on it, as far as one was ever used. */
void lean_stack(const void *below);

/* Gives memory that was freed back to the kernel. */
void lean_heap(void);

#endif
