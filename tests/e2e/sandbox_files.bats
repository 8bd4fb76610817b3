#!/usr/bin/env bats
# What a sandbox keeps from files, and what it leaves.

load ../lib/sandbox

setup() { place; }
teardown() { unplace; }

@test "read, write and create stay within the grants" {
	body() {
		works D -- cat mine
		works D -- sh -c 'echo x >new && mkdir d && mv new d/old && rm -r d'
		stops EACCES D -- attack_ read "$OUT/secret"
		stops EACCES D -- attack_ write "$OUT/secret"
		stops EACCES D -- attack_ creat "$OUT/new"
		stops EACCES D -- attack_ truncate "$OUT/secret"
		stops EACCES D -- attack_ collapse "$OUT/secret"
		stops EACCES D -- attack_ creat ../new
		stops EACCES D -- attack_ at "$W" ../out/new
		works bare "$BIN/attack" read "$OUT/secret"
		works bare "$BIN/attack" truncate "$OUT/secret"
	}
	each_user body
}

@test "links lead nowhere" {
	body() {
		bare ln -sf "$OUT/secret" "$W/link"
		stops EACCES D -- attack_ read link
		stops EACCES D -- attack_ write link
		# in from outside, and out
		stops EXDEV D -- attack_ sys linkat -100 "=$OUT/secret" -100 =hard 0
		stops EACCES D -- attack_ sys renameat2 -100 =mine -100 "=$OUT/mine" 0
		works D -- sh -c 'mkdir -p a b && echo >a/f && mv a/f b/f && ln b/f a/g'
	}
	each_user body
}

@test "no device nodes" {
	body() {
		stops E D -- attack_ sys mknodat -100 =node 0020666 259
		[ ! -e "$W/node" ]
		works D -- mkfifo pipe
	}
	each_user body
}

@test "devices are there: null, zero, urandom" {
	body() {
		works D -- sh -c 'echo x 2>/dev/null >/dev/null && head -c1 /dev/urandom >/dev/zero'
	}
	each_user body
}

@test "a device that is opened takes no commands when it is read-only" {
	body() {
		stops EACCES D --ro=/dev/ptmx -- attack_ ioctl-dev /dev/ptmx
		works D --rw=/dev/ptmx -- attack_ ioctl-dev /dev/ptmx
	}
	each_user body
}

@test "inherited descriptors are closed, kept ones stay" {
	body() {
		exec 9<"$OUT/secret"
		stops "" D -- sh -c 'cat <&9'
		works D --keep-fd=9 -- sh -c 'cat <&9'
		[ "$out" = secret ]
		exec 9<"$OUT/secret" 7<"$OUT/secret" 8<"$OUT/secret"
		works D --keep-fd=9,7 -- attack_ open-fds
		[ "$out" = "2 ok" ]
		# not to be opened anew with more rights
		stops EACCES D --keep-fd=9 --ro=/proc -- attack_ write /proc/self/fd/9
		exec 9<&- 7<&- 8<&-
	}
	each_user body
}

@test "read-only inside of writable holds, by a mount" {
	body() {
		need bare unshare -Urm true
		mkdir -p "$W/.git/hooks" "$W/deep/er/keep"
		[ ${#AS[@]} = 0 ] || chown -R 1000:1000 "$W"
		stops Read-only D --ro="$W/.git" -- sh -c 'echo x >.git/hooks/a'
		works D --ro="$W/.git" -- sh -c 'echo x >a; ls .git/hooks'
		# the directories on the way there cannot be put aside
		stops busy D --ro="$W/deep/er/keep" -- mv deep aside
		stops busy D --ro="$W/deep/er/keep" -- mv deep/er aside
		works D --ro="$W/deep/er/keep" -- touch deep/er/other
		# nor reached by the directory one stands in
		cd "$W/.git"
		stops Read-only D --ro="$W/.git" -- sh -c 'echo x >hooks/a'
		cd "$W"
		# writable again, further in
		works D --ro="$W/.git" --rw="$W/.git/hooks" -- sh -c 'echo x >.git/hooks/a'
		stops Read-only D --ro="$W/.git" --rw="$W/.git/hooks" -- touch .git/b
		# a link does not hide that one lies in the other
		bare ln -sfn "$W/.git" "$OUT/link"
		stops Read-only D --ro="$OUT/link" -- touch .git/b
	}
	each_user body
}

@test "the same without a mount namespace is refused, not forgotten" {
	docker_body() {
		mkdir -p "$W/.git"
		gives 125 bare "$BIN/docker" "$BIN/wardbox" drop --rox=/usr,/bin \
			--rw="$W" --ro="$W/.git" --ignore-missing -- true
		case $out in *namespace*) ;; *) echo "$out"; return 1 ;; esac
		works bare "$BIN/docker" "$BIN/wardbox" drop --rox=/usr,/bin,/lib,/lib64 \
			--rw="$W" --ro="$W/.git" --ignore-missing --best-effort=mount -- true
	}
	each_user docker_body
}

@test "hidden is hidden, and private is private" {
	body() {
		need bare unshare -Urm true
		mkdir -p "$W/keys" && echo k >"$W/keys/k" && echo e >"$W/.env"
		works D --hide="$W/keys" --hide="$W/.env" -- ls keys
		[ -z "$out" ]
		stops "ermission denied" D --hide="$W/.env" -- cat .env
		stops "" D --hide="$W/.env" -- sh -c 'echo x >.env'
		[ "$(cat "$W/.env")" = e ]
		works D --tmpfs="$W/keys" -- sh -c 'echo x >keys/new && cat keys/new'
		[ "$out" = x ]
		[ ! -e "$W/keys/new" ]
		gives 125 D --hide="$W/keys" --ro="$W/keys/k" -- true
		# nothing is left behind
		[ "$(cat "$W/keys/k")" = k ]
	}
	each_user body
}

@test "hidden is hidden, whatever else shows it" {
	body() {
		need bare unshare -Urm true
		mkdir -p "$W/shown" "$OUT/dir"
		echo k >"$W/shown/k"
		echo k >"$OUT/dir/k"
		[ ${#AS[@]} = 0 ] || chown -R 1000:1000 "$W" "$OUT"
		# a grant of the very path, before or after
		for grant in --ro --rw --rwx; do
			stops "No such file" D $grant="$OUT/dir" --hide="$OUT/dir" -- cat "$OUT/dir/k"
			stops "ermission denied" D --hide="$OUT/secret" $grant="$OUT/secret" -- cat "$OUT/secret"
			stops "" D --hide="$OUT/dir" $grant="$OUT/dir" -- sh -c "echo x >$OUT/dir/k"
		done
		[ "$(cat "$OUT/dir/k")" = k ]
		works D --ro="$OUT/dir" -- cat "$OUT/dir/k"
		# of a preset
		stops "ermission denied" D --preset=read-only --hide=/etc/passwd -- cat /etc/passwd
		works D --preset=read-only -- cat /etc/passwd
		# a device that every command has
		stops "ermission denied" D --hide=/dev/zero -- head -c1 /dev/zero
		works D -- head -c1 /dev/zero
		# no rules for files at all
		stops "ermission denied" D --unrestricted-filesystem --hide="$OUT/secret" -- cat "$OUT/secret"
		works D --unrestricted-filesystem -- cat "$OUT/secret"
		# an own place instead
		works D --rw="$OUT/dir" --tmpfs="$OUT/dir" -- sh -c "echo x >$OUT/dir/new && ls $OUT/dir"
		[ "$out" = new ]
		works D --tmpfs="$OUT/dir" -- sh -c "echo x >$OUT/dir/new && ls $OUT/dir"
		[ "$out" = new ]
		[ ! -e "$OUT/dir/new" ]
		# what takes no mount needs none
		works bare "$BIN/docker" "$BIN/wardbox" drop --ignore-missing --hide="$OUT/dir" \
			--rox=/usr,/bin,/lib,/lib64 -- true
		gives 125 bare "$BIN/docker" "$BIN/wardbox" drop --ignore-missing --hide="$OUT/dir" \
			--rox=/usr,/bin,/lib,/lib64,"$OUT/dir" -- true
		gives 125 bare "$BIN/docker" "$BIN/wardbox" drop --ignore-missing --tmpfs="$OUT/dir" \
			--rox=/usr,/bin,/lib,/lib64 -- true
	}
	each_user body
}

@test "hidden is hidden where another mount shows it, too" {
	need unshare -Urm true
	body() {
		mkdir -p "$PLACE/twin 1" "$PLACE/twin2" "$W/dir/sub"
		echo hidden >"$W/dir/sub/f"
		echo hidden >"$W/key"
		echo shown >"$W/dir/f"
		# twice: the whole place, and all that is around the hidden directory
		both() {
			"${AS[@]}" unshare -Urm --propagation private sh -c '
				mount --bind "$1" "$2" && mount --bind "$1/dir" "$3" &&
				shift 3 && exec "$@"' sh "$W" "$PLACE/twin 1" "$PLACE/twin2" \
				"$BIN/wardbox" drop --ignore-missing --rox=/usr,/bin,/lib,/lib64 \
				--rw="$W,$W/dir" "$@"
		}
		local hide=--hide=$W/key,$W/dir/sub
		works both -- cat "$PLACE/twin 1/key" "$PLACE/twin 1/dir/sub/f" "$PLACE/twin2/sub/f"
		stops "Permission denied" both "$hide" -- cat "$PLACE/twin 1/key"
		stops "No such file" both "$hide" -- cat "$PLACE/twin 1/dir/sub/f"
		stops "No such file" both "$hide" -- cat "$PLACE/twin2/sub/f"
		works both "$hide" -- cat "$PLACE/twin 1/dir/f" "$PLACE/twin2/f" "$PLACE/twin 1/mine"
		stops "No such file" both --tmpfs="$W/dir/sub" -- cat "$PLACE/twin2/sub/f"
		works both --tmpfs="$W/dir/sub" -- sh -c "echo x >$W/dir/sub/g"
		works both "$hide" --explain "$PLACE/twin 1/key"
		[[ $out == *hidden* ]]
	}
	each_user body
}

@test "metadata outside: with own mounts it is read-only" {
	body() {
		# Landlock has no such right: documented
		works D -- attack_ sys chmod -100 "=$OUT/secret" 0600
		need bare unshare -Urm true
		stops EROFS D --unshare-mount -- attack_ sys chmod -100 "=$OUT/secret" 0644
		stops EROFS D --unshare-mount -- attack_ utime "$OUT/secret"
		works D --unshare-mount -- attack_ sys chmod -100 =mine 0600
		works D --unshare-mount -- attack_ utime mine
	}
	each_user body
}

@test "other processes' memory, environment and root" {
	body() {
		SECRET_IN_ENV=hunter2 background up "${AS[@]}" sh -c 'echo up; exec sleep 60 >/dev/null 2>&1'
		works bare cat "/proc/$LAST/environ"
		stops EACCES D --ro=/proc -- attack_ read "/proc/$LAST/environ"
		stops E D --ro=/proc -- attack_ read "/proc/$LAST/mem"
		stops EACCES D --ro=/proc -- attack_ read "/proc/$LAST/root/etc/passwd"
		stops EPERM D -- attack_ vmread "$LAST"
		stops EPERM D -- attack_ vmwrite "$LAST"
		stops EPERM D -- attack_ sys ptrace 16 "$LAST" 0 0
		works D --ro=/proc -- cat /proc/self/status
		# with a pid namespace it is not even there
		need bare unshare -Urmpf true
		stops ENOENT D --ro=/proc --unshare-pid -- attack_ read "/proc/$LAST/environ"
		works D --ro=/proc --unshare-pid -- sh -c 'test $$ -lt 10 && cat /proc/self/stat'
		# the namespace's first process is the supervisor's, with rules for files or none
		for how in --ro=/proc "--unrestricted-filesystem --unrestricted-scoped"; do
			for a in "vmread 1" "vmwrite 1" "sys ptrace 16 1 0 0" "read /proc/1/mem" \
				"read /proc/1/environ" "read /proc/1/root/etc/hostname"; do
				# shellcheck disable=SC2086 # words
				stops E D $how --unshare-pid -- attack_ $a
			done
		done
	}
	each_user body
}

@test "/proc/self as a grant is refused: it is the wrapper" {
	body() {
		gives 125 D --ro=/proc/self -- true
		case $out in *"grant /proc"*) ;; *) echo "$out"; return 1 ;; esac
	}
	each_user body
}

@test "a missing path is an error, unless told otherwise" {
	gives 125 "$WARDBOX" drop --rox=/usr --ro=/no/such -- true
	case $out in *"/no/such"*"--ignore-missing"*) ;; *) echo "$out"; false ;; esac
	works "$WARDBOX" drop --ignore-missing --rox=/usr,/lib,/lib64,/bin --ro=/no/such -- true
}

@test "what is written is not started, what is started is not written" {
	body() {
		bare cp /bin/sh "$W/shell"
		stops "ermission denied" D -- "$W/shell" -c 'echo ESC'
		stops "ermission denied" D -- sh -c './shell -c "echo ESC"'
		stops "ermission denied" D -- sh -c "cat /bin/sh >$BIN/attack"
		stops EACCES D -- attack_ memfd /bin/sh -c 'echo ESC'
		stops EACCES D -- attack_ tmpfile /bin/sh -c 'echo ESC'
		stops EACCES D --ro=/proc -- attack_ tmpfile /bin/sh -c 'echo ESC'
		works D -- attack_ sys memfd_create =x 8
		# where files are written and started, memory adds nothing
		works D --rwx="$W" -- ./shell -c 'echo fine'
		works D --rwx="$W" -- attack_ memfd /bin/sh -c 'echo fine'
		works D --rwx="$W" --ro=/proc -- attack_ tmpfile /bin/sh -c 'echo fine'
	}
	each_user body
}

@test "static programs only: the loader, copied shells, scripts are out" {
	body() {
		S() {
			"${AS[@]}" "$BIN/wardbox" drop --ignore-missing \
				--ro=/usr,/bin,/lib,/lib64 --rox="$BIN/attack" \
				--rw="$W,$W/dir" "$@"
		}
		works S -- "$BIN/attack" sys getpid
		ld=$(echo /lib64/ld-linux-*.so.2 /lib/ld-linux-*.so.* | cut -d' ' -f1)
		gives 126 S -- "$ld" /bin/sh -c 'echo ESC'
		gives 126 S -- /bin/sh -c 'echo ESC'
		bare cp "$BIN/attack" "$W/copy"
		gives 126 S -- "$W/copy" sys getpid
	}
	each_user body
}

@test "what is running is not written, nor is the kernel told anything" {
	body() {
		stops E D --ro=/proc -- attack_ write /proc/self/exe
		for file in /proc/sys/kernel/core_pattern /proc/sysrq-trigger \
			/proc/self/oom_score_adj /proc/sys/vm/memfd_noexec; do
			[ ! -e $file ] || stops EACCES D --ro=/proc -- attack_ write $file
		done
		works D --ro=/proc -- cat /proc/sys/kernel/core_pattern
	}
	each_user body
}

@test "a directory's descriptor that is kept leads to no more than its path" {
	body() {
		exec 8<"$OUT"
		stops EACCES D --keep-fd=8 --ro=/proc -- attack_ read /proc/self/fd/8/secret
		stops "ermission denied" D --keep-fd=8 --ro=/proc -- sh -c 'cd /proc/self/fd/8 && cat secret'
		stops EACCES D --keep-fd=8 -- attack_ sys openat 8 =secret 0
		works D --keep-fd=8 --ro="$OUT" -- attack_ sys openat 8 =secret 0
		exec 8<&-
	}
	each_user body
}

@test "file capabilities give nothing" {
	[ "$(id -u)" = 0 ] || skip "needs root to give them"
	need setcap -h
	cp /bin/cat "$BIN/cap-cat"
	setcap cap_dac_override+ep "$BIN/cap-cat"
	body() {
		[ ${#AS[@]} != 0 ] || return 0
		echo roots >"$PLACE/roots"
		chmod 600 "$PLACE/roots"
		works bare "$BIN/cap-cat" "$PLACE/roots"
		stops "ermission denied" D --ro="$PLACE/roots" -- "$BIN/cap-cat" "$PLACE/roots"
	}
	each_user body
}

@test "set-user-id programs give nothing" {
	[ "$(id -u)" = 0 ] || skip "needs root to make one"
	cp /usr/bin/id "$BIN/suid-id"
	chmod 4755 "$BIN/suid-id"
	body() {
		if [ ${#AS[@]} != 0 ]; then
			works bare "$BIN/suid-id" -u
			[ "$out" = 0 ]
			works D -- "$BIN/suid-id" -u
			[ "$out" = 1000 ]
		fi
	}
	each_user body
}

@test "a grant on a link is one on what it leads to, when it starts" {
	body() {
		bare ln -sfn "$OUT" "$W/away"
		stops EACCES D -- attack_ read away/secret
		works D --ro="$W/away" -- attack_ read away/secret
		stops E D --ro="$W/away" -- attack_ creat away/new
	}
	each_user body
}

@test "a ruleset descriptor does not reach the command" {
	body() {
		works D -- attack_ open-fds
		[ "$out" = "0 ok" ]
		stops EBADF D -- attack_ sys add_rule 3 1 0 0
	}
	each_user body
}
