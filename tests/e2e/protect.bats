#!/usr/bin/env bats
# Names of a project that no program may change unasked: put back, told, recorded.

load ../lib/wardbox

setup() {
	export HOME=$BATS_TEST_TMPDIR/home GIT_CONFIG_NOSYSTEM=1
	mkdir "$HOME"
	PROJECT=$BATS_TEST_TMPDIR/project
	mkdir "$PROJECT"
	cd "$PROJECT" || return
	git init -q .
	git -c user.name=a -c user.email=b commit -q --allow-empty -m begin
	printf '#!/bin/sh\ntouch %s/ran\n' "$PROJECT" >evil
	chmod +x evil
	mkdir -p vendor
	cp -r .git vendor/.git
	git config -f vendor/.git/config core.fsmonitor "$PROJECT/evil"
	printf '#!/bin/sh\n' >vendor/.git/hooks/pre-commit
	chmod +x vendor/.git/hooks/pre-commit
}

g() { in_policy 'use FULL-AUTO' "$WARDBOX" sh -c "$1"; }

records() {
	in_policy 'use FULL-AUTO' "$WARDBOX" audit dump -o json |
		jq -r 'select(.event == "protect.restore") | .detail | "\(.file) \(.what) \(.now)"'
}

unarmed() { # nothing of git's runs anything
	[ -z "$(git config --get-regexp 'fsmonitor|hookspath|^alias')" ]
	[ -z "$(find .git/hooks -type f ! -name '*.sample' ! -name '*.denied*')" ]
}

@test "a setting that runs something is taken out, whatever wrote it" {
	cat >x.py <<-'END'
		with open(".git/config", "a") as f:
		    f.write("[user]\n\tname = me\n[core]\n\tfsmonitor = ./evil\n[alias]\n\tst = !./evil\n")
	END
	printf 'all:\n\t@echo "[core]hooksPath = ." >>.git/config\n' >Makefile
	run g 'python3 x.py; exit 7'
	[ "$status" -eq 7 ]
	[[ "$output" == *'put back: core.fsmonitor=./evil in .git/config'* ]]
	[[ "$output" == *'put back: alias.st=!./evil'* ]]
	unarmed
	[ "$(git config user.name)" = me ]
	run g 'make'
	[ "$status" -eq 0 ]
	[[ "$output" == *'core.hookspath=.'* ]]
	unarmed
	git status >/dev/null
	[ ! -e ran ]
	[ "$(records | grep -c '.git/config')" -eq 3 ]
}

@test "an alias stays if it names what git does itself, and goes however it is quoted" {
	local n=0 bad=(/evil status/evil ./evil '-c core.fsmonitor=./evil status'
		'--exec-path=. evil' 'rebase "--exec" ./evil' $'rebase\t-ix ./evil'
		'fetch --upl=./evil .' 'grep -nO./evil x' 'merge -s ../evil'
		'cherry-pick --"strategy"=/evil' 'diff --out"put"=ran' 'evil')
	local good=(status "log --graph --pretty=format:'%h %s'" 'commit --amend --no-edit'
		'push -u origin HEAD' 'diff --cached' 'config --get-regexp ^alias')
	for value in "${bad[@]}" "${good[@]}"; do
		git config -f new "alias.a$((n += 1))" "$value"
	done
	echo 'open(".git/config", "a").write(open("new").read())' >x.py
	run g 'python3 x.py'
	[ "$status" -eq 0 ]
	[ "$(git config --get-regexp '^alias' | cut -d ' ' -f 2-)" = "$(printf '%s\n' "${good[@]}")" ]
	[[ "$output" == *'put back: alias.a1=/evil in .git/config'* ]]
}

@test "commands that git takes from a format, and tools named by a path, are no settings" {
	printf 'touch %s/ran\n' "$PROJECT" >tool.sh
	cat >x.py <<-END
		with open(".git/config", "a") as f:
		    f.write("[rebase]\n\tinstructionFormat = %s%nexec ./evil\n\tstat = true\n")
		    f.write("[diff]\n\ttool = $(realpath --relative-to="$(git --exec-path)/mergetools" tool.sh)\n")
		    f.write("[merge]\n\tguitool = vimdiff\n")
		    f.write("[http]\n\tcurloptResolve = host.example:443:192.0.2.1\n\tpostBuffer = 9\n")
	END
	run g 'python3 x.py'
	[ "$status" -eq 0 ]
	[ "$(git config -l | grep -E '^(rebase|diff|merge|http)')" = "rebase.stat=true
merge.guitool=vimdiff
http.postbuffer=9" ]
	git -c user.name=a -c user.email=b commit -q --allow-empty -m more
	git -c user.name=a -c user.email=b rebase -q --root
	git difftool -y HEAD~1 || :
	[ ! -e ran ]
	# Where they stay they do run.
	python3 x.py
	git -c user.name=a -c user.email=b rebase -q --root
	[ -e ran ]
}

@test "a repository that comes from elsewhere is unarmed" {
	tar -C vendor -cf evil.tar .git
	for line in 'cp -r vendor/.git .' 'tar -xf evil.tar' \
		'python3 -c "import shutil; shutil.copytree(\"vendor/.git\", \".git\", dirs_exist_ok=True)"' \
		'd=.; mv .git old; mv vendor/.git $d'; do
		printf '%s\n' "$line" >step.sh
		# Objects of git are read-only files: what cannot be copied is no matter.
		run g 'sh ./step.sh'
		unarmed
		git status >/dev/null
		[ ! -e ran ]
		if [ ! -e vendor/.git ]; then cp -r .git vendor/.git; fi
		git config -f vendor/.git/config core.fsmonitor "$PROJECT/evil"
		printf '#!/bin/sh\n' >vendor/.git/hooks/pre-commit
		chmod +x vendor/.git/hooks/pre-commit
		rm -rf old .git/hooks/*.denied*
	done
	printf 'mv .git old; echo "gitdir: vendor/.git" >.git\n' >step.sh
	run g 'sh ./step.sh'
	[ ! -e .git ]
	[ -f .git.denied ]
}

@test "git writes all else" {
	cat >step.sh <<-'END'
		git config user.name me && git config user.email me@x &&
		git remote add origin https://example.org/x && git checkout -q -b new &&
		git add evil && git commit -q -m evil && git init -q . && git init -q sub &&
		git worktree add -q tree && git tag v1 && git stash list
	END
	run g 'sh ./step.sh'
	[ "$status" -eq 0 ]
	[ "$output" = "" ]
	[ -e tree/evil ]
	[ "$(git remote)" = origin ]
	[ -z "$(records)" ]
}

@test "the project's own policy, hooks, and what is left behind by the command" {
	printf '#!/bin/sh\nexit 0\n' >.git/hooks/commit-msg
	chmod +x .git/hooks/commit-msg
	cat >x.py <<-'END'
		import os, shutil
		os.mkdir(".wardbox")
		open(".wardbox/policy", "w").write("policy 1 project\n")
		# Where the hooks are read-only, others are put in their place.
		try:
		    open(".git/hooks/commit-msg", "a").write("touch ran\n")
		except OSError:
		    print("read-only")
		    shutil.copytree(".git", "new")
		    open("new/hooks/commit-msg", "a").write("touch ran\n")
		    os.rename(".git", "old")
		    os.rename("new", ".git")
		open(".git/hooks/pre-push", "w").write("touch ran\n")
		os.chmod(".git/hooks/pre-push", 0o755)
		if os.fork() == 0:
		    os.setsid()
		    while True:
		        open(".git/hooks/update", "w").write("touch ran\n")
		        os.chmod(".git/hooks/update", 0o755)
	END
	run g 'python3 x.py'
	[ "$status" -eq 0 ]
	[ "$(cat .git/hooks/commit-msg)" = "$(printf '#!/bin/sh\nexit 0')" ]
	[ ! -e .git/hooks/pre-push ]
	[ -e .git/hooks/pre-push.denied ]
	[ ! -e .git/hooks/update ]
	[ ! -e .wardbox ]
	[ -e .wardbox.denied/policy ]
	run records
	[[ "$output" == *'.wardbox the file .wardbox.denied'* ]]
}

@test "in a view of mounts the hooks are read-only while the command runs" {
	printf 'echo x >.git/hooks/pre-push; git config user.name me\n' >step.sh
	run g 'sh ./step.sh'
	[[ "$output" == *'Read-only file system'* ]] || skip "no view of mounts here"
	[ "$(git config user.name)" = me ]
	[ -z "$(records)" ]
}

@test "what is put back is never written through a link, a FIFO or another name" {
	echo mine >"$HOME/mine"
	cp .git/config before
	for act in 'rm .git/config; ln -s '"$HOME"'/mine .git/config' \
		'rm .git/config; mkfifo .git/config' \
		'rm .git/config; ln evil .git/config' \
		'rm -r .git/hooks; ln -s ../vendor/.git/hooks .git/hooks' \
		'chmod 0 .git/config; mv .git/config c; cp c .git/config; printf "[core]fsmonitor=x" >>.git/config'; do
		# Hooks may be read-only.
		printf '%s; true\n' "$act" >step.sh
		run g 'sh ./step.sh'
		[ "$status" -eq 0 ]
		[ -z "$(git config --get core.fsmonitor)" ]
		[ -f .git/config ]
		[ ! -L .git/config ]
		[ ! -L .git/hooks ]
		mkdir -p .git/hooks
		cp before .git/config
	done
	[ "$(cat "$HOME/mine")" = mine ]
	[ "$(head -c 9 evil)" = '#!/bin/sh' ]
}

@test "DEV: a package's scripts come back, its dependencies stay" {
	printf '{"scripts": {"test": "true"}, "dependencies": {}}\n' >package.json
	cat >x.py <<-'END'
		open("package.json", "w").write('{"scripts": {"test": "evil"}, "dependencies": {"a": "1"}}\n')
		open(".npmrc", "w").write("script-shell=./evil\n")
	END
	run in_policy "use DEV
allow id=x python3 x.py" "$WARDBOX" sh -c 'python3 x.py'
	[ "$status" -eq 0 ]
	[ "$(jq -c . package.json)" = '{"scripts":{"test":"true"},"dependencies":{"a":"1"}}' ]
	[ ! -e .npmrc ]
}

@test "commands at the same time, and one whose supervisor was killed" {
	printf 'printf "[core]fsmonitor=x\\n" >>.git/config; touch planted; while [ ! -e go ]; do sleep 0.05; done\n' >a.sh
	printf 'touch began; while [ ! -e end ]; do sleep 0.05; done\n' >b.sh
	g 'sh ./a.sh' >/dev/null 2>&1 3>&- &
	local a=$!
	until [ -e planted ]; do sleep 0.05; done
	g 'sh ./b.sh' >/dev/null 2>&1 3>&- &
	local b=$!
	until [ -e began ]; do sleep 0.05; done
	touch go
	wait "$a"
	unarmed
	touch end
	wait "$b"
	unarmed
	rm planted go
	in_policy 'use FULL-AUTO' sh -c '"$0" sh -c "sh ./a.sh" & kill=$!
		until [ -e planted ]; do sleep 0.05; done; kill -KILL $kill; touch go' \
		"$WARDBOX" >/dev/null 2>&1 3>&-
	run g 'ls >/dev/null'
	unarmed
}

@test "git is told by no variable what no line may tell it" {
	cat >x.py <<-'END'
		import os, subprocess
		for more in ({"GIT_COMMON_DIR": "vendor/.git"}, {"GIT_DIR": "vendor/.git"},
		             {"GIT_CONFIG_GLOBAL": "vendor/.git/config"},
		             {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "Core.FsMonitor", "GIT_CONFIG_VALUE_0": os.getcwd() + "/evil"},
		             {"GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='%s/evil'" % os.getcwd()},
		             {"GIT_CONFIG_PARAMETERS": "'core.fsmonitor=%s/evil'" % os.getcwd()}):
		    try:
		        subprocess.run(["git", "status"], env=dict(os.environ, **more), stdout=subprocess.DEVNULL)
		        print("ran", more)
		    except PermissionError:
		        print("denied")
		for more in ({"GIT_DIR": ".git"}, {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "x"},
		             {"GIT_CONFIG_PARAMETERS": "'user.name'='it'\\''s'"}, {"GIT_SSH_COMMAND": "ssh"}):
		    subprocess.run(["git", "status"], env=dict(os.environ, **more), stdout=subprocess.DEVNULL, check=True)
	END
	run g 'python3 x.py'
	[ "$status" -eq 0 ]
	[ "$(grep -cx denied <<<"$output")" -eq 6 ]
	[[ "$output" != *ran* ]]
	[ ! -e ran ]
	# A program of the project may be git's, where git has no grant that the project
	# has not.
	cat >diff.py <<-'END'
		import os, subprocess
		open("README.md", "a").write("more\n")
		subprocess.run(["git", "add", "-N", "README.md"], check=True)
		print(subprocess.run(["git", "diff"], env=dict(os.environ, GIT_EXTERNAL_DIFF="echo of mine"),
		      capture_output=True, text=True).stdout)
	END
	run g 'python3 diff.py'
	[[ "$output" == *"of mine README.md"* ]]
	run in_policy $'use FULL-AUTO\nallow net=all python3 **' "$WARDBOX" sh -c 'python3 diff.py'
	[[ "$output" == *PermissionError* ]]
	for line in 'GIT_COMMON_DIR=vendor/.git git status' 'export GIT_COMMON_DIR=vendor/.git; git status' \
		'env GIT_COMMON_DIR=vendor/.git git status'; do
		run g "$line"
		[ "$status" -eq 126 ]
	done
	[ ! -e ran ]
}

@test "nothing outside is reached by a link, a variable, a file of commands, a signal" {
	local out=$BATS_TEST_TMPDIR/out
	mkdir "$out"
	echo secret >"$out/file"
	ln -s "$out" link
	printf 'one\n' >README.md
	printf 'curl http://x\nid >ran\n' >cmds.txt
	for line in 'cat l*k/file' 'rm -rf l*k/*' 'for f in l*k/*; do : >"$f"; done' \
		"POSIXLY_CORRECT=1 head README.md -n $out/file" \
		"env POSIXLY_CORRECT=1 head README.md -n $out/file" \
		": $out/file; cat \$_"; do
		for sh in sh bash; do
			run in_policy 'use FULL-AUTO' "$WARDBOX" "$sh" -c "$line"
			[[ "$output" != *secret* ]]
			[ "$(cat "$out/file")" = secret ]
		done
	done
	# What a line cannot show, programs find: each is judged as it starts.
	run g 'sh /dev/stdin <cmds.txt'
	[[ "$output" == *'curl: Permission denied'* ]]
	[ -s ran ]
	sleep 300 3>&- &
	local other=$!
	for line in 'kill -9 -1 5' "kill -9 $other" "kill -9 -- -1 $other" 'x=-1; kill -9 $x'; do
		run g "$line"
		kill -0 "$other"
	done
	kill "$other"
}

@test "node writes nowhere else, whatever its variables say" {
	need node --version
	need npm --version
	local out=$BATS_TEST_TMPDIR/out
	mkdir "$out"
	printf '{"scripts": {"test": "node -e 1"}}\n' >package.json
	for line in "NODE_V8_COVERAGE=$out npm test" "NODE_COMPILE_CACHE=$out npm test" \
		"NODE_REDIRECT_WARNINGS=$out/w npm test"; do
		run g "$line"
		[ -z "$(ls "$out")" ]
		printf '%s\n' "export $line" | sed 's/ npm/; npm/' >step.sh
		run g 'sh ./step.sh'
		[ -z "$(ls "$out")" ]
	done
	run g 'npm test'
	[ "$status" -eq 0 ]
}
