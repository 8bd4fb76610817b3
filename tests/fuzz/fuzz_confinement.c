/* fuzz_confinement.c - files that tell what confines a process
 * SPDX-License-Identifier: MIT
 *
 * Input: their texts in the order of files[], each up to a byte 0xff; an empty
 * one is not there. What is told of them can be shown on a terminal.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/confinement.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const dirs[] = {"proc", "proc/1", "proc/7", "proc/self",
	"proc/self/attr", "proc/self/attr/apparmor", "proc/sys",
	"proc/sys/kernel", "run", "run/systemd", "run/host", "sys", "sys/fs",
	"sys/fs/selinux", "snap", "snap/a", "snap/a/current",
	"snap/a/current/meta"};
static const char *const files[] = {"proc/self/status", "proc/self/mountinfo",
	"proc/1/mountinfo", "proc/self/cgroup", "proc/self/uid_map",
	"proc/self/attr/current", "proc/self/attr/apparmor/current",
	"proc/7/comm", "proc/sys/kernel/osrelease", "sys/fs/selinux/enforce",
	"snap/a/current/meta/snap.yaml", "run/systemd/container",
	"run/host/container-manager", "run/.containerenv", ".flatpak-info"};
static char root[64];

static void leave(void)
{
	int top = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unlinkat(top, files[i], 0);
	for (size_t i = ARRAY_SIZE(dirs); i--;)
		unlinkat(top, dirs[i], AT_REMOVEDIR);
	close(top);
	rmdir(root);
}

static int open_root(void)
{
	const char *base = getenv("TMPDIR");
	bool first = !root[0];
	int top;

	if (first) {
		snprintf(root, sizeof root, "%.40s/fuzz-XXXXXX",
			base ? base : "/tmp");
		if (!mkdtemp(root))
			abort();
		atexit(leave);
	}
	top = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; first && i < ARRAY_SIZE(dirs); i++)
		if (mkdirat(top, dirs[i], 0700))
			abort();
	return top;
}

static void put(int top, const char *name, const uint8_t *p, size_t n)
{
	int fd;

	if (!n) {
		unlinkat(top, name, 0);
		return;
	}
	fd = openat(top, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		abort();
	close(fd);
}

static void check(const char *s, size_t size)
{
	if (!memchr(s, 0, size))
		abort();
	for (; *s; s++)
		if (*s < ' ' || *s >= 0x7f)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct confinement_source source = {.root = root};
	char snap[] = "SNAP=/snap/a/1", name[] = "SNAP_NAME=a";
	char *const env[] = {snap, name, NULL};
	static struct confinement c;
	struct buf out = BUF_INIT(1 << 20);
	struct json j = JSON_INIT(&out);
	int top = open_root();

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const uint8_t *end = memchr(data, 0xff, size);
		size_t n = end ? (size_t)(end - data) : size;

		put(top, files[i], data, n);
		data += n + (end != NULL);
		size -= n + (end != NULL);
	}
	close(top);
	source.env = env;
	confinement_detect(&source, &c);
	if (c.count > CONFINED_KINDS)
		abort();
	for (size_t i = 0; i < c.count; i++) {
		check(c.fact[i].evidence, sizeof c.fact[i].evidence);
		check(c.fact[i].detail, sizeof c.fact[i].detail);
	}
	confinement_text(&out, &c);
	confinement_json(&j, &c);
	buf_release(&out);
	return 0;
}
