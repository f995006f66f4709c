import Crypto
import Foundation

/// What stands before a file that the members of a household can open, and nobody else: the file's key, sealed for each of them.
///
/// `"kith-carry/1\n"` ‖ salt (32 bytes) ‖ number of slots (2 bytes, big-endian) ‖ slots. See docs/carry.md, "Envelope".
package struct HouseholdEnvelope: Sendable {
    package static let magic = Array("kith-carry/1\n".utf8)
    static let saltBytes = 32
    /// Most slots: a household has fewer members.
    package static let slotsMax = 1_024
    private static let keyBytes = 32
    private static let sealedKeyBytes = keyBytes + SealedPieces.tagBytes
    /// Bytes of what HPKE sends beside its ciphertext: an uncompressed point.
    private static let encapsulatedBytes = 65
    /// Bytes before the slots.
    package static var fixedBytes: Int { magic.count + saltBytes + 2 }
    /// Most bytes of all.
    package static var bytesMax: Int { fixedBytes + slotsMax * (1 + encapsulatedBytes + sealedKeyBytes) }

    private enum Kind {
        static let secret: UInt8 = 1
        static let key: UInt8 = 2
    }

    private enum Slot {
        case secret([UInt8])
        case key(encapsulated: [UInt8], [UInt8])
    }

    private static let ciphersuite = HPKE.Ciphersuite(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .chaChaPoly)

    /// The bytes.
    package let header: [UInt8]
    /// The salt, which no other file has.
    package var mark: [UInt8] { Array(header.dropFirst(Self.magic.count).prefix(Self.saltBytes)) }
    /// Of the pieces that follow.
    private let fileKey: SymmetricKey

    /// Seals a new key.
    ///
    /// - Parameters:
    ///   - keys: compressed public keys of those who are to open the file; at most ``slotsMax`` less one.
    ///   - secret: for members whose public key is not known here.
    init(for keys: [[UInt8]], and secret: HouseholdSecret?) throws {
        var random = SystemRandomNumberGenerator()
        let salt = (0..<Self.saltBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
        let fileKey = SymmetricKey(size: .bits256)
        let content = fileKey.withUnsafeBytes(Array.init)
        var slots: [[UInt8]] = []
        for key in keys.prefix(Self.slotsMax - 1) {
            let recipient = try P256.KeyAgreement.PublicKey(compressedRepresentation: key)
            var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: Self.ciphersuite, info: Self.info(salt))
            slots.append([Kind.key] + sender.encapsulatedKey + (try sender.seal(content)))
        }
        if let secret {
            let box = try ChaChaPoly.seal(content, using: Self.key(of: secret, salt), nonce: Self.nonce())
            slots.append([Kind.secret] + box.ciphertext + box.tag)
        }
        header =
            Self.magic + salt + [UInt8(truncatingIfNeeded: slots.count >> 8), UInt8(truncatingIfNeeded: slots.count)]
            + slots.flatMap(\.self)
        self.fileKey = fileKey
    }

    /// Opens what `header` seals.
    ///
    /// - Returns: `nil` if it is sealed for none of these keys and secrets.
    init?(opening header: [UInt8], with keys: [DeviceKey], _ secrets: [HouseholdSecret]) {
        guard let (salt, slots) = Self.parse(header) else { return nil }
        self.header = header
        for slot in slots {
            guard let content = Self.open(slot, salt, keys, secrets), content.count == Self.keyBytes else { continue }
            fileKey = SymmetricKey(data: content)
            return
        }
        return nil
    }

    /// How many bytes follow the first ``fixedBytes``; `nil` if these are no beginning of an envelope.
    ///
    /// Slots differ in length, so this is known slot by slot: `read` is called for the first byte of each.
    package static func read(_ read: (Int) throws -> [UInt8]?) rethrows -> [UInt8]? {
        guard var header = try read(fixedBytes), header.count == fixedBytes, header.starts(with: magic) else { return nil }
        let count = Int(header[header.count - 2]) << 8 | Int(header[header.count - 1])
        guard count <= slotsMax else { return nil }
        for _ in 0..<count {
            guard let kind = try read(1)?.first, let length = length(of: kind), let rest = try read(length), rest.count == length else {
                return nil
            }
            header += [kind] + rest
        }
        return header
    }

    /// Whether a file begins like one, of this version or another.
    package static func isBeginning(_ bytes: some Collection<UInt8>) -> Bool { bytes.starts(with: "kith-carry/".utf8) }

    package func sealer(_ write: @escaping ([UInt8]) throws -> Void) -> PieceSealer {
        PieceSealer(key: fileKey, authenticating: digest, write)
    }

    package func opener() -> PieceOpener { PieceOpener(key: fileKey, authenticating: digest) }

    /// The SHA-256 of the header, which each piece is bound to.
    package var digest: [UInt8] { Array(SHA256.hash(data: header)) }

    // MARK: Parts

    private static func length(of kind: UInt8) -> Int? {
        switch kind {
        case Kind.secret: sealedKeyBytes
        case Kind.key: encapsulatedBytes + sealedKeyBytes
        default: nil
        }
    }

    private static func parse(_ header: [UInt8]) -> (salt: [UInt8], slots: [Slot])? {
        var rest = header[...]
        func take(_ count: Int) -> [UInt8]? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        guard take(magic.count) == magic, let salt = take(saltBytes), let count = take(2) else { return nil }
        var slots: [Slot] = []
        for _ in 0..<(Int(count[0]) << 8 | Int(count[1])) {
            guard let kind = take(1)?.first else { return nil }
            switch kind {
            case Kind.secret:
                guard let sealed = take(sealedKeyBytes) else { return nil }
                slots.append(.secret(sealed))
            case Kind.key:
                guard let encapsulated = take(encapsulatedBytes), let sealed = take(sealedKeyBytes) else { return nil }
                slots.append(.key(encapsulated: encapsulated, sealed))
            default: return nil
            }
        }
        return rest.isEmpty ? (salt, slots) : nil
    }

    private static func open(_ slot: Slot, _ salt: [UInt8], _ keys: [DeviceKey], _ secrets: [HouseholdSecret]) -> [UInt8]? {
        switch slot {
        case .secret(let sealed):
            secrets.lazy.compactMap { secret -> [UInt8]? in
                guard let nonce = try? nonce(),
                    let box = try? ChaChaPoly.SealedBox(
                        nonce: nonce, ciphertext: sealed.dropLast(SealedPieces.tagBytes), tag: sealed.suffix(SealedPieces.tagBytes))
                else { return nil }
                return (try? ChaChaPoly.open(box, using: key(of: secret, salt))).map(Array.init)
            }.first
        case .key(let encapsulated, let sealed):
            keys.lazy.compactMap { $0.open(sealed, encapsulated: encapsulated, info: info(salt), ciphersuite) }.first
        }
    }

    private static func info(_ salt: [UInt8]) -> Data { Data(magic + salt) }

    /// Each salt makes a key of its own, which seals once.
    private static func nonce() throws -> ChaChaPoly.Nonce { try ChaChaPoly.Nonce(data: [UInt8](repeating: 0, count: 12)) }

    private static func key(of secret: HouseholdSecret, _ salt: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret.bytes), salt: salt, info: magic + Array("secret".utf8), outputByteCount: keyBytes)
    }
}

extension DeviceKey {
    /// What was sealed for this device by HPKE (RFC 9180); `nil` if it was not, or was changed.
    fileprivate func open(_ sealed: [UInt8], encapsulated: [UInt8], info: Data, _ ciphersuite: HPKE.Ciphersuite) -> [UInt8]? {
        guard let key = agreementKey,
            var recipient = try? HPKE.Recipient(
                privateKey: key, ciphersuite: ciphersuite, info: info, encapsulatedKey: Data(encapsulated))
        else { return nil }
        return (try? recipient.open(sealed)).map(Array.init)
    }
}
