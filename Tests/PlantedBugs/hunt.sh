#!/bin/sh
# Lets the simulator hunt each planted fault. usage: hunt.sh KITH-SIM [SEEDS] [FAULT...]
# KITH-SIM is kith-sim built from the sources that plant.py makes. Prints fault, seeds needed and broken rule; a fault that makes
# the simulator trap, or take ten minutes of the processor, is none that an oracle has found.
simulator=$1
seeds=${2:-500}
bugs=$(dirname "$0")/bugs.txt
[ $# -gt 2 ] && shift 2 || set -- $(sed -n 's/^bug \([^:]*\): .*/\1/p' "$bugs")
for name; do
    options=$(sed -n "s|^with $name: ||p" "$bugs" | sed "s|@|$(dirname "$0")|g")
    # A script says itself what happens; options may name another size.
    case $options in
    *--script*) size= ;;
    *) size="--seeds $seeds --nodes 4 --ops 60 --stop" ;;
    esac
    # The options are words.
    # shellcheck disable=SC2086
    answer=$(ulimit -S -t 600; KITH_PLANTED_BUG=$name timeout 3600 "$simulator" $size $options 2>&1 < /dev/null)
    status=$?
    last=$(echo "$answer" | tail -n 1)
    case $status,$last in
    1,Broken*) echo "$name | script | $(echo "$last" | sed 's/^Broken: \([a-zA-Z]*\):.*/\1/')" ;;
    1,Seed*) echo "$name | $(echo "$last" | sed 's/^Seed .*, after \([0-9]*\) seeds: \([a-zA-Z]*\):.*/\1 | \2/')" ;;
    0,*) echo "$name | – | not found${size:+ in $seeds seeds}" ;;
    124,* | 152,*) echo "$name | – | timed out" ;;
    *) echo "$name | – | trapped ($status): $last" ;;
    esac
done
