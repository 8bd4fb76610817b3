/* profile_session.c - a shell asked for its environment, version and opinion
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/env.h"
#include "sys/file.h"
#include "base/num.h"
#include "base/path.h"
#include "base/str.h"

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

/* The environment that sshd or login would give, without the variables of this
 * process. */
static int shell_env(const struct profile_shell *s, struct env *e)
{
	const char *const pairs[][2] = {{"HOME", s->home}, {"USER", s->user},
		{"LOGNAME", s->user}, {"SHELL", s->path}, {"TERM", "dumb"},
		{"PATH", s->term_path}, {"SSH_CLIENT", "127.0.0.1 1 22"},
		{"SSH_CONNECTION", "127.0.0.1 1 127.0.0.1 22"}};
	int err = 0;

	for (size_t i = 0; !err && i < (s->remote ? 8u : 6u); i++)
		err = env_set(e, pairs[i][0], pairs[i][1]);
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
	int at = 1, pid = (int)getpid();

	BUF_PRINT(w->name, "%s%s", login ? "-" : "", path_base(shell->path));
	BUF_PRINT(w->command, "/proc/%d/exe profile @answer /proc/%d/fd/%d\n", pid, pid,
		answer);
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
	*out = '\0';
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

/* How shells are asked what version they are and, behind the tab, whether a file
 * is right: the words, one space between. bash's files that switch extglob on
 * first would look broken without it. */
static const char askings[] =
	"\t\0\t-n\0\t-n\0--help\tash -n\0--version\t--norc -O extglob -n\0"
	"-f --version\t-f -n\0-c\t-n\0-c\t-n\0--version\t--no-config -n\0"
	"--version\t-f -n\0--version\t-f -n\0--version\t\0--version\t\0"
	"--version\t\0--version\t\0\t\0";
enum { ASKING = 32 };
_Static_assert(SHELL_KINDS == 16, "askings has a line for each");

static void asking_words(enum shell_kind kind, bool syntax,
	char words[static ASKING])
{
	const char *both = str_nth(askings, kind);
	const char *tab = strchr(both, '\t');

	buf_print(words, ASKING, "%.*s",
		syntax ? ASKING : (int)(tab - both), syntax ? tab + 1 : both);
}

/* Runs the program with these words and one more, in a bare environment. */
static int ask_program(const char *path, const char *words, char *last,
	int keep, struct buf *said, struct profile_ran *ran)
{
	char name[64], copy[32];
	char *argv[8] = {name}, *word = copy;
	autoenv struct env env = ENV_INIT;
	struct profile_run run = {.path = path,
		.argv = argv,
		.in = -1,
		.keep = keep,
		.with_stderr = true,
		.answer_fd = -1,
		.timeout = (uint64_t)VERSION_NS * 1000};
	size_t at = 1;
	int err = env_set(&env, "PATH", "/usr/bin:/bin");

	if (!err)
		err = env_set(&env, "HOME", "/nonexistent");
	if (err || str_copy(name, sizeof name, path_base(path)) ||
		str_copy(copy, sizeof copy, words))
		return err ? err : -ENAMETOOLONG;
	while (word && at < 6) {
		argv[at++] = word;
		word = strchr(word, ' ');
		if (word)
			*word++ = '\0';
	}
	argv[at] = last;
	run.env = env.vec;
	return profile_run(&run, said, ran);
}

int profile_shell_version(
	const struct profile_shell *shell, char *out, size_t size)
{
	char words[ASKING];
	autobuf struct buf said = BUF_INIT(4096);
	char ksh[] = "echo $KSH_VERSION";
	struct profile_ran ran;
	int err;

	asking_words(shell->kind, false, words);
	if (!*words)
		return -ENOENT;
	err = ask_program(shell->path, words, words[1] == 'c' ? ksh : NULL, -1,
		&said, &ran);
	return err ? err : pick_version(buf_str(&said), out, size);
}

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

int profile_syntax(enum shell_kind kind, const char *path, const char *text,
	size_t n, struct diag *d)
{
	autobuf struct buf said = BUF_INIT(4096);
	char words[ASKING], place[64], file[32];
	struct profile_ran ran;
	autofd int fd = -1;
	const char *first;
	int err;

	asking_words(kind, true, words);
	if (!*words)
		return -ENOENT;
	if (!path) {
		if (profile_shell_find(kind == SHELL_ASH ? "busybox"
						 : shellkind_name(kind),
			    place, sizeof place))
			return -ENOENT;
		path = place;
	}
	fd = text_fd(text, n);
	if (fd < 0)
		return fd;
	BUF_PRINT(file, "/proc/self/fd/%d", fd);
	err = ask_program(path, words, file, fd, &said, &ran);
	if (err)
		return err;
	if (ran.timed_out)
		return -ETIMEDOUT;
	if (WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == 0)
		return 0;
	said.len = strcspn(buf_str(&said), "\n");
	/* The name of the text is a number under /proc, which tells a person
	 * nothing. */
	first = str_find(buf_str(&said), file);
	first = first ? first + strlen(file) : said.data;
	first += strspn(first, ": ");
	diag_fail(d, -EBADMSG, "%s", *first ? first : "syntax error");
	diag_at(d, "", said_line(buf_str(&said)), 0);
	return 1;
}
