/* policy_compile.h - policy text to image
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_POLICY_COMPILE_H
#define WARDBOX_POLICY_COMPILE_H

#include "policy/policy_build_in.h"
#include "policy/policy_text_in.h"

/* One layer being compiled; sources are fed one after the other. */
struct policy_compiler {
	const struct policy_image *above; /* the layer from which lists may
					   * come; or NULL */
	enum policy_layer layer;
	uint32_t file;      /* string: the source being read */
	uint32_t last_rule; /* the rule that `except` lines belong to; or
			     * NO_RULE */
	unsigned hosts, denies; /* of the network, so far */
	struct diag *d;
	struct policy_build b;
	struct policy_line line;
};

enum {
	NO_RULE = 0xffffffff,
};

/* The compiler is large: keep it on the heap. */
void policy_compile_init(struct policy_compiler *c, enum policy_layer layer,
	const struct policy_image *above);
void policy_compile_release(struct policy_compiler *c);

/* Begins with the built-in policy; the build must be empty. */
void policy_compile_default(struct policy_compiler *c);

/* Compiles a text. -EINVAL with d at file:line:column. */
int policy_compile_text(struct policy_compiler *c, const char *file,
	const char *text, size_t n, struct diag *d);

/* Parts of the compiler; each takes c->line with the verb as word 0. */
int compile_rule(struct policy_compiler *c, unsigned kind);
int compile_reads(struct policy_compiler *c);
int compile_profile(struct policy_compiler *c);
int compile_limit(struct policy_compiler *c);
int compile_redact(struct policy_compiler *c);
int compile_path(struct policy_compiler *c);
int compile_protect(struct policy_compiler *c);
int compile_runtime(struct policy_compiler *c);
int compile_undo(struct policy_compiler *c);
int compile_exec(struct policy_compiler *c);
int compile_root(struct policy_compiler *c);
int compile_cache(struct policy_compiler *c);
int compile_home(struct policy_compiler *c);
int compile_hide(struct policy_compiler *c);
int compile_env(struct policy_compiler *c);
int compile_relax(struct policy_compiler *c);
int compile_net(struct policy_compiler *c);

/* -EINVAL, with "word: what" at word i, or at the line if there is no word
 * i. */
int compile_bad(struct policy_compiler *c, size_t i, const char *what);
/* -EINVAL for word i in a layer other than the system's. */
int compile_system_alone(struct policy_compiler *c, size_t i);
/* The whole word as a text. */
uint32_t compile_word(struct policy_compiler *c, size_t i);
/* The bit set of "DEV,FULL-AUTO" or "*", at text within word i; or -EINVAL. */
int compile_profiles(struct policy_compiler *c, size_t i, const char *text);
/* The row of the list called name, copied from the layer above when that has
 * it; -1 when neither layer does. */
int compile_list(struct policy_compiler *c, const char *name);

#endif
