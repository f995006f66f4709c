import GRDBSQLite
import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

extension Functions {
    /// `kith_key(table, value…)`: the id of the row with this key.
    static func installKeyFunction(_ capture: Capture, on connection: OpaquePointer) throws {
        try register("kith_key", capture, connection) { context, count, values in
            guard let context, let pointer = sqlite3_user_data(context) else { return }
            do {
                let capture = Unmanaged<Capture>.fromOpaque(pointer).takeUnretainedValue()
                let arguments = (0..<Int(count)).map { ColumnValue(values?[$0]) }
                let id = try capture.naturalKey(arguments.first).id(of: Array(arguments.dropFirst()))
                id.bytes.withUnsafeBytes { sqlite3_result_blob(context, $0.baseAddress, Int32($0.count), transientDestructor) }
            } catch {
                sqlite3_result_error(context, String(describing: error), -1)
            }
        }
    }
}

extension Capture {
    /// The key of the table that `name` names.
    fileprivate func naturalKey(_ name: ColumnValue?) throws -> NaturalKey {
        guard case .text(let bytes)? = name else {
            throw StoreError(.valueRejected, "kith_key takes the name of a table, and then the values of its key.")
        }
        let table = String(decoding: bytes, as: UTF8.self)
        guard let key = ledger.tracked(table)?.tracked.naturalKey else {
            throw StoreError(.notFound, "\(table) is not a tracked table that was declared with a key.")
        }
        return key
    }
}
