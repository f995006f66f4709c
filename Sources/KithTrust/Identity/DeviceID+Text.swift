/// The readable form: the 32 bytes as 52 base32 characters (RFC 4648, no padding) in thirteen groups of four,
/// each followed by a check character, joined by dashes: `AAAQE-EAYEP-AUDAZ-…`, 65 characters without the dashes.
extension DeviceID: CustomStringConvertible, LosslessStringConvertible {
    /// Groups in the readable form.
    static let groupCount = 13
    /// Characters in a group, the check character included.
    static let groupLength = 5
    /// Longest text that `init(parsing:)` looks at, in UTF-8 bytes.
    package static let textBytesMax = 512

    /// The readable form, for people and files.
    public var description: String {
        let symbols = Self.symbols(of: bytes)
        let groups = (0..<Self.groupCount).map { index in
            let data = symbols[(index * 4)..<(index * 4 + 4)]
            return String(decoding: (data + [Self.check(of: data, group: index)]).map { Self.alphabet[Int($0)] }, as: UTF8.self)
        }
        return groups.joined(separator: "-")
    }

    /// The first two groups, for logs and lists; not enough to trust a device by.
    public var shortDescription: String {
        String(description.prefix(2 * Self.groupLength + 1))
    }

    /// As `init(parsing:)`, `nil` for any error.
    public init?(_ description: String) {
        guard let id = try? DeviceID(parsing: description) else { return nil }
        self = id
    }

    /// Reads the readable form as people type it: in either case, with any spaces and dashes or none, and with
    /// the digits 0, 1 and 8 (which the form never uses) for O, I and B.
    ///
    /// Every single wrong character, every swap of two characters in a group and every swap of two groups is noticed.
    /// - Throws: `DeviceIDError`, which names the group that is wrong.
    public init(parsing text: String) throws(DeviceIDError) {
        guard text.utf8.count <= Self.textBytesMax else { throw .length(found: text.utf8.count) }
        let groups = try Self.groups(in: text)
        var data: [UInt8] = []
        var wrong: [Int] = []
        for (index, group) in groups.enumerated() {
            let symbols = try Self.symbols(in: group, number: index + 1)
            if symbols[4] != Self.check(of: symbols[..<4], group: index) { wrong.append(index + 1) }
            data += symbols[..<4]
        }
        guard wrong.isEmpty else { throw .mistyped(groups: wrong) }
        // 52 characters hold 260 bits; the last four must be zero, so that one id has one text.
        guard let bytes = Self.bytes(of: data) else { throw .mistyped(groups: [Self.groupCount]) }
        self.bytes = bytes
    }

    // MARK: Groups

    private static func groups(in text: String) throws(DeviceIDError) -> [[Character]] {
        let parts = text.split { isSeparator($0) }.map(Array.init)
        let characters = Array(parts.joined())
        guard !characters.isEmpty else { throw .empty }
        guard characters.count == groupCount * groupLength else {
            if parts.count == groupCount, let index = parts.firstIndex(where: { $0.count != groupLength }) {
                throw .groupLength(group: index + 1, found: parts[index].count)
            }
            throw .length(found: characters.count)
        }
        return (0..<groupCount).map { Array(characters[($0 * groupLength)..<(($0 + 1) * groupLength)]) }
    }

    private static func isSeparator(_ character: Character) -> Bool {
        character.isWhitespace
            || character.unicodeScalars.allSatisfy { $0.properties.generalCategory == .dashPunctuation }
    }

    // MARK: Base32

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    private static func symbols(in group: [Character], number: Int) throws(DeviceIDError) -> [UInt8] {
        var symbols: [UInt8] = []
        for character in group {
            guard let symbol = symbol(of: character) else { throw .character(group: number, found: character) }
            symbols.append(symbol)
        }
        return symbols
    }

    private static func symbol(of character: Character) -> UInt8? {
        guard let ascii = character.asciiValue else { return nil }
        switch Character(Unicode.Scalar(ascii)) {
        case "A"..."Z": return ascii - UInt8(ascii: "A")
        case "a"..."z": return ascii - UInt8(ascii: "a")
        case "2"..."7": return ascii - UInt8(ascii: "2") + 26
        case "0": return symbol(of: "O")
        case "1": return symbol(of: "I")
        case "8": return symbol(of: "B")
        default: return nil
        }
    }

    private static func symbols(of bytes: [UInt8]) -> [UInt8] {
        (0..<52).map { index in
            let bit = index * 5
            let high = UInt16(bytes[bit / 8]) << 8
            let low = bit / 8 + 1 < bytes.count ? UInt16(bytes[bit / 8 + 1]) : 0
            return UInt8((high | low) >> UInt16(11 - bit % 8) & 31)
        }
    }

    private static func bytes(of symbols: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt16 = 0
        var count = 0
        for symbol in symbols {
            bits = bits << 5 | UInt16(symbol)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt16(count)))
                bits &= (1 << UInt16(count)) - 1
            }
        }
        return bits == 0 && bytes.count == byteCount ? bytes : nil
    }

    // MARK: Check characters

    /// A linear check over GF(32): the characters of a group, its check character included, have the distinct
    /// coefficients α⁴ … α⁰, which catches every substitution and every swap in the group; the constant αᵏ of
    /// group k catches groups that changed places.
    private static func check(of symbols: ArraySlice<UInt8>, group: Int) -> UInt8 {
        var sum = (0..<group).reduce(UInt8(1)) { power, _ in timesAlpha(power) }
        var polynomial: UInt8 = 0
        for symbol in symbols {
            polynomial = timesAlpha(polynomial ^ symbol)
        }
        sum ^= polynomial
        return sum
    }

    /// Multiplication by α in GF(32) = GF(2)[α] / (α⁵ + α² + 1).
    private static func timesAlpha(_ value: UInt8) -> UInt8 {
        value & 16 == 0 ? value << 1 : (value << 1 ^ 0b10_0101)
    }
}
