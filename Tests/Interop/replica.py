"""A replica in memory and its sessions, written from docs/protocol.md and docs/text.md alone.

It merges registers, sets, tombstones and texts whose changes follow one another; concurrent changes of one text it keeps and shows
none of (docs/text.md says how they would be ordered).
"""
import os
import struct
import time

from device import EVERYTHING, household_digest, is_signature, message, parse_records, records_message
from digest import store_digest
from wire import (ACKNOWLEDGE, ADOPTED, COMPRESSED, DIFFERENCES, DIGEST, DIGEST_PARTS, DIGEST_QUESTION, GOODBYE, HEADS, HELLO, HOUSEHOLD,
                  PING, PONG, PROOFS, REGISTER, SET, SLICE, TEXT, WANT, Change, Dictionary, ProtocolError, Reader, Slice, Writer, covers,
                  head_text, heads_hash, join, knows, replica_id, write_operations)

COMPARING, ATTACHMENTS, TEXTS, MEMBERS, COMPRESSION = 1, 2, 4, 8, 16


class Row:
    def __init__(self):
        self.cells, self.tombstones, self.context = {}, {}, {}

    @property
    def is_shown(self):
        return bool(self.cells) and not self.tombstones

    def register(self, name):
        writes, replaced = self.cells.get((REGISTER, name), ({}, None))
        if not writes:
            return None
        written = [(timestamp, dot, value) for dot, (timestamp, adopted, value) in writes.items() if not adopted]
        if written:
            return max(written)[2]
        return min((timestamp, dot, value) for dot, (timestamp, _, value) in writes.items())[2]

    def elements(self, name):
        _, elements, found, removed = self.cells.get((SET, name), ({}, {}, ({}, set()), set()))
        return sorted(element.decode() for element in elements)

    def text(self, name):
        if (TEXT, name) not in self.cells:
            return None
        _, marks, changes = self.cells[TEXT, name]
        return shown_text(changes) if marks or changes else None


def shown_text(changes):
    """The text that changes give which follow one another; None if some are concurrent, or of several documents."""
    text, heads = [], []
    for change in changes.values():
        if change.document or sorted(change.parents) != heads:
            return None
        text, heads = applied(text, change), [change.dot]
    return "".join(text)


def applied(text, change):
    text, inserted = ([] if change.flags & 2 else list(text)), iter(change.inserted)
    for position, length, deletes in change.operations:
        if deletes:
            del text[position:position + length]
        else:
            text[position:position] = [next(inserted) for _ in range(length)]
    return text


class Replica:
    def __init__(self, device):
        self.device, self.nonce = device, os.urandom(16)
        self.id = replica_id(device.public_key, self.nonce)
        self.vector, self.times, self.rows = {}, {}, {}
        self.proofs, self.keys, self.sequence = {}, {self.id: device.public_key}, 0
        self.clock = 0

    # Writing

    def commit(self):
        self.sequence += 1
        self.clock = max(self.clock + 1, int(time.time() * 1000) << 16)
        self.vector[self.id] = self.sequence
        self.times[self.id] = self.clock
        return (self.id, self.sequence), self.clock

    def own_proof(self, dot=None, timestamp=None):
        dot, timestamp = dot or (self.id, self.sequence), timestamp or self.clock
        return dot, timestamp, (1, self.device.public_key + self.nonce), self.device.sign(head_text(dot, timestamp))

    def learn_of(self, other):
        """Knows from now on what another replica has written last. Returns the proof of that."""
        join(self.vector, other.vector)
        self.times.update(other.times)
        return other.own_proof()

    def add_note(self, title, body="", tags=()):
        dot, now = self.commit()
        row = self.rows.setdefault((b"note", uuid7()), Row())
        wall = int(time.time() * 1000)
        for name, value in ((b"title", title), (b"color", 0), (b"created", wall), (b"updated", wall)):
            row.cells[REGISTER, name] = ({dot: (now, False, value)}, set())
        elements = {('"%s"' % tag).encode(): {dot} for tag in tags}
        row.cells[SET, b"tags"] = ({self.id: dot[1]}, elements, ({}, set()), set())
        changes = {}
        if body:
            changes[dot] = Change(dot, now, [], [(0, len(body), False)], body)
        row.cells[TEXT, b"body"] = ({self.id: dot[1]}, {dot}, changes)
        return dot

    def append_text(self, key, name, text):
        row, (dot, now) = self.rows[key], self.commit()
        vector, marks, changes = row.cells[TEXT, name]
        length = len(shown_text(changes))
        parents = [list(changes)[-1]] if changes else []
        changes[dot] = Change(dot, now, parents, [(length, len(text), False)], text)
        vector[self.id] = dot[1]
        return dot

    def delete(self, key):
        row, (dot, _) = self.rows[key], self.commit()
        row.tombstones = {dot: row_dots(row)}
        row.cells = {}

    # Merging

    def merge(self, slice):
        if not covers(self.vector, slice.since):
            return False
        for table, row, part in slice.rows:
            mine = self.rows.setdefault((table, row), Row())
            self.merge_row(mine, part, dict(self.vector), dict(slice.vector))
        if slice.is_last:
            join(self.vector, {replica: head[0] for replica, head in slice.target.items()})
            for row in self.rows.values():
                row.context = {}
        self.clock = max(self.clock, slice.clock)
        return True

    def merge_row(self, mine, part, known, theirs):
        join(known, mine.context)
        join(theirs, part.context)
        join(mine.context, part.context)
        mine.tombstones = kept(mine.tombstones, part.tombstones, known, theirs)
        for column, cell in part.cells.items():
            if column not in mine.cells:
                mine.cells[column] = EMPTY[column[0]]()
            mine.cells[column] = MERGES[column[0]](mine.cells[column], cell, known, theirs)
        if not part.is_cut:
            for column in [column for column in mine.cells if column not in part.cells]:
                mine.cells[column] = MERGES[column[0]](mine.cells[column], EMPTY[column[0]](), known, theirs)
        mine.cells = {column: cell for column, cell in mine.cells.items() if has_commits(column[0], cell)}
        join(mine.context, theirs)

    def notes(self):
        notes = []
        for (table, row), state in sorted(self.rows.items()):
            if table == b"note":
                notes.append({
                    "id": row.hex(), "deleted": not state.is_shown, "title": state.register(b"title"), "color": state.register(b"color"),
                    "tags": state.elements(b"tags"), "body": state.text(b"body")})
        return notes


EMPTY = {REGISTER: lambda: ({}, set()), SET: lambda: ({}, {}, ({}, set()), set()), TEXT: lambda: ({}, set(), {})}


def kept(mine, others, known, theirs):
    """What both have stays; what one has stays if the other's knowledge does not cover its dot."""
    result = {dot: mine[dot] for dot in mine if dot in others or not knows(theirs, dot)}
    result.update({dot: others[dot] for dot in others if dot not in mine and not knows(known, dot)})
    return result


def merge_register(mine, other, known, theirs):
    return kept(mine[0], other[0], known, theirs), union(mine[1], other[1])


def merge_set(mine, other, known, theirs):
    elements = {}
    for element in set(mine[1]) | set(other[1]):
        of = [dict.fromkeys(cell[1].get(element, ())) for cell in (mine, other)]
        dots = kept(of[0], of[1], known, theirs)
        if dots:
            elements[element] = set(dots)
    return join(dict(mine[0]), other[0]), elements, (join(dict(mine[2][0]), other[2][0]), mine[2][1] | other[2][1]), union(mine[3], other[3])


def merge_text(mine, other, known, theirs):
    marks = kept(dict.fromkeys(mine[1]), dict.fromkeys(other[1]), known, theirs)
    changes = dict(mine[2])
    for change in (other[2].values() if isinstance(other[2], dict) else other[2]):
        changes.setdefault(change.dot, change)
    return join(dict(mine[0]), other[0]), set(marks), changes


def union(mine, other):
    return None if mine is None or other is None else mine | other


MERGES = {REGISTER: merge_register, SET: merge_set, TEXT: merge_text}


def has_commits(kind, cell):
    return bool(cell[0]) if kind != REGISTER else bool(cell[0] or cell[1] is None or cell[1])


def row_dots(row):
    seen = {}
    for (kind, _), cell in row.cells.items():
        join(seen, {})
        for replica, sequence in (cell[0] if kind == REGISTER else cell[0].items()):
            join(seen, {replica: sequence})
    for dot, vector in row.tombstones.items():
        join(join(seen, dict([dot])), vector)
    return seen


def uuid7():
    data = bytearray(struct.pack(">Q", int(time.time() * 1000) << 16)[:6] + os.urandom(10))
    data[6], data[8] = data[6] & 0x0F | 0x70, data[8] & 0x3F | 0x80
    return bytes(data)


# --- Sessions ---------------------------------------------------------------------------------------------------------

class Closed(Exception):
    """The other side said goodbye, or hung up."""

    def __init__(self, reason, text):
        super().__init__(f"{reason}: {text}")
        self.reason, self.text = reason, text


class Session:
    def __init__(self, replica, connection, group=b"", capabilities=COMPARING | TEXTS | MEMBERS | COMPRESSION, app=b"kith.notes",
                 is_short=False):
        # Whether it says the hash of its heads, and not them.
        self.is_short, self.told, self.bases, self.names = is_short, {}, None, set()
        self.newest = self.rest = self.hello_of = None
        self.replica, self.connection, self.group, self.capabilities, self.app = replica, connection, group, capabilities, app
        self.outgoing, self.incoming = Dictionary(), Dictionary()
        self.peer, self.theirs, self.understood = None, {}, 0
        self.answered = self.durable = None
        self.dealt_with, self.acknowledged, self.sent_slices = 0, 0, 0
        self.records, self.secrets, self.is_thief = [], set(), False
        self.seen = {"compressed": 0, "slices": 0, "proofs": 0, "household": 0}
        self.heads_seen, self.differences = [], 0

    # Sending

    def send(self, frame):
        data = frame
        if self.understood & COMPRESSION and 512 <= len(frame) <= 16_384 and (frame[0] < 128 or 144 <= frame[0] <= 147):
            smaller = self.outgoing.compress(frame)
            data = smaller if len(smaller) < len(frame) else frame
        self.outgoing.note(frame)
        self.connection.send(data)

    def hello(self):
        w, mine = Writer(), self.replica
        self.told = {replica: (sequence, mine.times[replica]) for replica, sequence in mine.vector.items()}
        heads = {} if self.is_short else self.told
        w.varint(1).varint(1).replica(mine.id).blob(self.app).blob(self.group).blob(b"interop 1")
        w.varint(self.capabilities).varint(int(time.time() * 1000)).fixed64(mine.clock).heads(heads).byte(0).byte(0)
        if self.is_short:
            w.byte(1).raw(heads_hash(self.told))
        return w.frame(HELLO)

    def open(self):
        self.send(self.hello())
        while self.peer is None:
            self.step()

    def catch_up(self):
        """Takes all that the other side had when it said hello."""
        while not covers(self.replica.vector, self.claimed):
            self.step()
        return self

    def prove(self, proofs):
        w = Writer()
        w.varint(len(proofs))
        for dot, timestamp, (whose, key), signature in sorted(proofs):
            w.dot(dot).fixed64(timestamp).byte(whose).raw(key).raw(signature)
        self.send(w.frame(PROOFS))

    def push(self):
        """Sends what the other side lacks, in one slice."""
        mine = self.replica
        missing = [mine.own_proof()] if mine.sequence > self.theirs.get(mine.id, 0) else []
        missing += [proof for replica, proof in mine.proofs.items() if proof[0][1] > self.theirs.get(replica, 0)]
        if missing:
            self.prove(missing)
        since = {replica: sequence for replica, sequence in self.theirs.items() if replica in mine.vector}
        since = {replica: min(sequence, mine.vector[replica]) for replica, sequence in since.items()}
        target = {replica: (sequence, mine.times[replica]) for replica, sequence in mine.vector.items()}
        self.send(slice_frame(since, mine.vector, target, mine.clock, changed_rows(mine, since)))
        self.sent_slices += 1
        while self.acknowledged < self.sent_slices:
            self.step()
        join(self.theirs, mine.vector)

    # Receiving

    def step(self, seconds=30):
        """Takes one frame. Returns its type; None if nothing came in time."""
        self.connection.wait(seconds)
        try:
            data = self.connection.receive()
        except TimeoutError:
            return None
        if data is None:
            raise Closed(None, "the connection has ended")
        if data[0] == COMPRESSED:
            if not self.understood & COMPRESSION:
                raise ProtocolError("a compressed frame that nobody asked for")
            data = self.incoming.expand(data)
            self.seen["compressed"] += 1
        self.incoming.note(data)
        reader = Reader(data)
        kind = reader.byte()
        if kind == DIFFERENCES:
            if self.bases is None:
                raise ProtocolError("differences from nothing")
            kind, reader.bases = reader.byte(), self.bases
            self.differences += 1
        reader.replicas = reader.list(lambda: reader.raw(16))
        handler = HANDLERS.get(kind)
        if handler is None and kind < 128:
            raise ProtocolError(f"a frame of the unknown type {kind}")
        if handler:
            handler(self, reader)
        return kind

    def on_hello(self, r):
        newest, oldest, self.hello_of = r.varint(), r.varint(), r.replica()
        app, group, self.software = r.blob(), r.blob(), r.blob()
        self.understood = r.varint() & self.capabilities
        r.varint(), r.fixed64()
        heads = r.heads()
        durable = r.durable({replica: head[0] for replica, head in heads.items()})
        r.resumption()
        flags = r.byte() if r.rest else 0
        if not oldest <= 1 <= newest or app != self.app or group != self.group:
            raise ProtocolError("no session is possible")
        if self.hello_of == self.replica.id and not self.is_thief:
            raise ProtocolError("it says that it is this replica")
        if not flags & 1:
            if self.is_short:
                self.send(Writer().byte(0).heads(self.told).byte(0).byte(0).frame(HEADS))
            return self.meets(heads, durable)
        theirs = r.raw(32)
        self.bases = ({}, self.told)
        if not self.is_short:
            return
        if theirs == heads_hash(self.told) and not flags & 2:
            return self.meets(self.told, dict(self.replica.vector))
        newest = dict(sorted(self.told.items(), key=lambda item: (item[1][1], item[0]))[-8:])
        self.names = set(newest)
        self.send(Writer().byte(1).heads(newest).byte(0).byte(0).frame(HEADS))

    def on_heads(self, r):
        kind = r.byte()
        self.heads_seen.append(kind)
        heads = r.known_heads() if kind == 0 else r.heads()
        vector = {replica: head[0] for replica, head in heads.items()}
        if kind == 0:
            return self.meets(heads, r.durable(vector))
        if kind == 1:
            self.newest = heads, r.durable(None)
            others = {replica: head for replica, head in self.told.items() if replica not in self.names}
            self.rest = heads_hash({replica: head for replica, head in others.items() if replica not in heads})
            named = {replica: head for replica, head in others.items() if replica in heads}
            return self.send(Writer().byte(2).heads(named).raw(self.rest).frame(HEADS))
        if r.raw(32) != self.rest:
            return self.send(Writer().byte(0).heads(self.told).byte(0).byte(0).frame(HEADS))
        newest, durable = self.newest
        named = {**newest, **heads}
        others = {replica: head for replica, head in self.told.items() if replica not in self.names and replica not in named}
        self.meets({**others, **named}, durable)

    def meets(self, heads, durable):
        """The other side has said what it knows."""
        self.peer, self.bases = self.hello_of, (heads, self.told)
        self.claimed = claimed = {replica: head[0] for replica, head in heads.items()}
        self.durable = claimed if durable is None else durable
        # What it knows of this replica is what was written here.
        self.theirs = {replica: min(sequence, self.replica.vector[replica])
                       for replica, sequence in claimed.items() if replica in self.replica.vector}
        missing = [proof for replica, proof in self.replica.proofs.items() if proof[0][1] > self.theirs.get(replica, 0)]
        if self.replica.sequence > self.theirs.get(self.replica.id, 0):
            missing.append(self.replica.own_proof())
        if missing:
            self.prove(missing)
        if self.understood & MEMBERS:
            self.tell_household()

    def on_proofs(self, r):
        self.seen["proofs"] += 1
        for _ in range(r.varint()):
            dot, timestamp, whose = r.dot(), r.fixed64(), r.byte()
            key = {0: b"", 1: r.raw(49) if whose == 1 else b"", 2: r.raw(33) if whose == 2 else b""}[whose]
            if whose == 1 and replica_id(key[:33], key[33:]) != dot[0]:
                raise ProtocolError("a key that does not make the id")
            if whose == 2 and dot[0][0] & 0x80:
                raise ProtocolError("somebody vouches for another device's replica")
            point = key[:33] or self.replica.keys[dot[0]]
            signature = r.raw(64)
            if not is_signature(signature, head_text(dot, timestamp), point):
                raise ProtocolError("a signature that is not good")
            self.replica.keys[dot[0]] = point
            old = self.replica.proofs.get(dot[0])
            if dot[0] != self.replica.id and (old is None or old[0][1] < dot[1]):
                self.replica.proofs[dot[0]] = (dot, timestamp, (whose, key) if whose else old[2], signature)
            if dot[0] == self.replica.id and dot[1] > self.replica.sequence:
                raise ProtocolError("a commit of mine that I have not made")

    def proven(self, vector):
        return all(replica == self.replica.id and sequence <= self.replica.sequence
                   or replica in self.replica.proofs and sequence <= self.replica.proofs[replica][0][1]
                   for replica, sequence in vector.items())

    def on_slice(self, r):
        self.seen["slices"] += 1
        slice = Slice(r)
        if not self.proven(slice.vector):
            raise ProtocolError("a slice names commits that nobody has proven")
        join(self.theirs, slice.vector)
        for replica, head in slice.target.items():
            self.replica.times[replica] = head[1]
        self.dealt_with += 1
        if self.replica.merge(slice):
            w = Writer().varint(self.dealt_with)
            self.send(w.vector(self.replica.vector).frame(ACKNOWLEDGE))
        else:
            w = Writer().varint(self.dealt_with)
            self.send(w.vector(self.replica.vector).byte(0).frame(WANT))

    def on_acknowledge(self, r):
        self.acknowledged = r.varint()
        self.durable = r.knowledge()

    def on_want(self, r):
        self.acknowledged = r.varint()
        raise ProtocolError("it wants a delta since " + str(r.knowledge()))

    def on_ping(self, r):
        nonce = r.fixed64()
        r.varint()
        join(self.theirs, r.knowledge())
        w = Writer()
        self.send(w.fixed64(nonce).varint(int(time.time() * 1000)).vector(self.replica.vector).byte(0).frame(PONG))

    def on_pong(self, r):
        self.answered = r.fixed64()
        r.varint()
        join(self.theirs, r.knowledge())

    def compare(self):
        """Whether the rows are what the other side has, which knows the same. The side with the lower id asks."""
        self.their_digest = None
        if self.replica.id < self.peer:
            self.send_digest(1)
        while self.their_digest is None or self.their_digest[0] != self.replica.vector:
            self.step()
        return self.their_digest[1:] == store_digest(self.replica.rows)

    def send_digest(self, asks):
        count, total = store_digest(self.replica.rows)
        w = Writer()
        self.send(w.vector(self.replica.vector).varint(count).fixed64(total).byte(asks).frame(DIGEST))

    def on_digest(self, r):
        self.their_digest = r.knowledge(), r.varint(), r.fixed64()
        if r.byte():
            self.send_digest(0)

    def on_question(self, r):
        # It has no parts to show.
        w = Writer()
        w.vector(r.knowledge())
        for _ in range(2):
            bound = r.position() if r.byte() else None
            w.byte(1).position(bound) if bound else w.byte(0)
        self.send(w.varint(0).frame(DIGEST_PARTS))

    def on_goodbye(self, r):
        raise Closed(r.byte(), r.blob().decode(errors="replace"))

    def on_household(self, r):
        self.seen["household"] += 1
        kind, rest = r.byte(), r.raw(r.rest)
        if kind == 1 and rest != household_digest(self.records, self.secrets):
            self.connection.send(message(2, EVERYTHING, *sorted(entry.id for entry in self.records)))
            self.connection.send(self.secrets_message())
        elif kind == 2:
            theirs = {rest[at:at + 32] for at in range(64, len(rest), 32)}
            missing = [entry.bytes for entry in self.records if entry.id not in theirs and rest[:32] <= entry.id <= rest[32:64]]
            if missing:
                self.connection.send(records_message(missing))
        elif kind == 3:
            known = {entry.id for entry in self.records}
            self.records += [entry for entry in parse_records(rest) if entry.id not in known and entry.household == self.group]
            self.tell_household()
        elif kind == 4:
            self.secrets |= {(struct.unpack(">I", rest[at:at + 4])[0], rest[at + 4:at + 36]) for at in range(0, len(rest), 36)}

    def tell_household(self):
        self.connection.send(message(1, household_digest(self.records, self.secrets)))

    def secrets_message(self):
        return message(4, *(struct.pack(">I", number) + secret for number, secret in self.secrets))

    def goodbye(self):
        self.send(Writer().byte(1).blob(b"done").frame(GOODBYE))
        self.connection.close()


HANDLERS = {
    HELLO: Session.on_hello, HEADS: Session.on_heads, PROOFS: Session.on_proofs, SLICE: Session.on_slice, ACKNOWLEDGE: Session.on_acknowledge,
    WANT: Session.on_want, PING: Session.on_ping, PONG: Session.on_pong, GOODBYE: Session.on_goodbye, HOUSEHOLD: Session.on_household,
    DIGEST: Session.on_digest, DIGEST_QUESTION: Session.on_question}


def changed_rows(replica, since):
    """The parts of rows that somebody lacks who knows `since`."""
    rows = []
    for (table, row), state in sorted(replica.rows.items()):
        seen = row_dots(state)
        if covers(since, seen):
            continue
        cells = {column: cell for column, cell in state.cells.items() if column[0] != SET and column[0] != TEXT}
        cells.update({column: cell for column, cell in state.cells.items() if column[0] in (SET, TEXT)})
        lacking = {column: cell for column, cell in cells.items()
                   if not covers(since, dict_of(column[0], cell))}
        rows.append((table, row, lacking, state.tombstones, len(lacking) < len(cells), since))
    return rows


def dict_of(kind, cell):
    vector = {}
    for replica, sequence in (cell[0] if kind == REGISTER else cell[0].items()):
        join(vector, {replica: sequence})
    return vector


def slice_frame(since, vector, target, clock, rows, flags=3, rest=b""):
    w = Writer()
    w.vector(since).vector(vector).heads(target).fixed64(clock).byte(flags).varint(0)
    tables = {}
    for table, _, cells, *_ in rows:
        tables[table] = sorted(set(tables.get(table, [])) | set(cells), key=lambda column: (column[1], column[0]))
    names = sorted(tables)
    w.list(names, lambda name: w.blob(name).list(tables[name], lambda column: w.byte(column[0]).blob(column[1])))
    w.varint(len(rows))
    for table, row, cells, tombstones, is_cut, known in rows:
        part = Writer()
        part.replicas = w.replicas
        write_row(part, tables[table], cells, tombstones, is_cut, known)
        w.varint(names.index(table)).raw(row).blob(bytes(part.out))
    w.byte(1 if rows else 0)
    w.varint(0)
    return w.raw(rest).frame(SLICE)


def write_row(w, columns, cells, tombstones, is_cut, known, context=None):
    stamps = []
    for column in columns:
        if column[0] == REGISTER and column in cells:
            for dot, (timestamp, adopted, _) in sorted(cells[column][0].items()):
                stamp = (dot, timestamp | (ADOPTED if adopted else 0))
                if stamp not in stamps:
                    stamps.append(stamp)
    w.list(stamps, lambda stamp: w.stamp(*stamp))
    present = [(number, column) for number, column in enumerate(columns) if column in cells]
    w.varint(len(present))
    for number, column in present:
        w.varint(number)
        WRITES[column[0]](w, cells[column], stamps, known)
    w.list(sorted(tombstones.items()), lambda tombstone: w.dot(tombstone[0]).vector(tombstone[1]))
    w.vector(context or {})
    if is_cut:
        w.byte(1)


def write_register(w, cell, stamps, _):
    writes, replaced = cell
    w.varint(2 * len(writes) + (1 if replaced or replaced is None else 0))
    for dot, (timestamp, adopted, value) in sorted(writes.items()):
        w.varint(stamps.index((dot, timestamp | (ADOPTED if adopted else 0)))).value(value)
    write_contents(w, replaced)


def write_contents(w, contents):
    if contents is None:
        w.varint(0)
    elif contents:
        w.varint(len(contents) + 1)
        for one in sorted(contents):
            w.fixed64(one)


def write_set(w, cell, _, __):
    vector, elements, found, removed = cell
    w.vector(vector).varint(4 * len(elements) + (1 if found[1] else 0) + (2 if removed or removed is None else 0))
    for element, dots in sorted(elements.items()):
        w.blob(element).list(sorted(dots), w.dot)
    if found[1]:
        w.vector(found[0]).list(sorted(found[1]), w.blob)
    write_contents(w, removed)


def write_text(w, cell, _, known):
    vector, marks, changes = cell
    w.vector(vector).varint(2 * len(marks))
    for mark in sorted(marks):
        w.dot(mark)
    new = [change for change in changes.values() if not knows(known, change.dot)]
    w.varint(len(new))
    for change in new:
        w.byte(change.flags & 2).stamp(change.dot, change.timestamp).list(sorted(change.parents), w.dot)
        if change.flags & 2:
            w.varint(change.seen)
        w.blob(write_operations(change.operations)).blob(change.inserted.encode())


WRITES = {REGISTER: write_register, SET: write_set, TEXT: write_text}
