/// One step of a change. Positions and lengths count Unicode scalars.
///
/// Scalars and not characters: which scalars form a character changes with the version of Unicode, and two devices
/// must agree for ever. Any subset of scalars is valid Unicode, so no merge can produce broken UTF-8 or UTF-16.
public enum TextOperation: Hashable, Sendable {
    case insert(String, at: Int)
    case delete(count: Int, at: Int)

    public static func == (left: TextOperation, right: TextOperation) -> Bool {
        switch (left, right) {
        case (.insert(let a, let i), .insert(let b, let j)): i == j && a.utf8.elementsEqual(b.utf8)
        case (.delete(let a, let i), .delete(let b, let j)): i == j && a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .insert(let text, let position):
            hasher.combine(position)
            for byte in text.utf8 { hasher.combine(byte) }
        case .delete(let count, let position):
            hasher.combine(position)
            hasher.combine(count)
        }
    }
}
