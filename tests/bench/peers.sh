#!/bin/sh
# peers.sh - what people use to hand a shell to an agent, beside wardbox
#
# Each tool runs the same lines with the grant that its users give it: all is read,
# the project is written, no network. PEERS=all takes codex and sandbox-runtime from
# npm, 410 MB in $O/peers.
. tests/bench/lib.sh

runs=${RUNS:-30}
world=$PWD/tests/lib/world.py
project
# Neither works with a home below /tmp.
home=$(mktemp -d /var/tmp/wardbox-bench-XXXXXX)
trap 'rm -rf "$work" "$run" "$home"' EXIT
export HOME="$home"
npm=$O/peers/node_modules/.bin
if [ "${PEERS-}" = all ]; then
	npm install --silent --no-audit --prefix "$O/peers" \
		@openai/codex @anthropic-ai/sandbox-runtime >&2 ||
		skip "codex and srt" "npm cannot have them"
fi
PATH=$npm:$PATH
printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["%s"],"denyWrite":[]}}\n' \
	"$project" >"$home/srt.json"

mkdir -p src
i=0
while [ $i -lt 100 ]; do
	echo "int f$i(int x) { return x + $i; }" >src/f$i.c
	i=$((i + 1))
done
# shellcheck disable=SC2016 # make's own
printf 'O := $(patsubst %%.c,%%.o,$(wildcard src/*.c))\nall: $(O)\n%%.o: %%.c\n\t@cc -c -o $@ $<\nclean:\n\t@rm -f src/*.o\n' >Makefile

sh=$(command -v dash || command -v sh)
use='FULL-AUTO
limit FULL-AUTO cpu=off mem=off procs=off'

# The proportional memory of a process and all below it, in KB.
memory() { # PID
	n=$(awk '/^Pss:/ { print $2 }' "/proc/$1/smaps_rollup" 2>/dev/null || echo 0)
	total=$((total + ${n:-0}))
	for below in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		memory "$below"
	done
}

# measure NAME TOOL... SHELL: the rows of one tool, in turns with the bare shell.
measure() {
	name=$1
	shift
	USE=$use guarded timeout 20 "$@" -c : >/dev/null 2>&1 || {
		skip "$name" "does not work here"
		return 0
	}
	USE=$use guarded ./spawn_median -l "$runs" "peers_bare_beside_$name" "$sh" -c : :: \
		"peers_start_$name" "$@" -c : 2>>"$work/errors" >"$work/turns" || true
	tee -a "$rows" <"$work/turns"
	ratio "peers_start_${name}_over_bare" "peers_start_$name" "peers_bare_beside_$name"
	USE=$use guarded ./spawn_median -l $((runs / 3 + 1)) \
		"peers_bare_ls_beside_$name" "$sh" -c 'ls; ls' :: \
		"peers_ls_$name" "$@" -c 'ls; ls' 2>>"$work/errors" >"$work/turns" || true
	tee -a "$rows" <"$work/turns"
	ratio "peers_ls_${name}_over_bare" "peers_ls_$name" "peers_bare_ls_beside_$name"
	USE=$use guarded ./spawn_median -l $((runs / 10 + 1)) \
		"peers_bare_make_beside_$name" "$sh" -c 'make -s clean; make -s -j2' :: \
		"peers_make_$name" "$@" -c 'make -s clean; make -s -j2' \
		2>>"$work/errors" >"$work/turns" || true
	tee -a "$rows" <"$work/turns"
	ratio "peers_make_${name}_over_bare" "peers_make_$name" "peers_bare_make_beside_$name"
	# The command says that it runs, and ends when its pipe does.
	mkfifo "$work/on" "$work/off"
	exec 7<>"$work/off" 8<>"$work/on"
	USE=$use guarded timeout 60 "$@" -c 'echo on; read -r x' \
		7>&- 8>&- >"$work/on" 2>/dev/null <"$work/off" &
	at=$!
	read -r _ <&8
	total=0
	memory $at
	row "peers_memory_$name $total KB"
	echo >&7
	wait $at || true
	exec 7>&- 8>&-
	rm "$work/on" "$work/off"
}

# What must be installed for it, with what it is linked to.
disk() { # NAME FILE...
	name=$1
	shift
	for file; do
		file=$(realpath "$(command -v "$file" || echo "$file")")
		echo "$file"
		[ -d "$file" ] || ldd "$file" 2>/dev/null | awk '$3 ~ /^\// { print $3 }'
	done | sort -u | xargs du -csLk 2>/dev/null |
		awk -v name="$name" 'END { print "peers_disk_" name, $1, "KB" }' | tee -a "$rows"
}

# What is told to run stands in another network than the servers: srt lets nobody
# speak to an address of the machine that it runs on.
cat >"$work/beside" <<'EOF'
#!/bin/sh
unshare -n sh -c '
	kill -STOP $$
	ip link set lo up
	ip addr add 192.0.2.2/24 dev inner
	ip link set inner up
	ip route add default via 192.0.2.1
	exec timeout 60 "$@"' sh "$@" &
until grep -q '^State:.T' /proc/$!/status; do :; done
ip link add name outer type veth peer name inner netns $!
ip addr add 192.0.2.1/24 dev outer
ip link set outer up
kill -CONT $!
wait $!
EOF

# fetch NAME TOOL... SHELL: within one command, the first byte from a host that the
# tool is told to let through.
fetch() {
	name=$1
	shift
	USE=$use_names guarded unshare -n python3 "$world" "$work" sh "$work/beside" "$@" -c '
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			curl -s -o /dev/null -w "%{time_starttransfer} %{http_code}\n" \
				http://www.world.test/
		done' 2>>"$work/errors" >"$work/times" || true
	[ "$(grep -c ' 200$' "$work/times")" = 15 ] || {
		skip "first byte in $name" "does not work here"
		return 0
	}
	row "peers_first_$name $(sort -n "$work/times" |
		awk 'NR == 8 { printf "%.0f", $1 * 1e6 }') us"
}

# install NAME TOOL... SHELL: one package from this machine's registry, each time
# into a new directory, with a warm cache.
install() {
	name=$1 least=
	shift
	for i in 1 2 3; do
		rm -rf node_modules package-lock.json
		echo '{"name":"x","version":"1.0.0"}' >package.json
		a=$(now)
		USE=$use_names guarded timeout 120 "$@" -c \
			"npm install --silent --no-audit --no-fund left-pad" >>"$work/errors" 2>&1 || true
		b=$(now)
		[ -e node_modules/left-pad ] || {
			skip "npm install in $name" "does not work here"
			return 0
		}
		[ -n "$least" ] && [ "$least" -le $((b - a)) ] || least=$((b - a))
	done
	row "peers_npm_$name $((least / 1000000)) ms"
}

# names NAME TOOL... SHELL
names() {
	fetch "$@"
	[ -z "$registry" ] || install "$@"
}

use_names="$use
except id=net @net **
net host www.world.test:80
net registries"
registry=$(npm config get registry 2>/dev/null | sed 's,^[a-z]*://,,; s,[:/].*,,')
printf '{"network":{"allowedDomains":["www.world.test","%s"],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["%s","%s"],"denyWrite":[]}}\n' \
	"$registry" "$project" "$home" >"$home/names.json"
have_names=
for tool in python3 openssl ip curl npm; do
	command -v "$tool" >/dev/null || have_names="no $tool"
done
[ -z "$have_names" ] || skip "hosts by name" "$have_names"

measure wardbox ./sh
disk wardbox "$box"
[ -n "$have_names" ] || {
	names bare "$sh"
	names wardbox ./sh
}
! have bwrap || {
	measure bwrap "$there" --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp \
		--bind "$project" "$project" --unshare-all --die-with-parent \
		--chdir "$project" "$sh"
	disk bwrap bwrap
}
! have firejail || {
	measure firejail "$there" --quiet --noprofile --net=none "$sh"
	disk firejail firejail /usr/lib/*/firejail
}
! have srt || {
	measure srt "$there" --settings "$home/srt.json" "$sh"
	disk srt "$npm/../@anthropic-ai" node bwrap socat rg
	[ -n "$have_names" ] || names srt "$there" --settings "$home/names.json" "$sh"
}
! have codex || {
	measure codex "$there" sandbox -P :workspace "$sh"
	disk codex "$npm/../@openai"
}
sed -n 's/^spawn_median: /failed /p' "$work/errors" 2>/dev/null || true
