#!/usr/bin/env bash
# Writes what the copyright file of the package says of the packages that are in the programs.
#   usage: scripts/licenses.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# As a field of the format that the file is in: a dot for an empty line.
field() { sed -e 's/[[:space:]]*$//' -e 's/^$/./' -e 's/^/ /' "$@"; }

for folder in .build/checkouts/*/; do
    name=$(basename "$folder")
    printf ' .\n %s\n' "$name"
    for file in "$folder"NOTICE.txt "$folder"LICENSE "$folder"LICENSE.txt; do
        [ ! -e "$file" ] || { printf ' .\n' && field "$file"; }
    done
done
# Linked from the system's archive, so that it is in the programs, too.
printf ' .\n cmark-gfm\n .\n'
field /usr/share/doc/libcmark-gfm-dev/copyright
