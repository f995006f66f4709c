/// The bytes that a ``QRCode`` shows: the message, filled up, with what corrects errors (ISO/IEC 18004, 7.4 to 7.6).
struct QRCodewords: Hashable, Sendable {
    /// For versions 1 to 6 at level M (table 9): blocks, bytes of each block's message, bytes of its correction.
    private static let layouts = [(1, 16, 10), (1, 28, 16), (1, 44, 26), (2, 32, 18), (2, 43, 24), (4, 27, 16)]

    /// The smallest that has room.
    let version: Int
    let bytes: [UInt8]

    /// `nil` if the message is too long.
    init?(_ message: [UInt8]) {
        // Four bits say that bytes follow, eight how many, and four end the message.
        guard let index = Self.layouts.firstIndex(where: { $0.0 * $0.1 >= message.count + 2 }) else { return nil }
        let (blockCount, dataBytes, correctionBytes) = Self.layouts[index]
        version = index + 1
        var data = Self.shifted([UInt8(message.count)] + message)
        for pad in 0..<blockCount * dataBytes - data.count { data.append(pad % 2 == 0 ? 0xEC : 0x11) }
        let blocks = (0..<blockCount).map { Array(data[$0 * dataBytes..<($0 + 1) * dataBytes]) }
        let corrections = blocks.map { ReedSolomon.remainder(of: $0, count: correctionBytes) }
        bytes = Self.interleaved(blocks) + Self.interleaved(corrections)
    }

    /// The mode in the first half byte, `bytes` behind it, and an empty half byte.
    private static func shifted(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var high: UInt8 = 0b0100
        for byte in bytes {
            result.append(high << 4 | byte >> 4)
            high = byte & 0xF
        }
        return result + [high << 4]
    }

    private static func interleaved(_ blocks: [[UInt8]]) -> [UInt8] {
        guard let first = blocks.first else { return [] }
        return first.indices.flatMap { index in blocks.map { $0[index] } }
    }
}

/// Reed–Solomon codes over GF(256) = GF(2)[x] / (x⁸ + x⁴ + x³ + x² + 1), as QR codes use them (ISO/IEC 18004, 7.5.2).
enum ReedSolomon {
    /// The remainder of `message` · xⁿ modulo (x − α⁰)(x − α¹)…(x − αⁿ⁻¹).
    static func remainder(of message: [UInt8], count: Int) -> [UInt8] {
        let generator = generator(count)
        var rest = [UInt8](repeating: 0, count: count)
        for byte in message {
            let factor = byte ^ rest[0]
            rest.removeFirst()
            rest.append(0)
            for index in rest.indices { rest[index] ^= product(generator[index], factor) }
        }
        return rest
    }

    /// The coefficients of the divisor, without the leading one.
    private static func generator(_ count: Int) -> [UInt8] {
        var coefficients = [UInt8](repeating: 0, count: count - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<count {
            for index in coefficients.indices {
                coefficients[index] = product(coefficients[index], root)
                if index + 1 < count { coefficients[index] ^= coefficients[index + 1] }
            }
            root = product(root, 2)
        }
        return coefficients
    }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var result: UInt8 = 0
        for bit in stride(from: 7, through: 0, by: -1) {
            result = result << 1 ^ (result >> 7) &* 0x1D
            result ^= (right >> UInt8(bit) & 1) &* left
        }
        return result
    }
}
