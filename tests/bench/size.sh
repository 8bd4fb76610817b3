#!/bin/sh
# size.sh - bytes: the binary, its parts, and what does a part of the same
. tests/bench/lib.sh

kb() { awk -v n="$1" 'BEGIN { printf "%.0f\n", n / 1024 }'; }
bytes() { stat -L -c %s "$1"; }

row "size_binary $(kb "$(bytes "$box")") KB"

# What the sources of a part compile to; an upper bound, the linker drops some.
part() { # NAME GLOB...
	name=$1
	shift
	# shellcheck disable=SC2086 # globs
	row "size_$name $(cd "$O/obj/libcore" && size -t "$@" 2>/dev/null |
		awk '{ n = $1 + $2 } END { printf "%.0f\n", n / 1024 }') KB"
}
if have size && [ -d "$O/obj/libcore" ]; then
	(cd "$O/obj/libcore" && ls) >"$work/objects"
	parts() { # NAME PATTERN [EXCEPT]
		# shellcheck disable=SC2046 # a list
		(cd "$O/obj/libcore" && part "$1" \
			$(grep -E "^($2)[^/]*\.o$" "$work/objects" |
				grep -vE "^(${3-/})"))
	}
	compiler='policy_(build|compile|default|load|same|sign|test|text)'
	parts shell_and_engine 'shell_|policy' "$compiler"
	parts policy_compiler "$compiler"
	parts sandbox 'sandbox|landlock|seccomp|namespaces|limits|execwatch|lean|probe'
	parts audit 'audit_|redact|cbor|keys|sha256|crc32c'
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
