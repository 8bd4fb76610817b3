/* redact_user.c - what is secret here: variables' values, the policy's patterns
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"
#include "redact_core.h"
#include "str.h"

enum { SECRET_MAX = 1024, ITEMS = 8, LITERAL_MAX = 64, GLOBS = 8 };

struct redact_secret {
	char *value;
	size_t n;
};

/* A literal, or a class so many times. */
struct item {
	char literal[LITERAL_MAX];
	uint8_t set[32];
	uint16_t min, max;
	uint8_t len; /* of the literal; 0: a class */
};

struct redact_pattern {
	char name[24];
	char globs[128]; /* of names, comma-separated; "" for a shape */
	struct item items[ITEMS];
	unsigned count;
};

void redact_release(struct redact *r)
{
	for (size_t i = 0; i < r->secret_count; i++) {
		explicit_bzero(r->secrets[i].value, r->secrets[i].n);
		free(r->secrets[i].value);
	}
	free(r->secrets);
	free(r->patterns);
	free(r->work);
	*r = REDACT_INIT;
}

/* A path or a plain number is no secret, whatever its name. */
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
	*s = (struct redact_span){.kind = KIND_ENV, .committed = false};
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
		if (more)
			return REDACT_MORE;
		if (best)
			return REDACT_YES;
	}
	return REDACT_NO;
}

/* A literal in quotes, with \" and \\ . */
static const char *parse_literal(struct item *it, const char *p)
{
	for (p++; *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
		if (it->len == LITERAL_MAX)
			return NULL;
		it->literal[it->len++] = *p;
	}
	return *p && it->len ? p + 1 : NULL;
}

static void add_to_set(struct item *it, unsigned from, unsigned to)
{
	for (; from <= to; from++)
		it->set[from / 8] |= (uint8_t)(1 << from % 8);
}

/* "[A-Z0-9_-]" with "{n}", "{n,m}", "+" or nothing behind. */
static const char *parse_class(struct item *it, const char *p)
{
	for (p++; *p && *p != ']'; p++) {
		unsigned char from = (unsigned char)*p;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			add_to_set(it, from, (unsigned char)p[2]);
			p += 2;
		} else {
			add_to_set(it, from, from);
		}
	}
	return *p ? p + 1 : NULL;
}

static const char *parse_count(struct item *it, const char *p)
{
	char text[16] = "";
	unsigned min, max;
	size_t n;
	char *comma;

	it->min = it->max = 1;
	if (*p == '+') {
		it->max = REDACT_HOLD;
		return p + 1;
	}
	if (*p != '{')
		return p;
	n = strcspn(++p, "}");
	if (!p[n] || n >= sizeof text)
		return NULL;
	memcpy(text, p, n);
	comma = strchr(text, ',');
	if (comma)
		*comma = '\0';
	if (num_uint(text, 0, REDACT_HOLD, &min))
		return NULL;
	max = min;
	if (comma && comma[1] &&
		num_uint(comma + 1, min ? min : 1, REDACT_HOLD, &max))
		return NULL;
	if (comma && !comma[1])
		max = REDACT_HOLD;
	it->min = (uint16_t)min;
	it->max = (uint16_t)max;
	return max ? p + n + 1 : NULL;
}

static int parse_items(struct redact_pattern *x, const char *p, struct diag *d)
{
	while (*p) {
		struct item *it = &x->items[x->count];

		p += strspn(p, " \t");
		if (!*p)
			break;
		if (x->count == ITEMS)
			return diag_fail(d, -E2BIG,
				"redact %s: more than %d parts", x->name, ITEMS);
		if (*p == '"')
			p = parse_literal(it, p);
		else if (*p == '[')
			p = parse_class(it, p);
		else
			p = NULL;
		if (p && !it->len)
			p = parse_count(it, p);
		if (!p)
			return diag_fail(d, -EINVAL,
				"redact %s: part %u is neither \"text\" nor"
				" [class]{n,m}",
				x->name, x->count + 1);
		x->count++;
	}
	if (!x->count)
		return diag_fail(d, -EINVAL, "redact %s: nothing to look for",
			x->name);
	return 0;
}

int redact_add_pattern(struct redact *r, const char *text, struct diag *d)
{
	struct redact_pattern x = {.name = ""};
	struct redact_pattern *grown;
	size_t n;
	int err = 0;

	text += strspn(text, " \t");
	n = strcspn(text, " \t");
	if (!n || n >= sizeof x.name || !str_is_name(text, n))
		return diag_fail(d, -EINVAL,
			"redact: a name of at most %zu letters must come first",
			sizeof x.name - 1);
	memcpy(x.name, text, n);
	text += n + strspn(text + n, " \t");
	if (r->pattern_count == REDACT_USER_KINDS)
		return diag_fail(d, -E2BIG, "more than %d redact lines",
			REDACT_USER_KINDS);
	if (str_after(text, "key="))
		err = str_copy(x.globs, sizeof x.globs, text + 4);
	else
		err = parse_items(&x, text, d);
	if (err == -ENAMETOOLONG || (!err && !x.count && !x.globs[0]))
		return diag_fail(d, -EINVAL,
			"redact %s: key= takes 1 to %zu letters of globs",
			x.name, sizeof x.globs - 1);
	if (err)
		return err;
	grown = reallocarray(r->patterns, r->pattern_count + 1, sizeof *grown);
	if (!grown)
		return diag_errno(d, -ENOMEM, "redact");
	r->patterns = grown;
	r->patterns[r->pattern_count++] = x;
	return 0;
}

bool redact_user_key(const struct redact *r, const unsigned char *key, size_t n)
{
	char upper[80];

	if (!r->pattern_count || n >= sizeof upper)
		return false;
	for (size_t i = 0; i < n; i++)
		upper[i] = key[i] >= 'a' && key[i] <= 'z'
			? (char)(key[i] - 32)
			: (char)key[i];
	upper[n] = '\0';
	for (size_t i = 0; i < r->pattern_count; i++) {
		const char *p = r->patterns[i].globs;

		while (*p) {
			size_t len = strcspn(p, ",");
			char glob[128] = "";

			for (size_t k = 0; k < len; k++)
				glob[k] = p[k] >= 'a' && p[k] <= 'z'
					? (char)(p[k] - 32)
					: p[k];
			if (str_glob(glob, upper))
				return true;
			p += len + (p[len] == ',');
		}
	}
	return false;
}

const char *redact_user_name(const struct redact *r, unsigned i)
{
	return i < r->pattern_count ? r->patterns[i].name : NULL;
}

/* Each part takes as much as it can and gives nothing back. */
static enum redact_answer match(const struct redact_pattern *x,
	const struct redact_view *v, size_t at, size_t *to)
{
	for (unsigned i = 0; i < x->count; i++) {
		const struct item *it = &x->items[i];
		size_t left = v->n - at, n = 0;

		if (it->len) {
			if (memcmp(v->text + at, it->literal,
				    left < it->len ? left : it->len) != 0)
				return REDACT_NO;
			if (left < it->len)
				return v->last ? REDACT_NO : REDACT_MORE;
			at += it->len;
			continue;
		}
		while (n < it->max && n < left &&
			it->set[v->text[at + n] / 8] >> v->text[at + n] % 8 & 1)
			n++;
		if (n == left && n < it->max && !v->last)
			return REDACT_MORE;
		if (n < it->min)
			return REDACT_NO;
		at += n;
	}
	*to = at;
	return REDACT_YES;
}

enum redact_answer redact_pattern(const struct redact *r,
	const struct redact_view *v, size_t at, struct redact_span *s)
{
	for (; at < v->n; at++) {
		for (size_t i = 0; i < r->pattern_count; i++) {
			enum redact_answer a;

			if (!r->patterns[i].count)
				continue;
			a = match(&r->patterns[i], v, at, &s->to);
			if (a == REDACT_NO || (a == REDACT_YES && s->to == at))
				continue;
			s->from = s->value = at;
			s->kind = (uint8_t)(KIND_USER + i);
			s->mode = REDACT_MODE_TOKEN;
			s->committed = false;
			return a;
		}
	}
	return REDACT_NO;
}
