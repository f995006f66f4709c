#!/usr/bin/env bash
# Counts the instructions of a few kernels with callgrind and compares them with the values in Tests/Kernels/counts.txt.
#   usage: scripts/counts.sh [--record]
# Fails when a kernel takes over a tenth more than it did. --record writes the new values instead.
# The counts are the same from run to run of one build; another compiler, SQLite or processor gives others, so the values say
# what they were made with, and are only compared with their like.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly values=Tests/Kernels/counts.txt tolerance_percent=10
readonly kernels=(open capture sets edit delta apply codec walker)

fail() { printf 'counts: %s\n' "$*" >&2; exit 1; }

if ! command -v valgrind >/dev/null; then
    printf 'counts: valgrind is not here (it is not made for %s %s): nothing is compared\n' "$(uname -s)" "$(uname -m)"
    exit 0
fi

# The build that `make test` makes anyway: GRDB as in debug, Kith's own code optimised.
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

# Instructions of the program for a kernel and a number of rounds. Hashes start from the same seed in every run.
instructions() {
    SWIFT_DETERMINISTIC_HASHING=1 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 >/dev/null |
        sed -nE 's/.*Collected : ([0-9]+).*/\1/p'
}

build
# This valgrind stumbles over Swift's debug information.
program=$(mktemp)
trap 'rm -f "$program" "$program".*' EXIT
strip -o "$program" "$(scripts/build.sh --show-bin-path)/kith-counts"
chmod +x "$program"

for kernel in "${kernels[@]}"; do
    for rounds in 0 1; do instructions "$kernel" "$rounds" >"$program.$kernel.$rounds" & done
    wait
done
counts=$(for kernel in "${kernels[@]}"; do
    with=$(<"$program.$kernel.1") without=$(<"$program.$kernel.0")
    [ -n "$with" ] && [ -n "$without" ] || fail "the kernel $kernel did not run; try: valgrind --tool=callgrind $program $kernel 1"
    printf '%s %s\n' "$kernel" $((with - without))
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
