/* rc_reserved.c - the reserved words of sh, fish and csh
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "rc_state.h"
#include "str.h"

enum rc_keyword {
	KEY_NONE,
	KEY_IF,
	KEY_ELIF,
	KEY_THEN,
	KEY_ELSE,
	KEY_FI,
	KEY_WHILE,
	KEY_FOR,
	KEY_DO,
	KEY_DONE,
	KEY_CASE,
	KEY_ESAC,
	KEY_OPEN,
	KEY_CLOSE,
	KEY_FUNCTION,
	KEY_NOT,
	KEY_TEST,
	KEY_END,
	KEY_BEGIN,
	KEY_SWITCH,
	KEY_AND,
	KEY_OR,
};

struct rc_key {
	char word[9];
	uint8_t key;
};

static const struct rc_key sh_keys[] = {
	{"!", KEY_NOT},
	{"[[", KEY_TEST},
	{"case", KEY_CASE},
	{"do", KEY_DO},
	{"done", KEY_DONE},
	{"elif", KEY_ELIF},
	{"else", KEY_ELSE},
	{"esac", KEY_ESAC},
	{"fi", KEY_FI},
	{"for", KEY_FOR},
	{"function", KEY_FUNCTION},
	{"if", KEY_IF},
	{"select", KEY_FOR},
	{"then", KEY_THEN},
	{"until", KEY_WHILE},
	{"while", KEY_WHILE},
	{"{", KEY_OPEN},
	{"}", KEY_CLOSE},
	{"", KEY_NONE},
};

static const struct rc_key fish_keys[] = {
	{"!", KEY_NOT},
	{"and", KEY_AND},
	{"begin", KEY_BEGIN},
	{"case", KEY_CASE},
	{"else", KEY_ELSE},
	{"end", KEY_END},
	{"for", KEY_FOR},
	{"function", KEY_FUNCTION},
	{"if", KEY_IF},
	{"not", KEY_NOT},
	{"or", KEY_OR},
	{"switch", KEY_SWITCH},
	{"while", KEY_WHILE},
	{"", KEY_NONE},
};

static const struct rc_key csh_keys[] = {
	{"case", KEY_CASE},
	{"default:", KEY_CASE},
	{"else", KEY_ELSE},
	{"end", KEY_END},
	{"endif", KEY_FI},
	{"endsw", KEY_ESAC},
	{"foreach", KEY_FOR},
	{"if", KEY_IF},
	{"switch", KEY_SWITCH},
	{"while", KEY_WHILE},
	{"", KEY_NONE},
};

static enum rc_keyword keyword(const struct rc_key *keys, const char *word)
{
	for (; keys->word[0]; keys++) {
		if (str_eq(keys->word, word))
			return (enum rc_keyword)keys->key;
	}
	return KEY_NONE;
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

static void header(struct rc_state *r, enum rc_frame_kind kind, bool body)
{
	rc_push(r, kind, body);
	r->header = true;
}

/* "then", "do", "else" and "elif" in the compound they belong to. */
static void turn(
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

static void reserved_sh(struct rc_state *r, enum rc_keyword key)
{
	switch ((int)key) {
	case KEY_IF:
		rc_push(r, RC_IF, false);
		break;
	case KEY_ELIF:
		turn(r, RC_IF, false, true);
		break;
	case KEY_THEN:
		turn(r, RC_IF, true, false);
		break;
	case KEY_ELSE:
		turn(r, RC_IF, true, true);
		break;
	case KEY_FI:
		rc_pop(r, RC_IF);
		break;
	case KEY_WHILE:
		rc_push(r, RC_LOOP, false);
		break;
	case KEY_FOR:
		header(r, RC_LOOP, false);
		return;
	case KEY_DO:
		turn(r, RC_LOOP, true, false);
		break;
	case KEY_DONE:
		rc_pop(r, RC_LOOP);
		break;
	case KEY_CASE:
		header(r, RC_CASE, false);
		return;
	case KEY_ESAC:
		rc_pop(r, RC_CASE);
		break;
	case KEY_OPEN:
		rc_push(r, r->function ? RC_FUNCTION : RC_BRACE, true);
		r->function = false;
		break;
	case KEY_CLOSE:
		rc_pop(r, rc_top_is(r, RC_FUNCTION) ? RC_FUNCTION : RC_BRACE);
		break;
	case KEY_FUNCTION:
		r->function = true;
		r->header = true;
		return;
	case KEY_NOT:
		r->negated = true;
		break;
	case KEY_TEST:
		r->test = true;
		return;
	default:
		return;
	}
	rc_forget(r);
}

void rc_reserved(struct rc_state *r)
{
	const struct rc_word *w = &r->word[r->count - 1];
	enum rc_keyword key;
	bool pattern;

	if (r->header) {
		header_word(r, w);
		return;
	}
	if (w->quoted)
		return;
	if (r->lex.family == FAMILY_FISH) {
		rc_reserved_fish(r, w->text);
		return;
	}
	if (r->lex.family == FAMILY_CSH) {
		rc_reserved_csh(r, w->text);
		return;
	}
	key = keyword(sh_keys, w->text);
	pattern = rc_top_is(r, RC_CASE) && !rc_top(r)->body;
	if (!pattern || key == KEY_ESAC)
		reserved_sh(r, key);
}

static void fish_else(struct rc_state *r)
{
	turn(r, RC_IF, true, true);
	r->after_else = true;
}

static void fish_if(struct rc_state *r)
{
	if (r->after_else)
		turn(r, RC_IF, false, true);
	else
		rc_push(r, RC_IF, false);
	r->after_else = false;
}

static void fish_chain(struct rc_state *r, bool otherwise)
{
	r->chain = r->last;
	r->chained = true;
	if (otherwise)
		r->chain.op = 0;
}

void rc_reserved_fish(struct rc_state *r, const char *word)
{
	switch ((int)keyword(fish_keys, word)) {
	case KEY_IF:
		fish_if(r);
		break;
	case KEY_ELSE:
		fish_else(r);
		break;
	case KEY_WHILE:
		rc_push(r, RC_LOOP, true);
		break;
	case KEY_FOR:
		header(r, RC_LOOP, true);
		return;
	case KEY_FUNCTION:
		header(r, RC_FUNCTION, true);
		return;
	case KEY_SWITCH:
		header(r, RC_CASE, true);
		rc_top(r)->cond.count++;
		return;
	case KEY_CASE:
		r->header = true;
		return;
	case KEY_BEGIN:
		rc_push(r, RC_BRACE, true);
		break;
	case KEY_END:
		rc_pop(r, -1);
		break;
	case KEY_AND:
	case KEY_OR:
		fish_chain(r, word[0] == 'o');
		break;
	case KEY_NOT:
		r->negated = true;
		break;
	default:
		return;
	}
	rc_forget(r);
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
			turn(r, RC_IF, true, true);
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

void rc_reserved_csh(struct rc_state *r, const char *word)
{
	switch ((int)keyword(csh_keys, word)) {
	case KEY_IF:
		rc_forget(r);
		csh_if(r);
		break;
	case KEY_ELSE:
		fish_else(r);
		break;
	case KEY_FI:
		rc_pop(r, RC_IF);
		break;
	case KEY_FOR:
	case KEY_WHILE:
		header(r, RC_LOOP, true);
		return;
	case KEY_SWITCH:
		header(r, RC_CASE, true);
		rc_top(r)->cond.count++;
		return;
	case KEY_CASE:
		r->header = true;
		return;
	case KEY_END:
		rc_pop(r, RC_LOOP);
		break;
	case KEY_ESAC:
		rc_pop(r, RC_CASE);
		break;
	default:
		return;
	}
	rc_forget(r);
}
