/* audit.c - reads, verifies and keeps the log
 * SPDX-License-Identifier: MIT
 *
 * APPLET(audit)
 *
 * config APPLET_AUDIT
 *	bool "audit: dump, follow, verify and replay the log (130.4 KB)"
 *	default y
 *	help
 *	  Shows what ran, who allowed it and what came of it; proves that the
 *	  log is whole; replays terminals; exports to what others read. The
 *	  shim writes the log whether this is in or not.
 */
#include "audit.h"

#include "applet.h"
#include "base/str.h"

static const struct cli_opt opts[] = {
	CLI_STR('D', struct audit, dir, "dir", "DIR",
		"the log's directory (default: that of this user)"),
	CLI_STR('S', struct audit, since, "since", "TIME",
		"not before: now, today, yesterday, boot, recent, -2h,"
		" 'YYYY-MM-DD hh:mm:ss', @UNIX"),
	CLI_STR('U', struct audit, until, "until", "TIME", "not after"),
	CLI_UINT('n', struct audit, lines, 100000000, "lines", "N",
		"the last N records"),
	CLI_FLAG('r', struct audit, reverse, "reverse", "newest first"),
	CLI_FLAG('f', struct audit, follow, "follow", "dump, replay, ship: go on as the log grows"),
	CLI_FLAG('e', struct audit, end, "pager-end", "the last 1000 records"),
	CLI_STR('b', struct audit, boot, "boot", "ID",
		"of one boot, by the digits of its id; 0, or none, is this one"),
	CLI_STR('s', struct audit, session, "session", "NAME",
		"of this session, by name or id"),
	CLI_UINT('p', struct audit, pid, 4194304, "pid", "PID",
		"commands with this process id"),
	CLI_STR('x', struct audit, exe, "exe", "GLOB",
		"commands whose program fits"),
	CLI_STR('c', struct audit, command, "command", "GLOB",
		"commands whose line fits, or holds the text"),
	CLI_STR(0, struct audit, cwd, "cwd", "GLOB",
		"commands run in such a directory"),
	CLI_STR(0, struct audit, exit, "exit", "CODE",
		"commands that ended so: N, !N, fail, signal"),
	CLI_STR(0, struct audit, decision, "decision", "WORD",
		"commands so decided: allow, open, deny, confirm, redirect"),
	CLI_STR(0, struct audit, rule, "rule", "GLOB",
		"commands decided by such a rule"),
	CLI_TIME(0, struct audit, min_duration, "min-duration", "TIME",
		"commands that took at least so long"),
	CLI_STR('g', struct audit, grep, "grep", "TEXT",
		"commands whose input or output holds the text"),
	CLI_FLAG('v', struct audit, invert, "invert-match",
		"the commands that do not fit"),
	CLI_STR(0, struct audit, event, "event", "GLOB",
		"events of such a name alone, as net.*"),
	CLI_STR('t', struct audit, type, "type", "KIND",
		"records of these kinds: start,io,end,event,..."),
	CLI_STR(0, struct audit, only, "only", "STREAM",
		"these streams: stdin,stdout,stderr,ttyin,ttyout"),
	CLI_STR('o', struct audit, output, "output", "FORM",
		"short, short-iso, short-delta, verbose, json, json-pretty,"
		" json-seq, csv, ocsf, asciicast, contract, cat, cbor, cose"),
	CLI_STR(0, struct audit, fields, "fields", "A,B",
		"only these fields, by their names in 'audit schema'"),
	CLI_STR(0, struct audit, format, "format", "TEXT",
		"a line per command: %t time %s session %i id %x exit %d"
		" duration %c command %w directory %D decision %r rule"),
	CLI_FLAG('a', struct audit, all, "all",
		"everything: checkpoints, headers, whole lines, raw bytes"),
	CLI_FLAG('q', struct audit, quiet, "quiet", "say nothing of damage"),
	CLI_FLAG(0, struct audit, utc, "utc", "times in UTC"),
	CLI_FLAG(0, struct audit, no_pager, "no-pager",
		"accepted, as there is none"),
	CLI_LIST(0, struct audit, merge, "merge", "DIR",
		"read this log too, in the order of time"),
	CLI_STR(0, struct audit, from_cursor, "cursor", "CURSOR",
		"from the record of a --show-cursor on"),
	CLI_STR(0, struct audit, cursor, "after-cursor", "CURSOR",
		"what came after a --show-cursor"),
	CLI_FLAG(0, struct audit, show_cursor, "show-cursor",
		"print the cursor of the last record"),
	CLI_STR(0, struct audit, mark, "checkpoint", "FILE",
		"what came since the last time; exit 5 when that is gone;"
		" ship: where its place is kept"),
	CLI_FLAG('j', struct audit, json, "json", "facts as JSON"),
	CLI_STR(0, struct audit, pubkey, "pubkey", "FP",
		"verify: the fingerprint that 'audit init' printed"),
	CLI_STR(0, struct audit, seed, "seed", "FILE",
		"verify: the seed that 'audit init --seal' printed"),
	CLI_STR(0, struct audit, anchor, "anchor", "SEQ:LINK",
		"verify: what 'audit anchor' printed earlier"),
	CLI_STR(0, struct audit, first, "from", "SEQ",
		"verify: begin with the segment that holds it"),
	CLI_FLAG(0, struct audit, links, "links",
		"verify: the chain alone, no signatures"),
	CLI_STR(0, struct audit, speed, "speed", "N",
		"replay: N times as fast, such as 2 or 0.5"),
	CLI_TIME('m', struct audit, max_wait, "max-wait", "TIME",
		"replay: no pause longer than this"),
	CLI_FLAG('l', struct audit, list, "list",
		"replay: what can be replayed"),
	CLI_STR(0, struct audit, html, "html", "FILE",
		"report: the page to write; with --json in its place, its data"),
	CLI_FLAG(0, struct audit, seal, "seal",
		"init: print the seed, which nothing keeps, for 'verify'"),
	CLI_SIZE(0, struct audit, keep_bytes, "keep-bytes", "SIZE",
		"vacuum: leave at most this much"),
	CLI_TIME(0, struct audit, keep_time, "keep-time", "TIME",
		"vacuum: leave what is younger, such as 30d"),
	CLI_STR(0, struct audit, reason, "reason", "TEXT",
		"expunge: why, for the record"),
	CLI_FLAG('y', struct audit, yes, "yes", "expunge: do not ask"),
	CLI_STR(0, struct audit, to, "to", "RECEIVER",
		"ship: syslog://HOST[:PORT], syslog+tls://, otlp://HOST[:PORT]"
		"[/PATH], otlp+tls://, file:DIRECTORY"),
	CLI_STR(0, struct audit, ca, "ca", "FILE",
		"ship: the authorities that may vouch for a receiver, in PEM"),
	CLI_STR(0, struct audit, cert, "cert", "FILE",
		"ship: the certificate that a receiver may ask for, in PEM"),
	CLI_STR(0, struct audit, key, "key", "FILE", "ship: its private key"),
	CLI_STR(0, struct audit, header_file, "header-file", "FILE",
		"ship: lines 'Name: value' for OTLP's requests"),
	CLI_SOME_TIME(0, struct audit, timeout, "timeout", "TIME",
		"ship: a receiver that keeps still so long is given up (30s)"),
	CLI_FLAG(0, struct audit, dry_run, "dry-run",
		"change nothing, say what would be done"),
};

static const struct cli_verb verbs[] = {
	CLI_VERB(audit_run_dump, "dump", "[FILE...]",
		"print records (the default)"),
	CLI_VERB(audit_run_follow, "follow", "", "print records as they come"),
	CLI_VERB(audit_run_show, "show", "SEQ [FILE...]",
		"one command in full"),
	CLI_VERB(audit_run_sessions, "sessions", "[FILE...]",
		"sessions, and what ran in them"),
	CLI_VERB(audit_run_replay, "replay", "[SEQ]",
		"play a command's terminal again"),
	CLI_VERB(audit_run_verify, "verify", "[FILE...]",
		"is the log whole, and by the right hand?"),
	CLI_VERB(audit_run_stats, "stats", "[FILE...]",
		"decisions, failures, durations, most denied"),
	CLI_VERB(audit_run_report, "report", "[FILE...]",
		"one page for a browser, with --html FILE; -n: the last N commands"),
	CLI_VERB(audit_run_export, "export", "[FILE...]",
		"for other programs, with -o FORM (default json)"),
	CLI_VERB(audit_run_ship, "ship", "",
		"send records to --to RECEIVER, each at least once; with -f as"
		" they come"),
	CLI_VERB(audit_run_anchor, "anchor", "",
		"sign what is not signed yet, and print a line that pins the"
		" log, to be kept elsewhere"),
	CLI_VERB(audit_run_init, "init", "", "begin a log"),
	CLI_VERB(audit_run_rotate, "rotate", "", "begin the next segment"),
	CLI_VERB(audit_run_vacuum, "vacuum", "", "delete old segments"),
	CLI_VERB(audit_run_expunge, "expunge", "SEQ",
		"take one record's contents out for good"),
	CLI_VERB(audit_run_schema, "schema", "", "the format of a record"),
};

const struct cli_spec audit_cli = {
	.name = "audit",
	.usage = "[VERB] [OPTION...] [FILE...]",
	.about = "Shows, proves and keeps the record of what ran. Exit codes: 0; "
		 "1 no match, or\nthe log was tampered with; 2 usage or I/O; "
		 "3 a declared loss; 4 whole, but\nnothing to hold it against.",
	.example = "audit -n 20\n"
		   "audit --decision deny --since today\n"
		   "audit -c 'npm *' --exit fail -o verbose\n"
		   "audit verify --pubkey 5f1d...  # from 'audit init'\n"
		   "audit replay 1042 --speed 2\n",
	CLI_OPTS(opts),
	CLI_VERBS(verbs),
};

/* The use of each option, a letter each, in the order of the options: W where
 * the log is; F and M which records; T which streams; P and E how many records
 * and from where on; O and A how records look; other letters stand for options
 * of single verbs. */
static const char uses[] = "WFFPEGEMFFFFFFFFFFFFFTOOOAQU-MEEECJVVVVVRRRHSKKXXNNNNNND";
_Static_assert(sizeof uses - 1 == ARRAY_SIZE(opts), "one letter per option");

/* The letters of the options that each verb takes, in the order of the
 * verbs. */
static const char *const takes[ARRAY_SIZE(verbs)] = {
	"-WFMTPECGOAQUJ", "-WFTPGOAQUJ", "-WOAQUJ", "-WFMTQUJ", "-WTGR",
	"-WVQJ", "-WFMTQUJ", "-WFMTPQUJHD", "-WFMTPECOAQUJ", "-WFTCGAQUN",
	"-WJ", "-WSQJD",
	"-WD", "-WKJD", "-WXD", "-J"};

/* The verb's index, or SIZE_MAX. */
static size_t find_verb(const char *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (str_eq(verbs[i].text, s))
			return i;
	return SIZE_MAX;
}

/* An option without effect is a mistake: what comes would be taken for what was
 * asked for. */
static void check_uses(const struct audit *a, size_t verb, bool files)
{
	const struct audit none = {.lines = AUDIT_ALL};
	const char *text = verbs[verb].text;
	/* A list takes the options that choose records and their looks. */
	const char *more = a->list ? "FMAQUOJ" : "";

	for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
		const size_t at = opts[i].offset,
			     size = opts[i].kind == CLI_KIND_FLAG ? sizeof(bool)
			: opts[i].kind == CLI_KIND_UINT ? sizeof(unsigned)
							: sizeof(uint64_t);

		if (!strchr(takes[verb], uses[i]) && !strchr(more, uses[i]) &&
			memcmp((const char *)a + at, (const char *)&none + at,
				size) != 0)
			cli_die_usage(&audit_cli, "'%s' has no use for --%s",
				text, opts[i].text);
	}
	if (files && (a->dir || a->first) && str_eq(cli_part(text), "[FILE...]"))
		cli_die_usage(&audit_cli, "--dir and --from are of no file");
}

/* "-b" without an id is this boot. */
static void name_boot(int argc, char **argv)
{
	static char here[] = "-b0";

	for (int i = 1; i < argc && !str_eq(argv[i], "--"); i++) {
		const char *next = i + 1 < argc ? argv[i + 1] : "";

		if ((str_eq(argv[i], "-b") || str_eq(argv[i], "--boot")) &&
			(!*next || *next == '-' ||
				next[strspn(next, "0123456789abcdef-")]))
			argv[i] = here;
	}
}

static int audit_run(int argc, char **argv)
{
	static char dump[] = "dump", follow[] = "follow";
	struct audit a = {.lines = AUDIT_ALL};
	size_t verb;
	int at;

	/* 1 is what 'verify' says of a forged log. */
	cli_unwritten(EXIT_USAGE);
	name_boot(argc, argv);
	at = cli_parse(&audit_cli, &a, argc, argv);

	verb = at < argc ? find_verb(argv[at]) : 0;
	/* "audit FILE" is a dump of it. */
	if (verb == SIZE_MAX &&
		(strchr(argv[at], '/') || strchr(argv[at], '.') ||
			str_eq(argv[at], "-"))) {
		verb = 0;
		argv[--at] = dump;
	}
	if (verb == 0 && a.follow) {
		if (at < argc)
			argv[at] = follow;
		verb = 1;
	}
	if (verb != SIZE_MAX)
		check_uses(&a, verb, at + 1 < argc);
	return cli_verb(&audit_cli, &a, argc - at, argv + at, (int)verb);
}

const struct applet audit_applet = {.run = audit_run, .cli = &audit_cli};
