/* fuzz_landlock_log.c - what the kernel's audit says, or anything else
 * SPDX-License-Identifier: MIT
 *
 * Input: a byte that picks the type, then the record's text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "landlock_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct landlock_record r;
	int err;

	if (!size)
		return 0;
	err = landlock_record_parse(
		data[0] & 1 ? LANDLOCK_LOG_DENIED : LANDLOCK_LOG_DOMAIN,
		(const char *)data + 1, size - 1, &r);
	if (err != 0 && err != -EBADMSG)
		abort();
	if (!memchr(r.rights, 0, sizeof(r.rights)) ||
		!memchr(r.object, 0, sizeof(r.object)))
		abort();
	return 0;
}
