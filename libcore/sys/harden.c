/* harden.c - what the C library leaves undone for a static PIE
 * SPDX-License-Identifier: MIT
 */
#include "sys/harden.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The linker's symbol for the start of this image. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

int harden_relro(void)
{
	uintptr_t base = (uintptr_t)&__ehdr_start;
	const ElfW(Phdr) *ph = (const void *)(base + __ehdr_start.e_phoff);
	uintptr_t page = (uintptr_t)getauxval(AT_PAGESZ);

	for (unsigned i = 0; i < __ehdr_start.e_phnum; i++) {
		uintptr_t start, end;

		if (ph[i].p_type != PT_GNU_RELRO)
			continue;
		/* Only whole pages can be sealed; the linker aligns the end, so
		 * that no page is shared with writable data. */
		start = (base + ph[i].p_vaddr) & ~(page - 1);
		end = (base + ph[i].p_vaddr + ph[i].p_memsz) & ~(page - 1);
		if (end > start &&
			mprotect((void *)start, end - start, PROT_READ))
			return -errno;
	}
	return 0;
}

int harden_stdio(unsigned *was_closed)
{
	unsigned closed = 0;

	for (int fd = 0; fd <= 2; fd++) {
		int got;

		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		closed |= 1u << fd;
		got = open("/dev/null",
			(fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
		/* Without /dev (an early initramfs) a directory keeps the place
		 * taken; it can be neither read nor written. */
		if (got < 0)
			got = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (got < 0)
			return -errno;
		if (got != fd) {
			close(got);
			return -EBADF;
		}
	}
	if (was_closed)
		*was_closed = closed;
	return 0;
}
