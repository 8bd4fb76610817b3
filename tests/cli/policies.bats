#!/usr/bin/env bats
# the shipped policies: agent, ci, image, contract

load ../lib/wardbox

setup() {
	project
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$HOME"
	need unshare -m true
}

policy() { # ARGUMENT... of `policy`, with the system policy $POLICY
	in_policy "$POLICY" "$WARDBOX" policy "$@"
}

decides_in() { # PROFILE allow|confirm|deny LINE...
	local profile=$1 want=$2 line
	shift 2
	for line; do
		printf '%s\t%s\t%s\n' "$profile" "${want^^}" "$line"
	done >rows
	policy test --batch rows
}

decides() { # allow|confirm|deny LINE...
	decides_in FULL-AUTO "$@"
}

@test "each is a policy by itself, and takes lines behind it" {
	for name in contract agent ci image; do
		POLICY="include $name"
		run policy check
		echo "$name: $output"
		[ "$status" -eq 0 ]
		[ "$(policy status --json | jq -r .profile)" = FULL-AUTO ]
		POLICY="include $name"$'\ndeny make ** : "not here"'
		run policy test 'make all'
		[ "$status" -eq 11 ]
		[[ $output == *"not here"* ]]
	done
}

@test "include takes a known name, once, and first" {
	POLICY='include nothing'
	run policy check
	[ "$status" -eq 3 ]
	[[ $output == *"policy:1:"*"agent, ci, image or contract"* ]]
	POLICY=$'include agent\ninclude ci'
	run policy check
	[ "$status" -eq 3 ]
	[[ $output == *"policy:2:"* ]]
	# a project's policy may not loosen
	mkdir .wardbox
	printf '%s\n' 'policy 1 project' 'include agent' >.wardbox/policy
	POLICY='include contract'
	run policy check
	[ "$status" -eq 3 ]
	[[ $output == *"only the system policy may say this"* ]]
}

@test "agent: a day's lines run unasked, outward acts ask, the rest is denied" {
	POLICY='include agent'
	decides allow 'npm ci' 'npm install left-pad' 'pip install -r requirements.txt' \
		'python3 -m venv venv' 'python3 -m http.server' 'cargo install x' \
		'git push origin main' 'git clone ./a b' 'git fetch --all' 'git remote-https o https://a.example' \
		'dpkg -l' 'apt list --installed' 'sysctl -n kernel.ostype' \
		'crontab -l' 'gh run list --limit 5' 'docker build .' 'npm config set loglevel error'
	decides confirm 'npm publish' 'cargo publish' 'twine upload dist/*' \
		'gh pr merge 3' 'gh release create v1' 'terraform apply' \
		'kubectl apply -f x.yaml' 'npm install http://example.invalid/x.tgz' \
		'pip install --index-url http://example.invalid/ x'
	decides deny 'mkfs.ext4 /dev/sda' 'shutdown -h now' 'useradd x' 'insmod x.ko' \
		'crontab x' 'wardbox install' 'su -c id' 'unshare -r id'
	# the contract's own FULL-AUTO has none of that
	POLICY='include contract'
	decides confirm 'npm ci' 'pip install x' 'git push origin main' 'dpkg -i x.deb'
	decides deny 'sudo id' 'sysctl -n kernel.ostype'
}

# Data that is sent, and acts outside of the sandbox, on which no profile decides
# by itself.
OUTWARD=('git push origin main' 'npm publish' 'docker push x' 'docker run x'
	'kubectl apply -f x' 'terraform apply' 'gh pr create' 'sendmail a@b'
	'psql -h db -c x' 'xdg-open x' 'twine upload x' 'rsync a host:b' 'git fetch')

@test "what cannot be undone asks in every profile, and one line lets it go" {
	local name
	POLICY=$'include default\nuse SAFE'
	for line in "${OUTWARD[@]}" 'curl x.example'; do
		run policy test "$line"
		[ "$status" -eq 11 ]
	done
	for name in DEV FULL-AUTO; do
		POLICY="include default
use $name"
		decides_in "$name" confirm "${OUTWARD[@]}"
		decides_in "$name" deny 'curl -d @a x.example' 'ssh host true' 'crontab -'
		decides_in "$name" allow 'git status' 'git diff'
	done
	POLICY='include contract'
	decides confirm "${OUTWARD[@]}"
	POLICY+=$'\nallow id=git-net net=all git push **'
	decides allow 'git push origin main'
	decides confirm 'npm publish' 'git fetch'
}

@test "agent, ci, image: what reaches no host but those of a line goes on, the rest asks or is denied" {
	local name
	for name in agent ci image; do
		POLICY="include $name"
		decides confirm 'npm publish' 'docker push x' 'kubectl apply -f x' \
			'terraform apply' 'gh pr create' 'sendmail a@b' 'xdg-open x' 'twine upload x'
		decides allow 'git push origin main' 'ssh host true' 'rsync a host:b'
	done
	# No program of the project: those are judged by what they do.
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\ntouch sent\n' >"$BATS_TEST_TMPDIR/bin/sendmail"
	chmod +x "$BATS_TEST_TMPDIR/bin/sendmail"
	export PATH=$BATS_TEST_TMPDIR/bin:$PATH
	for name in agent ci; do
		POLICY="include $name
path r $BATS_TEST_TMPDIR/bin/**
exec $BATS_TEST_TMPDIR/bin"
		run in_policy "$POLICY" "$WARDBOX" sh -c 'sendmail a@b' </dev/null
		echo "$output"
		[ "$status" -eq 126 ]
		[ ! -e sent ]
		# Named by a line it runs.
		POLICY+=$'\nallow id=mail sendmail **'
		in_policy "$POLICY" "$WARDBOX" sh -c 'sendmail a@b' </dev/null
		[ -e sent ]
		rm sent
		# Without such a line there is no way to a host that is not named.
		run in_policy "$POLICY" "$WARDBOX" sh -c 'exec 3<>/dev/tcp/192.0.2.1/80' </dev/null
		[ "$status" -ne 0 ]
	done
}

@test "agent: limits fit the machine" {
	POLICY='include agent'
	policy status --json >status
	local all mem
	read -r _ all _ </proc/meminfo
	mem=$(jq .limits.memory status)
	[ "$mem" -gt $((all * 10)) ]
	[ "$mem" -le $((all * 778)) ]
	[ "$(jq .limits.processes status)" = 4096 ]
	[ "$(jq '.limits.cpu_ns' status)" = 0 ]
	POLICY='include contract'
	[ "$(policy status --json | jq .limits.processes)" = 20 ]
	# a share is of memory alone, and a share
	for bad in mem=0% mem=101% mem=x% procs=50% cpu=50%; do
		POLICY=$'include default\nlimit DEV '"$bad"
		run policy check
		[ "$status" -eq 3 ]
	done
}

@test "the caller's variables reach a command of the shipped uses, secrets do not, and that is told" {
	export PLAIN=one GIT_AUTHOR_NAME=somebody CFLAGS=-O3 \
		MY_TOKEN=abc DB_PASSWORD=abc AWS_SECRET_ACCESS_KEY=abc \
		DATABASE_URL=postgres://u:xK93hq72Lw@h/db KEYED=AKIAIOSFODNN7QWERTYU \
		LD_PRELOAD_X=1 BASH_ENV=/dev/null SSH_AUTH_SOCK=/nowhere AWS_PROFILE=p \
		https_proxy=http://proxy.example:3128 HTTP_PROXY=http://proxy.example:3128
	for name in agent ci image; do
		POLICY="include $name"
		in_policy "$POLICY" "$WARDBOX" sh -c env >got
		cat got
		grep -x PLAIN=one got
		grep -x GIT_AUTHOR_NAME=somebody got
		grep -x CFLAGS=-O3 got
		run grep -E '^(MY_TOKEN|DB_PASSWORD|AWS_SECRET|DATABASE_URL|KEYED|LD_|BASH_ENV|SSH_|AWS_|https_proxy|HTTP_PROXY)' got
		[ "$status" -eq 1 ]
	done
	# The line's own are its own.
	run in_policy "$POLICY" "$WARDBOX" sh -c 'MY_TOKEN=own env; export API_KEY=k; env'
	[[ $output == *MY_TOKEN=own*API_KEY=k* ]]
	# One that is named is meant; the contract keeps what it lists.
	run in_policy "include agent
env keep DATABASE_URL" "$WARDBOX" sh -c 'echo $DATABASE_URL'
	[[ $output == postgres://u:* ]]
	run in_policy 'include contract' "$WARDBOX" sh -c 'echo "[$PLAIN]"'
	[[ $output == "[]" ]]
	in_policy 'include agent' bash -c '
		"$1" session env 2>said
		"$1" sh -c : && "$1" audit dump -o json >log' bash "$WARDBOX"
	cat said
	for name in MY_TOKEN DB_PASSWORD AWS_SECRET_ACCESS_KEY DATABASE_URL KEYED BASH_ENV SSH_AUTH_SOCK; do
		grep -qw "$name" said
		grep '"env.left"' log | grep -qw "$name"
	done
	run grep -w -e PLAIN -e CFLAGS said
	[ "$status" -eq 1 ]
	run grep -e xK93hq72Lw -e AKIAIOSFODNN7QWERTYU log
	[ "$status" -eq 1 ]
}

@test "agent: a setting of git for one command runs in its box; where packages come from asks" {
	POLICY='include agent'
	decides allow 'git daemon --export-all' 'openssl s_server -accept 4433' \
		'/usr/lib/apt/methods/http' 'kill 0' 'kill -TERM 0' 'mknod p p' 'gcore 5' \
		'ulimit -c unlimited' 'prlimit --nofile=100 make'
	decides open 'git -c core.hooksPath=.githooks commit' "git -c 'alias.x=!make' x" \
		'git -c difftool.t.cmd=cat difftool' 'NODE_OPTIONS=--no-warnings npx jest' \
		'PYTHONPATH=. pip install -e .' 'GOFLAGS=-mod=mod go run .'
	decides allow 'npm_config_loglevel=error npm ci'
	decides confirm 'PIP_INDEX_URL=http://x.example pip install y' \
		'PYTHONPATH=. PIP_INDEX_URL=http://x.example pip install y' \
		'npm_config_registry=http://x.example npm ci' 'GOPROXY=http://x.example go get y'
	decides deny 'git -c http.sslVerify=false fetch' 'git -c url.http://x/.insteadOf=y fetch' \
		'kill -9 -1' 'kill 1' 'kill $PPID' 'mknod d b 8 0' 'openssl engine x'
	# the contract's own lists
	POLICY='include contract'
	decides deny 'git -c core.hooksPath=.githooks commit' 'kill 0' 'git daemon' 'ulimit -c unlimited'
	# what a line's own git passes on, and a setting that stays
	git init -q . && git config user.name a && git config user.email a@b
	mkdir .githooks && printf '#!/bin/sh\ngit -c core.pager=cat log -1 --format=%%s\necho hooked\n' >.githooks/post-commit
	chmod +x .githooks/post-commit
	POLICY='include agent'
	run in_policy "$POLICY" "$WARDBOX" sh -c 'git -c core.hooksPath=.githooks commit -q --allow-empty -m one'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = $'one\nhooked' ]
	run in_policy "$POLICY" "$WARDBOX" sh -c 'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.sslVerify GIT_CONFIG_VALUE_0=false git log'
	echo "$output"
	[[ $output == *"http.sslVerify may run a program"* ]]
	printf 'all:\n\t@echo "[core]hooksPath = .githooks" >>.git/config\n' >Makefile
	run in_policy "$POLICY" "$WARDBOX" sh -c 'make'
	echo "$output"
	[[ $output == *"put back: core.hookspath=.githooks"* ]]
}

@test "agent: programs of the system lie in any directory of it" {
	local dir
	dir=$(git --exec-path)
	POLICY='include agent'
	run in_policy "$POLICY" env PATH="$dir:/usr/bin:/bin:$BATS_TEST_TMPDIR" "$WARDBOX" sh -c 'echo "$PATH"'
	echo "$output"
	[ "$output" = "$dir:/usr/bin:/bin" ]
	run in_policy "$POLICY" "$WARDBOX" sh -c "$dir/git --version"
	[ "$status" -eq 0 ]
	decides allow /usr/lib/x/bin/y /opt/x/bin/y
	decides open /srv/x/bin/y
}

@test "agent: a build file above marks a project that has no repository" {
	POLICY='include agent'
	local top=$BATS_TEST_TMPDIR/app
	mkdir -p "$top/src/deep" "$top/../beside"
	echo 'all:' >"$top/Makefile"
	cd "$top/src/deep"
	in_policy "$POLICY" "$WARDBOX" sh -c 'cat ../../Makefile && echo x >../../made'
	[ -e "$top/made" ]
	run in_policy "$POLICY" "$WARDBOX" sh -c 'echo x >../../../beside/made'
	[ ! -e "$top/../beside/made" ]
	# A repository above counts before a build file that is nearer.
	git init -q "$top"
	echo '{}' >"$top/src/package.json"
	in_policy "$POLICY" "$WARDBOX" sh -c 'echo y >../../made'
	[ "$(cat "$top/made")" = y ]
	# Neither a directory of another user's, nor the contract.
	rm -r "$top/.git" "$top/src/package.json"
	run in_policy 'include contract' "$WARDBOX" sh -c 'echo z >../../made'
	[ "$(cat "$top/made")" = y ]
	if [ "$(id -u)" = 0 ]; then
		chown 1000 "$top"
		run in_policy "$POLICY" "$WARDBOX" sh -c 'echo z >../../made'
	fi
	[ "$(cat "$top/made")" = y ]
}

@test "agent: System V IPC is the session's own" {
	need unshare -i true
	POLICY='include agent'
	local id
	id=$(ipcmk -Q | grep -o '[0-9]*$')
	run in_policy "$POLICY" "$WARDBOX" sh -c 'ipcmk -M 4096 && ipcs -m | grep -c "^0x" && ipcs -q | grep -c "^0x"'
	ipcrm -q "$id"
	echo "$output"
	[[ $output == *$'\n1\n0' ]]
}
