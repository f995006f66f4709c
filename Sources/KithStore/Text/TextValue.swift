import GRDBSQLite
import KithCausality
import KithSync
import KithText

/// Texts as SQL functions see them.
enum TextValue {
    /// Whether a text column can hold the value.
    static func isValid(_ value: OpaquePointer?) -> Bool {
        guard sqlite3_value_type(value) == SQLITE_TEXT, let bytes = sqlite3_value_text(value) else { return false }
        let buffer = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value)))
        guard let text = String(validating: buffer, as: UTF8.self) else { return false }
        return buffer.count <= TextLimits.textScalarsMax || text.unicodeScalars.count <= TextLimits.textScalarsMax
    }

    /// `kith_text(new, base, current)`: the current text with what was changed between `base`, the text an editor had loaded,
    /// and `new`, the text it saves. NULL counts as the empty text; if nothing was changed, the current value stays.
    ///
    /// - Parameter note: gets what the save does to the current text.
    static func merge(
        _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?, note: (ThreeWayText) -> Void
    ) {
        guard count == 3, let values else {
            return sqlite3_result_error(
                context, "kith_text takes the text to save, the text that was loaded, and the column: kith_text(?, ?, body)", -1)
        }
        func bytes(_ index: Int) -> [UInt8]? { Value(values[index]).utf8 }
        let (new, base, current) = (bytes(0), bytes(1), bytes(2))
        if new == base { return sqlite3_result_value(context, values[2]) }
        if base == current { return sqlite3_result_value(context, values[0]) }
        do {
            let merge = try ThreeWayText(new ?? [], base: base ?? [], current: current ?? [])
            note(merge)
            merge.merged.withUnsafeBufferPointer { buffer in
                buffer.withMemoryRebound(to: CChar.self) { text in
                    sqlite3_result_text64(
                        context, text.baseAddress, UInt64(text.count), transientDestructor, UInt8(SQLITE_UTF8))
                }
            }
        } catch {
            sqlite3_result_error(context, String(describing: error), -1)
        }
    }
}

/// The merge of a save whose editor had loaded a text that has changed since, from the three texts alone.
struct ThreeWayText {
    let current: [UInt8]
    /// `current` with what was changed from `base` to `new`. What others wrote meanwhile stays.
    let merged: [UInt8]
    /// What makes `merged` of `current`. A comparison of the two would not tell: it may write anew what others wrote.
    let operations: TextOperations

    init(_ new: [UInt8], base: [UInt8], current: [UInt8]) throws {
        self.current = current
        let (new, base, now) = (try TextBuffer(utf8: new), try TextBuffer(utf8: base), try TextBuffer(utf8: current))
        // Nobody ever sees these names; the order of insertions at one place follows from them.
        func dot(_ number: UInt64) -> Dot { Dot(replica: ReplicaID(high: 0, low: number), sequence: 1) }
        var document = TextDocument()
        if !base.isEmpty { try document.edit([.insert(base.string, at: 0)], as: dot(0)) }
        let loaded = document.version
        let theirs = TextOperations(from: base, to: now, joining: false)
        if !theirs.isEmpty { try document.edit(theirs, as: dot(1)) }
        operations = try document.transform(
            TextOperations(from: base, to: new), from: loaded, as: dot(2), history: PastOfText.inMemory)
        var text = now
        try text.apply(operations)
        merged = text.utf8
    }
}
