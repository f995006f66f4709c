/// The characters of RFC 4648, section 6, and the field of 32 elements whose elements they name.
enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Five bits each, first bit first; the last symbol is filled with zeros.
    static func symbols(of bytes: [UInt8]) -> [UInt8] {
        var symbols: [UInt8] = []
        var pending: UInt16 = 0
        var count: UInt16 = 0
        for byte in bytes {
            pending = pending << 8 | UInt16(byte)
            count += 8
            while count >= 5 {
                count -= 5
                symbols.append(UInt8(pending >> count))
                pending &= (1 << count) - 1
            }
        }
        if count > 0 { symbols.append(UInt8(pending << (5 - count))) }
        return symbols
    }

    /// The whole bytes in `symbols`; `nil` if the bits left over are not zero, so that the same bytes have one text.
    static func bytes(of symbols: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var pending: UInt16 = 0
        var count: UInt16 = 0
        for symbol in symbols {
            pending = pending << 5 | UInt16(symbol & 31)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(pending >> count))
                pending &= (1 << count) - 1
            }
        }
        return pending == 0 ? bytes : nil
    }

    static func text(_ symbols: some Sequence<UInt8>) -> String {
        String(decoding: symbols.map { alphabet[Int($0 & 31)] }, as: UTF8.self)
    }

    /// In either case, and with the digits 0, 1 and 8 for the letters that they are taken for.
    static func symbol(of character: Character) -> UInt8? {
        switch character {
        case "0": return symbol(of: "O")
        case "1": return symbol(of: "I")
        case "8": return symbol(of: "B")
        default:
            guard let ascii = character.asciiValue else { return nil }
            let upper = (0x61...0x7A).contains(ascii) ? ascii - 0x20 : ascii
            return alphabet.firstIndex(of: upper).map { UInt8($0) }
        }
    }

    /// Multiplication by α in GF(32) = GF(2)[α] / (α⁵ + α² + 1).
    static func timesAlpha(_ value: UInt8) -> UInt8 {
        value & 16 == 0 ? value << 1 : (value << 1 ^ 0b10_0101)
    }
}
