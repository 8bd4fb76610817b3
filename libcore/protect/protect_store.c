/* protect_store.c - one look for all commands that run at the same time
 * SPDX-License-Identifier: MIT
 *
 * A file of the guard's own for each project. Who has it alone is the first:
 * what it saw is written there, and counts until the last one has ended, who
 * writes zeros over it: a file system may wait for a disk where blocks are freed.
 * One with a head that nobody holds was left by a supervisor that was killed.
 */
#include "protect/protect_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "sys/file.h"

struct store_head {
	char magic[8];
	uint64_t when;
	uint32_t count, size; /* size: of all of it */
};

static const char store_magic[8] = "protect1";

/* Takes n bytes of the text; NULL when fewer are left. */
static const char *store_take(struct buf *b, size_t *at, size_t n)
{
	const char *p = b->data + *at;

	if (n > b->len - *at)
		return NULL;
	*at += n;
	return p;
}

static int load_one(struct protect_list *l, struct buf *b, size_t *at)
{
	const char *row = store_take(b, at, sizeof(struct protect_mark));
	const char *name, *text;
	struct protect_mark mark;

	if (!row)
		return -EBADMSG;
	memcpy(&mark, row, sizeof mark);
	name = store_take(b, at, (size_t)mark.name_len + 1);
	text = store_take(b, at, mark.kept ? mark.text_len : 0);
	if (!name || !text || !mark.name_len || name[mark.name_len] ||
		mark.kind >= PROTECT_KINDS || mark.how >= PROTECT_HOWS)
		return -EBADMSG;
	if (protect_push(l, name, &mark))
		return -ENOMEM;
	l->item[l->count - 1].mark.kept = 0;
	if (mark.kept)
		protect_text(l, &l->item[l->count - 1], text, mark.text_len);
	return 0;
}

/* Reads the list; 0 when it is complete. */
static int store_load(struct protect *p)
{
	autobuf struct buf b = BUF_INIT(2 * PROTECT_BYTES_MAX);
	struct store_head head = {.count = 0};
	size_t at = sizeof head;
	int err = 0;

	if (lseek(p->store, 0, SEEK_SET) || buf_read_fd(&b, p->store) ||
		b.len < sizeof head)
		return -ENOENT;
	memcpy(&head, b.data, sizeof head);
	p->wiped = !head.magic[0];
	if (memcmp(head.magic, store_magic, sizeof store_magic) != 0 ||
		head.size > b.len || head.count > PROTECT_FILES_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < head.count && !err; i++)
		err = load_one(&p->before, &b, &at);
	p->before.when = head.when;
	if (err)
		protect_list_release(&p->before);
	return err;
}

static int store_open(const struct protect *p)
{
	char name[64];
	struct stat st;
	int fd;

	if (p->spec->state < 0 || fstat(p->root, &st))
		return -1;
	fd = openat(p->spec->state,
		BUF_PRINT(name, "protect-%llx-%llx",
			(unsigned long long)st.st_dev,
			(unsigned long long)st.st_ino),
		O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd;
}

static int store_lock(int fd, int how)
{
	int err;

	do
		err = flock(fd, how);
	while (err && errno == EINTR);
	return err;
}

int protect_share(struct protect *p)
{
	int err;

	p->store = store_open(p);
	if (p->store < 0)
		return 1;
	p->first = store_lock(p->store, LOCK_EX | LOCK_NB) == 0;
	if (!p->first)
		store_lock(p->store, LOCK_SH);
	err = store_load(p);
	if (err == -ENOMEM)
		return err;
	if (!p->first)
		return err ? 1 : 0;
	if (!err)
		protect_compare(p);
	protect_list_release(&p->before);
	return 1;
}

/* The head is written last, because without it nothing counts. Zeros stay
 * behind a list that is shorter than the one before. */
static bool store_write(const struct protect *p, const struct buf *b)
{
	const size_t head = sizeof(struct store_head);

	return (p->wiped || !lseek(p->store, 0, SEEK_END) ||
		       !ftruncate(p->store, 0)) &&
		lseek(p->store, (off_t)head, SEEK_SET) == (off_t)head &&
		!file_write_all(p->store, b->data + head, b->len - head) &&
		pwrite(p->store, b->data, head, 0) == (ssize_t)head;
}

/* Zeros from the beginning, because nothing counts without the head. */
static bool store_wipe(int fd)
{
	const char zeros[512] = {0};
	const off_t size = lseek(fd, 0, SEEK_END);

	for (off_t at = 0, n; at < size; at += n) {
		n = size - at < (off_t)sizeof zeros ? size - at
						    : (off_t)sizeof zeros;
		if (pwrite(fd, zeros, (size_t)n, at) != n)
			return false;
	}
	return size >= 0;
}

void protect_shared(struct protect *p)
{
	autobuf struct buf b = BUF_INIT(2 * PROTECT_BYTES_MAX);
	struct store_head head = {
		.when = p->before.when, .count = (uint32_t)p->before.count};

	if (p->store < 0 || !p->first)
		return;
	memcpy(head.magic, store_magic, sizeof store_magic);
	buf_add(&b, &head, sizeof head);
	for (size_t i = 0; i < p->before.count; i++) {
		const struct protect_seen *s = &p->before.item[i];

		buf_add(&b, &s->mark, sizeof s->mark);
		buf_add(&b, s->name, (size_t)s->mark.name_len + 1);
		if (s->mark.kept)
			buf_add(&b, s->text, s->mark.text_len);
	}
	head.size = (uint32_t)b.len;
	if (!b.err)
		memcpy(b.data, &head, sizeof head);
	if (b.err || !store_write(p, &b))
		(void)!ftruncate(p->store, 0);
	p->first = false;
	store_lock(p->store, LOCK_SH);
}

void protect_unshare(struct protect *p)
{
	if (p->store < 0)
		return;
	if (store_lock(p->store, LOCK_EX | LOCK_NB) == 0 && !store_wipe(p->store))
		(void)!ftruncate(p->store, 0);
	close(p->store);
	p->store = -1;
}
