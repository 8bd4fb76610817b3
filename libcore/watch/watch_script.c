/* watch_script.c - what the kernel starts for a script: its interpreter
 * SPDX-License-Identifier: MIT
 */
#include "watch/watch_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"

/* Reads the first line of the file, without its end. Its length; 0 when the
 * file is no script; -errno when that cannot be known. The file itself is read,
 * because another can have its name, and one in memory has none. */
static ssize_t line_read(int file, char *line)
{
	char at[32];
	struct stat st;
	ssize_t n;
	char *end;
	autofd int fd = openat(AT_FDCWD, BUF_PRINT(at, "/proc/self/fd/%d", file),
		O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	/* The kernel starts files that nobody may read. A file of the user's
	 * own could be any script; a file of another user was not made by the
	 * command. */
	if (fd < 0 && errno == EACCES && fstat(file, &st) == 0)
		return st.st_uid == geteuid() ? -EACCES : 0;
	if (fd < 0)
		return -errno;
	n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ?
		    read(fd, line, SCRIPT_LINE - 1) :
		    0;
	if (n < 2 || line[0] != '#' || line[1] != '!')
		return 0;
	end = memchr(line, '\n', (size_t)n);
	if (end)
		n = end - line;
	line[n] = '\0';
	/* A name that goes beyond what the kernel reads is none. */
	if (n == SCRIPT_LINE - 1) {
		const char *name = line + 2 + strspn(line + 2, " \t");

		if (!name[strcspn(name, " \t")])
			return 0;
	}
	return n;
}

/* Splits the line as the kernel does: a name, and the rest as one argument,
 * NULL for none. false: no name. */
static bool line_part(char *line, ssize_t n, char **name, char **arg)
{
	static const char blank[] = " \t";

	while (n > 2 && strchr(blank, line[n - 1]) && line[n - 1])
		line[--n] = '\0';
	*name = line + 2 + strspn(line + 2, blank);
	*arg = *name + strcspn(*name, blank);
	if (**arg) {
		*(*arg)++ = '\0';
		*arg += strspn(*arg, blank);
	}
	if (!**arg)
		*arg = NULL;
	return **name;
}

int watch_script(struct watch_root *root, struct watch_event *ev)
{
	char **argv = (char **)(uintptr_t)ev->argv;
	char *line = ev->room, *name, *arg, *exe = line + SCRIPT_LINE;
	ssize_t n;
	size_t more;

	if (ev->level == WATCH_SCRIPTS || !*ev->exe || ev->cut)
		return 0;
	n = line_read(ev->file, line);
	if (n <= 0 || !line_part(line, n, &name, &arg))
		return n < 0 ? (int)n : 0;
	/* The script's name replaces the first argument. */
	more = arg ? 2 : 1;
	if (ev->argc + more > WATCH_ARGS_MAX)
		return -E2BIG;
	if (!ev->argc)
		ev->argc = 1;
	memmove(argv + 1 + more, argv + 1, (ev->argc - 1) * sizeof(*argv));
	argv[0] = name;
	if (arg)
		argv[1] = arg;
	argv[more] = (char *)(uintptr_t)ev->path;
	ev->argc += more;
	argv[ev->argc] = NULL;
	ev->path = name;
	ev->exe = exe;
	ev->missing = watch_find(root, ev->pid, AT_FDCWD, name, exe, &ev->file);
	ev->room = exe + strlen(exe) + 1;
	ev->level++;
	return 1;
}
