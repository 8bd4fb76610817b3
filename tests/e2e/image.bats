#!/usr/bin/env bats
# The policy `image`: what RUN lines do to a Debian (an overlay copy of this one),
# and what stays out of their reach

load ../lib/wardbox

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	need test -f /etc/debian_version
	need unshare -m true
	PLACE=$(mktemp -d /tmp/image-XXXXXX)
	chmod 755 "$PLACE"
	mkdir "$PLACE/upper" "$PLACE/root"
	POLICY='include image'
}

teardown() {
	[ -z "${PLACE-}" ] || rm -rf "$PLACE"
}

# A package whose scripts do what those of many packages do.
package() {
	mkdir -p "$PLACE/pkg/DEBIAN" "$PLACE/pkg/usr/lib/day" "$PLACE/pkg/etc/day.d"
	printf 'Package: wardbox-day\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: x\n' \
		>"$PLACE/pkg/DEBIAN/control"
	echo 'x = 1' >"$PLACE/pkg/etc/day.conf"
	echo 'y = 2' >"$PLACE/pkg/etc/day.d/more.conf"
	cat >"$PLACE/pkg/DEBIAN/postinst" <<-'X'
		#!/bin/sh
		set -e
		useradd --system --no-create-home daysvc
		install -d -o daysvc -m 750 /var/lib/daysvc
		cp /bin/true /usr/lib/day/helper && chmod u+s /usr/lib/day/helper
		ldconfig
		echo set up
	X
	chmod 755 "$PLACE/pkg/DEBIAN/postinst"
	dpkg-deb --root-owner-group -b "$PLACE/pkg" "$PLACE/day.deb" >/dev/null
}

# COMMAND... in the copy, whose / is the working directory; $WITHOUT before it.
image() {
	export PLACE POLICY WITHOUT=${WITHOUT-}
	cp "$WARDBOX" "$HELPERS/docker" "$PLACE"
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -mpf bash -ec '
		at=$PLACE/root
		mount -t tmpfs room "$PLACE/upper" && mkdir "$PLACE/upper/"{u,w}
		mount -t overlay overlay -o "lowerdir=/,upperdir=$PLACE/upper/u,workdir=$PLACE/upper/w" "$at"
		mount -t proc proc "$at/proc"
		mount -t sysfs sys "$at/sys"
		mount --rbind /dev "$at/dev"
		for d in tmp run var/log; do mount -t tmpfs room "$at/$d"; done
		chmod 1777 "$at/tmp"
		mkdir -p "$at/etc/wardbox" "$at/opt/guard" "$at/run/wardbox" "$at/var/log/wardbox"
		cp "$PLACE/wardbox" "$PLACE/docker" "$at/opt/guard"
		! [ -e "$PLACE/day.deb" ] || cp "$PLACE/day.deb" "$at/opt"
		echo "$POLICY" >"$at/etc/wardbox/policy"
		cd "$at" && mkdir -p .old && pivot_root . .old && cd / && umount -l .old && rmdir .old
		export HOME=/root
		exec $WITHOUT "$@"' image "$@" 3>&-
}

@test "a package with its scripts, accounts, owners and files anywhere" {
	package
	run image /opt/guard/wardbox bash -c '
		set -e
		dpkg -i /opt/day.deb 2>&1 | tail -1
		grep -c ^daysvc: /etc/passwd
		stat -c "%U %a" /var/lib/daysvc; stat -c %a /usr/lib/day/helper
		useradd -m app && su app -c "id -un; echo x >~/mine" && stat -c %U /home/app/mine
		mkdir /data && echo a >/data/a && cat /data/a
		echo conf >/etc/new.conf && chown nobody /etc/new.conf && mv /etc/new.conf /etc/newer.conf
		stat -c %U /etc/newer.conf
		mkdir -p /opt/tool/bin ~/.cache && ln -s tool /opt/link && echo tmp >/tmp/t && cat /tmp/t
		rm -rf /usr/share/doc/wardbox-day ~/.cache
		dpkg -r wardbox-day >/dev/null 2>&1 && ls /usr/lib/day 2>/dev/null | wc -l
		cat <(echo a pipe)'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = $'set up\n1\ndaysvc 750\n4755\napp\napp\na\nnobody\ntmp\n1\na pipe' ]
}

@test "what RUN lines do beside it: searches that remove, globs, owners, links, archives, caches" {
	# shellcheck disable=SC2016 # expanded by the inner shell
	run image /opt/guard/wardbox sh -c 'set -eu; \
		groupadd -r imgapp && useradd -r -g imgapp -d /srv/imgapp -m imgapp; \
		mkdir -p /var/lib/apt/lists/x /usr/src/day/t /usr/local/lib/day/test /app; \
		touch /usr/src/day/t/a /usr/local/lib/day/test/b /usr/local/lib/day/c.pyc /app/x.o; \
		chown -R imgapp:imgapp /srv/imgapp; chmod -R a+rX /usr/local/lib/day; \
		find /usr/local/lib -depth \( -type d -a -name test -o -name "*.pyc" \) -exec rm -rf "{}" +; \
		find /usr/local/lib/day -name "*.pyc" -delete; ls -A /usr/local/lib/day; \
		rm -rf /var/lib/apt/lists/* /app/*.o; cd /usr/src/day && rm -rf *; ls -A /usr/src/day /app; \
		mkdir -p /tmp/t/bin && echo "echo tool" >/tmp/t/bin/imagetool && chmod +x /tmp/t/bin/imagetool; \
		tar -C /tmp/t -czf /tmp/t.tgz bin && tar -xzf /tmp/t.tgz -C /usr/local && imagetool; \
		ln -sf /usr/bin/true /usr/local/bin/imagetrue && imagetrue; \
		update-alternatives --quiet --install /usr/bin/imagealt imagealt /usr/bin/true 10 && imagealt; \
		mkdir -p /opt/lib && echo /opt/lib >/etc/ld.so.conf.d/day.conf && ldconfig; \
		printf "all:\n\t@echo made\n" >/app/Makefile && cd /app && make -s; \
		rm -rf "$(mktemp -d)"; echo done'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = $'/app:\n\n/usr/src/day:\ntool\nmade\ndone' ]
	for line in 'rm -rf /' 'rm -rf /usr' 'rm -rf /etc/*' 'cd /var/lib && rm -rf *' 'rm -r ~'; do
		run image /opt/guard/wardbox sh -c "$line; ls /usr/bin | head -1"
		echo "$output"
		[ "$status" -eq 126 ]
		[[ $output == *"(rule whole, system policy)"* ]]
	done
}

@test "packages of npm and pip from files, for the whole image" {
	local say="import setuptools; setuptools.setup(name='imagepy', version='1', py_modules=['imagepy'])"
	if ! command -v npm >/dev/null; then skip "no npm"; fi
	need /usr/bin/python3 -c 'import setuptools, pip'
	run image /opt/guard/wardbox sh -c 'mkdir -p /src/n /src/p
		echo "{\"name\":\"imagejs\",\"version\":\"1.0.0\",\"bin\":\"cli.js\"}" >/src/n/package.json
		printf "#!/usr/bin/env node\nconsole.log(1 + 1)\n" >/src/n/cli.js
		npm install -g --no-fund --no-audit /src/n >/dev/null && imagejs
		echo "x = 3" >/src/p/imagepy.py; echo "'"$say"'" >/src/p/setup.py; cd /src/p
		/usr/bin/python3 -m pip install -q --no-build-isolation --no-index --no-deps \
			--root-user-action=ignore --break-system-packages . &&
			cd / && /usr/bin/python3 -c "import imagepy; print(imagepy.x)"'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = $'2\n3' ]
}

@test "the guard's own files, the machine's devices and its kernel are not the image's" {
	run image /opt/guard/wardbox bash -c '
		r=rm
		for f in /etc/wardbox/policy /opt/guard/wardbox /var/log/wardbox/0/* /run/wardbox/0/*; do
			{ $r -rf $f; mv $f /x; ln $f /y; chmod 777 $f; chown nobody $f; echo z >>$f; } 2>/dev/null &&
				echo "changed: $f"
		done
		mv /etc/wardbox /etc/w 2>/dev/null && echo moved
		mv /opt/guard /opt/g 2>/dev/null && echo moved
		for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/power/state /proc/self/oom_score_adj; do
			(echo x >$f) 2>/dev/null && echo "written: $f"
		done
		for f in /dev/*; do
			case ${f##*/} in null|zero|full|random|urandom|tty|ptmx) continue ;; esac
			[ ! -L "$f" ] || continue
			[ -b "$f" ] || [ -c "$f" ] || continue
			(: <"$f") 2>/dev/null && echo "opened: $f"
		done
		cp /usr/bin/mknod /opt/make && /opt/make /tmp/node b 8 0 2>/dev/null && ls /tmp/node
		touch /etc/beside && echo works; head -c 1 /dev/zero | wc -c'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = $'works\n1' ]
}

@test "where no mount namespace can be had it is refused by name, or relaxed by name" {
	WITHOUT=/opt/guard/docker
	run image /opt/guard/wardbox sh -c 'touch /etc/x'
	echo "$output"
	[ "$status" -eq 125 ]
	[[ $output == *"needs a mount namespace"*"relax mount"* ]]
	POLICY=$'include image\nrelax mount netns'
	run image /opt/guard/wardbox sh -c 'mkdir /data; touch /etc/x /data/y; ls /etc/x /data/y; chmod 777 /etc/wardbox/policy 2>/dev/null || echo held'
	echo "$output"
	[[ $output == *$'/data/y\n/etc/x'*held ]]
}

@test "who is not root has a project of their own" {
	run image setpriv --reuid 1000 --regid 1000 --clear-groups /opt/guard/wardbox sh -c \
		'touch /etc/x || echo no; echo a >/tmp/a && cat /tmp/a'
	echo "$output"
	[[ $output == *no$'\n'a ]]
}
