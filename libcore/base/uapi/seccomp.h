/* seccomp.h - the kernel's seccomp and classic BPF interface
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_UAPI_SECCOMP_H
#define WARDBOX_UAPI_SECCOMP_H

#include <stdint.h>
#include <sys/ioctl.h>

/* Operations and flags of seccomp(2). */
enum {
	SC_SET_MODE_FILTER = 1,
	SC_GET_ACTION_AVAIL = 2,
	SC_GET_NOTIF_SIZES = 3,
	SC_FLAG_NEW_LISTENER = 1 << 3,
	SC_FLAG_WAIT_KILLABLE = 1 << 5, /* 5.19 */
};

/* What a filter returns. */
#define SC_KILL_PROCESS 0x80000000U
#define SC_NOTIFY 0x7fc00000U
#define SC_ALLOW 0x7fff0000U
#define SC_ERRNO(e) (0x00050000U | (uint32_t)(e))

struct sc_data {
	int32_t nr;
	uint32_t arch;
	uint64_t ip;
	uint64_t args[6];
};

struct bpf_insn1 {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};
struct bpf_prog1 {
	uint16_t len;
	const struct bpf_insn1 *filter;
};
enum {
	BPF1_LD = 0x20, /* load a word of sc_data at offset k */
	BPF1_AND = 0x54,
	BPF1_JA = 0x05,
	BPF1_JEQ = 0x15,
	BPF1_JGE = 0x35,
	BPF1_JSET = 0x45,
	BPF1_RET = 0x06,
	BPF1_MAX = 4096,
};

struct sc_sizes {
	uint16_t notif, resp, data;
};
struct sc_notif {
	uint64_t id;
	uint32_t pid;
	uint32_t flags;
	struct sc_data data;
};
struct sc_resp {
	uint64_t id;
	int64_t val;
	int32_t error;
	uint32_t flags;
};
enum {
	SC_RESP_CONTINUE = 1,
	SC_FD_SYNC_WAKE_UP = 1, /* 6.6 */
};
#define SC_IOCTL_RECV _IOWR('!', 0, struct sc_notif)
#define SC_IOCTL_SEND _IOWR('!', 1, struct sc_resp)
#define SC_IOCTL_ID_VALID _IOW('!', 2, uint64_t)
#define SC_IOCTL_SET_FLAGS _IOW('!', 4, uint64_t)

#endif
