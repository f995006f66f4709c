#!/usr/bin/env bash
# Installs what was built: programs, manual pages, documentation, completions, service, desktop entry, icon.
#   usage: scripts/install.sh BUILT FOLDER PREFIX [kith-lab]
#     BUILT    the folder with the programs that were built
#     FOLDER   where to put it all, "" for this machine
#     PREFIX   below FOLDER, as in /usr/local
# With kith-lab, the lab is installed, too.
set -euo pipefail

[ "$#" -ge 3 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 64; }
scripts=$(cd "$(dirname "$0")" && pwd)
built=$(cd "$1" && pwd)
readonly folder=$2 prefix=$3
readonly share=$folder$prefix/share
shift 3
version=$("$scripts/version.sh")
date=$(date --utc --date "@$("$scripts/version.sh" --epoch)" +%Y-%m-%d)

put() { install -d "$(dirname "$2")" && install -m "${3:-644}" "$1" "$2"; }
# Reads standard input.
put_text() { install -d "$(dirname "$1")" && cat >"$1" && chmod 644 "$1"; }

manual() {
    local pages
    pages=$(mktemp -d)
    # The page about `kith lab` comes with the lab.
    "$built/$1" --experimental-dump-help | "$scripts/manual.py" "$pages" --date "$date" --version "kith $version" --without lab
    install -d "$share/man/man1"
    for page in "$pages"/*.1; do gzip --best --no-name <"$page" >"$share/man/man1/$(basename "$page").gz"; done
    chmod 644 "$share"/man/man1/kith*
    rm -r "$pages"
}

for program in kith "$@"; do
    put "$built/$program" "$folder$prefix/bin/$program" 755
    # The hashes of Swift's modules are for linkers, and made of the paths of files.
    strip --strip-all --remove-section=.comment --remove-section=.note --remove-section=.swift_modhash "$folder$prefix/bin/$program"
    manual "$program"
done
(cd "$scripts/../docs" && find . -name '*.md') | while read -r page; do put "$scripts/../docs/$page" "$share/doc/kith/$page"; done
"$built/kith" --generate-completion-script bash | sed "1{/^#!/d}" | put_text "$share/bash-completion/completions/kith"
"$built/kith" --generate-completion-script zsh | put_text "$share/zsh/${ZSH_FOLDER:-site-functions}/_kith"
"$built/kith" --generate-completion-script fish | put_text "$share/fish/vendor_completions.d/kith.fish"
sed "s|^ExecStart=/usr/bin/kith|ExecStart=$prefix/bin/kith|" "$scripts/../Sources/KithCLI/Resources/kith.service" |
    put_text "$folder$prefix/lib/systemd/user/kith.service"
put "$scripts/../packaging/kith.desktop" "$share/applications/kith.desktop"
put "$scripts/../packaging/kith.svg" "$share/icons/hicolor/scalable/apps/kith.svg"
sed "s/@VERSION@/$version/; s/@DATE@/$date/" "$scripts/../packaging/kith.metainfo.xml" | put_text "$share/metainfo/kith.metainfo.xml"
