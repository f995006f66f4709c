/// Finds tables for which the parser of Markdown would need minutes or gigabytes: it takes time by the square of their columns, and fills up
/// rows that have fewer.
enum WideTables {
    /// More columns than people write.
    static let columnsMax = 1_000
    /// Cells of what may be one table, those included that are filled up.
    static let cellsMax = 500_000

    /// Whether a line may be of more columns than ``columnsMax``, or the lines up to an empty one of more cells than ``cellsMax``.
    static func areIn(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var (pipes, widest, lines, isEmpty) = (0, 0, 0, true)
        func areTooMany() -> Bool { widest > 0 && (widest + 1) * lines > cellsMax }
        for byte in text {
            switch byte {
            case UInt8(ascii: "|"):
                pipes += 1
                isEmpty = false
                if pipes > columnsMax { return true }
            case UInt8(ascii: "\n"):
                (widest, lines) = isEmpty ? (0, 0) : (max(widest, pipes), lines + 1)
                if areTooMany() { return true }
                (pipes, isEmpty) = (0, true)
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): continue
            default: isEmpty = false
            }
        }
        return false
    }
}
