import Crypto
import CryptoExtras
import Foundation

/// Bytes that a passphrase opens, in pieces, so that a file of any length passes through.
///
/// `"kith-backup/1\n"` ‖ log₂ N ‖ salt (16 bytes) ‖ pieces. The key is scrypt (RFC 7914, r = 8, p = 1) of the passphrase. A piece is 64 KiB,
/// the last one less, as ChaCha20-Poly1305 (RFC 8439) with its tag; its nonce is its number (11 bytes, big-endian) ‖ 1 for the last, else 0,
/// as in STREAM (Hoang, Reyhanitabar, Rogaway and Vizár 2015): pieces cannot be left out, moved, or cut off at the end.
enum SealedStream {
    static let magic = Array("kith-backup/1\n".utf8)
    static let pieceBytes = 64 << 10
    static let saltBytes = 16
    static let tagBytes = 16
    static let headerBytes = 14 + 1 + saltBytes
    /// Shortest and longest passphrase, in bytes.
    static let passphraseBytes = 10...1_024
    /// 128 MiB and some tenths of a second for each guess.
    static let logN: UInt8 = 17
    /// What a file may ask for.
    static let logNMax: UInt8 = 18

    static func key(_ passphrase: String, header: [UInt8]) throws -> SymmetricKey {
        let rounds = 1 << Int(header[magic.count])
        return try KDF.Scrypt.deriveKey(
            from: Array(passphrase.utf8), salt: Array(header.suffix(saltBytes)), outputByteCount: 32, rounds: rounds, blockSize: 8,
            parallelism: 1)
    }

    static func nonce(_ number: UInt64, isLast: Bool) throws -> ChaChaPoly.Nonce {
        let digits = (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
        return try ChaChaPoly.Nonce(data: [0, 0, 0] + digits + [isLast ? 1 : 0])
    }
}

/// Seals what is written to it.
struct SealingWriter {
    private let key: SymmetricKey
    private let header: [UInt8]
    private let write: ([UInt8]) throws -> Void
    private var waiting: [UInt8] = []
    private var number: UInt64 = 0

    /// - Throws: ``FilesError`` with code `wrongPassphrase` for one that is too short; what `write` throws.
    init(passphrase: String, logN: UInt8 = SealedStream.logN, _ write: @escaping ([UInt8]) throws -> Void) throws {
        guard SealedStream.passphraseBytes.contains(passphrase.utf8.count) else {
            throw FilesError(.wrongPassphrase, "The passphrase has to have 10 to 1024 bytes. Take some words that do not belong together.")
        }
        var random = SystemRandomNumberGenerator()
        header = SealedStream.magic + [logN] + (0..<SealedStream.saltBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
        key = try SealedStream.key(passphrase, header: header)
        self.write = write
        try write(header)
    }

    mutating func add(_ bytes: [UInt8]) throws {
        waiting += bytes
        // The last piece is known only at the end.
        while waiting.count > SealedStream.pieceBytes {
            try seal(Array(waiting.prefix(SealedStream.pieceBytes)), isLast: false)
            waiting.removeFirst(SealedStream.pieceBytes)
        }
    }

    mutating func finish() throws {
        try seal(waiting, isLast: true)
    }

    private mutating func seal(_ piece: [UInt8], isLast: Bool) throws {
        let box = try ChaChaPoly.seal(piece, using: key, nonce: SealedStream.nonce(number, isLast: isLast), authenticating: header)
        number += 1
        try write(Array(box.ciphertext) + box.tag)
    }
}

extension SealedStream {
    /// Whether a file is a sealed one.
    static func isSealed(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path), let head = try? file.read(upToCount: magic.count) else { return false }
        return Array(head) == magic
    }

    /// Hands what is in the file to `write`, each piece after it was proved.
    ///
    /// - Throws: ``FilesError`` with code `wrongPassphrase` or `data`.
    static func open(_ path: String, passphrase: String, _ write: ([UInt8]) throws -> Void) throws {
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        let header = Array(try file.read(upToCount: headerBytes) ?? Data())
        guard header.count == headerBytes, header.starts(with: magic), (1...logNMax).contains(header[magic.count]) else {
            throw FilesError(.data, "\(path) is damaged, or of a newer version. Nothing was restored.")
        }
        let wrong = FilesError(.wrongPassphrase, "The passphrase does not open \(path), or the file is damaged. Nothing was restored.")
        guard passphraseBytes.contains(passphrase.utf8.count) else { throw wrong }
        let key = try key(passphrase, header: header)
        var number: UInt64 = 0
        var next = try piece(file)
        while true {
            let sealed = next
            next = try piece(file)
            guard sealed.count >= tagBytes,
                let box = try? ChaChaPoly.SealedBox(
                    nonce: nonce(number, isLast: next.isEmpty), ciphertext: sealed.dropLast(tagBytes), tag: sealed.suffix(tagBytes)),
                let bytes = try? ChaChaPoly.open(box, using: key, authenticating: header)
            else {
                throw number == 0 ? wrong : FilesError(.data, "\(path) is damaged, or breaks off. Nothing was restored.")
            }
            try write(Array(bytes))
            number += 1
            if next.isEmpty { return }
        }
    }

    private static func piece(_ file: FileHandle) throws -> Data {
        try file.read(upToCount: pieceBytes + tagBytes) ?? Data()
    }
}
