"""Digests of rows, written from docs/protocol.md ("Hashes", "Digests") alone."""
import struct

from wire import ADOPTED, REGISTER, SET, TEXT

MASK, PRIME = 2**64 - 1, 0x100000001B3


class Hash:
    def __init__(self):
        self.h = 0xCBF29CE484222325

    def number(self, n):
        self.h = (self.h ^ (n & MASK)) * PRIME & MASK
        self.h = (self.h ^ (self.h >> 32)) * PRIME & MASK
        return self

    def bytes(self, data):
        self.number(len(data))
        for byte in data:
            self.h = (self.h ^ byte) * PRIME & MASK
        return self

    def id(self, data):
        high, low = struct.unpack(">QQ", data)
        return self.number(high).number(low)

    def dot(self, dot):
        return self.id(dot[0]).number(dot[1])

    def value(self, value):
        if value is None:
            return self.number(0)
        if isinstance(value, int):
            return self.number(1).number(value)
        if isinstance(value, float):
            return self.number(2).number(struct.unpack(">Q", struct.pack(">d", value))[0])
        return self.number(3).bytes(value.encode()) if isinstance(value, str) else self.number(4).bytes(value)

    def contents(self, contents):
        if contents is None:
            self.number(0)
        elif contents:
            self.number(len(contents))
            for one in sorted(contents):
                self.number(one)

    @property
    def end(self):
        h = (self.h ^ (self.h >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        h = (h ^ (h >> 27)) * 0x94D049BB133111EB & MASK
        return h ^ (h >> 31)


def row_digest(table, row, state):
    """None for a row that has no digest."""
    if state.tombstones or not state.cells:
        return None
    h = Hash().bytes(table).id(row)
    for (kind, name), cell in sorted(state.cells.items(), key=lambda entry: (entry[0][1], entry[0][0])):
        h.bytes(name).number(kind)
        if kind == REGISTER:
            for dot, (timestamp, adopted, value) in sorted(cell[0].items()):
                h.dot(dot).number(timestamp | (ADOPTED if adopted else 0)).value(value)
            h.contents(cell[1])
        elif kind == SET:
            for element, dots in sorted(cell[1].items()):
                h.bytes(element)
                for dot in sorted(dots):
                    h.dot(dot)
            for element in sorted(cell[2][1]):
                h.bytes(element)
            h.contents(cell[3])
        elif kind == TEXT:
            for mark in sorted(cell[1]):
                h.dot(mark)
            h.bytes((state.text(name) or "").encode())
    return h.end


def store_digest(rows):
    """How many rows there are, and the sum of their digests."""
    digests = [row_digest(table, row, state) for (table, row), state in rows.items()]
    digests = [digest for digest in digests if digest is not None]
    return len(digests), sum(digests) & MASK
