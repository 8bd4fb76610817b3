/* policy_pack.c - a loaded policy as bytes, for a reader that may not load it
 * SPDX-License-Identifier: MIT
 *
 * An array: the mark of the built-in policy, state, use, and an image per
 * layer: empty where there is none, true for the built-in one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cbor.h"
#include "base/str.h"
#include "policy/policy_load.h"

enum { HEAD = 3 };

void policy_pack(const struct policy *p, struct buf *out)
{
	cbor_put_array(out, HEAD + POLICY_LAYERS);
	cbor_put_uint(out, policy_default_mark);
	cbor_put_uint(out, p->state);
	cbor_put_uint(out, p->use);
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		const struct policy_image *img = p->layer[i];

		if (img && img->how == IMG_BORROWED)
			cbor_put_bool(out, true);
		else
			cbor_put_bytes(out, img ? (const void *)img->head : "",
				img ? img->head->size : 0);
	}
}

static int unpack_layer(
	struct policy *p, unsigned layer, struct cbor_in *in, struct diag *d)
{
	struct cbor_item item;
	void *bytes;
	int err = cbor_next(in, &item);

	if (err)
		return err;
	if (item.major == CBOR_SIMPLE) {
		p->layer[layer] = policy_image_builtin();
		return p->layer[layer] ? 0 : -ENOMEM;
	}
	if (item.major != CBOR_BYTES)
		return -EBADMSG;
	if (!item.n)
		return 0;
	bytes = malloc((size_t)item.n);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, item.bytes, (size_t)item.n);
	err = policy_image_wrap(&p->layer[layer], bytes, (size_t)item.n, d);
	if (err)
		free(bytes);
	return err;
}

static int unpack_image(struct policy *p, struct cbor_in *in, struct diag *d)
{
	struct cbor_item head[1 + HEAD];
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(head); i++) {
		err = cbor_next(in, &head[i]);
		if (!err && i && head[i].major != CBOR_UINT)
			err = -EBADMSG;
	}
	if (!err && (head[0].major != CBOR_ARRAY ||
			    head[0].n != HEAD + POLICY_LAYERS ||
			    head[1].n != policy_default_mark ||
			    head[2].n > POLICY_BROKEN ||
			    head[3].n > POLICY_PROFILES))
		err = -EBADMSG;
	if (err)
		return err;
	p->state = (enum policy_state)head[2].n;
	p->use = (uint8_t)head[3].n;
	for (unsigned i = 0; !err && i < POLICY_LAYERS; i++)
		err = unpack_layer(p, i, in, d);
	return err;
}

int policy_unpack(struct policy **out, struct cbor_in *in, struct diag *d)
{
	autopolicy struct policy *p = calloc(1, sizeof *p);
	int err = p ? unpack_image(p, in, d) : -ENOMEM;

	if (err)
		return diag_errno(d, err, "the policy as it was told");
	*out = ptr_steal(&p);
	return 0;
}
