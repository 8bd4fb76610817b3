/* drop_options.c - the options of drop, and the plan that they make
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/kconfig.h"
#include "base/num.h"
#include "base/str.h"

/* The repeatable options: what is made of each item between their commas. */
enum { GRANT, PORT, FD, CAP, RELAX };
#define LIST(field, what, bits, option)                                        \
	{                                                                      \
		CLI_FIELD_(struct drop, field, struct cli_list), what, bits,   \
			"--" option                                            \
	}
static const struct list {
	uint16_t offset;
	uint8_t what, bits;
	char option[16];
} lists[] = {
	LIST(ro, GRANT, SANDBOX_RO, "ro"),
	LIST(rox, GRANT, SANDBOX_ROX, "rox"),
	LIST(rw, GRANT, SANDBOX_RW, "rw"),
	LIST(rwx, GRANT, SANDBOX_RWX, "rwx"),
	LIST(unix, GRANT, SANDBOX_UNIX, "unix"),
	LIST(hide, GRANT, SANDBOX_HIDE, "hide"),
	LIST(tmpfs, GRANT, SANDBOX_TMPFS, "tmpfs"),
	LIST(tcp, PORT, false, "connect-tcp"),
	LIST(bind, PORT, true, "bind-tcp"),
	LIST(fd, FD, 0, "keep-fd"),
	LIST(cap, CAP, 0, "keep-cap"),
	LIST(relax, RELAX, 0, "best-effort"),
};

/* The flags that only set bits of the plan. */
#define BITS(field, where, what)                                               \
	{                                                                      \
		CLI_FIELD_(struct drop, field, bool), offsetof(                \
			struct sandbox_plan, where), what                      \
	}
enum {
	SPACES = SANDBOX_PIDNS | SANDBOX_IPCNS | SANDBOX_NETNS |
		 SANDBOX_MOUNTNS,
};
static const struct {
	uint16_t offset, where, bits;
} bits[] = {
	BITS(unshare_pid, want, SANDBOX_PIDNS),
	BITS(unshare_ipc, want, SANDBOX_IPCNS),
	BITS(unshare_net, want, SANDBOX_NETNS),
	BITS(unshare_mount, want, SANDBOX_MOUNTNS),
	BITS(unshare_all, want, SPACES),
	BITS(watch_exec, want, SANDBOX_WATCH),
	BITS(explain_denials, want, SANDBOX_WATCH),
	BITS(open_fs, without, SANDBOX_LANDLOCK),
	BITS(open_scope, without, SANDBOX_SCOPE),
	BITS(open_syscalls, without, SANDBOX_SECCOMP),
	BITS(open_ipc, without, SANDBOX_IPCNS),
};

static int add_grant(struct drop *o, const char *path, unsigned access,
	const char *why, struct diag *d)
{
	int err = sandbox_grant(
		&o->plan, path, access, o->ignore_missing, why);

	o->granted = true;
	return err < 0 ? diag_of(d, err, path) : 0;
}

static int add_port(struct drop *o, const char *text, bool bind, struct diag *d)
{
	unsigned port;
	int err = num_uint(text, !bind, 65535, &port);

	o->plan.net = SANDBOX_NET_TCP;
	if (err == 0)
		err = sandbox_port(&o->plan, (uint16_t)port, bind);
	return err < 0 ? diag_fail(d, err, "'%s' is no port (%d to 65535)", text,
				 !bind) :
			 0;
}

static int parse_descriptor(const char *text, int *out, struct diag *d)
{
	unsigned fd;

	*out = -1;
	if (!text)
		return 0;
	if (num_uint(text, 0, 1 << 20, &fd) < 0 || fcntl((int)fd, F_GETFD) < 0)
		return diag_fail(d, -EINVAL, "'%s' is no open descriptor", text);
	*out = (int)fd;
	return 0;
}

static int add_fd(struct drop *o, const char *text, struct diag *d)
{
	int fd;

	if (o->plan.keep_fd_count == ARRAY_SIZE(o->keep_fds))
		return diag_fail(d, -E2BIG, "too many descriptors");
	if (parse_descriptor(text, &fd, d) < 0)
		return -EINVAL;
	o->keep_fds[o->plan.keep_fd_count++] = fd;
	return 0;
}

static int add_cap(struct drop *o, const char *name, struct diag *d)
{
	static const char names[] =
		"chown\0dac_override\0dac_read_search\0fowner\0fsetid\0"
		"kill\0setgid\0setuid\0setpcap\0linux_immutable\0"
		"net_bind_service\0net_broadcast\0net_admin\0net_raw\0"
		"ipc_lock\0ipc_owner\0";
	const char *rest = str_after(name, "cap_");
	int bit = str_index(names, rest ? rest : name);

	if (bit < 0)
		return diag_fail(d, -EINVAL,
			"'%s' is no capability that can be kept", name);
	o->plan.keep_caps |= 1ULL << bit;
	return 0;
}

static int add_relax(struct drop *o, const char *name, struct diag *d)
{
	unsigned part = sandbox_part_named(name);

	o->plan.relax |= part;
	return part ? 0 :
		      diag_fail(d, -EINVAL,
			      "--best-effort: '%s' is no part of the "
			      "sandbox: landlock, "
			      "seccomp, caps, scope, net, unix, pid, mount, "
			      "ipc, netns, limits, watch",
			      name);
}

static int add_item(struct drop *o, const struct list *l, const char *item,
	struct diag *d)
{
	switch (l->what) {
	case GRANT:
		return add_grant(o, item, l->bits, l->option, d);
	case PORT:
		return add_port(o, item, l->bits, d);
	case FD:
		return add_fd(o, item, d);
	case CAP:
		return add_cap(o, item, d);
	}
	return add_relax(o, item, d);
}

static int add_items(struct drop *o, const struct list *l, const char *items,
	struct diag *d)
{
	int err = 0;

	for (const char *end; items && err == 0; items = end ? end + 1 : NULL) {
		size_t n = strcspn(items, ",");
		char *item = arena_bytes(&o->strings, n + 1);

		end = items[n] ? items + n : NULL;
		if (!item)
			return diag_of(d, -ENOMEM, items);
		memcpy(item, items, n);
		item[n] = '\0';
		err = n ? add_item(o, l, item, d) :
			  diag_fail(d, -EINVAL, "an empty item in %s",
				  l->option);
	}
	return err;
}

static int add_lists(struct drop *o, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct cli_list *list = (const void *)((char *)o +
			lists[i].offset);

		for (size_t k = 0; k < list->count && err == 0; k++)
			err = add_items(o, &lists[i], list->item[k], d);
	}
	return err;
}

static void add_bits(struct drop *o)
{
	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		bool on = *((bool *)o + bits[i].offset);
		unsigned *to = (unsigned *)(void *)((char *)&o->plan +
			bits[i].where);

		*to |= on ? bits[i].bits : 0;
	}
	/* All but that one. */
	if (o->share_net && !o->unshare_net)
		o->plan.want &= ~(unsigned)SANDBOX_NETNS;
}

static void add_registry(
	void *ctx, const struct net_rule *rule, const char *tool, const char *file)
{
	struct net_spec *spec = ctx;

	(void)tool;
	(void)file;
	if (spec->allowed < NET_RULES)
		spec->allow[spec->allowed++] = *rule;
}

/* registries, NAME[:PORT][/tls|http|tcp], ... */
static int choose_names(struct drop *o, const char *list, struct diag *d)
{
	const char *home = getenv("HOME");
	struct net_spec *spec = calloc(1, sizeof *spec);

	if (!spec)
		return diag_errno(d, -ENOMEM, "--net");
	o->names = spec;
	o->plan.net = SANDBOX_NET_LOCAL;
	while (*list) {
		char word[NET_NAME_MAX + 16];
		size_t n = strcspn(list, ",");

		BUF_PRINT(word, "%.*s", (int)(n < sizeof word ? n : 0), list);
		if (str_eq(word, "registries"))
			net_registries(home && *home == '/' ? home : "",
				add_registry, spec);
		/* A word without either is hardly meant as a host. */
		else if (spec->allowed == NET_RULES || !strpbrk(word, ".:") ||
			!net_rule_parse(&spec->allow[spec->allowed++], word))
			return diag_fail(d, -EINVAL,
				"'%s' is no network: none, local, tcp:PORTS, "
				"all, registries or "
				"NAME[:PORT][/tls|http|tcp]",
				word);
		list += n + (list[n] == ',');
	}
	if (!spec->allowed)
		return diag_fail(d, -EINVAL, "no host is named, and this "
			"machine's settings name no registry");
	return 0;
}

static int choose_net(struct drop *o, struct diag *d)
{
	static const struct list port = {.what = PORT, .option = "--net"};
	const char *ports = o->net ? str_after(o->net, "tcp:") : NULL;
	const char *named = ports ? NULL : o->net;
	const char *net = o->open_net || o->share_net ? "all" : named;

	o->plan.unix_all = o->open_net;
	/* No option opens what another option closes. */
	if ((named && !str_eq(named, net)) || (o->share_net && o->unshare_net) ||
		(net && (ports || o->plan.port_count)))
		return diag_fail(d, -EINVAL,
			"the network is asked for in two ways that differ");
	if (ports)
		return add_items(o, &port, ports, d);
	if (!net || str_eq(net, "none"))
		return 0;
	if (str_eq(net, "local"))
		o->plan.net = SANDBOX_NET_LOCAL;
	else if (str_eq(net, "all"))
		o->plan.net = SANDBOX_NET_ALL;
	else
		return choose_names(o, net, d);
	return 0;
}

#define D struct drop
static const struct cli_opt opts[] = {
	CLI_LIST(0, D, ro, "ro", "PATH,..", "read beneath PATH"),
	CLI_LIST(0, D, rox, "rox", "PATH,..", "read, and start programs"),
	CLI_LIST(0, D, rw, "rw", "PATH,..", "read and write"),
	CLI_LIST(0, D, rwx, "rwx", "PATH,..", "read, write, start programs"),
	CLI_LIST(0, D, unix, "unix", "PATH,..", "connect to sockets there"),
	CLI_LIST(0, D, hide, "hide", "PATH,..",
		"empty, inside of what is granted (mount namespace)"),
	CLI_LIST(0, D, tmpfs, "tmpfs", "PATH", "empty, writable, theirs alone"),
	CLI_STR(0, D, grants, "grants", "FILE",
		"grants from a file, as --learn writes it"),
	CLI_STR('P', D, preset, "preset", "NAME",
		"read-only (default without grants), workspace, build"),
	CLI_FLAG(0, D, ignore_missing, "ignore-missing",
		"pass over paths that are not there"),
	CLI_FLAG(0, D, add_exec, "add-exec", "grant the command's own program"),
	CLI_FLAG(0, D, ldd, "ldd", "and the libraries that it is linked with"),
	CLI_STR('n', D, net, "net", "WHAT",
		"none (default), local, tcp:PORTS, all, or hosts: "
		"registries, NAME[:PORT][/tls|http|tcp]"),
	CLI_LIST(0, D, tcp, "connect-tcp", "PORT,..",
		"connect to these ports alone"),
	CLI_LIST(0, D, bind, "bind-tcp", "PORT,..",
		"listen on these ports alone"),
	CLI_SOME_TIME('t', D, plan.limits.wall_ns, "timeout", "TIME",
		"end it after TIME; 124"),
	CLI_SOME_TIME(0, D, plan.limits.cpu_ns, "cpu", "TIME",
		"of processor, all together"),
	CLI_SOME_SIZE(0, D, plan.limits.mem, "mem", "SIZE",
		"of memory, all together"),
	CLI_SOME_SIZE(0, D, plan.limits.output, "output", "SIZE",
		"written to 1 and 2 together, which become pipes"),
	CLI_UINT(0, D, plan.limits.tasks, CLI_SOME | 4194304, "nproc", "N",
		"threads and processes"),
	CLI_UINT(0, D, children, 65536, "children", "N",
		"programs running besides the command"),
	CLI_UINT(0, D, plan.limits.files, CLI_SOME | 1048576, "nofile", "N",
		"open descriptors of a process"),
	CLI_SOME_SIZE(0, D, plan.limits.fsize, "fsize", "SIZE",
		"of a file that is written"),
	CLI_FLAG(0, D, unshare_pid, "unshare-pid",
		"own processes and a fresh /proc; all end with the command"),
	CLI_FLAG(0, D, unshare_ipc, "unshare-ipc", "own System V IPC"),
	CLI_FLAG(0, D, unshare_net, "unshare-net", "own network"),
	CLI_FLAG(0, D, unshare_mount, "unshare-mount",
		"own mounts: all read-only but what is granted"),
	CLI_FLAG(0, D, unshare_all, "unshare-all", "all of these"),
	CLI_FLAG(0, D, share_net, "share-net",
		"--net=all, also with --unshare-all"),
	CLI_LIST('e', D, env, "env", "NAME[=VALUE]",
		"set it; without VALUE, keep it through --clearenv"),
	CLI_LIST(0, D, unsetenv, "unsetenv", "NAME", "take it away"),
	CLI_FLAG(0, D, clearenv, "clearenv", "start with no environment"),
	CLI_STR('C', D, chdir, "chdir", "DIR", "enter DIR first"),
	CLI_STR(0, D, argv0, "argv0", "NAME", "the command's argv[0]"),
	CLI_LIST(0, D, fd, "keep-fd", "N,..",
		"leave descriptors open; others close"),
	CLI_FLAG(0, D, new_session, "new-session", "setsid: no terminal"),
	CLI_LIST(0, D, cap, "keep-cap", "NAME,..", "keep a capability"),
	CLI_LIST(0, D, relax, "best-effort", "NAME,..",
		"go on without a part that is missing; a bad name lists them"),
	CLI_FLAG(0, D, open_fs, "unrestricted-filesystem", "no rules for files"),
	CLI_FLAG(0, D, open_net, "unrestricted-network", "no rules for sockets"),
	CLI_FLAG(0, D, open_scope, "unrestricted-scoped",
		"no rules for signals and abstract sockets"),
	CLI_FLAG(0, D, open_syscalls, "unrestricted-syscalls",
		"no system call filter"),
	CLI_FLAG(0, D, open_ipc, "unrestricted-ipc",
		"System V IPC with everybody"),
	CLI_FLAG(0, D, no_strays, "no-strays",
		"stay, and end what the command leaves behind"),
	CLI_FLAG(0, D, watch_exec, "watch-exec", "print each program started"),
	CLI_FLAG(0, D, audit, "audit",
		"record it in the log; with the watch, what it starts too"),
	CLI_STR(0, D, audit_fd, "audit-fd", "N",
		"write the same to descriptor N, as CBOR maps"),
	CLI_FLAG(0, D, explain_denials, "explain-denials",
		"say which file was refused, and why"),
	CLI_STR(0, D, learn, "learn", "FILE",
		"let it use all files, and write the grants that it needs"),
	CLI_STR(0, D, status_fd, "json-status-fd", "N",
		"write how it went to descriptor N, as JSON lines"),
	CLI_FLAG(0, D, dry_run, "dry-run", "show the sandbox, run nothing"),
	CLI_STR(0, D, explain, "explain", "PATH",
		"show what would be allowed there, and why"),
	CLI_FLAG(0, D, probe, "probe", "show which protections work here"),
	CLI_FLAG(0, D, json, "json", "print facts as JSON"),
	CLI_FLAG(0, D, die_with_parent, "die-with-parent",
		"end with the process that started it"),
	CLI_STR(0, D, ignored, "cap-drop", "NAME", "always so; for bwrap"),
};

const struct cli_spec drop_cli = {
	.name = "drop",
	.usage = "[OPTION...] [--] COMMAND [ARG...]",
	.about = "Runs COMMAND with nothing but what the options grant.\n"
		 "Also understands bwrap's --bind, --ro-bind, --dev-bind with "
		 "the same path twice,\n--proc, --dev, --setenv and --unshare-*.",
	.example =
		"wardbox drop -- ls  # read-only, no network\n"
		"wardbox drop --preset=build --timeout=5m -- make -j2\n"
		"wardbox drop --add-exec --rox=/usr --rw=. --net=tcp:443 -- "
		"./fetch",
	CLI_OPTS(opts),
	.flags = CLI_COMMAND | CLI_FAIL_OURS,
};

int drop_options(struct drop *o, int argc, char **argv)
{
	int folded = drop_fold_bwrap(o, argc, argv), at;
	struct diag d = {0};

	/* 0 is a number of them, too. */
	o->children = UINT32_MAX;
	at = cli_parse(&drop_cli, o, folded, argv);
	o->plan.limits.procs = o->children + 1;
	o->plan.keep_fds = o->keep_fds;
	o->plan.watch_files = o->explain_denials || o->learn;
	o->plan.watch_names = o->plan.watch_files || o->watch_exec;
	o->plan.watch_scope = true;
	o->plan.log = o->explain_denials && geteuid() == 0;
	o->open_fs |= !!o->learn;
	o->granted |= o->preset || o->learn;
	for (size_t i = 0; i < o->plan.grant_count; i++)
		o->plan.grants[i].optional |= o->ignore_missing;
	if ((o->audit || o->audit_fd) && !IS_ENABLED(CONFIG_DROP_AUDIT))
		cli_die(EXIT_OURS, "--audit is not built in (DROP_AUDIT)");
	if (o->learn && !IS_ENABLED(CONFIG_SANDBOX_LEARN))
		cli_die(EXIT_OURS, "--learn is not built in (SANDBOX_LEARN)");
	if (o->plan.limits.procs || o->learn)
		o->plan.want |= SANDBOX_WATCH;
	add_bits(o);
	if (add_lists(o, &d) < 0 || choose_net(o, &d) < 0 ||
		parse_descriptor(o->status_fd, &o->status, &d) < 0 ||
		parse_descriptor(o->audit_fd, &o->events, &d) < 0)
		cli_die_diag(EXIT_OURS, &d);
	for (size_t i = 0; i < o->plan.keep_fd_count; i++)
		if (o->events == o->keep_fds[i])
			cli_die(EXIT_OURS, "--audit-fd: the command, which "
				"keeps %d, could write there", o->events);
	return at >= folded ? argc : at;
}
