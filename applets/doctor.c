/* doctor.c - what this machine can enforce, found by doing it
 * SPDX-License-Identifier: MIT
 *
 * APPLET(doctor)
 *
 * config APPLET_DOCTOR
 *	bool "doctor: what this machine can enforce (7.4 KB)"
 *	default y
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
#include "profile/confinement.h"
#include "sys/limits.h"
#include "sys/probe.h"
#include "base/str.h"

struct doctor {
	bool json, rights;
};

/* One row: what was tried, how it went, and what to make of that. */
struct finding {
	const char *name, *purpose, *fix;
	bool needed; /* by the default policy */
	int err;     /* 0 works */
	char note[64];
};

enum { LANDLOCK_ABI_NEEDED = 6, FINDINGS_MAX = PROBE_ITEMS + 40 };

static const struct {
	uint8_t item;
	bool needed;
	const char *text; /* name NUL purpose NUL fix */
} tries[] = {
	{PROBE_NNP, true,
		"no_new_privs\0set-user-id programs give nothing\0"
		"Linux 3.5 has it"},
	{PROBE_SECCOMP, true,
		"seccomp filter\0system calls, network, devices\0"
		"CONFIG_SECCOMP_FILTER; a container may forbid it"},
	{PROBE_NOTIFY, true,
		"seccomp notify\0each program started is decided and recorded\0"
		"Linux 5.5; one listener fits in a tree"},
	{PROBE_SCOPE_UNIX, true,
		"scope: sockets\0no abstract sockets of others\0"
		"Linux 6.12 (Landlock ABI 6)"},
	{PROBE_SCOPE_SIGNAL, true,
		"scope: signals\0no signals to others\0"
		"Linux 6.12 (Landlock ABI 6)"},
	{PROBE_USERNS, false,
		"user namespace\0the others without root\0"
		"sysctl kernel.unprivileged_userns_clone=1, or "
		"kernel.apparmor_restrict_unprivileged_userns=0"},
	{PROBE_PIDNS, false,
		"pid namespace\0own processes, fresh /proc; all end together\0"
		"needs user namespaces or CAP_SYS_ADMIN, and an unmasked /proc"},
	{PROBE_MOUNTNS, false,
		"mount namespace\0only what is granted can be changed; hidden places\0"
		"needs user namespaces or CAP_SYS_ADMIN"},
	{PROBE_IPCNS, false,
		"ipc namespace\0own System V IPC\0"
		"needs user namespaces or CAP_SYS_ADMIN"},
	{PROBE_NETNS, false,
		"net namespace\0an own loopback (--net=local)\0"
		"needs user namespaces or CAP_SYS_ADMIN"},
	{PROBE_PIDFD, true,
		"pidfd\0waits and signals without races\0"
		"Linux 5.3 has it"},
	{PROBE_CLOSE_RANGE, true,
		"close_range\0no descriptor is inherited by chance\0"
		"Linux 5.11 has it"},
	{PROBE_PTY, false,
		"terminals\0exec --pty\0"
		"mount devpts on /dev/pts"},
};

static void find_landlock(struct finding *f)
{
	int why, abi = probe_landlock_abi(&why);

	*f = (struct finding){
		.name = "landlock",
		.purpose = "files: read, write, execute",
		.needed = true,
		.fix = why == -EOPNOTSUPP ?
			       "boot with landlock in lsm=" :
			       "Linux 5.13 with CONFIG_SECURITY_LANDLOCK; 6.12 "
			       "for all that the default policy asks",
		.err = abi >= LANDLOCK_ABI_NEEDED ? 0 :
		       abi		      ? -ERANGE :
						why,
	};
	BUF_PRINT(f->note, "ABI %d", abi);
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

static size_t find_all(const struct doctor *o, struct finding *f)
{
	size_t n = 0;

	find_landlock(&f[n++]);
	for (size_t i = 0; i < ARRAY_SIZE(tries); i++)
		f[n++] = (struct finding){
			.name = tries[i].text,
			.purpose = str_nth(tries[i].text, 1),
			.fix = str_nth(tries[i].text, 2),
			.needed = tries[i].needed,
			.err = probe_try((enum probe_item)tries[i].item),
		};
	find_cgroup(&f[n++]);
	find_here(&f[n++]);
	return o->rights ? n + find_rights(f + n) : n;
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
		if (f[i].err)
			buf_addf(out, "%-8s %-16s %s: %s\n", "", "",
				strerror(-f[i].err), f[i].fix);
	}
}

/* What was there before us: a container, a snap, a chroot. */
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
		if (f[i].err)
			json_putf(&j, "error %s fix %s", strerror(-f[i].err),
				f[i].fix);
		json_close(&j);
	}
	json_close(&j);
	if (c)
		confinement_json(json_key(&j, "confinement"), c);
	json_close(&j);
	buf_addc(out, '\n');
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
		 "0: all that the default policy needs is there; 1: not.",
	.example = "wardbox doctor\n"
		   "wardbox doctor --json  # for programs",
	.opts = opts,
	.opt_count = ARRAY_SIZE(opts),
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
