/// Which app the devices of a household synchronise for: one word, the same on all of them and in all versions of the app.
///
/// Devices of different apps neither see each other nor exchange anything, so that the rows of one app never come into the file of another.
/// The reverse of a domain name that is yours is a good choice: `org.example.pantry`.
public struct AppID: Hashable, Sendable {
    /// Longest id, in bytes.
    public static let bytesMax = 64

    private let text: String

    /// `nil` unless it has 1 to ``bytesMax`` characters of `A`–`Z`, `a`–`z`, `0`–`9`, `.`, `-` and `_`, and not only dots.
    public init?(_ text: String) {
        guard (1...Self.bytesMax).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed),
            // A folder is called so.
            text.utf8.contains(where: { $0 != UInt8(ascii: ".") })
        else { return nil }
        self.text = text
    }

    package var bytes: [UInt8] { Array(text.utf8) }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}

extension AppID: ExpressibleByStringLiteral {
    /// A literal that is no id is a mistake in the program, which ends there.
    public init(stringLiteral text: StaticString) {
        guard let id = AppID("\(text)") else { preconditionFailure("\(text) is no app id") }
        self = id
    }
}

extension AppID: CustomStringConvertible {
    public var description: String { text }
}
