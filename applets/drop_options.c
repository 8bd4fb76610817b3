/* drop_options.c - the options of drop, and the plan that they make
 * SPDX-License-Identifier: MIT
 */
#include "drop_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"
#include "str.h"

/* Calls fn for each part of a list with commas. */
static int each(struct drop *o, const char *list, struct diag *d,
	int (*fn)(struct drop *, char *, struct diag *))
{
	size_t n = strlen(list) + 1;
	char *part, *next;
	int err = 0;

	/* The words of the command line are not written to. */
	if (!strchr(list, ','))
		return fn(o, (char *)(uintptr_t)list, d);
	part = arena_bytes(&o->strings, n);
	if (!part)
		return diag_errno(d, -ENOMEM, "%s", list);
	memcpy(part, list, n);
	for (; part && err == 0; part = next) {
		next = strchr(part, ',');
		if (next)
			*next++ = '\0';
		err = *part ? fn(o, part, d) :
			      diag_fail(d, -EINVAL, "an empty item in '%s'",
				      list);
	}
	return err;
}

static int add_grant(struct drop *o, const char *path, unsigned access,
	const char *why, struct diag *d)
{
	int err = sandbox_grant(
		&o->plan, path, access, o->ignore_missing, why);

	o->granted = true;
	return err < 0 ? diag_errno(d, err, "%s", path) : 0;
}

#define GRANT(name, bits, option)                                              \
	static int name##_one(struct drop *o, char *path, struct diag *d)      \
	{                                                                      \
		return add_grant(o, path, bits, option, d);                    \
	}                                                                      \
	static int name(void *o, const char *value, struct diag *d)            \
	{                                                                      \
		return each(o, value, d, name##_one);                          \
	}
GRANT(opt_ro, SANDBOX_RO, "--ro")
GRANT(opt_rox, SANDBOX_ROX, "--rox")
GRANT(opt_rw, SANDBOX_RW, "--rw")
GRANT(opt_rwx, SANDBOX_RWX, "--rwx")
GRANT(opt_unix, SANDBOX_UNIX, "--unix")
GRANT(opt_hide, SANDBOX_HIDE, "--hide")
GRANT(opt_tmpfs, SANDBOX_TMPFS, "--tmpfs")

static int port_one(struct drop *o, char *text, struct diag *d, bool bind)
{
	unsigned port;
	int err = num_uint(text, bind ? 0 : 1, 65535, &port);

	if (err < 0)
		return diag_fail(d, err, "'%s' is not a port", text);
	o->plan.net = SANDBOX_NET_TCP;
	err = sandbox_port(&o->plan, (uint16_t)port, bind);
	return err < 0 ? diag_errno(d, err, "port %s", text) : 0;
}
static int bind_one(struct drop *o, char *text, struct diag *d)
{
	return port_one(o, text, d, true);
}
static int connect_one(struct drop *o, char *text, struct diag *d)
{
	return port_one(o, text, d, false);
}
static int opt_bind(void *o, const char *value, struct diag *d)
{
	return each(o, value, d, bind_one);
}
static int opt_connect(void *o, const char *value, struct diag *d)
{
	return each(o, value, d, connect_one);
}

static int opt_net(void *into, const char *value, struct diag *d)
{
	struct drop *o = into;
	const char *ports = str_after(value, "tcp:");

	if (ports)
		return each(o, ports, d, connect_one);
	if (str_eq(value, "none"))
		o->plan.net = SANDBOX_NET_NONE;
	else if (str_eq(value, "local"))
		o->plan.net = SANDBOX_NET_LOCAL;
	else if (str_eq(value, "all"))
		o->plan.net = SANDBOX_NET_ALL;
	else
		return diag_fail(d, -EINVAL,
			"'%s' is none of none, local, tcp:PORTS, all", value);
	return 0;
}

static int opt_share_net(void *into, const char *value, struct diag *d)
{
	(void)value;
	return opt_net(into, "all", d);
}

static int relax_one(struct drop *o, char *name, struct diag *d)
{
	unsigned part = sandbox_part_named(name);

	o->plan.relax |= part;
	return part ? 0 :
		      diag_fail(d, -EINVAL,
			      "'%s' is none of landlock, seccomp, caps, scope, "
			      "net, unix, pid, mount, ipc, netns, limits, watch",
			      name);
}
static int opt_relax(void *o, const char *value, struct diag *d)
{
	return each(o, value, d, relax_one);
}

#define WANT(name, field, bits)                                                \
	static int name(void *into, const char *value, struct diag *d)         \
	{                                                                      \
		(void)value;                                                   \
		(void)d;                                                       \
		((struct drop *)into)->plan.field |= (bits);                   \
		return 0;                                                      \
	}
WANT(opt_pid, want, SANDBOX_PIDNS)
WANT(opt_ipc, want, SANDBOX_IPCNS)
WANT(opt_netns, want, SANDBOX_NETNS)
WANT(opt_mount, want, SANDBOX_MOUNTNS)
WANT(opt_all, want,
	SANDBOX_PIDNS | SANDBOX_IPCNS | SANDBOX_NETNS | SANDBOX_MOUNTNS)
WANT(opt_open_fs, without, SANDBOX_LANDLOCK)
WANT(opt_open_scope, without, SANDBOX_SCOPE)
WANT(opt_open_seccomp, without, SANDBOX_SECCOMP)
WANT(opt_open_ipc, without, SANDBOX_IPCNS)

static int opt_open_net(void *into, const char *value, struct diag *d)
{
	((struct drop *)into)->plan.unix_all = true;
	return opt_share_net(into, value, d);
}

static int opt_missing(void *into, const char *value, struct diag *d)
{
	struct drop *o = into;

	(void)value;
	(void)d;
	o->ignore_missing = true;
	for (size_t i = 0; i < o->plan.grant_count; i++)
		o->plan.grants[i].optional = true;
	return 0;
}

static int keep_one(struct drop *o, char *text, struct diag *d)
{
	unsigned fd;
	int err = num_uint(text, 0, 1 << 20, &fd);

	if (err < 0 || o->plan.keep_fd_count == ARRAY_SIZE(o->keep_fds))
		return diag_fail(d, -EINVAL, "'%s' is no descriptor", text);
	o->keep_fds[o->plan.keep_fd_count++] = (int)fd;
	return 0;
}
static int opt_keep_fd(void *o, const char *value, struct diag *d)
{
	return each(o, value, d, keep_one);
}

static int opt_status_fd(void *into, const char *value, struct diag *d)
{
	struct drop *o = into;
	int err = num_uint(value, 0, 1 << 20, &o->status_fd);

	o->status_fd_given = 1;
	return err < 0 ? diag_fail(d, err, "'%s' is no descriptor", value) : 0;
}

static int cap_one(struct drop *o, char *name, struct diag *d)
{
	static const char names[][20] = {"chown", "dac_override",
		"dac_read_search", "fowner", "fsetid", "kill", "setgid",
		"setuid", "setpcap", "linux_immutable", "net_bind_service",
		"net_broadcast", "net_admin", "net_raw", "ipc_lock",
		"ipc_owner"};
	const char *rest = str_after(name, "cap_");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!str_eq(names[i], rest ? rest : name))
			continue;
		o->plan.keep_caps |= 1ULL << i;
		return 0;
	}
	return diag_fail(d, -EINVAL, "'%s' is no capability that can be kept",
		name);
}
static int opt_cap(void *o, const char *value, struct diag *d)
{
	return each(o, value, d, cap_one);
}

static int opt_nothing(void *into, const char *value, struct diag *d)
{
	(void)into;
	(void)value;
	(void)d;
	return 0;
}

static int opt_preset(void *into, const char *value, struct diag *d)
{
	struct drop *o = into;

	if (!str_eq(value, "read-only") && !str_eq(value, "workspace") &&
		!str_eq(value, "build"))
		return diag_fail(d, -EINVAL,
			"'%s' is none of read-only, workspace, build", value);
	o->preset = value;
	o->granted = true;
	return 0;
}

#define D struct drop
static const struct cli_opt opts[] = {
	CLI_CALL(0, opt_ro, "ro", "PATH,..", "read beneath PATH"),
	CLI_CALL(0, opt_rox, "rox", "PATH,..", "read, and start programs"),
	CLI_CALL(0, opt_rw, "rw", "PATH,..", "read and write"),
	CLI_CALL(0, opt_rwx, "rwx", "PATH,..", "read, write, start programs"),
	CLI_CALL(0, opt_unix, "unix", "PATH,..", "connect to sockets there"),
	CLI_CALL(0, opt_hide, "hide", "PATH,..",
		"empty, inside of what is granted (mount namespace)"),
	CLI_CALL(0, opt_tmpfs, "tmpfs", "PATH", "empty, writable, theirs alone"),
	CLI_STR(0, D, grants, "grants", "FILE",
		"grants from a file, as --learn writes it"),
	CLI_CALL('P', opt_preset, "preset", "NAME",
		"read-only (default without grants), workspace, build"),
	CLI_CALL(0, opt_missing, "ignore-missing", "",
		"pass over paths that are not there"),
	CLI_FLAG(0, D, add_exec, "add-exec", "grant the command's own program"),
	CLI_FLAG(0, D, ldd, "ldd", "and the libraries that it is linked with"),
	CLI_CALL('n', opt_net, "net", "WHAT",
		"none (default), local, tcp:PORTS, all"),
	CLI_CALL(0, opt_connect, "connect-tcp", "PORT,..",
		"connect to these ports alone"),
	CLI_CALL(0, opt_bind, "bind-tcp", "PORT,..",
		"listen on these ports alone"),
	CLI_TIME('t', D, timeout, "timeout", "TIME", "end it after TIME; 124"),
	CLI_TIME(0, D, cpu, "cpu", "TIME", "of processor, all together"),
	CLI_SIZE(0, D, mem, "mem", "SIZE", "of memory, all together"),
	CLI_UINT(0, D, nproc, 4194304, "nproc", "N", "threads and processes"),
	CLI_UINT(0, D, children, 65536, "children", "N",
		"programs running besides the command"),
	CLI_UINT(0, D, nofile, 1048576, "nofile", "N",
		"open descriptors of a process"),
	CLI_SIZE(0, D, fsize, "fsize", "SIZE", "of a file that is written"),
	CLI_CALL(0, opt_pid, "unshare-pid", "",
		"own processes and a fresh /proc; all end with the command"),
	CLI_CALL(0, opt_ipc, "unshare-ipc", "", "own System V IPC"),
	CLI_CALL(0, opt_netns, "unshare-net", "", "own network"),
	CLI_CALL(0, opt_mount, "unshare-mount", "",
		"own mounts: all read-only but what is granted"),
	CLI_CALL(0, opt_all, "unshare-all", "", "all of these"),
	CLI_CALL(0, opt_share_net, "share-net", "", "the same as --net=all"),
	CLI_LIST('e', D, env, "env", "NAME[=VALUE]",
		"set it; without VALUE, keep it through --clearenv"),
	CLI_LIST(0, D, unsetenv, "unsetenv", "NAME", "take it away"),
	CLI_FLAG(0, D, clearenv, "clearenv", "start with no environment"),
	CLI_STR('C', D, chdir, "chdir", "DIR", "enter DIR first"),
	CLI_STR(0, D, argv0, "argv0", "NAME", "the command's argv[0]"),
	CLI_CALL(0, opt_keep_fd, "keep-fd", "N,..",
		"leave descriptors open; others close"),
	CLI_FLAG(0, D, new_session, "new-session", "setsid: no terminal"),
	CLI_CALL(0, opt_cap, "keep-cap", "NAME,..", "keep a capability"),
	CLI_CALL(0, opt_relax, "best-effort", "NAME,..",
		"go on without a part that is missing; a bad name lists them"),
	CLI_CALL(0, opt_open_fs, "unrestricted-filesystem", "",
		"no rules for files"),
	CLI_CALL(0, opt_open_net, "unrestricted-network", "",
		"no rules for sockets"),
	CLI_CALL(0, opt_open_scope, "unrestricted-scoped", "",
		"no rules for signals and abstract sockets"),
	CLI_CALL(0, opt_open_seccomp, "unrestricted-syscalls", "",
		"no system call filter"),
	CLI_CALL(0, opt_open_ipc, "unrestricted-ipc", "",
		"System V IPC with everybody"),
	CLI_FLAG(0, D, no_strays, "no-strays",
		"stay, and end what the command leaves behind"),
	CLI_FLAG(0, D, watch_exec, "watch-exec", "print each program started"),
	CLI_FLAG(0, D, audit, "audit",
		"record it in the log; with the watch, what it starts too"),
	CLI_FLAG(0, D, explain_denials, "explain-denials",
		"say which file was refused, and why"),
	CLI_STR(0, D, learn, "learn", "FILE",
		"let it use all files, and write the grants that it needs"),
	CLI_CALL(0, opt_status_fd, "json-status-fd", "N",
		"write how it went to descriptor N, as JSON lines"),
	CLI_FLAG(0, D, dry_run, "dry-run", "show the sandbox, run nothing"),
	CLI_STR(0, D, explain, "explain", "PATH",
		"show what would be allowed there, and why"),
	CLI_FLAG(0, D, probe, "probe", "show which protections work here"),
	CLI_FLAG(0, D, json, "json", "print facts as JSON"),
	CLI_FLAG(0, D, die_with_parent, "die-with-parent",
		"end with the process that started it"),
	CLI_CALL(0, opt_nothing, "cap-drop", "NAME", "always so; for bwrap"),
};

const struct cli_spec drop_cli = {
	.name = "drop",
	.usage = "[OPTION...] [--] COMMAND [ARG...]",
	.about = "Runs COMMAND with nothing but what the options grant.\n"
		 "Also understands bwrap's --bind, --ro-bind, --dev-bind with "
		 "the same path twice.",
	.example =
		"wardbox drop -- ls  # read-only, no network\n"
		"wardbox drop --preset=build --timeout=5m -- make -j2\n"
		"wardbox drop --rox=/usr --rw=. --net=tcp:443 -- ./fetch",
	.opts = opts,
	.opt_count = ARRAY_SIZE(opts),
	.flags = CLI_COMMAND | CLI_FAIL_OURS,
};

/* Does the word behind this option belong to it? */
static bool takes_next(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
		const char *name = opts[i].text;
		bool same = word[1] == '-' ? str_eq(word + 2, name) :
					     opts[i].letter == word[1] &&
						     !word[2];

		if (same)
			return opts[i].kind != CLI_KIND_FLAG &&
			       name[strlen(name) + 1];
	}
	return false;
}

static const char *fold_name(const char *word)
{
	static const struct {
		char from[16], to[8];
	} binds[] = {
		{"--ro-bind", "--rox"},
		{"--ro-bind-try", "--rox"},
		{"--bind", "--rwx"},
		{"--bind-try", "--rwx"},
		{"--dev-bind", "--rwx"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(binds); i++)
		if (str_eq(word, binds[i].from))
			return binds[i].to;
	return NULL;
}

/* bwrap names a path twice, inside and outside; here they are one. In place:
 * "--ro-bind A A" becomes "--rox A". The new count of words. */
static int fold_binds(int argc, char **argv)
{
	int out = 1, i = 1;

	while (i < argc && argv[i][0] == '-' && !str_eq(argv[i], "--")) {
		const char *to = fold_name(argv[i]);
		bool next = !to && takes_next(argv[i]);

		if (to && (i + 2 >= argc || !str_eq(argv[i + 1], argv[i + 2])))
			cli_die(EXIT_OURS,
				"%s: needs the same path twice: a path is "
				"never shown elsewhere", argv[i]);
		/* cli_parse only reads it. */
		argv[out++] = to ? (char *)(uintptr_t)to : argv[i];
		i++;
		if ((to || next) && i < argc)
			argv[out++] = argv[i++];
		i += !!to;
	}
	while (i < argc)
		argv[out++] = argv[i++];
	argv[out] = NULL;
	return out;
}

int drop_options(struct drop *o, int argc, char **argv)
{
	struct limits_spec *l = &o->plan.limits;
	int folded = fold_binds(argc, argv);
	int at = cli_parse(&drop_cli, o, folded, argv);

	o->plan.keep_fds = o->keep_fds;
	l->wall_ns = o->timeout;
	l->cpu_ns = o->cpu;
	l->mem = o->mem;
	l->tasks = o->nproc;
	l->procs = o->children ? o->children + 1 : 0;
	l->files = o->nofile;
	l->fsize = o->fsize;
	o->plan.watch_files = o->explain_denials || o->learn;
	if (o->learn) {
		o->plan.without |= SANDBOX_LANDLOCK;
		o->granted = true;
	}
	if (o->watch_exec || o->children || o->plan.watch_files)
		o->plan.want |= SANDBOX_WATCH;
	return at >= folded ? argc : at;
}
