#!/usr/bin/env bash
# The Swift compiler as scripts/build.sh has SwiftPM call it: two packages get other flags than all that is built for debugging. GRDB is
# optimised, because the tests spend a third of their time in it. ArgumentParser does not check at each start of a program what its
# commands declare, which takes half of that start; a plain `swift build` does. After a change of these flags remove .build/whole.
set -euo pipefail

arguments=()
module=
previous=
for argument; do
    [ "$previous" != -module-name ] || module=$argument
    previous=$argument
    case "$module $argument" in
        'GRDB -Onone') argument=-O ;;
        'ArgumentParser -DDEBUG') continue ;;
    esac
    arguments+=("$argument")
done
exec "$KITH_COMPILER" "${arguments[@]}"
