#!/usr/bin/env bash
# Two Kith nodes on this machine find each other by mDNS and share a note. Leaves nothing behind.
#
#   usage: scripts/demo.sh
#
# The network is the first of these that works here; DEMO_NETWORK=lan|system|private insists on one:
#   lan      two hosts of a private LAN (scripts/lan.sh), each with an mDNS daemon of its own; needs root
#   system   the mDNS daemon of this machine
#   private  a D-Bus and an mDNS daemon for the demo alone, on this machine's network; needs root
# KITH=PATH uses that kith instead of building one.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly wait_seconds_max=30
folder=$(mktemp -d "${TMPDIR:-/tmp}/kith-demo.XXXXXX")
export LAN=$folder/lan
network=
processes=()
succeeded=no

if [ -t 1 ]; then bold=$'\e[1m' green=$'\e[32m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' green='' dim='' plain=''; fi
step() { printf '%s\n' "$*"; }
detail() { printf '%s    %s%s\n' "$dim" "$*" "$plain"; }
fail() { printf 'demo: %s\n' "$*" >&2; exit 1; }

clean_up() {
    local process host
    trap - EXIT INT TERM
    # Nodes say goodbye first, the daemons they say it to are stopped last.
    for process in "${processes[@]:-}"; do
        [ -z "$process" ] || { kill "$process" 2>/dev/null && wait "$process" 2>/dev/null; } || true
    done
    if [ "$succeeded" = no ]; then
        for host in 1 2; do
            [ ! -s "$folder/$host/log" ] || { printf '\nThe last words of node %s:\n' "$host"; tail -n 10 "$folder/$host/log"; } >&2
        done
    fi
    [ "$network" != lan ] || scripts/lan.sh down
    for process in dbus avahi; do
        [ ! -s "$folder/$process.pid" ] || kill "$(cat "$folder/$process.pid")" 2>/dev/null || true
    done
    rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

now_milliseconds() {
    if [ -n "${EPOCHREALTIME:-}" ]; then
        local microseconds=${EPOCHREALTIME/[.,]/}
        printf '%s' "$((microseconds / 1000))"
    else # bash before version 5, as on macOS
        perl -MTime::HiRes=time -e 'printf "%d", time * 1000'
    fi
}

# ---- the network ----

mdns_answers() {
    [ "$(uname -s)" = Darwin ] ||
        dbus-send --system --print-reply --reply-timeout=3000 --dest=org.freedesktop.Avahi / \
            org.freedesktop.Avahi.Server.GetVersionString >/dev/null 2>&1
}

use_lan() { scripts/lan.sh supported 2>"$folder/why-no-lan" && network=lan && scripts/lan.sh up 2; }
use_system() { mdns_answers && network=system; }

use_private() {
    [ "$(id -u)" -eq 0 ] || return 1
    cat >"$folder/dbus.conf" <<END
<busconfig>
  <type>system</type>
  <listen>unix:path=$folder/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/> <allow own="*"/> <allow send_destination="*"/> <allow receive_sender="*"/>
  </policy>
</busconfig>
END
    printf '[server]\nhost-name=kith-demo\n[wide-area]\nenable-wide-area=no\n[publish]\npublish-hinfo=no\npublish-workstation=no\n' \
        >"$folder/avahi.conf"
    export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$folder/bus
    dbus-daemon --config-file="$folder/dbus.conf" --fork --print-pid >"$folder/dbus.pid" || return 1
    avahi-daemon --no-rlimits --no-chroot --no-drop-root -f "$folder/avahi.conf" >"$folder/avahi.log" 2>&1 &
    printf '%s\n' $! >"$folder/avahi.pid"
    network=private
    wait_for "the mDNS daemon" mdns_answers
}

choose_network() {
    case ${DEMO_NETWORK:-any} in
        lan) use_lan || fail "no private LAN: $(cat "$folder/why-no-lan")" ;;
        system) use_system || fail "no mDNS daemon answers on this machine; start avahi-daemon and dbus" ;;
        private) use_private || fail "private daemons need root" ;;
        any)
            use_lan || use_system || use_private ||
                fail "no mDNS daemon answers on this machine, and starting one needs root. Start avahi-daemon and dbus, or try: sudo make demo"
            ;;
        *) fail "DEMO_NETWORK is lan, system or private, not '$DEMO_NETWORK'" ;;
    esac
    case $network in
        lan) detail "network: a private LAN of two hosts inside this machine" ;;
        system) detail "network: this machine, with its own mDNS daemon" ;;
        private) detail "network: this machine, with an mDNS daemon for this demo" ;;
    esac
}

# ---- the nodes ----

build() {
    if [ -n "${KITH:-}" ]; then
        kith=$KITH
        return
    fi
    step "Building (some minutes the first time) ..."
    if [ -t 1 ]; then
        swift build --product kith || fail "the build failed; its messages are above"
    else
        swift build --product kith >"$folder/build.log" 2>&1 || { tail -n 30 "$folder/build.log" >&2; fail "the build failed"; }
    fi
    kith=$(swift build --show-bin-path)/kith
}

# Makes `command` what runs `kith ARGUMENTS` as node 1 or 2: in its home, and on its host if there are two.
command_of() {
    local number=$1
    shift
    command=(env KITH_HOME="$folder/$number" "$kith" "$@" --store "$folder/$number/notes.kith")
    [ "$network" != lan ] || command=(scripts/lan.sh exec "$number" "${command[@]}")
}

node() { command_of "$@" && "${command[@]}"; }

start_node() {
    command_of "$1" up --port 0
    "${command[@]}" >"$folder/$1/log" 2>&1 &
    processes+=($!)
}

wait_for() {
    local what=$1 deadline=$((SECONDS + wait_seconds_max)) process
    shift
    until "$@"; do
        for process in "${processes[@]:-$$}"; do kill -0 "$process" 2>/dev/null || fail "a node has stopped"; done
        [ "$SECONDS" -lt "$deadline" ] || fail "waited $wait_seconds_max seconds for $what"
        sleep 0.02
    done
}

has_note() { node "$1" note show "$2" >"$folder/note" 2>/dev/null; }

by_command() { node "$1" note add "$2" --body "$3"; }

# As a browser does it, with an address that lets it in.
on_page() {
    local number=$1 title=$2 body=$3 on_host=()
    [ "$network" != lan ] || on_host=(scripts/lan.sh exec "$number")
    "${on_host[@]}" python3 - "$(node "$number" web | tail -n 1)" "$title" "$body" <<'END'
import http.cookiejar, json, sys, urllib.request
entrance, title, body = sys.argv[1:]
origin = entrance.split("/?")[0]
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
browser.open(entrance)
change = json.dumps({"title": title, "body": body}).encode()
headers = {"Origin": origin, "Content-Type": "application/json"}
print(json.load(browser.open(urllib.request.Request(origin + "/api/note", change, headers)))["id"])
END
}

page_is_served() { grep -q "in a browser" "$folder/$1/log"; }

# Adds a note on one node, waits for it on the other, and says how long that took.
carry_note() {
    local writer=$1 from=$2 to=$3 title=$4 body=$5 id start
    start=$(now_milliseconds)
    id=$("$writer" "$from" "$title" "$body" | tail -n 1)
    wait_for "the note \"$title\" to arrive on node $to" has_note "$to" "$id"
    took_milliseconds=$(($(now_milliseconds) - start))
    sed 's/^/    /' "$folder/note"
}

printf '%sKith: two machines, one note%s\n' "$bold" "$plain"
build
choose_network
mkdir -p "$folder/1" "$folder/2"

step "Two nodes that trust each other:"
id1=$(node 1 device id | tail -n 1)
id2=$(node 2 device id | tail -n 1)
node 1 device add "$id2" --name laptop >/dev/null
node 2 device add "$id1" --name desk >/dev/null
detail "desk    $id1"
detail "laptop  $id2"

step "Both start, without an address of each other. A note is written on desk:"
start_node 1
start_node 2
carry_note by_command 1 2 "Shopping" "Bread, and coffee for two"
step "${green}It is on laptop: found by mDNS, connected and delivered in $took_milliseconds ms from the start.$plain"

step "An answer is written on laptop, on the page that its node serves:"
wait_for "the page of node 2" page_is_served 2
carry_note on_page 2 1 "Answer" "Coffee is done, bread is yours"
step "${green}It is on desk after $took_milliseconds ms, the starts of all commands included.$plain"
step "On your machine, \`kith up\` serves the page at http://127.0.0.1:4780, and \`kith web --open\` opens it."
succeeded=yes
