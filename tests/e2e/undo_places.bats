#!/usr/bin/env bats
# undo on disks of every kind, for every user, and where little can be had

load ../lib/undo

# What is done on each.
WORK='rm -rf d; echo new >a; mkdir n; mv soft n; ln hard n/h; truncate -s 10 sparse; chmod 600 pipe; : >made'

user_project() {
	need setpriv --reuid 1000 --regid 1000 --clear-groups true
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test "$BATS_TEST_TMPDIR"
	chown -R 1000:1000 "$PROJECT" "$HOME"
	AS='setpriv --reuid 1000 --regid 1000 --clear-groups --'
}

@test "as uid 1000, with a view of mounts" {
	some_files
	user_project
	inside "exact '$WORK'; exact 'chmod 700 d; mv d e; echo x >e/e/f'"
}

@test "files of root's that uid 1000 may only rename or remove" {
	some_files
	echo roots >d/roots
	user_project
	chown 0:0 d/roots
	chmod 600 d/roots
	inside "exact 'mv d/roots x; echo y >d/e/f'
		exact 'mv d/roots d/e/f'"
	[ "$(cat d/roots)" = roots ]
	# What may be neither read nor linked is named, and is not taken back.
	inside 'g "rm -f d/roots; echo z >d/e/f"
		not undo >"$SCRATCH/said"
		undo --force || true'
	grep -q "$PROJECT/d/roots: its content cannot be read" "$BATS_TEST_TMPDIR/said"
	[ "$(cat d/e/f)" = two ]
}

@test "without namespaces, as root and as uid 1000" {
	some_files
	POLICY+='
relax mount'
	AS="$HELPERS/docker" inside "exact '$WORK'"
	user_project
	AS="$AS $HELPERS/docker"
	inside "exact '$WORK'
		g 'rm -rf \$HOME/.local/state/wardbox /var/log/wardbox; ls \$HOME/.local/state' && exit 1
		g 'echo new >a'
		undo list | grep 'echo new'"
}

@test "another disk that is mounted in the project" {
	some_files
	inside "
		mkdir disk
		mount -t tmpfs disk disk
		cd disk; some_files; cd ..
		exact '$WORK'
		exact 'rm -rf disk/d; echo new >disk/a; mv a disk/b; mv disk/hard d/e; cp -a d disk/d2'
		exact 'find disk -mindepth 1 -delete'"
}

@test "a file and a directory that are mounted in the project" {
	some_files
	inside '
		echo old >"$SCRATCH/conf"
		chmod 640 "$SCRATCH/conf"
		: >conf
		mount --bind "$SCRATCH/conf" conf
		exact "echo new >conf; chmod 600 conf; echo x >>a"
		[ "$(cat "$SCRATCH/conf")" = old ]
		mkdir bound
		mount --bind d bound
		exact "echo new >bound/e/f; echo x >d/n; mv bound/n d/m; rm -r d/e"'
}

@test "a project of an overlay, and one that is bound to another place" {
	inside "
		mkdir low up work over
		cd low; some_files; rm hard; mkdir .git; echo x >l1; ln l1 l2; cd ..
		mount -t overlay overlay -o lowerdir=low,upperdir=up,workdir=work over
		cd over
		exact 'rm -rf d; echo new >a; mkdir n; mv soft n; truncate -s 10 sparse; chmod 600 pipe; : >made'
		exact 'mkdir d/new; mv d/e/f d/new; rm -r d/e; ln a l'
		# It takes linked files apart when one is written to.
		g 'echo y >l1; rm -r d'
		undo
		cat l1 l2
		mkdir ../bound
		mount --bind . ../bound
		cd ../bound
		exact 'rm -rf d; echo new >a; echo newer >sparse'" >said
	[ "$(grep -c '^x$' said)" -eq 2 ]
}

@test "a disk that is full before, and one that fills up" {
	need in_policy '' true
	inside '
		mount -t tmpfs -o size=4m disk /var/log
		head -c 3000000 /dev/urandom >big
		echo 1 >a
		cp big big2
		g "echo x >>big; echo 2 >a"
		g "echo 3 >>big; echo 2 >>a" || true
		"$WARDBOX" undo list
		undo --force || true
		undo 1 a
		cmp -n 3000000 big big2
		[ "$(cat a)" = 1 ]
		'
}

@test "the cap is reached in the midst: what is beyond it is named" {
	mkdir many
	(cd many && seq 100 | split -l 1 -a 4 -d - f)
	POLICY+='
undo entries=60'
	tree >"$BATS_TEST_TMPDIR/before"
	g 'sed -i s/1/one/ many/*'
	run undo
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"beyond the bound of entries"* ]]
	run undo --force
	[ "$status" -eq 1 ]
	[[ "$output" == *"beyond the bound of entries"* ]]
	# Nothing of what was not saved was removed.
	[ "$(find many -type f | wc -l)" -eq 100 ]
}

@test "others write at the same time: theirs stays, or is named" {
	mkdir ours theirs
	(cd ours && seq 50 | split -l 1 -a 4 -d - f)
	mkfifo "$BATS_TEST_TMPDIR/stop"
	(
		exec 3>&-
		i=0
		while [ ! -e "$BATS_TEST_TMPDIR/enough" ]; do
			echo $((i += 1)) >theirs/w$((i % 20))
			echo $i >ours/theirs$((i % 3))
		done
	) &
	local writer=$!
	for _ in 1 2 3 4 5; do
		g 'sed -i s/1/one/ ours/f*; rm -f ours/f0001; echo x >ours/f0001; mkdir made; echo >made/x'
		undo --force >/dev/null || true
	done
	touch "$BATS_TEST_TMPDIR/enough"
	wait $writer
	[ "$(find ours -name 'f*' | wc -l)" -eq 50 ]
	[ "$(find ours -name 'theirs*' | wc -l)" -eq 3 ]
	[ "$(find theirs -name 'w*' | wc -l)" -eq 20 ]
	[ "$(cat ours/f*)" = "$(seq 50)" ]
	[ ! -e made ]
}
