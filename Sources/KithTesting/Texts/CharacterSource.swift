/// Characters that nobody has typed before, so that each can be told wherever it is: ideographs, each a word of its own.
///
/// Those of one insertion follow each other; between two insertions one is left out.
final class CharacterSource {
    enum Use {
        /// In the values of generated scripts.
        case generated
        /// In rows that machines find.
        case found
        /// While a script runs; beyond the 16 bits of UTF-16.
        case typed
    }

    private var next: UInt32
    private let end: UInt32

    init(_ use: Use) {
        (next, end) =
            switch use {
            case .generated: (0x4E00, 0x9FD0)
            case .found: (0x3400, 0x4DB0)
            case .typed: (0x20000, 0x2A6D0)
            }
    }

    /// So many new characters; none when all are used up.
    func next(_ count: Int) -> String {
        guard count > 0, Int(end - next) > count else { return "" }
        var text = String.UnicodeScalarView()
        for _ in 0..<count {
            if let scalar = Unicode.Scalar(next) { text.append(scalar) }
            next += 1
        }
        next += 1
        return String(text)
    }
}
