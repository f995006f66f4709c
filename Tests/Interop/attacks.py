"""What a dishonest member may try on a node. Each function says what the node did with it.

`lie` opens a session, takes what the node has, sends what it is given, and says how the node ended the session: `closed` is the code
of the reason, None if it hung up without one, and "open" if it went on.
"""
import os
import struct
import time

from device import Record, record, records_message
from replica import Closed, Replica, Row, slice_frame, write_row
from wire import HOUSEHOLD, PING, REGISTER, SET, SLICE, TEXT, VALUE_MAX, Change, Writer


def outcome(session):
    """Whether the node answers a ping behind all that was sent, or why it has ended the session."""
    nonce = int.from_bytes(os.urandom(8), "big")
    try:
        send(session, Writer().fixed64(nonce).varint(0).varint(0).byte(0).frame(PING))
        while session.answered != nonce:
            if session.step(60) is None:
                return {"closed": None, "text": "no answer"}
        session.goodbye()
        return {"closed": "open"}
    except Closed as closed:
        return {"closed": closed.reason, "text": closed.text}
    except OSError as error:
        return {"closed": None, "text": str(error)}


def send(session, *frames):
    """Sends what may be cut off in between."""
    try:
        for frame in frames:
            session.send(frame)
    except OSError:
        pass


def lie(home, address, make):
    session = home.meet(address).catch_up()
    try:
        frames = make(session, session.replica)
    except Closed as closed:
        return {"closed": closed.reason, "text": closed.text}
    send(session, *frames)
    return outcome(session)


def heads(mine, vector=None):
    return {replica: (sequence, mine.times.get(replica, mine.clock)) for replica, sequence in (vector or mine.vector).items()}


def delta(session, mine, rows, vector=None, flags=3, rest=b"", since=None):
    vector = mine.vector if vector is None else vector
    since = {replica: sequence for replica, sequence in session.theirs.items() if replica in mine.vector} if since is None else since
    return slice_frame(since, vector, heads(mine, vector), mine.clock, rows, flags, rest)


# --- What a lie can delete --------------------------------------------------------------------------------------------

def listing_frame(session, mine, vector):
    w = Writer()
    w.vector({}).vector(vector).heads(heads(mine, vector)).fixed64(mine.clock).byte(7).varint(0).varint(0).varint(0).byte(0).varint(0)
    return w.vector(vector).byte(0).frame(SLICE)


def listing_beyond(home, address):
    """A list of rows without any, of somebody who knows commits that nobody has made."""
    return lie(home, address, lambda session, mine: [listing_frame(session, mine, {session.peer: VALUE_MAX})])


def listing_true(home, address):
    """The same with what the sender really knows, and a commit of its own."""
    def make(session, mine):
        mine.commit()
        session.prove([mine.own_proof()])
        return [listing_frame(session, mine, mine.vector)]
    return lie(home, address, make)


def empty_rows(home, address):
    """Parts of all rows that say: I know of this row, and nothing is in it."""
    def make(session, mine):
        mine.commit()
        session.prove([mine.own_proof()])
        rows = [(table, row, {}, {}, False, {}) for (table, row), state in sorted(mine.rows.items()) if state.is_shown]
        return [delta(session, mine, rows)]
    return lie(home, address, make)


# --- Commits that nobody has made -------------------------------------------------------------------------------------

def impossible_commits(home, address):
    """The highest number in a register, a set, a text, a tombstone, a context: each in a session of its own."""
    title, tags, body = (REGISTER, b"title"), (SET, b"tags"), (TEXT, b"body")

    def attempt(cells, tombstones, context=False):
        def make(session, mine):
            dot, now = mine.commit()
            session.prove([mine.own_proof()])
            far = (session.peer, VALUE_MAX)
            rows = [(b"note", os.urandom(16), cells(dot, far, now), tombstones(dot, far), False, {})]
            frame = delta(session, mine, rows)
            return [with_context(session, mine, rows, far) if context else frame]
        return lie(home, address, make)["closed"]

    def none(*_):
        return {}

    def honest(dot, far, now):
        return {title: ({dot: (now, False, "x")}, set())}

    return {
        "register": attempt(lambda dot, far, now: {title: ({far: (now, False, "x")}, set())}, none),
        "set": attempt(lambda dot, far, now: {tags: (dict([dot, far]), {b'"x"': {dot}}, ({}, set()), set())}, none),
        "text": attempt(lambda dot, far, now: {body: (dict([dot, far]), {dot}, {})}, none),
        "tombstone": attempt(none, lambda dot, far: {dot: dict([far])}),
        "context": attempt(honest, none, context=True),
        "vector": lie(home, address, lambda session, mine: [
            slice_frame({}, {session.peer: VALUE_MAX}, {session.peer: (VALUE_MAX, mine.clock)}, mine.clock, [])])["closed"],
    }


def with_context(session, mine, rows, far):
    """The slice of `rows` whose only part has `far` in its context."""
    w = Writer()
    vector = mine.vector
    w.vector({}).vector(vector).heads(heads(mine, vector)).fixed64(mine.clock).byte(3).varint(0)
    table, row, cells, tombstones, _, _ = rows[0]
    columns = sorted(cells)
    w.list([table], lambda name: w.blob(name).list(columns, lambda column: w.byte(column[0]).blob(column[1])))
    part = Writer()
    part.replicas = w.replicas
    write_row(part, columns, cells, tombstones, False, {}, dict([far]))
    w.varint(1).varint(0).raw(row).blob(bytes(part.out)).byte(1).varint(0)
    return w.frame(SLICE)


# --- Who speaks for a replica -----------------------------------------------------------------------------------------

def claim_identity(home, address, times=10):
    """Says that it is the node's own replica, one commit further."""
    session = home.meet(address).catch_up()
    victim, known = session.peer, session.replica.vector.get(session.peer, 0)
    session.goodbye()
    reasons, same = [], 0
    for _ in range(times):
        thief = Replica(home.device)
        thief.id = victim
        thief.vector, thief.times = {victim: known + 1}, {victim: 1 << 40}
        session = home.connect(address, thief)
        session.is_thief = True
        send(session, session.hello())
        reasons.append(outcome(session)["closed"])
        session = home.meet(address)
        same += session.peer == victim
        session.goodbye()
    return {"closed": sorted(set(reasons), key=str), "times": times, "same": same}


def many_replicas(home, address, count=4_200):
    """Proves commits of many replicas of its own."""
    def make(session, mine):
        proofs = []
        for _ in range(count):
            other = Replica(home.device)
            other.commit()
            proofs.append(mine.learn_of(other))
        session.prove(proofs)
        return [delta(session, mine, [])]
    return lie(home, address, make)


# --- Work and room ----------------------------------------------------------------------------------------------------

def concurrent_text(home, address, count=100):
    """One text with changes that are all concurrent, at one place. Says how long the node took to answer."""
    session = home.meet(address).catch_up()
    mine = session.replica
    changes, key, row = {}, (b"note", os.urandom(16)), Row()
    for index in range(count):
        dot, now = mine.commit()
        changes[dot] = Change(dot, now, [], [(0, 1, False)], "abcdefghij"[index % 10])
    row.cells[REGISTER, b"title"] = ({dot: (now, False, "crowded")}, set())
    row.cells[TEXT, b"body"] = ({mine.id: dot[1]}, {dot}, changes)
    mine.rows[key] = row
    started = time.monotonic()
    try:
        session.push()
    except Closed as closed:
        return {"closed": closed.reason, "text": closed.text, "seconds": time.monotonic() - started}
    result = {"seconds": round(time.monotonic() - started, 2), "changes": count}
    return {**result, **outcome(session)}


def junk_columns(home, address, count=1_994):
    """A note with as many columns as there may be, none of which anybody declared."""
    def make(session, mine):
        dot, now = mine.commit()
        session.prove([mine.own_proof()])
        cells = {(REGISTER, b"junk%04d" % number): ({dot: (now, False, number)}, set()) for number in range(count)}
        cells[REGISTER, b"title"] = ({dot: (now, False, "columns")}, set())
        return [delta(session, mine, [(b"note", os.urandom(16), cells, {}, False, {})])]
    return lie(home, address, make)


def junk_tables(home, address, count=1_000):
    """Rows of as many tables as may be in a slice."""
    def make(session, mine):
        dot, now = mine.commit()
        session.prove([mine.own_proof()])
        cells = {(REGISTER, b"x"): ({dot: (now, False, 1)}, set())}
        return [delta(session, mine, [(b"junk%04d" % number, os.urandom(16), cells, {}, False, {}) for number in range(count)])]
    return lie(home, address, make)


def long_title(home, address, count=200_000):
    session = home.meet(address).catch_up()
    session.replica.add_note("A" + "W" * count)
    session.push()
    return outcome(session)


def pings(home, address, count=20_000):
    """Asks and does not read the answers, then reads them for three seconds."""
    session = home.meet(address).catch_up()
    ping = Writer().fixed64(7).varint(0).vector(session.replica.vector).byte(0)
    frame, started = ping.frame(PING), time.monotonic()
    data = struct.pack(">I", len(frame)) + frame
    sent = 0
    session.connection.wait(10)
    try:
        while sent < count:
            session.connection.tls.sendall(data * 500)
            sent += 500
    except OSError:
        pass
    answers, result = 0, {"closed": "open"}
    try:
        end = time.monotonic() + 3
        while time.monotonic() < end and session.step(1.0) is not None:
            answers += 1
    except Closed as closed:
        result = {"closed": closed.reason, "text": closed.text}
    return {"sent": sent, "answers": answers, "seconds": round(time.monotonic() - started, 2), **result}


# --- The household ----------------------------------------------------------------------------------------------------

def joined(home, address):
    """A session that has heard the records of the household."""
    session = home.meet(address).catch_up()
    while not any(entry.kind == "add" and entry.device == home.device.id for entry in session.records):
        session.step()
    while session.step(0.3) is not None:
        pass
    return session


def unsigned_records(home, address, messages=80):
    """Records whose signatures prove nothing, as fast as the node takes them."""
    session = joined(home, address)
    addition = next(entry for entry in session.records if entry.kind == "add" and entry.device == home.device.id)
    batch = []
    for number in range(240):
        content = bytes([3]) + session.group + struct.pack(">q", number) + addition.id + struct.pack(">H", 1) + addition.id
        content += home.device.public_key + home.device.id + struct.pack(">H", 1) + b"\x04junk"
        batch.append(content + b"\x01" * 64)
    sent, frame = 0, records_message(batch)
    session.connection.wait(60)
    try:
        for _ in range(messages):
            session.connection.send(frame)
            sent += 1
    except OSError:
        pass
    return {"sent": sent, **outcome(session)}


def seals(home, address, count=100):
    """Revokes a device that it added itself again and again, each time leaving less standing. Says how often the node told others."""
    session = joined(home, address)
    device, household = home.device, session.group
    own = next(entry for entry in session.records if entry.kind == "add" and entry.device == device.id)
    doomed = os.urandom(32)
    number = struct.pack(">H", 1)
    addition = record(device, household, 2, own.id, number, own.id, device.public_key, doomed, bytes(6), b"\x06doomed")
    session.connection.send(records_message([addition]))
    addition = Record(addition).id
    told = 0

    def listen():
        nonlocal told
        try:
            # The node deals with all that has come before it answers.
            while (kind := session.step(1.0 if told else 60)) is not None:
                told += kind == HOUSEHOLD
        except Closed:
            pass

    for seal in range(65_535, 65_535 - count, -1):
        revocation = record(device, household, 4, own.id, device.public_key, doomed, addition, struct.pack(">H", seal))
        session.connection.send(records_message([revocation]))
    listen()
    return {"sent": count, "told": told, **outcome(session)}


ATTACKS = {
    function.__name__: function
    for function in (listing_beyond, listing_true, empty_rows, impossible_commits, claim_identity, many_replicas, concurrent_text,
                     junk_columns, junk_tables, long_title, pings, unsigned_records, seals)}
