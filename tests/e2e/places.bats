#!/usr/bin/env bats
# What a guarded command has of its own (/tmp, /var/tmp, /dev/shm, its home), and
# what stays out of its reach beside it: as root, as uid 1000 with a user
# namespace, and as both where namespaces are refused.

load ../lib/wardbox
load ../lib/roots

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	need unshare -m true
	PLACE=$(mktemp -d /tmp/places-XXXXXX)
	chmod 755 "$PLACE"
	NS_DIR=$BATS_TEST_TMPDIR/ns
	POLICY=$'use FULL-AUTO\npath r '"$HELPERS/**"
	PROJECT=$PLACE/home/ours
	mkdir -p "$PLACE/home/.ssh" "$PLACE/home/.config" "$PROJECT/.git" "$PLACE/bin"
	cp "$WARDBOX" "$HELPERS/docker" "$PLACE/bin"
	echo 'the secret' >"$PLACE/home/.ssh/id_rsa"
	write_identity
	printf 'registry=https://u:word@host.example/\n//host.example/:_authToken=word\nfund=false\n' \
		>"$PLACE/home/.npmrc"
	echo 'alias ll=ls' >"$PLACE/home/.bashrc"
	cd "$PROJECT" || return
}

write_identity() {
	cat >"$PLACE/home/.gitconfig" <<-'X'
		[user]
			name = A Person
		[url "https://name:word@host.example/"]
			insteadOf = https://host.example/
		[http]
			extraHeader = Authorization: word
	X
}

teardown() {
	[ -z "${SERVER-}" ] || kill "$SERVER" 2>/dev/null || true
	[ -z "${PLACE-}" ] || rm -rf "$PLACE"
}

# COMMAND... as $USER_ID, with the files above.
under() {
	mkdir -p "$NS_DIR/log/wardbox"
	[ -d "$NS_DIR/log/wardbox/1000" ] ||
		install -d -m 700 -o 1000 -g 1000 "$NS_DIR/log/wardbox/1000"
	in_policy "$POLICY" "${AS[@]}" "${WITHOUT[@]}" env HOME="${HOME_DIR:-$PLACE/home}" "$@"
}
g() { # LINE
	under "$PLACE/bin/wardbox" sh -c "$1"
}

# each TIER... -- BODY: tiers are view and bare; each as root and as uid 1000, the
# project and the home being theirs.
each() {
	local id tier tiers=()
	while [ "$1" != -- ]; do
		tiers+=("$1")
		shift
	done
	shift
	for tier in "${tiers[@]}"; do
		for id in 0 1000; do
			echo "# $tier, uid $id"
			chown -R "$id:$id" "$PLACE/home"
			AS=() WITHOUT=() TIER=$tier USER_ID=$id
			[ $id = 0 ] || AS=(setpriv --reuid 1000 --regid 1000 --clear-groups)
			[ "$tier" = view ] || WITHOUT=("$PLACE/bin/docker")
			"$@"
			[ -z "${SERVER-}" ] || kill "$SERVER" 2>/dev/null || true
			SERVER=
		done
	done
}

# All that is there of the person's, to see that nothing of it changes.
persons() {
	find "$PLACE/home" -path "$PROJECT" -prune -o -printf '%p %y %m %s %T@\n' | sort
}

own_tmp() {
	local dir
	for dir in /tmp /var/tmp /dev/shm; do
		rm -f "$dir/places-others"
		echo 'of others' >"$dir/places-others"
		chmod 644 "$dir/places-others"
		run g "echo mine >$dir/mine && cat $dir/mine; cat $dir/places-others"
		echo "$output"
		rm -f "$dir/places-others"
		[[ $output == mine$'\n'* ]]
		[[ $output != *"of others"* ]]
		[ ! -e "$dir/mine" ]
		# It is kept, and a program of it runs, whatever the project.
		mkdir -p "$PLACE/home/other/.git"
		chown -R "$USER_ID" "$PLACE/home/other"
		run under sh -c 'cd "$HOME/other" && exec "$@"' sh "$PLACE/bin/wardbox" sh -c \
			"cat $dir/mine; printf '#!/bin/sh\necho ran\n' >$dir/prog && chmod +x $dir/prog && $dir/prog"
		echo "$output"
		[ "$output" = $'mine\nran' ]
	done
	# Not by what TMPDIR was set to.
	TMPDIR=/srv run g 'f=$(mktemp) && echo "${f%/*}"'
	[ "$output" = /tmp ]
}

@test "/tmp, /var/tmp and /dev/shm are its own, kept and executable; others' are not there" {
	each view -- own_tmp
}

# Files of another uid's and of another login's places, by every name.
theirs() {
	local other=$((1000 - USER_ID)) dir
	for dir in "$NS_DIR/run/$other/at-12345678/tmp" "$NS_DIR/run/$USER_ID/at-87654321/tmp" \
		"$NS_DIR/run/$other/home" "$NS_DIR/run/$USER_ID/kept"; do
		mkdir -p "$dir"
		echo 'of others' >"$dir/file"
		chmod -R 777 "$dir"
	done
	cat >look.py <<-'P'
		import glob, os, sys
		for top in "", "/proc/self/root", "/proc/1/root", "/proc/%d/root" % os.getppid(), \
		           "/proc/self/cwd/../../../../../../..":
		    for uid in 0, 1000:
		        for f in "at-12345678/tmp/file", "at-87654321/tmp/file", "home/file", "kept/file":
		            for mode in "r", "a":
		                try: print(open("%s/run/wardbox/%d/%s" % (top, uid, f), mode).name)
		                except OSError: pass
		print("mine", open("/tmp/mine", "w").name if sys.argv[1] == "view"
		      else open(os.environ["TMPDIR"] + "/mine", "w").name[-4:])
	P
	run g "python3 look.py $TIER"
	echo "$output"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == mine* ]]
}

@test "another uid's and another login's places are out of reach by any name" {
	each view bare -- theirs
}

homes() {
	local before
	before=$(persons)
	cat >plant.py <<-'P'
		import os
		for f in ".bashrc", ".profile", ".bash_profile", ".zshenv", ".ssh/authorized_keys", ".ssh/rc", \
		         ".config/autostart/x.desktop", ".config/tool/x", ".local/bin/ls", ".gitconfig", ".npmrc":
		    f = os.environ["HOME"] + "/" + f
		    os.makedirs(os.path.dirname(f), exist_ok=True)
		    open(f, "a").write("planted\n")
	P
	run g 'python3 plant.py && grep -c planted ~/.bashrc'
	echo "$output"
	[ "$output" = 1 ]
	# The next one finds it.
	run g 'ls -a ~/.config; tail -n 1 ~/.profile'
	[[ $output == *tool*planted ]]
	[ "$before" = "$(persons)" ]
}

@test "what is written to the home is never the person's" {
	each view -- homes
}

beside() {
	mkdir -p "$PLACE/home/deep/er/.git"
	chown -R "$USER_ID" "$PLACE/home/deep"
	run under sh -c 'cd "$HOME/deep/er" && exec "$@"' sh "$PLACE/bin/wardbox" sh -c \
		'echo x >../new; echo y >made; ls ..; echo z >~/mine && cat ~/mine'
	echo "$output"
	[[ $output == *"Read-only"*$'\n'er$'\n'z ]]
	[ -e "$PLACE/home/deep/er/made" ]
	rm -r "$PLACE/home/deep"
}

@test "beside a project of the home nothing is written to where nobody looks" {
	each view -- beside
}

without_home() {
	local before
	before=$(persons)
	run g 'echo x >~/.profile'
	echo "$output"
	[ "$status" -eq 126 ]
	[[ $output == *'HOME=$TMPDIR'* ]]
	run g 'python3 -c "import os; open(os.environ[\"HOME\"] + \"/.bashrc\", \"a\")"'
	[ "$status" -ne 0 ]
	run g 'HOME=$TMPDIR sh -c "echo x >~/.profile && cat ~/.profile"'
	[ "$output" = x ]
	run g 'echo x >/tmp/x'
	echo "$output"
	[ "$status" -eq 126 ]
	[[ $output == *'$TMPDIR'*tmp=shared* ]]
	run g 'echo x >"$TMPDIR/x" && cat "$TMPDIR/x"'
	[ "$output" = x ]
	[ "$before" = "$(persons)" ]
}

@test "where no view can be had a denial names what is there instead" {
	each bare -- without_home
}

shares() {
	POLICY=$'include default\nuse FULL-AUTO\nprofile FULL-AUTO tmp=shared'
	rm -f /tmp/places-shared
	# Not where a home, with its secrets, lies in it.
	run g 'echo shared >/tmp/places-shared'
	[ ! -e /tmp/places-shared ]
	HOME_DIR=$(mktemp -d /srv/places-XXXXXX)
	chown "$USER_ID" "$HOME_DIR"
	run g 'echo shared >/tmp/places-shared && cat /tmp/places-shared'
	echo "$output"
	rm -r "$HOME_DIR"
	HOME_DIR=
	[ "$output" = shared ]
	if [ "$TIER" = bare ]; then
		[ "$(cat /tmp/places-shared)" = shared ]
		rm /tmp/places-shared
		run under "$PLACE/bin/wardbox" audit dump -o json
		[[ $output == *'"shared"'*'/tmp'* ]]
	else
		[ ! -e /tmp/places-shared ]
	fi
}

@test "root's policy shares the machine's /tmp where there is no other, and that is recorded" {
	each view bare -- shares
}

with_identity() {
	write_identity
	chown "$USER_ID" "$PLACE/home/.gitconfig"
	run g 'cat ~/.gitconfig ~/.npmrc ~/.bashrc'
	echo "$output"
	[[ $output == *'A Person'*fund=false*'alias ll=ls'* ]]
	[[ $output != *word* ]]
	# A link that a command left leads nothing elsewhere when an original changes.
	run g 'ln -sf ~/ours/target ~/.gitconfig; rm -rf ~/.config; ln -s ~/ours ~/.config'
	printf '[user]\n\tname = Another\n' >"$PLACE/home/.gitconfig"
	mkdir -p "$PLACE/home/.config/git"
	printf '[user]\n\temail = a@b\n' >"$PLACE/home/.config/git/config"
	chown -R "$USER_ID" "$PLACE/home"
	run g 'cat ~/.gitconfig'
	echo "$output"
	[[ $output == *Another* ]]
	[ ! -e "$PROJECT/target" ]
	[ ! -e "$PROJECT/git" ]
	rm -r "$PLACE/home/.config/git"
}

@test "the home has who one is, without secrets, and never writes through a link" {
	each view -- with_identity
}

secrets() {
	rm -rf link hard moved copy done
	ln -s "$PLACE/home/.ssh" link
	chown -h "$USER_ID" link
	cat >take.py <<-'P'
		import ctypes, os
		home = os.environ["HOME"]
		libc = ctypes.CDLL(None, use_errno=True)
		def attempt(name, f):
		    try:
		        got = f()
		        print(name, got)
		    except OSError: pass
		attempt("read", lambda: open(home + "/.ssh/id_rsa").read())
		attempt("link", lambda: open("link/id_rsa").read())
		attempt("hard", lambda: (os.link(home + "/.ssh/id_rsa", "hard"), open("hard").read()))
		attempt("move", lambda: os.rename(home + "/.ssh", "moved") or os.listdir("moved"))
		attempt("symlink", lambda: (os.symlink(home + "/.ssh", "/tmp/s%d" % os.getpid()),
		                            open("/tmp/s%d/id_rsa" % os.getpid()).read()))
		for src in home + "/.ssh", home, "/":
		    if libc.mount(src.encode(), b"copy", None, 4096, None) == 0: print("bound", src)
		for flags in 0x20000, 0x10000000 | 0x20000:
		    if libc.unshare(flags) == 0: print("unshared")
		for at in b"/tmp", home.encode(), b"/run", b"/":
		    if libc.umount2(at, 2) == 0: print("unmounted", at)
		for pid in 1, int(open("server").read()):
		    for ns in "mnt", "user":
		        attempt("entered", lambda: libc.setns(os.open("/proc/%d/ns/%s" % (pid, ns), 0), 0)
		                or "a namespace")
		    for at in "root", "cwd":
		        attempt("seen", lambda: os.listdir("/proc/%d/%s/%s" % (pid, at, home)))
		    attempt("fd", lambda: os.readlink("/proc/%d/fd/0" % pid))
		open("done", "w").write("x")
		print("done")
	P
	mkdir copy
	# A process of the same user, outside.
	"${AS[@]}" sleep 300 &
	SERVER=$!
	echo "$SERVER" >server
	chown "$USER_ID" copy server .
	run g 'python3 take.py 2>&1'
	echo "$output"
	kill "$SERVER"
	[[ $output == *done ]]
	[[ $output != *"the secret"* ]]
	for word in bound unshared unmounted entered seen fd; do
		[[ $output != *"$word"* ]]
	done
	[ "$(cat "$PLACE/home/.ssh/id_rsa")" = 'the secret' ]
}

@test "a secret is not had by a link, a hard link, a rename, a bind, or another process" {
	each view bare -- secrets
}

approved() {
	write_identity
	chown "$USER_ID" "$PLACE/home/.gitconfig"
	POLICY=$'include default\nuse FULL-AUTO\nask id=mine net=all python3 asked.py : "tried"'
	cat >asked.py <<-'P'
		import os
		home = os.environ["HOME"]
		print(open(home + "/.gitconfig").read())
		for what, f in ("wrote", lambda: open(home + "/new", "w")), \
		               ("appended", lambda: open(home + "/.gitconfig", "a")), \
		               ("chmod", lambda: os.chmod(home + "/.gitconfig", 0o777)), \
		               ("utime", lambda: os.utime(home + "/.gitconfig", (1, 1))), \
		               ("chmod", lambda: os.chmod(home, 0o777)):
		    try: f(); print(what)
		    except OSError: pass
		print("project", os.path.exists("asked.py"))
	P
	cat >"$PLACE/yes.py" <<-'P'
		import os, pty, sys
		pid, fd = pty.fork()
		if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
		seen, said = b"", False
		while True:
		    try: part = os.read(fd, 4096)
		    except OSError: break
		    if not part: break
		    seen += part
		    if b"Run it" in seen and not said:
		        os.write(fd, b"y\n")
		        said = True
		os.waitpid(pid, 0)
		print(seen.decode().replace("\r", ""))
	P
	chown "$USER_ID" .
	run g 'printf "[alias]\n\tx = !planted\n" >>~/.gitconfig; cat ~/.gitconfig'
	[[ $output == *planted* ]]
	run under python3 "$PLACE/yes.py" "$PLACE/bin/wardbox" sh -c 'python3 asked.py'
	echo "$output"
	[[ $output == *"A Person"*"project True"* ]]
	for word in planted wrote appended chmod utime; do
		[[ $output != *"$word"* ]]
	done
	run g 'cat ~/.gitconfig'
	[[ $output == *planted* ]]
}

@test "what a person lets have the network has none of what commands left in the home" {
	each view -- approved
}

# A server of the person's, by path in DIR and by abstract name, outside.
serve() { # DIR
	cat >"$PLACE/serve.py" <<-'P'
		import os, socket, sys
		a = socket.socket(socket.AF_UNIX)
		a.bind(sys.argv[1] + "/places.sock")
		os.chmod(sys.argv[1] + "/places.sock", 0o777)
		a.listen()
		b = socket.socket(socket.AF_UNIX)
		b.bind("\0places-outside")
		b.listen()
		print("up", flush=True)
		while True: a.accept()
	P
	coproc UP { exec python3 "$PLACE/serve.py" "$1"; }
	SERVER=$UP_PID
	read -r -t 20 up <&"${UP[0]}"
	[ "$up" = up ]
}

sockets() {
	rm -rf "$NS_DIR/run/sock"
	mkdir -p "$NS_DIR/run/sock"
	serve "$NS_DIR/run/sock"
	cat >talk.py <<-'P'
		import os, socket, sys, threading
		def to(name):
		    try: socket.socket(socket.AF_UNIX).connect(name); print("reached", name)
		    except OSError: pass
		to("/run/wardbox/sock/places.sock")
		to("/proc/self/root/run/wardbox/sock/places.sock")
		to("/proc/self/fd/9/run/wardbox/sock/places.sock")
		to("/proc/%d/root/run/wardbox/sock/places.sock" % os.getppid())
		to("\0places-outside")
		for name in "/tmp/own.sock", "own.sock", "\0places-own":
		    try:
		        s = socket.socket(socket.AF_UNIX)
		        if name[0] != "\0" and os.path.exists(name): os.unlink(name)
		        s.bind(name)
		        s.listen()
		        c = socket.socket(socket.AF_UNIX)
		        c.connect(name)
		        s.accept()
		        print("own")
		    except OSError as e: print(e.strerror)
		print("done")
	P
	chown "$USER_ID" .
	run g 'python3 talk.py'
	echo "$output"
	[[ $output == *done && $output != *reached* ]]
	if [ "$TIER" = view ]; then
		[ "$(grep -cx own <<<"$output")" -eq 3 ]
	else
		[[ $output != *own* ]]
	fi
	# A directory that the caller gives is a way out of the view: then none is free.
	run under bash -c 'exec "$@" 9</' bash "$PLACE/bin/wardbox" sh -c 'python3 talk.py'
	echo "$output"
	[[ $output == *done && $output != *reached* && $output != *own* ]]
}

@test "local sockets are free in a view, and lead to nobody outside" {
	each view bare -- sockets
}

swaps() {
	local before
	before=$(persons)
	cat >swap.py <<-'P'
		import os, threading
		home = os.environ["HOME"]
		at = (os.environ["TMPDIR"] if not os.access("/tmp", os.W_OK) else "/tmp") + "/swapped"
		stop = False
		real = home + "/.config"
		def swap():
		    while not stop:
		        for f in (lambda: os.mkdir(at), lambda: os.rmdir(at),
		                  lambda: os.symlink(real, at), lambda: os.unlink(at),
		                  lambda: os.symlink("/proc/1/root" + real, at), lambda: os.unlink(at)):
		            try: f()
		            except OSError: pass
		t = threading.Thread(target=swap)
		t.start()
		for i in range(20000):
		    try: open(at + "/planted", "w").close()
		    except OSError: pass
		stop = True
		t.join()
		print("done")
	P
	run g 'python3 swap.py'
	echo "$output"
	[ "$output" = done ]
	[ "$before" = "$(persons)" ]
}

@test "a path that a thread swaps reaches nothing of the person's" {
	each view bare -- swaps
}

special() {
	cat >make.py <<-'P'
		import os, stat, sys
		at = sys.argv[1]
		for kind, dev in (stat.S_IFCHR, os.makedev(1, 3)), (stat.S_IFBLK, os.makedev(8, 0)):
		    try: os.mknod(at + "/node", kind | 0o666, dev); print("made a device")
		    except OSError: pass
		open(at + "/prog", "w").write("#!/bin/sh\nid -u\n")
		os.chmod(at + "/prog", 0o4755)
		print(at)
	P
	chown "$USER_ID" .
	run g 'python3 make.py "${TMPDIR}"; "$TMPDIR/prog"'
	echo "$output"
	[[ $output != *device* ]]
	[[ $output == *$'\n'"$USER_ID" ]]
	# Nobody else gets to it outside.
	[ "$(stat -c %a:%u "$NS_DIR"/run/"$USER_ID")" = "700:$USER_ID" ]
	[ "$(stat -c %a:%u "$NS_DIR"/run/"$USER_ID"/at-*)" = "700:$USER_ID" ]
}

@test "no device is made in an own /tmp, and nobody else gets to a program of it" {
	each view bare -- special
}

terminals() {
	# A terminal of the person's, whose number would be the first there, too.
	cat >"$PLACE/hold.py" <<-'P'
		import os, pty, sys
		m, s = pty.openpty()
		print(os.ttyname(s), flush=True)
		sys.stdin.read()
	P
	coproc HOLD { exec "${AS[@]}" python3 "$PLACE/hold.py"; }
	SERVER=$HOLD_PID
	read -r -t 20 theirs <&"${HOLD[0]}"
	cat >makes.py <<-'P'
		import os, pty, sys
		try: names = os.listdir("/dev/pts")
		except OSError: names = ["0", "1", "2", "3"]
		for f in names:
		    if f == "ptmx": continue
		    try: os.close(os.open("/dev/pts/" + f, os.O_RDWR | os.O_NOCTTY)); print("opened", f)
		    except OSError: pass
		try: os.close(os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)); print("opened theirs")
		except OSError: pass
		try:
		    pid, fd = pty.fork()
		    if pid == 0: os.execvp("tty", ["tty"])
		    print(os.read(fd, 100).decode().strip())
		except OSError as e: print(e.strerror)
	P
	chown "$USER_ID" .
	run g "python3 makes.py $theirs </dev/null"
	echo "$output"
	[[ $output != *opened* ]]
	if [ "$TIER" = view ]; then
		[ "$output" = /dev/pts/0 ]
	else
		[[ $output != */dev/pts/* ]]
	fi
}

@test "a program makes terminals of its own, and opens none of others" {
	each view bare -- terminals
}

traps() {
	rm -rf "$PROJECT/kept"
	# What an earlier command left where the project is mounted leads nowhere, and
	# keeps no later one from starting.
	run g 'cd / && rm -rf ~/deep && ln -s /tmp ~/deep; chmod 0 /tmp/. ~/. /dev/shm/.'
	mkdir -p "$PLACE/home/deep/er/.git"
	chown -R "$USER_ID" "$PLACE/home/deep"
	run under sh -c 'cd "$HOME/deep/er" && exec "$@"' sh "$PLACE/bin/wardbox" sh -c \
		'echo x >made && ls ~ >/dev/null && echo y >/tmp/after && cat made /tmp/after'
	echo "$output"
	[ "$output" = $'x\ny' ]
	[ "$(cat "$PLACE/home/deep/er/made")" = x ]
	run g 'chmod 0 ~/deep; rm -rf ~/deep; echo file >~/deep; echo fine'
	run under sh -c 'cd "$HOME/deep/er" && exec "$@"' sh "$PLACE/bin/wardbox" sh -c 'cat made; pwd'
	echo "$output"
	[ "$output" = $'x\n'"$PLACE/home/deep/er" ]
	rm -r "$PLACE/home/deep"
}

@test "what a command leaves in its places keeps no later one from its project" {
	each view -- traps
}

small() {
	# 64 KB of /dev/shm, a full /tmp: the command's own are not there.
	# shellcheck disable=SC2016 # expanded by the inner shell
	run under sh -c '[ "$(id -u)" != 0 ] || mount -t tmpfs -o size=64k none /dev/shm; exec "$@"' \
		sh "$PLACE/bin/wardbox" sh -c 'head -c 1000000 /dev/zero >/dev/shm/x && wc -c </dev/shm/x && rm /dev/shm/x'
	echo "$output"
	[ "$output" = 1000000 ]
}

@test "an own /dev/shm is as large as the disk" {
	each view -- small
}

on_disk() {
	local disk=$PLACE/disk.$TIER.$USER_ID
	mkdir "$disk"
	chmod 1777 "$disk"
	[ "$(stat -f -c %T "$disk")" != tmpfs ] || skip "not here: a disk"
	# shellcheck disable=SC2016 # expanded by the inner shell
	run in_policy "$POLICY" sh -c 'mount -t tmpfs none /run && mkdir /run/wardbox &&
		chmod 1777 /run/wardbox && install -d -m 700 -o "$1" -g "$1" "/run/wardbox/$1" &&
		mount --bind "$0" /var/tmp && shift && exec "$@"' "$disk" "$USER_ID" \
		"${AS[@]}" "${WITHOUT[@]}" env HOME="$PLACE/home" "$PLACE/bin/wardbox" sh -c \
		'echo x >"$TMPDIR/x" && cat "$TMPDIR/x"'
	echo "$output"
	[ "$output" = x ]
	[ "$(cat "$disk/wardbox-$USER_ID/$USER_ID"/at-*/tmp/x)" = x ]
}

@test "where the state base is memory, what commands leave is on disk" {
	each view bare -- on_disk
}

prunes() {
	local at=$NS_DIR/run/$USER_ID
	run g 'ls >/dev/null'
	rm -rf "$at"/at-*
	mkdir -p "$at/at-00000000/tmp/a/closed/b" "$at/at-11111111/tmp" "$PLACE/kept"
	echo x >"$PLACE/kept/file"
	ln -s "$PLACE/kept" "$at/at-00000000/tmp/link"
	ln "$PLACE/kept/file" "$at/at-00000000/tmp/hard"
	chmod 0 "$at/at-00000000/tmp/a/closed"
	touch -d '20 days ago' "$at/at-00000000"
	chown -R -h "$USER_ID" "$at"
	run g 'ls >/dev/null'
	[ ! -e "$at/at-00000000" ]
	[ -d "$at/at-11111111/tmp" ]
	[ "$(cat "$PLACE/kept/file")" = x ]
}

@test "places of a login that is gone go when a new one begins, ten days later" {
	each view bare -- prunes
}

homeless() {
	run under env -u HOME "$PLACE/bin/wardbox" sh -c 'mkdir -p ~/.x/y && echo "$HOME" && ls -A ~/.x'
	echo "$output"
	[ "$output" = "/run/wardbox/$USER_ID/home"$'\ny' ]
	run under env HOME=/nonexistent "$PLACE/bin/wardbox" sh -c 'echo x >~/.file && cat ~/.file'
	echo "$output"
	[ "$output" = x ]
	[ ! -e /nonexistent ]
}

@test "who has no home, or one that is not there, gets one" {
	each view bare -- homeless
}

@test "on a root that cannot be written it is all the same" {
	AS=() WITHOUT=() USER_ID=0
	# shellcheck disable=SC2016 # expanded by the inner shell
	run under sh -c 'mount --bind / / && mount -o remount,bind,ro / && exec "$@"' sh \
		"$PLACE/bin/wardbox" sh -c 'echo x >/tmp/x && echo y >~/.y && cat /tmp/x ~/.y'
	echo "$output"
	[ "$output" = $'x\ny' ]
}

@test "where a view fails for another reason than a filter, it is gone without" {
	AS=() WITHOUT=() USER_ID=0
	need unshare -Ur true
	# shellcheck disable=SC2016 # expanded by the inner shell
	run under unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_mnt_namespaces && exec "$@"' sh \
		"$PLACE/bin/wardbox" sh -c 'f=$(mktemp) && echo x >"$f" && cat "$f" && echo "$TMPDIR"'
	echo "$output"
	[[ $output == x$'\n'/run/wardbox/0/at-*/tmp ]]
}
