/* seccomp.c - compiles, evaluates and installs the system call filter
 * SPDX-License-Identifier: MIT
 */
#include "box/seccomp_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "box/seccomp_table_in.h"
#include "base/str.h"
#include "base/uapi/nr.h"

/* A run of calls that are treated alike: from seg[i].start up to the next one's
 * start. The filter is a tree over these runs. */
struct seg {
	uint32_t start;
	uint8_t act;
};
enum { SEGS_MAX = 160 };

/* A program written from its end to its beginning, so that the target of every
 * jump, which may only go forward, exists already. A label is the number of
 * instructions from the end. */
struct prog {
	struct bpf_insn1 *insn; /* the end of the buffer is the program's end */
	size_t used, max;
	const struct seccomp_spec *spec;
	/* Shared endings: most of a filter is answers. */
	struct {
		uint32_t value;
		size_t label;
	} rets[8];
	size_t ret_count;
	size_t leaves[SECCOMP_ACTS]; /* labels of the leaves; 0: not written
				      * yet */
};
enum { JUMP_MAX = 250 }; /* eight bits, with room for one jump in between */

static size_t put_insn(struct prog *p, unsigned code, uint32_t k, size_t jt,
	size_t jf)
{
	p->used++;
	if (p->used <= p->max)
		p->insn[p->max - p->used] = (struct bpf_insn1){
			(uint16_t)code, (uint8_t)jt, (uint8_t)jf, k};
	return p->used;
}

/* The distance that the next instruction has to jump. */
static size_t jump_distance(const struct prog *p, size_t label)
{
	return p->used - label;
}

/* A label within reach of a conditional jump. */
static size_t near_label(struct prog *p, size_t label)
{
	if (jump_distance(p, label) <= JUMP_MAX)
		return label;
	return put_insn(p, BPF1_JA, (uint32_t)jump_distance(p, label), 0, 0);
}

static size_t op_ret(struct prog *p, uint32_t value)
{
	size_t i = 0;

	while (i < p->ret_count && p->rets[i].value != value)
		i++;
	if (i < p->ret_count && jump_distance(p, p->rets[i].label) <= JUMP_MAX)
		return p->rets[i].label;
	put_insn(p, BPF1_RET, value, 0, 0);
	if (i < ARRAY_SIZE(p->rets)) {
		p->rets[i].value = value;
		p->rets[i].label = p->used;
		p->ret_count = i == p->ret_count ? i + 1 : p->ret_count;
	}
	return p->used;
}

static size_t op_err(struct prog *p, int number)
{
	return op_ret(p, SC_ERRNO(number));
}

/* if (A op k) goto yes; goto no; */
static size_t op_test(struct prog *p, unsigned op, uint32_t k, size_t yes,
	size_t no)
{
	yes = near_label(p, yes);
	no = near_label(p, no);
	return put_insn(p, op, k, jump_distance(p, yes), jump_distance(p, no));
}

static size_t op_eq(struct prog *p, uint32_t k, size_t yes, size_t no)
{
	return op_test(p, BPF1_JEQ, k, yes, no);
}

static size_t op_any(struct prog *p, uint32_t k, size_t yes, size_t no)
{
	return op_test(p, BPF1_JSET, k, yes, no);
}

/* op k; goto next; */
static size_t op_then(struct prog *p, unsigned op, uint32_t k, size_t next)
{
	if (next != p->used)
		put_insn(p, BPF1_JA, (uint32_t)jump_distance(p, next), 0, 0);
	return put_insn(p, op, k, 0, 0);
}

/* A = the low or the high half of an argument; goto next; */
static size_t load_arg(struct prog *p, unsigned n, bool high, size_t next)
{
	bool swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	return op_then(p, BPF1_LD, 16 + 8 * n + (high != swap ? 4 : 0), next);
}

/* The leaves: each returns the label where its own instructions start. */

/* Ioctls that set something of a file: flags, attributes, versions and keys.
 * For ioctls that pass data in, the type letter alone decides. */
static size_t leaf_ioctl_meta(struct prog *p, size_t at, size_t no)
{
	static const char types[] = "fXv";

	for (const char *t = types; *t; t++)
		at = op_eq(p, (uint32_t)SECCOMP_IOC_GIVES | (uint32_t)*t << 8,
			no,
			at);
	at = op_then(p, BPF1_AND, (uint32_t)SECCOMP_IOC_GIVES | 0xff00U, at);
	at = load_arg(p, 1, false, at);
	/* Its direction bits say the contrary of what it does. */
	at = op_eq(p, SECCOMP_FSCRYPT, no, at);
	at = op_then(p, BPF1_AND, 0xffffU, at);
	return load_arg(p, 1, false, at);
}

static size_t leaf_ioctl(struct prog *p, bool metadata)
{
	size_t no = op_err(p, EPERM), at = op_ret(p, SC_ALLOW);

	if (metadata)
		at = leaf_ioctl_meta(p, at, no);

	/* Ioctls of subvolumes, by any number, without a look at their
	 * arguments: until Linux 6.8 a snapshot of any file copied everything
	 * beside it to a readable place. Ioctls that share a file's blocks have
	 * the same type and another size. */
	at = op_eq(p, SECCOMP_BTRFS_VOL, no, at);
	at = op_then(p, BPF1_AND, ~0xffU, at);
	if (p->spec->watch & WATCH_SCOPE) {
		at = op_eq(p, SECCOMP_FIOSETOWN, no, at);
		at = op_eq(p, SECCOMP_SIOCSPGRP, no, at);
	}
	at = op_eq(p, SECCOMP_TIOCSTI, no, at);
	at = op_eq(p, SECCOMP_TIOCLINUX, no, at);
	at = op_eq(p, SECCOMP_TIOCSETD, no, at);
	/* The kernel takes the command as 32 bits, so the upper half is not
	 * compared. */
	return load_arg(p, 1, false, at);
}

static size_t leaf_inet(struct prog *p)
{
	enum { STREAM = 1, TYPE_MASK = 0xf, TCP = 6 };
	size_t no = op_err(p, EPERM), yes = op_ret(p, SC_ALLOW), at;

	if (!p->spec->inet)
		return no;
	if (!p->spec->tcp_only)
		return yes;
	/* Multipath TCP would connect past Landlock's port rules. */
	at = op_eq(p, TCP, yes, no);
	at = op_eq(p, 0, yes, at);
	at = load_arg(p, 2, false, at);
	at = op_eq(p, STREAM, at, no);
	at = op_then(p, BPF1_AND, TYPE_MASK, at);
	return load_arg(p, 1, false, at);
}

static size_t leaf_socket(struct prog *p)
{
	enum { UNIX = 1, INET = 2, INET6 = 10, NETLINK = 16, SOCK_DIAG = 4 };
	size_t no = op_err(p, EPERM), yes = op_ret(p, SC_ALLOW);
	size_t inet = leaf_inet(p), route, at = op_err(p, EPROTONOSUPPORT);

	/* Of NETLINK only the route family, which the C library's name lookups use,
	 * and the plan's SOCK_DIAG. */
	at = p->spec->diag ? op_eq(p, SOCK_DIAG, yes, at) : at;
	route = load_arg(p, 2, false, op_eq(p, 0, yes, at));
	at = op_eq(p, NETLINK, route, op_err(p, EAFNOSUPPORT));
	at = op_eq(p, INET6, inet, at);
	at = op_eq(p, INET, inet, at);
	at = op_eq(p, UNIX, p->spec->unix_path ? yes : no, at);
	return load_arg(p, 0, false, at);
}

/* Datagram sockets of a pair could still send and connect to any path. */
static size_t leaf_socketpair(struct prog *p)
{
	enum { UNIX = 1, STREAM = 1, SEQPACKET = 5, TYPE_MASK = 0xf };
	size_t no = op_err(p, EPERM), yes = op_ret(p, SC_ALLOW), at = yes;

	if (!p->spec->unix_path) {
		at = op_eq(p, SEQPACKET, yes, no);
		at = op_eq(p, STREAM, yes, at);
		at = op_then(p, BPF1_AND, TYPE_MASK, at);
		at = load_arg(p, 1, false, at);
	}
	return load_arg(p, 0, false, op_eq(p, UNIX, at, no));
}

/* The limit on core dumps stays: a limit of 0 would start the machine's own
 * handler, outside, where the core pattern is a pipe. Scripts that set the
 * limit get success. */
static size_t leaf_rlimit(struct prog *p)
{
	size_t done = op_err(p, 0), yes = op_ret(p, SC_ALLOW);

	return load_arg(p, 0, false, op_eq(p, RLIMIT_CORE, done, yes));
}

/* Limits may be read, not set. */
static size_t leaf_reads(struct prog *p, size_t otherwise)
{
	size_t yes = op_ret(p, SC_ALLOW);
	size_t at = load_arg(p, 2, true, op_eq(p, 0, yes, otherwise));

	return load_arg(p, 2, false, op_eq(p, 0, at, otherwise));
}

static size_t leaf_prlimit(struct prog *p)
{
	size_t at = op_ret(p, SC_ALLOW);

	if (!p->spec->cores)
		at = load_arg(p, 1, false,
			op_eq(p, RLIMIT_CORE, leaf_reads(p, op_err(p, 0)), at));
	/* Limits of other processes may be read, not set: a CPU limit of 0
	 * kills as surely as a signal. */
	if (!p->spec->others)
		at = load_arg(p, 0, false, op_eq(p, 0, at, leaf_reads(p,
			op_err(p, EPERM))));
	return at;
}

/* With allowed, allows the call if one of the bits is set in argument n, else
 * if none is. */
static size_t leaf_bits(struct prog *p, unsigned n, uint32_t bits, bool allowed,
	int error)
{
	size_t no = op_err(p, error), yes = op_ret(p, SC_ALLOW);

	return load_arg(p, n, false,
		allowed ? op_any(p, bits, yes, no) : op_any(p, bits, no, yes));
}

/* An open that writes, makes or truncates a file is shown; where nothing is cut, an
 * open that truncates has to write. */
static size_t leaf_open(struct prog *p, unsigned n)
{
	enum { MODE = O_WRONLY | O_RDWR };
	size_t no = op_err(p, EACCES), at = op_ret(p, SC_ALLOW);

	if (p->spec->watch & WATCH_FILES)
		at = op_ret(p, SC_NOTIFY);
	else if (p->spec->watch & WATCH_WRITES)
		at = op_any(p, MODE | O_CREAT | O_TRUNC,
			op_ret(p, SC_NOTIFY), at);
	if (p->spec->uncut) {
		/* Both modes at once stand for neither. */
		at = load_arg(p, n, false, at);
		at = op_eq(p, MODE | O_TRUNC, no, at);
		at = op_eq(p, O_TRUNC, no, at);
		at = op_then(p, BPF1_AND, MODE | O_TRUNC, at);
	}
	return load_arg(p, n, false, at);
}

/* The pass is a secret of the process that executes the command. It stands in
 * two arguments, because on many machines one argument is too small. */
static size_t leaf_exec(struct prog *p)
{
	size_t ask = op_ret(p, SC_NOTIFY), at = op_ret(p, SC_ALLOW);

	if (!p->spec->pass)
		return ask;
	at = op_eq(p, (uint32_t)(p->spec->pass >> 32), at, ask);
	at = load_arg(p, 5, false, at);
	at = op_eq(p, (uint32_t)p->spec->pass, at, ask);
	return load_arg(p, 4, false, at);
}

/* Only this process: the kind "process", which the call knows as k; not a
 * group's, which reaches out of a pid namespace, nor a user's; and only 0 as
 * number, unless all visible processes are one's own. */
static size_t leaf_who(struct prog *p, uint32_t k)
{
	size_t no = op_err(p, EPERM), yes = op_ret(p, SC_ALLOW), at = yes;

	if (!p->spec->others)
		at = load_arg(p, 1, false, op_eq(p, 0, yes, no));
	return load_arg(p, 0, false, op_eq(p, k, at, no));
}

static size_t leaf_self(struct prog *p)
{
	size_t no = op_err(p, EPERM), yes = op_ret(p, SC_ALLOW);

	return load_arg(p, 0, false, op_eq(p, 0, yes, no));
}

static size_t leaf_prctl(struct prog *p)
{
	size_t inside = op_err(p, SECCOMP_INSIDE_ERRNO), yes = op_ret(p,
		SC_ALLOW);

	return load_arg(p, 0, false, op_eq(p, SECCOMP_INSIDE_OPTION, inside,
		yes));
}

/* No lease on a file, because others would wait up to a minute to open it, even
 * a program that everybody uses. Where the watch holds signals, the kernel sends
 * none for a descriptor to a process that was named for it. */
static size_t leaf_fcntl(struct prog *p)
{
	size_t no = op_err(p, EPERM), yes = op_ret(p, SC_ALLOW);
	size_t at = op_eq(p, SECCOMP_SETLEASE, no, yes);

	/* The two differ in one bit. */
	at = op_then(p, BPF1_AND, ~0x10U, at);
	if (p->spec->watch & WATCH_SCOPE) {
		at = op_eq(p, SECCOMP_SETOWN, no, at);
		at = op_eq(p, SECCOMP_SETOWN_EX, no, at);
	}
	return load_arg(p, 1, false, at);
}

static size_t new_leaf(struct prog *p, enum seccomp_act act)
{
	/* Files, cwd and semaphore undo lists belong to a process; unsharing
	 * them is harmless. */
	const uint32_t shared = 0x200 | 0x400 | 0x40000;
	const uint32_t fastopen = 0x20000000;

	switch (act) {
	case SECCOMP_ACT_ALLOW:
		return op_ret(p, SC_ALLOW);
	case SECCOMP_ACT_EPERM:
		return op_err(p, EPERM);
	case SECCOMP_ACT_EACCES:
		return op_err(p, EACCES);
	case SECCOMP_ACT_ENOSYS:
		return op_err(p, ENOSYS);
	case SECCOMP_ACT_NOTIFY:
		return op_ret(p, SC_NOTIFY);
	case SECCOMP_ACT_EXEC:
		return leaf_exec(p);
	case SECCOMP_ACT_OPEN:
		return leaf_open(p, 1);
	case SECCOMP_ACT_OPENAT:
		return leaf_open(p, 2);
	case SECCOMP_ACT_IOCTL:
	case SECCOMP_ACT_IOCTL_META:
		return leaf_ioctl(p, act == SECCOMP_ACT_IOCTL_META);
	case SECCOMP_ACT_SOCKET:
		return leaf_socket(p);
	case SECCOMP_ACT_SOCKETPAIR:
		return leaf_socketpair(p);
	case SECCOMP_ACT_SEND3:
		return leaf_bits(p, 3, fastopen, false, EPERM);
	case SECCOMP_ACT_SEND2:
		return leaf_bits(p, 2, fastopen, false, EPERM);
	case SECCOMP_ACT_CLONE:
		/* Denies CLONE_NEW*, and CLONE_PARENT, by which a process
		 * outside would get a child to wait for that it never
		 * started. */
		return leaf_bits(p, 0, 0x7e028000, false, EPERM);
	case SECCOMP_ACT_UNSHARE:
		return leaf_bits(p, 0, ~shared, false, EPERM);
	case SECCOMP_ACT_RLIMIT:
		return leaf_rlimit(p);
	case SECCOMP_ACT_PRLIMIT:
		return leaf_prlimit(p);
	case SECCOMP_ACT_WHO:
		return leaf_who(p, 0);
	case SECCOMP_ACT_IO_WHO:
		return leaf_who(p, 1);
	case SECCOMP_ACT_SELF:
		return leaf_self(p);
	case SECCOMP_ACT_PRCTL:
		return leaf_prctl(p);
	case SECCOMP_ACT_MEMFD:
		/* MFD_NOEXEC_SEAL */
		return leaf_bits(p, 1, 8, true, EACCES);
	case SECCOMP_ACT_FCNTL:
		return leaf_fcntl(p);
	}
	return op_ret(p, SC_KILL_PROCESS);
}

static size_t leaf_of(struct prog *p, enum seccomp_act act)
{
	size_t *at = &p->leaves[act];

	if (!*at || jump_distance(p, *at) > JUMP_MAX)
		*at = new_leaf(p, act);
	return *at;
}

/* Is segment i a single number in the midst of one treatment? */
static bool is_lone(const struct seg *seg, size_t i)
{
	return seg[i + 1].start == seg[i].start + 1 &&
	       seg[i - 1].act == seg[i + 1].act;
}

/* A binary search by the borders of the runs; a number that stands alone in a
 * run costs one test instead of two. */
static size_t build_tree(struct prog *p, const struct seg *seg, size_t n)
{
	enum { FEW = 9 };
	struct seg rest[FEW];
	size_t mid = n / 2, right, left, i = 1;

	if (n == 1)
		return leaf_of(p, seg[0].act);
	while (n <= FEW && i + 1 < n && !is_lone(seg, i))
		i++;
	if (n <= FEW && i + 1 < n) {
		memcpy(rest, seg, i * sizeof(*seg));
		memcpy(rest + i, seg + i + 2, (n - i - 2) * sizeof(*seg));
		right = leaf_of(p, seg[i].act);
		left = build_tree(p, rest, n - 2);
		return op_test(p, BPF1_JEQ, seg[i].start, right, left);
	}
	right = build_tree(p, seg + mid, n - mid);
	left = build_tree(p, seg, mid);
	return op_test(p, BPF1_JGE, seg[mid].start, right, left);
}

static size_t find_segments(const struct seccomp_spec *spec, struct seg *seg)
{
	uint8_t act[SECCOMP_NR_MAX + 1];
	size_t n = 0;

	seccomp_table(spec, act);
	for (uint32_t nr = 0; nr <= SECCOMP_NR_MAX && n < SEGS_MAX - 2; nr++)
		if (nr == 0 || act[nr] != act[nr - 1])
			seg[n++] = (struct seg){nr, act[nr]};
	if (NR_PRIVATE) {
		seg[n++] = (struct seg){(uint32_t)NR_PRIVATE, SECCOMP_ACT_ALLOW};
		seg[n++] = (struct seg){
			(uint32_t)NR_PRIVATE + 0x100, SECCOMP_ACT_ENOSYS};
	}
	return n;
}

int seccomp_build(const struct seccomp_spec *spec, struct bpf_insn1 *out,
	size_t max)
{
	struct prog p = {.insn = out, .max = max, .spec = spec};
	struct seg seg[SEGS_MAX];
	size_t n = find_segments(spec, seg), at, foreign;

	if (n >= SEGS_MAX - 2)
		return -ENOBUFS;
	at = build_tree(&p, seg, n);
	at = op_then(&p, BPF1_LD, 0, at); /* the number */
	foreign = op_ret(&p, spec->alone ? SC_ALLOW : SC_KILL_PROCESS);
	at = op_eq(&p, (uint32_t)NR_AUDIT_ARCH, at, foreign);
	op_then(&p, BPF1_LD, 4, at); /* the architecture */
	if (p.used > p.max)
		return -ENOBUFS;
	memmove(out, out + p.max - p.used, p.used * sizeof(*out));
	return (int)p.used;
}

int seccomp_install(const struct bpf_insn1 *prog, size_t len, bool listener)
{
	struct bpf_prog1 p = {.len = (uint16_t)len, .filter = prog};
	long r = syscall(__NR_seccomp, SC_SET_MODE_FILTER,
		listener ? SC_FLAG_NEW_LISTENER | SC_FLAG_WAIT_KILLABLE : 0,
		&p);

	/* Kernels before 5.19 know no killable wait. */
	if (r < 0 && errno == EINVAL && listener)
		r = syscall(__NR_seccomp, SC_SET_MODE_FILTER,
			SC_FLAG_NEW_LISTENER, &p);
	return r < 0 ? -errno : (int)r;
}
