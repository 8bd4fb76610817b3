/* fuzz_program.c - the head of a program's file: an interpreter, ELF headers
 * SPDX-License-Identifier: MIT
 *
 * An interpreter that is found stands in the file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drop.h"
#include "shim/shim_install.h"
#include "shim/shim_root_in.h"

#include "drop_exec.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct drop o;
	static struct shim_root none;
	struct diag d = {0};
	char name[32];
	const char *found;
	int fd = memfd_create("fuzz", 0), err;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	o = (struct drop){.strings = ARENA_INIT(1 << 16)};
	found = drop_interpreter(&o, name);
	if (found && !memmem(data, size, found, strlen(found)))
		abort();
	err = shim_check_binary(fd, &none, &d);
	if (err != 0 && (err != -ENOEXEC || !d.text[0]))
		abort();
	arena_release(&o.strings);
	close(fd);
	return 0;
}
