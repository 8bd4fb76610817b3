/* serve_report.c - how a command went, as `wardbox exec --report` says it
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve.h"

#include <errno.h>

#include "base/json_read.h"
#include "base/str.h"
#include "serve/serve_args.h"

enum { WHOLE = 1, USAGE = 2, FAILURE = 4 };

#define ROW(name, kind, member, max, of)                                       \
	{name, kind, offsetof(struct serve_report, member), max, of, 0, NULL}
#define TEXT(name, member, of)                                                 \
	ROW(name, ARG_TEXT, member, sizeof ((struct serve_report *)0)->member, of)
static const struct arg report_members[] = {
	ROW("ran", ARG_TRUTH, ran, 0, WHOLE),
	ROW("timed_out", ARG_TRUTH, timed_out, 0, WHOLE),
	ROW("exit_code", ARG_INT, code, 255, WHOLE),
	ROW("signal", ARG_INT, signal, 127, WHOLE),
	ROW("journal", ARG_NUMBER, journal, INT64_MAX, WHOLE),
	ROW("duration_ms", ARG_NUMBER, duration_ms, INT64_MAX, WHOLE),
	TEXT("decision", decision, WHOLE),
	TEXT("profile", profile, WHOLE),
	TEXT("policy_rule_matched", rule, WHOLE),
	TEXT("correlation_id", correlation, WHOLE),
	ROW("cpu_ms", ARG_NUMBER, cpu_ms, INT64_MAX, USAGE),
	ROW("memory_peak_bytes", ARG_NUMBER, memory, INT64_MAX, USAGE),
	TEXT("message", message, FAILURE),
	TEXT("hint", hint, FAILURE),
};

/* A missing member stays empty. */
static void read_members(struct serve_report *r, const struct json_doc *doc,
	uint32_t node, unsigned of)
{
	char said[ARGS_SAID];

	(void)args_read(report_members, ARRAY_SIZE(report_members), of, doc,
		node, r, said);
}

int serve_report_read(struct serve_report *r, char question[static 16],
	const char *text, size_t n)
{
	static const struct arg asks = {"question", ARG_TEXT, 0, 16, 0, 0, NULL};
	autojson struct json_doc doc = {0};
	char said[ARGS_SAID];
	uint32_t usage, error;

	if (json_read(&doc, text, n, NULL) ||
		json_type(&doc, 0) != JSON_OBJECT)
		return -EINVAL;
	question[0] = '\0';
	(void)args_read(&asks, 1, 0, &doc, 0, question, said);
	if (json_find(&doc, 0, "question"))
		return 0;
	usage = json_find(&doc, 0, "resource_usage");
	error = json_find(&doc, 0, "error");
	*r = (struct serve_report){.there = true};
	read_members(r, &doc, 0, WHOLE);
	if (usage)
		read_members(r, &doc, usage, USAGE);
	if (error)
		read_members(r, &doc, error, FAILURE);
	return 0;
}
