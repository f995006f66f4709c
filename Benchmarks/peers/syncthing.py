#!/usr/bin/env python3
"""First synchronisation of a folder of notes, one file each, between two Syncthing instances on loopback.

usage: syncthing.py NOTES.jsonl        (an object with "title" and "body" per line)

Prints one line of JSON: seconds from the moment the two are connected until the second has all files and they are on its disk,
and the memory of the larger one. Discovery, relays, reports and updates are off; both may reach 127.0.0.1 only. Exits with 3 if
Syncthing is not installed.
"""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KEY = "benchmark"
CONFIGURATION = """<configuration version="36">
<folder id="notes" path="{folder}" type="sendreceive" rescanIntervalS="3600" fsWatcherEnabled="true">
  <filesystemType>basic</filesystemType><device id="{own}"></device><device id="{other}"></device>
  <minDiskFree unit="%">0</minDiskFree>
</folder>
<device id="{own}" name="own"><address>dynamic</address></device>
<device id="{other}" name="other"><address>tcp4://127.0.0.1:{other_port}</address><paused>{paused}</paused></device>
<gui enabled="true" tls="false"><address>{socket}</address><apikey>{key}</apikey></gui>
<options>
  <listenAddress>tcp4://127.0.0.1:{port}</listenAddress><globalAnnounceEnabled>false</globalAnnounceEnabled>
  <localAnnounceEnabled>false</localAnnounceEnabled><relaysEnabled>false</relaysEnabled><natEnabled>false</natEnabled>
  <urAccepted>-1</urAccepted><autoUpgradeIntervalH>0</autoUpgradeIntervalH><crashReportingEnabled>false</crashReportingEnabled>
  <stunKeepaliveStartS>0</stunKeepaliveStartS><startBrowser>false</startBrowser><setLowPriority>false</setLowPriority>
</options>
</configuration>"""


class Unix(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Instance:
    def __init__(self, root, name):
        self.home = root / name
        self.folder = root / (name + ".notes")
        self.folder.mkdir()
        self.socket = str(self.home / "api")
        run = lambda *arguments: subprocess.run(
            ["syncthing", *arguments, "--home", str(self.home)], check=True, capture_output=True, text=True).stdout.strip()
        run("generate", "--no-default-folder")
        self.id = run("--device-id")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = None

    def configure(self, other, paused):
        (self.home / "config.xml").write_text(CONFIGURATION.format(
            folder=self.folder, own=self.id, other=other.id, other_port=other.port, port=self.port, socket=self.socket, key=KEY,
            paused=str(paused).lower()))

    def start(self):
        self.process = subprocess.Popen(
            ["syncthing", "serve", "--no-browser", "--no-restart", "--no-upgrade", "--home", str(self.home)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=str(self.home), STNODEFAULTFOLDER="1"))
        while True:
            try:
                return self.ask("GET", "/rest/system/ping")
            except OSError:
                if self.process.poll() is not None:
                    raise
                time.sleep(0.05)

    def ask(self, method, path):
        connection = Unix(self.socket)
        connection.request(method, path, headers={"X-API-Key": KEY})
        body = connection.getresponse().read()
        return json.loads(body) if body[:1] in (b"{", b"[") else None

    def wait(self, is_done):
        while not is_done(self.ask("GET", "/rest/db/status?folder=notes")):
            time.sleep(0.02)

    def is_connected_to(self, other):
        connections = self.ask("GET", "/rest/system/connections")["connections"]
        return connections.get(other.id, {}).get("connected", False)

    def peak_memory(self):
        """MiB of the largest process: an instance has a monitor and a worker."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        children = [child for task in tasks for child in task.read_text().split()]
        peaks = []
        for process in [str(self.process.pid), *children]:
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
            peaks += [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")]
        return max(peaks)

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)


def measure(notes, root):
    source, target = Instance(root, "source"), Instance(root, "target")
    for number, note in enumerate(notes):
        folder = source.folder / f"{number // 1000}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.md").write_text(f"# {note['title']}\n\n{note['body']}")
    source.configure(target, paused=False)
    target.configure(source, paused=True)
    try:
        source.start()
        source.wait(lambda status: status["state"] == "idle" and status["localFiles"] == len(notes))
        target.start()
        target.ask("POST", f"/rest/system/resume?device={source.id}")
        while not target.is_connected_to(source):
            time.sleep(0.005)
        start = time.monotonic()
        target.wait(lambda status: status["state"] == "idle" and status["localFiles"] == len(notes) and status["needFiles"] == 0)
        os.sync()
        seconds = time.monotonic() - start
        return {"seconds": seconds, "mebibytes": max(source.peak_memory(), target.peak_memory())}
    finally:
        source.stop()
        target.stop()


if not shutil.which("syncthing"):
    sys.exit(3)
with open(sys.argv[1]) as lines:
    notes = [json.loads(line) for line in lines]
with tempfile.TemporaryDirectory() as root:
    print(json.dumps(measure(notes, Path(root))))
