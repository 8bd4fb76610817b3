/* policy_compile_profile.c - policy text to image: profiles, limits, secrets
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "num.h"
#include "policy_compile.h"
#include "str.h"

static struct img_profile *target(
	struct policy_compiler *c, enum policy_profile *p, struct diag *d)
{
	if (c->line.count < 3 ||
		policy_profile_parse(c->line.word[1].s, p) < 0) {
		compile_bad(c, 1, d,
			"expected SAFE, DEV, FULL-AUTO or OBSERVE, then "
			"KEY=VALUE");
		return NULL;
	}
	return build_row(&c->b, IMG_PROFILE, *p, sizeof(struct img_profile));
}

/* "key=value" with that key: the value, or NULL. */
static const char *value(const struct policy_word *w, const char *key)
{
	const char *v = str_after(w->s, key);

	return v && *v == '=' ? v + 1 : NULL;
}

static bool decision(const char *s, uint8_t *out)
{
	for (unsigned i = POLICY_ALLOW; i <= POLICY_DENY; i++) {
		if (str_eq(s, policy_decision_name((enum policy_decision)i))) {
			*out = (uint8_t)i;
			return true;
		}
	}
	return false;
}

static bool on_off(const char *s, uint8_t *out)
{
	*out = str_eq(s, "on");
	return *out || str_eq(s, "off");
}

static bool net_mode(const char *s, uint8_t *out)
{
	static const char *const name[] = {"none", "local", "all"};

	for (unsigned i = 0; i < ARRAY_SIZE(name); i++) {
		if (str_eq(s, name[i])) {
			*out = (uint8_t)i;
			return true;
		}
	}
	return false;
}

/* One KEY=VALUE of `profile`; false when it is none. */
static bool setting(const struct policy_word *w, struct img_profile *p)
{
	enum policy_profile as;
	uint8_t same;
	const char *v;

	if ((v = value(w, "unparsable")))
		return decision(v, &same) && same == POLICY_DENY;
	if ((v = value(w, "as"))) {
		if (policy_profile_parse(v, &as) < 0)
			return false;
		p->as = (uint8_t)as;
		return true;
	}
	if ((v = value(w, "supervise")))
		return on_off(v, &p->supervise);
	if ((v = value(w, "shell"))) {
		p->set |= IMG_P_SHELL;
		return on_off(v, &p->shell);
	}
	if ((v = value(w, "net"))) {
		p->set |= IMG_P_NET;
		return net_mode(v, &p->net);
	}
	if ((v = value(w, "unknown"))) {
		p->set |= IMG_P_UNKNOWN;
		return decision(v, &p->unknown);
	}
	if ((v = value(w, "unresolved"))) {
		p->set |= IMG_P_UNRESOLVED;
		return decision(v, &p->unresolved);
	}
	if ((v = value(w, "dynamic"))) {
		p->set |= IMG_P_DYNAMIC;
		return decision(v, &p->dynamic);
	}
	if ((v = value(w, "opaque"))) {
		p->set |= IMG_P_OPAQUE;
		return decision(v, &p->opaque);
	}
	if ((v = value(w, "child"))) {
		p->set |= IMG_P_CHILD;
		return decision(v, &p->child);
	}
	return false;
}

int compile_profile(struct policy_compiler *c, struct diag *d)
{
	enum policy_profile which;
	struct img_profile *p = target(c, &which, d);

	if (!p)
		return -EINVAL;
	for (size_t i = 2; i < c->line.count; i++)
		if (!setting(&c->line.word[i], p))
			return compile_bad(c, i, d,
				"expected shell=on|off net=none|local|all "
				"supervise=on|off as=PROFILE, or unknown, "
				"unresolved, dynamic, opaque, child = "
				"allow|confirm|deny");
	if (c->layer != POLICY_LAYER_SYSTEM && p->as != which)
		return compile_bad(
			c, 0, d, "as= is for the system policy alone");
	return 0;
}

/* cpu,mem,procs,files,out: only what the machine can do is taken. */
static bool over(const char *s, struct img_profile *p)
{
	static const char *const fixed = "kill,kill,block,block,";
	const char *out = str_after(s, fixed);

	if (!out)
		return false;
	p->over_out =
		str_eq(out, "kill") ? POLICY_OVER_KILL : POLICY_OVER_TRUNCATE;
	return str_eq(out, "kill") || str_eq(out, "truncate");
}

static bool limit(const struct policy_word *w, struct img_profile *p)
{
	const char *v;

	if ((v = value(w, "cpu")))
		return num_duration(v, 1, UINT64_MAX, &p->cpu) == 0;
	if ((v = value(w, "wall")))
		return num_duration(v, 1, UINT64_MAX, &p->wall) == 0;
	if ((v = value(w, "mem")))
		return num_size(v, 1, UINT64_MAX, &p->mem) == 0;
	if ((v = value(w, "out")))
		return num_size(v, 1, UINT64_MAX, &p->out) == 0;
	if ((v = value(w, "procs")))
		return num_u64(v, 1, 1 << 22, &p->procs) == 0;
	if ((v = value(w, "files")))
		return num_u64(v, 1, 1 << 20, &p->files) == 0;
	if ((v = value(w, "over")))
		return over(v, p);
	return false;
}

int compile_limit(struct policy_compiler *c, struct diag *d)
{
	enum policy_profile which;
	struct img_profile *p = target(c, &which, d);

	if (!p)
		return -EINVAL;
	for (size_t i = 2; i < c->line.count; i++)
		if (!limit(&c->line.word[i], p))
			return compile_bad(c, i, d,
				"expected cpu=60s wall=10m mem=512M procs=5 "
				"files=100 out=1M, or "
				"over=kill,kill,block,block,truncate|kill");
	return 0;
}

int compile_use(struct policy_compiler *c, struct diag *d)
{
	enum policy_profile p;

	if (c->line.count != 2 ||
		policy_profile_parse(c->line.word[1].s, &p) < 0)
		return compile_bad(
			c, 1, d, "expected: use SAFE|DEV|FULL-AUTO|OBSERVE");
	c->b.head.use = (uint8_t)p;
	return 0;
}

/* "[A-Za-z0-9_-]" into a bit set; the text behind it, or NULL. */
static const char *byte_class(const char *s, uint8_t set[32])
{
	if (*s++ != '[')
		return NULL;
	for (; *s && *s != ']'; s++) {
		unsigned lo = (unsigned char)s[0], hi = lo;

		if (s[1] == '-' && s[2] && s[2] != ']') {
			hi = (unsigned char)s[2];
			s += 2;
		}
		for (; lo <= hi; lo++)
			set[lo / 8] |= (uint8_t)(1U << lo % 8);
	}
	return *s ? s + 1 : NULL;
}

/* "{16}" or "{20,200}". */
static bool repeat(const char *s, struct img_redact *r)
{
	char a[12], b[12];
	size_t n, m;
	unsigned lo, hi;

	if (*s++ != '{')
		return false;
	n = strcspn(s, ",}");
	m = s[n] == ',' ? strcspn(s + n + 1, "}") : n;
	if (n >= sizeof(a) || m >= sizeof(b) || !str_ends(s, "}"))
		return false;
	memcpy(a, s, n);
	a[n] = 0;
	memcpy(b, s[n] == ',' ? s + n + 1 : s, m);
	b[m] = 0;
	if (num_uint(a, 1, 4096, &lo) < 0 || num_uint(b, lo, 4096, &hi) < 0)
		return false;
	r->min = lo;
	r->max = hi;
	return true;
}

static int redact_keys(
	struct policy_compiler *c, struct img_redact *r, const char *s)
{
	while (*s) {
		size_t n = strcspn(s, ",");

		r->key = build_str(&c->b, s, n);
		if (n)
			build_add(&c->b, IMG_REDACT, r, sizeof(*r));
		s += n + (s[n] == ',');
	}
	return 0;
}

int compile_redact(struct policy_compiler *c, struct diag *d)
{
	const struct policy_word *w = c->line.word;
	struct img_redact r = {0};
	const char *rest;

	if (c->line.count < 3)
		return compile_bad(c, 0, d,
			"expected: redact ID \"prefix\" [class]{min,max}, or "
			"key=GLOB,...");
	r.id = build_str(&c->b, w[1].s, strlen(w[1].s));
	rest = str_after(w[2].s, "key=");
	if (rest && !w[2].quoted && c->line.count == 3)
		return redact_keys(c, &r, rest);
	if (c->line.count != 4 || strlen(w[2].s) < 2)
		return compile_bad(c, 2, d,
			"expected a prefix of two bytes or more, then "
			"[class]{min,max}");
	r.prefix = build_str(&c->b, w[2].s, strlen(w[2].s));
	rest = byte_class(w[3].s, r.bytes);
	if (!rest || !repeat(rest, &r))
		return compile_bad(
			c, 3, d, "expected a class such as [A-Za-z0-9]{16,40}");
	build_add(&c->b, IMG_REDACT, &r, sizeof(r));
	return 0;
}
