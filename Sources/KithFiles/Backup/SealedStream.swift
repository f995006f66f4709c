import Crypto
import CryptoExtras
import Foundation
import KithTrust

/// Bytes that a passphrase opens, in pieces, so that a file of any length passes through.
///
/// `"kith-backup/1\n"` ‖ log₂ N ‖ salt (16 bytes) ‖ pieces (``SealedPieces``). The key is scrypt (RFC 7914, r = 8, p = 1) of the passphrase.
enum SealedStream {
    static let magic = Array("kith-backup/1\n".utf8)
    static let saltBytes = 16
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
}

/// Seals what is written to it.
struct SealingWriter {
    private var sealer: PieceSealer

    /// - Throws: ``FilesError`` with code `wrongPassphrase` for one that is too short; what `write` throws.
    init(passphrase: String, logN: UInt8 = SealedStream.logN, _ write: @escaping ([UInt8]) throws -> Void) throws {
        guard SealedStream.passphraseBytes.contains(passphrase.utf8.count) else {
            throw FilesError(.wrongPassphrase, "The passphrase has to have 10 to 1024 bytes. Take some words that do not belong together.")
        }
        var random = SystemRandomNumberGenerator()
        let header = SealedStream.magic + [logN] + (0..<SealedStream.saltBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
        sealer = PieceSealer(key: try SealedStream.key(passphrase, header: header), authenticating: header, write)
        try write(header)
    }

    mutating func add(_ bytes: [UInt8]) throws { try sealer.add(bytes) }

    mutating func finish() throws { try sealer.finish() }
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
        var opener = PieceOpener(key: try key(passphrase, header: header), authenticating: header)
        var next = try piece(file)
        while true {
            let sealed = next
            next = try piece(file)
            let isFirst = opener.count == 0
            guard let bytes = opener.open(sealed, isLast: next.isEmpty) else {
                throw isFirst ? wrong : FilesError(.data, "\(path) is damaged, or breaks off. Nothing was restored.")
            }
            try write(bytes)
            if next.isEmpty { return }
        }
    }

    private static func piece(_ file: FileHandle) throws -> Data {
        try file.read(upToCount: SealedPieces.sealedBytes) ?? Data()
    }
}
