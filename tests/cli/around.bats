#!/usr/bin/env bats
# root .. : the directory around a repository, where it holds nothing else

load ../lib/wardbox

setup() {
	need unshare -m true
	export HOME=$BATS_TEST_TMPDIR/home GIT_CONFIG_NOSYSTEM=1
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	WS=$BATS_TEST_TMPDIR/ws
	mkdir -p "$HOME" "$WS/repo"
	cd "$WS/repo" || return
	git init -q . && git commit -q --allow-empty -m one
	git clone -q --bare . ../remote.git 2>/dev/null
	git remote add origin ../remote.git
	echo note >../note.txt
	POLICY='include agent'
}

g() { # LINE
	in_policy "$POLICY" "$WARDBOX" sh -c "$1"
}
beside() { # is what lies beside the repository written?
	run g 'echo x >../beside.txt'
	[ "$status" -eq 0 ] && rm "$WS/beside.txt"
}

@test "worktrees, local remotes, patches and clones beside the repository" {
	run g 'git worktree add -q ../fix -b fix && cd ../fix && git commit -q --allow-empty -m two &&
		git format-patch -q -1 --stdout >../two.patch && git bundle create -q ../all.bundle --all &&
		git push -q origin fix && git -C ../remote.git log --format=%s -1 fix && cat ../note.txt'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = $'two\nnote' ]
	[ -s "$WS/all.bundle" ]
	# from the worktree, by the next command
	cd "$WS/fix"
	run g 'git commit -q --allow-empty -m three && git -C ../repo log --format=%s -1 fix && echo y >../y'
	echo "$output"
	[ "$output" = three ]
	cd ../repo
	run g 'git worktree remove ../fix && ls ..'
	echo "$output"
	[[ $output != *fix* ]]
}

@test "what is somebody else's beside it makes it none" {
	beside
	# another repository, a directory, a name with a dot, a link, a second name, another owner
	mkdir -p "$WS/other/.git" && ! beside && rm -r "$WS/other"
	mkdir "$WS/docs" && ! beside && rmdir "$WS/docs"
	echo k >"$WS/.env" && ! beside && rm "$WS/.env"
	ln -s /etc "$WS/etc" && ! beside && rm "$WS/etc"
	echo s >"$HOME/secret" && ln "$HOME/secret" "$WS/second" && ! beside && rm "$WS/second"
	mkfifo "$WS/pipe" && ! beside && rm "$WS/pipe"
	if [ "$(id -u)" = 0 ]; then
		echo o >"$WS/others" && chown 1000 "$WS/others" && ! beside && rm "$WS/others"
	fi
	# a worktree of another repository, and one that says so falsely
	mkdir "$WS/fix"
	for to in "$BATS_TEST_TMPDIR/else/.git/worktrees/fix" "$WS/repo/../../else/.git/worktrees/x" \
		"$WS/nobody/.git/worktrees/fix" "$WS/remote.git/worktrees/fix"; do
		echo "gitdir: $to" >"$WS/fix/.git"
		! beside
	done
	echo "gitdir: $WS/repo/.git/worktrees/fix" >"$WS/fix/.git"
	beside
	rm -r "$WS/fix"
	# what everybody may write, and a home
	chmod o+w "$WS" && ! beside && chmod o-w "$WS"
	HOME=$WS
	! beside
}

@test "nothing else opens it: a policy without the word, the place around" {
	run g 'echo x >../../further.txt'
	[ ! -e "$BATS_TEST_TMPDIR/further.txt" ]
	POLICY='include contract'
	! beside
}

@test "hooks in it stay as they are" {
	run g 'for f in .git/hooks/pre-commit ../remote.git/hooks/post-receive; do echo x >$f && echo "wrote $f"; done; echo end'
	echo "$output"
	[[ $output == *end ]]
	[ ! -e .git/hooks/pre-commit ]
	[ ! -e ../remote.git/hooks/post-receive ]
	run g 'echo ok >../remote.git/description && cat ../remote.git/description'
	[ "$output" = ok ]
}
