/// What an offset into a text counts.
public enum TextUnit: Hashable, Sendable {
    /// Unicode scalars: what this module stores and merges.
    case scalars
    /// Bytes of UTF-8, as SQLite and files count.
    case utf8
    /// UTF-16 code units, as JavaScript and `NSString` count.
    case utf16

    func width(of scalar: Unicode.Scalar) -> Int {
        switch self {
        case .scalars: 1
        case .utf8: UTF8.width(scalar)
        case .utf16: UTF16.width(scalar)
        }
    }
}
