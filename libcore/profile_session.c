/* profile_session.c - a shell asked for its environment, version and opinion
 * SPDX-License-Identifier: MIT
 */
#include "profile_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env.h"
#include "file.h"
#include "num.h"
#include "path.h"
#include "str.h"

enum {
	ANSWER_MAX = 1 << 20,
	NOISE_MAX = 4096,
	VERSION_NS = 5 * 1000 * 1000,
};

/* No environment ends so: an empty string, and a word without '='. */
static const char mark[] = "\0profile-answer";

const char *profile_probe_name(enum profile_probe_status status)
{
	static const char names[][10] = {
		"ok", "timeout", "no-answer", "failed"};

	return names[status];
}

void profile_probe_release(struct profile_probe *probe)
{
	buf_release(&probe->env);
	buf_release(&probe->noise);
}

int profile_answer(const char *path, char *const *env)
{
	autobuf struct buf out = BUF_INIT(ANSWER_MAX);
	autofd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	env_dump(env, &out);
	buf_add(&out, mark, sizeof mark - 1);
	return out.err ? out.err : file_write_all(fd, out.data, out.len);
}

/* The environment sshd or login would give, and nothing of ours. */
static int shell_env(const struct profile_shell *s, struct env *e)
{
	int err = env_set(e, "HOME", s->home);

	if (!err)
		err = env_set(e, "USER", s->user);
	if (!err)
		err = env_set(e, "LOGNAME", s->user);
	if (!err)
		err = env_set(e, "SHELL", s->path);
	if (!err)
		err = env_set(e, "TERM", "dumb");
	if (!err)
		err = env_set(e, "PATH", s->term_path);
	if (!err && s->remote)
		err = env_set(e, "SSH_CLIENT", "127.0.0.1 1 22");
	if (!err && s->remote)
		err = env_set(e, "SSH_CONNECTION", "127.0.0.1 1 127.0.0.1 22");
	return err;
}

/* tcsh takes no command with -l or as "-tcsh": it reads it from stdin. */
static int text_fd(const char *text, size_t n)
{
	autofd int fd = memfd_create("profile", MFD_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = file_write_all(fd, text, n);
	if (!err && lseek(fd, 0, SEEK_SET) < 0)
		err = -errno;
	return err ? err : fd_steal(&fd);
}

/* The words that start the shell as the session would. */
struct probe_words {
	char name[64], command[128];
	char interactive[3], take_command[3];
	char *argv[5];
	bool feed; /* the command comes by stdin */
};

static void make_words(struct probe_words *w, const struct profile_shell *shell,
	unsigned session, int answer)
{
	bool login = session & SESSION_LOGIN;
	bool interactive =
		session & (SESSION_LOGIN_INTERACTIVE | SESSION_INTERACTIVE);
	struct buf n = BUF_FIXED(w->name), c = BUF_FIXED(w->command);
	int at = 1, pid = (int)getpid();

	buf_addf(&n, "%s%s", login ? "-" : "", path_base(shell->path));
	buf_str(&n);
	buf_addf(&c, "/proc/%d/exe profile @answer /proc/%d/fd/%d\n", pid, pid,
		answer);
	buf_str(&c);
	str_copy(w->interactive, sizeof w->interactive, "-i");
	str_copy(w->take_command, sizeof w->take_command, "-c");
	w->argv[0] = w->name;
	w->feed = shellkind_family(shell->kind) == FAMILY_CSH && login;
	if (interactive && !w->feed)
		w->argv[at++] = w->interactive;
	if (!w->feed) {
		w->argv[at++] = w->take_command;
		w->argv[at++] = w->command;
	}
}

static int run_probe(const struct profile_shell *shell,
	const struct probe_words *words, int answer,
	struct profile_probe *probe, struct profile_ran *ran)
{
	autoenv struct env env = ENV_INIT;
	autofd int in = -1;
	struct profile_run run = {.path = shell->path,
		.argv = words->argv,
		.cwd = shell->home,
		.keep = -1,
		.timeout = shell->timeout,
		.answer_fd = answer,
		.answer = &probe->env,
		.mark = mark,
		.mark_len = sizeof mark - 1};
	int err = shell_env(shell, &env);

	if (err)
		return err;
	if (words->feed)
		in = text_fd(words->command, strlen(words->command));
	run.in = in;
	run.env = env.vec;
	return profile_run(&run, &probe->noise, ran);
}

int profile_probe(const struct profile_shell *shell, unsigned session,
	struct profile_probe *probe)
{
	struct probe_words words = {.feed = false};
	autofd int answer = -1;
	autofd int write_end = -1;
	struct profile_ran ran;
	int ends[2], err;

	*probe = (struct profile_probe){.status = PROBE_FAILED,
		.env = BUF_INIT(ANSWER_MAX),
		.noise = BUF_INIT(NOISE_MAX)};
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	answer = ends[0];
	write_end = ends[1];
	make_words(&words, shell, session, write_end);
	err = run_probe(shell, &words, answer, probe, &ran);
	if (err)
		return err;
	probe->ms = ran.ms;
	probe->status = ran.answered    ? PROBE_OK
			: ran.timed_out ? PROBE_TIMEOUT
					: PROBE_NO_ANSWER;
	if (ran.answered)
		probe->env.len -= sizeof mark - 1;
	return 0;
}

int profile_shell_find(const char *name, char *out, size_t size)
{
	static const char dirs[][16] = {
		"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"};

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		if (path_join(out, size, dirs[i], name) == 0 &&
			access(out, X_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

static bool version_char(char c)
{
	return c > ' ' && c < 0x7f && !strchr("(),'\"", c);
}

/* The first word of text that has a digit and a dot, or starts with a digit
 * behind an 'R' (mksh). */
static int pick_version(const char *text, char *out, size_t size)
{
	while (*text) {
		size_t n = 0;
		bool dot = false, first;

		while (text[n] && version_char(text[n])) {
			dot |= n && text[n] == '.';
			n++;
		}
		first = chr_digit(text[0]) ||
			((text[0] == 'v' || text[0] == 'R') &&
				chr_digit(text[1]));
		if (n && n < size && first && (dot || text[0] == 'R')) {
			bool v = text[0] == 'v';

			memcpy(out, text + v, n - v);
			out[n - v] = '\0';
			return 0;
		}
		text += n;
		text += *text != '\0';
	}
	return -ENOENT;
}

int profile_shell_version(
	const struct profile_shell *shell, char *out, size_t size)
{
	char name[64], version[] = "--version", no_rc[] = "-f";
	char command_flag[] = "-c", ksh[] = "echo $KSH_VERSION";
	char help[] = "--help";
	struct buf n = BUF_FIXED(name);
	char *argv[4] = {name, version};
	autobuf struct buf said = BUF_INIT(4096);
	autoenv struct env env = ENV_INIT;
	struct profile_run run = {.path = shell->path,
		.argv = argv,
		.in = -1,
		.keep = -1,
		.with_stderr = true,
		.answer_fd = -1,
		.timeout = (uint64_t)VERSION_NS * 1000};
	struct profile_ran ran;
	int err;

	buf_adds(&n, path_base(shell->path));
	buf_str(&n);
	if (shell->kind == SHELL_DASH || shell->kind == SHELL_SH)
		return -ENOENT;
	if (shell->kind == SHELL_ZSH) {
		argv[1] = no_rc;
		argv[2] = version;
	} else if (shell->kind == SHELL_MKSH || shell->kind == SHELL_KSH) {
		argv[1] = command_flag;
		argv[2] = ksh;
	} else if (shell->kind == SHELL_ASH) {
		argv[1] = help;
	}
	err = env_set(&env, "PATH", "/usr/bin:/bin");
	if (err)
		return err;
	run.env = env.vec;
	err = profile_run(&run, &said, &ran);
	return err ? err : pick_version(buf_str(&said), out, size);
}

struct syntax_way {
	const char *name;    /* of the program */
	const char *argv[4]; /* behind the name */
};

static const struct syntax_way ways[SHELL_KINDS] = {
	[SHELL_SH] = {"sh", {"-n"}},
	[SHELL_DASH] = {"dash", {"-n"}},
	[SHELL_ASH] = {"busybox", {"ash", "-n"}},
	/* Files that switch extglob on first would look broken without it. */
	[SHELL_BASH] = {"bash", {"--norc", "-O", "extglob", "-n"}},
	[SHELL_ZSH] = {"zsh", {"-f", "-n"}},
	[SHELL_MKSH] = {"mksh", {"-n"}},
	[SHELL_KSH] = {"ksh", {"-n"}},
	[SHELL_FISH] = {"fish", {"--no-config", "-n"}},
	[SHELL_TCSH] = {"tcsh", {"-f", "-n"}},
	[SHELL_CSH] = {"csh", {"-f", "-n"}},
};

/* The line a shell names: "line 3:", ": 3:", "[3]:", "(line 3)". */
static unsigned said_line(const char *said)
{
	const char *at = str_find(said, "line ");
	char digits[12];
	size_t n = 0;
	unsigned line;

	at = at ? at + 5 : said;
	while (*at) {
		n = 0;
		while (chr_digit(at[n]))
			n++;
		/* A number that ends in ':' or ')' or ']', not one of a path.
		 */
		if (n && n < sizeof digits && strchr(":)],", at[n]) &&
			(at == said || strchr(" [(:", at[-1]))) {
			memcpy(digits, at, n);
			digits[n] = '\0';
			if (num_uint(digits, 1, 1u << 30, &line) == 0)
				return line;
		}
		at += n ? n : 1;
	}
	return 0;
}

static int syntax_run(const char *path, const struct syntax_way *way, int fd,
	struct buf *said, struct profile_ran *ran)
{
	char words[4][16], name[64], file[32];
	char *argv[8] = {name};
	struct buf n = BUF_FIXED(name), f = BUF_FIXED(file);
	autoenv struct env env = ENV_INIT;
	struct profile_run run = {.path = path,
		.argv = argv,
		.in = -1,
		.keep = fd,
		.with_stderr = true,
		.answer_fd = -1,
		.timeout = (uint64_t)VERSION_NS * 1000};
	size_t at = 1;
	int err;

	buf_adds(&n, way->name);
	buf_str(&n);
	for (size_t i = 0; i < 4 && way->argv[i]; i++) {
		str_copy(words[i], sizeof words[i], way->argv[i]);
		argv[at++] = words[i];
	}
	buf_addf(&f, "/proc/self/fd/%d", fd);
	buf_str(&f);
	argv[at] = file;
	err = env_set(&env, "PATH", "/usr/bin:/bin");
	if (!err)
		err = env_set(&env, "HOME", "/nonexistent");
	run.env = env.vec;
	return err ? err : profile_run(&run, said, ran);
}

int profile_syntax(enum shell_kind kind, const char *path, const char *text,
	size_t n, struct diag *d)
{
	const struct syntax_way *way = &ways[kind];
	autobuf struct buf said = BUF_INIT(4096);
	char place[64];
	struct profile_ran ran;
	autofd int fd = -1;
	const char *first;
	int err;

	if (!way->name)
		return -ENOENT;
	if (!path) {
		if (profile_shell_find(way->name, place, sizeof place))
			return -ENOENT;
		path = place;
	}
	fd = text_fd(text, n);
	if (fd < 0)
		return fd;
	err = syntax_run(path, way, fd, &said, &ran);
	if (err)
		return err;
	if (ran.timed_out)
		return -ETIMEDOUT;
	if (WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == 0)
		return 0;
	first = buf_str(&said);
	said.len = strcspn(first, "\n");
	diag_fail(d, -EBADMSG, "%s", *first ? buf_str(&said) : "syntax error");
	diag_at(d, "", said_line(buf_str(&said)), 0);
	return 1;
}
