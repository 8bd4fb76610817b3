#!/bin/sh
# peers.sh - what people use to hand a shell to an agent, beside wardbox
#
# Each tool runs the same lines with the grant that its users give it: all is read,
# the project is written, no network. PEERS=all takes codex and sandbox-runtime from
# npm, 410 MB in $O/peers.
. tests/bench/lib.sh

runs=${RUNS:-30}
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

measure wardbox ./sh
disk wardbox "$box"
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
}
! have codex || {
	measure codex "$there" sandbox -P :workspace "$sh"
	disk codex "$npm/../@openai"
}
sed -n 's/^spawn_median: /failed /p' "$work/errors" 2>/dev/null || true
