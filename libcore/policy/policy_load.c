/* policy_load.c - the policy that holds: its layers, what they come from, and what is
 * kept for the commands that follow
 * SPDX-License-Identifier: MIT
 */
#include "policy/policy_load.h"

#include <bearssl_hash.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/str.h"
#include "sys/file.h"

/* A file's time is no finer than a tick of the clock: a file that was written a
 * moment ago can be written again and look the same. */
static bool is_settled(const struct policy_image *img)
{
	enum { MOMENT = 2 };
	const uint64_t now = clock_ns(CLOCK_REALTIME) / 1000000000;
	struct img_source s;

	for (uint32_t i = 0; i < IMG_COUNT(img, IMG_SOURCE); i++) {
		img_get(img, IMG_SOURCE, i, &s);
		if (img_u64(s.ctime_s) + MOMENT > now)
			return false;
	}
	return true;
}

void policy_keep(const struct policy *p, const struct policy_where *w)
{
	struct policy_image *img = p->layer[POLICY_LAYER_SYSTEM];
	struct policy alone = {.layer[POLICY_LAYER_SYSTEM] = img};
	struct diag quiet = {0};
	unsigned ran;

	if (!w->image || w->uid || w->system_uid || p->state != POLICY_GOOD ||
		img->how != IMG_OWNED || !is_settled(img) ||
		policy_test(&alone, &ran, &quiet))
		return;
	file_make(w->image, img->head, img->head->size, 0444, false);
}

/* Checks the directory of the policy, because a user who can write there could
 * remove the policy, and the one that holds then may be looser. */
static int check_place(const struct policy_where *w, struct diag *d)
{
	char dir[1200];
	struct buf b = BUF_FIXED(dir);
	struct stat st;

	if (!w->system)
		return 0;
	buf_add(&b, w->system, (size_t)(path_base(w->system) - w->system));
	buf_addc(&b, '.');
	/* The directory does not exist, or only a file's owner can remove a
	 * file. */
	if (stat(buf_str(&b), &st) < 0 || st.st_mode & S_ISVTX)
		return b.err;
	b.len -= b.len > 2 ? 2 : 0;
	return file_trusted(&st, w->system_uid, buf_str(&b), d);
}

/* Reads a line that only chooses a profile; false for any other line. */
static bool line_uses(char *line, uint8_t *use)
{
	const char *word[3] = {"", "", ""};
	enum policy_profile p;
	size_t n = 0;

	for (char *at = line, *next; (next = strsep(&at, " \t"));) {
		if (*next == '#')
			break;
		if (!*next)
			continue;
		/* Too many words, or an indented line. */
		if (n == ARRAY_SIZE(word) || (!n && next != line))
			return false;
		word[n++] = next;
	}
	if (n == 2 && str_eq(word[0], "use") &&
		policy_profile_parse(word[1], &p) == 0) {
		*use = (uint8_t)(p + 1);
		return true;
	}
	return n == 0 || (n == 3 && str_eq(word[0], "policy") &&
				 str_eq(word[1], "1") && str_eq(word[2], "system"));
}

/* Reads a system file that only says "use PROFILE": *p gets 1 + the profile,
 * and the sum. The compiler complains about a file that cannot be read or
 * trusted. */
static bool only_uses(const struct policy_where *w, struct policy *p)
{
	char text[2048], *line = text;
	br_sha256_context sum;
	autofd int fd = -1;
	uint8_t said = 0;
	ssize_t n;

	if (!w->brief || !w->system || !policy_absent(w->system_dir) ||
		!policy_absent(w->key))
		return false;
	fd = openat(AT_FDCWD, w->system, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || file_check_trusted(fd, w->system_uid, w->system, NULL))
		return false;
	n = read(fd, text, sizeof(text));
	if (n <= 0 || n == sizeof(text))
		return false;
	text[n] = '\0';
	if (strlen(text) < (size_t)n || strchr(text, '\\'))
		return false;
	br_sha256_init(&sum);
	br_sha256_update(&sum, text, (size_t)n);
	br_sha256_out(&sum, p->sum);
	while (line)
		if (!line_uses(strsep(&line, "\n"), &said))
			return false;
	p->use = said;
	return said > 0;
}

/* The built-in policy is all there is, but for the chosen profile. */
static bool only_builtin(const struct policy_where *w, struct policy *p)
{
	br_sha256_context nothing;

	if (only_uses(w, p))
		return true;
	br_sha256_init(&nothing);
	br_sha256_out(&nothing, p->sum);
	return policy_absent(w->system) && policy_absent(w->system_dir);
}

static int load_builtin(struct policy *p, struct diag *d)
{
	struct policy_image *img = policy_image_builtin();

	p->layer[POLICY_LAYER_SYSTEM] = img;
	return img ? 0 : diag_fail(d, -ENOMEM, "out of memory");
}

static int load_system(
	struct policy *p, const struct policy_where *w, struct diag *d)
{
	struct policy_image *old = NULL;
	struct diag quiet;
	void *bytes = NULL;
	size_t size = 0;
	int rc;

	if (w->image &&
		policy_image_open(&old, w->image, w->system_uid, &quiet) == 0) {
		p->layer[POLICY_LAYER_SYSTEM] = old;
	}
	rc = check_place(w, d);
	if (rc == 0 && old && policy_fresh(old, w))
		return 0;
	if (rc == 0 && only_builtin(w, p)) {
		policy_image_free(old);
		p->layer[POLICY_LAYER_SYSTEM] = NULL;
		return load_builtin(p, d);
	}
	if (rc == 0)
		rc = policy_build_system(w, &bytes, &size, d);
	if (rc == -ENOMEM)
		return rc;
	if (rc < 0) {
		p->state = old ? POLICY_STALE : POLICY_BROKEN;
		return 0;
	}
	policy_image_free(old);
	p->layer[POLICY_LAYER_SYSTEM] = NULL;
	rc = policy_image_wrap(
		&p->layer[POLICY_LAYER_SYSTEM], bytes, size, d);
	if (rc < 0)
		free(bytes);
	return rc;
}

/* A layer that exists and cannot be read breaks the whole policy. */
static int load_lower(struct policy *p, enum policy_layer layer,
	const char *path, uid_t uid, struct diag *d)
{
	void *bytes = NULL;
	size_t size = 0;
	int rc;

	if (policy_absent(path))
		return 0;
	rc = policy_build_file(path, layer, uid, layer == POLICY_LAYER_USER,
		p->layer[POLICY_LAYER_SYSTEM], &bytes, &size, d);
	if (rc == -ENOMEM)
		return rc;
	if (rc < 0) {
		p->state = POLICY_BROKEN;
		return 0;
	}
	rc = policy_image_wrap(&p->layer[layer], bytes, size, d);
	if (rc < 0)
		free(bytes);
	return rc;
}

/* Sums up the policy in force: the built-in policy, and the sources of each
 * layer. */
static void sum_up(struct policy *p)
{
	const struct img_u64 mark = img_parts(policy_default_mark);
	br_sha256_context c;

	br_sha256_init(&c);
	for (unsigned i = 0; i < ARRAY_SIZE(mark.part); i++)
		br_sha256_update(&c,
			(uint8_t[]){(uint8_t)mark.part[i],
				(uint8_t)(mark.part[i] >> 8)}, 2);
	for (unsigned i = 0; i < POLICY_LAYERS; i++) {
		if (!p->layer[i])
			continue;
		br_sha256_update(&c, (uint8_t[]){(uint8_t)i}, 1);
		br_sha256_update(&c,
			p->layer[i]->how == IMG_BORROWED
				? p->sum
				: p->layer[i]->head->sum,
			sizeof(p->sum));
	}
	br_sha256_out(&c, p->sum);
}

int policy_load(
	struct policy **out, const struct policy_where *w, struct diag *d)
{
	autopolicy struct policy *p = calloc(1, sizeof(*p));
	struct diag scratch;
	int rc;

	if (!d)
		d = &scratch;
	if (!p)
		return diag_fail(d, -ENOMEM, "out of memory");
	*d = (struct diag){0};
	rc = load_system(p, w, d);
	if (rc == 0 && p->state != POLICY_BROKEN)
		rc = load_lower(p, POLICY_LAYER_USER, w->user, w->uid, d);
	if (rc == 0 && p->state != POLICY_BROKEN)
		rc = load_lower(p, POLICY_LAYER_PROJECT, w->project, w->uid, d);
	if (rc < 0)
		return rc;
	p->why = *d;
	sum_up(p);
	*out = ptr_steal(&p);
	return 0;
}

int policy_user_file(const char *config, const char *home, uid_t uid, char *out,
	size_t size)
{
	bool own = config && config[0] == '/';
	const char *base = own ? config : home;
	struct stat st;

	out[0] = '\0';
	if (!base || base[0] != '/')
		return -ENOENT;
	if (path_join(out, size, base,
		    own ? "wardbox/policy" : ".config/wardbox/policy"))
		return -ENAMETOOLONG;
	if (access(out, F_OK) == 0)
		return 0;
	if (errno != EACCES)
		return -errno;
	return stat(base, &st) < 0 || st.st_uid != uid ? -EPERM : 0;
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < POLICY_LAYERS; i++)
		policy_image_free(p->layer[i]);
	free(p);
}
