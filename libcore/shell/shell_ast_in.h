/* shell_ast_in.h - the tree of a shell program
 * SPDX-License-Identifier: MIT
 *
 * Nothing a shell needs is dropped: quoting stays with each part of a word,
 * here-documents are words, redirections keep their order, a function's body
 * is a pointer. All of it lives in one arena; text is slices of the source or
 * of the arena, without a NUL.
 */
#ifndef WARDBOX_SHELL_AST_IN_H
#define WARDBOX_SHELL_AST_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The shell that reads the text. UNION is asked for when that is not known:
 * every reading is judged. A tree is always of one of the other three. */
enum shell_dialect {
	SHELL_POSIX, /* dash */
	SHELL_ASH,   /* BusyBox ash */
	SHELL_BASH,
	SHELL_UNION,
};

struct shell_str {
	const char *p;
	size_t n;
};

#define SHELL_STR(literal) ((struct shell_str){(literal), sizeof(literal) - 1})

bool shell_str_is(struct shell_str s, const char *text);
bool shell_str_eq(struct shell_str a, struct shell_str b);
/* Is it one of " these words ", each with a blank on both sides? */
bool shell_str_in(struct shell_str s, const char *words);
/* Does one of the bytes stand in it? */
bool shell_str_has(struct shell_str s, const char *bytes);
/* The value of digits; for a large number some value not below
 * SHELL_MAX_NUMBER; -1 for any other text. */
enum { SHELL_MAX_NUMBER = 10000 };
int shell_str_number(struct shell_str s);
/* The length of the variable's name at the text's beginning; and of the sign
 * behind it: 1 for =, 2 for +=, else 0. */
size_t shell_str_name(struct shell_str s);
size_t shell_str_assigns(struct shell_str s, size_t name);

/* Bytes of the source. Parts of a backquote have the span of the whole
 * backquote, because its own text is not the source's. */
struct shell_span {
	uint32_t start, len;
};

enum shell_part_type {
	SHELL_LIT,      /* text: unquoted (inside DQ, HERE: quoted by it) */
	SHELL_ESC,      /* text: the one character behind a backslash */
	SHELL_SQ,       /* text: '…' */
	SHELL_ANSI,     /* text: $'…' decoded */
	SHELL_DQ,       /* parts: "…" */
	SHELL_TILDE,    /* text: the user's name, or nothing */
	SHELL_PARAM,    /* param: $x ${x…} */
	SHELL_CMDSUB,   /* body: $(…) `…` */
	SHELL_ARITHSUB, /* parts: $((…)) $[…], quoted as inside "…" */
	SHELL_PROCSUB,  /* body: <(…) >(…) */
	SHELL_ARRAY,    /* words: the (…) of name=(…) */
	SHELL_RANGE,    /* one word for a range of more numbers than are told
			 * apart */
};

enum shell_param_op {
	SHELL_OP_NONE,
	SHELL_OP_DEFAULT, /* - */
	SHELL_OP_ASSIGN,  /* = */
	SHELL_OP_ERROR,   /* ? */
	SHELL_OP_ALT,     /* + */
	SHELL_OP_PREFIX,  /* # ## */
	SHELL_OP_SUFFIX,  /* % %% */
	SHELL_OP_REPLACE, /* / // /# /%: word is the pattern, word2 the rest */
	SHELL_OP_SLICE,   /* :off:len: word, word2, both arithmetic */
	SHELL_OP_CASE,    /* ^ ^^ , ,, */
	SHELL_OP_TRANSFORM, /* @X */
	SHELL_OP_NAMES,     /* ${!prefix*} ${!prefix@} */
	SHELL_OP_BAD,       /* the shell fails when it expands this */
};

struct shell_word;
struct shell_list;

struct shell_param {
	struct shell_str name;        /* a name, digits, or one of @*#?-$! */
	struct shell_word *subscript; /* [x], or NULL; text of "@" or "*" too */
	enum shell_param_op op;
	char mark;  /* the operator's own character: ^ , @X's X, REPLACE's #% */
	bool colon; /* :- := :? :+ */
	bool doubled;  /* ## %% // ^^ ,, */
	bool length;   /* ${#x} */
	bool indirect; /* ${!x} */
	bool braces;
	struct shell_word *word, *word2; /* NULL where there is none */
};

struct shell_part {
	enum shell_part_type type;
	bool backquote; /* CMDSUB */
	bool output;    /* PROCSUB: >( */
	bool bracket;   /* ARITHSUB: $[ */
	bool locale;    /* DQ: $"…" */
	struct shell_span span;
	struct shell_str text;
	union {
		struct shell_part *parts;
		struct shell_param *param;
		struct shell_list *body;
		struct shell_word *words;
	} u;
	struct shell_part *next;
};

struct shell_word {
	struct shell_part *parts;
	struct shell_span span;
	/* The results of brace expansion of this word, in order; NULL when it
	 * changes nothing. Only in bash's tree. */
	struct shell_word *braces;
	bool quoted; /* a quote character or a backslash stands in the word */
	struct shell_word *next;
};

struct shell_assign {
	struct shell_str name;
	struct shell_word *subscript; /* name[x]=, or NULL */
	struct shell_word *value;     /* never NULL; may have no parts */
	bool append;                  /* += */
	struct shell_span span;
	struct shell_assign *next;
};

enum shell_redir_op {
	SHELL_R_IN,      /* < */
	SHELL_R_OUT,     /* > */
	SHELL_R_APPEND,  /* >> */
	SHELL_R_CLOBBER, /* >| */
	SHELL_R_RDWR,    /* <> */
	SHELL_R_DUPIN,   /* <& */
	SHELL_R_DUPOUT,  /* >& */
	SHELL_R_BOTH,    /* &> */
	SHELL_R_BOTHAPP, /* &>> */
	SHELL_R_HERE,    /* << <<- */
	SHELL_R_HERESTR, /* <<< */
};

struct shell_redir {
	enum shell_redir_op op;
	int fd;                  /* the number before it, or -1 */
	struct shell_str fdvar;  /* {name}> */
	struct shell_word *word; /* target, or the here-document's delimiter */
	struct shell_word *here; /* the here-document's body, without stripped
				  * tabs: one SQ part when the delimiter is
				  * quoted */
	bool strip, literal;     /* <<-, delimiter is quoted */
	struct shell_span span;
	struct shell_redir *next;
};

enum shell_node_type {
	SHELL_SIMPLE,
	SHELL_PIPELINE,
	SHELL_ANDOR,
	SHELL_SUBSHELL,
	SHELL_GROUP,
	SHELL_IF,
	SHELL_FOR,
	SHELL_SELECT,
	SHELL_FORARITH,
	SHELL_WHILE,
	SHELL_UNTIL,
	SHELL_CASE,
	SHELL_FUNC,
	SHELL_COND,  /* [[ … ]] */
	SHELL_ARITH, /* ((…)) */
	SHELL_COPROC,
};

enum shell_case_end { SHELL_CASE_BREAK, SHELL_CASE_FALL, SHELL_CASE_NEXT };

struct shell_case_item {
	struct shell_word *patterns;
	struct shell_list *body; /* may be NULL */
	enum shell_case_end end; /* ;; ;& ;;& */
	struct shell_case_item *next;
};

enum shell_cond_type {
	SHELL_COND_WORD,   /* left: -n is meant */
	SHELL_COND_UNARY,  /* op left */
	SHELL_COND_BINARY, /* left op right */
	SHELL_COND_NOT,    /* a */
	SHELL_COND_AND,    /* a b */
	SHELL_COND_OR,
	SHELL_COND_PAREN, /* a */
};

struct shell_cond {
	enum shell_cond_type type;
	struct shell_str op;
	struct shell_word *left, *right;
	struct shell_cond *a, *b;
};

struct shell_node {
	enum shell_node_type type;
	struct shell_span span;
	struct shell_redir *redirs; /* of simple and compound commands */
	union {
		struct {
			struct shell_assign *assigns;
			struct shell_word *words;
		} simple;
		struct {
			/* Linked by .next; |& is kept on the left command. */
			struct shell_node *first;
			unsigned bangs;
			bool timed, posix_time;
		} pipeline;
		struct {
			/* Linked by .next, from left to right. */
			struct shell_node *first;
		} andor;
		struct {
			struct shell_list *body;
		} group; /* SUBSHELL and GROUP */
		struct {
			/* An elif is an IF that is alone in .other. */
			struct shell_list *test, *then, *other;
			bool elif; /* this IF stands for an elif */
		} cond_if;
		struct {
			struct shell_str name;
			struct shell_word *words;
			bool has_in;
			struct shell_list *body;
		} loop; /* FOR and SELECT */
		struct {
			struct shell_word *init, *test, *step; /* may be NULL */
			struct shell_list *body;
		} forarith;
		struct {
			struct shell_list *test, *body;
		} wait; /* WHILE and UNTIL */
		struct {
			struct shell_word *subject;
			struct shell_case_item *items;
		} select; /* CASE */
		struct {
			struct shell_str name;
			struct shell_node *body;
			bool keyword; /* function NAME */
		} func;
		struct shell_cond *cond;
		struct shell_word *arith;
		struct {
			struct shell_str name; /* may be empty */
			struct shell_node *body;
		} coproc;
	} u;
	bool pipe_err; /* the left side of a |& */
	bool after_or; /* in an and-or list: || stands before the node, not
			* && */
	struct shell_node *next; /* in a pipeline or an and-or list */
};

/* One and-or list with its separator. */
struct shell_item {
	struct shell_node *node;
	bool background; /* & */
	bool newline;    /* the source had a newline behind it */
	struct shell_item *next;
};

struct shell_list {
	struct shell_item *first;
	struct shell_span span;
};

struct shell_ast {
	struct shell_list *list; /* NULL when there is no command */
	const char *text;
	size_t len;
	enum shell_dialect dialect;
	/* Another dialect may read this text in another way. */
	bool sensitive;
	unsigned commands; /* simple commands seen */
};

#endif
