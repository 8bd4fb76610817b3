/* guard_in.h - the parts of one command's way
 * SPDX-License-Identifier: MIT
 *
 * Each stage of guard_run() fills one of these structs and reads those that the
 * stages before it filled: place, terms, entry, verdict (in the outcome), box.
 * struct tree is what is learned while the command runs.
 */
#ifndef WARDBOX_GUARD_IN_H
#define WARDBOX_GUARD_IN_H

#include <limits.h>

#include "base/arena.h"
#include "box/sandbox.h"
#include "guard/guard.h"
#include "log/audit_write.h"
#include "net/net.h"
#include "protect/protect.h"
#include "session/session_live.h"
#include "sys/env.h"

enum {
	GUARD_TIMEOUT = 124,
	GUARD_OURS = 125,
	GUARD_DENIED = 126,
};

/* Where: all of it found once. Texts are "" when unknown. */
struct guard_place {
	uid_t uid;
	bool inside;     /* of a guarded tree, by the kernel's word */
	bool real;       /* cwd is the kernel's own name for it */
	bool no_project; /* root is tmp, or POLICY_NOWHERE */
	bool whole;      /* root is "/": an image is built */
	/* The directory of the user below the state base; 0: not looked for
	 * yet, negative: there is none. */
	int own;
	const char *home, *cwd, *root;
	const char *base;  /* the state base */
	/* Where what commands leave is kept: opened as own is, and its base. */
	int lay;
	const char *lay_base;
	const char *at;    /* what is its own where others share */
	const char *tmp;   /* at/tmp: its place for temporary files */
	const char *cache; /* where its caches lie */
	const char *around; /* inside: the TMPDIR that the guard around gave;
			     * NULL: not inside */
	/* Of a view: the names of its own directories, and where they lie. */
	const char *own_name[POLICY_PLACES + 1], *own_from[POLICY_PLACES];
	size_t own_count;
	const char *own_home; /* HOME, where there is none; NULL: there is one */
	const struct br_hash_class_ *sha; /* fastest; NULL: portable */
	struct arena texts; /* what the names above lie in, and the box's */
};
#define GUARD_PLACE_INIT                                                   \
	((struct guard_place){.home = "", .cwd = "", .root = "", .base = "",   \
		.at = "", .tmp = "", .cache = "",                              \
		.texts = ARENA_INIT(32 * PATH_MAX)})

/* Under what: the policy, and what it says about this place. */
struct guard_terms {
	struct policy *policy;
	enum policy_profile profile;
	struct policy_grants grants;
	const char *user_file; /* the user's own layer; "" for none */
	struct diag remark;    /* what its owner should know of the policy */
};
#define GUARD_TERMS_INIT ((struct guard_terms){.user_file = ""})

/* The record. */
struct guard_entry {
	bool on;    /* the log is open */
	bool fresh; /* the session was made for this command */
	bool shares_net; /* it was asked for by its id, or a file of it */
	const char *path; /* of the log; "" when unknown */
	uint64_t seen[RUN_STREAMS]; /* bytes of output shown to the log */
	struct audit_log log;
	struct audit_exec exec;
};
#define GUARD_ENTRY_INIT                                                   \
	((struct guard_entry){.path = "", .log = AUDIT_LOG_INIT})

/* What the command is put into. */
struct guard_box {
	bool brief;  /* the shell's own commands alone: it starts no program */
	bool opens;  /* such a line may open a file by its name */
	bool masked; /* mask is the caller's */
	bool stays;  /* what the command leaves behind lives on */
	struct arena *texts; /* the place's */
	size_t keep_count, carved_count;
	size_t cache_vars; /* the last of env: variables that name caches */
	char *const *argv; /* what is executed: the command's or own_argv */
	char **own_argv;
	char rc_words[2][12]; /* that own_argv has in front */
	const char *told; /* what it may know of its guard lies there; NULL */
	struct env env;
	struct net_link link; /* to who holds the session's network */
	struct sandbox_join join;
	struct sandbox_plan plan;
	struct sandbox sandbox;
	struct proc_limits limits; /* the caller's, before they were raised */
	sigset_t mask;
	const char *carved[64]; /* paths of the plan that are the guard's own */
	const char *places[10]; /* where the guard's own files lie: plan.own */
	int undo_store; /* where the journal goes; 0: nothing is saved */
	const char *undo_why; /* the policy wants it, and it cannot be had */
	int keep[1024]; /* descriptors of the caller's, for the command */
};

/* The question that is put, while a program waits for its answer. */
enum { GUARD_KEY = 72 };
struct guard_asking {
	bool on;
	enum guard_answer answer;
	uint64_t id;    /* of the call that waits */
	uint64_t until; /* monotonic */
	const struct guard_answerer *who;
	char key[GUARD_KEY]; /* what was asked: rule, directory, words */
	/* Of one call the yes of each program that it names: a script, its
	 * interpreter, and so on. */
	uint64_t yes_id;
	unsigned yes_count;
	char yes[6][GUARD_KEY];
};

/* What it did on the network. */
struct guard_net {
	bool used;       /* a connection was told of since the last flush */
	uint64_t opened, count; /* connections; count: that ended */
	uint64_t waiting;  /* that no record has yet */
	uint64_t up, down; /* their bytes */
	struct net_event last;
	unsigned next;
	struct {
		uint32_t inode;
		char program[16];
	} seen[32];
};

/* What is learned of the command's tree while it runs. */
struct guard_tree {
	pid_t refused;     /* the last that got an answer: it is asked once, */
	enum guard_answer refusal; /* which was this */
	struct guard_asking asking;
	pid_t called, caller; /* this process, as started, and its parent */
	bool lives; /* the command has ended, and left something behind */
	struct session_live live;
	bool protect_free; /* a person said yes to a change of protected names */
	bool policy_told;  /* guard_told_policy() did it */
	uint64_t denials;  /* of programs that it started */
	uint64_t starts;   /* programs that the shell of an open line started */
	struct guard_undo *undo; /* NULL: nothing is journaled */
	uint64_t put_back; /* changes of protected names */
	struct guard_net net;
	struct protect *protect; /* NULL: nothing is compared */
	struct protect_spec protect_spec;
	const char *own_places[2]; /* below which the guard itself writes */
	struct guard_said {
		uint64_t sum;  /* of a program and a rule */
		uint64_t last; /* when that was denied; 0: never */
	} said[32];
};

/* One command's way. */
struct guard {
	const struct guard_command *command;
	const struct guard_caller *caller;
	const struct guard_io *io;
	const struct guard_carry *carry; /* an empty one where there is none */
	struct guard_outcome *out;
	struct guard_tree tree;
	struct guard_place place;
	struct guard_terms terms;
	struct guard_entry entry;
	struct guard_box box; /* the largest, so last */
};

/* Copies text, for as long as the arena lives. */
int guard_keep(struct arena *texts, const char **where, const char *text);

/* guard_place.c: the directory, the user, the guard around. */
int guard_place_find(struct guard_place *p, const struct guard_caller *who,
	struct diag *d);
void guard_place_release(struct guard_place *p);
#define autoplace autoclean(guard_place_release)
/* Opens the state base, once; what sessions are looked for by. */
struct session_where guard_place_base(struct guard_place *p, struct diag *d);
/* The project of the workspace, else of cwd, where command (NULL: none) is a line
 * also of where that goes first: .root, or .no_project. */
int guard_place_project(struct guard_place *p, const struct policy *policy,
	const char *workspace, const struct guard_command *command,
	struct diag *d);
/* Opens a directory of the user's below the 0700 one at in, made if need be; one
 * whose mode the command changed, because it may, gets its mode back. */
int guard_place_dir(const struct guard_place *p, int in, const char *name,
	struct diag *d);

/* guard_own.c: makes the private place for temporary files and fills .at and .tmp,
 * once; "" stays where there is no state base. guard_own_find makes and names the
 * directories that a view of mounts shows as the command's own, guard_own_grant
 * puts them into the plan. */
int guard_place_tmp(struct guard_place *p);
int guard_own_find(struct guard_place *p, const struct policy_grants *grants);
int guard_own_grant(struct guard_box *b, const struct guard *g);
/* Behind all grants of a plan with a view: the rest of the machine is not shown,
 * and where no socket of others is, local ones are free. */
int guard_own_cover(struct guard_box *b, const struct guard_place *p);
/* guard_prune.c: takes away what stands beside the directory called keep in that
 * at dir, is called at-* too, and was not used for ten days. */
void guard_prune(int dir, const char *keep);
/* Is that the name of one? */
bool guard_owns(const struct guard_place *p, const char *name);
/* guard_home.c: makes the guarded user's own home, with what it has of the
 * person's, and says where. */
int guard_home_make(struct guard_place *p, const struct policy_grants *grants,
	const char **where);
/* Has that home copies of what lies at, or in, path of the person's? */
bool guard_home_has(const struct guard *g, const char *path);
/* The name that a policy or HOME uses for what is really called otherwise leads
 * there in a directory of the command's own, too. */
int guard_home_link(
	const struct guard_place *p, const char *name, const char *real);

/* guard_terms.c: policy, profile, project; and with guard_terms_load what they
 * grant. */
int guard_terms_policy(struct guard_terms *t, struct guard_place *p,
	const struct guard_caller *who, const struct guard_command *command,
	struct diag *d);
int guard_terms_load(struct guard_terms *t, struct guard_place *p,
	const struct guard_caller *who, const struct guard_command *command,
	struct diag *d);
void guard_terms_release(struct guard_terms *t);
#define autoterms autoclean(guard_terms_release)

/* guard_entry.c: the log, opened. 0 with .on false when root relaxed it by name. */
int guard_entry_open(struct guard_entry *e, struct guard_place *p,
	const struct guard_terms *t, const struct guard_caller *who,
	struct diag *d);
void guard_entry_release(struct guard_entry *e);
#define autoentry autoclean(guard_entry_release)
/* The session, found or made, to out->session; a fresh one is recorded. */
int guard_entry_session(struct guard *g, struct diag *d);
/* What the log learns of the command. */
int guard_entry_denial(struct guard *g, struct diag *d);
int guard_entry_start(struct guard *g, struct diag *d);
int guard_entry_relaxed(struct guard *g, struct diag *d);
/* The machine's /tmp, where the policy shares it and there is no view. */
int guard_entry_shared(struct guard *g, struct diag *d);
/* A script that came on a pipe is nowhere else. */
int guard_entry_script(struct guard *g, struct diag *d);
int guard_entry_end(struct guard *g, struct diag *d);
/* An event of the command, where there is a log. */
void guard_entry_event(struct guard *g, const char *event,
	const struct audit_fact *facts, size_t n);

/* guard_env.c: the variables of from that the policy keeps; of those that were
 * asked for by name, all that it does not deny. The names of the others in left,
 * of which GUARD_ENV_LEFT bytes are had. */
enum { GUARD_ENV_LEFT = 2000 };
int guard_env_keep(const struct guard *g, char *const *from, bool by_name,
	struct env *kept, struct buf *left);
/* guard_env.c: the command's environment, from the grants. With places the
 * directories that it names are made. */
int guard_env_make(struct guard_box *b, struct guard *g, bool places,
	struct diag *d);
/* There is no view after all: the environment and the plan do without. */
int guard_env_without(struct guard_box *b, struct guard *g);
/* guard_cache.c: makes the directories for caches and fills place.cache, once;
 * puts the variables that name them into the environment. */
int guard_cache_find(struct guard_place *p, const struct policy_words *cache,
	struct diag *d);
int guard_cache_env(struct guard_box *b, const struct guard_place *p,
	const struct policy_words *cache);

/* guard_live.c: may what the command leaves behind live on? How that is done, for
 * the sink. */
bool guard_stays(const struct guard *g);
/* That the session, which ends when nobody uses it, is used. */
void guard_live_use(struct guard *g);
void guard_live_sink(struct run_sink *sink);
/* In the process that goes on beside the supervisor: what both have by a fork is
 * the supervisor's. A lock of the log is shared by a fork, so it is opened anew. */
int guard_live_leave(struct guard *g);

/* guard_judge.c: the policy's verdict of the command, before it runs. Pure. */
void guard_decide(const struct guard *g, struct policy_verdict *v);
/* Decides, and where it asks a person waits for their answer. 0: may run; else the
 * denial is recorded and d says why. */
int guard_judge(struct guard *g, struct diag *d);

/* What a person is asked: the request's own text or program, or one that its
 * shell was told to run. */
struct guard_question {
	const struct policy_verdict *v;
	const char *cwd;
	char *const *argv; /* NULL: the request's text */
};
/* guard_ask.c: waits for the answer, or knows an earlier "always". */
enum guard_answer guard_ask_now(struct guard *g, const struct guard_question *what);
static inline bool guard_asked_yes(
	struct guard *g, const struct guard_question *what)
{
	enum guard_answer answer = guard_ask_now(g, what);

	return answer == GUARD_YES || answer == GUARD_ALWAYS;
}
/* The same of a program that starts, by the id of its call: GUARD_WAITS while the
 * answer is awaited, and then once the answer. */
enum guard_answer guard_ask_later(
	struct guard *g, const struct guard_question *what, uint64_t id);
/* A descriptor to poll while a program waits, -1; when to look at the latest, in
 * ms, -1; looks, and has the calls judged anew that there is an answer for. */
int guard_ask_fd(const struct guard *g);
int guard_ask_timeout(const struct guard *g);
void guard_ask_look(struct guard *g);
/* The person stopped the command: no. */
void guard_ask_stop(struct guard *g);
/* The command is over. */
void guard_ask_end(struct guard *g);
/* guard_explain.c: what the caller of a command can do that v does not let run.
 * Pure. */
void guard_advise(const struct policy_verdict *v, struct buf *out);
/* Why it does not run; of a question, by which answer. */
void guard_explain(const struct guard *g, const struct policy_verdict *v,
	enum guard_answer answer, struct diag *d);
/* "no" "nobody" "timeout" "never" … for the record. */
const char *guard_answer_name(enum guard_answer answer);
/* guard_approve.c: an "always" of a person, for this session. */
void guard_question_key(const struct guard *g,
	const struct guard_question *what, char key[static GUARD_KEY]);
bool guard_approved(const struct guard *g, const struct guard_question *what);
void guard_approve(const struct guard *g, const struct guard_question *what);
/* Says in the verdict how a question that was put elsewhere came to no yes. */
void guard_unanswered(struct policy_verdict *v, int answer);

/* guard_plan.c: the command's sandbox, from the grants. */
int guard_box_plan(
	struct guard_box *b, const struct guard *g, struct diag *d);
/* guard_net.c: the network that the command may have, here; what it shares of it
 * with its session's other commands, joined when the box is made. */
enum sandbox_net guard_net_of(
	const struct guard_box *b, const struct guard *g);
int guard_net_join(struct guard_box *b, struct guard *g, struct diag *d);
/* Records the second tier. */
int guard_net_begin(struct guard *g, struct diag *d);
/* Is it allowed on a loopback of the session's own alone, and there is none? Then
 * why. planned: the plan is made. */
bool guard_net_denies(const struct guard *g, bool planned,
	struct policy_verdict *v);

/* guard_carve.c: takes out of a plan that has its grants what must not be the
 * command's. */
int guard_carve(struct guard_box *b, const struct guard *g, struct diag *d);
/* guard_startup.c: .argv, from the plan. 0 or -ENOMEM. */
int guard_startup(struct guard_box *b, const struct guard *g);

/* guard_execute.c: what stands between the command and its caller. */
enum run_mode guard_mode(const struct guard *g);
/* Compiles the box, where there is one. */
int guard_box_make(struct guard_box *b, struct guard *g, struct diag *d);
void guard_box_release(struct guard_box *b);
/* Runs what was made, to its end. 0 also when the command failed; -errno with d
 * when it did not run, or the record broke. */
int guard_execute(struct guard *g, struct diag *d);
/* The steps around the run: right before the command starts, and when its tree is
 * empty. A part that watches over the run adds its two functions to the table. */
int guard_before(struct guard *g, struct diag *d);
int guard_after(struct guard *g, struct diag *d);

/* guard_sink.c: what is recorded while the command runs; the log is open, if it
 * ever is. */
struct run_sink guard_sink(struct guard *g);

/* guard_protect.c: looks at the protected names before the command runs, where
 * programs run that could change them; when its tree is empty, puts back and
 * tells what changed. -errno with d. */
int guard_protect_begin(struct guard *g, struct diag *d);
int guard_protect_check(struct guard *g, struct diag *d);
/* Did a person say yes to a change of protected names? */
bool guard_protect_allowed(const struct guard *g);

/* guard_tell.c: what was denied while the command runs is recorded, kept for
 * `policy why`, and told once. program is what it was called by. */
void guard_deny(struct guard *g, const char *event, pid_t pid,
	const char *program, const struct guard_question *what,
	enum guard_answer answer);
/* A command that failed named a file that its sandbox does not let it use. */
void guard_tell_outside(struct guard *g);
/* Was that denial told? In a shell that is kept open one after a pause is told
 * again. Of a great many kinds the oldest are forgotten. */
bool guard_told_already(struct guard *g, const char *program, const char *rule);
/* Does it have the terminal? What is typed while something else has it is not for
 * the guard. */
bool guard_in_front(pid_t pid);
/* Of a great many each that doubles their number counts: to be denied, or to
 * start, over and over must not push out of the log what was there before. */
bool guard_each(uint64_t count, bool *many);
/* guard_undo.c: whether what the command changes is saved, and where to. */
int guard_undo_plan(struct guard_box *b, const struct guard *g, struct diag *d);
/* The journal around the command's life. */
int guard_undo_begin(struct guard *g, struct diag *d);
int guard_undo_end(struct guard *g, struct diag *d);
int guard_undo_before(void *ctx, const struct watch_write *x);

/* guard_watch.c: judges every program that the tree starts. */
int guard_watch(void *ctx, const struct watch_event *ev);
/* Tells and records that it changed no metadata of what is not its own. */
void guard_watch_change(void *ctx, const struct watch_object *o);

/* guard_told.c: makes the directory of what the session's commands may know, .told,
 * and lets the command read it. */
int guard_told_grant(struct guard_box *b, const struct guard_place *p);
/* A denial, for `policy why`; a program, or the command itself. */
void guard_told_denial(struct guard *g, const struct guard_question *what,
	bool program, const struct diag *said);
/* The policy, once a command asks for it. */
void guard_told_policy(struct guard *g, const struct watch_event *ev);

/* guard_signal.c: does a command of the session still have something running? */
bool guard_signals(const struct guard *g);
/* A signal for that is sent here; see watch_signal. */
int guard_signal(void *ctx, pid_t to, int sig);

/* guard_net_events.c: records and tells what came on the link. */
void guard_net_events(void *ctx);
/* When the tree is empty: what is left to be recorded. */
int guard_net_end(struct guard *g, struct diag *d);

/* guard_git.c: does its environment tell the git that is about to start what the
 * policy allows no line to tell it? Then why. */
bool guard_git_denies(const struct guard *g, const struct watch_event *ev,
	const char *cwd, struct policy_verdict *v);

#endif
