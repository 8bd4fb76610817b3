/* test_redact_args.c - secrets among a command's words
 * SPDX-License-Identifier: MIT
 */
#include "redact_unit.h"

static void arguments(void **state)
{
	/* The last but one is looked at; the last is what comes out. */
	static const char *const rows[][5] = {
		{"x", "--password", "hunter2", "[REDACTED]"},
		{"x", "--password", "-x", "-x"},
		{"x", "--token-file", "x", "x"},
		{"x", "-u", "me:pw", "me:[REDACTED]"},
		{"x", "-u", "1:1", "1:1"},
		{"x", "-c", "mysql --password=x1 db",
			"mysql --password=[REDACTED] db"},
		{"--api-key=abc", "--api-key=[REDACTED]"},
		{"/usr/bin/sshpass", "-p", "a b", "[REDACTED]"},
		{"/usr/bin/sshpass", "-pab", "-p[REDACTED]"},
		{"mysql", "-pab", "-p[REDACTED]"},
		{"mysql", "-p", "db", "db"},
		{"docker", "login", "-p", "ab", "[REDACTED]"},
		{"docker", "run", "-p", "80:80", "80:80"},
		{"openssl", "-passin", "pass:ab", "pass:[REDACTED]"},
		{"smbclient", "-U", "me%ab", "me%[REDACTED]"},
		{"mkdir", "-p", "ab", "ab"},
		{"/bin/vault", "login", "a1 b2c3d4", "[REDACTED]"},
		{"vault", "login", "page", "page"},
		{"sqlplus", "-s", "me/ab@h", "me/[REDACTED]"},
		{"sqlplus", "me@h/ab", "me@h/ab"},
		{"keyctl", "user", "ab cd", "ab cd"},
		{"zip", "-rP", "a b", "[REDACTED]"},
		{"wpa_passphrase", "home", "a b", "[REDACTED]"},
		{"rclone", "obscure", "ab", "[REDACTED]"},
		{"kubectl", "--from-literal", "k=a b", "k=[REDACTED]"},
		{"xfreerdp", "/u:me", "/p:ab", "/p:[REDACTED]"},
		{"npm", "set", "registry", "registry"},
		{"smbclient", "//h/s", "ab12cd", "[REDACTED]"},
		{"smbclient", "//h/s", "share", "share"},
		{"smbclient", "-L", "host01", "host01"},
		{"ab", "-A", "me:ab", "me:[REDACTED]"},
		{"bcp", "-Pab", "-P[REDACTED]"},
		{"mosquitto_pub", "-P", "ab", "[REDACTED]"},
		{"mosquitto_sub", "-p", "1883", "1883"},
		{"bw", "unlock", "ab12cd", "[REDACTED]"},
		{"bw", "list", "items12", "items12"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct redact r = REDACT_INIT;
		autobuf struct buf out = BUF_INIT(4096);

		size_t n = 1;

		while (n < 4 && rows[i][n + 1])
			n++;
		assert_int_equal(redact_arg(&r, rows[i], n, n - 1, &out), 0);
		undo(&r, rows[i][n - 1], strlen(rows[i][n - 1]), &out);
		assert_string_equal(buf_str(&out), rows[i][n]);
		redact_release(&r);
	}
}

/* Among the others of a command. */
static void arguments_among_many(void **state)
{
	static const char *const rows[][9] = {
		{"2", "wpa_passphrase", "home", "hunter"},
		{"4", "mysqladmin", "-u", "root", "password", "hunter2"},
		{"4", "aws", "configure", "set", "aws_secret_access_key", "hunter"},
		{"4", "keyctl", "add", "user", "k", "hunter", "@u"},
		{"5", "net", "use", "X:", "\\\\h\\s", "/user:u", "hunter"},
		{"4", "mosquitto_passwd", "-b", "f", "bob", "hunter"},
		{"5", "nmcli", "c", "modify", "S", "wifi-sec.psk", "hunter"},
		{"6", "nmcli", "d", "wifi", "c", "S", "password", "hunter"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const size_t secret = (size_t)atoi(rows[i][0]);
		const char *const *argv = rows[i] + 1;
		size_t argc = 0;

		while (argc < 8 && argv[argc])
			argc++;
		for (size_t k = 0; k < argc; k++) {
			struct redact r = REDACT_INIT;
			autobuf struct buf out = BUF_INIT(4096);

			assert_int_equal(redact_arg(&r, argv, argc, k, &out), 0);
			undo(&r, argv[k], strlen(argv[k]), &out);
			assert_string_equal(buf_str(&out),
				k == secret ? "[REDACTED]" : argv[k]);
			redact_release(&r);
		}
	}
}

/* Where a long word stands before it, as well. */
static void arguments_behind_a_long_one(void **state)
{
	char path[2000];
	/* "-f" says where it is: what is behind it is ssh's. */
	const char *const other[] = {"sshpass", "-f", path, "-p", "hunter2"};
	const char *const key[] = {"keyctl", "add", "user", "k", path, "@u"};
	const char *const argv[] = {"htpasswd", "-b", path, "me", "hunter2"};
	struct redact r = REDACT_INIT;
	autobuf struct buf out = BUF_INIT(4096);

	(void)state;
	memset(path, 'q', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	assert_int_equal(redact_arg(&r, argv, 5, 4, &out), 0);
	undo(&r, argv[4], strlen(argv[4]), &out);
	assert_string_equal(buf_str(&out), "[REDACTED]");
	buf_clear(&out);
	assert_int_equal(redact_arg(&r, argv, 5, 3, &out), 0);
	undo(&r, argv[3], strlen(argv[3]), &out);
	assert_string_equal(buf_str(&out), "me");
	buf_clear(&out);
	assert_int_equal(redact_arg(&r, key, 6, 4, &out), 0);
	undo(&r, key[4], strlen(key[4]), &out);
	assert_string_equal(buf_str(&out), "[REDACTED]");
	buf_clear(&out);
	assert_int_equal(redact_arg(&r, other, 5, 4, &out), 0);
	undo(&r, other[4], strlen(other[4]), &out);
	assert_string_equal(buf_str(&out), "hunter2");
	path[300] = '\0';
	buf_clear(&out);
	assert_int_equal(redact_arg(&r, argv, 5, 4, &out), 0);
	undo(&r, argv[4], strlen(argv[4]), &out);
	assert_string_equal(buf_str(&out), "[REDACTED]");
	redact_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments),
		cmocka_unit_test(arguments_among_many),
		cmocka_unit_test(arguments_behind_a_long_one),
	};

	return cmocka_run_group_tests_name("redact_args", tests, NULL, NULL);
}
