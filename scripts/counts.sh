#!/usr/bin/env bash
# Counts the instructions of a few kernels with callgrind and compares them with the values in Tests/Kernels/counts.txt.
#   usage: scripts/counts.sh [--record | --built]
# Fails when a kernel takes over a tenth more than it did. --record writes the new values instead; --built takes the program that is there.
# The counts are the same from run to run of one build; another compiler, SQLite or processor gives others, so the values say
# what they were made with, and are only compared with their like.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly values=Tests/Kernels/counts.txt tolerance_percent=10

fail() { printf 'counts: %s\n' "$*" >&2; exit 1; }

if ! command -v valgrind >/dev/null; then
    printf 'counts: valgrind is not here (it is not made for %s %s): nothing is compared\n' "$(uname -s)" "$(uname -m)"
    exit 0
fi

# The build that `make test` makes anyway: GRDB and what Kith computes with are optimised.
build() {
    local log
    log=$(mktemp)
    scripts/build.sh --product kith-counts >"$log" 2>&1 ||
        { tail -n 30 "$log" >&2; rm -f "$log"; fail "the kernels do not build"; }
    rm -f "$log"
}

# What the counts depend on besides the code.
environment() {
    printf '%s, Swift %s, SQLite %s\n' "$(uname -m)" "$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9.]+).*/\1/p' | head -n 1)" \
        "$(dpkg-query -W -f '${Version}' libsqlite3-0 2>/dev/null || echo unknown)"
}

[ "${1:-}" = --built ] || build
built=$(scripts/build.sh --show-bin-path)/kith-counts
[ -x "$built" ] || fail "$built is not built; run: make counts"
folder=$(mktemp -d "${TMPDIR:-/tmp}/kith-counts.XXXXXX")
trap 'rm -rf "$folder"' EXIT
# Valgrind stumbles over Swift's debug information. It needs one name: of the function that does what is counted.
program=$folder/kith-counts
strip --keep-symbol=kith_counted -o "$program" "$built"
chmod +x "$program"

# All kernels in one process, because its start takes longer under callgrind than most of them. Each leaves a file of its own, kernel.1,
# kernel.2 and so on. Hashes start from the same seed in every run.
SWIFT_DETERMINISTIC_HASHING=1 valgrind --tool=callgrind --callgrind-out-file="$folder/kernel" \
    --toggle-collect=kith_counted --dump-after=kith_counted "$program" >"$folder/log" 2>&1 ||
    { tail -n 20 "$folder/log" >&2; fail "the kernels do not run; try: $built"; }
number=0
counts=$("$program" --list | while read -r kernel; do
    number=$((number + 1))
    count=$(sed -n 's/^totals: //p' "$folder/kernel.$number")
    [ "${count:-0}" -gt 0 ] || fail "the kernel $kernel was not counted"
    printf '%s %s\n' "$kernel" "$count"
done)

if [ "${1:-}" = --record ]; then
    { printf '# Instructions of each kernel, by `make counts RECORD=1`.\n# %s\n' "$(environment)"; printf '%s\n' "$counts"; } >"$values"
    cat "$values"
    exit 0
fi

[ -f "$values" ] || fail "there are no values to compare with. Record them with: make counts RECORD=1"
if [ "$(sed -n 's/^# //p' "$values" | tail -n 1)" != "$(environment)" ]; then
    printf 'counts: recorded with %s, but this is %s: shown, not judged\n' "$(sed -n 's/^# //p' "$values" | tail -n 1)" "$(environment)"
    printf '%s\n' "$counts"
    exit 0
fi

failed=
while read -r kernel count; do
    before=$(sed -n "s/^$kernel //p" "$values")
    [ -n "$before" ] || fail "$values has no value for $kernel. Record it with: make counts RECORD=1"
    percent=$(((count - before) * 100 / before))
    printf '%-8s %13d instructions, %+d %%\n' "$kernel" "$count" "$percent"
    [ "$percent" -lt "$tolerance_percent" ] || failed+=" $kernel"
done <<<"$counts"
[ -z "$failed" ] || fail "slower by $tolerance_percent % or more:$failed. Find out why (docs/performance.md says how); if it is meant to be, record the new values with 'make counts RECORD=1' and say so in the commit."
