/* drop_exec.c - finding a program, and becoming it
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

int drop_find(struct drop *o, const char *name, struct diag *d)
{
	char found[PATH_MAX];
	int err = 0;

	/* Whatever a path is, exec says. */
	if (!strchr(name, '/')) {
		err = path_find(found, sizeof(found), name,
			env_get(o->envp, "PATH"), NULL);
		name = err < 0 ? name : found;
	}
	o->file = strdup(name);
	if (!o->file)
		err = -ENOMEM;
	if (err < 0)
		diag_of(d, err, name);
	return err == 0	      ? 0 :
	       err == -EACCES ? EXIT_DENIED :
	       err == -ENOMEM ? EXIT_OURS :
				EXIT_NOTFOUND;
}

static char *arena_str(struct drop *o, const char *s, size_t n)
{
	char *copy = arena_bytes(&o->strings, n + 1);

	if (copy) {
		memcpy(copy, s, n);
		copy[n] = '\0';
	}
	return copy;
}

enum { OWN_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32 };

const char *drop_interpreter(struct drop *o, const char *file)
{
	char head[4096 - 1024];
	/* The command chooses the path, so that opening a pipe or device must
	 * not block. */
	autofd int fd = open(file,
		O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head) - 1, 0);
	const ElfW(Ehdr) *e = (const void *)head;

	if (n < 4)
		return "";
	head[n] = '\0';
	if (head[0] == '#' && head[1] == '!') {
		char *s = head + 2 + strspn(head + 2, " \t");

		return arena_str(o, s, strcspn(s, " \t\n"));
	}
	if (memcmp(head, ELFMAG, SELFMAG) != 0 ||
		head[EI_CLASS] != OWN_CLASS || (size_t)n < sizeof(*e))
		return "";
	for (unsigned i = 0; i < e->e_phnum; i++) {
		size_t at = (size_t)e->e_phoff + i * sizeof(ElfW(Phdr));
		ElfW(Phdr) p;

		if (at > (size_t)n - sizeof(p))
			break;
		memcpy(&p, head + at, sizeof(p));
		if (p.p_type == PT_INTERP && p.p_filesz > 1 &&
			p.p_filesz <= (size_t)n &&
			p.p_offset <= (size_t)n - p.p_filesz)
			return arena_str(
				o, head + p.p_offset, p.p_filesz - 1);
	}
	return "";
}

int drop_grant_program(
	struct drop *o, const char *file, bool libs, struct diag *d)
{
	/* Where the dynamic linker looks; what it finds is read, not
	 * started. */
	static const char dirs[] = "/lib\0/lib64\0/usr/lib\0/usr/lib64\0"
				   "/usr/local/lib\0/etc/ld.so.cache\0";
	int err = 0;

	/* A script's interpreter may be a script, and has one of its own. */
	for (int depth = 0; depth < 5 && file && *file && err == 0; depth++) {
		err = sandbox_grant(
			&o->plan, file, SANDBOX_ROX, false, "--add-exec");
		file = drop_interpreter(o, file);
	}
	for (const char *at = dirs; libs && *at && err == 0;
		at = str_nth(at, 1))
		err = sandbox_grant(&o->plan, at, SANDBOX_RO, true, "--ldd");
	return err < 0 ? diag_of(d, err, o->file) : 0;
}

int drop_exec(const struct drop *o, char *const *argv)
{
	char *const *env = o->envp;
	const char *args[256];
	size_t n = 0;
	int err;

	if (o->argv0)
		((char **)(uintptr_t)argv)[0] = (char *)(uintptr_t)o->argv0;
	execve(o->file, argv, env);
	err = errno;
	if (err == ENOEXEC) {
		/* As execvp does for a script without a first line. */
		args[n++] = "sh";
		args[n++] = o->file;
		while (argv[n - 1] && n < ARRAY_SIZE(args) - 1) {
			args[n] = argv[n - 1];
			n++;
		}
		args[n] = NULL;
		if (!argv[n - 1]) {
			execve("/bin/sh", (char *const *)(uintptr_t)args,
				env);
			err = errno;
		}
	}
	cli_warn("%s: %s%s", o->file, strerror(err),
		err == EACCES ? " (does a grant with x cover it, and its "
				"interpreter?)" :
				"");
	/* The watch had no descriptor left to look at the program. */
	if (err == EMFILE || err == ENFILE)
		return EXIT_OURS;
	return err == ENOENT ? EXIT_NOTFOUND : EXIT_DENIED;
}
