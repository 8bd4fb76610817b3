/* policy_compile_profile.c - policy text to image: profiles, limits
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "policy/policy_compile.h"
#include "base/str.h"

/* Reads "key=value": the index in keys, and the value; -1 when the key is not
 * among them. */
static int split_pair(const char *word, const char *keys, const char **value)
{
	char key[16] = "";
	size_t n = strcspn(word, "=");

	if (!word[n] || n >= sizeof(key))
		return -1;
	memcpy(key, word, n);
	*value = word + n + 1;
	return str_index(keys, key);
}

/* Reads whole seconds, up to a working day; -1. */
static int ask_time(const char *s)
{
	enum { ASK_MAX = 36000 };
	const uint64_t second = 1000000000;
	uint64_t ns;

	if (num_duration(s, second, ASK_MAX * second, &ns) < 0)
		return -1;
	return (int)(ns / second);
}

/* One KEY=VALUE of `profile`; false when it is none. */
static bool take_setting(const char *word, struct img_profile *p)
{
	/* In the order of IMG_P_*. */
	static const char keys[] =
		"shell\0unknown\0child\0open\0net\0supervise\0undo\0as\0tmp\0"
		"background\0ask\0ask-time\0";
	enum policy_profile as;
	const char *v;
	int key = split_pair(word, keys, &v), value;

	switch (key) {
	case -1:
		return false;
	case IMG_P_SHELL:
	case IMG_P_SUPERVISE:
	case IMG_P_UNDO:
		value = str_index("off\0on\0", v);
		break;
	case IMG_P_NET:
		value = str_index(POLICY_NETS, v);
		break;
	case IMG_P_ASK:
		value = str_index(POLICY_ASKS, v);
		break;
	case IMG_P_ASK_TIME:
		value = ask_time(v);
		break;
	case IMG_P_BACKGROUND:
		value = str_index("keep\0end\0", v);
		break;
	case IMG_P_TMP:
		value = str_index("deny\0shared\0container\0", v);
		break;
	case IMG_P_AS:
		value = policy_profile_parse(v, &as) < 0 ? -1 : (int)as;
		break;
	case IMG_P_OPEN:
		value = str_index(POLICY_DECISIONS, v);
		if (value == POLICY_ALLOW)
			value = -1;
		break;
	default:
		/* A program that starts cannot be open any more. */
		value = str_index(POLICY_DECISIONS, v);
		if (value == POLICY_OPEN)
			value = -1;
	}
	if (value < 0)
		return false;
	p->v[key] = (uint32_t)value;
	p->v[IMG_P_SET] |= 1U << key;
	return true;
}

/* Reads cpu,mem,procs,files,out. Only what the machine can do is accepted. */
static bool take_over(const char *s, struct img_profile *p)
{
	const char *out = str_after(s, "kill,kill,block,block,");
	int i = out ? str_index("kill\0block\0truncate\0", out) : -1;

	p->v[IMG_P_OVER_OUT] = (uint32_t)i;
	return i == POLICY_OVER_KILL || i == POLICY_OVER_TRUNCATE;
}

/* Reads "75%" of the machine's memory. */
static int memory_share(const char *s, uint64_t *n)
{
	char text[8];
	int rc;

	if (!str_ends(s, "%") || str_copy(text, sizeof(text), s) < 0)
		return -EINVAL;
	text[strlen(text) - 1] = 0;
	rc = num_u64(text, 1, 100, n);
	*n |= IMG_SHARE;
	return rc;
}

static bool take_limit(const char *word, struct img_profile *p)
{
	/* In the order of IMG_L_*. */
	const char *v;
	int key = split_pair(word,
		"cpu\0wall\0mem\0out\0procs\0files\0idle\0over\0", &v), rc;
	uint64_t n = 0;

	if (key < 0)
		return false;
	if (key == IMG_LIMITS)
		return take_over(v, p);
	if (str_eq(v, "off"))
		rc = 0;
	else if (key == IMG_L_MEM && str_ends(v, "%"))
		rc = memory_share(v, &n);
	else if (key <= IMG_L_WALL || key == IMG_L_IDLE)
		rc = num_duration(v, 1, UINT64_MAX, &n);
	else if (key <= IMG_L_OUT)
		rc = num_size(v, 1, UINT64_MAX, &n);
	else
		rc = num_u64(v, 1, 1 << 20, &n);
	p->limit[key] = img_parts(n);
	return rc == 0;
}

/* VERB PROFILE KEY=VALUE..., each pair taken by one(). */
static int take_settings(struct policy_compiler *c,
	bool one(const char *word, struct img_profile *p), const char *expected)
{
	enum policy_profile which = POLICY_SAFE;
	struct img_profile *p;

	if (c->line.count < 2 ||
		policy_profile_parse(c->line.word[1].s, &which) < 0)
		return compile_bad(c, 1,
			"expected SAFE, DEV, FULL-AUTO or OBSERVE, then "
			"KEY=VALUE");
	if (c->line.count < 3)
		return compile_bad(
			c, 0, "expected KEY=VALUE behind the profile");
	p = build_row(&c->b, IMG_PROFILE, which);
	for (size_t i = 2; i < c->line.count; i++)
		if (!one(c->line.word[i].s, p))
			return compile_bad(c, i, expected);
	if (c->layer != POLICY_LAYER_SYSTEM && p->v[IMG_P_AS] != which)
		return compile_bad(c, 0, "as= is for the system policy alone");
	return 0;
}

int compile_profile(struct policy_compiler *c)
{
	return take_settings(c, take_setting,
		"expected shell= supervise= undo=on|off "
		"net=none|local|registries|all background=keep|end ask=tty|approver|never ask-time=60s "
		"tmp=deny|shared|container as=PROFILE unknown|child|open=DECISION");
}

int compile_limit(struct policy_compiler *c)
{
	return take_settings(c, take_limit,
		"expected cpu=60s wall=10m mem=512M|75% procs=5 files=100 "
		"out=1M idle=12h, each also `off`, or over=kill,kill,block,block,truncate|kill");
}
