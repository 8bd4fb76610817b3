#!/usr/bin/env bats
# auto-shebang: what the compatible script does to the letter, what it does
# wrong and we do not, and what it lacks.

load ../lib/wardbox

setup() {
	W=$BATS_TEST_TMPDIR/w
	mkdir -p "$W/p/bin" "$W/p/a/b" "$W/home/bin"
	W=$(cd "$W" && pwd -P)
	links auto-shebang auto-py
	AS=$LINKS/auto-shebang
	printf '#!/bin/sh\necho "interp $0"\nfor a; do echo "<$a>"; done\nexit 7\n' \
		>"$W/interp"
	chmod 755 "$W/interp"
	S=$W/p/a/b/s.py
	script '#!/usr/bin/env auto-py'
	unset HOME AUTO_SHEBANG_DEBUG
	cd "$W"
}

script() { # a line per argument
	printf '%s\n' "$@" >"$S"
}

there() { # PATH... beneath $W: usable candidates
	local p
	for p; do
		mkdir -p "$(dirname "$W/$p")"
		ln -sfn "$W/interp" "$W/$p"
	done
}

go() {
	code=0
	out=$("$@" 2>"$BATS_TEST_TMPDIR/err") || code=$?
	err=$(cat "$BATS_TEST_TMPDIR/err")
}

resolves() { # PATH beneath $W, "" for none; [VARIABLE=VALUE...]
	local want=$1
	shift
	go env "$@" "$AS" --resolve auto-py "$S"
	echo "code $code out $out err $err"
	if [ -n "$want" ]; then
		[ "$code" = 0 ]
		[ "$out" = "$W/$want" ]
		[ -z "$err" ]
	else
		[ "$code" = 127 ]
		[ -z "$out" ]
	fi
}

refuses() { # CODE TEXT [VARIABLE=VALUE...]: also when only asked to check
	local want=$1 text=$2
	shift 2
	for verb in --resolve --check --list; do
		go env "$@" "$AS" "$verb" auto-py "$S"
		echo "code $code out $out err $err"
		[ "$code" = "$want" ]
		[ "$err" = "auto-py: $text" ]
		[ "$verb" = --list ] || [ -z "$out" ]
	done
}

@test "the original's own tests, and random comparison, where it is at hand" {
	# AUTO_SHEBANG_ORIGINAL names a checkout; nothing of it is kept here.
	[ -n "${AUTO_SHEBANG_ORIGINAL-}" ] || return 0
	sh "$TOP/tests/lib/auto-shebang-suite" "$AUTO_SHEBANG_ORIGINAL" "$WARDBOX"
	python3 "$TOP/tests/lib/auto-shebang-diff.py" \
		"$AUTO_SHEBANG_ORIGINAL/auto-shebang" "$WARDBOX" 400
}

# --- the command line

@test "version, help, and nothing to do" {
	go "$AS" --version
	[ "$code $out" = "0 auto-shebang 1.0" ]
	go "$WARDBOX" auto-shebang --debug --debug --version
	[ "$code $out" = "0 auto-shebang 1.0" ]
	for arg in --help -h ""; do
		go "$AS" "$arg"
		[ "$code" = 0 ]
		[[ "$out" == "auto-shebang 1.0 -- "*--resolve*--check*--list*--init*--sh-lib*--debug*--json*--dry-run*--force* ]]
	done
	go "$AS"
	[ "$code" = 0 ]
	[[ "$out" == *--resolve* ]]
	go "$LINKS/auto-py"
	[ "$code" = 0 ]
	[[ "$out" == "auto-py (auto-shebang 1.0) -- interpreter resolver"* ]]
}

@test "unknown words are 2 and named" {
	go "$AS" --bogus
	[ "$code" = 2 ]
	[ "$err" = "auto-shebang: unknown flag: --bogus (use --resolve, --check, --help, or --version)" ]
	for arg in word -x -; do
		go "$AS" "$arg" --debug
		[ "$code" = 2 ]
		[ "$err" = "auto-shebang: unknown argument: $arg (use --resolve, --check, --help, or --version)" ]
	done
	for verb in --resolve --check; do
		go "$AS" --debug "$verb" x
		[ "$code" = 2 ]
		[ "$err" = "auto-shebang: usage: auto-shebang $verb <name> <script>" ]
	done
}

@test "the name is taken as it is, further operands are passed over" {
	there p/bin/--debug p/x/y
	go "$AS" --resolve --debug "$S" more --debug
	[ "$code $out$err" = "0 $W/p/bin/--debug" ]
	go "$AS" --resolve x/y "$S"
	[ "$code $out$err" = "0 $W/p/x/y" ]
	go "$AS" --resolve "" "$S"
	[ "$code" = 127 ]
	[[ "$err" == ": no interpreter found for: "* ]]
}

@test "an alias passes everything through and becomes the interpreter" {
	there p/bin/auto-py
	go "$LINKS/auto-py" p/a/b/s.py --help "a b" "" -- -n
	[ "$code" = 7 ]
	[ "$out" = "interp $W/p/bin/auto-py
<p/a/b/s.py>
<--help>
<a b>
<>
<-->
<-n>" ]
	go "$WARDBOX" auto-py p/a/b/s.py
	[ "$code" = 7 ]
	go "$LINKS/auto-py" --help
	[ "$code" = 127 ]
	[[ "$err" == "auto-py: no interpreter found for: --help"* ]]
}

@test "as the target of a first line, with env and without" {
	there p/bin/auto-py
	chmod 755 "$S"
	script "#!/usr/bin/env $LINKS/auto-py"
	go "$S" x
	[ "$code $out" = "7 interp $W/p/bin/auto-py
<$S>
<x>" ]
	script "#!$LINKS/auto-py"
	go "$S" x
	[ "$code $out" = "7 interp $W/p/bin/auto-py
<$S>
<x>" ]
}

@test "the interpreter gets the environment untouched" {
	printf '#!/bin/cat /proc/self/environ\n' >"$W/p/bin/auto-py"
	chmod 755 "$W/p/bin/auto-py"
	env -i B=2 A=1 "$LINKS/auto-py" "$S" >"$W/out"
	printf 'B=2\0A=1\0' >"$W/want"
	cat "$W/p/bin/auto-py" "$S" >>"$W/want"
	cmp "$W/out" "$W/want"
}

# --- directives

@test "directives: the last counts, empty resets, the value ends at white space" {
	there p/t/auto-py p/bin/auto-py
	script '# auto-shebang-probe-dirs=nowhere' '// auto-shebang-probe-dirs=t # x'
	resolves p/t/auto-py
	script '# auto-shebang-probe-dirs=t' '# auto-shebang-probe-dirs='
	resolves p/bin/auto-py
	script $'x auto-shebang-probe-dirs=t\ttail'
	resolves p/t/auto-py
	script $'auto-shebang-probe-dirs=t\r'
	resolves p/t/auto-py
	script $'auto-shebang-probe-dirs=t\r\r'
	resolves ""
	script $'auto-shebang-probe-dirs=t\vx'
	resolves ""
	script 'Auto-shebang-probe-dirs=t' 'auto-shebang-Probe-dirs=t'
	resolves p/bin/auto-py
	script 'auto-shebang-x=1 auto-shebang-probe-dirs=t'
	resolves p/bin/auto-py
	printf 'auto-\0shebang-probe-dirs=\0t' >"$S"
	resolves p/t/auto-py
	printf '\377\376auto-shebang-probe-dirs=t' >"$S"
	resolves p/t/auto-py
}

@test "directives count on the first thirty lines" {
	there p/t/auto-py
	script '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' \
		'' '' '' '' '' '' 'auto-shebang-probe-dirs=t'
	[ "$(wc -l <"$S")" = 30 ]
	resolves p/t/auto-py
	sed -i '1i\\' "$S"
	resolves ""
	# The thirtieth may be unterminated.
	sed -i 1d "$S"
	truncate -s -1 "$S"
	resolves p/t/auto-py
}

@test "directives: nonsense is 2 where it stands, even if mended later" {
	for key in follow-symlinks unsafe-expand-probe-dirs trust-env; do
		for bad in maybe "" YES 1 "'yes'"; do
			script "auto-shebang-$key=$bad" "auto-shebang-$key=yes"
			refuses 2 "invalid auto-shebang-$key: '$bad' (must be yes or no)"
		done
	done
	script auto-shebang-symlink-priority=first
	refuses 2 "invalid auto-shebang-symlink-priority: 'first' (must be real-first or symlink-first)"
}

@test "a script that cannot be read has no directives, and still resolves" {
	there p/bin/auto-py
	go "$AS" --resolve auto-py "$W/p/a/b/absent"
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
	go "$AS" --resolve auto-py "$W/p/a/b"
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
	mkfifo "$W/p/a/pipe"
	go timeout 5 "$AS" --resolve auto-py "$W/p/a/pipe"
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
	# What waits in a pipe is left there.
	exec 9<>"$W/p/a/pipe"
	echo 'auto-shebang-probe-dirs=nowhere' >&9
	go timeout 5 "$AS" --resolve auto-py "$W/p/a/pipe"
	exec 9>&-
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
	script 'auto-shebang-probe-dirs=nowhere'
	chmod 0 "$S"
	chmod 755 "$W" "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" || true
	cp "$WARDBOX" "$W/auto-shebang"
	need as_user test -x "$W/auto-shebang"
	go as_user "$W/auto-shebang" --resolve auto-py "$S"
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
	# A directory that one may not enter is as good as none.
	mkdir -m 0644 "$W/p/closed"
	go as_user "$W/auto-shebang" --resolve auto-py "$W/p/closed/s.py"
	[ "$code" = 127 ]
	[ "$err" = "auto-py: cannot resolve directory of: $W/p/closed/s.py" ]
}

# --- configuration

@test "environment over directive over default" {
	there p/t/auto-py p/bin/auto-py p/e/auto-py
	script auto-shebang-probe-dirs=t
	resolves p/t/auto-py AUTO_SHEBANG_PROBE_DIRS=
	resolves p/e/auto-py AUTO_SHEBANG_PROBE_DIRS=e
	script auto-shebang-probe-dirs=t auto-shebang-trust-env=no
	resolves p/t/auto-py AUTO_SHEBANG_PROBE_DIRS=e \
		AUTO_SHEBANG_FOLLOW_SYMLINKS=bad \
		AUTO_SHEBANG_OVERRIDE_EXE=/nowhere \
		AUTO_SHEBANG_SYMLINK_PRIORITY=bad
	script auto-shebang-probe-dirs=no auto-shebang-trust-env=no
	resolves "" AUTO_SHEBANG_FALLBACK_EXE="$W/interp"
	script auto-shebang-suffixes=x
	there p/bin/auto-py-x p/bin/auto-py-y
	resolves p/bin/auto-py-y AUTO_SHEBANG_SUFFIXES=y
}

@test "variables that say nonsense are 2" {
	for v in FOLLOW_SYMLINKS UNSAFE_EXPAND_PROBE_DIRS; do
		refuses 2 "invalid AUTO_SHEBANG_$v: 'yes' (must be 1 or 0)" \
			"AUTO_SHEBANG_$v=yes"
	done
	refuses 2 "invalid AUTO_SHEBANG_SYMLINK_PRIORITY: 'x' (must be real-first or symlink-first)" \
		AUTO_SHEBANG_SYMLINK_PRIORITY=x
}

@test "suffixes: order, bare name, empty ones" {
	there p/bin/auto-py-tertiary
	resolves p/bin/auto-py-tertiary
	there p/bin/auto-py-secondary
	resolves p/bin/auto-py-secondary
	there p/bin/auto-py-primary
	resolves p/bin/auto-py-primary
	there p/bin/auto-py
	resolves p/bin/auto-py
	script auto-shebang-suffixes=::secondary:
	resolves p/bin/auto-py
	script auto-shebang-suffixes=secondary:primary
	resolves p/bin/auto-py-secondary
	script auto-shebang-suffixes=:
	rm "$W/p/bin/auto-py"
	resolves ""
}

@test "probe-dirs: forms, order, and rooted ones on the first level alone" {
	there p/t/auto-py abs/auto-py home/bin/auto-py p/auto-py
	script "auto-shebang-probe-dirs=::$W/abs:t"
	resolves abs/auto-py
	script auto-shebang-probe-dirs=./t
	resolves p/./t/auto-py
	script auto-shebang-probe-dirs=../t
	resolves p/a/../t/auto-py
	script auto-shebang-probe-dirs=t/
	resolves p/t//auto-py
	script auto-shebang-probe-dirs=.
	resolves p/auto-py
	script 'auto-shebang-probe-dirs=~/bin'
	resolves home/bin/auto-py HOME="$W/home"
	script 'auto-shebang-probe-dirs=~'
	resolves "" HOME="$W/home"
	script 'auto-shebang-probe-dirs=~bin'
	there 'p/~bin/auto-py'
	resolves 'p/~bin/auto-py' HOME="$W/home"
	script auto-shebang-probe-dirs=:
	resolves ""
	# On each level, an absolute place would be traced four times.
	script "auto-shebang-probe-dirs=$W/abs" auto-shebang-suffixes=x
	go "$AS" --debug --check auto-py "$S"
	[ "$(grep -c 'try: ' <<<"$err")" = 1 ]
	script "auto-shebang-probe-dirs=\$V" auto-shebang-suffixes=x \
		auto-shebang-unsafe-expand-probe-dirs=yes
	go env V="$W/abs" "$AS" --debug --check auto-py "$S"
	[ "$(grep -c 'try: ' <<<"$err")" -gt 3 ]
}

@test "without HOME a tilde is 2, but only when it is reached" {
	there p/a/b/auto-py
	script 'auto-shebang-probe-dirs=.:~/x'
	resolves p/a/b/auto-py
	resolves p/a/b/auto-py HOME=
	script 'auto-shebang-probe-dirs=~/x:.'
	for verb in --resolve --check; do
		go env HOME= "$AS" "$verb" auto-py "$S"
		[ "$code" = 2 ]
		[ "$err" = "auto-py: HOME is not set but probe-dirs contains ~" ]
	done
}

@test "expansion: names from the environment, nothing else" {
	there p/t/auto-py p/abs/auto-py 'p/a/b/$V/auto-py'
	script 'auto-shebang-probe-dirs=$V'
	resolves 'p/a/b/$V/auto-py' V=t
	local on=auto-shebang-unsafe-expand-probe-dirs=yes
	script $on 'auto-shebang-probe-dirs=$V'
	resolves p/t/auto-py V=t
	resolves p/t/auto-py V="$W/p/t"
	script $on 'auto-shebang-probe-dirs=${V}'
	resolves p/t/auto-py V=t
	script $on 'auto-shebang-probe-dirs=p/$Vb/${V}'
	resolves p//t/auto-py V=t
	# The result is neither split nor expanded again.
	script $on 'auto-shebang-probe-dirs=$V'
	resolves "" V='x:t'
	resolves "" V='$U' U=t
	resolves "" V='~'
	there 'p/$1$${/auto-py' 'p/$/auto-py'
	script $on 'auto-shebang-probe-dirs=$1$${'
	resolves 'p/$1$${/auto-py'
	script $on 'auto-shebang-probe-dirs=$'
	resolves 'p/$/auto-py'
	# Shell internals of the original are no variables.
	script $on 'auto-shebang-probe-dirs=$rest$name$PPID$_as_self' \
		auto-shebang-suffixes=:
	there p/bin/x
	resolves ""
}

@test "expansion that would need a shell is refused, not run" {
	local on=auto-shebang-unsafe-expand-probe-dirs=yes entry
	for entry in '$(touch${IFS}ran)' 'a$(x'; do
		script $on "auto-shebang-probe-dirs=$entry"
		refuses 2 "unsafe expansion: command substitution in probe-dirs: $entry"
	done
	script $on 'auto-shebang-probe-dirs=`touch,ran`'
	refuses 2 'unsafe expansion: backtick in probe-dirs: `touch,ran`'
	script $on 'auto-shebang-probe-dirs=x${}'
	refuses 2 'unsafe expansion: empty variable name'
	for entry in 'a-b' '1a' 'a b' '{' '$x' 'V:-x'; do
		entry=${entry%% *}
		script $on "auto-shebang-probe-dirs=\${$entry}"
		case $entry in
		a) continue ;;
		V:-x) resolves "" ;; # split at the colon first
		*) refuses 2 "unsafe expansion: invalid variable '\${$entry}'" ;;
		esac
	done
	[ ! -e ran ]
}

# --- candidates

@test "what is no executable file is passed over" {
	mkdir "$W/p/a/b/auto-py"
	: >"$W/p/a/auto-py"
	ln -s nowhere "$W/p/auto-py"
	ln -s auto-py-primary "$W/p/bin/auto-py-primary"
	resolves ""
	there auto-py
	resolves auto-py
}

@test "the resolver itself is passed over, by whatever name" {
	ln -s "$WARDBOX" "$W/p/bin/auto-py"
	ln "$WARDBOX" "$W/p/auto-py" 2>/dev/null || true
	resolves ""
	go "$AS" --check auto-py "$S"
	[ "$code$out$err" = 1 ]
	there p/bin/auto-py-primary
	resolves p/bin/auto-py-primary
}

@test "OVERRIDE_EXE goes before everything" {
	there p/bin/auto-py
	resolves interp AUTO_SHEBANG_OVERRIDE_EXE="$W/interp"
	go env AUTO_SHEBANG_OVERRIDE_EXE="$W/interp" "$AS" --resolve auto-py no/dir/x
	[ "$code $out" = "0 $W/interp" ]
	local v=AUTO_SHEBANG_OVERRIDE_EXE
	refuses 127 "$v not found: /nowhere/x" $v=/nowhere/x
	refuses 2 "$v is not a regular file: $W" $v="$W"
	: >plain
	refuses 126 "$v not executable: plain" $v=plain
	refuses 2 "$v points to the resolver itself: $LINKS/auto-py" $v="$LINKS/auto-py"
}

@test "FALLBACK_EXE goes behind everything" {
	local v=AUTO_SHEBANG_FALLBACK_EXE
	resolves interp $v="$W/interp"
	refuses 127 "$v not found: /nowhere/x" $v=/nowhere/x
	refuses 2 "$v is not a regular file: $W" $v="$W"
	: >plain
	refuses 126 "$v not executable: plain" $v=plain
	refuses 2 "$v points to the resolver itself: $LINKS/auto-py" $v="$LINKS/auto-py"
	there p/bin/auto-py
	resolves p/bin/auto-py $v=/nowhere/x
}

# --- origins

@test "the directory is physical, the script's own link is not followed" {
	there p/bin/auto-py l/bin/auto-py
	ln -s "$W/p/a" "$W/l/a"
	go "$AS" --resolve auto-py l/a/b/s.py
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
	ln -s "$S" "$W/l/s.py"
	go "$AS" --resolve auto-py l/s.py
	[ "$code $out" = "0 $W/l/bin/auto-py" ]
	go env AUTO_SHEBANG_FOLLOW_SYMLINKS=1 "$AS" --resolve auto-py l/s.py
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
	go env AUTO_SHEBANG_FOLLOW_SYMLINKS=1 \
		AUTO_SHEBANG_SYMLINK_PRIORITY=symlink-first \
		"$AS" --resolve auto-py l/s.py
	[ "$code $out" = "0 $W/l/bin/auto-py" ]
	rm "$W/p/bin/auto-py"
	go env AUTO_SHEBANG_FOLLOW_SYMLINKS=1 "$AS" --resolve auto-py l/s.py
	[ "$code $out" = "0 $W/l/bin/auto-py" ]
	rm "$W/l/bin/auto-py"
	go env AUTO_SHEBANG_FOLLOW_SYMLINKS=1 "$AS" --resolve auto-py l/s.py
	[ "$code" = 127 ]
	[[ "$err" == *"Search origins: $W/p/a/b, $W/l
Probe dirs: .:bin"* ]]
	# The same directory is walked up from once.
	ln -s s.py "$W/p/a/b/link"
	go env AUTO_SHEBANG_FOLLOW_SYMLINKS=1 "$AS" --debug --resolve auto-py "$W/p/a/b/link"
	[ "$code" = 127 ]
	[[ "$err" == *"Search origin: $W/p/a/b (walked to /)"* ]]
	[ "$(grep -c 'walk: starting' <<<"$err")" = 1 ]
}

@test "a directory has one name, however it is spelled, also without openat2" {
	local spelled how
	need strace -o /dev/null true
	ln -s "$W/p/a/b" "$W/p/link"
	ln -s b "$W/p/a/near"
	cd "$W/p/a"
	for spelled in b/s.py ./b/s.py ././/b/s.py b//s.py b/./s.py ../a/b/s.py b/../b/s.py \
		near/s.py ../link/s.py ./../link/../b/s.py "$S" "/$S" "$W/p/./a/b/s.py" \
		"$W/p/link/s.py" "$W/p/a/near/../b/s.py" "/..$S"; do
		for how in "" error=ENOSYS error=EPERM; do
			set -- "$AS" --debug --resolve auto-py "$spelled"
			[ -z "$how" ] || set -- strace -qq -o /dev/null \
				-e inject=openat2:$how "$@"
			go "$@"
			[ "$code" = 127 ]
			grep -qxF "auto-py: normalized: $S" <<<"$err" ||
				{ echo "$spelled $how: $err"; false; }
		done
	done
	cd b
	for spelled in s.py ./s.py .//s.py ../b/s.py; do
		go "$AS" --debug --resolve auto-py "$spelled"
		grep -qxF "auto-py: normalized: $S" <<<"$err" || { echo "$spelled: $err"; false; }
	done
	mkdir "$W/gone" && cd "$W/gone" && rmdir "$W/gone"
	go "$AS" --resolve auto-py s.py
	[ "$code" = 127 ]
}

@test "links in a row: forty are followed, forty-one are 2" {
	there p/bin/auto-py
	mkdir l
	local to=$S i
	for i in $(seq 40); do
		ln -s "$to" "l/$i"
		to=$i
	done
	go env AUTO_SHEBANG_FOLLOW_SYMLINKS=1 "$AS" --resolve auto-py l/40
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
	ln -s 40 l/41
	go env AUTO_SHEBANG_FOLLOW_SYMLINKS=1 "$AS" --resolve auto-py l/41
	[ "$code" = 2 ]
	[ "$err" = "auto-py: symlink cycle (>40 hops): $W/l/41" ]
	ln -s loop l/loop
	go env AUTO_SHEBANG_FOLLOW_SYMLINKS=1 "$AS" --check auto-py l/loop
	[ "$code" = 2 ]
}

@test "a directory that is not there is 127, even to check" {
	for verb in --resolve --check --list; do
		go "$AS" "$verb" auto-py no/dir/s.py
		[ "$code" = 127 ]
		[ "$err" = "auto-py: cannot resolve directory of: no/dir/s.py" ]
	done
	mkdir gone
	go sh -c 'cd gone && rmdir ../gone && exec "$0" --check auto-py s.py' "$AS"
	[ "$code" = 127 ]
	# One that is called so lives.
	mkdir "x (deleted)"
	there 'x (deleted)/auto-py'
	go "$AS" --resolve auto-py "x (deleted)/s.py"
	[ "$code $out" = "0 $W/x (deleted)/auto-py" ]
}

# --- messages

@test "nothing found: what was searched and what to do, to the letter" {
	go "$AS" --resolve auto-py "$S"
	[ "$code" = 127 ]
	[ -z "$out" ]
	[ "$err" = "auto-py: no interpreter found for: $S

Search origin: $W/p/a/b (walked to /)
Probe dirs: .:bin
Suffixes: :primary:secondary:tertiary

Create an interpreter symlink:
  ln -sf /path/to/interpreter <project>/bin/auto-py

Hint: set AUTO_SHEBANG_DEBUG=1 for full resolution trace" ]
	go "$AS" --check auto-py "$S"
	[ "$code$out$err" = 1 ]
	go "$LINKS/auto-py" "$S"
	[ "$code" = 127 ]
	[[ "$err" == "auto-py: no interpreter found for: $S"* ]]
}

@test "the trace, to the letter" {
	there p/bin/auto-py
	mkdir "$W/p/a/bin"
	: >"$W/p/a/b/bin" # no place: nothing is tried there
	script '#!/usr/bin/env auto-py' '# auto-shebang-what=ever' \
		'# auto-shebang-suffixes=:x'
	go env AUTO_SHEBANG_SYMLINK_PRIORITY=symlink-first \
		"$AS" --debug --resolve auto-py p/a/b/s.py
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
	local want="auto-py: unknown directive: auto-shebang-what
auto-py: script: p/a/b/s.py
auto-py: search-name: auto-py
auto-py: config: follow-symlinks=no (default)
auto-py: config: symlink-priority=symlink-first (env)
auto-py: config: probe-dirs=.:bin (default)
auto-py: config: unsafe-expand=no (default)
auto-py: config: suffixes=:x (directive)
auto-py: config: trust-env=yes
auto-py: normalized: $W/p/a/b/s.py
auto-py: walk: starting from $W/p/a/b
auto-py:   try: $W/p/a/b/auto-py
auto-py:   try: $W/p/a/b/auto-py-x
auto-py:   try: $W/p/a/auto-py
auto-py:   try: $W/p/a/auto-py-x
auto-py:   try: $W/p/a/bin/auto-py
auto-py:   try: $W/p/a/bin/auto-py-x
auto-py:   try: $W/p/auto-py
auto-py:   try: $W/p/auto-py-x
auto-py:   try: $W/p/bin/auto-py
auto-py: resolved: $W/p/bin/auto-py"
	[ "$err" = "$want" ]
	# The variable does the same, is not gated, and counts only as 1.
	script '#!/usr/bin/env auto-py' '# auto-shebang-what=ever' \
		'# auto-shebang-suffixes=:x' auto-shebang-trust-env=no
	go env AUTO_SHEBANG_DEBUG=1 "$AS" --check auto-py p/a/b/s.py
	[[ "$err" == *"trust-env=no"*"resolved: "* ]]
	go env AUTO_SHEBANG_DEBUG=yes "$AS" --check auto-py p/a/b/s.py
	[ "$code$err" = 0 ]
}

@test "the trace of origins, of the root, and of named interpreters" {
	mkdir l
	ln -s "$S" l/s.py
	go env AUTO_SHEBANG_FOLLOW_SYMLINKS=1 AUTO_SHEBANG_PROBE_DIRS=.:bin/ \
		AUTO_SHEBANG_SUFFIXES=: AUTO_SHEBANG_FALLBACK_EXE=./interp \
		"$AS" --debug --check auto-py l/s.py
	[ "$code" = 0 ]
	[[ "$err" == *"auto-py: normalized: $W/l/s.py
auto-py: real path: $S
auto-py: real dir: $W/p/a/b
auto-py: symlink dir: $W/l
auto-py: walk: starting from $W/p/a/b
"*"auto-py:   try: //auto-py
auto-py:   try: //bin//auto-py
auto-py: walk: starting from $W/l
"*"auto-py: checking FALLBACK_EXE: ./interp
auto-py: resolved via FALLBACK_EXE: ./interp" ]]
	go env AUTO_SHEBANG_OVERRIDE_EXE=/no AUTO_SHEBANG_DEBUG=1 \
		"$AS" --check auto-py "$S"
	[[ "$err" == *"trust-env=yes
auto-py: checking OVERRIDE_EXE: /no
auto-py: AUTO_SHEBANG_OVERRIDE_EXE not found: /no" ]]
}

@test "to a terminal nothing hostile is written" {
	script $'# auto-shebang-trust-env=\033]0;x\007'
	go "$AS" --check auto-py "$S"
	[[ "$err" == *$'\033]0;x\007'* ]]
	need command script -qec true /dev/null
	go command script -qec "$AS --check auto-py $S" /dev/null
	[[ "$out" == *'\x1b]0;x\x07'* ]]
	[[ "$out" != *$'\033]'* ]]
}

# --- what the original gets wrong

@test "CDPATH leads nowhere else" {
	there p/bin/auto-py other/p/bin/auto-py
	mkdir -p other/p/a/b
	go env CDPATH="$W/other" "$AS" --resolve auto-py p/a/b/s.py
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
}

@test "names may begin with a dash" {
	there p/bin/auto-py
	mkdir -p -- "$W/p/-d" "$W/p/-"
	cp "$S" "$W/p/-d/-a.py"
	cp "$S" "$W/p/-/x"
	cd "$W/p"
	for s in -d/-a.py -/x -x --check; do
		go env OLDPWD=/ "$AS" --resolve auto-py "$s"
		[ "$code $out$err" = "0 $W/p/bin/auto-py" ]
	done
	cd ./-d
	go "$LINKS/auto-py" -a.py
	[ "$code" = 7 ]
	[[ "$out" == *"<-a.py>" ]]
}

@test "AUTO_SHEBANG_LIB in the environment silences nothing" {
	there p/bin/auto-py
	go env AUTO_SHEBANG_LIB=1 "$LINKS/auto-py" "$S"
	[ "$code" = 7 ]
	go env AUTO_SHEBANG_LIB=1 "$AS" --version
	[ "$out" = "auto-shebang 1.0" ]
}

@test "a copy of the resolver on the way is passed over, not executed for ever" {
	cp "$WARDBOX" "$W/p/bin/auto-py"
	cp "$WARDBOX" "$W/auto-py"
	for start in "$LINKS/auto-py" "$W/auto-py" "$W/p/bin/auto-py"; do
		go timeout 10 "$start" "$S"
		[ "$code" = 127 ]
		[[ "$err" == *"no interpreter found"* ]]
	done
	go timeout 10 "$LINKS/auto-py" "$S"
	[[ "$err" == *"Passed over, being a resolver itself: $W/auto-py"* ]]
	# So is the compatible script, of which the other copy may be one.
	printf '#!/bin/sh\n#\nAUTO_SHEBANG_VERSION="1.0"\nexec "%s" "$@"\n' \
		"$LINKS/auto-py" >"$W/p/bin/auto-py"
	go timeout 10 "$LINKS/auto-py" "$S"
	[ "$code" = 127 ]
	# A program that only speaks of it is an interpreter.
	printf '#!/bin/sh\n# AUTO_SHEBANG_VERSION=1.0\necho ran\n' >"$W/p/bin/auto-py"
	go timeout 10 "$LINKS/auto-py" "$S"
	[ "$code $out" = "0 ran" ]
	# An interpreter above a copy is found.
	cp "$WARDBOX" "$W/p/a/auto-py"
	go timeout 10 "$LINKS/auto-py" "$S"
	[ "$code $out" = "0 ran" ]
	go timeout 10 env AUTO_SHEBANG_OVERRIDE_EXE="$W/auto-py" \
		"$LINKS/auto-py" "$S"
	[ "$code" = 2 ]
}

@test "a wrapper that asks the resolver for its own interpreter ends" {
	printf '#!%s\n' "$LINKS/auto-py" >"$W/p/bin/auto-py"
	chmod 755 "$W/p/bin/auto-py"
	go timeout 10 "$LINKS/auto-py" "$S"
	[ "$code" = 126 ]
	[[ "$err" == *"its own interpreter"* ]]
}

@test "two wrappers that ask for each other end; one that is given another does not" {
	links auto-py auto-two
	printf '#!%s\n' "$LINKS/auto-two" >"$W/p/bin/auto-py"
	printf '#!%s\n' "$LINKS/auto-py" >"$W/p/bin/auto-two"
	chmod 755 "$W"/p/bin/auto-*
	go timeout 10 "$LINKS/auto-py" "$S"
	[ "$code" = 126 ]
	[[ "$err" == *"its own interpreter"* ]]
	# Named as arguments they are nothing but that.
	ln -sfn "$W/interp" "$W/p/bin/auto-two"
	go timeout 10 "$LINKS/auto-py" "$S" "$W/p/bin/auto-py" "$W/p/bin/auto-two"
	[ "$code" = 7 ]
	[[ "$out" == *"<$S>
<$W/p/bin/auto-py>
<$W/p/bin/auto-two>" ]]
}

@test "OVERRIDE_EXE is a path, not a command to look up" {
	mkdir bin2
	printf '#!/bin/sh\necho wrong\n' >bin2/interp
	chmod 755 bin2/interp
	go env PATH="$W/bin2:$PATH" AUTO_SHEBANG_OVERRIDE_EXE=interp \
		"$LINKS/auto-py" "$S"
	[ "$code" = 7 ]
	[[ "$out" == "interp "* ]]
}

@test "the same file under a shell's name is an interpreter" {
	ln -s "$WARDBOX" "$W/mysh"
	resolves mysh AUTO_SHEBANG_OVERRIDE_EXE="$W/mysh"
}

@test "a link that dangles into nowhere is 127 and named" {
	mkdir l
	ln -s "$W/no/dir/s.py" l/s.py
	for verb in --resolve --check; do
		go env AUTO_SHEBANG_FOLLOW_SYMLINKS=1 "$AS" "$verb" auto-py l/s.py
		[ "$code" = 127 ]
		[ "$err" = "auto-py: cannot resolve directory of: $W/no/dir/s.py" ]
	done
}

@test "a huge first line is not read to its end" {
	there p/t/auto-py p/bin/auto-py
	{ printf 'auto-shebang-probe-dirs=t '; head -c 3000000 /dev/zero | tr '\0' x; } >"$S"
	resolves p/t/auto-py
	{ head -c 65536 /dev/zero | tr '\0' x; printf ' auto-shebang-probe-dirs=t '; } >"$S"
	resolves p/bin/auto-py
	{ head -c 65500 /dev/zero | tr '\0' x; printf ' auto-shebang-probe-dirs='; head -c 99999 /dev/zero | tr '\0' t; } >"$S"
	go "$AS" --check auto-py "$S"
	[ "$code" = 2 ]
	[[ "$err" == *"65536"* ]]
	# Of exactly that size, it has been read whole.
	{ head -c 65511 /dev/zero | tr '\0' x; printf 'auto-shebang-probe-dirs=t'; } >"$S"
	[ "$(wc -c <"$S")" = 65536 ]
	resolves p/t/auto-py
	need strace -o /dev/null true
	strace -e trace=read -o "$W/trace" "$AS" --check auto-py "$S"
	[ "$(grep -c ', 65536\|xxxx' "$W/trace")" -le 3 ]
}

@test "two long lists do not keep the asker busy" {
	local many
	many=$(printf '.:%.0s' $(seq 9000))
	script "auto-shebang-probe-dirs=$many" "auto-shebang-suffixes=${many//./x}"
	for verb in --check --resolve; do
		go timeout 200 "$AS" $verb auto-py "$S"
		[ "$code" = 2 ]
		[[ "$err" == "auto-py: gave up after "* ]]
	done
	many=$(printf '$V%.0s' $(seq 9000))
	script "auto-shebang-probe-dirs=$many:$many:$many" \
		auto-shebang-unsafe-expand-probe-dirs=yes
	local d=$W/p/a/b
	d=$d/$(printf 'd/%.0s' $(seq 30))
	mkdir -p "$d"
	mv "$S" "$d/s.py"
	go timeout 20 "$AS" --check auto-py "$d/s.py"
	[ "$code" = 2 ]
}

@test "no process is made, and few calls" {
	local d=$W i
	need strace -o /dev/null true
	for i in $(seq 20); do d=$d/d$i; done
	mkdir -p "$d" "$W/bin"
	: >"$d/s.py"
	ln -s /bin/true "$W/bin/auto-py"
	strace -f -o "$W/trace" "$LINKS/auto-py" "$d/s.py"
	not grep -E 'fork|clone' "$W/trace"
	# Up to the interpreter's own execve.
	sed -n '2,/execve/p' "$W/trace" >"$W/ours"
	[ "$(wc -l <"$W/ours")" -le 130 ]
	! grep /proc "$W/ours"
}

# --- execution

@test "what has no format is run by sh; what cannot run is 126 or 127, named" {
	printf 'echo "by sh: $0 $1"\n' >"$W/p/bin/auto-py"
	chmod 755 "$W/p/bin/auto-py"
	go "$LINKS/auto-py" "$S" x
	[ "$code $out" = "0 by sh: $W/p/bin/auto-py $S" ]
	printf '#!/no/such/interpreter\n' >"$W/p/bin/auto-py"
	go "$LINKS/auto-py" "$S"
	[ "$code" = 127 ]
	[[ "$err" == "auto-py: cannot execute $W/p/bin/auto-py: "*"/no/such/interpreter"* ]]
	printf '#!/\n' >"$W/p/bin/auto-py"
	go "$LINKS/auto-py" "$S"
	[ "$code" = 126 ]
	[[ "$err" == "auto-py: cannot execute $W/p/bin/auto-py: "* ]]
	printf '\177ELFnot really' >"$W/p/bin/auto-py"
	go "$LINKS/auto-py" "$S"
	[ "$code" = 126 ]
	[[ "$err" == "auto-py: cannot execute $W/p/bin/auto-py: "*machine* ]]
}

@test "an interpreter that goes between check and exec is 127, one forbidden 126" {
	there p/bin/auto-py
	need strace -o /dev/null true
	go strace -qq -o /dev/null -e trace=execve \
		-e inject=execve:error=ENOENT:when=1 "$LINKS/auto-py" "$S"
	echo "$code $err"
	[ "$code" = 127 ]
	[[ "$err" == *"cannot execute $W/p/bin/auto-py: "* ]]
	go strace -qq -o /dev/null -e trace=execve \
		-e inject=execve:error=EACCES:when=1 "$LINKS/auto-py" "$S"
	[ "$code" = 126 ]
	[[ "$err" == *"cannot execute $W/p/bin/auto-py: "* ]]
}

@test "an old sandbox that forbids faccessat2 does no harm" {
	there p/bin/auto-py
	: >"$W/p/a/auto-py"
	need strace -o /dev/null true
	go strace -qq -o /dev/null -e trace=faccessat2 \
		-e inject=faccessat2:error=EPERM "$AS" --resolve auto-py "$S"
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
	go strace -qq -o /dev/null -e trace=faccessat2 \
		-e inject=faccessat2:error=ENOSYS "$AS" --resolve auto-py "$S"
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
}

@test "long paths are no candidates, and nothing breaks" {
	local long
	long=$(printf 'd%.0s' $(seq 240))
	there p/bin/auto-py
	cd "$W/p/a/b"
	for i in $(seq 20); do
		mkdir "$long"
		cd "./$long"
	done
	: >s.py
	go "$LINKS/auto-py" s.py
	[ "$code" = 7 ]
	go "$AS" --check auto-py "$(head -c 5000 /dev/zero | tr '\0' x)/s.py"
	[ "$code" = 127 ]
	script "auto-shebang-probe-dirs=$(head -c 9000 /dev/zero | tr '\0' y):bin"
	resolves p/bin/auto-py
	script 'auto-shebang-probe-dirs=$V$V' auto-shebang-unsafe-expand-probe-dirs=yes
	go env V="$(head -c 9000 /dev/zero | tr '\0' y)" "$AS" --check auto-py "$S"
	[ "$code" = 2 ]
	go "$AS" --check "auto-$(head -c 9000 /dev/zero | tr '\0' y)" "$S"
	[ "$code" = 1 ]
}

# --- beyond the original

@test "--list names every candidate, the winner and the reasons" {
	there p/bin/auto-py auto-py
	mkdir "$W/p/a/b/auto-py"
	: >"$W/p/a/b/auto-py-primary"
	ln -s "$WARDBOX" "$W/p/a/auto-py"
	cp "$WARDBOX" "$W/p/a/auto-py-primary"
	go "$AS" --list auto-py "$S"
	[ "$code$err" = 0 ]
	grep -E "^  not a file +$W/p/a/b/auto-py\$" <<<"$out"
	grep -E "^  not executable +$W/p/a/b/auto-py-primary\$" <<<"$out"
	grep -E "^  absent +$W/p/a/b/auto-py-secondary\$" <<<"$out"
	grep -E "^  no directory +$W/p/a/b/bin\$" <<<"$out"
	grep -E "^  the resolver +$W/p/a/auto-py -> " <<<"$out"
	grep -E "^  another resolver +$W/p/a/auto-py-primary\$" <<<"$out"
	grep -E "^\* wins +$W/p/bin/auto-py -> $W/interp\$" <<<"$out"
	grep -E "^  behind it +$W/auto-py -> $W/interp\$" <<<"$out"
	[ "$(grep -c '^\*' <<<"$out")" = 1 ]
	go env AUTO_SHEBANG_OVERRIDE_EXE="$W/interp" "$AS" --list auto-py "$S"
	grep -E "^\* wins +$W/interp  \(AUTO_SHEBANG_OVERRIDE_EXE\)\$" <<<"$out"
	grep -E "^  behind it +$W/p/bin/auto-py -> " <<<"$out"
	# What goes wrong behind the winner is not its business.
	script 'auto-shebang-probe-dirs=bin:~'
	go "$AS" --list auto-py "$W/p/s.py"
	[ "$code" = 0 ]
	go "$AS" --list auto-none "$S"
	[ "$code" = 2 ]
	script ''
	go "$AS" --list auto-none "$S"
	[ "$code$err" = 1 ]
	go "$AS" --list auto-none
	[ "$code" = 2 ]
}

@test "--json of resolve, check and list, wherever it stands" {
	there p/bin/auto-py
	for verb in --resolve --check --list; do
		go "$AS" --json $verb auto-py "$S"
		[ "$code" = 0 ]
		jq -e --arg w "$W" '.found and .interpreter == $w + "/p/bin/auto-py"
			and .via == "walk" and .name == "auto-py" and .error == null
			and .origins == [$w + "/p/a/b"]
			and .config["probe-dirs"].value == ".:bin"
			and .config.suffixes.source == "default"' <<<"$out"
		local first=$out
		go "$AS" $verb auto-py "$S" --json
		[ "$out" = "$first" ]
		go "$AS" $verb --json auto-py "$S"
		[ "$out" = "$first" ]
	done
	jq -e '[.candidates[] | select(.wins)] == [.candidates[] |
		select(.verdict == "wins")] and (.candidates | length) > 4' <<<"$out"
	go "$AS" --json --check auto-no "$S"
	[ "$code" = 1 ]
	jq -e '(.found | not) and .interpreter == null and .error' <<<"$out"
	go "$AS" --json --resolve auto-no "$S"
	[ "$code" = 127 ]
	script auto-shebang-trust-env=x
	go "$AS" --json --check auto-py "$S"
	[ "$code" = 2 ]
	jq -e '.error | contains("must be yes or no")' <<<"$out"
}

@test "JSON stays JSON with bytes that are no UTF-8" {
	local d=$W/$'\377\001"'
	mkdir "$d"
	ln -s "$W/interp" "$d/auto-py"
	: >"$d/s"
	go "$AS" --json --list auto-py "$d/s"
	jq -e '.interpreter_hex | endswith("ff01222f6175746f2d7079")' <<<"$out"
}

@test "--init makes the link, once, and says what it would do" {
	go "$AS" --init --dry-run auto-py "$W/interp" "$W/home"
	[ "$code $out" = "0 would make: $W/home/bin/auto-py -> $W/interp" ]
	[ ! -e "$W/home/bin/auto-py" ]
	go "$AS" --init auto-py "$W/interp" "$W/home"
	[ "$code $out" = "0 $W/home/bin/auto-py -> $W/interp" ]
	[ "$(readlink "$W/home/bin/auto-py")" = "$W/interp" ]
	go "$AS" --init auto-py "$W/interp" "$W/home"
	[ "$code $out" = "0 already: $W/home/bin/auto-py -> $W/interp" ]
	go "$AS" --init auto-py /bin/sh "$W/home" --force --dry-run
	[ "$code $out" = "0 would make: $W/home/bin/auto-py -> /bin/sh" ]
	go "$AS" --init auto-py /bin/sh "$W/home"
	[ "$code" = 1 ]
	[[ "$err" == *"--force"* ]]
	go "$AS" --init --force --json auto-py /bin/sh "$W/home"
	[ "$code" = 0 ]
	jq -e '.changed and .target == "/bin/sh"' <<<"$out"
	[ "$(readlink "$W/home/bin/auto-py")" = /bin/sh ]
	[ "$(ls -A "$W/home/bin")" = auto-py ]
	: >"$W/home/bin/auto-x"
	go "$AS" --init --force auto-x /bin/sh "$W/home"
	[ "$code" = 1 ]
	[ ! -s "$W/home/bin/auto-x" ]
}

@test "--init: here, from PATH, from a relative path; and the script runs" {
	mkdir new
	cd new
	go "$AS" -n --init auto-py sh
	[ "$code" = 0 ]
	[ ! -e bin ]
	go env PATH="relative::$W:$PATH" "$AS" --init auto-py interp
	[ "$code $out" = "0 ./bin/auto-py -> $W/interp" ]
	go "$AS" --init auto-rel ../interp
	[ "$(readlink bin/auto-rel)" = "$W/new/../interp" ]
	: >s.py
	go "$LINKS/auto-py" s.py
	[ "$code" = 7 ]
}

@test "--init refuses what would not work" {
	for name in python auto- a/auto-py auto-x/y auto-shebang ""; do
		go "$AS" --init "$name" /bin/sh
		[ "$code" = 2 ]
	done
	for interpreter in /nowhere "$W" "$S" "$WARDBOX" no-such-command; do
		go "$AS" --init auto-py "$interpreter"
		[ "$code" = 1 ]
		[ -n "$err" ]
	done
	go "$AS" --init auto-py /bin/sh no/dir
	[ "$code" = 1 ]
	go "$AS" --init auto-py
	[ "$code" = 2 ]
	go "$AS" --init --list auto-py x
	[ "$code" = 2 ]
	[ ! -e bin ]
}

@test "--sh-lib gives shells a function that never ends them" {
	there p/bin/auto-py
	"$AS" --sh-lib >"$W/lib.sh"
	cat >"$W/use.sh" <<'END'
set -u
. "$1"
auto_shebang_resolve auto-py "$2"; echo "$? $AUTO_SHEBANG_RESULT"
auto_shebang_resolve auto-no "$2"; echo "$? <$AUTO_SHEBANG_RESULT>"
AUTO_SHEBANG_FOLLOW_SYMLINKS=x
export AUTO_SHEBANG_FOLLOW_SYMLINKS
auto_shebang_resolve auto-py "$2" 2>/dev/null; echo "$? <$AUTO_SHEBANG_RESULT>"
AUTO_SHEBANG_FOLLOW_SYMLINKS=0 AUTO_SHEBANG_OVERRIDE_EXE=/no
export AUTO_SHEBANG_OVERRIDE_EXE
auto_shebang_resolve auto-py "$2" 2>/dev/null; echo "$? <$AUTO_SHEBANG_RESULT>"
END
	local sh
	for sh in sh bash dash mksh "busybox sh"; do
		command -v ${sh%% *} >/dev/null || continue
		go $sh "$W/use.sh" "$W/lib.sh" "$S"
		[ "$out$err" = "0 $W/p/bin/auto-py
1 <>
2 <>
127 <>" ]
		AUTO_SHEBANG_BIN=$AS go $sh "$W/use.sh" "$W/lib.sh" "$S"
		[[ "$out" == "0 $W/p/bin/auto-py"* ]]
	done
	mkdir "$W/it's"
	cp "$WARDBOX" "$W/it's/auto-shebang"
	"$W/it's/auto-shebang" --sh-lib >"$W/lib.sh"
	go sh "$W/use.sh" "$W/lib.sh" "$S"
	[[ "$out" == "0 $W/p/bin/auto-py"* ]]
	go "$AS" --sh-lib x
	[ "$code" = 2 ]
}

@test "the hidden verb prints the path alone, and 1 without a word" {
	there p/bin/auto-py
	go "$AS" --lib-resolve auto-py "$S"
	[ "$code $out$err" = "0 $W/p/bin/auto-py" ]
	go "$AS" --lib-resolve auto-no "$S"
	[ "$code$out$err" = 1 ]
	script auto-shebang-trust-env=x
	go "$AS" --lib-resolve auto-py "$S"
	[ "$code" = 2 ]
	[ -n "$err" ]
}

@test "it works where /proc is not mounted, and where the parent is closed" {
	there p/bin/auto-py
	need unshare -m true
	ln -s "$WARDBOX" "$W/p/a/auto-py"
	go unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh \
		"$AS" --resolve auto-py "$S"
	[ "$code $out" = "0 $W/p/bin/auto-py" ]
}
