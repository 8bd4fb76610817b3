/* doctor.c - what this machine can enforce, found by doing it
 * SPDX-License-Identifier: MIT
 *
 * APPLET(doctor)
 *
 * config APPLET_DOCTOR
 *	bool "doctor: what this machine can enforce (11.3 KB)"
 *	default y
 *	select SANDBOX_UNOTIFY
 *	help
 *	  Tries every protection in a child that is thrown away, and says what
 *	  works, what it is for, and what to do where it does not.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "applet.h"
#include "doctor.h"
#include "policy/policy.h"
#include "box/sandbox.h"
#include "profile/confinement.h"
#include "sys/limits.h"
#include "sys/probe.h"
#include "base/str.h"

struct doctor {
	bool json, rights;
};

/* A finding: what was tried, the result, and what to do about it. */
struct finding {
	const char *name, *purpose, *fix, *call;
	bool needed; /* by the policy in force */
	int err;     /* 0 works */
	char note[64];
	char why[232]; /* instead of call and err */
};

enum { LANDLOCK_ABI_NEEDED = 6, FINDINGS_MAX = PROBE_ITEMS + 40 };

static const struct {
	uint8_t item;
	bool needed;
	unsigned short part; /* a policy can go without it; 0: not */
	const char *text; /* name NUL purpose NUL fix */
} tries[] = {
	{PROBE_LANDLOCK, true, SANDBOX_LANDLOCK,
		"landlock\0files: read, write, execute\0"
		"Linux 5.13 with CONFIG_SECURITY_LANDLOCK, 'landlock' in lsm= "
		"at boot; a container may forbid it"},
	{PROBE_NNP, true, 0,
		"no_new_privs\0set-user-id programs give nothing\0"
		"Linux 3.5 has it"},
	{PROBE_CAPS, true, 0,
		"capabilities\0root's commands have none\0"
		"a container may forbid it"},
	{PROBE_SECCOMP, true, SANDBOX_SECCOMP,
		"seccomp filter\0system calls, network, devices\0"
		"CONFIG_SECCOMP_FILTER; a container may forbid it"},
	{PROBE_NOTIFY, true, SANDBOX_WATCH,
		"seccomp notify\0each program started is decided and recorded\0"
		"Linux 5.5; one listener fits in a tree (EBUSY: another guard's "
		"is around this one)"},
	{PROBE_PEEK, true, SANDBOX_WATCH,
		"memory of others\0what a program is started with is read\0"
		"a container, or Yama's ptrace_scope=3, may forbid it"},
	{PROBE_RLIMIT, true, 0,
		"resource limits\0files, processes, sizes, core dumps\0"
		"a container may forbid it"},
	{PROBE_SCOPE_UNIX, true, SANDBOX_SCOPE,
		"scope: sockets\0no abstract sockets of others\0"
		"Linux 6.12 (Landlock ABI 6) has it; before, an own network, or "
		"no local sockets"},
	{PROBE_SCOPE_SIGNAL, true, SANDBOX_SCOPE,
		"scope: signals\0no signals to others\0"
		"Linux 6.12 (Landlock ABI 6) has it; before, the watch sends "
		"each signal"},
	{PROBE_USERNS, false, 0,
		"user namespace\0the others without root\0"
		"sysctl kernel.unprivileged_userns_clone=1, or "
		"kernel.apparmor_restrict_unprivileged_userns=0"},
	{PROBE_PIDNS, false, 0,
		"pid namespace\0own processes, fresh /proc; all end together\0"
		"needs user namespaces or CAP_SYS_ADMIN, and an unmasked /proc"},
	{PROBE_MOUNTNS, false, 0,
		"mount namespace\0only what is granted can be changed; hidden places\0"
		"needs user namespaces or CAP_SYS_ADMIN"},
	{PROBE_IPCNS, false, 0,
		"ipc namespace\0own System V IPC\0"
		"needs user namespaces or CAP_SYS_ADMIN"},
	{PROBE_NETNS, false, 0,
		"net namespace\0an own loopback, hosts by name; else a proxy (tier 2)\0"
		"needs user namespaces or CAP_SYS_ADMIN"},
	{PROBE_PIDFD, true, 0,
		"pidfd\0waits and signals without races\0"
		"Linux 5.3 has it"},
	{PROBE_SIGNALS, true, 0,
		"signals\0what is sent to the guard reaches the command\0"
		"a container may forbid it"},
	{PROBE_CLOSE_RANGE, true, 0,
		"close_range\0no descriptor is inherited by chance\0"
		"Linux 5.11 has it"},
	{PROBE_LOCK, true, 0,
		"file locks\0one writer of the log at a time\0"
		"a container may forbid it"},
	{PROBE_PTY, false, 0,
		"terminals\0exec --pty\0"
		"mount devpts on /dev/pts"},
};

static bool is_unknown(int err)
{
	return err == -ERANGE || err == -ENOSYS || err == -EOPNOTSUPP;
}

/* The parts that a command can go without where the kernel does not know them:
 * what the policy relaxes, and scope, for which there is another way. A part that
 * is known and refused stops a command. */
static unsigned spared_parts(const struct doctor_needs *n)
{
	return n->relax | SANDBOX_SCOPE;
}

static void find_one(struct finding *f, size_t i, const struct doctor_needs *n)
{
	const unsigned part = tries[i].part;
	const char *call;
	int err = probe_try((enum probe_item)tries[i].item, &call);

	*f = (struct finding){
		.name = tries[i].text,
		.purpose = str_nth(tries[i].text, 1),
		.fix = str_nth(tries[i].text, 2),
		.call = call,
		.err = err,
	};
	f->needed = tries[i].needed && n->confined &&
		!(is_unknown(err) && part & spared_parts(n));
	if (part == SANDBOX_LANDLOCK) {
		int abi = probe_landlock_abi(NULL);

		BUF_PRINT(f->note, "ABI %d%s", abi,
			abi && abi < LANDLOCK_ABI_NEEDED ?
				"; 6 has all that is asked of it" :
				"");
	}
	/* Only what the kernel lacks can be gone without. */
	if (is_unknown(err) && part && !(part & spared_parts(n)))
		BUF_PRINT(f->note,
			"a line 'relax %s' in " POLICY_SYSTEM " goes without",
			sandbox_part_name(part));
}

/* All of it together, as guarded commands use it. */
static void find_box(struct finding *f, const struct doctor_needs *n)
{
	struct diag d = {0};

	*f = (struct finding){
		.name = "all together",
		.purpose = "a program in a sandbox, let go on, then denied",
		.fix = "",
		.needed = n->confined,
		.err = doctor_box(n, &d),
	};
	if (f->err)
		BUF_PRINT(f->why, "%s", d.text);
}

/* Limits that are exact need a control group. */
static void find_cgroup(struct finding *f)
{
	const struct limits_spec spec = {
		.mem = 1ULL << 40, .tasks = 1 << 20, .cpu_ns = UINT64_MAX};
	struct limits l = LIMITS_INIT;
	bool exact;

	*f = (struct finding){
		.name = "control groups",
		.purpose = "exact limits of memory, tasks, CPU time",
		.fix = "a writable cgroup (systemd: Delegate=yes; docker: "
		       "--cgroupns=private, rw), else a watchdog",
	};
	if (limits_prepare(&l, &spec) < 0) {
		f->err = -ENOTSUP;
		return;
	}
	exact = l.how[LIMITS_MEM] <= LIMITS_BY_CGROUP1 &&
		l.how[LIMITS_TASKS] <= LIMITS_BY_CGROUP1;
	f->err = exact ? 0 : -EACCES;
	str_copy(f->note, sizeof f->note,
		limits_how_name((enum limits_how)l.how[LIMITS_MEM]));
	limits_release(&l);
}

/* Root's commands, too, get no capabilities: a project that was mounted from a
 * host, where it is somebody else's, is not theirs to write. */
static void find_here(struct finding *f)
{
	struct stat st;
	bool own;

	*f = (struct finding){
		.name = "this directory",
		.purpose = "commands may write here",
		.fix = "run as its owner",
	};
	if (stat(".", &st) < 0) {
		f->err = -errno;
		return;
	}
	own = geteuid() == st.st_uid || st.st_mode & S_IWOTH ||
		(getegid() == st.st_gid && st.st_mode & S_IWGRP);
	if (own && access(".", W_OK) == 0)
		return;
	f->err = -EACCES;
	if (own && errno == EROFS) {
		f->err = -EROFS;
		f->fix = "mount it rw";
	}
	BUF_PRINT(f->note, "uid %u's", (unsigned)st.st_uid);
}

static size_t find_rights(struct finding *f)
{
	size_t n = 0;

	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = probe_landlock_name(bit);

		if (!name)
			continue;
		f[n] = (struct finding){
			.name = name,
			.purpose = bit < 32 ? "landlock right: files" :
					      "landlock right: network",
			.fix = "a newer kernel",
			.err = probe_landlock_right(bit),
		};
		n++;
	}
	return n;
}

/* A shell's package that was installed anew brings its own. */
static bool find_shells(struct finding *f)
{
	struct diag d = {0};
	int found;

	*f = (struct finding){
		.name = "guarded shells",
		.purpose = "/bin/sh and its kin lead to wardbox",
		.needed = true,
	};
	found = doctor_shells(&d, &f->fix);
	f->err = found < 0 ? -EBADE : 0;
	BUF_PRINT(f->why, "%s", d.text);
	return found != 0;
}

static size_t find_all(const struct doctor *o, struct finding *f)
{
	struct doctor_needs needs;
	size_t n = 0;

	doctor_needs(&needs);
	for (size_t i = 0; i < ARRAY_SIZE(tries); i++)
		find_one(&f[n++], i, &needs);
	/* A guard is around this one: it holds, and cannot be put up again. */
	if (!probe_inside())
		find_box(&f[n++], &needs);
	find_cgroup(&f[n++]);
	find_here(&f[n++]);
	n += find_shells(&f[n]);
	return o->rights ? n + find_rights(f + n) : n;
}

/* "capset: Operation not permitted" */
static void add_why(struct buf *out, const struct finding *f)
{
	if (f->why[0]) {
		buf_adds(out, f->why);
		return;
	}
	if (f->call && f->call[0])
		buf_addf(out, "%s: ", f->call);
	buf_adds(out, f->err == -ERANGE ? "this kernel does not know it" :
		      f->err == -EBADE	? "it is accepted and does not hold" :
		      f->err == -EINTR	? "it died, or did not answer" :
					  strerror(-f->err));
}

static void print_text(struct buf *out, const struct finding *f, size_t n)
{
	bool colour = cli_colour(1);

	for (size_t i = 0; i < n; i++) {
		const char *word = !f[i].err	? "works" :
				   f[i].needed ? "MISSING" :
						 "missing";
		const char *sgr = !f[i].err ? "32" : f[i].needed ? "31" : "33";

		buf_addf(out, "%s%-8s%s %-16s %s", cli_sgr(colour, sgr), word,
			cli_sgr(colour, "0"), f[i].name, f[i].purpose);
		if (f[i].note[0])
			buf_addf(out, " [%s]", f[i].note);
		buf_addc(out, '\n');
		if (!f[i].err)
			continue;
		buf_addf(out, "%-8s %-16s ", "", "");
		add_why(out, &f[i]);
		buf_addf(out, "%s%s\n", f[i].fix[0] ? ": " : "", f[i].fix);
	}
}

/* Finds what confines this process already: a container, a snap, a chroot. */
static struct confinement *find_confinement(void)
{
	struct confinement_source source = {.root = "", .env = environ};
	struct confinement *c = calloc(1, sizeof *c);

	if (c)
		confinement_detect(&source, c);
	return c;
}

static void print_json(struct buf *out, const struct finding *f, size_t n,
	const struct utsname *u, const struct confinement *c)
{
	struct json j = JSON_INIT(out);

	json_putf(&j,
		"{ kernel %s machine %s inside %d uid %ju capabilities %ju "
		"findings [",
		u->release, u->machine, probe_inside(), (uintmax_t)geteuid(),
		(uintmax_t)probe_caps());
	for (size_t i = 0; i < n; i++) {
		json_putf(&j, "{ name %s works %d needed %d purpose %s",
			f[i].name, !f[i].err, f[i].needed, f[i].purpose);
		if (f[i].note[0])
			json_putf(&j, "note %s", f[i].note);
		if (f[i].err) {
			autobuf struct buf why = BUF_INIT(1024);

			add_why(&why, &f[i]);
			json_putf(&j, "error %s fix %s", buf_str(&why),
				f[i].fix);
		}
		json_close(&j);
	}
	json_close(&j);
	if (c)
		confinement_json(json_key(&j, "confinement"), c);
	json_end(&j);
}

#define D struct doctor
static const struct cli_opt opts[] = {
	CLI_FLAG('j', D, json, "json", "print facts as JSON"),
	CLI_FLAG('r', D, rights, "rights", "try each right of Landlock, too"),
};

static const struct cli_spec doctor_cli = {
	.name = "doctor",
	.usage = "[OPTION...]",
	.about = "Tries every protection in a child that is thrown away.\n"
		 "0: all that the policy in force needs is there; 1: not.",
	.example = "wardbox doctor\n"
		   "wardbox doctor --json  # for programs",
	CLI_OPTS(opts),
};

static int doctor_run(int argc, char **argv)
{
	autobuf struct buf out = BUF_INIT(1 << 18);
	autofree struct finding *f = calloc(FINDINGS_MAX, sizeof(*f));
	struct doctor o = {0};
	autofree struct confinement *confined = find_confinement();
	struct utsname u;
	int code = EXIT_OK;
	size_t n;

	/* Ignored, as some callers leave it, no child would be seen to end. */
	signal(SIGCHLD, SIG_DFL);
	if (cli_parse(&doctor_cli, &o, argc, argv) < argc)
		cli_die_usage(&doctor_cli, "takes no operands");
	if (!f || uname(&u) < 0)
		cli_die(EXIT_FOUND, "uname: %s", strerror(errno));
	n = find_all(&o, f);
	for (size_t i = 0; i < n; i++)
		if (f[i].err && f[i].needed)
			code = EXIT_FOUND;
	if (o.json) {
		print_json(&out, f, n, &u, confined);
	} else {
		buf_addf(&out, "Linux %s %s, uid %u%s\n", u.release, u.machine,
			geteuid(),
			probe_inside() ? ", inside of a guarded tree" : "");
		print_text(&out, f, n);
		buf_adds(&out, "\nAround this process:\n");
		if (confined)
			confinement_text(&out, confined);
	}
	cli_print(&out);
	return code;
}

const struct applet doctor_applet = {.run = doctor_run, .cli = &doctor_cli};
