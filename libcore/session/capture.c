/* capture.c - what a shell's command leaves behind, brought back as data
 * SPDX-License-Identifier: MIT
 */
#include "session/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/file.h"
#include "base/num.h"
#include "base/path.h"
#include "sys/proc.h"
#include "base/str.h"

static const char magic[] = "wardbox-env 1";

#define CAPTURE_FD_TEXT "200"
_Static_assert(CAPTURE_FD == 200, "the text says so");

const char *const capture_argv[] = {
	"wardbox", "envrun", "--dump=" CAPTURE_FD_TEXT, NULL};

const char *capture_name(enum capture_outcome outcome)
{
	static const char *const names[] = {
		[CAPTURED] = "captured",
		[CAPTURE_NO_DUMP] = "no-dump",
		[CAPTURE_TOO_LARGE] = "too-large",
		[CAPTURE_KILLED] = "killed",
	};

	return names[outcome];
}

void capture_quote(struct buf *out, const char *text)
{
	buf_addc(out, '\'');
	for (;;) {
		size_t n = strcspn(text, "'");

		buf_add(out, text, n);
		if (!text[n])
			break;
		buf_adds(out, "'\\''");
		text += n + 1;
	}
	buf_addc(out, '\'');
}

/* Adds the words of the dump, to be followed by " CODE"; the dump ends with
 * that code. */
static void add_dump(struct buf *out, const char *self)
{
	capture_quote(out, self);
	buf_addf(out, " %s %s", capture_argv[1], capture_argv[2]);
}

/* Adds 'TEXT'$?: the code as a number, in a text that will be read once
 * more. */
static void add_with_code(struct buf *out, struct buf *text)
{
	capture_quote(out, buf_str(text));
	buf_adds(out, "\"$?\"");
	buf_clear(text);
}

/* The text around a command. It uses no variable, which the command could make
 * read-only, and no word that an alias or, behind prefix, a function could
 * replace: codes stand as numbers in what eval reads. The trap catches exit,
 * set -e and set -u, and lets the shell end as it would; the lines behind eval
 * catch the rest, in bash a syntax error, too. The command's own comments,
 * here-documents and open quotes end with eval's string; a line that it leaves
 * open takes the next newline in bash, so there is one more. At the end the
 * shell executes the program that dumps, which saves a process; if it cannot,
 * because the environment may be too large for any program, it goes on. bash
 * must be told so, and runs no trap after that. dash also ends there when the
 * end of a child interrupts it while the exec is being decided: the trap tries
 * again, in a process that no such signal reaches. mksh gets no such exec,
 * because it waits for no child correctly once an exec failed. */
void capture_wrap(struct buf *out, const char *self,
	const struct capture_before *before, bool becomes)
{
	const char *p = before->prefix;
	autobuf struct buf text = BUF_INIT(6 * PATH_MAX + 256);

	/* A failure with the code must be seen neither by set -e nor by an ERR
	 * trap. */
	buf_adds(&text, before->trap_tells ? "" : "! ");
	add_dump(&text, self);
	buf_adds(&text, " \"$?\" 2>&-");
	buf_addf(out, "%strap ", p);
	capture_quote(out, buf_str(&text));
	buf_addf(out, " EXIT\n%seval 'shift\n", p);
	if (before->oldpwd) {
		buf_clear(&text);
		buf_adds(&text, "OLDPWD=");
		capture_quote(&text, before->oldpwd);
		buf_adds(out, "'");
		capture_quote(out, buf_str(&text));
		buf_adds(out, "'\n");
	}
	if (before->code)
		buf_addf(out, "(exit %u)\n", before->code & 255);
	buf_addf(out, "'\"$1\"\n\n%seval ", p);
	buf_clear(&text);
	if (becomes) {
		buf_addf(out,
			"\"${BASH_VERSION+%sshopt -s execfail}${KSH_VERSION+"
			"%strap - EXIT}\"",
			p, p);
		buf_addf(&text, "\n%sexec ", p);
		add_dump(&text, self);
		buf_addc(&text, ' ');
		add_with_code(out, &text);
		buf_adds(&text, " 2>&-\n");
	}
	add_dump(&text, self);
	buf_addc(&text, ' ');
	add_with_code(out, &text);
	buf_addf(&text, " 2>&- || %sexit ", p);
	add_with_code(out, &text);
	/* A shell without exit ends with the last program's code. */
	buf_adds(&text, " 2>&- || ");
	add_dump(&text, self);
	buf_addc(&text, ' ');
	add_with_code(out, &text);
	buf_adds(out, "' 2>&-'\n");
	if (text.err)
		out->err = -ENAMETOOLONG;
}

/* A limit below this number is raised for the moment; the open descriptor
 * stays. */
static int find_place(int fd, struct diag *d)
{
	const size_t needed = CAPTURE_FD + 1;
	struct proc_limits limits = {0};
	size_t allowed = proc_raise(needed, &limits);
	int err = dup2(fd, CAPTURE_FD) < 0 ? -errno : 0;

	proc_lower(&limits);
	if (allowed < needed)
		return diag_fail(d, -EMFILE, "%zu open files are allowed"
			" (ulimit -Hn), and a guarded command needs %zu",
			allowed, needed);
	return err ? diag_errno(d, err, "cannot make a memory file") : 0;
}

int capture_open(struct diag *d)
{
	/* MFD_NOEXEC_SEAL (8) came with 6.3; without it the file is a plain
	 * memory file. */
	int fd = (int)syscall(SYS_memfd_create, "wardbox-env", 8u);
	int err = 0;

	if (fd < 0 && errno == EINVAL)
		fd = (int)syscall(SYS_memfd_create, "wardbox-env", 0u);
	if (fd < 0)
		return diag_errno(d, -errno, "cannot make a memory file");
	if (fd == CAPTURE_FD)
		return 0;
	err = find_place(fd, d);
	close(fd);
	return err;
}

static void begin_reply(struct buf *out, unsigned code, const char *cwd)
{
	buf_addf(out, "%s %u\n", magic, code & 255);
	buf_add(out, cwd, strlen(cwd) + 1);
}

/* A trap may dump a second time: the last complete dump counts. */
static void finish_reply(const struct buf *out)
{
	if (lseek(CAPTURE_FD, 0, SEEK_SET) == 0 && !ftruncate(CAPTURE_FD, 0))
		(void)file_write_all(CAPTURE_FD, out->data, out->len);
}

int capture_dump(const char *code, char *const *env)
{
	autobuf struct buf out = BUF_INIT(CAPTURE_MAX);
	char cwd[PATH_MAX];
	unsigned number;

	if (num_uint(code, 0, INT_MAX, &number))
		return 1;
	number &= 255; /* the code with which the shell will end */
	/* A limit on files must not change the end. */
	signal(SIGXFSZ, SIG_IGN);
	if (path_cwd(cwd, sizeof cwd))
		cwd[0] = '\0';
	begin_reply(&out, number, cwd);
	env_dump(env, &out);
	if (!out.err)
		finish_reply(&out);
	return (int)number;
}

void capture_exec_release(struct capture_exec *x)
{
	cleanup_fd(&x->shell);
}

/* Is the process the shell, or was it before an exec? The environment of a
 * program that an exec replaced cannot be read any more. */
static bool is_shell(struct capture_exec *x, pid_t pid)
{
	char name[32], byte;

	if (x->shell >= 0)
		return pread(x->shell, &byte, 1, 0) == 1;
	x->shell = open(BUF_PRINT(name, "/proc/%d/environ", (int)pid),
		O_RDONLY | O_CLOEXEC);
	return x->shell >= 0;
}

void capture_exec(struct capture_exec *x, const struct watch_event *ev)
{
	autobuf struct buf out = BUF_INIT(CAPTURE_MAX);
	const char *cwd;
	struct stat st;

	if (!is_shell(x, ev->pid))
		return;
	cwd = watch_cwd(ev);
	/* Of a directory that is gone only a former name is known. */
	begin_reply(&out, 0, stat(cwd, &st) == 0 ? cwd : "");
	/* An incomplete environment is too large for a state in any case. */
	if (watch_env(ev, &out) == 0)
		finish_reply(&out);
}

void capture_release(struct capture *c)
{
	env_release(&c->env);
	buf_release(&c->text);
}

/* Reads the head line and the directory; the environment follows. */
static int parse_head(struct capture *c, char **env, size_t *env_len)
{
	char *end = c->text.data + c->text.len;
	char *line = memchr(c->text.data, '\n', c->text.len);
	char *nul;
	size_t n = sizeof magic - 1;

	if (!line || (size_t)(line - c->text.data) < n + 2 ||
		memcmp(c->text.data, magic, n) != 0)
		return -EINVAL;
	*line++ = '\0';
	if (num_uint(c->text.data + n + 1, 0, 255, &c->code))
		return -EINVAL;
	nul = memchr(line, '\0', (size_t)(end - line));
	if (!nul)
		return -EINVAL;
	c->cwd = line;
	*env = nul + 1;
	*env_len = (size_t)(end - *env);
	return 0;
}

static enum capture_outcome parse_capture(
	struct capture *c, size_t env_max, size_t vars_max)
{
	char *env;
	size_t n;
	int err;

	if (parse_head(c, &env, &n))
		return CAPTURE_NO_DUMP;
	if (n > env_max)
		return CAPTURE_TOO_LARGE;
	/* Programs may put strings without '=' there, which are skipped. */
	for (size_t at = 0; at < n;) {
		size_t len = strnlen(env + at, n - at);

		if (at + len == n)
			return CAPTURE_NO_DUMP;
		if (c->env.count >= vars_max)
			return CAPTURE_TOO_LARGE;
		err = env_put(&c->env, env + at);
		if (err && err != -EINVAL)
			return CAPTURE_TOO_LARGE;
		at += len + 1;
	}
	return CAPTURED;
}

enum capture_outcome capture_read(
	struct capture *c, size_t env_max, size_t vars_max)
{
	int err = 0;

	if (lseek(CAPTURE_FD, 0, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		err = buf_read_fd(&c->text, CAPTURE_FD);
	close(CAPTURE_FD);
	if (err == -ENOBUFS)
		return CAPTURE_TOO_LARGE;
	if (err || !c->text.len)
		return CAPTURE_NO_DUMP;
	return parse_capture(c, env_max, vars_max);
}

static bool is_dir(const char *name, const struct stat *dir)
{
	struct stat st;

	return stat(name, &st) == 0 && st.st_dev == dir->st_dev &&
		st.st_ino == dir->st_ino;
}

/* The name of dir, which was cwd: "" when it is gone. */
static void name_dir(const char *cwd, int dir, char *name, size_t size)
{
	struct stat st;

	if (fstat(dir, &st) < 0 || is_dir(cwd, &st))
		str_copy(name, size, cwd);
	else if (path_of_fd(dir, name, size) || !is_dir(name, &st))
		name[0] = '\0';
}

enum capture_outcome capture_given(struct capture *c, const char *cwd, int dir,
	char *const *env, size_t env_max, size_t vars_max)
{
	char name[PATH_MAX];

	name_dir(cwd, dir, name, sizeof name);
	begin_reply(&c->text, 0, name);
	if (env)
		env_dump(env, &c->text);
	return c->text.err ? CAPTURE_TOO_LARGE
			   : parse_capture(c, env_max, vars_max);
}
