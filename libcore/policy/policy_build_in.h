/* policy_build_in.h - collects what a policy says and lays out its image
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_POLICY_BUILD_IN_H
#define WARDBOX_POLICY_BUILD_IN_H

#include "policy/policy_image.h"

/* The rows have the structs of policy_image.h. */
struct policy_build {
	struct buf sect[IMG_SECTIONS]; /* of uint32_t */
	struct buf str;
	enum policy_layer layer;
	unsigned use; /* enum policy_profile; POLICY_PROFILES: not said */
	int err;
	uint32_t spare[40]; /* a row for when memory is short */
};

/* Errors are sticky: in b->err and in the buffers, seen by build_finish. */
void build_init(struct policy_build *b, enum policy_layer layer);
void build_release(struct policy_build *b);

uint32_t build_str(struct policy_build *b, const char *s, size_t n);
const char *build_text(const struct policy_build *b, uint32_t off);
/* Appends a row and returns its index. */
uint32_t build_add(struct policy_build *b, enum img_section s, const void *row);
/* Row i of a section, to be changed: good until the section grows. */
void *build_row(struct policy_build *b, enum img_section s, uint32_t i);
uint32_t build_count(const struct policy_build *b, enum img_section s);

/* Adds a word to a set, or to the list in that row. */
void build_word(struct policy_build *b, enum img_section s, uint32_t row,
	const char *word);
/* The row of the list called name, or the number of lists. */
uint32_t build_list(struct policy_build *b, const char *name);

/* Is the build empty, but for `use`, profiles and limits? */
bool build_is_empty(const struct policy_build *b);
/* Begins with the contents of an image, but for its tests and sources; b is
 * empty. */
void build_import(struct policy_build *b, const struct policy_image *img);

/* Makes the indexes; nothing may be added later. -errno of the first error so
 * far. */
int build_index(struct policy_build *b);
/* Replaces each text's offset, except 0, by map's answer. */
void build_map(struct policy_build *b, uint32_t (*map)(void *ctx, uint32_t off),
	void *ctx);
/* The header, cells of two bytes where they suffice. */
struct img_header build_header(const struct policy_build *b);

/* Indexes and lays everything out. The bytes are the caller's to free. 0,
 * -ENOMEM, -ENOBUFS. */
int build_finish(struct policy_build *b, void **bytes, size_t *size);

#endif
