/* fuzz_state.c - a state's text: what is read is written the same way again
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sys/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autostate struct state s = STATE_INIT, back = STATE_INIT;
	autobuf struct buf one = BUF_INIT(STATE_FILE_MAX);
	autobuf struct buf two = BUF_INIT(STATE_FILE_MAX);
	struct diag d;

	if (state_parse(&s, (const char *)data, size, &d))
		return 0;
	if (state_write(&s, &one) ||
		state_parse(&back, one.data, one.len, &d) ||
		state_write(&back, &two) || one.len != two.len ||
		memcmp(one.data, two.data, one.len) != 0)
		abort();
	return 0;
}
