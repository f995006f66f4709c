#!/usr/bin/env bash
# A private LAN of several hosts on this one machine: a bridge, and for each host a network and mount namespace with its own /run,
# D-Bus system bus and avahi-daemon. Nothing of it is seen outside, and nothing outside is seen by it.
#
#   usage: scripts/lan.sh COMMAND        with the environment LAN=FOLDER naming the LAN, a folder that `up` makes
#
#   up N             build a LAN of N hosts (1 to 9) with the addresses 10.77.0.1 ... 10.77.0.N on eth0
#   exec I CMD...    run CMD on host I
#   part I           pull the cable of host I                heal I       and plug it in again
#   unbridge I       host I keeps its carrier, hears nobody  rebridge I   and is heard again
#   isolate I        host I hears all but the other isolated hosts
#   mdns-stop I [S]  send avahi-daemon on host I the signal S (default KILL)
#   mdns-start I     start the D-Bus system bus and avahi-daemon on host I where they are not running
#   pids             the processes of every host: HOST PID COMMAND
#   down             stop every process of the LAN and remove all of it, also after a crash; does nothing if there is nothing
#   supported        whether this machine allows it: exits 0, or 77 with the reason
#
# Any number of LANs may be up at once, each with a folder of its own. Needs root, iproute2, util-linux, dbus, avahi-daemon.
# LAN_IPV6=yes gives the hosts IPv6 link-local addresses as well.
set -euo pipefail

readonly not_supported=77
readonly hosts_max=9

fail() { printf 'lan: %s\n' "$*" >&2; exit 1; }
skip() { printf 'lan: no private LAN on this machine: %s\n' "$*" >&2; exit "$not_supported"; }

# The names of the namespaces: unlike those of every other LAN, because no two have the same folder.
prefix() { cat "$LAN/prefix" 2>/dev/null || fail "there is no LAN in $LAN; make one with: LAN=$LAN scripts/lan.sh up N"; }
holder() { cat "$LAN/host$1.pid" 2>/dev/null || fail "there is no host $1 in $LAN"; }
# Replaces this process. A new mount namespace begins in its root folder; commands expect the one they were given in.
exec_on_host() { local pid; pid=$(holder "$1"); shift; exec nsenter -t "$pid" -n -m -- sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"; }
on_host() { (exec_on_host "$@"); }
# Closes the files this script was started with, before a daemon starts: whoever waits for their end would wait for `down`.
close_inherited() {
    local fd
    for fd in /proc/self/fd/*; do
        fd=${fd##*/}
        [ "$fd" -le 2 ] || eval "exec $fd>&-"
    done
}
switch() { ip -n "$(prefix)sw" "$@"; }

supported() {
    local tool
    [ "$(uname -s)" = Linux ] || skip "it needs the network namespaces of Linux"
    [ "$(id -u)" -eq 0 ] || skip "it needs root"
    for tool in ip nsenter unshare dbus-daemon avahi-daemon; do
        command -v "$tool" >/dev/null || skip "$tool is not installed; run scripts/setup.sh"
    done
    unshare -n -m true 2>/dev/null || skip "network namespaces are not allowed here"
    unshare -n -- ip link add probe type veth peer name probe2 2>/dev/null || skip "the kernel has no veth devices"
    unshare -n -- ip link add probe type bridge 2>/dev/null || skip "the kernel has no bridge devices"
}

up() {
    local hosts=$1 name i
    [[ $hosts =~ ^[1-9]$ ]] || fail "a LAN has 1 to $hosts_max hosts, not '$hosts'"
    supported
    ! [ -e "$LAN/prefix" ] || fail "there is a LAN in $LAN already; take it down first"
    mkdir -p "$LAN"
    name=$(mktemp -u kXXXXXX)
    printf '%s\n' "$name" >"$LAN/prefix"
    trap '[ $? -eq 0 ] || down' EXIT
    ip netns add "${name}sw"
    switch link set lo up
    switch link add br0 type bridge mcast_snooping 0
    switch link set br0 up
    for i in $(seq 1 "$hosts"); do add_host "$i" "$name$i"; done
    for i in $(seq 1 "$hosts"); do mdns_start "$i"; done
}

add_host() {
    local i=$1 netns=$2
    ip netns add "$netns"
    ip link add eth0 netns "$netns" type veth peer name "p$i" netns "$(prefix)sw"
    switch link set "p$i" master br0 up
    [ "${LAN_IPV6:-no}" = yes ] || ip netns exec "$netns" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
    ip -n "$netns" link set lo up
    ip -n "$netns" addr add "10.77.0.$i/24" dev eth0
    ip -n "$netns" link set eth0 up
    # The host is held by a process that lives in its namespaces until `down`.
    ( close_inherited; exec ip netns exec "$netns" unshare -m bash -c '
        mount --make-rprivate /
        mount -t tmpfs -o mode=755,size=16m tmpfs /run
        mkdir -p /run/dbus
        printf "%s\n" $$ >"$1.new" && mv "$1.new" "$1"
        exec sleep infinity' _ "$LAN/host$i.pid" ) </dev/null >/dev/null 2>&1 &
    wait_until "host $i to start" test -s "$LAN/host$i.pid"
    cat >"$LAN/avahi$i.conf" <<END
[server]
host-name=host$i
use-ipv4=yes
use-ipv6=${LAN_IPV6:-no}
allow-interfaces=eth0
ratelimit-interval-usec=1000000
ratelimit-burst=1000
[wide-area]
enable-wide-area=no
[publish]
publish-hinfo=no
publish-workstation=no
END
}

mdns_start() {
    local i=$1
    if ! on_host "$i" pgrep --ns "$(holder "$i")" --nslist net -x dbus-daemon >/dev/null; then
        on_host "$i" rm -f /run/dbus/system_bus_socket
        (close_inherited; exec_on_host "$i" dbus-daemon --system --fork --nopidfile)
    fi
    if ! on_host "$i" pgrep --ns "$(holder "$i")" --nslist net -x avahi-daemon >/dev/null; then
        on_host "$i" rm -f /run/avahi-daemon/pid
        (close_inherited; exec_on_host "$i" avahi-daemon --daemonize --no-rlimits --no-chroot -f "$LAN/avahi$i.conf") >"$LAN/avahi$i.log" 2>&1 ||
            { cat "$LAN/avahi$i.log" >&2; fail "avahi-daemon does not start on host $i"; }
    fi
}

mdns_stop() { pkill "-$2" --ns "$(holder "$1")" --nslist net -x avahi-daemon; }

wait_until() {
    local what=$1 tries=500
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || fail "waited 10 seconds for $what"
        sleep 0.02
    done
}

# Every process of the LAN, found by the namespace it is in, so that children of a crashed run are found too: NAMESPACE PID
processes() {
    local name netns
    name=$(prefix)
    for netns in $(ip netns list | awk -v name="$name" 'index($1, name) == 1 { print $1 }'); do
        ip netns pids "$netns" | while read -r pid; do printf '%s %s\n' "${netns#"$name"}" "$pid"; done
    done
}

pids() {
    processes | while read -r host pid; do
        printf '%s %s %s\n' "$host" "$pid" "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null || true)"
    done
}

signal_all() { processes | while read -r _ pid; do kill "-$1" "$pid" 2>/dev/null || true; done; }

down() {
    local netns tries
    trap - EXIT
    [ -e "$LAN/prefix" ] || return 0
    signal_all TERM
    for tries in $(seq 50); do
        [ -n "$(processes)" ] || break
        sleep 0.02
    done
    signal_all KILL
    for netns in $(ip netns list | awk -v name="$(prefix)" 'index($1, name) == 1 { print $1 }'); do ip netns del "$netns"; done
    rm -f "$LAN"/host*.pid "$LAN"/avahi*.conf "$LAN"/avahi*.log "$LAN/prefix"
    rmdir --ignore-fail-on-non-empty "$LAN"
}

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; }

command=${1:-help}
[ "$#" -eq 0 ] || shift
case $command in
    help | --help | -h) usage; exit 0 ;;
    supported) supported; exit 0 ;;
esac
[ -n "${LAN:-}" ] || fail "set LAN to the folder of the LAN, as in: LAN=/tmp/lan scripts/lan.sh $command"
case $command in
    up) up "${1:-}" ;;
    exec) [ "$#" -ge 2 ] || fail "usage: exec I CMD..."; exec_on_host "$@" ;;
    part) switch link set "p$1" down ;;
    heal) switch link set "p$1" up ;;
    unbridge) switch link set "p$1" nomaster ;;
    rebridge) switch link set "p$1" master br0 ;;
    isolate) switch link set "p$1" type bridge_slave isolated on ;;
    mdns-stop) mdns_stop "$1" "${2:-KILL}" ;;
    mdns-start) mdns_start "$1" ;;
    pids) pids ;;
    down) down ;;
    *) usage >&2; exit 64 ;;
esac
