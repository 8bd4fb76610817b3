# roots.bash - small roots to install into: load ../lib/roots
# shellcheck shell=bash

: "${BUSYBOX=$(command -v busybox || true)}"

# A root in the style of a busybox image: /bin/sh is a link, /bin/ash another
# name of the same file.
root_busybox() { # DIR
	mkdir -p "$1/bin" "$1/etc" "$1/tmp" "$1/proc" "$1/dev"
	cp "$BUSYBOX" "$1/bin/busybox"
	ln -s /bin/busybox "$1/bin/sh"
	ln "$1/bin/busybox" "$1/bin/ash"
	age "$1"
}

# Debian's style: /bin is a link to usr/bin, sh one to dash.
root_merged() { # DIR
	mkdir -p "$1/usr/bin" "$1/usr/lib" "$1/etc" "$1/tmp" "$1/proc" "$1/dev"
	ln -s usr/bin "$1/bin"
	ln -s usr/lib "$1/lib"
	ln -s usr/lib "$1/lib64"
	local program library
	for program in dash bash true; do
		cp "$(type -P $program)" "$1/usr/bin/"
		for library in $(ldd "$(type -P $program)" |
			grep -o '/[^ ]*\.so[^ ]*'); do
			mkdir -p "$1$(dirname "$library")"
			cp -n "$library" "$1$library"
		done
	done
	ln -s dash "$1/usr/bin/sh"
	age "$1"
}

# Some time ago, with fractions, so that a changed mtime shows.
age() { # DIR
	find "$1" -depth -exec touch -h -d '2020-02-02 02:02:02.123456789' {} +
}

# Everything about a tree that an undo must bring back.
picture() { # DIR
	(cd "$1" && find . -printf '%p %y %m %U:%G %i %n %s %T@ %l\n' |
		sort && find . -type f -exec sha256sum {} + | sort -k2)
}

# The same without what a killed run may leave different in directories.
outline() { # DIR
	(cd "$1" && find . -type d -printf '%p %y %m\n' -o \
		-printf '%p %y %m %U:%G %T@ %l\n' | sort)
}
