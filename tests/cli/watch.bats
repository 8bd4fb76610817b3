#!/usr/bin/env bats
# What is judged, or done, at the moment when a program asks the kernel for it.
load ../lib/wardbox
bats_require_minimum_version 1.5.0

# No mount namespace is to be had under a container's filter.
NO_VIEW='use FULL-AUTO
relax mount'

setup() {
	project
	# As another user, too.
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test "$BATS_TEST_TMPDIR" "$PROJECT"
	cp "$HELPERS/meddle" "$HELPERS/swap" "$HELPERS/interrupted" .
}

g() { # PROFILE SHELL-ARGUMENT...
	local profile=$1
	shift
	in_policy "use $profile" "$WARDBOX" sh "$@"
}

# A guarded line where no mount namespace can be made, as root or uid 1000.
bare_tier() { # root|user LINE
	local who=$1 line=$2
	if [ "$who" = root ]; then
		in_policy "$NO_VIEW" "$HELPERS/docker" "$WARDBOX" sh -c "$line"
	else
		chown -R 1000:1000 "$PROJECT"
		in_policy "$NO_VIEW" "$HELPERS/docker" setpriv --reuid 1000 --regid 1000 \
			--clear-groups "$WARDBOX" sh -c "$line"
	fi
}

@test "without a view of mounts no call changes a file of the guard's" {
	local who uid
	need "$HELPERS/docker" true
	for who in root user; do
		uid=$([ $who = root ] && echo 0 || echo 1000)
		mkdir -p "$BATS_TEST_TMPDIR/ns/log/wardbox"
		install -d -m 700 -o $uid -g $uid "$BATS_TEST_TMPDIR/ns/log/wardbox/$uid"
		run bare_tier $who ':'
		echo "$output"
		[ "$status" -eq 0 ]
		(cd "$BATS_TEST_TMPDIR/ns" && stat -c '%n %a %u %g %Y' log/wardbox/$uid \
			log/wardbox/$uid/head etc/wardbox/policy) >before
		cp before "$BATS_TEST_TMPDIR/before"
		echo "./meddle /etc/wardbox /etc/wardbox/policy /var/log/wardbox /var/log/wardbox/$uid \
			/var/log/wardbox/$uid/head /var/log/wardbox/$uid/0000000000000000.aud \
			/run/wardbox /run/wardbox/$uid /run/wardbox/$uid/sessions" >line
		run bare_tier $who 'sh ./line'
		grep ' ok$' <<<"$output" | grep -v -e 'flock\|lock fd' && return 1
		# Told once for each kind of change, and recorded each time.
		[ "$(grep -c 'denied: mode of /etc/wardbox: .*(rule metadata, ' <<<"$output")" -eq 1 ]
		[ $who != root ] || in_policy "$NO_VIEW" "$WARDBOX" audit dump -o json |
			jq -es 'map(select(.event == "file.deny").detail.command) | index("mode of /var/log/wardbox/0/head")'
		(cd "$BATS_TEST_TMPDIR/ns" && stat -c '%n %a %u %g' log/wardbox/$uid \
			log/wardbox/$uid/head etc/wardbox/policy) | cmp - <(sed 's/ [0-9]*$//' "$BATS_TEST_TMPDIR/before")
		# Beside it each call works that the tier allows.
		echo x >mine
		chown $uid mine
		run bare_tier $who 'sh -c "./meddle mine"'
		[[ $output == *"chmod path mine ok"*"utimensat path mine ok"* ]]
		[[ $output == *"fchmod fd mine ok"* ]]
		rm -f mine
	done
}

@test "a path that a thread swaps changes no file outside" {
	local who
	need "$HELPERS/docker" true
	for who in root user; do
		rm -f swap-at swap-new own
		echo x >own
		install -m 644 -o "$([ $who = root ] && echo 0 || echo 1000)" /dev/null "$BATS_TEST_TMPDIR/theirs"
		touch -d 2001-01-01 "$BATS_TEST_TMPDIR/theirs"
		echo "./swap ${SWAPS:-10000} own $BATS_TEST_TMPDIR/theirs" >line
		run bare_tier $who 'sh ./line'
		echo "$output"
		[[ $output =~ done\ [1-9][0-9]*\ refused\ [1-9] ]]
		[ "$(stat -c '%a %Y' "$BATS_TEST_TMPDIR/theirs")" = "644 $(date -d 2001-01-01 +%s)" ]
		[ -z "$(getfattr "$BATS_TEST_TMPDIR/theirs" 2>/dev/null)" ]
	done
}

@test "a file of the guard's is known by its other name in the project" {
	need "$HELPERS/docker" true
	bare_tier root ':'
	echo x >one
	ln one two
	mkfifo go
	# The guard itself does not begin where it has one.
	(
		read -r _ <go
		ln "$BATS_TEST_TMPDIR/ns/log/wardbox/0/head" twin
		echo >go
	) &
	run bare_tier root 'echo >go; read x <go; sh -c "chmod 640 one; chmod 777 twin"'
	wait $!
	echo "$output"
	[[ $output == *"twin"*"Operation not permitted"* ]]
	[ "$(stat -c %a twin)" != 777 ]
	[ "$(stat -c %a two)" = 640 ]
}

@test "where metadata is done for a command the answers are the kernel's" {
	need "$HELPERS/docker" true
	cat >try.py <<-'P'
		import os, sys
		os.umask(0o22)
		open("f", "w").close()
		try: os.symlink("f", "l")
		except FileExistsError: pass
		fd, p, d = os.open("f", os.O_RDONLY), os.open("f", os.O_PATH), os.open(".", os.O_RDONLY)
		r, w = os.pipe()
		for n, call in enumerate((
		        lambda: os.chmod("f", 0o640), lambda: os.fchmod(fd, 0o604), lambda: os.fchmod(p, 0o640),
		        lambda: os.chmod("/proc/self/fd/%d" % p, 0o600), lambda: os.chmod("/dev/fd/%d" % fd, 0o600),
		        lambda: os.fchmod(99, 0o600), lambda: os.chmod("no", 0o600), lambda: os.chmod("", 0o600),
		        lambda: os.chmod("f/", 0o600), lambda: os.chmod("f", 0o644, dir_fd=d), lambda: os.chmod("f", 0o600, dir_fd=fd),
		        lambda: os.chmod("a" * 300, 0), lambda: os.chmod("a/" * 2500, 0), lambda: os.chmod("l/l", 0),
		        lambda: os.chown("f", os.getuid(), -1), lambda: os.chown("f", 1234, -1), lambda: os.lchown("l", -1, os.getgid()),
		        lambda: os.utime("f"), lambda: os.utime(fd, (5, 7)), lambda: os.utime("l", (5, 9), follow_symlinks=False),
		        lambda: os.utime("f", ns=(1, 2), dir_fd=d), lambda: os.fchmod(r, 0o600), lambda: os.fchmod(os.memfd_create("m"), 0o600),
		        lambda: os.setxattr("f", "user.a", b"1"), lambda: os.setxattr("f", "user.a", b"1", os.XATTR_CREATE),
		        lambda: os.setxattr(fd, "user.b", b""), lambda: os.setxattr("f", "trusted.a", b"1"),
		        lambda: os.setxattr("f", "user." + "x" * 300, b"1"), lambda: os.setxattr("f", "user.c", b"x" * 70000),
		        lambda: os.removexattr("f", "user.none"), lambda: os.removexattr(fd, "user.b"), lambda: os.removexattr("f", "user.a"))):
		    try: print(n, call())
		    except OSError as e: print(n, e.errno)
		s, t = os.stat("f"), os.lstat("l")
		print(oct(s.st_mode), s.st_mtime_ns, t.st_mtime, os.listxattr("f"))
	P
	chown -R 1000:1000 .
	as_user /usr/bin/python3 try.py >bare
	rm -f f l
	run bare_tier user '/usr/bin/python3 try.py'
	[ "$status" -eq 0 ]
	diff - bare <<<"$output"
}

@test "a script's interpreter is judged, and that one's" {
	printf '#!/usr/bin/curl\n' >one
	printf '#!./one -x\n' >two
	printf '#!/usr/bin/env -S curl -V\n' >three
	printf '#!/bin/sh\necho "$0" "$@"\n' >good
	printf '#! ./good  a b \n' >better
	printf '#!/not/there\n' >none
	chmod +x one two three good better none
	need test -x /usr/bin/curl
	run g FULL-AUTO -c './one; ./two; ./three'
	[ "$status" -eq 126 ]
	[[ $output != *libcurl* ]]
	[[ $output == *"denied: /usr/bin/curl ./one: "*"rule net"*"denied: /usr/bin/curl ./one -x ./two: "*"denied: curl -V: "* ]] ||
		[[ $output == *"denied: /usr/bin/curl ./one: "*"rule net"*"denied: curl -V: "* ]]
	run -127 g FULL-AUTO -c './good 1; ./better 2; ./none'
	[[ $output == $'./good 1\n./good a b ./better 2\n'*"not found"* ]]
}

@test "a denied program is told of where it happens, once, also in a pipe" {
	echo 'echo before >&2; "$1" -c id; "$1" -c id; echo behind >&2' >start
	run g FULL-AUTO -c 'sh ./start su'
	[ "$(grep -c '^wardbox sh: denied: su -c id: ' <<<"$output")" -eq 1 ]
	[[ $output == before$'\n'"wardbox sh: denied: su -c id: "*behind ]]
	[ "$(grep -c 'Permission denied' <<<"$output")" -eq 2 ]
	# In a file, too, and not in the way of a program's own output.
	g FULL-AUTO -c 'sh ./start su' 2>err >out
	grep -q '^wardbox sh: denied: su -c id: ' err
	[ ! -s out ]
}

@test "a program that was not started for too many makes no success" {
	echo 'i=0; while [ $i -lt 30 ]; do sleep 0.4 & i=$((i+1)); done; wait; exit ${1-0}' >many
	run g 'FULL-AUTO
limit FULL-AUTO procs=8' -c 'sh ./many'
	[ "$status" -eq 125 ]
	[[ $output == *"not started: sleep and others: more processes than allowed"* ]]
	run g 'FULL-AUTO
limit FULL-AUTO procs=8' -c 'sh ./many 3'
	[ "$status" -eq 3 ]
	# What was started later by the same parent is not missed.
	cat >again.py <<-'P'
		import subprocess, time
		held = [subprocess.Popen(["sleep", "1"]) for _ in range(6)]
		lost = 0
		while True:
		    try:
		        subprocess.run(["true"]); subprocess.run(["true"])
		        more = [subprocess.Popen(["sleep", "0.1"]) for _ in range(3)]
		    except BlockingIOError:
		        lost += 1
		        time.sleep(0.1)
		        continue
		    break
		for p in held: p.wait()
		for p in more: p.wait()
		for _ in range(lost + 3): subprocess.run(["sleep", "0"])
	P
	run g 'FULL-AUTO
limit FULL-AUTO procs=8' -c 'python3 again.py'
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a call that waits for its answer is given up for no more than a signal" {
	local who
	need "$HELPERS/docker" true
	echo x >file
	for who in root user; do
		run bare_tier $who "sh -c './interrupted ${CALLS:-2000} file'"
		echo "$output"
		[ "$status" -eq 0 ]
		[[ $output =~ ^exec\ ([0-9]+)\ chmod\ ([0-9]+)\ signals\ ([1-9][0-9]*) ]]
		# Only before it was received: see SECURITY.md.
		[ $((BASH_REMATCH[1] + BASH_REMATCH[2])) -lt "${BASH_REMATCH[3]}" ]
	done
}

@test "the interpreter of a script is judged where no name leads to the script" {
	cat >nameless.py <<-'END'
		import os, sys
		line, how = sys.argv[1].encode(), sys.argv[2]
		if how == "memory":
		    f = os.memfd_create("x", 0)
		    os.write(f, line + b"\n")
		elif how == "no file":
		    w = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o755)
		    os.write(w, line + b"\n")
		    f = os.open("/proc/self/fd/%d" % w, os.O_RDONLY)
		    os.close(w)
		else:
		    # Another script has the name that the kernel gives the removed one.
		    for name, text in ("s (deleted)", b"#!/bin/true"), ("s", line):
		        w = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o755)
		        os.write(w, text + b"\n")
		        os.close(w)
		    f = os.open("s", os.O_RDONLY)
		    os.unlink("s")
		os.set_inheritable(f, True)
		if len(sys.argv) > 3:
		    os.execve(f, ["ls", "x"], os.environ)
		os.execv("/proc/self/fd/%d" % f, ["ls", "x"])
	END
	setpriv=$(command -v setpriv)
	for how in memory 'no file' removed; do
		for by in '' ' at'; do
			run g FULL-AUTO -c "python3 nameless.py '#!$setpriv --version' '$how'$by"
			echo "$output"
			[ "$status" -ne 0 ]
			[[ $output == *"denied: $setpriv --version "*'(rule priv, '* ]]
			run g FULL-AUTO -c "python3 nameless.py '#!/usr/bin/env -S echo it ran' '$how'$by"
			[ "$status" -eq 0 ]
			[[ $output == 'it ran '* ]]
		done
	done
}

@test "a thread with descriptors of its own starts what its process's descriptor names" {
	cat >twin.py <<-'END'
		import ctypes, os, sys, threading
		def other():
		    # The thread's table is its own from here on; /proc/self is the process's.
		    assert ctypes.CDLL(None).unshare(0x400) == 0
		    os.dup2(os.open("/usr/bin/true", os.O_PATH), 50)
		    os.execv("/proc/self/fd/50", ["true", "--version"])
		os.dup2(os.open(sys.argv[1], os.O_PATH), 50)
		threading.Thread(target=other).start()
	END
	setpriv=$(command -v setpriv)
	run g FULL-AUTO -c "python3 twin.py $setpriv"
	echo "$output"
	[[ $output == *"denied: $setpriv --version: "*'(rule priv, '* ]]
	[[ $output != *util-linux* ]]
	run g FULL-AUTO -c 'python3 twin.py /usr/bin/uname'
	[ "$status" -eq 0 ]
	[[ $output == uname* ]]
}
