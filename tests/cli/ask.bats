#!/usr/bin/env bats
# Questions: who is asked, for how long, and what goes on meanwhile

bats_require_minimum_version 1.5.0
load ../lib/wardbox

setup() {
	project
	printf 'all:\n\t@echo made it\n' >Makefile
	exec </dev/null
	cat >drive.py <<-'EOP'
		# drive.py TEXT-AHEAD STEP... -- COMMAND...: a command on a terminal.
		# A STEP is "see TEXT", "type TEXT", or "grow FILE": wait until that
		# has five lines more than now. Prints the screen, then "code=N".
		import os, pty, select, sys, time
		at = sys.argv.index("--")
		ahead, steps, command = sys.argv[1], sys.argv[2:at], sys.argv[at + 1:]
		pid, tty = pty.fork()
		if pid == 0:
		    os.execvp(command[0], command)
		os.write(tty, ahead.encode().decode("unicode_escape").encode())
		screen = b""
		def more(wait):
		    global screen
		    if not select.select([tty], [], [], wait)[0]:
		        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
		    try:
		        got = os.read(tty, 65536)
		    except OSError:
		        got = b""
		    screen += got
		    return bool(got)
		def lines(name):
		    return open(name).read().count("\n") if os.path.exists(name) else 0
		seen, end = 0, time.time() + 40
		for step in steps:
		    verb, _, text = step.partition(" ")
		    start = lines(text) if verb == "grow" else 0
		    while time.time() < end:
		        if verb == "type":
		            os.write(tty, text.encode().decode("unicode_escape").encode())
		            break
		        if verb == "grow" and lines(text) >= start + 5:
		            break
		        at = screen.find(text.encode(), seen) if verb == "see" else -1
		        if at >= 0:
		            seen = at + len(text)
		            break
		        if not more(0.1):
		            break
		    else:
		        print("NEVER:", step)
		while time.time() < end and more(1):
		    pass
		if time.time() >= end:
		    print("NEVER: the end")
		    os.kill(pid, 9)
		print(screen.decode(errors="replace"))
		print("code=%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	EOP
}

drive() { # POLICY ARGUMENT...
	need python3 -c 'import pty'
	local policy=$1
	shift
	run in_policy "$policy" python3 drive.py "$@"
	echo "$output"
	[[ $output != *NEVER:* ]]
}

g() { # POLICY LINE
	run in_policy "$1" "$WARDBOX" sh -c "$2"
}

@test "never: what would ask is denied, says so, and how to go on" {
	local policy=$'include default\nuse DEV\nprofile DEV ask=never'
	g "$policy" 'make'
	[ "$status" -eq 126 ]
	[[ ${lines[0]} == "wardbox sh: denied: make needs a yes and the policy asks nobody: no rule speaks of make (rule unknown)" ]]
	[[ ${lines[1]} == "  'allow make **' in /etc/wardbox/policy needs no yes" ]]
	# On a terminal, too, before it runs and when it starts.
	drive "$policy" 'y\n' 'see asks nobody' -- "$WARDBOX" sh -c make
	[[ $output == *"code=126"* && $output != *"Run it"* ]]
	drive "$policy" '' 'type m=$(echo make); $m\n' 'see asks nobody' \
		'type exit\n' -- "$WARDBOX" dash
	[[ $output != *"Run it"* && $output != *"made it"* ]]
	# What asks nothing runs.
	g "$policy" 'echo fine'
	[ "$output" = fine ]
	run in_policy "$policy" "$WARDBOX" audit dump -o json
	jq -es '[.[] | select(.type == "event" and .event == "ask") | .detail.answer] |
		index("never") != null' <<<"$output" || { echo "$output" | grep ask && false; }
}

@test "approver: nobody answers yet, and that is the reason" {
	local policy=$'include default\nuse DEV\nprofile DEV ask=approver'
	drive "$policy" '' 'see nobody answers' -- "$WARDBOX" sh -c make
	[[ $output == *"denied: make needs an approver's yes and nobody answers"* ]]
	[[ $output == *"code=126"* && $output != *"Run it"* ]]
}

@test "a lower layer asks fewer, and never more" {
	mkdir .wardbox
	echo 'profile DEV ask=never' >.wardbox/policy
	g 'use DEV' 'make'
	[[ $output == *"the policy asks nobody"* ]]
	echo 'profile DEV ask=tty' >.wardbox/policy
	g $'include default\nuse DEV\nprofile DEV ask=never' 'make'
	[[ $output == *"the policy asks nobody"* ]]
	echo 'profile DEV ask-time=9s' >.wardbox/policy
	drive $'include default\nuse DEV\nprofile DEV ask-time=1s' '' 'see nobody answered in 1 s' \
		-- "$WARDBOX" sh -c make
	rm -r .wardbox
	for bad in ask=me ask= ask-time=0 ask-time=1w ask-time=-1s; do
		g $'include default\nuse DEV\nprofile DEV '"$bad" ':'
		[ "$status" -eq 125 ]
		[[ $output == *"broken: /etc/wardbox/policy:3: "* ]]
	done
	for name in ci image; do
		run in_policy "include $name" "$WARDBOX" sh -c 'poweroff; passwd'
		[ "$status" -eq 126 ]
	done
}

@test "what was typed before the question is no answer, and no answer is a no" {
	local policy=$'include default\nuse DEV\nprofile DEV ask-time=2s'
	drive "$policy" 'y\ny\nyes\n' 'see Run it?' 'see nobody answered in 2 s' \
		-- "$WARDBOX" sh -c make
	[[ $output == *"(nobody answered in time)"* ]]
	[[ $output == *"denied: make needs a person's yes and nobody answered in 2 s: no rule speaks of make (rule unknown)"* ]]
	[[ $output == *"code=126"* && $output != *"made it"* ]]
	# Of a program that the shell starts, too, and the shell goes on.
	drive "$policy" '' 'type m=$(echo make); $m; echo af""ter\n' 'see Run it?' \
		'see nobody answered in 2 s' 'see after' 'type exit\n' \
		-- "$WARDBOX" dash
	[[ $output != *"made it"* ]]
	# A person's answer is one.
	drive 'use DEV' '' 'see Run it?' 'type y\n' 'see made it' -- "$WARDBOX" sh -c make
	[[ $output == *"code=0"* ]]
	drive 'use DEV' '' 'see Run it?' 'type \003' 'see not confirmed' -- "$WARDBOX" sh -c make
	[[ $output == *"code=-2"* ]]
	run in_policy 'use DEV' "$WARDBOX" audit dump -o json
	jq -es '[.[] | select(.type == "event" and .event == "ask") | .detail.answer] |
		index("timeout") != null and index("no") != null' <<<"$output" ||
		{ echo "$output" | grep ask && false; }
}

@test "who is not in front of the terminal is not asked" {
	# In the background of a shell with job control.
	drive 'use DEV' '' "type \"$WARDBOX\" sh -c make & wait\\n" \
		'see no terminal to ask on' 'type exit\n' -- dash -i
	[[ $output != *"Run it"* ]]
}

@test "while a question waits all other programs go on" {
	# head is a program each time, and each start is judged.
	drive 'use DEV' '' \
		'type (while [ ! -e stop ]; do head -n 1 Makefile >>log; done) &\n' 'grow log' \
		'type make\n' 'see Run it?' 'grow log' 'grow log' 'type y\n' 'see made it' \
		'type make -s\n' 'see Run it?' 'grow log' 'type n\n' 'see not confirmed' \
		'type echo >stop; wait; exit\n' -- "$WARDBOX" dash
	[[ $output == *"made it"*"not confirmed: make -s"* ]]
}

@test "questions come one after the other, and a script asks for what it is" {
	printf '#!/usr/bin/make -f\nall:\n\t@echo script ran\n' >it
	chmod 755 it
	# Both sides of a pipe ask; each gets its own answer.
	drive 'use DEV' '' 'type a=$(echo make); $a -s | $a -k\n' 'see Run it?' \
		'type y\n' 'see Run it?' 'type n\n' 'see not confirmed' \
		'type ./it\n' 'see Run it?' 'type y\n' 'see script ran' 'type exit\n' -- "$WARDBOX" dash
	[ "$(grep -c 'not confirmed' <<<"$output")" -eq 1 ]
}
