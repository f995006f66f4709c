import GRDBSQLite
import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText
import KithTexts

/// Texts as SQL functions see them.
enum TextValue {
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
        func bytes(_ index: Int) -> [UInt8]? { ColumnValue(values[index]).utf8 }
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
