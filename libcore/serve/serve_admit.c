/* serve_admit.c - who is known at the server, and for how long
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_server_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/str.h"
#include "sys/file.h"

static const struct {
	char name[12], role[8];
} owner_tokens[2] = {
	{SERVE_TOKEN_RUN, "run"},
	{SERVE_TOKEN_APPROVE, "approve"},
};

/* The key's roles by the file of keys as it is now; none if it cannot be read. */
static void load_keys(const struct serve_server *s, struct serve_keys *keys)
{
	if (serve_keys_load(s->dir, keys, NULL))
		keys->count = 0;
}

static unsigned roles_of(const struct serve_server *s,
	const struct serve_keys *keys, const struct serve_who *who, bool *owner)
{
	const struct serve_key *own =
		serve_keys_find(s->owner, ARRAY_SIZE(s->owner), who->digest);
	const struct serve_key *key =
		serve_keys_find(keys->key, keys->count, who->digest);

	/* The owner's tokens are for this machine's own users. */
	*owner = own && who->local;
	return *owner ? own->roles : key ? key->roles : 0;
}

unsigned server_roles(const struct serve_server *s, struct serve_who *who)
{
	autofree struct serve_keys *keys = calloc(1, sizeof *keys);

	who->roles = 0;
	if (!keys)
		return 0;
	load_keys(s, keys);
	who->roles = roles_of(s, keys, who, &who->owner);
	return who->roles;
}

bool server_knows(const struct serve_server *s, const struct serve_keys *keys,
	const struct serve_who *who)
{
	bool owner;

	return roles_of(s, keys, who, &owner);
}

static void end_unknown(struct serve_conn *c, const struct serve_keys *keys)
{
	if (IS_ENABLED(CONFIG_SERVE_GRPC) && c->state == CONN_H2) {
		h2_check_keys(c, keys);
	} else if (!c->who.roles || server_knows(c->server, keys, &c->who)) {
		return;
	} else if (c->state == CONN_SOCKET) {
		socket_close(c, WS_POLICY, "the key was revoked");
	} else {
		conn_close(c);
		return;
	}
	conn_flush(c);
}

/* The file of keys was written: what a key began that is none any more ends. */
static void keys_changed(struct serve_watch *w, uint32_t events)
{
	struct serve_server *s = CONTAINER(w, struct serve_server, keys);
	autofree struct serve_keys *keys = calloc(1, sizeof *keys);
	char seen[4096];

	(void)events;
	while (read(w->fd, seen, sizeof seen) > 0)
		;
	if (!keys) {
		s->engine->loop.stop = true;
		return;
	}
	load_keys(s, keys);
	for (struct serve_conn *c = s->first, *next; c; c = next) {
		next = c->next;
		end_unknown(c, keys);
	}
	peers_check_keys(s, keys);
}

static int watch_keys(struct serve_server *s, struct diag *d)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), err = 0;
	char path[32];

	BUF_PRINT(path, "/proc/self/fd/%d", s->dir);
	s->keys = (struct serve_watch){.fd = -1, .ready = keys_changed};
	if (fd < 0 || inotify_add_watch(fd, path, IN_MOVED_TO | IN_CLOSE_WRITE |
					    IN_DELETE) < 0)
		err = -errno;
	if (!err)
		err = serve_watch_set(&s->engine->loop, &s->keys, fd, EPOLLIN);
	if (err)
		cleanup_fd(&fd);
	return err ? diag_errno(d, err, "cannot watch the keys") : 0;
}

void serve_tokens_remove(const struct serve_server *s)
{
	for (int i = 0; i < 2; i++)
		unlinkat(s->dir, owner_tokens[i].name, 0);
	if (s->bound)
		unlinkat(s->dir, SERVE_SOCKET, 0);
}

/* What was handed over tells nothing of another server, which a supervisor may not
 * know of. */
int serve_lock(const struct serve_server *s, struct diag *d)
{
	int fd = openat(s->dir, "lock",
		O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) {
		const int err = -errno;

		cleanup_fd(&fd);
		return err == -EWOULDBLOCK
			? diag_fail(d, -EADDRINUSE,
				  "another server of this user runs")
			: diag_errno(d, err, "cannot lock the server's place");
	}
	return 0;
}

int serve_tokens_make(struct serve_server *s, struct diag *d)
{
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		char text[SERVE_KEY_SIZE];

		err = serve_key_make(text, s->owner[i].digest);
		s->owner[i].roles = serve_role_of(owner_tokens[i].role);
		if (!err)
			err = file_replace(s->dir, owner_tokens[i].name, text,
				strlen(text), 0600, false);
		if (err)
			diag_errno(d, err, "cannot write %s", owner_tokens[i].name);
	}
	return err ? err : watch_keys(s, d);
}
