import GRDBSQLite
import KithLedger
import KithSQLite

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
        // The array is as long as the longest so far: to empty it takes longer than to fill it again.
        var found = 0
        let isPlain = SetText.scanPlainStrings(UnsafeBufferPointer(start: text, count: count)) { element in
            if found < elements.count { elements[found] = element } else { elements.append(element) }
            found += 1
        }
        guard isPlain else { return false }
        sort(&elements, found, text)
        sorted[0] = UInt8(ascii: "[")
        var end = 1
        for index in 0..<found {
            let element = elements[index]
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

    /// Most sets have a few elements, which are in order after a few exchanges.
    private static func sort(_ elements: inout [Range<Int>], _ count: Int, _ text: UnsafePointer<UInt8>) {
        if count > 8 { return elements[..<count].sort { SetText.order(text, $0, $1) < 0 } }
        for index in 0..<count {
            var place = index
            while place > 0, SetText.order(text, elements[place], elements[place - 1]) < 0 {
                elements.swapAt(place, place - 1)
                place -= 1
            }
        }
    }
}
