/* policy_init.c - policy init: a first policy for this project
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <unistd.h>

#include "policy_applet.h"
#include "sys/file.h"

/* For each file that tells the kind of a project: the file, the tool, the
 * commands to allow, the files to protect. */
static const char kinds[] =
	"Makefile\0make\0make {all|check|test|clean|install} **\0Makefile\0"
	"package.json\0npm\0npm {install|run|test} **\0package.json\0"
	"Cargo.toml\0cargo\0cargo {build|check|test|clippy|fmt|run} **\0"
	"Cargo.toml build.rs .cargo/**\0"
	"go.mod\0go\0go {build|test|vet|fmt} **\0go.mod\0"
	"pyproject.toml\0python\0{pytest|ruff|mypy|black} **\0pyproject.toml\0"
	"setup.py\0python\0pytest **\0setup.py\0"
	"requirements.txt\0python\0pytest **\0requirements.txt\0"
	"*.sln\0dotnet\0dotnet {run|format|clean} **\0*.sln\0"
	"*.csproj\0dotnet\0dotnet {run|format|clean} **\0*.csproj\0"
	"pnpm-lock.yaml\0pnpm\0pnpm {run|test} **\0package.json\0"
	"CMakeLists.txt\0cmake\0{cmake|ctest|ninja} **\0CMakeLists.txt\0"
	"meson.build\0meson\0{meson|ninja} **\0meson.build\0"
	"pom.xml\0maven\0mvn {compile|test|package|verify} **\0pom.xml\0"
	"build.gradle\0gradle\0./gradlew {build|test|check} **\0"
	"build.gradle gradle/**\0"
	"build.gradle.kts\0gradle\0./gradlew {build|test|check} **\0"
	"build.gradle.kts gradle/**\0"
	"Gemfile\0bundler\0bundle exec {rake|rspec} **\0Gemfile\0"
	"composer.json\0composer\0composer {validate|test} **\0composer.json\0";

static bool has_file(const char *root, const char *pattern)
{
	autodir DIR *dir = opendir(root);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (str_glob(pattern, e->d_name))
			return true;
	return false;
}

/* The next row whose file is in the root. */
static bool next_kind(
	const struct policy_here *h, const char **at, const char *field[4])
{
	while (**at) {
		for (unsigned i = 0; i < 4; i++, *at += strlen(*at) + 1)
			field[i] = *at;
		if (has_file(h->root, field[0]))
			return true;
	}
	return false;
}

static void compose_policy(const struct policy_here *h, struct buf *out)
{
	const char *at, *field[4];
	unsigned found = 0;

	buf_adds(out, "# What commands may do in this project, beneath what "
		      "the machine's\n"
		      "# policy says. A project can only tighten: `deny`, "
		      "`ask`, `confirm`\n"
		      "# and `protect` count at once; `allow` counts where the "
		      "machine's\n"
		      "# policy delegates it, for example by this in "
		      POLICY_SYSTEM ":\n");
	for (at = kinds; next_kind(h, &at, field); found++)
		buf_addf(out, "#	delegate project allow %s\n",
			field[2]);
	if (!found)
		buf_adds(out, "#	delegate project allow make **\n");
	buf_adds(out, "#\n# Try it: wardbox policy check, wardbox policy test "
		      "LINE\n\n"
		      "policy 1 project\n");
	for (at = kinds; next_kind(h, &at, field);)
		buf_addf(out,
			"\n# %s, for there is a %s\nallow %s\n"
			"# protect confirm %s\n",
			field[1], field[0], field[2], field[3]);
	if (!found)
		buf_adds(out, "\n# No build system was found here.\n"
			      "# allow make **\n");
	buf_adds(out, "\n# Files that a person should see changes to\n"
		      "protect confirm .github/workflows/** .gitlab-ci.yml\n"
		      "\n# What must never happen here\n"
		      "# deny git push ** : \"push from your own shell\"\n"
		      "\n# These are tried whenever the policy is checked\n"
		      "test * deny 'curl http://example.com'\n");
}

int policy_init(void *into)
{
	const struct policy_opts *o = into;
	autohere struct policy_here *h = NULL;
	autobuf struct buf out = BUF_INIT(1 << 16), said = BUF_INIT(1 << 17);
	struct json j = JSON_INIT(&said);
	const char *target;

	h = policy_find_here(o);
	compose_policy(h, &out);
	target = o->write ? o->write : h->project;
	if (!o->dry_run) {
		if (access(target, F_OK) == 0)
			cli_die(EXIT_FOUND, "%s exists already; see --dry-run",
				target);
		policy_write(target, out.data, out.len, 0644);
	} else if (!o->json) {
		cli_print(&out);
		return EXIT_OK;
	}
	policy_wrote(o, &j, target, o->dry_run ? buf_str(&out) : NULL);
	cli_print_json(&j);
	return EXIT_OK;
}
