/* policy_source.c - a layer from its files: whose they may be, what they were
 * SPDX-License-Identifier: MIT
 */
#include <bearssl_hash.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "sys/file.h"
#include "base/path.h"
#include "policy/policy_compile.h"
#include "policy/policy_load.h"
#include "policy/policy_sign.h"
#include "base/str.h"

enum {
	MAX_FRAGMENTS = 64,
};

/* A layer being compiled, and the sum of all sources that were read. */
struct layer {
	struct policy_compiler c;
	br_sha256_context sum;
};

static struct layer *new_compiler(enum policy_layer layer,
	const struct policy_image *above, struct diag *d)
{
	struct layer *l = malloc(sizeof(*l));

	if (!l) {
		diag_fail(d, -ENOMEM, "out of memory");
		return NULL;
	}
	policy_compile_init(&l->c, layer, above);
	br_sha256_init(&l->sum);
	return l;
}

static int compile_source(struct layer *l, const char *name, const char *text,
	size_t n, struct diag *d)
{
	br_sha256_update(&l->sum, text, n);
	return policy_compile_text(&l->c, name, text, n, d);
}

static int finish_layer(struct layer *l, int rc, void **bytes, size_t *size,
	struct diag *d)
{
	struct img_source mine = {.kind = IMG_SRC_BUILTIN};
	struct policy_compiler *c = &l->c;

	if (rc == 0 && c->layer == POLICY_LAYER_SYSTEM) {
		mine.ino = img_parts(policy_default_mark);
		build_add(&c->b, IMG_SOURCE, &mine);
	}
	if (rc == 0) {
		rc = build_finish(&c->b, bytes, size);
		if (rc < 0)
			diag_errno(d, rc, "the policy is too large");
	}
	if (rc == 0) {
		br_sha256_out(&l->sum, ((struct img_header *)*bytes)->sum);
		img_seal(*bytes, *size);
	}
	policy_compile_release(c);
	free(l);
	return rc;
}

static void add_source(struct policy_compiler *c, const char *path,
	enum img_source_kind kind, const struct stat *st)
{
	struct img_source s = {.kind = kind};

	s.path = build_str(&c->b, path, strlen(path));
	if (st) {
		s.dev = img_parts(st->st_dev);
		s.ino = img_parts(st->st_ino);
		s.size = img_parts((uint64_t)st->st_size);
		s.ctime_s = img_parts((uint64_t)st->st_ctim.tv_sec);
		s.ctime_ns = img_parts((uint64_t)st->st_ctim.tv_nsec);
	}
	build_add(&c->b, IMG_SOURCE, &s);
}

bool policy_absent(const char *path)
{
	struct stat st;

	return !path || (lstat(path, &st) < 0 && errno == ENOENT);
}

/* The users who may have written a file, and the key that must have signed
 * it. */
struct wanted {
	uid_t uid;
	bool trusted, sign;
	bool project; /* no link is followed */
	uint8_t pub[SIGN_PUBLIC];
};

/* Reads the key with which system sources must be signed, if there is one. */
static int read_key(struct policy_compiler *c, const struct policy_where *w,
	struct wanted *want, struct diag *d)
{
	char line[256];
	struct buf b = BUF_FIXED(line);
	autofd int fd = -1;
	struct stat st;
	int rc;

	if (!w->key)
		return 0;
	fd = open(w->key, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT) {
		add_source(c, w->key, IMG_SRC_ABSENT, NULL);
		return 0;
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return diag_errno(d, -errno, "%s", w->key);
	rc = file_check_trusted(fd, want->uid, w->key, d);
	if (rc < 0)
		return rc;
	rc = buf_read_fd(&b, fd);
	if (rc < 0)
		return diag_errno(d, rc, "%s", w->key);
	want->sign = true;
	add_source(c, w->key, IMG_SRC_FILE, &st);
	return policy_sign_parse(
		w->key, buf_str(&b), want->pub, sizeof(want->pub), d);
}

/* Opens a source. A project's policy must be no link, because the link could
 * lead to a file that a command must not read, and errors in a policy are shown
 * to the command. */
static int open_source(const char *path, const struct wanted *want)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
	size_t n = strlen(path) - strlen("/policy");
	autofd int dir = -1;
	char place[1200];
	int fd;

	if (want->project)
		flags |= O_NOFOLLOW;
	if (want->project && str_ends(path, "/.wardbox/policy")) {
		if (n >= sizeof(place))
			return -ENAMETOOLONG;
		memcpy(place, path, n);
		place[n] = 0;
		dir = open(place,
			O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir < 0)
			return -errno;
		path += n + 1;
	}
	fd = openat(dir < 0 ? AT_FDCWD : dir, path, flags);
	return fd < 0 ? -errno : fd;
}

/* Reads and compiles one file. -ENOENT when it does not exist. */
static int read_source(struct layer *l, const char *path,
	const struct wanted *want, struct diag *d)
{
	autobuf struct buf text = BUF_INIT(POLICY_TEXT_MAX);
	autofd int fd = open_source(path, want);
	struct stat st;
	int rc;

	if (want->project && (fd == -ELOOP || fd == -ENOTDIR))
		return diag_fail(d, fd, "%s: a project's policy may be no "
			"symbolic link", path);
	if (fd < 0)
		return diag_errno(d, fd, "%s", path);
	if (fstat(fd, &st) < 0)
		return diag_errno(d, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return diag_fail(d, -EINVAL, "%s: not a regular file", path);
	if (want->trusted) {
		rc = file_check_trusted(fd, want->uid, path, d);
		if (rc < 0)
			return rc;
	}
	rc = buf_read_fd(&text, fd);
	if (rc == -ENOBUFS)
		return diag_fail(d, rc, "%s: larger than %d bytes", path,
			POLICY_TEXT_MAX);
	if (rc < 0)
		return diag_errno(d, rc, "%s", path);
	if (want->sign) {
		rc = policy_sign_check(
			want->pub, path, buf_str(&text), text.len, d);
		if (rc < 0)
			return rc == -ENOENT ? -EBADMSG : rc;
	}
	add_source(&l->c, path, IMG_SRC_FILE, &st);
	return compile_source(l, path, text.data ? text.data : "", text.len, d);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_fragment(const struct dirent *e)
{
	return e->d_name[0] != '.' && str_ends(e->d_name, ".policy");
}

static int read_fragments(struct layer *l, const char *dir,
	const struct wanted *want, struct diag *d)
{
	struct dirent **list = NULL;
	struct stat st;
	char path[512];
	int rc = 0, n;

	if (!dir || stat(dir, &st) < 0) {
		if (dir)
			add_source(&l->c, dir, IMG_SRC_ABSENT, NULL);
		return 0;
	}
	add_source(&l->c, dir, IMG_SRC_DIR, &st);
	rc = file_trusted(&st, want->uid, dir, d);
	if (rc < 0)
		return rc;
	n = scandir(dir, &list, is_fragment, by_name);
	if (n < 0)
		return diag_errno(d, -errno, "%s", dir);
	if (n > MAX_FRAGMENTS)
		rc = diag_fail(d, -E2BIG, "%s: more than %d files", dir,
			MAX_FRAGMENTS);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = path_join(
				path, sizeof(path), dir, list[i]->d_name);
		if (rc == 0)
			rc = read_source(l, path, want, d);
		free(list[i]);
	}
	free(list);
	return rc;
}

int policy_build_system(const struct policy_where *w, void **bytes,
	size_t *size, struct diag *d)
{
	struct layer *l = new_compiler(POLICY_LAYER_SYSTEM, NULL, d);
	struct wanted want = {.uid = w->system_uid, .trusted = true};
	int rc;

	if (!l)
		return -ENOMEM;
	rc = read_key(&l->c, w, &want, d);
	if (rc == 0)
		rc = w->system ? read_source(l, w->system, &want, d) : -ENOENT;
	if (rc == -ENOENT && policy_absent(w->system)) {
		if (w->system)
			add_source(&l->c, w->system, IMG_SRC_ABSENT, NULL);
		policy_compile_default(&l->c);
		rc = 0;
	}
	if (rc == 0)
		rc = read_fragments(l, w->system_dir, &want, d);
	return finish_layer(l, rc, bytes, size, d);
}

int policy_build_file(const char *path, enum policy_layer layer, uid_t uid,
	bool trusted, const struct policy_image *above, void **bytes,
	size_t *size, struct diag *d)
{
	struct layer *l = new_compiler(layer, above, d);
	struct wanted want = {.uid = uid,
		.trusted = trusted,
		.project = layer == POLICY_LAYER_PROJECT};

	if (!l)
		return -ENOMEM;
	return finish_layer(l, read_source(l, path, &want, d), bytes, size, d);
}

int policy_build_text(const char *name, const char *text, size_t n,
	void **bytes, size_t *size, struct diag *d)
{
	struct layer *l = new_compiler(POLICY_LAYER_SYSTEM, NULL, d);

	if (!l)
		return -ENOMEM;
	return finish_layer(l, compile_source(l, name, text, n, d), bytes, size,
		d);
}

static bool same_source(
	const struct policy_image *img, const struct img_source *s)
{
	const char *path = img_str(img, s->path);
	struct stat st;

	if (s->kind == IMG_SRC_BUILTIN)
		return img_u64(s->ino) == policy_default_mark;
	if (stat(path, &st) < 0)
		return s->kind == IMG_SRC_ABSENT && policy_absent(path);
	return s->kind != IMG_SRC_ABSENT && img_u64(s->dev) == st.st_dev &&
	       img_u64(s->ino) == st.st_ino &&
	       img_u64(s->size) == (uint64_t)st.st_size &&
	       img_u64(s->ctime_s) == (uint64_t)st.st_ctim.tv_sec &&
	       img_u64(s->ctime_ns) == (uint64_t)st.st_ctim.tv_nsec;
}

/* Was the image made from this very file? */
static bool image_names(const struct policy_image *img, const char *path)
{
	struct img_source s;

	for (uint32_t i = 0; path && i < IMG_COUNT(img, IMG_SOURCE); i++) {
		img_get(img, IMG_SOURCE, i, &s);
		if (str_eq(img_str(img, s.path), path))
			return true;
	}
	return !path;
}

bool policy_fresh(const struct policy_image *img, const struct policy_where *w)
{
	struct img_source s;

	for (uint32_t i = 0; i < IMG_COUNT(img, IMG_SOURCE); i++) {
		img_get(img, IMG_SOURCE, i, &s);
		if (!same_source(img, &s))
			return false;
	}
	return image_names(img, w->system) && image_names(img, w->system_dir) &&
	       image_names(img, w->key);
}
