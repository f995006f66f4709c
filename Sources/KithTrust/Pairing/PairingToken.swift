/// A secret that one device makes and another one is told, to pair without anybody comparing anything: 128 random bits.
///
/// Whoever reads it within its few minutes can pair in your place, so it is shown once and kept nowhere.
public struct PairingToken: Hashable, Sendable {
    /// Length in bytes.
    static let byteCount = 16
    /// Characters of the readable form, its check characters included and its dashes not.
    static let characterCount = 28
    /// Longest text that `init(parsing:)` looks at, in UTF-8 bytes.
    package static let textBytesMax = 256

    /// The secret.
    package let bytes: [UInt8]

    /// The token with these 16 bytes; `nil` for any other length.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// A new token.
    public static func random(using generator: inout some RandomNumberGenerator) -> PairingToken {
        PairingToken(bits: (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    private init(bits: [UInt8]) {
        bytes = bits
    }

    // MARK: Readable form

    /// The readable form, for the person who carries it: 26 base32 characters (RFC 4648) and two check characters, in groups of four.
    public var text: String {
        let data = Base32.symbols(of: bytes)
        let symbols = data + Self.checks(of: data)
        let groups = stride(from: 0, to: symbols.count, by: 4).map { Base32.text(symbols[$0..<min($0 + 4, symbols.count)]) }
        return groups.joined(separator: "-")
    }

    /// Reads the readable form as people type it: in either case, with any spaces and dashes or none, and with the digits 0, 1
    /// and 8 for O, I and B. Every one or two wrong characters and every swap of two are noticed.
    /// - Throws: `PairingTokenError`.
    public init(parsing text: String) throws(PairingTokenError) {
        guard text.utf8.count <= Self.textBytesMax else { throw .length(found: text.utf8.count) }
        var symbols: [UInt8] = []
        for character in text where !character.isWhitespace && !Self.isDash(character) {
            guard let symbol = Base32.symbol(of: character) else { throw .character(character) }
            symbols.append(symbol)
        }
        guard symbols.count == Self.characterCount else { throw .length(found: symbols.count) }
        let data = Array(symbols.dropLast(2))
        guard Self.checks(of: data) == Array(symbols.suffix(2)), let bytes = Base32.bytes(of: data) else { throw .mistyped }
        self.bytes = bytes
    }

    private static func isDash(_ character: Character) -> Bool {
        character.unicodeScalars.allSatisfy { $0.properties.generalCategory == .dashPunctuation }
    }

    /// The remainder of the data, as a polynomial over GF(32), modulo (x − α)(x − α²): a Reed–Solomon code of distance three.
    private static func checks(of data: [UInt8]) -> [UInt8] {
        var first: UInt8 = 0
        var second: UInt8 = 0
        for symbol in data {
            let lead = symbol ^ first
            let byAlpha = Base32.timesAlpha(lead)
            let byAlpha2 = Base32.timesAlpha(byAlpha)
            first = second ^ byAlpha ^ byAlpha2
            second = Base32.timesAlpha(byAlpha2)
        }
        return [first, second]
    }
}

extension PairingToken: CustomStringConvertible, CustomReflectable {
    /// Nothing of the secret, so that no log shows it.
    public var description: String { "PairingToken" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a text is no pairing token.
public enum PairingTokenError: Error, Hashable, Sendable {
    /// Not 28 characters, spaces and dashes aside.
    case length(found: Int)
    /// A character that no token contains.
    case character(Character)
    /// The check characters do not match.
    case mistyped
}

extension PairingTokenError: CustomStringConvertible {
    /// What is wrong and what to do, for people.
    public var description: String {
        switch self {
        case .length(let found):
            "A pairing token has \(PairingToken.characterCount) characters in groups of four, this has \(found). Copy the whole token."
        case .character(let character):
            "The token contains \u{201C}\(character)\u{201D}, which no token contains. Compare it with the other device."
        case .mistyped: "The token is mistyped. Compare it with the other device."
        }
    }
}
