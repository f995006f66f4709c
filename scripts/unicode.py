#!/usr/bin/env python3
"""Cuts the Unicode data in Swift's static Foundation to what Kith uses, as an object to link instead of it.

  usage: scripts/unicode.py LIBRARY OBJECT

LIBRARY is lib_FoundationICU.a of the Swift that builds. Writes OBJECT and prints the arguments for the linker, one a line.

The data is four fifths languages, which Kith does not speak: its own words are English, its dates ISO 8601, its folding of letters the same
everywhere. What is left out: languages but English (the root, from which all others inherit, stays), tables of character sets (UTF-8 and
UTF-16 need none), dictionaries that find words where no spaces are written. All rules of Unicode and all time zones stay.

The form is that of a package of ICU data in its common form (source/common/ucmndata.h in ICU): a header, the table of contents with offsets
of names and items from the end of the header, the names, the items from multiples of 16 on, all sorted by name.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

ALIGNMENT = 16
LANGUAGE = re.compile(r"([a-z]{2,3})(_.*)?\.res")


def is_used(name):
    file = name.rsplit("/", 1)[-1]
    language = LANGUAGE.fullmatch(file)
    return not file.endswith((".cnv", ".dict")) and (not language or language[1] == "en")


def items(package):
    """The header, and what the package holds by name."""
    header, magic, form = struct.unpack_from("<H2s8x4s", package)
    if magic != b"\xda\x27" or form != b"CmnD":
        raise ValueError("it is no package of ICU data")
    (count,) = struct.unpack_from("<I", package, header)
    contents = [struct.unpack_from("<II", package, header + 4 + 8 * index) for index in range(count)]
    ends = [start for _, start in contents[1:]] + [len(package) - header]
    found = {}
    for (name, start), end in zip(contents, ends):
        if not 0 < start < end <= len(package) - header:
            raise ValueError("its items are not in order")
        found[package[header + name : package.index(b"\0", header + name)].decode("ascii")] = package[header + start : header + end]
    return package[:header], found


def packed(header, kept):
    """The inverse of `items`."""
    names = b"".join(name.encode("ascii") + b"\0" for name in kept)
    name_at = 4 + 8 * len(kept)
    start = name_at + len(names)
    padding = -(len(header) + start) % ALIGNMENT
    start += padding
    contents, data = struct.pack("<I", len(kept)), b""
    for name, item in kept.items():
        contents += struct.pack("<II", name_at, start)
        name_at += len(name) + 1
        item += bytes(-len(item) % ALIGNMENT)
        start += len(item)
        data += item
    return header + contents + names + bytes(padding) + data


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def read(library, folder):
    """The symbol, and its bytes: a member of the library holds nothing else."""
    member = os.path.join(folder, "member.o")
    with open(member, "wb") as file:
        file.write(run("ar", "p", library, "icu_packaged_data.cpp.o"))
    symbols = re.findall(r"^0+ ([0-9a-f]+) R (icudt\d+_dat)$", run("nm", "--print-size", member).decode(), re.MULTILINE)
    if len(symbols) != 1:
        raise ValueError("its data does not have the one symbol that was expected")
    run("objcopy", "--output-target", "binary", "--only-section", ".rodata", member, member + ".dat")
    with open(member + ".dat", "rb") as file:
        data = file.read()
    if len(data) != int(symbols[0][0], 16):
        raise ValueError("its data is not all of the section")
    return symbols[0][1], data


def write(symbol, data, path, folder):
    with open(os.path.join(folder, "data"), "wb") as file:
        file.write(data)
    source = os.path.join(folder, "data.s")
    with open(source, "w") as file:
        file.write(
            f'.section .rodata.unicode, "a", %progbits\n.global {symbol}\n.type {symbol}, %object\n.balign {ALIGNMENT}\n'
            f'{symbol}: .incbin "data"\n.size {symbol}, . - {symbol}\n.section .note.GNU-stack, "", %progbits\n'
        )
    run("as", "-I", folder, "-o", path, source)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    library, path = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        symbol, whole = read(library, folder)
        header, found = items(whole)
        kept = {name: item for name, item in found.items() if is_used(name)}
        cut = packed(header, kept)
        if {name: item[: len(kept[name])] for name, item in items(cut)[1].items()} != kept:
            raise ValueError("what was cut does not read as it was")
        # The linker takes the reference for one to the new name, so that the library's own data is never asked for.
        write("__wrap_" + symbol, cut, path, folder)
    print(f"--wrap={symbol}", os.path.abspath(path), sep="\n")


if __name__ == "__main__":
    try:
        main()
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"unicode: {sys.argv[1]}: {error}")
