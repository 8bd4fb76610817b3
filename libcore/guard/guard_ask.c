/* guard_ask.c - questions: who is asked, how long, and what nobody's answer is
 * SPDX-License-Identifier: MIT
 *
 * Before a command runs the guard waits for the answer. A program that asks
 * when it starts waits by itself: its call stays unanswered, all other programs
 * of the tree go on, and when there is an answer the call is judged anew from
 * its beginning, so that what was asked is what the answer is for.
 */
#include "guard/guard_in.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "base/kconfig.h"
#include "base/str.h"

enum { MS = 1000000, LOOK_MS = 250 };

static const struct guard_answerer *answerer_of(
	const struct guard *g, enum guard_answer *none)
{
	*none = GUARD_NOBODY;
	switch (g->terms.grants.ask) {
	case POLICY_ASK_TTY:
		return g->caller->person;
	case POLICY_ASK_APPROVER:
		*none = GUARD_NO_APPROVER;
		return g->caller->approver;
	case POLICY_ASK_NEVER:
		*none = GUARD_NEVER;
		return NULL;
	}
	return NULL;
}

/* Shows the whole text, and not only the words that the rule is about. */
static int text_of(const struct guard *g, const struct guard_question *what,
	struct buf *out)
{
	if (!what->argv)
		buf_add(out, g->command->text, g->command->len);
	else
		for (char *const *arg = what->argv; *arg; arg++) {
			if (out->len)
				buf_addc(out, ' ');
			buf_adds(out, *arg);
		}
	return out->err;
}

static enum guard_answer put_question(
	struct guard *g, const struct guard_question *what)
{
	struct guard_asking *q = &g->tree.asking;
	autobuf struct buf line = BUF_INIT(CONFIG_LIMIT_LINE);
	enum guard_answer none;
	const unsigned seconds = g->terms.grants.ask_time;

	if (guard_approved(g, what))
		return GUARD_YES;
	q->who = answerer_of(g, &none);
	if (!q->who)
		return none;
	if (text_of(g, what, &line) ||
		q->who->put(q->who->ctx, what->v, buf_str(&line), seconds))
		return none;
	q->until = clock_ns(CLOCK_MONOTONIC) + seconds * 1000ULL * MS;
	return GUARD_WAITS;
}

/* Looks for an answer: GUARD_UNANSWERED when the time is over, GUARD_WAITS when
 * there is none yet. */
static enum guard_answer look_for_answer(struct guard_asking *q)
{
	enum guard_answer answer = q->who->poll(q->who->ctx);

	if (answer != GUARD_WAITS || clock_ns(CLOCK_MONOTONIC) < q->until)
		return answer;
	q->who->cancel(q->who->ctx, "nobody answered in time");
	return GUARD_UNANSWERED;
}

static int ms_left(const struct guard_asking *q)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return q->until > now ? (int)((q->until - now + MS - 1) / MS) : 0;
}

/* Puts the question to the front end's own ask(), and waits. */
static enum guard_answer ask_first(
	const struct guard *g, const struct guard_question *what)
{
	autobuf struct buf line = BUF_INIT(CONFIG_LIMIT_LINE);

	if (g->terms.grants.ask == POLICY_ASK_NEVER)
		return GUARD_NEVER;
	if (text_of(g, what, &line))
		return GUARD_NOBODY;
	switch (g->caller->ask(g->caller->ask_ctx, what->v, buf_str(&line))) {
	case 0:
		return GUARD_NO;
	case 1:
		return GUARD_YES;
	case 2:
		return GUARD_ALWAYS;
	case -ETIMEDOUT:
		return GUARD_UNANSWERED;
	default:
		return GUARD_NOBODY;
	}
}

enum guard_answer guard_ask_now(struct guard *g, const struct guard_question *what)
{
	struct guard_asking *q = &g->tree.asking;
	enum guard_answer answer = g->caller->ask && !guard_approved(g, what)
					   ? ask_first(g, what)
					   : put_question(g, what);

	while (answer == GUARD_WAITS) {
		struct pollfd at = {
			.fd = q->who->fd(q->who->ctx), .events = POLLIN};

		if (poll(&at, 1, ms_left(q)) < 0 && errno != EINTR)
			answer = GUARD_NOBODY;
		else
			answer = look_for_answer(q);
	}
	if (answer == GUARD_ALWAYS)
		guard_approve(g, what);
	return answer;
}

static bool had_yes(const struct guard_asking *q, uint64_t id, const char *key)
{
	for (unsigned i = 0; q->yes_id == id && i < q->yes_count; i++)
		if (str_eq(q->yes[i], key))
			return true;
	return false;
}

/* Hands out the answer once. Of a call that names several programs the yes is
 * kept until all of them were asked for. */
static enum guard_answer take_answer(struct guard *g,
	const struct guard_question *what, uint64_t id, const char *key)
{
	struct guard_asking *q = &g->tree.asking;

	q->on = false;
	if (q->answer == GUARD_ALWAYS)
		guard_approve(g, what);
	if (q->answer != GUARD_YES)
		return q->answer;
	if (q->yes_id != id)
		q->yes_count = 0;
	q->yes_id = id;
	if (q->yes_count < ARRAY_SIZE(q->yes))
		str_copy(q->yes[q->yes_count++], GUARD_KEY, key);
	return GUARD_YES;
}

enum guard_answer guard_ask_later(
	struct guard *g, const struct guard_question *what, uint64_t id)
{
	struct guard_asking *q = &g->tree.asking;
	char key[GUARD_KEY];
	enum guard_answer answer;

	guard_question_key(g, what, key);
	if (had_yes(q, id, key))
		return GUARD_YES;
	/* One question at a time: another program's question waits for its
	 * turn. */
	if (q->on && (q->answer == GUARD_WAITS || q->id != id))
		return GUARD_WAITS;
	/* The key must be the same, because an answer holds only for what was
	 * asked. */
	if (q->on && str_eq(q->key, key))
		return take_answer(g, what, id, key);
	q->on = false;
	answer = put_question(g, what);
	if (answer != GUARD_WAITS)
		return answer;
	q->on = true;
	q->id = id;
	q->answer = GUARD_WAITS;
	str_copy(q->key, sizeof q->key, key);
	return GUARD_WAITS;
}

int guard_ask_fd(const struct guard *g)
{
	const struct guard_asking *q = &g->tree.asking;

	return q->on && q->answer == GUARD_WAITS ? q->who->fd(q->who->ctx) : -1;
}

int guard_ask_timeout(const struct guard *g)
{
	const struct guard_asking *q = &g->tree.asking;
	int left;

	if (!q->on)
		return -1;
	if (q->answer != GUARD_WAITS)
		return 0;
	left = ms_left(q);
	/* The process that asked may have ended meanwhile. */
	return left < LOOK_MS ? left : LOOK_MS;
}

void guard_ask_look(struct guard *g)
{
	struct guard_asking *q = &g->tree.asking;
	struct watch *w = &g->box.sandbox.watch;

	if (!q->on)
		return;
	if (q->answer == GUARD_WAITS && !watch_waits(w, q->id)) {
		q->who->cancel(q->who->ctx, "the program that asked has ended");
		q->on = false;
	} else if (q->answer == GUARD_WAITS) {
		q->answer = look_for_answer(q);
	}
	if (!q->on || q->answer != GUARD_WAITS)
		watch_again(w, q->id);
	/* The answer is there, and nobody has come for it. */
	if (q->on && q->answer != GUARD_WAITS)
		q->on = false;
}

void guard_ask_stop(struct guard *g)
{
	struct guard_asking *q = &g->tree.asking;

	if (!q->on || q->answer != GUARD_WAITS)
		return;
	q->who->cancel(q->who->ctx, NULL);
	q->answer = GUARD_NO;
	guard_ask_look(g);
}

void guard_ask_end(struct guard *g)
{
	struct guard_asking *q = &g->tree.asking;

	if (q->on && q->answer == GUARD_WAITS)
		q->who->cancel(q->who->ctx, "the command has ended");
	q->on = false;
}
