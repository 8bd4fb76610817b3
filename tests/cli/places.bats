#!/usr/bin/env bats
# places: which directory is a project, caches, secrets, who has the network

load ../lib/wardbox

setup() {
	project
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$HOME"
}

g() { # LINE: run, guarded
	in_policy "${POLICY:-use FULL-AUTO}" "$WARDBOX" sh -c "$1"
}
t() { # DIR LINE: as `policy test` says
	(cd "$1" && in_policy "${POLICY:-use FULL-AUTO}" "$WARDBOX" policy test "$2")
}
# The shell and `policy test` say the same of LINE in DIR: it runs (allowed, or
# open), or not.
both() { # yes|no DIR LINE
	local said=0
	run t "$2" "$3"
	echo "policy test in $2: $status $output"
	[ "$1" = no ] || said=1
	[ "$((status == 0 || status == 12))" -eq "$said" ]
	cd "$2"
	run g "$3"
	echo "sh in $2: $status $output"
	[ "$((status != 126))" -eq "$said" ]
	cd "$PROJECT"
}
# A line that the sandbox stops, whatever `policy test` says of it; one that is
# plainly denied does not begin.
held() { # DIR LINE
	run t "$1" "$2"
	echo "policy test in $1: $status $output"
	[ "$status" -eq 11 ] || [ "$status" -eq 12 ]
	cd "$1"
	run g "$2"
	echo "sh in $1: $status $output"
	[ "$status" -ne 0 ]
	cd "$PROJECT"
}

@test "neither the root, a home nor everybody's directories are a project" {
	local home dir
	home=$(getent passwd 1 | cut -d: -f6)
	ln -s "$HOME" "$BATS_TEST_TMPDIR/link"
	mkdir "$HOME/.git"
	for dir in / /tmp /var/tmp /dev/shm "$HOME" "$BATS_TEST_TMPDIR/link" \
		/root "${home:-/root}" /etc /usr /run; do
		both yes "$dir" 'echo fine'
		# What is its own by that name it may write: nothing is made here.
		case $dir in
		/tmp | /var/tmp | /dev/shm | "$HOME" | */link)
			both yes "$dir" 'echo >not-made; echo >~/not-made'
			;;
		*)
			held "$dir" 'echo >not-made'
			held "$dir" 'cat ./etc/hostname not-there'
			;;
		esac
		[ ! -e "$dir/not-made" ]
		[ ! -e "$HOME/not-made" ]
	done
	for line in 'cat /none' 'touch /none' 'cat //none' 'cat /none/of/it' 'cat ~none/x'; do
		run t / "$line"
		[ "$status" -eq 12 ]
	done
	# Neither by another name of it, nor what holds it.
	# shellcheck disable=SC2016 # expanded by the inner shell
	run unshare -m sh -c 'mount --bind "$HOME" /srv && cd /srv && exec "$1" policy test "echo >x"' \
		- "$WARDBOX"
	[ "$status" -eq 12 ]
	held /home 'echo >not-made'
	# What lies beneath is one, with a marker above it or none.
	mkdir -p "$HOME/own/src" "$HOME/own/.git" "$HOME/plain"
	both yes "$HOME/own/src" 'echo >../made'
	both yes "$HOME/plain" 'echo >made'
	both yes "$HOME/plain" 'echo >../not-made'
	[ ! -e "$HOME/not-made" ]
	# Root can say otherwise.
	POLICY="use FULL-AUTO
root $HOME"
	both yes "$HOME" 'echo >made'
}

@test "what holds secrets is no project by another name, nor is what lies in it" {
	local deep
	bound() { # DIRECTORY BELOW: writes there, as the directory's other name says
		# shellcheck disable=SC2016
		in_policy 'use FULL-AUTO' sh -c \
			'mount --bind "$1" /srv && cd "/srv/$2" && exec "$3" sh -c "echo x >made"' \
			sh "$1" "$2" "$WARDBOX"
	}
	mkdir -p "$HOME/.ssh/keys/deep/.git" "$HOME/own/deep/.git"
	for deep in . keys keys/deep; do
		run bound "$HOME/.ssh" "$deep"
		echo "$deep: $status $output"
		[ "$status" -ne 0 ]
		[ ! -e "$HOME/.ssh/$deep/made" ]
	done
	bound "$HOME/own" deep
	[ -e "$HOME/own/deep/made" ]
}

@test "a line of the shell's own commands has no /tmp of others, and no copies are made for it" {
	local kept
	kept=$BATS_TEST_TMPDIR/ns/run/$(id -u)/kept
	echo : >"$HOME/.profile"
	g :
	g 'echo x >made'
	[ -s made ]
	run in_policy 'use FULL-AUTO' "$WARDBOX" audit dump -o json
	[[ $output == *'"sh","-c",":"'* ]]
	[[ $output != *'"shared"'* ]]
	[ ! -e "$kept/.profile" ]
	g ls
	[ -e "$kept/.profile" ]
}

@test "a program without a project reads and writes nothing of where it is" {
	echo secret >"$HOME/file"
	cat >"$PROJECT/try.py" <<-'P'
		import os, tempfile
		for mode in "r", "w":
		    try: print(open("file", mode).read())
		    except OSError as e: print(e.strerror or e)
		tempfile.TemporaryFile().write(b"x")
		print("tmp")
	P
	cd "$HOME"
	run g "python3 - <<'P'
$(cat "$PROJECT/try.py")
P"
	# It writes one of its own, and cannot read that there.
	[ "${lines[0]}" = 'No such file or directory' ]
	[ "${lines[1]}" = 'not readable' ]
	[ "${lines[2]}" = tmp ]
	[ "$(cat file)" = secret ]
}

@test "a plain word is no path where there is no project, and the message says what to do" {
	for line in 'apk add curl' 'apt-get install -y make' 'expr add + curl' 'make all'; do
		run t / "$line"
		echo "$output"
		[[ "$output" != *'no project'* ]]
	done
	run t /var 'cat ./file'
	[[ "$output" == *"/var is no project"*"begin with 'cd DIR &&'"*"root /var"* ]]
	run t / 'cat /etc/shadow'
	[[ "$output" == *'/etc/shadow: / is no project'*'path r /etc/shadow'* ]]
}

@test "what the sandbox shows of the system a line may name, with a project or without" {
	local line dir
	for dir in / "$PROJECT" "$HOME"; do
		for line in 'cat /etc/os-release' 'head -1 </proc/cpuinfo' 'test -d /usr/share' \
			'ls /usr/lib' 'cd /usr/share && ls' '. /etc/os-release; echo "$ID"' \
			'grep -c x -r /usr/share/misc'; do
			both yes "$dir" "$line"
		done
		for line in 'cat /etc/shadow' 'touch /usr/share/x' 'echo x >/etc/os-release' \
			'rm /usr/lib/x' 'cat /proc/1/environ' 'cd /usr/share && touch x'; do
			held "$dir" "$line"
		done
	done
}

@test "a line that goes to a directory of its own has its project" {
	local line
	mkdir -p "$PROJECT/sub/.git/x" "$BATS_TEST_TMPDIR/a b/.git"
	for line in "cd $PROJECT && touch made" "  cd $PROJECT; touch made" \
		"cd '$BATS_TEST_TMPDIR/a b' && touch made" "cd \"$PROJECT\" && touch made" \
		"cd -- $PROJECT && touch made" "cd $PROJECT
touch made" "cd ${PROJECT#/} && touch made"; do
		both yes / "$line"
		[ -e "$PROJECT/made" ] || [ -e "$BATS_TEST_TMPDIR/a b/made" ]
		rm -f "$PROJECT/made" "$BATS_TEST_TMPDIR/a b/made"
	done
	cd /
	run in_policy 'use FULL-AUTO' "$WARDBOX" bash -c "pushd $PROJECT && touch made"
	[ -e "$PROJECT/made" ]
	mkdir -p "$HOME/p/.git"
	both yes "$HOME" 'cd ~/p && touch made'
	[ -e "$HOME/p/made" ]
	both yes "$HOME" 'cd p && touch made; ls -A'
	# Not what is elsewhere, nobody's, somebody else's, a home, or no plain text.
	mkdir "$BATS_TEST_TMPDIR/theirs"
	chown 1000 "$BATS_TEST_TMPDIR/theirs"
	mkdir -p "$HOME/.ssh" "$HOME/.cargo/bin" "$HOME/.config" "$HOME/go"
	rm -f "$PROJECT/made" "$HOME/p/made"
	for line in "cd $PROJECT/sub && touch ../made" "cd $BATS_TEST_TMPDIR/theirs && touch made" \
		"cd ~ && touch made" 'cd ~/.ssh && touch made' 'cd ~/.config && touch made' \
		'cd ~/.cargo/bin && touch made' 'cd ~/go && touch made'; do
		cd /
		run g "$line"
		echo "$line: $output"
		[ -z "$(find "$BATS_TEST_TMPDIR" -path "$BATS_TEST_TMPDIR/ns*" -prune -o -name made -print)" ]
	done
	for line in 'cd /etc && touch made' 'cd /usr/local/bin && touch made' \
		'cd /var/lib && touch made' \
		'cd /run/wardbox/0 && mv cache x' 'cd /run/wardbox/0/home && touch ../made'; do
		held / "$line"
	done
	# Where the line does not tell, the sandbox does.
	rm -f "$PROJECT/made"
	cd /
	for line in "cd \$(echo ${PROJECT#/} | sed s,^,/,) && touch made" \
		"cd $PROJECT || touch made"; do
		run g "$line"
		echo "$line: $output"
		[ ! -e "$PROJECT/made" ]
	done
}

@test "a project of the line is found by all plain words, wherever they stand" {
	local line
	printf 'print(1)\n' >"$PROJECT/one.py"
	for line in "P=$PROJECT; cd \"\$P\" && touch made" "export X=1; cd $PROJECT && touch made" \
		"cd \$(dirname $PROJECT/one.py) && touch made" "echo x >$PROJECT/made" \
		"bash -c 'cd $PROJECT && touch made'" "touch $PROJECT/made <<TEXT
a text
TEXT
" "for f in $PROJECT/made; do touch \$f; done" "echo made | (cd $PROJECT && xargs touch)" \
		"env -C $PROJECT touch made" "cat $PROJECT/*.py >$PROJECT/made" \
		"python3 -c \"open('$PROJECT/made', 'w')\""; do
		rm -f "$PROJECT/made"
		cd /
		run g "$line"
		echo "$line: $status $output"
		[ -e "$PROJECT/made" ]
	done
	# Another user's directory gives no project.
	mkdir "$BATS_TEST_TMPDIR/theirs"
	chown 1000 "$BATS_TEST_TMPDIR/theirs"
	for line in "P=$BATS_TEST_TMPDIR/theirs; cd \"\$P\" && touch made" \
		"touch \$(echo $BATS_TEST_TMPDIR/theirs)/made" \
		"python3 -c \"open('$BATS_TEST_TMPDIR/theirs/made', 'w')\""; do
		cd /
		run g "$line"
		echo "$line: $status $output"
		[ ! -e "$BATS_TEST_TMPDIR/theirs/made" ]
	done
}

@test "what is protected in a project is so for a line that goes there" {
	command -v git >/dev/null || skip "not here: git"
	rm -rf "$PROJECT/.git"
	git init -q "$PROJECT"
	printf 'open(".git/config", "a").write("[core]\\n\\tfsmonitor = ./x\\n")\n' >"$PROJECT/arm.py"
	cd /
	run g "cd $PROJECT && python3 arm.py"
	[[ "$output" == *'put back: core.fsmonitor=./x'* ]]
	run grep fsmonitor "$PROJECT/.git/config"
	[ "$status" -eq 1 ]
}

@test "the policy of a project is that of the root that was found, and of no other" {
	mkdir -p "$PROJECT/.wardbox" "$PROJECT/sub/.git" "$PROJECT/src"
	printf 'policy 1 project\ndeny id=mine expr **\n' >"$PROJECT/.wardbox/policy"
	held "$PROJECT/src" 'expr 1'
	held / "cd $PROJECT/src && expr 1"
	both yes "$PROJECT/sub" 'expr 1'
	# A policy marks a project although the system's says nothing of markers.
	POLICY='profile DEV shell=on unknown=allow supervise=on
path rw $ROOT/** /dev/null
exec /bin /usr/bin
allow expr **'
	held "$PROJECT/src" 'expr 1'
}

@test "secrets are hidden whatever is granted, unless the policy names them" {
	mkdir -p "$HOME/.ssh" "$HOME/.aws" "$HOME/.config/gh"
	for f in .ssh/id_rsa .aws/credentials .netrc .npmrc .config/gh/hosts.yml .bash_history plain; do
		echo "word of $f" >"$HOME/$f"
	done
	ln -s "$HOME/.ssh" "$PROJECT/link"
	ln -s "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/other"
	cat >look.py <<-'P'
		import os
		home = os.environ["HOME"]
		other = home.replace("/home", "/other/home")
		for f in ".ssh/id_rsa", ".aws/credentials", ".netrc", ".npmrc", ".config/gh/hosts.yml", ".bash_history":
		    for h in home, other, "/proc/self/root" + home:
		        try: print("READ", open(h + "/" + f).read())
		        except OSError: pass
		try: print("READ", open("link/id_rsa").read())
		except OSError: pass
		print(open(home + "/plain").read())
	P
	POLICY="use FULL-AUTO
path r \$HOME/**"
	run g 'python3 look.py'
	echo "$output"
	[ "$output" = 'word of plain' ]
	held "$PROJECT" 'cat ~/.ssh/id_rsa'
	held "$PROJECT" 'cat link/id_rsa'
	held "$PROJECT" "cat $BATS_TEST_TMPDIR/other/home/.netrc"
	held "$PROJECT" 'head -1 <~/.npmrc'
	both yes "$PROJECT" 'cat ~/plain'
	# A home inside of the project.
	HOME=$PROJECT/own
	mkdir -p "$HOME/.aws"
	echo word >"$HOME/.aws/credentials"
	POLICY='use FULL-AUTO'
	held "$PROJECT" 'cat own/.aws/credentials'
	run g 'python3 -c "print(open(\"own/.aws/credentials\").read())"'
	[[ "$output" != *word* ]]
	held "$HOME/.aws" 'cat credentials'
	POLICY="use FULL-AUTO
path r \$HOME/.aws/credentials"
	both yes "$PROJECT" 'cat own/.aws/credentials'
	# Who has no mount namespace to hide them in is told so.
	POLICY='use FULL-AUTO
relax mount'
	held "$PROJECT" 'cat ~/.netrc own/.netrc own/.aws/credentials ~/.aws/credentials'
}

@test "tools keep their caches in directories of the guarded user's own, and home stays as it is" {
	mkdir -p "$HOME/.cargo/bin" "$HOME/.npm/_npx" "$HOME/go/bin" "$HOME/.dotnet/tools" "$HOME/.cache"
	echo '# env' >"$HOME/.cargo/env"
	find "$HOME" -printf '%p %m %s %T@\n' | sort >before
	cat >plant.py <<-'P'
		import os
		home = os.environ["HOME"]
		for f in ".cargo/env", ".cargo/bin/ls", ".npm/_npx/x", "go/bin/ls", ".dotnet/tools/x", \
		         ".cache/x", ".local/bin/x", ".bashrc", ".profile", "bin/ls":
		    try:
		        open(home + "/" + f, "a").write("x")
		        print("WROTE", f)
		    except OSError: pass
		for name in "npm_config_cache", "CARGO_HOME", "GOPATH", "XDG_CACHE_HOME", "PIP_CACHE_DIR":
		    os.makedirs(os.environ[name] + "/t", exist_ok=True)
		    open(os.environ[name] + "/t/kept", "a").write("k")
		prog = os.environ["XDG_CACHE_HOME"] + "/t/prog"
		open(prog, "w").write("#!/bin/sh\necho from the cache\n")
		os.chmod(prog, 0o755)
		print(open(prog[:-4] + "kept").read(), flush=True)
		os.execv(prog, [prog])
	P
	run g 'python3 plant.py'
	echo "$output"
	[[ "$output" == *$'k\nfrom the cache' ]]
	run g 'python3 plant.py'
	[[ "$output" == *$'kk\nfrom the cache' ]]
	run g 'cat "$CARGO_HOME/t/kept"; stat -c "%a %u" "${CARGO_HOME%/*}"'
	echo "$output"
	[ "$output" = 'kk700 0' ]
	run g 'echo "$MAVEN_OPTS"'
	[[ "$output" == '-Dmaven.repo.local=/run/wardbox/0/cache/'* ]]
	# The policy has them: they are in no record.
	run in_policy 'use FULL-AUTO' "$WARDBOX" audit dump -t start -o json
	[[ "$output" == *'"TMPDIR"'* && "$output" != *CCACHE_DIR* ]]
	find "$HOME" -printf '%p %m %s %T@\n' | sort | cmp before -
	# Nobody else's guarded commands look there.
	place=$(mktemp -d "$BATS_TMPDIR/place-XXXXXX")
	chmod 755 "$place"
	cp "$WARDBOX" "$place/wardbox"
	install -d -o 1000 -g 1000 "$place/p"
	cd "$place/p"
	run in_policy 'use FULL-AUTO' setpriv --reuid 1000 --regid 1000 --clear-groups \
		"$place/wardbox" sh -c 'echo "$CARGO_HOME"'
	rm -rf "$place"
	[ "$output" = /run/wardbox/1000/cache/cargo ]
	cd "$PROJECT"
	# What it does to their directory, and to that of temporary files, ends no other.
	g 'python3 -c "import os; [os.chmod(d, 0o777) for d in (os.environ[\"TMPDIR\"], os.path.dirname(os.environ[\"GOPATH\"]))]"'
	run g 'stat -c %a "$TMPDIR" "${CARGO_HOME%/*}"'
	[ "$output" = $'1777\n700' ]
	# A link that a command left in it leads nowhere.
	cat >link.py <<-'P'
		import os, shutil
		for name, to in ("XDG_CACHE_HOME", "/etc/x"), ("npm_config_cache", os.environ["HOME"]):
		    shutil.rmtree(os.environ[name])
		    os.symlink(to, os.environ[name])
	P
	g 'python3 link.py'
	run g 'touch "$npm_config_cache/planted"'
	[ ! -e /etc/x ] && [ ! -e "$HOME/planted" ]
}

@test "the policy says where caches lie, and which there are" {
	local place=$BATS_TEST_TMPDIR/place
	mkdir "$place"
	chmod 755 "$place"
	POLICY="use FULL-AUTO
cache $place X_CACHE=x"
	run g 'echo x >"$X_CACHE/f"; echo "$X_CACHE"'
	[ "$output" = "$place/0/cache/x" ]
	[ "$(cat "$place/0/cache/x/f")" = x ]
	for bad in 'cache x' 'cache X=' 'cache X=/etc' 'cache X=../y' '0=x' 'hide $HOME/*' \
		'hide x' 'root a/b' 'root never x' 'runtime x /usr'; do
		printf 'policy 1 system\n%s\n' "$bad" >bad.policy
		run "$WARDBOX" policy check bad.policy
		[ "$status" -ne 0 ]
	done
	# A project's own policy makes none.
	mkdir -p .wardbox
	for bad in 'cache X=x' 'hide /x'; do
		printf 'policy 1 project\n%s\n' "$bad" >.wardbox/policy
		run in_policy 'use FULL-AUTO' "$WARDBOX" sh -c true
		[ "$status" -eq 125 ]
	done
}

@test "programs of the home run, though nothing of it can be written" {
	mkdir -p "$HOME/.cargo/bin" "$HOME/.rustup"
	printf '#!/bin/sh\nexec "$HOME/.rustup/tool" "$@"\n' >"$HOME/.cargo/bin/cargo-like"
	printf '#!/bin/sh\necho "tool $1"\n' >"$HOME/.rustup/tool"
	echo token >"$HOME/.cargo/credentials.toml"
	chmod +x "$HOME/.cargo/bin/cargo-like" "$HOME/.rustup/tool"
	PATH=$PATH:$HOME/.cargo/bin run g 'cargo-like build'
	[ "$output" = 'tool build' ]
	run g 'python3 -c "import os; print(open(os.environ[\"HOME\"] + \"/.cargo/credentials.toml\").read())"'
	[[ "$output" != token* ]]
	# A home that cannot stand in PATH brings nothing into it.
	mkdir -p "$BATS_TEST_TMPDIR/a:b/.cargo/bin"
	HOME=$BATS_TEST_TMPDIR/a:b
	search() { # PATH: what of it a command has
		in_policy 'use FULL-AUTO' env PATH="$1" "$WARDBOX" sh -c 'echo "$PATH"'
	}
	local system=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin
	[ "$(search /nowhere)" = "$system" ]
	# The system's and the project's directories stay, in their order.
	[ "$(search "/nowhere:$PWD/bin:/usr/sbin:$PWD/../x:.::$PWD/bin/..:/usr/bin/:/bin")" = \
		"$PWD/bin:/usr/sbin:/usr/bin:/bin" ]
	[ "$(search "$HOME/.cargo/bin:/usr/bin")" = /usr/bin ]
	unset HOME
	[ "$(search /nowhere)" = "$system" ]
	export HOME=$BATS_TEST_TMPDIR/home
	for path in '$HOME/a:/b' '/a:$HOME/b:/c' '$HOME/a' '/a:$HOME/b'; do
		POLICY="use FULL-AUTO
env set \"X=$path\""
		run g 'echo "$X"'
		[ "$output" = "${path/\$HOME/$HOME}" ]
		run env -u HOME "$BASH" -c '. "$1"; in_policy "$2" "$3" sh -c "echo \$X"' \
			- "$TOP/tests/lib/wardbox.bash" "$POLICY" "$WARDBOX"
		[[ "$output" != *HOME* && "$output" != :* && "$output" != *: && "$output" != *::* ]]
	done
}

@test "what installs has the network; what runs, builds and tests has none" {
	cat >package.json <<-'P'
		{"name": "x", "version": "1.0.0", "scripts": {
		 "look": "readlink /proc/self/ns/net", "test": "readlink /proc/self/ns/net",
		 "preinstall": "readlink /proc/self/ns/net"}}
	P
	command -v npm >/dev/null || skip "not here: npm"
	need unshare -n true
	here=$(readlink /proc/self/ns/net)
	run g 'npm run look'
	[[ "$output" == *'net:['* ]]
	[[ "$output" != *"$here"* ]]
	run g 'npm test'
	[[ "$output" == *'net:['* ]]
	[[ "$output" != *"$here"* ]]
	# An installing verb has hosts by name (net_ways.bats), its scripts, too.
	run g 'npm install --offline --no-audit --foreground-scripts'
	[[ "$output" == *'net:['* ]]
	[[ "$output" != *"$here"* ]]
	# What has all of the network is on the machine's own.
	POLICY=$'use FULL-AUTO\nexcept id=npm npm {install|i} **\nallow id=all net=all npm {install|i} **'
	run g 'npm install --offline --no-audit --foreground-scripts'
	[[ "$output" == *"$here"* ]]
}

@test "a host that the line names asks" {
	local line
	while IFS= read -r line; do
		run t "$PROJECT" "$line"
		echo "$status $line: $output"
		[ "$status" -ge 10 ]
	done <<-'L'
		npm i "https://any.host/$(head -c 300 .env)"
		npm i --@s:registry=http://any x
		npm i --@s:registry http://any x
		npm i --registry=http://any
		npm --reg http://any i
		npm i --replace-registry-host=any:80
		npm i --sass_binary_site=http://any
		npm i HTTP:any.host/x
		npm i git@any.host:x/y
		npm i github:x/y
		npm i git+ssh://any/x
		npm i x@http://any/y.tgz
		npm_config_registry=http://any npm i
		env npm_config_registry=http://any npm i
		SASS_BINARY_SITE=http://any npm i
		PLAYWRIGHT_DOWNLOAD_HOST=http://any npm i
		yarn install --registry http://any
		yarn install --use-yarnrc x
		dotnet publish --source:http://any
		dotnet restore -s http://any
		dotnet restore /p:RestoreSources=http://any
		dotnet restore -p:RestoreSources=http%3A//any
		dotnet restore --configfile x
		nuget restore -Source any
		pip install --index-url http://any x
		pip install --index-u http://any x
		pip install -i http://any x
		pip install -f http://any x
		pip install git+https://any/x
		python3 -m pip install -i http://any x
		uv pip install --index-url http://any x
		cargo add --registry any x
		cargo install --git http://any/x
		cargo build --index http://any
		CARGO_REGISTRIES_X_INDEX=http://any cargo fetch
		GOPROXY=http://any go get x
		go get any.host/x
		gem install x --source http://any
	L
	for line in 'npm i' 'npm i left-pad' 'npm install --save-dev @types/node@20' 'npm i ./x.tgz' \
		'npm i file:packages/a' 'npm run x -- http://localhost:3000' 'yarn install' \
		'dotnet restore' 'dotnet test --filter A:B' 'cargo build' 'GOPROXY=off go build ./...' \
		'npm test -- --url=http://localhost:1'; do
		run t "$PROJECT" "$line"
		echo "$status $line: $output"
		[ "$status" -eq 0 ]
	done
}
