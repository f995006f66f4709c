#!/usr/bin/env bash
# Shows that what scripts/unicode.py leaves of the Unicode data is enough: a program that asks Foundation all that Kith asks it says the
# same with the whole data and with what is left, in several languages and time zones.
#   usage: scripts/unicode-test.sh
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

resources=$("$swift" -print-target-info | sed -nE 's/^ *"runtimeResourcePath": "(.*)".*/\1/p')
cut=$(scripts/unicode.py "${resources}_static/linux/lib_FoundationICU.a" "$folder/unicode.o")
mapfile -t linker <<<"$cut"
"${swift}c" -static-stdlib -swift-version 6 -O -c -o "$folder/probe.o" Tests/UnicodeData/Probe.swift
build() { "${swift}c" -static-stdlib -use-ld=lld -Xlinker --gc-sections -o "$folder/$1" "${@:2}" "$folder/probe.o" 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }; }
build whole
# shellcheck disable=SC2046
build cut $(printf -- '-Xlinker %s ' "${linker[@]}")

for here in "de_DE.UTF-8 Europe/Berlin" "tr_TR.UTF-8 Asia/Istanbul" "C UTC"; do
    read -r language zone <<<"$here"
    for program in whole cut; do LANG=$language LC_ALL=$language TZ=$zone "$folder/$program" >"$folder/$program.txt"; done
    [ "$(wc -l <"$folder/whole.txt")" -gt 25 ] || { echo "unicode-test: the program says too little" >&2; exit 1; }
    diff "$folder/whole.txt" "$folder/cut.txt" || { echo "unicode-test: with LANG=$language, what is left is not enough" >&2; exit 1; }
done
printf 'unicode: %s of %s bytes say the same\n' "$(stat -c %s "$folder/cut")" "$(stat -c %s "$folder/whole")"
