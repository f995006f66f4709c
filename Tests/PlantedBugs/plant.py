#!/usr/bin/env python3
"""Plants the faults of bugs.txt in a copy of the sources, all at once, each behind a switch.

usage: plant.py SOURCES COPY

COPY gets the sources with every fault behind planted("NAME"), which is true for the fault that the environment variable
KITH_PLANTED_BUG names. The sources themselves know nothing of this.
"""
import pathlib
import shutil
import sys

SWITCH = '''
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

private let plantedName: String? = getenv("KITH_PLANTED_BUG").map { String(cString: $0) }

/// Whether this run plants the fault `name`.
public func planted(_ name: String) -> Bool { plantedName == name }

/// Latin text with its accents composed, as far as the simulator's own values go.
public func composed(_ text: [UInt8]) -> [UInt8] {
    Array(String(decoding: text, as: UTF8.self).replacing("e\\u{301}", with: "\\u{e9}").utf8)
}
'''


def plants(text):
    """Yields names, path, original and replacement."""
    for block in text.strip().split("\n\n")[1:]:
        lines = [line for line in block.split("\n") if not line.startswith("with ")]
        names = [line[4:].split(":")[0] for line in lines if line.startswith("bug ")]
        yield (names, lines[len(names)],
               "\n".join(line[1:] for line in lines if line.startswith("-")),
               "\n".join(line[1:] for line in lines if line.startswith("+")))


def plant(copy, text):
    """Puts every fault in. Returns what does not fit the sources any more."""
    failed = []
    for names, path, original, replacement in plants(text):
        file = copy / path
        source = file.read_text()
        if source.count(original) != 1:
            failed.append(f"{', '.join(names)}: its lines are {source.count(original)} times in {path}")
            continue
        source = source.replace(original, replacement)
        if "import KithCausality" not in source and not path.startswith("KithCausality"):
            source = "import KithCausality\n" + source
        file.write_text(source)
    return failed


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sources, copy = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(sources, copy)
    (copy / "KithCausality" / "PlantedBug.swift").write_text(SWITCH)
    failed = plant(copy, (pathlib.Path(__file__).parent / "bugs.txt").read_text())
    for line in failed:
        print(line)
    sys.exit(1 if failed else 0)


main()
