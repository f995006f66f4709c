#!/usr/bin/env bash
# Makes a Debian package of what was built, which needs no Swift where it is installed. The same programs make the same bytes.
#   usage: scripts/deb.sh BUILT FOLDER
#     BUILT    the folder with the programs, built with --static-swift-stdlib
#     FOLDER   where to put the package
# MAINTAINER="Name <address>" says who answers for it.
set -euo pipefail

[ "$#" -eq 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 64; }
for tool in dpkg-deb dpkg-shlibdeps strip python3; do
    command -v "$tool" >/dev/null || { printf 'deb: %s is not installed; as root: apt-get install dpkg-dev binutils python3\n' "$tool" >&2; exit 69; }
done
scripts=$(cd "$(dirname "$0")" && pwd)
built=$(cd "$1" && pwd)
mkdir -p "$2"
target=$(cd "$2" && pwd)
packaging=$scripts/../packaging/debian
version=$("$scripts/version.sh")
SOURCE_DATE_EPOCH=$("$scripts/version.sh" --epoch)
export SOURCE_DATE_EPOCH
architecture=$(dpkg --print-architecture)
maintainer=${MAINTAINER:-Kith maintainers <maintainers@kith.example>}
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
documents=$root/usr/share/doc/kith
ZSH_FOLDER=vendor-completions "$scripts/install.sh" "$built" "$root" /usr

install -d "$documents" "$root/DEBIAN" "$work/debian"
{
    cat "$packaging/copyright"
    "$scripts/licenses.sh"
} >"$documents/copyright"
{
    printf 'kith (%s) unstable; urgency=medium\n\n  * What is new: /usr/share/doc/kith/NEWS.md.gz.\n\n' "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(date --utc --date "@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S +0000')"
} | gzip --best --no-name >"$documents/changelog.gz"
gzip --best --no-name <"$scripts/../CHANGELOG.md" >"$documents/NEWS.md.gz"
chmod 644 "$documents"/copyright "$documents"/*.gz
install -D -m 644 "$packaging/lintian-overrides" "$root/usr/share/lintian/overrides/kith"

# What the programs load, by the packages that have it.
printf 'Source: kith\n\nPackage: kith\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O "$root/usr/bin/kith" | sed 's/^shlibs:Depends=//')
# Packed relocations are understood from this version on, which dpkg-shlibdeps cannot see.
readonly libc_min=2.36
libc=$(sed -nE 's/.*libc6 \(>= ([0-9.]+)\).*/\1/p' <<<"$depends")
dpkg --compare-versions "$libc" ge "$libc_min" || depends=${depends/libc6 (>= $libc)/libc6 (>= $libc_min)}
# Rounded up to kibibytes, as dpkg-gencontrol does it.
size=$(find "$root" -not -path "$root/DEBIAN*" -type f -printf '%s\n' | awk '{ kilobytes += int(($1 + 1023) / 1024) } END { print kilobytes }')
sed "s|@VERSION@|$version|; s|@ARCHITECTURE@|$architecture|; s|@MAINTAINER@|$maintainer|; s|@SIZE@|$size|; s|@DEPENDS@|$depends|" \
    "$packaging/control" >"$root/DEBIAN/control"
for script in postinst prerm postrm; do install -m 755 "$packaging/$script" "$root/DEBIAN/$script"; done
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
chmod 644 "$root/DEBIAN/control" "$root/DEBIAN/md5sums"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -print0 | xargs -0r touch --no-dereference --date="@$SOURCE_DATE_EPOCH"

package=$target/kith_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
# Whoever makes either grow has to see it.
limit() {
    [ "$(stat -c %s "$1")" -le "$2" ] || { printf 'deb: %s has %s bytes, more than %s\n' "$3" "$(stat -c %s "$1")" "$2" >&2; exit 1; }
}
limit "$root/usr/bin/kith" 60000000 "the program"
limit "$package" 20000000 "the package"
printf '%s\n' "$package"
