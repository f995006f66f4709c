# What package-test.sh and service-test.sh have in common: systems of Debian to install the package in. Read by `source`, after `set -euo pipefail`.

readonly wait_seconds_max=60 memory_kibibytes_max=$((45 * 1024))

fail() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; exit 1; }
step() { printf '%s\n' "$*"; }

wait_for() {
    local what=$1 end=$((SECONDS + wait_seconds_max))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "waited $wait_seconds_max seconds for $what"
        sleep 0.1
    done
}

# Copies the clean system $1 to $2, on the network of this machine. Nothing is started in it by being installed.
copy_system() {
    cp --archive --one-file-system "$1" "$2"
    printf '#!/bin/sh\nexit 101\n' >"$2/usr/sbin/policy-rc.d"
    chmod 755 "$2/usr/sbin/policy-rc.d"
    cp /etc/resolv.conf "$2/etc/resolv.conf"
}

# Runs a command as root in the system $1, which is not booted.
in_root() {
    local root=$1
    shift
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

# Makes of the package $1 the package $2, the same program as a version before this one: there is none that was released.
make_older() {
    dpkg-deb --raw-extract "$1" "$2.files"
    sed -i 's/^Version: .*/Version: 0.0.9/' "$2.files/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone --build "$2.files" "$2" >/dev/null
    rm -r "$2.files"
}

# Says what memory the process $1, which is idle, takes as a whole and without mapped files, in KiB, and fails where the whole is more than 45 MiB.
check_memory() {
    local resident
    resident=$(awk '/^Rss:/ { print $2 }' "/proc/$1/smaps_rollup")
    step "Memory of $2: $resident KiB, $(awk '/^Anonymous:/ { print $2 }' "/proc/$1/smaps_rollup") without mapped files"
    [ "$resident" -le "$memory_kibibytes_max" ] || fail "that is more than $memory_kibibytes_max"
}
