#!/usr/bin/env bats
# undo: what a guarded command changed, listed, shown, taken back, done again

load ../lib/undo

@test "what the shell and its programs change comes back byte for byte" {
	some_files
	exact 'echo changed >a; echo more >>d/e/f; rm soft pipe; mkdir n; echo x >n/y; mv n m; ln -s a l; rmdir empty'
	exact 'rm -rf d; mkdir d; echo new >d/e'
	exact 'mv d moved; rm moved/e/f; echo x >moved/new; ln a again; rm hard'
	exact 'chmod 600 a d/e/f; touch -d 1999-01-01 d; chmod 700 d; truncate -s 5 sparse'
	exact 'sed -i s/t/T/ d/e/f; cp a b; mv -f b a'
}

@test "every call that changes a tree is journaled" {
	need python3 -c 'import ctypes'
	some_files
	setfattr -n user.k -v old d/e/f 2>/dev/null || true
	cat >"$BATS_TEST_TMPDIR/project/calls.py" <<-'E'
		import ctypes, mmap, os, socket
		libc = ctypes.CDLL(None, use_errno=True)
		def c(name, *a):
		    if getattr(libc, name)(*a) < 0:
		        raise OSError(ctypes.get_errno(), name)
		fd = os.open("a", os.O_RDWR)
		with mmap.mmap(fd, 4) as m:
		    m[0:2] = b"ZZ"
		os.ftruncate(fd, 3)
		os.fchmod(fd, 0o611)
		os.close(fd)
		ro = os.open("d/e/f", os.O_RDONLY)
		os.fchmod(ro, 0o600)
		os.utime(ro, (5, 6))
		try:
		    os.setxattr(ro, "user.k", b"new")
		    os.setxattr("d", "user.dir", b"x")
		except OSError:
		    pass
		w = os.open("/proc/self/fd/%d" % ro, os.O_WRONLY)
		os.write(w, b"through proc")
		os.truncate("sparse", 77)
		dir = os.open("d", os.O_RDONLY)
		os.mkdir("deep", dir_fd=dir)
		os.symlink("x", "deep/link", dir_fd=dir)
		os.mkfifo("deep/fifo", dir_fd=dir)
		os.link("a", "a2")
		os.link("a", "a3", dst_dir_fd=dir)
		os.rename("soft", "soft2")
		c("renameat2", -100, b"d/e", -100, b"empty", 2)
		fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o644)
		os.write(fd, b"no name yet")
		c("linkat", -100, b"/proc/self/fd/%d" % fd, -100, b"named", 0x400)
		try:
		    socket.socket(socket.AF_UNIX).bind("sock")
		except OSError:
		    pass
		os.unlink("pipe")
		os.mknod("pipe")
		os.chdir("d")
		with open("../d/../hard", "a") as f:
		    f.write("by the other name")
		os.rmdir("deep2") if os.path.exists("deep2") else None
		with open("/dev/null", "w") as f:
		    f.write("x")
	E
	exact 'python3 calls.py'
}

@test "git's whole repository, its index and untracked files come back" {
	need git --version
	rm -rf .git
	git init -q .
	git config user.email a@b
	git config user.name n
	echo 1 >f
	git add f
	git commit -qm one
	echo 2 >f
	git commit -qam two
	echo 3 >f
	git add f
	echo 4 >untracked
	exact 'git reset -q --hard HEAD~1; git clean -fdq'
	exact 'git checkout -q -b other; echo 5 >f; git commit -qam three'
	tree >"$BATS_TEST_TMPDIR/before"
	g "python3 -c 'import shutil; shutil.rmtree(\".git\", ignore_errors=True)'"
	[ ! -e .git/index ]
	undo
	tree | diff "$BATS_TEST_TMPDIR/before" -
	git fsck
	git status --short | grep -q '?? untracked'
}

@test "what somebody else changed since is left alone, unless it is forced" {
	echo old >a
	echo old >b
	g 'echo new >a; echo new >b; mkdir made; echo x >made/y'
	echo mine >a
	echo mine >made/other
	run undo
	[ "$status" -eq 1 ]
	[[ "$output" == *"$PROJECT/a: somebody changed it since"* ]]
	[[ "$output" == *"$PROJECT/made: somebody made other in it since"* ]]
	[[ "$output" == *"2 paths cannot be brought back: nothing was done"* ]]
	[ "$(cat a b)" = "$(printf 'mine\nnew')" ]
	undo "$PROJECT/b"
	[ "$(cat a b)" = "$(printf 'mine\nold')" ]
	run undo --force
	[ "$status" -eq 1 ]
	[[ "$output" == *"$PROJECT/made"* ]]
	[ "$(cat a b made/other)" = "$(printf 'old\nold\nmine')" ]
	[ ! -e made/y ]
	# What force took away comes back, too.
	undo redo --force || true
	[ "$(cat a)" = mine ]
}

@test "paths, the whole session, a dry run, JSON" {
	need jq --version
	mkdir src
	echo 1 >src/a
	echo 1 >b
	g 'echo 2 >src/a; echo 2 >b'
	g 'echo 3 >src/a'
	run undo --dry-run
	[ "$status" -eq 0 ]
	[[ "$output" == *"restore    $PROJECT/src/a"* ]]
	[ "$(cat src/a)" = 3 ]
	[ "$(undo list --json | jq -r '.[].changed' | tr '\n' ' ')" = '2 1 ' ]
	[ "$(undo show --json 1 | jq -r '.changes[] | .what + .path' | sort)" = \
		"$(printf 'changed%s\nchanged%s' "$PROJECT/b" "$PROJECT/src/a")" ]
	[ "$(undo show --json 2 | jq -r '.changes[0].new')" = \
		"$(sha256sum <src/a | cut -d' ' -f1)" ]
	run undo diff 2
	[[ "$output" == *"-2"*"+3"* ]]
	run undo --json --session
	[ "$status" -eq 0 ]
	[ "$(cat src/a b)" = "$(printf '1\n1')" ]
	run undo
	[ "$status" -eq 1 ]
	[[ "$output" == *"no command changed anything in $PROJECT"* ]]
	run undo list
	[[ "${lines[0]}" == *undone* ]]
}

@test "the command reaches neither journals nor the applet" {
	echo 1 >a
	g 'echo 2 >a'
	local store=/var/log/wardbox/undo-$(id -u)
	run g "ls $store; cat $store/1/journal; rm -rf $store; chmod 777 $store"
	[ "$status" -ne 0 ]
	run g "$WARDBOX undo"
	[ "$status" -ne 0 ]
	[ "$(cat a)" = 2 ]
	undo 1
	[ "$(cat a)" = 1 ]
}

@test "without undo=on nothing is kept" {
	POLICY='include default
use FULL-AUTO'
	g 'echo 2 >a'
	run undo list
	[ "$status" -eq 1 ]
	[[ "$output" == *"undo=on"* ]]
}

@test "beyond the bounds a change is named before it happens, or refused" {
	head -c 10000 /dev/zero >big
	echo small >a
	POLICY+='
undo bytes=5K over=refuse'
	run g 'echo x >>big'
	[ "$status" -ne 0 ]
	[[ "$output" == *"big stays as it is: it is beyond the bound of bytes"* ]]
	[ "$(stat -c %s big)" -eq 10000 ]
	g 'echo x >>a'
	POLICY=${POLICY/over=refuse/over=go}
	g 'echo x >>a; echo x >>big'
	[ "$(stat -c %s big)" -eq 10002 ]
	run undo
	[ "$status" -eq 1 ]
	[[ "$output" == *"$PROJECT/big: it is beyond the bound of bytes"* ]]
	[ "$(wc -l <a)" -eq 3 ]
	run undo --force
	[ "$(wc -l <a)" -eq 2 ]
}

@test "a guard that is killed leaves a journal that is whole" {
	echo old >a
	echo old >b
	mkfifo go
	# shellcheck disable=SC2016 # expanded by the inner shell
	in_policy "$POLICY" sh -c 'echo $$ >"$2"; exec "$1" sh -c "echo new >a
		rm b; echo x >made; echo ready >go; sleep 1000"' \
		sh "$WARDBOX" "$BATS_TEST_TMPDIR/pid" >/dev/null 2>&1 3>&- &
	local job=$! tries=0
	[ "$(timeout 60 cat go)" = ready ]
	run undo
	[ "$status" -eq 1 ]
	[[ "$output" == *"no command changed anything"* ]]
	run undo 1
	[[ "$output" == *"still running"* ]]
	kill -9 "$(cat "$BATS_TEST_TMPDIR/pid")"
	wait "$job" || true
	until undo list | grep -q 'cut off'; do
		[ "$((++tries))" -lt 500 ]
	done
	# What was saved for a change that the journal does not know yet goes.
	local kept=$BATS_TEST_TMPDIR/ns/log/wardbox/undo-$(id -u)/1
	ln a "$kept/o4000"
	run undo
	echo "$output"
	[ "$status" -eq 0 ]
	[ ! -e "$kept/o4000" ]
	[ "$(cat a b)" = "$(printf 'old\nold')" ]
	[ ! -e made ]
}

@test "hard links hold together over several undos, also what came back as a copy" {
	echo one >a
	ln a b
	ln a c
	touch -d 2001-02-03 a
	tree >"$BATS_TEST_TMPDIR/0"
	# The other names are not in this journal, nor in the next.
	g 'echo two >a'
	tree >"$BATS_TEST_TMPDIR/1"
	g 'rm c; echo three >c'
	tree >"$BATS_TEST_TMPDIR/2"
	g 'rm a b'
	for _ in 1 2 3; do
		for n in 2 1 0; do
			undo
			tree | diff "$BATS_TEST_TMPDIR/$n" -
		done
		for n in 1 2; do
			undo redo
			tree | diff "$BATS_TEST_TMPDIR/$n" -
		done
		undo redo
		[ ! -e a ]
	done
}

@test "journals are pruned, one by one and by age" {
	echo 1 >a
	g 'echo 2 >a'
	g 'echo 3 >a'
	undo prune 1
	run undo list
	[ "${#lines[@]}" -eq 1 ]
	run undo prune --older 1d
	run undo list
	[ "${#lines[@]}" -eq 1 ]
	undo prune
	run undo list
	[ "$status" -eq 1 ]
	[ "$(cat a)" = 3 ]
	run undo prune 1 --older 1d
	[ "$status" -eq 2 ]
}

@test "trees that commands change at random come back, and are changed again" {
	need python3 -c ''
	cp "$HELPERS/undo_acts" "$BATS_TEST_TMPDIR"
	POLICY+="
limit FULL-AUTO cpu=600s procs=50
path r $BATS_TEST_TMPDIR/**
exec $BATS_TEST_TMPDIR"
	in_policy "$POLICY" python3 "$TOP/tests/lib/undo-trees.py" "$WARDBOX" \
		"$BATS_TEST_TMPDIR/undo_acts" 40 1
	in_policy "$POLICY" python3 "$TOP/tests/lib/undo-trees.py" "$WARDBOX" \
		"$BATS_TEST_TMPDIR/undo_acts" 15 100 kill
}

@test "exec --json lists what a command changed" {
	need jq --version
	echo 1 >a
	in_policy "$POLICY" "$WARDBOX" exec --json -- sh -c 'rm a; echo 2 >b' \
		>"$BATS_TEST_TMPDIR/json"
	[ "$(jq -r '.changed[] | .what + .path' "$BATS_TEST_TMPDIR/json" | sort)" = \
		"$(printf 'made%s\nremoved%s' "$PROJECT/b" "$PROJECT/a")" ]
	undo "$(jq .journal "$BATS_TEST_TMPDIR/json")"
	[ "$(cat a)" = 1 ]
	# The log names them, with what they were.
	in_policy "$POLICY" "$WARDBOX" audit dump -o json |
		grep -q "\"what\":\"removed\"\|removed.*$(echo 1 | sha256sum | cut -d' ' -f1)"
}

@test "an undo that was cut off is taken back first" {
	local n
	mkdir d
	for n in 1 2 3; do echo "$n" >"d/$n"; done
	g 'rm -rf d; mkdir e; echo x >e/y'
	tree >"$BATS_TEST_TMPDIR/after"
	undo
	# As if it had been killed before it could say that it was done.
	local journal=$BATS_TEST_TMPDIR/ns/log/wardbox/undo-$(id -u)/2/journal
	truncate -s -44 "$journal"
	run undo list
	[[ "${lines[1]}" == *"cut off"* ]]
	run undo
	[ "$status" -eq 1 ]
	[[ "$output" == *"the last undo was cut off"* ]]
	undo redo
	tree | diff "$BATS_TEST_TMPDIR/after" -
}

# argv's last word, and the strategy, of each start; then those of programs.
strategies() {
	in_policy "$POLICY" "$WARDBOX" audit dump -o json | jq -r '
		select(.type == "start" and .rollback) | "\(.argv[-1]): \(.rollback)"'
	in_policy "$POLICY" "$WARDBOX" audit dump -o json | jq -r '
		select(.event == "rollback") | .detail | "\(.command): \(.strategy)"'
}

@test "how a command is taken back is recorded before it runs, also with undo off" {
	need jq --version
	printf '#!/bin/sh\nexit 0\n' >npm
	chmod +x npm
	cp npm pip
	cp npm make
	POLICY+="
exec $PROJECT
allow id=pip {pip|npm} **
except id=pip pip **
except id=pkg-net npm **
env set PATH=$PROJECT:/usr/bin:/bin"
	export PATH=$PROJECT:$PATH
	g 'npm install -D left-pad@1.2 @scope/x@^3; echo 1 >a'
	g 'pip install "requests[socks]==2.0" ./x || :'
	g 'cd . && make -j2 all'
	printf 'npm i ./x.tgz\nnpm add y\n' >script
	g 'sh ./script'
	POLICY=${POLICY/undo=on/undo=off}
	g 'npm add z'
	g 'echo 2 >a'
	strategies >said
	cat said
	local on='delete what it makes, and restore the rest from the journal'
	local net='; none for what goes over the network'
	[ "$(sed -n 1p said)" = "npm install -D left-pad@1.2 @scope/x@^3; echo 1 >a: $on; uninstall package: npm uninstall left-pad @scope/x$net" ]
	[[ "$(sed -n 2p said)" == *"from the journal; uninstall package"* ]]
	[[ "$(sed -n 2p said)" != *"pip uninstall"* ]]
	[ "$(sed -n 3p said)" = "cd . && make -j2 all: $on; clean build artifacts: make clean" ]
	[ "$(sed -n 4p said)" = "sh ./script: $on" ]
	[ "$(sed -n 5p said)" = "npm add z: none; uninstall package: npm uninstall z" ]
	[ "$(sed -n 6p said)" = 'echo 2 >a: none' ]
	grep -q '^npm i ./x.tgz: uninstall package$' said
	grep -q '^npm add y: uninstall package: npm uninstall y$' said
	[[ "$(undo show 1)" == *"also     uninstall package: npm uninstall left-pad @scope/x"* ]]
	[ "$(undo show --json 1 | jq -r '.also[0]')" = 'uninstall package: npm uninstall left-pad @scope/x' ]
	# When it has ended the record names the journal.
	in_policy "$POLICY" "$WARDBOX" audit -o contract | jq -r .rollback_strategy |
		grep -q '^restore from journal 1; uninstall'
}

@test "audit names the files of a command, with what they were and are" {
	need jq --version
	echo 1 >a
	echo 2 >gone
	local old new
	old=$(sha256sum <a | cut -d' ' -f1)
	g 'echo one >a; rm gone; echo 3 >made; mv made moved'
	new=$(sha256sum <a | cut -d' ' -f1)
	in_policy "$POLICY" "$WARDBOX" audit dump -o json |
		jq -r 'select(.event == "file.change") | .detail | "\(.what) \(.file) \(.old) \(.new)"' |
		sort >said
	cat said
	grep -q "^changed $PROJECT/a $old $new$" said
	grep -q "^removed $PROJECT/gone $(echo 2 | sha256sum | cut -d' ' -f1) null$" said
	grep -q "^made $PROJECT/moved null $(echo 3 | sha256sum | cut -d' ' -f1)$" said
	local exec
	exec=$(in_policy "$POLICY" "$WARDBOX" audit dump -o json |
		jq -r 'select(.type == "start") | .seq')
	run in_policy "$POLICY" "$WARDBOX" audit show "$exec"
	[[ "$output" == *"$PROJECT/moved"* ]]
	[[ "$output" == *"\"old\":\"$old\""* && "$output" == *"\"new\":\"$new\""* ]]
}

# What SHELL LINE says on a terminal of its own.
on_terminal() {
	in_policy "$POLICY" python3 -c 'import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    try:
        said = os.read(fd, 4096)
    except OSError:
        break
    os.write(1, said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$WARDBOX" sh -c "$1"
}

@test "on a terminal one line says how what was removed comes back, and nowhere else" {
	need python3 -c 'import pty'
	some_files
	run on_terminal 'rm -r d; exit 3'
	[ "$status" -eq 3 ]
	[ "${output%$'\r'}" = "wardbox sh: 4 paths were removed; 'wardbox undo' brings them back" ]
	run on_terminal 'rm a'
	[ "${output%$'\r'}" = "wardbox sh: 1 path was removed; 'wardbox undo' brings it back" ]
	undo
	undo
	[ "$(cat a d/e/f)" = $'one\ntwo' ]
	run on_terminal 'echo new >a; mv sparse s2; touch n'
	[ -z "$output" ]
	run g 'rm n'
	[ -z "$output" ]
}

@test "envrun --json lists what a line changed" {
	need jq --version
	mkdir d
	echo 1 >d/a
	in_policy "$POLICY" "$WARDBOX" envrun --json -- 'cd d && echo 2 >b; mv a c' \
		>"$BATS_TEST_TMPDIR/json"
	[ "$(jq -r '.changed[] | .what + " " + .path + " " + .from' "$BATS_TEST_TMPDIR/json" | sort)" = \
		"made $PROJECT/d/b 
moved $PROJECT/d/c $PROJECT/d/a" ]
	in_policy "$POLICY" "$WARDBOX" envrun --json -- 'pwd' >"$BATS_TEST_TMPDIR/json"
	[ "$(jq -c '[.stdout, .journal, .changed]' "$BATS_TEST_TMPDIR/json")" = "[\"$PROJECT/d\\n\",null,null]" ]
	undo
	[ "$(ls d)" = a ]
}

@test "exec --dry-run runs a command, names what it changed, and leaves nothing of it" {
	need jq --version
	some_files
	POLICY=${POLICY/undo=on/undo=off}
	tree >"$BATS_TEST_TMPDIR/before"
	run in_policy "$POLICY" "$WARDBOX" exec --dry-run -- \
		sh -c 'echo ran; rm -rf d; echo new >a; mkdir n; sleep 1000 & exit 3'
	echo "$output"
	[ "$status" -eq 3 ]
	[ "${lines[0]}" = ran ]
	[[ "$output" == *"removed  $PROJECT/d/e/f"*"made     $PROJECT/n"* ]]
	tree | diff "$BATS_TEST_TMPDIR/before" -
	in_policy "$POLICY" "$WARDBOX" exec --json -n -- rm a >"$BATS_TEST_TMPDIR/json"
	[ "$(jq -r '.changed[0].what + .changed[0].path' "$BATS_TEST_TMPDIR/json")" = "removed$PROJECT/a" ]
	[ "$(jq .dry_run "$BATS_TEST_TMPDIR/json")" = true ]
	tree | diff "$BATS_TEST_TMPDIR/before" -
	# The log says that both were taken back.
	[ "$(in_policy "$POLICY" "$WARDBOX" audit dump -o json |
		jq -c 'select(.event == "undo.restore")' | wc -l)" -eq 2 ]
	# What could not be taken back does not happen.
	POLICY+='
undo bytes=1'
	run in_policy "$POLICY" "$WARDBOX" exec -n -- sh -c 'echo x >>sparse; echo y >n'
	[[ "$output" == *"sparse stays as it is"* ]]
	tree | diff "$BATS_TEST_TMPDIR/before" -
	run undo list
	[ "$status" -eq 1 ]
	run "$WARDBOX" exec -n -s local -- true
	[ "$status" -eq 125 ]
}

@test "a dry run of every kind of change, in all places that may be written, in a session" {
	some_files
	mkdir -p "$BATS_TEST_TMPDIR/other/in"
	echo o >"$BATS_TEST_TMPDIR/other/in/old"
	POLICY="${POLICY/undo=on/undo=off}
path rw $BATS_TEST_TMPDIR/other/in/** $BATS_TEST_TMPDIR/other/**"
	all_places() { tree && (cd "$BATS_TEST_TMPDIR/other" && tree); }
	dry() { # LINE: what was told of it
		run in_policy "$POLICY" "$WARDBOX" exec -n -- sh -c "$1"
		echo "$output"
		all_places | diff "$BATS_TEST_TMPDIR/before" -
	}
	all_places >"$BATS_TEST_TMPDIR/before"
	dry "cd $BATS_TEST_TMPDIR/other; rm in/old; mkdir -p x/y; echo >x/y/z; mv in in2"
	[ "$status" -eq 0 ]
	[[ "$output" == *"removed  $BATS_TEST_TMPDIR/other/in/old"* ]]
	dry 'mv d/e empty/e; mv a b; mv soft soft2'
	[[ "$output" == *"moved    $PROJECT/b from $PROJECT/a"* ]]
	dry 'ln a l2; echo x >>l2; chmod 600 sparse; rm pipe; mkfifo pipe2'
	[[ "$output" == *"made     $PROJECT/l2"*"changed  $PROJECT/a"* ]]
	dry '(echo >late; sleep 1000) & until [ -e late ]; do :; done'
	[[ "$output" == *"made     $PROJECT/late"* ]]
	# shellcheck disable=SC2016 # the shell's own
	dry 'rm -r d; kill -9 $$'
	[ "$status" -eq 137 ]
	dry 'exit 7'
	[ "$status" -eq 7 ]
	local id
	id=$(in_policy "$POLICY" "$WARDBOX" session create)
	run in_policy "$POLICY" "$WARDBOX" exec -n "$id" -- rm -r d
	[ "$status" -eq 0 ]
	all_places | diff "$BATS_TEST_TMPDIR/before" -
	run undo list
	[ "$status" -eq 1 ]
}

@test "a dry run that was killed is taken back by undo" {
	echo old >a
	mkfifo go
	tree | grep -v '^[.]/go ' >"$BATS_TEST_TMPDIR/before"
	# shellcheck disable=SC2016 # expanded by the inner shell
	in_policy "$POLICY" sh -c 'echo $$ >"$2"; exec "$1" exec -n -- sh -c "
		echo new >a; echo x >made; echo ready >go; sleep 1000"' \
		sh "$WARDBOX" "$BATS_TEST_TMPDIR/pid" >/dev/null 2>&1 3>&- &
	local job=$! tries=0
	[ "$(timeout 60 cat go)" = ready ]
	kill -9 "$(cat "$BATS_TEST_TMPDIR/pid")"
	wait "$job" || true
	until undo list | grep -q 'cut off'; do
		[ "$((++tries))" -lt 500 ]
	done
	undo
	tree | grep -v '^[.]/go ' | diff "$BATS_TEST_TMPDIR/before" -
}

@test "a session's journals have a bound of their own" {
	head -c 100000 /dev/urandom >a
	POLICY+='
undo session=250K'
	for i in 1 2 3 4 5; do
		g "echo $i >>a"
	done
	run undo list
	echo "$output"
	[ "${#lines[@]}" -eq 2 ]
	undo
	undo
	[ "$(tail -n 1 a)" = 3 ]
}

@test "an undo waits for the one that is at work" {
	echo old >a
	g 'echo new >a'
	inside '
		lock=$(find /var/log/wardbox -name "undo-*")/lock
		exec 7>>"$lock"
		flock 7
		undo >out 2>&1 7>&- &
		until [ "$(find /proc/[0-9]*/fd -lname "$lock" 2>/dev/null | wc -l)" -ge 2 ]; do
			sleep 0.02
		done
		grep -x new a
		exec 7>&-
		wait $!
		grep -x old a'
}
