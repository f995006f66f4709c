#!/usr/bin/env bash
# Says which version of Kith this is.
#   usage: scripts/version.sh              the number, as in 0.1.0
#          scripts/version.sh --described  what `git describe` says; nothing where this is no checkout
#          scripts/version.sh --epoch      when it was made, in seconds since 1970: the time of the commit, or of the changelog
set -euo pipefail
cd "$(dirname "$0")/.."

# A tarball may have been unpacked inside the repository of something else.
is_checkout() { [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; }

case ${1:-} in
    '') sed -nE 's/^#define KITH_VERSION "([^"]+)"$/\1/p' Sources/CKithVersion/include/kith_version.h ;;
    --described) if is_checkout; then git describe --tags --always --dirty --match 'v[0-9]*'; fi ;;
    --epoch)
        if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
            printf '%s\n' "$SOURCE_DATE_EPOCH"
        elif is_checkout; then
            git log -1 --format=%ct
        else
            date --utc --date "$(sed -nE 's/^## \[[0-9.]+\] - ([0-9-]+)$/\1/p' CHANGELOG.md | head -n 1)" +%s
        fi
        ;;
    *)
        sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
        exit 64
        ;;
esac
