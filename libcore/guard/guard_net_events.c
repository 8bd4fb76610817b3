/* guard_net_events.c - what the keeper of the session's network tells
 * SPDX-License-Identifier: MIT
 */
#include "guard/guard_in.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/str.h"
#include "sys/proc_text.h"

enum {
	LOOKS = 1024, /* processes that are looked at for one socket */
	EACH = 1024, /* connections that are recorded one by one */
};

static bool has_socket(int proc, const char *pid, const char *want)
{
	char name[32], to[64];
	autofd int fd = openat(proc, BUF_PRINT(name, "%.20s/fd", pid),
		O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool found = false;

	if (!dir)
		return false;
	fd = -1;
	while (!found && (e = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, to, sizeof to - 1);

		to[n > 0 ? n : 0] = '\0';
		found = n > 0 && str_eq(to, want);
	}
	closedir(dir);
	return found;
}

/* The process below pid that holds the socket; 0: none. *looks counts the
 * processes that were looked at. */
static pid_t find_below(int proc, pid_t pid, const char *want, unsigned *looks)
{
	char text[1024], name[48], one[16];
	autofd int fd = openat(proc,
		BUF_PRINT(name, "%d/task/%d/children", (int)pid, (int)pid),
		O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	pid_t found = 0;

	text[n > 0 ? n : 0] = '\0';
	for (const char *at = text; *at && !found && *looks; at++) {
		size_t digits = strspn(at, "0123456789");
		pid_t child;

		BUF_PRINT(one, "%.*s", (int)digits, at);
		child = (pid_t)proc_number(one);
		at += digits;
		if (!digits || !*at)
			break;
		--*looks;
		found = has_socket(proc, one, want)
			? child
			: find_below(proc, child, want, looks);
	}
	return found;
}

/* The process of the command's tree that holds the socket; 0: none. */
static pid_t find_socket(uint32_t inode)
{
	unsigned looks = LOOKS;
	char want[32];
	autofd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	BUF_PRINT(want, "socket:[%u]", inode);
	return inode && proc >= 0 ? find_below(proc, getpid(), want, &looks) : 0;
}

static void name_of(pid_t pid, char out[static 16])
{
	char name[32];
	autofd int fd = pid ? open(BUF_PRINT(name, "/proc/%d/comm", (int)pid),
				      O_RDONLY | O_CLOEXEC)
			    : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, out, 15);

	out[n > 0 ? n - 1 : 0] = '\0';
}

/* Records connections that ended: of a great many, several in one record, with
 * the name of the last. */
static void record_ended(struct guard *g, const struct net_event *ev)
{
	struct guard_net *net = &g->tree.net;
	const char *program = "";
	const bool all = !ev->count; /* connections that no record has yet */
	const bool would = guard_net_would(g, ev->name, ev->port);
	char port[8];

	for (size_t i = 0; i < ARRAY_SIZE(net->seen); i++)
		if (net->seen[i].inode == ev->inode)
			program = net->seen[i].program;
	net->count += ev->count;
	net->up += all ? 0 : ev->up;
	net->down += all ? 0 : ev->down;
	net->waiting += ev->count;
	if (net->count > EACH && net->waiting < EACH && !all) {
		net->last = *ev;
		return;
	}
	const struct audit_fact facts[] = {
		{.key = "name", .text = ev->name},
		{.key = "port", .text = BUF_PRINT(port, "%u", ev->port)},
		{.key = "address", .text = ev->addr},
		{.key = "program", .text = program},
		{.key = "rule", .text = would ? "net" : "would-deny:net"},
		{.key = "end", .text = ev->why[0] ? ev->why : "closed"},
		{.key = "sent", .number = net->up},
		{.key = "received", .number = net->down},
		{.key = "count", .number = net->waiting},
	};

	net->up = net->down = 0;
	guard_entry_event(g, "net.connect", facts,
		ARRAY_SIZE(facts) - (net->waiting == 1));
	net->waiting = 0;
}

/* Records a connection from a port of this machine's loopback. */
static void record_entered(struct guard *g, const struct net_event *ev)
{
	char port[8];
	const struct audit_fact facts[] = {
		{.key = "port", .text = BUF_PRINT(port, "%u", ev->port)},
		{.key = "end", .text = ev->why[0] ? ev->why : "closed"},
		{.key = "received", .number = ev->up},
		{.key = "sent", .number = ev->down},
		{.key = "count", .number = ev->count},
	};

	guard_entry_event(g, "net.enter", facts,
		ARRAY_SIZE(facts) - (ev->count == 1));
}

static void record_refused(struct guard *g, const struct net_event *ev, pid_t pid)
{
	struct policy_verdict v = {.decision = POLICY_DENY,
		.would = POLICY_DENY,
		.rule = "net"};
	const struct guard_question what = {.v = &v, .cwd = ""};
	char program[16];

	name_of(pid, program);
	if (ev->port)
		BUF_PRINT(v.command, "%.140s:%u", ev->name, ev->port);
	else
		BUF_PRINT(v.command, "%.150s", ev->name);
	BUF_PRINT(v.reason, "%s%s%s%s", ev->why, *program ? " (" : "", program,
		*program ? ")" : "");
	if (!ev->port && !str_find(ev->why, "has its port"))
		BUF_PRINT(v.alternative, "root grants it: net host %.100s in %s",
			ev->name, POLICY_SYSTEM);
	guard_deny(g, "net.deny", pid, v.command, &what, GUARD_NO);
}

/* Finds out whose connection it is while that is still possible, by looking at
 * each process's descriptors. Of many connections only those that double their
 * number are looked for, because all else waits meanwhile. */
static void note_opened(struct guard *g, const struct net_event *ev)
{
	enum { FIRST = 16 };
	struct guard_net *net = &g->tree.net;
	pid_t pid;

	if (!ev->inode)
		return;
	net->opened++;
	if (!ev->waits && net->opened > FIRST &&
		net->opened & (net->opened - 1))
		return;
	pid = find_socket(ev->inode);
	if (!pid)
		return;
	net->next = (net->next + 1) % ARRAY_SIZE(net->seen);
	net->seen[net->next].inode = ev->inode;
	name_of(pid, net->seen[net->next].program);
	net_link_claim(&g->box.link, ev->inode);
}

static void one_event(struct guard *g, const struct net_event *ev)
{
	pid_t pid;

	switch ((enum net_event_kind)ev->kind) {
	case NET_OPENED:
		g->tree.net.used = true;
		note_opened(g, ev);
		break;
	case NET_ENDED:
		record_ended(g, ev);
		break;
	case NET_ENTERED:
		record_entered(g, ev);
		break;
	case NET_REFUSED:
		pid = find_socket(ev->inode);
		/* With several commands in a session each is asked; the newest
		 * takes the connections that nobody claims. */
		if (pid && !ev->last)
			net_link_claim(&g->box.link, ev->inode);
		if (pid || ev->last)
			record_refused(g, ev, pid);
		else
			g->tree.net.used = true;
		break;
	case NET_FLUSHED:
		g->tree.net.used = false;
		break;
	}
}

void guard_net_events(void *ctx)
{
	struct guard *g = ctx;
	struct net_event ev;

	while (net_link_read(&g->box.link, 0, &ev) > 0)
		one_event(g, &ev);
}

int guard_net_end(struct guard *g, struct diag *d)
{
	enum { WAIT_MS = 500 };
	struct net_event ev;

	(void)d;
	if (g->box.link.sock < 0)
		return 0;
	guard_net_events(g);
	if (!g->tree.net.used)
		return 0;
	/* Events of the command are reported before the keeper is told that it
	 * has ended. */
	net_link_flush(&g->box.link);
	while (g->tree.net.used &&
		net_link_read(&g->box.link, WAIT_MS, &ev) > 0)
		one_event(g, &ev);
	if (g->tree.net.waiting) {
		ev = g->tree.net.last;
		ev.count = 0;
		record_ended(g, &ev);
	}
	return 0;
}
