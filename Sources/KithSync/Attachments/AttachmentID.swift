/// The name of an attachment: a hash of its content, so that equal content is one attachment.
///
/// SHA-256 over the attachment's outline (docs/attachments.md). In a column it stands as 64 lower-case hexadecimal digits.
public struct AttachmentID: Hashable, Sendable, Comparable {
    package static let byteCount = 32

    /// The hash, 32 bytes.
    public let bytes: [UInt8]

    /// `nil` unless there are 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The id in a column's text; `nil` unless it is 64 digits of 0–9 and a–f.
    public init?(_ text: some StringProtocol) {
        self.init(digits: Array(text.utf8))
    }

    /// The same from the bytes of the text.
    package init?(digits: some Collection<UInt8>) {
        guard digits.count == 2 * Self.byteCount else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        var high: UInt8?
        for digit in digits {
            guard let value = Self.value(ofDigit: digit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        self.bytes = bytes
    }

    /// Whether `byte` is a digit of an id's text.
    package static func isDigit(_ byte: UInt8) -> Bool { value(ofDigit: byte) != nil }

    public static func < (left: AttachmentID, right: AttachmentID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension AttachmentID: CustomStringConvertible {
    /// 64 lower-case hexadecimal digits, as in a column.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
