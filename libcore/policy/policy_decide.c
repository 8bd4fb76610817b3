/* policy_decide.c - the engine's two fronts: a shell line, an execve
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "policy/policy_judge_in.h"
#include "sys/env.h"
#include "sys/file.h"

bool judge_spent(struct judge *j)
{
	size_t cost = j->work + j->arena->used / JUDGE_BYTES;

	if (j->walk)
		cost += shell_walk_steps(j->walk);
	j->spent |= cost > j->most;
	return j->spent;
}

/* Is the walk over? Nothing can make the verdict stricter, or nobody wants the
 * rest. */
static int heard_enough(struct judge *j)
{
	return judge_spent(j) || (j->worst.rule[0] && !j->each &&
					 j->worst.would == POLICY_DENY);
}

/* A pattern, or text that may be one, lists directories. */
static void note_glob(struct judge_cmd *k, const struct arg *a)
{
	const char *cwd = judge_cwd(k);

	if (!a->glob && !(a->many && a->unknown))
		return;
	k->j->is |= POLICY_IS_OPENING;
	if (a->unknown || a->s[0] == '/' || str_find(a->s, "..") ||
		strchr(cwd, SHELL_ANY) || !path_beneath(k->j->root, cwd))
		k->j->is |= POLICY_IS_STRAYING;
}

static int on_command(
	void *ctx, struct shell_walk *w, const struct shell_cmd *cmd)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, cmd->span);
	struct arg *argv;

	j->walk = w;
	if (cmd->resolve == SHELL_IS_FUNCTION)
		return heard_enough(j);
	k.cmd = cmd;
	k.cwd = cmd->cwd;
	argv = arena_zalloc(j->arena, (cmd->argc + 1) * sizeof *argv);
	for (size_t i = 0; argv && i < cmd->argc; i++) {
		const struct shell_val *v = &cmd->argv[i];

		argv[i] = judge_arg(j, v->text.p, v->text.n);
		argv[i].many = v->many;
		argv[i].glob = v->glob;
		note_glob(&k, &argv[i]);
	}
	if (!argv || j->arena->failed)
		judge_raise(&k, POLICY_OPEN, "limit",
			"the command is too large to be judged");
	else
		judge_argv(&k, argv, cmd->argc);
	judge_end(&k);
	return heard_enough(j);
}

static int on_set(void *ctx, struct shell_walk *w, const struct shell_set *s)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, s->span);
	const char *name = judge_text(j, s->name.p, s->name.n);

	j->walk = w;
	str_copy(k.v.command, sizeof(k.v.command), name);
	judge_setenv(&k, name, shell_val_text(&s->value), s->unset);
	judge_end(&k);
	return heard_enough(j);
}

static int on_open(void *ctx, struct shell_walk *w, const struct shell_open *o,
	const struct shell_val *cwd)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, o->span);

	j->walk = w;
	k.open = o;
	k.cwd = cwd;
	judge_path_val(&k, &o->path, o->writes ? PATH_WRITE : PATH_READ);
	judge_end(&k);
	return heard_enough(j);
}

static int on_chdir(void *ctx, struct shell_walk *w,
	const struct shell_val *target, struct shell_span span)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, span);

	j->walk = w;
	memcpy(k.v.command, "cd", 3);
	k.cwd = target;
	judge_path_val(&k, target, PATH_PLACE);
	judge_end(&k);
	return heard_enough(j);
}

/* In the order of enum shell_risk. */
static const char risk_rules[] =
	"dynamic\0dynamic\0source\0alias\0dynamic\0hidden-code\0name\0"
	"limit\0unparsable\0dialect\0";

static int on_risk(void *ctx, struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, span);
	const char *piece = judge_text(j, what.p, what.n > 60 ? 60 : what.n);

	j->walk = w;
	str_copy(k.v.command, sizeof(k.v.command), judge_show(j, piece));
	judge_raise(&k, POLICY_OPEN, str_nth(risk_rules, risk), "%s%s%s",
		shell_risk_text(risk), *piece ? ": " : "",
		judge_show(j, piece));
	judge_end(&k);
	return heard_enough(j);
}

const struct shell_walk_ops judge_walk_ops = {
	.command = on_command,
	.set = on_set,
	.open = on_open,
	.chdir = on_chdir,
	.risk = on_risk,
	.getvar = judge_getvar,
};

/* Takes the profile's settings, which each lower layer tightens. Without a
 * system layer, and for settings that it leaves out: deny. */
static void take_settings(struct judge *j)
{
	static const unsigned decisions =
		1U << IMG_P_UNKNOWN | 1U << IMG_P_CHILD | 1U << IMG_P_OPEN;
	struct img_profile p;

	j->set[IMG_P_UNKNOWN] = j->set[IMG_P_CHILD] = POLICY_DENY;
	j->set[IMG_P_OPEN] = POLICY_OPEN;
	for (unsigned l = 0; l < POLICY_LAYERS; l++) {
		if (!j->p->layer[l])
			continue;
		if (l == POLICY_LAYER_SYSTEM && j->observe) {
			img_get(j->p->layer[l], IMG_PROFILE, POLICY_OBSERVE,
				&p);
			j->profile = (enum policy_profile)p.v[IMG_P_AS];
		}
		img_get(j->p->layer[l], IMG_PROFILE, j->profile, &p);
		for (unsigned i = 0; i <= IMG_P_OPEN; i++) {
			bool stricter = decisions & 1U << i
						? p.v[i] > j->set[i]
						: p.v[i] < j->set[i];

			if (p.v[IMG_P_SET] & 1U << i &&
				(l == POLICY_LAYER_SYSTEM || stricter))
				j->set[i] = (uint8_t)p.v[i];
		}
	}
}

/* The network of every command of the profile. */
static enum policy_net profile_net(const struct judge *j)
{
	enum policy_net net = POLICY_NET_ALL;
	struct img_profile p;

	for (unsigned l = 0; l < POLICY_LAYERS; l++) {
		if (!j->p->layer[l])
			continue;
		img_get(j->p->layer[l], IMG_PROFILE, j->profile, &p);
		if (p.v[IMG_P_SET] & 1U << IMG_P_NET && p.v[IMG_P_NET] < net)
			net = (enum policy_net)p.v[IMG_P_NET];
	}
	return net;
}

static bool is_exec_dir(void *ctx, const char *dir)
{
	struct judge *j = ctx;

	return judge_exec_dir(j, judge_text(j, dir, strlen(dir)));
}

/* The PATH of the command: the entries of env's PATH that it keeps, else the
 * policy's own PATH. */
static const char *search_path(struct judge *j)
{
	const struct policy_image *sys = j->p->layer[POLICY_LAYER_SYSTEM];
	const char *path = j->env ? env_get(j->env, "PATH") : NULL;
	struct img_range r = img_set(sys, IMG_SET_ENV_SET);
	autobuf struct buf kept = BUF_INIT(JUDGE_ARENA);

	policy_search(&kept, path, j->root, is_exec_dir, j);
	if (kept.len)
		return judge_text(j, buf_str(&kept), kept.len);
	for (uint32_t i = 0; i < r.count; i++) {
		const char *v = str_after(img_ref(sys, r, i), "PATH=");

		if (v)
			path = v;
	}
	if (path && str_find(path, "$HOME")) {
		autobuf struct buf b = BUF_INIT(JUDGE_ARENA);

		policy_fill_home(&b, path, j->home);
		path = judge_text(j, buf_str(&b), b.len);
	}
	return path ? path : "/usr/bin:/bin";
}

/* An unknown home: a name that is not beneath the root. */
static const char no_home[] = "/HOME?";

static void judge_start(struct judge *j, struct arena *a,
	const struct policy *p, const struct policy_request *req)
{
	*j = (struct judge){.p = p,
		.arena = a,
		.profile = req->profile,
		.observe = req->profile == POLICY_OBSERVE,
		.root = req->root,
		.tmp = req->tmp,
		.places = req->places,
		.own = req->own,
		.no_project = req->no_project,
		.home = req->home && *req->home ? req->home : no_home,
		.cwd = req->cwd,
		.env = req->env,
		.depth = req->depth,
		.starts = req->starts};
	take_settings(j);
	j->search = search_path(j);
}

/* Decides what can be decided without a look at the words. True when that is
 * final. */
static bool decide_closed(struct judge *j, struct shell_span span)
{
	struct judge_cmd k = judge_begin(j, span);
	unsigned depth = j->depth;

	j->depth = 0;
	if (j->p->state == POLICY_BROKEN && !j->p->why.line)
		judge_raise(&k, POLICY_DENY, "policy-broken",
			"the policy is broken: %s", j->p->why.text);
	else if (j->p->state == POLICY_BROKEN)
		judge_raise(&k, POLICY_DENY, "policy-broken",
			"the policy is broken: %s:%u: %s", j->p->why.file,
			j->p->why.line, j->p->why.text);
	else if (!j->set[IMG_P_SHELL])
		judge_raise(&k, POLICY_DENY, "profile",
			"nothing runs in profile %s",
			policy_profile_name(j->profile));
	judge_end(&k);
	j->depth = depth;
	return k.judged;
}

/* The network that code of the project can have unasked: the profile's, and where
 * programs of any name start unasked the registries', as whatever stands in a line
 * beside what installs packages has these. */
static enum policy_net ordinary_net(struct judge *j)
{
	const enum policy_net net = profile_net(j);

	return net == POLICY_NET_LOCAL && !judge_is_source(j, j->guided) &&
			       j->set[IMG_P_UNKNOWN] == POLICY_ALLOW
		? POLICY_NET_REGISTRIES
		: net;
}

/* A variable that puts the project's code into a program is ordinary, unless
 * the program has more network than the profile. */
static void ask_guided(struct judge *j, size_t len)
{
	struct judge_cmd k =
		judge_begin(j, (struct shell_span){0, (uint32_t)len});

	if (!j->guided || j->worst.net <= ordinary_net(j))
		return;
	judge_raise(&k, POLICY_CONFIRM, "env",
		"%s puts code into a program that has the network",
		judge_show(j, j->guided));
	judge_end(&k);
}

static enum shell_dialect shell_dialect_of(enum policy_dialect d)
{
	switch (d) {
	case POLICY_SH_POSIX:
		return SHELL_POSIX;
	case POLICY_SH_ASH:
		return SHELL_ASH;
	case POLICY_SH_BASH:
		return SHELL_BASH;
	case POLICY_SH_UNION:
		break;
	}
	return SHELL_UNION;
}

static void open_unparsable(
	struct judge *j, size_t len, int rc, const struct diag *d)
{
	struct judge_cmd k =
		judge_begin(j, (struct shell_span){0, (uint32_t)len});

	judge_raise(&k, POLICY_OPEN,
		rc == -E2BIG ? "limit" : "unparsable", "%s", d->text[0] ? d->text : "the line cannot be read");
	if (d->col)
		k.v.offset = 0;
	judge_end(&k);
}

static const struct shell_val *positional_args(
	struct judge *j, char *const *args, size_t *n)
{
	struct shell_val *v;
	size_t count = 0;

	while (args && args[count])
		count++;
	*n = count;
	v = arena_zalloc(j->arena, (count + 1) * sizeof(*v));
	for (size_t i = 0; v && i < count; i++) {
		v[i].text = (struct shell_str){args[i], strlen(args[i])};
		if (strpbrk(args[i], JUDGE_MARKS))
			v[i] = (struct shell_val){.kind = SHELL_UNKNOWN,
				.text = SHELL_STR(SHELL_ANY_S)};
	}
	return count ? v : NULL;
}

void policy_decide_line(const struct policy *p,
	const struct policy_request *req, struct policy_verdict *v,
	policy_each *each, void *ctx)
{
	autoarena struct arena a = ARENA_INIT(JUDGE_ARENA);
	struct shell_walk_opts opts = {.cwd = req->cwd};
	struct diag d = {0};
	struct judge j;
	int rc;

	judge_start(&j, &a, p, req);
	j.each = each;
	j.ctx = ctx;
	/* A caller that wants each command listed has no limit on time. */
	j.most = each ? UINT_MAX : JUDGE_WORK;
	j.dialect = opts.dialect = shell_dialect_of(req->dialect);
	if (!decide_closed(&j, (struct shell_span){0, (uint32_t)req->len})) {
		opts.args = positional_args(&j, req->args, &opts.nargs);
		rc = shell_walk(&a, req->text, req->len, &opts, &judge_walk_ops,
			&j, &d);
		if (j.spent || a.failed)
			rc = diag_fail(&d, -E2BIG,
				"the command is too large to be judged");
		if (rc < 0)
			open_unparsable(&j, req->len, rc, &d);
		ask_guided(&j, req->len);
	}
	*v = j.worst;
	memcpy(v->revert, j.revert, sizeof v->revert);
	v->is |= j.is;
	if (!v->rule[0]) {
		memcpy(v->rule, "empty", 6);
		memcpy(v->reason, "nothing that needs a decision", 30);
		v->is |= POLICY_IS_SHELL;
	}
}

/* The name by which the file was called, if argv[0] is another name: argv[0] is
 * only the caller's word. NULL where both are the same, or the file does the
 * same under any name. */
static const char *other_name(struct judge_cmd *k, const struct policy_request *req)
{
	const char *named = req->named ? req->named : req->path;
	const char *called = path_base(req->argv[0]);

	if (!*named || str_after(named, "/proc/") ||
		str_after(named, "/dev/fd/"))
		named = req->path;
	/* A shim runs NAME.real: see strip_real(). */
	if (str_ends(named, ".real"))
		named = judge_text(k->j, named, strlen(named) - 5);
	if (str_eq(path_base(named), called + (called[0] == '-')) ||
		str_eq(path_base(req->path), "wardbox") ||
		judge_is_multi(k, path_base(req->path)))
		return NULL;
	return named;
}

/* Judges the program by each of its names, because it may do what any of them
 * says. */
static void judge_names(struct judge_cmd *k, struct arg *argv, size_t n,
	const struct policy_request *req)
{
	const char *named = other_name(k, req);

	if (*req->argv[0] || !named)
		judge_argv(k, argv, n);
	if (!named)
		return;
	argv[0].s = named;
	judge_argv(k, argv, n);
}

void policy_decide_exec(const struct policy *p, const struct policy_request *req,
	struct policy_verdict *v)
{
	autoarena struct arena a = ARENA_INIT(JUDGE_ARENA);
	struct shell_val cwd = {.text = {req->cwd, strlen(req->cwd)}};
	struct judge j;
	struct judge_cmd k = judge_begin(&j, (struct shell_span){0});
	struct arg *argv;
	size_t n = 0;

	judge_start(&j, &a, p, req);
	/* The number of operands is limited by the kernel; code in them has its
	 * own limit. */
	j.most = UINT_MAX;
	j.blind = !req->env;
	j.dialect = SHELL_UNION;
	if (!decide_closed(&j, (struct shell_span){0})) {
		while (req->argv[n])
			n++;
		argv = arena_zalloc(&a, (n + 1) * sizeof(*argv));
		for (size_t i = 0; argv && i < n; i++)
			argv[i].s = req->argv[i];
		for (size_t i = 0; i < n; i++)
			if (strpbrk(req->argv[i], SHELL_REL_S SHELL_ANY_S))
				judge_raise(&k, POLICY_OPEN,
					"unparsable", "a control character in an argument");
		k.cwd = &cwd;
		k.exe = req->path;
		k.named = req->named;
		if (!argv || n == 0)
			judge_raise(&k, POLICY_DENY, "limit",
				"no arguments, or too many");
		else
			judge_names(&k, argv, n, req);
		judge_end(&k);
	}
	*v = j.worst;
	memcpy(v->revert, j.revert, sizeof v->revert);
}
