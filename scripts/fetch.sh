#!/usr/bin/env bash
# Fetches the packages that scripts/build.sh builds, if there are none yet: beside scripts/setup.sh and `make lint`, because each of the
# three leaves one core idle. What goes wrong, the build says.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ ! -e .build/whole/workspace-state.json ] && command -v "${SWIFT:-swift}" >/dev/null; then
    KITH_WERROR=1 KITH_OPTIMIZE=1 exec "${SWIFT:-swift}" package --scratch-path .build/whole resolve
fi
