#!/usr/bin/env bash
# Makes the documentation of what `import Kith` brings: a static site in FOLDER, by default .build/documentation. Warnings are errors.
#   usage: scripts/docs.sh [FOLDER]
# The tools come with Swift, so that no package is resolved for this. Any web server shows it: python3 -m http.server -d FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."

site=${1:-.build/documentation}
swift=${SWIFT:-swift}
# The modules of which `import Kith` brings names.
readonly brought=KithStore,KithSnapshot,KithSQLite,KithLedger,KithMerge,KithTexts,KithSync,KithCausality,KithTrust

"$swift" build --target Kith
bin=$("$swift" build --show-bin-path)
symbols=$(mktemp -d)
trap 'rm -rf "$symbols"' EXIT
maps=()
while IFS= read -r map; do
    maps+=(-Xcc "-fmodule-map-file=$map")
done < <(find "$bin/" -maxdepth 2 -name module.modulemap; find Sources .build/checkouts -name module.modulemap -path '*Sources*' -not -path '*/Tests/*')
"$swift" symbolgraph-extract -module-name Kith -I "$bin/Modules" "${maps[@]}" -minimum-access-level public \
    -skip-inherited-docs -skip-synthesized-members -emit-extension-block-symbols -experimental-allowed-reexported-modules="$brought" \
    -target "$("$swift" -print-target-info | sed -n 's/.*"triple": "\(.*\)",/\1/p' | head -1)" -output-dir "$symbols"
docc=$(command -v docc || echo "$(dirname "$(command -v "$swift")")/docc")
rm -rf "$site"
"$docc" convert Sources/Kith/Kith.docc --fallback-display-name Kith --fallback-bundle-identifier org.kith.Kith \
    --additional-symbol-graph-dir "$symbols" --output-dir "$site" --transform-for-static-hosting --warnings-as-errors
printf 'The documentation is in %s: open %s/documentation/kith in a web server.\n' "$site" "$site"
