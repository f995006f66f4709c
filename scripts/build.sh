#!/usr/bin/env bash
# Runs `swift build` as `make test` does: warnings are errors, the modules that compute are optimised, everything is compiled module by
# module, without debug information, and a module's interface together with its code and not before it: that takes two thirds of the
# processor time. What it makes is in a folder of its own, .build/whole, so that
# it and a plain `swift build`, which is quicker after a change of one file, leave each other alone.
#   usage: scripts/build.sh [ARGUMENT of swift build...]
set -euo pipefail
cd "$(dirname "$0")/.."
export KITH_WERROR=1 KITH_OPTIMIZE=1

swift=${SWIFT:-swift}
readonly folder=.build/whole
options=(--scratch-path "$folder" -debug-info-format none
    -Xswiftc -disable-batch-mode -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -no-emit-module-separately-wmo
    -Xcxx -index-ignore-system-symbols -Xcxx -index-ignore-macros)

# BoringSSL is twice among the packages, and nearly each of its 520 files of C++ reads the same headers of the standard library: they are
# compiled once, with the flags that SwiftPM gives today. Once the system has other headers, clang refuses what was made of the earlier
# ones, and they are compiled again.
readonly flags=(-std=c++17 -O0 -g0 -fPIC -fblocks -fno-omit-frame-pointer)
compile_headers() {
    printf '#include <%s>\n' algorithm array functional initializer_list iterator limits memory optional string_view tuple type_traits \
        utility variant | "$clang" "${flags[@]}" -fpch-instantiate-templates -x c++-header -o "$headers" -
}
headers_are_valid() { "$clang" -x c++ "${flags[@]}" -verify-pch "$headers"; }
headers=$PWD/$folder/headers-$("$swift" --version 2>/dev/null | cksum | cut -d ' ' -f 1).pch
if [ "$(uname)" = Linux ] && [ "$*" != --show-bin-path ]; then
    clang=$("$swift" -print-target-info | sed -nE 's#^ *"runtimeResourcePath": "(.*)/lib/swift".*#\1/bin/clang#p')
    # Fourteen programs of up to 190 MB are linked: the toolchain's own linker takes half as long as the system's.
    [ ! -x "${clang%/*}/ld.lld" ] || options+=(-Xswiftc -use-ld=lld)
    mkdir -p "$folder/toolchain/bin"
    # SwiftPM takes this compiler, and looks for the toolchain's libraries beside it. In a toolchain of another layout it takes its own.
    if [ -x "${clang%/*}/swiftc" ] && [ -e "${clang%/bin/clang}/lib/libIndexStore.so" ]; then
        ln -sfn "${clang%/bin/clang}/lib" "$folder/toolchain/lib"
        cp scripts/swiftc.sh "$folder/toolchain/bin/swiftc"
        export KITH_COMPILER=${clang%/*}/swiftc SWIFT_EXEC=$PWD/$folder/toolchain/bin/swiftc
    fi
    if [ ! -e "$headers" ] || { [ -s "$headers" ] && ! headers_are_valid 2>/dev/null; }; then
        compile_headers 2>/dev/null || : >"$headers"
    fi
fi
[ -s "$headers" ] || exec "$swift" build "${options[@]}" "$@"

with_headers=("${options[@]}" -Xcxx -include-pch -Xcxx "$headers")
result=0
trap 'exit 130' INT
"$swift" build "${with_headers[@]}" "$@" || result=$?
# Clang names these headers if it refuses them, because SwiftPM gives it other flags than it did: then the build goes on without them.
if [ "$result" -ne 0 ] && [ "$*" != --show-bin-path ] &&
    { "$swift" build "${with_headers[@]}" --target CNIOBoringSSL 2>&1 || true; } | grep "/${headers##*/}'" >/dev/null; then
    : >"$headers"
    exec "$swift" build "${options[@]}" "$@"
fi
exit "$result"
