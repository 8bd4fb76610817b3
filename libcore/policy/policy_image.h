/* policy_image.h - a compiled layer: flat, mapped, checked once
 * SPDX-License-Identifier: MIT
 *
 * A header, then numbers, then texts. The numbers ("cells", two bytes each, or
 * four where two do not hold them all) are rows of fixed width, a section for
 * each kind; every reference is a row's number or a text's offset, so they mean
 * the same wherever the bytes lie. Numbers are in the machine's own order; the
 * header tells which, and another machine's image is refused.
 * policy_image_check() proves each reference once; the engine then follows
 * them without looking.
 */
#ifndef WARDBOX_POLICY_IMAGE_H
#define WARDBOX_POLICY_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "policy/policy.h"

enum {
	IMG_VERSION = 17,
	IMG_MAX = 4 << 20,
	IMG_ENDIAN = 0x01020304,
};

enum img_section {
	IMG_REF,     /* texts, named by first and count */
	IMG_LIST,    /* struct img_list */
	IMG_SET,     /* struct img_range: of enum img_set */
	IMG_RULE,    /* struct img_rule */
	IMG_TOKEN,   /* struct img_token */
	IMG_PROG,    /* struct img_prog, by name, then rule */
	IMG_GLOB,    /* struct img_glob */
	IMG_READS,   /* struct img_reads, by name */
	IMG_PATH,    /* struct img_path */
	IMG_PROTECT, /* struct img_protect */
	IMG_PROFILE, /* struct img_profile, POLICY_PROFILES of them */
	IMG_REDACT,  /* struct img_redact */
	IMG_CLASS,   /* struct img_class */
	IMG_SECRET,  /* struct img_secret */
	IMG_TEST,    /* struct img_test */
	IMG_SOURCE,  /* struct img_source */
	IMG_SECTIONS,
};

/* Named sets of words, beside the `list`s. */
enum img_set {
	IMG_SET_EXEC,  /* directories from which programs come */
	IMG_SET_RUN_R, /* paths that programs need for themselves */
	IMG_SET_RUN_RW,
	IMG_SET_ENV_KEEP,
	IMG_SET_ENV_SET,
	IMG_SET_ENV_DENY,
	IMG_SET_RELAX,
	IMG_SET_ROOT,  /* markers, and directories that may be a project */
	IMG_SET_NEVER, /* directories that are no project */
	IMG_SET_HIDE,  /* secrets */
	IMG_SET_CACHE, /* variables and their directories */
	IMG_SET_RUN_RX,
	IMG_SET_UNDO, /* places, and bounds as KEY=VALUE */
	IMG_SET_HOME, /* files of the home that are copied for a command */
	IMG_SET_NET, /* +HOST, -HOST, and words for all hosts */
	IMG_SETS,
};

struct img_range {
	uint32_t first, count;
};

struct img_header {
	char magic[8];
	uint8_t check[8]; /* sum over all that follows, in a file: img_seal() */
	uint32_t endian, size;
	uint8_t version, width, layer, use; /* width: bytes of a cell */
	uint32_t cells, bytes;              /* bytes: size of the texts */
	uint8_t sum[32]; /* SHA-256 of the sources, one after the other */
	struct img_range section[IMG_SECTIONS]; /* first: a cell; count: rows */
};

/* Rows, as img_get() spreads them: a text is its offset, and 0 is "". */

struct img_list {
	uint32_t name;
	struct img_range ref;
};

enum img_rule_kind {
	IMG_ALLOW,
	IMG_ASK, /* confirm, unless an allow rule matched */
	IMG_CONFIRM,
	IMG_DENY,
	IMG_DELEGATE,
	IMG_REVERT, /* decides nothing: how it is taken back */
	IMG_EXCEPT,
	IMG_KINDS,
};

struct img_rule {
	uint32_t bits; /* kind; IMG_PROFILES; IMG_NET; IMG_LAYERS of DELEGATE;
			* IMG_MARKS; IMG_UP */
	uint32_t id, file, line, text, alt;
	struct img_range token; /* the first is the program */
	uint32_t except; /* the first EXCEPT of the rule; of an EXCEPT the next
			  * one */
};

/* Fields of bits. */
#define IMG_KIND(bits) ((bits) & 7U)
#define IMG_PROFILES(bits) ((bits) >> 3 & 15U)
#define IMG_NET(bits) ((bits) >> 7 & 3U)
#define IMG_LAYERS(bits) ((bits) >> 9 & 7U)
#define IMG_MARKS(bits) ((bits) >> 12 & 3U) /* of enum policy_is: shell, protect */
#define IMG_UP(bits) ((uint64_t)((bits) >> 14) << IMG_UP_SHIFT) /* bytes */
enum { IMG_UP_SHIFT = 12, IMG_UP_MAX = (1 << 18) - 1 };

enum img_token_kind {
	IMG_TOK_WORD, /* one of the words, in which '*' is a glob with GLOB */
	IMG_TOK_ANY,  /* one word */
	IMG_TOK_REST, /* any number of words; last */
	IMG_TOK_OPT,  /* option present */
	IMG_TOK_NOOPT,
	IMG_TOK_HAS,   /* some operand is one of these */
	IMG_TOK_SAYS,  /* some word behind the program is, options included */
	IMG_TOK_AT,    /* some operand is one of these places, or lies so */
	IMG_TOK_FROM,  /* the same, for all operands but the last */
	IMG_TOK_TO,    /* all operands lead there: "loopback" or "local" */
	IMG_TOK_KINDS,
	IMG_TOK_KIND = 15, /* mask of the kind */
	IMG_TOK_GLOB = 16,
	IMG_TOK_LIST = 32, /* the words are those of list number first */
};

struct img_token {
	uint32_t bits;  /* kind, GLOB, LIST; above them how many words */
	uint32_t first; /* of IMG_REF */
};
#define IMG_TOK_WORDS 6 /* shift of the number of words */

struct img_prog {
	uint32_t name, rule;
};

/* A rule for programs that a pattern names: a row of IMG_REF. */
struct img_glob {
	uint32_t word, rule;
};

/* The way in which the words of a program are read. */
struct img_reads {
	uint32_t name;
	struct img_range ref; /* "-x", "-x=TYPE", a word, a number */
};

/* Types of an option's value: shell text (sh); a command, up to ";" (cmd); a
 * mark for words from elsewhere (repl); a setting of git (set); a value that
 * counts only where it is given first (first); no value, and no command follows
 * (none); text (str); text in place of the first operand (code). Other values
 * may be paths. */
#define READS_TYPES "sh\0cmd\0repl\0set\0first\0none\0str\0code\0"
enum reads_type {
	READS_SH,
	READS_CMD,
	READS_REPL,
	READS_SET,
	READS_FIRST,
	READS_NONE,
	READS_STR,
	READS_CODE,
};

/* Facts about a program's words: a command stands in them (cmd); NAME=VALUE may
 * stand before it (assign); the program is a shell (shell); it is many programs
 * (multi); the command is a line for a shell (line); more words come from
 * elsewhere (more); -abc is one option (whole); so is /abc (slash); the first
 * operand is text (text); all operands but the last are (last). */
#define READS_WORDS                                                            \
	"cmd\0assign\0shell\0multi\0line\0more\0whole\0slash\0text\0last\0"
enum reads_word {
	READS_RUNS,
	READS_ASSIGNS,
	READS_SHELL,
	READS_MULTI,
	READS_LINE,
	READS_MORE,
	READS_WHOLE,
	READS_SLASH,
	READS_TEXT,
	READS_LAST,
};

struct img_path {
	uint32_t pattern, write;
};

struct img_protect {
	uint32_t pattern, line, file, text, decision, profiles;
};

/* Settings of a profile; IMG_P_SET has a bit for each that the text names. */
enum {
	IMG_P_SHELL,
	IMG_P_UNKNOWN,
	IMG_P_CHILD,
	IMG_P_OPEN, /* for what is not known before it runs, or lies outside */
	IMG_P_NET,
	IMG_P_SUPERVISE,
	IMG_P_UNDO,
	IMG_P_AS,
	IMG_P_TMP, /* without a view, 1: /tmp is the machine's, 2: a container's */
	IMG_P_BACKGROUND, /* 1: background programs are ended */
	IMG_P_ASK,      /* enum policy_ask */
	IMG_P_ASK_TIME, /* seconds */
	IMG_P_OVER_OUT,
	IMG_P_SET, /* a bit for each of the above */
	IMG_P_VALUES,
};

enum {
	IMG_L_CPU, /* nanoseconds */
	IMG_L_WALL,
	IMG_L_MEM, /* bytes */
	IMG_L_OUT,
	IMG_L_PROCS,
	IMG_L_FILES,
	IMG_L_IDLE, /* nanoseconds; of a session */
	IMG_LIMITS,
};

/* A number in pieces of 16 bits, the lowest first. */
struct img_u64 {
	uint32_t part[4];
};

/* This bit, and a percentage: a limit that is a share of the machine's
 * memory. */
#define IMG_SHARE (1ULL << 62)

struct img_profile {
	uint32_t v[IMG_P_VALUES];
	struct img_u64 limit[IMG_LIMITS]; /* 0: none */
};

struct img_redact {
	uint32_t id, prefix, key, min, max, class;
};

struct img_class {
	uint32_t bits[16]; /* a bit for each byte, 16 bits a cell */
};

/* struct policy_secret. */
struct img_secret {
	uint32_t programs, word, flag;
	uint32_t bits; /* kind, LIKELY, how, and the sign */
};

#define IMG_SECRET_KIND(bits) ((bits) & 3U)
#define IMG_SECRET_LIKELY 4U
#define IMG_SECRET_HOW(bits) ((bits) >> 3 & 15U)
#define IMG_SECRET_HOW_BITS(how) ((how) << 3)
#define IMG_SECRET_SIGN(bits) ((bits) >> 7 & 127U)
#define IMG_SECRET_SIGN_BITS(sign) ((unsigned)(sign) << 7)

struct img_test {
	uint32_t line, file, text, profiles, decision;
};

enum img_source_kind {
	IMG_SRC_FILE,
	IMG_SRC_DIR, /* a file came or went if its own time changed */
	IMG_SRC_ABSENT,
	IMG_SRC_BUILTIN, /* ino: policy_default_mark */
};

struct img_source {
	uint32_t path, kind; /* enum img_source_kind */
	struct img_u64 dev, ino, ctime_s, ctime_ns, size;
};

/* A checked image. Its bytes are mapped, owned, or borrowed. */
struct policy_image {
	const struct img_header *head;
	const void *cell;
	const char *str;
	enum { IMG_BORROWED, IMG_OWNED, IMG_MAPPED } how;
};

static inline uint32_t img_cell(const struct policy_image *img, size_t i)
{
	return img->head->width == 2 ? ((const uint16_t *)img->cell)[i]
				     : ((const uint32_t *)img->cell)[i];
}

/* The number of rows of a section. */
#define IMG_COUNT(img, section_) ((img)->head->section[section_].count)

static inline const char *img_str(const struct policy_image *img, uint32_t off)
{
	return img->str + off;
}

/* The kinds of the columns of a section's rows, a letter each: s text, n
 * number, a digit the largest number, R, T and - a range of IMG_REF or
 * IMG_TOKEN; the others are in policy_image.c. */
const char *img_columns(enum img_section s);

/* Row i of a section, spread into the section's struct. */
void img_get(const struct policy_image *img, enum img_section s, uint32_t i,
	void *row);

/* Checks bytes[0..size), 4-aligned, and fills img. -EBADMSG with d. */
int policy_image_check(struct policy_image *img, const void *bytes, size_t size,
	struct diag *d);

/* Writes the sum with which a file is opened, because a disk or a hand may have
 * changed the file in a way that still reads as an image. The sum protects
 * nothing against a writer of the file, who is root alone. */
void img_seal(void *bytes, size_t size);

/* Maps and checks a file; -errno with d. The owner must be root or uid. */
int policy_image_open(
	struct policy_image **img, const char *path, uid_t uid, struct diag *d);
/* Takes over malloc'ed bytes. */
int policy_image_wrap(
	struct policy_image **img, void *bytes, size_t size, struct diag *d);
/* The built-in policy, compiled from configs/default.policy: it needs no check.
 * NULL when memory is out. */
struct policy_image *policy_image_builtin(void);
void policy_image_free(struct policy_image *img);

/* A mark of the built-in policy, because another binary may have another
 * one. */
extern const uint64_t policy_default_mark;
extern const struct policy_image policy_default;

static inline uint64_t img_u64(struct img_u64 v)
{
	return (uint64_t)v.part[0] | (uint64_t)v.part[1] << 16 |
	       (uint64_t)v.part[2] << 32 | (uint64_t)v.part[3] << 48;
}

static inline struct img_u64 img_parts(uint64_t v)
{
	return (struct img_u64){{v & 0xffff, v >> 16 & 0xffff,
		v >> 32 & 0xffff, (uint32_t)(v >> 48)}};
}

/* Word i of a set or a list. */
const char *img_ref(
	const struct policy_image *img, struct img_range r, uint32_t i);
/* The words of a set; none if img is NULL. */
struct img_range img_set(const struct policy_image *img, enum img_set set);
/* The list called name; its first is 0 and count 0 when there is none. */
struct img_range img_list(const struct policy_image *img, const char *name);
/* The words of a token. */
struct img_range img_words(const struct policy_image *img, struct img_token t);
struct img_token img_token(const struct policy_image *img, uint32_t i);

/* Does word match one of the refs (globs as in str_glob)? */
bool img_ref_match(
	const struct policy_image *img, struct img_range r, const char *word);
/* The same for the words of a list, and of IMG_SET_ENV_DENY, which are sorted
 * behind those that are globs. */
bool img_ref_find(
	const struct policy_image *img, struct img_range r, const char *word);

/* The reads line of the program called name; false when there is none. */
bool img_reads_find(const struct policy_image *img, const char *name,
	struct img_range *items);
/* The first row of IMG_PROG for name, and the number of its rows in *n. */
uint32_t img_prog_find(
	const struct policy_image *img, const char *name, uint32_t *n);

#endif
