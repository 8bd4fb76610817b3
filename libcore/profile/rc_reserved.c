/* rc_reserved.c - the reserved words of sh, fish and csh
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "profile/rc_in.h"
#include "base/str.h"

enum { SH = 1 << FAMILY_SH, FISH = 1 << FAMILY_FISH, CSH = 1 << FAMILY_CSH };

/* The effect of a reserved word, on a compound command of the kind where one is
 * named. */
enum deed {
	OPENS,
	HEADS, /* opens one whose first words are no command */
	TURNS, /* then, do, else */
	CLOSES,
	CLOSES_ANY,
	BRACE,
	BRACE_END,
	FUNCTION,
	NEGATES,
	TESTS,
	ELSE, /* where "else if" is two words */
	IF_FISH,
	IF_CSH,
	SWITCH,
	CASE,
	CHAINS,
};

static const struct rc_key {
	char word[9];
	uint8_t families, deed, kind;
	bool body, otherwise;
} keys[] = {
	{"!", SH | FISH, NEGATES, 0, 0, 0},
	{"[[", SH, TESTS, 0, 0, 0},
	{"and", FISH, CHAINS, 0, 0, 0},
	{"begin", FISH, OPENS, RC_BRACE, 1, 0},
	{"case", SH, HEADS, RC_CASE, 0, 0},
	{"case", FISH | CSH, CASE, 0, 0, 0},
	{"default:", CSH, CASE, 0, 0, 0},
	{"do", SH, TURNS, RC_LOOP, 1, 0},
	{"done", SH, CLOSES, RC_LOOP, 0, 0},
	{"elif", SH, TURNS, RC_IF, 0, 1},
	{"else", SH, TURNS, RC_IF, 1, 1},
	{"else", FISH | CSH, ELSE, 0, 0, 0},
	{"end", FISH, CLOSES_ANY, 0, 0, 0},
	{"end", CSH, CLOSES, RC_LOOP, 0, 0},
	{"endif", CSH, CLOSES, RC_IF, 0, 0},
	{"endsw", CSH, CLOSES, RC_CASE, 0, 0},
	{"esac", SH, CLOSES, RC_CASE, 0, 0},
	{"fi", SH, CLOSES, RC_IF, 0, 0},
	{"for", SH, HEADS, RC_LOOP, 0, 0},
	{"for", FISH, HEADS, RC_LOOP, 1, 0},
	{"foreach", CSH, HEADS, RC_LOOP, 1, 0},
	{"function", SH, FUNCTION, 0, 0, 0},
	{"function", FISH, HEADS, RC_FUNCTION, 1, 0},
	{"if", SH, OPENS, RC_IF, 0, 0},
	{"if", FISH, IF_FISH, 0, 0, 0},
	{"if", CSH, IF_CSH, 0, 0, 0},
	{"not", FISH, NEGATES, 0, 0, 0},
	{"or", FISH, CHAINS, 0, 0, 1},
	{"select", SH, HEADS, RC_LOOP, 0, 0},
	{"switch", FISH | CSH, SWITCH, RC_CASE, 1, 0},
	{"then", SH, TURNS, RC_IF, 1, 0},
	{"until", SH, OPENS, RC_LOOP, 0, 0},
	{"while", SH, OPENS, RC_LOOP, 0, 0},
	{"while", FISH, OPENS, RC_LOOP, 1, 0},
	{"while", CSH, HEADS, RC_LOOP, 1, 0},
	{"{", SH, BRACE, 0, 0, 0},
	{"}", SH, BRACE_END, 0, 0, 0},
};

static const struct rc_key *find_key(enum shell_family family, const char *word)
{
	for (const struct rc_key *k = keys; k < keys + ARRAY_SIZE(keys); k++) {
		if ((k->families >> family & 1) && str_eq(k->word, word))
			return k;
	}
	return NULL;
}

/* The last word within "for x in", "case x in", "function f {". */
static void header_word(struct rc_state *r, const struct rc_word *w)
{
	struct rc_frame *f = rc_top(r);

	if (r->lex.family != FAMILY_SH)
		return;
	if (f && f->kind == RC_CASE && r->count >= 3 && str_eq(w->text, "in")) {
		const char *subject = r->word[1].text;
		bool about_path =
			strchr(subject, RC_PATH) && strchr(subject, ':');

		if (!about_path) {
			f->cond.count++;
			f->cond.op = 0;
		}
		r->header = false;
		rc_forget(r);
	} else if (r->function && str_eq(w->text, "{")) {
		r->header = false;
		r->function = false;
		rc_forget(r);
		rc_push(r, RC_FUNCTION, true);
	}
}

/* "then", "do", "else" and "elif" in the compound they belong to. */
static void turn_part(
	struct rc_state *r, enum rc_frame_kind kind, bool body, bool otherwise)
{
	struct rc_frame *f = rc_top(r);

	if (!f || f->kind != kind) {
		r->lost = true;
		return;
	}
	f->body = body;
	f->else_seen |= otherwise;
}

static void fish_if(struct rc_state *r)
{
	if (r->after_else)
		turn_part(r, RC_IF, false, true);
	else
		rc_push(r, RC_IF, false);
	r->after_else = false;
}

/* Appends to cond what csh's "( … )" at l->at asks, and steps behind it. */
static void csh_test(struct rc_state *r, struct rc_cond *cond)
{
	struct rc_lex *l = &r->lex;
	struct rc_lex inner = *l;
	size_t mark = r->text.len, from = l->at;
	bool path = false;
	char op;

	rc_skip_parens(l);
	cond->op = 0;
	for (size_t i = from; i + 4 <= l->at; i++)
		path |= memcmp(l->s + i, "PATH", 4) == 0 ||
			memcmp(l->s + i, "path", 4) == 0;
	if (path && memchr(l->s + from, '*', l->at - from))
		return;
	cond->count++;
	inner.at++;
	rc_skip_blank(&inner);
	op = rc_peek(&inner, 1);
	if (rc_peek(&inner, 0) != '-' || !op || !strchr("defrsx", op))
		return;
	inner.at += 2;
	rc_skip_blank(&inner);
	if (rc_word_read(&inner) && !r->text.err) {
		size_t n = r->text.len - mark;

		rc_skip_blank(&inner);
		if (n < sizeof cond->path && inner.at + 1 == l->at &&
			!memchr(r->text.data + mark, RC_UNKNOWN, n)) {
			memcpy(cond->path, r->text.data + mark, n);
			cond->path[n] = '\0';
			cond->op = cond->count == 1 ? op : 0;
		}
		r->text.len = mark;
	}
}

/* "if ( … ) then" opens a block, "if ( … ) command" guards one command. */
static void csh_if(struct rc_state *r)
{
	struct rc_lex *l = &r->lex;
	struct rc_cond cond = r->chain;

	rc_skip_blank(l);
	if (rc_peek(l, 0) == '(')
		csh_test(r, &cond);
	else
		cond.count++;
	rc_skip_blank(l);
	if (l->n - l->at >= 4 && memcmp(l->s + l->at, "then", 4) == 0) {
		l->at += 4;
		if (r->after_else) {
			turn_part(r, RC_IF, true, true);
		} else {
			r->chain = cond;
			rc_push(r, RC_IF, true);
		}
	} else {
		r->chain = cond;
		r->chained = true;
	}
	r->after_else = false;
}

/* True when the words of the command so far go on to be its words. */
static bool act_on(struct rc_state *r, const struct rc_key *k)
{
	enum rc_frame_kind kind = (enum rc_frame_kind)k->kind;

	switch ((enum deed)k->deed) {
	case OPENS:
		rc_push(r, kind, k->body);
		return false;
	case SWITCH:
	case HEADS:
		rc_push(r, kind, k->body);
		r->header = true;
		if (k->deed == SWITCH)
			rc_top(r)->cond.count++;
		return true;
	case CASE:
		r->header = true;
		return true;
	case TURNS:
		turn_part(r, kind, k->body, k->otherwise);
		return false;
	case CLOSES:
		rc_pop(r, kind);
		return false;
	case CLOSES_ANY:
		rc_pop(r, -1);
		return false;
	case BRACE:
		rc_push(r, r->function ? RC_FUNCTION : RC_BRACE, true);
		r->function = false;
		return false;
	case BRACE_END:
		rc_pop(r, rc_top_is(r, RC_FUNCTION) ? RC_FUNCTION : RC_BRACE);
		return false;
	case FUNCTION:
		r->function = r->header = true;
		return true;
	case NEGATES:
		r->negated = true;
		return false;
	case TESTS:
		r->test = true;
		return true;
	case ELSE:
		turn_part(r, RC_IF, true, true);
		r->after_else = true;
		return false;
	case IF_FISH:
		fish_if(r);
		return false;
	case IF_CSH:
		rc_forget(r);
		csh_if(r);
		return false;
	case CHAINS:
		r->chain = r->last;
		r->chained = true;
		if (k->otherwise)
			r->chain.op = 0;
		return false;
	default:
		return true;
	}
}

void rc_reserved(struct rc_state *r)
{
	const struct rc_word *w = &r->word[r->count - 1];
	const struct rc_key *k;
	bool pattern;

	if (r->header) {
		header_word(r, w);
		return;
	}
	k = w->quoted ? NULL : find_key(r->lex.family, w->text);
	pattern = r->lex.family == FAMILY_SH && rc_top_is(r, RC_CASE) &&
		  !rc_top(r)->body;
	if (!k || (pattern && !str_eq(k->word, "esac")))
		return;
	if (!act_on(r, k))
		rc_forget(r);
}
