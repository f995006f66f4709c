#!/usr/bin/env bash
# Installs the Debian package in two clean systems without Swift, each on a host of a private LAN, and uses it there: start, pair, write,
# upgrade while a node runs, remove, purge. Leaves nothing behind. Needs root, debootstrap, a mirror of Debian, and what scripts/lan.sh needs.
#   usage: scripts/package-test.sh PACKAGE
# SYSTEM=FOLDER names a system that debootstrap made before, and that is copied.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/debian-roots.sh

[ "$#" -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 64; }
package=$(realpath "$1")
command -v debootstrap >/dev/null || fail "debootstrap is not installed; as root: apt-get install debootstrap"
readonly release=bookworm mirror=${MIRROR:-http://deb.debian.org/debian}
folder=$(mktemp -d "${TMPDIR:-/tmp}/kith-package.XXXXXX")
export LAN=$folder/lan
succeeded=no

clean_up() {
    local i
    trap - EXIT INT TERM
    if [ "$succeeded" = no ]; then
        for i in 1 2; do [ ! -s "$folder/node$i" ] || { printf '\nThe last words of node %s:\n' "$i"; tail -n 5 "$folder/node$i"; } >&2; done
    fi
    # The hosts' mount namespaces end with them.
    scripts/lan.sh down || true
    rm -rf --one-file-system "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Runs a command in system I as root, on the network of this machine.
in_system() { in_root "$folder/$1" "${@:2}"; }
# Runs a command in system I on host I, as the person who lives there.
as_ann() {
    local i=$1
    shift
    scripts/lan.sh exec "$i" chroot --userspec=ann:ann "$folder/$i" \
        env -i HOME=/home/ann USER=ann PATH=/usr/bin:/bin LC_ALL=C.UTF-8 "$@"
}

make_systems() {
    local i system=${SYSTEM:-$folder/system}
    [ -n "${SYSTEM:-}" ] || debootstrap --variant=minbase "$release" "$system" "$mirror" >"$folder/log" 2>&1 ||
        { tail -n 5 "$folder/log" >&2; fail "debootstrap failed with the mirror $mirror"; }
    for i in 1 2; do
        copy_system "$system" "$folder/$i"
        in_system "$i" useradd --create-home --shell /bin/bash ann
        ! in_system "$i" sh -c 'command -v swift || find / -xdev -name "libswift*" | grep .' || fail "there is Swift in the system"
    done
}

install_in() {
    local i=$1 deb=$2
    cp "$deb" "$folder/$i/tmp/kith.deb"
    in_system "$i" sh -c 'apt-get update && apt-get install -y --no-install-recommends /tmp/kith.deb' >"$folder/log" 2>&1 ||
        { tail -n 10 "$folder/log" >&2; fail "the package cannot be installed"; }
    rm "$folder/$i/tmp/kith.deb"
}

# What systemd would run, as the unit says it.
start_node() {
    local i=$1 command
    command=$(sed -n 's/^ExecStart=//p' "$folder/$i/usr/lib/systemd/user/kith.service")
    [ -n "$command" ] || fail "the unit runs nothing"
    # shellcheck disable=SC2086
    as_ann "$i" $command >>"$folder/node$i" 2>&1 &
    wait_for "node $i to run" node_runs "$i"
}
node_runs() { as_ann "$1" kith status --json | grep -q '"isRunning" : true'; }
node_pid() { pgrep --full --exact '/usr/bin/kith up' --nslist net --ns "$(cat "$LAN/host$1.pid")"; }
stop_node() { kill "$(node_pid "$1")" && wait_for "node $1 to stop" eval "! node_pid $1 >/dev/null"; }

has() { as_ann "$1" kith note show "$2" 2>/dev/null | grep -q "$3"; }

if command -v lintian >/dev/null; then
    step "What lintian says"
    lintian --allow-root --fail-on error "$package" || fail "the package does not keep to Debian's rules"
else
    step "There is no lintian here: the package's rules are not tried."
fi

step "What the manual names is there, and the desktop's files are what desktops expect"
dpkg-deb --extract "$package" "$folder/files"
for page in $(zcat "$folder"/files/usr/share/man/man1/*.gz | grep -Eo '[a-z]+\.md of the documentation' | sort -u | sed 's/ .*//'); do
    test -s "$folder/files/usr/share/doc/kith/$page" || fail "the manual names $page, which is not there"
done
! command -v desktop-file-validate >/dev/null || desktop-file-validate "$folder"/files/usr/share/applications/*.desktop
# Its id would be the name of a domain, which Kith does not have.
! command -v appstreamcli >/dev/null ||
    appstreamcli validate --no-net --override=cid-desktopapp-is-not-rdns=info "$folder"/files/usr/share/metainfo/*.xml || fail "the AppStream data"

step "Two systems of Debian $release without Swift"
make_systems
make_older "$package" "$folder/older.deb"
scripts/lan.sh up 2
for i in 1 2; do
    install_in "$i" "$folder/older.deb"
    for place in run proc dev; do
        scripts/lan.sh exec "$i" mount --rbind "/$place" "$folder/$i/$place"
    done
done
step "Installed: $(as_ann 1 kith --version), $(stat -c %s "$package") bytes as a package, $(stat -c %s "$folder/1/usr/bin/kith") as a program"
# shellcheck disable=SC2016
microseconds=$(as_ann 1 bash -c 'for _ in {1..21}; do from=${EPOCHREALTIME/./}; kith --version >/dev/null; echo "$((${EPOCHREALTIME/./} - from))"; done' | sort -n)
step "kith --version takes $(sed -n 11p <<<"$microseconds") µs, and at most $(tail -n 1 <<<"$microseconds") (median and slowest of 21)"
test -s "$folder/1/usr/share/man/man1/kith.1.gz" || test -e "$folder/1/etc/dpkg/dpkg.cfg.d/docker" || fail "there is no manual page"
test -L "$folder/1/etc/systemd/user/default.target.wants/kith.service" || in_system 1 test ! -x /usr/bin/deb-systemd-helper ||
    fail "the service is not enabled"

step "A note is written, the nodes are started as the unit says it, and paired"
note=$(as_ann 1 kith note add Shopping --body "Bread, and coffee for two" | tail -n 1)
for i in 1 2; do start_node "$i"; done
as_ann 1 kith pair --token --no-qr --json >"$folder/token" 2>&1 &
wait_for "a token" grep -q '"token"' "$folder/token"
as_ann 2 kith pair "$(sed -n 's/.*"token":"\([^"]*\)".*/\1/p' "$folder/token")" >"$folder/log" || { cat "$folder/log" >&2; fail "not paired"; }
wait_for "the note to cross" has 2 "$note" "coffee for two"
sleep 5
for i in 1 2; do check_memory "$(node_pid "$i")" "an idle node that is paired"; done

step "Upgraded while the node runs: it goes on, and so does the new one after it"
install_in 1 "$package"
as_ann 2 kith note edit "$note" --body "Bread, coffee, tea" >/dev/null
wait_for "the running node to take a change" has 1 "$note" tea
stop_node 1
start_node 1
as_ann 1 kith note edit "$note" --title "Shopping list" >/dev/null
wait_for "the upgraded node to give a change" has 2 "$note" "Shopping list"
as_ann 1 kith verify | grep -q 'All is well' || fail "kith verify is not content after the upgrade"

step "Removed and purged: the notes stay, and it says where"
stop_node 1
in_system 1 dpkg --remove kith >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "the package cannot be removed"; }
test ! -e "$folder/1/usr/bin/kith" || fail "the program is still there"
test -s "$folder/1/home/ann/.local/share/kith/notes.sqlite" || fail "the notes went with the program"
in_system 1 dpkg --purge kith >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "the package cannot be purged"; }
grep -q 'kept /home/ann/.local/share/kith' "$folder/log" && grep -q 'kept /home/ann/.config/kith' "$folder/log" ||
    { cat "$folder/log" >&2; fail "the purge does not say where the notes are"; }
test -s "$folder/1/home/ann/.local/share/kith/notes.sqlite" || fail "the notes went with the settings"
leftovers=$(find "$folder/1/usr" "$folder/1/etc" "$folder/1/var/lib/systemd" -xdev -name '*kith*' 2>/dev/null || true)
[ -z "$leftovers" ] || fail "left behind: $leftovers"
install_in 1 "$package"
as_ann 1 kith note show "$note" | grep -q tea || fail "the notes are not found after a new installation"
stop_node 2
step "With systemd"
scripts/service-test.sh "$package" "${SYSTEM:-$folder/system}"
succeeded=yes
step "All is well"
