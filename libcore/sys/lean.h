/* lean.h - a process that only waits should take no room
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_LEAN_H
#define WARDBOX_LEAN_H

/* Gives up the pages of this program's code and constants, which the kernel
 * reads again when they are used, and the unused stack. For a supervisor whose
 * command lasts. */
void lean_code(void);

/* Gives up the stack below a place on it, as far as it was ever used. */
void lean_stack(const void *below);

/* Gives memory that was freed back to the kernel. */
void lean_heap(void);

#endif
