#!/usr/bin/env bats
# profile: what is written, what is not, and that it comes out again.

bats_require_minimum_version 1.5.0
load ../lib/wardbox

setup() {
	profile_home
	DATA=$TOP/tests/data/profile
}

sum() { sha256sum <"$1"; }

@test "a vector's bytes, through the binary" {
	run -0 profile add --shell sh -y '$HOME/.cargo/bin'
	printf '%s\n' '# >>> profile:default >>> +file' \
		'case ":${PATH-}:" in *:"$HOME/.cargo/bin":*) ;; *) export PATH="$HOME/.cargo/bin${PATH:+:${PATH}}" ;; esac' \
		'# <<< profile:default <<<' | cmp - "$HOME/.profile"
	touch -d @1000000000 "$HOME/.profile"
	run -0 profile add --shell sh "$HOME/.cargo/bin/"
	[[ "$output" == unchanged:* ]]
	[ "$(stat -c %Y "$HOME/.profile")" = 1000000000 ]
	run -0 profile remove --shell sh -y
	[ ! -e "$HOME/.profile" ]
}

@test "bash: the login file that is there and .bashrc; .bash_profile is never made" {
	echo 'x=1' >"$HOME/.profile"
	echo 'y=1' >"$HOME/.bashrc"
	run -0 profile add -y /opt/x/bin
	grep -q /opt/x/bin "$HOME/.profile"
	grep -q /opt/x/bin "$HOME/.bashrc"
	[ ! -e "$HOME/.bash_profile" ]
	[ ! -e "$HOME/.bash_login" ]
	echo '. ~/.profile' >"$HOME/.bash_profile"
	run -0 profile add -y /opt/y/bin
	grep -q /opt/y/bin "$HOME/.bash_profile"
	not grep -q /opt/y/bin "$HOME/.profile"
}

@test "remove finds the block behind a NUL" {
	printf 'a\0b\n' >"$HOME/.zshrc"
	cp "$HOME/.zshrc" "$HOME/before"
	run -0 profile add -y --shell zsh --no-exec /opt/x
	run -0 profile remove -y --shell zsh --no-exec /opt/x
	cmp "$HOME/before" "$HOME/.zshrc"
}

@test "remove finds the block where it was put, whatever is written today" {
	profile add -q -y /opt/x
	echo x=1 >"$HOME/.bash_profile" # hides .profile from now on
	profile add -q -y --shell fish /opt/x
	profile add -q -y --shell zsh --scope all /opt/x
	profile add -q -y --id other /opt/x
	run -0 profile remove -y
	run -0 profile list
	[[ "$output" != *"[default]"* && "$output" == *"[other]"* ]]
	[ ! -e "$HOME/.profile" ]
	[ ! -e "$HOME/.zshenv" ]
	[ -z "$(ls "$HOME/.config/fish/conf.d")" ]
}

@test "a here-document without end takes nothing behind it" {
	printf 'cat <<E\ntext\n' >"$HOME/.bashrc"
	run -5 profile add -y --scope interactive /opt/x
	[[ "$output" == *here-document* ]]
	printf 'x=1\\\n' >"$HOME/.bashrc"
	cp "$HOME/.bashrc" "$HOME/old"
	profile add -q -y --scope interactive /opt/x
	run -0 bash -c '. ~/.bashrc; echo "$x:$PATH"'
	[[ "$output" == 1:/opt/x:* ]]
	profile remove -q -y
	cmp "$HOME/old" "$HOME/.bashrc"
}

@test "what config.fish does already is not done again beside it" {
	mkdir -p "$HOME/.config/fish"
	printf 'set -gx PATH $HOME/a $PATH\nset -gx V 1\n' \
		>"$HOME/.config/fish/config.fish"
	run -0 profile add -y --shell fish '$HOME/a'
	[[ $output == *unchanged* ]]
	run -0 profile set -y --shell fish V=1
	[ ! -e "$HOME/.config/fish/conf.d/profile-default.fish" ]
	# Another directory, another value, what is only a comment.
	run -0 profile add -y --shell fish '$HOME/ab'
	profile set -q -y --shell fish V=2
	echo '# fish_add_path /opt/c' >>"$HOME/.config/fish/config.fish"
	profile add -q -y --shell fish /opt/c "$HOME/a"
	run -0 cat "$HOME/.config/fish/conf.d/profile-default.fish"
	[[ $output == *'"$HOME/ab"'* && $output == *'"2"'* && $output == */opt/c* ]]
	[[ $output != *'$HOME/a"'* ]]
	profile add -q -y --shell fish --force "$HOME/a"
	grep -q '"$HOME/a"' "$HOME/.config/fish/conf.d/profile-default.fish"
}

@test "each shell gets its own files" {
	profile add -q -y --shell zsh /opt/x
	[ -f "$HOME/.zprofile" ]
	[ -f "$HOME/.zshrc" ]
	[ ! -e "$HOME/.zshenv" ]
	profile add -q -y --shell zsh --scope all --id e /opt/x
	[ -f "$HOME/.zshenv" ]
	profile add -q -y --shell fish --id k8s /opt/x
	[ -f "$HOME/.config/fish/conf.d/profile-k8s.fish" ]
	XDG_CONFIG_HOME=$HOME/xdg profile add -q -y --shell fish /opt/x
	[ -f "$HOME/xdg/fish/conf.d/profile-default.fish" ]
	profile add -q -y --shell tcsh /opt/x
	[ -f "$HOME/.cshrc" ]
	touch "$HOME/.tcshrc"
	profile add -q -y --shell tcsh /opt/x
	grep -q /opt/x "$HOME/.tcshrc"
	profile add -q -y --shell mksh /opt/x
	[ -f "$HOME/.mkshrc" ]
	[ -f "$HOME/.profile" ]
	ENV='$HOME/.ashrc' profile add -q -y --shell ash /opt/x
	[ -f "$HOME/.ashrc" ]
	mkdir "$HOME/z"
	ZDOTDIR=$HOME/z profile add -q -y --shell zsh /opt/x
	[ -f "$HOME/z/.zshrc" ]
}

@test "ZDOTDIR from ~/.zshenv is where zsh's files are" {
	mkdir "$HOME/zd"
	echo 'export ZDOTDIR=$HOME/zd' >"$HOME/.zshenv"
	profile add -q -y --shell zsh /opt/x
	[ -f "$HOME/zd/.zshrc" ]
	[ ! -e "$HOME/.zshrc" ]
}

@test "an ENV file outside the home is left alone" {
	ENV=/etc/some.rc run -0 profile add -n --shell dash /opt/x
	[[ "$output" != */etc/some.rc* ]]
}

@test "ENV counts as far as the shell expands it" {
	for case in 'mksh $HOME/.erc .mkshrc' 'mksh '"$HOME"'/.erc .erc' \
		'dash ~/.erc .profile' 'dash $HOME/.erc .erc' 'ksh ~/.erc .erc'; do
		read -r shell env file <<<"$case"
		ENV=$env profile add -q -y --no-exec --shell "$shell" /opt/x
		grep -q /opt/x "$HOME/$file"
		[ "$file" = .erc ] || [ ! -e "$HOME/.erc" ]
		rm -f "$HOME"/.[a-z]*
	done
}

@test "consent: no terminal and no -y is 3, and nothing changes" {
	echo 'x=1' >"$HOME/.bashrc"
	run -3 setsid -w "$WARDBOX" profile add /opt/x </dev/null
	[ "$(cat "$HOME/.bashrc")" = x=1 ]
	[ ! -e "$HOME/.profile" ]
}

@test "consent: asked on the terminal; y writes, anything else does not" {
	echo 'x=1' >"$HOME/.bashrc"
	python3 - "$WARDBOX" <<-'P'
		import os, pty, sys
		for answer, code in ((b"n\n", 3), (b"\n", 3), (b"y\n", 0)):
		    pid, fd = pty.fork()
		    if pid == 0:
		        os.execv(sys.argv[1], [sys.argv[1], "profile", "add",
		            "--scope", "interactive", "/opt/x"])
		    seen = b""
		    while b"[y/N]" not in seen:
		        seen += os.read(fd, 4096)
		    assert b"+# >>> profile:default >>>" in seen, seen
		    os.write(fd, answer)
		    try:
		        while os.read(fd, 4096): pass
		    except OSError: pass
		    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == code
		    there = b"/opt/x" in open(os.environ["HOME"] + "/.bashrc", "rb").read()
		    assert there == (code == 0)
	P
}

@test "the diff on a terminal holds no byte the terminal obeys" {
	printf '# \033]0;title\007 \033[31mred\nx=1\n' >"$HOME/.bashrc"
	python3 - "$WARDBOX" <<-'P'
		import os, pty, sys
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], [sys.argv[1], "profile", "add", "-n",
		        "--scope", "interactive", "/opt/x"])
		seen = b""
		try:
		    while True:
		        more = os.read(fd, 4096)
		        if not more: break
		        seen += more
		except OSError: pass
		assert b"\033]" not in seen and b"\007" not in seen, seen
		assert b"\\x1b" in seen.lower(), seen
	P
}

@test "an immutable file is 4" {
	echo x=1 >"$HOME/.bashrc"
	need chattr +i "$HOME/.bashrc"
	run profile add -y --scope interactive /opt/x
	chattr -i "$HOME/.bashrc"
	[ "$status" -eq 4 ]
	[[ "$output" == *immutable* ]]
}

@test "--dry-run prints a diff that patch takes, and changes nothing" {
	printf 'x=1' >"$HOME/.bashrc"
	cp "$HOME/.bashrc" "$HOME/copy"
	before=$(sum "$HOME/.bashrc")
	profile add -n --scope interactive /opt/x 2>/dev/null >"$HOME/d"
	[ "$(sum "$HOME/.bashrc")" = "$before" ]
	need command -v patch
	patch -s "$HOME/copy" <"$HOME/d"
	profile add -q -y --scope interactive /opt/x
	cmp "$HOME/copy" "$HOME/.bashrc"
}

@test "bad directories and names are 2, and the file is untouched" {
	echo x >"$HOME/.bashrc"
	before=$(sum "$HOME/.bashrc")
	for bad in /opt/a:b $'/opt/a\nb' bin '' './x' '~root/x' $'/a\rb'; do
		run -2 profile add -y -- "$bad"
	done
	for bad in PATH=/x path=/x 1A=b 'A B=c' LD_PRELOAD=/x IFS=x ENV=/x \
		BASH_ENV=x $'A=b\nc' NOVALUE; do
		run -2 profile set -y "$bad"
	done
	run -2 profile add -y --shell tcsh '/opt/a*b'
	run -2 profile add -y "/$(head -c 5000 /dev/zero | tr '\0' a)"
	[ "$(sum "$HOME/.bashrc")" = "$before" ]
	run -0 profile set -y --force BASH_ENV=/x
}

@test "--id, --scope, --position and --shell are checked" {
	run -2 profile add -y --id 'a b' /opt/x
	run -2 profile add -y --id '' /opt/x
	run -2 profile add -y --id "$(printf 'a%.0s' {1..65})" /opt/x
	run -2 profile add -y --scope weekly /opt/x
	run -2 profile add -y --position middle /opt/x
	run -5 profile add -y --shell weird /opt/x
	run -5 profile add -y --shell nu /opt/x
	[ -z "$(ls -A "$HOME")" ]
}

@test "--position top goes to the start, behind #!" {
	printf '#!/bin/bash\nx=1\n' >"$HOME/.bashrc"
	profile add -q -y --scope interactive --position top /opt/x
	[ "$(head -n 1 "$HOME/.bashrc")" = '#!/bin/bash' ]
	[ "$(tail -n 1 "$HOME/.bashrc")" = x=1 ]
	profile remove -q -y
	printf '#!/bin/bash\nx=1\n' | cmp - "$HOME/.bashrc"
}

@test "set writes, replaces and keeps special bytes to themselves" {
	profile set -q -y --shell bash 'GOPATH=$HOME/go' 'X=a"b$c`d\e'"'"'f!g'
	run -0 bash -c '. ~/.bashrc; printf "%s|%s" "$GOPATH" "$X"'
	[ "$output" = "$HOME/go|a\"b\$c\`d\\e'f!g" ]
	profile set -q -y --shell bash GOPATH=/other
	[ "$(grep -c GOPATH "$HOME/.bashrc")" = 1 ]
	profile remove -q -y GOPATH
	not grep -q GOPATH "$HOME/.bashrc"
	grep -q 'export X=' "$HOME/.bashrc"
}

@test "a symlinked file stays a link, its target is changed, mode kept" {
	mkdir "$HOME/dots"
	echo x=1 >"$HOME/dots/bashrc"
	chmod 640 "$HOME/dots/bashrc"
	ln -s dots/bashrc "$HOME/.bashrc"
	profile add -q -y --scope interactive /opt/x
	[ -L "$HOME/.bashrc" ]
	grep -q /opt/x "$HOME/dots/bashrc"
	[ "$(stat -c %a "$HOME/dots/bashrc")" = 640 ]
	run -5 profile add -y --scope interactive --no-follow /opt/y
	profile remove -q -y
	[ "$(cat "$HOME/dots/bashrc")" = x=1 ]
}

@test "what is read-only is 4 and stays as it is, also for root" {
	echo x=1 >"$HOME/.bashrc"
	chmod 444 "$HOME/.bashrc"
	run -4 profile add -y /opt/x
	[[ "$output" == *read-only* ]]
	[ "$(cat "$HOME/.bashrc")" = x=1 ]
	[ ! -e "$HOME/.profile" ] # nothing while one of them cannot be
	run -0 profile add -y --scope login /opt/x
}

@test "a mounted file is written in place" {
	need unshare -m true
	echo x=1 >"$HOME/.bashrc"
	echo y=1 >"$HOME/other"
	run -0 unshare -m sh -c 'mount --bind "$1/other" "$1/.bashrc" &&
		"$2" profile add -q -y --scope interactive /opt/x' _ "$HOME" "$WARDBOX"
	grep -q /opt/x "$HOME/other"
	[ "$(cat "$HOME/.bashrc")" = x=1 ]
	[ -z "$(find "$HOME" -name '*wardbox*')" ]
}

@test "a read-only file system is 4" {
	need unshare -m true
	run -4 unshare -m sh -c 'mount -t tmpfs none "$1" && echo x >"$1/.bashrc" &&
		mount -o remount,ro "$1" &&
		"$2" profile add -y --scope interactive /opt/x' _ "$HOME" "$WARDBOX"
	[[ "$output" == *"read-only file system"* ]]
}

@test "several names of one file stay one file" {
	echo x=1 >"$HOME/.bashrc"
	ln "$HOME/.bashrc" "$HOME/twin"
	profile add -q -y --scope interactive /opt/x
	[ "$HOME/.bashrc" -ef "$HOME/twin" ]
	grep -q /opt/x "$HOME/twin"
}

@test "owner, mode and extended attributes are kept" {
	echo x=1 >"$HOME/.bashrc"
	chmod 600 "$HOME/.bashrc"
	python3 -c 'import os,sys; os.setxattr(sys.argv[1], "user.k", b"v")' \
		"$HOME/.bashrc" || skip "no xattrs here"
	profile add -q -y --scope interactive /opt/x
	[ "$(stat -c %a "$HOME/.bashrc")" = 600 ]
	[ "$(python3 -c 'import os,sys; print(os.getxattr(sys.argv[1], "user.k").decode())' "$HOME/.bashrc")" = v ]
}

@test "markers that do not pair are 5, the file untouched" {
	for text in '# >>> profile:default >>>\nkeep=1\n' \
		'# <<< profile:default <<<\n' \
		'# >>> profile:a >>>\n# >>> profile:b >>>\n# <<< profile:a <<<\n'; do
		printf "$text" >"$HOME/.bashrc"
		before=$(sum "$HOME/.bashrc")
		run -5 profile add -y --scope interactive /opt/x
		run -5 profile remove -y --scope interactive
		[ "$(sum "$HOME/.bashrc")" = "$before" ]
	done
}

@test "a file its shell cannot read is 5; --force adds all the same" {
	printf 'if true; then\n' >"$HOME/.bashrc"
	run -5 profile add -y --scope interactive /opt/x
	[[ "$output" == *"bash already"* ]]
	run -0 profile add -y --force --scope interactive /opt/x
}

@test "what is no file is refused: a directory, a pipe, a loop" {
	mkdir "$HOME/.bashrc"
	run profile add -y --scope interactive /opt/x
	[ "$status" -eq 5 ]
	rmdir "$HOME/.bashrc"
	mkfifo "$HOME/.bashrc"
	run -5 timeout 5 "$WARDBOX" profile add -y --scope interactive /opt/x
	rm "$HOME/.bashrc"
	ln -s .bashrc "$HOME/.bashrc"
	run -5 profile add -y --scope interactive /opt/x
}

@test "a file beyond a megabyte is refused, one at it is read" {
	head -c 1048577 /dev/zero | tr '\0' '#' >"$HOME/.bashrc"
	run -5 profile add -y --scope interactive /opt/x
	(head -c 1000000 /dev/zero | tr '\0' '#'; echo) >"$HOME/.bashrc"
	run -0 profile add -y --scope interactive /opt/x
	head -c 1048576 /dev/zero | tr '\0' '#' >"$HOME/.bashrc"
	run -5 profile add -y --scope interactive /opt/y
}

@test "twelve real files come through add and remove unchanged" {
	for rc in "$DATA"/rc/*; do
		name=$(basename "$rc")
		case $name in
		*.fish) shell=fish ;;
		*.zshrc) shell=zsh ;;
		*.tcshrc) shell=tcsh ;;
		*.profile) shell=sh ;;
		*) shell=bash ;;
		esac
		cp "$rc" "$HOME/rc"
		for id in one two; do
			run profile add -y --shell $shell --file "$HOME/rc" --id $id \
				/opt/nowhere/bin '$HOME/my bin'
			[ "$status" -eq 0 ] || { echo "$name: $output"; false; }
		done
		run profile add -y --shell $shell --file "$HOME/rc" --id one \
			/opt/nowhere/bin '$HOME/my bin'
		[[ "$output" == *unchanged:* ]] || { echo "$name"; false; }
		case $shell in
		fish) fish --no-config -n "$HOME/rc" ;;
		tcsh) tcsh -f -n "$HOME/rc" ;;
		*) $shell -n "$HOME/rc" ;;
		esac || { echo "$name does not parse"; false; }
		profile remove -q -y --shell $shell --file "$HOME/rc" --id one
		profile remove -q -y --shell $shell --file "$HOME/rc" --id two
		cmp "$rc" "$HOME/rc" || { echo "$name"; false; }
	done
}

@test "Debian's own conditional lines count when the directory is there" {
	cp "$DATA/rc/debian.profile" "$HOME/.profile"
	mkdir -p "$HOME/.local/bin"
	run -0 profile add -y --scope login '$HOME/.local/bin'
	[[ "$output" == unchanged:* ]]
	run -0 profile add -y --scope login '$HOME/bin'
	[[ "$output" == *added:* ]] # no such directory: Debian would not add it
}

@test "lines go before an exec that ends the file" {
	cp "$DATA/rc/tmux.bashrc" "$HOME/.bashrc"
	profile add -q -y --scope interactive /opt/x
	[ "$(grep -n 'profile:default <<<' "$HOME/.bashrc" | cut -d: -f1)" -lt \
		"$(grep -n '^exec fish' "$HOME/.bashrc" | cut -d: -f1)" ]
}

# Every shell that is here runs what was written, twice.
check_twice() { # SHELL FILE EXPECTED-HEAD
	case $1 in
	fish) out=$(HOME=$HOME fish --no-config -c "source $2; source $2; string join : \$PATH") ;;
	tcsh) out=$(HOME=$HOME tcsh -f -c "source $2; source $2; printenv PATH") ;;
	busybox) out=$(busybox ash -uc ". $2; . $2; printf %s \"\$PATH\"") ;;
	*) out=$("$1" -uc ". $2; . $2; printf %s \"\$PATH\"") ;;
	esac
	[ "$out" = "$3" ] || { echo "$1: $out"; false; }
}

@test "sourced twice each shell has one PATH, in the order given" {
	for shell in bash dash zsh mksh busybox fish tcsh; do
		need command -v $shell
		kind=${shell/busybox/ash}
		f=$HOME/f.$shell
		dir='/opt/a b/q"$HOME`id`e'"'"'z;&(x)#'
		profile add -q -y --shell $kind --file "$f" "$dir" '$HOME/c d' 2>/dev/null
		PATH=/usr/bin:/bin check_twice $shell "$f" \
			"$dir:$HOME/c d:/usr/bin:/bin"
	done
}

@test "appended, special bytes, an empty PATH" {
	for shell in bash dash zsh mksh busybox; do
		kind=${shell/busybox/ash}
		f=$HOME/g.$shell
		dir=$'/opt/\\e!*[x]{a,b}?\xff'
		profile append -q -y --shell $kind --file "$f" "$dir" 2>/dev/null
		PATH=/usr/bin:/bin check_twice $shell "$f" "/usr/bin:/bin:$dir"
		bin=$(command -v $shell)
		[ "$shell" = busybox ] && set -- "$bin" ash || set -- "$bin"
		say='printf %s'
		[ "$shell" != mksh ] || say='print -rn --'
		run -0 env -i "$@" -c "PATH=; . $f; $say \"\$PATH\""
		[ "$output" = "$dir" ]
	done
}

@test "the exotic shells' lines are printed, with no live byte in them" {
	run -0 profile print --shell pwsh "/o'x"
	[[ "$output" == *"'/o''x'"* ]]
	run -0 profile print --shell pwsh $'/o\u2019x'
	[[ "$output" == *$'\u2019\u2019'* ]]
	run -0 profile print --shell elvish "/o'x"
	[[ "$output" == *"'/o''x'"* ]]
	run -0 profile print --shell xonsh $'/o\xffx'
	[[ "$output" == *'\udcff'* ]]
	run -0 profile print --shell nu '/o"x' 'A=b"c'
	[[ "$output" == *'"/o\"x"'* && "$output" == *'$env.A = "b\"c"'* ]]
	run -0 profile print --docker '/opt/x$y' 'A=$HOME/z'
	[[ "$output" == *'ENV PATH="/opt/x\$y:${PATH}"'* ]]
	[[ "$output" == *"ENV A=\"$HOME/z\""* ]]
}

@test "print gives what the blocks hold, for eval in this shell" {
	profile add -q -y /opt/x/bin
	profile set -q -y FOO=bar
	eval "$(profile print)"
	[[ ":$PATH:" == *:/opt/x/bin:* ]]
	[ "$FOO" = bar ]
}

@test "twenty writers at once leave twenty whole blocks" {
	echo x=1 >"$HOME/.bashrc"
	for i in {1..20}; do
		profile add -q -y --no-exec --scope interactive --id "w$i" "/opt/w$i" &
	done 2>/dev/null
	wait
	[ "$(grep -c '^# >>> profile:w' "$HOME/.bashrc")" = 20 ]
	[ "$(grep -c '^# <<< profile:w' "$HOME/.bashrc")" = 20 ]
	run -0 profile list
	[ "${#lines[@]}" = 20 ]
	bash -n "$HOME/.bashrc"
}

@test "killed at any moment: the old file or the new one" {
	cp "$DATA/rc/debian.bashrc" "$HOME/old"
	cp "$HOME/old" "$HOME/.bashrc"
	profile add -q -y --no-exec --scope interactive /opt/x 2>/dev/null
	cp "$HOME/.bashrc" "$HOME/new"
	python3 - "$WARDBOX" "$HOME" <<-'P'
		import os, random, shutil, signal, subprocess, sys, time
		box, home = sys.argv[1:]
		rc = home + "/.bashrc"
		old, new = (open(home + n, "rb").read() for n in ("/old", "/new"))
		seen = [0, 0]
		random.seed(1)
		for i in range(150):
		    shutil.copyfile(home + "/old", rc)
		    p = subprocess.Popen([box, "profile", "add", "-q", "-y", "--no-exec",
		        "--scope", "interactive", "/opt/x"], stderr=subprocess.DEVNULL)
		    time.sleep(random.uniform(0, 0.003))
		    p.kill()
		    p.wait()
		    now = open(rc, "rb").read()
		    assert now in (old, new), i
		    seen[now == new] += 1
		print(seen)
		assert all(seen), seen
	P
	# What a killed writer left is gone after the next one.
	profile add -q -y --no-exec --scope interactive --id z /opt/z 2>/dev/null
	[ -z "$(find "$HOME" -name '.*wardbox*')" ]
}

@test "what an editor saves meanwhile is not lost" {
	need strace -qq -o /dev/null true
	echo x=1 >"$HOME/.bashrc"
	strace -qq -o /dev/null -e trace=fsync \
		-e inject=fsync:delay_enter=1500000:when=1 "$WARDBOX" profile add \
		-q -y --no-exec --scope interactive /opt/x 2>/dev/null &
	while [ -z "$(find "$HOME" -name '.*wardbox~')" ]; do sleep 0.05; done
	echo y=2 >>"$HOME/.bashrc"
	wait $!
	grep -q y=2 "$HOME/.bashrc"
	grep -q /opt/x "$HOME/.bashrc"
}

@test "a lock held for long is 6" {
	echo x=1 >"$HOME/.bashrc"
	need command -v flock
	flock -F "$HOME" sleep 30 3>&- &
	until_locked "$HOME"
	run profile add -q -y --timeout 200ms --no-exec --scope interactive /opt/x
	kill %1 2>/dev/null || true
	[ "$status" -eq 6 ]
}

# A directory that other users reach.
open_dir() {
	OPEN=$(mktemp -d /tmp/wardbox-profile.XXXXXX)
	chmod 755 "$OPEN"
	cp "$WARDBOX" "$OPEN/wardbox"
}

teardown() { rm -rf "${OPEN-/nonexistent}"; }

@test "a file's owner is its owner by a bare name, too" {
	[ "$(id -u)" = 0 ] || skip "not root"
	open_dir
	chown 1000:1000 "$OPEN"
	cd "$OPEN"
	run -0 profile add -q -y --no-exec --file rc /opt/x
	[ "$(stat -c %u rc)" = 1000 ]
}

@test "a directory that is gone, a file that cannot be read: said as it is" {
	mkdir "$HOME/gone" "$HOME/.bashrc"
	cd "$HOME/gone"
	rmdir "$HOME/gone"
	run -2 profile add -n --home . /opt/x
	[[ "$output" == *"--home .: No such file or directory"* ]]
	run -5 profile list
	[[ "$output" == *".bashrc: Is a directory"* ]]
}

@test "no shell to log in with: what to do is said, and works" {
	SHELL=/sbin/nologin run -5 profile add -y /opt/x
	[[ "$output" == *"--shell NAME"* ]]
	SHELL=/sbin/nologin run -0 profile add -y --shell sh /opt/x
}

@test "root works with the rights of the file's owner: a symlink leads nowhere" {
	[ "$(id -u)" = 0 ] || skip "not root"
	open_dir
	mkdir "$OPEN/u"
	secret=$OPEN/secret
	echo 'root=1' >"$secret"
	chmod 644 "$secret"
	ln -s "$secret" "$OPEN/u/.bashrc"
	chown -hR 1000:1000 "$OPEN/u"
	run -4 profile add -y --home "$OPEN/u" --scope interactive /opt/x
	[ "$(cat "$secret")" = root=1 ]
	# --file through another's symlink, in a directory of root's.
	ln -s "$secret" "$HOME/.bashrc"
	chown -h 1000 "$HOME/.bashrc"
	run -4 profile add -y --scope interactive /opt/x
	[ "$(cat "$secret")" = root=1 ]
	# What is made belongs to the owner.
	run -0 profile add -y --home "$OPEN/u" --scope login /opt/x
	[ "$(stat -c %u "$OPEN/u/.profile")" = 1000 ]
}

@test "sudo: the invoking user's files, not root's" {
	need unshare -m true
	[ "$(id -u)" = 0 ] || skip "not root"
	open_dir
	mkdir "$OPEN/sam"
	chown 1234:1234 "$OPEN/sam"
	cp /etc/passwd "$OPEN/passwd"
	echo "sam:x:1234:1234::$OPEN/sam:/bin/zsh" >>"$OPEN/passwd"
	run -0 unshare -m sh -c 'mount --bind "$1/passwd" /etc/passwd &&
		SUDO_UID=1234 "$2" profile add -q -y /opt/x' _ "$OPEN" "$WARDBOX"
	[ -f "$OPEN/sam/.zshrc" ]
	[ "$(stat -c %u:%g "$OPEN/sam/.zshrc")" = 1234:1234 ]
	[ -z "$(ls -A "$HOME")" ]
	run -0 unshare -m sh -c 'mount --bind "$1/passwd" /etc/passwd &&
		"$2" profile remove -q -y --user sam' _ "$OPEN" "$WARDBOX"
	[ ! -e "$OPEN/sam/.zshrc" ]
	run -2 profile add -y --user nobody-like-that /opt/x
}

@test "another user than root is refused --user" {
	need setpriv --version
	[ "$(id -u)" = 0 ] || skip "not root"
	open_dir
	run -4 as_user "$OPEN/wardbox" profile add -y --user root /opt/x
}

@test "a restricted shell: warned, refused; --shell-flags tells of set -r" {
	SHELL=/bin/rbash run -5 profile add -y /opt/x
	[[ "$output" == *restricted* ]]
	run -5 profile add -y --shell-flags hBr /opt/x
	SHELL=/usr/sbin/nologin run -5 profile add -y /opt/x
	PATH=$(dirname "$WARDBOX"):$PATH run -5 bash -r -c "wardbox profile add -y /opt/x; exit \$?"
	[ -z "$(ls -A "$HOME")" ]
	[ "$(SHELL=/bin/rbash profile detect --no-exec --json | jq .shell.restricted)" = true ]
}

@test "--dry-run ends as the run would: refused in a restricted shell" {
	SHELL=/bin/rbash run -5 --separate-stderr profile add -n /opt/x
	[ -z "$output" ]
	[[ "$stderr" == *restricted* ]]
	SHELL=/bin/rbash run -5 --separate-stderr profile add -n --json /opt/x
	jq -e '.dry_run and all(.changes[]; .action == "refused" and (.reason | contains("restricted")))' <<<"$output"
	SHELL=/bin/rbash run -5 --separate-stderr profile add -y --json /opt/x
	jq -e 'all(.changes[]; .action == "refused" and (.reason | contains("restricted")))' <<<"$output"
	[ -z "$(ls -A "$HOME")" ]
}

@test "no shell known: plain POSIX into ~/.profile" {
	need unshare -m true
	: >"$BATS_TEST_TMPDIR/passwd"
	run -0 unshare -m sh -c 'mount --bind "$1/passwd" /etc/passwd && unset SHELL &&
		"$2" profile add -q -y /opt/x' _ "$BATS_TEST_TMPDIR" "$WARDBOX"
	[ "$(ls -A "$HOME")" = .profile ]
	SHELL=/opt/odd/shell run -0 profile add -n --user root /opt/x
}

@test "--ci tells GitHub's runner, once" {
	export GITHUB_PATH=$HOME/gp GITHUB_ENV=$HOME/ge
	profile add -q --ci /a/bin '$HOME/b'
	printf '%s\n' "$HOME/b" /a/bin | cmp - "$GITHUB_PATH"
	profile add -q --ci /a/bin
	[ "$(wc -l <"$GITHUB_PATH")" = 2 ]
	profile set -q --ci 'GOPATH=$HOME/go'
	[ "$(cat "$GITHUB_ENV")" = "GOPATH=$HOME/go" ]
}

@test "--ci: Azure's commands, CircleCI's file, lines for eval, or none known" {
	export -n CI GITHUB_PATH
	unset CI TF_BUILD CIRCLECI GITHUB_PATH
	run -5 profile add --ci /a/bin
	export TF_BUILD=True
	run -0 profile add --ci '/a b' /c%d
	[ "$output" = $'##vso[task.prependpath]/c%AZP25d\n##vso[task.prependpath]/a b' ]
	run -0 profile set --ci 'X=$HOME/100%'
	[ "$output" = "##vso[task.setvariable variable=X]$HOME/100%AZP25" ]
	unset TF_BUILD
	export CIRCLECI=true BASH_ENV=$HOME/be
	profile add -q --ci /a '/b c'
	profile add -q --ci /a
	profile set -q --ci 'X=a b'
	run -0 bash -c 'echo "$PATH|$X"'
	[[ "$output" == "/a:/b c:"*"|a b" ]]
	[ "$(wc -l <"$BASH_ENV")" = 3 ]
	unset CIRCLECI BASH_ENV
	export CI=true # GitLab, Travis, Buildkite
	run -0 sh -c 'eval "$("$0" profile add --ci /a "/b c")"; eval "$("$0" profile append --ci /y /z)"; echo "$PATH"' "$WARDBOX"
	[[ "$output" == "/a:/b c:"*":/y:/z" ]]
	[ -z "$(ls -A "$HOME" | grep -v '^be$')" ]
}

@test "--docker prints ENV lines" {
	run -0 profile add --docker /a/bin /b/bin
	[ "${lines[0]}" = 'ENV PATH="/b/bin:${PATH}"' ]
	[ "${lines[1]}" = 'ENV PATH="/a/bin:${PATH}"' ]
	[ -z "$(ls -A "$HOME")" ]
}

@test "--system writes profile.d and conf.d below --root; zsh needs --force" {
	umask 077
	mkdir -p "$HOME/r/etc/profile.d" "$HOME/r/etc/zsh"
	profile add -q -y --system --root "$HOME/r" --id tool /opt/x '$HOME/bin'
	profile add -q -y --system --root "$HOME/r" --shell fish /opt/x
	umask 022
	[ "$(stat -c %a "$HOME/r/etc/fish/conf.d")" = 755 ]
	grep -q '"$HOME/bin"' "$HOME/r/etc/profile.d/profile-tool.sh"
	[ "$(stat -c %a "$HOME/r/etc/profile.d/profile-tool.sh")" = 644 ]
	run -4 profile add -y --system --root "$HOME/r" --shell zsh /opt/x
	run -0 profile add -y --system --force --root "$HOME/r" --shell zsh /opt/x
	run -0 profile remove -y --system --root "$HOME/r" --id tool
	[ ! -e "$HOME/r/etc/profile.d/profile-tool.sh" ]
	run -0 profile remove -y --system --root "$HOME/r"
	[ -z "$(grep -rl profile:default "$HOME/r")" ]
}

@test "--backup keeps the old bytes; --backup=DIR elsewhere" {
	echo x=1 >"$HOME/.bashrc"
	mkdir "$HOME/keep"
	profile add -q -y --backup --scope interactive /opt/x
	[ "$(cat "$HOME/.bashrc.wardbox-backup")" = x=1 ]
	profile add -q -y --backup="$HOME/keep" --scope interactive /opt/y
	grep -q /opt/x "$HOME/keep/.bashrc.wardbox-backup"
	not grep -q /opt/y "$HOME/keep/.bashrc.wardbox-backup"
}

@test "a second --backup leaves the first alone, whatever has its name" {
	echo x=1 >"$HOME/.bashrc"
	run -0 profile add -y --backup --scope interactive /opt/x
	cp "$HOME/.bashrc" "$HOME/second"
	echo precious >"$HOME/precious"
	ln -s precious "$HOME/.bashrc.wardbox-backup.1"
	run -0 --separate-stderr profile add -y --backup --json --scope interactive /opt/y
	[ "$(jq -r '.changes[0].backup' <<<"$output")" = "$HOME/.bashrc.wardbox-backup.2" ]
	[ "$(cat "$HOME/.bashrc.wardbox-backup")" = x=1 ]
	cmp "$HOME/second" "$HOME/.bashrc.wardbox-backup.2"
	[ "$(cat "$HOME/precious")" = precious ]
}

@test "--backup without a free name is 4, and nothing changes" {
	echo x=1 >"$HOME/.bashrc"
	touch "$HOME/.bashrc.wardbox-backup" "$HOME"/.bashrc.wardbox-backup.{1..999}
	run -4 profile add -y --backup --scope interactive /opt/x
	[[ "$output" == *"cannot keep a backup of $HOME/.bashrc"* ]]
	[ "$(cat "$HOME/.bashrc")" = x=1 ]
}

@test "without a verb it is detect, and --help says so" {
	[ "$(profile --no-exec --json)" = "$(profile detect --no-exec --json)" ]
	profile --help | grep -q 'detect.*the default'
	grep -A 1 'Cm detect' "$TOP/applets/profile.1" | grep -q 'the default'
}

@test "--json tells every change, also where names are no UTF-8" {
	run -0 profile add -y --json --scope interactive /opt/x
	echo "$output" | grep -v '^wardbox' |
		jq -e '.schema == 1 and .changes[0].action == "added" and .changes[0].diff'
	chmod 444 "$HOME/.bashrc"
	run -4 profile add -y --json --scope interactive /opt/y
	profile add -y --json --scope interactive /opt/y 2>/dev/null |
		jq -e '.changes[0].action == "refused" and .changes[0].reason' || true
	odd=$'\xff'
	mkdir "$HOME/$odd"
	profile add -y -q --json --file "$HOME/$odd/f" /opt/y 2>/dev/null |
		jq -e '.changes[0].file_b64 | @base64d | length > 0'
}

@test "--json says of nothing that it was written when it was not" {
	run -3 --separate-stderr profile add --json /opt/x
	echo "$output" | jq -e '[.changes[] | .action == "refused" and .reason == "nobody said yes"] | all'
	printf '# >>> profile:default >>>\n' >"$HOME/.bashrc"
	run -5 --separate-stderr profile add --json -y /opt/x
	echo "$output" | jq -e '[.changes[] | .action == "refused"] | all'
	[ ! -e "$HOME/.profile" ]
}

@test "--shell all writes each file once" {
	run -0 profile add -y --shell all /opt/x
	[ "$(grep -c 'profile:default >>>' "$HOME/.profile")" = 1 ]
	[ -f "$HOME/.bashrc" ]
	run -0 profile add -y --shell all /opt/x
	[[ "$output" != *added:* ]]
}

@test "files: who reads what, and what is hidden" {
	echo x >"$HOME/.profile"
	echo y >"$HOME/.bash_profile"
	run -0 profile files
	[[ "$output" == *"shadowed $HOME/.profile"* ]]
	profile files --json | jq -e '.files[] | select(.shadowed_by == ".bash_profile")'
	for s in sh dash ash zsh fish mksh tcsh; do
		run -0 profile files --shell $s
	done
	run -5 profile files --shell nu
}

@test "check: now, after a restart, or not at all" {
	mkdir -p "$HOME/.cargo/bin"
	printf '#!/bin/sh\n' >"$HOME/.cargo/bin/only-here"
	chmod +x "$HOME/.cargo/bin/only-here"
	run -1 profile check only-here
	[[ "$output" == *"$HOME/.cargo/bin/only-here but not on PATH"* ]]
	[[ "$output" == *'export PATH="$HOME/.cargo/bin'* ]]
	run -0 profile check -y --fix only-here
	run -0 profile check only-here
	[[ "$output" == *"$HOME/.bashrc adds it"* || "$output" == *"$HOME/.profile adds it"* ]]
	PATH=$HOME/.cargo/bin:$PATH run -0 profile check only-here
	[[ "$output" == *", on PATH"* ]]
	run -1 profile check no-such-command-at-all
	run -1 profile check /opt/never
	profile check --json /opt/never | jq -e '.state == "absent" and .line' || true
}

@test "check: the shell was changed, the old one's file has the line" {
	mkdir -p "$HOME/.cargo/bin"
	printf '#!/bin/sh\n' >"$HOME/.cargo/bin/only-here"
	chmod +x "$HOME/.cargo/bin/only-here"
	echo 'export PATH="$HOME/.cargo/bin:$PATH"' >"$HOME/.bashrc"
	SHELL=/bin/zsh run -1 profile check only-here
	[[ "$output" == *"another shell's file adds it: $HOME/.bashrc"* ]]
	[[ "$output" == *"Add to $HOME/.zshrc"* ]]
}

@test "directories and variables together: each once, in the order given" {
	echo '{"shell_config": {"path_append": ["/d0", "/d1"], "env_vars": {"A": "1", "B": "2"}}}' >"$HOME/r.json"
	run -0 profile apply --docker "$HOME/r.json"
	[ "$output" = 'ENV PATH="/d1:${PATH}"
ENV PATH="/d0:${PATH}"
ENV A="1"
ENV B="2"' ]
	profile apply --session "$HOME/r.json" >"$HOME/lines"
	[ "$(sh -c 'PATH=/x; . "$0"; echo "$PATH $A $B"' "$HOME/lines")" = "/d0:/d1:/x 1 2" ]
	profile print A=1 /d0 A=2 /d1 >"$HOME/lines"
	[ "$(sh -c 'PATH=/x; . "$0"; echo "$PATH $A"' "$HOME/lines")" = "/d0:/d1:/x 2" ]
}

@test "apply: shell_config for good, post_env for eval or for one command" {
	cat >"$HOME/r.json" <<-'J'
		{"name": "cargo", "shell_config": {"path_append": ["$HOME/.cargo/bin"],
		 "env_vars": {"GOPATH": "$HOME/go"}},
		 "post_env": "export PATH=\"$HOME/.cargo/bin:$PATH\""}
	J
	run -0 profile apply -y "$HOME/r.json"
	run -0 bash -c '. ~/.bashrc; echo "$PATH $GOPATH"'
	[[ "$output" == "$HOME/.cargo/bin:"*" $HOME/go" ]]
	run -0 profile apply --session "$HOME/r.json"
	[ "$output" = 'export PATH="$HOME/.cargo/bin:$PATH"' ]
	run -7 profile apply --then "$HOME/r.json" -- sh -c 'echo "$PATH"; exit 7'
	[[ "$output" == "$HOME/.cargo/bin:"* ]]
	echo '{"post_env": "false"}' >"$HOME/bad.json"
	run -125 profile apply --then "$HOME/bad.json" -- echo ran
	[[ "$output" != *ran* ]]
	echo '{"shell_config": {"path_append": ["/x"], "path_prepend": []}}' >"$HOME/bad.json"
	run -2 profile apply -y "$HOME/bad.json"
	[[ "$output" == *"bad.json:1:"* ]]
	echo '{"shell_config": {"env_vars": {"LD_PRELOAD": "/x"}}}' >"$HOME/bad.json"
	run -2 profile apply -y "$HOME/bad.json"
	echo '[1,' >"$HOME/bad.json"
	run -2 profile apply -y "$HOME/bad.json"
	echo '{"post_env": "x=1"}' >"$HOME/only.json"
	run -5 profile apply -y "$HOME/only.json"
}

@test "aliases ensurepath, prepend and shellenv" {
	run -0 profile ensurepath -q -y /opt/x
	run -0 profile prepend -q -y /opt/y
	run -0 profile shellenv
	[[ "$output" == */opt/x*/opt/y* ]]
}

@test "through a link to nothing, nothing is made and nothing is left" {
	ln -s dots/deep/profile "$HOME/.profile"
	run profile add -y --no-exec --shell sh '~/bin'
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *".profile leads, by a symlink, to what is not there"* ]]
	[ "$(ls -A "$HOME")" = .profile ]
	run profile add -n --no-exec --shell sh '~/bin'
	[ "$status" -ne 0 ]
	run -0 profile remove -y --no-exec --shell sh
	[ "$(ls -A "$HOME")" = .profile ]
	# Of a directory on the way that a link names, as well.
	ln -s nowhere "$HOME/.config"
	run profile add -y --no-exec --shell fish '~/bin'
	[ "$status" -ne 0 ]
	[ ! -e "$HOME/nowhere" ]
	# What is there is written through, and a directory of one's own is made.
	mkdir "$HOME/nowhere" "$HOME/dots" "$HOME/dots/deep"
	touch "$HOME/dots/deep/profile"
	run -0 profile add -y --no-exec --shell fish '~/bin'
	[ -d "$HOME/nowhere/fish" ]
	run -0 profile add -y --no-exec --shell sh '~/bin'
	grep -q profile:default "$HOME/dots/deep/profile"
	run -0 profile remove -y --no-exec --shell sh
	[ ! -s "$HOME/dots/deep/profile" ]
}

@test "fix leaves away what remove took away, unless it is named" {
	mkdir -p "$HOME/.local/bin"
	printf '#!/bin/sh\n' >"$HOME/.local/bin/mytool"
	chmod +x "$HOME/.local/bin/mytool"
	touch "$HOME/.bashrc" "$HOME/.profile"
	profile add -q -y '~/.local/bin'
	grep -q local/bin "$HOME/.bashrc"
	profile remove -q -y
	profile fix -q -y
	run ! grep local/bin "$HOME/.bashrc"
	run ! grep local/bin "$HOME/.profile"
	profile fix -q -y missing-path
	grep -q local/bin "$HOME/.bashrc"
}

@test "print --json is JSON" {
	[ "$(profile print --json --shell bash A=b | jq -r .lines)" = 'export A="b"' ]
	[ "$(profile print --json --shell fish A=b | jq -r .shell)" = fish ]
	profile add -q -y --no-exec --shell bash '~/bin'
	profile print --json --shell bash | jq -e '.lines | contains("HOME/bin")'
}

@test "a file beyond a mebibyte is refused, and left" {
	head -c 1048577 /dev/zero | tr '\0' '#' >"$HOME/.profile"
	cp "$HOME/.profile" "$HOME/was"
	run profile add -y --no-exec --shell sh '~/bin'
	echo "$output"
	[ "$status" -ne 0 ]
	cmp "$HOME/.profile" "$HOME/was"
}
