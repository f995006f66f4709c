import Crypto

/// How a file of any length is sealed: in pieces of 64 KiB, the last one shorter or just as long, each as ChaCha20-Poly1305 (RFC 8439) with
/// its tag.
///
/// The nonce of a piece is its number (11 bytes, big-endian) ‖ 1 for the last, else 0, as in STREAM (Hoang, Reyhanitabar, Rogaway and
/// Vizár 2015): pieces cannot be left out, moved, or cut off at the end. A key seals one file and no other.
package enum SealedPieces {
    /// Bytes of a piece before it is sealed.
    package static let pieceBytes = 64 << 10
    /// Bytes of a tag.
    package static let tagBytes = 16
    /// Most bytes of a piece that is sealed.
    package static let sealedBytes = pieceBytes + tagBytes

    static func nonce(_ number: UInt64, isLast: Bool) throws -> ChaChaPoly.Nonce {
        let digits = (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
        return try ChaChaPoly.Nonce(data: [0, 0, 0] + digits + [isLast ? 1 : 0])
    }
}

/// Seals what is added, piece by piece.
package struct PieceSealer {
    private let key: SymmetricKey
    private let header: [UInt8]
    private let write: ([UInt8]) throws -> Void
    private var waiting: [UInt8] = []
    private var number: UInt64 = 0

    /// - Parameters:
    ///   - header: what stands before the pieces; who opens them needs the same.
    ///   - write: takes each sealed piece.
    package init(key: SymmetricKey, authenticating header: [UInt8], _ write: @escaping ([UInt8]) throws -> Void) {
        self.key = key
        self.header = header
        self.write = write
    }

    package mutating func add(_ bytes: [UInt8]) throws {
        waiting += bytes
        var start = 0
        // The last piece is known only at the end.
        while waiting.count - start > SealedPieces.pieceBytes {
            try seal(waiting[start..<start + SealedPieces.pieceBytes], isLast: false)
            start += SealedPieces.pieceBytes
        }
        waiting.removeFirst(start)
    }

    /// Nothing more comes.
    package mutating func finish() throws {
        try seal(waiting[...], isLast: true)
        waiting = []
    }

    private mutating func seal(_ piece: ArraySlice<UInt8>, isLast: Bool) throws {
        let nonce = try SealedPieces.nonce(number, isLast: isLast)
        let box = try ChaChaPoly.seal(piece, using: key, nonce: nonce, authenticating: header)
        number += 1
        try write(Array(box.ciphertext) + box.tag)
    }
}

/// Opens pieces in the order in which they were sealed.
package struct PieceOpener {
    private let key: SymmetricKey
    private let header: [UInt8]
    /// Pieces that were opened.
    package private(set) var count: UInt64 = 0

    package init(key: SymmetricKey, authenticating header: [UInt8]) {
        self.key = key
        self.header = header
    }

    /// The content of the next piece; `nil` if it is not as it was sealed.
    ///
    /// - Parameter isLast: whether nothing follows it.
    package mutating func open(_ sealed: some Collection<UInt8>, isLast: Bool) -> [UInt8]? {
        guard sealed.count >= SealedPieces.tagBytes, let nonce = try? SealedPieces.nonce(count, isLast: isLast) else { return nil }
        let bytes = Array(sealed)
        guard
            let box = try? ChaChaPoly.SealedBox(
                nonce: nonce, ciphertext: bytes.dropLast(SealedPieces.tagBytes), tag: bytes.suffix(SealedPieces.tagBytes)),
            let content = try? ChaChaPoly.open(box, using: key, authenticating: header)
        else { return nil }
        count += 1
        return Array(content)
    }
}
