/* confinement.c - what already confines this process, and how one can tell
 * SPDX-License-Identifier: MIT
 */
#include "profile/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/env.h"
#include "sys/file.h"
#include "base/path.h"
#include "sys/proc_text.h"
#include "base/str.h"

enum {
	SEEN_MAX = 65536,
	MAGIC_RAMFS = 0x858458f6,
	MAGIC_TMPFS = 0x01021994,
	ATTR_MOUNT_ROOT = 0x2000, /* statx: the root of a mount */
};

struct look {
	const struct confinement_source *source;
	struct confinement *out;
	bool live;
	struct buf text; /* the file read last */
};

static bool place_below(
	const struct look *l, const char *path, char *out, size_t size)
{
	return path_join(out, size, *l->source->root ? l->source->root : "/",
		       path + 1) == 0;
}

/* The file's text without its last newline; NULL when it cannot be read. */
static const char *read_text(struct look *l, const char *path)
{
	char real[1024];

	buf_clear(&l->text);
	if (!place_below(l, path, real, sizeof real) ||
		file_read(AT_FDCWD, real, &l->text))
		return NULL;
	while (l->text.len && strchr("\n", l->text.data[l->text.len - 1]))
		l->text.len--;
	return buf_str(&l->text);
}

static bool is_there(const struct look *l, const char *path)
{
	char real[1024];

	return place_below(l, path, real, sizeof real) && access(real,
		F_OK) == 0;
}

/* Copies what others wrote, which is shown on terminals. */
static void set_shown(char *to, size_t size, const char *s, size_t n)
{
	if (n >= size)
		n = size - 1;
	for (size_t i = 0; i < n; i++)
		to[i] = s[i] < ' ' || s[i] >= 0x7f ? '?' : s[i];
	to[n] = '\0';
}

/* The kind's one fact, that it confines; one found before is replaced. */
FLOATLESS __attribute__((format(printf, 3, 4))) static struct confinement_fact *
add_fact(struct look *l, enum confinement_kind kind, const char *evidence, ...)
{
	autobuf struct buf b = BUF_INIT(2 * SEEN_MAX);
	struct confinement_fact *f = l->out->fact;
	va_list ap;

	while (f < l->out->fact + l->out->count && f->kind != kind)
		f++;
	l->out->count += f == l->out->fact + l->out->count;
	va_start(ap, evidence);
	buf_vaddf(&b, evidence, ap);
	va_end(ap);
	*f = (struct confinement_fact){.kind = kind, .confined = true};
	set_shown(f->evidence, sizeof f->evidence, buf_str(&b), b.len);
	return f;
}

static void set_detail(struct confinement_fact *f, const char *s, size_t n)
{
	set_shown(f->detail, sizeof f->detail, s, n);
}

/* "snap.NAME.APP" in a label or a cgroup: NAME. */
static size_t snap_name(const char *text, const char **name)
{
	const char *at = str_find(text, "snap.");
	size_t n;

	if (!at || (at != text && at[-1] != '/'))
		return 0;
	*name = at + 5;
	n = strcspn(*name, ".\n /");
	return n && n < 41 && (*name)[n] == '.' ? n : 0;
}

static void look_snap(struct look *l, const char *label, const char *from)
{
	char path[128];
	struct confinement_fact *f;
	const char *name, *text, *mode;
	size_t n = snap_name(label, &name), len = 0;
	bool classic;

	if (!n)
		return;
	BUF_PRINT(path, "/snap/%.*s/current/meta/snap.yaml", (int)n, name);
	text = read_text(l, path);
	mode = text ? proc_value(text, "confinement:", &len) : NULL;
	classic = mode && len >= 7 && strncmp(mode, "classic", 7) == 0;
	f = add_fact(l, classic ? CONFINED_SNAP_CLASSIC : CONFINED_SNAP_STRICT,
		"%s names snap.%.*s; %s says %s", from, (int)n, name, path,
		classic ? "classic"
		: mode  ? "strict"
			: "nothing");
	f->confined = !classic;
	set_detail(f, name, n);
}

static void look_label(struct look *l)
{
	static const char apparmor[] = "/proc/self/attr/apparmor/current";
	static const char cgroup[] = "/proc/self/cgroup";
	char label[160];
	const char *text = read_text(l, apparmor), *mode;
	bool has_label = text && *text;
	struct confinement_fact *f;

	if (!has_label)
		text = read_text(l, cgroup);
	if (!text)
		return;
	/* The file read next takes the place of this one. */
	BUF_PRINT(label, "%.*s", (int)sizeof label - 1, text);
	if (!has_label) {
		look_snap(l, label, cgroup);
		return;
	}
	mode = strrchr(label, '(');
	f = add_fact(l, CONFINED_APPARMOR, "%s: %s", apparmor, label);
	f->confined = !str_eq(label, "unconfined") &&
		      !(mode && (str_after(mode, "(complain") ||
					str_after(mode, "(unconfined")));
	set_detail(f, label, strcspn(label, " "));
	if (str_after(label, "snap."))
		look_snap(l, label, apparmor);
}

static void look_selinux(struct look *l)
{
	const char *text = read_text(l, "/sys/fs/selinux/enforce");
	struct confinement_fact *f;
	bool enforcing;

	if (!text)
		return;
	enforcing = str_eq(text, "1");
	text = read_text(l, "/proc/self/attr/current");
	f = add_fact(l, CONFINED_SELINUX,
		"/sys/fs/selinux/enforce: %d; /proc/self/attr/current: %s",
		enforcing, text ? text : "unreadable");
	text = text ? text : "";
	f->confined = enforcing && !str_find(text, ":unconfined_t:");
	set_detail(f, text, strlen(text));
}

static void look_flatpak(struct look *l)
{
	const char *text = read_text(l, "/.flatpak-info");
	size_t n = 0;
	const char *name = text ? proc_value(text, "name=", &n) : NULL;

	if (text)
		set_detail(add_fact(l, CONFINED_FLATPAK, "/.flatpak-info is "
			"there"), name, n);
}

/* The kernel's struct statx, as far as it is of use here. */
struct statx_head {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, spare;
	uint64_t ino, size, blocks, attributes_mask;
	uint64_t rest[24];
};

/* The mount at "/" in a mountinfo: "major:minor root ", and the type of the
 * file system; "" for longer ones. The number of the mount is not compared,
 * because a new mount namespace has new numbers. */
struct root {
	char what[1024], type[24];
};

#define WORD_AT(to, s) BUF_PRINT(to, "%.*s", (int)strcspn(s, " \n"), s)

static bool find_root(const char *text, struct root *r)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n"), at = 0, from = 0;
		const char *dash;

		/* id parent major:minor root / options... - type */
		for (unsigned field = 0; field < 4 && at < n; field++) {
			from = field == 2 ? at : from;
			at += strcspn(text + at, " \n");
			at += text[at] == ' ';
		}
		if (at + 1 < n && text[at] == '/' && text[at + 1] == ' ') {
			dash = str_find(text + at, " - ");
			BUF_PRINT(r->what, "%.*s", (int)(at - from),
				text + from);
			WORD_AT(r->type, dash && dash < text + n ? dash + 3 : "");
			return true;
		}
		text += n;
		text += *text == '\n';
	}
	return false;
}

static bool statx_chroot(bool *known)
{
	struct statx_head st = {0};

	*known = syscall(SYS_statx, AT_FDCWD, "/", 0, 0, &st) == 0 &&
		 (st.attributes_mask & ATTR_MOUNT_ROOT);
	return *known && !(st.attributes & ATTR_MOUNT_ROOT);
}

static void look_chroot(struct look *l)
{
	struct root own, first;
	bool known = false;
	const char *text;

	if (l->live && statx_chroot(&known)) {
		add_fact(l, CONFINED_CHROOT,
			"statx(\"/\"): not the root of a mount");
		return;
	}
	text = read_text(l, "/proc/self/mountinfo");
	if (!text)
		return;
	if (!find_root(text, &own)) {
		add_fact(l, CONFINED_CHROOT,
			"/proc/self/mountinfo has no line for /");
		return;
	}
	if (!l->live && str_index("rootfs\0ramfs\0tmpfs\0", own.type) >= 0)
		add_fact(l, CONFINED_INITRAMFS, "/proc/self/mountinfo: / is %s",
			own.type);
	/* A chroot into a mount of its own is the root of one all the same. */
	text = read_text(l, "/proc/1/mountinfo");
	if (find_root(text, &first) && !str_eq(own.what, first.what))
		add_fact(l, CONFINED_CHROOT,
			"/proc/self/mountinfo: / is not the mount that process 1"
			" has there");
}

static const char *env_value(const struct look *l, const char *name)
{
	const char *value =
		l->source->env ? env_get(l->source->env, name) : NULL;

	return value && *value ? value : NULL;
}

/* Is the namespace another one than that of the machine's first process? */
static bool own_namespace(
	struct look *l, const char *path, const char *initial, char seen[64])
{
	char real[1024];
	ssize_t n = -1;

	if (place_below(l, path, real, sizeof real))
		n = readlink(real, seen, 63);
	seen[n > 0 ? n : 0] = '\0';
	return n > 0 && !str_find(seen, initial);
}

/* Signs of a container, the best first: a file or a variable, and which kind
 * it means; "" for the kind that it names. */
static const struct sign {
	char at[28], kind[11];
	bool separate; /* only where the pid namespace is not the first */
} signs[] = {
	{"/run/systemd/container", "", false},
	{"/run/host/container-manager", "", false},
	{"/run/.containerenv", "podman", false},
	{"KUBERNETES_SERVICE_HOST", "kubernetes", true},
	{"/.dockerenv", "docker", true},
	{"container", "", true},
};

/* The manager says which kind; namespaces say that there is one at all. */
static void look_container(struct look *l)
{
	char seen[64];
	bool separate =
		own_namespace(l, "/proc/self/ns/pid", "4026531836", seen);
	struct confinement_fact *f;
	const char *text;

	if (separate)
		add_fact(l, CONFINED_PID_NAMESPACE, "/proc/self/ns/pid: %s",
			seen);
	if (own_namespace(l, "/proc/self/ns/user", "4026531837", seen)) {
		text = read_text(l, "/proc/self/uid_map");
		add_fact(l, CONFINED_USER_NAMESPACE,
			"/proc/self/ns/user: %s; uid_map: %.60s", seen,
			text ? text : "unreadable");
	}
	for (const struct sign *s = signs; s < signs + ARRAY_SIZE(signs); s++) {
		text = s->at[0] != '/' ? env_value(l, s->at)
		       : s->kind[0]    ? is_there(l, s->at) ? "" : NULL
				       : read_text(l, s->at);
		if (!text || (!*text && !s->kind[0]) ||
			(s->separate && !separate))
			continue;
		if (s->kind[0])
			text = s->kind;
		f = add_fact(l, CONFINED_CONTAINER, "%s is there%s", s->at,
			s->separate ? ", and the pid namespace is not the first"
				    : "");
		set_detail(f, text, strcspn(text, "\n"));
		return;
	}
	if (is_there(l, "/.dockerenv"))
		add_fact(l, CONFINED_IMAGE_ORIGIN,
			"/.dockerenv is there, but the namespaces are the "
			"machine's: only the files came from an image")
			->confined = false;
}

static void look_tracer(struct look *l, const char *pid, size_t n)
{
	char path[64], number[16];
	const char *comm;

	BUF_PRINT(number, "%.*s", (int)n, pid);
	/* The next read overwrites the text that pid points into. */
	comm = read_text(l, BUF_PRINT(path, "/proc/%s/comm", number));
	add_fact(l, comm && str_after(comm, "proot") ? CONFINED_PROOT
						 : CONFINED_TRACED,
		"/proc/self/status: TracerPid %s (%s)", number,
		comm ? comm : "unknown");
}

static void look_status(struct look *l)
{
	const char *text = read_text(l, "/proc/self/status"), *value;
	size_t n;

	value = proc_value(text, "Seccomp:", &n);
	if (value && *value != '0')
		add_fact(l, CONFINED_SECCOMP,
			"/proc/self/status: Seccomp %.*s (%s)", (int)n, value,
			*value == '1' ? "strict" : "filter");
	value = proc_value(text, "NoNewPrivs:", &n);
	if (value && *value == '1')
		add_fact(l, CONFINED_NO_NEW_PRIVS,
			"/proc/self/status: NoNewPrivs 1");
	value = proc_value(text, "TracerPid:", &n);
	if (value && *value != '0')
		look_tracer(l, value, n);
}

static void look_machine(struct look *l)
{
	const char *text = read_text(l, "/proc/sys/kernel/osrelease");
	const char *home = env_value(l, "HOME");
	struct statfs fs;
	struct statvfs vfs;

	if (text && (str_find(text, "microsoft") || str_find(text, "Microsoft") ||
			    str_find(text, "WSL")))
		add_fact(l, CONFINED_WSL, "/proc/sys/kernel/osrelease: %s",
			text)->confined = false;
	if (!l->live)
		return;
	if (statfs("/", &fs) == 0 &&
		((unsigned long)fs.f_type == MAGIC_RAMFS ||
			(unsigned long)fs.f_type == MAGIC_TMPFS))
		add_fact(l, CONFINED_INITRAMFS, "statfs(\"/\"): %s",
			(unsigned long)fs.f_type == MAGIC_RAMFS ? "ramfs"
								: "tmpfs");
	if (home && home[0] == '/' && statvfs(home, &vfs) == 0 &&
		(vfs.f_flag & ST_RDONLY))
		add_fact(l, CONFINED_HOME_READ_ONLY,
			"statvfs(\"%.150s\"): read-only", home);
}

static void sort_facts(struct confinement *c)
{
	for (size_t i = 1; i < c->count; i++) {
		struct confinement_fact f = c->fact[i];
		size_t j = i;

		for (; j && c->fact[j - 1].kind > f.kind; j--)
			c->fact[j] = c->fact[j - 1];
		c->fact[j] = f;
	}
}

void confinement_detect(
	const struct confinement_source *source, struct confinement *out)
{
	struct look l = {.source = source,
		.out = out,
		.live = !*source->root,
		.text = BUF_INIT(SEEN_MAX)};

	out->count = 0;
	look_label(&l);
	look_selinux(&l);
	look_flatpak(&l);
	look_chroot(&l);
	look_container(&l);
	look_status(&l);
	look_machine(&l);
	buf_release(&l.text);
	sort_facts(out);
}
