#!/usr/bin/env bats
# The front door: names, lists, links, completions, bad input.

bats_require_minimum_version 1.5.0
load ../lib/wardbox

# Runs COMMAND... with argv[0] set to NAME.
as_name() {
	local name=$1
	shift
	(exec -a "$name" "$WARDBOX" "$@")
}

@test "alone it lists the applets" {
	run "$WARDBOX"
	[ "$status" -eq 0 ]
	[[ "$output" == Usage:* ]]
	[[ "$output" == *doctor* ]]
	run "$WARDBOX" --list
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -gt 0 ]
}

@test "--list --json is JSON and has the same applets" {
	"$WARDBOX" --list --json | jq -e 'all(.[]; .name and .about and .aliases)'
	[ "$("$WARDBOX" --list --json | jq -r '.[].name')" = \
		"$("$WARDBOX" --list | cut -d' ' -f1)" ]
}

@test "--version tells version, commit, applets and limits" {
	run "$WARDBOX" --version
	[[ "$output" == "wardbox "*"applets:"*"limits:"* ]]
	"$WARDBOX" --version --json |
		jq -e '.version and .commit and .applets and .limits.line'
}

@test "an unknown applet is 127 and names near ones" {
	run "$WARDBOX" docter
	[ "$status" -eq 127 ]
	[[ "$output" == *"near: doctor"* ]]
	run as_name something-else
	[ "$status" -eq 127 ]
}

@test "a path is no applet" {
	run "$WARDBOX" /bin/doctor
	[ "$status" -eq 127 ]
}

@test "an unknown option is 2, one line, and says how to get help" {
	run "$WARDBOX" --nonsense
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"--help"* ]]
}

@test "help is a word, too, alone and before an applet" {
	run "$WARDBOX" help
	[ "$status" -eq 0 ]
	[ "$output" = "$("$WARDBOX" --help)" ]
	run "$WARDBOX" help session
	[ "$status" -eq 0 ]
	[ "$output" = "$("$WARDBOX" session --help)" ]
	run "$WARDBOX" help sh
	[ "$output" = "$("$WARDBOX" sh --help)" ]
	run -127 "$WARDBOX" help xsession
	[[ $output == *"no applet 'xsession' (near: session)"* ]]
}

@test "a mistyped option is told what is near it" {
	run "$WARDBOX" session --jsno
	[ "$status" -eq 2 ]
	[[ $output == *"unknown option --jsno (is --json meant?)"* ]]
	run "$WARDBOX" envrun --timout=3 -- true
	[ "$status" -eq 125 ]
	[[ $output == *"unknown option --timout (is --timeout meant?)"* ]]
	run "$WARDBOX" session --nowhere
	[ "$status" -eq 2 ]
	[[ $output == *"unknown option --nowhere;"* ]]
	run "$WARDBOX" session --=x
	[ "$status" -eq 2 ]
	[[ $output == *"unknown option --;"* ]]
}

@test "an empty directory or file name is not what comes without the option" {
	local args
	for args in 'install --root= --status' 'profile --home= detect' \
		'session --cwd= create' 'policy --batch= test' 'audit --dir=' \
		'profile --backup-dir= -n add /opt/x'; do
		# shellcheck disable=SC2086 # words
		run "$WARDBOX" $args
		[ "$status" -eq 2 ]
		[[ $output == *" needs a "*", not an empty name"* ]]
	done
	run "$WARDBOX" install --root "" --status
	[ "$status" -eq 2 ]
	[[ $output == *"--root needs a DIR"* ]]
	run "$WARDBOX" exec -C "" -- true
	[ "$status" -eq 125 ]
	[[ $output == *"-C needs a DIR"* ]]
	# A name of nothing is one.
	run "$WARDBOX" exec --argv0 "" -- true
	[[ $output != *"needs a"* ]]
}

@test "abbreviated options are refused, naming the whole" {
	run "$WARDBOX" --vers
	[ "$status" -eq 2 ]
	[[ "$output" == *"is --version meant?"* ]]
}

@test "every applet has --help within 80 columns, with an example" {
	local applet
	for applet in $("$WARDBOX" --list | cut -d' ' -f1); do
		case $applet in auto-shebang) continue ;; esac
		run "$WARDBOX" "$applet" --help
		[ "$status" -eq 0 ] || { echo "$applet"; false; }
		[[ "$output" == *Usage:* ]] || { echo "$applet"; false; }
		[[ "$output" == *Example* ]] || { echo "$applet"; false; }
		awk 'length($0) > 80 { exit 1 }' <<<"$output" || { echo "$applet is wide"; false; }
	done
}

@test "symlink names, path names and wardbox NAME are one applet" {
	links doctor wardbox
	"$LINKS/doctor" --help >"$BATS_TEST_TMPDIR/a"
	"$WARDBOX" doctor --help >"$BATS_TEST_TMPDIR/b"
	"$LINKS/wardbox" doctor --help >"$BATS_TEST_TMPDIR/c"
	cmp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
	cmp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/c"
}

@test "--install-links makes a link per name and never replaces a file" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	echo mine >"$BATS_TEST_TMPDIR/bin/audit"
	run "$WARDBOX" --install-links "$BATS_TEST_TMPDIR/bin"
	[ "$status" -eq 1 ]
	[ "$(cat "$BATS_TEST_TMPDIR/bin/audit")" = mine ]
	[ "$(readlink "$BATS_TEST_TMPDIR/bin/doctor")" = "$WARDBOX" ]
	rm "$BATS_TEST_TMPDIR/bin/audit"
	run "$WARDBOX" --install-links "$BATS_TEST_TMPDIR/bin"
	[ "$status" -eq 0 ]
	[ ! -e "$BATS_TEST_TMPDIR/bin/auto-*" ]
	"$BATS_TEST_TMPDIR/bin/doctor" --help
}

@test "--install-links --hard and --dry-run" {
	mkdir "$O/test/hard.$$"
	run "$WARDBOX" --install-links "$O/test/hard.$$" --dry-run
	[ "$status" -eq 0 ]
	[ -z "$(ls "$O/test/hard.$$")" ]
	echo mine >"$O/test/hard.$$/sh"
	run "$WARDBOX" --install-links "$O/test/hard.$$" --dry-run
	[ "$status" -eq 1 ]
	[[ "$output" == *"hard.$$/sh: File exists"* ]]
	[[ "$output" != *"hard.$$/sh ->"* && "$output" == *"hard.$$/bash ->"* ]]
	rm "$O/test/hard.$$/sh"
	run "$WARDBOX" --install-links "$O/test/hard.$$" --hard
	[ "$status" -eq 0 ]
	[ "$O/test/hard.$$/doctor" -ef "$WARDBOX" ]
	rm -rf "$O/test/hard.$$"
	run "$WARDBOX" --install-links /no/such/dir
	[ "$status" -eq 1 ]
	[[ "$output" == *"/no/such/dir"* ]]
}

@test "completions parse in their shells and know the verbs" {
	"$WARDBOX" --completion bash >"$BATS_TEST_TMPDIR/c.bash"
	bash -n "$BATS_TEST_TMPDIR/c.bash"
	grep -q -- --json "$BATS_TEST_TMPDIR/c.bash"
	"$WARDBOX" --completion zsh >"$BATS_TEST_TMPDIR/c.zsh"
	zsh -n "$BATS_TEST_TMPDIR/c.zsh"
	"$WARDBOX" --completion fish >"$BATS_TEST_TMPDIR/c.fish"
	fish -n "$BATS_TEST_TMPDIR/c.fish"
	run "$WARDBOX" --completion tcsh
	[ "$status" -eq 2 ]
}

@test "completion in bash offers applets, then options" {
	eval "$("$WARDBOX" --completion bash)"
	COMP_WORDS=(wardbox doc) COMP_CWORD=1
	_wardbox
	[ "${COMPREPLY[*]}" = doctor ]
	COMP_WORDS=(wardbox doctor --js) COMP_CWORD=2
	_wardbox
	[ "${COMPREPLY[*]}" = --json ]
	COMP_WORDS=(wardbox --comp) COMP_CWORD=1
	_wardbox
	[ "${COMPREPLY[*]}" = --completion ]
}

@test "completion in fish: applets, verbs, options, what they are for" {
	local word want
	"$WARDBOX" --completion fish >"$BATS_TEST_TMPDIR/c.fish"
	ln -s "$WARDBOX" "$BATS_TEST_TMPDIR/wardbox"
	while IFS='|' read -r word want; do
		run env PATH="$BATS_TEST_TMPDIR:$PATH" HOME="$BATS_TEST_TMPDIR" \
			fish -c "source '$BATS_TEST_TMPDIR/c.fish'; complete -C 'wardbox $word'"
		[[ "$output" == "$want"* ]] || { echo "$word: $output"; false; }
	done <<-'END'
		doct|doctor	what
		doctor --js|--json	print
		audit veri|verify	is the log
		audit --outp|--output	short, short-iso
		--compl|--completion	print
	END
}

@test "completion in zsh: applets, verbs, options" {
	local word want
	"$WARDBOX" --completion zsh >"$BATS_TEST_TMPDIR/c.zsh"
	while IFS='|' read -r word want; do
		# compadd(1) works within a widget alone; what it is given is what counts
		run zsh -fc 'compdef() { :; }; _files() { :; }
			compadd() { shift; print -l -- "$@"; }
			source "$1"; words=(wardbox ${=2}); CURRENT=$#words; _wardbox' \
			_ "$BATS_TEST_TMPDIR/c.zsh" "$word"
		[[ $'\n'"$output"$'\n' == *$'\n'"$want"$'\n'* ]] || { echo "$word: $output"; false; }
	done <<-'END'
		d|doctor
		doctor -|--json
		audit v|verify
		-|--completion
	END
}

@test "argc of 0 ends with a message" {
	python3 - "$WARDBOX" <<-'P'
		import ctypes, os, sys
		pid = os.fork()
		if pid == 0:
		    libc = ctypes.CDLL(None)
		    empty = (ctypes.c_char_p * 1)(None)
		    libc.execve(sys.argv[1].encode(), empty, empty)
		    os._exit(99)
		code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
		# Linux puts an empty string where there was nothing.
		sys.exit(0 if code in (125, 127) else 1)
	P
}

@test "closed standard descriptors do not crash it" {
	run bash -c '"$1" --list <&- >&- 2>&-' _ "$WARDBOX"
	[ "$status" -eq 1 ]
	run bash -c '"$1" --version <&-' _ "$WARDBOX"
	[ "$status" -eq 0 ]
}

@test "a full device is an error, a reader that went away is none to tell" {
	run bash -c '"$1" --list >/dev/full' _ "$WARDBOX"
	[ "$status" -eq 1 ]
	[[ "$output" == *"No space left"* ]]
	# 1 could be the code of a command that ran.
	for how in "drop --dry-run -- true" "envrun --help" "exec --json a/ -- true"; do
		run bash -c '"$1" $2 >/dev/full' _ "$WARDBOX" "$how"
		[ "$status" -eq 125 ]
	done
	run bash -c '"$1" --completion fish | true'  _ "$WARDBOX"
	[ -z "$output" ]
}

@test "a device, a pipe or a descriptor that is named for output stays what it is" {
	need unshare -m true
	cd "$BATS_TEST_TMPDIR"
	mkdir log .git
	install -m 600 "$TOP"/tests/data/audit/sample/* log
	chmod 700 log
	echo old >kept
	ln -s kept link2
	# With a /dev of its own: root could have lost its /dev/null.
	# shellcheck disable=SC2016 # expanded by the inner shell
	run in_policy 'use OBSERVE' sh -c '
		mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 &&
		mknod -m 666 /dev/full c 1 7 && mknod -m 666 /dev/urandom c 1 9 &&
		ln -s /proc/self/fd/1 /dev/stdout && mkfifo pipe && ln -s /dev/null link &&
		"$1" policy export >whole || exit 99
		for to in /dev/null link; do
			"$1" policy export --output $to || exit 1
			"$1" policy init --write $to && exit 2
			"$1" drop --learn=$to -- true || exit 3
			"$1" audit --dir log report --html $to || exit 4
			[ -L link ] && [ -c /dev/null ] || exit 5
		done
		"$1" policy export --output /dev/full && exit 6
		"$1" policy compile --output /dev/full && exit 7
		"$1" policy export --output /dev/stdout | cmp - whole || exit 8
		"$1" policy export --output /dev/stdout >file && cmp file whole || exit 9
		"$1" audit --dir log report --html /dev/stdout | grep -q "<html" || exit 10
		cat pipe >got & "$1" policy export --output pipe && wait && cmp got whole || exit 11
		"$1" policy export --output . && exit 12
		[ -c /dev/full ] && [ -L /dev/stdout ] && [ -p pipe ] || exit 13
		# A file is replaced whole, as ever, and a link to one not followed.
		"$1" policy export --output link2 && cmp link2 whole && grep -x old kept
		' - "$WARDBOX"
	[ "$status" -eq 0 ]
}

@test "what is not ready in a non-blocking pipe is waited for" {
	cd "$BATS_TEST_TMPDIR"
	"$WARDBOX" policy export >whole || [ -s whole ]
	cat >wait.py <<-'END'
		import fcntl, os, subprocess, sys, time
		box = sys.argv[1]
		def pipe(end):
		    fds = os.pipe()
		    fcntl.fcntl(fds[end], fcntl.F_SETFL, os.O_NONBLOCK)
		    return fds
		# Written to: more than it holds, read slowly.
		r, w = pipe(1)
		p = subprocess.Popen([box, 'policy', 'export'], stdout=w)
		os.close(w)
		time.sleep(0.2)
		got = b''
		while True:
		    piece = os.read(r, 1000)
		    if not piece:
		        break
		    got += piece
		assert p.wait() == 0 and got == open('whole', 'rb').read(), len(got)
		# Read from: before there is anything.
		for args, sent, want in (
		        (['policy', 'test', '-p', 'OBSERVE', '--batch', '-'],
		         [b'true\n', b'pwd\n'], b'pwd\n'),
		        (['audit', 'verify', '-'],
		         [open(sys.argv[2], 'rb').read()], b'intact')):
		    r, w = pipe(0)
		    p = subprocess.Popen([box] + args, stdin=r,
		                         stdout=subprocess.PIPE,
		                         stderr=subprocess.STDOUT)
		    os.close(r)
		    for piece in sent:
		        time.sleep(0.2)
		        os.write(w, piece)
		    os.close(w)
		    out = p.communicate()[0]
		    assert want in out, (args, out)
	END
	python3 wait.py "$WARDBOX" "$(echo "$TOP"/tests/data/audit/sample/*0.aud)"
}

@test "no HOME, no environment, odd bytes in arguments" {
	run env -i "$WARDBOX" --version
	[ "$status" -eq 0 ]
	run "$WARDBOX" $'\xff\xfe\n\e[31m'
	[ "$status" -eq 127 ]
}

@test "its malloc refuses what wraps, keeps bytes and gives zeros" {
	run "$HELPERS/allocator"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "its sort and fork keep the C library's promises" {
	run "$HELPERS/libc"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a word of any length leaves room for what is wrong with it" {
	local long
	long=$(printf 'w%.0s' {1..20000})
	project
	export HOME=$PROJECT
	run -127 "$WARDBOX" "$long"
	[ "$status" -eq 127 ]
	[[ $output == *"--list' names them all" ]]
	run "$WARDBOX" audit --since "$long"
	[ "$status" -eq 2 ]
	[[ $output == *"no time 'wwww"*"...www"*"': YYYY-MM-DD"* ]]
	run "$WARDBOX" profile add -n "$long"
	[ "$status" -eq 2 ]
	[[ $output == *"'wwww"*"...www"*"' is relative"* ]]
	run "$WARDBOX" drop --preset "$long" -- true
	[ "$status" -eq 125 ]
	[[ $output == *"www' is no preset"* ]]
	run "$WARDBOX" install --root "/$long"
	[ "$status" -eq 1 ]
	[[ $output == *"www"* && $output == *"too long"* ]]
}

@test "colour on a terminal that takes it, and no other byte because of it" {
	need command -v script
	project
	need in_policy '' "$WARDBOX" sh -c :
	HOME=$PROJECT in_policy '' "$WARDBOX" sh -c 'echo hi; /bin/false; curl http://x' || true
	HOME=$PROJECT in_policy '' "$WARDBOX" sh -c 'echo hi'
	echo 'export PATH=$PATH:/a::/b' >.bashrc
	shown() { # what a terminal gets from the applet in $args
		HOME=$PROJECT TERM=$1 in_policy '' script -qec "$WARDBOX $args" /dev/null |
			tr -d '\r'
	}
	local args plain
	for args in audit "audit verify" "audit stats" "policy test ls" \
		"policy explain 'ls; curl http://x'" "policy blocklist" doctor \
		"profile doctor --shell bash" "profile add -n --shell bash /opt/x"; do
		echo "$args"
		shown dumb >plain
		shown xterm >colour
		! grep -q $'\e' plain || false
		grep -q $'\e\[[0-9;]*m' colour
		sed 's/\x1b\[[0-9;]*m//g' colour | sed 's/█/#/g' | diff plain -
		NO_COLOR=1 shown xterm | diff plain -
	done
}
