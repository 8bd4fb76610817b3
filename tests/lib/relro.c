/* relro.c - writes into what RELRO seals; with an argument, without sealing
 * SPDX-License-Identifier: MIT
 */
#include "../../libcore/sys/harden.c"

static int first(void)
{
	return 1;
}

static int second(void)
{
	return 2;
}

/* A table of pointers is relocated at start, hence in RELRO. */
static int (*const table[])(void) = {first, second};

int main(int argc, char **argv)
{
	int (**writable)(void) = (int (**)(void))(uintptr_t)table;
	int (*volatile *slot)(void) = writable;

	(void)argv;
	if (argc < 2 && harden_relro())
		return 3;
	slot[0] = second;
	return slot[0]() == 2 ? 0 : 4;
}
