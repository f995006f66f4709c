/// Finds tables for which the parser of Markdown would need minutes or gigabytes: it takes time by the square of their columns, and fills up
/// rows that have fewer cells.
enum WideTables {
    /// More columns than people write.
    static let columnsMax = 1_000
    /// Cells that the parser may add to the rows of all tables; later versions of cmark-gfm have this limit of their own.
    static let addedCellsMax = 500_000

    /// Whether a line may be of more columns than ``columnsMax``, or rows of tables lack more cells than ``addedCellsMax``. A table may go on
    /// until a line that is empty; what may be no table at all counts, too.
    static func areIn(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var line = Line()
        // Of the table that may be open, and of all of them.
        var (columns, added) = (0, 0)
        for byte in text {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                if line.isEmpty {
                    // Between the two bytes of one end of a line nothing ends.
                    if byte != UInt8(ascii: "\n") || line.before != UInt8(ascii: "\r") { columns = 0 }
                } else {
                    added += max(0, columns - line.pipes)
                    if line.isDelimiter { columns = max(columns, line.pipes + 1) }
                }
                if added > addedCellsMax { return true }
                line = Line(before: byte)
            default:
                line.take(byte)
                if line.pipes > columnsMax { return true }
            }
        }
        return false
    }

    private struct Line {
        var pipes = 0
        var isEmpty = true
        private var hasDash = false
        private var hasOther = false
        /// The byte in front of it; 0 for none.
        let before: UInt8

        init(before: UInt8 = 0) { self.before = before }

        /// Whether it may tell the columns of a table, within lists and quotes, too.
        var isDelimiter: Bool { hasDash && pipes > 0 && !hasOther }

        mutating func take(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"): return
            case UInt8(ascii: "|"): pipes += 1
            case UInt8(ascii: "-"): hasDash = true
            case UInt8(ascii: ":"), UInt8(ascii: ">"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: ")"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                break
            // Tabs and feeds, which are spaces to the parser there, and no empty line by themselves.
            case 0x0B, 0x0C: break
            default: hasOther = true
            }
            isEmpty = false
        }
    }
}
