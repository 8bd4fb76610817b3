#!/bin/sh
# size.sh - bytes: the binary, its parts, and what does a part of the same
. tests/bench/lib.sh

kb() { awk -v n="$1" 'BEGIN { printf "%.0f\n", n / 1024 }'; }
bytes() { stat -L -c %s "$1"; }

row "size_binary $(kb "$(bytes "$box")") KB"

# What the sources of a folder compile to; an upper bound, because the linker
# drops some.
part() { # NAME OBJECT...
	name=$1
	shift
	row "size_$name $(size -t "$@" 2>/dev/null |
		awk '{ n = $1 + $2 } END { printf "%.0f\n", n / 1024 }') KB"
}
core=$O/obj/libcore
# The objects of the sources that are there: a build leaves old ones behind.
objects() { # FOLDER... ; FOLDER/GLOB
	for of; do
		case $of in */*) ;; *) of=$of/* ;; esac
		for source in libcore/$of.c; do
			echo "$O/obj/${source%.c}.o"
		done
	done
}
if have size && [ -d "$core" ]; then
	compiler='/policy_(build|compile|default|load|sign|test|text)'
	# shellcheck disable=SC2046 # lists
	{
		part shell_and_engine $(objects shell policy | grep -vE "$compiler")
		part policy_compiler $(objects policy | grep -E "$compiler")
		part sandbox $(objects box watch 'sys/limits*' sys/lean 'sys/probe*')
		part audit $(objects log redact base/cbor base/crc32c sys/sha256_hw)
	}
fi
# What hashing, signing, checksums and CBOR add: the bytes that are linked.
if [ -f "$O/wardbox.map" ]; then
	n=0
	for hex in $(awk '/^Linker script and memory map/ { on = 1 }
		!on { next }
		/^ \.[a-z]/ && NF == 1 { name = $1; getline; $0 = name " " $0 }
		$1 ~ /^\.(text|rodata|data|bss)/ && $3 ~ /^0x/ &&
			$4 ~ /(bearssl|tinycbor)\.a|[(\/](cbor|keys|crc32c|sha256_hw)\.o/ {
			print $3
		}' "$O/wardbox.map"); do
		n=$((n + hex))
	done
	row "size_crypto $(kb $n) KB"
fi
for peer in busybox dash bash bwrap firejail sudo; do
	! have $peer || row "size_peer_$peer $(kb "$(bytes "$there")") KB"
done
