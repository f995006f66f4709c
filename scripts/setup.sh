#!/usr/bin/env bash
# Checks for Swift and installs the system packages that building, testing and the demo need.
#   usage: scripts/setup.sh
# Says nothing when nothing is missing. Installs with apt-get (Debian, Ubuntu); elsewhere it names what to install by hand.
set -euo pipefail

readonly swift_version_min=6.2
readonly packages=(
    libsqlite3-dev zlib1g-dev           # the store
    libavahi-compat-libdnssd-dev        # discovery, to build
    avahi-daemon dbus                   # discovery, to run
    libcmark-gfm-dev libcmark-gfm-extensions-dev libarchive-dev libxml2-dev pkg-config   # files of other programs
    iproute2 util-linux procps gzip     # the private LAN of the demo and the tests
    valgrind binutils                   # counts of instructions
    python3 python3-cryptography        # the models and the other client that tests compare with; manual pages
    xz-utils                            # the archive of the programs
    tmux mandoc                         # tests of the full-screen view and of manual pages
    fonts-dejavu-core python3-venv      # tests of the page in a browser
)
readonly browser=chromium-headless-shell   # the browser itself, which Ubuntu does not have

fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

check_swift() {
    local version
    command -v swift >/dev/null ||
        fail "Swift is not installed. Install Swift $swift_version_min or later from https://www.swift.org/install, then run this again."
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+\.[0-9]+).*/\1/p' | head -n 1)
    [ -n "$version" ] || fail "'swift --version' did not name a version. Reinstall Swift from https://www.swift.org/install."
    # In version order the minimum comes first unless what we have is older.
    [ "$(printf '%s\n' "$swift_version_min" "$version" | sort -V | head -n 1)" = "$swift_version_min" ] ||
        fail "Swift $version is too old; Kith needs $swift_version_min or later from https://www.swift.org/install."
}

not_installed() { # PACKAGE...
    local package
    for package; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
    done
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

apt_get() { # ARGUMENT...
    local log
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
        fail "installing needs root, and there is no sudo. As root: apt-get install ${missing[*]:-$browser}"
    log=$(mktemp)
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        fail "apt-get failed (its last lines are above). Try: apt-get install ${missing[*]:-$browser}"
    fi
    rm -f "$log"
}

lacks_browser() { [ -n "$(not_installed "$browser")" ]; }
knows_browser() { apt-cache show "$browser" >/dev/null 2>&1; }

install_missing() {
    mapfile -t missing < <(not_installed "${packages[@]}")
    if [ "${#missing[@]}" -gt 0 ] || { lacks_browser && knows_browser; }; then
        printf 'setup: updating the lists of apt-get\n'
        apt_get update
    fi
    if lacks_browser; then
        if knows_browser; then
            missing+=("$browser")
        else
            printf 'setup: apt-get knows no %s here, so no test uses the page in a browser\n' "$browser" >&2
        fi
    fi
    [ "${#missing[@]}" -gt 0 ] || return 0
    printf 'setup: installing %s\n' "${missing[*]}"
    apt_get install -y --no-install-recommends "${missing[@]}"
}

# Playwright, for the tests of the page, in a folder that `make clean` removes.
install_playwright() {
    local folder=.build/browser
    [ ! -x "/usr/bin/$browser" ] || [ -e "$folder/ready" ] && return
    printf 'setup: installing Playwright in %s\n' "$folder"
    if python3 -m venv "$folder" && "$folder/bin/pip" install --quiet --disable-pip-version-check 'playwright>=1.40'; then
        : >"$folder/ready"
    else
        printf 'setup: Playwright cannot be installed; the tests of the page in a browser will fail\n' >&2
    fi
}

cd "$(dirname "$0")/.."
check_swift
case $(uname -s) in
    Darwin) ;; # SQLite and mDNS are part of the system
    Linux)
        if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
            install_missing
            install_playwright
        else
            printf 'setup: no apt-get here; make sure that what Debian calls these is installed: %s\n' "${packages[*]} $browser" >&2
        fi
        ;;
    *) fail "$(uname -s) is not supported; Kith runs on Linux, macOS and iOS." ;;
esac
