/* auto-shebang.c - find the interpreter of a script by walking up the tree
 * SPDX-License-Identifier: MIT
 *
 * APPLET(auto-shebang, "auto-*")
 *
 * config APPLET_AUTO_SHEBANG
 *	bool "auto-shebang: find the interpreter of a script by walking up the tree (22.5 KB)"
 *	default y
 *	help
 *	  Called auto-NAME, it looks for a program auto-NAME beside the script
 *	  and in every directory above, and executes that. A project names its
 *	  interpreter by one symbolic link. Compatible with the shell script
 *	  auto-shebang 1.0.
 */
#include "auto-shebang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "applet.h"
#include "sys/file.h"
#include "base/path.h"
#include "base/str.h"

static const struct cli_opt options[] = {
	CLI_FLAG(0, struct auto_shebang, resolve, "resolve",
		"NAME SCRIPT: print the path of the interpreter"),
	CLI_FLAG(0, struct auto_shebang, check, "check",
		"NAME SCRIPT: tell by the exit code whether there is one"),
	CLI_FLAG(0, struct auto_shebang, list, "list",
		"NAME SCRIPT: print every candidate in order, which one wins "
		"and what is wrong with the others"),
	CLI_FLAG(0, struct auto_shebang, init, "init",
		"NAME INTERPRETER [DIR]: make the link DIR/bin/NAME"),
	CLI_FLAG(0, struct auto_shebang, sh_lib, "sh-lib",
		"print the file that gives shell scripts auto_shebang_resolve"),
	CLI_FLAG(0, struct auto_shebang, version, "version",
		"print the version of the compatible script"),
	CLI_FLAG(0, struct auto_shebang, debug, "debug",
		"before the others: trace the search on stderr"),
	CLI_FLAG('j', struct auto_shebang, json, "json",
		"print facts as JSON"),
	CLI_FLAG('n', struct auto_shebang, dry_run, "dry-run",
		"with --init: only say what would be made"),
	CLI_FLAG('f', struct auto_shebang, force, "force",
		"with --init: replace a link that leads elsewhere"),
};

const struct cli_spec auto_shebang_spec = {
	.name = "auto-shebang",
	.usage = "--resolve|--check|--list NAME SCRIPT\n"
		 "       wardbox auto-shebang --init NAME INTERPRETER [DIR]\n"
		 "       auto-NAME SCRIPT [ARGUMENT...]",
	.about = "Finds the interpreter of a script by walking up from it.",
	.example = "auto-shebang --init auto-python /usr/bin/python3\n"
		   "auto-shebang --list auto-python scripts/deploy.py",
	CLI_OPTS(options),
};

/* By this, in the first page of the file, other resolvers know this one; see
 * SHEBANG_MARK. A note, since the linker puts those in front. */
static const struct {
	uint32_t name_size, size, type;
	char name[8];
	char text[28];
} mark __attribute__((section(".note.auto-shebang"), used, aligned(4))) = {
	8, 28, 1, "wardbox", "\n" SHEBANG_MARK "1.0"};

static const char *version_text(void)
{
	return mark.text + sizeof SHEBANG_MARK;
}

static const char usage_tail[] =
	"\n"
	"Usage:\n"
	"  auto-shebang --resolve <name> <script>  Print interpreter path\n"
	"  auto-shebang --check <name> <script>    Test if resolvable\n"
	"  auto-shebang --list <name> <script>     Print every candidate\n"
	"  auto-shebang --init <name> <interpreter> [<dir>]\n"
	"                                          Make <dir>/bin/<name>\n"
	"  auto-shebang --sh-lib                   Print the shell library\n"
	"  auto-shebang --version                  Print version\n"
	"  auto-shebang --debug --resolve|--check  Enable debug trace\n"
	"  auto-shebang --json --resolve|--check|--list\n"
	"                                          Print JSON\n"
	"  auto-shebang --init [--dry-run] [--force] ...\n"
	"                                          Only say; replace a link\n"
	"\n"
	"Typically invoked via language-specific alias:\n"
	"  ln -s auto-shebang auto-python\n"
	"  #!/usr/bin/env /path/to/auto-python\n"
	"  #!/path/to/auto-python                  On Linux, and faster\n"
	"\n"
	"Compatible with https://github.com/mandersogit/auto-shebang\n";

static int print_usage(void)
{
	autobuf struct buf out = BUF_INIT(4096);

	buf_addf(&out,
		"auto-shebang %s -- language-agnostic interpreter resolver\n%s",
		version_text(), usage_tail);
	cli_print(&out);
	return EXIT_OK;
}

static int print_alias_usage(const char *name)
{
	autobuf struct buf out = BUF_INIT(8192);

	buf_addf(&out,
		"%s (auto-shebang %s) -- interpreter resolver\n"
		"\n"
		"Usage as shebang:\n"
		"  #!/usr/bin/env /path/to/%s\n"
		"  #!/usr/bin/env %s\n"
		"\n"
		"Usage from command line:\n"
		"  %s /path/to/script [args...]\n",
		name, version_text(), name, name, name);
	cli_print(&out);
	return EXIT_OK;
}

/* ENOEXEC is answered as a shell does: such a file is a script for sh. */
static int run_by_shell(int argc, char **argv)
{
	static char shell[] = "/bin/sh";
	char **args = calloc((size_t)argc + 2, sizeof *args);

	if (!args)
		return -ENOMEM;
	args[0] = shell;
	memcpy(args + 1, argv, (size_t)argc * sizeof *args);
	execv(shell, args);
	free(args);
	return -errno;
}

/* Which file was missing, when the interpreter itself is there. */
static void add_missing(struct buf *text, const char *head)
{
	const char *name = str_after(head, "#!");

	if (!name) {
		buf_adds(text, "the loader it needs is missing: ");
		return;
	}
	name += strspn(name, " \t");
	buf_adds(text, "its own interpreter, ");
	buf_add(text, name, strcspn(name, " \t\r\n"));
	buf_adds(text, ", is missing: ");
}

/* argv[0] is the interpreter, head how its file begins. Only returns when it
 * cannot be executed. */
static int execute_file(
	const char *name, const char *head, int argc, char **argv)
{
	autobuf struct buf text = BUF_INIT(16384);
	int err;

	execv(argv[0], argv);
	err = -errno;
	buf_addf(&text, "cannot execute %s: ", argv[0]);
	if (err == -ENOEXEC && str_after(head, "\177ELF")) {
		buf_adds(&text, "it is made for another machine: ");
	} else if (err == -ENOEXEC) {
		err = run_by_shell(argc, argv);
		buf_adds(&text, "it has no format, and /bin/sh: ");
	} else if (err == -ENOENT && access(argv[0], F_OK) == 0) {
		add_missing(&text, head);
	}
	auto_shebang_say(name, "%s%s", buf_str(&text), strerror(-err));
	return err == -ENOENT || err == -ENOTDIR ? EXIT_NOTFOUND : EXIT_DENIED;
}

/* Interpreters that are scripts, each of which names the other in its first
 * line, would call each other for ever, with an argument more each time. */
static bool goes_round(const struct shebang *s, int argc, char **argv)
{
	bool round = s->loops;

	for (int i = 1; i < argc && str_after(path_base(argv[i]), "auto-"); i++)
		round |= str_after(s->head, "#!") && str_eq(argv[i], s->result);
	return round;
}

static int run_alias(const char *name, int argc, char **argv)
{
	const struct shebang *s;
	int code;

	if (argc < 2)
		return print_alias_usage(name);
	s = auto_shebang_search(name, argv[1], false, NULL, &code);
	if (code) {
		auto_shebang_tell(s, code);
		return code == SHEBANG_NONE ? EXIT_NOTFOUND : code;
	}
	if (goes_round(s, argc, argv)) {
		auto_shebang_say(name,
			"the script is its own interpreter by its name and "
			"place; name another, or give it another first line");
		return EXIT_DENIED;
	}
	argv[0] = (char *)(uintptr_t)s->result;
	return execute_file(name, s->head, argc, argv);
}

enum mode { RESOLVE, CHECK, LIBRARY };

static int run_search(enum mode mode, const char *name, const char *script,
	const struct auto_shebang *o)
{
	int code;
	const struct shebang *s =
		auto_shebang_search(name, script, o->debug, NULL, &code);

	if (o->json)
		auto_shebang_json(s, code, NULL);
	if (code == SHEBANG_FOUND && mode != CHECK && !o->json) {
		autobuf struct buf out = BUF_INIT(SHEBANG_PATH);

		buf_addf(&out, "%s\n", s->result);
		cli_print(&out);
	}
	if (code == SHEBANG_NONE && mode != RESOLVE)
		return code;
	auto_shebang_tell(s, code);
	return code == SHEBANG_NONE ? EXIT_NOTFOUND : code;
}

/* The compatible script lets no option stand behind the verb: what follows it
 * are the name and the script, whatever they look like. --json may be one of
 * the further operands, which it passes over. */
static int run_mode(enum mode mode, struct auto_shebang *o, int argc,
	char **argv)
{
	const char *verb = argv[0];

	if (argc > 3 && str_eq(argv[1], "--json")) {
		o->json = true;
		argv++;
		argc--;
	}
	for (int i = 3; i < argc; i++)
		o->json |= str_eq(argv[i], "--json");
	if (argc < 3) {
		auto_shebang_say("auto-shebang",
			"usage: auto-shebang %s <name> <script>", verb);
		return EXIT_USAGE;
	}
	return run_search(mode, argv[1], argv[2], o);
}

/* The verbs that the compatible script lacks are free to be conventional. */
static int run_parsed(int argc, char **argv)
{
	struct auto_shebang o = {0};
	int at = cli_parse(&auto_shebang_spec, &o, argc, argv);
	int left = argc - at;

	if (o.resolve + o.check + o.list + o.init + o.sh_lib + o.version != 1)
		cli_die_usage(&auto_shebang_spec, "one thing at a time");
	if (o.sh_lib && !left)
		return auto_shebang_sh_lib();
	if (o.init && (left == 2 || left == 3))
		return auto_shebang_init(left, argv + at, &o);
	if (o.list && left == 2)
		return auto_shebang_list(argv[at], argv[at + 1], &o);
	cli_die_usage(&auto_shebang_spec,
		o.init ? "--init takes NAME INTERPRETER [DIR]"
		: o.list ? "--list takes NAME SCRIPT"
			 : "--sh-lib takes no operand");
}

/* Is it one of those, options in front of the verb or not? */
static bool is_own_form(int argc, char **argv)
{
	int i = 1;

	while (i < argc && str_index("--debug\0--json\0--dry-run\0--force\0"
				     "-j\0-n\0-f\0",
				   argv[i]) >= 0)
		i++;
	return i < argc &&
	       str_index("--list\0--init\0--sh-lib\0", argv[i]) >= 0;
}

static int unknown_verb(const char *verb)
{
	auto_shebang_say("auto-shebang",
		"unknown %s: %s (use --resolve, --check, --help, or "
		"--version)",
		str_after(verb, "--") ? "flag" : "argument", verb);
	return EXIT_USAGE;
}

static int run_manager(int argc, char **argv)
{
	struct auto_shebang o = {0};
	const char *verb = "";
	int i = 1;

	if (is_own_form(argc, argv))
		return run_parsed(argc, argv);
	for (; i < argc; i++) {
		if (str_eq(argv[i], "--debug"))
			o.debug = true;
		else if (str_eq(argv[i], "--json"))
			o.json = true;
		else
			break;
	}
	if (i < argc)
		verb = argv[i];
	if (!*verb || str_eq(verb, "--help") || str_eq(verb, "-h"))
		return print_usage();
	if (str_eq(verb, "--resolve"))
		return run_mode(RESOLVE, &o, argc - i, argv + i);
	if (str_eq(verb, "--check"))
		return run_mode(CHECK, &o, argc - i, argv + i);
	if (str_eq(verb, "--lib-resolve"))
		return run_mode(LIBRARY, &o, argc - i, argv + i);
	if (str_eq(verb, "--version")) {
		autobuf struct buf out = BUF_INIT(64);

		buf_addf(&out, "auto-shebang %s\n", version_text());
		cli_print(&out);
		return EXIT_OK;
	}
	return unknown_verb(verb);
}

static int shebang_run(int argc, char **argv)
{
	const char *name = path_base(argv[0]);

	if (str_eq(name, "auto-shebang"))
		return run_manager(argc, argv);
	return run_alias(name, argc, argv);
}

const struct applet auto_shebang_applet = {
	.run = shebang_run, .cli = &auto_shebang_spec};
