#!/bin/sh
# Lets the simulator hunt each planted fault. usage: hunt.sh KITH-SIM [SEEDS]
# KITH-SIM is kith-sim built from the sources that plant.py makes.
simulator=$1
seeds=${2:-500}
bugs=$(dirname "$0")/bugs.txt
sed -n 's/^bug \([^:]*\): .*/\1/p' "$bugs" | while read -r name; do
    answer=$(KITH_PLANTED_BUG=$name timeout 600 "$simulator" --seeds "$seeds" --nodes 4 --ops 60 --stop < /dev/null | tail -n 1)
    case $answer in
    Seed*) echo "$name | $(echo "$answer" | sed 's/^Seed .*, after \([0-9]*\) seeds: \([a-zA-Z]*\):.*/\1 | \2/')" ;;
    *) echo "$name | – | not found in $seeds seeds" ;;
    esac
done
