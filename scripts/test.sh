#!/usr/bin/env bash
# Runs `swift test` with the arguments given. Where the output is kept and not watched, what failed is said once more at its end.
set -euo pipefail
swift=${SWIFT:-swift}
[ ! -t 1 ] || exec "$swift" test "$@"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if "$swift" test "$@" 2>&1 | tee "$log"; then exit; fi
printf '\nWhat failed:\n'
grep -a '✘' "$log" || tail -n 20 "$log"
exit 1
