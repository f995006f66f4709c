import KithSync

/// What a transaction made of one row, as the journal keeps it.
package struct JournalChange: Hashable, Sendable {
    package enum Kind: Int, Sendable {
        case insert = 0
        case update = 1
        case delete = 2
    }

    /// What was changed in a column, by the column's number.
    package enum Content: Hashable, Sendable {
        case values(old: ColumnValue, new: ColumnValue)
        /// Of a text that was and is there: where bytes stood and what stands there now; positions count bytes of UTF-8.
        case splice(at: Int, removed: [UInt8], inserted: [UInt8])

        /// The shortest way from one text to another, cut between characters' scalars.
        static func text(_ old: [UInt8], _ new: [UInt8]) -> Content {
            let shorter = min(old.count, new.count)
            var start = 0
            while start < shorter, old[start] == new[start] { start += 1 }
            while start > 0, isInsideScalar(old, start) || isInsideScalar(new, start) { start -= 1 }
            var end = 0
            while end < shorter - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
            while end > 0, isInsideScalar(old, old.count - end) { end -= 1 }
            return .splice(at: start, removed: Array(old[start..<old.count - end]), inserted: Array(new[start..<new.count - end]))
        }

        private static func isInsideScalar(_ text: [UInt8], _ place: Int) -> Bool {
            place < text.count && text[place] & 0xC0 == 0x80
        }
    }

    package let row: RowKey
    package let kind: Kind
    /// In the order of the columns' numbers; empty for an insertion.
    package let columns: [(number: Int, content: Content)]
    /// The number of the replica whose commits a merge has brought; `nil` for the app's own writes, and if there were several.
    package let replica: Int?

    package static func == (left: JournalChange, right: JournalChange) -> Bool {
        left.row == right.row && left.kind == right.kind && left.replica == right.replica
            && left.columns.elementsEqual(right.columns) { $0.number == $1.number && $0.content == $1.content }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(row)
        hasher.combine(kind)
    }

    // MARK: As bytes

    static func bytes(of columns: [(number: Int, content: Content)]) -> [UInt8] {
        var writer = ByteWriter()
        writer.count(columns.count)
        for column in columns {
            writer.varint(UInt64(column.number))
            switch column.content {
            case .values(let old, let new):
                writer.byte(0)
                writer.value(old)
                writer.value(new)
            case .splice(let place, let removed, let inserted):
                writer.byte(1)
                writer.varint(UInt64(place))
                writer.blob(removed)
                writer.blob(inserted)
            }
        }
        return writer.bytes
    }

    /// `nil` if the bytes are damaged.
    static func columns(_ bytes: [UInt8]) -> [(number: Int, content: Content)]? {
        var reader = ByteReader(bytes)
        do throws(WireError) {
            var columns: [(number: Int, content: Content)] = []
            for _ in 0..<(try reader.count(limit: WireLimits.columnsMax, "columns")) {
                let number = Int(clamping: try reader.varint())
                switch try reader.byte() {
                case 0: columns.append((number, .values(old: try reader.value(), new: try reader.value())))
                case 1:
                    let place = Int(clamping: try reader.varint())
                    let removed = try reader.blob("removed")
                    columns.append((number, .splice(at: place, removed: removed, inserted: try reader.blob("inserted"))))
                default: return nil
                }
            }
            return columns
        } catch {
            return nil
        }
    }
}
