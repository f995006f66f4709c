#!/usr/bin/env bash
# Boots a clean Debian with systemd in namespaces of its own, installs the package in it, and has the person's own systemd run the node: start
# with the person, readiness, sandbox, a crash, an upgrade, removal; then `kith up --install` without the package. Leaves nothing behind.
#   usage: scripts/service-test.sh PACKAGE SYSTEM
#     SYSTEM   a clean system that debootstrap made; it is copied
# Needs root, and cgroups in version 2.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/debian-roots.sh

[ "$#" -eq 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 64; }
package=$(realpath "$1")
readonly user_packages="systemd-sysv dbus dbus-user-session libpam-systemd"
cgroups=$(findmnt --types cgroup2 --noheadings --output TARGET | head -n 1)
[ -n "$cgroups" ] || { step "There are no cgroups in version 2 here: the service is not tried."; exit 0; }
folder=$(mktemp -d "${TMPDIR:-/tmp}/kith-service.XXXXXX")
root=$folder/system
cgroup=$cgroups/$(basename "$folder")
init=
succeeded=no

clean_up() {
    trap - EXIT INT TERM
    [ "$succeeded" = yes ] || [ -z "$init" ] || { in_system journalctl --no-pager --lines 15 || true; } >&2
    # Every mount ends with the last process.
    if [ -d "$cgroup" ]; then
        echo 1 >"$cgroup/cgroup.kill"
        for _ in {1..100}; do
            find "$cgroup" -depth -type d -exec rmdir {} \; 2>/dev/null || true
            [ -d "$cgroup" ] || break
            sleep 0.1
        done
    fi
    rm -rf --one-file-system "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

before_boot() { in_root "$root" "$@"; }
in_system() { nsenter --target "$init" --all --root --wd=/ env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
as_ann() { in_system runuser --user ann -- env HOME=/home/ann XDG_RUNTIME_DIR=/run/user/1000 LC_ALL=de_DE.UTF-8 PATH="/home/ann/.local/bin:/usr/bin:/bin" "$@"; }
service() { as_ann systemctl --user "$@"; }
told() { service show --property "$1" --value kith.service; }
# The id that this machine, outside of the system, gives the node.
node_pid() { awk -v inner="$(told MainPID)" '/^NSpid:/ && NF == 3 && $3 == inner { split(FILENAME, part, "/"); print part[3] }' $(sed 's|.*|/proc/&/status|' "$cgroup"/user.slice/user-1000.slice/user@1000.service/app.slice/kith.service/cgroup.procs); }

is() { [ "$(told "$1")" = "$2" ]; }
runs_as_another() { is SubState running && ! is MainPID "$1"; }
boots() { in_system systemctl is-system-running --quiet 2>/dev/null; }
has_manager() { service is-active --quiet default.target 2>/dev/null; }
# What a new login does to the services of a person.
log_in_again() { in_system systemctl restart user@1000.service && wait_for "the person's systemd" has_manager; }

make_system() {
    copy_system "$1" "$root"
    # What the package needs comes before the boot, after which there is no network.
    # shellcheck disable=SC2086
    { before_boot apt-get update && before_boot apt-get install --yes --no-install-recommends $user_packages &&
        before_boot apt-get satisfy --yes --no-install-recommends "$(dpkg-deb --field "$package" Depends)"; } >"$folder/log" 2>&1 ||
        { tail -n 10 "$folder/log" >&2; fail "the system cannot be made"; }
    rm "$root/usr/sbin/policy-rc.d"
    before_boot useradd --create-home --uid 1000 --shell /bin/bash ann
    cp "$package" "$root/kith.deb"
    make_older "$package" "$root/older.deb"
}

# Runs in the new namespaces: what a container is given before its first process.
# shellcheck disable=SC2016
readonly first_process='
    set -e
    root=$1
    mount --make-rprivate /
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    mount -t tmpfs -o mode=755 tmpfs "$root/run"
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    mount -t tmpfs tmpfs "$root/dev/shm"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    for device in null zero full random urandom tty; do
        touch "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    ip link set lo up
    exec chroot "$root" env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd'

boot() {
    mkdir "$cgroup"
    bash -c 'echo $BASHPID >"$0/cgroup.procs"; exec unshare --mount --pid --fork --kill-child --ipc --uts --net --cgroup bash -c "$1" bash "$2"' \
        "$cgroup" "$first_process" "$root" >"$folder/boot" 2>&1 </dev/null &
    disown
    wait_for "systemd to begin" grep -qs . "$cgroup/init.scope/cgroup.procs"
    init=$(head -n 1 "$cgroup/init.scope/cgroup.procs")
    wait_for "the system to run" boots
    in_system loginctl enable-linger ann
    wait_for "the person's systemd" has_manager
}

install_package() { in_system dpkg --install "$1" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "the package cannot be installed"; }; }

step "A system of Debian with systemd, of which Kith knows nothing"
make_system "$2"
boot

step "Installed: without notes nothing runs, with notes the node starts with the person"
install_package /older.deb
log_in_again
is ActiveState inactive && is ConditionResult no || fail "the node runs where nobody has notes"
note=$(as_ann kith note add "Einkauf für Zoë" --body "Brötchen" | tail -n 1)
log_in_again
wait_for "the node" is SubState running
told StatusText | grep -q 'Local only' || fail "systemd was not told what the node does: $(told StatusText)"
as_ann kith status --json | grep -q '"isRunning" : true' || fail "kith status knows nothing of the node"
grep -qx "NoNewPrivs:	1" "/proc/$(node_pid)/status" && grep -qx "Seccomp:	2" "/proc/$(node_pid)/status" || fail "the node is not in a sandbox"
sleep 5
check_memory "$(node_pid)" "an idle node"

step "Killed: it is started again"
pid=$(told MainPID)
kill -KILL "$(node_pid)"
wait_for "another node" runs_as_another "$pid"

step "Upgraded while it runs: it is the new one that goes on"
pid=$(told MainPID)
install_package /kith.deb
wait_for "the new node" runs_as_another "$pid"
as_ann kith verify | grep -q 'All is well' || fail "kith verify is not content after the upgrade"

step "Removed: it stops, and the notes stay"
cp "$root/usr/bin/kith" "$folder/kith"
in_system dpkg --purge kith >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "the package cannot be removed"; }
wait_for "the node to end" is MainPID 0
grep -q 'kept /home/ann/.local/share/kith' "$folder/log" || fail "the purge does not say where the notes are"

step "kith up --install: a program of one's own is run by one's own systemd"
install -D -o 1000 -g 1000 "$folder/kith" "$root/home/ann/.local/bin/kith"
before_boot chown -R ann:ann /home/ann/.local
as_ann kith up --install --port 4750 >"$folder/log" || { cat "$folder/log" >&2; fail "kith up --install"; }
wait_for "the node" is SubState running
log_in_again
wait_for "the node of a new login" is SubState running
told ExecStart | grep -q '/home/ann/.local/bin/kith up --port 4750' || fail "systemd runs something else: $(told ExecStart)"
as_ann kith note show "$note" | grep -q 'Brötchen' || fail "the note is gone"
as_ann kith up --uninstall >"$folder/log" || { cat "$folder/log" >&2; fail "kith up --uninstall"; }
is MainPID 0 && is LoadState not-found || fail "the service is still there"
succeeded=yes
step "The service is well"
