#!/usr/bin/env bats
# profile doctor, fix, undo, detect, sandbox.

bats_require_minimum_version 1.5.0
load ../lib/wardbox

setup() {
	profile_home
}

# codes: the codes of what is worse than info, sorted.
codes() {
	profile doctor --json "$@" |
		jq -r '.problems[] | select(.severity != "info") | .code' | sort -u | xargs
}
has() { [[ " $(codes "${@:2}") " == *" $1 "* ]]; }

@test "a clean home has no problem, exit 0" {
	printf '[ -r ~/.bashrc ] && . ~/.bashrc\n' >"$HOME/.profile"
	printf 'alias ll="ls -l"\n' >"$HOME/.bashrc"
	run -0 profile doctor --root "$HOME/none" # whatever this machine's are
	[[ "$output" == *"no problem"* ]]
}

@test "to whoever ignores the end of children it tells the same" {
	need env --ignore-signal=CHLD true
	printf 'if true; then\n' >"$HOME/.bashrc"
	run -0 env --ignore-signal=CHLD "$WARDBOX" profile check ls
	run -1 env --ignore-signal=CHLD "$WARDBOX" profile doctor --timeout 5s
	[[ "$output" == *"syntax: $HOME/.bashrc:"* ]]
	[[ "$output" != *timeout* ]]
	run -5 env --ignore-signal=CHLD "$WARDBOX" profile add -y \
		--scope interactive /opt/x
	[[ "$output" == *"cannot be read by bash already"* ]]
}

@test "a directory's own quote is no mistake in PATH" {
	mkdir -p "$HOME/o'brien/bin"
	profile add -q -y "$HOME/o'brien/bin"
	not has path-corrupt --root "$HOME/none"
	printf 'PATH="/opt/o'"'"'neill:$PATH"\n' >>"$HOME/.profile"
	run -1 profile doctor --root "$HOME/none"
	[[ "$output" == *"path-corrupt: $HOME/.profile"*"/opt/o'neill"*"quote character"* ]]
}

@test "children that its process had before are not ended" {
	echo x=1 >"$HOME/.bashrc"
	for verb in doctor detect 'add -y /opt/x'; do
		# shellcheck disable=SC2016,SC2086 # expanded by the inner shell
		run sh -c 'sleep 4451 >/dev/null 2>&1 3>&- &
			echo $! >"$HOME/pid"; exec "$@" >"$HOME/out"' \
			sh "$WARDBOX" profile $verb --root "$HOME/none"
		run -0 kill "$(cat "$HOME/pid")"
	done
	# What a startup file left running is, with all that it started.
	printf 'setsid sleep 4452 >/dev/null 2>&1 3>&- &\necho $! >~/pid\n' \
		>"$HOME/.bashrc"
	profile doctor --root "$HOME/none" >"$HOME/out" || true
	run -1 kill "$(cat "$HOME/pid")"
}

@test "dangling-source: found, repaired as told, ash logs in again" {
	printf '. "$HOME/gone/env"\n' >"$HOME/.profile"
	run -1 profile doctor
	[[ "$output" == *"critical dangling-source: $HOME/.profile:1:"* ]]
	run -2 bash -c 'exec -a -sh dash -c true'
	run -0 profile fix dangling-source -y
	[ "$(cat "$HOME/.profile")" = 'if [ -r "$HOME/gone/env" ]; then . "$HOME/gone/env"; fi' ]
	run -0 bash -c 'exec -a -sh dash -c true'
	not has dangling-source
	run -0 profile undo -y
	[ "$(cat "$HOME/.profile")" = '. "$HOME/gone/env"' ]
	run -1 profile undo -y
}

@test "what is to be done is told in the shell's own language" {
	need command -v fish
	mkdir -p "$HOME/.config/fish"
	echo 'source ~/gone.fish' >"$HOME/.config/fish/config.fish"
	run -1 profile doctor --shell fish --no-exec
	[[ "$output" == *"if test -r ~/gone.fish; source ~/gone.fish; end"* ]]
	run -0 profile add -y --no-exec --shell fish /opt/x
	[[ "$output" == *"after: source $HOME/.config/fish/conf.d/profile-default.fish"* ]]
	run -0 profile add -y --no-exec --shell zsh /opt/x
	[[ "$output" == *'after: eval "$(wardbox profile print --shell zsh)"'* ]]
	profile print --shell zsh | grep -q /opt/x
}

@test "fix: some repaired and one not is 7; what denies the record is named" {
	printf '. "$HOME/gone/env"\n' | tee "$HOME/.profile" >"$HOME/.bashrc"
	chmod 444 "$HOME/.profile"
	run -7 profile fix -y dangling-source
	grep -q '^if' "$HOME/.bashrc"
	chmod 644 "$HOME/.profile"
	mkdir "$HOME/dir"
	need unshare -m mount -t tmpfs -o ro none "$HOME/dir"
	XDG_STATE_HOME=$HOME/dir/a/b run -4 unshare -m sh -c '
		mount -t tmpfs -o ro none "$HOME/dir" && "$0" profile fix -y dangling-source' "$WARDBOX"
	[[ "$output" == *"Read-only file system"* ]]
}

@test "dangling-source: guarded ones, functions and what is there are none" {
	echo true >"$HOME/there"
	cat >"$HOME/.profile" <<-'E'
		[ -f "$HOME/a" ] && . "$HOME/a"
		if [ -r ~/b ]; then . ~/b; fi
		f() { . "$HOME/c"; }
		. "$HOME/there"
		# . "$HOME/comment"
		cat <<X >/dev/null
		. $HOME/in-document
		X
		. "$UNKNOWN/d" 2>/dev/null || :
	E
	not has dangling-source --no-exec
}

@test "undo leaves a file alone that was changed since" {
	printf '. "$HOME/gone/env"\n' >"$HOME/.profile"
	profile fix -q dangling-source -y
	echo more >>"$HOME/.profile"
	run -5 profile undo -y
	[ "$(tail -n 1 "$HOME/.profile")" = more ]
}

@test "undo goes back behind several repairs of one file" {
	printf '. "$HOME/gone/env"\r\nsource "$HOME/gone2"\r\n' >"$HOME/.profile"
	chmod 666 "$HOME/.profile"
	before=$(sha256sum <"$HOME/.profile")
	profile fix -q -y crlf perm dangling-source bashism-in-profile
	[ "$(stat -c %a "$HOME/.profile")" = 644 ]
	not grep -q $'\r' "$HOME/.profile"
	profile undo -q -y
	[ "$(sha256sum <"$HOME/.profile")" = "$before" ]
	[ "$(stat -c %a "$HOME/.profile")" = 666 ]
}

@test "fix: consent, --dry-run, unknown codes" {
	printf '. "$HOME/gone/env"\n' >"$HOME/.profile"
	run -3 setsid -w "$WARDBOX" profile fix </dev/null
	run -0 profile fix -n
	[[ "$output" == *"+if [ -r"* ]]
	[ "$(cat "$HOME/.profile")" = '. "$HOME/gone/env"' ]
	run -2 profile fix -y no-such-code
}

# one COMMAND...: what it prints is one JSON object, which goes to $HOME/j.
one() {
	local code=0
	"$@" >"$HOME/j" 2>"$HOME/said" || code=$?
	[ "$(jq -s 'length' "$HOME/j")" = 1 ] || return 99
	jq -e '.schema == 1 and (.changes | type == "array")' "$HOME/j" >/dev/null || return 98
	return $code
}
holds() { jq -e --arg h "$HOME" "$@" "$HOME/j"; }

@test "fix --json: one object, for a dry run and for a real one" {
	printf '. "$HOME/gone/env"\n' >"$HOME/.profile"
	chmod 666 "$HOME/.profile"
	run -0 one profile fix --json -n dangling-source perm
	holds '.dry_run and ([.changes[].code] | sort == ["dangling-source", "perm"])'
	holds 'all(.changes[]; .file == $h + "/.profile" and .action == "updated" and .reason == null)'
	holds '.changes[] | select(.code == "dangling-source") | .diff | contains("+if [ -r")'
	[ "$(cat "$HOME/.profile")" = '. "$HOME/gone/env"' ]
	[ "$(stat -c %a "$HOME/.profile")" = 666 ]
	run -0 one profile fix --json -y --backup dangling-source perm
	holds '(.dry_run | not) and all(.changes[]; .action == "updated" and .backup)'
	[ "$(cat "$HOME/.profile")" = 'if [ -r "$HOME/gone/env" ]; then . "$HOME/gone/env"; fi' ]
	[ "$(stat -c %a "$HOME/.profile")" = 644 ]
	run -0 one profile fix --json -y dangling-source
	holds '.changes == []'
}

@test "undo --json: one object, for a dry run and for a real one" {
	printf '. "$HOME/gone/env"\n' >"$HOME/.profile"
	echo x=1 >"$HOME/.bashrc"
	chmod 666 "$HOME/.bashrc"
	profile fix -q -y dangling-source perm
	run -0 one profile undo --json -n
	holds '.dry_run and ([.changes[].file] | sort == [$h + "/.bashrc", $h + "/.profile"])'
	holds 'all(.changes[]; .action == "updated" and .shell)'
	grep -q '^if' "$HOME/.profile"
	run -3 one profile undo --json
	holds 'all(.changes[]; .action == "refused" and .reason == "nobody said yes")'
	run -0 one profile undo --json -y
	holds '(.dry_run | not) and (.changes[] | select(.diff) | .diff | contains("+. "))'
	[ "$(cat "$HOME/.profile")" = '. "$HOME/gone/env"' ]
	[ "$(stat -c %a "$HOME/.bashrc")" = 666 ]
	run -1 one profile undo --json -y
	holds '.changes == []'
	profile fix -q -y dangling-source
	echo more >>"$HOME/.profile"
	run -5 one profile undo --json -y
	holds '.changes[0].action == "refused" and (.changes[0].reason | contains("changed since"))'
}

@test "fix --json: what fails is in the object, with the reason" {
	printf '. "$HOME/gone/env"\n' | tee "$HOME/.profile" >"$HOME/.bashrc"
	run -3 one profile fix --json dangling-source
	holds '(.changes | length == 2) and all(.changes[]; .action == "refused" and .reason == "nobody said yes")'
	SHELL=/bin/rbash run -5 one profile fix --json -y dangling-source
	holds '.changes[0].action == "refused" and (.changes[0].reason | contains("restricted"))'
	chmod 444 "$HOME/.profile"
	run -7 one profile fix --json -n dangling-source
	holds '[.changes[].action] | sort == ["refused", "updated"]'
	run -7 one profile fix --json -y dangling-source
	holds '.changes[] | select(.action == "refused") | .reason | contains("read-only")'
	holds '.changes[] | select(.action == "updated") | .file == $h + "/.bashrc"'
	chmod 644 "$HOME/.profile"
	touch "$HOME/none"
	XDG_STATE_HOME=$HOME/none run -4 one profile fix --json -y dangling-source
	holds 'all(.changes[]; .action == "refused" and .reason)'
}

@test "fix, check --fix: what add does inside is in the one object" {
	mkdir -p "$HOME/.cargo/bin"
	install -m 755 /bin/true "$HOME/.cargo/bin/only-here"
	printf '. "$HOME/gone/env"\n' >"$HOME/.bashrc"
	run -0 one profile fix --json -n missing-path dangling-source
	holds '.dry_run and any(.changes[]; .action == "added") and any(.changes[]; .code == "dangling-source")'
	run -3 one profile fix --json missing-path dangling-source
	holds 'all(.changes[]; .action == "refused")'
	not grep -q cargo "$HOME/.bashrc"
	run -0 one profile fix --json -y missing-path dangling-source
	holds 'any(.changes[]; .action == "added" and (.diff | contains("cargo")))'
	grep -q cargo "$HOME/.bashrc"
	grep -q '^if \[ -r' "$HOME/.bashrc"
	run -0 profile remove -y
	run -0 one profile check --json --fix -y only-here
	holds '.state == "absent" and .changes[0].action == "added"'
}

@test "fix -n ends as fix would" {
	printf '. "$HOME/gone/env"\n' | tee "$HOME/.profile" >"$HOME/.bashrc"
	chmod 444 "$HOME/.profile"
	run -7 profile fix -n dangling-source
	[[ "$output" == *"read-only"* ]]
	[[ "$output" == *"+if [ -r"* ]]
	rm "$HOME/.bashrc"
	run -4 profile fix -n dangling-source
}

@test "without room for its record a repair is not made" {
	printf '. "$HOME/gone/env"\n' >"$HOME/.profile"
	echo x=1 >"$HOME/.bashrc"
	chmod 666 "$HOME/.bashrc"
	mkdir "$HOME/state"
	need unshare -m mount -t tmpfs -o size=16k none "$HOME/state"
	XDG_STATE_HOME=$HOME/state run -4 unshare -m sh -c '
		mount -t tmpfs -o size=16k none "$XDG_STATE_HOME" &&
		mkdir -p -m 700 "$XDG_STATE_HOME/wardbox/profile-undo" &&
		{ cat /dev/zero >"$XDG_STATE_HOME/full" 2>/dev/null; "$0" profile fix -y dangling-source perm; }' "$WARDBOX"
	[[ "$output" == *"cannot keep what is needed to undo"* ]]
	[[ "$output" != *repaired* ]]
	[ "$(cat "$HOME/.profile")" = '. "$HOME/gone/env"' ]
	[ "$(stat -c %a "$HOME/.bashrc")" = 666 ]
}

@test "a repair that fails takes no earlier record away" {
	mkdir "$HOME/small" "$HOME/state"
	need unshare -m mount -t tmpfs -o size=16k none "$HOME/small"
	export XDG_STATE_HOME=$HOME/state
	run -0 unshare -m sh -c '
		mount -t tmpfs -o size=16k none "$HOME/small" && HOME=$HOME/small
		printf ". \"\$HOME/gone/env\"\r\n" >"$HOME/.profile"
		"$0" profile fix -q -y crlf || exit
		cat /dev/zero >"$HOME/full" 2>/dev/null
		"$0" profile fix -y dangling-source && exit 9
		"$0" profile undo -y && exit 9
		rm "$HOME/full"
		"$0" profile undo -y && cat -A "$HOME/.profile"' "$WARDBOX"
	[[ "$output" == *"No space left"* ]]
	[ "${lines[-1]}" = '. "$HOME/gone/env"^M$' ]
	[ -z "$(ls -A "$HOME/state/wardbox/profile-undo")" ]
}

@test "syntax: with the line, also what only bash or only zsh sees" {
	printf 'x=1\nif true; then\n' >"$HOME/.bashrc"
	profile doctor --json | jq -e '.problems[] | select(.code == "syntax") | .file and (.line >= 2)'
	printf 'shopt -s extglob\ncase x in @(a|b)) ;; esac\n' >"$HOME/.bashrc"
	not has syntax
	printf 'a=(1 2)\n' >"$HOME/.profile"
	has syntax
	rm "$HOME/.profile"
	printf 'for x in *(N); do :; done\nif\n' >"$HOME/.zshrc"
	SHELL=/bin/zsh has syntax
	mkdir -p "$HOME/.config/fish"
	printf 'export PATH="/x:$PATH"\nif [ -d /x ]; then\n' >"$HOME/.config/fish/config.fish"
	SHELL=$(command -v fish) has syntax
}

@test "shadowed and login-skips-bashrc, repaired" {
	echo 'export PATH="/opt/a:$PATH"' >"$HOME/.profile"
	echo 'export X=1' >"$HOME/.bash_profile"
	echo 'export Y=2' >"$HOME/.bashrc"
	has shadowed
	has login-skips-bashrc
	run -0 profile fix -y shadowed login-skips-bashrc
	not has shadowed
	not has login-skips-bashrc
	run -0 env -i HOME="$HOME" PATH=/usr/bin:/bin bash -lic 'echo "$PATH $X $Y"'
	[[ "$output" == */opt/a:*" 1 2" ]]
	echo '. ~/.profile' >"$HOME/.bash_profile"
	not has shadowed
}

@test "path-corrupt: empty, relative, ~ and \$ that stay, twice, not there" {
	cat >"$HOME/.bashrc" <<-'E'
		PATH="$PATH:"
		PATH=bin:$PATH
		PATH="~/q:$PATH"
		PATH='$HOME/q':$PATH
		PATH=/nowhere/x:$PATH
		PATH=/usr/bin:$PATH:/usr/bin
	E
	profile doctor --no-exec --json >"$HOME/j" || true
	for line in 1 2 3 4; do
		jq -e ".problems[] | select(.code == \"path-corrupt\" and .line == $line and .severity == \"error\")" "$HOME/j" ||
			{ echo "line $line"; false; }
	done
	jq -e '.problems[] | select(.line == 5 and .severity == "info")' "$HOME/j"
	jq -e '.problems[] | select(.line == 6 and (.detail | contains("twice")))' "$HOME/j"
	jq -e '[.problems[] | select(.code == "path-multiple")] | length == 6' "$HOME/j"
	run -0 profile fix -y path-corrupt
	[ "$(sed -n 1p "$HOME/.bashrc")" = 'PATH="$PATH"' ]
	[ "$(sed -n 3p "$HOME/.bashrc")" = 'PATH="$HOME/q:$PATH"' ]
	mkdir -m 777 "$HOME/open"
	echo 'PATH=$HOME/open:$PATH' >"$HOME/.bashrc"
	has path-corrupt --no-exec
}

@test "what fix cannot repair is not said to be for it; what is not there is no clean file" {
	echo 'export PATH="~/bin:rel:$PATH:"' >"$HOME/.bashrc"
	mkdir "$HOME/dir"
	profile doctor --json --file "$HOME/.bashrc" |
		jq -e '[.problems[] | select(.code == "path-corrupt") | .fixable] == [true, false, true]'
	run -2 profile doctor --file "$HOME/nope"
	run -1 profile doctor --file "$HOME/dir"
	[[ "$output" == *"unchecked: "* ]]
	echo 'if x' >"$HOME/.bashrc"
	run -1 profile doctor --file "$HOME/.bashrc"
	[[ "$output" != */proc/self* ]]
}

@test "path-clobber is told for a user's file, with its line" {
	printf 'x=1\nexport PATH=/usr/bin:/bin\n' >"$HOME/.bashrc"
	profile doctor --no-exec --json |
		jq -e '.problems[] | select(.code == "path-clobber" and .line == 2)'
	printf 'PATH=/usr/bin:/bin cmd\nfoo PATH=/x\n' >"$HOME/.bashrc"
	not has path-clobber --no-exec
}

@test "crlf, bashism-in-profile, early-exit, markers-corrupt, perm" {
	printf 'alias a=b\r\n' >"$HOME/.bashrc"
	has crlf --no-exec
	printf 'source /etc/os-release\n' >"$HOME/.profile"
	has bashism-in-profile --no-exec
	profile fix -q -y bashism-in-profile
	grep -q '^\. /etc/os-release' "$HOME/.profile"
	printf 'if [ -n "$BASH_VERSION" ]; then\n  source /etc/os-release\nfi\n' >"$HOME/.profile"
	not has bashism-in-profile --no-exec
	printf 'x=1\nreturn\n# >>> profile:a >>>\nexport Y=1\n# <<< profile:a <<<\n' >"$HOME/.bashrc"
	has early-exit --no-exec
	profile fix -q -y early-exit
	not has early-exit --no-exec
	[ "$(tail -n 1 "$HOME/.bashrc")" = return ]
	grep -q 'export Y=1' "$HOME/.bashrc"
	printf '# >>> profile:a >>>\n' >"$HOME/.bashrc"
	has markers-corrupt --no-exec
	printf 'x=1\n' >"$HOME/.bashrc"
	chmod 606 "$HOME/.bashrc"
	has perm --no-exec
	profile fix -q -y perm
	[ "$(stat -c %a "$HOME/.bashrc")" = 604 ]
}

@test "output-noise: what a command's shell prints by itself" {
	printf '. ~/.bashrc\n' >"$HOME/.profile"
	printf 'echo hello\n' >"$HOME/.bashrc"
	has output-noise
	rm "$HOME/.profile" # scp on Debian: bash reads .bashrc for sshd
	if env -i HOME="$HOME" SSH_CLIENT='1 2 3' bash -c : | grep -q hello; then
		has output-noise
	fi
	printf 'case $- in *i*) echo hello ;; esac\n' >"$HOME/.bashrc"
	not has output-noise
}

@test "background children, daemons and greetings do not hold the probe up" {
	cat >"$HOME/.profile" <<-'E'
		sleep 77 &
		setsid sleep 78 &
		(setsid sh -c 'sleep 79 & wait' &)
		echo "welcome: $PATH"
		PATH=/opt/probe:$PATH
	E
	start=$(date +%s)
	profile detect --json >"$HOME/j"
	[ $(($(date +%s) - start)) -lt 60 ]
	jq -e '.sessions.login_interactive | .status == "ok" and .path[0] == "/opt/probe"' "$HOME/j"
	not pgrep -f 'sleep 7[789]' >/dev/null || {
		for p in $(pgrep -f 'sleep 7[789]'); do
			not grep -qz "^HOME=$HOME$" "/proc/$p/environ"
		done
	}
}

@test "timeout and no-answer are told apart from health" {
	printf 'sleep 30\n' >"$HOME/.bashrc"
	profile detect --timeout 0.5 --json |
		jq -e '.sessions.nonlogin_interactive.status == "timeout" and .sessions.nonlogin_noninteractive.status == "ok" and .path_healthy == false'
	printf 'exec true\n' >"$HOME/.bashrc"
	has no-answer
}

@test "detect: the record, for each shell that is here" {
	for shell in bash dash zsh fish mksh tcsh; do
		path=$(command -v $shell) || continue
		SHELL=$path profile detect --json >"$HOME/j"
		jq -e --arg s $shell '.schema == 1 and .shell.type == $s and .shell.restricted == false
			and (.sessions | length == 4 and all(.[]; .status == "ok"))
			and (.shell | has("version") and has("login_profile") and has("rc_file"))
			and has("path_healthy") and has("path_login") and has("path_nonlogin")
			and .shell.path_login == .path_login' "$HOME/j" ||
			{ echo $shell; cat "$HOME/j"; false; }
	done
	SHELL=/bin/bash profile detect --json | jq -e '.shell.version | test("^[0-9]")'
	SHELL=/bin/bash profile detect --json | jq -e --arg h "$HOME" \
		'.shell.login_profile == $h + "/.profile" and .shell.rc_file == $h + "/.bashrc"'
	profile detect --no-exec --json | jq -e '.path_healthy == null'
	# One that is not here has no place, and no health.
	for shell in ash nu; do
		[ -z "$(PATH=/bin:/usr/bin:/usr/local/bin:/sbin:/usr/sbin command -v $shell)" ] || continue
		profile detect --json --shell $shell | jq -e '.shell.path == null and .path_healthy == null'
	done
}

@test "order-differs: what a login lacks, and a mere other order" {
	printf 'PATH=/opt/first:$PATH:/opt/last\n' >"$HOME/.bashrc"
	printf 'PATH=/usr/bin:/bin\n' >"$HOME/.profile"
	order() { profile doctor --json | jq -r '.problems[] | select(.code == "order-differs") | .severity + " " + .detail'; }
	[[ "$(order)" == "info "*"a login lacks"*"/opt/first"*"/opt/last"* ]]
	not has order-differs # worth knowing, no problem
	# A bare machine's /etc/profile must not matter: both set all of PATH.
	printf 'PATH=/opt/b:/opt/a\n' >"$HOME/.bashrc"
	printf 'PATH=/opt/a:/opt/b\n' >"$HOME/.profile"
	[[ "$(order)" == "info "*"(order only)" ]]
	printf 'PATH=/opt/b:/opt/a\n' >"$HOME/.profile"
	[ -z "$(order)" ]
	[ -z "$(profile doctor --no-exec --json | jq '.problems[] | select(.code == "order-differs")')" ]
}

@test "shell-mismatch: another one called, none there, a restricted one" {
	mismatch() { jq -r '.problems[] | select(.code == "shell-mismatch") | .severity + " " + .detail'; }
	# The caller must be the only shell above: bats itself runs in bash.
	[ -z "$(SHELL=/bin/bash bash -c '"$0" profile doctor --no-exec --json; :' "$WARDBOX" | mismatch)" ]
	need command -v dash
	out=$(SHELL=/bin/zsh dash -c '"$0" profile doctor --no-exec --json; :' "$WARDBOX" | mismatch)
	[ "$out" = 'info $SHELL names zsh, but dash called' ]
	out=$(SHELL=/opt/gone/zsh profile doctor --no-exec --json | mismatch)
	[ "$out" = "error the shell /opt/gone/zsh is not there" ]
	SHELL=/opt/gone/zsh has shell-mismatch --no-exec
	out=$(SHELL=/bin/rbash profile doctor --no-exec --json | mismatch)
	[[ "$out" == "warning the shell is restricted"* ]]
}

@test "the machine's files are judged, and left to the administrator" {
	mkdir -p "$HOME/r/etc/profile.d" "$HOME/r/etc/zsh"
	printf 'PATH=/usr/bin:/bin\nPATH=$PATH:/nowhere\n. /no/such/file\n' >"$HOME/r/etc/profile"
	printf 'source /etc/os-release\r\n' >"$HOME/r/etc/profile.d/a.sh"
	printf 'PATH=bin:$PATH\nreturn\n' >"$HOME/r/etc/bash.bashrc"
	cp -r "$HOME/r" "$HOME/before"
	profile doctor --no-exec --root "$HOME/r" --json >"$HOME/j" || [ $? = 1 ]
	found() { jq -e --arg c "$1" --arg f "$HOME/r$2" \
		'.problems[] | select(.code == $c and .file == $f) | (.fixable == false) and .line >= 1' "$HOME/j"; }
	found dangling-source /etc/profile
	found crlf /etc/profile.d/a.sh
	found bashism-in-profile /etc/profile.d/a.sh
	found path-corrupt /etc/bash.bashrc
	# Setting PATH is such a file's business, and how often it does so.
	not found path-clobber /etc/profile
	not found path-multiple /etc/profile
	jq -e --arg f "$HOME/r/etc/profile" '.problems[] | select(.code == "dangling-source")
		| .fix == "as root: profile fix dangling-source --file '"'"'" + $f + "'"'"'"' "$HOME/j"
	printf 'x=bad;;\n' >"$HOME/r/etc/zsh/zshrc"
	SHELL=/bin/zsh profile doctor --root "$HOME/r" --json |
		jq -e '.problems[] | select(.code == "syntax" and (.file | endswith("/zsh/zshrc")))'
	rm "$HOME/r/etc/zsh/zshrc"
	run profile fix -y --no-exec --root "$HOME/r"
	diff -r "$HOME/before" "$HOME/r"
	# What it advises works.
	run -0 profile fix dangling-source -y --file "$HOME/r/etc/profile"
	grep -q 'if \[ -r /no/such/file \]' "$HOME/r/etc/profile"
}

@test "a home with .bashrc and no login file: told, made, taken back" {
	echo 'export Y=2' >"$HOME/.bashrc"
	has login-skips-bashrc
	run -0 profile fix -y login-skips-bashrc
	not has login-skips-bashrc
	run -0 sh -c 'env -i HOME="$HOME" PATH=/usr/bin:/bin bash -lic "echo \$Y" 2>/dev/null'
	[ "$output" = 2 ]
	run -0 profile undo -y
	[ ! -e "$HOME/.profile" ]
}

@test "tcsh's own words without a terminal are no noise" {
	need command -v tcsh
	touch "$HOME/.cshrc"
	SHELL=$(command -v tcsh) not has output-noise
	echo 'echo hello' >"$HOME/.cshrc"
	SHELL=$(command -v tcsh) has output-noise
}

@test "a login that lacks what other shells have is not healthy" {
	echo 'export PATH="$HOME/only/rc:$PATH"' >"$HOME/.bashrc"
	profile detect --json | jq -e '.path_healthy == false'
	echo '. ~/.bashrc' >"$HOME/.profile"
	profile detect --json | jq -e '.path_healthy == true'
}

@test "doctor COMMAND: installed, and not found; then found" {
	mkdir -p "$HOME/.cargo/bin"
	printf '#!/bin/sh\n' >"$HOME/.cargo/bin/only-here"
	chmod +x "$HOME/.cargo/bin/only-here"
	has missing-path only-here
	has missing-path
	echo 'export PATH="$HOME/.cargo/bin:$PATH"' >"$HOME/.zshrc"
	has other-shell only-here
	run -0 profile fix -y missing-path
	not has missing-path only-here
	has missing-path no-such-command-anywhere
}

@test "sandbox: nothing here is an answer too, and JSON has evidence" {
	run -0 profile sandbox
	profile sandbox --json | jq -e '.schema == 1 and (.sandbox | type == "array")
		and all(.sandbox[]; .evidence and .profile_write and .package_install and .user_install)'
}

# A machine of files: tree PATH TEXT...
tree() {
	while [ $# -gt 1 ]; do
		mkdir -p "$HOME/t$(dirname "$1")"
		printf '%s\n' "$2" >"$HOME/t$1"
		shift 2
	done
}
kinds() { profile sandbox --root "$HOME/t" --json | jq -r '.sandbox[] | .kind + "=" + (.confined | tostring) + "/" + .package_install + "/" + .user_install + "/" + .profile_write' | xargs; }
fresh() {
	rm -rf "$HOME/t"
	mkdir -p "$HOME/t/proc/self/ns" "$HOME/t/proc/1"
	ln -s 'pid:[4026531836]' "$HOME/t/proc/self/ns/pid"
	ln -s 'user:[4026531837]' "$HOME/t/proc/self/ns/user"
	tree /proc/self/mountinfo '21 1 8:1 / / rw - ext4 /dev/sda1 rw' \
		/proc/1/mountinfo '21 1 8:1 / / rw - ext4 /dev/sda1 rw'
}
contained() {
	ln -sfn 'pid:[4026532001]' "$HOME/t/proc/self/ns/pid"
}

@test "sandbox: snap, strict and classic" {
	fresh
	tree /proc/self/attr/apparmor/current 'snap.code.code (enforce)' \
		/snap/code/current/meta/snap.yaml $'name: code\nconfinement: strict'
	[[ "$(kinds)" == "snap-strict=true/no/maybe/no apparmor=true/"* ]]
	tree /snap/code/current/meta/snap.yaml $'name: code\nconfinement: classic'
	[[ "$(kinds)" == "snap-classic=false/yes/yes/yes "* ]]
	fresh
	tree /proc/self/cgroup '0::/user.slice/snap.hello.world.abc.scope'
	[[ "$(kinds)" == "snap-strict=true"* ]]
	fresh # a variable that leaked into a child means nothing
	SNAP=/snap/x/1 FLATPAK_ID=a.b.c run kinds
	[ -z "$output" ]
}

@test "sandbox: Flatpak, SELinux, AppArmor" {
	fresh
	tree /.flatpak-info $'[Application]\nname=org.x.Y'
	[ "$(kinds)" = "flatpak=true/no/maybe/no" ]
	fresh
	tree /sys/fs/selinux/enforce 1 /proc/self/attr/current 'user_u:user_r:user_t:s0'
	[ "$(kinds)" = "selinux=true/yes/yes/yes" ]
	tree /proc/self/attr/current 'unconfined_u:unconfined_r:unconfined_t:s0'
	[ "$(kinds)" = "selinux=false/yes/yes/yes" ]
	fresh
	tree /proc/self/attr/apparmor/current 'docker-default (enforce)'
	[ "$(kinds)" = "apparmor=true/yes/yes/yes" ]
	tree /proc/self/attr/apparmor/current unconfined
	[[ "$(kinds)" == "apparmor=false"* ]]
}

@test "sandbox: containers by kind; /.dockerenv alone is no container" {
	fresh
	tree /.dockerenv ''
	[[ "$(kinds)" == "image-origin=false"* ]]
	contained
	[[ "$(kinds)" == "container=true/maybe/yes/maybe pid-namespace=true"* ]]
	tree /run/.containerenv ''
	profile sandbox --root "$HOME/t" --json | jq -e '.sandbox[] | select(.detail == "podman")'
	tree /run/systemd/container lxc
	profile sandbox --root "$HOME/t" --json | jq -e '.sandbox[] | select(.detail == "lxc")'
	fresh
	contained
	KUBERNETES_SERVICE_HOST=10.0.0.1 profile sandbox --root "$HOME/t" --json |
		jq -e '.sandbox[] | select(.detail == "kubernetes")'
	fresh
	KUBERNETES_SERVICE_HOST=10.0.0.1 run kinds
	[ -z "$output" ]
}

@test "sandbox: chroot, seccomp, NoNewPrivs, proot, WSL, initramfs" {
	fresh
	tree /proc/self/mountinfo '99 1 8:1 /srv/x /srv/x rw - ext4 /dev/sda1 rw'
	[[ "$(kinds)" == "chroot=true/maybe/yes/yes" ]]
	fresh
	tree /proc/self/mountinfo '77 1 8:2 / / rw - ext4 /dev/sda2 rw'
	[[ "$(kinds)" == "chroot=true"* ]]
	fresh
	# Of a namespace of its own, the same mount has another number.
	tree /proc/self/mountinfo $'20 77 0:5 / /proc rw - proc proc rw\n77 1 8:1 / / rw - ext4 /dev/sda1 rw'
	[ -z "$(kinds)" ]
	fresh
	tree /proc/self/status $'Name:\tx\nTracerPid:\t42\nNoNewPrivs:\t1\nSeccomp:\t2' \
		/proc/42/comm proot
	[[ "$(kinds)" == "seccomp=true/maybe/yes/yes no-new-privs=true/no/yes/yes proot=true/maybe/yes/yes" ]]
	fresh
	tree /proc/sys/kernel/osrelease 5.15.90.1-microsoft-standard-WSL2
	[[ "$(kinds)" == "wsl=false"* ]]
	fresh
	tree /proc/self/mountinfo '1 1 0:2 / / rw - rootfs rootfs rw' \
		/proc/1/mountinfo '1 1 0:2 / / rw - rootfs rootfs rw'
	[[ "$(kinds)" == "initramfs=true"* ]]
}

@test "sandbox: the real things that this machine can show" {
	need unshare -m true
	[ "$(id -u)" = 0 ] || skip "not root"
	mkdir -p "$HOME/jail/bin"
	cp "$WARDBOX" "$HOME/jail/bin/wardbox"
	run -0 chroot "$HOME/jail" /bin/wardbox profile sandbox
	[[ "$output" == chroot* ]]
	run -0 setpriv --no-new-privs "$WARDBOX" profile sandbox
	[[ "$output" == *no-new-privs* ]]
	run -0 unshare -mpf --mount-proc "$WARDBOX" profile sandbox
	[[ "$output" == *pid-namespace* ]]
	run -0 unshare -m sh -c 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" &&
		"$2" profile sandbox' _ "$HOME" "$WARDBOX"
	[[ "$output" == *home-read-only* ]]
	run -0 strace -qq -o /dev/null "$WARDBOX" profile sandbox
	[[ "$output" == *traced* ]]
	need unshare -U true
	run -0 unshare -U "$WARDBOX" profile sandbox
	[[ "$output" == *user-namespace* ]]
}

@test "in a snap or Flatpak a startup file is not written, unless forced" {
	need unshare -m true
	[ "$(id -u)" = 0 ] || skip "not root"
	mkdir -p "$HOME/root"
	run unshare -m sh -c 'mount -t tmpfs none "$1/root" && cd "$1/root" &&
		mkdir proc tmp home bin && mount --rbind /proc proc && cp "$2" bin/wardbox &&
		echo "[Application]" >.flatpak-info &&
		HOME=/home chroot . /bin/wardbox profile add -y /opt/x; echo "code $?"' _ "$HOME" "$WARDBOX"
	[[ "$output" == *flatpak* && "$output" == *"code 5"* ]]
}
