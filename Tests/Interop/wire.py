"""Frames of the Kith protocol, written from docs/protocol.md alone."""
import hashlib
import struct
import zlib

VALUE_MAX = 2**63 - 1
COMPRESSION_MAX = 16_384
ADOPTED = 1 << 63

HELLO, SLICE, ACKNOWLEDGE, WANT, PING, PONG, GOODBYE, PROOFS, DIFFERENCES, HEADS = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
COMPRESSED, HOUSEHOLD, DIGEST, DIGEST_QUESTION, DIGEST_PARTS = 0xB0, 0xA0, 144, 145, 146
REGISTER, SET, COUNTER, TEXT = 0, 1, 2, 3


class ProtocolError(Exception):
    pass


# --- Primitives -------------------------------------------------------------------------------------------------------

class Reader:
    def __init__(self, data, replicas=None):
        self.data, self.at, self.replicas = data, 0, replicas or []
        # What the sender and the receiver have said that they knew, in a frame with differences.
        self.bases = None

    @property
    def rest(self):
        return len(self.data) - self.at

    def raw(self, count):
        if count > self.rest:
            raise ProtocolError("the frame ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def byte(self):
        return self.raw(1)[0]

    def varint(self):
        number, shift = 0, 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 63:
                raise ProtocolError("a number is too long")
        if number >= 2**64:
            raise ProtocolError("a number is too large")
        return number

    def signed(self):
        number = self.varint()
        return (number >> 1) ^ -(number & 1)

    def fixed64(self):
        return struct.unpack(">Q", self.raw(8))[0]

    def blob(self):
        return self.raw(self.varint())

    def list(self, item):
        count = self.varint()
        if count > self.rest:
            raise ProtocolError("a list is longer than its frame")
        return [item() for _ in range(count)]

    def replica(self):
        number = self.varint()
        if number >= len(self.replicas):
            raise ProtocolError("a replica is not in the table")
        return self.replicas[number]

    def dot(self):
        replica, sequence = self.replica(), self.varint()
        if not 1 <= sequence <= VALUE_MAX:
            raise ProtocolError("a commit has an impossible number")
        return replica, sequence

    def stamp(self):
        dot, timestamp = self.dot(), self.fixed64()
        return dot, timestamp & ~ADOPTED, bool(timestamp & ADOPTED)

    def vector(self):
        return ascending(self.list(self.dot))

    def heads(self):
        heads = self.list(lambda: (self.dot(), self.fixed64()))
        ascending([dot for dot, _ in heads])
        return dict((dot[0], (dot[1], time)) for dot, time in heads)

    def knowledge(self):
        if self.bases is None:
            return self.vector()
        return {replica: head[0] for replica, head in self.difference(lambda sequence: (sequence, None)).items()}

    def known_heads(self):
        return self.heads() if self.bases is None else self.difference(lambda sequence: (sequence, self.fixed64() if sequence else 0))

    def difference(self, head):
        number = self.varint()
        if number & 3 == 3 or number >> 2 > self.rest:
            raise ProtocolError("a difference from what nobody has said")
        known, last = dict(({}, *self.bases)[number & 3]), b""
        for _ in range(number >> 2):
            replica, sequence = self.replica(), self.varint()
            if replica <= last or sequence == 0 and number & 3 == 0:
                raise ProtocolError("a vector is not in order")
            last = replica
            known[replica] = head(sequence)
            if sequence == 0:
                del known[replica]
        return known

    def contents(self):
        count = self.varint()
        return None if count == 0 else set(self.fixed64() for _ in range(count - 1))

    def position(self):
        return self.blob(), self.raw(16)

    def resumption(self):
        return (self.position(), self.knowledge()) if self.byte() else None

    def durable(self, knowledge):
        return self.knowledge() if self.byte() else knowledge

    def value(self):
        kind = self.byte()
        if kind == 0:
            return None
        if kind == 1:
            return self.signed()
        if kind == 2:
            return struct.unpack(">d", self.raw(8))[0]
        if kind == 3:
            return self.blob().decode(errors="replace")
        if kind == 4:
            return self.blob()
        raise ProtocolError("a value of an unknown type")


def ascending(dots):
    ids = [replica for replica, _ in dots]
    if ids != sorted(set(ids)):
        raise ProtocolError("a vector is not in order")
    return dict(dots)


class Writer:
    """Collects the replica table while it writes."""

    def __init__(self):
        self.out, self.replicas = bytearray(), []

    def raw(self, data):
        self.out += data
        return self

    def byte(self, number):
        return self.raw(bytes([number]))

    def varint(self, number):
        while number >= 0x80:
            self.out.append(number & 0x7F | 0x80)
            number >>= 7
        self.out.append(number)
        return self

    def signed(self, number):
        return self.varint((number << 1) ^ (number >> 63))

    def fixed64(self, number):
        return self.raw(struct.pack(">Q", number))

    def blob(self, data):
        return self.varint(len(data)).raw(data)

    def list(self, items, write):
        self.varint(len(items))
        for item in items:
            write(item)
        return self

    def replica(self, replica):
        if replica not in self.replicas:
            self.replicas.append(replica)
        return self.varint(self.replicas.index(replica))

    def dot(self, dot):
        return self.replica(dot[0]).varint(dot[1])

    def stamp(self, dot, timestamp):
        return self.dot(dot).fixed64(timestamp)

    def vector(self, vector):
        return self.list(sorted(vector.items()), self.dot)

    def heads(self, heads):
        return self.list(sorted(heads.items()), lambda head: self.stamp((head[0], head[1][0]), head[1][1]))

    def position(self, position):
        return self.blob(position[0]).raw(position[1])

    def value(self, value):
        if value is None:
            return self.byte(0)
        if isinstance(value, int):
            return self.byte(1).signed(value)
        if isinstance(value, float):
            return self.byte(2).raw(struct.pack(">d", value))
        if isinstance(value, str):
            return self.byte(3).blob(value.encode())
        return self.byte(4).blob(value)

    def frame(self, kind):
        head = Writer().byte(kind).list(self.replicas, lambda replica: None)
        return bytes(head.out) + b"".join(self.replicas) + bytes(self.out)


def heads_hash(heads):
    text = b"kith heads 1\n" + b"".join(replica + struct.pack(">QQ", *head) for replica, head in sorted(heads.items()))
    return hashlib.sha256(text).digest()


# --- Slices -----------------------------------------------------------------------------------------------------------

class Slice:
    def __init__(self, reader):
        self.since, self.vector, self.target = reader.knowledge(), reader.knowledge(), reader.known_heads()
        self.clock, self.flags, self.left = reader.fixed64(), reader.byte(), reader.varint()
        self.tables = reader.list(lambda: (reader.blob(), reader.list(lambda: (reader.byte(), reader.blob()))))
        self.rows, last = [], None
        for number, row, part in reader.list(lambda: (reader.varint(), reader.raw(16), reader.blob())):
            table, columns = self.tables[number]
            if last is not None and (table, row) <= last:
                raise ProtocolError("rows are not in order")
            last = (table, row)
            self.rows.append((table, row, RowPart(Reader(part, reader.replicas), columns)))
        self.reached = reader.byte()
        if self.reached == 2:
            last = reader.position()
        self.position = last
        self.neighbours = reader.list(reader.replica)
        self.floor = self.listed = None
        if self.flags & 4:
            self.floor = reader.knowledge()
            self.listed = reader.position() if reader.byte() == 2 else (b"", b"")
        self.incomplete = {}
        if self.flags & 8:
            for table, _ in self.tables:
                self.incomplete[table] = set(reader.list(lambda: (reader.byte(), reader.blob())))
        if not covers(self.vector, {replica: head[0] for replica, head in self.target.items()}):
            raise ProtocolError("the target is beyond the vector")

    is_first = property(lambda self: bool(self.flags & 1))
    is_last = property(lambda self: bool(self.flags & 2))


class RowPart:
    def __init__(self, reader, columns):
        stamps = reader.list(reader.stamp)
        self.cells = {}
        for _ in range(reader.varint()):
            kind, name = columns[reader.varint()]
            self.cells[kind, name] = CELLS[kind](reader, stamps)
        self.tombstones = dict(reader.list(lambda: (reader.dot(), reader.vector())))
        self.context = reader.vector()
        flags = reader.byte() if reader.rest else 0
        self.is_cut, self.is_prelude = bool(flags & 1), bool(flags & 2)


def read_register(reader, stamps):
    count = reader.varint()
    writes = {}
    for _ in range(count >> 1):
        dot, timestamp, adopted = stamps[reader.varint()]
        writes[dot] = (timestamp, adopted, reader.value())
    return writes, reader.contents() if count & 1 else set()


def read_set(reader, _):
    vector, count = reader.vector(), reader.varint()
    elements = {}
    for _ in range(count >> 2):
        element = reader.blob()
        elements[element] = set(reader.list(reader.dot))
    found = (reader.vector(), set(reader.list(reader.blob))) if count & 1 else ({}, set())
    return vector, elements, found, reader.contents() if count & 2 else set()


def read_counter(reader, _):
    count = reader.varint()
    totals = [(reader.dot(), reader.signed()) for _ in range(count >> 2)]
    if count & 2:
        reader.list(lambda: (reader.stamp(), reader.signed()))
        reader.contents()
    return totals


class Change:
    def __init__(self, dot, timestamp, parents, operations, inserted, flags=0, document=0, seen=0):
        self.dot, self.timestamp, self.parents, self.operations, self.inserted = dot, timestamp, parents, operations, inserted
        self.flags, self.document, self.seen = flags, document, seen


def read_text(reader, _):
    vector, count = reader.vector(), reader.varint()
    marks = set(reader.dot() for _ in range(count >> 1))
    if count & 1:
        reader.vector()
        reader.list(lambda: read_document(reader))
    changes = []
    for _ in range(reader.varint()):
        flags = reader.byte()
        if flags & ~7:
            raise ProtocolError("a change with an unknown flag")
        document = reader.varint() if flags & 4 else 0
        dot, timestamp, _ = reader.stamp()
        parents = [changes[-1].dot] if flags & 1 else reader.list(reader.dot)
        seen = reader.varint() if flags & 2 else 0
        operations, inserted = reader.blob(), reader.blob().decode(errors="replace")
        changes.append(Change(dot, timestamp, parents, read_operations(operations), inserted, flags, document, seen))
    return vector, marks, changes


def read_document(reader):
    number, flags = reader.varint(), reader.byte()
    for flag in (1, 2):
        if flags & flag:
            reader.stamp()
    reader.vector(), reader.vector()
    return number


def read_operations(data):
    reader, end, operations = Reader(data), 0, []
    while reader.rest:
        count, position = reader.varint(), end + reader.signed()
        length, deletes = count >> 1, bool(count & 1)
        operations.append((position, length, deletes))
        end = position if deletes else position + length
    return operations


def write_operations(operations):
    writer, end = Writer(), 0
    for position, length, deletes in operations:
        writer.varint(length * 2 + (1 if deletes else 0)).signed(position - end)
        end = position if deletes else position + length
    return bytes(writer.out)


CELLS = {REGISTER: read_register, SET: read_set, COUNTER: read_counter, TEXT: read_text}


def covers(vector, other):
    return all(vector.get(replica, 0) >= sequence for replica, sequence in other.items())


def join(vector, other):
    for replica, sequence in other.items():
        vector[replica] = max(vector.get(replica, 0), sequence)
    return vector


def knows(vector, dot):
    return vector.get(dot[0], 0) >= dot[1]


# --- Replica ids ------------------------------------------------------------------------------------------------------

def replica_id(public_key, nonce):
    digest = bytearray(hashlib.sha256(b"kith replica 1\n" + public_key + nonce).digest()[:16])
    digest[0] |= 0x80
    return bytes(digest)


def head_text(dot, timestamp):
    return b"kith head 1\n" + dot[0] + struct.pack(">QQ", dot[1], timestamp)


# --- Compression ------------------------------------------------------------------------------------------------------

class Dictionary:
    """What one direction has carried: the dictionary of its compressed frames."""

    def __init__(self):
        self.window = b""

    def note(self, frame):
        if (frame[0] < 128 or 144 <= frame[0] <= 147) and len(frame) <= COMPRESSION_MAX:
            self.window = (self.window + frame)[-COMPRESSION_MAX:]

    def compress(self, frame):
        deflate = zlib.compressobj(wbits=-15, zdict=self.window)
        data = deflate.compress(frame) + deflate.flush()
        return bytes(Writer().byte(COMPRESSED).varint(len(frame)).raw(data).out)

    def expand(self, data):
        reader = Reader(data)
        reader.byte()
        size = reader.varint()
        if size > COMPRESSION_MAX:
            raise ProtocolError("a compressed frame is too large")
        inflate = zlib.decompressobj(wbits=-15, zdict=self.window)
        frame = inflate.decompress(reader.raw(reader.rest), size + 1)
        if len(frame) != size or not inflate.eof or inflate.unused_data:
            raise ProtocolError("a compressed frame is not what it says")
        return frame
