/* policy_keep.c - what was compiled, kept for the commands that follow
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"
#include "sys/file.h"
#include "policy/policy_load.h"

/* A file's time is no finer than a tick of the clock: a file that was written a
 * moment ago can be written again and look the same. */
static bool is_settled(const struct policy_image *img)
{
	enum { MOMENT = 2 };
	const uint64_t now = clock_ns(CLOCK_REALTIME) / 1000000000;
	struct img_source s;

	for (uint32_t i = 0; i < IMG_COUNT(img, IMG_SOURCE); i++) {
		img_get(img, IMG_SOURCE, i, &s);
		if (img_u64(s.ctime_s) + MOMENT > now)
			return false;
	}
	return true;
}

void policy_keep(const struct policy *p, const struct policy_where *w)
{
	struct policy_image *img = p->layer[POLICY_LAYER_SYSTEM];
	struct policy alone = {.layer[POLICY_LAYER_SYSTEM] = img};
	struct diag quiet = {0};
	unsigned ran;

	if (!w->image || w->uid || w->system_uid || p->state != POLICY_GOOD ||
		img->how != IMG_OWNED || !is_settled(img) ||
		policy_test(&alone, &ran, &quiet))
		return;
	file_make(w->image, img->head, img->head->size, 0444, false);
}
