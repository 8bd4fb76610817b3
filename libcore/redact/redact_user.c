/* redact_user.c - what is secret here: variables' values, the policy's patterns
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "redact/redact_in.h"
#include "base/str.h"

enum { SECRET_MAX = 1024 };

struct redact_secret {
	char *value;
	size_t n;
};

void redact_release(struct redact *r)
{
	for (size_t i = 0; i < r->secret_count; i++) {
		explicit_bzero(r->secrets[i].value, r->secrets[i].n);
		free(r->secrets[i].value);
	}
	free(r->secrets);
	free(r->work);
	explicit_bzero(r->key, sizeof r->key);
	*r = REDACT_INIT;
}

/* Is the value worth hiding? A path or a plain number is no secret, whatever
 * its name. */
static bool worth_hiding(const char *value, size_t n)
{
	if (n < REDACT_SECRET_MIN || n > SECRET_MAX || value[0] == '/')
		return false;
	return strspn(value, "0123456789.") < n &&
		!redact_placeholder((const unsigned char *)value, n);
}

static int add_secret(struct redact *r, const char *value, size_t n)
{
	size_t at = r->secret_count;
	char *copy;

	if (!r->secrets)
		r->secrets = calloc(REDACT_SECRETS, sizeof *r->secrets);
	if (!r->secrets)
		return -ENOMEM;
	for (size_t i = 0; i < r->secret_count; i++)
		if (r->secrets[i].value && r->secrets[i].n == n &&
			memcmp(r->secrets[i].value, value, n) == 0)
			return 0;
	if (at == REDACT_SECRETS) {
		at = 0;
		for (size_t i = 1; i < REDACT_SECRETS; i++)
			if (r->secrets[i].n < r->secrets[at].n)
				at = i;
		if (r->secrets[at].n >= n)
			return 0;
	}
	copy = malloc(n);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, value, n);
	if (at < r->secret_count)
		free(r->secrets[at].value);
	else
		r->secret_count++;
	r->secrets[at] = (struct redact_secret){copy, n};
	return 0;
}

int redact_add_env(struct redact *r, const char *const *env)
{
	int err = 0;

	for (; *env && !err; env++) {
		const char *eq = strchr(*env, '=');

		if (eq && redact_secret_name(*env, (size_t)(eq - *env)) &&
			worth_hiding(eq + 1, strlen(eq + 1)))
			err = add_secret(r, eq + 1, strlen(eq + 1));
	}
	for (size_t i = 0; i < r->secret_count; i++) {
		const char *value = r->secrets[i].value;
		unsigned char c = (unsigned char)(value ? *value : 0);

		r->first[c / 8] |= (uint8_t)(1 << c % 8);
	}
	return err;
}

enum redact_answer redact_secret(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	*s = (struct redact_span){.kind = KIND_ENV, .mode = REDACT_MODE_WORD};
	for (; r->secret_count && at < v->n; at++) {
		const unsigned char c = v->text[at];
		const size_t left = v->n - at;
		size_t best = 0;
		bool more = false;

		if (!(r->first[c / 8] >> c % 8 & 1))
			continue;
		for (size_t i = 0; i < r->secret_count; i++) {
			const struct redact_secret *x = &r->secrets[i];

			if (memcmp(v->text + at, x->value,
				    left < x->n ? left : x->n) != 0)
				continue;
			if (left < x->n)
				more |= !v->last;
			else if (x->n > best)
				best = x->n;
		}
		s->from = s->value = at;
		s->to = at + best;
		/* So many bytes before a pause are no accident. */
		s->committed = left >= REDACT_SECRET_MIN;
		if (more)
			return REDACT_MORE;
		if (best)
			return REDACT_YES;
	}
	return REDACT_NO;
}

static unsigned pair_slot(const unsigned char *p)
{
	return (p[0] * 31u + p[1]) % REDACT_PAIRS;
}

static void trim_marks(uint8_t set[static 32], char letter)
{
	const unsigned char at = (unsigned char)letter;

	set[at / 8] &= (uint8_t)~(1U << at % 8);
}

void redact_use_policy(struct redact *r, const struct policy_redacts *policy)
{
	const struct policy_secret *o;

	r->policy = policy;
	memset(r->flagless, 0xff, sizeof r->flagless);
	memset(r->wordless, 0xff, sizeof r->wordless);
	for (size_t i = 0; (o = redact_line(r, i)); i++) {
		const char *p = o->programs;

		if (o->kind == POLICY_SECRET_FLAG)
			trim_marks(r->flagless,
				o->flag[1 + (o->flag[1] == '-')]);
		for (; o->kind == POLICY_SECRET_WORD && *p;
			p = strchrnul(p, '|') + (*strchrnul(p, '|') == '|'))
			trim_marks(r->wordless, *p);
	}
	for (size_t i = 0; i < policy->secret_count; i++) {
		const char *p = policy->secret[i].programs;

		/* A flag is found by its dash. */
		for (; policy->secret[i].kind == POLICY_SECRET_WORD && *p;
			p = strchrnul(p, '|') + (*strchrnul(p, '|') == '|'))
			r->words[*p / 8] |= (uint8_t)(1 << *p % 8);
	}
	for (size_t i = 0; i < policy->pattern_count; i++) {
		const char *prefix = policy->pattern[i].prefix;
		unsigned slot;

		/* The policy's compiler ensures two bytes. */
		if (!prefix)
			continue;
		slot = pair_slot((const unsigned char *)prefix);
		r->pairs[slot / 8] |= (uint8_t)(1 << slot % 8);
		r->shapes = true;
	}
}

static char to_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

bool redact_user_key(const struct redact *r, const unsigned char *key, size_t n)
{
	char name[REDACT_KEY_MAX + 1], glob[128];

	if (n >= sizeof name)
		return false;
	for (size_t i = 0; i < n; i++)
		name[i] = to_upper((char)key[i]);
	name[n] = '\0';
	for (size_t i = 0; i < r->policy->pattern_count; i++) {
		const char *p = r->policy->pattern[i].key;
		size_t k = 0;

		if (!p)
			continue;
		for (; p[k] && k + 1 < sizeof glob; k++)
			glob[k] = to_upper(p[k]);
		glob[k] = '\0';
		if (!p[k] && str_glob(glob, name))
			return true;
	}
	return false;
}

const char *redact_user_name(const struct redact *r, unsigned i)
{
	return r->policy && i < r->policy->pattern_count
		? r->policy->pattern[i].id
		: NULL;
}

/* Matches the prefix and the bytes of the class behind it. */
static enum redact_answer match_pattern(const struct policy_redact *x,
	const struct redact_view *v, size_t at, size_t *to)
{
	const size_t prefix = strlen(x->prefix), left = v->n - at;
	size_t i = at + prefix, end;

	if (memcmp(v->text + at, x->prefix, left < prefix ? left : prefix) != 0)
		return REDACT_NO;
	if (left < prefix)
		return v->last ? REDACT_NO : REDACT_MORE;
	end = v->n - i < x->max ? v->n : i + x->max;
	while (i < end && x->bytes[v->text[i] / 8] >> v->text[i] % 8 & 1)
		i++;
	if (i == v->n && i - at - prefix < x->max && !v->last)
		return REDACT_MORE;
	*to = i;
	return i - at - prefix < x->min ? REDACT_NO : REDACT_YES;
}

static uint8_t user_kind(size_t i)
{
	const size_t last = REDACT_KINDS - 1;

	return (uint8_t)(KIND_USER + i < last ? KIND_USER + i : last);
}

enum redact_answer redact_pattern(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	for (; at < v->n; at++) {
		/* The pair of the last byte is not complete yet. */
		if (at + 1 < v->n) {
			unsigned slot = pair_slot(v->text + at);

			if (!(r->pairs[slot / 8] >> slot % 8 & 1))
				continue;
		}
		*s = (struct redact_span){
			.from = at, .value = at, .mode = REDACT_MODE_TOKEN};
		for (size_t i = 0; i < r->policy->pattern_count; i++) {
			enum redact_answer a = r->policy->pattern[i].prefix
				? match_pattern(&r->policy->pattern[i], v, at,
				  &s->to)
				: REDACT_NO;

			s->kind = user_kind(i);
			if (a != REDACT_NO)
				return a;
		}
	}
	return REDACT_NO;
}
