/* auto-shebang_init.c - the project's link, and the shell library
 * SPDX-License-Identifier: MIT
 */
#include "auto-shebang.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h> /* renameat */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/capture.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"

static void check_name(const char *name)
{
	const char *rest = str_after(name, "auto-");

	if (!rest || !*rest || strchr(name, '/') || strlen(name) > NAME_MAX)
		cli_die(EXIT_USAGE,
			"'%s' is no name for the link: it must begin with "
			"auto- (auto-python), as the resolver's own names do",
			name);
	if (str_eq(name, "auto-shebang"))
		cli_die(EXIT_USAGE,
			"auto-shebang is the resolver's own name, no script "
			"looks for it; use auto-python and the like");
}

/* The first usable one in PATH; its relative directories are passed over, as
 * the link would depend on where it was made. */
static bool look_up(const char *command, char *out, size_t size)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t n = strcspn(path, ":");
		struct buf b = {.data = out, .cap = size, .max = size - 1};

		buf_add(&b, path, n);
		buf_addc(&b, '/');
		buf_adds(&b, command);
		if (*buf_str(&b) == '/' &&
			auto_shebang_judge(out) == SHEBANG_USABLE)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

/* Where the link is to lead: absolute, and with the links on the way kept, as
 * a virtual environment is known by them. */
static void find_interpreter(const char *given, char *out, size_t size)
{
	static char cwd[PATH_MAX];
	enum shebang_verdict verdict;
	int err = 0;

	if (!strchr(given, '/')) {
		if (!look_up(given, out, size))
			cli_die(EXIT_FOUND, "no usable '%s' in PATH; give the "
					    "interpreter's path",
				given);
		return;
	}
	while (given[0] == '.' && given[1] == '/')
		for (given += 2; *given == '/'; given++)
			;
	if (given[0] == '/')
		err = str_copy(out, size, given);
	else if (!(err = path_cwd(cwd, sizeof cwd)))
		err = path_join(out, size, cwd, given);
	if (err)
		cli_die(EXIT_FOUND, "%s: %s", given, strerror(-err));
	verdict = auto_shebang_judge(out);
	if (verdict != SHEBANG_USABLE)
		cli_die(EXIT_FOUND, "%s cannot be the interpreter: %s", out,
			shebang_verdict_name(verdict));
}

/* DIR/bin, open. With -1 it is not there, which only a dry run leaves so. */
static int open_bin(const char *dir, bool dry_run)
{
	autofd int base = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int bin;

	if (base < 0)
		cli_die(EXIT_FOUND, "%s: %s", dir, strerror(errno));
	if (!dry_run && mkdirat(base, "bin", 0755) && errno != EEXIST)
		cli_die(EXIT_FOUND, "%s/bin: %s", dir, strerror(errno));
	bin = openat(base, "bin", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (bin < 0 && !(dry_run && errno == ENOENT))
		cli_die(EXIT_FOUND, "%s/bin: %s", dir, strerror(errno));
	return bin;
}

/* Puts a link in place of another at once, so that no script finds none. */
static int replace_link(int bin, const char *name, const char *target)
{
	char temp[NAME_MAX + 1];
	int err = 0;

	BUF_PRINT(temp, ".auto-shebang.%d", (int)getpid());
	if (symlinkat(target, bin, temp))
		return -errno;
	if (renameat(bin, temp, bin, name)) {
		err = -errno;
		unlinkat(bin, temp, 0);
	}
	return err;
}

/* Is there a link already? True when it needs no change. */
static bool look_at(int bin, const char *shown, const char *name,
	const char *target, bool force)
{
	static char old[PATH_MAX];
	ssize_t n = bin < 0 ? -1 : readlinkat(bin, name, old, sizeof old - 1);

	if (n < 0 && (bin < 0 || errno == ENOENT))
		return false;
	if (n < 0)
		cli_die(EXIT_FOUND, "%s is there and no symbolic link: left "
				    "alone",
			shown);
	old[n] = '\0';
	if (str_eq(old, target))
		return true;
	if (!force)
		cli_die(EXIT_FOUND, "%s leads to %s already; --force replaces "
				    "it",
			shown, old);
	return false;
}

static void report_link(const struct auto_shebang *o, const char *shown,
	const char *target, bool kept)
{
	autobuf struct buf out = BUF_INIT(8 * SHEBANG_PATH);
	struct json j = JSON_INIT(&out);

	if (o->json) {
		json_putf(&j, "{ link %s target %s changed %d dry_run %d }",
			shown, target, !kept && !o->dry_run, o->dry_run);
	} else {
		buf_addf(&out, "%s%s -> %s",
			kept ? "already: " : o->dry_run ? "would make: " : "",
			shown, target);
	}
	buf_addc(&out, '\n');
	cli_print(&out);
}

int auto_shebang_init(int argc, char **argv, const struct auto_shebang *o)
{
	const char *name = argv[0], *dir = argc > 2 ? argv[2] : ".";
	static char target[PATH_MAX];
	autobuf struct buf shown = BUF_INIT(SHEBANG_PATH);
	bool kept;
	int err = 0;

	check_name(name);
	find_interpreter(argv[1], target, sizeof target);
	buf_addf(&shown, "%s/bin/%s", dir, name);
	autofd int bin = open_bin(dir, o->dry_run);
	kept = look_at(bin, buf_str(&shown), name, target, o->force);
	if (!kept && !o->dry_run && o->force)
		err = replace_link(bin, name, target);
	else if (!kept && !o->dry_run && symlinkat(target, bin, name))
		err = -errno;
	if (err)
		cli_die(EXIT_FOUND, "%s: %s", buf_str(&shown), strerror(-err));
	report_link(o, buf_str(&shown), target, kept);
	return EXIT_OK;
}

int auto_shebang_sh_lib(void)
{
	autobuf struct buf out = BUF_INIT(1 << 16);
	static char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	if (n < 0)
		cli_die(EXIT_FOUND, "cannot tell where this program lies: "
				    "/proc/self/exe: %s",
			strerror(errno));
	exe[n] = '\0';
	buf_adds(&out,
		"# auto-shebang for shell scripts; made by auto-shebang "
		"--sh-lib\n"
		"#\n"
		"# auto_shebang_resolve NAME SCRIPT sets AUTO_SHEBANG_RESULT to "
		"the\n"
		"# interpreter and returns 0; else it is empty and the code is "
		"1 (there is\n"
		"# none), 2, 126 or 127 (said on stderr). AUTO_SHEBANG_BIN "
		"names another\n"
		"# auto-shebang to ask. Variables must be exported to count.\n"
		"AUTO_SHEBANG_RESULT=\n"
		"auto_shebang_resolve() {\n"
		"\tif [ -n \"${AUTO_SHEBANG_BIN:-}\" ]; then\n"
		"\t\tAUTO_SHEBANG_RESULT=$(\"$AUTO_SHEBANG_BIN\" \\\n"
		"\t\t\t--lib-resolve \"$1\" \"$2\")\n"
		"\telse\n"
		"\t\tAUTO_SHEBANG_RESULT=$(");
	capture_quote(&out, exe);
	buf_addf(&out,
		" \\\n\t\t\t%s--lib-resolve \"$1\" \"$2\")\n"
		"\tfi\n"
		"}\n",
		str_eq(path_base(exe), "auto-shebang") ? "" : "auto-shebang ");
	cli_print(&out);
	return EXIT_OK;
}
