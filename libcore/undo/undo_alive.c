/* undo_alive.c - finds other names of objects that lost one
 * SPDX-License-Identifier: MIT
 */
#include "undo/undo_rec_in.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

enum { ALIVE_DEPTH = 128 };

/* Has one been seen whose other name could be anywhere? */
static bool is_sought(const struct undo_obj *o)
{
	return o->before.nlink > 1 && !o->after.mode && !undo_is_dir(&o->before);
}

static void look_in(struct undo *u, int fd, const char *path, unsigned depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		close(fd);
		return;
	}
	while ((e = readdir(dir))) {
		autofree char *in = NULL;
		struct undo_stat st;
		uint32_t id;
		int below;

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") ||
			undo_stat(dirfd(dir), e->d_name, &st))
			continue;
		id = undo_is_dir(&st) ? 0 : undo_find_obj(u, &st);
		if (!undo_is_dir(&st) && (!id || u->m->obj[id].alive))
			continue;
		in = malloc(UNDO_PATH);
		if (!in || path_join(in, UNDO_PATH, path, e->d_name))
			continue;
		if (id) {
			u->m->obj[id].alive = undo_keep(u->m, in);
			continue;
		}
		below = depth < ALIVE_DEPTH
				? openat(dirfd(dir), e->d_name,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
						  O_CLOEXEC)
				: -1;
		if (below >= 0)
			look_in(u, below, in, depth + 1);
	}
	closedir(dir);
}

void undo_find_alive(struct undo_model *m)
{
	struct undo u = {.m = m};
	bool any = false;

	for (uint32_t id = UNDO_ROOT; id < m->obj_count; id++)
		if (is_sought(&m->obj[id])) {
			undo_hash_obj(&u, id);
			any = true;
		}
	for (uint32_t i = 0; any && i < m->root_count; i++) {
		int fd = open(m->root[i],
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0)
			look_in(&u, fd, m->root[i], 0);
	}
	free(u.objs);
}
