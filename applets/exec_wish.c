/* exec_wish.c - what a caller wishes for its command beside the policy
 * SPDX-License-Identifier: MIT
 */
#include "exec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/kconfig.h"
#include "base/path.h"
#include "base/str.h"
#include "sys/env.h"

enum { ENVIRONMENT_MAX = 1 << 20 };

static __attribute__((noinline)) int name_missing(
	const char *path, char out[static PATH_MAX])
{
	char cwd[PATH_MAX];
	int err = path_cwd(cwd, sizeof cwd);

	return err ? err : path_normal(out, PATH_MAX, cwd, path);
}

/* The list as absolute paths, by their real names where they are there. */
static int read_paths(const struct cli_list *list, const char *const **out,
	size_t *count, const char *option, struct diag *d)
{
	const char **paths = calloc(list->count + 1, sizeof *paths);
	char real[PATH_MAX];
	int err = paths ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < list->count; i++) {
		err = path_real(list->item[i], real);
		if (err == -ENOENT)
			err = name_missing(list->item[i], real);
		if (err)
			return diag_errno(
				d, err, "--%s: %s", option, list->item[i]);
		paths[i] = strdup(real);
		err = paths[i] ? 0 : -ENOMEM;
	}
	*out = paths;
	*count = list->count;
	return err ? diag_errno(d, err, "--%s", option) : 0;
}

static int read_narrow(const struct exec_opts *o, struct exec_request *q,
	struct diag *d)
{
	static struct guard_narrow wish;
	int err;

	if (!o->read_only && !o->offline && !o->write.count &&
		!o->protect.count && !o->hide.count)
		return 0;
	if (o->read_only && o->write.count)
		return diag_fail(d, -EINVAL, "--read-only and --write do not go"
			" together");
	wish.writes = o->read_only || o->write.count;
	wish.offline = o->offline;
	q->narrow = &wish;
	err = read_paths(&o->write, &wish.write, &wish.write_count, "write",
		d);
	if (!err)
		err = read_paths(&o->protect, &wish.keep, &wish.keep_count,
			"protect", d);
	return err ? err : read_paths(&o->hide, &wish.hide, &wish.hide_count,
		"hide", d);
}

/* NAME=VALUE, a NUL behind each. */
static int read_environment(unsigned fd, struct exec_request *q, struct diag *d)
{
	struct buf text = BUF_INIT(ENVIRONMENT_MAX);
	struct env env = ENV_INIT;
	int err = buf_read_fd(&text, (int)fd);

	if (!err && text.len && text.data[text.len - 1])
		err = -EINVAL;
	for (size_t at = 0; !err && at < text.len;
		at += strlen(text.data + at) + 1)
		err = env_put(&env, text.data + at);
	close((int)fd);
	buf_release(&text);
	q->env = env.vec;
	return err ? diag_errno(d, err, "--environment: descriptor %u", fd) : 0;
}

int exec_wish(const struct exec_opts *o, struct exec_request *q, struct diag *d)
{
	int err = read_narrow(o, q, d);

	q->request = o->request;
	if (!err && o->request && !IS_ENABLED(CONFIG_SERVE_CODEX))
		err = diag_fail(d, -ENOSYS, "--request: SERVE_CODEX is not"
			" built in");
	if (!err && o->server && (q->narrow || o->environment || o->request))
		err = diag_fail(d, -EINVAL, "--%s is not for a --server",
			o->request ? "request" : o->environment ? "environment"
							: "read-only");
	if (!err && o->environment && o->environment <= STDERR_FILENO)
		err = diag_fail(d, -EINVAL, "--environment: 3 or above is a"
			" descriptor for it");
	return err || !o->environment ? err
		: read_environment(o->environment, q, d);
}
