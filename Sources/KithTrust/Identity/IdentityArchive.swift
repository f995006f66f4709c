import Crypto
import CryptoExtras
import Foundation

/// A device's identity in one file that a passphrase opens: the key, the household and the list of devices.
///
/// It is for a backup, or for moving to another machine. Two machines that use one identity at once are one device to all
/// others, which disturbs both; so the old one has to stop. A backup is worth nothing once the key is renewed or revoked.
///
/// The file: `"kith-identity/1\n"` ‖ log₂ N ‖ r ‖ p ‖ salt (16 bytes) ‖ nonce (12) ‖ ciphertext ‖ tag (16). The key is scrypt (RFC 7914)
/// of the passphrase, the cipher ChaCha20-Poly1305 (RFC 8439), and everything before the nonce is authenticated with it.
public enum IdentityArchive {
    /// Largest archive that is read, in bytes.
    public static let bytesMax = 32 * 1024 * 1024
    /// Shortest passphrase that an archive is made with, in UTF-8 bytes.
    public static let passphraseBytesMin = 10
    /// Longest passphrase, in UTF-8 bytes.
    public static let passphraseBytesMax = 1024

    /// How much work a guess takes; the memory is 128 · N · r bytes.
    struct Cost: Hashable {
        var logN: UInt8
        var r: UInt8
        var p: UInt8

        /// 128 MiB and some tenths of a second for each guess.
        static let standard = Cost(logN: 17, r: 8, p: 1)
        /// What an archive may ask for: 256 MiB.
        var isBearable: Bool { (1...18).contains(logN) && r == 8 && p == 1 }
    }

    private static let magic = Array("kith-identity/1\n".utf8)
    private static let saltBytes = 16
    private static let headerBytes = 16 + 3 + saltBytes

    private enum Key {
        static let key = "key"
        static let household = "household"
        static let devices = "devices"
    }

    /// Seals the identity in `folder` in a new file at `path`, mode 0600.
    /// - Throws: `.missingKey`, `.weakPassphrase`, `.fileSystem` if there is a file already, and what reading the files throws.
    public static func export(from folder: URL, to path: String, passphrase: String) throws(TrustError) {
        try export(from: folder, to: path, passphrase: passphrase, cost: .standard)
    }

    static func export(from folder: URL, to path: String, passphrase: String, cost: Cost) throws(TrustError) {
        try PrivateFile.create(path, with: sealed(from: folder, passphrase: passphrase, cost: cost))
    }

    /// The identity in `folder`, sealed.
    static func sealed(from folder: URL, passphrase: String, cost: Cost = .standard) throws(TrustError) -> [UInt8] {
        guard (passphraseBytesMin...passphraseBytesMax).contains(passphrase.utf8.count) else {
            throw TrustError(
                .weakPassphrase,
                "The passphrase has to have \(passphraseBytesMin) to \(passphraseBytesMax) bytes. Take some words that do not belong together."
            )
        }
        // Refuses files that are damaged or exposed before they are put away.
        let id = try DeviceKey.load(from: folder).id
        _ = try TrustStore(in: folder, ownID: id)
        var fields: [String: JSONValue] = [:]
        for (name, file) in files {
            let path = folder.appendingPathComponent(file).path
            guard let bytes = try PrivateFile.read(path, bytesMax: HouseholdFile.bytesMax, forbiddenMode: 0o022) else { continue }
            fields[name] = .string(Data(bytes).base64EncodedString())
        }
        return try seal(fields, passphrase, cost)
    }

    /// Puts the identity in `archive` into `folder`, which must not hold another one.
    /// - Returns: the id of the device.
    /// - Throws: `.wrongPassphrase`, `.corruptedArchive`, `.identityExists`, and what writing the files throws.
    @discardableResult
    public static func restore(_ archive: [UInt8], passphrase: String, into folder: URL) throws(TrustError) -> DeviceID {
        let content = try opened(archive, passphrase)
        try PrivateFolder.create(folder.path)
        for (_, file) in files {
            let present = folder.appendingPathComponent(file).path
            guard FileStatus(path: present) == nil else {
                throw TrustError(
                    .identityExists,
                    "This machine has an identity already: \(present), which is not overwritten. Move that folder away first.")
            }
        }
        var made: [String] = []
        do throws(TrustError) {
            for (name, file) in files {
                guard let data = content[name]?.string.flatMap({ Data(base64Encoded: $0) }) else { continue }
                let path = folder.appendingPathComponent(file).path
                var bytes = Array(data)
                if name == Key.household {
                    var household = try HouseholdFile.household(json: bytes, path: path)
                    household.isImported = true
                    bytes = try HouseholdFile.json(of: household)
                }
                try PrivateFile.create(path, with: bytes)
                made.append(path)
            }
            let id = try DeviceKey.load(from: folder).id
            _ = try TrustStore(in: folder, ownID: id)
            return id
        } catch {
            // What cannot be removed is found when a key is next looked for.
            for path in made.reversed() { try? PrivateFile.remove(path) }
            throw error
        }
    }

    // MARK: Sealing

    static func seal(_ fields: [String: JSONValue], _ passphrase: String, _ cost: Cost) throws(TrustError) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        let salt = (0..<saltBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
        let header = magic + [cost.logN, cost.r, cost.p] + salt
        do {
            let content = try JSONEncoder().encode(JSONValue.object(fields))
            let key = try derivedKey(passphrase, salt, cost)
            return header + Array(try ChaChaPoly.seal(content, using: key, authenticating: header).combined)
        } catch {
            throw TrustError(.fileSystem, "The identity cannot be sealed: \(error)")
        }
    }

    /// In the order in which they are made: the key last, and the household first, since one without the other is used by nobody.
    private static let files = [(Key.household, HouseholdFile.name), (Key.devices, TrustStore.fileName), (Key.key, DeviceKey.fileName)]

    /// What is in `archive`.
    private static func opened(_ archive: [UInt8], _ passphrase: String) throws(TrustError) -> [String: JSONValue] {
        let corrupted = TrustError(.corruptedArchive, "This is no exported identity, or it is damaged. Export it again.")
        guard archive.count <= bytesMax, archive.count > headerBytes, archive.starts(with: magic) else { throw corrupted }
        let header = Array(archive.prefix(headerBytes))
        let cost = Cost(logN: header[16], r: header[17], p: header[18])
        let wrong = TrustError(.wrongPassphrase, "The passphrase does not open this identity, or the file is damaged.")
        // No identity is sealed with one of another length.
        guard (passphraseBytesMin...passphraseBytesMax).contains(passphrase.utf8.count) else { throw wrong }
        guard cost.isBearable,
            let box = try? ChaChaPoly.SealedBox(combined: archive.dropFirst(headerBytes)),
            let key = try? derivedKey(passphrase, Array(header.suffix(saltBytes)), cost)
        else { throw corrupted }
        guard let content = try? ChaChaPoly.open(box, using: key, authenticating: header) else { throw wrong }
        guard let fields = (try? JSONDecoder().decode(JSONValue.self, from: content))?.object, fields[Key.key] != nil else {
            throw corrupted
        }
        return fields
    }

    private static func derivedKey(_ passphrase: String, _ salt: [UInt8], _ cost: Cost) throws -> SymmetricKey {
        try KDF.Scrypt.deriveKey(
            from: Array(passphrase.utf8), salt: salt, outputByteCount: 32, rounds: 1 << Int(cost.logN), blockSize: Int(cost.r),
            parallelism: Int(cost.p))
    }
}
