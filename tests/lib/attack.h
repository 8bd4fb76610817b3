/* attack.h - between the parts of attack
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_ATTACK_H
#define TESTS_ATTACK_H

struct attack {
	const char *name;
	long (*run)(void); /* below 0: stopped, errno says by what */
};

/* Each ends with a NULL name. */
extern const struct attack attacks_files[], attacks_net[], attacks_process[];

/* The arguments behind the name. */
extern char **words;
const char *word(int i);
long number(int i);

#endif
