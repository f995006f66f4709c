#!/usr/bin/env bash
# Runs tests that judge many more cases than `make test` does, in portions that take at most an hour each on two cores.
#   usage: scripts/soak.sh [PORTION...]     all portions without a name
# The tests are built before, as `make soak` does it. KITH_SEED=N repeats one seed; KITH_SOAK=N is how many cases the tests of texts judge.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly simulator='simulator-1 simulator-2 simulator-3 simulator-4 simulator-5 simulator-6 simulator-7 simulator-8'
readonly portions="$simulator promises lies merge lists sql histories folders carry schemas references texts frames mutations processes page machines docs package reproducible"
program=$(scripts/build.sh --show-bin-path)/kithPackageTests.xctest
export KITH_SOAK=${KITH_SOAK:-20000}

filter_of() {
    case $1 in
        # Each takes 2,500 of the 20,000 seeds.
        simulator-[1-8]) filter='SimulationSoakTests' ;;
        # The simulator's tests of `make test`, with more seeds each.
        promises) filter='^KithTestingTests\.(AppTrigger|BadDisk|Determinism|Fault|FaultRate|FoundRow|HistoryJudge|Promise|Schema|UsedAgainScript)Tests' ;;
        lies) filter='HostileSoakTests|^KithTestingTests\.(HouseholdLie|Lie)Tests|ScaleTests|^KithTrustTests\.(HostileHousehold|DividedHousehold|HouseholdCost|ForgedRecord)Tests' ;;
        merge) filter='MergeModelTests|PlainRowTests|BulkInsertTests|^KithSyncTests\.(MergeAgainstModel|MergeLaws|RowLimit|ManyReplica|Identity)Tests' ;;
        # Lists that change, orders by hand, undo, what is searched.
        lists) filter='LiveListTests|LiveListProcessTests|^KithStoreTests\.(Position|Undo|Revert)Tests|^KithNotesTests\.SearchTests' ;;
        sql) filter='DifferentialSQLTests' ;;
        histories) filter='IdentityHistoryTests|AppRefusalTests|GarbageHistoryTests|KilledProcessTests|DiskFaultTests|ReadOnlyCopyTests' ;;
        # Files and notes on two machines, written by everybody.
        folders) filter='AttachmentLinkTests|FolderHistoryTests|KilledFolderTests|FilesCommandTests' ;;
        # Changes that go by hand, on sticks.
        carry) filter='StickTests|CarryTests|CarryDamageTests|CarryCommandTests' ;;
        schemas) filter='SchemaHistoryTests|SchemaSkewTests|NestedTriggerHistoryTests' ;;
        references) filter='ReferenceHistoryTests|ReferenceArrivalTests' ;;
        texts) filter='^KithTextTests\.|TextDeliveryTests|TextTurnTests|RegisterMadeTextTests|LateChangeTests|PlaceConflictTests|PackedTextTests' ;;
        frames) filter='StrangerTests|FloodTests|MutatedProofTests|MutatedMessageTests|MutatedMemberTests|DamagedFrameTests|^KithSyncTests\.ConvergenceTests' ;;
        # A million of each kind, with a limit of memory, so in a process of its own.
        mutations) filter='MutatedSessionTests' ;;
        processes) filter='SeveralProcessesTests' ;;
        # Every place of the page narrow and wide, each in light and in dark.
        page) filter='BrowserTests' ;;
        # Real machines, as root. KITH_OLD=PATH is an older kith for the scenarios with two versions.
        machines) filter='SoakScenariosTests' ;;
        # The documentation is made without a warning.
        docs) filter= ;;
        # The Debian package in two clean systems, as root.
        package) filter= ;;
        # Two compiles from nothing make the same package.
        reproducible) filter= ;;
        *) printf 'soak: there is no portion %s; the portions are: %s\n' "$1" "$portions" >&2; exit 64 ;;
    esac
}

[ "$#" -gt 0 ] || set -- $portions
for portion; do filter_of "$portion"; done
for portion; do
    filter_of "$portion"
    started=$SECONDS
    part=
    case $portion in simulator-*) part=${portion#simulator-} ;; esac
    if [ "$portion" = package ]; then
        command -v debootstrap >/dev/null || { printf 'soak: there is no debootstrap: the package is not tried\n'; continue; }
        make package
    elif [ "$portion" = docs ]; then
        scripts/docs.sh
    elif [ "$portion" = reproducible ]; then
        command -v dpkg-deb >/dev/null || { printf 'soak: there is no dpkg-deb: packages are not compared\n'; continue; }
        scripts/reproducible.sh
    else
        KITH_PORTION=$part "$program" --testing-library swift-testing --filter "$filter"
    fi
    printf '\nsoak: %s passed in %d s\n\n' "$portion" $((SECONDS - started))
done
