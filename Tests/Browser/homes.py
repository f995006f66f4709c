"""Machines of people, and what lies between them."""

import json
import os
import random
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

KITH, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


class Home:
    """A person's machine: notes, key, and the program that runs."""

    def __init__(self, name):
        self.folder = os.path.join(FOLDER, name)
        os.makedirs(self.folder)
        self.environment = dict(os.environ, KITH_HOME=self.folder, HOME=self.folder, TZ="UTC")
        self.process = None

    def kith(self, *arguments, given=None):
        result = subprocess.run([KITH, *arguments], env=self.environment, input=given, capture_output=True, text=True)
        assert result.returncode == 0, f"kith {arguments}: {result.stderr}"
        return result.stdout.strip()

    def start(self, *arguments):
        log = open(os.path.join(self.folder, "log"), "a")
        self.process = subprocess.Popen([KITH, *arguments], env=self.environment, stdout=log, stderr=log)

    def start_page_again(self, port):
        """Serves the page where it was. Another program may have got the port meanwhile: then it is tried again, as a person would."""
        started = time.time()

        def is_served_again():
            if self.process is None or self.process.poll() is not None:
                self.start("web", "--port", port)
            return os.path.exists(self.page_file()) and os.path.getmtime(self.page_file()) > started

        until(is_served_again, f"the page is served on port {port} again")

    def entrance(self):
        """An address that lets in one browser."""
        until(lambda: os.path.exists(self.page_file()), "the page is served")
        return self.kith("web").splitlines()[-1]

    def page_file(self):
        web = os.path.join(self.folder, "keys", "web")
        names = os.listdir(web) if os.path.isdir(web) else []
        return os.path.join(web, names[0], "page.json") if names else "none"

    def body(self, note):
        """The text as it is in the file: asked for often, that is cheaper than the program."""
        file = sqlite3.connect(f"file:{self.folder}/store/notes.sqlite?mode=ro", uri=True)
        try:
            found = file.execute("SELECT body FROM note WHERE id = ?", (bytes.fromhex(note.replace("-", "")),)).fetchone()
            return found[0] if found else None
        finally:
            file.close()

    def version(self, note):
        return json.loads(self.kith("note", "show", note, "--json"))["version"]

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None


def until(is_true, what, seconds=90):
    """Waits, and looks ever less often: a look at a page or by the program takes the processor from those that are waited for."""
    begun, pause = time.monotonic(), 0.01
    while True:
        looked = time.monotonic()
        if is_true():
            return
        now = time.monotonic()
        assert now < begun + seconds, f"waited {seconds} s until {what}"
        time.sleep(max(pause, 2 * (now - looked)))
        pause = min(1.5 * pause, 0.2)


def free_port():
    """A port of which no program is given one that asks for any: it is free again when its own program starts anew."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first_given = int(file.read().split()[0])
    while True:
        port = random.randrange(10_000, first_given)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return str(port)
            except OSError:
                continue


def hold_port(port):
    """Keeps programs from a port that all of them ask for first, so that another test's does not take the place of one that ends."""
    holder = socket.socket()
    try:
        holder.bind(("127.0.0.1", port))
        holder.listen()
    except OSError:
        # Another one has it already.
        pass
    return holder


def is_served(port):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/")
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


class Cable:
    """Carries the connections of one port to another one, until it is cut."""

    def __init__(self, port):
        self.target, self.pairs, self.is_cut = port, [], False
        self.server = socket.socket()
        self.server.bind(("127.0.0.1", 0))
        self.server.listen()
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.server.accept()
            if self.is_cut:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            self.pairs.append((near, far))
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    @staticmethod
    def carry(one, other):
        try:
            while piece := one.recv(65536):
                other.sendall(piece)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(2)
            except OSError:
                pass

    def cut(self):
        self.is_cut = True
        for near, far in self.pairs:
            for end in (near, far):
                try:
                    end.shutdown(2)
                except OSError:
                    pass
        self.pairs = []

    def mend(self):
        self.is_cut = False


def two_nodes(*names):
    """Two machines that trust each other, with a cable between them that can be cut."""
    desk, laptop = [Home(name) for name in names or ("desk", "laptop")]
    ids = [home.kith("device", "id") for home in (desk, laptop)]
    desk.kith("device", "add", ids[1], "--name", "laptop")
    desk.start("up", "--port", "0", "--no-discovery")
    status = os.path.join(desk.folder, "store", "notes.sqlite-status.json")
    until(lambda: os.path.exists(status) and json.load(open(status)).get("port"), "the node listens")
    cable = Cable(json.load(open(status))["port"])
    laptop.kith("device", "add", ids[0], "--name", "desk", "--address", f"127.0.0.1:{cable.port}")
    laptop.start("up", "--port", "0", "--no-discovery")
    return desk, laptop, cable


def pair(first, second):
    """Two machines of one household, by a token."""
    waiting = subprocess.Popen([KITH, "pair", "--token", "--json", "--no-discovery", "--port", "0", "--name", "first"], env=first.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    said = ""
    while '"token"' not in said or '"port"' not in said:
        line = waiting.stdout.readline()
        assert line, f"no token: {said}"
        said += line
    token = re.search(r'"token" *: *"([^"]*)"', said).group(1)
    port = re.search(r'"port" *: *(\d+)', said).group(1)
    second.kith("pair", token, "--address", f"127.0.0.1:{port}", "--no-discovery", "--name", "second")
    waiting.communicate(timeout=90)
    assert waiting.returncode == 0
