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

/* The number that a text begins with, as far as 64 bits go; 0 for none. */
uint64_t proc_number(const char *s);

/* Adds the numbers in a text to an array of uint32_t. */
void proc_numbers(struct buf *pids, const char *s, size_t n);

/* PID/stat: field n (from 3), behind the name in parentheses; "" when there is
 * no such field. */
const char *proc_stat(const char *line, unsigned n);

/* PID/status, and other files of that form: what stands behind key at the start
 * of a line, without the blanks before it, and *len of it in that line. NULL when
 * no line starts so. */
const char *proc_value(const char *text, const char *key, size_t *len);

/* PID/cgroup: the path that it has for a controller ("" is version 2); a line is
 * "NUMBER:CONTROLLER,...:PATH". -ENOENT, -ENAMETOOLONG. */
int proc_cgroup(
	const char *text, const char *controller, char *out, size_t size);
/* How much of such a line says where, and not in which login of a user. */
size_t proc_cgroup_place(const char *line, size_t n);

/* PID/mountinfo: what is mounted of which device, and where. */
struct proc_mount {
	const char *dev, *root, *point;
};
/* The next one of the text at *at, which is then behind it and was changed: the
 * words lie in it. A line that lacks one of them is left out, so that each takes
 * PROC_MOUNT_LINE bytes at least. false at the end. */
enum { PROC_MOUNT_LINE = 10 };
bool proc_mount_next(char **at, struct proc_mount *m);

#endif
