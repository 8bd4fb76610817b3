/* profile_report.c - the doctor's findings, for people and for programs
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "profile/confinement.h"
#include "profile_doctor.h"

/* The i-th problem, the worst first and otherwise as found. */
static const struct profile_problem *problem_ranked(
	const struct profile_problems *p, size_t i)
{
	for (unsigned rank = SEVERITY_CRITICAL + 1; rank-- > 0;) {
		for (size_t k = 0; k < p->count; k++) {
			if (p->problem[k].severity == rank && !i--)
				return &p->problem[k];
		}
	}
	return p->problem;
}

static void problem_json(struct json *j, const struct profile_problem *p)
{
	enum profile_problem_code code = (enum profile_problem_code)p->code;

	json_putf(j, "{ code %s severity %s file %s",
		profile_problem_name(code),
		profile_severity_name((enum profile_severity)p->severity),
		p->file);
	if (p->line)
		json_put_u64(j, "line", p->line);
	else
		json_null(json_key(j, "line"));
	json_putf(j, "detail %s why %s fix %s fixable %d }", p->detail,
		profile_problem_why(code), p->fix, p->fixable);
}

static void doctor_json(const struct profile_problems *p,
	const struct profile_facts *f, const struct profile_who *who)
{
	autobuf struct buf out = BUF_INIT(8 << 20);
	autofree struct confinement *c = profile_alloc(sizeof *c);
	struct confinement_source source = {
		.root = "", .env = profile_environ()};
	struct json j = profile_json_begin(&out);

	profile_facts_json(&j, f, who);
	if (c) {
		confinement_detect(&source, c);
		json_key(&j, "sandbox");
		confinement_json(&j, c);
	}
	json_put_open(&j, "problems", '[');
	for (size_t i = 0; i < p->count; i++)
		problem_json(&j, problem_ranked(p, i));
	json_putf(&j, "] changes [ ]");
	cli_print_json(&j);
}

static void doctor_text(
	const struct profile_problems *p, const struct profile_opts *o)
{
	static const char colours[][5] = {"2", "33", "31", "1;31"};
	autobuf struct buf out = BUF_INIT(4 << 20);
	bool colour = cli_colour(1);

	for (size_t i = 0; i < p->count; i++) {
		const struct profile_problem *one = problem_ranked(p, i);
		enum profile_problem_code code =
			(enum profile_problem_code)one->code;

		if (o->quiet && one->severity == SEVERITY_INFO)
			continue;
		buf_addf(&out,
			"%s%s%s %s: ", cli_sgr(colour, colours[one->severity]),
			profile_severity_name(
				(enum profile_severity)one->severity),
			cli_sgr(colour, "0"), profile_problem_name(code));
		cli_escape_str(&out, one->file);
		if (one->line)
			buf_addf(&out, ":%u", one->line);
		profile_shown(&out, one->file[0] ? ": " : "", one->detail, "");
		buf_addf(&out, "\n    why: %s", profile_problem_why(code));
		profile_shown(&out, "\n    fix: ", one->fix, "\n");
	}
	if (!profile_problems_any(p) && !o->quiet)
		buf_adds(&out, "no problem was found\n");
	if (p->lost)
		buf_addf(&out, "and %zu more\n", p->lost);
	cli_print(&out);
}

int profile_verb_doctor(void *into, int argc, char **argv)
{
	struct profile_opts *o = into;
	struct profile_who who;
	autofree struct profile_facts *facts = profile_alloc(sizeof *facts);
	autoclean(profile_problems_release) struct profile_problems problems = {
		0};

	profile_who_find(&who, o);
	profile_who_parents(&who);
	profile_doctor_find(
		&problems, facts, &who, o, argc > 1 ? argc - 1 : 0, argv + 1);
	if (o->json)
		doctor_json(&problems, facts, &who);
	else
		doctor_text(&problems, o);
	profile_facts_release(facts);
	return profile_problems_any(&problems) ? EXIT_FOUND : EXIT_OK;
}
