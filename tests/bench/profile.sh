#!/bin/sh
# profile.sh - what a login pays for profile, and what an installer pays
. tests/bench/lib.sh

runs=${RUNS:-100}
export HOME="$work" SHELL=/bin/bash
unset ENV ZDOTDIR XDG_CONFIG_HOME SUDO_UID PKEXEC_UID DOAS_USER

cat tests/data/profile/rc/debian.bashrc >"$work/.bashrc"
cat tests/data/profile/rc/debian.profile >"$work/.profile"
"$box" profile add -q -y /opt/x/bin 2>/dev/null
turns "$runs" profile_floor "$lib/bare" :: \
	profile_floor_binary "$box" --version :: \
	profile_add_unchanged "$box" profile add -q /opt/x/bin :: \
	profile_print "$box" profile print /opt/x/bin :: \
	profile_print_blocks "$box" profile print :: \
	profile_sandbox "$box" profile sandbox
turns 20 profile_add_and_remove /bin/sh -c \
	"\"$box\" profile add -q -y /opt/y 2>/dev/null && \"$box\" profile remove -q -y /opt/y"
