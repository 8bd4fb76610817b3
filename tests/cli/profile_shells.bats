#!/usr/bin/env bats
# profile: what is written, run by every shell that is here.

bats_require_minimum_version 1.5.0
load ../lib/wardbox

setup() {
	profile_home
	# Everything a word can hold that some shell gives a meaning to.
	ODD='/opt/a  b/-q"$HOME`id`$(id)\e'"'"'!!;!x #~%^&|<>(x)=@,+'
	GLOB='/*[x]{a,b}?'
	ATTACK=$BATS_TEST_TMPDIR/ran
}

# say SHELL FILE NAME: the variable after the file was read twice, by a shell
# that reads nothing else.
say() {
	local sh=$1 f=$2 n=$3
	set -- env -i "HOME=$HOME" PATH=/usr/bin:/bin LC_ALL=C.UTF-8 "XDG_CACHE_HOME=$HOME/c" \
		"XDG_DATA_HOME=$HOME/d" "XDG_CONFIG_HOME=$HOME/x"
	case $sh in
	fish) "$@" fish --no-config -c "source $f; source $f; printenv $n" ;;
	tcsh) "$@" tcsh -f -c "source $f; source $f; printenv $n" ;;
	busybox) "$@" busybox ash -uc ". $f; . $f; printenv $n" ;;
	elvish) "$@" elvish -norc -c "$(cat "$f" "$f"); e:printenv $n" ;;
	xonsh) "$@" xonsh --no-rc -c "$(cat "$f" "$f")
print(__xonsh__.env.detype()['$n'])" ;;
	zsh) "$@" zsh -fuc ". $f; . $f; printenv $n" ;;
	bash) "$@" bash --norc -uc ". $f; . $f; printenv $n" ;;
	*) "$@" "$sh" -uc ". $f; . $f; printenv $n" ;;
	esac
}

# The kind wardbox knows the program by.
kind() {
	case $1 in
	busybox) echo ash ;;
	yash) echo sh ;;
	*) echo "$1" ;;
	esac
}

twice() { # SHELL: prepend two, append one, set one; each counts once.
	local sh=$1 k odd=$ODD f=$BATS_TEST_TMPDIR/f.$1 last=/opt/l
	k=$(kind "$sh")
	case $sh in
	xonsh) odd=${odd//\$/} ;; # expands it, and says so
	elvish | tcsh) ;;
	yash) odd=$odd$GLOB$'\xc3\xa9' ;; # reads no file that is no UTF-8
	*) odd=$odd$GLOB$'\xff\xc3\xa9' ;;
	esac
	[ "$sh" != tcsh ] || odd=${odd//\\/} # its guard is a glob
	profile print --shell "$k" "$odd" '$HOME/c d' >"$f"
	profile print --shell "$k" --append "$last" >>"$f"
	profile print --shell "$k" "V=$odd" 'H=$HOME/go' >>"$f"
	[ "$(say "$sh" "$f" PATH)" = "$odd:$HOME/c d:/usr/bin:/bin:$last" ] ||
		{ echo "$sh PATH: $(say "$sh" "$f" PATH)"; return 1; }
	[ "$(say "$sh" "$f" V)" = "$odd" ] || { echo "$sh V: $(say "$sh" "$f" V)"; return 1; }
	[ "$(say "$sh" "$f" H)" = "$HOME/go" ] || { echo "$sh H"; return 1; }
	echo "$sh"
}

@test "sh, bash, dash, ash, zsh, mksh, ksh93, yash: twice is once, byte for byte" {
	for sh in sh bash dash busybox zsh mksh ksh yash; do
		need command -v $sh
		twice $sh
	done
}

@test "fish and tcsh: twice is once, byte for byte" {
	for sh in fish tcsh; do
		need command -v $sh
		twice $sh
	done
}

@test "elvish and xonsh: twice is once, byte for byte" {
	for sh in elvish xonsh; do
		need command -v $sh
		twice $sh
	done
}

@test "what a shell cannot hold is refused, not written wrong" {
	run -2 profile print --shell xonsh '/opt/$HOME'
	[[ "$output" == *expands* ]]
	run -0 profile print --shell xonsh 'A=$x'
	run -2 profile print --shell tcsh '/opt/a*'
	run -2 profile print --shell tcsh '/opt/\a'
	run -0 profile print --shell tcsh '/opt/a!'
}

# As their documentation has it; neither is packaged everywhere.
@test "nushell and PowerShell: the lines, exact" {
	run -0 profile print --shell nu '/o "$x`\' 'A=b"\c'
	[ "${lines[0]}" = '$env.PATH = ($env.PATH | split row (char esep) | prepend "/o \"$x`\\" | uniq)' ]
	[ "${lines[1]}" = '$env.A = "b\"\\c"' ]
	run -0 profile print --shell nu --append /o
	[ "$output" = '$env.PATH = ($env.PATH | split row (char esep) | append "/o" | uniq)' ]
	run -0 profile print --shell pwsh "/o'\$x\`" "A=b'c"
	[ "${lines[0]}" = "if ((\$env:PATH -split ':') -cnotcontains '/o''\$x\`') { \$env:PATH = '/o''\$x\`' + \$(if (\$env:PATH) { ':' + \$env:PATH }) }" ]
	[ "${lines[1]}" = "\$env:A = 'b''c'" ]
	for sh in nu pwsh; do
		command -v $sh >/dev/null || continue
		f=$BATS_TEST_TMPDIR/f
		profile print --shell $sh /opt/x >"$f"
		case $sh in
		nu) out=$(nu -n -c "$(cat "$f" "$f"); print (\$env.PATH | first)") ;;
		pwsh) out=$(pwsh -NoProfile -Command "$(cat "$f" "$f"); \$env:PATH") ;;
		esac
		[[ "$out" == /opt/x* ]]
	done
}

@test "nothing in a name is run, in any shell" {
	for evil in "/opt/\$(touch $ATTACK)" "/opt/\`touch $ATTACK\`" "/opt/';touch $ATTACK;'" \
		"/opt/\";touch $ATTACK;\"" "/opt/x;touch $ATTACK" "/opt/x & touch $ATTACK" \
		"/opt/)(touch $ATTACK)" "/opt/x | touch $ATTACK"; do
		for sh in sh bash dash busybox zsh mksh ksh yash fish tcsh elvish xonsh; do
			command -v $sh >/dev/null || continue
			profile print --shell "$(kind $sh)" "$evil" "V=$evil" >"$HOME/f" 2>/dev/null || continue
			say $sh "$HOME/f" V >/dev/null 2>&1 || true
			[ ! -e "$ATTACK" ] || { echo "$sh ran $evil"; false; }
		done
	done
}

@test "the files a login and an interactive shell read have the line" {
	for sh in bash dash zsh mksh ksh fish tcsh; do
		need command -v $sh
		rm -rf "$HOME" && mkdir "$HOME"
		SHELL=$(command -v $sh) profile add -q -y --no-exec "/opt/of $sh"
		SHELL=$(command -v $sh) profile detect --json >"$BATS_TEST_TMPDIR/j"
		jq -e --arg d "/opt/of $sh" '[.sessions.login_interactive, .sessions.login_noninteractive]
			| all(.path | index($d))' "$BATS_TEST_TMPDIR/j" || { echo $sh; false; }
		[ $sh = dash ] || jq -e --arg d "/opt/of $sh" \
			'.sessions.nonlogin_interactive.path | index($d)' "$BATS_TEST_TMPDIR/j" ||
			{ echo $sh; false; }
	done
}

@test "homes with odd names are written as \$HOME and found again" {
	for sh in bash zsh mksh fish tcsh; do
		need command -v $sh
		HOME="$BATS_TEST_TMPDIR/h \$x\`y\"'!;&" && mkdir -p "$HOME"
		profile print --shell $sh '~/b n' >"$BATS_TEST_TMPDIR/f"
		grep -q 'HOME' "$BATS_TEST_TMPDIR/f"
		[ "$(say $sh "$BATS_TEST_TMPDIR/f" PATH)" = "$HOME/b n:/usr/bin:/bin" ] ||
			{ say $sh "$BATS_TEST_TMPDIR/f" PATH; echo $sh; false; }
	done
}
