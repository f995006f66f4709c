#!/usr/bin/env python3
"""Applies a recorded editing history to a text of another library, one transaction per edit.

usage: texts.py loro|yrs TRACE.json.gz

Prints one line of JSON: seconds of processor time (the end text is compared with the recorded one, not timed), edits, version.
Exits with 3 if the library is not installed (pip install loro pycrdt).
"""
import gzip
import json
import sys
import time


class Loro:
    def __init__(self):
        import loro

        version = loro.LORO_VERSION
        self.version = version if isinstance(version, str) else version()
        self.document = loro.LoroDoc()
        self.text = self.document.get_text("text")

    def edit(self, position, deleted, inserted):
        if deleted:
            self.text.delete(position, deleted)
        if inserted:
            self.text.insert(position, inserted)
        self.document.commit()

    def content(self):
        return self.text.to_string()


class Yrs:
    def __init__(self):
        import pycrdt

        self.version = pycrdt.__version__
        self.document = pycrdt.Doc()
        self.text = self.document["text"] = pycrdt.Text()

    def edit(self, position, deleted, inserted):
        with self.document.transaction():
            if deleted:
                del self.text[position:position + deleted]
            if inserted:
                self.text.insert(position, inserted)

    def content(self):
        return str(self.text)


try:
    library = {"loro": Loro, "yrs": Yrs}[sys.argv[1]]()
except ImportError:
    sys.exit(3)
with gzip.open(sys.argv[2]) as file:
    trace = json.load(file)
patches = [patch for transaction in trace["txns"] for patch in transaction["patches"]]
start = time.process_time()
for patch in patches:
    library.edit(*patch)
seconds = time.process_time() - start
if library.content() != trace["endContent"]:
    sys.exit("the end text is another one")
print(json.dumps({"seconds": seconds, "edits": len(patches), "version": library.version}))
