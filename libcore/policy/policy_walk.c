/* policy_walk.c - what the shell walker comes upon, piece by piece
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "sys/file.h"
#include "base/path.h"
#include "policy/policy_judge_in.h"
#include "base/str.h"

bool judge_spent(struct judge *j)
{
	size_t cost = j->work + j->arena->used / JUDGE_BYTES;

	if (j->walk)
		cost += shell_walk_steps(j->walk);
	j->spent |= cost > j->most;
	return j->spent;
}

/* Nothing can make it stricter, and nobody wants to hear the rest. */
static int enough(struct judge *j)
{
	return judge_spent(j) || (j->worst.rule[0] && !j->each &&
					 j->worst.would == POLICY_DENY);
}

/* How many things word i may be. rough: what may vanish is there, perhaps. Any
 * number of words may be none, which moves those behind them. */
static unsigned choices(const struct shell_cmd *cmd, size_t i, bool rough)
{
	const struct shell_val *v = &cmd->argv[i];

	if (rough && v->vanishes && v->n == 2)
		return 1;
	return v->n + (!rough && i && v->many && !v->glob && i + 1 < cmd->argc);
}

static size_t readings(const struct shell_cmd *cmd, bool rough)
{
	size_t n = 1;

	for (size_t i = 0; i < cmd->argc && n <= JUDGE_COMBOS; i++)
		n *= choices(cmd, i, rough);
	return n;
}

/* Reading number n of the words, the one behind the last without any that may be
 * none; *argc: how many are left of them. */
static const struct arg *reading(struct judge *j, const struct shell_cmd *cmd,
	size_t n, bool rough, size_t *argc)
{
	bool last = rough && n == readings(cmd, rough);
	struct arg *argv =
		arena_zalloc(j->arena, (cmd->argc + 1) * sizeof(*argv));

	*argc = 0;
	for (size_t i = 0; argv && i < cmd->argc; i++) {
		const struct shell_val *v = &cmd->argv[i];
		size_t of = choices(cmd, i, rough), which = n % of;
		bool may = of < v->n;
		const struct shell_str *alt;
		struct arg *a = &argv[*argc];

		n /= of;
		if (which == v->n || (last && i && v->many && !v->glob))
			continue;
		alt = may ? &v->alts[!v->alts[0].n] : &v->alts[which];
		if (v->vanishes && !alt->n)
			continue;
		*a = judge_arg(j, alt->p, alt->n);
		a->many = v->many || may;
		a->glob = v->glob;
		++*argc;
	}
	return argv;
}

static int on_command(
	void *ctx, struct shell_walk *w, const struct shell_cmd *cmd)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, cmd->span);
	size_t combos, argc;
	unsigned nested;
	bool rough = false;

	j->walk = w;
	if (cmd->resolve == SHELL_IS_FUNCTION || cmd->argc == 0 ||
		judge_same(j, cmd))
		return enough(j);
	nested = j->nested;
	k.cmd = cmd;
	k.cwd = cmd->cwd;
	combos = readings(cmd, false);
	if (combos > JUDGE_COMBOS) {
		rough = true;
		combos = readings(cmd, true);
	}
	if (combos > JUDGE_COMBOS)
		judge_raise(&k, j->set[IMG_P_UNPARSABLE], "limit",
			"the command has more than %d readings", JUDGE_COMBOS);
	for (size_t n = 0; n < combos + rough && combos <= JUDGE_COMBOS; n++) {
		const struct arg *argv = reading(j, cmd, n, rough, &argc);

		if (j->arena->failed)
			judge_raise(&k, j->set[IMG_P_UNPARSABLE], "limit",
				"the command is too large to be judged");
		else
			judge_argv(&k, argv, argc);
	}
	judge_end(&k);
	if (j->nested == nested)
		judge_same_add(j, cmd);
	return enough(j);
}

static int on_set(void *ctx, struct shell_walk *w, const struct shell_set *s)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, s->span);
	const char *name = judge_text(j, s->name.p, s->name.n);
	const char **same = judge_same_name(j, name, s->unset);

	j->walk = w;
	if (same && *same && str_eq(*same, name))
		return enough(j);
	str_copy(k.v.command, sizeof(k.v.command), name);
	if (judge_setenv(&k, name, shell_val_text(&s->value), s->unset) && same)
		*same = name;
	judge_end(&k);
	return enough(j);
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
	return enough(j);
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
	return enough(j);
}

/* In the order of enum shell_risk. */
static const char risk_rules[] =
	"dynamic\0dynamic\0dynamic\0source\0alias\0ifs\0hidden-code\0"
	"unresolved\0dynamic\0hidden-code\0name\0name\0name\0name\0limit\0"
	"limit\0unparsable\0limit\0";

static int on_risk(void *ctx, struct shell_walk *w, enum shell_risk risk,
	struct shell_str what, struct shell_span span)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, span);
	const char *piece = judge_text(j, what.p, what.n > 60 ? 60 : what.n);
	enum policy_decision d = j->set[IMG_P_DYNAMIC];

	j->walk = w;
	if (risk == SHELL_RISK_ARITH)
		d = j->set[IMG_P_UNRESOLVED];
	if (risk == SHELL_RISK_UNPARSABLE)
		d = j->set[IMG_P_UNPARSABLE];
	str_copy(k.v.command, sizeof(k.v.command), judge_show(j, piece));
	judge_raise(&k, d, str_nth(risk_rules, risk), "%s%s%s",
		shell_risk_text(risk), *piece ? ": " : "",
		judge_show(j, piece));
	if (risk == SHELL_RISK_DYNAMIC)
		judge_alternative(&k, "write out what is to run");
	if (risk == SHELL_RISK_SOURCE)
		judge_alternative(
			&k, "call programs by their paths, as .venv/bin/python");
	judge_end(&k);
	return enough(j);
}

static bool was_written(const struct judge *j, const char *path)
{
	for (unsigned i = 0; i < j->written_count; i++)
		if (str_eq(j->written[i].path, path))
			return true;
	return j->written_all;
}

/* A file that the line may not write stays what it is until it is read. */
static bool read_only(struct judge *j, const struct shell_val *path,
	const struct shell_val *cwd)
{
	struct judge_cmd k = judge_begin(j, path->span);

	k.cwd = cwd;
	judge_path_val(&k, path, PATH_WRITE);
	return k.judged && k.v.would == POLICY_DENY;
}

static int on_source(void *ctx, struct shell_walk *w,
	const struct shell_val *path, const struct shell_val *cwd,
	struct shell_str *text)
{
	struct judge *j = ctx;
	struct judge_cmd k = judge_begin(j, path->span);
	const struct shell_str *name = shell_val_text(path);
	const struct shell_str *dir = shell_val_text(cwd);
	struct buf b = BUF_INIT(64 * 1024);
	struct path_found f;
	int rc;

	j->walk = w;
	k.cwd = cwd;
	judge_path_val(&k, path, PATH_READ);
	judge_end(&k);
	if (!name || !dir || judge_spent(j) ||
		(k.judged && k.v.would == POLICY_DENY))
		return -EACCES;
	f.want = 0;
	judge_resolve(j, judge_text(j, dir->p, dir->n),
		judge_text(j, name->p, name->n), &f);
	if (was_written(j, f.path) ||
		(f.where != FOUND_IN && !read_only(j, path, cwd)))
		return -EACCES;
	j->work += JUDGE_FILE;
	rc = file_read(AT_FDCWD, f.path, &b);
	if (rc == 0) {
		text->p = judge_text(j, b.data ? b.data : "", b.len);
		text->n = b.len;
		if (j->arena->failed)
			rc = -ENOMEM;
	}
	buf_release(&b);
	/* [ -f x ] && . ./x: nothing is there, and nothing has come since. */
	if (rc == -ENOENT && !j->ran && shell_str_has(*name, "/")) {
		*text = SHELL_STR("");
		rc = 0;
	}
	return rc;
}

/* Nothing that the line named so far may have taken it away. */
static bool on_is_dir(void *ctx, const struct shell_val *dir)
{
	struct judge *j = ctx;
	const struct shell_str *s = shell_val_text(dir);
	const struct made_link *made = j->made;
	struct path_found f;

	/* Dry runs ask as well, and nothing ends those by their work. */
	if (!s || !s->n || s->p[0] != '/' || j->moved_all || j->linked ||
		judge_spent(j))
		return false;
	f.want = 0;
	j->made = NULL; /* a copy takes the place of no directory */
	judge_resolve(j, "/", judge_text(j, s->p, s->n), &f);
	j->made = made;
	for (unsigned i = 0; i < j->written_count; i++)
		if (j->written[i].moved &&
			path_beneath(j->written[i].path, f.path))
			return false;
	return f.where == FOUND_IN && !f.missing && judge_enters(j, f.path);
}

const struct shell_walk_ops judge_walk_ops = {
	.command = on_command,
	.set = on_set,
	.open = on_open,
	.chdir = on_chdir,
	.risk = on_risk,
	.source = on_source,
	.getvar = judge_getvar,
	.is_dir = on_is_dir,
};
