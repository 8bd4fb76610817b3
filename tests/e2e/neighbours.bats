#!/usr/bin/env bats
# Two sessions of one user at the same time: neither gets at the other's project,
# processes, sockets, memory or loopback, nor at what the guard keeps of it.

load ../lib/wardbox

setup() {
	need unshare -m true
	project
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test "$BATS_TEST_TMPDIR" "$PROJECT"
	mkdir -p a/.git b/.git
	cp "$TOP/tests/lib/neighbour.py" a
	cp "$TOP/tests/lib/neighbour.py" b
	mkfifo a/end
	exec </dev/null
}

cat_scene() {
	cat <<'EOF'
set -e
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || :' EXIT
(cd a && exec "$1" exec first -- python3 neighbour.py host) & host=$!
until [ -e a/ready ]; do kill -0 $host; sleep 0.02; done
# The one that tries is told where everything is.
sed "s/}$/, \"bare\": $2}/" a/ready >b/where
(cd b && "$1" exec second -- python3 neighbour.py try where) || echo "code $?"
timeout 20 sh -c ': >a/end'
wait $host
EOF
}

tries() { # BARE POLICY PREFIX... : nothing is got
	local bare=$1 policy=$2
	shift 2
	cat_scene >scene
	mkdir -p "$BATS_TEST_TMPDIR/home"
	chown "$(stat -c %u "$PROJECT")" "$BATS_TEST_TMPDIR/home"
	run in_policy "$policy" "$@" env HOME="$BATS_TEST_TMPDIR/home" timeout -k 5 100 bash ./scene "$WARDBOX" "$bare" 3>&-
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -v '^wardbox exec: denied: \|^  ' <<<"$output" | sed 's/^[0-9]* ways/N ways/')" = "N ways
as it was" ]
	[ "$(sed -n 's/ ways$//p' <<<"$output")" -gt 150 ]
}

@test "what the probe tries does work where no guard stands between" {
	need unshare -mnpif --mount-proc --kill-child true
	# In namespaces of its own, because nothing else keeps it in.
	cat_scene | sed 's/"$1" exec [a-z]* -- //; s/ try where/& proof/' >scene
	run unshare -mnpif --mount-proc --kill-child sh -c \
		'ip link set lo up; timeout -k 5 100 bash ./scene - 1' 3>&-
	echo "$output"
	for what in 'read environ' 'read the memory' 'traced' 'sent' 'the loopback' \
		'the abstract socket' "read $PROJECT/a" "connected in $PROJECT/a"; do
		[[ $output == *"GOT $what"* ]]
	done
}

@test "with a view of mounts, as root" {
	tries 0 'use FULL-AUTO'
}

@test "with a view of mounts, as another user, by the policy agent" {
	need setpriv --reuid 1000 --regid 1000 --clear-groups unshare -Ur true
	install -d -m 700 -o 1000 -g 1000 "$BATS_TEST_TMPDIR/ns/log/wardbox/1000"
	chown -R 1000:1000 "$PROJECT"
	tries 0 'include agent' setpriv --reuid 1000 --regid 1000 --clear-groups
}

@test "without one, as root" {
	need "$HELPERS/docker" true
	tries 1 'use FULL-AUTO' "$HELPERS/docker"
}

@test "without one, as another user" {
	need "$HELPERS/docker" true
	install -d -m 700 -o 1000 -g 1000 "$BATS_TEST_TMPDIR/ns/log/wardbox/1000"
	chown -R 1000:1000 "$PROJECT"
	tries 1 'use FULL-AUTO' "$HELPERS/docker" setpriv --reuid 1000 --regid 1000 --clear-groups
}

# A tool that a person runs after a command, unguarded, elsewhere.
tools() (
	cd "$BATS_TEST_TMPDIR/elsewhere" || exit
	export HOME=$BATS_TEST_TMPDIR/home
	"$@" env -i HOME="$HOME" PATH="$PATH" TERM=dumb bash -lic :
	"$@" env -i HOME="$HOME" PATH="$HOME/.local/bin:$HOME/.cargo/bin:$PATH" sh -c '
		for f in "$HOME"/.profile "$HOME"/.bashrc; do [ ! -e "$f" ] || . "$f"; done
		git status; git -c user.name=a -c user.email=b commit --allow-empty -m x
		ls; python3 -c 0; node -e 0; npm config list; pip config list; sqlite3 :memory: .quit
		zsh -c :; tclsh <&-; vim -es +q; gdb -batch; ssh -G nowhere; make -n'
)

left_behind() { # PREFIX...
	mkdir "$BATS_TEST_TMPDIR"/{home,elsewhere}
	git init -q "$BATS_TEST_TMPDIR/elsewhere"
	git -C "$BATS_TEST_TMPDIR/elsewhere" commit -q --allow-empty -m x 2>/dev/null || :
	touch "$BATS_TEST_TMPDIR/ran" && rm "$BATS_TEST_TMPDIR/ran"
	chmod 777 "$BATS_TEST_TMPDIR"
	chown -R "$("$@" id -u)" "$BATS_TEST_TMPDIR"/{home,elsewhere} "$PROJECT"
	cat >a/plant.py <<-'END'
		import os, sys
		home, ran = os.environ["HOME"], "touch " + sys.argv[1]
		python = "import os; os.system(%r)\n" % ran
		version = "python%d.%d" % sys.version_info[:2]
		shell = [".bashrc", ".profile", ".bash_profile", ".bash_login", ".zshenv", ".zshrc", ".kshrc"]
		text = {f: ran + "\n" for f in shell}
		text.update({
		    ".gitconfig": "[core]\n\tfsmonitor = %s; false\n\thooksPath = %s/hooks\n" % (ran, home),
		    ".config/git/config": "[core]\n\tfsmonitor = %s\n" % ran,
		    "hooks/pre-commit": "#!/bin/sh\n%s\n" % ran,
		    ".npmrc": "node-options=--require %s/evil.js\nscript-shell=%s/evil\n" % (home, home),
		    ".config/pip/pip.conf": "[global]\n", ".sqliterc": ".shell %s\n" % ran,
		    ".vimrc": "silent !%s\n" % ran, ".gdbinit": "shell %s\n" % ran,
		    ".tclshrc": "exec %s\n" % ran,
		    ".ssh/config": "Match exec \"%s\"\n" % ran,
		    ".local/lib/%s/site-packages/usercustomize.py" % version: python,
		    ".local/lib/%s/site-packages/evil.pth" % version: python,
		    ".local/bin/ls": "#!/bin/sh\n%s\n" % ran, ".cargo/bin/ls": "#!/bin/sh\n%s\n" % ran,
		    ".config/autostart/x.desktop": "[Desktop Entry]\nExec=%s\n" % ran,
		    ".config/systemd/user/x.service": "[Service]\nExecStart=%s\n" % ran})
		for name, said in text.items():
		    try:
		        os.makedirs(os.path.dirname(home + "/" + name), exist_ok=True)
		        with open(home + "/" + name, "w") as f:
		            f.write(said)
		        os.chmod(home + "/" + name, 0o755)
		    except OSError:
		        if "ssh" not in name:
		            print("not written:", name)
		for d in () if sys.argv[2:] else ("/tmp", "/var/tmp", "/dev/shm"):
		    with open(d + "/neighbour-left", "w") as f:
		        f.write(ran)
		print("planted")
	END
	cat >plant <<'END'
cd a && exec "$1" sh -c "python3 plant.py '$2'"
END
	run in_policy 'include agent' "$@" env HOME="$BATS_TEST_TMPDIR/home" sh plant "$WARDBOX" \
		"$BATS_TEST_TMPDIR/ran"
	echo "$output"
	[ "$output" = planted ]
	[ -z "$(find /tmp /var/tmp /dev/shm -maxdepth 1 -name neighbour-left)" ]
	[ -z "$(find "$BATS_TEST_TMPDIR/home" -type f -not -path '*/.local/state/wardbox/*')" ]
	tools "$@" >/dev/null 2>&1 </dev/null || :
	[ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "what a command leaves in its home is run by no tool outside, root's or another's" {
	left_behind env
	rm -rf "$BATS_TEST_TMPDIR"/{home,elsewhere}
	need setpriv --reuid 1000 --regid 1000 --clear-groups unshare -Ur true
	install -d -m 700 -o 1000 -g 1000 "$BATS_TEST_TMPDIR/ns/log/wardbox/1000"
	left_behind setpriv --reuid 1000 --regid 1000 --clear-groups
	# Were it in the home, it would be run.
	cd "$PROJECT/a" && HOME=$BATS_TEST_TMPDIR/home python3 plant.py "touch $BATS_TEST_TMPDIR/ran" home
	tools env >/dev/null 2>&1 </dev/null || :
	[ -e "$BATS_TEST_TMPDIR/ran" ]
}
