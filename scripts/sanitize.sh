#!/usr/bin/env bash
# Builds the tests of nodes, connections, discovery and the store with ThreadSanitizer, in a folder of its own below .build, and runs
# those that use several threads. Fails on any report of a data race.
#   usage: scripts/sanitize.sh
# Tests run one after the other, because several have a time limit and all are many times slower so; those that need several hosts are
# left out.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
export KITH_SANITIZE=thread KITH_WERROR=1
export KITH_TESTS='KithStoreTests KithTransportTests KithDiscoveryTests KithTests'
export TSAN_OPTIONS="halt_on_error=0 exitcode=66 suppressions=$PWD/scripts/thread-sanitizer.txt ${TSAN_OPTIONS:-}"
flags=(--sanitize=thread --scratch-path .build/sanitize)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

"$swift" build --build-tests "${flags[@]}"
program=$("$swift" build --show-bin-path "${flags[@]}")/kithPackageTests.xctest
status=0
"$program" --testing-library swift-testing --no-parallel --skip Machines \
    --filter '^Kith(Transport|Discovery)?Tests\.' \
    --filter '^KithStoreTests\.(CommitSignal|OpenAccess|TriggerObservation|SetForm|NodeLock|Attachment|Binding)' \
    2>&1 | tee "$log" || status=$?
reports=$(grep -ac 'WARNING: ThreadSanitizer' "$log" || true)
[ "$reports" -eq 0 ] || { printf '\nsanitize: %s reports, above\n' "$reports" >&2; exit 1; }
exit "$status"
