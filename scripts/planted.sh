#!/usr/bin/env bash
# Lets the simulator hunt the faults of Tests/PlantedBugs/bugs.txt: plants them in a copy of this checkout, builds kith-sim there,
# and hunts one fault after the other, with as little claim to the processor as possible. It takes hours.
#   usage: scripts/planted.sh COPY RESULTS [SEEDS [FAULT...]]
# COPY is a folder that is made, or brought up to date so that a second build is quicker; RESULTS gets a line for each fault:
# fault | seeds it took | broken rule. A fault that RESULTS has already is passed over, so a hunt that was stopped can go on.
set -euo pipefail
copy=$(mkdir -p "$1" && cd "$1" && pwd)
mkdir -p "$(dirname "$2")"
results=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
seeds=${3:-500}
cd "$(dirname "$0")/.."
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || mapfile -t names < <(sed -n 's/^bug \([^:]*\): .*/\1/p' Tests/PlantedBugs/bugs.txt)
[ $# -eq 0 ] || names=("$@")

# Files that are as they were keep their time, so that they are not compiled again.
git ls-files -z -- . ':!Sources' | tar --create --null --files-from=- | tar --extract --directory "$copy"
Tests/PlantedBugs/plant.py Sources "$copy/.planted"
(cd "$copy/.planted" && find . -type f) | while read -r file; do
    cmp --quiet "$copy/.planted/$file" "$copy/Sources/$file" && continue
    mkdir -p "$(dirname "$copy/Sources/$file")"
    cp "$copy/.planted/$file" "$copy/Sources/$file"
done
(cd "$copy/Sources" && find . -type f) | while read -r file; do
    [ -e "$copy/.planted/$file" ] || rm "$copy/Sources/$file"
done
nice -n 15 "$copy/scripts/build.sh" --product kith-sim
program=$("$copy/scripts/build.sh" --show-bin-path)/kith-sim

touch "$results"
for name in "${names[@]}"; do
    grep -q "^$name |" "$results" || nice -n 15 Tests/PlantedBugs/hunt.sh "$program" "$seeds" "$name" >>"$results"
done
