#!/usr/bin/env bash
# Compiles the last commit twice from nothing, in two folders and two surroundings, and compares the Debian packages byte by byte. Leaves
# nothing behind. The folders' paths are equally long: the compiler writes the length of a source file's path into what it compiles, and says nothing
# more of the path (`withoutActuallyEscaping`).
#   usage: scripts/reproducible.sh
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d "${TMPDIR:-/tmp}/kith-reproducible.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Compiles in the folder $1, and puts the package into the folder $2.
package() {
    git clone --quiet . "$1"
    "$1/scripts/release.sh" --product kith >"$folder/log" 2>&1 || { tail -n 20 "$folder/log" >&2; exit 1; }
    "$1/scripts/deb.sh" "$("$1/scripts/release.sh" --show-bin-path)" "$2" >/dev/null
}

LC_ALL=C TZ=UTC package "$folder/first" "$folder/packages/1"
(umask 077 && LC_ALL=C.UTF-8 TZ=Asia/Tokyo package "$folder/other" "$folder/packages/2")
name=$(ls "$folder/packages/1")
cmp "$folder/packages/1/$name" "$folder/packages/2/$name" || {
    mkdir "$folder/files"
    for i in 1 2; do dpkg-deb --raw-extract "$folder/packages/$i/$name" "$folder/files/$i"; done
    diff --brief --recursive "$folder/files/1" "$folder/files/2" >&2 || true
    printf 'reproducible: two compiles of %s gave two packages\n' "$(scripts/version.sh --described)" >&2
    exit 1
}
sha256sum "$folder/packages/1/$name" | sed "s|$folder/packages/1/||"
