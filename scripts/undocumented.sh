#!/usr/bin/env bash
# Fails if a public declaration that an app can see has no documentation, and lists those.
#   usage: scripts/undocumented.sh
# Members that another declaration explains need none of their own: initializers, and what a protocol of the standard library asks for.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly modules=(Kith KithStore KithSnapshot KithSQLite KithLedger KithTexts KithMerge KithText KithTesting KithNotes)
readonly explained="'(init|description|debugDescription|customMirror|hash\(into:\)|rawValue|[<=]=?\(.*\)|startIndex|endIndex|index\(after:\)|subscript|next\(.*\)|makeIterator\(\)|makeAsyncIterator\(\)|Iterator|Element|unownedExecutor|encode\(to:\)|id|errorDescription) ?'"

rules=$(mktemp)
trap 'rm -f "$rules"' EXIT
printf '%s\n' '{"version": 1, "rules": {"AllPublicDeclarationsHaveDocumentation": true}}' >"$rules"
found=$("${SWIFT:-swift}" format lint --parallel --recursive --configuration "$rules" "${modules[@]/#/Sources/}" 2>&1 |
    grep -F '[AllPublicDeclarationsHaveDocumentation]' | grep -vE "$explained" | sed -E 's/ (error|warning): .* for/ no documentation of/' | sort || true)
[ -n "$found" ] || exit 0
printf '%s\nundocumented: these public declarations have no documentation\n' "$found" >&2
exit 1
