import GRDBSQLite

/// Sorts the elements of sets where they stand in the file. One for many sets, so that each does not need memory of its own.
struct SetSorter {
    private var text: [UInt8] = []
    private var sorted: [UInt8] = []
    private var elements: [Range<Int>] = []

    /// Returns whether the set is in the one form that all machines show; if not, nothing was written.
    mutating func sort(_ blob: OpaquePointer?) -> Bool {
        let count = Int(sqlite3_blob_bytes(blob))
        if text.count < count {
            text = [UInt8](repeating: 0, count: count)
            sorted = text
        }
        guard sqlite3_blob_read(blob, &text, Int32(count), 0) == SQLITE_OK,
            Self.arrange(text, count, &elements, into: &sorted)
        else { return false }
        return sqlite3_blob_write(blob, sorted, Int32(count), 0) == SQLITE_OK
    }

    /// Writes the elements of an array of strings without escapes and spaces in order. Returns whether `text` is one without doubles.
    private static func arrange(
        _ text: UnsafePointer<UInt8>, _ count: Int, _ elements: inout [Range<Int>], into sorted: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        elements.removeAll(keepingCapacity: true)
        guard SetText.scanPlainStrings(UnsafeBufferPointer(start: text, count: count), { elements.append($0) }) else { return false }
        elements.sort { SetText.order(text, $0, $1) < 0 }
        sorted[0] = UInt8(ascii: "[")
        var end = 1
        for (index, element) in elements.enumerated() {
            if index > 0 {
                if SetText.order(text, elements[index - 1], element) == 0 { return false }
                sorted[end] = UInt8(ascii: ",")
                end += 1
            }
            (sorted + end).update(from: text + element.lowerBound, count: element.count)
            end += element.count
        }
        sorted[end] = UInt8(ascii: "]")
        return end + 1 == count
    }
}
