/* profile_stub.c - x
 * SPDX-License-Identifier: MIT
 */
#include "profile.h"
int profile_verb_check(void *into, int argc, char **argv) { (void)into;(void)argc;(void)argv; return 9; }
int profile_verb_apply(void *into, int argc, char **argv) { (void)into;(void)argc;(void)argv; return 9; }
int profile_verb_doctor(void *into, int argc, char **argv) { (void)into;(void)argc;(void)argv; return 9; }
int profile_verb_fix(void *into, int argc, char **argv) { (void)into;(void)argc;(void)argv; return 9; }
int profile_verb_undo(void *into, int argc, char **argv) { (void)into;(void)argc;(void)argv; return 9; }
