/* seccomp.c - compiles, evaluates and installs the system call filter
 * SPDX-License-Identifier: MIT
 */
#include "seccomp.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "seccomp_table.h"
#include "uapi/nr.h"

/* The filter is a tree over runs of equal treatment: from seg[i].start up to
 * the next one's start, every number is treated alike. */
struct seg {
	uint32_t start;
	uint8_t act;
};
enum { SEGS_MAX = 160 };

struct prog {
	struct bpf_insn1 *insn;
	size_t len, max;
	const struct seccomp_spec *spec;
};

static void add(struct prog *p, unsigned code, uint32_t k, unsigned jt,
	unsigned jf)
{
	if (p->len < p->max)
		p->insn[p->len] = (struct bpf_insn1){
			(uint16_t)code, (uint8_t)jt, (uint8_t)jf, k};
	p->len++;
}

static void ret(struct prog *p, uint32_t value)
{
	add(p, BPF1_RET, value, 0, 0);
}

/* Loads the low or the high half of an argument. */
static void arg(struct prog *p, unsigned n, bool high)
{
	bool swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	add(p, BPF1_LD, 16 + 8 * n + (high != swap ? 4 : 0), 0, 0);
}

/* if (A == k) return value; */
static void ret_if_eq(struct prog *p, uint32_t k, uint32_t value)
{
	add(p, BPF1_JEQ, k, 0, 1);
	ret(p, value);
}

/* if (A & k) return value; */
static void ret_if_set(struct prog *p, uint32_t k, uint32_t value)
{
	add(p, BPF1_JSET, k, 0, 1);
	ret(p, value);
}

static void leaf_ioctl(struct prog *p)
{
	/* The kernel takes the command as 32 bits: the upper half must not
	 * hide it from us. */
	arg(p, 1, false);
	ret_if_eq(p, SECCOMP_TIOCSTI, SC_ERRNO(EPERM));
	ret_if_eq(p, SECCOMP_TIOCLINUX, SC_ERRNO(EPERM));
	ret_if_eq(p, SECCOMP_TIOCSETD, SC_ERRNO(EPERM));
	ret(p, SC_ALLOW);
}

static void leaf_socket(struct prog *p)
{
	enum { UNIX = 1, INET = 2, INET6 = 10, NETLINK = 16 };
	enum { STREAM = 1, TYPE_MASK = 0xf, TCP = 6 };

	arg(p, 0, false);
	ret_if_eq(p, UNIX, p->spec->unix_path ? SC_ALLOW : SC_ERRNO(EPERM));
	/* Routes alone may be asked for: the C library's name lookups do. */
	add(p, BPF1_JEQ, NETLINK, 0, 4);
	arg(p, 2, false);
	add(p, BPF1_JEQ, 0, 0, 1);
	ret(p, SC_ALLOW);
	ret(p, SC_ERRNO(EPERM));
	add(p, BPF1_JEQ, INET, 2, 0);
	add(p, BPF1_JEQ, INET6, 1, 0);
	ret(p, SC_ERRNO(EAFNOSUPPORT));
	if (!p->spec->inet) {
		ret(p, SC_ERRNO(EPERM));
		return;
	}
	if (!p->spec->tcp_only) {
		ret(p, SC_ALLOW);
		return;
	}
	arg(p, 1, false);
	add(p, BPF1_AND, TYPE_MASK, 0, 0);
	add(p, BPF1_JEQ, STREAM, 1, 0);
	ret(p, SC_ERRNO(EPERM));
	arg(p, 2, false);
	ret_if_eq(p, 0, SC_ALLOW);
	ret_if_eq(p, TCP, SC_ALLOW);
	/* Multipath TCP connects past Landlock's port rules. */
	ret(p, SC_ERRNO(EPERM));
}

static void leaf_send(struct prog *p, unsigned flags_arg)
{
	enum { FASTOPEN = 0x20000000 };

	arg(p, flags_arg, false);
	ret_if_set(p, FASTOPEN, SC_ERRNO(EPERM));
	ret(p, SC_ALLOW);
}

static void leaf_clone(struct prog *p)
{
	enum {
		NEW = 0x7e020000,
		THREAD = 0x10000,
	};

	arg(p, 0, false);
	ret_if_set(p, NEW, SC_ERRNO(EPERM));
	if (p->spec->watch_fork) {
		add(p, BPF1_JSET, THREAD, 1, 0);
		ret(p, SC_NOTIFY);
	}
	ret(p, SC_ALLOW);
}

static void leaf_prlimit(struct prog *p)
{
	/* Another's limits may be read (no new ones given), not set: a CPU
	 * limit of nothing kills as surely as a signal. */
	arg(p, 0, false);
	ret_if_eq(p, 0, SC_ALLOW);
	arg(p, 2, false);
	add(p, BPF1_JEQ, 0, 0, 2);
	arg(p, 2, true);
	ret_if_eq(p, 0, SC_ALLOW);
	ret(p, SC_ERRNO(EPERM));
}

static void leaf_memfd(struct prog *p)
{
	enum { NOEXEC_SEAL = 8 };

	arg(p, 1, false);
	ret_if_set(p, NOEXEC_SEAL, SC_ALLOW);
	ret(p, SC_ERRNO(EACCES));
}

/* Allowed when the argument is zero: "myself", "what I am". */
static void leaf_zero(struct prog *p, unsigned n)
{
	arg(p, n, false);
	ret_if_eq(p, 0, SC_ALLOW);
	ret(p, SC_ERRNO(EPERM));
}

static void leaf(struct prog *p, enum seccomp_act act)
{
	enum { OTHER_FLAGS = (int)~(0x200U | 0x400U | 0x40000U) };

	switch (act) {
	case SECCOMP_ACT_ALLOW:
		ret(p, SC_ALLOW);
		break;
	case SECCOMP_ACT_EPERM:
		ret(p, SC_ERRNO(EPERM));
		break;
	case SECCOMP_ACT_ENOSYS:
		ret(p, SC_ERRNO(ENOSYS));
		break;
	case SECCOMP_ACT_NOTIFY:
		ret(p, SC_NOTIFY);
		break;
	case SECCOMP_ACT_IOCTL:
		leaf_ioctl(p);
		break;
	case SECCOMP_ACT_SOCKET:
		leaf_socket(p);
		break;
	case SECCOMP_ACT_SOCKETPAIR:
		arg(p, 0, false);
		ret_if_eq(p, 1, SC_ALLOW);
		ret(p, SC_ERRNO(EPERM));
		break;
	case SECCOMP_ACT_SENDTO:
		leaf_send(p, 3);
		break;
	case SECCOMP_ACT_SENDMSG:
		leaf_send(p, 2);
		break;
	case SECCOMP_ACT_SENDMMSG:
		leaf_send(p, 3);
		break;
	case SECCOMP_ACT_CLONE:
		leaf_clone(p);
		break;
	case SECCOMP_ACT_UNSHARE:
		/* Files, cwd and semaphore undo lists are a process's own. */
		arg(p, 0, false);
		ret_if_set(p, (uint32_t)OTHER_FLAGS, SC_ERRNO(EPERM));
		ret(p, SC_ALLOW);
		break;
	case SECCOMP_ACT_PRLIMIT:
		leaf_prlimit(p);
		break;
	case SECCOMP_ACT_WHO:
		leaf_zero(p, 1);
		break;
	case SECCOMP_ACT_PRCTL:
		arg(p, 0, false);
		ret_if_eq(p, SECCOMP_INSIDE_OPTION,
			SC_ERRNO(SECCOMP_INSIDE_ERRNO));
		ret(p, SC_ALLOW);
		break;
	case SECCOMP_ACT_MEMFD:
		leaf_memfd(p);
		break;
	}
}

/* jge mid, right, left; a jump of more than 255 goes by way of a ja. The left
 * half may be moved up for it: no jump leaves it. */
static void tree(struct prog *p, const struct seg *seg, size_t n)
{
	size_t mid = n / 2, at = p->len, left;

	if (n == 1) {
		leaf(p, seg[0].act);
		return;
	}
	add(p, BPF1_JGE, seg[mid].start, 0, 0);
	tree(p, seg, mid);
	left = p->len - at - 1;
	if (left > UINT8_MAX) {
		add(p, 0, 0, 0, 0);
		if (p->len <= p->max) {
			memmove(p->insn + at + 2, p->insn + at + 1,
				left * sizeof(*p->insn));
			p->insn[at].jf = 1;
			p->insn[at + 1] = (struct bpf_insn1){
				BPF1_JA, 0, 0, (uint32_t)left};
		}
	} else if (at < p->max) {
		p->insn[at].jt = (uint8_t)left;
	}
	tree(p, seg + mid, n - mid);
}

static size_t segments(const struct seccomp_spec *spec, struct seg *seg)
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
	size_t n = segments(spec, seg);

	if (n >= SEGS_MAX - 2)
		return -ENOBUFS;
	add(&p, BPF1_LD, 4, 0, 0);
	add(&p, BPF1_JEQ, (uint32_t)NR_AUDIT_ARCH, 1, 0);
	ret(&p, SC_KILL_PROCESS);
	add(&p, BPF1_LD, 0, 0, 0);
	tree(&p, seg, n);
	return p.len > p.max ? -ENOBUFS : (int)p.len;
}

uint32_t seccomp_eval(const struct bpf_insn1 *prog, size_t len,
	const struct sc_data *data)
{
	uint32_t a = 0;

	for (size_t pc = 0; pc < len; pc++) {
		const struct bpf_insn1 *i = &prog[pc];
		bool yes = false;

		switch (i->code) {
		case BPF1_LD:
			if (i->k > sizeof(*data) - 4)
				return SC_KILL_PROCESS;
			memcpy(&a, (const char *)data + i->k, 4);
			continue;
		case BPF1_AND:
			a &= i->k;
			continue;
		case BPF1_JA:
			pc += i->k;
			continue;
		case BPF1_JEQ:
			yes = a == i->k;
			break;
		case BPF1_JGE:
			yes = a >= i->k;
			break;
		case BPF1_JSET:
			yes = a & i->k;
			break;
		case BPF1_RET:
			return i->k;
		default:
			return SC_KILL_PROCESS;
		}
		pc += yes ? i->jt : i->jf;
	}
	return SC_KILL_PROCESS;
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
