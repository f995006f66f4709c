/// Makes keys of the bytes that a terminal sends (ECMA-48, and the function keys of xterm).
struct KeyReader {
    /// The beginning of a key whose rest is still to come.
    private var rest: [UInt8] = []

    /// Longer sequences are none that a key sends.
    private static let sequenceBytesMax = 16
    private static let escape: UInt8 = 0x1B

    /// Whether something came that may be a key, or the beginning of one: ``flush()`` decides, after a moment without more.
    var isWaiting: Bool { !rest.isEmpty }

    mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        rest += bytes
        var keys: [Key] = []
        while !rest.isEmpty, let count = Self.length(of: rest) {
            if let key = Self.key(Array(rest.prefix(count))) { keys.append(key) }
            rest.removeFirst(count)
        }
        return keys
    }

    /// What came is all there is: an escape character alone is the key of this name.
    mutating func flush() -> [Key] {
        defer { rest = [] }
        return rest == [Self.escape] ? [.escape] : []
    }

    /// Bytes of the first key; `nil` if there are more to come.
    private static func length(of bytes: [UInt8]) -> Int? {
        guard bytes[0] == escape else {
            let count = bytes[0] < 0xC0 ? 1 : bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4
            return bytes.count < count ? nil : count
        }
        guard bytes.count > 1 else { return nil }
        switch bytes[1] {
        case UInt8(ascii: "["):
            if let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) { return end + 1 }
            return bytes.count < sequenceBytesMax ? nil : bytes.count
        case UInt8(ascii: "O"): return bytes.count < 3 ? nil : 3
        // Pressed twice, or with Alt.
        default: return 1
        }
    }

    private static func key(_ bytes: [UInt8]) -> Key? {
        guard bytes[0] == escape else {
            switch bytes[0] {
            case 0x0A, 0x0D: return .enter
            case 0x08, 0x7F: return .backspace
            case 0x01...0x1A: return .control(Character(Unicode.Scalar(bytes[0] + 0x60)))
            case 0..<0x20: return nil
            default: return String(validating: bytes, as: UTF8.self)?.first.map(Key.character)
            }
        }
        guard bytes.count > 1 else { return .escape }
        return sequences[String(decoding: bytes.dropFirst(2), as: UTF8.self)]
    }

    private static let sequences: [String: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "1~": .home, "7~": .home, "4~": .end, "8~": .end,
        "5~": .pageUp, "6~": .pageDown,
    ]
}
