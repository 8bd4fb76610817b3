/* policy_same.c - commands of a line that were judged already
 * SPDX-License-Identifier: MIT
 *
 * A line may hold thousands of commands, and most of those are one and the
 * same: what comes of it depends on its words, its place and its input.
 */
#include <string.h>

#include "policy/policy_judge_in.h"
#include "base/str.h"

enum { BUCKETS = 512, NAMES = 256 };

struct judged_cmd {
	const struct shell_cmd *cmd;
	uint32_t hash;
	struct judged_cmd *next;
};

static uint32_t hash_text(uint32_t h, const char *s, size_t n)
{
	while (n--)
		h = h * 33 + (unsigned char)*s++;
	return h * 33;
}

static uint32_t hash(const struct shell_cmd *cmd)
{
	struct shell_str cwd = cmd->cwd->alts[0];
	size_t last = cwd.n > 16 ? cwd.n - 16 : 0; /* most differ there */
	uint32_t h = 5381;

	h = hash_text(h, cwd.p + last, cwd.n - last);
	if (cmd->input == SHELL_IN_TEXT)
		h ^= (uint32_t)((uintptr_t)cmd->input_text >> 4);
	for (size_t i = 0; i < cmd->argc; i++)
		h = hash_text(
			h, cmd->argv[i].alts[0].p, cmd->argv[i].alts[0].n);
	return h;
}

static bool same_val(const struct shell_val *a, const struct shell_val *b)
{
	if (a->n != b->n || a->many != b->many || a->glob != b->glob ||
		a->vanishes != b->vanishes || a->kind != b->kind)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (a->alts[i].n != b->alts[i].n ||
			memcmp(a->alts[i].p, b->alts[i].p, a->alts[i].n) != 0)
			return false;
	return true;
}

static bool same(const struct shell_cmd *a, const struct shell_cmd *b)
{
	if (a->argc != b->argc || a->input != b->input ||
		(a->input == SHELL_IN_TEXT && a->input_text != b->input_text) ||
		a->dialect != b->dialect || a->second != b->second ||
		a->resolve != b->resolve ||
		(a->cwd != b->cwd && !same_val(a->cwd, b->cwd)))
		return false;
	for (size_t i = 0; i < a->argc; i++)
		if (!same_val(&a->argv[i], &b->argv[i]))
			return false;
	return true;
}

/* Whoever asks for each verdict gets each. */
static bool plain(const struct judge *j, const struct shell_cmd *cmd)
{
	return !j->each && !cmd->nsets &&
	       (cmd->resolve == SHELL_IS_PROGRAM ||
		       cmd->resolve == SHELL_IS_BUILTIN);
}

bool judge_same(struct judge *j, const struct shell_cmd *cmd)
{
	uint32_t h;

	if (!j->same || !plain(j, cmd))
		return false;
	h = hash(cmd);
	for (struct judged_cmd *s = j->same[h % BUCKETS]; s; s = s->next)
		if (s->hash == h && same(s->cmd, cmd))
			return true;
	return false;
}

void judge_same_add(struct judge *j, const struct shell_cmd *cmd)
{
	struct judged_cmd *s;
	struct shell_cmd *kept;

	if (++j->commands <= JUDGE_FEW || !plain(j, cmd))
		return;
	if (!j->same)
		j->same = arena_zalloc(j->arena, BUCKETS * sizeof(struct judged_cmd *));
	s = arena_new(j->arena, struct judged_cmd);
	kept = arena_new(j->arena, struct shell_cmd);
	if (!j->same || !s || !kept)
		return;
	/* Its words live as long as the walk. */
	*kept = *cmd;
	s->cmd = kept;
	s->hash = hash(cmd);
	s->next = j->same[s->hash % BUCKETS];
	j->same[s->hash % BUCKETS] = s;
}

void judge_same_forget(struct judge *j)
{
	if (j->same)
		memset(j->same, 0, BUCKETS * sizeof(struct judged_cmd *));
}

const char **judge_same_name(struct judge *j, const char *name, bool unset)
{
	if (j->each || ++j->commands <= JUDGE_FEW)
		return NULL;
	if (!j->named)
		j->named = arena_zalloc(
			j->arena, 2 * NAMES * sizeof(*j->named));
	if (!j->named)
		return NULL;
	return &j->named[2 * (hash_text(0, name, strlen(name)) % NAMES) +
			 unset];
}
