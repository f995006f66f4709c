#!/usr/bin/env bash
# Runs `swift build` for programs to install: with the commit in their version and, on Linux, with Swift's libraries in themselves, small.
# Elsewhere these libraries are a part of the system.
#   usage: scripts/release.sh [ARGUMENT of swift build...]
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
KITH_DESCRIBED=$(scripts/version.sh --described)
export KITH_DESCRIBED
options=(--configuration release)
# C names its files in what it compiles: by the folder that they are in here, programs would be other bytes in each folder.
for compiler in -Xcc -Xcxx; do options+=("$compiler" "-ffile-prefix-map=$(pwd -P)/="); done

if [ "$(uname -s)" = Linux ]; then
    resources=$("$swift" -print-target-info | sed -nE 's/^ *"runtimeResourcePath": "(.*)".*/\1/p')
    mkdir -p .build
    export KITH_RELEASE=1
    # Nobody looks for a symbol in a program, and short relocations (glibc 2.36 on) are read sooner.
    # An id of the build would be another in each folder, and so is the hash of a module's code, which the compiler writes into each object to
    # pass over what did not change.
    options+=(-Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen)
    linker=(--no-export-dynamic -z pack-relative-relocs --build-id=none)
    cut=$(scripts/unicode.py "${resources}_static/linux/lib_FoundationICU.a" .build/unicode.o)
    mapfile -t -O "${#linker[@]}" linker <<<"$cut"
    options+=(--static-swift-stdlib --disable-local-rpath -debug-info-format none -Xswiftc -use-ld=lld)
    for argument in "${linker[@]}"; do options+=(-Xlinker "$argument"); done
fi
exec "$swift" build "${options[@]}" "$@"
