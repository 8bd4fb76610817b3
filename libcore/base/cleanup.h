/* cleanup.h - resources that release themselves at the end of their scope
 * SPDX-License-Identifier: MIT
 *
 * The only cleanup idiom of the project. A variable so marked is initialised
 * where it is declared. None is live in a child between fork and exec.
 */
#ifndef WARDBOX_CLEANUP_H
#define WARDBOX_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define autoclean(fn) __attribute__((cleanup(fn)))

void cleanup_fd(const int *fd);

static inline void cleanup_free(void *slot)
{
	free(*(void **)slot);
}

/* int fd, closed unless negative. */
#define autofd autoclean(cleanup_fd)
/* Any malloc'ed pointer. */
#define autofree autoclean(cleanup_free)

/* Hands a descriptor over to the caller; the variable no longer owns it. */
static inline int fd_steal(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* The same for a pointer: p = ptr_steal(&q). */
#define ptr_steal(slot)                                                        \
	__extension__({                                                        \
		__typeof__(*(slot)) taken_ = *(slot);                          \
		*(slot) = NULL;                                                \
		taken_;                                                        \
	})

#endif
