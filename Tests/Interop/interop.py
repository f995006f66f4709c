#!/usr/bin/env python3
"""A second implementation of the Kith protocol, for tests of the first. It is written from docs/ alone; see docs/testing.md.

  interop.py pair FOLDER HOST:PORT TOKEN        pairs with the device that shows TOKEN
  interop.py exchange FOLDER HOST:PORT          takes what the node at HOST:PORT has, writes a note and a line, and says what it got
  interop.py years FOLDER HOST:PORT             makes a commit of each of 20 replicas, and meets the node in all ways to say what one knows
  interop.py attack NAME FOLDER HOST:PORT [N]   plays one of the attacks of attacks.py, some with N of what they send

Each prints one JSON object.
"""
import faulthandler
import json
import os
import sys
import time

import attacks
from device import Device, id_text, pair
from replica import Closed, Replica, Session


def place(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


class Home:
    """A folder with a key and what pairing told."""

    def __init__(self, folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.path = os.path.join(folder, "paired.json")
        self.device = Device(os.path.join(folder, "key.pem"))

    def pair(self, address, token):
        peer, port, household = pair(self.device, *address, token)
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"peer": peer.hex(), "household": household.hex()}, file)
        return {"peer": id_text(peer), "port": port, "household": household.hex()}

    def connect(self, address, replica=None, **options):
        with open(self.path, encoding="utf-8") as file:
            paired = json.load(file)
        connection = self.device.dial(*address)
        if connection.peer != bytes.fromhex(paired["peer"]):
            raise ConnectionError("another device is there")
        return Session(replica or Replica(self.device), connection, bytes.fromhex(paired["household"]), **options)

    def meet(self, address, seconds=15, **options):
        """A session that is open. A node that has not heard yet of the pairing hangs up."""
        end = time.monotonic() + seconds
        while True:
            session = self.connect(address, **options)
            try:
                session.open()
                return session
            except Closed as closed:
                if closed.reason is not None or time.monotonic() > end:
                    raise
                time.sleep(0.2)


def exchange(home, address):
    session = home.meet(address).catch_up()
    mine = session.replica
    got = mine.notes()
    mine.add_note("Written in Python", "From the documents.\nNothing else.\n", ["interop", "python"])
    edited = [key for key, row in mine.rows.items() if row.is_shown and row.register(b"title") == "Shopping"]
    for key in edited:
        mine.append_text(key, b"body", "and milk\n")
    doomed = [key for key, row in mine.rows.items() if row.is_shown and row.register(b"title") == "Doomed"]
    for key in doomed:
        mine.delete(key)
    session.push()
    is_same = session.compare()
    # What is said of the household, if anything more comes.
    while session.step(0.2) is not None:
        pass
    members = sorted({entry.author.hex() for entry in session.records} | {
        entry.device.hex() for entry in session.records if entry.kind == "add"})
    session.goodbye()
    return {"notes": got, "seen": session.seen, "software": session.software.decode(), "records": len(session.records),
            "isSame": is_same, "isMember": home.device.id.hex() in members, "secrets": len(session.secrets)}


def years(home, address, count=20):
    session = home.meet(address).catch_up()
    mine, seen = session.replica, {}
    for _ in range(count):
        other = Replica(home.device)
        other.commit()
        mine.proofs[other.id], mine.keys[other.id] = mine.learn_of(other), home.device.public_key
    mine.add_note("Before", "", [])
    session.push()
    session.goodbye()
    # Equal; then each knows a note more than the other; then the node knows too many to be named as the newest.
    for name, is_short, change in [("spelled", False, 0), ("equal", True, 0), ("note", True, 1), ("many", True, 12)]:
        if change == 12:
            for replica in sorted(mine.vector, key=lambda replica: mine.times[replica])[:12]:
                del mine.vector[replica]
        elif change:
            mine.add_note("While apart", "", [])
        session = home.meet(address, replica=mine, is_short=is_short)
        if change == 1:
            session.push()
        session.catch_up()
        if session.compare() is False:
            raise SystemExit("the rows differ")
        session.goodbye()
        seen[name] = {"heads": session.heads_seen, "hasDifferences": session.differences > 0}
    return seen


def main(arguments):
    command = arguments[0]
    if command == "pair":
        return Home(arguments[1]).pair(place(arguments[2]), arguments[3])
    if command == "exchange":
        return exchange(Home(arguments[1]), place(arguments[2]))
    if command == "years":
        return years(Home(arguments[1]), place(arguments[2]))
    if command == "attack":
        return attacks.ATTACKS[arguments[1]](Home(arguments[2]), place(arguments[3]), *map(int, arguments[4:]))
    raise SystemExit(__doc__)


if __name__ == "__main__":
    # Whoever waits in vain says what for.
    faulthandler.dump_traceback_later(100, exit=True)
    print(json.dumps(main(sys.argv[1:])))
