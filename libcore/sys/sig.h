/* sig.h - signals by name, and given back to a child as they were
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_SIG_H
#define WARDBOX_SIG_H

#include <signal.h>
#include <stddef.h>

/* The signal that tells a supervisor to end the programs it stays with. */
#define SIG_END_TREE (SIGRTMAX - 1)

/* "TERM" for 15, "RTMIN+2" for real-time signals, NULL for no signal. buf holds
 * a name that is not constant. */
const char *sig_name(int sig, char *buf, size_t size);

/* "TERM", "SIGTERM", "term" or "15"; -EINVAL. */
int sig_number(const char *name);

/* Ends this process by sig, without a core file, so that the parent's wait sees
 * the command's end; falls back to _exit(128 + sig). */
__attribute__((noreturn)) void sig_die(int sig);

#endif
