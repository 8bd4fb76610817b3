/* shebang_in.h - what the files of the resolver share
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SHEBANG_IN_H
#define WARDBOX_SHEBANG_IN_H

#include "shebang/shebang.h"

/* Sets the message; returns code. */
__attribute__((format(printf, 3, 4))) int shebang_fail(
	struct shebang *s, enum shebang_code code, const char *fmt, ...);

/* Passes a line of the trace to the watch. */
__attribute__((format(printf, 2, 3))) void shebang_trace(
	const struct shebang *s, const char *fmt, ...);

/* The configuration before anyone was asked. */
void shebang_defaults(struct shebang_conf *c);

/* Room for a path in the pool, until the next one is asked for. What is written
 * there stays when it is kept. */
struct buf shebang_room(struct shebang *s);
void shebang_keep(struct shebang *s, const struct buf *room);

/* The first word[0..len) in text[0..n), or NULL. memmem(3) would touch another
 * page of the stack and prepare tables for words as short as these. */
char *shebang_find(char *text, size_t n, const char *word, size_t len);

/* Takes the directives in the head of a script, s->pool[0..n), which is
 * changed; whole says that the script ends there. SHEBANG_FOUND or
 * SHEBANG_BAD. */
int shebang_directives(struct shebang *s, size_t n, bool whole);

/* Lets the environment overrule, when it is trusted. The same codes. */
int shebang_variables(struct shebang *s);

/* Where an entry of probe-dirs leads from directory dir[0..dir_len), written to
 * place. SHEBANG_FOUND or SHEBANG_BAD. */
int shebang_place(struct shebang *s, const char *entry, size_t n,
	const char *dir, size_t dir_len, struct buf *place);

/* Absolute entries are the same on each level: does this one begin so? */
bool shebang_is_rooted(const char *entry, size_t n);

/* Replaces $NAME and ${NAME}; anything that would need a shell is an error. */
int shebang_expand(
	struct shebang *s, const char *text, size_t n, struct buf *out);

/* How long the directory part of path is, as dirname(1) sees it: 0 stands for
 * ".". base and base_len are what basename(1) would print. */
size_t shebang_cut(const char *path, const char **base, size_t *base_len);

/* Sets s->origin from the script's place, and its link's. */
int shebang_origins(struct shebang *s);

/* Probes origin and all directories above it. FOUND, NONE or BAD. */
int shebang_walk(struct shebang *s, const char *origin);

/* Tells of a candidate, and keeps the first usable one. True when the search
 * is over. */
bool shebang_weigh(struct shebang *s, const char *path, enum shebang_via via,
	enum shebang_verdict verdict);

#endif
