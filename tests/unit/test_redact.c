/* test_redact.c - secrets do not get into the log, and the rest does
 * SPDX-License-Identifier: MIT
 *
 * The literals are kept in base64 so that no scanner trips over them.
 */
#include "redact_unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "sys/file.h"
#include "redact/redact_in.h"

enum { CASES = 64 };

struct example {
	bool positive;
	char text[1024];
	size_t n;
};

static struct example cases[CASES];
static size_t case_count;

static void decode(struct example *e, const char *p)
{
	autobuf struct buf raw = BUF_INIT(1024);

	decode64(p, &raw);
	for (size_t i = 0; i < raw.len; i++) {
		if (raw.data[i] == '\\' && i + 1 < raw.len &&
			raw.data[i + 1] == 'n') {
			e->text[e->n++] = '\n';
			i++;
		} else {
			e->text[e->n++] = raw.data[i];
		}
	}
}

static int load(void **state)
{
	struct buf b = BUF_INIT(1 << 16);
	char *line, *save = NULL;

	(void)state;
	if (file_read(AT_FDCWD, TEST_DATA "/audit/redact-cases.b64", &b))
		return -1;
	for (line = strtok_r((char *)(uintptr_t)buf_str(&b), "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		if (line[0] != '+' && line[0] != '-')
			continue;
		cases[case_count].positive = line[0] == '+';
		decode(&cases[case_count++], line + 2);
	}
	buf_release(&b);
	return case_count == 40 ? 0 : -1;
}

static void the_forty(void **state)
{
	(void)state;
	for (size_t i = 0; i < case_count; i++) {
		struct redact r = REDACT_INIT;
		autobuf struct buf out = BUF_INIT(1 << 16);
		bool changed;

		run(&r, &out, cases[i].text, cases[i].n, SIZE_MAX, 0);
		changed = strstr(buf_str(&out), "[REDACTED]") != NULL;
		if (changed != cases[i].positive)
			fail_msg("case %zu: %s\n -> %s", i + 1, cases[i].text,
				buf_str(&out));
		if (!cases[i].positive)
			assert_memory_equal(out.data, cases[i].text, out.len);
		redact_release(&r);
	}
}

/* In two writes, in three, byte by byte: the same comes out. */
static void cut_at_every_offset(void **state)
{
	(void)state;
	for (size_t i = 0; i < case_count; i++) {
		struct redact r = REDACT_INIT;
		autobuf struct buf whole = BUF_INIT(1 << 16);
		autobuf struct buf out = BUF_INIT(1 << 16);

		run(&r, &whole, cases[i].text, cases[i].n, SIZE_MAX, 0);
		for (size_t cut = 0; cut <= cases[i].n; cut++) {
			for (size_t second = 0; second < 4; second++) {
				run(&r, &out, cases[i].text, cases[i].n, cut,
					second);
				if (strcmp(buf_str(&out), buf_str(&whole)))
					fail_msg("case %zu cut at %zu+%zu:\n%s\n"
						 "%s",
						i + 1, cut, second,
						buf_str(&out), buf_str(&whole));
			}
		}
		redact_release(&r);
	}
}

/* What stands in for a part of each secret: nothing of it may be seen. */
static void after_other_text(void **state)
{
	static const char *const before[] = {"", "x", "line\n", "a=b ", "\\n",
		"%20", "\"", "'", "(", "[", "{\"k\":\"", "https://h/?q=", "\t"};

	(void)state;
	for (size_t i = 0; i < case_count; i++)
		for (size_t k = 0; k < sizeof before / sizeof *before; k++) {
			struct redact r = REDACT_INIT;
			autobuf struct buf in = BUF_INIT(1 << 16);
			autobuf struct buf out = BUF_INIT(1 << 16);
			bool letter = before[k][0] == 'x';

			buf_adds(&in, before[k]);
			buf_add(&in, cases[i].text, cases[i].n);
			run(&r, &out, in.data, in.len, SIZE_MAX, 0);
			if (cases[i].positive && !letter &&
				!strstr(buf_str(&out), "[REDACTED]"))
				fail_msg("case %zu behind '%s': %s", i + 1,
					before[k], buf_str(&out));
			redact_release(&r);
		}
}

/* A colour in the middle of the secret, at every place of it. */
static void through_colours(void **state)
{
	static const char colour[] = "\x1b[1;31m";

	(void)state;
	for (size_t i = 0; i < case_count; i++) {
		struct redact r = REDACT_INIT;
		autobuf struct buf whole = BUF_INIT(1 << 16);

		if (!cases[i].positive)
			continue;
		run(&r, &whole, cases[i].text, cases[i].n, SIZE_MAX, 0);
		for (size_t at = 0; at <= cases[i].n; at++) {
			autobuf struct buf in = BUF_INIT(1 << 16);
			autobuf struct buf out = BUF_INIT(1 << 16);
			autobuf struct buf plain = BUF_INIT(1 << 16);
			const char *p;

			buf_add(&in, cases[i].text, at);
			buf_adds(&in, colour);
			buf_add(&in, cases[i].text + at, cases[i].n - at);
			run(&r, &out, in.data, in.len, at + 3, 2);
			for (p = buf_str(&out); *p;) {
				if (!strncmp(p, colour, sizeof colour - 1))
					p += sizeof colour - 1;
				else
					buf_addc(&plain, *p++);
			}
			if (strcmp(buf_str(&plain), buf_str(&whole)))
				fail_msg("case %zu coloured at %zu:\n%s\n%s",
					i + 1, at, buf_str(&plain),
					buf_str(&whole));
		}
		redact_release(&r);
	}
}

static void expect_with(struct redact *r, const char *in, const char *wanted)
{
	autobuf struct buf out = BUF_INIT(1 << 16);

	for (size_t cut = 0; cut <= strlen(in); cut++) {
		run(r, &out, in, strlen(in), cut, 1);
		if (strcmp(buf_str(&out), wanted))
			fail_msg("%s\n -> %s\nnot %s (cut at %zu)", in,
				buf_str(&out), wanted, cut);
	}
}

static void expect(const char *in, const char *wanted)
{
	struct redact r = REDACT_INIT;

	expect_with(&r, in, wanted);
	redact_release(&r);
}

static void values_behind_names(void **state)
{
	(void)state;
	expect("password=hunter2 next", "password=[REDACTED] next");
	expect("PASSWORD: 'a b c' x", "PASSWORD: '[REDACTED]' x");
	expect("PASSWORD=$'a b' x", "PASSWORD=$'[REDACTED]' x");
	expect("password          =          abc x",
		"password          =          [REDACTED] x");
	expect("u?next=%2F%3Ftoken%3DX1abcdefghij2345", "u?next=%2F%3Ftoken"
		"%3D[REDACTED]");
	expect("a\\u0026password\\u003dabc x",
		"a\\u0026password\\u003d[REDACTED] x");
	expect("\"https:\\/\\/me:abc@h\\/\"",
		"\"https:\\/\\/me:[REDACTED]@h\\/\"");
	expect("password=$6$abc$defghij x", "password=[REDACTED] x");
	expect("password=%abcdefg x", "password=[REDACTED] x");
	expect("db_password = \"a\\\"b\" x", "db_password = \"[REDACTED]\" x");
	expect("{\"api_key\":\"abc\"}", "{\"api_key\":\"[REDACTED]\"}");
	expect("\"{\\\"apiKey\\\": \\\"abc\\\"}\"",
		"\"{\\\"apiKey\\\": \\\"[REDACTED]\\\"}\"");
	expect("config['secret'] = 'x1'", "config['secret'] = '[REDACTED]'");
	expect("?access_token=abc&x=1", "?access_token=[REDACTED]&x=1");
	expect("Pwd=abc;Database=x", "Pwd=[REDACTED];Database=x");
	expect("secret: abc\n", "secret: [REDACTED]\n");
	expect(":secret => 'abc'", ":secret => '[REDACTED]'");
	expect("authToken: abcd", "authToken: [REDACTED]");
	expect("MYSQL_PWD=abc x", "MYSQL_PWD=[REDACTED] x");
	expect("X-Api-Key: abc\r\n", "X-Api-Key: [REDACTED]\r\n");
	expect("--password=abc -x", "--password=[REDACTED] -x");
	expect("--db-password abc -x", "--db-password [REDACTED] -x");
	expect("curl -u me:abc http://h", "curl -u me:[REDACTED] http://h");
	expect("--user 'me:abc def' h", "--user 'me:[REDACTED]' h");
	expect("Authorization: Basic dXNlcjpw\n",
		"Authorization: Basic [REDACTED]\n");
	expect("-H 'Authorization: token abc' x",
		"-H 'Authorization: token [REDACTED]' x");
	expect("Cookie: a=b; c=d\n", "Cookie: [REDACTED]\n");
	expect("amqp://u:p%40ss@h/v", "amqp://u:[REDACTED]@h/v");
	expect("PASSWORD:= abc x", "PASSWORD:= [REDACTED] x");
	expect("--spring.db.password abc x",
		"--spring.db.password [REDACTED] x");
	expect("session_id=h3Jk9mZq2LwX7bVt4RsP",
		"session_id=[REDACTED]");
	expect("--cookie h3Jk9mZq2LwX7bVt4RsP x", "--cookie [REDACTED] x");
	expect("curl --user=me:abc h", "curl --user=me:[REDACTED] h");
	expect("curl -ume:abc h", "curl -ume:[REDACTED] h");
	expect("https://h3Jk9mZq2LwX7bVt4RsP@h/x", "https://[REDACTED]@h/x");
	expect("{\"Cookie\": \"a=b\"}", "{\"Cookie\": \"[REDACTED]\"}");
	expect("{\"Authorization\":\"Bearer abc\"}",
		"{\"Authorization\":\"Bearer [REDACTED]\"}");
	expect("<password>abc</password>", "<password>[REDACTED]</password>");
	expect("password.c:1: password=abc x",
		"password.c:1: password=[REDACTED] x");
	expect("AWS_SECRET_ACCESS_KEY=\n", "AWS_SECRET_ACCESS_KEY=\n");
	expect("seed phrase: able about above Now x",
		"seed phrase: [REDACTED] Now x");
}

/* What only one program's users call it. */
static void flags_of_programs(void **state)
{
	static const char *const rows[][2] = {
		{"sshpass -p hunter2 ssh h", "sshpass -p # ssh h"},
		{"sshpass -phunter2 ssh h", "sshpass -p# ssh h"},
		{"sudo /usr/bin/sshpass -p 'a b' ssh", "sudo /usr/bin/sshpass -p '#' ssh"},
		{"mysql -u root -phunter2 db", "mysql -u root -p# db"},
		{"mysql -p'hun!ter' db", "mysql -p'#' db"},
		{"mysql -p!hunter2 db", "mysql -p# db"},
		{"docker exec -it db mysql -phunter2", "docker exec -it db mysql -p#"},
		{"docker login -u me -p hunter2 h", "docker login -u me -p # h"},
		{"redis-cli -h x -a hunter2 ping", "redis-cli -h x -a # ping"},
		{"unzip -P hunter2 a.zip", "unzip -P # a.zip"},
		{"7z a -phunter2 a.7z x", "7z a -p# a.7z x"},
		{"ldapsearch -D cn=x -w hunter2 -b y", "ldapsearch -D cn=x -w # -b y"},
		{"smbclient -U me%hunter2 //h/s", "smbclient -U me%# //h/s"},
		{"openssl rsa -passin pass:hunter2 -in k", "openssl rsa -passin pass:# -in k"},
		{"openssl enc -k hunter2 -in k", "openssl enc -k # -in k"},
		{"keytool -list -storepass changeit2", "keytool -list -storepass #"},
		{"java -password hunter2 x", "java -password # x"},
		{"a; sshpass -p hunter2 x; ls -p y", "a; sshpass -p # x; ls -p y"},
		/* all others */
		{"mkdir -p hunter2", NULL}, {"mysql -p db", NULL},
		{"docker run -p 8080:80 x", NULL},
		{"docker run --name mysql -p3306:3306 x", NULL},
		{"ssh login -p 2222", NULL}, {"mysql -P 3306", NULL},
		{"sshpass -e ssh -p 22 h", NULL},
		{"sshpass -v -p ab ssh -p 22 h", "sshpass -v -p # ssh -p 22 h"},
		{"sshpass -p $PW ssh h", NULL}, {"sshpass; ls -p x", NULL},
		{"openssl x -passin env:PW", NULL}, {"curl -k https://h", NULL},
		{"find . -print -perm 644", NULL}, {"gcc -pthread -shared x", NULL},
		{"a pass:hunter", NULL}, {"zip -r a b", NULL},
		{"smbclient -U me //h/s", NULL}, {"rsync -a -P x y", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		autobuf struct buf wanted = BUF_INIT(4096);

		for (const char *p = rows[i][1] ? rows[i][1] : rows[i][0]; *p; p++)
			*p == '#' ? buf_adds(&wanted, "[REDACTED]")
				  : buf_addc(&wanted, *p);
		expect(rows[i][0], buf_str(&wanted));
	}
}

static void what_only_looks_like_it(void **state)
{
	static const char *const clean[] = {"if (password == other) {",
		"password != NULL", "token == null", "password=$1 x",
		"password=${X} y", "password=$(cat f)", "password: <none>",
		"--password-file /run/x", "PASSWORD_FILE=/x", "secret_name: x",
		"api_key = load_key()", "password=\"\" x", "PWD=/w OLDPWD=/x",
		"docker run -u 1000:1000 x", "docker run -u www:www x",
		"max_tokens=100", "http://h:80/p", "user@host:path",
		"key: value", "token: abc", "monkey=banana", "password=****",
		"12:34:56", "a::b", "keyboard=us", "author: me", "-----",
		"----- BEGIN", "--token", "x --token-file y", "sk-learn",
		"risk-averse-people-of-the-world-and-more", "eyJ", "npm_config",
		"compass: north", "session_id=1", "auth: none",
		"git log --author me", "password.c:10:3: error: x",
		"secret.txt: ASCII text", "tests/token.rs:5: note",
		"--key /etc/ssl/private/h3Jk9mZq2LwX7bVt4RsP",
		"--auth basic x", "docker run -u1000:1000 x",
		"https://some.user@example.com/x", "ssh://git@github.com/o/r",
		"a password> x", "<password></password>", "x -> y",
		"<secret>${SECRET}</secret>",
		"SESSION_ID=session-1f7fccfb-48c6-44ed-8230-2569a5832617"};

	(void)state;
	for (size_t i = 0; i < sizeof clean / sizeof *clean; i++)
		expect(clean[i], clean[i]);
}

/* What a log shows is not hidden again. */
static void marks(void **state)
{
	static const char shown[] = "password=[REDACTED]{7:0a1b2c3d} "
		"PASSWORD='[REDACTED]{16384:0a1b2c3d}' --password "
		"[REDACTED]{7:0a1b2c3d} x";
	static const char other[] = "password=[REDACTED]{7:hunter2} x";
	autobuf struct buf out = BUF_INIT(4096);
	struct redact r = REDACT_INIT;

	(void)state;
	assert_int_equal(
		redact_text(&r, shown, sizeof shown - 1, false, &out), 0);
	assert_string_equal(buf_str(&out), shown);
	buf_clear(&out);
	assert_int_equal(
		redact_text(&r, other, sizeof other - 1, false, &out), 0);
	assert_null(strstr(buf_str(&out), "hunter2"));
	redact_release(&r);
}

static void private_keys(void **state)
{
	struct redact r = REDACT_INIT;
	autobuf struct buf in = BUF_INIT(1 << 18), out = BUF_INIT(1 << 18);

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		buf_adds(&in, "before\n-----BEGIN RSA PRIVATE KEY-----\n");
		for (unsigned i = 0; i < 200; i++)
			buf_addf(&in, "MIIEpAIBAAKCAQEA%032u\n", i);
		buf_adds(&in, "-----END RSA PRIVATE KEY-----\nafter\n");
	}
	for (size_t cut = 0; cut < in.len; cut += 7) {
		run(&r, &out, in.data, in.len, cut, 3);
		assert_string_equal(buf_str(&out),
			"before\n[REDACTED]\nafter\nbefore\n[REDACTED]\nafter\n");
	}
	assert_null(strstr(buf_str(&out), "MIIE"));
	redact_release(&r);
}

/* Longer than anything that is held: no part of it is let through. */
static void endless_values(void **state)
{
	struct redact r = REDACT_INIT;
	autobuf struct buf in = BUF_INIT(1 << 18), out = BUF_INIT(1 << 18);

	(void)state;
	buf_adds(&in, "password=");
	for (unsigned i = 0; i < 3000; i++)
		buf_addf(&in, "S3cr%04u", i);
	buf_adds(&in, " rest");
	run(&r, &out, in.data, in.len, 5000, 9000);
	assert_string_equal(buf_str(&out), "password=[REDACTED] rest");
	redact_release(&r);
}

static void values_of_variables(void **state)
{
	static const char *const env[] = {"HOME=/root", "DB_PASSWORD=s3cr3t!x9",
		"MY_TOKEN=abcdefgh", "TOKEN_FILE=/run/not/secret",
		"PATH=/usr/bin:/bin", "API_KEY=/a/path/to/it", "SHORT_KEY=abc",
		"PIN_SECRET=1234567890", NULL};
	struct redact_stream s = REDACT_STREAM_INIT;
	autobuf struct buf out = BUF_INIT(4096);
	struct redact r = REDACT_INIT;

	(void)state;
	assert_int_equal(redact_add_env(&r, env), 0);
	assert_int_equal(r.secret_count, 2);
	expect_with(&r, "xs3cr3t!x9y abcdefgh", "x[REDACTED]y [REDACTED]");
	expect_with(&r, "s3cr3t!x s3cr3t!x9", "s3cr3t!x [REDACTED]");
	expect_with(&r, "abc\x1b[1m" "defgh.", "[REDACTED].");
	/* The rest comes when nothing is held any longer. */
	assert_int_equal(redact_feed(&r, &s, "a s3cr3t!x", 10, &out), 0);
	assert_int_equal(redact_flush(&r, &s, false, &out), 0);
	assert_int_equal(redact_feed(&r, &s, "9 b s3cr3", 9, &out), 0);
	assert_int_equal(redact_flush(&r, &s, false, &out), 0);
	assert_int_equal(redact_feed(&r, &s, "ts", 2, &out), 0);
	assert_int_equal(redact_flush(&r, &s, true, &out), 0);
	undo(&r, "a s3cr3t!x9 b s3cr3ts", 21, &out);
	assert_string_equal(buf_str(&out), "a [REDACTED] b s3cr3ts");
	redact_stream_release(&s);
	assert_string_equal(redact_kind_name(&r, 5), "env");
	assert_true(r.found[5] > 0);
	redact_release(&r);
}

static void the_policys_patterns(void **state)
{
	struct policy_redact p[] = {
		{.id = "acme", .prefix = "ACME-", .min = 4, .max = 6},
		{.id = "mine", .key = "*PHRASE*"},
		{.id = "mine", .key = "pin"},
	};
	const struct policy_redacts policy = {.pattern = p, .pattern_count = 3};
	struct redact r = REDACT_INIT;

	(void)state;
	for (unsigned c = '0'; c <= 'Z'; c++)
		if (c <= '9' || c >= 'A')
			p[0].bytes[c / 8] |= (uint8_t)(1 << c % 8);
	redact_use_policy(&r, &policy);
	expect_with(&r, "ACME-AB12 ACME-A", "[REDACTED] ACME-A");
	expect_with(&r, "xACME-ABCDEF7 ACME", "x[REDACTED]7 ACME");
	expect_with(&r, "my_phrase=qq pin: 1234", "my_phrase=[REDACTED] pin:"
					      " [REDACTED]");
	assert_string_equal(redact_kind_name(&r, KIND_USER), "acme");
	assert_true(r.found[KIND_USER]);
	redact_release(&r);
}

/* Lines about programs add to the default policy's, which need no policy. */
static void the_policys_programs(void **state)
{
	struct policy_secret s[] = {
		{.programs = "acme|qq", .word = "", .flag = "-y",
			.how = POLICY_FLAG_APART | POLICY_FLAG_ATTACHED},
		{.programs = "acme", .word = "join", .flag = "", .how = 1,
			.kind = POLICY_SECRET_WORD},
		{.programs = "acme", .word = " pin", .flag = "",
			.kind = POLICY_SECRET_STDIN},
	};
	const struct policy_redacts policy = {.secret = s, .secret_count = 3};
	const char *const argv[] = {"/opt/qq", "-yhunter2", NULL};
	struct redact with = REDACT_INIT, without = REDACT_INIT;
	autobuf struct buf out = BUF_INIT(4096);

	(void)state;
	redact_use_policy(&with, &policy);
	expect_with(&with, "qq -y hunter2", "qq -y [REDACTED]");
	expect_with(&without, "qq -y hunter2", "qq -y hunter2");
	expect_with(&with, "acme join hunter2 x", "acme join [REDACTED] x");
	expect_with(&without, "acme join hunter2 x", "acme join hunter2 x");
	expect_with(&with, "echo hunter2 | acme pin",
		"echo [REDACTED] | acme pin");
	expect_with(&with, "echo hunter2 | acme x", "echo hunter2 | acme x");
	expect_with(&with, "sshpass -p hunter2 x", "sshpass -p [REDACTED] x");
	expect_with(&without, "sshpass -p hunter2 x", "sshpass -p [REDACTED] x");
	assert_int_equal(redact_arg(&with, argv, 2, 1, &out), 0);
	undo(&with, "-yhunter2", 9, &out);
	assert_string_equal(buf_str(&out), "-y[REDACTED]");
	redact_release(&with);
	redact_release(&without);
}

/* A pause in the middle of what is known to be a secret. */
static void pauses(void **state)
{
	struct redact r = REDACT_INIT;
	struct redact_stream s = REDACT_STREAM_INIT;
	autobuf struct buf out = BUF_INIT(4096);

	(void)state;
	assert_int_equal(redact_feed(&r, &s, "password=hun", 12, &out), 0);
	assert_string_equal(buf_str(&out), "password");
	assert_true(redact_pending(&s));
	assert_int_equal(redact_flush(&r, &s, false, &out), 0);
	assert_false(redact_pending(&s));
	assert_int_equal(redact_feed(&r, &s, "ter2 x\n", 7, &out), 0);
	assert_int_equal(redact_flush(&r, &s, true, &out), 0);
	assert_null(strstr(buf_str(&out), "hun"));
	assert_null(strstr(buf_str(&out), "ter2"));
	redact_stream_release(&s);
	/* And of what is not: a prompt is not held for ever. */
	s = REDACT_STREAM_INIT;
	buf_clear(&out);
	assert_int_equal(redact_feed(&r, &s, "Password: ", 10, &out), 0);
	assert_int_equal(redact_flush(&r, &s, false, &out), 0);
	assert_string_equal(buf_str(&out), "Password: ");
	redact_stream_release(&s);
	redact_release(&r);
}

/* A '|' is a pause: the name, or a part of the secret, is out already. */
static void pauses_before_the_value(void **state)
{
	static const char *const rows[][2] = {
		{"Password: |hunter2 x", "Password: [REDACTED] x"},
		{"Password: |h|u|n|ter2 x", "Password: [REDACTED] x"},
		{"password=|hunter2 x", "password=[REDACTED] x"},
		{"Your password is: |Xk9#fj2 x", "Your password is: [REDACTED] x"},
		{"--password |hunter2 x", "--password [REDACTED] x"},
		{"Authorization:| |Bearer |abc\n", "Authorization: [REDACTED]\n"},
		{"token h3Jk9m|Zq2LwX7bVt4RsP x", "token h3Jk9m[REDACTED] x"},
		{"x gh|p_" "0123456789ABCDEFGHIJKLMNOPQRSTUVWX y", "x gh[REDACTED] y"},
		{"MY_|SECRET=a|bc x", "MY_SECRET=[REDACTED] x"},
		{"Password: |\r\nLogin ok", "Password: \r\nLogin ok"},
		{"password is |wrong", "password is wrong"},
		{"a=|b: |c --|d e|", "a=b: c --d e"},
		{"\x1b|[1mtoken|s: |4", "\x1b[1mtokens: 4"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct redact r = REDACT_INIT;
		struct redact_stream s = REDACT_STREAM_INIT;
		autobuf struct buf in = BUF_INIT(4096), out = BUF_INIT(4096);

		for (const char *p = rows[i][0]; *p; p++)
			assert_int_equal(*p == '|'
					? redact_flush(&r, &s, false, &out)
					: redact_feed(&r, &s, p, 1, &out),
				0);
		assert_int_equal(redact_flush(&r, &s, true, &out), 0);
		for (const char *p = rows[i][0]; *p; p++)
			if (*p != '|')
				buf_addc(&in, *p);
		undo(&r, buf_str(&in), in.len, &out);
		assert_string_equal(buf_str(&out), rows[i][1]);
		redact_stream_release(&s);
		redact_release(&r);
	}
}

/* All 256 bytes, and zeros, come out as they went in. */
static void other_bytes(void **state)
{
	struct redact r = REDACT_INIT;
	autobuf struct buf in = BUF_INIT(1 << 16), out = BUF_INIT(1 << 16);

	(void)state;
	for (unsigned i = 0; i < 20000; i++)
		buf_addc(&in, (char)(i * 7 + i / 256));
	run(&r, &out, in.data, in.len, 4095, 4097);
	assert_int_equal(out.len, in.len);
	assert_memory_equal(out.data, in.data, in.len);
	redact_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_forty),
		cmocka_unit_test(cut_at_every_offset),
		cmocka_unit_test(after_other_text),
		cmocka_unit_test(through_colours),
		cmocka_unit_test(values_behind_names),
		cmocka_unit_test(flags_of_programs),
		cmocka_unit_test(what_only_looks_like_it),
		cmocka_unit_test(marks),
		cmocka_unit_test(private_keys),
		cmocka_unit_test(endless_values),
		cmocka_unit_test(values_of_variables),
		cmocka_unit_test(the_policys_patterns),
		cmocka_unit_test(the_policys_programs),
		cmocka_unit_test(pauses),
		cmocka_unit_test(pauses_before_the_value),
		cmocka_unit_test(other_bytes),
	};

	return cmocka_run_group_tests_name("redact", tests, load, NULL);
}
