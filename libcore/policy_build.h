/* policy_build.h - collects what a policy says and lays out its image
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_POLICY_BUILD_H
#define WARDBOX_POLICY_BUILD_H

#include "policy_image.h"

struct build_except {
	uint32_t target, rule;
};

struct policy_build {
	struct buf sect[IMG_SECTIONS];
	struct buf except; /* struct build_except */
	struct img_header head;
	struct buf set[IMG_SETS]; /* uint32_t string offsets */
	uint32_t *slot;           /* open-addressed table of string offsets */
	size_t slots, strings;
	int err;
};

int build_init(struct policy_build *b, enum policy_layer layer);
void build_release(struct policy_build *b);

/* Errors are sticky: in b->err and in the buffers, seen by build_finish. */
uint32_t build_str(struct policy_build *b, const char *s, size_t n);
/* Appends a row; its index. */
uint32_t build_add(
	struct policy_build *b, enum img_section s, const void *row, size_t n);
/* Row i of a section, to be changed; NULL when b has failed. */
void *build_row(
	struct policy_build *b, enum img_section s, uint32_t i, size_t n);
uint32_t build_count(
	const struct policy_build *b, enum img_section s, size_t n);
void build_set_add(struct policy_build *b, enum img_set set, const char *word);

/* Adds a word to the list called name, made when it is new. */
void build_list_add(
	struct policy_build *b, struct img_list *list, const char *word);
struct img_list *build_list(struct policy_build *b, const char *name);

/* Was nothing said yet, beside `use`, profiles and limits? */
bool build_is_empty(const struct policy_build *b);

/* Begins with what an image says, all but its tests and sources. -EEXIST when
 * something was said already. */
int build_import(struct policy_build *b, const struct policy_image *img);

/* Lays everything out. The bytes are the caller's to free. 0, -ENOMEM,
 * -ENOBUFS. */
int build_finish(struct policy_build *b, void **bytes, size_t *size);

#endif
