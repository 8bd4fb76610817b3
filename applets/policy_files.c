/* policy_files.c - policy check and compile
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys/file.h"
#include "guard/guard.h"
#include "policy_applet.h"
#include "policy/policy_image.h"
#include "policy/policy_load.h"
#include "base/str.h"

extern char **environ;

/* The layer that a file says it is: "policy 1 LAYER"; else by its place. */
static enum policy_layer layer_of(const char *path)
{
	autobuf struct buf text = BUF_INIT(1 << 20);
	const char *at, *layer;

	if (file_read(AT_FDCWD, path, &text) < 0)
		text.len = 0;
	for (at = buf_str(&text); *at; at += *at == '\n') {
		layer = str_after(at, "policy 1 ");
		if (layer && str_after(layer, "user"))
			return POLICY_LAYER_USER;
		if (layer && str_after(layer, "project"))
			return POLICY_LAYER_PROJECT;
		at += strcspn(at, "\n");
	}
	return str_ends(path, ".wardbox/policy") ? POLICY_LAYER_PROJECT
						 : POLICY_LAYER_SYSTEM;
}

void policy_tell(struct json *j, const char *path, const struct diag *d)
{
	json_putf(j, "{ policy %s good %d", path, !d);
	if (d)
		json_putf(j, "file %s line %ju column %ju error %s hint %s",
			d->file, (uintmax_t)d->line, (uintmax_t)d->col, d->text,
			d->hint);
}

/* d: what is wrong, NULL for nothing. */
static void tell_file(const struct policy_opts *o, struct json *j,
	const char *path, unsigned tests, const struct diag *d)
{
	if (o->json) {
		policy_tell(j, path, d);
		if (!d)
			json_put_u64(j, "tests", tests);
		json_close(j);
	} else if (d) {
		cli_diag(d);
	} else {
		buf_addf(j->out, "%s: good, %u tests pass\n", path, tests);
	}
}

/* Are the rules sound, do the tests pass, and could a command start under the
 * policy? */
static bool is_good(struct policy *p, unsigned *tests, struct diag *d)
{
	const struct guard_caller who = {.env = environ};

	return p->state == POLICY_GOOD && policy_test(p, tests, d) == 0 &&
		guard_try(&who, p, d) == 0;
}

/* Checks one file together with the layers beneath it. */
static bool check_file(
	const struct policy_opts *o, struct json *j, const char *path)
{
	autopolicy struct policy *p = NULL;
	struct policy_where w = {.uid = geteuid(), .system_uid = geteuid()};
	struct diag d = {0};
	unsigned ran = 0;
	bool good;

	switch (layer_of(path)) {
	case POLICY_LAYER_USER:
		w.user = path;
		break;
	case POLICY_LAYER_PROJECT:
		w.project = path;
		break;
	case POLICY_LAYER_SYSTEM:
	case POLICY_LAYERS:
		w.system = path;
		break;
	}
	if (access(path, R_OK) < 0)
		good = diag_errno(&d, -errno, "%s", path) == 0;
	else
		good = policy_load(&p, &w, &d) == 0 &&
			is_good(p, &ran, &d);
	tell_file(o, j, path, ran, good ? NULL : &d);
	return good;
}

int policy_check(void *into, int argc, char **argv)
{
	const struct policy_opts *o = into;
	autobuf struct buf out = BUF_INIT(1 << 20);
	struct json j = JSON_INIT(&out);
	autohere struct policy_here *h = NULL;
	struct diag d = {0};
	unsigned ran = 0;
	bool good = true;

	if (o->json)
		json_open(&j, '[');
	for (int i = 1; i < argc; i++)
		good &= check_file(o, &j, argv[i]);
	if (argc < 2) {
		h = policy_find_here(o);
		good = is_good(h->policy, &ran, &d);
		/* policy_find_here() told what is wrong with the policy
		 * already. */
		if (good || d.text[0] || o->json)
			tell_file(o, &j, "the policy in force", ran,
			good ? NULL : &d);
	}
	cli_print_json(&j);
	return good ? EXIT_OK : POLICY_EXIT_BROKEN;
}

int policy_compile(void *into)
{
	const struct policy_opts *o = into;
	const char *target = o->output ? o->output : POLICY_IMAGE;
	struct policy_where w = {
		.system = o->system ? o->system : POLICY_SYSTEM,
		.system_dir = o->system ? NULL : POLICY_SYSTEM_DIR,
		.key = POLICY_KEY,
		.system_uid = o->system ? geteuid() : 0,
		.uid = geteuid()};
	autobuf struct buf out = BUF_INIT(8192);
	char space[80];
	struct buf text = BUF_FIXED(space);
	struct json j = JSON_INIT(&out);
	struct policy p = {0};
	struct policy_image *img = NULL;
	struct diag d = {0};
	void *bytes;
	unsigned ran;
	size_t size;

	if (policy_build_system(&w, &bytes, &size, &d) < 0)
		cli_die_diag(POLICY_EXIT_BROKEN, &d);
	if (policy_image_wrap(&img, bytes, size, &d) < 0)
		cli_die_diag(POLICY_EXIT_BROKEN, &d);
	p.layer[POLICY_LAYER_SYSTEM] = img;
	if (policy_test(&p, &ran, &d) < 0)
		cli_die_diag(POLICY_EXIT_BROKEN, &d);
	if (!o->dry_run)
		policy_write(target, bytes, size, 0444);
	buf_addf(&text, "%zu bytes, %u tests pass", size, ran);
	policy_image_free(img);
	policy_wrote(o, &j, target, buf_str(&text));
	cli_print_json(&j);
	return EXIT_OK;
}
