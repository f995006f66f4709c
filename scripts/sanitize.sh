#!/usr/bin/env bash
# Builds the tests of stores, connections, discovery and nodes with a sanitizer, in a folder of its own below .build, and runs them.
#   usage: scripts/sanitize.sh thread|address
# Fails on any report. Histories and other long computations, which have one thread, are left out, and so are several hosts.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:-}
case $kind in
    thread) export TSAN_OPTIONS="halt_on_error=0 exitcode=66 ${TSAN_OPTIONS:-}" ;;
    # A test ends with what its daemons and caches still hold.
    address) export ASAN_OPTIONS="detect_leaks=0 ${ASAN_OPTIONS:-}" ;;
    *) printf 'usage: scripts/sanitize.sh thread|address\n' >&2; exit 64 ;;
esac
swift=${SWIFT:-swift}
export KITH_SANITIZE=$kind KITH_WERROR=1
export KITH_TESTS='KithStoreTests KithTransportTests KithDiscoveryTests KithTests'
flags=(--sanitize="$kind" --scratch-path ".build/sanitize-$kind")
log=$(mktemp)
trap 'rm -f "$log"' EXIT

"$swift" build --build-tests "${flags[@]}"
status=0
"$swift" test --skip-build --disable-xctest "${flags[@]}" \
    --skip 'RealMachines|PairedMachines|HouseholdMachines|History|MergeModel|DifferentialSQL|ReferenceArrival|KilledProcess|ReadOnlyCopy' \
    2>&1 | tee "$log" || status=$?
if grep -aE 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer' "$log" >/dev/null; then
    printf '\nsanitize: %s reports of the %s sanitizer, above\n' \
        "$(grep -acE 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer' "$log")" "$kind" >&2
    exit 1
fi
exit "$status"
