#!/usr/bin/env bats
# who owns the project tries to lead an undo elsewhere; who is guarded, its journal

load ../lib/undo

# Root guards a command in a directory of uid 1000's; $OUT is root's alone.
setup_owned() {
	OUT=$BATS_TEST_TMPDIR/out
	mkdir -p "$OUT/project/.git"
	cd "$BATS_TEST_TMPDIR"
	mkdir -p theirs
	mv project theirs/project
	PROJECT=$BATS_TEST_TMPDIR/theirs/project
	cd "$PROJECT"
}

@test "a link in the place of a directory above leads no undo elsewhere" {
	setup_owned
	mkdir d
	echo planted >d/cron
	echo old >f
	g 'rm -r d; echo new >f; echo x >made'
	echo mine >"$OUT/project/f"
	mv "$BATS_TEST_TMPDIR/theirs" "$BATS_TEST_TMPDIR/theirs.away"
	ln -s "$OUT" "$BATS_TEST_TMPDIR/theirs"
	cd /
	run undo 1
	echo "$output"
	[ "$status" -eq 1 ]
	run undo --force 1
	echo "$output"
	[ "$status" -eq 1 ]
	[ "$(ls -A "$OUT/project")" = $'.git\nf' ]
	[ "$(cat "$OUT/project/f")" = mine ]
	# Nor does another directory of that name.
	rm "$BATS_TEST_TMPDIR/theirs"
	cp -a "$OUT" "$BATS_TEST_TMPDIR/theirs"
	run undo --force 1
	[ "$status" -eq 1 ]
	[ "$(ls -A "$BATS_TEST_TMPDIR/theirs/project")" = $'.git\nf' ]
	rm -r "$BATS_TEST_TMPDIR/theirs"
	mv "$BATS_TEST_TMPDIR/theirs.away" "$BATS_TEST_TMPDIR/theirs"
	undo 1
	[ "$(cat "$PROJECT/d/cron" "$PROJECT/f")" = $'planted\nold' ]
}

@test "links and other objects in the place of what comes back stay untouched" {
	mkdir -p d/e out
	echo 1 >d/e/f
	echo 1 >d/g
	echo secret >out/secret
	chmod 600 out/secret
	g 'rm d/e/f; echo 2 >d/g; mkdir n; echo x >n/y; chmod 700 d'
	mv d/e d/e2
	ln -s "$PROJECT/out" d/e
	rm d/g
	ln out/secret d/g
	mv n n2
	ln -s "$PROJECT/out" n
	tree >"$BATS_TEST_TMPDIR/before"
	run undo
	echo "$output"
	[ "$status" -eq 1 ]
	tree | diff "$BATS_TEST_TMPDIR/before" -
	run undo --force
	echo "$output"
	[ "$(ls out)" = secret ]
	[ "$(cat out/secret)" = secret ]
	[ "$(stat -c %a out/secret)" = 600 ]
	[ -f n2/y ]
}

@test "what a race puts in the place of a restored file gets neither owner nor mode" {
	need python3 -c ''
	local i
	mkdir d
	for i in $(seq 300); do echo "$i" >"d/f$i"; done
	chown -R 1000:1000 d
	chmod 777 d
	chown 0:0 d/f1
	chmod 4755 d/f1
	cat >"$BATS_TEST_TMPDIR/race.py" <<-'P'
		import os, sys
		os.setresgid(1000, 1000, 1000)
		os.setresuid(1000, 1000, 1000)
		os.chdir(sys.argv[1])
		open("mine", "w").write("evil")
		open("ready", "w")
		while not os.path.exists("stop"):
		    for n in ("f1", "f150", "f299"):
		        try:
		            os.rename(n, "moved")
		            os.symlink("/etc/passwd", n)
		            os.rename("moved", n)
		            os.link("mine", "l")
		            os.rename("l", n)
		        except OSError:
		            pass
	P
	chmod -R go+rX "$BATS_TEST_TMPDIR"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test
	local passwd
	passwd=$(stat -c '%a %u %Y' /etc/passwd)
	for i in 1 2 3 4 5; do
		rm -f d/ready d/stop
		g 'rm -f d/f*'
		python3 "$BATS_TEST_TMPDIR/race.py" "$PROJECT/d" 3>&- &
		until [ -e d/ready ]; do :; done
		undo --force >/dev/null 2>&1 || true
		touch d/stop
		wait $!
		[ -z "$(find d -perm -4000 -size 4c)" ]
		[ "$(stat -c '%u' d/mine)" = 1000 ]
		# At most a copy that nobody else can use is left under another name.
		[ -z "$(find d -type f -user 0 -perm /4077 -exec grep -l evil {} +)" ]
	done
	[ "$(stat -c '%a %u %Y' /etc/passwd)" = "$passwd" ]
}

@test "a file that is changed by a name outside of the project is kept before" {
	mkdir "$BATS_TEST_TMPDIR/other"
	POLICY+="
path rw $BATS_TEST_TMPDIR/other/**"
	echo old >a
	echo old >b
	tree >"$BATS_TEST_TMPDIR/before"
	need in_policy "$POLICY" "$WARDBOX" sh -c 'true'
	g "ln a $BATS_TEST_TMPDIR/other/a && echo new >$BATS_TEST_TMPDIR/other/a; rm -f $BATS_TEST_TMPDIR/other/a" || true
	g "mv b $BATS_TEST_TMPDIR/other/b; echo new >$BATS_TEST_TMPDIR/other/b"
	undo
	if [ "$(cat a)" = new ]; then
		undo
	fi
	[ "$(cat a b)" = $'old\nold' ]
}

@test "the store is out of reach, wherever it lies" {
	echo 1 >a
	g 'echo 2 >a'
	local store
	store=/var/log/wardbox/undo-$(id -u)
	cat >reach.py <<-P
		import os, sys
		store = "$store"
		for act in (lambda: os.listdir(store), lambda: os.chmod(store, 0o777),
		            lambda: os.rename(store, store + "x"), lambda: os.utime(store, (1, 1)),
		            lambda: open(store + "/1/journal"), lambda: os.unlink(store + "/1/journal"),
		            lambda: os.link(store + "/1/journal", "j"), lambda: os.mkdir(store + "/9"),
		            lambda: os.truncate(store + "/last", 0)):
		    try:
		        act()
		    except OSError:
		        continue
		    sys.exit("reached")
	P
	g 'python3 reach.py'
	undo 1
	[ "$(cat a)" = 1 ]
	# In the home, which lies in the project.
	export XDG_STATE_HOME=$PROJECT/state
	mkdir -p state
	run in_policy "$POLICY" sh -c 'mount -t tmpfs -o ro none /var/log
		echo 3 >b
		"$1" sh -c "echo 4 >b; rm -rf state/wardbox/undo-*/*; ls -A state/wardbox/*"
		"$1" undo --force >/dev/null 2>&1; cat b' sh "$WARDBOX"
	echo "$output"
	[[ "$output" != *journal* && "$output" != *last* ]]
	[ "${lines[-1]}" = 3 ]
}

@test "several undos at once: one restores, the others do nothing and say so" {
	local i
	mkdir d
	for i in $(seq 200); do echo "$i" >"d/$i"; done
	tree >"$BATS_TEST_TMPDIR/before"
	g 'rm -r d'
	# shellcheck disable=SC2016 # expanded by the inner shell
	in_policy "$POLICY" sh -c 'for n in 1 2 3; do
		"$1" undo 1 >"$2/said$n" 2>&1 &
	done; wait' sh "$WARDBOX" "$BATS_TEST_TMPDIR"
	tree | diff "$BATS_TEST_TMPDIR/before" -
	[ "$(cat "$BATS_TEST_TMPDIR"/said* | grep -c 'took back')" -eq 1 ]
	[ "$(cat "$BATS_TEST_TMPDIR"/said* | grep -c -e 'nothing was done' \
		-e 'nothing is left')" -eq 2 ]
}

@test "a store that its owner changed restores nothing unsaid, and leads nowhere" {
	local store=$BATS_TEST_TMPDIR/ns/log/wardbox/undo-$(id -u) f
	echo old >a
	echo old >b
	g 'rm a; echo new >b'
	for f in "$store"/1/[co]*; do echo bad >"$f"; done
	run undo 1
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$PROJECT/a: what was saved of it was changed since"* ]]
	[[ "$output" == *"$PROJECT/b: its content was not saved"* ]]
	[ "$(cat b)" = new ]
	rm -f "$store"/1/[co]*
	echo now >b
	g 'echo newer >b; mkdir d'
	rm "$store"/2/[co]*
	run undo 2
	echo "$output"
	[ "$status" -eq 1 ]
	[ "$(cat b)" = newer ]
	# A journal counts up to the first record that is not whole.
	printf x | dd of="$store/2/journal" bs=1 seek=700 conv=notrunc status=none
	undo 2 --force || true
	[ "$(cat b)" = newer ]
	# Neither notes of restores nor their place lead elsewhere.
	rm -f "$store/again"
	ln -s "$PROJECT/b" "$store/again"
	run undo 2
	[ "$status" -eq 1 ]
	rm "$store/again"
	(umask 077 && head -c 100000 /dev/urandom >"$store/again")
	exact 'echo third >b; mv b c; mkdir e'
}

@test "a command that still writes behind its line is not taken back before it ends" {
	mkfifo one two
	POLICY+="
profile FULL-AUTO background=keep"
	local id tries=0
	id=$(in_policy "$POLICY" "$WARDBOX" session create)
	echo old >a
	in_policy "$POLICY" "$WARDBOX" exec --keep "$id" -- \
		sh -c '(echo new >a; cat one; echo late >b; cat two) >/dev/null 2>&1 &' 3>&-
	run undo
	[ "$status" -eq 1 ]
	run undo 1
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"still running"* ]]
	[ "$(cat a)" = new ]
	echo >one
	echo >two
	until [[ "$(undo list)" != *running* ]]; do
		[ "$((++tries))" -lt 500 ]
	done
	undo
	[ "$(cat a)" = old ]
	[ ! -e b ]
}

@test "what a name is changes while it is saved: a pipe, a link, a directory" {
	local i
	echo 1 >f
	exact 'for i in 1 2 3; do rm -f f; mkfifo f; rm f; ln -s / f; rm f; mkdir f; rmdir f; echo 2 >f; done; rm f; mkfifo f'
	cp "$HELPERS/undo_acts" "$BATS_TEST_TMPDIR"
	POLICY+="
path r $BATS_TEST_TMPDIR/**
exec $BATS_TEST_TMPDIR"
	# Threads that replace the same few names: nothing waits for a pipe.
	for i in 1 2 3 4 5; do
		g "timeout 60 $BATS_TEST_TMPDIR/undo_acts $i 300 4"
		undo --force >/dev/null || true
	done
}
