/* shim_binary.c - the wardbox that a root gets
 * SPDX-License-Identifier: MIT
 */
#include "shim/shim_install.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bearssl.h>

#include "shim/shim_steps_in.h"
#include "sys/sha256_hw.h"

enum {
	BINARY_MAX = 64 << 20,
	HEADERS_MAX = 64, /* program headers that are looked at */
	OWN_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32,
};

/* e_ident, and the place of e_machine, are the same for both classes. */
static int read_ident(int fd, ElfW(Ehdr) *h)
{
	if (pread(fd, h, sizeof *h, 0) != sizeof *h ||
		memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	return 0;
}

static bool wants_loader(int fd, const ElfW(Ehdr) *h)
{
	/* A file of another class or byte order than ours is not looked at. */
	if (h->e_ident[EI_CLASS] != OWN_CLASS ||
		h->e_phentsize != sizeof(ElfW(Phdr)))
		return false;
	for (unsigned i = 0; i < h->e_phnum && i < HEADERS_MAX; i++) {
		ElfW(Phdr) p;
		off_t at = (off_t)(h->e_phoff + i * sizeof p);

		if (pread(fd, &p, sizeof p, at) != sizeof p)
			return true;
		if (p.p_type == PT_INTERP)
			return true;
	}
	return false;
}

int shim_check_binary(int fd, const struct shim_root *r, struct diag *d)
{
	ElfW(Ehdr) own, other;

	if (read_ident(fd, &own))
		return diag_fail(d, -ENOEXEC,
			"the binary to install is no ELF program");
	if (wants_loader(fd, &own)) {
		diag_fail(d, -ENOEXEC, "the binary to install is linked"
			" dynamically: a root without its libraries would be"
			" left without a shell");
		diag_hint(d, "name a static one with --binary");
		return -ENOEXEC;
	}
	for (size_t i = 0; i < r->entry_count; i++) {
		autofd int shell = shim_root_openat(
			r, r->entry[i].path, O_RDONLY | O_NONBLOCK);

		if (shell < 0 || read_ident(shell, &other))
			continue;
		if (other.e_machine == own.e_machine &&
			other.e_ident[EI_DATA] == own.e_ident[EI_DATA])
			continue;
		diag_fail(d, -ENOEXEC, "%s is for another machine (ELF %u) than"
			" the binary to install (ELF %u)",
			r->entry[i].path, other.e_machine, own.e_machine);
		diag_hint(d, "name a wardbox built for it with --binary");
		return -ENOEXEC;
	}
	return 0;
}

static int read_binary(int fd, struct buf *b)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > BINARY_MAX)
		return -EFBIG;
	if (lseek(fd, 0, SEEK_SET))
		return -errno;
	return buf_read_fd(b, fd);
}

static bool same_content(int a, int b)
{
	autobuf struct buf one = BUF_INIT(BINARY_MAX);
	autobuf struct buf two = BUF_INIT(BINARY_MAX);

	return !read_binary(a, &one) && !read_binary(b, &two) &&
		one.len == two.len && !memcmp(one.data, two.data, one.len);
}

int shim_binary_sum(const struct shim_root *r, uint64_t *size,
	char out[static 65], bool *ours)
{
	static const char mark[] = "wardbox-install 1";
	autofd int fd = shim_root_openat(r, r->record.binary, O_RDONLY);
	const br_hash_class *sha = sha256_pick();
	autobuf struct buf b = BUF_INIT(BINARY_MAX);
	unsigned char sum[32];
	br_sha256_context c;
	int err = fd < 0 ? fd : read_binary(fd, &b);

	if (err)
		return err;
	sha->init((const br_hash_class **)&c.vtable);
	sha->update((const br_hash_class **)&c.vtable, b.data, b.len);
	sha->out((const br_hash_class *const *)&c.vtable, sum);
	*size = b.len;
	if (ours)
		*ours = memmem(b.data, b.len, mark, sizeof mark - 1);
	for (size_t i = 0; i < sizeof sum; i++) {
		out[2 * i] = "0123456789abcdef"[sum[i] >> 4];
		out[2 * i + 1] = "0123456789abcdef"[sum[i] & 15];
	}
	out[64] = '\0';
	return 0;
}

enum shim_fate shim_binary_fate(
	const struct shim_root *r, const struct shim_plan *plan)
{
	autofd int there = shim_root_openat(r, r->record.binary, O_RDONLY);

	if (there < 0)
		return SHIM_MAKE;
	if (same_content(plan->binary, there))
		return SHIM_KEEP;
	return r->recorded && r->record.binary_made ? SHIM_MAKE : SHIM_REFUSE;
}

int shim_put_binary(
	const struct shim_root *r, const struct shim_plan *plan, struct diag *d)
{
	autobuf struct buf b = BUF_INIT(BINARY_MAX);
	char name[SHIM_PATH_MAX];
	autofd int dir = shim_open_parent(r, r->record.binary, name);
	int err = dir < 0 ? dir : read_binary(plan->binary, &b);

	if (!err)
		err = shim_put_file(dir, name, b.data, b.len, 0755);
	return err ? diag_errno(d, err, "cannot put %s", r->record.binary) : 0;
}
