#!/usr/bin/env bash
# Runs the tests that are built: in groups, several at once, so that one computes while another waits for processes or peers.
# Prints what each group said, and in the end how long each took and what failed.
#   usage: scripts/test.sh [GROUP...]     all groups without a name, among them the counts of instructions (scripts/counts.sh)
#          scripts/test.sh --quick        what takes seconds, as a plain `swift build --build-tests` has built it
set -euo pipefail
cd "$(dirname "$0")/.."

# In the order in which they begin: what waits for the clock first, the longest of it in front.
groups='computing machines commands page files lab nodes connections counts'
readonly machines='RealMachines|PairedMachines|HouseholdMachines'
skipped='^$'
if [ "${1:-}" = --quick ]; then
    shift
    groups='computing commands page files nodes connections'
    # What needs minutes or several hosts, and the example for apps.
    skipped="$machines|Soak|SimulatedAppExample|KithTestingTests|KithLabTests|DifferentialSQL|History|MergeModel"
    program=$("${SWIFT:-swift}" build --show-bin-path)/kithPackageTests.xctest
else
    program=$(scripts/build.sh --show-bin-path)/kithPackageTests.xctest
fi
readonly groups skipped
folder=$(mktemp -d "${TMPDIR:-/tmp}/kith-tests.XXXXXX")
processes=()
failed=()
files=

readonly computing='^(Project|KithCausality|KithSync|KithText|KithStore|KithTesting)Tests\.|^SimulatedAppExample\.'
readonly connections='^(KithTrust|KithTransport)Tests\.'
# Tests of nodes that compute or wait without making way: beside others they would let these run out of time.
readonly alone='^KithTests\.(Carry[A-Za-z]*|SeveralProcessesTests|ExampleTests|AppRefusalTests)'
readonly inAndOut='^Kith(Files|Notes|Snapshot)Tests\.|^KithCLITests\.(Files|Carry|Lab)'
readonly page='^KithWebTests\.|^KithCLITests\.(Browser|Page)'

# Connections have time limits, so few of these tests run at a time.
readonly few=(--experimental-maximum-parallelization-width 4)

# Tests that hold a thread while they wait run one after the other. What is in no other group is among the commands. A test that waits
# for a peer shall not wait for a computation instead: groups that compute make way. (`swift test` would run one group at a time.)
command_of() {
    command=("$program" --testing-library swift-testing)
    case $1 in
        computing) command=(nice -n 10 "${command[@]}" --filter "$computing" --skip "$skipped") ;;
        connections) command+=("${few[@]}" --filter "$connections") ;;
        nodes) command+=("${few[@]}" --filter '^KithTests\.' --skip "$machines" --skip "$alone") ;;
        machines) command+=(--no-parallel --filter "^KithTests\..*($machines)|^KithDiscoveryTests\.|$alone") ;;
        lab) command+=(--no-parallel --filter '^KithLabTests\.') ;;
        page) command+=(--no-parallel --filter "$page" --skip "$skipped") ;;
        files) command+=(--no-parallel --filter "$inAndOut" --skip "$skipped") ;;
        commands) command+=(--no-parallel --skip "$computing|$connections|$page|$inAndOut|^(Kith|KithDiscovery|KithLab)Tests\." --skip "$skipped") ;;
        counts) command=(nice -n 10 scripts/counts.sh --built) ;;
        *) printf 'test: there is no group %s; the groups are: %s\n' "$1" "$groups" >&2; exit 64 ;;
    esac
}

run() {
    local name=$1 result=passed child began=$SECONDS
    command_of "$name"
    "${command[@]}" >"$folder/$name" 2>&1 &
    child=$!
    trap 'kill "$child" 2>/dev/null; exit 143' TERM
    wait "$child" || result=failed
    printf '%s' "$((SECONDS - began))" >"$folder/$name.seconds"
    # The processor time of this group and all that it has started and waited for.
    times >"$folder/$name.times"
    awk -F '[ms ]' 'NR == 2 { printf "%d", $1 * 60 + $2 + $4 * 60 + $5 }' "$folder/$name.times" >"$folder/$name.processor"
    case $name in computing | counts) ;; *) : >"$folder/$name.ended" ;; esac
    : >"$folder/$name.$result"
}

clean_up() {
    trap - EXIT INT TERM
    [ "${#processes[@]}" -eq 0 ] || kill "${processes[@]}" 2>/dev/null || true
    rm -rf "$folder" ${files:+"$files"}
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

[ "$#" -gt 0 ] || set -- $groups
for name; do command_of "$name"; done
# On macOS the tests are a bundle, which only `swift test` runs.
[ ! -d "$program" ] || exec "${SWIFT:-swift}" test --disable-xctest --skip "$skipped"
[ -x "$program" ] || { printf 'test: the tests are not built; run: make test\n' >&2; exit 1; }
# Nearly every test writes to a store, and would wait for the disk: its files are in memory, if there is room and programs may run there.
if [ -z "${TMPDIR:-}" ] && files=$(mktemp -d /dev/shm/kith-tests.XXXXXX 2>/dev/null); then
    # Tests run programs as another user, too.
    chmod 711 "$files"
    printf '#!/bin/sh\n' >"$files/runs" && chmod +x "$files/runs"
    free=$(df -Pk "$files" | awk 'NR == 2 { print $4 }')
    if [ "$free" -gt 4000000 ] && "$files/runs" 2>/dev/null; then export TMPDIR=$files; fi
fi
# At most three groups at a time that do not make way: more would only let each other wait.
readonly together=3
waiting=0
for name; do
    case $name in
        computing | counts) ;;
        *)
            while [ "$((waiting - $(find "$folder" -name '*.ended' | wc -l)))" -ge "$together" ]; do sleep 0.2; done
            waiting=$((waiting + 1))
            ;;
    esac
    run "$name" &
    processes+=($!)
done
for name; do
    until [ -e "$folder/$name.passed" ] || [ -e "$folder/$name.failed" ]; do sleep 0.2; done
    cat "$folder/$name"
    [ -e "$folder/$name.passed" ] || failed+=("$name")
done
processes=()

printf '\n'
for name; do
    printf '%-11s %4d s, %4d s of processor time   %s\n' \
        "$name" "$(cat "$folder/$name.seconds")" "$(cat "$folder/$name.processor")" "$(grep -a 'Test run with' "$folder/$name" | tail -n 1)"
done
[ "${#failed[@]}" -gt 0 ] || exit 0
printf '\nWhat failed:\n'
# Each line of a failure, and what follows it until the next line of the runner: what a program said, of which the end says most.
for name in "${failed[@]}"; do
    awk '/^✘/ { failed = 1; shown = 0; any = 1 } /^(◇|✔|➜|↻)/ { failed = 0 } failed && shown++ < 60 { print } END { exit !any }' "$folder/$name" ||
        tail -n 20 "$folder/$name"
done
exit 1
