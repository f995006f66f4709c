#!/usr/bin/env python3
"""Carries connections to a port of this machine over TLS, for tests that speak without it.

usage: tls_tunnel.py PORT

Prints the port that it listens on and the fingerprint (SHA-256) of the certificate that it met, and goes on until its input ends: with
whoever started it.
"""

import hashlib
import os
import socket
import ssl
import sys
import threading

target = int(sys.argv[1])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE


def connect():
    return context.wrap_socket(socket.create_connection(("127.0.0.1", target)))


def carry(near):
    """Both directions in one thread: an SSL socket is for one thread at a time."""
    try:
        far = connect()
    except OSError:
        near.close()
        return
    near.settimeout(0.02)
    far.settimeout(0.02)
    try:
        while True:
            for one, other in ((near, far), (far, near)):
                try:
                    piece = one.recv(65536)
                except (TimeoutError, ssl.SSLWantReadError):
                    continue
                if not piece:
                    return
                other.settimeout(30)
                other.sendall(piece)
                other.settimeout(0.02)
    except OSError:
        pass
    finally:
        near.close()
        far.close()


with connect() as first:
    digest = hashlib.sha256(first.getpeercert(binary_form=True)).hexdigest().upper()
    assert first.version() == "TLSv1.3", first.version()


def end_with_input():
    while os.read(0, 4096):
        pass
    os._exit(0)


threading.Thread(target=end_with_input, daemon=True).start()
server = socket.create_server(("127.0.0.1", 0), backlog=128)
print(server.getsockname()[1], ":".join(digest[i:i + 2] for i in range(0, 64, 2)), flush=True)
while True:
    threading.Thread(target=carry, args=(server.accept()[0],), daemon=True).start()
