/* install_show.c - what is guarded, as people and programs read it
 * SPDX-License-Identifier: MIT
 */
#include "install.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "policy/policy.h"
#include "base/str.h"

static bool is_there(const struct shim_root *r, const char *path)
{
	autofd int fd = shim_root_openat(r, path, O_PATH);

	return fd >= 0;
}

static bool is_installed(const struct shim_root *r)
{
	for (size_t i = 0; i < r->entry_count; i++)
		if (r->entry[i].state == SHIM_GUARDED)
			return true;
	return false;
}

int install_check_policy(const struct install_opts *o, struct diag *d)
{
	const char *root = str_eq(o->root, "/") ? "" : o->root;
	autopolicy struct policy *p = NULL;
	autobuf struct buf file = BUF_INIT(PATH_MAX);
	autobuf struct buf dir = BUF_INIT(PATH_MAX);
	autobuf struct buf key = BUF_INIT(PATH_MAX);
	struct policy_where w = {.system_uid = geteuid(), .uid = geteuid()};
	int err;

	buf_addf(&file, "%s" POLICY_SYSTEM, root);
	buf_addf(&dir, "%s" POLICY_SYSTEM_DIR, root);
	buf_addf(&key, "%s" POLICY_KEY, root);
	w.system = buf_str(&file);
	w.system_dir = buf_str(&dir);
	w.key = buf_str(&key);
	err = dir.err ? diag_errno(d, dir.err, "%.80s", root)
		      : policy_load(&p, &w, d);
	return err ? err : p && p->state == POLICY_GOOD ? 0 : -EINVAL;
}

static bool is_sound(const struct shim_root *r, const struct install_opts *o)
{
	return shim_root_sound(r) &&
		(!is_installed(r) || (is_there(r, r->record.binary) &&
					  !install_check_policy(o, NULL)));
}

/* The step of install, and of uninstall, for a shell in that state. */
static const char *step_for(enum shim_state state, bool off)
{
	static const char *const steps[][2] = {
		[SHIM_PLAIN] = {"keep as .real, put the shim over it", NULL},
		[SHIM_HALF] = {"put the shim over it",
			"take the second name away"},
		[SHIM_GUARDED] = {"nothing: it is guarded", "put .real back"},
		[SHIM_OVERWRITTEN] = {"keep the newer one as .real, put the "
				      "shim over it",
			"keep it, take the older .real away"},
		[SHIM_REMOVED] = {"put the shim over it", "put .real back"},
		[SHIM_FOREIGN] = {NULL, NULL},
	};

	return steps[state][off] ? steps[state][off]
				 : "nothing: it is left alone";
}

static const char *step_on(enum shim_state state)
{
	return step_for(state, false);
}

static const char *step_off(enum shim_state state)
{
	return step_for(state, true);
}

static void json_file(struct json *j, const char *key, const char *path,
	bool there, bool made)
{
	json_key(j, key);
	json_putf(j, "{ path %s present %d made_by_install %d }", path, there,
		made);
}

/* The step of a planned run; NULL after a run. */
typedef const char *step_of(enum shim_state state);

static void json_entry(struct json *j, const struct shim_root *r,
	const struct shim_entry *e, step_of *step)
{
	const char *advice = shim_entry_advice(r, e);
	char real[SHIM_PATH_MAX + 8];

	BUF_PRINT(real, "%s.real", e->path);
	json_putf(j, "{ path %s state %s original %s links_to %s advice %s",
		e->path, shim_entry_state(r, e),
		e->state == SHIM_PLAIN ? e->path : real,
		e->target[0] ? e->target : NULL, advice[0] ? advice : NULL);
	if (step)
		json_put_str(j, "would", step(e->state));
	json_close(j);
}

static void print_json(const struct shim_root *r, const struct install_opts *o,
	step_of *step)
{
	autobuf struct buf out = BUF_INIT(65536);
	struct json j = JSON_INIT(&out);

	json_putf(&j, "{ root %s host %d installed %d sound %d interrupted %d",
		o->root, r->host, is_installed(r), is_sound(r, o),
		r->record.busy);
	json_file(&j, "binary", r->record.binary,
		is_there(r, r->record.binary), r->record.binary_made);
	json_file(&j, "policy", r->record.policy,
		is_there(r, r->record.policy), r->record.policy_made);
	json_put_open(&j, "shells", '[');
	for (size_t i = 0; i < r->entry_count; i++)
		if (r->entry[i].state != SHIM_ABSENT)
			json_entry(&j, r, &r->entry[i], step);
	json_putf(&j, "] }");
	buf_addc(&out, '\n');
	cli_print(&out);
}

static void add_entry(struct buf *out, const struct shim_root *r,
	const struct shim_entry *e)
{
	const char *advice = shim_entry_advice(r, e);

	buf_addf(out, "%-12s %s", shim_entry_state(r, e), e->path);
	if (e->target[0]) {
		buf_adds(out, e->state == SHIM_GUARDED ? ", original links to "
						       : ", links to ");
		cli_escape_str(out, e->target);
	}
	buf_addf(out, "%s%s\n", advice[0] ? ": " : "", advice);
}

void install_print(const struct shim_root *r, const struct install_opts *o)
{
	autobuf struct buf out = BUF_INIT(65536);

	if (o->json) {
		print_json(r, o, NULL);
		return;
	}
	for (size_t i = 0; i < r->entry_count; i++)
		if (r->entry[i].state != SHIM_ABSENT)
			add_entry(&out, r, &r->entry[i]);
	cli_print(&out);
}

static void add_file(
	struct buf *out, const char *what, const char *path, bool there)
{
	buf_addf(out, "%-12s %s%s\n", what, path,
		there ? "" : ": it is not there");
}

int install_print_status(
	const struct shim_root *r, const struct install_opts *o)
{
	autobuf struct buf out = BUF_INIT(65536);
	struct diag d = {0};

	if (is_installed(r) && install_check_policy(o, &d))
		cli_diag(&d);
	if (o->json) {
		print_json(r, o, NULL);
	} else {
		install_print(r, o);
		if (is_installed(r)) {
			add_file(&out, "binary", r->record.binary,
				is_there(r, r->record.binary));
			add_file(&out, "policy", r->record.policy,
				shim_has_policy(r));
		}
		if (r->record.busy)
			buf_adds(&out, "interrupted: run install, or install"
				       " --uninstall, again\n");
		if (!is_installed(r))
			buf_adds(&out, "wardbox is not installed here\n");
		cli_print(&out);
	}
	return is_installed(r) && is_sound(r, o) ? EXIT_OK : EXIT_FOUND;
}

static void add_makings(struct buf *out, const struct shim_root *r,
	const struct shim_plan *plan, bool binary)
{
	if (!plan) {
		if (r->record.binary_made)
			buf_addf(out, "%s: remove\n", r->record.binary);
		if (r->record.policy_made)
			buf_addf(out, "%s: remove if unchanged\n",
				r->record.policy);
		return;
	}
	if (binary)
		buf_addf(out, "%s: copy this wardbox\n", r->record.binary);
	if (shim_has_policy(r))
		return;
	buf_addf(out, "%s: write 'include %s'", r->record.policy,
		plan->include);
	if (plan->profile)
		buf_addf(out, " and 'use %s'", plan->profile);
	buf_adds(out, "\n");
}

void install_print_plan(const struct shim_root *r, const struct shim_plan *plan,
	bool binary, const struct install_opts *o)
{
	autobuf struct buf out = BUF_INIT(65536);

	if (o->json) {
		print_json(r, o, plan ? step_on : step_off);
		return;
	}
	add_makings(&out, r, plan, binary);
	for (size_t i = 0; i < r->entry_count; i++) {
		const struct shim_entry *e = &r->entry[i];

		if (e->state != SHIM_ABSENT)
			buf_addf(&out, "%s: %s\n", e->path,
				plan ? step_on(e->state) : step_off(e->state));
	}
	cli_print(&out);
}
