/* approve.c - questions that wait for a person on another terminal
 * SPDX-License-Identifier: MIT
 */
#include "approve/approve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "session/session.h"
#include "sys/file.h"

enum {
	NAME_SIZE = APPROVE_ID_SIZE + 8,
	QUESTION_MAX = 1 << 20,
};

static const char answer_words[] = "no\0yes\0always\0";

int approve_word(const char *word)
{
	int i = str_index(answer_words, word);

	return i < 0 ? -EINVAL : i;
}

int approve_dir(bool make, struct diag *d)
{
	const struct session_where w = {.cwd = "/", .uid = geteuid()};
	autofd int own = session_base(&w, make, NULL, d);

	return own < 0 ? own
		       : file_private_dir(own, "questions", w.uid, make, d);
}

/* ID.ask, ID.seen, ID.answer. "": that is no id. */
static const char *name_of(
	char name[static NAME_SIZE], const char *id, const char *kind)
{
	size_t n = strspn(id, "0123456789abcdef");

	name[0] = '\0';
	if (!n || id[n] || n >= APPROVE_ID_SIZE)
		return name;
	return buf_print(name, NAME_SIZE, "%s.%s", id, kind);
}

static void forget_question(int dir, const char *id)
{
	static const char *const kinds[] = {"ask", "seen", "answer"};
	char name[NAME_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		unlinkat(dir, name_of(name, id, kinds[i]), 0);
}

/* A question's asker holds the lock of its file for as long as it waits. */
static bool asker_lives(int dir, const char *id)
{
	char name[NAME_SIZE];
	autofd int fd = openat(dir, name_of(name, id, "ask"),
		O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
}

static int by_id(const void *a, const void *b)
{
	return strcmp(a, b);
}

int approve_list(int dir, struct approve_list *l, struct diag *d)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *all = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	l->count = 0;
	if (!all) {
		cleanup_fd(&fd);
		return diag_errno(d, -errno, "cannot list the questions");
	}
	while ((e = readdir(all))) {
		char id[APPROVE_ID_SIZE];
		size_t n = strcspn(e->d_name, ".");

		if (!str_eq(e->d_name + n, ".ask") || n >= sizeof id)
			continue;
		memcpy(id, e->d_name, n);
		id[n] = '\0';
		if (!asker_lives(dir, id))
			forget_question(dir, id);
		else if (l->count < APPROVE_MAX)
			memcpy(l->id[l->count++], id, sizeof id);
	}
	closedir(all);
	qsort(l->id, l->count, sizeof l->id[0], by_id);
	return 0;
}

static bool is_there(int dir, const char *id, const char *kind)
{
	char name[NAME_SIZE];

	return !faccessat(dir, name_of(name, id, kind), F_OK,
		AT_SYMLINK_NOFOLLOW);
}

/* Makes the file unless it is there. 0, -EEXIST, -errno. */
static int make_once(
	int dir, const char *id, const char *kind, const char *text)
{
	char name[NAME_SIZE];
	autofd int fd = openat(dir, name_of(name, id, kind),
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : file_write_all(fd, text, strlen(text));
}

int approve_read(int dir, const char *id, bool seen, struct buf *json,
	struct diag *d)
{
	char name[NAME_SIZE];
	int err = asker_lives(dir, id) ? file_read(dir, name_of(name, id, "ask"), json)
				 : -ENOENT;

	if (err)
		return diag_fail(d, err, "no question %.20s waits", id);
	if (seen)
		(void)make_once(dir, id, "seen", "");
	return 0;
}

int approve_answer(
	int dir, const char *id, enum approve_answer answer, struct diag *d)
{
	char line[16];
	int err = asker_lives(dir, id) ? 0 : -ENOENT;

	if (err)
		return diag_fail(d, err, "no question %.20s waits", id);
	err = make_once(dir, id, "answer",
		BUF_PRINT(line, "%s\n", str_nth(answer_words, (size_t)answer)));
	if (err == -EEXIST)
		return diag_fail(d, err, "%s was answered before", id);
	return err ? diag_errno(d, err, "cannot answer %s", id) : 0;
}

static void write_question(
	const struct approve_question *q, const char *id, struct buf *out)
{
	struct json j = JSON_INIT(out);

	json_putf(&j, "{ id %s line %s command %s rule %s reason %s session %s"
		" directory %s by %s pid %ju asked %ju }", id, q->line,
		q->command, q->rule, q->reason, q->session, q->cwd, q->by,
		(uintmax_t)getpid(),
		(uintmax_t)(clock_ns(CLOCK_REALTIME) / 1000000000));
	buf_addc(out, '\n');
}

/* The question's file, locked before anybody can see it: a descriptor. */
static int publish_question(int dir, const struct approve_question *q,
	char id[static APPROVE_ID_SIZE])
{
	autobuf struct buf text = BUF_INIT(QUESTION_MAX);
	autofd int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct approve_list l;
	char name[NAME_SIZE], self[32];
	unsigned char r[4];
	int err;

	if (approve_list(dir, &l, NULL) || l.count >= APPROVE_MAX)
		return -EAGAIN;
	if (getrandom(r, sizeof r, 0) != sizeof r)
		return -EIO;
	buf_print(id, APPROVE_ID_SIZE, "%02x%02x%02x%02x", r[0], r[1], r[2],
		r[3]);
	write_question(q, id, &text);
	if (fd < 0 || text.err || flock(fd, LOCK_EX | LOCK_NB))
		return fd < 0 ? -errno : text.err ? text.err : -errno;
	err = file_write_all(fd, text.data, text.len);
	BUF_PRINT(self, "/proc/self/fd/%d", fd);
	if (!err && linkat(AT_FDCWD, self, dir, name_of(name, id, "ask"),
			    AT_SYMLINK_FOLLOW))
		err = -errno;
	return err ? err : fd_steal(&fd);
}

/* -EAGAIN: none yet. */
static int take_answer(int dir, const char *id)
{
	autobuf struct buf line = BUF_INIT(16);
	char name[NAME_SIZE];

	if (file_read(dir, name_of(name, id, "answer"), &line) || !line.len ||
		line.data[line.len - 1] != '\n')
		return -EAGAIN;
	line.len--;
	return approve_word(buf_str(&line));
}

/* Until the answer, the time, or a signal that ends this process. */
static int wait_answer(int dir, const char *id, int changes, int signals,
	uint64_t wait_ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + wait_ns, now;
	char events[4096];
	int answer;

	while ((answer = take_answer(dir, id)) == -EAGAIN) {
		struct pollfd p[] = {{.fd = changes, .events = POLLIN},
			{.fd = signals, .events = POLLIN}};

		now = clock_ns(CLOCK_MONOTONIC);
		if (now >= end)
			return is_there(dir, id, "seen") ? -ETIMEDOUT : -ENXIO;
		now = (end - now) / 1000000 + 1;
		if (poll(p, 2, now < 3600000 ? (int)now : 3600000) < 0 &&
			errno != EINTR)
			return -errno;
		if (p[1].revents)
			return -EINTR;
		if (p[0].revents)
			(void)!read(changes, events, sizeof events);
	}
	return answer;
}

int approve_ask(const struct approve_question *q, uint64_t wait_ns,
	const struct approve_told *told)
{
	autofd int dir = approve_dir(true, NULL), lock = -1, changes = -1;
	autofd int signals = -1;
	char id[APPROVE_ID_SIZE], path[32];
	sigset_t set, mask;
	int answer;

	if (dir < 0)
		return dir;
	changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	BUF_PRINT(path, "/proc/self/fd/%d", dir);
	if (changes < 0 || inotify_add_watch(changes, path, IN_CLOSE_WRITE) < 0)
		return -errno;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, &mask);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	lock = publish_question(dir, q, id);
	answer = lock < 0 ? lock : 0;
	if (!answer) {
		told->asked(told->ctx, id);
		answer = wait_answer(dir, id, changes, signals, wait_ns);
		forget_question(dir, id);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return answer;
}
