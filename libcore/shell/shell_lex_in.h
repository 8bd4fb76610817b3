/* shell_lex_in.h - what the files of the shell parser share
 * SPDX-License-Identifier: MIT
 *
 * Errors are sticky: after the first one the reader is at its end, so every
 * loop stops by itself and no caller has to look until it is done.
 */
#ifndef WARDBOX_SHELL_LEX_IN_H
#define WARDBOX_SHELL_LEX_IN_H

#include "shell/shell_parse_in.h"

enum shell_tok {
	TOK_EOF,
	TOK_NL,
	TOK_WORD,
	TOK_FD,    /* 2 of 2> */
	TOK_FDVAR, /* {name} of {name}> */
	TOK_REDIR,
	TOK_AMP,
	TOK_SEMI,
	TOK_PIPE,
	TOK_LP,
	TOK_RP,
	TOK_AND,
	TOK_OR,
	TOK_PIPEAMP,
	TOK_DSEMI, /* ;; ;& ;;& by .case_end */
};

/* Words with a meaning where a command begins, in the order of their table. Up
 * to KW_BANG they only end or join commands. */
enum shell_kw {
	KW_NONE,
	KW_THEN,
	KW_ELSE,
	KW_ELIF,
	KW_FI,
	KW_DO,
	KW_DONE,
	KW_ESAC,
	KW_IN,
	KW_RBRACE,
	KW_BANG,
	KW_LBRACE,
	KW_COND,
	KW_CASE,
	KW_COPROC,
	KW_FOR,
	KW_FUNCTION,
	KW_IF,
	KW_SELECT,
	KW_TIME,
	KW_UNTIL,
	KW_WHILE,
	KW_COND_END,
	KW_P,
	KW_DASHES,
};

/* The end of a word, and the meaning of quotes in it, by where it stands. */
enum shell_mode {
	MODE_PLAIN,     /* a word of a command */
	MODE_DQ,        /* "…" */
	MODE_HERE,      /* a here-document's body */
	MODE_BRACE,     /* ${x-…} */
	MODE_BRACE_DQ,  /* "${x-…}" */
	MODE_PATTERN,   /* ${x/…/: as BRACE, ends at '/' too */
	MODE_PATTERNDQ, /* "${x#…}": single quotes quote */
	MODE_SLICE,     /* ${x:…: ends at ':' too */
	MODE_ARITH,     /* $((…)) */
	MODE_BRACKET,   /* $[…], and subscripts */
	MODE_SUBSCRIPT, /* name[…]=: as BRACKET, quotes quote */
	MODE_FORARITH,  /* ((…;: ends at ';' too */
	MODE_REGEX,     /* right of =~ */
};

struct shell_parser {
	struct arena *a;
	const char *text;
	size_t len, pos;
	struct shell_ast *ast;
	struct diag *diag;
	int err;
	unsigned depth;
	bool fixed; /* all spans are this one, because the text is not the
		     * source */
	struct shell_span span;
	unsigned npending;
	unsigned outer_pending; /* pending here-documents of the text around a
				 * substitution */
	unsigned cond; /* inside [[ ]]: < and > end words and are no
			* redirections */
	bool pattern;  /* a pattern comes next, which "!(" may begin */
	/* the current token */
	enum shell_tok tok;
	size_t tok_at;
	struct shell_word *word;
	enum shell_kw kw; /* keyword that .word is; KW_NONE for any other
			   * token */
	enum shell_redir_op redir;
	enum shell_case_end case_end;
	bool strip;
	int fd;
	struct shell_str fdvar;
	/* Last, so that the other members have short offsets. */
	struct shell_redir *pending[SHELL_MAX_HEREDOCS];
};

/* Is the dialect one of these (a mask of SHELL_IN_*)? Asking marks the text as
 * sensitive: another dialect would go another way here. */
enum {
	D_POSIX = 1 << SHELL_POSIX,
	D_ASH = 1 << SHELL_ASH,
	D_BASH = 1 << SHELL_BASH
};
bool shell_is(struct shell_parser *p, unsigned dialects);

/* Sets the error, unless there is one. Always returns NULL. */
__attribute__((format(printf, 4, 5))) void *shell_fail(
	struct shell_parser *p, int err, size_t at, const char *fmt, ...);

/* The next character, behind line continuations; -1 at the end. shell_peek2:
 * the one after it. */
int shell_peek(struct shell_parser *p);
int shell_peek2(struct shell_parser *p);
/* Steps over the next character. */
void shell_skip(struct shell_parser *p);
/* Skips the character if it is c. */
bool shell_eat(struct shell_parser *p, char c);
/* The same, if it has a meaning in these dialects. */
bool shell_eat_in(struct shell_parser *p, char c, unsigned dialects);

/* Memory of the arena; NULL is an error of the parser already. */
void *shell_zalloc(struct shell_parser *p, size_t n);
char *shell_bytes(struct shell_parser *p, size_t n);
#define shell_new(p, type) ((type *)shell_zalloc((p), sizeof(type)))

struct shell_span shell_span(const struct shell_parser *p, size_t start);
struct shell_str shell_copy(struct shell_parser *p, const char *s, size_t n);
struct shell_part *shell_part(
	struct shell_parser *p, enum shell_part_type type, size_t start);
/* Goes one level deeper; false (and an error) beyond the limit. */
bool shell_enter(struct shell_parser *p);
void shell_leave(struct shell_parser *p);

/* Reads the next token into p->tok. */
void shell_next(struct shell_parser *p);
/* After a newline: reads the bodies of the here-documents that were begun
 * before it. */
void shell_read_heredocs(struct shell_parser *p);

/* Reads a word in the mode, up to its end, which is not taken. NULL only on
 * error. */
struct shell_word *shell_word(struct shell_parser *p, enum shell_mode mode);
static inline struct shell_part *shell_word_parts(const struct shell_word *w)
{
	return w ? w->parts : NULL;
}
/* Reads what follows a '$' (taken already); a LIT "$" when nothing does. */
struct shell_part *shell_dollar(
	struct shell_parser *p, enum shell_mode mode, size_t start);
struct shell_part *shell_param(
	struct shell_parser *p, enum shell_mode mode, size_t start);
struct shell_part *shell_backquote(
	struct shell_parser *p, enum shell_mode mode);
struct shell_part *shell_procsub(struct shell_parser *p);
struct shell_part *shell_ansi(struct shell_parser *p, size_t start);
/* Reads up to )), behind (( or $((. NULL without an error: it is no
 * arithmetic. */
struct shell_word *shell_arith(struct shell_parser *p);
/* Does the mode stand inside double quotes? */
bool shell_mode_quoted(enum shell_mode mode);

/* Fills w->braces. */
void shell_braces(struct shell_parser *p, struct shell_word *w);

/* The keyword that the word is, and the text of a keyword. */
enum shell_kw shell_keyword(const struct shell_word *w);
const char *shell_keyword_text(enum shell_kw kw);

/* Has the word an unquoted '[' without its ']'? */
bool shell_torn(const struct shell_word *w);

/* The grammar. A list ends before the first token that cannot continue it. */
struct shell_list *shell_parse_list(struct shell_parser *p);
/* The same, with at least one command. */
struct shell_list *shell_parse_body(struct shell_parser *p);
/* Reads the commands of a substitution up to ')', which is taken. */
struct shell_list *shell_parse_sub(struct shell_parser *p);
/* Reads a text of its own (a backquote's) instead of the source. */
struct shell_list *shell_parse_nested(
	struct shell_parser *p, struct shell_str text, struct shell_span span);
struct shell_node *shell_parse_command(struct shell_parser *p);
/* Reads a compound command at the current token; NULL when there is none. */
struct shell_node *shell_parse_compound(struct shell_parser *p);
/* The word's text, if a function may have that name, else "". */
struct shell_str shell_func_name(
	struct shell_parser *p, const struct shell_word *w);
struct shell_cond *shell_parse_cond(struct shell_parser *p);
struct shell_word *shell_parse_array(struct shell_parser *p);
struct shell_redir *shell_parse_redir(struct shell_parser *p);
struct shell_redir **shell_parse_redirs(
	struct shell_parser *p, struct shell_redir **end);
void shell_skip_newlines(struct shell_parser *p);
void *shell_unexpected(struct shell_parser *p, const char *wanted);
/* Takes a reserved word, if it is the current one. */
bool shell_eat_word(struct shell_parser *p, enum shell_kw kw);
struct shell_node *shell_node(
	struct shell_parser *p, enum shell_node_type type, size_t start);

#endif
