/// Why bytes were refused. Nothing of them was used.
package enum WireError: Error, Hashable, Sendable {
    /// They end before what they announce.
    case truncated
    /// A number, count or length is past the limit of that name.
    case limitExceeded(String)
    /// They break a rule of the format.
    case malformed(String)
    /// They are of a version or kind this build does not know.
    case unsupported(String)
}

extension WireError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated: "the data ends too early"
        case .limitExceeded(let limit): "the data exceeds the limit \(limit)"
        case .malformed(let what): "the data is malformed: \(what)"
        case .unsupported(let what): "the data is of an unknown kind: \(what)"
        }
    }
}
