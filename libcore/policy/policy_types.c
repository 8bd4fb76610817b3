/* policy_types.c - what may stand where a word of some type stands
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy/policy_args_in.h"
#include "base/str.h"

bool args_schema(struct scan *s, unsigned level, const char *name)
{
	uint32_t found = s->img ? img_schema_find(s->img, name) : 0;

	if (!found)
		return false;
	s->schema[level] = found;
	s->style |= img_cell(s->img, s->schema[level]);
	if (level == 0)
		s->name = name;
	return true;
}

static void git_key(struct scan *s, const struct arg *v)
{
	size_t n = strcspn(v->s, "=");
	const char *key = judge_text(s->k->j, v->s, n);

	if (!judge_granted(s->k->j, LIST_GIT_SAFE_KEYS, key) &&
		!judge_granted(s->k->j, LIST_GIT_SAFE_KEYS, v->s))
		judge_raise(s->k, POLICY_DENY, "git-config",
			"the setting %s may run a program",
			judge_show(s->k->j, key));
}

/* host:path, user@host:path, scheme://; but "ext::sh -c x" runs x. */
static void url(struct scan *s, const struct arg *v)
{
	const char *colon = strchr(v->s, ':'), *slash = strchr(v->s, '/');
	const char *why = NULL;

	if (colon && colon[1] == ':' && (!slash || colon < slash))
		why = "names a transport helper that runs programs";
	else if (v->s[0] == '-' || str_find(v->s, "://-"))
		why = "would be read as an option of ssh";
	if (why) {
		judge_raise(s->k, POLICY_DENY, "transport", "%s %s",
			judge_show(s->k->j, v->s), why);
		return;
	}
	if (str_after(v->s, "file://")) {
		struct arg path = *v;

		path.s += 7;
		judge_path(s->k, &path, PATH_READ);
		return;
	}
	if (!colon || (slash && slash < colon))
		judge_path(s->k, v, PATH_READ);
}

static void prop(struct scan *s, const struct arg *v)
{
	const char *eq = strchr(v->s, '=');
	struct arg value = *v;

	if (eq)
		value.s = eq + 1;
	judge_path_guess(s->k, &value);
}

/* /host:/in/it, name:/in/it */
static void volume(struct scan *s, const struct arg *v)
{
	struct arg host = *v;

	host.s = judge_text(s->k->j, v->s, strcspn(v->s, ":"));
	if (strchr("/.~" SHELL_REL_S SHELL_ANY_S, host.s[0]))
		judge_path(s->k, &host, PATH_WRITE);
}

static void not_known(struct scan *s, const struct arg *v, const char *what)
{
	judge_raise(s->k, s->k->j->set[IMG_P_DYNAMIC], "dynamic",
		"%s is not known before it runs: %s", what,
		judge_show(s->k->j, v->s));
}

/* Code of another language: what it starts is decided then. */
static void other_code(struct scan *s, const struct arg *v)
{
	judge_raise(s->k, s->k->j->set[IMG_P_OPAQUE], "code",
		"%s runs code: %s", s->argv[0].s, judge_show(s->k->j, v->s));
}

static void runs(struct scan *s, enum img_type type, const struct arg *v)
{
	struct judge_cmd *k = s->k;

	if (type == IMG_T_CODE) {
		other_code(s, v);
		return;
	}
	if (v->unknown) {
		not_known(s, v, "what it runs");
		return;
	}
	/* Backslashes and ${} mean something else there: "\\_" is a blank. */
	if (type == IMG_T_SPLIT && strpbrk(v->s, "\\$#"))
		judge_raise(k, k->j->set[IMG_P_DYNAMIC], "dynamic",
			"the words have escapes: %s", judge_show(k->j, v->s));
	if (type == IMG_T_SH || type == IMG_T_SPLIT) {
		judge_sh(k, v, NULL, 0, SHELL_UNION);
	} else {
		struct arg *argv = arena_new(k->j->arena, struct arg);

		if (!argv)
			return;
		*argv = *v;
		judge_argv(k, argv, 1);
	}
}

/* A file of code: what comes through a pipe is not seen. */
static void script(struct scan *s, const struct arg *v)
{
	if (judge_is_stdin(v->s))
		judge_stdin_code(s->k, false);
	else if (str_after(v->s, "data:"))
		other_code(s, v);
	else if (str_after(v->s, "/dev/fd/") || str_after(v->s, "/proc/"))
		judge_input(s->k, s->k->j->set[IMG_P_DYNAMIC],
			"%s reads code from a pipe", s->argv[0].s);
	else
		judge_path(s->k, v, PATH_READ);
}

static void path(struct scan *s, enum img_type type, const struct arg *v)
{
	if (str_eq(v->s, "-") && type != IMG_T_CPATH)
		return;
	/* strace -o '|command', psql -o '|command' */
	if (*v->s == '|' || (s->style & IMG_S_WRAPPER && *v->s == '!'))
		judge_raise(s->k, s->k->j->set[IMG_P_DYNAMIC], "wrapper",
			"%s would run it: %s", s->argv[0].s,
			judge_show(s->k->j, v->s));
	judge_path(s->k, v, type == IMG_T_WPATH ? PATH_WRITE : PATH_READ);
	if (type == IMG_T_CPATH)
		judge_raise(s->k, POLICY_CONFIRM, "place",
			"works in another place: %s",
			judge_show(s->k->j, v->s));
}

static void presence(struct scan *s, enum img_type type, const char *name)
{
	unsigned d = POLICY_DENY;
	const char *why = "is not allowed";

	if (type == IMG_T_ASK) {
		d = POLICY_CONFIRM;
		why = "has an effect that is worth a question";
	} else if (type == IMG_T_EXEC) {
		d = s->k->j->set[IMG_P_DYNAMIC];
		why = "runs a program of its own choice";
	}
	judge_raise(s->k, d, type == IMG_T_EXEC ? "helper" : "option",
		"%s %s %s",
		s->prog->name ? s->prog->name : s->argv[0].s, name, why);
}

void args_value(struct scan *s, enum img_type type, const struct arg *value,
	const char *name)
{
	switch ((int)type) {
	case IMG_T_EXEC:
	case IMG_T_DENY:
	case IMG_T_ASK:
		presence(s, type, name);
		return;
	case IMG_T_DATA:
		s->out->query = true;
		return;
	default:
		break;
	}
	if (!value)
		return;
	switch ((int)type) {
	case IMG_T_GITKEY:
		git_key(s, value);
		break;
	case IMG_T_URL:
		url(s, value);
		break;
	case IMG_T_PROP:
		prop(s, value);
		break;
	case IMG_T_SUB: /* dotnet x.dll */
		if (strchr(value->s, '/') || str_eq(value->s, ".."))
			judge_path_guess(s->k, value);
		break;
	case IMG_T_VOL:
		volume(s, value);
		break;
	case IMG_T_ASSIGN:
		args_assign(s, value);
		break;
	case IMG_T_NAME:
		judge_setenv(s->k, value->s, NULL, true);
		break;
	case IMG_T_REPL:
		s->replace = *value->s ? value->s : "{}";
		break;
	case IMG_T_PLACE:
		/* tar unpacks there */
		judge_path(s->k, value,
			s->style & IMG_S_BUNDLE ? PATH_WRITE : PATH_READ);
		s->k->cwd = args_within(s->k, value);
		s->placed = s->out->operands;
		break;
	case IMG_T_PATH:
	case IMG_T_WPATH:
	case IMG_T_CPATH:
	case IMG_T_LINK:
		path(s, type, value);
		break;
	case IMG_T_SCRIPT:
		script(s, value);
		break;
	case IMG_T_SH:
	case IMG_T_SPLIT:
	case IMG_T_CODE:
	case IMG_T_PROG:
		runs(s, type, value);
		break;
	default:
		break;
	}
}

void args_unknown(struct scan *s, const struct arg *a, const char *letter)
{
	const char *eq = strchr(a->s, '=');

	/* Alone, they are answered, and nothing runs. */
	if (s->style & IMG_S_STRICT &&
		!(s->argc == 2 && (str_eq(a->s, "--help") ||
					  str_eq(a->s, "--version"))))
		judge_raise(s->k, s->k->j->set[IMG_P_DYNAMIC], "option",
			"unknown option %s of the wrapper %s",
			judge_show(s->k->j, a->s), s->argv[0].s);
	if (a->s[0] == '/' && !strchr(a->s + 1, '/')) {
		/* msbuild /t:Build */
	} else if (a->s[0] == '/' &&
		   strcspn(a->s, ":=") < strcspn(a->s + 1, "/")) {
		struct arg value = *a;

		value.s += strcspn(a->s, ":=") + 1;
		judge_path_guess(s->k, &value);
	} else if ((!letter || letter == a->s + 1) &&
		   strpbrk(a->s, "/." SHELL_ANY_S)) {
		judge_path_guess(s->k, a);
	}
	s->unknown_before = !eq && (!letter || !letter[1]);
}

void args_assign(struct scan *s, const struct arg *a)
{
	struct judge *j = s->k->j;
	size_t n = strcspn(a->s, "=");
	const char *name = judge_text(j, a->s, n);
	struct shell_str *text;
	struct shell_set *one;

	if (strpbrk(name, SHELL_REL_S SHELL_ANY_S)) {
		not_known(s, a, "a variable's name");
		return;
	}
	text = arena_new(j->arena, struct shell_str);
	if (text)
		*text = (struct shell_str){a->s + n + (a->s[n] == '='), 0};
	if (text)
		text->n = strlen(text->p);
	judge_setenv(s->k, name, text, false);
	if (!s->env)
		s->env =
			arena_zalloc(j->arena, (s->argc + 1) * sizeof(*s->env));
	if (!s->env || !text || s->nenv > s->argc)
		return;
	one = &s->env[s->nenv++];
	one->name = (struct shell_str){name, n};
	one->value = (struct shell_val){.text = *text};
	if (a->rel)
		one->value.kind = SHELL_BOUNDED;
	if (a->unknown)
		one->value.kind = SHELL_UNKNOWN;
}
