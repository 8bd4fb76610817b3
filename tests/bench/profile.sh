#!/bin/sh
# profile.sh - what a login pays for profile, and what an installer pays
#
# Prints "name value unit".
set -eu

O=$(cd "${O:-out}" && pwd)
lib=$O/test/lib
runs=${RUNS:-400}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" SHELL=/bin/bash
unset ENV ZDOTDIR XDG_CONFIG_HOME SUDO_UID PKEXEC_UID DOAS_USER

box=$O/wardbox
cat tests/data/profile/rc/debian.bashrc >"$work/.bashrc"
cat tests/data/profile/rc/debian.profile >"$work/.profile"
"$box" profile add -q -y /opt/x/bin 2>/dev/null
# shellcheck disable=SC2046 # a number per word
set -- $("$lib/spawn_median" "$runs" "$lib/bare" :: "$box" --version :: \
	"$box" profile add -q /opt/x/bin :: \
	"$box" profile print /opt/x/bin :: "$box" profile print :: \
	"$box" profile sandbox)
echo "profile_floor $1 us"
echo "profile_floor_binary $2 us"
echo "profile_add_unchanged $3 us"
echo "profile_print $4 us"
echo "profile_print_blocks $5 us"
echo "profile_sandbox $6 us"
# shellcheck disable=SC2046
set -- $("$lib/spawn_median" 20 /bin/sh -c \
	"\"$box\" profile add -q -y /opt/y 2>/dev/null && \"$box\" profile remove -q -y /opt/y" :: \
	/bin/sh -c ":")
echo "profile_add_and_remove $1 us"
