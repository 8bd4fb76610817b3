/* test_policy_text.c - policy files: what is read, and where it is wrong
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "policy/policy_load.h"
#include "policy/policy_text_in.h"
#include "base/str.h"

#define LONG "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static int compile(const char *text, struct diag *d)
{
	struct policy_image *img = NULL;
	void *bytes;
	size_t n;
	int rc = policy_build_text("f", text, strlen(text), &bytes, &n, d);

	if (rc == 0) {
		assert_int_equal(policy_image_wrap(&img, bytes, n, d), 0);
		policy_image_free(img);
	}
	return rc;
}

static void places(void **state)
{
	static const struct {
		const char *text;
		unsigned line, col;
		const char *says;
	} bad[] = {
		{"dney x", 1, 1, "expected deny"},
		{"\n\n  deny x", 3, 3, "only `except` may be indented"},
		{"deny", 1, 1, "expected a program"},
		{"deny x ** y", 1, 8, "may stand last"},
		{"deny @nolist", 1, 6, "no such list"},
		{"deny {a|b", 1, 6, "expected {WORD|WORD...}"},
		{"deny {a|b}c", 1, 6, "nothing behind"},
		{"deny make** x", 1, 6, "** as a word of its own"},
		{"deny {a|b**} x", 1, 6, "** as a word of its own"},
		{"deny {curl,wget} **", 1, 6, "expected | between"},
		{"deny bin/x **", 1, 6, "bare name, ./x"},
		{"deny {x|bin/x} **", 1, 6, "bare name, ./x"},
		{"profile DEV", 1, 1, "KEY=VALUE behind"},
		{"deny {}", 1, 6, "expected {WORD|WORD...}"},
		{"deny opt:-x", 1, 6, "expected a program first"},
		{"deny x opt:y **", 1, 8, "with the dash"},
		{"deny x\nallow x !opt:y **", 2, 9, "with the dash"},
		{"deny x opt:{-y|z} **", 1, 8, "with the dash"},
		{"deny id= x", 1, 6, "1 to 39"},
		{"deny prof=NONE x", 1, 6, "no profile"},
		{"deny net=some x", 1, 6, "net=none"},
		{"deny x : reason", 1, 10, "quoted text"},
		{"deny x : \"a\" \"b\" c", 1, 18, "end of the line"},
		{"deny 'x", 1, 6, "quote not closed"},
		{"deny \"\\q\"", 1, 8, "unknown escape"},
		{"deny \"\\x41\"", 1, 8, "unknown escape"},
		{"deny a\x01", 1, 6, "U+0001 has no place"},
		{"deny x : \"\033[1m\"", 1, 10, "U+001B has no place"},
		{"deny x\u202e", 1, 6, "U+202E has no place"},
		{"deny x\xff", 1, 6, "not UTF-8"},
		{"deny porf=DEV x", 1, 6, "id=, prof=, net= or mark="},
		{"deny mark=odd x", 1, 6, "mark=shell or protect"},
		{"deny a{b|c}", 1, 6, "a word of its own"},
		{"deny {a|}", 1, 6, "expected {WORD|WORD...}"},
		{"list x {a|b}", 1, 8, "without {...}"},
		{"protect deny {a|b}/**", 1, 14, "without {...}"},
		{"protect deny ../x", 1, 14, "relative"},
		{"deny a \\\n b \\\n @c", 3, 2, "no such list"},
		{"except x", 1, 1, "id=RULE"},
		{"  except x", 1, 3, "no rule stands above"},
		{"except id=none x", 1, 8, "no rule above"},
		{"policy 2 system", 1, 8, "policy 1"},
		{"policy 1 user", 1, 10, "read as the system layer"},
		{"use FAST", 1, 5, "expected: use"},
		{"profile DEV unknown=maybe", 1, 13, "expected shell= supervise="},
		{"profile DEV open=allow", 1, 13, "expected shell= supervise="},
		{"limit DEV cpu=fast", 1, 11, "expected cpu="},
		{"limit DEV over=kill,kill,kill,kill,kill", 1, 11, "over="},
		{"limit NONE cpu=1s", 1, 7, "expected SAFE"},
		{"path rwx /x", 1, 6, "path r|rw"},
		{"path r x", 1, 8, "absolute path"},
		{"exec bin", 1, 6, "absolute path"},
		{"protect maybe x", 1, 9, "confirm or deny"},
		{"protect deny /x", 1, 14, "relative"},
		{"env keep", 1, 1, "env keep"},
		{"env set A", 1, 9, "NAME=VALUE"},
		{"env set 1=2", 1, 9, "NAME=VALUE"},
		{"redact x y", 1, 10, "prefix"},
		{"redact x yy [a-z]", 1, 13, "expected a class"},
		{"redact x yy [a-z]{9,2}", 1, 13, "expected a class"},
		{"redact flag curl", 1, 1, "redact flag PROGRAM"},
		{"redact flag curl -u* -*", 1, 22, "redact flag PROGRAM"},
		{"redact flag curl -*u*", 1, 18, "redact flag PROGRAM"},
		{"redact flag curl -a b", 1, 21, "redact flag PROGRAM"},
		{"redact flag /bin/curl -u", 1, 13, "bare name"},
		{"redact flag {a||b} -u", 1, 13, "bare name"},
		{"redact flag * -u", 1, 13, "bare name"},
		{"redact word vault login", 1, 1, "redact word PROGRAM"},
		{"redact word vault login x last", 1, 25, "redact word PROGRAM"},
		{"redact word vault login 9", 1, 1, "redact word PROGRAM"},
		{"redact stdin *", 1, 1, "redact stdin PROGRAM"},
		{"reads x -y=what", 1, 9, "no such type"},
		{"reads x", 1, 1, "expected: reads"},
		{"reads x odd", 1, 9, "expected -x"},
		{"reads ,x cmd", 1, 7, "expected PROGRAM"},
		{"reads x -y,z", 1, 9, "expected -x"},
		{"delegate all allow x", 1, 10, "user or project"},
		{"include other", 1, 9, "include default"},
		{"deny x\ninclude default", 2, 1, "before everything"},
		{"test DEV allow", 1, 1, "expected: test"},
		{"test DEV may x", 1, 10, "allow, open, confirm or deny"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct diag d = {0};

		if (compile(bad[i].text, &d) != -EINVAL)
			fail_msg("taken: %s", bad[i].text);
		if (d.line != bad[i].line || d.col != bad[i].col ||
			!strstr(d.text, bad[i].says))
			fail_msg("%s: %s:%u:%u: %s", bad[i].text, d.file,
				d.line, d.col, d.text);
	}
}

static void good(void **state)
{
	struct diag d = {0};

	(void)state;
	assert_int_equal(compile("", &d), 0);
	assert_int_equal(compile("# only a comment", &d), 0);
	assert_int_equal(compile("deny a#b # c\n", &d), 0);
	assert_int_equal(
		compile("policy 1 system\nlist a x\\\n y\n"
			"list b @a z\ndeny id=i @b ** : \"r\" \"a\"\n"
			"  except x 'y z'\nexcept id=i z **\n"
			"allow {a|b} * !opt:{-x|--y} has:z **\n"
			"reads p,q -x,--y -z=sh 1 cmd\nprotect prof=DEV confirm a b/**\n",
			&d),
		0);
	assert_int_equal(compile("include default\ndeny x", &d), 0);
}

/* What a rule, or a path, means: the line's decision. */
static void meant(void **state)
{
	static const struct {
		const char *text, *line;
		enum policy_decision d;
	} is[] = {
		{"deny rm opt:-rf **", "rm -rf x", POLICY_DENY},
		{"deny rm opt:-rf **", "rm -f -r x", POLICY_DENY},
		{"deny rm opt:-rf **", "rm -r x", POLICY_ALLOW},
		{"deny rm -rf **", "rm -v -fr x", POLICY_DENY},
		{"deny tool opt:{-ab|-c} **", "tool -ba", POLICY_DENY},
		{"deny tool opt:{-ab|-c} **", "tool -b", POLICY_ALLOW},
		{"deny rm !opt:-iv **", "rm -i x", POLICY_DENY},
		{"deny rm !opt:-iv **", "rm -vi x", POLICY_ALLOW},
		{"deny find opt:-exec **", "find . -exec ls", POLICY_DENY},
		{"use FULL-AUTO", "cat /etc/hosts /x", POLICY_OPEN},
		{"path r /**", "cat /etc/hosts /x", POLICY_ALLOW},
		{"path r /**", "cp x /x", POLICY_OPEN},
		{"path rw /**", "cp /etc/hosts /x/y", POLICY_ALLOW},
		{"deny rm at:/x/* **", "rm -rf a /x/y/", POLICY_DENY},
		{"deny rm at:/x/* **", "rm -rf /x/y/z", POLICY_OPEN},
		{"deny rm at:/x/* **", "rm -rf /x/*", POLICY_OPEN},
		{"deny rm at:/x **", "rm -rf /x/*", POLICY_DENY},
		{"deny rm at:{/x/*|!/x/t} **", "rm -rf /x/t", POLICY_OPEN},
		{"deny cat at:$ROOT/.. **", "cat ..", POLICY_DENY},
		{"deny cat at:$ROOT/.. **", "cat .", POLICY_ALLOW},
		{"deny cat at:$ROOT **", "cat ../nowhere", POLICY_DENY},
		{"deny rm at:$ROOT **", "rm -rf *", POLICY_ALLOW},
		{"deny dd at:/x **", "dd of=/x", POLICY_DENY},
		{"deny mv from:/x **", "mv a /x", POLICY_OPEN},
		{"deny mv from:/x **", "mv /x a", POLICY_DENY},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		struct policy_request req = {.text = is[i].line,
			.len = strlen(is[i].line),
			.profile = POLICY_FULL_AUTO,
			.cwd = "/nowhere",
			.root = "/nowhere"};
		struct policy_image *img = NULL;
		struct policy p = {0};
		struct policy_verdict v;
		struct diag d;
		void *bytes;
		size_t n;

		assert_int_equal(policy_build_text("f", is[i].text,
					 strlen(is[i].text), &bytes, &n, &d),
			0);
		assert_int_equal(policy_image_wrap(&img, bytes, n, &d), 0);
		p.layer[0] = img;
		policy_decide_line(&p, &req, &v, NULL, NULL);
		if (v.would != is[i].d)
			fail_msg("%s: %s: %s", is[i].text, is[i].line,
				v.reason);
		policy_image_free(img);
	}
}

/* Where two bytes do not hold the offsets, cells have four. */
static void large(void **state)
{
	autobuf struct buf text = BUF_INIT(1 << 20);
	struct policy_image *img = NULL;
	struct policy p = {0};
	struct policy_request req = {.text = "prog-9000 x",
		.len = 11,
		.profile = POLICY_DEV,
		.cwd = "/nowhere",
		.root = "/nowhere"};
	struct policy_verdict v;
	struct diag d;
	void *bytes;
	size_t n;

	(void)state;
	for (unsigned i = 0; i < 10000; i++)
		buf_addf(&text, "deny prog-%u ** : \"number %u\"\n", i, i);
	assert_int_equal(policy_build_text("f", buf_str(&text), text.len,
				 &bytes, &n, &d),
		0);
	assert_int_equal(policy_image_wrap(&img, bytes, n, &d), 0);
	assert_int_equal(img->head->width, 4);
	p.layer[0] = img;
	policy_decide_line(&p, &req, &v, NULL, NULL);
	assert_int_equal(v.would, POLICY_DENY);
	assert_string_equal(v.reason, "number 9000");
	assert_int_equal(v.line, 9001);
	policy_image_free(img);
}

/* Each of them is sought among all: there is an end to it. */
static void many_lists(void **state)
{
	autobuf struct buf text = BUF_INIT(1 << 20);
	struct diag d;

	(void)state;
	/* The built-in policy has some, too. */
	for (unsigned i = 0; i < POLICY_LISTS_MAX; i++) {
		if (i == POLICY_LISTS_MAX - 100)
			assert_int_equal(compile(buf_str(&text), &d), 0);
		buf_addf(&text, "list l-%u x\n", i);
	}
	buf_adds(&text, "list more y\n");
	assert_int_not_equal(compile(buf_str(&text), &d), 0);
	assert_non_null(strstr(d.text, "too many lists"));
}

/* Every byte of an image may be wrong: it is refused, or it is as good as any
 * other; nothing is read outside of it. */
/* A file of which one byte is another is no image, whatever it would say. */
static void changed(void **state)
{
	static const char text[] = "use DEV\nprofile DEV unknown=allow\n"
				   "deny id=i x : \"r\"\n";
	char path[] = "/tmp/wardbox-image-XXXXXX";
	struct policy_image *img = NULL;
	struct diag d;
	uint8_t *bytes;
	void *built;
	size_t n;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(
		policy_build_text("f", text, sizeof(text) - 1, &built, &n, &d),
		0);
	bytes = built;
	for (size_t i = 0; i <= 2 * n; i++) {
		bytes[i / 2] ^= i % 2 ? 0x80 : 1;
		assert_int_equal(pwrite(fd, bytes, n, 0), n);
		assert_int_equal(policy_image_open(&img, path, geteuid(), &d),
			-EBADMSG);
		assert_null(img);
		bytes[i / 2] ^= i % 2 ? 0x80 : 1;
		if (i / 2 == n - 1 && i % 2)
			break;
	}
	assert_int_equal(pwrite(fd, bytes, n, 0), n);
	assert_int_equal(policy_image_open(&img, path, geteuid(), &d), 0);
	policy_image_free(img);
	free(built);
	close(fd);
	unlink(path);
}

static void damaged(void **state)
{
	static const char text[] =
		"profile DEV shell=on unknown=allow\nlist a x y\n"
		"deny id=i @a ** : \"r\"\n  except x z\n"
		"reads p -x cmd\npath rw $ROOT/**\nprotect deny a\n"
		"env keep A\nredact i \"ab\" [a-z]{1,2}\ntest DEV deny x\n";
	struct policy_request req = {.text = "x z; p -x y q; cat a",
		.len = 20,
		.profile = POLICY_DEV,
		.cwd = "/nowhere",
		.root = "/nowhere"};
	struct diag d;
	void *bytes;
	size_t n;

	(void)state;
	assert_int_equal(
		policy_build_text("f", text, sizeof(text) - 1, &bytes, &n, &d),
		0);
	for (size_t i = 0; i < n; i++) {
		for (unsigned bit = 0; bit < 8; bit += 3) {
			char *copy = malloc(n);
			struct policy_image img = {0};
			struct policy p = {0};
			struct policy_verdict v;

			memcpy(copy, bytes, n);
			copy[i] ^= (char)(1U << bit);
			if (policy_image_check(&img, copy, n, &d) == 0) {
				p.layer[0] = &img;
				policy_decide_line(&p, &req, &v, NULL, NULL);
			}
			free(copy);
		}
	}
	for (size_t cut = 0; cut < n; cut += 7) {
		char *copy = malloc(n);
		struct policy_image img = {0};

		memcpy(copy, bytes, n);
		assert_int_not_equal(
			policy_image_check(&img, copy, cut, &d), 0);
		free(copy);
	}
	free(bytes);
}

/* What is in the binary is what the file says. */
static void builtin(void **state)
{
	const struct img_header *h = policy_default.head;
	struct img_range items;
	struct policy_image img;
	struct diag d;

	(void)state;
	assert_ptr_equal(policy_default.cell, h + 1);
	/* A number beyond 16 bits would make all cells twice as large. */
	assert_int_equal(h->width, 2);
	assert_int_equal(policy_image_check(&img, h, h->size, &d), 0);
	assert_true(IMG_COUNT(&img, IMG_RULE) > 50);
	assert_true(img_list(&img, "net").count > 20);
	assert_true(img_reads_find(&img, "git", &items));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places),
		cmocka_unit_test(good),
		cmocka_unit_test(meant),
		cmocka_unit_test(large),
		cmocka_unit_test(many_lists),
		cmocka_unit_test(changed),
		cmocka_unit_test(damaged),
		cmocka_unit_test(builtin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
