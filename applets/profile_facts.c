/* profile_facts.c - what the user's shell does when it starts
 * SPDX-License-Identifier: MIT
 */
#include "profile_facts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "applet.h"
#include "base/path.h"
#include "profile/rc_path.h"
#include "base/str.h"

enum { SLOW_MS = 1000 };

void profile_facts_release(struct profile_facts *f)
{
	for (unsigned i = 0; i < SESSIONS; i++)
		free(f->session[i].path);
	free(f->remote.path);
}

bool profile_path_next(const char *path, size_t *at, char *dir, size_t size)
{
	const char *entry;
	size_t n = path ? strlen(path) : 0, len;

	while (path && rc_entry(path, n, at, &entry, &len)) {
		if (len >= size)
			continue;
		memcpy(dir, entry, len);
		dir[len] = '\0';
		return true;
	}
	return false;
}

bool profile_path_lists(const char *path, const char *dir)
{
	char entry[1024];
	size_t at = 0;

	while (profile_path_next(path, &at, entry, sizeof entry)) {
		if (rc_same_dir(entry, strlen(entry), dir))
			return true;
	}
	return false;
}

/* The variable's value in NUL-ended strings. */
static char *value_in(const struct buf *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t at = 0; at < env->len;) {
		const char *one = env->data + at;
		size_t len = strnlen(one, env->len - at);

		if (len > n && one[n] == '=' && memcmp(one, name, n) == 0)
			return strndup(one + n + 1, len - n - 1);
		at += len + 1;
	}
	return NULL;
}

static void probe_session(struct profile_session *s, unsigned index,
	const struct profile_shell *shell)
{
	struct profile_probe probe;
	int err = profile_probe(shell, 1u << index, &probe);

	s->probed = true;
	s->status = err ? PROBE_FAILED : probe.status;
	s->ms = probe.ms;
	if (s->status == PROBE_OK)
		s->path = value_in(&probe.env, "PATH");
	s->noise_len = probe.noise.len;
	if (probe.noise.len >= sizeof s->noise)
		probe.noise.len = sizeof s->noise - 1;
	if (probe.noise.len)
		memcpy(s->noise, probe.noise.data, probe.noise.len);
	s->noise[probe.noise.len] = '\0';
	/* tcsh's own two lines where there is no terminal. */
	if (str_after(s->noise, "Warning: no access to tty")) {
		const char *rest =
			memmem(s->noise, probe.noise.len, "shell.\n", 7);

		s->noise_len = rest && rest[7] ? s->noise_len : 0;
	}
	profile_probe_release(&probe);
}

static void find_program(struct profile_facts *f, const struct profile_who *who)
{
	const char *name =
		who->kind == SHELL_ASH ? "ash" : shellkind_name(who->kind);

	if (who->shell[0] && access(who->shell, X_OK) == 0)
		str_copy(f->program, sizeof f->program, who->shell);
	else
		profile_shell_find(name, f->program, sizeof f->program);
}

/* The file a login reads, and the one an interactive shell reads: those that
 * exist, else those that would be made. */
static void name_files(struct profile_facts *f, const struct profile_who *who)
{
	autofree struct profile_files *t = profile_alloc(sizeof *t);
	const struct profile_files *files = &f->files;

	for (size_t i = 0; i < files->count; i++) {
		const struct profile_file *file = &files->file[i];

		if (file->system || str_ends(file->path, ".d") ||
			(file->sessions & SESSION_COMMAND &&
				who->kind == SHELL_ZSH))
			continue;
		if (file->sessions & SESSION_LOGIN && file->exists &&
			!f->login_profile[0])
			str_copy(f->login_profile, sizeof f->login_profile,
				file->path);
		if (file->sessions & SESSION_INTERACTIVE)
			str_copy(f->rc_file, sizeof f->rc_file, file->path);
	}
	if (!f->login_profile[0] &&
		profile_targets_user(t, who->kind, SCOPE_LOGIN, "default",
			&who->place) == 0 &&
		t->count)
		str_copy(f->login_profile, sizeof f->login_profile,
			t->file[0].path);
	if (who->kind == SHELL_FISH && files->count)
		str_copy(f->login_profile, sizeof f->login_profile, f->rc_file);
	if (!f->rc_file[0])
		str_copy(f->rc_file, sizeof f->rc_file, f->login_profile);
}

/* Does every session have all of the user's own directories the others have? */
static bool sessions_agree(const struct profile_facts *f, const char *home)
{
	for (unsigned i = 0; i < SESSIONS; i++) {
		const char *path = f->session[i].path;
		char dir[1024];
		size_t at = 0;

		if (!(1u << i & (SESSION_LOGIN | SESSION_INTERACTIVE)))
			continue;
		if (!path || !*path)
			return false;
		while (profile_path_next(path, &at, dir, sizeof dir)) {
			if (dir[0] != '/')
				return false;
			if (path_beneath(home, dir) &&
				(!profile_path_lists(f->session[0].path, dir) ||
					!profile_path_lists(
						f->session[2].path, dir)))
				return false;
		}
	}
	return true;
}

/* A silent shell may mean that no answer could come through at all, from a
 * sandbox without /proc: a shell that reads no file is asked, to tell. */
static bool channel_works(
	struct profile_facts *f, const struct profile_shell *shell)
{
	struct profile_shell plain = *shell;
	struct profile_session control = {.probed = false};
	bool works = false;

	for (unsigned i = 0; i < SESSIONS; i++)
		works |= f->session[i].status == PROBE_OK;
	if (works)
		return true;
	plain.kind = SHELL_SH;
	plain.path = "/bin/sh";
	plain.remote = false;
	probe_session(&control, SESSIONS - 1, &plain);
	works = control.status == PROBE_OK;
	free(control.path);
	for (unsigned i = 0; i < SESSIONS && !works; i++)
		f->session[i].probed = false;
	return works;
}

void profile_facts_find(struct profile_facts *f, const struct profile_who *who,
	const struct profile_opts *o)
{
	struct profile_shell shell = {.kind = who->kind,
		.home = who->home,
		.user = who->name,
		.term_path = "/usr/local/bin:/usr/bin:/bin",
		.timeout = o->timeout};

	memset(f, 0, sizeof *f);
	if (shellkind_writable(who->kind)) {
		profile_files_list(&f->files, who->kind, &who->place);
		name_files(f, who);
	}
	find_program(f, who);
	shell.path = f->program;
	if (o->no_exec || !f->program[0] || !shellkind_writable(who->kind))
		return;
	profile_shell_version(&shell, f->version, sizeof f->version);
	for (unsigned i = 0; i < SESSIONS; i++)
		probe_session(&f->session[i], i, &shell);
	if (who->kind == SHELL_BASH) {
		shell.remote = true;
		probe_session(&f->remote, SESSIONS - 1, &shell);
	}
	if (!channel_works(f, &shell))
		return;
	f->probed = true;
	f->healthy = sessions_agree(f, who->home);
}

static void session_json(
	struct json *j, const struct profile_facts *f, unsigned i)
{
	const struct profile_session *s = &f->session[i];
	const char *entry;
	size_t at = 0, len;

	json_key(j, profile_session_name(i));
	json_putf(j, "{ files [");
	for (size_t k = 0; k < f->files.count; k++) {
		if (f->files.file[k].exists &&
			(f->files.file[k].sessions >> i & 1))
			json_str(j, f->files.file[k].path);
	}
	json_close(j);
	if (s->path) {
		json_put_open(j, "path", '[');
		while (rc_entry(s->path, strlen(s->path), &at, &entry, &len))
			json_strn(j, entry, len);
		json_close(j);
	} else {
		json_null(json_key(j, "path"));
	}
	json_putf(j, "ms %ju status %s }", (uintmax_t)s->ms,
		s->probed ? profile_probe_name(s->status) : "not-probed");
}

/* Stands in the shell's record, and beside it for who looks there. */
static void json_health(struct json *j, const struct profile_facts *f)
{
	if (f->probed)
		json_put_bool(j, "path_healthy", f->healthy);
	else
		json_null(json_key(j, "path_healthy"));
	json_put_str(j, "path_login", f->session[0].path);
	json_put_str(j, "path_nonlogin", f->session[2].path);
}

void profile_facts_json(struct json *j, const struct profile_facts *f,
	const struct profile_who *who)
{
	json_putf(j,
		"shell { type %s path %s version %s source %s current %s "
		"login_profile %s rc_file %s restricted %d user %s home %s",
		shellkind_name(who->kind),
		f->program[0] ? f->program : who->shell, f->version,
		who->source, who->current, f->login_profile, f->rc_file,
		who->restricted, who->name, who->home);
	json_health(j, f);
	json_putf(j, "} sessions {");
	for (unsigned i = 0; i < SESSIONS; i++)
		session_json(j, f, i);
	json_close(j);
	json_health(j, f);
}

static void judge_status(const struct profile_session *s, const char *name,
	const char *file, struct profile_problems *p)
{
	if (s->status == PROBE_TIMEOUT)
		profile_problem_add(p, PROBLEM_TIMEOUT, SEVERITY_ERROR, file, 0,
			"%s: not ready after %u ms\036"
			"look for a command that waits; --timeout gives "
			"it longer",
			name, s->ms);
	else if (s->status == PROBE_NO_ANSWER)
		profile_problem_add(p, PROBLEM_NO_ANSWER, SEVERITY_ERROR, file,
			0,
			"%s: ended without running a command\036"
			"look for exit, exec, or a '.' of a missing "
			"file",
			name);
	else if (s->status == PROBE_OK && s->ms > SLOW_MS)
		profile_problem_add(p, PROBLEM_SLOW, SEVERITY_WARNING, file, 0,
			"%s: took %u ms to start\036"
			"time the files' lines; start agents and "
			"version managers on demand",
			name, s->ms);
}

static void judge_noise(const struct profile_session *s, const char *name,
	const char *file, struct profile_problems *p)
{
	autobuf struct buf shown = BUF_INIT(1024);

	cli_escape(&shown, s->noise, strcspn(s->noise, "\n"));
	profile_problem_add(p, PROBLEM_OUTPUT_NOISE, SEVERITY_WARNING, file, 0,
		"%s: prints \"%s\" (%zu bytes)\036"
		"print only when interactive: case $- in *i*) … ;; esac",
		name, buf_str(&shown), s->noise_len);
}

/* Entries that a login has in another order, or has lost. */
static void judge_order(
	const struct profile_facts *f, struct profile_problems *p)
{
	const char *login = f->session[0].path, *other = f->session[2].path;
	autobuf struct buf lost = BUF_INIT(4096);
	char dir[1024];
	size_t at = 0;

	if (!login || !other || str_eq(login, other))
		return;
	while (profile_path_next(other, &at, dir, sizeof dir)) {
		if (*dir && !profile_path_lists(login, dir))
			buf_addf(&lost, " %s", dir);
	}
	profile_problem_add(p, PROBLEM_ORDER_DIFFERS, SEVERITY_INFO, "", 0,
		"login and other shells differ in PATH%s%s\036"
		"set PATH in the login file and have it read the other "
		"one",
		lost.len ? "; a login lacks" : " (order only)", buf_str(&lost));
}

void profile_facts_judge(const struct profile_facts *f,
	const struct profile_who *who, struct profile_problems *problems)
{
	bool said = false;

	(void)who;
	for (unsigned i = 0; i < SESSIONS; i++) {
		const struct profile_session *s = &f->session[i];
		const char *file =
			1u << i & SESSION_LOGIN ? f->login_profile : f->rc_file;

		if (!s->probed)
			continue;
		judge_status(s, profile_session_name(i), file, problems);
		/* An interactive shell may greet. */
		if (s->noise_len && !said &&
			(1u << i & (SESSION_LOGIN_COMMAND | SESSION_COMMAND))) {
			judge_noise(s, profile_session_name(i), file, problems);
			said = true;
		}
	}
	if (!said && f->remote.noise_len)
		judge_noise(&f->remote, "ssh command", f->rc_file, problems);
	judge_order(f, problems);
}
