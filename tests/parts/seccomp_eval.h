/* seccomp_eval.h - runs a filter as the kernel would
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SECCOMP_EVAL_H
#define WARDBOX_SECCOMP_EVAL_H

#include <string.h>

#include "box/seccomp_in.h"

/* What it returns (SC_ALLOW …); SC_KILL_PROCESS for a broken program. */
static inline uint32_t seccomp_eval(const struct bpf_insn1 *prog, size_t len,
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

#endif
