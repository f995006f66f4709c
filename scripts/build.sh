#!/usr/bin/env bash
# Runs `swift build` as `make test` does: warnings are errors, the modules that compute are optimised, everything is compiled module by
# module, without debug information, and a module's interface together with its code and not before it: that takes two thirds of the
# processor time. What it makes is in a folder of its own, .build/whole, so that
# it and a plain `swift build`, which is quicker after a change of one file, leave each other alone.
#   usage: scripts/build.sh [ARGUMENT of swift build...]
set -euo pipefail
cd "$(dirname "$0")/.."
export KITH_WERROR=1 KITH_OPTIMIZE=1
exec "${SWIFT:-swift}" build --scratch-path .build/whole -debug-info-format none \
    -Xswiftc -disable-batch-mode -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -no-emit-module-separately-wmo \
    -Xcxx -index-ignore-system-symbols -Xcxx -index-ignore-macros "$@"
