#!/bin/sh
# Installs Kith from the folder that this script is in, or removes it again. The notes are never touched.
#   usage: ./install.sh [PREFIX]             default: /usr/local as root, ~/.local otherwise
#          ./install.sh --remove [PREFIX]
# Needs the C library of GNU, 2.36 or newer, and the libraries of SQLite 3, libxml2, libarchive, zlib, and Avahi's for mDNS:
#   Debian, Ubuntu  libsqlite3-0 libxml2 libarchive13 zlib1g libavahi-compat-libdnssd1
#   Fedora          sqlite-libs libxml2 libarchive zlib avahi-compat-libdns_sd
set -eu
cd "$(dirname "$0")"

remove=no
if [ "${1:-}" = --remove ]; then
    remove=yes
    shift
fi
if [ "$(id -u)" -eq 0 ]; then prefix=${1:-/usr/local}; else prefix=${1:-$HOME/.local}; fi
# Where systemd looks for services of people.
if [ "$(id -u)" -eq 0 ]; then units=$prefix/lib/systemd/user; else units=$prefix/share/systemd/user; fi

if [ "$remove" = yes ]; then
    find bin share -type f | while read -r file; do rm -f "$prefix/$file"; done
    rm -f "$units/kith.service"
    echo "Removed from $prefix. The notes stay where they are."
    exit
fi
if ! bin/kith --version >/dev/null 2>&1; then
    {
        bin/kith --version || true
        LC_ALL=C ldd bin/kith | sed -n 's/^[[:space:]]*\(.*\) => not found$/missing: \1/p'
        echo "Nothing was installed: kith does not start here. The first lines of this script name the packages that it needs."
    } >&2
    exit 69
fi
find bin share -type f ! -name kith.service | while read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    cp -p "$file" "$prefix/$file"
done
mkdir -p "$units"
sed "s|^ExecStart=/bin/kith|ExecStart=$prefix/bin/kith|" share/kith.service >"$units/kith.service"
echo "Installed in $prefix. Next: kith note add, kith pair; systemctl --user enable --now kith has it start with you."
