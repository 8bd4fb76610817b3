/* policy_init.c - policy init: a first policy for this project
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "path.h"
#include "policy_applet.h"

/* What a file in the root tells about the project. */
static const struct {
	const char *file, *tool, *allow, *protect, *test;
} kinds[] = {
	{"Makefile", "make", "make {all|check|test|clean|install} **",
		"Makefile", "make check"},
	{"package.json", "npm", "npm {install|run|test} **", "package.json",
		"npm test"},
	{"Cargo.toml", "cargo", "cargo {build|check|test|clippy|fmt|run} **",
		"Cargo.toml build.rs .cargo/**", "cargo test"},
	{"go.mod", "go", "go {build|test|vet|fmt} **", "go.mod", "go test"},
	{"pyproject.toml", "python", "{pytest|ruff|mypy|black} **",
		"pyproject.toml", "pytest"},
	{"setup.py", "python", "pytest **", "setup.py", "pytest"},
	{"CMakeLists.txt", "cmake", "{cmake|ctest|ninja} **", "CMakeLists.txt",
		"ctest"},
	{"meson.build", "meson", "{meson|ninja} **", "meson.build", "ninja"},
	{"pom.xml", "maven", "mvn {compile|test|package|verify} **", "pom.xml",
		"mvn test"},
	{"build.gradle", "gradle", "./gradlew {build|test|check} **",
		"build.gradle gradle/**", "./gradlew test"},
	{"Gemfile", "bundler", "bundle exec {rake|rspec} **", "Gemfile",
		"bundle exec rake"},
	{"composer.json", "composer", "composer {validate|test} **",
		"composer.json", "composer test"},
};

static bool has(const struct policy_here *h, const char *file)
{
	char path[1200];

	return path_join(path, sizeof(path), h->root, file) == 0 &&
	       access(path, F_OK) == 0;
}

static void compose(const struct policy_here *h, struct buf *out)
{
	unsigned found = 0;

	buf_adds(out, "# What commands may do in this project, beneath what "
		      "the machine's\n"
		      "# policy says. A project can only tighten: `deny`, "
		      "`ask`, `confirm`\n"
		      "# and `protect` count at once; `allow` counts where the "
		      "machine's\n"
		      "# policy delegates it, for example by this line "
		      "in " POLICY_SYSTEM ":\n");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (has(h, kinds[i].file))
			buf_addf(out, "#	delegate project allow %s\n",
				kinds[i].allow);
	buf_adds(out, "#\n# Try it: wardbox policy check, wardbox policy test "
		      "LINE\n\n"
		      "policy 1 project\n");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!has(h, kinds[i].file))
			continue;
		found++;
		buf_addf(out,
			"\n# %s, for there is a %s\nallow %s\n"
			"# protect confirm %s\n",
			kinds[i].tool, kinds[i].file, kinds[i].allow,
			kinds[i].protect);
	}
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

int policy_init(void *into, int argc, char **argv)
{
	const struct policy_opts *o = into;
	autohere struct policy_here *h = NULL;
	autobuf struct buf out = BUF_INIT(1 << 16);
	const char *target;
	char dir[1200];
	int rc;

	(void)argv;
	if (argc > 1)
		cli_die_usage(o->spec, "init takes no operand");
	h = policy_find_here(o);
	compose(h, &out);
	target = o->write ? o->write : h->project;
	if (o->dry_run) {
		cli_print(&out);
		return EXIT_OK;
	}
	if (access(target, F_OK) == 0)
		cli_die(EXIT_FOUND, "%s exists already; see --dry-run", target);
	if (!o->write &&
		(path_join(dir, sizeof(dir), h->root, ".wardbox") < 0 ||
			file_mkdirs(dir, 0755) < 0))
		cli_die(EXIT_FOUND, "%s: cannot make it", dir);
	rc = file_replace(AT_FDCWD, target, out.data, out.len, 0644, false);
	if (rc < 0)
		cli_die(EXIT_FOUND, "%s: %s", target, strerror(-rc));
	buf_clear(&out);
	buf_addf(&out, "%s\n", target);
	cli_print(&out);
	return EXIT_OK;
}
