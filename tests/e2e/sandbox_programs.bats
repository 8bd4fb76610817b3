#!/usr/bin/env bats
# Real programs do their work in the build preset, and nothing beyond it.

load ../lib/sandbox

setup() { place; }
teardown() { unplace; }

# The preset, with limits and the watch that a guarded run has.
B() {
	"${AS[@]}" env HOME="$PLACE/home" PATH=/usr/local/bin:/usr/bin:/bin \
		"$BIN/wardbox" drop --preset=build --timeout=60 "$@"
}

@test "make -j2 of a C project, with its job server" {
	need make --version
	need cc --version
	body() {
		printf '%s\n' 'all: prog' 'prog: a.o b.o c.o; $(CC) -o $@ $^' \
			'%.o: %.c; $(CC) -c -o $@ $<' \
			'sub: ; $(MAKE) -C . all' >Makefile
		echo 'int b(void); int c(void); int main(void) { return b() - c(); }' >a.c
		echo 'int b(void) { return 1; }' >b.c
		echo 'int c(void) { return 1; }' >c.c
		[ ${#AS[@]} = 0 ] || chown -R 1000:1000 .
		works B -- make -j2 sub
		works B -- ./prog
		works B --mem=500M --nproc=200 --watch-exec -- sh -c 'rm -f *.o prog && make -j2 && ./prog'
		case $out in *jobserver*) return 1 ;; esac
	}
	each_user body
}

@test "git: init, commit, log, branch" {
	need git --version
	body() {
		works B -- sh -c 'git init -q . && git config user.email a@b.c && git config user.name n &&
			git add mine && git commit -qm first && git checkout -qb other && git log --oneline'
		works B -- git status --short
		stops "" B -- git clone -q . "$OUT/clone"
		# history that is not to be changed
		need bare unshare -Urm true
		mkdir -p .git/hooks
		stops "Read-only" B --ro="$W/.git/hooks" -- touch .git/hooks/pre-commit
		works B --ro="$W/.git/hooks" -- git commit -q --allow-empty -m second
	}
	each_user body
}

@test "npm ci of a small local package, node with its address space" {
	need node --version
	need npm --version
	body() {
		mkdir -p dep app
		echo '{"name":"dep","version":"1.0.0","main":"i.js"}' >dep/package.json
		echo 'module.exports = 41' >dep/i.js
		(cd dep && tar czf ../dep.tgz --transform 's,^\.,package,' .)
		cat >app/package.json <<-'X'
		{"name":"app","version":"1.0.0","dependencies":{"dep":"file:../dep.tgz"},
		 "scripts":{"test":"node -e 'process.exit(require(\"dep\") - 41)'"}}
		X
		cat >app/package-lock.json <<-'X'
		{"name":"app","version":"1.0.0","lockfileVersion":3,"packages":{
		 "":{"name":"app","version":"1.0.0","dependencies":{"dep":"file:../dep.tgz"}},
		 "node_modules/dep":{"version":"1.0.0","resolved":"file:../dep.tgz"}}}
		X
		[ ${#AS[@]} = 0 ] || chown -R 1000:1000 .
		works B --mem=1G --nproc=200 -- sh -c 'cd app && npm ci --no-audit --no-fund && npm test'
		works B --mem=512M -- node -e 'const {fork, execSync} = require("child_process");
			if (execSync("echo hi").toString() !== "hi\n") process.exit(3);
			new (require("worker_threads").Worker)("1", {eval: true}).on("exit", c => process.exit(c))'
	}
	each_user body
}

@test "python: a virtual environment, processes, sockets between them" {
	PY=/usr/bin/python3
	need $PY -c 'import venv'
	body() {
		works B -- $PY -m venv --without-pip v
		works B -- v/bin/python -c 'import sys; assert sys.prefix.endswith("/v"), sys.prefix'
		works B -- $PY -c '
import multiprocessing, subprocess, threading, socket, tempfile, sys
def f(x): return x * x
with multiprocessing.get_context("fork").Pool(2) as p:
    assert p.map(f, [1, 2, 3]) == [1, 4, 9]
assert subprocess.run(["true"]).returncode == 0
t = threading.Thread(target=print); t.start(); t.join()
a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
tempfile.NamedTemporaryFile().write(b"x")'
		stops "" B -- $PY -c 'import socket; socket.create_connection(("127.0.0.1", 9))'
	}
	each_user body
}

@test "terminals: job control, sizes and programs that open their own" {
	need script --version
	body() {
		out=$("${AS[@]}" script -qec "$BIN/wardbox drop -- sh -c 'stty size; set -m; sleep 0.1 & fg; tty'" /dev/null </dev/null)
		case $out in *pts*) ;; *) echo "$out"; return 1 ;; esac
		works B --rw=/dev/ptmx,/dev/pts -- script -qec 'echo inner' /dev/null
		case $out in *inner*) ;; *) echo "$out"; return 1 ;; esac
		# its own terminal by name, and no other
		out=$("${AS[@]}" script -qec "$BIN/wardbox drop -- sh -c 'echo own >\$(tty)'" /dev/null </dev/null)
		case $out in *own*) ;; *) echo "$out"; return 1 ;; esac
		background other "${AS[@]}" script -qefc 'tty; sleep 20' /dev/null
		other=${other%%[[:space:]]*}
		case $other in /dev/pts/*) ;; *) echo "$other"; return 1 ;; esac
		works bare sh -c "echo hello >$other"
		stops "ermission denied" B -- sh -c "echo hello >$other"
		stops "ermission denied" B -- sh -c "head -c1 <$other"
	}
	each_user body
}

@test "shell pipelines, here-documents, process substitution, /dev/fd" {
	need bash --version
	body() {
		works B -- bash -c 'diff <(seq 3) <(seq 3) && cat <<<here | tee f | grep -q here && (echo x >/dev/stderr) 2>&1 | cat && sort -u /dev/stdin <f'
	}
	each_user body
}
