/* policy_keys.c - policy keygen, sign, verify
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "sys/file.h"
#include "policy_applet.h"
#include "policy/policy_sign.h"

static void read_text(const char *path, struct buf *b, int code)
{
	int rc = file_read(AT_FDCWD, path, b);

	if (rc < 0)
		cli_die(code, "%s: %s", path, strerror(-rc));
}

static void read_bytes(const char *path, uint8_t *out, size_t n)
{
	autobuf struct buf b = BUF_INIT(4096);
	struct diag d = {0};

	read_text(path, &b, EXIT_USAGE);
	if (policy_sign_parse(path, buf_str(&b), out, n, &d) < 0)
		cli_die_diag(EXIT_USAGE, &d);
}

static void write_bytes(
	const char *path, const uint8_t *bytes, size_t n, mode_t mode)
{
	autobuf struct buf b = BUF_INIT(4096);

	policy_sign_format(&b, bytes, n);
	policy_write(path, b.data, b.len, mode);
}

static void name_beside(const char *path, const char *end, char *out,
	size_t size)
{
	struct buf b = {.data = out, .cap = size, .max = size - 1};

	buf_addf(&b, "%s%s", path, end);
	if (b.err || !*buf_str(&b))
		cli_die(EXIT_USAGE, "%s: path too long", path);
}

int policy_keygen(void *into)
{
	const struct policy_opts *o = into;
	uint8_t priv[SIGN_PRIVATE], pub[SIGN_PUBLIC];
	autobuf struct buf out = BUF_INIT(8192);
	struct json j = JSON_INIT(&out);
	char name[1024];

	if (!o->key)
		cli_die_usage(o->spec, "expected: keygen --key FILE");
	name_beside(o->key, ".pub", name, sizeof(name));
	if (access(o->key, F_OK) == 0 || access(name, F_OK) == 0)
		cli_die(EXIT_FOUND, "%s or its .pub exists already", o->key);
	do {
		if (getrandom(priv, sizeof(priv), 0) != sizeof(priv))
			cli_die(EXIT_FOUND, "no random bytes");
	} while (policy_sign_pair(priv, pub) < 0);
	if (!o->dry_run) {
		write_bytes(o->key, priv, sizeof(priv), 0600);
		write_bytes(name, pub, sizeof(pub), 0644);
	}
	explicit_bzero(priv, sizeof(priv));
	policy_wrote(o, &j, o->key, "private, keep it off this machine");
	policy_wrote(o, &j, name, "install as " POLICY_KEY);
	cli_print_json(&j);
	return EXIT_OK;
}

int policy_sign_verb(void *into, int argc, char **argv)
{
	const struct policy_opts *o = into;
	uint8_t priv[SIGN_PRIVATE], sig[SIGN_SIGNATURE];
	autobuf struct buf out = BUF_INIT(1 << 16);
	struct json j = JSON_INIT(&out);
	char name[1024];

	if (argc < 2 || !o->key)
		cli_die_usage(o->spec, "expected: sign --key FILE POLICY...");
	read_bytes(o->key, priv, sizeof(priv));
	for (int i = 1; i < argc; i++) {
		autobuf struct buf text = BUF_INIT(1 << 20);

		read_text(argv[i], &text, EXIT_USAGE);
		if (policy_sign(priv, buf_str(&text), text.len, sig) < 0)
			cli_die(EXIT_USAGE, "%s: not a usable key", o->key);
		name_beside(argv[i], ".sig", name, sizeof(name));
		if (!o->dry_run)
			write_bytes(name, sig, sizeof(sig), 0644);
		policy_wrote(o, &j, name, NULL);
	}
	explicit_bzero(priv, sizeof(priv));
	cli_print_json(&j);
	return EXIT_OK;
}

int policy_verify(void *into, int argc, char **argv)
{
	const struct policy_opts *o = into;
	uint8_t pub[SIGN_PUBLIC];
	autobuf struct buf out = BUF_INIT(1 << 16);
	struct json j = JSON_INIT(&out);
	bool good = true;

	if (argc < 2)
		cli_die_usage(
			o->spec, "expected: verify [--key FILE] POLICY...");
	read_bytes(o->key ? o->key : POLICY_KEY, pub, sizeof(pub));
	if (o->json)
		json_open(&j, '[');
	for (int i = 1; i < argc; i++) {
		autobuf struct buf text = BUF_INIT(1 << 20);
		struct diag d = {0};
		bool fits;

		read_text(argv[i], &text, EXIT_USAGE);
		fits = policy_sign_check(pub, argv[i], buf_str(&text), text.len,
			       &d) == 0;
		good &= fits;
		if (o->json) {
			policy_tell(&j, argv[i], fits ? NULL : &d);
			json_close(&j);
		} else if (fits) {
			buf_addf(&out, "%s: signed\n", argv[i]);
		} else {
			cli_diag(&d);
		}
	}
	cli_print_json(&j);
	return good ? EXIT_OK : EXIT_FOUND;
}
