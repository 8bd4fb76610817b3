# sandbox.bash - what the sandbox tests load: load ../lib/sandbox
# shellcheck shell=bash

load ../lib/wardbox

# A place that both root and uid 1000 can reach, outside of the home of either.
place() {
	PLACE=$(mktemp -d /tmp/sandbox-test-XXXXXX)
	BIN=$PLACE/bin
	mkdir "$BIN"
	chmod 755 "$PLACE" "$BIN"
	cp "$WARDBOX" "$HELPERS/attack" "$HELPERS/docker" "$BIN"
	chmod 755 "$BIN"/*
	BACKGROUND=()
}

unplace() {
	local pid
	for pid in "${BACKGROUND[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$PLACE"
}

# each_user BODY: runs it as root and as uid 1000 (or as who we are), each with a
# workspace $W, and a directory $OUT with the file "secret" that is their own, so
# that nothing but the sandbox stands between.
each_user() {
	local who
	if [ "$(id -u)" != 0 ]; then
		AS=()
		one_user me "$@"
		return
	fi
	for who in root user; do
		AS=()
		[ $who = root ] ||
			AS=(setpriv --reuid 1000 --regid 1000 --clear-groups)
		one_user $who "$@"
	done
}

one_user() {
	local who=$1
	shift
	W=$PLACE/$who/w OUT=$PLACE/$who/out
	mkdir -p "$W" "$OUT"
	printf 'secret\n' >"$OUT/secret"
	printf 'mine\n' >"$W/mine"
	chmod 644 "$OUT/secret" "$W/mine"
	[ ${#AS[@]} = 0 ] || chown -R 1000:1000 "$PLACE/$who"
	echo "# as $who"
	cd "$W" || return
	"$@"
	cd /
}

# The sandbox of most tests: system programs, and the workspace to write. The
# word attack_ stands for the helper.
D() {
	local args=() a
	for a; do
		[ "$a" != attack_ ] || a=$BIN/attack
		args+=("$a")
	done
	"${AS[@]}" "$BIN/wardbox" drop --ignore-missing \
		--rox=/usr,/bin,/lib,/lib64,"$BIN" --rw="$W" "${args[@]}"
}

# Nothing but one's own user between the attack and the world.
bare() {
	"${AS[@]}" "$@"
}

# What was asked for needs a newer kernel, which is named in the output.
too_old() {
	case $out in
	*"need Landlock ABI"* | *"needs Landlock ABI"*) lacking "${out%% (this*}" ;;
	esac
}

works() {
	local code=0
	out=$("$@" 2>&1) || code=$?
	[ "$code" = 0 ] && return
	too_old || return
	echo "should work, gave $code: $*"
	echo "$out"
	return 1
}

# stops TEXT COMMAND...: it fails, and says so.
stops() {
	local text=$1 code=0
	shift
	out=$("$@" 2>&1) || code=$?
	if [ "$code" = 0 ]; then
		echo "should fail: $*"
		echo "$out"
		return 1
	fi
	case $out in
	*"$text"*) return ;;
	esac
	too_old || return
	echo "should say '$text', gave $code: $*"
	echo "$out"
	return 1
}

# gives CODE COMMAND...
gives() {
	local want=$1 code=0
	shift
	out=$("$@" 2>&1) || code=$?
	[ "$code" = "$want" ] && return
	echo "should give $want, gave $code: $*"
	echo "$out"
	return 1
}

# background VARIABLE COMMAND...: its first line, when it is up.
background() {
	local into=$1 fifo=$PLACE/fifo line
	shift
	rm -f "$fifo"
	mkfifo "$fifo"
	"$@" >"$fifo" 2>&1 3>&- &
	BACKGROUND+=($!)
	read -r line <"$fifo"
	printf -v "$into" %s "$line"
	LAST=$!
}
