#!/usr/bin/env bats
# profile: files, directories and moments chosen by somebody who wishes ill.

bats_require_minimum_version 1.5.0
load ../lib/wardbox

setup() {
	profile_home
}

teardown() { rm -rf "${OPEN-/nonexistent}"; }
add() { profile add -y --no-exec --scope interactive "$@"; }

# Runs the writer once per system call it makes, and spoils that one. The file
# must be the old one or the new one after each.
sweep() { # HOW, then the writer's words
	python3 - "$WARDBOX" "$HOME" "$@" <<-'P'
		import collections, os, re, subprocess, sys
		box, home, how, *words = sys.argv[1:]
		rc, log = home + "/.bashrc", home + "/log"
		quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
		    stderr=subprocess.DEVNULL)
		read = lambda: open(rc, "rb").read()
		cmd = [box, "profile", *words]
		old = read()
		def restore():
		    with open(rc, "wb") as f: f.write(old)
		subprocess.run(["strace", "-qq", "-o", log, *cmd], **quiet)
		new = read()
		assert new != old
		calls = [m[1] for m in re.finditer(r"^(\w+)\(", open(log).read(), re.M)]
		count, seen = collections.Counter(), collections.Counter()
		for name in calls:
		    count[name] += 1
		    if name in ("execve", "arch_prctl", "exit_group") or \
		        (how != "signal=KILL" and name not in how.split(":")[0].split(",")):
		        continue
		    restore()
		    inject = how.split(":")[-1]
		    subprocess.run(["strace", "-qq", "-o", "/dev/null", "-e",
		        f"inject={name}:{inject}:when={count[name]}", *cmd], **quiet)
		    now = read()
		    assert now in (old, new), (name, count[name], now)
		    seen[now == new] += 1
		    # Nobody is kept from writing by what was left behind.
		print(dict(seen))
		assert seen[False] and seen[True], seen
		restore()
		subprocess.run(cmd, check=True, **quiet)
		assert read() == new
		left = [f for f in os.listdir(home) if "wardbox~" in f]
		assert not left, left
	P
}

@test "killed at each of its system calls: the old file or the new one" {
	need strace -qq -o /dev/null true
	printf 'a=1\nb=2\n' >"$HOME/.bashrc"
	sweep signal=KILL add -q -y --no-exec --scope interactive /opt/x
	sweep signal=KILL remove -q -y --no-exec --scope interactive
}

@test "each write, sync, rename and open fails once: the old file or the new one" {
	need strace -qq -o /dev/null true
	printf 'a=1\nb=2\n' >"$HOME/.bashrc"
	calls=write,writev,openat,fsync,renameat,renameat2,fchmod,fstat,newfstatat,flock,read,mmap,unlinkat
	for error in EIO ENOSPC EINTR; do
		sweep $calls:error=$error add -q -y --no-exec --scope interactive /opt/x
		profile remove -q -y --no-exec
	done
}

@test "no space left: 4, the old file, and nothing lies about" {
	need unshare -m true
	run -4 unshare -m sh -c 'mount -t tmpfs -o size=8k,nr_inodes=64 none "$1" &&
		echo x=1 >"$1/.bashrc" && head -c 4096 /dev/zero >"$1/filler" &&
		cp "$1/.bashrc" /tmp/.wardbox-old.$$ &&
		"$2" profile add -y --no-exec --scope interactive /opt/x; code=$?
		cmp "$1/.bashrc" /tmp/.wardbox-old.$$ || code=99
		rm -f /tmp/.wardbox-old.$$
		[ -z "$(find "$1" -name "*wardbox*")" ] || code=98
		exit $code' _ "$HOME" "$WARDBOX"
	[[ "$output" == *"No space left"* ]]
}

@test "devices, sockets and pipes are no startup files, and nothing waits on them" {
	[ "$(id -u)" = 0 ] || skip "not root"
	for what in "mknod $HOME/.bashrc c 1 5" "mknod $HOME/.bashrc b 7 200" \
		"mkfifo $HOME/.bashrc" "ln -s /dev/zero $HOME/.bashrc" \
		"ln -s /dev/tty $HOME/.bashrc" "ln -s /proc/kmsg $HOME/.bashrc"; do
		$what || continue
		for verb in "add -y --scope interactive /opt/x" "remove -y" "list" "doctor --no-exec" \
			"fix -y --no-exec" "check /opt/x" "print" "files" "detect --no-exec"; do
			run timeout 10 "$WARDBOX" profile $verb
			[ "$status" -lt 100 ] || { echo "$what; $verb: $status"; false; }
		done
		run timeout 10 "$WARDBOX" profile add -y --no-exec --scope interactive /opt/x
		[[ "$status" = [45] ]]
		[ -L "$HOME/.bashrc" ] || [ ! -f "$HOME/.bashrc" ]
		rm "$HOME/.bashrc"
	done
}

@test "NULs, every byte, one line of a megabyte: in and out unchanged" {
	for text in '\0' 'x=1\0\n' '\0\0\n # >>> profile:x\0 >>>\n' 'a=\r\r\n\r' '\xef\xbb\xbfx=1\n' '\xff\xfe\x00'; do
		printf "$text" >"$HOME/.bashrc"
		cp "$HOME/.bashrc" "$HOME/old"
		add -q /opt/x 2>/dev/null
		not cmp -s "$HOME/old" "$HOME/.bashrc"
		profile remove -q -y --no-exec 2>/dev/null
		cmp "$HOME/old" "$HOME/.bashrc"
	done
	python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 16)' >"$HOME/.bashrc"
	cp "$HOME/.bashrc" "$HOME/old"
	run add -q --force /opt/x
	[ "$status" = 0 ] && profile remove -q -y --no-exec
	cmp "$HOME/old" "$HOME/.bashrc"
	head -c 1000000 /dev/zero | tr '\0' '(' >"$HOME/.bashrc"
	cp "$HOME/.bashrc" "$HOME/old"
	add -q /opt/x
	profile remove -q -y --no-exec
	cmp "$HOME/old" "$HOME/.bashrc"
}

@test "a file of gigabytes is refused, not read" {
	truncate -s 5G "$HOME/.bashrc"
	run -5 add /opt/x
	run timeout 10 "$WARDBOX" profile doctor --no-exec
	[ "$status" -lt 2 ]
	[ "$(stat -c %s "$HOME/.bashrc")" = 5368709120 ]
}

@test "a user's links and hard links lead root nowhere" {
	[ "$(id -u)" = 0 ] || skip "not root"
	OPEN=$(mktemp -d /tmp/wardbox-profile.XXXXXX)
	chmod 755 "$OPEN"
	mkdir "$OPEN/u" "$OPEN/safe"
	echo root=1 >"$OPEN/safe/f"
	secret() { [ "$(cat "$OPEN/safe/f")" = root=1 ] && [ "$(ls "$OPEN/safe")" = f ]; }
	# The last part, a directory on the way, a chain, a hard link.
	ln -s "$OPEN/safe/f" "$OPEN/u/.bashrc"
	ln -s "$OPEN/safe" "$OPEN/u/.config"
	chown -hR 1000:1000 "$OPEN/u"
	for words in "--scope interactive" "--shell fish" "--scope interactive --force" "--backup --scope interactive"; do
		run profile add -y --no-exec --home "$OPEN/u" $words /opt/x
		[ "$status" != 0 ] || { echo "$words"; false; }
		secret
	done
	run profile fix -y --home "$OPEN/u" --no-exec
	secret
	# Rights given up: a backup does not go where the user may not write.
	rm "$OPEN/u/.bashrc"
	echo x=1 >"$OPEN/u/.bashrc"
	chown 1000:1000 "$OPEN/u/.bashrc"
	run -4 profile add -y --no-exec --home "$OPEN/u" --backup="$OPEN/safe" --scope interactive /opt/x
	secret
	# In root's own home, by a directory that others may write to.
	mkdir -m 777 "$HOME/open"
	echo x=1 >"$HOME/open/rc"
	ln -s open/rc "$HOME/.bashrc"
	run -4 add /opt/x
	[ "$(cat "$HOME/open/rc")" = x=1 ]
	rm "$HOME/.bashrc"
	# /tmp is sticky: what others left there is not followed.
	echo x=1 >"$OPEN/rc"
	chown 1000 "$OPEN/rc"
	ln "$OPEN/rc" "$OPEN/twin"
	chmod 1777 "$OPEN"
	run -4 profile add -y --no-exec --file "$OPEN/twin" /opt/x
	[ "$(cat "$OPEN/rc")" = x=1 ]
}

@test "the undo directory is the user's own, or nothing is repaired" {
	printf '. "$HOME/gone"\n' >"$HOME/.profile"
	mkdir -p "$HOME/.local/state/wardbox"
	ln -s /etc "$HOME/.local/state/wardbox/profile-undo"
	run -4 profile fix -y --no-exec dangling-source
	[ "$(cat "$HOME/.profile")" = '. "$HOME/gone"' ]
	rm "$HOME/.local/state/wardbox/profile-undo"
	run -0 profile fix -y --no-exec dangling-source
	printf 'junk' >"$HOME/.local/state/wardbox/profile-undo/0123456789abcdef"
	run -0 profile undo -y
}

@test "twenty writers and a remover at once: every block whole, once" {
	echo x=1 >"$HOME/.bashrc"
	for i in {1..20}; do
		add -q --id "w$i" "/opt/w$i" 2>/dev/null &
		add -q --id same "/opt/w$i" 2>/dev/null &
	done
	wait
	[ "$(grep -c '^# >>> profile:w' "$HOME/.bashrc")" = 20 ]
	[ "$(grep -c '^# >>> profile:same' "$HOME/.bashrc")" = 1 ]
	run -0 profile list --id same
	[ "$(grep -c '\[same\]' <<<"$output")" = 20 ]
	for i in {1..20}; do
		profile remove -q -y --no-exec --id "w$i" 2>/dev/null &
	done
	wait
	profile remove -q -y --no-exec --id same
	[ "$(cat "$HOME/.bashrc")" = x=1 ]
}

@test "an environment full of lies: no crash, nothing written elsewhere" {
	long=$(head -c 100000 /dev/zero | tr '\0' a)
	for lie in HOME= HOME=relative "HOME=/$long" "HOME=/dev/null" "ZDOTDIR=/$long" \
		"XDG_CONFIG_HOME=/$long" ENV=/etc/profile "ENV=/$long" BASH_ENV=../../x \
		SHELL=/ SHELL= "SHELL=/bin/$long" SUDO_UID=-1 SUDO_UID=99999999999 \
		DOAS_USER=nobody-like-that "PATH=$long" PATH= "CARGO_HOME=/$long"; do
		for shell in auto zsh fish mksh; do
			run timeout 20 env "$lie" "$WARDBOX" profile add -n --no-exec --shell $shell /opt/x
			[ "$status" -lt 100 ] || { echo "$lie $shell: $status"; false; }
		done
		run timeout 20 env "$lie" "$WARDBOX" profile doctor --no-exec cargo
		[ "$status" -lt 100 ] || { echo "$lie: $status"; false; }
	done
}
