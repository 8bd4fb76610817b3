/* proc_text.h - what files below /proc say, read from their texts
 * SPDX-License-Identifier: MIT
 *
 * A process chooses its name, and where its file systems and groups lie, so all
 * of these texts hold words of others. A text ends with a NUL.
 */
#ifndef WARDBOX_PROC_TEXT_H
#define WARDBOX_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The number at the beginning of a text, as far as 64 bits go; 0: none. */
uint64_t proc_number(const char *s);

/* Adds the numbers in a text to an array of uint32_t. */
void proc_numbers(struct buf *pids, const char *s, size_t n);

/* PID/stat: field n (from 3), behind the name in parentheses; "" when there is
 * no such field. */
const char *proc_stat(const char *line, unsigned n);

/* The value behind key at the beginning of a line, without blanks in front, in
 * PID/status and files of that form; *len is its length in the line. NULL when
 * there is no such line. */
const char *proc_value(const char *text, const char *key, size_t *len);

/* The number of seccomp filters in force, by PID/status; before Linux 5.9 1 for
 * any. */
uint64_t proc_filters(const char *status);

/* The path for a controller in PID/cgroup ("" is version 2); a line is
 * "NUMBER:CONTROLLER,...:PATH". -ENOENT, -ENAMETOOLONG. */
int proc_cgroup(
	const char *text, const char *controller, char *out, size_t size);
/* The length of the part of such a line that names the place, and not a login
 * of a user. */
size_t proc_cgroup_place(const char *line, size_t n);

/* PID/mountinfo: the mounted device, and the place. */
struct proc_mount {
	const char *dev, *root, *point;
};
/* Takes the next one from the text at *at, which is changed, and moves *at
 * behind it: the words lie in the text. A line that lacks one of them is
 * skipped, so each takes at least PROC_MOUNT_LINE bytes. false at the end. */
enum { PROC_MOUNT_LINE = 10 };
bool proc_mount_next(char **at, struct proc_mount *m);

#endif
