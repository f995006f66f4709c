#!/usr/bin/env python3
"""Measures what docs/performance.md says of files, F1 to F5, with a release build.

usage: files.py KITH [--many N]
  KITH    the program, of a release build
  --many  how many files are watched; 100000

Prints a line for each figure as soon as it is known. Nothing else should run on the machine; everything is in a temporary folder that is
removed.
"""

import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

KITH = os.path.abspath(sys.argv[1])
MANY = int(sys.argv[sys.argv.index("--many") + 1]) if "--many" in sys.argv else 100_000
FOLDER = tempfile.mkdtemp(prefix="kith-files-")
WORDS = "garden table river bread window letter engine winter paper stone market bridge".split()


class Home:
    def __init__(self, name):
        self.folder = os.path.join(FOLDER, name)
        os.makedirs(self.folder)
        self.environment = dict(os.environ, KITH_HOME=self.folder, HOME=self.folder, TZ="UTC")
        self.process = None

    def kith(self, *arguments):
        result = subprocess.run([KITH, *arguments], env=self.environment, capture_output=True, text=True)
        assert result.returncode == 0, f"kith {arguments}: {result.stderr}"
        return result.stdout.strip()

    def start(self, *arguments):
        log = open(os.path.join(self.folder, "log"), "a")
        self.process = subprocess.Popen([KITH, "up", "--port", "0", "--no-discovery", *arguments], env=self.environment, stdout=log, stderr=log)

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def status(self):
        path = os.path.join(self.folder, "store", "notes.sqlite-status.json")
        try:
            return json.load(open(path))
        except (OSError, ValueError):
            return {}

    def memory(self):
        """Resident and largest resident memory of the node, in MiB."""
        lines = open(f"/proc/{self.process.pid}/status").read().splitlines()
        values = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
        return int(values["VmRSS"]) / 1024, int(values["VmHWM"]) / 1024


def until(is_true, what, seconds=900, pause=0.002):
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, f"waited {seconds} s until {what}"
        time.sleep(pause)


def took(body):
    start = time.monotonic()
    body()
    return time.monotonic() - start


def say(line):
    print(line, flush=True)


def write_files(folder, count, size):
    for number in range(count):
        place = os.path.join(folder, f"{number % 100:02}")
        if number < 100:
            os.makedirs(place)
        words = " ".join(WORDS[(number * 7 + k * k) % len(WORDS)] for k in range(size // 7))
        with open(os.path.join(place, f"Note {number}.md"), "w") as file:
            file.write(f"# Note {number}\n\n{words} {number}\n")


def import_and_export():
    home, vault = Home("import"), os.path.join(FOLDER, "vault")
    write_files(vault, 10_000, 350)
    say(f"F1 import of 10,000 files: {took(lambda: home.kith('import', vault)):.2f} s")
    say(f"F1 export of 10,000 notes: {took(lambda: home.kith('export', os.path.join(FOLDER, 'out'))):.2f} s")


def between_files():
    desk, laptop = Home("desk"), Home("laptop")
    ids = [home.kith("device", "id") for home in (desk, laptop)]
    desk.kith("device", "add", ids[1], "--name", "laptop")
    for home in (desk, laptop):
        home.kith("folder", "add", os.path.join(home.folder, "Notes"))
    desk.start()
    until(lambda: desk.status().get("port"), "the node listens")
    laptop.kith("device", "add", ids[0], "--name", "desk", "--address", f"127.0.0.1:{desk.status()['port']}")
    laptop.start()
    here, there = (os.path.join(home.folder, "Notes", "Shared.md") for home in (desk, laptop))
    open(here, "w").write("begun\n")
    until(lambda: os.path.exists(there), "the file is on the other machine")
    times = []
    for turn in range(20):
        time.sleep(0.5)
        text = f"begun\nturn {turn}\n"

        def save():
            open(here + ".new", "w").write(open(here).read() + f"turn {turn}\n")
            os.rename(here + ".new", here)
            until(lambda: f"turn {turn}\n" in open(there).read(), "the save is in the other file")

        times.append(took(save) * 1000)
    say(f"F2 a save here is in the file there: median {statistics.median(times):.0f} ms ({min(times):.0f} to {max(times):.0f})")
    desk.stop()
    laptop.stop()


def watched_folder():
    home = Home("watched")
    notes = os.path.join(home.folder, "Notes")
    write_files(notes, MANY, 350)
    say(f"F3 folder add of {MANY:,} files: {took(lambda: home.kith('folder', 'add', notes)):.1f} s")
    file = os.path.join(notes, "07", "Note 7.md")
    store = sqlite3.connect(f"file:{home.folder}/store/notes.sqlite?mode=ro", uri=True, isolation_level=None)
    row = store.execute("SELECT rowid FROM note WHERE title = 'Note 7'").fetchone()
    assert row, "the note is there"

    def save(word):
        """A save in an editor until a reader of the notes finds it."""
        open(file + ".new", "w").write(open(file).read() + word + "\n")
        os.rename(file + ".new", file)

    def is_there(word):
        return word in store.execute("SELECT body FROM note WHERE rowid = ?", row).fetchone()[0]

    def first():
        home.start()
        save("firstword")
        until(lambda: is_there("firstword"), "the first save is in the notes", pause=0.01)

    say(f"F5 from the start with {MANY:,} files until a first save is in the notes: {took(first):.2f} s")
    time.sleep(2)

    def later():
        save("laterword")
        until(lambda: is_there("laterword"), "a later save is in the notes", pause=0.01)

    say(f"F5 a later save: {took(later):.2f} s")
    time.sleep(60)
    say("F4 memory of the node: %.0f MiB, %.0f at most" % home.memory())
    home.stop()


try:
    say(f"{KITH}: {subprocess.run([KITH, '--version'], capture_output=True, text=True).stdout.strip()}")
    import_and_export()
    between_files()
    watched_folder()
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
