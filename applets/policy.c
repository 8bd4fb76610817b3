/* policy.c - what may run here, and why
 * SPDX-License-Identifier: MIT
 *
 * APPLET(policy, "shell")
 *
 * config APPLET_POLICY
 *	bool "policy: say what may run, and why (33.0 KB)"
 *	default y
 *	help
 *	  Tests and explains shell lines against the policy in force, checks,
 *	  compiles and signs policy files, and proposes rules from the log.
 *	  The engine itself is part of every guarded command.
 */
#include "policy_applet.h"

static const struct cli_opt opts[] = {
	CLI_STR('p', struct policy_opts, profile, "profile", "NAME",
		"judge as in profile NAME"),
	CLI_STR('C', struct policy_opts, cwd, "cwd", "DIR",
		"judge as if started in DIR"),
	CLI_STR('R', struct policy_opts, root, "root", "DIR",
		"take DIR for the project's root"),
	CLI_STR('d', struct policy_opts, dialect, "dialect", "SHELL",
		"read lines as sh, ash or bash do, not as any of them"),
	CLI_STR('s', struct policy_opts, system, "system", "FILE",
		"read FILE as the system policy"),
	CLI_STR('f', struct policy_opts, batch, "batch", "FILE",
		"with test: judge each line of FILE, '-' for stdin"),
	CLI_STR('o', struct policy_opts, output, "output", "FILE",
		"with compile and export: write FILE"),
	CLI_STR('k', struct policy_opts, key, "key", "FILE",
		"with keygen, sign and verify: the key"),
	CLI_STR('w', struct policy_opts, write, "write", "FILE",
		"with init and suggest: write FILE"),
	CLI_UINT('c', struct policy_opts, count, CLI_SOME | 10000, "count", "N",
		"with history: show the last N decisions"),
	CLI_FLAG('j', struct policy_opts, json, "json", "print facts as JSON"),
	CLI_FLAG('n', struct policy_opts, dry_run, "dry-run",
		"say what would be written, write nothing"),
};

static const struct cli_verb verbs[] = {
	CLI_VERB(policy_status, "status", "", "the policy in force"),
	CLI_VERB(policy_allowlist, "allowlist", "", "what is allowed or asked"),
	CLI_VERB(policy_blocklist, "blocklist", "", "what is denied"),
	CLI_VERB(policy_test_verb, "test", "LINE", "would LINE run?"),
	CLI_VERB(policy_explain, "explain", "LINE", "each command, its rule"),
	CLI_VERB(policy_why, "why", "[SESSION]",
		"the last denial of this session, in full"),
	CLI_VERB(policy_check, "check", "[FILE...]",
		"read policy files, test them, plan a command"),
	CLI_VERB(policy_compile, "compile", "",
		"write the image of the system policy"),
	CLI_VERB(policy_export, "export", "", "the policy in force, as CBOR"),
	CLI_VERB(policy_keygen, "keygen", "", "make a pair of keys"),
	CLI_VERB(policy_sign_verb, "sign", "FILE...", "sign policy files"),
	CLI_VERB(policy_verify, "verify", "FILE...", "check their signatures"),
	CLI_VERB(policy_history, "history", "", "recent decisions of the log"),
	CLI_VERB(policy_init, "init", "",
		"write a first policy for this project"),
	CLI_VERB(policy_registries, "registries", "",
		"the hosts that packages come from here"),
	CLI_VERB(policy_suggest, "suggest", "",
		"rules for what was asked or denied"),
};

static const struct cli_spec spec = {
	.name = "policy",
	.usage = "[OPTION...] VERB [ARGUMENT...]",
	.about = "Says what may run here, and why.",
	.example = "wardbox policy test 'git push'\n"
		   "wardbox policy explain 'make && curl http://x'\n"
		   "wardbox policy check /etc/wardbox/policy",
	CLI_OPTS(opts),
	CLI_VERBS(verbs),
};

static int policy_run(int argc, char **argv)
{
	struct policy_opts o = {.spec = &spec, .count = 20};
	int at = cli_parse(&spec, &o, argc, argv);

	return cli_verb(&spec, &o, argc - at, argv + at, 0);
}

const struct applet policy_applet = {.run = policy_run, .cli = &spec};
