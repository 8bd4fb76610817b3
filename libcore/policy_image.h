/* policy_image.h - a compiled layer: flat, mapped, checked once
 * SPDX-License-Identifier: MIT
 *
 * A header, then one array per section; every reference is an index or an
 * offset into another section, so the bytes mean the same wherever they lie.
 * policy_image_check() proves each reference once; the engine then follows
 * them without looking.
 */
#ifndef WARDBOX_POLICY_IMAGE_H
#define WARDBOX_POLICY_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "diag.h"
#include "policy.h"

enum {
	IMG_VERSION = 1,
	IMG_MAX = 4 << 20,
};

enum img_section {
	IMG_STR,     /* NUL-ended strings; offset 0 is "" */
	IMG_REF,     /* uint32_t: string offsets, named by first and count */
	IMG_LIST,    /* struct img_list, by name */
	IMG_RULE,    /* struct img_rule */
	IMG_TOKEN,   /* struct img_token */
	IMG_PROG,    /* struct img_prog, by name, then rule */
	IMG_SCHEMA,  /* struct img_schema, by name */
	IMG_ITEM,    /* struct img_item */
	IMG_PATH,    /* struct img_path */
	IMG_PROTECT, /* struct img_protect */
	IMG_PROFILE, /* struct img_profile, POLICY_PROFILES of them */
	IMG_REDACT,  /* struct img_redact */
	IMG_TEST,    /* struct img_test */
	IMG_SOURCE,  /* struct img_source */
	IMG_SECTIONS,
};

/* Named word sets that are no `list`: each a range of IMG_REF. */
enum img_set {
	IMG_SET_EXEC,  /* where commands come from */
	IMG_SET_RUN_R, /* what programs read and write for themselves */
	IMG_SET_RUN_RW,
	IMG_SET_ENV_KEEP,
	IMG_SET_ENV_SET,
	IMG_SET_ENV_DENY,
	IMG_SET_RELAX,
	IMG_SET_ROOT,
	IMG_SETS,
};

struct img_range {
	uint32_t first, count;
};

struct img_header {
	char magic[8];
	uint32_t version, endian, size;
	uint8_t layer, use, hard_output, pad;
	struct img_range section[IMG_SECTIONS]; /* first: byte offset */
	struct img_range set[IMG_SETS];
};

struct img_list {
	uint32_t name;
	struct img_range ref;
};

enum img_rule_kind {
	IMG_ALLOW,
	IMG_ASK, /* confirm, unless an allow matched */
	IMG_CONFIRM,
	IMG_DENY,
	IMG_DELEGATE,
	IMG_EXCEPT,
};

struct img_rule {
	uint8_t kind, profiles, net,
		layers; /* layers: of DELEGATE, a bit each */
	uint32_t id, file, line, text, alt;
	struct img_range token;  /* the first is the program */
	struct img_range except; /* rules of kind EXCEPT */
};

enum img_token_kind {
	IMG_TOK_WORD, /* one of the refs, which may hold '*' when glob is set */
	IMG_TOK_ANY,  /* one word */
	IMG_TOK_REST, /* any number of words; last */
	IMG_TOK_OPT,  /* option present */
	IMG_TOK_NOOPT,
	IMG_TOK_HAS, /* some operand is one of these */
};

struct img_token {
	uint8_t kind, glob, pad[2];
	uint32_t list; /* name of the list that ref is; 0: none */
	struct img_range ref;
};

struct img_prog {
	uint32_t name; /* "" for rules whose program is a pattern */
	uint32_t rule;
};

/* What an operand or an option's argument is. */
enum img_type {
	IMG_T_FLAG,  /* no argument */
	IMG_T_STR,   /* data */
	IMG_T_NUM,   /* digits, maybe signed */
	IMG_T_PATH,  /* read */
	IMG_T_WPATH, /* written, made or removed */
	IMG_T_CPATH, /* read, and asks */
	IMG_T_GITKEY,
	IMG_T_EXEC,    /* names a helper program: presence denies */
	IMG_T_CMD,     /* the rest is a command */
	IMG_T_CMDDATA, /* the same, with words from elsewhere behind it */
	IMG_T_SH,
	IMG_T_CODE,
	IMG_T_SCRIPT,
	IMG_T_ASSIGN,
	IMG_T_SED,
	IMG_T_AWK,
	IMG_T_NAME, /* a shell variable's name */
	IMG_T_DENY, /* presence denies */
	IMG_T_ASK,  /* presence asks */
	IMG_T_URL,  /* a path unless it has a scheme or host: form */
	IMG_T_PROG, /* a program's file, judged as if run */
	IMG_T_PROP, /* NAME=VALUE, the value perhaps a path */
	IMG_T_LINK, /* what a symbolic link will say */
	IMG_T_REPL, /* text that stands for data in the command */
	IMG_T_DATA, /* presence makes all that follows data */
	IMG_T_SUB,  /* a subcommand with a schema of its own */
	IMG_TYPES,
};

enum img_item_kind {
	IMG_I_SHORT,  /* -x */
	IMG_I_LONG,   /* --xyz */
	IMG_I_WORD,   /* -xyz as a whole, or +xyz */
	IMG_I_PREFIX, /* an operand that starts so: of= */
	IMG_I_DIGITS, /* -5 */
	IMG_I_POS,    /* operand number pos */
	IMG_I_LAST,   /* the last operand when there are two or more */
	IMG_I_REST,   /* all other operands */
	IMG_I_FLAGS,  /* letters of options without effect: name is all of them
		       */
	IMG_I_ASSIGN, /* leading NAME=VALUE operands */
};

enum {
	IMG_F_OPTIONAL = 1, /* the argument is attached or absent */
	IMG_F_SHIFT = 2,    /* stands for operand 1, which then is not there */
	IMG_F_WRITES = 8,   /* makes the program write the files it is given */
	IMG_F_UNTIL = 4,    /* the command ends at ";" or "+" */
};

struct img_item {
	uint32_t name;
	uint8_t kind, type, pos, flags;
};

enum {
	IMG_S_WORDS = 1,  /* options are whole words: find, java */
	IMG_S_STRICT = 2, /* an unknown option denies */
	IMG_S_STOP = 4,   /* the first operand ends the options */
	IMG_S_WRAPPER =
		8,        /* runs the command it is given, nothing of its own */
	IMG_S_SLASH = 16, /* options may start with '/' */
	IMG_S_DATA = 32,  /* operands without a type are data, not paths */
	IMG_S_SHELL = 64, /* a shell: -c takes code, operand 1 is a script */
	IMG_S_INTERP = 256, /* reads code from stdin when given none */
	IMG_S_STDIN = 1024, /* reads commands from stdin in any case */
	IMG_S_BUNDLE = 512, /* word 1 is a cluster without its dash: tar xf */
	IMG_S_MULTI = 128, /* a multicall binary: operand 1 names the program */
};

struct img_schema {
	uint32_t name;
	struct img_range item;
	uint32_t flags;
};

struct img_path {
	uint32_t pattern;
	uint8_t write, pad[3];
};

struct img_protect {
	uint32_t pattern, line, file, text;
	uint8_t decision, profiles, pad[2];
};

enum {
	IMG_P_SHELL = 1,
	IMG_P_UNKNOWN = 2,
	IMG_P_UNRESOLVED = 4,
	IMG_P_DYNAMIC = 8,
	IMG_P_OPAQUE = 16,
	IMG_P_CHILD = 32,
	IMG_P_NET = 64,
};

struct img_profile {
	uint64_t cpu, wall, mem, out, procs, files; /* 0: no limit */
	uint8_t shell, unknown, unresolved, dynamic, opaque, child, net,
		supervise;
	uint8_t over_out, as, set,
		pad[5]; /* set: which of the above were said */
};

struct img_redact {
	uint32_t id, prefix, key, min, max;
	uint8_t bytes[32];
};

struct img_test {
	uint32_t line, file, text;
	uint8_t profiles, decision, pad[2];
};

struct img_source {
	uint64_t dev, ino, ctime_s, ctime_ns, size;
	uint32_t path;
	uint8_t kind, pad[3]; /* enum img_source_kind */
	uint8_t sha[32];
};

enum img_source_kind {
	IMG_SRC_FILE,
	IMG_SRC_DIR, /* its own change means a file came or went */
	IMG_SRC_ABSENT,
	IMG_SRC_BUILTIN,
};

/* A checked image. The bytes are mapped, owned, or someone else's. */
struct policy_image {
	const struct img_header *head;
	const char *str;
	size_t size;
	enum { IMG_BORROWED, IMG_OWNED, IMG_MAPPED } how;
};

/* Bytes of a section's element. */
extern const uint16_t img_elem_size[IMG_SECTIONS];

/* Elements of a section. */
#define IMG_AT(img, section_, type)                                            \
	((const type *)(const void *)((const char *)(img)->head +              \
				      (img)->head->section[section_].first))
#define IMG_COUNT(img, section_) ((img)->head->section[section_].count)

static inline const char *img_str(const struct policy_image *img, uint32_t off)
{
	return img->str + off;
}

/* Checks bytes[0..size), 8-aligned, and fills img. -EBADMSG with d. */
int policy_image_check(struct policy_image *img, const void *bytes, size_t size,
	struct diag *d);

/* Maps and checks a file; -errno with d. The owner must be root or uid. */
int policy_image_open(
	struct policy_image **img, const char *path, uid_t uid, struct diag *d);
/* Takes over malloc'ed bytes, or borrows constant ones. */
int policy_image_wrap(struct policy_image **img, void *bytes, size_t size,
	bool owned, struct diag *d);
void policy_image_free(struct policy_image *img);

/* Words of a set or a list. */
static inline const char *img_ref(
	const struct policy_image *img, struct img_range r, uint32_t i)
{
	return img_str(img, IMG_AT(img, IMG_REF, uint32_t)[r.first + i]);
}
/* Does word match one of the refs (globs as in str_glob)? */
bool img_ref_match(
	const struct policy_image *img, struct img_range r, const char *word);
/* The built-in policy, compiled with the binary from configs/default.policy. */
extern const uint64_t policy_default_words[];
extern const size_t policy_default_size;

/* The list called name, or NULL. */
const struct img_list *img_list_find(
	const struct policy_image *img, const char *name);
const struct img_schema *img_schema_find(
	const struct policy_image *img, const char *name);
/* The first entry for name, count of entries in *n. */
const struct img_prog *img_prog_find(
	const struct policy_image *img, const char *name, uint32_t *n);

#endif
