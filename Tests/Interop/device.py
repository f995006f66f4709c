"""A device: its key, its connections, pairing and the household, written from docs/transport.md, docs/pairing.md and
docs/household.md alone.

Python's `ssl` can ask a client for a certificate only to check it against an authority, and certificates of Kith have none: so this
device dials, and nobody can dial it.
"""
import datetime
import hashlib
import hmac
import os
import socket
import ssl
import struct
import tempfile

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.x509.oid import NameOID

FRAME_MAX = 121_634_816
APP = b"kith.notes"
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
KINDS = {1: "found", 2: "add", 3: "rename", 4: "revoke", 5: "replace"}


class Device:
    def __init__(self, path):
        if os.path.exists(path):
            with open(path, "rb") as file:
                self.key = serialization.load_pem_private_key(file.read(), None)
        else:
            self.key = ec.generate_private_key(ec.SECP256R1())
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(self.pem)
        self.public_key = compressed(self.key.public_key())
        self.id = device_id(self.key.public_key())

    @property
    def pem(self):
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    def sign(self, text):
        r, s = decode_dss_signature(self.key.sign(text, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def certificate(self):
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kith")])
        builder = x509.CertificateBuilder(
            issuer_name=name, subject_name=name, public_key=self.key.public_key(), serial_number=x509.random_serial_number(),
            not_valid_before=datetime.datetime(1970, 1, 1), not_valid_after=datetime.datetime(9999, 12, 31, 23, 59, 59))
        return builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def dial(self, host, port, protocol="kith/1", timeout=30):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols([protocol])
        with tempfile.NamedTemporaryFile() as chain:
            chain.write(self.certificate() + self.pem)
            chain.flush()
            context.load_cert_chain(chain.name)
        plain = socket.create_connection((host, port), timeout)
        return Connection(context.wrap_socket(plain), protocol)


class Connection:
    def __init__(self, tls, protocol):
        self.tls = tls
        if tls.selected_alpn_protocol() != protocol or tls.version() != "TLSv1.3":
            raise ConnectionError("the other side speaks another protocol")
        shown = x509.load_der_x509_certificate(tls.getpeercert(binary_form=True))
        self.peer_key, self.peer = compressed(shown.public_key()), device_id(shown.public_key())

    def send(self, frame):
        self.tls.sendall(struct.pack(">I", len(frame)) + frame)

    def receive(self):
        """The next frame; None at the end."""
        head = self.exactly(4)
        if head is None:
            return None
        length = struct.unpack(">I", head)[0]
        if not 1 <= length <= FRAME_MAX:
            raise ConnectionError("a frame has an impossible length")
        return self.exactly(length)

    def exactly(self, count):
        data = bytearray()
        while len(data) < count:
            try:
                part = self.tls.recv(min(count - len(data), 1 << 16))
            except (ssl.SSLError, ConnectionResetError) as error:
                if isinstance(error, TimeoutError):
                    raise
                return None
            if not part:
                return None
            data += part
        return bytes(data)

    def wait(self, seconds):
        self.tls.settimeout(seconds)

    def close(self):
        self.tls.close()


def compressed(key):
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.CompressedPoint)


def device_id(key):
    return hashlib.sha256(
        key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)).digest()


def id_of_point(point):
    return device_id(ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point))


def is_signature(signature, text, point):
    r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        key.verify(encode_dss_signature(r, s), text, ec.ECDSA(hashes.SHA256()))
        return True
    except (InvalidSignature, ValueError):
        return False


# --- GF(32), for ids and tokens ---------------------------------------------------------------------------------------

def times(a, b):
    product = 0
    for bit in range(5):
        if b >> bit & 1:
            product ^= a << bit
    for bit in range(8, 4, -1):
        if product >> bit & 1:
            product ^= 0b100101 << (bit - 5)
    return product


def power(exponent):
    result = 1
    for _ in range(exponent):
        result = times(result, 2)
    return result


def id_text(identity):
    bits = int.from_bytes(identity, "big") << 4
    symbols = [bits >> 5 * (51 - index) & 31 for index in range(52)]
    groups = []
    for number in range(13):
        group = symbols[4 * number:4 * number + 4]
        check = power(number)
        for place, symbol in enumerate(group):
            check ^= times(power(4 - place), symbol)
        groups.append("".join(ALPHABET[symbol] for symbol in group + [check]))
    return "-".join(groups)


def token_bytes(text):
    symbols = [ALPHABET.index(letter) for letter in text.upper() if letter in ALPHABET]
    if len(symbols) != 28:
        raise ValueError("a token has 28 characters")
    # The remainder modulo (x - a)(x - a^2) = x^2 + (a + a^2) x + a^3.
    high = low = 0
    for symbol in symbols[:26] + [0, 0]:
        high, low = low ^ times(high, power(1) ^ power(2)), symbol ^ times(high, power(3))
    if symbols[26:] != [high, low]:
        raise ValueError("the token is mistyped")
    number = 0
    for symbol in symbols[:26]:
        number = number << 5 | symbol
    return (number >> 2).to_bytes(16, "big")


# --- Pairing ----------------------------------------------------------------------------------------------------------

def pair(device, host, port, token, name="interop", app=APP):
    """Pairs with the device that shows `token`. Returns the id of the other device, its node's port and the household."""
    connection = device.dial(host, port, "kith-pair/1")
    both = device.id, connection.peer
    app_hash = hashlib.sha256(b"kith-pair/1 app" + both[0] + both[1] + app).digest()
    nonce = os.urandom(32)

    def expect(kind):
        frame = connection.receive()
        if frame is None or frame[0] != kind:
            raise ConnectionError(f"instead of message {kind}: {frame and frame.hex()}")
        return frame[1:]

    def proof(role, other):
        text = b"kith-pair/1 proof" + bytes([1]) + role + b"A" + both[1] + b"B" + both[0] + app_hash + other + nonce
        return hmac.digest(token_bytes(token), text, "sha256")

    connection.send(bytes([1, 1, 2]) + nonce + app_hash)
    other = expect(2)
    connection.send(b"\x04" + proof(b"B", other))
    if not hmac.compare_digest(expect(4), proof(b"A", other)):
        raise ConnectionError("the other side does not know the token")
    said = expect(5)
    connection.send(b"\x05" + bytes(2) + b"\x00" + os.urandom(32) + name.encode())
    connection.send(b"\x06")
    expect(6)
    connection.close()
    return connection.peer, struct.unpack(">H", said[:2])[0], said[3:35]


# --- The household ----------------------------------------------------------------------------------------------------

LABEL = b"kith-household/2 record"


class Record:
    def __init__(self, data):
        self.bytes, self.content, self.signature = data, data[:-64], data[-64:]
        self.id = hashlib.sha256(LABEL + self.content).digest()
        self.kind = KINDS[self.content[0]]
        self.household = self.content[1:33]
        rest = self.content[41:]
        if self.kind != "found":
            self.warrant, rest = rest[:32], rest[32:]
        if self.kind in ("add", "rename", "replace"):
            self.number, self.previous, rest = struct.unpack(">H", rest[:2])[0], rest[2:34], rest[34:]
        self.author_key, rest = rest[:33], rest[33:]
        self.author = id_of_point(self.author_key)
        if self.kind != "found":
            self.device, rest = rest[:32], rest[32:]
        if self.kind == "found":
            self.household = self.id
        if not is_signature(self.signature, LABEL + self.content, self.author_key):
            raise ValueError("a record with a bad signature")


def record(device, household, kind, *fields):
    """Signs a record: `fields` are those that follow the clock, the author's key in its place."""
    content = bytes([kind]) + household + struct.pack(">q", 1_700_000_000_000) + b"".join(fields)
    return content + device.sign(LABEL + content)


def message(kind, *parts):
    return bytes([0xA0, 0, kind]) + b"".join(parts)


def records_message(records):
    return message(3, *(struct.pack(">H", len(data)) + data for data in records))


def parse_records(data):
    records = []
    while data:
        length = struct.unpack(">H", data[:2])[0]
        records.append(Record(data[2:2 + length]))
        data = data[2 + length:]
    return records


EVERYTHING = bytes(32) + b"\xff" * 32


def household_digest(records, secrets):
    ids = b"".join(sorted(entry.id for entry in records))
    newest = sorted(secrets, reverse=True)
    return hashlib.sha256(hashlib.sha256(ids).digest() + b"".join(secret for _, secret in newest)).digest()
