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

/* The place of a command: everything about where it runs, found once. Texts are
 * "" when unknown. */
struct guard_place {
	uid_t uid;
	bool inside;     /* this process runs in a guarded tree, as the kernel
			  * says */
	bool real;       /* cwd is the kernel's own name for it */
	bool no_project; /* root is tmp, or POLICY_NOWHERE */
	bool whole;      /* root is "/": an image is built */
	/* The user's directory below the state base; 0: not looked for yet,
	 * negative: there is none. */
	int own;
	const char *home, *cwd, *root;
	const char *base;  /* the state base */
	const char *cgroups; /* for session_where; NULL: not read yet */
	/* The directory that keeps what commands leave: opened as own is, and
	 * its base. */
	int lay;
	const char *lay_base;
	const char *at;    /* directories of the user's own, where others share
			    * theirs */
	int at_dir;        /* the same, opened as own is */
	const char *tmp;   /* at/tmp: the user's place for temporary files */
	const char *cache; /* where the user's caches lie */
	const char *around; /* inside: the TMPDIR that the guard around gave;
			     * NULL: not inside */
	/* Names of the directories that a view gives the command for its own,
	 * and where these lie. */
	const char *own_name[POLICY_PLACES + 1], *own_from[POLICY_PLACES];
	size_t own_count;
	const char *own_home; /* HOME for a user who has none; NULL: the user
			       * has one */
	const struct br_hash_class_ *sha; /* fastest; NULL: portable */
	struct arena texts; /* holds the names above, and the box's texts */
};
#define GUARD_PLACE_INIT                                                   \
	((struct guard_place){.home = "", .cwd = "", .root = "", .base = "",   \
		.at = "", .tmp = "", .cache = "",                              \
		.texts = ARENA_INIT(32 * PATH_MAX)})

/* The terms: the policy, and what it says about this place. */
struct guard_terms {
	struct policy *policy;
	enum policy_profile profile;
	struct policy_grants grants;
	const char *user_file; /* the user's own layer; "" for none */
	struct diag remark;    /* what the policy's owner should know */
};
#define GUARD_TERMS_INIT ((struct guard_terms){.user_file = ""})

/* The record of a command. */
struct guard_entry {
	bool on;    /* the log is open */
	bool fresh; /* the session was made for this command */
	bool shares_net; /* the session was asked for by its id, or by a file of
			  * it */
	const char *path; /* path of the log; "" when unknown */
	uint64_t seen[RUN_STREAMS]; /* bytes of output shown to the log */
	struct audit_log log;
	struct audit_exec exec;
};
#define GUARD_ENTRY_INIT                                                   \
	((struct guard_entry){.path = "", .log = AUDIT_LOG_INIT})

/* The box: what the command is put into. */
struct guard_box {
	bool brief;  /* only the shell's own commands: no program starts */
	bool opens;  /* a brief line that may open a file by its name */
	bool masked; /* mask holds the caller's signal mask */
	bool stays;  /* background programs live on */
	struct arena *texts; /* the arena of guard_place */
	size_t keep_count, carved_count;
	size_t cache_vars; /* so many variables at the end of env name caches */
	char *const *argv; /* what is executed: the command's argv, or
			    * own_argv */
	char **own_argv;
	char rc_words[2][12]; /* the words that own_argv has in front */
	const char *told; /* directory in which the guard tells the command;
			   * NULL */
	const char *shared; /* the first of the machine's own directories that
			     * are granted for the lack of a view; NULL */
	struct env env;
	struct net_link link; /* to the keeper of the session's network */
	struct sandbox_join join;
	struct sandbox_plan plan;
	struct sandbox sandbox;
	struct proc_limits limits; /* the caller's limits, before they were
				    * raised */
	sigset_t mask;
	const char *carved[64]; /* paths of the plan that belong to the guard */
	const char *places[10]; /* where the guard's own files lie: plan.own */
	int undo_store; /* directory of the journal; 0: nothing is saved */
	const char *undo_why; /* why undo cannot be had, although the policy
			       * wants it */
	bool undo_on;
	int keep[1024]; /* descriptors of the caller's that the command gets */
};

/* A question that is put while a program waits for the answer. */
enum { GUARD_KEY = 72 };
struct guard_asking {
	bool on;
	enum guard_answer answer;
	uint64_t id;    /* of the waiting call */
	uint64_t until; /* monotonic time */
	const struct guard_answerer *who;
	char key[GUARD_KEY]; /* the question: rule, directory, words */
	/* The call to which yes was said, for each program that it names: a
	 * script, its interpreter, and so on. */
	uint64_t yes_id;
	unsigned yes_count;
	char yes[6][GUARD_KEY];
};

/* What the command did on the network. */
struct guard_net {
	bool used;       /* a connection was reported since the last flush */
	uint64_t opened, count; /* connections opened; of them ended, in
				 * count */
	uint64_t waiting;  /* connections that no record has yet */
	uint64_t up, down; /* bytes of those connections */
	struct net_event last;
	struct net_spec *said; /* what the policy says, once it was asked */
	unsigned next;
	struct {
		uint32_t inode;
		char program[16];
	} seen[32];
};

/* What the guard learns of the command's tree while it runs. */
struct guard_tree {
	pid_t refused;     /* the last process that got an answer: not asked
			    * again, */
	enum guard_answer refusal; /* and that answer */
	struct guard_asking asking;
	pid_t called, caller; /* this process when it started, and its parent */
	bool lives; /* the command has ended and left programs running */
	struct session_live live;
	bool protect_free; /* a person said yes to a change of protected names */
	bool policy_told;  /* guard_told_policy() has told it */
	uint64_t denials;  /* of programs that the tree started */
	uint64_t starts;   /* programs that the shell of an open line started */
	uint64_t reverts;  /* of them and below, those that are taken back by
			    * more than the journal */
	struct guard_undo *undo; /* NULL: nothing is journaled */
	uint64_t put_back; /* changes of protected names that were put back */
	struct guard_net net;
	struct protect *protect; /* NULL: nothing is compared */
	struct protect_spec protect_spec;
	const char *own_places[2]; /* directories in which the guard itself
				    * writes */
	struct guard_said {
		uint64_t sum;  /* of program and rule */
		uint64_t last; /* when it was last denied; 0: never */
	} said[32];
};

/* The way of one command. */
struct guard {
	const struct guard_command *command;
	const struct guard_caller *caller;
	const struct guard_io *io;
	const struct guard_carry *carry; /* empty where the request has none */
	struct guard_outcome *out;
	struct guard_tree tree;
	struct guard_place place;
	struct guard_terms terms;
	struct guard_entry entry;
	struct guard_box box; /* last, because it is the largest */
};

/* Copies text into the arena. */
int guard_keep(struct arena *texts, const char **where, const char *text);

/* guard_place.c: finds the directory, the user, and the guard around. */
int guard_place_find(struct guard_place *p, const struct guard_caller *who,
	struct diag *d);
void guard_place_release(struct guard_place *p);
#define autoplace autoclean(guard_place_release)
/* Opens the state base and reads the caller's groups, once. Returns what sessions
 * are looked for by. */
struct session_where guard_place_base(struct guard_place *p, struct diag *d);
/* Finds the project of the workspace, else of cwd: sets .root, or .no_project.
 * If command (NULL: none) is a line, the directory that it goes to first
 * counts, too. */
int guard_place_project(struct guard_place *p, const struct policy *policy,
	const char *workspace, const struct guard_command *command,
	struct diag *d);
/* Opens a directory of the user's below the 0700 directory at in, making it if
 * need be. If the command changed its mode, which it may, the mode is set
 * back. */
int guard_place_dir(const struct guard_place *p, int in, const char *name,
	struct diag *d);

/* guard_own.c: makes the private place for temporary files and fills .at and .tmp,
 * once; "" stays where there is no state base. guard_own_find makes and names the
 * directories that a view of mounts shows as the command's own, guard_own_grant
 * puts them into the plan. */
int guard_place_tmp(struct guard_place *p);
int guard_own_find(struct guard_place *p, const struct policy_grants *grants);
int guard_own_grant(struct guard_box *b, const struct guard *g);
/* Covers the rest of the machine, in a plan with a view that has all its
 * grants. Where no socket of others is shown, local sockets are free. */
int guard_own_cover(struct guard_box *b, const struct guard_place *p);
/* guard_prune.c: removes the neighbours of keep in the directory dir: those
 * that are also called at-* and were not used for ten days. */
void guard_prune(int dir, const char *keep);
/* Is that the name of a directory of the command's own? */
bool guard_owns(const struct guard_place *p, const char *name);
/* guard_home.c: the path of the guarded user's own home; NULL: no memory. */
const char *guard_home_name(struct guard_place *p);
/* Makes that home, with copies of the person's files. 0 or -errno. */
int guard_home_make(const struct guard_place *p, const struct policy_words *files);
/* Does that home have copies of what lies at, or in, the person's path? */
bool guard_home_has(const struct guard *g, const char *path);
/* Where the policy or HOME uses another name than the real one, makes that name
 * lead to the real one in the command's own directory, too. */
int guard_home_link(
	const struct guard_place *p, const char *name, const char *real);

/* guard_terms.c: loads policy, profile and project; guard_terms_load also loads
 * the grants. */
int guard_terms_policy(struct guard_terms *t, struct guard_place *p,
	const struct guard_caller *who, const struct guard_command *command,
	struct diag *d);
int guard_terms_load(struct guard_terms *t, struct guard_place *p,
	const struct guard_caller *who, const struct guard_command *command,
	struct diag *d);
void guard_terms_release(struct guard_terms *t);
#define autoterms autoclean(guard_terms_release)

/* guard_entry.c: opens the log. 0 with .on false when root's policy relaxed it
 * by name. */
int guard_entry_open(struct guard_entry *e, struct guard_place *p,
	const struct guard_terms *t, const struct guard_caller *who,
	struct diag *d);
void guard_entry_release(struct guard_entry *e);
#define autoentry autoclean(guard_entry_release)
/* Finds or makes the session, to out->session; a new session is recorded. */
int guard_entry_session(struct guard *g, struct diag *d);
/* Records of a command: its denial, its start, its end. */
int guard_entry_denial(struct guard *g, struct diag *d);
int guard_entry_start(struct guard *g, struct diag *d);
int guard_entry_relaxed(struct guard *g, struct diag *d);
/* Records that the machine's /tmp is shared, where the policy shares it and
 * there is no view. */
int guard_entry_shared(struct guard *g, struct diag *d);
/* Records a script that came on a pipe, because it exists nowhere else. */
int guard_entry_script(struct guard *g, struct diag *d);
int guard_entry_end(struct guard *g, struct diag *d);
/* Records an event of the command, where there is a log. */
void guard_entry_event(struct guard *g, const char *event,
	const struct audit_fact *facts, size_t n);

/* guard_env.c: keeps the variables of from that the policy keeps; of variables
 * that were asked for by name, all that the policy does not deny. left gets the
 * names of the others, as many as GUARD_ENV_LEFT bytes hold. */
enum { GUARD_ENV_LEFT = 2000 };
int guard_env_keep(const struct guard *g, char *const *from, bool by_name,
	struct env *kept, struct buf *left);
/* guard_env.c: makes the command's environment from the grants; with places
 * also the directories that it names. */
int guard_env_make(struct guard_box *b, struct guard *g, bool places,
	struct diag *d);
/* Takes the view out of the environment and the plan, because there is none
 * after all. */
int guard_env_without(struct guard_box *b, struct guard *g);
/* guard_sink.c: may the command's background programs live on? And what the run
 * needs for that. */
bool guard_stays(const struct guard *g);
/* Notes that the session is in use, because an unused session ends. */
void guard_live_use(struct guard *g);
void guard_live_sink(struct run_sink *sink);
/* For the process that goes on beside the supervisor after a fork: leaves all
 * that both have to the supervisor. A lock of the log is shared by a fork, so
 * the log is opened anew. */
int guard_live_leave(struct guard *g);

/* guard_judge.c: the policy's verdict of the command, before it runs. Pure. */
void guard_decide(const struct guard *g, struct policy_verdict *v);
/* Decides and, where the policy asks a person, waits for the answer. 0: may
 * run; else the denial is recorded and d says why. */
int guard_judge(struct guard *g, struct diag *d);

/* The subject of a question: the request's own text or program, or a program
 * that its shell was told to run. */
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
/* The same for a program that starts, by the id of its call: GUARD_WAITS while
 * there is no answer, then the answer, once. */
enum guard_answer guard_ask_later(
	struct guard *g, const struct guard_question *what, uint64_t id);
/* For the loop while a program waits: a descriptor to poll, or -1; the time
 * until the next look, in ms, or -1; the look itself, which has the answered
 * calls judged anew. */
int guard_ask_fd(const struct guard *g);
int guard_ask_timeout(const struct guard *g);
void guard_ask_look(struct guard *g);
/* The person stopped the command: the answer is no. */
void guard_ask_stop(struct guard *g);
/* Ends the questions, because the command is over. */
void guard_ask_end(struct guard *g);
/* guard_explain.c: what the caller of a denied command can do, by its verdict.
 * Pure. */
void guard_advise(const struct policy_verdict *v, struct buf *out);
/* Says why a command does not run; of a question, by which answer. */
void guard_explain(const struct guard *g, const struct policy_verdict *v,
	enum guard_answer answer, struct diag *d);
/* "no" "nobody" "timeout" "never" …, for the record. */
const char *guard_answer_name(enum guard_answer answer);
/* guard_approve.c: keeps and finds a person's "always" for this session. */
void guard_question_key(const struct guard *g,
	const struct guard_question *what, char key[static GUARD_KEY]);
bool guard_approved(const struct guard *g, const struct guard_question *what);
void guard_approve(const struct guard *g, const struct guard_question *what);
/* Says in the verdict how a question that was put elsewhere ended without a
 * yes. */
void guard_unanswered(struct policy_verdict *v, int answer);

/* guard_plan.c: the command's sandbox, from the grants. */
int guard_box_plan(
	struct guard_box *b, const struct guard *g, struct diag *d);
/* guard_net.c: the network that the command may have on this machine;
 * guard_net_join() joins the part that it shares with other commands of its
 * session, when the box is made. */
enum sandbox_net guard_net_of(
	const struct guard_box *b, const struct guard *g);
int guard_net_join(struct guard_box *b, struct guard *g, struct diag *d);
/* Would the policy have let the command speak to it, did it not only observe? */
bool guard_net_would(struct guard *g, const char *name, uint16_t port);
/* Records that hosts by name are of the second tier, or cannot be had. */
int guard_net_begin(struct guard *g, struct diag *d);
/* Is the command allowed only on an own loopback of the session, and there is
 * none? Then d says why. planned: the plan is made. */
bool guard_net_denies(const struct guard *g, bool planned,
	struct policy_verdict *v);

/* guard_carve.c: takes what the command must not have out of a plan that has
 * its grants. */
int guard_carve(struct guard_box *b, const struct guard *g, struct diag *d);

/* guard_execute.c: what stands between the command and its caller (enum
 * run_mode). */
enum run_mode guard_mode(const struct guard *g);
/* Compiles the box, unless the command is not confined. */
int guard_box_make(struct guard_box *b, struct guard *g, struct diag *d);
void guard_box_release(struct guard_box *b);
/* Runs the command to its end. 0 also when the command failed; -errno with d
 * when it did not run, or the record broke. */
int guard_execute(struct guard *g, struct diag *d);
/* The steps around the run: right before the command starts, and when its tree
 * is empty. A part that watches over the run adds its two functions to the
 * table. */
int guard_before(struct guard *g, struct diag *d);
int guard_after(struct guard *g, struct diag *d);

/* guard_sink.c: the callbacks that record while the command runs; the log need
 * not be open yet. */
struct run_sink guard_sink(struct guard *g);

/* guard_protect.c: looks at the protected names before the command runs, if it
 * starts programs that could change them; when its tree is empty, puts changes
 * back and tells of them. -errno with d. */
int guard_protect_begin(struct guard *g, struct diag *d);
int guard_protect_check(struct guard *g, struct diag *d);
/* Did a person say yes to a change of protected names? */
bool guard_protect_allowed(const struct guard *g);

/* guard_tell.c: records what was denied while the command runs, keeps it for
 * `policy why`, and tells it once. program is the name that was called. */
void guard_deny(struct guard *g, const char *event, pid_t pid,
	const char *program, const struct guard_question *what,
	enum guard_answer answer);
/* Tells of a file that a failed command named and its sandbox does not let it
 * use. */
void guard_tell_outside(struct guard *g);
/* Was that denial told already? A shell that is kept open is told again after a
 * pause. Of very many kinds the oldest are forgotten. */
bool guard_told_already(struct guard *g, const char *program, const char *rule);
/* Does the process have the terminal? Keys that are typed for another program
 * are not for the guard. */
bool guard_in_front(pid_t pid);
/* Should event number count be recorded? Of very many events only those that
 * double their number are, because a flood must not push older records out of
 * the log. */
bool guard_each(uint64_t count, bool *many);
/* guard_undo.c: decides whether the command's changes are saved, and where
 * to. */
int guard_undo_plan(struct guard_box *b, const struct guard *g, struct diag *d);
/* How the command is taken back, as known before it runs or, with ended, after. */
enum { GUARD_STRATEGY = POLICY_REVERT + 128 };
const char *guard_undo_strategy(
	const struct guard *g, bool ended, char out[static GUARD_STRATEGY]);
/* Records the same of a program that it is about to start. */
void guard_undo_starts(struct guard *g, const struct policy_verdict *v);
/* Begins and ends the journal, around the command's life. */
int guard_undo_begin(struct guard *g, struct diag *d);
int guard_undo_end(struct guard *g, struct diag *d);
int guard_undo_before(void *ctx, const struct watch_write *x);

/* guard_watch.c: judges every program that the tree starts. */
int guard_watch(void *ctx, const struct watch_event *ev);
/* Tells and records that a change of metadata was refused, because the object
 * is not the command's. */
void guard_watch_change(void *ctx, const struct watch_object *o);

/* guard_told.c: makes the directory .told, in which the session's commands can
 * read about their guard, and grants it. */
int guard_told_grant(struct guard_box *b, const struct guard_place *p);
/* Keeps a denial for `policy why`: of a program, or of the command itself. */
void guard_told_denial(struct guard *g, const struct guard_question *what,
	bool program, const struct diag *said);
/* Writes the policy there, once a command asks for it. */
void guard_told_policy(struct guard *g, const struct watch_event *ev);

/* guard_watch.c: does a command of the session still have something running? */
bool guard_signals(const struct guard *g);
/* A signal for that is sent here; see watch_signal. */
int guard_signal(void *ctx, pid_t to, int sig);

/* guard_net_events.c: records and tells the events that came on the link. */
void guard_net_events(void *ctx);
/* Records what is left, when the tree is empty. */
int guard_net_end(struct guard *g, struct diag *d);

/* guard_protect.c: does the environment tell a git that is about to start what the
 * policy allows no line to tell it? Then why says what. */
bool guard_git_denies(const struct guard *g, const struct watch_event *ev,
	const char *cwd, struct policy_verdict *v);

#endif
