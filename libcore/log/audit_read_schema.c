/* audit_read_schema.c - the keys, types and words of a record
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "log/audit_read_json.h"
#include "base/str.h"

const struct audit_key_info audit_keys[] = {
	{AUDIT_K_TYPE, AUDIT_FORM_TYPE, "type",
		"uint; header start io end event ckpt recover pruned"},
	{AUDIT_K_SEQ, AUDIT_FORM_PLAIN, "seq", "uint; one more per record"},
	{AUDIT_K_WALL, AUDIT_FORM_TIME, "time", "uint; ns since 1970"},
	{AUDIT_K_BOOT, AUDIT_FORM_PLAIN, "boot_ns", "uint; ns since boot"},
	{AUDIT_K_SESSION, AUDIT_FORM_PLAIN, "session", "bstr 16"},
	{AUDIT_K_EXEC, AUDIT_FORM_PLAIN, "exec",
		"uint; seq of the command's start"},
	{AUDIT_K_PID, AUDIT_FORM_PLAIN, "pid", "uint"},
	{AUDIT_K_PPID, AUDIT_FORM_PLAIN, "ppid", "uint"},
	{AUDIT_K_ARGV, AUDIT_FORM_TEXT, "argv", "[+ text]"},
	{AUDIT_K_CWD, AUDIT_FORM_TEXT, "cwd", "text"},
	{AUDIT_K_EXE, AUDIT_FORM_TEXT, "exe", "text; the program's file"},
	{AUDIT_K_DECISION, AUDIT_FORM_DECISION, "decision",
		"0..4; allow deny confirm redirect open"},
	{AUDIT_K_NAME, AUDIT_FORM_TEXT, "session_name", "text"},
	{AUDIT_K_RULE, AUDIT_FORM_TEXT, "rule", "text; that decided"},
	{AUDIT_K_POLICY, AUDIT_FORM_PLAIN, "policy_sha256", "bstr 32"},
	{AUDIT_K_ENV, AUDIT_FORM_TEXT, "env", "{* text => text}; kept"},
	{AUDIT_K_EXIT, AUDIT_FORM_PLAIN, "exit", "int; -1: none"},
	{AUDIT_K_SIGNAL, AUDIT_FORM_PLAIN, "signal", "uint"},
	{AUDIT_K_DURATION, AUDIT_FORM_PLAIN, "duration_ns", "uint"},
	{AUDIT_K_USAGE, AUDIT_FORM_USAGE, "usage",
		"[6*12 uint]; utime_us stime_us maxrss_kib minflt majflt"
		" inblock oublock nvcsw nivcsw"},
	{AUDIT_K_STREAM, AUDIT_FORM_STREAM, "stream",
		"0..6; stdin stdout stderr ttyin ttyout winsize signal"},
	{AUDIT_K_AT, AUDIT_FORM_PLAIN, "at_ns", "uint; since the start"},
	{AUDIT_K_DATA, AUDIT_FORM_DATA, "data", "bstr; redacted"},
	{AUDIT_K_GAP, AUDIT_FORM_PLAIN, "gap", "uint; bytes left out before"},
	{AUDIT_K_TOTALS, AUDIT_FORM_TOTALS, "streams",
		"{* stream => [total, kept, ? sha256 of all, redacted]}; no sum"
		" where not all was looked at"},
	{AUDIT_K_REDACTED, AUDIT_FORM_PLAIN, "redacted",
		"{* kind => uint}; how often"},
	{AUDIT_K_FLAGS, AUDIT_FORM_FLAGS, "flags",
		"uint; 1 truncated, 2 timeout, 4 out of memory, 8 killed"},
	{AUDIT_K_ROLLBACK, AUDIT_FORM_TEXT, "rollback", "any"},
	{AUDIT_K_REASON, AUDIT_FORM_TEXT, "reason", "text"},
	{AUDIT_K_EVENT, AUDIT_FORM_TEXT, "event", "text"},
	{AUDIT_K_DETAIL, AUDIT_FORM_PLAIN, "detail", "any"},
	{AUDIT_K_PAYLOAD, AUDIT_FORM_PAYLOAD, "checkpoint",
		"bstr .cbor; epoch first last link aggregate next_key time"},
	{AUDIT_K_SIGNATURE, AUDIT_FORM_PLAIN, "signature", "bstr 64; r s"},
	{AUDIT_K_PROTECTED, AUDIT_FORM_PLAIN, "protected",
		"bstr; COSE header {1: -7}"},
	{AUDIT_K_PK, AUDIT_FORM_PLAIN, "public_key", "bstr 65"},
	{AUDIT_K_LOG, AUDIT_FORM_PLAIN, "log_id", "bstr 16"},
	{AUDIT_K_PREV, AUDIT_FORM_PLAIN, "previous_link", "bstr 32"},
	{AUDIT_K_LOST, AUDIT_FORM_LOST, "lost",
		"[why, expected, found, bytes, sha256, sample]"},
	{AUDIT_K_FMT, AUDIT_FORM_PLAIN, "format", "uint; 1"},
	{AUDIT_K_INCOMPAT, AUDIT_FORM_PLAIN, "incompatible", "uint; bits"},
	{AUDIT_K_BOOT_ID, AUDIT_FORM_PLAIN, "boot_id", "bstr 16"},
	{AUDIT_K_HOST, AUDIT_FORM_TEXT, "host", "text"},
	{AUDIT_K_PRUNED, AUDIT_FORM_PRUNED, "pruned",
		"[+ [first, last, link]]; segments deleted"},
	{AUDIT_K_EPOCH, AUDIT_FORM_PLAIN, "epoch", "uint"},
};
const unsigned audit_keys_count = ARRAY_SIZE(audit_keys);

const struct audit_key_info *audit_key_info(int64_t key)
{
	for (size_t i = 0; i < ARRAY_SIZE(audit_keys); i++)
		if (audit_keys[i].key == key)
			return &audit_keys[i];
	return NULL;
}

static const char *const types[] = {"header", "start", "io", "end", "event",
	"ckpt", "recover", "pruned"};
static const char *const decisions[] = {"allow", "deny", "confirm", "redirect",
	"open"};
static const char *const streams[] = {
	"stdin", "stdout", "stderr", "ttyin", "ttyout", "winsize", "signal"};

static const char *word_name(const char *const *words, size_t n, uint64_t i)
{
	return i < n ? words[i] : "unknown";
}

static int word_find(const char *const *words, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(words[i], name))
			return (int)i;
	return -EINVAL;
}

const char *audit_type_name(uint64_t type)
{
	return type == AUDIT_PURGED ? "purged"
				    : word_name(types, ARRAY_SIZE(types), type);
}

const char *audit_decision_name(uint64_t decision)
{
	return word_name(decisions, ARRAY_SIZE(decisions), decision);
}

const char *audit_stream_name(uint64_t stream)
{
	return word_name(streams, ARRAY_SIZE(streams), stream);
}

int audit_stream_parse(const char *name)
{
	return word_find(streams, ARRAY_SIZE(streams), name);
}

int audit_decision_parse(const char *name)
{
	return word_find(decisions, ARRAY_SIZE(decisions), name);
}
