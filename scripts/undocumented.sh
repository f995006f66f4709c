#!/usr/bin/env bash
# Counts the public declarations of the products that have no documentation, and fails when there are more than there were.
#   usage: scripts/undocumented.sh [--list]
# Members that another declaration explains need none of their own: initializers, and what a protocol of the standard library asks for.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly modules=(Kith KithStore KithSQLite KithLedger KithTexts KithMerge KithText KithTesting KithNotes)
# May only become less: whoever documents some takes the new number.
readonly undocumented_max=108
readonly explained="'(init|description|debugDescription|customMirror|hash\(into:\)|rawValue|[<=]=?\(.*\)|startIndex|endIndex|index\(after:\)|subscript|next\(.*\)|makeIterator\(\)|makeAsyncIterator\(\)|Iterator|Element|unownedExecutor|encode\(to:\)|id|errorDescription) ?'"

rules=$(mktemp)
trap 'rm -f "$rules"' EXIT
printf '%s\n' '{"version": 1, "rules": {"AllPublicDeclarationsHaveDocumentation": true}}' >"$rules"
found=$("${SWIFT:-swift}" format lint --parallel --recursive --configuration "$rules" "${modules[@]/#/Sources/}" 2>&1 |
    grep -F '[AllPublicDeclarationsHaveDocumentation]' | grep -vE "$explained" | sed -E 's/ (error|warning): .* for/ no documentation of/' | sort || true)
count=$(grep -c . <<<"$found" || true)
printf 'undocumented: %d public declarations of the products have no documentation\n' "$count"
[ "${1:-}" != --list ] || printf '%s\n' "$found"
[ "$count" -le "$undocumented_max" ] || {
    printf '%s\nundocumented: only %d were allowed\n' "$found" "$undocumented_max" >&2
    exit 1
}
