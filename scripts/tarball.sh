#!/usr/bin/env bash
# Makes an archive of what was built, for systems without Debian's packages: unpack it, then run install.sh in it.
#   usage: scripts/tarball.sh BUILT FOLDER
#     BUILT    the folder with the programs, built with --static-swift-stdlib
#     FOLDER   where to put the archive
set -euo pipefail

[ "$#" -eq 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 64; }
scripts=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
target=$(cd "$2" && pwd)
name=kith-$("$scripts/version.sh")-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
epoch=$("$scripts/version.sh" --epoch)
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$scripts/install.sh" "$1" "$work/$name" "" kith-lab
mv "$work/$name/lib/systemd/user/kith.service" "$work/kith.service"
rm -r "$work/$name/lib"
mv "$work/kith.service" "$work/$name/share/kith.service"
cp "$scripts/../LICENSE" "$scripts/../CHANGELOG.md" "$work/$name/"
{ cat "$scripts/../packaging/debian/copyright" && "$scripts/licenses.sh"; } >"$work/$name/COPYRIGHT"
install -m 755 "$scripts/../packaging/install.sh" "$work/$name/install.sh"
# The dictionary of -9 is larger than a program, so that the second one, which is much like the first, takes little.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" --format=gnu -C "$work" -c "$name" |
    xz -9 --threads=1 >"$target/$name.tar.xz"
printf '%s\n' "$target/$name.tar.xz"
