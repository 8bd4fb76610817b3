/* test_redact_hides.c - a redaction hides a secret, and nothing behind it
 * SPDX-License-Identifier: MIT
 *
 * Each of the thousand lines with a secret is followed by a command, in all the
 * ways there are; each secret gets a command within.
 */
#include "redact_unit.h"

#include <fcntl.h>

#include "redact/redact_in.h"
#include "sys/file.h"

#define LETTERS "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7MIIEvQIBADAN"
#define COMMAND "touch-marker --now /etc/x"

/* A line with a secret, what is before it, the secret, what is behind it. */
struct example {
	struct buf text, wanted;
	size_t from, to; /* 0: it has more than one */
};

static struct example examples[2000];
static size_t example_count;

static int load(void **state)
{
	static const char mark[] = "[REDACTED]";
	struct buf data = BUF_INIT(1 << 20);
	char *save = NULL;

	(void)state;
	if (file_read(AT_FDCWD, TEST_DATA "/audit/redact-spellings.b64", &data))
		return -1;
	for (char *line = strtok_r((char *)(uintptr_t)buf_str(&data), "\n", &save);
		line; line = strtok_r(NULL, "\n", &save)) {
		struct example *e = &examples[example_count];
		const char *at, *rest;

		if (line[0] != '+' || example_count == 2000)
			continue;
		*e = (struct example){.text = BUF_INIT(1 << 16),
			.wanted = BUF_INIT(1 << 16)};
		rest = decode64(line + 2, &e->text);
		decode64(rest + 1, &e->wanted);
		at = strstr(buf_str(&e->wanted), mark);
		if (at && !strstr(at + 1, mark)) {
			e->from = (size_t)(at - e->wanted.data);
			e->to = e->text.len -
				(e->wanted.len - e->from - sizeof mark + 1);
		}
		buf_str(&e->text);
		example_count++;
	}
	buf_release(&data);
	return example_count > 1000 ? 0 : -1;
}

static int unload(void **state)
{
	(void)state;
	while (example_count--) {
		buf_release(&examples[example_count].text);
		buf_release(&examples[example_count].wanted);
	}
	return 0;
}

/* Where a shell has come to behind n bytes of the text. */
static struct redact_lex state_at(const char *text, size_t n)
{
	struct redact_lex l = {0};

	redact_lex_skip(&l, (const unsigned char *)text, 0, n);
	return l;
}

static bool in_code(const struct redact_lex *l)
{
	return !l->depth && !l->escaped && !l->comment && !l->here && !l->lost;
}

/* However it is cut, the command is in what comes out. */
static void shows(const struct buf *in, bool shell, const char *command)
{
	const size_t cuts[] = {SIZE_MAX, 1, in->len / 3, in->len / 2,
		in->len - 9, in->len - 26, in->len - 27, in->len - 30};

	shell_text = shell;
	for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
		struct redact r = REDACT_INIT;
		autobuf struct buf out = BUF_INIT(1 << 16);

		run(&r, &out, in->data, in->len, cuts[i], 3);
		if (!memmem(buf_str(&out), out.len, command, strlen(command)))
			fail_msg("%s%.*s\n -> %s (cut at %zu)",
				shell ? "shell: " : "", (int)in->len, in->data,
				out.data, cuts[i]);
		redact_release(&r);
	}
	shell_text = false;
}

static void commands_behind(void **state)
{
	/* Those before the NULL are none in the middle of a word of output. */
	static const char *const between[] = {"; ", " ; ", " && ", " || ",
		" | ", " & ", "\n", "\r\n", " # ", "\n\n  ", NULL, ";", "&&",
		"|", "&", ")", ";;"};

	(void)state;
	for (size_t i = 0; i < example_count; i++) {
		const struct example *e = &examples[i];
		const struct redact_lex l = state_at(e->text.data, e->text.len);
		bool glued = false;

		for (size_t k = 0; k < sizeof between / sizeof *between; k++) {
			autobuf struct buf in = BUF_INIT(1 << 16);

			glued |= !between[k];
			if (!between[k] || (glued && !in_code(&l)))
				continue;
			buf_add(&in, e->text.data, e->text.len);
			buf_adds(&in, between[k]);
			buf_adds(&in, COMMAND);
			buf_str(&in);
			shows(&in, true, COMMAND);
			if (!glued)
				shows(&in, false, COMMAND);
		}
	}
}

static void commands_within(void **state)
{
	static const char *const within[] = {"$(" COMMAND ")", "`" COMMAND "`",
		"${x:-$(" COMMAND ")}", "$((a[$(" COMMAND ")]))",
		"$(\"$(" COMMAND ")\" \")\")", "<(" COMMAND ")",
		"$(case x in x) " COMMAND ";; esac)"};
	unsigned tried = 0;

	(void)state;
	for (size_t i = 0; i < example_count; i++) {
		const struct example *e = &examples[i];
		const size_t half = e->from + (e->to - e->from) / 2;
		const struct redact_lex l = state_at(e->text.data, half);
		const bool quoted = l.depth && l.frame[l.depth - 1] == 4 &&
			!l.escaped && !l.lost;

		if (!e->to || (!in_code(&l) && !quoted))
			continue;
		for (size_t k = 0; k < sizeof within / sizeof *within; k++) {
			autobuf struct buf in = BUF_INIT(1 << 16);

			if (within[k][0] == '<' && quoted)
				continue;
			buf_add(&in, e->text.data, half);
			buf_adds(&in, within[k]);
			buf_adds(&in, e->text.data + half);
			buf_adds(&in, "\nanother line of text\n");
			shows(&in, true, COMMAND);
			tried++;
		}
	}
	assert_true(tried > 1000);
}

/* Among the words of a command that no shell reads. */
static void commands_in_words(void **state)
{
	static const char *const rows[][5] = {{"x", "--password", "hunter2"},
		{"x", "--password=hunter2"}, {"mysql", "-phunter2"},
		{"sshpass", "-p", "hunter2"}, {"x", "-u", "me:hunter2"},
		{"curl", "-H", "Authorization: Bearer hunter2"},
		{"curl", "-H", "Cookie: a=hunter2"}, {"curl", "-b", "a=hunter2"},
		{"vault", "login", "hunter2"}, {"rclone", "obscure", "hunter2"},
		{"wpa_passphrase", "home", "hunter2"},
		{"openssl", "-passin", "pass:hunter2"},
		{"sh", "-c", "X_PASSWORD=hunter2"},
		{"sh", "-c", "X_PASSWORD='hunter2'"},
		{"sh", "-c", "echo hunter2 | chpasswd"},
		{"env", "A=b", "X_TOKEN=hunter2abc"}};
	static const char *const between[] = {
		" ; ", "; ", "\n", " && ", " | ", " # ", " || ", " & "};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t k = 0; k < sizeof between / sizeof *between; k++) {
			const char *argv[5] = {0};
			autobuf struct buf last = BUF_INIT(4096);
			autobuf struct buf out = BUF_INIT(4096);
			struct redact r = REDACT_INIT;
			size_t n = 0;

			for (; rows[i][n]; n++)
				argv[n] = rows[i][n];
			buf_addf(&last, "%s%s" COMMAND, argv[n - 1], between[k]);
			argv[n - 1] = buf_str(&last);
			assert_int_equal(redact_arg(&r, argv, n, n - 1, &out), 0);
			undo(&r, last.data, last.len, &out);
			if (!strstr(out.data, COMMAND))
				fail_msg("%s -> %s", last.data, out.data);
			if (strstr(out.data, "hunter2"))
				fail_msg("%s -> %s", last.data, out.data);
			redact_release(&r);
		}
}

/* A word that is a text for a shell, by what is before it. */
static void commands_of_shells(void **state)
{
	static const char *const rows[][5] = {{"sh", "-c"}, {"/bin/bash", "-ec"},
		{"nice", "sh", "-c"}, {"env", "-S"}, {"su", "-", "bob", "-c"},
		{"ssh", "h"}, {"watch", "-n1"}, {"flock", "f", "-c"},
		{"script", "-qc"}, {"-sh", "-c"}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		autobuf struct buf out = BUF_INIT(4096);
		const char *argv[6] = {0};
		struct redact r = REDACT_INIT;
		size_t n = 0;

		for (; n < 5 && rows[i][n]; n++)
			argv[n] = rows[i][n];
		argv[n] = "X_PASSWORD=\"hunter$(" COMMAND ")2\" x";
		assert_int_equal(redact_arg(&r, argv, n + 1, n, &out), 0);
		undo(&r, argv[n], strlen(argv[n]), &out);
		assert_string_equal(out.data, "X_PASSWORD=\"[REDACTED]$(" COMMAND
					      ")[REDACTED]\" x");
		redact_release(&r);
	}
}

static void shows_all(const char *text)
{
	autobuf struct buf in = BUF_INIT(1 << 17);

	buf_adds(&in, text);
	buf_adds(&in, "\n.........................");
	buf_str(&in);
	shows(&in, true, COMMAND);
}

/* What was found, and its siblings. */
static void by_hand(void **state)
{
	static const char *const rows[] = {
		": \"-----BEGIN RSA PRIVATE KEY-----\nx\"; " COMMAND,
		": '-----BEGIN RSA PRIVATE KEY-----\n" COMMAND "\n'",
		"-----BEGIN RSA PRIVATE KEY-----\n" COMMAND
		"\n-----END RSA PRIVATE KEY-----",
		"K=\"-----BEGIN PRIVATE KEY-----\n" LETTERS "\n$(" COMMAND ")\n"
		LETTERS "\n-----END PRIVATE KEY-----\"",
		"K='-----BEGIN PRIVATE KEY-----\n" LETTERS "'; " COMMAND,
		"X_PASSWORD=\"a$(" COMMAND ")\"", "X_PASSWORD=a`" COMMAND "`b",
		"X_PASSWORD='a\\'; " COMMAND "; echo 'b'",
		"X_PASSWORD=\\\"a; " COMMAND "; echo \\\"b",
		"X_PASSWORD=\\\"a " COMMAND " \\\"",
		": 'X_PASSWORD='a; " COMMAND "; echo 'b'",
		": \"X_PASSWORD=\"a; " COMMAND "; echo \"b\"",
		"Y='X_PASSWORD='a " COMMAND " 'b'",
		": Authorization: Bearer x; " COMMAND,
		": Cookie: a=b; " COMMAND, ": \"Cookie: a=b; " COMMAND "\"",
		"sh -s chpasswd <<'E'\n" COMMAND "\nE",
		"su <<E\n" COMMAND "\nE", "sudo -S sh <<E\npw\n" COMMAND "\nE",
		"chpasswd <<E\nu:a$(" COMMAND ")\nE",
		"echo '" COMMAND "' | su -", "echo '" COMMAND "' | sudo -S sh",
		"echo x; " COMMAND "; echo y | chpasswd",
		"echo \"" COMMAND "\" | sh -s -- --with-token",
		"echo " COMMAND " | docker login --password-stdin",
		"cat <<E\nit's\nE\n: Authorization: Bearer x; " COMMAND,
		"# it's\n: Authorization: Bearer x; " COMMAND,
		"X_PASSWORD='x " COMMAND "'; eval \"$X_PASSWORD\"",
		"ansible-vault encrypt_string x; " COMMAND,
		"password: |\n  x\n  " COMMAND,
		"echo $((1 << 2))\nX_PASSWORD='a'; " COMMAND,
		"alias q=case\nX_PASSWORD=\"a$(q x in x) " COMMAND ";; esac)b\"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		shows_all(rows[i]);
}

/* Of a command's standard output nothing is lost behind what looks like a key. */
static void lines_behind_a_key(void **state)
{
	autobuf struct buf in = BUF_INIT(1 << 18), out = BUF_INIT(1 << 18);
	struct redact r = REDACT_INIT;
	size_t hidden;

	(void)state;
	buf_adds(&in, "-----BEGIN RSA PRIVATE KEY-----\n");
	for (unsigned i = 0; i < 2000; i++)
		buf_addf(&in, "MIIEpAIBAAKCAQEA%032u\n", i);
	buf_adds(&in, COMMAND "\n");
	for (size_t cut = 0; cut < 9000; cut += 611) {
		struct redact_stream s = REDACT_STREAM_INIT;

		buf_clear(&out);
		assert_int_equal(redact_feed(&r, &s, in.data, cut, &out), 0);
		assert_int_equal(redact_feed(&r, &s, in.data + cut,
					 in.len - cut, &out), 0);
		assert_int_equal(redact_flush(&r, &s, true, &out), 0);
		hidden = undo(&r, in.data, in.len, &out);
		assert_in_range(hidden, REDACT_PEM_MAX - 100, REDACT_PEM_MAX + 100);
		assert_non_null(strstr(out.data, COMMAND));
		redact_stream_release(&s);
	}
	redact_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(commands_behind),
		cmocka_unit_test(commands_within),
		cmocka_unit_test(commands_in_words),
		cmocka_unit_test(commands_of_shells),
		cmocka_unit_test(lines_behind_a_key),
	};

	return cmocka_run_group_tests_name(
		"redact_hides", tests, load, unload);
}
