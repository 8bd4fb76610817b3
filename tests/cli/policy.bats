#!/usr/bin/env bats
# policy: status, allowlist, blocklist, test, explain, check, compile, sign …

load ../lib/wardbox

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p proj/.git home
	cd proj || return 1
}

fixture() { # in the place that the corpus speaks of
	unshare -m sh "$TOP/tests/lib/policy-fixture" "$@"
}

policy() {
	"$WARDBOX" policy "$@"
}

@test "every line of the six corpora decides as it says" {
	need unshare -m true
	run fixture "$HELPERS/docker" "$WARDBOX" policy test \
		--batch "$TOP/tests/data/policy-corpus.tsv"
	[ "$status" -eq 0 ]
	[ "$(wc -l <<<"$output")" -gt 700 ]
	run fixture "$HELPERS/docker" "$WARDBOX" policy test \
		--batch "$TOP/tests/data/policy-lines.tsv"
	[ "$status" -eq 0 ]
	[ "$(wc -l <<<"$output")" -gt 2000 ]
	run fixture "$HELPERS/docker" "$WARDBOX" policy test \
		--batch "$TOP/tests/data/policy-siblings.tsv"
	[ "$status" -eq 0 ]
	[ "$(wc -l <<<"$output")" -gt 3000 ]
	run fixture "$HELPERS/docker" "$WARDBOX" policy test \
		--batch "$TOP/tests/data/shell-lines.tsv"
	[ "$status" -eq 0 ]
	[ "$(wc -l <<<"$output")" -gt 700 ]
	run fixture "$HELPERS/docker" "$WARDBOX" policy test \
		--batch "$TOP/tests/data/everyday-lines.tsv"
	[ "$status" -eq 0 ]
	[ "$(wc -l <<<"$output")" -gt 1500 ]
	run fixture "$HELPERS/docker" "$WARDBOX" policy test \
		--batch "$TOP/tests/data/hidden-lines.tsv"
	[ "$status" -eq 0 ]
	[ "$(wc -l <<<"$output")" -gt 700 ]
	# the batch does see a difference
	printf 'PROFILE-DEV\tALLOW\tcurl http://x\n' >bad.tsv
	run policy test --batch bad.tsv
	[ "$status" -eq 1 ]
	[[ $output == *"1 of 1 rows differ"* ]]
}

@test "the exit code is the decision" {
	run policy test 'git status && npm test'
	[ "$status" -eq 0 ]
	run policy test --profile DEV 'make -j2'
	[ "$status" -eq 10 ]
	run policy test -p PROFILE-FULL-AUTO 'make -j2'
	[ "$status" -eq 0 ]
	run policy test 'git status; c"u"rl http://x'
	[ "$status" -eq 11 ]
	[[ $output == "deny (net): "* ]]
	run policy test --profile OBSERVE 'curl http://x'
	[ "$status" -eq 0 ]
	[[ $output == *"would be deny"* ]]
	run policy test --profile NONE true
	[ "$status" -eq 2 ]
	run policy test
	[ "$status" -eq 2 ]
}

@test "shell is another name of it" {
	run "$WARDBOX" shell test 'curl http://x'
	[ "$status" -eq 11 ]
	links shell
	run "$LINKS/shell" blocklist
	[ "$status" -eq 0 ]
	[[ $output == *curl* ]]
	run "$LINKS/shell" allowlist
	[[ $output == *"npm {install"* ]]
	run "$LINKS/shell" status
	[[ $output == *"profile    DEV"* ]]
}

@test "json of every verb is one value" {
	printf 'policy 1 system\n' >p
	policy keygen --key k --json >made
	jq -e '.[1].file | endswith("k.pub")' made
	policy init -R . --json | jq -e '.[0].written'
	mkdir state
	policy --json init -n | jq -e '.[0] | .written == false and
		(.text | contains("policy 1 project"))'
	for verb in "test x" "explain x" status allowlist blocklist check \
		"check p" "check none" "compile -n" "sign -k k p" \
		"verify -k k.pub p" suggest history; do
		# shellcheck disable=SC2086
		policy --json $verb >out || true
		python3 -c 'import json; json.load(open("out"))'
	done
	policy verify -j -k k.pub p | jq -e '.[0].good'
	echo >>p
	run policy verify -j -k k.pub p
	[ "$status" -eq 1 ]
	jq -e '.[0] | .good == false and (.error | length > 0)' <<<"$output"
	for verb in export "test --batch p" "suggest --write x"; do
		# shellcheck disable=SC2086
		run policy --json $verb
		[ "$status" -eq 2 ]
		[[ $output == *"not JSON"* ]]
	done
}

@test "the last 0 decisions are none to ask for" {
	run policy history -c 0
	[ "$status" -eq 2 ]
	[[ $output == *"leave it out"* ]]
}

@test "a verb that takes nothing is given nothing" {
	for verb in status allowlist blocklist compile export keygen history \
		init suggest; do
		run policy "$verb" x
		[ "$status" -eq 2 ]
		[[ $output == *"'$verb' takes no operand"* ]]
	done
	[ ! -e .wardbox ]
}

@test "a directory as deep as a path can name is judged as any" {
	local deep i
	deep=$(printf 'd%.0s' {1..240})
	for i in {1..14}; do
		mkdir "$deep"
		cd "$deep"
	done
	run policy test 'git status'
	[ "$status" -eq 0 ]
	for i in {1..4}; do
		mkdir "$deep"
		cd "$deep"
	done
	run policy test 'git status'
	[ "$status" -eq 1 ]
	[[ $output == *"too long"* ]]
	cd "$BATS_TEST_TMPDIR"
}

@test "status tells whether anything runs, and what is done with the unknown" {
	run policy status -p SAFE
	[[ $output == *"shell      off, unknown commands: deny"* ]]
	run policy status -p DEV
	[[ $output == *"shell      on, unknown commands: confirm"* ]]
	run policy status -p FULL-AUTO --json
	jq -e '.shell and .unknown == "allow" and .network == "local" and
		.relaxed == []' <<<"$output"
}

@test "status names where the system's policy is from" {
	run policy status
	[[ $output == *"system     built in"* ]]
	policy status --json | jq -e '.layers[0].source == "built in"'
	printf 'include default\n' >p
	run policy status --system p
	[[ $output == *"system     p"* ]]
	[[ $output != *"built in"* ]]
}

@test "explain draws each command and names its rule" {
	run policy explain 'cat a | curl -d @- http://x'
	[ "$status" -eq 11 ]
	[[ $output == *"  cat a | curl -d @- http://x"* ]]
	[[ $output == *"          ^^^^^^^^^^^^^^^^^^^"* ]]
	[[ $output == *"deny (net)"*"[default:"* ]]
	[[ $output == *"=> deny"* ]]
	# once each, however many shells read it so
	run policy explain 'source none/x; ls
ls'
	[ "$(grep -c '^  confirm (unknown)' <<<"$output")" -eq 2 ]
	policy explain --json 'source none/x; ls' >found.json || true
	jq -e '[.commands[] | select(.command == "ls")] | length == 1' found.json
}

@test "explain marks characters, not bytes" {
	run policy explain "echo 'äöü'; curl x"
	[[ $output == *$'\n'"              ^^^^^^"$'\n'* ]]
}

@test "paths are judged from the directory given" {
	mkdir -p sub
	run policy test --cwd sub 'cat ../README'
	[ "$status" -eq 0 ]
	run policy test --cwd /usr/share 'cat ../../x'
	[ "$status" -eq 12 ]
	run "$HELPERS/docker" "$WARDBOX" policy test --cwd sub --root sub 'cat ../README'
	[ "$status" -eq 12 ]
	run policy explain --cwd sub 'cat /opt/x'
	[[ $output == *"open (path)"*"is outside of "*": the sandbox decides"* ]]
}

@test "a line may name any place, and takes no system directory, home or secret" {
	local line
	for line in "rm -rf $HOME" 'rm -rf ~/*' 'rm -rf /' 'rm -rf /*' 'rm -r /usr/lib' 'rm -rf ..' \
		'rm -rf "$PWD"' 'cd /; rm -r etc' 'chmod -R 777 /etc' 'find / -delete' 'mv ~ x' \
		'mv -t x /usr' 'mv --target-directory=x ~' 'rm -rf //usr//' 'cd /usr && rm -rf ../etc' \
		'env rm -rf --no-preserve-root /' "sh -c 'rm -rf ../*'" 'dd if=x of=/dev/sda'; do
		run policy test "$line"
		echo "$line: $output"
		[ "$status" -eq 11 ]
		[[ $output == *ruin* ]]
	done
	for line in 'cat ~/.ssh/id_rsa' 'cp ~/.aws/credentials x' ': <~/.netrc' 'cd ~/.gnupg'; do
		run policy test "$line"
		[ "$status" -eq 11 ]
		[[ $output == *secret* ]]
	done
	for line in 'cat /etc/shadow' 'ls /opt' 'mkdir /opt/x' 'cd /' 'rm -rf /opt/x/y' \
		'cat x > /opt/log'; do
		run policy test -p FULL-AUTO "$line"
		echo "$line: $output"
		[ "$status" -eq 12 ]
	done
	for line in 'rm -rf *' 'rm -rf x/*' 'mv -t . x/y' 'rm -rf ./x'; do
		run policy test -p FULL-AUTO "$line"
		echo "$line: $output"
		[ "$status" -eq 0 ]
	done
}

@test "a command within another is read where a line says how, else when it starts" {
	local line
	for line in 'env -u A B=1 curl x' 'timeout -k 5 10 curl x' 'xargs -n 1 curl' 'nice -n5 curl x' \
		"sh -euo pipefail -c 'curl x'" 'find . -name x -exec curl {} ;' "flock x -c 'curl x'" \
		'find . -exec curl {} +' "watch -n 1 'true; curl x'" 'busybox nohup wget x' \
		'stdbuf -oL time -p curl x' 'env -S "curl x"' "npx -c 'curl x'" \
		'git -c core.sshCommand=x fetch' 'git -c alias.x=!x x' 'git clone ext::x y'; do
		run policy test -p FULL-AUTO "$line"
		echo "$line: $output"
		[ "$status" -eq 11 ]
	done
	for line in 'command -v curl' 'env A=1' 'timeout 5 make' 'git -c color.ui=never log' \
		'git -C . status' 'grep -e "/etc/x" README' "sed -n '/a/p' README" 'kill -TERM 999999' \
		'poetry-like run curl x' 'git commit -m "a::b"' 'find . -name x -exec ls {} +'; do
		run policy test -p FULL-AUTO "$line"
		echo "$line: $output"
		[ "$status" -eq 0 ]
	done
	printf '#!/bin/sh\nshift\n"$@"\n' >wrap
	chmod +x wrap
	run in_policy 'use FULL-AUTO' "$WARDBOX" sh -c './wrap run curl x'
	[ "$status" -ne 0 ]
	[[ $output == *"denied: "*curl*"rule net"* ]]
	# Said by root, it is read.
	run in_policy 'include default
use FULL-AUTO
reads poetry-like 1 cmd' "$WARDBOX" policy test 'poetry-like run curl x'
	[ "$status" -eq 11 ]
}

@test "WARDBOX_PROFILE tightens and never loosens" {
	WARDBOX_PROFILE=SAFE run policy test :
	[ "$status" -eq 11 ]
	WARDBOX_PROFILE=OBSERVE run policy test 'curl x'
	[ "$status" -eq 11 ]
	[[ $output == *"looser than DEV"* ]]
	WARDBOX_PROFILE=rubbish run policy test :
	[ "$status" -eq 11 ]
}

@test "mistakes in a policy are named with file, line and column" {
	printf 'policy 1 system\nallow make **\ndney curl **\n' >p
	run policy check p
	[ "$status" -eq 3 ]
	[[ $output == *"p:3:1: dney: no such statement, expected deny"* ]]
	printf 'policy 1 system\ntest DEV allow "curl x"\n' >p
	run policy check p
	[ "$status" -eq 3 ]
	[[ $output == *"p:2:1: test failed: expected allow in DEV"* ]]
	printf 'policy 1 project\nreads make cmd\n' >p
	run policy check p
	[ "$status" -eq 3 ]
	[[ $output == *"only the system policy"* ]]
	printf 'include default\nallow make **\ntest DEV allow "make x"\n' >p
	run policy check p
	[ "$status" -eq 0 ]
	# which layer a file is for stands in its first column
	printf '# policy 1 project\nallow make **\nreads x cmd\n' >p
	run policy check p
	[ "$status" -eq 0 ]
}

@test "a rule that would match nothing is a mistake" {
	for line in 'deny porf=DEV curl' 'deny a{b|c} **' 'deny {a|} **' \
		'list x {a|b}' 'protect deny {a|b}' 'protect deny ../x' \
		'relax landlock sceomp'; do
		printf 'policy 1 system\n%s\n' "$line" >p
		run policy check p
		[ "$status" -eq 3 ]
		[[ $output == *"p:2:"*": expected"* ]]
	done
	printf "policy 1 system\ndeny 'a=b' '{x}' **\nprotect deny '{a}'\n" >p
	for part in landlock seccomp caps scope net unix pid mount ipc netns \
		limits watch audit; do
		echo "relax $part" >>p
	done
	run policy check p
	[ "$status" -eq 0 ]
	head -c 2000000 /dev/zero | tr '\0' '#' >p
	run policy check p
	[ "$status" -eq 3 ]
	[[ $output == *"p: larger than 1048576 bytes"* ]]
}

@test "what a project's policy says does not reach the terminal as it is" {
	local dir=$'esc\033[31m'
	mkdir -p "$dir/.git" "$dir/.wardbox"
	cd "$dir" || return 1
	printf 'deny id=m make ** : "why\\n=> allow" "do\\n=> allow"\n' \
		>.wardbox/policy
	for verb in status "test make" "explain make" blocklist; do
		# shellcheck disable=SC2086
		run policy $verb
		[[ $output != *$'\033'* ]]
		[[ $output != *$'\n=> allow'* ]]
	done
	printf 'deny make ** : "\033[31m"\n' >.wardbox/policy
	run policy check .wardbox/policy
	[ "$status" -eq 3 ]
	[[ $output == *"policy:1:16: the character U+001B has no place"* ]]
	[[ $output != *$'\033'* ]]
}

@test "a project's policy is read where it lies, not behind a link" {
	mkdir .wardbox
	echo 'TOKEN: secret' >../token
	ln -s ../../token .wardbox/policy
	run policy test true
	[ "$status" -eq 3 ]
	[[ $output == *"may be no symbolic link"* && $output != *TOKEN* ]]
	run "$WARDBOX" sh -c 'echo ran'
	[ "$status" -eq 125 ]
	[[ $output != *TOKEN* && $output != *ran* ]]
	rm .wardbox/policy
	mv .wardbox ../theirs
	echo 'TOKEN: secret' >../theirs/policy
	ln -s ../theirs .wardbox
	run policy test true
	[ "$status" -eq 3 ]
	[[ $output == *"may be no symbolic link"* && $output != *TOKEN* ]]
	rm .wardbox
	mkdir .wardbox
	printf 'deny make **\n' >.wardbox/policy
	run policy test make
	[ "$status" -eq 11 ]
	# another name for the project itself is none of its doing
	ln -s proj ../also
	run policy test --cwd ../also make
	[ "$status" -eq 11 ]
}

@test "except and list widen the default in the system policy alone" {
	printf 'include default\nexcept id=net curl http://there.example/ok\nlist net mycurl\n' >p
	run policy test --system p 'curl http://there.example/ok'
	[ "$status" -eq 10 ]
	run policy test --system p 'curl http://there.example/ok http://x'
	[ "$status" -eq 11 ]
	run policy test --system p 'mycurl x'
	[ "$status" -eq 11 ]
}

@test "a project tightens; what is delegated it may allow" {
	mkdir .wardbox
	printf 'deny git log **\nallow make **\nallow curl **\n' >.wardbox/policy
	run policy test 'git log'
	[ "$status" -eq 11 ]
	[[ $output == *".wardbox/policy:1"* ]]
	run policy test 'make x'
	[ "$status" -eq 10 ]
	run policy test 'curl x'
	[ "$status" -eq 11 ]
	printf 'include default\ndelegate project allow make {all|x} **\n' >p
	run policy test --system p 'make x'
	[ "$status" -eq 0 ]
	run policy test --system p 'make y'
	[ "$status" -eq 10 ]
	printf 'rubbish\n' >.wardbox/policy
	run policy test 'git status'
	[ "$status" -eq 3 ]
}

@test "a project puts nothing into the environment of commands" {
	mkdir .wardbox
	for set in PATH="$PWD:/bin" LD_PRELOAD=./x.so GIT_EDITOR=./x; do
		printf 'env set %s\n' "$set" >.wardbox/policy
		run policy check .wardbox/policy
		[ "$status" -eq 3 ]
		[[ $output == *"policy:1:5: set: only the system policy may"* ]]
		run "$WARDBOX" sh -c 'echo "$PATH:$LD_PRELOAD:$GIT_EDITOR"'
		[ "$status" -ne 0 ]
		[[ $output != *"${set#*=}"* ]]
	done
	rm .wardbox/policy
	printf 'include default\nenv set X=y\n' >p
	run policy check p
	[ "$status" -eq 0 ]
	run "$WARDBOX" sh -c 'echo $PATH'
	[ "$status" -eq 0 ]
}

@test "root's first command keeps what it compiled, when the policy has rested" {
	project
	export WARDBOX
	# shellcheck disable=SC2016 # expanded by the inner shell
	run in_policy $'use FULL-AUTO\ndeny id=mine frob **' sh -c '
		img=/run/wardbox/policy.img
		at() { "$WARDBOX" sh -c "$1" 2>&1; }
		at : && [ ! -e $img ] || exit 90 # may change again within a tick
		sleep 2.2
		setpriv --reuid 1000 --regid 1000 --clear-groups "$WARDBOX" sh -c : ||
			exit 91
		[ ! -e $img ] || exit 92
		at : && [ "$(stat -c "%a %u" $img)" = "444 0" ] || exit 93
		[ "$(ls /run/wardbox)" = "$(printf "0\n1000\npolicy.img")" ] || exit 94
		at "frob x" | grep "rule mine" || exit 95
		setpriv --reuid 1000 --regid 1000 --clear-groups "$WARDBOX" sh -c "frob x" 2>&1 |
			grep "rule mine" || exit 96
		was=$(stat -c "%i %Z" $img)
		at : && [ "$(stat -c "%i %Z" $img)" = "$was" ] || exit 97
		# Followed at once, and kept when it has rested.
		echo "deny id=other blub **" >>/etc/wardbox/policy
		at "blub x" | grep "rule other" || exit 98
		[ "$(stat -c "%i %Z" $img)" = "$was" ] || exit 99
		sleep 2.2
		at : && [ "$(stat -c %i $img)" != "${was% *}" ] || exit 100
		# The last good one; neither a broken one nor one whose tests fail is kept.
		was=$(stat -c "%i %Z" $img)
		echo "bogus" >>/etc/wardbox/policy
		sleep 2.2
		WARDBOX_DEBUG=1 at : | grep "policy:4:1: bogus" || exit 101
		[ -z "$(at :)" ] || exit 104 # to a person alone
		script -qec "$WARDBOX sh -c :" /dev/null </dev/null | grep "policy:4:1: bogus" ||
			exit 105
		# Each time, it is in the log.
		[ "$("$WARDBOX" audit dump -o json |
			grep -c "policy.stale.*bogus.*\"line\":4")" = 3 ] || exit 106
		at "blub x" | grep "rule other" || exit 102
		sed -i "s/^bogus/test FULL-AUTO deny \"true\"/" /etc/wardbox/policy
		sleep 2.2
		at :
		[ "$(stat -c "%i %Z" $img)" = "$was" ] || exit 103'
	echo "$status: $output"
	[ "$status" -eq 0 ]
}

@test "compile writes an image, and a stale one is used with a warning" {
	need unshare -m true
	mkdir -p etc/policy.d run
	printf 'allow make **\n' >etc/policy.d/a.policy
	cat >go <<-'END'
		mkdir -p /etc/wardbox /run/wardbox
		mount --bind etc /etc/wardbox && mount --bind run /run/wardbox
		"$WARDBOX" policy compile || exit 90
		"$WARDBOX" policy test 'make x' || exit 91
		echo 'rubbish' >etc/policy.d/b.policy
		"$WARDBOX" policy test 'make x' 2>err || exit 92
		grep -q 'b.policy:1:1: rubbish' err || exit 93
		"$WARDBOX" policy compile && exit 94
		rm run/policy.img
		"$WARDBOX" policy test : 2>err
		[ $? -eq 3 ] || exit 95
		rm etc/policy.d/b.policy
		printf 'deny make **\n' >etc/policy.d/a.policy
		"$WARDBOX" policy compile || exit 96
		printf 'allow make **\n# longer\n' >etc/policy.d/a.policy
		"$WARDBOX" policy test 'make x' || exit 97
		chmod 666 etc/policy.d/a.policy
		"$WARDBOX" policy test 'make x' 2>err
		[ $? -eq 0 ] && exit 98
		exit 0
	END
	export WARDBOX
	run unshare -m sh -c 'mount -t tmpfs none /mnt; d=$PWD
		mkdir -p /mnt/up /mnt/work
		mount -t overlay none -o lowerdir=/etc,upperdir=/mnt/up,workdir=/mnt/work /etc &&
		mkdir -p /run/wardbox && cd "$d" && sh go'
	[ "$status" -eq 0 ]
}

@test "keygen, sign and verify" {
	printf 'include default\n' >p
	run policy keygen --key k
	[ "$status" -eq 0 ]
	[ "$(stat -c %a k)" = 600 ]
	run policy sign --key k p
	[ "$status" -eq 0 ]
	run policy verify --key k.pub p
	[ "$status" -eq 0 ]
	echo >>p
	run policy verify --key k.pub p
	[ "$status" -eq 1 ]
	[[ $output == *"does not fit"* ]]
	run policy keygen --key k
	[ "$status" -eq 1 ]
}

@test "init knows a project by its files" {
	while read -r file rule; do
		mkdir "of-$file"
		touch "of-$file/$file"
		policy init -n -R "of-$file" >out
		grep -q "^allow $rule" out
		[ "$(grep -c '^allow' out)" -eq 1 ]
	done <<-'END'
		Makefile make
		package.json npm
		pnpm-lock.yaml pnpm
		Cargo.toml cargo
		go.mod go
		pyproject.toml {pytest
		setup.py pytest
		requirements.txt pytest
		CMakeLists.txt {cmake
		meson.build {meson
		App.sln dotnet
		src.csproj dotnet
		pom.xml mvn
		build.gradle ./gradlew
		build.gradle.kts ./gradlew
		Gemfile bundle
		composer.json composer
	END
	mkdir empty
	policy init -n -R empty | grep -q 'No build system was found'
}

@test "init writes a policy that passes its own tests" {
	touch Makefile package.json
	run policy init --dry-run
	[ "$status" -eq 0 ]
	[ ! -e .wardbox ]
	[[ $output == *"allow make"*"allow npm"* ]]
	run policy init
	[ "$status" -eq 0 ]
	run policy check
	[ "$status" -eq 0 ]
	run policy init
	[ "$status" -eq 1 ]
}

@test "history and suggest read the log, and propose nothing that opens all" {
	need unshare -m true
	need "$WARDBOX" sh -c :
	in_policy 'include default
use OBSERVE' sh -c '
		"$1" sh -c "make -n all" ; "$1" sh -c "make -n all"
		"$1" sh -c "python3 -c 1"; "$1" sh -c "curl --version"
		"$1" policy history >history; "$1" policy suggest >suggest' \
		- "$WARDBOX" >/dev/null 2>&1 || true
	[ -s history ] || skip "no log was written"
	grep -q 'make -n all' history
	grep -q '^allow make -n all$' suggest
	not grep -q 'allow python3' suggest
	! grep -q 'allow curl' suggest
}

@test "history says of an open line that it was open, and suggest counts none" {
	need unshare -m true
	need "$WARDBOX" sh -c :
	in_policy 'include default
use FULL-AUTO' sh -c '
		"$1" sh -c "\$(echo true)"; "$1" sh -c "curl x"
		"$1" policy history >history; "$1" policy history --json >json
		"$1" policy suggest >suggest' - "$WARDBOX" >/dev/null 2>&1 || true
	grep -q ' open .*echo true' history
	grep -q ' deny .*curl x' history
	jq -e '[.[].decision] == ["open", "deny"]' json
	grep -q '^# Lines that were asked about or not allowed: 1$' suggest
}

@test "history and suggest: -c is a shell's own, and no script's or other program's" {
	need unshare -m true
	need "$WARDBOX" sh -c :
	echo 'ls "$@" /usr' >save
	in_policy 'include default
use OBSERVE' sh -c '
		for i in 1 2 3; do
			"$1" sh save -c seven eight; "$1" exec s -- ls -c nine
			"$1" sh -e -c "make -n ten" x
		done
		"$1" policy history >history; "$1" policy suggest >suggest' \
		- "$WARDBOX" >/dev/null 2>&1 || true
	grep -q ' sh save -c seven eight$' history
	grep -q ' ls -c nine$' history
	grep -q ' make -n ten$' history
	grep -q '^allow make -n ten$' suggest
	not grep -q 'allow seven' suggest
	! grep -q 'allow nine' suggest
}

@test "a copy of a blocked program reaches no more than any other" {
	need unshare -m true
	need "$WARDBOX" sh -c :
	command -v curl >/dev/null || skip "no curl"
	cp "$(command -v curl)" copy
	python3 -c 'import socket, sys, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(60)' >port &
	local server=$!
	until [ -s port ]; do sleep 0.05; done
	# shellcheck disable=SC2016 # expanded by the inner shell
	run in_policy 'use FULL-AUTO' sh -c '
		p=$(cat port)
		./copy -s -m 1 http://127.0.0.1:$p; echo "outside $?"
		"$1" sh -c "./copy -s -m 1 http://127.0.0.1:$p"; echo "inside $?"
		"$1" sh -c "curl -s http://127.0.0.1:$p"; echo "named $?"
		"$1" sh -c "curl -s http://there.example"; echo "away $?"' - "$WARDBOX"
	kill "$server"
	[[ $output == *"outside 28"* ]] # connected, no answer
	[[ $output == *"inside 7"* ]]   # no connection
	[[ $output == *"named 7"* ]]
	[[ $output == *"away 126"* ]]
}

@test "export writes the policy in force as deterministic CBOR" {
	mkdir .wardbox
	printf 'deny id=mine make x:y ** : "no"\n  except make x:y z\n' \
		>.wardbox/policy
	run policy export --output out.cbor
	[ "$status" -eq 0 ]
	policy export >piped.cbor
	cmp out.cbor piped.cbor
	python3 - out.cbor <<-'END'
		import sys
		b = open(sys.argv[1], 'rb').read()
		def item(i):
		    h, n, i = b[i] >> 5, b[i] & 31, i + 1
		    assert n < 28
		    if n >= 24:
		        w = 1 << (n - 24)
		        n, i = int.from_bytes(b[i:i + w], 'big'), i + w
		        assert n >= 24 if w == 1 else n >= 1 << (4 * w)
		    if h == 0: return n, i
		    if h == 3: return b[i:i + n].decode(), i + n
		    if h == 4:
		        r = []
		        for _ in range(n):
		            v, i = item(i); r.append(v)
		        return r, i
		    assert h == 5
		    r, last = {}, b''
		    for _ in range(n):
		        at = i; k, i = item(i); assert b[at:i] > last
		        last = b[at:i]; r[k], i = item(i)
		    return r, i
		p, end = item(0)
		assert end == len(b) and p['profile'] == 'DEV'
		system, project = p['layers']
		assert system['layer'] == 'system' and system['use'] == 'DEV'
		assert any('curl' in l[1] for l in system['list'] if l[0] == 'net')
		assert '-C' in dict(system['reads'])['git']
		words = [t for r in system['rule'] for t in r[6]]
		assert all(t[0] for t in words) and ['to', ['loopback']] in words
		rule, ex = project['rule']
		assert rule[0][0] == 'deny' and rule[1] == 'mine'
		assert rule[6] == [['word', ['make']], ['word', ['x:y']], ['rest', []]]
		assert rule[4] == 'no' and rule[7] == 1 and ex[0][0] == 'except'
	END
	run policy export x
	[ "$status" -eq 2 ]
	run policy export --dry-run --output dry.cbor
	[ "$status" -eq 0 ]
	[ "$output" = "dry.cbor (not written)" ]
	[ ! -e dry.cbor ]
	# Who stopped reading needs no word of it.
	(trap '' PIPE && policy export 2>err) | head -c 1 >first
	[ -s first ] && [ ! -s err ]
}

@test "the dialect is part of the question" {
	run policy test --dialect bash -p FULL-AUTO '{curl,http://x}'
	[ "$status" -eq 11 ]
	run policy test --dialect sh -p FULL-AUTO 'cat <(true)'
	[ "$status" -eq 12 ]
	run policy test --dialect cobol true
	[ "$status" -eq 2 ]
}

@test "a line that is not read is open, never allowed" {
	run policy test -p FULL-AUTO "$(head -c 100000 /dev/zero | tr '\0' '(')"
	[ "$status" -eq 12 ]
	run policy test -p FULL-AUTO "$(head -c 120000 /dev/zero | tr '\0' 'a')"
	[ "$status" -eq 12 ]
	run policy test -p FULL-AUTO "$(printf 'git status \u202e# x')"
	[ "$status" -eq 12 ]
	# a policy may still refuse what is open
	printf 'policy 1 system\ninclude default\nprofile FULL-AUTO open=deny\n' >strict
	for line in 'if then' '$(cat x)' 'cat /opt/x'; do
		run in_policy "$(cat strict)" "$WARDBOX" policy test -p FULL-AUTO "$line"
		[ "$status" -eq 11 ]
	done
	run in_policy "$(cat strict)" "$WARDBOX" policy test -p FULL-AUTO 'make -j2'
	[ "$status" -eq 0 ]
}

@test "what is not known before it runs is open: exit code 12, and explain says so" {
	run policy test -p FULL-AUTO '$(cat cmd) x'
	[ "$status" -eq 12 ]
	[[ $output == "open (dynamic): decided when it starts: "* ]]
	run policy test -p FULL-AUTO --json '$(cat cmd) x'
	[ "$status" -eq 12 ]
	jq -e '.decision == "open" and .open' <<<"$output"
	# the plain part decides where it is stricter, and the rest stays open
	run policy test -p FULL-AUTO --json '$(cat cmd) x; git push'
	[ "$status" -eq 10 ]
	jq -e '.decision == "confirm" and .open' <<<"$output"
	run policy test -p FULL-AUTO 'eval "$x"; curl http://x'
	[ "$status" -eq 11 ]
	run policy explain -p FULL-AUTO 'x=$(cat cmd); $x a'
	[[ $output == *"decided when it starts: the command is not known before it runs"* ]]
}

@test "a policy is written to where all can read it, a key is not" {
	umask 077
	run policy export --output policy.d/all.cbor
	[ "$status" -eq 0 ]
	[ "$(stat -c %a policy.d policy.d/all.cbor)" = "755
644" ]
	run policy keygen --key keys/mine
	[ "$status" -eq 0 ]
	[ "$(stat -c %a keys keys/mine)" = "700
600" ]
	[ "$(umask)" = 0077 ]
}

@test "check and suggest as JSON" {
	printf 'policy 1 project\ndeny\n' >bad
	run policy check --json bad
	[ "$status" -eq 3 ]
	jq -e '.[0] | .good == false and .line == 2 and .file == "bad"' <<<"$output"
	policy check --json | jq -e '.[0].good and .[0].tests > 0'
	run "$WARDBOX" policy suggest --json
	# what else this machine ran is in its log
	jq -e '.rules | type == "array"' <<<"$output"
	run policy suggest --json --write x
	[ "$status" -eq 2 ]
}
