/* serve_report.c - how a command went, as `wardbox exec --report` says it
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve.h"

#include <errno.h>

#include "base/json_read.h"
#include "base/num.h"
#include "base/str.h"

static void read_text(const struct json_doc *doc, uint32_t node,
	const char *key, char *to, size_t size)
{
	struct buf b = BUF_FIXED((char[1024]){0});
	uint32_t value = json_find(doc, node, key);

	to[0] = '\0';
	if (value && json_type(doc, value) == JSON_STRING &&
		json_text(doc, value, &b) == 0)
		(void)str_copy(to, size, buf_str(&b));
}

static int64_t read_number(
	const struct json_doc *doc, uint32_t node, const char *key)
{
	uint32_t value = json_find(doc, node, key);
	char digits[24];
	struct buf b = BUF_FIXED(digits);
	int64_t n = 0;

	if (!value || json_type(doc, value) != JSON_NUMBER)
		return 0;
	buf_add(&b, doc->text + doc->node[value].at, doc->node[value].len);
	return num_i64(buf_str(&b), INT64_MIN, INT64_MAX, &n) ? 0 : n;
}

static bool read_truth(
	const struct json_doc *doc, uint32_t node, const char *key)
{
	uint32_t value = json_find(doc, node, key);

	return value && json_type(doc, value) == JSON_TRUE;
}

int serve_report_read(struct serve_report *r, char question[static 16],
	const char *text, size_t n)
{
	autojson struct json_doc doc = {0};
	uint32_t usage, error;

	if (json_read(&doc, text, n, NULL) ||
		json_type(&doc, 0) != JSON_OBJECT)
		return -EINVAL;
	read_text(&doc, 0, "question", question, 16);
	if (json_find(&doc, 0, "question"))
		return 0;
	*r = (struct serve_report){.there = true};
	r->ran = read_truth(&doc, 0, "ran");
	r->timed_out = read_truth(&doc, 0, "timed_out");
	r->code = (int)(read_number(&doc, 0, "exit_code") & 255);
	r->signal = (int)(read_number(&doc, 0, "signal") & 127);
	r->journal = (uint64_t)read_number(&doc, 0, "journal");
	r->duration_ms = (uint64_t)read_number(&doc, 0, "duration_ms");
	read_text(&doc, 0, "decision", r->decision, sizeof r->decision);
	read_text(&doc, 0, "profile", r->profile, sizeof r->profile);
	read_text(&doc, 0, "policy_rule_matched", r->rule, sizeof r->rule);
	read_text(&doc, 0, "correlation_id", r->correlation,
		sizeof r->correlation);
	usage = json_find(&doc, 0, "resource_usage");
	if (usage) {
		r->cpu_ms = (uint64_t)read_number(&doc, usage, "cpu_ms");
		r->memory = (uint64_t)read_number(
			&doc, usage, "memory_peak_bytes");
	}
	error = json_find(&doc, 0, "error");
	if (error) {
		read_text(&doc, error, "message", r->message, sizeof r->message);
		read_text(&doc, error, "hint", r->hint, sizeof r->hint);
	}
	return 0;
}
