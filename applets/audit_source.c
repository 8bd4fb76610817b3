/* audit_source.c - where the records come from, and which are wanted
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit.h"
#include "log/audit_read_json.h"
#include "sys/env.h"
#include "sys/file.h"
#include "base/num.h"
#include "base/path.h"
#include "guard/guard_log.h"
#include "base/str.h"

/* Where the guard keeps the log of this user. */
static int own_dir(bool make, struct diag *d)
{
	autofree char *cwd = malloc(PATH_MAX);
	const struct session_where where = {
		.cwd = !cwd || path_cwd(cwd, PATH_MAX) ? "/" : cwd,
		.uid = geteuid()};
	const struct guard_log log = {
		.env = environ, .where = &where, .make = make};
	int fd = guard_log_open(&log, NULL, 0, d);

	if (fd < 0)
		cli_hint_inside(d);
	return fd;
}

static int open_dir(const struct audit *a, bool make, struct diag *d)
{
	int fd;

	if (!a->dir)
		return own_dir(make, d);
	fd = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? diag_errno(d, -errno, "%s", a->dir) : fd;
}

int audit_dir(const struct audit *a, bool make)
{
	struct diag d = {0};
	int fd;

	if (make && a->dir && file_mkdirs(a->dir, 0700))
		audit_die(a->dir, errno);
	fd = open_dir(a, make, &d);
	if (fd < 0)
		audit_fail(&d);
	return fd;
}

bool audit_is_there(const struct audit *a)
{
	struct diag d;
	autofd int fd = open_dir(a, false, &d);

	return fd >= 0 && !faccessat(fd, "head", F_OK, AT_SYMLINK_NOFOLLOW);
}

void audit_no_log(const struct audit *a)
{
	cli_die(EXIT_USAGE,
		"there is no log here%s%s: the first command that is recorded"
		" begins one, or 'wardbox audit init'",
		a->dir ? ", in " : "", a->dir ? a->dir : "");
}

void audit_dir_log(const struct audit *a, struct audit_log *log)
{
	autofd int fd = audit_dir(a, false);
	struct diag d = {0};

	if (faccessat(fd, "head", F_OK, AT_SYMLINK_NOFOLLOW))
		audit_no_log(a);
	if (audit_open(log, fd, geteuid(), NULL, &d))
		audit_fail(&d);
}

/* A pipe is read twice by keeping it: in memory, which is bounded. */
static int keep_pipe(void)
{
	enum { PIPE_MAX = 1 << 30 };
	static int kept = -1;
	autofree char *chunk = malloc(65536);
	size_t total = 0;

	if (kept >= 0)
		return fcntl(kept, F_DUPFD_CLOEXEC, 3);
	if (lseek(STDIN_FILENO, 0, SEEK_SET) == 0)
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	kept = memfd_create("audit", MFD_CLOEXEC);
	while (kept >= 0 && chunk) {
		ssize_t got = read(STDIN_FILENO, chunk, 65536);

		if (got < 0 && fd_again(STDIN_FILENO, POLLIN))
			continue;
		if (got <= 0)
			return fcntl(kept, F_DUPFD_CLOEXEC, 3);
		total += (size_t)got;
		if (total > PIPE_MAX)
			cli_die(EXIT_USAGE, "more than 1 GiB on stdin: use a"
					    " file");
		if (file_write_all(kept, chunk, (size_t)got))
			break;
	}
	audit_die("cannot keep stdin", errno);
}

static void source_files(int argc, char **argv, struct audit_reader *r)
{
	autofree int *fds = calloc((size_t)argc, sizeof *fds);
	struct diag d = {0};

	audit_need(fds);
	for (int i = 0; i < argc; i++) {
		if (str_eq(argv[i], "-")) {
			fds[i] = keep_pipe();
			lseek(fds[i], 0, SEEK_SET);
		} else {
			fds[i] = open(argv[i], O_RDONLY | O_CLOEXEC);
		}
		if (fds[i] < 0)
			audit_die(argv[i], errno);
	}
	if (audit_reader_fds(r, fds, (size_t)argc, &d))
		audit_fail(&d);
}

void audit_source(
	const struct audit *a, int argc, char **argv, struct audit_reader *r)
{
	struct diag d = {0};
	autofd int fd = -1;

	if (argc > 1) {
		source_files(argc - 1, argv + 1, r);
		return;
	}
	fd = audit_dir(a, false);
	if (audit_reader_dir(r, fd, 0, &d))
		audit_fail(&d);
	if (!r->count && !a->follow)
		audit_no_log(a);
}

/* "start,io" as bits, each word by find. */
static uint32_t word_bits(
	const char *list, const char *what, int (*find)(const char *))
{
	uint32_t bits = 0;

	while (list && *list) {
		size_t n = strcspn(list, ",");
		char word[24] = "";
		int bit = -1;

		if (n < sizeof word) {
			memcpy(word, list, n);
			bit = find(word);
		}
		if (bit < 0)
			cli_die_usage(&audit_cli, "no %s '%.*s'", what, (int)n,
				list);
		bits |= UINT32_C(1) << bit;
		list += n + (list[n] == ',');
	}
	return bits;
}

static int type_parse(const char *name)
{
	for (int i = 0; i < AUDIT_PURGED; i++)
		if (str_eq(audit_type_name((uint64_t)i), name))
			return i;
	return str_eq(name, "purged") ? AUDIT_PURGED : -EINVAL;
}

static int loose_stream(const char *name)
{
	/* "out" is "stdout". */
	for (int i = AUDIT_IN; i <= AUDIT_ERR; i++)
		if (str_eq(audit_stream_name((uint64_t)i) + 3, name))
			return i;
	return audit_stream_parse(name);
}

static uint64_t time_from(const struct audit *a, const char *text)
{
	uint64_t ns = 0;

	if (text && audit_parse_time(text, a->utc, &ns))
		cli_die_usage(&audit_cli,
			"no time '%s': YYYY-MM-DD[ hh:mm[:ss]][Z], @UNIX, -2h,"
			" now, today, yesterday, boot, recent",
			text);
	return ns;
}

void audit_filter_from(const struct audit *a, struct audit_filter *f)
{
	*f = (struct audit_filter){
		.session = a->session,
		.exe = a->exe,
		.command = a->command,
		.cwd = a->cwd,
		.rule = a->rule,
		.event = a->event,
		.grep = a->grep,
		.pid = a->pid,
		.min_duration = a->min_duration,
		.invert = a->invert,
	};
	f->since = time_from(a, a->since);
	/* The filter takes 0 for no limit. */
	f->until = time_from(a, a->until);
	f->until += a->until && !f->until;
	f->types = word_bits(a->type, "kind of record", type_parse);
	f->streams = word_bits(a->only, "stream", loose_stream);
	f->decisions =
		word_bits(a->decision, "decision", audit_decision_parse);
	if (a->exit && audit_filter_exit(f, a->exit))
		cli_die_usage(&audit_cli,
			"--exit takes 0..255, !N, fail or signal, not '%s'",
			a->exit);
}

/* One log of those that are read at once. */
struct lane {
	struct audit_reader reader;
	struct audit_record record;
	bool filled, done;
};

/* Which boot the records come from, told by headers and boot events. */
struct boot {
	char wanted[33]; /* hexadecimal digits, as many as were given */
	bool any, here;
};

static void boot_begin(const struct audit *a, struct boot *b)
{
	char text[64];
	struct buf id = BUF_FIXED(text);
	uint8_t here[AUDIT_ID];
	size_t n = 0;

	*b = (struct boot){.any = !a->boot, .here = !a->boot};
	if (!a->boot)
		return;
	audit_boot_id(here);
	if (str_eq(a->boot, "0"))
		audit_add_hex(&id, here, sizeof here);
	else
		buf_adds(&id, a->boot);
	for (const char *p = buf_str(&id); *p && n < 32; p++)
		if (chr_digit(*p) || (*p >= 'a' && *p <= 'f'))
			b->wanted[n++] = *p;
	if (n < 4)
		cli_die_usage(&audit_cli, "--boot takes 0 or digits of an id");
}

static void boot_note(struct boot *b, const struct audit_record *r)
{
	const struct cbor_item *id = NULL;
	struct cbor_item value;
	char text[40];
	struct buf hex = BUF_FIXED(text);

	if (r->type == AUDIT_HEADER)
		id = audit_bytes(r, AUDIT_K_BOOT_ID);
	else if (r->type == AUDIT_EVENT && audit_event_is(r, "boot"))
		id = audit_detail(r, "id", &value);
	if (!id || !id->bytes || id->n != AUDIT_ID)
		return;
	audit_add_hex(&hex, id->bytes, AUDIT_ID);
	b->here = str_after(buf_str(&hex), b->wanted) != NULL;
}

void audit_tell_damage(
	const struct audit *a, int got, const struct audit_damage *d)
{
	if (a->quiet)
		return;
	cli_warn("segment %016jx, byte %ju: %ju bytes %s",
		d->segment, d->offset,
		d->bytes,
		got == AUDIT_GOT_ALIEN ? "are a record that cannot be read"
		: got == AUDIT_GOT_BAD ? "are damaged"
				       : "at the end are no whole record");
	if (got == AUDIT_GOT_BAD)
		cli_warn("what follows them in that file is not shown, because "
			"nothing vouches for it: 'tail -c +%ju FILE | wardbox "
			"audit dump -' shows it", d->offset + d->bytes + 1);
}

struct walk {
	const struct audit *a;
	struct lane *lanes;
	size_t count;
	bool tell, damaged;
	struct audit_damage damage;
	struct diag d;
};

/* Brings a lane to its next record, or to its end. */
static void lane_fill(struct walk *w, struct lane *l)
{
	while (!l->filled && !l->done) {
		int got = audit_next(
			&l->reader, &l->record, &w->damage, &w->d);

		if (got < 0)
			audit_fail(&w->d);
		l->filled = got == AUDIT_GOT_RECORD;
		l->done = got == AUDIT_GOT_END;
		if (l->filled || l->done || got == AUDIT_GOT_SEGMENT)
			continue;
		w->damaged = true;
		if (w->tell)
			audit_tell_damage(w->a, got, &w->damage);
	}
}

static void walk_open(struct walk *w, uint32_t deep, int argc, char **argv)
{
	w->count = 1 + w->a->merge.count;
	w->lanes = audit_need(calloc(w->count, sizeof *w->lanes));
	audit_source(w->a, argc, argv, &w->lanes[0].reader);
	for (size_t i = 1; i < w->count; i++) {
		struct audit other = {.dir = w->a->merge.item[i - 1]};

		audit_source(&other, 0, NULL, &w->lanes[i].reader);
	}
	for (size_t i = 0; deep && i < w->count; i++)
		w->lanes[i].reader.deep = deep;
}

static void walk_close(struct walk *w)
{
	for (size_t i = 0; i < w->count; i++)
		audit_reader_release(&w->lanes[i].reader);
	free(w->lanes);
}

/* The oldest record of all lanes, or NULL at the end. */
static struct audit_record *walk_next(struct walk *w)
{
	struct lane *first = NULL;

	for (size_t i = 0; i < w->count; i++) {
		struct lane *l = &w->lanes[i];

		lane_fill(w, l);
		if (l->filled &&
			(!first || l->record.wall < first->record.wall))
			first = l;
	}
	if (!first)
		return NULL;
	first->filled = false;
	return &first->record;
}

/* The kinds of record that the second pass reads; 0: all. Headers and events
 * tell the boot. */
static uint32_t shown_kinds(const struct audit_filter *f)
{
	return f->types
		? f->types | 1u << AUDIT_HEADER | 1u << AUDIT_EVENT
		: 0;
}

uint64_t audit_walk(const struct audit *a, int argc, char **argv,
	audit_view *view, void *state, bool *damaged)
{
	autoclean(audit_filter_release) struct audit_filter f;
	struct audit_record *r;
	struct boot boot;
	uint64_t shown = 0;
	uint32_t kinds;

	audit_filter_from(a, &f);
	kinds = audit_filter_kinds(&f);
	boot_begin(a, &boot);
	for (int pass = kinds ? 0 : 1; pass < 2; pass++) {
		struct walk w = {.a = a, .tell = pass == 1};

		walk_open(&w, pass ? shown_kinds(&f) : kinds, argc, argv);
		while ((r = walk_next(&w))) {
			if (pass && !boot.any)
				boot_note(&boot, r);
			if (pass == 0 && audit_filter_note(&f, r))
				cli_die(EXIT_USAGE, "too many commands, or too"
						    " long a text, to remember");
			if (pass == 0 || !boot.here ||
				!audit_filter_match(&f, r))
				continue;
			shown++;
			if (view(state, r))
				break;
		}
		*damaged = w.damaged;
		walk_close(&w);
	}
	return shown;
}
