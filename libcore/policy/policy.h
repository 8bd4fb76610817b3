/* policy.h - what may run here: load, decide, grant
 * SPDX-License-Identifier: MIT
 *
 * One engine answers for a line that is about to be given to a shell and for
 * an execve that is about to happen. It reads files (the policy's sources, and
 * the names a command speaks of), changes nothing and keeps no state.
 *
 *	autopolicy struct policy *p = NULL;
 *	struct policy_where w = {.system = POLICY_SYSTEM, ...};
 *
 *	rc = policy_load(&p, &w, &d);       // only -ENOMEM fails
 *	if (p->state != POLICY_GOOD)        // say d on every use and in the log
 *	req.profile = policy_profile(p, getenv'd WARDBOX_PROFILE, &d);
 *	policy_decide_line(p, &req, &v);
 */
#ifndef WARDBOX_POLICY_H
#define WARDBOX_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/json.h"

/* The larger is the stricter. OPEN: a part is not known before it runs, and is
 * decided when it starts. */
enum policy_decision {
	POLICY_ALLOW,
	POLICY_OPEN,
	POLICY_CONFIRM,
	POLICY_DENY,
};

/* The larger is the looser. */
enum policy_profile {
	POLICY_SAFE,
	POLICY_DEV,
	POLICY_FULL_AUTO,
	POLICY_OBSERVE,
	POLICY_PROFILES,
};

enum policy_layer {
	POLICY_LAYER_SYSTEM,
	POLICY_LAYER_USER,
	POLICY_LAYER_PROJECT,
	POLICY_LAYERS,
};

#define POLICY_SYSTEM "/etc/wardbox/policy"
#define POLICY_SYSTEM_DIR "/etc/wardbox/policy.d"
#define POLICY_KEY "/etc/wardbox/policy.pub"
#define POLICY_IMAGE "/run/wardbox/policy.img"

/* Where the layers are. A NULL or missing file is no layer; a missing system
 * file means the built-in default policy (then system_dir adds to it). */
struct policy_where {
	const char *system, *system_dir;
	const char *user, *project;
	const char *image; /* compiled system layer; NULL for none */
	const char *key; /* if that file exists, system sources need a .sig */
	uid_t system_uid; /* owner of the system files beside root: 0 */
	uid_t uid;        /* owner of the user file beside root */
	/* The policy is only to decide, not to be shown: a system file that
	 * only chooses a profile then needs no image of its own. */
	bool brief;
};

enum policy_state {
	POLICY_GOOD,
	POLICY_STALE,  /* the sources are broken: the last good image is used */
	POLICY_BROKEN, /* and there is no such image: profile SAFE */
};

struct policy_image; /* policy_image.h */

struct policy {
	enum policy_state state;
	struct policy_image
		*layer[POLICY_LAYERS]; /* NULL where there is none */
	uint8_t use; /* 1 + the profile that the system file names, if the file
		      * says nothing else and the layer is the built-in one;
		      * else 0 */
	uint8_t sum[32]; /* SHA-256 of what the layers say */
	struct diag why; /* the cause of a state other than GOOD */
};

/* Loads all layers. 0 with p->state telling how well it went (d is filled when
 * not GOOD), or -ENOMEM. A broken user or project layer makes the whole
 * POLICY_BROKEN: a layer that tightens may not fall away. */
int policy_load(
	struct policy **p, const struct policy_where *w, struct diag *d);

/* Writes the image of a system policy that root's command had to compile, and
 * whose tests pass, so that later commands need not compile. If it cannot be
 * written, they compile. */
void policy_keep(const struct policy *p, const struct policy_where *w);
/* The file of uid's own layer: in config (XDG_CONFIG_HOME) where that is
 * absolute, else in home. -ENOENT when the file does not exist, with *out ""
 * when it cannot exist. -EPERM when it lies in a home that uid may not search
 * (su without -): then uid has no layer, which is safe, because uid could as
 * well set another HOME. */
int policy_user_file(const char *config, const char *home, uid_t uid, char *out,
	size_t size);
/* Packs a loaded policy as bytes for the same binary, and unpacks it. -EBADMSG,
 * -ENOMEM, with d. An unpacked policy is only good for reading, because the
 * bytes may have been changed. */
struct cbor_in;
void policy_pack(const struct policy *p, struct buf *out);
int policy_unpack(struct policy **p, struct cbor_in *in, struct diag *d);
void policy_free(struct policy *p);
static inline void policy_release(struct policy **p)
{
	policy_free(*p);
}
#define autopolicy autoclean(policy_release)

/* "DEV", "dev", "PROFILE-DEV"; -EINVAL. */
int policy_profile_parse(const char *name, enum policy_profile *out);
const char *policy_profile_name(enum policy_profile profile);
/* "allow" "open" "confirm" "deny"; "system" "user" "project". */
const char *policy_decision_name(enum policy_decision decision);
const char *policy_layer_name(enum policy_layer layer);

/* The names that `relax` takes: the parts of a sandbox, in the order of enum
 * sandbox_part, and the log. */
enum { POLICY_PARTS = 12, POLICY_PROTECTIONS };
extern const char policy_protections[POLICY_PROTECTIONS][9];
/* Lists of names (str_index) in the order of their enum. */
#define POLICY_DECISIONS "allow\0open\0confirm\0deny\0"
#define POLICY_NETS "none\0local\0registries\0all\0"
#define POLICY_ASKS "tty\0approver\0never\0"

/* The profile in force: `use` of the system layer (DEV without one), tightened
 * by lower layers and by wish (WARDBOX_PROFILE or an option; NULL or "" for
 * none). A wish that would loosen, or that is no profile's name, is not
 * followed: d tells (d->text is "" otherwise), an unknown name gives SAFE. */
enum policy_profile policy_profile(
	const struct policy *p, const char *wish, struct diag *d);

/* The place that $ROOT or $HOME at the pattern's beginning stands for, with
 * *rest behind it; "" and the whole pattern when it begins with neither. */
const char *policy_place(const char *pattern, const char *root,
	const char *home, const char **rest);

/* The place where a command starts. */
struct policy_spot {
	const char *cwd;  /* absolute, as the kernel has it */
	const char *home; /* NULL or "": not known */
	const char *line; /* the text that a shell will read; NULL: no line */
	size_t len;
	uid_t uid; /* the user whose directories the line may go to */
};

/* The project's root: the nearest directory from cwd upwards that holds one of
 * the policy's `root` markers or a policy of its own; else cwd. Some
 * directories are never a project, by whatever name they are reached:
 * directories that hold the system, directories for everybody's temporary
 * files, homes and what holds homes, places that the policy hides, and the
 * places of `root never`. Where cwd has no project, the project of the
 * directory to which the line goes first (`cd DIR`) counts. -ENOENT, with d,
 * when there is none. */
int policy_find_root(const struct policy *p, const struct policy_spot *at,
	char *out, size_t size, struct diag *d);

/* The value of `env set` with the home in place of each $HOME. Entries of a
 * list that name $HOME are dropped where the home is not known or is no
 * entry. */
void policy_fill_home(struct buf *out, const char *text, const char *home);

/* The entries of PATH that a command keeps, in their order: directories from
 * which programs come, as exec_dir says, and those of the project at root. */
void policy_search(struct buf *out, const char *path, const char *root,
	bool exec_dir(void *ctx, const char *dir), void *ctx);

/* The directories for everybody's temporary files. */
enum { POLICY_SHARED = 3 };
extern const char *const policy_shared[POLICY_SHARED];

/* The root where there is no project: nothing lies beneath it. */
#define POLICY_NOWHERE "/dev/null"

/* The dialect in which a line is read; UNION: every shell's reading must be
 * safe. */
enum policy_dialect {
	POLICY_SH_UNION,
	POLICY_SH_POSIX,
	POLICY_SH_ASH,
	POLICY_SH_BASH,
};

/* The subject of a decision: a line, or a program about to be executed. */
struct policy_request {
	const char *text; /* the shell line; may hold NULs (refused) */
	size_t len;
	char *const *args; /* $0 $1 … behind `sh -c TEXT`; NULL: none */
	enum policy_dialect dialect;

	char *const *argv; /* the program's, NULL-terminated */
	const char *path;  /* the file, as the kernel resolved it */
	const char *named; /* the name that was given to execve; NULL: path */

	enum policy_profile profile;
	const char *cwd;  /* absolute, as the kernel has it */
	const char *root; /* absolute; the path jail */
	const char *home; /* "" or NULL: unknown */
	const char *tmp;  /* granted whatever the files say; "" or NULL */
	const char *own;  /* the same for caches */
	/* Names of directories that the command has for its own, whatever lies
	 * there outside; NULL-terminated. NULL: not known. */
	const char *const *places;
	bool no_project;  /* cwd is in no project: root is tmp, or
			   * POLICY_NOWHERE */
	char *const *env; /* the command's environment; NULL: empty, of a
			   * program: not looked at */
	unsigned depth;   /* 0: what the user asked for; >0: below that */
	bool starts; /* an execve: the sandbox judges paths */
};

/* The answerer of what the policy asks. The larger is the stricter. */
enum policy_ask {
	POLICY_ASK_TTY,      /* the person on the caller's terminal */
	POLICY_ASK_APPROVER, /* somebody elsewhere */
	POLICY_ASK_NEVER,    /* nobody: a question is a denial */
};

/* The network that a command may reach. The larger is the wider. */
enum policy_net {
	POLICY_NET_NONE,
	POLICY_NET_LOCAL,
	POLICY_NET_REGISTRIES,
	POLICY_NET_ALL,
};

/* Facts about a verdict, whatever its rule is called. */
enum policy_is {
	/* Of a line: every command is one of the shell's own, under a rule that
	 * grants nothing (mark=shell). */
	POLICY_IS_SHELL = 1,
	/* A change of protected names: a person's yes allows it (mark=protect). */
	POLICY_IS_PROTECT = 2,
	/* Of a line: it may open a file by its name … */
	POLICY_IS_OPENING = 4,
	/* … and not only files in the project, its /tmp or /dev. */
	POLICY_IS_STRAYING = 8,
	POLICY_IS_INPUT = 16, /* the program reads code that is not seen */
	POLICY_IS_UNKNOWN = 32, /* no rule speaks of the program */
	POLICY_IS_ASK = 64, /* an ask rule, which an allow rule could answer */
	/* .file is a path that the line names and that no rule grants: for
	 * reading, or with WRITING for writing. */
	POLICY_IS_OUTSIDE = 128,
	POLICY_IS_WRITING = 256,
};

enum { POLICY_REVERT = 240 };

/* One judged simple command, for explain and the log. */
struct policy_verdict {
	enum policy_decision decision; /* the decision; in OBSERVE always
					* ALLOW */
	enum policy_decision would;    /* the decision without OBSERVE */
	enum policy_layer layer;
	enum policy_net net; /* the widest grant of the rules that allowed it */
	uint64_t up; /* bytes to each host that the tightest allows; 0: no limit */
	unsigned is; /* enum policy_is */
	/* A rule with net=local allowed some part, which may run only where the
	 * loopback is the session's own. */
	bool loopback;
	/* Some part is decided when it starts, also where .would is stricter. */
	bool open;
	unsigned line;       /* of the rule in .file; 0: built into the
			      * engine */
	uint32_t offset, length; /* of the command, in the request's text */
	char rule[40];     /* "net", "unknown", "dynamic", … never empty */
	char file[128];    /* file of the rule, "default" for the built-in
			    * policy */
	char command[160]; /* the judged words, cut when too long */
	char reason[200];
	char alternative[160]; /* what to do instead; may be "" */
	/* How what it does is taken back, beside the files of the project, by the
	 * rules `revert`; "". */
	char revert[POLICY_REVERT];
};

/* Does a setting of git (its name, as gitconf_read() gives it) run something or
 * lead git elsewhere, so that only a person may make it? The lists git-runs,
 * git-safe-keys and git-arms say so. */
bool policy_git_runs(
	const struct policy *p, const char *name, const char *value);
/* May a setting that runs something be made for one command, by `git -c` or a
 * variable, as any variable that puts the project's code into a program? */
bool policy_git_once(
	const struct policy *p, const char *name, const char *value);
/* The only member that counts of a JSON file with that name, by the list
 * protect-members; NULL: all members. */
const char *policy_protect_member(const struct policy *p, const char *file);

/* Called for every judged command, in reading order. */
typedef void policy_each(void *ctx, const struct policy_verdict *one);

/* The strictest verdict over all simple commands of the line. Never fails:
 * whatever goes wrong is a denial that says so. each may be NULL. */
void policy_decide_line(const struct policy *p,
	const struct policy_request *req, struct policy_verdict *v,
	policy_each *each, void *ctx);

/* The same engine for an execve. */
void policy_decide_exec(const struct policy *p, const struct policy_request *req,
	struct policy_verdict *v);

enum policy_over {
	POLICY_OVER_KILL,
	POLICY_OVER_BLOCK,
	POLICY_OVER_TRUNCATE,
};

/* 0 means no limit. */
struct policy_limits {
	uint64_t cpu, wall; /* nanoseconds */
	uint64_t mem, out;  /* bytes */
	uint64_t procs, files;
	uint64_t idle; /* nanoseconds: of a session that only lives on */
	enum policy_over over_out;
};

struct policy_path {
	const char
		*path; /* absolute; with .tree also what is beneath */
	bool write, tree;
	bool many; /* a pattern, which only the decision uses */
	bool runtime; /* for programs' own needs: no command may name it */
	bool exec;    /* programs lie there */
};

struct policy_protect {
	const char *path; /* relative to the root; '*' and '?' as in str_glob */
	enum policy_decision decision;
	bool tree;
};

/* The look of a secret: a prefix, then min..max bytes of a class; or, with key
 * set, the value of a variable with a name like key. */
struct policy_redact {
	const char *id;
	const char *prefix, *key; /* one of the two, the other NULL */
	uint8_t bytes[32];        /* bit set of the class */
	uint32_t min, max;
};

/* The ways in which a program is given a secret. Program names stand as
 * "curl|wget"; "" is any program, for STDIN. */
enum policy_secret_kind {
	POLICY_SECRET_FLAG,  /* a flag's value */
	POLICY_SECRET_WORD,  /* one of the words */
	POLICY_SECRET_STDIN, /* what it reads */
};

/* How a flag's value stands: "-p X"; "-pX"; "-rp X", the last of some letters. */
enum { POLICY_FLAG_APART = 1, POLICY_FLAG_ATTACHED = 2, POLICY_FLAG_LAST = 4 };

/* Which word it is: the last, one by its number, the one right behind the first,
 * all from the first on. */
enum { POLICY_WORD_LAST, POLICY_WORD_NEXT = 9, POLICY_WORD_REST = 10 };

struct policy_secret {
	const char *programs;
	/* FLAG, WORD: a word that stands before the secret; "-": only flags
	 * stand there. STDIN: words of the command. Or "". */
	const char *word;
	/* FLAG: with its dashes. WORD: a flag that must be given, or "/": a
	 * word that begins so. Or "". */
	char flag[12];
	uint8_t kind;
	uint8_t how; /* FLAG: a sum of POLICY_FLAG_; WORD: which */
	uint8_t sign; /* the secret stands behind this sign: "user:value"; or
		       * 0 */
	bool likely; /* a secret only if it has letters and digits */
};

/* All that the policy says of secrets. */
struct policy_redacts {
	struct policy_redact *pattern;
	size_t pattern_count;
	struct policy_secret *secret;
	size_t secret_count;
};

struct policy_words {
	const char **item; /* NULL-terminated */
	size_t count;
};

/* Is the word in the list, letter by letter? */
bool policy_word_in(const struct policy_words *words, const char *word);

/* A glob for names of variables that are kept or denied. */
struct policy_env_word {
	const char *word;
	uint16_t next; /* next of the chain, counted from 1 */
	char last;     /* last letter; 0: any, or not looked at */
	bool deny;
	bool out; /* "!": no such name is one of those that "*" keeps */
};

/* What becomes of programs that outlive their command. */
enum policy_background {
	POLICY_BACKGROUND_UNSAID, /* the front end decides */
	POLICY_BACKGROUND_KEEP,
	POLICY_BACKGROUND_END,
};
/* The keys of `undo KEY=VALUE`: sizes, a number, a time, and one of OVERS. */
#define POLICY_UNDO_KEYS "bytes\0keep\0entries\0age\0over\0session\0"
#define POLICY_UNDO_OVERS "go\0ask\0refuse\0"

struct policy_grants {
	struct policy_path *path;
	size_t path_count;
	struct policy_words exec; /* directories */
	struct policy_protect *protect;
	size_t protect_count;
	struct policy_words env_set; /* NAME=VALUE */
	struct policy_words hide;  /* secrets, whatever is granted around them */
	struct policy_words cache; /* NAME=DIRECTORY; or the place of all
				    * caches */
	struct policy_words undo_words; /* absolute places; KEY=VALUE */
	struct policy_words home; /* FILE or FILE:SETTING, copied from it */
	struct policy_words relax; /* protections that may be missing */
	/* The hosts that may be spoken to: +HOST, -HOST, "registries", "up=1M"
	 * … */
	struct policy_words net_words;
	struct policy_redacts redact;
	enum policy_net net;
	enum policy_ask ask;
	unsigned ask_time; /* seconds after which a question is denied */
	bool confine;   /* false in OBSERVE: no sandbox, no limits, no env rules
			 */
	bool tmp_shared; /* a command without a /tmp of its own has the
			  * machine's */
	bool supervise; /* judge every execve in the tree */
	enum policy_background background;
	bool undo; /* journal the command's changes for undo */
	bool strangers; /* a program that no rule names runs unasked */
	bool hard_output; /* a limit on output ends the command, not the copy */
	struct policy *owned; /* the policy that the words lie in, freed with
			       * them */
	void *arena;
	struct policy_env_word *env; /* the names for policy_env(), */
	size_t env_count;
	struct policy_limits limits;
	uint16_t env_chain[65];  /* and the chains: 1 + the place of the first
				  * name */
};

/* 0 or -ENOMEM, -ENAMETOOLONG. Lines of the policy that name $HOME grant
 * nothing where home is NULL or "". p must live as long as out. */
int policy_grants(const struct policy *p, enum policy_profile profile,
	const char *root, const char *home, struct policy_grants *out);
void policy_grants_release(struct policy_grants *g);
#define autogrants autoclean(policy_grants_release)

enum { POLICY_PLACES = 4 };
/* The names of directories to which a command can write beside the project.
 * With a view of mounts: /tmp, /var/tmp, /dev/shm and home, which are the
 * command's own. Without one: the first three, which are the machine's, if the
 * policy shares them and neither state, the guard's own directory, nor the home
 * lies in them. Names in the project, and names that the policy opens, are left
 * out. Returns their number; NULL ends them. */
size_t policy_places(const struct policy_grants *g, const char *root,
	const char *home, const char *state, bool view,
	const char *out[static POLICY_PLACES + 1]);

enum policy_env_fate {
	POLICY_ENV_DROP, /* neither kept nor denied */
	POLICY_ENV_KEEP,
	POLICY_ENV_ANY,	 /* kept only by "*", so unless it is a secret */
	POLICY_ENV_DENY, /* dangerous: never taken over from a command */
};
enum policy_env_fate policy_env(
	const struct policy_grants *g, const char *name);

/* A whole policy for one use, for `include NAME`. */
struct policy_shipped {
	const char *name, *text;
};

/* All of them; the last has no name. */
const struct policy_shipped *policy_shipped(void);

#endif
