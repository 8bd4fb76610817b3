/* start.c - the program's first instructions: packed relocations
 * SPDX-License-Identifier: MIT
 *
 * A static PIE relocates itself. The linker can pack its relative relocations
 * into a bitmap (RELR) of a thirtieth of their size, which musl's start code
 * reads only since 1.2.4: it is applied here, before that code runs, and taken
 * out of the dynamic section so that a newer one does not do it again.
 */
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#ifndef DT_RELR
#define DT_RELR 36
#define DT_RELRSZ 35
#endif

/* The stack is as the kernel left it when musl's _start takes over. */
__asm__(".pushsection .text.start,\"ax\",@progbits\n"
	".globl start\n"
	".hidden start\n"
	".type start,@function\n"
	"start:\n"
	"	xor %ebp,%ebp\n"
	"	mov %rsp,%rbx\n"
	"	and $-16,%rsp\n"
	"	lea __ehdr_start(%rip),%rdi\n"
	"	lea _DYNAMIC(%rip),%rsi\n"
	"	call start_relocate\n"
	"	mov %rbx,%rsp\n"
	"	jmp _start\n"
	".size start,.-start\n"
	".popsection\n");

void start_relocate(uintptr_t base, ElfW(Dyn) *dyn);

/* Nothing is relocated and no stack guard is set up when this runs. */
__attribute__((used, visibility("hidden"), no_stack_protector)) void
start_relocate(uintptr_t base, ElfW(Dyn) *dyn)
{
	const uintptr_t *relr = NULL;
	uintptr_t *where = (uintptr_t *)base;
	uintptr_t count = 0;

	for (; dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_RELR) {
			relr = (const uintptr_t *)(base + dyn->d_un.d_ptr);
			dyn->d_tag = DT_DEBUG;
		} else if (dyn->d_tag == DT_RELRSZ) {
			count = dyn->d_un.d_val / sizeof(*relr);
		}
	}
	for (; relr && count; count--, relr++) {
		if (!(*relr & 1)) {
			where = (uintptr_t *)(base + *relr);
			*where++ += base;
			continue;
		}
		for (uintptr_t bits = *relr >> 1; bits; bits &= bits - 1)
			where[__builtin_ctzl(bits)] += base;
		where += 8 * sizeof(*relr) - 1;
	}
}
