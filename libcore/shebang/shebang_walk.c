/* shebang_walk.c - from a directory up to the root
 * SPDX-License-Identifier: MIT
 */
#include "shebang/shebang_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

const char *shebang_verdict_name(enum shebang_verdict verdict)
{
	static const char names[][17] = {
		[SHEBANG_USABLE] = "usable",
		[SHEBANG_ABSENT] = "absent",
		[SHEBANG_NO_PLACE] = "no directory",
		[SHEBANG_NOT_FILE] = "not a file",
		[SHEBANG_NOT_EXECUTABLE] = "not executable",
		[SHEBANG_SELF] = "the resolver",
		[SHEBANG_COPY] = "another resolver",
	};

	return names[verdict];
}

static bool is_self(struct shebang *s, const struct stat *st)
{
	struct stat self;

	if (!s->self_known && s->rq->self && stat(s->rq->self, &self) == 0) {
		s->self_dev = self.st_dev;
		s->self_ino = self.st_ino;
		s->self_known = true;
	}
	return s->self_known && st->st_dev == s->self_dev &&
		st->st_ino == s->self_ino;
}

enum marking { PLAIN, MARKED, UNREADABLE };

/* A file that cannot be read counts as no copy. */
static enum marking find_mark(struct shebang *s, const char *path)
{
	static const char mark[] = "\n" SHEBANG_MARK;
	autofd int fd = openat(AT_FDCWD, path,
		O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n;

	n = fd < 0 ? -1 : read(fd, s->head, sizeof s->head - 1);
	s->head[n > 0 ? n : 0] = '\0';
	if (n < 0)
		return UNREADABLE;
	return shebang_find(s->head, (size_t)n, mark, sizeof mark - 1)
		? MARKED
		: PLAIN;
}

/* With the rights the exec will have. Sandboxes older than faccessat2 forbid it
 * by EPERM instead of ENOSYS, which the C library would know how to answer. */
static bool is_executable(const char *path)
{
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
		return true;
	return errno == EPERM && access(path, X_OK) == 0;
}

enum shebang_verdict shebang_judge(struct shebang *s, const char *path)
{
	enum marking marking;
	struct stat st;

	if (stat(path, &st))
		return SHEBANG_ABSENT;
	if (!S_ISREG(st.st_mode))
		return SHEBANG_NOT_FILE;
	if (!is_executable(path))
		return SHEBANG_NOT_EXECUTABLE;
	marking = find_mark(s, path);
	/* The resolver bears its own mark: most need not be compared. */
	if (marking != PLAIN && is_self(s, &st))
		return SHEBANG_SELF;
	if (marking == MARKED)
		return SHEBANG_COPY;
	s->loops = st.st_dev == s->script_dev && st.st_ino == s->script_ino &&
		s->head[0] == '#' && s->head[1] == '!';
	return SHEBANG_USABLE;
}

static bool is_listing(const struct shebang *s)
{
	return s->rq->watch && s->rq->watch->candidate;
}

bool shebang_weigh(struct shebang *s, const char *path, enum shebang_via via,
	enum shebang_verdict verdict)
{
	if (verdict == SHEBANG_COPY && !s->result &&
		str_copy(s->passed, sizeof s->passed, path) == 0)
		s->copy = s->passed;
	if (is_listing(s))
		s->rq->watch->candidate(s->rq->watch->arg, path, via, verdict);
	if (verdict == SHEBANG_USABLE && !s->result) {
		/* Going on, the place of path is written again. */
		if (is_listing(s))
			str_copy(s->found, sizeof s->found, path);
		s->result = is_listing(s) ? s->found : path;
		s->via = via;
	}
	return s->result && !is_listing(s);
}

/* The candidate place/NAME or place/NAME-suffix. */
static bool try_name(struct shebang *s, const struct buf *place,
	const char *suffix, size_t n)
{
	struct buf path = *place;

	s->work++;
	buf_addc(&path, '/');
	buf_adds(&path, s->rq->name);
	if (n) {
		buf_addc(&path, '-');
		buf_add(&path, suffix, n);
	}
	buf_str(&path);
	if (path.err)
		return false;
	shebang_trace(s, "  try: %s", path.data);
	return shebang_weigh(
		s, path.data, SHEBANG_WALK, shebang_judge(s, path.data));
}

/* A directory of the way up is known to be one; only a trace that is to equal
 * the compatible script's to the letter asks again. */
static bool is_place(const struct shebang *s, const char *place, bool on_the_way)
{
	struct stat st;

	if (on_the_way && !(s->rq->watch && s->rq->watch->trace))
		return true;
	return stat(place, &st) == 0 && S_ISDIR(st.st_mode);
}

/* All names at a place. True when the search is over. */
static bool try_place(struct shebang *s, struct buf *place, bool on_the_way)
{
	const char *suffixes = s->conf.value[SHEBANG_SUFFIXES];

	s->work++;
	buf_str(place);
	if (place->err)
		return false;
	if (!is_place(s, place->data, on_the_way)) {
		if (is_listing(s))
			s->rq->watch->candidate(s->rq->watch->arg, place->data,
				SHEBANG_WALK, SHEBANG_NO_PLACE);
		return false;
	}
	if (suffixes[0] == ':' && try_name(s, place, "", 0))
		return true;
	while (*suffixes) {
		size_t n = strcspn(suffixes, ":");

		if (n && try_name(s, place, suffixes, n))
			return true;
		suffixes += n + (suffixes[n] == ':');
	}
	return false;
}

/* All places of one directory. FOUND when the search is over. */
static int try_level(struct shebang *s, const char *dir, size_t len, bool first)
{
	const char *entry = s->conf.value[SHEBANG_PROBE_DIRS];

	while (*entry) {
		size_t n = strcspn(entry, ":");
		const char *next = entry + n + (entry[n] == ':');

		if (n && (first || !shebang_is_rooted(entry, n))) {
			struct buf place = shebang_room(s);
			int code = shebang_place(
				s, entry, n, dir, len, &place);

			if (code)
				return code;
			if (try_place(s, &place, n == 1 && *entry == '.'))
				return SHEBANG_FOUND;
			/* Two long lists multiply: a script that is only asked
			 * about must not keep the asker busy for hours. */
			if (s->work > SHEBANG_WORK)
				return shebang_fail(s, SHEBANG_BAD,
					"gave up after %d candidates; shorten "
					"probe-dirs and suffixes",
					SHEBANG_WORK);
		}
		entry = next;
	}
	return SHEBANG_NONE;
}

int shebang_walk(struct shebang *s, const char *origin)
{
	size_t len = strlen(origin);
	int code;

	shebang_trace(s, "walk: starting from %s", origin);
	code = try_level(s, origin, len, true);
	while (code == SHEBANG_NONE && len > 1) {
		while (len > 1 && origin[len - 1] != '/')
			len--;
		while (len > 1 && origin[len - 1] == '/')
			len--;
		code = try_level(s, origin, len, false);
	}
	return code;
}
