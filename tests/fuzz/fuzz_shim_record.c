/* fuzz_shim_record.c - a record's text: read, written, read again
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shim/shim_record_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct shim_record r, back;
	autobuf struct buf b = BUF_INIT(SHIM_RECORD_MAX);
	struct diag d;

	if (shim_record_parse(&r, (const char *)data, size, &d))
		return 0;
	if (!r.binary[0] || !r.policy[0])
		return 0;
	if (shim_record_write(&r, &b) ||
		shim_record_parse(&back, b.data, b.len, &d) ||
		back.shell_count != r.shell_count ||
		strcmp(back.binary, r.binary) != 0)
		abort();
	return 0;
}
