#!/usr/bin/env bats
# undo of what people run: installs, builds, repositories, databases; on any disk

load ../lib/undo

# A registry is not needed for packages that lie here.
make_package() { # NAME FILES
	mkdir -p "$BATS_TEST_TMPDIR/p/$1"
	printf '{"name":"%s","version":"1.0.0"}' "$1" >"$BATS_TEST_TMPDIR/p/$1/package.json"
	(cd "$BATS_TEST_TMPDIR/p/$1" && seq "$2" | split -l 1 -a 4 -d - file)
	tar -C "$BATS_TEST_TMPDIR/p" --transform "s,^$1,package," \
		-czf "$1-1.0.0.tgz" "$1"
}

@test "npm install comes back, and again" {
	need npm --version
	make_package one 300
	make_package two 50
	printf '{"name":"x","version":"1.0.0","dependencies":{"one":"file:one-1.0.0.tgz"}}' \
		>package.json
	exact 'npm install --offline --no-audit --no-fund && test -e node_modules/one/file0007'
	g 'npm install --offline --no-audit --no-fund'
	exact 'npm install --offline --no-audit --no-fund ./two-1.0.0.tgz'
	exact 'npm uninstall --offline --no-audit --no-fund one'
	exact 'rm -rf node_modules'
}

@test "a virtual environment of python comes back" {
	need python3 -c 'import venv'
	POLICY+="
allow id=venv python3 opt:-m=venv **"
	exact 'python3 -m venv --without-pip v && v/bin/python -c "import json"'
}

@test "a build comes back, also one over another" {
	need make --version
	need cc --version
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "int f$i(void) { return $i; }" >f$i.c
	done
	# shellcheck disable=SC2016 # make's
	printf 'lib.a: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\tar rcs $@ $^\nclean:\n\trm -f *.o lib.a\n' \
		>Makefile
	exact 'make -j4'
	g 'make -j4'
	# make compares times, and a file's time is no finer than a tick.
	sleep 0.01
	echo 'int g(void) { return 0; }' >>f3.c
	exact 'make -j4'
	exact 'make clean'
}

@test "sed -i on a thousand files comes back" {
	mkdir many
	(cd many && seq 1000 | split -l 1 -a 4 -d - f)
	exact 'sed -i s/1/one/ many/*'
	exact 'find many -type f -exec chmod 600 {} +'
	exact 'for f in many/f00*; do mv "$f" "$f.bak"; done'
}

@test "a database of sqlite with a log of its own comes back, and opens" {
	need sqlite3 --version
	sqlite3 db 'pragma journal_mode=wal; create table t(x); insert into t values(1);' >/dev/null
	exact 'sqlite3 db "pragma wal_autocheckpoint=2; insert into t select x+1 from t; insert into t select x+2 from t; create index i on t(x);"'
	[ "$(sqlite3 db 'select count(*) from t; pragma integrity_check')" = "$(printf '1\nok')" ]
	# A log and its index are there before.
	python3 - <<-'P'
		import os, sqlite3
		c = sqlite3.connect("db")
		c.execute("pragma journal_mode=wal")
		c.execute("insert into t values(5)")
		c.commit()
		os._exit(0)
	P
	[ -s db-wal ]
	exact 'sqlite3 db "delete from t"'
	[ "$(sqlite3 db 'select count(*) from t; pragma integrity_check')" = "$(printf '2\nok')" ]
}

@test "work trees, submodules and hooks of git come back" {
	need git --version
	local top=$BATS_TEST_TMPDIR/sub
	export GIT_CONFIG_GLOBAL=$BATS_TEST_TMPDIR/gitconfig
	printf '[user]\nname=n\nemail=a@b\n[protocol "file"]\nallow=always\n' >"$GIT_CONFIG_GLOBAL"
	git init -q "$top"
	git -C "$top" commit -q --allow-empty -m sub
	rm -rf .git
	git init -q .
	echo 1 >f
	git add f
	git submodule --quiet add "$top" sub
	git commit -qm one
	printf '#!/bin/sh\necho hooked >>hooked\n' >.git/hooks/post-commit
	chmod +x .git/hooks/post-commit
	exact 'git worktree add -q wt -b side && echo 2 >wt/f && git -C wt -c user.name=n -c user.email=a@b commit -qam two'
	exact 'git submodule --quiet deinit -f sub'
	exact 'echo 3 >f; git -c user.name=n -c user.email=a@b commit -qam three; git gc -q --prune=now'
	exact 'git stash -q -u 2>/dev/null; echo 4 >f; git add f; git rm -q --cached f'
	git fsck
	[ -x .git/hooks/post-commit ]
	[ -z "$(git status --porcelain)" ]
}

@test "names of 255 bytes of anything, and deep directories, come back" {
	need python3 -c ''
	cat >make.py <<-'P'
		import os
		names = [b"\xff" * 255, b"\n" * 200, b"\x01\x02\x1b[31m", b"-rf", b"a b\t'\"$(x)`", "ü".encode() * 127,
		         b"*", b" ", b"...", b"\\"]
		for n in names:
		    with open(n, "wb") as f:
		        f.write(n)
		os.mkdir("names")
		deep = b"d" * 100
		os.makedirs(b"/".join([deep] * 30))
		with open(b"/".join([deep] * 30) + b"/f", "wb") as f:
		    f.write(b"x")
	P
	exact 'python3 make.py'
	python3 make.py
	exact 'python3 -c "
import os
for n in os.listdir(b\".\"):
    if os.path.isfile(n) and n != b\"make.py\":
        os.rename(n, b\"names/\" + n)
"'
	exact "python3 -c 'import shutil; shutil.rmtree(\"d\" * 100)'"
}

@test "holes, pipes, sockets, files that nobody may read or change" {
	need python3 -c ''
	truncate -s 3G sparse
	printf end | dd of=sparse bs=1 seek=2G conv=notrunc status=none
	mkfifo pipe
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'
	echo r >readonly
	chmod 400 readonly
	mkdir closed
	echo x >closed/in
	chmod 500 closed
	exact 'truncate -s 1G sparse; rm pipe sock; chmod 600 readonly; echo w >readonly; chmod 400 readonly; chmod 700 closed; rm closed/in; chmod 500 closed'
	[ "$(stat -c %b sparse)" -lt 100 ]
	exact 'rm -rf sparse closed readonly; mkdir pipe.d; mv pipe sock pipe.d'
	[ "$(stat -c %b sparse)" -lt 100 ]
}

@test "what cannot be changed back is named, and the rest comes back" {
	echo 1 >a
	echo 1 >b
	g 'echo 2 >a; echo 2 >b'
	chattr +i a 2>/dev/null || skip "no immutable files here"
	run undo
	chattr -i a
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$PROJECT/a: "* ]]
	[ "$(cat b)" = 1 ]
	[ "$(cat a)" = 2 ]
	chattr +i b
	run g 'rm -f b a'
	chattr -i b
	[ -e b ]
	undo || true
	[ "$(cat a b)" = "$(printf '2\n1')" ]
}
