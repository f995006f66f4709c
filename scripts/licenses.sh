#!/usr/bin/env bash
# Writes what the copyright file of the package says of the packages that are in the programs.
#   usage: scripts/licenses.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# As a field of the format that the file is in: a dot for an empty line. Debian has the Apache License in a file of its own; exceptions
# and other licenses, which may stand behind it, stay.
field() {
    awk '
        /^[[:space:]]*Apache License[[:space:]]*$/ { within = 1; print "The Apache License, Version 2.0: /usr/share/common-licenses/Apache-2.0" }
        !within { print }
        /END OF TERMS AND CONDITIONS/ { within = 0 }
    ' "$@" | sed -e 's/[[:space:]]*$//' -e 's/^$/./' -e 's/^/ /'
}

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
