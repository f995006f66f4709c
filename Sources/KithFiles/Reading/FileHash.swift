import Crypto
import Foundation

/// Reads a whole file, and says what its bytes are.
enum FileHash {
    private static let pieceBytes = 256 << 10

    static func size(of file: URL) throws -> UInt64 {
        let source = try FileHandle(forReadingFrom: file)
        defer { try? source.close() }
        return try source.seekToEnd()
    }

    /// - Parameter body: gets the bytes, piece by piece, if there is one.
    static func sha256(of file: URL, _ body: (([UInt8]) throws -> Void)? = nil) throws -> [UInt8] {
        let source = try FileHandle(forReadingFrom: file)
        defer { try? source.close() }
        var hash = SHA256()
        while let piece = try source.read(upToCount: pieceBytes), !piece.isEmpty {
            hash.update(data: piece)
            try body?(Array(piece))
        }
        return Array(hash.finalize())
    }
}
