/* lean.c - a process that only waits should take no room
 * SPDX-License-Identifier: MIT
 */
#include "sys/lean.h"

#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	DEPTH = 16, /* pages of stack in use, at most */
	DEEP = 256, /* pages to look at below the first one */
};

/* From the program's own allocator, or glibc. */
__attribute__((weak)) int malloc_trim(size_t pad);

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

void lean_code(void)
{
	uintptr_t base = (uintptr_t)&__ehdr_start;
	const ElfW(Phdr) *ph = (const void *)(base + __ehdr_start.e_phoff);
	uintptr_t page = (uintptr_t)getauxval(AT_PAGESZ);
	uintptr_t deep = ((uintptr_t)__builtin_frame_address(0) & ~(page - 1)) -
			 DEPTH * page;

	for (unsigned i = 0; i < __ehdr_start.e_phnum; i++) {
		uintptr_t start, end;

		/* Only read-only segments: the kernel can read them from the
		 * file again. */
		if (ph[i].p_type != PT_LOAD || ph[i].p_flags & PF_W)
			continue;
		start = (base + ph[i].p_vaddr) & ~(page - 1);
		end = (base + ph[i].p_vaddr + ph[i].p_filesz) & ~(page - 1);
		if (end > start)
			madvise((void *)start, end - start, MADV_DONTNEED);
	}
	/* The stack below this call. */
	madvise((void *)deep, (DEPTH - 1) * page, MADV_DONTNEED);
}

void lean_stack(const void *below)
{
	const uintptr_t page = (uintptr_t)getauxval(AT_PAGESZ);
	uintptr_t end = (uintptr_t)below & ~(page - 1);

	/* The stack's end is not known: the first error is the end. */
	for (unsigned i = 0; i < DEEP; i++) {
		end -= page;
		if (madvise((void *)end, page, MADV_DONTNEED))
			break;
	}
}

void lean_heap(void)
{
	if (malloc_trim)
		malloc_trim(0);
}
