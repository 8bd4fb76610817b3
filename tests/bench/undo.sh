# undo.sh - commands with a journal of what they change, beside those without
# shellcheck shell=sh
. tests/bench/lib.sh

turns_of=${RUNS:-3}
[ "$turns_of" -le 9 ] || turns_of=9
mount_at=/mnt
if ! unshare -m mount -t tmpfs none "$mount_at" 2>/dev/null; then
	skip "undo" "needs a mount namespace, for a policy and a store of its own"
	exit 0
fi
cat >"$work/inside" <<'E2'
set -eu
box=$1 turns=$2 work=$3
mount -t tmpfs none /mnt
mount -t tmpfs none /run/wardbox 2>/dev/null || mount -t tmpfs none /run
# The store is beside the project then, as it is on most machines.
mkdir /mnt/etc /mnt/etc-work
mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/etc,workdir=/mnt/etc-work /etc
mount -t tmpfs -o ro none /var/log
export HOME=/mnt/home
mkdir -p /mnt/proj/.git "$HOME" /etc/wardbox
cd /mnt/proj
policy() { printf 'include default\nuse FULL-AUTO\nprofile FULL-AUTO undo=%s unknown=allow\nlimit FULL-AUTO cpu=600s wall=600s procs=100 mem=off files=off\n' "$1" >/etc/wardbox/policy; }
us() { # NAME COMMAND...: one time, to be sorted
	name=$1
	shift
	a=$(date +%s%N)
	"$@" >/dev/null 2>&1
	b=$(date +%s%N)
	echo "$(((b - a) / 1000))" >>"$work/$name"
}
mkdir src big
for i in $(seq 200); do echo "int f$i(int x) { return x + $i; }" >src/f$i.c; done
printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\n%%.o: %%.c\n\tcc -c -o $@ $<\n' >src/Makefile
for d in $(seq 20); do
	mkdir big/$d
	for i in $(seq 1000); do echo "$d $i" >big/$d/$i; done
done
# A package of 6,000 files that needs no registry.
mkdir -p pkg/package app/.git
for d in $(seq 60); do
	mkdir pkg/package/$d
	for i in $(seq 100); do echo "$d $i" >pkg/package/$d/$i.js; done
done
echo '{"name":"many","version":"1.0.0"}' >pkg/package/package.json
tar -C pkg -czf app/many.tgz package
echo '{"name":"app","version":"1.0.0","dependencies":{"many":"file:many.tgz"}}' >app/package.json
rm -rf pkg
policy on
"$box" sh -c :
for _ in $(seq "$turns"); do
	for how in off on; do
		policy $how
		"$box" sh -c true
		us undo_nothing_$how "$box" sh -c 'ls >/dev/null'
		rm -f src/*.o
		us undo_make_$how "$box" sh -c 'make -s -j2 -C src'
		[ ! -e /usr/bin/npm ] || (
			cd app
			rm -rf node_modules package-lock.json
			us undo_npm_$how "$box" sh -c 'npm install --offline --no-audit --no-fund'
		)
	done
	cp -a big gone
	us undo_rm_bare rm -rf gone
	us undo_copy cp -a big gone
	us undo_rm "$box" sh -c 'rm -rf gone'
	us undo_back "$box" undo
	rm -rf gone
	"$box" undo prune >/dev/null
done
E2
unshare -m sh "$work/inside" "$box" "$turns_of" "$work" 2>"$work/errors" || {
	echo "failed undo: $(tail -n 1 "$work/errors")"
	exit 0
}
for name in undo_nothing_off undo_nothing_on undo_make_off undo_make_on \
	undo_npm_off undo_npm_on undo_rm_bare undo_copy undo_rm undo_back; do
	[ -e "$work/$name" ] || continue
	row "$name $(sort -n "$work/$name" | sed -n "$((turns_of / 2 + 1))p") us"
done
more undo_adds undo_nothing_on undo_nothing_off
ratio undo_make undo_make_on undo_make_off
ratio undo_npm undo_npm_on undo_npm_off
ratio undo_rm_over_bare undo_rm undo_rm_bare
ratio undo_back_over_copy undo_back undo_copy
